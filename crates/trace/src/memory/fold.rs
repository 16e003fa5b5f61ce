//! Folding of runs into nests.
//!
//! Each site has a stack of open nests, one for each level. A run that continues the open nest of level 1
//! extends it. Any other run closes it, and the closed nest is added to level 2 in the same way. No run is
//! looked at twice, so a run costs a comparison of a few numbers.

use std::io;

use super::nest::{DEPTH, Gather, Level, Nest, Run};

/// Longest run that may become part of a gather, if no rule joins the runs.
pub const SHORT: u64 = 3;

/// Number of equal distances in a row at which a gather ends: from there on it is a run.
const REGULAR: u32 = 12;

/// Longest gather, which a folder keeps in memory.
const LONGEST_GATHER: usize = 1 << 12;

/// Receiver of nests and gathers.
pub trait Sink {
    /// Takes a nest.
    ///
    /// # Errors
    /// It cannot be kept.
    fn nest(&mut self, nest: &Nest) -> io::Result<()>;

    /// Takes a gather.
    ///
    /// # Errors
    /// It cannot be kept.
    fn gather(&mut self, gather: &Gather) -> io::Result<()>;
}

/// Folds the runs of one site, given in the order of their positions.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// `open[d]`: a nest of `d + 1` loops, and its outermost loop so far, which is not yet in the nest.
    open: [Option<(Nest, Level)>; DEPTH - 1],
    gather: Gather,
    /// Distance of the last two addresses of the gather, and number of times that it was the same before.
    delta: u64,
    alike: u32,
}

impl Folder {
    /// Adds the next run of the site.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn run(&mut self, run: &Run, sink: &mut impl Sink) -> io::Result<()> {
        let inner = Level { count: run.count, stride: run.stride, step: run.step };
        let nest = Nest::new(run.site, run.size, run.base, run.first, &[inner]);
        self.end_gather(sink)?;
        if run.count <= SHORT && self.begins_gather(&nest, run.step) {
            if let Some((before, level)) = self.open[0].take() {
                self.close(1, sink)?;
                (self.delta, self.alike) = (0, 0);
                let step = run.step;
                let mut addresses = std::mem::take(&mut self.gather.addresses);
                addresses.clear();
                // Reserves memory, so that adding an address never allocates.
                addresses.reserve(LONGEST_GATHER);
                self.gather = Gather { site: run.site, size: run.size, first: before.first, step, addresses };
                let mut whole = before;
                whole.push(level);
                for earlier in whole.runs() {
                    self.add(&earlier);
                }
                self.add(run);
            }
            return Ok(());
        }
        self.push(0, nest, sink)
    }

    /// Closes all nests and the gather at the end of an interval.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn flush(&mut self, sink: &mut impl Sink) -> io::Result<()> {
        self.end_gather(sink)?;
        self.close(0, sink)
    }

    fn add(&mut self, run: &Run) {
        for index in 0..run.count {
            self.gather.addresses.extend(run.access(index).map(|(address, _)| address));
        }
    }

    /// Returns the position at which an access would continue the open gather, and the step from there;
    /// `None` if there is no gather.
    #[inline]
    pub fn gathering(&self) -> Option<(u64, u64)> {
        let Gather { first, step, addresses, .. } = &self.gather;
        match addresses.len() as u64 {
            0 => None,
            count => Some((first.wrapping_add(step.wrapping_mul(count)), *step)),
        }
    }

    /// Adds an access at the position that [`gathering`](Self::gathering) has returned. Returns `false` and
    /// does nothing if the gather must be closed, because it is long or follows a rule from here on.
    #[inline]
    pub fn gather(&mut self, address: u64) -> bool {
        let addresses = &mut self.gather.addresses;
        let Some(&last) = addresses.last() else { return false };
        let delta = address.wrapping_sub(last);
        let alike = if delta == self.delta { self.alike + 1 } else { 0 };
        if alike >= REGULAR || addresses.len() == addresses.capacity() || addresses.len() >= LONGEST_GATHER {
            return false;
        }
        (self.delta, self.alike) = (delta, alike);
        addresses.push(address);
        true
    }

    /// Returns true if the open nest is one short run, or two, that this run continues in position but not in
    /// address.
    fn begins_gather(&self, nest: &Nest, step: u64) -> bool {
        let Some((open, level)) = &self.open[0] else { return false };
        let (Some(inner), Some(this)) = (open.levels().first(), nest.levels().first()) else { return false };
        let next = |times: u64| open.first.wrapping_add(step.wrapping_mul(inner.count).wrapping_mul(times));
        open.levels().len() == 1
            && inner.count <= SHORT
            && inner.step == step
            && this.step == step
            && open.size == nest.size
            && level.count <= 2
            && (level.count == 1 || level.step == step.wrapping_mul(inner.count))
            && nest.first == next(level.count)
            && !continues(open, level, nest)
            // A second run may be the second iteration of a loop. A third one that does not fit, or one of
            // another form, cannot.
            && (level.count == 2 || open.levels() != nest.levels())
    }

    /// Closes the gather, if there is one.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn end_gather(&mut self, sink: &mut impl Sink) -> io::Result<()> {
        if self.gather.addresses.is_empty() {
            return Ok(());
        }
        let result = sink.gather(&self.gather);
        self.gather.addresses.clear();
        result
    }

    /// Adds a closed nest to the open one of a level.
    fn push(&mut self, level: usize, nest: Nest, sink: &mut impl Sink) -> io::Result<()> {
        let Some(place) = self.open.get_mut(level) else { return sink.nest(&nest) };
        if let Some((open, outer)) = place {
            if continues(open, outer, &nest) {
                if outer.count == 1 {
                    outer.stride = nest.base.wrapping_sub(open.base) as i64;
                    outer.step = nest.first.wrapping_sub(open.first);
                }
                outer.count += 1;
                return Ok(());
            }
            let mut closed = *open;
            closed.push(*outer);
            *place = Some((nest, ONCE));
            return self.push(level + 1, closed, sink);
        }
        *place = Some((nest, ONCE));
        Ok(())
    }

    /// Closes the open nests from a level up.
    fn close(&mut self, level: usize, sink: &mut impl Sink) -> io::Result<()> {
        for d in level..self.open.len() {
            if let Some((mut nest, outer)) = self.open[d].take() {
                nest.push(outer);
                self.push(d + 1, nest, sink)?;
            }
        }
        Ok(())
    }
}

const ONCE: Level = Level { count: 1, stride: 0, step: 0 };

/// Returns true if `next` is the next iteration of a loop around `open`.
fn continues(open: &Nest, outer: &Level, next: &Nest) -> bool {
    let round = outer.count;
    open.levels() == next.levels()
        && open.size == next.size
        && (round == 1
            || (next.base == open.base.wrapping_add_signed(outer.stride.wrapping_mul(round as i64))
                && next.first == open.first.wrapping_add(outer.step.wrapping_mul(round))))
}
