//! Reader from an XML document to a [`Platform`].

mod cluster;
mod profiles;
mod routes;

use std::collections::BTreeMap;

use roxmltree::Node;
use rustc_hash::FxHashMap;

use super::Open;
use super::element::{Mistakes, Text};
use super::platform::{Platform, PlatformLink, Point, PointKind, Star, Zone, ZoneRouting};
use super::quantity;
use crate::diagnostic::{Diagnostic, Span, closest};
use crate::units::{Bandwidth, Time};

/// Largest depth of zones within zones.
const DEEPEST: usize = 64;

/// Sharing policy of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Policy {
    /// Both directions share the bandwidth.
    Shared,
    /// Each direction has the whole bandwidth.
    Split,
    /// Each message has the whole bandwidth.
    Fatpipe,
}

use profiles::Trace;

/// Links that an id stands for.
#[derive(Clone, Copy, Debug)]
enum NamedLinks {
    One(u32),
    /// Links up and down.
    Two(u32, u32),
}

/// State of the reader of a document.
struct Reader<'a, 'input> {
    mistakes: &'a mut Mistakes,
    platform: Platform,
    points: FxHashMap<&'a str, usize>,
    links: FxHashMap<String, NamedLinks>,
    /// Routes, read after all names are known.
    routes: Vec<(usize, Node<'a, 'input>)>,
    private: Vec<(usize, Node<'a, 'input>)>,
    made_up: FxHashMap<String, usize>,
    /// By id: the text of a `<trace>`, where it starts, and its period in seconds.
    traces: FxHashMap<&'a str, Trace<'a>>,
    /// Profiles, read after all links are known.
    connects: Vec<Node<'a, 'input>>,
    open: Open<'a>,
}

/// Reads the platform; mistakes are added to `mistakes`.
pub(super) fn read<'a>(root: Node<'a, '_>, mistakes: &'a mut Mistakes, open: Open<'a>) -> Platform {
    let mut reader = Reader {
        mistakes,
        platform: Platform::default(),
        points: FxHashMap::default(),
        links: FxHashMap::default(),
        routes: Vec::new(),
        private: Vec::new(),
        made_up: FxHashMap::default(),
        traces: FxHashMap::default(),
        connects: Vec::new(),
        open,
    };
    reader.document(root);
    reader.platform
}

impl<'a, 'input> Reader<'a, 'input> {
    fn document(&mut self, root: Node<'a, 'input>) {
        if root.tag_name().name() != "platform" {
            let message = format!("`<{}>` is not a SimGrid platform", root.tag_name().name());
            self.mistakes
                .add(Diagnostic::new("no-platform", message).at(self.mistakes.tag(root)).label("expected <platform>"));
            return;
        }
        self.mistakes.only(root, &["version"]);
        if let Some(version) = self.mistakes.required(root, "version")
            && !matches!(version.value.trim(), "4" | "4.0" | "4.1")
        {
            let message = format!("platforms of version {} are not supported", version.value.escape_debug());
            self.mistakes.add(
                Diagnostic::new("platform-version", message)
                    .at(version.span)
                    .label("expected 4 or 4.1")
                    .help("SimGrid's `simgrid_update_xml` brings a file up to date"),
            );
            return;
        }
        let mut outermost = None;
        for node in root.children().filter(Node::is_element) {
            match node.tag_name().name() {
                "config" => {}
                "zone" | "AS" | "cluster" if outermost.is_some() => {
                    self.mistakes.unsupported(node, "expected a single outermost zone");
                }
                "trace" => self.trace(node),
                "trace_connect" => self.connects.push(node),
                "zone" | "AS" => outermost = self.zone(node, None),
                "cluster" => outermost = self.cluster(node, None),
                "actor" | "process" => self.mistakes.unsupported(node, "this is a deployment, not a platform"),
                _ => self.mistakes.unsupported(node, "expected <zone> or <cluster> here"),
            }
        }
        for node in std::mem::take(&mut self.connects) {
            self.trace_connect(node);
        }
        for (zone, node) in std::mem::take(&mut self.private) {
            self.host_link(zone, node);
        }
        for (zone, node) in std::mem::take(&mut self.routes) {
            if node.tag_name().name().starts_with("bypass") {
                self.bypass(zone, node);
            } else {
                self.route(zone, node);
            }
        }
        if self.mistakes.is_empty() && self.platform.hosts.is_empty() {
            self.mistakes.add(
                Diagnostic::new("no-hosts", "the platform has no hosts")
                    .at(self.mistakes.tag(root))
                    .label("expected a <host> or <cluster> in it"),
            );
        }
    }

    /// Adds a zone, which is also a point of the zone around it.
    fn add_zone(&mut self, name: Text<'a>, around: Option<usize>, local: ZoneRouting) -> usize {
        let depth = around.map_or(0, |zone| self.platform.zones[zone].depth + 1);
        let number = self.platform.zones.len();
        self.platform.zones.push(Zone {
            name: name.value.to_owned(),
            point: None,
            depth,
            local,
            bypasses: FxHashMap::default(),
        });
        self.platform.zones[number].point = around.map(|zone| self.point(name, zone, PointKind::Zone));
        number
    }

