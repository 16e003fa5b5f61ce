//! What is known of the program while it runs, and the way of a call through it.
//!
//! There is one recorder a process. Where threads may call MPI at the same time (`MPI_THREAD_MULTIPLE`), it records the
//! one that initialised MPI; calls of others are counted and go straight to MPI. Elsewhere all threads that call are
//! recorded, since the program sees to it that they do so one after the other. So nothing is locked, and two rules keep
//! it sound:
//!
//! * A thread-local mark says whether this thread is a recorded one and whether it is inside a call: calls that MPI
//!   makes of itself are not the program's.
//! * While the recorder's data changes, a mark is set: the handler of a signal touches it at no such time.

pub mod communicators;
mod finish;
mod marks;
mod outside;
mod peers;
pub mod queue;
pub mod requests;
mod scheduling;
pub mod signals;
mod start;

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, compiler_fence};

use hayase_mpi::{Abi, Functions, Handle, SUCCESS, Status, Statuses};
use hayase_trace::{Call, Event, Flags, Kind, Op, Writer};
use rustc_hash::FxHashMap;

use crate::clock;
use crate::entry::Caller;
use crate::path::{Paths, Stack};
use crate::token::Token;
use communicators::Communicators;
use outside::Outside;
use queue::Queue;
use requests::Requests;

pub use finish::finish;
pub use marks::control;
pub use start::{exits, initialised, lazily, wants_recording};

/// Whether calls are recorded.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const ON: u8 = 1;
const OFF: u8 = 2;

/// Set while the recorder's data changes.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Whether several threads may call at the same time.
static MULTIPLE: AtomicBool = AtomicBool::new(false);

/// Calls of threads that are not recorded, by the code of the call.
static OTHER_THREADS: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

/// How many calls of threads that are not recorded there were.
fn calls_of_other_threads() -> u64 {
    OTHER_THREADS.iter().map(|count| count.load(Ordering::Relaxed)).sum()
}

/// What these calls were: a line for each, `Send 300`.
fn other_threads_in_words() -> String {
    let counts = Call::ALL.iter().map(|call| (call, OTHER_THREADS[usize::from(call.code())].load(Ordering::Relaxed)));
    counts.filter(|(_, count)| *count > 0).map(|(call, count)| format!("{} {count}\n", call.name())).collect()
}

thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place::Elsewhere) };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// In a thread that is not recorded.
    Elsewhere,
    /// In the program.
    Program,
    /// In a call.
    Call,
}

struct Slot(UnsafeCell<Option<Recorder>>);

// SAFETY: used by the recorded thread, and by the handler of a signal when `BUSY` is not set.
unsafe impl Sync for Slot {}

static RECORDER: Slot = Slot(UnsafeCell::new(None));

/// What happens to the program's memory, beside its calls: the runtime of instrumented programs, if it is there.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// A call with this number comes in from this address.
    call: unsafe extern "C" fn(u64, u64),
    /// The call from this address returns.
    back: unsafe extern "C" fn(u64),
    stop: unsafe extern "C" fn(),
}

/// Tests and probes that found nothing, one after the other from one place: they become one call.
#[derive(Debug)]
struct Poll {
    event: Event,
}

