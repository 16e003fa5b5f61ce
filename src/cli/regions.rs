//! Which part of a program is looked at: `--region`, `--from`, `--to`, `--skip-start`.

use clap::Args;

use super::{Failure, Voice};
use crate::diagnostic::Diagnostic;
use crate::output::table::grouped;
use crate::scenario::replay::Replay;
use crate::units::Time;
use crate::workload::program::Program;
use crate::workload::program::between::{Between, SourceLine};
use crate::workload::program::start_up::{AFTER, StartUp};
use crate::workload::trace::ToProgram;

/// Which part of the program is looked at.
#[derive(Args, Clone, Debug, Default)]
pub struct RegionArgs {
    /// Only this region: the whole program is played, and what is said is of this part of it. Regions are marked in the
    /// program (hayase_region_begin, MPI_Pcontrol); `hayase trace info` lists them.
    #[arg(long, value_name = "NAME", help_heading = "Regions")]
    pub region: Option<String>,
    /// A region that begins when a rank enters a call of MPI at this line (with --region: it has this name).
    #[arg(long, value_name = "FILE:LINE", help_heading = "Regions")]
    pub from: Option<SourceLine>,
    /// A region that ends when a rank returns from a call of MPI at this line; without --from it begins with the program.
    #[arg(long, value_name = "FILE:LINE", help_heading = "Regions")]
    pub to: Option<SourceLine>,
    /// Leave out the start of the program: up to the first call that is made throughout the run, or the time or number of calls of
    /// a rank that is given (--skip-start=2s, --skip-start=500).
    #[arg(long, value_name = "TIME|CALLS", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["region", "from", "to"], value_parser = skip, help_heading = "Regions")]
    pub skip_start: Option<Skip>,
}

/// What `--skip-start` says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Skip {
    /// As far as start-up goes.
    Found,
    /// So many calls of each rank.
    Calls(u64),
    /// So long after each rank's start.
    Time(Time),
}

fn skip(text: &str) -> Result<Skip, String> {
    match (text, text.parse::<u64>(), text.parse::<Time>()) {
        ("", ..) => Ok(Skip::Found),
        (_, Ok(calls), _) => Ok(Skip::Calls(calls)),
        (_, _, Ok(time)) if time >= Time::ZERO && time < Time::NEVER => Ok(Skip::Time(time)),
        _ => Err("a time (2s) or a number of calls (500) is expected".to_owned()),
    }
}

impl RegionArgs {
    fn between(&self) -> Option<Between> {
        let (from, to) = (self.from.clone(), self.to.clone());
        (from.is_some() || to.is_some()).then_some(Between { from, to })
    }

    /// The region that is asked for.
    fn name(&self) -> Option<String> {
        match (&self.region, self.between(), self.skip_start) {
            (Some(region), ..) => Some(region.clone()),
            (None, Some(between), _) => Some(between.name()),
            (None, None, Some(_)) => Some(AFTER.to_owned()),
            _ => None,
        }
    }

    /// A trace that is read has the region that is meant by places or by time.
    pub fn in_trace(&self, calls: ToProgram) -> ToProgram {
        let name = self.name().unwrap_or_default();
        match self.skip_start {
            Some(Skip::Time(time)) => calls.after(time, &name),
            _ => calls.between(self.between(), &name),
        }
    }

    /// A program that was read from a trace has the region that is meant by its calls.
    pub fn in_program_of_trace(&self, program: &mut Program, voice: Voice) {
        match self.skip_start {
            Some(Skip::Found) => say(&program.mark_after_start_up(None), program, voice),
            Some(Skip::Calls(calls)) => say(&program.mark_after_start_up(Some(calls)), program, voice),
            _ => {}
        }
    }

    /// A program from elsewhere has the region that is meant.
    pub fn in_program(&self, program: &mut Program, voice: Voice) -> Result<(), Failure> {
        if let Some(between) = self.between() {
            between.mark(program, &self.name().unwrap_or_default())?;
        }
        if let Some(Skip::Time(time)) = self.skip_start {
            let message = format!("--skip-start={time} asks for times, and this program has none of the recorded run");
            return Err(Diagnostic::new("no-times", message)
                .help("write a number of calls, --skip-start=500, or --skip-start alone; traces have times")
                .into());
        }
        self.in_program_of_trace(program, voice);
        Ok(())
    }

    /// The replay, asked for the region that is meant; borders that belong to no other are said in a line.
    pub fn ask(&self, replay: Replay, voice: Voice) -> Result<Replay, Failure> {
        let strays = replay.program.stray_borders();
        if !strays.is_empty() {
            voice.hint(strays.join("; "));
        }
        match self.name() {
            Some(name) => Ok(replay.of_region(&name)?),
            None => Ok(replay),
        }
    }
}

/// Says what was left out.
fn say(found: &StartUp, program: &Program, voice: Voice) {
    let until = match found.until.checked_sub(1).and_then(|site| program.sites.get(site as usize)) {
        Some(site) => format!(", up to that at {site}"),
        None => String::new(),
    };
    let (least, most) = found.calls;
    let (skipped, all) = found.of;
    let a_rank = if least == most { grouped(most) } else { format!("{} to {}", grouped(least), grouped(most)) };
    let share = 100.0 * skipped as f64 / all.max(1) as f64;
    voice.hint(format_args!("start-up is left out: {a_rank} calls a rank ({share:.1} % of all){until}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_skipped_is_a_time_or_a_number_of_calls() {
        assert_eq!(skip(""), Ok(Skip::Found));
        assert_eq!(skip("500"), Ok(Skip::Calls(500)));
        assert_eq!(skip("2s"), Ok(Skip::Time(Time::from_seconds(2.0))));
        for wrong in ["x", "-1", "2 apples"] {
            assert!(skip(wrong).is_err(), "{wrong}");
        }
    }
}
