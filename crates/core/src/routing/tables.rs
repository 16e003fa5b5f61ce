//! Forwarding tables in files: written for any rule that has them, and read as a rule.

use std::io::{self, Write};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::forwarding::Forwarding;
use super::graph::{Graph, NONE};
use super::legal_paths::legal_paths;
use super::router::Router;
use super::rule::{BuildContext, BuildResult, Rule};
use crate::diagnostic::{Diagnostic, Located, Place, Sources, closest};
use crate::fabric::Fabric;
use crate::fabric::named_links::{link_names, vertices_by_name};
use crate::ids::{LinkId, NodeId, VertexId};
use crate::reading::csv::{self, Column, Row};

/// `[routing.tables]`: forwarding tables from a file.
#[spec(Default)]
pub struct TablesSpec {
    /// CSV file `switch,link,destinations`: the link that leads on from a switch, and the nodes that it leads
    /// to, by number (`3 8-15`). `hayase topology routes` writes such files.
    pub file: Located<String>,
}

const COLUMNS: [Column; 3] = [Column::required("switch"), Column::required("link"), Column::required("destinations")];
const SWITCH: usize = 0;
const LINK: usize = 1;
const DESTINATIONS: usize = 2;

/// Largest number of mistakes of the tables as a whole that are looked up in the file.
const MOST_FAULTS: usize = 20;

impl Rule for TablesSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let sources = &mut *context.sources;
        if self.file.is_empty() {
            let mistake = Diagnostic::new("no-file", "forwarding tables come from a file, and none is given");
            return Err(vec![mistake.at_value(&self.file).help("write --routing tables:FILE.csv")]);
        }
        let open = |sources: &mut Sources| sources.open(&self.file).map_err(|mistake| vec![mistake]);
        let mut reader = Reader {
            table: Forwarding::new(fabric)?,
            delivered: vec![false; fabric.nodes() as usize],
            by_name: vertices_by_name(fabric),
            names: (NONE, FxHashMap::default()),
        };
        let input = open(sources)?;
        let name = input.name().to_owned();
        csv::read(input, &COLUMNS, |row| reader.add(row))?;
        let mut faults = reader.faults();
        if faults.is_empty() {
            return Ok(Arc::new(reader.table));
        }
        // The file is read again for the places of the mistakes.
        let mut located = Vec::new();
        let again = csv::read(open(sources)?, &COLUMNS, |row| reader.locate(row, &mut faults));
        located.extend(again.err().into_iter().flatten());
        located.extend(faults.into_iter().map(|fault| {
            let place =
                Place { file: name.clone(), line: 1, column: 1, text: "switch,link,destinations".into(), length: 1 };
            fault.diagnostic.at_place(place)
        }));
        Err(located)
    }

    fn file(&mut self) -> Option<&mut Located<String>> {
        Some(&mut self.file)
    }
}

struct Reader {
    table: Forwarding,
    /// By node attached to one switch: true if the switch has an entry for it.
    delivered: Vec<bool>,
    by_name: FxHashMap<String, VertexId>,
    /// Place whose links are currently stored by name.
    names: (u32, FxHashMap<String, LinkId>),
}

/// Mistake of the tables as a whole.
struct Fault {
    /// Place of the wrong or missing entry.
    place: u32,
    dst: NodeId,
    /// True if there is an entry to be marked; otherwise the first line about the switch is marked.
    entry: bool,
    diagnostic: Diagnostic,
}

impl Reader {
    fn place(&self, row: &mut Row<'_>) -> Option<u32> {
        let name = row.text(SWITCH)?;
        let graph = &self.table.graph;
        match self.by_name.get(name.as_ref()).and_then(|&vertex| graph.place_of(vertex)) {
            Some(place) => Some(place),
            None => {
                let mistake = Diagnostic::new("unknown-switch", format!("there is no switch `{name}`"));
                let mut names: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
                names.sort_unstable();
                row.mistake(
                    SWITCH,
                    match closest(&name, names) {
                        Some(near) => mistake.help(format!("did you mean `{near}`?")),
                        None => mistake.help("`hayase topology show -o x.json` lists the names"),
                    },
                );
                None
            }
        }
    }

