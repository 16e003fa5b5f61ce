//! Collective operations: what this rank contributes and receives; blocking, and with a request.

use std::ffi::{c_int, c_void};

use hayase_trace::Call;

use super::calls;
use super::collective_blocks::BlockTypes;
use crate::recorder::requests::Request;
use crate::token::WaitEvent;

/// Defines both forms of an operation, blocking and with a request. Arguments: the call, its name and its
/// function; those of the form with a request; the arguments before the communicator; statements that record
/// it after the communicator.
macro_rules! collectives {
    ($($call:ident $symbol:ident $name:ident $icall:ident $isymbol:ident $iname:ident(
        $($argument:ident),*
    ) |$recorder:ident| { $($say:tt)* })*) => {
        calls! {$(
            $call $symbol $name($($argument,)* comm) |$recorder| {
                $recorder.set_communicator(comm);
                $($say)*
            } turn {
                $recorder.meet(comm);
                let none = $recorder.abi.status_ignore as *mut c_void;
                $recorder.start_in_turn(none, WaitEvent::Poll, |mpi, request| {
                    (mpi.$iname)($($argument,)* comm, request)
                })
            };
            $icall $isymbol $iname($($argument,)* comm, request) |$recorder| {
                $recorder.set_communicator(comm);
                $($say)*
            } done {
                $recorder.begin_request(request, Request::UNDER_WAY)
            };
        )*}
    };
}

collectives! {
    Barrier Barrier barrier Ibarrier Ibarrier ibarrier() |recorder| {}
    Bcast Bcast bcast Ibcast Ibcast ibcast(buffer, count, datatype, root) |recorder| {
        recorder.record_root(root);
        recorder.record_vector(buffer, count, datatype);
    }
    Reduce Reduce reduce Ireduce Ireduce ireduce(sendbuf, recvbuf, count, datatype, op, root) |recorder| {
        recorder.record_root(root);
        recorder.record_reduction(sendbuf, recvbuf, count, datatype, op);
    }
    Allreduce Allreduce allreduce Iallreduce Iallreduce iallreduce(sendbuf, recvbuf, count, datatype, op) |recorder| {
        recorder.record_reduction(sendbuf, recvbuf, count, datatype, op);
    }
    Gather Gather gather Igather Igather igather(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root
    ) |recorder| {
        recorder.record_root(root);
        recorder.record_block_sent(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, recorder.is_root(root));
    }
    Gatherv Gatherv gatherv Igatherv Igatherv igatherv(
        sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root
    ) |recorder| {
        recorder.record_root(root);
        recorder.record_block_sent(sendbuf, sendcount, sendtype, recvbuf, 0, recvtype, false);
        if recorder.is_root(root) {
            recorder.blocks_received(recvcounts, recvtype, sendbuf);
        }
    }
    Scatter Scatter scatter Iscatter Iscatter iscatter(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root
    ) |recorder| {
        recorder.record_root(root);
        let is_root = recorder.is_root(root);
        recorder.record_block_received(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, is_root);
    }
    Scatterv Scatterv scatterv Iscatterv Iscatterv iscatterv(
        sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root
    ) |recorder| {
        recorder.record_root(root);
        recorder.record_scatter(sendbuf, sendcounts, sendtype, recvbuf, recvcount, recvtype, recorder.is_root(root));
    }
    Allgather Allgather allgather Iallgather Iallgather iallgather(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
    ) |recorder| {
        recorder.record_block_sent(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, true);
    }
    Allgatherv Allgatherv allgatherv Iallgatherv Iallgatherv iallgatherv(
        sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype
    ) |recorder| {
        recorder.record_block_sent(sendbuf, sendcount, sendtype, recvbuf, 0, recvtype, true);
        recorder.blocks_received(recvcounts, recvtype, sendbuf);
    }
    Alltoall Alltoall alltoall Ialltoall Ialltoall ialltoall(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
    ) |recorder| {
        recorder.record_block_sent(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, true);
    }
    Alltoallv Alltoallv alltoallv Ialltoallv Ialltoallv ialltoallv(
        sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
    ) |recorder| {
        let (sendtypes, recvtypes) = (BlockTypes::One(sendtype), BlockTypes::One(recvtype));
        recorder.all_to_all(sendbuf, sendcounts, sendtypes, recvbuf, recvcounts, recvtypes);
    }
    Alltoallw Alltoallw alltoallw Ialltoallw Ialltoallw ialltoallw(
        sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes
    ) |recorder| {
        let (sent, received) = (BlockTypes::Each(sendtypes), BlockTypes::Each(recvtypes));
        recorder.all_to_all(sendbuf, sendcounts, sent, recvbuf, recvcounts, received);
    }
    ReduceScatter Reduce_scatter reduce_scatter IreduceScatter Ireduce_scatter ireduce_scatter(
        sendbuf, recvbuf, recvcounts, datatype, op
    ) |recorder| {
        recorder.record_reduction(sendbuf, recvbuf, 0, datatype, op);
        recorder.blocks_sent(recvcounts, datatype);
    }
    ReduceScatterBlock Reduce_scatter_block reduce_scatter_block IreduceScatterBlock Ireduce_scatter_block ireduce_scatter_block(
        sendbuf, recvbuf, recvcount, datatype, op
    ) |recorder| {
        recorder.record_reduction(sendbuf, recvbuf, recvcount, datatype, op);
    }
    Scan Scan scan Iscan Iscan iscan(sendbuf, recvbuf, count, datatype, op) |recorder| {
        recorder.record_reduction(sendbuf, recvbuf, count, datatype, op);
    }
    Exscan Exscan exscan Iexscan Iexscan iexscan(sendbuf, recvbuf, count, datatype, op) |recorder| {
        recorder.record_reduction(sendbuf, recvbuf, count, datatype, op);
    }
}
