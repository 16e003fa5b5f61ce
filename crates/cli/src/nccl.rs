//! `hayase nccl`: the algorithm and protocol that NCCL takes for a collective, by size, and its time on a fabric.

use std::num::NonZeroU32;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::files::names;
use super::options::{Offer, OutputArgs};
use super::range::{ListItem, Stride, parts, quantity};
use super::{End, Failure, Voice, asked, progress, schedule, typed};
use hayase::diagnostic::{Diagnostic, Invalid, Sources};
use hayase::nccl::{Algorithm, Operation, Protocol, System, Tuning};
use hayase::scenario::library::Shelf;
use hayase::study::nccl::{Request, nccl as choose};
use hayase::units::{Bytes, Time};
use hayase_output::{csv, svg, table};

const EXAMPLES: &str = "\
Examples:
  hayase nccl --op all-reduce --ranks 8 --nodes 1 -m h200-8x400g --size 1KiB..4GiB -o chart.svg
  hayase nccl --op all-reduce --ranks 64 --nodes 8 -m h200-8x400g --size 1MiB,1GiB --format csv
  hayase nccl --op all-gather --ranks 16 --nodes 2 --graph systems.json:mine --size 1MiB

You supply: systems.json (what NCCL found on your systems: cc, cpu, channels, ll128, graphs by name)

Times of the model are those by which NCCL 2.30.7 ranks its algorithms. It leaves out the launch and the network. With
a fabric, the messages of the chosen algorithm are simulated on it, after the launch; the bound holds for these
messages on their routes. Algorithms that reduce in the network and PAT have times of the model alone.

Sizes are what a rank sends or receives, the larger; of an all-gather and a reduce-scatter all blocks. A range A..B
doubles from A.

Files (-o), by name: x.csv (the table), x.json, x.svg (time by size of each algorithm)";

/// `hayase nccl`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct NcclArgs {
    /// Operation: all-reduce, all-gather, reduce-scatter, broadcast, reduce.
    #[arg(long, value_name = "OPERATION", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(Operation::ALL.map(Operation::name)))]
    pub op: String,
    /// Number of ranks (GPUs).
    #[arg(value_parser = typed::whole::<NonZeroU32>, long, value_name = "N")]
    pub ranks: NonZeroU32,
    /// Number of nodes, each with as many ranks.
    #[arg(value_parser = typed::whole::<NonZeroU32>, long, value_name = "M")]
    pub nodes: NonZeroU32,
    /// Sizes: 1MiB, a list, or a range 1KiB..4GiB that doubles.
    #[arg(long, value_name = "SIZE,...")]
    pub size: String,
    /// System as NCCL sees it: a JSON file, and the name of a system in it.
    #[arg(long, value_name = "FILE[:NAME]", conflicts_with = "machine", required_unless_present = "machine")]
    pub graph: Option<String>,
    /// Machine with a table [nccl]: a name (`hayase list machines`) or a TOML file.
    #[arg(short, long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Fabric on which messages are simulated (default: that of the machine's [nccl], if it has one).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub topology: Option<String>,
    /// Algorithm in place of NCCL's choice: tree, ring, collnet-direct, collnet-chain, nvls, nvls-tree, pat.
    #[arg(long, value_name = "NAME", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name)))]
    pub algorithm: Option<String>,
    /// Protocol in place of NCCL's choice: ll, ll128, simple.
    #[arg(long, value_name = "NAME", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(Protocol::ALL.map(Protocol::name)))]
    pub protocol: Option<String>,
    /// Time from the call to the first byte (default: that of the machine's [nccl], else 0): "35 us".
    #[arg(long, value_name = "TIME")]
    pub launch: Option<String>,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

const OFFER: Offer<&str> = Offer::new("nccl", names!["x.csv", "x.json", "x.svg"]);

/// Largest number of sizes.
const MOST_SIZES: usize = 1000;

