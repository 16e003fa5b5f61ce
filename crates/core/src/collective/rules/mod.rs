//! Rules by which MPI libraries choose algorithms: by collective, number of ranks and size.

pub mod mpich;
pub mod open_mpi;
mod open_mpi_tables;
