//! Chrome's trace format, which Perfetto (ui.perfetto.dev) and `chrome://tracing` open: a thread for each rank, a slice for each
//! thing it does, an arrow for each message.
//!
//! Times are in microseconds, as the format has it. An arrow begins in the slice that is there when the message's send is called,
//! and ends in that where it arrives.
//!
//! Source: Trace Event Format (the Chromium project), "JSON Object Format", complete, flow and metadata events.

use std::io::{self, Write};

use crate::player::{Activity, Transfer};
use crate::units::Time;

/// A trace being written.
#[derive(Debug)]
pub struct Trace<W> {
    writer: W,
    error: Option<io::Error>,
}

impl<W: Write> Trace<W> {
    /// Begins with the names of the program and of its ranks.
    ///
    /// # Errors
    /// Where `writer` fails.
    pub fn new(mut writer: W, program: &str, ranks: u32) -> io::Result<Self> {
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
        Ok(Self { writer, error: None })
    }

    /// Writes a slice; the first failure is kept for [`finish`](Self::finish) and nothing is written after it.
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

/// A time in microseconds, as JSON.
fn micros(time: Time) -> serde_json::Value {
    serde_json::Value::from(time.ps() / 1e6)
}
