//! Conversion of a [`Platform`] to a [`Fabric`].

use std::sync::Arc;

use super::cluster::{Regular, RegularShape};
use super::platform::{Platform, PlatformLink, Star, ZoneRouting};
use super::profile::{ChangingProperty, Profile};
use crate::diagnostic::{Diagnostic, Span};
use crate::fabric::{
    Fabric, FabricBuilder, Family, Irregular, Labels, Link, LinkChange, LinkRole, RouteTable, Timetable, Tree,
};
use crate::ids::{LinkId, NodeId, VertexId};
use crate::units::Bandwidth;

/// Largest number of hosts of a platform with listed routes, whose number is quadratic in the hosts.
const MOST_LISTED_HOSTS: usize = 2048;
/// Largest number of links in all routes together [4 B each].
const MOST_ROUTE_LINKS: usize = 1 << 26;

/// Builds the fabric. Mistakes that concern the whole platform are shown at `root`.
pub(super) fn fabric(platform: &Platform, name: &str, own_routes: bool, root: Span) -> Result<Fabric, Vec<Diagnostic>> {
    let labels = |links: Vec<String>| Labels {
        vertices: platform.hosts.iter().map(|&host| platform.points[host].name.clone()).collect(),
        links,
    };
    let cluster = if platform.profiles.is_empty() { single_cluster(platform) } else { None };
    match cluster {
        Some(ZoneRouting::Regular { regular, .. }) if regular.is_plain() => {
            let routes = if own_routes || regular.is_usual() { None } else { Some(routes_of(platform, root)?.table) };
            if let Some(fabric) = regular_fabric(platform, regular, name, labels(Vec::new()), routes) {
                return Ok(fabric);
            }
        }
        Some(ZoneRouting::Star(star)) => {
            if let Some(fabric) = star_fabric(platform, star, name, &labels) {
                return Ok(fabric);
            }
        }
        _ => {}
    }
    let Routes { table, limits, crossed } = routes_of(platform, root)?;
    let mut builder = FabricBuilder::new(name, platform.hosts.len() as u32, 0);
    for link in &platform.links {
        builder.loose_link(link.bandwidth, link.latency);
    }
    if platform.links.iter().any(|link| !link.shared) {
        let own = (0..).map(LinkId).zip(&platform.links).filter(|(_, link)| !link.shared);
        builder.own_links(own.map(|(id, _)| id), limits);
    }
    builder.labels(labels(platform.links.iter().map(|link| link.name.clone()).collect()));
    builder.routes(table);
    builder.timetable(timetable(platform, &crossed)?);
    Ok(builder.finish(Irregular))
}

/// Returns the routing of the one zone that holds all hosts, or `None` if hosts are in several zones or have
/// bypasses.
fn single_cluster(platform: &Platform) -> Option<&ZoneRouting> {
    let zone = platform.points[*platform.hosts.first()?].zone;
    let is_one = platform.zones[zone].bypasses.is_empty()
        && platform.hosts.iter().all(|&host| platform.points[host].zone == zone);
    is_one.then(|| &platform.zones[zone].local)
}

/// Builds one of Hayase's own fat-trees or tori, with SimGrid's routes if given.
fn regular_fabric(
    platform: &Platform,
    regular: &Regular,
    name: &str,
    labels: Labels,
    routes: Option<RouteTable>,
) -> Option<Fabric> {
    let like = platform.links.get(regular.first as usize);
    let like = like.map_or_else(Default::default, |link| (link.bandwidth, link.latency));
    let plain = match &regular.shape {
        RegularShape::Tree(tree) => tree.clone().build(name.to_owned(), |_| like),
        RegularShape::Torus(grid) => grid.clone().build(name.to_owned(), |_| like),
        RegularShape::Cascade(_) => return None,
    };
    let mut builder = FabricBuilder::new(name, plain.nodes(), plain.switches());
    for Link { ends, capacity, latency, role } in plain.links().iter() {
        if let Some((from, to)) = *ends {
            builder.link(from, to, *capacity, *latency, *role);
        }
    }
    builder.labels(labels);
    if let Some(routes) = routes {
        // The platform counts links from the cluster's first, as the shape does.
        builder.routes(routes);
    }
    Some(builder.finish_as(plain.shared_family()))
}

/// Builds a flat cluster as a crossbar, or as two switches joined by its backbone. Returns `None` if it has a
/// limiter, links for both directions, hosts without links, or links that messages do not share.
fn star_fabric(
    platform: &Platform,
    star: &Star,
    name: &str,
    labels: &impl Fn(Vec<String>) -> Labels,
) -> Option<Fabric> {
    let link = |number: u32| -> &PlatformLink { &platform.links[number as usize] };
    let mut ends = Vec::with_capacity(platform.hosts.len());
    for host in &platform.hosts {
        let (out, into) = star.private.get(host)?;
        let (&[up], &[down]) = (&out[..], &into[..]) else { return None };
        if up == down || !link(up).shared || !link(down).shared {
            return None;
        }
        ends.push((up, down));
    }
    if star.backbone.is_some_and(|backbone| !link(backbone).shared) {
        return None;
    }
    let nodes = platform.hosts.len() as u32;
    let used = 2 * ends.len() + usize::from(star.backbone.is_some());
    let mut all: Vec<u32> = ends.iter().flat_map(|&(up, down)| [up, down]).chain(star.backbone).collect();
    all.sort_unstable();
    all.dedup();
    if all.len() != used {
        return None;
    }
    let switches = if star.backbone.is_some() { 2 } else { 1 };
    let mut builder = FabricBuilder::new(name, nodes, switches);
    let (inward, outward) = (VertexId(nodes), VertexId(nodes + switches - 1));
    let mut names = Vec::new();
    for (i, &(up, _)) in ends.iter().enumerate() {
        let PlatformLink { name, bandwidth, latency, .. } = link(up);
        builder.link(VertexId(i as u32), inward, *bandwidth, *latency, LinkRole::Injection);
        names.push(name.clone());
    }
    for (i, &(_, down)) in ends.iter().enumerate() {
        let PlatformLink { name, bandwidth, latency, .. } = link(down);
        builder.link(outward, VertexId(i as u32), *bandwidth, *latency, LinkRole::Ejection);
        names.push(name.clone());
    }
    let mut labels = labels(Vec::new());
    let family: Arc<dyn Family> = match star.backbone {
        None => Arc::new(Tree::crossbar(nodes)),
        Some(backbone) => {
            let PlatformLink { name, bandwidth, latency, .. } = link(backbone);
            builder.link(inward, outward, *bandwidth, *latency, LinkRole::Network { tier: 0 });
            names.push(name.clone());
            labels.vertices.extend(["before the backbone".to_owned(), "behind the backbone".to_owned()]);
            Arc::new(Irregular)
        }
    };
    labels.links = names;
    builder.labels(labels);
    Some(builder.finish_as(family))
}

