//! Where CPython keeps what, by version: offsets in its structures \[B\], of builds for release with the global lock.
//!
//! Source: `Include/cpython/pystate.h`, `frameobject.h`, `code.h`, `unicodeobject.h` and
//! `Include/internal/pycore_frame.h` of 3.8 to 3.13, by `offsetof`. They change with the second number of the version,
//! never with the third.

use super::lines::Lines;
use super::{Running, memory};

/// In every object: its type.
pub(super) const TYPE: usize = 8;
/// In every object of varying size: its size.
pub(super) const SIZE: usize = 16;
/// In bytes: the first.
pub(super) const BYTES: usize = 32;
/// Longest text that is read, in characters.
const LONGEST_TEXT: usize = 4096;
/// A frame that the interpreter has for itself (`FRAME_OWNED_BY_CSTACK`).
const OWNED_BY_C: usize = 3;

/// All of a version.
#[derive(Debug)]
pub(super) struct Layout {
    version: &'static str,
    /// In the state of a thread: the frame, or what leads to it.
    pub(super) thread_state: usize,
    /// In what leads to it (`_PyCFrame`): the frame.
    pub(super) control: Option<usize>,
    pub(super) frame: Frame,
    pub(super) code: Code,
    pub(super) text: Text,
}

/// A frame.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) code: usize,
    instruction: usize,
    pub(super) previous: usize,
    /// The byte that says whose it is, where there are frames that are no function's.
    owner: Option<usize>,
    /// Whether an instruction is a number, not an address.
    counts: bool,
}

/// A code object.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) file: usize,
    pub(super) name: usize,
    pub(super) first_line: usize,
    pub(super) table: usize,
    /// Where instructions begin, if they are addresses.
    instructions: usize,
    /// Bytes of an instruction, if they are numbers.
    unit: usize,
    pub(super) lines: Lines,
}

/// A text.
#[derive(Debug)]
pub(super) struct Text {
    /// Its characters, if all are of ASCII.
    ascii: usize,
    /// Its characters, if not.
    other: usize,
}

const OLD_FRAME: Frame = Frame { code: 32, instruction: 104, previous: 24, owner: None, counts: true };
const OLD_CODE: Code =
    Code { file: 104, name: 112, first_line: 40, table: 120, instructions: 0, unit: 1, lines: Lines::Pairs };
const OLD_TEXT: Text = Text { ascii: 48, other: 72 };
const NEW_CODE: Code =
    Code { file: 112, name: 128, first_line: 68, table: 136, instructions: 192, unit: 1, lines: Lines::Locations };
const NEW_TEXT: Text = Text { ascii: 40, other: 56 };

const LAYOUTS: [Layout; 6] = [
    Layout { version: "3.8.", thread_state: 24, control: None, frame: OLD_FRAME, code: OLD_CODE, text: OLD_TEXT },
    Layout { version: "3.9.", thread_state: 24, control: None, frame: OLD_FRAME, code: OLD_CODE, text: OLD_TEXT },
    Layout {
        version: "3.10.",
        thread_state: 24,
        control: None,
        frame: Frame { instruction: 96, ..OLD_FRAME },
        code: Code { unit: 2, lines: Lines::Ranges, ..OLD_CODE },
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
    /// Of the version that `Py_GetVersion` says.
    pub(super) fn of(version: &str) -> Option<&'static Self> {
        LAYOUTS.iter().find(|layout| version.starts_with(layout.version))
    }
}

impl Frame {
    /// Whether it is no function's.
    #[inline]
    pub(super) fn is_shim(&self, frame: usize, read: &impl Fn(usize) -> Option<usize>) -> Option<bool> {
        let Some(owner) = self.owner else { return Some(false) };
        let word = read(frame + (owner & !7))?.to_le();
        Some(word >> (8 * (owner & 7)) & 0xff == OWNED_BY_C)
    }

    /// The instruction that runs.
    #[inline]
    pub(super) fn instruction(&self, frame: usize, read: &impl Fn(usize) -> Option<usize>) -> Option<usize> {
        let word = read(frame + self.instruction)?;
        Some(if self.counts { word & 0xffff_ffff } else { word })
    }
}

impl Code {
    /// How far from the beginning of its code an instruction is, as the table of lines counts \[B\].
    pub(super) fn offset(&self, running: &Running) -> usize {
        match self.instructions {
            0 => running.instruction.wrapping_mul(self.unit),
            begin => running.instruction.wrapping_sub(running.code + begin),
        }
    }
}

impl Text {
    /// Reads one.
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
