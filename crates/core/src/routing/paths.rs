//! Paths with weights from a file, split or drawn for each pair.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
use super::counting::{LoadCount, in_parts};
use super::demand::Demand;
use super::router::Router;
use super::rule::{BuildContext, BuildResult, Rule};
use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::Fabric;
use crate::fabric::named_links::{read_path, unknown, vertices_by_name};
use crate::ids::{Id, IdVec, LinkId, NodeId, VertexId};
use crate::reading::csv::{self, Column, Row};
use crate::rng::Mix;
use crate::units::Time;

/// `[routing.paths]`: weighted paths from a file, like those of SST's AnyTopo for pairs of routers.
#[spec(Default)]
pub struct PathsSpec {
    /// CSV file `src,dst,weight,path`. `src` and `dst` are nodes by number or switches by name. `weight` is
    /// relative to the other paths of the pair (default 1). `path` lists the nodes and switches on the path,
    /// joined by ` -> `.
    pub file: Located<String>,
    /// Use of the paths of a pair: `split` divides each message over them by their weights (the default),
    /// `draw` draws one of them by their weights.
    #[serde(default, skip_serializing_if = "Choose::is_split")]
    pub choose: Choose,
    /// Seed of the draws (default: the scenario's).
    pub seed: Option<u64>,
}

/// Use of several paths of a pair.
#[spec(Copy, Eq, Default)]
pub enum Choose {
    /// Each message goes over all paths, in parts.
    #[default]
    Split,
    /// Each message goes over one path, drawn at random.
    Draw,
}

impl Choose {
    fn is_split(&self) -> bool {
        *self == Self::Split
    }
}

const COLUMNS: [Column; 4] =
    [Column::required("src"), Column::required("dst"), Column::optional("weight"), Column::required("path")];
const SRC: usize = 0;
const DST: usize = 1;
const WEIGHT: usize = 2;
const PATH: usize = 3;

/// Largest number of links in all paths together [entries of 4 B].
const MOST_LINKS: usize = 1 << 30;

impl Rule for PathsSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let sources = &mut *context.sources;
        if self.file.is_empty() {
            let mistake = Diagnostic::new("no-file", "weighted paths come from a file, and none is given");
            return Err(vec![mistake.at_value(&self.file).help("write --routing paths:FILE.csv")]);
        }
        let input = sources.open(&self.file).map_err(|mistake| vec![mistake])?;
        let mut paths = Paths {
            fabric: Arc::clone(fabric),
            choose: self.choose,
            draws: Mix::new(self.seed.unwrap_or(context.seed), "routing paths"),
            of_pair: FxHashMap::default(),
            links: Vec::new(),
        };
        let by_name = vertices_by_name(fabric);
        csv::read(input, &COLUMNS, |row| paths.add(row, &by_name))?;
        for paths in paths.of_pair.values_mut() {
            let sum: f64 = paths.iter().map(|path| path.weight).sum();
            paths.iter_mut().for_each(|path| path.weight /= sum);
        }
        Ok(Arc::new(paths))
    }

    fn depends_on_seed(&self) -> bool {
        self.choose == Choose::Draw && self.seed.is_none()
    }

    fn file(&mut self) -> Option<&mut Located<String>> {
        Some(&mut self.file)
    }
}

/// Path of a pair: its part, and the range of its links.
#[derive(Clone, Copy, Debug)]
struct OnePath {
    weight: f64,
    start: u32,
    end: u32,
}

/// Paths of a file.
///
/// A pair of nodes uses the paths between them; else those from node to switch, from switch to node, and
/// between the switches to which they are attached, in this order. Nodes on one switch need no path.
#[derive(Debug)]
struct Paths {
    fabric: Arc<Fabric>,
    choose: Choose,
    draws: Mix,
    /// Paths of each pair, in the order of the file.
    of_pair: FxHashMap<(VertexId, VertexId), Vec<OnePath>>,
    links: Vec<LinkId>,
}

