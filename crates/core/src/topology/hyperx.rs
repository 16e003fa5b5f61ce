//! HyperX: a complete graph along each line of each dimension.

use super::common::{Mistakes, OneOrList, Topology, times};
use super::direct::{CommonLinkValues, Direct, LinkValues, Links, PairHash, complete, pair};
use crate::base::Arrange;
use crate::base::divisor::Divisor;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{
    Bisection, Fabric, Fact, Family, Lattice, PathEnd, ShortestPaths, Sketch, Step, dimension_name, leading_half,
};
use crate::ids::{LinkId, NodeId};
use crate::units::{Bandwidth, Time};

/// `[topology.hyperx]`: switches that differ in exactly one coordinate are joined.
///
/// Flattened butterflies and Hamming graphs are the same topology. Switch numbers are `x0 + x1 S0 + x2 S0 S1
/// ...`.
///
/// Source: J. H. Ahn et al., "HyperX: topology, routing, and packaging of efficient large-scale networks", SC
/// 2009; J. Kim et al., "Flattened butterfly: a cost-efficient topology for high-radix networks", ISCA 2007.
#[spec]
pub struct HyperxSpec {
    /// Switches along each dimension.
    pub shape: Located<Vec<Located<u32>>>,
    /// Nodes of a switch.
    pub nodes: Located<u32>,
    /// Cables between two switches that differ in one coordinate (default 1): one value, or a list with one for each
    /// dimension.
    pub links: Option<Located<OneOrList<u32>>>,
    /// Bandwidth of a cable in each direction: one value, or a list with one for each dimension.
    pub bandwidth: Located<OneOrList<Bandwidth>>,
    /// Latency of a cable (default 0 s): one value, or a list with one for each dimension.
    pub latency: Option<Located<OneOrList<Time>>>,
    /// Bandwidth of the host links (default: the largest of the dimensions).
    pub host_bandwidth: Option<Located<Bandwidth>>,
    /// Latency of the host links (default: the largest of the dimensions).
    pub host_latency: Option<Time>,
    /// Bandwidth of a switch's output port, if lower than that of its cable.
    pub switch_port_bandwidth: Option<Located<Bandwidth>>,
}

/// Properties and routes of a HyperX.
#[derive(Clone, Debug)]
struct Hyperx {
    shape: Vec<u32>,
    dimensions: Vec<Dimension>,
    nodes: u32,
    switches: u32,
    ids: Links,
    /// By switch: its line along the first dimension or, with more than two dimensions, its plane across the
    /// last.
    lines: Vec<u32>,
}

/// Dimension of a HyperX.
#[derive(Clone, Copy, Debug)]
struct Dimension {
    size: Divisor,
    /// Difference between the numbers of neighbouring switches.
    stride: Divisor,
    /// Cables between two switches.
    links: u32,
    /// First cable along this dimension.
    first: u32,
}

impl Dimension {
    /// Returns the dimensions of a HyperX.
    fn all(shape: &[u32], links: &[u32], switches: u32) -> Vec<Self> {
        let (mut stride, mut first) = (1, 0);
        let dimension = |(&size, &links)| {
            let dimension = Self { size: Divisor::new(size), stride: Divisor::new(stride), links, first };
            stride *= size;
            first += switches / size * (size * (size - 1) / 2) * links;
            dimension
        };
        shape.iter().zip(links).map(dimension).collect()
    }

    /// Returns the line of a switch and its coordinate there.
    #[inline]
    fn place(&self, switch: u32) -> (u32, u32) {
        let (above, below) = self.stride.divide(switch);
        let (line, coordinate) = self.size.divide(above);
        (line * self.stride.value() + below, coordinate)
    }

    /// Returns the first cable between coordinates x and y of a line.
    #[inline]
    fn cable(&self, line: u32, x: u32, y: u32) -> u32 {
        let size = self.size.value();
        self.first + (line * (size * (size - 1) / 2) + pair(size, x, y)) * self.links
    }
}

