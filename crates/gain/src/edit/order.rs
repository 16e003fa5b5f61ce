//! Which moved communications must stay behind which: the changes of a program, checked against each other.
//!
//! Each piece of advice was found with all else where it is. Where several move, the order of two can be lost although
//! neither passes the other's old place: one is posted before the data it sends have come, since the wait for these has
//! moved behind it. So every change names what it needs, and is held against all that has moved before
//! ([`hayase_advice::model::Needed`] says why these are all pairs that can cross):
//! ```text
//! X -> Y :   end of X, moved   <=   post of Y, moved
//! ```
//! Within one change the later communication makes way: it is posted right behind the end of the earlier, which is
//! still not later than it is now. A change that crosses another is refused. What becomes part of a message or
//! collective operation is posted where that is, and complete no later than now, so it can only be the Y.

use rustc_hash::FxHashMap;

use hayase::ids::RankId;
use hayase::program::{Op, Program};

/// Before an operation or, in a calculation, after a part of it.
pub(super) type Position = (u32, f64);

/// Who goes first among what is put at one point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Turn {
    Wait,
    Post,
    /// Of something that is posted at the same point.
    LateWait,
}

/// An operation that changes its place, or another's.
#[derive(Debug)]
pub(super) struct OpMove {
    /// The operation, by its position before.
    pub op: u32,
    /// Where it is posted.
    pub post: Position,
    /// What it becomes, if it moves.
    pub moved: Option<Op>,
    /// Where it is waited for, if it moves and someone does.
    pub wait: Option<Position>,
    /// The operations that must be complete by then.
    pub needs: Vec<u32>,
}

impl OpMove {
    /// An operation that stays, and does what others did.
    pub fn stays(op: u32, needs: Vec<u32>) -> Self {
        Self { op, post: (op, 0.0), moved: None, wait: None, needs }
    }
}

/// Why a change cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// The end of a sentence.
    pub why: String,
    /// The earlier change that it crosses, counted from 0 in the order in which they were made.
    pub with: Option<usize>,
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self { why, with: None }
    }
}

/// Two operations that would cross.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Crossing {
    /// The one that must be complete.
    earlier: u32,
    /// The one that would be posted before.
    later: u32,
    /// The change that was there before.
    with: usize,
    /// Whether `earlier` is of the change that is refused.
    ends_late: bool,
}

impl Crossing {
    /// In words.
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

/// What has moved on a rank.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// By operation: where it ends now, and by which change.
    ends: FxHashMap<u32, (Position, usize)>,
    /// By operation: what must not be posted before its end, where that is posted, and by which change.
    awaited: FxHashMap<u32, Vec<(u32, Position, usize)>>,
}

/// Whether something that ends at `end` is still under way when something is posted at `post`.
fn crosses(end: Position, post: Position) -> bool {
    // At one place, waits come first.
    let key = |(op, part): Position, turn: Turn| (op, part.to_bits(), turn);
    key(end, Turn::Wait) > key(post, Turn::Post)
}

impl Order {
    /// Adds what a change does on this rank; where its own would cross, the later one is posted later.
    ///
    /// Cost: a look-up for each operation and each that one needs.
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
