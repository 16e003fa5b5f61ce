//! What can be measured.
//!
//! A load's name says what it is: `FABRIC/PLACEMENT/SHARING`, with `packet:oq` and its kind for SHARING where packets are
//! played, or with a fourth part what is unlike the others. All are
//! personalised all-to-alls in the order of the simple spread, 20 KB a message, unless they are called otherwise.
//! `RULE-RANKS/loggopsim/events` is a program by rule, whose events are counted: operations, messages, and tries of operations that
//! found their processor or interface busy.
//! (`.../shift` and `.../allreduce-ring` are the pattern of that name.)
//! `FABRIC/uniform/RULE` are 100 messages of 20 KB of each node to random others under that routing rule, and of
//! `FABRIC/route/RULE` routes between random nodes are counted, once all tables are there.

use hayase::diagnostic::Invalid;
use hayase::scenario::{Loader, Scenario};
use hayase::simulation::PatternWork;

/// How much work a load is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// A second or less.
    Quick,
    /// Seconds.
    Usual,
    /// Tens of thousands of nodes; only where asked for.
    Large,
}

/// Messages that are measured of a load too long to run to its end: those after the first `skip`.
///
/// Both are rounded up to where the engine can be stopped, every 1,024 instants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    /// The start, in which all nodes send at once, and some messages for each to get out of step.
    pub(super) skip: u64,
    pub(super) messages: u64,
}

/// What is measured of a load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// Messages of the scenario that its text says.
    Text,
    /// Events of a program by this rule, in LogGOPSim's model.
    Program(String),
    /// Messages of uniform random traffic on a named fabric under a routing rule.
    Uniform { fabric: &'static str, rule: &'static str },
    /// Routes on a named fabric by a rule.
    Routes { fabric: &'static str, rule: &'static str },
}

/// One thing to measure.
#[derive(Clone, Debug)]
pub struct Load {
    name: String,
    tier: Tier,
    pub(super) window: Option<Window>,
    pub(super) work: Work,
    workload: &'static str,
    settings: Vec<String>,
}

const ALL_TO_ALL: &str = "[workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"20 KB\"\n";
const SHIFT: &str = "[workload.permutation]\nkind = \"shift\"\noffset = 1\nsize = \"20 KB\"\n";
const RING: &str = "[workload.allreduce]\nalgorithm = \"ring\"\nsize = \"128 MB\"\n";
const INCAST: &str = "[workload.incast]\nsize = \"20 KB\"\nmessage-jitter = \"1 ms\"\n";

impl Load {
    /// On this fabric; settings are those of `--set`.
    fn new(fabric: &str, rest: &str, tier: Tier) -> Self {
        let name = format!("{fabric}/{rest}");
        Self { name, tier, window: None, work: Work::Text, workload: ALL_TO_ALL, settings: Vec::new() }
    }

    fn set(mut self, settings: &[&str]) -> Self {
        self.settings.extend(settings.iter().map(|&setting| setting.to_owned()));
        self
    }

    fn window(mut self, skip: u64, messages: u64) -> Self {
        self.window = Some(Window { skip, messages });
        self
    }

    /// Its name: `fat-tree-3456/random/max-min`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How much work it is.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// How many messages are measured, and after how many; nothing where it is run to its end.
    pub fn measured(&self) -> Option<(u64, u64)> {
        self.window.map(|window| (window.messages, window.skip))
    }

    /// The scenario behind it, unless it is a program or of routes.
    ///
    /// # Errors
    /// None that a load of the list has.
    pub fn scenario(&self) -> Result<Scenario<PatternWork>, Invalid> {
        if let Work::Uniform { fabric, rule } = self.work {
            let messages = "workload.uniform-random.messages=100";
            let loader = Loader::new().topology(fabric).routing(rule).pattern("uniform-random").size("20 KB");
            return loader.set("bench", messages).load_pattern();
        }
        let text = self.text();
        self.settings.iter().fold(Loader::new().text(self.name.clone(), text), |l, s| l.set("bench", s)).load_pattern()
    }

    /// The scenario as it would be written in a file, without what is unlike other loads.
    fn text(&self) -> String {
        let mut parts = self.name.split('/');
        let [fabric, placement, sharing] = [(); 3].map(|()| parts.next().unwrap_or_default());
        let topology = match fabric.rsplit_once('-') {
            // 2 p^3 nodes.
            Some(("fat-tree", nodes)) => {
                let p = (1..100u32).find(|p| 2 * p * p * p == nodes.parse().unwrap_or(0)).unwrap_or(0);
                format!("[topology.fat-tree]\np = {p}\nbandwidth = \"1 GB/s\"\n")
            }
            Some((family, dims)) => {
                format!("[topology.{family}]\ndims = [{}]\nbandwidth = \"1 GB/s\"\n", dims.replace('x', ", "))
            }
            None => String::new(),
        };
        let model = match sharing.strip_prefix("packet:") {
            Some(model) => format!("[transport.packet]\nmodel = \"{model}\"\n"),
            None => format!("[sharing.{sharing}]\n"),
        };
        format!("{topology}\n[placement.{placement}]\n\n{model}\n{}", self.workload)
    }
}

