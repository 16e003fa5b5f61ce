//! Commands that need Linux: they load libraries into programs, or call the MPI library of a launcher.
//!
//! Other systems show their help and refuse to run them.

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "other systems parse arguments that nothing reads"))]
mod args;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod wrap;

use clap::Subcommand;

use super::typed::InOurWords;
use super::{End, Failure, Voice};
use args::{CompileArgs, MeasureVerb, RecordArgs, WrapArgs};

/// A command that needs Linux.
#[derive(Subcommand, Debug)]
pub enum LinuxVerb {
    /// Measure the message times of a real network: the communication data of a prediction.
    #[command(subcommand)]
    Measure(InOurWords<MeasureVerb>),
    /// One of the two processes that `hayase measure` starts through MPI.
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    MeasureAgent(InOurWords<measure::AgentArgs>),
    /// Run an MPI program and record the MPI calls of all its ranks.
    Record(InOurWords<RecordArgs>),
    /// Compile C with mpicc, instrumented so that its memory accesses can be recorded.
    #[command(hide = true)]
    Cc(InOurWords<CompileArgs>),
    /// Compile Fortran with mpifort, instrumented so that its memory accesses can be recorded.
    #[command(hide = true)]
    Fc(InOurWords<CompileArgs>),
    /// Compile with any compiler, instrumented so that memory accesses can be recorded.
    Wrap(InOurWords<WrapArgs>),
}

/// Runs a command.
#[cfg(target_os = "linux")]
pub fn dispatch(verb: &LinuxVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        LinuxVerb::Measure(verb) => measure::measure(verb, voice),
        LinuxVerb::MeasureAgent(args) => measure::agent(args),
        LinuxVerb::Record(args) => record::record(args, voice),
        LinuxVerb::Cc(args) => wrap::compile(args, "mpicc", voice),
        LinuxVerb::Fc(args) => wrap::compile(args, "mpifort", voice),
        LinuxVerb::Wrap(args) => wrap::wrap(args, voice),
    }
}

/// Refuses a command.
#[cfg(not(target_os = "linux"))]
pub fn dispatch(verb: &LinuxVerb, _: Voice) -> Result<End, Failure> {
    Err(refused(verb).into())
}

/// Returns the refusal of a command on other systems.
#[cfg(any(test, not(target_os = "linux")))]
fn refused(verb: &LinuxVerb) -> hayase::diagnostic::Diagnostic {
    let name = match verb {
        LinuxVerb::Measure(_) => "measure",
        #[cfg(target_os = "linux")]
        LinuxVerb::MeasureAgent(_) => "measure-agent",
        LinuxVerb::Record(_) => "record",
        LinuxVerb::Cc(_) => "cc",
        LinuxVerb::Fc(_) => "fc",
        LinuxVerb::Wrap(_) => "wrap",
    };
    hayase::diagnostic::Diagnostic::new("needs-linux", format!("`hayase {name}` needs Linux"))
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    #[test]
    fn other_systems_refuse_each_command_in_one_sentence() {
        let typed = [
            "measure communication -o net.comm -- mpirun -np 2",
            "record -o run -- mpirun -np 2 ./solver",
            "cc -O2 solver.c",
            "fc wave.f90",
            "wrap mpicxx solver.cc",
        ];
        let all = LinuxVerb::augment_subcommands(Command::new("hayase"));
        let mut names: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
        names.retain(|name| *name != "measure-agent");
        assert_eq!(names, typed.map(|words| words.split(' ').next().unwrap()));
        for (words, name) in typed.iter().zip(&names) {
            let words = ["hayase"].into_iter().chain(words.split(' '));
            let verb = LinuxVerb::from_arg_matches(&all.clone().get_matches_from(words)).unwrap();
            let shown = hayase::diagnostic::Invalid::from(refused(&verb)).show(false);
            assert_eq!(shown.trim_end(), format!("error[needs-linux]: `hayase {name}` needs Linux"));
        }
    }
}
