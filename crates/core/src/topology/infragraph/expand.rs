//! Expansion of an infrastructure to a fabric: every slice and count becomes vertices and links.

use std::iter;

use rustc_hash::{FxHashMap, FxHashSet};

use super::InfragraphSpec;
use super::model::{Edge, Link, Model, Rate, Scheme};
use super::slice::{Part, Progression};
use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Span};
use crate::fabric::{Fabric, FabricBuilder, Irregular, Labels, LinkRole};
use crate::ids::VertexId;
use crate::topology::common::{MOST_LINKS, MOST_NODES};
use crate::units::{Bandwidth, Time};

/// Largest depth of devices that are parts of devices.
const DEPTH: usize = 16;
/// Largest total length of vertex names [B].
const MOST_TEXT: u64 = 1 << 30;
const MOST_MISTAKES: usize = 20;

/// Device with all its parts; vertex numbers are relative to its first vertex.
#[derive(Default)]
struct Layout {
    /// By component: its first vertex, the vertices of one copy, and the device if it is one.
    components: Vec<(u32, u32, Option<usize>)>,
    by_name: FxHashMap<String, usize>,
    /// Number of vertices, of pairs joined by inner edges, and of bytes in names.
    vertices: u64,
    pairs: u64,
    text: u64,
    edges: Vec<ResolvedEdge>,
}

impl Layout {
    /// Returns true if the device is small enough to be part of another; otherwise a mistake has been noted.
    fn is_small_enough(&self) -> bool {
        self.vertices <= MOST_NODES && self.pairs <= MOST_LINKS && self.text <= MOST_TEXT
    }
}

/// Vertices `base + one number of each progression`; the last progression varies fastest.
struct Slices {
    base: u64,
    parts: Vec<Progression>,
}

impl Slices {
    fn len(&self) -> u64 {
        self.parts.iter().fold(1, |len, part| len.saturating_mul(part.len))
    }

    fn at(&self, mut index: u64) -> u32 {
        let mut vertex = self.base as i64;
        for part in self.parts.iter().rev() {
            vertex += part.start + part.step * (index % part.len) as i64;
            index /= part.len;
        }
        vertex as u32
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).map(|index| self.at(index))
    }
}

/// Edge whose ends have been resolved to vertices.
struct ResolvedEdge {
    ends: [Slices; 2],
    scheme: Scheme,
    /// Number of the link among those of all devices and of the infrastructure.
    link: u32,
}

impl ResolvedEdge {
    /// Returns the largest number of pairs that the edge can join.
    fn pairs(&self) -> u64 {
        let [first, second] = &self.ends;
        match self.scheme {
            Scheme::One2One => first.len().min(second.len()),
            Scheme::Many2Many => first.len().saturating_mul(second.len()),
            Scheme::Ring => first.len().saturating_add(second.len()),
        }
    }

    /// Calls `join` with each pair, except those of a vertex with itself.
    fn each(&self, mut join: impl FnMut(u32, u32)) {
        let mut join = |a: u32, b: u32| {
            if a != b {
                join(a, b);
            }
        };
        let [first, second] = &self.ends;
        match self.scheme {
            Scheme::One2One => first.iter().zip(second.iter()).for_each(|(a, b)| join(a, b)),
            Scheme::Many2Many => first.iter().for_each(|a| second.iter().for_each(|b| join(a, b))),
            Scheme::Ring => {
                let mut seen = FxHashSet::default();
                let ring: Vec<u32> = first.iter().chain(second.iter()).filter(|vertex| seen.insert(*vertex)).collect();
                let next = ring.iter().skip(1).chain(&ring[..1]);
                ring.iter().zip(next).for_each(|(&a, &b)| join(a, b));
            }
        }
    }
}

struct Expansion<'a> {
    model: &'a Model,
    devices: FxHashMap<&'a str, usize>,
    /// Layout of each device; `None` until it is laid out.
    layouts: Vec<Option<Layout>>,
    /// Number of each device's first link among all links.
    first_link: Vec<u32>,
    mistakes: Vec<Diagnostic>,
}

