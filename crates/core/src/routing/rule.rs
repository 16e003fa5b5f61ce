//! Interface of the specifications of routing rules.

use std::sync::Arc;

use super::Router;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::Fabric;

/// Router, or all mistakes of a rule.
pub(super) type BuildResult = Result<Arc<dyn Router>, Vec<Diagnostic>>;

/// Name, seed and texts with which a rule is built.
pub(super) struct BuildContext<'a> {
    /// Name of the rule in the scenario: several rules may share a table of options.
    pub name: &'static str,
    /// Seed of the scenario, used if the rule has none of its own.
    pub seed: u64,
    /// Texts relative to which the rule names files.
    pub sources: &'a mut Sources,
}

/// Specification of a rule: its table under `[routing]`.
pub(super) trait Rule {
    /// Builds the router.
    ///
    /// # Errors
    /// Fails if the rule does not fit the fabric, or an option does not.
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult;

    /// Returns true if another seed can give another result.
    fn depends_on_seed(&self) -> bool {
        false
    }

    /// Returns true if all routes are found on the graph that remains when links fail. Other rules take
    /// detours around failures.
    fn searches_the_graph(&self) -> bool {
        false
    }

    /// Returns the path of the file named in the specification.
    fn file(&mut self) -> Option<&mut Located<String>> {
        None
    }
}
