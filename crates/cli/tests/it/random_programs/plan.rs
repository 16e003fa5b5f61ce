//! Moved versions of a program: the calls that are moved, and the text.

use super::dialect::Dialect;
use super::program::{Call, Collective, CollectiveKind, End, Guard, Object, Operation, Part, Statement};

/// Action that a moved version inserts.
#[derive(Clone, Debug)]
pub enum Action {
    /// A communication, or several as one, with their guards, behind the statements that compute the arguments.
    Post { slot: usize, arguments: Vec<Statement>, calls: Vec<(Call, Option<Guard>)> },
    /// An unchanged call, behind the statements that compute its arguments.
    Call { arguments: Vec<Statement>, call: Box<Call>, guard: Option<Guard> },
    /// The end of all parts: their statuses and return codes.
    Finish { slot: usize, statuses: Vec<Option<usize>>, code: Option<usize> },
}

/// Action that is inserted before an item.
#[derive(Clone, Debug)]
pub struct Insertion {
    /// Index of the item.
    pub at: usize,
    /// Iterations in which it is inserted, as bits.
    pub iterations: u32,
    pub action: Action,
}

/// Item that is skipped or replaced in some iterations.
#[derive(Clone, Debug)]
pub struct Replacement {
    pub item: usize,
    pub iterations: u32,
    pub by: Option<Statement>,
}

/// Moves of one finding.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Insertions by rank.
    pub insertions: Vec<Vec<Insertion>>,
    pub replacements: Vec<Vec<Replacement>>,
    /// Idiom that the moved calls belong to.
    pub idiom: &'static str,
}

impl Plan {
    pub fn new(ranks: usize) -> Self {
        Self { insertions: vec![Vec::new(); ranks], replacements: vec![Vec::new(); ranks], idiom: "" }
    }
}

impl Dialect {
    /// Returns the line of an insertion on a rank.
    pub fn insertion(self, insertion: &Insertion, rank: usize) -> String {
        let lines = match &insertion.action {
            Action::Post { slot, arguments, calls } => {
                let mut lines: Vec<String> = arguments.iter().map(|statement| self.statement(statement)).collect();
                lines.push(self.post(*slot, calls, rank));
                self.chain(&lines)
            }
            Action::Call { arguments, call, guard } => {
                let mut lines: Vec<String> = arguments.iter().map(|statement| self.statement(statement)).collect();
                if let Operation::Receive(end) = &call.operation {
                    lines.push(self.call("hm_scrub", &[self.buffer(&end.part), self.length(&end.part)]));
                }
                lines.push(self.statement(&Statement::Call((**call).clone())));
                let lines = self.chain(&lines);
                guard.as_ref().map_or(lines.clone(), |guard| self.guarded(&self.guard(guard), &lines))
            }
            Action::Finish { slot, statuses, code } => {
                let mut lines = vec![self.call("hm_finish", &[slot.to_string()])];
                for (part, status) in statuses.iter().enumerate() {
                    if status.is_some() {
                        let status = self.status(*status);
                        lines.push(self.call("hm_status", &[slot.to_string(), part.to_string(), status]));
                    }
                }
                if let Some(code) = code {
                    let code = self.address(&format!("v{code}"));
                    lines.push(self.call("hm_code", &[slot.to_string(), code]));
                }
                self.chain(&lines)
            }
        };
        self.guarded(&self.in_iterations(insertion.iterations), &lines)
    }

