//! Accuracy of flow models against packet models over many cases: the error of each model, and its cost.
//!
//! A case is a pattern on a fabric, with everything that a model and its reference have in common. A model or
//! a reference is played as the same scenario with a few keys of its own (`models::Settings`). Each is played
//! once for each seed. Then every model is compared with every reference, message by message.

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

use kept::RunCache;
use models::{Model, Reference, Settings};
use played::{Difference, PlayError, Played, play};

/// Comparison of models with references over every combination of the listed values. An empty list takes the
/// usual values.
#[derive(Clone, Debug, Default)]
pub struct AccuracySweep {
    /// Cases without their sizes. The transports and sharing policies of the sweep are not used.
    pub grid: Sweep,
    /// Sizes of messages; if empty, those of the patterns.
    pub sizes: Vec<String>,
    /// True if patterns whose messages have sizes of their own (files) keep them, and take none of `sizes`.
    pub keeps_own_sizes: bool,
    /// Packets of a buffer of input queues.
    pub buffers: Vec<String>,
    /// Models, by name.
    pub models: Vec<String>,
    /// Packet models, by name or the beginning of a name (`packet:iq`).
    pub references: Vec<String>,
    /// Packets of a mean message of the references, if packets are to be few and large.
    pub packets_per_message: Option<u32>,
    /// Folder in which runs of packet models are cached.
    pub keep: Option<PathBuf>,
}

/// Cases of a sweep, read and checked, with everything that is to be played.
#[derive(Debug)]
pub struct Cases {
    title: String,
    all: Vec<Case>,
    kept: Option<RunCache>,
}

/// One case.
#[derive(Debug)]
struct Case {
    names: AccuracyCase,
    /// Texts of the case without the seed and the keys of a model.
    loader: Loader,
    seeds: Vec<u64>,
    /// Models and references to play, each once.
    parts: Vec<Part>,
    pairs: Vec<Pair>,
}

/// Model or packet model in a case.
#[derive(Debug)]
struct Part {
    settings: Settings,
    /// Estimated time of one run \[s\].
    seconds: f64,
    /// Number of packet hops of one run.
    packet_hops: f64,
    /// Identity under which its runs are cached, if they are.
    identity: Option<Identity>,
}

/// Model and its reference, by their positions among the parts.
#[derive(Debug)]
struct Pair {
    model: &'static str,
    channels: Option<&'static str>,
    reference: Reference,
    packets_per_message: Option<u32>,
    parts: [usize; 2],
}

/// Outlook on the work of a sweep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AccuracyOutlook {
    /// Number of cases.
    pub cases: usize,
    /// Number of runs, except those that are cached.
    pub runs: usize,
    /// Packet hops of all runs.
    pub packet_hops: f64,
    /// Estimated processor time \[s\].
    pub seconds: f64,
}

