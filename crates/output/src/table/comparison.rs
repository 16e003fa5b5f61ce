//! Tables of a comparison, one for each job, best row first, and sentences that summarise them.

use std::fmt::Write;

use super::figures::{Quantity, count, counted, fixed, grouped, percent, seconds};
use super::{Answer, Grid, compared_jobs, models, printable};
use hayase::columns::{Blank, Columns};
use hayase::report::{
    Bounds, Comparison, ComparisonRow, Estimated, FAULTS, KindUse, PATTERN, RankBy, Slowdown, varying,
};

/// Position of the topology among the choices. Like the pattern, it is named without a prefix.
const TOPOLOGY: usize = 0;
/// Names in a list; further ones are only counted.
const NAMED: usize = 3;

/// Returns the tables and the summary of a comparison.
pub fn comparison(comparison: &Comparison) -> Answer {
    let jobs: Vec<&[ComparisonRow]> = comparison.jobs().collect();
    let mut text = Answer::new();
    let _ = writeln!(text, "{}\n", printable(&comparison.title));
    // Jobs with one row each are listed in one table, because there is nothing to rank.
    let tables = if jobs.len() > 1 && jobs.iter().all(|rows| rows.len() == 1) {
        vec![&comparison.rows[..]]
    } else {
        jobs.clone()
    };
    for rows in &tables {
        let job = (jobs.len() > 1 && tables.len() > 1).then(|| rows[0].job.as_str());
        // A single row without a fabric has no heading.
        let heading = heading(rows, job);
        if !heading.is_empty() {
            text.title(printable(&heading));
        }
        text.table(grid(rows));
        if let Some(bounds) = common_bounds(rows).filter(|_| rows.iter().any(|row| row.ratio_to_bound.is_finite())) {
            let _ = writeln!(text, "\nbounds: {}", bounds_of(bounds));
        }
        text.push_str("\n");
        if rows.iter().any(|row| !row.jobs.is_empty()) {
            text.title("Each job beside the others, and alone");
            text.table(compared_jobs::grid(rows, &names(rows)));
            text.push_str("\n");
        }
    }
    for (heading, models) in models::models(&comparison.rows) {
        text.title(printable(&heading));
        text.table(models);
        text.push_str("\n");
    }
    if !comparison.complete {
        let done: usize = comparison.rows.iter().map(|row| row.makespan.seeds.len()).sum();
        let all = done as u64 + comparison.missing_runs;
        let follows = if done > 0 { "; what follows from them:" } else { "" };
        let (done, all) = (grouped(done as u64), grouped(all));
        let _ = writeln!(text, "INTERRUPTED: {done} of {all} runs were made{follows}");
    }
    if comparison.ranked_by == RankBy::Slowdown {
        let _ = writeln!(text, "Ranked by the largest slowdown of a job.");
        for rows in &jobs {
            let fastest = rows.iter().min_by(|a, b| a.makespan.mean_s.total_cmp(&b.makespan.mean_s));
            if let (Some(first), Some(fastest)) = (rows.first(), fastest)
                && first.makespan.mean_s > NOTABLE * fastest.makespan.mean_s
            {
                let (first_name, fastest_name) = (name(first, &varying(rows)), name(fastest, &varying(rows)));
                let takes = slower(first.makespan.mean_s / fastest.makespan.mean_s);
                let sentence =
                    format!("{first_name}, ranked first, takes {takes} in all than {fastest_name}, the fastest.");
                let _ = writeln!(text, "{}", printable(&sentence));
            }
        }
    }
    for rows in &jobs {
        let sentences = match comparison.ranked_by {
            RankBy::Makespan => verdict(rows, &comparison.rows),
            // The sentences on slowdowns follow below.
            RankBy::Slowdown => Vec::new(),
        };
        for sentence in sentences.into_iter().chain(compared_jobs::verdict(rows, |row| name(row, &varying(rows)))) {
            let _ = writeln!(text, "{}", printable(&sentence));
            text.say(&printable(&sentence));
        }
    }
    if jobs.len() > 1 {
        // Names of jobs may contain commas, so they are separated by semicolons.
        let names = listed(jobs.iter().map(|rows| rows[0].job.clone()).collect(), "; ");
        let _ = writeln!(text, "Not ranked against each other, since they do not do the same: {}.", printable(&names));
    }
    text
}

