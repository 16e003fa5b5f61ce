//! A fabric as JSON.

use serde_json::{Value, json};

use hayase::fabric::{Fabric, Fact, Family, LinkRole};
use hayase::ids::VertexId;

/// The version of the form of what [`write()`] gives.
pub const SCHEMA: &str = "hayase-fabric-1";

/// Describes a fabric: its shape, nodes, switches, and links with their ends, bandwidth \[B/s\], latency \[s\] and
/// role.
///
/// Vertices are numbered nodes first; a link that only routes use has `from` and `to` null.
pub fn write(fabric: &Fabric) -> Value {
    let name = |vertex: u32| json!({ "id": vertex, "name": fabric.vertex_name(VertexId(vertex)) });
    let links: Vec<Value> = fabric
        .links()
        .iter_ids()
        .map(|(id, link)| {
            let mut value = json!({
                "id": id.0,
                "name": fabric.link_name(id),
                "from": link.ends.map(|(from, _)| from.0),
                "to": link.ends.map(|(_, to)| to.0),
                "capacity_bps": link.capacity.bytes_per_second(),
                "latency_s": link.latency.seconds(),
                "role": match link.role {
                    LinkRole::Injection => "injection",
                    LinkRole::Ejection => "ejection",
                    LinkRole::Network { .. } => "network",
                },
            });
            if let LinkRole::Network { tier } = link.role {
                value["tier"] = tier.into();
            }
            value
        })
        .collect();
    json!({
        "schema": SCHEMA,
        "name": fabric.name(),
        "shape": shape(fabric.family()),
        "nodes": (0..fabric.nodes()).map(name).collect::<Vec<_>>(),
        "switches": (fabric.nodes()..fabric.nodes() + fabric.switches()).map(name).collect::<Vec<_>>(),
        "links": links,
        "routes_given": fabric.routes().map_or(0, hayase::fabric::RouteTable::len),
    })
}

fn shape(family: &dyn Family) -> Value {
    let (kind, facts) = family.facts();
    let mut shape = json!({ "kind": kind });
    for (name, fact) in facts {
        shape[name] = match fact {
            Fact::Number(number) => number.into(),
            Fact::Numbers(numbers) => numbers.into(),
            Fact::Flag(flag) => flag.into(),
            Fact::Flags(flags) => flags.into(),
            Fact::Word(word) => word.into(),
        };
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase::fabric::{FabricBuilder, Irregular};
    use hayase::units::{Bandwidth, Time};

    #[test]
    fn a_fabric_is_described_with_its_units() {
        let mut builder = FabricBuilder::new("pair", 2, 0);
        let bandwidth = Bandwidth::from_bytes_per_second(1e9);
        builder.link(VertexId(0), VertexId(1), bandwidth, Time::from_ps(5e5), LinkRole::Network { tier: 2 });
        builder.loose_link(bandwidth, Time::ZERO);
        let value = write(&builder.finish(Irregular));
        assert_eq!(value["nodes"][1], json!({ "id": 1, "name": "node 1" }));
        assert_eq!(
            value["links"][0],
            json!({
                "id": 0, "name": "node 0 -> node 1", "from": 0, "to": 1,
                "capacity_bps": 1e9, "latency_s": 5e-7, "role": "network", "tier": 2
            })
        );
        assert_eq!(value["links"][1]["from"], Value::Null);
        assert_eq!(value["switches"], json!([]));
    }
}
