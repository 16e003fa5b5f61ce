//! Collectives that were measured on real machines, compared with predictions.

use super::{Case, CaseError, Context, Outcome};
use hayase::measured::MeasuredSweep;
use hayase::report::MeasuredErrors;
use hayase::sweep::Control;

/// Machines, with the largest median error of vectors of 8 MiB and more \[1\].
const BOUNDS: [(&str, f64); 4] = [("Fugaku", 1.6), ("Leonardo", 2.2), ("LUMI-G", 4.5), ("MareNostrum 5 ACC", 1.3)];
/// Number of messages above which a row is left out: with little and with full work.
const MESSAGES: (u64, u64) = (70_000, 1_100_000);

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("measured/machines", ranges)
            .source("PICO, HLC-Lab (D. De Sensi, S. Pasqualoni), results of 2025: four machines, algorithms by name")
            .expect(
                "median factors of max-min from 8 MiB on: Fugaku 1.6, Leonardo 2.2, LUMI-G 4.5, MareNostrum 5 1.3",
                "less",
            )
            .takes(20, 400),
    ]
}

fn ranges(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let most_messages = Some(context.choose(MESSAGES.0, MESSAGES.1));
    let sweep = MeasuredSweep { tables: vec!["all".to_owned()], most_messages, ..MeasuredSweep::default() };
    let rows = sweep.read().map_err(|invalid| invalid.to_string())?;
    let found = rows.run(Control::default());
    let of = |system: &str| -> Option<&MeasuredErrors> {
        let is_here = |errors: &&MeasuredErrors| {
            errors.system.as_deref() == Some(system) && errors.size.as_deref() == Some("8 MiB and more")
        };
        found.errors.iter().find(is_here)
    };
    let mut good = true;
    let mut texts = Vec::new();
    for (system, bound) in BOUNDS {
        let errors = of(system).ok_or_else(|| format!("no row of {system} is scored"))?;
        good &= errors.median <= bound;
        texts.push(format!("{system} {:.2} ({} rows)", errors.median, errors.rows));
    }
    let coverage = found.coverage.ok_or("no row has an interval")?;
    let note = format!("{:.0} % of measured times are inside their intervals, of 90 %", 100.0 * coverage);
    Ok(Outcome::check(good, texts.join(", ")).note(note))
}
