//! Calls, each with arguments according to the standard: memory has the length that the call may access.

use hayase_mpi::Handle;
use hayase_mpi::arguments::{Item, LIMITS};

use crate::world::{Value, World};

pub type Arguments = fn(&World<'_>) -> Vec<Value>;

fn int(number: i32) -> Value {
    Value::Int(number)
}

fn long(number: i64) -> Value {
    Value::Long(number)
}

fn ints(numbers: &[i32]) -> Value {
    Value::Ints(numbers.to_vec())
}

fn longs(numbers: &[i64]) -> Value {
    Value::Longs(numbers.to_vec())
}

fn comm(handle: Handle) -> Value {
    Value::Handle("Comm", handle)
}

fn group(handle: Handle) -> Value {
    Value::Handle("Group", handle)
}

fn datatype(handle: Handle) -> Value {
    Value::Handle("Type", handle)
}

fn datatypes(handles: &[Handle]) -> Value {
    Value::Handles("Type", handles.to_vec())
}

fn info(handle: Handle) -> Value {
    Value::Handle("Info", handle)
}

/// Returns a request in memory.
fn request(handle: Handle) -> Value {
    Value::Handles("Request", vec![handle])
}

fn requests(handles: Vec<Handle>) -> Value {
    Value::Handles("Request", handles)
}

/// Returns bytes of a buffer.
fn bytes(count: usize) -> Value {
    Value::Bytes((0..count).map(|i| i as u8 | 1).collect(), 0)
}

fn status(w: &World<'_>) -> Value {
    Value::Bytes(w.status(), 0)
}

fn number() -> Value {
    Value::Out(Item::Int, 1)
}

fn numbers(count: usize) -> Value {
    Value::Out(Item::Int, count)
}

fn address() -> Value {
    Value::Out(Item::Address, 1)
}

fn pointer() -> Value {
    Value::Out(Item::Pointer, 1)
}

fn handle() -> Value {
    Value::Out(Item::Handle, 1)
}

fn statuses(count: usize) -> Value {
    Value::Out(Item::Status, count)
}

fn text(text: &'static str) -> Value {
    Value::Text(text)
}

/// Returns room for the longest text of a kind.
fn room(w: &World<'_>, name: &str) -> Value {
    let (_, open_mpi, mpich) = LIMITS.into_iter().find(|(limit, ..)| *limit == name).unwrap();
    let with_zero = if w.abi.family == hayase_mpi::Family::OpenMpi { open_mpi } else { mpich };
    Value::Room(usize::from(with_zero))
}

/// Returns a new communicator, whose errors are returned.
fn copy(w: &World<'_>) -> Handle {
    let copy = w.made("Comm_dup", &[w.abi.comm_self]);
    w.c("Comm_set_errhandler", &[copy, w.errors_return()]);
    copy
}

fn datatype_copy(w: &World<'_>) -> Handle {
    w.made("Type_dup", &[w.vector])
}

/// Returns the key of an attribute of communicators, datatypes or windows.
fn keyval(w: &World<'_>, kind: &str) -> i32 {
    extern "C" fn nothing() -> i32 {
        0
    }
    let (function, mut keyval) = (nothing as *const () as usize, 0_i32);
    w.c(&format!("{kind}_create_keyval"), &[function, function, &raw mut keyval as usize, 0]);
    keyval
}

/// Returns the key of an attribute that is set on an object.
fn attribute(w: &World<'_>, kind: &str, object: Handle) -> Value {
    let keyval = keyval(w, kind);
    w.c(&format!("{kind}_set_attr"), &[object, keyval as usize, 0x1234_5678]);
    int(keyval)
}

/// Returns an info object with the value `value` of `key`.
fn information(w: &World<'_>) -> Handle {
    let info = w.made("Info_create", &[]);
    w.c("Info_set", &[info, c"key".as_ptr() as usize, c"value".as_ptr() as usize]);
    info
}

/// Returns an error class that the program has added.
fn error_class(w: &World<'_>) -> i32 {
    let mut class = 0;
    w.c("Add_error_class", &[&raw mut class as usize]);
    class
}

fn sum(w: &World<'_>) -> Value {
    Value::Handle("Op", w.abi.operators[2])
}

fn other(w: &World<'_>) -> i32 {
    1 - w.rank
}

/// Returns the numbers of neighbours in the uneven graph that send to a process, and that receive from it.
fn degrees(w: &World<'_>) -> (usize, usize) {
    if w.rank == 0 { (3, 2) } else { (2, 3) }
}

fn ones(count: usize) -> Value {
    Value::Ints(vec![1; count])
}

fn kinds(w: &World<'_>, count: usize) -> Value {
    Value::Handles("Type", vec![w.abi.int; count])
}

/// Returns the arguments of a send to this process itself, whose receive is under way.
fn send(w: &World<'_>) -> Vec<Value> {
    w.receive();
    vec![bytes(12), int(3), datatype(w.abi.int), int(0), int(7), comm(w.abi.comm_self)]
}

/// Returns the arguments of a receive of a message that has been sent.
fn receive(w: &World<'_>) -> Vec<Value> {
    w.send();
    vec![bytes(12), int(3), datatype(w.abi.int), int(0), int(7), comm(w.abi.comm_self)]
}

/// Returns the arguments of a request to `MPI_PROC_NULL`.
fn nobody(w: &World<'_>) -> Vec<Value> {
    let nobody = int(w.abi.proc_null);
    vec![bytes(12), int(3), datatype(w.abi.int), nobody, int(7), comm(w.abi.comm_self), handle()]
}

/// Returns the arguments of collective operations with a block for each process, with `more` after the first.
fn blocks(w: &World<'_>, more: Vec<Value>) -> Vec<Value> {
    let start = [bytes(8), int(1), datatype(w.abi.int), bytes(8), int(1), datatype(w.abi.int)];
    start.into_iter().chain(more).collect()
}

/// Returns the arguments of reductions.
fn reduction(w: &World<'_>, more: Vec<Value>) -> Vec<Value> {
    let start = [bytes(8), bytes(8), int(2), datatype(w.abi.int), sum(w)];
    start.into_iter().chain(more).collect()
}

fn with(mut values: Vec<Value>, more: Value) -> Vec<Value> {
    values.push(more);
    values
}

/// Returns numbers that are significant only in the root; elsewhere memory is not accessed.
fn at_root(w: &World<'_>, root: i32) -> Value {
    if w.rank == root { ints(&[1, 1]) } else { Value::Ints(Vec::new()) }
}

fn displacements_at_root(w: &World<'_>, root: i32) -> Value {
    if w.rank == root { ints(&[0, 1]) } else { Value::Ints(Vec::new()) }
}

fn gatherv(w: &World<'_>, root: i32) -> Vec<Value> {
    let (counts, displs, kind) = (at_root(w, root), displacements_at_root(w, root), datatype(w.abi.int));
    vec![bytes(4), int(1), datatype(w.abi.int), bytes(8), counts, displs, kind, int(root), comm(w.abi.comm_world)]
}

fn scatterv(w: &World<'_>, root: i32) -> Vec<Value> {
    let (counts, displs, kind) = (at_root(w, root), displacements_at_root(w, root), datatype(w.abi.int));
    vec![bytes(8), counts, displs, kind, bytes(4), int(1), datatype(w.abi.int), int(root), comm(w.abi.comm_world)]
}

fn allgatherv(w: &World<'_>, of: Handle, senders: usize) -> Vec<Value> {
    let displs = Value::Ints((0..senders as i32).collect());
    let kind = datatype(w.abi.int);
    vec![bytes(4), int(1), datatype(w.abi.int), bytes(4 * senders), ones(senders), displs, kind, comm(of)]
}

fn alltoallv(w: &World<'_>, of: Handle, (senders, receivers): (usize, usize)) -> Vec<Value> {
    let displs = |count: usize| Value::Ints((0..count as i32).collect());
    let kind = || datatype(w.abi.int);
    let to = [bytes(4 * receivers), ones(receivers), displs(receivers), kind()];
    let from = [bytes(4 * senders), ones(senders), displs(senders), kind(), comm(of)];
    to.into_iter().chain(from).collect()
}

fn alltoallw(w: &World<'_>, of: Handle) -> Vec<Value> {
    let side = || [bytes(8), ints(&[1, 1]), ints(&[0, 4]), kinds(w, 2)];
    side().into_iter().chain(side()).chain([comm(of)]).collect()
}

/// Returns the arguments of an exchange in a graph where each process has two neighbours.
///
/// MPICH, and Open MPI's interface of Fortran, look at as many types as there are processes.
fn neighbor_alltoallw(w: &World<'_>) -> Vec<Value> {
    let side = || [bytes(4), ones(2), longs(&[0, 0]), kinds(w, 2)];
    side().into_iter().chain(side()).chain([comm(w.even)]).collect()
}

/// Returns the arguments of collective operations on neighbours in the uneven graph.
fn neighbours(w: &World<'_>) -> Vec<Value> {
    let (senders, receivers) = degrees(w);
    let (to, from) = (bytes(4 * receivers), bytes(4 * senders));
    vec![to, int(1), datatype(w.abi.int), from, int(1), datatype(w.abi.int), comm(w.uneven)]
}

macro_rules! cases {
    ($w:ident: $($name:ident $arguments:expr;)*) => {
        vec![$((stringify!($name), (|$w: &World<'_>| {
            let _ = $w;
            $arguments
        }) as Arguments)),*]
    };
}

