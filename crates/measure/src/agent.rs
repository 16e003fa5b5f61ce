//! Benchmark: the program of the two processes.
//!
//! Rank 1 only executes an `Order` from rank 0 (a message of fixed length), so both always agree on the next
//! step. Times are of the monotonic clock, minus the cost of reading it. A round trip of a short message
//! takes little longer than reading the clock, so several are timed together.

use std::io::{self, Write};
use std::time::Instant;

use hayase::base::Arrange;
use hayase_mpi::{Library, NotFound};

use super::Plan;
use super::pair::{Failed, Pair};
use super::protocol::{MeasurementKind, Message, Times};
use hayase::rng::Stream;

/// Tags: orders, data, and signals that a process is ready.
const ORDER: i32 = 1;
const DATA: i32 = 2;
const READY: i32 = 3;

/// Number of words exchanged while an unfinished send may complete; after that it counts as waiting for its
/// receiver.
const WORDS: usize = 8;
/// Number of rounds over all sizes.
const ROUNDS: u32 = 8;
/// Approximate duration of round trips of a short message that are timed together \[ns\].
const BATCH_NS: f64 = 4000.0;
/// Smallest and largest number of repetitions in a round.
const REPETITIONS: (usize, usize) = (3, 40);
/// Work in a round trip: a multiple of the round trip, and a little for short ones \[ns\]. With more than
/// `LONGEST_WORK`, a round trip is likely to be interrupted.
const WORK: (f64, f64) = (3.0, 10_000.0);
const LONGEST_WORK: f64 = 1e6;

/// Order for rank 1.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Order {
    /// Receives and sends back.
    Echo,
    /// Posts a receive, reports that, waits for the message.
    Receive,
    /// Lets a message arrive, then receives it and times that; sends the times at the end.
    ReceiveLate,
    /// Answers a number of words, then receives.
    Accept,
    /// Sends its host name.
    Name,
    /// Ends.
    Stop,
}

const ORDERS: [Order; 6] = [Order::Echo, Order::Receive, Order::ReceiveLate, Order::Accept, Order::Name, Order::Stop];
/// Longest host name that is sent \[B\].
const NAME: usize = 256;

/// Reason why the benchmark ended early.
#[derive(Debug)]
enum StopReason {
    Mpi(Failed),
    /// Nobody reads the measurements.
    Unheard,
}

impl From<Failed> for StopReason {
    fn from(failed: Failed) -> Self {
        Self::Mpi(failed)
    }
}

impl From<io::Error> for StopReason {
    fn from(_: io::Error) -> Self {
        Self::Unheard
    }
}

/// Runs one of the two processes; returns true if it succeeded. The protocol reports failures.
pub fn run(libraries: &[String], plan: &Plan) -> bool {
    let library = match load(libraries) {
        Ok(library) => library,
        Err((message, help)) => return fail(message, help),
    };
    let pair = match Pair::start(&library) {
        Ok(pair) => pair,
        Err(Failed(call, code)) => {
            return fail(format!("{call} of {} failed with code {code}", library.short_version()), String::new());
        }
    };
    if pair.ranks != 2 {
        let (ranks, rank) = (pair.ranks, pair.rank);
        let ended = pair.end().is_ok();
        let started = started_by_environment();
        return rank != 0 && ended
            || fail(wrong_number(ranks, started, &library.short_version()), wrong_help(ranks, started));
    }
    let mut leader = Agent::new(pair, plan.sizes.largest);
    let result =
        if leader.pair.rank == 0 { leader.run_leader(&library.short_version(), plan) } else { leader.run_follower() };
    match result {
        Ok(()) => leader.pair.end().is_ok(),
        Err(StopReason::Mpi(Failed(call, code))) => fail(format!("{call} failed with code {code}"), String::new()),
        Err(StopReason::Unheard) => false,
    }
}

