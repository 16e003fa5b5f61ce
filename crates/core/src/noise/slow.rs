//! The effect of the tables of noise and stragglers on ranks.

use super::spec::{Distribution, NoiseSpec, Phase, StragglerSpec};
use crate::base::portable::ln;
use crate::diagnostic::{Diagnostic, Located};
use crate::rng::{Mix, Stream};

/// Ranks, nodes and jobs to which tables of noise and stragglers apply.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoiseContext<'a> {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of nodes, and the node of each rank; `None` if there are no nodes.
    pub nodes: Option<(u32, &'a [u32])>,
    /// Name and number of ranks of each job, in the order of their ranks, if there are several jobs.
    pub jobs: &'a [(&'a str, u32)],
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Speed of a rank for a while.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Window {
    /// Start \[ps\].
    pub from: f64,
    /// End \[ps\].
    pub until: f64,
    pub speed: f64,
}

/// Speeds and stops of slow ranks.
#[derive(Clone, Debug)]
pub struct Slow {
    ranks: u32,
    /// Windows of each rank in order of time; between them a rank has the speed 1. Empty without stragglers.
    speeds: Vec<Vec<Window>>,
    /// Ranks that ever have another speed than 1, ascending.
    stragglers: Vec<u32>,
    pub(super) noise: Option<Stops>,
}

/// The stops of all ranks.
#[derive(Clone, Debug)]
pub(super) struct Stops {
    /// Mean length of a stop \[ps\].
    pub length: f64,
    /// Time between the beginnings of two stops \[ps\]; `None` for one stop per calculation.
    pub period: Option<f64>,
    pub distribution: Distribution,
    lengths: Mix,
    phases: Option<Mix>,
    /// Set for each rank that has stops; empty if all ranks have.
    has: Vec<bool>,
}

impl Stops {
    /// Returns true if a rank has stops.
    pub fn has(&self, rank: u32) -> bool {
        self.has.is_empty() || self.has[rank as usize]
    }

    /// Returns the length of the stop with this number \[ps\].
    pub fn length(&self, rank: u32, number: u64) -> f64 {
        let unit = || self.lengths.two_unit(u64::from(rank), number);
        match self.distribution {
            Distribution::Fixed => self.length,
            Distribution::Uniform => 2.0 * self.length * unit(),
            Distribution::Exponential => -self.length * ln(1.0 - unit()),
        }
    }

    /// Returns the beginning of stop 0 of a rank within the period \[ps\].
    pub fn phase(&self, rank: u32) -> f64 {
        let unit = self.phases.map_or(0.0, |mix| mix.one_unit(u64::from(rank)));
        unit * self.period.unwrap_or(0.0)
    }
}

