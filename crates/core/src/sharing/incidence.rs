//! Incidence of flows and links, the structure on which every policy works.
//!
//! Links hold the list of their flows, and flows the list of their links. Most links carry one to three flows
//! at a time. So a list of up to [`INLINE`] flows lives in the link's own cache line, beside the policy's
//! state of the link, and is searched linearly. A longer list (an incast) moves to a vector of its own. There
//! each entry's place is remembered, so that a flow is removed in constant time, however many flows share the
//! link.

use std::fmt::Debug;

use super::alignment::Aligned;
use super::flow_table::{FlowTable, NewFlow, WholePart};
use super::policy::Terms;
use crate::base::prefetch::fetch;
use crate::base::threads;

/// Number of flows that fit in a link's own cache line.
pub(super) const INLINE: usize = 5;

/// Size of a list of [`INLINE`] flows, a power of two, so that bounds checks of indices are cheap.
const ROOM: usize = INLINE.next_power_of_two();

/// Number of flows that most links do not exceed, apart from a flow that comes or goes.
const FEW: usize = 2;

/// Link: the policy's state and its flows, in half of a cache line (state of 8 bytes) or a whole one (40).
#[derive(Clone, Debug)]
#[repr(C)]
struct Link<S: Aligned> {
    alignment: [S::Alignment; 0],
    state: S,
    count: u32,
    /// The flows, up to [`INLINE`]; with more, the first entry is the number of the spilled list.
    inline: [u32; INLINE],
}

impl<S: Aligned> Link<S> {
    #[inline]
    fn is_spilled(&self) -> bool {
        self.count as usize > INLINE
    }

    /// Removes a flow from the list, which is inline and has `others` more, fewer than `LOOKS`.
    ///
    /// Every place is compared, because the place of the flow is unpredictable. The first match is the flow,
    /// since only places after the last flow may also match.
    #[inline(always)]
    fn take_out<const LOOKS: usize>(&mut self, flow: u32, others: u32) {
        let others = others as usize;
        debug_assert!(others < LOOKS && self.inline[..=others].contains(&flow), "a flow is in the list of its link");
        let mut place = LOOKS - 1;
        for earlier in (0..LOOKS - 1).rev() {
            place = if self.inline[earlier] == flow { earlier } else { place };
        }
        self.inline[place] = self.inline[others];
    }
}

/// Flows on links, with a state of type `S` for each link and a rate for each flow.
#[derive(Clone, Debug)]
pub struct Incidence<S: Aligned> {
    links: Vec<Link<S>>,
    spills: Spills,
    /// Words of each flow: the number of its links, then the links.
    stride: usize,
    words: Vec<u32>,
    /// Rate by flow; never shorter than the number of flow ids that have been in use.
    rates: Vec<f64>,
    /// Set if links take more memory than the caches of a core, so that prefetching them pays.
    is_large: bool,
}

/// Number of links that take more than most second-level caches; in tests one that some fabrics reach.
const MANY_LINKS: usize = if cfg!(test) { 100 } else { 1 << 16 };

/// Lists that do not fit in their link's cache line.
#[derive(Clone, Debug, Default)]
struct Spills {
    lists: Vec<Vec<u32>>,
    free: Vec<u32>,
    /// Place of a flow in a spilled list, stored at the place of the link in the flow's words. Meaningless
    /// for inline lists, and empty as long as no list has spilled.
    places: Vec<u32>,
}

impl Spills {
    /// Stores the place of a flow in the list of one of its links.
    fn remember(&mut self, words: &[u32], base: usize, link: u32, place: usize) {
        let links = &words[base + 1..][..words[base] as usize];
        let hop = links.iter().position(|&l| l == link);
        self.places.resize(words.len(), 0);
        self.places[base + 1 + hop.expect("a flow in a link's list has that link")] = place as u32;
    }
}

/// Returns the rate of a flow that is, or has been, in a list.
#[inline(always)]
fn rate_of(rates: &[f64], flow: u32) -> f64 {
    debug_assert!((flow as usize) < rates.len());
    // SAFETY: lists hold flows that have been added. (At first they hold flow 0, which is looked at only
    // where a flow has been added.) `grow` makes a rate for each of them and for all below, and rates are
    // never removed.
    unsafe { *rates.get_unchecked(flow as usize) }
}

