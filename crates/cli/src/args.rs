//! What can be typed: verbs, options and their help.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use super::advise::args::{AdviseArgs, ExplainArgs};
use super::caveats::Strictness;
use super::master_slave::args::MasterSlaveArgs;
use super::measure::{AgentArgs, MeasureVerb};
use super::predict::args::PredictArgs;
use super::program::args::ProgramVerb;
#[cfg(unix)]
use super::record::args::RecordArgs;
use super::replay::args::{MachineVerb, ReplayArgs, Written};
use super::throughput::ThroughputArgs;
use super::trace::TraceVerb;
use super::usage;
use super::whatif::args::WhatIfArgs;
#[cfg(unix)]
use super::wrap::{CompileArgs, WrapArgs};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  hayase run -t fat-tree-54 -p all-to-all-simple-spread
      how long one all-to-all takes on 54 nodes, what bounds it, which links are busiest
  hayase compare -t fat-tree-54 -p all-to-all-simple-spread,all-to-all-nd-spread \\
      --placement regular,random -o compare.svg
      algorithms and placements side by side, as a table and as a picture
  hayase init my.toml && hayase run my.toml
      a commented scenario to edit, and its run
  hayase replay gaussian-elimination:n=256 -m myrinet
      how long a parallel program takes on a machine, and where its time goes
  hayase topology list; hayase pattern list
      the fabrics and workloads that have a name

Exit codes:
  0    done
  1    failed at run time (a file cannot be written)
  2    bad input or usage; the place is shown
  3    the simulated program deadlocks; who waits for whom is shown
  130  stopped by Ctrl-C; what had happened by then is reported, marked as interrupted";

/// A discrete-event message-flow simulator for HPC interconnects.
///
/// Name a fabric and what is sent over it; Hayase says how long it takes, what bounds it and which links hold it
/// back. Results go to standard output, everything else to standard error.
#[derive(Parser, Debug)]
#[command(name = "hayase", version, after_help = EXAMPLES, styles = STYLES, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// What holds for all verbs.
    #[command(flatten)]
    pub global: Global,
}

/// What holds for all verbs.
#[derive(Args, Clone, Copy, Debug)]
pub struct Global {
    /// Say nothing but results and errors.
    #[arg(short, long, global = true, help_heading = "General options")]
    pub quiet: bool,
    /// Show how far a run is: on a terminal a bar, elsewhere (with `always`) a line now and then.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto,
          hide_possible_values = true, help_heading = "General options",
          long_help = "Show how far a run is, on standard error: auto (on a terminal), always (off a terminal a line \
                       every few seconds) or never")]
    pub progress: When,
    /// Colour messages: auto (on a terminal, unless NO_COLOR is set), always or never.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto,
          hide_possible_values = true, help_heading = "General options")]
    pub color: When,
}

