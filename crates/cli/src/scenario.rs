//! Scenarios from the command line: options that all commands share, and the scenario texts for them.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{Voice, asked, progress, typed};
use hayase::program::between::SourceLine;
use hayase::program::part::Skip;
use hayase::scenario::Loader;

/// Keys of a scenario, by their names.
#[derive(Args, Clone, Debug, Default)]
pub struct SetArgs {
    /// Set any key of a scenario file: --set topology.fat-tree.p=4 (may be repeated; the last one counts).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl SetArgs {
    /// Sets the keys.
    pub fn on(&self, loader: Loader) -> Loader {
        self.set.iter().fold(loader, |loader, assignment| loader.set("--set", assignment))
    }
}

/// Preset below, and single keys above, all other settings of a scenario.
#[derive(Args, Clone, Debug, Default)]
pub struct TextArgs {
    /// Defaults for everything that the scenario leaves open, such as the settings of a publication: a name
    /// (`hayase list presets`) or a file.
    #[arg(long, value_name = "NAME|FILE")]
    pub preset: Option<String>,
    /// Single keys, which override all other settings.
    #[command(flatten)]
    pub keys: SetArgs,
}

impl TextArgs {
    /// Adds the options to the texts of a scenario.
    pub fn on(&self, loader: Loader) -> Loader {
        self.keys.on(with(loader, [(&self.preset, Loader::preset as Set)]))
    }
}

/// Options of a fabric without work.
#[derive(Args, Clone, Debug, Default)]
pub struct FabricArgs {
    /// Fail cables between switches: a fraction of them, drawn by the seed (1%), or one by name; more with
    /// --set faults.KEY=...
    #[arg(long, value_name = "PART|NAME")]
    pub faults: Option<String>,
    /// Seed of everything random; with several runs, the seed of the first.
    #[arg(value_parser = typed::whole::<u64>, long, value_name = "N")]
    pub seed: Option<u64>,
}

impl FabricArgs {
    /// Adds the options to the texts of a scenario.
    pub fn on(&self, loader: Loader) -> Loader {
        let loader = self.seed.iter().fold(loader, |loader, seed| loader.seed(*seed));
        with(loader, [(&self.faults, Loader::faults as Set)])
    }
}

/// Settings of every run of a command.
#[derive(Args, Clone, Debug, Default)]
pub struct CommonArgs {
    /// Node model: ideal, loggp, loggps, tabulated or loggopsim. Its parameters come from the machine or from --set.
    #[arg(long, value_name = "MODEL")]
    pub node: Option<String>,
    /// Seed of everything random; with several runs, the seed of the first.
    #[arg(value_parser = typed::whole::<u64>, long, value_name = "N")]
    pub seed: Option<u64>,
    /// Bandwidth of links, for a fabric that takes it from the machine: "12.5 GB/s".
    #[arg(long, value_name = "RATE")]
    pub link_bandwidth: Option<String>,
    /// Interrupt the ranks' processors: LENGTH/PERIOD, or the LENGTH of one interruption in each computation.
    /// Then the distribution of lengths (fixed, uniform, exponential) and the starts (random, synchronised):
    /// 25us/1ms,exponential.
    #[arg(long, value_name = "NOISE")]
    pub noise: Option<String>,
    /// Slow ranks down, RANKS=SPEED: 3=50%, 0-7=0.5, nodes:3=50%, count:2=50% (drawn), JOB:3=50%,
    /// 3=50%@1ms..2ms (may be repeated).
    #[arg(long, value_name = "STRAGGLER")]
    pub straggler: Vec<String>,
    /// Preset and single keys.
    #[command(flatten)]
    pub texts: TextArgs,
}

impl CommonArgs {
    /// Adds the options to the texts of a scenario.
    pub fn on(&self, loader: Loader) -> Loader {
        let loader = with(
            loader,
            [
                (&self.node, Loader::node as Set),
                (&self.link_bandwidth, Loader::link_bandwidth),
                (&self.noise, Loader::noise),
            ],
        );
        let loader = self.straggler.iter().fold(loader, |loader, straggler| loader.straggler(straggler));
        let loader = match self.seed {
            Some(seed) => loader.seed(seed),
            None => loader,
        };
        self.texts.on(loader)
    }
}

