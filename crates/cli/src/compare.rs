//! `hayase compare`: many runs side by side, best first.

use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum, ValueHint};

use super::differences::differences;
use super::files::outputs;
use super::options::{self, Format, Offer, OutputArgs};
use super::scenario::{CommonArgs, MessageArgs};
use super::seeds::seeds;
use super::{End, Failure, Voice, accuracy, asked, complain, estimate, progress};
use hayase::diagnostic::{Diagnostic, failure};
use hayase::fabric::LinkRole;
use hayase::pattern::Order;
use hayase::report::RankBy;
use hayase::study::schedule::PlanOperation;
use hayase::sweep::lists::{axes, faults, rejoined, title, vary};
use hayase::sweep::{Axis, Point, Sweep, SweepError};
use hayase::units::Bandwidth;
use hayase_output::{csv, deadlock, json, pictures, table};

const COMPARE_EXAMPLES: &str = "\
Examples:
  hayase compare -t fat-tree-54 -p all-to-all-simple-spread,all-to-all-nd-spread,all-to-all-bruck \\
      --placement regular,random -o compare.svg
  hayase compare -t torus-4x4 -p all-to-all-mpich --placement regular,random,block --seeds 8
  hayase compare -t torus-4x4 -p all-to-all-pairwise --transport packet:oq,packet:iq,flow --jitter 1.5us
  hayase compare scenario.toml --placement regular,random,block -o compare.md -o compare.csv
  hayase compare -t torus-8x8 -p all-to-all-pairwise --faults 1%,5% --seeds 20 -o faults.svg
  hayase compare --op all-gather -t torus-4x4 --vary size=1KB,1MB
  hayase compare -t fat-tree-54 --job a=all-to-all-mpich:20 --job b=ring:20 \\
      --placement by-group,random,round-robin:group --rank slowdown -o jobs.svg

  hayase compare first.json second.json -o difference.html

You supply: scenario.toml (`hayase init scenario.toml` writes one), first.json, second.json (`hayase run -o x.json`)

Every combination of the listed values is run, once for each seed, on all cores. Rows that do the same job (one \
collective operation of one size, or the same amount of data, on the same number of ranks) are ranked by their means, \
best first. A difference within its 95 % interval over the seeds is a tie.

Files (-o), by name:
  x.svg    a chart
  faults.svg   slowdown over the failed fraction of cables (--faults)
  x.csv    a line for each combination
  jobs.csv   a line for each job of each combination (--job, [[job]])
  x.json   the same, with the makespan of every seed
  x.html   the answer as a page for a browser
  x.md     the tables, as Markdown";

/// Figure by which rows are ranked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Rank {
    Makespan,
    Slowdown,
}