/// When something is shown.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// On a terminal.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Simulate one scenario and report what came out.
    Run(RunArgs),
    /// Simulate many combinations side by side, best first.
    Compare(CompareArgs),
    /// Show how fast each message of the first step would be, all of them under way at once.
    Rates(RatesArgs),
    /// Count the loads of steady traffic: how much of their bandwidth all nodes can use, and which link holds them back.
    Throughput(ThroughputArgs),
    /// Predict how long a program takes, from data sets that were measured once.
    Predict(Box<PredictArgs>),
    /// Make, show and extend program data and computation data.
    #[command(subcommand)]
    Program(ProgramVerb),
    /// Play a program's trace on other nodes or another network: how long, and where the time goes.
    Replay(ReplayArgs),
    /// Vary parameters of nodes and network under a program: which of them matter, and what any network could bring.
    Whatif(WhatIfArgs),
    /// Find the LogGPS parameters of a machine from measured round trips.
    Calibrate(CalibrateArgs),
    /// Measure what a real network does, as a data set.
    #[command(subcommand)]
    Measure(MeasureVerb),
    /// One of the two processes that `hayase measure` has an MPI start.
    #[command(hide = true)]
    MeasureAgent(AgentArgs),
    /// Check files without running anything: scenarios, topologies, patterns.
    Check(CheckArgs),
    /// Write a commented scenario to start from.
    Init(InitArgs),
    /// Print the JSON schema of scenario files, for editors.
    Schema,
    /// List the named topologies, or show one.
    #[command(subcommand)]
    Topology(TopologyVerb),
    /// List the named patterns, or show one.
    #[command(subcommand)]
    Pattern(PatternVerb),
    /// List the named machines, or show one.
    #[command(subcommand)]
    Machine(MachineVerb),
    /// List the named presets, or show one.
    #[command(subcommand)]
    Preset(PresetVerb),
    /// Run an MPI program and record the calls of all its ranks.
    #[cfg(unix)]
    Record(RecordArgs),
    /// Compile C with mpicc so that the program tells which memory it accesses.
    #[cfg(unix)]
    Cc(CompileArgs),
    /// Compile Fortran with mpifort so that the program tells which memory it accesses.
    #[cfg(unix)]
    Fc(CompileArgs),
    /// Compile with any compiler so that the program tells which memory it accesses.
    #[cfg(unix)]
    Wrap(WrapArgs),
    /// Find what to improve in a recorded program, and what each change would gain on a machine and network.
    Advise(Box<AdviseArgs>),
    /// List the rules of advice, or explain one.
    Explain(ExplainArgs),
    /// Show what a recorded program or a schedule holds, or write it in another format.
    #[command(subcommand)]
    Trace(TraceVerb),
    /// Predict a master/slave program from a few executed tasks.
    MasterSlave(Box<MasterSlaveArgs>),
    /// Hold the simulator against closed forms, other simulators and published figures.
    Validate(ValidateArgs),
    /// Measure what a simulated message costs on this machine: time, memory, growth with the number of nodes.
    Bench(BenchArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all verbs into a folder.
    Man(ManArgs),
}

/// The parts of a scenario that can be given on the command line.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Scenario")]
pub struct ScenarioArgs {
    /// A scenario file (TOML), or a JSON report whose scenario is run again.
    #[arg(value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub scenario: Option<PathBuf>,
    /// What holds where nothing else is said, the setting of a publication: a name (`hayase preset list`), or a file
    /// like those.
    #[arg(long, value_name = "NAME|FILE")]
    pub preset: Option<String>,
    /// The fabric: a name (`hayase topology list`), a TOML file with a [topology.*] table, a SimGrid platform (.xml).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub topology: Option<String>,
    /// What is sent: a name (`hayase pattern list`), a TOML file with a [workload.*] table, a CSV of messages, a
    /// program (a trace, a schedule, or a rule like linear:ranks=64).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub pattern: Option<String>,
    /// What messages cost at their ends: a name (`hayase machine list`) or a TOML file with a [node.*] table (default:
    /// nothing).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// The node model: ideal, loggp, loggps, loggopsim; its parameters are those of the machine, or set with --set.
    #[arg(long, value_name = "MODEL")]
    pub node: Option<String>,
    /// The size of each message, with its unit: "20 KB", "64 KiB".
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Which node each rank is on: regular, random, block, round-robin, or a CSV file `rank,node`.
    #[arg(long, value_name = "RULE|FILE")]
    pub placement: Option<String>,
    /// How messages share a link: max-min (exact, the default), equal-share, redistribute.
    #[arg(long, value_name = "POLICY")]
    pub sharing: Option<String>,
    /// How messages move: flow (the default; flow:max-min chooses the sharing too), packet:oq (output queues),
    /// packet:iq (input buffers with credits), packet:fq (messages in turn), contention-free.
    #[arg(long, value_name = "MODEL")]
    pub transport: Option<String>,
    /// When a rank sends its next message: queue (the last is delivered), sendrecv (and this step's are received),
    /// barrier (everybody's are), left (the last has left the node), all (at once), window=K (up to K under way).
    #[arg(long, value_name = "RULE")]
    pub injection: Option<String>,
    /// Which way messages go: d-mod-k, s-mod-k, hashed, dimension-order, shortest-path, table, minimal, ecmp, spray,
    /// valiant-groups, valiant-switches, ugal-l, ugal-g, progressive (default: what is usual for the fabric).
    #[arg(long, value_name = "RULE")]
    pub routing: Option<String>,
    /// Each rank starts at a random time below this: "1 us".
    #[arg(long, value_name = "TIME")]
    pub jitter: Option<String>,
    /// The seed of everything random.
    #[arg(value_parser = usage::whole::<u64>, long, value_name = "N")]
    pub seed: Option<u64>,
    /// Any key of a scenario file: --set topology.fat-tree.p=4 (may be repeated; the last one holds).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

const RUN_EXAMPLES: &str = "\
Examples:
  hayase run -t fat-tree-54 -p all-to-all-simple-spread --placement random --seeds 8
  hayase run -t torus-4x4 -p all-to-all-pairwise --transport packet:iq
  hayase run -t torus-8x8 -p ring --size \"1 MB\" -o report.json -o loads.svg
  hayase run report.json                  the scenario of a report once more
  hayase run scenario.toml --set topology.fat-tree.p=4
  hayase run -t torus-8x8 -p messages.csv --injection window=4
  hayase run farm.toml -t torus-4x4       a master and its workers ([workload.master-slave])

Yours: scenario.toml (`hayase init scenario.toml` writes one), messages.csv (src,dst,bytes), farm.toml

Files (-o), by name:
  x.json         the report
  x.svg          how loaded each link was, drawn over the fabric
  timeline.svg   who sent what when (small runs)
  messages.csv   every message: src,dst,index,bytes,start_s,end_s
  links.csv      every link: capacity, bytes, busy time, utilisation, flows
Of a program those of `hayase replay`, of a farm those of `hayase master-slave`.
The name may be longer (run-7-messages.csv): the word in it counts.
A file appears when it is complete; of a run that was stopped or deadlocked only the report.";

/// `hayase run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Run with so many seeds, from --seed on, and report how the makespan spreads.
    #[arg(long, value_name = "N", help_heading = "Scenario")]
    pub seeds: Option<NonZeroU32>,
    /// What becomes of a recording that is incomplete.
    #[command(flatten)]
    pub strictness: Strictness,
    /// What is written.
    #[command(flatten)]
    pub written: Written,
    /// What is printed: table or json.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = RunFormat::Table, hide_possible_values = true,
          help_heading = "Output")]
    pub format: RunFormat,
}

