//! Random programs as data: ranks, each with the statements of the body of one loop.
//!
//! Every item is one line of the source, so that a line that advice names is an item of a rank. All data are whole
//! numbers from 0 to [`LIMIT`] - 1: sums do not depend on their order, and what was received can be a count or a rank.

/// Numbers that depend on the seed alone (splitmix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in `0..end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns true once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns one of the items.
    pub fn choose<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

/// Bound of all data.
pub const LIMIT: i32 = 9973;
/// Entries of each array.
pub const ENTRIES: usize = 4096;
/// Number of arrays; the last three have a purpose.
pub const ARRAYS: usize = 7;
/// Array of data in no fixed order, of which only sums are formed.
pub const UNORDERED: usize = 6;
/// Array of the window.
pub const WINDOW: usize = 5;
/// Array of packed messages.
pub const BOX: usize = 4;
/// Variables, requests and statuses of each rank.
pub const VARIABLES: usize = 40;
pub const REQUESTS: usize = 48;
pub const STATUSES: usize = 24;

/// Object in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object {
    /// A static array.
    Array(usize),
    /// The same array through a pointer.
    Alias(usize),
    /// An array that is allocated and freed in the loop.
    Heap(usize),
    /// An array of a block.
    Scope(usize),
    /// Indices that `Waitsome` writes.
    Indices,
    /// A variable.
    Variable(usize),
}

impl Object {
    /// Returns the object that owns the memory.
    pub fn memory(self) -> Self {
        match self {
            Self::Alias(array) => Self::Array(array),
            other => other,
        }
    }
}

/// Source of a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Base {
    Constant,
    /// The iteration, from 0.
    Iteration,
    Element(Object, usize),
    Source(usize),
    Tag(usize),
    AnySource,
    AnyTag,
}

/// `plus + base % modulo`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expression {
    pub base: Base,
    pub modulo: Option<usize>,
    pub plus: i32,
}

impl Expression {
    pub fn constant(value: usize) -> Self {
        Self { base: Base::Constant, modulo: None, plus: value as i32 }
    }

    pub fn plain(base: Base) -> Self {
        Self { base, modulo: None, plus: 0 }
    }

    pub fn variable(variable: usize) -> Self {
        Self::plain(Base::Element(Object::Variable(variable), 0))
    }

    /// Returns its value, if it is a constant.
    pub fn known(&self) -> Option<usize> {
        (self.base == Base::Constant).then_some(self.plus as usize)
    }
}

/// Part of an object that is computed on, sent or received.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    pub object: Object,
    pub offset: usize,
    pub count: Expression,
    /// Smallest possible number of entries.
    pub least: usize,
    /// Stride of entries; above 1 the part is an array section in Fortran.
    pub stride: usize,
    /// `MPI_PACKED`: the count is in bytes.
    pub packed: bool,
}

impl Part {
    pub fn new(object: Object, offset: usize, count: usize) -> Self {
        Self { object, offset, count: Expression::constant(count), least: count, stride: 1, packed: false }
    }

    pub fn variable(variable: usize) -> Self {
        Self::new(Object::Variable(variable), 0, 1)
    }

    /// Returns true if a compiler passes a copy; a single entry is contiguous whatever its stride.
    pub fn copied(&self) -> bool {
        self.stride > 1 && self.least > 1
    }

    /// Changes the number of entries.
    pub fn of(self, count: Expression, least: usize) -> Self {
        Self { count, least, ..self }
    }
}

