//! Collective operations among neighbours of a topology.
//!
//! The trace has them as the messages that they are: a receive from each source, a send to each destination, and a wait
//! for all. Their tags are at the upper end, one for each direction of a grid, so that two neighbours who
//! are one and the same rank are told apart.

use std::ffi::{c_int, c_void};

use hayase_mpi::{Handle, SUCCESS};
use hayase_trace::{Call, Event};

use super::collective_blocks::Types;
use super::{enter, pass_on};
use crate::entry::export;
use crate::recorder::Recorder;
use crate::recorder::requests::Request;
use crate::token::Wait;

export! {
    MPI_Neighbor_allgather 7 neighbor_allgather;
    MPI_Neighbor_allgatherv 8 neighbor_allgatherv;
    MPI_Neighbor_alltoall 7 neighbor_alltoall;
    MPI_Neighbor_alltoallv 9 neighbor_alltoallv;
    MPI_Neighbor_alltoallw 9 neighbor_alltoallw;
    MPI_Ineighbor_allgather 8 ineighbor_allgather;
    MPI_Ineighbor_allgatherv 9 ineighbor_allgatherv;
    MPI_Ineighbor_alltoall 8 ineighbor_alltoall;
    MPI_Ineighbor_alltoallv 10 ineighbor_alltoallv;
    MPI_Ineighbor_alltoallw 10 ineighbor_alltoallw;
}

/// The tag of the first direction; the others go down from there.
const TAG: i32 = i32::MAX;

/// One neighbour: its rank, and the tag of messages from or to it.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    rank: c_int,
    tag: i32,
}

/// Neighbours, in the order of MPI.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    sources: Vec<Neighbour>,
    destinations: Vec<Neighbour>,
}

/// How many elements of what go to or come from each neighbour.
enum Blocks {
    Same(c_int, Handle),
    Counts(*const c_int, Types),
}

