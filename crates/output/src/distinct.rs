//! Values that stand in a list more than once.

/// Each value once, in the order in which they first come.
pub fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in all {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
