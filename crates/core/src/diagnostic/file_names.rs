//! File names as texts, without loss.
//!
//! Scenarios, options and messages are Unicode, but file names on Unix are bytes. Each byte of a name that is
//! not part of a UTF-8 character is written as one character, U+10FF00 plus the byte, from the end of the
//! last private plane. Python does the same with code points that Rust's strings cannot hold (PEP 383).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Character that stands for byte 0.
#[cfg(unix)]
const FIRST: u32 = 0x10_FF00;

/// Returns the character that stands for a byte.
#[cfg(unix)]
fn char_of_byte(byte: u8) -> Option<char> {
    char::from_u32(FIRST + u32::from(byte))
}

/// Returns true if a character stands for a byte.
#[cfg(unix)]
fn escaped(c: char) -> bool {
    (FIRST..=FIRST + 0xff).contains(&u32::from(c))
}

/// Returns the name as a text, from which [`path`] and [`name`] make the same name.
pub fn text(name: &OsStr) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let mut text = String::new();
        for part in name.as_bytes().utf8_chunks() {
            for c in part.valid().chars() {
                match escaped(c) {
                    // The name itself contains such a character: escape its bytes.
                    true => text.extend(c.encode_utf8(&mut [0; 4]).bytes().filter_map(char_of_byte)),
                    false => text.push(c),
                }
            }
            text.extend(part.invalid().iter().copied().filter_map(char_of_byte));
        }
        text
    }
    #[cfg(not(unix))]
    name.to_string_lossy().into_owned()
}

/// Returns the path that a text stands for.
pub fn path(text: &str) -> PathBuf {
    PathBuf::from(name(text))
}

/// Returns the name that a text stands for, for example as a word of a command line.
pub fn name(text: &str) -> OsString {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        let byte = |c: char| escaped(c).then(|| (u32::from(c) - FIRST) as u8);
        let mut bytes = Vec::with_capacity(text.len());
        for c in text.chars() {
            match byte(c) {
                Some(byte) => bytes.push(byte),
                None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        OsString::from_vec(bytes)
    }
    #[cfg(not(unix))]
    text.into()
}

/// Returns the path as a text; see [`text`].
pub fn text_of(path: &Path) -> String {
    text(path.as_os_str())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn every_name_comes_back() {
        for bytes in
            [&b"plain.csv"[..], b"", b"\xff", b"a\x80\xc3\xa4\xc3", "早瀬.toml".as_bytes(), b"\xf4\x8f\xbc\x80"]
        {
            let name = OsStr::from_bytes(bytes);
            assert_eq!(path(&text(name)).as_os_str(), name, "{bytes:?}");
        }
        assert_eq!(text(OsStr::from_bytes(b"a\xe4.csv")), "a\u{10ffe4}.csv");
    }
}
