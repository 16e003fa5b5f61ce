//! `hayase throughput`: share of their bandwidth that nodes can use under steady traffic, by counting loads
//! and by simulation.

use std::io::Write;
use std::num::NonZeroU32;

use clap::Args;
use serde_json::json;

use super::files::{kind_of, names};
use super::options::{Offer, OutputArgs};
use super::play::Onlooker;
use super::scenario::{FabricArgs, SetArgs};
use super::seeds::seeds;
use super::{End, Failure, Voice, asked, progress};
use hayase::diagnostic::{Diagnostic, Invalid, Located, Sources, Span};
use hayase::engine::Progress;
use hayase::report::FaultsReport;
use hayase::routing::ChoiceKind;
use hayase::scenario::RoutedFabric;
use hayase::steady as throughput;
use hayase::steady::steady;
use hayase::steady::{BestThroughput, Steady, SteadyOptions, Throughput, Traffic, WeightedPath};
use hayase::system::{System, Target};
use hayase::units::{Bandwidth, Time};
use hayase_output::csv;
use hayase_output::runner::Looking;
use hayase_output::table::{self, Answer, Grid, counted as counted_in_words, fixed, percent};

const EXAMPLES: &str = "\
Examples:
  hayase throughput -t fat-tree-1024 --traffic bisection --seeds 20
  hayase throughput -t torus-8x8 --traffic uniform --routing spray
  hayase throughput -t dragonfly.toml --traffic adversarial=1 --routing valiant-groups --format json
  hayase throughput -t dragonfly-72 --traffic adversarial=1 --routing ugal-l --simulate
  hayase throughput -t dragonfly-72 --traffic adversarial=1 --optimum -o paths.csv

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

With --optimum, the throughput over all routings with any split over paths is bounded from both
sides, and the proof of the upper bound is named. `--routing paths:paths.csv` plays its routes.

Files (-o): x.json, x.html (a page), paths.csv (the routes of the optimum)";

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
    /// Bound the throughput over all routings with this largest gap (default 1%).
    #[arg(long, value_name = "GAP", num_args = 0..=1, default_missing_value = "1%")]
    pub optimum: Option<String>,
    /// Show the optimum after one more cable, for the ten best of up to 24 cables across the cut that binds.
    #[arg(long, requires = "optimum")]
    pub cables: bool,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

const OFFER: Offer<&str> = Offer::new("throughput", names!["paths.csv", "x.json", "x.html"])
    .without_csv("a throughput is a few figures; take --format json");

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
    let counted = match throughput::throughput(&network.fabric, &*network.router, &traffic, seeds.clone()) {
        Err(_) if (args.simulate || args.optimum.is_some()) && adapts => None,
        counted => Some(counted.map_err(mistaken)?),
    };
    let steady = args.simulate.then(|| simulated(args, &network, &traffic, first, voice)).transpose();
    let steady = match steady {
        Err(mistake) if mistake.code == "interrupted" => return Ok(End::Interrupted),
        steady => steady.map_err(mistaken)?,
    };
    let best = args.optimum.as_deref().map(|gap| optimum(args, gap, &network, &traffic, &seeds, voice)).transpose()?;
    let (best, paths) = match best {
        Some(Err(mistake)) => return Err(mistaken(mistake).into()),
        Some(Ok((best, paths))) => (Some(best), paths),
        None => (None, Vec::new()),
    };
    if best.is_none() && args.out.output.iter().any(|path| kind_of(path, OFFER.names) == Ok("paths.csv")) {
        let message = "paths.csv has the routes of the optimum, which is not asked for";
        return Err(Diagnostic::new("unknown-output", message).help("write --optimum, or leave it out").into());
    }
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
    let figures = serde_json::to_value(&best).unwrap_or_default();
    if let (Some(answer), Some(figures)) = (answer.as_object_mut(), figures.as_object()) {
        answer.extend(figures.clone());
    }
    let title = format!("{}, {}, routing {}", network.fabric, args.traffic, network.routing.name());
    let page = || page(&title, &traffic, counted.as_ref(), steady.as_ref(), best.as_ref());
    let write_paths = |w: &mut dyn Write| csv::paths(&paths, &network.fabric, w);
    args.out.deliver(args.out.open(&OFFER)?, page, &answer, &[("paths.csv", &write_paths)])?;
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

