//! Pictures: fabrics, link loads, timelines, comparisons and rates as SVG.
//!
//! Every picture is a text of its own: a title that says what it shows, units wherever there are numbers, a legend.
//! Nothing is told by hue alone: what is busy is also darker and wider, what differs in kind differs in form. The same
//! input gives the same bytes. All is written by a small writer of our own.
//!
//! A report becomes a `Picture`: charts, lanes and cells as data, each with one renderer.

mod accuracy;
mod axis;
mod breakdown;
mod calibration;
mod canvas;
mod cells;
mod chart;
mod communication;
mod compared_jobs;
mod comparison;
mod fabric;
mod fabrics;
mod failed;
mod farm;
mod faults;
mod interference;
mod jobs;
mod lanes;
mod layout;
mod link_loads;
mod matrix;
mod noise;
mod picture;
mod rates;
mod replay;
mod scale;
mod sign;
mod small;
mod sweep;
mod timeline;
mod whatif;
mod window;

#[cfg(test)]
mod tests;

pub use accuracy::accuracy;
pub use breakdown::breakdown;
pub use calibration::calibration;
pub use communication::communication;
pub use compared_jobs::compared_jobs;
pub use comparison::comparison;
pub use fabric::{Drawing, FabricOptions, fabric};
pub use fabrics::fabrics;
pub use farm::{farm, gantt};
pub use faults::faults;
pub use interference::interference;
pub use jobs::jobs;
pub use link_loads::{LinkLoad, link_loads};
pub use matrix::matrix;
pub use noise::noise;
pub use rates::rates;
pub use replay::{Played, Region, replay};
pub use small::small_member;
pub use sweep::{axes_of, number, sweep_heat, sweep_lines, sweep_pareto};
pub use timeline::{Sent, timeline};
pub use whatif::whatif;
pub use window::Window;
