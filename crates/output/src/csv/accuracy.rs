//! Errors of models against packets.

use std::io::{self, Write};

use super::{number, text};
use hayase::report::Accuracy;

/// Writes errors, a line for each model beside each reference in each case; errors are parts (0.1 is 10 %), keys that are
/// varied stand in columns of their own at the end.
///
/// # Errors
/// Where `writer` fails.
pub fn accuracy(accuracy: &Accuracy, mut writer: impl Write) -> io::Result<()> {
    let w = &mut writer;
    w.write_all(
        b"topology,family,nodes,pattern,kind,placement,routing,injection,size_B,messages,model,channels,reference,buffer,\
          packets_per_message,seeds,makespan_error,makespan_error_min,makespan_error_max,mean_finish_error,time_error_q05,\
          time_error_q50,time_error_q95,model_makespan_s,reference_makespan_s,reference_spread,model_cpu_s,\
          reference_cpu_s,speed_ratio",
    )?;
    for key in accuracy.rows.first().into_iter().flat_map(|row| row.case.varied.keys()) {
        w.write_all(b",")?;
        text(w, key)?;
    }
    w.write_all(b"\n")?;
    for row in &accuracy.rows {
        let case = &row.case;
        let nodes = case.nodes.to_string();
        let names = [&case.topology, &case.family, &nodes, &case.pattern, &case.kind, &case.placement, &case.routing];
        for name in names {
            text(w, name)?;
            w.write_all(b",")?;
        }
        text(w, &case.injection)?;
        write!(w, ",{},{},{},", case.size_bytes, case.messages, row.model)?;
        text(w, row.channels.as_deref().unwrap_or_default())?;
        write!(w, ",{}", row.reference)?;
        for count in [row.buffer, row.packets_per_message] {
            w.write_all(b",")?;
            count.map_or(Ok(()), |count| write!(w, "{count}"))?;
        }
        write!(w, ",{}", row.seeds.len())?;
        let figures = [
            row.makespan_error,
            row.makespan_error_min,
            row.makespan_error_max,
            row.mean_finish_error,
            row.time_error_q05,
            row.time_error_q50,
            row.time_error_q95,
            row.model_makespan_s,
            row.reference_makespan_s,
            row.reference_spread,
            row.model_cpu_s,
            row.reference_cpu_s,
            row.speed_ratio,
        ];
        for figure in figures {
            w.write_all(b",")?;
            number(w, figure)?;
        }
        for value in case.varied.values() {
            w.write_all(b",")?;
            text(w, value)?;
        }
        w.write_all(b"\n")?;
    }
    Ok(())
}
