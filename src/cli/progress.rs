//! How far something is: a bar on a terminal, a line now and then elsewhere, or nothing.

#![expect(clippy::disallowed_methods, reason = "progress is about the wall clock, and shows it to people only")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{complain, files};
use crate::diagnostic::{OnRead, Sources};
use crate::engine::{Progress, Watch};
use crate::output::table::grouped;
use crate::sweep::SweepProgress;
use crate::units::Bytes;

/// How progress is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Show {
    /// A bar that is drawn again and again.
    Bar,
    /// A line every few seconds.
    Lines,
    /// Nothing.
    Nothing,
}

/// What is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often there is a line.
const LINE_EVERY: Duration = Duration::from_secs(3);
/// Smaller files are read before anybody wonders \[B\].
const LARGE: u64 = 32 << 20;

/// Shows how much of something is done.
struct Meter {
    show: Show,
    style: &'static str,
    unit: &'static str,
    state: Mutex<State>,
}

struct State {
    started: Instant,
    told: Instant,
    bar: Option<ProgressBar>,
}

impl Meter {
    fn new(show: Show, style: &'static str, unit: &'static str) -> Self {
        let now = Instant::now();
        Self { show, style, unit, state: Mutex::new(State { started: now, told: now, bar: None }) }
    }

    /// So much is done of so much.
    fn tell(&self, done: u64, total: u64, message: impl FnOnce() -> String) {
        self.show(done, total, message, |message, elapsed| {
            let seconds = elapsed.as_secs_f64();
            let percent = if total > 0 { 100.0 * done as f64 / total as f64 } else { 0.0 };
            let left = if done > 0 { seconds * total.saturating_sub(done) as f64 / done as f64 } else { f64::NAN };
            let left = if left.is_finite() { format!(", {left:.0} s left") } else { String::new() };
            let message = if message.is_empty() { message } else { format!(", {message}") };
            format!(
                "{percent:.0} %: {} of {} {}, {} per second{message}{left}",
                grouped(done),
                grouped(total),
                self.unit,
                grouped((done as f64 / seconds) as u64),
            )
        });
    }

    /// The same where a rate says nothing: lines are the message alone, with the time so far.
    fn tell_in_words(&self, done: u64, total: u64, message: impl FnOnce() -> String) {
        self.show(done, total, message, |message, elapsed| format!("{message} ({:.0} s)", elapsed.as_secs_f64()));
    }

    fn show(
        &self,
        done: u64,
        total: u64,
        message: impl FnOnce() -> String,
        line: impl FnOnce(String, Duration) -> String,
    ) {
        if self.show == Show::Nothing {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let elapsed = now - state.started;
        if elapsed < PATIENCE {
            return;
        }
        match self.show {
            Show::Bar => {
                let bar = state.bar.get_or_insert_with(|| {
                    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
                    let style =
                        ProgressStyle::with_template(self.style).unwrap_or_else(|_| ProgressStyle::default_bar());
                    bar.set_style(style.progress_chars("=> "));
                    bar.with_elapsed(elapsed)
                });
                if total > 0 {
                    bar.set_length(total);
                }
                bar.set_message(message());
                bar.set_position(done);
            }
            Show::Lines if now - state.told >= LINE_EVERY => {
                state.told = now;
                complain(line(message(), elapsed));
            }
            Show::Lines | Show::Nothing => {}
        }
    }

    fn end(&self) {
        if let Some(bar) = self.state.lock().unwrap_or_else(PoisonError::into_inner).bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.end();
    }
}

/// Looks on while one scenario runs, and ends it where that is asked for.
pub struct RunMonitor<'a> {
    meter: Meter,
    stop: &'a AtomicBool,
    /// Set where going on is in vain: an output cannot be written.
    pub vain: AtomicBool,
}