/// A condition on data.
#[derive(Clone, PartialEq, Debug)]
pub enum Guard {
    Above(Expression, i32),
    Even(Expression),
    Odd(Expression),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectiveKind {
    Barrier,
    Allreduce,
    Reduce,
    Bcast,
    Allgather,
    Allgatherv,
    Alltoall,
    Scan,
}

/// One end of a message.
#[derive(Clone, PartialEq, Debug)]
pub struct End {
    pub part: Part,
    pub peer: Expression,
    pub tag: Expression,
    /// Number of the message, the same at both ends; `None` if the match depends on the run.
    pub message: Option<usize>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Operation {
    Send { end: End, synchronous: bool },
    Receive(End),
    Exchange { send: End, receive: End },
    Replace { send: End, receive: End },
    Collective(Collective),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Collective {
    pub kind: CollectiveKind,
    /// Contribution; `None` if in place.
    pub input: Option<Part>,
    pub output: Part,
    pub root: usize,
    /// Of `Allgatherv`: arrays with counts and displacements.
    pub counts: Option<[(Object, usize); 2]>,
    pub number: usize,
}

/// A call of MPI that moves data.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    pub operation: Operation,
    /// The request, if it does not block.
    pub request: Option<usize>,
    pub status: Option<usize>,
    /// Variable that takes the return code.
    pub code: Option<usize>,
    /// On the communicator of half of the ranks.
    pub half: bool,
}

impl Call {
    pub fn new(operation: Operation) -> Self {
        Self { operation, request: None, status: None, code: None, half: false }
    }
}

/// Calls that complete requests.
#[derive(Clone, PartialEq, Debug)]
pub enum Completion {
    Wait,
    /// A loop around `MPI_Test`.
    Test,
    All,
    /// Index of the one that is complete.
    Any(usize),
    /// Number of complete requests; their indices are in [`Object::Indices`].
    Some(usize),
}

/// Operations of the standard library of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Library {
    /// Sorts (C), reverses (Fortran).
    Sort,
    /// Entries to text.
    Print,
    /// Entries from the text.
    Scan,
    Save,
    Load,
    /// Another thread fills it (C).
    Thread,
    /// A signal handler fills it (C).
    Signal,
}

#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant, reason = "a program has a few dozen")]
pub enum Statement {
    /// Writes all entries, from the iteration and, if it is given, from another part.
    Fill {
        part: Part,
        seed: usize,
        from: Option<Part>,
    },
    /// Adds all entries to the checksum, in order.
    Use(Part),
    /// Adds block `index` of the part to a sum without order.
    Sum {
        part: Part,
        index: Option<Expression>,
    },
    /// Adds the blocks that `Waitsome` named.
    SumIndexed {
        part: Part,
        count: Expression,
    },
    /// Works on private memory.
    Work(usize),
    Set {
        variable: usize,
        value: Expression,
    },
    Copy {
        to: Part,
        from: Part,
    },
    Library(Library, Part),
    Allocate {
        heap: usize,
        entries: usize,
    },
    Reallocate {
        heap: usize,
        entries: usize,
    },
    Free {
        heap: usize,
    },
    ScopeOpen {
        scope: usize,
        entries: usize,
    },
    ScopeClose {
        scope: usize,
        entries: usize,
    },
    Pack {
        part: Part,
        position: usize,
    },
    Unpack {
        part: Part,
        position: usize,
    },
    ReduceLocal {
        from: Part,
        to: Part,
    },
    Count {
        status: usize,
        variable: usize,
    },
    Call(Call),
    /// Starts persistent requests, by their number in the list of the rank.
    Start(Vec<usize>),
    Complete {
        completion: Completion,
        requests: Vec<usize>,
        status: Option<usize>,
        code: Option<usize>,
    },
    Probe {
        peer: Expression,
        tag: Expression,
        status: usize,
        polling: bool,
    },
    /// Puts into the window of another rank, under a lock of its own.
    Put {
        part: Part,
        target: usize,
        offset: usize,
    },
    /// Adds up counts of blocks to their displacements.
    Places {
        counts: Part,
        places: Part,
    },
}

/// A line of the source.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    pub statement: Statement,
    pub guard: Option<Guard>,
    /// Idiom that it belongs to.
    pub idiom: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    C,
    /// `use mpi`
    Fortran,
    /// `use mpi_f08`
    Fortran08,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    pub language: Language,
    pub ranks: usize,
    pub iterations: usize,
    /// Loop bodies by rank.
    pub bodies: Vec<Vec<Item>>,
    /// Persistent requests by rank: calls with their request.
    pub persistent: Vec<Vec<Call>>,
    /// Names of its idioms.
    pub idioms: Vec<&'static str>,
    pub window: bool,
    pub errors_return: bool,
}
