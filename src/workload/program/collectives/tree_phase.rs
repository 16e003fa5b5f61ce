//! Broadcasts and reductions along a tree, in one piece or in segments that follow each other (a pipeline).

use super::data::{Data, Then};
use super::layout::Layout;
use super::phase::Action;
use super::tree::{Shape, Tree};

/// From the root to all, segment by segment: while a rank passes on a segment, it receives the next.
#[derive(Clone, Debug)]
pub(super) struct TreeDown {
    pub tree: Tree,
    /// The segments.
    pub layout: Layout,
}

impl TreeDown {
    /// The order of a rank: receive the first segment; then for each segment, send it to the farthest child while
    /// receiving the next one, and send it to the other children, the farther ones first.
    pub fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let (children, segments) = (self.tree.children(rank), u64::from(self.layout.blocks()));
        let then = Then::Keep;
        let Some(from) = self.tree.parent(rank) else {
            let each = u64::from(children);
            let segment = index.checked_div(each).filter(|&segment| segment < segments)?;
            return Some(self.send(rank, children, (index % each) as u32, segment));
        };
        let receive = |segment: u64| Action::Receive { from, data: Data::block(segment as u32), then };
        if children == 0 {
            return (index < segments).then(|| receive(index));
        }
        if index == 0 {
            return Some(receive(0));
        }
        let (segment, part) = ((index - 1) / u64::from(children), (index - 1) % u64::from(children));
        if segment >= segments {
            return None;
        }
        Some(match self.send(rank, children, part as u32, segment) {
            Action::Send { to, data } if part == 0 && segment + 1 < segments => {
                Action::Exchange { to, sent: data, from, received: Data::block(segment as u32 + 1), then }
            }
            send => send,
        })
    }

    /// Sends a segment to the child that is `part`-th from the farthest; to the nearest first where all are equally far.
    fn send(&self, rank: u32, children: u32, part: u32, segment: u64) -> Action {
        let position = match self.tree.shape {
            Shape::Binomial | Shape::Knomial(_) => children - 1 - part,
            _ => part,
        };
        Action::Send { to: self.tree.child(rank, position), data: Data::block(segment as u32) }
    }
}

/// From all to the root, combined on the way, segment by segment: while a rank sends a segment up, it receives the next.
#[derive(Clone, Debug)]
pub(super) struct TreeUp {
    pub tree: Tree,
    /// The segments.
    pub layout: Layout,
}

impl TreeUp {
    pub fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let (children, segments) = (self.tree.children(rank), u64::from(self.layout.blocks()));
        let parent = self.tree.parent(rank);
        if children == 0 {
            let send = |to| Action::Send { to, data: Data::block(index as u32) };
            return (index < segments).then_some(parent?).map(send);
        }
        let (segment, part) = (index / u64::from(children), (index % u64::from(children)) as u32);
        if segment >= segments {
            let last = Data::block(segments as u32 - 1);
            return (segment == segments && part == 0).then_some(parent?).map(|to| Action::Send { to, data: last });
        }
        let from = self.child(rank, children, part);
        let (data, then) = (Data::block(segment as u32), self.side(from, rank));
        Some(match parent {
            Some(to) if part == 0 && segment > 0 => {
                let sent = Data::block(segment as u32 - 1);
                Action::Exchange { to, sent, from, received: data, then }
            }
            _ => Action::Receive { from, data, then },
        })
    }

    /// The child that is received from as the `part`-th. To a flat tree's root the higher ranks come first, ascending,
    /// then the lower ones, descending: so contributions are combined in the order of ranks.
    fn child(&self, rank: u32, children: u32, part: u32) -> u32 {
        let above = children - rank.min(children);
        match self.tree.shape {
            Shape::Flat if part < above => rank + 1 + part,
            Shape::Flat => rank - 1 - (part - above),
            _ => self.tree.child(rank, part),
        }
    }

    /// On which side a child's contribution is combined.
    fn side(&self, from: u32, to: u32) -> Then {
        match self.tree.shape {
            Shape::Flat | Shape::InOrder if from < to => Then::Left,
            _ => Then::Right,
        }
    }
}

/// A vector moved from one rank to another: to the root of the call from where it was combined.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub layout: Layout,
    pub from: u32,
    pub to: u32,
}

impl Move {
    pub fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let data = Data::Blocks { first: 0, count: self.layout.blocks() };
        match () {
            () if index > 0 || self.from == self.to => None,
            () if rank == self.from => Some(Action::Send { to: self.to, data }),
            () if rank == self.to => Some(Action::Receive { from: self.from, data, then: Then::Keep }),
            () => None,
        }
    }
}
