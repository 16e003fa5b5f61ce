//! The functions of MPI, by name, with their arguments.

use std::ffi::{CString, c_char, c_int, c_void};

use crate::Library;

/// A handle (`MPI_Comm`, `MPI_Datatype` ...) in a register. Pointers to handles are `*mut c_void`, since their size
/// depends on the library: [`Abi::read_handle`](crate::Abi::read_handle).
pub type Handle = usize;

/// `MPI_ERR_OTHER`, as far as the two families agree: an error.
const MISSING: c_int = 16;

macro_rules! arguments {
    ($($type:ty: $($name:ident)*;)*) => {
        /// Type of an argument of MPI's functions in C, by its name in the standard: `int`, or that of the table. Where
        /// one name has several types, the argument names its own: `status: *const c_void`.
        #[macro_export]
        macro_rules! argument {
            ($argument:ident: $own:ty) => { $own };
            $($(($name) => { $type };)*)*
            ($argument:ident) => { ::std::ffi::c_int };
        }
    };
}

arguments! {
    usize: comm datatype sendtype recvtype op info group errhandler;
    *const ::std::ffi::c_void: sendbuf sendtypes recvtypes;
    *mut ::std::ffi::c_void: buffer recvbuf request requests status statuses message newcomm;
    *mut ::std::ffi::c_int: flag index outcount indices size;
    *const ::std::ffi::c_int: sendcounts recvcounts displs sdispls rdispls;
}

macro_rules! functions {
    ($($name:ident $field:ident($($argument:ident $(: $own:ty)?),*);)*) => {
        /// Functions of an MPI library.
        ///
        /// A function that the library does not have returns an error; [`Functions::missing`] lists these.
        ///
        /// # Safety
        /// Calling one has the conditions that MPI gives it.
        #[allow(missing_docs, reason = "they are the names of MPI")]
        #[derive(Clone, Debug)]
        pub struct Functions {
            $(pub $field: unsafe extern "C" fn($(argument!($argument $(: $own)?)),*) -> c_int,)*
            pub wtime: unsafe extern "C" fn() -> f64,
            missing: Vec<&'static str>,
        }

        impl Functions {
            /// Looks up all functions: under their names (`prefix` `"MPI_"`) or beneath every tool
            /// (`"PMPI_"`).
            pub fn load(library: &Library, prefix: &str) -> Self {
                Self::find(prefix, |name| {
                    CString::new(name).map_or(std::ptr::null_mut(), |name| library.address(&name))
                })
            }

            /// Looks up all functions with `find`, which returns the address, or null if there is none.
            pub fn find(prefix: &str, find: impl Fn(&str) -> *mut c_void) -> Self {
                $(
                    unsafe extern "C" fn $field($($argument: argument!($argument $(: $own)?)),*) -> c_int {
                        $(let _ = $argument;)*
                        MISSING
                    }
                )*
                unsafe extern "C" fn wtime() -> f64 {
                    0.0
                }
                let mut missing = Vec::new();
                Self {
                    $($field: {
                        let address = find(&format!("{prefix}{}", stringify!($name)));
                        if address.is_null() {
                            missing.push(stringify!($name));
                            $field
                        } else {
                            // SAFETY: MPI fixes the arguments of the function of this name; handles and integers are
                            // passed in registers or 8 bytes of stack whatever their width.
                            unsafe {
                                std::mem::transmute::<
                                    *mut c_void,
                                    unsafe extern "C" fn($(argument!($argument $(: $own)?)),*) -> c_int,
                                >(address)
                            }
                        }
                    },)*
                    wtime: {
                        let address = find(&format!("{prefix}Wtime"));
                        if address.is_null() {
                            wtime
                        } else {
                            // SAFETY: `double MPI_Wtime(void)` in every MPI.
                            unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> f64>(address) }
                        }
                    },
                    missing,
                }
            }
        }
    };
}

