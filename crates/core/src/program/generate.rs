//! Generated programs: schedules on which simulators of this kind are compared.
//!
//! Each is described by a text like `pairwise:ranks=64,size=20480B`; keys that are left out have their
//! default.

use super::{Envelope, GaussianElimination, GraphBuilder, Op, PivotSearch, Program, ProgramBuilder, Swap};
use crate::diagnostic::{Diagnostic, closest};
use crate::units::{Bytes, Time};

/// Generator of a program.
#[derive(Clone, PartialEq, Debug)]
pub enum Generator {
    /// All-to-all in steps: in step s a rank sends to `r + s` and receives from `r - s`, both after those of
    /// the previous step.
    Pairwise {
        /// Number of ranks.
        ranks: u32,
        /// Size of each message.
        size: Bytes,
    },
    /// All-to-all at once: a send to and a receive from each other rank, in no order.
    Linear {
        /// Number of ranks.
        ranks: u32,
        /// Size of each message.
        size: Bytes,
    },
    /// A dissemination barrier: in step k a rank sends to `r + 2^k` and receives from `r - 2^k`; a send
    /// requires the receive of the previous step.
    Dissemination {
        /// Number of ranks.
        ranks: u32,
        /// Size of each message.
        size: Bytes,
    },
    /// A broadcast by a binomial tree from rank 0; a rank sends to its farthest child first.
    Broadcast {
        /// Number of ranks.
        ranks: u32,
        /// Size of each message.
        size: Bytes,
    },
    /// A stencil on a torus of `x` times `y` ranks: in each iteration a calculation, then a message to each
    /// of the four neighbours.
    Stencil {
        /// Number of ranks along the first dimension.
        x: u32,
        /// Number of ranks along the second dimension.
        y: u32,
        /// Number of iterations.
        iterations: u32,
        /// Size of each message.
        size: Bytes,
        /// Duration of a calculation.
        calc: Time,
    },
    /// Gaussian elimination with partial pivoting on a grid of ranks.
    GaussianElimination(GaussianElimination),
}

/// Names of the generators, and their keys with defaults.
const GENERATORS: [(&str, &[(&str, &str)]); 6] = [
    ("pairwise", &[("ranks", "64"), ("size", "20480 B")]),
    ("linear", &[("ranks", "64"), ("size", "20480 B")]),
    ("dissemination", &[("ranks", "64"), ("size", "8 B")]),
    ("broadcast", &[("ranks", "64"), ("size", "1024 B")]),
    ("stencil", &[("x", "8"), ("y", "8"), ("iterations", "10"), ("size", "8192 B"), ("calc", "100 us")]),
    (
        "gaussian-elimination",
        &[
            ("n", "1024"),
            ("ranks", "16"),
            ("block", "8"),
            ("flops", "96e6"),
            ("fragment", "none"),
            ("look-ahead", "true"),
            ("search", "allreduce"),
            ("swap", "rows"),
            ("solve", "true"),
            ("seed", "1"),
        ],
    ),
];

/// Largest number of ranks of a generated program.
const MOST_RANKS: u32 = 1 << 24;

/// Largest number of operations of a generated program.
const MOST_OPERATIONS: u64 = 1 << 31;

