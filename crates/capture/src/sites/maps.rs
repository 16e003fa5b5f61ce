//! Memory map of a process in the form of `/proc/self/maps`: the file that an address was loaded from.

use hayase::base::Arrange;
use std::path::PathBuf;

/// Pieces of files in the memory of a process, by ascending address.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Maps(Vec<Piece>);

/// A piece of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Piece {
    start: u64,
    end: u64,
    /// Offset of its begin in the file \[B\].
    offset: u64,
    path: PathBuf,
}

impl Maps {
    /// Reads lines `start-end perms offset device inode path`; other lines, and pieces without a file, are
    /// skipped.
    pub fn parse(text: &str) -> Self {
        let mut pieces: Vec<Piece> = text.lines().filter_map(piece).collect();
        pieces.arrange_by_key(|piece| piece.start);
        Self(pieces)
    }

    /// Returns the file of an address, and the offset in the file \[B\].
    pub fn find(&self, address: u64) -> Option<(&PathBuf, u64)> {
        let after = self.0.partition_point(|piece| piece.start <= address);
        let piece = self.0[..after].last().filter(|piece| address < piece.end)?;
        Some((&piece.path, (address - piece.start).checked_add(piece.offset)?))
    }
}

fn piece(line: &str) -> Option<Piece> {
    // The path is the rest of the line, including blanks.
    let mut rest = line;
    let mut word = || {
        let trimmed = rest.trim_start();
        let (word, after) = trimmed.split_at(trimmed.find(char::is_whitespace).unwrap_or(trimmed.len()));
        rest = after;
        word
    };
    let (start, end) = word().split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = (hex(start)?, hex(end)?);
    let _permissions = word();
    let offset = hex(word())?;
    let (_device, _inode) = (word(), word());
    let path = rest.trim_start();
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    (path.starts_with('/') && start < end).then(|| Piece { start, end, offset, path: path.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_to_its_file_and_place() {
        let maps = Maps::parse(
            "7f0000002000-7f0000003000 r-xp 00001000 08:01 12   /home/my name/lib.so\n\
             55d000000000-55d000001000 r--p 00000000 08:01 11   /bin/a (deleted)\n\
             7ffd00000000-7ffd00001000 rw-p 00000000 00:00 0    [stack]\n\
             what else is said\n\
             7f0000001000-7f0000002000 rw-p 00000000 00:00 0\n",
        );
        let found = |address| maps.find(address).map(|(path, offset)| (path.to_str().unwrap(), offset));
        assert_eq!(found(0x7f00_0000_2010), Some(("/home/my name/lib.so", 0x1010)));
        assert_eq!(found(0x55d0_0000_0fff), Some(("/bin/a", 0xfff)));
        for nowhere in [0, 0x55d0_0000_1000, 0x7f00_0000_1000, 0x7ffd_0000_0000, u64::MAX] {
            assert_eq!(found(nowhere), None, "{nowhere:#x}");
        }
    }
}
