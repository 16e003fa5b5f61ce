//! Dragonfly: groups of switches, joined pair by pair.

mod shortest;

use super::between::{Arrangement, CablesByPair, GlobalCableKeys, GlobalPorts};
use super::common::{Mistakes, Topology, largest};
use super::direct::{Cable, CommonLinkValues, Direct, LinkValues, Links, PairHash, complete, pair, wrong};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, Fact, Family, ShortestPaths, Sketch, crossings};
use crate::ids::{IdVec, LinkId, NodeId};
use crate::units::{Bandwidth, Time};

/// `[topology.dragonfly]`: g groups of a switches, each with p nodes and h ports to other groups.
///
/// The switches of a group form a complete graph. With `rows` and `columns` they form a Cascade group: a
/// complete graph along each row and along each column. Global port `k = r h + j` is port j of switch r of a
/// group. The `arrangement` maps its slot `s = k mod (g - 1)` and round `k / (g - 1)` to a group and a port.
/// Each pair of groups has `a h / (g - 1)` cables, rounded down, spread over the switches. Ports that are
/// left over are free.
///
/// Source: J. Kim et al., "Technology-driven, highly-scalable dragonfly topology", ISCA 2008; arrangements:
/// C. Camarero et al., "Topological characterization of Hamming and dragonfly networks and its implications
/// on routing", ACM TACO 11 (2014); E. Hastings et al., "Comparing global link arrangements for dragonfly
/// networks", Cluster 2015. Cascade: G. Faanes et al., "Cray Cascade: a scalable HPC system based on a
/// dragonfly network", SC 2012.
#[spec]
pub struct DragonflySpec {
    /// Nodes of a switch.
    pub p: Located<u32>,
    /// Switches of a group (default 2p, or rows x columns).
    pub a: Option<Located<u32>>,
    /// Ports of a switch to other groups (default p).
    pub h: Option<Located<u32>>,
    /// Number of groups (default a h + 1, the maximum).
    pub g: Option<Located<u32>>,
    /// Rows of a Cascade group: switches that differ only in their row are joined.
    pub rows: Option<Located<u32>>,
    /// Columns of a Cascade group.
    pub columns: Option<Located<u32>>,
    /// Cables between two switches of a row, or of a group without rows (default 1).
    pub row_links: Option<Located<u32>>,
    /// Cables between two switches of a column (default 1; Cascade has 3).
    pub column_links: Option<Located<u32>>,
    /// Cables between two groups (default a h / (g - 1), rounded down: as many as the ports allow).
    pub global_links: Option<Located<u32>>,
    /// Rule that says to which group each global port leads (default absolute).
    pub arrangement: Option<Located<Arrangement>>,
    /// CSV file that lists the cables between groups, in place of an arrangement:
    /// `from-group,from-switch,to-group,to-switch,cables`; `cables` is their number (default 1).
    pub cables: Option<Located<String>>,
    /// Seed of `arrangement = "random"` (default 1).
    pub seed: Option<Located<u64>>,
    /// Bandwidth of a link in each direction, if its kind has none of its own.
    pub bandwidth: Located<Bandwidth>,
    /// Latency of a link, if its kind has none of its own (default 0 s).
    pub latency: Option<Time>,
    /// Bandwidth of the host links.
    pub host_bandwidth: Option<Located<Bandwidth>>,
    /// Latency of the host links.
    pub host_latency: Option<Time>,
    /// Bandwidth of the links inside a group.
    pub local_bandwidth: Option<Located<Bandwidth>>,
    /// Latency of the links inside a group.
    pub local_latency: Option<Time>,
    /// Bandwidth of the links between groups.
    pub global_bandwidth: Option<Located<Bandwidth>>,
    /// Latency of the links between groups.
    pub global_latency: Option<Time>,
    /// Bandwidth of a switch's output port, if lower than that of its cable.
    pub switch_port_bandwidth: Option<Located<Bandwidth>>,
}

