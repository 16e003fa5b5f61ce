//! Loads of links over time, and the messages that crossed each of them.

use std::collections::BTreeMap;

use hayase::base::Arrange;
use hayase::ids::{Id, LinkId, RankId};
use hayase::network::Network;
use hayase::prediction::program::ranges;
use hayase::record::LinkSeries;
use hayase::report::{LinkUse, MessageRecord};
use hayase::simulation::LinkUses;
use hayase::units::Time;
use serde_json::{Value, json};

use super::run::RunData;
use super::sums::short;
use crate::svg;

/// Largest number of links, those with the most lost time or load.
const MOST_LINKS: usize = 1500;
/// Largest number of messages of one link, and of all links together.
const MOST_OF_LINK: usize = 20;
const MOST_MESSAGES: usize = 10_000;
/// Largest number of links whose loads over time are given besides, for a picture of all links.
const MOST_PAINTED: usize = 12_000;
/// Letters of the levels of a load, from 0 to the largest load.
const LEVELS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
/// Longest list of ranks \[characters\].
const MOST_LETTERS: usize = 80;
/// Mark of a link that is left out.
const LEFT_OUT: u32 = u32::MAX;

/// Messages that crossed the links which are shown.
struct Crossings<'a> {
    network: &'a Network,
    messages: &'a [MessageRecord],
    /// Place of each link among those shown.
    place: Vec<u32>,
    /// By place: indices of messages.
    of_link: Vec<Vec<u32>>,
    /// By message: time lost to other messages \[s\].
    lost_s: Vec<f64>,
    /// Bytes of links over time, by place.
    series: LinkSeries,
}

impl<'a> Crossings<'a> {
    fn of(run: &'a RunData<'_>, network: &'a Network, shown: &[&LinkUse]) -> Self {
        let mut place = vec![LEFT_OUT; run.links.len()];
        for (i, link) in shown.iter().enumerate() {
            place[link.id as usize] = i as u32;
        }
        let (of_link, messages) = (vec![Vec::new(); shown.len()], &*run.messages);
        let (lost_s, series) = (vec![0.0; messages.len()], LinkSeries::new(shown.len()));
        let mut crossings = Self { network, messages, place, of_link, lost_s, series };
        for i in 0..messages.len() {
            crossings.add(i);
        }
        crossings
    }

    /// Adds a message to the links of its route. With the network to itself, a message takes the latencies of its links
    /// and the time of its bytes on the narrowest of them; the rest of its time is lost to other messages.
    fn add(&mut self, index: usize) {
        let MessageRecord { src, dst, bytes, start_s, end_s, .. } = self.messages[index];
        let [from, to] = [src, dst].map(|rank| self.network.placement[RankId(rank)]);
        if from == to || !self.network.router.reaches(from, to) {
            return;
        }
        let mut route = Vec::new();
        self.network.router.route(from, to, &mut route);
        let (mut latency_s, mut narrowest) = (0.0, f64::INFINITY);
        for &id in &route {
            let link = self.network.fabric.link(id);
            latency_s += link.latency.seconds();
            narrowest = narrowest.min(link.capacity.bytes_per_second());
            if let Some(of_link) = self.of_link.get_mut(self.place[id.index()] as usize) {
                of_link.push(index as u32);
            }
        }
        self.lost_s[index] = (end_s - start_s - latency_s - bytes as f64 / narrowest).max(0.0);
        let places = route.iter().map(|id| self.place[id.index()]).filter(|place| *place != LEFT_OUT);
        let on_links = places.map(|place| (LinkId(place), bytes as f64));
        self.series.add(Time::from_seconds(start_s), Time::from_seconds(end_s), on_links);
    }
}

