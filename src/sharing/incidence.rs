//! Which flows are on which links: the structure that every policy works on.
//!
//! Links hold the list of their flows and flows the list of their links. Most links carry one to three flows at a
//! time, so a list of up to [`INLINE`] flows lives in the link's own cache line, beside what the policy keeps of the
//! link, and is searched linearly; a longer list (an incast) moves to a vector of its own, in which each entry's place
//! is remembered, so that a flow is taken out in constant time however many share the link.

/// Flows that fit in a link's own cache line.
const INLINE: usize = 5;

/// A link: what the policy keeps of it (up to 40 bytes) and its flows, in 64 bytes.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Link<S> {
    state: S,
    count: u32,
    /// The flows, up to [`INLINE`]; for more, the first entry says where the list is.
    inline: [u32; INLINE],
}

impl<S> Link<S> {
    #[inline]
    fn is_spilled(&self) -> bool {
        self.count as usize > INLINE
    }
}

/// Flows on links, and a state of type `S` for each link.
#[derive(Clone, Debug)]
pub(super) struct Incidence<S> {
    links: Vec<Link<S>>,
    flows: Flows,
}

/// The flows' side.
#[derive(Clone, Debug)]
struct Flows {
    spills: Vec<Vec<u32>>,
    free_spills: Vec<u32>,
    /// Places for the links of each flow: `stride` of them a flow.
    stride: usize,
    lengths: Vec<u32>,
    links: Vec<u32>,
    /// Where in a spilled list the flow of `links` at the same place stands; meaningless for inline lists.
    places: Vec<u32>,
}

impl Flows {
    /// Makes room for a flow with this id and so many links.
    fn reserve(&mut self, flow: u32, length: usize) {
        if length > self.stride {
            let stride = length.next_power_of_two();
            let widen = |old: &[u32]| {
                let mut wide = vec![0; self.lengths.len() * stride];
                for (to, from) in wide.chunks_exact_mut(stride).zip(old.chunks_exact(self.stride)) {
                    to[..self.stride].copy_from_slice(from);
                }
                wide
            };
            (self.links, self.places) = (widen(&self.links), widen(&self.places));
            self.stride = stride;
        }
        let needed = flow as usize + 1;
        if needed > self.lengths.len() {
            self.lengths.resize(needed, 0);
            self.links.resize(needed * self.stride, 0);
            self.places.resize(needed * self.stride, 0);
        }
    }

    /// Notes the place of a flow in the list of one of its links.
    fn remember(&mut self, flow: u32, link: u32, place: usize) {
        let base = flow as usize * self.stride;
        let length = self.lengths[flow as usize] as usize;
        let hop = self.links[base..base + length].iter().position(|&l| l == link);
        self.places[base + hop.expect("a flow in a link's list has that link")] = place as u32;
    }

    /// Moves the full inline list of a link to a vector and returns where that is.
    fn spill(&mut self, link: u32, inline: [u32; INLINE]) -> u32 {
        let spill = self.free_spills.pop().unwrap_or_else(|| {
            self.spills.push(Vec::new());
            self.spills.len() as u32 - 1
        });
        for (place, &flow) in inline.iter().enumerate() {
            self.remember(flow, link, place);
        }
        self.spills[spill as usize].extend_from_slice(&inline);
        spill
    }
}

impl<S> Incidence<S> {
    pub(super) fn new(states: impl Iterator<Item = S>) -> Self {
        Self {
            links: states.map(|state| Link { state, count: 0, inline: [0; INLINE] }).collect(),
            flows: Flows {
                spills: Vec::new(),
                free_spills: Vec::new(),
                stride: 4,
                lengths: Vec::new(),
                links: Vec::new(),
                places: Vec::new(),
            },
        }
    }

    /// Number of flow places there have ever been: flow ids are below it.
    pub(super) fn flows(&self) -> usize {
        self.flows.lengths.len()
    }

    /// Puts a flow on its links (each at most once).
    ///
    /// # Panics
    /// If one of them is not there: everything else relies on that.
    pub(super) fn add(&mut self, flow: u32, links: &[u32]) {
        let Self { links: all, flows } = self;
        assert!(links.iter().all(|&link| (link as usize) < all.len()), "flow {flow} crosses a link that there is not");
        flows.reserve(flow, links.len());
        let base = flow as usize * flows.stride;
        flows.lengths[flow as usize] = links.len() as u32;
        flows.links[base..base + links.len()].copy_from_slice(links);
        for (hop, &id) in links.iter().enumerate() {
            let link = &mut all[id as usize];
            let count = link.count as usize;
            link.count += 1;
            if count < INLINE {
                link.inline[count] = flow;
                continue;
            }
            if count == INLINE {
                link.inline[0] = flows.spill(id, link.inline);
            }
            let list = &mut flows.spills[link.inline[0] as usize];
            flows.places[base + hop] = list.len() as u32;
            list.push(flow);
        }
    }