impl<'a> RunMonitor<'a> {
    /// `stop` ends the run.
    pub fn new(show: Show, stop: &'a AtomicBool) -> Self {
        let style = "{wide_bar} {percent}%  {human_pos} of {human_len} messages, {per_sec}, {msg}, {eta} left";
        Self { meter: Meter::new(show, style, "messages"), stop, vain: AtomicBool::new(false) }
    }
}

impl Watch for RunMonitor<'_> {
    fn tick(&self, progress: Progress) -> bool {
        self.meter.tell(progress.delivered, progress.total, || format!("simulated {}", progress.now));
        !self.stop.load(Ordering::Relaxed) && !self.vain.load(Ordering::Relaxed)
    }
}

/// Ends a run where that is asked for, and shows nothing: for one of many.
pub struct Stop<'a>(pub &'a AtomicBool);

impl Watch for Stop<'_> {
    fn tick(&self, _: Progress) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// Looks on while many scenarios run.
pub struct RunsMonitor(Meter);

impl RunsMonitor {
    /// Nothing is done yet.
    pub fn new(show: Show) -> Self {
        let style = "{wide_bar} {percent}%  {msg}, {human_pos} of {human_len} messages, {per_sec}, {eta} left";
        Self(Meter::new(show, style, "messages"))
    }

    /// So far it is.
    pub fn tell(&self, progress: SweepProgress) {
        self.0.tell(progress.messages, progress.total_messages, || {
            format!("{} of {} runs done", progress.runs, progress.total_runs)
        });
    }
}

/// Looks on while one thing is done after another.
pub struct StepsMonitor(Meter);

impl StepsMonitor {
    /// Nothing is done yet.
    pub fn new(show: Show) -> Self {
        Self(Meter::new(show, "{wide_bar} {percent}%  run {human_pos} of {human_len}: {msg}, {eta} left", "runs"))
    }

    /// So many are done; this is next.
    pub fn tell(&self, done: u64, total: u64, next: &str) {
        self.0.tell(done, total, || next.to_owned());
    }
}

/// Looks on while cases of a validation run side by side.
pub struct CasesMonitor {
    meter: Meter,
    total: usize,
    running: Mutex<Running>,
}

/// The cases that run, by their number, with their names and how much of each is done; and how many are done.
#[derive(Default)]
struct Running {
    cases: BTreeMap<usize, (String, f64)>,
    done: usize,
}

/// What the parts of a case are counted in: bars have whole numbers.
const PARTS: f64 = 1000.0;

impl CasesMonitor {
    /// None of `total` cases has begun.
    pub fn new(show: Show, total: usize) -> Self {
        let meter = Meter::new(show, "{bar:12} {elapsed} {msg}", "cases");
        Self { meter, total, running: Mutex::default() }
    }

    /// Case `number` is done to this part, from 0 to 1.
    pub fn tell(&self, number: usize, name: &str, part: f64) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.cases.entry(number).or_insert_with(|| (name.to_owned(), 0.0)).1 = part;
        self.show(&running);
    }

    /// Case `number` has come to its end.
    pub fn ended(&self, number: usize) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.cases.remove(&number);
        running.done += 1;
        self.show(&running);
    }

    /// Nothing is shown any more.
    pub fn clear(&self) {
        self.meter.end();
    }

    /// Does something while no bar stands in the way.
    pub fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        let bar = self.meter.state.lock().unwrap_or_else(PoisonError::into_inner).bar.clone();
        match bar {
            Some(bar) => bar.suspend(work),
            None => work(),
        }
    }

    fn show(&self, running: &Running) {
        let parts: f64 = running.cases.values().map(|(_, part)| part).sum();
        let done = (PARTS * (running.done as f64 + parts)) as u64;
        self.meter.tell_in_words(done, (PARTS as usize * self.total) as u64, || running.text(self.total));
    }
}

