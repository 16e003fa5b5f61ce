//! Places of the parts of a fabric in a picture.

mod crossbars;
mod groups;
pub(super) mod irregular;
mod lattice;
mod stress;
mod tree;

use rustc_hash::FxHashMap;

use super::canvas::{Anchor, Point};
use hayase::fabric::{Fabric, Sketch};
use hayase::ids::{Id, LinkId, VertexId};

/// Shape of a vertex.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Mark {
    /// Dot of this radius: a node.
    Dot(f64),
    /// Box of this half width and half height: a switch.
    Box(f64, f64),
    /// Bar from the position to this point: a crossbar.
    Bar(Point),
    /// Not drawn, but counted at its switch.
    Hidden,
}

/// Text that belongs to a vertex or to the picture.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Caption {
    pub at: Point,
    pub anchor: Anchor,
    pub size: f64,
    pub text: String,
    pub strong: bool,
}

/// Vertex in its place.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Placed {
    pub at: Point,
    pub mark: Mark,
    pub label: Option<Caption>,
}

/// Cell of a matrix.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cell {
    /// Upper left corner.
    pub at: Point,
    pub side: f64,
    pub fill: String,
    pub title: String,
    /// True if a cable that the cell counts has failed.
    pub failed: bool,
}

/// All links between two vertices, in both directions.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cable {
    pub ends: (VertexId, VertexId),
    /// Links from the first end to the second.
    pub forward: Vec<LinkId>,
    /// Links from the second end to the first.
    pub back: Vec<LinkId>,
    /// Drawn pieces, each from the first end towards the second; two stubs if the cable would cross the whole
    /// picture.
    pub runs: Vec<Vec<Point>>,
}

impl Cable {
    /// True if only the two ends are drawn.
    pub(super) fn is_stub(&self) -> bool {
        self.runs.len() > 1
    }
}

/// Layout of a fabric, with the top left corner at 0, 0.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Layout {
    pub width: f64,
    pub height: f64,
    /// Vertices by id.
    pub vertices: Vec<Placed>,
    pub cables: Vec<Cable>,
    pub cells: Vec<Cell>,
    pub captions: Vec<Caption>,
    /// Remarks on reading the picture and on parts left out.
    pub remarks: Vec<String>,
    /// Note in large type: which part is drawn as a number.
    pub note: Option<String>,
}

impl Layout {
    /// Lays out a fabric that is small enough.
    pub(super) fn new(fabric: &Fabric) -> Self {
        let mut layout = match fabric.family().sketch() {
            Sketch::Levels(tree) => tree::layout(fabric, tree),
            Sketch::Lattice(grid) => lattice::layout(fabric, grid),
            Sketch::Crossbars(grid) => crossbars::layout(fabric, grid),
            Sketch::Groups { of, name } => groups::layout(fabric, of, name),
            Sketch::Distances => irregular::layout(fabric),
        };
        let loose = fabric.links().iter().filter(|link| link.ends.is_none()).count();
        if loose > 0 {
            let links = if loose == 1 { "1 link is" } else { &format!("{loose} links are") };
            layout.remarks.push(format!("{links} known by routes alone, without ends, and not drawn."));
        }
        layout
    }

    /// Adds cables, with straight lines for those that have no course yet.
    fn join(&mut self, mut cables: Vec<Cable>) {
        for cable in &mut cables {
            if cable.runs.is_empty() {
                let (a, b) = (self.vertices[cable.ends.0.index()].at, self.vertices[cable.ends.1.index()].at);
                cable.runs.push(vec![a, b]);
            }
        }
        self.cables = cables;
    }
}

/// Groups the links with ends by pair of vertices, in the order of the first link of each pair.
fn cables(fabric: &Fabric) -> Vec<Cable> {
    let mut cables: Vec<Cable> = Vec::new();
    let mut by_pair: FxHashMap<(VertexId, VertexId), usize> = FxHashMap::default();
    for (id, link) in fabric.links().iter_ids() {
        let Some((from, to)) = link.ends.filter(|(from, to)| from != to) else { continue };
        let pair = (from.min(to), from.max(to));
        let at = *by_pair.entry(pair).or_insert(cables.len());
        if at == cables.len() {
            cables.push(Cable { ends: (from, to), forward: Vec::new(), back: Vec::new(), runs: Vec::new() });
        }
        let cable = &mut cables[at];
        if cable.ends.0 == from { cable.forward.push(id) } else { cable.back.push(id) }
    }
    cables
}

/// Returns the label of a vertex: its name without the word `node`.
fn short_name(fabric: &Fabric, vertex: VertexId) -> String {
    let name = fabric.vertex_name(vertex);
    name.strip_prefix("node ").map_or(name.clone(), str::to_owned)
}

/// Returns a caption of normal size.
fn caption(at: Point, anchor: Anchor, text: impl Into<String>) -> Caption {
    Caption { at, anchor, size: 10.0, text: text.into(), strong: false }
}