/// Appends those of the first `count` flows, fewer than fit inline, that pass the test.
///
/// The first [`FEW`] places are looked at, in use or not, or all of them. Every flow is written to the place
/// of the next one that passes. This avoids branches: they would be unpredictable, and a wrong prediction
/// costs more than four looks. (More than two flows are rare.)
#[inline(always)]
fn take(flows: &[u32; INLINE], count: u32, picked: &mut Vec<u32>, test: impl Fn(u32) -> bool) {
    if count as usize <= FEW {
        take_of::<FEW>(flows, count, picked, test);
    } else {
        take_of::<{ INLINE - 1 }>(flows, count, picked, test);
    }
}

/// Appends those of the first `count` flows that pass the test, looking at `LOOKS` places. Each flow of the
/// list must have been added.
#[inline(always)]
fn take_of<const LOOKS: usize>(flows: &[u32; INLINE], count: u32, picked: &mut Vec<u32>, test: impl Fn(u32) -> bool) {
    const { assert!(LOOKS <= INLINE) };
    debug_assert!(count as usize <= LOOKS);
    if picked.capacity() - picked.len() < ROOM {
        picked.reserve(ROOM);
    }
    let len = picked.len();
    let Some((room, _)) = picked.spare_capacity_mut().split_first_chunk_mut::<ROOM>() else { return };
    let mut taken = 0;
    for (place, &flow) in flows[..LOOKS].iter().enumerate() {
        room[taken % ROOM].write(flow);
        // A place that is not in use holds flow 0 or a flow that was there.
        taken += usize::from((place < count as usize) & test(flow));
    }
    // SAFETY: there is room for `ROOM` more, and each of the first `taken`, at most `LOOKS`, has been
    // written: its place is the number of those taken before. (Measured: filling the room with zeros first
    // costs a tenth of a solve.)
    unsafe { picked.set_len(len + taken) };
}

/// Checks that all of these links exist before a flow is put on any: the links stored of a flow are read
/// unchecked.
///
/// # Panics
/// If one of them does not exist.
#[inline]
fn check<S: Aligned>(links: &[u32], all: &[Link<S>]) {
    assert!(links.iter().all(|&link| (link as usize) < all.len()), "a flow is on links that are there");
}

impl<S: Aligned> Incidence<S> {
    /// Returns the number of flow ids that have ever been in use; all ids are below it.
    pub(super) fn flows(&self) -> usize {
        self.rates.len()
    }

    /// Makes room for a flow with this id and `length` links.
    #[inline]
    fn reserve(&mut self, flow: u32, length: usize) {
        if length >= self.stride || flow as usize >= self.rates.len() {
            self.grow(flow, length);
        }
    }

    #[cold]
    fn grow(&mut self, flow: u32, length: usize) {
        if length >= self.stride {
            let stride = (length + 1).next_power_of_two();
            let flows = self.rates.len();
            let widen = |old: &[u32]| {
                let mut wide = vec![0; flows * stride];
                for (to, from) in wide.chunks_exact_mut(stride).zip(old.chunks_exact(self.stride)) {
                    to[..self.stride].copy_from_slice(from);
                }
                wide
            };
            self.words = widen(&self.words);
            if !self.spills.places.is_empty() {
                self.spills.places.resize(flows * self.stride, 0);
                self.spills.places = widen(&self.spills.places);
            }
            self.stride = stride;
        }
        let needed = flow as usize + 1;
        if needed > self.rates.len() {
            self.rates.resize(needed, 0.0);
            self.words.resize(needed * self.stride, 0);
        }
    }

    /// Puts a flow at this level on its links; `each` is called with each link, which has the flow by then,
    /// and the levels of all flows.
    #[inline(always)]
    fn put(&mut self, coming: NewFlow<'_>, level: f64, mut each: impl FnMut(u32, &mut Link<S>, &[f64])) {
        let NewFlow { flow, links, .. } = coming;
        check(links, &self.links);
        self.reserve(flow, links.len());
        let base = flow as usize * self.stride;
        let Self { links: all, words, rates, .. } = self;
        let (all, rates) = (all.as_mut_slice(), rates.as_mut_slice());
        rates[flow as usize] = level;
        let words = &mut words[base..][..=links.len()];
        words[0] = links.len() as u32;
        let mut is_spilled = false;
        for (word, &id) in words[1..].iter_mut().zip(links) {
            *word = id;
            let link = &mut all[id as usize];
            let others = link.count as usize;
            link.count += 1;
            match link.inline.get_mut(others) {
                Some(place) => *place = flow,
                None => is_spilled = true,
            }
            each(id, link, rates);
        }
        if is_spilled {
            for (hop, &id) in links.iter().enumerate() {
                if self.links[id as usize].is_spilled() {
                    self.add_spilled(flow, id, base + 1 + hop);
                }
            }
        }
    }

