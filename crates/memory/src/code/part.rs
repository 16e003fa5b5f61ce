//! Functions, imports and constant data of a part of the process.

use std::collections::BTreeMap;
use std::ffi::CStr;

use hayase_mpi::objects;
use libc::{Elf64_Phdr, PF_W, PF_X, PT_GNU_EH_FRAME, PT_GNU_RELRO, PT_LOAD};

use super::decode::{Flow, Instruction, RIP, decode};

/// A function or variable of another part, and the place of its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Import {
    /// Entry of the table of addresses.
    pub(crate) slot: usize,
    /// Name of the symbol; it is never freed.
    pub(crate) name: *mut libc::c_char,
    /// Name of the symbol as a string.
    pub(crate) text: &'static str,
    /// True if it may be data.
    pub(crate) is_data: bool,
    /// True if the part defines it itself.
    pub(crate) is_own: bool,
}

/// An entry of a dynamic section.
#[repr(C)]
struct Entry {
    tag: i64,
    value: usize,
}

mod tag {
    pub(super) const NULL: i64 = 0;
    pub(super) const PLT_RELOCATIONS_SIZE: i64 = 2;
    pub(super) const STRINGS: i64 = 5;
    pub(super) const SYMBOLS: i64 = 6;
    pub(super) const RELOCATIONS: i64 = 7;
    pub(super) const RELOCATIONS_SIZE: i64 = 8;
    pub(super) const PLT_RELOCATIONS: i64 = 23;
}

/// A relocation with an addend.
#[repr(C)]
struct Relocation {
    offset: usize,
    info: u64,
    addend: i64,
}

/// Returns the imports of a part of the process.
///
/// # Safety
/// `dynamic` is the dynamic section of a part that is loaded at `base` and stays.
pub(crate) unsafe fn imports(base: usize, dynamic: usize) -> Vec<Import> {
    let mut all = Vec::new();
    let (mut strings, mut symbols) = (0, 0);
    let (mut plt, mut plt_size, mut rela, mut rela_size) = (0, 0, 0, 0);
    let mut entry = dynamic as *const Entry;
    // SAFETY: the section ends with an entry whose tag is 0.
    unsafe {
        while (*entry).tag != tag::NULL {
            let value = (*entry).value;
            match (*entry).tag {
                tag::STRINGS => strings = value,
                tag::SYMBOLS => symbols = value,
                tag::PLT_RELOCATIONS => plt = value,
                tag::PLT_RELOCATIONS_SIZE => plt_size = value,
                tag::RELOCATIONS => rela = value,
                tag::RELOCATIONS_SIZE => rela_size = value,
                _ => {}
            }
            entry = entry.add(1);
        }
    }
    if strings == 0 || symbols == 0 {
        return all;
    }
    for (table, size) in [(plt, plt_size), (rela, rela_size)] {
        if table == 0 {
            continue;
        }
        let count = size / size_of::<Relocation>();
        // SAFETY: the section gives the address and the length of the table; the C library has made the
        // address absolute.
        let relocations = unsafe { std::slice::from_raw_parts(table as *const Relocation, count) };
        for relocation in relocations {
            // R_X86_64_JUMP_SLOT, and R_X86_64_GLOB_DAT for programs that call without a linkage table.
            if !matches!(relocation.info as u32, 6 | 7) {
                continue;
            }
            let symbol = symbols + (relocation.info >> 32) as usize * 24;
            // SAFETY: a symbol is 24 bytes: its name, an offset in the table of strings, comes first, then
            // its kind and its section.
            let (name, kind, section) = unsafe {
                let name = strings + (symbol as *const u32).read_unaligned() as usize;
                (name as *mut libc::c_char, *((symbol + 4) as *const u8) & 15, *((symbol + 6) as *const u16))
            };
            // SAFETY: names end with a zero, and stay as long as the part does.
            let Ok(text) = unsafe { CStr::from_ptr(name) }.to_str() else { continue };
            // Functions of other parts are STT_FUNC, or STT_NOTYPE if the linker did not know.
            let is_data = relocation.info as u32 == 6 && kind != 2;
            all.push(Import { slot: base + relocation.offset, name, text, is_data, is_own: section != 0 });
        }
    }
    all
}

