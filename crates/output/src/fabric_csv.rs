//! The links of a fabric as CSV, a line each, as `[topology.custom]` reads them.

use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHasher};

use hayase::fabric::Fabric;
use hayase::ids::VertexId;

/// Writes all links: `id,from,to,bandwidth,latency` \[B/s, s\]. Of several with one name, as parallel cables have, the
/// first is `NAME #1`, the second `NAME #2`. `from` and `to` are the numbers of nodes and the names of switches, empty
/// for links that only routes use. What has failed is left out.
///
/// # Errors
/// Where `writer` fails.
pub fn write(fabric: &Fabric, writer: impl Write) -> io::Result<()> {
    let w = &mut io::BufWriter::new(writer);
    // By the hash of a name, how many have it; two names of one hash are numbered for nothing.
    let mut counts: FxHashMap<u64, (u32, u32)> = FxHashMap::default();
    let left = || fabric.links().iter_ids().filter(|(id, _)| !fabric.has_failed(*id));
    for (id, _) in left() {
        counts.entry(hash(&fabric.link_name(id))).or_default().0 += 1;
    }
    let vertex = |vertex: VertexId| match fabric.vertex_name(vertex) {
        _ if vertex.0 < fabric.nodes() => vertex.to_string(),
        name if name.trim().parse::<f64>().is_ok() => format!("switch {name}"),
        name => quoted(&name),
    };
    writeln!(w, "id,from,to,bandwidth,latency")?;
    for (id, link) in left() {
        let name = fabric.link_name(id);
        let (count, seen) = counts.entry(hash(&name)).or_default();
        *seen += 1;
        let name = if *count > 1 { format!("{name} #{seen}") } else { name };
        let (from, to) = link.ends.map_or_else(Default::default, |(from, to)| (vertex(from), vertex(to)));
        let (bandwidth, latency) = (link.capacity.bytes_per_second(), link.latency.seconds());
        writeln!(w, "{},{from},{to},{bandwidth},{latency}", quoted(&name))?;
    }
    w.flush()
}

fn hash(name: &str) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    hasher.finish()
}

/// A text as CSV has it.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) || text.trim() != text {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase::fabric::{FabricBuilder, Irregular, Labels, LinkRole};
    use hayase::ids::LinkId;
    use hayase::units::{Bandwidth, Time};

    #[test]
    fn a_line_is_a_link_that_is_left() {
        let mut builder = FabricBuilder::new("parallel", 1, 2);
        let speed = Bandwidth::from_bytes_per_second(1.5e9);
        for (from, to) in [(0, 1), (1, 2), (1, 2), (2, 1)] {
            builder.link(VertexId(from), VertexId(to), speed, Time::from_ps(5e5), LinkRole::Network { tier: 0 });
        }
        builder.loose_link(speed, Time::ZERO);
        builder.labels(Labels { vertices: vec!["node 0".into(), "(0,0)".into(), "7".into()], links: Vec::new() });
        let mut text = Vec::new();
        write(&builder.finish(Irregular).altered(&[LinkId(3)], &[]), &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "id,from,to,bandwidth,latency\n\
             \"node 0 -> (0,0)\",0,\"(0,0)\",1500000000,0.0000005\n\
             \"(0,0) -> 7 #1\",\"(0,0)\",switch 7,1500000000,0.0000005\n\
             \"(0,0) -> 7 #2\",\"(0,0)\",switch 7,1500000000,0.0000005\n\
             link 4,,,1500000000,0\n"
        );
    }
}
