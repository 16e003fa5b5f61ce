//! Messages from one rank to one other: sends in all modes, receives, both at once.

use std::ffi::{c_int, c_void};

use hayase_mpi::{Functions, Handle, SUCCESS};
use hayase_trace::{Call, Event, Flags};

use super::{enter, pass_on};
use crate::entry::export;
use crate::recorder::Recorder;
use crate::recorder::requests::Request;
use crate::token::Wait;

export! {
    MPI_Send 6 send;
    MPI_Bsend 6 bsend;
    MPI_Ssend 6 ssend;
    MPI_Rsend 6 rsend;
    MPI_Isend 7 isend;
    MPI_Ibsend 7 ibsend;
    MPI_Issend 7 issend;
    MPI_Irsend 7 irsend;
    MPI_Recv 7 recv;
    MPI_Irecv 7 irecv;
    MPI_Mrecv 5 mrecv;
    MPI_Imrecv 5 imrecv;
    MPI_Sendrecv 12 sendrecv;
    MPI_Sendrecv_replace 9 sendrecv_replace;
}

impl Recorder {
    /// A message goes to a rank.
    pub(crate) fn sends(
        &mut self,
        buffer: *const c_void,
        count: c_int,
        datatype: Handle,
        dest: c_int,
        tag: c_int,
        comm: Handle,
    ) {
        self.on(comm);
        self.event.peer = self.peer(dest);
        self.event.tag = tag;
        self.event.bytes = self.elements(count, datatype);
        self.buffer(buffer, count, datatype);
    }

    /// A message is to come from a rank: how much there is room for.
    pub(crate) fn expects(
        &mut self,
        buffer: *const c_void,
        count: c_int,
        datatype: Handle,
        source: c_int,
        tag: c_int,
        comm: Handle,
    ) {
        self.on(comm);
        self.event.flags = self.event.flags.and(self.open(source, tag)).and(Flags::CAPACITY);
        self.event.peer = self.peer(source);
        self.event.tag = if tag == self.abi.any_tag { -1 } else { tag };
        self.event.bytes = self.elements(count, datatype);
        self.buffer(buffer, count, datatype);
    }

    /// A message has come, in this very call.
    ///
    /// # Safety
    /// `status` is one that MPI has written.
    pub(crate) unsafe fn arrived(&mut self, status: *const c_void, comm: Handle) {
        // SAFETY: promised by the caller.
        let status = unsafe { self.abi.status(status, 0) };
        let peer = self.peer(status.source);
        self.event.flags.0 &= !Flags::CAPACITY.0;
        if peer >= 0 {
            (self.event.peer, self.event.tag, self.event.bytes) = (peer, status.tag, status.bytes);
            self.took(comm, peer);
        } else if peer == Event::PROC_NULL {
            self.event.tag = 0;
        }
    }

    /// The program's status, or one of our own if it does not want any.
    pub(crate) fn status_for(&mut self, status: *mut c_void) -> *mut c_void {
        if self.abi.ignores_status(status) { self.statuses.of(1) } else { status }
    }

    /// A request has been made: reads its handle.
    ///
    /// # Safety
    /// `request` points to a handle that MPI has written.
    pub(crate) unsafe fn made(&mut self, request: *const c_void, about: Request) {
        // SAFETY: promised by the caller.
        let handle = unsafe { self.abi.read_handle(request, 0) };
        self.requests.insert(handle, about);
    }
}

type Send = unsafe extern "C" fn(*const c_void, c_int, Handle, c_int, c_int, Handle) -> c_int;
type Isend = unsafe extern "C" fn(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void) -> c_int;

macro_rules! sends {
    ($($name:ident $call:ident $start:expr;)*) => {
        $(
            #[doc = concat!("`MPI_", stringify!($call), "`.")]
            ///
            /// # Safety
            /// As MPI has it.
            pub unsafe extern "C" fn $name(
                buffer: *const c_void,
                count: c_int,
                datatype: Handle,
                dest: c_int,
                tag: c_int,
                comm: Handle,
                site: usize,
            ) -> c_int {
                let recorder =
                    enter!(Call::$call, site, else $name(buffer, count, datatype, dest, tag, comm));
                recorder.sends(buffer, count, datatype, dest, tag, comm);
                let start: Option<fn(&Functions) -> Isend> = $start;
                let result = match start {
                    Some(start) if recorder.token.is_some() => {
                        // SAFETY: arguments are the program's.
                        unsafe { send_in_turn(recorder, start, buffer, count, datatype, dest, tag, comm) }
                    }
                    _ => {
                        recorder.posted(comm, dest);
                        let function: Send = recorder.mpi.$name;
                        // SAFETY: arguments are the program's.
                        recorder.call(|_| unsafe { function(buffer, count, datatype, dest, tag, comm) })
                    }
                };
                recorder.leave_if(result)
            }
        )*
    };
}

