//! InfraGraph: devices, instances and the edges between them, in YAML.
//!
//! An infrastructure has devices (components, links, inner edges), instances (a number of copies of a
//! device), and edges between instances. An edge joins slices of components; every component that an edge
//! joins is a vertex, and an edge is a link each way. As in the schema's own service, two vertices are joined
//! at most once: the later edge holds.
//!
//! Source: the InfraGraph schema 2.4 and its service, <https://github.com/Keysight/infragraph>.

mod expand;
mod model;
mod read;
mod slice;
mod yaml;

#[cfg(test)]
mod tests;

use super::common::{Mistakes, Topology};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::Fabric;
use crate::units::{Bandwidth, Bytes, Time};

/// `[topology.infragraph]`: an infrastructure in YAML, in the InfraGraph schema of Keysight.
///
/// Every component that an edge joins is a vertex, named like `server.0.xpu.3`. Accelerators (`xpu`) are the
/// nodes, or CPUs if no edge joins an accelerator, or else network cards. All other vertices forward
/// messages. An edge is a link each way. Nodes are numbered in the order of the instances and components in
/// the file.
#[spec]
pub struct InfragraphSpec {
    /// The YAML file, relative to the file that names it.
    pub file: Located<String>,
    /// Components that are nodes: a kind (`xpu`, `cpu`, `nic`, or the type of a custom component) or the
    /// name of a component (default: the first of `xpu`, `cpu` and `nic` that has edges).
    pub nodes: Option<Located<String>>,
    /// Bandwidth of links that have none of their own. Without it such links are a mistake.
    pub bandwidth: Option<Located<Bandwidth>>,
    /// Latency of links that have none of their own (default 0).
    pub latency: Option<Located<Time>>,
    /// Data carried by one transfer on links given in gigatransfers per second: `2 B` on PCI Express with
    /// 16 lanes. Without it such links are a mistake.
    pub transfer: Option<Located<Bytes>>,
}

impl Topology for InfragraphSpec {
    fn files(&mut self) -> Vec<&mut Located<String>> {
        vec![&mut self.file]
    }

    fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        mistakes.port(self.bandwidth.as_ref());
        mistakes.none()?;
        let (base, text) = sources.read_text(&self.file).map_err(|mistake| vec![mistake])?;
        let document = yaml::parse(&text, base).map_err(|mistake| vec![mistake])?;
        let mut model = read::model(&document)?;
        if model.name.is_empty() {
            let name = std::path::Path::new(self.file.as_str());
            model.name = name.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        }
        expand::fabric(&model, self)
    }
}
