//! Dealing of tasks: their order, and the number of tasks in one message.

use std::collections::VecDeque;

use super::tasks::{Size, Sizes, Tasks};
use crate::rng::Stream;
use crate::units::Time;

/// Order in which tasks are dealt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// Order of the list.
    #[default]
    Listed,
    /// Longest task first; tasks of equal time in the order of the list.
    LongestFirst,
    /// Shortest task first; tasks of equal time in the order of the list.
    ShortestFirst,
    /// Random order, drawn from this seed.
    Random(u64),
}

/// Number of tasks in one message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chunking {
    /// Constant number of tasks. The last message has the rest.
    Fixed(u32),
    /// `ceil(R / W)` tasks, with R tasks left and W workers, but at least this number.
    ///
    /// Source: Polychronopoulos and Kuck, Guided self-scheduling, IEEE ToC C-36(12), 1987.
    Guided(u32),
    /// W messages of `ceil(R / (2 W))` tasks, then the same with the rest, but at least this number.
    ///
    /// Source: Hummel, Schonberg and Flynn, Factoring, CACM 35(8), 1992.
    Factoring(u32),
}

impl Default for Chunking {
    fn default() -> Self {
        Self::Fixed(1)
    }
}

impl Order {
    /// Returns the indices of the tasks in this order.
    pub fn sequence(self, tasks: &Tasks) -> Vec<u32> {
        let mut sequence: Vec<u32> = (0..tasks.len() as u32).collect();
        let times = tasks.times();
        match self {
            Self::Listed => {}
            Self::LongestFirst => sequence.sort_by(|&a, &b| times[b as usize].cmp(&times[a as usize])),
            Self::ShortestFirst => sequence.sort_by(|&a, &b| times[a as usize].cmp(&times[b as usize])),
            Self::Random(seed) => Stream::new(seed, "task order").shuffle(&mut sequence),
        }
        sequence
    }

    /// Returns the tasks listed in this order.
    pub fn arrange(self, tasks: Tasks) -> Tasks {
        if self == Self::Listed {
            return tasks;
        }
        let sequence = self.sequence(&tasks);
        let times = sequence.iter().map(|&i| tasks.times()[i as usize]).collect();
        let sizes = match tasks.sizes() {
            Sizes::Same(size) => Sizes::Same(*size),
            Sizes::Each(each) => Sizes::Each(sequence.iter().map(|&i| each[i as usize]).collect()),
        };
        Tasks::new(times, sizes)
    }
}

/// Tasks that travel in one message, and their results in another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Chunk {
    /// Position of the first task in the list.
    pub first: u32,
    /// Number of tasks.
    pub tasks: u32,
    /// Sum of the times of the tasks on the machine that measured them.
    pub work: Time,
    /// Bytes sent for all these tasks.
    pub size: Size,
}

/// Dealer of tasks. It deals each task once, unless the task is given back.
#[derive(Clone, Debug)]
pub struct Dealer<'a> {
    tasks: &'a Tasks,
    chunking: Chunking,
    workers: u32,
    next: u32,
    end: u32,
    /// Remaining messages of the current factoring batch, and their number of tasks.
    batch: (u32, u32),
    returned: VecDeque<Chunk>,
}

impl<'a> Dealer<'a> {
    /// Creates a dealer of all tasks for `workers` workers.
    pub fn new(tasks: &'a Tasks, chunking: Chunking, workers: u32) -> Self {
        Self::part(tasks, 0..tasks.len() as u32, chunking, workers)
    }

    /// Creates a dealer of the tasks in `range`.
    pub fn part(tasks: &'a Tasks, range: std::ops::Range<u32>, chunking: Chunking, workers: u32) -> Self {
        let (next, end) = (range.start, range.end);
        Self { tasks, chunking, workers: workers.max(1), next, end, batch: (0, 0), returned: VecDeque::new() }
    }

    /// Number of tasks still to be dealt.
    pub fn left(&self) -> u32 {
        self.end - self.next + self.returned.iter().map(|chunk| chunk.tasks).sum::<u32>()
    }

    /// Takes back tasks that were lost on their way. They are dealt again before all others, the earliest
    /// first.
    pub fn give_back(&mut self, chunk: Chunk) {
        let at = self.returned.partition_point(|other| other.first < chunk.first);
        self.returned.insert(at, chunk);
    }

    /// Number of messages if nothing is given back.
    pub fn messages(mut self) -> u64 {
        match self.chunking {
            Chunking::Fixed(k) => u64::from((self.end - self.next).div_ceil(k.max(1))),
            Chunking::Guided(_) | Chunking::Factoring(_) => {
                let mut count = 0;
                while self.next < self.end {
                    self.next += self.length();
                    count += 1;
                }
                count
            }
        }
    }

