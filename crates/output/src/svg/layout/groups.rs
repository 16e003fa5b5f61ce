//! Switches in groups. A small fabric is drawn around a circle. Of a larger one a single group is drawn, with
//! the number of cables between each pair of groups as a matrix.

use super::{Cable, Caption, Cell, Layout, Mark, Placed, cables, caption, short_name};
use crate::svg::canvas::{Anchor, Point, text_width};
use hayase::fabric::Fabric;
use hayase::ids::{Id, LinkId, VertexId};

/// Largest numbers of switches and of cables between them that are drawn one by one.
const MOST_SWITCHES: usize = 150;
const MOST_CABLES: usize = 1500;
/// Largest number of nodes that are drawn one by one.
const MOST_NODES: u32 = 256;
/// Largest number of groups of a matrix.
const MOST_GROUPS: usize = 256;
/// Side of a matrix, if its cells have room \[px\].
const MATRIX: f64 = 620.0;

/// Positions of the switches of a group around its middle, and half the width and height that they take.
struct Cluster {
    switches: Vec<usize>,
    at: Vec<Point>,
    reach: Point,
}

/// Lays out a fabric in groups. `of` is the group of each switch; a group is called `name`.
pub(super) fn layout(fabric: &Fabric, of: &[u32], name: &str) -> Layout {
    let nodes = fabric.nodes() as usize;
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); of.iter().max().map_or(0, |&most| most as usize + 1)];
    for (switch, &group) in of.iter().enumerate() {
        groups[group as usize].push(nodes + switch);
    }
    let all = cables(fabric);
    let between = |cable: &&Cable| cable.ends.0.index() >= nodes && cable.ends.1.index() >= nodes;
    let is_small = of.len() <= MOST_SWITCHES && all.iter().filter(between).count() <= MOST_CABLES;
    let mut hosts = vec![Vec::new(); nodes + of.len()];
    for node in fabric.node_ids() {
        hosts[fabric.leaf_of(node) as usize].push(node.0 as usize);
    }
    if is_small { whole(fabric, &groups, &hosts, name, all) } else { summary(fabric, &groups, &hosts, name, all) }
}

#[expect(clippy::disallowed_methods, reason = "coordinates of a drawing, rounded to a hundredth of a pixel")]
fn polar(centre: Point, angle: f64, radius: f64) -> Point {
    // Angle 0 is at the top; angles grow clockwise.
    centre.plus(radius * angle.sin(), -radius * angle.cos())
}

/// Returns half the width of a switch's box.
fn half(fabric: &Fabric, switch: usize) -> f64 {
    text_width(&short_name(fabric, VertexId::from_index(switch)), 8.0) / 2.0 + 3.0
}

/// Places a group in two rows if its cables join two kinds of switches (those with nodes below), else in a
/// circle.
fn cluster(fabric: &Fabric, switches: &[usize], hosts: &[Vec<usize>], cables: &[Cable], room: f64) -> Cluster {
    let widest = switches.iter().map(|&switch| half(fabric, switch)).fold(8.0, f64::max);
    let place = |vertex: usize| switches.binary_search(&vertex).ok();
    let inner: Vec<(usize, usize)> =
        cables.iter().filter_map(|cable| place(cable.ends.0.index()).zip(place(cable.ends.1.index()))).collect();
    if let Some(upper) = sides(switches.len(), &inner, |i| hosts[switches[i]].is_empty()) {
        let (mut counts, mut at) = ([0.0, 0.0], Vec::new());
        let total = [false, true].map(|side| upper.iter().filter(|&&upper| upper == side).count() as f64);
        let width = total[0].max(total[1]) * (2.0 * widest + 6.0);
        let height = (width * 0.3).clamp(60.0, 300.0);
        for &upper in &upper {
            let row = usize::from(upper);
            let x = width * ((counts[row] + 0.5) / total[row] - 0.5);
            counts[row] += 1.0;
            at.push(Point::new(x, if upper { -height / 2.0 } else { height / 2.0 }));
        }
        let reach = Point::new(width / 2.0 + room, height / 2.0 + 10.0 + room);
        return Cluster { switches: switches.to_vec(), at, reach };
    }
    let count = switches.len() as f64;
    // The name stands in the middle, between the boxes on both sides.
    let radius = match switches.len() {
        1 => 0.0,
        2 => 24.0,
        _ => (count * (2.0 * widest + 4.0) / std::f64::consts::TAU).max(widest + NAME),
    };
    let at = (0..switches.len()).map(|i| polar(Point::default(), std::f64::consts::TAU * i as f64 / count, radius));
    let reach = radius + widest.max(10.0) + room;
    Cluster { switches: switches.to_vec(), at: at.collect(), reach: Point::new(reach, reach) }
}

