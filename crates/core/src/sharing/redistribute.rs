//! Redistribution: equal share, then rounds that hand out bandwidth that flows throttled elsewhere leave
//! unused.

use super::equal_share::EqualShare;
use super::policy::{Change, Rounds, Sharing};
use std::hint::select_unpredictable;

/// Largest number of rounds, whatever the threshold.
const MOST_ROUNDS: usize = 4096;

/// Stopping round of a flow that has not been through all its rounds yet.
const NEW: u32 = u32::MAX;

/// Distance of the counters of two solves; above the number of rounds.
const SPAN: u64 = MOST_ROUNDS as u64 + 2;

/// Initial room for rounds: on fat-trees there are seldom more than 16. The steps of a flow take an odd number of
/// cache lines, five here, which spreads those of one round over all sets of a cache.
const FEWEST: usize = 20;

/// Equal share with redistribution.
///
/// With `r_0` the rates of [`EqualShare`], round k gives each link's left-over to its n(l) flows in equal
/// parts, and each flow takes the least that its links offer:
/// ```text
/// offer_k(l) = (c(l) - sum over flows f on l of r_k(f)) / n(l)
/// gain_k(f)  = min over links l of f of offer_k(l)
/// r_k+1(f)   = r_k(f) + gain_k(f)
/// ```
/// A flow stops when its gain is below `threshold * r_k(f)` (gains only ever shrink, so it would not go on
/// later). No link is ever overbooked, as each of its flows takes at most an n-th of its room.
///
/// Source: MFS, step 5 of its cycle ("mode N"). The publication leaves open by what a link's left-over is
/// divided; dividing by all flows on the link comes closest to its 8 to 13 rounds (`docs/concepts/sharing.md`). The
/// published rule ends when the *largest* relative gain of any flow is below the threshold. Ending flow by
/// flow differs by less than the threshold and makes the rates a local matter.
///
/// # Round by round, only around the change
///
/// Rates, gains and offers of every round are kept. When flows come or go, round k is computed again on the
/// links whose flows came, went or changed their rate of round k. A link's new offer concerns those of its
/// flows whose gain was above it, and those whose gain *was* its old offer. Only these flows look at their
/// whole route again. A flow whose rate of round k+1 is the same to the last bit drops out. A link all of
/// whose flows have stopped makes no offers and is closed for the rest of the solve. The sweep ends at the
/// round in which no flow next to the change is still gaining.
///
/// Most links hold none of their flows back: the largest gain of a flow on them, found while its rates are
/// added up, is below their offer, before and after. Flows are looked at one by one only on the other links.
///
/// A link may be left out if its flows all cross another of no larger capacity: it has no more flows and no
/// less room, so in every round it offers no less.
///
/// Cost of a solve: O(k·(d·m + t·h)) for k rounds, d links with m flows each computed a round, t flows of h
/// links that look at their route again. Memory: 2 K doubles for each flow and K for each link, where K is
/// one more than the largest number of rounds so far, rounded up to 20, 36, 68 and so on.
#[derive(Clone, Debug)]
pub struct Redistribute {
    base: EqualShare,
    threshold: f64,
    links: Vec<Link>,
    flows: Vec<Flow>,
    /// Steps by flow and round; each flow has room for all kept rounds. A flow behind the last one takes nothing.
    steps: Vec<Step>,
    /// By round and link: its left-over for each of its flows \[B/s\]; valid as long as one of them has not
    /// stopped in an earlier round.
    offers: Vec<f64>,
    layout: RoundLayout,
    /// Number of flows that stopped at each round.
    stopped: Vec<u32>,
    rounds: Rounds,
    current: SolveState,
}

/// Number of rounds that are kept.
#[derive(Clone, Copy, Debug)]
struct RoundLayout {
    /// One more than the largest number of rounds so far, and at least 1.
    count: usize,
    /// Number of rounds for which there is room; four times an odd number.
    room: usize,
}

impl RoundLayout {
    /// Returns the index of round k of a flow or link.
    #[inline(always)]
    fn at(self, id: u32, k: usize) -> usize {
        id as usize * self.room + k
    }

