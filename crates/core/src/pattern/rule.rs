//! Interface of each pattern's table.

use std::sync::Arc;

use super::{FabricInfo, Injection, Pattern, Traffic};
use crate::diagnostic::{Diagnostic, Located, Sources};

/// Largest number of ranks of a pattern: rank and index arithmetic stays within 32 bits below it.
pub(super) const MAX_RANKS: u32 = 1 << 24;

/// A pattern, or all mistakes of its table.
pub(super) type BuildResult = Result<Arc<dyn Pattern>, Vec<Diagnostic>>;

/// Fabric, seed and texts from which a pattern is built.
pub(super) struct BuildContext<'a> {
    /// The fabric.
    pub fabric: &'a dyn FabricInfo,
    /// The seed of the scenario.
    pub seed: u64,
    /// Sources of text, to which file names are relative.
    pub sources: &'a mut Sources,
}

impl BuildContext<'_> {
    /// Returns the number of ranks: as written, else as many as fit on all nodes.
    pub fn ranks(&self, written: Option<Located<u32>>) -> Result<u32, Vec<Diagnostic>> {
        let ranks = written.unwrap_or_else(|| self.fabric.most_ranks().into());
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

/// Options that the tables of all patterns have.
pub(super) trait Table {
    /// Returns the number of ranks if it is given; 0 for a file, which has its own number.
    fn written_ranks(&self) -> Option<u32>;

    /// Returns the injection rule and start offsets; `usual` is the default injection rule.
    fn traffic_or(&self, usual: Injection) -> Traffic;
}

/// Specification of a pattern: its table under `[workload]`.
pub(super) trait Rule: Table {
    /// Builds the pattern, with one rank for each node unless the table gives a number.
    ///
    /// # Errors
    /// All mistakes of the table and of the file it names.
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult;

    /// Returns the title of the pattern: `all-to-all simple-spread, 20 KB`.
    fn title(&self) -> String;

    /// Returns the default injection rule.
    fn usual_injection(&self) -> Injection {
        Injection::Queue
    }

    /// Returns true if another seed can give another result.
    fn depends_on_seed(&self) -> bool {
        false
    }

    /// Returns true if it asks the fabric for more than its number of nodes: for groups, or for links and
    /// routes.
    fn knows_fabric(&self) -> bool {
        false
    }
}
