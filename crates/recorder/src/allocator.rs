//! Memory of the recorder.
//!
//! The recorder must be able to write its data when a signal ends the program, and the signal may interrupt
//! the program's `malloc`. So the recorder has its own allocator: it cuts pieces of powers of two from pages
//! of the system and gives large requests pages of their own. This also hides the recorder from tools that
//! watch the program's memory.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// Smallest piece \[B\].
const SMALLEST: usize = 16;
/// Number of classes: pieces of 16 B to 64 KiB.
const CLASSES: usize = 13;
/// Memory that is taken from the system and cut up at once \[B\].
const SLAB: usize = 1 << 20;

/// The allocator.
#[derive(Debug)]
pub struct RecorderAllocator {
    locked: AtomicBool,
    state: UnsafeCell<State>,
}

#[derive(Debug)]
struct State {
    /// First free piece of each class. A free piece begins with the address of the next one.
    free: [*mut u8; CLASSES],
    /// Rest of the slab.
    at: *mut u8,
    left: usize,
}

// SAFETY: the state is used under the lock only.
unsafe impl Sync for RecorderAllocator {}

impl RecorderAllocator {
    /// Creates an allocator without memory.
    pub const fn new() -> Self {
        let state = State { free: [null_mut(); CLASSES], at: null_mut(), left: 0 };
        Self { locked: AtomicBool::new(false), state: UnsafeCell::new(state) }
    }

    fn with<R>(&self, action: impl FnOnce(&mut State) -> R) -> R {
        while self.locked.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::hint::spin_loop();
        }
        // SAFETY: the lock is held, and `action` does not come back here.
        let result = action(unsafe { &mut *self.state.get() });
        self.locked.store(false, Ordering::Release);
        result
    }
}

impl Default for RecorderAllocator {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the class of pieces for a layout; `None` if it needs pages of its own.
fn class(layout: &Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(SMALLEST).next_power_of_two();
    let class = (size / SMALLEST).trailing_zeros() as usize;
    (class < CLASSES).then_some(class)
}

fn pages(size: usize) -> *mut u8 {
    // SAFETY: new pages overlap with nothing.
    let at = unsafe {
        libc::mmap(null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    };
    if at == libc::MAP_FAILED { null_mut() } else { at.cast() }
}

// SAFETY: pieces of a class are as large and as aligned as requested (slabs begin at a page, and are cut into
// pieces at multiples of their size); large ones are whole pages. No piece is given out twice before it comes
// back.
unsafe impl GlobalAlloc for RecorderAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class(&layout) else {
            // Nothing here needs more than the alignment of a page.
            return if layout.align() > 4096 { null_mut() } else { pages(layout.size()) };
        };
        let size = SMALLEST << class;
        self.with(|state| {
            let first = state.free[class];
            if !first.is_null() {
                // SAFETY: a free piece begins with the address of the next.
                state.free[class] = unsafe { first.cast::<*mut u8>().read() };
                return first;
            }
            let skip = state.at.align_offset(size);
            if state.at.is_null() || state.left < skip.saturating_add(size) {
                state.at = pages(SLAB);
                if state.at.is_null() {
                    state.left = 0;
                    return null_mut();
                }
                state.left = SLAB;
            } else {
                state.at = state.at.wrapping_add(skip);
                state.left -= skip;
            }
            let piece = state.at;
            let skip = piece.align_offset(size);
            // A slab is aligned to a page only. A larger piece begins at the first multiple of its size in
            // the slab.
            let piece = piece.wrapping_add(skip);
            state.at = piece.wrapping_add(size);
            state.left -= skip + size;
            piece
        })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        match class(&layout) {
            None => {
                // SAFETY: it was mapped with this size; failing, it stays mapped.
                unsafe { libc::munmap(at.cast(), layout.size()) };
            }
            Some(class) => self.with(|state| {
                // SAFETY: the piece is no longer used, and has room for an address.
                unsafe { at.cast::<*mut u8>().write(state.free[class]) };
                state.free[class] = at;
            }),
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises a size that is not zero and does not overflow.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class(&layout), class(&new)) {
            (Some(before), Some(after)) if before == after => at,
            (None, None) => {
                // SAFETY: it was mapped with this size.
                let moved = unsafe { libc::mremap(at.cast(), layout.size(), size, libc::MREMAP_MAYMOVE) };
                if moved == libc::MAP_FAILED { null_mut() } else { moved.cast() }
            }
            _ => {
                // SAFETY: as promised by the caller; the two pieces are different ones.
                unsafe {
                    let moved = self.alloc(new);
                    if !moved.is_null() {
                        moved.copy_from_nonoverlapping(at, layout.size().min(size));
                        self.dealloc(at, layout);
                    }
                    moved
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_overlap_and_are_aligned() {
        let own = RecorderAllocator::new();
        let mut taken: Vec<(usize, Layout)> = Vec::new();
        for round in 0..2000_usize {
            let size = (round * 7919) % 70_000 + 1;
            let layout = Layout::from_size_align(size, 1 << (round % 13)).unwrap();
            // SAFETY: the layout is not empty; what is given back was taken with the same layout.
            unsafe {
                let at = own.alloc(layout) as usize;
                assert!(at != 0 && at.is_multiple_of(layout.align()));
                for &(other, of) in &taken {
                    assert!(at + size <= other || other + of.size() <= at, "{layout:?} overlaps with {of:?}");
                }
                (at as *mut u8).write_bytes(round as u8, size);
                taken.push((at, layout));
                if round % 3 == 0 {
                    let (at, layout) = taken.swap_remove(round % taken.len());
                    own.dealloc(at as *mut u8, layout);
                }
            }
        }
    }

    #[test]
    fn what_grows_keeps_its_content() {
        let own = RecorderAllocator::new();
        // SAFETY: layouts are those that the piece was taken with.
        unsafe {
            let mut layout = Layout::from_size_align(10, 8).unwrap();
            let mut at = own.alloc(layout);
            at.write_bytes(42, 10);
            for size in [12, 100, 40_000, 65_536, 65_537, 1 << 20, 3 << 20, 20] {
                at = own.realloc(at, layout, size);
                layout = Layout::from_size_align(size, 8).unwrap();
                assert!((0..10).all(|i| at.add(i).read() == 42), "at {size}");
            }
        }
    }
}
