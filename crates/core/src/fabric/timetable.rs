//! Changes of links over time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::base::Arrange;
use crate::ids::LinkId;
use crate::units::{Bandwidth, Time};

/// Change of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LinkChange {
    /// The link carries nothing from now on.
    Down,
    /// The link carries traffic again, as before.
    Up,
    /// The link has this capacity from now on, more than 0.
    Bandwidth(Bandwidth),
}

/// Changes of one link for one reason.
#[derive(Clone, PartialEq, Debug)]
pub struct Track {
    /// The link.
    pub link: LinkId,
    /// Times and changes, in order of time.
    changes: Vec<(Time, LinkChange)>,
    /// Period after which all changes repeat; later than the last change.
    period: Option<Time>,
}

/// All changes of links over time: profiles of bandwidth and of state.
///
/// A link may have several tracks. It is down while any of them is down; of capacities the last one set
/// holds. Changes at time 0 hold from the start.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timetable {
    tracks: Vec<Track>,
}

impl Timetable {
    /// Adds the changes of a link, in any order; they repeat after `period`, if there is one.
    ///
    /// # Errors
    /// Fails if the period is 0 or ends before the last change, or if a capacity is 0.
    pub fn add(
        &mut self,
        link: LinkId,
        mut changes: Vec<(Time, LinkChange)>,
        period: Option<Time>,
    ) -> Result<(), String> {
        // The sort is stable: of several changes at one instant the last one holds.
        changes.arrange_by_key(|(at, _)| *at);
        let last = changes.last().map_or(Time::ZERO, |(at, _)| *at);
        if changes.iter().any(|(at, _)| !at.is_finite() || *at < Time::ZERO) {
            return Err("a change has no time from 0 on".to_owned());
        }
        if let Some(period) = period
            && (period <= last || !period.is_finite())
        {
            return Err("a profile starts again before its last change".to_owned());
        }
        let nothing =
            |change: &LinkChange| matches!(change, LinkChange::Bandwidth(rate) if rate.bytes_per_second() <= 0.0);
        if changes.iter().any(|(_, change)| nothing(change)) {
            return Err("a bandwidth of 0 means that the link is down: write `state = \"down\"`".to_owned());
        }
        if !changes.is_empty() {
            self.tracks.push(Track { link, changes, period });
        }
        Ok(())
    }

    /// Adds the changes of another timetable.
    pub fn join(&mut self, other: Self) {
        self.tracks.extend(other.tracks);
    }

    /// Returns true if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.tracks.is_empty()
    }

    /// Returns the tracks.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Returns true if there are changes after the start.
    pub fn changes_later(&self) -> bool {
        self.tracks.iter().any(|track| track.period.is_some() || track.changes.iter().any(|(at, _)| *at > Time::ZERO))
    }

    /// Returns the largest capacity that each link ever has by its tracks, if they set any.
    pub fn most(&self) -> impl Iterator<Item = (LinkId, Bandwidth)> + '_ {
        let rates = |track: &Track| {
            let rate = |(_, change): &(Time, LinkChange)| match change {
                LinkChange::Bandwidth(rate) => Some(*rate),
                LinkChange::Down | LinkChange::Up => None,
            };
            track.changes.iter().filter_map(rate).max()
        };
        self.tracks.iter().filter_map(move |track| Some((track.link, rates(track)?)))
    }

    /// Returns a walk through the changes, from the start on.
    pub fn agenda(&self) -> Agenda<'_> {
        let first = |(number, track): (usize, &Track)| Reverse((track.changes[0].0, number, 0));
        Agenda { table: self, next: self.tracks.iter().enumerate().map(first).collect() }
    }
}

/// Walk through the changes of a timetable.
#[derive(Clone, Debug)]
pub struct Agenda<'a> {
    table: &'a Timetable,
    /// Time of the next change, number of the track and number of earlier changes, for each track with
    /// changes left.
    next: BinaryHeap<Reverse<(Time, usize, u64)>>,
}

impl Agenda<'_> {
    /// Returns the time of the next change, or [`Time::NEVER`] if there is none.
    pub fn next_time(&self) -> Time {
        self.next.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at)
    }

    /// Returns the next change up to `until`: the number of its track, its link, and the change.
    pub fn pop(&mut self, until: Time) -> Option<(usize, LinkId, LinkChange)> {
        if self.next_time() > until {
            return None;
        }
        let Reverse((_, number, count)) = self.next.pop()?;
        let track = &self.table.tracks[number];
        let len = track.changes.len() as u64;
        let after = count + 1;
        let at = track.changes[(after % len) as usize].0;
        match track.period {
            Some(period) => {
                let turn = Time::from_ps(period.ps() * (after / len) as f64);
                self.next.push(Reverse((turn + at, number, after)));
            }
            None if after < len => self.next.push(Reverse((at, number, after))),
            None => {}
        }
        Some((number, track.link, track.changes[(count % len) as usize].1))
    }
}

