//! Completion: waits and tests for one, all, any and some requests; cancelling and freeing them.

use std::ffi::{c_int, c_void};

use hayase_mpi::{Handle, SUCCESS};
use hayase_trace::Call;

use super::{enter, pass_on};
use crate::entry::export;
use crate::recorder::Recorder;
use crate::recorder::requests::Request;
use crate::token::Wait;

export! {
    MPI_Wait 2 wait;
    MPI_Waitall 3 waitall;
    MPI_Waitany 4 waitany;
    MPI_Waitsome 5 waitsome;
    MPI_Test 3 test;
    MPI_Testall 4 testall;
    MPI_Testany 5 testany;
    MPI_Testsome 5 testsome;
    MPI_Cancel 1 cancel;
    MPI_Request_free 1 request_free;
    MPI_Request_get_status 3 request_get_status;
}

impl Recorder {
    /// Keeps the handles of an array, and which requests they are, before MPI changes them: once MPI has, another thread
    /// may get one of them for a request of its own.
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

    /// The program's statuses, or our own if it does not want any.
    fn statuses_for(&mut self, statuses: *mut c_void, count: usize) -> *mut c_void {
        if self.abi.ignores_status(statuses) { self.statuses.of(count) } else { statuses }
    }

    /// Request `i` of those that were kept is complete, with entry `at` of the statuses.
    ///
    /// # Safety
    /// MPI has written that status.
    unsafe fn completed(&mut self, i: usize, statuses: *const c_void, at: usize) {
        let Some(&(handle, number)) = self.handles.get(i) else { return };
        let Some(request) = self.requests.complete(handle, number) else { return };
        let Request { number, count, held, source, comm, .. } = request;
        self.event.requests.extend(number..number + u64::from(count));
        if !self.duplicates.is_empty() {
            // SAFETY: the request is complete, so the handle has been written.
            unsafe { self.duplicated(number) };
        }
        if source != Request::NO_RECEIVE {
            // SAFETY: promised by the caller.
            let status = unsafe { self.abi.status(statuses, at) };
            self.received(held, &status);
            if !status.cancelled {
                self.took(comm, status.source);
            }
        }
    }

    /// All requests that were kept were offered.
    fn offer(&mut self) {
        for i in 0..self.handles.len() {
            let (handle, _) = self.handles[i];
            if let Some(&mut Request { active: true, number, .. }) = self.requests.get(handle) {
                self.event.offered.push(number);
            }
        }
    }

    /// What the requests that were kept wait for: with the token, who need not be asked whether it is there.
    fn waits(&mut self) -> Wait {
        if self.token.is_none() {
            return Wait::Poll;
        }
        let mut only = None;
        let mut receives = 0;
        for i in 0..self.handles.len() {
            let (handle, _) = self.handles[i];
            match self.requests.get(handle) {
                Some(request) if request.active && request.source == Request::NO_RECEIVE => {
                    // It may need this rank to go on with it.
                    return if self.handles.len() == 1 { Wait::Send } else { Wait::Poll };
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
            Some(_) => Wait::Receive(None),
            None => Wait::Poll,
        }
    }
}

/// `MPI_Wait`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn wait(request: *mut c_void, status: *mut c_void, site: usize) -> c_int {
    let recorder = enter!(Call::Wait, site, else wait(request, status));
    // SAFETY: the program gives a request; the status is written by MPI.
    unsafe {
        recorder.keep(1, request);
        let status = recorder.statuses_for(status, 1);
        let result = if recorder.token.is_some() {
            let wait = recorder.waits();
            recorder.test_in_turn(request, status, wait)
        } else {
            pass_on!(recorder.wait(request, status))
        };
        if result != SUCCESS {
            return recorder.abandon(result);
        }
        recorder.completed(0, status, 0);
        recorder.leave(result)
    }
}

/// `MPI_Waitall`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn waitall(count: c_int, requests: *mut c_void, statuses: *mut c_void, site: usize) -> c_int {
    let recorder = enter!(Call::Waitall, site, else waitall(count, requests, statuses));
    // SAFETY: the program gives an array of requests; the statuses are written by MPI.
    unsafe {
        let length = recorder.keep(count, requests);
        let statuses = recorder.statuses_for(statuses, length);
        let result = if recorder.token.is_some() {
            let wait = recorder.waits();
            recorder
                .in_turn(wait, |recorder, flag| pass_on!(recorder.testall(count, requests, &raw mut *flag, statuses)))
        } else {
            pass_on!(recorder.waitall(count, requests, statuses))
        };
        if result != SUCCESS {
            return recorder.abandon(result);
        }
        for i in 0..length {
            recorder.completed(i, statuses, i);
        }
        recorder.leave(result)
    }
}

