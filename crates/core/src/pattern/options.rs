//! Options that the tables of all patterns share, and their checks.

use std::sync::Arc;

use super::Pattern;
use super::arith::balanced;
use super::rule::BuildResult;
use crate::base::choice::choice;
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Bytes;

/// Declares the table of a pattern: its own options, followed by those that every pattern has.
macro_rules! table {
    ($(#[$meta:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $(#[$meta])*
        #[spec]
        pub struct $name {
            $($own)*
            /// Number of ranks (default: one for each node of the fabric).
            pub ranks: Option<crate::diagnostic::Located<u32>>,
            /// Rule by which a rank sends its next message (default: depends on the pattern, mostly `queue`).
            pub injection: Option<crate::diagnostic::Located<crate::pattern::Injection>>,
            /// Upper bound of the random start offset of each rank (default: all start at once).
            #[serde(default)]
            pub message_jitter: crate::diagnostic::Located<crate::units::Time>,
            /// Time that the barrier after each step takes with `injection = "barrier"` (default 0).
            #[serde(default, skip_serializing_if = "crate::diagnostic::Located::is_default")]
            pub barrier_cost: crate::diagnostic::Located<crate::units::Time>,
        }

        impl crate::pattern::rule::Table for $name {
            fn written_ranks(&self) -> Option<u32> {
                self.ranks.map(|ranks| *ranks)
            }

            fn traffic_or(&self, usual: crate::pattern::Injection) -> crate::pattern::Traffic {
                crate::pattern::Traffic {
                    injection: self.injection.unwrap_or_else(|| usual.into()),
                    message_jitter: self.message_jitter,
                    barrier_cost: self.barrier_cost,
                }
            }
        }
    };
}

pub(super) use table;

/// Combines earlier mistakes with the result of a build: returns the built value if there are no mistakes,
/// else all mistakes.
pub(super) fn combine_mistakes<T>(
    mut mistakes: Vec<Diagnostic>,
    built: Result<T, Vec<Diagnostic>>,
) -> Result<T, Vec<Diagnostic>> {
    match built {
        Ok(built) if mistakes.is_empty() => Ok(built),
        Ok(_) => Err(mistakes),
        Err(more) => {
            mistakes.extend(more);
            Err(mistakes)
        }
    }
}

choice! {
    /// Data of a collective that a size counts.
    pub enum SizeOf {
        /// The block of one rank, or of one pair of ranks.
        Block = "block",
        /// The whole vector: one block for each rank.
        Vector = "vector",
    }
}

/// Returns the size in the usual measure of a collective: `size` times or divided by the number of ranks, if it is
/// written in the other one.
pub(super) fn resized(
    size: &Located<Bytes>,
    size_of: Option<&Located<SizeOf>>,
    usual: SizeOf,
    ranks: u32,
) -> Result<Located<Bytes>, Vec<Diagnostic>> {
    let (bytes, count) = (size.0, u64::from(ranks.max(1)));
    let resized = match size_of.map(|size_of| **size_of).filter(|size_of| *size_of != usual) {
        None => Ok(bytes),
        Some(SizeOf::Vector) if bytes.is_multiple_of(count) => Ok(bytes / count),
        Some(SizeOf::Vector) => {
            let lower = bytes / count * count;
            Err(Diagnostic::new("wrong-value", format!("{bytes} B are no {ranks} blocks of whole bytes"))
                .help(format!("write \"{lower} B\" or \"{} B\"", lower.saturating_add(count))))
        }
        Some(SizeOf::Block) => bytes
            .checked_mul(count)
            .ok_or_else(|| Diagnostic::new("wrong-value", format!("{ranks} blocks of {bytes} B are too long"))),
    };
    match resized {
        Ok(bytes) => Ok(size.span().map_or_else(|| Bytes(bytes).into(), |span| Located::new(Bytes(bytes), span))),
        Err(mistake) => Err(vec![mistake.at_value(size)]),
    }
}

/// Returns the size of a title: "64 KiB", or "vectors of 64 KiB" if `size-of` says what it counts.
pub(super) fn shown_size(size: Bytes, size_of: Option<&Located<SizeOf>>) -> String {
    size_of.map_or_else(|| size.to_string(), |size_of| format!("{}s of {size}", **size_of))
}

/// Returns the default of options that count repetitions.
pub(super) fn once() -> Located<u32> {
    1.into()
}

/// Returns the rank that an option names, or a mistake if it is not below `ranks`.
pub(super) fn rank_below(rank: &Located<u32>, ranks: u32, option: &str) -> Result<u32, Diagnostic> {
    if **rank < ranks {
        return Ok(**rank);
    }
    Err(Diagnostic::new("unknown-rank", format!("there is no rank {} among {ranks}", **rank))
        .at_value(rank)
        .label(format!("a rank from 0 to {}", ranks - 1))
        .help(format!("write `{option} = {}` or less", ranks - 1)))
}

/// Returns the lengths of a grid that holds all ranks: as written, else factors of `ranks` as equal as
/// possible.
pub(super) fn dims(written: Option<&Located<Vec<u32>>>, count: usize, ranks: u32) -> Result<Vec<u32>, Diagnostic> {
    let Some(written) = written else {
        return Ok(balanced(ranks, count));
    };
    let product = written.iter().try_fold(1u32, |product, &d| product.checked_mul(d));
    if product == Some(ranks) {
        return Ok((**written).clone());
    }
    let told = match product {
        Some(product) => format!("their product is {product}"),
        None => "their product is far larger".into(),
    };
    let suggested = balanced(ranks, written.len().max(1));
    Err(Diagnostic::new("bad-dims", format!("{} do not hold {ranks} ranks", show_dims(written)))
        .at_value(written)
        .label(told)
        .help(format!("write `dims = {suggested:?}`, or another product of {ranks}, or give the `ranks` they hold")))
}

/// Returns the number of dimensions of a grid: as written, else as many as `dims` has, else `usual`.
pub(super) fn dimensions(
    written: Option<&Located<u32>>,
    dims: Option<&Located<Vec<u32>>>,
    usual: u32,
    most: u32,
) -> Result<usize, Diagnostic> {
    let wrong = |at: Diagnostic| at.label(format!("a grid has from 1 to {most} dimensions here"));
    let given = dims.map(|dims| dims.len());
    match (written, dims) {
        (Some(written), _) if !(1..=most).contains(&**written) => Err(wrong(
            Diagnostic::new("bad-dims", format!("a grid of {} dimensions", **written))
                .at_value(written)
                .help(format!("write `dimensions = {usual}`")),
        )),
        (Some(written), Some(dims)) if dims.len() != **written as usize => Err(Diagnostic::new(
            "bad-dims",
            format!("`dims` has {} lengths and `dimensions` is {}", dims.len(), **written),
        )
        .at_value(written)
        .label("contradicts `dims`")
        .help(format!("leave `dimensions` out, or write `dimensions = {}`", dims.len()))),
        (None, Some(dims)) if !(1..=most as usize).contains(&dims.len()) => Err(wrong(
            Diagnostic::new("bad-dims", format!("a grid of {} dimensions", dims.len()))
                .at_value(dims)
                .help("write `dims = [4, 4]`"),
        )),
        _ => Ok(given.unwrap_or(written.map_or(usual, |written| **written) as usize)),
    }
}

/// Formats dimensions: `4x4x2`.
pub(super) fn show_dims(dims: &[u32]) -> String {
    let dims: Vec<String> = dims.iter().map(u32::to_string).collect();
    if dims.is_empty() { "no dimensions".into() } else { dims.join("x") }
}

/// Formats a number of rounds: `, 3 rounds`, or nothing for one.
pub(super) fn show_rounds(rounds: u32) -> String {
    if rounds == 1 { String::new() } else { format!(", {rounds} rounds") }
}

/// Reports an option that has no effect with the chosen algorithm.
pub(super) fn unused<T>(value: &Located<T>, option: &str, chosen: &str, meant_for: &str) -> Diagnostic {
    Diagnostic::new("unused-option", format!("`{option}` has no meaning for {chosen}"))
        .at_value(value)
        .label(format!("only for {meant_for}"))
        .help(format!("leave `{option}` out, or choose {meant_for}"))
}

/// Reports a count that does not fit the 32 bits of indices and steps.
pub(super) fn too_many<T>(value: &Located<T>, what: &str, count: u128) -> Diagnostic {
    Diagnostic::new("too-many", format!("{count} {what} are too many to count"))
        .at_value(value)
        .label(format!("at most {} {what}", u32::MAX))
        .help("write a smaller number")
}

/// Finishes a pattern, if its total number of bytes fits in 64 bits.
pub(super) fn finish<T>(pattern: impl Pattern + 'static, size: &Located<T>) -> BuildResult {
    let bytes = pattern.bytes();
    if bytes <= u128::from(u64::MAX) {
        return Ok(Arc::new(pattern));
    }
    Err(vec![
        Diagnostic::new("too-much-data", format!("{bytes} bytes in all are more than can be counted"))
            .at_value(size)
            .label(format!("at most {} bytes in all", u64::MAX))
            .help("write a smaller size"),
    ])
}