/// Smallest ratio to the shortest makespan that is reported for a row ranked first by another figure.
const NOTABLE: f64 = 1.05;

/// Returns the choices that all rows of a table share.
fn heading(rows: &[ComparisonRow], job: Option<&str>) -> String {
    let (first, varying) = (rows[0].choices(), varying(rows));
    let mut parts: Vec<String> = Vec::new();
    let mut add = |choice: usize, prefix: &str| {
        if !varying.contains(&choice) && !first[choice].is_empty() {
            parts.push(format!("{prefix}{}", first[choice]));
        }
    };
    add(TOPOLOGY, "");
    // A single row has a column for its pattern.
    if !names(rows).contains(&PATTERN) {
        add(PATTERN, "");
    }
    add(1, "placement ");
    if first[2] != "flow" {
        add(2, "transport ");
    }
    add(3, "sharing ");
    // Rows may have the default routing of different topologies, which has no common name.
    if rows.iter().all(|row| row.routing == rows[0].routing) {
        add(4, "routing ");
    }
    add(5, "injection ");
    for (choice, name) in rows[0].names().into_iter().enumerate().skip(PATTERN + 1) {
        add(choice, &format!("{name} "));
    }
    parts.extend(job.map(str::to_owned));
    match rows.iter().map(|row| row.makespan.seeds.len() + row.makespan.missing).max() {
        None | Some(0 | 1) => {}
        Some(seeds) => parts.push(format!("{seeds} seeds")),
    }
    parts.join(", ")
}

/// Returns the choices that have columns: the varying ones, the pattern first; the pattern alone if none
/// varies.
fn names(rows: &[ComparisonRow]) -> Vec<usize> {
    let mut varying = varying(rows);
    if varying.is_empty() {
        return vec![PATTERN];
    }
    if let Some(at) = varying.iter().position(|&choice| choice == PATTERN) {
        varying[..=at].rotate_right(1);
    }
    varying
}

/// Returns the bounds if they are the same for all rows.
fn common_bounds(rows: &[ComparisonRow]) -> Option<Bounds> {
    rows.iter().all(|row| row.bounds == rows[0].bounds).then_some(rows[0].bounds)
}

fn bounds_of(bounds: Bounds) -> String {
    bounds.named().map(|(name, bound)| format!("{name} {}", seconds(bound))).collect::<Vec<_>>().join(", ")
}

fn grid(rows: &[ComparisonRow]) -> Grid {
    let names = names(rows);
    let any = |has: fn(&ComparisonRow) -> bool| rows.iter().any(has);
    let columns = names.iter().fold(Columns::<ComparisonRow>::new(), |columns, &choice| {
        columns.text(rows[0].names()[choice], move |row| row.choices()[choice])
    });
    let columns = columns
        .time("mean", |row| row.makespan.mean_s)
        .when(any(|row| row.estimated.is_some()), |columns| columns.words("estimate: 95 % interval", interval))
        .when(any(|row| row.makespan.seeds.len() > 1), |columns| {
            columns.time("sd", |row| (row.makespan.seeds.len() > 1).then_some(row.makespan.sd_s))
        })
        .when(any(|row| row.slowdown.is_some()), |columns| {
            let ends = |of: Slowdown| format!("{} to {}", fixed(of.low, 3), fixed(of.high, 3));
            let interval =
                move |row: &ComparisonRow| row.slowdown.filter(|of| of.seeds > 1).map(ends).unwrap_or_default();
            columns
                .ratio("slowdown", 3, |row| Blank(row.slowdown.map(|slowdown| slowdown.mean)))
                .words("95 % interval", interval)
        })
        .when(any(|row| row.cut_off > 0), |columns| {
            columns.id("cut off", |row| {
                let seeds = row.makespan.seeds.len() as u64 + row.cut_off;
                if row.cut_off > 0 { format!("{} of {seeds}", row.cut_off) } else { String::new() }
            })
        })
        .when(any(|row| row.worst_slowdown.is_some()), |columns| {
            columns
                .ratio("worst slowdown", 3, |row| Blank(row.worst_slowdown.as_ref().map(|worst| worst.mean)))
                .text("of job", |row| compared_jobs::is_slowed(row).map_or("", |worst| &worst.job))
        })
        .when(rows.len() > 1 && rows.iter().all(|row| row.job == rows[0].job), |columns| {
            columns.id("to best", |row| match row.ratio_to_best {
                ratio if ratio < 1e6 => fixed(ratio, 3),
                ratio => format!("{ratio:.3e}"),
            })
        })
        // A program that does not compute has no known bound.
        .when(any(|row| row.ratio_to_bound.is_finite()), |columns| {
            columns.ratio("to bound", 3, |row| Blank(Some(row.ratio_to_bound).filter(|ratio| ratio.is_finite())))
        })
        .when(any(|row| row.ratio_to_optimum.is_some()), |columns| {
            columns.ratio("to optimum", 3, |row| Blank(row.ratio_to_optimum))
        })
        .when(any(|row| row.ratio_in_step.is_some()), |columns| {
            columns.ratio("in step only", 3, |row| Blank(row.ratio_in_step))
        })
        .when(common_bounds(rows).is_none(), |columns| columns.time("bound", |row| row.bounds.largest()))
        .quantity("bandwidth", Quantity::Bandwidth, |row| row.bytes as f64 / row.makespan.mean_s)
        .quantity("run time", Quantity::RunTime, |row| row.wall_s)
        .when(any(|row| row.makespan.missing > 0), |columns| {
            columns.id("seeds run", |row| {
                let run = row.makespan.seeds.len();
                format!("{run} of {}", run + row.makespan.missing)
            })
        });
    Grid::of(&columns, rows).keys(names.len())
}