/// The recorder.
#[derive(Debug)]
pub struct Recorder {
    /// Layouts and constants of the MPI library.
    pub abi: &'static Abi,
    /// Its functions.
    pub mpi: &'static Functions,
    /// The call that is being recorded.
    pub event: Event,
    /// Requests that are not complete.
    pub requests: Requests,
    /// Communicators by handle.
    pub communicators: Communicators,
    /// One rank at a time, if asked for.
    pub token: Option<Token>,
    /// Room for statuses that the program does not want.
    pub statuses: Statuses,
    /// Handles of requests, before a call changes them.
    pub handles: Vec<Handle>,
    /// Messages that were matched and not yet received: of which communicator, from whom, with what tag.
    pub messages: FxHashMap<Handle, (Handle, i32, i32)>,
    /// Communicators that are being duplicated: number of the request, of which one, where the handle will be.
    pub duplicates: Vec<(u64, Handle, usize)>,
    /// Rank in the world.
    pub rank: u32,
    /// Number of ranks.
    pub ranks: u32,
    pub(crate) writer: Option<Writer<File>>,
    queue: Queue,
    paths: Paths,
    stack: Stack,
    /// Where the present call was made: its return address.
    back: usize,
    memory: Option<Memory>,
    poll: Option<Poll>,
    marks: marks::Marks,
    directory: PathBuf,
    peers: Option<peers::Peers>,
    /// Start of the stream on the common clock \[ns\].
    start: u64,
    reads_cpu: bool,
    /// Whether time blocked outside of calls is computation.
    counts_blocked: bool,
    outside: Outside,
    /// When MPI was asked, in a poll \[ns\].
    asked: Cell<u64>,
    /// Processor time when the last call returned \[ns\], and in which thread.
    cpu: u64,
    thread: usize,
    empty_gap: u64,
    /// With the token: processor time that counts, since the start \[ns\].
    counted: u64,
    last_end: u64,
    opaque: Vec<(&'static str, u64)>,
    scheduling: scheduling::Scheduling,
    stop_events: u64,
    stop_after: u64,
    lost: u64,
}

/// A call comes in; `None` if it is not to be recorded.
///
/// # Safety
/// The recorder is given back ([`Recorder::leave`]) before the call returns, and is not entered again until then:
/// the mark of the thread sees to that, as long as nobody keeps the reference.
#[inline]
pub unsafe fn enter(call: Call, site: usize) -> Option<&'static mut Recorder> {
    // SAFETY: bodies hand on what they were given, and have not returned.
    let caller = unsafe { crate::fortran::caller(site) };
    // SAFETY: promised by the caller.
    let recorder = unsafe { take(|| _ = OTHER_THREADS[usize::from(call.code())].fetch_add(1, Ordering::Relaxed)) }?;
    recorder.begin(call, caller);
    Some(recorder)
}

/// The recorder, where this thread is recorded and comes from the program; `other` is told of one that is not recorded.
///
/// # Safety
/// As of [`enter`].
#[inline]
unsafe fn take(other: impl FnOnce()) -> Option<&'static mut Recorder> {
    if STATE.load(Ordering::Relaxed) != ON && !start::lazily() {
        return None;
    }
    match PLACE.get() {
        Place::Program => {}
        Place::Call => return None,
        Place::Elsewhere if !MULTIPLE.load(Ordering::Relaxed) => {}
        Place::Elsewhere => {
            other();
            return None;
        }
    }
    PLACE.set(Place::Call);
    BUSY.store(true, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    // SAFETY: this is the recorded thread, or the program calls from one at a time; and it is not inside a call.
    unsafe { (*RECORDER.0.get()).as_mut() }
}

/// The recorder, for the handler of a signal.
///
/// # Safety
/// [`BUSY`] is not set, and nobody else uses it.
unsafe fn recorder() -> Option<&'static mut Recorder> {
    // SAFETY: promised by the caller.
    unsafe { (*RECORDER.0.get()).as_mut() }
}

/// Where the bytes of an element of a datatype lie \[B\].
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// The first, from the address of the element.
    first: i64,
    /// From the first to the last.
    length: i64,
    /// From an element to the next.
    distance: i64,
}

impl Recorder {
    #[inline]
    fn begin(&mut self, call: Call, caller: Caller) {
        let cpu = if self.reads_cpu { clock::thread() } else { 0 };
        let begin = clock::monotonic();
        let gap = self.gap(begin, cpu);
        if let Some(memory) = self.memory {
            let number = self.number();
            // SAFETY: the function is the runtime's, with this signature.
            unsafe { (memory.call)(number, caller.back as u64) };
        }
        let site = self.paths.site(caller, self.stack, self.writer.as_mut());
        self.back = caller.back;
        let event = &mut self.event;
        event.call = call;
        event.begin = begin.saturating_sub(self.start);
        event.cpu = self.reads_cpu.then(|| (gap + self.marks.cpu).max(self.marks.since));
        event.flags = Flags::default();
        event.site = site;
        event.comm = 0;
        event.op = Op::NONE;
        event.element = 0;
        (event.peer, event.tag, event.bytes, event.buffer) = (Event::NOBODY, 0, 0, 0);
        (event.peer2, event.tag2, event.bytes2, event.buffer2) = (Event::NOBODY, 0, 0, 0);
        event.requests.clear();
        event.offered.clear();
        event.counts.clear();
        event.counts2.clear();
    }

