//! Writes the page of a recorded run without simulation: `recorded RUN PAGE.html [FOLDER WITH SOURCES]...`.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use hayase_advice::{rules, search};
use hayase_advice_page::{Finding, PageData, Rule, page, recorded};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(folder), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("write: recorded RUN PAGE.html [FOLDER WITH SOURCES]...".into());
    };
    let run = search::RunFiles::open(&folder)?;
    let advice = search::search(&run, &search::Options::default(), &|_, _| None)?;
    let mut data = PageData {
        program: folder.display().to_string(),
        run_is: "as recorded".into(),
        findings: advice.findings.iter().map(|found| Finding::of(found, None)).collect(),
        rules: rules::ALL.iter().map(Rule::of).collect(),
        notes: advice.notes,
        ..PageData::new(recorded(&run, &|_, _| None)?)
    };
    // Nothing was simulated, so findings with most time at stake come first.
    let stake = |finding: &Finding| {
        advice.findings.iter().find(|found| found.id == finding.id).map_or(0, |found| found.time_ns)
    };
    data.findings.sort_by_key(|finding| std::cmp::Reverse(stake(finding)));
    data.read_sources(&arguments.collect::<Vec<_>>());
    let mut file = BufWriter::new(File::create(out)?);
    page(&data, &mut file)?;
    Ok(file.flush()?)
}