/// Builds the fabric of an infrastructure.
pub(super) fn fabric(model: &Model, spec: &InfragraphSpec) -> Result<Fabric, Vec<Diagnostic>> {
    let devices = model.devices.iter().enumerate().map(|(index, device)| (&*device.name, index)).collect();
    let mut first_link = Vec::with_capacity(model.devices.len());
    let mut links: Vec<&Link> = Vec::new();
    for device in &model.devices {
        first_link.push(links.len() as u32);
        links.extend(&device.links);
    }
    let first_of_all = links.len() as u32;
    links.extend(&model.links);
    let layouts = iter::repeat_with(|| None).take(model.devices.len()).collect();
    let mut expansion = Expansion { model, devices, layouts, first_link, mistakes: Vec::new() };
    for device in 0..model.devices.len() {
        expansion.lay_out(device, &mut Vec::new());
    }
    let instances = expansion.instances();
    expansion.none()?;
    let (joints, vertices) = expansion.between(&instances, first_of_all);
    expansion.none()?;
    let pairs = expansion.pairs(&instances, &joints);
    expansion.draw(&instances, vertices, &pairs, &links, spec)
}

/// Instance with its device and its first vertex.
struct PlacedInstance {
    device: usize,
    first: u64,
    count: u32,
}

impl<'a> Expansion<'a> {
    fn wrong(&mut self, at: Span, code: &'static str, message: String, label: impl Into<String>) {
        if self.mistakes.len() < MOST_MISTAKES {
            self.mistakes.push(Diagnostic::new(code, message).at(at).label(label));
        }
    }

