//! Assembly of a prediction from the data sets that a scenario names: `[workload.program-data]`.

use rustc_hash::FxHashSet;

use super::communication::Communication;
use super::computation::{self, BlockMatches, ComputationData, Estimates, Machine, TimeRule};
use super::program::{self, Blocks, ProgramData, ranges, unfold};
use crate::diagnostic::{At, Diagnostic, Located, Sources, Span};
use crate::node::{Pairs, ReceiveTime, ReceiveTimesBetween, ReceiveTimesSpec};
use crate::program::Program;
use crate::program::caveats::Caveats;
use crate::program::start_up::StartUp;
use crate::reading::Input;
use crate::system::{BlockTimes, ProgramDataSpec};
use crate::units::Time;

/// Program with the times of its blocks, and the data sets it was assembled from.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// Operations and computation of every rank.
    pub program: Program,
    /// Start-up phase that was left out.
    pub start_up: Option<StartUp>,
    /// Times of messages, if there is communication data.
    pub receive_times: Option<ReceiveTimesSpec>,
    /// Data sets behind the program.
    pub origin: Origin,
}

/// Data sets that a prediction was assembled from.
#[derive(Clone, PartialEq, Debug)]
pub struct Origin {
    /// Program data.
    pub program: String,
    /// Ranks, the computation data from which they take their times, and the factor of these times.
    pub computation: Vec<(String, String, f64)>,
    /// Communication data.
    pub communication: Option<String>,
    /// Time of the run that the computation data was gathered from, if it is a single run and its time is
    /// known.
    pub recorded: Option<Time>,
    /// Numbers of block times by the way they were found.
    pub found: BlockMatches,
    /// Time that an execution of a block takes.
    pub times: BlockTimes,
    /// Defects of the recordings behind the data sets, by the names of the data sets; each defect once.
    pub caveats: Vec<(String, Caveats)>,
}

/// Reads the data sets and assembles them.
///
/// # Errors
/// Every mistake of the data sets, and data sets that do not fit together.
pub fn assemble(spec: &ProgramDataSpec, seed: u64, sources: &mut Sources) -> Result<Assembled, Vec<Diagnostic>> {
    let part = spec.part()?;
    let data = read(&spec.program, sources, program::read)?;
    let (books, names, machines) = computation(spec, &data, sources)?;
    let receive_times = match &spec.communication {
        Some(text) => Some(receive_times(text, data.ranks, sources)?),
        None => None,
    };
    let mut all = Caveats::default();
    let mut caveats = Vec::new();
    let books_by_name = names.iter().cloned().zip(books.iter().map(|book| &book.notes));
    for (name, notes) in std::iter::once(((*spec.program).clone(), &data.notes)).chain(books_by_name) {
        let new = Caveats::of_notes(notes).beyond(&all);
        all.add(&new);
        caveats.push((name, new));
    }
    let blocks = Blocks::of(&data);
    let take = match spec.times {
        BlockTimes::Mean => TimeRule::Mean,
        BlockTimes::Line => TimeRule::Line,
        BlockTimes::Draw => TimeRule::Draw(seed),
    };
    let estimates = Estimates::new(&data, &blocks, &books, &machines, take);
    let estimates = estimates.map_err(|mistakes| placed(mistakes, &spec.computation))?;
    let found = estimates.found;
    let whole = unfold(&data, &blocks, &mut { estimates }, &spec.program);
    let mut whole = whole.map_err(|mistakes| placed(mistakes, &spec.program))?;
    if let [book] = books.as_slice() {
        whole.recorded = book.recorded_regions(&whole.regions);
    }
    let start_up = part.mark(&mut whole).map_err(|mistake| vec![spec.at_part(mistake)])?;
    let origin = Origin {
        program: (*spec.program).clone(),
        computation: parts(&machines, &names),
        communication: spec.communication.as_ref().map(|text| (**text).clone()),
        recorded: match books.as_slice() {
            [one] => one.note("measured").and_then(|text| text.parse::<Time>().ok()),
            _ => None,
        },
        found,
        times: spec.times,
        caveats,
    };
    Ok(Assembled { program: whole.with_caveats(all), start_up, receive_times, origin })
}

