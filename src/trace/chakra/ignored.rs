//! Parts of a trace that its reader leaves out, counted.

use crate::units::grouped;

/// Numbers of parts that were left out.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    /// Dependences on nodes that are not in the file.
    pub missing: u64,
    /// Dependences of nodes on themselves.
    pub own: u64,
    /// Control dependences of ranks where they form a cycle, and the number of these ranks.
    pub control: u64,
    pub cyclic: u32,
    /// A cycle, as identifiers of its nodes.
    pub cycle: Option<String>,
    /// Collectives of the host without a type.
    pub untyped: u64,
    /// Nodes with operations or bytes, but without a time and a rate.
    pub untimed: u64,
}

impl Ignored {
    /// Returns a paragraph about everything that was left out; `None` if it is nothing.
    pub fn paragraph(&self) -> Option<String> {
        let mut parts = Vec::new();
        let mut part = |count: u64, what: [&str; 2]| {
            if count > 0 {
                parts.push(format!("{} {}", grouped(count), what[usize::from(count > 1)]));
            }
        };
        part(self.missing, ["dependence on a node that is not there", "dependences on nodes that are not there"]);
        part(self.own, ["dependence of a node on itself", "dependences of nodes on themselves"]);
        part(self.control, ["control dependence", "control dependences"]);
        if let Some(cycle) = &self.cycle {
            let ranks = if self.cyclic == 1 { "1 rank".to_owned() } else { format!("{} ranks", self.cyclic) };
            parts.push(format!(
                "(all of {ranks}, whose nodes would wait for each other with them, as {cycle} do; data dependences \
                 alone order these ranks)"
            ));
        }
        let ignored = (!parts.is_empty()).then(|| format!("ignored: {}", parts.join(", ").replace(", (", " (")));
        let untyped = (self.untyped > 0).then(|| match self.untyped {
            1 => "1 collective of the host has no type and counts as computation".to_owned(),
            more => format!("{} collectives of the host have no type and count as computation", grouped(more)),
        });
        let untimed = (self.untimed > 0).then(|| {
            let nodes = if self.untimed == 1 { "node has" } else { "nodes have" };
            format!(
                "{} {nodes} operations or bytes and no time, and take none (--flop-rate and --memory-bandwidth set it)",
                grouped(self.untimed)
            )
        });
        let all: Vec<String> = [ignored, untyped, untimed].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}
