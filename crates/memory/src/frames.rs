//! Which instrumented functions are running, and where their variables are on the stack.
//!
//! Compilers put arguments, and results of functions, on the stack without calling anybody: `f(double x) {
//! MPI_Allreduce(&x, ...) }` stores `x` before the first instrumented instruction. And what a function had on the stack
//! is gone when it returns. So when a call of MPI is made, the functions that were entered since the call before, and
//! those that have been left since, are noted with the bytes of their frames
//! ([`Kind::Frame`](hayase_trace::memory::Kind::Frame)): to begin and to end are writes of all of them. Functions that
//! came and went between two calls are of no interest, since no call could be given their variables: so what is written
//! grows with the calls of MPI, not with those of functions.
//!
//! It also tells code that is not instrumented: an instrumented function that calls another is the innermost one that
//! runs. Where the caller is some other function, control was where nobody sees what is accessed.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::recorder::{Recorder, key};
use crate::state;

/// Most functions, one within the other, that are kept; inner ones are taken to be not instrumented.
const MOST: usize = 1 << 14;

/// A function that runs.
#[derive(Clone, Copy)]
struct Frame {
    /// Its bytes on the stack: from the lowest to one past the highest.
    low: usize,
    high: usize,
    /// An address in its code.
    place: usize,
    /// Position of the first access after it was entered.
    position: u64,
    /// It was entered since the last call of MPI.
    fresh: bool,
    /// Code without instrumentation called it from here; 0: instrumented code did.
    foreign: usize,
}

/// A function that was left since the last call of MPI, and was entered before it.
#[derive(Clone, Copy)]
struct Left {
    low: usize,
    high: usize,
    place: usize,
    position: u64,
}

struct Stack {
    frames: Vec<Frame>,
    left: Vec<Left>,
    /// Functions beyond `MOST`.
    beyond: usize,
    /// Of addresses of calls: whether they are in instrumented code. By hash: the address, and 1 if they are.
    known: Box<[(usize, bool)]>,
    /// Of addresses of functions: how far their arguments reach above the frame \[B\]. By hash, too.
    arguments: Box<[(usize, usize)]>,
}

struct Cell(UnsafeCell<Option<Stack>>);

// SAFETY: used by the thread that `WATCHED` names, and nobody else.
unsafe impl Sync for Cell {}

static STACK: Cell = Cell(UnsafeCell::new(None));
/// Thread pointer of the thread whose functions are followed; 0: none is.
static WATCHED: AtomicUsize = AtomicUsize::new(0);
/// The highest byte of its stack.
static TOP: AtomicUsize = AtomicUsize::new(0);
/// The thread is in a call of MPI, whose own accesses are those that the call is known to make.
static IN_CALL: AtomicBool = AtomicBool::new(false);

/// Follows the thread that loads this library: nearly always it is the one that will be recorded, and its `main` begins
/// before that.
extern "C" fn load() {
    follow();
}

#[used]
#[unsafe(link_section = ".init_array")]
static LOAD: extern "C" fn() = load;

/// Follows the functions of the calling thread from now on.
pub(crate) fn follow() {
    if WATCHED.load(Ordering::Relaxed) == state::thread() {
        return;
    }
    // Another thread's functions are not entered any more: its hooks see that they are not meant, from here on.
    WATCHED.store(0, Ordering::SeqCst);
    let stack = Stack {
        frames: Vec::with_capacity(MOST),
        left: Vec::with_capacity(MOST),
        beyond: 0,
        known: vec![(0, false); KNOWN].into_boxed_slice(),
        arguments: vec![(0, 0); KNOWN].into_boxed_slice(),
    };
    // SAFETY: nobody is watched, so nobody uses it.
    unsafe { *STACK.0.get() = Some(stack) };
    TOP.store(bounds_of_stack().1, Ordering::Relaxed);
    WATCHED.store(state::thread(), Ordering::SeqCst);
}

/// Returns the lowest byte of this thread's stack and one past its highest; 0 where the system does not say.
pub(crate) fn bounds_of_stack() -> (usize, usize) {
    // SAFETY: asks for the attributes of this thread and gives them back.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return (0, 0);
        }
        let (mut low, mut size) = (std::ptr::null_mut::<c_void>(), 0);
        let failed = libc::pthread_attr_getstack(&raw const attributes, &raw mut low, &raw mut size);
        libc::pthread_attr_destroy(&raw mut attributes);
        if failed == 0 { (low as usize, low as usize + size) } else { (0, 0) }
    }
}

#[inline(always)]
fn stack() -> Option<&'static mut Stack> {
    if WATCHED.load(Ordering::Relaxed) != state::thread() {
        return None;
    }
    // SAFETY: this is the thread that is watched, and references do not leave the functions of this module.
    unsafe { (*STACK.0.get()).as_mut() }
}

/// A function is entered: `place` is in it, `caller` in the one that called it; its stack pointer and frame pointer.
pub(crate) extern "C" fn enter(caller: usize, place: usize, low: usize, pointer: usize) {
    let Some(stack) = stack() else { return };
    // What lies below was left without a word: by an exception, or a jump.
    while stack.frames.last().is_some_and(|frame| frame.low <= low) {
        stack.beyond = 0;
        stack.pop();
    }
    if stack.frames.len() == MOST {
        stack.beyond += 1;
        return;
    }
    let parent = stack.frames.last().map(|frame| (frame.low, frame.place));
    let bound = parent.map_or(TOP.load(Ordering::Relaxed), |(low, _)| low);
    let recorded = state::is_recorded();
    let mut high = frame_end(caller, low, pointer, bound);
    if recorded {
        high += stack.arguments(place);
    }
    let foreign = if !recorded || IN_CALL.load(Ordering::Relaxed) || stack.is_instrumented(caller, parent.map(|p| p.1))
    {
        0
    } else {
        caller
    };
    stack.frames.push(Frame { low, high, place, position: state::position(), fresh: recorded, foreign });
    if foreign != 0 {
        mark(foreign);
    }
}

