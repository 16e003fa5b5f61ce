//! From the texts of a scenario to several jobs on one fabric.

use rustc_hash::FxHashSet;

use super::job::{JobSection, JobSpec, OfferedLoad};
use super::notes::Notes;
use super::read::Sections;
use super::routed::{RoutedFabric, Workload};
use super::section::Section;
use super::{Scenario, guard, paths};
use crate::diagnostic::{Diagnostic, Invalid, Located, Sources, Span};
use crate::farm::FarmSpec;
use crate::network::Network;
use crate::pattern::FabricInfo;
use crate::placement::{Joint, JointPart, PlacementSpec};
use crate::reading::nulls::drop_nulls;
use crate::rng::seed_of_job;
use crate::simulation::{Job, JobWork, JobsWork, Simulated};
use crate::steady::OnNodes;
use crate::system::{ProgramSpec, WorkloadSpec};
use crate::system::{Specifications, System, network_of_its_own};
use crate::units::{Time, grouped};
use crate::workload::joint::Repeat;

/// A job that is built but not yet placed.
struct BuiltJob<'a> {
    section: &'a JobSection,
    /// Its work. If that depends on its nodes, a placeholder without messages and with the same number of
    /// ranks.
    task: JobWork,
    /// Set if its work depends on its nodes.
    knows_fabric: bool,
    repeat: Repeat,
    weight: f64,
    /// Placement of its ranks, with its place in the text.
    placement: PlacementSpec,
    placement_at: Option<Span>,
    /// Sections from which its work was built.
    sections: Sections,
}

impl Sections {
    /// Builds the jobs of a scenario, on the scenario's system.
    pub fn jobs(&self, jobs: &[JobSection], mut notes: Notes) -> Result<Scenario<JobsWork>, Invalid> {
        let found = self.jobs_on_fabric(jobs, &mut notes);
        let ((system, work), sources) = notes.finish(found)?;
        Ok(Scenario::read(system, work, sources))
    }

    fn jobs_on_fabric(&self, jobs: &[JobSection], notes: &mut Notes) -> Option<(System, JobsWork)> {
        check_names(jobs, self.jobs.span(), notes);
        self.check_transport(notes);
        self.check_packets(notes);
        // A node model may be a network of its own.
        if let Section::Is(node, at) = &self.node
            && node.facts().is_network
        {
            notes.push(network_of_its_own(node).at(*at));
        }
        let (node, collectives) = self.ends(notes)?;
        let routed = self.routed(notes)?;
        let mut left = routed.fabric.nodes();
        let mut all = Vec::new();
        let mut is_crowded = false;
        for (index, section) in jobs.iter().enumerate() {
            let built = self.job(index, section, &routed, left, notes);
            // A job with mistakes still takes the nodes that it asks for.
            let ranks = built.as_ref().map(|built| built.task.ranks());
            let ranks = ranks.or(section.spec.ranks.as_deref().copied()).unwrap_or(0);
            all.extend(built);
            // The first job that does not fit is reported when the jobs are placed.
            is_crowded = ranks > left;
            if is_crowded || left == 0 {
                break;
            }
            left -= ranks;
        }
        if all.len() < jobs.len() && !is_crowded {
            return None;
        }
        let joint = Joint { parts: all.iter().map(place).collect() };
        let placement = notes.build(None, |sources| joint.build(&routed.fabric, self.seed(), sources))?;
        for (index, job) in all.iter_mut().enumerate().filter(|(_, job)| job.knows_fabric) {
            let in_order = |sources: &mut _| joint.in_order(index, &routed.fabric, self.seed(), sources);
            let nodes = notes.build(job.placement_at, in_order)?;
            let ground = OnNodes { fabric: routed.ground(), nodes: &nodes };
            job.task = job.sections.pattern_task(&ground, notes)?;
        }
        self.check_ends(&all, &routed, notes);
        let written = Specifications { joint: Some(joint), ..Specifications::default() };
        let system = self.on_network(routed, placement, written, notes);
        let network = system.network()?.clone();
        self.check_weights(jobs, &network, notes);
        self.check_each(&all, &network, notes);
        let own_links = notes.links.comparison(&network.fabric, &self.link, &notes.sources);
        let system = system.with_node(node).ok()?.with_collectives(collectives).with_link_comparison(own_links);
        let work = JobsWork::new(all.into_iter().map(|built| into_job(built, &notes.sources)).collect());
        let system = self.estimated(self.slowed(system, work.ranks(), &work.names_and_ranks(), notes));
        notes.diagnostics.extend(self.estimate_of_jobs());
        if notes.is_clean() {
            notes.diagnostics.extend(work.fits(&system).err());
        }
        Some((system, work))
    }

