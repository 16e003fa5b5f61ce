//! What the code of an instrumented part of the process says of itself: which of its functions are instrumented, and
//! what these access without telling.
//!
//! Two things are found by reading instructions, when the recording starts. A part may have been linked with objects
//! and archives that were compiled in another way: calls of their functions go there directly. And gcc instruments
//! assignments, not calls: `all = f(x)` and `f(all)` write and read a structure, and nobody is told. The call
//! instruction behind such accesses, or the one that goes to such a function, is changed to go to a stub that marks the
//! place ([`opaque`](crate::opaque)).
//!
//! * `decode`: instructions.
//! * `part`: functions, imports and constant data of a part.
//! * `untold`: accesses without a call before them.

mod decode;
mod part;
mod untold;

pub(crate) use part::{Import, imports};

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use decode::{Flow, Instruction, RBP};
use part::{Callee, Function, Part};

/// A call instruction that is to go to a stub.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    /// Address of the instruction, which has five bytes.
    pub(crate) call: usize,
    /// Where it goes now.
    pub(crate) target: usize,
    /// Whether it is the function that is not instrumented; else it follows accesses that nobody is told of.
    pub(crate) foreign: bool,
}

/// The calls of a part that are to be marked. Its functions with arguments on the stack are known from now on
/// ([`arguments`]).
pub(crate) fn marks(base: usize, imports: &[Import]) -> Vec<Mark> {
    let Some(part) = Part::new(base, imports) else { return Vec::new() };
    let functions = part.functions();
    // By first byte: whether it is instrumented; found when it is called, since a program has many that nobody calls.
    let mut kinds: BTreeMap<usize, Kind> = BTreeMap::new();
    for function in &functions {
        kinds.insert(function.start, if part.calls_hook(function) { Kind::Instrumented } else { Kind::Unknown });
    }
    let mut marks = Vec::new();
    for function in &functions {
        if kinds[&function.start] != Kind::Instrumented {
            continue;
        }
        untold::find(&part, function, &mut marks);
        note_arguments(&part, function);
        let calls: Vec<(usize, usize)> = part
            .instructions(function)
            .filter_map(|(address, instruction)| match instruction.flow {
                Flow::Call(way) => Some((address, part.target(address, &instruction, way))),
                _ => None,
            })
            .collect();
        for (call, target) in calls {
            let Some(kind) = kinds.get_mut(&target) else { continue };
            if *kind == Kind::Unknown {
                let called = functions.iter().find(|function| function.start == target);
                let harmless = called.is_some_and(|function| untold::is_harmless(&part, function));
                *kind = if harmless { Kind::Harmless } else { Kind::Foreign };
            }
            if *kind == Kind::Foreign && part.callee(target) == Callee::Function {
                marks.push(Mark { call, target, foreign: true });
            }
        }
    }
    marks.sort_by_key(|mark| (mark.call, !mark.foreign));
    marks.dedup_by_key(|mark| mark.call);
    marks
}

/// Functions with arguments on the stack: first byte, one past the last, and how far the arguments reach above the
/// return address.
static ARGUMENTS: RwLock<Vec<(usize, usize, usize)>> = RwLock::new(Vec::new());

/// What is taken where a function uses the address of an argument on the stack, whose size nobody says.
const WHOLE: usize = 4096;

fn note_arguments(part: &Part, function: &Function) {
    let reach = |(_, instruction): (usize, Instruction)| {
        let operand = instruction.operand.filter(|operand| operand.base == Some(RBP))?;
        // Above the frame pointer of the caller and the return address.
        let offset = usize::try_from(operand.displacement).ok()?.checked_sub(16)?;
        let size = instruction.read.max(instruction.written) as usize;
        Some(if size == 0 || operand.index.is_some() { offset + WHOLE } else { offset + size })
    };
    let reach = part.instructions(function).filter_map(reach).max();
    if let Some(reach) = reach {
        let mut all = ARGUMENTS.write().unwrap_or_else(PoisonError::into_inner);
        let at = all.partition_point(|&(start, ..)| start < function.start);
        all.insert(at, (function.start, function.end, reach));
    }
}

/// How far the arguments of the function at `place` reach on the stack, above its return address \[B\].
pub(crate) fn arguments(place: usize) -> usize {
    let all = ARGUMENTS.read().unwrap_or_else(PoisonError::into_inner);
    let at = all.partition_point(|&(start, ..)| start <= place);
    all[..at].last().filter(|&&(_, end, _)| place < end).map_or(0, |&(.., reach)| reach)
}

/// What is known of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Unknown,
    /// It calls a hook when it is entered.
    Instrumented,
    /// It is not instrumented, and accesses nothing but its own variables and constants.
    Harmless,
    /// It is not instrumented.
    Foreign,
}
