//! `hayase sweep`: all points of a plan, kept in a folder.

pub mod args;
mod failure;
mod submit;
mod views;

use std::io::Write;
use std::path::{Path, PathBuf};

use super::files::{Opened, parts, same_file, text, twice};
use super::progress::{self, PointsMonitor};
use super::{End, Failure, Voice, asked, extension, interrupt, options, print, show};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::plan::{self, Counts, Faults, Merged, Plan, RunControl, RunSummary, Shard, StoreError};
use hayase::units::count;
use hayase_output::table::{self, grouped};

use args::SweepArgs;
use failure::store;
use views::Kind;

/// Relative precision of crossings.
const CROSSING: f64 = 0.01;

/// Runs the points of a plan, or counts, merges or shows them.
pub fn sweep(args: &SweepArgs, voice: Voice) -> Result<End, Failure> {
    let (folder, views) = outputs(args)?;
    options::begin(args.threads)?;
    let loader = asked::loader().on_read(progress::reading(voice.show));
    let mut plan = Plan::read(&args.plan, loader)?;
    if let Some(cost) = args.cost.as_ref().filter(|cost| !plan.has_figure(cost)) {
        let message = format!("--cost: `{cost}` is neither a key with numbers nor a figure of `keep`");
        let diagnostic = Diagnostic::new("unknown-key", message);
        return Err(diagnostic.help(format!("there are: {}", plan.keys().join(", "))).into());
    }
    if args.count {
        let merged = plan::count(&plan, folder).map_err(store)?;
        say_faults(&merged.faults, voice);
        print(&counted(&plan, &merged.counts))?;
    }
    let needed = || {
        let diagnostic = Diagnostic::new("missing-option", "no folder is given for the results");
        let help = match args.merge.iter().chain(&views).next() {
            Some(path) => {
                format!("`{}` is made from the results in a folder: add -o DIR", path.display())
            }
            None => "add -o DIR, a new folder or one with results of this plan".to_owned(),
        };
        folder.ok_or_else(|| diagnostic.help(help))
    };
    if let Some(engine) = args.submit {
        return submit::submit(engine, args, &plan, needed()?, voice);
    }
    let mut end = End::Done;
    let shows_alone = args.best.is_some() || args.sensitivity;
    let is_to_run = args.run || args.retry_failed || args.shard.is_some() || args.crossings.is_some();
    if is_to_run || !args.count && args.merge.is_empty() && !shows_alone {
        let folder = needed()?;
        let stop = interrupt::stop_flag();
        let monitor = PointsMonitor::new(voice.show);
        let tell = |progress| monitor.tell(progress);
        let control = RunControl {
            progress: Some(&tell),
            cancel: Some(stop),
            retry_failed: args.retry_failed,
            ..RunControl::default()
        };
        let ran = match &args.crossings {
            Some((over, of)) => plan::refine(&mut plan, folder, [over, of], CROSSING, control),
            None => plan::run(&plan, folder, args.shard.unwrap_or(Shard::ALL), control),
        };
        let ran = ran.map_err(store)?;
        drop(monitor);
        say_faults(&ran.faults, voice);
        print(&in_words(&ran, args))?;
        if ran.interrupted {
            end = End::Interrupted;
        }
    }
    for (path, kind) in args.merge.iter().chain(&views).map(|path| (path, Kind::of(path))) {
        write(parts(path).1, kind?, &plan, needed()?, args, voice)?;
    }
    if args.best.is_some() || args.sensitivity || args.crossings.is_some() {
        let means = plan::means(&plan, needed()?).map_err(store)?;
        if means.rows.is_empty() {
            print("no point has a makespan yet\n")?;
            return Ok(end);
        }
        if means.counts.missing > 0 {
            let missing = count(means.counts.missing, "point is missing", "points are missing");
            voice.hint(format_args!("{missing}; add --run to run them"));
        }
        if let Some(most) = args.best {
            show(&table::best(&means, most.get() as usize))?;
        }
        if args.sensitivity {
            show(&table::sensitivity(&means))?;
        }
        if let Some((over, of)) = &args.crossings {
            let keys = [means.key(over)?, means.key(of)?];
            let found = means.crossings(keys[0], keys[1])?;
            print(&views::crossings(&means, keys, &found))?;
        }
    }
    Ok(end)
}