/// Returns the number of processes that the launcher started, from the variables of Open MPI, of PMI and of
/// Slurm.
fn started_by_environment() -> Option<u32> {
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"].iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

fn wrong_number(ranks: i32, started: Option<u32>, mpi: &str) -> String {
    match started {
        Some(started) if started > 1 && ranks == 1 => {
            format!("the launcher started {started} processes, but {mpi} does not see that they belong together")
        }
        _ => format!("two processes are measured, and the launcher started {ranks}"),
    }
}

fn wrong_help(ranks: i32, started: Option<u32>) -> String {
    match started {
        Some(started) if started > 1 && ranks == 1 => {
            "the launcher is of another MPI than the library; name its library with --mpi".into()
        }
        _ => "end the line with a launcher that starts two: `-- mpirun -np 2`".into(),
    }
}

fn fail(message: String, help: String) -> bool {
    // If nobody reads it, nobody can be told.
    let _ = say(&Message::Failed { message, help });
    false
}

fn say(message: &Message) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(message.to_line().as_bytes())?;
    stdout.flush()
}

/// Loads the first of the libraries that exists; libraries of the MPI whose launcher set the variables of
/// this process come first.
///
/// Only one is ever loaded: two MPIs in one process would take each other's functions.
fn load(libraries: &[String]) -> Result<Library, (String, String)> {
    let set = |name: &str| std::env::var_os(name).is_some();
    let (open_mpi, mpich) = (set("OMPI_COMM_WORLD_SIZE"), set("PMI_SIZE"));
    let is_mpich = |name: &str| name.contains("mpich") || name.ends_with("libmpi.so.12");
    let mut libraries: Vec<&String> = libraries.iter().collect();
    if open_mpi != mpich {
        libraries.arrange_by_key(|name| is_mpich(name) != mpich);
    }
    let mut reasons = Vec::new();
    for name in libraries {
        match Library::open(name) {
            Ok(library) => return Ok(library),
            Err(NotFound::Load(reason)) => reasons.push(reason),
            Err(other) => reasons.push(format!("{name}: {other}")),
        }
    }
    Err((
        format!("no MPI library can be loaded: {}", reasons.join("; ")),
        "name the library of the launcher with --mpi, `--mpi /opt/openmpi/lib/libmpi.so.40`".into(),
    ))
}

#[allow(clippy::disallowed_methods, reason = "it measures the machine, not the model")]
fn now() -> Instant {
    Instant::now()
}

fn ns(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64
}

/// Returns the cost of reading the clock: the smallest difference of two readings \[ns\].
fn clock_ns() -> f64 {
    (0..2000).map(|_| ns(now())).fold(f64::INFINITY, f64::min)
}

/// Keeps the processor busy without calling MPI; returns the time that took \[ns\].
fn work(for_ns: f64) -> f64 {
    let begin = now();
    loop {
        let spent = ns(begin);
        if spent >= for_ns {
            return spent;
        }
        std::hint::spin_loop();
    }
}

/// Measurements of one size so far.
#[derive(Clone, Copy, Debug)]
struct SizeState {
    bytes: u64,
    /// Fastest round trip \[ns\]; infinite before the first.
    round_trip: f64,
    /// Work that hides a message, fixed after the first round \[ns\]; `None` if it would be too long.
    work: Option<f64>,
}

struct Agent {
    pair: Pair,
    out: Vec<u8>,
    into: Vec<u8>,
    clock: f64,
}

impl Agent {
    fn new(pair: Pair, largest: u64) -> Self {
        let room = usize::try_from(largest).unwrap_or(0).min(i32::MAX as usize);
        // Written once, so that no page is missing later.
        Self { pair, out: vec![1; room], into: vec![2; room], clock: clock_ns() }
    }

    fn order(&self, order: Order, bytes: u64, count: usize) -> Result<(), Failed> {
        let mut message = [0_u8; 24];
        let which = ORDERS.iter().position(|&known| known == order).unwrap_or(ORDERS.len()) as u64;
        for (part, value) in message.chunks_exact_mut(8).zip([which, bytes, count as u64]) {
            part.copy_from_slice(&value.to_le_bytes());
        }
        self.pair.send(&message, ORDER)
    }

