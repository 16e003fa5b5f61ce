//! Loads to measure, as listed in `loads.txt`.
//!
//! The name of a load describes it: `FABRIC/PLACEMENT/SHARING`. For packets, SHARING is `packet:oq` or
//! another kind. A fourth part names a difference from the other loads. All are personalised all-to-alls in
//! the order of the simple spread, 20 KB a message, unless the name says otherwise:
//!
//! * `.../shift` and `.../allreduce-ring` are the pattern of that name.
//! * `RULE-RANKS/loggopsim/events` is a program by rule, whose events are counted: operations, messages, and tries of
//!   operations that found their processor or interface busy.
//! * `FABRIC/uniform/RULE` are 100 messages of 20 KB from each node to random others under that routing rule.
//! * `FABRIC/route/RULE` counts routes between random nodes, once all tables are there.

use hayase::diagnostic::Invalid;
use hayase::scenario::{Loader, Scenario};
use hayase::simulation::PatternWork;

/// Amount of work of a load.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// A second or less.
    Quick,
    /// Seconds.
    Usual,
    /// Tens of thousands of nodes; only on request.
    Large,
}

/// Measured messages of a load too long to run to its end: those after the first `skip`.
///
/// Both numbers are rounded up to a point where the engine can be stopped, every 1,024 instants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    /// Messages of the start, in which all nodes send at once, and some more for each node to get out of
    /// step.
    pub(super) skip: u64,
    pub(super) messages: u64,
}

/// Measured work of a load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// Messages of the scenario in its text.
    Text,
    /// Events of a program by this rule, in LogGOPSim's model.
    Program(&'static str),
    /// Messages of uniform random traffic on a named fabric under a routing rule.
    Uniform { fabric: &'static str, rule: &'static str },
    /// Routes on a named fabric by a rule.
    Routes { fabric: &'static str, rule: &'static str },
}

/// A load to measure.
#[derive(Clone, Debug)]
pub struct Load {
    name: &'static str,
    tier: Tier,
    pub(super) window: Option<Window>,
    pub(super) work: Work,
    workload: &'static str,
    settings: Vec<&'static str>,
}

const ALL_TO_ALL: &str = "[workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"20 KB\"\n";
const SHIFT: &str = "[workload.permutation]\nkind = \"shift\"\noffset = 1\nsize = \"20 KB\"\n";
const RING: &str = "[workload.allreduce]\nalgorithm = \"ring\"\nsize = \"128 MB\"\n";
const INCAST: &str = "[workload.incast]\nsize = \"20 KB\"\nmessage-jitter = \"1 ms\"\n";

impl Load {
    /// Reads a line of the list; `None` if it is not a load.
    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.split("  ").map(str::trim).filter(|column| !column.is_empty());
        let name = columns.next()?;
        let tier = match columns.next()? {
            "quick" => Tier::Quick,
            "usual" => Tier::Usual,
            _ => Tier::Large,
        };
        let parts: Vec<&str> = name.split('/').collect();
        let work = match parts[..] {
            [fabric, "uniform", rule] => Work::Uniform { fabric, rule },
            [fabric, "route", rule] => Work::Routes { fabric, rule },
            _ => Work::Text,
        };
        let workload = match parts.get(3) {
            Some(&"shift") => SHIFT,
            Some(&"allreduce-ring") => RING,
            Some(&"incast") => INCAST,
            _ => ALL_TO_ALL,
        };
        let mut load = Self { name, tier, window: None, work, workload, settings: Vec::new() };
        for column in columns {
            if let Some((skip, messages)) = column.strip_prefix("after ").and_then(|text| text.split_once(" count ")) {
                load.window = Some(Window { skip: skip.parse().ok()?, messages: messages.parse().ok()? });
            } else if let Some(rule) = column.strip_prefix("program ") {
                load.work = Work::Program(rule);
            } else {
                load.settings.push(column);
            }
        }
        Some(load)
    }

    /// Name: `fat-tree-3456/random/max-min`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Amount of work.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// Returns the numbers of messages in the window and before it; `None` if the load is run to its end.
    pub fn measured(&self) -> Option<(u64, u64)> {
        self.window.map(|window| (window.messages, window.skip))
    }

    /// Returns its scenario, unless it is a program or of routes.
    ///
    /// # Errors
    /// None for a load of the list.
    pub fn scenario(&self) -> Result<Scenario<PatternWork>, Invalid> {
        if let Work::Uniform { fabric, rule } = self.work {
            let messages = "workload.uniform-random.messages=100";
            let loader = Loader::new().topology(fabric).routing(rule).pattern("uniform-random").size("20 KB");
            return loader.set("bench", messages).load_pattern();
        }
        let text = self.text();
        self.settings.iter().fold(Loader::new().text(self.name, text), |l, s| l.set("bench", s)).load_pattern()
    }

    /// Returns the scenario as written in a file, without its differences from other loads.
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

/// Returns every load, in the order in which they are measured and shown.
pub fn loads() -> Vec<Load> {
    include_str!("loads.txt").lines().filter(|line| !line.starts_with('#')).filter_map(Load::read).collect()
}
