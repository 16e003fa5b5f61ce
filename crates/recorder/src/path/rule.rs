//! Rules that lead from a running function to its caller: one for each return address.
//!
//! Only two of the registers in unwind tables matter. In the code of compilers for x86_64 and aarch64 the
//! caller's frame begins at a distance from the stack pointer or the frame pointer. One known form finds it
//! through a word that the frame pointer leads to (a realigned stack). The caller's frame pointer and the
//! return address are saved at a distance from there.
//!
//! Source: DWARF 5, section 6.4 (call frame information); System V ABI for x86_64, section 4.2.4
//! (`.eh_frame`); what is left out: Linux Standard Base 5.0, section 10.6.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, Operation, Pointer, RegisterRule,
    UnwindContext, UnwindContextStorage, UnwindExpression, UnwindSection, UnwindTableRow,
};

use hayase_mpi::objects;

use super::stack::UsedStack;

/// Step from a function to its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// There is no caller, or it cannot be found.
    End,
    /// The function has a frame: begin of the caller's frame, and words saved relative to it.
    Frame {
        /// Begin of the caller's frame.
        begin: FrameBegin,
        /// Offset of the return address from the begin of the caller's frame \[B\].
        back: i32,
        /// Place of the caller's frame pointer.
        frame: SavedPointer,
    },
}

/// Begin of the caller's frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameBegin {
    /// At this distance from the stack pointer \[B\].
    Stack(i32),
    /// At this distance from the frame pointer \[B\].
    Frame(i32),
    /// At the address stored at this distance from the frame pointer \[B\].
    At(i32),
}

/// Place of the caller's frame pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SavedPointer {
    /// Still in its register.
    Register,
    /// At this distance from the begin of the caller's frame \[B\].
    FromBegin(i32),
    /// At this distance from the frame pointer \[B\].
    FromFrame(i32),
    /// Nowhere.
    Lost,
}

/// Registers of a function that matter for the walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Stack pointer.
    pub stack: usize,
    /// Frame pointer, or any other value of that register.
    pub frame: usize,
}

impl Rule {
    /// Rule where there are no tables: each function keeps a frame pointer, which leads to that of its caller
    /// and to the return address behind it.
    pub const FRAME_POINTER: Self =
        Self::Frame { begin: FrameBegin::Frame(16), back: -8, frame: SavedPointer::FromBegin(-16) };

    /// Returns the return address into the caller, and the registers there.
    #[inline]
    pub fn step(self, Registers { stack, frame }: Registers, memory: UsedStack) -> Option<(usize, Registers)> {
        let Self::Frame { begin, back, frame: saved } = self else { return None };
        let from = |base: usize, distance: i32| base.wrapping_add_signed(distance as isize);
        let begin = match begin {
            FrameBegin::Stack(distance) => from(stack, distance),
            FrameBegin::Frame(distance) => from(frame, distance),
            FrameBegin::At(distance) => memory.word(from(frame, distance))?,
        };
        // Frames of callers lie above. So the walk never goes back, and ends.
        if begin < stack || (cfg!(target_arch = "x86_64") && begin == stack) {
            return None;
        }
        let back = memory.word(from(begin, back))?;
        let frame = match saved {
            SavedPointer::Register => frame,
            SavedPointer::FromBegin(distance) => memory.word(from(begin, distance))?,
            SavedPointer::FromFrame(distance) => memory.word(from(frame, distance))?,
            SavedPointer::Lost => 0,
        };
        Some((strip_signature(back), Registers { stack: begin, frame }))
    }
}

/// Returns a return address without the signature that some processors keep in its upper bits.
#[inline]
fn strip_signature(back: usize) -> usize {
    if cfg!(target_arch = "aarch64") { back & ((1 << 48) - 1) } else { back }
}

/// A file in memory: its code and its tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Module {
    /// Load address of the file.
    pub base: usize,
    /// Begin and end of the index of the tables.
    index: (usize, usize),
    /// Begin and end of the piece of memory with the tables.
    tables: (usize, usize),
}