/// Splits the outputs by their names into the results folder and pictures.
fn outputs(args: &SweepArgs) -> Result<(Option<&Path>, Vec<PathBuf>), Failure> {
    let has_end = |path: &Path| ["svg", "csv", "json", "parquet", "html"].contains(&extension(path).as_str());
    let is_view = |path: &&PathBuf| has_end(path) || parts(path).0.is_some();
    let views: Vec<PathBuf> = args.output.iter().filter(is_view).cloned().collect();
    let mut folders = args.output.iter().filter(|path| !is_view(path));
    let folder = folders.next().map(PathBuf::as_path);
    let mut diagnostics: Vec<Diagnostic> =
        args.merge.iter().chain(&views).filter_map(|path| Kind::of(path).err()).collect();
    if let Some(second) = folders.next() {
        let message = format!("results are kept in one folder, and `{}` is another", second.display());
        diagnostics.push(Diagnostic::new("output-twice", message).help("write -o once with a folder"));
    }
    if let Some(path) = folder.filter(|path| path.is_file()) {
        diagnostics.push(not_a_folder(path, &args.plan));
    }
    let places: Vec<PathBuf> = args.merge.iter().chain(&views).map(|path| parts(path).1.to_owned()).collect();
    diagnostics.extend(twice(&places));
    let written = |wanted| args.merge.iter().chain(&views).find(|path| Kind::of(path).is_ok_and(|kind| kind == wanted));
    if let (Some(path), None) = (written(Kind::Pareto), &args.cost) {
        let message = format!("`{}` needs the cost of a point", path.display());
        let help = "write --cost KEY: a key with numbers, or a figure of `keep`";
        diagnostics.push(Diagnostic::new("missing-option", message).help(help));
    }
    if args.cost.is_some() && written(Kind::Pareto).or(written(Kind::Page)).is_none() {
        let diagnostic = Diagnostic::new("wrong-choice", "--cost is for pareto.svg and x.html, and none is written");
        diagnostics.push(diagnostic.help("write one: -o pareto.svg"));
    }
    if diagnostics.is_empty() { Ok((folder, views)) } else { Err(Invalid { diagnostics, ..Invalid::default() }.into()) }
}

/// Returns the mistake of naming a file as the results folder.
fn not_a_folder(path: &Path, plan: &Path) -> Diagnostic {
    let diagnostic = match same_file(path, plan) {
        true => Diagnostic::new("output-is-input", format!("`{}` is the plan itself", path.display())),
        false => {
            let message = format!("`{}` is a file; results are kept in a folder", path.display());
            Diagnostic::new("wrong-choice", message)
        }
    };
    diagnostic.help("write -o DIR")
}

/// Writes rows or a picture.
fn write(path: &Path, kind: Kind, plan: &Plan, folder: &Path, args: &SweepArgs, voice: Voice) -> Result<(), Failure> {
    if kind == Kind::Page {
        let html = views::page(plan, folder, args)?;
        return Opened::new(path)?.write(|w| w.write_all(&html));
    }
    let Some(columns) = kind.columns() else {
        let picture = views::picture(kind, plan, folder, args.cost.as_deref(), args.crossings.as_ref())?;
        return Opened::new(path)?.write(text(&picture));
    };
    let (path, mut file) = Opened::new(path)?.into_parts();
    let merged = plan::merge(plan, folder, columns, &mut file).map_err(|error| match error {
        StoreError::Unwritten(error) => Failure::Write(path.clone(), error),
        error => store(error),
    })?;
    file.commit().map_err(|error| Failure::Write(path.clone(), error))?;
    say_faults(&merged.faults, voice);
    say_missing(&merged, &path, voice);
    Ok(())
}

/// Returns text such as `1,000 points: 998 run, 2 of them failed`.
fn in_words(ran: &RunSummary, args: &SweepArgs) -> String {
    let shard = args.shard.map(|shard| format!("shard {}/{}: ", shard.index, shard.of)).unwrap_or_default();
    let failed = if ran.failed > 0 { format!(", {} of them failed", grouped(ran.failed)) } else { String::new() };
    let there = match ran.there {
        0 => String::new(),
        there => format!(", {}", count(there, "was done before", "were done before")),
    };
    let stopped = if ran.interrupted { "; stopped early, and the same command continues" } else { "" };
    let points = count(ran.run, "point run", "points run");
    format!("{shard}{points}{failed}{there}{stopped}\n")
}

fn counted(plan: &Plan, counts: &Counts) -> String {
    let Counts { points, repeated, done, failed, missing, unfinished, wall_s } = counts;
    let mut text = format!("{:<10} {}\n", "points", grouped(*points));
    let mut line = |name: &str, value: String| text += &format!("{name:<10} {value}\n");
    if *repeated > 0 {
        line("equal", format!("{} to another point, run once", grouped(*repeated)));
    }
    line("done", grouped(*done));
    line("failed", grouped(*failed));
    line("missing", grouped(*missing));
    if *unfinished > 0 {
        line("unfinished", format!("{} need more seeds", grouped(*unfinished)));
    }
    if let (Some(wall_s), true) = (wall_s, *missing > 0) {
        let threads = rayon::current_num_threads();
        let left = counts.left_s(threads).unwrap_or(0.0);
        let each = format!("{:.3} ms a point, {threads} threads", wall_s * 1e3);
        line("time left", format!("{} ({each})", progress::duration(left)));
    }
    let keys = plan.keys().join(", ");
    line("varied", keys);
    text
}

fn say_faults(faults: &Faults, voice: Voice) {
    if faults.torn_lines > 0 {
        let lines = count(faults.torn_lines, "unreadable line is left out", "unreadable lines are left out");
        voice.say(format_args!("note: {lines}: {}", faults.torn.join(", ")));
    }
    if faults.doubles > 0 {
        let points = count(faults.doubles, "point has more than one row", "points have more than one row");
        voice.say(format_args!("note: {points}, all equal"));
    }
}

fn say_missing(merged: &Merged, path: &Path, voice: Voice) {
    let Counts { points, done, missing, .. } = &merged.counts;
    if *missing > 0 {
        let (done, points, missing) = (grouped(*done), grouped(*points), grouped(*missing));
        voice.say(format_args!("note: `{}` has {done} of {points} points; {missing} are missing", path.display()));
    }
}
