//! Summary of a recording.

use std::path::Path;

use crate::lines;
use hayase::units::Time;
use hayase_capture::caught::RecordingContents;
use hayase_capture::folder::Provenance;
use hayase_capture::sites::Resolved;
use hayase_output::table::{fixed, grouped, printable};

/// Returns the summary in a few lines.
pub fn page(caught: &RecordingContents, run: &Provenance, sites: &Resolved, output: &Path) -> String {
    let mut text = format!("recorded into `{}`\n", output.display());
    let mut fact = |name: &str, value: String| text += &format!("  {name:<12}{value}\n");
    let each = |sum: u64| grouped(sum / u64::from(run.present.max(1)));
    if run.present < run.ranks {
        fact(
            "ranks",
            format!("{}, of which only {} left something", grouped(run.ranks.into()), grouped(run.present.into())),
        );
    } else {
        fact("ranks", grouped(run.ranks.into()));
    }
    fact("calls", format!("{}, {} a rank", grouped(run.events), each(run.events)));
    let elapsed = Time::from_seconds(run.elapsed_s);
    fact("time", format!("{} from first call to last; the command took {elapsed}", caught.span()));
    let bytes = caught.sum(|stream| stream.bytes);
    let per_call = fixed(bytes as f64 / run.events.max(1) as f64, 1);
    fact("size", format!("{} bytes, {per_call} bytes a call", grouped(bytes)));
    if let Some(mpi) = &run.mpi {
        fact("mpi", printable(mpi));
    }
    let (count, known) = (sites.places, sites.lines);
    let lines = match known {
        0 if count > 0 => "of none the line is known".to_owned(),
        _ if known == count => "with file and line".to_owned(),
        _ => format!("{} with file and line", grouped(known as u64)),
    };
    let remedy = lines::remedy(sites.objects_without_lines()).map_or(String::new(), |remedy| format!("; {remedy}"));
    fact("call sites", format!("{}, {lines}{}", grouped(count as u64), printable(&remedy)));
    let lost = caught.sum(|stream| stream.lost);
    if lost > 0 {
        fact("lost", format!("{} calls could not be recorded", grouped(lost)));
    }
    let opaque = caught.sum(|stream| stream.opaque);
    if opaque > 0 {
        let time = caught.streams.values().map(|stream| stream.opaque_time).fold(Time::ZERO, |sum, time| sum + time);
        let names: Vec<String> = caught
            .opaque()
            .into_iter()
            .map(|(name, count)| format!("{} {}", grouped(count), printable(name)))
            .collect();
        fact(
            "opaque",
            format!(
                "{} calls took {time} in all, and only that is known of them: {}",
                grouped(opaque),
                names.join(", ")
            ),
        );
    }
    let cut = caught.streams.values().filter(|stream| !stream.whole).count();
    if cut > 0 {
        fact("cut short", format!("{} streams have no end: their ranks were killed", grouped(cut as u64)));
    }
    for (why, ranks) in caught.remarks("ended") {
        fact("ended early", format!("{} ranks: {}", grouped(ranks.into()), printable(why)));
    }
    let caveats = caught.caveats();
    for (name, texts) in [("cores", &caveats.lack_of_cores), ("outside MPI", &caveats.outside)] {
        texts.iter().for_each(|text| fact(name, printable(text)));
    }
    text.truncate(text.trim_end().len());
    text
}
