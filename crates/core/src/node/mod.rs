//! Node models: the costs of a message at its two ends, one file each.
//!
//! A model is a `...Spec` (the table of the scenario: `[node.loggps]`) that implements [`NodeModel`]: how
//! programs are played on it, for most models with [`Costs`], and its [`NodeFacts`]. No code outside this
//! room asks for the concrete model. Parameter letters (L, o, g, G, O, s, S) are used only here. To add a
//! model, add a file here and a line below.
//!
//! If ranks are placed on a simulated fabric, the fabric replaces the network's share (L and the gaps G), and
//! the model gives only the costs at the ends. Without a fabric the model's own L and G are the network.

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
mod tabulated;

use std::ops::{Deref, DerefMut};

pub use costs::{Costs, HostCosts, MessageCosts, Phase, Role};
pub use ideal::IdealSpec;
pub use loggopsim::LogGopSimSpec;
pub use loggp::{BandSpec, LogGpSpec};
pub use loggps::{LogGpsSpec, ReceiverSharing};
pub use model::{NodeFacts, NodeModel, Playing};
pub use pairs::Pairs;
pub use receive_table::ReceiveTable;
pub use receive_times::{ReceiveTime, ReceiveTimesBetween, ReceiveTimesSpec};
pub use tabulated::{StepRow, TabulatedSpec};

/// Declares the variants of [`NodeSpec`], each with its model.
macro_rules! node_models {
    ($($(#[$about:meta])* $variant:ident($spec:ty),)*) => {
        /// Node model of a scenario: `[node.loggps]` and so on. It dereferences to its model.
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
    /// No costs at the ends.
    Ideal(IdealSpec),
    /// Constant overheads for bands of lengths (LogGP-2), or for each length and call (LogGP-1).
    Loggp(LogGpSpec),
    /// Overheads linear in the length, and rendezvous above a length S.
    Loggps(LogGpsSpec),
    /// The model of the simulator LogGOPSim, with the same results to the nanosecond.
    Loggopsim(LogGopSimSpec),
    /// Costs by size of the ends of messages, from measured steps of a chain or a ping-pong.
    Tabulated(TabulatedSpec),
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
            "[tabulated]\nG = \"1 ns/B\"\nstep = [{ size = \"0 B\", time = \"1 us\" }]",
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
        // s keeps its default of 100 B, so the gap of byte 101 is still Gl.
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