impl Topology for HyperxSpec {
    fn build(&self, _: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let shape = mistakes.sizes(&self.shape, "dimensions");
        let (count, each) = (shape.len(), "dimensions");
        let nodes = mistakes.size(&self.nodes);
        let links = self.links.as_ref().and_then(|links| mistakes.each(links, count, each));
        let links = links.unwrap_or_else(|| vec![1; count]);
        if let Some(given) = self.links.as_ref().filter(|_| links.contains(&0)) {
            let diagnostic = Diagnostic::new("size", "a dimension without cables leaves no fabric");
            mistakes.push(diagnostic.at_value(given).label("at least 1"));
        }
        let bandwidths = mistakes.bandwidths(&self.bandwidth, count, each);
        let latencies = mistakes.latencies(self.latency.as_ref(), count, each);
        let widest = Located::from(bandwidths.iter().copied().max().unwrap_or_default());
        let slowest = latencies.iter().copied().max();
        match shape.iter().all(|&length| length < nodes) {
            true => mistakes.check_fabric_size(counts(&shape, &links, nodes), &self.nodes),
            false => mistakes.check_fabric_size(counts(&shape, &links, nodes), &self.shape),
        }
        let every =
            CommonLinkValues { bandwidth: &widest, latency: slowest, port: self.switch_port_bandwidth.as_ref() };
        let host = LinkValues { bandwidth: self.host_bandwidth.as_ref(), latency: self.host_latency };
        let dimensions: Vec<Located<Bandwidth>> = bandwidths.into_iter().map(Located::from).collect();
        let kinds = dimensions.iter().zip(&latencies);
        let kinds =
            kinds.map(|(bandwidth, &latency)| LinkValues { bandwidth: Some(bandwidth), latency: Some(latency) });
        let cables_of = |mistakes: &mut Mistakes| every.cables(host, kinds.collect(), mistakes);
        mistakes.none()?;
        let mut mistakes = Mistakes::default();
        let kinds = cables_of(&mut mistakes);
        mistakes.none()?;

        let switches: u32 = shape.iter().product();
        let mut cables = Vec::new();
        let mut stride = 1;
        for (tier, (&size, &parallel)) in (0..).zip(shape.iter().zip(&links)) {
            for first in (0..switches).filter(|switch| switch / stride % size == 0) {
                let line: Vec<u32> = (0..size).map(|x| first + x * stride).collect();
                complete(&line, parallel, tier, &mut cables);
            }
            stride *= size;
        }
        let name = format!("hyperx {} of {nodes}", times(&shape));
        let along: u32 = if count > 2 { shape[..count - 1].iter().product() } else { shape[0] };
        let lines = (0..switches).map(|switch| switch / along).collect();
        let direct = Direct { name, hosts: vec![nodes; switches as usize], cables };
        let (dimensions, ids) = (Dimension::all(&shape, &links, switches), Links { nodes: nodes * switches });
        Ok(direct.build(&kinds, Hyperx { shape, dimensions, nodes, switches, ids, lines }))
    }
}

/// Returns the number of nodes, switches and links, or `None` if they do not fit in 64 bits.
fn counts(shape: &[u32], links: &[u32], nodes: u32) -> Option<(u64, u64, u64)> {
    let switches = shape.iter().try_fold(1u64, |product, &size| product.checked_mul(size.into()))?;
    let nodes = switches.checked_mul(nodes.into())?;
    let mut cables = nodes;
    for (&size, &parallel) in shape.iter().zip(links) {
        let others = u64::from(size.saturating_sub(1)).checked_mul(parallel.into())?;
        cables = cables.checked_add(switches.checked_mul(others)? / 2)?;
    }
    Some((nodes, switches, cables.checked_mul(2)?))
}

impl Hyperx {
    /// Returns the step from a switch to the coordinate of another along a dimension, over one of the parallel
    /// cables.
    #[inline]
    fn step(&self, dimension: &Dimension, switch: u32, to: u32, parallel: u32) -> (LinkId, u32) {
        let ((line, x), (_, y)) = (dimension.place(switch), dimension.place(to));
        let there = switch - x * dimension.stride.value() + y * dimension.stride.value();
        (self.ids.cable(dimension.cable(line, x, y) + parallel, x > y), there)
    }
}

impl ShortestPaths for Hyperx {
    fn walk(&self, from: u32, end: PathEnd, pick: &mut dyn FnMut(u32) -> u32, visit: &mut dyn FnMut(&[LinkId])) -> u32 {
        // (There are no groups.)
        let PathEnd::Place(to) = end else { return from };
        let mut at = from;
        while at != to {
            // Links along one dimension are numbered before those along the next.
            let apart = |dimension: &&Dimension| dimension.place(at).1 != dimension.place(to).1;
            let choices: u32 = self.dimensions.iter().filter(apart).map(|dimension| dimension.links).sum();
            let mut number = if choices > 1 { pick(choices) } else { 0 };
            for dimension in self.dimensions.iter().filter(apart) {
                if number < dimension.links {
                    let (link, there) = self.step(dimension, at, to, number);
                    visit(&[link]);
                    at = there;
                    break;
                }
                number -= dimension.links;
            }
        }
        to
    }
}

