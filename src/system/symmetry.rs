//! Choice of the ranks that are played.

/// Rule by which ranks of a program that do the same at the same time are played once.
#[spec(Copy, Eq, Default, Named)]
pub enum Symmetry {
    /// One rank of each class, if at least 512 ranks fall into classes of four or more on average, and the run is a
    /// training step or too large for its critical path to be kept.
    #[default]
    Auto,
    /// One rank of each class of ranks that do the same, wherever that is possible. The critical path is then not
    /// known.
    On,
    /// Every rank.
    Off,
}

impl Symmetry {
    /// Returns true for the default.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}
