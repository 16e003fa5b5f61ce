//! Work named on the command line: the kind of a file, the options of each kind, and loading and running
//! programs.

use std::path::{Path, PathBuf};

use clap::{Arg, Args, Command};

use super::caveats::Strictness;
use super::master_slave::args::{FarmArgs, GivingArgs, SourceArgs};
use super::play::{Asked, play};
use super::predict::args::DataArgs;
use super::replay::args::{FragmentArgs, ProgramArgs};
use super::scenario::BesideArgs;
use super::trace::ReadArgs;
use super::{End, Failure, Voice, caveats, extension, progress, regions};
use hayase::diagnostic::{Diagnostic, Invalid, file_names};
use hayase::farm::TasksSpec;
use hayase::program::generate::Generator;
use hayase::scenario::{Contents, Loaded, Loader, Scenario, contents};
use hayase::simulation::ProgramWork;
use hayase::trace::unreceived;

/// Options of single kinds of work: each sets a key of the work, which refuses keys that it does not have.
#[derive(Args, Clone, Debug, Default)]
pub struct WorkArgs {
    /// A scenario file.
    #[command(flatten)]
    pub beside: BesideArgs,
    /// Options for reading a trace.
    #[command(flatten)]
    read: ReadArgs,
    /// Execution of a program.
    #[command(flatten)]
    program: ProgramArgs,
    /// Fragmentation of messages.
    #[command(flatten)]
    fragment: FragmentArgs,
    /// The data sets of a prediction.
    #[command(flatten)]
    data: DataArgs,
    /// Tasks of a master/slave program.
    #[command(flatten)]
    source: SourceArgs,
    /// Its workers.
    #[command(flatten)]
    farm: FarmArgs,
    /// Its distribution of tasks.
    #[command(flatten)]
    giving: GivingArgs,
}

/// Returns a function that hides options of one kind of work from the help of a command for all kinds, and
/// makes them optional.
pub fn unlisted() -> impl FnMut(Arg) -> Arg {
    let options = WorkArgs::augment_args(Command::new(""));
    // Patterns have an order, too.
    let is_hidden = move |option: &Arg| {
        option.get_id() != "order" && options.get_arguments().any(|other| other.get_id() == option.get_id())
    };
    move |option| match is_hidden(&option) {
        true => option.hide(true).required(false),
        false => option,
    }
}

/// Returns the content of a file, by content and name, or of a rule, by name: a kind of work, or a scenario.
fn held(file: &Path, voice: Voice) -> Contents {
    // A pipe cannot be read twice, and a report may be large.
    let is_readable = !file.exists() || file.is_file() || file.is_dir();
    if !is_readable || extension(file) == "json" {
        return Contents::Scenario;
    }
    if is_rule(file) {
        return Contents::Trace;
    }
    if TasksSpec::is_rule(&file_names::text_of(file)) && !file.exists() {
        return Contents::Tasks;
    }
    match contents(file, &mut progress::sources(voice.show)) {
        Some(Contents::Table(table)) if table.name == "tasks" => Contents::Tasks,
        Some(Contents::Pattern) if extension(file) == "toml" => Contents::Scenario,
        found => found.unwrap_or(Contents::Scenario),
    }
}

impl WorkArgs {
    /// Adds the work of these files, unless `pattern` names it.
    ///
    /// # Errors
    /// Fails if the files are no work together.
    pub fn named(&self, files: &[PathBuf], pattern: bool, voice: Voice) -> Result<Loader, Failure> {
        let wrong = |message: String, help: &str| Failure::from(Diagnostic::new("wrong-choice", message).help(help));
        let mut data = self.data.clone();
        let mut loader = self.beside.loader(voice);
        let mut is_prediction = false;
        for file in files {
            let name = file_names::text_of(file);
            let held = held(file, voice);
            let data_set = match held {
                Contents::Program => Some(("program", &mut data.program)),
                Contents::Computation => Some(("computation", &mut data.computation)),
                Contents::Communication => Some(("communication", &mut data.communication)),
                _ => None,
            };
            let is_work = data_set.is_some() || matches!(held, Contents::Trace | Contents::Tasks | Contents::Pattern);
            if pattern && is_work {
                return Err(wrong(
                    format!("`{name}` is work, and --pattern names other work"),
                    "leave out one of them",
                ));
            }
            if let Some((option, known)) = data_set {
                is_prediction = true;
                if let Some(other) = known.replace(name.clone()) {
                    let help = format!("one {option} can stand for ranks each: `hayase predict --help`");
                    return Err(wrong(format!("`{name}` and `{other}` are both --{option}"), &help));
                }
                continue;
            }
            if files.len() > 1 {
                let message = format!("`{name}` is not a data set, and only data sets can be several files");
                return Err(wrong(message, "`hayase compare` and `hayase sweep` do several runs"));
            }
            loader = match held {
                Contents::Pattern => loader.pattern(&name),
                Contents::Trace => program(loader, file),
                Contents::Tasks => tasks(loader, &name),
                _ => loader.file(file),
            };
        }
        is_prediction |= data.program.is_some() && files.is_empty() && !pattern;
        Ok(data.on(if is_prediction { prediction(loader) } else { loader }))
    }

