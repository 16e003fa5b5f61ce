//! Graph: a network in the node-link JSON of networkx.

mod node_link_graph;
mod read;

#[cfg(test)]
mod tests;

use super::common::{Mistakes, Topology};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::Fabric;
use crate::units::{Bandwidth, Time};

pub use read::is_graph;

/// `[topology.graph]`: the vertices and edges of a node-link JSON, as written by `networkx.node_link_data`.
///
/// An edge is a link each way, unless the graph is `directed`. Numbers are bytes per second and seconds;
/// texts have units. The `kind` or `type` of a vertex tells if it is a node (`host`, `node`, `endpoint` ...)
/// or a switch (`switch`, `router`). If no vertex has a kind, those with one edge are nodes. A vertex with
/// `endpoints` is a switch with this number of nodes. Nodes are numbered in the order of the file.
#[spec]
pub struct GraphSpec {
    /// The JSON file, relative to the file that names it.
    pub file: Located<String>,
    /// Bandwidth of edges that have none of their own (`bandwidth` or `capacity`), and of the links of `endpoints`.
    pub bandwidth: Option<Located<Bandwidth>>,
    /// Latency of edges that have none of their own (`latency` or `delay`), and of the links of `endpoints` (default
    /// 0).
    pub latency: Option<Located<Time>>,
}

impl Topology for GraphSpec {
    fn files(&mut self) -> Vec<&mut Located<String>> {
        vec![&mut self.file]
    }

    fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        mistakes.port(self.bandwidth.as_ref());
        mistakes.none()?;
        let (base, text) = sources.read_text(&self.file).map_err(|mistake| vec![mistake])?;
        let name = std::path::Path::new(self.file.as_str());
        let name = name.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let graph = read::graph(&text, base)?;
        let default = (self.bandwidth.as_deref().copied(), self.latency.as_deref().copied().unwrap_or(Time::ZERO));
        graph.fabric(format!("graph {name}"), default)
    }
}