/// What `run` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
}

const RATES_EXAMPLES: &str = "\
Examples:
  hayase rates -t torus-8x8 -p all-to-all-pairwise
  hayase rates -t fat-tree-54 -p incast --sharing equal-share --format csv
  hayase rates scenario.toml -o rates.csv

Yours: scenario.toml (`hayase init scenario.toml` writes one)

CSV columns: src,dst,rate_Bps,bottleneck (the link that holds the message back, one of them where several do
so equally; empty where none does).";

/// `hayase rates`.
#[derive(Args, Debug)]
#[command(after_help = RATES_EXAMPLES)]
pub struct RatesArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Also write this file: x.csv, x.json or x.svg (may be repeated).
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub output: Vec<PathBuf>,
    /// What is printed: table, json or csv.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Table, hide_possible_values = true,
          help_heading = "Output")]
    pub format: TableFormat,
}

/// What `rates` and `compare` print.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For spreadsheets.
    Csv,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  hayase compare -t fat-tree-54 -p all-to-all-simple-spread,all-to-all-nd-spread,all-to-all-bruck \\
      --placement regular,random -o compare.svg
  hayase compare -t torus-4x4 -p all-to-all-mpich --placement regular,random,block --seeds 8
  hayase compare -t torus-4x4 -p all-to-all-pairwise --transport packet:oq,packet:iq,flow --jitter 1.5us
  hayase compare scenario.toml --placement regular,random,block -o compare.md -o compare.csv

Yours: scenario.toml (`hayase init scenario.toml` writes one)

Every combination of what is listed is run, once for each seed, on all cores. All that do the same (one collective
operation of one size, or the same amount of data, among as many ranks) are ranked by their means, best first,
whatever they differ in; a difference within its 95 % interval over the seeds is called a tie.";

/// `KEY=a,b,c`.
fn vary(text: &str) -> Result<(String, Vec<String>), String> {
    let values = text.split_once('=').map(|(key, values)| (key.trim(), values.split(',').map(str::trim)));
    let Some((key, values)) = values else { return Err("a key and its values are expected: KEY=a,b,c".to_owned()) };
    let values: Vec<String> = values.map(str::to_owned).collect();
    match key.is_empty() || values.iter().any(String::is_empty) {
        true => Err("a key and its values are expected: KEY=a,b,c".to_owned()),
        false => Ok((key.to_owned(), values)),
    }
}

