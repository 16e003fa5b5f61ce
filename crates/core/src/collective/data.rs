//! What a message of a collective holds, and what its receiver does with it.

/// What a message holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Data {
    /// No data: that it comes is what it says.
    Token,
    /// So many blocks of the layout from the first on, going round at the end.
    Blocks { first: u32, count: u32 },
    /// Every `stride`-th block of the layout from the first on.
    Strided { first: u32, stride: u32 },
    /// What `src` has for `dst` in an all-to-all.
    Pair { src: u32, dst: u32 },
    /// All-to-all by Bruck's algorithm: what the sender keeps at its places whose number has bit `bit` set. Before
    /// the exchange of a bit, place i of rank r holds the block that goes from `r - (i mod 2^bit)` to that rank plus i.
    Places { sender: u32, bit: u32 },
}

impl Data {
    /// One block.
    pub const fn block(first: u32) -> Self {
        Self::Blocks { first, count: 1 }
    }
}

/// What becomes of what was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    /// It is kept.
    Keep,
    /// `received * own`: it comes from lower ranks.
    Left,
    /// `own * received`: it comes from higher ranks.
    Right,
    /// In a scan: it is combined from the left with the running combination and with the result.
    Both,
    /// In an exscan: the same, and it is the result, which there was none of before.
    First,
    /// In a linear exscan: it is the result, and nothing else.
    Result,
}

impl Then {
    /// How many combinations that is.
    pub fn operands(self) -> u64 {
        match self {
            Self::Keep | Self::Result => 0,
            Self::Left | Self::Right | Self::First => 1,
            Self::Both => 2,
        }
    }
}
