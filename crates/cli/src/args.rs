//! Top level of the command line: all commands. Each command's own arguments are in its module.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Command, Parser, Subcommand};

use super::accuracy::AccuracyArgs;
use super::advise::args::{AdviseArgs, ExplainArgs};
use super::bench::BenchArgs;
use super::calibrate::CalibrateArgs;
use super::catalog::{ListVerb, ShowArgs};
use super::check::CheckArgs;
use super::compare::CompareArgs;
use super::init::InitArgs;
use super::linux::LinuxVerb;
use super::llm::LlmArgs;
use super::machine::MachineVerb;
use super::man::{CompletionsArgs, GenerateVerb, ManArgs};
use super::master_slave::args::MasterSlaveArgs;
use super::nccl::NcclArgs;
use super::pattern::PatternVerb;
use super::predict::args::PredictArgs;
use super::preset::PresetVerb;
use super::program::args::ProgramVerb;
use super::rates::RatesArgs;
use super::replay::args::ReplayArgs;
use super::run::RunArgs;
use super::schedule::ScheduleArgs;
use super::sweep::args::SweepArgs;
use super::throughput::ThroughputArgs;
use super::topology::TopologyVerb;
use super::trace::TraceVerb;
use super::typed::InOurWords;
use super::validate::ValidateArgs;
use super::voice::Global;
use super::whatif::args::WhatIfArgs;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  hayase run -t fat-tree-54 -p all-to-all-simple-spread
      the time of an all-to-all on 54 nodes, its bounds and its busiest links
  hayase compare -t fat-tree-54 -p all-to-all-simple-spread,all-to-all-nd-spread \\
      --placement regular,random -o compare.svg
      algorithms and placements, as a table and a picture
  hayase init my.toml && hayase run my.toml
      a commented scenario to edit, and its run
  hayase replay gaussian-elimination:n=256 -m myrinet
      the run time of a parallel program on a machine, and where the time goes
  hayase list topologies; hayase list patterns
      the named fabrics and patterns

Exit codes:
  0    done
  1    failed at run time (a file cannot be written)
  2    bad input or usage; the message shows the place
  3    the simulated program deadlocks; the message shows who waits for whom
  130  stopped by Ctrl-C; the results until then are reported, marked as interrupted";

/// A discrete-event message-flow simulator for HPC interconnects.
///
/// Name a fabric and a traffic pattern; Hayase predicts how long the communication takes, what bounds it and
/// which links are the bottleneck. Results go to standard output, everything else to standard error.
#[derive(Parser, Debug)]
#[command(name = "hayase", version, after_help = EXAMPLES, styles = STYLES, max_term_width = 110)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub verb: Verb,
    /// Options of all commands.
    #[command(flatten)]
    pub global: Global,
}

/// Commands listed in the help, in groups by purpose.
pub(super) const GROUPS: [(&str, &[&str]); 6] = [
    ("Simulate", &["run", "rates", "throughput", "schedule", "nccl"]),
    ("Compare", &["compare", "sweep", "whatif", "accuracy"]),
    ("Fabrics", &["list", "show", "topology"]),
    ("Programs", &["llm", "replay", "predict", "master-slave", "program", "trace", "calibrate", "measure"]),
    ("Record and advise", &["record", "wrap", "advise"]),
    ("More", &["init", "check", "validate", "bench", "generate"]),
];

/// Returns the command with its subcommands listed in groups, each with its description up to the first
/// colon.
pub(super) fn grouped(command: Command) -> Command {
    let heading = STYLES.get_header();
    let literal = STYLES.get_literal();
    let mut verbs = String::new();
    for (group, names) in GROUPS {
        verbs += &format!("{heading}{group}:{heading:#}\n");
        for name in names {
            let Some(verb) = command.find_subcommand(name) else { continue };
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let clause = about.split([':', ';']).next().unwrap_or_default();
            verbs += &format!("  {literal}{name:<13}{literal:#} {clause}\n");
        }
        verbs.push('\n');
    }
    let head = "{about-with-newline}\n{usage-heading} {usage}\n\n";
    let template = format!("{head}{verbs}{heading}Options:{heading:#}\n{{options}}{{after-help}}");
    command.help_template(template)
}

/// Returns the program with a single subcommand, whose parsing and help are those of the whole program.
pub(super) fn of_one_verb(verb: Command) -> Command {
    let program = Command::new("hayase").version(env!("CARGO_PKG_VERSION")).styles(STYLES).max_term_width(110);
    Global::augment_args(program.subcommand_required(true).arg_required_else_help(true)).subcommand(verb)
}

