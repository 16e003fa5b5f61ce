//! Regions of MPI and the calls that they stand for.

use super::definitions::{Definitions, MPI, Region};
use super::layout::UNDEFINED;
use crate::trace::calls::Call;

/// A region as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegionKind {
    /// A function of MPI; `None` if it has no counterpart among calls.
    Mpi(Option<Call>),
    /// Any other region.
    Other,
}

/// Returns the kind of a region, by its paradigm and its name, in any case: `MPI_Send`, `mpi_send`.
pub(super) fn kind_of(definitions: &Definitions, region: &Region) -> RegionKind {
    let name = definitions.text(region.name).to_ascii_lowercase();
    let function = name.strip_prefix("mpi_").or_else(|| name.strip_prefix("pmpi_"));
    match function {
        Some("init_thread") => RegionKind::Mpi(Some(Call::Init)),
        Some(function) => match Call::ALL.iter().copied().find(|call| call.name().eq_ignore_ascii_case(function)) {
            // A function of the program.
            None if !matches!(region.paradigm, MPI | UNDEFINED) => RegionKind::Other,
            call => RegionKind::Mpi(call),
        },
        None if region.paradigm == MPI => RegionKind::Mpi(None),
        None => RegionKind::Other,
    }
}

/// Returns the place of a region in the source, with the function around it: `file:line (function)`.
///
/// Archives written here keep the whole name of a call site as the description.
pub(super) fn site_of(definitions: &Definitions, region: &Region, around: Option<&Region>) -> Option<String> {
    let place_of = |region: &Region| {
        let file = definitions.text(region.file);
        let has_line = !matches!(region.line, 0 | UNDEFINED) && region.line <= u32::MAX.into();
        (has_line && !file.is_empty()).then(|| format!("{file}:{}", region.line))
    };
    let around_name = around.map(|around| definitions.text(around.name)).filter(|name| !name.is_empty());
    if let Some(place) = place_of(region) {
        let description = definitions.text(region.description);
        return Some(match around_name {
            _ if hayase_trace::names::place(description) == place => description.to_owned(),
            Some(function) => format!("{place} ({function})"),
            None => place,
        });
    }
    let function = around_name?;
    Some(match around.and_then(place_of) {
        Some(place) => format!("{place} ({function})"),
        None => function.to_owned(),
    })
}
