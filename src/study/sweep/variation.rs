//! Effect on a prediction of taking the mean of a block's times: the same program with all times as recorded,
//! with means, with lines, and with times drawn from those of each block.

use crate::base::Arrange;
use crate::diagnostic::Diagnostic;
use crate::node::{NodeSpec, ReceiveTime, ReceiveTimesSpec};
use crate::player::{Observers, Play, Player, rules};
use crate::prediction::computation::{ComputationData, Estimates, Machine, TimeRule};
use crate::prediction::program::{BlockName, Blocks, Folded, Timing, unfold};
use crate::program::Program;
use crate::program::collectives::{CollectivesSpec, Expander};
use crate::report::variation::{BlockVariation, Variation};
use crate::units::{Bytes, Time};

/// Number of blocks that are examined one by one.
const BLOCKS: usize = 5;

/// Computes the effect of means on the prediction.
///
/// Cost: nine plays of the program.
///
/// # Errors
/// None for data that was gathered from the same run.
pub fn variation(folded: &Folded, blocks: &Blocks, data: &ComputationData) -> Result<Variation, Vec<Diagnostic>> {
    let machines = vec![Machine { data: 0, scale: 1.0 }; folded.data.ranks as usize];
    let estimates = |take| Estimates::new(&folded.data, blocks, std::slice::from_ref(data), &machines, take);
    let (means, lines, drawn) = (estimates(TimeRule::Mean)?, estimates(TimeRule::Line)?, estimates(TimeRule::Draw(1))?);
    let play = |mut timing: MixedTiming<'_>| -> Result<f64, Vec<Diagnostic>> {
        Ok(ideal(&unfold(&folded.data, blocks, &mut timing, "")?).seconds())
    };
    let mixed = |estimates: &Estimates, replaced| MixedTiming {
        times: &folded.times,
        estimates: estimates.clone(),
        replaced,
        rank: 0,
        next: 0,
    };
    let recorded_s = play(mixed(&means, EstimatedBlocks::None))?;
    let mut varying: Vec<_> = data
        .blocks
        .iter()
        .map(|block| {
            let executions: u64 = block.rows.iter().map(|row| row.count).sum();
            let each = |of: fn(f64, f64) -> f64| -> f64 {
                let rows = block.rows.iter();
                rows.map(|row| row.count as f64 * of(row.mean.seconds(), row.deviation.seconds())).sum()
            };
            let n = executions as f64;
            let (mean, square) = (each(|mean, _| mean) / n, each(|_, deviation| deviation * deviation) / n);
            (block, executions, mean, square.sqrt())
        })
        .filter(|(.., deviation)| *deviation > 0.0)
        .collect();
    varying.arrange_by(|a, b| (b.1 as f64 * b.3).total_cmp(&(a.1 as f64 * a.3)).then(a.0.block.cmp(&b.0.block)));
    varying.truncate(BLOCKS);
    let mut found = Vec::new();
    for (block, executions, mean_s, deviation_s) in varying {
        let BlockName { from, to } = block.name.clone();
        let with = play(mixed(&lines, EstimatedBlocks::One(block.block)))?;
        found.push(BlockVariation {
            block: block.block + 1,
            from,
            to,
            executions,
            mean_s,
            deviation_s,
            line: block.rows.iter().any(|row| row.trend.is_some()),
            cost: if recorded_s > 0.0 { with / recorded_s - 1.0 } else { 0.0 },
        });
    }
    Ok(Variation {
        recorded_s,
        means_s: play(mixed(&means, EstimatedBlocks::All))?,
        lines_s: play(mixed(&lines, EstimatedBlocks::All))?,
        drawn_s: play(mixed(&drawn, EstimatedBlocks::All))?,
        blocks: found,
    })
}

/// Blocks that take an estimate instead of their recorded times.
#[derive(Clone, Copy)]
enum EstimatedBlocks {
    None,
    One(u32),
    All,
}

struct MixedTiming<'a> {
    times: &'a [Vec<Time>],
    estimates: Estimates,
    replaced: EstimatedBlocks,
    rank: usize,
    next: usize,
}

impl Timing for MixedTiming<'_> {
    fn rank(&mut self, rank: u32) {
        (self.rank, self.next) = (rank as usize, 0);
        self.estimates.rank(rank);
    }

    fn time(&mut self, block: u32, execution: u64) -> Time {
        let recorded = self.times.get(self.rank).and_then(|times| times.get(self.next)).copied().unwrap_or_default();
        self.next += 1;
        match self.replaced {
            EstimatedBlocks::All => self.estimates.time(block, execution),
            EstimatedBlocks::One(one) if one == block => self.estimates.time(block, execution),
            _ => recorded,
        }
    }
}

/// Returns the time of a program when messages take no time.
fn ideal(program: &Program) -> Time {
    let expander = Expander::new(CollectivesSpec::default());
    if rules::apply(program) {
        let row = ReceiveTime { size: Bytes(0), receive: Time::ZERO };
        let table = ReceiveTimesSpec { times: vec![row].into(), between: Vec::new() }.table();
        return rules::play(program, &table, &expander, (1.0, None), Observers::default(), &|_, _| true).makespan();
    }
    let Some(costs) = NodeSpec::default().costs() else { return Time::ZERO };
    let play = Play { program, costs, expand: Some(&expander), cpu_speed: 1.0, on_fabric: false };
    Player::new(play, Observers::default()).run(&|_, _| true).makespan()
}
