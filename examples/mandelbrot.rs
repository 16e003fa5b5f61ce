//! The Mandelbrot tasks in reality: executes and times any of them, and runs all of them with a master and
//! worker threads.
//!
//! ```text
//! cargo run --release --example mandelbrot -- tasks --stride 32 > executed.csv       32 x 32 tasks, timed
//! cargo run --release --example mandelbrot -- tasks --points next.csv >> ...         those that a plan proposed
//! cargo run --release --example mandelbrot -- ping                                   cost of a message here
//! cargo run --release --example mandelbrot -- run --workers 2 --granularity 64       all of them; the measured time
//! ```
//! A task is one point of a 1024 x 1024 raster (`--side`), iterated up to 4000 times (`--iterations`). A task
//! takes less than a clock can resolve, so each is repeated until 20 us (`--batch`) have passed. Its time is
//! the mean over three such batches, since the whole run includes slow moments, too.
//!
//! The master is that of the predictions: every worker asks at once, gets a message of tasks, computes them
//! and sends one number back for each. Messages go through channels between threads.

#![expect(clippy::disallowed_methods, reason = "it measures real programs")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use hayase::farm::generate::mandelbrot_iterations;

/// Number of batches whose mean is the time of a task.
const BATCHES: u32 = 3;

struct Options {
    side: u64,
    iterations: u64,
    stride: u64,
    points: Option<String>,
    workers: usize,
    granularity: u64,
    header: bool,
    /// Shortest duration of a batch of repetitions of one task.
    batch: Duration,
}

fn main() {
    let mut words = std::env::args().skip(1);
    let verb = words.next().unwrap_or_default();
    let mut options = Options {
        side: 1024,
        iterations: 4000,
        stride: 32,
        points: None,
        workers: 1,
        granularity: 64,
        header: true,
        batch: Duration::from_micros(20),
    };
    while let Some(word) = words.next() {
        if word == "--no-header" {
            options.header = false;
            continue;
        }
        let Some(value) = words.next() else { fail(&format!("{word} needs a value")) };
        let number = || value.parse::<u64>().unwrap_or_else(|_| fail(&format!("{word}: {value} is no number")));
        match word.as_str() {
            "--side" => options.side = number().max(1),
            "--iterations" => options.iterations = number().max(1),
            "--stride" => options.stride = number().max(1),
            "--workers" => options.workers = number().max(1) as usize,
            "--granularity" => options.granularity = number().max(1),
            "--batch" => options.batch = Duration::from_micros(number().max(1)),
            "--points" => options.points = Some(value),
            _ => fail(&format!("there is no option {word}")),
        }
    }
    match verb.as_str() {
        "tasks" => tasks(&options),
        "ping" => ping(),
        "run" => run(&options),
        _ => fail("say tasks, ping or run"),
    }
}

fn fail(message: &str) -> ! {
    eprintln!("mandelbrot: {message}");
    std::process::exit(2)
}

/// Returns the points to execute: every `stride`-th from 1 on and the last, or those of a file `i1,i2`.
fn points(options: &Options) -> Vec<(u64, u64)> {
    if let Some(path) = &options.points {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| fail(&format!("{path}: {error}")));
        let point = |line: &str| -> Option<(u64, u64)> {
            let mut cells = line.split(',').map(|cell| cell.trim().parse().ok());
            Some((cells.next()??, cells.next()??))
        };
        let lines = text.lines().skip(1).filter(|line| !line.trim().is_empty());
        return lines.map(|line| point(line).unwrap_or_else(|| fail(&format!("{path}: {line}")))).collect();
    }
    // As many points as the stride gives, spread evenly from the first to the last.
    let count = (options.side / options.stride).max(2).min(options.side);
    let axis: Vec<u64> = (0..count).map(|k| 1 + k * (options.side - 1) / (count - 1).max(1)).collect();
    axis.iter().flat_map(|&i| axis.iter().map(move |&j| (i, j))).collect()
}

/// Executes tasks and prints their times.
fn tasks(options: &Options) {
    let mut text = String::new();
    if options.header {
        text.push_str("i1,i2,time\n");
    }
    for (i, j) in points(options) {
        let _ = writeln!(text, "{i},{j},{:e}", time_of(i, j, options));
    }
    print!("{text}");
}

