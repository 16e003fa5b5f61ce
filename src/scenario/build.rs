//! From specifications to what can be run: fabric, routes, pattern, placement, and whether they go together.

use std::sync::Arc;

use super::estimated::estimated;
use super::read::{Section, Sections};
use super::slow::slowed;
use super::{Scenario, guard, paths};
use crate::base::Arrange;
use crate::diagnostic::{At, Diagnostic, Invalid, Sources, Span};
use crate::fabric::Fabric;
use crate::faults::{Faults, FaultsSpec};
use crate::ids::{Id, NodeId, RankId};
use crate::network::{Network, NetworkParts, Part, of_moves};
use crate::pattern::{Ground, Pattern, PatternSpec};
use crate::placement::{PlacementSpec, RegularSpec};
use crate::routing::{Router, RoutingSpec, may_lack_routes};
use crate::simulation::PatternWork;
use crate::steady::OnFabric;
use crate::system::WorkloadSpec;
use crate::system::{System, Written};
use crate::topology::TopologySpec;
use crate::transport::TransportSpec;

/// A fabric with its routes.
#[derive(Clone, Debug)]
pub struct RoutedFabric {
    /// What was written.
    pub topology: TopologySpec,
    /// The fabric.
    pub fabric: Arc<Fabric>,
    /// The routing rule.
    pub routing: RoutingSpec,
    /// The routes.
    pub router: Arc<dyn Router>,
    /// What fails, if anything does; fabric and routes are those that it has at the start.
    pub faults: Option<Arc<Faults>>,
}

impl RoutedFabric {
    /// What patterns may know of it.
    pub fn ground(&self) -> OnFabric<'_> {
        OnFabric { fabric: &self.fabric, router: &*self.router }
    }

    /// It with a rank on each node in order and exact max-min fairness between flows.
    pub fn network(&self) -> Network {
        let parts = NetworkParts::on(Arc::clone(&self.fabric), Arc::clone(&self.router));
        NetworkParts { faults: self.faults.clone(), ..parts }.unchecked()
    }
}

/// A workload for a fabric of some size.
#[derive(Clone, Debug)]
pub struct Workload {
    /// What was written.
    pub workload: PatternSpec,
    /// What ranks send.
    pub pattern: Arc<dyn Pattern>,
}

