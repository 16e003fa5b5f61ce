//! Custom: a graph of directed links from a file, with routes if given.

use rustc_hash::FxHashMap;

use super::common::Topology;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, FabricBuilder, Irregular, Labels, LinkRole, RouteTable};
use crate::ids::{LinkId, NodeId, VertexId};
use crate::reading::csv::{self, Column, Row};
use crate::units::{Bandwidth, Time};

/// `[topology.custom]`: a graph of directed links from a file.
///
/// The fabric has only the links of the file: none are added between nodes and switches.
#[spec]
pub struct CustomSpec {
    /// Number of nodes.
    pub nodes: Located<u32>,
    /// CSV file of the links, relative to the file that names it: `id,from,to,bandwidth,latency`. `from`
    /// and `to` are nodes, by number, or switches, by any other name; both are empty for a link that only
    /// routes use. `latency` may be left out.
    pub links: Located<String>,
    /// CSV file of the routes, `src,dst,links`, with node numbers, and link ids in order, separated by
    /// blanks. Default: shortest paths.
    pub routes: Option<Located<String>>,
    /// Bandwidth of each output port of a switch (default: no limit beside the link's own).
    pub switch_port_bandwidth: Option<Located<Bandwidth>>,
}

/// Columns of the table of links.
pub const LINK_COLUMNS: [Column; 5] = [
    Column::required("id"),
    Column::required("from"),
    Column::required("to"),
    Column::required("bandwidth"),
    Column::optional("latency"),
];
const ID: usize = 0;
const FROM: usize = 1;
const TO: usize = 2;
const BANDWIDTH: usize = 3;
const LATENCY: usize = 4;

/// Columns of the table of routes.
pub const ROUTE_COLUMNS: [Column; 3] = [Column::required("src"), Column::required("dst"), Column::required("links")];
const SRC: usize = 0;
const DST: usize = 1;
const LINKS: usize = 2;

/// Largest number of nodes and of links: a fabric of this size fits in the memory of a usual machine.
const MOST_PARTS: u32 = 1 << 24;
/// Largest number of links in all routes together [entries of 4 B].
const MOST_ROUTE_LINKS: usize = 1 << 31;

/// Line of the links file.
struct ListedLink {
    ends: Option<(VertexId, VertexId)>,
    bandwidth: Bandwidth,
    latency: Time,
}

/// Content of the links file.
struct LinkList {
    nodes: u32,
    links: Vec<ListedLink>,
    ids: Vec<String>,
    by_id: FxHashMap<String, LinkId>,
    switches: Vec<String>,
    by_switch: FxHashMap<String, VertexId>,
    /// By node: true if messages of other nodes may cross it, because a link joins it directly to another
    /// node or a given route leads through it.
    transit: Vec<bool>,
}

impl Topology for CustomSpec {
    fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        self.check()?;
        let nodes = *self.nodes;
        let mut list = LinkList::new(nodes);
        let input = sources.open(&self.links).map_err(|diagnostic| vec![diagnostic])?;
        let in_routes = self.routes.is_some();
        csv::read(input, &LINK_COLUMNS, |row| list.add(row, in_routes))?;
        let routes = match &self.routes {
            Some(path) => {
                let input = sources.open(path).map_err(|diagnostic| vec![diagnostic])?;
                let mut routes = Routes {
                    last_use: vec![(0, 0); list.links.len()],
                    list: &mut list,
                    table: RouteTable::default(),
                    entries: 0,
                };
                csv::read(input, &ROUTE_COLUMNS, |row| routes.add(row))?;
                Some(routes.table)
            }
            None => None,
        };
        let mut builder = FabricBuilder::new(format!("custom {}", *self.links), nodes, list.switches.len() as u32);
        let port = self.switch_port_bandwidth.as_deref().copied();
        for link in &list.links {
            match link.ends {
                Some((from, to)) => {
                    let capacity = match port {
                        Some(port) if from.0 >= nodes => link.bandwidth.min(port),
                        _ => link.bandwidth,
                    };
                    builder.link(from, to, capacity, link.latency, list.role(from, to))
                }
                None => builder.loose_link(link.bandwidth, link.latency),
            };
        }
        if let Some(routes) = routes {
            builder.routes(routes);
        }
        let vertices = (0..nodes).map(|node| format!("node {node}")).chain(list.switches).collect();
        builder.labels(Labels { vertices, links: list.ids });
        Ok(builder.finish(Irregular))
    }

    fn files(&mut self) -> Vec<&mut Located<String>> {
        std::iter::once(&mut self.links).chain(&mut self.routes).collect()
    }
}

impl CustomSpec {
    /// Reports the mistakes that show without the files.
    fn check(&self) -> Result<(), Vec<Diagnostic>> {
        let mut mistakes = Vec::new();
        if !(1..=MOST_PARTS).contains(&*self.nodes) {
            mistakes.push(
                Diagnostic::new("out-of-range", format!("a fabric cannot have {} nodes", *self.nodes))
                    .at_value(&self.nodes)
                    .label(format!("1 to {MOST_PARTS} nodes")),
            );
        }
        if let Some(port) = &self.switch_port_bandwidth
            && port.bytes_per_second() <= 0.0
        {
            mistakes.push(
                Diagnostic::new("zero-bandwidth", "a port bandwidth of 0 carries nothing")
                    .at_value(port)
                    .help("leave `switch-port-bandwidth` out for no limit"),
            );
        }
        if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
    }
}

