//! Explanation of an empty recording.

use std::process::ExitStatus;

use hayase::diagnostic::{Diagnostic, Invalid};
use hayase_capture::executable::obstacle;
use hayase_capture::launch::{Launch, Launcher};

/// Launcher options that do not pass the environment on.
const SCRUBBING: &[&str] = &["-genvnone", "-envnone", "-genvlist", "-envlist", "--export=NONE", "--export=none"];

/// Describes the end of a command: `exit code 3`, `signal 9`.
pub fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// Returns the message.
pub fn explain(launch: &Launch, status: ExitStatus, colour: bool) -> String {
    Invalid::from(why(launch, status)).show(colour)
}

fn why(launch: &Launch, status: ExitStatus) -> Diagnostic {
    let diagnostic = |what: String| Diagnostic::new("nothing-recorded", format!("nothing was recorded: {what}"));
    let program = launch.recorded();
    if program.is_none() && launch.launcher != Launcher::Other {
        return diagnostic(format!("no argument of `{}` is a program", launch.program.display()))
            .help("the command is a launcher, its options and a program: mpirun -np 4 ./program");
    }
    if let Some(program) = &program
        && let Some(obstacle) = obstacle(program)
    {
        return diagnostic(format!("`{}` {}", program.display(), obstacle.message())).help(obstacle.help());
    }
    if let Some(word) =
        launch.command.iter().find(|word| SCRUBBING.iter().any(|scrubbing| word.as_os_str() == *scrubbing))
    {
        let word = word.to_string_lossy();
        return diagnostic(format!("with `{word}` the launcher hands its environment on to no rank")).help(format!(
            "leave `{word}` out, or add LD_PRELOAD and HAYASE_CAPTURE_DIR to the variables that it passes on"
        ));
    }
    if !status.success() {
        return diagnostic(format!("the command ended with {} before a rank called MPI_Init", ending(status)))
            .help("check that it runs without `hayase record`");
    }
    diagnostic("no process called MPI_Init with the recorder loaded".into()).help(
        "is it a program with MPI? and do LD_PRELOAD and HAYASE_CAPTURE_DIR reach it through launchers, scripts, containers and other hosts?",
    )
}