/// Reads a data set that a text names.
fn read<T>(
    path: &Located<String>,
    sources: &Sources,
    read: impl FnOnce(Input) -> Result<T, Vec<Diagnostic>>,
) -> Result<T, Vec<Diagnostic>> {
    let read = sources.open(path).map_err(|diagnostic| vec![diagnostic]).and_then(read);
    read.map_err(|mistakes| placed(mistakes, path))
}

/// Gives mistakes without a place the place of the value that names their data.
fn placed(mistakes: Vec<Diagnostic>, by: &Located<String>) -> Vec<Diagnostic> {
    let at = |mistake: Diagnostic| if mistake.at == At::Nowhere { mistake.at_value(by) } else { mistake };
    mistakes.into_iter().map(at).collect()
}

/// Splits a text at commas, each piece with its place.
fn pieces(text: &Located<String>) -> impl Iterator<Item = Located<String>> {
    let mut at = 0;
    text.split(',').map(move |piece| {
        let start = at;
        at += piece.len() + 1;
        part_of(text, start, piece)
    })
}

/// Returns a piece of a text that begins at byte `start`, with its place.
fn part_of(text: &Located<String>, start: usize, piece: &str) -> Located<String> {
    let Some(span) = text.span() else { return piece.to_owned().into() };
    // In a file, the text is in quotes.
    let quotes = usize::from(span.end - span.start == text.len() + 2);
    let from = span.start + quotes + start;
    Located::new(piece.to_owned(), Span::new(from, from + piece.len()))
}

/// Computation data, the names of the data, and the data and factor that each rank takes.
type Machines = (Vec<ComputationData>, Vec<String>, Vec<Machine>);

fn computation(spec: &ProgramDataSpec, data: &ProgramData, sources: &Sources) -> Result<Machines, Vec<Diagnostic>> {
    let one = |diagnostic| vec![diagnostic];
    let (mut books, mut names) = (Vec::new(), Vec::new());
    let mut of_rank: Vec<Option<usize>> = vec![None; data.ranks as usize];
    for (ranks, path) in by_ranks(&spec.computation, data.ranks, "computation").map_err(one)? {
        let at = match names.iter().position(|name| *name == *path) {
            Some(at) => at,
            None => {
                books.push(read(&path, sources, computation::read)?);
                names.push(path.into_inner());
                names.len() - 1
            }
        };
        ranks.iter().for_each(|&rank| of_rank[rank as usize] = Some(at));
    }
    let mut scales = vec![1.0; data.ranks as usize];
    let factors = Located::from(spec.scale.0.clone());
    let factors = spec.scale.span().map_or(factors.clone(), |span| Located::new(spec.scale.0.clone(), span));
    for (ranks, text) in by_ranks(&factors, data.ranks, "scale").map_err(one)? {
        let scale = text.parse::<f64>().ok().filter(|scale| *scale > 0.0 && *scale <= LARGEST_SCALE);
        let scale = scale.ok_or_else(|| {
            let diagnostic = Diagnostic::new(
                "bad-number",
                format!("`{}` of `scale` is not a number above 0, up to {LARGEST_SCALE:e}", *text),
            );
            one(diagnostic.at_value(&text).help("write 1.5, or \"0-7=1.5,8-15=0.8\""))
        })?;
        ranks.iter().for_each(|&rank| scales[rank as usize] = scale);
    }
    let machine = |(rank, (data, scale)): (usize, (Option<usize>, f64))| match data {
        Some(data) => Ok(Machine { data, scale }),
        None => {
            let diagnostic = Diagnostic::new("missing-rank", format!("`computation` names no data for rank {rank}"));
            Err(one(diagnostic.at_value(&spec.computation).help("name data for all ranks: 0-7=a.comp,8-15=b.comp")))
        }
    };
    let machines = of_rank.into_iter().zip(scales).enumerate().map(machine).collect::<Result<_, _>>()?;
    Ok((books, names, machines))
}

/// Largest factor for the times of blocks.
const LARGEST_SCALE: f64 = 1e12;

