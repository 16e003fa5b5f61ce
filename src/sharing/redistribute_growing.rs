//! Redistribution, the other reading: left-over goes to flows that can still grow, and to no others.

use super::equal_share::EqualShare;
use super::policy::{Change, Rounds, Sharing};

/// Rounds are never more than this, whatever the threshold.
const MOST_ROUNDS: u32 = 4096;

/// A link whose left-over is below this part of its capacity is full.
pub(super) const FULL: f64 = 1e-9;

/// Equal share with redistribution among flows that can still grow.
///
/// With `r_0` the rates of [`EqualShare`], a flow can grow in round k while each of its links has room. Each link's
/// left-over is divided evenly among its m(l) flows that can, and each takes the least that its links offer:
/// ```text
/// left_k(l) = c(l) - sum over flows f on l of r_k(f)
/// m_k(l)    = number of flows on l all of whose links have left_k > 1e-9 c
/// gain_k(f) = min over links l of f of left_k(l) / m_k(l)      if f can grow, else 0
/// r_k+1(f)  = r_k(f) + gain_k(f)
/// ```
/// until `max over f of gain_k(f) / r_k(f) < threshold`. No link is ever overbooked, as each of its m flows takes at
/// most an m-th of its left-over; each round fills the link that offers least, so there are never more rounds than
/// links. A flow's gain may grow from one round to the next, as m falls; so rounds end for all flows at once, as
/// published, and the rates of far-away flows matter.
///
/// Source: MFS, step 5 of its cycle ("mode N"): what is left "is given to other flows that have room".
///
/// For comparison with [`super::Redistribute`] only: every solve goes through all flows. Cost: O(k·f·h) for k rounds, f
/// flows, h links each.
#[derive(Clone, Debug)]
pub struct RedistributeGrowing {
    base: EqualShare,
    /// By link \[B/s\].
    capacities: Vec<f64>,
    threshold: f64,
    /// By flow: its rate at the end of the last solve \[B/s\]; 0 for one that is not there.
    rates: Vec<f64>,
    /// By link: what the flows leave at the end of the last solve \[B/s\].
    left: Vec<f64>,
    /// By link: its flows that can still grow.
    growing_on: Vec<u32>,
    /// Flows that can still grow, by id.
    growing: Vec<u32>,
    /// By flow: the rate that is worked out \[B/s\].
    next: Vec<f64>,
    rounds: Rounds,
}

impl RedistributeGrowing {
    /// No flows on links of these capacities \[B/s\]; rounds end when no rate grows by this part of itself.
    pub fn new(capacities: Vec<f64>, threshold: f64) -> Self {
        Self {
            base: EqualShare::new(capacities.clone()),
            threshold,
            rates: Vec::new(),
            left: capacities.clone(),
            growing_on: vec![0; capacities.len()],
            capacities,
            growing: Vec::new(),
            next: Vec::new(),
            rounds: Rounds::default(),
        }
    }

    /// Goes through all rounds from equal share on; returns how many there were.
    fn work_out(&mut self) -> u32 {
        let Self { base, capacities, threshold, left, growing_on, growing, next, .. } = self;
        left.copy_from_slice(capacities);
        growing.clear();
        // By id, whatever the order in which they came.
        for flow in 0..base.flows() as u32 {
            let links = base.links(flow);
            next[flow as usize] = if links.is_empty() { 0.0 } else { base.rate(flow) };
            if !links.is_empty() {
                growing.push(flow);
            }
            for &link in links {
                left[link as usize] -= base.rate(flow);
            }
        }
        for round in 1..=MOST_ROUNDS {
            growing_on.fill(0);
            // Room only shrinks: what cannot grow now never will.
            growing.retain(|&flow| {
                let links = base.links(flow);
                let can = links.iter().all(|&link| left[link as usize] > FULL * capacities[link as usize]);
                if can {
                    links.iter().for_each(|&link| growing_on[link as usize] += 1);
                }
                can
            });
            let offer = |&link: &u32| left[link as usize] / f64::from(growing_on[link as usize]);
            let gain_of = |flow| base.links(flow).iter().map(offer).fold(f64::INFINITY, f64::min);
            let gains: Vec<f64> = growing.iter().map(|&flow| gain_of(flow)).collect();
            let mut all_are_small = true;
            for (&flow, gain) in growing.iter().zip(&gains) {
                all_are_small &= *gain < *threshold * next[flow as usize];
            }
            if all_are_small {
                return round;
            }
            for (&flow, gain) in growing.iter().zip(&gains) {
                next[flow as usize] += gain;
                for &link in base.links(flow) {
                    left[link as usize] -= gain;
                }
            }
        }
        MOST_ROUNDS
    }
}

impl Sharing for RedistributeGrowing {
    fn add(&mut self, flow: u32, links: &[u32]) {
        self.base.add(flow, links);
        let flows = self.base.flows();
        if self.rates.len() < flows {
            self.rates.resize(flows, 0.0);
            self.next.resize(flows, 0.0);
        }
        self.rates[flow as usize] = 0.0;
    }

    fn remove(&mut self, flow: u32) {
        self.base.remove(flow);
        self.rates[flow as usize] = 0.0;
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.base.set_capacity(link, capacity);
        self.capacities[link as usize] = capacity;
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        self.base.solve(&mut Vec::new());
        let rounds = self.work_out();
        let mut any = false;
        for (flow, (old, &new)) in self.rates.iter_mut().zip(&self.next).enumerate() {
            any |= new > 0.0;
            if new != *old {
                changes.push(Change { flow: flow as u32, old: *old, new });
                *old = new;
            }
        }
        if any {
            self.rounds.count(rounds);
        }
    }

    fn rate(&self, flow: u32) -> f64 {
        self.rates[flow as usize]
    }

    /// The link with the least left for its capacity.
    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let part = |link: u32| self.left[link as usize] / self.capacities[link as usize];
        self.base.links(flow).iter().copied().min_by(|&a, &b| part(a).total_cmp(&part(b)))
    }

    /// Its rounds are counted, also those in which nothing is left to hand out.
    fn gives_even_flows_even_shares(&self) -> bool {
        false
    }

    fn rounds(&self) -> Option<Rounds> {
        self.rounds.known()
    }
}
