//! Functions for the page: texts go in and answers come out as bytes in the memory of the module.

use std::slice;

use serde_json::Value;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Is told the progress of a run.
    fn progress(done: f64, total: f64);
    /// Is told the message of a panic, which ends the module.
    fn panicked(at: *const u8, length: usize);
}

fn tell(done: f64, total: f64) {
    // SAFETY: the page gives a function of these two numbers.
    unsafe { progress(done, total) }
}

/// Prepares the module: panics are told to the page.
#[unsafe(no_mangle)]
pub extern "C" fn prepare() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        // SAFETY: the page reads the bytes before it returns.
        unsafe { panicked(text.as_ptr(), text.len()) }
    }));
}

/// Returns memory for a text of this length \[B\], which a call takes over.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::leak(vec![0_u8; length].into_boxed_slice()).as_mut_ptr()
}

/// Frees an answer.
///
/// # Safety
/// `at` and `length` are those of an answer or of [`allocate`], and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(at: *mut u8, length: usize) {
    // SAFETY: the caller guarantees that this is the boxed slice of these bytes.
    drop(unsafe { Box::from_raw(slice::from_raw_parts_mut(at, length)) });
}

/// Returns place and length of an answer: `place * 2^32 + length`.
fn answer(value: &Value) -> u64 {
    let bytes = Box::leak(value.to_string().into_bytes().into_boxed_slice());
    (bytes.as_mut_ptr() as u64) << 32 | bytes.len() as u64
}

/// Takes over the text of a call.
///
/// # Safety
/// As for [`release`].
unsafe fn text(at: *mut u8, length: usize) -> String {
    // SAFETY: the caller guarantees that this is the boxed slice of these bytes.
    let bytes = unsafe { Box::from_raw(slice::from_raw_parts_mut(at, length)) };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Checks a text.
///
/// # Safety
/// The text is in memory of [`allocate`] and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn check(at: *mut u8, length: usize) -> u64 {
    // SAFETY: as the caller guarantees.
    answer(&crate::check(&unsafe { text(at, length) }))
}

/// Runs a text.
///
/// # Safety
/// The text is in memory of [`allocate`] and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn run(at: *mut u8, length: usize) -> u64 {
    // SAFETY: as the caller guarantees.
    answer(&crate::run(&unsafe { text(at, length) }, tell))
}

/// Returns a first scenario of a topology and a pattern, which stand in two lines.
///
/// # Safety
/// The text is in memory of [`allocate`] and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn init(at: *mut u8, length: usize) -> u64 {
    // SAFETY: as the caller guarantees.
    let text = unsafe { text(at, length) };
    let (topology, pattern) = text.split_once('\n').unwrap_or((&text, ""));
    answer(&crate::init(topology, pattern))
}

/// Returns the names that a scenario can use, and the examples.
#[unsafe(no_mangle)]
pub extern "C" fn names() -> u64 {
    answer(&crate::names())
}