/// Throughput over all routings with its routes, or the mistake that the traffic has.
type Best = Result<(BestThroughput, Vec<WeightedPath>), Diagnostic>;

/// Bounds the throughput over all routings; Ctrl-C ends it with the bounds so far.
fn optimum(
    args: &ThroughputArgs,
    gap: &str,
    network: &RoutedFabric,
    traffic: &Traffic,
    seeds: &[u64],
    voice: Voice,
) -> Result<Best, Failure> {
    let gap = Target::parse(gap).map_err(|message| Diagnostic::new("wrong-value", format!("--optimum: {message}")))?;
    let best = Onlooker::new(voice).run(|watch| {
        let mut go_on = |least: f64, reached: f64| {
            watch.outlook(reached / least - 1.0);
            watch.tick(Progress { now: Time::ZERO, delivered: 0, total: 0 })
        };
        let (fabric, router) = (&network.fabric, &*network.router);
        throughput::best_throughput(fabric, router, traffic, seeds.iter().copied(), gap.part(), args.cables, &mut go_on)
    });
    Ok(best)
}

/// Returns the result for a terminal.
fn page(
    title: &str,
    traffic: &Traffic,
    counted: Option<&Throughput>,
    steady: Option<&Steady>,
    best: Option<&BestThroughput>,
) -> Answer {
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
    let Some(counted) = counted else {
        best.into_iter().for_each(|best| write_best(&mut text, best, None));
        return text;
    };
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
    if let Some(best) = best {
        write_best(&mut text, best, Some(counted.throughput));
    }
    text.push_str("\n");
    let grid = Grid::new().text("links").number("largest load").number("mean load");
    let mut grid = if best.is_some() { grid.number("largest load of the optimum") } else { grid };
    for (kind, load) in &counted.largest_load {
        let mean = counted.mean_load.get(kind).copied().unwrap_or_default();
        let of_best = best.map(|best| fixed(best.optimum_largest_load.get(kind).copied().unwrap_or_default(), 6));
        grid.row([kind.clone(), fixed(*load, 6), fixed(mean, 6)].into_iter().chain(of_best));
    }
    text.table(grid);
    if let Some(best) = best.filter(|best| !best.cables.is_empty()) {
        text.push_str("\n");
        text.title("One more cable");
        let mut grid = Grid::new().text("from").text("to").number("bandwidth").number("optimum").number("at most");
        for cable in &best.cables {
            let bandwidth = Bandwidth::from_bytes_per_second(cable.bandwidth_bps).to_string();
            let [reached, at_most] =
                [cable.optimum_throughput, cable.optimum_throughput_at_most].map(|value| fixed(value, 6));
            grid.row([cable.from.clone(), cable.to.clone(), bandwidth, reached, at_most]);
        }
        text.table(grid);
    }
    text
}

/// Writes the throughput over all routings, and how far the routing rule is from it.
fn write_best(text: &mut Answer, best: &BestThroughput, counted: Option<f64>) {
    let (reached, at_most) = (best.optimum_throughput, best.optimum_throughput_at_most);
    let range = match at_most <= reached * (1.0 + 1e-9) {
        true => format!("exactly {}", fixed(reached, 6)),
        false => format!("{} to {}", fixed(reached, 6), fixed(at_most, 6)),
    };
    let share =
        counted.map_or_else(String::new, |counted| format!("; the rule reaches {}", percent(counted / at_most)));
    text.push_str(&format!("{:<16}{range} over all routings{share}\n", "optimum"));
    text.push_str(&format!("{:<16}{}\n", "proof", table::printable(&best.optimum_proof)));
}
