//! Instrumented parts of the process: the program, and libraries that were compiled in the same way.
//!
//! Each of them calls `__tsan_init` when it is loaded, or a hook when its first function is entered. The
//! return address identifies the part.

use std::sync::atomic::{AtomicUsize, Ordering};

use hayase_mpi::objects;
use libc::{Elf64_Phdr, PT_DYNAMIC, PT_LOAD};

/// Largest number of parts; further ones count as not instrumented in `contains`.
const MAX_PARTS: usize = 64;

/// An instrumented part. `high` is written last: a part with `high` 0 does not exist.
struct Module {
    low: AtomicUsize,
    high: AtomicUsize,
    base: AtomicUsize,
    dynamic: AtomicUsize,
}

static MODULES: [Module; MAX_PARTS] = [const {
    Module {
        low: AtomicUsize::new(0),
        high: AtomicUsize::new(0),
        base: AtomicUsize::new(0),
        dynamic: AtomicUsize::new(0),
    }
}; MAX_PARTS];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Returns true if an address of code belongs to an instrumented part.
#[inline]
pub(crate) fn contains(address: usize) -> bool {
    let count = COUNT.load(Ordering::Acquire).min(MAX_PARTS);
    MODULES[..count]
        .iter()
        .any(|module| address >= module.low.load(Ordering::Relaxed) && address < module.high.load(Ordering::Acquire))
}

/// Returns `(base, dynamic)` for each part with a dynamic section: their addresses in memory.
pub(crate) fn all() -> impl Iterator<Item = (usize, usize)> {
    let count = COUNT.load(Ordering::Acquire).min(MAX_PARTS);
    MODULES[..count].iter().filter(|module| module.high.load(Ordering::Acquire) > 0).filter_map(|module| {
        let dynamic = module.dynamic.load(Ordering::Relaxed);
        (dynamic > 0).then(|| (module.base.load(Ordering::Relaxed), dynamic))
    })
}

/// Registers the part with this address of code as instrumented.
#[inline]
pub(crate) fn register(address: usize) {
    if !contains(address) {
        add(address);
    }
}

#[cold]
fn add(address: usize) {
    objects::find(|info, segments| note(info.dlpi_addr as usize, segments, address));
    let found = MODULES[..COUNT.load(Ordering::Acquire).min(MAX_PARTS)].last();
    if let Some(module) = found.filter(|_| contains(address)) {
        let (base, dynamic) = (module.base.load(Ordering::Relaxed), module.dynamic.load(Ordering::Relaxed));
        if dynamic > 0 {
            crate::opaque::part_added(base, dynamic);
        }
    }
}

/// Adds the part that is loaded at `base` with these segments if it contains the address `wanted`.
fn note(base: usize, segments: &[Elf64_Phdr], wanted: usize) -> Option<()> {
    let (mut low, mut high, mut dynamic) = (usize::MAX, 0, 0);
    for segment in segments {
        let start = base.wrapping_add(segment.p_vaddr as usize);
        match segment.p_type {
            PT_LOAD => {
                low = low.min(start);
                high = high.max(start.wrapping_add(segment.p_memsz as usize));
            }
            PT_DYNAMIC => dynamic = start,
            _ => {}
        }
    }
    if !(low..high).contains(&wanted) {
        return None;
    }
    let index = COUNT.fetch_add(1, Ordering::AcqRel);
    if let Some(module) = MODULES.get(index) {
        module.low.store(low, Ordering::Relaxed);
        module.base.store(base, Ordering::Relaxed);
        module.dynamic.store(dynamic, Ordering::Relaxed);
        module.high.store(high, Ordering::Release);
    }
    Some(())
}
