//! Fabric as a node-link graph in JSON, in the form that networkx reads and writes.

use std::io::{self, Write};

use serde_json::{Value, json};

use hayase::fabric::{Fabric, Fact, Family, LinkRole};
use hayase::ids::{Id, IdVec, LinkId, VertexId};

/// Version of the format that [`write()`] writes.
pub const SCHEMA: &str = "hayase-fabric-2";

/// Writes a fabric: general facts (`graph`), nodes and switches (`nodes`), and links (`edges`), one line
/// each. A link has a bandwidth \[B/s\], a latency \[s\] and, inside the network, a tier.
///
/// Nodes are numbered before switches. An edge stands for both directions if every link has a reverse link
/// with the same bandwidth and latency and no link has a name of its own. Otherwise the graph is directed and
/// an edge is a link. Links that only routes use are listed in `loose_links` of `graph`. Failed links are no
/// edges; their names are listed in `failed` of `graph`.
///
/// # Errors
/// Failures of `writer`.
pub fn write(fabric: &Fabric, mut writer: impl Write) -> io::Result<()> {
    let w = &mut io::BufWriter::new(&mut writer);
    let back = cables(fabric);
    let directed = back.is_none();
    let number = |value: f64| Value::from(value).to_string();
    let loose = |(id, link): (LinkId, &hayase::fabric::Link)| {
        json!({
            "name": fabric.link_name(id),
            "bandwidth": link.capacity.bytes_per_second(),
            "latency": link.latency.seconds(),
        })
    };
    let mut graph = json!({
        "schema": SCHEMA,
        "name": fabric.name(),
        "shape": shape(fabric.family()),
        "nodes": fabric.nodes(),
        "switches": fabric.switches(),
        "links": fabric.links().len(),
        "routes_given": fabric.routes().map_or(0, hayase::fabric::RouteTable::len),
    });
    if fabric.links().iter().any(|link| link.ends.is_none()) {
        let links = fabric.links().iter_ids().filter(|(_, link)| link.ends.is_none());
        graph["loose_links"] = links.map(loose).collect();
    }
    if fabric.failed().is_some() {
        let failed = fabric.links().ids().filter(|&id| fabric.has_failed(id));
        graph["failed"] = failed.map(|id| fabric.link_name(id)).collect();
    }
    writeln!(w, "{{\n\"directed\": {directed},\n\"multigraph\": true,\n\"graph\": {graph},\n\"nodes\": [")?;
    let vertices = fabric.nodes() + fabric.switches();
    for vertex in 0..vertices {
        let kind = if vertex < fabric.nodes() { "node" } else { "switch" };
        let comma = if vertex + 1 < vertices { "," } else { "" };
        let name = Value::from(fabric.vertex_name(VertexId(vertex)));
        writeln!(w, "{{\"id\":{vertex},\"name\":{name},\"kind\":\"{kind}\"}}{comma}")?;
    }
    write!(w, "],\n\"edges\": [")?;
    let mut comma = "\n";
    for (id, link) in fabric.links().iter_ids() {
        let Some((from, to)) = link.ends.filter(|_| !fabric.has_failed(id)) else { continue };
        // The first link of a cable stands for both.
        if back.as_ref().is_some_and(|back| back[id] < id) {
            continue;
        }
        let bandwidth = number(link.capacity.bytes_per_second());
        let latency = number(link.latency.seconds());
        write!(w, "{comma}{{\"source\":{from},\"target\":{to},\"bandwidth\":{bandwidth},\"latency\":{latency}")?;
        if let LinkRole::Network { tier } = link.role {
            write!(w, ",\"tier\":{tier}")?;
        }
        if let Some(name) = own_name(fabric, id, from, to) {
            write!(w, ",\"name\":{}", Value::from(name))?;
        }
        write!(w, "}}")?;
        comma = ",\n";
    }
    writeln!(w, "\n]\n}}")?;
    w.flush()
}

/// Returns the name of a link if it is not composed of the names of its ends.
fn own_name(fabric: &Fabric, link: LinkId, from: VertexId, to: VertexId) -> Option<String> {
    let name = fabric.link_name(link);
    (name != format!("{} -> {}", fabric.vertex_name(from), fabric.vertex_name(to))).then_some(name)
}

