//! Accuracy to expect of a run, from the map of errors: the ranges of its nearest cases, widened by a margin.
//! The margin is such that 95 of 100 cases of the map lie within it when they are left out of the map.
//!
//! The built-in map is the digest of `validation/accuracy/map.csv`, a line for each case, and is made
//! together with it.

use std::sync::OnceLock;

use super::case::{case_of, packet_hops};
use crate::base::Arrange;
use crate::base::portable;
use crate::network::Network;
use crate::report::{AccuracyCase, ErrorRange, KnownAccuracy};
use crate::scenario::Scenario;
use crate::simulation::{PatternWork, Simulated};
use crate::units::Bytes;

/// Digest: comments, a header, and a line for each case.
const MAP: &str = include_str!("known.csv");

/// Largest distances of a case for the first, second and third of the margins; a case beyond the last is not
/// near.
const NEAR_DISTANCES: [f64; 3] = [2.0, 5.0, 9.0];

/// Distance of another pattern of the same kind, or of another placement.
const OTHER: f64 = 2.0;

/// Kinds of switches of the reference, in the order of a cell.
const SWITCHES: [&str; 3] = ["input-queued", "output-queued", "fair-queued"];

/// Map of errors, read once.
struct Map {
    version: String,
    models: Vec<&'static str>,
    /// Margin for each model, kind of switches and distance: 95 of 100 cases lie within the range of their
    /// nearest cases widened by it.
    margins: Vec<[[f64; NEAR_DISTANCES.len()]; SWITCHES.len()]>,
    picks: Vec<Picks>,
    lines: Vec<Line>,
}

/// Agreement of a model with input-queued switches on the fastest algorithm or placement, over the
/// comparisons in the map.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Picks {
    /// Part of the comparisons in which the model picks the same choice \[%\].
    pub right: f64,
    /// Mean extra time of its pick if it picks another choice \[%\].
    pub loss: f64,
    /// Kendall's tau of the order of makespans.
    pub tau: f64,
    /// Number of comparisons.
    pub count: u32,
}

/// Line of the map. Every run looks for its near cases, so lines of other families and kinds are not parsed
/// further.
struct Line {
    family: &'static str,
    text: &'static str,
}

/// Case of the map; its errors are parsed on demand.
struct MapCase {
    topology: &'static str,
    nodes: u32,
    pattern: &'static str,
    messages_per_node: f64,
    size_bytes: u64,
    /// Family, kind of pattern, placement, routing, injection.
    words: [&'static str; 5],
    /// Cells with the errors of each model.
    errors: &'static str,
}

/// Number of columns before those of models.
const LEADING_COLUMNS: usize = 10;

impl Map {
    /// Reads the map. Malformed lines are left out: the tests read all lines.
    fn read(text: &'static str) -> Self {
        let version = text.lines().find_map(|line| line.strip_prefix("# version "));
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let models = lines.next().map(|heading| heading.split(',').skip(LEADING_COLUMNS).collect()).unwrap_or_default();
        let lines = lines.filter_map(Line::read).collect();
        let margins = text.lines().filter_map(|line| line.strip_prefix("# margins "));
        let margins = margins.map(|line| {
            let mut switches = line.split(';').map(|part| {
                let mut margins = part.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
                [(); NEAR_DISTANCES.len()].map(|()| margins.next().unwrap_or_default() / 100.0)
            });
            [(); SWITCHES.len()].map(|()| switches.next().unwrap_or_default())
        });
        let picks = text.lines().filter_map(|line| line.strip_prefix("# picks ")).filter_map(|line| {
            let mut words = line.split(' ');
            let mut next = || words.next()?.parse::<f64>().ok();
            Some(Picks { right: next()?, loss: next()?, tau: next()?, count: next()? as u32 })
        });
        Self {
            version: version.unwrap_or_default().trim().to_owned(),
            models,
            margins: margins.collect(),
            picks: picks.collect(),
            lines,
        }
    }

    fn built_in() -> &'static Self {
        static READ: OnceLock<Map> = OnceLock::new();
        READ.get_or_init(|| Self::read(MAP))
    }
}

impl Line {
    fn read(text: &'static str) -> Option<Self> {
        let (_, rest) = text.split_once(',')?;
        let (family, _) = rest.split_once(',')?;
        Some(Self { family, text })
    }
}

impl MapCase {
    fn read(line: &'static str) -> Option<Self> {
        let mut cells = line.splitn(LEADING_COLUMNS + 1, ',');
        let mut next = || cells.next();
        let (topology, family, nodes, pattern) = (next()?, next()?, next()?.parse().ok()?, next()?);
        let words = [family, next()?, next()?, next()?, next()?];
        let (messages_per_node, size_bytes) = (next()?.parse().ok()?, next()?.parse().ok()?);
        Some(Self { topology, nodes, pattern, words, messages_per_node, size_bytes, errors: next()? })
    }

