//! Collectives by the algorithms of MPICH and Open MPI, as programs perform them: one call on all ranks.

use super::Injection;
use super::options::{SizeOf, combine_mistakes, finish, rank_below, resized, shown_size, table, too_many, unused};
use super::rule::{BuildContext, BuildResult, Rule};
use super::scheduled::Scheduled;
use crate::collective::{Algorithm, Call, Like, Operation, Plan, Schedule, unknown_algorithm};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Bytes;

table! {
    /// `[workload.collective]`: one call of a collective, by the same algorithms as in programs
    /// (`[collectives]`).
    pub struct CollectiveSpec {
        /// Collective operation; "allreduce".
        pub operation: Located<Operation>,
        /// Algorithm (default: chosen by the rules for this number of ranks and size). One that does not
        /// suit the number of ranks is refused; "rabenseifner".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub algorithm: Option<Located<Algorithm>>,
        /// Library whose rules choose the algorithm if none is named: `mpich` (default) or `open-mpi`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub like: Option<Located<Like>>,
        /// Size of a rank's vector (bcast, reduce, allreduce, scan, exscan), else of a rank's block; not for
        /// a barrier.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub size: Option<Located<Bytes>>,
        /// Data that `size` counts: a `block` or the whole `vector`, which is a block for each rank (default: `vector`
        /// for bcast, reduce, allreduce, scan and exscan, else `block`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub size_of: Option<Located<SizeOf>>,
        /// bcast, reduce, gather, scatter: root (default rank 0).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub root: Option<Located<u32>>,
        /// bcast or reduce along a named tree: size of a segment (default 64 KiB in chains and pipelines,
        /// else one piece).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub segment_size: Option<Located<Bytes>>,
        /// `chain`: number of chains (default 4).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub chains: Option<Located<u32>>,
        /// `knomial`: radix of the tree (default 4).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub radix: Option<Located<u32>>,
    }
}

impl Rule for CollectiveSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let mistakes = self.mistakes();
        // Wrong options allow no plan.
        let sound = mistakes.is_empty();
        let built = context.ranks(self.ranks).and_then(|ranks| {
            let root = self.root.as_ref().filter(|_| self.operation.has_root());
            let root = root.map_or(Ok(0), |root| rank_below(root, ranks, "root")).map_err(|wrong| vec![wrong])?;
            if !sound {
                return Ok(None);
            }
            self.pattern(ranks, root).map(Some)
        });
        combine_mistakes(mistakes, built).and_then(|built| built.ok_or_else(Vec::new))
    }

    fn usual_injection(&self) -> Injection {
        let starts = self.algorithm.is_none_or(|algorithm| algorithm.starts(*self.operation));
        if starts { Injection::All } else { Injection::Queue }
    }

    fn title(&self) -> String {
        let how = match (&self.algorithm, &self.like) {
            (Some(algorithm), _) => format!("{}", **algorithm),
            (None, like) => format!("as {} chooses", like.map_or(Like::default(), |like| *like)),
        };
        let fan = match (&self.chains, &self.radix) {
            (Some(chains), _) => format!(" of {}", **chains),
            (_, Some(radix)) => format!(" in base {}", **radix),
            _ => String::new(),
        };
        let root = self.root.filter(|root| **root > 0).map_or_else(String::new, |root| format!(" at rank {}", *root));
        let size = self.size.map_or_else(String::new, |size| format!(", {}", shown_size(*size, self.size_of.as_ref())));
        let segments = self.segment_size.map_or_else(String::new, |size| format!(" in segments of {}", *size));
        format!("{} {how}{fan}{root}{size}{segments}", *self.operation)
    }
}

