//! Columns that every row has.

/// First of these columns, and the only one that is not a number: `complete`, or the reason why the run ended
/// early.
pub(super) const STATUS: &str = "status";
/// Result columns of every row, after those of the keys.
pub(super) const RESULTS: [&str; 7] = [
    STATUS,
    "makespan_s",
    "injection_bound_s",
    "busiest_link_bound_s",
    "bisection_bound_s",
    "path_bound_s",
    "ratio_to_bound",
];
/// Further columns of plans that ask for estimates, after the kept figures: the interval of the makespan, and
/// the simulated part of the messages. They are empty if the whole run was simulated.
pub(super) const ESTIMATE: [&str; 3] = ["estimate_low_s", "estimate_high_s", "simulated_part"];
/// Last column: the reason why there is no makespan.
pub(super) const ERROR: &str = "error";

/// Column of the run time of a point: rows of a store have it, merged rows do not.
pub(super) const WALL: &str = "wall_s";

/// Returns true if every row has a column of this name.
pub(super) fn is_usual(name: &str) -> bool {
    RESULTS.contains(&name) || ["id", ERROR, WALL].contains(&name)
}
