//! What has failed, and what carries another bandwidth than it was built for, in a picture of a fabric.

use super::canvas::{Canvas, Point};
use super::layout::Cable;
use super::sign::{FAILED, Legend, Pen, Sign};
use crate::table::count;
use hayase::fabric::Fabric;
use hayase::ids::{LinkId, VertexId};

/// A cable of which nothing is left.
const FAILED_LINE: Pen = Pen::new(FAILED, 1.4).dashed("1.5 3");
/// A cable that carries another bandwidth.
const DEGRADED_LINE: Pen = Pen::new("#d97706", 2.6).dashed("8 3");

/// What has become of a cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It is as it was built.
    Whole,
    /// Some of its links carry another bandwidth than they were built for, and none has failed.
    Degraded,
    /// Some of its links have failed: one direction, or one of several parallel ones.
    Partly,
    /// All of its links have failed.
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

    /// How its line is drawn, where not as that of a whole one.
    pub(super) fn line(self) -> Option<Pen> {
        match self {
            Self::Whole | Self::Partly => None,
            Self::Degraded => Some(DEGRADED_LINE),
            Self::Failed => Some(FAILED_LINE),
        }
    }

    /// Whether it is crossed out.
    pub(super) fn is_crossed(self) -> bool {
        matches!(self, Self::Partly | Self::Failed)
    }
}

/// What is said of a link behind its name: `failed`, or what it carries and what it was built for.
pub(super) fn of_link(fabric: &Fabric, link: LinkId) -> Option<String> {
    let built = || Some(format!("{} of {}", fabric.link(link).capacity, fabric.built_for(link)?));
    if fabric.has_failed(link) { Some("failed".to_owned()) } else { built() }
}

/// A stroke through a cell of a matrix or a map.
pub(super) fn stroke(canvas: &mut Canvas, at: Point, width: f64, height: f64) {
    let attributes = format!(r#"stroke="{FAILED}" stroke-width="{}""#, (width.min(height) / 8.0).clamp(0.8, 2.0));
    canvas.line(at.plus(0.0, height), at.plus(width, 0.0), &attributes);
}

/// How many links have failed, and how many carry another bandwidth.
fn counts(fabric: &Fabric) -> [u64; 2] {
    let links = fabric.links();
    let failed = links.ids().filter(|&link| fabric.has_failed(link)).count();
    let degraded = links.ids().filter(|&link| !fabric.has_failed(link) && fabric.built_for(link).is_some()).count();
    [failed as u64, degraded as u64]
}

/// `4 links have failed, 2 links carry another bandwidth than they were built for`; `None` where all are whole.
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

/// Returns how to read what is marked.
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