/// `hayase compare`.
#[derive(Args, Debug)]
#[command(after_help = COMPARE_EXAMPLES, next_help_heading = "What is compared")]
pub struct CompareArgs {
    /// A scenario file: what is not listed here is as it says.
    #[arg(value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub scenario: Option<PathBuf>,
    /// What holds where nothing else is said: a name (`hayase preset list`), or a file like those.
    #[arg(long, value_name = "NAME|FILE", help_heading = "What all runs have in common")]
    pub preset: Option<String>,
    /// Fabrics, by name or file, with commas between them.
    #[arg(short, long, value_name = "T,...", value_delimiter = ',')]
    pub topology: Vec<String>,
    /// Patterns and programs, by name, file or rule.
    #[arg(short, long, value_name = "P,...", value_delimiter = ',')]
    pub pattern: Vec<String>,
    /// Placements: regular, random, block, round-robin, CSV files `rank,node`.
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    pub placement: Vec<String>,
    /// Sharing policies: max-min, equal-share, redistribute.
    #[arg(long, value_name = "POLICY,...", value_delimiter = ',')]
    pub sharing: Vec<String>,
    /// Transports: flow, flow:max-min, flow:equal-share, flow:redistribute, packet:oq, packet:iq, packet:fq,
    /// contention-free. Several are also set against each other: makespans, run times.
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',')]
    pub transport: Vec<String>,
    /// Routing rules: d-mod-k, s-mod-k, hashed, dimension-order, shortest-path, table, minimal, ecmp, spray,
    /// valiant-groups, valiant-switches, ugal-l, ugal-g, progressive.
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    pub routing: Vec<String>,
    /// Injection rules: queue, sendrecv, barrier, left, all, window=K.
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    pub injection: Vec<String>,
    /// Machines, by name or file: what messages cost at their ends.
    #[arg(short, long, value_name = "M,...", value_delimiter = ',')]
    pub machine: Vec<String>,
    /// Any key of a scenario file, with its values: topology.torus.bandwidth="1 GB/s,2 GB/s" (may be repeated).
    #[arg(long, value_name = "KEY=V,...", value_parser = vary)]
    pub vary: Vec<(String, Vec<String>)>,
    /// Run what is random with so many seeds; means and standard deviations are over them.
    #[arg(long, value_name = "N")]
    pub seeds: Option<NonZeroU32>,
    /// The first seed.
    #[arg(value_parser = usage::whole::<u64>, long, value_name = "N")]
    pub seed: Option<u64>,
    /// The size of each message, with its unit: "20 KB", "64 KiB".
    #[arg(long, value_name = "SIZE", help_heading = "What all runs have in common")]
    pub size: Option<String>,
    /// Each rank starts at a random time below this: "1 us".
    #[arg(long, value_name = "TIME", help_heading = "What all runs have in common")]
    pub jitter: Option<String>,
    /// Any key of a scenario file (may be repeated).
    #[arg(long, value_name = "KEY=VALUE", help_heading = "What all runs have in common")]
    pub set: Vec<String>,
    /// Runs at once (default: one for each core).
    #[arg(short = 'j', long, value_name = "N", help_heading = "Output")]
    pub threads: Option<NonZeroU32>,
    /// Also write this file: x.svg (a chart), x.csv, x.json, x.md (may be repeated).
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub output: Vec<PathBuf>,
    /// What is printed: table, json or csv.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Table, hide_possible_values = true,
          help_heading = "Output")]
    pub format: TableFormat,
}

const CALIBRATE_EXAMPLES: &str = "\
Examples:
  hayase calibrate rtt.csv
  hayase calibrate rtt.csv --short 8191 --eager 16383 -o my-cluster.toml -o fit.svg
  hayase replay pairwise:ranks=16 -m my-cluster.toml

Yours: rtt.csv (round trips that you measured; examples/guide/rtt.csv of the repository is one)

The table has the columns bytes, time and, as wanted, work (between the send and the receive of the first rank, else 0)
and call (round-trip, or send: the time of a blocking send whose receive is posted). Measure many lengths from 0 B to some
times the longest eager message, each without work and with work that takes longer than the message.";

