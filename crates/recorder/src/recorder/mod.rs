//! State of the recorder while the program runs, and the path of a call through it.
//!
//! Each thread that may call has a recorder (`threads`), and all of them share the data of the process
//! ([`Process`]). Two rules keep it sound:
//!
//! * A thread-local mark tells if this thread is inside a call: calls that MPI makes itself are not the program's.
//! * While data changes, the lock of `threads` is held: neither another thread nor a signal handler touches the data
//!   then.

pub mod communicators;
mod finish;
mod marks;
mod outside;
mod peers;
mod process;
pub mod queue;
pub mod requests;
mod scheduling;
pub mod signals;
mod start;
mod threads;

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use hayase_mpi::{Functions, Handle, Status, Statuses};
use hayase_trace::{Call, CallKind, Event, Flags, Op};

use crate::clock;
use crate::entry::Caller;
use crate::path::Stack;
use outside::ClockReadings;

pub use finish::finish;
pub use marks::control;
pub use process::Process;
use process::{Memory, PROCESS};
pub use start::{after_init, at_process_end, start_late, wants_recording};

/// State of the recording.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const ON: u8 = 1;
const OFF: u8 = 2;

/// Set if processor time is read.
static READS_CPU: AtomicBool = AtomicBool::new(false);

/// Time of a request to the recorder.
#[derive(Clone, Copy, Debug)]
struct Timestamp {
    /// Time of the common clock \[ns\].
    time: u64,
    /// Processor time of the thread \[ns\], if it is read.
    cpu: u64,
}

impl Timestamp {
    #[inline]
    fn now() -> Self {
        let cpu = if READS_CPU.load(Ordering::Relaxed) { clock::thread() } else { 0 };
        Self { cpu, time: clock::monotonic() }
    }
}

/// The recorder of a thread. It dereferences to the shared data.
#[derive(Debug)]
pub struct Recorder {
    /// Data shared by all threads, used under the lock.
    process: *mut Process,
    /// Number of the thread.
    number: usize,
    /// Event of the present call.
    pub event: Event,
    /// Room for statuses that the program does not want.
    pub statuses: Statuses,
    /// Handles of requests, before a call changes them, and their numbers then; 0 if unknown.
    pub handles: Vec<(Handle, u64)>,
    stack: Stack,
    /// Return address of the present call.
    back: usize,
    marks: marks::Marks,
    outside: ClockReadings,
    /// Time at which a poll asked MPI \[ns\].
    asked: Cell<u64>,
    /// Processor time when the last call returned \[ns\], and its thread.
    cpu: u64,
    thread: usize,
    last_end: u64,
    /// Number of times that the thread had given its core away then, if there are several threads; `None`
    /// before its first call.
    blocked: Option<u64>,
}

impl Deref for Recorder {
    type Target = Process;

    #[inline]
    fn deref(&self) -> &Process {
        // SAFETY: it stays where it is, and the thread of this recorder holds the lock except within `call`.
        unsafe { &*self.process }
    }
}

impl DerefMut for Recorder {
    #[inline]
    fn deref_mut(&mut self) -> &mut Process {
        // SAFETY: as above; the recorder is borrowed as long as the reference lives.
        unsafe { &mut *self.process }
    }
}

/// Enters a call; `None` if the call is not to be recorded.
///
/// # Safety
/// The recorder is given back ([`Recorder::leave`]) before the call returns, and is not entered again until
/// then: the mark of the thread ensures that, provided nobody keeps the reference.
#[inline]
pub unsafe fn enter(call: Call, site: usize) -> Option<&'static mut Recorder> {
    // SAFETY: bodies pass on the `site` that they were given, and have not returned.
    let caller = unsafe { crate::fortran::caller(site) };
    // SAFETY: promised by the caller.
    let (recorder, now) = unsafe { threads::take() }?;
    recorder.begin(call, caller, now);
    Some(recorder)
}

/// Bytes that an element of a datatype covers \[B\].
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Offset of the first byte from the address of the element.
    first: i64,
    /// Distance from the first byte to the last.
    length: i64,
    /// Distance from an element to the next.
    distance: i64,
}

