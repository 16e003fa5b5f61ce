//! Choice of the ranks that are played.

/// Rule by which ranks of a program that do the same at the same time are played once.
#[spec(Copy, Eq, Default, Named)]
pub enum Symmetry {
    /// One rank of each class of ranks that do the same, if a program is large and that saves most of the work.
    #[default]
    Auto,
    /// Every rank.
    Off,
}

impl Symmetry {
    /// Returns true for the default.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}
