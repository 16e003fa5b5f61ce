//! Distinct values of a list.

/// Returns each value once, in order of first occurrence.
pub fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in all {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
