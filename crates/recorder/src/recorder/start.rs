//! The recorder begins: when MPI is initialised, or as soon as a program calls that was initialised unseen.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use hayase_mpi::Statuses;
use hayase_trace::{Call, Clock, Event, Header, Writer};

use super::communicators::Communicators;
use super::peers::Peers;
use super::queue::Queue;
use super::requests::Requests;
use super::{BUSY, MULTIPLE, Memory, OFF, ON, PLACE, Place, RECORDER, Recorder, STATE, UNKNOWN, finish, signals};
use crate::entry::Caller;
use crate::path::python::Python;
use crate::path::{DEEPEST, DEPTH, Paths, Stack};
use crate::token::Token;
use crate::{clock, floating, mpi};

/// Where traces go; not set: nothing is recorded.
const DIRECTORY: &str = "HAYASE_CAPTURE_DIR";

/// `MPI_THREAD_MULTIPLE`.
const MULTIPLE_LEVEL: c_int = 3;
/// Resolution of times in a trace \[ns\]. Clocks jitter by more; each bit less saves three bits an event.
const TICK: u32 = 16;

/// Whether anybody asked for a recording.
pub fn wants_recording() -> bool {
    STATE.load(Ordering::Relaxed) != OFF && std::env::var_os(DIRECTORY).is_some_and(|name| !name.is_empty())
}

/// A call comes in and nothing has begun: whether calls are recorded from here on.
///
/// That is how programs are met whose initialisation went past this library.
#[cold]
pub fn lazily() -> bool {
    if STATE.load(Ordering::Relaxed) != UNKNOWN {
        return false;
    }
    if !wants_recording() {
        STATE.store(OFF, Ordering::Relaxed);
        return false;
    }
    let (mut initialised, mut finalised) = (0, 0);
    // SAFETY: both may be asked at any time; there is room for the answers.
    unsafe {
        (mpi::functions().initialized)(&raw mut initialised);
        (mpi::functions().finalized)(&raw mut finalised);
    }
    if initialised == 0 || finalised != 0 {
        return false;
    }
    let now = clock::monotonic();
    self::initialised(now, Caller::default());
    STATE.load(Ordering::Relaxed) == ON
}

/// MPI has been initialised by this thread, in a call from `begin` on; recording starts.
#[cold]
pub fn initialised(begin: u64, caller: Caller) {
    if STATE.load(Ordering::Relaxed) == UNKNOWN {
        floating::apart(|| start(begin, caller));
    }
}

fn start(begin: u64, caller: Caller) {
    STATE.store(OFF, Ordering::Relaxed);
    if std::env::var_os(DIRECTORY).is_none_or(|name| name.is_empty()) {
        return;
    }
    match begin_recording(begin, caller) {
        Ok(recorder) => {
            // SAFETY: nothing is recorded yet, so nobody uses it.
            let recorder = unsafe { (*RECORDER.0.get()).insert(recorder) };
            signals::install();
            at_exit();
            recorder.start_memory(caller.back);
            // Without it ranks that are killed may lose their last calls: no reason not to record.
            recorder.peers = Peers::join(&recorder.directory, recorder.rank, recorder.ranks).ok();
            PLACE.set(Place::Program);
            STATE.store(ON, Ordering::Relaxed);
            let (rank, ranks) = (recorder.rank, recorder.ranks);
            if std::env::var_os("HAYASE_CAPTURE_TOKEN").is_some_and(|value| value == "1") {
                match Token::join(&recorder.directory, rank, ranks) {
                    Ok(token) => recorder.token = Some(token),
                    Err(error) => eprintln!("hayase: rank {rank}: ranks cannot run one at a time: {error}"),
                }
            }
            recorder.scheduling.begin(recorder.thread);
            recorder.note_scheduling("start");
            recorder.outside.begin();
            recorder.cpu = recorder.outside.returns();
            recorder.outside.own = (recorder.empty_gap / 2, recorder.empty_gap / 8);
            if caller.back != 0 {
                let end = recorder.last_end;
                recorder.measure_polls(caller);
                recorder.last_end = end;
            }
        }
        Err(what) => {
            if !what.is_empty() {
                eprintln!("hayase: nothing is recorded: {what}");
            }
        }
    }
}