    /// Returns the smallest and largest error of the model of a column, for each kind of switches.
    ///
    /// A cell is `-42.1..-21.4;17.2;9.1` in per cent: input, output and fair queues, each one figure or two;
    /// empty if unknown.
    fn errors(&self, column: usize) -> [Option<[f64; 2]>; 3] {
        let mut parts = self.errors.split(',').nth(column).unwrap_or_default().split(';').map(|part| {
            let (low, high) = part.split_once("..").unwrap_or((part, part));
            Some([low.parse::<f64>().ok()? / 100.0, high.parse::<f64>().ok()? / 100.0])
        });
        [(); 3].map(|()| parts.next().flatten())
    }

    /// Returns the distance from a case: factors of two of nodes and of sizes, half of those of messages per
    /// node, and [`OTHER`] for another pattern and for another placement. Returns `None` if family, kind of
    /// pattern, routing or injection differ, or if the case is farther than the last of [`NEAR_DISTANCES`].
    fn distance(&self, case: &AccuracyCase) -> Option<f64> {
        let [family, kind, placement, routing, injection] = self.words;
        let alike =
            [(family, &case.family), (kind, &case.kind), (routing, &case.routing), (injection, &case.injection)];
        let is_like = alike.iter().all(|(own, other)| own == other) && case.varied.is_empty();
        if case.kind.is_empty() || case.size_bytes == 0 || !is_like {
            return None;
        }
        let twos = |a: f64, b: f64| portable::ln((a / b).max(b / a)) / std::f64::consts::LN_2;
        let messages = case.messages.max(1) as f64 / f64::from(case.nodes.max(1));
        let distance = twos(f64::from(self.nodes), f64::from(case.nodes.max(1)))
            + twos(self.size_bytes as f64, case.size_bytes as f64)
            + twos(self.messages_per_node, messages) / 2.0
            + if is_same_pattern(self.pattern, &case.pattern) { 0.0 } else { OTHER }
            + if placement == case.placement { 0.0 } else { OTHER };
        (distance <= NEAR_DISTANCES[NEAR_DISTANCES.len() - 1]).then_some(distance)
    }
}

/// Returns true if a pattern of the map is the pattern of a run, which is worded differently:
/// `all-to-all-pairwise` and `all-to-all pairwise, 20 KB`, `shift` and `permutation shift by 5, 1 MB`,
/// `halo-2d` and `halo 2-D, 20 KB`.
fn is_same_pattern(known: &str, run: &str) -> bool {
    let run = run.replace("-D", "d");
    known.split('-').all(|word| run.split(['-', ' ', ',']).any(|other| other == word))
}

/// Returns the accuracy to expect of a run of this pattern. Returns `None` unless messages are plain flows on
/// links that do not change.
pub fn known_of<W: Simulated>(scenario: &Scenario<W>, work: &PatternWork) -> Option<KnownAccuracy> {
    let network = scenario.network()?;
    let is_plain = network.transport.is_plain_flow() && network.faults.is_none();
    is_plain.then(|| {
        let mut known = known(&case_of(scenario, work), network.sharing.name());
        known.leaves_out = leaves_out(network, work, &known.model);
        known
    })
}

/// Mean message size from which on the time of the first packet is negligible \[B\].
const LONG: u64 = 1_000_000;

/// Returns a sentence about the packet that each switch stores and forwards, if the model leaves it out and
/// it takes a tenth of a message's time or more.
fn leaves_out(network: &Network, work: &PatternWork, model: &str) -> Option<String> {
    let bytes = work.pattern.mean_bytes();
    if model == "blocking" || bytes == 0 || bytes >= LONG {
        return None;
    }
    let packet = Bytes::PACKET;
    let (_, hops) = packet_hops(work, network, packet.0);
    let links = hops / work.pattern.messages().max(1) as f64;
    let part = (links - 1.0) * packet.0.min(bytes) as f64 / bytes as f64;
    (part >= 0.1).then(|| {
        format!(
            "{model} ignores that switches store and forward packets: {:.0} % of a message of {} here ({} B over \
             {links:.1} links); `--sharing blocking` includes it",
            100.0 * part,
            Bytes(bytes),
            packet.0,
        )
    })
}

/// Returns the accuracy to expect of a model in a case.
pub fn known(case: &AccuracyCase, model: &str) -> KnownAccuracy {
    said(Map::built_in(), case, model)
}

/// Returns the agreement of a sharing policy with input-queued switches; `None` if the policy is not in the
/// map.
pub fn picks_of(model: &str) -> Option<Picks> {
    let map = Map::built_in();
    let column = map.models.iter().position(|name| *name == model)?;
    map.picks.get(column).copied()
}

