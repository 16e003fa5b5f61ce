//! Stack of a thread: the memory that may be read.

/// Memory of a thread's stack \[address\]; empty if unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stack {
    low: usize,
    high: usize,
}

impl Stack {
    /// Returns the stack of the calling thread.
    #[cold]
    pub fn of_this_thread() -> Self {
        let (mut low, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: there is room for the answers; what was initialised is destroyed.
        unsafe {
            let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
            if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
                return Self::default();
            }
            let found = libc::pthread_attr_getstack(&raw const attributes, &raw mut low, &raw mut size);
            libc::pthread_attr_destroy(&raw mut attributes);
            if found != 0 {
                return Self::default();
            }
        }
        Self { low: low as usize, high: (low as usize).saturating_add(size) }
    }

    /// Returns the part in use above a stack pointer; nothing if the pointer is outside of this stack (as in
    /// a coroutine).
    #[inline]
    pub fn above(self, pointer: usize) -> UsedStack {
        let inside = (self.low..self.high).contains(&pointer);
        UsedStack { low: pointer, high: if inside { self.high } else { 0 } }
    }
}

/// The part of a stack that is in use, from the stack pointer of a function that has not returned.
#[derive(Clone, Copy, Debug)]
pub struct UsedStack {
    low: usize,
    high: usize,
}

impl UsedStack {
    /// Returns the word at an address within the part in use.
    #[inline]
    pub fn word(self, at: usize) -> Option<usize> {
        if at < self.low || at >= self.high.saturating_sub(7) || !at.is_multiple_of(8) {
            return None;
        }
        // SAFETY: between the stack pointer of a running function and the beginning of its thread's stack
        // everything is mapped, and only this thread changes it.
        Some(unsafe { *(at as *const usize) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_use_is_read() {
        let words = [7_usize, 8];
        let at = words.as_ptr() as usize;
        let stack = Stack::of_this_thread();
        let in_use = stack.above(at);
        assert_eq!((in_use.word(at), in_use.word(at + 8)), (Some(7), Some(8)));
        for outside in [0, 8, at - 8, at + 1, stack.high - 7, stack.high, stack.high + 8, usize::MAX & !7] {
            assert_eq!(in_use.word(outside), None, "{outside:#x}");
        }
        let heap = Box::new([9_usize; 4]);
        let elsewhere = heap.as_ptr() as usize;
        assert_eq!(stack.above(elsewhere).word(elsewhere), None, "a stack that is not this thread's");
        let other = std::thread::spawn(move || stack.above(at).word(at).is_some() && Stack::of_this_thread() != stack);
        assert!(other.join().unwrap());
    }
}
