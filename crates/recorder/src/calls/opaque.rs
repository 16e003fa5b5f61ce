//! Calls of which only the time is recorded: one-sided communication, files, and the newest parts of MPI.
//!
//! Their arguments are passed on unchanged, as words. A note of the trace (`opaque`) says how often each was
//! called, so that readers can report what is missing.

use std::ffi::{c_int, c_void};

use hayase_mpi::{Handle, SUCCESS};
use hayase_trace::Call;

use crate::entry::export;
use crate::mpi::Symbol;
use crate::recorder::enter;

/// Error code of a call that the library does not have; close to `MPI_ERR_OTHER`.
const MISSING: c_int = 16;

/// Function with as many words as any of these calls takes. Callees ignore surplus arguments.
type Words = unsafe extern "C" fn(W, W, W, W, W, W, W, W, W, W, W, W, W) -> c_int;
type W = usize;

/// Makes a call by name, outside of the token. The first call looks up the function.
fn opaque(symbol: &Symbol, name: &'static str, site: usize, call: impl Fn(Words) -> c_int) -> c_int {
    let Some(function) = symbol.find() else { return MISSING };
    // SAFETY: the function of this name has such arguments, each of them a word, or fewer.
    let function = unsafe { std::mem::transmute::<*mut c_void, Words>(function) };
    // SAFETY: the reference lives as long as this call, which does not enter the recorder again.
    match unsafe { enter(Call::Opaque, site) } {
        Some(recorder) => {
            recorder.opaque(name);
            let result = recorder.outside(|recorder| recorder.call(|_| call(function)));
            recorder.leave(result)
        }
        None => call(function),
    }
}

/// `MPI_Parrived`: asks for the arrival of a part of a message. A call that finds nothing is a poll, like a
/// test.
///
/// # Safety
/// As MPI has it.
unsafe extern "C" fn parrived(request: Handle, part: c_int, flag: *mut c_int, site: usize) -> c_int {
    static FUNCTION: Symbol = Symbol::new("PMPI_Parrived");
    let Some(function) = FUNCTION.find() else { return MISSING };
    // SAFETY: the function of this name has these arguments.
    let ask = || unsafe {
        std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Handle, c_int, *mut c_int) -> c_int>(function)(
            request, part, flag,
        )
    };
    // SAFETY: the reference lives as long as this call, which does not enter the recorder again.
    let Some(recorder) = (unsafe { enter(Call::Opaque, site) }) else { return ask() };
    let result = recorder.outside(|recorder| recorder.call(|_| ask()));
    // SAFETY: the program gives room for the flag.
    if result == SUCCESS && unsafe { *flag } == 0 {
        return recorder.leave_poll(result);
    }
    recorder.opaque("Parrived");
    recorder.leave(result)
}

export!("Parrived", 3, parrived);

/// Defines calls by their names without `MPI_`: with counts of 32 bits (`plain`), with counts of 64 bits and
/// `_c` behind the name (`large`), or both.
macro_rules! opaque {
    (plain $($name:ident)*) => {
        $(opaque!(@ stringify!($name), a b c d e f g h i j k l m);)*
    };
    (large $($name:ident)*) => {
        $(opaque!(@ concat!(stringify!($name), "_c"), a b c d e f g h i j k l m);)*
    };
    (both $($name:ident)*) => {
        opaque!(plain $($name)*);
        opaque!(large $($name)*);
    };
    (@ $name:expr, $($word:ident)*) => {
        const _: () = {
            static SYMBOL: Symbol = Symbol::new(concat!("PMPI_", $name));

            /// # Safety
            /// As MPI has it.
            #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
            unsafe extern "C" fn body($($word: usize,)* site: usize) -> c_int {
                // SAFETY: the words are the program's.
                opaque(&SYMBOL, $name, site, |function| unsafe { function($($word),*) })
            }
            export!($name, <[&str]>::len(&[$(stringify!($word)),*]), body);
        };
    };
}

// One-sided communication.
opaque! { plain
    Compare_and_swap Fetch_and_op Win_allocate Win_allocate_shared Win_attach Win_complete Win_create
    Win_create_dynamic Win_detach Win_fence Win_flush Win_flush_all Win_flush_local Win_flush_local_all
    Win_free Win_lock Win_lock_all Win_post Win_start Win_sync Win_test Win_unlock Win_unlock_all Win_wait
}
opaque! { both
    Accumulate Get Get_accumulate Put Raccumulate Rget Rget_accumulate Rput
}

// Files.
opaque! { plain
    File_close File_delete File_open File_preallocate File_read_all_end File_read_at_all_end
    File_read_ordered_end File_seek File_seek_shared File_set_size File_set_view File_sync File_write_all_end
    File_write_at_all_end File_write_ordered_end
}
opaque! { both
    File_iread File_iread_all File_iread_at File_iread_at_all File_iread_shared File_iwrite File_iwrite_all
    File_iwrite_at File_iwrite_at_all File_iwrite_shared File_read File_read_all File_read_all_begin
    File_read_at File_read_at_all File_read_at_all_begin File_read_ordered File_read_ordered_begin
    File_read_shared File_write File_write_all File_write_all_begin File_write_at File_write_at_all
    File_write_at_all_begin File_write_ordered File_write_ordered_begin File_write_shared
}

// Dynamic processes, partitioned messages, persistent collective operations, counts of 64 bits.
opaque! { plain
    Barrier_init Comm_accept Comm_connect Comm_join Comm_spawn Comm_spawn_multiple Precv_init Psend_init
}
opaque! { large
    Allgather Allgatherv Allreduce Alltoall Alltoallv Bcast Bsend Bsend_init Exscan Gather Gatherv Iallgather
    Iallgatherv Iallreduce Ialltoall Ialltoallv Ibcast Ibsend Iexscan Igather Igatherv Imrecv
    Ineighbor_allgather Ineighbor_allgatherv Ineighbor_alltoall Ineighbor_alltoallv Irecv Ireduce
    Ireduce_scatter_block Ireduce_scatter Irsend Iscan Iscatter Iscatterv Isend Issend Mrecv
    Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Recv Recv_init Reduce
    Reduce_scatter_block Reduce_scatter Rsend Rsend_init Scan Scatter Scatterv Send Send_init Sendrecv
    Sendrecv_replace Ssend Ssend_init
}
opaque! { both
    Allgather_init Allgatherv_init Allreduce_init Alltoall_init Alltoallv_init Bcast_init Exscan_init
    Gather_init Gatherv_init Isendrecv Isendrecv_replace Neighbor_allgather_init Neighbor_allgatherv_init
    Neighbor_alltoall_init Neighbor_alltoallv_init Reduce_init Reduce_scatter_block_init Reduce_scatter_init
    Scan_init Scatter_init Scatterv_init
}
