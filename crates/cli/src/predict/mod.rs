//! `hayase predict`: how long a program takes, put together from its data sets.

pub mod args;

use std::path::Path;
use std::sync::Arc;

use super::caveats::judge_data;
use super::{End, Failure, Voice, program, progress, replay};
use args::{BlockTimes, PredictArgs};
use hayase::data_set::communication::{Communication, Row};
use hayase::data_set::computation::{ComputationData, Estimates, Machine, Take};
use hayase::data_set::program::{Blocks, ProgramData, ranges, unfold};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::node::Pairs;
use hayase::report;
use hayase::report::replay::{Prediction, PredictionPart};
use hayase::units::Time;

/// Predicts a program.
pub fn predict(args: &PredictArgs, voice: Voice) -> Result<End, Failure> {
    let start = report::wall_clock();
    args.written.check()?;
    let data = program::read_program(&args.program, voice)?;
    let (books, names, machines) = computation(args, &data, voice)?;
    let books_by_name = names.iter().map(Path::new).zip(books.iter().map(|book| book.notes.as_slice()));
    let data_sets = std::iter::once((args.program.as_path(), data.notes.as_slice())).chain(books_by_name);
    let caveats = judge_data(data_sets, args.strictness, voice)?;
    let mut loader = replay::loader(&args.on).on_read(progress::reading(voice.show));
    if let Some(path) = &args.communication {
        if let Some(other) = network(args) {
            let message = format!("`--communication` is a network of its own, and `{other}` names another");
            return Err(Diagnostic::new("wrong-choice", message)
                .help("leave one of them out; a simulated network takes the ends of messages from -m")
                .into());
        }
        loader = loader.text(path.clone(), receive_times(&communication(path, data.ranks)?));
    }
    let blocks = Blocks::of(&data);
    let take = match args.times {
        BlockTimes::Mean => Take::Mean,
        BlockTimes::Line => Take::Line,
        BlockTimes::Draw => Take::Draw(args.on.seed.unwrap_or(1)),
    };
    let estimates = Estimates::new(&data, &blocks, &books, &machines, take)
        .map_err(|diagnostics| Invalid { diagnostics, ..Invalid::default() })?;
    let found = estimates.found;
    let name = args.program.display().to_string();
    let mut whole = unfold(&data, &blocks, &mut { estimates }, &name)
        .map_err(|diagnostics| Invalid { diagnostics, ..Invalid::default() })?;
    if let [book] = books.as_slice() {
        whole.recorded = book.recorded_regions(&whole.regions);
    }
    let regions = &args.on.regions;
    regions.in_program(&mut whole, voice)?;
    let replay = loader.load_replay(Arc::new(whole.with_caveats(caveats)), &name, args.on.cpu_speed)?;
    let replay = regions.ask(replay, voice)?;
    replay::say_links(&replay, voice);
    if args.communication.is_none() && replay.node.facts().is_ideal && replay.placement().is_none() {
        voice.hint("messages take no time; name communication data (--communication), a machine (-m) or a fabric (-t)");
    }
    if found.by_name + found.other_ranks > 0 {
        voice.hint(format_args!(
            "the computation data is of another form of the program: of {} times {} were found by the names of their blocks, \
             {} of them at other ranks",
            found.direct + found.by_name + found.other_ranks,
            found.by_name + found.other_ranks,
            found.other_ranks
        ));
    }
    let prediction = Prediction {
        program: name,
        computation: parts(&machines, &names),
        communication: args.communication.clone(),
        recorded_s: match books.as_slice() {
            [one] => one.note("measured").and_then(|text| text.parse::<Time>().ok()).map(Time::seconds),
            _ => None,
        },
        waits: match replay.node.facts().is_table {
            true if replay.by_rules() => "rules",
            true => "order of arrival",
            false => "simulated",
        },
        direct: found.direct,
        by_name: found.by_name,
        other_ranks: found.other_ranks,
        times: args.times.name(),
    };
    replay::play(&replay, Some((prediction, start)), &args.written, args.format, voice)
}

/// The option that names another network than communication data.
fn network(args: &PredictArgs) -> Option<&'static str> {
    let on = &args.on;
    [("-m", on.machine.is_some()), ("--node", on.node.is_some()), ("-t", on.topology.is_some())]
        .into_iter()
        .find_map(|(name, given)| given.then_some(name))
}