/// Returns all cases, in the order of the table. Both processes make the same calls.
#[rustfmt::skip]
pub fn cases() -> Vec<(&'static str, Arguments)> {
    let mut all = communication();
    all.extend(objects());
    all.extend(environment());
    all
}

#[rustfmt::skip]
fn communication() -> Vec<(&'static str, Arguments)> {
    cases! { w:
        Send send(w);
        Bsend { let room = Box::leak(Box::new([0_u64; 512])).as_ptr() as usize; let mut out = [0_u64; 2];
            w.c("Buffer_attach", &[room, 4096]); w.c("Buffer_detach", &[out.as_mut_ptr() as usize, &raw mut out[1] as usize]);
            w.receive(); w.send();
            vec![bytes(12), int(3), datatype(w.abi.int), int(w.abi.proc_null), int(7), comm(w.abi.comm_self)] };
        Ssend send(w);
        Rsend send(w);
        Isend with(send(w), handle());
        Ibsend nobody(w);
        Issend with(send(w), handle());
        Irsend with(send(w), handle());
        Recv with(receive(w), statuses(1));
        Irecv with(receive(w), handle());
        Sendrecv vec![bytes(12), int(3), datatype(w.abi.int), int(other(w)), int(8), bytes(12), int(3),
            datatype(w.abi.int), int(other(w)), int(8), comm(w.abi.comm_world), statuses(1)];
        Sendrecv_replace vec![bytes(12), int(3), datatype(w.abi.int), int(other(w)), int(8), int(other(w)), int(8),
            comm(w.abi.comm_world), statuses(1)];
        Probe { w.send(); vec![int(0), int(7), comm(w.abi.comm_self), statuses(1)] };
        Iprobe { w.send(); vec![int(0), int(7), comm(w.abi.comm_self), number(), statuses(1)] };
        Mprobe { w.send(); vec![int(0), int(7), comm(w.abi.comm_self), handle(), statuses(1)] };
        Improbe { w.send(); vec![int(0), int(7), comm(w.abi.comm_self), number(), handle(), statuses(1)] };
        Mrecv { w.send(); let message = message(w);
            vec![bytes(12), int(3), datatype(w.abi.int), Value::Handles("Message", vec![message]), statuses(1)] };
        Imrecv { w.send(); let message = message(w);
            vec![bytes(12), int(3), datatype(w.abi.int), Value::Handles("Message", vec![message]), handle()] };
        Send_init nobody(w);
        Bsend_init nobody(w);
        Ssend_init nobody(w);
        Rsend_init nobody(w);
        Recv_init nobody(w);
        Start vec![request(w.persistent())];
        Startall vec![int(2), requests(vec![w.persistent(), w.persistent()])];
        Wait vec![request(w.requests(1)[0]), statuses(1)];
        Waitall vec![int(3), requests(w.requests(3)), statuses(3)];
        Waitany vec![int(3), requests(w.requests(3)), number(), statuses(1)];
        Waitsome vec![int(3), requests(w.requests(3)), number(), numbers(3), statuses(3)];
        Test vec![request(w.requests(1)[0]), number(), statuses(1)];
        Testall vec![int(3), requests(w.requests(3)), number(), statuses(3)];
        Testany vec![int(3), requests(w.requests(3)), number(), number(), statuses(1)];
        Testsome vec![int(3), requests(w.requests(3)), number(), numbers(3), statuses(3)];
        Cancel vec![request(w.made("Irecv", &[0, 0, w.abi.int, 0, 99, w.abi.comm_self]))];
        Request_free vec![request(w.persistent())];
        Request_get_status vec![Value::Handle("Request", w.requests(1)[0]), number(), statuses(1)];
        Test_cancelled vec![status(w), number()];
        Get_count vec![status(w), datatype(w.abi.int), number()];
        Get_elements vec![status(w), datatype(w.abi.int), number()];
        Get_elements_x vec![status(w), datatype(w.abi.int), address()];
        Status_set_elements vec![status(w), datatype(w.abi.int), int(9)];
        Status_set_elements_x vec![status(w), datatype(w.abi.int), long(9)];
        Status_set_cancelled vec![status(w), int(1)];
        Barrier vec![comm(w.abi.comm_world)];
        Bcast vec![bytes(12), int(3), datatype(w.abi.int), int(0), comm(w.abi.comm_world)];
        Reduce reduction(w, vec![int(0), comm(w.abi.comm_world)]);
        Allreduce reduction(w, vec![comm(w.abi.comm_world)]);
        Gather blocks(w, vec![int(0), comm(w.abi.comm_world)]);
        Gatherv gatherv(w, 1);
        Scatter blocks(w, vec![int(0), comm(w.abi.comm_world)]);
        Scatterv scatterv(w, 1);
        Allgather blocks(w, vec![comm(w.abi.comm_world)]);
        Allgatherv allgatherv(w, w.abi.comm_world, 2);
        Allgatherv allgatherv(w, w.inter, 1);
        Alltoall blocks(w, vec![comm(w.abi.comm_world)]);
        Alltoallv alltoallv(w, w.abi.comm_world, (2, 2));
        Alltoallv alltoallv(w, w.inter, (1, 1));
        Alltoallw alltoallw(w, w.abi.comm_world);
        Reduce_scatter vec![bytes(8), bytes(4), ints(&[1, 1]), datatype(w.abi.int), sum(w), comm(w.abi.comm_world)];
        Reduce_scatter_block vec![bytes(8), bytes(4), int(1), datatype(w.abi.int), sum(w), comm(w.abi.comm_world)];
        Scan reduction(w, vec![comm(w.abi.comm_world)]);
        Exscan reduction(w, vec![comm(w.abi.comm_world)]);
        Ibarrier vec![comm(w.abi.comm_world), handle()];
        Ibcast vec![bytes(12), int(3), datatype(w.abi.int), int(0), comm(w.abi.comm_world), handle()];
        Ireduce reduction(w, vec![int(0), comm(w.abi.comm_world), handle()]);
        Iallreduce reduction(w, vec![comm(w.abi.comm_world), handle()]);
        Igather blocks(w, vec![int(0), comm(w.abi.comm_world), handle()]);
        Igatherv with(gatherv(w, 1), handle());
        Iscatter blocks(w, vec![int(0), comm(w.abi.comm_world), handle()]);
        Iscatterv with(scatterv(w, 1), handle());
        Iallgather blocks(w, vec![comm(w.abi.comm_world), handle()]);
        Iallgatherv with(allgatherv(w, w.abi.comm_world, 2), handle());
        Ialltoall blocks(w, vec![comm(w.abi.comm_world), handle()]);
        Ialltoallv with(alltoallv(w, w.abi.comm_world, (2, 2)), handle());
        Ialltoallw with(alltoallw(w, w.abi.comm_world), handle());
        Ireduce_scatter vec![bytes(8), bytes(4), ints(&[1, 1]), datatype(w.abi.int), sum(w), comm(w.abi.comm_world), handle()];
        Ireduce_scatter_block vec![bytes(8), bytes(4), int(1), datatype(w.abi.int), sum(w), comm(w.abi.comm_world), handle()];
        Iscan reduction(w, vec![comm(w.abi.comm_world), handle()]);
        Iexscan reduction(w, vec![comm(w.abi.comm_world), handle()]);
        Neighbor_allgather neighbours(w);
        Neighbor_allgatherv allgatherv(w, w.grid, 2);
        Neighbor_allgatherv allgatherv(w, w.graph, 1);
        Neighbor_allgatherv allgatherv(w, w.uneven, degrees(w).0);
        Neighbor_alltoall neighbours(w);
        Neighbor_alltoallv alltoallv(w, w.uneven, degrees(w));
        Neighbor_alltoallw neighbor_alltoallw(w);
        Ineighbor_allgather with(neighbours(w), handle());
        Ineighbor_allgatherv with(allgatherv(w, w.uneven, degrees(w).0), handle());
        Ineighbor_alltoall with(neighbours(w), handle());
        Ineighbor_alltoallv with(alltoallv(w, w.uneven, degrees(w)), handle());
        Ineighbor_alltoallw with(neighbor_alltoallw(w), handle());
    }
}

