//! Queue of finish times of flows, earliest first, each of which may change at any time.

use crate::base::prefetch::fetch;

/// Number of children of a heap node.
const ARITY: usize = 8;

/// Place of a flow that is not in the queue.
const ABSENT: u32 = u32::MAX;

/// Indexed 8-ary heap of (finish time, flow).
///
/// One completion changes the finish times of about four other flows, so changing a key must be as cheap as
/// taking the smallest. Eight children make the heap shallow (four levels for 3,456 flows), and the times of
/// a node's children are one cache line. Measured against binary and 4-ary heaps, lazy deletion and bucket
/// wheels, this form was the fastest at every size.
///
/// Taking out the earliest leaves a hole at the root. The sender's next message, which mostly follows at
/// once, goes in there and sinks. This saves moving the last entry to the root and the new one up from the
/// end.
#[derive(Clone, Debug)]
pub(super) struct FinishQueue {
    /// Entries by block and slot. A place is eight times its block plus its slot, so block and slot are bits
    /// of it. The root is place 7, and the children of place p are block p - 6.
    blocks: Vec<Block>,
    /// Number of entries; the last one is at this place plus 6.
    len: usize,
    /// By flow: its place in the heap.
    places: Vec<u32>,
    /// Set when the root has been taken out and not filled yet.
    hole: bool,
}

/// Children of a place.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Block {
    /// Finish times \[ps\]; infinite for no flow.
    times: [f64; ARITY],
    flows: [u32; ARITY],
}

impl Block {
    const EMPTY: Self = Self { times: [f64::INFINITY; ARITY], flows: [0; ARITY] };

    /// Returns the slot and time of the earliest child.
    ///
    /// It uses a tournament because a comparison of two times is unpredictable for a processor, and this form
    /// compiles to selections instead of branches.
    #[inline(always)]
    fn earliest(&self) -> (usize, f64) {
        let times = &self.times;
        let pair = |a: usize| if times[a + 1] < times[a] { (a + 1, times[a + 1]) } else { (a, times[a]) };
        let earlier = |a: (usize, f64), b: (usize, f64)| if b.1 < a.1 { b } else { a };
        earlier(earlier(pair(0), pair(2)), earlier(pair(4), pair(6)))
    }
}

impl Default for FinishQueue {
    fn default() -> Self {
        Self { blocks: vec![Block::EMPTY], len: 0, places: Vec::new(), hole: false }
    }
}

/// Returns the block and the slot of a place.
#[inline(always)]
fn at(place: usize) -> (usize, usize) {
    (place / ARITY, place % ARITY)
}

/// Place of the root, the last slot of block 0; places before it are not used.
const ROOT: usize = ARITY - 1;

/// Returns the block of the children of a place.
#[inline(always)]
fn below(place: usize) -> usize {
    place - (ROOT - 1)
}

impl FinishQueue {
    /// Returns the earliest time, or infinity.
    #[inline]
    pub(super) fn earliest(&self) -> f64 {
        if !self.hole {
            return self.blocks[0].times[ROOT];
        }
        self.blocks.get(1).map_or(f64::INFINITY, |children| children.earliest().1)
    }

    /// Returns the earliest of the flows that are left after one was taken out, two that are probably the
    /// next after it, in order, and others that come soon.
    #[inline]
    pub(super) fn nearest(&self) -> Option<[u32; ARITY]> {
        let Block { mut times, mut flows } = *self.blocks.get(1).filter(|_| self.hole && self.len > ARITY)?;
        for place in 0..3 {
            let (next, _) = Block { times, flows }.earliest();
            flows.swap(place, next);
            times[next] = times[place];
            times[place] = f64::INFINITY;
        }
        Some(flows)
    }

    /// Prefetches the place of a flow whose time will soon change.
    #[inline]
    pub(super) fn fetch(&self, flow: u32) {
        let place = self.places.get(flow as usize).map_or(ABSENT, |&place| place);
        if let Some(block) = self.blocks.get(at(place as usize).0) {
            fetch(&block.times);
            fetch(&block.flows);
        }
    }

    /// Returns the finish time of a flow that is in the queue.
    #[cfg(test)]
    fn time(&self, flow: u32) -> f64 {
        let (block, slot) = at(self.places[flow as usize] as usize);
        self.blocks[block].times[slot]
    }

