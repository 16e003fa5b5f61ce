//! Decoder for x86-64 instructions: their length, and the memory that they read and write.
//!
//! It covers as much as a walk through compiled functions needs: lengths of all instructions up to AVX-512,
//! and the bytes accessed by those with an operand in memory. An unknown instruction ends the walk.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, appendix A (opcode maps).

/// An operand in memory: `[base + index * scale + displacement]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Base register; `None` if there is none. `RIP` is one more than the last register.
    pub base: Option<u8>,
    /// Index register and scale.
    pub index: Option<(u8, u8)>,
    pub displacement: i32,
    /// True if relative to the thread's own memory.
    pub of_thread: bool,
}

/// Base that stands for the address of the next instruction.
pub const RIP: u8 = 16;
/// Stack pointer; `RBP` is the frame pointer.
pub const RSP: u8 = 4;
pub const RBP: u8 = 5;

/// Control flow of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Continues with the next instruction.
    On,
    /// Calls a function at a distance from the next instruction.
    Call(i32),
    /// Jumps under a condition.
    Branch(i32),
    /// Jumps.
    Jump(i32),
    /// Calls the address in a register or in memory.
    IndirectCall,
    /// Jumps to the address in a register or in memory.
    IndirectJump,
    /// Returns, or ends the program.
    End,
}

/// Effect of an instruction on a general register, as far as addresses may pass through it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegisterEffect {
    /// No effect that matters.
    Kept,
    /// The register is set to the address of the operand.
    Address(u8),
    /// The register is set to another register.
    Copied(u8, u8),
    /// Another register is added.
    Added(u8, u8),
    /// The register is set to the content of the operand.
    Loaded(u8),
    /// The register is stored in the operand.
    Stored(u8),
    /// The register gets some other value.
    Set(u8),
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    pub length: usize,
    pub flow: Flow,
    pub operand: Option<Operand>,
    /// Bytes of the operand that are read, and that are written.
    pub read: u32,
    pub written: u32,
    /// Set for instructions that move or fill bytes: true if it reads at `rsi`, true if it writes at `rdi`.
    pub text: (bool, bool),
    pub register: RegisterEffect,
}

/// Use of a memory operand.
#[derive(Clone, Copy)]
enum OperandUse {
    None,
    Read(u32),
    Write(u32),
    Both(u32),
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn signed(&mut self, size: usize) -> Option<i32> {
        let bytes = self.bytes.get(self.at..self.at + size)?;
        self.at += size;
        Some(match *bytes {
            [a] => i32::from(a as i8),
            [a, b] => i32::from(i16::from_le_bytes([a, b])),
            [a, b, c, d, ..] => i32::from_le_bytes([a, b, c, d]),
            _ => 0,
        })
    }
}

/// Prefixes of an instruction.
#[derive(Clone, Copy, Default)]
struct Prefixes {
    small: bool,
    repeat: u8,
    of_thread: bool,
    rex: u8,
    /// Length of a vector \[B\]; 0 if not encoded as one.
    vector: u32,
}

impl Prefixes {
    fn wide(self) -> bool {
        self.rex & 8 != 0
    }

    /// Size of a general operand \[B\].
    fn size(self) -> u32 {
        if self.wide() {
            8
        } else if self.small {
            2
        } else {
            4
        }
    }

    /// Size of a floating-point operand \[B\]: all of a register, or as the prefix says.
    fn floating(self) -> u32 {
        match self.repeat {
            0xf3 => 4,
            0xf2 => 8,
            _ => self.vector.max(16),
        }
    }
}

/// Operands of a ModRM byte: the register in `reg`; in `rm`, a register or memory.
struct Operands {
    reg: u8,
    rm: Result<u8, Operand>,
}

