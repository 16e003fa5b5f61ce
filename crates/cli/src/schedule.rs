//! `hayase schedule`: the best possible time of a collective operation, a schedule near it, and the usual algorithms.

use std::io::Write;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};

use super::files::{kind_of, names};
use super::options::{Offer, OutputArgs, PAGE, Writes};
use super::scenario::SystemArgs;
use super::{End, Failure, Voice, asked, complain, progress, typed};
use hayase::diagnostic::{Diagnostic, Invalid, Located, Sources, Span, failure};
use hayase::ids::LinkId;
use hayase::reading::csv::{Column, read};
use hayase::report::MessageRecord;
use hayase::simulation::{PatternOutcome, PatternWork, RunOptions, Simulated};
use hayase::study::schedule::{Method, Plan, PlanOperation, Request, Schedule, csv_of, schedule as make};
use hayase::sweep::SweepError;
use hayase::units::{Bytes, QuantityError, Time};
use hayase_output::svg::{self, LinkLoad, Window};
use hayase_output::{goal, json, msccl, pictures, table};

const EXAMPLES: &str = "\
Examples:
  hayase schedule all-gather -t torus-4x4 --size \"1 MB\" -o plan.csv
  hayase schedule all-to-all -t dragonfly-72 --placement random --transport packet:iq
  hayase schedule all-reduce -t torus-4x4 --chunks 2 -o plan.xml
  hayase run -t torus-4x4 -p plan.csv --injection all

Operations: all-to-all, all-gather, reduce-scatter, all-reduce, broadcast, scatter, gather. The optimum counts bandwidth
alone, over all routes and with any split over them.

Methods:
  auto     trees for operations that copy or add; for an all-to-all the fastest of order, colour and
           greedy by the formula
  order    all-to-all in rounds of the best order (`--order auto` of `hayase run`)
  greedy   all-to-all in slots in which no link carries more than it can, packed in one pass
  pack     as greedy, with two tries for each slot
  packr    as greedy, with one of the best routes for each message
  colour   all-to-all in rounds by number on a tree, with routes that never meet
  routes   everything at once, split over the routes of the optimum
  trees    packed spanning trees, in chunks

Times are simulated without and with late starts. Schedules in rounds are kept in step by a barrier after each.

Files (-o), by name:
  x.csv       the plan as messages, for `hayase run -p x.csv` (--injection barrier with slots, else all)
  x.goal      the plan for schedule simulators, also for `hayase run x.goal`
  x.xml       the plan for MSCCL
  plan.json   the plan with all its messages
  x.svg       bytes of the plan on the fabric; of trees those of the root (--root)
  timeline.svg, links.svg   messages of each rank and load of links over time, if all start at once
  x.json      the printed figures; x.html: a page with all of this";

/// `hayase schedule`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ScheduleArgs {
    /// The operation.
    #[arg(value_name = "OPERATION", value_parser = PossibleValuesParser::new(PlanOperation::ALL.map(|(name, _)| name)))]
    pub operation: String,
    /// The system on which it runs.
    #[command(flatten)]
    pub system: SystemArgs,
    /// Number of ranks of the pattern (default: one for each node).
    #[arg(value_parser = typed::whole::<NonZeroU32>, long, value_name = "N")]
    pub ranks: Option<NonZeroU32>,
    /// Size: what each rank contributes (all-gather, reduce-scatter, scatter, gather), has for each other rank
    /// (all-to-all), or the whole vector (all-reduce, broadcast).
    #[arg(long, value_name = "SIZE", default_value = "1 MB")]
    pub size: String,
    /// Sizes of an all-to-all in a file: src,dst,bytes.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "size")]
    pub sizes: Option<PathBuf>,
    /// Rank that has the data of a broadcast or scatter, or gets those of a gather.
    #[arg(long, value_name = "RANK", default_value_t = 0)]
    pub root: u32,
    /// Method: auto, order, greedy, pack, packr, colour, routes, trees.
    #[arg(long, value_name = "METHOD", default_value = "auto", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(Method::ALL.map(|(name, _)| name)))]
    pub method: String,
    /// Number of trees of each root (default: as many as the optimum needs).
    #[arg(long, value_name = "K")]
    pub trees: Option<NonZeroU64>,
    /// Number of chunks of the data of each tree (default: the fastest number by the formula).
    #[arg(long, value_name = "C")]
    pub chunks: Option<NonZeroU32>,
    /// Start each rank at a random time from 0 to this: "1 us".
    #[arg(long, value_name = "TIME")]
    pub jitter: Option<String>,
    /// Time of the barrier after each slot of a schedule in rounds (default 0): "5 us".
    #[arg(long, value_name = "TIME")]
    pub barrier_cost: Option<String>,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

