//! Arguments of the commands that need Linux; all systems parse them and show their help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use crate::options::OutputArgs;
use crate::typed::up_to;
use hayase::units::Time;

const RECORD_EXAMPLES: &str = "\
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
#[command(after_help = RECORD_EXAMPLES)]
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

const WRAP_EXAMPLES: &str = "\
Examples:
  hayase cc -O2 -c solver.c && hayase cc solver.o -o solver -lm
  hayase fc wave.f90 -o wave
  hayase cc --compiler mpicc.mpich solver.c -o solver
  make CC='hayase cc' FC='hayase fc'
  hayase wrap mpicxx solver.cc -o solver          any compiler: gcc, gfortran, clang or a wrapper of one
  hayase record --memory -o run -- mpirun -np 4 ./solver

You supply: solver.c, wave.f90, solver.cc and a makefile

Programs mark regions with hayase.h or the Fortran module hayase, which need no option. All options except those \
named here go to the compiler. Added are its instrumentation (docs/concepts/memory.md), Hayase's library and -g; -O2 \
and the like become -Og (gcc) or -O0 (clang), with a message. Parts compiled in other ways can be linked in; calls \
to and from them are marked. The program also runs without Hayase, several times slower. The exit code is that of the \
compiler, or 2 for a compiler without known instrumentation.";

/// `hayase cc` and `hayase fc`.
#[derive(Args, Debug)]
#[command(after_help = WRAP_EXAMPLES)]
pub struct CompileArgs {
    /// The compiler (default: mpicc, or mpifort for `hayase fc`).
    #[arg(long, value_name = "COMPILER", value_hint = ValueHint::CommandName)]
    pub compiler: Option<OsString>,
    /// Arguments of the compiler.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true, value_hint = ValueHint::FilePath)]
    pub arguments: Vec<OsString>,
}

/// `hayase wrap`.
#[derive(Args, Debug)]
#[command(after_help = WRAP_EXAMPLES)]
pub struct WrapArgs {
    /// Print the folder of hayase.h and hayase.f90, by which programs mark regions, and compile nothing:
    /// mpicc -I$(hayase wrap --print-include) ...
    #[arg(long, exclusive = true)]
    pub print_include: bool,
    /// The compiler and its arguments.
    #[arg(value_name = "COMPILER ARGS", required_unless_present = "print_include", trailing_var_arg = true, allow_hyphen_values = true,
          value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// `hayase measure ...`.
#[derive(Subcommand, Debug)]
pub enum MeasureVerb {
    /// Measure message times between two MPI processes: by size, with protocol limits and LogGPS parameters.
    Communication(CommunicationArgs),
}

const MEASURE_EXAMPLES: &str = "\
Examples:
  hayase measure communication -o here.comm -- mpirun -np 2
  hayase measure communication -o cluster.comm -o cluster.svg -- mpirun -np 2 --host node1,node2
  hayase measure communication -o a.comm --mpi /opt/mpich/lib/libmpi.so.12 -- srun -n 2 -N 2
  hayase measure communication -o a.comm --node-out a.toml -- mpirun -np 2
  hayase measure communication -o a.comm --smallest 1KiB --largest 64KiB --increment 1KiB -- mpirun -np 2
  hayase measure communication -o round-trips.csv -- mpirun -np 2     for hayase calibrate

You supply: node1 and node2 (hosts), mpirun or srun, and /opt/mpich/lib/libmpi.so.12 (the library of \
their MPI, if it is not found)

Give a launcher and its options after --. It launches hayase itself, which loads the launcher's MPI library, so no \
compiler is needed. Each of the two processes should have a processor of its own.

Files (-o), by name:
  x.comm    the data set, for hayase predict
  x.json    the same as JSON, with every fitted point
  x.csv     the measured round trips and sends, for hayase calibrate
  x.svg     times by size, with the fitted lines";

/// `hayase measure communication`.
#[derive(Args, Debug)]
#[command(after_help = MEASURE_EXAMPLES)]
pub struct CommunicationArgs {
    /// Write a machine file (.toml, for -m) with the LogGPS parameters too.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub node_out: Option<PathBuf>,
    /// The smallest message.
    #[arg(long, value_name = "SIZE", default_value = "0 B")]
    pub smallest: String,
    /// The largest message. Both ends are measured, and the two sizes on each side of S.
    #[arg(long, value_name = "SIZE", default_value = "4 MiB")]
    pub largest: String,
    /// Step between sizes: a number of bytes, 1KiB, or a factor, x2 (default: 1, 2, 3, 4, 6, 8, 12 ..., the
    /// powers of two and the middle of every two).
    #[arg(long, value_name = "STEP")]
    pub increment: Option<String>,
    /// Approximate time of the measurement in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub seconds: f64,
    /// Take this percentile of repeated measurements: 0 is the fastest, 50 the median.
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = up_to::<u8, 100>)]
    pub percentile: u8,
    /// The MPI library, by name or path (default: that of the launcher).
    #[arg(long, value_name = "LIBRARY")]
    pub mpi: Option<String>,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
    /// The launcher and its options, after --.
    #[arg(last = true, required = true, value_name = "LAUNCHER")]
    pub launcher: Vec<String>,
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