    /// Refuses weights of jobs unless messages are flows under a policy that supports weights.
    fn check_weights(&self, jobs: &[JobSection], network: &Network, notes: &mut Notes) {
        let weights = jobs.iter().filter_map(|job| job.spec.weight.as_ref());
        if let Some(weight) = weights.into_iter().find(|weight| ***weight != 1.0) {
            notes.extend_at(network.refuses_weights("jobs"), weight.span());
        }
    }

    /// Returns the sections of the work of a job: its own workload and seed, with the common remaining
    /// sections.
    fn of_job(&self, index: usize, section: &JobSection) -> Self {
        let mut own = self.clone();
        own.workload = section.workload.clone();
        // Ranks are placed separately, for all jobs together.
        own.placement = Section::Absent;
        // Slow processors are a property of all ranks together.
        (own.noise, own.stragglers) = (Section::Absent, Section::Absent);
        own.estimate = Section::Absent;
        if index > 0 {
            let at = self.seed.span().or(section.at()).unwrap_or(Span::new(0, 0));
            own.seed = Section::Is(seed_of_job(self.seed(), index), at);
        }
        own
    }

    /// Builds a job. `left` is the number of nodes that are left for it.
    fn job<'a>(
        &self,
        index: usize,
        section: &'a JobSection,
        routed: &RoutedFabric,
        left: u32,
        notes: &mut Notes,
    ) -> Option<BuiltJob<'a>> {
        let JobSpec { name, ranks, .. } = &section.spec;
        let repeat = section.repeat(&mut notes.diagnostics);
        let weight = section.weight(&mut notes.diagnostics);
        if let Some(none) = ranks.as_ref().filter(|ranks| ***ranks == 0) {
            let diagnostic = Diagnostic::new("wrong-value", format!("job `{}` has no ranks", **name)).at_value(none);
            notes.push(diagnostic.label("one at least"));
            return None;
        }
        let so_many = ranks.as_deref().copied().unwrap_or(left);
        let own = self.of_job(index, section);
        let known = match section.workload.get() {
            Some(WorkloadSpec::Pattern(spec)) if spec.knows_fabric() => Some(spec.ranks().unwrap_or(so_many)),
            _ => None,
        };
        let offered = section.offered(&mut notes.diagnostics);
        let knows_fabric = known.is_some() && offered.is_none();
        let of_ranks = ranks.as_ref().and_then(Located::span);
        let task = match offered {
            Some(OfferedLoad { load, bytes }) => {
                if so_many < 2 {
                    let message = format!("job `{}` needs two ranks at least, to send to each other", **name);
                    notes.push(Diagnostic::new("too-few-ranks", message).at(of_ranks.or(section.at())));
                    return None;
                }
                JobWork::Load { ranks: so_many, load, bytes }
            }
            None => {
                if left == 0 && ranks.is_none() {
                    let message = format!("no node is left for job `{}`", **name);
                    notes.push(Diagnostic::new("too-many-ranks", message).at(section.at()));
                    return None;
                }
                match known {
                    Some(ranks) => JobWork::Load { ranks, load: 0.0, bytes: 0 },
                    None => own.task(section, routed, so_many, notes)?,
                }
            }
        };
        if let Some(ranks) = ranks.as_ref().filter(|ranks| ***ranks != task.ranks()) {
            let message = format!("job `{}` has {} ranks, and its workload {}", **name, **ranks, task.ranks());
            let diagnostic = Diagnostic::new("wrong-value", message).at_value(ranks);
            notes.push(diagnostic.help("leave `ranks` out: the workload sets their number"));
        }
        let (placement, placement_at) = match (&section.spec.placement, &self.placement) {
            (Some(placement), _) => (placement.clone(), section.placement_at),
            (None, Section::Is(placement, at)) => (placement.clone(), Some(*at)),
            (None, _) => (PlacementSpec::default(), of_ranks.or(section.at())),
        };
        Some(BuiltJob { section, task, knows_fabric, repeat, weight, placement, placement_at, sections: own })
    }

    /// Builds the work of a job with `ranks` ranks.
    fn task(&self, section: &JobSection, routed: &RoutedFabric, ranks: u32, notes: &mut Notes) -> Option<JobWork> {
        match &section.workload {
            Section::Broken => None,
            // A name or file of the workload that does not exist has been reported.
            Section::Absent
                if notes.diagnostics.iter().any(|known| matches!(known.code, "unknown-name" | "missing-file")) =>
            {
                None
            }
            Section::Absent => {
                let message = format!("job `{}` does nothing", *section.spec.name);
                let help = "write a table like [job.workload.all-to-all] below it, or `load = \"10 %\"`";
                notes.push(Diagnostic::new("missing-key", message).at(section.at()).help(help));
                None
            }
            Section::Is(WorkloadSpec::Pattern(_), _) => self.pattern_task(&ranks, notes),
            Section::Is(WorkloadSpec::Program(program), _) => {
                if let ProgramSpec::ProgramData(spec) = program
                    && let Some(communication) = &spec.communication
                {
                    let message = "`communication` is a network of its own, and jobs share a fabric";
                    notes.refuse(message, communication.span(), "leave it out");
                    return None;
                }
                // Only its calls: the fabric is that of all jobs.
                let mut alone = self.clone();
                (alone.topology, alone.routing, alone.transport) = (Section::Absent, Section::Absent, Section::Absent);
                (alone.sharing, alone.faults) = (Section::Absent, Section::Absent);
                let scenario = notes.loaded(alone.program(program, notes.apart()))?;
                let whole = scenario.work().clone().with_micro_batches(u64::MAX).map_err(|mistake| vec![mistake]);
                Some(JobWork::Program(Box::new(notes.taken(whole, section.at())?)))
            }
            Section::Is(WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)), at) => {
                let mut alone = self.clone();
                // (The costs at the ends depend on the presence of a fabric; its free nodes do not matter here.)
                alone.routing = Section::Is(routed.routing.clone(), *at);
                let farm = notes.loaded(alone.farm(spec, notes.apart()))?;
                match &farm.points[..] {
                    [point] => Some(JobWork::Farm(Box::new(point.work().clone()))),
                    points => {
                        let message = format!("a job is one farm, and this one is tried in {} ways", points.len());
                        let diagnostic = Diagnostic::new("too-many-points", message).at(*at);
                        notes.push(diagnostic.help("give one number of workers, and no `vary`"));
                        None
                    }
                }
            }
        }
    }

    /// Builds a pattern, as a program if its calls cost something.
    fn pattern_task(&self, ground: &dyn FabricInfo, notes: &mut Notes) -> Option<JobWork> {
        let work = self.work(ground, notes)?;
        if self.node.get().is_none_or(|node| node.facts().is_ideal) {
            return Some(JobWork::Pattern(Box::new(work.into_work(&notes.sources))));
        }
        let (_, program) = self.program_of(work, notes)?;
        Some(JobWork::Program(Box::new(program)))
    }

    /// Checks that at least one job ends.
    fn check_ends(&self, jobs: &[BuiltJob<'_>], routed: &RoutedFabric, notes: &mut Notes) {
        if let Some(first) = jobs.first()
            && jobs.iter().all(|job| job.repeat == Repeat::Background(None))
        {
            let spec = &first.section.spec;
            let of_load = spec.load.as_ref().and_then(Located::span);
            let at = spec.background.as_ref().and_then(Located::span).or(of_load).or(first.section.at());
            let message = format!("job `{}` never ends, and neither does any other", *spec.name);
            let help = "give it an end (`until = \"1 s\"`), or add a job that ends";
            notes.push(Diagnostic::new("endless", message).at(at).help(help));
        }
        let concern_runs = routed.faults.as_ref().is_some_and(|faults| faults.concern_runs());
        if let Some(job) = jobs.iter().find(|job| concern_runs && job.repeat == Repeat::Background(None)) {
            let spec = &job.section.spec;
            let message =
                format!("job `{}` runs until the others end, and failed links may keep them from ending", *spec.name);
            let of_load = spec.load.as_ref().and_then(Located::span);
            let at = spec.background.as_ref().and_then(Located::span).or(of_load).or(self.faults.span());
            let help = "give it an end (`until = \"1 s\"`), or let fewer links fail, and from the start";
            notes.push(Diagnostic::new("faults-misfit", message).at(at).help(help));
        }
        let fastest = routed.fabric.links().iter().map(|link| link.capacity.bytes_per_second()).fold(0.0, f64::max);
        // Background traffic continues at least until the last other job has begun.
        let ends = jobs.iter().filter(|job| !job.repeat.is_background());
        let waits = ends.flat_map(|job| [&job.section.spec.start, &job.section.spec.think_time]);
        let longest = waits.reduce(|longest, wait| if **wait > **longest { wait } else { longest });
        for job in jobs {
            let spec = &job.section.spec;
            if let Some((until, times)) =
                times_until(job, fastest, longest).filter(|(_, times)| *times > f64::from(u32::MAX))
            {
                let message = format!("job `{}` would be done more than {times:.0e} times", *spec.name);
                let diagnostic = Diagnostic::new("too-large", message).at_value(until);
                let label = format!("at most {} times are possible", grouped(u32::MAX.into()));
                notes.push(diagnostic.label(label).help("end it earlier"));
            }
            let JobWork::Pattern(work) = &job.task else { continue };
            let is_open = matches!(job.repeat, Repeat::Until(_) | Repeat::TimesUntil(..) | Repeat::Background(_));
            if is_open && work.messages() == 0 && *spec.think_time == Time::ZERO {
                let message = format!("job `{}` sends nothing, and would be done for ever at once", *spec.name);
                let at = spec.until.as_ref().and_then(Located::span).or(job.section.at());
                let help = "give it messages, or a `think-time`";
                notes.push(Diagnostic::new("endless", message).at(at).help(help));
            }
        }
    }

    /// Checks that the messages of each job have routes and fit in memory.
    fn check_each(&self, jobs: &[BuiltJob<'_>], network: &Network, notes: &mut Notes) {
        let mut first = 0;
        for job in jobs {
            let ranks = job.task.ranks() as usize;
            let nodes = network.placement.as_slice().get(first..first + ranks).unwrap_or_default();
            let own = network.with_placement(nodes.to_vec().into());
            first += ranks;
            match &job.task {
                JobWork::Pattern(pattern) => {
                    let Some(spec) = pattern.pattern_spec() else { continue };
                    let written = Specifications { routing: self.routing.get().cloned(), ..Specifications::default() };
                    let system = System::built(Some(own.clone()), written, self.seed());
                    let workload = Workload { workload: spec.clone(), pattern: pattern.pattern.clone() };
                    job.sections.check_routes(&system, &workload, notes);
                    if notes.is_clean() {
                        notes.diagnostics.extend(guard::check(&own, pattern));
                    }
                }
                JobWork::Program(_) | JobWork::Farm(_) | JobWork::Load { .. } => {
                    self.check_all_routes(&own, notes);
                }
            }
        }
    }
}

/// Checks that each name occurs only once.
fn check_names(jobs: &[JobSection], at: Option<Span>, notes: &mut Notes) {
    if jobs.is_empty() && notes.is_clean() {
        notes.push(Diagnostic::new("missing-key", "there is no job").help("write a table [[job]]").at(at));
    }
    let mut met = FxHashSet::default();
    for job in jobs {
        let name = &job.spec.name;
        if name.is_empty() || name.contains(['.', '=', '"', '\n']) {
            let diagnostic =
                Diagnostic::new("wrong-value", format!("`{}` is not a name of a job", **name)).at_value(name);
            notes.push(diagnostic.help("take letters, digits and hyphens"));
        }
        if !met.insert(&***name) {
            let message = format!("there are two jobs `{}`", **name);
            notes.push(Diagnostic::new("duplicate-name", message).at_value(name).label("the second one"));
        }
    }
}

/// Returns the end of a job, and an upper bound for its repetitions (or messages of background traffic) until
/// then. `fastest` is the bandwidth of the fastest link \[B/s\], and `longest` the time for which endless
/// background runs.
fn times_until<'a>(
    job: &BuiltJob<'a>,
    fastest: f64,
    longest: Option<&'a Located<Time>>,
) -> Option<(&'a Located<Time>, f64)> {
    let spec = &job.section.spec;
    let bytes = match &job.task {
        JobWork::Pattern(work) => work.pattern.mean_bytes() as f64 * work.messages() as f64 / f64::from(work.ranks()),
        JobWork::Load { load, bytes, .. } => *bytes as f64 / load,
        JobWork::Program(_) | JobWork::Farm(_) => return None,
    };
    let until = match job.repeat {
        Repeat::Background(None) => longest?,
        _ => spec.until.as_ref().filter(|_| spec.repeat.is_none())?,
    };
    let each = bytes / fastest + spec.think_time.seconds();
    (each > 0.0).then(|| (until, (**until - *spec.start).seconds() / each))
}

