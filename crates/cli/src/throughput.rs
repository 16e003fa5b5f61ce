//! `hayase throughput`: how much of their bandwidth nodes can use at once under steady traffic, by counting loads.

use std::num::NonZeroU32;
use std::path::Path;

use clap::Args;
use serde_json::json;

use super::files::unknown;
use super::options::{Offer, OutputArgs};
use super::seeds::seeds;
use super::usage;
use super::{End, Failure, Voice, extension, progress};
use hayase::diagnostic::{Diagnostic, Invalid, Located, Sources, Span};
use hayase::report::FaultsReport;
use hayase::scenario::Loader;
use hayase::system::System;
use hayase::throughput::{self, Throughput, Traffic};
use hayase_output::json;
use hayase_output::table::{self, Answer, Grid, fixed};

const EXAMPLES: &str = "\
Examples:
  hayase throughput -t fat-tree-1024 --traffic bisection --seeds 20
  hayase throughput -t torus-8x8 --traffic uniform --routing spray
  hayase throughput -t dragonfly.toml --traffic adversarial=1 --routing valiant-groups --format json

Yours: dragonfly.toml (a file with a [topology.*] table)

Traffic:
  uniform        every node to all others
  adversarial=K  every node to all nodes of the group K after its own (without groups: of the switch)
  bisection      a random half, each node with one of the other half; throughput is the mean over pairs
  permutation    every node to one other, at random
  x.csv          the messages of a file, src,dst,bytes; the busiest sender uses its whole bandwidth

The load of a link is what crosses it when every node uses its whole bandwidth, over the link's capacity.

Files (-o): x.json";

/// `hayase throughput`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ThroughputArgs {
    /// The fabric: a name (`hayase topology list`), a file with a [topology.*] table, or a SimGrid platform (.xml).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub topology: String,
    /// Who sends to whom: uniform, adversarial=K, bisection, permutation, or a CSV file src,dst,bytes.
    #[arg(long, value_name = "TRAFFIC|FILE", default_value = "uniform")]
    pub traffic: String,
    /// Which way messages go: minimal, ecmp, spray, valiant-groups, valiant-switches, fluid (the best mix of minimal and
    /// Valiant), d-mod-k, s-mod-k, hashed, dimension-order, family, shortest-path, table
    /// (default: what is usual for the fabric).
    #[arg(long, value_name = "RULE")]
    pub routing: Option<String>,
    /// Cables between switches that fail: a part of them, drawn by the seed (1%), or a name; more by --set faults.KEY=...
    #[arg(long, value_name = "PART|NAME")]
    pub faults: Option<String>,
    /// Under `bisection`, both halves send.
    #[arg(long)]
    pub both: bool,
    /// Draw random traffic so many times, from --seed on; throughput is the mean.
    #[arg(long, value_name = "N")]
    pub seeds: Option<NonZeroU32>,
    /// The seed of everything random; of several runs the first.
    #[arg(value_parser = usage::whole::<u64>, long, value_name = "N")]
    pub seed: Option<u64>,
    /// Any key of a scenario file: --set topology.fat-tree.p=4 (may be repeated; the last one holds).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Where results go.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// What a file holds, by its name.
#[derive(Clone, Copy, Debug)]
struct Json;

impl Json {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        if extension(path) == "json" { Ok(Self) } else { Err(unknown(path, "x.json")) }
    }
}

const OFFER: Offer<Json> = Offer {
    verb: "throughput",
    kind: Json::of,
    json: Ok(()),
    csv: Err("a throughput is a few figures; take --format json"),
    threads: true,
};

/// Counts the loads and prints them.
pub fn throughput(args: &ThroughputArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let mut loader = Loader::new().topology(&args.topology).on_read(progress::reading(voice.show));
    if let Some(routing) = &args.routing {
        loader = loader.routing(routing);
    }
    if let Some(seed) = args.seed {
        loader = loader.seed(seed);
    }
    if let Some(faults) = &args.faults {
        loader = loader.faults(faults);
    }
    for assignment in &args.set {
        loader = loader.set("--set", assignment);
    }
    let network = loader.load_topology()?;
    let mut sources = Sources::default();
    let base = sources.add("--traffic", args.traffic.as_str());
    let word = Located::new(args.traffic.clone(), Span::new(base, base + args.traffic.len()));
    let traffic = Traffic::parse(&word, args.both, network.fabric.nodes(), &mut sources);
    let traffic = traffic.map_err(|diagnostics| Invalid { diagnostics, sources })?;
    let first = args.seed.unwrap_or(System::SEED);
    let seeds = seeds(first, args.seeds)?;
    if seeds.len() > 1 && !traffic.is_random() {
        voice.hint("this traffic is not drawn: every seed gives the same");
    }
    let counted = throughput::throughput(&network.fabric, &*network.router, &traffic, seeds)?;
    let mut answer = json!({
        "fabric": network.fabric.to_string(),
        "routing": network.routing.name(),
        "traffic": args.traffic,
        "both": args.both,
        "seed": first,
    });
    let figures = serde_json::to_value(&counted).unwrap_or_default();
    if let (Some(answer), Some(faults)) = (answer.as_object_mut(), &network.faults) {
        let report = FaultsReport::new(faults, None);
        answer.insert("faults".to_owned(), serde_json::to_value(report).unwrap_or_default());
    }
    if let (Some(answer), Some(figures)) = (answer.as_object_mut(), figures.as_object()) {
        answer.extend(figures.clone());
    }
    for (Json, file) in args.out.open(&OFFER)? {
        file.write(|w| json::write(&answer, w))?;
    }
    let title = format!("{}, {}, routing {}", network.fabric, args.traffic, network.routing.name());
    args.out.print(|| page(&title, &traffic, &counted), &answer)?;
    Ok(End::Done)
}

/// What came out, for a terminal.
fn page(title: &str, traffic: &Traffic, counted: &Throughput) -> Answer {
    let mut text = Answer::new();
    text.push_str(&format!("{}\n\n", table::printable(title)));
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<16}{value}\n"));
    let spread = |deviation: f64| format!(" +- {} over {} seeds", fixed(deviation, 4), counted.seeds);
    let meaning = match traffic {
        Traffic::Bisection { .. } => "of the bandwidth of a node, the mean over pairs",
        _ => "of its bandwidth that every node can use",
    };
    let spread = counted.deviation.map_or_else(String::new, spread);
    line("throughput", format!("{}{spread} {meaning}", fixed(counted.throughput, 6)));
    if let Some(slowest) = counted.slowest_pair {
        line("slowest pair", fixed(slowest, 6));
    }
    if let Some(share) = counted.minimal_share {
        line("minimal share", format!("{} of the traffic goes shortest ways", fixed(share, 6)));
    }
    if let Some(bottleneck) = &counted.bottleneck {
        let link = table::printable(&bottleneck.link);
        line("bottleneck", format!("{link} ({}), load {}", bottleneck.kind, fixed(bottleneck.load, 6)));
    }
    text.push_str("\n");
    let mut grid = Grid::new().text("links").number("largest load");
    for (kind, load) in &counted.largest_load {
        grid.row([kind.clone(), fixed(*load, 6)]);
    }
    text.table(grid);
    text
}