/// Every load, in the order in which they are measured and shown.
pub fn loads() -> Vec<Load> {
    let mut loads = fat_trees();
    loads.extend(lock_step());
    loads.extend(tori());
    loads.extend(queues());
    loads.extend(incasts());
    loads.extend(variants());
    loads.extend(programs());
    loads.extend(rules());
    loads.extend(large());
    loads
}

const SHARINGS: [&str; 2] = ["max-min", "equal-share"];

/// The reference: full-bisection fat-trees of 2 p^3 nodes.
fn fat_trees() -> Vec<Load> {
    let mut loads = Vec::new();
    for placement in ["random", "regular"] {
        for sharing in SHARINGS {
            for nodes in [54u64, 128, 250, 432, 1024, 3456] {
                let tier = if nodes <= 432 { Tier::Quick } else { Tier::Usual };
                let load = Load::new(&format!("fat-tree-{nodes}"), &format!("{placement}/{sharing}"), tier);
                let long = placement == "random" && nodes > 2000;
                loads.push(if long { load.window(16 * nodes, 2_000_000) } else { load });
            }
        }
    }
    for (nodes, tier) in [(54, Tier::Quick), (250, Tier::Quick), (432, Tier::Usual), (1024, Tier::Usual)] {
        loads.push(Load::new(&format!("fat-tree-{nodes}"), "random/redistribute", tier));
    }
    loads
}

/// With a barrier after every step all messages of a step start together.
fn lock_step() -> impl Iterator<Item = Load> {
    let choices = [("random", "max-min"), ("random", "equal-share"), ("regular", "max-min")];
    choices.into_iter().map(|(placement, sharing)| {
        Load::new("fat-tree-3456", &format!("{placement}/{sharing}/barrier"), Tier::Usual)
            .set(&["workload.all-to-all.injection=barrier"])
    })
}

/// Tori, on which a change of one rate reaches far.
fn tori() -> Vec<Load> {
    let mut loads = Vec::new();
    for (sharing, far) in [("max-min", 16_384), ("equal-share", 1_000_000)] {
        let rest = format!("random/{sharing}");
        loads.push(Load::new("torus-16x16", &rest, Tier::Quick));
        loads.push(Load::new("torus-32x32", &rest, Tier::Usual).window(8 * 1024, far.max(50_000)));
        loads.push(Load::new("torus-64x64", &rest, Tier::Usual).window(4096, far));
    }
    // Where many links hold back what crosses many others, redistribution takes most rounds and reaches furthest.
    for fabric in ["torus-16x16", "mesh-16x16"] {
        loads.push(Load::new(fabric, "random/redistribute", Tier::Usual));
    }
    loads.push(Load::new("mesh-16x16", "random/equal-share", Tier::Quick));
    loads.push(Load::new("torus-16x16", "regular/max-min", Tier::Quick));
    loads.push(Load::new("torus-32x32", "regular/max-min", Tier::Usual));
    loads
}

/// Switches whose queues matter: `blocking`, and packets in output, fair and input queues.
fn queues() -> Vec<Load> {
    let mut loads = Vec::new();
    for (fabric, tier) in [("fat-tree-54", Tier::Quick), ("fat-tree-432", Tier::Usual), ("torus-16x16", Tier::Usual)] {
        for model in ["blocking", "packet:oq", "packet:fq", "packet:iq"] {
            loads.push(Load::new(fabric, &format!("random/{model}"), tier));
        }
    }
    loads.push(Load::new("fat-tree-3456", "random/blocking", Tier::Usual).window(3456, 100_000));
    loads
}

/// Thousands of flows on one link: all nodes send to one, each at a time of its own.
fn incasts() -> Vec<Load> {
    let incast = |fabric, sharing, tier| Load {
        workload: INCAST,
        ..Load::new(fabric, &format!("regular/{sharing}/incast"), tier)
    };
    vec![
        incast("fat-tree-432", "max-min", Tier::Quick),
        incast("fat-tree-3456", "max-min", Tier::Usual),
        incast("fat-tree-3456", "equal-share", Tier::Usual),
        incast("torus-64x64", "max-min", Tier::Large),
    ]
}

