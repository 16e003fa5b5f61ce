//! `hayase topology`: lists, shows and compares fabrics.

use std::collections::BTreeMap;
use std::io::{self, Write};

use clap::{Args, Subcommand};

use super::files::names;
use super::listing::{ListArgs, Listing};
use super::options::{Offer, OutputArgs};
use super::scenario::{FabricArgs, TextArgs};
use super::{End, Failure, Voice, progress, topology_compare};
use hayase::diagnostic::Invalid;
use hayase::fabric::{Fabric, LinkRole};
use hayase::ids::VertexId;
use hayase::report::FaultsReport;
use hayase::scenario::library::Shelf;
use hayase::scenario::{Loader, RoutedFabric};
use hayase_output::svg::{self, FabricOptions};
use hayase_output::table::{self, Answer, Cell, Grid, Quantity, grouped};
use hayase_output::{dot, fabric_csv, fabric_json};

/// `hayase topology`.
#[derive(Subcommand, Debug)]
pub enum TopologyVerb {
    /// List the named topologies.
    List(ListArgs),
    /// Show one topology: its size, links and bounds, or a drawing.
    #[command(after_help = "\
Examples:
  hayase topology show torus-8x8
  hayase topology show fat-tree-3456 -o tree.svg
  hayase topology show my-fabric.toml -o fabric.dot -o fabric.json
  hayase topology show dragonfly-72 --faults 5% -o faults.svg

You supply: my-fabric.toml (a [topology.*] table)

Files (-o), by name:
  x.svg    a drawing
  x.dot    for Graphviz (also x.gv)
  x.json   all nodes, switches and links, for networkx
  x.csv    all links, for [topology.custom]")]
    Show(TopologyShowArgs),
    /// Compare fabrics: size, cables, cost, distances, bisection, throughput, resilience.
    #[command(after_help = topology_compare::EXAMPLES)]
    Compare(topology_compare::TopologyCompareArgs),
    /// Write the forwarding tables of a routing rule.
    #[command(after_help = super::routes::EXAMPLES)]
    Routes(super::routes::RoutesArgs),
}

/// `hayase topology show`.
#[derive(Args, Debug)]
pub struct TopologyShowArgs {
    /// The fabric: a name (`hayase list topologies`), a family with its numbers
    /// ("torus:dims=[3,5],bandwidth=1 GB/s"), a TOML file with a [topology.*] table, a graph (.json), an
    /// InfraGraph (.yaml) or a SimGrid platform (.xml).
    #[arg(value_name = "NAME|FILE")]
    pub name: String,
    /// Failures and seed.
    #[command(flatten)]
    pub on: FabricArgs,
    /// Preset and single keys.
    #[command(flatten)]
    pub texts: TextArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Lists the names or shows one of them.
pub fn topology(verb: &TopologyVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        TopologyVerb::List(args) => list(&args.out, voice),
        TopologyVerb::Show(args) => show(args, voice),
        TopologyVerb::Compare(args) => topology_compare::compare(args, voice),
        TopologyVerb::Routes(args) => super::routes::routes(args, voice),
    }
}

fn list(out: &OutputArgs, voice: Voice) -> Result<End, Failure> {
    out.begin(&Listing::offer("topology list"))?;
    let mut all = Vec::new();
    for named in Shelf::Topologies.all() {
        let fabric = Loader::new().topology(named.name).load_topology()?.fabric;
        let counts = [u64::from(fabric.nodes()), u64::from(fabric.switches()), fabric.links().len() as u64];
        let each = || fabric.links().iter().map(|link| link.capacity);
        let bandwidths = [each().min(), each().max()].map(Option::unwrap_or_default);
        all.push((named.name, counts, bandwidths, named.description()));
    }
    let rows = || {
        all.iter().map(|(name, [nodes, switches, links], [least, most], what)| {
            let [least, most] = [least, most].map(|bandwidth| bandwidth.bytes_per_second().into());
            let counts = [nodes, switches, links].map(|count| (*count).into());
            [[(*name).into()].as_slice(), &counts, &[least, most, what.as_str().into()]].concat()
        })
    };
    let columns = ["name", "nodes", "switches", "links", "least_bps", "most_bps", "description"];
    Listing::new(&columns, rows).answer(out, || {
        let mut grid = Grid::new().text("name").number("nodes").number("switches").number("links");
        grid = grid.text("bandwidth").text("what it is");
        for (name, counts, [least, most], what) in &all {
            let bandwidth = if least == most { most.to_string() } else { format!("{least} to {most}") };
            let row = std::iter::once((*name).to_owned()).chain(counts.map(grouped)).chain([bandwidth]);
            grid.row_with_sentence(row, what);
        }
        grid.into()
    })?;
    voice.hint("`hayase show NAME` shows a topology, `hayase show NAME -o x.svg` draws it");
    Ok(End::Done)
}

const OFFER: Offer<&str> =
    Offer::new("topology show", names!["x.svg", "x.dot" | "x.gv", "x.json", "x.csv"]).on_one_thread();

fn show(args: &TopologyShowArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let loader = Loader::new().topology(&args.name).on_read(progress::reading(voice.show));
    let network = args.texts.on(args.on.on(loader)).load_topology()?;
    let fabric = &*network.fabric;
    // A changed fabric no longer has the name.
    let named = Shelf::Topologies.get(&args.name).map(|named| named.name).filter(|_| args.texts.keys.set.is_empty());
    let page = page(named, &network)?;
    args.out.deliver(
        args.out.open(&OFFER)?,
        || page,
        &(),
        &[
            ("x.svg", &|w| draw(fabric, named, w, voice)),
            ("x.dot", &|w| w.write_all(dot::write(fabric).as_bytes())),
            ("x.json", &|w| fabric_json::write(fabric, w)),
            ("x.csv", &|w| fabric_csv::write(fabric, w)),
        ],
    )?;
    Ok(End::Done)
}

