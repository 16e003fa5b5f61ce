//! Number of messages on each link, of one step and of all steps so far.

use crate::ids::{IdVec, LinkId, NodeId};
use crate::routing::Router;

/// Number of messages on each link, of one step and of all steps so far.
///
/// # Counters of a byte
///
/// A step touches every link, so the size of a counter decides in which cache the links fit. Few messages of
/// a step cross the same link, so they are counted modulo 256 in a byte. The number of crossings is known
/// ([`Router::count_few`]), so a counter that has overflowed shows in the sum. Then this step and all later
/// ones are counted in 32 bits. The counts of the last steps are added up in 16 bits, which [`RECENT`] steps
/// cannot fill, and then added to a sum of 64 bits.
pub(super) struct LinkCounts {
    /// Messages of this step, as long as a byte holds them.
    few: IdVec<LinkId, u8>,
    /// Messages of this step once a byte no longer holds them; empty before.
    many: IdVec<LinkId, u32>,
    /// Largest number of messages of this step on one link.
    most: u32,
    /// Messages of the last steps that were counted in bytes, and the number of those steps.
    recent: Vec<u16>,
    recent_steps: u32,
    /// Messages of all earlier steps.
    crossed: IdVec<LinkId, u64>,
}

/// Number of steps of at most 255 messages a link whose sum fits in 16 bits.
const RECENT: u32 = (u16::MAX / u8::MAX as u16) as u32;

/// Number of counters of a byte whose sum fits in 16 bits.
const BLOCK: usize = 256;

impl LinkCounts {
    /// Creates counters of zero for `links` links.
    pub fn new(links: usize) -> Self {
        Self {
            few: IdVec::filled(links, 0),
            many: IdVec::new(),
            most: 0,
            recent: vec![0; links],
            recent_steps: 0,
            crossed: IdVec::filled(links, 0),
        }
    }

    /// Counts the messages of a step, given the source and destination node of each.
    pub fn count(&mut self, router: &dyn Router, ends: &[(NodeId, NodeId)]) {
        if self.many.is_empty() {
            let crossings = router.count_few(ends, &mut self.few);
            let (most, sum) = most_and_sum(self.few.as_slice());
            if sum == crossings {
                self.most = u32::from(most);
                return;
            }
            self.add_recent();
            self.few = IdVec::new();
            self.many = IdVec::filled(self.crossed.len(), 0);
        }
        router.count(ends, &mut self.many);
        self.most = self.many.iter().fold(0, |most, &count| most.max(count));
    }

    /// Returns the largest number of messages of this step on one link.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// Returns the number of messages of this step on a link.
    #[inline]
    pub fn get(&self, link: LinkId) -> u32 {
        self.few.get(link).map_or_else(|| self.many[link], |&count| count.into())
    }

    /// Overwrites `on_links` with the number of messages of this step on each link.
    pub fn write_to(&self, on_links: &mut IdVec<LinkId, u32>) {
        if self.many.is_empty() {
            *on_links = self.few.iter().map(|&count| u32::from(count)).collect();
        } else {
            on_links.clone_from(&self.many);
        }
    }

    /// Adds this step, which is repeated `times` times, to the sum of all steps, and begins the next.
    pub fn end_step(&mut self, times: u32) {
        let add = |crossed: &mut u64, count: u32| *crossed += u64::from(count) * u64::from(times);
        let crossed = self.crossed.as_mut_slice().iter_mut();
        if !self.many.is_empty() {
            self.many.as_mut_slice().iter_mut().zip(crossed).for_each(|(count, sum)| add(sum, std::mem::take(count)));
        } else if times > 1 {
            let few = self.few.as_mut_slice().iter_mut();
            few.zip(crossed).for_each(|(count, sum)| add(sum, std::mem::take(count).into()));
        } else {
            for (count, recent) in self.few.as_mut_slice().iter_mut().zip(&mut self.recent) {
                *recent += u16::from(std::mem::take(count));
            }
            self.recent_steps += 1;
            if self.recent_steps == RECENT {
                self.add_recent();
            }
        }
    }

    fn add_recent(&mut self) {
        for (crossed, recent) in self.crossed.as_mut_slice().iter_mut().zip(&mut self.recent) {
            *crossed += u64::from(std::mem::take(recent));
        }
        self.recent_steps = 0;
    }

    /// Returns the number of messages of all ended steps by link.
    pub fn crossed(mut self) -> IdVec<LinkId, u64> {
        self.add_recent();
        self.crossed
    }
}

/// Returns the largest of these counters, and their sum.
fn most_and_sum(counts: &[u8]) -> (u8, u64) {
    let (mut most, mut sum) = (0, 0);
    for block in counts.chunks(BLOCK) {
        most = block.iter().fold(most, |most, &count| most.max(count));
        sum += u64::from(block.iter().map(|&count| u16::from(count)).sum::<u16>());
    }
    (most, sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Id;
    use crate::rng::Stream;

    /// Routing in which node a reaches node b over link a + b alone.
    #[derive(Debug)]
    struct Sums;

    impl Router for Sums {
        fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
            route.push(LinkId::from_index((src.0 + dst.0) as usize));
        }
    }

    /// Compares the counters with counting one by one, over steps given as (messages, repetitions).
    fn agrees_with_counting_one_by_one(steps: &[(usize, u32)]) {
        let mut random = Stream::new(3, "link counts");
        let links = 700;
        let (mut counts, mut plain) = (LinkCounts::new(links), vec![0u64; links]);
        for &(messages, times) in steps {
            let mut step = vec![0u32; links];
            let node = |random: &mut Stream| NodeId(random.below(20) as u32);
            let ends: Vec<_> = (0..messages).map(|_| (node(&mut random), node(&mut random))).collect();
            for (src, dst) in ends.iter().filter(|(src, dst)| src != dst) {
                step[(src.0 + dst.0) as usize] += 1;
            }
            counts.count(&Sums, &ends);
            assert_eq!(Some(counts.most()), step.iter().copied().max());
            assert!((0..links as u32).all(|link| counts.get(LinkId(link)) == step[link as usize]));
            counts.end_step(times);
            plain.iter_mut().zip(step).for_each(|(sum, count)| *sum += u64::from(count) * u64::from(times));
        }
        assert_eq!(counts.crossed().as_slice(), plain);
    }

    #[test]
    fn sums_of_more_steps_than_sixteen_bits_hold_are_those_of_all_steps() {
        agrees_with_counting_one_by_one(&[(3_000, 1); 600]);
        agrees_with_counting_one_by_one(&[(100, 1), (100, 1000), (0, 1), (50, 1)]);
    }

    #[test]
    fn counters_that_run_over_are_noticed_and_count_on_in_more_bits() {
        // (A link has up to a twentieth of the messages.)
        agrees_with_counting_one_by_one(&[(3_000, 1), (200_000, 1), (10, 1), (200_000, 3)]);
    }
}