fn operands(cursor: &mut Cursor<'_>, prefixes: Prefixes) -> Option<Operands> {
    let modrm = cursor.byte()?;
    let rex = prefixes.rex;
    let (mode, reg, rm) = (modrm >> 6, (modrm >> 3 & 7) | (rex & 4) << 1, modrm & 7);
    if mode == 3 {
        return Some(Operands { reg, rm: Ok(rm | (rex & 1) << 3) });
    }
    let (mut base, mut index) = (Some(rm | (rex & 1) << 3), None);
    let mut long = mode == 2;
    if rm == 4 {
        let sib = cursor.byte()?;
        let number = (sib >> 3 & 7) | (rex & 2) << 2;
        index = (number != 4).then_some((number, 1 << (sib >> 6)));
        base = Some((sib & 7) | (rex & 1) << 3);
        if mode == 0 && sib & 7 == 5 {
            (base, long) = (None, true);
        }
    } else if mode == 0 && rm == 5 {
        (base, long) = (Some(RIP), true);
    }
    let displacement = match (long, mode) {
        (true, _) => cursor.signed(4)?,
        (_, 1) => cursor.signed(1)?,
        _ => 0,
    };
    Some(Operands { reg, rm: Err(Operand { base, index, displacement, of_thread: prefixes.of_thread }) })
}

/// Returns the instruction at the begin of these bytes; `None` if it is not known.
pub fn decode(bytes: &[u8]) -> Option<Instruction> {
    let mut cursor = Cursor { bytes, at: 0 };
    let mut prefixes = Prefixes::default();
    let opcode = loop {
        let byte = cursor.byte()?;
        match byte {
            0x66 => prefixes.small = true,
            0xf2 | 0xf3 => prefixes.repeat = byte,
            0x64 | 0x65 => prefixes.of_thread = true,
            0x26 | 0x2e | 0x36 | 0x3e | 0x67 | 0xf0 => {}
            0x40..=0x4f => {
                prefixes.rex = byte;
                break cursor.byte()?;
            }
            _ => break byte,
        }
    };
    let mut instruction = match opcode {
        0x0f => match cursor.byte()? {
            0x38 => {
                let opcode = cursor.byte()?;
                let kind = match (opcode, prefixes.repeat) {
                    (0xf0 | 0xf1, 0xf2) => OperandUse::Read(prefixes.size()),
                    (0xf0, _) => OperandUse::Read(prefixes.size()),
                    (0xf1, _) => OperandUse::Write(prefixes.size()),
                    _ => OperandUse::Read(16),
                };
                with_operands(&mut cursor, prefixes, kind, 0)?
            }
            0x3a => three_bytes(&mut cursor, prefixes)?,
            opcode => two_bytes(&mut cursor, prefixes, opcode)?,
        },
        0xc4 | 0xc5 | 0x62 => vector(&mut cursor, prefixes, opcode)?,
        opcode => one_byte(&mut cursor, prefixes, opcode)?,
    };
    instruction.length = cursor.at;
    Some(instruction)
}

const PLAIN: Instruction = Instruction {
    length: 0,
    flow: Flow::On,
    operand: None,
    read: 0,
    written: 0,
    text: (false, false),
    register: RegisterEffect::Kept,
};

/// Decodes an instruction with a ModRM byte, given the use of its memory operand and the length of its
/// immediate \[B\].
fn with_operands(
    cursor: &mut Cursor<'_>,
    prefixes: Prefixes,
    kind: OperandUse,
    immediate: usize,
) -> Option<Instruction> {
    let operands = operands(cursor, prefixes)?;
    if immediate > 0 {
        cursor.signed(immediate)?;
    }
    Some(used(&operands, kind))
}

fn used(operands: &Operands, kind: OperandUse) -> Instruction {
    let Err(operand) = operands.rm else { return PLAIN };
    let (read, written) = match kind {
        OperandUse::None => return PLAIN,
        OperandUse::Read(size) => (size, 0),
        OperandUse::Write(size) => (0, size),
        OperandUse::Both(size) => (size, size),
    };
    Instruction { operand: Some(operand), read, written, ..PLAIN }
}