impl Generator {
    /// Names of the generators.
    pub fn names() -> impl Iterator<Item = &'static str> {
        GENERATORS.iter().map(|(name, _)| *name)
    }

    /// Lists all generators with their keys and defaults, one a line, for help texts.
    pub fn usage() -> String {
        let line = |(name, keys): &(&str, &[(&str, &str)])| {
            let keys: Vec<String> =
                keys.iter().map(|(key, value)| format!("{key}={}", value.replace(' ', ""))).collect();
            format!("  {name}:{}\n", keys.join(","))
        };
        GENERATORS.iter().map(line).collect()
    }

    /// Returns true if a text names a generator rather than a file.
    pub fn is_meant(text: &str) -> bool {
        let name = text.split(':').next().unwrap_or(text);
        Self::names().any(|known| known == name)
    }

    /// Returns the generator most likely meant by a text that names no file: `lineer:ranks=4`.
    pub fn meant(text: &str) -> Option<&'static str> {
        let name = text.split(':').next().unwrap_or(text);
        closest(name, Self::names())
    }

    /// Reads a generator from its text.
    ///
    /// # Errors
    /// An unknown name or key, or an invalid value.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let wrong = |message: String| Diagnostic::new("wrong-program", message);
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let Some((name, keys)) = GENERATORS.iter().find(|(known, _)| *known == name) else {
            let near = closest(name, Self::names()).map_or_else(
                || format!("there are: {}", Self::names().collect::<Vec<_>>().join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(wrong(format!("unknown program `{name}`")).help(near));
        };
        let mut given = vec![false; keys.len()];
        let mut values: Vec<&str> = keys.iter().map(|(_, value)| *value).collect();
        for setting in settings.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            let Some(at) = keys.iter().position(|(known, _)| *known == key.trim()) else {
                let known: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
                let known = match closest(key.trim(), known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`? there are: {}", known.join(", ")),
                    None => format!("there are: {}", known.join(", ")),
                };
                return Err(wrong(format!("{name} has no `{key}`")).help(known));
            };
            if std::mem::replace(&mut given[at], true) {
                return Err(wrong(format!("`{}` of {name} is given twice", key.trim())).help("leave one of them out"));
            }
            values[at] = value.trim();
        }
        let number = |at: usize| match values[at].parse::<u32>() {
            Ok(number) if (1..=MOST_RANKS).contains(&number) => Ok(number),
            _ => Err(wrong(format!(
                "`{}` of {name} is a number from 1 to {MOST_RANKS}, not `{}`",
                keys[at].0, values[at]
            ))),
        };
        let size = |at: usize| values[at].parse::<Bytes>().map_err(|error| wrong(error.to_string()));
        let time = |at: usize| values[at].parse::<Time>().map_err(|error| wrong(error.to_string()));
        let generator = match *name {
            "pairwise" => Self::Pairwise { ranks: number(0)?, size: size(1)? },
            "linear" => Self::Linear { ranks: number(0)?, size: size(1)? },
            "dissemination" => Self::Dissemination { ranks: number(0)?, size: size(1)? },
            "broadcast" => Self::Broadcast { ranks: number(0)?, size: size(1)? },
            "gaussian-elimination" => {
                let other = |at: usize, what: &str| {
                    wrong(format!("`{}` of {name} is {what}, not `{}`", keys[at].0, values[at]))
                };
                Self::GaussianElimination(GaussianElimination {
                    n: number(0)?,
                    ranks: number(1)?,
                    block: number(2)?,
                    flops: values[3].parse().map_err(|_| other(3, "a number of operations a second, like 96e6"))?,
                    fragment: if values[4] == "none" { None } else { Some(size(4)?) },
                    look_ahead: values[5].parse().map_err(|_| other(5, "true or false"))?,
                    search: match values[6] {
                        "allreduce" => PivotSearch::Allreduce,
                        "gather" => PivotSearch::Gather,
                        _ => return Err(other(6, "allreduce or gather")),
                    },
                    swap: match values[7] {
                        "rest" => Swap::Rest,
                        "rows" => Swap::Rows,
                        _ => return Err(other(7, "rest or rows")),
                    },
                    solve: values[8].parse().map_err(|_| other(8, "true or false"))?,
                    seed: values[9].parse().map_err(|_| other(9, "a whole number"))?,
                })
            }
            _ => Self::Stencil { x: number(0)?, y: number(1)?, iterations: number(2)?, size: size(3)?, calc: time(4)? },
        };
        if let Self::GaussianElimination(spec) = &generator
            && let Some(mistake) = spec.mistake()
        {
            return Err(wrong(mistake));
        }
        match generator.operations() {
            count if count > MOST_OPERATIONS => {
                Err(wrong(format!("{text} would have {count} operations, more than {MOST_OPERATIONS}")))
            }
            _ => Ok(generator),
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        match *self {
            Self::Pairwise { ranks, .. }
            | Self::Linear { ranks, .. }
            | Self::Dissemination { ranks, .. }
            | Self::Broadcast { ranks, .. } => ranks,
            Self::Stencil { x, y, .. } => x.saturating_mul(y),
            Self::GaussianElimination(ref spec) => spec.ranks,
        }
    }

    /// Approximate number of operations.
    fn operations(&self) -> u64 {
        let ranks = u64::from(self.ranks());
        ranks
            * match self {
                Self::GaussianElimination(spec) => return spec.operations(),
                Self::Pairwise { .. } | Self::Linear { .. } => 2 * ranks,
                Self::Dissemination { .. } => 2 * u64::from(ranks.ilog2() + 1),
                Self::Broadcast { .. } => 2,
                Self::Stencil { iterations, .. } => 9 * u64::from(*iterations),
            }
    }

    /// Generates the program. Cost: proportional to its operations.
    ///
    /// # Errors
    /// None for a generator that [`Generator::parse`] accepts.
    pub fn program(&self) -> Result<Program, Vec<Diagnostic>> {
        if let Self::GaussianElimination(spec) = self {
            return spec.program();
        }
        let mut program = ProgramBuilder::new(self.ranks());
        for rank in 0..self.ranks() {
            let mut graph = program.graph(rank);
            self.rank(rank, &mut graph);
            program.finish_rank(graph);
        }
        program.build()
    }

    fn rank(&self, r: u32, graph: &mut GraphBuilder) {
        match *self {
            // Its ranks are sequences, and written all at once.
            Self::GaussianElimination(_) => {}
            Self::Pairwise { ranks, size } => {
                let mut before: Option<(u32, u32)> = None;
                graph.reserve(2 * (ranks as usize - 1), 4 * (ranks as usize).saturating_sub(2));
                for step in 1..ranks {
                    let send = graph.push(Op::send(Envelope::world((r + step) % ranks, step), size.0));
                    let recv = graph.push(Op::recv(Envelope::world((r + ranks - step) % ranks, step), size.0));
                    if let Some((sent, received)) = before {
                        for op in [send, recv] {
                            graph.requires(op, received);
                            graph.requires(op, sent);
                        }
                    }
                    before = Some((send, recv));
                }
            }
            Self::Linear { ranks, size } => {
                graph.reserve(2 * (ranks as usize - 1), 0);
                for step in 1..ranks {
                    graph.push(Op::send(Envelope::world((r + step) % ranks, 0), size.0));
                    graph.push(Op::recv(Envelope::world((r + ranks - step) % ranks, 0), size.0));
                }
            }
            Self::Dissemination { ranks, size } => {
                let mut before = None;
                let steps = ranks.next_power_of_two().ilog2() as usize;
                graph.reserve(2 * steps, steps);
                let mut tag = 1;
                let mut distance = 1;
                while distance < ranks {
                    let send = graph.push(Op::send(Envelope::world((r + distance) % ranks, tag), size.0));
                    let recv = graph.push(Op::recv(Envelope::world((r + ranks - distance) % ranks, tag), size.0));
                    if let Some(before) = before {
                        graph.requires(send, before);
                    }
                    before = Some(recv);
                    (distance, tag) = (distance * 2, tag + 1);
                }
            }
            Self::Broadcast { ranks, size } => {
                let mut lowest = 1;
                while lowest < ranks && r & lowest == 0 {
                    lowest <<= 1;
                }
                let children = lowest.ilog2() as usize;
                graph.reserve(children + usize::from(r > 0), if r > 0 { children } else { 0 });
                let received = (r > 0).then(|| graph.push(Op::recv(Envelope::world(r ^ lowest, 0), size.0)));
                let mut distance = lowest >> 1;
                while distance > 0 {
                    if r + distance < ranks {
                        let send = graph.push(Op::send(Envelope::world(r + distance, 0), size.0));
                        if let Some(received) = received {
                            graph.requires(send, received);
                        }
                    }
                    distance >>= 1;
                }
            }
            Self::Stencil { x, y, iterations, size, calc } => {
                let (column, row) = (r % x, r / x);
                let neighbours = [
                    (column + 1) % x + row * x,
                    (column + x - 1) % x + row * x,
                    column + (row + 1) % y * x,
                    column + (row + y - 1) % y * x,
                ];
                let mut before: Option<(u32, [u32; 4], [u32; 4])> = None;
                graph.reserve(9 * iterations as usize, 16 * iterations as usize);
                for iteration in 0..iterations {
                    let compute = graph.push(Op::calc(calc));
                    let (mut sends, mut recvs) = ([0; 4], [0; 4]);
                    for (side, peer) in neighbours.into_iter().enumerate() {
                        let tag = |side: usize| iteration * 4 + side as u32;
                        recvs[side] = graph.push(Op::recv(Envelope::world(peer, tag(side ^ 1)), size.0));
                        sends[side] = graph.push(Op::send(Envelope::world(peer, tag(side)), size.0));
                        graph.requires(sends[side], compute);
                        if let Some((last, ..)) = before {
                            graph.requires(recvs[side], last);
                        }
                    }
                    if let Some((_, sent, received)) = before {
                        received.into_iter().chain(sent).for_each(|op| graph.requires(compute, op));
                    }
                    before = Some((compute, sends, recvs));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_help_shows_can_be_parsed() {
        let usage = Generator::usage();
        assert_eq!(usage.lines().count(), GENERATORS.len());
        for line in usage.lines() {
            let generator = Generator::parse(line.trim()).unwrap();
            let name = line.trim().split(':').next().unwrap();
            assert_eq!(Ok(generator), Generator::parse(name), "{line}");
        }
        let help = Generator::parse("linear:rank=3").unwrap_err().help.unwrap();
        assert_eq!(help, "did you mean `ranks`? there are: ranks, size");
    }

    #[test]
    fn a_text_says_what_to_generate_and_the_rest_is_usual() {
        let generator = Generator::parse("stencil:x=4, size=1 KiB").unwrap();
        assert_eq!((generator.ranks(), generator.program().unwrap().operations()), (32, 32 * 90));
        assert_eq!(Generator::parse("pairwise:ranks=8").unwrap().program().unwrap().messages(), 56);
        assert_eq!(Generator::parse("broadcast:ranks=1").unwrap().program().unwrap().operations(), 0);
        let elimination = Generator::parse("gaussian-elimination:n=64,ranks=4,fragment=1 KiB").unwrap();
        assert_eq!(elimination.program().unwrap().ranks(), 4);
        let error = |text: &str| Generator::parse(text).unwrap_err().message;
        assert_eq!(error("pairwse"), "unknown program `pairwse`");
        assert_eq!(error("linear:rank=3"), "linear has no `rank`");
        assert!(error("gaussian-elimination:ranks=12").contains("no square grid"));
        assert!(error("gaussian-elimination:flops=fast").contains("like 96e6"));
        assert!(error("linear:ranks=0").contains("a number from 1"));
        assert!(error("linear:ranks=1000000").contains("more than"));
        assert!(Generator::is_meant("linear") && !Generator::is_meant("linear.goal"));
    }
}
