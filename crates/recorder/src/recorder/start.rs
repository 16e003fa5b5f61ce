//! Begin of the recording: when MPI is initialised, or at the first call of a program whose initialisation
//! was not seen.

use std::ffi::{CString, c_char, c_int, c_void};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use hayase_trace::{Clock, Header, Writer};

use super::communicators::Communicators;
use super::peers::Peers;
use super::process::{Memory, PROCESS, Process};
use super::queue::Queue;
use super::requests::Requests;
use super::{OFF, ON, READS_CPU, Recorder, STATE, UNKNOWN, finish, signals, threads};
use crate::entry::Caller;
use crate::path::python::Python;
use crate::path::{DEEPEST, DEPTH, Paths};
use crate::token::Token;
use crate::{clock, floating, mpi};

/// Variable with the folder for traces; if not set, nothing is recorded.
const DIRECTORY: &str = "HAYASE_CAPTURE_DIR";

/// `MPI_THREAD_MULTIPLE`.
const MULTIPLE_LEVEL: c_int = 3;
/// Resolution of times in a trace \[ns\]. Clocks jitter by more; each bit less saves three bits an event.
const TICK: u32 = 16;

/// Returns true if a recording was requested.
pub fn wants_recording() -> bool {
    STATE.load(Ordering::Relaxed) != OFF && std::env::var_os(DIRECTORY).is_some_and(|name| !name.is_empty())
}

/// Starts recording at the first call if nothing has begun yet. Returns true if calls are recorded from here
/// on.
///
/// This covers programs whose initialisation bypassed this library.
#[cold]
pub fn start_late() -> bool {
    if STATE.load(Ordering::Relaxed) != UNKNOWN {
        return false;
    }
    if !wants_recording() {
        STATE.store(OFF, Ordering::Relaxed);
        return false;
    }
    let (mut after_init, mut finalised) = (0, 0);
    // SAFETY: both may be asked at any time; there is room for the answers.
    unsafe {
        (mpi::functions().initialized)(&raw mut after_init);
        (mpi::functions().finalized)(&raw mut finalised);
    }
    if after_init == 0 || finalised != 0 {
        return false;
    }
    let now = clock::monotonic();
    self::after_init(now, Caller::default());
    STATE.load(Ordering::Relaxed) == ON
}

/// Starts recording after this thread has initialised MPI, in a call that began at `begin`.
#[cold]
pub fn after_init(begin: u64, caller: Caller) {
    if STATE.load(Ordering::Relaxed) == UNKNOWN {
        floating::apart(|| start(begin, caller));
    }
}

fn start(begin: u64, caller: Caller) {
    STATE.store(OFF, Ordering::Relaxed);
    if std::env::var_os(DIRECTORY).is_none_or(|name| name.is_empty()) {
        return;
    }
    match begin_recording(begin) {
        Ok(process) => {
            // SAFETY: nothing is recorded yet, so nobody uses it.
            let process = unsafe { (*PROCESS.0.get()).insert(process) };
            let mut level = 0;
            // SAFETY: MPI is initialised; there is room for the answer.
            unsafe { (process.mpi.query_thread)(&raw mut level) };
            threads::begin(level >= MULTIPLE_LEVEL);
            READS_CPU.store(process.reads_cpu, Ordering::Relaxed);
            let mut recorder = match process.first_call(begin, caller) {
                Ok(recorder) => recorder,
                Err(error) => return process.give_up(&error),
            };
            signals::install();
            at_exit();
            process.start_memory(caller.back);
            // Without it, ranks that are killed may lose their last calls, but can be recorded.
            process.peers = Peers::join(&process.directory, process.rank, process.ranks).ok();
            let (rank, ranks) = (process.rank, process.ranks);
            if wants_token() {
                match Token::join(&recorder.directory, rank, ranks) {
                    Ok(token) => process.token = Some(token),
                    Err(error) => eprintln!("hayase: rank {rank}: ranks cannot run one at a time: {error}"),
                }
            }
            process.scheduling.begin(threads::this_thread());
            process.note_scheduling("start");
            process.spent.begin(process.empty_gap);
            recorder.outside.begin();
            recorder.cpu = recorder.outside.leave();
            if caller.back != 0 {
                let end = recorder.last_end;
                recorder.measure_polls(caller);
                recorder.last_end = end;
            }
            process.threads.push(Box::into_raw(Box::new(recorder)));
            STATE.store(ON, Ordering::Release);
        }
        Err(what) => {
            if !what.is_empty() {
                eprintln!("hayase: nothing is recorded: {what}");
            }
        }
    }
}

