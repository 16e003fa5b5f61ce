//! Which queue of a link a message is in: the virtual channel of each hop.

/// Of a link that is in no ring.
pub(super) const NO_RING: u8 = u8::MAX;

/// How messages change between the virtual channels of links, known by link. The default: one channel everywhere.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    /// The rule; what it needs to know of links is below.
    pub rule: ChannelRule,
    /// By link: the dimension along which it is part of a ring, 255 for none.
    pub rings: Vec<u8>,
    /// By link: whether it closes its ring.
    pub closing: Vec<bool>,
    /// By link: whether anything but what starts on it may cross it; so it is where nothing is said.
    pub shared: Vec<bool>,
    /// By link: its rank in the order in which routes ascend.
    pub ranks: Vec<u32>,
}

/// A rule by which messages change channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ChannelRule {
    /// One channel.
    #[default]
    One,
    /// One channel; what is in a ring goes before what enters it.
    Bubble,
    /// Into the second channel on the link that closes the ring.
    Dateline,
    /// The second channel, all along a ring, for messages that cross the link that closes it.
    Turn,
    /// The next channel wherever a route does not ascend.
    Classes,
}

/// Channels of a link at most: longer routes stay in the last one.
const MOST: u32 = 64;

impl Channels {
    /// Writes the channel of each link of a route.
    pub(super) fn of_route(&self, route: &[u32], channels: &mut Vec<u32>) {
        channels.clear();
        let mut before = None;
        for (hop, &link) in route.iter().enumerate() {
            let channel = match (self.rule, before) {
                (ChannelRule::One | ChannelRule::Bubble, _) => 0,
                (ChannelRule::Dateline, before) => {
                    let second = before.is_some_and(|(from, channel)| self.stays(from, link) && channel == 1);
                    u32::from(second || self.closes(link))
                }
                (ChannelRule::Turn, Some((from, channel))) if self.stays(from, link) => channel,
                (ChannelRule::Turn, _) => {
                    let mut along = route[hop..].iter().take_while(|&&next| next == link || self.stays(link, next));
                    u32::from(along.any(|&next| self.closes(next)))
                }
                (ChannelRule::Classes, Some((from, channel))) => {
                    let ascends = self.ranks.get(link as usize) > self.ranks.get(from as usize);
                    (channel + u32::from(!ascends)).min(MOST - 1)
                }
                (ChannelRule::Classes, None) => 0,
            };
            channels.push(channel);
            before = Some((link, channel));
        }
    }

    /// The ring of a link.
    fn ring(&self, link: u32) -> u8 {
        self.rings.get(link as usize).copied().unwrap_or(NO_RING)
    }

    /// Whether what comes over one link and goes on over another stays in its ring.
    fn stays(&self, from: u32, to: u32) -> bool {
        self.ring(to) != NO_RING && self.ring(from) == self.ring(to)
    }

    fn closes(&self, link: u32) -> bool {
        self.closing.get(link as usize).copied().unwrap_or(false)
    }

    /// Whether what comes over one link, or from a source, and goes on over another comes into a ring after what is in
    /// it.
    pub(super) fn enters_ring(&self, from: Option<u32>, to: u32) -> bool {
        let stays = from.is_some_and(|from| self.stays(from, to));
        self.rule == ChannelRule::Bubble && self.ring(to) != NO_RING && !stays
    }

    /// Whether what starts on a link waits in a queue of its own, since other things cross it, too.
    pub(super) fn has_source(&self, link: u32) -> bool {
        self.shared.get(link as usize).copied().unwrap_or(true)
    }
}
