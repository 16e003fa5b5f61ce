//! Traces of Paraver, as Extrae records MPI programs: text with states, events and messages.
//!
//! | recorded | call |
//! |---|---|
//! | events of MPI calls | the same calls; their names stand for their effects |
//! | a message | the end of a send and of a receive, in the calls at its logical times |
//! | a message outside of calls | a send and a receive of its own |
//! | collectives | joined over the tasks: the root, and the bytes of all members |
//! | making communicators, neighbourhood collectives, one-sided communication, files | `Opaque`: the recorded time |
//! | states | nothing: computation is the time outside of calls |
//!
//! A trace does not tell which requests a call completes. A receive is complete in the call at the physical time
//! of its message. A `Waitall` also completes all sends and collectives under way, and any other wait that
//! completes no receive the oldest of them.
//!
//! Messages are matched by tag alone, since they do not name their communicator. The files `.pcf` and `.row` hold
//! names only and are not needed.

mod emit;
mod header;
mod joint;
mod names;
mod records;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

pub(super) use header::SIGNATURE;

use self::emit::Emitter;
use self::joint::Joints;
use self::records::Records;
use super::calls::Calls;
use super::lines::each_line;
use crate::diagnostic::Diagnostic;
use crate::reading::Input;

/// Reads a trace. With `truncated`, a file that ends within a line is used up to that line.
///
/// # Errors
/// All mistakes, with line and column.
pub(super) fn read(input: Input, truncated: bool, calls: &mut impl Calls) -> Result<(), Vec<Diagnostic>> {
    let file = input.name().to_owned();
    let mut records: Option<Records> = None;
    let mut tasks = 0;
    let mut communicators: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    each_line(input, |line| {
        match &mut records {
            None => {
                let header = header::read(&line)?;
                tasks = header.tasks;
                records = Some(Records::new(header));
            }
            Some(_) if line.text.starts_with(b"c:") => {
                let (number, members) = header::communicator(&line, tasks)?;
                communicators.insert(number, members);
            }
            // Comments, and the groups of inter-communicators.
            Some(_) if line.text.is_empty() || line.text.starts_with(b"#") || line.text.starts_with(b"i:") => {}
            Some(records) => match records.take(&line) {
                Err(mistake) if truncated && mistake.code == "truncated-trace" => return Ok(ControlFlow::Break(())),
                result => result?,
            },
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let Some(Records { tasks: recorded, messages, .. }) = records else {
        return Err(vec![Diagnostic::new("no-calls", format!("`{file}` holds no records"))]);
    };
    let at_line = |(line, message): (u64, String)| {
        vec![Diagnostic::new("unlike-groups", format!("{file}, line {line}: {message}"))]
    };
    let joints = Joints::new(&recorded).map_err(at_line)?;
    let emitter = Emitter::new(tasks, &communicators, &joints, &messages);
    for (rank, task) in recorded {
        let failed = |(line, wrong): (u64, super::calls::ItemError)| {
            vec![Diagnostic::new(wrong.code, format!("{file}, line {line}: task {}: {}", rank + 1, wrong.message))]
        };
        emitter.task(rank, task, calls).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
