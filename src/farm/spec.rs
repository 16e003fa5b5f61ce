//! `[workload.master-slave]`: a master with its workers, as a scenario describes it.

use std::num::NonZeroU32;

use super::costs::Costs;
use super::counts::{self, Counts};
use super::deal::Order;
use super::grid::{Executed, TaskGrid};
use super::master::Extensions;
use super::play::{Masters, Policy};
use super::rules::{ChunkingRule, OrderRule, Rules};
use super::source::{Given, TasksFile, TasksSpec};
use super::tasks::Tasks;
use super::workers::{Loss, Workers};
use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Located, Sources, Span};
use crate::units::{Bytes, PerByte, Time};

/// Farm: tasks that are dealt to workers.
#[spec]
pub enum FarmSpec {
    /// Master that deals tasks to workers.
    MasterSlave(Box<MasterSlaveSpec>),
}

/// `[workload.master-slave]`: a master that deals tasks to workers.
///
/// Costs of messages are given here (LogGP: `latency`, `overhead`, `gap`) or by the machine, `[node.*]`. Over
/// a topology its capacity replaces the gap. Rank 0 is the master.
#[spec]
pub struct MasterSlaveSpec {
    /// Tasks: a table of executed tasks, a tasks file, or a rule; "constant:count=200,time=1ms".
    #[cfg_attr(test, schemars(schema_with = "tasks_schema"))]
    pub tasks: TasksSpec,
    /// Grid of all tasks, some of which were executed (default: the tasks given are all); "1024x1024".
    pub grid: Option<Located<String>>,
    /// Set to give tasks beyond the executed ones the time of the nearest one (default: such tasks are an
    /// error).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clamp: bool,
    /// Set if a plan proposed the executed tasks, so that they form no product grid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refined: bool,
    /// Bytes sent to the worker with each task that does not give its own.
    pub bytes_in: Option<Bytes>,
    /// Bytes sent back with each result whose task does not give its own.
    pub bytes_out: Option<Bytes>,
    /// Numbers of workers (default: the number of speeds); "8..128:8".
    pub workers: Option<Located<Counts>>,
    /// Numbers of processors, the master included: P processors are P - 1 workers.
    pub processors: Option<Located<Counts>>,
    /// Time of a task on each worker, relative to the machine that measured it (default: 1), as groups or a
    /// CSV file; "64x1,64x2.5".
    pub speeds: Option<Located<String>>,
    /// L: time that a message is under way.
    pub latency: Option<Located<Time>>,
    /// o0: overhead of a message at each end.
    pub overhead: Option<Located<Time>>,
    /// o1: additional overhead per processor.
    pub overhead_per_processor: Option<Located<Time>>,
    /// G: time of the sender per byte.
    pub gap: Option<Located<PerByte>>,
    /// Set to let the master continue while its messages leave, instead of waiting for each; over a topology.
    pub overlap: Option<Located<bool>>,
    /// Order in which tasks are dealt.
    #[serde(default)]
    pub order: OrderRule,
    /// Number of tasks in a message; the smallest number if `chunking` is guided or factoring.
    #[serde(default = "one")]
    pub granularity: NonZeroU32,
    /// Rule for the number of tasks in a message.
    #[serde(default)]
    pub chunking: ChunkingRule,
    /// Number of messages sent to a worker ahead, before its result is back.
    #[serde(default)]
    pub prefetch: u32,
    /// Number of masters, each with its part of tasks and workers.
    #[serde(default = "one")]
    pub masters: NonZeroU32,
    /// Number of tasks in a batch of a master of masters (default: there is no master of masters).
    pub hierarchy: Option<NonZeroU32>,
    /// Workers that are lost, each with its time: `["3@1.5s"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lose: Vec<Located<String>>,
    /// Time from the loss of a worker until the master notices it.
    #[serde(default)]
    pub detection: Time,
    /// Parameter to vary beside the number of workers, with its values; "granularity=1..1024:x2".
    pub vary: Option<Located<String>>,
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// Returns the schema of the tasks: a table, or a text that stands for one.
#[cfg(test)]
fn tasks_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let table = generator.subschema_for::<TasksSpec>();
    schemars::json_schema!({ "anyOf": [table, { "type": "string" }] })
}

/// One combination of the varied parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct FarmPoint {
    /// Value of the parameter that is varied.
    pub value: Option<String>,
    /// Workers of the farm.
    pub workers: Workers,
    /// Order in which tasks are dealt.
    pub order: Order,
    /// Policy by which tasks are dealt.
    pub policy: Policy,
}

