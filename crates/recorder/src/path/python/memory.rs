//! Reads memory of the interpreter.

/// Longest piece that is read at once \[B\].
const MAX_PIECE_BYTES: usize = 1 << 20;

/// Returns the word at an address by a system call, which fails where there is no memory.
pub(super) fn word(at: usize) -> Option<usize> {
    let mut word = [0; size_of::<usize>()];
    copy(at, &mut word).then(|| usize::from_ne_bytes(word))
}

/// Returns bytes from an address on, where there may be no memory.
pub(super) fn bytes(at: usize, length: usize) -> Option<Vec<u8>> {
    if length > MAX_PIECE_BYTES {
        return None;
    }
    let mut bytes = vec![0; length];
    copy(at, &mut bytes).then_some(bytes)
}

/// Copies bytes by a system call; returns true if all of them could be read.
fn copy(at: usize, to: &mut [u8]) -> bool {
    if to.is_empty() {
        return true;
    }
    let here = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let there = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: to.len() };
    // SAFETY: the memory written to is as long as stated; only the system reads from the address, and it
    // refuses invalid ones.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const here, 1, &raw const there, 1, 0) };
    usize::try_from(read) == Ok(to.len())
}

/// Returns the word at an address that the interpreter keeps valid.
#[inline]
pub(super) fn trusted_word(at: usize) -> Option<usize> {
    if at < 4096 || !at.is_multiple_of(align_of::<usize>()) {
        return None;
    }
    // SAFETY: only addresses in the state of a running thread, in its frames and in their code are read; the
    // layout of that memory has been checked.
    Some(unsafe { *(at as *const usize) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_memory_is_nothing_is_read() {
        let words = [1_usize, 2];
        let at = words.as_ptr() as usize;
        assert_eq!((word(at), word(at + 8), trusted_word(at + 8)), (Some(1), Some(2), Some(2)));
        assert_eq!(bytes(at, 4), Some(vec![1, 0, 0, 0]));
        for nowhere in [0, 1, 4096, 1 << 47, usize::MAX - 7] {
            assert_eq!((word(nowhere), bytes(nowhere, 16)), (None, None), "{nowhere:#x}");
        }
        assert_eq!((bytes(at, usize::MAX), trusted_word(0), trusted_word(at + 1)), (None, None, None));
    }
}
