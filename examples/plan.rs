//! A plan of many points from Rust: `cargo run --release --example plan -- PLAN FOLDER`.
//!
//! Each point is run once and kept as a line in the folder. A second start continues with the missing points.

use std::io::Write;
use std::path::Path;

use hayase::Loader;
use hayase::plan::{self, Columns, Plan, RunControl, Shard};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [plan, folder] = words.as_slice() else { return Err("a plan and a folder are expected".into()) };
    let (plan, folder) = (Plan::read(Path::new(plan), Loader::new())?, Path::new(folder));
    let ran = plan::run(&plan, folder, Shard::ALL, RunControl::default())?;
    println!("{} points run, {} were there, {} failed", ran.run, ran.there, ran.failed);
    let mut csv = Vec::new();
    let merged = plan::merge(&plan, folder, Columns::Csv, &mut csv)?;
    println!("{} of {} points are done", merged.counts.done, merged.counts.points);
    std::fs::File::create(folder.join("all.csv"))?.write_all(&csv)?;
    Ok(())
}
