//! `[[job]]`: one of several jobs that share a fabric.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use super::section::Section;
use crate::diagnostic::{Diagnostic, Located, Span};
use crate::placement::PlacementSpec;
use crate::system::WorkloadSpec;
use crate::units::{Bytes, Time};
use crate::workload::joint::Repeat;

/// Default message size of background traffic \[B\].
const DEFAULT_LOAD_SIZE: u64 = 20_000;

/// Largest weight of a job. With larger weights rounding would affect the rates of other jobs.
const HEAVIEST: f64 = 1e6;

/// `[[job]]`: a job, with its ranks, their placement, and its times.
#[spec]
pub struct JobSpec {
    /// Name of the job, which no other job has; "a".
    pub name: Located<String>,
    /// Number of ranks (default: that of its workload, else the number of nodes that are left).
    pub ranks: Option<Located<u32>>,
    /// Placement of its ranks among the nodes that the jobs before it have left (default: the `placement`
    /// for all jobs). Jobs that name their nodes (`file`, `nodes`) are placed first.
    pub placement: Option<PlacementSpec>,
    /// Time of its first beginning (default 0 s); "2 ms".
    #[serde(default)]
    pub start: Located<Time>,
    /// Number of repetitions (default 1, or without limit if `until` is given); at most 4,294,967,295.
    pub repeat: Option<Located<u32>>,
    /// Time from which on the job does not begin again, and background traffic sends no more messages; "1 s".
    pub until: Option<Located<Time>>,
    /// Time between its end and its next beginning (default 0 s); "5 us".
    #[serde(default)]
    pub think_time: Located<Time>,
    /// Weight of its messages relative to those of other jobs (default 1): flows share a full link in
    /// proportion to their weights. For flows under `max-min` or `equal-share`.
    pub weight: Option<Located<f64>>,
    /// True to repeat the job until all jobs that are not background have ended.
    pub background: Option<Located<bool>>,
    /// Background traffic instead of a workload: the fraction of its host link that each rank offers, in
    /// messages to random ranks of the job; "10 %".
    pub load: Option<Located<String>>,
    /// Size of the messages of `load` (default 20 KB); "4 KiB".
    pub size: Option<Located<Bytes>>,
    /// Workload of its ranks: a table as of `[workload]`, or the name of a pattern; read separately.
    #[serde(default, skip_serializing, deserialize_with = "apart")]
    #[cfg_attr(test, schemars(with = "Option<WorkloadSpec>"))]
    pub workload: (),
}

/// Skips a value that is read separately, by code that knows all kinds of work.
fn apart<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    IgnoredAny::deserialize(deserializer).map(drop)
}

/// A job as it was read.
#[derive(Clone, Debug, Serialize)]
pub(super) struct JobSection {
    /// Everything except its workload.
    pub spec: JobSpec,
    /// Its workload.
    pub workload: Section<WorkloadSpec>,
    /// Place of its placement.
    #[serde(skip)]
    pub placement_at: Option<Span>,
}

/// Background traffic: fraction of the host link, and size of a message \[B\].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct OfferedLoad {
    pub load: f64,
    pub bytes: u64,
}

impl JobSection {
    /// Returns the place of the job.
    pub fn at(&self) -> Option<Span> {
        self.spec.name.span()
    }