/// Parameters of a dragonfly, checked.
#[derive(Clone, Debug)]
struct Size {
    p: u32,
    a: u32,
    h: u32,
    g: u32,
    /// Rows and columns, if the groups are Cascade groups.
    grid: Option<(u32, u32)>,
    row_links: u32,
    column_links: u32,
    /// Cables between two groups under the arrangement.
    global_links: u32,
}

/// Properties and routes of a dragonfly.
#[derive(Clone, Debug)]
struct Dragonfly {
    size: Size,
    /// Rule by which groups are joined, or `file`.
    arrangement: &'static str,
    /// Group of each switch.
    groups: Vec<u32>,
    ids: Links,
    /// Cables inside a group.
    inside: u32,
    /// Cables by pair of groups; `None` if a file leaves pairs without cables.
    by_pair: Option<CablesByPair>,
    /// True if shortest paths are computed by arithmetic: groups are complete graphs, and the switches of a
    /// group and the cables between two groups have a bit each in 64.
    has_shortest_paths: bool,
}

impl Topology for DragonflySpec {
    fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let size = self.size(&mut mistakes);
        let host = LinkValues { bandwidth: self.host_bandwidth.as_ref(), latency: self.host_latency };
        let local = LinkValues { bandwidth: self.local_bandwidth.as_ref(), latency: self.local_latency };
        let global = LinkValues { bandwidth: self.global_bandwidth.as_ref(), latency: self.global_latency };
        let (bandwidth, latency) = (&self.bandwidth, self.latency);
        let every = CommonLinkValues { bandwidth, latency, port: self.switch_port_bandwidth.as_ref() };
        let mut links = every.cables(host, vec![local, global], &mut mistakes);
        if size.grid.is_some() {
            // Rows and columns are alike.
            links.network.insert(0, links.network[0]);
        }
        let tier = links.network.len() as u8 - 1;
        mistakes.none()?;

        let mut cables = size.local_cables();
        let choice = self.choice();
        choice.cables(&size.between(tier), sources, &mut cables)?;
        let arrangement = choice.name();
        let (p, a, h, g) = (size.p, size.a, size.h, size.g);
        let name = match size.grid {
            Some((rows, columns)) => format!("dragonfly p={p} a={rows}x{columns} h={h} g={g}"),
            None => format!("dragonfly p={p} a={a} h={h} g={g}"),
        };
        let groups = (0..a * g).map(|switch| switch / a).collect();
        let by_pair = CablesByPair::new(g, tier, &cables, |switch| switch / a);
        let inside = cables.iter().filter(|cable| cable.tier < tier).count() as u32 / g;
        let fits = by_pair.as_ref().is_some_and(|by_pair| a.max(by_pair.most()) <= u64::BITS);
        let has_shortest_paths = size.grid.is_none() && fits;
        let ids = Links { nodes: p * a * g };
        let family = Dragonfly { size, arrangement, groups, inside, ids, by_pair, has_shortest_paths };
        Ok(Direct { name, hosts: vec![p; (a * g) as usize], cables }.build(&links, family))
    }

    fn files(&mut self) -> Vec<&mut Located<String>> {
        self.cables.iter_mut().collect()
    }
}