/// Target of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Callee {
    /// The hook at the entry of functions that gcc instruments.
    GnuEntry,
    /// The hook at the entry of functions that clang instruments.
    ClangEntry,
    /// The hook at the exit of functions.
    Exit,
    /// A hook that reports an access: bytes read, bytes written.
    Access(u32, u32),
    /// Another function of the instrumentation.
    Hook,
    /// A function of another part whose accesses do not concern the program, or are recorded.
    Harmless,
    /// Any other function.
    Function,
}

fn callee_of(name: &str) -> Callee {
    let size = |rest: &str| match rest {
        "_range" => Some(u32::MAX / 2),
        _ => rest.parse().ok(),
    };
    let Some(rest) = name.strip_prefix("__tsan_") else {
        return match name {
            "__cyg_profile_func_enter" => Callee::ClangEntry,
            "__cyg_profile_func_exit" => Callee::Exit,
            _ if crate::opaque::is_harmless(name) => Callee::Harmless,
            _ => Callee::Function,
        };
    };
    match rest {
        "func_entry" => return Callee::GnuEntry,
        "func_exit" => return Callee::Exit,
        "vptr_read" => return Callee::Access(8, 0),
        "vptr_update" => return Callee::Access(0, 8),
        _ => {}
    }
    let rest = rest.strip_prefix("unaligned_").unwrap_or(rest);
    let rest = rest.strip_prefix("volatile_").unwrap_or(rest);
    if let Some(size) = rest.strip_prefix("read").and_then(size) {
        return Callee::Access(size, 0);
    }
    rest.strip_prefix("write").and_then(size).map_or(Callee::Hook, |size| Callee::Access(0, size))
}

/// A function: its first byte, and one past its last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Function {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A part of the process: the program or a library.
#[derive(Debug, Default)]
pub(super) struct Part {
    base: usize,
    /// Segments of code and of data that is not written: first byte, one past the last.
    code: Vec<(usize, usize)>,
    constant: Vec<(usize, usize)>,
    /// Segment with the index of the unwind tables.
    unwinding: (usize, usize),
    /// Target of each entry of the table of addresses.
    slots: BTreeMap<usize, Callee>,
}

impl Part {
    /// Reads the part that is loaded at `base`; `None` if its functions are not known.
    pub(super) fn new(base: usize, imports: &[Import]) -> Option<Self> {
        let mut part = Self { base, ..Self::default() };
        objects::find(|info, segments| (info.dlpi_addr as usize == base).then(|| part.note(segments)));
        part.slots = imports.iter().map(|import| (import.slot, callee_of(import.text))).collect();
        (part.unwinding.0 != 0 && !part.code.is_empty()).then_some(part)
    }

    /// Notes the segments of the part.
    fn note(&mut self, segments: &[Elf64_Phdr]) {
        for segment in segments {
            let start = self.base.wrapping_add(segment.p_vaddr as usize);
            let range = (start, start.wrapping_add(segment.p_memsz as usize));
            match segment.p_type {
                PT_LOAD if segment.p_flags & PF_X != 0 => {
                    self.code.push(range);
                    self.constant.push(range);
                }
                PT_LOAD if segment.p_flags & PF_W == 0 => self.constant.push(range),
                PT_GNU_RELRO => self.constant.push(range),
                PT_GNU_EH_FRAME => self.unwinding = (start, segment.p_memsz as usize),
                _ => {}
            }
        }
    }

    fn bytes(&self, start: usize, end: usize) -> Option<&[u8]> {
        let inside = self.code.iter().any(|&(low, high)| low <= start && start <= end && end <= high);
        // SAFETY: part of a code segment, which is readable and stays; bytes there are changed only after
        // they have been read.
        inside.then(|| unsafe { std::slice::from_raw_parts(start as *const u8, end - start) })
    }

