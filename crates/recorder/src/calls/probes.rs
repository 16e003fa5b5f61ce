//! Probes: is there a message, and of whom; also those that match it for a later receive.

use std::ffi::{c_int, c_void};

use hayase_mpi::{Handle, SUCCESS};
use hayase_trace::Call;

use super::{enter, pass_on};
use crate::entry::export;
use crate::recorder::Recorder;

export! {
    MPI_Probe 4 probe;
    MPI_Iprobe 5 iprobe;
    MPI_Mprobe 5 mprobe;
    MPI_Improbe 6 improbe;
}

impl Recorder {
    /// What is looked for.
    fn looks_for(&mut self, source: c_int, tag: c_int, comm: Handle) {
        self.on(comm);
        self.event.flags = self.event.flags.and(self.open(source, tag));
        self.event.peer = self.peer(source);
        self.event.tag = if tag == self.abi.any_tag { 0 } else { tag };
    }

    /// What is there: the message stays where it is.
    unsafe fn found(&mut self, status: *const c_void) {
        // SAFETY: the caller gives a status that MPI has written.
        let status = unsafe { self.abi.status(status, 0) };
        let peer = self.peer(status.source);
        if peer >= 0 {
            (self.event.peer, self.event.tag, self.event.bytes) = (peer, status.tag, status.bytes);
        }
    }

    /// The message that was found is matched: it is received by this handle.
    unsafe fn keep_message(&mut self, message: *const c_void, comm: Handle) {
        // SAFETY: the caller gives a handle that MPI has written.
        let handle = unsafe { self.abi.read_handle(message, 0) };
        let (peer, tag) = (self.event.peer, self.event.tag);
        self.messages.insert(handle, (comm, peer, tag));
    }

    /// The present call receives a message that has been matched: returns its communicator.
    ///
    /// # Safety
    /// `message` points to a handle of the program.
    pub(crate) unsafe fn matched(&mut self, message: *const c_void) -> Handle {
        // SAFETY: promised by the caller.
        let handle = unsafe { self.abi.read_handle(message, 0) };
        let nobody = (self.abi.comm_world, self.peer(self.abi.proc_null), 0);
        let (comm, peer, tag) = self.messages.remove(&handle).unwrap_or(nobody);
        self.on(comm);
        (self.event.peer, self.event.tag) = (peer, tag);
        comm
    }
}

/// `MPI_Probe`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn probe(source: c_int, tag: c_int, comm: Handle, status: *mut c_void, site: usize) -> c_int {
    let recorder = enter!(Call::Probe, site, else probe(source, tag, comm, status));
    recorder.looks_for(source, tag, comm);
    let status = recorder.status_for(status);
    let result = if recorder.token.is_some() {
        let wait = recorder.wait_for(comm, source);
        recorder.in_turn(wait, |recorder, flag| pass_on!(recorder.iprobe(source, tag, comm, &raw mut *flag, status)))
    } else {
        pass_on!(recorder.probe(source, tag, comm, status))
    };
    if result != SUCCESS {
        return recorder.abandon(result);
    }
    // SAFETY: MPI has written the status.
    unsafe { recorder.found(status) };
    recorder.leave(result)
}

/// `MPI_Iprobe`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn iprobe(
    source: c_int,
    tag: c_int,
    comm: Handle,
    flag: *mut c_int,
    status: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Iprobe, site, else iprobe(source, tag, comm, flag, status));
    recorder.looks_for(source, tag, comm);
    let status = recorder.status_for(status);
    let result = pass_on!(recorder.iprobe(source, tag, comm, flag, status));
    // SAFETY: MPI has written the flag, and the status if it is set.
    unsafe {
        if result != SUCCESS {
            recorder.abandon(result)
        } else if *flag != 0 {
            recorder.found(status);
            recorder.leave(result)
        } else {
            recorder.give_way();
            recorder.leave_poll(result)
        }
    }
}

/// `MPI_Mprobe`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn mprobe(
    source: c_int,
    tag: c_int,
    comm: Handle,
    message: *mut c_void,
    status: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Mprobe, site, else mprobe(source, tag, comm, message, status));
    recorder.looks_for(source, tag, comm);
    let status = recorder.status_for(status);
    let result = if recorder.token.is_some() {
        let wait = recorder.wait_for(comm, source);
        recorder.in_turn(wait, |recorder, flag| {
            pass_on!(recorder.improbe(source, tag, comm, &raw mut *flag, message, status))
        })
    } else {
        pass_on!(recorder.mprobe(source, tag, comm, message, status))
    };
    if result != SUCCESS {
        return recorder.abandon(result);
    }
    // SAFETY: MPI has written the status and the handle.
    unsafe {
        recorder.found(status);
        recorder.keep_message(message, comm);
    }
    recorder.leave(result)
}

/// `MPI_Improbe`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn improbe(
    source: c_int,
    tag: c_int,
    comm: Handle,
    flag: *mut c_int,
    message: *mut c_void,
    status: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Improbe, site, else improbe(source, tag, comm, flag, message, status));
    recorder.looks_for(source, tag, comm);
    let status = recorder.status_for(status);
    let result = pass_on!(recorder.improbe(source, tag, comm, flag, message, status));
    // SAFETY: MPI has written the flag, and if it is set the status and the handle.
    unsafe {
        if result != SUCCESS {
            recorder.abandon(result)
        } else if *flag != 0 {
            recorder.found(status);
            recorder.keep_message(message, comm);
            recorder.leave(result)
        } else {
            recorder.give_way();
            recorder.leave_poll(result)
        }
    }
}
