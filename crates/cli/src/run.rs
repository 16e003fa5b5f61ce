//! `hayase run`: simulates one scenario and writes its report and files.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::caveats::{self, Strictness};
use super::files::{kind_of, named};
use super::options::{self, OutputArgs};
use super::play::{Asked, FARM, Filed, INTERFERENCE, play, play_farm};
use super::scenario::TrafficArgs;
use super::seeds::SeedsArgs;
use super::window::WindowArgs;
use super::work::{self, WorkArgs, unlisted};
use super::{End, Failure, Voice, accuracy, estimate};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::scenario::Loaded;
use hayase::simulation::{JobWork, JobsWork, PatternWork, ProgramWork};
use hayase::system::System;
use hayase_output::table;

const RUN_EXAMPLES: &str = "\
Examples:
  hayase run -t fat-tree-54 -p all-to-all-simple-spread --placement random --seeds 8
  hayase run -t torus-4x4 -p all-to-all-pairwise --transport packet:iq
  hayase run -t torus-8x8 -p ring --size \"1 MB\" -o report.json -o loads.svg
  hayase run report.json                  run the scenario of a report again
  hayase run scenario.toml --set topology.fat-tree.p=4
  hayase run -t torus-8x8 -p messages.csv --injection window=4
  hayase run farm.toml -t torus-4x4       a master/slave program ([workload.master-slave])
  hayase run gaussian-elimination:n=256 -m myrinet
      a program by rule; likewise traces and schedules, with the options of `hayase replay`
  hayase run cg.prog node-a.comp gigabit.comm
      a prediction from data sets, with the options of `hayase predict`
  hayase run executed.csv --grid 1024x1024 --workers 8..128:8
      tasks of a master/slave program, with the options of `hayase master-slave`
  hayase run -t fat-tree-54 --job a=all-to-all-pairwise:16@random --job b=ring:20
  hayase run -t fat-tree-3456 -p all-to-all-simple-spread --placement random --estimate 1%
  hayase run -t torus-8x8 -p messages.csv --straggler 3=50% -o noise.svg

You supply: scenario.toml (`hayase init scenario.toml` writes one), messages.csv (src,dst,bytes), farm.toml; cg.prog, \
node-a.comp and gigabit.comm (data sets), executed.csv (tasks)

Options of single kinds of work are described by `hayase replay --help` (programs), `hayase predict --help` \
(predictions) and `hayase master-slave --help` (master/slave programs). Other work refuses them.

Files (-o), by name:
  x.json         the report
  x.html         the answer as a page for a browser: sentences, tables and pictures
  x.svg          the load of each link, drawn on the fabric
  timeline.svg   messages, computation and waiting over time (small runs)
  messages.csv   every message: src,dst,index,bytes,start_s,end_s
  ranks.csv      every rank: its time by kind, and its lateness
  path.csv       the critical path; activities.csv: all activities of ranks
  links.csv      every link: capacity, bytes, busy time, utilisation, flows
  links.svg      the load over time of each kind of link, and of the busiest links
  rankfile=FILE  host of each rank for Open MPI, numbered by the order of an all-to-all; hostfile=FILE for MPICH
  noise.svg      the propagation of delays of slow ranks (--straggler, --noise); also noise.csv
For programs see `hayase replay`, for master/slave programs `hayase master-slave`. With several jobs, x.csv has a line \
for each and x.svg shows when they ran. messages.csv and links.csv then name the job, timeline.svg has a colour for \
each, and loads.svg shows the load of each link. interference.csv and interference.svg show which job delays which.
The name may be longer (run-7-messages.csv): the word in it counts.
A file appears when it is complete; a run that is stopped or deadlocks writes only the report.";

/// `hayase run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES, mut_args(unlisted()))]
pub struct RunArgs {
    /// The work: a scenario file (TOML), a JSON report whose scenario is run again, or a list of messages
    /// (.csv). Programs are a trace, a schedule, a rule, or the data sets of a prediction (.prog, .comp,
    /// .comm). The tasks of a master/slave program are a table, a tasks file or a rule.
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub work: Vec<PathBuf>,
    /// Traffic, and the system that carries it.
    #[command(flatten)]
    pub traffic: TrafficArgs,
    /// Options of single kinds of work.
    #[command(flatten)]
    pub of_kind: WorkArgs,
    /// Add a job that shares the fabric with others: NAME=PATTERN:RANKS@PLACEMENT, with a pattern or program,
    /// its number of ranks and its placement on the free nodes; ranks and placement may be left out (may be
    /// repeated).
    #[arg(long, value_name = "JOB", help_heading = "Scenario")]
    pub job: Vec<String>,
    /// Show which job delays which: the time that messages of each job lose to those of each other job.
    #[arg(long, help_heading = "Scenario")]
    pub interference: bool,
    /// Estimate the makespan to this relative precision (1%), with a 95 % interval, by simulating only the
    /// beginning. Work that is not alike from step to step is run in full.
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, help_heading = "Scenario")]
    pub estimate: Option<String>,
    /// Bound the best possible time over all routings with this largest gap (default 1%), and compare the makespan with
    /// it.
    #[arg(long, value_name = "GAP", num_args = 0..=1, default_missing_value = "1%", help_heading = "Scenario")]
    pub optimum: Option<String>,
    /// Number of seeds.
    #[command(flatten)]
    pub seeds: SeedsArgs,
    /// Treatment of incomplete recordings.
    #[command(flatten)]
    pub strictness: Strictness,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
    /// Window of a timeline.
    #[command(flatten)]
    pub window: WindowArgs,
}

