//! From a [`Platform`] to a [`Fabric`].

use std::sync::Arc;

use super::cluster::{Regular, RegularShape};
use super::platform::{Local, Platform, PlatformLink, Star};
use crate::diagnostic::{Diagnostic, Span};
use crate::fabric::{Fabric, FabricBuilder, Family, Irregular, Labels, Link, LinkRole, RouteTable, Tree};
use crate::ids::{LinkId, NodeId, VertexId};
use crate::units::Bandwidth;

/// Most hosts of a platform whose routes are listed: their number grows with its square.
const MOST_LISTED_HOSTS: usize = 2048;
/// Most links of all routes together [4 B each].
const MOST_ROUTE_LINKS: usize = 1 << 26;

/// The fabric; `root` is the place for what is wrong with the whole.
pub(super) fn fabric(platform: &Platform, name: &str, own_routes: bool, root: Span) -> Result<Fabric, Vec<Diagnostic>> {
    let labels = |links: Vec<String>| Labels {
        vertices: platform.hosts.iter().map(|&host| platform.points[host].name.clone()).collect(),
        links,
    };
    match single_cluster(platform) {
        Some(Local::Regular { regular, .. }) if regular.is_split() => {
            let routes = if own_routes || regular.is_usual() { None } else { Some(route_table(platform, root)?) };
            return Ok(regular_fabric(platform, regular, name, labels(Vec::new()), routes));
        }
        Some(Local::Star(star)) => {
            if let Some(fabric) = star_fabric(platform, star, name, &labels) {
                return Ok(fabric);
            }
        }
        _ => {}
    }
    let routes = route_table(platform, root)?;
    let mut builder = FabricBuilder::new(name, platform.hosts.len() as u32, 0);
    // What all shared links carry together is more than ever crosses a link that holds no message back.
    let ample: Bandwidth = platform.links.iter().filter(|link| link.shared).map(|link| link.bandwidth).sum();
    for link in &platform.links {
        builder.loose_link(if link.shared { link.bandwidth } else { ample }, link.latency);
    }
    builder.labels(labels(platform.links.iter().map(|link| link.name.clone()).collect()));
    builder.routes(routes);
    Ok(builder.finish(Irregular))
}

/// How routes are found in the one zone that holds all hosts, where that is a cluster.
fn single_cluster(platform: &Platform) -> Option<&Local> {
    let zone = platform.points[*platform.hosts.first()?].zone;
    let is_one = platform.zones[zone].bypasses.is_empty()
        && platform.hosts.iter().all(|&host| platform.points[host].zone == zone);
    is_one.then(|| &platform.zones[zone].local)
}

/// A fat-tree or torus of our own, with SimGrid's routes where they are given.
fn regular_fabric(
    platform: &Platform,
    regular: &Regular,
    name: &str,
    labels: Labels,
    routes: Option<RouteTable>,
) -> Fabric {
    let like = platform.links.get(regular.first as usize);
    let like = like.map_or_else(Default::default, |link| (link.bandwidth, link.latency));
    let plain = match &regular.shape {
        RegularShape::Tree(tree) => tree.clone().build(name.to_owned(), |_| like),
        RegularShape::Torus(grid) => grid.clone().build(name.to_owned(), |_| like),
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
    builder.finish_as(plain.shared_family())
}

/// A flat cluster as a crossbar, or as two switches joined by its backbone; `None` where it has another form: a
/// limiter, links for both directions, hosts without links, or links that nothing shares.
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

/// All routes between hosts.
fn route_table(platform: &Platform, root: Span) -> Result<RouteTable, Vec<Diagnostic>> {
    let hosts = &platform.hosts;
    let too_large = |message: String| {
        let mistake = Diagnostic::new("too-many-routes", message).at(root).label("its routes do not fit in memory");
        vec![match single_cluster(platform) {
            Some(Local::Regular { regular, .. }) if regular.is_split() => {
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
    let mut narrow = vec![None; platform.links.len()];
    for (i, &src) in hosts.iter().enumerate() {
        for (j, &dst) in hosts.iter().enumerate().filter(|&(j, _)| j != i) {
            route.clear();
            // A pair without a route is one that the document leaves without: an error once a message needs it.
            if !platform.route(src, dst, &mut route) {
                continue;
            }
            total += route.len();
            if total > MOST_ROUTE_LINKS {
                return Err(too_large(format!("the routes have more than {MOST_ROUTE_LINKS} links together")));
            }
            held_back(platform, &route, (src, dst), &mut narrow);
            ids.clear();
            ids.extend(route.iter().map(|&link| LinkId(link)));
            table.insert(NodeId(i as u32), NodeId(j as u32), &ids);
        }
    }
    let mistakes: Vec<Diagnostic> = narrow
        .iter()
        .enumerate()
        .filter_map(|(link, pair)| {
            let (src, dst) = (*pair)?;
            let name = |point: usize| platform.points[point].name.escape_debug();
            let PlatformLink { name: link, span, .. } = &platform.links[link];
            let message = format!(
                "the FATPIPE link `{}` is the narrowest on the way from `{}` to `{}`",
                link.escape_debug(),
                name(src),
                name(dst)
            );
            let help = "a limit for each single message is not supported: make it SHARED, or as wide as the narrowest \
                        shared link of each of its routes";
            Some(
                Diagnostic::new("fatpipe", message)
                    .at(*span)
                    .label("expected one that holds no message back")
                    .help(help),
            )
        })
        .take(20)
        .collect();
    if mistakes.is_empty() { Ok(table) } else { Err(mistakes) }
}

/// Notes the links of a route that hold its messages back although nothing is shared there.
fn held_back(platform: &Platform, route: &[u32], ends: (usize, usize), narrow: &mut [Option<(usize, usize)>]) {
    let links = || route.iter().map(|&link| (link as usize, &platform.links[link as usize]));
    if links().all(|(_, link)| link.shared) {
        return;
    }
    let shared = links().filter(|(_, link)| link.shared).map(|(_, link)| link.bandwidth).min();
    for (number, link) in links().filter(|(_, link)| !link.shared) {
        if shared.is_none_or(|shared| link.bandwidth < shared) {
            narrow[number].get_or_insert(ends);
        }
    }
}
