//! `--estimate`: what it cannot give, and why a run was played in full.

use std::path::Path;

use super::{Failure, Voice};
use hayase::diagnostic::Diagnostic;
use hayase::report::{Estimated, Head};
use hayase::scenario::Loaded;
use hayase::system::System;

/// Says of work that is no pattern that it is played in full.
pub fn say(loaded: &Loaded, voice: Voice) {
    let (what, asked) = match loaded {
        Loaded::Program(scenario) => ("programs", scenario.system().estimate()),
        Loaded::Farm(farm) => ("farms", farm.points.first().and_then(|point| point.system().estimate())),
        Loaded::Pattern(_) | Loaded::Jobs(_) => return,
    };
    if asked.is_some() {
        voice.say(format_args!("no estimate, all is simulated: the ends of {what} are not estimated"));
    }
}

/// Says why a pattern was played in full, where an estimate was asked for.
pub fn say_reason(estimated: Option<&Estimated>, voice: Voice) {
    if let Some(Estimated::Full(reason)) = estimated {
        voice.say(format_args!("no estimate, all is simulated: {reason}"));
    }
}

/// The same of one of several.
pub fn say_reason_of(name: &str, estimated: Option<&Estimated>, voice: Voice) {
    if let Some(Estimated::Full(reason)) = estimated {
        voice.say(format_args!("{name}: no estimate, all is simulated: {reason}"));
    }
}

/// A file that holds every message, or what every rank did, is not written of a part of them.
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

/// Messages that were simulated.
pub fn simulated(head: &Head) -> u64 {
    let part = head.estimated.as_ref().and_then(Estimated::estimate).map_or(1.0, |estimate| estimate.simulated_part);
    (head.messages as f64 * part).round() as u64
}
