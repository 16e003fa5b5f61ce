//! Reader of `<cluster>` and `<cabinet>`.

use roxmltree::Node;

use super::super::cascade::cascade;
use super::super::cluster::{MOST_HOSTS, MOST_LINKS, Regular, RegularShape, fat_tree, radical, torus};
use super::super::element::Text;
use super::super::platform::{PlatformLink, PointKind, Star, ZoneRouting};
use super::super::quantity;
use super::{NamedLinks, Policy, Reader};
use crate::diagnostic::Diagnostic;
use crate::units::{Bandwidth, Time};

const ATTRIBUTES: [&str; 20] = [
    "id",
    "prefix",
    "suffix",
    "radical",
    "speed",
    "core",
    "bw",
    "lat",
    "sharing_policy",
    "topology",
    "topo_parameters",
    "bb_bw",
    "bb_lat",
    "bb_sharing_policy",
    "limiter_link",
    "loopback_bw",
    "loopback_lat",
    "router_id",
    "power",
    "state_file",
];

/// Attributes of a cluster.
struct Cluster<'a> {
    id: Text<'a>,
    prefix: &'a str,
    suffix: &'a str,
    numbers: Vec<u32>,
    bandwidth: Bandwidth,
    latency: Time,
    policy: Policy,
    shape: Option<RegularShape>,
    backbone: Option<(Bandwidth, Time, Policy)>,
    limiter: Option<Bandwidth>,
}

impl<'a, 'input> Reader<'a, 'input> {
    pub(super) fn cluster(&mut self, node: Node<'a, 'input>, around: Option<usize>) -> Option<usize> {
        self.mistakes.only(node, &ATTRIBUTES);
        for child in node.children().filter(Node::is_element) {
            if child.tag_name().name() != "prop" {
                self.mistakes.unsupported(child, "expected <prop> here");
            }
        }
        let cluster = self.cluster_attributes(node)?;
        let zone = self.add_zone(cluster.id, around, ZoneRouting::None);
        let first_point = self.platform.points.len();
        for number in &cluster.numbers {
            let name = format!("{}{number}{}", cluster.prefix, cluster.suffix);
            self.host(name, cluster.id.span, zone);
        }
        match self.mistakes.attribute(node, "router_id") {
            Some(name) => self.point(name, zone, PointKind::Router),
            None => {
                let name = format!("{}{}_router{}", cluster.prefix, cluster.id.value, cluster.suffix);
                self.made_up_point(name, cluster.id.span, zone, PointKind::Router)
            }
        };
        self.platform.zones[zone].local = match &cluster.shape {
            None => self.flat(&cluster, first_point),
            Some(shape) => self.regular(&cluster, shape, first_point),
        };
        Some(zone)
    }

    /// Reads hosts of a zone with `routing="Cluster"`, each with a link up and one down.
    pub(super) fn cabinet(&mut self, node: Node<'a, 'input>, zone: usize) {
        self.mistakes.only(node, &["id", "prefix", "suffix", "radical", "speed", "bw", "lat"]);
        let id = self.mistakes.required(node, "id");
        let (prefix, suffix) = (self.mistakes.required(node, "prefix"), self.mistakes.required(node, "suffix"));
        let numbers = self.mistakes.required(node, "radical");
        let numbers = numbers.and_then(|text| self.mistakes.parse(text, "list of numbers", radical));
        let bandwidth = self.mistakes.required(node, "bw");
        let bandwidth = bandwidth.and_then(|text| self.mistakes.parse(text, "bandwidth", quantity::bandwidth));
        let latency = self.mistakes.required(node, "lat");
        let latency = latency.and_then(|text| self.mistakes.parse(text, "latency", quantity::latency));
        if !matches!(self.platform.zones[zone].local, ZoneRouting::Star(_)) {
            self.mistakes.unsupported(node, "expected in a zone with routing=\"Cluster\" only");
            return;
        }
        let (Some(id), Some(prefix), Some(suffix), Some(numbers), Some(bandwidth), Some(latency)) =
            (id, prefix, suffix, numbers, bandwidth, latency)
        else {
            return;
        };
        for number in numbers {
            let name = format!("{}{number}{}", prefix.value, suffix.value);
            let link = self.add_link(&format!("link_{name}"), id.span, bandwidth, latency, Policy::Split);
            let point = self.host(name, id.span, zone);
            if let (NamedLinks::Two(up, down), ZoneRouting::Star(star)) = (link, &mut self.platform.zones[zone].local) {
                star.private.insert(point, (vec![up], vec![down]));
            }
        }
    }

