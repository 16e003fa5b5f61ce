//! Blocks: the computation between two operations of the folded program, with numbers and names.
//!
//! The operations of a group are numbered in their order in the file (*leaves*). A leaf that begins n loops
//! can be reached in n + 1 ways: from the end of each of these loops, and from the operation before all of
//! them. So it has n + 1 blocks: in the block of *level* k, the k innermost of the loops have just been
//! entered. One more block comes after the last operation.

use super::{Group, Operation, OperationKind, ProgramData, Statement};

/// Blocks of a program, numbered from 1 through all groups.
#[derive(Clone, PartialEq, Debug)]
pub struct Blocks {
    groups: Vec<OfGroup>,
    names: Vec<BlockName>,
}

/// Name of a block: the call sites before and after it, or words such as `start` and `end`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlockName {
    /// Call before the block; `start` at the beginning.
    pub from: String,
    /// Call after the block; `end` at the end.
    pub to: String,
}

#[derive(Clone, PartialEq, Debug, Default)]
struct OfGroup {
    /// First block (level 0) of each leaf, counted from 0 through all groups.
    first: Vec<u32>,
    /// Last block plus one.
    end: u32,
}

impl std::fmt::Display for BlockName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}

impl Blocks {
    /// Numbers the blocks of a program.
    pub fn of(data: &ProgramData) -> Self {
        let mut blocks = Self { groups: Vec::new(), names: Vec::new() };
        for group in &data.groups {
            let mut first = Vec::new();
            // Names of the ends of the loops that begin here, inner ones last.
            let mut entered = Vec::new();
            let mut before = "start".to_owned();
            blocks.leaves(data, &group.body, &mut first, &mut entered, &mut before);
            blocks.names.push(BlockName { from: before, to: "end".to_owned() });
            blocks.groups.push(OfGroup { first, end: blocks.names.len() as u32 });
        }
        blocks
    }

    fn leaves(
        &mut self,
        data: &ProgramData,
        steps: &[Statement],
        first: &mut Vec<u32>,
        entered: &mut Vec<String>,
        before: &mut String,
    ) {
        for step in steps {
            match step {
                Statement::Op(op) => {
                    first.push(self.names.len() as u32);
                    let to = name(data, op);
                    while let Some(from) = entered.pop() {
                        self.names.push(BlockName { from, to: to.clone() });
                    }
                    self.names.push(BlockName { from: std::mem::take(before), to: to.clone() });
                    *before = to;
                }
                Statement::Loop(inner) => {
                    entered.push(last(data, &inner.body));
                    self.leaves(data, &inner.body, first, entered, before);
                }
            }
        }
    }

    /// Returns the number of blocks.
    pub fn count(&self) -> u32 {
        self.names.len() as u32
    }

    /// Returns the name of a block (from 0).
    pub fn name(&self, block: u32) -> Option<&BlockName> {
        self.names.get(block as usize)
    }

    /// Returns the range of blocks of a group.
    pub fn of_group(&self, group: usize) -> std::ops::Range<u32> {
        let start = if group == 0 { 0 } else { self.groups[group - 1].end };
        start..self.groups[group].end
    }

    /// Returns the first block of each leaf of a group.
    pub(in crate::prediction) fn first(&self, group: usize) -> &[u32] {
        &self.groups[group].first
    }
}

fn name(data: &ProgramData, op: &Operation) -> String {
    // A border is named by its region: all borders have the same call site, in the header that marks them.
    if let OperationKind::Border { region, .. } = op.what {
        let region = data.regions.get(region as usize).map_or("?", |name| name);
        return format!("{} {region}", op.what.name());
    }
    data.site(op.site).map_or_else(|| op.what.name().to_owned(), |site| short(site).to_owned())
}

/// Removes the folders of a call site's file, which may differ from machine to machine: `cg.c:75 (dot)`.
pub fn short(site: &str) -> &str {
    let file = site.find(" (").unwrap_or(site.len());
    site[..file].rfind('/').map_or(site, |at| &site[at + 1..])
}

/// Returns the name of the last operation.
fn last(data: &ProgramData, steps: &[Statement]) -> String {
    match steps.last() {
        Some(Statement::Op(op)) => name(data, op),
        Some(Statement::Loop(inner)) => last(data, &inner.body),
        None => String::new(),
    }
}

impl Group {
    /// Visits the operations of the rank at this position in order.
    ///
    /// Calls `each` with the number of the leaf, the level of the block before it, the operation, and the
    /// iterations of the loops around it. Stops at the first error of `each` and returns it.
    pub(in crate::prediction) fn walk<E>(
        &self,
        position: usize,
        each: &mut impl FnMut(usize, u32, &Operation, &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut walk = Walk { position, indices: Vec::new(), entered: 0, each };
        walk.steps(&self.body, &mut 0)
    }
}

struct Walk<'a, F> {
    position: usize,
    indices: Vec<u64>,
    /// Number of loops entered since the last operation.
    entered: u32,
    each: &'a mut F,
}

impl<F> Walk<'_, F> {
    fn steps<E>(&mut self, steps: &[Statement], leaf: &mut usize) -> Result<(), E>
    where
        F: FnMut(usize, u32, &Operation, &[u64]) -> Result<(), E>,
    {
        for step in steps {
            match step {
                Statement::Op(op) => {
                    (self.each)(*leaf, std::mem::take(&mut self.entered), op, &self.indices)?;
                    *leaf += 1;
                }
                Statement::Loop(inner) => {
                    let count = inner.count.value(self.position, &self.indices).max(0) as u64;
                    self.entered += 1;
                    self.indices.push(0);
                    let start = *leaf;
                    for index in 0..count {
                        *leaf = start;
                        if let Some(last) = self.indices.last_mut() {
                            *last = index;
                        }
                        self.steps(&inner.body, leaf)?;
                    }
                    self.indices.pop();
                }
            }
        }
        Ok(())
    }
}