impl LinkList {
    fn new(nodes: u32) -> Self {
        Self {
            nodes,
            links: Vec::new(),
            ids: Vec::new(),
            by_id: FxHashMap::default(),
            switches: Vec::new(),
            by_switch: FxHashMap::default(),
            transit: vec![false; nodes as usize],
        }
    }

    /// Adds the link of a row. `in_routes` is true if routes are given, which may name links without ends.
    fn add(&mut self, row: &mut Row<'_>, in_routes: bool) {
        let id = self.new_id(row, in_routes);
        let ends = self.ends(row, in_routes);
        let bandwidth = row.bandwidth(BANDWIDTH);
        let latency = if row.bytes(LATENCY).is_empty() { Some(Time::ZERO) } else { row.time(LATENCY) };
        let (Some(id), Some(ends), Some(bandwidth), Some(latency)) = (id, ends, bandwidth, latency) else {
            return;
        };
        if self.links.len() >= MOST_PARTS as usize {
            row.mistake(ID, Diagnostic::new("too-large", format!("a fabric has at most {MOST_PARTS} links")));
            return row.stop();
        }
        if let Some((from, to)) = ends
            && from.0 < self.nodes
            && to.0 < self.nodes
        {
            self.transit[from.0 as usize] = true;
            self.transit[to.0 as usize] = true;
        }
        self.by_id.insert(id.clone(), LinkId(self.links.len() as u32));
        self.ids.push(id);
        self.links.push(ListedLink { ends, bandwidth, latency });
    }

    /// Returns the id of a line if it is new and, where routes list ids separated by blanks, has no blanks.
    fn new_id(&mut self, row: &mut Row<'_>, in_routes: bool) -> Option<String> {
        let id = row.text(ID)?.into_owned();
        let diagnostic = if id.is_empty() {
            Diagnostic::new("empty-cell", "`id` is empty").label("a name for the link")
        } else if in_routes && id.contains(|c: char| c.is_ascii_whitespace()) {
            Diagnostic::new("bad-name", format!("\"{id}\" cannot be the id of a link"))
                .label("a name without blanks")
                .help("routes list ids with blanks between them")
        } else if self.by_id.contains_key(&id) {
            Diagnostic::new("duplicate-name", format!("there are two links `{id}`"))
                .label("already the id of a link above")
                .help("a link is directed: the two directions of a cable are two links with an id each")
        } else {
            return Some(id);
        };
        row.mistake(ID, diagnostic);
        None
    }

    /// Returns both ends of a link, or `Some(None)` for a link without ends.
    fn ends(&mut self, row: &mut Row<'_>, in_routes: bool) -> Option<Option<(VertexId, VertexId)>> {
        let (from, to) = (row.text(FROM)?, row.text(TO)?);
        match (from.is_empty(), to.is_empty()) {
            (true, true) if in_routes => return Some(None),
            (false, false) => {}
            (true, true) => {
                let diagnostic = Diagnostic::new("missing-end", "a link without ends can only be used by given routes")
                    .label("where the link starts is expected")
                    .help("fill in `from` and `to`, or give `routes = \"FILE.csv\"`");
                row.mistake(FROM, diagnostic);
                return None;
            }
            (true, false) | (false, true) => {
                let (column, name) = if from.is_empty() { (FROM, "from") } else { (TO, "to") };
                let diagnostic = Diagnostic::new("missing-end", "a link has both ends or none")
                    .label(format!("`{name}` is expected"));
                row.mistake(column, diagnostic);
                return None;
            }
        }
        let from = self.vertex(row, FROM, &from)?;
        let to = self.vertex(row, TO, &to)?;
        if from == to {
            let diagnostic = Diagnostic::new("loop", "a link leads from a place to itself")
                .label("another node or switch is expected")
                .help("leave it out: a message of a node to itself crosses no link");
            row.mistake(TO, diagnostic);
            return None;
        }
        Some(Some((from, to)))
    }

