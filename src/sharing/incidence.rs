//! Which flows are on which links: the structure that every policy works on.
//!
//! Links hold the list of their flows and flows the list of their links. Most links carry one to three flows at a
//! time, so a list of up to [`INLINE`] flows lives in the link's own cache line and is searched linearly; a longer
//! list (an incast) moves to a vector of its own, in which each entry's place is remembered, so that a flow is taken
//! out in constant time however many share the link.

/// Flows that fit in a link's own cache line.
const INLINE: usize = 14;

/// Marks a link whose flows are inline.
const NO_SPILL: u32 = u32::MAX;

/// The flows on one link: 64 bytes.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Members {
    count: u32,
    /// Where the list is, if it is not inline.
    spill: u32,
    inline: [u32; INLINE],
}

/// Flows on links.
#[derive(Clone, Debug)]
pub(super) struct Incidence {
    members: Vec<Members>,
    spills: Vec<Vec<u32>>,
    free_spills: Vec<u32>,
    /// Places for the links of each flow: `stride` of them a flow.
    stride: usize,
    lengths: Vec<u32>,
    links: Vec<u32>,
    /// Where in a spilled list the flow of `links` at the same place stands; meaningless for inline lists.
    places: Vec<u32>,
}

impl Incidence {
    pub(super) fn new(links: usize) -> Self {
        let empty = Members { count: 0, spill: NO_SPILL, inline: [0; INLINE] };
        Self {
            members: vec![empty; links],
            spills: Vec::new(),
            free_spills: Vec::new(),
            stride: 4,
            lengths: Vec::new(),
            links: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Number of flow places there have ever been: flow ids are below it.
    pub(super) fn flows(&self) -> usize {
        self.lengths.len()
    }

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

    /// Puts a flow on its links (each at most once).
    pub(super) fn add(&mut self, flow: u32, links: &[u32]) {
        self.reserve(flow, links.len());
        let base = flow as usize * self.stride;
        self.lengths[flow as usize] = links.len() as u32;
        self.links[base..base + links.len()].copy_from_slice(links);
        for (hop, &link) in links.iter().enumerate() {
            let members = &mut self.members[link as usize];
            let count = members.count as usize;
            members.count += 1;
            if members.spill == NO_SPILL {
                if count < INLINE {
                    members.inline[count] = flow;
                    continue;
                }
                self.spill(link);
            }
            let list = &mut self.spills[self.members[link as usize].spill as usize];
            self.places[base + hop] = list.len() as u32;
            list.push(flow);
        }
    }

    /// Moves an inline list that is full to a vector.
    fn spill(&mut self, link: u32) {
        let spill = self.free_spills.pop().unwrap_or_else(|| {
            self.spills.push(Vec::new());
            self.spills.len() as u32 - 1
        });
        let members = &mut self.members[link as usize];
        members.spill = spill;
        let inline = members.inline;
        for (place, &flow) in inline.iter().enumerate() {
            self.remember(flow, link, place);
        }
        self.spills[spill as usize].clear();
        self.spills[spill as usize].extend_from_slice(&inline);
    }

    /// Notes the place of a flow in the list of one of its links.
    fn remember(&mut self, flow: u32, link: u32, place: usize) {
        let base = flow as usize * self.stride;
        let length = self.lengths[flow as usize] as usize;
        let hop = self.links[base..base + length].iter().position(|&l| l == link);
        self.places[base + hop.expect("a flow in a link's list has that link")] = place as u32;
    }

    /// Takes a flow off its links.
    pub(super) fn remove(&mut self, flow: u32) {
        let base = flow as usize * self.stride;
        for hop in base..base + self.lengths[flow as usize] as usize {
            let link = self.links[hop];
            let members = &mut self.members[link as usize];
            members.count -= 1;
            let count = members.count as usize;
            if members.spill == NO_SPILL {
                let list = &mut members.inline[..=count];
                let place = list.iter().position(|&f| f == flow).expect("a flow is in the list of its link");
                list[place] = list[count];
                continue;
            }
            let spill = members.spill;
            let list = &mut self.spills[spill as usize];
            let place = self.places[hop] as usize;
            debug_assert_eq!(list[place], flow);
            list.swap_remove(place);
            if count <= INLINE / 2 {
                // Back to the inline form well below the limit, so that a list does not move to and fro.
                members.spill = NO_SPILL;
                members.inline[..count].copy_from_slice(list);
                self.free_spills.push(spill);
            } else if let Some(&moved) = list.get(place) {
                self.remember(moved, link, place);
            }
        }
        self.lengths[flow as usize] = 0;
    }

    /// The links of a flow.
    #[inline]
    pub(super) fn links(&self, flow: u32) -> &[u32] {
        let base = flow as usize * self.stride;
        &self.links[base..base + self.lengths[flow as usize] as usize]
    }

    /// The flows on a link.
    #[inline]
    pub(super) fn flows_on(&self, link: u32) -> &[u32] {
        let members = &self.members[link as usize];
        if members.spill == NO_SPILL {
            &members.inline[..members.count as usize]
        } else {
            &self.spills[members.spill as usize]
        }
    }

    /// Number of flows on a link.
    #[inline]
    pub(super) fn count(&self, link: u32) -> u32 {
        self.members[link as usize].count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// Adds and removes flows at random and compares with plain lists.
    fn agrees_with_plain_lists(links: u32, flows: u32, longest: u64) {
        let mut random = Stream::new(u64::from(flows), "incidence");
        let mut incidence = Incidence::new(links as usize);
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
