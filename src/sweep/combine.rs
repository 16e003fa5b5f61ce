//! The points of a sweep, and what the runs of one point give together.

use super::{Outcome, Point, Sweep};
use crate::diagnostic::{At, Diagnostic, Invalid, Sources};
use crate::output::table::grouped;
use crate::report::{Bounds, ComparisonRow, SeedStatistics};
use crate::scenario::{Loader, Scenario};
use crate::workload::WorkloadSpec;
use crate::workload::pattern::PatternSpec;

/// One combination; `None` leaves the choice to the base.
pub(super) struct Choice<'a> {
    topology: Option<&'a str>,
    pattern: Option<&'a str>,
    placement: Option<&'a str>,
    sharing: Option<&'a str>,
    transport: Option<&'a str>,
    routing: Option<&'a str>,
    injection: Option<&'a str>,
}

/// Every combination; patterns change fastest.
pub(super) fn choices(sweep: &Sweep) -> Vec<Choice<'_>> {
    let mut all = Vec::new();
    for topology in each(&sweep.topologies) {
        for placement in each(&sweep.placements) {
            for sharing in each(&sweep.sharings) {
                for transport in each(&sweep.transports) {
                    for routing in each(&sweep.routings) {
                        for injection in each(&sweep.injections) {
                            for pattern in each(&sweep.patterns) {
                                all.push(Choice {
                                    topology,
                                    pattern,
                                    placement,
                                    sharing,
                                    transport,
                                    routing,
                                    injection,
                                });
                            }
                        }
                    }
                }
            }
        }
    }
    all
}

/// The items, or once the choice of the base.
fn each(items: &[String]) -> Vec<Option<&str>> {
    if items.is_empty() { vec![None] } else { items.iter().map(|item| Some(item.as_str())).collect() }
}

impl Choice<'_> {
    /// The texts of this combination.
    pub fn loader(&self, sweep: &Sweep) -> Loader {
        let mut loader = sweep.base.clone();
        if let Some(&seed) = sweep.seeds.first() {
            loader = loader.seed(seed);
        }
        let add = |loader: Loader, value: Option<&str>, with: fn(Loader, &str) -> Loader| match value {
            Some(value) => with(loader, value),
            None => loader,
        };
        loader = add(loader, self.topology, Loader::topology);
        loader = add(loader, self.pattern, Loader::pattern);
        loader = add(loader, self.placement, Loader::placement);
        loader = add(loader, self.sharing, Loader::sharing);
        loader = add(loader, self.transport, Loader::transport);
        loader = add(loader, self.routing, Loader::routing);
        add(loader, self.injection, Loader::injection)
    }

    /// Whether this is a transport that knows no sharing policy, which another policy of the list has brought already.
    pub fn is_repeated(&self, scenario: &Scenario, sharings: &[String]) -> bool {
        let own = scenario.network.transport.is_flow() && !self.transport.is_some_and(|name| name.contains(':'));
        !own && self.sharing.is_some() && self.sharing != sharings.first().map(String::as_str)
    }

    /// The point of this combination.
    pub fn point(&self, scenario: Scenario, seeds: &[u64]) -> Point {
        let seeds = match seeds {
            [] => vec![scenario.seed],
            [first, ..] if !scenario.depends_on_seed() => vec![*first],
            all => {
                // Each seed once.
                let mut distinct: Vec<u64> = Vec::new();
                distinct.extend(
                    all.iter().enumerate().filter(|(i, seed)| !all[..*i].contains(seed)).map(|(_, seed)| *seed),
                );
                distinct
            }
        };
        let name = |named: Option<&str>, other: String| named.map_or(other, str::to_owned);
        let chosen = |choice: serde_json::Value| {
            choice.as_object().and_then(|map| map.keys().next().cloned()).unwrap_or_default()
        };
        let json = scenario.file.to_json();
        let choice = |key: &str| chosen(json.get(key).cloned().unwrap_or_default());
        Point {
            topology: name(self.topology, scenario.network.fabric.name().to_owned()),
            pattern: name(self.pattern, scenario.workload_name.clone()),
            placement: name(self.placement, choice("placement")),
            sharing: if scenario.network.transport.is_flow() {
                scenario.network.sharing.name().to_owned()
            } else {
                String::new()
            },
            transport: scenario.network.transport.name(),
            routing: name(self.routing, choice("routing")),
            injection: scenario.injection.to_string(),
            scenario,
            seeds,
        }
    }

    /// What it is, for messages.
    pub fn name(&self) -> String {
        let on = self.topology.map(|name| format!("on {name}")).unwrap_or_default();
        let rest = [self.placement, self.sharing, self.transport, self.routing, self.injection]
            .into_iter()
            .flatten()
            .map(str::to_owned);
        let all = self.pattern.map(str::to_owned).into_iter().chain((!on.is_empty()).then_some(on)).chain(rest);
        all.collect::<Vec<_>>().join(", ")
    }
}

