//! Calls whose time is recorded, and not what they do: one-sided communication, files, and the newest of MPI.
//!
//! They are passed on with their arguments as they came: words, whatever they mean. How often each was called is a note
//! of the trace (`opaque`), so that whoever reads it can say what is missing.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use hayase_mpi::{Handle, SUCCESS};
use hayase_trace::Call;

use crate::entry::export;
use crate::mpi;
use crate::recorder::enter;

/// `MPI_ERR_OTHER`, more or less: the library has no such function.
const MISSING: c_int = 16;

/// A call by name: found at first, then made, outside of the token.
fn opaque(known: &AtomicPtr<c_void>, name: &'static str, site: usize, call: impl Fn(*mut c_void) -> c_int) -> c_int {
    let Some(function) = found(known, name) else { return MISSING };
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

/// `MPI_Parrived`: asks whether a part of a message has come. One that finds nothing is a poll like those of tests.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn parrived(request: Handle, part: c_int, flag: *mut c_int, site: usize) -> c_int {
    static FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let Some(function) = found(&FUNCTION, "Parrived") else { return MISSING };
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

/// A function of MPI by name, looked for once; `None` if the library has none.
fn found(known: &AtomicPtr<c_void>, name: &str) -> Option<*mut c_void> {
    let mut function = known.load(Ordering::Relaxed);
    if function.is_null() {
        function = mpi::beneath(&format!("PMPI_{name}"));
        known.store(function, Ordering::Relaxed);
    }
    (!function.is_null()).then_some(function)
}

macro_rules! word {
    ($argument:ident) => {
        usize
    };
}

macro_rules! body {
    ($name:ident $text:literal 1) => { body!(@ $name $text a); };
    ($name:ident $text:literal 2) => { body!(@ $name $text a b); };
    ($name:ident $text:literal 3) => { body!(@ $name $text a b c); };
    ($name:ident $text:literal 4) => { body!(@ $name $text a b c d); };
    ($name:ident $text:literal 5) => { body!(@ $name $text a b c d e); };
    ($name:ident $text:literal 6) => { body!(@ $name $text a b c d e f); };
    ($name:ident $text:literal 7) => { body!(@ $name $text a b c d e f g); };
    ($name:ident $text:literal 8) => { body!(@ $name $text a b c d e f g h); };
    ($name:ident $text:literal 9) => { body!(@ $name $text a b c d e f g h i); };
    ($name:ident $text:literal 10) => { body!(@ $name $text a b c d e f g h i j); };
    ($name:ident $text:literal 11) => { body!(@ $name $text a b c d e f g h i j k); };
    ($name:ident $text:literal 12) => { body!(@ $name $text a b c d e f g h i j k l); };
    ($name:ident $text:literal 13) => { body!(@ $name $text a b c d e f g h i j k l m); };
    (@ $name:ident $text:literal $($argument:ident)*) => {
        #[doc = concat!("`MPI_", $text, "`.")]
        ///
        /// # Safety
        /// As MPI has it.
        #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
        pub unsafe extern "C" fn $name($($argument: usize,)* site: usize) -> c_int {
            static FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            opaque(&FUNCTION, $text, site, |function| {
                // SAFETY: the function of this name has so many arguments, each of them a word.
                unsafe {
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($(word!($argument)),*) -> c_int>(function)(
                        $($argument),*
                    )
                }
            })
        }
    };
}

macro_rules! opaque_calls {
    ($($symbol:ident $arity:tt $name:ident $text:literal;)*) => {
        export! { $($symbol $arity $name;)* }
        $(body!($name $text $arity);)*
    };
}

export! {
    MPI_Parrived 3 parrived;
}

opaque_calls! {
    // One-sided communication.
    MPI_Accumulate 9 accumulate "Accumulate";
    MPI_Accumulate_c 9 accumulate_c "Accumulate_c";
    MPI_Compare_and_swap 7 compare_and_swap "Compare_and_swap";
    MPI_Fetch_and_op 7 fetch_and_op "Fetch_and_op";
    MPI_Get 8 get "Get";
    MPI_Get_accumulate 12 get_accumulate "Get_accumulate";
    MPI_Get_accumulate_c 12 get_accumulate_c "Get_accumulate_c";
    MPI_Get_c 8 get_c "Get_c";
    MPI_Put 8 put "Put";
    MPI_Put_c 8 put_c "Put_c";
    MPI_Raccumulate 10 raccumulate "Raccumulate";
    MPI_Raccumulate_c 10 raccumulate_c "Raccumulate_c";
    MPI_Rget 9 rget "Rget";
    MPI_Rget_accumulate 13 rget_accumulate "Rget_accumulate";
    MPI_Rget_accumulate_c 13 rget_accumulate_c "Rget_accumulate_c";
    MPI_Rget_c 9 rget_c "Rget_c";
    MPI_Rput 9 rput "Rput";
    MPI_Rput_c 9 rput_c "Rput_c";
    MPI_Win_allocate 6 win_allocate "Win_allocate";
    MPI_Win_allocate_shared 6 win_allocate_shared "Win_allocate_shared";
    MPI_Win_attach 3 win_attach "Win_attach";
    MPI_Win_complete 1 win_complete "Win_complete";
    MPI_Win_create 6 win_create "Win_create";
    MPI_Win_create_dynamic 3 win_create_dynamic "Win_create_dynamic";
    MPI_Win_detach 2 win_detach "Win_detach";
    MPI_Win_fence 2 win_fence "Win_fence";
    MPI_Win_flush 2 win_flush "Win_flush";
    MPI_Win_flush_all 1 win_flush_all "Win_flush_all";
    MPI_Win_flush_local 2 win_flush_local "Win_flush_local";
    MPI_Win_flush_local_all 1 win_flush_local_all "Win_flush_local_all";
    MPI_Win_free 1 win_free "Win_free";
    MPI_Win_lock 4 win_lock "Win_lock";
    MPI_Win_lock_all 2 win_lock_all "Win_lock_all";
    MPI_Win_post 3 win_post "Win_post";
    MPI_Win_start 3 win_start "Win_start";
    MPI_Win_sync 1 win_sync "Win_sync";
    MPI_Win_test 2 win_test "Win_test";
    MPI_Win_unlock 2 win_unlock "Win_unlock";
    MPI_Win_unlock_all 1 win_unlock_all "Win_unlock_all";
    MPI_Win_wait 1 win_wait "Win_wait";
    // Files.
    MPI_File_close 1 file_close "File_close";
    MPI_File_delete 2 file_delete "File_delete";
    MPI_File_iread 5 file_iread "File_iread";
    MPI_File_iread_all 5 file_iread_all "File_iread_all";
    MPI_File_iread_all_c 5 file_iread_all_c "File_iread_all_c";
    MPI_File_iread_at 6 file_iread_at "File_iread_at";
    MPI_File_iread_at_all 6 file_iread_at_all "File_iread_at_all";
    MPI_File_iread_at_all_c 6 file_iread_at_all_c "File_iread_at_all_c";
    MPI_File_iread_at_c 6 file_iread_at_c "File_iread_at_c";
    MPI_File_iread_c 5 file_iread_c "File_iread_c";
    MPI_File_iread_shared 5 file_iread_shared "File_iread_shared";
    MPI_File_iread_shared_c 5 file_iread_shared_c "File_iread_shared_c";
    MPI_File_iwrite 5 file_iwrite "File_iwrite";
    MPI_File_iwrite_all 5 file_iwrite_all "File_iwrite_all";
    MPI_File_iwrite_all_c 5 file_iwrite_all_c "File_iwrite_all_c";
    MPI_File_iwrite_at 6 file_iwrite_at "File_iwrite_at";
    MPI_File_iwrite_at_all 6 file_iwrite_at_all "File_iwrite_at_all";
    MPI_File_iwrite_at_all_c 6 file_iwrite_at_all_c "File_iwrite_at_all_c";
    MPI_File_iwrite_at_c 6 file_iwrite_at_c "File_iwrite_at_c";
    MPI_File_iwrite_c 5 file_iwrite_c "File_iwrite_c";
    MPI_File_iwrite_shared 5 file_iwrite_shared "File_iwrite_shared";
    MPI_File_iwrite_shared_c 5 file_iwrite_shared_c "File_iwrite_shared_c";
    MPI_File_open 5 file_open "File_open";
    MPI_File_preallocate 2 file_preallocate "File_preallocate";
    MPI_File_read 5 file_read "File_read";
    MPI_File_read_all 5 file_read_all "File_read_all";
    MPI_File_read_all_begin 4 file_read_all_begin "File_read_all_begin";
    MPI_File_read_all_begin_c 4 file_read_all_begin_c "File_read_all_begin_c";
    MPI_File_read_all_c 5 file_read_all_c "File_read_all_c";
    MPI_File_read_all_end 3 file_read_all_end "File_read_all_end";
    MPI_File_read_at 6 file_read_at "File_read_at";
    MPI_File_read_at_all 6 file_read_at_all "File_read_at_all";
    MPI_File_read_at_all_begin 5 file_read_at_all_begin "File_read_at_all_begin";
    MPI_File_read_at_all_begin_c 5 file_read_at_all_begin_c "File_read_at_all_begin_c";
    MPI_File_read_at_all_c 6 file_read_at_all_c "File_read_at_all_c";
    MPI_File_read_at_all_end 3 file_read_at_all_end "File_read_at_all_end";
    MPI_File_read_at_c 6 file_read_at_c "File_read_at_c";
    MPI_File_read_c 5 file_read_c "File_read_c";
    MPI_File_read_ordered 5 file_read_ordered "File_read_ordered";
    MPI_File_read_ordered_begin 4 file_read_ordered_begin "File_read_ordered_begin";
    MPI_File_read_ordered_begin_c 4 file_read_ordered_begin_c "File_read_ordered_begin_c";
    MPI_File_read_ordered_c 5 file_read_ordered_c "File_read_ordered_c";
    MPI_File_read_ordered_end 3 file_read_ordered_end "File_read_ordered_end";
    MPI_File_read_shared 5 file_read_shared "File_read_shared";
    MPI_File_read_shared_c 5 file_read_shared_c "File_read_shared_c";
    MPI_File_seek 3 file_seek "File_seek";
    MPI_File_seek_shared 3 file_seek_shared "File_seek_shared";
    MPI_File_set_size 2 file_set_size "File_set_size";
    MPI_File_set_view 6 file_set_view "File_set_view";
    MPI_File_sync 1 file_sync "File_sync";
    MPI_File_write 5 file_write "File_write";
    MPI_File_write_all 5 file_write_all "File_write_all";
    MPI_File_write_all_begin 4 file_write_all_begin "File_write_all_begin";
    MPI_File_write_all_begin_c 4 file_write_all_begin_c "File_write_all_begin_c";
    MPI_File_write_all_c 5 file_write_all_c "File_write_all_c";
    MPI_File_write_all_end 3 file_write_all_end "File_write_all_end";
    MPI_File_write_at 6 file_write_at "File_write_at";
    MPI_File_write_at_all 6 file_write_at_all "File_write_at_all";
    MPI_File_write_at_all_begin 5 file_write_at_all_begin "File_write_at_all_begin";
    MPI_File_write_at_all_begin_c 5 file_write_at_all_begin_c "File_write_at_all_begin_c";
    MPI_File_write_at_all_c 6 file_write_at_all_c "File_write_at_all_c";
    MPI_File_write_at_all_end 3 file_write_at_all_end "File_write_at_all_end";
    MPI_File_write_at_c 6 file_write_at_c "File_write_at_c";
    MPI_File_write_c 5 file_write_c "File_write_c";
    MPI_File_write_ordered 5 file_write_ordered "File_write_ordered";
    MPI_File_write_ordered_begin 4 file_write_ordered_begin "File_write_ordered_begin";
    MPI_File_write_ordered_begin_c 4 file_write_ordered_begin_c "File_write_ordered_begin_c";
    MPI_File_write_ordered_c 5 file_write_ordered_c "File_write_ordered_c";
    MPI_File_write_ordered_end 3 file_write_ordered_end "File_write_ordered_end";
    MPI_File_write_shared 5 file_write_shared "File_write_shared";
    MPI_File_write_shared_c 5 file_write_shared_c "File_write_shared_c";
    // Processes that come later, partitioned messages, persistent collective operations, counts of 64 bits.
    MPI_Allgather_c 7 allgather_c "Allgather_c";
    MPI_Allgather_init 9 allgather_init "Allgather_init";
    MPI_Allgather_init_c 9 allgather_init_c "Allgather_init_c";
    MPI_Allgatherv_c 8 allgatherv_c "Allgatherv_c";
    MPI_Allgatherv_init 10 allgatherv_init "Allgatherv_init";
    MPI_Allgatherv_init_c 10 allgatherv_init_c "Allgatherv_init_c";
    MPI_Allreduce_c 6 allreduce_c "Allreduce_c";
    MPI_Allreduce_init 8 allreduce_init "Allreduce_init";
    MPI_Allreduce_init_c 8 allreduce_init_c "Allreduce_init_c";
    MPI_Alltoall_c 7 alltoall_c "Alltoall_c";
    MPI_Alltoall_init 9 alltoall_init "Alltoall_init";
    MPI_Alltoall_init_c 9 alltoall_init_c "Alltoall_init_c";
    MPI_Alltoallv_c 9 alltoallv_c "Alltoallv_c";
    MPI_Alltoallv_init 11 alltoallv_init "Alltoallv_init";
    MPI_Alltoallv_init_c 11 alltoallv_init_c "Alltoallv_init_c";
    MPI_Barrier_init 3 barrier_init "Barrier_init";
    MPI_Bcast_c 5 bcast_c "Bcast_c";
    MPI_Bcast_init 7 bcast_init "Bcast_init";
    MPI_Bcast_init_c 7 bcast_init_c "Bcast_init_c";
    MPI_Bsend_c 6 bsend_c "Bsend_c";
    MPI_Bsend_init_c 7 bsend_init_c "Bsend_init_c";
    MPI_Comm_accept 5 comm_accept "Comm_accept";
    MPI_Comm_connect 5 comm_connect "Comm_connect";
    MPI_Comm_join 2 comm_join "Comm_join";
    MPI_Comm_spawn 8 comm_spawn "Comm_spawn";
    MPI_Comm_spawn_multiple 9 comm_spawn_multiple "Comm_spawn_multiple";
    MPI_Exscan_c 6 exscan_c "Exscan_c";
    MPI_Exscan_init 8 exscan_init "Exscan_init";
    MPI_Exscan_init_c 8 exscan_init_c "Exscan_init_c";
    MPI_Gather_c 8 gather_c "Gather_c";
    MPI_Gather_init 10 gather_init "Gather_init";
    MPI_Gather_init_c 10 gather_init_c "Gather_init_c";
    MPI_Gatherv_c 9 gatherv_c "Gatherv_c";
    MPI_Gatherv_init 11 gatherv_init "Gatherv_init";
    MPI_Gatherv_init_c 11 gatherv_init_c "Gatherv_init_c";
    MPI_Iallgather_c 8 iallgather_c "Iallgather_c";
    MPI_Iallgatherv_c 9 iallgatherv_c "Iallgatherv_c";
    MPI_Iallreduce_c 7 iallreduce_c "Iallreduce_c";
    MPI_Ialltoall_c 8 ialltoall_c "Ialltoall_c";
    MPI_Ialltoallv_c 10 ialltoallv_c "Ialltoallv_c";
    MPI_Ibcast_c 6 ibcast_c "Ibcast_c";
    MPI_Ibsend_c 7 ibsend_c "Ibsend_c";
    MPI_Iexscan_c 7 iexscan_c "Iexscan_c";
    MPI_Igather_c 9 igather_c "Igather_c";
    MPI_Igatherv_c 10 igatherv_c "Igatherv_c";
    MPI_Imrecv_c 5 imrecv_c "Imrecv_c";
    MPI_Ineighbor_allgather_c 8 ineighbor_allgather_c "Ineighbor_allgather_c";
    MPI_Ineighbor_allgatherv_c 9 ineighbor_allgatherv_c "Ineighbor_allgatherv_c";
    MPI_Ineighbor_alltoall_c 8 ineighbor_alltoall_c "Ineighbor_alltoall_c";
    MPI_Ineighbor_alltoallv_c 10 ineighbor_alltoallv_c "Ineighbor_alltoallv_c";
    MPI_Irecv_c 7 irecv_c "Irecv_c";
    MPI_Ireduce_c 8 ireduce_c "Ireduce_c";
    MPI_Ireduce_scatter_block_c 7 ireduce_scatter_block_c "Ireduce_scatter_block_c";
    MPI_Ireduce_scatter_c 7 ireduce_scatter_c "Ireduce_scatter_c";
    MPI_Irsend_c 7 irsend_c "Irsend_c";
    MPI_Iscan_c 7 iscan_c "Iscan_c";
    MPI_Iscatter_c 9 iscatter_c "Iscatter_c";
    MPI_Iscatterv_c 10 iscatterv_c "Iscatterv_c";
    MPI_Isend_c 7 isend_c "Isend_c";
    MPI_Isendrecv 12 isendrecv "Isendrecv";
    MPI_Isendrecv_c 12 isendrecv_c "Isendrecv_c";
    MPI_Isendrecv_replace 9 isendrecv_replace "Isendrecv_replace";
    MPI_Isendrecv_replace_c 9 isendrecv_replace_c "Isendrecv_replace_c";
    MPI_Issend_c 7 issend_c "Issend_c";
    MPI_Mrecv_c 5 mrecv_c "Mrecv_c";
    MPI_Neighbor_allgather_c 7 neighbor_allgather_c "Neighbor_allgather_c";
    MPI_Neighbor_allgather_init 9 neighbor_allgather_init "Neighbor_allgather_init";
    MPI_Neighbor_allgather_init_c 9 neighbor_allgather_init_c "Neighbor_allgather_init_c";
    MPI_Neighbor_allgatherv_c 8 neighbor_allgatherv_c "Neighbor_allgatherv_c";
    MPI_Neighbor_allgatherv_init 10 neighbor_allgatherv_init "Neighbor_allgatherv_init";
    MPI_Neighbor_allgatherv_init_c 10 neighbor_allgatherv_init_c "Neighbor_allgatherv_init_c";
    MPI_Neighbor_alltoall_c 7 neighbor_alltoall_c "Neighbor_alltoall_c";
    MPI_Neighbor_alltoall_init 9 neighbor_alltoall_init "Neighbor_alltoall_init";
    MPI_Neighbor_alltoall_init_c 9 neighbor_alltoall_init_c "Neighbor_alltoall_init_c";
    MPI_Neighbor_alltoallv_c 9 neighbor_alltoallv_c "Neighbor_alltoallv_c";
    MPI_Neighbor_alltoallv_init 11 neighbor_alltoallv_init "Neighbor_alltoallv_init";
    MPI_Neighbor_alltoallv_init_c 11 neighbor_alltoallv_init_c "Neighbor_alltoallv_init_c";
    MPI_Precv_init 9 precv_init "Precv_init";
    MPI_Psend_init 9 psend_init "Psend_init";
    MPI_Recv_c 7 recv_c "Recv_c";
    MPI_Recv_init_c 7 recv_init_c "Recv_init_c";
    MPI_Reduce_c 7 reduce_c "Reduce_c";
    MPI_Reduce_init 9 reduce_init "Reduce_init";
    MPI_Reduce_init_c 9 reduce_init_c "Reduce_init_c";
    MPI_Reduce_scatter_block_c 6 reduce_scatter_block_c "Reduce_scatter_block_c";
    MPI_Reduce_scatter_block_init 8 reduce_scatter_block_init "Reduce_scatter_block_init";
    MPI_Reduce_scatter_block_init_c 8 reduce_scatter_block_init_c "Reduce_scatter_block_init_c";
    MPI_Reduce_scatter_c 6 reduce_scatter_c "Reduce_scatter_c";
    MPI_Reduce_scatter_init 8 reduce_scatter_init "Reduce_scatter_init";
    MPI_Reduce_scatter_init_c 8 reduce_scatter_init_c "Reduce_scatter_init_c";
    MPI_Rsend_c 6 rsend_c "Rsend_c";
    MPI_Rsend_init_c 7 rsend_init_c "Rsend_init_c";
    MPI_Scan_c 6 scan_c "Scan_c";
    MPI_Scan_init 8 scan_init "Scan_init";
    MPI_Scan_init_c 8 scan_init_c "Scan_init_c";
    MPI_Scatter_c 8 scatter_c "Scatter_c";
    MPI_Scatter_init 10 scatter_init "Scatter_init";
    MPI_Scatter_init_c 10 scatter_init_c "Scatter_init_c";
    MPI_Scatterv_c 9 scatterv_c "Scatterv_c";
    MPI_Scatterv_init 11 scatterv_init "Scatterv_init";
    MPI_Scatterv_init_c 11 scatterv_init_c "Scatterv_init_c";
    MPI_Send_c 6 send_c "Send_c";
    MPI_Send_init_c 7 send_init_c "Send_init_c";
    MPI_Sendrecv_c 12 sendrecv_c "Sendrecv_c";
    MPI_Sendrecv_replace_c 9 sendrecv_replace_c "Sendrecv_replace_c";
    MPI_Ssend_c 6 ssend_c "Ssend_c";
    MPI_Ssend_init_c 7 ssend_init_c "Ssend_init_c";
}
