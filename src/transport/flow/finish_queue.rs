//! Finish times of flows, earliest first, each of which may change at any time.

/// Children of a heap node: eight entries of 16 bytes are two cache lines.
const ARITY: usize = 8;

/// Not in the queue.
const ABSENT: u32 = u32::MAX;

/// An indexed 8-ary heap of (finish time, flow).
///
/// One completion changes the finish times of about four other flows, so changing a key must be as cheap as taking
/// the smallest. Eight children make the heap shallow (four levels for 3,456 flows) and a node's children adjacent:
/// measured against binary and 4-ary heaps, lazy deletion and bucket wheels, this form was the fastest at every size.
///
/// Taking out the earliest leaves a hole at the root: the sender's next message, which mostly follows at once, goes in
/// there and sinks, which saves moving the last entry to the root and the new one up from the end.
#[derive(Clone, Debug, Default)]
pub(super) struct FinishQueue {
    heap: Vec<Entry>,
    /// By flow: where in the heap it is.
    places: Vec<u32>,
    /// Whether the root has been taken out and not filled yet.
    hole: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// \[ps\].
    time: f64,
    flow: u32,
}

impl FinishQueue {
    /// The earliest time, or infinity.
    #[inline]
    pub(super) fn earliest(&self) -> f64 {
        let candidates = if self.hole { self.heap.get(1..).unwrap_or_default() } else { &self.heap[..] };
        let count = if self.hole { ARITY } else { 1 };
        candidates.iter().take(count).map(|entry| entry.time).fold(f64::INFINITY, f64::min)
    }

    /// The finish time of a flow that is in the queue.
    #[inline]
    pub(super) fn time(&self, flow: u32) -> f64 {
        self.heap[self.places[flow as usize] as usize].time
    }

    /// Puts a flow in, or changes its time.
    #[inline]
    pub(super) fn set(&mut self, flow: u32, time: f64) {
        if self.places.len() <= flow as usize {
            self.places.resize(flow as usize + 1, ABSENT);
        }
        let entry = Entry { time, flow };
        let place = self.places[flow as usize];
        if place != ABSENT {
            let place = place as usize;
            if time < self.heap[place].time {
                self.rise(place, entry);
            } else {
                self.sink(place, entry);
            }
        } else if std::mem::take(&mut self.hole) {
            self.sink(0, entry);
        } else {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1, entry);
        }
    }

    /// Takes out the earliest flow.
    pub(super) fn pop(&mut self) -> Option<u32> {
        if std::mem::take(&mut self.hole)
            && let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sink(0, last);
        }
        let root = self.heap.first_mut()?;
        let flow = root.flow;
        // Nothing rises above the hole.
        root.time = f64::NEG_INFINITY;
        self.places[flow as usize] = ABSENT;
        self.hole = true;
        Some(flow)
    }

    /// Writes `entry` where it belongs at or above `place`.
    #[inline]
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            let above = self.heap[parent];
            if above.time <= entry.time {
                break;
            }
            self.heap[place] = above;
            self.places[above.flow as usize] = place as u32;
            place = parent;
        }
        self.heap[place] = entry;
        self.places[entry.flow as usize] = place as u32;
    }

    /// Writes `entry` where it belongs at or below `place`.
    #[inline]
    fn sink(&mut self, mut place: usize, entry: Entry) {
        loop {
            let first = place * ARITY + 1;
            let (children, best): (&[Entry], usize) = match self.heap.get(first..first + ARITY) {
                Some(children) => (children, earliest_of(children.try_into().expect("a slice of this length"))),
                None if first < self.heap.len() => {
                    let children = &self.heap[first..];
                    let earlier = |a: usize, b: usize| if children[b].time < children[a].time { b } else { a };
                    (children, (1..children.len()).fold(0, earlier))
                }
                None => break,
            };
            let child = children[best];
            if child.time >= entry.time {
                break;
            }
            self.heap[place] = child;
            self.places[child.flow as usize] = place as u32;
            place = first + best;
        }
        self.heap[place] = entry;
        self.places[entry.flow as usize] = place as u32;
    }
}

/// Which of a full set of children is the earliest: a tournament, because which of two wins is a coin toss that a
/// processor cannot predict, and this form compiles to selections instead of jumps.
#[inline(always)]
fn earliest_of(children: &[Entry; ARITY]) -> usize {
    let earlier = |a: usize, b: usize| if children[b & 7].time < children[a & 7].time { b } else { a };
    let quarter = [earlier(0, 1), earlier(2, 3), earlier(4, 5), earlier(6, 7)];
    earlier(earlier(quarter[0], quarter[1]), earlier(quarter[2], quarter[3]))
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
            if random.below(4) == 0 {
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