impl Slow {
    /// Returns the effect of these tables; `None` if they slow no rank.
    ///
    /// # Errors
    /// All mistakes in the tables: noise that stops a rank for ever, ranks that do not exist, ranks that are
    /// slow twice at the same time.
    pub fn new(
        noise: Option<&NoiseSpec>,
        stragglers: &[Located<StragglerSpec>],
        context: &NoiseContext<'_>,
    ) -> Result<Option<Self>, Vec<Diagnostic>> {
        let mut mistakes = Vec::new();
        let noise = noise.and_then(|noise| stops(noise, context, &mut mistakes));
        let mut speeds = vec![Vec::new(); if stragglers.is_empty() { 0 } else { context.ranks as usize }];
        for (number, straggler) in stragglers.iter().enumerate() {
            add(straggler, number, context, &mut speeds, &mut mistakes);
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        // A window of speed 1 would only add rounding errors.
        speeds.iter_mut().for_each(|windows| windows.retain(|window| window.speed != 1.0));
        let slow: Vec<u32> =
            (0..).zip(&speeds).filter(|(_, windows)| !windows.is_empty()).map(|(rank, _)| rank).collect();
        if slow.is_empty() && noise.is_none() {
            return Ok(None);
        }
        Ok(Some(Self { ranks: context.ranks, speeds, stragglers: slow, noise }))
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Returns the ranks that ever have another speed than 1.
    pub fn stragglers(&self) -> &[u32] {
        &self.stragglers
    }

    /// Returns true if there is noise.
    pub fn has_noise(&self) -> bool {
        self.noise.is_some()
    }

    /// Returns the speed of a rank if it is constant.
    pub fn constant_speed(&self, rank: u32) -> Option<f64> {
        match self.windows(rank) {
            [] => Some(1.0),
            [one] if one.from <= 0.0 && one.until == f64::INFINITY => Some(one.speed),
            _ => None,
        }
    }

    /// Returns the highest speed that a rank ever has.
    pub fn highest_speed(&self, rank: u32) -> f64 {
        let highest = self.windows(rank).iter().map(|window| window.speed).fold(0.0, f64::max);
        self.constant_speed(rank).unwrap_or(highest.max(1.0))
    }

    fn windows(&self, rank: u32) -> &[Window] {
        self.speeds.get(rank as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the end of work that begins at this time, without stops \[ps\].
    pub(super) fn unstopped(&self, rank: u32, begin: f64, work: f64) -> f64 {
        let (mut now, mut left) = (begin, work);
        for window in self.windows(rank).iter().filter(|window| window.until > begin) {
            if window.from > now {
                let before = window.from - now;
                if left <= before {
                    return now + left;
                }
                left -= before;
                now = window.from;
            }
            let end = now + left / window.speed;
            if end <= window.until {
                return end;
            }
            left -= (window.until - now) * window.speed;
            now = window.until;
        }
        now + left
    }

    /// Returns the work done between two times, without stops \[ps\].
    pub(super) fn done(&self, rank: u32, begin: f64, end: f64) -> f64 {
        let more = |window: &Window| {
            let within = window.until.min(end) - window.from.max(begin);
            if within > 0.0 { within * (window.speed - 1.0) } else { 0.0 }
        };
        (end - begin) + self.windows(rank).iter().map(more).sum::<f64>()
    }
}

/// Returns the stops of a table; `None` if they take no time.
fn stops(spec: &NoiseSpec, context: &NoiseContext<'_>, mistakes: &mut Vec<Diagnostic>) -> Option<Stops> {
    mistakes.extend(spec.check());
    let mut has = Vec::new();
    if let Some(ranks) = &spec.ranks {
        match ranks.largest() {
            None => mistakes.push(Diagnostic::new("wrong-value", "noise on no rank").at_value(ranks)),
            Some(largest) if largest >= context.ranks => {
                mistakes.push(unknown("rank", largest, context.ranks).at_value(ranks));
            }
            Some(_) => {
                has = vec![false; context.ranks as usize];
                ranks.all().for_each(|rank| has[rank as usize] = true);
            }
        }
    }
    if spec.length.ps() <= 0.0 {
        return None;
    }
    let seed = spec.seed.unwrap_or(context.seed);
    let random = spec.phase.as_deref().copied().unwrap_or_default() == Phase::Random;
    Some(Stops {
        length: spec.length.ps(),
        period: spec.period.as_ref().map(|period| period.ps()),
        distribution: spec.distribution,
        lengths: Mix::new(seed, "noise"),
        phases: random.then(|| Mix::new(seed, "noise phase")),
        has,
    })
}

fn unknown(what: &str, number: u32, of: u32) -> Diagnostic {
    let last = of.saturating_sub(1);
    Diagnostic::new("unknown-rank", format!("there is no {what} {number} among {of}"))
        .label(format!("{what}s are 0 to {last}"))
}

/// Adds the window of a straggler to the speeds of its ranks.
fn add(
    spec: &Located<StragglerSpec>,
    number: usize,
    context: &NoiseContext<'_>,
    speeds: &mut [Vec<Window>],
    mistakes: &mut Vec<Diagnostic>,
) {
    let before = mistakes.len();
    let Some(ranks) = ranks_of(spec, number, context, mistakes) else { return };
    let from = spec.start.as_ref().map_or(0.0, |start| start.ps());
    let until = spec.until.as_ref().map_or(f64::INFINITY, |until| until.ps());
    if let Some(end) = spec.until.as_ref().filter(|_| until <= from) {
        let diagnostic = Diagnostic::new("wrong-value", "a straggler that ends before it begins").at_value(end);
        mistakes.push(diagnostic.label("later than `start`"));
    }
    if mistakes.len() > before {
        return;
    }
    let window = Window { from, until, speed: spec.speed.0 };
    for rank in ranks {
        let windows = &mut speeds[rank as usize];
        if windows.iter().any(|other| other.from < until && from < other.until) {
            let diagnostic = Diagnostic::new("two-choices", format!("rank {rank} is slow twice at the same time"));
            let diagnostic =
                diagnostic.label("the second time").help("leave one of them out, or give them times apart");
            mistakes.push(diagnostic.at_value(spec));
            return;
        }
        let at = windows.partition_point(|other| other.from < from);
        windows.insert(at, window);
    }
}

/// Returns the ranks of a straggler.
fn ranks_of(
    spec: &Located<StragglerSpec>,
    number: usize,
    context: &NoiseContext<'_>,
    mistakes: &mut Vec<Diagnostic>,
) -> Option<Vec<u32>> {
    let (first, of) = match &spec.job {
        None => (0, context.ranks),
        Some(job) => {
            let mut before = 0;
            let mut found = None;
            for (name, ranks) in context.jobs {
                if *name == job.as_str() {
                    found = Some((before, *ranks));
                }
                before += ranks;
            }
            let names: Vec<&str> = context.jobs.iter().map(|(name, _)| *name).collect();
            let Some(found) = found else {
                let diagnostic = Diagnostic::new("unknown-name", format!("there is no job `{}`", **job)).at_value(job);
                mistakes.push(match names[..] {
                    [] => diagnostic.help("leave `job` out: there are no jobs"),
                    _ => diagnostic.help(format!("there are: {}", names.join(", "))),
                });
                return None;
            };
            found
        }
    };
    let among = |what: &str, numbers: &Located<super::Numbers>, of: u32, mistakes: &mut Vec<Diagnostic>| {
        let mistake = match (numbers.largest(), numbers.repeated()) {
            (None, _) => Some(Diagnostic::new("wrong-value", format!("a straggler without a {what}"))),
            (Some(largest), _) if largest >= of => Some(unknown(what, largest, of)),
            (_, Some(twice)) => Some(Diagnostic::new("two-choices", format!("{what} {twice} appears twice"))),
            _ => None,
        };
        let is_right = mistake.is_none();
        mistakes.extend(mistake.map(|mistake| mistake.at_value(numbers)));
        is_right
    };
    match (&spec.ranks, &spec.nodes, &spec.count) {
        (Some(ranks), None, None) => {
            among("rank", ranks, of, mistakes).then(|| ranks.all().map(|rank| first + rank).collect())
        }
        (None, Some(nodes), None) => {
            let Some((all, on)) = context.nodes else {
                let diagnostic = Diagnostic::new("wrong-choice", "there are no nodes without a topology");
                mistakes.push(diagnostic.at_value(nodes).help("name ranks, or a topology with -t"));
                return None;
            };
            if !among("node", nodes, all, mistakes) {
                return None;
            }
            let named: std::collections::BTreeSet<u32> = nodes.all().collect();
            let on = on.get(first as usize..(first + of) as usize)?;
            Some((first..).zip(on).filter(|(_, node)| named.contains(node)).map(|(rank, _)| rank).collect())
        }
        (None, None, Some(count)) => {
            if **count > of || **count == 0 {
                let message = format!("{} stragglers among {of} ranks", **count);
                let diagnostic = Diagnostic::new("wrong-value", message).at_value(count);
                mistakes.push(diagnostic.label(format!("a number from 1 to {of}")));
                return None;
            }
            let mut ranks: Vec<u32> = (first..first + of).collect();
            Stream::new(context.seed, &format!("straggler {number}")).shuffle(&mut ranks);
            ranks.truncate(**count as usize);
            ranks.sort_unstable();
            Some(ranks)
        }
        _ => {
            let message = "a straggler needs one of `ranks`, `nodes` and `count`";
            let given = [spec.ranks.is_some(), spec.nodes.is_some(), spec.count.is_some()];
            let diagnostic = match given.contains(&true) {
                true => Diagnostic::new("two-choices", message).label("several of them are set"),
                false => Diagnostic::new("missing-key", message).label("none of them is set"),
            };
            mistakes.push(diagnostic.at_value(spec).help("write `ranks = 3`, or \"0-7\""));
            None
        }
    }
}
