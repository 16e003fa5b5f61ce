//! Running instrumented functions, and the frames of their variables on the stack.
//!
//! Compilers put arguments, and results of functions, on the stack without calling a hook: `f(double x) {
//! MPI_Allreduce(&x, ...) }` stores `x` before the first instrumented instruction. And the variables of a
//! function are gone when it returns. So a call of MPI notes the frames of the functions entered since the
//! previous call, and of those left since
//! ([`AccessKind::Frame`](hayase_trace::memory::AccessKind::Frame)): begin and end of a function write all
//! bytes of its frame. Functions that came and went between two calls do not matter, since no call could be
//! given their variables. So the output grows with the number of MPI calls, not of function calls.
//!
//! This also detects code that is not instrumented. An instrumented function that calls another is the
//! innermost running one. If the caller is some other function, control was in code whose accesses are not
//! seen.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::recorder::{Recorder, key};
use crate::state;

/// Largest number of nested functions; deeper ones count as not instrumented.
const MAX_NESTED: usize = 1 << 14;

/// A running function.
#[derive(Clone, Copy)]
struct Frame {
    /// Range of its bytes on the stack: the lowest, and one past the highest.
    low: usize,
    high: usize,
    /// An address in its code.
    place: usize,
    /// Position of the first access after it was entered.
    position: u64,
    /// Set if it was entered since the last call of MPI.
    fresh: bool,
    /// Address in code without instrumentation that called it; 0 if instrumented code did.
    foreign: usize,
}

/// A function that was entered before the last call of MPI, and left since.
#[derive(Clone, Copy)]
struct LeftFunction {
    low: usize,
    high: usize,
    place: usize,
    position: u64,
}

struct Stack {
    frames: Vec<Frame>,
    left: Vec<LeftFunction>,
    /// Number of functions beyond `MAX_NESTED`.
    beyond: usize,
    /// Hash table for addresses of calls: the address, and true if it is in instrumented code.
    known: Box<[(usize, bool)]>,
    /// Hash table for addresses of functions: the address, and the distance that the arguments reach above
    /// the frame \[B\].
    arguments: Box<[(usize, usize)]>,
}

struct Cell(UnsafeCell<Option<Stack>>);

// SAFETY: used only by the thread that `WATCHED` names.
unsafe impl Sync for Cell {}

static STACK: Cell = Cell(UnsafeCell::new(None));
/// Thread pointer of the thread whose functions are followed; 0 if none is.
static WATCHED: AtomicUsize = AtomicUsize::new(0);
/// Highest byte of its stack.
static TOP: AtomicUsize = AtomicUsize::new(0);
/// Set while the thread is in a call of MPI. Accesses inside are those that the call is known to make.
static IN_CALL: AtomicBool = AtomicBool::new(false);

/// Follows the thread that loads this library: nearly always the one that will be recorded, and its `main`
/// begins before the recording.
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
    // From here on, hooks of the previous thread see that it is no longer followed.
    WATCHED.store(0, Ordering::SeqCst);
    let stack = Stack {
        frames: Vec::with_capacity(MAX_NESTED),
        left: Vec::with_capacity(MAX_NESTED),
        beyond: 0,
        known: vec![(0, false); KNOWN].into_boxed_slice(),
        arguments: vec![(0, 0); KNOWN].into_boxed_slice(),
    };
    // SAFETY: no thread is watched, so nobody uses it.
    unsafe { *STACK.0.get() = Some(stack) };
    TOP.store(bounds_of_stack().1, Ordering::Relaxed);
    WATCHED.store(state::thread(), Ordering::SeqCst);
}

/// Returns the lowest byte of this thread's stack and one past its highest; 0 if the system does not tell.
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

/// Records that a function is entered. `place` is in the function, `caller` in the one that called it; `low`
/// is the stack pointer, `pointer` the frame pointer.
pub(crate) extern "C" fn enter(caller: usize, place: usize, low: usize, pointer: usize) {
    let Some(stack) = stack() else { return };
    // Functions below were left without a hook: by an exception, or a jump.
    while stack.frames.last().is_some_and(|frame| frame.low <= low) {
        stack.beyond = 0;
        stack.pop();
    }
    if stack.frames.len() == MAX_NESTED {
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

/// Returns one past the highest byte of a frame, which ends with the caller's frame pointer and the return
/// address.
///
/// If the function keeps no frame pointer, the frame extends to that of the instrumented function around it.
#[inline]
fn frame_end(caller: usize, low: usize, pointer: usize, bound: usize) -> usize {
    if cfg!(target_arch = "x86_64") && pointer > low && pointer.is_multiple_of(8) && pointer.saturating_add(16) <= bound
    {
        // SAFETY: the address lies between the stack pointer and an address of the same stack.
        let returns_to = unsafe { *((pointer + 8) as *const usize) };
        if returns_to == caller {
            return pointer + 16;
        }
    }
    bound.max(low)
}

/// Records that the function with this stack pointer is left; `place` is in it.
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

/// Marks that control was, or will be, in code without instrumentation, at `place`.
#[cold]
fn mark(place: usize) {
    let _ = state::with(|recorder| opaque(recorder, place));
}

fn opaque(recorder: &mut Recorder<File>, place: usize) {
    let name = object(place);
    recorder.access_of(key(place as u64, true), 0, 0, hayase_trace::memory::AccessKind::Opaque, &name);
}

/// Returns the file that an address of code was loaded from.
pub(crate) fn object(place: usize) -> String {
    match hayase_mpi::objects::at(place) {
        Some((_, name)) if name.contains('/') => name,
        Some((_, name)) => format!("./{name}"),
        None => "/?".to_owned(),
    }
}

/// Handles the begin of the MPI call with this number, made from `site` (0: not known).
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
        recorder.access_of(key(site as u64, true), 0, 0, hayase_trace::memory::AccessKind::Opaque, name);
    }
}

/// Handles the return of the call made from `site`.
pub(crate) fn back(recorder: &mut Recorder<File>, site: usize) {
    IN_CALL.store(false, Ordering::Relaxed);
    let Some(stack) = stack() else { return };
    let parent = stack.frames.last().map(|frame| frame.place);
    if site != 0 && !stack.is_instrumented(site, parent) {
        opaque(recorder, site);
    }
}

/// Number of entries of each hash table.
const KNOWN: usize = 1 << 12;

/// Returns the index of an address in a hash table.
fn slot(place: usize) -> usize {
    ((place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - KNOWN.trailing_zeros())) as usize
}

impl Stack {
    fn pop(&mut self) {
        if let Some(Frame { low, high, place, fresh: false, .. }) = self.frames.pop()
            && self.left.len() < MAX_NESTED
        {
            self.left.push(LeftFunction { low, high, place, position: state::position() });
        }
    }

    /// Returns the distance that the arguments of the function at `place` reach above its frame. The caller
    /// writes them without a hook.
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

    /// Returns true if an instrumented function makes the call that returns to `place`. `innermost` is an
    /// address in the innermost running one. The answer never changes, so it is computed once.
    #[inline]
    fn is_instrumented(&mut self, place: usize, innermost: Option<usize>) -> bool {
        let Some(known) = self.known.get_mut(slot(place)) else { return false };
        if known.0 != place {
            *known = (place, innermost.is_some_and(|innermost| is_one_function(place, innermost)));
        }
        known.1
    }
}

/// Returns true if two addresses of code are in one function, by the unwind tables, which cover all
/// instrumented code.
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
