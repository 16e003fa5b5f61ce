//! What a message costs the two ends and how long it is under way.

use std::fmt;
use std::sync::Arc;

use crate::units::Time;

/// Costs of messages between a master and its workers.
///
/// In LogGP a message of k bytes keeps its sender for `o + k*G`, is under way for `L`, and keeps its receiver for `o`,
/// where `o = o0 + o1*P` grows with the number of processors P (looking for messages from each of them). Other machines
/// say themselves what a message of k bytes costs, and `o1*P` comes on top at both ends.
///
/// Source: Mizutani et al., section 3.3.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// `L`: latency.
    pub latency: Time,
    /// `o0`: overhead of a message at each end.
    pub overhead: Time,
    /// `o1`: what is added to the overhead for each processor.
    pub overhead_per_processor: Time,
    /// `G`: time of the sender for each byte \[ps/B\].
    pub gap: f64,
    /// What takes the place of `L`, `o0` and `G`.
    pub machine: Option<Machine>,
}

/// What messages cost on a machine, by their size \[B\].
#[derive(Clone)]
pub struct Machine(pub Arc<dyn Fn(u64) -> MessageCost + Send + Sync>);

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Machine").field(&(self.0)(0)).finish()
    }
}

/// What one message costs.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct MessageCost {
    /// How long its sender is busy.
    pub send: Time,
    /// How long it is under way.
    pub flight: Time,
    /// How long its receiver is busy.
    pub receive: Time,
}

impl Costs {
    /// LogGP: latency, overhead `o0 + o1*P`, and a gap for each byte \[ps/B\] that the sender spends.
    pub fn log_gp(latency: Time, overhead: Time, overhead_per_processor: Time, gap: f64) -> Self {
        Self { latency, overhead, overhead_per_processor, gap, machine: None }
    }

    /// The overhead among so many processors: `o0 + o1*P`; `o1*P` alone where a machine says the rest.
    pub fn overhead_among(&self, processors: u32) -> Time {
        self.overhead + Time::from_ps(self.overhead_per_processor.ps() * f64::from(processors))
    }

    /// What a message of so many bytes costs where an end's overhead is `o`.
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

    /// Whether this is LogGP: then the loop of the paper applies as printed.
    pub fn is_log_gp(&self) -> bool {
        self.machine.is_none()
    }
}
