//! Where an MPI program can improve: found in what it did, said about its source.

pub mod model;