#[rustfmt::skip]
fn objects() -> Vec<(&'static str, Arguments)> {
    cases! { w:
        Comm_dup vec![comm(w.abi.comm_world), handle()];
        Comm_dup_with_info vec![comm(w.abi.comm_world), info(w.abi.info_null), handle()];
        Comm_idup vec![comm(w.abi.comm_self), handle(), handle()];
        Comm_split vec![comm(w.abi.comm_world), int(0), int(w.rank), handle()];
        Comm_split_type vec![comm(w.abi.comm_world), int(w.abi.undefined), int(0), info(w.abi.info_null), handle()];
        Comm_create vec![comm(w.abi.comm_world), group(w.group), handle()];
        Comm_create_group vec![comm(w.abi.comm_world), group(w.group), int(5), handle()];
        Cart_create vec![comm(w.abi.comm_world), int(2), ints(&[2, 1]), ints(&[0, 1]), int(0), handle()];
        Cart_sub vec![comm(w.grid), ints(&[1]), handle()];
        Graph_create vec![comm(w.abi.comm_world), int(2), ints(&[2, 3]), ints(&[0, 1, 0]), int(0), handle()];
        Dist_graph_create vec![comm(w.abi.comm_world), int(2), ints(&[0, 1]), ints(&[2, 1]), ints(&[0, 1, 0]),
            ints(&[1, 1, 1]), info(w.abi.info_null), int(0), handle()];
        Dist_graph_create_adjacent vec![comm(w.abi.comm_world), int(1), ints(&[other(w)]), ints(&[1]), int(1),
            ints(&[other(w)]), ints(&[1]), info(w.abi.info_null), int(0), handle()];
        Intercomm_create { let mine = w.made("Comm_split", &[w.abi.comm_world, w.rank as usize, 0]);
            vec![comm(mine), int(0), comm(w.abi.comm_world), int(other(w)), int(4), handle()] };
        Intercomm_merge vec![comm(w.inter), int(w.rank), handle()];
        Comm_free vec![Value::Handles("Comm", vec![copy(w)])];
        Comm_disconnect vec![Value::Handles("Comm", vec![copy(w)])];
        Comm_rank vec![comm(w.abi.comm_world), number()];
        Comm_size vec![comm(w.abi.comm_world), number()];
        Comm_remote_size vec![comm(w.inter), number()];
        Comm_test_inter vec![comm(w.inter), number()];
        Comm_compare vec![comm(w.abi.comm_world), comm(w.grid), number()];
        Comm_group vec![comm(w.grid), handle()];
        Comm_remote_group vec![comm(w.inter), handle()];
        Comm_get_parent vec![handle()];
        Comm_get_name vec![comm(w.abi.comm_world), room(w, "OBJECT_NAME"), number()];
        Comm_set_name vec![comm(copy(w)), text("name")];
        Comm_get_info vec![comm(copy(w)), handle()];
        Comm_set_info vec![comm(copy(w)), info(information(w))];
        Group_size vec![group(w.group), number()];
        Group_rank vec![group(w.group), number()];
        Group_translate_ranks vec![group(w.group), int(3), ints(&[0, 1, 0]), group(w.group), numbers(3)];
        Group_compare vec![group(w.group), group(w.group), number()];
        Group_union vec![group(w.group), group(w.group), handle()];
        Group_intersection vec![group(w.group), group(w.group), handle()];
        Group_difference vec![group(w.group), group(w.made("Comm_group", &[w.abi.comm_self])), handle()];
        Group_incl vec![group(w.group), int(2), ints(&[1, 0]), handle()];
        Group_excl vec![group(w.group), int(1), ints(&[1]), handle()];
        Group_range_incl vec![group(w.group), int(2), ints(&[0, 0, 1, 1, 1, 1]), handle()];
        Group_range_excl vec![group(w.group), int(1), ints(&[0, 0, 1]), handle()];
        Group_free vec![Value::Handles("Group", vec![w.made("Comm_group", &[w.abi.comm_self])])];
        Topo_test vec![comm(w.grid), number()];
        Dims_create vec![int(12), int(3), ints(&[0, 2, 0])];
        Cartdim_get vec![comm(w.grid), number()];
        Cart_get vec![comm(w.grid), int(1), numbers(1), numbers(1), numbers(1)];
        Cart_rank vec![comm(w.grid), ints(&[1]), number()];
        Cart_coords vec![comm(w.grid), int(1), int(1), numbers(1)];
        Cart_shift vec![comm(w.grid), int(0), int(1), number(), number()];
        Cart_map vec![comm(w.abi.comm_world), int(2), ints(&[2, 1]), ints(&[0, 0]), number()];
        Graphdims_get vec![comm(w.graph), number(), number()];
        Graph_get vec![comm(w.graph), int(2), int(2), numbers(2), numbers(2)];
        Graph_neighbors_count vec![comm(w.graph), int(0), number()];
        Graph_neighbors vec![comm(w.graph), int(0), int(1), numbers(1)];
        Graph_map vec![comm(w.abi.comm_world), int(2), ints(&[1, 2]), ints(&[1, 0]), number()];
        Dist_graph_neighbors_count vec![comm(w.uneven), number(), number(), number()];
        Dist_graph_neighbors { let (senders, receivers) = degrees(w);
            vec![comm(w.uneven), int(senders as i32), numbers(senders), numbers(senders), int(receivers as i32),
                numbers(receivers), numbers(receivers)] };
        Type_contiguous vec![int(3), datatype(w.abi.int), handle()];
        Type_vector vec![int(3), int(1), int(2), datatype(w.abi.int), handle()];
        Type_create_hvector vec![int(3), int(1), long(8), datatype(w.abi.int), handle()];
        Type_indexed vec![int(2), ints(&[1, 2]), ints(&[0, 3]), datatype(w.abi.int), handle()];
        Type_create_hindexed vec![int(2), ints(&[1, 2]), longs(&[0, 12]), datatype(w.abi.int), handle()];
        Type_create_indexed_block vec![int(2), int(1), ints(&[0, 3]), datatype(w.abi.int), handle()];
        Type_create_hindexed_block vec![int(2), int(1), longs(&[0, 12]), datatype(w.abi.int), handle()];
        Type_create_struct vec![int(2), ints(&[1, 2]), longs(&[0, 16]), datatypes(&[w.abi.int, w.abi.double]), handle()];
        Type_create_subarray vec![int(2), ints(&[4, 6]), ints(&[2, 3]), ints(&[1, 1]), int(order(w)), datatype(w.abi.int),
            handle()];
        Type_create_darray vec![int(4), int(0), int(2), ints(&[8, 8]), ints(&[block(w), block(w)]),
            ints(&[default(w), default(w)]), ints(&[2, 2]), int(order(w)), datatype(w.abi.int), handle()];
        Type_create_resized vec![datatype(w.abi.int), long(0), long(16), handle()];
        Type_create_f90_real vec![int(6), int(30), handle()];
        Type_create_f90_complex vec![int(6), int(30), handle()];
        Type_create_f90_integer vec![int(6), handle()];
        Type_match_size vec![int(integer_class(w)), int(4), handle()];
        Type_dup vec![datatype(w.vector), handle()];
        Type_commit vec![datatypes(&[datatype_copy(w)])];
        Type_free vec![datatypes(&[datatype_copy(w)])];
        Type_size vec![datatype(w.vector), number()];
        Type_size_x vec![datatype(w.vector), address()];
        Type_get_extent vec![datatype(w.vector), address(), address()];
        Type_get_extent_x vec![datatype(w.vector), address(), address()];
        Type_get_true_extent vec![datatype(w.behind), address(), address()];
        Type_get_true_extent_x vec![datatype(w.behind), address(), address()];
        Type_get_envelope vec![datatype(w.vector), number(), number(), number(), number()];
        Type_get_contents vec![datatype(w.vector), int(3), int(0), int(1), numbers(3), Value::Out(Item::Address, 0), handle()];
        Type_get_contents vec![datatype(w.behind), int(2), int(2), int(1), numbers(2), Value::Out(Item::Address, 2), handle()];
        Type_get_name vec![datatype(w.abi.int), room(w, "OBJECT_NAME"), number()];
        Type_set_name vec![datatype(w.vector), text("name")];
        Get_address vec![bytes(4), address()];
        Aint_add vec![long(1 << 40), long(8)];
        Aint_diff vec![long(1 << 40), long(8)];
        Address vec![bytes(4), address()];
        Type_hvector vec![int(3), int(1), long(8), datatype(w.abi.int), handle()];
        Type_hindexed vec![int(2), ints(&[1, 2]), longs(&[0, 12]), datatype(w.abi.int), handle()];
        Type_struct vec![int(2), ints(&[1, 2]), longs(&[0, 16]), datatypes(&[w.abi.int, w.abi.int]), handle()];
        Type_extent vec![datatype(w.vector), address()];
        Type_lb vec![datatype(w.vector), address()];
        Type_ub vec![datatype(w.vector), address()];
        Pack vec![bytes(16 * 2), int(2), datatype(w.vector), Value::Out(Item::Byte, 24), int(24), ints(&[4]),
            comm(w.abi.comm_world)];
        Pack vec![Value::Bytes(vec![9; 12], 8), int(1), datatype(w.behind), Value::Out(Item::Byte, 8), int(8), ints(&[0]),
            comm(w.abi.comm_world)];
        Unpack vec![bytes(24), int(24), ints(&[4]), Value::Out(Item::Byte, 16 * 2), int(2), datatype(w.vector),
            comm(w.abi.comm_world)];
        Pack_size vec![int(2), datatype(w.vector), comm(w.abi.comm_world), number()];
        Pack_external vec![text("external32"), bytes(32), int(2), datatype(w.vector), Value::Out(Item::Byte, 24), long(24),
            longs(&[4])];
        Unpack_external vec![text("external32"), bytes(24), long(24), longs(&[4]), Value::Out(Item::Byte, 32), int(2),
            datatype(w.vector)];
        Pack_external_size vec![text("external32"), int(2), datatype(w.vector), address()];
        Reduce_local vec![bytes(12), bytes(12), int(3), datatype(w.abi.int), sum(w)];
        Op_create vec![Value::Callback, int(1), handle()];
        Op_free vec![Value::Handles("Op", vec![w.made("Op_create", &[w.address("MPI_Init"), 1])])];
        Op_commutative vec![sum(w), number()];
    }
}

