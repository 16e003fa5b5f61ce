//! Completion: waits and tests for one, all, any and some requests; cancelling and freeing them.

use std::ffi::{c_int, c_void};

use hayase_mpi::{Handle, SUCCESS};
use hayase_trace::Call;

use super::{calls, pass_on};
use crate::recorder::Recorder;
use crate::recorder::requests::Request;
use crate::token::WaitEvent;

impl Recorder {
    /// Keeps the handles of an array and the numbers of their requests before MPI changes them. Afterwards
    /// another thread may get one of the handles for a request of its own.
    unsafe fn keep(&mut self, count: c_int, requests: *const c_void) -> usize {
        let count = usize::try_from(count).unwrap_or(0);
        self.handles.clear();
        for i in 0..count {
            // SAFETY: the caller gives an array of this many handles.
            let handle = unsafe { self.abi.read_handle(requests, i) };
            let number = self.requests.get(handle).map_or(0, |request| request.number);
            self.handles.push((handle, number));
        }
        count
    }

    /// Returns the program's statuses, or the recorder's own if the program does not want any.
    pub(super) fn statuses_for(&mut self, statuses: *mut c_void, count: usize) -> *mut c_void {
        if self.abi.ignores_status(statuses) { self.statuses.of(count) } else { statuses }
    }

    /// Records that kept request `i` is complete, with entry `at` of the statuses.
    ///
    /// # Safety
    /// MPI has written that status.
    unsafe fn record_completed(&mut self, i: usize, statuses: *const c_void, at: usize) {
        let Some(&(handle, number)) = self.handles.get(i) else { return };
        let Some(request) = self.requests.complete(handle, number) else { return };
        let Request { number, count, held, source, comm, .. } = request;
        self.event.requests.extend(number..number + u64::from(count));
        if !self.duplicates.is_empty() {
            // SAFETY: the request is complete, so the handle has been written.
            unsafe { self.record_duplicate(number) };
        }
        if source != Request::NO_RECEIVE {
            // SAFETY: promised by the caller.
            let status = unsafe { self.abi.status(statuses, at) };
            self.resolve_receive(held, &status);
            if !status.cancelled {
                self.count_taken(comm, status.source);
            }
        }
    }

    /// Records that all kept requests were offered.
    fn record_offered(&mut self) {
        for i in 0..self.handles.len() {
            let (handle, _) = self.handles[i];
            if let Some(&mut Request { active: true, number, .. }) = self.requests.get(handle) {
                self.event.offered.push(number);
            }
        }
    }

    /// Returns the event that the kept requests wait for. With the token, it tells which rank need not be
    /// asked in vain.
    fn wait_event(&mut self) -> WaitEvent {
        if self.token.is_none() {
            return WaitEvent::Poll;
        }
        let mut only = None;
        let mut receives = 0;
        for i in 0..self.handles.len() {
            let (handle, _) = self.handles[i];
            match self.requests.get(handle) {
                Some(request) if request.active && request.source == Request::NO_RECEIVE => {
                    // The send may need this rank to make progress.
                    return if self.handles.len() == 1 { WaitEvent::Send } else { WaitEvent::Poll };
                }
                Some(request) if request.active => {
                    receives += 1;
                    only = Some(*request);
                }
                _ => {}
            }
        }
        match only {
            Some(Request { comm, source, .. }) if receives == 1 => self.wait_for(comm, source),
            Some(_) => WaitEvent::Receive(None),
            None => WaitEvent::Poll,
        }
    }

    /// Tests for the kept requests until they are complete. Used with the token.
    fn wait_in_turn(&mut self, test: impl FnMut(&mut Self, &mut c_int) -> c_int) -> c_int {
        let wait = self.wait_event();
        self.in_turn(wait, test)
    }

    /// Records that all kept requests are complete.
    ///
    /// # Safety
    /// MPI has written their statuses.
    unsafe fn record_all_completed(&mut self, statuses: *const c_void) {
        for i in 0..self.handles.len() {
            // SAFETY: promised by the caller.
            unsafe { self.record_completed(i, statuses, i) };
        }
    }

    /// Records that one of the kept requests is complete, if there was one.
    ///
    /// # Safety
    /// MPI has written its status.
    unsafe fn completed_any(&mut self, index: c_int, status: *const c_void) {
        if let Ok(index) = usize::try_from(index) {
            // SAFETY: promised by the caller.
            unsafe { self.record_completed(index, status, 0) };
        }
    }

    /// Records that `done` of the kept requests are complete.
    unsafe fn record_some_completed(&mut self, done: c_int, indices: *const c_int, statuses: *const c_void) {
        for at in 0..usize::try_from(done).unwrap_or(0) {
            // SAFETY: MPI has written this many indices and statuses.
            unsafe {
                if let Ok(index) = usize::try_from(*indices.add(at)) {
                    self.record_completed(index, statuses, at);
                }
            }
        }
    }