    /// Returns the number of tasks of the next message.
    fn length(&mut self) -> u32 {
        let left = self.end - self.next;
        let wanted = match self.chunking {
            Chunking::Fixed(k) => k,
            Chunking::Guided(least) => left.div_ceil(self.workers).max(least),
            Chunking::Factoring(least) => {
                if self.batch.0 == 0 {
                    self.batch = (self.workers, left.div_ceil(self.workers.saturating_mul(2)).max(least));
                }
                self.batch.0 -= 1;
                self.batch.1
            }
        };
        wanted.clamp(1, left)
    }

    /// Deals the next tasks; `None` if none are left.
    #[inline]
    pub fn deal(&mut self) -> Option<Chunk> {
        if !self.returned.is_empty() {
            return self.returned.pop_front();
        }
        if self.next == self.end {
            return None;
        }
        let first = self.next;
        let count = if self.chunking == Chunking::Fixed(1) { 1 } else { self.length() };
        self.next += count;
        Some(gather(self.tasks, first, count))
    }
}

/// Puts `count` tasks from `first` on into one message.
#[inline]
fn gather(tasks: &Tasks, first: u32, count: u32) -> Chunk {
    if count == 1 {
        return Chunk { first, tasks: 1, work: tasks.times()[first as usize], size: tasks.size(first) };
    }
    let work = tasks.times()[first as usize..][..count as usize].iter().copied().sum();
    let size = match tasks.sizes() {
        Sizes::Same(size) => Size {
            input: size.input.saturating_mul(u64::from(count)),
            output: size.output.saturating_mul(u64::from(count)),
        },
        Sizes::Each(each) => each[first as usize..][..count as usize].iter().fold(Size::default(), |sum, size| Size {
            input: sum.input.saturating_add(size.input),
            output: sum.output.saturating_add(size.output),
        }),
    };
    Chunk { first, tasks: count, work, size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(count: u32) -> Tasks {
        let times = (0..count).map(|i| Time::from_ps(f64::from((i * 7) % 5 + 1))).collect();
        Tasks::new(times, Sizes::Each((0..count).map(|i| Size { input: u64::from(i), output: 1 }).collect()))
    }

    fn lengths(chunking: Chunking, count: u32, workers: u32) -> Vec<u32> {
        let tasks = tasks(count);
        let mut dealer = Dealer::new(&tasks, chunking, workers);
        let expected = dealer.clone().messages();
        let lengths: Vec<u32> = std::iter::from_fn(|| dealer.deal()).map(|chunk| chunk.tasks).collect();
        assert_eq!((lengths.len() as u64, lengths.iter().sum::<u32>()), (expected, count));
        lengths
    }

    #[test]
    fn a_message_holds_as_many_tasks_as_the_rule_says() {
        assert_eq!(lengths(Chunking::Fixed(4), 10, 3), [4, 4, 2]);
        // 20 tasks for 4 workers: 20/4, 15/4, 11/4, 8/4, 6/4, ...
        assert_eq!(lengths(Chunking::Guided(1), 20, 4), [5, 4, 3, 2, 2, 1, 1, 1, 1]);
        assert_eq!(lengths(Chunking::Guided(3), 20, 4), [5, 4, 3, 3, 3, 2]);
        // Four of 20/8, then four of 8/8, then 4/8.
        assert_eq!(lengths(Chunking::Factoring(1), 20, 4), [3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(lengths(Chunking::Fixed(u32::MAX), 3, 1), [3]);
        assert!(lengths(Chunking::Guided(1), 0, 4).is_empty());
    }

    #[test]
    fn what_is_given_back_goes_out_first_and_whole() {
        let tasks = tasks(6);
        let mut dealer = Dealer::new(&tasks, Chunking::Fixed(2), 2);
        let (a, b) = (dealer.deal().unwrap(), dealer.deal().unwrap());
        assert_eq!((a.size, b.size), (Size { input: 1, output: 2 }, Size { input: 5, output: 2 }));
        dealer.give_back(b);
        dealer.give_back(a);
        assert_eq!(dealer.left(), 6);
        assert_eq!([dealer.deal(), dealer.deal()], [Some(a), Some(b)]);
        assert_eq!(dealer.deal().map(|chunk| chunk.first), Some(4));
    }

    #[test]
    fn an_order_lists_every_task_once() {
        let tasks = tasks(50);
        for order in [Order::Listed, Order::LongestFirst, Order::ShortestFirst, Order::Random(3)] {
            let mut sequence = order.sequence(&tasks);
            let arranged = order.arrange(tasks.clone());
            assert!(sequence.iter().zip(arranged.times()).all(|(&i, &time)| tasks.times()[i as usize] == time));
            if order == Order::LongestFirst {
                assert!(arranged.times().is_sorted_by(|a, b| a >= b));
            }
            sequence.sort_unstable();
            assert!(sequence.into_iter().eq(0..50));
        }
    }
}
