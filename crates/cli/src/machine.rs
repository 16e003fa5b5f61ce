//! `hayase machine`: lists the named machines or shows one.

use clap::{Args, Subcommand};

use super::listing::{ListArgs, Listing};
use super::options::OutputArgs;
use super::{End, Failure, Voice, shown};
use hayase::scenario::library::{LibraryEntry, Shelf};
use hayase_output::table::Grid;

/// `hayase machine`.
#[derive(Subcommand, Debug)]
pub enum MachineVerb {
    /// List the named machines.
    List(ListArgs),
    /// Show one machine: its parameters and their source.
    #[command(after_help = format!("Examples:\n  hayase machine show myrinet\n\n{}", shown::FILES))]
    Show(MachineShowArgs),
}

/// `hayase machine show`.
#[derive(Args, Debug)]
pub struct MachineShowArgs {
    /// The name of a machine (`hayase list machines`).
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Lists the names or shows one of them.
pub fn machine(verb: &MachineVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        MachineVerb::List(args) => {
            list(&args.out)?;
            voice.hint("`hayase show NAME` shows a machine, `hayase replay TRACE -m NAME` uses it");
        }
        MachineVerb::Show(args) => shown::show(&args.out, "machine show", Shelf::Machines.find(&args.name)?.text)?,
    }
    Ok(End::Done)
}

fn list(out: &OutputArgs) -> Result<(), Failure> {
    out.begin(&Listing::offer("machine list"))?;
    let model = |named: &LibraryEntry| {
        let model = named.text.lines().find_map(|line| line.strip_prefix("[node.")?.strip_suffix(']'));
        model.unwrap_or_default().to_owned()
    };
    let row = |named: &LibraryEntry| vec![named.name.into(), model(named).into(), named.description().into()];
    Listing::new(&["name", "model", "description"], || Shelf::Machines.all().iter().map(row)).answer(out, || {
        let mut grid = Grid::new().text("name").text("model").text("what it is");
        for named in Shelf::Machines.all() {
            grid.row_with_sentence([named.name.to_owned(), model(named)], &named.description());
        }
        grid.into()
    })
}
