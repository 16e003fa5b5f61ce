//! Analysis of the code of an instrumented part of the process: finds functions that are not instrumented,
//! and unreported accesses.
//!
//! It reads instructions when the recording starts, and finds two things. A part may be linked with objects
//! and archives that were compiled in another way: calls go to their functions directly. And gcc instruments
//! assignments, not calls: `all = f(x)` and `f(all)` write and read a structure without a report. The call
//! instruction behind such accesses, or the one to such a function, is redirected to a stub that marks the
//! place ([`opaque`](crate::opaque)).
//!
//! * `decode`: instructions.
//! * `part`: functions, imports and constant data of a part.
//! * `unreported`: unreported accesses.

mod decode;
mod part;
mod unreported;

pub(crate) use part::{Import, imports};

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use decode::{Flow, Instruction, RBP};
use part::{Callee, Function, Part};

/// A call instruction to be redirected to a stub.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MarkedCall {
    /// Address of the instruction, which has five bytes.
    pub(crate) call: usize,
    /// Present target.
    pub(crate) target: usize,
    /// True if the target is a function that is not instrumented; otherwise the call follows unreported
    /// accesses.
    pub(crate) foreign: bool,
}

/// Returns the calls of a part to be marked. Also registers its functions with arguments on the stack
/// ([`arguments`]).
pub(crate) fn marks(base: usize, imports: &[Import]) -> Vec<MarkedCall> {
    let Some(part) = Part::new(base, imports) else { return Vec::new() };
    let functions = part.functions();
    // State of each function, by first byte. It is found when the function is first called, since a program
    // has many that are never called.
    let mut kinds: BTreeMap<usize, FunctionKind> = BTreeMap::new();
    for function in &functions {
        kinds.insert(
            function.start,
            if part.calls_hook(function) { FunctionKind::Instrumented } else { FunctionKind::Unknown },
        );
    }
    let mut marks = Vec::new();
    for function in &functions {
        if kinds[&function.start] != FunctionKind::Instrumented {
            continue;
        }
        unreported::find(&part, function, &mut marks);
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
            if *kind == FunctionKind::Unknown {
                let called = functions.iter().find(|function| function.start == target);
                let harmless = called.is_some_and(|function| unreported::is_harmless(&part, function));
                *kind = if harmless { FunctionKind::Harmless } else { FunctionKind::Foreign };
            }
            if *kind == FunctionKind::Foreign && part.callee(target) == Callee::Function {
                marks.push(MarkedCall { call, target, foreign: true });
            }
        }
    }
    marks.sort_by_key(|mark| (mark.call, !mark.foreign));
    marks.dedup_by_key(|mark| mark.call);
    marks
}

/// Functions with arguments on the stack: first byte, one past the last, and distance that the arguments
/// reach above the return address.
static ARGUMENTS: RwLock<Vec<(usize, usize, usize)>> = RwLock::new(Vec::new());

/// Size assumed if a function uses the address of an argument on the stack, whose size is unknown.
const UNKNOWN_SIZE: usize = 4096;

fn note_arguments(part: &Part, function: &Function) {
    let reach = |(_, instruction): (usize, Instruction)| {
        let operand = instruction.operand.filter(|operand| operand.base == Some(RBP))?;
        // Arguments lie above the caller's frame pointer and the return address.
        let offset = usize::try_from(operand.displacement).ok()?.checked_sub(16)?;
        let size = instruction.read.max(instruction.written) as usize;
        Some(if size == 0 || operand.index.is_some() { offset + UNKNOWN_SIZE } else { offset + size })
    };
    let reach = part.instructions(function).filter_map(reach).max();
    if let Some(reach) = reach {
        let mut all = ARGUMENTS.write().unwrap_or_else(PoisonError::into_inner);
        let at = all.partition_point(|&(start, ..)| start < function.start);
        all.insert(at, (function.start, function.end, reach));
    }
}

/// Returns the distance that the arguments of the function at `place` reach above its return address on the
/// stack \[B\].
pub(crate) fn arguments(place: usize) -> usize {
    let all = ARGUMENTS.read().unwrap_or_else(PoisonError::into_inner);
    let at = all.partition_point(|&(start, ..)| start <= place);
    all[..at].last().filter(|&&(_, end, _)| place < end).map_or(0, |&(.., reach)| reach)
}

/// Kind of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FunctionKind {
    Unknown,
    /// It calls a hook when it is entered.
    Instrumented,
    /// It is not instrumented, and accesses nothing but its own variables and constants.
    Harmless,
    /// It is not instrumented.
    Foreign,
}
