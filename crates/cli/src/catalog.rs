//! `hayase list` and `hayase show`: named objects of all kinds.

use std::path::Path;

use clap::{Args, Subcommand};

use super::advise::args::ExplainArgs;
use super::listing::{self, ListArgs};
use super::machine::{self, MachineShowArgs, MachineVerb};
use super::options::OutputArgs;
use super::pattern::{self, PatternShowArgs, PatternVerb};
use super::preset::{self, PresetShowArgs, PresetVerb};
use super::scenario::{FabricArgs, TextArgs};
use super::topology::{self, TopologyShowArgs, TopologyVerb};
use super::{End, Failure, Voice, advise, extension, shown};
use hayase::diagnostic::{Diagnostic, closest};
use hayase::scenario::library::Shelf;
use hayase_advice::rules;

/// `hayase list`.
#[derive(Subcommand, Clone, Debug)]
pub enum ListVerb {
    /// List topologies with their size and bandwidth.
    #[command(alias = "topology")]
    Topologies(ListArgs),
    /// List patterns: who sends how much to whom.
    #[command(alias = "pattern")]
    Patterns(ListArgs),
    /// List machines: measured parameters of nodes and networks.
    #[command(alias = "machine")]
    Machines(ListArgs),
    /// List presets: settings of publications.
    #[command(alias = "preset")]
    Presets(ListArgs),
    /// List models of training steps.
    #[command(alias = "model")]
    Models(ListArgs),
    /// List the rules of advice.
    #[command(alias = "rule")]
    Rules(ListArgs),
}

/// `hayase show`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hayase show torus-8x8 -o torus.svg
  hayase show all-to-all-pairwise
  hayase show myrinet
  hayase show A001

Files (-o), by name:
  x.svg, x.dot, x.json, x.csv    for a topology: drawing, graph (dot, json), links
  x.csv, x.json                  for a pattern or a rule: its rows
  x.toml, x.json                 for a machine, a preset or a model: its settings

`hayase topology show` and `hayase pattern show` have more options.")]
pub struct ShowArgs {
    /// A name of a topology, pattern, machine, preset, model or rule of advice (`hayase list KIND`), or a file with
    /// a topology or messages.
    #[arg(value_name = "NAME|FILE")]
    pub name: String,
    /// Files, format and threads of results.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Returns true for a file of messages or with a [workload.*] table.
fn has_messages(path: &Path) -> bool {
    match extension(path).as_str() {
        "csv" => path.exists(),
        "toml" => {
            std::fs::read_to_string(path).is_ok_and(|text| text.lines().any(|line| line.starts_with("[workload")))
        }
        _ => false,
    }
}

/// Lists the names of one kind.
pub fn list(verb: &ListVerb, voice: Voice) -> Result<End, Failure> {
    match verb.clone() {
        ListVerb::Topologies(args) => topology::topology(&TopologyVerb::List(args), voice),
        ListVerb::Patterns(args) => pattern::pattern(&PatternVerb::List(args), voice),
        ListVerb::Machines(args) => machine::machine(&MachineVerb::List(args), voice),
        ListVerb::Presets(args) => preset::preset(&PresetVerb::List(args), voice),
        ListVerb::Models(ListArgs { out }) => {
            let all = Shelf::Models.all().iter().map(|named| (named.name, named.description()));
            listing::names(&out, "list models", all)?;
            voice.hint("`hayase show NAME` shows a model, `hayase llm NAME` computes its training step");
            Ok(End::Done)
        }
        ListVerb::Rules(ListArgs { out }) => advise::explain(&ExplainArgs { rule: None, out }),
    }
}

/// Shows the named object of the first kind that has this name.
pub fn show(args: &ShowArgs, voice: Voice) -> Result<End, Failure> {
    let ShowArgs { name, out } = args.clone();
    // `uniform-random:messages=4` is a name with options.
    let head = name.split(':').next().unwrap_or_default();
    let knows = |shelf: Shelf| shelf.names().any(|known| known == head);
    if knows(Shelf::Patterns) || has_messages(Path::new(&name)) {
        let (topology, ranks, rank, steps, seed) = (None, None, None, None, None);
        let args = PatternShowArgs { name, topology, ranks, rank, steps, seed, texts: TextArgs::default(), out };
        pattern::pattern(&PatternVerb::Show(args), voice)
    } else if knows(Shelf::Machines) {
        machine::machine(&MachineVerb::Show(MachineShowArgs { name, out }), voice)
    } else if knows(Shelf::Presets) {
        preset::preset(&PresetVerb::Show(PresetShowArgs { name, out }), voice)
    } else if knows(Shelf::Models) {
        shown::show(&out, "show", Shelf::Models.find(&name)?.text)?;
        Ok(End::Done)
    } else if rules::find(&name).is_some() {
        advise::explain(&ExplainArgs { rule: Some(name), out })
    } else if knows(Shelf::Topologies) || name.contains(':') || Path::new(&name).exists() {
        let args = TopologyShowArgs { name, on: FabricArgs::default(), texts: TextArgs::default(), out };
        topology::topology(&TopologyVerb::Show(args), voice)
    } else {
        let shelves = [Shelf::Topologies, Shelf::Patterns, Shelf::Machines, Shelf::Presets, Shelf::Models];
        let near = closest(&name, shelves.into_iter().flat_map(Shelf::names));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let message = format!("there is no topology, pattern, machine, preset, model, rule or file `{name}`");
        let help = near + "`hayase list topologies`, `patterns`, `machines`, `presets`, `models` or `rules` shows all";
        Err(Diagnostic::new("unknown-name", message).help(help).into())
    }
}
