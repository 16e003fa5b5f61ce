//! Work on a thread of its own, so that the interpreter goes on: other threads run, Ctrl-C works, progress is
//! reported.

use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hayase::base::wall_clock;
use hayase::engine::{Progress, Watch};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Interval at which signals are checked.
const LISTEN: Duration = Duration::from_millis(50);
/// Interval at which progress is reported.
const TELL: Duration = Duration::from_millis(100);
/// Longest wait for work that was told to stop; the building of a scenario does not check for it.
const PATIENCE: Duration = Duration::from_millis(100);
/// Stack of a thread \[B\]: as much as the main thread of a program has.
const STACK: usize = 8 << 20;
/// Largest number of threads; more would only take memory and time from each other.
const MOST_THREADS: usize = 1024;

/// Progress of work, and a request to stop it.
pub struct Looking {
    /// Set to end the work.
    pub stop: &'static AtomicBool,
    now_ps: AtomicU64,
    done: AtomicU64,
    total: AtomicU64,
}

/// Flags that are free for reuse. Each lives as long as the process, so that it can be lent to any thread.
static FREE: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

impl Default for Looking {
    fn default() -> Self {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let stop = free.unwrap_or_else(|| Box::leak(Box::default()));
        stop.store(false, Ordering::Relaxed);
        Self { stop, now_ps: AtomicU64::new(0), done: AtomicU64::new(0), total: AtomicU64::new(0) }
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.stop);
    }
}

impl Looking {
    /// Returns a watch for a part of the work, which stops with this one but reports no progress to it.
    pub fn part(&self) -> ManuallyDrop<Self> {
        // It is not dropped, because the flag belongs to this one.
        ManuallyDrop::new(Self { stop: self.stop, now_ps: 0.into(), done: 0.into(), total: 0.into() })
    }

    /// Stores the progress: `done` of `total`.
    pub fn tell(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn progress(&self) -> (f64, u64, u64) {
        let now = f64::from_bits(self.now_ps.load(Ordering::Relaxed));
        (now, self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

impl Watch for Looking {
    fn tick(&self, progress: Progress) -> bool {
        self.now_ps.store(progress.now.seconds().to_bits(), Ordering::Relaxed);
        self.tell(progress.delivered, progress.total);
        !self.stop.load(Ordering::Relaxed)
    }
}

/// Thread pools of ended calls, ready for reuse, with their process and number of threads as keys. A forked
/// process does not have the threads of its parent, so it gets its own pools.
type Idle = Vec<(u32, Option<usize>, Arc<ThreadPool>)>;
static IDLE: Mutex<Idle> = Mutex::new(Vec::new());
/// Largest number of pools that are kept.
const MOST_IDLE: usize = 8;

/// Puts the threads of a call back into the idle pools.
fn put_back(threads: Option<usize>, pool: Arc<ThreadPool>) {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if idle.len() < MOST_IDLE {
        idle.push((std::process::id(), threads, pool));
    }
}

/// Takes an idle thread pool or creates one; no other call uses it meanwhile.
fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    if threads == Some(0) {
        return Err(PyValueError::new_err("threads=0: 1 or more are expected, or None for one each core"));
    }
    let process = std::process::id();
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(place) = idle.iter().position(|(of, count, _)| *of == process && *count == threads) {
        return Ok(idle.swap_remove(place).2);
    }
    drop(idle);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .stack_size(STACK)
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?;
    Ok(Arc::new(pool))
}

/// Options of a call from Python.
#[derive(Clone, Copy)]
pub struct Asker<'a, 'py> {
    /// Interpreter.
    pub py: Python<'py>,
    /// Number of threads; one for each core if it is not set.
    pub threads: Option<usize>,
    /// Callback for progress, called with the simulated seconds, the finished part and the total.
    pub progress: Option<&'a Bound<'py, PyAny>>,
}

impl Asker<'_, '_> {
    /// Does this work while the interpreter goes on. Ctrl-C and an exception in `progress` stop it.
    ///
    /// # Errors
    /// Exceptions raised meanwhile, and a `RuntimeError` if the work panics.
    pub fn wait<T: Send + 'static>(self, work: impl FnOnce(&Arc<Looking>) -> T + Send + 'static) -> PyResult<T> {
        let Self { py, threads, progress } = self;
        let threads = threads.map(|threads| threads.min(MOST_THREADS));
        let pool = pool(threads)?;
        let looking: Arc<Looking> = Arc::default();
        let (sender, mut receiver) = mpsc::sync_channel(1);
        let seen = Arc::clone(&looking);
        let own = Arc::clone(&pool);
        pool.spawn(move || {
            let done = catch_unwind(AssertUnwindSafe(|| work(&seen)));
            put_back(threads, own);
            // (Sending fails if the caller has given up.)
            let _ = sender.send(done.map_err(|panic| {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
            }));
        });
        let mut told = wall_clock::now();
        loop {
            let waiting = &mut receiver;
            let raised = match py.detach(move || waiting.recv_timeout(LISTEN)) {
                Ok(Ok(done)) => {
                    if let Some(progress) = progress {
                        progress.call1(looking.progress())?;
                    }
                    return Ok(done);
                }
                Ok(Err(panic)) => return Err(PyRuntimeError::new_err(format!("a mistake in Hayase: {panic}"))),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("a mistake in Hayase: its work ended without a result"));
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals().and_then(|()| match progress {
                    Some(progress) if told.elapsed() >= TELL => {
                        told = wall_clock::now();
                        progress.call1(looking.progress()).map(drop)
                    }
                    _ => Ok(()),
                }),
            };
            if let Err(raised) = raised {
                looking.stop.store(true, Ordering::Relaxed);
                let waiting = &mut receiver;
                let _ = py.detach(move || waiting.recv_timeout(PATIENCE));
                return Err(raised);
            }
        }
    }
}
