//! Functions of the format by number, each with the arguments of its records.
//!
//! | letter | argument |
//! |---|---|
//! | `i`, `h`, `b`, `l` | number of 4 bytes with a sign, of 2, 1 and 8 bytes |
//! | `a`, `r` | number of 4 bytes: own rank, root |
//! | `(` ... `)` | arguments that only the root has |
//! | `I`, `H`, `B` | array of numbers of 4, 2 and 1 bytes |
//! | `J`, `S`, `Z` | array of `I`, of `B`, of `S` |
//! | `A` | `B`, as many as the first number says |
//! | `s` | statuses, if the mask has them |
//! | `v`, `w` | `I`; before version 0.6.9, or 0.6.8, one number `i` |
//! | `x` | nothing; before version 0.6.2 a number `i` |
//! | `?` | unknown: no writer has such records |

use crate::trace::calls::Call;

/// Functions from number 0 on: name without `MPI_`, and arguments.
const FUNCTIONS: &str = "\
    Send:ihiih Recv:ihiihs Get_count:shi Bsend:ihiih Ssend:ihiih Rsend:ihiih Buffer_attach:i Buffer_detach:i \
    Isend:ihiihi Ibsend:ihiihi Issend:ihiihi Irsend:ihiihi Irecv:ihiihi Wait:is Test:iis Request_free:i \
    Waitany:iIis Testany:iIiis Waitall:iIs Testall:iIis Waitsome:iIiIs Testsome:iIiIs Iprobe:iihis Probe:iihs \
    Cancel:i Test_cancelled:si Send_init:ihiihi Bsend_init:ihiihi Ssend_init:ihiihi Rsend_init:ihiihi \
    Recv_init:ihiihi Start:i Startall:iI Sendrecv:ihiiihiihs Sendrecv_replace:ihiiiihs Type_contiguous:ihh \
    Type_vector:iiihh Type_hvector:iiihh Type_indexed:iIIhh Type_hindexed:iIIhh Type_struct:iIvHh Address:i \
    Type_extent:hi Type_size:hi Type_lb:hi Type_ub:hi Type_commit:h Type_free:h Get_elements:shi Pack:ihiiih \
    Unpack:iiiihh Pack_size:ihhi Barrier:h Bcast:ihih Gather:aihrh(ih) Gatherv:aiihrh(II)h Scatter:aihrh(ih) \
    Scatterv:aihihrh(II) Allgather:ihihh Allgatherv:iihIIhh Alltoall:ihihh Alltoallv:iIIhIIhh Reduce:ihbih \
    Op_create:ib Op_free:b Allreduce:ihbh Reduce_scatter:iIhbh Scan:ihbh Group_size:hi Group_rank:hi \
    Group_translate_ranks:hiIhI Group_compare:hhb Comm_group:hh Group_union:hhh Group_intersection:hhh \
    Group_difference:hhh Group_incl:hiIh Group_excl:hiIh Group_range_incl:hiJh Group_range_excl:hiJh \
    Group_free:h Comm_size:hi Comm_rank:hi Comm_compare:hhb Comm_dup:hh Comm_create:hhh Comm_split:hiih \
    Comm_free:h Comm_test_inter:hi Comm_remote_size:hi Comm_remote_group:hh Intercomm_create:hihiih \
    Intercomm_merge:hih Keyval_create:h Keyval_free:h Attr_put:hi Attr_get:hii Attr_delete:hi Topo_test:hb \
    Cart_create:hiIIih Dims_create:iiII Graph_create:ihiIIih Graphdims_get:hii Graph_get:iihiiII Cartdim_get:hi \
    Cart_get:ihiIIw Cart_rank:ihIi Cart_coords:ihiiI Graph_neighbors_count:hii Graph_neighbors:ihiiI \
    Cart_shift:hiiii Cart_sub:ihIh Cart_map:hiIIi Graph_map:ihiIIi Get_processor_name:Bi Get_version:ii \
    Errhandler_create:h Errhandler_set:hh Errhandler_get:hh Errhandler_free:h Error_string:iBi Error_class:ii \
    Wtime: Wtick: Init:ixA Finalize: Initialized:i Abort:hi Pcontrol:? Close_port:B Comm_accept:Bhihh \
    Comm_connect:Bhihh Comm_disconnect:h Comm_get_parent:h Comm_join:ih Comm_spawn:arhh(BSihI) \
    Comm_spawn_multiple:iarhh(iSZIHI) Lookup_name:BhB Open_port:hB Publish_name:BhB Unpublish_name:BhB \
    Accumulate:ihiiihbh Get:ihiiihh Put:ihiiihh Win_complete:h Win_create:iihhh Win_fence:bh Win_free:h \
    Win_get_group:hh Win_lock:bibh Win_post:hbh Win_start:hbh Win_test:hi Win_unlock:ih Win_wait:h \
    Alltoallw:iIIHIIHh Exscan:ihbh Add_error_class:i Add_error_code:ii Add_error_string:iB \
    Comm_call_errhandler:hi Comm_create_keyval:h Comm_delete_attr:hh Comm_free_keyval:h Comm_get_attr:hhi \
    Comm_get_name:hBi Comm_set_attr:hh Comm_set_name:hB File_call_errhandler:hi Grequest_complete:i \
    Grequest_start:i Init_thread:iAbb Is_thread_main:i Query_thread:b Status_set_cancelled:si \
    Status_set_elements:shi Type_create_keyval:h Type_delete_attr:hh Type_dup:hh Type_free_keyval:h \
    Type_get_attr:hhi Type_get_contents:iiihiiiIIH Type_get_envelope:hiiib Type_get_name:hBi Type_set_attr:hh \
    Type_set_name:hB Type_match_size:bih Win_call_errhandler:hi Win_create_keyval:h Win_delete_attr:hh \
    Win_free_keyval:h Win_get_attr:hhi Win_get_name:hBi Win_set_attr:hh Win_set_name:hB Alloc_mem:ih \
    Comm_create_errhandler:h Comm_get_errhandler:hh Comm_set_errhandler:hh File_create_errhandler:h \
    File_get_errhandler:hh File_set_errhandler:hh Finalized:i Free_mem: Get_address:i Info_create:h \
    Info_delete:hB Info_dup:hh Info_free:h Info_get:hBiBi Info_get_nkeys:hi Info_get_nthkey:hiB \
    Info_get_valuelen:hBii Info_set:hBB Pack_external:Bihiii Pack_external_size:Bihi Request_get_status:iis \
    Type_create_darray:iiiIBIIbhh Type_create_hindexed:iIIhh Type_create_hvector:iiihh \
    Type_create_indexed_block:iiIhh Type_create_resized:hiih Type_create_struct:iIIHh \
    Type_create_subarray:iIIIbhh Type_get_extent:hii Type_get_true_extent:hii Unpack_external:Biiiih \
    Win_create_errhandler:h Win_get_errhandler:hh Win_set_errhandler:hh File_open:hBbhh File_close:h \
    File_delete:Bh File_set_size:hl File_preallocate:hl File_get_size:hl File_get_group:hh File_get_amode:hb \
    File_set_info:hh File_get_info:hh File_set_view:hlhhBh File_get_view:hlhhB File_read_at:hlihs \
    File_read_at_all:hlihs File_write_at:hlihs File_write_at_all:hlihs File_iread_at:hlihi File_iwrite_at:hlihi \
    File_read:hihs File_read_all:hihs File_write:hihs File_write_all:hihs File_iread:hihi File_iwrite:hihi \
    File_seek:hlb File_get_position:hl File_get_byte_offset:hll File_read_shared:hihs File_write_shared:hihs \
    File_iread_shared:hihi File_iwrite_shared:hihi File_read_ordered:hihs File_write_ordered:hihs \
    File_seek_shared:hlb File_get_position_shared:hl File_read_at_all_begin:hlih File_read_at_all_end:hs \
    File_write_at_all_begin:hlih File_write_at_all_end:hs File_read_all_begin:hih File_read_all_end:hs \
    File_write_all_begin:hih File_write_all_end:hs File_read_ordered_begin:hih File_read_ordered_end:hs \
    File_write_ordered_begin:hih File_write_ordered_end:hs File_get_type_extent:hhi Register_datarep:B \
    File_set_atomicity:hi File_get_atomicity:hi File_sync:h Io_test:iis Io_wait:is Io_testall:iIis Io_waitall:iIs \
    Io_testany:iIiis Io_waitany:iIis Io_waitsome:iIiIs Io_testsome:iIiIs";

