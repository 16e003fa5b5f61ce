//! Files of a trace: `PREFIX-RANK.bin`, and `PREFIX.meta` with lines `name=value`.

use std::fs;
use std::io::Read;
use std::path::Path;

use super::file::MAGIC;
use crate::diagnostic::{Diagnostic, Located, Sources, file_names};
use crate::reading::Input;

/// Largest number of ranks: tables are made for all of them, also for those without a file.
const MOST_RANKS: u32 = 1 << 20;
/// Number of ranks up to which any number of files may be missing. In larger traces each file stands for 64 ranks.
const FREE_RANKS: u32 = 1 << 12;

/// Extension of the file that names the others.
pub(in crate::trace) const EXTENSION: &str = "meta";
/// Largest file of that kind \[B\].
const LARGEST: u64 = 1 << 20;

/// Files of a trace, by rank.
#[derive(Clone, Debug, Default)]
pub(in crate::trace) struct Ranks {
    pub files: Vec<(u32, Located<String>)>,
    /// Number of ranks of the program.
    pub count: u32,
}

impl Ranks {
    /// Checks that every rank has a file. Members of communicators follow from the calls of all.
    pub fn check(&self, name: &str) -> Result<(), Vec<Diagnostic>> {
        let (present, count) = (self.files.len(), self.count);
        let first = self.files.iter().zip(0..).take_while(|((rank, _), at)| rank == at).count();
        if first == count as usize {
            return Ok(());
        }
        let message = format!("`{name}` has the calls of {present} of {count} ranks; rank {first} is missing");
        Err(vec![Diagnostic::new("missing-rank", message).help("the files of all ranks are `NAME-RANK.bin`")])
    }
}

/// Returns prefix and rank of a file's name: `t` and 3 of `t-0003.bin`, also compressed.
fn parts(name: &str) -> Option<(&str, u32)> {
    let name = [".zst", ".gz"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let (prefix, rank) = name.strip_suffix(".bin")?.rsplit_once('-')?;
    let is_number = !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit());
    Some((prefix, rank.parse().ok().filter(|_| is_number)?))
}

/// Returns true if a file begins as those of ranks do.
pub(in crate::trace) fn is_rank(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut head = [0; 8];
    let compressed = name.ends_with(".zst") || name.ends_with(".gz");
    let mut begins = || fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == MAGIC;
    parts(&name).is_some() && (compressed || begins())
}

