//! The columns that every row has.

/// The first of them, and the only one that is no number: `complete`, or why not.
pub(super) const STATUS: &str = "status";
/// The columns of every row behind those of the keys: what came out.
pub(super) const RESULTS: [&str; 7] = [
    STATUS,
    "makespan_s",
    "injection_bound_s",
    "busiest_link_bound_s",
    "bisection_bound_s",
    "path_bound_s",
    "ratio_to_bound",
];
/// Further columns of plans that ask for estimates, behind what they keep: the interval of the makespan, and which part
/// of the messages was simulated; nothing where all was.
pub(super) const ESTIMATE: [&str; 3] = ["estimate_low_s", "estimate_high_s", "simulated_part"];
/// The last column: why there is no makespan.
pub(super) const ERROR: &str = "error";

/// How long a point took: rows of a store have it, merged ones have not.
pub(super) const WALL: &str = "wall_s";

/// Whether every row has a column of this name.
pub(super) fn is_usual(name: &str) -> bool {
    RESULTS.contains(&name) || ["id", ERROR, WALL].contains(&name)
}