#[rustfmt::skip]
fn environment() -> Vec<(&'static str, Arguments)> {
    cases! { w:
        Comm_create_keyval vec![Value::Callback, Value::Callback, number(), long(0)];
        Comm_free_keyval vec![ints(&[keyval(w, "Comm")])];
        Comm_get_attr { let comm = copy(w); let key = attribute(w, "Comm", comm);
            vec![Value::Handle("Comm", comm), key, pointer(), number()] };
        Comm_set_attr vec![comm(copy(w)), int(keyval(w, "Comm")), long(5)];
        Comm_delete_attr { let comm = copy(w); let key = attribute(w, "Comm", comm);
            vec![Value::Handle("Comm", comm), key] };
        Type_create_keyval vec![Value::Callback, Value::Callback, number(), long(0)];
        Type_free_keyval vec![ints(&[keyval(w, "Type")])];
        Type_get_attr { let kind = datatype_copy(w); let key = attribute(w, "Type", kind);
            vec![datatype(kind), key, pointer(), number()] };
        Type_set_attr vec![datatype(datatype_copy(w)), int(keyval(w, "Type")), long(5)];
        Type_delete_attr { let kind = datatype_copy(w); let key = attribute(w, "Type", kind); vec![datatype(kind), key] };
        Win_create_keyval vec![Value::Callback, Value::Callback, number(), long(0)];
        Win_free_keyval vec![ints(&[keyval(w, "Win")])];
        Win_get_attr { let key = attribute(w, "Win", w.window); vec![window(w), key, pointer(), number()] };
        Win_set_attr vec![window(w), int(keyval(w, "Win")), long(5)];
        Win_delete_attr { let key = attribute(w, "Win", w.window); vec![window(w), key] };
        Keyval_create vec![Value::Callback, Value::Callback, number(), long(0)];
        Keyval_free vec![ints(&[keyval(w, "Comm")])];
        Attr_get { let comm = copy(w); let key = attribute(w, "Comm", comm);
            vec![Value::Handle("Comm", comm), key, pointer(), number()] };
        Attr_put vec![comm(copy(w)), int(keyval(w, "Comm")), long(5)];
        Attr_delete { let comm = copy(w); let key = attribute(w, "Comm", comm); vec![Value::Handle("Comm", comm), key] };
        Info_create vec![handle()];
        Info_dup vec![info(information(w)), handle()];
        Info_free vec![Value::Handles("Info", vec![information(w)])];
        Info_set vec![info(information(w)), text("key"), text("other")];
        Info_delete vec![info(information(w)), text("key")];
        Info_get vec![info(information(w)), text("key"), int(5), Value::OutText(5), number()];
        Info_get vec![info(information(w)), text("key"), int(40), Value::OutText(40), number()];
        Info_get_valuelen vec![info(information(w)), text("key"), number(), number()];
        Info_get_nkeys vec![info(information(w)), number()];
        Info_get_nthkey vec![info(information(w)), int(0), room(w, "INFO_KEY")];
        Error_class vec![int(1), number()];
        Error_string vec![int(1), room(w, "ERROR_STRING"), number()];
        Add_error_class vec![number()];
        Add_error_code vec![int(error_class(w)), number()];
        Add_error_string vec![int(error_class(w)), text("text")];
        Errhandler_free vec![Value::Handles("Errhandler", vec![handler(w)])];
        Comm_create_errhandler vec![Value::Callback, handle()];
        Comm_get_errhandler vec![comm(w.abi.comm_world), handle()];
        Comm_set_errhandler vec![comm(copy(w)), Value::Handle("Errhandler", handler(w))];
        Comm_call_errhandler vec![comm(copy(w)), int(1)];
        Win_create_errhandler vec![Value::Callback, handle()];
        Win_get_errhandler vec![window(w), handle()];
        Win_set_errhandler vec![window(w), Value::Handle("Errhandler", w.errors_return())];
        Win_call_errhandler vec![window(w), int(1)];
        Errhandler_create vec![Value::Callback, handle()];
        Errhandler_get vec![comm(w.abi.comm_world), handle()];
        Errhandler_set vec![comm(copy(w)), Value::Handle("Errhandler", handler(w))];
        Initialized vec![number()];
        Finalized vec![number()];
        Query_thread vec![number()];
        Is_thread_main vec![number()];
        Get_version vec![number(), number()];
        Get_library_version vec![room(w, "LIBRARY_VERSION_STRING"), number()];
        Get_processor_name vec![room(w, "PROCESSOR_NAME"), number()];
        Wtime vec![];
        Wtick vec![];
        Alloc_mem vec![long(64), info(w.abi.info_null), pointer()];
        Free_mem { let mut block = 0_usize;
            w.c("Alloc_mem", &[64, w.abi.info_null, &raw mut block as usize]); vec![Value::Freed(block)] };
        Buffer_attach vec![bytes(4096), int(4096)];
        Buffer_detach { let room = Box::leak(Box::new([0_u64; 512])).as_ptr() as usize;
            w.c("Buffer_attach", &[room, 4096]); vec![pointer(), number()] };
        Grequest_start vec![Value::Callback, Value::Callback, Value::Callback, long(0), handle()];
        Status_c2f vec![status(w), statuses(1)];
        Status_f2c vec![status(w), statuses(1)];
        Win_get_group vec![window(w), handle()];
        Win_get_name vec![window(w), room(w, "OBJECT_NAME"), number()];
        Win_set_name vec![window(w), text("name")];
        Win_get_info vec![window(w), handle()];
        Win_set_info vec![window(w), info(information(w))];
    }
}

