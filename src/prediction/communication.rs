//! Communication data: the time of a message between two processes by its size, measured once on a network.
//!
//! Times are kept as measured, in a table ([`Row`]); between two sizes they are interpolated. A message
//! longer than the eager limit S waits for its receiver, and its time jumps there: a table that Hayase
//! measures has a row on each side. The file also has the parameters of LogGPS that explain the table, each
//! with its interval. A parameter that the measurements do not determine has no value ([`Parameter`]).
//!
//! Source: Horii, Iwabuchi, Yamana: MPIETE, section 2.4 (T_comm); Ino, Fujimoto, Hagihara: LogGPS, section 4.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Invalid, Located, Sources, Span};
use crate::reading::tree::{self, Kind, Tree};
use crate::reading::whole::TableReader;
use crate::units::{Bytes, Time};

/// First line of a file: name and version of the format.
pub const FORMAT: &str = "hayase-communication-1";

/// Communication data of one pair of processes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Communication {
    /// [`FORMAT`].
    pub format: String,
    /// Place, time and method of the measurement.
    #[serde(default)]
    pub origin: Origin,
    /// Limits between protocols.
    #[serde(default)]
    pub limits: Limits,
    /// Measured times, by size, ascending.
    pub times: Vec<Row>,
    /// Straight lines through the times, one for each protocol.
    #[serde(default)]
    pub lines: Vec<Line>,
    /// Eight parameters of LogGPS that are times, and sums of them.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
}

/// Place, time and method of a measurement; fields are empty if unknown.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Origin {
    /// MPI library and its version.
    pub mpi: String,
    /// Command that started the two processes.
    pub launcher: String,
    /// Names of the hosts of the two processes.
    pub hosts: Vec<String>,
    /// Processor of the first host.
    pub processor: String,
    /// Date and time, UTC.
    pub measured: String,
    /// Clock that was used.
    pub clock: String,
    /// Percentile of the repetitions that counts, from 0 (the fastest) to 100.
    pub percentile: f64,
    /// Duration of the measurement \[s\].
    pub seconds: f64,
    /// Version of the program that measured.
    pub hayase: String,
}

/// Limits between protocols.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// s: size of the longest message sent as one packet, if a bend of the times shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s: Option<Bytes>,
    /// S: size of the longest message that does not wait for its receiver. Absent if no measured size waits.
    #[serde(rename = "S", skip_serializing_if = "Option::is_none")]
    pub sync: Option<Bytes>,
}

/// Measurements of one message size.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Size of the message.
    pub size: Bytes,
    /// Time from the call of the send to the end of the receive, which was posted before: T_comm.
    pub receive: Time,
    /// Median of the repetitions.
    pub median: Time,
    /// 95 % quantile of the repetitions: nineteen of twenty are faster.
    pub high: Time,
    /// Time of the blocking send alone, with its receive posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send: Option<Time>,
    /// Time of the receive alone, if the message (or, above S, its request) arrived before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Time>,
    /// Number of repetitions.
    #[serde(default)]
    pub repetitions: u64,
}

/// Straight line through the receive times of one protocol: `time(k) = start + k * slope`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Smallest size that the line covers.
    pub from: Bytes,
    /// Largest size measured.
    pub to: Bytes,
    /// Time of a message of no bytes \[ns\]; may be negative if the line does not start there.
    pub start_ns: f64,
    /// Time per byte \[ns/B\].
    pub slope_ns: f64,
    /// 95 % interval of `start_ns`.
    pub start_interval: [f64; 2],
    /// 95 % interval of `slope_ns`.
    pub slope_interval: [f64; 2],
}

/// Parameter of LogGPS, or a sum of some.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Name: `L`, `o`, `Oss` ... or `Oss + Ors`.
    pub name: String,
    /// Unit: `ns` or `ns/B`.
    pub unit: String,
    /// Value; absent if the measurements do not determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// 95 % interval of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

impl Communication {
    /// Reads communication data from a file.
    ///
    /// # Errors
    /// The file cannot be read, is not communication data, or has an inconsistent table; with the place.
    pub fn read(path: &str, sources: &mut Sources) -> Result<Self, Invalid> {
        let read = Self::read_at(&path.to_owned().into(), sources);
        read.map_err(|diagnostics| Invalid { diagnostics, sources: sources.clone() })
    }

    /// Reads communication data from a file that another text names.
    ///
    /// # Errors
    /// As [`Communication::read`].
    pub fn read_at(path: &Located<String>, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        let (base, text) = sources.read_text(path).map_err(|mistake| vec![mistake])?;
        let of_file = |mistake: Diagnostic| mistake.of_file(path);
        Self::parse(&text, base).map_err(|mistakes| mistakes.into_iter().map(of_file).collect())
    }

