//! Arguments of `hayase record`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};

use crate::typed::up_to;
use hayase::units::Time;

const EXAMPLES: &str = "\
Examples:
  hayase record -o run -- mpirun -np 16 ./solver input.dat
  hayase record -o run --token -- mpiexec -n 64 ./solver      64 ranks on a machine with fewer cores
  hayase record -o run --stop-after 30s -- mpirun -np 16 ./solver
  hayase trace info run; hayase replay run -m myrinet

You supply: solver (any MPI program) and input.dat, which it reads

The program needs no change. It may be C or Fortran (mpif.h, use mpi, use mpi_f08), with Open MPI, MPICH or an MPI \
with the ABI of MPICH, and must be linked with the shared library of its MPI. Compile it with -g as well as -O2 to see \
calls by file and line.

The folder contains rank-00000.hyt, ... (the calls of each rank), rank-00000.maps (loaded libraries) and run.toml \
(command, host and environment). The program keeps its standard input, output and error.

Exit codes: 0 recorded; 1 nothing was recorded, or the program failed; 2 bad usage; 3 the program deadlocked; 130 \
stopped by Ctrl-C. Calls that were recorded before a failure or Ctrl-C are kept.";

/// `hayase record`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RecordArgs {
    /// The folder to record into.
    #[arg(short, long, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,
    /// Replace an existing recording; a folder with other files is never replaced.
    #[arg(long)]
    pub force: bool,
    /// Execute one rank at a time, so that more ranks than cores do not slow each other down.
    #[arg(long)]
    pub token: bool,
    /// Clock for the computation between calls: cpu (processor time of the thread), auto (also time spent
    /// sleeping or waiting for files or other threads, but not for a core) or wall (all time).
    #[arg(long, value_enum, value_name = "CLOCK", default_value_t = Clock::Auto, hide_possible_values = true)]
    pub clock: Clock,
    /// Stop recording, but not the program, after this time ("30 s") or number of calls of a rank ("100000").
    #[arg(long, value_name = "TIME|CALLS", value_parser = stop_after)]
    pub stop_after: Option<StopAfter>,
    /// Record this number of callers of each place that calls MPI, at most 64; they tell apart calls from one
    /// line of a library.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = up_to::<u32, 64>)]
    pub depth: u32,
    /// Record the memory accesses between calls too; the program must be instrumented.
    #[arg(long)]
    pub memory: bool,
    /// The command: a launcher and its program, or a program by itself.
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true,
          value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// Clock that measures computation.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// Processor time of the thread.
    Cpu,
    /// Processor time, and time blocked outside MPI.
    Auto,
    /// Wall-clock time.
    Wall,
}

impl Clock {
    /// Returns the name that the recorder understands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Auto => "auto",
            Self::Wall => "wall",
        }
    }
}

/// Limit at which recording stops.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StopAfter {
    /// Stop after this time.
    Time(Duration),
    /// Stop after this number of calls of a rank.
    Calls(u64),
}

fn stop_after(text: &str) -> Result<StopAfter, String> {
    let digits: String = text.trim().chars().filter(|&c| c != '_').collect();
    if let Ok(calls) = digits.parse::<u64>() {
        return if calls > 0 { Ok(StopAfter::Calls(calls)) } else { Err("at least one call".into()) };
    }
    let time: Time = text.parse().map_err(|_| "a time like \"30 s\", or a number of calls like 100000".to_owned())?;
    match Duration::try_from_secs_f64(time.seconds()) {
        Ok(time) if !time.is_zero() => Ok(StopAfter::Time(time)),
        _ => Err("a time above 0".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_stops_after_a_time_or_a_number_of_calls() {
        assert_eq!(stop_after("30 s"), Ok(StopAfter::Time(Duration::from_secs(30))));
        assert_eq!(stop_after("1_000"), Ok(StopAfter::Calls(1000)));
        for wrong in ["", "0", "0 s", "30 km", "-1 s", "1e300 s"] {
            assert!(stop_after(wrong).is_err(), "{wrong}");
        }
    }
}
