//! Use of every link in a run, computed link by link on demand.

use std::fmt;
use std::sync::Arc;

use super::simulated::time_over;
use crate::base::Arrange;
use crate::engine::Outcome;
use crate::fabric::{Fabric, FabricBuilder, Irregular};
use crate::ids::{IdVec, LinkId, VertexId};
use crate::network::Network;
use crate::record::{LinkSeries, LinkTimes, Recorder};
use crate::report::{Delays, KindDelay, KindUse, LinkUse};
use crate::symmetry::Folded;
use crate::transport::PortUse;
use crate::units::Time;

/// Number of most used links that a report lists.
pub(super) const MOST_USED: usize = 10;
/// Largest number of messages for which the times of links (busy, number of flows) are recorded by default.
/// Recording costs a tenth of the run time if messages are played.
pub(super) const MESSAGES_WITH_LINK_TIMES: u64 = 2_000_000;

/// Use of all links in a run, by id.
///
/// It stores only the counters: 8 bytes per link, and 32 more if times were recorded. A [`LinkUse`] with its
/// name takes 200 bytes and is made on demand.
#[derive(Clone)]
pub struct LinkUses {
    /// Fabric with the names of links and the failures at the start.
    fabric: Arc<Fabric>,
    /// Fabric with the capacities. If links change during the run, it has their largest capacities.
    most: Arc<Fabric>,
    /// Time at which the last message was delivered.
    makespan: Time,
    bytes: IdVec<LinkId, u64>,
    times: Option<LinkTimes>,
    series: Option<LinkSeries>,
    ports: Option<IdVec<LinkId, PortUse>>,
    /// Time that messages lost on each link \[s\].
    delays: Option<IdVec<LinkId, f64>>,
}

impl Default for LinkUses {
    /// Creates the use of no links.
    fn default() -> Self {
        let fabric = Arc::new(FabricBuilder::new("", 0, 0).finish(Irregular));
        let (bytes, most) = (IdVec::new(), Arc::clone(&fabric));
        Self { fabric, most, makespan: Time::ZERO, bytes, times: None, series: None, ports: None, delays: None }
    }
}

impl LinkUses {
    /// Takes the measurements of a run on this network out of the recorder and the outcome.
    pub(super) fn of(network: &Network, recorder: &mut Recorder<'_>, outcome: &mut Outcome) -> Self {
        Self {
            fabric: Arc::clone(&network.fabric),
            most: Arc::clone(network.faults.as_ref().map_or(&network.fabric, |faults| faults.most())),
            makespan: outcome.makespan,
            bytes: recorder.take_bytes(&network.fabric),
            times: recorder.times.take(),
            series: recorder.series.take(),
            ports: outcome.facts.ports.take(),
            delays: outcome.facts.delays.take(),
        }
    }

    /// Returns the use of all links of a folded run. A message that stands for those of a class lost its time on the
    /// link that stands for a class, so each link has a part of it.
    pub(super) fn expanded(self, folded: &Folded) -> Self {
        let share = |(link, lost): (LinkId, &f64)| lost / f64::from(folded.link(link).1);
        let delays = self.delays.map(|lost| folded.expand_links(&lost.iter_ids().map(share).collect()));
        Self {
            bytes: folded.expand_links(&self.bytes),
            times: self.times.map(|times| times.expanded(folded)),
            series: self.series.map(|series| series.expanded(folded)),
            delays,
            ..self
        }
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True if there are no links.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the use of one link; `None` if there is no such link.
    pub fn get(&self, id: LinkId) -> Option<LinkUse> {
        self.bytes.get(id).map(|_| LinkUse { name: self.fabric.link_name(id), ..self.without_name(id) })
    }

    /// Iterates over the use of all links, by id.
    pub fn iter(&self) -> impl Iterator<Item = LinkUse> + Clone + '_ {
        // Each vertex is named once.
        let vertices: Vec<String> =
            (0..self.fabric.vertices()).map(|vertex| self.fabric.vertex_name(VertexId(vertex))).collect();
        let vertices = Arc::new(vertices);
        let ids = (0..self.bytes.len() as u32).map(LinkId);
        ids.map(move |id| LinkUse { name: self.fabric.link_name_of(id, &vertices), ..self.without_name(id) })
    }

    /// Length of the spans of time of [`loads`](Self::loads).
    pub fn span(&self) -> Time {
        self.series.as_ref().map_or(Time::ZERO, LinkSeries::span)
    }

    /// True if the time that messages lost on links was measured.
    pub fn has_delays(&self) -> bool {
        self.delays.is_some()
    }

    /// Returns the load of a link in successive spans of time ([`LinkSeries::loads`]); nothing if it was not recorded.
    pub fn loads(&self, id: LinkId) -> Vec<f64> {
        let capacity_bps = self.most.link(id).capacity.bytes_per_second();
        self.series.as_ref().map_or_else(Vec::new, |series| series.loads(id, capacity_bps, self.makespan))
    }

