//! Redistribution: equal share, then rounds that hand out what flows throttled elsewhere leave unused.

use super::{Change, EqualShare, Sharing};

/// Rounds are never more than this, whatever the threshold.
const MOST_ROUNDS: usize = 4096;

/// A flow that has not been through any round yet.
const NEW: u32 = u32::MAX;

/// Equal share with redistribution.
///
/// With `r_0` the rates of [`EqualShare`], round k gives each link's left-over to its n(l) flows in equal parts, and
/// each flow takes the least that its links offer:
/// ```text
/// room_k(l) = c(l) - sum over flows f on l of r_k(f)
/// gain_k(f) = min over links l of f of room_k(l) / n(l)
/// r_k+1(f)  = r_k(f) + gain_k(f)
/// ```
/// A flow stops when its gain is below `threshold * r_k(f)` (gains only ever shrink, so it would not go on later).
/// No link is ever overbooked, as each of its flows takes at most an n-th of its room.
///
/// Source: MFS, step 5 of its cycle ("mode N"). By what a link's left-over is divided is open in the publication;
/// dividing by all flows on the link comes closest to its 8 to 13 rounds (`docs/models.md`). The published rule ends
/// when the *largest* relative gain of any flow is below the threshold; ending flow by flow differs by less than the
/// threshold and makes the rates a local matter.
///
/// # Round by round, only around the change
///
/// The rates of every round are kept (`layers`). When flows come or go, round k is worked out again on the links
/// whose flows came, went or changed their rate of round k; a flow whose rate of round k+1 comes out the same to the
/// last bit drops out. The sweep ends at the round in which no flow next to the change is still gaining.
///
/// Cost of a solve: O(k·t·h·m) for k rounds, t flows touched a round, h links a flow, m flows a link. Memory: k
/// doubles for each flow and link.
#[derive(Clone, Debug)]
pub struct Redistribute {
    base: EqualShare,
    /// By link \[B/s\].
    capacities: Vec<f64>,
    threshold: f64,
    layers: Vec<Layer>,
    /// By flow: the round at which it stopped; its rate from there on is that of this round.
    stop: Vec<u32>,
    /// How many flows stopped at each round.
    stopped: Vec<u32>,
    /// By flow: its rate at the end of the last solve \[B/s\].
    rates: Vec<f64>,
    rounds: Rounds,
    // Of the solve at hand:
    pass: Marks,
    links: Vec<u32>,
    flows: Vec<u32>,
    moved: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    /// By flow \[B/s\]; valid up to the round at which the flow stopped.
    rates: Vec<f64>,
    /// By link: capacity that this round's rates leave \[B/s\].
    room: Vec<f64>,
}

/// How many rounds the solves so far took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rounds {
    /// Number of solves.
    pub solves: u64,
    /// Rounds of all of them.
    pub total: u64,
    /// Fewest of one.
    pub min: u32,
    /// Most of one.
    pub max: u32,
}

/// Sets of links and flows that are emptied by counting up.
#[derive(Clone, Debug, Default)]
struct Marks {
    now: u64,
    links: Vec<u64>,
    flows: Vec<u64>,
    /// By flow: the solve in which it was first met.
    met: Vec<u64>,
}

