//! Lists in texts, as on the command line: values separated by commas.

use std::path::Path;

use super::axis::Axis;
use crate::faults::part;

/// Parses `KEY=a,b,c`.
///
/// # Errors
/// The text is not a key with its values.
pub fn vary(text: &str) -> Result<(String, Vec<String>), String> {
    let values = text.split_once('=').map(|(key, values)| (key.trim(), listed(values)));
    let Some((key, values)) = values else { return Err("a key and its values are expected: KEY=a,b,c".to_owned()) };
    match key.is_empty() || values.iter().any(String::is_empty) {
        true => Err("a key and its values are expected: KEY=a,b,c".to_owned()),
        false => Ok((key.to_owned(), values)),
    }
}

/// Splits a list at its commas, except those within brackets, braces and quotes.
fn listed(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let (mut open, mut quote) = (0_u32, None);
    for c in text.chars() {
        match (c, quote) {
            (',', None) if open == 0 => {
                values.push(String::new());
                continue;
            }
            ('[' | '{', None) => open += 1,
            (']' | '}', None) => open = open.saturating_sub(1),
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(begun)) if c == begun => quote = None,
            _ => {}
        }
        if let Some(value) = values.last_mut() {
            value.push(c);
        }
    }
    values.into_iter().map(|value| value.trim().to_owned()).collect()
}

/// Joins the parameters of a rule to its name, because they have commas of their own
/// (`linear:ranks=8,size=1KB`).
pub fn rejoined(parts: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let is_open = |name: &str| name.matches(['[', '{']).count() > name.matches([']', '}']).count();
    for part in parts {
        match names.last_mut() {
            Some(name) if is_open(name) || name.contains(':') && part.contains('=') && !part.contains(':') => {
                *name += ",";
                *name += part;
            }
            _ => names.push(part.clone()),
        }
    }
    names
}

/// Returns the failures to compare, and no failure as the reference. A comma within brackets, as in the name
/// of a switch of a grid, is part of a name.
pub fn faults(listed: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in listed {
        let is_open = |text: &String| text.matches('(').count() > text.matches(')').count();
        match all.last_mut() {
            Some(last) if is_open(last) => *last += &format!(",{text}"),
            _ => all.push(text.clone()),
        }
    }
    let is_nothing = |text: &String| part(text) == Some(Ok(0.0));
    let nothing = (!listed.is_empty() && !all.iter().any(is_nothing)).then(|| "0".to_owned());
    nothing.into_iter().chain(all.iter().map(|text| text.trim().to_owned())).collect()
}

/// Returns the axes of a grid: those with options of their own, other keys, and the patterns.
pub fn axes<'a>(
    listed: impl IntoIterator<Item = (Axis, &'a [String])>,
    vary: &[(String, Vec<String>)],
    patterns: &[String],
) -> Vec<(Axis, Vec<String>)> {
    let listed = listed.into_iter().map(|(axis, values)| (axis, values.to_vec()));
    let keys = vary.iter().map(|(key, values)| (Axis::Key(key.clone()), values.clone()));
    listed.chain(keys).chain([(Axis::Pattern, rejoined(patterns))]).collect()
}

/// Returns the title of a grid: its scenario file, fabrics and patterns.
pub fn title(scenario: Option<&Path>, topologies: &[String], patterns: &[String]) -> String {
    let file = scenario.map(|path| path.display().to_string());
    let listed = [topologies, patterns].map(rejoined).into_iter().filter(|list| !list.is_empty());
    file.into_iter().chain(listed.map(|list| list.join(", "))).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_lists_and_texts_are_no_ends_of_values() {
        assert_eq!(vary("k=1, 2").unwrap().1, ["1", "2"]);
        assert_eq!(vary("k=[2,2],[4, 4]").unwrap().1, ["[2,2]", "[4, 4]"]);
        assert_eq!(vary("k={a=[1,2],b=\"x,y\"},3").unwrap().1, ["{a=[1,2],b=\"x,y\"}", "3"]);
        // A bracket that is never closed makes one value, which its reader refuses.
        assert_eq!(vary("k=[1,2").unwrap().1, ["[1,2"]);
        assert!(vary("k=1,,2").is_err() && vary("k=").is_err() && vary("=1").is_err() && vary("k").is_err());
    }
}