/// `MPI_Waitany`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn waitany(
    count: c_int,
    requests: *mut c_void,
    index: *mut c_int,
    status: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Waitany, site, else waitany(count, requests, index, status));
    // SAFETY: the program gives an array of requests; index and status are written by MPI.
    unsafe {
        recorder.keep(count, requests);
        recorder.offer();
        let status = recorder.statuses_for(status, 1);
        let result = if recorder.token.is_some() {
            let wait = recorder.waits();
            recorder.in_turn(wait, |recorder, flag| {
                pass_on!(recorder.testany(count, requests, index, &raw mut *flag, status))
            })
        } else {
            pass_on!(recorder.waitany(count, requests, index, status))
        };
        if result != SUCCESS {
            return recorder.abandon(result);
        }
        if let Ok(index) = usize::try_from(*index) {
            recorder.completed(index, status, 0);
        }
        recorder.leave(result)
    }
}

/// `MPI_Waitsome`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn waitsome(
    count: c_int,
    requests: *mut c_void,
    done: *mut c_int,
    indices: *mut c_int,
    statuses: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Waitsome, site, else waitsome(count, requests, done, indices, statuses));
    // SAFETY: the program gives arrays of requests, indices and statuses of this length, and room for the number.
    unsafe {
        let length = recorder.keep(count, requests);
        recorder.offer();
        let statuses = recorder.statuses_for(statuses, length);
        let result = if recorder.token.is_some() {
            let wait = recorder.waits();
            recorder.in_turn(wait, |recorder, flag| {
                let result = pass_on!(recorder.testsome(count, requests, done, indices, statuses));
                // None is complete: zero. None is active: MPI_UNDEFINED, which is not zero.
                *flag = *done;
                result
            })
        } else {
            pass_on!(recorder.waitsome(count, requests, done, indices, statuses))
        };
        if result != SUCCESS {
            return recorder.abandon(result);
        }
        recorder.completed_some(*done, indices, statuses);
        recorder.leave(result)
    }
}

impl Recorder {
    /// So many of the requests that were kept are complete.
    unsafe fn completed_some(&mut self, done: c_int, indices: *const c_int, statuses: *const c_void) {
        for at in 0..usize::try_from(done).unwrap_or(0) {
            // SAFETY: MPI has written this many indices and statuses.
            unsafe {
                if let Ok(index) = usize::try_from(*indices.add(at)) {
                    self.completed(index, statuses, at);
                }
            }
        }
    }

    /// A test returns: with the requests that it found complete, or as one that found none.
    fn leave_test(&mut self, result: c_int) -> c_int {
        if result != SUCCESS {
            return self.abandon(result);
        }
        if self.event.requests.is_empty() {
            self.event.offered.clear();
            self.give_way();
            return self.leave_poll(result);
        }
        self.leave(result)
    }
}

/// `MPI_Test`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn test(request: *mut c_void, flag: *mut c_int, status: *mut c_void, site: usize) -> c_int {
    let recorder = enter!(Call::Test, site, else test(request, flag, status));
    // SAFETY: the program gives a request and room for the flag; the status is written by MPI.
    unsafe {
        recorder.keep(1, request);
        let status = recorder.statuses_for(status, 1);
        let result = pass_on!(recorder.test(request, flag, status));
        if result == SUCCESS && *flag != 0 {
            recorder.completed(0, status, 0);
        }
        recorder.leave_test(result)
    }
}

