//! Jellyfish: switches joined at random.

use rustc_hash::FxHashSet;

use super::common::{Mistakes, Topology};
use super::direct::{Cable, Direct, switch_spec, wrong};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, Fact, Family};
use crate::rng::Stream;

switch_spec! {
    /// `[topology.jellyfish]`: a random graph in which all switches have the same number of cables.
    ///
    /// Free ports of two switches that are not joined yet are joined at random. When no such pair is left but
    /// a switch has two free ports, a cable drawn at random is removed and both of its ends are joined with
    /// that switch. A graph that is not connected is drawn again. If a switch is joined with more than half
    /// of the other switches, the pairs without a cable are drawn this way instead.
    ///
    /// Source: A. Singla et al., "Jellyfish: networking data centers randomly", NSDI 2012.
    JellyfishSpec {
        /// Number of switches.
        switches: Located<u32>,
        /// Ports of a switch.
        radix: Located<u32>,
        /// Ports to other switches; the remaining ports have a node each.
        degree: Located<u32>,
        /// Seed of the graph (default 1).
        #[serde(skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    }
}

/// Properties of a jellyfish.
#[derive(Clone, Debug)]
struct Jellyfish {
    switches: u32,
    radix: u32,
    degree: u32,
    seed: u64,
}

/// Largest number of graphs drawn until one is connected.
const TRIES: u64 = 10_000;
/// Largest number of draws in a row that find no two ports to join.
const MISSES: usize = 1_000_000;

impl Topology for JellyfishSpec {
    fn build(&self, _: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let (switches, radix, degree) = (mistakes.size(&self.switches), mistakes.size(&self.radix), *self.degree);
        let links = self.links(&mut mistakes);
        if degree >= radix {
            let message = format!("{degree} of {radix} ports to other switches leave none for nodes");
            mistakes.push(wrong(&self.degree, message, format!("at most {}", radix.saturating_sub(1))));
        }
        if switches > 0 && degree >= switches {
            let message = format!("a switch has no {degree} others among {switches} switches");
            mistakes.push(wrong(&self.degree, message, format!("at most {}", switches - 1)));
        } else if u64::from(switches) * u64::from(degree) % 2 == 1 {
            let message = format!("{switches} switches of {degree} ports each leave a port without another");
            mistakes.push(wrong(&self.degree, message, "an even number").help("choose an even number of switches"));
        } else if (degree == 0 && switches > 1) || (degree == 1 && switches > 2) {
            let message = format!("{switches} switches are not connected by {degree} cables each");
            mistakes.push(wrong(&self.degree, message, "at least 2"));
        }
        let nodes = u64::from(switches) * u64::from(radix.saturating_sub(degree));
        let cables = u64::from(switches) * u64::from(degree) / 2;
        let place = if *self.radix > *self.switches { &self.radix } else { &self.switches };
        mistakes.check_fabric_size(Some((nodes, switches.into(), 2 * (nodes + cables))), place);
        mistakes.none()?;
        let seed = self.seed.unwrap_or(1);
        let mut stream = Stream::new(seed, "topology.jellyfish");
        let name = format!("jellyfish {switches} of {radix}, {degree} to others");
        for _ in 0..TRIES {
            let hosts = vec![radix - degree; switches as usize];
            let Some(cables) = draw_or_leave_out(switches, degree, &mut stream) else { continue };
            let direct = Direct { name: name.clone(), hosts, cables };
            if direct.is_connected() {
                return Ok(direct.build(&links, Jellyfish { switches, radix, degree, seed }));
            }
        }
        let message = format!("{TRIES} random graphs of {switches} switches and {degree} cables each fell apart");
        Err(vec![wrong(&self.degree, message, "more cables hold it together")])
    }
}

/// Graph that is being drawn.
struct Graph {
    edges: Vec<(u32, u32)>,
    joined: FxHashSet<(u32, u32)>,
    free: Vec<u32>,
}

impl Graph {
    fn are_joined(&self, a: u32, b: u32) -> bool {
        a == b || self.joined.contains(&(a.min(b), a.max(b)))
    }

    fn join(&mut self, a: u32, b: u32) {
        self.joined.insert((a.min(b), a.max(b)));
        self.edges.push((a, b));
        self.free[a as usize] -= 1;
        self.free[b as usize] -= 1;
    }

    fn part(&mut self, edge: usize) -> (u32, u32) {
        let (a, b) = self.edges.swap_remove(edge);
        self.joined.remove(&(a.min(b), a.max(b)));
        self.free[a as usize] += 1;
        self.free[b as usize] += 1;
        (a, b)
    }
}

/// Draws a simple graph in which each switch has `degree` cables. Draws its complement if that has fewer
/// cables.
///
/// The complement of a random regular graph is a random regular graph, too. Drawn directly, a dense graph
/// nearly always ends with ports that cannot be joined.
fn draw_or_leave_out(switches: u32, degree: u32, stream: &mut Stream) -> Option<Vec<Cable>> {
    let missing = switches.saturating_sub(1).saturating_sub(degree);
    if missing >= degree {
        return draw(switches, degree, stream);
    }
    let mut left_out = draw(switches, missing, stream)?.into_iter().map(|cable| cable.ends).peekable();
    let mut cables = Vec::with_capacity(switches as usize * degree as usize / 2);
    for a in 0..switches {
        for b in a + 1..switches {
            if left_out.next_if_eq(&(a, b)).is_none() {
                cables.push(Cable { ends: (a, b), tier: 0 });
            }
        }
    }
    Some(cables)
}

/// Draws a simple graph in which each switch has `degree` cables; the product of both numbers is even.
/// Returns `None` if the last ports could not be joined.
fn draw(switches: u32, degree: u32, stream: &mut Stream) -> Option<Vec<Cable>> {
    let free = vec![degree; switches as usize];
    let mut graph = Graph { edges: Vec::new(), joined: FxHashSet::default(), free };
    // Switches with free ports, in an order that depends only on the draws.
    let mut open: Vec<u32> = (0..switches).filter(|_| degree > 0).collect();
    let mut misses = 0;
    while !open.is_empty() {
        let (i, j) = (stream.below(open.len() as u64) as usize, stream.below(open.len() as u64) as usize);
        let (a, b) = (open[i], open[j]);
        misses += 1;
        if !graph.are_joined(a, b) {
            graph.join(a, b);
        } else if misses > 4 * open.len() + 16 && !graph.edges.is_empty() {
            // Stuck, or nearly: a cable is removed, and its ends are joined with a and b unless they already are.
            let ports = if a == b { 2 } else { 1 };
            let cable = stream.below(graph.edges.len() as u64) as usize;
            let (x, y) = graph.edges[cable];
            if misses > MISSES {
                return None;
            }
            if graph.free[a as usize] < ports || graph.are_joined(a, x) || graph.are_joined(b, y) {
                continue;
            }
            graph.part(cable);
            graph.join(a, x);
            graph.join(b, y);
        } else {
            continue;
        }
        misses = 0;
        for at in [i.max(j), i.min(j)] {
            if open.get(at).is_some_and(|&switch| graph.free[switch as usize] == 0) {
                open.swap_remove(at);
            }
        }
    }
    let mut cables: Vec<Cable> =
        graph.edges.iter().map(|&(a, b)| Cable { ends: (a.min(b), a.max(b)), tier: 0 }).collect();
    cables.sort_unstable();
    Some(cables)
}

impl Family for Jellyfish {
    fn kind(&self) -> &'static str {
        "a jellyfish"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        let number = |value: u32| Fact::Number(value.into());
        let facts = vec![
            ("switches", number(self.switches)),
            ("radix", number(self.radix)),
            ("degree", number(self.degree)),
            ("seed", Fact::Number(self.seed)),
        ];
        ("jellyfish", facts)
    }
}
