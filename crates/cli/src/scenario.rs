//! Scenarios from what was typed: the flags that are the same for all verbs, and the texts that they stand for.

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
    /// Any key of a scenario file: --set topology.fat-tree.p=4 (may be repeated; the last one holds).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl SetArgs {
    /// Sets the keys.
    pub fn on(&self, loader: Loader) -> Loader {
        self.set.iter().fold(loader, |loader, assignment| loader.set("--set", assignment))
    }
}

/// What lies below and above all else that a scenario says.
#[derive(Args, Clone, Debug, Default)]
pub struct TextArgs {
    /// What holds where nothing else is said, such as the setting of a publication: a name (`hayase preset list`) or a
    /// file like those.
    #[arg(long, value_name = "NAME|FILE")]
    pub preset: Option<String>,
    /// The keys above all else.
    #[command(flatten)]
    pub keys: SetArgs,
}

impl TextArgs {
    /// With what they say.
    pub fn on(&self, loader: Loader) -> Loader {
        self.keys.on(with(loader, [(&self.preset, Loader::preset as Set)]))
    }
}

/// What is said of a fabric that is looked at by itself.
#[derive(Args, Clone, Debug, Default)]
pub struct FabricArgs {
    /// Cables between switches that fail: a part of them, drawn by the seed (1%), or a name; more by --set
    /// faults.KEY=...
    #[arg(long, value_name = "PART|NAME")]
    pub faults: Option<String>,
    /// The seed of everything random; of several runs the first.
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

/// What holds for every run of a verb, one or many.
#[derive(Args, Clone, Debug, Default)]
pub struct CommonArgs {
    /// The node model: ideal, loggp, loggps, loggopsim; its parameters are those of the machine, or set with --set.
    #[arg(long, value_name = "MODEL")]
    pub node: Option<String>,
    /// The seed of everything random; of several runs the first.
    #[arg(value_parser = typed::whole::<u64>, long, value_name = "N")]
    pub seed: Option<u64>,
    /// The bandwidth of links, where a fabric leaves it to the machine: "12.5 GB/s".
    #[arg(long, value_name = "RATE")]
    pub link_bandwidth: Option<String>,
    /// Stops of the ranks' processors, LENGTH/PERIOD or the LENGTH of one in each calculation, then how lengths are
    /// distributed (fixed, uniform, exponential) and when they begin (random, synchronised): 25us/1ms,exponential.
    #[arg(long, value_name = "NOISE")]
    pub noise: Option<String>,
    /// Ranks that are slow, RANKS=SPEED: 3=50%, 0-7=0.5, nodes:3=50%, count:2=50% (drawn), JOB:3=50%, 3=50%@1ms..2ms
    /// (may be repeated).
    #[arg(long, value_name = "STRAGGLER")]
    pub straggler: Vec<String>,
    /// What lies below and above all else.
    #[command(flatten)]
    pub texts: TextArgs,
}

impl CommonArgs {
    /// With what they say.
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

/// What a run is done on: fabric, nodes, and how messages move.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Scenario")]
pub struct SystemArgs {
    /// The fabric: a name (`hayase topology list`), a family with its numbers ("torus:dims=[3,5],bandwidth=1 GB/s"), a
    /// TOML file with a [topology.*] table, a SimGrid platform (.xml), an InfraGraph (.yaml).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub topology: Option<String>,
    /// What messages cost at their ends, and without a fabric in between: a name (`hayase machine list`) or a TOML file
    /// with a [node.*] table (default: nothing).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Which node each rank is on: regular, random, block, round-robin[:group], by-leaf[:random], by-group[:random],
    /// nodes (0-7,12) or a CSV file `rank,node`.
    #[arg(long, value_name = "RULE|FILE")]
    pub placement: Option<String>,
    /// How messages share a link: max-min (exact, the default), equal-share, redistribute, blocking
    /// (input queues that hold each other up).
    #[arg(long, value_name = "POLICY")]
    pub sharing: Option<String>,
    /// How messages move: flow (the default; flow:max-min chooses the sharing too), packet:oq (output queues),
    /// packet:iq (input buffers with credits), packet:fq (messages in turn), contention-free.
    #[arg(long, value_name = "MODEL")]
    pub transport: Option<String>,
    /// Which way messages go: d-mod-k, s-mod-k, hashed, dimension-order, random-order, min-adaptive, doal, family,
    /// shortest-path, table, minimal, ecmp, spray, valiant-groups, valiant-switches, ugal-l, ugal-g, progressive,
    /// min-hop, dfsssp, up-down, tables:FILE, paths:FILE (default: what is usual for the fabric).
    #[arg(long, value_name = "RULE")]
    pub routing: Option<String>,
    /// Cables between switches that fail: a part of them, drawn by the seed (1%), or a name; more in [faults].
    #[arg(long, value_name = "PART|NAME")]
    pub faults: Option<String>,
    /// What holds for every run.
    #[command(flatten)]
    pub common: CommonArgs,
}

impl SystemArgs {
    /// With what they say.
    pub fn on(&self, loader: Loader) -> Loader {
        let options: [(_, Set); 7] = [
            (&self.machine, Loader::machine),
            (&self.topology, Loader::topology),
            (&self.placement, Loader::placement),
            (&self.sharing, Loader::sharing),
            (&self.transport, Loader::transport),
            (&self.routing, Loader::routing),
            (&self.faults, Loader::faults),
        ];
        self.common.on(with(loader, options))
    }
}

/// What the messages of a pattern are like.
#[derive(Args, Clone, Debug, Default)]
pub struct MessageArgs {
    /// The size of each message, with its unit: "20 KB", "64 KiB".
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// The number of ranks of every pattern (default: one on each node).
    #[arg(value_parser = typed::whole::<NonZeroU32>, long, value_name = "N")]
    pub ranks: Option<NonZeroU32>,
    /// Each rank starts at a random time from 0 to this: "1 us".
    #[arg(long, value_name = "TIME")]
    pub jitter: Option<String>,
}

impl MessageArgs {
    /// With what they say.
    pub fn on(&self, loader: Loader) -> Loader {
        let ranks = self.ranks.map(|ranks| ranks.to_string());
        with(loader, [(&self.size, Loader::size as Set), (&ranks, Loader::ranks), (&self.jitter, Loader::jitter)])
    }
}

/// A scenario file beside work that is named by itself.
#[derive(Args, Clone, Debug, Default)]
pub struct BesideArgs {
    /// A scenario file with tables like [node.*], [topology.*], [collectives], or with a farm that the options here
    /// change.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Scenario")]
    pub scenario: Option<PathBuf>,
}

impl BesideArgs {
    /// Returns the texts of the file.
    pub fn loader(&self, voice: Voice) -> Loader {
        let loader = asked::loader().on_read(progress::reading(voice.show));
        self.scenario.iter().fold(loader, |loader, path| loader.file(path))
    }
}

/// All of a scenario.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Scenario")]
pub struct ScenarioArgs {
    /// A scenario file (TOML), or a JSON report whose scenario is run again.
    #[arg(value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub scenario: Option<PathBuf>,
    /// What is sent, and over what.
    #[command(flatten)]
    pub traffic: TrafficArgs,
}

impl ScenarioArgs {
    /// The texts of the scenario; options override files.
    pub fn loader(&self) -> Loader {
        self.traffic.on(self.scenario.iter().fold(asked::loader(), |loader, path| loader.file(path)))
    }
}

/// What is sent, and over what.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Scenario")]
pub struct TrafficArgs {
    /// What is sent: a name (`hayase pattern list`), a TOML file with a [workload.*] table, a CSV of messages, a
    /// program (a trace, a schedule, or a rule like linear:ranks=64).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub pattern: Option<String>,
    /// What its messages are like.
    #[command(flatten)]
    pub messages: MessageArgs,
    /// When a rank sends its next message: queue (the last is delivered), sendrecv (and this step's are received),
    /// barrier (everybody's are), left (the last has left the node), all (at once), window=K (up to K under way).
    #[arg(long, value_name = "RULE")]
    pub injection: Option<String>,
    /// What it runs on.
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

/// Value of an option that is a key of the work.
pub trait Key {
    /// Returns the value where one is given, and true if it is a text.
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

/// Gives options the function that sets the keys of the work, which are called like the options.
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

/// How a flag becomes a text of a scenario.
type Set = fn(Loader, &str) -> Loader;

fn with<const N: usize>(loader: Loader, options: [(&Option<String>, Set); N]) -> Loader {
    let given = options.into_iter().filter_map(|(value, set)| Some((value.as_deref()?, set)));
    given.fold(loader, |loader, (value, set)| set(loader, value))
}