    fn cluster_attributes(&mut self, node: Node<'a, 'input>) -> Option<Cluster<'a>> {
        let id = self.mistakes.required(node, "id");
        let (prefix, suffix) = (self.mistakes.required(node, "prefix"), self.mistakes.required(node, "suffix"));
        let numbers = self.mistakes.required(node, "radical");
        let numbers = numbers.and_then(|text| self.mistakes.parse(text, "list of numbers", radical));
        let bandwidth = self.mistakes.required(node, "bw");
        let bandwidth = bandwidth.and_then(|text| self.mistakes.parse(text, "bandwidth", quantity::bandwidth));
        let latency = self.mistakes.required(node, "lat");
        let latency = latency.and_then(|text| self.mistakes.parse(text, "latency", quantity::latency));
        // SimGrid shares the links of a cluster among messages for any sharing policy.
        let policy = self.policy(node, "sharing_policy", Policy::Split);
        let policy = policy.map(|policy| if policy == Policy::Fatpipe { Policy::Shared } else { policy });
        let backbone = self.cluster_backbone(node);
        let limiter = match self.mistakes.attribute(node, "limiter_link") {
            Some(text) => self.mistakes.parse(text, "bandwidth", quantity::bandwidth).map(Some),
            None => Some(None),
        };
        let hosts = numbers.as_ref().map(|numbers| numbers.len() as u32);
        let shape = self.cluster_shape(node, hosts);
        let (backbone, limiter) = (backbone?, limiter?);
        let shape = shape?;
        if shape.is_some()
            && let (true, Some(text)) = (backbone.is_some(), self.mistakes.attribute(node, "bb_bw"))
        {
            let message = "`bb_bw` is not supported in clusters with a topology";
            let mistake = Diagnostic::new("unsupported-attribute", message).at(text.span);
            self.mistakes.add(mistake.label("expected in topology=\"FLAT\" only"));
        }
        Some(Cluster {
            id: id?,
            prefix: prefix?.value,
            suffix: suffix?.value,
            numbers: numbers?,
            bandwidth: bandwidth?,
            latency: latency?,
            policy: policy?,
            shape,
            backbone,
            limiter,
        })
    }

    /// Reads the backbone, if there is one. Returns `None` if it has a mistake.
    fn cluster_backbone(&mut self, node: Node<'a, 'input>) -> Option<Option<(Bandwidth, Time, Policy)>> {
        let (bandwidth, latency) = (self.mistakes.attribute(node, "bb_bw"), self.mistakes.attribute(node, "bb_lat"));
        let policy = self.policy(node, "bb_sharing_policy", Policy::Shared)?;
        let (bandwidth, latency) = match (bandwidth, latency) {
            (None, None) => return Some(None),
            (Some(bandwidth), latency) => (bandwidth, latency),
            (None, Some(latency)) => {
                let mistake = Diagnostic::new("missing-attribute", "a backbone with `bb_lat` needs `bb_bw`");
                self.mistakes.add(mistake.at(latency.span).label("expected bb_bw=\"...\" too"));
                return None;
            }
        };
        if policy == Policy::Split {
            self.mistakes.unsupported(node, "a backbone cannot be SPLITDUPLEX");
            return None;
        }
        let bandwidth = self.mistakes.parse(bandwidth, "bandwidth", quantity::bandwidth)?;
        let latency = match latency {
            Some(text) => self.mistakes.parse(text, "latency", quantity::latency)?,
            None => Time::ZERO,
        };
        Some(Some((bandwidth, latency, policy)))
    }

    /// Reads the topology. Returns `None` if it has a mistake, and `Some(None)` for a flat cluster.
    fn cluster_shape(&mut self, node: Node<'a, 'input>, hosts: Option<u32>) -> Option<Option<RegularShape>> {
        let topology = match self.mistakes.attribute(node, "topology") {
            None => return Some(None),
            Some(text) => text,
        };
        if topology.value.trim() == "FLAT" {
            return Some(None);
        }
        if !matches!(topology.value.trim(), "FAT_TREE" | "TORUS" | "DRAGONFLY") {
            let message = format!("topology \"{}\" is not supported", topology.value.escape_debug());
            let mistake = Diagnostic::new("unsupported-topology", message).at(topology.span);
            self.mistakes.add(mistake.label("expected FLAT, FAT_TREE, TORUS or DRAGONFLY"));
            return None;
        }
        let parameters = self.mistakes.required(node, "topo_parameters")?;
        let shape = match topology.value.trim() {
            "FAT_TREE" => RegularShape::Tree(self.mistakes.parse(parameters, "description of a fat-tree", fat_tree)?),
            "TORUS" => RegularShape::Torus(self.mistakes.parse(parameters, "description of a torus", torus)?),
            _ => {
                let parse = |text: &str| cascade(text, MOST_HOSTS, MOST_LINKS);
                RegularShape::Cascade(self.mistakes.parse(parameters, "description of a dragonfly", parse)?)
            }
        };
        if let Some(hosts) = hosts.filter(|&hosts| hosts != shape.hosts()) {
            let message = format!("a topology of {} hosts for a cluster of {hosts}", shape.hosts());
            let mistake = Diagnostic::new("host-count", message).at(parameters.span);
            self.mistakes.add(mistake.label("expected as many hosts as in `radical`"));
            return None;
        }
        Some(Some(shape))
    }

    /// Adds links from each host to the centre.
    fn flat(&mut self, cluster: &Cluster<'a>, first_point: usize) -> ZoneRouting {
        let Cluster { id, bandwidth, latency, policy, .. } = *cluster;
        let mut star = Star::default();
        for (i, number) in cluster.numbers.iter().enumerate() {
            let (mut out, mut into) = (Vec::new(), Vec::new());
            if let Some(limiter) = cluster.limiter {
                let name = format!("{}_link_{number}_limiter", id.value);
                if let NamedLinks::One(link) = self.add_link(&name, id.span, limiter, Time::ZERO, Policy::Shared) {
                    out.push(link);
                    into.push(link);
                }
            }
            let name = format!("{}_link_{number}", id.value);
            let (up, down) = match self.add_link(&name, id.span, bandwidth, latency, policy) {
                NamedLinks::One(link) => (link, link),
                NamedLinks::Two(up, down) => (up, down),
            };
            out.push(up);
            into.insert(0, down);
            star.private.insert(first_point + i, (out, into));
        }
        if let Some((bandwidth, latency, policy)) = cluster.backbone {
            let name = format!("{}_backbone", id.value);
            if let NamedLinks::One(link) = self.add_link(&name, id.span, bandwidth, latency, policy) {
                star.backbone = Some(link);
            }
        }
        ZoneRouting::Star(star)
    }

    /// Adds a fat-tree, torus or dragonfly. Its links have no names that a route could use.
    fn regular(&mut self, cluster: &Cluster<'a>, shape: &RegularShape, first_point: usize) -> ZoneRouting {
        let first = self.platform.links.len() as u32;
        let limited = cluster.limiter.is_some();
        let regular = Regular::new(shape.clone(), first, cluster.policy != Policy::Split, limited);
        for number in 0..regular.links() {
            self.platform.links.push(PlatformLink {
                name: format!("{}_link_{number}", cluster.id.value),
                bandwidth: Bandwidth::from_bytes_per_second(
                    cluster.bandwidth.bytes_per_second() * f64::from(regular.width(number)),
                ),
                latency: cluster.latency,
                shared: true,
            });
        }
        for number in 0..regular.limiters() {
            self.platform.links.push(PlatformLink {
                name: format!("{}_limiter_{number}", cluster.id.value),
                bandwidth: cluster.limiter.unwrap_or_default(),
                latency: Time::ZERO,
                shared: true,
            });
        }
        ZoneRouting::Regular { regular, first_point }
    }
}
