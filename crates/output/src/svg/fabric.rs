//! Picture of a fabric: nodes, switches and cables.

use super::canvas::{Anchor, BOLD, Canvas, GREY, INK, MARGIN, Point, wrap};
use super::failed::{self, State};
use super::layout::{Cable, Caption, Layout, Mark};
use super::sign::{Fill, Legend, Pen, Sign, cross, crossbar, legend, one_way};
use super::small::small_member;
use hayase::base::Arrange;
use hayase::fabric::{Fabric, LinkRole};
use hayase::ids::{Id, LinkId, VertexId};

/// Smallest width of a picture \[px\], for its title and legend.
pub(super) const LEAST_WIDTH: f64 = 640.0;

/// Texts above the picture of a fabric.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FabricOptions {
    /// Title (default: the fabric's name).
    pub title: Option<String>,
    /// Line below the title (default: the numbers of nodes, switches and links).
    pub subtitle: Option<String>,
}

/// Picture with a note for its reader.
#[derive(Clone, PartialEq, Debug)]
pub struct Drawing {
    /// The picture as SVG.
    pub svg: String,
    /// Set if only a part, or a smaller fabric of the same family, is drawn. The picture shows this note too.
    pub note: Option<String>,
}

/// Draws a fabric. A fabric that is too large is replaced by a small member of its family, with a note.
pub fn fabric(fabric: &Fabric, options: &FabricOptions) -> Drawing {
    let title = options.title.clone().unwrap_or_else(|| fabric.name().to_owned());
    let mut subtitle = options.subtitle.clone().unwrap_or_else(|| fabric.to_string());
    let failed = failed::words(fabric);
    if let Some(failed) = &failed {
        subtitle += &format!("; {failed}");
    }
    let small = small_member(fabric);
    let drawn = small.as_ref().map_or(fabric, |(small, _)| small);
    let note = small.as_ref().map(|(_, what)| {
        let hidden = failed.is_some() && failed::words(drawn).is_none();
        let hidden = if hidden { " What has failed is not marked in it." } else { "" };
        format!("Too large to draw whole. Drawn is {what}.{hidden}")
    });

    let layout = Layout::new(drawn);
    let note = note.or_else(|| layout.note.clone());
    let width = (layout.width + 2.0 * MARGIN).max(LEAST_WIDTH);
    let mut canvas = Canvas::new();
    let mut y = canvas.heading(&title, &subtitle, width);
    if let Some(note) = &note {
        y = boxed(&mut canvas, note, y, width) + 12.0;
    }
    let offset = Point::new((width - layout.width) / 2.0, y);
    let classes = Classes::of(drawn, &layout);
    for cell in &layout.cells {
        canvas.open(&cell.title);
        let at = cell.at.plus(offset.x, offset.y);
        canvas.rect(
            at.x,
            at.y,
            cell.side,
            cell.side,
            &format!(r##"fill="{}" stroke="#ffffff" stroke-width="0.4""##, cell.fill),
        );
        if cell.failed {
            failed::stroke(&mut canvas, at, cell.side, cell.side);
        }
        canvas.close();
    }
    for cable in &layout.cables {
        let state = State::of(drawn, cable);
        let pen = state.line().unwrap_or_else(|| classes.line(drawn, cable));
        canvas.open(&tooltip(drawn, cable));
        for run in &cable.runs {
            let points: Vec<Point> = run.iter().map(|point| point.plus(offset.x, offset.y)).collect();
            pen.trace(&mut canvas, &points);
            if let Some(backwards) = direction(drawn, cable) {
                one_way(&mut canvas, &points, backwards);
            }
            let parallel = cable.forward.len().max(cable.back.len());
            let marked = parallel > 1 && (layout.cells.is_empty() || !classes.dense);
            if let (true, Some(first), Some(last)) = (marked, points.first(), points.last()) {
                // Cables cross half-way, so the number stands elsewhere.
                let middle = Point::new(first.x * 0.72 + last.x * 0.28, first.y * 0.72 + last.y * 0.28);
                canvas.circle(middle, 7.0, r##"fill="#ffffff""##);
                canvas.text(middle.x, middle.y + 3.0, 9.0, Anchor::Middle, &format!("×{parallel}"), "");
            }
            if let (true, Some(first), Some(last)) = (state.is_crossed(), points.first(), points.last()) {
                let half = if classes.dense { 3.0 } else { 4.0 };
                // The cross stands beside the arrow of the remaining direction.
                let part = if state == State::Partly { 0.4 } else { 0.5 };
                let at = Point::new(first.x + (last.x - first.x) * part, first.y + (last.y - first.y) * part);
                cross(&mut canvas, at, half);
            }
        }
        canvas.close();
    }
    vertices(&mut canvas, drawn, &layout, offset);
    let y = y + layout.height;
    let legends: Legend = classes.legend(drawn).into_iter().chain(failed::legend(drawn)).collect();
    let y = legend(&mut canvas, &legends, y + 20.0, width) - 12.0;
    let y = canvas.remarks(&layout.remarks, y, width);
    Drawing { svg: canvas.finish(width, y + MARGIN, &title), note }
}

/// Size of the note on an incomplete picture \[px\]; it is large so that nobody takes the picture for the
/// whole.
const NOTE: f64 = 18.0;

/// Draws a remark in a frame, in large type; returns the y coordinate below it.
fn boxed(canvas: &mut Canvas, text: &str, y: f64, width: f64) -> f64 {
    let lines = wrap(text, NOTE, (width - 2.0 * MARGIN - 20.0) / BOLD);
    let height = (NOTE + 5.0) * lines.len() as f64 + 14.0;
    canvas.rect(MARGIN, y, width - 2.0 * MARGIN, height, r##"fill="#fff7df" stroke="#c9a94f" rx="4""##);
    for (i, line) in lines.iter().enumerate() {
        let base = y + NOTE + 5.0 + (NOTE + 5.0) * i as f64;
        canvas.text(MARGIN + 10.0, base, NOTE, Anchor::Start, line, r#"font-weight="bold""#);
    }
    y + height
}

/// Draws nodes, switches and their labels.
pub(super) fn vertices(canvas: &mut Canvas, fabric: &Fabric, layout: &Layout, offset: Point) {
    let moved = |point: Point| point.plus(offset.x, offset.y);
    // Smaller marks lie above larger ones: nodes above switches, switches above bars.
    let rank = |mark: &Mark| match mark {
        Mark::Bar(_) => 0,
        Mark::Box(..) => 1,
        Mark::Dot(_) => 2,
        Mark::Hidden => 3,
    };
    let mut order: Vec<usize> = (0..layout.vertices.len()).collect();
    order.arrange_by_key(|&i| (rank(&layout.vertices[i].mark), i));
    for i in order {
        let placed = &layout.vertices[i];
        if placed.mark == Mark::Hidden {
            continue;
        }
        canvas.open_found("switch", i, &fabric.vertex_name(VertexId::from_index(i)));
        let at = moved(placed.at);
        match placed.mark {
            Mark::Dot(radius) => canvas.circle(at, radius, r##"fill="#2f6f8f" stroke="#ffffff" stroke-width="0.6""##),
            Mark::Box(w, h) => canvas.rect(at.x - w, at.y - h, 2.0 * w, 2.0 * h, &SWITCH.attributes()),
            Mark::Bar(to) => {
                crossbar(canvas, at, moved(to));
            }
            Mark::Hidden => {}
        }
        if fabric.is_isolated(VertexId::from_index(i)) {
            cross(canvas, at, if matches!(placed.mark, Mark::Dot(_)) { 4.0 } else { 6.0 });
        }
        canvas.close();
    }
    let labels = layout.vertices.iter().filter_map(|placed| placed.label.as_ref());
    for caption in labels.chain(&layout.captions) {
        let Caption { at, anchor, size, text, strong } = caption;
        let at = moved(*at);
        let fill = if *strong { INK } else { GREY };
        let weight = if *strong { r#" font-weight="bold""# } else { "" };
        // A white edge separates the label from links behind it.
        let halo = r##" stroke="#ffffff" stroke-width="2.5" stroke-linejoin="round" paint-order="stroke""##;
        canvas.text(at.x, at.y, *size, *anchor, text, &format!(r#"fill="{fill}"{weight}{halo}"#));
    }
}

/// Returns the direction of a cable that carries messages one way only: true if from its second end to its
/// first.
fn direction(fabric: &Fabric, cable: &Cable) -> Option<bool> {
    let goes = |links: &[LinkId]| links.iter().any(|&link| !fabric.has_failed(link));
    match (goes(&cable.forward), goes(&cable.back)) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    }
}

/// Returns the tooltip of a cable.
fn tooltip(fabric: &Fabric, cable: &Cable) -> String {
    let all: Vec<String> = cable
        .forward
        .iter()
        .chain(&cable.back)
        .map(|&id| {
            let link = fabric.link(id);
            let state = failed::of_link(fabric, id).unwrap_or_else(|| link.capacity.to_string());
            format!("{}: {state}, {}", fabric.link_name(id), link.latency)
        })
        .collect();
    all.join("; ")
}

/// Kinds of cables by bandwidth, largest first; each has its width, lightness and dashes.
struct Classes {
    capacities: Vec<f64>,
    any_one_way: bool,
    /// Set if there are too many cables for wide lines.
    dense: bool,
    /// Set if there are bars for crossbars; boxes are then routers.
    crossbars: bool,
}

/// Largest number of bandwidths in a legend.
const MOST_CLASSES: usize = 8;
const SWITCH: Fill = Fill("#ffffff", r##"stroke="#1b1f24" stroke-width="1.1" rx="2""##);
const DASHES: [&str; 4] = ["", "7 3", "2.5 2.5", "9 3 2 3"];
const LINES: [&str; 4] = ["#4a5563", "#75808f", "#8d6f48", "#7a5c8a"];

impl Classes {
    fn of(fabric: &Fabric, layout: &Layout) -> Self {
        let cables = &layout.cables;
        let mut capacities: Vec<f64> = cables.iter().map(|cable| capacity(fabric, cable)).collect();
        if !layout.cells.is_empty() {
            // Cables that the matrix counts have a class too.
            capacities.extend(fabric.links().ids().map(|id| built(fabric, id)));
        }
        capacities.arrange_by(|a, b| b.total_cmp(a));
        capacities.dedup();
        let any_one_way = cables.iter().any(|cable| direction(fabric, cable).is_some());
        let crossbars = layout.vertices.iter().any(|placed| matches!(placed.mark, Mark::Bar(_)));
        Self { capacities, any_one_way, dense: cables.len() > 400, crossbars }
    }

    fn pen(&self, class: usize) -> Pen {
        let kind = class.min(DASHES.len() - 1);
        let width = (2.2 - 0.5 * class as f64).max(0.8);
        let width = if self.capacities.len() == 1 { 1.1 } else { width };
        Pen::new(LINES[kind], if self.dense { width * 0.55 } else { width }).dashed(DASHES[kind])
    }

    fn line(&self, fabric: &Fabric, cable: &Cable) -> Pen {
        let capacity = capacity(fabric, cable);
        self.pen(self.capacities.iter().position(|&other| other == capacity).unwrap_or(0))
    }

    /// Returns the meanings of signs and lines.
    fn legend(&self, fabric: &Fabric) -> Legend {
        let switch = if self.crossbars { "router" } else { "switch" };
        let entries = [
            (true, Sign::Node, "node"),
            (fabric.switches() > 0, Sign::Box(SWITCH, 0.0, 1.0), switch),
            (self.crossbars, Sign::Crossbar, "crossbar"),
            (self.any_one_way, Sign::OneWay, "one direction only"),
        ];
        let mut legend: Legend =
            entries.into_iter().filter(|entry| entry.0).map(|(_, sign, text)| (sign, text.to_owned())).collect();
        for (class, &capacity) in self.capacities.iter().enumerate().take(MOST_CLASSES) {
            let more = self.capacities.len() - MOST_CLASSES.min(self.capacities.len());
            let more = match more {
                more if more > 0 && class + 1 == MOST_CLASSES => format!("; and {more} more bandwidths"),
                _ => String::new(),
            };
            legend.push((Sign::Line(self.pen(class)), self.describe(fabric, capacity) + &more));
        }
        legend
    }

    /// Describes a kind of cable: `1 GB/s each way, latency 0 ps: 32 links to and from nodes, 64 links along
    /// x`.
    fn describe(&self, fabric: &Fabric, capacity: f64) -> String {
        let mut latencies = (f64::INFINITY, 0.0f64);
        let mut roles: Vec<(LinkRole, usize)> = Vec::new();
        let same = |id: LinkId| built(fabric, id) == capacity;
        for (_, link) in fabric.links().iter_ids().filter(|(id, link)| link.ends.is_some() && same(*id)) {
            let ps = link.latency.ps();
            latencies = (latencies.0.min(ps), latencies.1.max(ps));
            let role = if link.role == LinkRole::Ejection { LinkRole::Injection } else { link.role };
            match roles.iter_mut().find(|(other, _)| *other == role) {
                Some((_, count)) => *count += 1,
                None => roles.push((role, 1)),
            }
        }
        let roles: Vec<String> = roles
            .into_iter()
            .map(|(role, count)| {
                let plural = if count == 1 { "" } else { "s" };
                match role {
                    LinkRole::Network { tier } => {
                        let what = fabric.family().tier_legend(tier);
                        format!("{count} link{plural} {what}").trim_end().to_owned()
                    }
                    _ => format!("{count} host link{plural}"),
                }
            })
            .collect();
        let latency = |ps: f64| if ps == 0.0 { "0 s".to_owned() } else { hayase::units::Time::from_ps(ps).to_string() };
        let latency = if latencies.0 >= latencies.1 {
            latency(latencies.1)
        } else {
            format!("{} to {}", latency(latencies.0), latency(latencies.1))
        };
        let bandwidth = hayase::units::Bandwidth::from_bytes_per_second(capacity);
        format!("{bandwidth} in each direction, latency {latency}: {}", roles.join(", "))
    }
}

/// Returns the larger bandwidth of the two directions of a cable \[B/s\], per link.
fn capacity(fabric: &Fabric, cable: &Cable) -> f64 {
    let all = cable.forward.iter().chain(&cable.back);
    all.map(|&id| built(fabric, id)).fold(0.0, f64::max)
}

/// Returns the nominal bandwidth of a link \[B/s\].
fn built(fabric: &Fabric, link: LinkId) -> f64 {
    fabric.built_for(link).unwrap_or(fabric.link(link).capacity).bytes_per_second()
}
