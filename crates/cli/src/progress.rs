//! Progress display: a bar on a terminal, a line every few seconds elsewhere, or nothing.

#![expect(clippy::disallowed_methods, reason = "progress is about the wall clock, and shows it to people only")]

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::voice::{Show, complain};
use super::{asked, files, interrupt, width};
use hayase::diagnostic::{OnRead, Sources};
use hayase::engine::{Progress, Watch};
use hayase::plan;
use hayase::sweep::{Control, SweepProgress};
use hayase::units::Bytes;
use hayase_output::table::{self, bandwidth, counted, grouped};

/// Time before a bar appears.
const PATIENCE: Duration = Duration::from_millis(400);
/// Interval of progress lines.
const LINE_EVERY: Duration = Duration::from_secs(3);
/// Smallest file whose reading shows progress \[B\].
const LARGE: u64 = 32 << 20;

/// Smallest width of a bar in columns; the text beside it is shortened first.
const LEAST_BAR: usize = 8;

/// Progress display of a task.
pub struct Meter {
    show: Show,
    unit: &'static str,
    /// Callback of a host program.
    told: Option<asked::Tell>,
    state: Mutex<State>,
}

struct State {
    started: Instant,
    told: Instant,
    bar: Option<ProgressBar>,
}

/// Progress in words.
struct Words {
    /// Percentage; `None` if the total is unknown.
    percent: Option<f64>,
    /// Text such as `1.2 M of 11.9 M messages`; empty if only the fraction is known.
    count: String,
    /// Text such as `127 k/s`.
    rate: String,
    message: String,
    /// Text such as `12 s left`.
    left: String,
}

impl Words {
    /// Describes progress; a total of 0 or below `done` counts as unknown.
    fn new(done: u64, total: u64, seconds: f64, unit: &str, message: String) -> Self {
        let total = if done > total { 0 } else { total };
        let rate = done as f64 / seconds;
        let left = if done > 0 { seconds * total.saturating_sub(done) as f64 / done as f64 } else { f64::NAN };
        let left = if total > 0 { left } else { f64::NAN };
        let (count, rate) = match unit {
            // The message contains the amount done.
            "" | "cases" => (String::new(), String::new()),
            "bytes" if total == 0 => (format!("{} so far", Bytes(done)), bandwidth(rate)),
            "bytes" => (format!("{} of {}", Bytes(done), Bytes(total)), bandwidth(rate)),
            "runs" => (format!("run {done} of {total}"), String::new()),
            _ if total == 0 && done > 0 => (format!("{} {unit} so far", counted(done as f64)), table::rate(rate)),
            _ => (format!("{} of {} {unit}", counted(done as f64), counted(total as f64)), table::rate(rate)),
        };
        let percent = (total > 0 || (done == 0 && unit != "bytes")).then(|| 100.0 * done as f64 / total.max(1) as f64);
        let left = if left.is_finite() { format!("{} left", duration(left)) } else { String::new() };
        Self { percent, count, rate, message, left }
    }

    /// Returns a bar with text of this width in columns.
    fn line(&self, width: usize) -> String {
        let words = self.fitting(width.saturating_sub(LEAST_BAR + 1));
        let room = width.saturating_sub(words.chars().count() + 1);
        let done = ((room as f64 * self.percent.unwrap_or(0.0) / 100.0) as usize).min(room);
        let head = if done < room { ">" } else { "" };
        let bar = format!("{}{head}", "=".repeat(done));
        if room < 2 { words } else { format!("{bar:room$} {words}") }
    }

    /// Returns the text in at most `width` columns, dropping the least important parts first.
    fn fitting(&self, width: usize) -> String {
        let percent = self.percent.map(|percent| format!("{percent:.0} %")).unwrap_or_default();
        // In the order of display, with their importance.
        let mut parts = vec![
            (4, percent),
            (2, self.count.clone()),
            (0, self.rate.clone()),
            (1, self.message.clone()),
            (3, self.left.clone()),
        ];
        parts.retain(|(_, part)| !part.is_empty());
        loop {
            let text = parts.iter().map(|(_, part)| part.as_str()).collect::<Vec<_>>().join(", ");
            let least = parts.iter().map(|(worth, _)| *worth).min();
            if text.chars().count() <= width || parts.len() <= 1 {
                return text;
            }
            parts.retain(|(worth, _)| Some(*worth) != least);
        }
    }
}

