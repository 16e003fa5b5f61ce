//! Explicit routes.

use std::sync::Arc;

use super::router::Router;
use super::rule::{BuildContext, BuildResult, Rule};
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{LinkId, NodeId};

/// `[routing.table]`: the routes that the topology's own file gives. No options.
#[spec(partial, Default)]
pub struct TableSpec {}

impl Rule for TableSpec {
    fn build(&self, fabric: &Arc<Fabric>, _: &mut BuildContext<'_>) -> BuildResult {
        if fabric.routes().is_none() {
            let message = format!("`{}` has no routes of its own for `routing.table`", fabric.name());
            return Err(vec![
                Diagnostic::new("no-routes", message)
                    .help("give `routes = \"FILE.csv\"` in `[topology.custom]`, or write `[routing.shortest-path]`"),
            ]);
        }
        Ok(Arc::new(Table { fabric: Arc::clone(fabric) }))
    }
}

/// Router over the routes that came with the fabric.
#[derive(Debug)]
struct Table {
    fabric: Arc<Fabric>,
}

impl Table {
    fn get(&self, src: NodeId, dst: NodeId) -> Option<&[LinkId]> {
        self.fabric.routes().and_then(|routes| routes.get(src, dst))
    }
}

impl Router for Table {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src != dst {
            route.extend_from_slice(self.get(src, dst).unwrap_or_default());
        }
    }

    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        src == dst || self.get(src, dst).is_some()
    }

    fn is_total(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{FabricBuilder, Irregular, RouteTable};
    use crate::units::{Bandwidth, Time};

    #[test]
    fn a_listed_pair_has_its_route_and_no_other_pair_is_reached() {
        let mut builder = FabricBuilder::new("two links", 3, 0);
        let links: Vec<LinkId> =
            (0..2).map(|_| builder.loose_link(Bandwidth::from_bytes_per_second(1e9), Time::ZERO)).collect();
        let mut routes = RouteTable::default();
        routes.insert(NodeId(0), NodeId(2), &[links[1], links[0]]);
        builder.routes(routes);
        let router =
            crate::routing::RoutingSpec::Table(TableSpec {}).build(&Arc::new(builder.finish(Irregular)), 1).unwrap();
        let mut route = Vec::new();
        router.route(NodeId(0), NodeId(2), &mut route);
        assert_eq!(route, [links[1], links[0]]);
        assert!(router.reaches(NodeId(0), NodeId(2)) && router.reaches(NodeId(1), NodeId(1)));
        assert!(!router.reaches(NodeId(2), NodeId(0)));
    }

    #[test]
    fn a_fabric_without_routes_has_no_table() {
        let fabric = Arc::new(FabricBuilder::new("bare", 1, 0).finish(Irregular));
        assert_eq!(
            crate::routing::RoutingSpec::Table(TableSpec {}).build(&fabric, 1).unwrap_err()[0].code,
            "no-routes"
        );
    }
}
