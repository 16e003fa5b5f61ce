//! What another program asked for in whose process a verb runs: texts below its words, who hears of progress, what ends
//! it, and what it printed. Without one nothing is asked.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hayase::scenario::Loader;

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
}

/// What is kept while a verb runs.
struct Running {
    inside: Inside,
    printed: Vec<u8>,
    said: String,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// Runs a verb for another program: what it made, with what it printed and said.
///
/// On threads of a pool another call may come to run while this one waits for its parts: each has its own.
pub fn within<T>(inside: Inside, verb: impl FnOnce() -> T) -> (T, Vec<u8>, String) {
    let outer = RUNNING.replace(Some(Running { inside, printed: Vec::new(), said: String::new() }));
    let made = verb();
    let running = RUNNING.replace(outer);
    let (printed, said) = running.map(|running| (running.printed, running.said)).unwrap_or_default();
    (made, printed, said)
}

/// What was said so far, which is then forgotten.
pub fn take_said() -> String {
    RUNNING.with_borrow_mut(|running| running.as_mut().map(|it| std::mem::take(&mut it.said))).unwrap_or_default()
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
    RUNNING.with_borrow_mut(|running| running.as_mut().map(|it| it.printed.extend_from_slice(bytes)).is_some())
}

/// The same with what is said.
pub fn keep_said(text: &str) -> bool {
    RUNNING.with_borrow_mut(|running| {
        let Some(running) = running else { return false };
        running.said += text;
        running.said.push('\n');
        true
    })
}

/// Whether a verb runs for another program in this thread.
pub fn is_inside() -> bool {
    RUNNING.with_borrow(Option::is_some)
}
