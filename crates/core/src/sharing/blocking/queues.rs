//! Queues of a network, the rates that they take of links, and the flows that go through them.

use super::channels::Channels;

/// No queue, no turn, no flow.
pub(super) const NONE: u32 = u32::MAX;

/// All links, queues, claims, turns and flows, by number; freed numbers are used again.
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

/// Link with the queues at its ends.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// Capacity \[B/s\].
    pub capacity: f64,
    /// By virtual channel: the queue behind it.
    pub fifos: Vec<u32>,
    /// The queues of messages that start on it, if messages from elsewhere cross it, too.
    pub sources: Vec<u32>,
    /// Claims of queues on it.
    pub claims: Vec<u32>,
    /// Set when its levels have to be computed again.
    pub is_stale: bool,
    /// Sum of the changes of the rates taken of it since its levels were computed \[B/s\].
    pub drift: f64,
    /// Least rate that it and any queue behind it let through, when its levels were computed \[B/s\].
    pub narrowest: f64,
}

/// First-in-first-out queue of a source, or behind a virtual channel of a link.
#[derive(Clone, Debug)]
pub(super) struct Fifo {
    /// The link in front of the queue; for a source, the link behind it.
    pub link: u32,
    /// q: the rate that it lets through if it always has bytes \[B/s\]; at most the capacity of its link.
    pub drain: f64,
    /// Set when q has been computed since the queue was empty.
    pub is_known: bool,
    /// Its claims on the links ahead.
    pub claims: Vec<u32>,
    /// Turns that lead into it.
    pub turns: Vec<u32>,
    /// Number of these turns that enter a ring, behind the messages in it.
    pub entering: u32,
    /// Flows that start here; all have the same rate.
    pub starts: Vec<u32>,
}

/// Claim of a queue on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub fifo: u32,
    pub link: u32,
    /// y, the rate that the queue takes of the link \[B/s\].
    pub taken: f64,
    /// Rate that the link, and the queues behind it, would give the queue if it always had bytes \[B/s\].
    pub level: f64,
    /// Its turns, by the queue behind the link: at most two, since only a turn into a ring has a choice of
    /// two.
    pub turns: [u32; 2],
}

/// Flows from a queue over a link to a queue behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub claim: u32,
    pub to: u32,
    pub flows: u32,
    /// Rate of the flows \[B/s\].
    pub taken: f64,
    /// Set if it enters a ring, behind the messages in it.
    pub enters: bool,
}

/// Turn of a flow over a link. The claim and the link of the turn stand beside it, so that no look-up waits
/// for another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub turn: u32,
    pub claim: u32,
    pub link: u32,
}

impl Hop {
    /// Adds `more` to the rate that the turn takes of its link.
    #[inline]
    pub(super) fn take(&self, claims: &mut [Claim], turns: &mut [Turn], more: f64) {
        for taken in [&mut turns[self.turn as usize].taken, &mut claims[self.claim as usize].taken] {
            *taken = (*taken + more).max(0.0);
        }
    }
}

/// Flow with the queues on its route.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// Queue in which it starts.
    pub first: u32,
    pub hops: Vec<Hop>,
    /// Rate \[B/s\]; 0 for a flow that is gone.
    pub rate: f64,
    pub is_touched: bool,
}

impl Queues {
    pub(super) fn new(capacities: &[f64]) -> Self {
        let link = |&capacity| Link {
            capacity,
            fifos: Vec::new(),
            sources: Vec::new(),
            claims: Vec::new(),
            is_stale: false,
            drift: 0.0,
            narrowest: capacity,
        };
        Self { links: capacities.iter().map(link).collect(), ..Self::default() }
    }

    /// Creates a queue that has never held anything.
    fn new_fifo(&mut self, link: u32) -> u32 {
        let drain = self.links[link as usize].capacity;
        let (claims, turns, starts) = (Vec::new(), Vec::new(), Vec::new());
        self.fifos.push(Fifo { link, drain, is_known: false, claims, turns, entering: 0, starts });
        self.fifos.len() as u32 - 1
    }

    /// Returns the queue behind a link in a virtual channel.
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

    /// Returns the queue with this number in front of a link.
    fn source(&mut self, link: u32, queue: u32) -> u32 {
        while self.links[link as usize].sources.len() <= queue as usize {
            let source = self.new_fifo(link);
            self.links[link as usize].sources.push(source);
        }
        self.links[link as usize].sources[queue as usize]
    }

    /// Returns another link on which the queue has a claim, if this is the last flow of its turn.
    pub(super) fn other_link_of(&self, Hop { turn, claim, .. }: Hop) -> Option<u32> {
        let claims = &self.fifos[self.claims[claim as usize].fifo as usize].claims;
        let other = claims.iter().find(|&&other| other != claim);
        other.filter(|_| self.turns[turn as usize].flows == 1).map(|&other| self.claims[other as usize].link)
    }

    /// Adds a flow without a rate. Returns true if nothing has ever started in its first queue.
    pub(super) fn add(&mut self, flow: u32, links: &[u32], lanes: &[u32], channels: &Channels) -> bool {
        if self.flows.len() <= flow as usize {
            self.flows.resize_with(flow as usize + 1, Flow::default);
        }
        let mut hops = std::mem::take(&mut self.flows[flow as usize].hops);
        hops.clear();
        let known = self.fifos.len();
        let shared = channels.has_source(links[0]);
        let mut first = NONE;
        for queue in 0..channels.source_queues.max(1) {
            let fifo = if shared { self.source(links[0], queue) } else { self.fifo(links[0], lanes[0] + queue) };
            let starts = |fifo: u32| self.fifos[fifo as usize].starts.len();
            first = if first == NONE || starts(fifo) < starts(first) { fifo } else { first };
            if starts(first) == 0 {
                break;
            }
        }
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

    /// Adds a flow to the turn from a queue over a link to the queue behind it.
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

    /// Removes a flow.
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

    /// Removes a turn without flows.
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
            // This removes the rounding that the lost turn has left.
            self.claims[claim as usize].taken = self.turns[other as usize].taken;
            return;
        }
        self.free_claims.push(claim);
        take_out(&mut self.links[link as usize].claims, claim);
        let fifo = &mut self.fifos[fifo as usize];
        take_out(&mut fifo.claims, claim);
        if fifo.claims.is_empty() {
            fifo.is_known = false;
            // A source keeps its q; any other empty queue no longer holds anybody up.
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

/// Removes an entry from a list without a significant order.
pub(super) fn take_out(list: &mut Vec<u32>, item: u32) {
    if let Some(place) = list.iter().position(|&other| other == item) {
        list.swap_remove(place);
    }
}
