//! How much each link carried, over the topology.
//!
//! A small fabric is drawn with its links coloured and widened; a torus as maps, one for each direction; and all as
//! strips, one for each level and direction, in which a person sees which of them holds the run back and how uneven
//! it is.

mod detail;
mod groups;
mod maps;
mod strips;

use super::canvas::{Anchor, Canvas, FAINT, GREY, MARGIN, Point, fit};
use super::fabric::LEAST_WIDTH;
use super::failed;
use super::layout::Layout;
use super::scale::{LoadScale, percent};
use super::small::small_member;
use crate::table::seconds;
use hayase::base::Arrange;
use hayase::fabric::Fabric;
use hayase::ids::{Id, LinkId};
use hayase::report::LinkUse;
use hayase::units::Bytes;

/// Most links that are drawn one by one.
const MOST_DRAWN_LINKS: usize = 800;
/// Most nodes of a fabric whose links are drawn one by one.
const MOST_DRAWN_NODES: u32 = 81;
/// Links in the list of the busiest.
const LISTED: usize = 12;

/// What one link carried.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkLoad {
    /// Bytes carried over what it could have carried.
    pub utilisation: f64,
    /// Bytes carried \[B\].
    pub bytes: u64,
    /// Time that messages lost on it \[s\]; 0 where it was not measured.
    pub delay_s: f64,
}

impl From<&LinkUse> for LinkLoad {
    fn from(link: &LinkUse) -> Self {
        Self { utilisation: link.utilisation, bytes: link.bytes, delay_s: link.delay_s }
    }
}

/// The loads of all links, and the scale they are shown on.
struct Loads<'a> {
    fabric: &'a Fabric,
    loads: &'a [LinkLoad],
    scale: LoadScale,
}

impl Loads<'_> {
    /// The utilisation of a link; what is not a number counts as none.
    fn of(&self, link: LinkId) -> f64 {
        let value = self.loads.get(link.index()).map_or(0.0, |load| load.utilisation);
        if value.is_finite() { value } else { 0.0 }
    }

    /// Mean and largest utilisation.
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
    let after = loads.scale.draw(&mut canvas, MARGIN, y, caption);
    if layout.is_some() {
        detail::legend(&mut canvas, MARGIN + after + 50.0, y);
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
    y = busiest(&mut canvas, &loads, y + 12.0);
    canvas.finish(width, y + MARGIN, title)
}

/// The list of the busiest links; returns where it ends.
fn busiest(canvas: &mut Canvas, loads: &Loads<'_>, y: f64) -> f64 {
    let mut order: Vec<LinkId> = loads.fabric.links().ids().filter(|&link| loads.of(link) > 0.0).collect();
    let lost = |link: LinkId| loads.loads.get(link.index()).map_or(0.0, |load| load.delay_s);
    let delays = order.iter().any(|&link| lost(link) > 0.0);
    order.arrange_by(|&a, &b| lost(b).total_cmp(&lost(a)).then(loads.of(b).total_cmp(&loads.of(a))).then(a.cmp(&b)));
    let (bar, name, share, bytes, capacity) = (MARGIN, MARGIN + 130.0, MARGIN + 510.0, MARGIN + 610.0, MARGIN + 720.0);
    let delay = if delays { capacity + 110.0 } else { capacity };
    let mut y = y + 14.0;
    if order.is_empty() {
        canvas.text(MARGIN, y, 12.0, Anchor::Start, "No link carried anything.", "");
        return y;
    }
    let heading = r#"font-weight="bold""#;
    let what = if delays { "links on which messages lost most time" } else { "busiest links" };
    canvas.text(bar, y, 11.0, Anchor::Start, what, heading);
    canvas.text(share, y, 11.0, Anchor::End, "utilisation [%]", heading);
    canvas.text(bytes, y, 11.0, Anchor::End, "carried", heading);
    canvas.text(capacity, y, 11.0, Anchor::End, "bandwidth", heading);
    if delays {
        canvas.text(delay, y, 11.0, Anchor::End, "time lost here", heading);
    }
    canvas.line(Point::new(bar, y + 5.0), Point::new(delay, y + 5.0), &format!(r#"stroke="{FAINT}""#));
    let most = order.iter().map(|&link| loads.of(link)).fold(0.0, f64::max);
    for &link in order.iter().take(LISTED) {
        y += 17.0;
        let value = loads.of(link);
        let fill = format!(r#"fill="{}" stroke="{GREY}" stroke-width="0.5""#, loads.scale.colour(value));
        canvas.rect(bar, y - 9.0, 115.0 * value / most, 10.0, &fill);
        if delays {
            canvas.text(delay, y, 11.0, Anchor::End, &seconds(lost(link)), "");
        }
        canvas.text(name, y, 11.0, Anchor::Start, &fit(&loads.fabric.link_name(link), 11.0, 290.0), "");
        canvas.text(share, y, 11.0, Anchor::End, &percent(value), "");
        let carried = loads.loads.get(link.index()).map_or(0, |load| load.bytes);
        canvas.text(bytes, y, 11.0, Anchor::End, &Bytes(carried).to_string(), "");
        canvas.text(capacity, y, 11.0, Anchor::End, &loads.fabric.link(link).capacity.to_string(), "");
    }
    if order.len() > LISTED {
        y += 16.0;
        let last = loads.of(order[LISTED - 1]);
        let ties = order[LISTED..].iter().take_while(|&&link| loads.of(link) >= last * (1.0 - 1e-9)).count();
        let ties = if ties > 0 && !delays {
            format!("; {ties} of them as busy as the last one listed")
        } else {
            String::new()
        };
        let text = format!("and {} more links that carried something{ties}", order.len() - LISTED);
        canvas.text(name, y, 11.0, Anchor::Start, &text, &format!(r#"fill="{GREY}""#));
    }
    y
}