/// Returns the rule for a return address, and its module; `None` outside of any code.
#[cold]
pub fn find(back: usize) -> Option<(Module, Rule)> {
    // Address of the call instruction: after a call that does not return, another function may begin.
    let address = back.wrapping_sub(1);
    objects::find(|info, segments| {
        let module = module(info, segments, address)?;
        // SAFETY: the module stays where it is as long as this function runs.
        let rule = unsafe { module.rule(address) };
        Some((module, rule.unwrap_or(Rule::FRAME_POINTER)))
    })
}

/// Returns the module if the address lies in its code.
fn module(info: &libc::dl_phdr_info, headers: &[libc::Elf64_Phdr], address: usize) -> Option<Module> {
    let base = info.dlpi_addr as usize;
    let range = |header: &libc::Elf64_Phdr| {
        let start = base.wrapping_add(header.p_vaddr as usize);
        (start, start.wrapping_add(header.p_memsz as usize))
    };
    let holds = |(start, end): (usize, usize), address: usize| start <= address && address < end;
    let loaded = |address: usize, flags: u32| {
        let pieces = headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & flags == flags);
        pieces.map(range).find(|&piece| holds(piece, address))
    };
    loaded(address, libc::PF_X)?;
    let index = headers.iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME).map(range);
    // The index must lie in a loaded piece, so that it can be read.
    let index = index.filter(|&(start, end)| loaded(start, libc::PF_R).is_some_and(|piece| end <= piece.1));
    let tables = index.and_then(|(start, _)| loaded(start, libc::PF_R));
    Some(Module { base, index: index.unwrap_or_default(), tables: tables.unwrap_or_default() })
}

type Bytes = EndianSlice<'static, LittleEndian>;

/// Storage of fixed size for the rows of the tables.
struct UnwindStorage;

impl UnwindContextStorage<usize> for UnwindStorage {
    type Rules = [(gimli::Register, RegisterRule<usize>); 96];
    type Stack = [UnwindTableRow<usize, Self>; 4];
}

#[cfg(target_arch = "x86_64")]
mod registers {
    pub(super) const FRAME: gimli::Register = gimli::X86_64::RBP;
    pub(super) const STACK: gimli::Register = gimli::X86_64::RSP;
    pub(super) const BACK: gimli::Register = gimli::X86_64::RA;
}

#[cfg(target_arch = "aarch64")]
mod registers {
    pub(super) const FRAME: gimli::Register = gimli::AArch64::X29;
    pub(super) const STACK: gimli::Register = gimli::AArch64::SP;
    pub(super) const BACK: gimli::Register = gimli::AArch64::X30;
}

impl Module {
    /// Returns the rule of its tables for an address; `None` if they have none.
    ///
    /// # Safety
    /// The module is in memory, and stays there meanwhile.
    unsafe fn rule(&self, address: usize) -> Option<Rule> {
        let bytes = |start: usize, end: usize| {
            // SAFETY: the caller promises that the module stays, and the range lies in one loaded piece of it.
            let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, end - start) };
            EndianSlice::new(bytes, LittleEndian)
        };
        let (start, end) = self.index;
        if start == 0 {
            return None;
        }
        let mut bases = BaseAddresses::default().set_eh_frame_hdr(start as u64);
        let index = EhFrameHdr::from(bytes(start, end)).parse(&bases, 8).ok()?;
        let Pointer::Direct(frames) = index.eh_frame_ptr() else { return None };
        let frames = frames as usize;
        if frames < self.tables.0 || frames >= self.tables.1 {
            return None;
        }
        bases = bases.set_eh_frame(frames as u64);
        let section = EhFrame::from(bytes(frames, self.tables.1));
        let Pointer::Direct(entry) = index.table()?.lookup(address as u64, &bases).ok()? else { return None };
        let offset = (entry as usize).checked_sub(frames)?;
        let entry = section.fde_from_offset(&bases, offset.into(), EhFrame::cie_from_offset).ok()?;
        if !entry.contains(address as u64) {
            return None;
        }
        let mut room = UnwindContext::<usize, UnwindStorage>::new_in();
        let row = entry.unwind_info_for_address(&section, &bases, &mut room, address as u64).ok()?;
        Some(rule(row, &section))
    }
}

