//! `hayase nccl`: the algorithm and protocol that NCCL takes for a collective, by size, and its time on a fabric.

use std::num::NonZeroU32;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::files::names;
use super::options::{Offer, OutputArgs};
use super::range::{ListItem, Stride, parts, quantity};
use super::{End, Failure, Voice, asked, progress, schedule, typed};
use hayase::diagnostic::{Diagnostic, Invalid, Sources};
use hayase::nccl::log::{Log, LoggedChoice};
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
  hayase nccl --log nccl.log -m h100-8x400g

You supply: systems.json (cc, cpu, channels, ll128, graphs by name), nccl.log (of NCCL_DEBUG=INFO)

Times of the model are those by which NCCL 2.30.7 ranks its algorithms. It leaves out the launch and the network. With
a fabric, the messages of the chosen algorithm are simulated on it, after the launch; the bound holds for these
messages on their routes. NVLS over several nodes has times of the model alone.

A log states the graphs, ranks and choices of a real system; the machine gives what it does not: GPUs, card, launch,
fabric. Values that differ from the model are printed with their lines.

Sizes are what a rank sends or receives, the larger; of an all-gather and a reduce-scatter all blocks. A range A..B
doubles from A.

Files (-o), by name: x.csv (the table), x.json, x.html (a page), x.svg (time by size of each algorithm)";

/// `hayase nccl`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct NcclArgs {
    /// Operation: all-reduce, all-gather, reduce-scatter, broadcast, reduce (default: the first of the log).
    #[arg(long, value_name = "OPERATION", hide_possible_values = true, required_unless_present = "log",
          value_parser = PossibleValuesParser::new(Operation::ALL.map(Operation::name)))]
    pub op: Option<String>,
    /// Number of ranks (GPUs) (default: that of the log).
    #[arg(value_parser = typed::whole::<NonZeroU32>, long, value_name = "N", required_unless_present = "log")]
    pub ranks: Option<NonZeroU32>,
    /// Number of nodes, each with as many ranks (default: that of the log).
    #[arg(value_parser = typed::whole::<NonZeroU32>, long, value_name = "M", required_unless_present = "log")]
    pub nodes: Option<NonZeroU32>,
    /// Sizes: 1MiB, a list, or a range 1KiB..4GiB that doubles (default: those of the log).
    #[arg(long, value_name = "SIZE,...", required_unless_present = "log")]
    pub size: Option<String>,
    /// Log of NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING: its system in place of the machine's, its choices
    /// compared with the model.
    #[arg(long, value_name = "FILE", requires = "machine")]
    pub log: Option<String>,
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

const OFFER: Offer<&str> = Offer::new("nccl", names!["x.csv", "x.json", "x.html", "x.svg"]);

/// Largest number of sizes.
const MOST_SIZES: usize = 1000;

/// Returns the GPUs that the ranks are on, if they do not take all of each node.
fn gpus_of_ranks(ranks: u32, nodes: u32, system: &System) -> Result<Option<String>, Diagnostic> {
    let (all, taken) = (system.gpus_of_node(), ranks / nodes);
    if taken > all {
        let message = format!("{taken} ranks a node are more than its {all} GPUs");
        return Err(Diagnostic::new("wrong-value", message).help("take fewer ranks or more nodes"));
    }
    let of_node = |first: u32| if taken == 1 { first.to_string() } else { format!("{first}-{}", first + taken - 1) };
    let lists = || (0..nodes).map(|node| of_node(node * all)).collect::<Vec<_>>().join(",");
    Ok((taken < all && nodes > 1).then(lists))
}

