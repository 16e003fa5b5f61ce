//! Models of messages beside models of packets, over many cases: how far each is off, and what it costs.
//!
//! A case is a pattern on a fabric with all that both have in common. What is played of it, a model or its reference,
//! is the same scenario with a few keys of its own (`models::Settings`); each is played once for each seed, and every
//! model is then held against every reference, message by message.

pub(super) mod case;
mod kept;
pub(super) mod known;
mod models;
mod played;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::{Control, Sweep, combine};
use crate::diagnostic::{Diagnostic, Invalid, Sources};
use crate::report::{Accuracy, AccuracyCase};
use crate::scenario::{Base, Identity, Loader, Scenario};
use crate::simulation::{PatternWork, Work};
use crate::study::mistakes::Mistakes;
use crate::study::runs::{Run, Runs, lock};
use crate::transport::TransportSpec;
use crate::transport::packet::Buffer;
use crate::units::Bytes;

pub use case::case_of;
pub use known::{Picks, known, known_of, picks_of};

use kept::Kept;
use models::{Model, Reference, Settings};
use played::{Difference, Played, Unplayed, play};

/// What is held against what: every combination of what is listed. An empty list takes what is usual.
#[derive(Clone, Debug, Default)]
pub struct AccuracySweep {
    /// The cases, but for their sizes; its transports and sharing policies are not used.
    pub grid: Sweep,
    /// Sizes of messages; empty: as the patterns say.
    pub sizes: Vec<String>,
    /// Whether patterns whose messages have sizes of their own (files) keep them, and take none of these.
    pub keeps_own_sizes: bool,
    /// Packets of a buffer of input queues.
    pub buffers: Vec<String>,
    /// Models, by name.
    pub models: Vec<String>,
    /// Packet models, by name or its beginning (`packet:iq`).
    pub references: Vec<String>,
    /// Packets of a mean message of the references, where they are to be few and large.
    pub packets_per_message: Option<u32>,
    /// The folder in which runs of packet models are kept, and looked for before they are made.
    pub keep: Option<PathBuf>,
}

/// The cases of a sweep, read and checked, with all that is to be played of them.
#[derive(Debug)]
pub struct Cases {
    title: String,
    all: Vec<Case>,
    kept: Option<Kept>,
}

/// One case.
#[derive(Debug)]
struct Case {
    names: AccuracyCase,
    /// The texts but for the seed and what is played.
    loader: Loader,
    seeds: Vec<u64>,
    /// What is played, each once.
    parts: Vec<Part>,
    pairs: Vec<Pair>,
}

/// A model or a packet model in a case.
#[derive(Debug)]
struct Part {
    settings: Settings,
    /// How long one run of it takes at a guess \[s\].
    seconds: f64,
    /// Packets that cross a link in one run.
    packet_hops: f64,
    /// By what its runs are found again, where they are kept.
    identity: Option<Identity>,
}

/// A model and its reference, by their numbers among the parts.
#[derive(Debug)]
struct Pair {
    model: &'static str,
    channels: Option<&'static str>,
    reference: Reference,
    packets_per_message: Option<u32>,
    parts: [usize; 2],
}

/// How much there is to do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AccuracyOutlook {
    /// Cases.
    pub cases: usize,
    /// Runs, but for those that are kept.
    pub runs: usize,
    /// Packets that cross a link, in all runs.
    pub packet_hops: f64,
    /// Processor time, at a guess \[s\].
    pub seconds: f64,
}