impl DragonflySpec {
    fn size(&self, mistakes: &mut Mistakes) -> Size {
        let mut some = |value: &Option<Located<u32>>| value.as_ref().map(|value| mistakes.size(value));
        let (rows, columns) = (some(&self.rows), some(&self.columns));
        let (row_links, column_links) = (some(&self.row_links), some(&self.column_links));
        let a = some(&self.a);
        let p = mistakes.size(&self.p);
        // A dragonfly of one group has no use for global ports.
        let h = self.h.as_deref().copied().unwrap_or(p);
        let grid = match (&self.rows, &self.columns) {
            (Some(given), None) | (None, Some(given)) => {
                mistakes.push(
                    wrong(given, "a group has both rows and columns, or neither", "`rows` or `columns` is missing")
                        .help("write both, or leave both out for groups that are complete graphs"),
                );
                None
            }
            _ => rows.zip(columns),
        };
        let of_grid = grid.map(|(rows, columns)| rows.saturating_mul(columns));
        if let (Some(of_grid), Some(given)) = (of_grid, &self.a)
            && **given != of_grid
        {
            let message = format!("a group of {} switches does not have rows x columns = {of_grid}", **given);
            mistakes
                .push(wrong(given, message, format!("{of_grid}")).help("leave `a` out beside `rows` and `columns`"));
        }
        if let (None, Some(given)) = (grid, &self.column_links) {
            let message = "`column-links` has no meaning without rows and columns";
            mistakes.push(wrong(given, message, "this group has no columns").help("write `row-links` instead"));
        }
        let a = of_grid.or(a).unwrap_or(p.saturating_mul(2));
        let choice = self.choice();
        let ports = largest(&self.p, [&self.a, &self.h, &self.rows, &self.columns]);
        let (g, links) = choice.groups(a, h, (self.g.as_ref(), self.global_links.as_ref()), ports, mistakes);
        let size = Size {
            p,
            a,
            h,
            g,
            grid,
            row_links: row_links.unwrap_or(1),
            column_links: column_links.unwrap_or(1),
            global_links: links,
        };
        let sizes = [&self.a, &self.g, &self.h, &self.rows, &self.columns, &self.row_links, &self.column_links];
        mistakes.check_fabric_size(size.counts(), largest(&self.p, sizes));
        size
    }

    /// Returns the keys that describe the cables between groups.
    fn choice(&self) -> GlobalCableKeys<'_> {
        GlobalCableKeys {
            arrangement: self.arrangement.as_ref(),
            file: self.cables.as_ref(),
            seed: self.seed.as_ref(),
            ports: "h",
        }
    }
}

impl Size {
    /// Returns the number of nodes, switches and links, or `None` if they do not fit in 64 bits.
    fn counts(&self) -> Option<(u64, u64, u64)> {
        let [p, a, g] = [self.p, self.a, self.g].map(u64::from);
        let switches = a.checked_mul(g)?;
        let nodes = switches.checked_mul(p)?;
        let pairs = |n: u64| n.checked_mul(n.saturating_sub(1)).map(|twice| twice / 2);
        let inside = match self.grid {
            Some((rows, columns)) => {
                let along_rows = u64::from(rows).checked_mul(pairs(columns.into())?)?;
                let along_columns = u64::from(columns).checked_mul(pairs(rows.into())?)?;
                along_rows
                    .checked_mul(self.row_links.into())?
                    .checked_add(along_columns.checked_mul(self.column_links.into())?)?
            }
            None => pairs(a)?.checked_mul(self.row_links.into())?,
        };
        let between = pairs(g)?.checked_mul(self.global_links.into())?;
        let cables = g.checked_mul(inside)?.checked_add(between)?.checked_add(nodes)?;
        Some((nodes, switches, cables.checked_mul(2)?))
    }

    /// Returns the global ports of the groups.
    fn between(&self, tier: u8) -> GlobalPorts {
        GlobalPorts { a: self.a, h: self.h, g: self.g, links: self.global_links, stride: self.a, first: 0, tier }
    }

    /// Returns the cables inside groups.
    fn local_cables(&self) -> Vec<Cable> {
        let mut cables = Vec::new();
        for first in (0..self.g).map(|group| group * self.a) {
            let Some((rows, columns)) = self.grid else {
                complete(&(first..first + self.a).collect::<Vec<_>>(), self.row_links, 0, &mut cables);
                continue;
            };
            for row in 0..rows {
                let line: Vec<u32> = (0..columns).map(|column| first + row * columns + column).collect();
                complete(&line, self.row_links, 0, &mut cables);
            }
            for column in 0..columns {
                let line: Vec<u32> = (0..rows).map(|row| first + row * columns + column).collect();
                complete(&line, self.column_links, 1, &mut cables);
            }
        }
        cables
    }
}