fn begin_recording(begin: u64, caller: Caller) -> Result<Recorder, String> {
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

    let mut level = 0;
    // SAFETY: MPI is initialised; there is room for the answer.
    unsafe { (functions.query_thread)(&raw mut level) };
    MULTIPLE.store(level >= MULTIPLE_LEVEL, Ordering::Relaxed);

    let token = std::env::var_os("HAYASE_CAPTURE_TOKEN").is_some_and(|value| value == "1");
    let clock = std::env::var_os("HAYASE_CAPTURE_CLOCK").unwrap_or_default();
    let reads_cpu = token || clock != "wall";
    let counts_blocked = clock != "cpu";
    let empty_gap = clock::empty_gap();
    let header = Header {
        // With the token, real time is that of all ranks one after the other.
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
    let mut writer = Writer::new(file, &header).map_err(failed)?;
    let end = clock::monotonic() - begin;
    let stop_events = limit("HAYASE_CAPTURE_STOP_EVENTS", 1, "a number of calls", rank);
    let stop_after = limit("HAYASE_CAPTURE_STOP_SECONDS", 1_000_000_000, "a number of seconds", rank);
    let mut recorder = Recorder {
        abi,
        mpi: functions,
        event: Event::new(Call::Init, 0, end),
        requests: Requests::default(),
        communicators: Communicators::new(abi, functions, rank, ranks),
        token: None,
        statuses: Statuses::default(),
        handles: Vec::new(),
        duplicates: Vec::new(),
        messages: rustc_hash::FxHashMap::default(),
        rank,
        ranks,
        queue: Queue::default(),
        paths: paths(rank),
        stack: Stack::of_this_thread(),
        back: caller.back,
        memory: None,
        poll: None,
        marks: super::marks::Marks::default(),
        peers: None,
        directory,
        start: begin,
        reads_cpu,
        counts_blocked,
        outside: super::outside::Outside::default(),
        asked: Cell::default(),
        cpu: 0,
        thread: PLACE.with(|place| std::ptr::from_ref(place) as usize),
        empty_gap,
        counted: 0,
        last_end: end,
        opaque: Vec::new(),
        scheduling: super::scheduling::Scheduling::default(),
        stop_events,
        stop_after,
        lost: 0,
        writer: None,
    };
    if token {
        (recorder.event.end, recorder.last_end) = (0, 0);
    }
    if caller.back != 0 {
        recorder.event.site = recorder.paths.site(caller, recorder.stack, Some(&mut writer));
    }
    writer.event(&recorder.event).map_err(failed)?;
    // The first event is in the queue's count.
    recorder.queue.skip(1);
    recorder.writer = Some(writer);
    Ok(recorder)
}

/// How call paths are kept: to the depth that is asked for, into the functions of Python where they lead there.
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

/// The limit that a variable sets, times a unit; none if it sets none, and what cannot be read is said.
fn limit(name: &str, unit: u64, what: &str, rank: u32) -> u64 {
    let Some(text) = std::env::var_os(name).filter(|text| !text.is_empty()) else { return u64::MAX };
    text.to_str().and_then(|text| decimal(text.trim(), unit)).unwrap_or_else(|| {
        if rank == 0 {
            eprintln!("hayase: {name} is {text:?}, not {what}: the recording is not limited");
        }
        u64::MAX
    })
}

/// A decimal number (`30`, `0.25`) times a unit that is a power of ten, rounded down; more than there is: as much as
/// there is. With integers alone: see [`floating`].
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

impl Recorder {
    /// Tells the runtime of an instrumented program where to write, if there is one and it is wanted.
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

/// The program ends: what is not finished is finished; a child of the program records nothing.
fn at_exit() {
    extern "C" fn exit() {
        exits();
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

/// The process ends: what is not finished is finished.
pub fn exits() {
    if STATE.load(Ordering::Relaxed) == ON && PLACE.get() != Place::Elsewhere && !BUSY.load(Ordering::Relaxed) {
        // SAFETY: this is the recorded thread, and the recorder's data is whole; in a call or not, it does not come
        // back.
        if let Some(recorder) = unsafe { super::recorder() } {
            finish(recorder, "exit without MPI_Finalize");
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
