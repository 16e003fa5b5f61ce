//! Collective operations whose blocks have different sizes, joined over all ranks: a rank records its own sums alone.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::definitions::LocalDefinitions;
use super::file::Records;
use super::layout::events as known;
use super::sizes::{Sums, has_own_blocks};
use crate::trace::fault::Fault;

/// A communicator, an operation, and true if it is non-blocking: calls of one kind match each other in their order.
pub(super) type Kind = (u64, u64, bool);

/// Sums of the ranks that call an operation, by rank, for all operations of a kind in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Joints {
    of: FxHashMap<Kind, Vec<Vec<(u32, Sums)>>>,
}

impl Joints {
    /// Adds the operations of a rank, from its file of events. Ranks come in ascending order.
    pub fn add(&mut self, rank: u32, local: &LocalDefinitions, records: &mut Records) -> Result<(), Fault> {
        let mut next: FxHashMap<Kind, usize> = FxHashMap::default();
        let mut join = |operation: u64, comm: u64, later: bool, sums: Sums| {
            let kind = (local.comms.global(comm), operation, later);
            let (at, list) = (next.entry(kind).or_default(), self.of.entry(kind).or_default());
            list.resize(list.len().max(*at + 1), Vec::new());
            list[*at].push((rank, sums));
            *at += 1;
        };
        // Starts of each request, and completed operations by their starts.
        let (mut begun, mut starts, mut done) = (0_usize, FxHashMap::<u64, VecDeque<usize>>::default(), Vec::new());
        while let Some(record) = records.next()? {
            let [a, b, _, sent, received, request, ..] = record.values.numbers;
            match record.kind {
                kind if kind == known::COLLECTIVE_END.kind && has_own_blocks(a) => join(a, b, false, [sent, received]),
                kind if kind == known::NBC_REQUEST.kind => {
                    starts.entry(a).or_default().push_back(begun);
                    begun += 1;
                }
                kind if kind == known::NBC_COMPLETE.kind => {
                    let start = starts.get_mut(&request).and_then(VecDeque::pop_front);
                    done.extend(start.filter(|_| has_own_blocks(a)).map(|start| (start, a, b, [sent, received])));
                }
                _ => {}
            }
        }
        done.sort_unstable();
        done.into_iter().for_each(|(_, operation, comm, sums)| join(operation, comm, true, sums));
        Ok(())
    }

    /// Returns the sums of the members of a communicator in its n-th operation of a kind, in their order; nothing if
    /// one of them does not call it.
    pub fn sums(&self, kind: Kind, at: usize, members: impl Iterator<Item = u32> + Clone) -> Vec<Sums> {
        let Some(sums) = self.of.get(&kind).and_then(|list| list.get(at)) else { return Vec::new() };
        // In most communicators ranks are in ascending order.
        if members.clone().eq(sums.iter().map(|&(rank, _)| rank)) {
            return sums.iter().map(|&(_, sums)| sums).collect();
        }
        let of = |rank: u32| sums.binary_search_by_key(&rank, |&(of, _)| of).ok().map(|at| sums[at].1);
        members.map(of).collect::<Option<_>>().unwrap_or_default()
    }
}
