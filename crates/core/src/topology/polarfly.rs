//! PolarFly: the polarity graph of Erdos and Renyi, of diameter 2.

use super::common::{Mistakes, Topology, largest};
use super::direct::{Cable, Direct, switch_spec};
use super::galois::Field;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, Fact, Family, Sketch};

switch_spec! {
    /// `[topology.polarfly]`: q^2 + q + 1 switches of q + 1 cables, at most two cables from each other.
    ///
    /// Switches are the points of the projective plane over GF(q), as vectors in which the first nonzero
    /// element is 1. Two switches are joined if their scalar product is 0. The q + 1 points whose product
    /// with themselves is 0 (quadrics) have one cable less.
    ///
    /// Source: K. Lakhotia et al., "PolarFly: a cost-effective and flexible low-diameter topology", SC 2022.
    PolarflySpec {
        /// A prime power.
        q: Located<u32>,
        /// Nodes of a switch (default half its cables, rounded up).
        #[serde(skip_serializing_if = "Option::is_none")]
        p: Option<Located<u32>>,
    }
}

/// Properties of a PolarFly.
#[derive(Clone, Debug)]
struct Polarfly {
    q: u32,
    p: u32,
    /// Cluster of each switch: 0 for quadrics, else that of the neighbour of the first quadric that it is or
    /// is joined with.
    clusters: Vec<u32>,
}

/// Returns the point of a number: (0, 0, 1), (0, 1, z), then (1, y, z).
fn point(q: u32, number: u32) -> [u32; 3] {
    match number {
        0 => [0, 0, 1],
        _ if number <= q => [0, 1, number - 1],
        _ => [1, (number - q - 1) / q, (number - q - 1) % q],
    }
}

/// Returns the number of a point.
fn number(q: u32, [x, y, z]: [u32; 3]) -> u32 {
    match (x, y) {
        (0, 0) => 0,
        (0, _) => 1 + z,
        _ => 1 + q + y * q + z,
    }
}

impl Topology for PolarflySpec {
    fn build(&self, _: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let q = *self.q;
        let p = self.p.as_ref().map(|p| mistakes.size(p));
        let links = self.links(&mut mistakes);
        let Some(field) = Field::of(&self.q, 2, "PolarFly", &mut mistakes) else { return Err(mistakes.all()) };
        let p = p.unwrap_or((q + 1).div_ceil(2));
        let switches = u64::from(q) * u64::from(q) + u64::from(q) + 1;
        let nodes = switches * u64::from(p);
        mistakes.check_fabric_size(
            Some((nodes, switches, 2 * nodes + switches * (u64::from(q) + 1))),
            largest(&self.q, [&self.p]),
        );
        mistakes.none()?;
        let neighbours: Vec<Vec<u32>> = (0..switches as u32).map(|switch| neighbours(&field, switch)).collect();
        let mut cables = Vec::new();
        for (switch, others) in (0..).zip(&neighbours) {
            let later = others.iter().filter(|&&other| other > switch);
            cables.extend(later.map(|&other| Cable { ends: (switch, other), tier: 0 }));
        }
        let clusters = clusters(&neighbours);
        let direct = Direct { name: format!("polarfly q={q} p={p}"), hosts: vec![p; switches as usize], cables };
        Ok(direct.build(&links, Polarfly { q, p, clusters }))
    }
}

/// Returns the q + 1 points whose product with this one is 0; the point itself is among them if it is a
/// quadric.
fn neighbours(field: &Field, switch: u32) -> Vec<u32> {
    let q = field.size();
    let [a, b, c] = point(q, switch);
    let product = |[x, y, z]: [u32; 3]| field.add(field.add(field.times(a, x), field.times(b, y)), field.times(c, z));
    let mut found = Vec::with_capacity(q as usize + 1);
    let mut look = |candidate: [u32; 3]| {
        if product(candidate) == 0 {
            found.push(number(q, candidate));
        }
    };
    // If c is not 0 the last element follows from the others; otherwise all points of a row are neighbours or none.
    look([0, 0, 1]);
    (0..q).for_each(|z| look([0, 1, z]));
    for y in 0..q {
        if c == 0 && product([1, y, 0]) != 0 {
            continue;
        }
        (0..q).for_each(|z| look([1, y, z]));
    }
    found
}

/// Returns the cluster of each switch, numbered without gaps.
///
/// Quadrics are the first cluster. Each neighbour of the first quadric is the middle of another cluster,
/// which holds all its neighbours; any two points have one neighbour in common.
fn clusters(neighbours: &[Vec<u32>]) -> Vec<u32> {
    let is_quadric = |switch: u32| neighbours[switch as usize].contains(&switch);
    let count = neighbours.len() as u32;
    let Some(first) = (0..count).find(|&switch| is_quadric(switch)) else { return vec![0; neighbours.len()] };
    let middles: Vec<u32> = neighbours[first as usize].iter().copied().filter(|&switch| switch != first).collect();
    let mut clusters = vec![0; neighbours.len()];
    for (cluster, &middle) in (1..).zip(&middles) {
        for &member in neighbours[middle as usize].iter().chain([&middle]) {
            if !is_quadric(member) {
                clusters[member as usize] = cluster;
            }
        }
    }
    clusters
}

impl Family for Polarfly {
    fn kind(&self) -> &'static str {
        "a PolarFly"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        ("polarfly", vec![("q", Fact::Number(self.q.into())), ("p", Fact::Number(self.p.into()))])
    }

    /// Returns the vector of a switch: `[1,3,4]`.
    fn switch_name(&self, switch: u32) -> String {
        let [x, y, z] = point(self.q, switch);
        format!("[{x},{y},{z}]")
    }

    fn sketch(&self) -> Sketch<'_> {
        Sketch::Groups { of: &self.clusters, name: "cluster" }
    }
}
