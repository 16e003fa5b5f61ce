//! One run: a pattern on a named fabric, its bounds, and the messages with their times.
//!
//! ```text
//! cargo run --release --example one_run
//! ```

use hayase::report::MessageRecord;
use hayase::{Invalid, Loader, RunOptions};

fn main() -> Result<(), Invalid> {
    let scenario = Loader::new()
        .topology("torus-4x4")
        .pattern("all-to-all-2d-spread")
        .placement("random")
        .set("--set", "workload.all-to-all.size=\"1 MB\"")
        .load_pattern()?;
    let mut last: Option<MessageRecord> = None;
    let mut keep_last = |message: &MessageRecord| last = Some(*message);
    let options = RunOptions { on_message: Some(&mut keep_last), ..RunOptions::default() };
    let report = scenario.run(options).report;
    println!("{}: {:.3} ms", scenario.work().name, report.head.makespan_s * 1e3);
    println!(
        "{:.3} times its bound, fingerprint {}",
        report.head.makespan_s / report.bounds.largest(),
        report.head.fingerprint
    );
    if let Some(message) = last {
        println!("the last message goes from rank {} to rank {} at {} s", message.src, message.dst, message.start_s);
    }
    Ok(())
}