    fn link(&mut self, place: u32, row: &mut Row<'_>) -> Option<LinkId> {
        if self.names.0 != place {
            let names = link_names(&self.table.graph.fabric, self.table.graph.vertex(place));
            self.names = (place, names.into_iter().map(|(link, name)| (name, link)).collect());
        }
        let name = row.text(LINK)?;
        if let Some(&link) = self.names.1.get(name.as_ref()) {
            return Some(link);
        }
        let graph = &self.table.graph;
        let switch = graph.fabric.vertex_name(graph.vertex(place));
        let mut mistake = Diagnostic::new("unknown-link", format!("no link `{name}` leaves `{switch}`"));
        if self.names.1.contains_key(&format!("{name} #1")) {
            mistake = mistake.label("there are several").help(format!("write `{name} #1` for the first of them"));
        } else {
            let mut near: Vec<&str> = self.names.1.keys().map(String::as_str).collect();
            near.sort_unstable();
            if let Some(near) = closest(&name, near) {
                mistake = mistake.help(format!("did you mean `{near}`?"));
            }
        }
        row.mistake(LINK, mistake);
        None
    }

    fn add(&mut self, row: &mut Row<'_>) {
        let Some(place) = self.place(row) else { return };
        let Some(link) = self.link(place, row) else { return };
        let graph = &self.table.graph;
        let port = graph.links_out_of(place).binary_search_by_key(&link.0, |way| way.link).ok().map(|port| port as u16);
        let words = row.words(DESTINATIONS);
        if words.is_empty() {
            let mistake =
                Diagnostic::new("empty-cell", "`destinations` is empty").label("numbers of nodes, like 3 8-15");
            row.mistake(DESTINATIONS, mistake);
        }
        for (range, word) in words {
            let nodes = match numbers(word, self.table.graph.fabric.nodes()) {
                Ok(nodes) => nodes,
                Err(mistake) => {
                    row.mistake_in(DESTINATIONS, range, mistake);
                    continue;
                }
            };
            for node in nodes {
                if let Err(mistake) = self.enter(place, link, port, NodeId(node)) {
                    row.mistake_in(DESTINATIONS, range.clone(), mistake);
                    break;
                }
            }
        }
    }

    fn enter(&mut self, place: u32, link: LinkId, port: Option<u16>, dst: NodeId) -> Result<(), Diagnostic> {
        let graph = &self.table.graph;
        let home = graph.home(dst);
        let switch = || graph.fabric.vertex_name(graph.vertex(place));
        let twice = || {
            let message = format!("there are two entries for node {dst} at `{}`", switch());
            Err(Diagnostic::new("two-entries", message).label("each destination has one link at each switch"))
        };
        if home.down == link.0 {
            if std::mem::replace(&mut self.delivered[dst.0 as usize], true) {
                return twice();
            }
            return Ok(());
        }
        match port {
            Some(port) if home.place != place => {
                if self.table.port(dst, place).is_some() {
                    return twice();
                }
                self.table.set(dst, place, port);
                Ok(())
            }
            Some(_) if home.down == NONE => {
                Err(Diagnostic::new("bad-entry", format!("what is for node {dst} has arrived at `{}`", switch())))
            }
            Some(_) => {
                let message = format!("node {dst} is on `{}`, and this link leads away from it", switch());
                let right = link_names(&graph.fabric, graph.vertex(place));
                let right = right.into_iter().find(|(link, _)| link.0 == home.down).map_or_else(String::new, |it| it.1);
                Err(Diagnostic::new("bad-entry", message).help(format!("write `{right}`")))
            }
            None => Err(Diagnostic::new("bad-entry", format!("this link ends at another node than {dst}"))
                .label("nothing else is behind it")),
        }
    }

