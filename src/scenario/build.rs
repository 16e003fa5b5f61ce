//! From specifications to fabric, routes, pattern and placement, with the checks that they fit together.

use std::sync::Arc;

use super::links::LinkSpec;
use super::notes::Notes;
use super::read::Sections;
use super::routed::{RoutedFabric, Workload};
use super::section::Section;
use super::{Scenario, guard, paths, shared};
use crate::diagnostic::{Diagnostic, Invalid, Sources, Span};
use crate::fabric::Fabric;
use crate::faults::{Faults, FaultsSpec};
use crate::ids::{Id, MessageId, NodeId, RankId};
use crate::network::{Network, NetworkParts, Part, transport_mistakes};
use crate::pattern::{FabricInfo, PatternSpec};
use crate::placement::{Placement, PlacementSpec, RegularSpec};
use crate::routing::{RoutingSpec, may_lack_routes};
use crate::simulation::{PatternWork, Simulated};
use crate::steady::OnFabric;
use crate::system::{ProgramSpec, WorkloadSpec};
use crate::system::{Specifications, System};
use crate::transport::TransportSpec;

impl Workload {
    /// Returns the pattern as work, with its specification.
    pub(super) fn into_work(self, sources: &Sources) -> PatternWork {
        let Self { workload, pattern } = self;
        let (traffic, name) = (workload.traffic(), workload.title());
        let spec = Some(paths::settled(WorkloadSpec::Pattern(workload), sources));
        let (jitter, barrier_cost) = (*traffic.message_jitter, *traffic.barrier_cost);
        PatternWork { pattern, name, injection: *traffic.injection, jitter, barrier_cost, spec }
    }
}

impl Sections {
    /// Returns the seed of everything random.
    pub fn seed(&self) -> u64 {
        self.seed.get().copied().unwrap_or(System::SEED)
    }

    /// Builds topology and routing, or takes them from another scenario with the same ones.
    pub fn routed(&self, notes: &mut Notes) -> Option<RoutedFabric> {
        let Some(shared) = &self.shared else { return self.build_routed(notes) };
        let mut written = Specifications {
            topology: self.topology.get().cloned(),
            routing: self.routing.get().cloned(),
            faults: self.faults.get().cloned(),
            ..Specifications::default()
        };
        let is_broken = self.topology.is_broken() || self.routing.is_broken() || self.faults.is_broken();
        if written.topology.is_none() || is_broken {
            return self.build_routed(notes);
        }
        paths::settle(&mut written, &notes.sources);
        let Specifications { topology, routing, faults, .. } = &written;
        // The default rule of a fabric may use random numbers, too.
        let drawn = routing.as_ref().is_none_or(RoutingSpec::depends_on_seed)
            || faults.as_ref().is_some_and(|faults| faults.depends_on_seed());
        let key = shared::key(&(topology, routing, faults, &self.link, drawn.then(|| self.seed())));
        shared.fabrics.get(key, notes, &mut |notes| self.build_routed(notes))
    }

    fn build_routed(&self, notes: &mut Notes) -> Option<RoutedFabric> {
        notes.diagnostics.extend(self.link.get().and_then(LinkSpec::check));
        let (topology, seed) = (self.topology.get()?.clone(), self.seed());
        let fabric = Arc::new(notes.build(self.topology.span(), |sources| topology.build(sources))?);
        let routing = self.routing.or(|| RoutingSpec::default_for(&fabric))?;
        let router = notes.build(self.routing.span(), |sources| routing.build_from(&fabric, seed, sources))?;
        let spec = self.faults.or(FaultsSpec::default)?;
        if fabric.timetable().is_none() && spec.is_nothing() && !spec.is_given() {
            return Some(RoutedFabric { topology, fabric, routing, router, faults: None });
        }
        let built = Faults::build(&spec, &fabric, (&routing, &router), seed);
        let faults = Arc::new(notes.taken(built, self.faults.span().or(self.topology.span()))?);
        let (fabric, router) = (Arc::clone(faults.at_start()), Arc::clone(faults.router()));
        Some(RoutedFabric { topology, fabric, routing, router, faults: Some(faults) })
    }