sends! {
    send Send Some(|mpi| mpi.isend);
    // Never waits for anybody.
    bsend Bsend None;
    ssend Ssend Some(|mpi| mpi.issend);
    rsend Rsend Some(|mpi| mpi.irsend);
}

/// With the token: starts the send and lets others run until it is complete.
#[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
unsafe fn send_in_turn(
    recorder: &mut Recorder,
    start: fn(&Functions) -> Isend,
    buffer: *const c_void,
    count: c_int,
    datatype: Handle,
    dest: c_int,
    tag: c_int,
    comm: Handle,
) -> c_int {
    let mut request = [0_u64; 1];
    let request = request.as_mut_ptr().cast::<c_void>();
    // SAFETY: arguments are the program's; there is room for a handle.
    let result = recorder.call(|mpi| unsafe { start(mpi)(buffer, count, datatype, dest, tag, comm, request) });
    recorder.posted(comm, dest);
    if result != SUCCESS {
        return result;
    }
    // SAFETY: the request was made above.
    unsafe { recorder.test_in_turn(request, recorder.abi.status_ignore as *mut c_void, Wait::Send) }
}

/// Sends that make a request: the call, its name in MPI; what the request is, of the recorder, for whom, where, by what
/// number.
macro_rules! sends_by_request {
    ($($name:ident $call:ident $text:literal $about:expr;)*) => {
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
                let about: fn(&mut Recorder, c_int, Handle, u64) -> Request = $about;
                let number = recorder.makes();
                let about = about(recorder, dest, comm, number);
                // SAFETY: MPI has written the handle.
                unsafe { recorder.made(request, about) };
                recorder.leave(result)
            }
        )*
    };
}

pub(super) use sends_by_request;

/// The message is under way.
fn under_way(recorder: &mut Recorder, dest: c_int, comm: Handle, number: u64) -> Request {
    recorder.posted(comm, dest);
    Request::new(number)
}

sends_by_request! {
    isend Isend "Isend" under_way;
    ibsend Ibsend "Ibsend" under_way;
    issend Issend "Issend" under_way;
    irsend Irsend "Irsend" under_way;
}

/// What is sent or received, and who is at the other end.
struct Part {
    buffer: *mut c_void,
    count: c_int,
    datatype: Handle,
    peer: c_int,
    tag: c_int,
}

/// With the token: receives, and sends if there is something to send; others run until both are complete.
unsafe fn exchange_in_turn(
    recorder: &mut Recorder,
    from: Option<&Part>,
    to: &Part,
    comm: Handle,
    status: *mut c_void,
) -> c_int {
    let mut requests = [0_u64; 2];
    let (receive, send) = requests.split_at_mut(1);
    let (receive, send) = (receive.as_mut_ptr().cast::<c_void>(), send.as_mut_ptr().cast::<c_void>());
    // A receive from nobody is complete at once; some MPIs say so in the status only if it is a blocking one.
    let comes = to.peer != recorder.abi.proc_null;
    let Part { buffer, count, datatype, peer, tag } = *to;
    let mut result = if comes {
        pass_on!(recorder.irecv(buffer, count, datatype, peer, tag, comm, receive))
    } else {
        pass_on!(recorder.recv(buffer, count, datatype, peer, tag, comm, status))
    };
    if result == SUCCESS
        && let Some(from) = from
    {
        result = pass_on!(recorder.isend(from.buffer, from.count, from.datatype, from.peer, from.tag, comm, send));
        recorder.posted(comm, from.peer);
    }
    // SAFETY: the requests were made above; the status is one that may be written.
    unsafe {
        if result == SUCCESS && comes {
            let wait = recorder.wait_for(comm, peer);
            result = recorder.test_in_turn(receive, status, wait);
        }
        if result == SUCCESS && from.is_some() {
            let none = recorder.abi.status_ignore as *mut c_void;
            result = recorder.test_in_turn(send, none, Wait::Send);
        }
    }
    result
}