/// `hayase calibrate`.
#[derive(Args, Debug)]
#[command(after_help = CALIBRATE_EXAMPLES)]
pub struct CalibrateArgs {
    /// The measurements: a table (.csv) with the columns bytes, time, work, call.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The longest message that is sent as one packet, s, if it is known (default: found).
    #[arg(long, value_name = "SIZE")]
    pub short: Option<String>,
    /// The longest message that does not wait for its receiver, S, if it is known (default: found).
    #[arg(long, value_name = "SIZE")]
    pub eager: Option<String>,
    /// Which of the repetitions of a measurement counts: 0 the fastest, 50 the median.
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub percentile: u8,
    /// Also write this file: x.toml (the machine, for -m), x.svg (measurements and fit), x.json (may be repeated).
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub output: Vec<PathBuf>,
    /// What is printed: table or json.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = RunFormat::Table, hide_possible_values = true,
          help_heading = "Output")]
    pub format: RunFormat,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  hayase check scenario.toml
  hayase check fabric.toml messages.csv platform.xml

Yours: all of these

Says `ok` and what is in each file, or shows all mistakes of all files; then the exit code is 2.";

/// `hayase check`.
#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Scenarios, topologies and patterns (.toml), message lists (.csv), SimGrid platforms (.xml), reports (.json).
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Check TOML files as what they are with this preset below them: a name (`hayase preset list`), or a file.
    #[arg(long, value_name = "NAME|FILE")]
    pub preset: Option<String>,
}

const INIT_EXAMPLES: &str = "\
Examples:
  hayase init                                   print a scenario
  hayase init my.toml -t torus-8x8 -p all-to-all-pairwise";

/// `hayase init`.
#[derive(Args, Debug)]
#[command(after_help = INIT_EXAMPLES)]
pub struct InitArgs {
    /// Where to write it (default: standard output); what is there is not overwritten.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// The fabric, by name or file.
    #[arg(short, long, value_name = "NAME|FILE")]
    pub topology: Option<String>,
    /// The pattern, by name or file.
    #[arg(short, long, value_name = "NAME|FILE")]
    pub pattern: Option<String>,
}

/// `hayase topology`.
#[derive(Subcommand, Debug)]
pub enum TopologyVerb {
    /// List the named topologies.
    List,
    /// Show one: its size, its links, its bounds; draw it.
    #[command(after_help = "\
Examples:
  hayase topology show torus-8x8
  hayase topology show fat-tree-3456 -o tree.svg
  hayase topology show my-fabric.toml -o fabric.dot -o fabric.json

Yours: my-fabric.toml (a [topology.*] table)")]
    Show(TopologyShowArgs),
}

/// `hayase topology show`.
#[derive(Args, Debug)]
pub struct TopologyShowArgs {
    /// A name (`hayase topology list`), a TOML file with a [topology.*] table, or a SimGrid platform (.xml).
    #[arg(value_name = "NAME|FILE")]
    pub name: String,
    /// Any key of the topology: --set topology.fat-tree.p=4 (may be repeated).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Also write this file: x.svg (a drawing), x.dot (for Graphviz), x.json (all parts; may be repeated).
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Vec<PathBuf>,
}

/// `hayase preset`.
#[derive(Subcommand, Debug)]
pub enum PresetVerb {
    /// List the named presets.
    List,
    /// Show one: what it says, and where that is from.
    Show(PresetShowArgs),
}

