//! Assumptions of a finding that the run cannot show, and their sentences.

/// Set of assumptions of a finding that the trace cannot show, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Doubts(pub u32);

impl Doubts {
    /// The datatype is not a basic one and is assumed to have no gaps.
    pub const DATATYPE: Self = Self(1);
    /// Blocks are assumed to be contiguous: their displacements were not recorded.
    pub const BLOCKS: Self = Self(2);
    /// The buffer's address is not known.
    pub const ADDRESS: Self = Self(4);
    /// Memory accesses were not recorded.
    pub const MEMORY: Self = Self(8);
    /// The call waits for its receiver by definition, and the program may rely on that.
    pub const SYNCHRONOUS: Self = Self(16);
    /// The receive accepts any source or any tag.
    pub const WILDCARD: Self = Self(32);
    /// The program may reduce the messages, or do something else with them.
    pub const OPERATION: Self = Self(64);
    /// The buffer is not contiguous: the interval from its first to its last byte stands for it.
    pub const GAPS: Self = Self(128);
    /// Code without instrumentation made the call.
    pub const FOREIGN: Self = Self(1024);
    /// Earlier messages may decide if the call is made, and with which arguments.
    pub const CONTENT: Self = Self(512);
    /// The data of several calls that become one is not ready at the first of them.
    pub const PLACE: Self = Self(2048);
    /// Other threads of the program run; their accesses were not seen.
    pub const THREADS: Self = Self(1 << 12);
    /// A signal handler may run at any place.
    pub const SIGNALS: Self = Self(1 << 13);
    /// Memory is shared with other processes or with a file.
    pub const MAPPED: Self = Self(1 << 14);
    /// MPI returns errors to the program, which may act on them.
    pub const ERRORS: Self = Self(1 << 15);
    /// Other ranks access memory of this rank through a window.
    pub const WINDOW: Self = Self(1 << 16);
    /// The buffer is a variable on the stack, whose block may end before its function.
    pub const SCOPE: Self = Self(1 << 18);
    /// Calls of functions without instrumentation could not be seen.
    pub const CALLS: Self = Self(1 << 17);

    /// Returns the doubt for a hazard, from its name in a file of accesses.
    pub fn hazard(name: &str) -> Self {
        match name {
            "thread" => Self::THREADS,
            "signal handler" => Self::SIGNALS,
            "shared mapping" => Self::MAPPED,
            "errors return" => Self::ERRORS,
            "window" => Self::WINDOW,
            _ => Self::CALLS,
        }
    }

    /// Adds the doubts of `other`.
    pub fn and(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// True if all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the caveats to check and the notes, in sentences.
    pub fn sentences(self) -> (Vec<String>, Vec<String>) {
        let checks = [
            (
                Self::DATATYPE,
                "a derived datatype was used: it was taken to have no gaps; check what lies between its elements",
            ),
            (
                Self::BLOCKS,
                "the blocks of this operation were taken to lie one after the other; check their displacements",
            ),
            (Self::ADDRESS, "where a buffer lies was not recorded: only the order of calls was looked at"),
            (
                Self::MEMORY,
                "memory accesses were not recorded: compile with `hayase cc` and record with --memory to know what the \
                 computation reads and writes",
            ),
            (
                Self::SYNCHRONOUS,
                "the call returns only when its receiver has begun to receive; check that the program does not rely on that",
            ),
            (
                Self::OPERATION,
                "what is done with the messages was not looked at: check that it is a sum, a maximum or the like",
            ),
            (
                Self::CONTENT,
                "what came before was read by then: check that neither whether the call is made nor its partner, tag or length depends \
                 on it",
            ),
            (
                Self::PLACE,
                "what is sent is made, or what is received is used, between the first of these calls and the last: check that one place \
                 in between suits both",
            ),
            (
                Self::FOREIGN,
                "the call is made by code that was not instrumented: what that reads and writes before and after it was not seen; \
                 compile it with `hayase cc` too",
            ),
            (Self::THREADS, "other threads run, whose accesses were not seen: check that none of them uses the buffer"),
            (Self::SIGNALS, "the program handles signals: check that no handler uses the buffer"),
            (
                Self::MAPPED,
                "memory is shared with other processes or a file: check that the buffer is not, and that nobody waits there for the message",
            ),
            (
                Self::ERRORS,
                "errors of MPI are returned to the program: check that what follows the call does not depend on the return code",
            ),
            (
                Self::SCOPE,
                "the buffer is on the stack: check that the block or loop body that declares it does not end meanwhile",
            ),
            (
                Self::CALLS,
                "calls of functions that were not instrumented could not be seen: check that none of them uses the buffer",
            ),
            (
                Self::WINDOW,
                "other ranks may access memory of this one (a window): check that neither the buffer nor what is computed is in one",
            ),
        ];
        // An interval around a buffer forbids too much, never too little.
        let notes = [
            (
                Self::GAPS,
                "a buffer is not contiguous: the interval from its first to its last byte was assumed; what lies between its elements \
                 may forbid less",
            ),
            (Self::WILDCARD, "the receive takes messages from any rank or with any tag; which comes first may change"),
        ];
        let of = |list: &[(Self, &str)]| -> Vec<String> {
            list.iter().filter(|&&(doubt, _)| self.has(doubt)).map(|&(_, text)| text.to_owned()).collect()
        };
        (of(&checks), of(&notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_doubt_is_to_be_checked_or_a_note_and_said_once() {
        for bit in 0..32 {
            let (checks, notes) = Doubts(1 << bit).sentences();
            assert!(checks.len() + notes.len() <= 1, "{checks:?} {notes:?}");
        }
        let (checks, notes) = Doubts(u32::MAX).sentences();
        assert!(checks.len() > 7 && notes.len() == 2, "{checks:?} {notes:?}");
    }
}
