//! A program built in code: a ring of ranks that compute and pass on a block, played on a machine, alone and
//! over a fabric.
//!
//! ```text
//! cargo run --release --example program_in_code
//! ```

use std::sync::Arc;

use hayase::Loader;
use hayase::diagnostic::Diagnostic;
use hayase::program::{Envelope, Op, Program, ProgramBuilder};
use hayase::simulation::{ProgramWork, RunOptions};
use hayase::units::Time;

/// Builds the program. In each round each rank computes for 50 us while it sends a block of 100 KB to the
/// next rank and receives one from the rank before.
fn ring(ranks: u32, rounds: u32) -> Result<Program, Vec<Diagnostic>> {
    let mut program = ProgramBuilder::new(ranks);
    for rank in 0..ranks {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let mut calls = program.sequence(rank);
        for tag in 0..rounds {
            let coming = calls.push(Op::irecv(Envelope::world(before, tag), 100_000));
            let going = calls.push(Op::isend(Envelope::world(next, tag), 100_000));
            calls.push(Op::calc(Time::from_seconds(50e-6)));
            calls.push(Op::wait(coming));
            calls.push(Op::wait(going));
        }
        program.finish_rank(calls);
    }
    program.build()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = Arc::new(ring(16, 10).map_err(|mistakes| mistakes[0].message.clone())?);
    let machine = || Loader::new().machine("myrinet");
    for (name, on) in [("no fabric", machine()), ("torus-4x4", machine().topology("torus-4x4"))] {
        let replay = on.load_program(ProgramWork::new(Arc::clone(&program), "ring"))?;
        let report = replay.run(RunOptions::default()).report;
        println!("{name:10} {:8.3} ms, {} messages", report.head.makespan_s * 1e3, report.head.messages);
        for part in report.breakdown.iter().filter(|part| part.part > 0.0) {
            println!("  {:16} {:5.1} %", part.kind, part.part * 100.0);
        }
    }
    Ok(())
}
