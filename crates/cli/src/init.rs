//! `hayase init`: a commented scenario to start from.

use super::args::InitArgs;
use super::files::{Opened, text};
use super::{End, Failure, Voice, print};
use hayase::diagnostic::Diagnostic;
use hayase::scenario;

/// Prints the scenario, or writes it where no file is yet.
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
    Opened::new(path)?.write(text(&page))?;
    voice.hint(format_args!("edit `{0}`, then `hayase run {0}`", path.display()));
    Ok(End::Done)
}