    /// Builds the workload for a fabric.
    pub fn work(&self, ground: &dyn FabricInfo, notes: &mut Notes) -> Option<Workload> {
        let Section::Is(workload, at) = &self.workload else { return None };
        let (what, label, help) = match workload {
            WorkloadSpec::Pattern(workload) => {
                let pattern = notes.build(Some(*at), |sources| workload.build(ground, self.seed(), sources))?;
                return Some(Workload { workload: workload.clone(), pattern });
            }
            WorkloadSpec::Program(_) => ("a program", "a program", "`hayase run` and `hayase replay` play programs"),
            WorkloadSpec::Farm(_) => {
                let help = "`hayase run`, `hayase compare` and `hayase master-slave` run farms";
                ("a master with its workers", "a farm", help)
            }
        };
        let message = format!("this workload is {what}, and a pattern is needed here");
        notes.push(Diagnostic::new("wrong-choice", message).at(*at).label(label).help(help));
        None
    }

    /// Builds the workload for a fabric with its routes. A workload that knows the fabric also knows the nodes of its
    /// ranks.
    pub fn work_on(&self, routed: &RoutedFabric, notes: &mut Notes) -> Option<Workload> {
        let mut placement = None;
        if let Section::Is(WorkloadSpec::Pattern(workload), at) = &self.workload
            && workload.knows_fabric()
            && let ranks =
                workload.ranks().unwrap_or(routed.fabric.nodes().saturating_mul(self.per_node(&routed.fabric)))
            && ranks > 0
        {
            placement = Some(self.placement(routed, ranks, Some(*at), notes)?.1);
        }
        let places = placement.as_ref().map(Placement::as_slice);
        self.work(&OnFabric { places, per_node: self.per_node(&routed.fabric), ..routed.ground() }, notes)
    }

    fn placement(
        &self,
        routed: &RoutedFabric,
        ranks: u32,
        at: Option<Span>,
        notes: &mut Notes,
    ) -> Option<(PlacementSpec, Placement)> {
        let spec = self.placement.or(|| PlacementSpec::Regular(RegularSpec {}))?;
        let at = self.placement.span().or(at);
        let per_node = self.per_node(&routed.fabric);
        let placement =
            notes.build(at, |sources| spec.build((ranks, per_node), &routed.fabric, self.seed(), sources))?;
        Some((spec, placement))
    }

    /// Returns the largest number of ranks on a node: of a training step the GPUs of a node, unless the fabric's nodes
    /// are GPUs.
    pub fn per_node(&self, fabric: &Fabric) -> u32 {
        let gpus = || match &self.workload {
            Section::Is(WorkloadSpec::Program(ProgramSpec::Llm(spec)), _) => {
                let are_nodes = fabric.family().facts().1.iter().any(|(name, _)| *name == "gpus");
                spec.gpu.as_ref().filter(|_| !are_nodes).and_then(|gpu| u32::try_from(gpu.per_node).ok())
            }
            _ => None,
        };
        self.ranks_per_node.get().map(|per_node| per_node.get()).or_else(gpus).unwrap_or(1)
    }

    /// Places `ranks` ranks on a fabric, and checks that transport and policy fit it. By default ranks are in
    /// order. Mistakes are shown at `at` if the ranks do not fit.
    pub fn place(&self, routed: RoutedFabric, ranks: u32, at: Option<Span>, notes: &mut Notes) -> Option<System> {
        let (spec, placement) = self.placement(&routed, ranks, at, notes)?;
        let per_node = self.per_node(&routed.fabric);
        let written = Specifications { placement: Some(spec), per_node, ..Specifications::default() };
        Some(self.on_network(routed, placement, written, notes))
    }

    /// Builds and checks the network of this fabric with ranks on it.
    pub fn on_network(
        &self,
        routed: RoutedFabric,
        placement: Placement,
        written: Specifications,
        notes: &mut Notes,
    ) -> System {
        let RoutedFabric { topology, fabric, routing, router, faults } = routed;
        let network = NetworkParts {
            placement,
            sharing: self.sharing.get().cloned().unwrap_or_default(),
            transport: self.transport.get().cloned().unwrap_or_default(),
            resolution: self.resolution.get().map(|time| **time).unwrap_or_default(),
            fabric,
            router,
            faults,
            plan: None,
        }
        .unchecked();
        self.note_misfits(network.misfits(), notes);
        let (topology, routing) = (Some(topology), Some(routing));
        let mut written = Specifications { topology, routing, faults: self.faults.get().cloned(), ..written };
        paths::settle(&mut written, &notes.sources);
        System::built(Some(network), written, self.seed())
            .with_symmetry(self.symmetry.get().copied().unwrap_or_default())
    }