impl Paths {
    fn add(&mut self, row: &mut Row<'_>, by_name: &FxHashMap<String, VertexId>) {
        let (src, dst) = (self.end(row, SRC, by_name), self.end(row, DST, by_name));
        let weight = if row.bytes(WEIGHT).is_empty() { Some(1.0) } else { row.decimal(WEIGHT) };
        let (Some(src), Some(dst), Some(weight), Some(text)) = (src, dst, weight, row.text(PATH)) else { return };
        if !(weight > 0.0 && weight <= 1e100) {
            let mistake = Diagnostic::new("wrong-value", "a path has a weight above 0").label("leave the path out");
            return row.mistake(WEIGHT, mistake);
        }
        let start = self.links.len();
        if start >= MOST_LINKS {
            row.mistake(PATH, Diagnostic::new("too-large", format!("all paths have at most {MOST_LINKS} links")));
            return row.stop();
        }
        let text = text.into_owned();
        match read_path(&self.fabric, by_name, &text, (Some(src), Some(dst))) {
            Ok(links) => self.links.extend(links),
            Err(found) => return row.mistake_in(PATH, found.0, found.1),
        }
        let path = OnePath { weight, start: start as u32, end: self.links.len() as u32 };
        self.of_pair.entry((src, dst)).or_default().push(path);
    }

    fn end(&self, row: &mut Row<'_>, column: usize, by_name: &FxHashMap<String, VertexId>) -> Option<VertexId> {
        let bytes = row.bytes(column);
        if !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit) {
            return row.number(column, "node", self.fabric.nodes()).map(VertexId);
        }
        let name = row.text(column)?;
        let found = by_name.get(name.as_ref()).copied();
        if found.is_none() {
            row.mistake(column, unknown(&name, by_name));
        }
        found
    }

    /// Returns the paths of two nodes, with the links from the source to the first switch and from the last
    /// switch to the destination.
    fn of(&self, src: NodeId, dst: NodeId) -> Option<(Option<LinkId>, &[OnePath], Option<LinkId>)> {
        let (up, down) = (self.hanging(src, true), self.hanging(dst, false));
        let get = |from: VertexId, to: VertexId| self.of_pair.get(&(from, to)).map(Vec::as_slice);
        let (from, to) = (VertexId::from(src), VertexId::from(dst));
        if let Some(paths) = get(from, to) {
            return Some((None, paths, None));
        }
        if let Some(paths) = down.and_then(|(switch, _)| get(from, switch)) {
            return Some((None, paths, down.map(|(_, link)| link)));
        }
        if let Some(paths) = up.and_then(|(switch, _)| get(switch, to)) {
            return Some((up.map(|(_, link)| link), paths, None));
        }
        let ((first, up), (last, down)) = (up?, down?);
        if first == last {
            return Some((Some(up), &[], Some(down)));
        }
        get(first, last).map(|paths| (Some(up), paths, Some(down)))
    }

    /// Returns the only neighbour of a node, and the link to it (`out`) or from it.
    fn hanging(&self, node: NodeId, out: bool) -> Option<(VertexId, LinkId)> {
        let direction = if out { petgraph::Direction::Outgoing } else { petgraph::Direction::Incoming };
        let node = petgraph::graph::NodeIndex::new(node.index());
        let mut edges = self.fabric.graph().edges_directed(node, direction);
        let edge = edges.next().filter(|_| edges.next().is_none())?;
        let link = *edge.weight();
        self.fabric.link(link).ends.map(|(from, to)| (if out { to } else { from }, link))
    }

    fn links(&self, path: &OnePath) -> &[LinkId] {
        &self.links[path.start as usize..path.end as usize]
    }

    /// Appends the path given by a draw.
    fn one(&self, found: (Option<LinkId>, &[OnePath], Option<LinkId>), draw: f64, route: &mut Vec<LinkId>) {
        let (up, paths, down) = found;
        route.extend(up);
        let mut sum = 0.0;
        let drawn = paths.iter().find(|path| {
            sum += path.weight;
            draw < sum
        });
        if let Some(path) = drawn.or(paths.last()) {
            route.extend(self.links(path));
        }
        route.extend(down);
    }
}

