//! Which flows take which part of their rate on which links: what policies for split flows work on.
//!
//! The lists of [`Incidence`](super::incidence::Incidence) hold flows alone; here each entry also has its part, and
//! each side knows where the other one is, so that a flow comes and goes in O(h) for h links whatever else is on them.

/// A flow on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    pub(super) flow: u32,
    /// Which of the flow's hops this is.
    hop: u32,
    /// What the flow takes here at level 1.
    pub(super) part: f64,
}

/// A link of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) link: u32,
    /// Where in the link's list the flow sits.
    seat: u32,
    pub(super) part: f64,
}

/// A link: what the policy keeps of it, and who is on it.
#[derive(Clone, Debug)]
struct Row<S> {
    state: S,
    seats: Vec<Seat>,
}

/// Flows on links, with a state of type `S` for each link and a level for each flow.
#[derive(Clone, Debug)]
pub(super) struct Crossings<S> {
    rows: Vec<Row<S>>,
    /// By flow.
    hops: Vec<Vec<Hop>>,
    /// By flow: rate / weight.
    levels: Vec<f64>,
}

impl<S> Crossings<S> {
    pub(super) fn new(states: impl Iterator<Item = S>) -> Self {
        let rows = states.map(|state| Row { state, seats: Vec::new() }).collect();
        Self { rows, hops: Vec::new(), levels: Vec::new() }
    }

    /// Number of links.
    pub(super) fn links(&self) -> usize {
        self.rows.len()
    }

    /// Adds a link.
    pub(super) fn push_link(&mut self, state: S) {
        self.rows.push(Row { state, seats: Vec::new() });
    }

    /// Puts a flow at this level on its links, each with its part; `visit` is called with each link and its state.
    pub(super) fn add(
        &mut self,
        flow: u32,
        level: f64,
        crossed: impl Iterator<Item = (u32, f64)>,
        mut visit: impl FnMut(u32, &mut S, f64),
    ) {
        let needed = flow as usize + 1;
        if needed > self.hops.len() {
            self.hops.resize_with(needed, Vec::new);
            self.levels.resize(needed, 0.0);
        }
        self.levels[flow as usize] = level;
        let hops = &mut self.hops[flow as usize];
        for (link, part) in crossed {
            let row = &mut self.rows[link as usize];
            row.seats.push(Seat { flow, hop: hops.len() as u32, part });
            hops.push(Hop { link, seat: row.seats.len() as u32 - 1, part });
            visit(link, &mut row.state, part);
        }
    }

    /// Takes a flow off its links; `visit` is called with each link, its state, the flow's part, and whether it was the
    /// last one there.
    pub(super) fn remove(&mut self, flow: u32, mut visit: impl FnMut(u32, &mut S, f64, bool)) {
        let mut hops = std::mem::take(&mut self.hops[flow as usize]);
        for Hop { link, seat, part } in hops.drain(..) {
            let row = &mut self.rows[link as usize];
            row.seats.swap_remove(seat as usize);
            if let Some(moved) = row.seats.get(seat as usize) {
                self.hops[moved.flow as usize][moved.hop as usize].seat = seat;
            }
            visit(link, &mut row.state, part, row.seats.is_empty());
        }
        self.hops[flow as usize] = hops; // empty, but with its room
        self.levels[flow as usize] = 0.0;
    }

    /// The links of a flow.
    pub(super) fn hops(&self, flow: u32) -> &[Hop] {
        &self.hops[flow as usize]
    }

    /// Calls `visit` with each link of a flow: its id, its state, the flow's part, who is on it, and the levels of all.
    #[inline]
    pub(super) fn visit_links(&mut self, flow: u32, mut visit: impl FnMut(u32, &mut S, f64, &[Seat], &[f64])) {
        for &Hop { link, part, .. } in &self.hops[flow as usize] {
            let Row { state, seats } = &mut self.rows[link as usize];
            visit(link, state, part, seats, &self.levels);
        }
    }

    /// Who is on a link.
    #[inline]
    pub(super) fn seats(&self, link: u32) -> &[Seat] {
        &self.rows[link as usize].seats
    }

    /// What the policy keeps of a link.
    #[inline]
    pub(super) fn state(&self, link: u32) -> &S {
        &self.rows[link as usize].state
    }

    /// What the policy keeps of a link, who is on it, and the levels of all flows.
    #[inline]
    pub(super) fn link_mut(&mut self, link: u32) -> (&mut S, &[Seat], &[f64]) {
        let Row { state, seats } = &mut self.rows[link as usize];
        (state, seats, &self.levels)
    }

    /// What the policy keeps of every link.
    pub(super) fn states_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.rows.iter_mut().map(|row| &mut row.state)
    }

    /// The level of a flow that has been added at some time, or 0.
    #[inline]
    pub(super) fn level(&self, flow: u32) -> f64 {
        self.levels[flow as usize]
    }

    /// Sets the level of a flow and returns the one before.
    #[inline]
    pub(super) fn set_level(&mut self, flow: u32, level: f64) -> f64 {
        std::mem::replace(&mut self.levels[flow as usize], level)
    }
}

/// The links of a flow with its parts, checked.
///
/// # Panics
/// Where a flow crosses nothing, or takes no part, or one that is no number, of its rate on a link.
pub(super) fn checked<'a>(links: &'a [u32], parts: &'a [f64]) -> impl Iterator<Item = (u32, f64)> + 'a {
    assert!(!links.is_empty(), "a flow crosses at least one link");
    assert_eq!(links.len(), parts.len(), "a flow has a part on each of its links");
    links.iter().copied().zip(parts.iter().copied()).inspect(|&(link, part)| {
        assert!(part > 0.0 && part < f64::INFINITY, "a flow takes {part} of its rate on link {link}");
    })
}