/// Divides switches into those with nodes (false) and those without (true), if every cable joins the two
/// kinds. Returns `None` otherwise, and if all switches are of one kind.
fn sides(count: usize, cables: &[(usize, usize)], bare: impl Fn(usize) -> bool) -> Option<Vec<bool>> {
    if cables.is_empty() || !(0..count).any(&bare) || (0..count).all(&bare) {
        return None;
    }
    let sides: Vec<bool> = (0..count).map(bare).collect();
    cables.iter().all(|&(a, b)| sides[a] != sides[b]).then_some(sides)
}

/// Places the nodes of a switch beside it, away from the middle of its group.
fn place_hosts(layout: &mut Layout, fabric: &Fabric, hosts: &[usize], switch: Point, middle: Point) {
    let (dx, dy) = (switch.x - middle.x, switch.y - middle.y);
    let angle = if dx == 0.0 && dy == 0.0 { std::f64::consts::PI } else { dx.atan2(-dy) };
    let step = (15.0 / HOSTS).min(1.9 / hosts.len().max(1) as f64);
    for (i, &node) in hosts.iter().enumerate() {
        let turn = angle + step * (i as f64 - (hosts.len() as f64 - 1.0) / 2.0);
        let text = short_name(fabric, VertexId::from_index(node));
        let fits = text_width(&text, 7.0) < step * (HOSTS + 10.0) * 1.4;
        let label = fits.then(|| Caption {
            size: 7.0,
            ..caption(polar(switch, turn, HOSTS + 10.0).plus(0.0, 2.5), Anchor::Middle, text)
        });
        layout.vertices[node] = Placed { at: polar(switch, turn, HOSTS), mark: Mark::Dot(3.0), label };
    }
}

/// Half the width of a group's name \[px\].
const NAME: f64 = 34.0;
/// Distance of nodes from their switch \[px\].
const HOSTS: f64 = 30.0;

fn boxed(fabric: &Fabric, switch: usize, at: Point) -> Placed {
    let text = short_name(fabric, VertexId::from_index(switch));
    let label = Some(Caption { size: 8.0, ..caption(at.plus(0.0, 2.8), Anchor::Middle, text) });
    Placed { at, mark: Mark::Box(half(fabric, switch), 7.0), label }
}

/// Writes the number of nodes of a switch below it.
fn count_hosts(layout: &mut Layout, hosts: usize, at: Point) {
    let text = if hosts == 1 { "1 node".to_owned() } else { format!("{hosts} nodes") };
    if hosts > 0 {
        layout.captions.push(Caption { size: 7.0, ..caption(at.plus(0.0, 15.0), Anchor::Middle, text) });
    }
}

fn hidden(count: usize) -> Vec<Placed> {
    vec![Placed { at: Point::default(), mark: Mark::Hidden, label: None }; count]
}

