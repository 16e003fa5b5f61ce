//! Messages from one rank to another: sends in all modes, receives, and both at once.

use std::ffi::{c_int, c_void};

use hayase_mpi::{Functions, Handle, SUCCESS};
use hayase_trace::{Call, Event, Flags};

use super::{calls, pass_on};
use crate::recorder::Recorder;
use crate::recorder::requests::Request;
use crate::token::WaitEvent;

impl Recorder {
    /// Records a send to a rank.
    pub(crate) fn record_send(
        &mut self,
        buffer: *const c_void,
        count: c_int,
        datatype: Handle,
        dest: c_int,
        tag: c_int,
        comm: Handle,
    ) {
        self.set_communicator(comm);
        self.event.peer = self.peer(dest);
        self.event.tag = tag;
        self.event.bytes = self.elements(count, datatype);
        self.buffer(buffer, count, datatype);
    }

    /// Records a receive from a rank, and the room for its message.
    pub(crate) fn record_receive(
        &mut self,
        buffer: *const c_void,
        count: c_int,
        datatype: Handle,
        source: c_int,
        tag: c_int,
        comm: Handle,
    ) {
        self.set_communicator(comm);
        self.event.flags = self.event.flags.and(self.open(source, tag)).and(Flags::CAPACITY);
        self.event.peer = self.peer(source);
        self.event.tag = if tag == self.abi.any_tag { -1 } else { tag };
        self.event.bytes = self.elements(count, datatype);
        self.buffer(buffer, count, datatype);
    }

    /// Records the message that the present call has received.
    ///
    /// # Safety
    /// `status` is one that MPI has written.
    pub(crate) unsafe fn record_arrival(&mut self, status: *const c_void, comm: Handle) {
        // SAFETY: promised by the caller.
        let status = unsafe { self.abi.status(status, 0) };
        let peer = self.peer(status.source);
        self.event.flags.0 &= !Flags::CAPACITY.0;
        if peer >= 0 {
            (self.event.peer, self.event.tag, self.event.bytes) = (peer, status.tag, status.bytes);
            self.count_taken(comm, peer);
        } else if peer == Event::PROC_NULL {
            self.event.tag = 0;
        }
    }

    /// Records a new request by its handle.
    ///
    /// # Safety
    /// `request` points to a handle that MPI has written.
    pub(crate) unsafe fn record_request(&mut self, request: *const c_void, about: Request) {
        // SAFETY: promised by the caller.
        let handle = unsafe { self.abi.read_handle(request, 0) };
        self.requests.insert(handle, about);
    }

    /// Records that the present call makes a request; returns its number.
    ///
    /// # Safety
    /// As of [`record_request`](Self::record_request).
    pub(crate) unsafe fn begin_request(&mut self, request: *const c_void, about: Request) -> u64 {
        let number = self.make_request();
        // SAFETY: promised by the caller.
        unsafe { self.record_request(request, Request { number, ..about }) };
        number
    }

    /// Has MPI start a call, and lets other ranks run until its request is complete. Used with the token.
    ///
    /// # Safety
    /// `status` is room for a status, or the constant for none.
    pub(crate) unsafe fn start_in_turn(
        &mut self,
        status: *mut c_void,
        wait: WaitEvent,
        start: impl FnOnce(&Functions, *mut c_void) -> c_int,
    ) -> c_int {
        let mut request = [0_u64; 1];
        let request = request.as_mut_ptr().cast::<c_void>();
        let result = self.call(|mpi| start(mpi, request));
        if result != SUCCESS {
            return result;
        }
        // SAFETY: the request was made above; the rest is promised by the caller.
        unsafe { self.test_in_turn(request, status, wait) }
    }
}

/// Defines sends that wait. Arguments: the call, which is also its name in MPI; its function; the function
/// that makes a request instead.
macro_rules! sends {
    ($($call:ident $name:ident $iname:ident;)*) => {
        calls! {$(
            $call $call $name(sendbuf, count, datatype, dest, tag, comm) |recorder| {
                recorder.record_send(sendbuf, count, datatype, dest, tag, comm);
                recorder.count_posted(comm, dest);
            } turn {
                let none = recorder.abi.status_ignore as *mut c_void;
                recorder.start_in_turn(none, WaitEvent::Send, |mpi, request| {
                    (mpi.$iname)(sendbuf, count, datatype, dest, tag, comm, request)
                })
            };
        )*}
    };
}