/// `hayase preset show`.
#[derive(Args, Debug)]
pub struct PresetShowArgs {
    /// A name (`hayase preset list`).
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// `hayase pattern`.
#[derive(Subcommand, Debug)]
pub enum PatternVerb {
    /// List the named patterns.
    List,
    /// Show one: who sends what to whom, in what order.
    #[command(after_help = "\
Examples:
  hayase pattern show all-to-all-pairwise --ranks 8
  hayase pattern show all-to-all-2d-spread -t torus-8x8 --rank 5 --steps 10
  hayase pattern show messages.csv

Yours: messages.csv (src,dst,bytes)")]
    Show(PatternShowArgs),
}

/// `hayase pattern show`.
#[derive(Args, Debug)]
pub struct PatternShowArgs {
    /// A name (`hayase pattern list`), a TOML file with a [workload.*] table, or a CSV of messages.
    #[arg(value_name = "NAME|FILE")]
    pub name: String,
    /// Take as many ranks as this fabric has nodes.
    #[arg(short, long, value_name = "NAME|FILE", conflicts_with = "ranks")]
    pub topology: Option<String>,
    /// Take so many ranks (default 16).
    #[arg(long, value_name = "N")]
    pub ranks: Option<NonZeroU32>,
    /// Show the messages of this rank only (default: those of the first ranks).
    #[arg(value_parser = usage::whole::<u32>, long, value_name = "R")]
    pub rank: Option<u32>,
    /// Show the messages of the first so many steps (default 4, or all of a single rank).
    #[arg(value_parser = usage::whole::<u32>, long, value_name = "K")]
    pub steps: Option<u32>,
    /// Any key of the pattern: --set workload.all-to-all.size="1 MB" (may be repeated).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

const VALIDATE_EXAMPLES: &str = "\
Examples:
  hayase validate                         the quick cases, in seconds
  hayase validate --full                  all sizes and combinations, in minutes
  hayase validate simgrid lock-step       the cases with these words in their names

A case that differs from a published figure says by how much, and is no failure; one that cannot reach it is `not
reachable`, and says why. If one fails, the exit code is 1.";

/// `hayase validate`.
#[derive(Args, Debug)]
#[command(after_help = VALIDATE_EXAMPLES)]
pub struct ValidateArgs {
    /// Run the cases with one of these words in their names (default: all).
    #[arg(value_name = "WORD")]
    pub cases: Vec<String>,
    /// Run what takes seconds (the default).
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Run every size and every combination, which takes minutes.
    #[arg(long)]
    pub full: bool,
    /// List the cases without running them.
    #[arg(long)]
    pub list: bool,
    /// Cases, and parts of cases, at once (default: one for each core).
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroU32>,
    /// What is printed: table or json.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = RunFormat::Table, hide_possible_values = true)]
    pub format: RunFormat,
}

const BENCH_EXAMPLES: &str = "\
Examples:
  hayase bench --quick                    small loads, in half a minute
  hayase bench                            all but the largest, in minutes
  hayase bench fat-tree-3456 torus        the loads with one of these words in their names
  hayase bench fat-tree-16000/random/max-min --whole --repeats 1
      one load by its full name, to its end
  taskset -c 1 hayase bench --csv         on one core

Each run is a process of its own; loads take turns. Times are processor times of one message, the median and the range
over the repeats. Of a long load some messages are measured, after a start that is not (`--list` says how many).";

/// `hayase bench`.
#[derive(Args, Debug)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchArgs {
    /// Measure the loads with one of these words in their names (default: all but the large ones).
    #[arg(value_name = "LOAD")]
    pub loads: Vec<String>,
    /// Only loads that take about a second or less, three times each.
    #[arg(long)]
    pub quick: bool,
    /// Also loads of 16,000 and 65,536 nodes.
    #[arg(long, conflicts_with = "quick")]
    pub large: bool,
    /// List the loads without measuring them.
    #[arg(long)]
    pub list: bool,
    /// Run each so many times (default 5).
    #[arg(long, value_name = "N")]
    pub repeats: Option<NonZeroU32>,
    /// Of long loads, measure so many messages.
    #[arg(long, value_name = "N")]
    pub messages: Option<NonZeroU64>,
    /// Run long loads to their end.
    #[arg(long, conflicts_with = "messages")]
    pub whole: bool,
    /// Threads a run may use; with several, look at the wall time.
    #[arg(long, value_name = "N", default_value = "1")]
    pub threads: NonZeroU32,
    /// Also write this file: x.json, x.csv or x.md (may be repeated).
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub output: Vec<PathBuf>,
    /// What is printed: table, json or csv.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Table, hide_possible_values = true,
          help_heading = "Output")]
    pub format: TableFormat,
    /// The same as --format csv.
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub csv: bool,
    /// Measure one load once in this process (what the parent of such a process asks for).
    #[arg(long, hide = true)]
    pub alone: bool,
}

/// `hayase completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hayase completions bash > ~/.local/share/bash-completion/completions/hayase
  hayase completions zsh > ~/.zfunc/_hayase
  hayase completions fish > ~/.config/fish/completions/hayase.fish")]
pub struct CompletionsArgs {
    /// The shell: bash, elvish, fish, powershell or zsh.
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub shell: Shell,
}

/// `hayase man`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hayase man | man -l -
  hayase man -o ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write the pages of the program and all its verbs into this folder, which must exist.
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
}
