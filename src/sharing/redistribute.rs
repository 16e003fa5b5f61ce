//! Redistribution: equal share, then rounds that hand out what flows throttled elsewhere leave unused.

use super::equal_share::EqualShare;
use super::policy::{Change, Rounds, Sharing};

/// Rounds are never more than this, whatever the threshold.
const MOST_ROUNDS: usize = 4096;

/// A flow that has not been through all its rounds yet.
const NEW: u32 = u32::MAX;

/// Marks the solve in which a link had no flow left that gains.
const CLOSED: u64 = 1 << 63;

/// Equal share with redistribution.
///
/// With `r_0` the rates of [`EqualShare`], round k gives each link's left-over to its n(l) flows in equal parts, and
/// each flow takes the least that its links offer:
/// ```text
/// offer_k(l) = (c(l) - sum over flows f on l of r_k(f)) / n(l)
/// gain_k(f)  = min over links l of f of offer_k(l)
/// r_k+1(f)   = r_k(f) + gain_k(f)
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
/// Rates, gains and offers of every round are kept (`layers`). When flows come or go, round k is worked out again on
/// the links whose flows came, went or changed their rate of round k. A link's new offer concerns those of its flows
/// whose gain was above it, and those whose gain *was* its old offer; only they look at their whole route again, and
/// one whose rate of round k+1 comes out the same to the last bit drops out. A link all of whose flows have stopped
/// offers to nobody and is closed for the rest of the solve. The sweep ends at the round in which no flow next to the
/// change is still gaining.
///
/// A link may be left out if its flows all cross another of no larger capacity: it has no more flows and no less room,
/// so in every round it offers no less.
///
/// Cost of a solve: O(k·(d·m + t·h)) for k rounds, d links with m flows each worked out a round, t flows of h links
/// that look at their route again. Memory: 2 k doubles for each flow and k for each link.
#[derive(Clone, Debug)]
pub struct Redistribute {
    base: EqualShare,
    /// By link \[B/s\].
    capacities: Vec<f64>,
    threshold: f64,
    /// By round; one more than there ever was a round, and at least one.
    layers: Vec<Layer>,
    /// By flow: the round at which it stopped.
    stop: Vec<u32>,
    /// How many flows stopped at each round.
    stopped: Vec<u32>,
    /// By flow: its rate at the end of the last solve \[B/s\].
    rates: Vec<f64>,
    rounds: Rounds,
    front: Front,
}

/// One round.
#[derive(Clone, Debug, Default)]
struct Layer {
    /// By flow \[B/s\]; from the round at which it stopped, its rate is the same in all.
    rates: Vec<f64>,
    /// By flow: what it gains in this round \[B/s\]; up to the round at which it stopped.
    gains: Vec<f64>,
    /// By link: its left-over for each of its flows \[B/s\]; as long as one of them has not stopped in an earlier
    /// round.
    offers: Vec<f64>,
}

/// What a solve is about.
#[derive(Clone, Debug, Default)]
struct Front {
    /// Counts rounds of all solves; sets are emptied by counting up.
    now: u64,
    /// By link: the round in which it was last worked out, or the solve in which it had no flow left that gains.
    links: Vec<u64>,
    /// By link: the solve in which it last was one of `changed`.
    listed: Vec<u64>,
    /// By flow: the round in which it last looked at its route.
    flows: Vec<u64>,
    /// By flow: the solve in which it first did.
    met: Vec<u64>,
    /// By flow met in this solve: the round at which it had stopped before.
    old_stop: Vec<u32>,
    /// Links whose flows came or went since the last solve, some of them twice.
    came_or_went: Vec<u32>,
    /// Links that differ in all rounds to come, as long as one of their flows is gaining: their flows came, went, or
    /// have stopped at another rate.
    changed: Vec<u32>,
    /// Flows whose rates of this round are not those of the last solve, or that had stopped before it.
    moved: Vec<u32>,
    /// Flows that look at their route in this round.
    looking: Vec<u32>,
    /// Flows that have stopped in this solve, before the round at which they stopped in the last one.
    settled: Vec<u32>,
    /// Flows met, with their rates of the last solve.
    rates_before: Vec<(u32, f64)>,
    /// What equal share has changed.
    first: Vec<Change>,
}

