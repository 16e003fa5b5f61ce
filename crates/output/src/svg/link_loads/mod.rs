//! Load of each link over the topology.
//!
//! Links of a small fabric are coloured and widened by load. A torus has maps, one for each direction. Every
//! fabric has strips, one for each level and direction, which show the limiting one and the imbalance in it.

mod detail;
mod groups;
mod maps;
mod strips;

use super::canvas::{Canvas, GREY, MARGIN, Point};
use super::cells::{RAMP, Ramp};
use super::fabric::LEAST_WIDTH;
use super::failed;
use super::lanes::{Lane, Lanes, Span};
use super::layout::Layout;
use super::picture::Part;
use super::scale::{LoadScale, percent};
use super::sign::PALE;
use super::small::small_member;
use crate::table::seconds;
use hayase::base::Arrange;
use hayase::fabric::Fabric;
use hayase::ids::{Id, LinkId};
use hayase::report::LinkUse;
use hayase::units::Bytes;

/// Largest number of links that are drawn one by one.
const MOST_DRAWN_LINKS: usize = 800;
/// Largest number of nodes of a fabric whose links are drawn one by one.
const MOST_DRAWN_NODES: u32 = 81;
/// Number of links in the list of the busiest.
const LISTED: usize = 12;

/// Load of one link.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkLoad {
    /// Bytes carried over the bytes that the link could have carried.
    pub utilisation: f64,
    /// Bytes carried \[B\].
    pub bytes: u64,
    /// Time that messages lost on the link \[s\]; 0 if it was not measured.
    pub delay_s: f64,
}

impl From<&LinkUse> for LinkLoad {
    fn from(link: &LinkUse) -> Self {
        Self { utilisation: link.utilisation, bytes: link.bytes, delay_s: link.delay_s }
    }
}

/// Loads of all links, and their scale.
struct Loads<'a> {
    fabric: &'a Fabric,
    loads: &'a [LinkLoad],
    scale: LoadScale,
}

impl Loads<'_> {
    /// Returns the utilisation of a link; NaN counts as 0.
    fn of(&self, link: LinkId) -> f64 {
        let value = self.loads.get(link.index()).map_or(0.0, |load| load.utilisation);
        if value.is_finite() { value } else { 0.0 }
    }

    /// Returns the mean and the largest utilisation.
    fn summary(&self, links: &[LinkId]) -> (f64, f64) {
        let sum: f64 = links.iter().map(|&link| self.of(link)).sum();
        let max = links.iter().map(|&link| self.of(link)).fold(0.0, f64::max);
        (sum / links.len().max(1) as f64, max)
    }
}

/// Draws the loads (by link id) over the fabric.
pub fn link_loads(fabric: &Fabric, loads: &[LinkLoad], title: &str, subtitle: &str) -> String {
    let largest = loads.iter().map(|load| load.utilisation).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let loads = Loads { fabric, loads, scale: LoadScale::up_to(largest) };
    let links = fabric.links().len();
    let with_ends = fabric.links().iter().any(|link| link.ends.is_some());
    let drawn =
        with_ends && small_member(fabric).is_none() && links <= MOST_DRAWN_LINKS && fabric.nodes() <= MOST_DRAWN_NODES;
    let layout = drawn.then(|| Layout::new(fabric));
    let maps = if drawn { None } else { maps::plan(fabric) };

    let mut width = LEAST_WIDTH.max(strips::WIDTH + 2.0 * MARGIN);
    if let Some(layout) = &layout {
        width = width.max(layout.width + 2.0 * MARGIN);
    }
    if let Some(maps) = &maps {
        width = width.max(maps.width() + 2.0 * MARGIN);
    }
    let mut canvas = Canvas::new();
    let marked = failed::words(fabric).map(|words| {
        let how = if fabric.failed().is_some() { " (what failed is crossed out)" } else { "" };
        format!("{subtitle}; {words}{how}")
    });
    let subtitle = marked.unwrap_or_else(|| subtitle.to_owned());
    let mut y = canvas.heading(title, &subtitle, width);
    let caption = "utilisation of a link: bytes carried / (bandwidth × makespan)";
    let (caption, ticks) = (caption.to_owned(), loads.scale.ticks());
    let ramp = Ramp { caption, colour: |place| LoadScale::up_to(1.0).colour(place), ticks };
    ramp.draw(&mut canvas, Point::new(MARGIN, y));
    if layout.is_some() {
        detail::legend(&mut canvas, MARGIN + RAMP + 50.0, y);
    }
    y += 62.0;
    if let Some(layout) = &layout {
        let offset = Point::new((width - layout.width) / 2.0, y);
        detail::draw(&mut canvas, &loads, layout, offset);
        y = canvas.remarks(&layout.remarks, y + layout.height, width) + 14.0;
    }
    if let Some(maps) = &maps {
        y = maps.draw(&mut canvas, &loads, y);
    } else {
        y = strips::draw(&mut canvas, &loads, y);
    }
    let (list, notes) = busiest(&loads);
    list.draw(&mut canvas, Point::new(MARGIN, y + 18.0));
    y = canvas.remarks(&notes, y + 18.0 + list.size().1, width);
    canvas.finish(width, y + MARGIN, title)
}

