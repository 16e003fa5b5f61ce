//! Requests that are made once and started again and again.

use std::ffi::{c_int, c_void};

use hayase_mpi::{Handle, SUCCESS};
use hayase_trace::{Call, Flags};

use super::{enter, pass_on};
use crate::entry::export;
use crate::recorder::Recorder;
use crate::recorder::requests::Request;

export! {
    MPI_Send_init 7 send_init;
    MPI_Bsend_init 7 bsend_init;
    MPI_Ssend_init 7 ssend_init;
    MPI_Rsend_init 7 rsend_init;
    MPI_Recv_init 7 recv_init;
    MPI_Start 1 start;
    MPI_Startall 2 startall;
}

macro_rules! send_inits {
    ($($name:ident $call:ident $text:literal;)*) => {
        $(
            #[doc = concat!("`MPI_", $text, "`.")]
            ///
            /// # Safety
            /// As MPI has it.
            #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
            pub unsafe extern "C" fn $name(
                buffer: *const c_void,
                count: c_int,
                datatype: Handle,
                dest: c_int,
                tag: c_int,
                comm: Handle,
                request: *mut c_void,
                site: usize,
            ) -> c_int {
                let recorder =
                    enter!(Call::$call, site, else $name(buffer, count, datatype, dest, tag, comm, request));
                recorder.sends(buffer, count, datatype, dest, tag, comm);
                let result = pass_on!(recorder.$name(buffer, count, datatype, dest, tag, comm, request));
                if result != SUCCESS {
                    return recorder.abandon(result);
                }
                let number = recorder.makes();
                // Whom a start sends to: kept as `partner`, since no receive waits for it.
                let about = Request {
                    persistent: true,
                    active: false,
                    comm: recorder.abi.handle(comm),
                    partner: dest,
                    ..Request::new(number)
                };
                // SAFETY: MPI has written the handle.
                unsafe { recorder.made(request, about) };
                recorder.leave(result)
            }
        )*
    };
}

send_inits! {
    send_init SendInit "Send_init";
    bsend_init BsendInit "Bsend_init";
    ssend_init SsendInit "Ssend_init";
    rsend_init RsendInit "Rsend_init";
}

/// `MPI_Recv_init`.
///
/// # Safety
/// As MPI has it.
#[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
pub unsafe extern "C" fn recv_init(
    buffer: *mut c_void,
    count: c_int,
    datatype: Handle,
    source: c_int,
    tag: c_int,
    comm: Handle,
    request: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::RecvInit, site, else recv_init(buffer, count, datatype, source, tag, comm, request));
    recorder.expects(buffer, count, datatype, source, tag, comm);
    let result = pass_on!(recorder.recv_init(buffer, count, datatype, source, tag, comm, request));
    if result != SUCCESS {
        return recorder.abandon(result);
    }
    let number = recorder.makes();
    // What comes may be another message each time: the room for it is all that is said here.
    recorder.event.flags = recorder.event.flags.and(Flags::CAPACITY);
    let about = Request {
        persistent: true,
        active: false,
        source: if source >= 0 { source } else { Request::ANY },
        comm: recorder.abi.handle(comm),
        ..Request::new(number)
    };
    // SAFETY: MPI has written the handle.
    unsafe { recorder.made(request, about) };
    recorder.leave(result)
}

impl Recorder {
    /// A persistent request has been started.
    fn started(&mut self, handle: Handle) {
        let Some(request) = self.requests.get(handle) else { return };
        request.active = true;
        let Request { number, comm, source, partner, .. } = *request;
        self.event.requests.push(number);
        if source == Request::NO_RECEIVE {
            self.posted(comm, partner);
        }
    }
}

/// `MPI_Start`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn start(request: *mut c_void, site: usize) -> c_int {
    let recorder = enter!(Call::Start, site, else start(request));
    // SAFETY: the program gives a request; starting it leaves the handle as it is.
    let handle = unsafe { recorder.abi.read_handle(request, 0) };
    let result = pass_on!(recorder.start(request));
    if result == SUCCESS {
        recorder.started(handle);
    }
    recorder.leave_if(result)
}

/// `MPI_Startall`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn startall(count: c_int, requests: *mut c_void, site: usize) -> c_int {
    let recorder = enter!(Call::Startall, site, else startall(count, requests));
    let result = pass_on!(recorder.startall(count, requests));
    if result == SUCCESS {
        for i in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: the program gives an array of this many requests.
            let handle = unsafe { recorder.abi.read_handle(requests, i) };
            recorder.started(handle);
        }
    }
    recorder.leave_if(result)
}
