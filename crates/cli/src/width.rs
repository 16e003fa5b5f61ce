//! How wide a terminal is.

use std::io::IsTerminal;

/// Terminals that say they are narrower are taken for this wide.
const LEAST: usize = 20;

/// Columns of the terminal that this stream goes to: what `COLUMNS` says, else what the terminal says; none where it is
/// no terminal.
#[cfg(unix)]
pub fn of(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    let says = || rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
    stream.is_terminal().then(|| given(std::env::var("COLUMNS").ok().as_deref()).or_else(says))?.and_then(taken)
}

/// Columns of the terminal that this stream goes to: what `COLUMNS` says; none where it is no terminal.
#[cfg(not(unix))]
pub fn of(stream: &impl IsTerminal) -> Option<usize> {
    stream.is_terminal().then(|| given(std::env::var("COLUMNS").ok().as_deref()))?.and_then(taken)
}

/// The number that `COLUMNS` holds, if it does.
fn given(columns: Option<&str>) -> Option<usize> {
    columns?.trim().parse().ok().filter(|&columns| columns > 0)
}

/// A terminal that does not know its size says 0.
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