impl Recorder {
    /// Creates the recorder of a thread, before its first call.
    fn new(process: *mut Process, number: usize) -> Self {
        Self {
            process,
            number,
            event: Event::new(Call::Init, 0, 0),
            statuses: Statuses::default(),
            handles: Vec::new(),
            stack: Stack::of_this_thread(),
            back: 0,
            marks: marks::Marks::default(),
            outside: ClockReadings::default(),
            asked: Cell::default(),
            cpu: 0,
            thread: threads::this_thread(),
            last_end: 0,
            blocked: None,
        }
    }

    /// Returns the runtime that records memory accesses, which records those of the first thread.
    #[inline]
    fn memory(&self) -> Option<Memory> {
        if self.number == 0 { self.memory } else { None }
    }

    #[inline]
    fn begin(&mut self, call: Call, caller: Caller, now: Timestamp) {
        let gap = self.gap(now);
        if let Some(memory) = self.memory() {
            let number = Process::number(self);
            // SAFETY: the function is the runtime's, with this signature.
            unsafe { (memory.call)(number, caller.back as u64) };
        }
        let site = self.site(caller);
        let (start, reads_cpu, thread) = (self.start, self.reads_cpu, self.number as u32);
        let several = self.threads.len() > 1;
        // The thread that had this number before may still have been in its last call then.
        let least = if several { self.last_end } else { 0 };
        let blocked = several && self.blocked.is_none_or(|before| scheduling::blocked() > before);
        let event = &mut self.event;
        event.call = call;
        event.begin = now.time.saturating_sub(start).max(least);
        event.cpu = reads_cpu.then(|| (gap + self.marks.cpu).max(self.marks.since));
        event.thread = thread;
        event.flags = if blocked { Flags::BLOCKED } else { Flags::default() };
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

    /// Returns the computation since the previous call or border, at the moment of a new one \[ns\]. If
    /// threads share a recorder, the previous one may be another thread's.
    #[inline]
    fn gap(&mut self, now: Timestamp) -> u64 {
        let thread = threads::this_thread();
        if thread != self.thread {
            // The clock of another thread says nothing about this one.
            (self.thread, self.cpu) = (thread, now.cpu);
            self.stack = Stack::of_this_thread();
            self.outside.begin();
            self.outside.leave();
        }
        if !self.reads_cpu {
            return 0;
        }
        let mut blocked = self.outside.enter(now.time, now.cpu);
        if self.others_called() {
            // The thread waited for others, which is not its own computation.
            blocked = outside::Blocked::default();
        }
        if self.number == 0 {
            self.spent.blocked(blocked);
        }
        now.cpu.saturating_sub(self.cpu) + if self.counts_blocked { blocked.time } else { 0 }
    }

    /// True if another thread has returned from a call since this one did.
    #[inline]
    fn others_called(&self) -> bool {
        let mut threads = self.threads.iter().enumerate();
        threads.any(|(number, &other)| {
            // SAFETY: recorders stay where they are, and the word is changed only under the lock, which is
            // held.
            number != self.number && unsafe { (&raw const (*other).last_end).read() } > self.last_end
        })
    }

    /// Returns the call site for a caller.
    #[inline]
    fn site(&mut self, caller: Caller) -> u32 {
        self.back = caller.back;
        let stack = self.stack;
        let Process { paths, writer, .. } = &mut **self;
        paths.site(caller, stack, writer.as_mut())
    }

    /// Has MPI execute the call. Meanwhile other threads may call, and a signal may end the program.
    #[inline]
    pub fn call<R>(&self, action: impl FnOnce(&'static Functions) -> R) -> R {
        if matches!(self.event.call.kind(), CallKind::Test | CallKind::Iprobe) {
            self.asked.set(clock::monotonic());
        }
        let mpi = self.mpi;
        threads::unlock();
        let result = action(mpi);
        threads::lock();
        result
    }

    /// Leaves the call and records it.
    #[inline]
    pub fn leave(&mut self, result: c_int) -> c_int {
        let end = clock::monotonic().saturating_sub(self.start);
        self.event.end = end;
        self.record();
        self.back();
        result
    }

    /// Leaves the call without recording it, because it failed or is no event.
    pub fn abandon(&mut self, result: c_int) -> c_int {
        self.back();
        result
    }

    /// Returns to the program.
    #[inline]
    fn back(&mut self) {
        if let Some(memory) = self.memory() {
            // SAFETY: the function is the runtime's, with this signature.
            unsafe { (memory.back)(self.back as u64) };
        }
        let (reads_cpu, several) = (self.reads_cpu, self.threads.len() > 1);
        threads::unlock();
        if several {
            self.blocked = Some(scheduling::blocked());
        }
        if reads_cpu {
            self.cpu = self.outside.leave();
        }
        threads::back();
    }

    /// Records the event, after those that have been held back.
    #[inline]
    fn record(&mut self) {
        if self.token.is_some() {
            // Real time covers all ranks, one after another: processor time is what counts.
            self.counted += self.event.cpu.unwrap_or(0);
            self.event.begin = self.counted;
            if matches!(self.event.call, Call::Opaque) && self.reads_cpu {
                self.counted += clock::thread().saturating_sub(self.outside.entered());
            }
            self.event.end = self.counted;
        }
        self.last_end = self.event.end;
        (self.marks.cpu, self.marks.since) = (0, 0);
        self.end_poll();
        let event = std::mem::replace(&mut self.event, Event::new(Call::Compute, 0, 0));
        self.write(&event);
        self.event = event;
        let ends = Process::number(self) >= self.stop_events || self.event.end >= self.stop_after;
        if self.writer.is_some() && ends {
            finish(self, finish::STOPPED);
        }
    }

    /// Writes the polls of this thread as a call of their own.
    #[inline]
    fn end_poll(&mut self) {
        let number = self.number;
        Process::end_poll(self, number);
    }

    /// Measures the recorder's own time between and inside polls: medians of many empty polls.
    fn measure_polls(&mut self, caller: Caller) {
        if self.memory().is_some() {
            return;
        }
        let (mut between, mut inside) = ([0; 101], [0; 101]);
        for (between, inside) in between.iter_mut().zip(&mut inside) {
            self.begin(Call::Iprobe, caller, Timestamp::now());
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
        self.spent.own = (between[50], inside[50]);
    }

    /// Leaves a test or probe that found nothing.
    ///
    /// Consecutive ones from one place become one call. The time between them stays computation, less the
    /// cost of reading the clock each time. The time inside them is added to it if the rank worked between
    /// them.
    pub fn leave_poll(&mut self, result: c_int) -> c_int {
        if self.memory().is_some() {
            return self.leave(result);
        }
        let now = clock::monotonic();
        let end = now.saturating_sub(self.start);
        let gap = self.event.begin.saturating_sub(self.last_end);
        let since = self.event.cpu.map_or(gap, |cpu| cpu.saturating_sub(self.empty_gap));
        let work = self.spent.poll(since, now.saturating_sub(self.asked.get()));
        (self.marks.cpu, self.marks.since) = (0, 0);
        let number = self.number;
        let (before, event) = (self.polls[number].take(), &self.event);
        let poll = match before {
            Some(mut poll) if (poll.site, poll.call, poll.comm) == (event.site, event.call, event.comm) => {
                if number == 0 {
                    let time = if self.token.is_some() { work } else { end.saturating_sub(self.last_end) };
                    self.spent.polled(work, time);
                }
                poll.cpu = poll.cpu.map(|cpu| cpu + work);
                if self.token.is_some() {
                    self.counted += work;
                    (poll.begin, poll.end) = (self.counted, self.counted);
                } else {
                    poll.begin += if self.reads_cpu { gap } else { work };
                    poll.end = end;
                }
                poll
            }
            before => {
                if let Some(before) = before {
                    self.write(&before);
                }
                // The poll's own computation, in addition to the whole time before it.
                let own = work.saturating_sub(since);
                self.event.end = end;
                self.event.cpu = self.event.cpu.map(|cpu| cpu + own);
                self.event.begin += if self.reads_cpu { 0 } else { own };
                if self.token.is_some() {
                    self.counted += self.event.cpu.unwrap_or(0);
                    (self.event.begin, self.event.end) = (self.counted, self.counted);
                }
                self.event.clone()
            }
        };
        self.last_end = poll.end;
        self.polls[number] = Some(poll);
        self.back();
        result
    }

    /// Records an event in addition to the present call's own, which comes after it.
    pub(crate) fn add_event(&mut self, mut event: Event) {
        if self.token.is_some() {
            self.counted += event.cpu.unwrap_or(0);
            (event.begin, event.end) = (self.counted, self.counted);
        }
        event.thread = self.number as u32;
        self.last_end = event.end;
        self.end_poll();
        self.write(&event);
    }

    // --- descriptions of a call by its body -----------------------------------------------------------------------

    /// Records the communicator.
    #[inline]
    pub fn set_communicator(&mut self, comm: Handle) {
        let process = &mut **self;
        let comm = process.abi.handle(comm);
        let (index, inter) = process.communicators.index(comm, process.abi, process.mpi, &mut process.writer);
        self.event.comm = index;
        if inter {
            self.event.flags = self.event.flags.and(Flags::INTER);
        }
    }

    /// Returns the size of an element of a datatype \[B\].
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

    /// Notes the size of an element; returns the size of `count` elements \[B\].
    #[inline]
    pub fn elements(&mut self, count: c_int, datatype: Handle) -> u64 {
        let size = self.size_of(datatype);
        self.event.element = size as u32;
        let count = u64::try_from(count).unwrap_or(0);
        self.note_layout(size, count, datatype);
        size * count
    }

    /// Notes if the bytes of `count` elements are contiguous.
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

    /// Returns the bytes that an element of a datatype covers.
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

    /// Returns the distance of elements of a datatype \[B\]; 0 if MPI does not tell.
    pub(crate) fn distance_of(&self, datatype: Handle) -> isize {
        self.layout(datatype).map_or(0, |layout| layout.distance as isize)
    }

    /// Records the buffer of a message: its address and, if its bytes are not contiguous, their range.
    #[inline]
    pub fn buffer(&mut self, buffer: *const c_void, count: c_int, datatype: Handle) {
        self.event.buffer = buffer as u64;
        if self.event.flags.has(Flags::GAPS)
            && count > 0
            && let Some(Layout { first, length, distance }) = self.layout(datatype)
        {
            // Elements may go backwards. For MPI_BOTTOM, which is 0, `first` is an address.
            let last = i64::from(count - 1).saturating_mul(distance);
            let (low, high) = (first + last.min(0), first + length + last.max(0));
            self.event.buffer = self.event.buffer.wrapping_add_signed(low);
            self.event.bytes2 = u64::try_from(high - low).unwrap_or(0);
        }
    }

    /// Converts a rank to that of the trace: of the communicator, nobody, or `MPI_PROC_NULL`.
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

    /// Returns the flags of a receive with this source and tag: those that it leaves open.
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

    /// Records that the event makes a request; returns its number.
    pub fn make_request(&mut self) -> u64 {
        let number = self.requests.next_number();
        self.event.requests.push(number);
        number
    }

    /// Completes the event that started a receive, with the data of the received message.
    pub fn resolve_receive(&mut self, held: Option<u64>, status: &Status) {
        let Some(held) = held else { return };
        let (peer, cancelled) = (self.peer(status.source), status.cancelled);
        self.queue.resolve(held, |event| {
            event.flags.0 &= !Flags::CAPACITY.0;
            if cancelled {
                // The receive never took place.
                (event.peer, event.tag, event.bytes) = (Event::PROC_NULL, 0, 0);
            } else if peer != Event::NOBODY {
                event.peer = peer;
                event.tag = status.tag;
                event.bytes = status.bytes;
            }
        });
    }

    /// Returns the place of the present event in the queue. It stays open until
    /// [`resolve_receive`](Self::resolve_receive).
    pub fn keep_open(&mut self) -> u64 {
        let polls = u64::from(self.polls[self.number].is_some());
        self.queue.open(polls)
    }

    /// Returns the address of the present call instruction.
    pub(crate) fn address(&self) -> usize {
        self.back.wrapping_sub(1)
    }
}