/// Returns the files of all ranks of a trace, which is named by its folder, by its meta file, or by the file of a
/// rank.
///
/// # Errors
/// A rank with two files, a folder with several traces or none, numbers of ranks that contradict the files.
pub(in crate::trace) fn of(sources: &Sources, path: &Located<String>) -> Result<Ranks, Diagnostic> {
    let wrong = |code, message: String| Diagnostic::new(code, message).at_value(path);
    let resolved = sources.resolve(path);
    let name = file_names::text_of(&resolved);
    let mut claimed = None;
    let mut prefix = None;
    if !resolved.is_dir() {
        let own = resolved.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match parts(&own) {
            Some((of, _)) => prefix = Some(of.to_owned()),
            None => {
                let (ranks, of) = meta(sources.open(path)?, path)?;
                claimed = Some(ranks);
                let stem = own.split_once(".meta").map_or(own.as_str(), |(stem, _)| stem).to_owned();
                prefix = Some(of.unwrap_or(stem));
            }
        }
    }
    let mut found = listed(sources, path, &resolved)
        .map_err(|error| wrong("unreadable-file", format!("cannot read `{name}`: {error}")))?;
    if claimed.is_some() && found.iter().all(|(of, _, _)| prefix.as_ref() != Some(of)) {
        // A trace that was renamed keeps the old name in its meta file.
        let own = resolved.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        prefix = own.split_once(".meta").map(|(stem, _)| stem.to_owned());
    }
    found.retain(|(of, _, _)| prefix.as_ref().is_none_or(|prefix| prefix == of));
    let Some((first, _, _)) = found.first().cloned() else {
        let prefix = prefix.unwrap_or_default();
        let message = format!("`{name}` has no files of ranks `{prefix}-RANK.bin` beside it");
        return Err(wrong("missing-file", message));
    };
    if let Some((other, _, _)) = found.iter().find(|(prefix, _, _)| *prefix != first) {
        let message = format!("the folder `{name}` has several traces, `{first}` and `{other}`");
        return Err(wrong("two-traces", message).help(format!("name one: {name}/{first}.{EXTENSION}")));
    }
    if let Some(pair) = found.windows(2).find(|pair| pair[0].1 == pair[1].1) {
        let message = format!("rank {} has two files, `{}` and `{}`", pair[0].1, *pair[0].2, *pair[1].2);
        return Err(wrong("repeated-rank", message));
    }
    let largest = found.last().map_or(0, |(_, rank, _)| *rank);
    let count = claimed.unwrap_or_else(|| largest.saturating_add(1));
    if largest >= count {
        let message = format!("`{name}` says that there are {count} ranks, and rank {largest} has a file");
        return Err(wrong("other-run", message).help("is it the file of another run?"));
    }
    let (most, present) = (FREE_RANKS.max(found.len() as u32 * 64).min(MOST_RANKS), found.len());
    if count > most {
        let message =
            format!("`{name}` has {count} ranks, of which {present} have files; at most {most} are read then");
        return Err(wrong("too-large", message));
    }
    let files = found.into_iter().map(|(_, rank, file)| (rank, file)).collect();
    Ok(Ranks { files, count })
}

/// Returns prefix, rank and name of all files beside a path or within it, sorted.
fn listed(
    sources: &Sources,
    path: &Located<String>,
    resolved: &Path,
) -> std::io::Result<Vec<(String, u32, Located<String>)>> {
    let mut found = Vec::new();
    if sources.find_attached(path).is_some() {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (name, _) in sources.attached() {
            let (beside, own) = name.rsplit_once('/').unwrap_or(("", name));
            if let Some((prefix, rank)) = parts(own).filter(|_| beside == folder) {
                found.push((prefix.to_owned(), rank, name.to_string()));
            }
        }
    } else {
        let folder = if resolved.is_dir() { resolved } else { resolved.parent().unwrap_or(Path::new("")) };
        for entry in fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if let Some((prefix, rank)) = parts(&name) {
                found.push((prefix.to_owned(), rank, file_names::text_of(&folder.join(&name))));
            }
        }
    }
    // The order of files in a folder is undefined.
    found.sort();
    Ok(found.into_iter().map(|(prefix, rank, file)| (prefix, rank, Located::from(file))).collect())
}

/// Returns the number of ranks and the prefix of the files that a meta file names.
fn meta(mut input: Input, path: &Located<String>) -> Result<(u32, Option<String>), Diagnostic> {
    let text = input.read_whole(LARGEST)?;
    let name = input.name();
    let (mut ranks, mut prefix) = (None, None);
    for (line, number) in String::from_utf8_lossy(&text).lines().zip(1..) {
        match line.split_once('=') {
            Some(("numprocs", value)) => {
                let count = value.trim().parse::<u32>().ok().filter(|count| (1..=MOST_RANKS).contains(count));
                let message =
                    || format!("`{name}`, line {number}: `{value}` is not a number of ranks from 1 to {MOST_RANKS}");
                ranks = Some(count.ok_or_else(|| Diagnostic::new("bad-number", message()).at_value(path))?);
            }
            // Only its last part: the trace may have moved.
            Some(("fileprefix", value)) => prefix = value.trim().rsplit('/').next().map(str::to_owned),
            _ => {}
        }
    }
    let message = || format!("`{name}` does not say how many ranks there are");
    let missing = || Diagnostic::new("no-header", message()).at_value(path).help("a line `numprocs=64` is expected");
    Ok((ranks.ok_or_else(missing)?, prefix))
}
