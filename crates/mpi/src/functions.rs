//! The functions of MPI, by name, with their arguments.

use std::ffi::{CString, c_char, c_int, c_void};

use crate::Library;

/// A handle (`MPI_Comm`, `MPI_Datatype` ...) in a register. Pointers to handles are `*mut c_void`, since their size
/// depends on the library: [`Abi::read_handle`](crate::Abi::read_handle).
pub type Handle = usize;

/// `MPI_ERR_OTHER`, as far as the two families agree: an error.
const MISSING: c_int = 16;

macro_rules! functions {
    ($($name:ident $field:ident($($argument:ident: $type:ty),*);)*) => {
        /// Functions of an MPI library.
        ///
        /// One that the library does not have returns an error; [`Functions::missing`] says which these are.
        ///
        /// # Safety
        /// Calling one has the conditions that MPI gives it.
        #[allow(missing_docs, reason = "they are the names of MPI")]
        #[derive(Clone, Debug)]
        pub struct Functions {
            $(pub $field: unsafe extern "C" fn($($argument: $type),*) -> c_int,)*
            pub wtime: unsafe extern "C" fn() -> f64,
            missing: Vec<&'static str>,
        }

        impl Functions {
            /// Looks all functions up: under their names (`prefix` `"MPI_"`) or beneath every tool (`"PMPI_"`).
            pub fn load(library: &Library, prefix: &str) -> Self {
                Self::find(prefix, |name| {
                    CString::new(name).map_or(std::ptr::null_mut(), |name| library.address(&name))
                })
            }

            /// Looks all functions up where `find` finds them: the address, null if there is none.
            pub fn find(prefix: &str, find: impl Fn(&str) -> *mut c_void) -> Self {
                $(
                    unsafe extern "C" fn $field($($argument: $type),*) -> c_int {
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
                                    unsafe extern "C" fn($($argument: $type),*) -> c_int,
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
    Send send(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm: Handle);
    Bsend bsend(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm: Handle);
    Ssend ssend(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm: Handle);
    Rsend rsend(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm: Handle);
    Isend isend(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm: Handle,
        request: *mut c_void);
    Ibsend ibsend(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm: Handle,
        request: *mut c_void);
    Issend issend(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm: Handle,
        request: *mut c_void);
    Irsend irsend(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm: Handle,
        request: *mut c_void);
    Recv recv(buffer: *mut c_void, count: c_int, datatype: Handle, source: c_int, tag: c_int, comm: Handle,
        status: *mut c_void);
    Irecv irecv(buffer: *mut c_void, count: c_int, datatype: Handle, source: c_int, tag: c_int, comm: Handle,
        request: *mut c_void);
    Sendrecv sendrecv(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, dest: c_int, sendtag: c_int,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: Handle, source: c_int, recvtag: c_int, comm: Handle,
        status: *mut c_void);
    Sendrecv_replace sendrecv_replace(buffer: *mut c_void, count: c_int, datatype: Handle, dest: c_int, sendtag:
        c_int, source: c_int, recvtag: c_int, comm: Handle, status: *mut c_void);
    Mprobe mprobe(source: c_int, tag: c_int, comm: Handle, message: *mut c_void, status: *mut c_void);
    Improbe improbe(source: c_int, tag: c_int, comm: Handle, flag: *mut c_int, message: *mut c_void, status: *mut
        c_void);
    Mrecv mrecv(buffer: *mut c_void, count: c_int, kind: Handle, message: *mut c_void, status: *mut c_void);
    Imrecv imrecv(buffer: *mut c_void, count: c_int, kind: Handle, message: *mut c_void, request: *mut c_void);
    Probe probe(source: c_int, tag: c_int, comm: Handle, status: *mut c_void);
    Iprobe iprobe(source: c_int, tag: c_int, comm: Handle, flag: *mut c_int, status: *mut c_void);

    // Persistent requests.
    Send_init send_init(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm:
        Handle, request: *mut c_void);
    Bsend_init bsend_init(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm:
        Handle, request: *mut c_void);
    Ssend_init ssend_init(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm:
        Handle, request: *mut c_void);
    Rsend_init rsend_init(buffer: *const c_void, count: c_int, datatype: Handle, dest: c_int, tag: c_int, comm:
        Handle, request: *mut c_void);
    Recv_init recv_init(buffer: *mut c_void, count: c_int, datatype: Handle, source: c_int, tag: c_int, comm:
        Handle, request: *mut c_void);
    Start start(request: *mut c_void);
    Startall startall(count: c_int, requests: *mut c_void);

    // Completion.
    Wait wait(request: *mut c_void, status: *mut c_void);
    Waitall waitall(count: c_int, requests: *mut c_void, statuses: *mut c_void);
    Waitany waitany(count: c_int, requests: *mut c_void, index: *mut c_int, status: *mut c_void);
    Waitsome waitsome(incount: c_int, requests: *mut c_void, outcount: *mut c_int, indices: *mut c_int, statuses:
        *mut c_void);
    Test test(request: *mut c_void, flag: *mut c_int, status: *mut c_void);
    Testall testall(count: c_int, requests: *mut c_void, flag: *mut c_int, statuses: *mut c_void);
    Testany testany(count: c_int, requests: *mut c_void, index: *mut c_int, flag: *mut c_int, status: *mut c_void);
    Testsome testsome(incount: c_int, requests: *mut c_void, outcount: *mut c_int, indices: *mut c_int, statuses:
        *mut c_void);
    Cancel cancel(request: *mut c_void);
    Request_free request_free(request: *mut c_void);
    Request_get_status request_get_status(request: Handle, flag: *mut c_int, status: *mut c_void);
    Test_cancelled test_cancelled(status: *const c_void, flag: *mut c_int);
    Get_count get_count(status: *const c_void, datatype: Handle, count: *mut c_int);

    // Collective operations.
    Barrier barrier(comm: Handle);
    Bcast bcast(buffer: *mut c_void, count: c_int, datatype: Handle, root: c_int, comm: Handle);
    Reduce reduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: Handle, op: Handle, root:
        c_int, comm: Handle);
    Allreduce allreduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: Handle, op: Handle,
        comm: Handle);
    Gather gather(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void, recvcount:
        c_int, recvtype: Handle, root: c_int, comm: Handle);
    Gatherv gatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void, recvcounts:
        *const c_int, displs: *const c_int, recvtype: Handle, root: c_int, comm: Handle);
    Scatter scatter(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void, recvcount:
        c_int, recvtype: Handle, root: c_int, comm: Handle);
    Scatterv scatterv(sendbuf: *const c_void, sendcounts: *const c_int, displs: *const c_int, sendtype: Handle,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: Handle, root: c_int, comm: Handle);
    Allgather allgather(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void,
        recvcount: c_int, recvtype: Handle, comm: Handle);
    Allgatherv allgatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void,
        recvcounts: *const c_int, displs: *const c_int, recvtype: Handle, comm: Handle);
    Alltoall alltoall(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void, recvcount:
        c_int, recvtype: Handle, comm: Handle);
    Alltoallv alltoallv(sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtype: Handle,
        recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: Handle, comm: Handle);
    Alltoallw alltoallw(sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtypes: *const
        c_void, recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtypes: *const c_void,
        comm: Handle);
    Reduce_scatter reduce_scatter(sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const c_int,
        datatype: Handle, op: Handle, comm: Handle);
    Reduce_scatter_block reduce_scatter_block(sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: c_int,
        datatype: Handle, op: Handle, comm: Handle);
    Scan scan(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: Handle, op: Handle, comm: Handle);
    Exscan exscan(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: Handle, op: Handle, comm:
        Handle);

    // Collective operations that make a request.
    Ibarrier ibarrier(comm: Handle, request: *mut c_void);
    Ibcast ibcast(buffer: *mut c_void, count: c_int, datatype: Handle, root: c_int, comm: Handle, request: *mut
        c_void);
    Ireduce ireduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: Handle, op: Handle,
        root: c_int, comm: Handle, request: *mut c_void);
    Iallreduce iallreduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: Handle, op:
        Handle, comm: Handle, request: *mut c_void);
    Igather igather(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void, recvcount:
        c_int, recvtype: Handle, root: c_int, comm: Handle, request: *mut c_void);
    Igatherv igatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void,
        recvcounts: *const c_int, displs: *const c_int, recvtype: Handle, root: c_int, comm: Handle, request: *mut
        c_void);
    Iscatter iscatter(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void, recvcount:
        c_int, recvtype: Handle, root: c_int, comm: Handle, request: *mut c_void);
    Iscatterv iscatterv(sendbuf: *const c_void, sendcounts: *const c_int, displs: *const c_int, sendtype: Handle,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: Handle, root: c_int, comm: Handle, request: *mut
        c_void);
    Iallgather iallgather(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void,
        recvcount: c_int, recvtype: Handle, comm: Handle, request: *mut c_void);
    Iallgatherv iallgatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void,
        recvcounts: *const c_int, displs: *const c_int, recvtype: Handle, comm: Handle, request: *mut c_void);
    Ialltoall ialltoall(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut c_void,
        recvcount: c_int, recvtype: Handle, comm: Handle, request: *mut c_void);
    Ialltoallv ialltoallv(sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtype:
        Handle, recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: Handle, comm:
        Handle, request: *mut c_void);
    Ialltoallw ialltoallw(sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtypes:
        *const c_void, recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtypes: *const
        c_void, comm: Handle, request: *mut c_void);
    Ireduce_scatter ireduce_scatter(sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const c_int,
        datatype: Handle, op: Handle, comm: Handle, request: *mut c_void);
    Ireduce_scatter_block ireduce_scatter_block(sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: c_int,
        datatype: Handle, op: Handle, comm: Handle, request: *mut c_void);
    Iscan iscan(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: Handle, op: Handle, comm:
        Handle, request: *mut c_void);
    Iexscan iexscan(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: Handle, op: Handle,
        comm: Handle, request: *mut c_void);

    // Neighbourhoods.
    Neighbor_allgather neighbor_allgather(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf:
        *mut c_void, recvcount: c_int, recvtype: Handle, comm: Handle);
    Neighbor_allgatherv neighbor_allgatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf:
        *mut c_void, recvcounts: *const c_int, displs: *const c_int, recvtype: Handle, comm: Handle);
    Neighbor_alltoall neighbor_alltoall(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf: *mut
        c_void, recvcount: c_int, recvtype: Handle, comm: Handle);
    Neighbor_alltoallv neighbor_alltoallv(sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int,
        sendtype: Handle, recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: Handle,
        comm: Handle);
    Neighbor_alltoallw neighbor_alltoallw(sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const isize,
        sendtypes: *const c_void, recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const isize,
        recvtypes: *const c_void, comm: Handle);
    Ineighbor_allgather ineighbor_allgather(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf:
        *mut c_void, recvcount: c_int, recvtype: Handle, comm: Handle, request: *mut c_void);
    Ineighbor_allgatherv ineighbor_allgatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf:
        *mut c_void, recvcounts: *const c_int, displs: *const c_int, recvtype: Handle, comm: Handle, request: *mut
        c_void);
    Ineighbor_alltoall ineighbor_alltoall(sendbuf: *const c_void, sendcount: c_int, sendtype: Handle, recvbuf:
        *mut c_void, recvcount: c_int, recvtype: Handle, comm: Handle, request: *mut c_void);
    Ineighbor_alltoallv ineighbor_alltoallv(sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const
        c_int, sendtype: Handle, recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype:
        Handle, comm: Handle, request: *mut c_void);
    Ineighbor_alltoallw ineighbor_alltoallw(sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const
        isize, sendtypes: *const c_void, recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const isize,
        recvtypes: *const c_void, comm: Handle, request: *mut c_void);

    // Communicators.
    Comm_dup comm_dup(comm: Handle, newcomm: *mut c_void);
    Comm_dup_with_info comm_dup_with_info(comm: Handle, info: Handle, newcomm: *mut c_void);
    Comm_idup comm_idup(comm: Handle, newcomm: *mut c_void, request: *mut c_void);
    Comm_split comm_split(comm: Handle, color: c_int, key: c_int, newcomm: *mut c_void);
    Comm_split_type comm_split_type(comm: Handle, split_type: c_int, key: c_int, info: Handle, newcomm: *mut c_void);
    Comm_create comm_create(comm: Handle, group: Handle, newcomm: *mut c_void);
    Comm_create_group comm_create_group(comm: Handle, group: Handle, tag: c_int, newcomm: *mut c_void);
    Cart_create cart_create(old_comm: Handle, ndims: c_int, dims: *const c_int, periods: *const c_int, reorder:
        c_int, comm_cart: *mut c_void);
    Cart_sub cart_sub(comm: Handle, remain_dims: *const c_int, new_comm: *mut c_void);
    Graph_create graph_create(comm_old: Handle, nnodes: c_int, index: *const c_int, edges: *const c_int, reorder:
        c_int, comm_graph: *mut c_void);
    Dist_graph_create dist_graph_create(comm_old: Handle, n: c_int, nodes: *const c_int, degrees: *const c_int,
        targets: *const c_int, weights: *const c_int, info: Handle, reorder: c_int, newcomm: *mut c_void);
    Dist_graph_create_adjacent dist_graph_create_adjacent(comm_old: Handle, indegree: c_int, sources: *const
        c_int, sourceweights: *const c_int, outdegree: c_int, destinations: *const c_int, destweights: *const
        c_int, info: Handle, reorder: c_int, comm_dist_graph: *mut c_void);
    Intercomm_create intercomm_create(local_comm: Handle, local_leader: c_int, bridge_comm: Handle, remote_leader:
        c_int, tag: c_int, newintercomm: *mut c_void);
    Intercomm_merge intercomm_merge(intercomm: Handle, high: c_int, newintercomm: *mut c_void);
    Comm_free comm_free(comm: *mut c_void);
    Comm_disconnect comm_disconnect(comm: *mut c_void);

    // What communicators and groups are.
    Comm_get_parent comm_get_parent(parent: *mut c_void);
    Comm_rank comm_rank(comm: Handle, rank: *mut c_int);
    Comm_size comm_size(comm: Handle, size: *mut c_int);
    Comm_remote_size comm_remote_size(comm: Handle, size: *mut c_int);
    Comm_test_inter comm_test_inter(comm: Handle, flag: *mut c_int);
    Comm_group comm_group(comm: Handle, group: *mut c_void);
    Comm_remote_group comm_remote_group(comm: Handle, group: *mut c_void);
    Group_size group_size(group: Handle, size: *mut c_int);
    Group_rank group_rank(group: Handle, rank: *mut c_int);
    Group_translate_ranks group_translate_ranks(group1: Handle, n: c_int, ranks1: *const c_int, group2: Handle,
        ranks2: *mut c_int);
    Group_free group_free(group: *mut c_void);
    Group_incl group_incl(group: Handle, n: c_int, ranks: *const c_int, newgroup: *mut c_void);

    // Topologies.
    Topo_test topo_test(comm: Handle, status: *mut c_int);
    Cartdim_get cartdim_get(comm: Handle, ndims: *mut c_int);
    Cart_get cart_get(comm: Handle, maxdims: c_int, dims: *mut c_int, periods: *mut c_int, coords: *mut c_int);
    Cart_shift cart_shift(comm: Handle, direction: c_int, disp: c_int, rank_source: *mut c_int, rank_dest: *mut
        c_int);
    Graph_neighbors_count graph_neighbors_count(comm: Handle, rank: c_int, nneighbors: *mut c_int);
    Graph_neighbors graph_neighbors(comm: Handle, rank: c_int, maxneighbors: c_int, neighbors: *mut c_int);
    Dist_graph_neighbors_count dist_graph_neighbors_count(comm: Handle, inneighbors: *mut c_int, outneighbors:
        *mut c_int, weighted: *mut c_int);
    Dist_graph_neighbors dist_graph_neighbors(comm: Handle, maxindegree: c_int, sources: *mut c_int,
        sourceweights: *mut c_int, maxoutdegree: c_int, destinations: *mut c_int, destweights: *mut c_int);

    // Datatypes and operators.
    Type_size type_size(kind: Handle, size: *mut c_int);
    Type_get_extent type_get_extent(kind: Handle, lb: *mut isize, extent: *mut isize);
    Type_get_true_extent type_get_true_extent(kind: Handle, true_lb: *mut isize, true_extent: *mut isize);
    Type_commit type_commit(kind: *mut c_void);
    Type_free type_free(kind: *mut c_void);
    Type_contiguous type_contiguous(count: c_int, oldtype: Handle, newtype: *mut c_void);
    Op_commutative op_commutative(op: Handle, commute: *mut c_int);
    Pack pack(inbuf: *const c_void, incount: c_int, datatype: Handle, outbuf: *mut c_void, outsize: c_int,
        position: *mut c_int, comm: Handle);
    Pack_size pack_size(incount: c_int, datatype: Handle, comm: Handle, size: *mut c_int);

    // Environment.
    Init init(argc: *mut c_int, argv: *mut *mut *mut c_char);
    Init_thread init_thread(argc: *mut c_int, argv: *mut *mut *mut c_char, required: c_int, provided: *mut c_int);
    Initialized initialized(flag: *mut c_int);
    Finalized finalized(flag: *mut c_int);
    Finalize finalize();
    Abort abort(comm: Handle, errorcode: c_int);
    Query_thread query_thread(provided: *mut c_int);
    Get_processor_name get_processor_name(name: *mut c_char, resultlen: *mut c_int);
    Get_library_version get_library_version(version: *mut c_char, resultlen: *mut c_int);
    Get_version get_version(version: *mut c_int, subversion: *mut c_int);
    Comm_set_errhandler comm_set_errhandler(comm: Handle, errhandler: Handle);
    Errhandler_free errhandler_free(errhandler: *mut c_void);
}

impl Functions {
    /// Those that the library does not have, without `MPI_`.
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
        // SAFETY: what stands in for a missing function looks at nothing.
        assert_ne!(unsafe { (none.barrier)(0) }, crate::SUCCESS);
    }
}