/// Communication data, and which pairs of ranks it is for; none: all.
type Measured = Vec<(Option<Pairs>, Communication)>;

/// Reads `COMM`, for all pairs of ranks, and any `PAIRS=COMM`.
fn communication(text: &str, ranks: u32) -> Result<Measured, Failure> {
    // A name without any of these is one file, whatever else is in it.
    let parts: Vec<(Option<Pairs>, &str)> = if std::path::Path::new(text).exists() {
        vec![(None, text)]
    } else {
        let part = |part| pairs_and_file(part, ranks);
        text.split(',').map(part).collect::<Result<_, Diagnostic>>()?
    };
    let for_all = parts.iter().filter(|(pairs, _)| pairs.is_none()).count();
    if for_all != 1 {
        let message = format!("--communication names {for_all} files for all pairs of ranks, not one");
        return Err(Diagnostic::new("wrong-choice", message)
            .help("write one file, and others for some pairs: within.comm,0-7:8-15=between.comm")
            .into());
    }
    let read = |(pairs, path): (Option<Pairs>, &str)| {
        Ok((pairs, Communication::read(path, &mut progress::sources(progress::Show::Nothing))?))
    };
    parts.into_iter().map(read).collect()
}

fn pairs_and_file(part: &str, ranks: u32) -> Result<(Option<Pairs>, &str), Diagnostic> {
    let begins = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with("node:");
    let Some((pairs, path)) = part.split_once('=').filter(|(pairs, _)| begins(pairs)) else { return Ok((None, part)) };
    let pairs: Pairs = pairs.parse().map_err(|message: String| Diagnostic::new("bad-ranks", message))?;
    match pairs.largest() {
        Some(largest) if largest >= ranks => {
            let message = format!("`{pairs}` of --communication names rank {largest}, and there are {ranks}");
            Err(Diagnostic::new("bad-ranks", message))
        }
        _ => Ok((Some(pairs), path)),
    }
}

/// Communication data as a table of the node model.
fn receive_times(measured: &[(Option<Pairs>, Communication)]) -> String {
    let rows = |measured: &Communication| {
        let row =
            |row: &Row| format!("  {{ size = \"{}\", receive = \"{}\" }},\n", row.size.exact(), row.receive.exact());
        format!("times = [\n{}]\n", measured.times.iter().map(row).collect::<String>())
    };
    let mut text = "[node.receive-times]\n".to_owned();
    text.extend(measured.iter().filter(|(pairs, _)| pairs.is_none()).map(|(_, measured)| rows(measured)));
    for (pairs, measured) in measured {
        if let Some(pairs) = pairs {
            text += &format!("\n[[node.receive-times.between]]\npairs = \"{pairs}\"\n{}", rows(measured));
        }
    }
    text
}

/// Computation data with its names, and which of it each rank takes, times what.
type Machines = (Vec<ComputationData>, Vec<String>, Vec<Machine>);

fn computation(args: &PredictArgs, data: &ProgramData, voice: Voice) -> Result<Machines, Failure> {
    let (mut books, mut names) = (Vec::new(), Vec::new());
    let mut of_rank: Vec<Option<usize>> = vec![None; data.ranks as usize];
    for (ranks, path) in by_ranks(&args.computation, data.ranks, "--computation")? {
        let at = match names.iter().position(|name| *name == path) {
            Some(at) => at,
            None => {
                books.push(program::read_computation(Path::new(&path), voice)?);
                names.push(path);
                names.len() - 1
            }
        };
        ranks.iter().for_each(|&rank| of_rank[rank as usize] = Some(at));
    }
    let mut scales = vec![1.0; data.ranks as usize];
    for (ranks, text) in by_ranks(&args.scale, data.ranks, "--scale")? {
        let scale = text.parse::<f64>().ok().filter(|scale| scale.is_finite() && *scale > 0.0);
        let scale = scale.ok_or_else(|| {
            Diagnostic::new("bad-number", format!("`{text}` of --scale is no number above 0"))
                .help("write --scale 1.5, or --scale 0-7=1.5,8-15=0.8")
        })?;
        ranks.iter().for_each(|&rank| scales[rank as usize] = scale);
    }
    let machine = |(rank, (data, scale)): (usize, (Option<usize>, f64))| match data {
        Some(data) => Ok(Machine { data, scale }),
        None => Err(Diagnostic::new("missing-rank", format!("--computation names no data for rank {rank}"))
            .help("name data for all ranks: 0-7=a.comp,8-15=b.comp")
            .into()),
    };
    let machines = of_rank.into_iter().zip(scales).enumerate().map(machine).collect::<Result<_, Failure>>()?;
    Ok((books, names, machines))
}

