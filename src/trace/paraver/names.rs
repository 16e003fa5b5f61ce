//! Values of MPI events, as Extrae numbers them.
//!
//! Source: Extrae, `src/merger/paraver/MPI_EventEncoding.h` (`MPIVal`) and `src/common/events.h`.

use crate::trace::calls::Call;

/// Types of events: calls of messages, collectives, others, one-sided communication, files.
pub(super) const TYPES: std::ops::RangeInclusive<u64> = 50_000_001..=50_000_005;
/// Types of the facts about a collective: bytes sent and received, 1 at the root, communicator.
pub(super) const SENT: u64 = 50_100_001;
pub(super) const RECEIVED: u64 = 50_100_002;
pub(super) const ROOT: u64 = 50_100_003;
pub(super) const COMMUNICATOR: u64 = 50_100_004;

/// Calls by value. Those that are not here are local, and their time is computation.
const CALLS: &str = "\
    1:Send 2:Recv 3:Isend 4:Irecv 5:Wait 6:Waitall 7:Bcast 8:Barrier 9:Reduce 10:Allreduce 11:Alltoall 12:Alltoallv \
    13:Gather 14:Gatherv 15:Scatter 16:Scatterv 17:Allgather 18:Allgatherv 30:Scan 31:Init 32:Finalize 33:Bsend \
    34:Ssend 35:Rsend 36:Ibsend 37:Issend 38:Irsend 39:Test 41:Sendrecv 42:Sendrecv_replace 59:Waitany 60:Waitsome \
    61:Iprobe 62:Iprobe 80:Reduce_scatter 123:Start 124:Startall 125:Testall 126:Testany 128:Testsome 154:Ireduce \
    155:Iallreduce 156:Ibarrier 157:Ibcast 158:Ialltoall 159:Ialltoallv 160:Iallgather 161:Iallgatherv 162:Igather \
    163:Igatherv 164:Iscatter 165:Iscatterv 166:Ireduce_scatter 167:Iscan 168:Reduce_scatter_block \
    169:Ireduce_scatter_block 170:Alltoallw 171:Ialltoallw 190:Iprobe 191:Iprobe 192:Mrecv 193:Imrecv 214:Exscan \
    215:Iexscan";
/// Values of calls whose effects are not in a trace: communicators are made together, neighbours exchange.
const OPAQUE: [std::ops::RangeInclusive<u64>; 6] = [21..=23, 43..=43, 49..=49, 54..=54, 96..=97, 173..=183];
/// Types of one-sided communication and files.
const OPAQUE_TYPES: std::ops::RangeInclusive<u64> = 50_000_004..=50_000_005;

/// Calls by type and value.
#[derive(Debug)]
pub(super) struct Names {
    of: Vec<Option<Call>>,
}

impl Names {
    pub fn new() -> Self {
        let mut of = vec![None; 256];
        for (value, name) in CALLS.split_whitespace().filter_map(|entry| entry.split_once(':')) {
            if let Some(slot) = value.parse().ok().and_then(|value: usize| of.get_mut(value)) {
                *slot = Call::from_name(name);
            }
        }
        Self { of }
    }

    /// Returns the call of an event; `None` if its time is computation.
    pub fn call(&self, kind: u64, value: u64) -> Option<Call> {
        if OPAQUE_TYPES.contains(&kind) || OPAQUE.iter().any(|values| values.contains(&value)) {
            return Some(Call::Opaque);
        }
        self.of.get(usize::try_from(value).ok()?).copied().flatten()
    }
}
