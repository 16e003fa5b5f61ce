//! SimGrid: a platform file in its XML format, versions 4 and 4.1.
//!
//! The reader supports what flow-level simulation needs. Zones have routing `Full`, `Floyd`, `Dijkstra`,
//! `DijkstraCache`, `Cluster` or `None` and may be nested; they hold hosts, routers, links, routes and zone
//! routes. Clusters are `FLAT` (with backbone), `FAT_TREE`, `TORUS` or `DRAGONFLY`, with limiters. Properties
//! that concern hosts alone (speed, cores, disks, properties, profiles over time) and `<config>` are ignored.
//! Anything else is an error at its place, and so is a link whose latency changes over time if a message
//! could cross it.
//!
//! **Links.** `SPLITDUPLEX` is two links, one a direction. `SHARED` is one link that both directions use.
//! `FATPIPE` gives each message its whole bandwidth: a limit for each message, unless a shared link of the
//! route is narrower ([`Fabric::own_links`](crate::fabric::FabricBuilder::own_links)).
//!
//! **Routes.** If a platform is a single cluster whose topology and routes are those of Hayase's own
//! fat-tree, torus or crossbar, it becomes one, and its routes are computed. If only the topology is the
//! same, its routes are listed as SimGrid takes them, unless `own-routes` asks for those of Hayase. This
//! concerns fat-trees with parallel cables and tori with a dimension of even size: SimGrid goes half-way
//! round in the descending direction from the middle to position 0, and in the ascending direction elsewhere.
//! In all other platforms links have no ends, and all routes are listed. In zones with shortest paths, ties
//! are broken by the order of the points, which may differ from SimGrid's choice. Messages from a host to
//! itself cross no link.
//!
//! Source: SimGrid's manual, "Platform description in XML"; its behaviour in version 3.32.

mod assemble;
mod cascade;
mod cluster;

mod element;
mod platform;
mod profile;
mod quantity;
mod read;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use roxmltree::{Document, ParsingOptions};

use super::common::Topology;
use crate::diagnostic::{Diagnostic, Located, Sources, Span};
use crate::fabric::Fabric;

/// `[topology.simgrid]`: a SimGrid platform file.
///
/// Hosts become nodes in the order of the document.
#[spec]
pub struct SimgridSpec {
    /// The XML file, relative to the file that names it.
    pub platform: Located<String>,
    /// Leave the routes of a platform that is a single fat-tree or torus to `[routing.*]`, even if SimGrid's
    /// are slightly different (default false).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_routes: bool,
}

impl Topology for SimgridSpec {
    fn files(&mut self) -> Vec<&mut Located<String>> {
        vec![&mut self.platform]
    }

    fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let (base, text) = sources.read_text(&self.platform).map_err(|mistake| vec![mistake])?;
        // The fabric is named after the platform file.
        let name = std::path::Path::new(self.platform.as_str());
        let name = name.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        // Paths in the platform file are relative to it.
        let mut open = |file: &str, span: Span| sources.read_text(&Located::new(file.to_owned(), span));
        fabric(&text, base, &name, self.own_routes, &mut open)
    }
}

/// Function that reads a file named at a place of a platform. Returns its text and where it starts in the
/// sources.
type Open<'a> = &'a mut dyn FnMut(&str, Span) -> Result<(usize, Arc<str>), Diagnostic>;

/// Builds the fabric that a platform describes. `base` is where its text starts in its sources.
fn fabric(text: &str, base: usize, name: &str, own_routes: bool, open: Open<'_>) -> Result<Fabric, Vec<Diagnostic>> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| vec![not_xml(text, base, &error)])?;
    let mut mistakes = element::Mistakes::new(base);
    let platform = read::read(document.root_element(), &mut mistakes, open);
    if !mistakes.is_empty() {
        return Err(mistakes.into_list());
    }
    let root = mistakes.tag(document.root_element());
    assemble::fabric(&platform, name, own_routes, root)
}

/// Returns the mistake for a text that is not XML.
fn not_xml(text: &str, base: usize, error: &roxmltree::Error) -> Diagnostic {
    let at = error.pos();
    let line = text.split_inclusive('\n').take(at.row.saturating_sub(1) as usize).map(str::len).sum::<usize>();
    let rest = text.get(line..).unwrap_or_default();
    let column = rest.char_indices().nth(at.col.saturating_sub(1) as usize).map_or(rest.len(), |(i, _)| i);
    // The message ends with the place, which the span shows already.
    let message = error.to_string();
    let message = message.rsplit_once(" at ").map_or(message.as_str(), |(message, _)| message);
    let start = base + line + column;
    Diagnostic::new("not-xml", format!("this is not XML: {message}"))
        .at(Span::new(start, start + 1))
        .label("expected a SimGrid platform")
}
