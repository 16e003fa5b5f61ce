//! `hayase machine`: the named machines, and what one of them is.

use super::replay::args::MachineVerb;
use super::{End, Failure, Voice, print};
use hayase::scenario::library::Shelf;
use hayase_output::table::Grid;

/// Lists the named ones or shows one.
pub fn machine(verb: &MachineVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        MachineVerb::List => {
            let mut grid = Grid::new().text("name").text("model").text("what it is");
            for named in Shelf::Machines.all() {
                let model = named.text.lines().find_map(|line| line.strip_prefix("[node.")?.strip_suffix(']'));
                let row = vec![named.name.to_owned(), model.unwrap_or_default().to_owned()];
                grid.row_with_sentence(row, &named.description());
            }
            super::show(&grid.into())?;
            voice.hint("`hayase machine show NAME` shows its parameters, `hayase replay TRACE -m NAME` uses them");
        }
        MachineVerb::Show(args) => print(Shelf::Machines.find(&args.name)?.text)?,
    }
    Ok(End::Done)
}
