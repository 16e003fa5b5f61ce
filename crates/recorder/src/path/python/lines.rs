//! Tables of lines in code objects.
//!
//! Source: `Objects/lnotab_notes.txt` of CPython 3.8 and 3.10, `Objects/locations.md` (`InternalDocs/code_objects.md`)
//! of 3.11.

/// Format of a table of lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LineTable {
    /// Up to 3.9: distances of instructions and of lines alternate.
    Pairs,
    /// 3.10: length of each range, and the distance of its line.
    Ranges,
    /// From 3.11 on: ranges with columns.
    Locations,
}

impl LineTable {
    /// Returns the line of the instruction at an offset \[B\], in code whose first line is `first`.
    pub(super) fn find(self, table: &[u8], first: i32, offset: usize) -> Option<i32> {
        match self {
            Self::Pairs => Some(pairs(table, first, offset)),
            Self::Ranges => ranges(table, first, offset),
            Self::Locations => locations(table, first, offset),
        }
    }
}

fn pairs(table: &[u8], first: i32, offset: usize) -> i32 {
    let (mut line, mut at) = (first, 0);
    for pair in table.chunks_exact(2) {
        at += usize::from(pair[0]);
        if at > offset {
            break;
        }
        line += i32::from(pair[1] as i8);
    }
    line
}

fn ranges(table: &[u8], first: i32, offset: usize) -> Option<i32> {
    /// Stands in place of a distance if the range has no line.
    const NO_LINE: i8 = -128;
    let (mut line, mut end) = (first, 0);
    for pair in table.chunks_exact(2) {
        let distance = pair[1] as i8;
        end += usize::from(pair[0]);
        if distance != NO_LINE {
            line += i32::from(distance);
        }
        if offset < end {
            return (distance != NO_LINE).then_some(line);
        }
    }
    None
}

fn locations(table: &[u8], first: i32, offset: usize) -> Option<i32> {
    let mut rest = table.iter().copied();
    // Groups of six bits, the lowest first; bit 6 is set if another group follows.
    let number = |rest: &mut dyn Iterator<Item = u8>| {
        let mut value = 0_u32;
        for shift in (0..32).step_by(6) {
            let byte = rest.next()?;
            value |= u32::from(byte & 63).checked_shl(shift)?;
            if byte & 64 == 0 {
                return Some(value);
            }
        }
        None
    };
    let signed = |value: u32| if value & 1 != 0 { -((value >> 1) as i32) } else { (value >> 1) as i32 };
    let (mut line, mut end) = (first, 0);
    while let Some(head) = rest.next() {
        end += 2 * (usize::from(head & 7) + 1);
        let (distance, skip) = match head >> 3 & 15 {
            15 => (None, 0),
            14 => {
                let distance = signed(number(&mut rest)?);
                // The last line, and the two columns.
                for _ in 0..3 {
                    number(&mut rest)?;
                }
                (Some(distance), 0)
            }
            13 => (Some(signed(number(&mut rest)?)), 0),
            form @ 10..=12 => (Some(i32::from(form) - 10), 2),
            _ => (Some(0), 1),
        };
        for _ in 0..skip {
            rest.next()?;
        }
        line += distance.unwrap_or(0);
        if offset < end {
            return distance.map(|_| line);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of `f` from `compile` of CPython 3.8, 3.10 and 3.11:
    ///
    /// ```text
    /// 3 def f(a):
    /// 4     b = g(a)
    /// 5
    /// 6     return h(
    /// 7         b)
    /// ```
    #[test]
    fn tables_of_all_versions_are_read() {
        // b = g(a): 0..8; h: 8; b: 10; the call: 12.
        let old = [0, 1, 8, 2, 2, 1, 2, 0xff];
        let lines: Vec<_> = (0..16).step_by(2).map(|at| LineTable::Pairs.find(&old, 3, at)).collect();
        assert_eq!(lines, [4, 4, 4, 4, 6, 7, 6, 6].map(Some));
        let ranges = [8, 1, 2, 2, 2, 1, 4, 0xff, 2, 0x80];
        let lines: Vec<_> = (0..20).step_by(2).map(|at| LineTable::Ranges.find(&ranges, 3, at)).collect();
        assert_eq!(lines[..8], [4, 4, 4, 4, 6, 7, 6, 6].map(Some));
        assert_eq!(lines[8..], [None, None]);
        // No location for 2 bytes; one line, distance 1 (form 11), 8 bytes; long form, distance 2, 2 bytes; short form,
        // 4 bytes; no columns, distance -1, 16 bytes; long form with a distance of two groups, 2 bytes.
        let new = [
            0x80 | 15 << 3,
            0x80 | 11 << 3 | 3,
            4,
            12,
            0x80 | 14 << 3,
            4,
            1,
            5,
            6,
            0x80 | 2 << 3 | 1,
            0x33,
            0x80 | 13 << 3 | 7,
            3,
            0x80 | 14 << 3,
            64 | 2,
            2,
            0,
            1,
            1,
        ];
        let lines: Vec<_> = [0, 2, 9, 10, 12, 15, 16, 31, 32].map(|at| LineTable::Locations.find(&new, 3, at)).into();
        assert_eq!(lines, [None, Some(4), Some(4), Some(6), Some(6), Some(6), Some(5), Some(5), Some(70)]);
        assert_eq!(LineTable::Locations.find(&new, 3, 34), None, "behind the end");
    }

    #[test]
    fn tables_that_are_cut_off_say_nothing() {
        for length in 0..8 {
            assert_eq!(
                LineTable::Locations.find(&[0xf0, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f][..length], 1, 100),
                None
            );
        }
    }
}
