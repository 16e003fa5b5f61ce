//! Finds unreported accesses: those without a call before them that reports them.
//!
//! The code between two calls is nearly straight. gcc puts the reporting call right before the statement that
//! makes the access. So an access between two calls was reported by the calls right before, or was not
//! reported. Two kinds need no report: variables that do not leave their function, and data that is never
//! written. Their address comes from the stack pointer, the frame pointer or an address of such data, within
//! the statement.
//!
//! An unreported access proves nothing by itself; it only ends what is known. So the next call is marked.

use super::MarkedCall;
use super::decode::{Flow, Instruction, Operand, RBP, RIP, RSP, RegisterEffect};
use super::part::{Callee, Function, Part};

/// Registers that a called function may change.
const OF_CALLER: [u8; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];
const RSI: usize = 6;
const RDI: usize = 7;

/// Register with the frame of the enclosing function, at the begin of a nested one. Accesses to variables
/// there whose address is passed to other functions are reported.
const CHAIN: usize = 10;

/// Registers that hold addresses of the function's own variables or of constant data, and variables of the
/// function in which such addresses are kept.
struct Registers([bool; 16], Vec<Operand>);

impl Registers {
    fn new() -> Self {
        let mut registers = [false; 16];
        registers[CHAIN] = true;
        Self(registers, Vec::new())
    }

    /// Returns true if an operand is a variable of the function, or constant.
    fn is_local(&self, part: &Part, next: usize, operand: &Operand) -> bool {
        let Operand { base, index, displacement, of_thread } = *operand;
        if of_thread {
            return true;
        }
        match base {
            Some(RIP) => part.is_constant(next.wrapping_add_signed(displacement as isize)),
            Some(RSP | RBP) => true,
            Some(base) => {
                self.0[usize::from(base & 15)]
                    || index.is_some_and(|(index, scale)| scale == 1 && self.0[usize::from(index & 15)])
            }
            None => part.is_constant(displacement as u32 as usize),
        }
    }

    fn follow(&mut self, part: &Part, next: usize, instruction: &Instruction) {
        let known =
            |registers: &Self, register: u8| matches!(register, RSP | RBP) || registers.0[usize::from(register & 15)];
        match (instruction.register, &instruction.operand) {
            (RegisterEffect::Address(to), Some(operand)) => {
                self.0[usize::from(to & 15)] = self.is_local(part, next, operand);
            }
            (RegisterEffect::Copied(to, from), _) => self.0[usize::from(to & 15)] = known(self, from),
            (RegisterEffect::Added(to, other), _) => {
                self.0[usize::from(to & 15)] = known(self, to) || known(self, other);
            }
            (RegisterEffect::Loaded(to), Some(operand)) => self.0[usize::from(to & 15)] = self.1.contains(operand),
            (RegisterEffect::Stored(from), Some(operand)) => {
                self.1.retain(|other| other != operand);
                if known(self, from) && matches!(operand.base, Some(RSP | RBP)) {
                    self.1.push(*operand);
                }
            }
            (RegisterEffect::Set(to), _) => self.0[usize::from(to & 15)] = false,
            _ => {}
        }
    }

    fn called(&mut self) {
        for register in OF_CALLER {
            self.0[usize::from(register)] = false;
        }
    }
}

/// Accesses between two calls.
#[derive(Default)]
struct Window {
    /// Reported bytes that have not been accessed yet: read, written.
    reported: (u32, u32),
    /// Operands accessed as reported; `unsure` holds those read without a report.
    seen: Vec<Operand>,
    unsure: Vec<Operand>,
    unreported: bool,
}

impl Window {
    fn access(&mut self, instruction: &Instruction) {
        let Some(operand) = instruction.operand else { return };
        if self.seen.contains(&operand) {
            return;
        }
        let Instruction { read, written, .. } = *instruction;
        if written > 0 {
            match self.reported.1.checked_sub(written) {
                Some(rest) => {
                    self.reported.1 = rest;
                    // A write to part of an object, such as a bit field, reads it first.
                    self.unsure.retain(|other| *other != operand);
                    self.seen.push(operand);
                }
                None => self.unreported = true,
            }
        } else if read > 0 {
            match self.reported.0.checked_sub(read) {
                Some(rest) => {
                    self.reported.0 = rest;
                    self.seen.push(operand);
                }
                None => self.unsure.push(operand),
            }
        }
    }