    /// Runs rank 1: executes orders of rank 0 until it says stop.
    fn run_follower(&mut self) -> Result<(), StopReason> {
        loop {
            let mut message = [0_u8; 24];
            self.pair.receive(&mut message, ORDER)?;
            let part = |i: usize| {
                let mut bytes = [0_u8; 8];
                bytes.copy_from_slice(&message[8 * i..8 * i + 8]);
                u64::from_le_bytes(bytes) as usize
            };
            let (bytes, count) = (part(1), part(2));
            match ORDERS.get(part(0)) {
                Some(Order::Echo) => {
                    for _ in 0..count {
                        self.pair.receive(&mut self.into[..bytes], DATA)?;
                        self.pair.send(&self.out[..bytes], DATA)?;
                    }
                }
                Some(Order::Receive) => {
                    for _ in 0..count {
                        let started = self.pair.start_receive(&mut self.into[..bytes], DATA)?;
                        self.pair.send(&[], READY)?;
                        self.pair.wait(started)?;
                    }
                }
                Some(Order::ReceiveLate) => {
                    let mut times = Vec::new();
                    for _ in 0..count {
                        self.pair.receive(&mut [], READY)?;
                        let begin = now();
                        self.pair.receive(&mut self.into[..bytes], DATA)?;
                        times.extend((ns(begin) - self.clock).max(0.0).to_le_bytes());
                    }
                    self.pair.send(&times, READY)?;
                }
                Some(Order::Accept) => {
                    for _ in 0..count {
                        self.pair.receive(&mut [], READY)?;
                        self.pair.send(&[], READY)?;
                    }
                    self.pair.receive(&mut self.into[..bytes], DATA)?;
                }
                Some(Order::Name) => {
                    let mut name = self.pair.host().into_bytes();
                    name.resize(NAME, 0);
                    self.pair.send(&name, READY)?;
                }
                Some(Order::Stop) | None => return Ok(()),
            }
        }
    }

    /// Runs rank 0.
    fn run_leader(&mut self, mpi: &str, plan: &Plan) -> Result<(), StopReason> {
        let begin = now();
        self.order(Order::Name, 0, 0)?;
        let mut name = vec![0; NAME];
        self.pair.receive(&mut name, READY)?;
        let other = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        let hosts = vec![self.pair.host(), other];
        say(&Message::Pair { mpi: mpi.into(), hosts, processor: processor(), clock_ns: self.clock })?;

        // Connections are made and buffers allocated before anything counts.
        for bytes in [0, 1, plan.sizes.largest] {
            self.round_trips(bytes, 0.0, 3, 1)?;
        }
        let limit = self.eager_limit(plan.sizes.largest)?;
        say(&Message::Eager { limit })?;
        self.measure(&plan.sizes.all(limit), plan, begin)?;
        self.order(Order::Stop, 0, 0)?;
        Ok(say(&Message::End)?)
    }

    /// Returns S: the largest size up to `largest` that needs no receiver.
    fn eager_limit(&mut self, largest: u64) -> Result<Option<u64>, Failed> {
        if self.completes_unreceived(largest)? {
            return Ok(None);
        }
        let (mut alone, mut waits) = (0, largest);
        while waits - alone > 1 {
            let middle = alone + (waits - alone) / 2;
            if self.completes_unreceived(middle)? {
                alone = middle;
            } else {
                waits = middle;
            }
        }
        Ok(Some(alone))
    }

    /// Returns true if a send of this size completes although nobody receives it.
    ///
    /// No clock is used, and the load of the machine does not matter: words go to the other process and back
    /// after the message. When one has come back, that process has been inside MPI since the message was
    /// sent. So it has taken the message in (some libraries complete an eager send only then), or has seen
    /// the request to send.
    fn completes_unreceived(&mut self, bytes: u64) -> Result<bool, Failed> {
        self.order(Order::Accept, bytes, WORDS)?;
        let mut send = self.pair.start_send(&self.out[..bytes as usize], DATA)?;
        let mut done = false;
        for word in 0..WORDS {
            // Not after the last word, which lets the other process post its receive.
            done = done || word > 0 && self.pair.is_done(&mut send)?;
            self.pair.send(&[], READY)?;
            self.pair.receive(&mut [], READY)?;
        }
        if !done {
            self.pair.wait(send)?;
        }
        Ok(done)
    }

    /// Measures all sizes and kinds several times, in another order each time, until the time is up.
    fn measure(&mut self, sizes: &[u64], plan: &Plan, begin: Instant) -> Result<(), StopReason> {
        let mut known: Vec<SizeState> =
            sizes.iter().map(|&bytes| SizeState { bytes, round_trip: f64::INFINITY, work: None }).collect();
        let mut order = Stream::new(1, "measure order");
        // Four measurements of each size in each round.
        let slot = plan.seconds * 1e9 / f64::from(ROUNDS) / (4 * known.len()) as f64;
        for round in 0..ROUNDS {
            order.shuffle(&mut known);
            for (i, size) in known.iter_mut().enumerate() {
                self.measure_size(size, round > 0, slot)?;
                let part = (i + 1) as f64 / sizes.len() as f64;
                say(&Message::Done((f64::from(round) + part) / f64::from(ROUNDS)))?;
            }
            for size in known.iter_mut().filter(|_| round == 0) {
                let work = (WORK.0 * size.round_trip + WORK.1).ceil();
                size.work = (work <= LONGEST_WORK).then_some(work);
            }
            // On a busy machine everything takes longer; two rounds are the minimum.
            if round > 0 && begin.elapsed().as_secs_f64() > 2.0 * plan.seconds {
                break;
            }
        }
        Ok(())
    }

