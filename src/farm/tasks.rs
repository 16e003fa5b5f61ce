//! Tasks: their computation times and message sizes.

use crate::units::Time;

/// The tasks of a program, in the order in which they are listed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tasks {
    times: Vec<Time>,
    sizes: Sizes,
    work: Time,
    longest: Time,
}

/// Bytes sent to the worker with each task, and back with its result.
#[derive(Clone, PartialEq, Debug)]
pub enum Sizes {
    /// Same sizes for all tasks.
    Same(Size),
    /// Sizes of each task.
    Each(Vec<Size>),
}

/// Bytes sent for one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// Bytes from the master to the worker \[B\]; `ki` of the equations.
    pub input: u64,
    /// Bytes from the worker to the master \[B\]; `ko` of the equations.
    pub output: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self::Same(Size::default())
    }
}

impl Tasks {
    /// Creates tasks of these times, on the machine that measured them, and these sizes.
    ///
    /// # Panics
    /// If there are sizes for each task and their number differs from that of the times.
    pub fn new(times: Vec<Time>, sizes: Sizes) -> Self {
        if let Sizes::Each(each) = &sizes {
            assert_eq!(each.len(), times.len(), "a size for each task");
        }
        // Equal sizes take no memory, and the loop need not look them up.
        let sizes = match sizes {
            Sizes::Each(each) if each.windows(2).all(|pair| pair[0] == pair[1]) => {
                Sizes::Same(each.first().copied().unwrap_or_default())
            }
            sizes => sizes,
        };
        // Every prediction needs both.
        let (work, longest) = (times.iter().copied().sum(), times.iter().copied().max().unwrap_or_default());
        Self { times, sizes, work, longest }
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// True if there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Times of the tasks on the machine that measured them.
    pub fn times(&self) -> &[Time] {
        &self.times
    }

    /// Sizes of the tasks.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// Returns the bytes sent for one task.
    #[inline]
    pub fn size(&self, task: u32) -> Size {
        match &self.sizes {
            Sizes::Same(size) => *size,
            Sizes::Each(each) => each[task as usize],
        }
    }

    /// Returns the bytes sent for all tasks, there and back \[B\].
    pub fn bytes(&self) -> u64 {
        let [there, back] = self.bytes_each_way();
        there.saturating_add(back)
    }

    /// Returns the bytes sent to workers for all tasks, and the bytes sent back \[B\].
    pub fn bytes_each_way(&self) -> [u64; 2] {
        let of = |way: fn(&Size) -> u64| match &self.sizes {
            Sizes::Same(size) => way(size).saturating_mul(self.times.len() as u64),
            Sizes::Each(each) => each.iter().map(way).fold(0, u64::saturating_add),
        };
        [of(|size| size.input), of(|size| size.output)]
    }

    /// Returns the sum of all times: `A` of the paper, the time on one machine without communication.
    pub fn work(&self) -> Time {
        self.work
    }

    /// Returns the longest time.
    pub fn longest(&self) -> Time {
        self.longest
    }

    /// Returns the same tasks with all times multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let times = self.times.iter().map(|time| Time::from_ps(time.ps() * factor)).collect();
        Self::new(times, self.sizes.clone())
    }
}
