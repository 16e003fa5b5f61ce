//! Advice for getting source lines of places that have none.

use std::collections::BTreeSet;

use hayase_trace::names::object_without_line;

/// Largest number of programs and libraries that are named.
const MOST: usize = 4;

/// Returns a line of advice for getting the source lines of these programs and libraries, if there are any.
pub fn remedy<'a>(objects: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let objects: BTreeSet<&str> = objects.into_iter().filter(|object| !is_python(object)).collect();
    let mut named: Vec<&str> = objects.iter().copied().take(MOST).collect();
    let more = objects.len().saturating_sub(MOST);
    let rest = format!("{more} more");
    if more > 0 {
        named.push(&rest);
    }
    let (last, others) = named.split_last()?;
    let all = if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) };
    let (them, packages) = if objects.len() == 1 { ("its", "package") } else { ("their", "packages") };
    Some(format!(
        "for lines of {all} compile with -g, or install {them} debug {packages} (found by build id below /usr/lib/debug) and record again"
    ))
}

/// Returns the same advice for the objects of these places.
pub fn remedy_of_places<'a>(places: impl IntoIterator<Item = &'a str>) -> Option<String> {
    remedy(places.into_iter().filter_map(object_without_line))
}

/// Returns true for the Python interpreter and its extensions, which nobody recompiles to see lines of a
/// Python program.
fn is_python(object: &str) -> bool {
    object.starts_with("python3")
        || object.starts_with("libpython3")
        || object.contains(".cpython-")
        || object.contains(".abi3.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_is_said_in_one_line() {
        assert_eq!(
            remedy_of_places(["a.c:3 (main)", "0x12", "python3.11+0x12", "MPI.cpython-311-x86_64-linux-gnu.so+0x7"]),
            None
        );
        let one = remedy_of_places(["pw.x: cegterg_+0x31", "pw.x+0x12", "a.c:3"]).unwrap();
        assert!(one.starts_with("for lines of pw.x compile with -g, or install its debug package ("), "{one}");
        let many = remedy(["a", "b", "c", "d", "e", "f"]).unwrap();
        assert!(many.starts_with("for lines of a, b, c, d and 2 more compile with -g, or install their"), "{many}");
    }
}
