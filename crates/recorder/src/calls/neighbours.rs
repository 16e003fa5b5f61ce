//! Collective operations among neighbours of a topology.
//!
//! The trace holds the messages of the operation: a receive from each source, a send to each destination, and
//! a wait for all. Their tags are at the upper end of the range, with one tag for each direction of a grid.
//! So two neighbours that are the same rank are told apart.

use std::ffi::{c_int, c_void};

use hayase_mpi::Handle;
use hayase_trace::{Call, Event, Flags};

use super::{call, pass_on};
use crate::recorder::Recorder;
use crate::recorder::requests::Request;
use crate::token::WaitEvent;

/// Tag of the first direction; the tags of further directions count down from it.
const TAG: i32 = i32::MAX;

/// One neighbour: its rank, and the tag of messages from it or to it.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    rank: c_int,
    tag: i32,
}

/// Neighbours, in MPI's order.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    sources: Vec<Neighbour>,
    destinations: Vec<Neighbour>,
}

/// Blocks sent to or received from neighbours: their buffer, and their sizes and places in it.
struct Blocks(*const c_void, Sizes);

/// Sizes and places of the blocks of neighbours.
enum Sizes {
    /// One block for all neighbours.
    One(c_int, Handle),
    /// Blocks of one size, one after another.
    Same(c_int, Handle),
    /// Counts, and places in elements.
    Counts(*const c_int, *const c_int, Handle),
    /// Counts, places in bytes, and datatypes.
    Types(*const c_int, *const isize, *const c_void),
}

impl Recorder {
    /// Returns the neighbours of this rank in the topology of a communicator.
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
                    // Messages from the lower neighbour go up.
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

    /// Returns address, count and datatype of the block of neighbour `i`.
    fn block_of(&self, blocks: &Blocks, i: usize) -> (*const c_void, c_int, Handle) {
        let far = |elements: isize, datatype| elements * self.distance_of(datatype);
        // SAFETY: the program gives a count and a place for each neighbour, and a datatype if these differ.
        let (place, count, datatype) = unsafe {
            match blocks.1 {
                Sizes::One(count, datatype) => (0, count, datatype),
                Sizes::Same(count, datatype) => (far(i as isize * count as isize, datatype), count, datatype),
                Sizes::Counts(counts, places, datatype) => {
                    (far(*places.add(i) as isize, datatype), *counts.add(i), datatype)
                }
                Sizes::Types(counts, places, types) => (*places.add(i), *counts.add(i), self.abi.read_handle(types, i)),
            }
        };
        (blocks.0.wrapping_byte_offset(place), count, datatype)
    }

    /// Records the operation as its messages; returns their numbers.
    fn messages(&mut self, name: &str, comm: Handle, from: &Blocks, to: &Blocks) -> std::ops::Range<u64> {
        let Neighbours { sources, destinations } = self.neighbours(comm);
        let mut numbers = 0..0;
        let now = self.event.begin;
        let flags = Flags::of_neighbourhood(name);
        self.event.flags = self.event.flags.and(flags);
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
                    // The time before belongs to the first message.
                    cpu: cpu.map(|_| cpu.replace(0).unwrap_or(0)),
                    flags,
                    site,
                    comm: index,
                    peer,
                    requests: vec![number],
                    ..Event::new(call, now, now)
                };
                let whole = std::mem::replace(&mut self.event, event);
                if peer != Event::PROC_NULL {
                    let (address, count, datatype) = self.block_of(blocks, i);
                    self.event.tag = neighbour.tag;
                    self.event.bytes = self.elements(count, datatype);
                    self.buffer(address, count, datatype);
                }
                let event = std::mem::replace(&mut self.event, whole);
                self.add_event(event);
            }
        }
        if !numbers.is_empty() {
            self.event.cpu = cpu;
        }
        numbers
    }
}

/// Defines both forms of an operation. Arguments: name and function; those of the form with a request; the
/// arguments before the communicator; the blocks sent; the blocks received.
macro_rules! neighbours {
    ($($symbol:ident $name:ident $isymbol:ident $iname:ident($($argument:ident $(: $own:ty)?),*)
        $from:expr, $to:expr;)*) => {$(
        call! {
            Waitall $symbol $name($($argument $(: $own)?,)* comm) |recorder| {
                recorder.set_communicator(comm);
                let numbers = recorder.messages(stringify!($symbol), comm, &$from, &$to);
                // The wait for the messages has no communicator.
                recorder.event.comm = 0;
                recorder.event.requests.extend(numbers);
                let result = if recorder.token.is_some() {
                    recorder.meet(comm);
                    let none = recorder.abi.status_ignore as *mut c_void;
                    // SAFETY: the arguments are the program's.
                    unsafe {
                        recorder.start_in_turn(none, WaitEvent::Poll, |mpi, request| {
                            (mpi.$iname)($($argument,)* comm, request)
                        })
                    }
                } else {
                    pass_on!(recorder.$name($($argument,)* comm))
                };
                recorder.leave(result)
            }
        }
        call! {
            Waitall $isymbol $iname($($argument $(: $own)?,)* comm, request) |recorder| {
                recorder.set_communicator(comm);
                let numbers = recorder.messages(stringify!($isymbol), comm, &$from, &$to);
                let result = pass_on!(recorder.$iname($($argument,)* comm, request));
                let count = (numbers.end - numbers.start) as u32;
                // SAFETY: MPI has written the handle.
                unsafe { recorder.record_request(request, Request { count, ..Request::new(numbers.start) }) };
                // The messages have been recorded: the call itself needs no event.
                recorder.abandon(result)
            }
        }
    )*};
}

neighbours! {
    Neighbor_allgather neighbor_allgather Ineighbor_allgather ineighbor_allgather(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
    ) Blocks(sendbuf, Sizes::One(sendcount, sendtype)), Blocks(recvbuf, Sizes::Same(recvcount, recvtype));
    Neighbor_allgatherv neighbor_allgatherv Ineighbor_allgatherv ineighbor_allgatherv(
        sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype
    ) Blocks(sendbuf, Sizes::One(sendcount, sendtype)), Blocks(recvbuf, Sizes::Counts(recvcounts, displs, recvtype));
    Neighbor_alltoall neighbor_alltoall Ineighbor_alltoall ineighbor_alltoall(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
    ) Blocks(sendbuf, Sizes::Same(sendcount, sendtype)), Blocks(recvbuf, Sizes::Same(recvcount, recvtype));
    Neighbor_alltoallv neighbor_alltoallv Ineighbor_alltoallv ineighbor_alltoallv(
        sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
    ) Blocks(sendbuf, Sizes::Counts(sendcounts, sdispls, sendtype)),
        Blocks(recvbuf, Sizes::Counts(recvcounts, rdispls, recvtype));
    Neighbor_alltoallw neighbor_alltoallw Ineighbor_alltoallw ineighbor_alltoallw(
        sendbuf, sendcounts, sdispls: *const isize, sendtypes, recvbuf, recvcounts, rdispls: *const isize, recvtypes
    ) Blocks(sendbuf, Sizes::Types(sendcounts, sdispls, sendtypes)),
        Blocks(recvbuf, Sizes::Types(recvcounts, rdispls, recvtypes));
}