fn one_byte(cursor: &mut Cursor<'_>, prefixes: Prefixes, opcode: u8) -> Option<Instruction> {
    let size = prefixes.size();
    let large = if prefixes.small { 2 } else { 4 };
    let width = |opcode: u8| if opcode & 1 == 0 { 1 } else { size };
    Some(match opcode {
        0x00..=0x3f => match opcode & 7 {
            low @ 0..=3 => {
                let compares = opcode & 0xf8 == 0x38;
                let kind = match (low, compares) {
                    (0 | 1, false) => OperandUse::Both(width(opcode)),
                    _ => OperandUse::Read(width(opcode)),
                };
                let operands = operands(cursor, prefixes)?;
                let adds = matches!(opcode & 0xf8, 0x00 | 0x28);
                let register = match operands.rm {
                    _ if compares => RegisterEffect::Kept,
                    Ok(rm) if adds && low < 2 => RegisterEffect::Added(rm, operands.reg),
                    Ok(rm) if adds => RegisterEffect::Added(operands.reg, rm),
                    Ok(rm) if low < 2 => RegisterEffect::Set(rm),
                    Err(_) if low < 2 => RegisterEffect::Kept,
                    // An address stays one after a sum or a difference with a value in memory.
                    Err(_) if adds => RegisterEffect::Kept,
                    _ => RegisterEffect::Set(operands.reg),
                };
                Instruction { register, ..used(&operands, kind) }
            }
            4 => immediate(cursor, 1)?,
            5 => immediate(cursor, large)?,
            _ => return None,
        },
        0x50..=0x57 => PLAIN,
        0x58..=0x5f => Instruction { register: RegisterEffect::Set(opcode & 7 | (prefixes.rex & 1) << 3), ..PLAIN },
        0x63 => sets(cursor, prefixes, OperandUse::Read(4), 0)?,
        0x68 => immediate(cursor, large)?,
        0x69 => sets(cursor, prefixes, OperandUse::Read(size), large)?,
        0x6a => immediate(cursor, 1)?,
        0x6b => sets(cursor, prefixes, OperandUse::Read(size), 1)?,
        0x70..=0x7f | 0xe0..=0xe3 => Instruction { flow: Flow::Branch(cursor.signed(1)?), ..PLAIN },
        0x80 | 0x81 | 0x83 => {
            let operands = operands(cursor, prefixes)?;
            cursor.signed(if opcode == 0x81 { large } else { 1 })?;
            let operation = operands.reg & 7;
            let kind = if operation == 7 { OperandUse::Read(width(opcode)) } else { OperandUse::Both(width(opcode)) };
            // Sums, differences and roundings of addresses stay addresses.
            let register = match operands.rm {
                Ok(rm) if !matches!(operation, 0 | 4 | 5 | 7) => RegisterEffect::Set(rm),
                _ => RegisterEffect::Kept,
            };
            Instruction { register, ..used(&operands, kind) }
        }
        0x84 | 0x85 => with_operands(cursor, prefixes, OperandUse::Read(width(opcode)), 0)?,
        0x86 | 0x87 => sets(cursor, prefixes, OperandUse::Both(width(opcode)), 0)?,
        0x88..=0x8b => {
            let stores = opcode < 0x8a;
            let kind = if stores { OperandUse::Write(width(opcode)) } else { OperandUse::Read(width(opcode)) };
            let operands = operands(cursor, prefixes)?;
            let register = match (operands.rm, opcode) {
                (Ok(rm), 0x89) => RegisterEffect::Copied(rm, operands.reg),
                (Ok(rm), 0x8b) => RegisterEffect::Copied(operands.reg, rm),
                (Ok(rm), 0x88) => RegisterEffect::Set(rm),
                (Err(_), 0x88) => RegisterEffect::Kept,
                (Err(_), 0x89) => RegisterEffect::Stored(operands.reg),
                (Err(_), 0x8b) => RegisterEffect::Loaded(operands.reg),
                _ => RegisterEffect::Set(operands.reg),
            };
            Instruction { register, ..used(&operands, kind) }
        }
        0x8d => {
            let operands = operands(cursor, prefixes)?;
            let operand = operands.rm.err()?;
            Instruction { operand: Some(operand), register: RegisterEffect::Address(operands.reg), ..PLAIN }
        }
        0x8f => with_operands(cursor, prefixes, OperandUse::Write(8), 0)?,
        0x90..=0x9f if opcode != 0x9a => PLAIN,
        0xa4 | 0xa5 => Instruction { text: (true, true), ..PLAIN },
        0xaa | 0xab => Instruction { text: (false, true), ..PLAIN },
        0xa6 | 0xa7 | 0xac..=0xaf => Instruction { text: (true, false), ..PLAIN },
        0xa8 => immediate(cursor, 1)?,
        0xa9 => immediate(cursor, large)?,
        0xb0..=0xb7 => immediate(cursor, 1)?,
        0xb8..=0xbf => {
            let register = RegisterEffect::Set(opcode & 7 | (prefixes.rex & 1) << 3);
            Instruction { register, ..immediate(cursor, if prefixes.wide() { 8 } else { large })? }
        }
        0xc0 | 0xc1 => changes(cursor, prefixes, OperandUse::Both(width(opcode)), 1)?,
        0xd0..=0xd3 => changes(cursor, prefixes, OperandUse::Both(width(opcode)), 0)?,
        0xc2 => Instruction { flow: Flow::End, ..immediate(cursor, 2)? },
        0xc3 | 0xf4 | 0xcc => Instruction { flow: Flow::End, ..PLAIN },
        0xc6 => changes(cursor, prefixes, OperandUse::Write(1), 1)?,
        0xc7 => changes(cursor, prefixes, OperandUse::Write(size), large)?,
        0xc8 => immediate(cursor, 3)?,
        0xc9 => PLAIN,
        0xd8..=0xdf => {
            let operands = operands(cursor, prefixes)?;
            used(&operands, x87(opcode, operands.reg & 7))
        }
        0xe8 => Instruction { flow: Flow::Call(cursor.signed(4)?), ..PLAIN },
        0xe9 => Instruction { flow: Flow::Jump(cursor.signed(4)?), ..PLAIN },
        0xeb => Instruction { flow: Flow::Jump(cursor.signed(1)?), ..PLAIN },
        0xf5 | 0xf8..=0xfd => PLAIN,
        0xf6 | 0xf7 => {
            let operands = operands(cursor, prefixes)?;
            let operation = operands.reg & 7;
            if operation < 2 {
                cursor.signed(if opcode == 0xf6 { 1 } else { large })?;
            }
            let kind = if matches!(operation, 2 | 3) {
                OperandUse::Both(width(opcode))
            } else {
                OperandUse::Read(width(opcode))
            };
            let register = match operands.rm {
                Ok(rm) if matches!(operation, 2 | 3) => RegisterEffect::Set(rm),
                _ => RegisterEffect::Kept,
            };
            Instruction { register, ..used(&operands, kind) }
        }
        0xfe => changes(cursor, prefixes, OperandUse::Both(1), 0)?,
        0xff => {
            let operands = operands(cursor, prefixes)?;
            let (kind, flow) = match operands.reg & 7 {
                0 | 1 => (OperandUse::Both(size), Flow::On),
                2 => (OperandUse::Read(8), Flow::IndirectCall),
                4 => (OperandUse::Read(8), Flow::IndirectJump),
                6 => (OperandUse::Read(8), Flow::On),
                _ => return None,
            };
            Instruction { flow, ..used(&operands, kind) }
        }
        _ => return None,
    })
}

