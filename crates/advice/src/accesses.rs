//! What a rank accessed between two calls, ready for questions.

use hayase_trace::memory::{Gather, Interval, Kind, Site};
use smallvec::SmallVec;

use crate::address::{End, Hit, Touched};
use crate::doubts::Doubts;
use crate::watch::Span;

/// A place that accesses memory, in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessSite {
    /// Its line, a number of the rank's [`crate::lines::Lines`].
    pub line: u32,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is a call of which nothing is known.
    pub opaque: bool,
    /// Whether control was in code without instrumentation, which called MPI or the program from there.
    pub foreign: bool,
    /// Set for an argument that a call of MPI reads or writes.
    pub argument: bool,
    /// Name of the function that makes or ends a block of memory here.
    pub block: Option<&'static str>,
    /// What begins (`write`) or ends here: what has to be checked as long as it lasts.
    pub hazard: Doubts,
    /// Where: return address less one.
    pub address: u64,
}

impl AccessSite {
    /// From a recorded site whose line has this number.
    pub fn new(site: &Site, line: u32) -> Self {
        let opaque = site.kind == Kind::Opaque;
        Self {
            line,
            write: site.write,
            opaque,
            foreign: opaque && foreign_file(site).is_some() && !site.name.ends_with(')'),
            argument: site.kind == Kind::Call,
            block: (site.kind == Kind::Block).then(|| function_of_blocks(&site.name)),
            hazard: if site.kind == Kind::Hazard { Doubts::hazard(&site.name) } else { Doubts::default() },
            address: site.address,
        }
    }
}

/// The file, without its folder, of code that is not instrumented, where that is known: a call of a function has the
/// function's name, or something in brackets behind the file.
pub fn foreign_file(site: &Site) -> Option<&str> {
    let (_, file) = site.name.rsplit_once('/').filter(|_| site.kind == Kind::Opaque)?;
    Some(file.split_once(" (").map_or(file, |(file, _)| file))
}

/// Accesses of one site.
#[derive(Clone, PartialEq, Debug)]
pub enum Piece {
    /// They follow a rule.
    Nest(Touched),
    /// They do not.
    Gather {
        /// One by one.
        gather: Box<Gather>,
        /// Lowest byte.
        low: u64,
        /// One past the highest.
        high: u64,
    },
}

impl Piece {
    /// Where, an index of the rank's table of memory sites.
    pub fn site(&self) -> u32 {
        match self {
            Self::Nest(touched) => touched.nest.site,
            Self::Gather { gather, .. } => gather.site,
        }
    }

    /// How many they are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Nest(touched) => touched.nest.count(),
            Self::Gather { gather, .. } => gather.addresses.len() as u64,
        }
    }

    /// The lowest byte and one past the highest.
    #[inline]
    pub fn span(&self) -> (u64, u64) {
        match self {
            Self::Nest(touched) => (touched.low, touched.high),
            &Self::Gather { low, high, .. } => (low, high),
        }
    }

    /// Position of the last.
    pub fn last(&self) -> u64 {
        match self {
            Self::Nest(touched) => touched.nest.last(),
            Self::Gather { gather, .. } => {
                gather.first.wrapping_add(gather.step.wrapping_mul((gather.addresses.len() as u64).saturating_sub(1)))
            }
        }
    }

    /// The first or last that touches the bytes `low..high`.
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

    /// How many of them have positions below `position`.
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

/// The accesses of an interval.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Accesses {
    /// All but the opaque ones.
    pub pieces: Vec<Piece>,
    /// Variables of functions, and memory on the heap, that began or ended: as writes, but nothing that is computed.
    pub frames: Vec<Piece>,
    /// Position and site of every opaque call, by position.
    pub opaque: Vec<(u64, u32)>,
    /// Sites of hazards that begin or end, in their order.
    pub hazards: Vec<u32>,
    /// What the call behind the interval reads and writes beside its message.
    pub effects: Vec<Span>,
    /// How many accesses there are: one more than the last position.
    pub count: u64,
    /// How much room the pieces take, in nests.
    pub weight: usize,
}

/// Accesses before a call among which its arguments and conditions are looked for.
const LAST: u64 = 16;

/// Addresses that take the room of a nest.
const ADDRESSES_OF_A_NEST: usize = 16;

impl Accesses {
    /// Returns no accesses.
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

    /// Returns the accesses of a recorded interval before a call that is made at an address; `sites` is the rank's
    /// table.
    pub fn new(mut interval: Interval, sites: &[AccessSite], call: u64) -> Self {
        let mut accesses = Self::none();
        let opaque = |site: u32| sites.get(site as usize).is_none_or(|site| site.opaque);
        accesses.effects = take_effects(&mut interval, sites, call);
        for nest in interval.nests {
            accesses.count += nest.count();
            if opaque(nest.site) {
                // Calls in a loop: one by one up to a bound, which is where every search ends at the latest.
                let ends = [nest.first, nest.last()];
                accesses.opaque.extend(ends.into_iter().map(|position| (position, nest.site)));
            } else {
                accesses.weight += 1;
                accesses.pieces.push(Piece::Nest(Touched::new(nest)));
            }
        }
        for frame in interval.frames.into_iter().chain(interval.blocks) {
            accesses.weight += 1;
            accesses.frames.push(Piece::Nest(Touched::new(frame)));
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
            accesses.pieces.push(Piece::Gather { gather: Box::new(gather), low, high });
        }
        accesses.opaque.sort_unstable();
        accesses.opaque.dedup();
        accesses.hazards.extend(interval.hazards.iter().map(|hazard| hazard.site));
        accesses
    }

    /// Whether the call after them is made by code without instrumentation: that is marked behind all else.
    pub fn end_in_foreign_code(&self, sites: &[AccessSite]) -> bool {
        self.opaque.last().is_some_and(|&(position, site)| {
            position + 1 == self.count && sites.get(site as usize).is_some_and(|site| site.foreign)
        })
    }

    /// Returns variables that are read behind the last loop: arguments of the call and conditions before it.
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

    /// All that keeps messages apart: what was accessed, and variables that begin or end.
    pub fn touching(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().chain(&self.frames)
    }
}

/// Returns the name, in its source, of a function that makes or ends blocks of memory.
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

/// Takes the arguments of the call behind an interval out of it: they are noted at the address of the call.
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