/// Returns the attributes of the frame of a strip or map, by which the script of a page finds links: the ids row by row
/// from below, as progressions `first,step,count` (-1: no link), and the number of columns.
fn frame(links: impl IntoIterator<Item = Option<LinkId>>, columns: usize) -> String {
    let ids: Vec<i64> = links.into_iter().map(|link| link.map_or(-1, |id| i64::from(id.0))).collect();
    let (mut parts, mut rest) = (Vec::new(), &*ids);
    while let [first, others @ ..] = rest {
        let step = others.first().map_or(0, |second| second - first);
        let count = 1 + rest.windows(2).take_while(|pair| pair[1] - pair[0] == step).count();
        parts.push(format!("{first},{step},{count}"));
        rest = &rest[count..];
    }
    let links = parts.join(";");
    format!(
        r#"fill="none" pointer-events="all" stroke="{GREY}" stroke-width="0.7" data-links="{links}" data-columns="{columns}""#
    )
}

/// Returns the list of the busiest links, and a note on those left out.
fn busiest(loads: &Loads<'_>) -> (Lanes, Vec<String>) {
    let mut order: Vec<LinkId> = loads.fabric.links().ids().filter(|&link| loads.of(link) > 0.0).collect();
    let lost = |link: LinkId| loads.loads.get(link.index()).map_or(0.0, |load| load.delay_s);
    let delays = order.iter().any(|&link| lost(link) > 0.0);
    order.arrange_by(|&a, &b| lost(b).total_cmp(&lost(a)).then(loads.of(b).total_cmp(&loads.of(a))).then(a.cmp(&b)));
    let lane = |&link: &LinkId| {
        let value = loads.of(link);
        let carried = loads.loads.get(link.index()).map_or(0, |load| load.bytes);
        let capacity = loads.fabric.link(link).capacity;
        Lane {
            name: loads.fabric.link_name(link),
            height: 17.0,
            spans: vec![Span::bar(0.0, value, PALE, (0.1, 0.9))],
            figures: vec![percent(value), Bytes(carried).to_string(), capacity.to_string(), seconds(lost(link))],
            ..Lane::default()
        }
    };
    let mut notes = Vec::new();
    if order.is_empty() {
        notes.push("No link carried anything.".to_owned());
    }
    if order.len() > LISTED {
        let last = loads.of(order[LISTED - 1]);
        let ties = order[LISTED..].iter().take_while(|&&link| loads.of(link) >= last * (1.0 - 1e-9)).count();
        let ties = if ties > 0 && !delays {
            format!("; {ties} of them as busy as the last one listed")
        } else {
            String::new()
        };
        notes.push(format!("and {} more links that carried something{ties}", order.len() - LISTED));
    }
    let columns = [("utilisation [%]", 110.0), ("carried", 90.0), ("bandwidth", 90.0), ("time lost here", 100.0)];
    let columns = match (order.is_empty(), delays) {
        (true, _) => &[],
        (_, true) => &columns[..],
        _ => &columns[..3],
    };
    let name = match (order.is_empty(), delays) {
        (true, _) => "",
        (_, true) => "links on which messages lost most time",
        _ => "busiest links",
    };
    let most = order.iter().map(|&link| loads.of(link)).fold(0.0, f64::max);
    (Lanes::list(name, most, order.iter().take(LISTED).map(lane).collect(), columns), notes)
}
