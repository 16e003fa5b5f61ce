//! The `hayase` program: everything is in [`hayase_cli`].

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::process::ExitCode;

/// Allocator of the system that reports exhausted memory as a failure instead of aborting.
struct Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

// SAFETY: every block is the system's own.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's block, layout and size.
        given(unsafe { System.realloc(block, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's block and layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[inline]
fn given(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() { out_of_memory(bytes) } else { block }
}

/// Reports exhausted memory without allocating, and ends the process with the exit code of a failed run.
#[cold]
fn out_of_memory(bytes: usize) -> ! {
    unsafe extern "C" {
        fn _exit(code: i32) -> !;
    }
    let mut text = [0; 160];
    let mut rest = &mut text[..];
    // A longer message is cut off, and a failed write is ignored.
    let _ = writeln!(rest, "error: out of memory: {bytes} B more are needed, and the limits of the process leave less");
    let left = rest.len();
    let _ = std::io::stderr().write_all(&text[..160 - left]);
    // SAFETY: nothing of this process runs after it.
    unsafe { _exit(1) }
}

fn main() -> ExitCode {
    hayase_cli::main()
}
