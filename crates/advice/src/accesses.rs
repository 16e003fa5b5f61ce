//! Memory accesses of a rank between two calls, prepared for queries.

use hayase_trace::memory::{AccessKind, Gather, Interval, Site};
use smallvec::SmallVec;

use crate::address::{End, Hit, Touched};
use crate::doubts::Doubts;
use crate::watch::Span;

/// Source place that accesses memory, in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessSite {
    /// Line, as a number in the rank's [`crate::lines::Lines`].
    pub line: u32,
    /// True if the site writes.
    pub write: bool,
    /// True if the site is a call whose accesses are unknown.
    pub opaque: bool,
    /// True if code without instrumentation ran here, and called MPI or the program.
    pub foreign: bool,
    /// Set for an argument that an MPI call reads or writes.
    pub argument: bool,
    /// Name of the function that allocates or frees a block of memory here.
    pub block: Option<&'static str>,
    /// Hazard that begins (`write`) or ends here, as the doubts to check while it lasts.
    pub hazard: Doubts,
    /// Return address less one.
    pub address: u64,
}

impl AccessSite {
    /// Converts a recorded site; `line` is the number of its line.
    pub fn new(site: &Site, line: u32) -> Self {
        let opaque = site.kind == AccessKind::Opaque;
        Self {
            line,
            write: site.write,
            opaque,
            foreign: opaque && foreign_file(site).is_some() && !site.name.ends_with(')'),
            argument: site.kind == AccessKind::Call,
            block: (site.kind == AccessKind::Block).then(|| function_of_blocks(&site.name)),
            hazard: if site.kind == AccessKind::Hazard { Doubts::hazard(&site.name) } else { Doubts::default() },
            address: site.address,
        }
    }
}

/// Returns the file of code without instrumentation, without its folder; `None` if it is not known.
///
/// The name of such a site may have a function or a remark in brackets behind the file.
pub fn foreign_file(site: &Site) -> Option<&str> {
    let (_, file) = site.name.rsplit_once('/').filter(|_| site.kind == AccessKind::Opaque)?;
    Some(file.split_once(" (").map_or(file, |(file, _)| file))
}

/// Accesses of one site.
#[derive(Clone, PartialEq, Debug)]
pub enum SiteAccesses {
    /// Accesses that follow a rule.
    Nest(Touched),
    /// Accesses without a rule.
    Gather {
        /// Addresses, one by one.
        gather: Box<Gather>,
        /// Lowest byte.
        low: u64,
        /// One past the highest byte.
        high: u64,
    },
}

impl SiteAccesses {
    /// Returns the index of the site in the rank's table of memory sites.
    pub fn site(&self) -> u32 {
        match self {
            Self::Nest(touched) => touched.nest.site,
            Self::Gather { gather, .. } => gather.site,
        }
    }

    /// Number of accesses.
    pub fn count(&self) -> u64 {
        match self {
            Self::Nest(touched) => touched.nest.count(),
            Self::Gather { gather, .. } => gather.addresses.len() as u64,
        }
    }

    /// Returns the lowest byte and one past the highest.
    #[inline]
    pub fn span(&self) -> (u64, u64) {
        match self {
            Self::Nest(touched) => (touched.low, touched.high),
            &Self::Gather { low, high, .. } => (low, high),
        }
    }

    /// Position of the last access.
    pub fn last(&self) -> u64 {
        match self {
            Self::Nest(touched) => touched.nest.last(),
            Self::Gather { gather, .. } => {
                gather.first.wrapping_add(gather.step.wrapping_mul((gather.addresses.len() as u64).saturating_sub(1)))
            }
        }
    }

    /// Returns the first or last access that touches the bytes `low..high`.
    pub fn hit(&self, low: u64, high: u64, end: End) -> Option<Hit> {
        match self {
            Self::Nest(touched) => touched.hit(low, high, end),
            Self::Gather { gather, .. } => {
                let touches = |&address: &u64| address < high && low < address.saturating_add(gather.size);
                let index = match end {
                    End::First => gather.addresses.iter().position(touches),
                    End::Last => gather.addresses.iter().rposition(touches),
                }?;
                let position = gather.first.wrapping_add(gather.step.wrapping_mul(index as u64));
                Some(Hit { position, address: gather.addresses[index] })
            }
        }
    }

    /// Counts the accesses at positions below `position`.
    pub fn before(&self, position: u64) -> u64 {
        match self {
            Self::Nest(touched) => touched.before(position),
            Self::Gather { gather, .. } => {
                let count = gather.addresses.len() as u64;
                match position.checked_sub(gather.first) {
                    None | Some(0) => 0,
                    Some(ahead) => (ahead - 1).checked_div(gather.step).map_or(count, |whole| (whole + 1).min(count)),
                }
            }
        }
    }
}

/// Accesses of an interval.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Accesses {
    /// All accesses except opaque calls.
    pub pieces: Vec<SiteAccesses>,
    /// Variables of functions and blocks of the heap that begin or end. They count as writes but not as
    /// computation.
    pub frames: Vec<SiteAccesses>,
    /// Position and site of every opaque call, by position.
    pub opaque: Vec<(u64, u32)>,
    /// Sites of hazards that begin or end, in their order of execution.
    pub hazards: Vec<u32>,
    /// Bytes that the call after the interval reads and writes besides its message.
    pub effects: Vec<Span>,
    /// Number of accesses: one more than the last position.
    pub count: u64,
    /// Memory that the pieces take, in nests.
    pub weight: usize,
}