/// Ranks, each list with its value.
type ByRanks = Vec<(Vec<u32>, Located<String>)>;

/// Parses `VALUE`, for all ranks, or `RANKS=VALUE,...`.
fn by_ranks(text: &Located<String>, ranks: u32, key: &str) -> Result<ByRanks, Diagnostic> {
    if !text.split(',').any(|part| computation::named_ranks(part).is_some()) {
        return Ok(vec![((0..ranks).collect(), text.clone())]);
    }
    let mut found = Vec::new();
    let mut named = Vec::new();
    let mut met = FxHashSet::default();
    for part in pieces(text) {
        let (range, value) = part.split_once('=').map_or((part.as_str(), None), |(range, value)| (range, Some(value)));
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        match (from.parse::<u32>(), to.parse::<u32>()) {
            (Ok(from), Ok(to)) if from <= to && to < ranks => {
                if let Some(rank) = (from..=to).find(|rank| !met.insert(*rank)) {
                    let message = format!("`{key}` names rank {rank} twice");
                    let diagnostic = Diagnostic::new("duplicate-rank", message).at_value(&part);
                    return Err(diagnostic.label("the second time").help("give each rank one value"));
                }
                named.extend(from..=to);
            }
            _ => {
                let message = format!("`{range}` of `{key}` are not ranks below {ranks}");
                return Err(Diagnostic::new("bad-ranks", message).at_value(&part).help("write 0-7=...,8-15=..."));
            }
        }
        if let Some(value) = value {
            found.push((std::mem::take(&mut named), part_of(&part, range.len() + 1, value)));
        }
    }
    if named.is_empty() {
        return Ok(found);
    }
    let diagnostic = Diagnostic::new("bad-ranks", format!("the last ranks of `{key}` have no value"));
    Err(diagnostic.at_value(text).help("write 0-7=...,8-15=..."))
}

/// Groups ranks with the same machine.
fn parts(machines: &[Machine], names: &[String]) -> Vec<(String, String, f64)> {
    let mut parts: Vec<(Machine, Vec<u32>)> = Vec::new();
    for (rank, &machine) in (0..).zip(machines) {
        match parts.iter_mut().find(|(other, _)| *other == machine) {
            Some((_, ranks)) => ranks.push(rank),
            None => parts.push((machine, vec![rank])),
        }
    }
    let name = |machine: Machine| names.get(machine.data).cloned().unwrap_or_default();
    parts.into_iter().map(|(machine, ranks)| (ranges(&ranks), name(machine), machine.scale)).collect()
}

/// Reads `COMM`, for all pairs of ranks, and any `PAIRS=COMM`, as the table of the node model.
fn receive_times(
    text: &Located<String>,
    ranks: u32,
    sources: &mut Sources,
) -> Result<ReceiveTimesSpec, Vec<Diagnostic>> {
    // A text that names an existing file is one file, even with commas or `=` in it.
    let named: Vec<(Option<Pairs>, Located<String>)> = if sources.resolve(text).exists() {
        vec![(None, text.clone())]
    } else {
        let named = pieces(text).map(|piece| pairs_and_file(&piece, ranks)).collect::<Result<_, Diagnostic>>();
        named.map_err(|diagnostic| vec![diagnostic])?
    };
    let for_all = named.iter().filter(|(pairs, _)| pairs.is_none()).count();
    if for_all != 1 {
        let message = format!("`communication` names {for_all} files for all pairs of ranks, not one");
        let help = "write one file, and others for some pairs: within.comm,0-7:8-15=between.comm";
        return Err(vec![Diagnostic::new("wrong-choice", message).at_value(text).help(help)]);
    }
    let (mut times, mut between) = (Vec::new(), Vec::new());
    for (pairs, path) in named {
        let rows = rows(&Communication::read_at(&path, sources)?);
        match pairs {
            None => times = rows,
            Some(pairs) => between.push(ReceiveTimesBetween { pairs, times: rows.into() }),
        }
    }
    Ok(ReceiveTimesSpec { times: times.into(), between })
}