/// System of a run: fabric, nodes and network model.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Scenario")]
pub struct SystemArgs {
    /// The fabric: a name (`hayase list topologies`), a family with its numbers
    /// ("torus:dims=[3,5],bandwidth=1 GB/s"), a TOML file with a [topology.*] table, a SimGrid platform
    /// (.xml) or an InfraGraph (.yaml).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub topology: Option<String>,
    /// The machine, which sets the cost of messages at the nodes, and in between without a fabric: a name
    /// (`hayase list machines`) or a TOML file with a [node.*] table (default: no cost).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Placement of ranks on nodes: regular, random, block, round-robin[:group], by-leaf[:random],
    /// by-group[:random], nodes (0-7,12) or a CSV file `rank,node`.
    #[arg(long, value_name = "RULE|FILE")]
    pub placement: Option<String>,
    /// Place up to this number of ranks on each node; they share its links (default 1).
    #[arg(long, value_name = "N")]
    pub ranks_per_node: Option<String>,
    /// Sharing of a link among messages: max-min (exact, the default), equal-share, redistribute, blocking
    /// (input queues with head-of-line blocking).
    #[arg(long, value_name = "POLICY")]
    pub sharing: Option<String>,
    /// Network model: flow (the default; flow:max-min sets the sharing too), packet:oq (output queues),
    /// packet:iq (input buffers with credits), packet:fq (fair queuing), contention-free.
    #[arg(long, value_name = "MODEL")]
    pub transport: Option<String>,
    /// Routing rule: d-mod-k, s-mod-k, hashed, dimension-order, random-order, min-adaptive, doal, family,
    /// shortest-path, table, minimal, ecmp, spray, valiant-groups, valiant-switches, ugal-l, ugal-g,
    /// progressive, min-hop, dfsssp, up-down, tables:FILE, paths:FILE (default: the usual rule of the
    /// fabric).
    #[arg(long, value_name = "RULE")]
    pub routing: Option<String>,
    /// Fail cables between switches: a fraction of them, drawn by the seed (1%), or one by name; more in
    /// [faults].
    #[arg(long, value_name = "PART|NAME")]
    pub faults: Option<String>,
    /// Settings of every run.
    #[command(flatten)]
    pub common: CommonArgs,
}

impl SystemArgs {
    /// Adds the options to the texts of a scenario.
    pub fn on(&self, loader: Loader) -> Loader {
        let options: [(_, Set); 8] = [
            (&self.machine, Loader::machine),
            (&self.topology, Loader::topology),
            (&self.placement, Loader::placement),
            (&self.ranks_per_node, Loader::ranks_per_node),
            (&self.sharing, Loader::sharing),
            (&self.transport, Loader::transport),
            (&self.routing, Loader::routing),
            (&self.faults, Loader::faults),
        ];
        self.common.on(with(loader, options))
    }
}

/// Messages of a pattern.
#[derive(Args, Clone, Debug, Default)]
pub struct MessageArgs {
    /// Size of each message: "20 KB", "64 KiB".
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Data that --size counts in a collective: a rank's block or the whole vector (default: by operation, see the
    /// reference).
    #[arg(long, value_name = "block|vector")]
    pub size_of: Option<String>,
    /// Number of ranks of the pattern (default: one for each node).
    #[arg(value_parser = typed::whole::<NonZeroU32>, long, value_name = "N")]
    pub ranks: Option<NonZeroU32>,
    /// Start each rank at a random time from 0 to this: "1 us".
    #[arg(long, value_name = "TIME")]
    pub jitter: Option<String>,
    /// Time of the barrier after each step with --injection barrier (default 0): "5 us".
    #[arg(long, value_name = "TIME")]
    pub barrier_cost: Option<String>,
}

impl MessageArgs {
    /// Adds the options to the texts of a scenario.
    pub fn on(&self, loader: Loader) -> Loader {
        let ranks = self.ranks.map(|ranks| ranks.to_string());
        let set = [
            (&self.size, Loader::size as Set),
            (&self.size_of, Loader::size_of),
            (&ranks, Loader::ranks),
            (&self.jitter, Loader::jitter),
            (&self.barrier_cost, Loader::barrier_cost),
        ];
        with(loader, set)
    }
}

/// Scenario file in addition to work that is named separately.
#[derive(Args, Clone, Debug, Default)]
pub struct BesideArgs {
    /// Take other settings from a scenario file: tables like [node.*], [topology.*], [collectives], or a
    /// master/slave program that the options here change.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Scenario")]
    pub scenario: Option<PathBuf>,
}