    /// Adds a flow, or changes its time.
    #[inline]
    pub(super) fn set(&mut self, flow: u32, time: f64) {
        if self.places.len() <= flow as usize {
            self.places.resize(flow as usize + 1, ABSENT);
        }
        let place = self.places[flow as usize];
        if place != ABSENT {
            self.change(flow, |_| time);
        } else if std::mem::take(&mut self.hole) {
            self.sink(ROOT, flow, time);
        } else {
            let place = self.len + ROOT;
            self.len += 1;
            if at(place).0 == self.blocks.len() {
                self.blocks.push(Block::EMPTY);
            }
            self.rise(place, flow, time);
        }
    }

    /// Changes the time of a flow that is in the queue.
    #[inline]
    pub(super) fn change(&mut self, flow: u32, new: impl FnOnce(f64) -> f64) {
        let place = self.places[flow as usize] as usize;
        let (block, slot) = at(place);
        let old = self.blocks[block].times[slot];
        let time = new(old);
        if time < old {
            self.rise(place, flow, time);
        } else if time > old {
            self.sink(place, flow, time);
        }
    }

    /// Takes out the earliest flow.
    pub(super) fn pop(&mut self) -> Option<u32> {
        if std::mem::take(&mut self.hole) {
            // The last entry fills the hole.
            self.len -= 1;
            let (block, slot) = at(self.len + ROOT);
            let last = &mut self.blocks[block];
            let time = std::mem::replace(&mut last.times[slot], f64::INFINITY);
            let flow = last.flows[slot];
            if self.len > 0 {
                self.sink(ROOT, flow, time);
            }
        }
        if self.len == 0 {
            return None;
        }
        let root = &mut self.blocks[0];
        let flow = root.flows[ROOT];
        // Nothing rises above the hole.
        root.times[ROOT] = f64::NEG_INFINITY;
        self.places[flow as usize] = ABSENT;
        self.hole = true;
        Some(flow)
    }

    /// Takes out a flow, if it is in the queue.
    pub(super) fn remove(&mut self, flow: u32) {
        if self.places.get(flow as usize).is_some_and(|&place| place != ABSENT) {
            self.change(flow, |_| f64::NEG_INFINITY);
            let first = self.pop();
            debug_assert_eq!(first, Some(flow), "nothing is earlier than that");
        }
    }

    #[inline(always)]
    fn put(&mut self, place: usize, flow: u32, time: f64) {
        let (block, slot) = at(place);
        let block = &mut self.blocks[block];
        block.times[slot] = time;
        block.flows[slot] = flow;
        self.places[flow as usize] = place as u32;
    }

    /// Writes an entry where it belongs at or above `place`.
    #[inline]
    fn rise(&mut self, mut place: usize, flow: u32, time: f64) {
        while place > ROOT {
            let parent = place / ARITY + (ROOT - 1);
            let (block, slot) = at(parent);
            let block = &self.blocks[block];
            let above = block.times[slot];
            if above <= time {
                break;
            }
            self.put(place, block.flows[slot], above);
            place = parent;
        }
        self.put(place, flow, time);
    }

    /// Writes an entry where it belongs at or below `place`.
    fn sink(&mut self, mut place: usize, flow: u32, time: f64) {
        while let Some(children) = self.blocks.get(below(place)) {
            let (best, earliest) = children.earliest();
            if earliest >= time {
                break;
            }
            self.put(place, children.flows[best], earliest);
            place = below(place) * ARITY + best;
        }
        self.put(place, flow, time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn flows_come_out_in_order_of_time_whatever_was_changed() {
        let mut random = Stream::new(1, "queue");
        let mut queue = FinishQueue::default();
        let mut plain = [f64::INFINITY; 300];
        for _ in 0..100_000 {
            if random.below(9) == 0 {
                let flow = random.below(300) as u32;
                queue.remove(flow);
                plain[flow as usize] = f64::INFINITY;
            } else if random.below(4) == 0 {
                if let Some(flow) = queue.pop() {
                    let earliest = plain.iter().copied().fold(f64::INFINITY, f64::min);
                    assert_eq!(plain[flow as usize], earliest);
                    plain[flow as usize] = f64::INFINITY;
                }
            } else {
                let flow = random.below(300) as u32;
                let time = random.unit();
                queue.set(flow, time);
                plain[flow as usize] = time;
                assert_eq!(queue.time(flow), time);
            }
            assert_eq!(queue.earliest(), plain.iter().copied().fold(f64::INFINITY, f64::min));
        }
    }
}
