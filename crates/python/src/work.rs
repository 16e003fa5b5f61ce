//! Work on a thread of its own, so that the interpreter goes on: other threads run, Ctrl-C is heard, progress is told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hayase::engine::{Progress, Watch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How often signals are looked for.
const LISTEN: Duration = Duration::from_millis(50);
/// How often progress is told.
const TELL: Duration = Duration::from_millis(100);
/// How long work that was told to stop is waited for; what is being built does not look.
const PATIENCE: Duration = Duration::from_millis(100);
/// What threads have of stack: as much as the thread of a program has.
const STACK: usize = 8 << 20;

/// How far work is, and whether it is to end.
#[derive(Default)]
pub struct Looking {
    /// Set to end the work.
    pub stop: AtomicBool,
    now_ps: AtomicU64,
    done: AtomicU64,
    total: AtomicU64,
}

impl Looking {
    /// So much of so much is done.
    pub fn tell(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn progress(&self) -> (f64, u64, u64) {
        let now = f64::from_bits(self.now_ps.load(Ordering::Relaxed)) * 1e-12;
        (now, self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

impl Watch for Looking {
    fn tick(&self, progress: Progress) -> bool {
        self.now_ps.store((progress.now.seconds() * 1e12).to_bits(), Ordering::Relaxed);
        self.tell(progress.delivered, progress.total);
        !self.stop.load(Ordering::Relaxed)
    }
}

/// The threads of this process: started once for each number of them. Those of a process that was forked are not there
/// in the fork, so it gets its own.
fn pool(threads: Option<usize>) -> Result<Arc<ThreadPool>, String> {
    type Known = Vec<(u32, Option<usize>, Arc<ThreadPool>)>;
    static POOLS: Mutex<Known> = Mutex::new(Vec::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((.., pool)) = pools.iter().find(|(of, count, _)| *of == process && *count == threads) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .stack_size(STACK)
        .build()
        .map_err(|error| format!("cannot start threads: {error}"))?;
    let pool = Arc::new(pool);
    pools.push((process, threads, Arc::clone(&pool)));
    Ok(pool)
}

/// Does this work while the interpreter goes on. Ctrl-C and an exception in `progress` end it.
///
/// # Errors
/// What was raised meanwhile, and a `RuntimeError` where the work panics.
pub fn outside<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    looking: &Arc<Looking>,
    work: impl FnOnce(&Looking) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool(threads).map_err(PyRuntimeError::new_err)?;
    let (sender, mut receiver) = mpsc::sync_channel(1);
    let seen = Arc::clone(looking);
    pool.spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| work(&seen)));
        // Nobody waits for what was given up.
        let _ = sender.send(done.map_err(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
        }));
    });
    let mut told = Instant::now();
    let mut step = || -> PyResult<()> {
        py.check_signals()?;
        match progress {
            Some(progress) if told.elapsed() >= TELL => {
                told = Instant::now();
                progress.call1(looking.progress()).map(drop)
            }
            _ => Ok(()),
        }
    };
    loop {
        let waiting = &mut receiver;
        match py.detach(move || waiting.recv_timeout(LISTEN)) {
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
            Err(RecvTimeoutError::Timeout) => {
                if let Err(raised) = step() {
                    looking.stop.store(true, Ordering::Relaxed);
                    let waiting = &mut receiver;
                    let _ = py.detach(move || waiting.recv_timeout(PATIENCE));
                    return Err(raised);
                }
            }
        }
    }
}