/// Returns size and direction of an operand of the floating-point stack.
fn x87(opcode: u8, operation: u8) -> OperandUse {
    match (opcode, operation) {
        (0xd8 | 0xda, _) | (0xd9 | 0xdb, 0) => OperandUse::Read(4),
        (0xd9, 2 | 3) | (0xdb, 1..=3) => OperandUse::Write(4),
        (0xd9, 5) => OperandUse::Read(2),
        (0xd9, 7) | (0xdf, 1..=3) | (0xdd, 7) => OperandUse::Write(2),
        (0xdb, 5) => OperandUse::Read(10),
        (0xdb, 7) => OperandUse::Write(10),
        (0xdc, _) | (0xdd, 0) | (0xdf, 5) => OperandUse::Read(8),
        (0xdd, 1..=3) | (0xdf, 7) => OperandUse::Write(8),
        (0xde, _) | (0xdf, 0) => OperandUse::Read(2),
        _ => OperandUse::Both(108),
    }
}

fn immediate(cursor: &mut Cursor<'_>, size: usize) -> Option<Instruction> {
    cursor.signed(size)?;
    Some(PLAIN)
}

/// Decodes an instruction that sets the register in `reg`.
fn sets(cursor: &mut Cursor<'_>, prefixes: Prefixes, kind: OperandUse, immediate: usize) -> Option<Instruction> {
    let operands = operands(cursor, prefixes)?;
    if immediate > 0 {
        cursor.signed(immediate)?;
    }
    Some(Instruction { register: RegisterEffect::Set(operands.reg), ..used(&operands, kind) })
}