fn whole(fabric: &Fabric, groups: &[Vec<usize>], hosts: &[Vec<usize>], name: &str, mut all: Vec<Cable>) -> Layout {
    let nodes = fabric.nodes() as usize;
    let drawn = fabric.nodes() <= MOST_NODES;
    let room = if drawn { HOSTS + 14.0 } else { 14.0 };
    let clusters: Vec<Cluster> = groups.iter().map(|switches| cluster(fabric, switches, hosts, &all, room)).collect();
    let widest = clusters.iter().map(|cluster| cluster.reach.x.max(cluster.reach.y)).fold(0.0, f64::max);
    let count = clusters.len() as f64;
    let radius = match clusters.len() {
        0 | 1 => 0.0,
        2 => widest + 20.0,
        _ => (2.0 * widest + 8.0) / (2.0 * polar_half(count)),
    };
    let size = 2.0 * (radius + widest);
    let centre = Point::new(size / 2.0, size / 2.0);
    let mut layout = Layout { width: size, height: size, ..Layout::default() };
    layout.vertices = hidden(hosts.len());
    for (i, Cluster { switches, at, .. }) in clusters.iter().enumerate() {
        let middle = polar(centre, std::f64::consts::TAU * i as f64 / count, radius);
        for (&switch, from) in switches.iter().zip(at) {
            let at = middle.plus(from.x, from.y);
            layout.vertices[switch] = boxed(fabric, switch, at);
            if drawn {
                let away = if switches.len() == 1 { centre } else { middle };
                place_hosts(&mut layout, fabric, &hosts[switch], at, away);
            } else {
                count_hosts(&mut layout, hosts[switch].len(), at);
            }
        }
        if switches.len() > 2 {
            let middle = middle.plus(0.0, 3.5);
            let text = format!("{name} {i}");
            layout.captions.push(Caption { strong: true, ..caption(middle, Anchor::Middle, text) });
        }
    }
    if !drawn {
        all.retain(|cable| cable.ends.0.index() >= nodes && cable.ends.1.index() >= nodes);
        layout.note = Some(format!("Too large to draw every node: {nodes} nodes are counted at their switches."));
    }
    layout.join(all);
    layout
}

/// Returns the sine of half the angle between neighbours around a circle.
#[expect(clippy::disallowed_methods, reason = "coordinates of a drawing, rounded to a hundredth of a pixel")]
fn polar_half(count: f64) -> f64 {
    (std::f64::consts::PI / count).sin()
}

/// Lays out the group with the most internal cables (the first of them) and the matrix of all groups.
fn summary(fabric: &Fabric, groups: &[Vec<usize>], hosts: &[Vec<usize>], name: &str, mut all: Vec<Cable>) -> Layout {
    let nodes = fabric.nodes() as usize;
    let mut of = vec![usize::MAX; hosts.len()];
    for (group, switches) in groups.iter().enumerate() {
        switches.iter().for_each(|&switch| of[switch] = group);
    }
    // Number of cables, and of cables with a failed direction.
    let mut counts = vec![(0usize, 0usize); groups.len() * groups.len()];
    for cable in &all {
        let (a, b) = (of[cable.ends.0.index()], of[cable.ends.1.index()]);
        if a != usize::MAX && b != usize::MAX {
            let parallel = cable.forward.len().max(cable.back.len());
            let failed = |links: &[LinkId]| links.iter().filter(|&&link| fabric.has_failed(link)).count();
            let failed = failed(&cable.forward).max(failed(&cable.back));
            let mut add = |at: usize| {
                counts[at].0 += parallel;
                counts[at].1 += failed;
            };
            add(a * groups.len() + b);
            if a != b {
                add(b * groups.len() + a);
            }
        }
    }
    let inside = |group: usize| counts[group * groups.len() + group].0;
    let most = (0..groups.len()).max_by_key(|&group| (inside(group), std::cmp::Reverse(group))).unwrap_or(0);
    all.retain(|cable| of[cable.ends.0.index()] == most && of[cable.ends.1.index()] == most);
    let Cluster { switches, at, reach } = cluster(fabric, &groups[most], hosts, &all, 16.0);

    let shown = groups.len().min(MOST_GROUPS);
    let cell = (MATRIX / shown as f64).min(34.0);
    let (top, aside) = (40.0, 70.0);
    let matrix = Point::new(2.0 * reach.x + aside, top + 16.0);
    let side = cell * shown as f64;
    let mut layout = Layout {
        width: matrix.x + side + 40.0,
        height: (2.0 * reach.y + top).max(matrix.y + side + 60.0),
        ..Layout::default()
    };
    layout.vertices = hidden(hosts.len());
    let middle = Point::new(reach.x, top + reach.y);
    for (&switch, from) in switches.iter().zip(at) {
        let at = middle.plus(from.x, from.y);
        layout.vertices[switch] = boxed(fabric, switch, at);
        count_hosts(&mut layout, hosts[switch].len(), at);
    }
    let strong = |at, text: String| Caption { strong: true, size: 12.0, ..caption(at, Anchor::Start, text) };
    let plural = if switches.len() == 1 { "" } else { "es" };
    layout.captions.push(strong(Point::new(0.0, 14.0), format!("{name} {most}: {} switch{plural}", switches.len())));
    layout.captions.push(strong(Point::new(matrix.x, 14.0), format!("cables between and inside {name}s")));
    self::matrix(&mut layout, &counts, groups.len(), shown, (matrix, cell), name);
    layout.note = Some(format!(
        "Too large to draw whole: {name} {most} of {} with the links inside it, and how many cables each pair of \
         {name}s has. {nodes} nodes are counted at their switches.",
        groups.len()
    ));
    layout.join(all);
    layout
}

