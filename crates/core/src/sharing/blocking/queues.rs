//! The queues of a network, what they take of links, and the flows that go through them.

use super::channels::Channels;

/// No queue, no turn, no flow.
pub(super) const NONE: u32 = u32::MAX;

/// All of them, by number; numbers of what is gone are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Queues {
    pub links: Vec<Link>,
    pub fifos: Vec<Fifo>,
    pub claims: Vec<Claim>,
    free_claims: Vec<u32>,
    pub turns: Vec<Turn>,
    free_turns: Vec<u32>,
    pub flows: Vec<Flow>,
}

/// A link.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// \[B/s\].
    pub capacity: f64,
    /// By virtual channel: the queue behind it.
    pub fifos: Vec<u32>,
    /// The queue of what starts on it, where other things cross it, too.
    pub source: u32,
    /// What queues take of it.
    pub claims: Vec<u32>,
    /// Whether its levels are to be worked out again.
    pub is_stale: bool,
    /// By how much what is taken has changed since they were \[B/s\].
    pub drift: f64,
    /// The least that it and any queue behind it let through, as of then \[B/s\].
    pub narrowest: f64,
}

/// A first-in-first-out queue: of a virtual channel of a link, behind it, or of a source.
#[derive(Clone, Debug)]
pub(super) struct Fifo {
    /// The link that it is behind, or, of a source, in front of.
    pub link: u32,
    /// q: what it lets through, if it always has something \[B/s\]; at most the capacity of its link.
    pub drain: f64,
    /// Whether that has been worked out since it was empty.
    pub is_known: bool,
    /// What it takes of the links ahead.
    pub claims: Vec<u32>,
    /// What comes into it.
    pub turns: Vec<u32>,
    /// How many of these come into a ring, after what is in it.
    pub entering: u32,
    /// Flows that start here, and have all the same rate.
    pub starts: Vec<u32>,
}

/// What a queue takes of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub fifo: u32,
    pub link: u32,
    /// y \[B/s\].
    pub taken: f64,
    /// What it would get if it wanted everything, of the link and the queues behind it \[B/s\].
    pub level: f64,
    /// Its parts, by the queues behind the link: two at most, since only a turn into a ring has a choice of two.
    pub turns: [u32; 2],
}

/// What a queue hands to a queue behind a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub claim: u32,
    pub to: u32,
    pub flows: u32,
    /// \[B/s\].
    pub taken: f64,
    /// Whether it comes into a ring, after what is in it.
    pub enters: bool,
}

/// What a flow is part of on its way over a link: a turn, with the claim and the link of that turn beside it, so that
/// no look-up waits for another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub turn: u32,
    pub claim: u32,
    pub link: u32,
}

impl Hop {
    /// The turn takes so much more of its link.
    #[inline]
    pub(super) fn take(&self, claims: &mut [Claim], turns: &mut [Turn], more: f64) {
        for taken in [&mut turns[self.turn as usize].taken, &mut claims[self.claim as usize].taken] {
            *taken = (*taken + more).max(0.0);
        }
    }
}

/// A flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// The queue where it starts.
    pub first: u32,
    pub hops: Vec<Hop>,
    /// \[B/s\]; 0 for one that is gone.
    pub rate: f64,
    pub is_touched: bool,
}

impl Queues {
    pub(super) fn new(capacities: &[f64]) -> Self {
        let link = |&capacity| Link {
            capacity,
            fifos: Vec::new(),
            source: NONE,
            claims: Vec::new(),
            is_stale: false,
            drift: 0.0,
            narrowest: capacity,
        };
        Self { links: capacities.iter().map(link).collect(), ..Self::default() }
    }

    /// A queue that has never held anything.
    fn new_fifo(&mut self, link: u32) -> u32 {
        let drain = self.links[link as usize].capacity;
        let (claims, turns, starts) = (Vec::new(), Vec::new(), Vec::new());
        self.fifos.push(Fifo { link, drain, is_known: false, claims, turns, entering: 0, starts });
        self.fifos.len() as u32 - 1
    }

    /// The queue behind a link in a virtual channel.
    fn fifo(&mut self, link: u32, lane: u32) -> u32 {
        let fifos = &mut self.links[link as usize].fifos;
        if fifos.len() <= lane as usize {
            fifos.resize(lane as usize + 1, NONE);
        }
        if fifos[lane as usize] != NONE {
            return fifos[lane as usize];
        }
        let fifo = self.new_fifo(link);
        self.links[link as usize].fifos[lane as usize] = fifo;
        fifo
    }

    /// Another link that the queue takes something of from which a flow turns there, if it is the last one that does.
    pub(super) fn other_link_of(&self, Hop { turn, claim, .. }: Hop) -> Option<u32> {
        let claims = &self.fifos[self.claims[claim as usize].fifo as usize].claims;
        let other = claims.iter().find(|&&other| other != claim);
        other.filter(|_| self.turns[turn as usize].flows == 1).map(|&other| self.claims[other as usize].link)
    }

