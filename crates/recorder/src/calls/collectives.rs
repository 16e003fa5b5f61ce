//! Collective operations: what this rank contributes and receives; blocking, and with a request.

use std::ffi::{c_int, c_void};

use hayase_mpi::{Handle, SUCCESS};
use hayase_trace::Call;

use super::collective_blocks::Types;
use super::{enter, pass_on};
use crate::entry::export;
use crate::recorder::requests::Request;
use crate::token::Wait;

export! {
    MPI_Barrier 1 barrier;
    MPI_Ibarrier 2 ibarrier;
    MPI_Bcast 5 bcast;
    MPI_Ibcast 6 ibcast;
    MPI_Reduce 7 reduce;
    MPI_Ireduce 8 ireduce;
    MPI_Allreduce 6 allreduce;
    MPI_Iallreduce 7 iallreduce;
    MPI_Gather 8 gather;
    MPI_Igather 9 igather;
    MPI_Gatherv 9 gatherv;
    MPI_Igatherv 10 igatherv;
    MPI_Scatter 8 scatter;
    MPI_Iscatter 9 iscatter;
    MPI_Scatterv 9 scatterv;
    MPI_Iscatterv 10 iscatterv;
    MPI_Allgather 7 allgather;
    MPI_Iallgather 8 iallgather;
    MPI_Allgatherv 8 allgatherv;
    MPI_Iallgatherv 9 iallgatherv;
    MPI_Alltoall 7 alltoall;
    MPI_Ialltoall 8 ialltoall;
    MPI_Alltoallv 9 alltoallv;
    MPI_Ialltoallv 10 ialltoallv;
    MPI_Alltoallw 9 alltoallw;
    MPI_Ialltoallw 10 ialltoallw;
    MPI_Reduce_scatter 6 reduce_scatter;
    MPI_Ireduce_scatter 7 ireduce_scatter;
    MPI_Reduce_scatter_block 6 reduce_scatter_block;
    MPI_Ireduce_scatter_block 7 ireduce_scatter_block;
    MPI_Scan 6 scan;
    MPI_Iscan 7 iscan;
    MPI_Exscan 6 exscan;
    MPI_Iexscan 7 iexscan;
}

/// Both forms of an operation: the call, its function, the call that makes a request, its function; the arguments; what
/// is said about it, once the communicator has been said.
macro_rules! collectives {
    ($($call:ident $name:ident $icall:ident $iname:ident(
        $($argument:ident: $type:ty,)*
    ) |$recorder:ident| $say:block)*) => {
        $(
            #[doc = concat!("`MPI_", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As MPI has it.
            #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
            pub unsafe extern "C" fn $name($($argument: $type,)* site: usize) -> c_int {
                let $recorder = enter!(Call::$call, site, else $name($($argument),*));
                $recorder.on(comm!($($argument)*));
                $say
                let result = if $recorder.token.is_some() {
                    $recorder.meet(comm!($($argument)*));
                    let mut request = [0_u64; 1];
                    let request = request.as_mut_ptr().cast::<c_void>();
                    let result = pass_on!($recorder.$iname($($argument,)* request));
                    if result == SUCCESS {
                        let none = $recorder.abi.status_ignore as *mut c_void;
                        // SAFETY: the request was made above.
                        unsafe { $recorder.test_in_turn(request, none, Wait::Poll) }
                    } else {
                        result
                    }
                } else {
                    pass_on!($recorder.$name($($argument),*))
                };
                $recorder.leave_if(result)
            }

            #[doc = concat!("`MPI_", stringify!($iname), "`.")]
            ///
            /// # Safety
            /// As MPI has it.
            #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
            pub unsafe extern "C" fn $iname($($argument: $type,)* request: *mut c_void, site: usize) -> c_int {
                let $recorder = enter!(Call::$icall, site, else $iname($($argument,)* request));
                $recorder.on(comm!($($argument)*));
                $say
                let result = pass_on!($recorder.$iname($($argument,)* request));
                if result != SUCCESS {
                    return $recorder.abandon(result);
                }
                let number = $recorder.makes();
                // SAFETY: MPI has written the handle.
                unsafe { $recorder.made(request, Request::new(number)) };
                $recorder.leave(result)
            }
        )*
    };
}

/// The communicator: the last argument.
macro_rules! comm {
    ($last:ident) => { $last };
    ($first:ident $($rest:ident)+) => { comm!($($rest)+) };
}

