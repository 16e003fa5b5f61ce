//! Extension module `hayase._hayase`, the base of the Python package `hayase`.
//!
//! It holds no model and makes no decisions. Scenarios go through [`hayase::Loader`], and the other functions
//! call the command line ([`hayase_cli::Inside`]). This crate converts data:
//!
//! - arguments: [`texts`], [`rows`];
//! - results: [`play`], [`outcome`], [`fabric`], as columns that numpy and Arrow read without a copy: [`table`],
//!   [`arrow`];
//! - mistakes as exceptions: [`mistake`].
//!
//! Work runs on threads of its own, so that the interpreter goes on: [`work`].

mod arrow;
mod column;
mod fabric;
mod mistake;
mod outcome;
mod play;
mod program;
mod rows;
mod table;
mod texts;
mod work;

use hayase::program::generate::Generator;
use hayase::scenario::library::Shelf;
use hayase::scenario::settings_as_toml;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the names of a kind, with their descriptions.
fn named(shelf: Shelf) -> Vec<(&'static str, String)> {
    shelf.all().iter().map(|named| (named.name, named.description())).collect()
}

/// Returns the named fabrics.
#[pyfunction]
fn topologies() -> Vec<(&'static str, String)> {
    named(Shelf::Topologies)
}

/// Returns the named workloads.
#[pyfunction]
fn patterns() -> Vec<(&'static str, String)> {
    named(Shelf::Patterns)
}

/// Returns the named machines.
#[pyfunction]
fn machines() -> Vec<(&'static str, String)> {
    named(Shelf::Machines)
}

/// Returns the named presets.
#[pyfunction]
fn presets() -> Vec<(&'static str, String)> {
    named(Shelf::Presets)
}

/// Returns the named models of training steps.
#[pyfunction]
fn models() -> Vec<(&'static str, String)> {
    named(Shelf::Models)
}

/// Returns the names of programs by rule.
#[pyfunction]
fn rules() -> Vec<&'static str> {
    Generator::names().collect()
}

/// Converts settings from JSON to the text of a scenario file. Numbers get the units of their keys.
#[pyfunction]
fn toml(settings: &str) -> PyResult<String> {
    let settings = serde_json::from_str(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(settings_as_toml(&settings))
}

/// Returns the quantile of Student's t for a two-sided interval of 95 %, by degrees of freedom.
#[pyfunction]
fn student(freedom: usize) -> f64 {
    hayase::base::portable::student(freedom)
}

/// Returns the JSON schema of scenarios.
#[pyfunction]
fn schema() -> &'static str {
    hayase::scenario::schema()
}

#[pymodule]
fn _hayase(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ScenarioError", py.get_type::<mistake::ScenarioError>())?;
    module.add("Deadlock", py.get_type::<mistake::Deadlock>())?;
    module.add_function(wrap_pyfunction!(program::main, module)?)?;
    module.add_class::<fabric::Fabric>()?;
    module.add_class::<outcome::Played>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<texts::Texts>()?;
    for function in [
        wrap_pyfunction!(topologies, module)?,
        wrap_pyfunction!(patterns, module)?,
        wrap_pyfunction!(machines, module)?,
        wrap_pyfunction!(presets, module)?,
        wrap_pyfunction!(models, module)?,
        wrap_pyfunction!(rows::message_rows, module)?,
        wrap_pyfunction!(rules, module)?,
        wrap_pyfunction!(toml, module)?,
        wrap_pyfunction!(schema, module)?,
        wrap_pyfunction!(student, module)?,
        wrap_pyfunction!(texts::run_many, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
