//! Computation data as text.

use std::io::{self, Write};

use super::{ComputationData, SIGNATURE};
use crate::prediction::program::ranges;
use crate::units::Time;

/// Writes computation data (`docs/reference/data-sets.md`).
///
/// # Errors
/// Those of `out`.
pub fn write(data: &ComputationData, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{SIGNATURE}")?;
    for (name, value) in &data.notes {
        writeln!(out, "note {name} {value}")?;
    }
    writeln!(out, "ranks {}", data.ranks)?;
    writeln!(out, "structure {}", data.structure)?;
    writeln!(out, "# block, number, from, to, separated by tabs; ranks count mean median deviation least most [ns]")?;
    for block in &data.blocks {
        writeln!(out, "block\t{}\t{}\t{}", block.block + 1, block.name.from, block.name.to)?;
        for row in &block.rows {
            let times = [row.mean, row.median, row.deviation, row.least, row.most].map(nanoseconds).join(" ");
            write!(out, "{} {} {times}", ranges(&row.ranks), row.count)?;
            if let Some((first, last)) = row.trend {
                write!(out, " line {} {}", nanoseconds(first), nanoseconds(last))?;
            }
            if let Some(eighths) = row.eighths {
                write!(out, " eighths {}", eighths.map(nanoseconds).join(" "))?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Formats a time in nanoseconds, with up to three decimals.
fn nanoseconds(time: Time) -> String {
    let text = format!("{:.3}", time.ps() / 1000.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
