//! Records of a file: calls of each task, and messages between tasks.
//!
//! ```text
//! 1:cpu:application:task:thread:begin:end:state
//! 2:cpu:application:task:thread:time:type:value:type:value
//! 3:cpu:application:task:thread:logical:physical:cpu:application:task:thread:logical:physical:size:tag
//! ```
//! A call begins with an event of its type and ends with one of value 0. A message has the times at which its send and
//! its receive were called (logical) and at which they were complete (physical).
//!
//! Source: *Paraver: trace format description*, BSC, 2001; Extrae, `src/merger/paraver/paraver_generator.c`.

use std::collections::BTreeMap;

use super::header::Header;
use super::names::{COMMUNICATOR, Names, RECEIVED, ROOT, SENT, TYPES};
use crate::diagnostic::Diagnostic;
use crate::trace::calls::Call;
use crate::trace::lines::{Line, whole};

/// A call of a task, or one that a message stands for.
#[derive(Clone, Debug)]
pub(super) struct Called {
    pub call: Call,
    pub thread: u32,
    /// Times \[ns\].
    pub begin: u64,
    pub end: u64,
    /// Line of its begin.
    pub line: u64,
    /// Facts of a collective: bytes sent and received, set at the root, number of the communicator.
    pub sent: u64,
    pub received: u64,
    pub is_root: bool,
    pub comm: u64,
}

/// A message, with its ends as tasks from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub from: u32,
    pub to: u32,
    /// Times at which send and receive were called \[ns\].
    pub sent: u64,
    pub received: u64,
    /// Time at which the receive was complete \[ns\].
    pub arrived: u64,
    pub bytes: u64,
    pub tag: i32,
    pub line: u64,
}

/// Calls of a task so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    pub calls: Vec<Called>,
    /// Threads with the last time of an event and the call under way: an index of the calls, or none if its
    /// time is computation.
    threads: BTreeMap<u32, (u64, Option<usize>)>,
}

/// All records of a file.
#[derive(Debug)]
pub(super) struct Records {
    header: Header,
    names: Names,
    /// Tasks that have records. A task that only the header counts takes no memory.
    pub tasks: BTreeMap<u32, Task>,
    pub messages: Vec<Message>,
}

impl Records {
    pub fn new(header: Header) -> Self {
        Self { header, names: Names::new(), tasks: BTreeMap::new(), messages: Vec::new() }
    }

    /// Takes a line.
    pub fn take(&mut self, line: &Line<'_>) -> Result<(), Diagnostic> {
        let mut fields = Fields { line, at: 0 };
        match fields.number("a kind of record")? {
            1 => {
                let (task, _) = self.object(&mut fields)?;
                self.tasks.entry(task).or_default();
                let (begin, end) = (self.time(&mut fields)?, self.time(&mut fields)?);
                if end < begin {
                    return Err(fields.bad("bad-time", "the state ends before it begins".into()));
                }
                fields.number("a state").map(drop)
            }
            2 => self.event(&mut fields),
            3 => {
                let (from, _) = self.object(&mut fields)?;
                let (sent, _) = (self.time(&mut fields)?, self.time(&mut fields)?);
                let (to, _) = self.object(&mut fields)?;
                let (received, arrived) = (self.time(&mut fields)?, self.time(&mut fields)?);
                let bytes = fields.number("a size")?;
                // Tags are written with 32 bits, whatever the sign.
                let tag = (fields.number("a tag")? & 0x7fff_ffff) as i32;
                for task in [from, to] {
                    self.tasks.entry(task).or_default();
                }
                self.messages.push(Message { from, to, sent, received, arrived, bytes, tag, line: line.number });
                Ok(())
            }
            _ => {
                let message = "a record begins with 1 (state), 2 (event) or 3 (message)";
                Err(line.mistake(0..line.text.len(), "unknown-record", message))
            }
        }
    }

