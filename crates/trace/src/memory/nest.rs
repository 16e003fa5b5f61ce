//! Contents of a file of accesses: sites, and their accesses in nests of loops.

/// First bytes of every file of accesses. The fourth byte from the end is the version of the format.
pub const SIGNATURE: [u8; 8] = *b"\x89HYM1\r\n\x1a";

/// Extension of a file of accesses: `rank-00012.mem`.
pub const EXTENSION: &str = "mem";

/// Largest number of levels of a nest.
pub const DEPTH: usize = 4;

/// Kind of access of a site.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AccessKind {
    /// An instruction of the program.
    #[default]
    Plain,
    /// An atomic operation of the program.
    Atomic,
    /// A library function with a known effect, called by the program: one of the C library that copies or
    /// fills memory, or one of MPI that is not recorded.
    Library,
    /// A call of a function that is not instrumented. Its reads and writes are unknown: such an access has
    /// size 0 and address 0, and only its position has a meaning. If control comes back from such code in
    /// another way (a call of MPI from there, a function of the program called from there), the name is the
    /// path of the file.
    Opaque,
    /// A function of the program begins or ends: the bytes of its variables on the stack begin or cease to be
    /// theirs. Compilers put arguments there without a report. It is not an access and has no position of its
    /// own: it lies before the access with that position. Only functions that run during a call are noted.
    Frame,
    /// An argument of a recorded MPI call that is not a message: a status, counts, indices, requests. It ends
    /// its interval and has the address of the call's site. It is read when the call is posted, written when
    /// it completes.
    Call,
    /// A block of memory begins or ceases to exist (`malloc`, `free`). Like a frame it is not an access, and
    /// lies before the access with its position. Blocks that came and went between two calls are left out.
    Block,
    /// From this position on, memory may change without an access (`write`), or no longer may. The name is
    /// the reason: `thread`, `signal handler`, `shared mapping`, `errors return`, `window`, `calls not seen`.
    /// It has size 0 and address 0, and lies before the access with its position.
    Hazard,
}

impl AccessKind {
    pub(crate) const ALL: [Self; 8] =
        [Self::Plain, Self::Atomic, Self::Library, Self::Opaque, Self::Frame, Self::Call, Self::Block, Self::Hazard];

    /// Returns true if records of this kind are accesses: each has a position of its own.
    pub fn is_access(self) -> bool {
        !matches!(self, Self::Frame | Self::Block | Self::Hazard)
    }
}

/// A place in the program that accesses memory, in one direction.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Site {
    /// Return address minus one, in the process; the memory map of the process gives file and line.
    pub address: u64,
    /// True if it writes.
    pub write: bool,
    /// Kind of access.
    pub kind: AccessKind,
    /// Name of the called function if `kind` is `Library`, `Opaque`, `Call` or `Block`; the reason of a
    /// `Hazard`.
    pub name: String,
}

/// One loop around an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Level {
    /// Number of iterations, at least 1.
    pub count: u64,
    /// Distance by which an iteration moves the address \[B\].
    pub stride: i64,
    /// Number of accesses of any site in an iteration.
    pub step: u64,
}

/// Accesses of a nest of loops at one site: addresses and positions are affine in all its indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nest {
    /// Site, an index of the table of sites.
    pub site: u32,
    depth: u8,
    /// Size of each access \[B\].
    pub size: u64,
    /// Address of the first access.
    pub base: u64,
    /// Position of the first access in its interval.
    pub first: u64,
    levels: [Level; DEPTH],
}

impl Nest {
    /// Creates a nest of loops, the innermost first. Loops of one iteration are left out, and so are those
    /// beyond [`DEPTH`].
    pub fn new(site: u32, size: u64, base: u64, first: u64, levels: &[Level]) -> Self {
        let mut nest = Self { site, size, base, first, ..Self::default() };
        for level in levels {
            nest.push(*level);
        }
        nest
    }

    /// Loops of the nest, the innermost first; none for a single access.
    pub fn levels(&self) -> &[Level] {
        &self.levels[..usize::from(self.depth)]
    }