/// Returns the most loaded links with their loads and messages; `None` without a network.
pub(super) fn links(run: &RunData<'_>) -> Option<Value> {
    let network = run.network?;
    let mut shown: Vec<&LinkUse> = run.links.iter().filter(|link| link.bytes > 0).collect();
    let used = shown.len();
    shown.arrange_by(|a, b| {
        b.delay_s.total_cmp(&a.delay_s).then(b.utilisation.total_cmp(&a.utilisation)).then(a.id.cmp(&b.id))
    });
    shown.truncate(MOST_LINKS);
    if shown.is_empty() {
        return None;
    }
    let unknown = unknown(run, network);
    let crossings = unknown.is_empty().then(|| Crossings::of(run, network, &shown));
    let has_delays = run.measured.is_some_and(LinkUses::has_delays);
    let has_lost = has_delays && network.transport.is_plain_flow() && !network.fabric.limits_messages();
    let end = Time::from_seconds(run.end_s);
    let measured = run.measured.filter(|uses| uses.span() > Time::ZERO);
    let span = measured.map(LinkUses::span).or(crossings.as_ref().map(|crossings| crossings.series.span()));
    let mut kept: BTreeMap<u32, usize> = BTreeMap::new();
    let mut messages = Vec::new();
    let mut keep = |index: u32, message: &MessageRecord, lost_s: f64| {
        *kept.entry(index).or_insert_with(|| {
            let MessageRecord { src, dst, index, bytes, start_s, end_s } = *message;
            messages.push(json!([src, dst, index, bytes, short(start_s), short(end_s), short(lost_s)]));
            messages.len() - 1
        })
    };
    let vertex = |id| json!([Id::index(id), network.fabric.vertex_name(id)]);
    let mut room = MOST_MESSAGES;
    let rows = shown.iter().enumerate().map(|(place, link)| {
        let id = LinkId(link.id);
        let loads = match (measured, &crossings) {
            (Some(uses), _) => uses.loads(id),
            (None, Some(crossings)) => crossings.series.loads(LinkId(place as u32), link.capacity_bps, end),
            (None, None) => Vec::new(),
        };
        let loads: Vec<u32> = loads.iter().map(|load| (load * 1e4).round() as u32).collect();
        let mut row = json!({
            "id": link.id, "name": link.name, "capacity": short(link.capacity_bps), "bytes": link.bytes,
            "use": short(link.utilisation), "busy": short(link.busy_s), "lost": short(link.delay_s),
            "peak": link.peak_flows, "load": loads,
            "ends": network.fabric.link(id).ends.map(|(from, to)| [vertex(from), vertex(to)]),
        });
        let Some(crossings) = &crossings else { return row };
        let mut order = crossings.of_link[place].clone();
        let (of, lost) = (|&i: &u32| &run.messages[i as usize], |&i: &u32| crossings.lost_s[i as usize]);
        let ends = |end: fn(&MessageRecord) -> u32| {
            let mut ranks: Vec<u32> = order.iter().map(|i| end(of(i))).collect();
            ranks.sort_unstable();
            ranks.dedup();
            json!([ranks.len(), listed(&ranks)])
        };
        row["all"] = order.len().into();
        row["senders"] = ends(|message| message.src);
        row["receivers"] = ends(|message| message.dst);
        row["first"] = short(order.iter().map(|i| of(i).start_s).fold(f64::INFINITY, f64::min));
        row["last"] = short(order.iter().map(|i| of(i).end_s).fold(0.0, f64::max));
        if !run.jobs.is_empty() {
            let mut of_job = vec![0; run.jobs.len()];
            order.iter().for_each(|i| of_job[run.job_of(of(i).src)] += of(i).bytes);
            row["jobs"] = of_job.into();
        }
        order.arrange_by(|a, b| {
            let by_lost = if has_lost { lost(b).total_cmp(&lost(a)) } else { std::cmp::Ordering::Equal };
            by_lost.then(of(b).bytes.cmp(&of(a).bytes)).then(a.cmp(b))
        });
        order.truncate(MOST_OF_LINK.min(room));
        room -= order.len();
        row["flows"] = order.iter().map(|i| keep(*i, of(i), lost(i))).collect();
        row
    });
    let rows: Vec<Value> = rows.collect();
    let all = measured.filter(|_| used > MOST_LINKS && run.links.len() <= MOST_PAINTED);
    let (limit, colours) = svg::load_scale(run.links.iter().map(|link| link.utilisation));
    Some(json!({
        "rows": rows, "used": used, "of": run.links.len(), "span": short(span.map_or(0.0, Time::seconds)), "unknown": unknown,
        "delays": has_delays, "lost": has_lost, "messages": messages, "limit": limit, "colours": colours,
        "all": all.map(|uses| levels(uses, run.links.len())),
    }))
}

/// Returns the loads of all links over time as letters, a text for each link, with the largest load.
fn levels(uses: &LinkUses, links: usize) -> Value {
    let loads: Vec<Vec<f64>> = (0..links).map(|link| uses.loads(LinkId(link as u32))).collect();
    let peak = loads.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let letter = |load: &f64| char::from(LEVELS[((load / peak * 63.0).round() as usize).min(63)]);
    let texts: Vec<String> = loads.iter().map(|of| of.iter().map(letter).collect()).collect();
    json!({"peak": short(peak), "levels": texts})
}

/// Returns the reason why the messages of links are not known; empty if they are.
fn unknown(run: &RunData<'_>, network: &Network) -> &'static str {
    match () {
        () if !run.unknown.is_empty() => run.unknown,
        () if network.router.choice().is_some() => "routes were chosen during the run and are not recorded",
        () if network.events().is_some() => "links failed or changed during the run, so that routes are not recorded",
        () if network.plan.is_some() => "messages have paths of their own",
        () => "",
    }
}

/// Writes ascending ranks as ranges, `0-3,7`; a long list ends with an ellipsis.
fn listed(ranks: &[u32]) -> String {
    let all = ranges(ranks);
    match all.get(..MOST_LETTERS).and_then(|start| start.rsplit_once(',')) {
        Some((start, _)) => format!("{start},…"),
        None => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_as_ranges() {
        assert_eq!(listed(&[0, 1, 2, 7, 9, 10]), "0-2,7,9-10");
        assert_eq!(listed(&[]), "");
        let even: Vec<u32> = (0..200).map(|i| 2 * i).collect();
        let text = listed(&even);
        assert!(text.ends_with(",…") && text.len() < MOST_LETTERS + 4, "{text}");
    }
}
