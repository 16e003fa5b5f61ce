//! Requests: from the call that begins a communication to the one that completes it.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::{Call, CallKind, Event, Flags};

/// Requests of a rank that can still be waited for or started, with the data kept for each communication
/// under way.
///
/// For every call, in order: get the communications that it has [`begun`](Self::begun), and
/// [`keep`](Self::keep) data for them. For a call that [completes](Call::completes_requests) requests,
/// [`complete`](Self::complete) them; for `Request_free`, [`free`](Self::free) them.
///
/// Cost: a look-up for each request; memory: requests that are not complete, and persistent ones until they
/// are freed.
#[derive(Clone, Debug)]
pub struct Requests<T> {
    of: FxHashMap<u64, Request<T>>,
}

#[derive(Clone, Debug)]
struct Request<T> {
    /// Call that made it, if it is persistent.
    made: Option<Box<Event>>,
    /// Data of its communication while that is under way; `None` for a message to or from `MPI_PROC_NULL`.
    active: Option<T>,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self { of: FxHashMap::default() }
    }
}

impl<T> Requests<T> {
    /// Returns the communications that a call begins, messages and collective operations, each as the call
    /// that would begin it alone.
    ///
    /// For `Start` these are the calls that made the requests (`Send_init`, `Recv_init`), at the time and
    /// place of the start. For a receive that left open source or tag, they have the source, tag and size of
    /// this start.
    #[inline]
    pub fn begun<'e>(&mut self, event: &'e Event) -> impl Iterator<Item = Cow<'e, Event>> + use<'e, T> {
        let (mut itself, mut started) = (None, Vec::new());
        match event.call.kind() {
            CallKind::Isend | CallKind::Irecv if event.peer == Event::PROC_NULL => self.make(event, None),
            CallKind::Send | CallKind::Recv if event.peer == Event::PROC_NULL => {}
            CallKind::Send | CallKind::Recv | CallKind::Isend | CallKind::Irecv | CallKind::Sendrecv => {
                itself = Some(event)
            }
            CallKind::Collective | CallKind::Icollective => itself = Some(event),
            CallKind::Communicator if event.call != Call::CommCreateGroup => itself = Some(event),
            CallKind::SendInit | CallKind::RecvInit => self.make(event, Some(Box::new(event.clone()))),
            CallKind::Start => {
                started = event.requests.iter().filter_map(|&request| self.started(event, request)).collect()
            }
            _ => {}
        }
        itself.into_iter().map(Cow::Borrowed).chain(started.into_iter().map(Cow::Owned))
    }

    /// Adds a request without a communication.
    fn make(&mut self, event: &Event, made: Option<Box<Event>>) {
        if let Some(request) = event.request_made() {
            self.of.insert(request, Request { made, active: None });
        }
    }

    /// Returns the communication that a start begins with one of its requests.
    fn started(&mut self, start: &Event, request: u64) -> Option<Event> {
        let Request { made, active } = self.of.get_mut(&request)?;
        let made: &Event = made.as_ref()?;
        *active = None;
        let &Event { begin, end, cpu, thread, site, .. } = start;
        let mut event = Event { begin, end, cpu, thread, site, ..made.clone() };
        // Only the start of one receive can record its message; a cancelled one has `PROC_NULL`.
        let told = start.requests.len() == 1 && start.peer != Event::NOBODY && event.call.kind() == CallKind::RecvInit;
        if told {
            (event.peer, event.tag, event.bytes) = (start.peer, start.tag, start.bytes);
            event.flags = Flags(event.flags.0 & !Flags::CAPACITY.0).and(start.flags);
        } else {
            if event.flags.has(Flags::ANY_SOURCE) && event.peer != Event::PROC_NULL {
                event.peer = Event::NOBODY;
            }
            if event.flags.has(Flags::ANY_TAG) {
                event.tag = -1;
            }
        }
        (event.peer != Event::PROC_NULL).then_some(event)
    }

    /// Keeps `what` for a communication that has begun until its request is complete.
    #[inline]
    pub fn keep(&mut self, request: u64, what: T) {
        self.of.entry(request).or_insert(Request { made: None, active: None }).active = Some(what);
    }

    /// Completes a request; returns the data kept for its communication. `None` if the request was inactive,
    /// or there is no data.
    #[inline]
    pub fn complete(&mut self, request: u64) -> Option<T> {
        let Entry::Occupied(mut entry) = self.of.entry(request) else { return None };
        if entry.get().made.is_some() { entry.get_mut().active.take() } else { entry.remove().active }
    }

    /// Frees a request; returns the data kept for its communication, which continues if there is any. Its
    /// completion is never known.
    pub fn free(&mut self, request: u64) -> Option<T> {
        self.of.remove(&request)?.active
    }

    /// Returns the data of all communications under way, in no particular order.
    pub fn active(&self) -> impl Iterator<Item = &T> {
        self.of.values().filter_map(|request| request.active.as_ref())
    }

    /// Returns the first request that a call starts or completes and that no earlier call has made: an error
    /// of the recording.
    pub fn unknown(&self, event: &Event) -> Option<u64> {
        let starts = event.call.kind() == CallKind::Start;
        if !starts && !event.call.completes_requests() {
            return None;
        }
        let known = |request| self.of.get(request).is_some_and(|request| !starts || request.made.is_some());
        event.requests.iter().find(|request| !known(request)).copied()
    }
}