fn pairs_and_file(part: &Located<String>, ranks: u32) -> Result<(Option<Pairs>, Located<String>), Diagnostic> {
    let Some(pairs) = named_pairs(part) else { return Ok((None, part.clone())) };
    let path = part_of(part, pairs.len() + 1, &part[pairs.len() + 1..]);
    let read: Pairs = pairs.parse().map_err(|message: String| Diagnostic::new("bad-ranks", message).at_value(part))?;
    match read.largest() {
        Some(largest) if largest >= ranks => {
            let message = format!("`{read}` of `communication` names rank {largest}, and there are {ranks}");
            Err(Diagnostic::new("bad-ranks", message).at_value(part))
        }
        _ => Ok((Some(read), path)),
    }
}

/// Returns the pairs of `PAIRS=COMM`.
fn named_pairs(part: &str) -> Option<&str> {
    let begins = |text: &&str| text.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with("node:");
    part.split_once('=').map(|(pairs, _)| pairs).filter(begins)
}

/// Converts communication data to rows of the node model.
fn rows(measured: &Communication) -> Vec<ReceiveTime> {
    measured.times.iter().map(|row| ReceiveTime { size: row.size, receive: row.receive }).collect()
}

/// Replaces every file name in a text of the key `computation` or `communication` by the name that `name` returns.
pub fn with_files(text: &Located<String>, mut name: impl FnMut(&Located<String>) -> String) -> String {
    let piece = |piece: Located<String>| {
        let named = computation::named_ranks(&piece).or_else(|| named_pairs(&piece)).map(str::len);
        match named {
            Some(length) => {
                let path = part_of(&piece, length + 1, &piece[length + 1..]);
                format!("{}={}", &piece[..length], name(&path))
            }
            None => name(&piece),
        }
    };
    pieces(text).map(piece).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_takes_the_times_that_communication_data_says() {
        let row = |size: u64, us: f64| {
            format!("{{ size = \"{size} B\", receive = \"{us} us\", median = \"{us} us\", high = \"{us} us\" }}")
        };
        let data = [(8, 1.1), (100, 1.3), (4040, 3.7), (4041, 9.2), (65536, 30.0), (131_072, 55.5)];
        let data = data.map(|(size, us)| row(size, us)).join(", ");
        let measured =
            Communication::parse(&format!("format = \"hayase-communication-1\"\ntimes = [{data}]\n"), 0).unwrap();
        let table = ReceiveTimesSpec { times: rows(&measured).into(), between: Vec::new() }.table();
        // Measured times at measured sizes; their mean half-way between 8 and 100 B and between 64 and 128 KiB; beyond
        // the last size, the line from the row with half its size.
        let between = [(54, 1.2), (98_304, 42.75), (196_608, 81.0), (0, 1.1)];
        for (bytes, us) in [(8, 1.1), (100, 1.3), (4040, 3.7), (4041, 9.2), (131_072, 55.5)].into_iter().chain(between)
        {
            let time = table.time(bytes).ps();
            assert!((time - us * 1e6).abs() <= 1e-9 * time, "{bytes} B: {time} {us}");
        }
    }

    #[test]
    fn values_go_to_all_ranks_or_to_those_named() {
        let parse = |text: &str| by_ranks(&text.to_owned().into(), 8, "scale");
        assert_eq!(parse("a=b.comp").unwrap(), [((0..8).collect(), "a=b.comp".to_owned().into())]);
        let expected = [(vec![0, 1, 5], "x".to_owned().into()), (vec![2, 3, 4], "y".to_owned().into())];
        assert_eq!(parse("0-1,5=x,2-4=y").unwrap(), expected);
        for wrong in ["0-8=x", "3-2=x", "0=x,1", "0=x,a=y"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_in_a_text_are_named_anew() {
        let named = |text: &str| with_files(&text.to_owned().into(), |path| format!("f/{}", path.as_str()));
        assert_eq!(named("a.comp"), "f/a.comp");
        assert_eq!(named("0-7=a.comp,8-15=b.comp"), "0-7=f/a.comp,8-15=f/b.comp");
        assert_eq!(named("a.comm,0-7:8-15=b.comm,node:8=c.comm"), "f/a.comm,0-7:8-15=f/b.comm,node:8=f/c.comm");
    }
}
