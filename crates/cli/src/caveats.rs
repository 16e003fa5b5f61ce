//! What is wrong with the recordings that a verb uses: said in a line, or with `--strict` the end of it.

use std::path::Path;

use clap::Args;

use super::{Failure, Voice};
use hayase::diagnostic::Diagnostic;
use hayase::program::Program;
use hayase::program::caveats::Caveats;
use hayase::trace::unreceived;
use hayase_output::table::printable;

/// What becomes of a recording that is not all of its run.
#[derive(Args, Clone, Copy, Default, Debug)]
pub struct Strictness {
    /// End with exit code 1 if a recording is incomplete: calls or ranks are missing, or it ends early.
    #[arg(long)]
    pub strict: bool,
}

/// Says what is wrong with the recording of this name; where recordings must be complete, one that is not is a failure.
pub fn judge(caveats: &Caveats, name: &str, strictness: Strictness, voice: Voice) -> Result<(), Failure> {
    let name = printable(name);
    for what in &caveats.incomplete {
        let message = format!("`{name}` is incomplete: {}", printable(what));
        if strictness.strict {
            return Err(Failure::Failed(Box::new(Diagnostic::new("incomplete-recording", message))));
        }
        voice.say(format_args!("warning: {message}"));
    }
    for what in caveats.of_times() {
        voice.say(format_args!("warning: `{name}`: {}", printable(what)));
    }
    Ok(())
}

/// Says what is wrong with the recording that a program was made of, and which of its messages are never received.
pub fn judge_program(program: &Program, name: &str, strictness: Strictness, voice: Voice) -> Result<(), Failure> {
    judge(&program.caveats, name, strictness, voice)?;
    say_unreceived(unreceived(program), name, voice);
    Ok(())
}

/// Says which messages of a program are never received, if there are any.
pub fn say_unreceived(what: Option<String>, name: &str, voice: Voice) {
    if let Some(what) = what {
        voice.say(format_args!("warning: `{}`: {}", printable(name), printable(&what)));
    }
}

/// The same of data sets, by what their notes say: what is wrong with all of them, each thing said once.
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
