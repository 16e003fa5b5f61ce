//! Regions of a program in a report: all of them, or the one that is asked for.

use super::program::Playing;
use super::ranks::{breakdown, rank_report};
use crate::player::ActivityKind;
use crate::record::PlayedRegion;
use crate::report::replay::{RegionReport, ReplayReport};
use crate::units::Time;

impl Playing<'_> {
    /// Puts regions into a report. If a region is asked for, the figures of ranks become those of the region.
    pub(super) fn report_regions(&self, report: &mut ReplayReport, regions: &[PlayedRegion]) {
        let asked = |number: &usize| self.work.region.is_none_or(|region| region as usize == *number);
        report.regions =
            (0..regions.len()).filter(asked).map(|number| self.region_report(number, &regions[number])).collect();
        if let Some(region) = self.work.region
            && let Some(played) = regions.get(region as usize)
        {
            report.region = self.work.program.regions.get(region as usize).map(ToString::to_string);
            report.breakdown = breakdown(&played.times, None);
            for (rank, (row, times)) in (0..).zip(report.ranks.iter_mut().zip(&played.times)) {
                *row = rank_report(rank, times);
            }
        }
    }

    fn region_report(&self, number: usize, played: &PlayedRegion) -> RegionReport {
        use ActivityKind::{Compute, RecvOverhead, RecvWait, SendOverhead, SendWait, Sync};
        let recorded = self.work.program.recorded.get(number).and_then(|region| region.time);
        RegionReport {
            name: self.work.program.regions.get(number).map(ToString::to_string).unwrap_or_default(),
            executions: played.spans.len() as u64,
            ranks: played.ranks,
            time_s: played.time().seconds(),
            computation_s: played.mean(&[Compute]).seconds(),
            communication_s: played.mean(&[SendOverhead, RecvOverhead, Sync]).seconds(),
            waiting_s: played.mean(&[SendWait, RecvWait]).seconds(),
            recorded_s: recorded.filter(|&time| time > Time::ZERO).map(Time::seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RankId;
    use crate::program::{Collective, CollectiveCall, Counts, Envelope, Mark, Op, Program, ProgramBuilder};
    use crate::scenario::Loader;
    use crate::simulation::{ProgramWork, RunOptions};

    /// Returns a program of four ranks that compute, exchange with their neighbours and sum up, ten times.
    /// Each rank has the same number of operations.
    fn program() -> Program {
        let mut program = ProgramBuilder::new(4);
        let sum =
            Collective { call: CollectiveCall::Allreduce, comm: 0, root: 0, counts: Counts::Same(64), plan: None };
        let sum = program.collective(sum);
        for me in 0..4 {
            let mut rank = program.sequence(me);
            for i in 0..10 {
                rank.push(Op::calc(Time::from_ps(f64::from(7 * me + 3 * i + 5) * 1e6)));
                let size = u64::from(100 + 4000 * (i % 3));
                let request = rank.push(Op::irecv(Envelope::world((me + 3) % 4, i), size));
                rank.push(Op::send(Envelope::world((me + 1) % 4, i), size));
                rank.push(Op::calc(Time::from_ps(f64::from(me % 2 * 9) * 1e6)));
                rank.push(Op::wait(request));
                rank.push(Op::collective(sum));
            }
            program.finish_rank(rank);
        }
        program.build().unwrap()
    }

    /// Adds borders of region 0 before these operations of every rank.
    fn marked(mut program: Program, borders: &[(u32, bool)]) -> Program {
        program.new_region("part");
        for rank in 0..program.ranks() {
            let mark = |&(at, begins): &(u32, bool)| Mark { at, region: 0, begins, site: 0, place: 0 };
            program.rank_mut(RankId(rank)).marks = borders.iter().map(mark).collect();
        }
        program
    }

    const MODELS: &[(&str, &str)] = &[
        ("ideal", "[node.ideal]\n"),
        ("loggps", "[node.loggps]\nL = \"3 us\"\no = \"1 us\"\nGs = \"1 ns/B\"\nS = \"1000 B\"\n"),
        ("receive-times", "[node.receive-times]\ntimes = [{ size = \"0 B\", receive = \"2 us\" }]\n"),
        ("loggopsim", "[node.loggopsim]\nL = \"3 us\"\no = \"1 us\"\n"),
    ];

    fn played(program: Program, model: &str) -> ReplayReport {
        let loader = Loader::new().text("machine.toml", model);
        let replay = loader.load_program(ProgramWork::new(program, "test")).unwrap_or_else(|error| panic!("{error:?}"));
        let replayed = replay.run(RunOptions::default());
        assert!(replayed.stuck.is_empty(), "{:?}", replayed.stuck);
        replayed.report
    }

    #[test]
    fn borders_change_nothing_and_the_whole_run_as_a_region_takes_its_time() {
        for (name, model) in MODELS {
            let plain = played(program(), model);
            let end = program().rank(RankId(0)).ops.len() as u32;
            let found = played(marked(program(), &[(0, true), (end, false)]), model);
            assert_eq!(found.head.fingerprint, plain.head.fingerprint, "{name}");
            let [region] = found.regions.as_slice() else { panic!("{name}: {:?}", found.regions) };
            assert_eq!((region.executions, region.ranks, region.time_s), (1, 4, plain.head.makespan_s), "{name}");
            let mean =
                |of: fn(&crate::report::replay::RankReport) -> f64| plain.ranks.iter().map(of).sum::<f64>() / 4.0;
            let waits = mean(|rank| rank.send_wait_s + rank.recv_wait_s);
            assert!((region.computation_s - mean(|rank| rank.compute_s)).abs() < 1e-15, "{name}");
            assert!((region.waiting_s - waits).abs() < 1e-15, "{name}: {} {waits}", region.waiting_s);
        }
    }

    #[test]
    fn a_region_ends_when_a_program_would_that_ends_there() {
        for (name, model) in MODELS {
            // Nothing is under way at the end of an iteration.
            for iterations in [1, 4, 9] {
                let at = 6 * iterations;
                let mut cut = program();
                for rank in 0..4 {
                    cut.rank_mut(RankId(rank)).ops.truncate(at as usize);
                }
                let (cut, found) = (played(cut, model), played(marked(program(), &[(0, true), (at, false)]), model));
                let time = found.regions[0].time_s;
                assert!(
                    (time - cut.head.makespan_s).abs() < 1e-12,
                    "{name}, {iterations}: {time} and {}",
                    cut.head.makespan_s
                );
            }
        }
    }

    #[test]
    fn executions_one_after_the_other_share_no_time_and_leave_none_out() {
        for (name, model) in MODELS {
            let borders: Vec<(u32, bool)> = (0..10).flat_map(|i| [(6 * i, true), (6 * i + 6, false)]).collect();
            let found = played(marked(program(), &borders), model);
            let region = &found.regions[0];
            assert_eq!(region.executions, 10, "{name}");
            // Ranks that are ahead begin the next iteration while others end this one.
            assert!(region.time_s >= found.head.makespan_s * (1.0 - 1e-12), "{name}");
            let parts = region.computation_s + region.communication_s + region.waiting_s;
            let mean = found.ranks.iter().map(|rank| rank.end_s).sum::<f64>() / 4.0;
            // Under models whose calls follow each other, no time beside the computation is counted twice.
            if *name != "loggopsim" {
                assert!((parts - mean).abs() < 1e-9 * mean, "{name}: {parts} {mean}");
            }
        }
    }
}
