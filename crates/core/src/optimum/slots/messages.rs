//! Messages with candidate routes, as the input of packing.

use std::ops::Range;

/// Messages to pack, each with one or several candidate routes. Messages and routes are numbered as added.
#[derive(Clone, Debug)]
pub struct Messages {
    weight: Vec<u32>,
    first_route: Vec<u32>,
    first_link: Vec<usize>,
    links: Vec<u32>,
}

impl Default for Messages {
    fn default() -> Self {
        Self { weight: Vec::new(), first_route: vec![0], first_link: vec![0], links: Vec::new() }
    }
}

impl Messages {
    /// Adds a message that takes `weight` consecutive slots, at least 1, on one of the `routes`, at least one.
    ///
    /// A route lists each of its links once, injection and ejection included, and is empty within a node. There are
    /// fewer than 2^32 routes.
    pub fn push<'a>(&mut self, weight: u32, routes: impl IntoIterator<Item = &'a [u32]>) {
        for route in routes {
            self.links.extend_from_slice(route);
            self.first_link.push(self.links.len());
        }
        self.first_route.push(self.first_link.len() as u32 - 1);
        self.weight.push(weight);
    }

    /// Number of messages.
    pub fn count(&self) -> usize {
        self.weight.len()
    }

    /// Returns the number of slots that a message takes.
    pub fn weight(&self, message: u32) -> u32 {
        self.weight[message as usize]
    }

    /// Returns the numbers of a message's routes.
    pub fn routes(&self, message: u32) -> Range<u32> {
        self.first_route[message as usize]..self.first_route[message as usize + 1]
    }

    /// Returns the links of a route.
    pub fn route(&self, route: u32) -> &[u32] {
        &self.links[self.first_link[route as usize]..self.first_link[route as usize + 1]]
    }

    /// Returns the links of all routes of a message, one route after the other.
    pub(super) fn links(&self, message: u32) -> &[u32] {
        let Range { start, end } = self.routes(message);
        &self.links[self.first_link[start as usize]..self.first_link[end as usize]]
    }

    /// Returns the slots that a message takes, split over its routes.
    pub(super) fn part(&self, message: u32) -> f64 {
        f64::from(self.weight(message)) / self.routes(message).len() as f64
    }

    /// Returns the work on each link: slots of its messages over the messages that it takes at a time.
    ///
    /// A message with several routes adds an equal part to each. The largest work of single routes is a lower bound
    /// of the number of slots.
    pub fn work(&self, room: &[u32]) -> Vec<f64> {
        let mut work = vec![0.0; room.len()];
        for message in 0..self.count() as u32 {
            let part = self.part(message);
            for &link in self.links(message) {
                work[link as usize] += part / f64::from(room[link as usize]);
            }
        }
        work
    }
}