/// Returns a matched message.
fn message(w: &World<'_>) -> Handle {
    let mut message = 0_u64;
    let words = [0, 7, w.abi.comm_self, &raw mut message as usize, w.abi.status_ignore];
    w.c("Mprobe", &words);
    message as Handle
}

fn window(w: &World<'_>) -> Value {
    Value::Handle("Win", w.window)
}

fn handler(w: &World<'_>) -> Handle {
    w.made("Comm_create_errhandler", &[w.address("MPI_Init")])
}

/// Returns `MPI_ORDER_C`.
fn order(w: &World<'_>) -> i32 {
    if w.abi.family == hayase_mpi::Family::OpenMpi { 0 } else { 56 }
}

/// Returns `MPI_DISTRIBUTE_BLOCK`.
fn block(w: &World<'_>) -> i32 {
    if w.abi.family == hayase_mpi::Family::OpenMpi { 0 } else { 121 }
}

/// Returns `MPI_DISTRIBUTE_DFLT_DARG`.
fn default(w: &World<'_>) -> i32 {
    if w.abi.family == hayase_mpi::Family::OpenMpi { -1 } else { -49767 }
}

/// Returns `MPI_TYPECLASS_INTEGER`.
fn integer_class(w: &World<'_>) -> i32 {
    if w.abi.family == hayase_mpi::Family::OpenMpi { 1 } else { 2 }
}
