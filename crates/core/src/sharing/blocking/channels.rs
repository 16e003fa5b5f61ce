//! Virtual channel of a message on each hop, which selects its queue.

/// Ring number of a link that is in no ring.
pub(super) const NO_RING: u8 = u8::MAX;

/// Rule by which messages change between virtual channels, with the properties of links that it needs. The
/// default: one channel everywhere.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    /// The rule.
    pub rule: ChannelRule,
    /// By link: the dimension of its ring, 255 for a link in no ring.
    pub rings: Vec<u8>,
    /// By link: set if it closes its ring.
    pub closing: Vec<bool>,
    /// By link: set if messages that start elsewhere may cross it. True for links behind the end of the list.
    pub shared: Vec<bool>,
    /// By link: its rank in the order in which routes ascend.
    pub ranks: Vec<u32>,
    /// Number of queues of a source; 0 is taken as 1.
    pub source_queues: u32,
}

/// Rule by which messages change channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ChannelRule {
    /// One channel.
    #[default]
    One,
    /// One channel; messages in a ring go before messages that enter it.
    Bubble,
    /// Two channels; messages change to the second one on the link that closes the ring.
    Dateline,
    /// Two channels; messages that cross the link that closes a ring are in the second one all along the
    /// ring.
    Turn,
    /// Many channels; messages change to the next one wherever their route does not ascend.
    Classes,
}

/// Largest number of channels of a link; longer routes stay in the last one.
const MAX_CHANNELS: u32 = 64;

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
                    (channel + u32::from(!ascends)).min(MAX_CHANNELS - 1)
                }
                (ChannelRule::Classes, None) => 0,
            };
            channels.push(channel);
            before = Some((link, channel));
        }
    }

    /// Returns the ring of a link.
    fn ring(&self, link: u32) -> u8 {
        self.rings.get(link as usize).copied().unwrap_or(NO_RING)
    }

    /// True if a message that goes from one link to the other stays in its ring.
    fn stays(&self, from: u32, to: u32) -> bool {
        self.ring(to) != NO_RING && self.ring(from) == self.ring(to)
    }

    fn closes(&self, link: u32) -> bool {
        self.closing.get(link as usize).copied().unwrap_or(false)
    }

    /// True if a message that goes from one link, or from a source, to the other enters a ring, where
    /// messages in the ring go before it.
    pub(super) fn enters_ring(&self, from: Option<u32>, to: u32) -> bool {
        let stays = from.is_some_and(|from| self.stays(from, to));
        self.rule == ChannelRule::Bubble && self.ring(to) != NO_RING && !stays
    }

    /// True if messages that start on a link wait in a queue of their own, since messages from elsewhere may
    /// cross it, too.
    pub(super) fn has_source(&self, link: u32) -> bool {
        self.shared.get(link as usize).copied().unwrap_or(true)
    }
}
