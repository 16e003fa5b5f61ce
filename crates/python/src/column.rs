//! Values of the columns of tables.

use std::borrow::Cow;

/// Columns with their names.
pub type Columns = Vec<(Cow<'static, str>, Column)>;

/// The values of a column.
#[derive(Debug)]
pub enum Column {
    /// Numbers of ranks, nodes, links.
    U32(Vec<u32>),
    /// Bytes.
    U64(Vec<u64>),
    /// Numbers that may be missing: then -1.
    I64(Vec<i64>),
    /// Times \[s\] and rates.
    F64(Vec<f64>),
    /// Names: where each begins, with the end of the last, and all of them behind each other.
    Text(Vec<i64>, Vec<u8>),
}

impl Column {
    /// Names as a column.
    pub fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut ends, mut bytes) = (vec![0], Vec::new());
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            ends.push(bytes.len() as i64);
        }
        Self::Text(ends, bytes)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(ends, _) => ends.len() - 1,
        }
    }
}
