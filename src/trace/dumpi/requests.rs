//! Requests of a rank, and the results of its receives, which a later call records.

use rustc_hash::FxHashMap;

use super::record::{Record, Records, Status};
use crate::trace::calls::{Call, CallKind};
use crate::trace::fault::Fault;

/// Number of the request that is none.
pub(super) const REQUEST_NULL: i32 = 1;

/// Returns the requests that a call completes, each with its result if that is recorded.
pub(super) fn completed(record: &Record) -> Vec<(i32, Option<Status>)> {
    let Record { numbers, arrays, statuses, function, .. } = record;
    let status = |at: usize| statuses.get(at).copied();
    let at = |index: i32| usize::try_from(index).ok().and_then(|index| arrays[0].get(index).copied());
    let all = || arrays[0].iter().enumerate().map(|(at, &request)| (request, status(at))).collect();
    match function.call {
        Some(Call::Wait) => vec![(numbers[0], status(0))],
        Some(Call::Test) if numbers[1] != 0 => vec![(numbers[0], status(0))],
        Some(Call::Waitall) => all(),
        Some(Call::Testall) if numbers[1] != 0 => all(),
        Some(Call::Waitany) => at(numbers[1]).map(|request| (request, status(0))).into_iter().collect(),
        Some(Call::Testany) if numbers[2] != 0 => at(numbers[1]).map(|one| (one, status(0))).into_iter().collect(),
        Some(Call::Waitsome | Call::Testsome) => {
            let done = arrays[1].iter().enumerate().filter_map(|(place, &index)| Some((at(index)?, status(place))));
            done.collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the requests that a call starts.
pub(super) fn started(record: &Record) -> &[i32] {
    match record.function.call {
        Some(Call::Start) => &record.numbers[..1],
        Some(Call::Startall) => &record.arrays[0],
        _ => &[],
    }
}

/// Results of the non-blocking receives of a rank, in the order in which the receives began: `Irecv` and starts
/// of persistent ones.
#[derive(Debug, Default)]
pub(super) struct Results {
    of: Vec<Option<Status>>,
}

impl Results {
    /// Reads the results ahead, up to the end of the records or the first fault, which the reader of the calls
    /// reports.
    pub fn read(mut records: Records<'_>) -> Self {
        let mut results = Self::default();
        let (mut persistent, mut active) = (FxHashMap::default(), FxHashMap::default());
        let mut step = |record: &Record| match record.function.call.map(Call::kind) {
            Some(CallKind::Irecv) => {
                active.insert(record.numbers[5], results.of.len());
                results.of.push(None);
            }
            Some(CallKind::RecvInit | CallKind::SendInit) => {
                persistent.insert(record.numbers[5], record.function.call == Some(Call::RecvInit));
            }
            Some(CallKind::Isend) => drop(active.remove(&record.numbers[5])),
            Some(CallKind::Start) => {
                for &request in started(record).iter().filter(|request| persistent.get(request) == Some(&true)) {
                    active.insert(request, results.of.len());
                    results.of.push(None);
                }
            }
            _ => {
                for (request, status) in completed(record) {
                    if let (Some(at), Some(status)) = (active.remove(&request), status) {
                        results.of[at] = Some(status);
                    }
                }
            }
        };
        while let Ok(Some(record)) = records.next() {
            step(record);
        }
        results
    }

    /// Returns the result of a receive by its number.
    pub fn get(&self, number: usize) -> Option<Status> {
        self.of.get(number).copied().flatten()
    }
}

/// Passes all records to `take`.
pub(super) fn each(mut records: Records<'_>, mut take: impl FnMut(&Record) -> Result<(), Fault>) -> Result<(), Fault> {
    while let Some(record) = records.next()? {
        take(record)?;
    }
    Ok(())
}
