//! `hayase preset`: the named presets, and what one of them says.

use super::args::PresetVerb;
use super::{End, Failure, Voice, print};
use hayase::scenario::library::Shelf;
use hayase_output::table::Grid;

/// Lists the named ones or shows one.
pub fn preset(verb: &PresetVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        PresetVerb::List => {
            let mut grid = Grid::new().text("name").text("what it is");
            for named in Shelf::Presets.all() {
                grid.row_with_sentence([named.name.to_owned()], &named.description());
            }
            print(&grid.to_text())?;
            voice.hint("`hayase preset show NAME` shows what it says, `hayase run --preset NAME` uses it");
        }
        PresetVerb::Show(args) => print(Shelf::Presets.find(&args.name)?.text)?,
    }
    Ok(End::Done)
}
