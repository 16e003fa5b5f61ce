//! The answers of each routing rule for itself.

use std::sync::Arc;

use super::Router;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::Fabric;

/// A router, or all mistakes of a rule.
pub(super) type Built = Result<Arc<dyn Router>, Vec<Diagnostic>>;

/// The name, seed and texts with which a rule is built.
pub(super) struct Given<'a> {
    /// The name under which it is written: several rules may share a table of options.
    pub name: &'static str,
    /// The seed of the scenario, where the rule has none of its own.
    pub seed: u64,
    /// The texts relative to which it names files.
    pub sources: &'a mut Sources,
}

/// A rule as it is written: its table under `[routing]`.
pub(super) trait Rule {
    /// Builds its router.
    ///
    /// # Errors
    /// The rule does not fit the fabric, or an option does not.
    fn build(&self, fabric: &Arc<Fabric>, given: &mut Given<'_>) -> Built;

    /// Returns whether another seed can give another result.
    fn depends_on_seed(&self) -> bool {
        false
    }

    /// Returns whether all of its routes are found on the graph that is left when links fail. A rule that does not say
    /// so takes detours around them.
    fn is_worked_out_on_the_graph(&self) -> bool {
        false
    }

    /// Returns the file that it names.
    fn file(&mut self) -> Option<&mut Located<String>> {
        None
    }
}