    /// Returns the indices of all rounds of a flow or link from k on, including rounds that are not in use
    /// yet.
    #[inline(always)]
    fn from(self, id: u32, k: usize) -> std::ops::Range<usize> {
        self.at(id, k)..self.at(id + 1, 0)
    }
}

/// State of a flow in one round.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Rate \[B/s\]; constant from the round at which the flow stopped.
    rate: f64,
    /// Gain in this round \[B/s\]; [`STOPPED_GAIN`] after the round at which the flow stopped.
    gain: f64,
}

/// Gain of a flow that has stopped; below every offer.
const STOPPED_GAIN: f64 = -1.0;

/// State of a link, beside its offers.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Capacity \[B/s\].
    capacity: f64,
    /// First round in which it may be computed again: the next one, or the first one of the next solve if it has no
    /// gaining flow left.
    next: u64,
    /// Last solve in which it was one of [`SolveState::changed`].
    listed: u64,
    /// Number of rounds in which a flow on it may gain.
    rounds: u32,
}

/// State of a flow, beside its steps.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Rate at the end of the last solve \[B/s\].
    rate: f64,
    /// Round in which it last looked at its route.
    seen: u64,
    /// Last solve in which it looked at its route.
    last_solve: u64,
    /// Round at which it stopped.
    stop: u32,
    /// Round at which it had stopped before, if it has looked at its route in this solve.
    old_stop: u32,
}

impl Flow {
    const ABSENT: Self = Self { rate: 0.0, seen: 0, last_solve: 0, stop: NEW, old_stop: NEW };
}

/// Working state of a solve.
#[derive(Clone, Debug, Default)]
struct SolveState {
    /// Counter of the rounds of all solves; counting up empties sets.
    now: u64,
    /// Links whose flows came or went since the last solve; some occur twice.
    came_or_went: Vec<u32>,
    /// Links that differ in all rounds to come, as long as one of their flows is gaining: their flows came,
    /// went, or have stopped at another rate.
    changed: Vec<u32>,
    /// Number of these links; the rest of the list is room.
    changed_links: usize,
    /// Flows whose rates of this round differ from the last solve, or that had stopped before this round
    /// there.
    moved: Vec<u32>,
    /// Links that are computed in this round, with room behind them.
    links_in_round: Vec<u32>,
    /// Links in this round that may hold flows back, with their offers before, and room behind them.
    holding: Vec<(u32, f64)>,
    /// Flows that look at their route in this round.
    looking: Vec<u32>,
    /// Number of these flows; the rest of the list is room.
    looking_flows: usize,
    /// Flows that have stopped in this solve, at an earlier round than in the last one.
    settled: Vec<u32>,
    /// Flows that have looked at their route in this solve, with their rates of the last solve.
    rates_before: Vec<(u32, f64)>,
    /// Changes of equal share.
    first: Vec<Change>,
}

impl Redistribute {
    /// Creates links of these capacities \[B/s\] without flows. Rounds end at gains below `threshold`, as a
    /// part of a rate.
    pub fn new(capacities: Vec<f64>, threshold: f64) -> Self {
        let layout = RoundLayout { count: 1, room: FEWEST };
        let room = vec![0; capacities.len() + 1];
        let current = SolveState {
            changed: room.clone(),
            holding: vec![(0, 0.0); capacities.len() + 1],
            links_in_round: room,
            ..SolveState::default()
        };
        Self {
            links: capacities.iter().map(|&capacity| Link { capacity, next: 0, listed: 0, rounds: 0 }).collect(),
            offers: vec![0.0; capacities.len()],
            base: EqualShare::new(capacities),
            threshold,
            flows: Vec::new(),
            steps: Vec::new(),
            layout,
            stopped: vec![0],
            rounds: Rounds::default(),
            current,
        }
    }

    /// Sets the round at which a flow stops; [`NEW`] if it is not known yet.
    #[inline(always)]
    fn set_stop(flow: &mut Flow, stopped: &mut [u32], stop: u32) {
        let old = std::mem::replace(&mut flow.stop, stop);
        if old != NEW {
            stopped[old as usize] -= 1;
        }
        if stop != NEW {
            stopped[stop as usize] += 1;
        }
    }

