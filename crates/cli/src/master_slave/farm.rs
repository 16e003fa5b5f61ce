//! Workers and network from what was typed.

use std::sync::Arc;

use super::args::FarmArgs;
use crate::range;
use crate::{Failure, Voice, progress};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::node;
use hayase::reading::csv::{self, Column};
use hayase::scenario::Loader;
use hayase::sweep::master_slave::FabricUse;
use hayase::units::{PerByte, Time};
use hayase::workload::task_queue::{Costs, Machine, MessageCost, Workers};

/// The workers and the network between them and the master.
pub struct Farm {
    /// Numbers of workers, or of processors.
    counts: Vec<u32>,
    /// Whether masters are counted too.
    processors: bool,
    /// Factors of the workers, where they are not all 1.
    factors: Option<Vec<f64>>,
    /// What messages cost.
    pub costs: Costs,
    /// The fabric under the exchange.
    pub fabric: Option<FabricUse>,
    /// The network, for people.
    pub network: String,
}

impl Farm {
    /// What was typed.
    pub fn of(args: &FarmArgs, seed: u64, voice: Voice) -> Result<Self, Failure> {
        let factors = args.speeds.as_deref().map(factors).transpose()?;
        let (counts, processors) = match (&args.workers, &args.processors, &factors) {
            (Some(text), _, _) => (range::numbers("--workers", text)?, false),
            (None, Some(text), _) => (range::numbers("--processors", text)?, true),
            (None, None, Some(factors)) => (vec![factors.len() as u32], false),
            (None, None, None) => {
                return Err(Diagnostic::new("missing-workers", "the number of workers is not given")
                    .help("give it with --workers 64, or several with --workers 8..128:8")
                    .into());
            }
        };
        let (costs, mut network) = costs(args)?;
        let fabric = args.topology.as_ref().map(|topology| {
            let mut loader = Loader::new().topology(topology).seed(seed).on_read(progress::reading(voice.show));
            type Set = fn(Loader, &str) -> Loader;
            let options: [(&Option<String>, Set); 3] = [
                (&args.placement, Loader::placement),
                (&args.sharing, Loader::sharing),
                (&args.routing, Loader::routing),
            ];
            for (value, add) in options {
                if let Some(value) = value {
                    loader = add(loader, value);
                }
            }
            network = format!("{network} over {topology}");
            FabricUse { loader, overlapped: args.overlap }
        });
        Ok(Self { counts, processors, factors, costs, fabric, network })
    }

    /// The numbers of workers, beside so many masters.
    pub fn counts(&self, masters: u32) -> Result<Vec<u32>, Diagnostic> {
        let none = |count: u32| {
            let message = match self.processors {
                true => format!("of {count} processors none is left for work beside {masters} that give out tasks"),
                false => "without workers nothing is done".to_owned(),
            };
            Diagnostic::new("out-of-range", message)
        };
        const MOST: u32 = 1 << 24;
        let workers = |&count: &u32| {
            let workers = if self.processors { count.saturating_sub(masters) } else { count };
            match workers {
                0 => Err(none(count)),
                _ if workers > MOST => {
                    Err(Diagnostic::new("out-of-range", format!("there cannot be more than {MOST} workers")))
                }
                _ => Ok(workers),
            }
        };
        self.counts.iter().map(workers).collect()
    }

    /// So many workers: the first of those whose speeds are given.
    pub fn workers(&self, count: u32) -> Result<Workers, Diagnostic> {
        match &self.factors {
            None => Ok(Workers::equal(count)),
            Some(factors) => match factors.get(..count as usize) {
                Some(factors) => Ok(Workers::new(factors.to_vec())),
                None => {
                    let message = format!("{count} workers are asked for, speeds are given for {}", factors.len());
                    Err(Diagnostic::new("too-few-speeds", message).help("give the speeds of all workers (--speeds)"))
                }
            },
        }
    }
}