/// `hayase compare`.
#[derive(Args, Debug)]
#[command(after_help = COMPARE_EXAMPLES, next_help_heading = "Choices to compare")]
pub struct CompareArgs {
    /// A scenario file, which options override; or two JSON reports of one kind, whose scenarios and results are
    /// compared key by key.
    #[arg(value_name = "SCENARIO|REPORT REPORT", value_hint = ValueHint::FilePath, num_args = 0..=2)]
    pub scenario: Vec<PathBuf>,
    /// Fabrics to compare, with commas between them: names, families with their numbers, or files.
    #[arg(short, long, value_name = "T,...", value_delimiter = ',')]
    pub topology: Vec<String>,
    /// Compare the algorithms of a collective operation with its schedule: all-to-all, all-gather,
    /// reduce-scatter, all-reduce, broadcast, scatter, gather. Sizes are those of --vary size=1KB,1MB (default
    /// 1 KB, 32 KB, 1 MB and 32 MB).
    #[arg(long, value_name = "OPERATION", value_parser = PossibleValuesParser::new(PlanOperation::ALL.map(|(name, _)| name)),
          hide_possible_values = true, conflicts_with_all = ["pattern", "job", "order", "injection", "sharing", "routing", "machine", "faults", "seeds", "estimate", "optimum", "barrier_cost"])]
    pub op: Option<String>,
    /// Patterns and programs to compare, with commas between them: names, files or rules.
    #[arg(short, long, value_name = "P,...", value_delimiter = ',')]
    pub pattern: Vec<String>,
    /// Add a job to every run: NAME=PATTERN:RANKS@PLACEMENT (may be repeated); --placement then applies to
    /// all jobs.
    #[arg(long, value_name = "JOB")]
    pub job: Vec<String>,
    /// Placements to compare: regular, random, block, round-robin[:group], by-leaf[:random],
    /// by-group[:random], or CSV files `rank,node` (for jobs `job,rank,node`).
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    pub placement: Vec<String>,
    /// Sharing policies to compare: max-min, equal-share, redistribute, blocking.
    #[arg(long, value_name = "POLICY,...", value_delimiter = ',')]
    pub sharing: Vec<String>,
    /// Transports to compare: flow, flow:max-min, flow:equal-share, flow:redistribute, packet:oq, packet:iq,
    /// packet:fq, contention-free. With several, a second table compares their makespans and run times.
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',')]
    pub transport: Vec<String>,
    /// Routing rules to compare: d-mod-k, s-mod-k, hashed, dimension-order, random-order, min-adaptive, doal,
    /// family, shortest-path, table, minimal, ecmp, spray, valiant-groups, valiant-switches, ugal-l, ugal-g,
    /// progressive, min-hop, dfsssp, up-down, tables:FILE, paths:FILE.
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    pub routing: Vec<String>,
    /// Injection rules to compare: queue, sendrecv, barrier, left, all, window=K.
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    pub injection: Vec<String>,
    /// Orders of an all-to-all to compare: rank, node, slot, stride, sign, digit, reflect, random, auto; or all.
    #[arg(long, value_name = "ORDER,...", value_delimiter = ',')]
    pub order: Vec<String>,
    /// Machines to compare: names or files.
    #[arg(short, long, value_name = "M,...", value_delimiter = ',')]
    pub machine: Vec<String>,
    /// Fail these fractions of the cables between switches, drawn by the seed: 0,1%,5% (0 is always run too).
    #[arg(long, value_name = "PART,...", value_delimiter = ',')]
    pub faults: Vec<String>,
    /// Vary any key of a scenario file: topology.torus.bandwidth="1 GB/s,2 GB/s" (may be repeated).
    #[arg(long, value_name = "KEY=V,...", value_parser = vary)]
    pub vary: Vec<(String, Vec<String>)>,
    /// Number of seeds for random cases; means and standard deviations are over these.
    #[arg(long, value_name = "N")]
    pub seeds: Option<NonZeroU32>,
    /// Estimate makespans to this relative precision (1%), with 95 % intervals, by simulating only the
    /// beginning of each run. Work that is not alike from step to step is run in full.
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub estimate: Option<String>,
    /// Bound the best possible time over all routings with this largest gap (default 1%), and compare the makespan with
    /// it.
    #[arg(long, value_name = "GAP", num_args = 0..=1, default_missing_value = "1%")]
    pub optimum: Option<String>,
    /// Rank rows by makespan, or by slowdown (for jobs: the largest slowdown of a job against running alone).
    #[arg(long, value_name = "FIGURE", default_value = "makespan", hide_default_value = true)]
    pub rank: Rank,
    /// Messages of all runs.
    #[command(flatten, next_help_heading = "Settings of all runs")]
    pub messages: MessageArgs,
    /// Settings of all runs.
    #[command(flatten, next_help_heading = "Settings of all runs")]
    pub common: CommonArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

impl CompareArgs {
    /// Returns the operation whose algorithms are compared.
    pub fn operation(&self) -> Option<PlanOperation> {
        let is_named = |(name, _): &&(&str, PlanOperation)| self.op.as_deref() == Some(*name);
        PlanOperation::ALL.iter().find(is_named).map(|(_, operation)| *operation)
    }

