//! Lookup of links and switches by the names that the program prints.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Located, closest};
use crate::fabric::Fabric;
use crate::ids::{Id, LinkId, VertexId};

/// Largest number of names compared for a suggestion.
const MOST_COMPARED: usize = 100_000;

/// Parts of a fabric by name; the names are generated when they are first needed.
pub(super) struct Names<'a> {
    fabric: &'a Fabric,
    links: BTreeMap<String, Vec<LinkId>>,
    vertices: BTreeMap<String, VertexId>,
}

impl<'a> Names<'a> {
    pub fn new(fabric: &'a Fabric) -> Self {
        Self { fabric, links: BTreeMap::new(), vertices: BTreeMap::new() }
    }

    fn vertex(&mut self, name: &str) -> Option<VertexId> {
        if self.vertices.is_empty() {
            let all = (0..self.fabric.nodes() + self.fabric.switches()).map(VertexId);
            self.vertices = all.map(|vertex| (self.fabric.vertex_name(vertex), vertex)).collect();
        }
        self.vertices.get(name).copied()
    }

    /// Returns the links of a name: all links with this name, or for `a <-> b` all between the two, both
    /// ways. `#2` after the name selects the second of parallel links.
    ///
    /// # Errors
    /// Fails for an unknown name, with the nearest one.
    pub fn link(&mut self, name: &Located<String>) -> Result<Vec<LinkId>, Diagnostic> {
        if self.links.is_empty() {
            for id in self.fabric.links().ids() {
                self.links.entry(self.fabric.link_name(id)).or_default().push(id);
            }
        }
        if let Some(found) = self.found(name, None) {
            return Ok(found);
        }
        let number = name.rsplit_once('#').and_then(|(name, number)| Some((name.trim(), number.trim().parse().ok()?)));
        if let Some(found) = number.and_then(|(name, number)| self.found(name, Some(number))) {
            return Ok(found);
        }
        let is_vertex = self.vertex(name).map(|vertex| vertex.index() >= self.fabric.nodes() as usize);
        let meant = name.replace("<->", "->");
        let near = closest(&meant, self.links.keys().take(MOST_COMPARED).map(String::as_str));
        let diagnostic =
            Diagnostic::new("unknown-link", format!("there is no link `{}` on {}", **name, self.fabric.name()));
        let help = match near {
            _ if is_vertex == Some(true) => format!("`{}` is a switch: write `switches = \"{}\"`", **name, **name),
            _ if is_vertex == Some(false) => format!("`{}` is a node: name a link of it", **name),
            Some(near) if name.contains("<->") => format!("did you mean `{}`?", near.replace("->", "<->")),
            Some(near) => format!("did you mean `{near}`?"),
            None => "`hayase topology show NAME -o links.csv` lists all; a part of them is written `1 %`".to_owned(),
        };
        Err(diagnostic.at_value(name).label("unknown").help(help))
    }

    /// Returns the links of a name; `number`, from 1, selects one of parallel links.
    fn found(&mut self, name: &str, number: Option<usize>) -> Option<Vec<LinkId>> {
        let chosen = |ids: Vec<LinkId>| match number {
            Some(number) => ids.get(number.checked_sub(1)?).map(|&id| vec![id]),
            None => Some(ids).filter(|ids| !ids.is_empty()),
        };
        if let Some(ids) = self.links.get(name) {
            return chosen(ids.clone());
        }
        let (a, b) = name.split_once("<->")?;
        let (a, b) = (self.vertex(a.trim())?, self.vertex(b.trim())?);
        let fabric = self.fabric;
        let from_to = |ends| {
            let joins = |id: &LinkId| fabric.link(*id).ends == Some(ends);
            chosen(fabric.links().ids().filter(joins).collect())
        };
        match (from_to((a, b)), from_to((b, a))) {
            (None, None) => None,
            (there, back) => Some(there.into_iter().chain(back).flatten().collect()),
        }
    }

    /// Returns the switch of this name.
    ///
    /// # Errors
    /// Fails for an unknown name, with the nearest one.
    pub fn switch(&mut self, name: &Located<String>) -> Result<VertexId, Diagnostic> {
        let nodes = self.fabric.nodes() as usize;
        if let Some(vertex) = self.vertex(name)
            && vertex.index() >= nodes
        {
            return Ok(vertex);
        }
        let switches = self.vertices.iter().filter(|(_, vertex)| vertex.index() >= nodes);
        let near = closest(name, switches.take(MOST_COMPARED).map(|(name, _)| name.as_str()));
        let message = format!("there is no switch `{}` on {}", **name, self.fabric.name());
        let help = match near {
            _ if self.fabric.switches() == 0 => "its nodes are joined directly; name links".to_owned(),
            Some(near) => format!("did you mean `{near}`?"),
            None => "`hayase topology show NAME -o links.csv` names them; a part of them is written `1 %`".to_owned(),
        };
        Err(Diagnostic::new("unknown-switch", message).at_value(name).label("unknown").help(help))
    }
}
