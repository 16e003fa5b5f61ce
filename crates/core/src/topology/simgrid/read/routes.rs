//! Reader of `<route>`, `<zoneRoute>`, their bypasses and `<host_link>`.

use std::cell::OnceCell;

use roxmltree::Node;

use super::super::element::Text;
use super::super::platform::{Hop, PointKind, ZoneRouting};
use super::{NamedLinks, Reader};
use crate::diagnostic::Diagnostic;

impl<'a, 'input> Reader<'a, 'input> {
    /// Reads the links between a point and the centre of a `Cluster` zone.
    pub(super) fn host_link(&mut self, zone: usize, node: Node<'a, 'input>) {
        self.mistakes.only(node, &["id", "up", "down"]);
        let id = self.mistakes.required(node, "id");
        let (up, down) = (self.mistakes.required(node, "up"), self.mistakes.required(node, "down"));
        let point = id.and_then(|id| self.find_point(id).filter(|&point| self.is_in(point, zone, id)));
        let one = |reader: &mut Self, text: Option<Text<'a>>| match text.map(|text| (text, reader.find_link(text)))? {
            (_, Some(NamedLinks::One(link))) => Some(link),
            (text, Some(NamedLinks::Two(..))) => {
                let name = text.value.escape_debug();
                let help = format!("write \"{name}_UP\" or \"{name}_DOWN\"");
                let mistake = Diagnostic::new("link-direction", format!("`{name}` is two links")).at(text.span);
                reader.mistakes.add(mistake.label("expected one direction of it").help(help));
                None
            }
            (_, None) => None,
        };
        let (up, down) = (one(self, up), one(self, down));
        let (Some(point), Some(up), Some(down)) = (point, up, down) else { return };
        match &mut self.platform.zones[zone].local {
            ZoneRouting::Star(star) => {
                if star.private.insert(point, (vec![up], vec![down])).is_some() {
                    self.mistakes.unsupported(node, "the links of this host are given already");
                }
            }
            _ => self.mistakes.unsupported(node, "expected in a zone with routing=\"Cluster\" only"),
        }
    }

    /// Returns true if a point is directly in a zone; otherwise reports it.
    fn is_in(&mut self, point: usize, zone: usize, text: Text<'_>) -> bool {
        let inside = self.platform.points[point].zone == zone;
        if !inside {
            let name = text.value.escape_debug();
            let message =
                format!("`{name}` is not directly in zone `{}`", self.platform.zones[zone].name.escape_debug());
            let label = "expected something of the zone in which the route stands";
            let help = "routes between zones are written as <zoneRoute> with gateways";
            self.mistakes.add(Diagnostic::new("route-ends", message).at(text.span).label(label).help(help));
        }
        inside
    }

    pub(super) fn route(&mut self, zone: usize, node: Node<'a, 'input>) {
        let between_zones = node.tag_name().name() != "route";
        let mut known = vec!["src", "dst", "symmetrical"];
        if between_zones {
            known.extend(["gw_src", "gw_dst"]);
        }
        self.mistakes.only(node, &known);
        let (src, dst) = (self.end(zone, node, "src"), self.end(zone, node, "dst"));
        let gateways = if between_zones {
            let (from, to) = (self.gateway(node, "gw_src", src), self.gateway(node, "gw_dst", dst));
            from.zip(to)
        } else {
            self.no_zones(node, src, dst);
            src.zip(dst)
        };
        let symmetrical = match self.mistakes.attribute(node, "symmetrical") {
            None => Some(true),
            Some(text) => self.mistakes.parse(text, "truth value", |text| match text.trim() {
                "YES" | "yes" | "1" => Ok(true),
                "NO" | "no" | "0" => Ok(false),
                _ => Err("expected YES or NO"),
            }),
        };
        let links = self.route_links(node);
        let (Some(src), Some(dst), Some(gateways), Some(symmetrical), Some((there, back))) =
            (src, dst, gateways, symmetrical, links)
        else {
            return;
        };
        let hop = |to, links, gateways| Hop { to, links, gateways };
        let mut ways = vec![(src, hop(dst, there, gateways))];
        if symmetrical && src != dst {
            ways.push((dst, hop(src, back, (gateways.1, gateways.0))));
        }
        for (from, hop) in ways {
            let to = hop.to;
            let given = match &mut self.platform.zones[zone].local {
                ZoneRouting::Full(hops) => hops.insert((from, to), hop).is_some(),
                ZoneRouting::Graph(edges, paths) => {
                    paths.entry(from).or_insert_with(OnceCell::new);
                    let hops = edges.entry(from).or_default();
                    let given = hops.iter().any(|other| other.to == to);
                    hops.push(hop);
                    given
                }
                ZoneRouting::Star(_) | ZoneRouting::Regular { .. } | ZoneRouting::None => {
                    self.mistakes.unsupported(node, "expected in a zone with routing Full, Floyd or Dijkstra only");
                    return;
                }
            };
            if given {
                let name = |point: usize| self.platform.points[point].name.escape_debug().to_string();
                let message = format!("the route from `{}` to `{}` is given twice", name(from), name(to));
                let mistake = Diagnostic::new("duplicate-route", message).at(self.mistakes.tag(node));
                let help = "a route holds for both directions unless it says symmetrical=\"NO\"";
                self.mistakes.add(mistake.label("the second time").help(help));
                return;
            }
        }
    }

    /// Reads a `<bypassRoute>` or `<bypassZoneRoute>`: a route in one direction, taken instead of the
    /// computed one.
    pub(super) fn bypass(&mut self, zone: usize, node: Node<'a, 'input>) {
        let between_zones = node.tag_name().name() != "bypassRoute";
        let (src, dst, gateways) = if between_zones {
            self.mistakes.only(node, &["src", "dst", "gw_src", "gw_dst"]);
            let (src, dst) = (self.inner_zone(zone, node, "src"), self.inner_zone(zone, node, "dst"));
            let (from, to) = (self.gateway(node, "gw_src", src), self.gateway(node, "gw_dst", dst));
            (src, dst, from.zip(to))
        } else {
            self.mistakes.only(node, &["src", "dst"]);
            let (src, dst) = (self.end(zone, node, "src"), self.end(zone, node, "dst"));
            self.no_zones(node, src, dst);
            (src, dst, src.zip(dst))
        };
        let links = self.route_links(node);
        let (Some(src), Some(dst), Some(gateways), Some((links, _))) = (src, dst, gateways, links) else { return };
        if links.is_empty() {
            self.mistakes.unsupported(node, "expected <link_ctn> in it: a bypass has links");
        } else if src == dst {
            self.mistakes.unsupported(node, "expected a bypass from one to another");
        } else if self.platform.zones[zone].bypasses.insert((src, dst), Hop { to: dst, links, gateways }).is_some() {
            let name = |point: usize| self.platform.points[point].name.escape_debug().to_string();
            let message = format!("the bypass from `{}` to `{}` is given twice", name(src), name(dst));
            let mistake = Diagnostic::new("duplicate-route", message).at(self.mistakes.tag(node));
            self.mistakes.add(mistake.label("the second time").help("a bypass holds for one direction"));
        }
    }

    /// Reads `src` or `dst` of a bypass between zones: a zone in this one, at any depth.
    fn inner_zone(&mut self, zone: usize, node: Node<'a, 'input>, name: &str) -> Option<usize> {
        let text = self.mistakes.required(node, name)?;
        let point = self.find_point(text)?;
        let fits = self.platform.points[point].kind == PointKind::Zone && self.platform.is_inside(point, zone);
        if !fits {
            let at = self.platform.zones[zone].name.escape_debug().to_string();
            let message = format!("`{}` is not a zone in `{at}`", text.value.escape_debug());
            let mistake = Diagnostic::new("route-ends", message).at(text.span);
            self.mistakes.add(mistake.label("expected a zone inside the one in which the bypass stands"));
        }
        fits.then_some(point)
    }

    /// Reads `src` or `dst`: a point directly in the zone.
    fn end(&mut self, zone: usize, node: Node<'a, 'input>, name: &str) -> Option<usize> {
        let text = self.mistakes.required(node, name)?;
        let point = self.find_point(text)?;
        self.is_in(point, zone, text).then_some(point)
    }

    /// Checks that the ends of a `<route>` are hosts or routers.
    fn no_zones(&mut self, node: Node<'a, 'input>, src: Option<usize>, dst: Option<usize>) {
        let is_zone = |point: Option<usize>| point.is_some_and(|at| self.platform.points[at].kind == PointKind::Zone);
        if is_zone(src) || is_zone(dst) {
            self.mistakes.unsupported(node, "expected <zoneRoute> with gateways between zones");
        }
    }

    /// Reads `gw_src` or `gw_dst`: a host or router inside the zone at that end.
    fn gateway(&mut self, node: Node<'a, 'input>, name: &str, end: Option<usize>) -> Option<usize> {
        let text = self.mistakes.required(node, name)?;
        let gateway = self.find_point(text)?;
        let end = end?;
        let fits = gateway == end && self.platform.points[end].kind != PointKind::Zone
            || self.platform.points[gateway].kind != PointKind::Zone
                && self
                    .platform
                    .zones
                    .iter()
                    .position(|zone| zone.point == Some(end))
                    .is_some_and(|zone| self.platform.is_inside(gateway, zone));
        if !fits {
            let at = self.platform.points[end].name.escape_debug().to_string();
            let message = format!("`{}` is not a gateway of `{at}`", text.value.escape_debug());
            let mistake = Diagnostic::new("gateway", message).at(text.span);
            self.mistakes.add(mistake.label(format!("expected a host or router inside `{at}`")));
        }
        fits.then_some(gateway)
    }

    /// Reads the links of a route and those of the way back.
    fn route_links(&mut self, node: Node<'a, 'input>) -> Option<(Vec<u32>, Vec<u32>)> {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        let mut complete = true;
        for child in node.children().filter(Node::is_element) {
            if child.tag_name().name() != "link_ctn" {
                self.mistakes.unsupported(child, "expected <link_ctn> here");
                complete = false;
                continue;
            }
            self.mistakes.only(child, &["id", "direction"]);
            match self.route_link(child) {
                Some((link, reverse)) => {
                    there.push(link);
                    back.push(reverse);
                }
                None => complete = false,
            }
        }
        back.reverse();
        complete.then_some((there, back))
    }

    /// Reads one link of a route, and that of the way back.
    fn route_link(&mut self, node: Node<'a, 'input>) -> Option<(u32, u32)> {
        let id = self.mistakes.required(node, "id")?;
        let direction = self.mistakes.attribute(node, "direction");
        let up = match direction {
            None => None,
            Some(text) => self.mistakes.parse(text, "direction", |text| match text.trim() {
                "UP" => Ok(Some(true)),
                "DOWN" => Ok(Some(false)),
                "NONE" => Ok(None),
                _ => Err("expected UP or DOWN"),
            })?,
        };
        let named = self.find_link(id)?;
        match (named, up) {
            (NamedLinks::One(link), None) => Some((link, self.opposite(id.value, link))),
            (NamedLinks::Two(a, b), Some(true)) => Some((a, b)),
            (NamedLinks::Two(a, b), Some(false)) => Some((b, a)),
            (NamedLinks::Two(..), None) => {
                let message =
                    format!("`{}` is a SPLITDUPLEX link: a route uses one direction", id.value.escape_debug());
                let mistake = Diagnostic::new("link-direction", message).at(id.span);
                self.mistakes.add(mistake.label("expected direction=\"UP\" or \"DOWN\" with it"));
                None
            }
            (NamedLinks::One(_), Some(_)) => {
                let message = format!("`{}` is not a SPLITDUPLEX link: it has no directions", id.value.escape_debug());
                let mistake =
                    Diagnostic::new("link-direction", message).at(direction.map_or(id.span, |text| text.span));
                self.mistakes.add(mistake.label("expected no direction"));
                None
            }
        }
    }

    /// Returns the other direction of a link named `..._UP` or `..._DOWN`, else the link itself.
    fn opposite(&self, name: &str, link: u32) -> u32 {
        let whole = name.strip_suffix("_UP").or_else(|| name.strip_suffix("_DOWN"));
        match whole.and_then(|whole| self.links.get(whole)) {
            Some(&NamedLinks::Two(up, down)) if up == link => down,
            Some(&NamedLinks::Two(up, down)) if down == link => up,
            _ => link,
        }
    }
}
