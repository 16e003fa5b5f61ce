//! Choice of the messages of one slot, and its improvement by ejections.

use super::messages::Messages;

/// Largest number of messages that are tried in place of another one.
const HEIRS: usize = 8;

/// Stand-in for no number.
pub const NONE: u32 = u32::MAX;

/// Message with the route taken.
pub type Choice = (u32, u32);

/// Message that waits, with two links of all its routes, for early refusal.
#[derive(Clone, Copy)]
pub struct Waiting {
    /// Number of the message.
    pub message: u32,
    /// Links that all its routes share.
    pub ends: [u32; 2],
}

/// Messages chosen for a slot.
pub struct Attempt {
    /// Messages with their routes.
    pub chosen: Vec<Choice>,
    /// Set for chosen messages.
    pub taken: Vec<bool>,
    /// Messages that each link can still take.
    pub open: Vec<u32>,
}

impl Attempt {
    /// Exchanges chosen messages for several that each keeps out and that are worth more together.
    ///
    /// `sorted` are the waiting messages, the first ones tried first. Returns true if there was an exchange.
    pub fn eject(&mut self, messages: &Messages, sorted: &[Waiting], worth: &[f32]) -> bool {
        let mut owner = vec![NONE; self.open.len()];
        for (&(_, route), index) in self.chosen.iter().zip(0..) {
            messages.route(route).iter().for_each(|&link| owner[link as usize] = index);
        }
        let mut heirs: Vec<Vec<Choice>> = vec![Vec::new(); self.chosen.len()];
        for &Waiting { message, ends } in sorted {
            if self.taken[message as usize] || self.blocker(&owner, &ends).is_none() {
                continue;
            }
            let blocked = |route| Some((self.blocker(&owner, messages.route(route))?, route));
            let Some((blocker, route)) = messages.routes(message).find_map(blocked) else { continue };
            if let Some(heirs) = heirs.get_mut(blocker as usize).filter(|heirs| heirs.len() < HEIRS) {
                heirs.push((message, route));
            }
        }
        let mut improved = false;
        for (index, heirs) in heirs.iter().enumerate().filter(|(_, heirs)| heirs.len() > 1) {
            let old = self.chosen[index];
            let before = self.chosen.len();
            self.give_back(messages, old);
            let mut gain = -worth[old.0 as usize] * 1.0001;
            for &heir in heirs {
                if self.fits(messages.route(heir.1)) {
                    self.take(messages, heir);
                    gain += worth[heir.0 as usize];
                }
            }
            if gain > 0.0 {
                // The last heir takes the place, so that indices stay valid.
                self.chosen.swap_remove(index);
                improved = true;
            } else {
                for heir in self.chosen.split_off(before) {
                    self.give_back(messages, heir);
                }
                self.take(messages, old);
                self.chosen.pop();
            }
        }
        improved
    }

    /// True if each link can take one more message.
    pub fn fits(&self, links: &[u32]) -> bool {
        links.iter().all(|&link| self.open[link as usize] > 0)
    }

    /// Adds a choice.
    pub fn take(&mut self, messages: &Messages, choice: Choice) {
        messages.route(choice.1).iter().for_each(|&link| self.open[link as usize] -= 1);
        self.taken[choice.0 as usize] = true;
        self.chosen.push(choice);
    }

    /// Frees the links of a choice, which stays in the list.
    fn give_back(&mut self, messages: &Messages, choice: Choice) {
        messages.route(choice.1).iter().for_each(|&link| self.open[link as usize] += 1);
        self.taken[choice.0 as usize] = false;
    }

    /// Returns the index of the one chosen message that fills links, `NONE` if no link is full, or no value if
    /// several messages or earlier ones fill links.
    fn blocker(&self, owner: &[u32], links: &[u32]) -> Option<u32> {
        let mut sole = NONE;
        for &link in links.iter().filter(|&&link| self.open[link as usize] == 0) {
            let owner = owner[link as usize];
            if owner == NONE || sole != NONE && sole != owner {
                return None;
            }
            sole = owner;
        }
        Some(sole)
    }
}
