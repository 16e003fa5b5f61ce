//! Fabrics without a run: their parts, their routes, and their graphs and pictures as texts.

use hayase::ids::NodeId;
use hayase::scenario::RoutedFabric;
use hayase_output::svg::{self, FabricOptions};
use hayase_output::{dot, fabric_csv, fabric_json};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::column::{Column, Columns, Named};
use crate::mistake;
use crate::table::Table;
use crate::texts::Texts;
use crate::work::Asker;

/// Fabric with its routes.
#[pyclass(frozen, module = "hayase._hayase")]
pub struct Fabric {
    routed: RoutedFabric,
}

impl Fabric {
    /// Returns the columns `src`, `dst` and `hops` of these pairs (-1 if there is no route), and the links of
    /// all routes, one after the other.
    fn columns(&self, pairs: impl Iterator<Item = (u32, u32)>) -> (Columns, Columns) {
        let (mut src, mut dst, mut hops, mut links) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let router = &self.routed.router;
        for (from, to) in pairs {
            let before = links.len();
            let reaches = router.reaches(NodeId(from), NodeId(to));
            if reaches {
                router.route(NodeId(from), NodeId(to), &mut links);
            }
            src.push(from);
            dst.push(to);
            hops.push(if reaches { (links.len() - before) as i64 } else { -1 });
        }
        let ends = [("src", Column::U32(src)), ("dst", Column::U32(dst)), ("hops", Column::I64(hops))];
        let links = Column::U32(links.into_iter().map(|link| link.0).collect());
        let named = |(name, values): (&'static str, Column)| Named { name: name.into(), in_files: name.into(), values };
        (ends.map(named).into(), vec![named(("link", links))])
    }
}

#[pymethods]
impl Fabric {
    /// Builds the topology of a scenario.
    #[new]
    fn new(py: Python<'_>, texts: &Texts) -> PyResult<Self> {
        let loader = texts.loader.clone();
        let built = Asker { py, threads: None, progress: None }.wait(move |_| loader.load_topology())?;
        Ok(Self { routed: built.map_err(|invalid| mistake::invalid(py, &invalid))? })
    }

    /// Name of the fabric, with its dimensions.
    #[getter]
    fn name(&self) -> String {
        self.routed.fabric.to_string()
    }

    #[getter]
    fn nodes(&self) -> u32 {
        self.routed.fabric.nodes()
    }

    #[getter]
    fn switches(&self) -> u32 {
        self.routed.fabric.switches()
    }

    /// Number of links; each has one direction.
    #[getter]
    fn links(&self) -> usize {
        self.routed.fabric.links().len()
    }

    /// Returns the routes of pairs of nodes, by default of all pairs: a row for each, and the links of all
    /// routes.
    #[pyo3(signature = (pairs=None))]
    fn routes(&self, py: Python<'_>, pairs: Option<(Vec<u32>, Vec<u32>)>) -> PyResult<(Py<Table>, Py<Table>)> {
        let RoutedFabric { fabric, routing, router, .. } = &self.routed;
        if router.choice().is_some() {
            let name = routing.name();
            let message = format!("routing {name:?} chooses when a message starts: a pair of nodes has no one route");
            return Err(PyValueError::new_err(message));
        }
        let nodes = fabric.nodes();
        let given = pairs.iter().flat_map(|(src, dst)| src.iter().chain(dst));
        if let Some(node) = given.copied().find(|node| *node >= nodes) {
            return Err(PyValueError::new_err(format!("there is no node {node}: there are {nodes}, from 0 on")));
        }
        let (ends, links) = py.detach(|| match pairs {
            Some((src, dst)) => self.columns(src.into_iter().zip(dst)),
            None => self.columns((0..nodes).flat_map(|a| (0..nodes).filter(move |&b| a != b).map(move |b| (a, b)))),
        });
        Ok((Table::new(py, ends)?, Table::new(py, links)?))
    }

    /// Returns the fabric as text: `json` (node-link, as networkx reads it), `csv` (links), `dot` or `svg`.
    #[pyo3(signature = (kind, title=None))]
    fn text(&self, py: Python<'_>, kind: &str, title: Option<String>) -> PyResult<String> {
        let fabric = &self.routed.fabric;
        py.detach(|| {
            let mut bytes = Vec::new();
            match kind {
                "json" => fabric_json::write(fabric, &mut bytes)?,
                "csv" => fabric_csv::write(fabric, &mut bytes)?,
                "dot" => return Ok(dot::write(fabric)),
                "svg" => return Ok(svg::fabric(fabric, &FabricOptions { title, ..FabricOptions::default() }).svg),
                _ => return Err(std::io::Error::other(format!("a fabric is no text of the kind {kind:?}"))),
            }
            String::from_utf8(bytes).map_err(std::io::Error::other)
        })
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}