    /// Leaves a test or probe that has found something or nothing.
    pub(super) fn leave_if_found(&mut self, found: bool) -> c_int {
        if found {
            return self.leave(SUCCESS);
        }
        self.event.offered.clear();
        self.give_way();
        self.leave_poll(SUCCESS)
    }

    /// Leaves a test: as recorded if it found complete requests, otherwise as one that found none.
    fn leave_test(&mut self) -> c_int {
        self.leave_if_found(!self.event.requests.is_empty())
    }

    /// Records the request that the call names; returns its handle.
    unsafe fn record_named(&mut self, request: *const c_void) -> Handle {
        // SAFETY: the caller gives a request of the program.
        let handle = unsafe { self.abi.read_handle(request, 0) };
        if let Some(&mut Request { number, .. }) = self.requests.get(handle) {
            self.event.requests.push(number);
        }
        handle
    }
}

/// Keeps the requests of a call, and records them as offered if the call takes those that are complete.
/// Returns room for its statuses.
macro_rules! keep_requests {
    ($recorder:ident, $count:expr, $requests:ident, $statuses:ident, $offers:literal) => {{
        // SAFETY: the program gives this many requests.
        let length = unsafe { $recorder.keep($count, $requests) };
        if $offers {
            $recorder.record_offered();
        }
        $recorder.statuses_for($statuses, length.max(1))
    }};
}

calls! {
    Wait Wait wait(request, status) |recorder| {
        let status = keep_requests!(recorder, 1, request, status, false);
    } turn {
        let wait = recorder.wait_event();
        recorder.test_in_turn(request, status, wait)
    } done {
        recorder.record_completed(0, status, 0)
    };
    Test Test test(request, flag, status) |recorder| {
        let status = keep_requests!(recorder, 1, request, status, false);
    } done {
        if *flag != 0 {
            recorder.record_completed(0, status, 0);
        }
    } => recorder.leave_test();
    Waitall Waitall waitall(count, requests, statuses) |recorder| {
        let statuses = keep_requests!(recorder, count, requests, statuses, false);
    } turn {
        recorder.wait_in_turn(|recorder, flag| pass_on!(recorder.testall(count, requests, &raw mut *flag, statuses)))
    } done {
        recorder.record_all_completed(statuses)
    };
    Testall Testall testall(count, requests, flag, statuses) |recorder| {
        let statuses = keep_requests!(recorder, count, requests, statuses, false);
    } done {
        if *flag != 0 {
            recorder.record_all_completed(statuses);
        }
    } => recorder.leave_test();
    Waitany Waitany waitany(count, requests, index, status) |recorder| {
        let status = keep_requests!(recorder, count, requests, status, true);
    } turn {
        recorder.wait_in_turn(|recorder, flag| {
            pass_on!(recorder.testany(count, requests, index, &raw mut *flag, status))
        })
    } done {
        recorder.completed_any(*index, status)
    };
    Testany Testany testany(count, requests, index, flag, status) |recorder| {
        let status = keep_requests!(recorder, count, requests, status, true);
    } done {
        if *flag != 0 {
            recorder.completed_any(*index, status);
        }
    } => recorder.leave_test();
    Waitsome Waitsome waitsome(count, requests, outcount, indices, statuses) |recorder| {
        let statuses = keep_requests!(recorder, count, requests, statuses, true);
    } turn {
        recorder.wait_in_turn(|recorder, flag| {
            let result = pass_on!(recorder.testsome(count, requests, outcount, indices, statuses));
            // No request complete: zero. No request active: MPI_UNDEFINED, which is not zero.
            *flag = *outcount;
            result
        })
    } done {
        recorder.record_some_completed(*outcount, indices, statuses)
    };
    Testsome Testsome testsome(count, requests, outcount, indices, statuses) |recorder| {
        let statuses = keep_requests!(recorder, count, requests, statuses, true);
    } done {
        recorder.record_some_completed(*outcount, indices, statuses)
    } => recorder.leave_test();
    Cancel Cancel cancel(request) |recorder| {
        // SAFETY: the program gives a request.
        unsafe { recorder.record_named(request) };
    };
    RequestFree Request_free request_free(request) |recorder| {
        // SAFETY: the program gives a request.
        let handle = unsafe { recorder.record_named(request) };
    } done {
        if let Some(Request { held: Some(held), .. }) = recorder.requests.remove(handle) {
            // The received message will never be known.
            recorder.close_event(held);
        }
    };
    // Looks at a request without changing it.
    Test Request_get_status request_get_status(request: Handle, flag, status) |recorder| {} => recorder.leave_test();
}