    /// Adds a point to a zone; names are unique in the whole platform.
    fn point(&mut self, name: Text<'a>, zone: usize, kind: PointKind) -> usize {
        let number = self.platform.points.len();
        self.platform.points.push(Point { name: name.value.to_owned(), zone, kind });
        let is_known = self.points.insert(name.value, number).is_some() || self.made_up.contains_key(name.value);
        if is_known || self.is_outermost(name.value) {
            self.named_twice(name.value, name.span);
        }
        number
    }

    /// Adds a point whose name does not occur in the document.
    fn made_up_point(&mut self, name: String, at: Span, zone: usize, kind: PointKind) -> usize {
        let number = self.platform.points.len();
        self.platform.points.push(Point { name: name.clone(), zone, kind });
        let is_known = self.points.contains_key(name.as_str()) || self.made_up.insert(name.clone(), number).is_some();
        if is_known || self.is_outermost(&name) {
            self.named_twice(&name, at);
        }
        number
    }

    /// Returns true for the name of the outermost zone, which is not a point of another zone.
    fn is_outermost(&self, name: &str) -> bool {
        self.platform.zones.first().is_some_and(|zone| zone.name == name)
    }

    fn named_twice(&mut self, name: &str, at: Span) {
        let message = format!("`{}` is the name of two things", name.escape_debug());
        self.mistakes.add(Diagnostic::new("duplicate-id", message).at(at).label("expected a name of its own"));
    }

    fn host(&mut self, name: String, at: Span, zone: usize) -> usize {
        let number = self.platform.hosts.len() as u32;
        let point = self.made_up_point(name, at, zone, PointKind::Host(number));
        self.platform.hosts.push(point);
        point
    }

