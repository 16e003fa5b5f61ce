//! The texts that were read, and ranges of characters in them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_names;
use super::located::Located;
use super::span::Span;

/// A place in a text, as a person would name it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file, or what stands for one (`--set`).
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line itself (long ones are cut).
    pub text: String,
    /// How many characters of it are meant.
    pub length: usize,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: Arc<str>,
    base: usize,
    /// Where a text that is part of the program was named: the place of its mistakes.
    named: Option<Span>,
}

/// Who is told how far the reading of a file is: its name, the bytes read and the bytes in all (0: not known). Of a
/// compressed file that is said of its own bytes, and then of what comes out of them, of which it is not known how much
/// there is.
pub type OnRead = Arc<dyn Fn(&str, u64, u64) + Send + Sync>;

/// Files that are part of the program: name and content.
pub type BuiltIn = &'static [(&'static str, &'static [u8])];

/// The texts that were read so far, and how further files are found.
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
    /// Has `hook` called every few megabytes of a file that is read.
    pub fn on_read(&mut self, hook: OnRead) {
        self.on_read = Some(hook);
    }

    /// Files that a text finds although they are in no directory: those of the named topologies and patterns.
    pub fn built_in(&mut self, files: BuiltIn) {
        self.built_in = files;
    }

    /// Who is told how far the reading of a file is.
    pub(crate) fn hook(&self) -> Option<OnRead> {
        self.on_read.clone()
    }

    /// A file that is in memory: whatever text names it by exactly this name finds it, before any file on disk.
    pub fn attach(&mut self, name: impl Into<Arc<str>>, content: impl Into<Arc<[u8]>>) {
        self.attached.push((name.into(), content.into()));
    }

    /// Returns the files in memory, by their names.
    #[cfg(feature = "simulator")]
    pub fn attached(&self) -> &[(Arc<str>, Arc<[u8]>)] {
        &self.attached
    }

    /// The content of the file in memory that has this name; the last one of several.
    pub fn find_attached(&self, name: &str) -> Option<&Arc<[u8]>> {
        self.attached.iter().rev().find(|(known, _)| **known == *name).map(|(_, content)| content)
    }

    /// The file that `path` names: relative to the directory of the file in which it is written.
    ///
    /// What is written in no file (the command line, a program, a text whose name starts with `-` or `<`) is
    /// relative to the current directory. Where there is no such file, what a report holds (`<out/report.json>`) is
    /// looked for from its own folder on upwards: it was written relative to the directory in which the run was made.
    pub fn resolve(&self, path: &Located<String>) -> PathBuf {
        let written_in = path.span().and_then(|span| self.find(span)).map(|(name, _, _)| name);
        let here = file_names::path(path);
        let Some(name) = written_in.filter(|name| !name.starts_with('-')) else { return here };
        match name.strip_prefix('<').map(|name| name.trim_end_matches('>')) {
            None => file_names::path(name).parent().unwrap_or(Path::new("")).join(here),
            Some(report) if here.is_relative() && !here.exists() => {
                beside(&file_names::path(report), &here).unwrap_or(here)
            }
            Some(_) => here,
        }
    }

    /// The content of the built-in file that `path` names, if there is one and no file of that name is in its way.
    ///
    /// A text that is itself built in (its name starts with `<`) finds built-in files first.
    pub(crate) fn find_built_in(&self, path: &Located<String>) -> Option<&'static [u8]> {
        let (_, content) = self.built_in.iter().find(|(name, _)| *name == path.as_str())?;
        let from_built_in =
            path.span().and_then(|span| self.find(span)).is_some_and(|(name, _, _)| name.starts_with('<'));
        (from_built_in || !self.resolve(path).exists()).then_some(content)
    }

    /// Keeps a text and returns its base: byte i of it has position `base + i` in a [`Span`].
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> usize {
        let base = self.texts.last().map_or(0, |last| last.base + last.text.len() + 1);
        self.texts.push(Source { name: name.into(), text: text.into(), base, named: None });
        base
    }

    /// Makes the place at which the last text is named that of all mistakes in it.
    #[cfg(feature = "simulator")]
    pub fn is_named_at(&mut self, span: Span) {
        if let Some(last) = self.texts.last_mut() {
            last.named = Some(span);
        }
    }

    fn source(&self, span: Span) -> Option<&Source> {
        let behind = self.texts.partition_point(|source| source.base <= span.start);
        behind.checked_sub(1).map(|last| &self.texts[last])
    }

    /// The text that holds this range, with its name and the range in it.
    pub fn find(&self, span: Span) -> Option<(&str, &str, std::ops::Range<usize>)> {
        let source = self.source(span)?;
        let start = (span.start - source.base).min(source.text.len());
        let end = (span.end - source.base).clamp(start, source.text.len());
        Some((&source.name, &source.text, start..end))
    }

    /// File, line and column of a range.
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

/// The file of this name in the folder of a report, or in the nearest one above it.
fn beside(report: &Path, name: &Path) -> Option<PathBuf> {
    let folder = report.parent().filter(|_| report.is_file())?;
    let near = folder.join(name);
    if near.exists() {
        return Some(near);
    }
    let whole = std::fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }).ok()?;
    whole.ancestors().skip(1).map(|above| above.join(name)).find(|path| path.exists())
}
