//! Load of links over time.

use crate::engine::CountedStep;
use crate::ids::{IdVec, LinkId};
#[cfg(feature = "simulator")]
use crate::symmetry::Folded;
use crate::units::Time;

/// Number of spans of time.
const SPANS: usize = 60;

/// Bytes of each link in successive spans of time of equal length.
///
/// The bytes of a message are spread evenly over the time that it is under way. Spans begin as short as the first
/// message and double when the run outgrows them, so that a run uses at least half of them. It takes 240 bytes a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSeries {
    /// Length of a span \[ps\].
    span: f64,
    links: IdVec<LinkId, [f32; SPANS]>,
}

impl LinkSeries {
    /// Creates the series of this number of links.
    pub fn new(links: usize) -> Self {
        Self { span: 0.0, links: IdVec::filled(links, [0.0; SPANS]) }
    }

    /// Adds the bytes that a message, or several messages of equal times, carried over each link.
    pub fn add(&mut self, start: Time, end: Time, on_links: impl Iterator<Item = (LinkId, f64)>) {
        let (start, end) = (start.ps(), end.ps().max(1.0));
        if self.span == 0.0 {
            self.span = end / SPANS as f64;
        }
        while end > self.span * SPANS as f64 {
            self.double();
        }
        let place = |time: f64| ((time / self.span) as usize).min(SPANS - 1);
        let (first, last) = (place(start), place(end));
        let length = (end - start).max(f64::MIN_POSITIVE);
        for (link, bytes) in on_links {
            let spans = &mut self.links[link];
            for (at, sum) in spans.iter_mut().enumerate().take(last + 1).skip(first) {
                let (from, to) = (start.max(self.span * at as f64), end.min(self.span * (at + 1) as f64));
                let part = if first == last { 1.0 } else { ((to - from) / length).max(0.0) };
                *sum += (bytes * part) as f32;
            }
        }
    }

    /// Adds steps in which every rank sends a message.
    pub(super) fn add_steps(&mut self, step: &CountedStep<'_>) {
        let Some(on_links) = step.on_links else { return };
        for (start, end) in step.times() {
            let used = on_links.iter_ids().filter(|(_, messages)| **messages > 0);
            self.add(start, end, used.map(|(link, &messages)| (link, f64::from(messages) * step.bytes as f64)));
        }
    }

    /// Doubles the length of the spans.
    fn double(&mut self) {
        self.span *= 2.0;
        for spans in self.links.as_mut_slice() {
            *spans = std::array::from_fn(|at| match at < SPANS / 2 {
                true => spans[2 * at] + spans[2 * at + 1],
                false => 0.0,
            });
        }
    }

    /// Returns the series of all links of a folded run.
    #[cfg(feature = "simulator")]
    #[must_use]
    pub fn expanded(&self, folded: &Folded) -> Self {
        Self { span: self.span, links: folded.expand_links(&self.links) }
    }

    /// Length of a span.
    pub fn span(&self) -> Time {
        Time::from_ps(self.span)
    }

    /// Returns the bytes of a link in each span up to this time.
    pub fn of(&self, link: LinkId, until: Time) -> &[f32] {
        let spans = if self.span > 0.0 { (until.ps() / self.span * (1.0 - 1e-12)).ceil() as usize } else { 0 };
        &self.links[link][..spans.min(SPANS)]
    }

    /// Returns the load of a link of this capacity \[B/s\] in each span up to this time: its bytes over those that
    /// it can carry. A load may exceed 1, because the bytes of a message are spread evenly over its time.
    pub fn loads(&self, link: LinkId, capacity_bps: f64, until: Time) -> Vec<f64> {
        let spans = self.of(link, until).iter().enumerate();
        let length = |at: usize| (until.ps() - self.span * at as f64).min(self.span) * 1e-12;
        spans.map(|(at, &bytes)| f64::from(bytes) / (capacity_bps * length(at))).collect()
    }
}

/// Measurements of links that are made on request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkMeasures {
    /// Set to measure busy times and numbers of flows.
    pub times: bool,
    /// Set to measure the load over time.
    pub series: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_of_messages_are_spread_over_their_times(
            messages in prop::collection::vec((0_u32..1000, 1_u32..500, 0_u32..3, 1_u32..10_000), 1..40),
        ) {
            let mut series = LinkSeries::new(3);
            let (mut all, mut latest) = ([0.0_f64; 3], 0.0_f64);
            for &(start, length, link, bytes) in &messages {
                let (start, end) = (f64::from(start), f64::from(start + length));
                let on = [(LinkId(link), f64::from(bytes))];
                series.add(Time::from_ps(start), Time::from_ps(end), on.into_iter());
                all[link as usize] += f64::from(bytes);
                latest = latest.max(end);
            }
            let span = series.span().ps();
            prop_assert!(latest <= span * SPANS as f64 * (1.0 + 1e-9));
            for (link, &all) in (0..3).map(LinkId).zip(&all) {
                let spans = series.of(link, Time::from_ps(latest));
                let sum: f64 = spans.iter().copied().map(f64::from).sum();
                prop_assert!((sum - all).abs() <= 1e-4 * all, "{sum} of {all}");
                // Each span has the bytes of the time that messages and it have in common.
                for (at, &found) in spans.iter().enumerate() {
                    let (from, to) = (span * at as f64, span * (at + 1) as f64);
                    let common = |start: u32, length: u32| {
                        let (start, end) = (f64::from(start), f64::from(start + length));
                        ((end.min(to) - start.max(from)) / f64::from(length)).max(0.0)
                    };
                    let of_link = messages.iter().filter(|message| message.2 == link.0);
                    let expected: f64 = of_link.map(|message| common(message.0, message.1) * f64::from(message.3)).sum();
                    prop_assert!((f64::from(found) - expected).abs() <= 1e-4 * all + 1e-6, "{at}: {found} {expected}");
                }
            }
        }
    }
}
