//! Nothing: the package has benchmarks only.
