//! `hayase sweep --submit`: the script by which a batch system starts all shards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;

use super::super::process::word;
use super::super::{End, Failure, Voice, interrupt, print, process, progress, reason};
use super::args::{Engine, SweepArgs};
use super::failure::store;
use hayase::diagnostic::Diagnostic;
use hayase::plan::{self, Plan, RunControl, Shard};
use hayase::units::count;
use hayase_output::table::grouped;

/// Target time of a task \[s\]: long enough to make its start negligible, and short enough to lose little if
/// it fails.
const CHUNK: f64 = 45.0 * 60.0;
/// Largest number of tasks in an array: Slurm's default `MaxArraySize` is 1001.
const MOST_TASKS: u64 = 1000;
/// Number of points run to estimate the time of one, if none is finished.
const PILOT: u64 = 64;

/// Division of the points into tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Chunks {
    shards: u64,
    threads: u64,
    /// Time limit of each task \[min\]: twice its estimate plus half an hour.
    minutes: u64,
}

impl Chunks {
    /// Divides points with this total time on one thread \[s\].
    fn of(work_s: f64, points: u64, threads: u64) -> Self {
        let all = work_s / threads as f64;
        let shards = ((all / CHUNK).ceil() as u64).clamp(1, MOST_TASKS.min(points.max(1)));
        let minutes = (2.0 * all / shards as f64 / 60.0).ceil() as u64 + 30;
        Self { shards, threads, minutes }
    }
}

/// Writes the script, and submits it on request.
pub(super) fn submit(
    engine: Engine,
    args: &SweepArgs,
    plan: &Plan,
    folder: &Path,
    voice: Voice,
) -> Result<End, Failure> {
    let mut counts = plan::count(plan, Some(folder)).map_err(store)?.counts;
    if counts.wall_s.is_none() {
        let control = RunControl { cancel: Some(interrupt::stop_flag()), most: Some(PILOT), ..RunControl::default() };
        let ran = plan::run(plan, folder, Shard::ALL, control).map_err(store)?;
        if interrupt::stop_flag().load(Ordering::Relaxed) {
            voice.say(format_args!("no script is written: the pilot was stopped after {} points", grouped(ran.run)));
            return Ok(End::Interrupted);
        }
        voice.say(format_args!("pilot: {} points of all over the plan", grouped(ran.run)));
        counts = plan::count(plan, Some(folder)).map_err(store)?.counts;
    }
    let each = counts.wall_s.unwrap_or(0.0);
    let threads = args.threads.map_or(1, |threads| u64::from(threads.get()));
    let chunks = Chunks::of(each * counts.missing as f64, counts.missing, threads);
    let program = process::texts();
    let (name, command, text) = match engine {
        Engine::Slurm => ("submit.slurm", "sbatch", slurm(&program, args, folder, chunks)),
        Engine::Hq => ("submit.hq.sh", "sh", hyper_queue(&program, args, folder, chunks)),
    };
    let path: PathBuf = folder.join(name);
    fs::write(&path, text).map_err(|error| Failure::Write(path.clone(), error))?;
    let left = progress::duration(each * counts.missing as f64 / threads as f64 / chunks.shards as f64);
    let points = count(counts.missing, "point", "points");
    let shards = count(chunks.shards, "shard", "shards");
    let each = format!("{:.3} ms a point, {}", each * 1e3, count(threads, "thread each", "threads each"));
    print(&format!("{}: {points} in {shards} of about {left} ({each})\n", path.display()))?;
    if !args.go {
        return print(&format!("submit it: {command} {}\n", path.display())).map(|()| End::Done);
    }
    let failed = |why: String| {
        let diagnostic = Diagnostic::new("submit", format!("`{command} {}` {why}", path.display()));
        Failure::Failed(Box::new(diagnostic.help("the script is written: submit it by hand")))
    };
    match Command::new(command).arg(&path).status() {
        Ok(status) if status.success() => Ok(End::Done),
        Ok(status) => Err(failed(format!("failed ({status})"))),
        Err(error) => Err(failed(format!("cannot be started: {}", reason(&error)))),
    }
}

fn words(program: &[String], args: &SweepArgs, folder: &Path) -> String {
    let program = program.iter().map(|text| word(text)).collect::<Vec<_>>().join(" ");
    let [plan, folder] = [args.plan.display(), folder.display()].map(|path| word(&path.to_string()));
    format!("{program} sweep {plan} -o {folder}")
}

fn slurm(program: &[String], args: &SweepArgs, folder: &Path, chunks: Chunks) -> String {
    let Chunks { shards, threads, minutes } = chunks;
    let words = words(program, args, folder);
    let (last, log) = (shards - 1, folder.join("slurm-%A_%a.log"));
    format!(
        "#!/bin/sh\n\
         # All points of {plan}: {shards} shards. Submitted again, it runs the missing points.\n\
         #SBATCH --job-name=hayase-sweep\n\
         #SBATCH --array=0-{last}\n\
         #SBATCH --cpus-per-task={threads}\n\
         #SBATCH --time={minutes}\n\
         #SBATCH --output={log}\n\
         exec {words} --shard \"$SLURM_ARRAY_TASK_ID/{shards}\" -j \"${{SLURM_CPUS_PER_TASK:-{threads}}}\"\n",
        plan = args.plan.display(),
        log = log.display(),
    )
}

fn hyper_queue(program: &[String], args: &SweepArgs, folder: &Path, chunks: Chunks) -> String {
    let Chunks { shards, threads, minutes } = chunks;
    let words = words(program, args, folder);
    // Without these options it makes a folder for each job in the current directory.
    let log = |stream: &str| word(&folder.join(format!("hq-%{{JOB_ID}}-%{{TASK_ID}}.{stream}")).display().to_string());
    let shard = format!("exec {words} --shard \"$HQ_TASK_ID/{shards}\" -j {threads}");
    format!(
        "#!/bin/sh\n\
         # All points of {plan}: {shards} shards. Submitted again, it runs the missing points.\n\
         exec hq submit --name hayase-sweep --array 0-{last} --cpus {threads} --time-limit {minutes}m \\\n    \
         --stdout {out} --stderr {err} -- \\\n    sh -c {shard}\n",
        plan = args.plan.display(),
        last = shards - 1,
        out = log("out"),
        err = log("err"),
        shard = format_args!("'{}'", shard.replace('\'', "'\\''")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_take_half_an_hour_to_an_hour_and_are_no_more_than_an_array_holds() {
        let of = |work: f64, points, threads| Chunks::of(work, points, threads);
        assert_eq!(of(10.0, 5000, 1), Chunks { shards: 1, threads: 1, minutes: 31 });
        let day = of(86_400.0, 1_000_000, 1);
        assert_eq!(day.shards, 32);
        let minutes = 86_400.0 / 60.0 / day.shards as f64;
        assert!((30.0..=60.0).contains(&minutes) && day.minutes as f64 > 2.0 * minutes);
        assert_eq!(of(86_400.0, 1_000_000, 8).shards, 4);
        assert_eq!(of(1e9, 1_000_000, 1).shards, 1000);
        assert_eq!(of(1e9, 3, 1).shards, 3);
        assert_eq!(of(0.0, 0, 1).shards, 1);
    }

    #[test]
    fn names_of_files_are_words_of_a_shell() {
        assert_eq!(word("out/plan-1.toml"), "out/plan-1.toml");
        assert_eq!(word("it's mine"), "'it'\\''s mine'");
        assert_eq!(word(""), "''");
    }
}
