//! What came of a run.

use std::sync::Arc;

use hayase::report::Status;
use hayase::scenario::{Loaded, Scenario};
use hayase::simulation::{PatternWork, RunOptions, Simulated};
use pyo3::exceptions::{PyKeyboardInterrupt, PyNotImplementedError};
use pyo3::prelude::*;

use crate::table::{Column, Table};
use crate::work::{Looking, outside};

/// A run that came to its end.
#[pyclass(frozen, module = "hayase._hayase")]
pub struct Played {
    makespan: f64,
    fingerprint: String,
    report: String,
    messages: Option<Py<Table>>,
}

/// The same before Python has seen it.
struct Raw {
    makespan: f64,
    fingerprint: String,
    status: Status,
    report: String,
    messages: Option<Vec<(&'static str, Column)>>,
}

fn pattern(scenario: &Scenario<PatternWork>, messages: bool, looking: &Looking) -> Raw {
    let room = if messages { usize::try_from(scenario.work().messages()).unwrap_or(0) } else { 0 };
    let (mut src, mut dst, mut start, mut end) =
        (Vec::with_capacity(room), Vec::with_capacity(room), Vec::with_capacity(room), Vec::with_capacity(room));
    let mut on_message = |message: &hayase::report::MessageRecord| {
        src.push(message.src);
        dst.push(message.dst);
        start.push(message.start_s);
        end.push(message.end_s);
    };
    let RunOptions { link_use, late, .. } = scenario.work().usual();
    let run = scenario.run(RunOptions {
        link_use,
        late,
        on_message: if messages { Some(&mut on_message) } else { None },
        watch: Some(looking),
        ..RunOptions::default()
    });
    Raw {
        makespan: run.report.head.makespan_s,
        fingerprint: run.report.head.fingerprint.clone(),
        status: run.report.head.status,
        report: serde_json::to_string(&run.report).unwrap_or_default(),
        messages: messages.then(|| {
            vec![
                ("src", Column::U32(src)),
                ("dst", Column::U32(dst)),
                ("start", Column::F64(start)),
                ("end", Column::F64(end)),
            ]
        }),
    }
}

impl Played {
    /// Runs it.
    ///
    /// # Errors
    /// What was raised meanwhile; that the run does not end.
    pub fn play(
        py: Python<'_>,
        loaded: &Arc<Loaded>,
        [messages, _links, _ranks]: [bool; 3],
        progress: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let looking = Arc::default();
        let loaded = Arc::clone(loaded);
        let raw = outside(py, threads, progress, &looking, move |looking| match &*loaded {
            Loaded::Pattern(scenario) => Some(pattern(scenario, messages, looking)),
            _ => None,
        })?;
        let raw = raw.ok_or_else(|| PyNotImplementedError::new_err("patterns only, so far"))?;
        if raw.status != Status::Complete {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
        let Raw { makespan, fingerprint, report, messages, .. } = raw;
        let messages = messages.map(|columns| Table::new(py, columns)).transpose()?;
        Ok(Self { makespan, fingerprint, report, messages })
    }
}

#[pymethods]
impl Played {
    #[getter]
    fn makespan(&self) -> f64 {
        self.makespan
    }

    #[getter]
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    #[getter]
    fn report_json(&self) -> &str {
        &self.report
    }

    #[getter]
    fn messages(&self, py: Python<'_>) -> Option<Py<Table>> {
        self.messages.as_ref().map(|table| table.clone_ref(py))
    }
}
