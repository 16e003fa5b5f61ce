//! What came of a run, for Python.

use hayase::diagnostic::Invalid;
use hayase::report::Status;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::mistake;
use crate::play::{AnyReport, Raw};
use crate::table::Table;

/// A run that came to its end.
#[pyclass(frozen, module = "hayase._hayase")]
pub struct Played {
    kind: &'static str,
    report: Box<dyn AnyReport>,
    tables: Vec<(&'static str, Py<Table>)>,
}

impl Played {
    /// What came of a run, for Python.
    ///
    /// # Errors
    /// The mistakes of the scenario; that the run deadlocks, or was ended.
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
    /// When the last message arrived, or the last rank ended \[s\].
    #[getter]
    fn makespan(&self) -> f64 {
        self.report.head().makespan_s
    }

    /// A number that differs where anything happened at another time.
    #[getter]
    fn fingerprint(&self) -> &str {
        &self.report.head().fingerprint
    }

    /// What ran: `pattern`, `program`, `jobs` or `farm`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.kind
    }

    /// The report as the program writes it.
    fn report_json(&self) -> String {
        self.report.to_json()
    }

    /// The report as HTML, as the program's table has it.
    fn html(&self) -> String {
        self.report.to_html()
    }

    /// The table of this name, where it was recorded.
    fn table(&self, py: Python<'_>, name: &str) -> Option<Py<Table>> {
        self.tables.iter().find(|(known, _)| *known == name).map(|(_, table)| table.clone_ref(py))
    }
}