sends! {
    Send send isend;
    Ssend ssend issend;
    Rsend rsend irsend;
}

/// Defines sends that make a request. Arguments: the call, its name in MPI and its function; a function that
/// returns the request.
macro_rules! sends_by_request {
    ($($call:ident $symbol:ident $name:ident $about:expr;)*) => {
        calls! {$(
            $call $symbol $name(sendbuf, count, datatype, dest, tag, comm, request) |recorder| {
                recorder.record_send(sendbuf, count, datatype, dest, tag, comm);
            } done {
                let about = $about(recorder, dest, comm);
                recorder.begin_request(request, about);
            };
        )*}
    };
}

pub(super) use sends_by_request;

/// Returns the request of a message that is under way.
fn started_send(recorder: &mut Recorder, dest: c_int, comm: Handle) -> Request {
    recorder.count_posted(comm, dest);
    Request::UNDER_WAY
}

sends_by_request! {
    Isend Isend isend started_send;
    Ibsend Ibsend ibsend started_send;
    Issend Issend issend started_send;
    Irsend Irsend irsend started_send;
}

/// One side of an exchange: the data sent or received, and the partner.
struct Side {
    buffer: *mut c_void,
    count: c_int,
    datatype: Handle,
    peer: c_int,
    tag: c_int,
}

/// Receives, and sends if there is something to send; other ranks run until both are complete. Used with the
/// token.
unsafe fn exchange_in_turn(
    recorder: &mut Recorder,
    from: Option<&Side>,
    to: &Side,
    comm: Handle,
    status: *mut c_void,
) -> c_int {
    let mut requests = [0_u64; 2];
    let (receive, send) = requests.split_at_mut(1);
    let (receive, send) = (receive.as_mut_ptr().cast::<c_void>(), send.as_mut_ptr().cast::<c_void>());
    // A receive from `MPI_PROC_NULL` is complete at once; some MPIs say so in the status only for a blocking
    // receive.
    let comes = to.peer != recorder.abi.proc_null;
    let Side { buffer, count, datatype, peer, tag } = *to;
    let mut result = if comes {
        pass_on!(recorder.irecv(buffer, count, datatype, peer, tag, comm, receive))
    } else {
        pass_on!(recorder.recv(buffer, count, datatype, peer, tag, comm, status))
    };
    if result == SUCCESS
        && let Some(from) = from
    {
        result = pass_on!(recorder.isend(from.buffer, from.count, from.datatype, from.peer, from.tag, comm, send));
        recorder.count_posted(comm, from.peer);
    }
    // SAFETY: the requests were made above; the status is one that may be written.
    unsafe {
        if result == SUCCESS && comes {
            let wait = recorder.wait_for(comm, peer);
            result = recorder.test_in_turn(receive, status, wait);
        }
        if result == SUCCESS && from.is_some() {
            let none = recorder.abi.status_ignore as *mut c_void;
            result = recorder.test_in_turn(send, none, WaitEvent::Send);
        }
    }
    result
}

