//! Faults of a run, as plain data.

use crate::engine::Mishaps;
use crate::fabric::Fabric;
use crate::faults::Faults;
use crate::ids::{LinkId, NodeId};
use crate::network::Network;

/// Largest number of parts that are named.
const MAX_NAMED_PARTS: usize = 1000;

/// Number of parts and their names.
#[report(Eq, Default)]
pub struct Parts {
    /// Number of parts.
    pub count: u64,
    /// Names of the parts; only the first 1000 if there are more.
    pub names: Vec<String>,
}

/// Faults of a run, and their effect on messages.
#[report(Eq, Default)]
pub struct FaultsReport {
    /// Links that have failed at the start, including those of failed switches. A cable is two links.
    pub failed_links: Parts,
    /// Switches that have failed at the start.
    pub failed_switches: Parts,
    /// Links whose bandwidth at the start differs from the one they were built for.
    pub degraded_links: Parts,
    /// True if anything fails or is repaired later.
    pub events: bool,
    /// Number of ordered pairs of nodes without a route at the start. Absent if links have no ends and there
    /// are too many nodes.
    pub pairs_cut_off: Option<u64>,
    /// The first of these pairs.
    pub cut_off: Vec<String>,
    /// Number of messages that were sent again, or later, because one of their links had failed.
    pub resent: u64,
    /// Number of messages that were lost.
    pub lost: u64,
    /// Number of messages that never found a route.
    pub stranded: u64,
    /// Source and destination of the first messages that were lost or found no route.
    pub without_way: Vec<String>,
}

impl FaultsReport {
    /// Builds the report of a run on a network; returns `None` if the network has no faults.
    pub(crate) fn of_run(network: &Network, mishaps: Option<&Mishaps>) -> Option<Box<Self>> {
        network.faults.as_ref().map(|faults| Box::new(Self::new(faults, mishaps)))
    }

    /// Builds the report from faults and the mishaps of a run.
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
    Parts { count: all.len() as u64, names: all.iter().take(MAX_NAMED_PARTS).map(name).collect() }
}

fn pairs(fabric: &Fabric, pairs: &[(NodeId, NodeId)]) -> Vec<String> {
    let name = |node: NodeId| fabric.vertex_name(node.into());
    pairs.iter().map(|&(src, dst)| format!("{} -> {}", name(src), name(dst))).collect()
}