const OFFER: Offer<&str> = Offer::new(
    "schedule",
    names!["plan.json", "timeline.svg", "links.svg", "x.csv", "x.goal", "x.json", "x.html", "x.svg", "x.xml"],
);

/// Schedules an operation and prints its times.
pub fn schedule(args: &ScheduleArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let request = request(args)?;
    let loader = args.system.on(asked::loader().on_read(progress::reading(voice.show)));
    let made = progress::over_runs(voice.show, "messages", |control| make(&loader, &request, control));
    let made = match made {
        Ok(made) => made,
        Err(error) => return end(error, voice),
    };
    let Schedule { report, plan, network, .. } = &made;
    let fabric = &*network.fabric;
    let needs_plan = |path: &&PathBuf| kind_of(path, OFFER.names).is_ok_and(|kind| !["x.json", PAGE].contains(&kind));
    if let (None, Some(path)) = (plan, args.out.output.iter().find(needs_plan)) {
        let reason = report.no_schedule.as_deref().unwrap_or("its messages are too many to be listed");
        let message = format!("there is no plan for `{}`: {reason}", path.display());
        return Err(Diagnostic::new("no-plan", message).help("-o x.json has the optimum alone").into());
    }
    let files = args.out.open(&OFFER)?;
    // Without a plan no other file than the report was accepted.
    let writes = |write: &dyn Fn(&Plan, &mut dyn Write) -> std::io::Result<()>, w: &mut dyn Write| {
        plan.as_ref().map_or(Ok(()), |plan| write(plan, w))
    };
    let name = format!("{} on {}", report.operation, fabric.name());
    let to_csv = |w: &mut dyn Write| writes(&|plan, w| w.write_all(&csv_of(plan, fabric)), w);
    let to_goal = |w: &mut dyn Write| writes(&|plan, w| goal::write(plan, w), w);
    let to_xml = |w: &mut dyn Write| writes(&|plan, w| msccl::write(plan, &name, w).map_err(std::io::Error::other), w);
    let to_json = |w: &mut dyn Write| writes(&|plan, w| json::write(plan, w), w);
    let to_svg = |w: &mut dyn Write| writes(&|plan, w| w.write_all(picture(&made, plan, args.root).as_bytes()), w);
    let asks = |name: &'static str| files.iter().any(|(kind, _)| *kind == name || *kind == PAGE);
    let watched = if asks("timeline.svg") || asks("links.svg") { Some(watch(&made)?) } else { None };
    let of_run = |draw: &dyn Fn(&Watched, &mut dyn Write) -> std::io::Result<()>, w: &mut dyn Write| {
        watched.as_ref().and_then(Option::as_ref).map_or(Ok(()), |watched| draw(watched, w))
    };
    let to_timeline =
        |w: &mut dyn Write| of_run(&|(work, run, all), w| pictures::timeline(all, work, run, Window::default(), w), w);
    let to_links = |w: &mut dyn Write| {
        let draw = |(work, run, _): &Watched, w: &mut dyn Write| {
            pictures::series(fabric, &run.links, work.name(), run.report.head.makespan_s, w)
        };
        of_run(&draw, w)
    };
    let writers: [(&str, Writes<'_>); 7] = [
        ("x.csv", &to_csv),
        ("x.goal", &to_goal),
        ("x.xml", &to_xml),
        ("plan.json", &to_json),
        ("x.svg", &to_svg),
        ("timeline.svg", &to_timeline),
        ("links.svg", &to_links),
    ];
    args.out.deliver(files, || table::schedule(report), report, &writers)?;
    // A run that was stopped has no time.
    Ok(if plan.is_some() && report.simulated_s.is_none() { End::Interrupted } else { End::Done })
}

/// Ends a command whose schedule could not be made.
pub fn end(error: SweepError, voice: Voice) -> Result<End, Failure> {
    match error {
        SweepError::Invalid(invalid) if invalid.has_only("interrupted") => Ok(End::Interrupted),
        SweepError::Invalid(invalid) => Err(invalid.into()),
        other => {
            complain(failure(&other.to_string(), voice.colour));
            Ok(End::Failed)
        }
    }
}

/// Run of a schedule in step, with its messages.
type Watched = (PatternWork, PatternOutcome, Vec<MessageRecord>);

/// Plays the schedule in step once more and observes its messages and links.
fn watch(made: &Schedule) -> Result<Option<Watched>, Failure> {
    let Some(scenario) = made.scenario()? else { return Ok(None) };
    let mut messages = Vec::new();
    let mut keep = |message: &MessageRecord| messages.push(*message);
    let options = RunOptions { on_message: Some(&mut keep), link_series: true, keep: true, ..RunOptions::default() };
    let outcome = scenario.run(options);
    Ok(Some((scenario.work().clone(), outcome, messages)))
}

/// Draws the bytes of the plan on the fabric; of trees those of one root.
fn picture(made: &Schedule, plan: &Plan, root: u32) -> String {
    let fabric = &*made.network.fabric;
    let of_root = made.report.depth.is_some() && plan.operation != PlanOperation::Broadcast;
    let block = (plan.units / plan.ranks).max(1);
    let bytes = made.bytes(|message| !of_root || message.data.0 / block == root);
    let time_s = made.report.simulated_s.unwrap_or(made.report.optimum_s);
    let load = |(link, &bytes): (LinkId, &u64)| {
        let utilisation = bytes as f64 / (fabric.link(link).capacity.bytes_per_second() * time_s);
        LinkLoad { utilisation, bytes, delay_s: 0.0 }
    };
    let loads: Vec<LinkLoad> = bytes.iter_ids().map(load).collect();
    let data = match plan.operation {
        _ if of_root => format!("trees of rank {root}"),
        PlanOperation::Broadcast | PlanOperation::Scatter | PlanOperation::Gather => format!("root {root}"),
        _ => "all messages".to_owned(),
    };
    let (operation, size) = (&made.report.operation, Bytes(made.report.size_bytes));
    let method = made.report.method.as_deref().unwrap_or_default();
    let makespan = Time::from_seconds(time_s);
    let title = format!("{operation} of {} ranks, {size}, by {method}: {data}, makespan {makespan}", plan.ranks);
    svg::link_loads(fabric, &loads, &fabric.to_string(), &title)
}

/// Returns the request of the options.
fn request(args: &ScheduleArgs) -> Result<Request, Failure> {
    let wrong = |option: &str, message: String| Diagnostic::new("wrong-value", format!("{option}: {message}"));
    let of =
        |names: &[(&str, PlanOperation)]| names.iter().find(|(name, _)| *name == args.operation).map(|found| found.1);
    let method = Method::ALL.iter().find(|(name, _)| *name == args.method).map(|found| found.1);
    let size: Bytes = args.size.parse().map_err(|mistake: QuantityError| wrong("--size", mistake.to_string()))?;
    let time = |option: &str, text: Option<&str>| {
        let parsed = text.map(str::parse::<Time>).transpose();
        parsed.map_err(|mistake: QuantityError| wrong(option, mistake.to_string()))
    };
    Ok(Request {
        operation: of(&PlanOperation::ALL).unwrap_or(PlanOperation::AllToAll),
        method: method.unwrap_or_default(),
        size: size.0,
        root: args.root,
        ranks: args.ranks.map(NonZeroU32::get),
        trees: args.trees.map(NonZeroU64::get),
        chunks: args.chunks.map(NonZeroU32::get),
        jitter: time("--jitter", args.jitter.as_deref())?,
        barrier_cost: time("--barrier-cost", args.barrier_cost.as_deref())?.unwrap_or(Time::ZERO),
        sizes: args.sizes.as_ref().map(|path| sizes(path)).transpose()?,
    })
}

/// Reads the sizes of an all-to-all.
fn sizes(path: &std::path::Path) -> Result<Vec<(u32, u32, u64)>, Invalid> {
    const COLUMNS: [Column; 3] = [Column::required("src"), Column::required("dst"), Column::required("bytes")];
    let mut sources = Sources::default();
    let text = path.display().to_string();
    let base = sources.add("--sizes", text.as_str());
    let place = Span::new(base, base + text.len());
    let named = Located::new(text, place);
    let input =
        sources.open(&named).map_err(|mistake| Invalid { diagnostics: vec![mistake], sources: sources.clone() })?;
    let mut rows = Vec::new();
    read(input, &COLUMNS, |row| {
        let (src, dst) = (row.number(0, "rank", u32::MAX), row.number(1, "rank", u32::MAX));
        if let (Some(src), Some(dst), Some(bytes)) = (src, dst, row.size(2)) {
            rows.push((src, dst, bytes));
        }
    })
    .map_err(|diagnostics| Invalid { diagnostics, sources })?;
    rows.retain(|&(src, dst, bytes)| src != dst && bytes > 0);
    Ok(rows)
}