    /// Sets the keys of the work.
    pub fn on(&self, loader: Loader) -> Loader {
        let loader = self.fragment.on(self.program.on(self.read.on(loader)));
        self.giving.on(self.farm.on(self.source.on(loader)))
    }
}

/// Returns true if this names a program by rule and not a file.
pub fn is_rule(name: &Path) -> bool {
    Generator::is_meant(&file_names::text_of(name)) && !name.exists()
}

/// Adds a program by rule or from a file.
pub fn program(loader: Loader, file: &Path) -> Loader {
    let (table, key) = if is_rule(file) { ("program", "rule") } else { ("trace", "path") };
    loader.text("<PROGRAM>", format!("[workload.{table}]\n")).work("<PROGRAM>", key, &file_names::text_of(file))
}

/// Adds a prediction; its data sets are keys.
pub fn prediction(loader: Loader) -> Loader {
    loader.text("<predict>", "[workload.program-data]\n")
}

/// Adds a master/slave program with these tasks.
pub fn tasks(loader: Loader, tasks: &str) -> Loader {
    loader.text("<TASKS>", "[workload.master-slave]\n").work("<TASKS>", "tasks", tasks)
}

/// Loads a program; `named` is the text that names it.
///
/// # Errors
/// Returns all mistakes, and fails for work that is no program.
pub fn load_program(loader: Loader, named: &Path) -> Result<Scenario<ProgramWork>, Failure> {
    match loader.load_all().map_err(|invalid| with_hints(invalid, named))? {
        Loaded::Program(played) => Ok(*played),
        Loaded::Pattern(_) | Loaded::Farm(_) | Loaded::Jobs(_) => {
            Err(Diagnostic::new("wrong-choice", "the workload is not a program").into())
        }
    }
}

/// Runs a program and reports what is known about it.
///
/// # Errors
/// Fails if a request is not supported or a file cannot be written.
pub fn play_program(played: &Scenario<ProgramWork>, asked: &Asked<'_>, strict: Strictness) -> Result<End, Failure> {
    asked.check::<ProgramWork>()?;
    say(played.work(), strict, asked.voice)?;
    say_links(played, asked.voice);
    if played.system().node().facts().is_ideal && played.network().is_none() {
        asked.voice.hint(match played.work().origin {
            Some(_) => {
                "messages take no time; add communication data (--communication), a machine (-m) or a fabric (-t)"
            }
            None => "nodes and network are ideal; name a machine (-m, see `hayase machine list`) or a fabric (-t)",
        });
    }
    play(played, asked)
}

/// Reports the omitted parts of a program and the defects of its recording.
///
/// # Errors
/// Fails if the recording is incomplete and must not be.
pub fn say(work: &ProgramWork, strictness: Strictness, voice: Voice) -> Result<(), Failure> {
    regions::say(work.start_up, &work.program, voice);
    regions::say_strays(&work.program, voice);
    if !say_prediction(work, strictness, voice)? {
        caveats::judge_program(&work.program, &work.name, strictness, voice)?;
    }
    Ok(())
}

/// Reports the defects of the recordings behind the data sets of a prediction, and how times were found.
/// Returns false if the work is no prediction.
fn say_prediction(work: &ProgramWork, strictness: Strictness, voice: Voice) -> Result<bool, Failure> {
    let Some(origin) = &work.origin else { return Ok(false) };
    for (name, found) in &origin.caveats {
        caveats::judge(found, name, strictness, voice)?;
    }
    caveats::say_unreceived(unreceived(&work.program), &origin.program, voice);
    let found = origin.found;
    if found.by_name + found.other_ranks > 0 {
        voice.hint(format_args!(
            "the computation data belongs to another variant of the program: of {} times, {} were found by block \
             name, {} of them at other ranks",
            found.direct + found.by_name + found.other_ranks,
            found.by_name + found.other_ranks,
            found.other_ranks
        ));
    }
    Ok(true)
}

/// Compares the links of a fabric with those of the machine, if the fabric keeps its own.
pub fn say_links(scenario: &Scenario<ProgramWork>, voice: Voice) {
    if let Some(comparison) = scenario.system().own_links() {
        voice.say(comparison);
    }
}

/// Adds suggestions to the mistakes of an unreadable program that looks like a rule or messages.
pub fn with_hints(mut invalid: Invalid, named: &Path) -> Invalid {
    let text = file_names::text_of(named);
    for mistake in &mut invalid.diagnostics {
        let help = match mistake.code {
            "missing-file" => match Generator::meant(&text) {
                Some(rule) => format!("did you mean the program by rule `{rule}`?"),
                None if text.contains(':') => {
                    let name = text.split(':').next().unwrap_or_default();
                    mistake.message = format!("there is no program by rule `{name}`, and no file `{text}`");
                    match Generator::names().find(|rule| rule.starts_with(name)) {
                        Some(rule) => format!("did you mean the program by rule `{rule}`?"),
                        None => format!("there are: {}", Generator::names().collect::<Vec<_>>().join(", ")),
                    }
                }
                None => continue,
            },
            "unknown-format" if text.ends_with(".csv") || text.ends_with(".csv.zst") => {
                format!("a list of messages is sent with `hayase run -t FABRIC -p {text}`")
            }
            _ => continue,
        };
        mistake.help = Some(help);
    }
    invalid
}