impl Dragonfly {
    /// Returns the number of links between two switches of a group.
    #[inline]
    fn steps(&self, from: u32, to: u32) -> u32 {
        match self.size.grid {
            _ if from == to => 0,
            Some((_, columns)) => {
                let (from, to) = (from % self.size.a, to % self.size.a);
                u32::from(from / columns != to / columns) + u32::from(from % columns != to % columns)
            }
            None => 1,
        }
    }

    /// Appends the path between two switches of a group. In a Cascade group it goes along the row and the
    /// column; the pair of nodes decides which comes first.
    fn inside(&self, from: u32, to: u32, spread: &mut PairHash, route: &mut Vec<LinkId>) {
        let Size { a, grid, row_links, column_links, .. } = self.size;
        let first = from / a * self.inside;
        let (from, to) = (from % a, to % a);
        let Some((rows, columns)) = grid else {
            if from != to {
                let cable = first + pair(a, from, to) * row_links + spread.below(row_links);
                route.push(self.ids.cable(cable, from > to));
            }
            return;
        };
        let ((r, c), (to_r, to_c)) = ((from / columns, from % columns), (to / columns, to % columns));
        let of_row = columns * (columns - 1) / 2 * row_links;
        let along_row = |row: u32, spread: &mut PairHash| {
            let cable = first + row * of_row + pair(columns, c, to_c) * row_links + spread.below(row_links);
            self.ids.cable(cable, c > to_c)
        };
        let along_column = |column: u32, spread: &mut PairHash| {
            let before = first + rows * of_row + column * (rows * (rows - 1) / 2 * column_links);
            let cable = before + pair(rows, r, to_r) * column_links + spread.below(column_links);
            self.ids.cable(cable, r > to_r)
        };
        match (c == to_c, r == to_r) {
            (true, true) => {}
            (false, true) => route.push(along_row(r, spread)),
            (true, false) => route.push(along_column(c, spread)),
            (false, false) if spread.below(2) == 0 => {
                route.extend([along_row(r, spread), along_column(to_c, spread)]);
            }
            (false, false) => route.extend([along_column(c, spread), along_row(to_r, spread)]),
        }
    }
}

/// Cable between groups: the switch that it leaves, the switch it leads to, its number, and true if this is against
/// its direction.
type GlobalCable = (u32, u32, u32, bool);

impl Dragonfly {
    /// Returns the cables between two groups that need the fewest steps from a switch to another, and their number.
    #[inline]
    fn nearest<'a>(
        &self,
        cables: &'a [GlobalCable],
        from: u32,
        to: u32,
    ) -> (u32, impl Iterator<Item = &'a GlobalCable>) {
        let steps = move |&(leave, enter, ..): &GlobalCable| self.steps(from, leave) + self.steps(enter, to);
        let (mut least, mut count) = (u32::MAX, 0);
        for steps in cables.iter().map(steps) {
            if steps < least {
                (least, count) = (steps, 0);
            }
            count += u32::from(steps == least);
        }
        (count, cables.iter().filter(move |cable| steps(cable) == least))
    }

    /// Appends the path from a switch to another over a cable between their groups.
    #[inline]
    fn over(
        &self,
        &(leave, enter, cable, back): &GlobalCable,
        (from, to): (u32, u32),
        spread: &mut PairHash,
        route: &mut Vec<LinkId>,
    ) {
        self.inside(from, leave, spread, route);
        route.push(self.ids.cable(cable, back));
        self.inside(enter, to, spread, route);
    }
}