/// Returns the interval of an estimate: `1.23 ms to 1.25 ms`; `exact` for a full simulation.
fn interval(row: &ComparisonRow) -> String {
    match row.estimated.as_ref().map(Estimated::estimate) {
        None => String::new(),
        Some(None) => "exact".to_owned(),
        Some(Some(estimate)) => format!("{} to {}", seconds(estimate.low_s), seconds(estimate.high_s)),
    }
}

/// Formats a ratio: `43 times as long`.
fn times_as_long(ratio: f64) -> String {
    format!("{} times as long", counted(ratio))
}

/// Formats a ratio: `3.2 % longer`, `43 times as long`.
fn slower(ratio: f64) -> String {
    if ratio < 10.0 { format!("{} longer", percent(ratio - 1.0)) } else { times_as_long(ratio) }
}

/// Puts names in brackets if one consists of several choices.
fn in_brackets(names: Vec<String>) -> Vec<String> {
    match names.iter().any(|name| name.contains(", ") || names.len() > 1 && name.contains(' ')) {
        true => names.into_iter().map(|name| format!("({name})")).collect(),
        false => names,
    }
}

/// Joins names: `a, b and c`, `a; b; and c`. Long lists are cut after the first names.
fn listed(mut names: Vec<String>, between: &str) -> String {
    if names.len() > NAMED + 1 {
        let more = names.len() - NAMED;
        names.truncate(NAMED);
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) if between == "; " && first.len() > 1 => format!("{}; and {last}", first.join(between)),
        Some((last, first)) => format!("{} and {last}", first.join(between)),
        None => String::new(),
    }
}

/// Names a row by some of its choices: `bruck on torus-8x8 with placement random, sharing max-min`.
fn name(row: &ComparisonRow, choices: &[usize]) -> String {
    let chosen = row.choices();
    let named = |choice: &usize| choices.contains(choice) && !chosen[*choice].is_empty();
    let mut text = String::new();
    for (choice, before) in [(PATTERN, ""), (TOPOLOGY, " on ")] {
        if named(&choice) {
            text += if text.is_empty() { "" } else { before };
            text += chosen[choice];
        }
    }
    let others: Vec<String> = (TOPOLOGY + 1..chosen.len())
        .filter(|&choice| choice != PATTERN)
        .filter(named)
        .map(|choice| format!("{} {}", row.names()[choice], chosen[choice]))
        .collect();
    if !others.is_empty() {
        text += if text.is_empty() { "" } else { " with " };
        text += &others.join(", ");
    }
    text
}