impl CollectiveSpec {
    /// Returns the mistakes of the options that do not depend on the number of ranks.
    fn mistakes(&self) -> Vec<Diagnostic> {
        let operation = *self.operation;
        let mut mistakes = Vec::new();
        match &self.size {
            None if operation != Operation::Barrier => mistakes.push(
                Diagnostic::new("missing-size", format!("`{operation}` without a size"))
                    .at_value(&self.operation)
                    .label("needs `size`")
                    .help("write `size = \"1 MB\"`"),
            ),
            Some(size) if operation == Operation::Barrier && size.0 > 0 => {
                mistakes.push(unused(size, "size", "operation \"barrier\"", "operations that move data"));
            }
            _ => {}
        }
        let of_operation = format!("operation \"{operation}\"");
        if let Some(root) = self.root.as_ref().filter(|_| !operation.has_root()) {
            mistakes.push(unused(root, "root", &of_operation, "bcast, reduce, gather and scatter"));
        }
        let named = self.algorithm.map(|algorithm| *algorithm);
        if let Some(algorithm) = &self.algorithm {
            let mistake = unknown_algorithm(operation, algorithm.name());
            mistakes.extend(mistake.map(|mistake| mistake.at_value(algorithm)));
        }
        let chosen = match named {
            Some(algorithm) => format!("{operation} by algorithm \"{algorithm}\""),
            None => format!("{operation} without an algorithm"),
        };
        if let Some(like) = self.like.as_ref().filter(|_| named.is_some()) {
            mistakes.push(
                Diagnostic::new("unused-option", format!("`like` has no meaning for {chosen}"))
                    .at_value(like)
                    .label("rules choose where no algorithm is named")
                    .help("leave `like` or `algorithm` out"),
            );
        }
        let on_tree =
            matches!(operation, Operation::Bcast | Operation::Reduce) && named.is_some_and(Algorithm::is_tree);
        match &self.segment_size {
            Some(size) if !on_tree => {
                mistakes.push(unused(size, "segment-size", &chosen, "bcast and reduce along a named tree"));
            }
            Some(size) if size.0 == 0 => mistakes.push(
                Diagnostic::new("no-segments", "`segment-size` is zero")
                    .at_value(size)
                    .label("must be more than 0")
                    .help("write `segment-size = \"64 KiB\"`"),
            ),
            _ => {}
        }
        let mut number = |value: &Option<Located<u32>>, option: &str, only: Algorithm, least: u32| {
            let Some(value) = value else { return };
            if named != Some(only) {
                mistakes.push(unused(value, option, &chosen, &format!("algorithm \"{only}\"")));
            } else if **value < least {
                mistakes.push(
                    Diagnostic::new("wrong-value", format!("`{option}` of {}", **value))
                        .at_value(value)
                        .label(format!("at least {least}"))
                        .help(format!("write `{option} = 4`")),
                );
            }
        };
        number(&self.chains, "chains", Algorithm::Chain, 1);
        number(&self.radix, "radix", Algorithm::Knomial, 2);
        mistakes
    }

    /// Builds the pattern from correct options; the number of ranks may still be wrong.
    fn pattern(&self, ranks: u32, root: u32) -> BuildResult {
        let usual = if self.operation.is_of_vectors() { SizeOf::Vector } else { SizeOf::Block };
        let size = resized(&self.size.unwrap_or_else(|| Bytes(0).into()), self.size_of.as_ref(), usual, ranks)?;
        let call = Call::equal(*self.operation, ranks, size.0).rooted(root).of_usual_elements();
        let plan = match &self.algorithm {
            Some(algorithm) => self.named(&call, algorithm)?,
            None => self.like.map_or(Like::default(), |like| *like).plan(&call),
        };
        let schedule = Schedule::of(&call, plan);
        let rounds = u128::from(schedule.rounds());
        match Scheduled::new(schedule, Some(plan)) {
            Some(pattern) => finish(pattern.with_waits(self.injection.is_none()), &size),
            None => Err(vec![match &self.segment_size {
                Some(size) => too_many(size, "steps", rounds).help("write a larger segment size"),
                None => too_many(&size, "steps", rounds),
            }]),
        }
    }

    /// Returns the plan of a named algorithm.
    fn named(&self, call: &Call, algorithm: &Located<Algorithm>) -> Result<Plan, Vec<Diagnostic>> {
        let plan = Plan::of(call, **algorithm);
        if plan.algorithm != **algorithm && call.ranks > 1 {
            let (operation, ranks, instead) = (call.collective, call.ranks, plan.algorithm);
            let needs = match **algorithm {
                Algorithm::NeighborExchange => "needs an even number of ranks",
                _ => "needs a power of two of ranks",
            };
            return Err(vec![
                Diagnostic::new(
                    "not-for-ranks",
                    format!("{operation} by {} is not defined for {ranks} ranks", **algorithm),
                )
                .at_value(algorithm)
                .label(needs)
                .help(format!("write `algorithm = \"{instead}\"`, which programs take in its place")),
            ]);
        }
        let (chains, radix) = (self.chains.map(|chains| *chains), self.radix.map(|radix| *radix));
        Ok(plan.with(chains, radix, self.segment_size.map(|size| size.0)))
    }
}