impl Family for Dragonfly {
    fn kind(&self) -> &'static str {
        "a dragonfly"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        let number = |value: u32| Fact::Number(value.into());
        let Size { p, a, h, g, grid, .. } = self.size;
        let mut facts = vec![("p", number(p)), ("a", number(a)), ("h", number(h)), ("g", number(g))];
        if let Some((rows, columns)) = grid {
            facts.extend([("rows", number(rows)), ("columns", number(columns))]);
        }
        facts.push(("arrangement", Fact::Word(self.arrangement.to_owned())));
        ("dragonfly", facts)
    }

    /// Returns false if a file leaves groups apart.
    fn is_connected(&self) -> bool {
        self.arrangement != "file"
    }

    /// Returns a name such as `g3.s5`, or `g3.r2c5` in a Cascade group.
    fn switch_name(&self, switch: u32) -> String {
        let (group, at) = (switch / self.size.a, switch % self.size.a);
        match self.size.grid {
            Some((_, columns)) => format!("g{group}.r{}c{}", at / columns, at % columns),
            None => format!("g{group}.s{at}"),
        }
    }

    fn tier_name(&self, tier: u8) -> String {
        match (self.size.grid, tier) {
            (Some(_), 0) => "along the rows of groups",
            (Some(_), 1) => "along the columns of groups",
            (None, 0) => "inside groups",
            _ => "between groups",
        }
        .to_owned()
    }

    fn groups(&self) -> Option<&[u32]> {
        Some(&self.groups)
    }

    fn default_routing(&self) -> &'static str {
        if self.has_routes() { "family" } else { "shortest-path" }
    }

    fn has_routes(&self) -> bool {
        self.by_pair.is_some()
    }

    /// Appends the path to a cable to the other group, over it, and to the destination. A hash of the pair
    /// chooses among the cables between the two groups that need the fewest steps.
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let Some(by_pair) = &self.by_pair else { return };
        let mut spread = PairHash::new(src, dst);
        let Size { p, a, .. } = self.size;
        let (from, to) = (src.0 / p, dst.0 / p);
        route.push(self.ids.injection(src));
        if from / a == to / a {
            self.inside(from, to, &mut spread, route);
        } else {
            let (count, mut nearest) = self.nearest(by_pair.between(from / a, to / a), from, to);
            if let Some(cable) = nearest.nth(spread.below(count) as usize) {
                self.over(cable, (from, to), &mut spread, route);
            }
        }
        route.push(self.ids.ejection(dst));
    }

    /// Counts the routes from a node to the nodes of a switch together: only their cables between groups differ.
    fn count(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u32>) {
        let Some(by_pair) = &self.by_pair else { return };
        let Size { p, a, .. } = self.size;
        // A path inside a group may be drawn, too.
        let is_drawn = self.size.grid.is_some() || self.size.row_links > 1;
        let (mut left, mut route, mut taken) = (ends, Vec::new(), Vec::new());
        while let Some(&(src, dst)) = left.first() {
            let (from, to) = (src.0 / p, dst.0 / p);
            let of_switch = to * p..(to + 1) * p;
            let alike = left.iter().take_while(|(one, other)| *one == src && of_switch.contains(&other.0)).count();
            let (alike, behind) = left.split_at(alike);
            left = behind;
            if is_drawn || from / a == to / a {
                crossings(alike, |src, dst, route| self.route(src, dst, route), |link| counts[link] += 1);
                continue;
            }
            let (count, nearest) = self.nearest(by_pair.between(from / a, to / a), from, to);
            taken.clear();
            taken.resize(count as usize, 0);
            for &(src, dst) in alike {
                taken[PairHash::new(src, dst).below(count) as usize] += 1;
                counts[self.ids.ejection(dst)] += 1;
            }
            counts[self.ids.injection(src)] += alike.len() as u32;
            for (cable, &times) in nearest.zip(&taken) {
                route.clear();
                self.over(cable, (from, to), &mut PairHash::new(src, dst), &mut route);
                route.iter().for_each(|&link| counts[link] += times);
            }
        }
    }

    fn shortest_paths(&self) -> Option<&dyn ShortestPaths> {
        self.has_shortest_paths.then_some(self)
    }

    /// Orders local links before global ones: a packet changes its channel when it enters another group.
    fn channel_order(&self, fabric: &Fabric) -> Vec<u32> {
        fabric.order_by_tiers()
    }

    fn sketch(&self) -> Sketch<'_> {
        Sketch::Groups { of: &self.groups, name: "group" }
    }
}