    /// Adds an outermost loop, if it has more than one iteration and there is room.
    pub(crate) fn push(&mut self, level: Level) {
        if level.count > 1 && usize::from(self.depth) < DEPTH {
            self.levels[usize::from(self.depth)] = level;
            self.depth += 1;
        }
    }

    /// Number of accesses.
    pub fn count(&self) -> u64 {
        self.levels().iter().fold(1_u64, |product, level| product.saturating_mul(level.count))
    }

    /// Position of the last access.
    pub fn last(&self) -> u64 {
        self.levels().iter().fold(self.first, |at, level| at.wrapping_add((level.count - 1).wrapping_mul(level.step)))
    }

    /// Returns the lowest address and one past the highest; `None` if they exceed 64 bits.
    pub fn span(&self) -> Option<(u64, u64)> {
        let (mut low, mut high) = (i128::from(self.base), i128::from(self.base));
        for level in self.levels() {
            let way = i128::from(level.stride).checked_mul(i128::from(level.count - 1))?;
            if way < 0 { low = low.checked_add(way)? } else { high = high.checked_add(way)? }
        }
        let end = high.checked_add(i128::from(self.size))?;
        Some((u64::try_from(low).ok()?, u64::try_from(end).ok()?))
    }

    /// Returns the innermost loop once for each iteration of the outer ones, in order.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let inner = self.levels().first().copied().unwrap_or(Level { count: 1, stride: 0, step: 0 });
        let outer = self.levels().get(1..).unwrap_or_default();
        let times = outer.iter().fold(1_u64, |product, level| product.saturating_mul(level.count));
        (0..times).map(move |index| {
            let (mut base, mut first, mut index) = (self.base, self.first, index);
            for level in outer {
                let i = index % level.count;
                index /= level.count;
                base = base.wrapping_add_signed(level.stride.wrapping_mul(i as i64));
                first = first.wrapping_add(level.step.wrapping_mul(i));
            }
            let Self { site, size, .. } = *self;
            Run { site, size, base, first, stride: inner.stride, count: inner.count, step: inner.step }
        })
    }
}

/// A loop at one site: access `i` of `count` is at `base + i stride` and has position `first + i step`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Run {
    /// Site, an index of the table of sites, which tells if it writes.
    pub site: u32,
    /// Size of each access \[B\].
    pub size: u64,
    /// Address of the first access.
    pub base: u64,
    /// Distance of consecutive addresses \[B\].
    pub stride: i64,
    /// Number of accesses.
    pub count: u64,
    /// Position of the first access in its interval.
    pub first: u64,
    /// Distance of consecutive positions.
    pub step: u64,
}

impl Run {
    /// Returns address and position of access `index`; `None` beyond the end.
    pub fn access(&self, index: u64) -> Option<(u64, u64)> {
        (index < self.count).then(|| {
            let address = self.base.wrapping_add_signed(self.stride.wrapping_mul(index as i64));
            (address, self.first.wrapping_add(self.step.wrapping_mul(index)))
        })
    }
}

/// Accesses of a site at equally spaced positions and irregular addresses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Gather {
    /// Site, an index of the table of sites.
    pub site: u32,
    /// Size of each access \[B\].
    pub size: u64,
    /// Position of the first access in its interval.
    pub first: u64,
    /// Distance of consecutive positions.
    pub step: u64,
    /// Addresses of the accesses.
    pub addresses: Vec<u64>,
}

impl Gather {
    /// Returns its accesses as runs of one.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.addresses.iter().zip(0_u64..).map(|(&base, i)| Run {
            site: self.site,
            size: self.size,
            base,
            stride: 0,
            count: 1,
            first: self.first.wrapping_add(self.step.wrapping_mul(i)),
            step: 0,
        })
    }
}

/// Totals at the end of a file of accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Number of recorded accesses.
    pub accesses: u64,
    /// Number of accesses of threads that are not recorded.
    pub elsewhere: u64,
    /// Number of lost accesses: the recorder was at work, or the file could not be written.
    pub lost: u64,
}