    /// Removes a flow from its links and sets its level to 0; `each` is called with each link and the levels
    /// of all flows. By then the link does not have the flow any more, unless its list is spilled.
    #[inline(always)]
    fn take_off(&mut self, flow: u32, mut each: impl FnMut(u32, &mut Link<S>, &[f64])) {
        let base = flow as usize * self.stride;
        let Self { links: all, words, rates, .. } = self;
        let (all, rates) = (all.as_mut_slice(), rates.as_mut_slice());
        rates[flow as usize] = 0.0;
        let words = &mut words[base..];
        let count = std::mem::take(&mut words[0]) as usize;
        let mut is_spilled = false;
        for &id in &words[1..=count] {
            let link = &mut all[id as usize];
            if link.is_spilled() {
                is_spilled = true;
            } else {
                link.count -= 1;
                match link.count {
                    0 => {}
                    others if others as usize <= FEW => link.take_out::<{ FEW + 1 }>(flow, others),
                    others => link.take_out::<INLINE>(flow, others),
                }
            }
            each(id, link, rates);
        }
        if is_spilled {
            for word in base + 1..base + 1 + count {
                let id = self.words[word];
                // (No link that was inline has as many flows now.)
                if self.links[id as usize].is_spilled() {
                    self.links[id as usize].count -= 1;
                    self.remove_spilled(flow, id, word);
                }
            }
        }
    }

    /// Adds a flow to the list of a link with more flows than fit inline.
    #[cold]
    fn add_spilled(&mut self, flow: u32, id: u32, word: usize) {
        let Self { links, spills, stride, words, .. } = self;
        let link = &mut links[id as usize];
        spills.places.resize(words.len(), 0);
        if link.count as usize == INLINE + 1 {
            let spill = spills.free.pop().unwrap_or_else(|| {
                spills.lists.push(Vec::new());
                spills.lists.len() as u32 - 1
            });
            for (place, &flow) in link.inline.iter().enumerate() {
                spills.remember(words, flow as usize * *stride, id, place);
            }
            spills.lists[spill as usize].extend_from_slice(&link.inline);
            link.inline[0] = spill;
        }
        let list = &mut spills.lists[link.inline[0] as usize];
        spills.places[word] = list.len() as u32;
        list.push(flow);
    }

    /// Removes a flow from a list that did not fit inline.
    #[cold]
    fn remove_spilled(&mut self, flow: u32, id: u32, word: usize) {
        let Self { links, spills, stride, words, .. } = self;
        let link = &mut links[id as usize];
        let spill = link.inline[0];
        let list = &mut spills.lists[spill as usize];
        let place = spills.places[word] as usize;
        debug_assert_eq!(list[place], flow);
        list.swap_remove(place);
        if link.count as usize == INLINE {
            link.inline.copy_from_slice(list);
            list.clear();
            spills.free.push(spill);
        } else if let Some(&moved) = list.get(place) {
            spills.remember(words, moved as usize * *stride, id, place);
        }
    }

    /// Returns the links of a flow that is known to exist.
    #[inline(always)]
    fn known_links(words: &[u32], stride: usize, flow: u32) -> &[u32] {
        let base = flow as usize * stride;
        debug_assert!(base + 1 + words[base] as usize <= words.len());
        // SAFETY: `flow` has been added, so `grow` made `stride` words for it, and `add` wrote the number of
        // its links, below `stride`, in the first; words are never removed. (Measured, with the other two
        // below: the walk over the links of a flow is the inner loop of the max-min sweep, 24 links a
        // message; checks cost it 8 %.)
        unsafe {
            let count = *words.get_unchecked(base) as usize;
            words.get_unchecked(base + 1..base + 1 + count)
        }
    }

    /// Returns the links of a flow.
    #[inline]
    pub(super) fn links(&self, flow: u32) -> &[u32] {
        let base = flow as usize * self.stride;
        &self.words[base + 1..][..self.words[base] as usize]
    }

