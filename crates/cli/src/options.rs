//! Options of output, the same for all commands: files, format, threads.

use std::io::{self, Write};
use std::num::{NonZero, NonZeroU32};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use serde::Serialize;

use super::asked;
use super::end::Failure;
use super::files::{self, Files, Names};
use super::process;
use super::voice::{print_with, show};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase_output::json;
use hayase_output::page::{self, Page, PagePicture};
use hayase_output::table::Answer;

/// Largest number of threads on a machine with fewer cores; more would only compete for memory and cores.
const MOST_THREADS: usize = 16;

/// Options of output: files, format and threads.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write this file too; its name, or KIND=FILE, selects the content (see below; may be repeated).
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Vec<PathBuf>,
    /// Format of standard output: table, json, or csv if the result is one table.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table, hide_possible_values = true)]
    pub format: Format,
    /// Number of threads (default: one for each core).
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroU32>,
}

/// Format of standard output.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Tables and text for a terminal.
    Table,
    /// JSON.
    Json,
    /// CSV.
    Csv,
}

/// Support of a command for these options.
pub struct Offer<K: 'static> {
    /// Name of the command.
    pub verb: &'static str,
    /// Names of the files that it can write.
    pub names: Names<K>,
    /// `Ok` if the command prints JSON, else the advice for the user.
    pub json: Result<(), &'static str>,
    /// `Ok` if the command prints CSV, else the advice for the user.
    pub csv: Result<(), &'static str>,
    /// True if the command uses several threads.
    pub threads: bool,
}

impl<K> Offer<K> {
    /// Creates the offer of a command that prints JSON and CSV and uses several threads.
    pub const fn new(verb: &'static str, names: Names<K>) -> Self {
        Self { verb, names, json: Ok(()), csv: Ok(()), threads: true }
    }

    /// Removes CSV from the offer; `instead` is the advice for the user.
    pub const fn without_csv(self, instead: &'static str) -> Self {
        Self { csv: Err(instead), ..self }
    }

    /// Restricts the offer to one thread.
    pub const fn on_one_thread(self) -> Self {
        Self { threads: false, ..self }
    }
}

impl<K: Copy + PartialEq> Offer<K> {
    /// Returns the content of a file, by its name.
    fn kind(&self, path: &Path) -> Result<K, Diagnostic> {
        if self.names.is_empty() {
            let message = format!("nothing that is shown here can be written as a file (`{}`)", path.display());
            let help = "leave out -o, and redirect the output to a file with `>`";
            return Err(Diagnostic::new("unknown-output", message).help(help));
        }
        files::kind_of(path, self.names)
    }
}

/// Output name of the page of an answer.
pub const PAGE: &str = "x.html";

