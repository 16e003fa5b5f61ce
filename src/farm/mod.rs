//! Master/slave programs: a queue of tasks, a master that deals them, and workers that compute them.
//!
//! A user executes a few of a program's tasks and asks for the total time on many workers. There are three
//! steps:
//!
//! * The times of all [`Tasks`] come from the [`Executed`] ones by [`interpolate`](interpolate()), from a list, or from
//!   a rule ([`generate`]).
//! * [`run`] plays master and workers and determines which worker gets which task at what time. It does so in closed
//!   form ([`paper`]), with extensions ([`master`], [`hierarchy`]), or over a simulated fabric ([`exchange`]).
//! * [`plan`] chooses the tasks to execute next, and says how certain the prediction is.
//!
//! Source: Mizutani, Ino, Hagihara, Fast Performance Prediction of Master/Slave Programs by Executing Subset
//! of Tasks (Mizutani et al. below).

mod arrivals;
mod cells;
mod completed;
mod costs;
mod counts;
mod deal;
pub mod exchange;
pub mod generate;
mod grid;
pub mod hierarchy;
mod interpolate;
pub mod master;
mod outcome;
pub mod paper;
pub mod plan;
mod play;
mod rules;
pub mod source;
mod spec;
mod tasks;
mod workers;

pub use arrivals::{Arrivals, Keyed, Tournament};
pub use costs::{Costs, Machine, MessageCost};
pub use counts::Counts;
pub use deal::{Chunk, Chunking, Dealer, Order};
pub use generate::{ConstantSpec, ExponentialSpec, HeavyTailSpec, MandelbrotSpec, UniformSpec};
pub use grid::{Executed, Extent, MOST_DIMENSIONS, ProductGrid, TaskGrid};
pub use interpolate::{Outside, interpolate};
pub use outcome::{Outcome, Turn, TurnLog, WorkerUse};
pub use play::{Bounds, Masters, Policy, run};
pub use rules::{ChunkingRule, OrderRule};
pub use source::{Given, TasksFile, TasksSpec};
pub use spec::{FarmPoint, FarmSpec, MasterSlaveSpec};
pub use tasks::{Size, Sizes, Tasks};
pub use workers::{Loss, Workers};

#[cfg(test)]
mod tests;
