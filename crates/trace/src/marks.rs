//! Borders of regions among the events of a chunk.
//!
//! Borders are stored in a column of their own, which readers that do not know it skip. Each is a list of
//! numbers:
//!
//! ```text
//! events of the chunk since the border before (or the chunk's begin)
//! four times the region, plus 1 where it begins, plus 2 where there is processor time
//! site
//! ticks from the end of the event before to the border, modulo 2^64
//! ticks that it took
//! folded, where there is processor time: the ticks from the event before less those of processor time
//! ```

use crate::Mark;
use crate::code::{Cursor, fold, put, unfold};

/// Appends a border; `since` events stand between it and the one before, and the event before it ended at `last_end`
/// \[ticks\].
pub(crate) fn write(out: &mut Vec<u8>, since: u64, last_end: u64, tick: u64, mark: &Mark) {
    let (begin, end) = (mark.begin / tick, mark.end / tick);
    let gap = begin.wrapping_sub(last_end);
    put(out, since);
    put(out, u64::from(mark.region) << 2 | u64::from(mark.cpu.is_some()) << 1 | u64::from(mark.begins));
    put(out, mark.site.into());
    put(out, gap);
    put(out, end.wrapping_sub(begin));
    if let Some(cpu) = mark.cpu {
        put(out, fold(gap.wrapping_sub(cpu / tick) as i64));
    }
}

/// Reads the next border except its position; `None` if it is cut off or invalid.
pub(crate) fn read(cursor: &mut Cursor, bytes: &[u8], last_end: u64, tick: u64) -> Option<Mark> {
    let region = cursor.take(bytes)?;
    let site = u32::try_from(cursor.take(bytes)?).ok()?;
    let gap = cursor.take(bytes)?;
    let length = cursor.take(bytes)?;
    let cpu = match region & 2 {
        0 => None,
        _ => Some(gap.wrapping_sub(unfold(cursor.take(bytes)?) as u64).wrapping_mul(tick)),
    };
    let begin = last_end.wrapping_add(gap);
    Some(Mark {
        region: u32::try_from(region >> 2).ok()?,
        begins: region & 1 == 1,
        site,
        begin: begin.wrapping_mul(tick),
        end: begin.wrapping_add(length).wrapping_mul(tick),
        cpu,
    })
}