/// Describes a fabric for a terminal.
fn page(name: Option<&str>, network: &RoutedFabric) -> Result<Answer, Invalid> {
    let fabric = &*network.fabric;
    let mut text = Answer::new();
    text.push_str(&format!("{}\n", table::printable(&fabric.to_string())));
    if let Some(named) = name.and_then(|name| Shelf::Topologies.get(name)) {
        text.push_str(&format!("{}\n", named.description()));
    }
    text.push_str("\n");
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<18}{value}\n"));
    line("nodes", grouped(fabric.nodes().into()));
    line("switches", grouped(fabric.switches().into()));
    if let Some(groups) = fabric.groups() {
        line("groups", in_groups(fabric, groups));
    }
    line("links", format!("{}, each in one direction", grouped(fabric.links().len() as u64)));
    if let Some(diameter) = fabric.diameter() {
        line("diameter", format!("{diameter} links between the nodes furthest apart"));
    }
    if let Some(bisection) = fabric.bisection() {
        let per_node = bisection.bandwidth.bytes_per_second() / f64::from(bisection.senders());
        let (at_most, at_least) = if bisection.is_least { ("", "") } else { ("at most ", "at least ") };
        let bandwidth = bisection.bandwidth;
        line("bisection", format!("{at_most}{bandwidth} each way, {} per node", table::bandwidth(per_node)));
        if let Some(factor) = fabric.oversubscription() {
            line("oversubscription", format!("{at_least}{} : 1", table::fixed(factor, 2)));
        }
    }
    if let Some(faults) = &network.faults {
        for (name, what) in table::failed(&FaultsReport::new(faults, None)) {
            line(name, what);
        }
    }
    text.push_str("\n");
    text.table(links(fabric));
    Ok(text)
}

/// Returns text such as `9 of 4 switches; 1 link from each to each other`.
fn in_groups(fabric: &Fabric, groups: &[u32]) -> String {
    let count = groups.iter().max().map_or(0, |&most| u64::from(most) + 1);
    let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
    groups.iter().for_each(|&group| *sizes.entry(group).or_default() += 1);
    let mut between: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let group = |vertex: VertexId| vertex.0.checked_sub(fabric.nodes()).map(|switch| groups[switch as usize]);
    let left = fabric.links().iter_ids().filter(|(id, _)| !fabric.has_failed(*id));
    for (from, to) in left.filter_map(|(_, link)| link.ends) {
        if let (Some(from), Some(to)) = (group(from), group(to))
            && from != to
        {
            *between.entry((from, to)).or_default() += 1;
        }
    }
    let range = |values: &mut dyn Iterator<Item = u64>| {
        let (least, most) = values.fold((u64::MAX, 0), |(least, most), value| (least.min(value), most.max(value)));
        if least >= most { grouped(most) } else { format!("{} to {}", grouped(least), grouped(most)) }
    };
    let missing = (between.len() as u64) < count * (count - 1);
    let links = range(&mut between.into_values().chain(missing.then_some(0)));
    let plural = if links == "1" { "" } else { "s" };
    let of = range(&mut sizes.into_values());
    match count {
        1 => format!("1 of {of} switches"),
        _ => format!("{} of {of} switches; {links} link{plural} from each to each other", grouped(count)),
    }
}

/// Draws a fabric with its name, if any; reports if parts are left out.
fn draw(fabric: &Fabric, name: Option<&str>, w: &mut dyn Write, voice: Voice) -> io::Result<()> {
    let options = FabricOptions { title: name.map(str::to_owned), ..FabricOptions::default() };
    let drawing = svg::fabric(fabric, &options);
    if let Some(note) = &drawing.note {
        voice.hint(note);
    }
    w.write_all(drawing.svg.as_bytes())
}

/// Returns a table of the remaining links by role.
fn links(fabric: &Fabric) -> Grid {
    // Role, capacity and latency as bits, which sort correctly because none is negative.
    let mut kinds: BTreeMap<(u16, u64, u64), u64> = BTreeMap::new();
    for (_, link) in fabric.links().iter_ids().filter(|(id, _)| !fabric.has_failed(*id)) {
        let role = match link.role {
            LinkRole::Injection => 0,
            LinkRole::Network { tier } => 1 + u16::from(tier),
            LinkRole::Ejection => u16::MAX,
        };
        let key = (role, link.capacity.bytes_per_second().to_bits(), link.latency.ps().to_bits());
        *kinds.entry(key).or_default() += 1;
    }
    let mut grid = Grid::new().text("links").number("count").quantity("capacity", Quantity::Bandwidth).time("latency");
    for ((role, capacity, latency), count) in &kinds {
        let name = match *role {
            0 => "node into network".to_owned(),
            u16::MAX => "network to node".to_owned(),
            tier => fabric.family().tier_name((tier - 1) as u8),
        };
        let latency = hayase::units::Time::from_ps(f64::from_bits(*latency)).seconds();
        grid.row([Cell::from(name), (*count).into(), f64::from_bits(*capacity).into(), latency.into()]);
    }
    grid
}
