//! `--estimate`: reports the runs that cannot be estimated, and why.

use std::path::Path;

use super::{Failure, Voice};
use hayase::diagnostic::Diagnostic;
use hayase::report::{Estimated, Head};
use hayase::scenario::Loaded;
use hayase::system::System;

/// Warns that work other than a pattern is simulated in full.
pub fn say(loaded: &Loaded, voice: Voice) {
    let (what, asked) = match loaded {
        Loaded::Program(scenario) => ("programs", scenario.system().estimate()),
        Loaded::Farm(farm) => ("farms", farm.points.first().and_then(|point| point.system().estimate())),
        Loaded::Pattern(_) | Loaded::Jobs(_) => return,
    };
    if asked.is_some() {
        voice.say(format_args!("no estimate, the whole run is simulated: the ends of {what} cannot be estimated"));
    }
}

/// Reports why a pattern was simulated in full although an estimate was requested.
pub fn say_reason(estimated: Option<&Estimated>, voice: Voice) {
    if let Some(Estimated::Full(reason)) = estimated {
        voice.say(format_args!("no estimate, the whole run is simulated: {reason}"));
    }
}

/// Reports the same for one of several runs.
pub fn say_reason_of(name: &str, estimated: Option<&Estimated>, voice: Voice) {
    if let Some(Estimated::Full(reason)) = estimated {
        voice.say(format_args!("{name}: no estimate, the whole run is simulated: {reason}"));
    }
}

/// Refuses files of all messages or activities, because an estimate simulates only some of them.
pub fn check(system: &System, whole: Option<&Path>) -> Result<(), Failure> {
    match (system.estimate(), whole) {
        (Some(target), Some(path)) => {
            let message =
                format!("`{}` is about all messages, and an estimate simulates a part of them", path.display());
            let help = format!("leave out `--estimate {target}` (`estimate` in the scenario), or the file");
            Err(Diagnostic::new("wrong-choice", message).help(help).into())
        }
        _ => Ok(()),
    }
}

/// Returns the number of simulated messages.
pub fn simulated(head: &Head) -> u64 {
    let part = head.estimated.as_ref().and_then(Estimated::estimate).map_or(1.0, |estimate| estimate.simulated_part);
    (head.messages as f64 * part).round() as u64
}
