//! Hazards: reasons why memory of the program may change without a visible access. They are other threads,
//! signal handlers, shared memory, returned errors and one-sided communication.
//!
//! They are followed from the beginning of the program, before the recording starts.

use std::sync::Mutex;

use crate::recorder::Place;
use crate::state;
use crate::stubs::Call;

/// Kinds of hazards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hazard {
    Thread,
    SignalHandler,
    SharedMapping,
    ErrorsReturn,
    Window,
}

/// Names of the hazards, in their order.
const NAMES: [&str; 5] = ["thread", "signal handler", "shared mapping", "errors return", "window"];

struct State {
    /// Number of hazards of each kind that have begun and not ended.
    open: [u32; NAMES.len()],
    /// Shared mappings: address and size.
    shared: Vec<(u64, u64)>,
    /// Begins and ends of hazards before the recording started.
    early: Vec<(Place, bool)>,
}

static STATE: Mutex<State> = Mutex::new(State { open: [0; NAMES.len()], shared: Vec::new(), early: Vec::new() });

/// Applies `work` to the state. Does nothing in a signal handler that interrupted such work.
fn with(work: impl FnOnce(&mut State)) {
    if let Ok(mut state) = STATE.try_lock() {
        work(&mut state);
    }
}

impl State {
    fn change(&mut self, hazard: Hazard, back: u64, begins: bool) {
        let open = &mut self.open[hazard as usize];
        let before = *open;
        *open = if begins { before.saturating_add(1) } else { before.saturating_sub(1) };
        if (before == 0) == (*open == 0) {
            return;
        }
        let place = Place { address: back, name: NAMES[hazard as usize] };
        if state::with(|recorder| recorder.hazard(place, begins)).is_none() {
            self.early.push((place, begins));
        }
    }
}

/// Records that a hazard of a kind begins or ends, at the call that returns to `back`.
pub(crate) fn change(hazard: Hazard, back: u64, begins: bool) {
    with(|state| state.change(hazard, back, begins));
}

/// Records hazards that have begun before the recording starts.
pub(crate) fn start() {
    with(|state| {
        for (place, begins) in state.early.drain(..) {
            let _ = state::with(|recorder| recorder.hazard(place, begins));
        }
    });
}

/// Records a mapping that other processes may write to.
fn mapped(back: u64, low: u64, size: u64) {
    with(|state| {
        state.shared.push((low, size));
        state.change(Hazard::SharedMapping, back, true);
    });
}

/// Records that memory is no longer mapped.
pub(crate) fn unmapped(back: u64, low: u64, size: u64) {
    with(|state| {
        let count = state.shared.len();
        state.shared.retain(|&(base, length)| base < low || base + length > low.saturating_add(size));
        for _ in state.shared.len()..count {
            state.change(Hazard::SharedMapping, back, false);
        }
    });
}

/// Functions of the C library and of OpenMP that cause hazards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    /// `pthread_create` and similar functions.
    Thread,
    /// A parallel region of gcc's OpenMP: the number of threads is the third argument, or 0.
    Team,
    /// A parallel region of clang's OpenMP.
    Fork,
    /// `signal`: the handler is the second argument.
    Signal,
    /// `sigaction`: the second argument points to the handler.
    Action,
    /// `mmap`, which also makes a block.
    Map,
    /// `shmat`.
    Attach,
}

impl Function {
    /// Returns the kind of the function with this name, if it causes hazards.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "pthread_create" | "thrd_create" => Self::Thread,
            _ if name.starts_with("_ZNSt6thread15_M_start_thread") => Self::Thread,
            "__kmpc_fork_call" => Self::Fork,
            _ if name.starts_with("GOMP_parallel") => Self::Team,
            "signal" | "__sysv_signal" | "sysv_signal" | "bsd_signal" | "sigset" => Self::Signal,
            "sigaction" => Self::Action,
            "mmap" | "mmap64" => Self::Map,
            "shmat" => Self::Attach,
            _ => return None,
        })
    }

    /// Handles a call that is about to be made.
    pub(crate) fn called(self, call: &Call) {
        // `SIG_ERR`, `SIG_DFL`, `SIG_IGN`.
        let handles = |handler: u64| !matches!(handler as i64, -1..=1);
        let hazard = match self {
            Self::Thread => Hazard::Thread,
            Self::Team if threads(call.argument(2) as u32) > 1 => Hazard::Thread,
            Self::Fork if threads(0) > 1 => Hazard::Thread,
            Self::Signal if handles(call.argument(1)) => Hazard::SignalHandler,
            // SAFETY: the handler is the first word of what the program gives, if it gives anything.
            Self::Action if call.argument(1) != 0 && handles(unsafe { *(call.argument(1) as *const u64) }) => {
                Hazard::SignalHandler
            }
            Self::Attach => Hazard::SharedMapping,
            _ => return,
        };
        change(hazard, call.back, true);
    }

    /// Handles a call that has been made.
    pub(crate) fn returned(self, call: &Call, result: u64) {
        let private = call.argument(3) as i32 & libc::MAP_TYPE == libc::MAP_PRIVATE;
        if self == Self::Map && !private && result != libc::MAP_FAILED as u64 {
            mapped(call.back, result, call.argument(1));
        }
    }
}

/// Returns the number of threads of a parallel region that asks for `asked`; 0 asks for all.
fn threads(asked: u32) -> u32 {
    if asked == 1 {
        return 1;
    }
    // SAFETY: asks for a symbol; `int omp_get_max_threads(void)` in every OpenMP.
    unsafe {
        let most = libc::dlsym(libc::RTLD_DEFAULT, c"omp_get_max_threads".as_ptr());
        if most.is_null() {
            return asked;
        }
        let most = std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn() -> libc::c_int>(most);
        asked.max(most() as u32)
    }
}