    fn note_misfits(&self, misfits: Vec<(Part, Diagnostic)>, notes: &mut Notes) {
        for (part, diagnostic) in misfits {
            let span = match part {
                Part::Faults => self.faults.span().or(self.topology.span()),
                Part::Placement => self.placement.span(),
                Part::Resolution => self.resolution.span(),
                Part::Routing => self.routing.span(),
                Part::Sharing => self.sharing.span(),
                Part::Transport => self.transport.span(),
            };
            notes.extend_at([diagnostic], span);
        }
    }

    /// Refuses sections about a fabric if there is no fabric.
    pub fn check_without_topology(&self, notes: &mut Notes) {
        let tables = [
            ("routing", self.routing.span()),
            ("placement", self.placement.span()),
            ("sharing", self.sharing.span()),
            ("transport", self.transport.span()),
            ("faults", self.faults.span()),
        ];
        for (name, at) in tables.into_iter().filter(|(_, at)| at.is_some()) {
            let message = format!("without a topology there is nothing that `{name}` could be about");
            notes.refuse(message, at, "name a topology with -t, or leave it out");
        }
    }

    /// Notes mistakes in how messages move that do not depend on the fabric.
    pub fn check_transport(&self, notes: &mut Notes) {
        self.note_misfits(transport_mistakes(self.sharing.get(), self.transport.get()), notes);
    }

    /// Refuses a number of packets per message, because message sizes are known in advance only for patterns.
    pub fn check_packets(&self, notes: &mut Notes) {
        if let Some(TransportSpec::Packet(spec)) = self.transport.get()
            && let Some(packets) = &spec.packets_per_message
        {
            let message = "`packets-per-message` works for patterns only";
            let diagnostic = Diagnostic::new("unused-option", message).at_value(packets).label("of no use here");
            notes.push(diagnostic.help("write `packet-size`, the size itself"));
        }
    }

    /// Builds a pattern on a fabric.
    pub fn pattern(&self, mut notes: Notes) -> Result<Scenario<PatternWork>, Invalid> {
        let found = self.pattern_on_fabric(&mut notes);
        let ((system, work), sources) = notes.finish(found)?;
        Ok(Scenario::read(system, work, sources))
    }

    fn pattern_on_fabric(&self, notes: &mut Notes) -> Option<(System, PatternWork)> {
        self.check_transport(notes);
        self.check_node(notes);
        let routed = self.routed(notes)?;
        let work = self.work_on(&routed, notes)?;
        let ranks = work.pattern.ranks();
        let system = self.place(routed, ranks, self.workload.span(), notes)?;
        let system = self.estimated(self.slowed(system, ranks, &[], notes));
        self.check_routes(&system, &work, notes);
        if let (Some(network), PatternSpec::File(spec), true) = (system.network(), &work.workload, notes.is_clean()) {
            let mistakes = spec.in_paths(network.misplaced_paths(&*work.pattern), &notes.sources);
            notes.extend_at(mistakes, self.workload.span());
        }
        let work = work.into_work(&notes.sources);
        if notes.is_clean() {
            notes.extend_at(work.fits(&system).err(), self.workload.span());
        }
        if let Some(network) = system.network()
            && notes.is_clean()
        {
            notes.diagnostics.extend(guard::check(network, &work));
        }
        Some((system, work))
    }

    /// Refuses nodes and collectives, because patterns have no calls whose ends could cost anything.
    fn check_node(&self, notes: &mut Notes) {
        if let Section::Is(node, span) = &self.node
            && !node.facts().is_ideal
        {
            let message = format!("messages have no costs at nodes here, but `{}` nodes set these", node.name());
            notes.refuse(message, *span, "leave it out, or use `hayase run`, which plays a pattern as a program");
        }
        if let (Section::Is(_, span), None) = (&self.collectives, notes.links.machine_name()) {
            let message = "patterns have no collectives that [collectives] could be about";
            notes.refuse(message, *span, "leave it out: the pattern has an algorithm already");
        }
    }

