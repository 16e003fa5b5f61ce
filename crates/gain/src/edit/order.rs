//! Order of moved communications: checks the changes of a program against each other.
//!
//! Each piece of advice was found with everything else in place. If several communications move, two can
//! cross although neither passes the other's old place. For example, a message is posted before its data has
//! arrived, because the wait for the data has moved behind the post. So every change names its needs and is
//! checked against all earlier moves ([`hayase_advice::model::Needed`] explains that these are all pairs that
//! can cross):
//! ```text
//! X -> Y :   end of X, moved   <=   post of Y, moved
//! ```
//! Within one change the later communication makes way: it is posted right after the end of the earlier,
//! which is not later than its present place. A change that crosses another is refused. A call that becomes
//! part of a message or collective operation is posted with it, and completes no later than now, so it can
//! only be the Y.

use rustc_hash::FxHashMap;

use hayase::ids::RankId;
use hayase::program::{Op, Program};

/// Position before an operation or, in a calculation, after a part of it.
pub(super) type Position = (u32, f64);

/// Order of operations that are inserted at one point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum InsertOrder {
    Wait,
    Post,
    /// Wait for an operation that is posted at the same point.
    LateWait,
}

/// Operation that moves, or that takes the place of others.
#[derive(Debug)]
pub(super) struct OpMove {
    /// Original position of the operation.
    pub op: u32,
    /// Position of its post.
    pub post: Position,
    /// New form of the operation, if it moves.
    pub moved: Option<Op>,
    /// Position of its wait, if it moves and is waited for.
    pub wait: Option<Position>,
    /// Operations that must be complete at its post.
    pub needs: Vec<u32>,
}

impl OpMove {
    /// Creates an operation that stays in place and takes over the work of others.
    pub fn stays(op: u32, needs: Vec<u32>) -> Self {
        Self { op, post: (op, 0.0), moved: None, wait: None, needs }
    }
}

/// Error of a change that cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// Reason, as the end of a sentence.
    pub why: String,
    /// Index of the earlier change that it crosses, in the order in which they were made.
    pub with: Option<usize>,
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self { why, with: None }
    }
}

/// Pair of operations that would cross.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Crossing {
    /// Operation that must be complete first.
    earlier: u32,
    /// Operation that would be posted before that.
    later: u32,
    /// Index of the earlier change.
    with: usize,
    /// True if the refused change moves the end of `earlier`, not the post of `later`.
    ends_late: bool,
}

impl Crossing {
    /// Describes the crossing in words.
    pub fn refused(self, program: &Program, rank: u32) -> Refused {
        let name = |op: u32| {
            let rank = RankId(rank);
            let what = program.rank(rank).ops.get(op as usize).map(|what| program.describe(rank, what));
            let what = what.unwrap_or_default();
            program.site(rank, op).map_or_else(|| what.clone(), |site| format!("{what} at {site}"))
        };
        let (earlier, later) = (name(self.earlier), name(self.later));
        let why = match self.ends_late {
            true => format!("on rank {rank} it would end {earlier} behind the start of {later}, which needs it"),
            false => format!("on rank {rank} it would start {later} before the end of {earlier}, which it needs"),
        };
        Refused { why, with: Some(self.with) }
    }
}

/// Moves made on a rank so far.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// New end of each moved operation, and the change that moved it.
    ends: FxHashMap<u32, (Position, usize)>,
    /// Operations that need each operation, with the positions of their posts and their changes.
    awaited: FxHashMap<u32, Vec<(u32, Position, usize)>>,
}

/// True if an operation that ends at `end` is still under way at `post`.
fn crosses(end: Position, post: Position) -> bool {
    // At one position, waits come first.
    let key = |(op, part): Position, turn: InsertOrder| (op, part.to_bits(), turn);
    key(end, InsertOrder::Wait) > key(post, InsertOrder::Post)
}

impl Order {
    /// Adds the moves of a change on this rank; where its own communications would cross, the later post
    /// moves back.
    ///
    /// Cost: a look-up for each operation and each of its needs.
    pub fn add(&mut self, mut plans: Vec<OpMove>, change: usize) -> Result<Vec<OpMove>, Crossing> {
        let ends: FxHashMap<u32, Position> = plans.iter().filter_map(|plan| Some((plan.op, plan.wait?))).collect();
        for plan in &mut plans {
            for need in &plan.needs {
                if let Some(&end) = ends.get(need).filter(|&&end| plan.moved.is_some() && crosses(end, plan.post)) {
                    plan.post = end;
                }
            }
            for &earlier in &plan.needs {
                if let Some(&(end, with)) = self.ends.get(&earlier)
                    && crosses(end, plan.post)
                {
                    return Err(Crossing { earlier, later: plan.op, with, ends_late: false });
                }
            }
            let behind = self.awaited.get(&plan.op).into_iter().flatten();
            for &(later, post, with) in behind {
                if plan.wait.is_some_and(|end| crosses(end, post)) {
                    return Err(Crossing { earlier: plan.op, later, with, ends_late: true });
                }
            }
        }
        for plan in &plans {
            if let Some(end) = plan.wait {
                self.ends.insert(plan.op, (end, change));
            }
            for &need in &plan.needs {
                self.awaited.entry(need).or_default().push((plan.op, plan.post, change));
            }
        }
        Ok(plans)
    }
}