    /// Returns the mistakes of all entries taken together.
    fn faults(&self) -> Vec<Fault> {
        let graph = &self.table.graph;
        let with_nodes = {
            let mut places: Vec<u32> = graph.fabric.node_ids().map(|node| graph.home(node).place).collect();
            places.sort_unstable();
            places.dedup();
            places
        };
        let mut faults = Vec::new();
        // By place: 0 not visited, 1 on the current path, 2 leads to the end, 3 does not.
        let mut state = vec![0_u8; graph.places() as usize];
        let mut way = Vec::new();
        let name = |place: u32| graph.fabric.vertex_name(graph.vertex(place));
        for dst in graph.fabric.node_ids() {
            if faults.len() >= MOST_FAULTS {
                break;
            }
            let home = graph.home(dst);
            state.fill(0);
            state[home.place as usize] = 2;
            if home.down != NONE && !self.delivered[dst.0 as usize] {
                let message = format!("`{}` has no entry for node {dst}, which is on it", name(home.place));
                let diagnostic = Diagnostic::new("missing-entry", message);
                faults.push(Fault { place: home.place, dst, entry: false, diagnostic });
            }
            for start in 0..graph.places() {
                if state[start as usize] != 0 || self.table.port(dst, start).is_none() {
                    continue;
                }
                way.clear();
                let mut at = start;
                let end = loop {
                    match state[at as usize] {
                        0 => {}
                        1 => {
                            let first = way.iter().position(|&place| place == at).unwrap_or(0);
                            let through: Vec<String> = way[first..].iter().take(4).map(|&place| name(place)).collect();
                            let dots = if way.len() - first > 4 { " -> ..." } else { "" };
                            let message = format!(
                                "what is for node {dst} goes in a circle: {}{dots} -> {}",
                                through.join(" -> "),
                                name(at)
                            );
                            let diagnostic = Diagnostic::new("loop", message).label("one of the entries of the circle");
                            faults.push(Fault { place: at, dst, entry: true, diagnostic });
                            break 3;
                        }
                        known => break known,
                    }
                    state[at as usize] = 1;
                    way.push(at);
                    match self.table.way(dst, at) {
                        Some(next) if graph.is_open(next.place) || next.place == home.place => at = next.place,
                        Some(next) => {
                            let message = format!(
                                "this link ends at `{}`, which passes nothing on to node {dst}",
                                name(next.place)
                            );
                            let diagnostic = Diagnostic::new("bad-entry", message);
                            faults.push(Fault { place: at, dst, entry: true, diagnostic });
                            break 3;
                        }
                        None => {
                            // The last place but one has an entry that leads here.
                            let message =
                                format!("`{}` has no entry for node {dst}, and this link leads there", name(at));
                            let diagnostic = Diagnostic::new("missing-entry", message);
                            let before = way[way.len().saturating_sub(2)];
                            faults.push(Fault { place: before, dst, entry: true, diagnostic });
                            break 3;
                        }
                    }
                };
                way.iter().for_each(|&place| state[place as usize] = end);
            }
            let missing = |place: &&u32| **place != home.place && self.table.port(dst, **place).is_none();
            if with_nodes.iter().any(|place| missing(&place)) {
                let reached = legal_paths(graph, home.place, None);
                let mut connected = vec![false; graph.places() as usize];
                reached.places.iter().for_each(|&(place, _)| connected[place as usize] = true);
                let lost = with_nodes.iter().filter(|place| missing(place) && connected[**place as usize]);
                for &place in lost.filter(|&&place| state[place as usize] == 0).take(MOST_FAULTS) {
                    let message = format!("`{}` has no entry for node {dst}", name(place));
                    let diagnostic = Diagnostic::new("missing-entry", message).label("links would lead there");
                    faults.push(Fault { place, dst, entry: false, diagnostic });
                }
            }
        }
        faults.truncate(MOST_FAULTS);
        faults
    }

    /// Reports the faults of this row and removes them.
    fn locate(&mut self, row: &mut Row<'_>, faults: &mut Vec<Fault>) {
        let Some(place) = self.place(row) else { return };
        let words = row.words(DESTINATIONS);
        faults.retain(|fault| {
            if fault.place != place {
                return true;
            }
            if !fault.entry {
                row.mistake(SWITCH, fault.diagnostic.clone());
                return false;
            }
            let holds = |word: &str| numbers(word, u32::MAX).is_ok_and(|nodes| nodes.contains(&fault.dst.0));
            match words.iter().find(|(_, word)| holds(word)) {
                Some((range, _)) => {
                    row.mistake_in(DESTINATIONS, range.clone(), fault.diagnostic.clone());
                    false
                }
                None => true,
            }
        });
    }
}

/// Parses `5` or `3-8`.
fn numbers(word: &str, end: u32) -> Result<std::ops::RangeInclusive<u32>, Diagnostic> {
    let number = |text: &str| -> Result<u32, Diagnostic> {
        match text.parse() {
            Ok(number) if number < end && !text.starts_with('+') => Ok(number),
            Ok(_) => Err(Diagnostic::new("out-of-range", format!("there is no node {text}"))
                .label(format!("nodes are numbered from 0 to {}", end.saturating_sub(1)))),
            Err(_) => Err(Diagnostic::new("bad-number", format!("\"{text}\" is not the number of a node"))
                .label("a number, or a range like 3-8")),
        }
    };
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last) = (number(first)?, number(last)?);
    if first > last {
        return Err(
            Diagnostic::new("bad-range", format!("the range {word} is empty")).help(format!("write {last}-{first}"))
        );
    }
    Ok(first..=last)
}