/// Returns true if ranks are to run one at a time.
fn wants_token() -> bool {
    std::env::var_os("HAYASE_CAPTURE_TOKEN").is_some_and(|value| value == "1")
}

fn begin_recording(begin: u64) -> Result<Process, String> {
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap_or_default());
    let library = mpi::library().ok_or("")?;
    let (abi, functions) = (&library.abi, mpi::functions());
    let mut parent = [0_u64; 1];
    let parent = parent.as_mut_ptr().cast::<c_void>();
    // SAFETY: MPI is initialised; there is room for a handle.
    let has_parent = unsafe {
        (functions.comm_get_parent)(parent) == hayase_mpi::SUCCESS && abi.read_handle(parent, 0) != abi.comm_null
    };
    if has_parent {
        return Err("this process was started by the program (MPI_Comm_spawn), and is not of its world".into());
    }
    let (mut rank, mut ranks): (c_int, c_int) = (0, 0);
    // SAFETY: MPI is initialised; there is room for the answers.
    unsafe {
        (functions.comm_rank)(abi.comm_world, &raw mut rank);
        (functions.comm_size)(abi.comm_world, &raw mut ranks);
    }
    let (rank, ranks) = (rank as u32, ranks as u32);

    let token = wants_token();
    let clock = std::env::var_os("HAYASE_CAPTURE_CLOCK").unwrap_or_default();
    let reads_cpu = token || clock != "wall";
    let counts_blocked = clock != "cpu";
    let empty_gap = clock::empty_gap();
    let header = Header {
        // With the token, real time covers all ranks, one after another.
        clock: if token { Clock::Cpu } else { Clock::Wall },
        tick: TICK,
        start: begin,
        empty_gap: if reads_cpu { empty_gap } else { 0 },
        ..Header::new(rank, ranks)
    }
    .note("program", &program())
    .note("host", &host())
    .note("mpi", &library.version)
    .note(
        "clock-source",
        match (reads_cpu, counts_blocked) {
            (false, _) => "CLOCK_MONOTONIC",
            (true, false) => "CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID",
            (true, true) => "CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID, schedstat",
        },
    )
    .note("recorder", concat!("hayase-recorder ", env!("CARGO_PKG_VERSION")));
    let header = if token { header.note("token", "1") } else { header };

    let path = directory.join(format!("rank-{rank:05}.hyt"));
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = File::create(&path).map_err(failed)?;
    let writer = Writer::new(file, &header).map_err(failed)?;
    let stop_events = limit("HAYASE_CAPTURE_STOP_EVENTS", 1, "a number of calls", rank);
    let stop_after = limit("HAYASE_CAPTURE_STOP_SECONDS", 1_000_000_000, "a number of seconds", rank);
    Ok(Process {
        abi,
        mpi: functions,
        requests: Requests::default(),
        communicators: Communicators::new(abi, functions, rank, ranks),
        token: None,
        duplicates: Vec::new(),
        messages: rustc_hash::FxHashMap::default(),
        rank,
        ranks,
        queue: Queue::default(),
        paths: paths(rank),
        memory: None,
        polls: vec![None],
        regions: rustc_hash::FxHashMap::default(),
        peers: None,
        directory,
        start: begin,
        reads_cpu,
        counts_blocked,
        spent: super::outside::OutsideTime::default(),
        empty_gap,
        counted: 0,
        opaque: Vec::new(),
        scheduling: super::scheduling::Scheduling::default(),
        stop_events,
        stop_after,
        threads: Vec::new(),
        free: std::collections::BTreeSet::new(),
        writer: Some(writer),
    })
}

impl Process {
    /// Writes the call that initialised MPI; returns the recorder of its thread.
    fn first_call(&mut self, begin: u64, caller: Caller) -> std::io::Result<Recorder> {
        let mut recorder = Recorder::new(self, 0);
        let end = if wants_token() { 0 } else { clock::monotonic() - begin };
        (recorder.event.end, recorder.last_end, recorder.back) = (end, end, caller.back);
        if caller.back != 0 {
            recorder.event.site = self.paths.site(caller, recorder.stack, self.writer.as_mut());
        }
        // The first event counts in the queue's numbers.
        self.queue.skip(1);
        self.writer.as_mut().map_or(Ok(()), |writer| writer.event(&recorder.event))?;
        Ok(recorder)
    }
}

