//! Slim fly: the graphs of McKay, Miller and Siran, of diameter 2.

use super::common::{Mistakes, Topology, largest};
use super::direct::{Cable, Direct, switch_spec};
use super::galois::Field;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, Fact, Family, Sketch};

switch_spec! {
    /// `[topology.slim-fly]`: 2q^2 switches, at most two cables from each other.
    ///
    /// `q = 4 w + d` is a prime power, d in {-1, 0, 1}, and xi a primitive element of GF(q). Switches are
    /// points (x, y) and lines (m, c), q^2 of each. A point and a line are joined where `y = m x + c`. Points
    /// (x, y) and (x, y') are joined where `y - y'` is in X, and lines (m, c) and (m, c') where `c - c'` is
    /// in X'.
    ///
    /// For d = 1, X holds the even powers of xi and X' the odd ones; for d = 0, X holds `xi^0, xi^2 ..
    /// xi^(q-2)` and X' `xi^1, xi^3 .. xi^(q-1)`. For d = -1, X holds `xi^0, xi^2 .. xi^(2w-2)` and
    /// `xi^(2w-1), xi^(2w+1) .. xi^(4w-3)`, and X' is xi X. A switch has `(3q - d) / 2` cables.
    ///
    /// Source: M. Besta and T. Hoefler, "Slim fly: a cost effective low-diameter network topology", SC 2014;
    /// B. D. McKay et al., J. Combin. Theory B 74 (1998) 110.
    SlimFlySpec {
        /// A prime power of at least 3.
        q: Located<u32>,
        /// Nodes of a switch (default half its cables, rounded up).
        #[serde(skip_serializing_if = "Option::is_none")]
        p: Option<Located<u32>>,
    }
}

/// Properties of a slim fly.
#[derive(Clone, Debug)]
struct SlimFly {
    q: u32,
    p: u32,
    /// Column of each switch: the points of one x, or the lines of one slope.
    columns: Vec<u32>,
}

/// Returns the number of cables of a switch.
fn degree(q: u32) -> u32 {
    match q % 4 {
        1 => (3 * q - 1) / 2,
        3 => (3 * q).div_ceil(2),
        _ => 3 * q / 2,
    }
}

impl Topology for SlimFlySpec {
    fn build(&self, _: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let q = *self.q;
        let p = self.p.as_ref().map(|p| mistakes.size(p));
        let links = self.links(&mut mistakes);
        let Some(field) = Field::of(&self.q, 3, "slim fly", &mut mistakes) else { return Err(mistakes.all()) };
        let p = p.unwrap_or(degree(q).div_ceil(2));
        let switches = 2 * u64::from(q) * u64::from(q);
        let nodes = switches * u64::from(p);
        mistakes.check_fabric_size(
            Some((nodes, switches, 2 * nodes + switches * u64::from(degree(q)))),
            largest(&self.q, [&self.p]),
        );
        mistakes.none()?;
        let direct =
            Direct { name: format!("slim-fly q={q} p={p}"), hosts: vec![p; switches as usize], cables: cables(&field) };
        let columns = (0..switches as u32).map(|switch| switch / q).collect();
        Ok(direct.build(&links, SlimFly { q, p, columns }))
    }
}

/// Returns the differences X and X'.
fn differences(field: &Field) -> [Vec<u32>; 2] {
    let q = field.size();
    let powers = |exponents: &mut dyn Iterator<Item = u32>| exponents.map(|e| field.power(e)).collect::<Vec<_>>();
    match q % 4 {
        1 => [powers(&mut (0..q - 1).step_by(2)), powers(&mut (1..q - 1).step_by(2))],
        3 => {
            let w = q.div_ceil(4);
            let exponents = || (0..2 * w - 1).step_by(2).chain((2 * w - 1..4 * w - 2).step_by(2));
            [powers(&mut exponents()), powers(&mut exponents().map(|e| e + 1))]
        }
        _ => [powers(&mut (0..q - 1).step_by(2)), powers(&mut (1..q).step_by(2))],
    }
}

/// Returns the cables. Switches are numbered points first, by x and then y, then lines by m and then c.
fn cables(field: &Field) -> Vec<Cable> {
    let q = field.size();
    let mut cables = Vec::new();
    for (side, differences) in (0..).zip(differences(field)) {
        for column in 0..q {
            let first = (side * q + column) * q;
            for y in 0..q {
                // The set of differences is closed under negation, so each pair is found from both of its ends.
                let others = differences.iter().map(|&difference| field.add(y, difference)).filter(|&other| other > y);
                cables.extend(others.map(|other| Cable { ends: (first + y, first + other), tier: 0 }));
            }
        }
    }
    for x in 0..q {
        for m in 0..q {
            for c in 0..q {
                let y = field.add(field.times(m, x), c);
                cables.push(Cable { ends: (x * q + y, (q + m) * q + c), tier: 1 });
            }
        }
    }
    cables
}

impl Family for SlimFly {
    fn kind(&self) -> &'static str {
        "a slim fly"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        ("slim-fly", vec![("q", Fact::Number(self.q.into())), ("p", Fact::Number(self.p.into()))])
    }

    /// Returns a name such as `point(3,4)` or `line(2,0)`.
    fn switch_name(&self, switch: u32) -> String {
        let q = self.q;
        let kind = if switch < q * q { "point" } else { "line" };
        format!("{kind}({},{})", switch / q % q, switch % q)
    }

    fn tier_name(&self, tier: u8) -> String {
        if tier == 0 { "inside columns".to_owned() } else { "between points and lines".to_owned() }
    }

    fn sketch(&self) -> Sketch<'_> {
        Sketch::Groups { of: &self.columns, name: "column" }
    }
}