fn matrix(
    layout: &mut Layout,
    counts: &[(usize, usize)],
    groups: usize,
    shown: usize,
    (corner, cell): (Point, f64),
    name: &str,
) {
    let at = |a: usize, b: usize| counts[a * groups + b].0;
    // Numbers of cables inside groups differ in size from those between groups, so there are two scales.
    let most =
        |inside: bool| (0..shown * shown).map(|i| (i / shown, i % shown)).filter(move |(a, b)| (a == b) == inside);
    let largest = [false, true].map(|inside| most(inside).map(|(a, b)| at(a, b)).max().unwrap_or(0));
    let least = most(false).map(|(a, b)| at(a, b)).min().unwrap_or(0);
    for a in 0..shown {
        for b in 0..shown {
            let count = at(a, b);
            let share = count as f64 / largest[usize::from(a == b)].max(1) as f64;
            let fill = if a == b { shade(share, [120, 120, 128]) } else { shade(share, [31, 88, 140]) };
            let place = corner.plus(cell * b as f64, cell * a as f64);
            let failed = counts[a * groups + b].1;
            let of_them = if failed > 0 { format!(", {failed} of them failed") } else { String::new() };
            let title = if a == b {
                format!("inside {name} {a}: {count} cables{of_them}")
            } else {
                format!("{name} {a} to {name} {b}: {count} cables{of_them}")
            };
            layout.cells.push(Cell { at: place, side: cell, fill, title, failed: failed > 0 });
            if count > 0 && cell > 7.0 * (count.max(1).ilog10() + 1) as f64 + 4.0 {
                let text = Point::new(place.x + cell / 2.0, place.y + cell / 2.0 + 3.5);
                let size = if cell < 18.0 { 8.0 } else { 10.0 };
                layout.captions.push(Caption { size, ..caption(text, Anchor::Middle, count.to_string()) });
            }
        }
    }
    let every = (0..).map(|power| [1, 2, 5][power % 3] * 10usize.pow(power as u32 / 3));
    let every = every.into_iter().find(|&every| every as f64 * cell >= 20.0).unwrap_or(1);
    for group in (0..shown).step_by(every) {
        let along = cell * (group as f64 + 0.5);
        layout.captions.push(caption(corner.plus(along, -4.0), Anchor::Middle, group.to_string()));
        layout.captions.push(caption(corner.plus(-5.0, along + 3.5), Anchor::End, group.to_string()));
    }
    let below = corner.plus(0.0, cell * shown as f64 + 18.0);
    let range = if least == largest[0] { least.to_string() } else { format!("{least} to {}", largest[0]) };
    let text = match groups {
        1 => format!("{} cables inside the {name}", largest[1]),
        _ => format!("{range} cables a pair of {name}s (blue), up to {} inside one (grey)", largest[1]),
    };
    let any_failed = layout.cells.iter().any(|cell| cell.failed);
    let text = if any_failed { format!("{text}; a red stroke where any has failed") } else { text };
    layout.captions.push(caption(below, Anchor::Start, text));
    if shown < groups {
        let text = format!("the first {shown} of {groups} {name}s");
        layout.captions.push(caption(below.plus(0.0, 15.0), Anchor::Start, text));
    }
}

/// Returns a colour between white and `colour`, light enough for text on it.
fn shade(share: f64, colour: [u8; 3]) -> String {
    let part = |full: u8| (255.0 - (255.0 - f64::from(full)) * share * 0.6).round() as u8;
    format!("#{:02x}{:02x}{:02x}", part(colour[0]), part(colour[1]), part(colour[2]))
}
