//! `hayase record`: runs a command, records the MPI calls of all its ranks and summarizes them.

mod deadlock;
mod nothing;
mod page;

use std::io::{self, IsTerminal};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal};

use super::args::{RecordArgs, StopAfter};
use crate::{End, Failure, Voice, complain, interrupt, reason};
use hayase::diagnostic::{Diagnostic, failure};
use hayase_capture::caught::RecordingContents;
use hayase_capture::folder::{self, Provenance, TargetContent, Unfinished};
use hayase_capture::launch::{Launch, RecorderOptions};
use hayase_capture::{library, sites};

/// Interval at which the command is checked for its end.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Records a run.
pub fn record(args: &RecordArgs, voice: Voice) -> Result<End, Failure> {
    check_output(args)?;
    let launch = Launch::new(&args.command).ok_or_else(|| no_program(args))?;
    let library = library::RECORDER.place().map_err(|error| Diagnostic::new("no-recorder", error.to_string()))?;
    let folder = Unfinished::create(&args.output).map_err(|error| Failure::Write(args.output.clone(), error))?;

    let wishes = RecorderOptions {
        token: args.token,
        clock: Some(args.clock.name()),
        stop_events: args
            .stop_after
            .and_then(|stop| if let StopAfter::Calls(calls) = stop { Some(calls) } else { None }),
        stop_after: args.stop_after.and_then(|stop| if let StopAfter::Time(time) = stop { Some(time) } else { None }),
        memory: args.memory,
        depth: Some(args.depth),
    };
    let stop = interrupt::stop_flag();
    let (started, clock) = clocks();
    let child = launch.recording(&library, folder.path(), &wishes).spawn().map_err(|error| {
        Diagnostic::new("cannot-start", format!("cannot start `{}`: {}", launch.program.display(), reason(&error)))
    })?;
    let status = wait(child, stop).map_err(|error| Failure::Write(args.output.clone(), error))?;
    let elapsed = clock.elapsed();
    let interrupted = stop.load(Ordering::Relaxed);

    let failed = |error| Failure::Write(args.output.clone(), error);
    let mut caught = RecordingContents::read(folder.path()).map_err(failed)?;
    for (path, what) in &caught.unreadable {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        complain(failure(&format!("the stream `{name}` cannot be read: {what}"), voice.colour));
    }
    if caught.streams.is_empty() {
        if interrupted {
            voice.say("stopped before a rank called MPI_Init: nothing was recorded");
            return Ok(End::Interrupted);
        }
        complain(nothing::explain(&launch, status, voice.colour));
        return Ok(End::Failed);
    }
    if args.token && caught.remarks("ended").contains_key("several threads and --token") {
        let what = "several threads of a rank call MPI, and --token executes one rank, and one thread of it, at a time";
        return Err(Diagnostic::new("several-threads", what)
            .help("record without --token, or let the program use one thread (OMP_NUM_THREADS=1)")
            .into());
    }
    let source = std::env::current_dir().unwrap_or_default();
    let sites = sites::resolve(folder.path(), caught.sites(), &source).map_err(failed)?;
    caught.measure(folder.path()).map_err(failed)?;
    let deadlock = deadlock::read(folder.path(), &sites);
    let provenance = Provenance {
        schema: folder::SCHEMA.into(),
        command: args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder: source.display().to_string(),
        launcher: launch.launcher.name().into(),
        mpi: caught.noted("mpi").into_iter().next(),
        clock: args.clock.name().into(),
        token: args.token,
        memory: args.memory,
        ranks: caught.ranks(),
        present: caught.streams.len() as u32,
        events: caught.sum(|stream| stream.events),
        started: started.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        elapsed_s: elapsed.as_secs_f64(),
        ended: match (&deadlock, interrupted) {
            (Some(_), _) => "deadlock".into(),
            (None, true) => "interrupted".into(),
            (None, false) => nothing::ending(status),
        },
        hosts: caught.noted("host"),
        processor: folder::processor(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    provenance.write(folder.path()).map_err(failed)?;
    let accesses = folder::files(folder.path(), "mem").map_err(failed)?.len();
    folder.finish().map_err(failed)?;

    voice.say(page::page(&caught, &provenance, &sites, &args.output));
    if args.memory && accesses == 0 {
        voice.hint(
            "no memory accesses were recorded, because the program is not instrumented: compile it with `hayase cc` \
             or `hayase fc`",
        );
    }
    if let Some(text) = deadlock {
        complain(text);
        return Ok(End::Deadlocked);
    }
    if interrupted {
        return Ok(End::Interrupted);
    }
    if !status.success() {
        let what = format!("the program ended with {}; its calls until then are kept", nothing::ending(status));
        complain(failure(&what, voice.colour));
        return Ok(End::Failed);
    }
    Ok(End::Done)
}

/// Checks that the output folder may be used.
fn check_output(args: &RecordArgs) -> Result<(), Diagnostic> {
    let name = args.output.display();
    match TargetContent::of_path(&args.output) {
        TargetContent::Nothing => Ok(()),
        TargetContent::Recording if args.force => Ok(()),
        TargetContent::Recording => {
            Err(Diagnostic::new("output-exists", format!("`{name}` already contains a recording"))
                .help("write --force to replace it, or -o another folder"))
        }
        TargetContent::Other => {
            Err(Diagnostic::new("output-exists", format!("`{name}` exists and is not a recording"))
                .help("write -o and a folder that is new, empty or a recording; anything else is never replaced"))
        }
    }
}

fn no_program(args: &RecordArgs) -> Diagnostic {
    let name = args.command.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let diagnostic = Diagnostic::new("no-program", format!("there is no program `{name}`"));
    diagnostic.help("after -- comes the command to record: hayase record -o run -- mpirun -np 4 ./program")
}

/// Waits for the command, and forwards a request to stop.
fn wait(mut child: Child, stop: &AtomicBool) -> io::Result<ExitStatus> {
    let mut told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) && !told {
            told = true;
            // Ctrl-C on a terminal reaches all foreground processes; a second signal would make launchers kill
            // the ranks before they have written what they have.
            if !in_foreground()
                && let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
            {
                let _ = rustix::process::kill_process(pid, Signal::TERM);
            }
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Returns true if this process is in the foreground group, which receives the signals of the terminal.
fn in_foreground() -> bool {
    let group = rustix::process::getpgrp();
    let of = |is_terminal: bool, foreground: rustix::io::Result<Pid>| is_terminal && foreground == Ok(group);
    of(io::stdin().is_terminal(), rustix::termios::tcgetpgrp(io::stdin()))
        || of(io::stderr().is_terminal(), rustix::termios::tcgetpgrp(io::stderr()))
}

#[expect(
    clippy::disallowed_methods,
    reason = "when and for how long a program ran is part of where a recording comes from"
)]
fn clocks() -> (SystemTime, Instant) {
    (SystemTime::now(), Instant::now())
}