    fn none(&mut self) -> Result<(), Vec<Diagnostic>> {
        if self.mistakes.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.mistakes)) }
    }

    fn layout(&self, device: usize) -> Option<&Layout> {
        self.layouts[device].as_ref()
    }

    /// Lays out a device, after the devices that are parts of it. `above` lists the devices that contain it.
    fn lay_out(&mut self, device: usize, above: &mut Vec<usize>) {
        if self.layouts[device].is_some() {
            return;
        }
        let model = self.model;
        let it = &model.devices[device];
        if above.contains(&device) {
            let message = format!("device `{}` is a part of itself", it.name);
            return self.wrong(it.span, "endless-device", message, "leave out a component of the kind `device`");
        }
        if above.len() >= DEPTH {
            let message = format!("device `{}` is a part of {DEPTH} others, one in the other", it.name);
            return self.wrong(it.span, "too-deep", message, "fewer levels are expected");
        }
        above.push(device);
        let mut layout = Layout::default();
        for component in &it.components {
            let mut each = (1, 0, 0);
            let mut inner = None;
            if component.kind.is_none() {
                let Some(&child) = self.devices.get(&*component.name) else {
                    let message = format!("there is no device `{}`", component.name);
                    let label = "a component of the kind `device` has the name of a device";
                    self.wrong(component.span, "unknown-name", message, label);
                    continue;
                };
                self.lay_out(child, above);
                let Some(child_layout) = self.layout(child).filter(|layout| layout.is_small_enough()) else { continue };
                each = (child_layout.vertices, child_layout.pairs, child_layout.text);
                inner = Some(child);
            }
            let count = u64::from(component.count);
            let label = (component.name.len() as u64 + 12).saturating_mul(each.0);
            layout.components.push((layout.vertices as u32, each.0 as u32, inner));
            layout.by_name.insert(component.name.clone(), layout.components.len() - 1);
            layout.vertices = layout.vertices.saturating_add(each.0.saturating_mul(count));
            layout.pairs = layout.pairs.saturating_add(each.1.saturating_mul(count));
            layout.text = layout.text.saturating_add(label.saturating_add(each.2).saturating_mul(count));
            if !self.fits((layout.vertices, layout.pairs, layout.text), component.span) {
                break;
            }
        }
        above.pop();
        let is_whole = layout.components.len() == it.components.len();
        self.layouts[device] = Some(layout);
        if !is_whole {
            return;
        }
        let first = self.first_link[device];
        for edge in &it.edges {
            let Some(joint) = self.joint(edge, first, |this, parts| this.inside(device, parts, 0)) else { continue };
            let pairs = joint.pairs();
            let Some(layout) = &mut self.layouts[device] else { return };
            layout.edges.push(joint);
            layout.pairs = layout.pairs.saturating_add(pairs);
            let size = (layout.vertices, layout.pairs, layout.text);
            if !self.fits(size, edge.span) || self.mistakes.len() >= MOST_MISTAKES {
                return;
            }
        }
    }

    /// Returns true if vertices, pairs and bytes of names fit in memory.
    fn fits(&mut self, (vertices, pairs, text): (u64, u64, u64), span: Span) -> bool {
        let fits = vertices <= MOST_NODES && pairs <= MOST_LINKS && text <= MOST_TEXT;
        if !fits {
            let most = format!("at most {MOST_NODES} components and {MOST_LINKS} links, and 1 GiB of their names");
            let message = "with this the infrastructure is too large".to_owned();
            self.wrong(span, "too-large", message, most);
        }
        fits
    }

    fn joint(
        &mut self,
        edge: &Edge,
        first_link: u32,
        mut find: impl FnMut(&mut Self, &[Part]) -> Option<Slices>,
    ) -> Option<ResolvedEdge> {
        let ends = [find(self, &edge.ends[0]), find(self, &edge.ends[1])];
        let [Some(first), Some(second)] = ends else { return None };
        Some(ResolvedEdge { ends: [first, second], scheme: edge.scheme, link: first_link + edge.link })
    }

    /// Returns the numbers out of `count` that the slice of a part selects.
    fn chosen(&mut self, part: &Part, count: u32) -> Option<Progression> {
        let chosen = part.slice.of(count);
        if chosen.is_none() {
            let message = format!("this slice of `{}` chooses none, or more than there are", part.name);
            let label = match count {
                0 => "there are none".to_owned(),
                count => format!("there are {count}: from 0 to {}", count - 1),
            };
            self.wrong(part.span, "bad-slice", message, label);
        }
        chosen
    }

    /// Returns the vertices that parts select in a device whose first vertex is `base`.
    fn inside(&mut self, mut device: usize, parts: &[Part], base: u64) -> Option<Slices> {
        let model = self.model;
        let mut slices = Slices { base, parts: Vec::with_capacity(parts.len()) };
        for (level, part) in parts.iter().enumerate() {
            let owner = &model.devices[device];
            let layout = self.layout(device)?;
            let Some(&index) = layout.by_name.get(&part.name) else {
                let message = format!("device `{}` has no component `{}`", owner.name, part.name);
                let names: Vec<&str> = owner.components.iter().take(8).map(|component| &*component.name).collect();
                let label = format!("one of its components: {}", names.join(", "));
                self.wrong(part.span, "unknown-name", message, label);
                return None;
            };
            let (first, size, inner) = layout.components[index];
            let of = self.chosen(part, owner.components[index].count)?;
            let (start, step) = (i64::from(first) + of.start * i64::from(size), of.step * i64::from(size));
            slices.parts.push(Progression { start, step, len: of.len });
            let is_last = level + 1 == parts.len();
            match inner {
                Some(child) if !is_last => device = child,
                Some(_) => {
                    let message = format!("`{}` is a device: edges join its components", part.name);
                    self.wrong(part.span, "bad-end", message, format!("{}[0].component[0] is expected", part.name));
                    return None;
                }
                None if !is_last => {
                    let message = format!("component `{}` is not a device, and has no components", part.name);
                    self.wrong(part.span, "bad-end", message, "this is the last name of an end");
                    return None;
                }
                None => {}
            }
        }
        Some(slices)
    }

    /// Places the instances one after the other.
    fn instances(&mut self) -> Vec<PlacedInstance> {
        let model = self.model;
        let mut placed = Vec::with_capacity(model.instances.len());
        let mut size = (0_u64, 0_u64, 0_u64);
        for instance in &model.instances {
            let Some(&device) = self.devices.get(&*instance.device) else {
                let message = format!("there is no device `{}`", instance.device);
                self.wrong(instance.device_span, "unknown-name", message, "the name of one of `devices`");
                continue;
            };
            let Some(layout) = self.layout(device).filter(|layout| layout.is_small_enough()) else { continue };
            let count = u64::from(instance.count);
            placed.push(PlacedInstance { device, first: size.0, count: instance.count });
            let text = layout.text.saturating_add((instance.name.len() as u64 + 12).saturating_mul(layout.vertices));
            let (vertices, pairs) = (layout.vertices, layout.pairs);
            size.0 = size.0.saturating_add(vertices.saturating_mul(count));
            size.1 = size.1.saturating_add(pairs.saturating_mul(count));
            size.2 = size.2.saturating_add(text.saturating_mul(count));
            if !self.fits(size, instance.span) {
                break;
            }
        }
        placed
    }

    /// Returns the edges between instances and the number of vertices.
    fn between(&mut self, instances: &[PlacedInstance], first_link: u32) -> (Vec<ResolvedEdge>, usize) {
        let model = self.model;
        let by_name: FxHashMap<&str, usize> =
            model.instances.iter().enumerate().map(|(index, instance)| (&*instance.name, index)).collect();
        let mut size = (0, 0_u64, 0);
        for placed in instances {
            let Some(layout) = self.layout(placed.device) else { continue };
            size.0 += layout.vertices * u64::from(placed.count);
            size.1 += layout.pairs * u64::from(placed.count);
        }
        let mut joints = Vec::with_capacity(model.edges.len());
        for edge in &model.edges {
            let joint = self.joint(edge, first_link, |this, parts| {
                let (part, rest) = parts.split_first()?;
                let Some(&instance) = by_name.get(&*part.name) else {
                    let message = format!("there is no instance `{}`", part.name);
                    this.wrong(part.span, "unknown-name", message, "the name of one of `instances`");
                    return None;
                };
                let placed = &instances[instance];
                let of = this.chosen(part, placed.count)?;
                let each = this.layout(placed.device)?.vertices as i64;
                let mut slices = this.inside(placed.device, rest, placed.first)?;
                slices.parts.insert(0, Progression { start: of.start * each, step: of.step * each, len: of.len });
                Some(slices)
            });
            if self.mistakes.len() >= MOST_MISTAKES {
                break;
            }
            let Some(joint) = joint else { continue };
            size.1 = size.1.saturating_add(joint.pairs());
            joints.push(joint);
            if !self.fits(size, edge.span) {
                break;
            }
        }
        (joints, size.0 as usize)
    }

    /// Returns the joined pairs of vertices, each once, with the link of the last edge that joins them.
    fn pairs(&self, instances: &[PlacedInstance], joints: &[ResolvedEdge]) -> Vec<[u32; 3]> {
        let mut pairs = Vec::new();
        for placed in instances {
            let Some(layout) = self.layout(placed.device).filter(|layout| layout.pairs > 0) else { continue };
            for index in 0..u64::from(placed.count) {
                self.pairs_inside(placed.device, (placed.first + index * layout.vertices) as u32, &mut pairs);
            }
        }
        for joint in joints {
            joint.each(|a, b| pairs.push([a.min(b), a.max(b), joint.link]));
        }
        // The sort is stable: the last one of equal pairs stays last.
        pairs.arrange_by_key(|pair| [pair[0], pair[1]]);
        pairs.reverse();
        pairs.dedup_by_key(|pair| [pair[0], pair[1]]);
        pairs.reverse();
        pairs
    }

    fn pairs_inside(&self, device: usize, base: u32, pairs: &mut Vec<[u32; 3]>) {
        let Some(layout) = self.layout(device) else { return };
        let components = &self.model.devices[device].components;
        for (component, &(first, size, inner)) in components.iter().zip(&layout.components) {
            let has_pairs = |child: &usize| self.layout(*child).is_some_and(|layout| layout.pairs > 0);
            let Some(child) = inner.filter(has_pairs) else { continue };
            for index in 0..component.count {
                self.pairs_inside(child, base + first + index * size, pairs);
            }
        }
        for joint in &layout.edges {
            joint.each(|a, b| pairs.push([base + a.min(b), base + a.max(b), joint.link]));
        }
    }

    /// Calls `name` with every vertex's kind, component and name, in the order of their numbers.
    fn each_vertex(&self, instances: &[PlacedInstance], mut name: impl FnMut(&'a str, &'a str, &str)) {
        for (instance, placed) in self.model.instances.iter().zip(instances) {
            let Some(_) = self.layout(placed.device).filter(|layout| layout.vertices > 0) else { continue };
            for index in 0..placed.count {
                self.name_inside(placed.device, &mut format!("{}.{index}", instance.name), &mut name);
            }
        }
    }

    fn name_inside(&self, device: usize, path: &mut String, name: &mut impl FnMut(&'a str, &'a str, &str)) {
        let Some(layout) = self.layout(device) else { return };
        let components = &self.model.devices[device].components;
        let length = path.len();
        for (component, &(_, size, inner)) in components.iter().zip(&layout.components) {
            for index in 0..if size > 0 { component.count } else { 0 } {
                path.push_str(&format!(".{}.{index}", component.name));
                match (&component.kind, inner) {
                    (Some(kind), _) => name(kind, &component.name, path),
                    (None, Some(child)) => self.name_inside(child, path, name),
                    (None, None) => {}
                }
                path.truncate(length);
            }
        }
    }

    /// Returns the kind or name of the components that are nodes. `used` marks the vertices that edges join.
    fn nodes(
        &self,
        instances: &[PlacedInstance],
        used: &[bool],
        spec: &InfragraphSpec,
    ) -> Result<String, Vec<Diagnostic>> {
        let mut kinds: Vec<&str> = Vec::new();
        let (mut vertex, mut is_there) = (0, false);
        self.each_vertex(instances, |kind, component, _| {
            if used[vertex] {
                is_there |=
                    spec.nodes.as_ref().is_some_and(|nodes| nodes.as_str() == kind || nodes.as_str() == component);
                if !kinds.contains(&kind) && kinds.len() < 64 {
                    kinds.push(kind);
                }
            }
            vertex += 1;
        });
        let found = if kinds.is_empty() { "edges join nothing".to_owned() } else { kinds.join(", ") };
        match &spec.nodes {
            Some(nodes) if is_there => Ok(nodes.to_string()),
            Some(nodes) => {
                let message = format!("no component that an edge joins is `{}`", nodes.as_str());
                let label = format!("a kind of components, or a component's name; there are: {found}");
                Err(vec![Diagnostic::new("no-nodes", message).at_value(nodes).label(label)])
            }
            None => ["xpu", "cpu", "nic"].into_iter().find(|kind| kinds.contains(kind)).map(str::to_owned).ok_or_else(
                || {
                    let message = "no xpu, cpu or nic is joined by an edge, so that there is nowhere to send from";
                    let help = "say which components are nodes: --set topology.infragraph.nodes=memory";
                    let mistake = Diagnostic::new("no-nodes", message).at(self.model.span);
                    vec![mistake.label(format!("there are: {found}")).help(help)]
                },
            ),
        }
    }

    fn draw(
        &self,
        instances: &[PlacedInstance],
        vertices: usize,
        pairs: &[[u32; 3]],
        links: &[&Link],
        spec: &InfragraphSpec,
    ) -> Result<Fabric, Vec<Diagnostic>> {
        if 2 * pairs.len() as u64 > MOST_LINKS {
            let message = format!("this infrastructure has {} links", 2 * pairs.len());
            let mistake = Diagnostic::new("too-large", message).at(self.model.span);
            return Err(vec![mistake.label(format!("at most {MOST_LINKS} are expected"))]);
        }
        let mut used = vec![false; vertices];
        let mut is_made_of = vec![false; links.len()];
        for &[a, b, link] in pairs {
            (used[a as usize], used[b as usize]) = (true, true);
            is_made_of[link as usize] = true;
        }
        let chosen = self.nodes(instances, &used, spec)?;
        let speeds = speeds(links, &is_made_of, spec)?;
        // Nodes come first.
        let (mut nodes, mut switches) = (Vec::new(), Vec::new());
        let mut at = vec![u32::MAX; vertices];
        let mut is_node = vec![false; vertices];
        let mut vertex = 0;
        self.each_vertex(instances, |kind, component, name| {
            if used[vertex] {
                is_node[vertex] = kind == chosen || component == chosen;
                let names = if is_node[vertex] { &mut nodes } else { &mut switches };
                at[vertex] = names.len() as u32;
                names.push(name.to_owned());
            }
            vertex += 1;
        });
        let count = nodes.len() as u32;
        let mut crossed = vec![false; nodes.len()];
        for &[a, b, _] in pairs {
            let (a, b) = (a as usize, b as usize);
            if is_node[a] && is_node[b] {
                (crossed[at[a] as usize], crossed[at[b] as usize]) = (true, true);
            }
        }
        let mut builder = FabricBuilder::new(format!("infragraph {}", self.model.name), count, switches.len() as u32);
        let number = |vertex: u32| {
            let vertex = vertex as usize;
            if is_node[vertex] { at[vertex] } else { count + at[vertex] }
        };
        let is_host = |vertex: u32| vertex < count && !crossed[vertex as usize];
        for &[a, b, link] in pairs {
            let (a, b) = (number(a), number(b));
            let (bandwidth, latency) = speeds[link as usize];
            for (from, to) in [(a, b), (b, a)] {
                let role = match (is_host(from), is_host(to)) {
                    (true, _) => LinkRole::Injection,
                    (_, true) => LinkRole::Ejection,
                    _ => LinkRole::Network { tier: 0 },
                };
                builder.link(VertexId(from), VertexId(to), bandwidth, latency, role);
            }
        }
        nodes.append(&mut switches);
        builder.labels(Labels { vertices: nodes, links: Vec::new() });
        Ok(builder.finish(Irregular))
    }
}

