//! Defects of the recordings that a command uses: warnings, or failures with `--strict`.

use std::path::Path;

use clap::Args;

use super::{Failure, Voice};
use hayase::diagnostic::Diagnostic;
use hayase::program::Program;
use hayase::program::caveats::Caveats;
use hayase::trace::unreceived;
use hayase_output::table::printable;

/// Treatment of incomplete recordings.
#[derive(Args, Clone, Copy, Default, Debug)]
pub struct Strictness {
    /// Exit with code 1 if a recording is incomplete: calls or ranks are missing, or it ends early.
    #[arg(long)]
    pub strict: bool,
}

/// Reports the defects of the recording with this name; fails if recordings must be complete and this one is
/// not.
pub fn judge(caveats: &Caveats, name: &str, strictness: Strictness, voice: Voice) -> Result<(), Failure> {
    let name = printable(name);
    for what in &caveats.incomplete {
        let message = format!("`{name}` is incomplete: {}", printable(what));
        if strictness.strict {
            return Err(Failure::Failed(Box::new(Diagnostic::new("incomplete-recording", message))));
        }
        voice.say(format_args!("warning: {message}"));
    }
    for what in caveats.of_times().chain(&caveats.ignored) {
        voice.say(format_args!("warning: `{name}`: {}", printable(what)));
    }
    Ok(())
}

/// Reports the defects of the recording behind a program, and its messages that are never received.
pub fn judge_program(program: &Program, name: &str, strictness: Strictness, voice: Voice) -> Result<(), Failure> {
    judge(&program.caveats, name, strictness, voice)?;
    say_unreceived(unreceived(program), name, voice);
    Ok(())
}

/// Reports messages of a program that are never received.
pub fn say_unreceived(what: Option<String>, name: &str, voice: Voice) {
    if let Some(what) = what {
        voice.say(format_args!("warning: `{}`: {}", printable(name), printable(&what)));
    }
}

/// Reports the defects that the notes of data sets record, each once.
pub fn judge_data<'a>(
    data_sets: impl IntoIterator<Item = (&'a Path, &'a [(String, String)])>,
    strictness: Strictness,
    voice: Voice,
) -> Result<Caveats, Failure> {
    let mut all = Caveats::default();
    for (path, notes) in data_sets {
        let new = Caveats::of_notes(notes).beyond(&all);
        judge(&new, &path.display().to_string(), strictness, voice)?;
        all.add(&new);
    }
    Ok(all)
}