fn said(map: &Map, case: &AccuracyCase, model: &str) -> KnownAccuracy {
    let kind = format!(",{},", case.kind);
    let of_family = map.lines.iter().filter(|line| line.family == case.family && line.text.contains(&kind));
    let read = of_family.filter_map(|line| MapCase::read(line.text));
    let mut near: Vec<(f64, MapCase)> = read.filter_map(|known| Some((known.distance(case)?, known))).collect();
    let least = near.iter().map(|(distance, _)| *distance).fold(f64::INFINITY, f64::min);
    near.retain(|(distance, _)| *distance <= least + 0.01);
    let far = NEAR_DISTANCES.iter().position(|most| least <= *most).unwrap_or_default();
    let near: Vec<MapCase> = near.into_iter().map(|(_, known)| known).collect();
    let mut against = Vec::new();
    for (column, name) in map.models.iter().enumerate() {
        for (which, switches) in SWITCHES.iter().enumerate() {
            let ranges = near.iter().filter_map(|known| known.errors(column)[which]);
            let (mut low, mut high, mut rows) = (f64::INFINITY, f64::NEG_INFINITY, 0);
            for [least, largest] in ranges {
                (low, high, rows) = (low.min(least), high.max(largest), rows + 1);
            }
            if rows > 0 {
                let margin = map.margins.get(column).map_or(0.0, |margins| margins[which][far]);
                (low, high) = (low - margin, high + margin);
                let (model, switches) = ((*name).to_owned(), (*switches).to_owned());
                against.push(ErrorRange { model, switches, low, high, rows });
            }
        }
    }
    // The model of the run comes first.
    against.arrange_by_key(|range| range.model != model);
    if !against.iter().any(|range| range.model == model) {
        against.clear();
    }
    let cases: Vec<String> =
        if against.is_empty() { Vec::new() } else { near.iter().map(|known| known.name()).collect() };
    let text = sentence(model, &against);
    KnownAccuracy {
        model: model.to_owned(),
        against,
        cases,
        map: map.version.clone(),
        measured: None,
        text,
        leaves_out: None,
    }
}

impl MapCase {
    /// Returns the name of the case: `torus-8x8, all-to-all-pairwise, 1 MB, random`.
    fn name(&self) -> String {
        let Self { topology, pattern, size_bytes, words: [_, _, placement, ..], .. } = self;
        format!("{topology}, {pattern}, {}, {placement}", Bytes(*size_bytes))
    }
}

