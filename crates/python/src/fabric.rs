//! Fabrics by themselves: what they consist of, and their graphs and pictures as texts.

use std::sync::Arc;

use hayase_output::svg::{self, FabricOptions};
use hayase_output::{dot, fabric_csv, fabric_json};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::mistake;
use crate::texts::Texts;
use crate::work::Asker;

/// A fabric that was built.
#[pyclass(frozen, module = "hayase._hayase")]
pub struct Fabric {
    fabric: Arc<hayase::fabric::Fabric>,
}

#[pymethods]
impl Fabric {
    /// Builds what the texts of a scenario say of a topology.
    #[new]
    fn new(py: Python<'_>, texts: &Texts) -> PyResult<Self> {
        let loader = texts.loader.clone();
        let built = Asker { py, threads: None, progress: None }.wait(move |_| loader.load_topology())?;
        Ok(Self { fabric: built.map_err(|invalid| mistake::invalid(py, &invalid))?.fabric })
    }

    /// What it is, with its numbers.
    #[getter]
    fn name(&self) -> String {
        self.fabric.to_string()
    }

    #[getter]
    fn nodes(&self) -> u32 {
        self.fabric.nodes()
    }

    #[getter]
    fn switches(&self) -> u32 {
        self.fabric.switches()
    }

    /// Links, each in one direction.
    #[getter]
    fn links(&self) -> usize {
        self.fabric.links().len()
    }

    /// As a text of this kind: `json` (node-link, as networkx reads it), `csv` (links), `dot` or `svg`.
    #[pyo3(signature = (kind, title=None))]
    fn text(&self, py: Python<'_>, kind: &str, title: Option<String>) -> PyResult<String> {
        py.detach(|| {
            let mut bytes = Vec::new();
            match kind {
                "json" => fabric_json::write(&self.fabric, &mut bytes)?,
                "csv" => fabric_csv::write(&self.fabric, &mut bytes)?,
                "dot" => return Ok(dot::write(&self.fabric)),
                "svg" => return Ok(svg::fabric(&self.fabric, &FabricOptions { title, ..FabricOptions::default() }).svg),
                _ => return Err(std::io::Error::other(format!("a fabric is no text of the kind {kind:?}"))),
            }
            String::from_utf8(bytes).map_err(std::io::Error::other)
        })
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}
