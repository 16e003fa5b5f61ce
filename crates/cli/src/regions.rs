//! Which part of a program is looked at: `--region`, `--from`, `--to`, `--skip-start`.

use clap::Args;

use super::scenario::on_work;
use super::{Failure, Voice};
use hayase::program::Program;
use hayase::program::between::SourceLine;
use hayase::program::part::{Part, Skip};
use hayase::program::start_up::StartUp;
use hayase::simulation::ProgramWork;
use hayase_output::table::grouped;

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
    /// A region that ends when a rank returns from a call of MPI at this line; without --from it begins with the
    /// program.
    #[arg(long, value_name = "FILE:LINE", help_heading = "Regions")]
    pub to: Option<SourceLine>,
    /// Leave out the start of the program: up to the first call that is made throughout the run, or the time or number
    /// of calls of a rank that is given (--skip-start=2s, --skip-start=500).
    #[arg(long, value_name = "TIME|CALLS", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["region", "from", "to"], help_heading = "Regions")]
    pub skip_start: Option<Skip>,
}

on_work!(RegionArgs: region, from, to, skip_start);

impl RegionArgs {
    /// The part that is meant.
    pub fn part(&self) -> Part {
        let Self { region, from, to, skip_start } = self.clone();
        Part { region, from, to, skip_start }
    }

    /// A program that was read from a trace has the region that is meant by its calls.
    pub fn in_program_of_trace(&self, program: &mut Program, voice: Voice) {
        say(self.part().mark_by_calls(program), program, voice);
    }

    /// A program from elsewhere has the region that is meant.
    pub fn in_program(&self, program: &mut Program, voice: Voice) -> Result<(), Failure> {
        let found = self.part().mark(program)?;
        say(found, program, voice);
        Ok(())
    }

    /// The program, asked for the region that is meant; borders that belong to no other are said in a line.
    pub fn ask(&self, work: ProgramWork, voice: Voice) -> Result<ProgramWork, Failure> {
        say_strays(&work.program, voice);
        match self.part().name() {
            Some(name) => Ok(work.of_region(&name)?),
            None => Ok(work),
        }
    }
}

/// Says which borders belong to no other.
pub fn say_strays(program: &Program, voice: Voice) {
    let strays = program.stray_borders();
    if !strays.is_empty() {
        voice.hint(strays.join("; "));
    }
}

/// Says what was left out of the start, if anything was.
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
    voice.hint(format_args!("start-up is left out: {a_rank} calls a rank ({share:.1} % of all){until}"));
}