impl AccuracySweep {
    /// Reads and checks all cases.
    ///
    /// # Errors
    /// Every mistake of every case, names that no model has, and work that is not a pattern.
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
        Ok(Cases { title: self.grid.title.clone(), all, kept: self.keep.clone().map(RunCache::new) })
    }

    /// Builds one case with everything that is to be played.
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
                let against = case.part_index(settings, hops / reference.speed, hops);
                for &model in models {
                    let Some((settings, channels)) = model.settings(network, reference, packets, case.names.size_bytes)
                    else {
                        continue;
                    };
                    let (seconds, hops) = if model.is_packets() {
                        let hops = f64::from(models::FEW_PACKETS) * hops_of_messages;
                        (hops / reference.speed, hops)
                    } else {
                        (case.names.messages as f64 * model.seconds_a_message, 0.0)
                    };
                    let part = case.part_index(settings, seconds, hops);
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
        if packets == Some(models::FEW_PACKETS) && models.iter().all(|model| model.is_packets()) {
            let message =
                format!("`few-packets` is the reference itself with {} packets a message", models::FEW_PACKETS);
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

/// Returns the mistake of work that is not a pattern, or has no fabric.
fn no_pattern(name: &str) -> Diagnostic {
    let message = format!("`{name}` is not a pattern on a fabric");
    Diagnostic::new("wrong-choice", message).help("models are compared on patterns; `hayase pattern list` has some")
}

/// Returns true if the mistake is that programs have no keys of patterns, which the user may not have typed.
fn is_no_pattern(invalid: &Invalid) -> bool {
    let of_program = |diagnostic: &Diagnostic| diagnostic.message.starts_with("the workload `program` has no");
    invalid.diagnostics.iter().any(of_program)
}

/// Returns true if the only mistake is that the work has sizes of its own.
fn has_no_size(invalid: &Invalid) -> bool {
    let of_size =
        |diagnostic: &Diagnostic| diagnostic.code == "unknown-key" && diagnostic.message.ends_with("has no `size`");
    invalid.diagnostics.iter().all(of_size)
}

impl Case {
    /// Adds a part, or finds it among the parts, and returns its position.
    fn part_index(&mut self, settings: Settings, seconds: f64, packet_hops: f64) -> usize {
        if let Some(known) = self.parts.iter().position(|part| part.settings == settings) {
            return known;
        }
        self.parts.push(Part { settings, seconds, packet_hops, identity: None });
        self.parts.len() - 1
    }

    /// Returns the estimated time of one run of each part \[s\].
    fn seconds(&self) -> f64 {
        self.parts.iter().map(|part| part.seconds).sum()
    }
}

impl Part {
    /// Sets the identities of the parts that are cached. The sharing policy does not matter to packets and is
    /// left out.
    fn identify(&mut self, loader: &Loader) {
        let loader = self.settings.on(loader.clone()).for_choice("sharing", "max-min", |_| true);
        let base = Base::new(loader.sharing("max-min"), &[]);
        self.identity = base.variant(Vec::new()).identity(&base, kept::PACKET_RESULTS);
    }
}

/// Result of one run: the packets of a buffer, and the times; or the reason why there are none.
type PartResult = Result<(Option<u32>, Played), String>;

/// Results of one case with one seed, filled in as runs end.
type Group = Vec<Option<PartResult>>;

impl Cases {
    /// Estimates the work of the sweep.
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

    /// Returns the first error of writing a cached run, if there was one.
    pub fn unkept(&self) -> Option<io::Error> {
        self.kept.as_ref().and_then(RunCache::failure)
    }

    /// Returns the file in which a run is cached.
    fn file(&self, part: &Part, seed: u64) -> Option<PathBuf> {
        self.kept.as_ref().zip(part.identity.as_ref()).map(|(kept, identity)| kept.file(identity, seed))
    }

    /// Plays everything, on as many threads as rayon has. `clock` returns the processor time of the calling
    /// thread \[s\].
    ///
    /// Runs have threads of their own, so that nothing else runs on them. If `control` ends the sweep, the
    /// report holds the runs that were made.
    pub fn run(&self, control: Control<'_>, clock: &(dyn Fn() -> f64 + Sync)) -> Accuracy {
        // The longest runs first, so that no core is left alone with one at the end. Runs of a group stay together, so
        // that few groups have their times in memory.
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

    /// Reads one run from the cache, or makes it; returns `None` if it was ended.
    fn ran(
        &self,
        case: &Case,
        part: &Part,
        seed: u64,
        watch: &Run<'_>,
        clock: &(dyn Fn() -> f64 + Sync),
    ) -> Option<PartResult> {
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

/// Makes one run; returns `None` if it was ended.
fn run_one(
    case: &Case,
    settings: &Settings,
    seed: u64,
    watch: &Run<'_>,
    clock: &(dyn Fn() -> f64 + Sync),
) -> Option<PartResult> {
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
        Err(PlayError::Interrupted) => None,
        Err(PlayError::Deadlocked) => Some(Err("its packets wait for each other in a circle".to_owned())),
    }
}

/// Returns the packets of a buffer, if messages are packets and there is a limit.
fn buffer(scenario: &Scenario, work: &PatternWork) -> Option<u32> {
    let network = scenario.network()?;
    let TransportSpec::Packet(spec) = &network.transport else { return None };
    match spec.for_messages_of(work.pattern.mean_bytes()).buffer() {
        Buffer::Packets(packets) => Some(packets),
        Buffer::Unlimited => None,
    }
}
