//! Composition of algorithms from phases.

use smallvec::{SmallVec, smallvec};

use super::algorithm::{Algorithm as A, Plan};
use super::allgather::{Allgather, AllgatherAlgorithm};
use super::alltoall::{Alltoall, AlltoallAlgorithm};
use super::barrier::Barrier;
use super::butterfly::{FoldedGather, Halving, HalvingPurpose, RecursiveDoubling};
use super::call::{Call, Operation, Sizes};
use super::fold::Fold;
use super::gather::{Direction, Linear, RootPosting, Subtrees};
use super::layout::Layout;
use super::phase::Phase;
use super::reduce_scatter::{Deliver, ReduceScatter, ReduceScatterAlgorithm};
use super::scan::{Scan, ScanAlgorithm};
use super::tree::{Shape, Tree};
use super::tree_phase::{Move, TreeDown, TreeUp};

type Phases = SmallVec<[Phase; 2]>;

/// Returns the phases of a call; `plan` must be able to perform it.
pub(super) fn phases(call: &Call, plan: Plan) -> Phases {
    if call.ranks <= 1 {
        return Phases::new();
    }
    match call.collective {
        Operation::Barrier => barrier(call, plan),
        Operation::Bcast => bcast(call, plan),
        Operation::Reduce => reduce(call, plan),
        Operation::Allreduce => allreduce(call, plan),
        Operation::Gather | Operation::Gatherv => blocks_at_root(call, plan, Direction::Gather),
        Operation::Scatter | Operation::Scatterv => blocks_at_root(call, plan, Direction::Scatter),
        Operation::Allgather | Operation::Allgatherv => allgather(call, plan),
        Operation::Alltoall | Operation::Alltoallv => alltoall(call, plan),
        Operation::ReduceScatter | Operation::ReduceScatterBlock => reduce_scatter(call, plan),
        Operation::Scan | Operation::Exscan => scan(call, plan),
    }
}

/// Returns the phases of a broadcast of `total` bytes \[B\] along one chain, in `segments` segments as even
/// as possible.
pub(super) fn pipeline(ranks: u32, root: u32, total: u64, segments: u32) -> Phases {
    if ranks <= 1 {
        return Phases::new();
    }
    let layout = Layout::Even { total, blocks: segments.max(1), element: 1 };
    smallvec![Phase::TreeDown(TreeDown { tree: Tree::new(Shape::Chains(1), ranks, root), layout })]
}

/// Size of the vector of a call \[B\].
fn vector(call: &Call) -> u64 {
    call.total()
}

/// Returns the layout with a block for each rank.
fn blocks(call: &Call) -> Layout {
    match &call.sizes {
        Sizes::Equal(bytes) => Layout::Equal { bytes: *bytes, blocks: call.ranks },
        Sizes::Counts(counts) => Layout::Ranks(counts.clone()),
        Sizes::Own { .. } => Layout::Equal { bytes: 0, blocks: call.ranks },
    }
}

fn shape(plan: Plan) -> Shape {
    match plan.algorithm {
        A::Linear => Shape::Flat,
        A::Knomial => Shape::Knomial(plan.fan),
        A::Binary => Shape::Binary,
        A::InOrderBinary => Shape::InOrder,
        A::Chain => Shape::Chains(plan.fan),
        A::Pipeline => Shape::Chains(1),
        _ => Shape::Binomial,
    }
}

fn up(shape: Shape, call: &Call, root: u32, layout: Layout) -> Phase {
    Phase::TreeUp(TreeUp { tree: Tree::new(shape, call.ranks, root), layout })
}

fn down(shape: Shape, call: &Call, root: u32, layout: Layout) -> Phase {
    Phase::TreeDown(TreeDown { tree: Tree::new(shape, call.ranks, root), layout })
}

fn barrier(call: &Call, plan: Plan) -> Phases {
    let ranks = call.ranks;
    let nothing = || Layout::whole(0);
    match plan.algorithm {
        A::RecursiveDoubling => smallvec![Phase::Barrier(Barrier::RecursiveDoubling { ranks })],
        A::Ring => smallvec![Phase::Barrier(Barrier::Ring { ranks })],
        A::Binomial | A::Linear => {
            smallvec![up(shape(plan), call, 0, nothing()), down(shape(plan), call, 0, nothing())]
        }
        _ => smallvec![Phase::Barrier(Barrier::Dissemination { ranks })],
    }
}

fn bcast(call: &Call, plan: Plan) -> Phases {
    let (ranks, root) = (call.ranks, call.root);
    let algorithm = match plan.algorithm {
        A::ScatterAllgather => AllgatherAlgorithm::RecursiveDoubling,
        A::ScatterRing => AllgatherAlgorithm::Ring,
        _ => {
            let layout = Layout::segments(vector(call), plan.segment, call.element);
            return smallvec![down(shape(plan), call, root, layout)];
        }
    };
    let layout = Layout::spread(vector(call), ranks, call.element);
    let scatter = Subtrees { from_root: true, ..Subtrees::new(Direction::Scatter, ranks, root, layout.clone()) };
    smallvec![Phase::Subtrees(scatter), Phase::Allgather(Allgather { algorithm, ranks, root, layout })]
}

fn reduce(call: &Call, plan: Plan) -> Phases {
    let (ranks, root) = (call.ranks, call.root);
    if plan.algorithm == A::Rabenseifner {
        let fold = Fold::keeping(ranks, root);
        let layout = Layout::Even { total: vector(call), blocks: fold.members(), element: call.element };
        let halving = Halving { layout: layout.clone(), fold, halves: HalvingPurpose::Reduce };
        return smallvec![Phase::Halving(halving), Phase::FoldedGather(FoldedGather { layout, fold, root })];
    }
    let shape = shape(plan);
    let layout = Layout::segments(vector(call), plan.segment, call.element);
    // A tree that keeps the order of ranks may have another root: then the result moves at the end.
    let start = match shape {
        Shape::InOrder => Tree::new(shape, ranks, root).root,
        Shape::Flat => root,
        _ if !call.commutative => 0,
        _ => root,
    };
    let mut phases: Phases = smallvec![up(shape, call, start, layout.clone())];
    if start != root {
        phases.push(Phase::Move(Move { layout, from: start, to: root }));
    }
    phases
}

