//! Options that select a part of a program: `--region`, `--from`, `--to`, `--skip-start`.

use clap::Args;

use super::scenario::on_work;
use super::{Failure, Voice};
use hayase::program::Program;
use hayase::program::between::SourceLine;
use hayase::program::part::{Part, Skip};
use hayase::program::start_up::StartUp;
use hayase::simulation::ProgramWork;
use hayase_output::table::grouped;

/// Part of the program to evaluate.
#[derive(Args, Clone, Debug, Default)]
pub struct RegionArgs {
    /// Evaluate only this region; the whole program is still replayed. Regions are marked in the program
    /// (hayase_region_begin, MPI_Pcontrol); `hayase trace info` lists them.
    #[arg(long, value_name = "NAME", help_heading = "Regions")]
    pub region: Option<String>,
    /// Begin a region when a rank enters an MPI call at this line (--region gives its name).
    #[arg(long, value_name = "FILE:LINE", help_heading = "Regions")]
    pub from: Option<SourceLine>,
    /// End a region when a rank returns from an MPI call at this line; without --from it begins with the
    /// program.
    #[arg(long, value_name = "FILE:LINE", help_heading = "Regions")]
    pub to: Option<SourceLine>,
    /// Leave out the start of the program: up to the first call that recurs throughout the run, or the given
    /// time or number of calls of a rank (--skip-start=2s, --skip-start=500).
    #[arg(long, value_name = "TIME|CALLS", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["region", "from", "to"], help_heading = "Regions")]
    pub skip_start: Option<Skip>,
}

on_work!(RegionArgs: region, from, to, skip_start);

impl RegionArgs {
    /// Returns the selected part.
    pub fn part(&self) -> Part {
        let Self { region, from, to, skip_start } = self.clone();
        Part { region, from, to, skip_start }
    }

    /// Adds the selected region to a program read from a trace.
    pub fn in_program_of_trace(&self, program: &mut Program, voice: Voice) {
        say(self.part().mark_by_calls(program), program, voice);
    }

    /// Adds the selected region to a program that was not read from a trace.
    pub fn in_program(&self, program: &mut Program, voice: Voice) -> Result<(), Failure> {
        let found = self.part().mark(program)?;
        say(found, program, voice);
        Ok(())
    }

    /// Returns the program with the selected region; reports borders without a counterpart.
    pub fn ask(&self, work: ProgramWork, voice: Voice) -> Result<ProgramWork, Failure> {
        say_strays(&work.program, voice);
        match self.part().name() {
            Some(name) => Ok(work.of_region(&name)?),
            None => Ok(work),
        }
    }
}

/// Reports borders without a counterpart.
pub fn say_strays(program: &Program, voice: Voice) {
    let strays = program.stray_borders();
    if !strays.is_empty() {
        voice.hint(strays.join("; "));
    }
}

/// Reports the part of the start that was left out, if any.
pub fn say(found: Option<StartUp>, program: &Program, voice: Voice) {
    let Some(found) = found else { return };
    let until = match found.until.checked_sub(1).and_then(|site| program.sites.get(site as usize)) {
        Some(site) => format!(", up to that at {site}"),
        None => String::new(),
    };
    let (least, most) = found.calls;
    let (skipped, all) = found.of;
    let a_rank = if least == most { grouped(most) } else { format!("{} to {}", grouped(least), grouped(most)) };
    let share = 100.0 * skipped as f64 / all.max(1) as f64;
    voice.hint(format_args!("start-up is left out: {a_rank} calls for each rank ({share:.1} % of all){until}"));
}