    /// Takes processor, application, task and thread; returns task and thread from 0.
    fn object(&self, fields: &mut Fields<'_, '_>) -> Result<(u32, u32), Diagnostic> {
        fields.number("a processor")?;
        fields.number("an application")?;
        let task = fields.number("a task")?;
        let tasks = self.header.tasks;
        let Some(task) = task.checked_sub(1).filter(|&task| task < tasks.into()) else {
            return Err(fields.bad("unknown-rank", format!("there is no task {task}: tasks are 1 to {tasks}")));
        };
        let thread = fields.number("a thread")?;
        let thread = thread.checked_sub(1).and_then(|thread| u32::try_from(thread).ok());
        let thread =
            thread.ok_or_else(|| fields.bad("bad-number", format!("threads count from 1 to {}", 1_u64 << 32)))?;
        Ok((task as u32, thread))
    }

    /// Takes a time \[ns\].
    fn time(&self, fields: &mut Fields<'_, '_>) -> Result<u64, Diagnostic> {
        let time = fields.number("a time")?;
        if time > self.header.duration {
            let message = format!("time {time} is after the end of the trace, {}", self.header.duration);
            return Err(fields.bad("bad-time", message));
        }
        Ok(time * self.header.unit)
    }

    fn event(&mut self, fields: &mut Fields<'_, '_>) -> Result<(), Diagnostic> {
        let (task, thread) = self.object(fields)?;
        let time = self.time(fields)?;
        let line = fields.line.number;
        let task = self.tasks.entry(task).or_default();
        let of_thread = task.threads.entry(thread).or_default();
        let (last, mut open) = *of_thread;
        if time < last {
            let before = last / self.header.unit;
            return Err(fields.bad("bad-time", format!("the clock runs backwards: the event before was at {before}")));
        }
        let begin = fields.at;
        // Facts of a call can stand before the call itself.
        for is_call in [true, false] {
            fields.at = begin;
            while fields.left() {
                let (kind, value) = (fields.number("a type")?, fields.number("a value")?);
                if is_call && TYPES.contains(&kind) {
                    if let Some(open) = open.take() {
                        task.calls[open].end = time;
                    }
                    if value != 0
                        && let Some(call) = self.names.call(kind, value)
                    {
                        open = Some(task.calls.len());
                        let (begin, end) = (time, time);
                        let facts =
                            Called { call, thread, begin, end, line, sent: 0, received: 0, is_root: false, comm: 0 };
                        task.calls.push(facts);
                    }
                }
                let Some(called) = open.map(|open| &mut task.calls[open]).filter(|_| !is_call) else { continue };
                match kind {
                    SENT => called.sent = value,
                    RECEIVED => called.received = value,
                    ROOT => called.is_root = value != 0,
                    COMMUNICATOR => called.comm = value,
                    _ => {}
                }
            }
        }
        *of_thread = (time, open);
        Ok(())
    }
}

/// Fields of a line, separated by colons.
struct Fields<'a, 'l> {
    line: &'l Line<'a>,
    /// Offset of the next field.
    at: usize,
}

impl Fields<'_, '_> {
    fn left(&self) -> bool {
        self.at < self.line.text.len()
    }

    /// Takes a whole number.
    fn number(&mut self, what: &str) -> Result<u64, Diagnostic> {
        let text = self.line.text;
        let begin = self.at.min(text.len());
        let end = begin + text[begin..].iter().position(|&byte| byte == b':').unwrap_or(text.len() - begin);
        let field = text[begin..end].trim_ascii();
        if field.is_empty() {
            let message = format!("the line ends where {what} is expected");
            return Err(self.line.mistake(begin..end + 1, "truncated-trace", message));
        }
        self.at = end + 1;
        // Values that are negative in their tool are of no interest.
        let number = field.strip_prefix(b"-").map_or_else(|| whole(field), |digits| whole(digits).map(|_| 0));
        number.ok_or_else(|| {
            let message = format!("`{}` is not {what}", self.line.show(begin..end));
            self.line.mistake(begin..end, "bad-number", message)
        })
    }

    /// Returns a mistake at the field before.
    fn bad(&self, code: &'static str, message: String) -> Diagnostic {
        let end = self.at.saturating_sub(1).min(self.line.text.len());
        let begin = self.line.text[..end].iter().rposition(|&byte| byte == b':').map_or(0, |at| at + 1);
        self.line.mistake(begin..end, code, message)
    }
}