/// Number of accesses before a call that are searched for its arguments and conditions.
const LAST: u64 = 16;

/// Number of addresses that take as much memory as a nest.
const ADDRESSES_OF_A_NEST: usize = 16;

impl Accesses {
    /// Returns an empty set of accesses.
    pub const fn none() -> Self {
        Self {
            pieces: Vec::new(),
            frames: Vec::new(),
            opaque: Vec::new(),
            hazards: Vec::new(),
            effects: Vec::new(),
            count: 0,
            weight: 0,
        }
    }

    /// Converts a recorded interval before a call at address `call`; `sites` is the rank's table.
    pub fn new(mut interval: Interval, sites: &[AccessSite], call: u64) -> Self {
        let mut accesses = Self::none();
        let opaque = |site: u32| sites.get(site as usize).is_none_or(|site| site.opaque);
        accesses.effects = take_effects(&mut interval, sites, call);
        for nest in interval.nests {
            accesses.count += nest.count();
            if opaque(nest.site) {
                // The first and last call of a loop are enough: no search goes past either.
                let ends = [nest.first, nest.last()];
                accesses.opaque.extend(ends.into_iter().map(|position| (position, nest.site)));
            } else {
                accesses.weight += 1;
                accesses.pieces.push(SiteAccesses::Nest(Touched::new(nest)));
            }
        }
        for frame in interval.frames.into_iter().chain(interval.blocks) {
            accesses.weight += 1;
            accesses.frames.push(SiteAccesses::Nest(Touched::new(frame)));
        }
        for gather in interval.gathers {
            accesses.count += gather.addresses.len() as u64;
            if opaque(gather.site) {
                let last = gather.first.wrapping_add(gather.step.wrapping_mul(gather.addresses.len() as u64));
                accesses.opaque.extend([(gather.first, gather.site), (last.wrapping_sub(gather.step), gather.site)]);
                continue;
            }
            let low = gather.addresses.iter().copied().min().unwrap_or(0);
            let high = gather.addresses.iter().copied().max().unwrap_or(0).saturating_add(gather.size);
            accesses.weight += 1 + gather.addresses.len() / ADDRESSES_OF_A_NEST;
            accesses.pieces.push(SiteAccesses::Gather { gather: Box::new(gather), low, high });
        }
        accesses.opaque.sort_unstable();
        accesses.opaque.dedup();
        accesses.hazards.extend(interval.hazards.iter().map(|hazard| hazard.site));
        accesses
    }

    /// True if code without instrumentation makes the call after the interval: the last opaque access marks
    /// that.
    pub fn end_in_foreign_code(&self, sites: &[AccessSite]) -> bool {
        self.opaque.last().is_some_and(|&(position, site)| {
            position + 1 == self.count && sites.get(site as usize).is_some_and(|site| site.foreign)
        })
    }

    /// Returns the variables read after the last loop: arguments of the call and conditions before it.
    pub fn read_last(&self, sites: &[AccessSite]) -> SmallVec<[Span; 4]> {
        let loops = self.pieces.iter().filter(|piece| piece.count() > 1).map(|piece| piece.last() + 1).max();
        let from = loops.unwrap_or(0).max(self.count.saturating_sub(LAST));
        let variables = self
            .pieces
            .iter()
            .filter(|piece| piece.count() == 1 && piece.last() >= from)
            .filter(|piece| sites.get(piece.site() as usize).is_some_and(|site| !site.write && !site.argument));
        variables.map(|piece| piece.span()).map(|(low, high)| Span::new(low, high, false)).collect()
    }

    /// Returns everything that keeps messages apart: accesses, and variables that begin or end.
    pub fn touching(&self) -> impl Iterator<Item = &SiteAccesses> {
        self.pieces.iter().chain(&self.frames)
    }
}

/// Returns the source name of a function that allocates or frees memory.
fn function_of_blocks(name: &str) -> &'static str {
    const NAMES: [&str; 8] =
        ["malloc", "calloc", "realloc", "free", "mmap", "munmap", "posix_memalign", "aligned_alloc"];
    match NAMES.into_iter().find(|known| *known == name) {
        Some(known) => known,
        None if name.starts_with("_Zd") => "delete",
        None if name.starts_with("_Zn") => "new",
        None if name.starts_with("_gfortran_internal_") => "copy of an array section",
        None => "a block of memory",
    }
}

/// Removes the arguments of the call from the interval and returns them: they are recorded at the address of
/// the call.
fn take_effects(interval: &mut Interval, sites: &[AccessSite], call: u64) -> Vec<Span> {
    let argument = |site: u32| sites.get(site as usize).filter(|site| site.argument && site.address == call);
    let mut effects = Vec::new();
    let mut take = |site: &AccessSite, low: u64, size: u64| {
        let high = low.saturating_add(size);
        effects.push(if site.write { Span::result(low, high) } else { Span::new(low, high, false) });
    };
    interval.nests.retain(|nest| {
        let Some(site) = argument(nest.site) else { return true };
        let all = nest.runs().flat_map(|run| (0..run.count).filter_map(move |index| run.access(index)));
        all.for_each(|(low, _)| take(site, low, nest.size));
        false
    });
    interval.gathers.retain(|gather| {
        let Some(site) = argument(gather.site) else { return true };
        gather.addresses.iter().for_each(|&low| take(site, low, gather.size));
        false
    });
    effects
}