    /// Returns the places of a link's list, in use or not, and the number of its flows, unless the list is
    /// spilled. (A place that is not in use holds flow 0 or a flow that was there.)
    #[inline(always)]
    pub(super) fn places(&self, link: u32) -> Option<(&[u32; INLINE], usize)> {
        let link = &self.links[link as usize];
        (!link.is_spilled()).then_some((&link.inline, link.count as usize))
    }

    /// Returns the flows on a link.
    #[inline]
    pub(super) fn flows_on(&self, link: u32) -> &[u32] {
        let link = &self.links[link as usize];
        if link.is_spilled() {
            &self.spills.lists[link.inline[0] as usize]
        } else {
            &link.inline[..link.count as usize]
        }
    }
}

impl<S: Aligned> FlowTable for Incidence<S> {
    type State = S;
    type Part = WholePart;

    const TAKES_TERMS: bool = false;

    fn new(links: usize, state: impl Fn(usize) -> S + Send + Sync) -> Self
    where
        S: Send,
    {
        let links: Vec<Link<S>> =
            threads::collect(links, |link| Link { alignment: [], state: state(link), count: 0, inline: [0; INLINE] });
        Self {
            is_large: links.len() >= MANY_LINKS,
            links,
            spills: Spills::default(),
            stride: 4,
            words: Vec::new(),
            rates: Vec::new(),
        }
    }

    #[inline]
    fn add(&mut self, coming: NewFlow<'_>, level: f64, mut visit: impl FnMut(u32, &mut S, WholePart)) {
        self.put(coming, level, |id, link, _| visit(id, &mut link.state, WholePart));
    }

    #[inline]
    fn add_picking<T: Fn(f64) -> bool>(
        &mut self,
        coming: NewFlow<'_>,
        picked: &mut Vec<u32>,
        mut visit: impl FnMut(u32, &mut S, u32) -> T,
        mut crowded: impl FnMut(u32),
    ) {
        self.put(coming, 0.0, |id, link, rates| {
            if link.is_spilled() {
                return crowded(id);
            }
            let (test, others) = (visit(id, &mut link.state, link.count), link.count - 1);
            if others > 0 {
                take(&link.inline, others, picked, |flow| test(rate_of(rates, flow)));
            }
        });
    }

    #[inline]
    fn remove(&mut self, flow: u32, mut visit: impl FnMut(u32, &mut S, WholePart, bool)) {
        self.take_off(flow, |id, link, _| visit(id, &mut link.state, WholePart, link.count == 0));
    }

    #[inline]
    fn remove_picking<T: Fn(f64) -> bool>(
        &mut self,
        flow: u32,
        picked: &mut Vec<u32>,
        mut visit: impl FnMut(u32, &mut S, u32) -> T,
        mut crowded: impl FnMut(u32),
    ) {
        self.take_off(flow, |id, link, rates| {
            if link.is_spilled() {
                return crowded(id);
            }
            let test = visit(id, &mut link.state, link.count);
            if link.count > 0 {
                take(&link.inline, link.count, picked, |flow| test(rate_of(rates, flow)));
            }
        });
    }

    #[inline(always)]
    fn visit_links(&mut self, flow: u32, mut visit: impl FnMut(u32, &mut S, WholePart, u32)) {
        for &id in Self::known_links(&self.words, self.stride, flow) {
            debug_assert!((id as usize) < self.links.len());
            // SAFETY: `add` indexes the links, whose number never changes, with every id that it stores.
            let link = unsafe { self.links.get_unchecked_mut(id as usize) };
            visit(id, &mut link.state, WholePart, link.count);
        }
    }

    fn links_of(&self, flow: u32) -> impl Iterator<Item = u32> {
        self.links(flow).iter().copied()
    }

    #[inline]
    fn count(&self, link: u32) -> u32 {
        self.links[link as usize].count
    }

    #[inline(always)]
    fn any_link(&self, flow: u32, mut test: impl FnMut(&S) -> bool) -> bool {
        Self::known_links(&self.words, self.stride, flow).iter().any(|&id| {
            debug_assert!((id as usize) < self.links.len());
            // SAFETY: as in `visit_links`.
            test(unsafe { &self.links.get_unchecked(id as usize).state })
        })
    }

