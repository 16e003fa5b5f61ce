//! Plays a configuration of CAMINOS and prints its cycles. It adds two parts to CAMINOS: `Listed`, a pattern
//! that is a list of messages, and `OneRoute`, the routes of Hayase.

use std::cell::{Cell, RefCell};
use std::{env, fs};

use caminos_lib::config_parser::{self, ConfigurationValue, Token};
use caminos_lib::pattern::prelude::*;
use caminos_lib::quantify::Quantifiable;
use caminos_lib::routing::prelude::*;
use caminos_lib::topology::{Location, Topology};
use caminos_lib::{Plugs, Simulation};
use rand::rngs::StdRng;

/// Destinations of each node's messages in order, from lines `src dst`.
#[derive(Debug)]
struct Listed {
    /// Destinations by node.
    to: Vec<Vec<usize>>,
    /// Number of messages that each node has sent.
    sent: Vec<Cell<usize>>,
}

impl Listed {
    fn read(arg: PatternBuilderArgument) -> Box<dyn Pattern> {
        let text = fs::read_to_string(field(arg.cv, "filename")).expect("the list of messages");
        let mut to: Vec<Vec<usize>> = Vec::new();
        for line in text.lines() {
            let mut words = line.split_whitespace().map(|word| word.parse().expect("a number of a node"));
            let (src, dst) = (words.next().expect("a source"), words.next().expect("a destination"));
            if to.len() <= src {
                to.resize(src + 1, Vec::new());
            }
            to[src].push(dst);
        }
        let sent = to.iter().map(|_| Cell::new(0)).collect();
        Box::new(Self { to, sent })
    }
}

impl Pattern for Listed {
    fn initialize(&mut self, _: usize, _: usize, _: &dyn Topology, _: &mut StdRng) {}

    fn get_destination(&self, origin: usize, _: &dyn Topology, _: &mut StdRng) -> usize {
        self.to[origin][self.sent[origin].replace(self.sent[origin].get() + 1)]
    }
}

/// Reports no memory, which does not matter here.
impl Quantifiable for Listed {
    fn total_memory(&self) -> usize {
        0
    }

    fn print_memory_breakdown(&self) {}

    fn forecast_total_memory(&self) -> usize {
        0
    }
}

/// One route for each pair of nodes.
///
/// On a dragonfly it goes inside the group to the cable, over it, and on in a second channel. On a mesh and a
/// torus it goes along x, then y. On a torus it uses a second channel all along a ring if it crosses the link
/// that closes the ring. On a fat-tree it is D-mod-k.
#[derive(Debug)]
struct OneRoute {
    /// Number of ports to each side of a fat-tree switch.
    p: usize,
}

impl OneRoute {
    fn of(arg: RoutingBuilderArgument) -> Box<dyn Routing> {
        Box::new(Self { p: field(arg.cv, "p").parse().expect("ports") })
    }
}

impl Routing for OneRoute {
    /// Keeps the first switch, from which it follows which routes cross the ends of rings.
    fn initialize_routing_info(
        &self,
        info: &RefCell<RoutingInfo>,
        _topology: &dyn Topology,
        at: usize,
        _target: usize,
        _server: Option<usize>,
        _rng: &mut StdRng,
    ) {
        info.borrow_mut().visited_routers = Some(vec![at]);
    }

    fn next(
        &self,
        info: &RoutingInfo,
        topology: &dyn Topology,
        at: usize,
        target: usize,
        server: Option<usize>,
        _channels: usize,
        _rng: &mut StdRng,
    ) -> Result<RoutingNextCandidates, Error> {
        let server = server.expect("a message has a destination");
        let only = |port, channel| {
            Ok(RoutingNextCandidates { candidates: vec![CandidateEgress::new(port, channel)], idempotent: true })
        };
        let ports = |leads: &dyn Fn(Location) -> bool| -> Vec<usize> {
            (0..topology.ports(at)).filter(|&port| leads(topology.neighbour(at, port).0)).collect()
        };
        let switches = |leads: &dyn Fn(usize) -> bool| {
            ports(&|to| matches!(to, Location::RouterPort { router_index, .. } if leads(router_index)))
        };
        if at == target {
            return only(ports(&|to| matches!(to, Location::ServerPort(found) if found == server))[0], 0);
        }
        if let Some(size) = topology.dragonfly_size() {
            let group = |switch: usize| switch / size.group_size;
            let leaves = |switch: usize| {
                let to = (0..topology.degree(switch)).map(|port| topology.neighbour(switch, port).0);
                let mut to = to.filter_map(|to| match to {
                    Location::RouterPort { router_index, .. } => Some(group(router_index)),
                    _ => None,
                });
                to.any(|to| to == group(target) && to != group(switch))
            };
            let found = if group(at) == group(target) {
                switches(&|next| next == target)
            } else if leaves(at) {
                switches(&|next| group(next) == group(target))
            } else {
                switches(&|next| group(next) == group(at) && leaves(next))
            };
            return only(found[0], usize::from(info.hops > 0 && group(at) == group(target)));
        }
        if let Some(grid) = topology.cartesian_data() {
            let first = info.visited_routers.as_ref().expect("the first switch")[0];
            let [from, here, to] = [first, at, target].map(|switch| grid.unpack(switch));
            let axis = (0..here.len()).find(|&axis| here[axis] != to[axis]).expect("another switch");
            let side = grid.sides[axis];
            let forward = match topology.neighbour(0, 2 * axis).0 {
                Location::None => to[axis] > here[axis],
                _ => (to[axis] + side - here[axis]) % side <= side / 2,
            };
            let crosses = forward != (to[axis] > from[axis]);
            return only(2 * axis + usize::from(forward), usize::from(crosses));
        }
        let (up, down) = topology.up_down_distance(at, target).expect("a fat-tree");
        let nearer = |(u, d): (usize, usize)| (u < up && d <= down) || (u <= up && d < down);
        let found = switches(&|next| topology.up_down_distance(next, target).is_some_and(nearer));
        let digit = if up > 0 { server / self.p.pow(info.hops as u32) % found.len() } else { 0 };
        only(found[digit], 0)
    }
}

fn field(of: &ConfigurationValue, name: &str) -> String {
    let ConfigurationValue::Object(_, pairs) = of else { panic!("an object is expected") };
    match pairs.iter().find(|(key, _)| key == name) {
        Some((_, ConfigurationValue::Literal(text))) => text.clone(),
        _ => panic!("`{name}: \"...\"` is expected"),
    }
}

fn main() {
    let path = env::args().nth(1).expect("a configuration");
    let text = fs::read_to_string(path).expect("the configuration");
    let mut plugs = Plugs::default();
    plugs.add_pattern("Listed".into(), Listed::read);
    plugs.add_routing("OneRoute".into(), OneRoute::of);
    let Ok(Token::Value(configuration)) = config_parser::parse(&text) else { panic!("no configuration") };
    let mut simulation = Simulation::new(&configuration, &plugs);
    simulation.run();
    let ConfigurationValue::Object(_, results) = simulation.get_simulation_results() else { panic!("no results") };
    for (key, value) in results {
        if let (true, ConfigurationValue::Number(cycles)) = (key == "cycle", value) {
            println!("RESULT {cycles}");
        }
    }
}
