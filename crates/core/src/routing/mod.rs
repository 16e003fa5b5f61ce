//! Routing: which links a message from one node to another crosses.
//!
//! Routes are computed, not stored, wherever the fabric's family allows it: one file a rule.
//!
//! Most rules are oblivious: a [`Router`] gives one route for each pair of nodes, always the same. A rule that chooses
//! ([`Choice`]) is asked for the [`Path`] of each message when it starts, which may be one path or several with a part
//! of the message on each; it may know what is under way.

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
mod legal_ways;
mod min_hop;
mod minimal;
mod named_links;
mod on_graph;
mod path;
mod paths;
mod planes;
#[cfg(test)]
mod planes_tests;
mod random_order;
mod router;
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

use around::Around;
use router::MISFIT;
use ugal::Knowledge;

pub use adaptive_order::{DoalSpec, MinAdaptiveSpec};
pub use balanced::Order;
pub use choice::{Choice, Manner, Path, Start, UnderWay};
pub use counting::Counted;
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

/// The routing rule of a scenario: `[routing.d-mod-k]` and so on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RoutingSpec {
    /// Up a tree by the destination's number, so that each down link serves few destinations.
    DModK(DModKSpec),
    /// Up a tree by the source's number.
    SModK(SModKSpec),
    /// Up a tree by a seeded hash of source and destination (ECMP by flow).
    Hashed(HashedSpec),
    /// One dimension of a grid after another.
    DimensionOrder(DimensionOrderSpec),
    /// One dimension after another, in an order drawn for each message.
    RandomOrder(RandomOrderSpec),
    /// Minimal on a grid or HyperX, step by step where least is under way.
    MinAdaptive(MinAdaptiveSpec),
    /// Dimension order on a HyperX, with at most one detour a dimension where less is under way.
    Doal(DoalSpec),
    /// A plane chosen by message, and a rule within it.
    Planes(PlanesRuleSpec),
    /// The minimal routes of the fabric's own family, by its arithmetic.
    Family(FamilySpec),
    /// A shortest path of the graph, always the same one.
    ShortestPath(ShortestPathSpec),
    /// The routes that the topology's own file gives.
    Table(TableSpec),
    /// One shortest path of any graph, by a hash of the switches at both ends.
    Minimal(MinimalSpec),
    /// One shortest path of any graph, by a hash of source and destination.
    Ecmp(EcmpSpec),
    /// All shortest paths of any graph at once.
    Spray(SpraySpec),
    /// Through a random group.
    ValiantGroups(ValiantSpec),
    /// Through a random switch.
    ValiantSwitches(ValiantSpec),
    /// A shortest path or one through a random intermediate, by what the switch of the source knows.
    UgalL(UgalSpec),
    /// A shortest path or one through a random intermediate, by what is under way on all links.
    UgalG(UgalSpec),
    /// Like `ugal-l`, and asked again at the next switch.
    Progressive(UgalSpec),
    /// The best mix of minimal and Valiant, known by counting loads.
    Fluid(FluidSpec),
    /// Forwarding tables of shortest ways, balanced at each switch by itself.
    MinHop(MinHopSpec),
    /// Forwarding tables of shortest ways, balanced over the whole fabric.
    Dfsssp(DfssspSpec),
    /// Forwarding tables of ways that never go up after down.
    UpDown(UpDownSpec),
    /// Forwarding tables from a file.
    Tables(TablesSpec),
    /// Weighted paths from a file.
    Paths(PathsSpec),
}

/// The names of all rules.
const NAMES: [&str; 25] = [
    "d-mod-k",
    "s-mod-k",
    "hashed",
    "dimension-order",
    "random-order",
    "min-adaptive",
    "doal",
    "planes",
    "family",
    "shortest-path",
    "table",
    "minimal",
    "ecmp",
    "spray",
    "valiant-groups",
    "valiant-switches",
    "ugal-l",
    "ugal-g",
    "progressive",
    "fluid",
    "min-hop",
    "dfsssp",
    "up-down",
    "tables",
    "paths",
];