/// What messages cost.
fn costs(args: &FarmArgs) -> Result<(Costs, String), Failure> {
    let time = |flag: &str, text: &Option<String>| -> Result<Time, Diagnostic> {
        text.as_deref().map_or(Ok(Time::ZERO), |text| range::quantity(flag, text))
    };
    let per_processor = time("--overhead-per-processor", &args.overhead_per_processor)?;
    if let Some(name) = &args.machine {
        let spec = Loader::new().machine(name).load_machine()?;
        let Some(mut model) = spec.costs() else {
            let message = format!("the machine `{name}` is of a kind that says more than what a message costs");
            return Err(Diagnostic::new("wrong-choice", message)
                .help("take one with [node.loggp] or [node.loggps]")
                .into());
        };
        if args.topology.is_some() {
            model = model.on_fabric();
        }
        let mut costs = Costs::log_gp(Time::ZERO, Time::ZERO, per_processor, 0.0);
        costs.machine = Some(Machine(Arc::new(move |bytes| message(&model, bytes))));
        return Ok((costs, format!("machine {name}")));
    }
    let gap = match &args.gap {
        Some(_) if args.topology.is_some() => {
            let message = "with a topology its capacity takes the place of the gap G";
            return Err(Diagnostic::new("wrong-choice", message).help("leave out --gap").into());
        }
        Some(text) => range::quantity::<PerByte>("--gap", text)?.ps(),
        None => 0.0,
    };
    let (latency, overhead) = (time("--latency", &args.latency)?, time("--overhead", &args.overhead)?);
    let costs = Costs::log_gp(latency, overhead, per_processor, gap);
    if latency == Time::ZERO && overhead == Time::ZERO && per_processor == Time::ZERO && gap == 0.0 {
        let text = if args.topology.is_some() { "ideal ends" } else { "messages at no cost" };
        return Ok((costs, text.to_owned()));
    }
    let mut network = format!("L = {latency}, o = {overhead}");
    if per_processor > Time::ZERO {
        network += &format!(" + P x {per_processor}");
    }
    if gap > 0.0 {
        network += &format!(", G = {} ns/B", gap / 1e3);
    }
    Ok((costs, network))
}

/// What a message costs on a machine: what its calls cost, and where sender and receiver agree first, that, as if the other
/// were ready.
fn message(model: &node::Costs, bytes: u64) -> MessageCost {
    let costs = model.message(bytes);
    let agreement = match costs.rendezvous {
        true if model.control_travels => Time::from_ps(4.0 * model.handshake.ps() + 2.0 * model.latency.ps()),
        _ => Time::ZERO,
    };
    MessageCost { send: agreement + costs.send, flight: model.latency + costs.gap, receive: costs.recv }
}

/// A file of speeds, or groups like `64x1,64x2.5`.
fn factors(text: &str) -> Result<Vec<f64>, Failure> {
    let group = |part: &str| -> Option<(u32, f64)> {
        let (count, factor) = part.split_once('x').unwrap_or(("1", part));
        let factor = factor.trim().parse::<f64>().ok().filter(|factor| is_factor(*factor))?;
        Some((count.trim().parse().ok()?, factor))
    };
    if let Some(groups) = text.split(',').map(group).collect::<Option<Vec<_>>>() {
        return expand(groups.into_iter());
    }
    if !text.contains(['.', '/', '\\']) || text.contains('x') && !std::path::Path::new(text).exists() {
        let message = format!("--speeds: \"{text}\" is neither a file nor a list of groups");
        return Err(Diagnostic::new("bad-speeds", message).help("write 64x1,64x2.5 or the name of a CSV file").into());
    }
    let input = progress::sources(progress::Show::Nothing).open(&text.to_owned().into())?;
    const COLUMNS: [Column; 2] = [Column::optional("workers"), Column::required("factor")];
    let mut groups = Vec::new();
    csv::read(input, &COLUMNS, |row| {
        let count = if row.has(0) { row.number(0, "worker", u32::MAX) } else { Some(1) };
        if let (Some(count), Some(factor)) = (count, row.decimal(1)) {
            if !is_factor(factor) {
                let message = format!("a task cannot take {factor} times as long");
                row.mistake(1, Diagnostic::new("out-of-range", message).label("a factor above 0, like 2.5"));
            }
            groups.push((count, factor));
        }
    })
    .map_err(|diagnostics| Invalid { diagnostics, ..Invalid::default() })?;
    expand(groups.into_iter())
}

fn is_factor(factor: f64) -> bool {
    (1e-9..=1e9).contains(&factor)
}

/// A factor for each worker of the groups.
fn expand(groups: impl Iterator<Item = (u32, f64)>) -> Result<Vec<f64>, Failure> {
    const MOST: usize = 1 << 24;
    let mut factors = Vec::new();
    for (count, factor) in groups {
        if factors.len() + count as usize > MOST {
            return Err(Diagnostic::new("out-of-range", format!("there cannot be more than {MOST} workers")).into());
        }
        factors.resize(factors.len() + count as usize, factor);
    }
    if factors.is_empty() {
        return Err(Diagnostic::new("bad-speeds", "no speeds of workers are given (--speeds)").into());
    }
    Ok(factors)
}