    #[inline(always)]
    fn flow_at(&self, link: u32, place: u32) -> (u32, WholePart) {
        let link = &self.links[link as usize];
        if link.is_spilled() {
            return (self.spills.lists[link.inline[0] as usize][place as usize], WholePart);
        }
        (link.inline[place as usize], WholePart)
    }

    #[inline(always)]
    fn parts(&self, link: u32) -> impl Iterator<Item = (WholePart, f64)> {
        self.flows_on(link).iter().map(|&flow| (WholePart, self.known_level(flow)))
    }

    #[inline(always)]
    fn pick(&self, link: u32, picked: &mut Vec<u32>, test: impl Fn(f64) -> bool) {
        let link = &self.links[link as usize];
        if link.is_spilled() {
            let flows = &self.spills.lists[link.inline[0] as usize];
            return picked.extend(flows.iter().copied().filter(|&flow| test(self.known_level(flow))));
        }
        if self.rates.is_empty() {
            return;
        }
        take_of::<INLINE>(&link.inline, link.count, picked, |flow| test(self.known_level(flow)));
    }

    #[inline]
    fn state(&self, link: u32) -> &S {
        &self.links[link as usize].state
    }

    #[inline]
    fn link_mut(&mut self, link: u32) -> (&mut S, u32) {
        let link = &mut self.links[link as usize];
        (&mut link.state, link.count)
    }