impl RoutingSpec {
    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::Hashed(spec) => spec.seed.is_none(),
            Self::DimensionOrder(spec) => spec.ties == Some(Ties::Random),
            Self::RandomOrder(spec) => spec.seed.is_none() && !spec.all_orders,
            Self::MinAdaptive(spec) => spec.seed.is_none(),
            Self::Doal(spec) => spec.seed.is_none(),
            Self::Planes(spec) => spec.depends_on_seed(),
            Self::Minimal(spec) => spec.seed.is_none(),
            Self::Ecmp(spec) => spec.seed.is_none(),
            Self::ValiantGroups(spec) | Self::ValiantSwitches(spec) => spec.seed.is_none() && !spec.all_intermediates,
            Self::UgalL(spec) | Self::UgalG(spec) | Self::Progressive(spec) => spec.seed.is_none(),
            Self::DModK(_) | Self::SModK(_) | Self::Family(_) | Self::ShortestPath(_) | Self::Table(_) => false,
            Self::Spray(_) | Self::Fluid(_) | Self::Tables(_) => false,
            Self::Paths(spec) => spec.choose == Choose::Draw && spec.seed.is_none(),
            Self::MinHop(MinHopSpec { order })
            | Self::Dfsssp(DfssspSpec { order })
            | Self::UpDown(UpDownSpec { order, .. }) => *order == Order::Random,
        }
    }

    /// The names of all rules.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter()
    }

    /// The name of this rule, as in `[routing.d-mod-k]`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DModK(_) => "d-mod-k",
            Self::SModK(_) => "s-mod-k",
            Self::Hashed(_) => "hashed",
            Self::DimensionOrder(_) => "dimension-order",
            Self::RandomOrder(_) => "random-order",
            Self::MinAdaptive(_) => "min-adaptive",
            Self::Doal(_) => "doal",
            Self::Planes(_) => "planes",
            Self::Family(_) => "family",
            Self::ShortestPath(_) => "shortest-path",
            Self::Table(_) => "table",
            Self::Minimal(_) => "minimal",
            Self::Ecmp(_) => "ecmp",
            Self::Spray(_) => "spray",
            Self::ValiantGroups(_) => "valiant-groups",
            Self::ValiantSwitches(_) => "valiant-switches",
            Self::UgalL(_) => "ugal-l",
            Self::UgalG(_) => "ugal-g",
            Self::Progressive(_) => "progressive",
            Self::Fluid(_) => "fluid",
            Self::MinHop(_) => "min-hop",
            Self::Dfsssp(_) => "dfsssp",
            Self::UpDown(_) => "up-down",
            Self::Tables(_) => "tables",
            Self::Paths(_) => "paths",
        }
    }

    /// The rule of this name, with its options at their defaults.
    ///
    /// # Errors
    /// An unknown name, with the one that was probably meant.
    pub fn parse_name(name: &str) -> Result<Self, Diagnostic> {
        Ok(match name {
            "d-mod-k" => Self::DModK(DModKSpec::default()),
            "s-mod-k" => Self::SModK(SModKSpec::default()),
            "hashed" => Self::Hashed(HashedSpec::default()),
            "dimension-order" => Self::DimensionOrder(DimensionOrderSpec::default()),
            "random-order" => Self::RandomOrder(RandomOrderSpec::default()),
            "min-adaptive" => Self::MinAdaptive(MinAdaptiveSpec::default()),
            "doal" => Self::Doal(DoalSpec::default()),
            "planes" => Self::Planes(PlanesRuleSpec::default()),
            "family" => Self::Family(FamilySpec::default()),
            "shortest-path" => Self::ShortestPath(ShortestPathSpec::default()),
            "table" => Self::Table(TableSpec::default()),
            "minimal" => Self::Minimal(MinimalSpec::default()),
            "ecmp" => Self::Ecmp(EcmpSpec::default()),
            "spray" => Self::Spray(SpraySpec::default()),
            "valiant-groups" => Self::ValiantGroups(ValiantSpec::default()),
            "valiant-switches" => Self::ValiantSwitches(ValiantSpec::default()),
            "ugal-l" => Self::UgalL(UgalSpec::default()),
            "ugal-g" => Self::UgalG(UgalSpec::default()),
            "progressive" => Self::Progressive(UgalSpec::default()),
            "fluid" => Self::Fluid(FluidSpec::default()),
            "min-hop" => Self::MinHop(MinHopSpec::default()),
            "dfsssp" => Self::Dfsssp(DfssspSpec::default()),
            "up-down" => Self::UpDown(UpDownSpec::default()),
            // Whoever builds it is told that it wants a file.
            "tables" => Self::Tables(TablesSpec { file: String::new().into() }),
            "paths" => Self::Paths(PathsSpec { file: String::new().into(), choose: Choose::default(), seed: None }),
            _ => {
                let help = match closest(name, NAMES) {
                    Some(close) => format!("did you mean `{close}`?"),
                    None => format!("write one of {}", NAMES.join(", ")),
                };
                let message = format!("unknown routing `{name}`");
                return Err(Diagnostic::new("unknown-routing", message).label(NAMES.join(", ")).help(help));
            }
        })
    }

    /// The usual rule for this fabric: `table` where routes are given, else the one that its family names (`d-mod-k` on
    /// trees, `dimension-order` on grids).
    pub fn default_for(fabric: &Fabric) -> Self {
        if fabric.routes().is_some() {
            return Self::Table(TableSpec::default());
        }
        // A family of a user's own may name a rule that there is not.
        let named = Self::parse_name(fabric.family().default_routing());
        named.unwrap_or(Self::ShortestPath(ShortestPathSpec::default()))
    }

    /// The rule for this fabric.
    ///
    /// # Errors
    /// Where the rule does not fit the fabric (D-mod-k on a torus), or an option does not.
    pub fn build(&self, fabric: &Arc<Fabric>, seed: u64) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        self.build_from(fabric, seed, &mut Sources::default())
    }

    /// The paths of files that the specification names.
    pub fn files(&mut self) -> Vec<&mut Located<String>> {
        match self {
            Self::Tables(spec) => vec![&mut spec.file],
            Self::Paths(spec) => vec![&mut spec.file],
            _ => Vec::new(),
        }
    }

    /// The same, with the texts relative to which it names files.
    ///
    /// # Errors
    /// See [`RoutingSpec::build`]; and every mistake of the files.
    pub fn build_from(
        &self,
        fabric: &Arc<Fabric>,
        seed: u64,
        sources: &mut Sources,
    ) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        let built = match self {
            Self::DModK(spec) => spec.build(fabric),
            Self::SModK(spec) => spec.build(fabric),
            Self::Hashed(spec) => spec.build(fabric, seed),
            Self::DimensionOrder(spec) => spec.build(fabric, seed),
            Self::RandomOrder(spec) => spec.build(fabric, seed),
            Self::MinAdaptive(spec) => spec.build(fabric, seed),
            Self::Doal(spec) => spec.build(fabric, seed),
            Self::Planes(spec) => spec.build(fabric, seed),
            Self::Family(spec) => spec.build(fabric),
            Self::ShortestPath(spec) => spec.build(fabric),
            Self::Table(spec) => spec.build(fabric),
            Self::Minimal(spec) => spec.build(fabric, seed),
            Self::Ecmp(spec) => spec.build(fabric, seed),
            Self::Spray(spec) => spec.build(fabric),
            Self::ValiantGroups(spec) => spec.build(fabric, true, seed),
            Self::ValiantSwitches(spec) => spec.build(fabric, false, seed),
            Self::UgalL(spec) => spec.build(fabric, Knowledge::Local, seed),
            Self::UgalG(spec) => spec.build(fabric, Knowledge::Global, seed),
            Self::Progressive(spec) => spec.build(fabric, Knowledge::Progressive, seed),
            Self::Fluid(spec) => spec.build(fabric),
            Self::MinHop(spec) => spec.build(fabric, seed),
            Self::Dfsssp(spec) => spec.build(fabric, seed),
            Self::UpDown(spec) => spec.build(fabric, seed),
            Self::Tables(spec) => spec.build(fabric, sources),
            Self::Paths(spec) => spec.build(fabric, seed, sources),
        };
        let built = built.map(|own| self.around(fabric, own));
        // A rule knows what it fits, not which others there are.
        built.map_err(|mistakes| {
            let help = || format!("use `{}`, or leave the routing out", Self::default_for(fabric).name());
            let helped = |mistake: Diagnostic| match mistake.code {
                MISFIT => mistake.help(help()),
                _ => mistake,
            };
            mistakes.into_iter().map(helped).collect()
        })
    }

    /// The rule on what is left of a fabric, of which `own` has the routes while it is whole: what is worked out on the
    /// graph is worked out again; what does a family's arithmetic, or has its routes from a file, takes a detour where
    /// it crosses what has failed.
    ///
    /// # Errors
    /// Where the rule finds no routes on what is left.
    pub(crate) fn on_what_is_left(
        &self,
        own: &Arc<dyn Router>,
        left: &Arc<Fabric>,
        seed: u64,
    ) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        if self.is_worked_out_on_the_graph() { self.build(left, seed) } else { Ok(self.around(left, Arc::clone(own))) }
    }

    /// See [`RoutingSpec::on_what_is_left`].
    fn around(&self, fabric: &Arc<Fabric>, own: Arc<dyn Router>) -> Arc<dyn Router> {
        if fabric.failed().is_none() || self.is_worked_out_on_the_graph() {
            return own;
        }
        // By a hash of the pair, so that detours spread; always the same, since fabrics with other seeds are compared.
        let left = EcmpSpec { seed: Some(0) }.build(fabric, 0);
        let left = left.or_else(|_| ShortestPathSpec::default().build(fabric));
        Arc::new(Around::new(fabric, own, left.ok()))
    }

    /// Whether all of its routes are found on the graph that is left; of a rule that is not named here that is not
    /// taken for granted.
    fn is_worked_out_on_the_graph(&self) -> bool {
        let of_one_route = matches!(self, Self::ShortestPath(_) | Self::Minimal(_) | Self::Ecmp(_));
        let of_one_table = matches!(self, Self::MinHop(_) | Self::Dfsssp(_) | Self::UpDown(_));
        let mixes = matches!(self, Self::Spray(_) | Self::Fluid(_) | Self::ValiantGroups(_) | Self::ValiantSwitches(_));
        of_one_route || of_one_table || mixes || matches!(self, Self::UgalL(_) | Self::UgalG(_) | Self::Progressive(_))
    }
}
