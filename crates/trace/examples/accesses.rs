//! Prints a file of memory accesses: the reads and writes of each site, by interval.
//!
//!     cargo run -p hayase-trace --example accesses -- run/rank-00000.mem

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use hayase_trace::memory::{AccessKind, Interval, Intervals};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a file: run/rank-00000.mem")?;
    let mut intervals = Intervals::new(BufReader::new(File::open(path)?));
    while let Some(interval) = intervals.next()? {
        println!("interval {}: {} accesses", interval.number, interval.accesses());
        let Interval { nests, frames, blocks, hazards, .. } = &interval;
        for nest in nests.iter().chain(frames).chain(blocks).chain(hazards) {
            let site = &intervals.sites()[nest.site as usize];
            let what = match (site.kind, site.write) {
                (AccessKind::Opaque, _) => "calls ",
                (AccessKind::Frame, _) => "a function begins or ends",
                (AccessKind::Block, _) => "a block begins or ends",
                (AccessKind::Hazard, true) => "a hazard begins",
                (AccessKind::Hazard, false) => "a hazard ends",
                (AccessKind::Call, true) => "completion writes",
                (AccessKind::Call, false) => "posting reads",
                (_, true) => "writes",
                (_, false) => "reads ",
            };
            print!("  {:#x} {what} {}", site.address, site.name);
            if !matches!(site.kind, AccessKind::Opaque | AccessKind::Hazard) {
                print!(" {} B at {:#x}", nest.size, nest.base);
            }
            print!(", position {}", nest.first);
            for level in nest.levels() {
                print!("; {} times, {:+} B, {:+} positions", level.count, level.stride, level.step);
            }
            println!();
        }
        for gather in &interval.gathers {
            let (site, count) = (&intervals.sites()[gather.site as usize], gather.addresses.len());
            let what = if site.write { "writes" } else { "reads " };
            println!(
                "  {:#x} {what} {} B at {count} places, position {}; {:+}",
                site.address, gather.size, gather.first, gather.step
            );
        }
    }
    match intervals.totals() {
        Some(totals) => println!("{totals:?}"),
        None => println!("the file has no end"),
    }
    Ok(())
}
