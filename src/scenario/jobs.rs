//! Lists of jobs while texts are merged: a job is identified by its name.

use super::known;
use crate::diagnostic::{Diagnostic, Span};
use crate::reading::tree::{Entry, Kind, Table, Tree};

/// Returns the tables of the jobs of a text: the items of a list, or the values of keys by name
/// (`job.a.start`).
pub(super) fn each(table: &mut Table) -> impl Iterator<Item = &mut Table> {
    let kind = table.get_mut("job").map(|jobs| &mut jobs.value.kind);
    let (list, named) = match kind {
        Some(Kind::List(items)) => (Some(items), None),
        Some(Kind::Table(named)) => (None, Some(named)),
        _ => (None, None),
    };
    let named = named.into_iter().flat_map(|named| named.values_mut().filter_map(|job| job.value.table_mut()));
    list.into_iter().flatten().filter_map(Tree::table_mut).chain(named)
}

fn name(job: &Tree) -> Option<&str> {
    job.table()?.get("name")?.value.text()
}

/// Finds a job in a list by its name, or by its number from 0.
fn position(jobs: &[Tree], meant: &str) -> Option<usize> {
    let by_number = || meant.parse::<usize>().ok().filter(|&number| number < jobs.len());
    jobs.iter().position(|job| name(job) == Some(meant)).or_else(by_number)
}

/// Returns the diagnostic for a key of a job that the texts so far do not have.
pub(super) fn unknown(texts: &Table, set: &Table) -> Option<Diagnostic> {
    let Kind::Table(named) = &set.get("job")?.value.kind else { return None };
    let none = Vec::new();
    let jobs = match texts.get("job").map(|jobs| &jobs.value.kind) {
        Some(Kind::List(jobs)) => jobs,
        _ => &none,
    };
    let unknown = named.keys().find(|name| position(jobs, name).is_none())?;
    let diagnostic = Diagnostic::new("unknown-name", format!("there is no job `{unknown}`"));
    let names: Vec<&str> = jobs.iter().filter_map(name).collect();
    Some(match names[..] {
        [] => diagnostic.help("write a table [[job]] for each job"),
        _ => diagnostic.help(format!("there are: {}", names.join(", "))),
    })
}

/// Merges later jobs into earlier ones: a job with a known name is changed, other jobs are appended.
pub(super) fn overlay(earlier: &mut Tree, later: Tree, overlay: fn(&mut Table, Table)) {
    let Kind::List(jobs) = &mut earlier.kind else {
        *earlier = later;
        return;
    };
    // Two jobs with one name in one text are a mistake of that text.
    let before = jobs.len();
    let change = |job: &mut Tree, later: Tree| match (job.table_mut(), later.kind) {
        (Some(job), Kind::Table(later)) => overlay(job, later),
        (_, kind) => job.kind = kind,
    };
    match later.kind {
        Kind::List(items) => {
            for item in items {
                match name(&item).and_then(|name| jobs[..before].iter().position(|job| self::name(job) == Some(name))) {
                    Some(index) => change(&mut jobs[index], item),
                    None => jobs.push(item),
                }
            }
        }
        Kind::Table(named) => {
            for (name, entry) in named {
                if let Some(index) = position(jobs, &name) {
                    change(&mut jobs[index], entry.value);
                }
            }
        }
        _ => *earlier = later,
    }
}

/// Parts of a job as typed in an option, each with its place.
pub(super) struct JobOption {
    pub name: (String, Span),
    pub pattern: (String, Span),
    pub ranks: Option<(String, Span)>,
    pub placement: Option<(String, Span)>,
}

/// Splits `NAME=PATTERN:RANKS@PLACEMENT`. Ranks and placement are optional.
pub(super) fn parse_option(text: &str, at: Span) -> Option<JobOption> {
    let part = |from: usize, to: usize| {
        (from < to).then(|| (text[from..to].to_owned(), Span::new(at.start + from, at.start + to)))
    };
    let equals = text.find('=')?;
    let placed = text.rfind('@').filter(|&at| at > equals);
    let end = placed.unwrap_or(text.len());
    // The parameters of a rule also follow a colon, so only a number after a colon is a number of ranks.
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let colon = text[..end].rfind(':').filter(|&colon| colon > equals && is_number(&text[colon + 1..end]));
    Some(JobOption {
        name: part(0, equals)?,
        pattern: part(equals + 1, colon.unwrap_or(end))?,
        ranks: match colon {
            Some(colon) => Some(part(colon + 1, end)?),
            None => None,
        },
        placement: match placed {
            Some(placed) => Some(part(placed + 1, text.len())?),
            None => None,
        },
    })
}

impl JobOption {
    /// Returns a list with this job.
    pub fn list(self, at: Span) -> Tree {
        let text = |(text, span): (String, Span)| Entry { key: span, value: Tree { span, kind: Kind::Text(text) } };
        let mut job = Table::from([("name".to_owned(), text(self.name)), ("workload".to_owned(), text(self.pattern))]);
        if let Some((ranks, span)) = self.ranks {
            job.insert("ranks".to_owned(), Entry { key: span, value: Tree { span, kind: Kind::Whole(ranks) } });
        }
        if let Some(placement) = self.placement {
            job.insert("placement".to_owned(), text(placement));
        }
        let job = Tree { span: at, kind: Kind::Table(job) };
        Tree { span: at, kind: Kind::List(vec![job]) }
    }
}

/// Sets a key in the workload of each job that has this key. Returns true if any job has it.
pub(super) fn set_option(table: &mut Table, key: &str, value: &Tree) -> bool {
    let mut is_known = false;
    for job in each(table) {
        let workload = job.get_mut("workload").and_then(|workload| workload.value.table_mut());
        for (variant, workload) in workload.into_iter().flatten() {
            if known::has_key("workload", variant, key) == Some(true)
                && let Some(workload) = workload.value.table_mut()
            {
                workload.insert(key.to_owned(), Entry { key: value.span, value: value.clone() });
                is_known = true;
            }
        }
    }
    is_known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_job_comes_apart_where_its_parts_are_told() {
        let parts = |text: &str| {
            let typed = parse_option(text, Span::new(0, text.len()))?;
            let text = |part: Option<(String, Span)>| part.map(|(text, _)| text).unwrap_or_default();
            Some([typed.name.0, typed.pattern.0, text(typed.ranks), text(typed.placement)])
        };
        let is = |text: &str, expected: [&str; 4]| assert_eq!(parts(text).unwrap(), expected, "{text}");
        is("a=ring", ["a", "ring", "", ""]);
        is("a=ring:16", ["a", "ring", "16", ""]);
        is("a=ring:16@random", ["a", "ring", "16", "random"]);
        is("b=linear:ranks=8,size=1KB@0-7", ["b", "linear:ranks=8,size=1KB", "", "0-7"]);
        is("b=dir/x.csv:3@block", ["b", "dir/x.csv", "3", "block"]);
        for wrong in ["a", "=ring", "a=", "a=ring@", "a=:3"] {
            assert!(parts(wrong).is_none(), "{wrong}");
        }
    }
}
