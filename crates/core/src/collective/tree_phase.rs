//! Broadcasts and reductions along a tree, in one piece or in consecutive segments (a pipeline).

use super::data::{Data, ReceivedUse};
use super::layout::Layout;
use super::rounds::{Action, Rounds};
use super::tree::{Shape, Tree};

/// Broadcast from the root to all ranks, segment by segment: while a rank passes on a segment, it receives
/// the next.
#[derive(Clone, Debug)]
pub(super) struct TreeDown {
    pub tree: Tree,
    /// Segments of the vector.
    pub layout: Layout,
}

impl Rounds for TreeDown {
    /// Returns the actions of a rank. It first receives the first segment. Then, for each segment, it sends
    /// it to the farthest child while it receives the next one, and sends it to its other children, the
    /// farther ones first.
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let (children, segments) = (self.tree.children(rank), u64::from(self.layout.blocks()));
        let then = ReceivedUse::Keep;
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

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.tree.ranks
    }

    /// Number of rounds. With S segments in trees of at most c children it is `(S - 1) c` more than the last
    /// rank needs to receive the first segment.
    fn rounds(&self) -> u64 {
        let tree = &self.tree;
        let last = match tree.shape {
            Shape::Flat => u64::from(tree.ranks) - 2,
            Shape::Chains(chains) => {
                let chains =
                    (0..tree.children(tree.root)).map(|chain| (u64::from(chain), tree.chain_length(chain, chains)));
                chains.map(|(chain, length)| chain + (length - 1) * self.delay()).max().unwrap_or(0)
            }
            _ if self.is_whole() && tree.has_levels() => {
                return u64::from(tree.height()) * tree.within_level(tree.rank_at(1)).1;
            }
            _ => (0..tree.ranks).filter(|rank| *rank != tree.root).map(|rank| self.first(rank)).max().unwrap_or(0),
        };
        last + 1 + (self.segments() - 1) * u64::from(tree.most_children())
    }

    fn round(&self, rank: u32, index: u64) -> u64 {
        let children = u64::from(self.tree.children(rank));
        let every = u64::from(self.tree.most_children());
        if rank == self.tree.root {
            let (segment, part) = (index / children, (index % children) as u32);
            return self.first_to(rank, part) + segment * every;
        }
        match index.checked_sub(1) {
            None => self.first(rank),
            Some(_) if children == 0 => self.first(rank) + index * every,
            Some(sent) => self.first_to(rank, (sent % children) as u32) + sent / children * every,
        }
    }

    fn sends(&self, rank: u32) -> u64 {
        u64::from(self.tree.children(rank)) * self.segments()
    }

    fn send(&self, rank: u32, number: u64) -> u64 {
        number + u64::from(rank != self.tree.root)
    }

    fn receives(&self, rank: u32, round: u64) -> u64 {
        if rank == self.tree.root {
            return 0;
        }
        let every = u64::from(self.tree.most_children());
        let after = round.checked_sub(self.first(rank));
        u64::from(after.is_some_and(|after| after.is_multiple_of(every) && after / every < self.segments()))
    }

    fn total(&self) -> u128 {
        u128::from(self.tree.ranks - 1) * self.layout.total()
    }

    fn waits(&self) -> bool {
        self.tree.shape != Shape::Flat
    }

    fn posts(&self) -> bool {
        self.is_whole()
    }
}

impl TreeDown {
    fn segments(&self) -> u64 {
        u64::from(self.layout.blocks())
    }

    fn is_whole(&self) -> bool {
        self.layout.blocks() == 1
    }

    /// Number of rounds from receiving a segment to sending it on: a rank receives the next segment in
    /// between, if there is one.
    fn delay(&self) -> u64 {
        if self.is_whole() { 1 } else { u64::from(self.tree.most_children()) }
    }

    /// Returns the round in which a rank other than the root receives the first segment.
    ///
    /// The k-th segment comes k c rounds later if no rank has more than c children. So each rank has the time
    /// to pass a segment on to all its children before the next but one comes.
    fn first(&self, rank: u32) -> u64 {
        let tree = &self.tree;
        if self.is_whole() && tree.has_levels() {
            let (part, parts) = tree.within_level(rank);
            return (u64::from(tree.height()) - 1 - tree.level(rank)) * parts + part;
        }
        if let Some((chain, position)) = tree.in_chain(rank) {
            return chain + position * self.delay();
        }
        match tree.parent(rank) {
            Some(parent) => self.first_to(parent, tree.message_number(rank)),
            None => 0,
        }
    }

