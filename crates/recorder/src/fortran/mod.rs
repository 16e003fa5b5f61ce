//! Calls from Fortran: `mpif.h`, `use mpi` and `use mpi_f08`.
//!
//! In every supported MPI all three interfaces are a layer over the C functions. `mpi_send_` of Open MPI
//! calls `PMPI_Send`, that of MPICH `MPI_Send`. `mpi_send_f08_` of Open MPI goes through the layer of
//! `mpif.h`; `mpi_send_f08ts_` of MPICH takes address and type out of the array's descriptor and calls
//! `MPI_Send`. The layer knows the C form of its handles, statuses, descriptors and constants
//! (`MPI_IN_PLACE`, `MPI_STATUS_IGNORE`), in the MPI that the program was built with. So the recorder takes
//! the calls where they leave the layer: it exports `PMPI_Send` as well as `MPI_Send`. The first of them that
//! is called from outside MPI is the program's call, and is counted once.
//!
//! The layer hides the place of the program's call. So the symbols of Fortran are exported too: they note
//! their return address, and jump to the layer with all arguments unchanged, for any signature. The C call
//! that follows takes the note ([`caller`]).
//!
//! | interface | Open MPI | MPICH |
//! |---|---|---|
//! | `mpif.h`, `use mpi` | `mpi_send_` | `mpi_send_` |
//! | `use mpi_f08`, buffers | `mpi_send_f08_` | `mpi_send_f08ts_`, `mpi_send_f08ts_large_` (counts of 8 bytes) |
//! | `use mpi_f08`, others | `mpi_wait_f08_` | `mpi_wait_f08_` |
//!
//! The names of compilers that append two underscores or none, or write capitals, are exported as well.

use std::cell::Cell;
use std::ffi::c_void;

use crate::entry::Caller;
use crate::mpi::Symbol;

/// No note.
const NOTHING: Caller = Caller { back: 0, stack: 0, frame: 0 };

thread_local! {
    /// Origin of the last entry into the layer; `NOTHING` once the note has been taken.
    static ORIGIN: Cell<Caller> = const { Cell::new(NOTHING) };
}

/// Returns the origin of a call, given the last argument of its body: the entry into the layer of Fortran if
/// there was one.
///
/// # Safety
/// `site` is the last argument of a body that has not returned.
#[inline]
pub unsafe fn caller(site: usize) -> Caller {
    let noted = ORIGIN.get();
    if noted.back == 0 {
        // SAFETY: promised by the caller.
        return unsafe { Caller::at(site) };
    }
    ORIGIN.set(NOTHING);
    noted
}

/// Notes the origin of an entry and returns the address to continue at, in the layer.
extern "C" fn note(entry: &Symbol, site: usize) -> *mut c_void {
    // SAFETY: `jump_to_layer` has made a frame as entries do, and its address is `site`.
    ORIGIN.set(unsafe { Caller::at(site) });
    entry.find().unwrap_or_else(|| {
        eprintln!("hayase: the program calls `{}`, which no library has", entry.name);
        std::process::abort();
    })
}

/// Calls [`note`] and continues at its result with all arguments unchanged, in registers and on the stack.
///
/// Arguments of Fortran are addresses, and lengths of texts: none is in a floating-point register.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn jump_to_layer() {
    ::core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push rax",
        "sub rsp, 8",
        "mov rdi, r11",
        "mov rsi, rbp",
        "call {note}",
        "mov r11, rax",
        "add rsp, 8",
        "pop rax",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "jmp r11",
        ".cfi_endproc",
        note = sym note,
    )
}

/// See above.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn jump_to_layer() {
    ::core::arch::naked_asm!(
        "stp x29, x30, [sp, #-16]!",
        "mov x29, sp",
        "sub sp, sp, #80",
        "stp x0, x1, [sp]",
        "stp x2, x3, [sp, #16]",
        "stp x4, x5, [sp, #32]",
        "stp x6, x7, [sp, #48]",
        "str x8, [sp, #64]",
        "mov x0, x9",
        "mov x1, x29",
        "bl {note}",
        "mov x16, x0",
        "ldp x0, x1, [sp]",
        "ldp x2, x3, [sp, #16]",
        "ldp x4, x5, [sp, #32]",
        "ldp x6, x7, [sp, #48]",
        "ldr x8, [sp, #64]",
        "mov sp, x29",
        "ldp x29, x30, [sp], #16",
        "br x16",
        note = sym note,
    )
}

/// Exports the symbols of calls, by their names in lowercase without `mpi_`.
macro_rules! export {
    ($($call:ident)*) => { $(
        export!(@symbol concat!("mpi_", stringify!($call)), "");
        export!(@symbol concat!("mpi_", stringify!($call)), "_");
        export!(@symbol concat!("mpi_", stringify!($call)), "__");
        export!(@symbol concat!("mpi_", stringify!($call)), "_f08_");
        export!(@symbol concat!("mpi_", stringify!($call)), "_f08ts_");
        export!(@symbol concat!("mpi_", stringify!($call)), "_f08ts_large_");
    )* };
    (@symbol $name:expr, $suffix:literal) => {
        const _: () = {
            static ENTRY: Symbol = Symbol::new(concat!($name, $suffix));

            /// Entry of the call for programs.
            ///
            /// # Safety
            /// As MPI has it.
            #[unsafe(naked)]
            #[unsafe(export_name = concat!($name, $suffix))]
            unsafe extern "C" fn entry() {
                #[cfg(target_arch = "x86_64")]
                ::core::arch::naked_asm!(
                    "lea r11, [rip + {entry}]",
                    "jmp {jump}",
                    entry = sym ENTRY,
                    jump = sym jump_to_layer
                );
                #[cfg(target_arch = "aarch64")]
                ::core::arch::naked_asm!(
                    "adrp x9, {entry}",
                    "add x9, x9, :lo12:{entry}",
                    "b {jump}",
                    entry = sym ENTRY,
                    jump = sym jump_to_layer
                );
            }
        };
    };
}