/// Converts a row of the tables to a rule.
fn rule(row: &UnwindTableRow<usize, UnwindStorage>, section: &EhFrame<Bytes>) -> Rule {
    let small = |value: i64| i32::try_from(value).ok();
    // Returns the distance in `FRAME + distance`, and true if the word stored there is meant.
    let from_frame = |expression: &UnwindExpression<usize>| -> Option<(i32, bool)> {
        let mut operations = expression.get(section).ok()?.operations(gimli::Encoding {
            address_size: 8,
            format: gimli::Format::Dwarf32,
            version: 4,
        });
        let Operation::RegisterOffset { register: registers::FRAME, offset, .. } = operations.next().ok()?? else {
            return None;
        };
        match (operations.next().ok()?, operations.next().ok()?) {
            (None, _) => Some((small(offset)?, false)),
            (Some(Operation::Deref { .. }), None) => Some((small(offset)?, true)),
            _ => None,
        }
    };
    let begin = match row.cfa() {
        CfaRule::RegisterAndOffset { register: registers::STACK, offset } => small(*offset).map(FrameBegin::Stack),
        CfaRule::RegisterAndOffset { register: registers::FRAME, offset } => small(*offset).map(FrameBegin::Frame),
        CfaRule::Expression(expression) => {
            from_frame(expression).map(|(at, word)| if word { FrameBegin::At(at) } else { FrameBegin::Frame(at) })
        }
        CfaRule::RegisterAndOffset { .. } => None,
    };
    let back = match row.register(registers::BACK) {
        Some(RegisterRule::Offset(distance)) => small(distance),
        // The outermost function has no return address.
        _ => None,
    };
    let frame = match row.register(registers::FRAME) {
        None | Some(RegisterRule::SameValue) => SavedPointer::Register,
        Some(RegisterRule::Offset(distance)) => small(distance).map_or(SavedPointer::Lost, SavedPointer::FromBegin),
        Some(RegisterRule::Expression(expression)) => match from_frame(&expression) {
            Some((at, false)) => SavedPointer::FromFrame(at),
            _ => SavedPointer::Lost,
        },
        Some(_) => SavedPointer::Lost,
    };
    match (begin, back) {
        (Some(begin), Some(back)) => Rule::Frame { begin, back, frame },
        _ => Rule::End,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Stack;
    use super::*;

    #[test]
    fn rules_are_found_for_code_alone() {
        // A return address inside a function.
        let here = rules_are_found_for_code_alone as fn() as usize + 8;
        let (module, rule) = find(here).unwrap();
        assert!(matches!(rule, Rule::Frame { .. }) && module.base <= here);
        let heap = Box::new([0_u8; 64]);
        for nowhere in [0, 1, heap.as_ptr() as usize, &raw const heap as usize, usize::MAX] {
            assert_eq!(find(nowhere), None, "{nowhere:#x}");
        }
    }

    #[test]
    fn a_step_leads_upwards_and_reads_the_stack_alone() {
        // Two frames, chained as frame pointers chain them.
        let mut words = [0_usize; 8];
        let at = words.as_ptr() as usize;
        words[2..4].copy_from_slice(&[at + 48, 0x1234]);
        let words = std::hint::black_box(words);
        let moved = words.as_ptr() as usize;
        let memory = Stack::of_this_thread().above(moved);
        let registers = Registers { stack: moved, frame: moved + 16 };
        let above = Registers { stack: moved + 32, frame: at + 48 };
        assert_eq!(Rule::FRAME_POINTER.step(registers, memory), Some((0x1234, above)));
        let all = [0, 8, moved - 64, moved, moved + 1, moved + 16, usize::MAX - 8, 1 << 47];
        for (stack, frame) in all.iter().flat_map(|stack| all.map(|frame| (*stack, frame))) {
            for distance in [i32::MIN, -64, -8, 0, 8, 16, i32::MAX] {
                for begin in [FrameBegin::Stack(distance), FrameBegin::Frame(distance), FrameBegin::At(distance)] {
                    for saved in [
                        SavedPointer::FromBegin(distance),
                        SavedPointer::FromFrame(distance),
                        SavedPointer::Lost,
                        SavedPointer::Register,
                    ] {
                        let rule = Rule::Frame { begin, back: -8, frame: saved };
                        let step = rule.step(Registers { stack, frame }, memory);
                        assert!(step.is_none_or(|(_, above)| above.stack > stack), "no way back");
                    }
                }
            }
        }
        assert_eq!(Rule::End.step(registers, memory), None);
    }
}
