//! Searches a run and prints what it finds: `search FOLDER [eager limit in bytes]`.

use std::process::ExitCode;

use hayase_advice::search::{Options, RunFiles, search};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: search FOLDER [EAGER]");
        return ExitCode::from(2);
    };
    let eager = arguments.next().and_then(|text| text.parse().ok());
    let options = Options { eager, ..Options::default() };
    // Names of memory sites, if `FOLDER/names` has them: lines `rank address name`.
    let names = std::fs::read_to_string(format!("{folder}/names")).unwrap_or_default();
    let names: std::collections::BTreeMap<(u32, u64), String> = names
        .lines()
        .filter_map(|line| {
            let mut words = line.splitn(3, ' ');
            let rank = words.next()?.parse().ok()?;
            let address = u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok()?;
            Some(((rank, address), words.next()?.to_owned()))
        })
        .collect();
    let name = |rank: u32, address: u64| names.get(&(rank, address)).cloned();
    match RunFiles::open(folder.as_ref()).and_then(|run| search(&run, &options, &name)) {
        Ok(advice) => {
            println!("{} ranks, {} calls, {} accesses", advice.ranks, advice.events, advice.accesses);
            for note in &advice.notes {
                println!("note: {note}");
            }
            for finding in &advice.findings {
                println!(
                    "{} [{:?}] {} ({} of {}, ranks {}, {} B, {:.6} s)",
                    finding.id,
                    finding.certainty(),
                    finding.title,
                    finding.occurrences,
                    finding.executions,
                    finding.ranks,
                    finding.bytes,
                    finding.time_ns as f64 / 1e9,
                );
                for line in finding.text.iter().chain(&finding.caveats) {
                    println!("    {line}");
                }
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
