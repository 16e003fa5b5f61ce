//! Tasks from what was typed: a file, or a rule.

use super::args::SourceArgs;
use crate::range;
use crate::{Failure, Voice, progress};
use hayase::diagnostic::{Diagnostic, Invalid, Located, Sources};
use hayase::workload::task_queue::{Tasks, TasksFile};

/// The tasks, and what they are for people.
pub fn load(text: &str, args: &SourceArgs, voice: Voice) -> Result<(String, Tasks), Failure> {
    let mut sources = progress::sources(voice.show);
    let (title, file) = describe(text, args, &mut sources)?;
    if file.refined && file.grid.is_none() {
        return Err(Diagnostic::new("missing-grid", "refined tasks stand in a grid")
            .help("give it with --grid")
            .into());
    }
    if file.clamp && file.grid.is_none() {
        let message = "without a grid there are no tasks beyond the executed ones";
        return Err(Diagnostic::new("missing-grid", message).help("give it with --grid, or leave out --clamp").into());
    }
    let tasks = file.load(args.seed, &mut sources)?;
    Ok((title, tasks))
}

/// What the file or rule says, with what was typed beside it.
pub fn describe(text: &str, args: &SourceArgs, sources: &mut Sources) -> Result<(String, TasksFile), Failure> {
    let rule = text.split_once(':').filter(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
    let mut file = match rule {
        Some((name, keys)) => rule_file(name, keys, sources)?,
        None => {
            let path: Located<String> = text.to_owned().into();
            TasksFile::read(&path, sources).map_err(|diagnostic| Invalid::one(diagnostic, sources))?
        }
    };
    if let Some(grid) = &args.grid {
        file.grid = Some(grid.clone().into());
    }
    file.clamp |= args.clamp;
    file.refined |= args.refined;
    if let Some(size) = &args.bytes_in {
        file.bytes_in = Some(range::quantity("--bytes-in", size)?);
    }
    if let Some(size) = &args.bytes_out {
        file.bytes_out = Some(range::quantity("--bytes-out", size)?);
    }
    let title = match &file.grid {
        Some(grid) => format!("tasks of {text} in the grid {}", grid.as_str()),
        None => format!("tasks of {text}"),
    };
    Ok((title, file))
}

/// `exponential:count=10,mean=1ms` as the tasks file it stands for.
fn rule_file(name: &str, keys: &str, sources: &mut Sources) -> Result<TasksFile, Failure> {
    let mut toml = format!("[tasks.{name}]\n");
    for assignment in keys.split(',').filter(|assignment| !assignment.trim().is_empty()) {
        let (key, value) = assignment.split_once('=').unwrap_or((assignment, ""));
        let value = value.trim();
        match value.parse::<f64>() {
            Ok(number) if number.is_finite() => toml += &format!("{} = {value}\n", key.trim()),
            _ => toml += &format!("{} = \"{}\"\n", key.trim(), value.escape_default()),
        }
    }
    sources.add(format!("<{name}>"), toml.as_str());
    toml::from_str(&toml).map_err(|error: toml::de::Error| {
        let mut diagnostic = Diagnostic::new("bad-rule", error.message().to_owned())
            .help("a rule is written like exponential:count=10000,mean=1ms; `hayase master-slave --help` lists all");
        if let Some(span) = error.span() {
            diagnostic = diagnostic.at(hayase::diagnostic::Span::new(span.start, span.end));
        }
        Invalid::one(diagnostic, sources).into()
    })
}
