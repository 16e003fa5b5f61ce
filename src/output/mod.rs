//! Outputs: pictures and descriptions of fabrics, one file a format.

pub mod dot;
pub mod fabric_json;
pub mod svg;