    /// Makes sure that there is a round after round k. No flow has got that far yet: its rates are those of
    /// round k.
    #[inline]
    fn extend(&mut self, k: usize) {
        if k + 1 == self.layout.count {
            self.grow();
        }
    }

    /// Makes room for one more round.
    #[cold]
    fn grow(&mut self) {
        let RoundLayout { count, room } = self.layout;
        self.stopped.push(0);
        self.layout.count += 1;
        self.offers.resize(self.links.len() * self.layout.count, 0.0);
        if count < room {
            return;
        }
        self.layout.room = 2 * room - 4;
        let more = self.layout.room - room;
        let steps = self.steps.chunks_exact(room).flat_map(|steps| {
            let last = Step { gain: STOPPED_GAIN, ..steps[room - 1] };
            steps.iter().copied().chain(std::iter::repeat_n(last, more))
        });
        self.steps = steps.collect();
    }

    /// Computes round k on the links concerned and collects the flows that look at their route again. Returns
    /// true if any flow on these links is still gaining.
    fn gather(&mut self, k: usize, solve: u64) -> bool {
        let Self { base, links, flows, steps, offers, layout, current, .. } = self;
        let SolveState { now, changed, changed_links, moved, links_in_round, holding, looking, looking_flows, .. } =
            current;
        *now += 1;
        let (now, closed, layout) = (*now, solve + SPAN, *layout);
        let (links, flows) = (links.as_mut_slice(), flows.as_mut_slice());
        let (steps, offers) = (steps.as_mut_slice(), &mut offers[k * links.len()..][..links.len()]);
        // First the links that differ in all rounds, each once; they are listed anew.
        std::mem::swap(links_in_round, changed);
        let mut listed = 0;
        for place in 0..*changed_links {
            let link = links_in_round[place];
            let state = &mut links[link as usize];
            let is_open = state.rounds > k as u32;
            state.next = if is_open { now + 1 } else { closed };
            links_in_round[listed] = link;
            listed += usize::from(is_open);
        }
        // (Which links and flows join a list is unpredictable, so each is written behind the list in any case.)
        let (mut in_round, mut lasting, mut now_looking) = (listed, 0, 0);
        for &flow in &*moved {
            for &link in base.links(flow) {
                let next = &mut links[link as usize].next;
                let is_new = *next <= now;
                *next = if is_new { now + 1 } else { *next };
                links_in_round[in_round] = link;
                in_round += usize::from(is_new);
            }
            let state = &mut flows[flow as usize];
            if state.stop >= k as u32 {
                state.seen = now;
                looking[now_looking] = flow;
                now_looking += 1;
                // (It gains, but the amount is not known yet.)
                let gain = &mut steps[layout.at(flow, k)].gain;
                *gain = gain.max(0.0);
            }
        }
        let (links_in_round, in_round) = (&links_in_round[..in_round], &steps[k..]);
        let (mut any, mut holds) = (false, 0);
        let nobody = flows.len() as u32;
        for (place, &link) in links_in_round.iter().enumerate() {
            let (mut used, mut most) = (0.0, STOPPED_GAIN);
            let mut add = |flow: u32| {
                let Step { rate, gain } = in_round[layout.at(flow, 0)];
                used += rate;
                most = if most > gain { most } else { gain };
            };
            let on_link = if let Some((flows, count)) = base.places(link) {
                // (So is the number of flows: a place that is not in use counts as a flow that takes nothing.)
                for (place, &flow) in flows.iter().enumerate() {
                    add(select_unpredictable(place < count, flow, nobody));
                }
                &flows[..count]
            } else {
                let flows = base.flows_on(link);
                flows.iter().for_each(|&flow| add(flow));
                flows
            };
            let state = &mut links[link as usize];
            if most < 0.0 {
                // None of its flows is still gaining, so none of them will gain in this solve.
                state.next = closed;
                state.rounds = k as u32;
                continue;
            }
            any = true;
            changed[lasting] = link;
            lasting += usize::from(place < listed);
            let new = (state.capacity - used).max(0.0) / f64::from(on_link.len() as u32);
            let old = std::mem::replace(&mut offers[link as usize], new);
            // (No flow is concerned if the largest gain is below both. That is unpredictable, too.)
            let least = if old < new { old } else { new };
            holding[holds] = (link, old);
            holds += usize::from((new != old) & (most >= least));
        }
        for &(link, old) in &holding[..holds] {
            let new = offers[link as usize];
            for &flow in base.flows_on(link) {
                let (gain, seen) = (steps[layout.at(flow, k)].gain, &mut flows[flow as usize].seen);
                let is_concerned = ((gain > new) | (gain == old)) & (*seen != now);
                *seen = if is_concerned { now } else { *seen };
                looking[now_looking] = flow;
                now_looking += usize::from(is_concerned);
            }
        }
        (*changed_links, *looking_flows) = (lasting, now_looking);
        any
    }

