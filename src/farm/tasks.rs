//! Tasks: what each costs to compute and to send.

use crate::units::Time;

/// The tasks of a program, in the order in which they are listed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tasks {
    times: Vec<Time>,
    sizes: Sizes,
    work: Time,
    longest: Time,
}

/// How many bytes go to the worker with a task, and come back with its result.
#[derive(Clone, PartialEq, Debug)]
pub enum Sizes {
    /// The same for all tasks.
    Same(Size),
    /// One for each.
    Each(Vec<Size>),
}

/// What is sent for one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// From the master to the worker \[B\]; `ki` of the equations.
    pub input: u64,
    /// From the worker to the master \[B\]; `ko` of the equations.
    pub output: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self::Same(Size::default())
    }
}

impl Tasks {
    /// Tasks of these times on the machine that measured them, and these sizes.
    ///
    /// # Panics
    /// If there is a size for each task and their number is another.
    pub fn new(times: Vec<Time>, sizes: Sizes) -> Self {
        if let Sizes::Each(each) = &sizes {
            assert_eq!(each.len(), times.len(), "a size for each task");
        }
        // What is the same for all takes no memory, and the loop need not look it up.
        let sizes = match sizes {
            Sizes::Each(each) if each.windows(2).all(|pair| pair[0] == pair[1]) => {
                Sizes::Same(each.first().copied().unwrap_or_default())
            }
            sizes => sizes,
        };
        // Asked for by every prediction.
        let (work, longest) = (times.iter().copied().sum(), times.iter().copied().max().unwrap_or_default());
        Self { times, sizes, work, longest }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Their times on the machine that measured them.
    pub fn times(&self) -> &[Time] {
        &self.times
    }

    /// What is sent for them.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// What is sent for one of them.
    #[inline]
    pub fn size(&self, task: u32) -> Size {
        match &self.sizes {
            Sizes::Same(size) => *size,
            Sizes::Each(each) => each[task as usize],
        }
    }

    /// What is sent for all of them, there and back \[B\].
    pub fn bytes(&self) -> u64 {
        let [there, back] = self.bytes_each_way();
        there.saturating_add(back)
    }

    /// What is sent to workers for all of them, and what is sent back \[B\].
    pub fn bytes_each_way(&self) -> [u64; 2] {
        let of = |way: fn(&Size) -> u64| match &self.sizes {
            Sizes::Same(size) => way(size).saturating_mul(self.times.len() as u64),
            Sizes::Each(each) => each.iter().map(way).fold(0, u64::saturating_add),
        };
        [of(|size| size.input), of(|size| size.output)]
    }

    /// The sum of all times: `A` of the paper, the time on one machine without communication.
    pub fn work(&self) -> Time {
        self.work
    }

    /// The longest time.
    pub fn longest(&self) -> Time {
        self.longest
    }

    /// The same tasks, each taking `factor` times as long.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let times = self.times.iter().map(|time| Time::from_ps(time.ps() * factor)).collect();
        Self::new(times, self.sizes.clone())
    }
}
