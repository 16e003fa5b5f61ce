//! Trees: a row for each level, the nodes at the bottom.

use super::{Caption, Layout, Mark, Placed, cables, caption, short_name};
use crate::svg::canvas::{Anchor, Point, text_width};
use hayase::fabric::{Fabric, Tree};
use hayase::ids::{Id, VertexId};

/// Room at the left for the caption of each level \[px\].
const CAPTIONS: f64 = 130.0;

pub(super) fn layout(fabric: &Fabric, tree: &Tree) -> Layout {
    let levels = tree.levels();
    let widest = (1..=levels).map(|level| tree.parts(level)).max().unwrap_or(1);
    let node_slot = (1150.0 / f64::from(tree.nodes().max(1))).clamp(5.0, 34.0);
    let width = (f64::from(tree.nodes()) * node_slot).max(f64::from(widest) * 9.0).clamp(300.0, 1600.0);
    let step = (width * 0.11).clamp(80.0, 130.0);
    let top = 20.0;
    let y = |level: usize| top + (levels - level) as f64 * step;
    let slot = |level: usize| width / f64::from(tree.parts(level).max(1));

    let mut layout = Layout { width: CAPTIONS + width, height: y(0) + 34.0, ..Layout::default() };
    for vertex in (0..fabric.nodes() + fabric.switches()).map(VertexId) {
        let (level, index) = tree.part(vertex);
        let at = Point::new(CAPTIONS + slot(level) * (f64::from(index) + 0.5), y(level));
        let text = short_name(fabric, vertex);
        let placed = if level == 0 {
            let every = label_step(&short_name(fabric, VertexId(tree.nodes().saturating_sub(1))), slot(0));
            let label = (index % every == 0).then(|| caption(at.plus(0.0, 16.0), Anchor::Middle, text));
            Placed { at, mark: Mark::Dot((slot(0) * 0.3).clamp(1.8, 5.0)), label }
        } else {
            let half = (slot(level) * 0.38).clamp(2.5, 30.0);
            let size = 9.0;
            let label = (text_width(&text, size) + 4.0 <= 2.0 * half)
                .then(|| Caption { size, ..caption(at.plus(0.0, 3.2), Anchor::Middle, text) });
            Placed { at, mark: Mark::Box(half, 8.0), label }
        };
        layout.vertices.push(placed);
    }
    for level in 0..=levels {
        let count = tree.parts(level);
        let name = if level == 0 { "nodes".to_owned() } else { format!("level {level}") };
        let plural = if count == 1 { "" } else { "es" };
        let text = if level == 0 { count.to_string() } else { format!("{count} switch{plural}") };
        layout.captions.push(Caption { strong: true, ..caption(Point::new(0.0, y(level)), Anchor::Start, name) });
        layout.captions.push(caption(Point::new(0.0, y(level) + 13.0), Anchor::Start, text));
        if level > 0 {
            let cables = tree.cables(level);
            let parallel = tree.parallel[level - 1];
            let parallel = if parallel > 1 { format!(", {parallel} in parallel") } else { String::new() };
            let text = format!("{cables} cable{}{parallel}", if cables == 1 { "" } else { "s" });
            let between = y(level) + step / 2.0;
            layout.captions.push(caption(Point::new(0.0, between), Anchor::Start, text));
            let up = fabric.links().get(tree.up_link(level, 0, 0)).map(|link| link.capacity.to_string());
            let text = up.map(|capacity| format!("of {capacity} each way")).unwrap_or_default();
            layout.captions.push(caption(Point::new(0.0, between + 13.0), Anchor::Start, text));
        }
    }
    let mut cables = cables(fabric);
    for cable in &mut cables {
        let (mut low, mut high) = (layout.vertices[cable.ends.0.index()].at, layout.vertices[cable.ends.1.index()].at);
        // A cable leads from the upper edge of the lower box to the lower edge of the upper one.
        let up = low.y > high.y;
        let (a, b) = if up { (&mut low, &mut high) } else { (&mut high, &mut low) };
        b.y += 8.0;
        if a.y < y(0) {
            a.y -= 8.0;
        }
        cable.runs.push(vec![low, high]);
    }
    layout.join(cables);
    layout
}

/// Returns the smallest n such that every n-th label has room. `widest` is the widest label, `slot` the room
/// of each.
fn label_step(widest: &str, slot: f64) -> u32 {
    let needed = text_width(widest, 10.0) + 3.0;
    [1, 2, 4, 8, 16, 32, 64, 128].into_iter().find(|&every| f64::from(every) * slot >= needed).unwrap_or(256)
}
