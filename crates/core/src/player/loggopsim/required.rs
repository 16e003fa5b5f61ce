//! Number of operations that each operation of all hosts still waits for.

use crate::ids::RankId;
use crate::program::Program;

/// Marks an operation that is done, in place of its count.
const DONE: u8 = u8::MAX;

/// Number of operations that each operation still waits for, or the mark that it is done. The counts are
/// bytes if no operation waits for more than 254.
#[derive(Debug)]
pub(super) struct Required {
    /// Index of the first operation of each host.
    begin: Vec<usize>,
    counts: Counts,
}

#[derive(Debug)]
enum Counts {
    Narrow(Vec<u8>),
    Wide(Vec<u32>),
}

impl Required {
    pub fn new(program: &Program) -> Self {
        let mut all = 0;
        let mut begin = Vec::with_capacity(program.ranks() as usize);
        for (_, rank) in program.iter() {
            begin.push(all);
            all += rank.ops.len();
        }
        let mut required = Self { begin, counts: Counts::Narrow(vec![0; all]) };
        for (host, rank) in program.iter() {
            for follower in rank.graph().into_iter().flat_map(|graph| graph.all()) {
                required.more(host, follower.op);
            }
        }
        required
    }

    #[inline]
    fn at(&self, host: RankId, op: u32) -> usize {
        self.begin[host.0 as usize] + op as usize
    }

    fn more(&mut self, host: RankId, op: u32) {
        let at = self.at(host, op);
        if let Counts::Narrow(counts) = &mut self.counts {
            if counts[at] < DONE - 1 {
                counts[at] += 1;
                return;
            }
            self.counts = Counts::Wide(counts.iter().map(|&count| count.into()).collect());
        }
        if let Counts::Wide(counts) = &mut self.counts {
            counts[at] += 1;
        }
    }

    /// Decrements the count of an operation. Returns true if it waits for no other now.
    #[inline]
    pub fn less(&mut self, host: RankId, op: u32) -> bool {
        let at = self.at(host, op);
        match &mut self.counts {
            Counts::Narrow(counts) => {
                counts[at] -= 1;
                counts[at] == 0
            }
            Counts::Wide(counts) => {
                counts[at] -= 1;
                counts[at] == 0
            }
        }
    }

    /// Marks an operation as done.
    #[inline]
    pub fn done(&mut self, host: RankId, op: u32) {
        let at = self.at(host, op);
        match &mut self.counts {
            Counts::Narrow(counts) => counts[at] = DONE,
            Counts::Wide(counts) => counts[at] = u32::MAX,
        }
    }

    /// Returns true if an operation waits for no other and is not done.
    pub fn is_open(&self, host: RankId, op: u32) -> bool {
        let at = self.at(host, op);
        match &self.counts {
            Counts::Narrow(counts) => counts[at] == 0,
            Counts::Wide(counts) => counts[at] == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Op, ProgramBuilder};
    use crate::units::Time;

    #[test]
    fn hundreds_that_are_waited_for_are_counted_like_a_few() {
        for others in [1, 254, 255, 300, 1000] {
            let mut program = ProgramBuilder::new(2);
            for rank in 0..2 {
                let mut graph = program.graph(rank);
                (0..=others).for_each(|_| _ = graph.push(Op::calc(Time::ZERO)));
                (0..others * rank).for_each(|other| graph.requires(others, other));
                program.finish_rank(graph);
            }
            let mut required = Required::new(&program.build().unwrap());
            assert!(required.is_open(RankId(0), others) && required.is_open(RankId(1), 0));
            for left in (0..others).rev() {
                assert!(!required.is_open(RankId(1), others));
                assert_eq!(required.less(RankId(1), others), left == 0);
            }
            assert!(required.is_open(RankId(1), others));
            required.done(RankId(1), others);
            assert!(!required.is_open(RankId(1), others));
        }
    }
}