/// States of links after changes of a timetable.
#[derive(Clone, Debug)]
pub struct LinkStates {
    /// By track: true if its link is down for it.
    down: Vec<bool>,
    /// Number of tracks that are down, for each link that is down.
    failed: BTreeMap<LinkId, u32>,
}

impl LinkStates {
    /// Creates states with all links up.
    pub fn new(table: &Timetable) -> Self {
        Self { down: vec![false; table.tracks.len()], failed: BTreeMap::new() }
    }

    /// Applies a change of a track to its link. Returns `Some(true)` if the link fails by it, and
    /// `Some(false)` if it comes back.
    pub fn note(&mut self, track: usize, link: LinkId, change: LinkChange) -> Option<bool> {
        let down = match change {
            LinkChange::Down => true,
            LinkChange::Up => false,
            LinkChange::Bandwidth(_) => return None,
        };
        if std::mem::replace(&mut self.down[track], down) == down {
            return None;
        }
        let count = self.failed.entry(link).or_insert(0);
        if down {
            *count += 1;
            return (*count == 1).then_some(true);
        }
        *count -= 1;
        if *count > 0 {
            return None;
        }
        self.failed.remove(&link);
        Some(false)
    }

    /// Returns the links that are down, in order.
    pub fn failed(&self) -> Vec<LinkId> {
        self.failed.keys().copied().collect()
    }

    /// Returns true if a link is down.
    pub fn is_down(&self, link: LinkId) -> bool {
        self.failed.contains_key(&link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: LinkId = LinkId(3);

    #[test]
    fn changes_come_in_order_of_time_whatever_the_order_in_which_they_were_said() {
        let rate = Bandwidth::from_bytes_per_second;
        let ps = Time::from_ps;
        let mut table = Timetable::default();
        table.add(LINK, vec![(ps(5.0), LinkChange::Up), (ps(2.0), LinkChange::Down)], None).unwrap();
        table.add(LINK, vec![(ps(1.0), LinkChange::Bandwidth(rate(7.0)))], Some(ps(3.0))).unwrap();
        assert!(table.changes_later());
        assert_eq!(table.most().collect::<Vec<_>>(), [(LINK, rate(7.0))]);
        let (mut agenda, mut states) = (table.agenda(), LinkStates::new(&table));
        let mut seen = Vec::new();
        while agenda.next_time() < ps(8.0) {
            let at = agenda.next_time().ps();
            let (track, link, change) = agenda.pop(agenda.next_time()).unwrap();
            seen.push((at, track, states.note(track, link, change), states.is_down(LINK)));
        }
        let expected = [
            (1.0, 1, None, false),
            (2.0, 0, Some(true), true),
            (4.0, 1, None, true),
            (5.0, 0, Some(false), false),
            (7.0, 1, None, false),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_link_is_down_while_any_track_says_so() {
        let mut table = Timetable::default();
        for _ in 0..2 {
            table.add(LINK, vec![(Time::ZERO, LinkChange::Down)], None).unwrap();
        }
        assert!(!table.changes_later());
        let mut states = LinkStates::new(&table);
        let changes = [(0, LinkChange::Down), (1, LinkChange::Down), (0, LinkChange::Up), (1, LinkChange::Up)];
        let told = changes.map(|(track, change)| states.note(track, LINK, change));
        assert_eq!(told, [Some(true), None, None, Some(false)]);
    }

    #[test]
    fn what_makes_no_timetable_is_refused() {
        let at = |ps| vec![(Time::from_ps(ps), LinkChange::Down)];
        let mut table = Timetable::default();
        assert!(table.add(LINK, at(5.0), Some(Time::from_ps(5.0))).is_err());
        assert!(table.add(LINK, at(f64::INFINITY), None).is_err());
        let nothing = LinkChange::Bandwidth(Bandwidth::from_bytes_per_second(0.0));
        assert!(table.add(LINK, vec![(Time::ZERO, nothing)], None).is_err());
        assert!(table.is_empty());
    }
}
