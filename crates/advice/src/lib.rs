//! Where an MPI program can improve: found in what it did, said about its source.

pub mod accesses;
pub mod address;
pub mod calls;
pub mod fold;
pub mod lines;
pub mod merge;
pub mod model;
pub mod overlap;
pub mod past;
pub mod rounds;
pub mod rules;
pub mod search;
pub mod stream;
pub mod waits;
pub mod walk;
pub mod watch;