fn allreduce(call: &Call, plan: Plan) -> Phases {
    let ranks = call.ranks;
    let total = vector(call);
    match plan.algorithm {
        A::Rabenseifner => {
            let fold = Fold::pairs(ranks);
            let layout = Layout::Even { total, blocks: fold.members(), element: call.element };
            smallvec![Phase::Halving(Halving { layout, fold, halves: HalvingPurpose::Allreduce })]
        }
        A::Ring => {
            let layout = Layout::Even { total, blocks: ranks, element: call.element };
            let (algorithm, root) = (ReduceScatterAlgorithm::Ring, ranks - 1);
            smallvec![
                Phase::ReduceScatter(ReduceScatter {
                    ahead: 1,
                    ..ReduceScatter::new(algorithm, ranks, layout.clone())
                }),
                Phase::Allgather(Allgather { algorithm: AllgatherAlgorithm::Ring, ranks, root, layout })
            ]
        }
        A::ReduceBcast | A::Linear => {
            let shape = shape(plan);
            smallvec![up(shape, call, 0, Layout::whole(total)), down(shape, call, 0, Layout::whole(total))]
        }
        _ => {
            let fold = Fold::pairs(ranks);
            smallvec![Phase::RecursiveDoubling(RecursiveDoubling { layout: Layout::whole(total), fold })]
        }
    }
}

fn blocks_at_root(call: &Call, plan: Plan, direction: Direction) -> Phases {
    let (ranks, root, layout) = (call.ranks, call.root, blocks(call));
    let posting = match plan.algorithm {
        A::Binomial => return smallvec![Phase::Subtrees(Subtrees::new(direction, ranks, root, layout))],
        A::LinearNonblocking => RootPosting::Started,
        A::LinearSync => RootPosting::Synchronised,
        _ => RootPosting::Blocking,
    };
    smallvec![Phase::Linear(Linear { direction, posting, ranks, root, layout })]
}

fn allgather(call: &Call, plan: Plan) -> Phases {
    let (ranks, layout) = (call.ranks, blocks(call));
    let algorithm = match plan.algorithm {
        A::RecursiveDoubling => AllgatherAlgorithm::RecursiveDoubling,
        A::Bruck => AllgatherAlgorithm::Bruck,
        A::NeighborExchange => AllgatherAlgorithm::NeighborExchange,
        A::Sparbit => AllgatherAlgorithm::Sparbit,
        A::Linear => {
            let gather =
                Linear { direction: Direction::Gather, posting: RootPosting::Blocking, ranks, root: 0, layout };
            return smallvec![Phase::Linear(gather), down(Shape::Flat, call, 0, Layout::whole(call.total()))];
        }
        _ => AllgatherAlgorithm::Ring,
    };
    smallvec![Phase::Allgather(Allgather { algorithm, ranks, root: 0, layout })]
}

fn alltoall(call: &Call, plan: Plan) -> Phases {
    let algorithm = match plan.algorithm {
        A::Bruck => AlltoallAlgorithm::Bruck,
        A::Pairwise => AlltoallAlgorithm::Pairwise,
        A::SimpleSpread => AlltoallAlgorithm::Shift,
        A::Scattered => AlltoallAlgorithm::Started { at_once: 32 },
        _ => AlltoallAlgorithm::Started { at_once: call.ranks - 1 },
    };
    smallvec![Phase::Alltoall(Alltoall { algorithm, ranks: call.ranks, sizes: call.sizes.clone() })]
}

fn reduce_scatter(call: &Call, plan: Plan) -> Phases {
    let (ranks, layout) = (call.ranks, blocks(call));
    let algorithm = match plan.algorithm {
        A::ReduceThenScatter => {
            let scatter =
                Linear { direction: Direction::Scatter, posting: RootPosting::Blocking, ranks, root: 0, layout };
            return smallvec![up(Shape::Binomial, call, 0, Layout::whole(call.total())), Phase::Linear(scatter)];
        }
        A::RecursiveHalving => ReduceScatterAlgorithm::RecursiveHalving,
        A::RecursiveDoubling => ReduceScatterAlgorithm::RecursiveDoubling,
        A::Interleaved => ReduceScatterAlgorithm::Interleaved,
        A::Pairwise => ReduceScatterAlgorithm::Pairwise,
        _ => ReduceScatterAlgorithm::Ring,
    };
    let folds = !matches!(algorithm, ReduceScatterAlgorithm::Pairwise | ReduceScatterAlgorithm::Ring);
    let mut phases: Phases = smallvec![Phase::ReduceScatter(ReduceScatter::new(algorithm, ranks, layout.clone()))];
    if folds && !ranks.is_power_of_two() {
        phases.push(Phase::Deliver(Deliver { layout, fold: Fold::pairs(ranks) }));
    }
    phases
}

fn scan(call: &Call, plan: Plan) -> Phases {
    let algorithm = match plan.algorithm {
        A::Linear => ScanAlgorithm::Linear,
        _ => ScanAlgorithm::RecursiveDoubling,
    };
    let exclusive = call.collective == Operation::Exscan;
    smallvec![Phase::Scan(Scan { algorithm, exclusive, ranks: call.ranks, layout: Layout::whole(vector(call)) })]
}