/// `MPI_Recv`.
///
/// # Safety
/// As MPI has it.
#[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
pub unsafe extern "C" fn recv(
    buffer: *mut c_void,
    count: c_int,
    datatype: Handle,
    source: c_int,
    tag: c_int,
    comm: Handle,
    status: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Recv, site, else recv(buffer, count, datatype, source, tag, comm, status));
    recorder.expects(buffer, count, datatype, source, tag, comm);
    let status = recorder.status_for(status);
    let result = if recorder.token.is_some() {
        let to = Part { buffer, count, datatype, peer: source, tag };
        // SAFETY: arguments are the program's, the status is the program's or our own.
        unsafe { exchange_in_turn(recorder, None, &to, comm, status) }
    } else {
        pass_on!(recorder.recv(buffer, count, datatype, source, tag, comm, status))
    };
    if result != SUCCESS {
        return recorder.abandon(result);
    }
    // SAFETY: MPI has written the status.
    unsafe { recorder.arrived(status, comm) };
    recorder.leave(result)
}

/// `MPI_Irecv`.
///
/// # Safety
/// As MPI has it.
#[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
pub unsafe extern "C" fn irecv(
    buffer: *mut c_void,
    count: c_int,
    datatype: Handle,
    source: c_int,
    tag: c_int,
    comm: Handle,
    request: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Irecv, site, else irecv(buffer, count, datatype, source, tag, comm, request));
    recorder.expects(buffer, count, datatype, source, tag, comm);
    let result = pass_on!(recorder.irecv(buffer, count, datatype, source, tag, comm, request));
    if result != SUCCESS {
        return recorder.abandon(result);
    }
    // SAFETY: MPI has written the handle.
    unsafe { recorder.starts_receive(request, source, comm) };
    recorder.leave(result)
}

impl Recorder {
    /// The present call starts a receive.
    ///
    /// # Safety
    /// `request` points to a handle that MPI has written.
    pub(crate) unsafe fn starts_receive(&mut self, request: *const c_void, source: c_int, comm: Handle) {
        let number = self.makes();
        let held = if self.event.peer == Event::PROC_NULL { None } else { Some(self.stays_open()) };
        if held.is_none() {
            self.event.flags.0 &= !Flags::CAPACITY.0;
        }
        let source = if source >= 0 { source } else { Request::ANY };
        let comm = self.abi.handle(comm);
        // SAFETY: promised by the caller.
        unsafe { self.made(request, Request { held, source, comm, ..Request::new(number) }) };
    }
}

/// `MPI_Mrecv`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn mrecv(
    buffer: *mut c_void,
    count: c_int,
    datatype: Handle,
    message: *mut c_void,
    status: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Mrecv, site, else mrecv(buffer, count, datatype, message, status));
    // SAFETY: the handle is the program's.
    let comm = unsafe { recorder.matched(message) };
    recorder.event.bytes = recorder.elements(count, datatype);
    recorder.buffer(buffer, count, datatype);
    let status = recorder.status_for(status);
    let result = if recorder.token.is_some() {
        let mut request = [0_u64; 1];
        let request = request.as_mut_ptr().cast::<c_void>();
        let result = pass_on!(recorder.imrecv(buffer, count, datatype, message, request));
        if result == SUCCESS {
            // SAFETY: the request was made above, the status is the program's or our own.
            unsafe { recorder.test_in_turn(request, status, Wait::Poll) }
        } else {
            result
        }
    } else {
        pass_on!(recorder.mrecv(buffer, count, datatype, message, status))
    };
    if result != SUCCESS {
        return recorder.abandon(result);
    }
    // SAFETY: MPI has written the status.
    unsafe { recorder.arrived(status, comm) };
    recorder.leave(result)
}

/// `MPI_Imrecv`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn imrecv(
    buffer: *mut c_void,
    count: c_int,
    datatype: Handle,
    message: *mut c_void,
    request: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Imrecv, site, else imrecv(buffer, count, datatype, message, request));
    // SAFETY: the handle is the program's.
    let comm = unsafe { recorder.matched(message) };
    recorder.event.bytes = recorder.elements(count, datatype);
    recorder.buffer(buffer, count, datatype);
    recorder.event.flags = recorder.event.flags.and(Flags::CAPACITY);
    let source = recorder.event.peer;
    let result = pass_on!(recorder.imrecv(buffer, count, datatype, message, request));
    if result != SUCCESS {
        return recorder.abandon(result);
    }
    // SAFETY: MPI has written the handle.
    unsafe { recorder.starts_receive(request, source, comm) };
    recorder.leave(result)
}