impl Redistribute {
    /// No flows on links of these capacities \[B/s\]; rounds end at gains below this part of a rate.
    pub fn new(capacities: Vec<f64>, threshold: f64) -> Self {
        let links = capacities.len();
        Self {
            base: EqualShare::new(capacities.clone()),
            capacities,
            threshold,
            layers: Vec::new(),
            stop: Vec::new(),
            stopped: Vec::new(),
            rates: Vec::new(),
            rounds: Rounds { solves: 0, total: 0, min: u32::MAX, max: 0 },
            pass: Marks { links: vec![0; links], ..Marks::default() },
            links: Vec::new(),
            flows: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// Makes sure that round k has a layer with room for all flows.
    fn layer(&mut self, k: usize) {
        if k == self.layers.len() {
            let room = self.capacities.clone();
            self.layers.push(Layer { rates: Vec::new(), room });
            self.stopped.push(0);
        }
        let flows = self.base.flows();
        if self.layers[k].rates.len() < flows {
            self.layers[k].rates.resize(flows, 0.0);
        }
    }

    /// The rate of a flow in round k.
    fn rate_of_round(&self, flow: u32, k: usize) -> f64 {
        let stop = self.stop[flow as usize];
        let k = if stop == NEW { k } else { k.min(stop as usize) };
        self.layers[k].rates[flow as usize]
    }

    /// Works out the room of round k on the links that the moved flows cross, and on those given; collects the
    /// flows on them.
    fn gather(&mut self, k: usize, changed_links: &[u32]) {
        self.pass.now += 1;
        let now = self.pass.now;
        self.links.clear();
        self.flows.clear();
        let mut links = std::mem::take(&mut self.links);
        let mut flows = std::mem::take(&mut self.flows);
        let moved_links = self.moved.iter().flat_map(|&flow| self.base.links(flow));
        for &link in changed_links.iter().chain(moved_links) {
            if std::mem::replace(&mut self.pass.links[link as usize], now) != now {
                links.push(link);
            }
        }
        for &link in &links {
            let on_link = self.base.flows_on(link);
            let used: f64 = on_link.iter().map(|&flow| self.rate_of_round(flow, k)).sum();
            let room = (self.capacities[link as usize] - used).max(0.0);
            self.layers[k].room[link as usize] = room;
            for &flow in self.base.flows_on(link) {
                if std::mem::replace(&mut self.pass.flows[flow as usize], now) != now {
                    flows.push(flow);
                }
            }
        }
        self.links = links;
        self.flows = flows;
    }

    /// Sets the round at which a flow stops ([`NEW`]: not known yet).
    fn set_stop(&mut self, flow: u32, stop: u32) {
        let old = std::mem::replace(&mut self.stop[flow as usize], stop);
        if old != NEW {
            self.stopped[old as usize] -= 1;
        }
        if stop != NEW {
            self.stopped[stop as usize] += 1;
        }
    }

    /// Round k for the flows gathered: their rates of round k+1. Returns whether a later round can still change: one
    /// of them gains, or gained in this round until now (then flows it meets elsewhere have not been gathered yet).
    fn round(&mut self, k: usize, changed: &mut Vec<(u32, f64)>, solve: u64) -> bool {
        let flows = std::mem::take(&mut self.flows);
        let was_moved = std::mem::take(&mut self.moved);
        let mut next_moved = Vec::with_capacity(was_moved.len());
        let mut goes_on = false;
        for &flow in &flows {
            let f = flow as usize;
            let stop = self.stop[f];
            let met = self.pass.met[f] == solve;
            if stop != NEW && (stop as usize) < k {
                // It stopped in an earlier round. If that was during this solve, its rates of all later rounds may
                // differ from what they were.
                if met {
                    next_moved.push(flow);
                }
                continue;
            }
            if !met {
                self.pass.met[f] = solve;
                changed.push((flow, self.rates[f]));
            }
            let layer = &self.layers[k];
            let rate = layer.rates[f];
            let offer = |&link: &u32| layer.room[link as usize] / self.base.flows_on(link).len() as f64;
            let gain = self.base.links(flow).iter().map(offer).fold(f64::INFINITY, f64::min);
            let gains = gain >= self.threshold * rate && k + 1 < MOST_ROUNDS;
            // What the rate of round k+1 was in the last solve; a stopped flow's is its final rate.
            let known = stop != NEW && stop as usize > k;
            let before = if known { self.layers[k + 1].rates[f] } else { self.rates[f] };
            let after = if gains { rate + gain } else { rate };
            if gains {
                goes_on = true;
                self.layers[k + 1].rates[f] = after;
                if !known {
                    self.set_stop(flow, NEW);
                }
            } else {
                goes_on |= stop != k as u32;
                self.set_stop(flow, k as u32);
            }
            let stops_earlier = known && !gains;
            if after != before || stops_earlier || self.stop[f] == NEW {
                next_moved.push(flow);
            }
        }
        self.flows = flows;
        self.moved = next_moved;
        goes_on
    }
}

impl Sharing for Redistribute {
    fn add(&mut self, flow: u32, links: &[u32]) {
        self.base.add(flow, links);
        let flows = self.base.flows();
        if self.stop.len() < flows {
            self.stop.resize(flows, NEW);
            self.rates.resize(flows, 0.0);
            self.pass.flows.resize(flows, 0);
            self.pass.met.resize(flows, 0);
        }
        self.rates[flow as usize] = 0.0;
    }

    fn remove(&mut self, flow: u32) {
        self.base.remove(flow);
        self.set_stop(flow, NEW);
        self.rates[flow as usize] = 0.0;
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        let changed_links = self.base.changed_links().to_vec();
        let mut first = Vec::new();
        self.base.solve(&mut first);
        self.pass.now += 1;
        let solve = self.pass.now;
        self.layer(0);
        self.moved.clear();
        for change in first {
            self.layers[0].rates[change.flow as usize] = change.new;
            self.moved.push(change.flow);
        }
        let mut changed: Vec<(u32, f64)> = Vec::new();
        for k in 0.. {
            self.layer(k);
            self.layer(k + 1);
            self.gather(k, &changed_links);
            if !self.round(k, &mut changed, solve) {
                break;
            }
        }
        for (flow, old) in changed {
            let new = self.rate_of_round(flow, usize::MAX);
            self.rates[flow as usize] = new;
            if new != old {
                changes.push(Change { flow, old, new });
            }
        }
        if let Some(last) = self.stopped.iter().rposition(|&count| count > 0) {
            let rounds = last as u32 + 1;
            let all = &mut self.rounds;
            *all = Rounds {
                solves: all.solves + 1,
                total: all.total + u64::from(rounds),
                min: all.min.min(rounds),
                max: all.max.max(rounds),
            };
        }
    }

    fn rate(&self, flow: u32) -> f64 {
        self.rates[flow as usize]
    }

    /// The link that offered the least in the round in which the flow stopped.
    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let stop = self.stop[flow as usize];
        let offer = |link: u32| {
            let room = self.layers.get(stop as usize).map_or(0.0, |layer| layer.room[link as usize]);
            room / self.base.flows_on(link).len() as f64
        };
        let links = self.base.links(flow).iter().copied();
        links.min_by(|&a, &b| offer(a).total_cmp(&offer(b)))
    }

    /// A link that another dominates under equal share may still offer the least in a round.
    fn may_leave_out_dominated_links(&self) -> bool {
        false
    }

    /// Its rounds are counted, also those in which nothing is left to hand out.
    fn gives_even_flows_even_shares(&self) -> bool {
        false
    }

    fn rounds(&self) -> Option<Rounds> {
        (self.rounds.solves > 0).then_some(self.rounds)
    }
}