/// `VALUE`, for all ranks, or `RANKS=VALUE,...`.
fn by_ranks(text: &str, ranks: u32, option: &str) -> Result<Vec<(Vec<u32>, String)>, Diagnostic> {
    let is_range = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '-');
    let names_ranks = |part: &str| part.split_once('=').is_some_and(|(ranks, _)| is_range(ranks));
    if !text.split(',').any(names_ranks) {
        return Ok(vec![((0..ranks).collect(), text.to_owned())]);
    }
    let mut found = Vec::new();
    let mut named = Vec::new();
    for part in text.split(',') {
        let (range, value) = part.split_once('=').map_or((part, None), |(range, value)| (range, Some(value)));
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        match (from.parse::<u32>(), to.parse::<u32>()) {
            (Ok(from), Ok(to)) if from <= to && to < ranks => named.extend(from..=to),
            _ => {
                let message = format!("`{range}` of {option} are no ranks below {ranks}");
                return Err(Diagnostic::new("bad-ranks", message).help("write 0-7=...,8-15=..."));
            }
        }
        if let Some(value) = value {
            found.push((std::mem::take(&mut named), value.to_owned()));
        }
    }
    if named.is_empty() {
        return Ok(found);
    }
    Err(Diagnostic::new("bad-ranks", format!("the last ranks of {option} have no value"))
        .help("write 0-7=...,8-15=..."))
}

/// Ranks with the same machine together.
fn parts(machines: &[Machine], names: &[String]) -> Vec<PredictionPart> {
    let mut parts: Vec<(Machine, Vec<u32>)> = Vec::new();
    for (rank, &machine) in (0..).zip(machines) {
        match parts.iter_mut().find(|(other, _)| *other == machine) {
            Some((_, ranks)) => ranks.push(rank),
            None => parts.push((machine, vec![rank])),
        }
    }
    let part = |(machine, ranks): (Machine, Vec<u32>)| PredictionPart {
        ranks: ranges(&ranks),
        computation: names.get(machine.data).cloned().unwrap_or_default(),
        scale: machine.scale,
    };
    parts.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase::node::NodeSpec;
    use hayase::scenario::Loader;

    #[test]
    fn a_prediction_takes_the_times_that_communication_data_says() {
        let row = |size: u64, us: f64| {
            format!("{{ size = \"{size} B\", receive = \"{us} us\", median = \"{us} us\", high = \"{us} us\" }}")
        };
        let rows = [(8, 1.1), (100, 1.3), (4040, 3.7), (4041, 9.2), (65536, 30.0), (131_072, 55.5)];
        let rows = rows.map(|(size, us)| row(size, us)).join(", ");
        let measured =
            Communication::parse(&format!("format = \"hayase-communication-1\"\ntimes = [{rows}]\n"), 0).unwrap();
        let node = Loader::new().text("x.comm", receive_times(&[(None, measured.clone())])).load_machine().unwrap();
        let NodeSpec::ReceiveTimes(spec) = node else { panic!("{}", node.name()) };
        let table = spec.table();
        for bytes in [0, 1, 8, 9, 99, 2000, 4040, 4041, 70_000, 131_072, 131_073, 10_000_000] {
            let (ours, theirs) = (table.time(bytes).ps(), measured.receive_time(bytes).ps());
            assert!((ours - theirs).abs() <= 1e-9 * theirs, "{bytes} B: {ours} {theirs}");
        }
    }

    #[test]
    fn values_go_to_all_ranks_or_to_those_named() {
        let parse = |text| by_ranks(text, 8, "--scale");
        assert_eq!(parse("a=b.comp").unwrap(), [((0..8).collect(), "a=b.comp".to_owned())]);
        assert_eq!(parse("0-1,5=x,2-4=y").unwrap(), [(vec![0, 1, 5], "x".to_owned()), (vec![2, 3, 4], "y".to_owned())]);
        for wrong in ["0-8=x", "3-2=x", "0=x,1", "0=x,a=y"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