    /// Checks that all messages have an existing receiver and a route. Families of fabrics are connected by
    /// construction.
    pub fn check_routes(&self, system: &System, work: &Workload, notes: &mut Notes) {
        let (Some(network), pattern) = (system.network(), &work.pattern) else { return };
        let irregular = may_lack_routes(&network.fabric, &*network.router);
        let listed = matches!(work.workload, PatternSpec::File(_));
        if !irregular && !listed {
            return;
        }
        // Failed links may come back, so the run reports messages that found no route.
        let comes_back = network.events().is_some();
        let ranks = pattern.ranks();
        let mut looked_at = 0;
        let (mut stray, mut missing) = (PairCount::default(), PairCount::default());
        let mut destinations = Vec::new();
        for rank in (0..ranks).map(RankId) {
            let sends = pattern.sends(rank);
            looked_at += u64::from(sends);
            if looked_at > MOST_PAIRS {
                break;
            }
            destinations.clear();
            let path = |index| pattern.plan().map_or(&[][..], |plan| plan.path(MessageId { src: rank, index }));
            destinations.extend((0..sends).map(|index| (pattern.message(rank, index).dst, !path(index).is_empty())));
            destinations.sort_unstable();
            destinations.dedup();
            for &(dst, has_path) in &destinations {
                match (network.placement.get(rank), network.placement.get(dst)) {
                    (Some(&from), Some(&to)) if dst.0 < ranks => {
                        if irregular && !has_path && !comes_back && from != to && !network.router.reaches(from, to) {
                            missing.note(from.index() as u32, to.index() as u32);
                        }
                    }
                    _ => stray.note(rank.0, dst.0),
                }
            }
        }
        if let Some((from, to)) = stray.first {
            let message = format!("rank {from} sends to rank {to}, but there are {ranks} ranks{}", stray.more());
            notes.push(Diagnostic::new("unknown-rank", message).at(self.workload.span()));
        }
        if let Some((from, to)) = missing.first {
            notes.push(self.no_route(network, [from, to].map(NodeId), &missing.more()));
        }
    }

    /// Checks that there is a route between all ranks, for work whose messages are not known in advance.
    pub fn check_all_routes(&self, network: &Network, notes: &mut Notes) {
        let NetworkParts { fabric, router, placement, .. } = &**network;
        // With faults during the run, the run reports messages without a route.
        if network.faults_concern_runs() {
            return;
        }
        if !may_lack_routes(fabric, &**router) {
            return;
        }
        let pairs = placement.iter().flat_map(|&from| placement.iter().map(move |&to| (from, to)));
        let mut pairs = pairs.take(MOST_PAIRS as usize).filter(|(from, to)| from != to);
        if let Some((from, to)) = pairs.find(|&(from, to)| !router.reaches(from, to)) {
            notes.push(self.no_route(network, [from, to], ""));
        }
    }

    /// Returns the diagnostic for a pair of nodes that exchange messages without a route.
    fn no_route(&self, network: &Network, ends: [NodeId; 2], more: &str) -> Diagnostic {
        let [from, to] = ends.map(|node| network.fabric.vertex_name(node.into()));
        let message = format!("there is no route from {from} to {to}{more}");
        if network.fabric.failed().is_some() {
            // The program ends with a separate exit code for this.
            let diagnostic = Diagnostic::new("cut-off", message).label("failures leave no route for some messages");
            let help = "let fewer links fail, draw others with another seed, or place the ranks elsewhere";
            return diagnostic.help(help).at(self.faults.span());
        }
        let (help, at) = match !network.router.is_total() && network.fabric.routes().is_none() {
            true => ("add a path for this pair to the routing's file", self.routing.span()),
            false => ("add links or routes to the topology, or place the ranks elsewhere", self.topology.span()),
        };
        Diagnostic::new("no-route", message).label("messages are sent between nodes without a route").help(help).at(at)
    }
}

/// Largest number of pairs whose routes are checked; the remaining ones are skipped.
const MOST_PAIRS: u64 = 20_000_000;

/// The first of several pairs, and their number.
#[derive(Default)]
struct PairCount {
    first: Option<(u32, u32)>,
    count: u64,
}

impl PairCount {
    fn note(&mut self, from: u32, to: u32) {
        self.first.get_or_insert((from, to));
        self.count += 1;
    }

    fn more(&self) -> String {
        match self.count {
            0 | 1 => String::new(),
            2 => " (and one pair more)".to_owned(),
            count => format!(" (and {} pairs more)", count - 1),
        }
    }
}
