//! Costs of messages: time at both ends and time under way.

use std::fmt;
use std::sync::Arc;

use crate::units::Time;

/// Costs of messages between a master and its workers.
///
/// In LogGP a message of k bytes occupies its sender for `o + k*G`, is under way for `L`, and occupies its
/// receiver for `o`. The overhead `o = o0 + o1*P` grows with the number of processors P, because the master
/// looks for messages from each of them. Other machines define the cost of a message of k bytes themselves,
/// and `o1*P` is added at both ends.
///
/// Source: Mizutani et al., section 3.3.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// `L`: latency.
    pub latency: Time,
    /// `o0`: overhead of a message at each end.
    pub overhead: Time,
    /// `o1`: additional overhead per processor.
    pub overhead_per_processor: Time,
    /// `G`: time of the sender per byte \[ps/B\].
    pub gap: f64,
    /// Machine that replaces `L`, `o0` and `G`.
    pub machine: Option<Machine>,
}

/// Costs of messages on a machine, by their size \[B\].
#[derive(Clone)]
pub struct Machine(pub Arc<dyn Fn(u64) -> MessageCost + Send + Sync>);

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Machine").field(&(self.0)(0)).finish()
    }
}

/// Cost of one message.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct MessageCost {
    /// Time that the sender is busy.
    pub send: Time,
    /// Time that the message is under way.
    pub flight: Time,
    /// Time that the receiver is busy.
    pub receive: Time,
}

impl Costs {
    /// Creates LogGP costs: latency, overhead `o0 + o1*P`, and a gap per byte \[ps/B\] at the sender.
    pub fn log_gp(latency: Time, overhead: Time, overhead_per_processor: Time, gap: f64) -> Self {
        Self { latency, overhead, overhead_per_processor, gap, machine: None }
    }

    /// Returns the overhead among `processors` processors, `o0 + o1*P`. With a machine it is `o1*P` alone.
    pub fn overhead_among(&self, processors: u32) -> Time {
        self.overhead + Time::from_ps(self.overhead_per_processor.ps() * f64::from(processors))
    }

    /// Returns the cost of a message of `bytes` bytes if the overhead of each end is `o`.
    #[inline]
    pub fn message(&self, bytes: u64, o: Time) -> MessageCost {
        match &self.machine {
            None => {
                MessageCost { send: Time::from_ps(o.ps() + bytes as f64 * self.gap), flight: self.latency, receive: o }
            }
            Some(Machine(cost)) => {
                let MessageCost { send, flight, receive } = cost(bytes);
                MessageCost { send: send + o, flight, receive: receive + o }
            }
        }
    }

    /// True for LogGP costs, for which the loop of the paper applies as printed.
    pub fn is_log_gp(&self) -> bool {
        self.machine.is_none()
    }
}