    fn states_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.links.iter_mut().map(|link| &mut link.state)
    }

    #[inline]
    fn level(&self, flow: u32) -> f64 {
        self.rates[flow as usize]
    }

    #[inline(always)]
    fn known_level(&self, flow: u32) -> f64 {
        rate_of(&self.rates, flow)
    }

    #[inline(always)]
    fn set_level(&mut self, flow: u32, level: f64) -> f64 {
        std::mem::replace(&mut self.rates[flow as usize], level)
    }

    fn terms(&self, _flow: u32) -> Terms {
        Terms::default()
    }

    #[inline(always)]
    fn rate_at(&self, _flow: u32, level: f64) -> f64 {
        level
    }

    #[inline(always)]
    fn is_large(&self) -> bool {
        self.is_large
    }

    #[inline(always)]
    fn fetch_links(&self, flow: u32) {
        self.fetch_lines(self.links(flow));
    }

    #[inline(always)]
    fn fetch_lines(&self, links: &[u32]) {
        for &id in links {
            if let Some(link) = self.links.get(id as usize) {
                fetch(link);
            }
        }
    }

    #[inline(always)]
    fn fetch_words(&self, flow: u32) {
        if let Some(word) = self.words.get(flow as usize * self.stride) {
            fetch(word);
        }
    }

    #[inline(always)]
    fn fetch_flows(&self, links: &[u32]) {
        for &id in links {
            // (A place that is not in use, or holds the number of a spilled list, names another flow or
            // none.)
            for &flow in &self.links[id as usize].inline[..FEW] {
                if let Some(rate) = self.rates.get(flow as usize) {
                    fetch(rate);
                    self.fetch_words(flow);
                }
            }
        }
    }

    #[inline(always)]
    fn fetch_beside(&self, flow: u32) {
        self.fetch_flows(self.links(flow));
    }

    fn fetch_around(&self, links: &[u32]) {
        for &link in links {
            self.flows_on(link).iter().take(FEW).for_each(|&flow| self.fetch_links(flow));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::alignment::HalfLine;
    use super::*;
    use crate::rng::Stream;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    impl Aligned for () {
        type Alignment = HalfLine;
    }

    fn coming(flow: u32, links: &[u32]) -> NewFlow<'_> {
        NewFlow { flow, links, parts: &[], own: None, terms: Terms::default() }
    }

    #[test]
    fn a_flow_on_a_link_that_is_not_there_is_on_no_link_at_all() {
        let mut incidence = Incidence::new(2, |_| ());
        incidence.add(coming(0, &[0, 1]), 0.0, |_, &mut (), _| {});
        let mut refuses = |add: &dyn Fn(&mut Incidence<()>)| {
            assert!(catch_unwind(AssertUnwindSafe(|| add(&mut incidence))).is_err());
            assert_eq!((incidence.flows(), incidence.flows_on(0)), (1, &[0][..]));
        };
        refuses(&|incidence| incidence.add(coming(1, &[0, 2]), 0.0, |_, &mut (), _| {}));
        refuses(&|incidence| {
            incidence.add_picking(coming(1, &[0, 2]), &mut Vec::new(), |_, &mut (), _| |_| true, |_| {})
        });
    }

    /// Adds and removes flows at random and compares with plain lists.
    fn agrees_with_plain_lists(links: u32, flows: u32, longest: u64) {
        let mut random = Stream::new(u64::from(flows), "incidence");
        let mut incidence = Incidence::new(links as usize, |_| ());
        let mut plain: Vec<Vec<u32>> = vec![Vec::new(); flows as usize];
        for _ in 0..20_000 {
            let flow = random.below(u64::from(flows)) as u32;
            let route = &mut plain[flow as usize];
            if route.is_empty() {
                for _ in 0..=random.below(longest) {
                    let link = random.below(u64::from(links)) as u32;
                    if !route.contains(&link) {
                        route.push(link);
                    }
                }
                incidence.add(coming(flow, route), 0.0, |_, (), _| ());
                assert_eq!(incidence.links(flow), route);
            } else {
                route.clear();
                incidence.remove(flow, |_, (), _, _| ());
            }
            let link = random.below(u64::from(links)) as u32;
            let mut members = incidence.flows_on(link).to_vec();
            members.sort_unstable();
            let expected: Vec<u32> = (0..flows).filter(|&f| plain[f as usize].contains(&link)).collect();
            assert_eq!(members, expected);
            assert_eq!(incidence.count(link) as usize, expected.len());
        }
    }

    #[test]
    fn lists_hold_exactly_the_flows_that_were_put_on_a_link() {
        agrees_with_plain_lists(40, 60, 6);
    }

    #[test]
    fn lists_that_spill_and_come_back_hold_them_too() {
        agrees_with_plain_lists(3, 60, 3);
        agrees_with_plain_lists(30, 200, 29);
    }

    #[test]
    fn flows_whose_rate_passes_are_picked_where_few_share_a_link() {
        let (links, flows) = (12u32, 40u32);
        let mut random = Stream::new(1, "picking");
        let mut incidence = Incidence::new(links as usize, |_| ());
        let mut plain: Vec<Vec<u32>> = vec![Vec::new(); flows as usize];
        for _ in 0..20_000 {
            let flow = random.below(u64::from(flows)) as u32;
            let limit = random.below(5) as f64;
            let on = |plain: &[Vec<u32>], link: u32| -> Vec<u32> {
                (0..flows).filter(|&other| other != flow && plain[other as usize].contains(&link)).collect()
            };
            let (mut picked, mut crowded, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            let comes = plain[flow as usize].is_empty();
            if comes {
                for _ in 0..=random.below(3) {
                    let link = random.below(u64::from(links)) as u32;
                    if !plain[flow as usize].contains(&link) {
                        plain[flow as usize].push(link);
                    }
                }
            }
            let route = plain[flow as usize].clone();
            let test = |rate: f64| rate >= limit;
            let mut counts = Vec::new();
            let visit = |_, _: &mut (), count: u32| {
                counts.push(count as usize);
                test
            };
            if comes {
                incidence.add_picking(coming(flow, &route), &mut picked, visit, |link| crowded.push(link));
            } else {
                incidence.remove_picking(flow, &mut picked, visit, |link| crowded.push(link));
                plain[flow as usize].clear();
            }
            let mut left = Vec::new();
            for &link in &route {
                let others = on(&plain, link);
                if others.len() >= INLINE {
                    assert!(crowded.contains(&link));
                    continue;
                }
                left.push(others.len() + usize::from(comes));
                expected.extend(others.into_iter().filter(|&other| test(incidence.level(other))));
            }
            assert_eq!(counts, left);
            picked.sort_unstable();
            expected.sort_unstable();
            assert_eq!(picked, expected);
            if comes {
                assert_eq!(incidence.level(flow), 0.0);
                incidence.set_level(flow, 1.0 + random.below(4) as f64);
            }
            let link = random.below(u64::from(links)) as u32;
            let mut members = incidence.flows_on(link).to_vec();
            members.sort_unstable();
            assert_eq!(members, (0..flows).filter(|&f| plain[f as usize].contains(&link)).collect::<Vec<_>>());
        }
    }
}