/// Draws a picture of a page.
pub fn picture(name: &str, draw: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<PagePicture> {
    let mut svg = Vec::new();
    draw(&mut svg)?;
    Ok(PagePicture::new(name, String::from_utf8_lossy(&svg)))
}

/// Writes the page of an answer.
pub fn page(
    title: &str,
    answer: &Answer,
    pictures: &[PagePicture],
    report: &impl Serialize,
    w: &mut dyn Write,
) -> io::Result<()> {
    page_with(title, answer, pictures, "", report, w)
}

/// Writes the page of an answer with data for its script.
pub fn page_with(
    title: &str,
    answer: &Answer,
    pictures: &[PagePicture],
    data: &str,
    report: &impl Serialize,
    w: &mut dyn Write,
) -> io::Result<()> {
    page::write(&Page { title, answer, pictures, command: &process::given(), data }, report, w)
}

/// Writer of a file or of standard output.
pub type Writes<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

impl OutputArgs {
    /// Checks that the command supports the options, and starts its threads.
    pub fn begin<K: Copy + PartialEq>(&self, offer: &Offer<K>) -> Result<(), Failure> {
        self.check(offer)?;
        begin(self.threads)
    }

    /// Checks that the command supports the options, and reports those that it does not.
    pub fn check<K: Copy + PartialEq>(&self, offer: &Offer<K>) -> Result<(), Failure> {
        let verb = offer.verb;
        let mut diagnostics: Vec<Diagnostic> = self.output.iter().filter_map(|path| offer.kind(path).err()).collect();
        let wrong = |message: String| Diagnostic::new("wrong-choice", message);
        let (name, printed) = match self.format {
            Format::Table => ("", Ok(())),
            Format::Json => ("JSON", offer.json),
            Format::Csv => ("CSV", offer.csv),
        };
        if let Err(help) = printed {
            diagnostics.push(wrong(format!("`hayase {verb}` prints no {name}")).help(help));
        }
        if self.threads.is_some() && !offer.threads {
            let message = format!("`hayase {verb}` uses one thread");
            diagnostics.push(wrong(message).help("leave out -j (--threads)"));
        }
        if diagnostics.is_empty() { Ok(()) } else { Err(Invalid { diagnostics, ..Invalid::default() }.into()) }
    }

    /// Opens the files, each with its content.
    pub fn open<K: Copy + PartialEq>(&self, offer: &Offer<K>) -> Result<Files<K>, Failure> {
        files::open(&self.output, |path| offer.kind(path))
    }

    /// Returns the first file with this content.
    pub fn file_of<K: Copy + PartialEq>(&self, offer: &Offer<K>, wanted: K) -> Option<&Path> {
        let found = self.output.iter().find(|path| offer.kind(path).is_ok_and(|kind| kind == wanted));
        found.map(|path| files::parts(path).1)
    }

    /// Writes the files and prints the result: as a table, as JSON or as one of `writers`, which has a writer
    /// for each name except `x.json`.
    pub fn deliver(
        &self,
        files: Files,
        table: impl FnOnce() -> Answer,
        data: &impl Serialize,
        writers: &[(&str, Writes<'_>)],
    ) -> Result<(), Failure> {
        let write = |name: &str, w: &mut dyn Write| match writers.iter().find(|(known, _)| *known == name) {
            Some((_, write)) => write(w),
            None => json::write(data, w),
        };
        let table = std::cell::LazyCell::new(table);
        for (name, file) in files {
            file.write(|w| match name {
                // Advice has a page of its own.
                PAGE if writers.iter().all(|(known, _)| *known != PAGE) => {
                    let drawn = writers.iter().filter(|(name, _)| name.ends_with(".svg"));
                    let pictures = drawn.map(|(name, write)| picture(name, write)).collect::<io::Result<Vec<_>>>()?;
                    page(&table.first_line(), &table, &pictures, data, w)
                }
                _ => write(name, w),
            })?;
        }
        let table = || table.clone();
        match self.format {
            Format::Table => show(&table()),
            Format::Json => {
                asked::keep_table(table);
                print_with(|w| write("x.json", w))
            }
            Format::Csv => print_with(|w| write("x.csv", w)),
        }
    }

    /// Prints a result of a command without CSV.
    pub fn print(&self, table: impl FnOnce() -> Answer, data: &impl Serialize) -> Result<(), Failure> {
        match self.format {
            Format::Json => {
                asked::keep_table(table);
                print_with(|w| json::write(data, w))
            }
            Format::Table | Format::Csv => show(&table()),
        }
    }

    /// Prints a result that has rows.
    pub fn print_rows(
        &self,
        table: impl FnOnce() -> Answer,
        data: &impl Serialize,
        rows: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self.format {
            Format::Csv => print_with(rows),
            Format::Table | Format::Json => self.print(table, data),
        }
    }
}

/// Returns the number of threads to start for this request.
pub fn started(threads: NonZeroU32) -> NonZeroU32 {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    threads.min(NonZeroU32::try_from(cores.max(MOST_THREADS) as u32).unwrap_or(threads))
}

/// Starts the requested threads. Without -j, rayon starts its own on demand, limited to a useful number
/// whatever `RAYON_NUM_THREADS` is.
pub fn begin(threads: Option<NonZeroU32>) -> Result<(), Failure> {
    let of_environment = || std::env::var("RAYON_NUM_THREADS").ok()?.parse::<NonZeroU32>().ok();
    match threads {
        Some(threads) => start(threads),
        None => match of_environment().filter(|threads| started(*threads) < *threads) {
            Some(threads) => start(threads),
            None => Ok(()),
        },
    }
}

/// Starts the global pool with this number of threads.
pub fn start(threads: NonZeroU32) -> Result<(), Failure> {
    let threads = started(threads).get() as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| Diagnostic::new("threads", format!("cannot start {threads} threads: {error}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_threads_are_started_as_are_asked_for_where_that_is_of_use() {
        let threads = |count| started(NonZeroU32::new(count).unwrap()).get();
        assert_eq!([1, 2, 7, 16].map(threads), [1, 2, 7, 16]);
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        assert_eq!(threads(u32::MAX) as usize, cores.max(MOST_THREADS));
    }
}
