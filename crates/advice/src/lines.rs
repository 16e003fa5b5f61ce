//! Source lines of a rank, by number.

use rustc_hash::FxHashMap;

use crate::model::Location;

/// Gives an address of a rank's process its name: `gauss.c:12 (eliminate)`; `None`: not known.
pub type Names<'a> = &'a (dyn Fn(u32, u64) -> Option<String> + Sync);

/// The source lines that a rank's trace refers to.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    numbers: FxHashMap<Location, u32>,
    list: Vec<Location>,
}

impl Lines {
    /// The number of the line with this name.
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

    /// The line with this number.
    pub fn get(&self, number: u32) -> Location {
        self.list.get(number as usize).cloned().unwrap_or_default()
    }
}