impl MasterSlaveSpec {
    /// Returns the parameter that is varied beside the number of workers, with its values.
    fn varied(&self) -> Result<Option<(String, Vec<String>)>, Diagnostic> {
        let Some(text) = &self.vary else { return Ok(None) };
        let at = |diagnostic: Diagnostic| diagnostic.at_value(text);
        Rules::varied(text).map(Some).map_err(at)
    }

    /// Returns the name of the parameter that is varied beside the number of workers.
    pub fn varied_name(&self) -> Option<String> {
        self.varied().ok().flatten().map(|(name, _)| name)
    }

    /// Returns the rules for dealing tasks if nothing is varied.
    fn rules(&self) -> Rules {
        Rules {
            order: self.order,
            chunking: self.chunking,
            granularity: self.granularity.get(),
            prefetch: self.prefetch,
            masters: self.masters.get(),
            batch: self.hierarchy.map(NonZeroU32::get),
        }
    }

    /// Returns the costs of messages that are given here.
    pub fn costs(&self) -> Costs {
        let time = |time: &Option<Located<Time>>| time.as_ref().map_or(Time::ZERO, |time| **time);
        let gap = self.gap.as_ref().map_or(0.0, |gap| gap.ps());
        Costs::log_gp(time(&self.latency), time(&self.overhead), time(&self.overhead_per_processor), gap)
    }

    /// Returns the first key that gives a cost of messages that a machine gives as well, with its place.
    pub fn cost_of_machine(&self) -> Option<(&'static str, Option<Span>)> {
        let latency = self.latency.as_ref().map(|latency| ("latency", latency.span()));
        let overhead = self.overhead.as_ref().map(|overhead| ("overhead", overhead.span()));
        latency.or(overhead).or(self.gap.as_ref().map(|gap| ("gap", gap.span())))
    }

    /// Returns the place of the tasks' file name, if the tasks are in a file.
    pub fn tasks_span(&self) -> Option<Span> {
        match &self.tasks {
            TasksSpec::File(file) => file.path.span(),
            _ => None,
        }
    }

    /// Returns the place of the number of workers.
    pub fn workers_span(&self) -> Option<Span> {
        let workers = self.workers.as_ref().and_then(Located::span);
        let processors = self.processors.as_ref().and_then(Located::span);
        workers.or(processors).or(self.speeds.as_ref().and_then(Located::span))
    }

    /// True if the master continues while its messages leave.
    pub fn overlapped(&self) -> bool {
        self.overlap.as_ref().is_some_and(|overlap| **overlap)
    }

    /// True if another seed gives other tasks, or another order of them.
    pub fn depends_on_seed(&self) -> bool {
        self.tasks_depend_on_seed() || self.order_depends_on_seed()
    }

    /// True if another seed gives other tasks. A tasks file counts, since its contents are not known before
    /// it is read.
    pub fn tasks_depend_on_seed(&self) -> bool {
        match &self.tasks {
            TasksSpec::Uniform(_) | TasksSpec::Exponential(_) | TasksSpec::HeavyTail(_) => true,
            TasksSpec::File(file) => TasksFile::is_tasks_file(&file.path),
            TasksSpec::Executed(_) | TasksSpec::Constant(_) | TasksSpec::Mandelbrot(_) => false,
        }
    }

    fn order_depends_on_seed(&self) -> bool {
        let varied = self.varied().ok().flatten();
        self.order == OrderRule::Random
            || varied.is_some_and(|(name, values)| name == "order" && values.iter().any(|value| value == "random"))
    }

    /// Returns the tasks file, read if it is named, with the keys given here put in.
    fn file(&self, sources: &mut Sources) -> Result<TasksFile, Vec<Diagnostic>> {
        let mut file = match &self.tasks {
            TasksSpec::File(file) => TasksFile::read(&file.path, sources)?,
            tasks => TasksFile::of(tasks.clone()),
        };
        if let Some(grid) = &self.grid {
            file.grid = Some(grid.clone());
        }
        file.clamp |= self.clamp;
        file.refined |= self.refined;
        file.bytes_in = self.bytes_in.or(file.bytes_in);
        file.bytes_out = self.bytes_out.or(file.bytes_out);
        Ok(file)
    }

    /// Reads the executed tasks, which may be none yet, or all tasks.
    ///
    /// # Errors
    /// All mistakes in tables and rules.
    pub fn given(&self, seed: u64, sources: &mut Sources) -> Result<Given, Vec<Diagnostic>> {
        if matches!(&self.tasks, TasksSpec::Executed(listed) if listed.points.is_empty()) {
            let grid = self.grid.as_ref().map(TaskGrid::read).transpose().map_err(|mistake| vec![mistake])?;
            let dimensions = grid.as_ref().map_or(0, |grid| grid.extents().len());
            return Ok(Given::Executed(Executed::new(dimensions), grid));
        }
        self.file(sources)?.read_tasks(seed, sources)
    }

