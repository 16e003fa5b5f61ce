//! Data of the page and the SARIF log: findings with their gains and lines, and the simulated run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use hayase::base::Arrange;
use hayase_advice::model::Location;
use hayase_advice_page as out;

use super::rules::{self, Base};
use super::{Judged, Ranked, Simulated};
use hayase::ids::RankId;
use hayase::player::ActivityKind;
use hayase::program::{ANY_TAG, OpKind, Program};
use hayase::record::PathKind;
use hayase::report::replay::PathPart;
use hayase::units::Time;
use hayase_output::table::seconds;

/// Context of the advice: the program and its sources.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Name of the program.
    pub program: String,
    /// Facts in a few words each: machine, network.
    pub facts: Vec<(String, String)>,
    /// Notes on things that could not be seen.
    pub notes: Vec<String>,
    /// Folders that are searched for source files.
    pub folders: Vec<PathBuf>,
}

/// Builds the data of the page.
pub fn data(ranked: &Ranked, context: &Context, run: out::Run) -> out::PageData {
    let findings: Vec<out::Finding> =
        ranked.findings.iter().map(|judged| finding(judged, ranked.base.as_ref())).collect();
    let used: BTreeSet<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    let together = ranked.together.as_ref().zip(ranked.base.as_ref()).map(|(together, base)| out::Together {
        gain: gain(base, &together.changed),
        left_out: together.left_out.iter().map(|(id, _)| id.clone()).collect(),
        why: super::text::why(together, super::text::unit(base, together)),
    });
    let mut data = out::PageData {
        program: context.program.clone(),
        facts: context.facts.clone(),
        run_is: match ranked.base {
            Some(_) => "simulated".to_owned(),
            None => "computation as recorded, messages that take no time".to_owned(),
        },
        rules: rules::all().filter(|rule| used.contains(rule.id.to_string().as_str())).map(out::Rule::of).collect(),
        findings,
        together,
        notes: context.notes.clone(),
        sources: Vec::new(),
        run,
    };
    let places = ranked.findings.iter().flat_map(|judged| &judged.finding.places);
    let callers = places.filter_map(|place| Some(place.location.called.as_ref()?.from.file.clone()));
    shorten(&mut data, callers.collect());
    data.read_sources(&context.folders);
    data
}

/// Shortens the paths of files in texts to their shortest unique ends, because long paths hide the
/// difference.
///
/// Marks keep the whole paths. `files` are files without marks.
fn shorten(data: &mut out::PageData, mut files: BTreeSet<String>) {
    files.extend(data.findings.iter().flat_map(|finding| &finding.marks).map(|mark| mark.file.clone()));
    let mut names: Vec<(&str, &str)> = files.iter().map(|file| (file.as_str(), short_name(file, &files))).collect();
    // Longest first: one name may be the end of another.
    names.arrange_by_key(|(file, _)| std::cmp::Reverse(file.len()));
    names.retain(|(file, short)| file != short);
    for finding in &mut data.findings {
        let marked = finding.marks.iter_mut().map(|mark| &mut mark.text);
        let texts = finding.text.iter_mut().chain(&mut finding.caveats).chain(&mut finding.notes).chain(marked);
        for text in texts.chain(std::iter::once(&mut finding.title)) {
            for (file, short) in &names {
                if text.contains(file) {
                    *text = text.replace(file, short);
                }
            }
        }
    }
}

/// Returns the shortest end of a path that no other path has.
fn short_name<'a>(file: &'a str, files: &BTreeSet<String>) -> &'a str {
    let ends = file.rmatch_indices('/').map(|(at, _)| &file[at + 1..]);
    let only = |end: &&str| {
        !end.is_empty()
            && files.iter().filter(|other| *other == end || other.ends_with(&format!("/{end}"))).count() == 1
    };
    ends.take(8).find(only).unwrap_or(file)
}

fn gain(before: &Simulated, after: &Simulated) -> out::Gain {
    out::Gain { before_s: before.makespan_s, after_s: after.makespan_s }
}

/// Converts a finding for the page.
fn finding(judged: &Judged, base: Option<&Simulated>) -> out::Finding {
    let Judged { finding, changed, unplayed_calls, .. } = judged;
    let gain = base.zip(changed.as_ref().ok()).map(|(base, changed)| gain(base, changed));
    let mut found = out::Finding::of(finding, gain);
    if let Some(base) = base {
        match changed {
            Ok(changed) => {
                // Time saved in a region may move to another part of the run.
                if let (Some(before), Some(after)) = (base.whole_s, changed.whole_s) {
                    found.facts.push((
                        "the whole run".to_owned(),
                        format!("{} instead of {}", seconds(after), seconds(before)),
                    ));
                }
                let paths = [("critical path before", base), ("critical path after", changed)];
                let known = paths.into_iter().filter(|(_, run)| !run.critical_path.is_empty());
                found.facts.extend(known.map(|(name, run)| (name.to_owned(), path(&run.critical_path))));
            }
            Err(why) => found.facts.push(("not simulated".to_owned(), why.clone())),
        }
    }
    if *unplayed_calls > 0 {
        found.facts.push(("calls that are not in the simulated change".to_owned(), unplayed_calls.to_string()));
    }
    found
}

