//! Searches for halves, compared with all halves of small fabrics, and with known values for larger ones.

use std::sync::Arc;

use hayase::Loader;
use hayase::fabric::{Fabric, FabricBuilder, Irregular, LinkRole};
use hayase::ids::VertexId;
use hayase::rng::Stream;
use hayase::units::{Bandwidth, Time};

fn fabric(topology: &str) -> Fabric {
    let loaded = Loader::new().text("t.toml", format!("[topology.{topology}\n")).load_topology().unwrap();
    Arc::unwrap_or_clone(loaded.fabric)
}

/// Returns the least capacity across any halves in one direction \[B/s\], over all sets of switches. If a
/// side has too many nodes, the links of the surplus nodes are cut; they are alike.
fn least_of_all(fabric: &Fabric) -> f64 {
    let (nodes, switches) = (fabric.nodes(), fabric.switches());
    let of_switch = |vertex: VertexId| vertex.0.checked_sub(nodes).map(|switch| switch as usize);
    let carried = |role: LinkRole| {
        let mut links = fabric.links().iter().filter(|link| link.role == role);
        links.next().unwrap().capacity.bytes_per_second()
    };
    let (injection, ejection) = (carried(LinkRole::Injection), carried(LinkRole::Ejection));
    let mut hosts = vec![0; switches as usize];
    let mut cables = Vec::new();
    for link in fabric.links().iter() {
        match link.ends.map(|(a, b)| (of_switch(a), of_switch(b))) {
            Some((Some(a), Some(b))) => cables.push((a, b, link.capacity.bytes_per_second())),
            Some((None, Some(b))) => hosts[b] += 1,
            _ => {}
        }
    }
    let mut least = f64::INFINITY;
    for set in 0u32..1 << switches {
        let first = |switch: usize| set >> switch & 1 == 1;
        let inside: u32 = (0..hosts.len()).filter(|&switch| first(switch)).map(|switch| hosts[switch]).sum();
        let across = cables.iter().filter(|&&(a, b, _)| first(a) && !first(b)).map(|cable| cable.2).sum::<f64>();
        for half in [nodes / 2, nodes.div_ceil(2)] {
            // Surplus senders outside, or surplus receivers inside.
            let (outside, within) = (half.saturating_sub(inside), inside.saturating_sub(half));
            least = least.min(across + f64::from(outside) * injection + f64::from(within) * ejection);
        }
    }
    least
}

/// Returns trees of two and three levels, from full bisection to a cable for each part, with even and odd
/// numbers of parts.
fn trees() -> Vec<String> {
    let mut texts = Vec::new();
    for sizes in ["[2, 4]", "[2, 7]", "[3, 3]", "[4, 5]", "[5, 3]", "[2, 2, 3]", "[2, 3, 2]", "[3, 2, 2]", "[2, 3, 3]"]
    {
        let up = if sizes.len() > 6 { "[1, 1, 1]" } else { "[1, 1]" };
        for bandwidth in ["1", "2", "3", "7"] {
            texts.push(format!(
                "fat-tree]\ndown = {sizes}\nup = {up}\nbandwidth = \"{bandwidth} GB/s\"\nhost-bandwidth = \"2 GB/s\""
            ));
        }
    }
    texts
}