    /// Returns true if the data at an address is never written.
    pub(super) fn is_constant(&self, address: usize) -> bool {
        self.constant.iter().any(|&(low, high)| (low..high).contains(&address)) || self.slots.contains_key(&address)
    }

    /// Returns all functions in the unwind tables.
    pub(super) fn functions(&self) -> Vec<Function> {
        let (header, size) = self.unwinding;
        // SAFETY: a segment that is readable and stays.
        let table = unsafe { std::slice::from_raw_parts(header as *const u8, size) };
        let number = |at: usize| -> Option<i32> { Some(i32::from_le_bytes(table.get(at..at + 4)?.try_into().ok()?)) };
        // Version 1, count as a number of four bytes, entries as two numbers of four bytes relative to the
        // header.
        if table.len() < 12 || table[0] != 1 || table[2] & 15 != 3 || table[3] != 0x3b {
            return Vec::new();
        }
        let entries =
            (0..number(8).unwrap_or(0).max(0) as usize).map_while(|i| Some((number(12 + 8 * i)?, number(16 + 8 * i)?)));
        let mut functions: Vec<Function> = entries
            .filter_map(|(start, description)| {
                let start = header.wrapping_add_signed(start as isize);
                let description = header.wrapping_add_signed(description as isize);
                // SAFETY: the description of a function begins with its length and its kind, four bytes each.
                // Its start and its size come next, four bytes each in all code that compilers write for this
                // processor.
                let length = unsafe { *((description + 12) as *const u32) } as usize;
                self.bytes(start, start.checked_add(length)?)?;
                Some(Function { start, end: start + length })
            })
            .collect();
        functions.sort_by_key(|function| function.start);
        functions
    }

    /// Returns the instructions of a function with their addresses, up to the first unknown one.
    pub(super) fn instructions(&self, function: &Function) -> impl Iterator<Item = (usize, Instruction)> + '_ {
        let (start, end) = (function.start, function.end);
        let bytes = self.bytes(start, end).unwrap_or_default();
        let mut at = 0;
        std::iter::from_fn(move || {
            let instruction = decode(bytes.get(at..)?)?;
            let address = start + at;
            at += instruction.length;
            (at <= bytes.len()).then_some((address, instruction))
        })
    }

    /// Returns the target of an instruction.
    pub(super) fn target(&self, address: usize, instruction: &Instruction, way: i32) -> usize {
        (address + instruction.length).wrapping_add_signed(way as isize)
    }

    /// Returns the callee for a target address.
    pub(super) fn callee(&self, target: usize) -> Callee {
        // An entry of the linkage table: perhaps a landing pad, then a jump through the table of addresses.
        let Some(bytes) = self.bytes(target, target.saturating_add(16)) else { return Callee::Function };
        let pad = if bytes.starts_with(&[0xf3, 0x0f, 0x1e, 0xfa]) { 4 } else { 0 };
        match decode(&bytes[pad..]) {
            Some(jump) if jump.flow == Flow::IndirectJump => self.through(target + pad, &jump),
            _ => Callee::Function,
        }
    }

    /// Returns the callee of a call or jump through memory.
    pub(super) fn through(&self, address: usize, instruction: &Instruction) -> Callee {
        let slot = instruction
            .operand
            .filter(|operand| operand.base == Some(RIP))
            .map(|operand| self.target(address, instruction, operand.displacement));
        slot.and_then(|slot| self.slots.get(&slot)).copied().unwrap_or(Callee::Function)
    }

    /// Returns the callee of an instruction; `None` if it calls nothing.
    pub(super) fn called(&self, address: usize, instruction: &Instruction) -> Option<Callee> {
        match instruction.flow {
            Flow::Call(way) => Some(self.callee(self.target(address, instruction, way))),
            Flow::IndirectCall => Some(self.through(address, instruction)),
            _ => None,
        }
    }

    /// Returns true if a function calls the hook at its entry.
    pub(super) fn calls_hook(&self, function: &Function) -> bool {
        self.instructions(function).any(|(address, instruction)| {
            matches!(self.called(address, &instruction), Some(Callee::GnuEntry | Callee::ClangEntry))
        })
    }
}
