//! Files of an execution trace: one a rank, `PREFIX.RANK.et`.

use std::fs;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Located, Sources, file_names};

/// Extension of the files.
pub(in crate::trace) const EXTENSION: &str = "et";

/// Returns prefix and rank of a file's name: `t` and 3 of `t.3.et`, `t.3.et.gz` and `t.3.et.zst`.
fn parts(name: &str) -> Option<(&str, u32)> {
    let name = [".zst", ".gz"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let (prefix, rank) = name.strip_suffix(EXTENSION)?.strip_suffix('.')?.rsplit_once('.')?;
    Some((prefix, rank.parse().ok()?))
}

/// Returns the ranks and files of a folder, all of them or those with a prefix, by prefix and rank.
fn in_folder(folder: &Path, prefix: Option<&str>) -> std::io::Result<Vec<(String, u32, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some((of, rank)) = parts(&name).filter(|(of, _)| prefix.is_none_or(|prefix| prefix == *of)) {
            found.push((of.to_owned(), rank, file_names::text_of(&folder.join(&name))));
        }
    }
    // The order of files in a folder is undefined.
    found.sort();
    Ok(found)
}

fn folder_and_prefix(path: &Path) -> Option<(&Path, &str)> {
    Some((path.parent()?, path.file_name()?.to_str()?))
}

/// Returns true if a path is no file, but the prefix of the files of ranks.
pub fn is_prefix(path: &Path) -> bool {
    let found = folder_and_prefix(path).filter(|_| !path.exists());
    found.is_some_and(|(folder, prefix)| in_folder(folder, Some(prefix)).is_ok_and(|files| !files.is_empty()))
}

/// Returns the files of all ranks, by rank: of a folder, of a prefix, of the file of any rank, or a file for itself.
///
/// # Errors
/// A rank without a file or with two, a folder with several traces or none.
pub(in crate::trace) fn of(sources: &Sources, path: &Located<String>) -> Result<Vec<Located<String>>, Diagnostic> {
    let resolved = sources.resolve(path);
    if sources.find_attached(path).is_some() {
        let Some((prefix, _)) = parts(path) else { return Ok(vec![path.clone()]) };
        let ranks = (0..).map(|rank: u32| format!("{prefix}.{rank}.{EXTENSION}"));
        let files: Vec<_> = ranks.take_while(|name| sources.find_attached(name).is_some()).map(Located::from).collect();
        return Ok(if files.is_empty() { vec![path.clone()] } else { files });
    }
    let named = resolved.file_name().and_then(|name| parts(name.to_str()?)).map(|(prefix, _)| prefix.to_owned());
    let found = match (&named, folder_and_prefix(&resolved)) {
        _ if resolved.is_dir() => in_folder(&resolved, None),
        (Some(prefix), Some((folder, _))) => in_folder(folder, Some(prefix)),
        // As it was written: `x.et` stands for `x.0.et`, `x.1.et` ...
        (None, Some((folder, prefix))) if !resolved.exists() => {
            in_folder(folder, prefix.strip_suffix(".et").or(Some(prefix)))
        }
        _ => return Ok(vec![path.clone()]),
    };
    let name = file_names::text_of(&resolved);
    let found = found
        .map_err(|error| Diagnostic::new("unreadable-file", format!("cannot read `{name}`: {error}")).at_value(path))?;
    let wrong = |code, message: String| Err(Diagnostic::new(code, message).at_value(path));
    let Some((first, _, _)) = found.first() else {
        return wrong("missing-file", format!("there is no trace `{name}`"));
    };
    if let Some((other, _, _)) = found.iter().find(|(prefix, _, _)| prefix != first) {
        let message = format!("the folder `{name}` has several traces, `{first}` and `{other}`");
        return wrong("two-traces", message).map_err(|mistake| mistake.help(format!("name one: {name}/{first}")));
    }
    for (at, (prefix, rank, file)) in (0..).zip(&found) {
        if *rank != at {
            let message = match *rank < at {
                true => format!("rank {rank} has two files, the second `{file}`"),
                false => format!("rank {at} has no file `{prefix}.{at}.{EXTENSION}`, and rank {rank} has `{file}`"),
            };
            let help =
                "a trace has a file for every rank, from 0 on; one file for many ranks is named alone, with --ranks N";
            return wrong("missing-rank", message).map_err(|mistake| mistake.help(help));
        }
    }
    Ok(found.into_iter().map(|(_, _, file)| Located::from(file)).collect())
}
