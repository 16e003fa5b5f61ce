//! Flows that take parts of their rate on links, with weights and limits.
//!
//! The lists of [`Incidence`](super::incidence::Incidence) hold flows alone. Here each entry also has its
//! part, and each side knows the place of its counterpart. So a flow is added or removed in O(h) for h links,
//! whatever else is on them.

use std::fmt::Debug;

use super::flow_table::{FlowTable, NewFlow, Part};
use super::policy::Terms;

/// Flow on a link.
#[derive(Clone, Copy, Debug)]
struct FlowPart {
    flow: u32,
    /// Index of this link among the flow's hops.
    hop: u32,
    /// Bandwidth that the flow takes here at level 1.
    part: f64,
}

/// Link of a flow.
#[derive(Clone, Copy, Debug)]
struct Hop {
    link: u32,
    /// Place of the flow in the link's list.
    place: u32,
    part: f64,
}

/// Link: the policy's state, and the flows on it.
#[derive(Clone, Debug)]
struct Row<S> {
    state: S,
    flows: Vec<FlowPart>,
}

/// Flows on a link, with the levels of all flows.
#[derive(Clone, Copy, Debug)]
pub struct OnLink<'a> {
    flows: &'a [FlowPart],
    levels: &'a [f64],
}

impl<'a> OnLink<'a> {
    /// Returns part and level of each flow.
    pub(super) fn parts(self) -> impl Iterator<Item = (f64, f64)> + 'a {
        self.flows.iter().map(move |part| (part.part, self.levels[part.flow as usize]))
    }
}

impl Part for f64 {
    type Sum = f64;
    type Around<'a> = OnLink<'a>;

    #[inline]
    fn times(self, level: f64) -> f64 {
        self * level
    }

    #[inline]
    fn add_to_if(self, sum: &mut f64, condition: bool) {
        *sum += if condition { self } else { 0.0 };
    }

    fn total(around: OnLink<'_>) -> f64 {
        // (Not `sum`, which begins with -0: an empty link would have the share c / -0.)
        around.flows.iter().fold(0.0, |total, part| total + part.part)
    }
}

/// Flows on links, with a state of type `S` for each link and a level for each flow.
#[derive(Clone, Debug)]
pub struct Crossings<S> {
    rows: Vec<Row<S>>,
    /// Number of given links; links behind them are limits, by flow.
    given: usize,
    /// Links by flow.
    hops: Vec<Vec<Hop>>,
    /// By flow: rate / weight.
    levels: Vec<f64>,
    /// Weight and limit by flow.
    terms: Vec<Terms>,
}

impl<S> Crossings<S> {
    fn row(&self, link: u32) -> OnLink<'_> {
        OnLink { flows: &self.rows[link as usize].flows, levels: &self.levels }
    }
}

impl<S: Debug> FlowTable for Crossings<S> {
    type State = S;
    type Part = f64;

    const TAKES_TERMS: bool = true;

    fn new(links: usize, state: impl Fn(usize) -> S + Send + Sync) -> Self {
        let rows = (0..links).map(|link| Row { state: state(link), flows: Vec::new() }).collect();
        Self { rows, given: links, hops: Vec::new(), levels: Vec::new(), terms: Vec::new() }
    }

    /// # Panics
    /// If a flow crosses no link, or if its part on a link is 0 or not a number.
    fn add(&mut self, coming: NewFlow<'_>, level: f64, mut visit: impl FnMut(u32, &mut S, f64)) {
        let NewFlow { flow, links, parts, own, terms } = coming;
        let needed = flow as usize + 1;
        if needed > self.hops.len() {
            self.hops.resize_with(needed, Vec::new);
            self.levels.resize(needed, 0.0);
            self.terms.resize(needed, Terms::default());
        }
        self.levels[flow as usize] = level;
        self.terms[flow as usize] = terms;
        let hops = &mut self.hops[flow as usize];
        assert!(!links.is_empty(), "a flow crosses at least one link");
        assert!(parts.is_empty() || parts.len() == links.len(), "a flow has a part on each of its links");
        let crossed = links.iter().enumerate().map(|(hop, &link)| {
            let part = parts.get(hop).copied().unwrap_or(1.0);
            assert!(part > 0.0 && part < f64::INFINITY, "a flow takes {part} of its rate on link {link}");
            (link, part)
        });
        for (link, part) in crossed.chain(own) {
            let (row, part) = (&mut self.rows[link as usize], part * terms.weight);
            row.flows.push(FlowPart { flow, hop: hops.len() as u32, part });
            hops.push(Hop { link, place: row.flows.len() as u32 - 1, part });
            visit(link, &mut row.state, part);
        }
    }

