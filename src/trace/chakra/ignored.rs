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
        let of = |count: u64, [one, more]: [&str; 2]| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{} {more}", grouped(count))),
        };
        parts.extend(of(
            self.missing,
            ["dependence on a node that is not there", "dependences on nodes that are not there"],
        ));
        parts.extend(of(self.own, ["dependence of a node on itself", "dependences of nodes on themselves"]));
        parts.extend(of(self.control, ["control dependence", "control dependences"]));
        if let Some(cycle) = &self.cycle {
            let ranks = if self.cyclic == 1 { "1 rank".to_owned() } else { format!("{} ranks", self.cyclic) };
            parts.push(format!(
                "(all of {ranks}, whose nodes would wait for each other with them, as {cycle} do; data dependences \
                 alone order these ranks)"
            ));
        }
        let ignored = (!parts.is_empty()).then(|| format!("ignored: {}", parts.join(", ").replace(", (", " (")));
        let what = "of the host without a type (taken as computation)";
        let untyped = of(self.untyped, ["collective", "collectives"]).map(|count| format!("{count} {what}"));
        let what = "with operations or bytes and no time (--flop-rate and --memory-bandwidth give one)";
        let untimed = of(self.untimed, ["node", "nodes"]).map(|count| format!("{count} {what}"));
        let all: Vec<String> = [ignored, untyped, untimed].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}
