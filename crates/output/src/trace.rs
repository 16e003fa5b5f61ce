//! Chrome's trace format, which Perfetto (ui.perfetto.dev) and `chrome://tracing` open. Each rank is a
//! thread, each activity a slice, each message an arrow.
//!
//! Regions of the program are slices around the activities inside them. Times are in microseconds, as the
//! format demands. An arrow begins in the slice that contains the call of the send, and ends in the one that
//! contains the arrival.
//!
//! Source: Trace Event Format (the Chromium project), "JSON Object Format", complete, flow and metadata
//! events.

use std::io::{self, Write};
use std::sync::Arc;

use hayase::ids::RankId;
use hayase::player::{Activity, Transfer};
use hayase::program::Mark;
use hayase::program::regions::{Border, Open};
use hayase::units::Time;

/// Writer of a trace.
#[derive(Debug)]
pub struct Trace<W> {
    writer: W,
    error: Option<io::Error>,
    regions: Vec<Arc<str>>,
    /// By rank: the open regions and their begins.
    open: Vec<(Open, Vec<(u32, Time)>)>,
}

impl<W: Write> Trace<W> {
    /// Begins a trace with the names of the program, its ranks and its regions.
    ///
    /// # Errors
    /// Failures of `writer`.
    pub fn new(mut writer: W, program: &str, ranks: u32, regions: &[Arc<str>]) -> io::Result<Self> {
        writer.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
        let name = serde_json::Value::from(program);
        write!(writer, r#"{{"ph":"M","pid":0,"name":"process_name","args":{{"name":{name}}}}}"#)?;
        for rank in 0..ranks {
            let name = format!("rank {rank}");
            write!(
                writer,
                ",\n{{\"ph\":\"M\",\"pid\":0,\"tid\":{rank},\"name\":\"thread_name\",\"args\":{{\"name\":\"{name}\"}}}}"
            )?;
            write!(
                writer,
                ",\n{{\"ph\":\"M\",\"pid\":0,\"tid\":{rank},\"name\":\"thread_sort_index\",\"args\":{{\"sort_index\":{rank}}}}}"
            )?;
        }
        let open = vec![(Open::new(regions.len()), Vec::new()); if regions.is_empty() { 0 } else { ranks as usize }];
        Ok(Self { writer, error: None, regions: regions.to_vec(), open })
    }

    /// Notes a border of a region; each execution becomes a slice around the activities inside it.
    pub fn mark(&mut self, rank: RankId, mark: &Mark, time: Time) {
        let Some((open, begun)) = self.open.get_mut(rank.0 as usize) else { return };
        match open.take(mark.region, mark.begins) {
            Border::Begins => begun.push((mark.region, time)),
            Border::Ends => {
                let at = begun.iter().rposition(|(region, _)| *region == mark.region);
                let begin = at.map(|at| begun.remove(at).1);
                if let (Some(begin), true) = (begin, self.error.is_none()) {
                    self.error = self.region(rank, mark.region, begin, time).err();
                }
            }
            Border::Inner | Border::Stray => {}
        }
    }

    fn region(&mut self, rank: RankId, region: u32, begin: Time, end: Time) -> io::Result<()> {
        let name = serde_json::Value::from(self.regions.get(region as usize).map_or("", |name| name));
        let (from, time) = (micros(begin), micros(end - begin));
        write!(
            self.writer,
            ",\n{{\"ph\":\"X\",\"pid\":0,\"tid\":{rank},\"cat\":\"region\",\"name\":{name},\"ts\":{from},\"dur\":{time}}}"
        )
    }

    /// Writes a slice. The first failure is kept for [`finish`](Self::finish), and nothing is written after
    /// it.
    pub fn activity(&mut self, activity: &Activity) {
        if self.error.is_none() {
            self.error = self.slice(activity).err();
        }
    }

    /// Writes an arrow.
    pub fn transfer(&mut self, transfer: &Transfer) {
        if self.error.is_none() {
            self.error = self.arrow(transfer).err();
        }
    }

    fn slice(&mut self, activity: &Activity) -> io::Result<()> {
        let Activity { rank, kind, begin, end, op, message, peer } = *activity;
        let (name, from, time) = (kind.name(), micros(begin), micros(end - begin));
        write!(
            self.writer,
            ",\n{{\"ph\":\"X\",\"pid\":0,\"tid\":{rank},\"name\":\"{name}\",\"ts\":{from},\"dur\":{time},\"args\":{{\"op\":{op}"
        )?;
        if let Some(message) = message {
            write!(self.writer, ",\"message\":{message}")?;
        }
        if let Some(peer) = peer {
            write!(self.writer, ",\"peer\":{peer}")?;
        }
        self.writer.write_all(b"}}")
    }

    fn arrow(&mut self, transfer: &Transfer) -> io::Result<()> {
        let Transfer { message, src, dst, bytes, called, arrive, .. } = *transfer;
        let (from, to) = (micros(called), micros(arrive));
        write!(
            self.writer,
            ",\n{{\"ph\":\"s\",\"pid\":0,\"tid\":{src},\"cat\":\"message\",\"name\":\"message\",\"id\":{message},\"ts\":{from},\
             \"args\":{{\"bytes\":{bytes}}}}}"
        )?;
        write!(
            self.writer,
            ",\n{{\"ph\":\"f\",\"bp\":\"e\",\"pid\":0,\"tid\":{dst},\"cat\":\"message\",\"name\":\"message\",\"id\":{message},\
             \"ts\":{to}}}"
        )
    }

    /// Ends the trace and returns the writer.
    ///
    /// # Errors
    /// The first failure of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.writer.write_all(b"\n]}\n")?;
        Ok(self.writer)
    }
}

/// Converts a time to microseconds, as JSON.
fn micros(time: Time) -> serde_json::Value {
    serde_json::Value::from(time.ps() / 1e6)
}
