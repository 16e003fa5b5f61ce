//! First lines of a file: times, tasks, communicators.
//!
//! ```text
//! #Paraver (10/04/2013 at 14:27):3654_ns:1(4):1:4(1:1,1:1,1:1,1:1),2
//! c:1:1:4:1:2:3:4
//! ```
//! After the date: duration, nodes with their processors, number of applications; for each its number of tasks, and for
//! each task its number of threads and its node; the number of lines `c:` that follow. These have application, number,
//! number of tasks, and tasks.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::trace::calls::MOST_RANKS;
use crate::trace::lines::{Line, whole};

/// First bytes of every file.
pub(in crate::trace) const SIGNATURE: &[u8] = b"#Paraver ";

/// Facts of the first line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub tasks: u32,
    /// Nanoseconds in the unit of the times.
    pub unit: u64,
    /// Duration in that unit.
    pub duration: u64,
}

/// Reads the first line.
pub(super) fn read(line: &Line<'_>) -> Result<Header, Diagnostic> {
    let bad = |range: Range<usize>, what: &str| {
        let message = format!("{what} is expected in the header of a Paraver trace");
        let help = "a header is `#Paraver (10/04/2013 at 14:27):3654_ns:1(4):1:2(1:1,1:1)`";
        line.mistake(range, "bad-header", message).help(help)
    };
    let text = line.text;
    let end = text.len();
    if !text.starts_with(SIGNATURE) {
        return Err(bad(0..end, "`#Paraver`"));
    }
    // The date in brackets has a colon.
    let mut at = text.iter().position(|&byte| byte == b')').ok_or_else(|| bad(0..end, "a date in brackets"))? + 1;
    let mut field = |what: &str| -> Result<Range<usize>, Diagnostic> {
        if text.get(at) != Some(&b':') {
            return Err(bad(at..end, what));
        }
        let begin = at + 1;
        // Lists in brackets have colons and commas.
        let mut depth = 0;
        let length = text[begin..].iter().position(|&byte| {
            depth += i32::from(byte == b'(') - i32::from(byte == b')');
            byte == b':' && depth == 0
        });
        at = begin + length.unwrap_or(end - begin);
        Ok(begin..at)
    };
    let duration = field("a duration")?;
    let nodes = field("the nodes");
    let applications = field("the number of applications")?;
    let tasks = field("the tasks")?;
    nodes?;
    let of_duration = &text[duration.clone()];
    let (number, unit) = match of_duration.strip_suffix(b"_ns") {
        Some(number) => (number, 1),
        None => (of_duration, 1000),
    };
    let longest = u64::MAX / 4 / unit;
    let in_range = whole(number).filter(|&number| number < longest);
    let number = in_range.ok_or_else(|| bad(duration, "a duration such as `3654_ns`"))?;
    if text[applications.clone()] != *b"1" {
        return Err(bad(applications, "one application").help("traces of several applications are not read"));
    }
    let list = &text[tasks.clone()];
    let open = list.iter().position(|&byte| byte == b'(').unwrap_or(list.len());
    let count = whole(&list[..open]).and_then(|count| u32::try_from(count).ok());
    let count = count.filter(|count| (1..=MOST_RANKS).contains(count));
    let count = count.ok_or_else(|| bad(tasks.clone(), "a number of tasks"))?;
    let close = list.iter().position(|&byte| byte == b')').unwrap_or(list.len());
    let entries = list.get(open + 1..close).map_or(0, |list| list.split(|&byte| byte == b',').count());
    if entries != count as usize {
        return Err(bad(tasks, &format!("the threads and the node of each of {count} tasks")));
    }
    Ok(Header { tasks: count, unit, duration: number })
}

/// Reads a line with a communicator: its number, and its members from 0.
pub(super) fn communicator(line: &Line<'_>, tasks: u32) -> Result<(u64, Vec<u32>), Diagnostic> {
    let end = line.text.len();
    let bad = |what: &str| line.mistake(0..end, "bad-communicator", format!("a communicator has {what}"));
    let numbers: Option<Vec<u64>> = line.text.split(|&byte| byte == b':').skip(1).map(whole).collect();
    let numbers = numbers.ok_or_else(|| bad("whole numbers, separated by colons"))?;
    let [_, number, count, ref members @ ..] = numbers[..] else {
        return Err(bad("application, number, number of tasks, and tasks"));
    };
    if members.len() as u64 != count {
        return Err(bad(&format!("{count} tasks by its own account, and {} follow", members.len())));
    }
    let task = |task: &u64| u32::try_from(*task).ok()?.checked_sub(1).filter(|&task| task < tasks);
    let members: Option<Vec<u32>> = members.iter().map(task).collect();
    Ok((number, members.ok_or_else(|| bad(&format!("tasks from 1 to {tasks}")))?))
}
