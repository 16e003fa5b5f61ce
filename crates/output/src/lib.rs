//! Outputs: reports, comparisons and fabrics as bytes, one file for each format.

pub mod columns;
pub mod csv;
pub mod deadlock;
mod distinct;
pub mod dot;
pub mod fabric_csv;
pub mod fabric_figures;
pub mod fabric_json;
pub mod goal;
pub mod json;
pub mod msccl;
pub mod page;
pub mod pictures;
pub mod runner;
pub mod shown;
pub mod svg;
pub mod table;
pub mod trace;