    /// Refuses choices beside two reports, which are compared as they are.
    fn refuse_choices(&self) -> Result<(), Diagnostic> {
        let listed = [
            &self.topology,
            &self.pattern,
            &self.job,
            &self.placement,
            &self.sharing,
            &self.transport,
            &self.routing,
            &self.injection,
            &self.order,
            &self.machine,
            &self.faults,
        ];
        let single = [&self.op, &self.estimate, &self.optimum];
        let is_plain = listed.iter().all(|values| values.is_empty())
            && single.iter().all(|value| value.is_none())
            && self.vary.is_empty()
            && self.seeds.is_none()
            && format!("{:?}", (&self.messages, &self.common))
                == format!("{:?}", (MessageArgs::default(), CommonArgs::default()));
        let message = "two reports are compared as they are, without further choices";
        let refused = || Diagnostic::new("unused-option", message).help("leave out all options but -o and --format");
        if is_plain { Ok(()) } else { Err(refused()) }
    }
}

outputs! {
    /// Content of an output file, by its name.
    enum Kind {
        Faults: "faults.svg",
        Chart: "x.svg",
        Jobs: "jobs.csv",
        Csv: "x.csv",
        Json: "x.json",
        Page: "x.html",
        Markdown: "x.md",
    }
}

const OFFER: Offer<Kind> = Offer { verb: "compare", names: Kind::NAMES, json: Ok(()), csv: Ok(()), threads: true };

/// Runs all combinations.
pub fn compare(args: &CompareArgs, voice: Voice) -> Result<End, Failure> {
    if let [first, second] = args.scenario.as_slice() {
        args.refuse_choices()?;
        return differences([first, second], &args.out, voice);
    }
    args.out.begin(&OFFER)?;
    let sweep = sweep(args, voice)?;
    if let (Some(path), true) = (args.out.file_of(&OFFER, Kind::Faults), args.faults.is_empty()) {
        let message = format!("nothing fails that `{}` could show", path.display());
        return Err(Diagnostic::new("unknown-output", message).help("write --faults 1%,5%, or another name").into());
    }
    let files = args.out.open(&OFFER)?;
    let result = progress::over_runs(voice.show, "messages", |control| {
        let points = sweep.points_until(&control)?;
        say_links(&points, voice);
        sweep.run_points(&points, control)
    });
    let comparison = match result {
        Ok(comparison) => comparison,
        Err(SweepError::Invalid(invalid)) => return Err(invalid.into()),
        Err(undone @ SweepError::Undone { .. }) => {
            complain(failure(&undone.to_string(), voice.colour));
            return Ok(End::Failed);
        }
        Err(SweepError::Deadlocked { point, seed, blocked, gridlock, stopped, faults }) => {
            complain(failure(&format!("{point} with seed {seed} deadlocks"), voice.colour));
            complain(deadlock::explain(&blocked, gridlock.as_deref(), stopped, faults.as_deref()).trim_end());
            return Ok(End::Deadlocked);
        }
    };
    for row in &comparison.rows {
        estimate::say_reason_of(&row.pattern, row.estimated.as_ref(), voice);
    }
    accuracy::say_of_rows(&comparison.rows, &measured_by(args), voice);
    for (kind, file) in files {
        // Files that can be marked as incomplete are written; tables are not, and neither are empty charts.
        let marked = matches!(kind, Kind::Json | Kind::Page | Kind::Markdown | Kind::Chart | Kind::Faults);
        if !comparison.complete && (!marked || comparison.rows.is_empty()) {
            voice.say(format_args!("`{}` is not written: runs are missing", file.path().display()));
            continue;
        }
        file.write(|w| match kind {
            Kind::Chart => pictures::comparison(&comparison, w),
            Kind::Faults => pictures::faults(&comparison, w),
            Kind::Csv => csv::comparison(&comparison, w),
            Kind::Jobs => csv::compared_jobs(&comparison, w),
            Kind::Json => json::write(&comparison, w),
            Kind::Page => {
                let answer = table::comparison(&comparison);
                let of_faults = (!args.faults.is_empty())
                    .then(|| options::picture("faults.svg", &|w: &mut dyn Write| pictures::faults(&comparison, w)));
                let chart = options::picture("x.svg", &|w: &mut dyn Write| pictures::comparison(&comparison, w));
                let drawn = [chart].into_iter().chain(of_faults).collect::<io::Result<Vec<_>>>()?;
                options::page(&comparison.title, &answer, &drawn, &comparison, w)
            }
            Kind::Markdown => w.write_all(table::comparison(&comparison).to_markdown().as_bytes()),
        })?;
    }
    if !comparison.complete && args.out.format == Format::Csv {
        voice.say("runs are missing: rows, or seeds of rows, are not all there");
    }
    let (table, rows) = (|| table::comparison(&comparison), |w: &mut dyn Write| csv::comparison(&comparison, w));
    args.out.print_rows(table, &comparison, rows)?;
    Ok(if comparison.complete { End::Done } else { End::Interrupted })
}

