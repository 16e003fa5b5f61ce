//! Probes: ask for a message and its sender; some match it for a later receive.

use std::ffi::{c_int, c_void};

use hayase_mpi::Handle;
use hayase_trace::Call;

use super::{calls, pass_on};
use crate::recorder::Recorder;

impl Recorder {
    /// Records the message that is looked for.
    fn record_search(&mut self, source: c_int, tag: c_int, comm: Handle) {
        self.set_communicator(comm);
        self.event.flags = self.event.flags.and(self.open(source, tag));
        self.event.peer = self.peer(source);
        self.event.tag = if tag == self.abi.any_tag { 0 } else { tag };
    }

    /// Records the message that was found. The message stays in MPI.
    unsafe fn record_found(&mut self, status: *const c_void) {
        // SAFETY: the caller gives a status that MPI has written.
        let status = unsafe { self.abi.status(status, 0) };
        let peer = self.peer(status.source);
        if peer >= 0 {
            (self.event.peer, self.event.tag, self.event.bytes) = (peer, status.tag, status.bytes);
        }
    }

    /// Keeps the handle by which a matched message is received.
    unsafe fn keep_message(&mut self, message: *const c_void, comm: Handle) {
        // SAFETY: the caller gives a handle that MPI has written.
        let handle = unsafe { self.abi.read_handle(message, 0) };
        let (peer, tag) = (self.event.peer, self.event.tag);
        self.messages.insert(handle, (comm, peer, tag));
    }

    /// Records that the present call receives a matched message; returns its communicator.
    ///
    /// # Safety
    /// `message` points to a handle of the program.
    pub(crate) unsafe fn receive_matched(&mut self, message: *const c_void) -> Handle {
        // SAFETY: promised by the caller.
        let handle = unsafe { self.abi.read_handle(message, 0) };
        let nobody = (self.abi.comm_world, self.peer(self.abi.proc_null), 0);
        let (comm, peer, tag) = self.messages.remove(&handle).unwrap_or(nobody);
        self.set_communicator(comm);
        (self.event.peer, self.event.tag) = (peer, tag);
        comm
    }
}

calls! {
    Probe Probe probe(source, tag, comm, status) |recorder| {
        recorder.record_search(source, tag, comm);
        let status = recorder.statuses_for(status, 1);
    } turn {
        let wait = recorder.wait_for(comm, source);
        recorder.in_turn(wait, |recorder, flag| pass_on!(recorder.iprobe(source, tag, comm, &raw mut *flag, status)))
    } done {
        recorder.record_found(status)
    };
    Iprobe Iprobe iprobe(source, tag, comm, flag, status) |recorder| {
        recorder.record_search(source, tag, comm);
        let status = recorder.statuses_for(status, 1);
    } done {
        if *flag != 0 {
            recorder.record_found(status);
        }
    } => recorder.leave_if_found(*flag != 0);
    Mprobe Mprobe mprobe(source, tag, comm, message, status) |recorder| {
        recorder.record_search(source, tag, comm);
        let status = recorder.statuses_for(status, 1);
    } turn {
        let wait = recorder.wait_for(comm, source);
        recorder.in_turn(wait, |recorder, flag| {
            pass_on!(recorder.improbe(source, tag, comm, &raw mut *flag, message, status))
        })
    } done {
        recorder.record_found(status);
        recorder.keep_message(message, comm);
    };
    Improbe Improbe improbe(source, tag, comm, flag, message, status) |recorder| {
        recorder.record_search(source, tag, comm);
        let status = recorder.statuses_for(status, 1);
    } done {
        if *flag != 0 {
            recorder.record_found(status);
            recorder.keep_message(message, comm);
        }
    } => recorder.leave_if_found(*flag != 0);
}
