//! Routing: the links that a message from one node to another crosses.
//!
//! Routes are computed, not stored, wherever the fabric's family allows it: one file a rule.
//!
//! Most rules are oblivious: a [`Router`] gives one route for each pair of nodes, always the same. A rule
//! that chooses ([`Choice`]) returns the [`Path`] of each message when it starts: one path, or several with a
//! part of the message on each. It may depend on the messages under way.

mod adaptive_order;
mod ahead;
#[cfg(test)]
mod ahead_tests;
mod around;
mod balanced;
mod by_table;
mod choice;
#[cfg(test)]
mod choice_tests;
mod classes;
mod climb;
mod counting;
mod d_mod_k;
mod demand;
mod detour;
mod dfsssp;
mod dimension_order;
mod family;
mod field;
mod fluid;
mod forwarding;
mod graph;
mod hashed;
mod lattice;
#[cfg(test)]
mod lattice_tests;
mod legal_paths;
mod min_hop;
mod minimal;
mod on_graph;
mod path;
mod paths;
mod planes;
#[cfg(test)]
mod planes_tests;
mod random_order;
mod router;
mod rule;
mod shortest_path;
mod spray;
mod steps;
mod table;
mod tables;
#[cfg(test)]
mod tables_tests;
#[cfg(test)]
pub(crate) mod test_fabrics;
#[cfg(test)]
mod tests;
mod ugal;
mod up_down;
mod valiant;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Located, Sources, closest};
use crate::fabric::Fabric;

use around::WithDetours;
use router::MISFIT;
use rule::{BuildContext, Rule};

pub use adaptive_order::{DoalSpec, MinAdaptiveSpec};
pub use balanced::Order;
pub use choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
pub use counting::LoadCount;
pub use d_mod_k::{DModKSpec, SModKSpec};
pub use demand::{Blocks, Demand};
pub use dfsssp::DfssspSpec;
pub use dimension_order::{DimensionOrderSpec, Ties};
pub use family::FamilySpec;
pub use fluid::FluidSpec;
pub use forwarding::Forwarding;
pub use hashed::HashedSpec;
pub use min_hop::MinHopSpec;
pub use minimal::{EcmpSpec, MinimalSpec};
pub use paths::{Choose, PathsSpec};
pub use planes::{PlanesRuleSpec, Select};
pub use random_order::RandomOrderSpec;
pub use router::{ChannelOrder, Router, may_lack_routes};
pub use shortest_path::ShortestPathSpec;
pub use spray::SpraySpec;
pub use steps::{Classes, Steps};
pub use table::TableSpec;
pub use tables::TablesSpec;
pub use ugal::{UgalSpec, Via};
pub use up_down::UpDownSpec;
pub use valiant::ValiantSpec;

