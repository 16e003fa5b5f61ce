//! What another program asked for in whose process a verb runs: texts below its words, who hears of progress, what ends
//! it, and what it printed. Without one nothing is asked.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hayase::scenario::Loader;
use hayase_output::table::Answer;

/// Called from any thread with what is done, of how much.
pub type Tell = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// What a verb runs in.
#[derive(Clone)]
pub struct Inside {
    /// The texts below what the words say, with files in memory.
    pub base: Loader,
    /// Set to end it.
    pub stop: &'static AtomicBool,
    /// Hears how far it is.
    pub tell: Option<Tell>,
    /// True if the table is wanted as HTML beside JSON.
    pub html: bool,
}

/// What is kept while a verb runs.
struct Running {
    inside: Inside,
    kept: Kept,
}

/// Output of a verb.
#[derive(Debug, Default)]
pub struct Kept {
    /// Text for standard output.
    pub printed: Vec<u8>,
    /// Text for standard error, without hints.
    pub said: String,
    /// Table as HTML, where that is wanted.
    pub html: String,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// Runs a verb for another program and returns what it made, with its output.
///
/// On threads of a pool another call may come to run while this one waits for its parts: each has its own.
pub fn within<T>(inside: Inside, verb: impl FnOnce() -> T) -> (T, Kept) {
    let outer = RUNNING.replace(Some(Running { inside, kept: Kept::default() }));
    let made = verb();
    let running = RUNNING.replace(outer);
    (made, running.map(|running| running.kept).unwrap_or_default())
}

/// What was said so far, which is then forgotten.
pub fn take_said() -> String {
    RUNNING.with_borrow_mut(|running| running.as_mut().map(|it| std::mem::take(&mut it.kept.said))).unwrap_or_default()
}

/// The texts that lie below what was typed: none but in another program.
pub fn loader() -> Loader {
    RUNNING.with_borrow(|running| running.as_ref().map(|it| it.inside.base.clone())).unwrap_or_default()
}

/// What ends the verb, where that is another program's.
pub fn stop_flag() -> Option<&'static AtomicBool> {
    RUNNING.with_borrow(|running| running.as_ref().map(|it| it.inside.stop))
}

/// Who hears how far the verb is, where that is another program.
pub fn tell() -> Option<Tell> {
    RUNNING.with_borrow(|running| running.as_ref().and_then(|it| it.inside.tell.clone()))
}

/// Keeps what is printed for the other program; whether there is one.
pub fn keep_printed(bytes: &[u8]) -> bool {
    RUNNING.with_borrow_mut(|running| running.as_mut().map(|it| it.kept.printed.extend_from_slice(bytes)).is_some())
}

/// The same with what is said.
pub fn keep_said(text: &str) -> bool {
    RUNNING.with_borrow_mut(|running| {
        let Some(running) = running else { return false };
        running.kept.said += text;
        running.kept.said.push('\n');
        true
    })
}

/// Keeps a table as HTML, where the other program wants it.
pub fn keep_table(table: impl FnOnce() -> Answer) {
    if RUNNING.with_borrow(|running| running.as_ref().is_some_and(|it| it.inside.html)) {
        let html = table().to_html();
        RUNNING.with_borrow_mut(|running| running.iter_mut().for_each(|it| it.kept.html.clone_from(&html)));
    }
}

/// Whether a verb runs for another program in this thread.
pub fn is_inside() -> bool {
    RUNNING.with_borrow(Option::is_some)
}