    fn zone(&mut self, node: Node<'a, 'input>, around: Option<usize>) -> Option<usize> {
        if around.is_some_and(|zone| self.platform.zones[zone].depth >= DEEPEST) {
            self.mistakes.unsupported(node, "zones are nested too deeply");
            return None;
        }
        self.mistakes.only(node, &["id", "routing"]);
        let (id, routing) = (self.mistakes.required(node, "id"), self.mistakes.required(node, "routing"));
        let local = match routing.map(|routing| (routing, routing.value.trim().to_ascii_lowercase())) {
            None => ZoneRouting::None,
            Some((routing, name)) => match name.as_str() {
                "full" => ZoneRouting::Full(FxHashMap::default()),
                "floyd" | "dijkstra" | "dijkstracache" => ZoneRouting::Graph(BTreeMap::new(), FxHashMap::default()),
                "cluster" => ZoneRouting::Star(Star::default()),
                "none" => ZoneRouting::None,
                _ => {
                    let message = format!("routing \"{}\" is not supported", routing.value.escape_debug());
                    let mistake = Diagnostic::new("unsupported-routing", message).at(routing.span);
                    let label = "expected Full, Floyd, Dijkstra, DijkstraCache, Cluster or None";
                    self.mistakes.add(mistake.label(label));
                    ZoneRouting::None
                }
            },
        };
        let zone = self.add_zone(id?, around, local);
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "zone" | "AS" | "cluster" if matches!(self.platform.zones[zone].local, ZoneRouting::Star(_)) => {
                    self.mistakes.unsupported(child, "expected no zones in a zone with routing=\"Cluster\"");
                }
                "zone" | "AS" => _ = self.zone(child, Some(zone)),
                "cluster" => _ = self.cluster(child, Some(zone)),
                "host" => self.host_element(child, zone),
                "router" => {
                    self.mistakes.only(child, &["id", "coordinates"]);
                    if let Some(id) = self.mistakes.required(child, "id") {
                        self.point(id, zone, PointKind::Router);
                    }
                }
                "link" => self.link_element(child),
                "backbone" => self.backbone(child, zone),
                "cabinet" => self.cabinet(child, zone),
                "host_link" => self.private.push((zone, child)),
                "route" | "zoneRoute" | "ASroute" | "bypassRoute" | "bypassZoneRoute" | "bypassASroute" => {
                    self.routes.push((zone, child));
                }
                "prop" => {}
                _ => self
                    .mistakes
                    .unsupported(child, "expected zones, hosts, routers, links, clusters, cabinets and routes here"),
            }
        }
        Some(zone)
    }

    /// Reads a host. Only its name matters to the network; its computing and storage are ignored.
    fn host_element(&mut self, node: Node<'a, 'input>, zone: usize) {
        let known =
            ["id", "speed", "core", "pstate", "coordinates", "speed_file", "availability_file", "state_file", "power"];
        self.mistakes.only(node, &known);
        for child in node.children().filter(Node::is_element) {
            if !matches!(child.tag_name().name(), "prop" | "disk" | "mount") {
                self.mistakes.unsupported(child, "expected <prop> or <disk> here");
            }
        }
        if let Some(id) = self.mistakes.required(node, "id") {
            let number = self.platform.hosts.len() as u32;
            let point = self.point(id, zone, PointKind::Host(number));
            self.platform.hosts.push(point);
        }
    }

    fn backbone(&mut self, node: Node<'a, 'input>, zone: usize) {
        if !matches!(self.platform.zones[zone].local, ZoneRouting::Star(_)) {
            self.mistakes.unsupported(node, "expected in a zone with routing=\"Cluster\" only");
            return;
        }
        let before = self.platform.links.len() as u32;
        self.link_element(node);
        let links = self.platform.links.len() as u32 - before;
        if links > 1 {
            self.mistakes.unsupported(node, "a backbone cannot be SPLITDUPLEX");
        } else if let (1, ZoneRouting::Star(star)) = (links, &mut self.platform.zones[zone].local)
            && star.backbone.replace(before).is_some()
        {
            self.mistakes.unsupported(node, "expected a single backbone");
        }
    }

    /// Reads a `<link>` or `<backbone>`.
    fn link_element(&mut self, node: Node<'a, 'input>) {
        let known = ["id", "bandwidth", "latency", "sharing_policy", "bandwidth_file", "latency_file", "state_file"];
        self.mistakes.only(node, &known);
        for child in node.children().filter(Node::is_element) {
            if child.tag_name().name() != "prop" {
                self.mistakes.unsupported(child, "expected <prop> here");
            }
        }
        let id = self.mistakes.required(node, "id");
        let bandwidth = self.mistakes.required(node, "bandwidth");
        let bandwidth = bandwidth.and_then(|text| self.mistakes.parse(text, "bandwidth", quantity::bandwidth));
        let latency = match self.mistakes.attribute(node, "latency") {
            Some(text) => self.mistakes.parse(text, "latency", quantity::latency),
            None => Some(Time::ZERO),
        };
        let policy = self.policy(node, "sharing_policy", Policy::Shared);
        if let (Some(id), Some(bandwidth), Some(latency), Some(policy)) = (id, bandwidth, latency, policy) {
            let named = self.add_link(id.value, id.span, bandwidth, latency, policy);
            self.profile_files(node, named);
        }
    }

    fn policy(&mut self, node: Node<'a, 'input>, name: &str, usual: Policy) -> Option<Policy> {
        let Some(text) = self.mistakes.attribute(node, name) else { return Some(usual) };
        self.mistakes.parse(text, "supported sharing policy", |text| match text.trim() {
            "SHARED" => Ok(Policy::Shared),
            "SPLITDUPLEX" => Ok(Policy::Split),
            "FATPIPE" => Ok(Policy::Fatpipe),
            _ => Err("expected SHARED, SPLITDUPLEX or FATPIPE"),
        })
    }

    /// Adds a link, or two if it is split. Returns the links that its name stands for.
    fn add_link(&mut self, name: &str, span: Span, bandwidth: Bandwidth, latency: Time, policy: Policy) -> NamedLinks {
        let links = &mut self.platform.links;
        let mut one = |name: String| {
            let number = links.len() as u32;
            links.push(PlatformLink { name, bandwidth, latency, shared: policy != Policy::Fatpipe });
            number
        };
        let named = match policy {
            Policy::Split => NamedLinks::Two(one(format!("{name}_UP")), one(format!("{name}_DOWN"))),
            Policy::Shared | Policy::Fatpipe => NamedLinks::One(one(name.to_owned())),
        };
        let mut twice = self.links.insert(name.to_owned(), named).is_some();
        if let NamedLinks::Two(up, down) = named {
            twice |= self.links.insert(format!("{name}_UP"), NamedLinks::One(up)).is_some();
            twice |= self.links.insert(format!("{name}_DOWN"), NamedLinks::One(down)).is_some();
        }
        if twice {
            self.named_twice(name, span);
        }
        named
    }

    /// Returns the point with this name.
    fn find_point(&mut self, text: Text<'_>) -> Option<usize> {
        let found = self.points.get(text.value).or_else(|| self.made_up.get(text.value)).copied();
        if found.is_none() && self.mistakes.is_full() {
            self.unknown("name", text, None);
        } else if found.is_none() {
            let names = self.platform.points.iter().map(|point| point.name.as_str());
            let close = closest(text.value, names.take(10_000)).map(str::to_owned);
            self.unknown("host, router or zone", text, close);
        }
        found
    }

    /// Returns the links with this name.
    fn find_link(&mut self, text: Text<'_>) -> Option<NamedLinks> {
        let found = self.links.get(text.value).copied();
        if found.is_none() && self.mistakes.is_full() {
            self.unknown("name", text, None);
        } else if found.is_none() {
            let names = self.platform.links.iter().map(|link| link.name.as_str());
            let close = closest(text.value, names.take(10_000)).map(str::to_owned);
            self.unknown("link", text, close);
        }
        found
    }

    fn unknown(&mut self, what: &str, text: Text<'_>, close: Option<String>) {
        let message = format!("there is no {what} `{}`", text.value.escape_debug());
        let mut mistake =
            Diagnostic::new("unknown-id", message).at(text.span).label(format!("expected the id of a {what}"));
        if let Some(close) = close {
            mistake = mistake.help(format!("did you mean `{close}`?"));
        }
        self.mistakes.add(mistake);
    }
}
