//! Mistakes as exceptions of Python.

use hayase::diagnostic::Invalid;
use hayase::plan::StoreError;
use hayase_cli::{Answer, Ended};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    hayase,
    ScenarioError,
    PyValueError,
    "All mistakes of a scenario.\n\n`str()` gives the text that the command line prints. `.mistakes` is a list of\n\
     tuples (code, message, help, file, line, column), the last three `None` for a mistake that is in no text."
);
create_exception!(
    hayase,
    Deadlock,
    PyRuntimeError,
    "The simulated program, or the packets of a run, wait for each other for ever; `.report` is the report up to\n\
     then, if there is one."
);

/// Lists of names: the command of the program and the function in Python.
const LISTS: [(&str, &str); 5] = [
    ("`hayase topology list`", "`hayase.topologies()`"),
    ("`hayase pattern list`", "`hayase.patterns()`"),
    ("`hayase machine list`", "`hayase.machines()`"),
    ("`hayase preset list`", "`hayase.presets()`"),
    ("`hayase list models`", "`hayase.models()`"),
];

/// Replaces options of the command line by the arguments of Python: `cpu_speed` for `--cpu-speed`.
fn in_python(text: &str) -> String {
    let text = LISTS.iter().fold(text.to_owned(), |text, (program, python)| text.replace(program, python));
    let mut parts = text.split("--");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.split(|c: char| !c.is_ascii_lowercase() && c != '-').next().unwrap_or_default();
        let is_option = name.starts_with(|c: char| c.is_ascii_lowercase()) && said.ends_with([' ', '`', '(', '"', '<']);
        if !is_option && !said.is_empty() {
            said.push_str("--");
            said.push_str(part);
        } else {
            said.push_str(&name.replace('-', "_"));
            said.push_str(&part[name.len()..]);
        }
    }
    said
}

/// Returns all mistakes as one `ScenarioError`; if failures cut ranks off, a `Deadlock`.
pub fn invalid(py: Python<'_>, invalid: &Invalid) -> PyErr {
    let text = in_python(&invalid.show(false));
    if invalid.is_cut_off() {
        return Deadlock::new_err(text);
    }
    let error = ScenarioError::new_err(text);
    let mistakes: Vec<_> = invalid
        .diagnostics
        .iter()
        .map(|mistake| {
            let (file, line, column) = match mistake.place(&invalid.sources) {
                Some(place) => (Some(in_python(&place.file)), Some(place.line), Some(place.column)),
                None => (None, None, None),
            };
            let help = mistake.help.as_deref().map(in_python);
            (mistake.code, in_python(&mistake.message), help, file, line, column)
        })
        .collect();
    match error.value(py).setattr("mistakes", mistakes) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Returns a `Deadlock` with this explanation and the report, as JSON.
pub fn deadlock(py: Python<'_>, why: &str, report: &str) -> PyErr {
    let error = Deadlock::new_err(why.trim_end().to_owned());
    match error.value(py).setattr("_report_json", report) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Converts the end of a command to an exception.
///
/// # Errors
/// The exception, unless the command has done everything.
pub fn answered(py: Python<'_>, answer: &Answer) -> PyResult<()> {
    match &answer.ended {
        Ended::Done => Ok(()),
        Ended::Invalid(mistakes) => Err(invalid(py, mistakes)),
        Ended::Failed(mistakes) => {
            let is_file = mistakes.diagnostics.iter().any(|mistake| mistake.code.ends_with("-file"));
            let text = in_python(&mistakes.show(false));
            Err(if is_file { PyOSError::new_err(text) } else { PyRuntimeError::new_err(text) })
        }
        Ended::Usage(text) => Err(PyTypeError::new_err(text.trim_end().to_owned())),
        Ended::Deadlocked => Err(deadlock(py, &answer.kept.said, &String::from_utf8_lossy(&answer.kept.printed))),
        Ended::Interrupted => Err(PyKeyboardInterrupt::new_err(())),
    }
}

/// Returns the exception for a store of a sweep that cannot be used.
pub fn store(py: Python<'_>, error: StoreError) -> PyErr {
    match error {
        StoreError::Invalid(mistakes) => invalid(py, &mistakes),
        StoreError::Failed(path, error) => {
            PyOSError::new_err((error.raw_os_error(), error.to_string(), path.display().to_string()))
        }
        StoreError::Unwritten(error) => PyOSError::new_err((error.raw_os_error(), error.to_string())),
    }
}
