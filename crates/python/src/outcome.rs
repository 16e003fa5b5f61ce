//! Outcomes of runs, for Python.

use hayase::diagnostic::Invalid;
use hayase::report::Status;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::mistake;
use crate::play::{AnyReport, Raw};
use crate::table::Table;

/// Outcome of a run that has ended.
#[pyclass(frozen, module = "hayase._hayase")]
pub struct Played {
    kind: &'static str,
    report: Box<dyn AnyReport>,
    tables: Vec<(&'static str, Py<Table>)>,
}

impl Played {
    /// Converts the outcome of a run for Python.
    ///
    /// # Errors
    /// Mistakes of the scenario, a deadlock, or an interruption.
    pub fn new(py: Python<'_>, raw: Result<Raw, Invalid>) -> PyResult<Self> {
        let Raw { kind, report, deadlock, tables } = raw.map_err(|invalid| mistake::invalid(py, &invalid))?;
        if let Some(why) = deadlock {
            return Err(mistake::deadlock(py, &why, &report.to_json()));
        }
        if report.head().status == Status::Interrupted {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
        let tables = tables.into_iter().map(|(name, columns)| Ok((name, Table::new(py, columns)?)));
        Ok(Self { kind, report, tables: tables.collect::<PyResult<_>>()? })
    }
}

#[pymethods]
impl Played {
    /// Arrival of the last message, or end of the last rank \[s\].
    #[getter]
    fn makespan(&self) -> f64 {
        self.report.head().makespan_s
    }

    /// Hash of the run; it differs if anything happened at another time.
    #[getter]
    fn fingerprint(&self) -> &str {
        &self.report.head().fingerprint
    }

    /// Kind of work: `pattern`, `program`, `jobs` or `farm`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the report as the program writes it.
    fn report_json(&self) -> String {
        self.report.to_json()
    }

    /// Returns the program's table of the report as HTML.
    fn html(&self) -> String {
        self.report.to_html()
    }

    /// Returns the table of this name, if it was recorded.
    fn table(&self, py: Python<'_>, name: &str) -> Option<Py<Table>> {
        self.tables.iter().find(|(known, _)| *known == name).map(|(_, table)| table.clone_ref(py))
    }
}