impl Running {
    /// `12 of 37 cases done; running: torus-order 40 %, measured-run`.
    fn text(&self, total: usize) -> String {
        let of = |(name, part): &(String, f64)| {
            let name = name.rsplit('/').next().unwrap_or(name);
            if *part > 0.0 { format!("{name} {:.0} %", 100.0 * part) } else { name.to_owned() }
        };
        let running: Vec<String> = self.cases.values().map(of).collect();
        let running = if running.is_empty() { String::new() } else { format!("; running: {}", running.join(", ")) };
        format!("{} of {total} cases done{running}", self.done)
    }
}

/// Looks on while something is done of which only the part is known.
pub struct PartMonitor(Meter);

impl PartMonitor {
    /// Nothing is done yet.
    pub fn new(show: Show) -> Self {
        Self(Meter::new(show, "{wide_bar} {percent}%  {eta} left", "steps"))
    }

    /// So much is done, from 0 to 1.
    pub fn tell(&self, part: f64) {
        self.0.tell((part * 1000.0) as u64, 1000, String::new);
    }
}

/// Texts and files, as all verbs open them: with progress, and noted as inputs.
pub fn sources(show: Show) -> Sources {
    let mut sources = Sources::default();
    sources.on_read(reading(show));
    sources
}

/// Notes which files are read, and shows how far the reading of large ones is; of small ones that hold much, how much was read.
pub fn reading(show: Show) -> OnRead {
    let current: Mutex<Reading> = Mutex::default();
    Arc::new(move |file, done, total| {
        if done == 0 {
            files::note_input(file);
        }
        if show != Show::Nothing {
            current.lock().unwrap_or_else(PoisonError::into_inner).tell(show, file, done, total);
        }
    })
}

/// The file that is read.
#[derive(Default)]
struct Reading {
    file: String,
    /// How large it is \[B\].
    total: u64,
    meter: Option<Meter>,
}

impl Reading {
    fn tell(&mut self, show: Show, file: &str, done: u64, total: u64) {
        if self.file != file || done == 0 {
            *self = Self { file: file.to_owned(), total, meter: None };
        }
        // What comes out of a large file says less than how much of it is read.
        if done.max(total) < LARGE || (total == 0 && self.total >= LARGE) {
            return;
        }
        let style = match total {
            0 => "{spinner} {msg}: {bytes}, {bytes_per_sec}",
            _ => "{wide_bar} {percent}%  {msg}: {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        };
        let meter = self.meter.get_or_insert_with(|| Meter::new(show, style, "bytes"));
        if total == 0 {
            meter.tell_in_words(done, total, || match show {
                Show::Lines => format!("reading {file}: {} so far", Bytes(done)),
                _ => format!("reading {file}"),
            });
        } else {
            meter.tell(done, total, || format!("reading {file}"));
        }
        if total > 0 && done >= total {
            self.meter = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    #[test]
    fn progress_of_cases_names_those_that_run_and_how_far_they_are() {
        let monitor = CasesMonitor::new(Show::Nothing, 4);
        monitor.tell(0, "paper/torus-order", 0.0);
        monitor.tell(2, "packet/speed", 0.4);
        monitor.tell(1, "paper/rounds", 0.1);
        monitor.ended(1);
        let text = monitor.running.lock().unwrap().text(4);
        assert_eq!(text, "1 of 4 cases done; running: torus-order, speed 40 %");
    }

    #[test]
    fn a_run_goes_on_until_it_is_stopped_or_in_vain() {
        let stop = AtomicBool::new(false);
        let monitor = RunMonitor::new(Show::Nothing, &stop);
        let progress = Progress { now: Time::ZERO, delivered: 1, total: 2 };
        assert!(monitor.tick(progress));
        monitor.vain.store(true, Ordering::Relaxed);
        assert!(!monitor.tick(progress));
        monitor.vain.store(false, Ordering::Relaxed);
        stop.store(true, Ordering::Relaxed);
        assert!(!monitor.tick(progress) && !Stop(&stop).tick(progress));
    }
}