/// Decodes an instruction that changes the register in `rm`.
fn changes(cursor: &mut Cursor<'_>, prefixes: Prefixes, kind: OperandUse, immediate: usize) -> Option<Instruction> {
    let operands = operands(cursor, prefixes)?;
    if immediate > 0 {
        cursor.signed(immediate)?;
    }
    let register = operands.rm.map_or(RegisterEffect::Kept, RegisterEffect::Set);
    Some(Instruction { register, ..used(&operands, kind) })
}

fn two_bytes(cursor: &mut Cursor<'_>, prefixes: Prefixes, opcode: u8) -> Option<Instruction> {
    let (size, floating) = (prefixes.size(), prefixes.floating());
    let whole = prefixes.vector.max(16);
    let byte_or_size = if opcode & 1 == 0 { 1 } else { size };
    let immediate = usize::from(matches!(opcode, 0x70..=0x73 | 0xa4 | 0xac | 0xba | 0xc2 | 0xc4..=0xc6));
    let kind = match opcode {
        0x05 | 0x31 | 0x77 | 0xa2 | 0xc8..=0xcf => return Some(PLAIN),
        0x0b => return Some(Instruction { flow: Flow::End, ..PLAIN }),
        0x80..=0x8f => return Some(Instruction { flow: Flow::Branch(cursor.signed(4)?), ..PLAIN }),
        0x0d | 0x18..=0x1f => OperandUse::None,
        0x10 => OperandUse::Read(floating),
        0x11 => OperandUse::Write(floating),
        0x12 | 0x16 => OperandUse::Read(if prefixes.repeat == 0 { 8 } else { whole }),
        0x13 | 0x17 => OperandUse::Write(8),
        0x2a => OperandUse::Read(if prefixes.repeat == 0 { 8 } else { size }),
        0x29 | 0x2b | 0xe7 => OperandUse::Write(whole),
        0x7f => OperandUse::Write(whole),
        0xd6 => OperandUse::Write(8),
        0x2c..=0x2f | 0x51 | 0x58..=0x5f | 0xc2 => OperandUse::Read(floating),
        0x40..=0x4f | 0xaf | 0xb8 | 0xbc | 0xbd => OperandUse::Read(size),
        0x6e => OperandUse::Read(if prefixes.wide() { 8 } else { 4 }),
        0x7e if prefixes.repeat == 0xf3 => OperandUse::Read(8),
        0x7e => OperandUse::Write(if prefixes.wide() { 8 } else { 4 }),
        0x90..=0x9f => OperandUse::Write(1),
        0xa3 => OperandUse::Read(size),
        0xa4 | 0xa5 | 0xab | 0xac | 0xad | 0xb3 | 0xba | 0xbb => OperandUse::Both(size),
        0xae => OperandUse::Both(4),
        0xb0 | 0xb1 | 0xc0 | 0xc1 => OperandUse::Both(byte_or_size),
        0xb6 | 0xbe => OperandUse::Read(1),
        0xb7 | 0xbf => OperandUse::Read(2),
        0xc3 => OperandUse::Write(size),
        0xc4 => OperandUse::Read(2),
        0xc7 => OperandUse::Both(if prefixes.wide() { 16 } else { 8 }),
        0x14 | 0x15 | 0x28 | 0x50..=0x76 | 0x7c | 0x7d | 0xc5 | 0xc6 | 0xd0..=0xff => OperandUse::Read(whole),
        _ => return None,
    };
    let general =
        matches!(opcode, 0x2c | 0x2d | 0x40..=0x4f | 0xaf | 0xb6..=0xb8 | 0xbc..=0xbf | 0xc0 | 0xc1 | 0xc5 | 0xd7);
    let in_rm = matches!(opcode, 0x90..=0x9f) || opcode == 0x7e && prefixes.repeat != 0xf3;
    match (general, in_rm) {
        (true, _) => sets(cursor, prefixes, kind, immediate),
        (_, true) => changes(cursor, prefixes, kind, immediate),
        _ => with_operands(cursor, prefixes, kind, immediate),
    }
}

