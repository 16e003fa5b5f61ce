//! The table `[collectives]` of a scenario: algorithms of the collectives.

use super::algorithm::{Algorithm, Plan};
use super::call::{Call, Operation};
use super::combine::{CombineRates, WorkRates};
use super::rules;
use crate::base::choice::choice;
use crate::diagnostic::{Diagnostic, Located, closest};
use crate::units::{Bandwidth, Bytes, PerByte};

choice! {
    /// MPI library whose rules choose an algorithm if none is named.
    pub enum Like {
        /// MPICH, with the defaults of its tuning variables.
        Mpich = "mpich",
        /// Open MPI, with its `tuned` component.
        OpenMpi = "open-mpi",
    }
}

#[expect(clippy::derivable_impls, reason = "a choice has no attributes on its words")]
impl Default for Like {
    fn default() -> Self {
        Self::Mpich
    }
}

impl Like {
    /// Returns the plan that its rules choose for a call.
    pub fn plan(self, call: &Call) -> Plan {
        match self {
            Self::Mpich => rules::mpich::plan(call),
            Self::OpenMpi => rules::open_mpi::plan(call),
        }
    }
}

macro_rules! spec {
    ($($(#[$doc:meta])* $field:ident = $collective:ident,)*) => {
        /// Algorithms of the collectives: the library whose rules choose them, and exceptions by name.
        #[spec(partial, Default)]
        pub struct CollectivesSpec {
            /// MPI library whose rules choose: `mpich` (the default) or `open-mpi`.
            pub like: Like,
            $(
                $(#[$doc])*
                pub $field: Option<Located<String>>,
            )*
            /// Size of a segment along named trees (default 64 KiB in chains and pipelines, else one piece).
            pub segment_size: Option<Located<Bytes>>,
            /// Rate at which a rank combines operands of reductions, or a list of rates by the size of the vector,
            /// of which only the last has no `to` (default: combining is free).
            pub combine: Option<Located<CombineRates>>,
            /// Time per byte to touch memory for the first time, in buffers that a call allocates (default: none).
            /// These are for blocks of other ranks in gathers and scatters along trees, for each vector that arrives
            /// in a reduce along a tree, and for the vector in allreduces and reduce-scatters.
            pub fresh: Option<Located<PerByte>>,
            /// Longest vector whose buffers are there already, so that `fresh` does not apply (default 0 B).
            pub fresh_above: Option<Located<Bytes>>,
            /// Rate at which blocks are copied where Bruck's algorithms pack, unpack and turn them (default: at once).
            pub pack: Option<Located<Bandwidth>>,
            /// Number of chains of `chain` (default 4).
            pub chains: Option<Located<u32>>,
            /// Radix of `knomial` (default 4).
            pub radix: Option<Located<u32>>,
        }

        impl CollectivesSpec {
            /// Returns the algorithm named for a collective.
            fn named(&self, collective: Operation) -> Option<&Located<String>> {
                match collective {
                    $(Operation::$collective => self.$field.as_ref(),)*
                }
            }

            /// Returns the algorithm named for a collective, mutably.
            pub fn named_mut(&mut self, collective: Operation) -> &mut Option<Located<String>> {
                match collective {
                    $(Operation::$collective => &mut self.$field,)*
                }
            }
        }
    };
}

spec! {
    /// Algorithm of barriers: `dissemination`, `recursive-doubling`, `ring`, `binomial`, `linear`, `bruck`.
    barrier = Barrier,
    /// Algorithm of broadcasts: `binomial`, `scatter-allgather`, `scatter-ring`, `knomial`, `binary`,
    /// `chain`, `pipeline`, `linear`.
    bcast = Bcast,
    /// Algorithm of reduces: `binomial`, `rabenseifner`, `knomial`, `binary`, `in-order-binary`, `chain`,
    /// `pipeline`, `linear`.
    reduce = Reduce,
    /// Algorithm of allreduces: `recursive-doubling`, `rabenseifner`, `ring`, `reduce-bcast`, `linear`.
    allreduce = Allreduce,
    /// Algorithm of gathers: `binomial`, `linear`, `linear-nonblocking`, `linear-sync`.
    gather = Gather,
    /// Algorithm of gathervs: `linear`, `linear-nonblocking`, `linear-sync`.
    gatherv = Gatherv,
    /// Algorithm of scatters: `binomial`, `linear`, `linear-nonblocking`.
    scatter = Scatter,
    /// Algorithm of scattervs: `linear`, `linear-nonblocking`.
    scatterv = Scatterv,
    /// Algorithm of allgathers: `recursive-doubling`, `bruck`, `ring`, `neighbor-exchange`, `linear`.
    allgather = Allgather,
    /// Algorithm of allgathervs: `recursive-doubling`, `bruck`, `ring`, `neighbor-exchange`, `linear`.
    allgatherv = Allgatherv,
    /// Algorithm of alltoalls: `bruck`, `pairwise`, `simple-spread`, `scattered`, `linear`.
    alltoall = Alltoall,
    /// Algorithm of alltoallvs: `pairwise`, `simple-spread`, `scattered`, `linear`.
    alltoallv = Alltoallv,
    /// Algorithm of reduce-scatters: `recursive-halving`, `recursive-doubling`, `pairwise`, `ring`,
    /// `reduce-then-scatter`.
    reduce_scatter = ReduceScatter,
    /// Algorithm of reduce-scatters of equal blocks: `recursive-halving`, `recursive-doubling`,
    /// `interleaved`, `pairwise`, `ring`, `reduce-then-scatter`.
    reduce_scatter_block = ReduceScatterBlock,
    /// Algorithm of scans: `recursive-doubling`, `linear`.
    scan = Scan,
    /// Algorithm of exscans: `recursive-doubling`, `linear`.
    exscan = Exscan,
}

impl CollectivesSpec {
    /// Returns the mistakes of the table.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        for &collective in Operation::ALL {
            let Some(named) = self.named(collective) else { continue };
            mistakes.extend(unknown_algorithm(collective, named).map(|mistake| mistake.at_value(named)));
        }
        let too_few = |value: &Option<Located<u32>>, least: u32, what: &str| {
            value.as_ref().filter(|value| ***value < least).map(|value| {
                Diagnostic::new("bad-collectives", format!("{what} of {}", **value))
                    .at_value(value)
                    .label(format!("at least {least}"))
            })
        };
        mistakes.extend(too_few(&self.chains, 1, "a number of chains"));
        mistakes.extend(too_few(&self.radix, 2, "a base"));
        if let Some(rates) = &self.combine {
            mistakes.extend(rates.mistake().map(|mistake| mistake.at_value(rates)));
        }
        if let Some(rate) = self.pack.as_ref().filter(|rate| rate.bytes_per_second() == 0.0) {
            let never = Diagnostic::new("bad-collectives", "blocks that are packed at no speed").label("above 0");
            mistakes.push(never.at_value(rate).help("leave it out to pack at once"));
        }
        if let Some(size) = self.segment_size.as_ref().filter(|size| size.0 == 0) {
            let empty = Diagnostic::new("bad-collectives", "a segment of no bytes");
            mistakes.push(empty.at_value(size).label("at least 1 B").help("write `segment-size = \"64 KiB\"`"));
        }
        mistakes
    }

    /// Returns the work that a call of a vector of this size does on its data.
    pub fn rates(&self, bytes: u64) -> WorkRates {
        let above = self.fresh_above.as_ref().map_or(0, |above| above.0);
        let fresh = self.fresh.as_ref().filter(|_| bytes > above).map_or(PerByte::ZERO, |fresh| **fresh);
        let pack = self.pack.as_ref().map_or(PerByte::ZERO, |rate| PerByte::from_ps(1e12 / rate.bytes_per_second()));
        WorkRates { fresh, pack, ..self.combine.as_ref().map_or_else(WorkRates::default, |rates| rates.of(bytes)) }
    }

    /// Returns true if an algorithm is named for a collective.
    pub fn names(&self, collective: Operation) -> bool {
        self.named(collective).is_some()
    }

    /// Returns the plan of a call. A name that [`CollectivesSpec::check`] would reject is ignored.
    pub fn plan(&self, call: &Call) -> Plan {
        let named = self.named(call.collective).and_then(|named| {
            Algorithm::of(call.collective).iter().find(|algorithm| algorithm.name() == named.as_str())
        });
        let Some(&algorithm) = named else {
            return self.like.plan(call);
        };
        let (chains, radix) = (self.chains.map(|chains| (*chains).max(1)), self.radix.map(|radix| (*radix).max(2)));
        Plan::of(call, algorithm).with(chains, radix, self.segment_size.map(|size| size.0.max(1)))
    }
}

/// Reports a name that is not an algorithm of the collective; `None` if it is one.
pub fn unknown_algorithm(collective: Operation, named: &str) -> Option<Diagnostic> {
    let names: Vec<&str> = Algorithm::of(collective).iter().map(|algorithm| algorithm.name()).collect();
    if names.contains(&named) {
        return None;
    }
    let message = match Algorithm::ALL.iter().any(|algorithm| algorithm.name() == named) {
        true => format!("`{named}` is not an algorithm for {collective}"),
        false => format!("unknown algorithm \"{named}\""),
    };
    let near = closest(named, names.iter().copied());
    let label = near.map_or_else(|| "not one of them".to_owned(), |near| format!("did you mean `{near}`?"));
    let help = format!("{collective} can be: {}", names.join(", "));
    Some(Diagnostic::new("unknown-algorithm", message).label(label).help(help))
}
