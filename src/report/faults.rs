//! What failed, as plain data.

use crate::engine::Mishaps;
use crate::fabric::Fabric;
use crate::faults::Faults;
use crate::ids::{LinkId, NodeId};
use crate::network::Network;

/// Names at most.
const NAMED: usize = 1000;

/// So many parts, and what they are called.
#[report(Eq, Default)]
pub struct Parts {
    /// How many.
    pub count: u64,
    /// Their names; of more than 1000, the first.
    pub names: Vec<String>,
}

/// What failed, and what became of messages for it.
#[report(Eq, Default)]
pub struct FaultsReport {
    /// Links that have failed at the start, those of switches among them; a cable is two.
    pub failed_links: Parts,
    /// Switches that have failed at the start.
    pub failed_switches: Parts,
    /// Links that carry another bandwidth at the start than they were built for.
    pub degraded_links: Parts,
    /// Whether anything fails or comes back later.
    pub events: bool,
    /// Pairs of nodes between which no way is left at the start, each direction counted; not told where links have no
    /// ends and nodes are too many.
    pub pairs_cut_off: Option<u64>,
    /// The first of them.
    pub cut_off: Vec<String>,
    /// Messages that were sent again, or later, because a link of theirs had failed.
    pub resent: u64,
    /// Messages that were lost.
    pub lost: u64,
    /// Messages that never found a way.
    pub stranded: u64,
    /// From where to where the first of those that were lost or found no way were to go.
    pub without_way: Vec<String>,
}

impl FaultsReport {
    /// What a run on a network says of its faults, if it has any.
    pub(crate) fn of_run(network: &Network, mishaps: Option<&Mishaps>) -> Option<Box<Self>> {
        network.faults.as_ref().map(|faults| Box::new(Self::new(faults, mishaps)))
    }

    /// What failed, and what a run says of it.
    pub fn new(faults: &Faults, mishaps: Option<&Mishaps>) -> Self {
        let fabric = faults.whole();
        let link = |&link: &LinkId| fabric.link_name(link);
        let mishaps = mishaps.cloned().unwrap_or_default();
        Self {
            failed_links: parts(faults.failed(), link),
            failed_switches: parts(faults.switches(), |&switch| fabric.vertex_name(switch)),
            degraded_links: parts(faults.degraded(), link),
            events: faults.has_events(),
            pairs_cut_off: faults.cut_off().pairs,
            cut_off: pairs(fabric, &faults.cut_off().first),
            resent: mishaps.resent,
            lost: mishaps.lost,
            stranded: mishaps.stranded,
            without_way: pairs(fabric, &mishaps.pairs),
        }
    }
}

fn parts<T>(all: &[T], name: impl Fn(&T) -> String) -> Parts {
    Parts { count: all.len() as u64, names: all.iter().take(NAMED).map(name).collect() }
}

fn pairs(fabric: &Fabric, pairs: &[(NodeId, NodeId)]) -> Vec<String> {
    let name = |node: NodeId| fabric.vertex_name(node.into());
    pairs.iter().map(|&(src, dst)| format!("{} -> {}", name(src), name(dst))).collect()
}