    /// Returns the round in which a rank sends the first segment to its `part`-th child.
    fn first_to(&self, rank: u32, part: u32) -> u64 {
        let tree = &self.tree;
        if self.is_whole() && tree.has_levels() {
            return self.first(tree.child(rank, tree.child_position(tree.children(rank), part)));
        }
        match rank == tree.root {
            true => u64::from(part),
            false => self.first(rank) + self.delay() + u64::from(part),
        }
    }

    /// Returns the sending of a segment to the `part`-th child from the farthest; from the nearest if all are
    /// equally far.
    fn send(&self, rank: u32, children: u32, part: u32, segment: u64) -> Action {
        let position = self.tree.child_position(children, part);
        Action::Send { to: self.tree.child(rank, position), data: Data::block(segment as u32) }
    }
}

/// Reduction from all ranks to the root, combined on the way, segment by segment: while a rank sends a
/// segment up, it receives the next.
#[derive(Clone, Debug)]
pub(super) struct TreeUp {
    pub tree: Tree,
    /// Segments of the vector.
    pub layout: Layout,
}

impl Rounds for TreeUp {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
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

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.tree.ranks
    }

    fn rounds(&self) -> u64 {
        u64::from(self.tree.height()) + self.segments() - 1
    }

    fn round(&self, rank: u32, index: u64) -> u64 {
        let children = u64::from(self.tree.children(rank));
        if children == 0 {
            return self.up(rank, index);
        }
        let (segment, part) = (index / children, (index % children) as u32);
        match segment < self.segments() {
            true => self.up(self.child(rank, children as u32, part), segment),
            false => self.up(rank, segment - 1),
        }
    }

    fn sends(&self, rank: u32) -> u64 {
        if rank == self.tree.root { 0 } else { self.segments() }
    }

    fn send(&self, rank: u32, number: u64) -> u64 {
        match self.tree.children(rank) {
            0 => number,
            children => (number + 1) * u64::from(children),
        }
    }

    fn receives(&self, rank: u32, round: u64) -> u64 {
        let children = self.tree.children(rank);
        if self.by_level() {
            return (0..children).filter(|&part| self.up(self.tree.child(rank, part), 0) == round).count() as u64;
        }
        let first = u64::from(self.tree.height()) - u64::from(self.tree.depth(rank));
        let segment = (round + 1).checked_sub(first);
        if segment.is_some_and(|segment| segment < self.segments()) { u64::from(children) } else { 0 }
    }

    fn total(&self) -> u128 {
        u128::from(self.tree.ranks - 1) * self.layout.total()
    }

    fn waits(&self) -> bool {
        self.tree.shape != Shape::Flat
    }

    fn most_to_one(&self) -> u32 {
        if self.tree.shape == Shape::Flat { self.tree.ranks - 1 } else { 0 }
    }

    fn contributors(&self, rank: u32, _: u64) -> Vec<u32> {
        self.tree.below(rank)
    }
}

impl TreeUp {
    fn segments(&self) -> u64 {
        u64::from(self.layout.blocks())
    }

    /// Returns true if a round is the messages of one level of the tree; otherwise it is those of one depth,
    /// segment after segment.
    fn by_level(&self) -> bool {
        self.layout.blocks() == 1 && self.tree.has_levels()
    }

    /// Returns the round in which a rank other than the root sends a segment.
    fn up(&self, rank: u32, segment: u64) -> u64 {
        match self.by_level() {
            true => self.tree.level(rank),
            false => u64::from(self.tree.height()) - u64::from(self.tree.depth(rank)) + segment,
        }
    }

    /// Returns the child that is received from as the `part`-th. At the root of a flat tree the higher ranks
    /// come first, ascending, then the lower ones, descending. So contributions are combined in the order of
    /// ranks.
    fn child(&self, rank: u32, children: u32, part: u32) -> u32 {
        let above = children - rank.min(children);
        match self.tree.shape {
            Shape::Flat if part < above => rank + 1 + part,
            Shape::Flat => rank - 1 - (part - above),
            _ => self.tree.child(rank, part),
        }
    }

    /// Returns the side on which a child's contribution is combined.
    fn side(&self, from: u32, to: u32) -> ReceivedUse {
        match self.tree.shape {
            Shape::Flat | Shape::InOrder if from < to => ReceivedUse::Left,
            _ => ReceivedUse::Right,
        }
    }
}

/// Transfer of a vector from the rank where it was combined to the root of the call.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub layout: Layout,
    pub from: u32,
    pub to: u32,
}

impl Rounds for Move {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let data = Data::Blocks { first: 0, count: self.layout.blocks() };
        match () {
            () if index > 0 || self.from == self.to => None,
            () if rank == self.from => Some(Action::Send { to: self.to, data }),
            () if rank == self.to => Some(Action::Receive { from: self.from, data, then: ReceivedUse::Keep }),
            () => None,
        }
    }

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.from.max(self.to) + 1
    }
}
