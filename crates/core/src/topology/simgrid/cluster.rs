//! Clusters: `radical` and `topo_parameters`, and the routes of SimGrid's fat-trees and tori.

use super::cascade::Cascade;
use crate::fabric::{Grid, Tree};
use crate::ids::{Id, LinkId};

/// Largest number of hosts of a cluster.
pub(super) const MOST_HOSTS: u64 = 1 << 20;
/// Largest number of links of a cluster.
pub(super) const MOST_LINKS: u64 = 1 << 24;

/// Parses the numbers of a `radical`: `0-7,12,20-23`.
pub(super) fn radical(text: &str) -> Result<Vec<u32>, &'static str> {
    const EXPECTED: &str = "expected numbers and ranges like \"0-63\" or \"0-7,12\"";
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| EXPECTED);
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err("expected ranges from the smaller to the larger number");
        }
        if numbers.len() as u64 + u64::from(last - first) + 1 > MOST_HOSTS {
            return Err("expected at most 1,048,576 hosts");
        }
        numbers.extend(first..=last);
    }
    Ok(numbers)
}

/// Parses a list of positive numbers.
fn list(text: &str, expected: &'static str) -> Result<Vec<u32>, &'static str> {
    let number = |part: &str| part.trim().parse::<u32>().ok().filter(|&number| number > 0).ok_or(expected);
    text.split(',').map(number).collect()
}

/// Parses `levels;down,...;up,...;parallel,...` of a fat-tree.
pub(super) fn fat_tree(text: &str) -> Result<Tree, &'static str> {
    const EXPECTED: &str = "expected levels;down;up;parallel, with a list of so many positive numbers for each of the \
                            last three, like \"2;4,4;1,2;1,2\"";
    let parts: Vec<&str> = text.split(';').collect();
    let [levels, down, up, parallel] = parts[..] else { return Err(EXPECTED) };
    let levels: usize = levels.trim().parse().map_err(|_| EXPECTED)?;
    let tree = Tree { down: list(down, EXPECTED)?, up: list(up, EXPECTED)?, parallel: list(parallel, EXPECTED)? };
    if [&tree.down, &tree.up, &tree.parallel].iter().any(|list| list.len() != levels) || levels == 0 {
        return Err(EXPECTED);
    }
    if levels > 16 {
        return Err("expected at most 16 levels");
    }
    match tree.size() {
        Some((nodes, switches, links)) if nodes <= MOST_HOSTS && switches <= MOST_LINKS && links <= MOST_LINKS => {
            Ok(tree)
        }
        _ => Err("expected a fat-tree of at most 1,048,576 hosts and 16,777,216 links"),
    }
}

/// Parses `x,y,...` of a torus.
pub(super) fn torus(text: &str) -> Result<Grid, &'static str> {
    let dims = list(text, "expected the sizes of the dimensions, like \"8,8,8\"")?;
    if dims.len() > 16 {
        return Err("expected at most 16 dimensions");
    }
    let wrap = vec![true; dims.len()];
    match Grid::size(&dims, &wrap, false) {
        Some((nodes, _, links)) if nodes <= MOST_HOSTS && links <= MOST_LINKS => Ok(Grid::new(dims, wrap, false)),
        _ => Err("expected a torus of at most 1,048,576 hosts and 16,777,216 links"),
    }
}

/// Element of a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum PathElement {
    /// A link of the shape.
    Link(u32),
    /// A host or a switch; switches are numbered after the hosts.
    Part(u32),
}

/// Fat-tree, torus or dragonfly with SimGrid's routes.
#[derive(Clone, Debug)]
pub(super) struct Regular {
    pub shape: RegularShape,
    /// Number of the first link in the platform.
    pub first: u32,
    /// Cable of each link of the shape, if both directions of a cable are one link.
    cable: Option<Vec<u32>>,
    /// Number of the first limiter in the platform, if every host and switch has one.
    limiters: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) enum RegularShape {
    Tree(Tree),
    Torus(Grid),
    Cascade(Cascade),
}

impl Regular {
    /// Creates a cluster whose links are numbered from `first` in the platform.
    pub(super) fn new(shape: RegularShape, first: u32, both_ways: bool, limited: bool) -> Self {
        let cable = both_ways.then(|| shape.cables());
        let mut regular = Self { shape, first, cable, limiters: None };
        regular.limiters = limited.then(|| first + regular.links());
        regular
    }

    /// Returns true if the cluster may become one of Hayase's own fabrics: the two directions of a cable are
    /// two links, and there are no limiters.
    pub(super) fn is_plain(&self) -> bool {
        self.cable.is_none() && self.limiters.is_none() && !matches!(self.shape, RegularShape::Cascade(_))
    }

    /// Returns the bandwidth of a link relative to a host's link; links are counted from the first.
    pub(super) fn width(&self, link: u32) -> u32 {
        match &self.shape {
            RegularShape::Cascade(cascade) => cascade.width(if self.cable.is_some() { 2 * link } else { link }),
            _ => 1,
        }
    }