    fn end(&mut self) -> bool {
        let unreported = self.unreported || !self.unsure.is_empty();
        (self.unreported, self.unsure) = (false, Vec::new());
        self.seen.clear();
        unreported
    }
}

/// Adds the calls behind unreported accesses. In functions that clang instruments every access is reported.
pub(super) fn find(part: &Part, function: &Function, marks: &mut Vec<MarkedCall>) {
    let mut registers = Registers::new();
    let mut window = Window::default();
    let mut entered = false;
    // Last call that can be changed.
    let mut last: Option<(usize, usize)> = None;
    for (address, instruction) in part.instructions(function) {
        let next = address + instruction.length;
        let callee = part.called(address, &instruction);
        if callee == Some(Callee::ClangEntry) {
            return;
        }
        if callee.is_none() && entered {
            match instruction.operand {
                Some(operand) if !registers.is_local(part, next, &operand) => window.access(&instruction),
                _ => {}
            }
            let (reads, writes) = instruction.text;
            if writes && !registers.0[RDI] || reads && !registers.0[RSI] {
                // A copy whose size is in a register: all reported bytes, or something else.
                window.unreported |= window.reported.0.max(window.reported.1) <= 16;
            }
        }
        registers.follow(part, next, &instruction);
        let here = match instruction.flow {
            Flow::Call(way) => Some((address, part.target(address, &instruction, way))),
            _ => None,
        };
        if let Some(callee) = callee {
            if window.end()
                && let Some((call, target)) = here.or(last)
            {
                marks.push(MarkedCall { call, target, foreign: false });
            }
            entered |= callee == Callee::GnuEntry;
            window.reported = match callee {
                Callee::Access(read, written) => {
                    (window.reported.0.saturating_add(read), window.reported.1.saturating_add(written))
                }
                // Reported accesses may come after a function that touches none of that memory.
                Callee::Hook | Callee::Harmless => window.reported,
                _ => (0, 0),
            };
            registers.called();
            last = here.or(last);
        } else if matches!(instruction.flow, Flow::End | Flow::Jump(_) | Flow::IndirectJump) {
            // The code that follows is reached only from elsewhere.
            if window.end()
                && let Some((call, target)) = last
            {
                marks.push(MarkedCall { call, target, foreign: false });
            }
            window.reported = (0, 0);
        }
    }
}

/// Returns true if a function that is not instrumented accesses only its own variables and constants.
pub(super) fn is_harmless(part: &Part, function: &Function) -> bool {
    let mut registers = Registers::new();
    let mut end = function.start;
    for (address, instruction) in part.instructions(function) {
        let next = address + instruction.length;
        end = next;
        let within = |target: usize| (function.start..function.end).contains(&target);
        let stays = match instruction.flow {
            Flow::On | Flow::End => true,
            Flow::Branch(way) | Flow::Jump(way) => within(part.target(address, &instruction, way)),
            Flow::Call(_) | Flow::IndirectCall => {
                let callee = part.called(address, &instruction);
                registers.called();
                !matches!(callee, Some(Callee::Function))
            }
            Flow::IndirectJump => false,
        };
        let accesses = instruction.read > 0 || instruction.written > 0;
        let own = instruction.operand.is_none_or(|operand| registers.is_local(part, next, &operand));
        let called = !matches!(instruction.flow, Flow::On);
        let (reads, writes) = instruction.text;
        if !stays || accesses && !own && !called || (reads && !registers.0[RSI]) || (writes && !registers.0[RDI]) {
            return false;
        }
        registers.follow(part, next, &instruction);
    }
    // True if all instructions were understood.
    end == function.end
}