/// The same with one thing changed.
fn variants() -> Vec<Load> {
    let tree = |what, setting: &str| {
        Load::new("fat-tree-1024", &format!("random/max-min/{what}"), Tier::Usual).set(&[setting])
    };
    let torus =
        |what, setting: &str| Load::new("torus-16x16", &format!("random/max-min/{what}"), Tier::Usual).set(&[setting]);
    vec![
        tree("200-KB", "workload.all-to-all.size=200 KB"),
        tree("1-MB", "workload.all-to-all.size=1 MB"),
        tree("latency", "topology.fat-tree.latency=500 ns"),
        tree("jitter", "workload.all-to-all.message-jitter=5 us"),
        tree("unequal", "topology.fat-tree.bandwidth=[\"1 GB/s\", \"1.5 GB/s\", \"0.7 GB/s\"]"),
        tree("hashed", "routing=hashed"),
        tree("sendrecv", "workload.all-to-all.injection=sendrecv"),
        torus("unequal", "topology.torus.bandwidth=[\"1 GB/s\", \"1.7 GB/s\"]"),
        torus("latency", "topology.torus.latency=500 ns"),
    ]
}

/// Programs in LogGOPSim's model: what is counted are their operations and messages.
fn programs() -> Vec<Load> {
    let mut loads = Vec::new();
    let tiers = [Tier::Quick, Tier::Quick, Tier::Usual];
    for (rule, sizes) in [
        ("pairwise", [64, 256, 1024]),
        ("linear", [64, 256, 1024]),
        ("dissemination", [1024, 4096, 65_536]),
        ("broadcast", [1024, 4096, 65_536]),
    ] {
        for (ranks, tier) in sizes.into_iter().zip(tiers) {
            let load = Load::new(&format!("{rule}-{ranks}"), "loggopsim/events", tier);
            loads.push(Load { work: Work::Program(format!("{rule}:ranks={ranks}")), ..load });
        }
    }
    for (side, iterations, tier) in [(32, 20, Tier::Quick), (128, 10, Tier::Usual)] {
        let load = Load::new(&format!("stencil-{side}x{side}"), "loggopsim/events", tier);
        let rule = format!("stencil:x={side},y={side},iterations={iterations}");
        loads.push(Load { work: Work::Program(rule), ..load });
    }
    loads
}

/// Routing rules: messages under them, and their routes alone.
fn rules() -> Vec<Load> {
    let mut loads = Vec::new();
    for (fabric, nodes, rule) in [
        ("fat-tree-1024", 1024, "d-mod-k"),
        ("dragonfly-1056", 1056, "minimal"),
        ("dragonfly-1056", 1056, "ugal-l"),
        ("dragonfly-1056", 1056, "ugal-g"),
    ] {
        let load = Load::new(fabric, &format!("uniform/{rule}"), Tier::Usual).window(10 * nodes, 80 * nodes);
        loads.push(Load { work: Work::Uniform { fabric, rule }, ..load });
    }
    for (fabric, rule, tier) in [
        ("fat-tree-3456", "d-mod-k", Tier::Quick),
        ("torus-16x16", "dimension-order", Tier::Quick),
        ("dragonfly-1056", "family", Tier::Quick),
        ("dragonfly-1056", "minimal", Tier::Quick),
        ("dragonfly-1056", "valiant-groups", Tier::Quick),
        ("dragonfly-1056", "ugal-l", Tier::Quick),
        ("dragonfly-1056", "ugal-g", Tier::Quick),
        ("frontier", "family", Tier::Quick),
        ("frontier", "minimal", Tier::Usual),
        ("frontier", "min-hop", Tier::Usual),
        ("frontier", "ugal-l", Tier::Usual),
        ("frontier", "ugal-g", Tier::Usual),
    ] {
        let load = Load::new(fabric, &format!("route/{rule}"), tier);
        loads.push(Load { work: Work::Routes { fabric, rule }, ..load });
    }
    loads
}

/// Whole machines.
fn large() -> Vec<Load> {
    let mut loads = Vec::new();
    for nodes in [16_000u64, 65_536] {
        for placement in ["random", "regular"] {
            for sharing in SHARINGS {
                let load = Load::new(&format!("fat-tree-{nodes}"), &format!("{placement}/{sharing}"), Tier::Large);
                loads.push(load.window(4 * nodes, 10_000_000));
            }
        }
    }
    // One message each of a million nodes; 2 (N - 1) steps that are the same, 32 billion messages.
    for (nodes, placement, what, workload) in
        [(1_024_000, "random", "shift", SHIFT), (128_000, "regular", "allreduce-ring", RING)]
    {
        let rest = format!("{placement}/max-min/{what}");
        loads.push(Load { workload, ..Load::new(&format!("fat-tree-{nodes}"), &rest, Tier::Large) });
    }
    loads
}