calls! {
    // Never waits for another rank.
    Bsend Bsend bsend(sendbuf, count, datatype, dest, tag, comm) |recorder| {
        recorder.record_send(sendbuf, count, datatype, dest, tag, comm);
        recorder.count_posted(comm, dest);
    };
    Recv Recv recv(buffer, count, datatype, source, tag, comm, status) |recorder| {
        recorder.record_receive(buffer, count, datatype, source, tag, comm);
        let status = recorder.statuses_for(status, 1);
    } turn {
        let to = Side { buffer, count, datatype, peer: source, tag };
        exchange_in_turn(recorder, None, &to, comm, status)
    } done {
        recorder.record_arrival(status, comm)
    };
    Irecv Irecv irecv(buffer, count, datatype, source, tag, comm, request) |recorder| {
        recorder.record_receive(buffer, count, datatype, source, tag, comm);
    } done {
        recorder.starts_receive(request, source, comm)
    };
    Mrecv Mrecv mrecv(buffer, count, datatype, message, status) |recorder| {
        // SAFETY: the handle is the program's.
        let comm = unsafe { recorder.receive_matched(message) };
        recorder.event.bytes = recorder.elements(count, datatype);
        recorder.buffer(buffer, count, datatype);
        let status = recorder.statuses_for(status, 1);
    } turn {
        recorder.start_in_turn(status, WaitEvent::Poll, |mpi, request| {
            (mpi.imrecv)(buffer, count, datatype, message, request)
        })
    } done {
        recorder.record_arrival(status, comm)
    };
    Imrecv Imrecv imrecv(buffer, count, datatype, message, request) |recorder| {
        // SAFETY: the handle is the program's.
        let comm = unsafe { recorder.receive_matched(message) };
        recorder.event.bytes = recorder.elements(count, datatype);
        recorder.buffer(buffer, count, datatype);
        recorder.event.flags = recorder.event.flags.and(Flags::CAPACITY);
        let source = recorder.event.peer;
    } done {
        recorder.starts_receive(request, source, comm)
    };
    Sendrecv Sendrecv sendrecv(
        sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status
    ) |recorder| {
        recorder.record_send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
        recorder.record_second_receive(recvbuf, recvcount, recvtype, source, recvtag);
        let status = recorder.statuses_for(status, 1);
    } turn {
        let sendbuf = sendbuf.cast_mut();
        let from = Side { buffer: sendbuf, count: sendcount, datatype: sendtype, peer: dest, tag: sendtag };
        let to = Side { buffer: recvbuf, count: recvcount, datatype: recvtype, peer: source, tag: recvtag };
        exchange_in_turn(recorder, Some(&from), &to, comm, status)
    } done {
        recorder.record_second_arrival(status, comm)
    };
    SendrecvReplace Sendrecv_replace sendrecv_replace(
        buffer, count, datatype, dest, sendtag, source, recvtag, comm, status
    ) |recorder| {
        recorder.record_send(buffer, count, datatype, dest, sendtag, comm);
        recorder.record_second_receive(buffer, count, datatype, source, recvtag);
        let status = recorder.statuses_for(status, 1);
    } turn {
        // The data is sent from a copy.
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
            let from = Side { buffer: copy, count: length, datatype: packed, peer: dest, tag: sendtag };
            let to = Side { buffer, count, datatype, peer: source, tag: recvtag };
            result = exchange_in_turn(recorder, Some(&from), &to, comm, status);
        }
        result
    } done {
        recorder.record_second_arrival(status, comm)
    };
}

impl Recorder {
    /// Records that the present call starts a receive.
    ///
    /// # Safety
    /// `request` points to a handle that MPI has written.
    unsafe fn starts_receive(&mut self, request: *const c_void, source: c_int, comm: Handle) {
        let held = if self.event.peer == Event::PROC_NULL { None } else { Some(self.keep_open()) };
        if held.is_none() {
            self.event.flags.0 &= !Flags::CAPACITY.0;
        }
        let source = if source >= 0 { source } else { Request::ANY };
        let comm = self.abi.handle(comm);
        // SAFETY: promised by the caller.
        unsafe { self.begin_request(request, Request { held, source, comm, ..Request::UNDER_WAY }) };
    }

    /// Records the receive of a call that also sends.
    fn record_second_receive(
        &mut self,
        buffer: *const c_void,
        count: c_int,
        datatype: Handle,
        source: c_int,
        tag: c_int,
    ) {
        self.event.flags = self.event.flags.and(self.open(source, tag));
        self.event.peer2 = self.peer(source);
        self.event.tag2 = if tag == self.abi.any_tag { 0 } else { tag };
        let (size, count) = (self.size_of(datatype), u64::try_from(count).unwrap_or(0));
        self.note_layout(size, count, datatype);
        self.event.bytes2 = size * count;
        self.event.buffer2 = buffer as u64;
    }

    /// Records the message received by a call that also sends.
    unsafe fn record_second_arrival(&mut self, status: *const c_void, comm: Handle) {
        // SAFETY: the caller gives a status that MPI has written.
        let status = unsafe { self.abi.status(status, 0) };
        let peer = self.peer(status.source);
        if peer >= 0 {
            (self.event.peer2, self.event.tag2, self.event.bytes2) = (peer, status.tag, status.bytes);
            self.count_taken(comm, peer);
        } else if peer == Event::PROC_NULL {
            (self.event.tag2, self.event.bytes2) = (0, 0);
        }
    }
}