    /// A flow comes, without a rate; returns whether nothing has ever started where it does.
    pub(super) fn add(&mut self, flow: u32, links: &[u32], lanes: &[u32], channels: &Channels) -> bool {
        if self.flows.len() <= flow as usize {
            self.flows.resize_with(flow as usize + 1, Flow::default);
        }
        let mut hops = std::mem::take(&mut self.flows[flow as usize].hops);
        hops.clear();
        let known = self.fifos.len();
        let shared = channels.has_source(links[0]);
        let first = match shared {
            false => self.fifo(links[0], lanes[0]),
            true if self.links[links[0] as usize].source == NONE => {
                let source = self.new_fifo(links[0]);
                self.links[links[0] as usize].source = source;
                source
            }
            true => self.links[links[0] as usize].source,
        };
        let is_fresh = first as usize >= known;
        let (mut at, mut before) = (first, (!shared).then_some(links[0]));
        for (&link, &lane) in links.iter().zip(lanes).skip(usize::from(!shared)) {
            let to = self.fifo(link, lane);
            hops.push(self.turn(at, link, to, channels.enters_ring(before, link)));
            (at, before) = (to, Some(link));
        }
        self.fifos[first as usize].starts.push(flow);
        let state = &mut self.flows[flow as usize];
        (state.first, state.hops, state.rate) = (first, hops, 0.0);
        is_fresh
    }

    /// One flow more goes from a queue over a link to the queue behind it.
    fn turn(&mut self, from: u32, link: u32, to: u32, enters: bool) -> Hop {
        let known = self.fifos[from as usize].claims.iter().copied().find(|&id| self.claims[id as usize].link == link);
        let claim = known.unwrap_or_else(|| {
            let claim = Claim { fifo: from, link, taken: 0.0, level: f64::INFINITY, turns: [NONE; 2] };
            let id = put(&mut self.claims, &mut self.free_claims, claim);
            self.fifos[from as usize].claims.push(id);
            self.links[link as usize].claims.push(id);
            id
        });
        let turns = self.claims[claim as usize].turns;
        if let Some(turn) = turns.into_iter().find(|&turn| turn != NONE && self.turns[turn as usize].to == to) {
            self.turns[turn as usize].flows += 1;
            return Hop { turn, claim, link };
        }
        let turn = put(&mut self.turns, &mut self.free_turns, Turn { claim, to, flows: 1, taken: 0.0, enters });
        self.claims[claim as usize].turns[usize::from(turns[0] != NONE)] = turn;
        let behind = &mut self.fifos[to as usize];
        behind.turns.push(turn);
        behind.entering += u32::from(enters);
        Hop { turn, claim, link }
    }

    /// A flow goes.
    pub(super) fn remove(&mut self, flow: u32) {
        let rate = std::mem::take(&mut self.flows[flow as usize].rate);
        let mut hops = std::mem::take(&mut self.flows[flow as usize].hops);
        for hop in hops.drain(..) {
            hop.take(&mut self.claims, &mut self.turns, -rate);
            let state = &mut self.turns[hop.turn as usize];
            state.flows -= 1;
            if state.flows == 0 {
                self.drop_turn(hop.turn);
            }
        }
        let state = &mut self.flows[flow as usize];
        state.hops = hops;
        take_out(&mut self.fifos[state.first as usize].starts, flow);
    }

    /// The last flow of a turn has gone.
    fn drop_turn(&mut self, turn: u32) {
        let Turn { claim, to, enters, .. } = self.turns[turn as usize];
        self.free_turns.push(turn);
        let behind = &mut self.fifos[to as usize];
        take_out(&mut behind.turns, turn);
        behind.entering -= u32::from(enters);
        let state = &mut self.claims[claim as usize];
        if state.turns[0] == turn {
            state.turns[0] = state.turns[1];
        }
        state.turns[1] = NONE;
        let (other, fifo, link) = (state.turns[0], state.fifo, state.link);
        if other != NONE {
            // No rounding of what is gone stays behind.
            self.claims[claim as usize].taken = self.turns[other as usize].taken;
            return;
        }
        self.free_claims.push(claim);
        take_out(&mut self.links[link as usize].claims, claim);
        let fifo = &mut self.fifos[fifo as usize];
        take_out(&mut fifo.claims, claim);
        if fifo.claims.is_empty() {
            fifo.is_known = false;
            // A source goes on as it was; any other queue holds up nobody any more.
            if fifo.starts.is_empty() {
                fifo.drain = self.links[fifo.link as usize].capacity;
            }
        }
    }
}

fn put<T>(all: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(id) => {
            all[id as usize] = item;
            id
        }
        None => {
            all.push(item);
            all.len() as u32 - 1
        }
    }
}

/// Takes an entry out of a list whose order says nothing.
pub(super) fn take_out(list: &mut Vec<u32>, item: u32) {
    if let Some(place) = list.iter().position(|&other| other == item) {
        list.swap_remove(place);
    }
}