/// Defines the variants of [`RoutingSpec`], each with its table and its name.
macro_rules! routing_rules {
    ($($(#[doc = $about:literal])* $variant:ident($spec:ty) = $name:literal,)*) => {
        /// Routing rule of a scenario: `[routing.d-mod-k]` and so on.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum RoutingSpec {
            $($(#[doc = $about])* #[serde(rename = $name)] $variant($spec),)*
        }

        /// Names of all rules.
        const NAMES: &[&str] = &[$($name),*];

        impl RoutingSpec {
            /// Returns the name of this rule, as in `[routing.d-mod-k]`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant(<$spec>::default())),)*
                    _ => None,
                }
            }

            fn rule(&self) -> &dyn Rule {
                match self {
                    $(Self::$variant(spec) => spec,)*
                }
            }

            fn rule_mut(&mut self) -> &mut dyn Rule {
                match self {
                    $(Self::$variant(spec) => spec,)*
                }
            }
        }
    };
}

routing_rules! {
    /// Up a tree by the destination's number, so that each down link serves few destinations (default on
    /// trees).
    DModK(DModKSpec) = "d-mod-k",
    /// Up a tree by the source's number.
    SModK(SModKSpec) = "s-mod-k",
    /// Up a tree by a seeded hash of source and destination (ECMP by flow).
    Hashed(HashedSpec) = "hashed",
    /// One dimension after another, each the shorter way round; on grids and hyper-crossbars (default
    /// there) and HyperX.
    DimensionOrder(DimensionOrderSpec) = "dimension-order",
    /// One dimension of a grid, hyper-crossbar or HyperX after another, in an order drawn for each message.
    RandomOrder(RandomOrderSpec) = "random-order",
    /// Minimal on a grid, hyper-crossbar or HyperX, step by step over the least busy link.
    MinAdaptive(MinAdaptiveSpec) = "min-adaptive",
    /// Dimension order on a HyperX, with at most one detour a dimension over less busy links.
    Doal(DoalSpec) = "doal",
    /// A plane chosen by message, and a rule within it; on rails and on multi-plane fabrics (default
    /// there).
    Planes(PlanesRuleSpec) = "planes",
    /// The minimal routes of the fabric's own family, computed by its arithmetic (default on dragonflies,
    /// HyperX and rails). A hash of source and destination chooses among equal routes.
    Family(FamilySpec) = "family",
    /// A shortest path of the graph, always the same one (default on all other fabrics).
    ShortestPath(ShortestPathSpec) = "shortest-path",
    /// The routes that the topology's own file gives (default if it gives any).
    Table(TableSpec) = "table",
    /// One shortest path of any graph, by a hash of the switches at both ends.
    Minimal(MinimalSpec) = "minimal",
    /// One shortest path of any graph, by a hash of source and destination.
    Ecmp(EcmpSpec) = "ecmp",
    /// All shortest paths of any graph at once, in equal parts at each switch.
    Spray(SpraySpec) = "spray",
    /// Through a random group, drawn for each message; on fabrics with groups.
    ValiantGroups(ValiantSpec) = "valiant-groups",
    /// Through a random switch with nodes, drawn for each message; on any graph.
    ValiantSwitches(ValiantSpec) = "valiant-switches",
    /// A shortest path or one through a random intermediate, chosen by the load known to the source's switch.
    UgalL(UgalSpec) = "ugal-l",
    /// A shortest path or one through a random intermediate, chosen by the load of all links.
    UgalG(UgalSpec) = "ugal-g",
    /// Like `ugal-l`, and chosen again at the next switch.
    Progressive(UgalSpec) = "progressive",
    /// The best mix of minimal and Valiant, computed by counting loads; for `hayase throughput` only.
    Fluid(FluidSpec) = "fluid",
    /// Forwarding tables of shortest paths, balanced at each switch separately.
    MinHop(MinHopSpec) = "min-hop",
    /// Forwarding tables of shortest paths, balanced over the whole fabric.
    Dfsssp(DfssspSpec) = "dfsssp",
    /// Forwarding tables of paths that never go up after down; on any graph whose links go both ways.
    UpDown(UpDownSpec) = "up-down",
    /// Forwarding tables from a file; `--routing tables:FILE.csv`.
    Tables(TablesSpec) = "tables",
    /// Weighted paths from a file; `--routing paths:FILE.csv`.
    Paths(PathsSpec) = "paths",
}

impl RoutingSpec {
    /// Returns true if another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        self.rule().depends_on_seed()
    }

    /// Returns the names of all rules.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().copied()
    }

    /// Returns the rule of this name with default options; a required file is missing.
    ///
    /// # Errors
    /// Fails for an unknown name, with the name that was probably meant.
    pub fn parse_name(name: &str) -> Result<Self, Diagnostic> {
        Self::named(name).ok_or_else(|| {
            let help = match closest(name, Self::names()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("write one of {}", NAMES.join(", ")),
            };
            Diagnostic::new("unknown-routing", format!("unknown routing `{name}`")).label(NAMES.join(", ")).help(help)
        })
    }

    /// Returns the usual rule for this fabric: `table` if routes are given, else the one that its family
    /// names (`d-mod-k` on trees, `dimension-order` on grids).
    pub fn default_for(fabric: &Fabric) -> Self {
        if fabric.routes().is_some() {
            return Self::Table(TableSpec::default());
        }
        // A user's own family may name a rule that does not exist.
        let named = Self::parse_name(fabric.family().default_routing());
        named.unwrap_or(Self::ShortestPath(ShortestPathSpec::default()))
    }

    /// Builds the rule for this fabric.
    ///
    /// # Errors
    /// Fails if the rule does not fit the fabric (D-mod-k on a torus), or an option does not.
    pub fn build(&self, fabric: &Arc<Fabric>, seed: u64) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        self.build_from(fabric, seed, &mut Sources::default())
    }

    /// Returns the path of the file named in the specification, if there is one.
    pub fn files(&mut self) -> impl Iterator<Item = &mut Located<String>> {
        self.rule_mut().file().into_iter()
    }

    /// Builds the rule for this fabric; its files are relative to the texts in `sources`.
    ///
    /// # Errors
    /// See [`RoutingSpec::build`]; and every mistake of the files.
    pub fn build_from(
        &self,
        fabric: &Arc<Fabric>,
        seed: u64,
        sources: &mut Sources,
    ) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        let built = self.rule().build(fabric, &mut BuildContext { name: self.name(), seed, sources });
        let built = built.map(|own| self.around(fabric, own));
        // A rule knows the fabrics that it fits, not the other rules.
        built.map_err(|mistakes| {
            let help = || format!("use `{}`, or leave the routing out", Self::default_for(fabric).name());
            let helped = |mistake: Diagnostic| match mistake.code {
                MISFIT => mistake.help(help()),
                _ => mistake,
            };
            mistakes.into_iter().map(helped).collect()
        })
    }

    /// Builds the rule on the remaining part of a fabric with failures; `own` has the routes of the intact
    /// fabric.
    ///
    /// Rules that search the graph are built again. Rules that use a family's arithmetic, or have their
    /// routes from a file, take a detour around failures.
    ///
    /// # Errors
    /// Fails if the rule finds no routes on the remaining part.
    pub(crate) fn on_remaining_fabric(
        &self,
        own: &Arc<dyn Router>,
        left: &Arc<Fabric>,
        seed: u64,
    ) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        if self.rule().searches_the_graph() { self.build(left, seed) } else { Ok(self.around(left, Arc::clone(own))) }
    }

    /// Returns `own` with detours, see [`RoutingSpec::on_remaining_fabric`].
    fn around(&self, fabric: &Arc<Fabric>, own: Arc<dyn Router>) -> Arc<dyn Router> {
        if fabric.failed().is_none() || self.rule().searches_the_graph() {
            return own;
        }
        // Detours are spread by a hash of the pair, always the same, since fabrics with other seeds are compared.
        let left = Self::Ecmp(EcmpSpec { seed: Some(0) }).build(fabric, 0);
        let left = left.or_else(|_| Self::ShortestPath(ShortestPathSpec::default()).build(fabric, 0));
        Arc::new(WithDetours::new(fabric, own, left.ok()))
    }
}