    /// Number of limiters; they are numbered after the links.
    pub(super) fn limiters(&self) -> u32 {
        self.limiters.map_or(0, |_| self.shape.parts())
    }

    /// Number of links.
    pub(super) fn links(&self) -> u32 {
        match &self.cable {
            Some(cable) => cable.iter().copied().max().map_or(0, |last| last + 1),
            None => self.shape.links(),
        }
    }

    /// Appends the platform's numbers of the links from one host to another.
    pub(super) fn route(&self, src: u32, dst: u32, links: &mut Vec<u32>) {
        let mut visit = |passed: PathElement| match passed {
            PathElement::Link(link) => {
                links.push(self.first + self.cable.as_ref().map_or(link, |cable| cable[link as usize]));
            }
            PathElement::Part(part) => links.extend(self.limiters.map(|first| first + part)),
        };
        match &self.shape {
            RegularShape::Tree(tree) => tree_route(tree, src, dst, &mut visit),
            RegularShape::Torus(grid) => torus_route(grid, src, dst, &mut visit),
            RegularShape::Cascade(cascade) => cascade.route(src, dst, &mut visit),
        }
    }

    /// Returns true if the routes are those of the shape's usual routing rule: D-mod-k if no cables are
    /// parallel, dimension order if no ring has two directions of equal length.
    pub(super) fn is_usual(&self) -> bool {
        match &self.shape {
            RegularShape::Tree(tree) => tree.parallel.iter().all(|&cables| cables == 1),
            RegularShape::Torus(grid) => grid.dims.iter().all(|&size| size % 2 == 1 || size == 2),
            RegularShape::Cascade(_) => false,
        }
    }
}

impl RegularShape {
    /// Number of hosts.
    pub(super) fn hosts(&self) -> u32 {
        match self {
            Self::Tree(tree) => tree.nodes(),
            Self::Torus(grid) => grid.positions(),
            Self::Cascade(cascade) => cascade.hosts(),
        }
    }

    /// Number of hosts and switches.
    fn parts(&self) -> u32 {
        match self {
            Self::Tree(tree) => (0..=tree.levels()).map(|level| tree.parts(level)).sum(),
            Self::Torus(grid) => grid.positions(),
            Self::Cascade(cascade) => cascade.parts(),
        }
    }

    /// Number of directed links.
    fn links(&self) -> u32 {
        match self {
            Self::Tree(tree) => tree.first_link(tree.levels() + 1),
            Self::Torus(grid) => grid.steps.iter().filter(|&&link| link != u32::MAX).count() as u32,
            Self::Cascade(cascade) => cascade.links(),
        }
    }

    /// Returns the number of the cable of each directed link.
    fn cables(&self) -> Vec<u32> {
        let mut cables = vec![u32::MAX; self.links() as usize];
        match self {
            Self::Tree(tree) => {
                let mut next = 0;
                for level in 1..=tree.levels() {
                    let (up, count) = (tree.first_link(level), tree.cables(level));
                    for cable in 0..count {
                        cables[(up + cable) as usize] = next + cable;
                        cables[(up + count + cable) as usize] = next + cable;
                    }
                    next += count;
                }
            }
            Self::Cascade(_) => cables = (0..self.links()).map(|link| link / 2).collect(),
            Self::Torus(grid) => {
                let mut next = 0;
                for position in 0..grid.positions() {
                    for dim in 0..grid.dims.len() {
                        let there = grid.neighbour(position, dim, false);
                        let back = there.and_then(|there| grid.step(there, dim, true));
                        if let (Some(link), Some(back)) = (grid.step(position, dim, false), back) {
                            cables[link.index()] = next;
                            cables[back.index()] = next;
                            next += 1;
                        }
                    }
                }
            }
        }
        cables
    }
}

/// Visits the path over a fat-tree.
///
/// Up from a host or switch of level l it takes port `(dst / product of up[i] * parallel[i] below l) mod
/// (up[l] * parallel[l])`, and down cable `src mod parallel`. If no cables are parallel this is D-mod-k.
///
/// Source: SimGrid's documentation and behaviour of `FAT_TREE` clusters (version 3.32 and later).
fn tree_route(tree: &Tree, src: u32, dst: u32, visit: &mut dyn FnMut(PathElement)) {
    let (mut child, mut level, mut digits) = (src, 0, dst);
    let mut copy = 0;
    let part = |level: usize, index: u32| PathElement::Part(tree.vertex(level, index).0);
    visit(part(0, src));
    // Up until a switch is above the destination.
    while src / tree.block(level) != dst / tree.block(level) {
        level += 1;
        let port = digits % tree.ports(level);
        digits /= tree.ports(level);
        visit(PathElement::Link(tree.up_link(level, child, port).0));
        child = tree.parent(level, child, port);
        visit(part(level, child));
        copy += tree.copies(level - 1) * (port % tree.up[level - 1]);
    }
    // Down; the copies of lower levels are the digits of this one's.
    while level > 0 {
        let below = tree.copies(level - 1);
        let parent = copy / below;
        copy %= below;
        let child = dst / tree.block(level - 1) * below + copy;
        let cable = src % tree.parallel[level - 1];
        visit(PathElement::Link(tree.down_link(level, child, parent + tree.up[level - 1] * cable).0));
        level -= 1;
        visit(part(level, child));
    }
}