collectives! {
    Barrier barrier Ibarrier ibarrier(
        comm: Handle,
    ) |recorder| {
    }
    Bcast bcast Ibcast ibcast(
        buffer: *mut c_void,
        count: c_int,
        datatype: Handle,
        root: c_int,
        comm: Handle,
    ) |recorder| {
        recorder.rooted(root);
        recorder.vector(buffer, count, datatype);
    }
    Reduce reduce Ireduce ireduce(
        from: *const c_void,
        to: *mut c_void,
        count: c_int,
        datatype: Handle,
        op: Handle,
        root: c_int,
        comm: Handle,
    ) |recorder| {
        recorder.rooted(root);
        recorder.reduces(from, to, count, datatype, op);
    }
    Allreduce allreduce Iallreduce iallreduce(
        from: *const c_void,
        to: *mut c_void,
        count: c_int,
        datatype: Handle,
        op: Handle,
        comm: Handle,
    ) |recorder| {
        recorder.reduces(from, to, count, datatype, op);
    }
    Gather gather Igather igather(
        from: *const c_void,
        count: c_int,
        datatype: Handle,
        to: *mut c_void,
        to_count: c_int,
        to_type: Handle,
        root: c_int,
        comm: Handle,
    ) |recorder| {
        recorder.rooted(root);
        recorder.block(from, count, datatype, to, to_count, to_type, recorder.roots(root));
    }
    Gatherv gatherv Igatherv igatherv(
        from: *const c_void,
        count: c_int,
        datatype: Handle,
        to: *mut c_void,
        to_counts: *const c_int,
        to_places: *const c_int,
        to_type: Handle,
        root: c_int,
        comm: Handle,
    ) |recorder| {
        recorder.rooted(root);
        recorder.block(from, count, datatype, to, 0, to_type, false);
        if recorder.roots(root) { recorder.blocks_received(to_counts, to_type, from);
        }
    }
    Scatter scatter Iscatter iscatter(
        from: *const c_void,
        count: c_int,
        datatype: Handle,
        to: *mut c_void,
        to_count: c_int,
        to_type: Handle,
        root: c_int,
        comm: Handle,
    ) |recorder| {
        recorder.rooted(root);
        recorder.block_received(from, count, datatype, to, to_count, to_type, recorder.roots(root));
    }
    Scatterv scatterv Iscatterv iscatterv(
        from: *const c_void,
        counts: *const c_int,
        places: *const c_int,
        datatype: Handle,
        to: *mut c_void,
        to_count: c_int,
        to_type: Handle,
        root: c_int,
        comm: Handle,
    ) |recorder| {
        recorder.rooted(root);
        recorder.scatters(from, counts, datatype, to, to_count, to_type, recorder.roots(root));
    }
    Allgather allgather Iallgather iallgather(
        from: *const c_void,
        count: c_int,
        datatype: Handle,
        to: *mut c_void,
        to_count: c_int,
        to_type: Handle,
        comm: Handle,
    ) |recorder| {
        recorder.block(from, count, datatype, to, to_count, to_type, true);
    }
    Allgatherv allgatherv Iallgatherv iallgatherv(
        from: *const c_void,
        count: c_int,
        datatype: Handle,
        to: *mut c_void,
        to_counts: *const c_int,
        to_places: *const c_int,
        to_type: Handle,
        comm: Handle,
    ) |recorder| {
        recorder.block(from, count, datatype, to, 0, to_type, true);
        recorder.blocks_received(to_counts, to_type, from);
    }
    Alltoall alltoall Ialltoall ialltoall(
        from: *const c_void,
        count: c_int,
        datatype: Handle,
        to: *mut c_void,
        to_count: c_int,
        to_type: Handle,
        comm: Handle,
    ) |recorder| {
        recorder.block(from, count, datatype, to, to_count, to_type, true);
    }
    Alltoallv alltoallv Ialltoallv ialltoallv(
        from: *const c_void,
        counts: *const c_int,
        places: *const c_int,
        datatype: Handle,
        to: *mut c_void,
        to_counts: *const c_int,
        to_places: *const c_int,
        to_type: Handle,
        comm: Handle,
    ) |recorder| {
        recorder.all_to_all(from, counts, Types::One(datatype), to, to_counts, Types::One(to_type));
    }
    Alltoallw alltoallw Ialltoallw ialltoallw(
        from: *const c_void,
        counts: *const c_int,
        places: *const c_int,
        datatypes: *const c_void,
        to: *mut c_void,
        to_counts: *const c_int,
        to_places: *const c_int,
        to_types: *const c_void,
        comm: Handle,
    ) |recorder| {
        recorder.all_to_all(from, counts, Types::Each(datatypes), to, to_counts, Types::Each(to_types));
    }
    ReduceScatter reduce_scatter IreduceScatter ireduce_scatter(
        from: *const c_void,
        to: *mut c_void,
        to_counts: *const c_int,
        datatype: Handle,
        op: Handle,
        comm: Handle,
    ) |recorder| {
        recorder.reduces(from, to, 0, datatype, op);
        recorder.blocks_sent(to_counts, datatype);
    }
    ReduceScatterBlock reduce_scatter_block IreduceScatterBlock ireduce_scatter_block(
        from: *const c_void,
        to: *mut c_void,
        count: c_int,
        datatype: Handle,
        op: Handle,
        comm: Handle,
    ) |recorder| {
        recorder.reduces(from, to, count, datatype, op);
    }
    Scan scan Iscan iscan(
        from: *const c_void,
        to: *mut c_void,
        count: c_int,
        datatype: Handle,
        op: Handle,
        comm: Handle,
    ) |recorder| {
        recorder.reduces(from, to, count, datatype, op);
    }
    Exscan exscan Iexscan iexscan(
        from: *const c_void,
        to: *mut c_void,
        count: c_int,
        datatype: Handle,
        op: Handle,
        comm: Handle,
    ) |recorder| {
        recorder.reduces(from, to, count, datatype, op);
    }
}
