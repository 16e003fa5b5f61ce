//! Pending events in order of time; those of one time are in the order in which they were scheduled.

use std::collections::VecDeque;

use super::wheel::{Event, Scheduled, Wheel};

/// Largest number of delay lines.
const LINES: usize = 8;
/// Number of lines reserved for delays that are not known in advance.
const SPARE: usize = 2;
/// Number of events for which a line has room at first.
const ROOM: usize = 64;
/// Number of events that can be looked at before it is their turn.
const AHEAD: usize = 3;

/// Events that have been scheduled and have not happened.
///
/// Nearly all packets are of one size and links of a few speeds, so nearly every event is scheduled with one
/// of a few delays. Time does not go back, so events with the same delay happen in the order in which they
/// were scheduled. They form a *delay line*, a first-in-first-out queue in a ring. Events of a line at the same
/// time are a *group*, which stores that time once. The next group is the earliest of the first ones of all
/// lines. Of two events at one time the one with the longer delay was scheduled earlier, since scheduling time
/// is event time minus delay. So no event needs a sequence number, the lines are kept in order of falling
/// delays, and the events of a group follow each other.
///
/// Delays beyond the first eight share a timing wheel, which stores each event's delay for such ties. Events
/// with the same delay are all in one line or all in the wheel.
///
/// Cost for l <= 8 lines: push O(l), pop O(1), and O(l) for each group; 8 B an event and 16 B a group. In the
/// wheel: see there.
#[derive(Debug)]
pub(super) struct Pending {
    /// Time of the first group of each line that has not begun; [`u64::MAX`] if there is none.
    first: [u64; LINES],
    lines: Vec<Line>,
    /// Group that is being taken out: its events, with [`AHEAD`] more that probably follow, the number of them
    /// that have been taken out, its size, and its time.
    current: Vec<u64>,
    at: usize,
    size: usize,
    time: u64,
    /// Time before which no event of the wheel happens; [`u64::MAX`] if there is none.
    wheel_from: u64,
    wheel: Wheel,
}

/// Events that were scheduled with the same delay.
#[derive(Debug)]
struct Line {
    delay: u64,
    /// Ring of events, `which` above `what`. Its length is a power of two.
    ring: Vec<u64>,
    /// Number of events that have been taken out and put in.
    taken: usize,
    put: usize,
    /// Groups that have not begun: time, and number of events put in before.
    groups: VecDeque<(u64, usize)>,
    /// Time of the last one; [`u64::MAX`] if there is none.
    last: u64,
}

#[inline(always)]
fn word(what: u32, which: u32) -> u64 {
    u64::from(what) | u64::from(which) << 32
}

#[inline(always)]
fn event(time: u64, word: u64) -> Event {
    Event { time, what: word as u32, which: (word >> 32) as u32 }
}

impl Line {
    fn new(delay: u64) -> Self {
        Self { delay, ring: vec![0; ROOM], taken: 0, put: 0, groups: VecDeque::new(), last: u64::MAX }
    }

    /// Appends an event; returns true if it is the first of a group.
    #[inline(always)]
    fn push(&mut self, time: u64, word: u64) -> bool {
        let mask = self.ring.len() - 1;
        self.ring[self.put & mask] = word;
        let put = self.put;
        self.put += 1;
        if self.put - self.taken > mask {
            self.grow();
        }
        let begins = time != self.last;
        if begins {
            self.groups.push_back((time, put));
            self.last = time;
        }
        begins
    }

    /// Doubles the room of the ring, which is full.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        // Each event is in both halves: one of them is its place.
        self.ring.extend_from_within(..);
    }

    /// Moves the first group to `events`, followed by the next few; returns the time of the next group.
    #[inline]
    fn take_group(&mut self, events: &mut Vec<u64>) -> u64 {
        self.groups.pop_front();
        let (next, end) = self.groups.front().copied().unwrap_or((u64::MAX, self.put));
        self.last = if next == u64::MAX { next } else { self.last };
        let (before, after) = self.ring.split_at(self.taken & (self.ring.len() - 1));
        let count = end - self.taken + AHEAD;
        let at_end = count.min(after.len());
        events.clear();
        events.extend_from_slice(&after[..at_end]);
        events.extend_from_slice(&before[..before.len().min(count - at_end)]);
        events.resize(count, 0);
        self.taken = end;
        next
    }

    fn events(&mut self) -> impl Iterator<Item = &mut u64> {
        let (taken, count, mask) = (self.taken, self.put - self.taken, self.ring.len() - 1);
        let is_pending = move |place: usize| place.wrapping_sub(taken) & mask < count;
        self.ring.iter_mut().enumerate().filter(move |&(place, _)| is_pending(place)).map(|(_, word)| word)
    }
}

