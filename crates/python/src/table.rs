//! Tables by columns that numpy and Arrow read without a copy.

use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::arrow;
use crate::column::{Column, Columns, Named};

/// Memory of a column for numpy, kept as long as any array refers to it.
#[pyclass(frozen, module = "hayase._hayase")]
pub struct Memory {
    columns: Arc<Columns>,
    index: usize,
}

#[pymethods]
impl Memory {
    /// Read-only address of the numbers: "The array interface protocol" of numpy, version 3.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = &self.columns[self.index].values;
        let (address, kind, _) = values.memory();
        let order = if cfg!(target_endian = "big") { '>' } else { '<' };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (values.len(),))?;
        interface.set_item("typestr", format!("{order}{kind}"))?;
        interface.set_item("data", (address as usize, true))?;
        Ok(interface)
    }
}

/// Table by columns.
#[pyclass(frozen, module = "hayase._hayase")]
pub struct Table {
    columns: Arc<Columns>,
}

impl Table {
    /// Creates a table of these columns, which have equal lengths.
    ///
    /// # Errors
    /// Python has no memory for it.
    pub fn new(py: Python<'_>, columns: Columns) -> PyResult<Py<Self>> {
        Py::new(py, Self { columns: Arc::new(columns) })
    }
}

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.columns.iter().map(|named| &*named.name).collect()
    }

    fn __len__(&self) -> usize {
        self.columns.first().map_or(0, |named| named.values.len())
    }

    /// Returns a column, by its name in Python or in files, as a read-only numpy array; numbers are not
    /// copied.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let known = |known: fn(&Named) -> &str| self.columns.iter().position(|named| known(named) == name);
        let Some(index) = known(|named| &named.name).or_else(|| known(|named| &named.in_files)) else {
            let known: Vec<&str> = self.columns();
            return Err(PyKeyError::new_err(format!("there is no column {name:?}; there are {}", known.join(", "))));
        };
        let numpy = py.import("numpy")?;
        match &self.columns[index].values {
            Column::Text(ends, bytes) => {
                let text = |pair: &[i64]| String::from_utf8_lossy(&bytes[pair[0] as usize..pair[1] as usize]);
                let texts = PyList::new(py, ends.windows(2).map(text))?;
                let array = numpy.call_method1("array", (texts, "str"))?;
                array.call_method1("setflags", (false,))?;
                Ok(array)
            }
            _ => {
                let memory = Memory { columns: Arc::clone(&self.columns), index };
                numpy.call_method1("asarray", (Py::new(py, memory)?,))
            }
        }
    }

    /// Returns the types of the columns: "The Arrow PyCapsule Interface".
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, arrow::schema(&self.columns), c"arrow_schema")
    }

    /// Returns the table as a stream of one batch, without a copy: "The Arrow PyCapsule Interface".
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A requested type may be ignored, because there is only one.
        let _ = requested_schema;
        PyCapsule::new_with_value(py, arrow::stream(Arc::clone(&self.columns)), c"arrow_array_stream")
    }
}