/// A function: its name without `MPI_`, and the letters of its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Function {
    pub name: &'static str,
    pub arguments: &'static str,
    /// Call as which it is replayed; `None` if its time is computation.
    pub call: Option<Call>,
}

/// Entering and leaving a function of the program. Their numbers precede that of the end of the stream.
pub(super) const ENTER_EXIT: [Function; 2] = [
    Function { name: "Function_enter", arguments: "l", call: None },
    Function { name: "Function_exit", arguments: "l", call: None },
];

/// Names and prefixes of functions with effects outside of messages and collectives: one-sided communication,
/// files, processes that join or leave.
const OPAQUE: [&str; 11] = [
    "Accumulate",
    "Get:",
    "Put:",
    "Win_",
    "File_",
    "Io_",
    "Comm_accept",
    "Comm_connect",
    "Comm_disconnect",
    "Comm_join",
    "Comm_spawn",
];

/// Returns all functions, by number.
pub(super) fn functions() -> Vec<Function> {
    let function = |entry: &'static str| {
        let (name, arguments) = entry.split_once(':').unwrap_or((entry, "?"));
        let call = match name {
            "Init_thread" => Some(Call::Init),
            _ if OPAQUE.iter().any(|prefix| entry.starts_with(prefix)) => Some(Call::Opaque),
            _ => Call::from_name(name),
        };
        Function { name, arguments, call }
    };
    FUNCTIONS.split_whitespace().map(function).collect()
}
