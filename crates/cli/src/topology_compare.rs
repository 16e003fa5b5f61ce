//! `hayase topology compare`: figures of several fabrics side by side.

use std::num::NonZeroU32;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;

use super::files::{names, note_input};
use super::listing::Listing;
use super::options::{Offer, OutputArgs};
use super::progress::{self, Meter};
use super::scenario::TextArgs;
use super::{End, Failure, Voice, typed};
use hayase::scenario::Loader;
use hayase::sweep::fabrics::{
    self, FabricFigures, Layout, Prices, Questions, SCHEMA, SIMULATED_SIZE, SIMULATED_WINDOW,
};
use hayase::sweep::lists::rejoined;
use hayase::system::System;
use hayase_output::{fabric_figures, svg};

pub const EXAMPLES: &str = "\
Examples:
  hayase topology compare fat-tree-128,dragonfly-72,slim-fly-200
  hayase topology compare dragonfly-72,t2hx --pairings 5 --failed 1% -o fabrics.svg
  hayase topology compare \"dragonfly:p=2,bandwidth=12.5 GB/s\",dragonfly-72 --routing valiant-groups
  hayase topology compare fat-tree-1024,hyperx.toml --prices prices.toml --simulate 8

You supply: hyperx.toml (a [topology.*] table), prices.toml (docs/reference/input-files.md, \"Prices\")

Cables between racks are optical, others copper; --optical-from 5m decides by length instead. A rack is a group of
switches, or --rack-nodes nodes (64) of a fabric without groups. Racks of 1 m stand in a square. A cable has 1 m
within a rack, and 2 m plus the Manhattan distance between racks.

Throughput is the share of their bandwidth that all nodes can use, by counting loads (`hayase throughput`). The
traffic is uniform, adversarial (each group to the next, or the worst permutation found) or random pairs.

Files (-o), by name:
  x.svg    a panel for each figure
  x.csv    a line for each fabric
  x.json   an object for each";

/// `hayase topology compare`.
#[derive(Args, Debug)]
pub struct TopologyCompareArgs {
    /// The fabrics, with commas between them: names (`hayase list topologies`), families with their numbers
    /// (`dragonfly:p=4,bandwidth=12.5 GB/s`), TOML files with a [topology.*] table or SimGrid platforms
    /// (.xml).
    #[arg(value_name = "NAME|FILE,...", value_delimiter = ',', required = true)]
    pub names: Vec<String>,
    /// The routing rule of all fabrics (default: the usual rule of each).
    #[arg(long, value_name = "RULE")]
    pub routing: Option<String>,
    /// Seed of everything random; with several runs, the seed of the first.
    #[arg(value_parser = typed::whole::<u64>, long, value_name = "N")]
    pub seed: Option<u64>,
    /// Count cables of this length or more as optical: 5m (default: those between racks).
    #[arg(long, value_name = "LENGTH", value_parser = metres)]
    pub optical_from: Option<f64>,
    /// Number of nodes in a rack (default: a group is a rack; 64 for fabrics without groups).
    #[arg(long, value_name = "N")]
    pub rack_nodes: Option<NonZeroU32>,
    /// A list of prices, needed for costs.
    #[arg(long, value_name = "FILE", value_parser = NonEmptyStringValueParser::new())]
    pub prices: Option<String>,
    /// Number of random pairings of one half of the nodes with the other; 0 leaves them out.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = typed::whole::<u32>)]
    pub pairings: u32,
    /// Number of random orders in which cables fail; 0 leaves them out.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = typed::whole::<u32>)]
    pub failures: u32,
    /// Show the uniform throughput after this fraction of the cables between switches has failed: 1%.
    #[arg(long, value_name = "PART", value_parser = part)]
    pub failed: Option<f64>,
    /// Simulate uniform traffic too: each node sends N messages of 1 MB to random others, 4 at a time.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "16")]
    pub simulate: Option<NonZeroU32>,
    /// Preset and single keys.
    #[command(flatten)]
    pub texts: TextArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Parses a length in metres: `5m`, `5 m`, `5`.
fn metres(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('m').trim_end().parse::<f64>().ok();
    number
        .filter(|length| length.is_finite() && *length >= 0.0)
        .ok_or_else(|| "a length like 5m is expected".to_owned())
}

/// Parses a fraction: `1%`, `0.01`.
fn part(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse::<f64>(),
    };
    let number = number.ok().filter(|part| (0.0..1.0).contains(part));
    number.ok_or_else(|| "a part below all of them is expected: 1% or 0.01".to_owned())
}

const OFFER: Offer<&str> = Offer::new("topology compare", names!["x.svg", "x.csv", "x.json"]);

/// Computes the figures and prints them.
pub fn compare(args: &TopologyCompareArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let prices = match &args.prices {
        Some(path) => {
            note_input(path);
            Some(Prices::read(path)?)
        }
        None => None,
    };
    let seed = args.seed.unwrap_or(System::SEED);
    let questions = Questions {
        layout: Layout { rack_nodes: args.rack_nodes.map(NonZeroU32::get), optical_from_m: args.optical_from },
        prices,
        pairings: args.pairings,
        failures: args.failures,
        failed: args.failed.unwrap_or(0.0),
        simulated: args.simulate.map_or(0, NonZeroU32::get),
        seed,
    };
    let loader = |name: &str| {
        let mut loader = Loader::new().topology(name).on_read(progress::reading(voice.show)).seed(seed);
        if let Some(routing) = &args.routing {
            loader = loader.routing(routing);
        }
        args.texts.on(loader)
    };
    // A fabric named twice is evaluated once; mistakes are reported before any is evaluated.
    let mut names: Vec<String> = Vec::new();
    for name in rejoined(&args.names) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let monitor = Meter::new(voice.show, "runs");
    let mut routed = Vec::new();
    for (number, name) in names.iter().enumerate() {
        monitor.tell(number as u64, 2 * names.len() as u64, || format!("building {name}"));
        routed.push(loader(name).load_topology()?);
    }
    let files = args.out.open(&OFFER)?;
    let mut all: Vec<FabricFigures> = Vec::new();
    for (number, (name, routed)) in names.iter().zip(&routed).enumerate() {
        let done = (names.len() + number) as u64;
        let tell = |what: &str| monitor.tell(done, 2 * names.len() as u64, || format!("{what} of {name}"));
        all.push(fabrics::figures(name, &loader(name), routed, &questions, &tell)?);
    }
    drop(monitor);
    let about = about(args, &questions);
    let data = json!({ "schema": SCHEMA, "seed": seed, "about": about, "fabrics": all });
    let columns = fabric_figures::columns();
    let listing = Listing::new(&columns, || fabric_figures::rows(&all).into_iter());
    args.out.deliver(
        files,
        || fabric_figures::table(&all, &about),
        &data,
        &[
            ("x.csv", &|w| listing.csv(w)),
            ("x.svg", &|w| w.write_all(svg::fabrics(&all, &about.join(" · ")).as_bytes())),
        ],
    )?;
    Ok(End::Done)
}

/// Describes the figures that depend on options.
fn about(args: &TopologyCompareArgs, questions: &Questions) -> Vec<String> {
    let optical = match args.optical_from {
        Some(from) => format!("from {from} m"),
        None => "between racks".to_owned(),
    };
    let racks = match args.rack_nodes {
        Some(nodes) => format!("{nodes} nodes a rack"),
        None => "a group of switches is a rack, 64 nodes where there are none".to_owned(),
    };
    let mut about = vec![format!("optical: {optical}; {racks}")];
    if let Some(prices) = &questions.prices {
        let currency = if prices.currency.is_empty() { String::new() } else { format!(" in {}", prices.currency) };
        about.push(format!("cost{currency}: by {}", args.prices.as_deref().unwrap_or_default()));
    }
    if questions.pairings > 0 {
        about.push(format!("random pairs: mean of {} pairings and its 95 % interval", questions.pairings));
    }
    if questions.failures > 0 {
        about.push(format!(
            "parts at failed: part of the cables between switches that fail at random until nodes are cut off, mean of {}",
            questions.failures
        ));
    }
    if questions.failed > 0.0 {
        about.push(format!(
            "left with failed: uniform throughput with {} % of those cables failed, over that without; all shortest paths used alike",
            questions.failed * 100.0
        ));
    }
    if questions.simulated > 0 {
        about.push(format!(
            "simulated uniform: {} messages of {SIMULATED_SIZE} a node, {SIMULATED_WINDOW} at a time; what arrives while the middle half of them does",
            questions.simulated
        ));
    }
    about
}