// All calls that are recorded from C.
export! {
    init init_thread finalize abort pcontrol
    send bsend ssend rsend isend ibsend issend irsend recv irecv sendrecv sendrecv_replace mrecv imrecv
    send_init bsend_init ssend_init rsend_init recv_init start startall
    wait waitall waitany waitsome test testall testany testsome cancel request_free probe iprobe mprobe improbe
    barrier bcast reduce allreduce gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw
    reduce_scatter reduce_scatter_block scan exscan
    ibarrier ibcast ireduce iallreduce igather igatherv iscatter iscatterv iallgather iallgatherv
    ialltoall ialltoallv ialltoallw ireduce_scatter ireduce_scatter_block iscan iexscan
    neighbor_allgather neighbor_allgatherv neighbor_alltoall neighbor_alltoallv neighbor_alltoallw
    ineighbor_allgather ineighbor_allgatherv ineighbor_alltoall ineighbor_alltoallv ineighbor_alltoallw
    isendrecv isendrecv_replace psend_init precv_init
    barrier_init bcast_init reduce_init allreduce_init gather_init gatherv_init scatter_init scatterv_init
    allgather_init allgatherv_init alltoall_init alltoallv_init alltoallw_init
    reduce_scatter_init reduce_scatter_block_init scan_init exscan_init
    comm_dup comm_dup_with_info comm_idup comm_split comm_split_type comm_create comm_create_group comm_free
    cart_create cart_sub graph_create dist_graph_create dist_graph_create_adjacent intercomm_create intercomm_merge
    comm_spawn comm_spawn_multiple comm_accept comm_connect comm_disconnect comm_join
    win_create win_allocate win_allocate_shared win_create_dynamic win_free win_fence win_start win_complete win_post win_wait
    win_lock win_lock_all win_unlock win_unlock_all win_flush win_flush_all win_flush_local win_flush_local_all win_sync
    win_attach win_detach win_test
    put get accumulate get_accumulate fetch_and_op compare_and_swap rput rget raccumulate rget_accumulate
    file_open file_close file_delete file_set_size file_preallocate file_set_view file_sync
    file_read file_read_all file_read_at file_read_at_all file_read_shared file_read_ordered
    file_write file_write_all file_write_at file_write_at_all file_write_shared file_write_ordered
    file_iread file_iread_at file_iread_all file_iread_at_all file_iread_shared
    file_iwrite file_iwrite_at file_iwrite_all file_iwrite_at_all file_iwrite_shared
    file_seek file_seek_shared
    file_read_all_begin file_read_all_end file_read_at_all_begin file_read_at_all_end
    file_write_all_begin file_write_all_end file_write_at_all_begin file_write_at_all_end
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn a_note_is_taken_once() {
        let (frame, noted) = ([1_usize, 7], Caller { back: 42, stack: 16, frame: 3 });
        let site = frame.as_ptr() as usize;
        let plain = Caller { back: 7, stack: site + 16, frame: 1 };
        // SAFETY: a frame lies there.
        let caller = || unsafe { caller(site) };
        assert_eq!(caller(), plain, "nobody came through Fortran");
        ORIGIN.set(noted);
        assert_eq!(caller(), noted);
        assert_eq!(caller(), plain);
    }

    /// Stands in for the layer of Fortran: returns its arguments as digits, those in registers and those on
    /// the stack.
    unsafe extern "C" fn layer(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64, i: u64, j: u64) -> u64 {
        [a, b, c, d, e, f, g, h, i, j].into_iter().fold(0, |sum, digit| sum * 10 + digit)
    }

    static ENTRY: Symbol = Symbol::new("hayase_test_layer");

    #[unsafe(naked)]
    unsafe extern "C" fn entry() {
        #[cfg(target_arch = "x86_64")]
        ::core::arch::naked_asm!(
            "lea r11, [rip + {entry}]",
            "jmp {jump}",
            entry = sym ENTRY,
            jump = sym jump_to_layer
        );
        #[cfg(target_arch = "aarch64")]
        ::core::arch::naked_asm!(
            "adrp x9, {entry}",
            "add x9, x9, :lo12:{entry}",
            "b {jump}",
            entry = sym ENTRY,
            jump = sym jump_to_layer
        );
    }

    #[test]
    fn arguments_go_on_as_they_came_and_the_caller_is_noted() {
        ENTRY.address.store(layer as *mut c_void, Ordering::Relaxed);
        type Layer = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u64;
        // SAFETY: what is jumped on to takes these arguments.
        let entry = unsafe { std::mem::transmute::<*const (), Layer>(entry as *const ()) };
        // SAFETY: as above.
        assert_eq!(unsafe { entry(1, 2, 3, 4, 5, 6, 7, 8, 9, 0) }, 1_234_567_890);
        let here = arguments_go_on_as_they_came_and_the_caller_is_noted as *const () as usize;
        assert!(ORIGIN.get().back.abs_diff(here) < 1 << 20);
    }
}
