//! A file or folder with a trace: detection of its format, and reading.

use std::cell::RefCell;
use std::fs;
use std::io::Read;
use std::path::Path;

use super::calls::{self, Calls};
use super::integrity::{Integrity, IntegrityObserver};
use super::to_program::ToProgram;
use super::{chakra, dumpi, goal, npb, otf2, paraver, simai, time_independent};
use crate::diagnostic::{Diagnostic, Located, Sources, file_names};
use crate::program::Program;
use crate::program::caveats::Caveats;
use crate::reading::Input;

/// Size of the beginning of a file from which its format is detected \[B\].
const HEAD: u64 = 4096;

/// A format of traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Named)]
pub enum Format {
    /// Hayase's own.
    Hayase,
    /// GOAL text.
    Goal,
    /// GOAL binary.
    GoalBinary,
    /// Text traces of the NAS benchmarks.
    #[name("npb-text")]
    Npb,
    /// SimGrid's time-independent traces.
    TimeIndependent,
    /// Chakra execution traces, a file a rank.
    Chakra,
    /// Workload text of SimAI.
    SimAi,
    /// DUMPI traces, a file a rank.
    Dumpi,
    /// Traces of Paraver.
    Paraver,
    /// OTF2 archives.
    Otf2,
}

impl Format {
    /// Returns the format of a file that begins with `head`.
    pub fn of_content(head: &[u8]) -> Option<Self> {
        let signature = &hayase_trace::SIGNATURE[..3];
        if head.starts_with(signature) {
            return Some(Self::Hayase);
        }
        if head.starts_with(&goal::MAGIC) {
            return Some(Self::GoalBinary);
        }
        if head.starts_with(&dumpi::MAGIC) {
            return Some(Self::Dumpi);
        }
        if head.starts_with(paraver::SIGNATURE) {
            return Some(Self::Paraver);
        }
        if head.starts_with(npb::SIGNATURE) {
            return Some(Self::Npb);
        }
        if otf2::is_anchor(head) {
            return Some(Self::Otf2);
        }
        let text = String::from_utf8_lossy(head);
        let mut lines = text.lines().map(str::trim);
        let line = lines.find(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with('#'))?;
        if line.starts_with("num_ranks") || line.starts_with("/*") {
            return Some(Self::Goal);
        }
        let mut words = line.split_whitespace();
        if words.clone().next().is_some_and(|word| simai::SIGNATURES.contains(&word)) {
            return Some(Self::SimAi);
        }
        let rank = words.next()?.trim_start_matches("rank-").trim_start_matches('p');
        let action = words.next()?;
        let is_action = rank.parse::<u32>().is_ok() && action.starts_with(|c: char| c.is_ascii_alphabetic());
        is_action.then_some(Self::TimeIndependent)
    }

    /// Returns the format that a file's name indicates.
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = [".zst", ".gz"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            hayase_trace::EXTENSION => Some(Self::Hayase),
            "goal" => Some(Self::Goal),
            "bin" => Some(Self::GoalBinary),
            "tsv" => Some(Self::Npb),
            chakra::files::EXTENSION => Some(Self::Chakra),
            dumpi::files::EXTENSION => Some(Self::Dumpi),
            "prv" => Some(Self::Paraver),
            otf2::EXTENSION => Some(Self::Otf2),
            "txt" | "ti" | "trace" => Some(Self::TimeIndependent),
            _ => None,
        }
    }
}

/// Options for reading a trace.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Rate that converts the operations of time-independent traces into time \[1/s\].
    pub flop_rate: f64,
    /// Set to use a trace that ends early as far as it goes.
    pub truncated: bool,
    /// Rules by which nodes of execution traces become operations.
    pub nodes: chakra::Rules,
}

impl Default for Options {
    fn default() -> Self {
        Self { flop_rate: 1e9, truncated: false, nodes: chakra::Rules::default() }
    }
}

