//! Schedules of a pipeline: the order of forward and backward passes on each stage.
//!
//! 1F1B: stage r runs `min(p - r - 1, m)` forward passes, then one forward and one backward pass in turn. Interleaved:
//! micro-batches in groups of p, first chunk 0 of all of them, then chunk 1, and so on; backward in reverse. Without
//! transfers the step lasts `(m v + p - 1)(f + b)`, with f and b the times of a chunk.
//! Source: Narayanan et al. (SC 2021), section 2.2.

/// Kind of schedule.
#[spec(Copy, Eq, Default, Named)]
pub enum ScheduleKind {
    /// All forward passes, then all backward passes.
    Gpipe,
    /// Forward and backward passes in turn, interleaved if stages have several chunks.
    #[default]
    #[name("1f1b")]
    #[serde(rename = "1f1b")]
    OneForwardOneBackward,
}

impl ScheduleKind {
    /// Returns true for the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Schedule of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// Kind of schedule.
    pub kind: ScheduleKind,
    /// Number of stages p.
    pub stages: u64,
    /// Number of chunks of a stage v.
    pub chunks: u64,
    /// Number of micro-batches m; a multiple of `stages` with several chunks.
    pub micro_batches: u64,
}

/// Pass of one micro-batch through one chunk of layers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot {
    /// True for a backward pass.
    pub is_backward: bool,
    /// Micro-batch.
    pub micro_batch: u64,
    /// Chunk of the stage.
    pub chunk: u64,
}

impl Schedule {
    /// Returns the number of forward passes of a stage.
    pub fn passes(&self) -> u64 {
        self.micro_batches * self.chunks
    }

    /// Returns the number of forward passes before the first backward pass in turn.
    pub fn warm_up(&self, stage: u64) -> u64 {
        let behind = self.stages - stage - 1;
        match (self.kind, self.chunks) {
            (ScheduleKind::Gpipe, _) => self.passes(),
            (_, 1) => behind.min(self.passes()),
            (_, chunks) => (2 * behind + (chunks - 1) * self.stages).min(self.passes()),
        }
    }

    /// Returns the largest number of chunks whose activations a stage holds.
    pub fn held(&self, stage: u64) -> u64 {
        (self.warm_up(stage) + 1).min(self.passes())
    }

    /// Returns the pass with this number among the forward or backward passes of a stage.
    fn pass(&self, is_backward: bool, number: u64) -> Slot {
        if self.chunks == 1 {
            return Slot { is_backward, micro_batch: number, chunk: 0 };
        }
        let (group, within) = (number / (self.stages * self.chunks), number % (self.stages * self.chunks));
        let (chunk, micro) = (within / self.stages, within % self.stages);
        let chunk = if is_backward { self.chunks - 1 - chunk } else { chunk };
        Slot { is_backward, micro_batch: group * self.stages + micro, chunk }
    }

    /// Returns the passes of a stage in their order.
    pub fn slots(self, stage: u64) -> impl Iterator<Item = Slot> {
        let (warm_up, passes) = (self.warm_up(stage), self.passes());
        // Pairs of a forward and a backward pass stand between the first forward and the last backward passes.
        (0..2 * passes).map(move |at| match at.checked_sub(warm_up) {
            None => self.pass(false, at),
            Some(pair) if pair < 2 * (passes - warm_up) => match pair % 2 {
                0 => self.pass(false, warm_up + pair / 2),
                _ => self.pass(true, pair / 2),
            },
            Some(rest) => self.pass(true, rest - (passes - warm_up)),
        })
    }

    /// Returns the time of a step without transfers, for these times of a forward and a backward pass of a chunk:
    /// `(m v + p - 1)(forward + backward)`.
    pub fn duration(&self, forward: f64, backward: f64) -> f64 {
        (self.passes() + self.stages - 1) as f64 * (forward + backward)
    }
}