impl Router for Paths {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if let Some(found) = self.of(src, dst).filter(|_| src != dst) {
            // The path with the most weight, the first of equals.
            let mut heaviest = found.1.first().copied();
            for path in found.1 {
                heaviest = heaviest.filter(|best| best.weight >= path.weight).or(Some(*path));
            }
            self.one((found.0, heaviest.as_slice(), found.2), 0.0, route);
        }
    }

    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        src == dst || self.of(src, dst).is_some()
    }

    fn is_total(&self) -> bool {
        false
    }

    fn choice(&self) -> Option<&dyn Choice> {
        Some(self)
    }

    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        in_parts(demand.sources(), loads, |src, part| {
            let mut path = Path::default();
            demand.from(NodeId(src), |dst, much| {
                path.clear();
                if dst.0 != src && self.expected(NodeId(src), dst, &mut path) {
                    path.links.iter().zip(&path.parts).for_each(|(link, part_of)| {
                        part.loads[link.index()] += much * part_of;
                    });
                }
            });
        });
        Ok(LoadCount::default())
    }
}

impl Choice for Paths {
    fn kind(&self) -> ChoiceKind {
        match self.choose {
            Choose::Split => ChoiceKind::Split,
            Choose::Draw => ChoiceKind::Drawn,
        }
    }

    fn choose(&self, start: StartingMessage, _: &UnderWay, path: &mut Path) {
        match (self.choose, self.of(start.src, start.dst)) {
            (Choose::Split, _) => {
                self.expected(start.src, start.dst, path);
            }
            (Choose::Draw, Some(found)) => self.one(found, self.draws.one_unit(start.key()), &mut path.links),
            (Choose::Draw, None) => {}
        }
    }

    fn expected(&self, src: NodeId, dst: NodeId, path: &mut Path) -> bool {
        let Some((up, paths, down)) = self.of(src, dst) else { return true };
        let whole = |link: Option<LinkId>, path: &mut Path| {
            path.links.extend(link);
            path.parts.extend(link.map(|_| 1.0));
            link.map_or(Time::ZERO, |link| self.fabric.link(link).latency)
        };
        let ends = whole(up, path) + whole(down, path);
        let mut longest = Time::ZERO;
        for one in paths {
            let links = self.links(one);
            path.links.extend(links);
            path.parts.extend(links.iter().map(|_| one.weight));
            longest = longest.max(self.fabric.latency(links));
        }
        path.merge();
        path.latency = ends + longest;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Invalid, Sources};
    use crate::fabric::named_links::links_between;
    use crate::ids::{MessageId, RankId};
    use crate::routing::RoutingSpec;
    use crate::routing::test_fabrics::of_cables;

    /// Returns a square of switches with two nodes each and one side doubled.
    fn square() -> Arc<Fabric> {
        of_cables("square", 4, 2, [(0, 1), (0, 1), (1, 2), (2, 3), (3, 0)], None)
    }