impl AccuracySweep {
    /// Reads and checks all cases.
    ///
    /// # Errors
    /// Every mistake of every case, and names that no model has; work that is no pattern.
    pub fn cases(&self) -> Result<Cases, Invalid> {
        let invalid = |diagnostics| Invalid { diagnostics, sources: Sources::default() };
        let models = models::models(&self.models).map_err(invalid)?;
        let references = models::references(&self.references).map_err(invalid)?;
        let mut mistakes = Mistakes::default();
        let mut all = Vec::new();
        let sizes: Vec<Option<&String>> =
            if self.sizes.is_empty() { vec![None] } else { self.sizes.iter().map(Some).collect() };
        let with_first_seed = |loader: &Loader| match self.grid.seeds.first() {
            Some(&seed) => loader.clone().seed(seed),
            None => loader.clone(),
        };
        let choices = combine::choices(&self.grid).map_err(|mistake| invalid(vec![mistake]))?;
        for choice in choices {
            let mut sizes = sizes.iter();
            let mut keeps_own = false;
            while let (Some(size), false) = (sizes.next(), keeps_own) {
                let sized = |loader: Loader| match size {
                    Some(size) => loader.size(size),
                    None => loader,
                };
                let mut loader = sized(choice.loader(&self.grid, None));
                let mut read = with_first_seed(&loader).load();
                if read.as_ref().is_err_and(|invalid| self.keeps_own_sizes && has_no_size(invalid)) {
                    keeps_own = true;
                    loader = choice.loader(&self.grid, None);
                    read = with_first_seed(&loader).load();
                }
                match read {
                    Ok(scenario) => {
                        let point = choice.point(scenario, &self.grid.seeds);
                        match self.case(loader, point, &models, &references) {
                            Ok(case) => all.push(case),
                            Err(diagnostic) => mistakes.add(&choice.name(), &[diagnostic], &Sources::default()),
                        }
                    }
                    Err(found) if is_no_pattern(&found) => {
                        mistakes.add("", &[no_pattern(&choice.name())], &Sources::default());
                        break;
                    }
                    Err(found) => mistakes.add(&choice.name(), &found.diagnostics, &found.sources),
                }
            }
        }
        mistakes.none()?;
        Ok(Cases { title: self.grid.title.clone(), all, kept: self.keep.clone().map(Kept::new) })
    }

    /// All that is to be played of one case.
    fn case(
        &self,
        loader: Loader,
        point: super::Point,
        models: &[Model],
        references: &[Reference],
    ) -> Result<Case, Diagnostic> {
        let (Work::Pattern(work), Some(network)) = (point.scenario.work(), point.scenario.network()) else {
            return Err(no_pattern(&point.row.pattern));
        };
        if work.pattern.messages() == 0 {
            let message = format!("`{}` sends nothing on `{}`", point.row.pattern, point.row.topology);
            return Err(Diagnostic::new("wrong-choice", message).help("models are compared by the times of messages"));
        }
        let names = AccuracyCase {
            topology: point.row.topology.clone(),
            pattern: point.row.pattern.clone(),
            placement: point.row.placement.clone(),
            varied: point.row.varied.clone(),
            ..case_of(&point.scenario, work)
        };
        let packets = self.packets_per_message;
        let usual = [None];
        let buffers: Vec<Option<&str>> = self.buffers.iter().map(|buffer| Some(buffer.as_str())).collect();
        let buffers = if buffers.is_empty() { &usual[..] } else { &buffers };
        let (hops_of_small, hops_of_messages) = case::packet_hops(work, network, Bytes::PACKET.0);
        let hops = packets.map_or(hops_of_small, |packets| hops_of_messages * f64::from(packets));
        let mut case = Case { names, loader, seeds: point.seeds.clone(), parts: Vec::new(), pairs: Vec::new() };
        for &reference in references.iter().filter(|reference| reference.applies(network)) {
            for buffer in if reference.has_buffer() { buffers } else { &usual } {
                let settings = reference.settings(network, *buffer, packets);
                let against = case.plays(settings, hops / reference.speed, hops);
                for &model in models {
                    let Some((settings, channels)) = model.settings(network, reference, packets, case.names.size_bytes)
                    else {
                        continue;
                    };
                    let (seconds, hops) = if model.is_packets() {
                        let hops = f64::from(models::FEW) * hops_of_messages;
                        (hops / reference.speed, hops)
                    } else {
                        (case.names.messages as f64 * model.seconds_a_message, 0.0)
                    };
                    let part = case.plays(settings, seconds, hops);
                    let parts = [part, against];
                    case.pairs.push(Pair {
                        model: model.name,
                        channels,
                        reference,
                        packets_per_message: packets,
                        parts,
                    });
                }
            }
        }
        if packets == Some(models::FEW) && models.iter().all(|model| model.is_packets()) {
            let message = format!("`few-packets` is the reference itself with {} packets a message", models::FEW);
            let help = "name another model (--models max-min,few-packets), or another --packets-per-message";
            return Err(Diagnostic::new("wrong-choice", message).help(help));
        }
        if case.pairs.is_empty() {
            let message = format!("none of the packet models that are named is there on `{}`", case.names.topology);
            let help = "packet:iq has dateline, turn and bubble where routes go along rings, classes elsewhere";
            return Err(Diagnostic::new("wrong-choice", message).help(help));
        }
        if self.keep.is_some() {
            case.parts.iter_mut().filter(|part| part.packet_hops > 0.0).for_each(|part| part.identify(&case.loader));
        }
        Ok(case)
    }
}

