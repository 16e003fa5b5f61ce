//! The master of the paper: one master, and each worker has one message at a time.
//!
//! Every worker starts idle with a request that is at the master at time 0. Until tasks and arrivals are used
//! up:
//!
//! * P1: the earliest arrival is taken; if it lies ahead of the master's clock, the clock moves there (`t1`);
//! * P2: a task is taken; if there is none, the clock moves by the receive overhead o alone;
//! * P3: that worker's result arrives at `t3 = t1 + O1 + O2`, and the clock moves to `t1 + O1`.
//!
//! ```text
//! O1 = 2*o + ki*G                           the master receives the arrival and sends the task
//! O2 = 2*L + T*r_s + 2*o + ko*G             flight both ways, the task, overheads of the worker
//! ```
//! Cost: O(tasks * log2(workers)).
//!
//! Source: Mizutani et al., section 3.3.2.

use super::arrivals::Arrivals;
use super::costs::Costs;
use super::deal::Dealer;
use super::outcome::{Outcome, Turn, TurnLog, Waiting, WorkerUse};
use crate::units::Time;

/// Runs the tasks of the dealer on workers with these factors. `o` is the master's overhead for a message.
pub fn run<Q: Arrivals>(
    mut dealer: Dealer<'_>,
    factors: &[f64],
    costs: &Costs,
    o: Time,
    log: &mut impl TurnLog,
) -> Outcome {
    let (o, latency, gap) = (o.ps(), costs.latency.ps(), costs.gap);
    let mut arrivals = Q::all_at_zero(factors.len());
    let mut workers = vec![WorkerUse::default(); factors.len()];
    let mut waiting = Waiting::default();
    let mut clock = 0.0f64;
    let (mut busy, mut messages, mut dealt) = (0.0, 0, 0.0);
    loop {
        let (arrival, worker) = arrivals.first();
        if arrival == Time::NEVER {
            break;
        }
        let t1 = clock.max(arrival.ps());
        let used = &mut workers[worker as usize];
        if used.tasks > 0 {
            waiting.served(arrival, Time::from_ps(t1));
        }
        let Some(chunk) = dealer.deal() else {
            clock = t1 + o;
            busy += o;
            arrivals.replace_first(Time::NEVER);
            continue;
        };
        let computing = chunk.work.ps() * factors[worker as usize];
        let o1 = 2.0 * o + chunk.size.input as f64 * gap;
        let o2 = 2.0 * latency + computing + 2.0 * o + chunk.size.output as f64 * gap;
        let t3 = Time::from_ps(t1 + o1 + o2);
        clock = t1 + o1;
        busy += o1;
        messages += 1;
        dealt = clock;
        used.busy += Time::from_ps(computing);
        used.tasks += chunk.tasks;
        used.last = t3;
        arrivals.replace_first(t3);
        let start = clock + latency + o;
        log.turn(Turn {
            worker,
            first: chunk.first,
            tasks: chunk.tasks,
            given: Time::from_ps(t1 + o),
            start: Time::from_ps(start),
            end: Time::from_ps(start + computing),
            back: t3,
        });
    }
    Outcome {
        time: Time::from_ps(clock),
        messages,
        masters: vec![Time::from_ps(busy)],
        workers,
        waited: waiting.total,
        most_waiting: waiting.most,
        dealt: Time::from_ps(dealt),
        ..Outcome::default()
    }
}
