//! The extension module `hayase._hayase`: what the Python package `hayase` is built on.
//!
//! It holds no model and no decision of its own: scenarios go through [`hayase::Loader`] as everywhere, and what other
//! verbs do is what the command line does ([`hayase_cli::Inside`]). What is here is the border: arguments in
//! ([`texts`], [`rows`]), work on threads of its own while the interpreter goes on ([`work`]), results out ([`play`],
//! [`outcome`], [`fabric`]) as columns ([`table`]) that numpy and Arrow ([`arrow`]) see without a copy, mistakes as
//! exceptions ([`mistake`]).

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

/// The named ones of a kind, with their descriptions.
fn named(shelf: Shelf) -> Vec<(&'static str, String)> {
    shelf.all().iter().map(|named| (named.name, named.description())).collect()
}

/// The named fabrics.
#[pyfunction]
fn topologies() -> Vec<(&'static str, String)> {
    named(Shelf::Topologies)
}

/// The named workloads.
#[pyfunction]
fn patterns() -> Vec<(&'static str, String)> {
    named(Shelf::Patterns)
}

/// The named machines.
#[pyfunction]
fn machines() -> Vec<(&'static str, String)> {
    named(Shelf::Machines)
}

/// The named presets.
#[pyfunction]
fn presets() -> Vec<(&'static str, String)> {
    named(Shelf::Presets)
}

/// The names of programs by rule.
#[pyfunction]
fn rules() -> Vec<&'static str> {
    Generator::names().collect()
}

/// Settings, as JSON, as the text of a scenario file: numbers get the units of their places.
#[pyfunction]
fn toml(settings: &str) -> PyResult<String> {
    let settings = serde_json::from_str(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(settings_as_toml(&settings))
}

/// The quantile of Student's t for a two-sided interval of 95 %, by degrees of freedom.
#[pyfunction]
fn student(freedom: usize) -> f64 {
    hayase::base::portable::student(freedom)
}

/// The JSON schema of scenarios.
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
