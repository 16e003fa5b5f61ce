//! Program data as text: a line for each operation, loops indented.

use std::io::{self, Write};

use super::{Base, Group, Meaning, Number, Operation, OperationKind, Peer, ProgramData, SIGNATURE, Statement, ranges};
use crate::program::{Communicator, Op, OpKind};

/// Writes program data (`docs/reference/data-sets.md`).
///
/// # Errors
/// Those of `out`.
pub fn write(data: &ProgramData, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{SIGNATURE}")?;
    for (name, value) in &data.notes {
        writeln!(out, "note {name} {value}")?;
    }
    writeln!(out, "ranks {}", data.ranks)?;
    for (number, site) in (1..).zip(&data.sites) {
        writeln!(out, "site {number} {site}")?;
    }
    for (number, region) in (1..).zip(&data.regions) {
        writeln!(out, "region {number} {region}")?;
    }
    for (number, group) in (1..).zip(&data.communicators) {
        if let Communicator::Group(ranks) = group {
            writeln!(out, "comm {number} {}", ranges(ranks))?;
        }
    }
    for (number, counts) in data.counts.iter().enumerate() {
        let counts: Vec<i64> = counts.iter().map(|&count| count as i64).collect();
        writeln!(out, "counts {number} {}", list(&counts))?;
    }
    for group in &data.groups {
        writeln!(out, "group {}", ranges(&group.ranks))?;
        steps(&group.body, &mut Vec::new(), out)?;
    }
    Ok(())
}

/// Writes the steps of a group without the lines of its loops' ends; for people.
pub(super) fn steps(body: &[Statement], around: &mut Vec<u32>, out: &mut dyn Write) -> io::Result<()> {
    let indent = around.len();
    for step in body {
        match step {
            Statement::Op(op) => writeln!(out, "{:indent$}{}", "", op.text(around))?,
            Statement::Loop(inner) => {
                writeln!(out, "{:indent$}loop L{} {}", "", inner.name + 1, inner.count.text(around))?;
                around.push(inner.name);
                steps(&inner.body, around, out)?;
                around.pop();
                writeln!(out, "{:indent$}end", "")?;
            }
        }
    }
    Ok(())
}

/// Formats numbers with commas, repeated ones with their count: `8*16,4`.
fn list(values: &[i64]) -> String {
    let run = |run: &[i64]| match run {
        [one] => one.to_string(),
        run => format!("{}*{}", run[0], run.len()),
    };
    values.chunk_by(|a, b| a == b).map(run).collect::<Vec<_>>().join(",")
}

impl Number {
    /// Formats the number: `8192-8*L1`. `around` has the loops around it by depth.
    pub fn text(&self, around: &[u32]) -> String {
        let mut text = match &self.base {
            Base::Same(value) => value.to_string(),
            Base::Each(values) => format!("[{}]", list(values)),
        };
        for &(depth, step) in &self.steps {
            let name = around.get(usize::from(depth)).map_or(0, |name| name + 1);
            text += &format!("{step:+}*L{name}");
        }
        text
    }
}

impl Operation {
    /// Formats the operation without indentation.
    pub fn text(&self, around: &[u32]) -> String {
        let mut words = vec![self.what.name().to_owned()];
        let mut numbers = self.numbers.iter().map(|number| number.text(around));
        let mut next = || numbers.next().unwrap_or_default();
        match &self.what {
            OperationKind::Message { kind, marks, comm, any_source, any_tag } => {
                let open = |mark: u8| if marks & mark != 0 { "any=" } else { "" };
                let peer = match (any_source, self.peer) {
                    (true, _) => "any".to_owned(),
                    (_, Peer::Absolute) => next(),
                    (_, Peer::Xor) => format!("rank^{}", next()),
                    (_, Peer::Relative) => match next() {
                        number if number.starts_with('-') => format!("rank{number}"),
                        number => format!("rank+{number}"),
                    },
                };
                words.push(format!("{}{peer}", open(Op::OPEN_SOURCE)));
                let tag = if *any_tag { "any".to_owned() } else { next() };
                words.push(format!("{}{tag}", open(Op::OPEN_TAG)));
                let bytes = next();
                if *kind != OpKind::Probe {
                    words.push(bytes);
                }
                if *comm != 0 {
                    words.push(format!("comm={comm}"));
                }
                if marks & Op::WITHIN_CALL != 0 {
                    words.push("within".to_owned());
                }
            }
            OperationKind::Wait { marks, .. } => {
                words.push(next());
                if *marks != 0 {
                    words.push("within".to_owned());
                }
            }
            OperationKind::Border { region, .. } => words.push((region + 1).to_string()),
            OperationKind::Thread(thread) => words.push(thread.to_string()),
            OperationKind::After => words.push(next()),
            OperationKind::WaitRange { .. } => words.push(format!("{}..{}", next(), next())),
            OperationKind::WaitList { ages, .. } => {
                let ages: Vec<String> = ages.iter().map(u32::to_string).collect();
                words.push(format!("[{}]", ages.join(",")));
            }
            OperationKind::Collective { comm, counts, .. } => {
                let root = next();
                match counts {
                    Some(counts) => words.push(format!("counts={counts}")),
                    None => words.push(next()),
                }
                if root != "0" {
                    words.push(format!("root={root}"));
                }
                if *comm != 0 {
                    words.push(format!("comm={comm}"));
                }
            }
        }
        if self.site != 0 {
            words.push(format!("@{}", self.site));
        }
        words.join(" ")
    }
}

impl Group {
    /// Formats the operations of the group.
    pub fn text(&self) -> String {
        let mut out = Vec::new();
        // A write to memory does not fail.
        let _ = steps(&self.body, &mut Vec::new(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// Returns the name of a number for messages.
pub(super) fn meaning_name(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Peer => "a rank",
        Meaning::Root => "a root",
        Meaning::Tag => "a tag",
        Meaning::Bytes => "a number of bytes",
        Meaning::Age => "the age of a request",
        Meaning::Back => "a number of operations",
    }
}
