//! Source lines of a rank, by number.

use rustc_hash::FxHashMap;

use crate::model::Location;

/// Function that names an address of a rank's process: `gauss.c:12 (eliminate)`, or `None` if it is not
/// known.
pub type Names<'a> = &'a (dyn Fn(u32, u64) -> Option<String> + Sync);

/// Source lines in a rank's trace.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    numbers: FxHashMap<Location, u32>,
    list: Vec<Location>,
}

impl Lines {
    /// Returns the number of the line with this name, and adds the line if it is new.
    pub fn number(&mut self, name: &str) -> u32 {
        let location = Location::parse(if name.is_empty() { "?" } else { name });
        if let Some(&number) = self.numbers.get(&location) {
            return number;
        }
        let number = self.list.len() as u32;
        self.numbers.insert(location.clone(), number);
        self.list.push(location);
        number
    }

    /// Returns the line with this number.
    pub fn get(&self, number: u32) -> Location {
        self.list.get(number as usize).cloned().unwrap_or_default()
    }
}