/// Returns the reverse link of each link; `None` if a link has none, or if links have names of their own.
fn cables(fabric: &Fabric) -> Option<IdVec<LinkId, LinkId>> {
    // Sorting by ends, properties and direction puts both directions of a cable together, parallel ones in order.
    let mut links = Vec::with_capacity(fabric.links().len());
    for (id, link) in fabric.links().iter_ids() {
        let Some((from, to)) = link.ends.filter(|_| !fabric.has_failed(id)) else { continue };
        let can = (link.capacity.bytes_per_second().to_bits(), link.latency.ps().to_bits());
        links.push((from.min(to), from.max(to), can, from > to, id));
        // Only the first link is checked for a name of its own: a file names all links or none.
        if id.index() == 0 && own_name(fabric, id, from, to).is_some() {
            return None;
        }
    }
    links.sort_unstable();
    let mut back = IdVec::filled(fabric.links().len(), LinkId(0));
    for cable in links.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2)) {
        let (there, back_again) = cable.split_at(cable.partition_point(|link| !link.3));
        if there.len() != back_again.len() {
            return None;
        }
        for (a, b) in there.iter().zip(back_again) {
            (back[a.4], back[b.4]) = (b.4, a.4);
        }
    }
    Some(back)
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

    fn written(fabric: &Fabric) -> Value {
        let mut text = Vec::new();
        write(fabric, &mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    #[test]
    fn a_fabric_is_described_with_its_units() {
        let mut builder = FabricBuilder::new("pair", 2, 0);
        let bandwidth = Bandwidth::from_bytes_per_second(1e9);
        builder.link(VertexId(0), VertexId(1), bandwidth, Time::from_ps(5e5), LinkRole::Network { tier: 2 });
        builder.loose_link(bandwidth, Time::ZERO);
        let value = written(&builder.finish(Irregular));
        assert_eq!(value["nodes"][1], json!({ "id": 1, "name": "node 1", "kind": "node" }));
        assert_eq!(value["edges"], json!([{ "source": 0, "target": 1, "bandwidth": 1e9, "latency": 5e-7, "tier": 2 }]));
        assert_eq!(value["directed"], true);
        assert_eq!(value["graph"]["loose_links"][0]["name"], "link 1");
    }

    #[test]
    fn a_link_that_has_failed_is_no_edge() {
        let mut builder = FabricBuilder::new("two cables", 2, 0);
        let speed = Bandwidth::from_bytes_per_second(1e9);
        for (from, to) in [(0, 1), (1, 0), (0, 1), (1, 0)] {
            builder.link(VertexId(from), VertexId(to), speed, Time::ZERO, LinkRole::Network { tier: 0 });
        }
        let whole = builder.finish(Irregular);
        let value = written(&whole.altered(&[LinkId(0), LinkId(1)], &[]));
        assert_eq!((&value["directed"], value["edges"].as_array().unwrap().len()), (&json!(false), 1));
        assert_eq!(value["graph"]["failed"], json!(["node 0 -> node 1", "node 1 -> node 0"]));
        let value = written(&whole.altered(&[LinkId(1)], &[]));
        assert_eq!((&value["directed"], value["edges"].as_array().unwrap().len()), (&json!(true), 3));
    }

    #[test]
    fn a_cable_with_both_directions_is_one_edge() {
        let mut builder = FabricBuilder::new("two cables", 2, 0);
        let role = LinkRole::Network { tier: 0 };
        for (from, to, speed) in [(0, 1, 2e9), (1, 0, 1e9), (1, 0, 2e9), (0, 1, 1e9)] {
            let speed = Bandwidth::from_bytes_per_second(speed);
            builder.link(VertexId(from), VertexId(to), speed, Time::ZERO, role);
        }
        let value = written(&builder.finish(Irregular));
        assert_eq!(value["directed"], false);
        let ends: Vec<_> = value["edges"].as_array().unwrap().iter().map(|edge| edge["bandwidth"].as_f64()).collect();
        assert_eq!(ends, [Some(2e9), Some(1e9)]);
        assert_eq!(value["graph"]["links"], 4);
    }
}