/// What is no pattern, or has no fabric.
fn no_pattern(name: &str) -> Diagnostic {
    let message = format!("`{name}` is no pattern on a fabric");
    Diagnostic::new("wrong-choice", message).help("models are compared on patterns; `hayase pattern list` has some")
}

/// Whether what is wrong is that programs have no keys of patterns, which nobody may have typed.
fn is_no_pattern(invalid: &Invalid) -> bool {
    let of_program = |diagnostic: &Diagnostic| diagnostic.message.starts_with("the workload `program` has no");
    invalid.diagnostics.iter().any(of_program)
}

/// Whether nothing is wrong but that the work has sizes of its own.
fn has_no_size(invalid: &Invalid) -> bool {
    let of_size =
        |diagnostic: &Diagnostic| diagnostic.code == "unknown-key" && diagnostic.message.ends_with("has no `size`");
    invalid.diagnostics.iter().all(of_size)
}

impl Case {
    /// The number of this among the parts.
    fn plays(&mut self, settings: Settings, seconds: f64, packet_hops: f64) -> usize {
        if let Some(known) = self.parts.iter().position(|part| part.settings == settings) {
            return known;
        }
        self.parts.push(Part { settings, seconds, packet_hops, identity: None });
        self.parts.len() - 1
    }

    /// Seconds of one run of each part, at a guess.
    fn seconds(&self) -> f64 {
        self.parts.iter().map(|part| part.seconds).sum()
    }
}

impl Part {
    /// Learns by what its runs are found again; how flows share links is nothing to packets.
    fn identify(&mut self, loader: &Loader) {
        let base = Base::new(self.settings.on(loader.clone()).sharing("max-min"), &[]);
        self.identity = base.variant(Vec::new()).identity(&base, kept::PACKET_RESULTS);
    }
}

/// What became of one run: the packets of a buffer, and the times; or why there are none.
type Ran = Result<(Option<u32>, Played), String>;

/// The runs of one case with one seed, as they come.
type Group = Vec<Option<Ran>>;

impl Cases {
    /// How much there is to do.
    pub fn outlook(&self) -> AccuracyOutlook {
        let mut outlook = AccuracyOutlook { cases: self.all.len(), runs: 0, packet_hops: 0.0, seconds: 0.0 };
        for case in &self.all {
            for part in &case.parts {
                let is_kept = |&&seed: &&u64| self.file(part, seed).is_some_and(|file| file.exists());
                let runs = case.seeds.len() - case.seeds.iter().filter(is_kept).count();
                outlook.runs += runs;
                outlook.packet_hops += runs as f64 * part.packet_hops;
                outlook.seconds += runs as f64 * part.seconds;
            }
        }
        outlook
    }

    /// Why runs could not be kept, if that was asked for and some could not.
    pub fn unkept(&self) -> Option<io::Error> {
        self.kept.as_ref().and_then(Kept::failure)
    }

    /// Where a run is kept.
    fn file(&self, part: &Part, seed: u64) -> Option<PathBuf> {
        self.kept.as_ref().zip(part.identity.as_ref()).map(|(kept, identity)| kept.file(identity, seed))
    }