/// Measures the time of one task \[s\].
fn time_of(i: u64, j: u64, options: &Options) -> f64 {
    let once = || black_box(mandelbrot_iterations(black_box(i), black_box(j), options.side, options.iterations));
    let batch = |count: u32| {
        let start = Instant::now();
        for _ in 0..count {
            once();
        }
        start.elapsed()
    };
    let mut count = 1;
    while batch(count) < options.batch && count < 1 << 20 {
        count *= 2;
    }
    let all: Duration = (0..BATCHES).map(|_| batch(count)).sum();
    all.as_secs_f64() / f64::from(count * BATCHES)
}

/// Tasks sent to a worker: the numbers of the first task and of the one after the last.
type Range = (u64, u64);

/// Measures the cost of a message between two threads.
///
/// A message goes back and forth. The receiver computes for a while first, as a worker does. The rest of a
/// round trip is `2 (o + L + o)`. The waiting thread sleeps meanwhile, and waking it is most of L.
fn ping() {
    const ROUNDS: u32 = 5_000;
    const COMPUTING: Duration = Duration::from_micros(100);
    let (there, from_here) = channel::<Range>();
    let (back, from_there) = channel::<Duration>();
    let echo = std::thread::spawn(move || {
        while from_here.recv().is_ok() {
            let start = Instant::now();
            while start.elapsed() < COMPUTING {
                std::hint::spin_loop();
            }
            if back.send(start.elapsed()).is_err() {
                break;
            }
        }
    });
    let mut trips: Vec<f64> = Vec::new();
    for round in 0..ROUNDS {
        let start = Instant::now();
        let _ = there.send((0, u64::from(round)));
        let computing = from_there.recv().unwrap_or_default();
        trips.push(start.elapsed().saturating_sub(computing).as_secs_f64());
    }
    // The time of sending alone: the receiver computes, so it is not woken.
    let start = Instant::now();
    for round in 0..100 {
        let _ = there.send((0, round));
    }
    let send = start.elapsed().as_secs_f64() / 100.0;
    drop(there);
    let _ = echo.join();
    trips.sort_by(f64::total_cmp);
    let trip = trips[trips.len() / 2];
    println!("round trip {:.3} us (median), send {:.3} us", trip * 1e6, send * 1e6);
    println!("--overhead {:.3}us --latency {:.3}us", send * 1e6, (trip / 2.0 - 2.0 * send).max(0.0) * 1e6);
}

/// Runs all tasks and prints the time of the run.
fn run(options: &Options) {
    let count = options.side * options.side;
    let (side, iterations) = (options.side, options.iterations);
    let (to_master, at_master): (Sender<(usize, u64, Vec<u32>)>, _) = channel();
    let mut workers = Vec::new();
    let mut queues: Vec<Option<Sender<Range>>> = Vec::new();
    for worker in 0..options.workers {
        let (to_worker, at_worker): (_, Receiver<Range>) = channel();
        let to_master = to_master.clone();
        queues.push(Some(to_worker));
        workers.push(std::thread::spawn(move || {
            let _ = to_master.send((worker, 0, Vec::new()));
            while let Ok((first, last)) = at_worker.recv() {
                let point =
                    |task: u64| mandelbrot_iterations(task / side + 1, task % side + 1, side, iterations) as u32;
                let results = (first..last).map(point).collect();
                if to_master.send((worker, first, results)).is_err() {
                    break;
                }
            }
        }));
    }
    drop(to_master);
    let start = Instant::now();
    let (mut next, mut sum, mut messages) = (0, 0u64, 0u64);
    while let Ok((worker, _, results)) = at_master.recv() {
        sum += results.iter().map(|&count| u64::from(count)).sum::<u64>();
        if next < count {
            let last = (next + options.granularity).min(count);
            if let Some(queue) = &queues[worker] {
                let _ = queue.send((next, last));
            }
            next = last;
            messages += 1;
        } else {
            queues[worker] = None;
        }
    }
    let elapsed = start.elapsed().as_secs_f64();
    for worker in workers {
        let _ = worker.join();
    }
    println!("{elapsed:.4} s, {} workers, {messages} messages, {sum} iterations", options.workers);
}