    /// Plays round k for the collected flows: computes their rates of round k+1.
    fn round(&mut self, k: usize, solve: u64) {
        let Self { base, threshold, links, flows, steps, offers, layout, stopped, current, .. } = self;
        let SolveState { moved, looking, looking_flows, settled, rates_before, .. } = current;
        let (layout, threshold, flows, stopped) = (*layout, *threshold, flows.as_mut_slice(), stopped.as_mut_slice());
        let (steps, offers) = (steps.as_mut_slice(), &offers[k * links.len()..][..links.len()]);
        moved.clear();
        for &flow in &looking[..*looking_flows] {
            let state = &mut flows[flow as usize];
            if std::mem::replace(&mut state.last_solve, solve) != solve {
                state.old_stop = state.stop;
                rates_before.push((flow, state.rate));
            }
            let offer = |&link: &u32| offers[link as usize];
            let least = |least: f64, offer: f64| if least < offer { least } else { offer };
            let gain = base.links(flow).iter().map(offer).fold(f64::INFINITY, least);
            let [now, next] = &mut steps[layout.at(flow, k)..][..2] else { continue };
            now.gain = gain;
            if gain >= threshold * now.rate && k + 1 < MOST_ROUNDS {
                let after = now.rate + gain;
                let before = std::mem::replace(&mut next.rate, after);
                let goes_on_longer = state.old_stop == NEW || state.old_stop as usize <= k;
                if goes_on_longer {
                    Self::set_stop(state, stopped, NEW);
                    for &link in base.links(flow) {
                        let rounds = &mut links[link as usize].rounds;
                        *rounds = (*rounds).max(k as u32 + 2);
                    }
                }
                if after != before || goes_on_longer {
                    moved.push(flow);
                }
            } else {
                Self::set_stop(state, stopped, k as u32);
                settled.push(flow);
            }
        }
    }

    /// Carries the rates of stopped flows over into round k+1. Returns true if the rates of all flows that
    /// are left differ there from those before.
    fn settle(&mut self, k: usize, solve: u64) -> bool {
        let Self { base, links, flows, steps, layout, current, .. } = self;
        let SolveState { now, moved, settled, changed, changed_links, .. } = current;
        let (layout, links, flows, steps) = (*layout, links.as_mut_slice(), flows.as_slice(), steps.as_mut_slice());
        let (mut all, next_round) = (true, *now + 1);
        let mut left = 0;
        for place in 0..settled.len() {
            let flow = settled[place];
            let Flow { stop, old_stop, .. } = flows[flow as usize];
            let after = Step { rate: steps[layout.at(flow, stop as usize)].rate, gain: STOPPED_GAIN };
            let before = std::mem::replace(&mut steps[layout.at(flow, k + 1)], after);
            let differs = after.rate != before.rate;
            if old_stop != NEW && old_stop as usize > k + 1 {
                // It went on gaining before, so its rate may differ later even if it does not now.
                all &= differs;
                if differs {
                    moved.push(flow);
                }
                settled[left] = flow;
                left += 1;
                continue;
            }
            // The links of a new flow have changed anyway; the stored steps belong to another flow.
            if differs || old_stop == NEW {
                steps[layout.from(flow, k + 1)].fill(after);
                for &link in base.links(flow) {
                    let Link { listed, next, .. } = &mut links[link as usize];
                    let is_new = (std::mem::replace(listed, solve) != solve) & (*next <= next_round);
                    changed[*changed_links] = link;
                    *changed_links += usize::from(is_new);
                }
            }
        }
        settled.truncate(left);
        all
    }
}