impl Pending {
    /// Creates an empty set, given the most frequent delays with the number of events that have each. Events
    /// in the wheel are usually about `usual` ticks ahead. `busy` is roughly the largest number of pending
    /// events.
    pub(super) fn new(mut delays: Vec<(u64, usize)>, usual: u64, busy: usize) -> Self {
        delays.sort_unstable();
        delays.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        delays.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        delays.truncate(LINES - SPARE);
        delays.sort_by_key(|&(delay, _)| std::cmp::Reverse(delay));
        Self {
            first: [u64::MAX; LINES],
            lines: delays.into_iter().map(|(delay, _)| Line::new(delay)).collect(),
            current: vec![0; AHEAD],
            at: 0,
            size: 0,
            time: 0,
            wheel_from: u64::MAX,
            wheel: Wheel::new(busy, usual),
        }
    }

    /// True if nothing is scheduled.
    pub(super) fn is_empty(&self) -> bool {
        self.at == self.size && self.lines.iter().all(|line| line.put == line.taken) && self.wheel.is_empty()
    }

    /// Schedules an event `delay` after `now`, which is never before the `now` of an earlier call nor before
    /// the last event that was taken out.
    #[inline(always)]
    pub(super) fn push(&mut self, now: u64, delay: u64, what: u32, which: u32) {
        let (time, word) = (now.saturating_add(delay), word(what, which));
        match self.lines.iter().position(|line| line.delay == delay) {
            Some(i) => {
                if self.lines[i].push(time, word) {
                    self.first[i % LINES] = self.first[i % LINES].min(time);
                }
            }
            None => self.push_elsewhere(now, delay, word),
        }
    }

    /// Schedules an event with a delay that has no line.
    #[cold]
    #[inline(never)]
    fn push_elsewhere(&mut self, now: u64, delay: u64, word: u64) {
        let time = now.saturating_add(delay);
        if self.lines.len() < LINES {
            let place = self.lines.partition_point(|line| line.delay > delay);
            self.lines.insert(place, Line::new(delay));
            self.first.copy_within(place..LINES - 1, place + 1);
            self.lines[place].push(time, word);
            self.first[place] = time;
        } else {
            self.wheel.push(now, Scheduled { event: event(time, word), delay });
            self.wheel_from = self.wheel_from.min(time);
        }
    }

    /// Takes out the next event, if it happens by `limit`.
    #[inline(always)]
    pub(super) fn pop(&mut self, limit: u64) -> Option<Event> {
        if self.at == self.size
            && let Err(event) = self.begin_group(limit)
        {
            return event;
        }
        if self.time > limit {
            return None;
        }
        let word = self.current[self.at];
        self.at += 1;
        Some(event(self.time, word))
    }

    /// Begins the next group, if it happens by `limit`; otherwise, or if an event of the wheel comes first, returns the
    /// result of [`Pending::pop`].
    #[inline]
    fn begin_group(&mut self, limit: u64) -> Result<(), Option<Event>> {
        let (mut line, mut time) = (0, self.first[0]);
        for i in 1..self.lines.len().min(LINES) {
            if self.first[i] < time {
                (line, time) = (i, self.first[i]);
            }
        }
        if self.wheel_from <= time
            && let Some(event) = self.pop_wheel(line, limit)
        {
            return Err(event);
        }
        if time > limit {
            return Err(None);
        }
        self.first[line % LINES] = self.lines[line].take_group(&mut self.current);
        (self.at, self.size, self.time) = (0, self.current.len() - AHEAD, time);
        Ok(())
    }

