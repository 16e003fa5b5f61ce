//! Runs of a load, with a look at the clock at either end of its window.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Load;
use super::clock::Moment;
use super::loads::{Window, Work};
use hayase::diagnostic::Invalid;
use hayase::engine::{Progress, Watch};
use hayase::ids::{IdVec, MessageId, NodeId, RankId};
use hayase::program::generate::Generator;
use hayase::report::{Measurement, Status};
use hayase::rng::Stream;
use hayase::routing::{Path, StartingMessage, UnderWay};
use hayase::scenario::Loader;
use hayase::simulation::{ProgramWork, RunOptions};

/// Shortest processor time that can be measured \[ns\]: shorter runs are repeated, and their mean is taken.
const LEAST_NS: f64 = 1e8;

/// Part of a load that is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Length {
    /// As the load says.
    #[default]
    Usual,
    /// This number of messages after its start, if it has a window.
    Messages(u64),
    /// To its end.
    Whole,
}

impl Load {
    /// Runs the load once and measures the cost of its messages; `None` if `stop` was set before the end.
    ///
    /// Of a load that runs to its end, the whole run is measured, as often as it fits into a tenth of a
    /// second. The scenario is read and the fabric built before.
    ///
    /// # Errors
    /// The load does not fit in memory.
    pub fn measure(&self, length: Length, stop: Option<&AtomicBool>) -> Result<Option<Measurement>, Invalid> {
        match &self.work {
            Work::Program(rule) => return self.measure_program(rule, stop),
            Work::Routes { fabric, rule } => return measure_routes(fabric, rule, stop),
            Work::Text | Work::Uniform { .. } => {}
        }
        let scenario = self.scenario()?;
        let window = match (self.window, length) {
            (_, Length::Whole) | (None, _) => None,
            (Some(window), Length::Usual) => Some(window),
            (Some(window), Length::Messages(messages)) => Some(Window { messages, ..window }),
        };
        let stopwatch = Stopwatch { window, stop, seen: Mutex::default() };
        let nodes = scenario.system().network().map_or(0, |network| network.fabric.nodes());
        let measurement = |messages, cpu_ns, wall_ns| Measurement {
            nodes,
            messages,
            cpu_ns,
            wall_ns,
            peak_rss_bytes: hayase::base::memory::peak(),
        };
        let start = Moment::now();
        let mut runs = 0.0;
        loop {
            let run = scenario.run(RunOptions { watch: Some(&stopwatch), ..RunOptions::default() });
            let (cpu_ns, wall_ns) = Moment::now().since(start);
            runs += 1.0;
            let seen = stopwatch.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some((before, first)), Some((after, last))) = (seen.first, seen.last) {
                let (cpu_ns, wall_ns) = last.since(first);
                return Ok(Some(measurement(after - before, cpu_ns, wall_ns)));
            }
            if run.report.head.status != Status::Complete {
                return Ok(None);
            }
            // Also if the window was longer than the run.
            if cpu_ns >= LEAST_NS || window.is_some() {
                return Ok(Some(measurement(run.report.head.messages, cpu_ns / runs, wall_ns / runs)));
            }
        }
    }

    /// Measures a program by rule, which is put together before; its events are counted.
    fn measure_program(&self, rule: &str, stop: Option<&AtomicBool>) -> Result<Option<Measurement>, Invalid> {
        let invalid = |diagnostics| Invalid { diagnostics, ..Invalid::default() };
        let generator = Generator::parse(rule).map_err(|diagnostic| invalid(vec![diagnostic]))?;
        let program = Arc::new(generator.program().map_err(invalid)?);
        let nodes = program.ranks();
        let replay = Loader::new()
            .node("loggopsim")
            .machine("loggopsim")
            .load_program(ProgramWork::new(program, self.name()))?;
        let start = Moment::now();
        let (mut runs, mut events) = (0.0, 0);
        loop {
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(None);
            }
            events = replay.run(RunOptions::default()).report.meta.events.max(events);
            runs += 1.0;
            let (cpu_ns, wall_ns) = Moment::now().since(start);
            if cpu_ns >= LEAST_NS {
                let (cpu_ns, wall_ns) = (cpu_ns / runs, wall_ns / runs);
                return Ok(Some(Measurement {
                    nodes,
                    messages: events,
                    cpu_ns,
                    wall_ns,
                    peak_rss_bytes: hayase::base::memory::peak(),
                }));
            }
        }
    }
}

/// Number of pairs of nodes whose routes are requested again and again: more than caches hold of the tables
/// of large fabrics.
const PAIRS: u32 = 1 << 16;

/// Measures requests for routes between random nodes, all of them once before. Rules that choose find nothing
/// under way.
fn measure_routes(fabric: &str, rule: &str, stop: Option<&AtomicBool>) -> Result<Option<Measurement>, Invalid> {
    let network = Loader::new().topology(fabric).routing(rule).load_topology()?;
    let nodes = network.fabric.nodes();
    let mut random = Stream::new(1, "routes");
    let mut node = || NodeId(random.below(nodes.into()) as u32);
    let pairs: Vec<(NodeId, NodeId)> = (0..PAIRS).map(|_| (node(), node())).collect();
    let under_way: UnderWay = IdVec::filled(network.fabric.links().len(), 0);
    let (mut path, mut links) = (Path::default(), 0);
    let mut all = || {
        for (index, &(src, dst)) in (0..).zip(&pairs) {
            path.clear();
            match network.router.choice() {
                None => network.router.route(src, dst, &mut path.links),
                Some(choice) if src != dst => {
                    let message = MessageId { src: RankId(src.0), index };
                    choice.choose(StartingMessage { src, dst, message }, &under_way, &mut path);
                }
                Some(_) => {}
            }
            links += path.links.len();
        }
        // Unused results need not be computed.
        std::hint::black_box(links);
    };
    all();
    let start = Moment::now();
    let mut runs = 0;
    loop {
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Ok(None);
        }
        all();
        runs += 1;
        let (cpu_ns, wall_ns) = Moment::now().since(start);
        if cpu_ns >= LEAST_NS {
            let messages = runs * u64::from(PAIRS);
            return Ok(Some(Measurement {
                nodes,
                messages,
                cpu_ns,
                wall_ns,
                peak_rss_bytes: hayase::base::memory::peak(),
            }));
        }
    }
}

/// Looks at the clock when the window opens and when it closes, and ends the run then.
struct Stopwatch<'a> {
    window: Option<Window>,
    stop: Option<&'a AtomicBool>,
    seen: Mutex<WindowEnds>,
}

/// Messages delivered, and the time, at either end of the window.
#[derive(Default)]
struct WindowEnds {
    first: Option<(u64, Moment)>,
    last: Option<(u64, Moment)>,
}

impl Watch for Stopwatch<'_> {
    fn tick(&self, progress: Progress) -> bool {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return false;
        }
        let Some(Window { skip, messages }) = self.window else { return true };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.first {
            None if progress.delivered >= skip => seen.first = Some((progress.delivered, Moment::now())),
            Some((before, _)) if progress.delivered >= before.saturating_add(messages) => {
                seen.last = Some((progress.delivered, Moment::now()));
                return false;
            }
            _ => {}
        }
        true
    }
}