impl Sharing for Redistribute {
    fn add(&mut self, flow: u32, links: &[u32]) {
        self.base.add(flow, links);
        links.iter().for_each(|&link| self.links[link as usize].rounds = self.links[link as usize].rounds.max(1));
        self.current.came_or_went.extend_from_slice(links);
        let flows = self.base.flows();
        if self.flows.len() < flows {
            self.flows.resize(flows, Flow::ABSENT);
            self.current.looking.resize(flows + 1, 0);
            self.steps.resize((flows + 1) * self.layout.room, Step { rate: 0.0, gain: STOPPED_GAIN });
        }
    }

    fn remove(&mut self, flow: u32) {
        self.current.came_or_went.extend_from_slice(self.base.links(flow));
        self.base.remove(flow);
        let state = &mut self.flows[flow as usize];
        let rounds = if state.stop == NEW { 0 } else { state.stop as usize + 1 };
        let first = self.layout.at(flow, 0);
        self.steps[first..first + rounds].iter_mut().for_each(|step| step.gain = STOPPED_GAIN);
        Self::set_stop(state, &mut self.stopped, NEW);
        state.rate = 0.0;
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.base.set_capacity(link, capacity);
        self.current.came_or_went.push(link);
        self.links[link as usize].capacity = capacity;
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        let Self { base, links, steps, layout, current, .. } = self;
        base.solve(&mut current.first);
        current.now += SPAN;
        let solve = current.now;
        current.changed_links = 0;
        for link in current.came_or_went.drain(..) {
            if std::mem::replace(&mut links[link as usize].listed, solve) != solve {
                current.changed[current.changed_links] = link;
                current.changed_links += 1;
            }
        }
        current.moved.clear();
        current.settled.clear();
        for change in current.first.drain(..) {
            steps[layout.at(change.flow, 0)].rate = change.new;
            current.moved.push(change.flow);
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
        let Self { flows, steps, layout, current, .. } = self;
        let rate_of = |steps: &[Step], flow: u32, stop: u32| steps[layout.at(flow, stop as usize)].rate;
        for &flow in &current.settled {
            let rate = rate_of(steps, flow, flows[flow as usize].stop);
            steps[layout.from(flow, k)].fill(Step { rate, gain: STOPPED_GAIN });
        }
        for (flow, old) in current.rates_before.drain(..) {
            let state = &mut flows[flow as usize];
            let new = rate_of(steps, flow, state.stop);
            state.rate = new;
            if new != old {
                changes.push(Change { flow, old, new });
            }
        }
        if let Some(last) = self.stopped.iter().rposition(|&count| count > 0) {
            self.rounds.count(last as u32 + 1);
        }
    }

    fn rate(&self, flow: u32) -> f64 {
        self.flows[flow as usize].rate
    }

    /// Returns the link that offered the least in the round in which the flow stopped.
    fn bottleneck(&self, flow: u32) -> Option<u32> {
        let stop = self.flows[flow as usize].stop;
        let offer = |link: u32| match stop {
            NEW => 0.0,
            stop => self.offers[stop as usize * self.links.len() + link as usize],
        };
        let links = self.base.links(flow).iter().copied();
        links.min_by(|&a, &b| offer(a).total_cmp(&offer(b)))
    }

    /// Returns false, because its rounds are counted, even rounds in which nothing is left to hand out.
    fn gives_even_flows_even_shares(&self) -> bool {
        false
    }

    fn rounds(&self) -> Option<Rounds> {
        self.rounds.known()
    }
}
