//! Marks of failed links and of links with a changed bandwidth in a picture of a fabric.

use super::canvas::{Canvas, Point};
use super::layout::Cable;
use super::sign::{FAILED, Legend, Pen, Sign};
use crate::table::count;
use hayase::fabric::Fabric;
use hayase::ids::{LinkId, VertexId};

/// Pen of a cable whose links have all failed.
const FAILED_LINE: Pen = Pen::new(FAILED, 1.4).dashed("1.5 3");
/// Pen of a cable with a changed bandwidth.
const DEGRADED_LINE: Pen = Pen::new("#d97706", 2.6).dashed("8 3");

/// State of a cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// All links work with their nominal bandwidth.
    Whole,
    /// Some links have a changed bandwidth, and none has failed.
    Degraded,
    /// Some links have failed: one direction, or one of several parallel ones.
    Partly,
    /// All links have failed.
    Failed,
}

impl State {
    pub(super) fn of(fabric: &Fabric, cable: &Cable) -> Self {
        let all = || cable.forward.iter().chain(&cable.back);
        let failed = all().filter(|&&link| fabric.has_failed(link)).count();
        match failed {
            0 if all().any(|&link| fabric.built_for(link).is_some()) => Self::Degraded,
            0 => Self::Whole,
            _ if failed == all().count() => Self::Failed,
            _ => Self::Partly,
        }
    }

    /// Returns the pen of the cable's line if it differs from that of an intact one.
    pub(super) fn line(self) -> Option<Pen> {
        match self {
            Self::Whole | Self::Partly => None,
            Self::Degraded => Some(DEGRADED_LINE),
            Self::Failed => Some(FAILED_LINE),
        }
    }

    /// True if the cable is crossed out.
    pub(super) fn is_crossed(self) -> bool {
        matches!(self, Self::Partly | Self::Failed)
    }
}

/// Returns the state of a link that is not intact: `failed`, or its present and nominal bandwidth.
pub(super) fn of_link(fabric: &Fabric, link: LinkId) -> Option<String> {
    let built = || Some(format!("{} of {}", fabric.link(link).capacity, fabric.built_for(link)?));
    if fabric.has_failed(link) { Some("failed".to_owned()) } else { built() }
}

/// Draws a stroke through a cell of a matrix or a map.
pub(super) fn stroke(canvas: &mut Canvas, at: Point, width: f64, height: f64) {
    let attributes = format!(r#"stroke="{FAILED}" stroke-width="{}""#, (width.min(height) / 8.0).clamp(0.8, 2.0));
    canvas.line(at.plus(0.0, height), at.plus(width, 0.0), &attributes);
}

/// Counts the failed links and those with a changed bandwidth.
fn counts(fabric: &Fabric) -> [u64; 2] {
    let links = fabric.links();
    let failed = links.ids().filter(|&link| fabric.has_failed(link)).count();
    let degraded = links.ids().filter(|&link| !fabric.has_failed(link) && fabric.built_for(link).is_some()).count();
    [failed as u64, degraded as u64]
}

/// Returns a sentence on failed links and links with a changed bandwidth; `None` if all links are intact.
pub(super) fn words(fabric: &Fabric) -> Option<String> {
    let [failed, degraded] = counts(fabric);
    let have = |n: u64| if n == 1 { "has" } else { "have" };
    let mut parts = Vec::new();
    if failed > 0 {
        parts.push(format!("{} {} failed", count(failed, "link", "links"), have(failed)));
    }
    if degraded > 0 {
        let carry = if degraded == 1 { "carries" } else { "carry" };
        let built = if degraded == 1 { "it was" } else { "they were" };
        let links = count(degraded, "link", "links");
        parts.push(format!("{links} {carry} another bandwidth than {built} built for"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns the meanings of the marks.
pub(super) fn legend(fabric: &Fabric) -> Legend {
    let [failed, degraded] = counts(fabric);
    let mut vertices = (0..fabric.nodes() + fabric.switches()).map(VertexId);
    let links = |number: u64, what: &str| format!("{} {what}", count(number, "link", "links"));
    let entries = [
        (failed > 0, Sign::Cross(Some(FAILED_LINE)), links(failed, "failed, each in one direction")),
        (degraded > 0, Sign::Line(DEGRADED_LINE), links(degraded, "with another bandwidth than built for")),
        (
            failed > 0 && vertices.any(|vertex| fabric.is_isolated(vertex)),
            Sign::Cross(None),
            "on a node or a switch: all of its links have failed".to_owned(),
        ),
    ];
    entries.into_iter().filter(|entry| entry.0).map(|(_, sign, text)| (sign, text)).collect()
}
