//! Requests: from the call that begins a communication to the one that completes it.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::vec;

use rustc_hash::FxHashMap;

use crate::{Call, Event, Flags, Kind};

/// The requests of a rank that can still be waited for or started, with what is kept of each communication under way.
///
/// Of every call, in order: ask what it has [`begun`](Self::begun), and say what to keep of it ([`keep`](Self::keep)); of one that
/// [completes](Call::completes_requests) requests, [`complete`](Self::complete) them; of `Request_free`, [`free`](Self::free) them.
///
/// Cost: a look-up for each request; memory: those that are not complete, and persistent ones until they are freed.
#[derive(Clone, Debug)]
pub struct Requests<T> {
    of: FxHashMap<u64, Request<T>>,
}

#[derive(Clone, Debug)]
enum Request<T> {
    /// Under way.
    Active(T),
    /// Complete since it was made: the message is to or from nobody.
    Nobody,
    /// By the call that made it; and what is kept of the last start, until it is complete.
    Persistent { made: Box<Event>, active: Option<T> },
}

/// The communications that a call begins, each as the call that would begin it alone.
///
/// Of `Start` these are the calls that made the requests (`Send_init`, `Recv_init`), at the time and place of the start; of a receive that
/// left open source or tag, with what this start brought.
#[derive(Debug)]
pub enum Begun<'e> {
    /// The call itself, or nothing.
    Itself(Option<&'e Event>),
    /// What it starts.
    Started(vec::IntoIter<Event>),
}

impl<'e> Iterator for Begun<'e> {
    type Item = Cow<'e, Event>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Itself(event) => event.take().map(Cow::Borrowed),
            Self::Started(events) => events.next().map(Cow::Owned),
        }
    }
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self { of: FxHashMap::default() }
    }
}

impl<T> Requests<T> {
    /// The communications that a call begins: messages and collective operations.
    #[inline]
    pub fn begun<'e>(&mut self, event: &'e Event) -> Begun<'e> {
        let begins = match event.call.kind() {
            Kind::Send | Kind::Recv | Kind::Isend | Kind::Irecv if event.peer == Event::PROC_NULL => {
                if let Some(request) = event.request_made() {
                    self.of.insert(request, Request::Nobody);
                }
                false
            }
            Kind::Send | Kind::Recv | Kind::Isend | Kind::Irecv | Kind::Sendrecv => true,
            Kind::Collective | Kind::Icollective => true,
            Kind::Communicator => event.call != Call::CommCreateGroup,
            Kind::SendInit | Kind::RecvInit => {
                if let Some(request) = event.request_made() {
                    self.of.insert(request, Request::Persistent { made: Box::new(event.clone()), active: None });
                }
                false
            }
            Kind::Start => return Begun::Started(self.started(event).into_iter()),
            _ => false,
        };
        Begun::Itself(begins.then_some(event))
    }

    /// What the requests of a `Start` begin.
    fn started(&mut self, start: &Event) -> Vec<Event> {
        let mut begun = Vec::with_capacity(start.requests.len());
        for request in &start.requests {
            let Some(Request::Persistent { made, active }) = self.of.get_mut(request) else { continue };
            *active = None;
            let &Event { begin, end, cpu, site, .. } = start;
            let mut event = Event { begin, end, cpu, site, ..Event::clone(made) };
            let open = event.flags.has(Flags::ANY_SOURCE) || event.flags.has(Flags::ANY_TAG);
            // Only the start of one receive can say what it brought; one that was cancelled says nobody.
            let alone = start.requests.len() == 1 && event.call.kind() == Kind::RecvInit;
            if alone && start.peer != Event::NOBODY {
                (event.peer, event.tag, event.bytes) = (start.peer, start.tag, start.bytes);
                event.flags = Flags(event.flags.0 & !Flags::CAPACITY.0).and(start.flags);
            } else if open {
                if event.flags.has(Flags::ANY_SOURCE) && event.peer != Event::PROC_NULL {
                    event.peer = Event::NOBODY;
                }
                if event.flags.has(Flags::ANY_TAG) {
                    event.tag = -1;
                }
            }
            if event.peer != Event::PROC_NULL {
                begun.push(event);
            }
        }
        begun
    }

    /// Keeps `what` of a communication that has begun until its request is complete.
    #[inline]
    pub fn keep(&mut self, request: u64, what: T) {
        match self.of.entry(request) {
            Entry::Vacant(entry) => {
                entry.insert(Request::Active(what));
            }
            Entry::Occupied(entry) => match entry.into_mut() {
                Request::Persistent { active, .. } => *active = Some(what),
                other => *other = Request::Active(what),
            },
        }
    }

    /// A request is complete: what was kept of its communication. `None`: it was inactive, or nothing.
    #[inline]
    pub fn complete(&mut self, request: u64) -> Option<T> {
        match self.of.entry(request) {
            Entry::Vacant(_) => None,
            Entry::Occupied(mut entry) => match entry.get_mut() {
                Request::Persistent { active, .. } => active.take(),
                _ => match entry.remove() {
                    Request::Active(what) => Some(what),
                    _ => None,
                },
            },
        }
    }

    /// A request is freed: what was kept of its communication, which goes on if there is any. Nobody learns when it is complete.
    pub fn free(&mut self, request: u64) -> Option<T> {
        match self.of.remove(&request)? {
            Request::Active(what) => Some(what),
            Request::Persistent { active, .. } => active,
            Request::Nobody => None,
        }
    }

    /// What is kept of all communications under way, in no order.
    pub fn active(&self) -> impl Iterator<Item = &T> {
        self.of.values().filter_map(|request| match request {
            Request::Active(what) => Some(what),
            Request::Persistent { active, .. } => active.as_ref(),
            Request::Nobody => None,
        })
    }

    /// The first request that a call starts or completes and that no call before it has made: a mistake of the recording.
    pub fn unknown(&self, event: &Event) -> Option<u64> {
        let starts = event.call.kind() == Kind::Start;
        if !starts && !event.call.completes_requests() {
            return None;
        }
        let known = |request| match self.of.get(request) {
            Some(Request::Persistent { .. }) => true,
            Some(_) => !starts,
            None => false,
        };
        event.requests.iter().find(|request| !known(request)).copied()
    }
}
