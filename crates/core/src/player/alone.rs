//! Playing of a program without a fabric, in the way that its node model requires.

use super::activity::Observers;
use super::drive::Player;
use super::played::{Play, Played};
use super::{loggopsim, rules};
use crate::node::Playing;
use crate::noise::Processors;
use crate::program::{Expand, Program};
use crate::units::Time;

/// Plays a program without a fabric, on processors of this speed, some of which may be slow.
///
/// From time to time it calls `keep_running` with simulated time and the number of messages received so far; the run
/// ends if that returns `false`.
pub fn alone<'a>(
    program: &'a Program,
    playing: Playing,
    expand: &'a dyn Expand,
    (cpu_speed, processors): (f64, Option<Processors>),
    observers: Observers<'a>,
    keep_running: &dyn Fn(Time, u64) -> bool,
) -> Played {
    match playing {
        Playing::OnHosts(costs) => {
            let graphs = loggopsim::as_graphs(program, expand);
            loggopsim::play(&graphs, &costs, (cpu_speed, processors), observers, keep_running)
        }
        Playing::FromTable(table, _) if rules::apply(program) => {
            rules::play(program, &table, expand, (cpu_speed, processors), observers, keep_running)
        }
        Playing::AtCosts(costs) | Playing::FromTable(_, costs) => {
            let play = Play { program, costs, expand: Some(expand), cpu_speed, on_fabric: false };
            Player::new(play, observers).slowed(processors).run(keep_running)
        }
    }
}