/// Ranks the algorithms for each size and prints the choices.
pub fn nccl(args: &NcclArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let (system, name) = system(args)?;
    let operation = Operation::ALL.into_iter().find(|of| of.name() == args.op).unwrap_or(Operation::AllReduce);
    let tuning = Tuning::new(&system, operation, args.ranks.get(), args.nodes.get())?;
    let launch = match &args.launch {
        Some(text) => quantity("--launch", text)?,
        None => system.launch.as_deref().copied().unwrap_or(Time::ZERO),
    };
    // A fabric of one node has no network, so it is that of two.
    let of_machine =
        || system.topology.as_deref().map(|text| text.replace("{nodes}", &args.nodes.get().max(2).to_string()));
    let fabric = args.topology.clone().or_else(of_machine);
    let request = Request {
        name,
        tuning: tuning.clone(),
        sizes: sizes(&args.size)?,
        algorithm: Algorithm::ALL.into_iter().find(|of| Some(of.name()) == args.algorithm.as_deref()),
        protocol: Protocol::ALL.into_iter().find(|of| Some(of.name()) == args.protocol.as_deref()),
        launch,
        fabric: fabric.map(|fabric| asked::loader().on_read(progress::reading(voice.show)).topology(&fabric)),
    };
    let made = progress::over_runs(voice.show, "messages", |control| choose(&request, control));
    let report = match made {
        Ok(report) => report,
        Err(error) => return schedule::end(error, voice),
    };
    args.out.deliver(
        args.out.open(&OFFER)?,
        || table::nccl(&report),
        &report,
        &[("x.csv", &|w| csv::nccl(&report, w)), ("x.svg", &|w| w.write_all(svg::nccl(&report, &tuning).as_bytes()))],
    )?;
    Ok(End::Done)
}

/// Reads the system of the options. Returns it with its name.
fn system(args: &NcclArgs) -> Result<(System, String), Failure> {
    let mut sources = Sources::default();
    let invalid = |diagnostics, sources: &Sources| Invalid { diagnostics, sources: sources.clone() };
    if let Some(machine) = &args.machine {
        let read = Shelf::Machines.text(&machine.clone().into(), &mut sources);
        let (base, text) = read.map_err(|mistake| invalid(vec![mistake], &sources))?;
        let system = System::of_machine(&text, base).map_err(|mistakes| invalid(mistakes, &sources))?;
        let missing = || {
            let message = format!("`{machine}` has no [nccl] table");
            Diagnostic::new("missing-key", message).help("name another machine, or a system with --graph")
        };
        return Ok((system.ok_or_else(missing)?, machine.clone()));
    }
    let graph = args.graph.as_deref().unwrap_or_default();
    // A file may have a colon in its name, and a name of a system has none.
    let (file, name) = match graph.rsplit_once(':') {
        Some((file, name)) if !std::path::Path::new(graph).exists() => (file, name),
        _ => (graph, ""),
    };
    let read = sources.read_text(&file.to_owned().into());
    let (base, text) = read.map_err(|mistake| invalid(vec![mistake], &sources))?;
    let system = System::from_json(&text, base, name).map_err(|mistakes| invalid(mistakes, &sources))?;
    Ok((system, if name.is_empty() { file.to_owned() } else { name.to_owned() }))
}

/// Reads a list of sizes and ranges of sizes, ascending and without repetitions.
fn sizes(text: &str) -> Result<Vec<u64>, Diagnostic> {
    let size = |text: &str| quantity::<Bytes>("--size", text).map(|size| size.0);
    let wrong = |message: String| Diagnostic::new("wrong-value", format!("--size: {message}"));
    let mut sizes = Vec::new();
    for part in parts(text) {
        match part {
            ListItem::One(one) => sizes.push(size(one)?),
            ListItem::Range { first, last, step: Stride::Default } => {
                let (first, last) = (size(first)?, size(last)?);
                if first == 0 || last < first {
                    return Err(wrong(format!("no size doubles from {first} B to {last} B")));
                }
                sizes.extend(
                    std::iter::successors(Some(first), |size| size.checked_mul(2)).take_while(|&size| size <= last),
                );
            }
            ListItem::Range { .. } => return Err(wrong("a range doubles; leave out its step".to_owned())),
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    match sizes.first() {
        Some(0) => Err(wrong("an operation without bytes has no time".to_owned())),
        _ if sizes.len() > MOST_SIZES => Err(wrong(format!("more than {MOST_SIZES} sizes"))),
        _ => Ok(sizes),
    }
}