/// A trace that exists and whose format is known.
#[derive(Clone, Debug)]
pub struct Trace<'a> {
    sources: &'a Sources,
    format: Format,
    /// Files in the order in which they are read.
    files: Vec<Located<String>>,
    /// File or folder as it was named.
    named: Located<String>,
    /// Side file with the process groups of an execution trace.
    groups: Option<Located<String>>,
    /// Files of a DUMPI trace with their ranks.
    dumpi: dumpi::files::Ranks,
    name: String,
    /// Integrity found when the trace was last read.
    integrity: RefCell<Integrity>,
}

impl<'a> Trace<'a> {
    /// Detects the format of a file or folder: by its content, then by its name.
    ///
    /// # Errors
    /// There is no such file, or it is in none of the formats.
    pub fn open(sources: &'a Sources, path: &Located<String>) -> Result<Self, Diagnostic> {
        let resolved = sources.resolve(path);
        if Format::of_name(&resolved) == Some(Format::Chakra) || chakra::is_prefix(&resolved) {
            return Self::open_nodes(sources, path, &resolved);
        }
        if resolved.is_dir() {
            return Self::open_folder(sources, path, &resolved);
        }
        let input = sources.open(path)?;
        let name = input.name().to_owned();
        let mut head = Vec::new();
        let read = input.take(HEAD).read_to_end(&mut head);
        if let Err(error) = read.as_ref().map_err(ToString::to_string)
            && head.is_empty()
        {
            return Err(Diagnostic::new("unreadable-file", format!("cannot read `{name}`: {error}")).at_value(path));
        }
        let format = Format::of_content(&head).or_else(|| Format::of_name(&resolved)).ok_or_else(|| {
            Diagnostic::new("unknown-format", format!("`{name}` is a trace in no format that is known"))
                .at_value(path)
                .help("known are Hayase's own traces, GOAL (text and binary), SimGrid's time-independent traces, text traces of the NAS benchmarks, Chakra execution traces (.et), workloads of SimAI, DUMPI traces (.meta, -RANK.bin), traces of Paraver (.prv) and OTF2 archives (.otf2)")
        })?;
        if format == Format::Dumpi {
            return Self::open_dumpi(sources, path, name);
        }
        Ok(Self::of_files(sources, path, format, vec![path.clone()], name))
    }

    /// Opens a DUMPI trace with the files of all ranks.
    fn open_dumpi(sources: &'a Sources, path: &Located<String>, name: String) -> Result<Self, Diagnostic> {
        let ranks = dumpi::files::of(sources, path)?;
        let files = ranks.files.iter().map(|(_, file)| file.clone()).collect();
        Ok(Self { dumpi: ranks, ..Self::of_files(sources, path, Format::Dumpi, files, name) })
    }

    fn of_files(
        sources: &'a Sources,
        path: &Located<String>,
        format: Format,
        files: Vec<Located<String>>,
        name: String,
    ) -> Self {
        Self {
            sources,
            format,
            files,
            named: path.clone(),
            groups: None,
            dumpi: Default::default(),
            name,
            integrity: RefCell::default(),
        }
    }

    /// Opens an execution trace with all files of its ranks.
    fn open_nodes(sources: &'a Sources, path: &Located<String>, resolved: &Path) -> Result<Self, Diagnostic> {
        let files = chakra::files::of(sources, path)?;
        Ok(Self::of_files(sources, path, Format::Chakra, files, file_names::text_of(resolved)))
    }

    /// Sets the side file with the process groups of an execution trace.
    #[must_use]
    pub fn with_groups(self, groups: Option<Located<String>>) -> Self {
        Self { groups, ..self }
    }