    /// Returns `what` and `which` of the two events that will probably happen after the next one, for prefetching; they
    /// may be long past.
    #[inline(always)]
    pub(super) fn coming(&self) -> [(u32, u32); 2] {
        let [near, far] = [1, 2].map(|after| event(0, self.current.get(self.at + after).copied().unwrap_or(0)));
        [(near.what, near.which), (far.what, far.which)]
    }

    /// Takes out the next event of the wheel if it comes before the first group of `line`, which is that of all lines;
    /// returns the result of [`Pending::pop`] in that case.
    #[inline(never)]
    fn pop_wheel(&mut self, line: usize, limit: u64) -> Option<Option<Event>> {
        if self.wheel_from > limit {
            return Some(None);
        }
        let (time, delay) = (self.first[line], self.lines.get(line).map_or(0, |line| line.delay));
        match self.wheel.first(limit) {
            Some(&Scheduled { event, delay: waited })
                if event.time < time || (event.time == time && waited > delay) =>
            {
                self.wheel_from = event.time;
                Some((event.time <= limit).then(|| {
                    self.wheel.drop_first();
                    self.wheel_from = self.wheel.from();
                    event
                }))
            }
            _ => {
                self.wheel_from = self.wheel.from();
                None
            }
        }
    }

    /// Renames the `which` of all events.
    pub(super) fn rename(&mut self, name: impl Fn(u32) -> u32) {
        let lines = self.lines.iter_mut().flat_map(Line::events);
        for pending in self.current[self.at..self.size].iter_mut().chain(lines) {
            let Event { what, which, .. } = event(0, *pending);
            *pending = word(what, name(which));
        }
        self.wheel.rename(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a list that is searched for the first of the smallest times. There are few and many
        /// delays, ties, horizons that end between events, and events that follow each other within a slot of
        /// the wheel.
        #[test]
        fn events_come_in_order_of_time_and_then_of_pushing(
            known in proptest::collection::vec(0u64..40, 0..12),
            usual in 1u64..100_000,
            scale in 1u64..3_000,
            steps in proptest::collection::vec((0u64..60, 1u32..4, any::<bool>(), 0u64..1_000_000), 1..400),
        ) {
            let known = known.into_iter().map(|delay| (delay * scale, 1)).collect();
            let mut pending = Pending::new(known, usual, 10);
            let mut list: Vec<(Event, u64)> = Vec::new();
            let (mut now, mut pushed) = (0, 0);
            for (delay, times, stop, far) in steps {
                // Some events are far ahead, and some take no time.
                let delay = if delay > 55 { far * scale } else { delay * scale };
                for _ in 0..times {
                    pending.push(now, delay, pushed, 7);
                    list.push((Event { time: now + delay, what: pushed, which: 7 }, delay));
                    pushed += 1;
                }
                let limit = if stop { now + far / 300 } else { u64::MAX - 1 };
                for _ in 0..if stop { 9 } else { 1 } {
                    let first = (0..list.len()).min_by_key(|&i| list[i].0.time).filter(|&i| list[i].0.time <= limit);
                    let expected = first.map(|i| list.remove(i).0);
                    prop_assert_eq!(pending.pop(limit), expected);
                    now = expected.map_or(if stop { limit } else { now }, |event| event.time);
                }
                prop_assert_eq!(pending.is_empty(), list.is_empty());
            }
            pending.rename(|which| which + 1);
            list.sort_by_key(|(event, _)| event.time);
            for (event, _) in list {
                prop_assert_eq!(pending.pop(u64::MAX - 1), Some(Event { which: 8, ..event }));
            }
            prop_assert_eq!(pending.pop(u64::MAX - 1), None);
        }
    }

    #[test]
    fn what_never_happens_is_not_taken_out_and_is_there() {
        let mut pending = Pending::new(Vec::new(), 1, 1);
        for delay in 1..=2 * LINES as u64 {
            pending.push(10, u64::MAX - delay, 0, 0);
        }
        while pending.pop(u64::MAX - 1).is_some() {}
        assert!(!pending.is_empty());
    }
}
