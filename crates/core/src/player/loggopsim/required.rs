//! For how many others the operations of all hosts still wait.

use crate::ids::RankId;
use crate::program::Program;

/// An operation that is done, in the place of the number of those it waits for.
const DONE: u8 = u8::MAX;

/// By host and operation: for how many others it waits, or that it is done. A byte each, where nothing waits for more
/// than 254 others.
#[derive(Debug)]
pub(super) struct Required {
    /// By host: where its operations begin.
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

    /// It waits for one less; whether it waits for nothing any more.
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

    /// It is done.
    #[inline]
    pub fn done(&mut self, host: RankId, op: u32) {
        let at = self.at(host, op);
        match &mut self.counts {
            Counts::Narrow(counts) => counts[at] = DONE,
            Counts::Wide(counts) => counts[at] = u32::MAX,
        }
    }

    /// Whether it waits for nothing and is not done.
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