/// Formats the finding for a model: `max-min is 20 to 43 % too fast here (95 % of comparable cases, against
/// input-queued packets)`.
fn sentence(model: &str, against: &[ErrorRange]) -> String {
    let Some(found) = against.first() else {
        return "no case of the map is near; `hayase accuracy` measures it".to_owned();
    };
    let whole = |part: f64| (100.0 * part).round() as i64;
    let (low, high) = (whole(found.low), whole(found.high));
    let error = match (low, high) {
        (0, 0) => "exact to 0.5 %".to_owned(),
        (low, high) if low == high => format!("{} % too {}", low.abs(), if low < 0 { "fast" } else { "slow" }),
        (low, high) if high <= 0 => format!("{} to {} % too fast", -high, -low),
        (low, high) if low >= 0 => format!("{low} to {high} % too slow"),
        (low, high) => format!("{} % too fast to {high} % too slow", -low),
    };
    format!("{model} is {error} here (95 % of comparable cases, against {} packets)", found.switches)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# version 0
# margins 1 5 9;2 2 2;0 0 0
# margins 0.5 1 2;;
topology,family,nodes,pattern,kind,placement,routing,injection,messages,size_B,max-min,blocking
torus-8x8,torus 2d,64,a,all-to-all,random,dimension-order,queue,63,1000000,-42..-21;17;9.2,-1..2;;
torus-8x8,torus 2d,64,b,all-to-all,random,dimension-order,queue,63,1000000,-30;15;8,0.4
torus-8x8,torus 2d,64,a,all-to-all,random,dimension-order,queue,63,20000,-10;1;2,
torus-16x16,torus 2d,256,a,all-to-all,random,dimension-order,queue,255,1000000,-50;1;2,3
fat-tree-54,tree,54,a,all-to-all,random,d-mod-k,queue,53,1000000,-5;1;2,-3";

    fn case() -> AccuracyCase {
        AccuracyCase {
            topology: "torus-9x9".into(),
            family: "torus 2d".into(),
            nodes: 81,
            pattern: "a".into(),
            kind: "all-to-all".into(),
            placement: "random".into(),
            routing: "dimension-order".into(),
            injection: "queue".into(),
            size_bytes: 500_000,
            messages: 80 * 81,
            ..AccuracyCase::default()
        }
    }

    fn said_of(case: &AccuracyCase, model: &str) -> KnownAccuracy {
        said(&Map::read(TEXT), case, model)
    }

    #[test]
    fn the_nearest_case_says_the_range_and_its_distance_the_margin() {
        let known = said_of(&case(), "max-min");
        let first = &known.against[0];
        let percent = |part: f64| (1e6 * part).round() / 1e4;
        let range = (percent(first.low), percent(first.high), first.rows, first.switches.as_str());
        assert_eq!(range, (-43.0, -20.0, 1, "input-queued"));
        assert_eq!(known.cases, ["torus-8x8, a, 1 MB, random"]);
        assert_eq!(known.map, "0");
        let text = "max-min is 20 to 43 % too fast here (95 % of comparable cases, against input-queued packets)";
        assert_eq!(known.text, text);
        // Another pattern of the kind and another placement add to the distance.
        let other = AccuracyCase { pattern: "c".into(), placement: "regular".into(), ..case() };
        let known = said_of(&other, "max-min");
        let range = (known.cases.len(), percent(known.against[0].low), percent(known.against[0].high));
        assert_eq!(range, (2, -51.0, -12.0));
    }

    #[test]
    fn patterns_are_found_again_by_the_words_of_a_run() {
        for (known, run) in [
            ("all-to-all-pairwise", "all-to-all pairwise, 20 KB"),
            ("all-to-all-pairwise", "all-to-all-pairwise"),
            ("shift", "permutation shift by 5, 1 MB"),
            ("random-permutation", "permutation random, 20 KB"),
            ("halo-2d", "halo 2-D, 20 KB"),
            ("uniform-random", "uniform-random, 100 x 20 KB"),
        ] {
            assert!(is_same_pattern(known, run), "{known} {run}");
        }
        assert!(!is_same_pattern("all-to-all-pairwise", "all-to-all simple-spread, 20 KB"));
        assert!(!is_same_pattern("random-permutation", "permutation shift by 1, 20 KB"));
    }

    #[test]
    fn no_other_family_kind_routing_or_injection_is_near() {
        let changes: [fn(&mut AccuracyCase); 7] = [
            |case| case.family = "torus 3d".into(),
            |case| case.kind = "random".into(),
            |case| case.kind = String::new(),
            |case| case.routing = "valiant-switches".into(),
            |case| case.injection = "barrier".into(),
            |case| case.nodes = 1,
            |case| case.size_bytes = 600_000_000,
        ];
        for change in changes {
            let mut other = case();
            change(&mut other);
            let known = said_of(&other, "max-min");
            assert!(known.against.is_empty() && known.cases.is_empty(), "{other:?}");
            assert_eq!(known.text, "no case of the map is near; `hayase accuracy` measures it");
        }
        // No division by zero.
        assert!(said_of(&AccuracyCase { size_bytes: 0, ..case() }, "max-min").cases.is_empty());
    }

    #[test]
    fn the_nearest_is_taken_of_what_the_model_is_known_for() {
        let small = AccuracyCase { size_bytes: 80_000, ..case() };
        assert_eq!(said_of(&small, "max-min").cases, ["torus-8x8, a, 20 KB, random"]);
        // A model that is unknown there.
        assert!(said_of(&small, "blocking").against.is_empty());
        assert!(said_of(&case(), "unknown").cases.is_empty());
    }

    /// A map that was made before the last change of results does not describe the program: run
    /// `validation/accuracy/make`.
    #[test]
    fn the_map_is_of_the_results_that_the_program_has() {
        let made = MAP.lines().find_map(|line| line.strip_prefix("# results "));
        assert_eq!(made, Some(crate::study::plan::RESULTS.to_string().as_str()));
    }

    #[test]
    fn every_line_of_the_map_that_is_built_in_is_read() {
        let map = Map::built_in();
        let lines = MAP.lines().filter(|line| !line.starts_with('#')).count();
        let cases: Vec<MapCase> = map.lines.iter().filter_map(|line| MapCase::read(line.text)).collect();
        assert_eq!(cases.len(), lines - 1);
        assert!(!map.version.is_empty() && map.models.contains(&"max-min") && MAP.len() < 80_000);
        assert_eq!((map.margins.len(), map.picks.len()), (map.models.len(), map.models.len()));
        assert!(cases.iter().all(|known| known.errors.split(',').count() == map.models.len()));
        // One digit would be a single cell: each case has errors of max-min.
        let column = map.models.iter().position(|model| *model == "max-min").unwrap();
        assert!(cases.iter().all(|known| known.errors(column).iter().any(Option::is_some)));
    }
}