/// `MPI_Testall`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn testall(
    count: c_int,
    requests: *mut c_void,
    flag: *mut c_int,
    statuses: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Testall, site, else testall(count, requests, flag, statuses));
    // SAFETY: the program gives an array of requests and room for the flag; the statuses are written by MPI.
    unsafe {
        let length = recorder.keep(count, requests);
        let statuses = recorder.statuses_for(statuses, length);
        let result = pass_on!(recorder.testall(count, requests, flag, statuses));
        if result == SUCCESS && *flag != 0 {
            for i in 0..length {
                recorder.completed(i, statuses, i);
            }
        }
        recorder.leave_test(result)
    }
}

/// `MPI_Testany`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn testany(
    count: c_int,
    requests: *mut c_void,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Testany, site, else testany(count, requests, index, flag, status));
    // SAFETY: the program gives an array of requests and room for index and flag; the status is written by MPI.
    unsafe {
        recorder.keep(count, requests);
        recorder.offer();
        let status = recorder.statuses_for(status, 1);
        let result = pass_on!(recorder.testany(count, requests, index, flag, status));
        if result == SUCCESS
            && *flag != 0
            && let Ok(index) = usize::try_from(*index)
        {
            recorder.completed(index, status, 0);
        }
        recorder.leave_test(result)
    }
}

/// `MPI_Testsome`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn testsome(
    count: c_int,
    requests: *mut c_void,
    done: *mut c_int,
    indices: *mut c_int,
    statuses: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Testsome, site, else testsome(count, requests, done, indices, statuses));
    // SAFETY: the program gives arrays of requests, indices and statuses of this length, and room for the number.
    unsafe {
        let length = recorder.keep(count, requests);
        recorder.offer();
        let statuses = recorder.statuses_for(statuses, length);
        let result = pass_on!(recorder.testsome(count, requests, done, indices, statuses));
        if result == SUCCESS {
            recorder.completed_some(*done, indices, statuses);
        }
        recorder.leave_test(result)
    }
}

/// `MPI_Cancel`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn cancel(request: *mut c_void, site: usize) -> c_int {
    let recorder = enter!(Call::Cancel, site, else cancel(request));
    // SAFETY: the program gives a request.
    unsafe { recorder.names(request) };
    let result = pass_on!(recorder.cancel(request));
    recorder.leave_if(result)
}

/// `MPI_Request_free`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn request_free(request: *mut c_void, site: usize) -> c_int {
    let recorder = enter!(Call::RequestFree, site, else request_free(request));
    // SAFETY: the program gives a request.
    let handle = unsafe { recorder.names(request) };
    let result = pass_on!(recorder.request_free(request));
    if result == SUCCESS
        && let Some(Request { held: Some(held), .. }) = recorder.requests.remove(handle)
    {
        // Nobody will know any more what came.
        recorder.settle(held);
    }
    recorder.leave_if(result)
}

/// `MPI_Request_get_status`: looks at a request and leaves it as it is.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn request_get_status(
    request: Handle,
    flag: *mut c_int,
    status: *mut c_void,
    site: usize,
) -> c_int {
    let recorder = enter!(Call::Test, site, else request_get_status(request, flag, status));
    let result = pass_on!(recorder.request_get_status(request, flag, status));
    recorder.leave_test(result)
}

impl Recorder {
    /// The call names a request; returns the handle.
    unsafe fn names(&mut self, request: *const c_void) -> Handle {
        // SAFETY: the caller gives a request of the program.
        let handle = unsafe { self.abi.read_handle(request, 0) };
        if let Some(&mut Request { number, .. }) = self.requests.get(handle) {
            self.event.requests.push(number);
        }
        handle
    }
}