/// Routes between all hosts.
struct Routes {
    table: RouteTable,
    /// True if a link that messages do not share limits a message of any route.
    limits: bool,
    /// By link: true if a route crosses it.
    crossed: Vec<bool>,
}

fn routes_of(platform: &Platform, root: Span) -> Result<Routes, Vec<Diagnostic>> {
    let hosts = &platform.hosts;
    let too_large = |message: String| {
        let mistake = Diagnostic::new("too-many-routes", message).at(root).label("its routes do not fit in memory");
        vec![match single_cluster(platform) {
            Some(ZoneRouting::Regular { regular, .. }) if regular.is_plain() => {
                mistake.help("set `own-routes = true` beside `platform`: then routes are computed")
            }
            _ => mistake.help("describe it as one of the other topologies, whose routes are computed"),
        }]
    };
    if hosts.len() > MOST_LISTED_HOSTS {
        let message =
            format!("the routes of {} hosts would have to be listed: at most {MOST_LISTED_HOSTS}", hosts.len());
        return Err(too_large(message));
    }
    let mut table = RouteTable::default();
    let mut route = Vec::new();
    let mut ids = Vec::new();
    let mut total = 0;
    let mut limits = false;
    let mut crossed = vec![false; platform.links.len()];
    for (i, &src) in hosts.iter().enumerate() {
        for (j, &dst) in hosts.iter().enumerate().filter(|&(j, _)| j != i) {
            route.clear();
            // The document may leave pairs without a route: an error only once a message needs it.
            if !platform.route(src, dst, &mut route) {
                continue;
            }
            total += route.len();
            if total > MOST_ROUTE_LINKS {
                return Err(too_large(format!("the routes have more than {MOST_ROUTE_LINKS} links together")));
            }
            limits |= is_limited(platform, &route);
            route.iter().for_each(|&link| crossed[link as usize] = true);
            ids.clear();
            ids.extend(route.iter().map(|&link| LinkId(link)));
            table.insert(NodeId(i as u32), NodeId(j as u32), &ids);
        }
    }
    Ok(Routes { table, limits, crossed })
}

/// Returns the changes of links over time. Links that no route crosses may change in any way.
fn timetable(platform: &Platform, crossed: &[bool]) -> Result<Timetable, Vec<Diagnostic>> {
    let (mut timetable, mut mistakes) = (Timetable::default(), Vec::new());
    for profile in platform.profiles.iter().filter(|profile| crossed[profile.link as usize]) {
        let change = |value: f64| match profile.subject {
            ChangingProperty::State if value > 0.0 => Ok(LinkChange::Up),
            ChangingProperty::Bandwidth if value > 0.0 => {
                Ok(LinkChange::Bandwidth(Bandwidth::from_bytes_per_second(value)))
            }
            ChangingProperty::State | ChangingProperty::Bandwidth => Ok(LinkChange::Down),
            ChangingProperty::Latency => Err(latency_changes(platform, profile)),
        };
        let entries = profile.table.entries.iter().map(|&(at, value)| Ok((at, change(value)?)));
        let added = entries.collect::<Result<Vec<_>, _>>().and_then(|changes| {
            let added = timetable.add(LinkId(profile.link), changes, profile.table.period);
            added.map_err(|message| Diagnostic::new("changing-link", message).at(profile.span))
        });
        mistakes.extend(added.err());
    }
    mistakes.truncate(20);
    if mistakes.is_empty() { Ok(timetable) } else { Err(mistakes) }
}

/// Returns the mistake of a link whose latency changes over time.
fn latency_changes(platform: &Platform, profile: &Profile) -> Diagnostic {
    let name = platform.links[profile.link as usize].name.escape_debug();
    let (first, _) = profile.table.entries[0];
    let again =
        profile.table.period.map_or(String::new(), |period| format!(", and again every {} s", period.seconds()));
    let message = format!("the latency of link `{name}` changes from {} s on{again}", first.seconds());
    Diagnostic::new("changing-link", message)
        .at(profile.span)
        .label("expected a latency that stays as it is")
        .help("bandwidth and state may change over time: leave this profile out")
}

/// Returns true if a link that messages do not share is narrower than all shared links of a route.
fn is_limited(platform: &Platform, route: &[u32]) -> bool {
    let least = |shared: bool| {
        let links = route.iter().map(|&link| &platform.links[link as usize]).filter(|link| link.shared == shared);
        links.map(|link| link.bandwidth).min()
    };
    match (least(false), least(true)) {
        (Some(own), Some(shared)) => own < shared,
        (own, _) => own.is_some(),
    }
}
