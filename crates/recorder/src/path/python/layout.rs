//! Offsets in the structures of CPython, by version \[B\]: release builds with the global lock.
//!
//! Source: `Include/cpython/pystate.h`, `frameobject.h`, `code.h`, `unicodeobject.h` and
//! `Include/internal/pycore_frame.h` of 3.8 to 3.13, by `offsetof`. They change with the second number of the
//! version, never with the third.

use super::lines::LineTable;
use super::{RunningFunction, memory};

/// Offset of the type in every object.
pub(super) const TYPE: usize = 8;
/// Offset of the size in every object of varying size.
pub(super) const SIZE: usize = 16;
/// Offset of the first byte in a bytes object.
pub(super) const BYTES: usize = 32;
/// Longest text that is read, in characters.
const LONGEST_TEXT: usize = 4096;
/// Owner of a frame that the interpreter has for itself (`FRAME_OWNED_BY_CSTACK`).
const OWNED_BY_C: usize = 3;

/// Offsets of one version.
#[derive(Debug)]
pub(super) struct Layout {
    version: &'static str,
    /// Offset in the state of a thread: of the frame, or of the structure that leads to it.
    pub(super) thread_state: usize,
    /// Offset of the frame in the structure that leads to it (`_PyCFrame`).
    pub(super) control: Option<usize>,
    pub(super) frame: Frame,
    pub(super) code: Code,
    pub(super) text: Text,
}

/// Offsets in a frame.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) code: usize,
    instruction: usize,
    pub(super) previous: usize,
    /// Offset of the byte that tells the owner, in versions with frames that belong to no function.
    owner: Option<usize>,
    /// True if an instruction is a number, not an address.
    counts: bool,
}

/// Offsets in a code object.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) file: usize,
    pub(super) name: usize,
    pub(super) first_line: usize,
    pub(super) table: usize,
    /// Offset of the first instruction, if instructions are addresses.
    instructions: usize,
    /// Bytes of an instruction, if instructions are numbers.
    unit: usize,
    pub(super) lines: LineTable,
}

/// Offsets in a text.
#[derive(Debug)]
pub(super) struct Text {
    /// Offset of the characters, if all are ASCII.
    ascii: usize,
    /// Offset of the characters otherwise.
    other: usize,
}

const OLD_FRAME: Frame = Frame { code: 32, instruction: 104, previous: 24, owner: None, counts: true };
const OLD_CODE: Code =
    Code { file: 104, name: 112, first_line: 40, table: 120, instructions: 0, unit: 1, lines: LineTable::Pairs };
const OLD_TEXT: Text = Text { ascii: 48, other: 72 };
const NEW_CODE: Code =
    Code { file: 112, name: 128, first_line: 68, table: 136, instructions: 192, unit: 1, lines: LineTable::Locations };
const NEW_TEXT: Text = Text { ascii: 40, other: 56 };

const LAYOUTS: [Layout; 6] = [
    Layout { version: "3.8.", thread_state: 24, control: None, frame: OLD_FRAME, code: OLD_CODE, text: OLD_TEXT },
    Layout { version: "3.9.", thread_state: 24, control: None, frame: OLD_FRAME, code: OLD_CODE, text: OLD_TEXT },
    Layout {
        version: "3.10.",
        thread_state: 24,
        control: None,
        frame: Frame { instruction: 96, ..OLD_FRAME },
        code: Code { unit: 2, lines: LineTable::Ranges, ..OLD_CODE },
        text: OLD_TEXT,
    },
    Layout {
        version: "3.11.",
        thread_state: 56,
        control: Some(8),
        frame: Frame { code: 32, instruction: 56, previous: 48, owner: Some(69), counts: false },
        code: Code { first_line: 72, instructions: 184, ..NEW_CODE },
        text: OLD_TEXT,
    },
    Layout {
        version: "3.12.",
        thread_state: 56,
        control: Some(0),
        frame: Frame { code: 0, instruction: 56, previous: 8, owner: Some(70), counts: false },
        code: NEW_CODE,
        text: NEW_TEXT,
    },
    Layout {
        version: "3.13.",
        thread_state: 72,
        control: None,
        frame: Frame { code: 0, instruction: 56, previous: 8, owner: Some(70), counts: false },
        code: Code { instructions: 200, ..NEW_CODE },
        text: NEW_TEXT,
    },
];

impl Layout {
    /// Returns the offsets for a version as `Py_GetVersion` gives it.
    pub(super) fn of(version: &str) -> Option<&'static Self> {
        LAYOUTS.iter().find(|layout| version.starts_with(layout.version))
    }
}

impl Frame {
    /// Returns true if the frame belongs to no function.
    #[inline]
    pub(super) fn is_shim(&self, frame: usize, read: &impl Fn(usize) -> Option<usize>) -> Option<bool> {
        let Some(owner) = self.owner else { return Some(false) };
        let word = read(frame + (owner & !7))?.to_le();
        Some(word >> (8 * (owner & 7)) & 0xff == OWNED_BY_C)
    }

    /// Returns the running instruction.
    #[inline]
    pub(super) fn instruction(&self, frame: usize, read: &impl Fn(usize) -> Option<usize>) -> Option<usize> {
        let word = read(frame + self.instruction)?;
        Some(if self.counts { word & 0xffff_ffff } else { word })
    }
}

impl Code {
    /// Returns the distance of an instruction from the beginning of its code, as the table of lines counts it
    /// \[B\].
    pub(super) fn offset(&self, running: &RunningFunction) -> usize {
        match self.instructions {
            0 => running.instruction.wrapping_mul(self.unit),
            begin => running.instruction.wrapping_sub(running.code + begin),
        }
    }
}

impl Text {
    /// Reads a text.
    pub(super) fn read(&self, at: usize) -> Option<String> {
        let length = memory::word(at + SIZE)?;
        let state = memory::word(at + 32)?;
        let (kind, compact, ascii) = (state >> 2 & 7, state >> 5 & 1 != 0, state >> 6 & 1 != 0);
        if !compact || length > LONGEST_TEXT {
            return None;
        }
        if ascii {
            return String::from_utf8(memory::bytes(at + self.ascii, length)?).ok();
        }
        let bytes = memory::bytes(at + self.other, length * kind)?;
        let character = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
        matches!(kind, 1 | 2 | 4)
            .then(|| bytes.chunks_exact(kind).map(|bytes| char::from_u32(character(bytes)).unwrap_or('?')).collect())
    }
}