    /// Returns the background traffic, if the job is background traffic.
    pub fn offered(&self, diagnostics: &mut Vec<Diagnostic>) -> Option<OfferedLoad> {
        let (load, spec) = (self.spec.load.as_ref()?, &self.spec);
        let number = load.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        let part = number.map(|percent| percent / 100.0).filter(|part| *part > 0.0 && *part <= 1.0);
        if part.is_none() {
            let diagnostic = Diagnostic::new("wrong-value", format!("`{}` is not a fraction of a host link", **load));
            diagnostics.push(diagnostic.at_value(load).label("more than 0 %, up to 100 %").help("write \"10 %\""));
        }
        if let Some(size) = spec.size.as_ref().filter(|size| size.0 == 0) {
            let diagnostic = Diagnostic::new("wrong-value", "messages without bytes are not a load").at_value(size);
            diagnostics.push(diagnostic.label("one byte at least"));
        }
        let others = [
            ("repeat", spec.repeat.as_ref().and_then(Located::span)),
            ("background", spec.background.as_ref().and_then(Located::span)),
            ("think-time", spec.think_time.span()),
            // The workload may come from the text of a named pattern.
            ("workload", self.workload.span().and(load.span())),
        ];
        for (key, at) in others.into_iter().filter_map(|(key, at)| Some((key, at?))) {
            let message = format!("`load` is traffic that never ends, and `{key}` is about something that does");
            diagnostics.push(Diagnostic::new("two-choices", message).at(at).help("leave one of them out"));
        }
        Some(OfferedLoad {
            load: part.unwrap_or(1.0),
            bytes: spec.size.as_ref().map_or(DEFAULT_LOAD_SIZE, |size| size.0.max(1)),
        })
    }

    /// Returns the weight of its messages.
    pub fn weight(&self, diagnostics: &mut Vec<Diagnostic>) -> f64 {
        let Some(weight) = &self.spec.weight else { return 1.0 };
        if (1.0 / HEAVIEST..=HEAVIEST).contains(&**weight) {
            return **weight;
        }
        let diagnostic = Diagnostic::new("wrong-value", format!("{} is not a weight of a job", **weight));
        let diagnostic = diagnostic.at_value(weight).label("a number from 1e-6 to 1e6 is expected");
        diagnostics.push(diagnostic.help("write 4 for four times the rate on a full link, 1e6 for nearly all of it"));
        1.0
    }

    /// Returns the repetitions of the job.
    pub fn repeat(&self, diagnostics: &mut Vec<Diagnostic>) -> Repeat {
        let JobSpec { start, repeat, until, background, load, .. } = &self.spec;
        if let Some(none) = repeat.as_ref().filter(|repeat| ***repeat == 0) {
            let diagnostic = Diagnostic::new("wrong-value", "a job that is done 0 times is none").at_value(none);
            diagnostics.push(diagnostic.help("leave the job out, or write 1 or more"));
        }
        if let Some(until) = until.as_ref().filter(|until| ***until <= **start) {
            let message = format!("the job begins at {}, and not from {} on", **start, **until);
            let diagnostic = Diagnostic::new("wrong-value", message).at_value(until);
            diagnostics.push(diagnostic.label("later than its start is expected"));
        }
        let is_background = background.as_ref().is_some_and(|background| **background);
        if let (true, Some(repeat)) = (is_background, repeat) {
            let message = "a background job repeats until the others end";
            diagnostics.push(Diagnostic::new("two-choices", message).at_value(repeat).help("leave out `repeat`"));
        }
        if let (Some(size), None) = (&self.spec.size, load) {
            let diagnostic =
                Diagnostic::new("unused-option", "`size` is that of the messages of `load`").at_value(size);
            diagnostics.push(diagnostic.help("write the size of messages in the workload's own table"));
        }
        let think = &self.spec.think_time;
        if **think > Time::ZERO && repeat.is_none() && until.is_none() && !is_background && load.is_none() {
            let message = "`think-time` is the time to the next beginning, and this job is done once";
            let diagnostic = Diagnostic::new("unused-option", message).at_value(think);
            diagnostics.push(diagnostic.help("add `repeat = 10` or `until = \"1 s\"`, or leave `think-time` out"));
        }
        let until = until.as_ref().map(|until| **until);
        let times = repeat.as_ref().map(|repeat| u64::from(**repeat));
        match (times, until) {
            _ if is_background || load.is_some() => Repeat::Background(until),
            (None, None) => Repeat::Times(1),
            (Some(times), None) => Repeat::Times(times),
            (None, Some(until)) => Repeat::Until(until),
            (Some(times), Some(until)) => Repeat::TimesUntil(times, until),
        }
    }
}