/// The command.
#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Simulate one scenario: run time, bounds and bottleneck links.
    Run(Box<InOurWords<RunArgs>>),
    /// Compare fabrics, algorithms, placements and settings, best first.
    Compare(InOurWords<CompareArgs>),
    /// Compare flow models with packet simulation over many cases: their errors and their speed.
    Accuracy(InOurWords<AccuracyArgs>),
    /// Run a plan of thousands of simulations that can be interrupted and resumed: no finished point is run
    /// again.
    Sweep(InOurWords<SweepArgs>),
    /// Show the rate and bottleneck of every message of the first step: all of them are under way at once.
    Rates(InOurWords<RatesArgs>),
    /// Compute the throughput of a fabric under steady traffic: the share of their bandwidth that all nodes
    /// can use, and the bottleneck link.
    Throughput(InOurWords<ThroughputArgs>),
    /// Schedule a collective operation near its best possible time, beside the usual algorithms.
    Schedule(Box<InOurWords<ScheduleArgs>>),
    /// Compute a training step of a language model in closed form: operations, memory, communication, time.
    Llm(Box<InOurWords<LlmArgs>>),
    /// Show the algorithm and protocol that NCCL takes for a collective, by size, and its time on a fabric.
    Nccl(InOurWords<NcclArgs>),
    /// Predict the run time of a program from data sets that were measured once.
    Predict(Box<InOurWords<PredictArgs>>),
    /// Make, show and extend the data sets of a prediction: program data and computation data.
    #[command(subcommand)]
    Program(InOurWords<ProgramVerb>),
    /// Replay a recorded program on other nodes or another network: its run time, and where the time goes.
    Replay(InOurWords<ReplayArgs>),
    /// Vary parameters of nodes and network one at a time: which of them matter, and the most that any
    /// network could gain.
    Whatif(InOurWords<WhatIfArgs>),
    /// Make a machine from measured round trips, a ping-pong or a ring.
    Calibrate(InOurWords<CalibrateArgs>),
    /// Check input files without running anything: scenarios, topologies, patterns, data sets.
    Check(InOurWords<CheckArgs>),
    /// Write a commented scenario to start from.
    Init(InOurWords<InitArgs>),
    /// Print the JSON schema of scenario files, for editors.
    #[command(hide = true)]
    Schema,
    /// List the named topologies, patterns, machines, presets, models or rules of advice.
    #[command(subcommand)]
    List(InOurWords<ListVerb>),
    /// Show a named topology, pattern, machine, preset, model or rule, or the fabric or messages of a file.
    Show(InOurWords<ShowArgs>),
    /// Show, draw and compare fabrics, or write their forwarding tables.
    #[command(subcommand)]
    Topology(InOurWords<TopologyVerb>),
    /// List the named patterns, or show one.
    #[command(subcommand, hide = true)]
    Pattern(InOurWords<PatternVerb>),
    /// List the named machines, or show one.
    #[command(subcommand, hide = true)]
    Machine(InOurWords<MachineVerb>),
    /// List the named presets, or show one.
    #[command(subcommand, hide = true)]
    Preset(InOurWords<PresetVerb>),
    #[command(flatten)]
    Linux(LinuxVerb),
    /// Find possible improvements of a recorded program: each with its simulated gain on a machine and
    /// network.
    Advise(Box<InOurWords<AdviseArgs>>),
    /// List the rules of advice, or explain one.
    #[command(hide = true)]
    Explain(InOurWords<ExplainArgs>),
    /// Show the contents of a recorded program or a schedule, or convert it to another format.
    #[command(subcommand)]
    Trace(InOurWords<TraceVerb>),
    /// Predict the run time of a master/slave program from a few executed tasks.
    MasterSlave(Box<InOurWords<MasterSlaveArgs>>),
    /// Check the simulator against closed forms, other simulators and published figures.
    Validate(InOurWords<ValidateArgs>),
    /// Measure the speed of the simulator on this machine: time and memory for each message, growth with the
    /// number of nodes.
    Bench(InOurWords<BenchArgs>),
    /// Generate shell completions, manual pages or the JSON schema of scenario files.
    #[command(subcommand)]
    Generate(InOurWords<GenerateVerb>),
    /// Print a completion script for a shell.
    #[command(hide = true)]
    Completions(InOurWords<CompletionsArgs>),
    /// Print the manual page, or write the pages of all commands into a folder.
    #[command(hide = true)]
    Man(InOurWords<ManArgs>),
}
