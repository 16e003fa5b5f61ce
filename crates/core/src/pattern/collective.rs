//! Collectives by the algorithms of MPICH and Open MPI, as programs do them: one call on all ranks.

use std::sync::Arc;

use super::options::{self, finish, rank_below, table, together, too_many, unused};
use super::scheduled::Scheduled;
use super::{Injection, Pattern, Traffic};
use crate::collective::{Algorithm, Call, Like, Operation, Plan, Schedule};
use crate::diagnostic::{Diagnostic, Located, closest};
use crate::units::Bytes;

table! {
    /// `[workload.collective]`: one call of a collective, by the algorithms that programs have for it
    /// (`[collectives]`).
    pub struct CollectiveSpec {
        /// Which operation; "allreduce".
        pub operation: Located<Operation>,
        /// How it is done (default: as the rules choose for this number of ranks and size); "rabenseifner".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub algorithm: Option<Located<Algorithm>>,
        /// Whose rules choose where no algorithm is named: `mpich` (default) or `open-mpi`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub like: Option<Located<Like>>,
        /// The vector of a rank (bcast, reduce, allreduce, scan, exscan), else the block of a rank; a barrier has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub size: Option<Located<Bytes>>,
        /// bcast, reduce, gather, scatter: the root (default rank 0).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub root: Option<Located<u32>>,
        /// Of a bcast or reduce along a named tree: the size of a segment (default 64 KiB in chains and pipelines, else
        /// one piece).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub segment_size: Option<Located<Bytes>>,
        /// `chain`: number of chains (default 4).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub chains: Option<Located<u32>>,
        /// `knomial`: the base (default 4).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub radix: Option<Located<u32>>,
    }
}

impl CollectiveSpec {
    pub(super) fn build(&self, nodes: u32) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
        let mistakes = self.mistakes();
        // With such options no plan can be made.
        let sound = mistakes.is_empty();
        let built = options::ranks(self.ranks, nodes).and_then(|ranks| {
            let root = self.root.as_ref().filter(|_| self.operation.has_root());
            let root = root.map_or(Ok(0), |root| rank_below(root, ranks, "root")).map_err(|wrong| vec![wrong])?;
            if !sound {
                return Ok(None);
            }
            self.pattern(ranks, root).map(Some)
        });
        together(mistakes, built).and_then(|built| built.ok_or_else(Vec::new))
    }

    /// What is wrong with the options, whatever the number of ranks.
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
        let known = Algorithm::of(operation);
        let named = self.algorithm.map(|algorithm| *algorithm);
        if let Some(algorithm) = self.algorithm.as_ref().filter(|algorithm| !known.contains(algorithm)) {
            let names = || known.iter().map(|algorithm| algorithm.name());
            let near = closest(algorithm.name(), names());
            let label = near.map_or_else(|| "not one of them".to_owned(), |near| format!("did you mean `{near}`?"));
            let names: Vec<&str> = names().collect();
            mistakes.push(
                Diagnostic::new("unknown-algorithm", format!("`{}` is no algorithm for {operation}", **algorithm))
                    .at_value(algorithm)
                    .label(label)
                    .help(format!("{operation} can be: {}", names.join(", "))),
            );
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

    /// The pattern, where nothing is wrong with the options but perhaps with the number of ranks.
    fn pattern(&self, ranks: u32, root: u32) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
        let size = self.size.unwrap_or_else(|| Bytes(0).into());
        let call = Call::equal(*self.operation, ranks, size.0).rooted(root).of_usual_elements();
        let plan = match &self.algorithm {
            Some(algorithm) => self.named(&call, algorithm)?,
            None => self.like.map_or(Like::default(), |like| *like).plan(&call),
        };
        let schedule = Schedule::of(&call, plan);
        let rounds = u128::from(schedule.rounds());
        match Scheduled::new(schedule) {
            Some(pattern) => finish(pattern.with_waits(self.injection.is_none()), &size),
            None => Err(vec![match &self.segment_size {
                Some(size) => too_many(size, "steps", rounds).help("write a larger segment size"),
                None => too_many(&size, "steps", rounds),
            }]),
        }
    }

    /// The plan of a named algorithm.
    fn named(&self, call: &Call, algorithm: &Located<Algorithm>) -> Result<Plan, Vec<Diagnostic>> {
        let mut plan = Plan::of(call, **algorithm);
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
        match plan.algorithm {
            Algorithm::Chain => plan.fan = self.chains.map_or(plan.fan, |chains| *chains),
            Algorithm::Knomial => plan.fan = self.radix.map_or(plan.fan, |radix| *radix),
            _ => {}
        }
        if let Some(size) = &self.segment_size {
            plan.segment = Some(size.0);
        }
        Ok(plan)
    }

    pub(super) fn traffic(&self) -> Traffic {
        let starts = self.algorithm.is_none_or(|algorithm| algorithm.starts(*self.operation));
        self.traffic_or(if starts { Injection::All } else { Injection::Queue })
    }

    pub(super) fn title(&self) -> String {
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
        let size = self.size.map_or_else(String::new, |size| format!(", {}", *size));
        let segments = self.segment_size.map_or_else(String::new, |size| format!(" in segments of {}", *size));
        format!("{} {how}{fan}{root}{size}{segments}", *self.operation)
    }
}