/// Returns the wall-clock time since an arbitrary moment \[s\].
#[cfg(not(unix))]
pub fn wall_clock() -> f64 {
    static BEGUN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Returns a duration such as `12 s`, `3 min` or `1.5 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 99.5 => format!("{s:.0} s"),
        s if s < 99.5 * 60.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{} days", grouped((s / 86400.0) as u64)),
    }
}

impl Meter {
    /// Creates a display with nothing done.
    pub fn new(show: Show, unit: &'static str) -> Self {
        let now = Instant::now();
        Self { show, unit, told: asked::tell(), state: Mutex::new(State { started: now, told: now, bar: None }) }
    }

    /// Shows the amount done and the total.
    pub fn tell(&self, done: u64, total: u64, message: impl FnOnce() -> String) {
        if let Some(tell) = &self.told {
            tell(done, total);
        }
        if self.show == Show::Nothing {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let elapsed = now - state.started;
        if elapsed < PATIENCE {
            return;
        }
        let words = |message| Words::new(done, total, elapsed.as_secs_f64(), self.unit, message);
        match self.show {
            Show::Bar => {
                let bar = state.bar.get_or_insert_with(|| {
                    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
                    let style = ProgressStyle::with_template("{msg}");
                    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                    bar
                });
                // The width of the terminal may have changed.
                let width = width::of(&io::stderr()).unwrap_or(80);
                if total > 0 {
                    bar.set_length(total);
                }
                bar.set_message(words(message()).line(width.saturating_sub(1)));
                bar.set_position(done);
            }
            Show::Lines if now - state.told >= LINE_EVERY => {
                state.told = now;
                complain(words(message()).fitting(usize::MAX));
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

/// Monitor of one run, which shows progress and stops the run on request.
pub struct RunMonitor<'a> {
    meter: Meter,
    stop: &'a AtomicBool,
    /// Set when an output cannot be written, so that continuing is pointless.
    vain: &'a AtomicBool,
    /// Relative half-width of the interval of an estimated makespan so far, as bits; 0 if unknown.
    known: AtomicU64,
}

impl<'a> RunMonitor<'a> {
    /// Creates a monitor; setting `stop` or `vain` ends the run.
    pub fn new(show: Show, stop: &'a AtomicBool, vain: &'a AtomicBool) -> Self {
        Self { meter: Meter::new(show, "messages"), stop, vain, known: AtomicU64::new(0) }
    }
}

impl Watch for RunMonitor<'_> {
    fn tick(&self, progress: Progress) -> bool {
        self.meter.tell(progress.delivered, progress.total, || {
            let known = f64::from_bits(self.known.load(Ordering::Relaxed));
            let known = if known > 0.0 { format!(", makespan ±{:.2} % by now", 100.0 * known) } else { String::new() };
            format!("simulated {}{known}", progress.now)
        });
        !self.stop.load(Ordering::Relaxed) && !self.vain.load(Ordering::Relaxed)
    }

    fn outlook(&self, error: f64) {
        self.known.store(error.to_bits(), Ordering::Relaxed);
    }
}

/// Monitor of one of many runs, which stops it on request and shows nothing.
pub struct Stop<'a>(pub &'a AtomicBool);

impl Watch for Stop<'_> {
    fn tick(&self, _: Progress) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// Shows the progress of many runs and stops them on request; `unit` names the unit of their work.
pub fn over_runs<T>(show: Show, unit: &'static str, run: impl FnOnce(Control<'_>) -> T) -> T {
    let meter = Meter::new(show, unit);
    let tell = |SweepProgress { runs, total_runs, messages, total_messages }| {
        meter.tell(messages, total_messages, || format!("{runs} of {total_runs} runs done"));
    };
    run(Control { progress: Some(&tell), cancel: Some(interrupt::stop_flag()) })
}

/// Progress display of the points of a plan.
pub struct PointsMonitor(Meter);

impl PointsMonitor {
    /// Creates a display with nothing done.
    pub fn new(show: Show) -> Self {
        Self(Meter::new(show, "points"))
    }

    /// Shows the progress of this process and of all.
    pub fn tell(&self, progress: plan::Progress) {
        let plan::Progress { rows, points, run, failed } = progress;
        let left = points.saturating_sub(rows);
        self.0.tell(run, run + left, || {
            let failed = if failed > 0 { format!(", {} failed", grouped(failed)) } else { String::new() };
            format!("{} of {} in all shards{failed}", grouped(rows), grouped(points))
        });
    }
}

/// Progress display of validation cases that run in parallel.
pub struct CasesMonitor {
    meter: Meter,
    total: usize,
    running: Mutex<Running>,
}

/// Running cases by number, with name and fraction done, and the number of finished cases.
#[derive(Default)]
struct Running {
    cases: BTreeMap<usize, (String, f64)>,
    done: usize,
}

/// Resolution of the fraction of a case, since bars count whole numbers.
const PARTS: f64 = 1000.0;

impl CasesMonitor {
    /// Creates a display for `total` cases.
    pub fn new(show: Show, total: usize) -> Self {
        let meter = Meter::new(show, "cases");
        Self { meter, total, running: Mutex::default() }
    }

    /// Shows the fraction of case `number` that is done, from 0 to 1.
    pub fn tell(&self, number: usize, name: &str, part: f64) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.cases.entry(number).or_insert_with(|| (name.to_owned(), 0.0)).1 = part;
        self.show(&running);
    }

    /// Marks case `number` as finished.
    pub fn ended(&self, number: usize) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.cases.remove(&number);
        running.done += 1;
        self.show(&running);
    }

    /// Removes the display.
    pub fn clear(&self) {
        self.meter.end();
    }

    /// Runs a function while the bar is hidden.
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
        self.meter.tell(done, (PARTS as usize * self.total) as u64, || running.text(self.total));
    }
}

impl Running {
    /// Returns text such as `12 of 37 cases done; running: torus-order 40 %, measured-run`.
    fn text(&self, total: usize) -> String {
        let of = |(name, part): &(String, f64)| {
            let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
            if *part > 0.0 { format!("{name} {:.0} %", 100.0 * part) } else { name.to_owned() }
        };
        let running: Vec<String> = self.cases.values().map(of).collect();
        let running = if running.is_empty() { String::new() } else { format!("; running: {}", running.join(", ")) };
        format!("{} of {total} cases done{running}", self.done)
    }
}

/// Returns the sources through which all commands open files: with progress, and registered as inputs.
pub fn sources(show: Show) -> Sources {
    let mut sources = Sources::default();
    sources.on_read(reading(show));
    sources
}

/// Returns the hook that registers input files and shows the progress of reading: the fraction of a large
/// file, or the amount read of a small file that expands to much.
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

/// File being read.
#[derive(Default)]
struct Reading {
    file: String,
    /// Size of the file \[B\].
    total: u64,
    meter: Option<Meter>,
}

impl Reading {
    fn tell(&mut self, show: Show, file: &str, done: u64, total: u64) {
        if self.file != file || done == 0 {
            *self = Self { file: file.to_owned(), total, meter: None };
        }
        // For a large file, the fraction read says more than the amount of decompressed data.
        if done.max(total) < LARGE || (total == 0 && self.total >= LARGE) {
            return;
        }
        let meter = self.meter.get_or_insert_with(|| Meter::new(show, "bytes"));
        meter.tell(done, total, || format!("reading {file}"));
        if total > 0 && done >= total {
            self.meter = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase::units::Time;

    #[test]
    fn what_says_least_gives_way_first_and_no_number_is_cut() {
        let words = Words::new(1_250_000, 11_940_480, 9.84, "messages", "simulated 12.5 ms".to_owned());
        let whole = "10 %, 1.25 M of 11.9 M messages, 127 k/s, simulated 12.5 ms, 84 s left";
        assert_eq!(words.fitting(usize::MAX), whole);
        assert_eq!(words.fitting(whole.len()), whole);
        assert_eq!(words.fitting(whole.len() - 1), "10 %, 1.25 M of 11.9 M messages, simulated 12.5 ms, 84 s left");
        assert_eq!(words.fitting(50), "10 %, 1.25 M of 11.9 M messages, 84 s left");
        assert_eq!(words.fitting(30), "10 %, 84 s left");
        assert_eq!(words.fitting(3), "10 %");
        assert!(words.line(60).starts_with("=> ") && words.line(60).ends_with("84 s left"), "{}", words.line(60));
        for width in 16..200 {
            assert_eq!(words.line(width).chars().count(), width, "{}", words.line(width));
        }
        let nothing = Words::new(0, 0, 1.0, "messages", String::new());
        assert_eq!(nothing.fitting(usize::MAX), "0 %, 0 of 0 messages, 0 /s");
    }

    #[test]
    fn long_waits_are_told_in_long_units() {
        assert_eq!([0.2, 99.0, 100.0, 7200.0, 1e9].map(duration), ["0 s", "99 s", "2 min", "2.0 h", "11,574 days"]);
    }

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
    fn of_what_has_no_known_end_only_what_is_done_is_said() {
        let words = |done, total| Words::new(done, total, 10.0, "messages", "simulated 1 s".to_owned()).fitting(200);
        assert_eq!(words(2_000, 0), "2 k messages so far, 200 /s, simulated 1 s");
        // Background traffic continues beside the counted messages.
        assert_eq!(words(2_000, 1_000), words(2_000, 0));
        assert_eq!(words(1_000, 2_000), "50 %, 1 k of 2 k messages, 100 /s, simulated 1 s, 10 s left");
    }

    #[test]
    fn a_run_goes_on_until_it_is_stopped_or_in_vain() {
        let stop = AtomicBool::new(false);
        let vain = AtomicBool::new(false);
        let monitor = RunMonitor::new(Show::Nothing, &stop, &vain);
        let progress = Progress { now: Time::ZERO, delivered: 1, total: 2 };
        assert!(monitor.tick(progress));
        vain.store(true, Ordering::Relaxed);
        assert!(!monitor.tick(progress));
        vain.store(false, Ordering::Relaxed);
        stop.store(true, Ordering::Relaxed);
        assert!(!monitor.tick(progress) && !Stop(&stop).tick(progress));
    }
}