    fn read(text: &str, choose: Choose) -> Result<Arc<dyn Router>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p.csv");
        std::fs::write(&file, text).unwrap();
        let spec = RoutingSpec::Paths(PathsSpec { file: file.display().to_string().into(), choose, seed: None });
        let mut sources = Sources::default();
        spec.build_from(&square(), 5, &mut sources).map_err(|diagnostics| {
            let folder = format!("{}/", folder.path().display());
            Invalid { diagnostics, sources }.lines().replace(&folder, "")
        })
    }

    const PATHS: &str = "\
src,dst,weight,path
switch 0,switch 2,3,switch 0 -> switch 1 #2 -> switch 2
switch 0,switch 2,1,switch 0 -> switch 3 -> switch 2
0,2,,node 0 -> switch 0 -> switch 1 #1 -> node 2
";

    #[test]
    fn a_pair_is_split_by_weight_over_its_paths() {
        let router = read(PATHS, Choose::Split).unwrap();
        assert!(router.splits() && router.reaches(NodeId(1), NodeId(5)) && router.reaches(NodeId(2), NodeId(3)));
        assert!(router.reaches(NodeId(0), NodeId(2)) && !router.reaches(NodeId(1), NodeId(2)));
        let (fabric, mut path) = (square(), Path::default());
        router.choice().unwrap().expected(NodeId(1), NodeId(5), &mut path);
        let parts: Vec<(String, f64)> =
            path.links.iter().zip(&path.parts).map(|(&link, &part)| (fabric.link_name(link), part)).collect();
        let name = |text: &str| parts.iter().filter(|(name, _)| name == text).map(|(_, part)| part).sum::<f64>();
        assert_eq!(name("switch 0 -> switch 1"), 0.75);
        assert_eq!(name("switch 3 -> switch 2"), 0.25);
        assert_eq!(name("node 1 -> switch 0") + name("switch 2 -> node 5"), 2.0);
        // Every link of these takes 1 ns; four in a row.
        assert_eq!(path.latency, Time::from_ps(4000.0));
        // The second of the parallel cables.
        let between = links_between(&fabric, VertexId(8), VertexId(9));
        assert!(path.links.contains(&between[1]) && !path.links.contains(&between[0]));
        // On one switch no path is needed.
        path.clear();
        router.choice().unwrap().expected(NodeId(2), NodeId(3), &mut path);
        assert_eq!((path.links.len(), path.parts.clone()), (2, vec![1.0; 2]));
    }

    #[test]
    fn drawn_paths_come_by_their_weights_and_loads_are_their_mean() {
        let router = read(PATHS, Choose::Draw).unwrap();
        let mut through_three = 0;
        for index in 0..4000 {
            let message = MessageId { src: RankId(1), index };
            let start = StartingMessage { src: NodeId(1), dst: NodeId(5), message };
            let mut path = Path::default();
            router.choice().unwrap().choose(start, &UnderWay::new(), &mut path);
            assert!(path.parts.is_empty() && path.links.len() == 4);
            let fabric = square();
            through_three += u32::from(path.links.iter().any(|&link| fabric.link_name(link) == "switch 0 -> switch 3"));
        }
        // A quarter of 4000, with a standard deviation of 27.
        assert!((880..=1120).contains(&through_three), "{through_three}");
        let mut loads = IdVec::filled(square().links().len(), 0.0);
        router.loads(&Demand::Pairs(vec![(NodeId(1), NodeId(5), 8.0)]), &mut loads).unwrap();
        let mut sorted: Vec<f64> = loads.iter().copied().filter(|&load| load > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(sorted, [2.0, 2.0, 6.0, 6.0, 8.0, 8.0]);
    }

    #[test]
    fn what_is_wrong_with_paths_has_its_place() {
        let text = "src,dst,weight,path
0,99,1,switch 0
switch 0,swich 2,1,switch 0
switch 0,switch 2,0,switch 0 -> switch 1 #1 -> switch 2
switch 0,switch 2,1,switch 0 -> switch 1 -> switch 2
switch 0,switch 2,1,switch 0 -> switch 2
switch 0,switch 2,1,switch 1 -> switch 2
switch 0,switch 2,1,switch 0 -> switch 3
switch 0,switch 2,1,switch 0 -> nowhere -> switch 2
";
        let error = read(text, Choose::Split).unwrap_err();
        let places: Vec<&str> = error.lines().map(|line| &line[..line.find(": ").unwrap_or(0)]).collect();
        assert_eq!(
            places,
            [
                "p.csv:2:3",
                "p.csv:3:10",
                "p.csv:4:19",
                "p.csv:5:33",
                "p.csv:6:33",
                "p.csv:7:21",
                "p.csv:8:21",
                "p.csv:9:33"
            ],
            "{error}"
        );
    }
}