    fn add_picking<T>(
        &mut self,
        coming: NewFlow<'_>,
        _picked: &mut Vec<u32>,
        _visit: impl FnMut(u32, &mut S, u32) -> T,
        mut crowded: impl FnMut(u32),
    ) {
        self.add(coming, 0.0, |link, _, _| crowded(link));
    }

    fn remove(&mut self, flow: u32, mut visit: impl FnMut(u32, &mut S, f64, bool)) {
        let mut hops = std::mem::take(&mut self.hops[flow as usize]);
        for Hop { link, place, part } in hops.drain(..) {
            let row = &mut self.rows[link as usize];
            row.flows.swap_remove(place as usize);
            if let Some(moved) = row.flows.get(place as usize) {
                self.hops[moved.flow as usize][moved.hop as usize].place = place;
            }
            visit(link, &mut row.state, part, row.flows.is_empty());
        }
        self.hops[flow as usize] = hops; // empty, but with its room
        self.levels[flow as usize] = 0.0;
    }

    fn remove_picking<T>(
        &mut self,
        flow: u32,
        _picked: &mut Vec<u32>,
        _visit: impl FnMut(u32, &mut S, u32) -> T,
        mut crowded: impl FnMut(u32),
    ) {
        self.remove(flow, |link, _, _, _| crowded(link));
    }

    fn own_link(&mut self, flow: u32, state: impl Fn() -> S) -> u32 {
        let link = self.given + flow as usize;
        let needed = self.rows.len().max(link + 1);
        self.rows.resize_with(needed, || Row { state: state(), flows: Vec::new() });
        link as u32
    }

    fn is_own(&self, link: u32) -> bool {
        link as usize >= self.given
    }

    fn links_of(&self, flow: u32) -> impl Iterator<Item = u32> {
        self.hops[flow as usize].iter().map(|hop| hop.link)
    }

    #[inline]
    fn visit_links(&mut self, flow: u32, mut visit: impl FnMut(u32, &mut S, f64, OnLink<'_>)) {
        for &Hop { link, part, .. } in &self.hops[flow as usize] {
            let Row { state, flows } = &mut self.rows[link as usize];
            visit(link, state, part, OnLink { flows, levels: &self.levels });
        }
    }

    #[inline]
    fn any_link(&self, flow: u32, mut test: impl FnMut(&S) -> bool) -> bool {
        self.hops[flow as usize].iter().any(|hop| test(self.state(hop.link)))
    }

    #[inline]
    fn count(&self, link: u32) -> u32 {
        self.rows[link as usize].flows.len() as u32
    }

    #[inline]
    fn flow_at(&self, link: u32, place: u32) -> (u32, f64) {
        let FlowPart { flow, part, .. } = self.rows[link as usize].flows[place as usize];
        (flow, part)
    }

    fn parts(&self, link: u32) -> impl Iterator<Item = (f64, f64)> {
        self.row(link).parts()
    }

    fn pick(&self, link: u32, picked: &mut Vec<u32>, test: impl Fn(f64) -> bool) {
        let OnLink { flows, levels } = self.row(link);
        picked.extend(flows.iter().map(|part| part.flow).filter(|&flow| test(levels[flow as usize])));
    }

    #[inline]
    fn state(&self, link: u32) -> &S {
        &self.rows[link as usize].state
    }

    #[inline]
    fn link_mut(&mut self, link: u32) -> (&mut S, OnLink<'_>) {
        let Row { state, flows } = &mut self.rows[link as usize];
        (state, OnLink { flows, levels: &self.levels })
    }

    fn states_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.rows.iter_mut().map(|row| &mut row.state)
    }

    #[inline]
    fn level(&self, flow: u32) -> f64 {
        self.levels[flow as usize]
    }

    #[inline]
    fn set_level(&mut self, flow: u32, level: f64) -> f64 {
        std::mem::replace(&mut self.levels[flow as usize], level)
    }

    fn terms(&self, flow: u32) -> Terms {
        self.terms[flow as usize]
    }
}