    /// Reads the tasks, interpolated if only some were executed.
    ///
    /// # Errors
    /// All mistakes in tables and rules, and executed tasks that cannot be interpolated.
    pub fn tasks(&self, seed: u64, sources: &mut Sources) -> Result<Tasks, Vec<Diagnostic>> {
        let file = self.file(sources)?;
        let missing = |message: &str, help: &str| Err(vec![Diagnostic::new("missing-grid", message).help(help)]);
        if file.refined && file.grid.is_none() {
            return missing("refined tasks stand in a grid", "give it: grid = \"1024x1024\" (--grid)");
        }
        if file.clamp && file.grid.is_none() {
            let message = "without a grid there are no tasks beyond the executed ones";
            return missing(message, "give it: grid = \"1024x1024\" (--grid), or leave out `clamp` (--clamp)");
        }
        file.load(seed, sources).map_err(|invalid| invalid.diagnostics)
    }

    /// Returns the description of the tasks that is shown to users.
    pub fn tasks_title(&self) -> String {
        match &self.grid {
            Some(grid) => format!("tasks of {} in the grid {}", self.tasks.title(), grid.as_str()),
            None => format!("tasks of {}", self.tasks.title()),
        }
    }

    /// Returns the description of the policy that is shown to users.
    pub fn title(&self) -> String {
        match self.varied_name() {
            Some(name) => format!("{name} varied"),
            None => {
                let mut title = self.rules().to_string();
                if !self.lose.is_empty() {
                    let lost: Vec<&str> = self.lose.iter().map(|lost| lost.as_str()).collect();
                    title += &format!(", lost workers: {}", lost.join(", "));
                }
                title
            }
        }
    }

    /// Returns the groups of workers to try, beside `masters` masters.
    ///
    /// # Errors
    /// Wrong numbers, and speeds that are missing or wrong.
    pub fn crews(&self, masters: u32, sources: &Sources) -> Result<Vec<Workers>, Vec<Diagnostic>> {
        let one = |diagnostic| vec![diagnostic];
        let factors = self.speeds.as_ref().map(|speeds| counts::factors(speeds, sources)).transpose()?;
        if let (Some(_), Some(processors)) = (&self.workers, &self.processors) {
            let message = "`workers` and `processors` both say how many workers there are";
            let diagnostic = Diagnostic::new("two-choices", message).at_value(processors);
            return Err(one(diagnostic.label("leave out one of them")));
        }
        let numbers = match (&self.workers, &self.processors, &factors) {
            (Some(workers), ..) => workers.0.clone(),
            (None, Some(processors), _) => {
                let few = |&count: &u32| count <= masters;
                if let Some(count) = processors.0.iter().copied().find(few) {
                    let message =
                        format!("of {count} processors none is left for work beside {masters} that give out tasks");
                    return Err(one(Diagnostic::new("out-of-range", message).at_value(processors)));
                }
                processors.0.iter().map(|count| count - masters).collect()
            }
            (None, None, Some(factors)) => vec![factors.len() as u32],
            (None, None, None) => {
                let diagnostic = Diagnostic::new("missing-key", "the number of workers is not given");
                let help = "write workers = 64 (--workers 64), or several: workers = \"8..128:8\" (--workers 8..128:8)";
                return Err(one(diagnostic.help(help)));
            }
        };
        let at = |diagnostic: Diagnostic| match self.workers.as_ref().or(self.processors.as_ref()) {
            Some(counts) => vec![diagnostic.at_value(counts)],
            None => vec![diagnostic],
        };
        let crew = |count: u32| match (&factors, count) {
            (_, 0) => Err(at(Diagnostic::new("out-of-range", "without workers nothing is done"))),
            (_, count) if count > counts::MAX_WORKERS => {
                let message = format!("there cannot be more than {} workers", counts::MAX_WORKERS);
                Err(at(Diagnostic::new("out-of-range", message)))
            }
            (None, count) => Ok(Workers::equal(count)),
            (Some(factors), count) => match factors.get(..count as usize) {
                Some(factors) => Ok(Workers::new(factors.to_vec())),
                None => {
                    let message = format!("{count} workers are asked for, speeds are given for {}", factors.len());
                    Err(at(Diagnostic::new("too-few-speeds", message).help("give the speeds of all workers")))
                }
            },
        };
        numbers.into_iter().map(crew).collect()
    }

