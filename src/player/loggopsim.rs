//! LogGOPSim.