impl Family for Hyperx {
    fn kind(&self) -> &'static str {
        "a hyperx"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        let list = |sizes: &[u32]| Fact::Numbers(sizes.to_vec());
        let links: Vec<u32> = self.dimensions.iter().map(|dimension| dimension.links).collect();
        let nodes = Fact::Number(self.nodes.into());
        ("hyperx", vec![("shape", list(&self.shape)), ("links", list(&links)), ("nodes", nodes)])
    }

    /// Returns the coordinates of a switch: `(3,4)`.
    fn switch_name(&self, switch: u32) -> String {
        let mut rest = switch;
        let coordinate = |&size: &u32| {
            let x = rest % size;
            rest /= size;
            x.to_string()
        };
        format!("({})", self.shape.iter().map(coordinate).collect::<Vec<_>>().join(","))
    }

    fn tier_name(&self, tier: u8) -> String {
        format!("along dimension {tier}")
    }

    fn tier_legend(&self, tier: u8) -> String {
        format!("along {}", dimension_name(self.shape.len(), tier.into()))
    }

    fn diameter(&self, fabric: &Fabric) -> Option<u32> {
        let longer = self.shape.iter().filter(|&&size| size > 1).count() as u32;
        Some(if fabric.nodes() > 1 { 2 + longer } else { 0 })
    }

    /// Halves the dimension with the least product of its length and the bandwidth between two of its
    /// switches.
    ///
    /// This product is the second eigenvalue of the graph's Laplacian. It bounds the bandwidth between any
    /// halves, and the bound is reached if that length is even.
    fn bisection(&self, fabric: &Fabric) -> Option<Bisection> {
        let carried = |link: LinkId| fabric.link(link).capacity.bytes_per_second();
        let width = |dim: usize| {
            let dimension = &self.dimensions[dim];
            let cable = self.ids.cable(dimension.cable(0, 0, 1), false);
            f64::from(self.shape[dim]) * f64::from(dimension.links) * carried(cable)
        };
        let mut order: Vec<usize> = (0..self.shape.len()).filter(|&dim| self.shape[dim] > 1).collect();
        let odd = |dim: usize| self.shape[dim] % 2;
        order.arrange_by(|&a, &b| width(a).total_cmp(&width(b)).then(odd(a).cmp(&odd(b))));
        // (With the nodes of a switch as the fastest dimension.)
        let sizes: Vec<u32> = std::iter::once(self.nodes).chain(self.shape.iter().copied()).collect();
        let slowest_first: Vec<usize> = order.iter().map(|dim| dim + 1).chain([0]).collect();
        let first_half = leading_half(&sizes, &slowest_first);
        let Some(&dim) = order.first().filter(|&&dim| odd(dim) == 0 && !fabric.is_altered()) else {
            return fabric.search_bisection(first_half);
        };
        let between = f64::from(self.switches) * width(dim) / 4.0;
        let hosts = [self.ids.injection(NodeId(0)), self.ids.ejection(NodeId(0))];
        let half = f64::from(fabric.nodes() / 2);
        let least = hosts.into_iter().fold(between, |least, host| least.min(half * carried(host)));
        let bandwidth = Bandwidth::from_bytes_per_second(least);
        Some(Bisection { bandwidth, back: bandwidth, first_half, is_least: true })
    }

    fn default_routing(&self) -> &'static str {
        "family"
    }

    fn has_routes(&self) -> bool {
        true
    }

    /// Appends the path along one dimension after another, one step each. A hash of the pair chooses among
    /// parallel cables.
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let mut spread = PairHash::new(src, dst);
        let (mut here, to) = (src.0 / self.nodes, dst.0 / self.nodes);
        route.push(self.ids.injection(src));
        for dimension in &self.dimensions {
            if dimension.place(here).1 != dimension.place(to).1 {
                let (link, there) = self.step(dimension, here, to, spread.below(dimension.links));
                route.push(link);
                here = there;
            }
        }
        route.push(self.ids.ejection(dst));
    }

    fn lattice(&self) -> Option<&dyn Lattice> {
        Some(self)
    }

    fn shortest_paths(&self) -> Option<&dyn ShortestPaths> {
        Some(self)
    }

    /// Orders links dimension by dimension.
    fn channel_order(&self, fabric: &Fabric) -> Vec<u32> {
        fabric.order_by_tiers()
    }

    fn sketch(&self) -> Sketch<'_> {
        Sketch::Groups { of: &self.lines, name: if self.shape.len() > 2 { "plane" } else { "line" } }
    }
}

impl Lattice for Hyperx {
    fn sizes(&self) -> &[u32] {
        &self.shape
    }

    fn point_of(&self, node: NodeId) -> u32 {
        node.0 / self.nodes
    }

    fn host_links(&self, node: NodeId) -> [Option<LinkId>; 2] {
        [Some(self.ids.injection(node)), Some(self.ids.ejection(node))]
    }

    fn steps(&self, point: u32, dim: usize, to: u32, steps: &mut Vec<Step>) {
        let dimension = &self.dimensions[dim];
        let (line, x) = dimension.place(point);
        if x != to {
            let (cable, there) = (dimension.cable(line, x, to), self.moved(point, dim, to));
            let cables = cable..cable + dimension.links;
            steps.extend(cables.map(|cable| Step { link: self.ids.cable(cable, x > to), then: None, point: there }));
        }
    }

    fn is_complete(&self) -> bool {
        true
    }
}
