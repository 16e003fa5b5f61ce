//! Links of a fabric as CSV, one line each, in the form that `[topology.custom]` reads.

use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHasher};

use hayase::columns::csv;
use hayase::fabric::Fabric;
use hayase::ids::VertexId;

/// Writes all links that have not failed: `id,from,to,bandwidth,latency` \[B/s, s\].
///
/// Parallel links that share a name are called `NAME #1`, `NAME #2` and so on. `from` and `to` are the
/// numbers of nodes and the names of switches. They are empty for links that only routes use.
///
/// # Errors
/// Failures of `writer`.
pub fn write(fabric: &Fabric, writer: impl Write) -> io::Result<()> {
    let w = &mut io::BufWriter::new(writer);
    // By hash of a name: the number of links with it. Names with equal hashes are numbered without need, no more.
    let mut counts: FxHashMap<u64, (u32, u32)> = FxHashMap::default();
    let left = || fabric.links().iter_ids().filter(|(id, _)| !fabric.has_failed(*id));
    for (id, _) in left() {
        counts.entry(hash(&fabric.link_name(id))).or_default().0 += 1;
    }
    writeln!(w, "id,from,to,bandwidth,latency")?;
    for (id, link) in left() {
        let name = fabric.link_name(id);
        let (count, seen) = counts.entry(hash(&name)).or_default();
        *seen += 1;
        text(w, &if *count > 1 { format!("{name} #{seen}") } else { name })?;
        match link.ends {
            Some((from, to)) => [from, to].into_iter().try_for_each(|end| {
                w.write_all(b",")?;
                vertex(fabric, end, w)
            })?,
            None => w.write_all(b",,")?,
        }
        writeln!(w, ",{},{}", link.capacity.bytes_per_second(), link.latency.seconds())?;
    }
    w.flush()
}

/// Writes the number of a node, or the name of a switch.
fn vertex(fabric: &Fabric, vertex: VertexId, w: &mut impl Write) -> io::Result<()> {
    match fabric.vertex_name(vertex) {
        _ if vertex.0 < fabric.nodes() => write!(w, "{vertex}"),
        name if name.trim().parse::<f64>().is_ok() => write!(w, "switch {name}"),
        name => text(w, &name),
    }
}

/// Writes a text. It is quoted also where blanks around it would be lost.
fn text(w: &mut impl Write, value: &str) -> io::Result<()> {
    if value.trim() == value { csv::text(w, value) } else { csv::quoted(w, value) }
}

fn hash(name: &str) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    hasher.finish()
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