    /// Opens a folder with one file per rank.
    fn open_folder(sources: &'a Sources, path: &Located<String>, folder: &Path) -> Result<Self, Diagnostic> {
        let name = file_names::text_of(folder);
        let failed =
            |error| Diagnostic::new("unreadable-file", format!("cannot read `{name}`: {error}")).at_value(path);
        let (mut files, mut has_nodes, mut has_dumpi) = (Vec::new(), false, false);
        let mut anchors = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            match Format::of_name(&file) {
                Some(Format::Hayase) => files.push(file_names::text_of(&file)),
                Some(Format::Otf2) => anchors.push(file_names::text_of(&file)),
                format => {
                    has_nodes |= format == Some(Format::Chakra);
                    has_dumpi |= format == Some(Format::GoalBinary) && dumpi::files::is_rank(&file);
                }
            }
        }
        if files.is_empty() && has_dumpi && !has_nodes {
            return Self::open_dumpi(sources, path, name);
        }
        if files.is_empty() && has_nodes {
            return Self::open_nodes(sources, path, folder);
        }
        if let ([anchor], []) = (&anchors[..], &files[..]) {
            let files = vec![Located::from(anchor.clone())];
            return Ok(Self::of_files(sources, path, Format::Otf2, files, anchor.clone()));
        }
        // The order of files in a folder is undefined.
        files.sort();
        if files.is_empty() {
            let message = format!("there is no trace in the folder `{name}`");
            return Err(Diagnostic::new("missing-file", message)
                .at_value(path)
                .help(format!("files of ranks end in .{}, .RANK.et or -RANK.bin", hayase_trace::EXTENSION)));
        }
        let files = files.into_iter().map(Located::from).collect();
        Ok(Self::of_files(sources, path, Format::Hayase, files, name))
    }

    /// True if the trace holds calls, unlike a schedule.
    pub fn has_calls(&self) -> bool {
        !matches!(self.format, Format::Goal | Format::GoalBinary | Format::Chakra | Format::SimAi)
    }

    /// Format of the trace.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Name of the file or folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of all files of the trace, in the order of reading. A list of files is followed.
    ///
    /// # Errors
    /// A list that cannot be read.
    pub fn parts(&self) -> Result<Vec<String>, Vec<Diagnostic>> {
        match self.format {
            Format::TimeIndependent => {
                let files = time_independent::files(&self.name, &|name| self.open_part(name))?;
                Ok(files.into_iter().map(|(name, _)| name).collect())
            }
            Format::Otf2 => otf2::files(&self.name, &|name| self.open_part(name)),
            _ => Ok(self.files.iter().map(|file| file.to_string()).collect()),
        }
    }

    /// Opens one of the files of a list, or the list.
    fn open_part(&self, name: &str) -> Result<Input, Diagnostic> {
        match name == self.name {
            true => self.open_file(&self.files[0]),
            false => self.open_file(&name.to_owned().into()),
        }
    }

    /// Passes all calls to `calls`. Returns `false` for a schedule, which has no calls.
    ///
    /// # Errors
    /// Parts that cannot be read, with their places.
    pub fn calls(&self, options: Options, calls: &mut impl Calls) -> Result<bool, Vec<Diagnostic>> {
        let integrity = &mut *self.integrity.borrow_mut();
        *integrity = Integrity::default();
        let has_ends = matches!(self.format, Format::Hayase | Format::Paraver | Format::Dumpi);
        let calls = &mut IntegrityObserver { calls, integrity, has_ends };
        match self.format {
            Format::Goal | Format::GoalBinary | Format::Chakra | Format::SimAi => return Ok(false),
            Format::Otf2 => otf2::read(&self.name, &|name| self.open_part(name), calls)?,
            Format::Npb => npb::read(&|| self.open_file(&self.files[0]), calls)?,
            Format::TimeIndependent => {
                let open = |name: &str| self.open_part(name);
                time_independent::read(&self.name, &open, options.flop_rate, calls)?;
            }
            Format::Hayase => {
                for file in &self.files {
                    let input = self.open_file(file).map_err(|diagnostic| vec![diagnostic])?;
                    match calls::read(input, calls) {
                        Err(mistakes) if options.truncated && mistakes[0].code == "truncated-trace" => {}
                        result => result?,
                    }
                }
            }
            Format::Paraver => {
                let input = self.open_file(&self.files[0]).map_err(|diagnostic| vec![diagnostic])?;
                paraver::read(input, options.truncated, calls)?;
            }
            Format::Dumpi => {
                dumpi::read(&self.dumpi, &|file| self.open_file(file), options.truncated, calls)?;
            }
        }
        Ok(true)
    }

    /// Returns the caveats of the recording as far as it has been read: missing parts of the run, and lacking
    /// cores.
    pub fn caveats(&self) -> Caveats {
        self.integrity.borrow().caveats()
    }

    /// Reads the trace as a program, which carries the trace's caveats.
    ///
    /// # Errors
    /// Parts that cannot be read or make no sense, with their places.
    pub fn program(&self, options: Options) -> Result<Program, Vec<Diagnostic>> {
        self.program_with(options, |calls| calls)
    }

    /// Reads the trace as a program. If it holds calls, `prepare` sets how they become a program.
    ///
    /// # Errors
    /// As for [`Self::program`].
    pub fn program_with(
        &self,
        options: Options,
        prepare: impl FnOnce(ToProgram) -> ToProgram,
    ) -> Result<Program, Vec<Diagnostic>> {
        let input = || self.open_file(&self.files[0]).map_err(|diagnostic| vec![diagnostic]);
        match self.format {
            Format::Goal => goal::read_text(input()?),
            Format::GoalBinary => goal::read_binary(input()?),
            Format::Chakra => self.nodes(options.nodes),
            Format::SimAi => simai::read(input()?, options.nodes.ranks),
            Format::Hayase | Format::Npb | Format::TimeIndependent | Format::Dumpi | Format::Paraver | Format::Otf2 => {
                let unit = match self.format {
                    Format::Hayase | Format::Otf2 => "event",
                    Format::Dumpi => "byte",
                    _ => "line",
                };
                self.dumpi.check(&self.name)?;
                let mut program = prepare(ToProgram::new(&self.name, unit));
                self.calls(options, &mut program)?;
                Ok(program.finish()?.with_caveats(self.caveats()))
            }
        }
    }

    /// Returns an option of execution traces that has no meaning for this trace: its name and the mistake.
    pub fn refused(&self, options: &Options) -> Option<(&'static str, Diagnostic)> {
        let chakra::Rules { memory_bandwidth, ranks, gathered, .. } = options.nodes;
        let is_nodes = self.format == Format::Chakra;
        let given = [
            ("memory-bandwidth", memory_bandwidth.is_some() && !is_nodes),
            ("groups", self.groups.is_some() && !is_nodes),
            ("gathered", gathered && !is_nodes),
            ("ranks", ranks.is_some() && !is_nodes && self.format != Format::SimAi),
        ];
        let (key, _) = given.into_iter().find(|(_, given)| *given)?;
        let message = format!(
            "`{key}` is no option of this trace: it is for Chakra execution traces, and `{}` is none",
            self.name
        );
        Some((key, Diagnostic::new("unused-option", message).help(format!("leave out `{key}`"))))
    }

    /// Reads an execution trace: all its files, or the named one for all ranks.
    fn nodes(&self, rules: chakra::Rules) -> Result<Program, Vec<Diagnostic>> {
        let is_one = rules.ranks.is_some() && self.files.contains(&self.named);
        let files = if is_one { std::slice::from_ref(&self.named) } else { &self.files[..] };
        let open: Vec<_> = files.iter().map(|file| move || self.open_file(file)).collect();
        let open: Vec<&dyn Fn() -> Result<Input, Diagnostic>> = open.iter().map(|open| open as _).collect();
        let groups = self.groups.as_ref().map(|groups| self.open_file(groups)).transpose();
        chakra::read(&open, groups.map_err(|diagnostic| vec![diagnostic])?, rules)
    }

    fn open_file(&self, file: &Located<String>) -> Result<Input, Diagnostic> {
        self.sources.open(file)
    }
}
