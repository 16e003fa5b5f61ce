//! Pictures as SVG: fabrics, link loads, timelines, comparisons and rates.
//!
//! Every picture stands by itself: its title says what it shows, numbers have units, and there is a legend.
//! No fact is shown by hue alone: busy parts are also darker and wider, different kinds have different forms.
//! The same input gives the same bytes. A small writer of our own writes the SVG.
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
mod link_series;
mod matrix;
mod measured;
mod nccl;
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
pub use link_series::link_series;
pub use matrix::matrix;
pub use measured::measured;
pub use nccl::nccl;
pub use noise::noise;
pub use rates::rates;
pub(crate) use replay::form_of;
pub use replay::{Played, Region, replay};
pub(crate) use scale::load_scale;
pub use small::small_member;
pub use sweep::{axes_of, number, sweep_heat, sweep_lines, sweep_pareto};
pub use timeline::{Sent, timeline};
pub use whatif::whatif;
pub use window::Window;