    fn post(self, slot: usize, calls: &[(Call, Option<Guard>)], rank: usize) -> String {
        let merged = usize::from(calls.len() > 1).to_string();
        let slot = slot.to_string();
        let mut lines = vec![self.call("hm_begin", &[slot.clone(), merged.clone()])];
        for (call, guard) in calls {
            let part = self.part_of(&slot, call, rank, calls.len() == 1);
            match guard {
                Some(guard) if calls.len() > 1 => lines.push(self.guarded(&self.guard(guard), &part)),
                _ => lines.push(part),
            }
        }
        let (first, guard) = &calls[0];
        let half = usize::from(first.half).to_string();
        let starts = match &first.operation {
            Operation::Send { end, synchronous } => {
                let [to, tag] = [&end.peer, &end.tag].map(|value| self.expression(value));
                self.call("hm_send", &[slot, to, tag, half, usize::from(*synchronous).to_string()])
            }
            Operation::Receive(end) => {
                let [from, tag] = [&end.peer, &end.tag].map(|value| self.expression(value));
                self.call("hm_recv", &[slot, from, tag, half])
            }
            Operation::Collective(collective) => {
                let counts: Vec<String> = calls
                    .iter()
                    .filter_map(|(call, _)| match &call.operation {
                        Operation::Collective(other) => Some(self.expression(&other.output.count)),
                        _ => None,
                    })
                    .collect();
                let kind = (collective.kind as usize).to_string();
                self.call("hm_collective", &[slot, kind, counts.join(" + "), collective.root.to_string(), half])
            }
            Operation::Exchange { .. } | Operation::Replace { .. } => unreachable!("one half of it is moved"),
        };
        lines.push(starts);
        let body = self.chain(&lines);
        match guard {
            Some(guard) if calls.len() == 1 => self.guarded(&self.guard(guard), &body),
            _ => body,
        }
    }

    fn length(self, part: &Part) -> String {
        let count = self.expression(&part.count);
        if part.packed { count } else { format!("4 * ({count})") }
    }

    /// Returns the description of the buffers of a call; with `alone`, sent data must not change.
    fn part_of(self, slot: &str, call: &Call, rank: usize, alone: bool) -> String {
        let verify = usize::from(alone).to_string();
        let dead = |end: &End| match end.part.copied() {
            true => vec![self.call("hm_dead", &[slot.to_owned()])],
            false => Vec::new(),
        };
        let input = |part: &Part, length: String, verify: &str, tag: String| {
            self.call("hm_in", &[slot.to_owned(), self.buffer(part), length, verify.to_owned(), tag])
        };
        let output = |part: &Part, length: String, least: String| {
            self.call("hm_out", &[slot.to_owned(), self.buffer(part), length, least])
        };
        let mut lines = Vec::new();
        match &call.operation {
            Operation::Send { end, .. } => {
                lines.push(input(&end.part, self.length(&end.part), &verify, self.expression(&end.tag)));
                lines.extend(dead(end));
            }
            Operation::Receive(end) => {
                let least = if end.part.packed { end.part.least } else { 4 * end.part.least };
                lines.push(output(&end.part, self.length(&end.part), least.to_string()));
                lines.extend(dead(end));
            }
            Operation::Collective(collective) => {
                let Collective { kind, input: given, output: result, root, counts, .. } = collective;
                let rank = if call.half { rank / 2 } else { rank };
                let all = match kind {
                    CollectiveKind::Allgather | CollectiveKind::Alltoall => "size * ",
                    _ => "",
                };
                let sends = *kind != CollectiveKind::Barrier && (*kind != CollectiveKind::Bcast || rank == *root);
                let receives = match kind {
                    CollectiveKind::Barrier => false,
                    CollectiveKind::Bcast => rank != *root,
                    CollectiveKind::Reduce => rank == *root,
                    _ => true,
                };
                if sends {
                    let part = given.as_ref().unwrap_or(result);
                    let in_place = given.is_none() && *kind != CollectiveKind::Bcast;
                    let times = if *kind == CollectiveKind::Alltoall { all } else { "" };
                    let verify = if in_place { "0" } else { &verify };
                    lines.push(input(part, format!("{times}{}", self.length(part)), verify, "0".to_owned()));
                }
                if receives {
                    let length = format!("{all}{}", self.length(result));
                    lines.push(output(result, length.clone(), length));
                }
                if let Some(counts) = counts {
                    let mut arguments = vec![slot.to_owned()];
                    arguments.extend(counts.map(|(object, first)| self.address(&self.at(object, &first.to_string()))));
                    lines.push(self.call("hm_counts", &arguments));
                }
            }
            Operation::Exchange { .. } | Operation::Replace { .. } => unreachable!("one half of it is moved"),
        }
        self.chain(&lines)
    }

    /// Returns the line that ends the life of memory in the moved version.
    pub fn scrub(self, object: Object, entries: usize) -> String {
        let first = self.address(&self.at(object, "0"));
        self.call("hm_scrub", &[first, (4 * entries).to_string()])
    }
}