    /// Returns the use of one link without its name, which costs more than all the rest.
    pub(super) fn without_name(&self, id: LinkId) -> LinkUse {
        let makespan_s = self.makespan.seconds();
        let capacity_bps = self.most.link(id).capacity.bytes_per_second();
        let bytes = self.bytes[id];
        let port = self.ports.as_ref().map(|ports| ports[id]);
        let time = self.times.as_ref().map(|times| times.of(id, self.makespan)).unwrap_or_default();
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        LinkUse {
            id: id.0,
            failed: self.fabric.has_failed(id),
            name: String::new(),
            capacity_bps,
            bytes,
            busy_s: port.map_or(time.busy, |port| port.busy).seconds(),
            utilisation: if makespan_s > 0.0 { bytes as f64 / (capacity_bps * makespan_s) } else { 0.0 },
            peak_flows: time.peak,
            mean_flows: if time.busy > Time::ZERO { time.flow_time / time.busy.ps() } else { 0.0 },
            peak_queue: port.map_or(0, |port| port.peak_queue),
            mean_queue: port.map_or(0.0, |port| ratio(port.queue_time, self.makespan.ps())),
            blocked_s: port.map_or(0.0, |port| port.blocked.seconds()),
            delay_s: self.delays.as_ref().map_or(0.0, |delays| delays[id]),
        }
    }

    /// Returns up to `count` links, those on which messages lost the most time first, then the most used.
    /// Among links of equal use, those with the most concurrent flows come first.
    pub(super) fn most_delayed(&self, count: usize) -> Vec<LinkUse> {
        let order = |a: &LinkUse, b: &LinkUse| {
            let by_delay = b.delay_s.total_cmp(&a.delay_s);
            by_delay
                .then(b.utilisation.total_cmp(&a.utilisation))
                .then(b.mean_flows.total_cmp(&a.mean_flows))
                .then(a.id.cmp(&b.id))
        };
        let mut most: Vec<LinkUse> = Vec::with_capacity(count + 1);
        for (id, _) in self.bytes.iter_ids().filter(|&(_, &bytes)| bytes > 0) {
            let link = self.without_name(id);
            // Links come by id, so the earlier of equal links stays first.
            if most.len() < count || most.last().is_some_and(|last| order(&link, last).is_lt()) {
                let place = most.partition_point(|other| order(other, &link).is_lt());
                most.insert(place, link);
                most.truncate(count);
            }
        }
        for link in &mut most {
            link.name = self.fabric.link_name(LinkId(link.id));
        }
        most
    }

    /// Returns the time that messages lost on links, in total and by kind of link; `None` if it was not
    /// measured.
    pub(super) fn delays(&self) -> Option<Delays> {
        let delays = self.delays.as_ref()?;
        let total_s: f64 = delays.iter().sum();
        let mut kinds: Vec<KindDelay> = Vec::new();
        for group in self.fabric.family().link_groups(&self.fabric) {
            let lost: f64 = group.links.iter().filter_map(|&link| delays.get(link)).sum();
            if lost > 0.0 {
                kinds.push(KindDelay { links: group.name, part: lost / total_s });
            }
        }
        kinds.arrange_by(|a, b| b.part.total_cmp(&a.part));
        Some(Delays { total_s, kinds })
    }

    /// Returns the use of links by kind.
    pub(super) fn kinds(&self) -> Vec<KindUse> {
        let groups = self.fabric.family().link_groups(&self.fabric).into_iter();
        let used = groups.filter_map(|group| {
            let known = || group.links.iter().filter(|&&link| self.bytes.get(link).is_some());
            let loads = known().map(|&link| (link, self.load_s(link)));
            let (most_loaded, load_s) = loads.reduce(|most, next| if next.1 > most.1 { next } else { most })?;
            let delay_s = self.delays.as_ref().map(|delays| known().map(|&link| delays[link]).sum());
            Some(KindUse { links: group.name, load_s, most_loaded: self.fabric.link_name(most_loaded), delay_s })
        });
        used.filter(|kind| kind.load_s > 0.0).collect()
    }

    /// Returns the time that a link needs for its bytes \[s\].
    fn load_s(&self, id: LinkId) -> f64 {
        time_over(self.bytes[id] as f64, self.most.link(id).capacity).seconds()
    }

    /// Returns the longest time that any shared link needs for its bytes \[s\].
    pub(super) fn busiest_s(&self) -> f64 {
        // A link that messages do not share bounds nothing.
        let shared = self.bytes.iter_ids().filter(|&(id, _)| !self.fabric.is_own(id));
        shared.map(|(id, _)| self.load_s(id)).fold(0.0, f64::max)
    }
}

impl<'a> IntoIterator for &'a LinkUses {
    type Item = LinkUse;
    type IntoIter = Box<dyn Iterator<Item = LinkUse> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl PartialEq for LinkUses {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for LinkUses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