/// Visits the path over a torus: dimension by dimension, the shorter way round. If both are equally long it
/// ascends, except from the middle of a dimension to its position 0.
///
/// Source: SimGrid's behaviour for `TORUS` clusters (version 3.32 and later), exception included.
fn torus_route(grid: &Grid, src: u32, dst: u32, visit: &mut dyn FnMut(PathElement)) {
    let mut here = src;
    visit(PathElement::Part(here));
    for dim in 0..grid.dims.len() {
        let (size, stride) = (grid.dims[dim], grid.stride(dim));
        let (from, to) = (src / stride % size, dst / stride % size);
        let half = size / 2;
        let ascending = if to > from { to - from <= half } else { from > half && size - from + to <= half };
        while here / stride % size != to {
            let (Some(link), Some(next)) = (grid.step(here, dim, !ascending), grid.neighbour(here, dim, !ascending))
            else {
                return;
            };
            visit(PathElement::Link(LinkId::index(link) as u32));
            here = next;
            visit(PathElement::Part(here));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the links of a path.
    fn links(way: impl FnOnce(&mut dyn FnMut(PathElement))) -> Vec<u32> {
        let mut links = Vec::new();
        way(&mut |passed| {
            links.extend(match passed {
                PathElement::Link(link) => Some(link),
                PathElement::Part(_) => None,
            })
        });
        links
    }

    #[test]
    fn a_radical_lists_numbers_and_ranges() {
        assert_eq!(radical("0-3, 7,9-10"), Ok(vec![0, 1, 2, 3, 7, 9, 10]));
        for text in ["", "a", "3-1", "0-4294967295", "1-", "-1", "0--3", "0-1048576"] {
            assert!(radical(text).is_err(), "{text}");
        }
    }

    #[test]
    fn topology_parameters_are_checked() {
        assert_eq!(fat_tree("2;4,4;1,2;1,2"), Ok(Tree { down: vec![4, 4], up: vec![1, 2], parallel: vec![1, 2] }));
        for text in
            ["", "2;4,4;1,2", "2;4,4;1,2;1", "0;;;", "1;0;1;1", "x;1;1;1", "2;65536,65536;1,1;1,1", "1;4;1;9999999"]
        {
            assert!(fat_tree(text).is_err(), "{text}");
        }
        assert_eq!(torus("4,4,2").unwrap().dims, [4, 4, 2]);
        for text in ["", "0,4", "4;4", "65536,65536", "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2"] {
            assert!(torus(text).is_err(), "{text}");
        }
    }

    #[test]
    fn half_way_round_a_torus_is_ascending_but_for_the_way_to_position_0() {
        let grid = torus("6").unwrap();
        let ascends = |src: u32, dst: u32| {
            let links = links(|visit| torus_route(&grid, src, dst, visit));
            assert_eq!(links.len(), 3, "{src} to {dst}");
            links[0] == grid.step(src, 0, false).unwrap().0
        };
        let all: Vec<bool> = (0..6).map(|src| ascends(src, (src + 3) % 6)).collect();
        assert_eq!(all, [true, true, true, false, true, true]);
    }

    #[test]
    fn parallel_cables_are_chosen_by_destination_upwards_and_by_source_downwards() {
        let tree = fat_tree("2;2,2;1,1;1,2").unwrap();
        let cables = |src: u32, dst: u32| {
            let links = links(|visit| tree_route(&tree, src, dst, visit));
            let cable = |link: u32| {
                let link = tree.link(LinkId(link));
                assert_eq!(link.level, 2);
                link.port
            };
            (cable(links[1]), cable(links[2]))
        };
        assert_eq!((cables(0, 2), cables(0, 3), cables(1, 2), cables(3, 1)), ((0, 0), (1, 0), (0, 1), (1, 1)));
    }

    #[test]
    fn a_cable_for_both_directions_is_one_link() {
        let tree = Regular::new(RegularShape::Tree(fat_tree("2;2,2;1,2;1,1").unwrap()), 10, true, false);
        assert_eq!(tree.links(), 4 + 4);
        let (mut there, mut back) = (Vec::new(), Vec::new());
        tree.route(0, 1, &mut there);
        tree.route(1, 0, &mut back);
        back.reverse();
        assert_eq!(there, back);
        assert!(there.iter().all(|link| (10..18).contains(link)));
        let torus = Regular::new(RegularShape::Torus(torus("3,2").unwrap()), 0, true, false);
        assert_eq!(torus.links(), 6 + 3);
    }
}