    /// Takes a flow off its links.
    pub(super) fn remove(&mut self, flow: u32) {
        let Self { links: all, flows } = self;
        let base = flow as usize * flows.stride;
        for hop in base..base + flows.lengths[flow as usize] as usize {
            let id = flows.links[hop];
            let link = &mut all[id as usize];
            let was_spilled = link.is_spilled();
            link.count -= 1;
            let count = link.count as usize;
            if !was_spilled {
                let list = &mut link.inline[..=count];
                let place = list.iter().position(|&f| f == flow).expect("a flow is in the list of its link");
                list[place] = list[count];
                continue;
            }
            let spill = link.inline[0];
            let list = &mut flows.spills[spill as usize];
            let place = flows.places[hop] as usize;
            debug_assert_eq!(list[place], flow);
            list.swap_remove(place);
            if count == INLINE {
                link.inline.copy_from_slice(list);
                list.clear();
                flows.free_spills.push(spill);
            } else if let Some(&moved) = list.get(place) {
                flows.remember(moved, id, place);
            }
        }
        flows.lengths[flow as usize] = 0;
    }

    /// The links of a flow.
    #[inline]
    pub(super) fn links(&self, flow: u32) -> &[u32] {
        let base = flow as usize * self.flows.stride;
        &self.flows.links[base..base + self.flows.lengths[flow as usize] as usize]
    }

    /// Calls `visit` with each link of a flow: its id, its state and the number of its flows.
    #[inline(always)]
    pub(super) fn visit_links(&mut self, flow: u32, mut visit: impl FnMut(u32, &mut S, u32)) {
        let base = flow as usize * self.flows.stride;
        for &id in &self.flows.links[base..base + self.flows.lengths[flow as usize] as usize] {
            debug_assert!((id as usize) < self.links.len());
            // SAFETY: the links of a flow are checked against the number of links, which never changes, before `add`
            // notes them. (Measured: this walk is the inner loop of the max-min sweep, 24 links a message.)
            let link = unsafe { self.links.get_unchecked_mut(id as usize) };
            visit(id, &mut link.state, link.count);
        }
    }

    /// Whether the state of one of a flow's links passes the test.
    #[inline(always)]
    pub(super) fn any_link(&self, flow: u32, mut test: impl FnMut(&S) -> bool) -> bool {
        self.links(flow).iter().any(|&id| {
            debug_assert!((id as usize) < self.links.len());
            // SAFETY: as in `visit_links`.
            test(unsafe { &self.links.get_unchecked(id as usize).state })
        })
    }

    /// The flows on a link.
    #[inline]
    pub(super) fn flows_on(&self, link: u32) -> &[u32] {
        let link = &self.links[link as usize];
        if link.is_spilled() {
            &self.flows.spills[link.inline[0] as usize]
        } else {
            &link.inline[..link.count as usize]
        }
    }

    /// Number of flows on a link.
    #[inline]
    pub(super) fn count(&self, link: u32) -> u32 {
        self.links[link as usize].count
    }

    /// What the policy keeps of a link.
    #[inline]
    pub(super) fn state(&self, link: u32) -> &S {
        &self.links[link as usize].state
    }

    /// What the policy keeps of a link, and the number of its flows.
    #[inline]
    pub(super) fn state_mut(&mut self, link: u32) -> (&mut S, u32) {
        let link = &mut self.links[link as usize];
        (&mut link.state, link.count)
    }

    /// What the policy keeps of every link.
    pub(super) fn states_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.links.iter_mut().map(|link| &mut link.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// Adds and removes flows at random and compares with plain lists.
    fn agrees_with_plain_lists(links: u32, flows: u32, longest: u64) {
        let mut random = Stream::new(u64::from(flows), "incidence");
        let mut incidence = Incidence::new((0..links).map(|_| ()));
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
                incidence.add(flow, route);
                assert_eq!(incidence.links(flow), route);
            } else {
                route.clear();
                incidence.remove(flow);
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
}
