//! What the map of errors says of a run: the ranges of its nearest cases.
//!
//! The map that is built in is the digest of `validation/accuracy/map.csv`, a line for each case, made with it.

use std::sync::OnceLock;

use super::case::case_of;
use crate::report::{AccuracyCase, ErrorRange, KnownAccuracy};
use crate::scenario::Scenario;
use crate::simulation::{PatternWork, Simulated};
use crate::units::Bytes;

/// The digest: comments, a header, and a line for each case.
const MAP: &str = include_str!("known.csv");

/// How many times as many nodes, or as large messages, a near case has at most, or at least the inverse of that.
const NEAR: f64 = 4.0;

/// The switches that ranges are against, in the order of a cell.
const SWITCHES: [&str; 3] = ["input-queued", "output-queued", "fair-queued"];

/// The map, read once.
struct Map {
    version: String,
    models: Vec<&'static str>,
    lines: Vec<Line>,
}

/// A line of the map. Every run looks for its near cases, so no more is read of those of other families and kinds.
struct Line {
    family: &'static str,
    text: &'static str,
}

/// One case of the map; of its errors nothing is read before they are asked for.
struct Known {
    topology: &'static str,
    nodes: u32,
    pattern: &'static str,
    size_bytes: u64,
    /// Family, kind of pattern, placement, routing, injection.
    words: [&'static str; 5],
    /// Cells of models.
    errors: &'static str,
}

/// Columns before those of models.
const NAMED: usize = 9;

impl Map {
    /// What a line that is not as it should be says is left out: the tests read all of them.
    fn read(text: &'static str) -> Self {
        let version = text.lines().find_map(|line| line.strip_prefix("# version "));
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let models = lines.next().map(|heading| heading.split(',').skip(NAMED).collect()).unwrap_or_default();
        let lines = lines.filter_map(Line::read).collect();
        Self { version: version.unwrap_or_default().trim().to_owned(), models, lines }
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

impl Known {
    fn read(line: &'static str) -> Option<Self> {
        let mut cells = line.splitn(NAMED + 1, ',');
        let mut next = || cells.next();
        let (topology, family, nodes, pattern) = (next()?, next()?, next()?.parse().ok()?, next()?);
        let words = [family, next()?, next()?, next()?, next()?];
        Some(Self { topology, nodes, pattern, words, size_bytes: next()?.parse().ok()?, errors: next()? })
    }

    /// The errors under the model of a column: by switches, the least and the largest.
    ///
    /// `-42.1..-21.4;17.2;9.1` in per cent: input, output and fair queues, each one figure or two; empty where it is not
    /// known.
    fn errors(&self, column: usize) -> [Option<[f64; 2]>; 3] {
        let mut parts = self.errors.split(',').nth(column).unwrap_or_default().split(';').map(|part| {
            let (low, high) = part.split_once("..").unwrap_or((part, part));
            Some([low.parse::<f64>().ok()? / 100.0, high.parse::<f64>().ok()? / 100.0])
        });
        [(); 3].map(|()| parts.next().flatten())
    }

    /// How far it is from a case, in factors of two of nodes and of sizes together; nothing where it is not near: family,
    /// kind of pattern, placement, routing and injection are the same, nodes and sizes within a factor of [`NEAR`].
    fn distance(&self, case: &AccuracyCase) -> Option<f64> {
        let words = [&case.family, &case.kind, &case.placement, &case.routing, &case.injection];
        if case.kind.is_empty() || self.words != words.map(String::as_str) || !case.varied.is_empty() {
            return None;
        }
        let ratio = |a: f64, b: f64| if a > b { a / b } else { b / a };
        let nodes = ratio(f64::from(self.nodes), f64::from(case.nodes));
        let size = ratio(self.size_bytes as f64, case.size_bytes as f64);
        // The product orders as its logarithm does. No bytes are near to nothing.
        (nodes <= NEAR && size <= NEAR).then_some(nodes * size)
    }
}

/// What the map says of a run of this pattern, where it is one of plain flows on links that stay as they are: else nothing
/// is known, and nothing is said.
pub fn known_of<W: Simulated>(scenario: &Scenario<W>, work: &PatternWork) -> Option<KnownAccuracy> {
    let network = scenario.network()?;
    let is_plain = network.transport.is_plain_flow() && network.faults.is_none();
    is_plain.then(|| known(&case_of(scenario, work), network.sharing.name()))
}

/// What the map says of a model in a case.
pub fn known(case: &AccuracyCase, model: &str) -> KnownAccuracy {
    said(Map::built_in(), case, model)
}

fn said(map: &Map, case: &AccuracyCase, model: &str) -> KnownAccuracy {
    let alike = format!(",{},{},{},{},", case.kind, case.placement, case.routing, case.injection);
    let of_family = map.lines.iter().filter(|line| line.family == case.family && line.text.contains(&alike));
    let read = of_family.filter_map(|line| Known::read(line.text));
    let mut near: Vec<(f64, Known)> = read.filter_map(|known| Some((known.distance(case)?, known))).collect();
    let least = near.iter().map(|(distance, _)| *distance).fold(f64::INFINITY, f64::min);
    near.retain(|(distance, _)| *distance <= least * (1.0 + 1e-9));
    let near: Vec<Known> = near.into_iter().map(|(_, known)| known).collect();
    let mut against = Vec::new();
    for (column, name) in map.models.iter().enumerate() {
        for (which, switches) in SWITCHES.iter().enumerate() {
            let ranges = near.iter().filter_map(|known| known.errors(column)[which]);
            let (mut low, mut high, mut rows) = (f64::INFINITY, f64::NEG_INFINITY, 0);
            for [least, largest] in ranges {
                (low, high, rows) = (low.min(least), high.max(largest), rows + 1);
            }
            if rows > 0 {
                let (model, switches) = ((*name).to_owned(), (*switches).to_owned());
                against.push(ErrorRange { model, switches, low, high, rows });
            }
        }
    }
    // Of the model of the run first.
    against.sort_by_key(|range| range.model != model);
    if !against.iter().any(|range| range.model == model) {
        against.clear();
    }
    let cases: Vec<String> =
        if against.is_empty() { Vec::new() } else { near.iter().map(|known| known.name()).collect() };
    let text = sentence(case, model, &against, &near);
    KnownAccuracy { model: model.to_owned(), against, cases, map: map.version.clone(), text }
}

impl Known {
    /// `torus-8x8, all-to-all-pairwise, 1 MB, random`.
    fn name(&self) -> String {
        let Self { topology, pattern, size_bytes, words: [_, _, placement, ..], .. } = self;
        format!("{topology}, {pattern}, {}, {placement}", Bytes(*size_bytes))
    }
}

/// One line: `max-min, 1 MB, random placement, torus-16x16: -42 to -21 % against input-queued switches ...`.
fn sentence(case: &AccuracyCase, model: &str, against: &[ErrorRange], near: &[Known]) -> String {
    if against.is_empty() {
        return "no case of the map is near; `hayase accuracy` measures it".to_owned();
    }
    let range = |range: &ErrorRange| {
        let whole = |part: f64| match (100.0 * part).round() {
            0.0 => "0".to_owned(),
            percent => format!("{percent:+.0}"),
        };
        let (low, high) = (whole(range.low), whole(range.high));
        if low == high { format!("{low} %") } else { format!("{low} to {high} %") }
    };
    let of_model = |name: &str| -> Vec<String> {
        let of_it = against.iter().filter(|range| range.model == name);
        of_it.map(|found| format!("{} against {} switches", range(found), found.switches)).collect()
    };
    let input = |found: &&ErrorRange| found.model == "blocking" && found.switches == SWITCHES[0];
    let blocking = against.iter().find(input).filter(|_| model != "blocking");
    let blocking = blocking.map(|found| format!("; blocking: {} against input-queued ones", range(found)));
    let size = Bytes(case.size_bytes);
    let (first, count) = (&near[0], near.len());
    let cases = if count == 1 { "case" } else { "cases" };
    format!(
        "{model}, {size}, {} placement, {}: {}{} (makespans of {count} {cases} of the map: {}, {}, {})",
        case.placement,
        case.topology,
        of_model(model).join(", "),
        blocking.unwrap_or_default(),
        first.topology,
        first.words[1],
        Bytes(first.size_bytes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# version 0
topology,family,nodes,pattern,kind,placement,routing,injection,size_B,max-min,blocking
torus-8x8,torus 2d,64,a,all-to-all,random,dimension-order,queue,1000000,-42..-21;17;9.2,-1..2;;
torus-8x8,torus 2d,64,b,all-to-all,random,dimension-order,queue,1000000,-30;15;8,0.4
torus-8x8,torus 2d,64,a,all-to-all,random,dimension-order,queue,20000,-10;1;2,
torus-16x16,torus 2d,256,a,all-to-all,random,dimension-order,queue,1000000,-50;1;2,3
fat-tree-54,tree,54,a,all-to-all,random,d-mod-k,queue,1000000,-5;1;2,-3";

    fn case() -> AccuracyCase {
        AccuracyCase {
            topology: "torus-9x9".into(),
            family: "torus 2d".into(),
            nodes: 81,
            kind: "all-to-all".into(),
            placement: "random".into(),
            routing: "dimension-order".into(),
            injection: "queue".into(),
            size_bytes: 500_000,
            ..AccuracyCase::default()
        }
    }

    fn said_of(case: &AccuracyCase, model: &str) -> KnownAccuracy {
        said(&Map::read(TEXT), case, model)
    }

    #[test]
    fn the_nearest_cases_say_the_range_and_all_patterns_of_the_kind_are_in_it() {
        let known = said_of(&case(), "max-min");
        let first = &known.against[0];
        assert_eq!((first.low, first.high, first.rows, first.switches.as_str()), (-0.42, -0.21, 2, "input-queued"));
        assert_eq!(known.cases, ["torus-8x8, a, 1 MB, random", "torus-8x8, b, 1 MB, random"]);
        assert_eq!(known.map, "0");
        let text = "max-min, 500 KB, random placement, torus-9x9: -42 to -21 % against input-queued switches, +15 to +17 % \
                    against output-queued switches, +8 to +9 % against fair-queued switches; blocking: -1 to +2 % against \
                    input-queued ones (makespans of 2 cases of the map: torus-8x8, all-to-all, 1 MB)";
        assert_eq!(known.text, text);
    }

    #[test]
    fn no_other_family_kind_placement_routing_or_injection_is_near() {
        let changes: [fn(&mut AccuracyCase); 8] = [
            |case| case.family = "torus 3d".into(),
            |case| case.kind = "random".into(),
            |case| case.kind = String::new(),
            |case| case.placement = "regular".into(),
            |case| case.routing = "valiant-switches".into(),
            |case| case.injection = "barrier".into(),
            |case| case.nodes = 15,
            |case| case.size_bytes = 4_000_001,
        ];
        for change in changes {
            let mut other = case();
            change(&mut other);
            let known = said_of(&other, "max-min");
            assert!(known.against.is_empty() && known.cases.is_empty(), "{other:?}");
            assert_eq!(known.text, "no case of the map is near; `hayase accuracy` measures it");
        }
        // Nothing divides by nothing.
        assert!(said_of(&AccuracyCase { size_bytes: 0, ..case() }, "max-min").cases.is_empty());
    }

    #[test]
    fn what_is_four_times_as_large_is_near_and_the_nearest_is_taken() {
        let four = AccuracyCase { size_bytes: 4_000_000, ..case() };
        assert_eq!(said_of(&four, "max-min").cases.len(), 2);
        let small = AccuracyCase { size_bytes: 80_000, ..case() };
        assert_eq!(said_of(&small, "max-min").cases, ["torus-8x8, a, 20 KB, random"]);
        // A model of which nothing is known there.
        assert!(said_of(&small, "blocking").against.is_empty());
        assert!(said_of(&case(), "unknown").cases.is_empty());
    }

    #[test]
    fn every_line_of_the_map_that_is_built_in_is_read() {
        let map = Map::built_in();
        let lines = MAP.lines().filter(|line| !line.starts_with('#')).count();
        let cases: Vec<Known> = map.lines.iter().filter_map(|line| Known::read(line.text)).collect();
        assert_eq!(cases.len(), lines - 1);
        assert!(!map.version.is_empty() && map.models.contains(&"max-min") && MAP.len() < 60_000);
        assert!(cases.iter().all(|known| known.errors.split(',').count() == map.models.len()));
        // One digit would be one cell: each case knows something of max-min.
        let column = map.models.iter().position(|model| *model == "max-min").unwrap();
        assert!(cases.iter().all(|known| known.errors(column).iter().any(Option::is_some)));
    }
}