    /// Reads communication data from a text whose first byte has position `base`.
    ///
    /// # Errors
    /// All mistakes, each with its place as far as it has one.
    pub fn parse(text: &str, base: usize) -> Result<Self, Vec<Diagnostic>> {
        let start = Span::new(base, base);
        let wrong = |message: &str| {
            Diagnostic::new("not-communication", format!("no communication data: {message}")).at(start).help(
                "`hayase measure communication -o x.comm -- mpirun -np 2` measures it; docs/reference/data-sets.md describes it",
            )
        };
        let (table, syntax) = tree::parse(text, base);
        if !syntax.is_empty() {
            let of_syntax = |Diagnostic { message, at, label, .. }| Diagnostic { at, label, ..wrong(&message) };
            return Err(syntax.into_iter().map(of_syntax).collect());
        }
        match table.get("format").map(|entry| (entry.value.span, entry.value.text())) {
            Some((_, Some(FORMAT))) => {}
            Some((span, format)) => {
                let message = format!("the format \"{}\" is not known", format.unwrap_or_default());
                return Err(vec![Diagnostic::new("unknown-format", message).at(span).label(format!("`{FORMAT}`"))]);
            }
            None => return Err(vec![wrong(&format!("there is no `format = \"{FORMAT}\"`"))]),
        }
        let tree = Tree { span: start, kind: Kind::Table(table) };
        let read: Self = TableReader::of_text(start).read(&tree)?;
        let rows = tree.table().and_then(|table| table.get("times")).map(|times| &times.value.kind);
        let row = |i: usize| match rows {
            Some(Kind::List(rows)) => rows[i].span,
            _ => start,
        };
        let mistakes = read.mistakes(start, row);
        if mistakes.is_empty() { Ok(read) } else { Err(mistakes) }
    }

    /// Returns the inconsistencies of the table. The text begins at `start`, and row i stands at `row(i)`.
    fn mistakes(&self, start: Span, row: impl Fn(usize) -> Span) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        if self.times.is_empty() {
            let diagnostic = Diagnostic::new("no-times", "there is no measured time").at(start);
            mistakes.push(diagnostic.help("one row in `times` is enough"));
        }
        for (i, pair) in self.times.windows(2).enumerate().filter(|(_, pair)| pair[0].size >= pair[1].size) {
            let message = format!("sizes ascend, but {} comes after {}", pair[1].size.exact(), pair[0].size.exact());
            mistakes.push(Diagnostic::new("not-ascending", message).at(row(i + 1)));
        }
        mistakes
    }

    /// Returns true if a message of this size waits for its receiver.
    pub fn waits(&self, bytes: u64) -> bool {
        self.limits.sync.is_some_and(|sync| bytes > sync.0)
    }

    /// Returns the parameter (or sum) of this name, if the measurements determine it \[ns, ns/B\].
    pub fn parameter(&self, name: &str) -> Option<f64> {
        self.parameters.iter().find(|parameter| parameter.name == name)?.value
    }

    /// Formats the data as a file: TOML, with a line for each row of the table.
    pub fn to_toml(&self) -> String {
        let mut text = String::from("# How long messages take between two processes (docs/reference/data-sets.md).\n");
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let _ = writeln!(text, "format = {}\n\n[origin]", quoted(&self.format));
        let origin = &self.origin;
        for (name, value) in [
            ("mpi", &origin.mpi),
            ("launcher", &origin.launcher),
            ("processor", &origin.processor),
            ("measured", &origin.measured),
            ("clock", &origin.clock),
            ("hayase", &origin.hayase),
        ] {
            let _ = writeln!(text, "{name} = {}", quoted(value));
        }
        let hosts: Vec<String> = origin.hosts.iter().map(|host| quoted(host)).collect();
        let _ = writeln!(text, "hosts = [{}]", hosts.join(", "));
        let _ = writeln!(text, "percentile = {:?}\nseconds = {:?}\n\n[limits]", origin.percentile, origin.seconds);
        for (name, limit) in [("s", self.limits.s), ("S", self.limits.sync)] {
            if let Some(limit) = limit {
                let _ = writeln!(text, "{name} = \"{} B\"", limit.0);
            }
        }
        for row in &self.times {
            let _ = write!(text, "\n[[times]]\nsize = \"{} B\"\n", row.size.0);
            let optional = [("send", row.send), ("late", row.late)];
            let always = [("receive", Some(row.receive)), ("median", Some(row.median)), ("high", Some(row.high))];
            for (name, time) in always.into_iter().chain(optional) {
                if let Some(time) = time {
                    let _ = writeln!(text, "{name} = \"{:.3} ns\"", time.ps() / 1e3);
                }
            }
            let _ = writeln!(text, "repetitions = {}", row.repetitions);
        }
        for line in &self.lines {
            let _ = write!(
                text,
                "\n[[lines]]\nfrom = \"{} B\"\nto = \"{} B\"\nstart_ns = {:?}\nslope_ns = {:?}\nstart_interval = {:?}\n\
                 slope_interval = {:?}\n",
                line.from.0, line.to.0, line.start_ns, line.slope_ns, line.start_interval, line.slope_interval
            );
        }
        for parameter in &self.parameters {
            let (name, unit) = (quoted(&parameter.name), quoted(&parameter.unit));
            let _ = write!(text, "\n[[parameters]]\nname = {name}\nunit = {unit}\n");
            match parameter.value {
                Some(value) => {
                    let _ = writeln!(text, "value = {value:?}");
                }
                None => text += "# not identifiable\n",
            }
            if let Some(interval) = parameter.interval {
                let _ = writeln!(text, "interval = {interval:?}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests;