    /// Plays everything, on as many threads as rayon has. `clock` tells the processor time of the thread that asks
    /// \[s\]; runs have threads of their own, so that nothing else is on them. What is done when `control` ends it is
    /// in the report.
    pub fn run(&self, control: Control<'_>, clock: &(dyn Fn() -> f64 + Sync)) -> Accuracy {
        // The longest first, so that no core is left alone with one at the end; those of a group near each other, so
        // that few have their times in memory.
        let mut jobs: Vec<(usize, u64, usize)> = Vec::new();
        for (i, case) in self.all.iter().enumerate() {
            let mut parts: Vec<usize> = (0..case.parts.len()).collect();
            parts.sort_by(|&a, &b| case.parts[b].seconds.total_cmp(&case.parts[a].seconds));
            jobs.extend(case.seeds.iter().flat_map(|&seed| parts.iter().map(move |&which| (i, seed, which))));
        }
        jobs.sort_by(|a, b| self.all[b.0].seconds().total_cmp(&self.all[a.0].seconds()));
        let micros = |&(i, _, which): &(usize, u64, usize)| (1e6 * self.all[i].parts[which].seconds) as u64 + 1;
        let runs = Runs::new(control, jobs.iter().map(micros).collect()).apart();
        let collected = Mutex::new(rows::Collected::default());
        let open: Mutex<BTreeMap<(usize, u64), Group>> = Mutex::default();
        runs.each(&jobs, |&(i, seed, which), run| {
            let case = &self.all[i];
            let ran = self.ran(case, &case.parts[which], seed, run, clock)?;
            let mut opened = lock(&open);
            let group = opened.entry((i, seed)).or_insert_with(|| case.parts.iter().map(|_| None).collect());
            group[which] = Some(ran);
            if group.iter().all(Option::is_some)
                && let Some(group) = opened.remove(&(i, seed))
            {
                drop(opened);
                lock(&collected).add(i, case, seed, &group);
            }
            Some(())
        });
        let mut collected = collected.into_inner().unwrap_or_else(PoisonError::into_inner);
        for ((i, seed), group) in std::mem::take(&mut *lock(&open)) {
            collected.add(i, &self.all[i], seed, &group);
        }
        collected.report(&self.title, &self.all, runs.missing())
    }

    /// One run, as it was kept or as it is made; nothing where it was ended.
    fn ran(
        &self,
        case: &Case,
        part: &Part,
        seed: u64,
        watch: &Run<'_>,
        clock: &(dyn Fn() -> f64 + Sync),
    ) -> Option<Ran> {
        let file = self.file(part, seed);
        if let Some(run) = file.as_ref().and_then(|file| kept::read(file, case.names.messages)) {
            return Some(Ok(run));
        }
        let ran = run_one(case, &part.settings, seed, watch, clock)?;
        if let (Some(kept), Some(file), Ok(run)) = (&self.kept, file, &ran) {
            kept.write(&file, run);
        }
        Some(ran)
    }
}

/// One run; nothing where it was ended.
fn run_one(
    case: &Case,
    settings: &Settings,
    seed: u64,
    watch: &Run<'_>,
    clock: &(dyn Fn() -> f64 + Sync),
) -> Option<Ran> {
    let scenario = match settings.on(case.loader.clone()).seed(seed).load() {
        Ok(scenario) => scenario,
        Err(invalid) => {
            let reason = invalid.diagnostics.first().map(|diagnostic| diagnostic.message.clone());
            return Some(Err(reason.unwrap_or_default()));
        }
    };
    let Work::Pattern(work) = scenario.work() else {
        return Some(Err("it is played as a program".to_owned()));
    };
    match play(work, scenario.system(), watch, clock) {
        Ok(played) => Some(Ok((buffer(&scenario, work), played))),
        Err(Unplayed::Interrupted) => None,
        Err(Unplayed::Deadlocked) => Some(Err("its packets wait for each other in a circle".to_owned())),
    }
}

/// Packets of a buffer, where messages are packets and there is a limit.
fn buffer(scenario: &Scenario, work: &PatternWork) -> Option<u32> {
    let network = scenario.network()?;
    let TransportSpec::Packet(spec) = &network.transport else { return None };
    match spec.for_messages_of(work.pattern.mean_bytes()).buffer() {
        Buffer::Packets(packets) => Some(packets),
        Buffer::Unlimited => None,
    }
}
