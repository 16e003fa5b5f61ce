//! `hayase preset`: lists the named presets or shows one.

use clap::{Args, Subcommand};

use super::listing::{self, ListArgs};
use super::options::OutputArgs;
use super::{End, Failure, Voice, shown};
use hayase::scenario::library::Shelf;

/// `hayase preset`.
#[derive(Subcommand, Debug)]
pub enum PresetVerb {
    /// List the named presets.
    List(ListArgs),
    /// Show one preset: its settings and their source.
    #[command(after_help = shown::FILES)]
    Show(PresetShowArgs),
}

/// `hayase preset show`.
#[derive(Args, Debug)]
pub struct PresetShowArgs {
    /// The name of a preset (`hayase list presets`).
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Lists the names or shows one of them.
pub fn preset(verb: &PresetVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        PresetVerb::List(args) => {
            let all = Shelf::Presets.all().iter().map(|named| (named.name, named.description()));
            listing::names(&args.out, "preset list", all)?;
            voice.hint("`hayase show NAME` shows a preset, `hayase run --preset NAME` uses it");
        }
        PresetVerb::Show(args) => shown::show(&args.out, "preset show", Shelf::Presets.find(&args.name)?.text)?,
    }
    Ok(End::Done)
}
