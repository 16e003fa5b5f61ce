//! Persistent requests: made once and started again and again.

use std::ffi::c_int;

use hayase_mpi::Handle;
use hayase_trace::{Call, Event, Flags};

use super::calls;
use super::point_to_point::sends_by_request;
use crate::recorder::Recorder;
use crate::recorder::requests::Request;

/// Returns a persistent send, whose message leaves when the request is started. Its receiver is kept as
/// `partner`, since no receive waits for it.
fn persistent_send(recorder: &mut Recorder, dest: c_int, comm: Handle) -> Request {
    let comm = recorder.abi.handle(comm);
    Request { persistent: true, active: false, comm, partner: dest, ..Request::UNDER_WAY }
}

sends_by_request! {
    SendInit Send_init send_init persistent_send;
    BsendInit Bsend_init bsend_init persistent_send;
    SsendInit Ssend_init ssend_init persistent_send;
    RsendInit Rsend_init rsend_init persistent_send;
}

calls! {
    RecvInit Recv_init recv_init(buffer, count, datatype, source, tag, comm, request) |recorder| {
        recorder.record_receive(buffer, count, datatype, source, tag, comm);
    } done {
        // Each start may receive another message: only the room for it is recorded here. If the receive
        // leaves its source open, each start records the source.
        let about = Request {
            persistent: true,
            active: false,
            source: if source >= 0 { source } else { Request::ANY },
            comm: recorder.abi.handle(comm),
            open: recorder.open(source, tag),
            tag: if tag == recorder.abi.any_tag { -1 } else { tag },
            room: recorder.event.bytes,
            ..Request::UNDER_WAY
        };
        recorder.begin_request(request, about);
    };
    Start Start start(request) |recorder| {
        // SAFETY: the program gives a request; starting it leaves the handle as it is.
        let handle = unsafe { recorder.abi.read_handle(request, 0) };
    } done {
        recorder.record_start(handle);
    };
    Startall Startall startall(count, requests) |recorder| {} done {
        let count = usize::try_from(count).unwrap_or(0);
        let handles: Vec<Handle> = (0..count).map(|i| recorder.abi.read_handle(requests, i)).collect();
        recorder.record_starts(&handles);
    };
}

impl Recorder {
    /// Records the start of a persistent request in the present event. Returns true if the event holds no
    /// more than its number.
    fn record_start(&mut self, handle: Handle) -> bool {
        let Some(request) = self.requests.get(handle) else { return true };
        request.active = true;
        let Request { number, comm, source, partner, open, tag, room, .. } = *request;
        self.event.requests.push(number);
        if source == Request::NO_RECEIVE {
            self.count_posted(comm, partner);
            return true;
        }
        if open == Flags::default() {
            return true;
        }
        self.set_communicator(comm);
        self.event.flags = self.event.flags.and(open).and(Flags::CAPACITY);
        // No source (`MPI_ANY_SOURCE`) is one that is not known yet.
        (self.event.peer, self.event.tag, self.event.bytes) = (self.peer(source), tag, room);
        let held = self.keep_open();
        if let Some(request) = self.requests.get(handle) {
            request.held = Some(held);
        }
        false
    }

    /// Records requests started by one call. Receives with an open source get events of their own, since each
    /// records its source.
    fn record_starts(&mut self, handles: &[Handle]) {
        for (i, &handle) in handles.iter().enumerate() {
            let open = self.requests.get(handle).is_some_and(|request| request.open != Flags::default());
            if open && !self.event.requests.is_empty() {
                self.split_off_starts();
            }
            let plain = self.record_start(handle);
            if !plain && i + 1 < handles.len() {
                self.split_off_starts();
            }
        }
    }

    /// Adds an event with the starts recorded so far, before the present event.
    fn split_off_starts(&mut self) {
        let mut event = self.event.clone();
        if event.requests.len() == 1 {
            event.call = Call::Start;
        }
        event.end = event.begin;
        self.add_event(event);
        // The time before belongs to the first event.
        self.event.cpu = self.event.cpu.map(|_| 0);
        (self.event.comm, self.event.flags) = (0, Flags::default());
        (self.event.peer, self.event.tag, self.event.bytes) = (Event::NOBODY, 0, 0);
        self.event.requests.clear();
    }
}