impl Recorder {
    /// The neighbours of this rank in the topology of a communicator.
    fn neighbours(&self, comm: Handle) -> Neighbours {
        let (abi, mpi) = (self.abi, self.mpi);
        let mut found = Neighbours::default();
        let plain = |ranks: Vec<c_int>| ranks.into_iter().map(|rank| Neighbour { rank, tag: TAG }).collect::<Vec<_>>();
        let room = |count: c_int| vec![abi.proc_null; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the communicator is the program's; there is room for as many answers as MPI has said.
        unsafe {
            let mut topology = abi.undefined;
            (mpi.topo_test)(comm, &raw mut topology);
            if topology == abi.cart {
                let mut dimensions = 0;
                (mpi.cartdim_get)(comm, &raw mut dimensions);
                for dimension in 0..dimensions {
                    let (mut low, mut high) = (abi.proc_null, abi.proc_null);
                    (mpi.cart_shift)(comm, dimension, 1, &raw mut low, &raw mut high);
                    let (down, up) = (TAG - 2 * dimension, TAG - 2 * dimension - 1);
                    // What the lower neighbour sends goes up.
                    found.sources.extend([Neighbour { rank: low, tag: up }, Neighbour { rank: high, tag: down }]);
                    found.destinations.extend([Neighbour { rank: low, tag: down }, Neighbour { rank: high, tag: up }]);
                }
            } else if topology == abi.graph {
                let (mut me, mut count) = (0, 0);
                (mpi.comm_rank)(comm, &raw mut me);
                (mpi.graph_neighbors_count)(comm, me, &raw mut count);
                let mut ranks = room(count);
                (mpi.graph_neighbors)(comm, me, count, ranks.as_mut_ptr());
                found.sources = plain(ranks);
                found.destinations.clone_from(&found.sources);
            } else if topology == abi.dist_graph {
                let (mut come, mut go, mut weighted) = (0, 0, 0);
                (mpi.dist_graph_neighbors_count)(comm, &raw mut come, &raw mut go, &raw mut weighted);
                let (mut sources, mut destinations) = (room(come), room(go));
                let (mut from, mut to) = (room(come), room(go));
                (mpi.dist_graph_neighbors)(
                    comm,
                    come,
                    sources.as_mut_ptr(),
                    from.as_mut_ptr(),
                    go,
                    destinations.as_mut_ptr(),
                    to.as_mut_ptr(),
                );
                found.sources = plain(sources);
                found.destinations = plain(destinations);
            }
        }
        found
    }

    /// Bytes of the block of neighbour `i`.
    fn block_of(&self, blocks: &Blocks, i: usize) -> u64 {
        let (count, datatype) = match *blocks {
            Blocks::Same(count, datatype) => (count, datatype),
            // SAFETY: the program gives a count for each neighbour, and a datatype if these differ.
            Blocks::Counts(counts, types) => unsafe {
                let datatype = match types {
                    Types::One(datatype) => datatype,
                    Types::Each(types) => self.abi.read_handle(types, i),
                };
                (*counts.add(i), datatype)
            },
        };
        self.size_of(datatype) * u64::try_from(count).unwrap_or(0)
    }

    /// Writes the operation down as its messages; returns their numbers.
    fn messages(&mut self, comm: Handle, from: &Blocks, to: &Blocks) -> std::ops::Range<u64> {
        let Neighbours { sources, destinations } = self.neighbours(comm);
        let mut numbers = 0..0;
        let now = self.event.begin;
        let (mut cpu, site, index) = (self.event.cpu, self.event.site, self.event.comm);
        let ends = [(Call::Irecv, &sources, to), (Call::Isend, &destinations, from)];
        for (call, neighbours, blocks) in ends {
            for (i, neighbour) in neighbours.iter().enumerate() {
                let number = self.requests.next_number();
                if numbers.is_empty() {
                    numbers = number..number;
                }
                numbers.end = number + 1;
                let peer = self.peer(neighbour.rank);
                let event = Event {
                    // The time before belongs to the first.
                    cpu: cpu.map(|_| cpu.replace(0).unwrap_or(0)),
                    site,
                    comm: index,
                    peer,
                    tag: if peer == Event::PROC_NULL { 0 } else { neighbour.tag },
                    bytes: if peer == Event::PROC_NULL { 0 } else { self.block_of(blocks, i) },
                    requests: vec![number],
                    ..Event::new(call, now, now)
                };
                self.adds(event);
            }
        }
        if !numbers.is_empty() {
            self.event.cpu = cpu;
        }
        numbers
    }
}

/// Both forms: the function, that with a request; the arguments but for the communicator; what is sent, what received.
macro_rules! neighbours {
    ($($name:ident $iname:ident($($argument:ident: $type:ty,)*) $from:expr, $to:expr;)*) => {
        $(
            #[doc = concat!("`MPI_", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As MPI has it.
            #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
            pub unsafe extern "C" fn $name($($argument: $type,)* comm: Handle, site: usize) -> c_int {
                let recorder = enter!(Call::Waitall, site, else $name($($argument,)* comm));
                recorder.on(comm);
                let numbers = recorder.messages(comm, &$from, &$to);
                // Waiting for them is no matter of the communicator.
                recorder.event.comm = 0;
                recorder.event.requests.extend(numbers);
                let result = if recorder.token.is_some() {
                    recorder.meet(comm);
                    let mut request = [0_u64; 1];
                    let request = request.as_mut_ptr().cast::<c_void>();
                    let result = pass_on!(recorder.$iname($($argument,)* comm, request));
                    if result == SUCCESS {
                        let none = recorder.abi.status_ignore as *mut c_void;
                        // SAFETY: the request was made above.
                        unsafe { recorder.test_in_turn(request, none, Wait::Poll) }
                    } else {
                        result
                    }
                } else {
                    pass_on!(recorder.$name($($argument,)* comm))
                };
                recorder.leave(result)
            }

            #[doc = concat!("`MPI_", stringify!($iname), "`.")]
            ///
            /// # Safety
            /// As MPI has it.
            #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
            pub unsafe extern "C" fn $iname(
                $($argument: $type,)*
                comm: Handle,
                request: *mut c_void,
                site: usize,
            ) -> c_int {
                let recorder = enter!(Call::Waitall, site, else $iname($($argument,)* comm, request));
                recorder.on(comm);
                let numbers = recorder.messages(comm, &$from, &$to);
                let result = pass_on!(recorder.$iname($($argument,)* comm, request));
                let count = (numbers.end - numbers.start) as u32;
                // SAFETY: MPI has written the handle.
                unsafe { recorder.made(request, Request { count, ..Request::new(numbers.start) }) };
                // The messages have been written down: nothing is to be said of the call itself.
                recorder.abandon(result)
            }
        )*
    };
}

neighbours! {
    neighbor_allgather ineighbor_allgather(
        from: *const c_void, count: c_int, datatype: Handle, to: *mut c_void, to_count: c_int, to_type: Handle,
    ) Blocks::Same(count, datatype), Blocks::Same(to_count, to_type);
    neighbor_allgatherv ineighbor_allgatherv(
        from: *const c_void, count: c_int, datatype: Handle, to: *mut c_void, to_counts: *const c_int,
        to_places: *const c_int, to_type: Handle,
    ) Blocks::Same(count, datatype), Blocks::Counts(to_counts, Types::One(to_type));
    neighbor_alltoall ineighbor_alltoall(
        from: *const c_void, count: c_int, datatype: Handle, to: *mut c_void, to_count: c_int, to_type: Handle,
    ) Blocks::Same(count, datatype), Blocks::Same(to_count, to_type);
    neighbor_alltoallv ineighbor_alltoallv(
        from: *const c_void, counts: *const c_int, places: *const c_int, datatype: Handle, to: *mut c_void,
        to_counts: *const c_int, to_places: *const c_int, to_type: Handle,
    ) Blocks::Counts(counts, Types::One(datatype)), Blocks::Counts(to_counts, Types::One(to_type));
    neighbor_alltoallw ineighbor_alltoallw(
        from: *const c_void, counts: *const c_int, places: *const isize, datatypes: *const c_void, to: *mut c_void,
        to_counts: *const c_int, to_places: *const isize, to_types: *const c_void,
    ) Blocks::Counts(counts, Types::Each(datatypes)), Blocks::Counts(to_counts, Types::Each(to_types));
}
