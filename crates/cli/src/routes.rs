//! `hayase topology routes`: the forwarding tables of a routing rule.

use clap::Args;
use serde_json::json;

use super::files::names;
use super::options::{Format, Offer, OutputArgs, Writes};
use super::scenario::{FabricArgs, SetArgs};
use super::{End, Failure, Voice, progress};
use hayase::diagnostic::{Invalid, Sources};
use hayase::ids::{IdVec, LinkId, NodeId};
use hayase::routing::Forwarding;
use hayase::scenario::{Loader, RoutedFabric};
use hayase_output::table::{self, Answer, fixed, grouped};

/// Examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  hayase topology routes fat-tree-54 --routing dfsssp -o tables.csv
  hayase topology routes dragonfly.toml --routing up-down --set 'routing.up-down.roots=[\"g0.r0\"]'
  hayase run -t fat-tree-54 -p all-to-all-simple-spread --routing tables:tables.csv

You supply: dragonfly.toml (a file with a [topology.*] table), tables:tables.csv (from the first example)

Only rules that depend on the destination alone have tables: dfsssp, min-hop, up-down, d-mod-k, shortest-path ...

Files (-o), by name:
  x.csv   the tables: switch,link,destinations
  x.json  the printed figures";

/// `hayase topology routes`.
#[derive(Args, Debug)]
pub struct RoutesArgs {
    /// The fabric: a name (`hayase list topologies`), a family with its numbers
    /// ("torus:dims=[3,5],bandwidth=1 GB/s"), a TOML file with a [topology.*] table, a graph (.json), an
    /// InfraGraph (.yaml) or a SimGrid platform (.xml).
    #[arg(value_name = "NAME|FILE")]
    pub name: String,
    /// The routing rule (default: the usual one of the fabric).
    #[arg(long, value_name = "RULE")]
    pub routing: Option<String>,
    /// Failures and seed.
    #[command(flatten)]
    pub on: FabricArgs,
    /// Single keys.
    #[command(flatten)]
    pub keys: SetArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

const OFFER: Offer<&str> = Offer::new("topology routes", names!["x.csv", "x.json"]);

/// Builds the tables, writes them and prints their figures.
pub fn routes(args: &RoutesArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let loader = Loader::new().topology(&args.name).on_read(progress::reading(voice.show));
    let loader = args.routing.iter().fold(loader, |loader, rule| loader.routing(rule));
    let network = args.keys.on(args.on.on(loader)).load_topology()?;
    let tables = Forwarding::of(&*network.router, &network.fabric)
        .map_err(|diagnostics| Invalid { diagnostics, sources: Sources::default() })?;
    let files = args.out.open(&OFFER)?;
    // Not needed if only the tables are written.
    let needs_figures = args.out.format != Format::Csv || files.iter().any(|(name, _)| *name == "x.json");
    let figures = if needs_figures { Figures::of(&network) } else { Figures::default() };
    let answer = json!({
        "fabric": network.fabric.to_string(),
        "routing": network.routing.name(),
        "entries": tables.entries(),
        "pairs": figures.pairs,
        "pairs_without_route": figures.cut_off,
        "links_mean": figures.links as f64 / (figures.pairs.max(1)) as f64,
        "links_most": figures.longest,
        "routes_most": figures.busiest.map(|(_, routes)| routes),
        "busiest_link": figures.busiest.map(|(link, _)| network.fabric.link_name(link)),
    });
    let csv: Writes<'_> = &|w| tables.write(std::io::BufWriter::new(w));
    args.out.deliver(files, || page(&network, &tables, &figures), &answer, &[("x.csv", csv)])?;
    Ok(End::Done)
}

/// Figures of a set of routes.
#[derive(Default)]
struct Figures {
    /// Number of pairs with a route, and without.
    pairs: u64,
    cut_off: u64,
    /// Number of links of all routes together, and of the longest route.
    links: u64,
    longest: u64,
    /// Link inside the network with the most routes.
    busiest: Option<(LinkId, u64)>,
}

impl Figures {
    fn of(network: &RoutedFabric) -> Self {
        let RoutedFabric { fabric, router, .. } = network;
        let mut counts: IdVec<LinkId, u64> = IdVec::filled(fabric.links().len(), 0);
        let mut figures = Self::default();
        let mut route = Vec::new();
        for (src, dst) in fabric.node_ids().flat_map(|src| fabric.node_ids().map(move |dst: NodeId| (src, dst))) {
            if src == dst {
                continue;
            }
            if !router.reaches(src, dst) {
                figures.cut_off += 1;
                continue;
            }
            route.clear();
            router.route(src, dst, &mut route);
            figures.pairs += 1;
            figures.links += route.len() as u64;
            figures.longest = figures.longest.max(route.len() as u64);
            route.iter().for_each(|&link| counts[link] += 1);
        }
        let network = |link: &LinkId| matches!(fabric.link(*link).role, hayase::fabric::LinkRole::Network { .. });
        for link in fabric.links().ids().filter(network) {
            if figures.busiest.is_none_or(|(_, most)| counts[link] > most) {
                figures.busiest = Some((link, counts[link]));
            }
        }
        figures
    }
}

/// Returns the figures for a terminal.
fn page(network: &RoutedFabric, tables: &Forwarding, figures: &Figures) -> Answer {
    let mut text = Answer::new();
    let title = format!("{}, routing {}", network.fabric, network.routing.name());
    text.push_str(&format!("{}\n\n", table::printable(&title)));
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<16}{value}\n"));
    line("entries", grouped(tables.entries()));
    line("routes", grouped(figures.pairs));
    if figures.cut_off > 0 {
        line("without route", format!("{} pairs", grouped(figures.cut_off)));
    }
    let mean = figures.links as f64 / figures.pairs.max(1) as f64;
    line("links", format!("{} on average, at most {}", fixed(mean, 4), figures.longest));
    if let Some((link, routes)) = figures.busiest {
        let name = network.fabric.link_name(link);
        line("busiest link", format!("{} with {} routes", table::printable(&name), grouped(routes)));
    }
    text
}
