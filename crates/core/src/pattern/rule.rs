//! The answers of each pattern's table for itself.

use std::sync::Arc;

use super::{Ground, Injection, Pattern, Traffic};
use crate::diagnostic::{Diagnostic, Located, Sources};

/// The most ranks a pattern may have: rank and index arithmetic stays within 32 bits below this.
pub(super) const MAX_RANKS: u32 = 1 << 24;

/// A pattern, or all mistakes of its table.
pub(super) type Built = Result<Arc<dyn Pattern>, Vec<Diagnostic>>;

/// The fabric, seed and texts with which a pattern is built.
pub(super) struct Given<'a> {
    /// The fabric.
    pub ground: &'a dyn Ground,
    /// The seed of the scenario.
    pub seed: u64,
    /// The texts relative to which files are named.
    pub sources: &'a mut Sources,
}

impl Given<'_> {
    /// Returns the number of ranks: as written, else the number of nodes.
    pub fn ranks(&self, written: Option<Located<u32>>) -> Result<u32, Vec<Diagnostic>> {
        let ranks = written.unwrap_or_else(|| self.ground.nodes().into());
        let limits = |message: String| {
            vec![
                Diagnostic::new("bad-ranks", message)
                    .at_value(&ranks)
                    .label(format!("a number from 1 to {MAX_RANKS}"))
                    .help("write `ranks = 64`, or leave it out for one rank on each node"),
            ]
        };
        match *ranks {
            0 => Err(limits("a pattern needs at least one rank".into())),
            n if n > MAX_RANKS => Err(limits(format!("{n} ranks are more than a pattern can have"))),
            n => Ok(n),
        }
    }
}

/// The options that the tables of all patterns have.
pub(super) trait Table {
    /// Returns the number of ranks, if it is written; 0 for a file, which has a number of its own.
    fn written_ranks(&self) -> Option<u32>;

    /// Returns when messages may go, where `usual` is the injection rule if none is written.
    fn traffic_or(&self, usual: Injection) -> Traffic;
}

/// A pattern as it is written: its table under `[workload]`.
pub(super) trait Rule: Table {
    /// Builds the pattern: it has a rank for each node, where the table does not say otherwise.
    ///
    /// # Errors
    /// Every mistake of the table and of the file it names.
    fn build(&self, given: &mut Given<'_>) -> Built;

    /// Returns its name for people: `all-to-all simple-spread, 20 KB`.
    fn title(&self) -> String;

    /// Returns the injection rule if none is written.
    fn usual_injection(&self) -> Injection {
        Injection::Queue
    }

    /// Returns whether another seed can give another result.
    fn depends_on_seed(&self) -> bool {
        false
    }

    /// Returns whether it asks the fabric for more than its number of nodes: for groups, or for links and routes.
    fn knows_fabric(&self) -> bool {
        false
    }
}