/// Writes the parts of a critical path in a few words: `compute 80 %, network 15 %`.
pub fn path(parts: &[PathPart]) -> String {
    let mut parts: Vec<&PathPart> = parts.iter().filter(|part| part.part >= 0.005).collect();
    parts.arrange_by(|a, b| b.time_s.total_cmp(&a.time_s).then(a.kind.cmp(b.kind)));
    let words: Vec<String> = parts.iter().map(|part| format!("{} {:.0} %", part.kind, 100.0 * part.part)).collect();
    words.join(", ")
}

/// True if the name of a place can be the name of a file.
fn is_file(name: &str) -> bool {
    !name.is_empty() && name != "?" && !name.starts_with("0x")
}

/// Converts the simulated run, span by span and message by message; calls that advice names stay exact in a
/// run of any length.
pub fn run(base: &Base, ranked: &Ranked) -> out::Run {
    let program = &*base.program;
    let mut run = out::Run::new(program.ranks());
    for judged in &ranked.findings {
        run.name(out::Finding::of(&judged.finding, None).details.iter().map(|detail| (detail.rank, detail.event)));
    }
    let Some(history) = &base.replayed.history else { return run };
    let mut places: BTreeMap<u32, out::PlaceId> = BTreeMap::new();
    let mut place_of = |run: &mut out::Run, rank: RankId, op: u32| -> out::PlaceId {
        let number = program.rank(rank).sites.get(op as usize).copied().unwrap_or(0);
        *places.entry(number).or_insert_with(|| match program.site(rank, op).map(|site| Location::parse(site)) {
            Some(location) if is_file(&location.file) => run.place(&location.file, location.line),
            _ => out::PlaceId::UNKNOWN,
        })
    };
    let ns = |time: Time| (time.ps() / 1000.0).round() as u64;
    // Place of the receive of each message: that of the activity that took it.
    let mut taken: BTreeMap<u32, out::PlaceId> = BTreeMap::new();
    for rank in program.rank_ids() {
        for activity in history.of(rank) {
            let place = place_of(&mut run, rank, activity.op);
            let of = program.rank(rank);
            let op = of.ops.get(activity.op as usize);
            let transfer = activity.message.and_then(|message| history.message(message));
            if activity.kind == ActivityKind::RecvOverhead
                && let Some(message) = activity.message
            {
                taken.insert(message, place);
            }
            let kind = match activity.kind {
                ActivityKind::Compute => out::Activity::Computation,
                ActivityKind::SendOverhead => out::Activity::Send,
                ActivityKind::RecvOverhead => out::Activity::Receive,
                ActivityKind::SendWait | ActivityKind::RecvWait | ActivityKind::Sync => out::Activity::Wait,
            };
            let compute = kind == out::Activity::Computation;
            let event = of.place(activity.op as usize).filter(|_| !compute && program.place_unit == "event");
            run.span(
                rank.0,
                out::Span {
                    place,
                    event: event.map(|place| u64::from(place.saturating_sub(1))),
                    call: if compute { "" } else { op.map_or("", |op| call(program, op)) },
                    peer: activity.peer.map(|peer| peer.0),
                    bytes: transfer.map_or(0, |transfer| transfer.bytes),
                    tag: op.filter(|op| op.kind != OpKind::Calc && op.tag != ANY_TAG).map_or(0, |op| op.tag as i32),
                    ..out::Span::new(kind, ns(activity.begin), ns(activity.end))
                },
            );
        }
    }
    for (name, region) in program.regions.iter().zip(&base.replayed.regions) {
        run.region(name, region.spans.iter().map(|&(first, last)| (ns(first), ns(last))));
    }
    if let Some(region) = &base.replayed.report.region {
        run.look_at(region);
    }
    for step in base.replayed.path.iter().flatten() {
        let from = step.peer.filter(|_| step.kind == PathKind::Network).map(|peer| peer.0);
        run.critical(step.rank.0, from, ns(step.begin), ns(step.end));
    }
    for transfer in history.transfers() {
        let from_place = transfer.op.map_or(out::PlaceId::UNKNOWN, |op| place_of(&mut run, transfer.src, op));
        let tag =
            transfer.op.and_then(|op| program.rank(transfer.src).ops.get(op as usize)).map_or(0, |op| op.tag as i32);
        run.message(&out::Message {
            bytes: transfer.bytes,
            tag,
            from_place,
            to_place: taken.get(&transfer.message).copied().unwrap_or_default(),
            ..out::Message::new(transfer.src.0, transfer.dst.0, ns(transfer.called), ns(transfer.end))
        });
    }
    run
}

/// Returns the MPI name of a call.
fn call(program: &Program, op: &hayase::program::Op) -> &'static str {
    match op.kind {
        OpKind::Calc => "",
        OpKind::Send => "Send",
        OpKind::Isend => "Isend",
        OpKind::Recv => "Recv",
        OpKind::Irecv => "Irecv",
        OpKind::Wait => "Wait",
        OpKind::Waitall => "Waitall",
        OpKind::Waitany => "Waitany",
        OpKind::Waitsome => "Waitsome",
        OpKind::Test => "Test",
        OpKind::Probe => "Probe",
        OpKind::Collective | OpKind::Icollective => {
            program.collectives.get(op.arg as usize).map_or("", |collective| collective.call.name())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_long_as_it_takes_to_tell_them_apart() {
        let files: BTreeSet<String> =
            ["/home/me/a/solve.c", "/home/me/b/solve.c", "/usr/lib/x.c", "main.c"].map(String::from).into();
        let short: Vec<&str> = files.iter().map(|file| short_name(file, &files)).collect();
        assert_eq!(short, ["a/solve.c", "b/solve.c", "x.c", "main.c"]);
    }
}