functions! {
    // Point to point.
    Send send(sendbuf, count, datatype, dest, tag, comm);
    Bsend bsend(sendbuf, count, datatype, dest, tag, comm);
    Ssend ssend(sendbuf, count, datatype, dest, tag, comm);
    Rsend rsend(sendbuf, count, datatype, dest, tag, comm);
    Isend isend(sendbuf, count, datatype, dest, tag, comm, request);
    Ibsend ibsend(sendbuf, count, datatype, dest, tag, comm, request);
    Issend issend(sendbuf, count, datatype, dest, tag, comm, request);
    Irsend irsend(sendbuf, count, datatype, dest, tag, comm, request);
    Recv recv(buffer, count, datatype, source, tag, comm, status);
    Irecv irecv(buffer, count, datatype, source, tag, comm, request);
    Sendrecv sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
        comm, status);
    Sendrecv_replace sendrecv_replace(buffer, count, datatype, dest, sendtag, source, recvtag, comm, status);
    Mprobe mprobe(source, tag, comm, message, status);
    Improbe improbe(source, tag, comm, flag, message, status);
    Mrecv mrecv(buffer, count, datatype, message, status);
    Imrecv imrecv(buffer, count, datatype, message, request);
    Probe probe(source, tag, comm, status);
    Iprobe iprobe(source, tag, comm, flag, status);

    // Persistent requests.
    Send_init send_init(sendbuf, count, datatype, dest, tag, comm, request);
    Bsend_init bsend_init(sendbuf, count, datatype, dest, tag, comm, request);
    Ssend_init ssend_init(sendbuf, count, datatype, dest, tag, comm, request);
    Rsend_init rsend_init(sendbuf, count, datatype, dest, tag, comm, request);
    Recv_init recv_init(buffer, count, datatype, source, tag, comm, request);
    Start start(request);
    Startall startall(count, requests);

    // Completion.
    Wait wait(request, status);
    Waitall waitall(count, requests, statuses);
    Waitany waitany(count, requests, index, status);
    Waitsome waitsome(count, requests, outcount, indices, statuses);
    Test test(request, flag, status);
    Testall testall(count, requests, flag, statuses);
    Testany testany(count, requests, index, flag, status);
    Testsome testsome(count, requests, outcount, indices, statuses);
    Cancel cancel(request);
    Request_free request_free(request);
    Request_get_status request_get_status(request: Handle, flag, status);
    Test_cancelled test_cancelled(status: *const c_void, flag);
    Get_count get_count(status: *const c_void, datatype, count: *mut c_int);

    // Collective operations.
    Barrier barrier(comm);
    Bcast bcast(buffer, count, datatype, root, comm);
    Reduce reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
    Allreduce allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    Gather gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    Gatherv gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
    Scatter scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    Scatterv scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
    Allgather allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    Allgatherv allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
    Alltoall alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    Alltoallv alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
    Alltoallw alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
    Reduce_scatter reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
    Reduce_scatter_block reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
    Scan scan(sendbuf, recvbuf, count, datatype, op, comm);
    Exscan exscan(sendbuf, recvbuf, count, datatype, op, comm);

    // Collective operations that make a request.
    Ibarrier ibarrier(comm, request);
    Ibcast ibcast(buffer, count, datatype, root, comm, request);
    Ireduce ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
    Iallreduce iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
    Igather igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
    Igatherv igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request);
    Iscatter iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
    Iscatterv iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
    Iallgather iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
    Iallgatherv iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
    Ialltoall ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
    Ialltoallv ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
        request);
    Ialltoallw ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
        request);
    Ireduce_scatter ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
    Ireduce_scatter_block ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
    Iscan iscan(sendbuf, recvbuf, count, datatype, op, comm, request);
    Iexscan iexscan(sendbuf, recvbuf, count, datatype, op, comm, request);

    // Neighbourhoods.
    Neighbor_allgather neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    Neighbor_allgatherv neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
    Neighbor_alltoall neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    Neighbor_alltoallv neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
        recvtype, comm);
    Neighbor_alltoallw neighbor_alltoallw(sendbuf, sendcounts, sdispls: *const isize, sendtypes, recvbuf,
        recvcounts, rdispls: *const isize, recvtypes, comm);
    Ineighbor_allgather ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
    Ineighbor_allgatherv ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
        comm, request);
    Ineighbor_alltoall ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
    Ineighbor_alltoallv ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
        recvtype, comm, request);
    Ineighbor_alltoallw ineighbor_alltoallw(sendbuf, sendcounts, sdispls: *const isize, sendtypes, recvbuf,
        recvcounts, rdispls: *const isize, recvtypes, comm, request);

    // Communicators.
    Comm_dup comm_dup(comm, newcomm);
    Comm_dup_with_info comm_dup_with_info(comm, info, newcomm);
    Comm_idup comm_idup(comm, newcomm, request);
    Comm_split comm_split(comm, color, key, newcomm);
    Comm_split_type comm_split_type(comm, split_type, key, info, newcomm);
    Comm_create comm_create(comm, group, newcomm);
    Comm_create_group comm_create_group(comm, group, tag, newcomm);
    Cart_create cart_create(comm, ndims, dims: *const c_int, periods: *const c_int, reorder, newcomm);
    Cart_sub cart_sub(comm, remain: *const c_int, newcomm);
    Graph_create graph_create(comm, nnodes, index: *const c_int, edges: *const c_int, reorder, newcomm);
    Dist_graph_create dist_graph_create(comm, n, nodes: *const c_int, degrees: *const c_int, targets: *const c_int,
        weights: *const c_int, info, reorder, newcomm);
    Dist_graph_create_adjacent dist_graph_create_adjacent(comm, indegree, sources: *const c_int, sourceweights:
        *const c_int, outdegree, destinations: *const c_int, destweights: *const c_int, info, reorder, newcomm);
    Intercomm_create intercomm_create(comm, local_leader, bridge_comm: Handle, remote_leader, tag, newcomm);
    Intercomm_merge intercomm_merge(comm, high, newcomm);
    Comm_free comm_free(comm: *mut c_void);
    Comm_disconnect comm_disconnect(comm: *mut c_void);

    // Attributes of communicators and groups.
    Comm_get_parent comm_get_parent(parent: *mut c_void);
    Comm_rank comm_rank(comm, rank: *mut c_int);
    Comm_size comm_size(comm, size);
    Comm_remote_size comm_remote_size(comm, size);
    Comm_test_inter comm_test_inter(comm, flag);
    Comm_group comm_group(comm, group: *mut c_void);
    Comm_remote_group comm_remote_group(comm, group: *mut c_void);
    Group_size group_size(group, size);
    Group_rank group_rank(group, rank: *mut c_int);
    Group_translate_ranks group_translate_ranks(group1: Handle, n, ranks1: *const c_int, group2: Handle, ranks2:
        *mut c_int);
    Group_free group_free(group: *mut c_void);
    Group_incl group_incl(group, n, ranks: *const c_int, newgroup: *mut c_void);

    // Topologies.
    Topo_test topo_test(comm, status: *mut c_int);
    Cartdim_get cartdim_get(comm, ndims: *mut c_int);
    Cart_get cart_get(comm, maxdims, dims: *mut c_int, periods: *mut c_int, coords: *mut c_int);
    Cart_shift cart_shift(comm, direction, disp, rank_source: *mut c_int, rank_dest: *mut c_int);
    Graph_neighbors_count graph_neighbors_count(comm, rank, nneighbors: *mut c_int);
    Graph_neighbors graph_neighbors(comm, rank, maxneighbors, neighbors: *mut c_int);
    Dist_graph_neighbors_count dist_graph_neighbors_count(comm, inneighbors: *mut c_int, outneighbors: *mut c_int,
        weighted: *mut c_int);
    Dist_graph_neighbors dist_graph_neighbors(comm, maxindegree, sources: *mut c_int, sourceweights: *mut c_int,
        maxoutdegree, destinations: *mut c_int, destweights: *mut c_int);

    // Datatypes and operators.
    Type_size type_size(datatype, size);
    Type_get_extent type_get_extent(datatype, lb: *mut isize, extent: *mut isize);
    Type_get_true_extent type_get_true_extent(datatype, true_lb: *mut isize, true_extent: *mut isize);
    Type_commit type_commit(datatype: *mut c_void);
    Type_free type_free(datatype: *mut c_void);
    Type_contiguous type_contiguous(count, datatype, newtype: *mut c_void);
    Op_commutative op_commutative(op, commute: *mut c_int);
    Pack pack(sendbuf, count, datatype, recvbuf, outsize, position: *mut c_int, comm);
    Pack_size pack_size(count, datatype, comm, size);

    // Environment.
    Init init(argc: *mut c_int, argv: *mut *mut *mut c_char);
    Init_thread init_thread(argc: *mut c_int, argv: *mut *mut *mut c_char, required, provided: *mut c_int);
    Initialized initialized(flag);
    Finalized finalized(flag);
    Finalize finalize();
    Abort abort(comm, errorcode);
    Query_thread query_thread(provided: *mut c_int);
    Get_processor_name get_processor_name(name: *mut c_char, resultlen: *mut c_int);
    Get_library_version get_library_version(version: *mut c_char, resultlen: *mut c_int);
    Get_version get_version(version: *mut c_int, subversion: *mut c_int);
    Comm_set_errhandler comm_set_errhandler(comm, errhandler);
    Errhandler_free errhandler_free(errhandler: *mut c_void);
}

impl Functions {
    /// Functions that the library does not have, without `MPI_`.
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_is_not_there_returns_an_error() {
        let none = Functions::find("MPI_", |_| std::ptr::null_mut());
        assert!(none.missing().contains(&"Comm_split"));
        // SAFETY: the stand-in for a missing function looks at no argument.
        assert_ne!(unsafe { (none.barrier)(0) }, crate::SUCCESS);
    }
}