/// Runs a scenario.
pub fn run(args: &RunArgs, voice: Voice) -> Result<End, Failure> {
    check_names(&args.out)?;
    options::begin(args.out.threads)?;
    let start = hayase::base::wall_clock::now();
    let loader = args.of_kind.named(&args.work, args.traffic.pattern.is_some(), voice)?;
    let loader = args.of_kind.on(args.traffic.on(loader));
    let loader = args.job.iter().fold(loader, |loader, job| loader.job(job));
    let loader = args.estimate.iter().fold(loader, |loader, percent| loader.estimate(percent));
    let loader = args.optimum.iter().fold(loader, |loader, gap| loader.optimum(gap));
    let named = args.work.first().map_or(Path::new(""), PathBuf::as_path);
    let loaded = loader.load_all().map_err(|invalid| work::with_hints(invalid, named))?;
    estimate::say(&loaded, voice);
    let system = match &loaded {
        Loaded::Pattern(scenario) => Some(scenario.system()),
        Loaded::Program(scenario) => Some(scenario.system()),
        Loaded::Jobs(scenario) => Some(scenario.system()),
        Loaded::Farm(_) => None,
    };
    if let Some(idle) = system.and_then(System::idle_links) {
        voice.say(table::printable(&idle));
    }
    if let Loaded::Pattern(scenario) = &loaded
        && let Some(fabric) = scenario.work().other_fabric(scenario.system())
    {
        let fabric = table::printable(fabric);
        let text = "its paths and slots may not fit";
        voice.say(format_args!("warning: this plan was made for another fabric ({fabric}); {text}"));
    }
    let asked = Asked {
        interference: args.interference,
        words: measured_by(args),
        ..Asked::new("run", args.seeds, &args.out, &args.window, voice)
    };
    match loaded {
        Loaded::Jobs(scenario) => {
            for job in &scenario.work().jobs {
                if let JobWork::Program(work) = &job.task {
                    caveats::judge(&work.program.caveats, &work.name, args.strictness, voice)?;
                }
            }
            play(&scenario, &asked)
        }
        _ if asks_interference(args) => Err(JobsWork::needs_several().into()),
        Loaded::Pattern(scenario) => play(&scenario, &asked),
        Loaded::Program(played) => {
            let since = played.work().origin.is_some().then_some(start);
            work::play_program(&played, &Asked { since, ..asked }, args.strictness)
        }
        Loaded::Farm(farm) => play_farm(&farm, asked.seeds, &args.out, voice),
    }
}

/// Refuses file names that no kind of work has; the names of the actual work are checked once it is known.
fn check_names(out: &OutputArgs) -> Result<(), Failure> {
    let others = [ProgramWork::NAMES, FARM.names, JobsWork::NAMES];
    let is_known = |path: &Path| others.iter().any(|names| kind_of(path, names).is_ok());
    let mistake = |path: &PathBuf| kind_of(path, PatternWork::NAMES).err().filter(|_| !is_known(path));
    let diagnostics: Vec<Diagnostic> = out.output.iter().filter_map(mistake).collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(Invalid { diagnostics, ..Invalid::default() }.into()) }
}

/// Returns true if an option or a file name requests the delays between jobs.
fn asks_interference(args: &RunArgs) -> bool {
    args.interference || args.out.output.iter().any(|path| named(path, INTERFERENCE))
}

/// Returns the arguments of `hayase accuracy` for the same scenario.
fn measured_by(args: &RunArgs) -> String {
    let TrafficArgs { pattern, system, messages, .. } = &args.traffic;
    let options = [
        ("-t", system.topology.as_slice()),
        ("-p", pattern.as_slice()),
        ("--size", messages.size.as_slice()),
        ("--placement", system.placement.as_slice()),
        ("--routing", system.routing.as_slice()),
    ];
    accuracy::words(args.work.first().map(PathBuf::as_path), &options)
}
