//! Shapes: the common fields of events at one call site, and the prediction of the other fields from the last
//! event.

use crate::code::{Cursor, put};
use crate::{Call, Event, Flags, Op};

/// Columns of a chunk of events, in the order in which they are stored.
pub(crate) mod column {
    /// Number of the shape of each event; one more than the largest so far is a new one, defined in the next
    /// column.
    pub(crate) const SHAPE: usize = 0;
    /// Definitions of shapes.
    pub(crate) const DEFINITION: usize = 1;
    /// Time from the end of the previous event to the begin of each event \[ticks\].
    pub(crate) const GAP: usize = 2;
    /// Time from begin to end of each event \[ticks\].
    pub(crate) const LENGTH: usize = 3;
    /// Gap minus processor time.
    pub(crate) const CPU: usize = 4;
    /// The eight fields from [`super::fields`], each in a column of its own.
    pub(crate) const FIELDS: usize = 5;
    /// Requests, offered requests, counts.
    pub(crate) const LISTS: usize = 13;
    /// Borders of regions, by their position among the events of the chunk (see `marks`).
    pub(crate) const MARKS: usize = 14;
    /// Threads, if a rank has several (see `turns`).
    pub(crate) const THREADS: usize = 15;
    /// Number of columns.
    pub(crate) const COUNT: usize = 16;
}

/// Number of predicted fields.
pub(crate) const FIELDS: usize = 8;
/// Number of lists of an event.
pub(crate) const LISTS: usize = 4;
/// Number of lists of requests, which come first; their numbers are counted back from the newest request.
pub(crate) const REQUEST_LISTS: usize = 2;

/// Bit of the mask for the processor time; bits of the fields and the lists follow.
const CPU_BIT: u16 = 1;
const FIELD_BIT: u16 = 2;
const LIST_BIT: u16 = FIELD_BIT << FIELDS;
const ALL_BITS: u64 = ((LIST_BIT as u64) << LISTS) - 1;

/// The part of an event that is stored once and then named by a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Shape {
    pub(crate) call: Call,
    pub(crate) op: Op,
    pub(crate) flags: Flags,
    mask: u16,
    pub(crate) site: u32,
    pub(crate) comm: u32,
    pub(crate) element: u32,
}

/// Returns the fields that have columns of their own, as signed numbers.
#[inline]
pub(crate) fn fields(event: &Event) -> [i64; FIELDS] {
    [
        i64::from(event.peer),
        i64::from(event.tag),
        event.bytes as i64,
        i64::from(event.peer2),
        i64::from(event.tag2),
        event.bytes2 as i64,
        event.buffer as i64,
        event.buffer2 as i64,
    ]
}

/// Fields of an event that has none.
pub(crate) const NO_FIELDS: [i64; FIELDS] = [Event::NOBODY as i64, 0, 0, Event::NOBODY as i64, 0, 0, 0, 0];

/// Puts fields into an event; uses the low 32 bits for narrower fields.
#[inline]
pub(crate) fn set_fields(event: &mut Event, fields: &[i64; FIELDS]) {
    event.peer = fields[0] as i32;
    event.tag = fields[1] as i32;
    event.bytes = fields[2] as u64;
    event.peer2 = fields[3] as i32;
    event.tag2 = fields[4] as i32;
    event.bytes2 = fields[5] as u64;
    event.buffer = fields[6] as u64;
    event.buffer2 = fields[7] as u64;
}

#[inline]
pub(crate) fn lists(event: &Event) -> [&Vec<u64>; LISTS] {
    [&event.requests, &event.offered, &event.counts, &event.counts2]
}

pub(crate) fn list_mut(event: &mut Event, list: usize) -> &mut Vec<u64> {
    match list {
        0 => &mut event.requests,
        1 => &mut event.offered,
        2 => &mut event.counts,
        _ => &mut event.counts2,
    }
}

impl Shape {
    #[inline]
    pub(crate) fn of(event: &Event, fields: &[i64; FIELDS]) -> Self {
        let mut mask = if event.cpu.is_some() { CPU_BIT } else { 0 };
        for (i, (value, absent)) in fields.iter().zip(&NO_FIELDS).enumerate() {
            mask |= u16::from(value != absent) * (FIELD_BIT << i);
        }
        for (i, list) in lists(event).into_iter().enumerate() {
            mask |= u16::from(!list.is_empty()) * (LIST_BIT << i);
        }
        let Event { call, op, flags, site, comm, element, .. } = *event;
        Self { call, op, flags, mask, site, comm, element }
    }

    #[inline]
    pub(crate) fn has_cpu(&self) -> bool {
        self.mask & CPU_BIT != 0
    }

    #[inline]
    pub(crate) fn has_field(&self, field: usize) -> bool {
        self.mask & (FIELD_BIT << field) != 0
    }

    #[inline]
    pub(crate) fn has_list(&self, list: usize) -> bool {
        self.mask & (LIST_BIT << list) != 0
    }

    /// Returns true if there are no fields and no lists.
    #[inline]
    pub(crate) fn is_bare(&self) -> bool {
        self.mask & !CPU_BIT == 0
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for value in [
            u64::from(self.call.code()),
            self.op.0.into(),
            self.flags.0.into(),
            self.mask.into(),
            self.site.into(),
            self.comm.into(),
            self.element.into(),
        ] {
            put(out, value);
        }
    }

    /// Reads a definition.
    pub(crate) fn read(cursor: &mut Cursor, bytes: &[u8]) -> Result<Self, String> {
        let mut next = |what: &str, most: u64| match cursor.take(bytes) {
            Some(value) if value <= most => Ok(value),
            Some(value) => Err(format!("a shape has {what} {value}, at most {most} is possible")),
            None => Err("a definition of a shape is cut off".to_owned()),
        };
        let code = next("call", 255)?;
        let call = Call::from_code(code).ok_or_else(|| format!("a shape has call {code}, which is not known"))?;
        Ok(Self {
            call,
            op: Op(next("operator", 255)? as u8),
            flags: Flags(next("flags", u16::MAX.into())? as u16),
            mask: next("fields", ALL_BITS)? as u16,
            site: next("site", u32::MAX.into())? as u32,
            comm: next("communicator", u32::MAX.into())? as u32,
            element: next("element", u32::MAX.into())? as u32,
        })
    }
}