/// Builds topology and routing, or takes them from where others have built the same.
pub(super) fn routed(
    sections: &Sections,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<RoutedFabric> {
    match &sections.shared {
        Some(shared) => shared.fabric(sections, sources, diagnostics, routed_anew),
        None => routed_anew(sections, sources, diagnostics),
    }
}

fn routed_anew(sections: &Sections, sources: &mut Sources, diagnostics: &mut Vec<Diagnostic>) -> Option<RoutedFabric> {
    if let Section::Is(link, _) = &sections.link {
        diagnostics.extend(link.check());
    }
    let topology = sections.topology.get()?.clone();
    let built = topology.build(sources);
    let fabric = Arc::new(taken(built, sections.topology.span(), diagnostics)?);
    let routing = match &sections.routing {
        Section::Is(routing, _) => routing.clone(),
        Section::Absent => RoutingSpec::default_for(&fabric),
        Section::Broken => return None,
    };
    let router = taken(routing.build_from(&fabric, seed(sections), sources), sections.routing.span(), diagnostics)?;
    let (spec, at) = match &sections.faults {
        Section::Is(spec, at) => (spec.clone(), Some(*at)),
        Section::Absent => (FaultsSpec::default(), sections.topology.span()),
        Section::Broken => return None,
    };
    if fabric.timetable().is_none() && spec.is_nothing() && !spec.says_anything() {
        return Some(RoutedFabric { topology, fabric, routing, router, faults: None });
    }
    let faults = Arc::new(taken(Faults::build(&spec, &fabric, (&routing, &router), seed(sections)), at, diagnostics)?);
    let (fabric, router) = (Arc::clone(faults.at_start()), Arc::clone(faults.router()));
    Some(RoutedFabric { topology, fabric, routing, router, faults: Some(faults) })
}

/// Builds the workload for a fabric.
pub(super) fn work(
    sections: &Sections,
    ground: &dyn Ground,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Workload> {
    let workload = match &sections.workload {
        Section::Is(WorkloadSpec::Pattern(pattern), _) => pattern.clone(),
        Section::Is(WorkloadSpec::Program(_), at) => {
            let diagnostic =
                Diagnostic::new("wrong-choice", "this workload is a program, and a pattern is needed here");
            diagnostics
                .push(diagnostic.at(*at).label("a program").help("`hayase run` and `hayase replay` play programs"));
            return None;
        }
        Section::Is(WorkloadSpec::Farm(_), at) => {
            let message = "this workload is a master with its workers, and a pattern is needed here";
            let diagnostic = Diagnostic::new("wrong-choice", message).at(*at).label("a farm");
            diagnostics.push(diagnostic.help("`hayase run`, `hayase compare` and `hayase master-slave` run farms"));
            return None;
        }
        Section::Absent | Section::Broken => return None,
    };
    let built = workload.build(ground, seed(sections), sources);
    let pattern = taken(built, sections.workload.span(), diagnostics)?;
    Some(Workload { workload, pattern })
}

/// Puts so many ranks on a fabric, and checks that what moves their messages goes with it. Without a placement ranks
/// are in order; `at` is what is marked if they do not fit.
pub(super) fn placed(
    routed: RoutedFabric,
    sections: &Sections,
    ranks: u32,
    at: Option<Span>,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<System> {
    let RoutedFabric { topology, fabric, routing, router, faults } = routed;
    let (placement, at) = match &sections.placement {
        Section::Is(placement, at) => (placement.clone(), Some(*at)),
        Section::Absent => (PlacementSpec::Regular(RegularSpec {}), at),
        Section::Broken => return None,
    };
    let built = placement.build(ranks, &fabric, seed(sections), sources);
    let network = NetworkParts {
        placement: taken(built, at, diagnostics)?,
        sharing: sections.sharing.get().cloned().unwrap_or_default(),
        transport: sections.transport.get().cloned().unwrap_or_default(),
        resolution: sections.resolution.get().map(|time| **time).unwrap_or_default(),
        fabric,
        router,
        faults,
    }
    .unchecked();
    check_network(&network, sections, diagnostics);
    let faults = sections.faults.get().cloned();
    let (topology, routing, placement) = (Some(topology), Some(routing), Some(placement));
    let mut written = Written { topology, routing, placement, joint: None, faults, files: Vec::new() };
    paths::settle(&mut written, sources);
    Some(System::built(Some(network), written, seed(sections)))
}

/// Notes what moves messages and does not go with the fabric and its routes, at the section that says it.
pub(super) fn check_network(network: &Network, sections: &Sections, diagnostics: &mut Vec<Diagnostic>) {
    note_misfits(network.misfits(), sections, diagnostics);
}

fn note_misfits(misfits: Vec<(Part, Diagnostic)>, sections: &Sections, diagnostics: &mut Vec<Diagnostic>) {
    for (part, diagnostic) in misfits {
        let span = match part {
            Part::Faults => sections.faults.span().or(sections.topology.span()),
            Part::Placement => sections.placement.span(),
            Part::Resolution => sections.resolution.span(),
            Part::Routing => sections.routing.span(),
            Part::Sharing => sections.sharing.span(),
            Part::Transport => sections.transport.span(),
        };
        diagnostics.extend(at_section(vec![diagnostic], span));
    }
}

/// Refuses sections that are about a fabric where there is none.
pub(super) fn check_without_topology(sections: &Sections, diagnostics: &mut Vec<Diagnostic>) {
    let tables = [
        ("routing", sections.routing.span()),
        ("placement", sections.placement.span()),
        ("sharing", sections.sharing.span()),
        ("transport", sections.transport.span()),
        ("faults", sections.faults.span()),
    ];
    for (name, at) in tables.into_iter().filter_map(|(name, at)| Some((name, at?))) {
        let message = format!("without a topology there is nothing that `{name}` could be about");
        diagnostics
            .push(Diagnostic::new("wrong-choice", message).at(at).help("name a topology with -t, or leave it out"));
    }
}

/// What is wrong with how messages move, whatever the fabric.
pub(super) fn check_transport(sections: &Sections, diagnostics: &mut Vec<Diagnostic>) {
    note_misfits(of_moves(sections.sharing.get(), sections.transport.get()), sections, diagnostics);
}

/// The size of large packets follows from that of messages, which is known of patterns before they are played.
pub(super) fn check_packets(sections: &Sections, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(TransportSpec::Packet(spec)) = sections.transport.get()
        && let Some(packets) = &spec.packets_per_message
    {
        let message = "how large packets are with so many a message is known for patterns only";
        let diagnostic = Diagnostic::new("unused-option", message).at_value(packets).label("of no use here");
        diagnostics.push(diagnostic.help("write `packet-size`, the size itself"));
    }
}

/// Builds it all.
pub(super) fn scenario(
    sections: &Sections,
    mut sources: Sources,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Scenario<PatternWork>, Invalid> {
    check_transport(sections, &mut diagnostics);
    check_node(sections, &mut diagnostics);
    let routed = routed(sections, &mut sources, &mut diagnostics);
    let work = routed.as_ref().and_then(|routed| work(sections, &routed.ground(), &mut sources, &mut diagnostics));
    let scenario = routed.zip(work).and_then(|(routed, work)| {
        let at = sections.workload.span();
        let system = placed(routed, sections, work.pattern.ranks(), at, &mut sources, &mut diagnostics)?;
        let system = slowed(system, sections, work.pattern.ranks(), &[], &mut diagnostics);
        let system = estimated(system, sections);
        check_routes(&system, &work, sections, &mut diagnostics);
        let Workload { workload, pattern } = work;
        let traffic = workload.traffic();
        let (injection, jitter) = (*traffic.injection, *traffic.message_jitter);
        let name = workload.title();
        let mut spec = WorkloadSpec::Pattern(workload);
        paths::settle_workload(&mut spec, &sources);
        let work = PatternWork { pattern, name, injection, jitter, spec: Some(spec) };
        if let Some(network) = system.network()
            && diagnostics.is_empty()
        {
            diagnostics.extend(guard::check(network, &work));
        }
        Some(Scenario::read(system, work, Sources::default()))
    });
    let scenario = finish(scenario, sources.clone(), diagnostics)?;
    Ok(Scenario { sources, ..scenario })
}

/// What was built, or all mistakes, in the order in which they stand in the texts.
pub(super) fn finish<T>(built: Option<T>, sources: Sources, mut diagnostics: Vec<Diagnostic>) -> Result<T, Invalid> {
    match built {
        Some(built) if diagnostics.is_empty() => Ok(built),
        _ => {
            if diagnostics.is_empty() {
                // A part that failed without a word of its own.
                diagnostics.push(Diagnostic::new("cannot-build", "this scenario cannot be built"));
            }
            diagnostics.arrange_by_key(|diagnostic| match &diagnostic.at {
                At::Span(span) => (0, span.start),
                At::Place(place) => (1, place.line),
                At::Nowhere => (2, 0),
            });
            diagnostics.dedup();
            Err(Invalid { diagnostics, sources })
        }
    }
}

pub(super) fn seed(sections: &Sections) -> u64 {
    sections.seed.get().copied().unwrap_or(System::SEED)
}

/// What was built; mistakes without a place get that of the section.
pub(super) fn taken<T>(
    built: Result<T, Vec<Diagnostic>>,
    at: Option<Span>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T> {
    match built {
        Ok(built) => Some(built),
        Err(mistakes) => {
            diagnostics.extend(at_section(mistakes, at));
            None
        }
    }
}

/// Mistakes without a place get that of the section.
pub(super) fn at_section(mistakes: Vec<Diagnostic>, at: Option<Span>) -> impl Iterator<Item = Diagnostic> {
    mistakes.into_iter().map(move |mistake| match (&mistake.at, at) {
        (At::Nowhere, Some(span)) => mistake.at(span),
        _ => mistake,
    })
}

/// Patterns know no calls whose ends could cost anything.
fn check_node(sections: &Sections, diagnostics: &mut Vec<Diagnostic>) {
    if let Section::Is(node, span) = &sections.node
        && !node.facts().is_ideal
    {
        let message =
            format!("messages cost nothing at their ends here, and `{}` nodes say what they cost", node.name());
        let help = "leave it out, or use `hayase run`, which plays a pattern as a program";
        diagnostics.push(Diagnostic::new("wrong-choice", message).at(*span).help(help));
    }
    if let Section::Is(_, span) = &sections.collectives {
        let message = "patterns have no collectives that [collectives] could be about";
        let help = "leave it out: the pattern itself says which algorithm it is";
        diagnostics.push(Diagnostic::new("wrong-choice", message).at(*span).help(help));
    }
}

/// Pairs looked at for routes, at most: beyond that only a sample would fit in the time of a look.
const MOST_PAIRS: u64 = 20_000_000;

/// Whether all messages have someone to go to and a way there. Families of fabrics are connected by construction.
pub(super) fn check_routes(system: &System, work: &Workload, sections: &Sections, diagnostics: &mut Vec<Diagnostic>) {
    let (Some(network), pattern) = (system.network(), &work.pattern) else { return };
    let irregular = may_lack_routes(&network.fabric, &*network.router);
    let listed = matches!(work.workload, PatternSpec::File(_));
    if !irregular && !listed {
        return;
    }
    // What fails may come back: then a run says which messages have found no way.
    let comes_back = network.events().is_some();
    let ranks = pattern.ranks();
    let mut looked_at = 0;
    let (mut stray, mut missing) = (Found::default(), Found::default());
    let mut destinations = Vec::new();
    for rank in (0..ranks).map(RankId) {
        let sends = pattern.sends(rank);
        looked_at += u64::from(sends);
        if looked_at > MOST_PAIRS {
            break;
        }
        destinations.clear();
        destinations.extend((0..sends).map(|index| pattern.message(rank, index).dst));
        destinations.sort_unstable();
        destinations.dedup();
        for &dst in &destinations {
            match (network.placement.get(rank), network.placement.get(dst)) {
                (Some(&from), Some(&to)) if dst.0 < ranks => {
                    if irregular && !comes_back && from != to && !network.router.reaches(from, to) {
                        missing.note(from.index() as u32, to.index() as u32);
                    }
                }
                _ => stray.note(rank.0, dst.0),
            }
        }
    }
    if let Some((from, to)) = stray.first {
        let message = format!("rank {from} sends to rank {to}, but there are {ranks} ranks{}", stray.more());
        diagnostics.push(with_span(Diagnostic::new("unknown-rank", message), sections.workload.span()));
    }
    if let Some((from, to)) = missing.first {
        diagnostics.push(no_route(network, sections, [from, to].map(NodeId), &missing.more()));
    }
}

/// Whether there is a route between all ranks, of which it is not known who sends to whom.
pub(super) fn check_all_routes(network: &Network, sections: &Sections, diagnostics: &mut Vec<Diagnostic>) {
    let NetworkParts { fabric, router, placement, .. } = &**network;
    // Then a run says which of its messages have no way.
    if network.faults_concern_runs() {
        return;
    }
    if !may_lack_routes(fabric, &**router) {
        return;
    }
    let pairs = placement.iter().flat_map(|&from| placement.iter().map(move |&to| (from, to)));
    let mut pairs = pairs.take(MOST_PAIRS as usize).filter(|(from, to)| from != to);
    if let Some((from, to)) = pairs.find(|&(from, to)| !router.reaches(from, to)) {
        diagnostics.push(no_route(network, sections, [from, to], ""));
    }
}

/// Returns the mistake of a pair of nodes that messages are sent between and no route leads between.
fn no_route(network: &Network, sections: &Sections, ends: [NodeId; 2], more: &str) -> Diagnostic {
    let [from, to] = ends.map(|node| network.fabric.vertex_name(node.into()));
    let message = format!("there is no route from {from} to {to}{more}");
    if network.fabric.failed().is_some() {
        return with_span(cut_off(message), sections.faults.span());
    }
    let diagnostic = Diagnostic::new("no-route", message).label("messages are sent where no route leads");
    let listed = !network.router.is_total() && network.fabric.routes().is_none();
    match listed {
        true => with_span(diagnostic.help("add a path for this pair to the routing's file"), sections.routing.span()),
        false => {
            let help = "add links or routes to the topology, or place the ranks elsewhere";
            with_span(diagnostic.help(help), sections.topology.span())
        }
    }
}

/// The mistake of work that needs a pair which faults have cut off; the program ends with a code of its own for it.
fn cut_off(message: String) -> Diagnostic {
    let diagnostic = Diagnostic::new("cut-off", message).label("messages are sent where what failed left no way");
    diagnostic.help("let fewer links fail, draw others (another seed), or place the ranks elsewhere")
}

/// The first of several pairs, and how many there are.
#[derive(Default)]
struct Found {
    first: Option<(u32, u32)>,
    count: u64,
}

impl Found {
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

pub(super) fn with_span(diagnostic: Diagnostic, span: Option<Span>) -> Diagnostic {
    match span {
        Some(span) => diagnostic.at(span),
        None => diagnostic,
    }
}