    /// Returns the description of a farm that has only one of the points.
    #[must_use]
    pub fn of_point(&self, point: &FarmPoint) -> Self {
        let mut rules = self.rules();
        if let (Some(name), Some(value)) = (self.varied_name(), &point.value) {
            // Cannot fail: the point has been built with this value.
            let _ = rules.set(&name, value);
        }
        let whole = |number: u32| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self {
            workers: Some(Counts(vec![point.workers.len() as u32]).into()),
            processors: None,
            vary: None,
            order: rules.order,
            chunking: rules.chunking,
            granularity: whole(rules.granularity),
            prefetch: rules.prefetch,
            masters: whole(rules.masters),
            hierarchy: rules.batch.map(whole),
            ..self.clone()
        }
    }

    /// Returns every combination. For each value of the varied parameter, numbers of workers keep the order
    /// of the list.
    ///
    /// # Errors
    /// Numbers, speeds, losses and rules that are wrong or do not fit together, or do not fit a fabric if
    /// there is one.
    pub fn points(&self, on_fabric: bool, seed: u64, sources: &Sources) -> Result<Vec<FarmPoint>, Vec<Diagnostic>> {
        let one = |diagnostic| vec![diagnostic];
        let losses = self.losses()?;
        let varied = self.varied().map_err(one)?;
        let (name, values) = match varied {
            Some((name, values)) => (name, values.into_iter().map(Some).collect()),
            None => (String::new(), vec![None]),
        };
        let mut points = Vec::new();
        for value in values {
            let mut rules = self.rules();
            if let (Some(value), Some(text)) = (&value, &self.vary) {
                rules.set(&name, value).map_err(|mistake| one(mistake.at_value(text)))?;
            }
            let masters = rules.masters();
            for mut workers in self.crews(masters.count(), sources)? {
                let count = workers.len() as u32;
                for (loss, text) in losses.iter().zip(&self.lose) {
                    if loss.worker >= count {
                        let message =
                            format!("worker {} cannot be lost: there are {count}, numbered from 0", loss.worker);
                        return Err(one(Diagnostic::new("out-of-range", message).at_value(text)));
                    }
                }
                workers.losses = losses.clone();
                workers.losses.arrange_by_key(|loss| loss.worker);
                let extensions = Extensions { prefetch: rules.prefetch, detection: self.detection };
                let policy = Policy { masters, chunking: rules.chunking(), extensions };
                self.check(&policy, &workers, on_fabric).map_err(one)?;
                points.push(FarmPoint { value: value.clone(), workers, order: rules.order(seed), policy });
            }
        }
        Ok(points)
    }

    /// Reads the lost workers and their times, in the order of the list.
    fn losses(&self) -> Result<Vec<Loss>, Vec<Diagnostic>> {
        let mut losses: Vec<Loss> = Vec::new();
        let mut mistakes = Vec::new();
        for text in &self.lose {
            let wrong = |message: String| Diagnostic::new("bad-loss", message).at_value(text);
            let read = text.split_once('@').and_then(|(worker, at)| {
                Some(Loss { worker: worker.trim().parse().ok()?, at: at.trim().parse().ok()? })
            });
            match read {
                None => {
                    mistakes.push(wrong(format!("\"{}\" does not say which worker is lost when", text.as_str())).help(
                        "write the number of the worker (from 0) and the time: lose = [\"3@1.5s\"] (--lose 3@1.5s)",
                    ))
                }
                Some(loss) if losses.iter().any(|other| other.worker == loss.worker) => {
                    mistakes.push(wrong(format!("worker {} is lost twice", loss.worker)));
                }
                Some(loss) => losses.push(loss),
            }
        }
        if mistakes.is_empty() { Ok(losses) } else { Err(mistakes) }
    }

    /// Checks that policy, workers and fabric fit together.
    fn check(&self, policy: &Policy, workers: &Workers, on_fabric: bool) -> Result<(), Diagnostic> {
        let group = match policy.masters {
            Masters::One => 1,
            Masters::Partition(masters) | Masters::Hierarchy { masters, .. } => masters,
        };
        if group as usize > workers.len() {
            let message = format!("{group} masters have too few workers: {}", workers.len());
            return Err(Diagnostic::new("out-of-range", message).help("give each master a worker at least"));
        }
        let beyond = policy.extensions.prefetch > 0 || !workers.losses.is_empty();
        if matches!(policy.masters, Masters::Hierarchy { .. }) && beyond {
            return Err(Diagnostic::new(
                "wrong-choice",
                "a master of masters sends nothing ahead and loses no workers",
            )
            .help("leave out `prefetch` and `lose`, or `hierarchy`"));
        }
        if on_fabric && (policy.masters != Masters::One || beyond) {
            let message = "over a fabric there is one master, which sends nothing ahead and loses no workers";
            return Err(Diagnostic::new("wrong-choice", message)
                .help("leave out the topology, or `masters`, `hierarchy`, `prefetch` and `lose`"));
        }
        Ok(())
    }
}