/// Warns of compared fabrics whose nodes have links of different bandwidth.
fn say_links(points: &[Point], voice: Voice) {
    let mut fabrics: Vec<(&str, Bandwidth)> = Vec::new();
    for point in points {
        if fabrics.iter().any(|&(name, _)| name == point.row.topology) {
            continue;
        }
        let links = point.scenario.system().network().map(|network| network.fabric.links());
        let of_node = links.and_then(|links| {
            links.iter().find(|link| link.role == LinkRole::Injection).or_else(|| links.iter().next())
        });
        fabrics.extend(of_node.map(|link| (point.row.topology.as_str(), link.capacity)));
    }
    let widest = fabrics.iter().map(|&(_, bandwidth)| bandwidth).max();
    if fabrics.iter().any(|&(_, bandwidth)| Some(bandwidth) < widest) {
        let each = fabrics.iter().map(|(name, bandwidth)| format!("{bandwidth} on {}", table::printable(name)));
        let widest = widest.unwrap_or_default();
        voice.say(format_args!(
            "links of nodes differ: {}; `--link-bandwidth \"{widest}\"` sets the links of fabrics without their own",
            each.collect::<Vec<_>>().join(", ")
        ));
    }
}

/// Returns the arguments of `hayase accuracy` for the same scenario.
fn measured_by(args: &CompareArgs) -> String {
    let options = [
        ("-t", args.topology.as_slice()),
        ("-p", args.pattern.as_slice()),
        ("--size", args.messages.size.as_slice()),
        ("--placement", args.placement.as_slice()),
        ("--routing", args.routing.as_slice()),
    ];
    accuracy::words(args.scenario.first().map(PathBuf::as_path), &options)
}

/// Returns the sweep that the arguments describe.
fn sweep(args: &CompareArgs, voice: Voice) -> Result<Sweep, Failure> {
    let mut base = asked::loader().on_read(progress::reading(voice.show));
    if let Some(path) = args.scenario.first() {
        base = base.file(path);
    }
    // The seeds are set below.
    base = CommonArgs { seed: None, ..args.common.clone() }.on(args.messages.on(base));
    base = args.job.iter().fold(base, |base, job| base.job(job));
    base = args.estimate.iter().fold(base, |base, percent| base.estimate(percent));
    base = args.optimum.iter().fold(base, |base, gap| base.optimum(gap));
    let seeds = match (args.common.seed, args.seeds) {
        // The seed of the scenario file.
        (None, None) => Vec::new(),
        (first, count) => seeds(first.unwrap_or(1), count)?,
    };
    let (topologies, faults) = (rejoined(&args.topology), faults(&args.faults));
    let orders = match args.order.as_slice() {
        [all] if all == "all" => {
            Order::ALL.iter().filter(|order| **order != Order::Auto).map(Order::to_string).collect()
        }
        listed => listed.to_vec(),
    };
    let listed = [
        (Axis::Topology, topologies.as_slice()),
        (Axis::Machine, &args.machine),
        (Axis::Placement, &args.placement),
        (Axis::Sharing, &args.sharing),
        (Axis::Transport, &args.transport),
        (Axis::Routing, &args.routing),
        (Axis::Injection, &args.injection),
        (Axis::Order, &orders),
        (Axis::Faults, &faults),
    ];
    Ok(Sweep {
        fitting_orders: args.order == ["all"],
        title: title(args.scenario.first().map(PathBuf::as_path), &args.topology, &args.pattern),
        base,
        axes: axes(listed, &args.vary, &args.pattern),
        seeds,
        rank: match args.rank {
            Rank::Makespan => RankBy::Makespan,
            Rank::Slowdown => RankBy::Slowdown,
        },
    })
}