/// Returns the bandwidth and latency of each link that edges use.
fn speeds(links: &[&Link], used: &[bool], spec: &InfragraphSpec) -> Result<Vec<(Bandwidth, Time)>, Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    let mut speeds = Vec::with_capacity(links.len());
    for (link, &is_used) in links.iter().zip(used) {
        let latency = link.latency.or(spec.latency.as_deref().copied()).unwrap_or(Time::ZERO);
        let bandwidth = match (link.rate, spec.transfer.as_deref(), spec.bandwidth.as_deref()) {
            (Rate::Bandwidth(bandwidth), _, _) | (Rate::None, _, Some(&bandwidth)) => bandwidth,
            (Rate::Transfers(per_second, _), Some(bytes), _) if bytes.0 > 0 => {
                Bandwidth::from_bytes_per_second(per_second * bytes.0 as f64)
            }
            _ if !is_used || mistakes.len() >= MOST_MISTAKES => Bandwidth::default(),
            (Rate::Transfers(_, span), _, _) => {
                let message = format!("nothing says what a transfer on link `{}` carries", link.name);
                let help = "give it, 2 B on 16 lanes: --set topology.infragraph.transfer=\"2 B\"";
                let mistake =
                    Diagnostic::new("no-bandwidth", message).at(span).label("bytes per transfer are expected");
                mistakes.push(mistake.help(help));
                Bandwidth::default()
            }
            (Rate::None, _, None) => {
                let mistake =
                    Diagnostic::new("no-bandwidth", format!("link `{}` has no bandwidth", link.name)).at(link.span);
                let label =
                    "physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 100}} is expected";
                let help = "or give all such links one: --set topology.infragraph.bandwidth=\"12.5 GB/s\"";
                mistakes.push(mistake.label(label).help(help));
                Bandwidth::default()
            }
        };
        speeds.push((bandwidth, latency));
    }
    if mistakes.is_empty() { Ok(speeds) } else { Err(mistakes) }
}