#[test]
fn closed_forms_are_the_least_of_all_halves() {
    for text in [
        "hyperx]\nshape = [2, 3]\nnodes = 2\nbandwidth = \"1 GB/s\"\nhost-bandwidth = \"9 GB/s\"",
        "hyperx]\nshape = [2, 5]\nnodes = 3\nbandwidth = [\"2 GB/s\", \"1 GB/s\"]\nhost-bandwidth = \"9 GB/s\"",
        "hyperx]\nshape = [2, 6]\nnodes = 1\nbandwidth = [\"4 GB/s\", \"1 GB/s\"]\nhost-bandwidth = \"2 GB/s\"",
        "hyperx]\nshape = [2, 2, 3]\nnodes = 2\nlinks = [1, 2, 1]\nbandwidth = \"1 GB/s\"\nhost-bandwidth = \"1 GB/s\"",
        "torus]\ndims = [4, 3]\nbandwidth = \"1 GB/s\"",
        "torus]\ndims = [3, 5]\nbandwidth = \"1 GB/s\"",
        "torus]\ndims = [3, 5]\nbandwidth = \"1 GB/s\"\nhost-bandwidth = \"9 GB/s\"",
        "torus]\ndims = [7]\nbandwidth = \"1 GB/s\"",
        "torus]\ndims = [4, 4]\nbandwidth = [\"1 GB/s\", \"3 GB/s\"]\nhost-bandwidth = \"9 GB/s\"",
        "torus]\ndims = [2, 7]\nbandwidth = [\"1 GB/s\", \"9 GB/s\"]\nhost-bandwidth = \"9 GB/s\"",
        "torus]\ndims = [5, 3]\nwrap = false\nbandwidth = \"2 GB/s\"\nhost-bandwidth = \"3 GB/s\"",
        "fat-tree]\ndown = [3, 3]\nup = [1, 2]\nbandwidth = \"1 GB/s\"",
        "fat-tree]\ndown = [4, 3]\nup = [1, 2]\nbandwidth = [\"1 GB/s\", \"2 GB/s\"]",
        "fat-tree]\ndown = [2, 3, 3]\nup = [1, 1, 1]\nbandwidth = [\"3 GB/s\", \"1 GB/s\", \"2 GB/s\"]",
        "fat-tree]\ndown = [3, 2, 3]\nup = [1, 1, 1]\nbandwidth = [\"1 GB/s\", \"2 GB/s\", \"1 GB/s\"]",
        "fat-tree]\ndown = [2, 5]\nup = [1, 2]\nbandwidth = \"1 GB/s\"",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain(trees())
    {
        let fabric = fabric(&text);
        let found = fabric.bisection().unwrap();
        assert!(found.is_least, "{text}");
        assert_eq!(found.least().bytes_per_second(), least_of_all(&fabric), "{text}");
        let cut = fabric.search_cut(found.first_half.clone()).unwrap();
        assert_eq!((found.bandwidth, found.back), (cut.bandwidth, cut.back), "{text}");
        let count = |half: bool| found.first_half.iter().filter(|&&first| first == half).count();
        assert!(count(true) == fabric.nodes() as usize / 2 && count(false) == fabric.nodes().div_ceil(2) as usize);
    }
}

#[test]
fn a_search_finds_the_least_of_all_halves_of_small_fabrics() {
    let mut texts = Vec::new();
    for seed in 1..=20 {
        texts.push(format!(
            "jellyfish]\nswitches = {}\nradix = {}\ndegree = {}\nbandwidth = \"1 GB/s\"\nhost-bandwidth = \"{} GB/s\"\nseed = {seed}",
            8 + seed % 3 * 2,
            5 + seed % 2,
            3 + seed % 2,
            1 + seed % 3,
        ));
    }
    for (shape, nodes, host) in
        [("[3, 4]", 2, 9), ("[5, 3]", 3, 9), ("[3, 3]", 1, 2), ("[2, 7]", 2, 4), ("[13]", 1, 40)]
    {
        texts.push(format!(
            "hyperx]\nshape = {shape}\nnodes = {nodes}\nbandwidth = \"1 GB/s\"\nhost-bandwidth = \"{host} GB/s\""
        ));
    }
    for torus in [
        "dims = [5, 2]\nbandwidth = \"1 GB/s\"\nhost-bandwidth = \"2 GB/s\"",
        "dims = [3, 2, 2]\nbandwidth = \"1 GB/s\"\nhost-bandwidth = \"4 GB/s\"",
        "dims = [4, 3]\nwrap = [true, false]\nbandwidth = \"2 GB/s\"\nhost-bandwidth = \"3 GB/s\"",
    ] {
        texts.push(format!("torus]\n{torus}"));
    }
    texts.push("ring-of-rings]\nrings = 3\nswitches = 5\nnodes = 2\nbandwidth = \"1 GB/s\"".to_owned());
    texts.push("dragonfly]\np = 1\na = 3\nh = 1\ng = 4\nbandwidth = \"1 GB/s\"".to_owned());
    texts.push("hyper-crossbar]\ndims = [2, 4]\nbandwidth = \"1 GB/s\"\nhost-bandwidth = \"9 GB/s\"".to_owned());
    for text in &texts {
        let fabric = fabric(text);
        let found = fabric.bisection().unwrap();
        assert_eq!(found.least().bytes_per_second(), least_of_all(&fabric), "{text}");
        assert!(found.senders() == fabric.nodes() / 2, "{text}");
    }
}

/// Random graphs of switches with different numbers of nodes and different cables.
#[test]
fn a_search_finds_the_least_of_all_halves_of_random_graphs() {
    let mut random = Stream::new(7, "test");
    for number in 0..60 {
        let switches = 4 + random.below(9) as u32;
        let hosts: Vec<u32> = (0..switches).map(|_| random.below(4) as u32).collect();
        let nodes = hosts.iter().sum::<u32>();
        if nodes < 2 {
            continue;
        }
        let mut builder = FabricBuilder::new("random", nodes, switches);
        let speed = |gigabytes: u64| Bandwidth::from_bytes_per_second(gigabytes as f64 * 1e9);
        let mut cable = |a: u32, b: u32, gigabytes: u64, roles: [LinkRole; 2]| {
            builder.link(VertexId(a), VertexId(b), speed(gigabytes), Time::ZERO, roles[0]);
            builder.link(VertexId(b), VertexId(a), speed(gigabytes), Time::ZERO, roles[1]);
        };
        let host = 1 + random.below(8);
        let homes = (0..switches).flat_map(|switch| std::iter::repeat_n(switch, hosts[switch as usize] as usize));
        for (node, home) in (0..).zip(homes) {
            cable(node, nodes + home, host, [LinkRole::Injection, LinkRole::Ejection]);
        }
        let network = [LinkRole::Network { tier: 0 }; 2];
        for switch in 1..switches {
            cable(nodes + switch, nodes + random.below(switch.into()) as u32, 1 + random.below(4), network);
        }
        for _ in 0..random.below(12) {
            let (a, b) = (random.below(switches.into()) as u32, random.below(switches.into()) as u32);
            if a != b {
                cable(nodes + a, nodes + b, 1 + random.below(4), network);
            }
        }
        let fabric = builder.finish(Irregular);
        assert_eq!(fabric.bisection().unwrap().least().bytes_per_second(), least_of_all(&fabric), "graph {number}");
    }
}

/// Known values of halves: by hand, or by searches of other programs.
#[test]
fn halves_of_named_fabrics_carry_no_more_than_those_that_are_known() {
    let named = |name: &str| Arc::unwrap_or_clone(Loader::new().topology(name).load_topology().unwrap().fabric);
    let text = |text: &str| fabric(&format!("{text}\nbandwidth = \"1 GB/s\""));
    for (name, fabric, most) in [
        ("slim fly", named("slim-fly-200"), 0.8125e12),
        ("jellyfish", named("jellyfish-720"), 2.75e12),
        ("polarfly", named("polarfly-798"), 3.74e12),
        ("jellyfish of 12", text("jellyfish]\nswitches = 12\nradix = 7\ndegree = 3\nseed = 3"), 4e9),
        ("torus", text("torus]\ndims = [4, 9]"), 10e9),
        ("torus the other way", text("torus]\ndims = [9, 4]"), 10e9),
        ("hyperx", text("hyperx]\nshape = [4, 6]\nnodes = 8"), 24e9),
        ("hyperx the other way", text("hyperx]\nshape = [6, 4]\nnodes = 8"), 24e9),
    ] {
        let found = fabric.bisection().unwrap();
        assert!(found.least().bytes_per_second() <= most, "{name}: {}", found.least());
        assert_eq!(found.is_least, name.starts_with("torus") || name.starts_with("hyperx"), "{name}");
    }
}
