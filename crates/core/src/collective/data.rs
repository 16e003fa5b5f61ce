//! Data of a collective's messages, and their use by the receiver.

/// Data that a message holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Data {
    /// No data: the message is a signal.
    Token,
    /// `count` blocks of the layout from `first` on, continuing with block 0 after the last.
    Blocks { first: u32, count: u32 },
    /// Every `stride`-th block of the layout from `first` on.
    Strided { first: u32, stride: u32 },
    /// `count` blocks of the layout, `stride` apart from `first` on, continuing from its start after the last.
    Cyclic { first: u32, stride: u32, count: u32 },
    /// The block of `src` for `dst` in an all-to-all.
    Pair { src: u32, dst: u32 },
    /// All-to-all by Bruck's algorithm: the blocks at the sender's places whose number has bit `bit` set.
    /// Before the exchange of a bit, place i of rank r holds the block that goes from `r - (i mod 2^bit)` to
    /// that rank plus i.
    Places { sender: u32, bit: u32 },
}

/// Returns the `count` blocks of a [`Data::Cyclic`] in a layout of `blocks` blocks.
pub fn cyclic(first: u32, stride: u32, count: u32, blocks: u32) -> impl Iterator<Item = u32> {
    (0..u64::from(count)).map(move |at| ((u64::from(first) + at * u64::from(stride)) % u64::from(blocks)) as u32)
}

impl Data {
    /// Returns one block.
    pub const fn block(first: u32) -> Self {
        Self::Blocks { first, count: 1 }
    }
}

/// Use of the received data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReceivedUse {
    /// They are kept.
    Keep,
    /// `received * own`: they come from lower ranks.
    Left,
    /// `own * received`: they come from higher ranks.
    Right,
    /// In a scan: they are combined from the left with the running combination and with the result.
    Both,
    /// In an exscan: they are combined with the running combination, and are the first result.
    First,
    /// In a linear exscan: they are the result, and nothing else.
    Result,
}

impl ReceivedUse {
    /// Number of combinations.
    pub fn operands(self) -> u64 {
        match self {
            Self::Keep | Self::Result => 0,
            Self::Left | Self::Right | Self::First => 1,
            Self::Both => 2,
        }
    }
}
