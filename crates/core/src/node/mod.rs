//! Node models: what a message costs at its two ends, one file each.
//!
//! A model is a `...Spec` (what the scenario says: `[node.loggps]`) that answers as a [`NodeModel`]: how programs are
//! played on it, for most at [`Costs`], and what others need to know of it. Nobody outside asks which model it is.
//! Parameter letters (L, o, g, G, O, s, S) are used here alone. To add a model: a file here, and a line below.
//!
//! Where ranks are placed on a simulated fabric, the network's share (L and the gaps G) comes from the fabric, and only
//! what the ends cost is taken from here; without a fabric the model's own L and G are the network.

pub mod calibrate;
mod costs;
mod ideal;
mod loggopsim;
mod loggp;
mod loggps;
mod model;
mod pairs;
mod receive_table;
mod receive_times;

use std::ops::{Deref, DerefMut};

pub use costs::{Costs, HostCosts, MessageCosts, Phase};
pub use ideal::IdealSpec;
pub use loggopsim::LogGopSimSpec;
pub use loggp::{BandSpec, LogGpSpec};
pub use loggps::{LogGpsSpec, ReceiverSharing};
pub use model::{NodeFacts, NodeModel, Playing};
pub use pairs::Pairs;
pub use receive_table::ReceiveTable;
pub use receive_times::{ReceiveTime, ReceiveTimesBetween, ReceiveTimesSpec};

/// The variants of [`NodeSpec`], each with its model.
macro_rules! node_models {
    ($($(#[$about:meta])* $variant:ident($spec:ty),)*) => {
        /// The node model of a scenario: `[node.loggps]` and so on. It answers as its model does.
        #[spec]
        pub enum NodeSpec {
            $($(#[$about])* $variant($spec),)*
        }

        impl Deref for NodeSpec {
            type Target = dyn NodeModel;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$variant(spec) => spec,)*
                }
            }
        }

        impl DerefMut for NodeSpec {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Self::$variant(spec) => spec,)*
                }
            }
        }
    };
}

node_models! {
    /// The ends cost nothing.
    Ideal(IdealSpec),
    /// A constant overhead by band of lengths (LogGP-2), or by length and call (LogGP-1).
    Loggp(LogGpSpec),
    /// Overheads linear in the length, and waiting for the receiver above a length S.
    Loggps(LogGpsSpec),
    /// What the simulator LogGOPSim computes, to the nanosecond.
    Loggopsim(LogGopSimSpec),
    /// A measured receive time for each size, and nothing else: the rules of MPIETE.
    ReceiveTimes(ReceiveTimesSpec),
}

impl Default for NodeSpec {
    fn default() -> Self {
        Self::Ideal(IdealSpec {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_as_in_files() {
        let texts = [
            "[ideal]",
            "[loggp]\nL = \"1 us\"\nbands = [{ o = \"1 us\", G = \"1 ns/B\" }]",
            "[loggps]\nL = \"1 us\"\no = \"1 us\"\nGs = \"1 ns/B\"\nS = \"1 KiB\"",
            "[loggopsim]",
            "[receive-times]\ntimes = [{ size = \"0 B\", receive = \"1 us\" }]",
        ];
        for text in texts {
            let spec: NodeSpec = crate::reading::from_toml(text).unwrap();
            assert!(text.starts_with(&format!("[{}]", spec.name())), "{text}: {}", spec.name());
            assert!(spec.check().is_empty(), "{text}");
        }
    }

    #[test]
    fn the_limit_of_eager_messages_moves_where_there_is_one() {
        use crate::units::Bytes;
        let with = |text: &str| crate::reading::from_toml::<NodeSpec>(text).unwrap();
        let mut spec = with("[loggps]\nL = \"1 us\"\no = \"1 us\"\nGs = \"1 ns/B\"\nGl = \"3 ns/B\"\nS = \"100 B\"");
        assert!(spec.costs().unwrap().message(101).rendezvous);
        // What was one packet by default stays one, and no more: the gap of byte 101 is still Gl.
        assert!(spec.set_eager_limit(Bytes(500)));
        let message = spec.costs().unwrap().message(101);
        assert_eq!((message.rendezvous, message.gap.ps()), (false, 103e3));
        assert_eq!((spec.eager_limit(), spec.follows("S", 99.0)), (Some(Bytes(500)), Some("s")));
        assert_eq!((spec.follows("S", 100.0), spec.follows("L", 0.0)), (None, None));
        let mut spec = with("[loggp]\nL = \"1 us\"\nbands = [{ o = \"1 us\", G = \"1 ns/B\" }]");
        assert_eq!(spec.eager_limit(), None);
        assert!(spec.set_eager_limit(Bytes(7)) && spec.costs().unwrap().message(8).rendezvous);
        let mut ideal = NodeSpec::default();
        assert!(!ideal.set_eager_limit(Bytes(7)) && ideal == NodeSpec::default());
    }
}
