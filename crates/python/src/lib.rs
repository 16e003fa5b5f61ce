//! The extension module `hayase._hayase`: what the Python package `hayase` is built on.
//!
//! It holds no model and no decision of its own: scenarios go through [`hayase::Loader`] as everywhere, and what other
//! verbs do is what the command line does. What is here is the border: arguments in ([`texts`]), work on a thread of its
//! own while the interpreter goes on ([`work`]), results out ([`outcome`]) as columns ([`table`]) that numpy and Arrow
//! ([`arrow`]) see without a copy, mistakes as exceptions ([`mistake`]).

mod mistake;
mod outcome;
mod program;
mod table;
mod texts;
mod work;

use pyo3::prelude::*;

#[pymodule]
fn _hayase(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ScenarioError", py.get_type::<mistake::ScenarioError>())?;
    module.add("Deadlock", py.get_type::<mistake::Deadlock>())?;
    module.add_function(wrap_pyfunction!(program::main, module)?)?;
    module.add_class::<outcome::Played>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<texts::Texts>()?;
    Ok(())
}
