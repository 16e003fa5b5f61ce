//! Communicators are made and freed.
//!
//! With the token they are made outside of it: there is no form of these calls that does not block. Those that all
//! members of the old communicator take part in begin when all have come.

use std::ffi::{c_int, c_void};

use hayase_mpi::{Handle, SUCCESS};
use hayase_trace::Call;

use super::{enter, pass_on};
use crate::entry::export;
use crate::recorder::requests::Request;
use crate::recorder::{Process, Recorder};

export! {
    MPI_Comm_dup 2 comm_dup;
    MPI_Comm_dup_with_info 3 comm_dup_with_info;
    MPI_Comm_idup 3 comm_idup;
    MPI_Comm_split 4 comm_split;
    MPI_Comm_split_type 5 comm_split_type;
    MPI_Comm_create 3 comm_create;
    MPI_Comm_create_group 4 comm_create_group;
    MPI_Cart_create 6 cart_create;
    MPI_Cart_sub 3 cart_sub;
    MPI_Graph_create 6 graph_create;
    MPI_Dist_graph_create 9 dist_graph_create;
    MPI_Dist_graph_create_adjacent 10 dist_graph_create_adjacent;
    MPI_Intercomm_create 6 intercomm_create;
    MPI_Intercomm_merge 3 intercomm_merge;
    MPI_Comm_free 1 comm_free;
    MPI_Comm_disconnect 1 comm_disconnect;
}

impl Recorder {
    /// A communicator has been made from another one; nothing if this rank is not in it.
    unsafe fn makes_communicator(&mut self, parent: Handle, made: *const c_void) {
        // SAFETY: the caller gives a handle that MPI has written.
        let handle = unsafe { self.abi.read_handle(made, 0) };
        if handle == self.abi.comm_null {
            return;
        }
        let parent = self.communicators.id(self.abi.handle(parent));
        let Process { communicators, abi, mpi, writer, .. } = &mut **self;
        communicators.made(handle, parent, abi, mpi, writer);
    }
}

/// The call, its function; the communicator it is made from, whether all of that take part; the arguments, the last
/// of which is the new one.
macro_rules! makers {
    ($($call:ident $name:ident $meets:literal ($parent:ident: Handle, $($argument:ident: $type:ty,)*);)*) => {
        $(
            #[doc = concat!("`MPI_", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As MPI has it.
            #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
            pub unsafe extern "C" fn $name(
                $parent: Handle,
                $($argument: $type,)*
                made: *mut c_void,
                site: usize,
            ) -> c_int {
                let recorder = enter!(Call::$call, site, else $name($parent, $($argument,)* made));
                recorder.on($parent);
                if $meets {
                    recorder.meet($parent);
                }
                let result = recorder.outside_together(|recorder| pass_on!(recorder.$name($parent, $($argument,)* made)));
                if result == SUCCESS {
                    // SAFETY: MPI has written the handle.
                    unsafe { recorder.makes_communicator($parent, made) };
                }
                recorder.leave_if(result)
            }
        )*
    };
}

makers! {
    CommDup comm_dup true (comm: Handle,);
    CommDup comm_dup_with_info true (comm: Handle, info: Handle,);
    CommSplit comm_split true (comm: Handle, color: c_int, key: c_int,);
    CommSplitType comm_split_type true (comm: Handle, kind: c_int, key: c_int, info: Handle,);
    CommCreate comm_create true (comm: Handle, group: Handle,);
    CommCreateGroup comm_create_group false (comm: Handle, group: Handle, tag: c_int,);
    CartCreate cart_create true (
        comm: Handle, dimensions: c_int, extents: *const c_int, periods: *const c_int, reorder: c_int,
    );
    CartSub cart_sub true (comm: Handle, remain: *const c_int,);
    GraphCreate graph_create true (
        comm: Handle, nodes: c_int, index: *const c_int, edges: *const c_int, reorder: c_int,
    );
    DistGraphCreate dist_graph_create true (
        comm: Handle, count: c_int, nodes: *const c_int, degrees: *const c_int, targets: *const c_int,
        weights: *const c_int, info: Handle, reorder: c_int,
    );
    DistGraphCreateAdjacent dist_graph_create_adjacent true (
        comm: Handle, indegree: c_int, sources: *const c_int, source_weights: *const c_int, outdegree: c_int,
        destinations: *const c_int, destination_weights: *const c_int, info: Handle, reorder: c_int,
    );
    IntercommCreate intercomm_create true (
        comm: Handle, leader: c_int, peer: Handle, remote_leader: c_int, tag: c_int,
    );
    IntercommMerge intercomm_merge true (comm: Handle, high: c_int,);
}

/// `MPI_Comm_idup`: the new communicator is there when its request is complete.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn comm_idup(comm: Handle, made: *mut c_void, request: *mut c_void, site: usize) -> c_int {
    let recorder = enter!(Call::CommIdup, site, else comm_idup(comm, made, request));
    recorder.on(comm);
    let result = pass_on!(recorder.comm_idup(comm, made, request));
    if result != SUCCESS {
        return recorder.abandon(result);
    }
    let number = recorder.makes();
    let of = recorder.abi.handle(comm);
    recorder.duplicates.push((number, of, made as usize));
    // SAFETY: MPI has written the handle.
    unsafe { recorder.made(request, Request::new(number)) };
    recorder.leave(result)
}

impl Recorder {
    /// A request is complete: if it was for a communicator, that is there now.
    ///
    /// # Safety
    /// Where the program wanted its handle still is a place for one, as MPI asks of it.
    pub(super) unsafe fn duplicated(&mut self, number: u64) {
        if let Some(i) = self.duplicates.iter().position(|&(of, ..)| of == number) {
            let (_, parent, made) = self.duplicates.swap_remove(i);
            // SAFETY: MPI has written the handle there.
            unsafe { self.makes_communicator(parent, made as *const c_void) };
        }
    }
}

macro_rules! freers {
    ($($name:ident;)*) => {
        $(
            #[doc = concat!("`MPI_", stringify!($name), "`: its handle may be used again.")]
            ///
            /// # Safety
            /// As MPI has it.
            pub unsafe extern "C" fn $name(comm: *mut c_void, site: usize) -> c_int {
                let recorder = enter!(Call::CommFree, site, else $name(comm));
                // SAFETY: the program gives a communicator.
                let handle = unsafe { recorder.abi.read_handle(comm, 0) };
                recorder.on(handle);
                recorder.meet(handle);
                let result = recorder.outside_together(|recorder| pass_on!(recorder.$name(comm)));
                if result == SUCCESS {
                    recorder.communicators.freed(handle);
                }
                recorder.leave_if(result)
            }
        )*
    };
}

freers! {
    comm_free;
    comm_disconnect;
}