impl BesideArgs {
    /// Returns the loader of the file.
    pub fn loader(&self, voice: Voice) -> Loader {
        let loader = asked::loader().on_read(progress::reading(voice.show));
        self.scenario.iter().fold(loader, |loader, path| loader.file(path))
    }
}

/// Options of a whole scenario.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Scenario")]
pub struct ScenarioArgs {
    /// A scenario file (TOML), or a JSON report whose scenario is run again.
    #[arg(value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub scenario: Option<PathBuf>,
    /// Traffic, and the system that carries it.
    #[command(flatten)]
    pub traffic: TrafficArgs,
}

impl ScenarioArgs {
    /// Returns the loader of the scenario; options override files.
    pub fn loader(&self) -> Loader {
        self.traffic.on(self.scenario.iter().fold(asked::loader(), |loader, path| loader.file(path)))
    }
}

/// Traffic, and the system that carries it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Scenario")]
pub struct TrafficArgs {
    /// The traffic: a name (`hayase list patterns`), a TOML file with a [workload.*] table, a CSV of
    /// messages, or a program (a trace, a schedule, or a rule like linear:ranks=64).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub pattern: Option<String>,
    /// Messages of the pattern.
    #[command(flatten)]
    pub messages: MessageArgs,
    /// Condition for a rank's next message: queue (its last one is delivered), sendrecv (and it has received
    /// this step's messages), barrier (all ranks have). Further rules: left (its last one has left the node),
    /// all (none), window=K (fewer than K are under way).
    #[arg(long, value_name = "RULE")]
    pub injection: Option<String>,
    /// System on which the work runs.
    #[command(flatten)]
    pub system: SystemArgs,
}

impl TrafficArgs {
    /// Adds the options to the texts of a scenario.
    pub fn on(&self, loader: Loader) -> Loader {
        let loader = with(loader, [(&self.pattern, Loader::pattern as Set), (&self.injection, Loader::injection)]);
        self.system.on(self.messages.on(loader))
    }
}

/// Value of an option that sets a key of the work.
pub trait Key {
    /// Returns the value, if given, and true if it is a text.
    fn value(&self) -> (Option<String>, bool);
}

impl Key for bool {
    fn value(&self) -> (Option<String>, bool) {
        (self.then(|| "true".to_owned()), false)
    }
}

impl Key for Vec<String> {
    fn value(&self) -> (Option<String>, bool) {
        ((!self.is_empty()).then(|| format!("{self:?}")), false)
    }
}

macro_rules! keys {
    ($($value:ty: $text:literal $is_text:literal),*) => {
        $(impl Key for Option<$value> {
            fn value(&self) -> (Option<String>, bool) {
                (self.as_ref().map(|value| format!($text, value)), $is_text)
            }
        })*
    };
}
keys!(String: "{}" true, SourceLine: "{}" true, Skip: "{}" true, NonZeroU32: "{}" false, u32: "{}" false, f64: "{:?}" false);

/// Implements for options the function that sets the keys of the work with the same names.
macro_rules! on_work {
    ($args:ty: $($option:ident),*) => {
        impl $args {
            /// Sets the keys of the work.
            pub fn on(&self, loader: hayase::scenario::Loader) -> hayase::scenario::Loader {
                $(let loader = $crate::scenario::set_key(loader, stringify!($option), &self.$option);)*
                loader
            }
        }
    };
}
pub(crate) use on_work;

/// Sets a key of the work, if the option is given.
pub fn set_key(loader: Loader, option: &str, given: &impl Key) -> Loader {
    let key = option.replace('_', "-");
    let flag = format!("--{key}");
    match given.value() {
        (Some(text), true) => loader.work(&flag, &key, &text),
        (Some(value), false) => loader.work_value(&flag, &key, &value),
        (None, _) => loader,
    }
}

/// Function that adds an option to the texts of a scenario.
type Set = fn(Loader, &str) -> Loader;

fn with<const N: usize>(loader: Loader, options: [(&Option<String>, Set); N]) -> Loader {
    let given = options.into_iter().filter_map(|(value, set)| Some((value.as_deref()?, set)));
    given.fold(loader, |loader, (value, set)| set(loader, value))
}