/// One past the highest byte of a frame: the return address and the frame pointer of the caller are the last.
///
/// Where the function keeps no frame pointer, all up to the frame of the instrumented function around it is taken.
#[inline]
fn frame_end(caller: usize, low: usize, pointer: usize, bound: usize) -> usize {
    if cfg!(target_arch = "x86_64") && pointer > low && pointer.is_multiple_of(8) && pointer.saturating_add(16) <= bound
    {
        // SAFETY: between the stack pointer and an address of the same stack.
        let returns_to = unsafe { *((pointer + 8) as *const usize) };
        if returns_to == caller {
            return pointer + 16;
        }
    }
    bound.max(low)
}

/// The function with this stack pointer is left; `place` is in it.
pub(crate) extern "C" fn leave(place: usize, low: usize) {
    let Some(stack) = stack() else { return };
    if stack.beyond > 0 {
        stack.beyond -= 1;
        return;
    }
    while stack.frames.last().is_some_and(|frame| frame.low < low) {
        stack.pop();
    }
    if let Some(frame) = stack.frames.last_mut() {
        frame.place = place;
        let foreign = frame.foreign;
        stack.pop();
        if foreign != 0 && state::is_recorded() {
            mark(foreign);
        }
    }
}

/// Notes that control was, or will be, in code without instrumentation, which is at `place`.
#[cold]
fn mark(place: usize) {
    let _ = state::with(|recorder| opaque(recorder, place));
}

fn opaque(recorder: &mut Recorder<File>, place: usize) {
    let name = object(place);
    recorder.access_of(key(place as u64, true), 0, 0, hayase_trace::memory::Kind::Opaque, &name);
}

/// The file that an address of code was loaded from.
pub(crate) fn object(place: usize) -> String {
    match hayase_mpi::objects::at(place) {
        Some((_, name)) if name.contains('/') => name,
        Some((_, name)) => format!("./{name}"),
        None => "/?".to_owned(),
    }
}

/// A call of MPI with this number comes in from `site` (0: not known).
pub(crate) fn call(recorder: &mut Recorder<File>, number: u64, site: usize) {
    IN_CALL.store(true, Ordering::Relaxed);
    recorder.name_interval(number);
    let Some(stack) = stack() else { return };
    for frame in stack.frames.iter_mut().rev() {
        if !std::mem::replace(&mut frame.fresh, false) {
            break;
        }
        recorder.frame(key(frame.place as u64, true), frame.low as u64, frame.high as u64, frame.position);
    }
    for left in stack.left.drain(..) {
        recorder.frame(key(left.place as u64, true), left.low as u64, left.high as u64, left.position);
    }
    let parent = stack.frames.last().map(|frame| frame.place);
    if site != 0 && !stack.is_instrumented(site, parent) {
        return opaque(recorder, site);
    }
    #[cfg(target_arch = "x86_64")]
    if site != 0 && !crate::arguments::was_seen(site as u64) {
        let name = "a call of MPI through a pointer";
        recorder.access_of(key(site as u64, true), 0, 0, hayase_trace::memory::Kind::Opaque, name);
    }
}

/// The call that came in from `site` returns.
pub(crate) fn back(recorder: &mut Recorder<File>, site: usize) {
    IN_CALL.store(false, Ordering::Relaxed);
    let Some(stack) = stack() else { return };
    let parent = stack.frames.last().map(|frame| frame.place);
    if site != 0 && !stack.is_instrumented(site, parent) {
        opaque(recorder, site);
    }
}

/// Room for addresses whose function is known.
const KNOWN: usize = 1 << 12;

/// Where an address is in a table by hash.
fn slot(place: usize) -> usize {
    ((place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - KNOWN.trailing_zeros())) as usize
}

impl Stack {
    fn pop(&mut self) {
        if let Some(Frame { low, high, place, fresh: false, .. }) = self.frames.pop()
            && self.left.len() < MOST
        {
            self.left.push(Left { low, high, place, position: state::position() });
        }
    }

    /// How far the arguments of the function at `place` reach above its frame: they are written by the caller, which
    /// tells nobody.
    #[inline]
    fn arguments(&mut self, place: usize) -> usize {
        let Some(known) = self.arguments.get_mut(slot(place)) else { return 0 };
        if known.0 != place {
            #[cfg(target_arch = "x86_64")]
            let reach = crate::code::arguments(place);
            #[cfg(not(target_arch = "x86_64"))]
            let reach = 0;
            *known = (place, reach);
        }
        known.1
    }

    /// Whether the call that returns to `place` is made by an instrumented function, given an address in the innermost
    /// one that runs. That does not change, so it is worked out once.
    #[inline]
    fn is_instrumented(&mut self, place: usize, innermost: Option<usize>) -> bool {
        let Some(known) = self.known.get_mut(slot(place)) else { return false };
        if known.0 != place {
            *known = (place, innermost.is_some_and(|innermost| is_one_function(place, innermost)));
        }
        known.1
    }
}

/// Whether two addresses of code are in one function: by the tables of unwinding, which every function of instrumented
/// code has.
#[cold]
fn is_one_function(one: usize, other: usize) -> bool {
    unsafe extern "C" {
        fn _Unwind_FindEnclosingFunction(place: *mut c_void) -> *mut c_void;
    }
    // A return address may be one past the end of its function.
    let [one, other] = [one, other].map(|place| {
        // SAFETY: looks an address up in tables.
        unsafe { _Unwind_FindEnclosingFunction((place - 1) as *mut c_void) }
    });
    !one.is_null() && one == other
}