impl Redistribute {
    /// No flows on links of these capacities \[B/s\]; rounds end at gains below this part of a rate.
    pub fn new(capacities: Vec<f64>, threshold: f64) -> Self {
        let links = capacities.len();
        Self {
            base: EqualShare::new(capacities.clone()),
            layers: vec![Layer { offers: vec![0.0; links], ..Layer::default() }],
            capacities,
            threshold,
            stop: Vec::new(),
            stopped: vec![0],
            rates: Vec::new(),
            rounds: Rounds::default(),
            front: Front { links: vec![0; links], listed: vec![0; links], ..Front::default() },
        }
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

    /// Makes sure that there is a round after round k. No flow has gone so far yet: rates are those of round k.
    fn extend(&mut self, k: usize) {
        if k + 1 == self.layers.len() {
            let Layer { rates, gains, offers } = &self.layers[k];
            let next = Layer { rates: rates.clone(), gains: vec![0.0; gains.len()], offers: vec![0.0; offers.len()] };
            self.layers.push(next);
            self.stopped.push(0);
        }
    }

    /// Works out round k on the links concerned and collects the flows that look at their route again. Returns whether
    /// any flow on these links is still gaining.
    fn gather(&mut self, k: usize, solve: u64) -> bool {
        let Self { base, capacities, layers, stop, front, .. } = self;
        let Front { now, links, flows, changed, moved, looking, .. } = front;
        *now += 1;
        looking.clear();
        for &flow in &*moved {
            if stop[flow as usize] >= k as u32 {
                flows[flow as usize] = *now;
                looking.push(flow);
            }
        }
        let Layer { rates, gains, offers } = &mut layers[k];
        let mut any = false;
        let closed = solve | CLOSED;
        // Whether one of its flows is still gaining: if not, none of them will in this solve.
        let mut work_out = |link: u32| {
            let seen = links[link as usize];
            if seen == *now || seen == closed {
                return seen == *now;
            }
            let on_link = base.flows_on(link);
            let (mut used, mut is_open) = (0.0, false);
            for &flow in on_link {
                used += rates[flow as usize];
                is_open |= stop[flow as usize] >= k as u32;
            }
            links[link as usize] = if is_open { *now } else { closed };
            if !is_open {
                return false;
            }
            any = true;
            let new = (capacities[link as usize] - used).max(0.0) / on_link.len() as f64;
            let old = std::mem::replace(&mut offers[link as usize], new);
            if new != old {
                for &flow in on_link {
                    let (f, gain) = (flow as usize, gains[flow as usize]);
                    if ((gain > new) | (gain == old)) && stop[f] >= k as u32 && flows[f] != *now {
                        flows[f] = *now;
                        looking.push(flow);
                    }
                }
            }
            true
        };
        changed.retain(|&link| work_out(link));
        for &flow in &*moved {
            for &link in base.links(flow) {
                work_out(link);
            }
        }
        any
    }

    /// Round k for the flows gathered: their rates of round k+1.
    fn round(&mut self, k: usize, solve: u64) {
        let looking = std::mem::take(&mut self.front.looking);
        self.front.moved.clear();
        for &flow in &looking {
            let f = flow as usize;
            if std::mem::replace(&mut self.front.met[f], solve) != solve {
                self.front.old_stop[f] = self.stop[f];
                self.front.rates_before.push((flow, self.rates[f]));
            }
            let offers = &self.layers[k].offers;
            let gain = self.base.links(flow).iter().map(|&link| offers[link as usize]).fold(f64::INFINITY, f64::min);
            let rate = self.layers[k].rates[f];
            self.layers[k].gains[f] = gain;
            if gain >= self.threshold * rate && k + 1 < MOST_ROUNDS {
                let after = rate + gain;
                let before = std::mem::replace(&mut self.layers[k + 1].rates[f], after);
                let old_stop = self.front.old_stop[f];
                let goes_on_longer = old_stop == NEW || old_stop as usize <= k;
                if goes_on_longer {
                    self.set_stop(flow, NEW);
                }
                if after != before || goes_on_longer {
                    self.front.moved.push(flow);
                }
            } else {
                self.set_stop(flow, k as u32);
                self.front.settled.push(flow);
            }
        }
        self.front.looking = looking;
    }

    /// Takes the rates of flows that have stopped over into round k+1. Returns whether all that are left are others
    /// there than before.
    fn settle(&mut self, k: usize, solve: u64) -> bool {
        let Self { base, layers, stop, front, .. } = self;
        let Front { moved, settled, old_stop, changed, listed, .. } = front;
        let mut all = true;
        settled.retain(|&flow| {
            let f = flow as usize;
            let after = layers[stop[f] as usize].rates[f];
            let before = std::mem::replace(&mut layers[k + 1].rates[f], after);
            if old_stop[f] != NEW && old_stop[f] as usize > k + 1 {
                // It went on gaining before: its rate may yet differ where it does not now.
                all &= after != before;
                if after != before {
                    moved.push(flow);
                }
                return true;
            }
            // The links of a new flow have changed anyway; all that is known of it is of another.
            if after != before || old_stop[f] == NEW {
                layers[k + 2..].iter_mut().for_each(|layer| layer.rates[f] = after);
                for &link in base.links(flow) {
                    if std::mem::replace(&mut listed[link as usize], solve) != solve {
                        changed.push(link);
                    }
                }
            }
            false
        });
        all
    }
}

impl Sharing for Redistribute {
    fn add(&mut self, flow: u32, links: &[u32]) {
        self.base.add(flow, links);
        self.front.came_or_went.extend_from_slice(links);
        let flows = self.base.flows();
        if self.stop.len() < flows {
            self.stop.resize(flows, NEW);
            self.rates.resize(flows, 0.0);
            self.front.flows.resize(flows, 0);
            self.front.met.resize(flows, 0);
            self.front.old_stop.resize(flows, NEW);
            for layer in &mut self.layers {
                layer.rates.resize(flows, 0.0);
                layer.gains.resize(flows, 0.0);
            }
        }
        self.rates[flow as usize] = 0.0;
    }

