//! Bytes that links have carried: no message arrives before its links can have carried it.

use crate::ids::{IdVec, LinkId};

/// Bytes that have crossed each link since it was last idle.
///
/// Rates that are renewed now and then may put more on a link than it carries. The excess waits in the
/// buffers before the link. A link is busy from the time t0 at which a message enters it, until no message is
/// on it and all bytes that have crossed it can have been carried. With B the bytes of the messages that have
/// left it since t0, including the one that leaves, and c the largest capacity of the link since then
/// \[B/s\]:
/// ```text
/// arrival >= t0 + B / c        for each link of the message
/// ```
/// This holds for any order of service, so it delays nothing that a network could do. And bytes that cross a
/// link take at least their time at its capacity, whatever the rates are.
///
/// Cost: O(links of the message) when it comes and when it leaves.
#[derive(Debug)]
pub(super) struct Carried(IdVec<LinkId, Busy>);

#[derive(Clone, Debug)]
struct Busy {
    /// Capacity \[B/ps\], now and at most since t0.
    capacity: f64,
    fastest: f64,
    /// t0 \[ps\].
    since: f64,
    /// B, the bytes of the messages that have left since t0.
    bytes: f64,
    /// Number of messages on it.
    messages: u32,
}

impl Busy {
    /// Returns the time at which the link can have carried the messages that have left it \[ps\].
    fn until(&self) -> f64 {
        self.since + self.bytes / self.fastest
    }
}

/// Part of the time since the start below which a delay is rounding.
const ROUNDING: f64 = 1e-11;

/// Conversion factor from bytes per second to bytes per picosecond.
const PER_PS: f64 = 1e-12;

impl Carried {
    /// Creates idle links of these capacities \[B/s\].
    pub fn new(capacities: &IdVec<LinkId, f64>) -> Self {
        let idle = |capacity: &f64| {
            let capacity = capacity * PER_PS;
            Busy { capacity, fastest: capacity, since: 0.0, bytes: 0.0, messages: 0 }
        };
        Self(capacities.iter().map(idle).collect())
    }

    pub fn set_capacity(&mut self, link: LinkId, capacity: f64) {
        let link = &mut self.0[link];
        link.capacity = capacity * PER_PS;
        link.fastest = link.fastest.max(link.capacity);
    }

    /// Puts a message onto its links.
    pub fn come(&mut self, links: &[u32], now_ps: f64) {
        for &link in links {
            let link = &mut self.0[LinkId(link)];
            if link.messages == 0 && now_ps >= link.until() {
                (link.since, link.bytes, link.fastest) = (now_ps, 0.0, link.capacity);
            }
            link.messages += 1;
        }
    }

    /// Takes a message of `bytes` bytes, which has left its source, off its links. Returns the earliest time
    /// at which it can have arrived \[ps\], at least `now_ps`.
    pub fn leave(&mut self, links: &[u32], bytes: f64, now_ps: f64) -> f64 {
        let mut earliest = now_ps * (1.0 + ROUNDING);
        let mut arrival = now_ps;
        for &link in links {
            let link = &mut self.0[LinkId(link)];
            link.messages -= 1;
            link.bytes += bytes;
            let until = link.until();
            if until > earliest {
                (earliest, arrival) = (until, until);
            }
        }
        arrival
    }

    /// Takes a cancelled message off its links.
    pub fn cancel(&mut self, links: &[u32]) {
        for &link in links {
            self.0[LinkId(link)].messages -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On one link of 1 B/ps, a message waits until it can have been carried; idle time is no credit.
    #[test]
    fn bytes_take_their_time_since_the_link_was_idle() {
        let mut carried = Carried::new(&[1e12].into_iter().collect());
        carried.come(&[0], 100.0);
        carried.come(&[0], 150.0);
        assert_eq!(carried.leave(&[0], 50.0, 170.0), 170.0, "later than it could");
        assert_eq!(carried.leave(&[0], 100.0, 200.0), 250.0, "150 bytes since 100 ps");
        carried.come(&[0], 240.0);
        assert_eq!(carried.leave(&[0], 10.0, 241.0), 260.0, "still busy");
        carried.come(&[0], 1000.0);
        assert_eq!(carried.leave(&[0], 10.0, 1005.0), 1010.0);
        carried.come(&[0], 2000.0);
        carried.cancel(&[0]);
        carried.set_capacity(LinkId(0), 2e12);
        carried.come(&[0], 3000.0);
        carried.set_capacity(LinkId(0), 1e12);
        assert_eq!(carried.leave(&[0], 10.0, 3001.0), 3005.0, "by the largest capacity since");
    }
}
