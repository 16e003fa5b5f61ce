//! Requests of a host program in whose process a command runs: base texts, progress, cancellation and
//! captured output. Without a host there are none.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hayase::scenario::Loader;
use hayase_output::table::Answer;

/// Callback for progress, called from any thread with the amounts done and in total.
pub type Tell = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Environment that a host program gives to a command.
#[derive(Clone)]
pub struct Inside {
    /// Base texts under those of the command line, with files in memory.
    pub base: Loader,
    /// Set to end the command.
    pub stop: &'static AtomicBool,
    /// Callback for progress.
    pub tell: Option<Tell>,
    /// True if the table is wanted as HTML beside JSON.
    pub html: bool,
}

/// State kept while a command runs.
struct Running {
    inside: Inside,
    kept: Kept,
}

/// Captured output of a command.
#[derive(Debug, Default)]
pub struct Kept {
    /// Text for standard output.
    pub printed: Vec<u8>,
    /// Text for standard error, without hints.
    pub said: String,
    /// Table as HTML, if requested.
    pub html: String,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// Runs a command for a host program and returns its result with the captured output.
///
/// A thread of a pool may run another call while this one waits for its parts, so each call has its own
/// state.
pub fn within<T>(inside: Inside, verb: impl FnOnce() -> T) -> (T, Kept) {
    let outer = RUNNING.replace(Some(Running { inside, kept: Kept::default() }));
    let made = verb();
    let running = RUNNING.replace(outer);
    (made, running.map(|running| running.kept).unwrap_or_default())
}

/// Takes the messages so far.
pub fn take_said() -> String {
    RUNNING.with_borrow_mut(|running| running.as_mut().map(|it| std::mem::take(&mut it.kept.said))).unwrap_or_default()
}

/// Returns the base texts of the host program, or an empty loader without one.
pub fn loader() -> Loader {
    RUNNING.with_borrow(|running| running.as_ref().map(|it| it.inside.base.clone())).unwrap_or_default()
}

/// Returns the flag by which the host program ends the command.
pub fn stop_flag() -> Option<&'static AtomicBool> {
    RUNNING.with_borrow(|running| running.as_ref().map(|it| it.inside.stop))
}

/// Returns the host program's callback for progress.
pub fn tell() -> Option<Tell> {
    RUNNING.with_borrow(|running| running.as_ref().and_then(|it| it.inside.tell.clone()))
}

/// Keeps printed output for the host program; returns false without one.
pub fn keep_printed(bytes: &[u8]) -> bool {
    RUNNING.with_borrow_mut(|running| running.as_mut().map(|it| it.kept.printed.extend_from_slice(bytes)).is_some())
}

/// Keeps a message for the host program; returns false without one.
pub fn keep_said(text: &str) -> bool {
    RUNNING.with_borrow_mut(|running| {
        let Some(running) = running else { return false };
        running.kept.said += text;
        running.kept.said.push('\n');
        true
    })
}

/// Keeps a table as HTML if the host program requests it.
pub fn keep_table(table: impl FnOnce() -> Answer) {
    if RUNNING.with_borrow(|running| running.as_ref().is_some_and(|it| it.inside.html)) {
        let html = table().to_html();
        RUNNING.with_borrow_mut(|running| running.iter_mut().for_each(|it| it.kept.html.clone_from(&html)));
    }
}

/// Returns true if this thread runs a command for a host program.
pub fn is_inside() -> bool {
    RUNNING.with_borrow(Option::is_some)
}