    fn remove(&mut self, flow: u32) {
        self.front.came_or_went.extend_from_slice(self.base.links(flow));
        self.base.remove(flow);
        self.set_stop(flow, NEW);
        self.rates[flow as usize] = 0.0;
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.base.set_capacity(link, capacity);
        self.front.came_or_went.push(link);
        self.capacities[link as usize] = capacity;
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        let Self { base, layers, front, .. } = self;
        base.solve(&mut front.first);
        front.now += 1;
        let solve = front.now;
        front.changed.clear();
        for link in front.came_or_went.drain(..) {
            if std::mem::replace(&mut front.listed[link as usize], solve) != solve {
                front.changed.push(link);
            }
        }
        front.moved.clear();
        front.settled.clear();
        for change in front.first.drain(..) {
            layers[0].rates[change.flow as usize] = change.new;
            front.moved.push(change.flow);
        }
        let mut k = 0;
        let mut all_differ = true;
        loop {
            let any = self.gather(k, solve);
            if !any && all_differ {
                break;
            }
            self.extend(k);
            self.round(k, solve);
            all_differ = self.settle(k, solve);
            k += 1;
        }
        let Self { layers, stop, front, rates, .. } = self;
        for &flow in &front.settled {
            let f = flow as usize;
            let rate = layers[stop[f] as usize].rates[f];
            layers[k..].iter_mut().for_each(|layer| layer.rates[f] = rate);
        }
        for (flow, old) in front.rates_before.drain(..) {
            let f = flow as usize;
            let new = layers[stop[f] as usize].rates[f];
            rates[f] = new;
            if new != old {
                changes.push(Change { flow, old, new });
            }
        }
        if let Some(last) = self.stopped.iter().rposition(|&count| count > 0) {
            self.rounds.count(last as u32 + 1);
        }
    }

    fn rate(&self, flow: u32) -> f64 {
        self.rates[flow as usize]
    }

    /// The link that offered the least in the round in which the flow stopped.
    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let layer = self.layers.get(self.stop[flow as usize] as usize);
        let offer = |link: u32| layer.map_or(0.0, |layer| layer.offers[link as usize]);
        let links = self.base.links(flow).iter().copied();
        links.min_by(|&a, &b| offer(a).total_cmp(&offer(b)))
    }

    /// Its rounds are counted, also those in which nothing is left to hand out.
    fn gives_even_flows_even_shares(&self) -> bool {
        false
    }

    fn rounds(&self) -> Option<Rounds> {
        self.rounds.known()
    }
}
