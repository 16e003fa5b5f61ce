//! `hayase init`: a commented scenario to start from.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::files::{Opened, text};
use super::{End, Failure, Voice, extension, print};
use hayase::diagnostic::Diagnostic;
use hayase::scenario;

const INIT_EXAMPLES: &str = "\
Examples:
  hayase init                                   print a scenario
  hayase init my.toml -t torus-8x8 -p all-to-all-pairwise";

/// `hayase init`.
#[derive(Args, Debug)]
#[command(after_help = INIT_EXAMPLES)]
pub struct InitArgs {
    /// The file to write (default: standard output); an existing file is not overwritten.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// The fabric: a name or a file.
    #[arg(short, long, value_name = "NAME|FILE")]
    pub topology: Option<String>,
    /// The pattern: a name or a file.
    #[arg(short, long, value_name = "NAME|FILE")]
    pub pattern: Option<String>,
}

/// Prints the scenario, or writes it to a new file.
pub fn init(args: &InitArgs, voice: Voice) -> Result<End, Failure> {
    let (topology, pattern) = scenario::init_defaults();
    let topology = args.topology.as_deref().unwrap_or(topology);
    let pattern = args.pattern.as_deref().unwrap_or(pattern);
    let page = scenario::init(topology, pattern)?;
    let Some(path) = &args.file else {
        print(&page)?;
        return Ok(End::Done);
    };
    if path.symlink_metadata().is_ok() {
        return Err(Diagnostic::new("file-exists", format!("`{}` exists already", path.display()))
            .help("choose another name, or remove the file")
            .into());
    }
    // A file with another extension would be read as something else.
    if !matches!(extension(path).as_str(), "" | "toml") {
        return Err(Diagnostic::new(
            "unknown-output",
            format!("`{}` is not a name of a scenario file", path.display()),
        )
        .help("a scenario file is x.toml")
        .into());
    }
    Opened::new(path)?.write(text(&page))?;
    let name = path.display().to_string();
    // (A file name contains no NUL.)
    let word = shlex::try_quote(&name).unwrap_or_default();
    voice.hint(format_args!("edit `{word}`, then `hayase run {word}`"));
    Ok(End::Done)
}