    /// Computation since the call or border before, something coming in at this time \[ns\].
    #[inline]
    fn gap(&mut self, time: u64, cpu: u64) -> u64 {
        let thread = PLACE.with(|place| std::ptr::from_ref(place) as usize);
        if thread != self.thread {
            // Another thread's clock says nothing about this one.
            (self.thread, self.cpu) = (thread, cpu);
            self.stack = Stack::of_this_thread();
            self.outside.begin();
            self.outside.returns();
        }
        if !self.reads_cpu {
            return 0;
        }
        let blocked = self.outside.enters(time, cpu);
        cpu.saturating_sub(self.cpu) + if self.counts_blocked { blocked } else { 0 }
    }

    /// Number that the call will have in the stream.
    fn number(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::events) + self.queue.len() + u64::from(self.poll.is_some())
    }

    /// Lets MPI do what it was asked to: meanwhile a signal may end the program.
    #[inline]
    pub fn call<R>(&self, action: impl FnOnce(&'static Functions) -> R) -> R {
        if matches!(self.event.call.kind(), Kind::Test | Kind::Iprobe) {
            self.asked.set(clock::monotonic());
        }
        compiler_fence(Ordering::SeqCst);
        BUSY.store(false, Ordering::Relaxed);
        let result = action(self.mpi);
        BUSY.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        result
    }

    /// The call returns, and is recorded.
    #[inline]
    pub fn leave(&mut self, result: c_int) -> c_int {
        let end = clock::monotonic().saturating_sub(self.start);
        self.event.end = end;
        self.record();
        self.back();
        result
    }

    /// The call returns, and is not recorded: it failed, or is none.
    pub fn abandon(&mut self, result: c_int) -> c_int {
        self.back();
        result
    }

    /// Of a call that may complete requests or fail: a failed call is not recorded.
    #[inline]
    pub fn leave_if(&mut self, result: c_int) -> c_int {
        if result == SUCCESS { self.leave(result) } else { self.abandon(result) }
    }

    /// Back in the program.
    #[inline]
    fn back(&mut self) {
        if let Some(memory) = self.memory {
            // SAFETY: the function is the runtime's, with this signature.
            unsafe { (memory.back)(self.back as u64) };
        }
        if self.reads_cpu {
            self.cpu = self.outside.returns();
        }
        compiler_fence(Ordering::SeqCst);
        BUSY.store(false, Ordering::Relaxed);
        PLACE.set(Place::Program);
        if signals::pending() {
            signals::late();
        }
    }

    /// Adds the event, after what has been held back.
    #[inline]
    fn record(&mut self) {
        if self.token.is_some() {
            // Real time is that of all ranks, one after the other: what counts is processor time.
            self.counted += self.event.cpu.unwrap_or(0);
            self.event.begin = self.counted;
            if matches!(self.event.call, Call::Opaque) && self.reads_cpu {
                self.counted += clock::thread().saturating_sub(self.outside.entered());
            }
            self.event.end = self.counted;
        }
        self.last_end = self.event.end;
        (self.marks.cpu, self.marks.since) = (0, 0);
        if let Some(poll) = self.poll.take() {
            self.write(&poll.event);
        }
        let event = std::mem::replace(&mut self.event, Event::new(Call::Compute, 0, 0));
        self.write(&event);
        self.event = event;
        if self.writer.is_some() && (self.number() >= self.stop_events || self.event.end >= self.stop_after) {
            finish(self, finish::STOPPED);
        }
    }

    /// Measures what the recorder itself takes between polls and inside them: medians of many of nothing.
    fn measure_polls(&mut self, caller: Caller) {
        if self.memory.is_some() {
            return;
        }
        let (mut between, mut inside) = ([0; 101], [0; 101]);
        for (between, inside) in between.iter_mut().zip(&mut inside) {
            self.begin(Call::Iprobe, caller);
            self.call(|_| ());
            let now = clock::monotonic();
            let gap = self.event.begin.saturating_sub(self.last_end);
            (*between, *inside) =
                (self.event.cpu.map_or(gap, |cpu| cpu.saturating_sub(self.empty_gap)), now - self.asked.get());
            self.last_end = now.saturating_sub(self.start);
            self.back();
        }
        between.sort_unstable();
        inside.sort_unstable();
        self.outside.own = (between[50], inside[50]);
    }

    /// A test or probe that found nothing returns.
    ///
    /// One after the other from one place, they become one call: the time between them stays computation, less what
    /// reading the clock costs each time; the time inside joins it where the rank worked between them.
    pub fn leave_poll(&mut self, result: c_int) -> c_int {
        if self.memory.is_some() {
            return self.leave(result);
        }
        let now = clock::monotonic();
        let end = now.saturating_sub(self.start);
        let gap = self.event.begin.saturating_sub(self.last_end);
        let since = self.event.cpu.map_or(gap, |cpu| cpu.saturating_sub(self.empty_gap));
        let work = self.outside.poll(since, now.saturating_sub(self.asked.get()));
        (self.marks.cpu, self.marks.since) = (0, 0);
        let folds = self.poll.as_ref().is_some_and(|poll| {
            (poll.event.site, poll.event.call, poll.event.comm) == (self.event.site, self.event.call, self.event.comm)
        });
        match &mut self.poll {
            Some(poll) if folds => {
                self.outside.polled(work, if self.token.is_some() { work } else { end.saturating_sub(self.last_end) });
                poll.event.cpu = poll.event.cpu.map(|cpu| cpu + work);
                if self.token.is_some() {
                    self.counted += work;
                    (poll.event.begin, poll.event.end) = (self.counted, self.counted);
                } else {
                    poll.event.begin += if self.reads_cpu { gap } else { work };
                    poll.event.end = end;
                }
                self.last_end = poll.event.end;
            }
            _ => {
                // What it takes itself, beside the whole time before it.
                let own = work.saturating_sub(since);
                self.event.end = end;
                self.event.cpu = self.event.cpu.map(|cpu| cpu + own);
                self.event.begin += if self.reads_cpu { 0 } else { own };
                if self.token.is_some() {
                    self.counted += self.event.cpu.unwrap_or(0);
                    (self.event.begin, self.event.end) = (self.counted, self.counted);
                }
                self.last_end = self.event.end;
                let event = self.event.clone();
                if let Some(before) = self.poll.replace(Poll { event }) {
                    self.write(&before.event);
                }
            }
        }
        self.back();
        result
    }

    /// Adds an event beside the present call's own, which comes after it.
    pub(crate) fn adds(&mut self, mut event: Event) {
        if self.token.is_some() {
            self.counted += event.cpu.unwrap_or(0);
            (event.begin, event.end) = (self.counted, self.counted);
        }
        self.last_end = event.end;
        if let Some(poll) = self.poll.take() {
            self.write(&poll.event);
        }
        self.write(&event);
    }

    #[inline]
    fn write(&mut self, event: &Event) {
        let Some(writer) = &mut self.writer else { return };
        let result = self.queue.add(event, writer);
        if let Err(error) = result {
            self.failed(&error);
        }
    }

    /// The trace cannot be written any more.
    #[cold]
    fn failed(&mut self, error: &std::io::Error) {
        eprintln!("hayase: rank {}: the trace cannot be written and ends here: {error}", self.rank);
        self.writer = None;
        if self.token.is_none() {
            STATE.store(OFF, Ordering::Relaxed);
        }
    }

    // --- what bodies say about a call -----------------------------------------------------------------------------

    /// The communicator.
    #[inline]
    pub fn on(&mut self, comm: Handle) {
        let comm = self.abi.handle(comm);
        let (index, inter) = self.communicators.index(comm, self.abi, self.mpi, &mut self.writer);
        self.event.comm = index;
        if inter {
            self.event.flags = self.event.flags.and(Flags::INTER);
        }
    }

    /// Size of an element of a datatype \[B\].
    #[inline]
    pub fn size_of(&self, datatype: Handle) -> u64 {
        if self.abi.handle(datatype) == self.abi.datatype_null {
            return 0;
        }
        let mut size = 0;
        // SAFETY: the handle is the program's, and there is room for the answer.
        unsafe { (self.mpi.type_size)(datatype, &raw mut size) };
        u64::try_from(size).unwrap_or(0)
    }

    /// Notes the size of an element; returns the size of so many \[B\].
    #[inline]
    pub fn elements(&mut self, count: c_int, datatype: Handle) -> u64 {
        let size = self.size_of(datatype);
        self.event.element = size as u32;
        let count = u64::try_from(count).unwrap_or(0);
        self.note_layout(size, count, datatype);
        size * count
    }

    /// Notes whether the bytes of so many elements follow each other.
    #[inline]
    pub fn note_layout(&mut self, size: u64, count: u64, datatype: Handle) {
        if size == 0 {
            return;
        }
        let Some(Layout { first, length, distance }) = self.layout(datatype) else { return };
        let size = size as i64;
        if first != 0 || length != size || (count != 1 && distance != size) {
            self.event.flags = self.event.flags.and(Flags::GAPS);
        } else if !matches!(size, 1 | 2 | 4 | 8 | 16) {
            self.event.flags = self.event.flags.and(Flags::DENSE);
        }
    }

    /// Where the bytes of an element of a datatype lie.
    #[inline]
    fn layout(&self, datatype: Handle) -> Option<Layout> {
        let (mut bound, mut distance, mut first, mut length) = (0, 0, 0, 0);
        // SAFETY: the handle is the program's and no null handle, and there is room for the answers.
        let known = unsafe {
            (self.mpi.type_get_extent)(datatype, &raw mut bound, &raw mut distance) == 0
                && (self.mpi.type_get_true_extent)(datatype, &raw mut first, &raw mut length) == 0
        };
        known.then_some(Layout { first: first as i64, length: length as i64, distance: distance as i64 })
    }

    /// The buffer of a message alone: where it begins and, where its bytes do not follow each other, how far they
    /// reach.
    #[inline]
    pub fn buffer(&mut self, buffer: *const c_void, count: c_int, datatype: Handle) {
        self.event.buffer = buffer as u64;
        if self.event.flags.has(Flags::GAPS)
            && count > 0
            && let Some(Layout { first, length, distance }) = self.layout(datatype)
        {
            // Elements may go backwards. From MPI_BOTTOM, which is 0, the first is an address.
            let last = i64::from(count - 1).saturating_mul(distance);
            let (low, high) = (first + last.min(0), first + length + last.max(0));
            self.event.buffer = self.event.buffer.wrapping_add_signed(low);
            self.event.bytes2 = u64::try_from(high - low).unwrap_or(0);
        }
    }

    /// A rank as the trace has it: of the communicator, nobody, or `MPI_PROC_NULL`.
    #[inline]
    pub fn peer(&self, rank: c_int) -> i32 {
        if rank >= 0 {
            rank
        } else if rank == self.abi.proc_null {
            Event::PROC_NULL
        } else {
            Event::NOBODY
        }
    }

    /// What is special about a receive from this rank with this tag: what it left open.
    pub fn open(&self, source: c_int, tag: c_int) -> Flags {
        let mut flags = Flags::default();
        if source == self.abi.any_source {
            flags = flags.and(Flags::ANY_SOURCE);
        }
        if tag == self.abi.any_tag {
            flags = flags.and(Flags::ANY_TAG);
        }
        flags
    }

    /// The event makes a request: returns its number.
    pub fn makes(&mut self) -> u64 {
        let number = self.requests.next_number();
        self.event.requests.push(number);
        number
    }

    /// The request of this number is complete: what was received, goes to the event that started it.
    pub fn received(&mut self, held: Option<u64>, status: &Status) {
        let Some(held) = held else { return };
        let (peer, cancelled) = (self.peer(status.source), status.cancelled);
        self.queue.resolve(held, |event| {
            event.flags.0 &= !Flags::CAPACITY.0;
            if cancelled {
                // It never took place.
                (event.peer, event.tag, event.bytes) = (Event::PROC_NULL, 0, 0);
            } else if peer != Event::NOBODY {
                event.peer = peer;
                event.tag = status.tag;
                event.bytes = status.bytes;
            }
        });
    }

    /// The place in the queue that the present event will have, which stays open until [`received`](Self::received).
    pub fn stays_open(&mut self) -> u64 {
        let polls = u64::from(self.poll.is_some());
        self.queue.open(polls)
    }

    /// What the event of this place waits for will not be known.
    pub(crate) fn settle(&mut self, held: u64) {
        self.queue.resolve(held, |_| {});
    }

    /// Where the present call was made: address of the call.
    pub(crate) fn address(&self) -> usize {
        self.back.wrapping_sub(1)
    }

    /// A call that is not understood: counted by name.
    pub fn opaque(&mut self, name: &'static str) {
        match self.opaque.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => self.opaque.push((name, 1)),
        }
    }
}