impl Forwarding {
    /// Returns the forwarding tables of a rule.
    ///
    /// Cost: a look at all routes, unless the rule has tables.
    ///
    /// # Errors
    /// Fails for a rule that chooses, a rule whose next link depends on more than the destination, and
    /// fabrics whose links have no ends.
    pub fn of(router: &dyn Router, fabric: &Arc<Fabric>) -> Result<Self, Vec<Diagnostic>> {
        let one = |message: String, help: &str| vec![Diagnostic::new("no-tables", message).help(help)];
        if router.choice().is_some() {
            let message = "this rule chooses the way of each message, so that it has no forwarding tables".to_owned();
            return Err(one(message, "take a rule with one route for each pair (dfsssp, min-hop, up-down, d-mod-k)"));
        }
        let mut table = Self::new(fabric)?;
        let mut route = Vec::new();
        for dst in fabric.node_ids() {
            if let Some(known) = router.table() {
                for place in 0..table.graph.places() {
                    known.port(dst, place).map(|port| table.set(dst, place, port));
                }
                continue;
            }
            for src in fabric.node_ids().filter(|&src| src != dst && router.reaches(src, dst)) {
                route.clear();
                router.route(src, dst, &mut route);
                let (up, down) = (table.graph.home(src).up, table.graph.home(dst).down);
                for &link in route.iter().filter(|link| link.0 != up && link.0 != down) {
                    let Some((from, place)) =
                        fabric.link(link).ends.and_then(|(from, _)| Some((from, table.graph.place_of(from)?)))
                    else {
                        continue;
                    };
                    let port = table
                        .graph
                        .links_out_of(place)
                        .binary_search_by_key(&link.0, |way| way.link)
                        .unwrap_or_default();
                    let before = table.way(dst, place);
                    if let Some(before) = before.filter(|before| before.link != link.0) {
                        let message = format!(
                            "this rule has no forwarding tables: at {} messages for node {dst} go on over `{}` or `{}`, by where they come from (node {src})",
                            fabric.vertex_name(from),
                            fabric.link_name(LinkId(before.link)),
                            fabric.link_name(link),
                        );
                        return Err(one(
                            message,
                            "take a rule that looks at the destination alone (dfsssp, min-hop, up-down, d-mod-k)",
                        ));
                    }
                    table.set(dst, place, port as u16);
                }
            }
        }
        Ok(table)
    }

    /// Writes the tables as CSV, `switch,link,destinations`, with a line for each link that has destinations,
    /// including links to nodes.
    ///
    /// # Errors
    /// Fails if `writer` fails.
    pub fn write(&self, mut writer: impl Write) -> io::Result<()> {
        let (graph, fabric) = (&self.graph, &*self.graph.fabric);
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let nodes_at = nodes_at(graph);
        writeln!(writer, "switch,link,destinations")?;
        for place in 0..graph.places() {
            let ways = graph.links_out_of(place);
            lists.iter_mut().for_each(Vec::clear);
            lists.resize(ways.len().max(lists.len()), Vec::new());
            for dst in fabric.node_ids() {
                if let Some(port) = self.port(dst, place) {
                    lists[usize::from(port)].push(dst.0);
                }
            }
            let switch = quoted(&fabric.vertex_name(graph.vertex(place)));
            let names: FxHashMap<LinkId, String> = link_names(fabric, graph.vertex(place)).into_iter().collect();
            let mut line = |link: u32, nodes: &[u32]| match nodes.is_empty() {
                true => Ok(()),
                false => {
                    let name = names.get(&LinkId(link)).map_or_else(String::new, |name| quoted(name));
                    writeln!(writer, "{switch},{name},{}", ranges(nodes))
                }
            };
            for (way, nodes) in ways.iter().zip(&lists) {
                line(way.link, nodes)?;
            }
            for &node in &nodes_at[place as usize] {
                line(graph.home(NodeId(node)).down, &[node])?;
            }
        }
        Ok(())
    }

    /// Number of entries, without those of switches for their own nodes.
    pub fn entries(&self) -> u64 {
        let nodes = self.graph.fabric.node_ids();
        let of = |dst| (0..self.graph.places()).filter(move |&place| self.port(dst, place).is_some()).count() as u64;
        nodes.map(of).sum()
    }
}

/// Returns the nodes attached to each place.
fn nodes_at(graph: &Graph) -> Vec<Vec<u32>> {
    let mut nodes = vec![Vec::new(); graph.places() as usize];
    for node in graph.fabric.node_ids().filter(|&node| graph.home(node).down != NONE) {
        nodes[graph.home(node).place as usize].push(node.0);
    }
    nodes
}

/// Returns text such as `0-15 17`.
fn ranges(nodes: &[u32]) -> String {
    let runs = nodes.chunk_by(|a, b| a + 1 == *b);
    let run = |run: &[u32]| match run {
        [one] => one.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    runs.map(run).collect::<Vec<_>>().join(" ")
}

fn quoted(text: &str) -> String {
    let plain = !text.contains([',', '"', '#', '\n']) && text.trim() == text;
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