/// Returns sentences on the fastest row of a job and its lead, and on the fastest value of each choice. They
/// are empty for a single row.
fn verdict(rows: &[ComparisonRow], all: &[ComparisonRow]) -> Vec<String> {
    if rows.len() < 2 {
        return Vec::new();
    }
    let varying = varying(rows);
    let best: Vec<String> = rows.iter().filter(|row| row.is_best()).map(|row| name(row, &varying)).collect();
    let best = in_brackets(best);
    let next = rows.get(best.len());
    let of = match all.iter().all(|row| row.job == rows[0].job) {
        true => String::new(),
        false => format!("{}: ", rows[0].job),
    };
    let mut sentence = match (best.len(), next) {
        (1, _) => format!("{of}{} is the fastest", best[0]),
        (_, None) => format!("{of}{} are equally fast", listed(best, ", ")),
        (_, Some(_)) => format!("{of}{} are equally fast and the fastest", listed(best, ", ")),
    };
    if let Some(next) = next
        && next.ratio_to_best.is_finite()
    {
        let next_name = in_brackets(vec![name(next, &varying)]).remove(0);
        let _ = write!(sentence, ", {next_name} takes {}", slower(next.ratio_to_best));
    }
    let tied: Vec<&ComparisonRow> = rows.iter().filter(|row| row.tied).collect();
    if let Some(first) = tied.first() {
        let (best, of_tied) = (rows[0].makespan.seeds.len(), first.makespan.seeds.len());
        let names = listed(in_brackets(tied.iter().map(|row| name(row, &varying)).collect()), ", ");
        let seeds = count(best.max(of_tied) as u64, "seed", "seeds");
        let estimated = rows[0].makespan.interval_s.or(first.makespan.interval_s).is_some();
        let by = match (estimated, best.max(of_tied)) {
            (true, 1) => "by estimate".to_owned(),
            (true, _) => format!("by estimate, over {seeds}"),
            (false, _) => format!("over {seeds}"),
        };
        let _ = write!(sentence, "; a tie with {names}: the difference lies within its 95 % interval {by}");
    }
    let mut sentences = vec![sentence + "."];
    if let (None, Some(next)) = (tied.first(), next) {
        let names = [name(&rows[0], &varying), name(next, &varying)];
        sentences.extend(step_difference([&rows[0], next], &names));
        sentences.extend(link_difference([&rows[0], next], &names));
    }
    if varying.len() > 1 {
        // Failures make runs slower as a rule, so they need no sentence.
        let chosen = varying.iter().filter(|&&choice| rows[0].names()[choice] != FAULTS);
        sentences.extend(chosen.filter_map(|&choice| throughout(rows, choice, &varying)));
    }
    sentences
}

/// Returns a sentence on the part of a training step that grows most from the fastest row to the next.
fn step_difference([best, next]: [&ComparisonRow; 2], names: &[String; 2]) -> Option<String> {
    let [of_best, of_next] = [best.llm?.parts(), next.llm?.parts()];
    let grown = of_best.into_iter().zip(of_next).map(|((part, best), (_, next))| (part, best, next));
    let (part, best, next) = grown.max_by(|a, b| (a.2 - a.1).total_cmp(&(b.2 - b.1)))?;
    let [of_best, of_next] = [seconds(best), seconds(next)];
    (next > best)
        .then(|| format!("The difference is most in {part}: {of_next} with {}, {of_best} with {}.", names[1], names[0]))
}

/// Returns sentences on the kind of link whose load, and on the kind on which the time that messages lose grows most
/// from the fastest row to the next.
fn link_difference([best, next]: [&ComparisonRow; 2], names: &[String; 2]) -> Vec<String> {
    // Other fabrics have other kinds of links.
    if !next.links.iter().any(|kind| best.links.iter().any(|other| other.links == kind.links)) {
        return Vec::new();
    }
    let grown = |of: fn(&KindUse) -> f64| {
        let of_best = |kind: &KindUse| best.links.iter().find(|other| other.links == kind.links).map(of);
        // Of equal kinds the first counts.
        let pairs = next.links.iter().rev().filter_map(|kind| Some((kind, of_best(kind)?, of(kind))));
        let notable = pairs.filter(|(_, best, next)| *next > NOTABLE * best);
        notable.max_by(|a, b| (a.2 - a.1).total_cmp(&(b.2 - b.1)))
    };
    let load = grown(|kind| kind.load_s).map(|(kind, of_best, of_next)| {
        let [of_best, of_next] = [of_best, of_next].map(seconds);
        let KindUse { links, most_loaded, .. } = kind;
        format!(
            "Of links of kind `{links}`, the most loaded ({most_loaded}) needs {of_next} for its bytes with {}, the \
             most loaded with {} needs {of_best}.",
            names[1], names[0]
        )
    });
    let measured = |row: &ComparisonRow| row.links.iter().any(|kind| kind.delay_s.is_some());
    let lost = grown(|kind| kind.delay_s.unwrap_or(0.0)).map(|(kind, of_best, of_next)| {
        let of_best = match measured(best) {
            true => format!(", {} with {}", seconds(of_best), names[0]),
            false => String::new(),
        };
        let of_next = seconds(of_next);
        format!("On links of kind `{}` messages lose {of_next} to each other with {}{of_best}.", kind.links, names[1])
    });
    let found: Vec<String> = load.into_iter().chain(lost).collect();
    match found.is_empty() && measured(best) && measured(next) {
        true => vec![format!("No links are loaded more or cost messages more time with {}.", names[1])],
        false => found,
    }
}

