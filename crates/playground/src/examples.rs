//! Scenarios and commands that the page offers.

/// A title after `## `, then the text up to the next title.
const EXAMPLES: &str = include_str!("examples.txt");

/// Returns titles and texts.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXAMPLES.split("## ").filter_map(|part| part.split_once('\n')).map(|(title, text)| (title, text.trim_end()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_example_is_without_mistakes() {
        assert!(super::all().count() > 8);
        for (title, text) in super::all() {
            let answer = crate::check(text);
            assert!(answer["mistakes"].as_array().is_some_and(Vec::is_empty), "{title}: {answer}");
        }
    }
}