/// `MPI_Sendrecv`.
///
/// # Safety
/// As MPI has it.
#[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
pub unsafe extern "C" fn sendrecv(
    sent: *const c_void,
    sent_count: c_int,
    sent_type: Handle,
    dest: c_int,
    sent_tag: c_int,
    buffer: *mut c_void,
    count: c_int,
    datatype: Handle,
    source: c_int,
    tag: c_int,
    comm: Handle,
    status: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Sendrecv, site, else sendrecv(
        sent, sent_count, sent_type, dest, sent_tag, buffer, count, datatype, source, tag, comm, status
    ));
    recorder.sends(sent, sent_count, sent_type, dest, sent_tag, comm);
    recorder.expects_too(buffer, count, datatype, source, tag);
    let status = recorder.status_for(status);
    let result = if recorder.token.is_some() {
        let from = Part { buffer: sent.cast_mut(), count: sent_count, datatype: sent_type, peer: dest, tag: sent_tag };
        let to = Part { buffer, count, datatype, peer: source, tag };
        // SAFETY: arguments are the program's, the status is the program's or our own.
        unsafe { exchange_in_turn(recorder, Some(&from), &to, comm, status) }
    } else {
        pass_on!(
            recorder.sendrecv(
                sent, sent_count, sent_type, dest, sent_tag, buffer, count, datatype, source, tag, comm, status
            )
        )
    };
    if result != SUCCESS {
        return recorder.abandon(result);
    }
    // SAFETY: MPI has written the status.
    unsafe { recorder.arrived_too(status, comm) };
    recorder.leave(result)
}

/// `MPI_Sendrecv_replace`.
///
/// # Safety
/// As MPI has it.
#[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
pub unsafe extern "C" fn sendrecv_replace(
    buffer: *mut c_void,
    count: c_int,
    datatype: Handle,
    dest: c_int,
    sent_tag: c_int,
    source: c_int,
    tag: c_int,
    comm: Handle,
    status: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::SendrecvReplace, site, else sendrecv_replace(
        buffer, count, datatype, dest, sent_tag, source, tag, comm, status
    ));
    recorder.sends(buffer, count, datatype, dest, sent_tag, comm);
    recorder.expects_too(buffer, count, datatype, source, tag);
    let status = recorder.status_for(status);
    let result = if recorder.token.is_some() {
        // What is sent goes from a copy.
        let packed = recorder.abi.packed;
        let (mut room, mut length) = (0, 0);
        let mut result = pass_on!(recorder.pack_size(count, datatype, comm, &raw mut room));
        let mut copy = vec![0_u8; usize::try_from(room).unwrap_or(0).max(1)];
        if result == SUCCESS {
            let to = copy.as_mut_ptr().cast();
            result = pass_on!(recorder.pack(buffer, count, datatype, to, room, &raw mut length, comm));
        }
        if result == SUCCESS {
            let copy = copy.as_mut_ptr().cast();
            let from = Part { buffer: copy, count: length, datatype: packed, peer: dest, tag: sent_tag };
            let to = Part { buffer, count, datatype, peer: source, tag };
            // SAFETY: arguments are the program's or our copy, which stays; the status is the program's or our own.
            result = unsafe { exchange_in_turn(recorder, Some(&from), &to, comm, status) };
        }
        result
    } else {
        pass_on!(recorder.sendrecv_replace(buffer, count, datatype, dest, sent_tag, source, tag, comm, status))
    };
    if result != SUCCESS {
        return recorder.abandon(result);
    }
    // SAFETY: MPI has written the status.
    unsafe { recorder.arrived_too(status, comm) };
    recorder.leave(result)
}

impl Recorder {
    /// The present call, which sends, also receives.
    fn expects_too(&mut self, buffer: *const c_void, count: c_int, datatype: Handle, source: c_int, tag: c_int) {
        self.event.flags = self.event.flags.and(self.open(source, tag));
        self.event.peer2 = self.peer(source);
        self.event.tag2 = if tag == self.abi.any_tag { 0 } else { tag };
        let (size, count) = (self.size_of(datatype), u64::try_from(count).unwrap_or(0));
        self.note_layout(size, count, datatype);
        self.event.bytes2 = size * count;
        self.event.buffer2 = buffer as u64;
    }

    /// The message that the present call receives has come.
    unsafe fn arrived_too(&mut self, status: *const c_void, comm: Handle) {
        // SAFETY: the caller gives a status that MPI has written.
        let status = unsafe { self.abi.status(status, 0) };
        let peer = self.peer(status.source);
        if peer >= 0 {
            (self.event.peer2, self.event.tag2, self.event.bytes2) = (peer, status.tag, status.bytes);
            self.took(comm, peer);
        } else if peer == Event::PROC_NULL {
            (self.event.tag2, self.event.bytes2) = (0, 0);
        }
    }
}