fn three_bytes(cursor: &mut Cursor<'_>, prefixes: Prefixes) -> Option<Instruction> {
    let opcode = cursor.byte()?;
    let kind = match opcode {
        0x14 => OperandUse::Write(1),
        0x15 => OperandUse::Write(2),
        0x16 => OperandUse::Write(if prefixes.wide() { 8 } else { 4 }),
        0x17 => OperandUse::Write(4),
        0x0a => OperandUse::Read(4),
        0x0b => OperandUse::Read(8),
        _ => OperandUse::Read(prefixes.vector.max(16)),
    };
    changes(cursor, prefixes, kind, 1)
}

/// Decodes instructions of AVX and AVX-512: mostly former instructions of SSE.
fn vector(cursor: &mut Cursor<'_>, mut prefixes: Prefixes, opcode: u8) -> Option<Instruction> {
    let first = cursor.byte()?;
    // The bits of REX are stored inverted.
    let (map, last, length) = match opcode {
        0xc5 => {
            prefixes.rex = (!first & 0x80) >> 5;
            (1, first, u32::from(first >> 2 & 1))
        }
        0xc4 => {
            let second = cursor.byte()?;
            prefixes.rex = (!first & 0xe0) >> 5 | (second & 0x80) >> 4;
            (first & 31, second, u32::from(second >> 2 & 1))
        }
        _ => {
            let (second, third) = (cursor.byte()?, cursor.byte()?);
            prefixes.rex = (!first & 0xe0) >> 5 | (second & 0x80) >> 4;
            (first & 7, second, u32::from(third >> 5 & 3))
        }
    };
    prefixes.vector = 16 << length;
    (prefixes.small, prefixes.repeat) = match last & 3 {
        1 => (true, 0),
        2 => (false, 0xf3),
        3 => (false, 0xf2),
        _ => (false, 0),
    };
    let opcode = cursor.byte()?;
    match map {
        1 if matches!(opcode, 0x2c | 0x2d | 0x50..=0x7f | 0x10..=0x17 | 0x28..=0x2f | 0xc2..=0xc6 | 0xd0..=0xff) => {
            // The memory operand is that of the instruction of SSE.
            two_bytes(cursor, prefixes, opcode)
        }
        2 => {
            // Stores under a mask, and with less precision.
            let writes = matches!(opcode, 0x2e | 0x2f | 0x8e | 0x8a | 0x8b | 0xa0..=0xa3 | 0x10..=0x15 | 0x20..=0x25 | 0x30..=0x35);
            let size = prefixes.vector;
            // Operations on general registers (BMI).
            let general = matches!(opcode, 0xf2 | 0xf3 | 0xf5..=0xf7);
            match (general, writes) {
                (true, _) => sets(cursor, prefixes, OperandUse::Read(prefixes.size()), 0),
                (_, true) => with_operands(cursor, prefixes, OperandUse::Both(size), 0),
                _ => with_operands(cursor, prefixes, OperandUse::Read(size), 0),
            }
        }
        3 => {
            let writes = matches!(opcode, 0x14..=0x17 | 0x19 | 0x1b | 0x1d | 0x39 | 0x3b);
            let size = prefixes.vector;
            let kind = if writes { OperandUse::Write(size) } else { OperandUse::Read(size) };
            if opcode == 0xf0 {
                sets(cursor, prefixes, OperandUse::Read(prefixes.size()), 1)
            } else {
                changes(cursor, prefixes, kind, 1)
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
