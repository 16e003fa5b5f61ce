//! The texts that were read, and places in them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_names;
use super::located::Located;
use super::span::Span;

/// A place in a text: file, line and column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Name of the file, or of its substitute (`--set`).
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Text of the line; long lines are cut.
    pub text: String,
    /// Number of marked characters.
    pub length: usize,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: Arc<str>,
    base: usize,
    /// Place that names this text, if the text is part of the program. Mistakes in the text are reported
    /// there.
    named: Option<Span>,
}

/// A hook for the progress of reading: name of the file, bytes read, and total bytes (0 if unknown). For a
/// compressed file it is called with the compressed bytes, and also with the decompressed bytes, whose total
/// is unknown.
pub type OnRead = Arc<dyn Fn(&str, u64, u64) + Send + Sync>;

/// Files that are part of the program: name and content.
pub type BuiltIn = &'static [(&'static str, &'static [u8])];

/// The texts read so far, and the ways to find further files.
#[derive(Clone, Default)]
pub struct Sources {
    texts: Vec<Source>,
    built_in: BuiltIn,
    /// Files that are in memory: name and content.
    attached: Vec<(Arc<str>, Arc<[u8]>)>,
    on_read: Option<OnRead>,
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.texts.iter().map(|source| source.name.as_str()).collect();
        f.debug_struct("Sources").field("texts", &names).finish_non_exhaustive()
    }
}

impl Sources {
    /// Sets the hook that is called every few megabytes while a file is read.
    pub fn on_read(&mut self, hook: OnRead) {
        self.on_read = Some(hook);
    }

    /// Sets the files that are part of the program: those of the named topologies and patterns.
    pub fn built_in(&mut self, files: BuiltIn) {
        self.built_in = files;
    }

    /// Returns the hook for the progress of reading.
    pub(crate) fn hook(&self) -> Option<OnRead> {
        self.on_read.clone()
    }

    /// Adds a file in memory. A text that names exactly this name gets it instead of any file on disk.
    pub fn attach(&mut self, name: impl Into<Arc<str>>, content: impl Into<Arc<[u8]>>) {
        self.attached.push((name.into(), content.into()));
    }

    /// Returns the files in memory with their names.
    #[cfg(feature = "simulator")]
    pub fn attached(&self) -> &[(Arc<str>, Arc<[u8]>)] {
        &self.attached
    }

    /// Returns the content of the file in memory with this name; the last one of several.
    pub fn find_attached(&self, name: &str) -> Option<&Arc<[u8]>> {
        self.attached.iter().rev().find(|(known, _)| **known == *name).map(|(_, content)| content)
    }

    /// Returns the file that `path` names, relative to the directory of the file in which it is written.
    ///
    /// A path that is not written in a file (the command line, a program, a text whose name starts with `-`
    /// or `<`) is relative to the current directory. If there is no such file and the path comes from a
    /// report (`<out/report.json>`), the report's folder and those above it are searched. The path was
    /// written relative to the directory of the run.
    pub fn resolve(&self, path: &Located<String>) -> PathBuf {
        let written_in = path.span().and_then(|span| self.find(span)).map(|(name, _, _)| name);
        let here = file_names::path(path);
        let Some(name) = written_in.filter(|name| !name.starts_with('-')) else { return here };
        match name.strip_prefix('<').map(|name| name.trim_end_matches('>')) {
            None => file_names::path(name).parent().unwrap_or(Path::new("")).join(here),
            Some(report) if here.is_relative() && !here.exists() => {
                find_near_report(&file_names::path(report), &here).unwrap_or(here)
            }
            Some(_) => here,
        }
    }

    /// Returns the content of the built-in file that `path` names, unless a file on disk has that name.
    ///
    /// A text that is itself built in (its name starts with `<`) finds built-in files first.
    pub(crate) fn find_built_in(&self, path: &Located<String>) -> Option<&'static [u8]> {
        let (_, content) = self.built_in.iter().find(|(name, _)| *name == path.as_str())?;
        let from_built_in =
            path.span().and_then(|span| self.find(span)).is_some_and(|(name, _, _)| name.starts_with('<'));
        (from_built_in || !self.resolve(path).exists()).then_some(content)
    }

    /// Keeps a text and returns its base: byte i of the text has position `base + i` in a [`Span`].
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> usize {
        let base = self.texts.last().map_or(0, |last| last.base + last.text.len() + 1);
        self.texts.push(Source { name: name.into(), text: text.into(), base, named: None });
        base
    }

    /// Reports all mistakes in the last text at `span`, the place that names the text.
    #[cfg(feature = "simulator")]
    pub fn set_named_at(&mut self, span: Span) {
        if let Some(last) = self.texts.last_mut() {
            last.named = Some(span);
        }
    }

    fn source(&self, span: Span) -> Option<&Source> {
        let behind = self.texts.partition_point(|source| source.base <= span.start);
        behind.checked_sub(1).map(|last| &self.texts[last])
    }

    /// Returns the text that holds this range, with its name and the range within it.
    pub fn find(&self, span: Span) -> Option<(&str, &str, std::ops::Range<usize>)> {
        let source = self.source(span)?;
        let start = (span.start - source.base).min(source.text.len());
        let end = (span.end - source.base).clamp(start, source.text.len());
        Some((&source.name, &source.text, start..end))
    }

    /// Returns file, line and column of a range.
    pub fn place(&self, span: Span) -> Option<Place> {
        if let Some(named) = self.source(span)?.named {
            return self.place(named);
        }
        let (name, text, range) = self.find(span)?;
        let start = floor_char_boundary(text, range.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let end = floor_char_boundary(text, range.end.min(line_end)).max(start);
        Some(Place {
            file: name.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            text: text[line_start..line_end].trim_end_matches('\r').chars().take(400).collect(),
            length: text[start..end].chars().count().max(1),
        })
    }
}

fn floor_char_boundary(text: &str, mut index: usize) -> usize {
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// Returns the file with this name in the folder of a report, or in the nearest folder above it.
fn find_near_report(report: &Path, name: &Path) -> Option<PathBuf> {
    let folder = report.parent().filter(|_| report.is_file())?;
    let near = folder.join(name);
    if near.exists() {
        return Some(near);
    }
    let whole = std::fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }).ok()?;
    whole.ancestors().skip(1).map(|above| above.join(name)).find(|path| path.exists())
}
