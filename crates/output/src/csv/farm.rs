//! Predictions of master/slave programs, and the tasks that a plan proposes.

use std::io::{self, Write};

use hayase::report::{FarmReport, PlanReport};

/// Writes predictions of a master/slave program, a line each; the first column names what is varied, if anything is.
///
/// # Errors
/// Where `writer` fails.
pub fn predictions(report: &FarmReport, mut writer: impl Write) -> io::Result<()> {
    if let Some(varied) = &report.varied {
        write!(writer, "{varied},")?;
    }
    writer.write_all(
        b"workers,processors,time_s,efficiency,master_utilisation,worker_utilisation,waiting_mean,waiting_max,imbalance,\
          tail_s,messages,repeated,undone,bound_s",
    )?;
    let seeds = report.predictions.iter().any(|row| row.seeds.is_some());
    writer.write_all(if seeds { b",seeds,mean_s,sd_s,min_s,max_s\n".as_slice() } else { b"\n" })?;
    for row in &report.predictions {
        if report.varied.is_some() {
            write!(writer, "{},", row.value.as_deref().unwrap_or_default())?;
        }
        write!(
            writer,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            row.workers,
            row.processors,
            row.time_s,
            row.efficiency,
            row.master_utilisation,
            row.worker_utilisation.mean,
            row.waiting.mean,
            row.waiting.max,
            row.imbalance,
            row.tail_s,
            row.messages,
            row.repeated,
            row.undone,
            row.bound_s
        )?;
        match &row.seeds {
            Some(of) => {
                let count = of.seeds.len();
                writeln!(writer, ",{count},{},{},{},{}", of.mean_s, of.sd_s, of.min_s, of.max_s)?;
            }
            None => writer.write_all(if seeds { b",,,,,\n".as_slice() } else { b"\n" })?,
        }
    }
    Ok(())
}

/// Writes the tasks that a plan proposes, a line each: `i1,i2,...`.
///
/// # Errors
/// Where `writer` fails.
pub fn points(plan: &PlanReport, mut writer: impl Write) -> io::Result<()> {
    let dimensions = plan.grid.split('x').count();
    let names: Vec<String> = (1..=dimensions).map(|i| format!("i{i}")).collect();
    writeln!(writer, "{}", names.join(","))?;
    for point in &plan.next {
        let cells: Vec<String> = point.iter().map(i64::to_string).collect();
        writeln!(writer, "{}", cells.join(","))?;
    }
    Ok(())
}
