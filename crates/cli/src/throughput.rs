//! `hayase throughput`: share of their bandwidth that nodes can use under steady traffic, by counting loads
//! and by simulation.

use std::num::NonZeroU32;

use clap::Args;
use serde_json::json;

use super::files::names;
use super::options::{Offer, OutputArgs};
use super::play::Onlooker;
use super::runner::Looking;
use super::scenario::{FabricArgs, SetArgs};
use super::seeds::seeds;
use super::{End, Failure, Voice, asked, progress};
use hayase::diagnostic::{Diagnostic, Invalid, Located, Sources, Span};
use hayase::report::FaultsReport;
use hayase::routing::ChoiceKind;
use hayase::scenario::RoutedFabric;
use hayase::steady as throughput;
use hayase::steady::steady;
use hayase::steady::{Steady, SteadyOptions};
use hayase::steady::{Throughput, Traffic};
use hayase::system::System;
use hayase_output::table::{self, Answer, Grid, counted as counted_in_words, fixed};

const EXAMPLES: &str = "\
Examples:
  hayase throughput -t fat-tree-1024 --traffic bisection --seeds 20
  hayase throughput -t torus-8x8 --traffic uniform --routing spray
  hayase throughput -t dragonfly.toml --traffic adversarial=1 --routing valiant-groups --format json
  hayase throughput -t dragonfly-72 --traffic adversarial=1 --routing ugal-l --simulate

You supply: dragonfly.toml (a file with a [topology.*] table)

Traffic:
  uniform        every node to all others
  adversarial=K  every node to all nodes of the group K after its own (without groups: of the
                 switch)
  worst-case     every node to one other: the permutation found that loads a link most
  hot-group=F    a fraction F of all traffic to the nodes of group 0, the rest to all others
  bisection      each node of a random half to one of the other half; throughput is the mean
                 over pairs
  permutation    every node to one other, at random
  x.csv          messages of a file, src,dst,bytes, scaled to the full bandwidth of the busiest sender

The load of a link is its traffic when every node sends at full bandwidth, relative to the
bandwidth of the link.

With --simulate every node keeps --under-way messages under way, as flows with exact max-min
sharing. Adaptive routing rules need it, because they have no loads to count. A bottleneck with m
messages under way on average is idle for about 1/(m + 1) of the time.

Files (-o): x.json";

/// `hayase throughput`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ThroughputArgs {
    /// The fabric: a name (`hayase list topologies`), a family with its numbers
    /// ("torus:dims=[3,5],bandwidth=1 GB/s"), a TOML file with a [topology.*] table or a SimGrid platform
    /// (.xml).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub topology: String,
    /// Traffic between nodes: uniform, adversarial=K, worst-case, hot-group=F, bisection, permutation, or a
    /// CSV file src,dst,bytes.
    #[arg(long, value_name = "TRAFFIC|FILE", default_value = "uniform")]
    pub traffic: String,
    /// Routing rule: minimal, ecmp, spray, valiant-groups, valiant-switches, fluid (the best mix of minimal
    /// and Valiant), d-mod-k, s-mod-k, hashed, dimension-order, random-order, family, shortest-path, table,
    /// min-hop, dfsssp, up-down, tables:FILE, paths:FILE (default: the usual rule of the fabric).
    #[arg(long, value_name = "RULE")]
    pub routing: Option<String>,
    /// Let both halves send under `bisection`.
    #[arg(long)]
    pub both: bool,
    /// Draw random traffic this number of times, starting with --seed; throughput is the mean.
    #[arg(long, value_name = "N")]
    pub seeds: Option<NonZeroU32>,
    /// Failures and seed.
    #[command(flatten)]
    pub on: FabricArgs,
    /// Single keys.
    #[command(flatten)]
    pub keys: SetArgs,
    /// Simulate the traffic too: every node always has messages under way.
    #[arg(long)]
    pub simulate: bool,
    /// Number of messages that each node keeps under way with --simulate (default 64).
    #[arg(long, value_name = "K", requires = "simulate")]
    pub under_way: Option<NonZeroU32>,
    /// Number of measured rounds with --simulate, after half as many for warming up. A round delivers as many
    /// messages as are under way (default 20).
    #[arg(long, value_name = "N", requires = "simulate")]
    pub rounds: Option<NonZeroU32>,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

const OFFER: Offer<&str> =
    Offer::new("throughput", names!["x.json"]).without_csv("a throughput is a few figures; take --format json");