/// Returns a sentence on the fastest value of one choice over all cases of the other choices.
fn throughout(rows: &[ComparisonRow], choice: usize, varying: &[usize]) -> Option<String> {
    let others: Vec<usize> = varying.iter().copied().filter(|&other| other != choice).collect();
    let same =
        |a: &ComparisonRow, b: &ComparisonRow| others.iter().all(|&other| a.choices()[other] == b.choices()[other]);
    let mut cases: Vec<Vec<&ComparisonRow>> = Vec::new();
    for row in rows {
        match cases.iter_mut().find(|case| same(case[0], row)) {
            Some(case) => case.push(row),
            None => cases.push(vec![row]),
        }
    }
    cases.retain(|case| case.len() > 1);
    if cases.len() < 2 {
        return None;
    }
    // Rows are sorted, so the first row of a case is the best.
    let wins = |case: &[&ComparisonRow], value: &str| {
        case.iter().any(|row| row.choices()[choice] == value && row.makespan.mean_s == case[0].makespan.mean_s)
    };
    let values = cases[0].iter().map(|row| row.choices()[choice]);
    let winners: Vec<String> =
        values.filter(|value| cases.iter().all(|case| wins(case, value))).map(str::to_owned).collect();
    let kind = rows[0].names()[choice];
    if winners.is_empty() {
        let of = cases.iter().map(|case| format!("{} with {}", case[0].choices()[choice], name(case[0], &others)));
        let of =
            if cases.len() > NAMED + 1 { String::new() } else { format!(": {}", of.collect::<Vec<_>>().join(", ")) };
        return Some(format!("Which {kind} is the fastest depends on the rest{of}."));
    }
    let slower = |case: &Vec<&ComparisonRow>| {
        let best = case[0].makespan.mean_s;
        case.iter().map(|row| row.makespan.mean_s / best - 1.0).find(|&more| more > 0.0)
    };
    let leads = || cases.iter().filter_map(slower).filter(|lead| lead.is_finite());
    let (least, most) = (leads().fold(f64::INFINITY, f64::min), leads().fold(0.0, f64::max));
    let by = match (percent(least), percent(most)) {
        _ if leads().next().is_none() => String::new(),
        _ if least >= 9.0 => format!(", the next takes {} to {}", counted(least + 1.0), times_as_long(most + 1.0)),
        (least, most) if least == most => format!(", the next takes {least} longer"),
        (least, most) => format!(", the next takes {least} to {most} longer"),
    };
    let is = match winners.len() {
        1 => format!("is the fastest {kind}"),
        _ => format!("are equally fast and the fastest choices of {kind}"),
    };
    let tied = cases.clone();
    let cases = if cases.len() == 2 { "both cases".to_owned() } else { format!("all {} cases", cases.len()) };
    let tie = |case: &Vec<&ComparisonRow>| {
        let best = &case[0].makespan;
        let next = case.iter().find(|row| row.makespan.mean_s > best.mean_s);
        next.is_some_and(|next| next.makespan.is_like(best))
    };
    let noise = if tied.iter().any(tie) { " (not always more than the 95 % interval)" } else { "" };
    Some(format!("{} {is} in {cases} of the rest{by}{noise}.", listed(winners, ", ")))
}