    fn measure_size(&mut self, size: &mut SizeState, with_work: bool, slot: f64) -> Result<(), StopReason> {
        let bytes = size.bytes;
        let expected = if size.round_trip.is_finite() { size.round_trip } else { slot / 4.0 };
        let together = (BATCH_NS / expected).ceil().clamp(1.0, 16.0) as usize;
        let fit = |each: f64| ((slot / each) as usize).clamp(REPETITIONS.0, REPETITIONS.1);
        let ns = self.round_trips(bytes, 0.0, fit(expected * together as f64), together)?;
        size.round_trip = ns.iter().copied().fold(size.round_trip, f64::min);
        say(&Message::Times(Times { kind: MeasurementKind::RoundTrip, bytes, work_ns: 0.0, ns }))?;
        if let Some(work_ns) = size.work.filter(|_| with_work) {
            let ns = self.round_trips(bytes, work_ns, fit(work_ns + expected), 1)?;
            say(&Message::Times(Times { kind: MeasurementKind::RoundTrip, bytes, work_ns, ns }))?;
        }
        let repetitions = fit(2.0 * expected);
        let ns = self.sends(bytes, repetitions)?;
        say(&Message::Times(Times { kind: MeasurementKind::Send, bytes, work_ns: 0.0, ns }))?;
        let ns = self.late(bytes, repetitions)?;
        Ok(say(&Message::Times(Times { kind: MeasurementKind::Late, bytes, work_ns: 0.0, ns }))?)
    }

    /// Measures round trips with work in them; returns their times \[ns\], each the mean of `together`.
    fn round_trips(
        &mut self,
        bytes: u64,
        work_ns: f64,
        repetitions: usize,
        together: usize,
    ) -> Result<Vec<f64>, Failed> {
        self.order(Order::Echo, bytes, repetitions * together)?;
        let (out, into) = (&self.out[..bytes as usize], &mut self.into[..bytes as usize]);
        let mut times = Vec::with_capacity(repetitions);
        for _ in 0..repetitions {
            // Excess time of the work does not count.
            let (begin, mut too_long) = (now(), 0.0);
            for _ in 0..together {
                self.pair.send(out, DATA)?;
                if work_ns > 0.0 {
                    too_long += work(work_ns) - work_ns;
                }
                self.pair.receive(into, DATA)?;
            }
            times.push(((ns(begin) - self.clock - too_long) / together as f64).max(1.0));
        }
        Ok(times)
    }

    fn sends(&mut self, bytes: u64, repetitions: usize) -> Result<Vec<f64>, Failed> {
        self.order(Order::Receive, bytes, repetitions)?;
        let mut times = Vec::with_capacity(repetitions);
        for _ in 0..repetitions {
            self.pair.receive(&mut [], READY)?;
            let begin = now();
            self.pair.send(&self.out[..bytes as usize], DATA)?;
            times.push((ns(begin) - self.clock).max(1.0));
        }
        Ok(times)
    }

    fn late(&mut self, bytes: u64, repetitions: usize) -> Result<Vec<f64>, Failed> {
        self.order(Order::ReceiveLate, bytes, repetitions)?;
        for _ in 0..repetitions {
            let send = self.pair.start_send(&self.out[..bytes as usize], DATA)?;
            self.pair.send(&[], READY)?;
            self.pair.wait(send)?;
        }
        let mut times = vec![0; 8 * repetitions];
        self.pair.receive(&mut times, READY)?;
        let time = |bytes: &[u8]| {
            let mut value = [0; 8];
            value.copy_from_slice(bytes);
            f64::from_le_bytes(value).max(1.0)
        };
        Ok(times.chunks_exact(8).map(time).collect())
    }
}

/// Returns the name of the processor, as Linux gives it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