/// Ranks the algorithms for each size and prints the choices.
pub fn nccl(args: &NcclArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let (mut system, mut name) = system(args)?;
    let log = args.log.as_deref().map(|file| read_log(file, &mut system)).transpose()?;
    let first = log.as_ref().and_then(|log| log.choices.iter().find_map(|of| of.operation));
    let operation = Operation::ALL.into_iter().find(|of| Some(of.name()) == args.op.as_deref()).or(first);
    let operation = operation.unwrap_or(Operation::AllReduce);
    let given = |given: Option<NonZeroU32>, of: fn(&Log) -> u32| {
        given.map(NonZeroU32::get).or(log.as_ref().map(of)).unwrap_or_default()
    };
    let (ranks, nodes) = (given(args.ranks, |log| log.ranks), given(args.nodes, |log| log.nodes));
    let tuning = Tuning::new(&system, operation, ranks, nodes)?;
    let is_own = |of: &&LoggedChoice| of.operation.is_none_or(|own| own == operation) && of.bytes > 0;
    let logged: Vec<String> =
        log.iter().flat_map(|log| &log.choices).filter(is_own).map(|of| format!("{} B", of.bytes)).collect();
    let range = if logged.is_empty() { "1KiB..1GiB".to_owned() } else { logged.join(",") };
    if let Some(file) = &args.log {
        name = format!("{file}, {name}");
    }
    let launch = match &args.launch {
        Some(text) => quantity("--launch", text)?,
        None => system.launch.as_deref().copied().unwrap_or(Time::ZERO),
    };
    let load = |fabric: &String| asked::loader().on_read(progress::reading(voice.show)).topology(fabric);
    let fabric = match (&args.topology, &system.topology) {
        (Some(fabric), _) => Some(load(fabric)),
        (None, None) => None,
        (None, Some(fabric)) => {
            // A fabric of one node has no network, so it is that of two.
            let loader = load(&fabric.replace("{nodes}", &nodes.max(2).to_string()));
            Some(match gpus_of_ranks(ranks, nodes, &system)? {
                None => loader,
                Some(gpus) => loader.set("--nodes", &format!("placement.nodes.list=\"{gpus}\"")),
            })
        }
    };
    let request = Request {
        name,
        tuning: tuning.clone(),
        sizes: sizes(args.size.as_ref().unwrap_or(&range))?,
        algorithm: Algorithm::ALL.into_iter().find(|of| Some(of.name()) == args.algorithm.as_deref()),
        protocol: Protocol::ALL.into_iter().find(|of| Some(of.name()) == args.protocol.as_deref()),
        launch,
        fabric,
        log: args.log.clone().zip(log),
    };
    let mut stopped = false;
    let made = progress::over_runs(voice.show, "messages", |control| {
        let made = choose(&request, control);
        stopped = control.is_cancelled();
        made
    });
    let report = match made {
        Ok(report) => report,
        Err(error) => return schedule::end(error, voice),
    };
    let missing = report.rows.iter().filter(|row| row.simulated_s.is_none()).count();
    if request.fabric.is_some() && missing > 0 && !stopped {
        voice.hint(format_args!(
            "{missing} of {} rows have the time of the model alone: no messages are known, or rings repeat too late",
            report.rows.len()
        ));
    }
    args.out.deliver(
        args.out.open(&OFFER)?,
        || table::nccl(&report),
        &report,
        &[("x.csv", &|w| csv::nccl(&report, w)), ("x.svg", &|w| w.write_all(svg::nccl(&report, &tuning).as_bytes()))],
    )?;
    Ok(if stopped { End::Interrupted } else { End::Done })
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

/// Reads a log and replaces the machine's values by those of the log.
fn read_log(file: &str, system: &mut System) -> Result<Log, Failure> {
    let mut sources = Sources::default();
    let invalid = |diagnostics, sources: &Sources| Invalid { diagnostics, sources: sources.clone() };
    let read = sources.read_text(&file.to_owned().into());
    let (base, text) = read.map_err(|mistake| invalid(vec![mistake], &sources))?;
    let log = Log::read(&text, base).map_err(|mistakes| invalid(mistakes, &sources))?;
    *system = log.system(system.clone()).map_err(|mistakes| invalid(mistakes, &sources))?;
    Ok(log)
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