/// Returns empty call paths: of the requested depth, and into the functions of Python if they lead there.
fn paths(rank: u32) -> Paths {
    let depth = std::env::var("HAYASE_CAPTURE_DEPTH").ok().and_then(|depth| depth.parse().ok()).unwrap_or(DEPTH);
    let mut paths = Paths::new(depth.min(DEEPEST));
    match Python::of_process() {
        Ok(Some(python)) if depth > 0 => paths.follow(python),
        Err(version) if depth > 0 && rank == 0 => {
            eprintln!("hayase: Python {version} is not known: lines of Python are not recorded (3.8 to 3.13 are)");
        }
        _ => {}
    }
    paths
}

/// Returns the limit that a variable sets, times a unit; without one, no limit. Reports values that cannot be
/// read.
fn limit(name: &str, unit: u64, what: &str, rank: u32) -> u64 {
    let Some(text) = std::env::var_os(name).filter(|text| !text.is_empty()) else { return u64::MAX };
    text.to_str().and_then(|text| decimal(text.trim(), unit)).unwrap_or_else(|| {
        if rank == 0 {
            eprintln!("hayase: {name} is {text:?}, not {what}: the recording is not limited");
        }
        u64::MAX
    })
}

/// Converts a decimal number (`30`, `0.25`) times a unit that is a power of ten, rounded down. A number that
/// is too large gives the largest value. Uses integers only: see [`floating`].
fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) {
        return None;
    }
    let whole = whole.bytes().fold(0_u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    let (mut sum, mut place) = (whole.saturating_mul(unit), unit);
    for digit in part.bytes() {
        place /= 10;
        sum = sum.saturating_add(u64::from(digit - b'0') * place);
    }
    Some(sum)
}

impl Process {
    /// Tells the runtime of an instrumented program the place for its data, if there is a runtime and its
    /// data is wanted.
    fn start_memory(&mut self, site: usize) {
        if std::env::var_os("HAYASE_CAPTURE_MEMORY").is_none_or(|value| value != "1") {
            return;
        }
        let symbols =
            ["hayase_memory_start", "hayase_memory_call", "hayase_memory_back", "hayase_memory_stop"].map(mpi::symbol);
        if symbols.iter().any(|symbol| symbol.is_null()) {
            if self.rank == 0 {
                let why =
                    if symbols[0].is_null() { "was not compiled for it" } else { "was compiled by an older hayase cc" };
                eprintln!("hayase: memory accesses are not recorded: the program {why}");
            }
            return;
        }
        let [start, call, back, stop] = symbols;
        let path = self.directory.join(format!("rank-{:05}.mem", self.rank));
        let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return };
        // SAFETY: the functions have these signatures by agreement with the runtime.
        unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char)>(start)(path.as_ptr());
            let memory = Memory {
                call: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(u64, u64)>(call),
                back: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(u64)>(back),
                stop: std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(stop),
            };
            (memory.back)(site as u64);
            self.memory = Some(memory);
        }
    }
}

/// Finishes the recording when the program exits; a child of the program records nothing.
fn at_exit() {
    extern "C" fn exit() {
        at_process_end();
    }
    extern "C" fn forked() {
        STATE.store(OFF, Ordering::Relaxed);
    }
    // SAFETY: both functions stay.
    unsafe {
        libc::atexit(exit);
        libc::pthread_atfork(None, None, Some(forked));
    }
}

/// Finishes the recording when the process ends.
pub fn at_process_end() {
    if STATE.load(Ordering::Relaxed) == ON && threads::may_finish() && !threads::holds() {
        // SAFETY: the recorder's data is used only under the lock, which ending it takes.
        if let Some(process) = unsafe { (*PROCESS.0.get()).as_mut() } {
            finish(process, "exit without MPI_Finalize");
        }
    }
}

fn program() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    words.collect::<Vec<_>>().join(" ")
}

fn host() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: the room is as large as is said.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&name[..length]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_without_floating_point() {
        for (text, unit, value) in [
            ("30", 1, Some(30)),
            ("18446744073709551615", 1, Some(u64::MAX)),
            ("99999999999999999999", 1, Some(u64::MAX)),
            ("0.25", 1_000_000_000, Some(250_000_000)),
            (".0000000019", 1_000_000_000, Some(1)),
            ("1000000000000", 1_000_000_000, Some(u64::MAX)),
            ("2.", 1_000, Some(2_000)),
            ("1e6", 1, None),
            ("-1", 1, None),
            ("nan", 1, None),
            ("", 1, None),
            (".", 1, None),
        ] {
            assert_eq!(decimal(text, unit), value, "{text:?}");
        }
    }
}
