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
        let counts = [
            (self.missing, "dependences on nodes that are not there"),
            (self.own, "dependences of nodes on themselves"),
            (self.control, "control dependences"),
        ];
        let listed = |counts: &[(u64, &str)]| {
            let some = counts.iter().filter(|(count, _)| *count > 0);
            some.map(|(count, what)| format!("{what} ({})", grouped(*count))).collect::<Vec<_>>().join(", ")
        };
        let mut ignored = listed(&counts);
        if let Some(cycle) = &self.cycle {
            let ranks = self.cyclic;
            ignored +=
                &format!(", all where nodes would wait for each other with them (ranks: {ranks}; nodes: {cycle})");
        }
        if !ignored.is_empty() {
            ignored.insert_str(0, "ignored: ");
        }
        let taken = listed(&[
            (self.untyped, "collectives of the host without a type, taken as computation"),
            (self.untimed, "nodes with operations or bytes, but no time (--flop-rate and --memory-bandwidth give one)"),
        ]);
        let all: Vec<String> = [ignored, taken].into_iter().filter(|part| !part.is_empty()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}