/// The mistakes of several points, each said once.
#[derive(Default)]
pub(super) struct Mistakes {
    found: Vec<(Diagnostic, Vec<String>)>,
    sources: Sources,
}

impl Mistakes {
    /// Adds those of one point.
    pub fn add(&mut self, point: &str, invalid: &Invalid) {
        for diagnostic in &invalid.diagnostics {
            // Each point has texts of its own: places that hold without them.
            let mut placed = diagnostic.clone();
            placed.at = match diagnostic.place(&invalid.sources) {
                Some(place) => At::Place(Box::new(place)),
                None => At::Nowhere,
            };
            match self.found.iter_mut().find(|(known, _)| *known == placed) {
                Some((_, points)) => points.push(point.to_owned()),
                None => self.found.push((placed, vec![point.to_owned()])),
            }
        }
    }

    /// Nothing, or all mistakes with the points they belong to.
    pub fn none(self) -> Result<(), Invalid> {
        if self.found.is_empty() {
            return Ok(());
        }
        let diagnostics = self.found.into_iter().map(|(mut diagnostic, points)| {
            let more = points.len() - 1;
            let points = match (points.first().map_or("", String::as_str), more) {
                ("", _) => return diagnostic,
                (first, 0) => first.to_owned(),
                (first, more) => format!("{first} and {more} more"),
            };
            diagnostic.message = format!("{points}: {}", diagnostic.message);
            diagnostic
        });
        Err(Invalid { diagnostics: diagnostics.collect(), sources: self.sources })
    }
}

/// What the runs of a point give together; at least one.
pub(super) fn row(point: &Point, runs: &[Outcome]) -> ComparisonRow {
    let n = runs.len() as f64;
    let seeds = runs.iter().map(|outcome| outcome.seed).collect();
    let mut makespan = SeedStatistics::new(seeds, runs.iter().map(|outcome| outcome.run.report.makespan_s).collect());
    makespan.missing = point.seeds.len() - runs.len();
    let mean = |of: fn(&Bounds) -> f64| runs.iter().map(|outcome| of(&outcome.run.report.bounds)).sum::<f64>() / n;
    let where_known = |of: fn(&Bounds) -> Option<f64>| {
        let all = runs.iter().map(|outcome| of(&outcome.run.report.bounds)).sum::<Option<f64>>();
        all.map(|sum| sum / n)
    };
    let bounds = Bounds {
        injection_s: mean(|bounds| bounds.injection_s),
        busiest_link_s: mean(|bounds| bounds.busiest_link_s),
        bisection_s: where_known(|bounds| bounds.bisection_s),
        path_s: where_known(|bounds| bounds.path_s),
    };
    let mut fingerprint = blake3::Hasher::new();
    for outcome in runs {
        fingerprint.update(outcome.run.report.fingerprint.as_bytes()).update(b"\n");
    }
    let first = &runs[0].run.report;
    ComparisonRow {
        topology: point.topology.clone(),
        placement: point.placement.clone(),
        sharing: point.sharing.clone(),
        transport: point.transport.clone(),
        packet_hops: first.meta.packet_hops,
        routing: point.routing.clone(),
        injection: point.injection.clone(),
        pattern: point.pattern.clone(),
        ratio_to_bound: ratio(makespan.mean_s, bounds.largest()),
        job: job(&point.scenario, first.bytes),
        // Where it stands is known when all are there.
        ratio_to_best: 1.0,
        place: 1,
        tied: false,
        makespan,
        messages: first.messages,
        bytes: first.bytes,
        bounds,
        wall_s: runs.iter().map(|outcome| outcome.run.report.meta.wall_s).sum::<f64>() / n,
        fingerprint: match runs {
            [only] => only.run.report.fingerprint.clone(),
            _ => fingerprint.finalize().to_hex()[..16].to_owned(),
        },
    }
}

/// What a scenario does, by a name that all have that do the same: collective operations by their kind and size, whatever an algorithm
/// sends for it; other patterns by the data that they move.
fn job(scenario: &Scenario, bytes: u64) -> String {
    let ranks = scenario.pattern.ranks();
    let workload = &scenario.file.workload;
    let collective = match workload {
        WorkloadSpec::Pattern(
            PatternSpec::AllToAll(_)
            | PatternSpec::Allgather(_)
            | PatternSpec::Allreduce(_)
            | PatternSpec::Broadcast(_),
        ) => {
            let json = serde_json::to_value(workload).unwrap_or_default();
            let table = json.as_object().and_then(|tables| tables.iter().next());
            table.and_then(|(name, table)| Some(format!("{name} of {}", table["size"].as_str()?)))
        }
        _ => None,
    };
    format!("{} among {ranks} ranks", collective.unwrap_or_else(|| format!("{} B", grouped(bytes))))
}

/// `a / b`, and 1 where both are nothing.
fn ratio(a: f64, b: f64) -> f64 {
    if a == b { 1.0 } else { a / b }
}