/// Counts the loads and prints the throughput.
pub fn throughput(args: &ThroughputArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let loader = asked::loader().topology(&args.topology).on_read(progress::reading(voice.show));
    let loader = args.routing.iter().fold(loader, |loader, rule| loader.routing(rule));
    let network = args.keys.on(args.on.on(loader)).load_topology()?;
    let mut sources = Sources::default();
    let base = sources.add("--traffic", args.traffic.as_str());
    let word = Located::new(args.traffic.clone(), Span::new(base, base + args.traffic.len()));
    let traffic = Traffic::parse(&word, args.both, network.fabric.nodes(), &mut sources);
    let traffic = traffic.map_err(|diagnostics| {
        let both = sources.add("--both", "--both");
        placed(diagnostics, Span::new(both, both + "--both".len()), sources.clone())
    })?;
    let first = args.on.seed.unwrap_or(System::SEED);
    let seeds = seeds(first, args.seeds)?;
    if seeds.len() > 1 && !traffic.is_random() {
        voice.hint("this traffic is not random: every seed gives the same result");
    }
    let mistaken = |mistake: Diagnostic| {
        // Mistakes of the rule are placed at its option; those of the traffic have other codes.
        let (flag, text) = match (&args.routing, args.keys.set.iter().find(|set| set.starts_with("routing"))) {
            (Some(rule), _) => ("--routing", rule),
            (None, Some(set)) => ("--set", set),
            (None, None) => ("--topology", &args.topology),
        };
        let mut sources = sources.clone();
        let mut typed = |flag: &str, text: &str| {
            let base = sources.add(flag, text);
            Span::new(base, base + text.len())
        };
        let at = match mistake.code {
            "adaptive-routing" | "mixed-routing" => typed(flag, text),
            "no-route" => typed("--topology", &args.topology),
            "too-few-rounds" => typed("--rounds", &args.rounds.map_or_else(String::new, |rounds| rounds.to_string())),
            "too-many-under-way" => typed("--under-way", &args.under_way.map_or_else(String::new, |n| n.to_string())),
            _ => Span::new(base, base + args.traffic.len()),
        };
        placed(vec![mistake], at, sources)
    };
    let adapts = network.router.choice().is_some_and(|choice| choice.kind() == ChoiceKind::Adaptive);
    let counted = match throughput::throughput(&network.fabric, &*network.router, &traffic, seeds) {
        Err(_) if args.simulate && adapts => None,
        counted => Some(counted.map_err(mistaken)?),
    };
    let steady = args.simulate.then(|| simulated(args, &network, &traffic, first, voice)).transpose();
    let steady = match steady {
        Err(mistake) if mistake.code == "interrupted" => return Ok(End::Interrupted),
        steady => steady.map_err(mistaken)?,
    };
    let mut answer = json!({
        "schema": "hayase-throughput-1",
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
    if let (Some(answer), Some(steady)) = (answer.as_object_mut(), &steady) {
        answer.insert("simulated".to_owned(), serde_json::to_value(steady).unwrap_or_default());
    }
    let title = format!("{}, {}, routing {}", network.fabric, args.traffic, network.routing.name());
    let page = || page(&title, &traffic, counted.as_ref(), steady.as_ref());
    args.out.deliver(args.out.open(&OFFER)?, page, &answer, &[])?;
    Ok(End::Done)
}

/// Places mistakes that have no place at this one.
fn placed(diagnostics: Vec<Diagnostic>, at: Span, sources: Sources) -> Invalid {
    let at = |mistake: Diagnostic| if mistake.place(&sources).is_some() { mistake } else { mistake.at(at) };
    Invalid { diagnostics: diagnostics.into_iter().map(at).collect(), sources: sources.clone() }
}

/// Simulates the traffic.
fn simulated(
    args: &ThroughputArgs,
    network: &RoutedFabric,
    traffic: &Traffic,
    seed: u64,
    voice: Voice,
) -> Result<Steady, Diagnostic> {
    let usual = SteadyOptions::default();
    let rounds = args.rounds.map_or(usual.rounds, NonZeroU32::get);
    let options = SteadyOptions {
        under_way: args.under_way.map_or(usual.under_way, NonZeroU32::get),
        warm_up: rounds.div_ceil(2),
        rounds,
        seed,
        ..usual
    };
    Onlooker::new(voice).run(|watch| steady(&network.network(), traffic, &options, Some(watch)))
}

/// Returns the result for a terminal.
fn page(title: &str, traffic: &Traffic, counted: Option<&Throughput>, steady: Option<&Steady>) -> Answer {
    let mut text = Answer::new();
    text.push_str(&format!("{}\n\n", table::printable(title)));
    if let Some(steady) = steady {
        let mut line = |name: &str, value: String| text.push_str(&format!("{name:<16}{value}\n"));
        let spread = format!("{} +- {}", fixed(steady.throughput, 4), fixed(steady.half_width, 4));
        line("simulated", format!("{spread} (95 %) of its bandwidth that a node uses on average"));
        line("slowest node", fixed(steady.slowest_node, 4));
        let count = counted_in_words(steady.messages as f64);
        line("measured", format!("{count} messages, {} of each node under way", steady.under_way));
        if counted.is_some() {
            text.push_str("\nBy counting loads:\n");
        }
    }
    let Some(counted) = counted else { return text };
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
    let mut grid = Grid::new().text("links").number("largest load").number("mean load");
    for (kind, load) in &counted.largest_load {
        let mean = counted.mean_load.get(kind).copied().unwrap_or_default();
        grid.row([kind.clone(), fixed(*load, 6), fixed(mean, 6)]);
    }
    text.table(grid);
    text
}
