//! Requests: the number of each handle.
//!
//! Numbers count up from 1 in the order in which requests are made. MPI reuses a handle once its request is
//! complete, and some handles stand for several requests at once (sends that are complete when they return
//! share one). Those requests are indistinguishable, so the oldest is taken first.

use std::collections::VecDeque;

use hayase_mpi::Handle;
use hayase_trace::Flags;
use rustc_hash::FxHashMap;

/// A request that is not complete, or persistent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Number of the request.
    pub number: u64,
    /// Count of consecutive numbers that it stands for: an operation that the trace splits into several
    /// requests has one handle.
    pub count: u32,
    /// Set if it can be started again and again.
    pub persistent: bool,
    /// Set if it has been started and is not complete.
    pub active: bool,
    /// For a receive: number of its event in the queue.
    pub held: Option<u64>,
    /// For a receive: rank of the sender in its communicator; [`Request::ANY`], [`Request::NO_RECEIVE`].
    pub source: i32,
    /// For a receive or a persistent send: its communicator.
    pub comm: Handle,
    /// For a persistent send: its receiver.
    pub partner: i32,
    /// For a persistent receive: its open fields, its tag (-1: any), and its room \[B\].
    pub open: Flags,
    /// See `open`.
    pub tag: i32,
    /// See `open`.
    pub room: u64,
}

impl Request {
    /// Source of a receive from any rank.
    pub const ANY: i32 = -1;
    /// Source of a request that is no receive.
    pub const NO_RECEIVE: i32 = -2;

    /// A request under way, before it has its number.
    pub const UNDER_WAY: Self = Self {
        number: 0,
        count: 1,
        persistent: false,
        active: true,
        held: None,
        source: Self::NO_RECEIVE,
        comm: 0,
        partner: -1,
        open: Flags(0),
        tag: -1,
        room: 0,
    };

    /// Creates a request under way.
    pub fn new(number: u64) -> Self {
        Self { number, ..Self::UNDER_WAY }
    }
}

/// All requests of a rank.
#[derive(Debug, Default)]
pub struct Requests {
    last: u64,
    by_handle: FxHashMap<Handle, Request>,
    /// Further requests of handles that stand for several.
    more: FxHashMap<Handle, VecDeque<Request>>,
}

impl Requests {
    /// Returns the number of a new request.
    #[inline]
    pub fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Adds a request with its handle.
    #[inline]
    pub fn insert(&mut self, handle: Handle, request: Request) {
        if let Some(first) = self.by_handle.insert(handle, request) {
            // The older request stays first.
            self.by_handle.insert(handle, first);
            self.more.entry(handle).or_default().push_back(request);
        }
    }

    /// Returns the request with this handle.
    #[inline]
    pub fn get(&mut self, handle: Handle) -> Option<&mut Request> {
        self.by_handle.get_mut(&handle)
    }

    /// Completes the request with this handle and number, and removes it unless it is persistent. If none has
    /// that number, takes the first with the handle. Returns `None` if the request is not known or has not
    /// been started.
    #[inline]
    pub fn complete(&mut self, handle: Handle, number: u64) -> Option<Request> {
        let request = self.by_handle.get_mut(&handle)?;
        if request.number != number
            && let Some(others) = self.more.get_mut(&handle)
            && let Some(at) = others.iter().position(|other| other.number == number)
        {
            return others.remove(at);
        }
        if !request.active {
            return None;
        }
        let complete = *request;
        if request.persistent {
            request.active = false;
        } else {
            self.remove(handle);
        }
        Some(complete)
    }

    /// Removes a handle that has become free.
    pub fn remove(&mut self, handle: Handle) -> Option<Request> {
        let gone = self.by_handle.remove(&handle);
        if !self.more.is_empty()
            && let Some(next) = self.more.get_mut(&handle).and_then(VecDeque::pop_front)
        {
            self.by_handle.insert(handle, next);
        }
        gone
    }

    /// Number of known handles.
    pub fn len(&self) -> usize {
        self.by_handle.len()
    }

    /// True if no handle is known.
    pub fn is_empty(&self) -> bool {
        self.by_handle.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_that_is_used_again_is_another_request() {
        let mut requests = Requests::default();
        for number in 1..=3 {
            assert_eq!(requests.next_number(), number);
            requests.insert(0x40, Request::new(number));
            assert_eq!(requests.complete(0x40, 0), Some(Request::new(number)));
            assert_eq!(requests.complete(0x40, 0), None);
        }
        assert!(requests.is_empty());
    }

    #[test]
    fn requests_that_share_a_handle_complete_in_the_order_in_which_they_were_made() {
        let mut requests = Requests::default();
        for number in 1..=4 {
            requests.insert(0x40, Request::new(number));
        }
        for number in 1..=4 {
            assert_eq!(requests.complete(0x40, 0).map(|request| request.number), Some(number));
        }
        assert_eq!(requests.complete(0x40, 0), None);
    }

    #[test]
    fn a_handle_that_another_thread_got_meanwhile_completes_the_request_that_it_was() {
        let mut requests = Requests::default();
        requests.insert(0x40, Request::new(1));
        // MPI has completed request 1. Before that is noted, another thread makes request 2 and waits for it.
        requests.insert(0x40, Request::new(2));
        assert_eq!(requests.complete(0x40, 2).map(|request| request.number), Some(2));
        assert_eq!(requests.complete(0x40, 1).map(|request| request.number), Some(1));
        assert!(requests.is_empty());
    }

    #[test]
    fn a_persistent_request_completes_once_a_start_and_stays() {
        let mut requests = Requests::default();
        requests.insert(0x40, Request { persistent: true, active: false, ..Request::new(1) });
        assert_eq!(requests.complete(0x40, 0), None);
        for _ in 0..2 {
            requests.get(0x40).unwrap().active = true;
            assert_eq!(requests.complete(0x40, 0).map(|request| request.number), Some(1));
            assert_eq!(requests.complete(0x40, 0), None);
        }
        assert!(requests.remove(0x40).is_some());
    }
}
