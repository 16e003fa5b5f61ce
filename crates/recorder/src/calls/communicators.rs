//! Calls that make and free communicators.
//!
//! With the token they are made outside of it, since they have no form that does not block. Calls in which
//! all members of the old communicator take part begin when all members have arrived.

use std::ffi::{c_int, c_void};

use hayase_mpi::Handle;
use hayase_trace::Call;

use super::{calls, pass_on};
use crate::recorder::requests::Request;
use crate::recorder::{Process, Recorder};

impl Recorder {
    /// Records a communicator made from another one. Does nothing if this rank is not in it.
    unsafe fn record_communicator(&mut self, parent: Handle, made: *const c_void) {
        // SAFETY: the caller gives a handle that MPI has written.
        let handle = unsafe { self.abi.read_handle(made, 0) };
        if handle == self.abi.comm_null {
            return;
        }
        let parent = self.communicators.id(self.abi.handle(parent));
        let Process { communicators, abi, mpi, writer, .. } = &mut **self;
        communicators.add(handle, parent, abi, mpi, writer);
    }
}

/// Defines calls that make communicators. Arguments: the call, its name and its function; true if all members
/// of the communicator take part; the arguments between that communicator and the new one.
macro_rules! makers {
    ($($call:ident $symbol:ident $name:ident $meets:literal ($($argument:ident $(: $own:ty)?),*);)*) => {
        calls! {$(
            $call $symbol $name(comm, $($argument $(: $own)?,)* newcomm) |recorder| {
                recorder.set_communicator(comm);
                if $meets {
                    recorder.meet(comm);
                }
            } turn {
                recorder.without_token_together(|recorder| pass_on!(recorder.$name(comm, $($argument,)* newcomm)))
            } done {
                recorder.record_communicator(comm, newcomm)
            };
        )*}
    };
}

makers! {
    CommDup Comm_dup comm_dup true ();
    CommDup Comm_dup_with_info comm_dup_with_info true (info);
    CommSplit Comm_split comm_split true (color, key);
    CommSplitType Comm_split_type comm_split_type true (split_type, key, info);
    CommCreate Comm_create comm_create true (group);
    CommCreateGroup Comm_create_group comm_create_group false (group, tag);
    CartCreate Cart_create cart_create true (ndims, dims: *const c_int, periods: *const c_int, reorder);
    CartSub Cart_sub cart_sub true (remain: *const c_int);
    GraphCreate Graph_create graph_create true (nnodes, index: *const c_int, edges: *const c_int, reorder);
    DistGraphCreate Dist_graph_create dist_graph_create true (
        n, nodes: *const c_int, degrees: *const c_int, targets: *const c_int, weights: *const c_int, info, reorder
    );
    DistGraphCreateAdjacent Dist_graph_create_adjacent dist_graph_create_adjacent true (
        indegree, sources: *const c_int, sourceweights: *const c_int, outdegree, destinations: *const c_int,
        destweights: *const c_int, info, reorder
    );
    IntercommCreate Intercomm_create intercomm_create true (local_leader, bridge_comm: Handle, remote_leader, tag);
    IntercommMerge Intercomm_merge intercomm_merge true (high);
}

calls! {
    // The new communicator exists when the request is complete.
    CommIdup Comm_idup comm_idup(comm, newcomm, request) |recorder| {
        recorder.set_communicator(comm);
    } done {
        let number = recorder.begin_request(request, Request::UNDER_WAY);
        let of = recorder.abi.handle(comm);
        recorder.duplicates.push((number, of, newcomm as usize));
    };
}

impl Recorder {
    /// Records the new communicator if the completed request was for one.
    ///
    /// # Safety
    /// The program's place for the handle still exists, as MPI demands.
    pub(super) unsafe fn record_duplicate(&mut self, number: u64) {
        if let Some(i) = self.duplicates.iter().position(|&(of, ..)| of == number) {
            let (_, parent, made) = self.duplicates.swap_remove(i);
            // SAFETY: MPI has written the handle there.
            unsafe { self.record_communicator(parent, made as *const c_void) };
        }
    }
}

/// Defines calls after which the handle of a communicator may be reused, by name and function.
macro_rules! freers {
    ($($symbol:ident $name:ident;)*) => {
        calls! {$(
            CommFree $symbol $name(comm: *mut c_void) |recorder| {
                // SAFETY: the program gives a communicator.
                let handle = unsafe { recorder.abi.read_handle(comm, 0) };
                recorder.set_communicator(handle);
                recorder.meet(handle);
            } turn {
                recorder.without_token_together(|recorder| pass_on!(recorder.$name(comm)))
            } done {
                recorder.communicators.remove(handle)
            };
        )*}
    };
}

freers! {
    Comm_free comm_free;
    Comm_disconnect comm_disconnect;
}