fn place(job: &BuiltJob<'_>) -> JointPart {
    JointPart {
        name: job.section.spec.name.to_string(),
        ranks: job.task.ranks(),
        placement: job.placement.clone(),
        at: job.placement_at,
    }
}

/// Returns a job with its specification.
fn into_job(built: BuiltJob<'_>, sources: &Sources) -> Job {
    let BuiltJob { section, task, repeat, weight, placement, .. } = built;
    let mut spec = section.spec.clone();
    let mut of_placement = Specifications { placement: Some(placement.clone()), ..Specifications::default() };
    paths::settle(&mut of_placement, sources);
    spec.placement = of_placement.placement;
    let mut written = serde_json::to_value(&spec).unwrap_or_default();
    let workload = task.spec().and_then(|spec| serde_json::to_value(spec).ok());
    if let (Some(map), Some(workload)) = (written.as_object_mut(), workload) {
        map.insert("workload".to_owned(), workload);
    }
    drop_nulls(&mut written);
    if let (Some(map), JobWork::Load { .. }) = (written.as_object_mut(), &task) {
        // Traffic that never ends has no time to its next beginning.
        map.remove("think-time");
    }
    Job {
        name: spec.name.to_string(),
        task,
        placement: placement.name().to_owned(),
        start: *spec.start,
        repeat,
        think: *spec.think_time,
        weight,
        written: Some(written),
    }
}
