//! Width of a terminal.

use std::io::IsTerminal;
#[cfg(unix)]
use std::os::fd::AsFd as Handle;
#[cfg(windows)]
use std::os::windows::io::AsHandle as Handle;

/// Smallest width that is used, even if the terminal reports less.
const LEAST: usize = 20;

/// Returns the columns of the terminal behind this stream, from `COLUMNS` or from the terminal; `None` if it
/// is no terminal.
pub fn of(stream: &(impl IsTerminal + Handle)) -> Option<usize> {
    let says = || terminal_size::terminal_size_of(stream).map(|(columns, _)| usize::from(columns.0));
    stream.is_terminal().then(|| given(std::env::var("COLUMNS").ok().as_deref()).or_else(says))?.and_then(taken)
}

/// Returns the number in `COLUMNS`, if it is one.
fn given(columns: Option<&str>) -> Option<usize> {
    columns?.trim().parse().ok().filter(|&columns| columns > 0)
}

/// Returns the usable width; a terminal of unknown size reports 0.
fn taken(columns: usize) -> Option<usize> {
    (columns > 0).then_some(columns.max(LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_width_is_none() {
        assert_eq!(
            [Some("60"), Some(" 80 "), Some("0"), Some("-1"), Some("wide"), Some(""), None].map(given),
            [Some(60), Some(80), None, None, None, None, None]
        );
        assert_eq!([0, 5, 200].map(taken), [None, Some(LEAST), Some(200)]);
    }

    #[test]
    fn what_is_no_terminal_has_no_width() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(of(&file), None);
    }
}