    /// Returns the node of a number, or the switch of any other name. A number that no node has is a mistake:
    /// as a switch it would silently make another fabric.
    fn vertex(&mut self, row: &mut Row<'_>, column: usize, name: &str) -> Option<VertexId> {
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            return match name.parse() {
                Ok(number) if number < self.nodes => Some(VertexId(number)),
                _ => {
                    let diagnostic = Diagnostic::new("out-of-range", format!("there is no node {name}"))
                        .label(format!("nodes are numbered from 0 to {}", self.nodes.saturating_sub(1)))
                        .help(format!("raise `nodes`, or give a switch a name that is no number: s{name}"));
                    row.mistake(column, diagnostic);
                    None
                }
            };
        }
        if let Some(&switch) = self.by_switch.get(name) {
            return Some(switch);
        }
        if self.switches.len() >= MOST_PARTS as usize {
            row.mistake(column, Diagnostic::new("too-large", format!("a fabric has at most {MOST_PARTS} switches")));
            row.stop();
            return None;
        }
        let switch = VertexId(self.nodes + self.switches.len() as u32);
        self.by_switch.insert(name.to_owned(), switch);
        self.switches.push(name.to_owned());
        Some(switch)
    }

    fn role(&self, from: VertexId, to: VertexId) -> LinkRole {
        let is_end = |vertex: VertexId| self.transit.get(vertex.0 as usize) == Some(&false);
        if is_end(from) {
            LinkRole::Injection
        } else if is_end(to) {
            LinkRole::Ejection
        } else {
            LinkRole::Network { tier: 0 }
        }
    }

    fn vertex_name(&self, vertex: VertexId) -> String {
        match self.switches.get((vertex.0 as usize).wrapping_sub(self.nodes as usize)) {
            Some(name) => format!("`{name}`"),
            None => format!("node {vertex}"),
        }
    }
}

/// Content of the routes file, checked against the links.
struct Routes<'a> {
    list: &'a mut LinkList,
    table: RouteTable,
    entries: usize,
    /// By link: the line of the last route over it, and the link's position in that route.
    last_use: Vec<(u64, usize)>,
}

impl Routes<'_> {
    fn add(&mut self, row: &mut Row<'_>) {
        let src = row.number(SRC, "node", self.list.nodes).map(NodeId);
        let dst = row.number(DST, "node", self.list.nodes).map(NodeId);
        let words = row.words(LINKS);
        let mut route = Vec::with_capacity(words.len());
        let mut unknown = false;
        for (range, word) in &words {
            match self.list.by_id.get(*word) {
                Some(&link) => route.push(link),
                None => {
                    unknown = true;
                    let diagnostic = Diagnostic::new("unknown-link", format!("there is no link `{word}`"))
                        .label("the id of a link is expected");
                    row.mistake_in(LINKS, range.clone(), diagnostic);
                }
            }
        }
        let (Some(src), Some(dst), false) = (src, dst, unknown) else { return };
        if let Some((word, diagnostic)) = self.fault(row.line(), src, dst, &route) {
            return match words.get(word) {
                Some((range, _)) => row.mistake_in(LINKS, range.clone(), diagnostic),
                None => row.mistake(LINKS, diagnostic),
            };
        }
        self.entries += route.len();
        if self.entries > MOST_ROUTE_LINKS {
            let message = format!("all routes together have more than {MOST_ROUTE_LINKS} links");
            row.mistake(LINKS, Diagnostic::new("too-large", message));
            return row.stop();
        }
        for &link in route.iter().skip(1) {
            if let Some((from, _)) = self.list.links[link.0 as usize].ends
                && let Some(transit) = self.list.transit.get_mut(from.0 as usize)
            {
                *transit = true;
            }
        }
        if !self.table.insert(src, dst, &route) {
            let diagnostic = Diagnostic::new("duplicate-route", format!("there are two routes from {src} to {dst}"))
                .label("a route is given for each pair once");
            row.mistake(DST, diagnostic);
        }
    }

    /// Returns the mistake of a route and the position of the wrong link.
    fn fault(&mut self, line: u64, src: NodeId, dst: NodeId, route: &[LinkId]) -> Option<(usize, Diagnostic)> {
        if src == dst {
            return (!route.is_empty()).then(|| {
                let diagnostic = Diagnostic::new("bad-route", "a message of a node to itself crosses no links");
                (0, diagnostic.label("nothing is expected").help("leave the line out"))
            });
        }
        if route.is_empty() {
            let diagnostic = Diagnostic::new("bad-route", format!("the route from node {src} to node {dst} is empty"));
            return Some((0, diagnostic.label("the ids of its links are expected")));
        }
        let mut at = Some(VertexId::from(src));
        for (i, &link) in route.iter().enumerate() {
            let (last_line, earlier) = std::mem::replace(&mut self.last_use[link.0 as usize], (line, i));
            if last_line == line {
                let diagnostic = Diagnostic::new("bad-route", "a route crosses a link twice");
                return Some((i, diagnostic.label(format!("also its link {}", earlier + 1))));
            }
            let ends = self.list.links[link.0 as usize].ends;
            if let (Some(at), Some((from, _))) = (at, ends)
                && at != from
            {
                let message = format!("the route from node {src} to node {dst} is not connected");
                let (is, from) = (self.list.vertex_name(at), self.list.vertex_name(from));
                let label = format!("this link starts at {from}, the route is at {is}");
                return Some((i, Diagnostic::new("bad-route", message).label(label)));
            }
            at = ends.map(|(_, to)| to);
        }
        match at {
            Some(at) if at != VertexId::from(dst) => {
                let message = format!("the route from node {src} to node {dst} does not get there");
                let label = format!("this link ends at {}", self.list.vertex_name(at));
                Some((route.len() - 1, Diagnostic::new("bad-route", message).label(label)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
