//! `hayase accuracy`: flow models compared with packet models.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::accuracy_measured::{Kind, MeasuredArgs, measured};
use super::options::{self, Format, Offer, OutputArgs};
use super::progress::{self, duration};
use super::scenario::CommonArgs;
use super::seeds::seeds;
use super::{End, Failure, Voice, asked, print, reason};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::report::{ComparisonRow, KnownAccuracy, LeftOut};
use hayase::sweep::accuracy::{AccuracyOutlook, AccuracySweep, Picks, picks_of};
use hayase::sweep::lists::{axes, rejoined, title, vary};
use hayase::sweep::{Axis, Sweep};
use hayase::units::count;
use hayase_output::page::PagePicture;
use hayase_output::table::counted;
use hayase_output::{csv, json, svg, table};

const ACCURACY_EXAMPLES: &str = "\
Examples:
  hayase accuracy -t torus-4x4 -p all-to-all-pairwise
  hayase accuracy -t torus-4x4,crossbar-64 -p all-to-all-pairwise --placement regular,random --seeds 1 \\
      --references packet:oq -o map.svg -o map.csv
  hayase accuracy -t torus-4x4 -p all-to-all-pairwise --size \"100 KB\" --references packet:iq --buffer 2,8,64
  hayase accuracy -t torus-16x16 -p all-to-all-pairwise --size \"1 MB\" --packets-per-message 7 --count
  hayase accuracy scenario.toml --models max-min,blocking --vary workload.uniform-random.messages=4,64
  hayase accuracy -t torus-4x4 -p all-to-all-pairwise --size 100KB --models blocking --keep packets
  hayase accuracy --measured fugaku,marenostrum5 --models max-min,max-min+ideal,blocking -o measured.svg

You supply: scenario.toml (`hayase init scenario.toml` writes one)

Every combination of the listed values is a case. Each flow model is compared with every packet model of the fabric: \
packet:iq has dateline, turn and bubble for routes along rings, and classes for others. `blocking` uses the channels \
of \
the switch that it is compared with. Errors are means over seeds.

Files (-o), by name:
  x.svg    a map of models by cases, with the error as colour and number
  x.csv    a line for each flow model, packet model and case
  x.json   the same, with each seed
  x.html   the answer as a page for a browser
  x.md     the tables, as Markdown";

/// Default sizes.
const SIZES: [&str; 3] = ["20 KB", "100 KB", "1 MB"];
/// Default number of seeds.
const SEEDS: u32 = 3;
/// Default jitter: without it equal messages move in lockstep, which no real machine does.
const JITTER: &str = "1.5 us";
/// Shortest estimated time that is announced \[s\].
const LONG: f64 = 10.0;

/// Largest number of lines about the accuracy of a comparison.
const MOST_SAID: usize = 4;

/// `hayase accuracy`.
#[derive(Args, Debug)]
#[command(after_help = ACCURACY_EXAMPLES, next_help_heading = "Cases")]
pub struct AccuracyArgs {
    /// A scenario file. Options override it.
    #[arg(value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub scenario: Option<PathBuf>,
    /// Fabrics to compare, with commas between them: names, families with their numbers, or files.
    #[arg(short, long, value_name = "T,...", value_delimiter = ',')]
    pub topology: Vec<String>,
    /// Patterns to compare, with commas between them: names or files.
    #[arg(short, long, value_name = "P,...", value_delimiter = ',')]
    pub pattern: Vec<String>,
    /// Placements to compare, as in `hayase compare`.
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    pub placement: Vec<String>,
    /// Message sizes to compare; `own` keeps the size of each pattern. The default is 20 KB, 100 KB and 1 MB,
    /// or the sizes of a scenario file or message file.
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',')]
    pub size: Vec<String>,
    /// Start each rank at a random time from 0 to this (default: 1.5 us, or that of the scenario file).
    #[arg(long, value_name = "TIME")]
    pub jitter: Option<String>,
    /// Injection rules to compare: queue, sendrecv, barrier, left, all, window=K.
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    pub injection: Vec<String>,
    /// Routing rules to compare, as in `hayase compare`.
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    pub routing: Vec<String>,
    /// Vary any key of a scenario file: workload.uniform-random.messages=4,64 (may be repeated).
    #[arg(long, value_name = "KEY=V,...", value_parser = vary)]
    pub vary: Vec<(String, Vec<String>)>,
    /// Number of seeds for random cases (default 3).
    #[arg(long, value_name = "N")]
    pub seeds: Option<NonZeroU32>,
    /// Flow models to check: equal-share, redistribute, max-min, blocking (default: these four), or
    /// few-packets (the packet model with 7 packets for each message). With --measured: sharing policies
    /// (default max-min), or max-min+ideal without the cost of messages at their ends.
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',', help_heading = "Models")]
    pub models: Vec<String>,
    /// Packet models to compare with: packet:oq, packet:fq, packet:iq (all variants), packet:iq:dateline,
    /// packet:iq:turn, packet:iq:bubble, packet:iq:classes, packet:iq:voq (default: all that the fabric
    /// supports).
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',', help_heading = "Models")]
    pub references: Vec<String>,
    /// Input buffer sizes in packets, or unlimited (default 8).
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Models")]
    pub buffer: Vec<String>,
    /// Split each message into this number of large packets: a coarser model with about a hundredth of the
    /// work.
    #[arg(long, value_name = "K", help_heading = "Models")]
    pub packets_per_message: Option<NonZeroU32>,
    /// Keep the runs of packet models in this folder and reuse those that it holds. An interrupted comparison
    /// then continues, and other flow models are compared without simulating packets again. Speeds are those
    /// of the kept runs.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub keep: Option<PathBuf>,
    /// Run nothing: count cases, runs and packets, and estimate how long they take.
    #[arg(long, conflicts_with_all = ["output", "format"])]
    pub count: bool,
    /// Measured collectives.
    #[command(flatten)]
    pub measured: MeasuredArgs,
    /// Settings of all runs.
    #[command(flatten, next_help_heading = "Settings of all runs")]
    pub common: CommonArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

const OFFER: Offer<Kind> = Offer { verb: "accuracy", names: Kind::NAMES, json: Ok(()), csv: Ok(()), threads: true };

/// Runs all models and packet models of all cases.
pub fn accuracy(args: &AccuracyArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    if !args.measured.measured.is_empty() {
        let files = args.out.open(&OFFER)?;
        return measured(&args.measured, &args.models, &args.common, (&args.out, files), voice);
    }
    if let Some(path) = args.keep.as_deref().filter(|path| path.exists() && !path.is_dir()) {
        let message = format!("`{}` is a file, and --keep takes a folder", path.display());
        return Err(Diagnostic::new("wrong-choice", message).help("write --keep and the name of a folder").into());
    }
    let cases = sweep(args, voice)?.cases()?;
    let outlook = cases.outlook();
    if args.count {
        print(&in_words(outlook))?;
        return Ok(End::Done);
    }
    let files = args.out.open(&OFFER)?;
    if outlook.seconds / threads() > LONG {
        voice.say(in_words(outlook).trim_end());
    }
    let found = progress::over_runs(voice.show, "", |control| cases.run(control, &processor_time));
    if let (Some(folder), Some(error)) = (&args.keep, cases.unkept()) {
        voice.say(format_args!("cannot keep runs in `{}`: {}", folder.display(), reason(&error)));
    }
    if found.rows.is_empty() && found.complete {
        let reasons = found.left_out.iter().map(|left_out| {
            Diagnostic::new("wrong-choice", format!("{}, {}: {}", left_out.model, left_out.case, left_out.reason))
        });
        return Err(Invalid { diagnostics: reasons.collect(), ..Invalid::default() }.into());
    }
    for (kind, file) in files {
        if found.rows.is_empty() {
            voice.say(format_args!("`{}` is not written: no case has been run", file.path().display()));
            continue;
        }
        file.write(|w| match kind {
            Kind::Map => std::io::Write::write_all(w, svg::accuracy(&found).as_bytes()),
            Kind::Csv => csv::accuracy(&found, w),
            Kind::Json => json::write(&found, w),
            Kind::Page => {
                let answer = table::accuracy(&found);
                let map = PagePicture::new("x.svg", svg::accuracy(&found));
                options::page("Flow models beside packet models", &answer, &[map], &found, w)
            }
            Kind::Markdown => std::io::Write::write_all(w, table::accuracy(&found).to_markdown().as_bytes()),
        })?;
    }
    if !found.complete && (args.out.format == Format::Csv || !args.out.output.is_empty()) {
        voice.say(format_args!("{} runs are missing, so rows or seeds are missing", found.missing_runs));
    }
    if args.out.format == Format::Csv {
        for LeftOut { case, model, reason } in &found.left_out {
            voice.say(format_args!("left out: {model}, {case}: {reason}"));
        }
    }
    args.out.print_rows(|| table::accuracy(&found), &found, |w| csv::accuracy(&found, w))?;
    Ok(if found.complete { End::Done } else { End::Interrupted })
}

/// Returns the sweep that the arguments describe.
fn sweep(args: &AccuracyArgs, voice: Voice) -> Result<AccuracySweep, Failure> {
    let mut base = asked::loader().on_read(progress::reading(voice.show));
    if let Some(path) = &args.scenario {
        base = base.file(path);
    }
    let jitter = args.jitter.as_deref().or_else(|| args.scenario.is_none().then_some(JITTER));
    base = jitter.into_iter().fold(base, |base, time| base.jitter(time));
    base = CommonArgs { seed: None, ..args.common.clone() }.on(base);
    let count = args.seeds.or(NonZeroU32::new(SEEDS));
    let seeds = match (args.common.seed, args.seeds, &args.scenario) {
        // The seed of the scenario file.
        (None, None, Some(_)) => Vec::new(),
        (first, _, _) => seeds(first.unwrap_or(1), count)?,
    };
    let sizes = match &args.size[..] {
        [] if args.scenario.is_none() => SIZES.map(str::to_owned).to_vec(),
        [own] if own == "own" => Vec::new(),
        sizes => sizes.iter().map(|size| size.trim().to_owned()).collect(),
    };
    let wrong = |packets: &&String| *packets != "unlimited" && packets.parse::<NonZeroU32>().is_err();
    if let Some(packets) = args.buffer.iter().find(wrong) {
        let message = format!("`--buffer {packets}` is not a number of packets from 1, or unlimited");
        return Err(Diagnostic::new("wrong-value", message)
            .help("the default is 8; write a list like --buffer 2,8,64")
            .into());
    }
    // Words in a scenario are quoted.
    let quoted = |packets: &String| if packets == "unlimited" { "\"unlimited\"".to_owned() } else { packets.clone() };
    let topologies = rejoined(&args.topology);
    let listed = [
        (Axis::Topology, topologies.as_slice()),
        (Axis::Placement, &args.placement),
        (Axis::Routing, &args.routing),
        (Axis::Injection, &args.injection),
    ];
    Ok(AccuracySweep {
        grid: Sweep {
            title: title(args.scenario.as_deref(), &args.topology, &args.pattern),
            base,
            axes: axes(listed, &args.vary, &args.pattern),
            seeds,
            ..Sweep::default()
        },
        sizes,
        keeps_own_sizes: args.size.is_empty(),
        buffers: args.buffer.iter().map(quoted).collect(),
        models: args.models.clone(),
        references: args.references.clone(),
        packets_per_message: args.packets_per_message.map(NonZeroU32::get),
        keep: args.keep.clone(),
    })
}

/// Reports the known accuracy of a run; `words` are the arguments of `hayase accuracy` for the same scenario.
pub fn say(known: &KnownAccuracy, words: &str, voice: Voice) {
    if let Some(measured) = &known.measured {
        voice.say(format_args!("accuracy: {measured}"));
    }
    match known.cases.is_empty() {
        true if known.measured.is_some() => {}
        false => voice.say(format_args!("accuracy: {}", known.text)),
        true => voice.say(format_args!(
            "accuracy: unknown, no similar case has been measured; hayase accuracy {words} measures it"
        )),
    }
    if let Some(sentence) = &known.leaves_out {
        voice.say(format_args!("accuracy: {sentence}"));
    }
}

/// Returns the arguments of `hayase accuracy`, quoted for a shell: the scenario file and options with their
/// lists.
pub fn words(scenario: Option<&Path>, options: &[(&str, &[String])]) -> String {
    let mut words: Vec<String> = scenario.iter().map(|path| path.display().to_string()).collect();
    for (flag, values) in options {
        // Commas separate rules there.
        let is_one = |value: &&String| matches!(*flag, "-t" | "-p") || !value.contains(',');
        let values: Vec<&str> = values.iter().filter(is_one).map(String::as_str).collect();
        if !values.is_empty() {
            words.extend([(*flag).to_owned(), values.join(",")]);
        }
    }
    // (An argument contains no NUL.)
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

/// Reports the known accuracy of the rows of a comparison; `words` are the arguments of `hayase accuracy` for
/// all of them.
pub fn say_of_rows(rows: &[ComparisonRow], words: &str, voice: Voice) {
    let known = || rows.iter().filter_map(|row| row.accuracy.as_deref());
    let mut findings: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows {
        if let Some(known) = row.accuracy.as_deref().filter(|known| !known.cases.is_empty()) {
            let load = load(row, rows);
            match findings.iter_mut().find(|(text, _)| *text == known.text) {
                Some((_, loads)) if loads.contains(&load) => {}
                Some((_, loads)) => loads.push(load),
                None => findings.push((&known.text, vec![load])),
            }
        }
    }
    let mut measured: Vec<&str> = known().filter_map(|known| known.measured.as_deref()).collect();
    measured.dedup();
    for text in measured.iter().take(MOST_SAID) {
        voice.say(format_args!("accuracy: {text}"));
    }
    for (text, loads) in findings.iter().take(MOST_SAID) {
        let of = match &loads[..] {
            [only] if only.is_empty() => String::new(),
            [only] => format!(" of {only}"),
            [first, second] => format!(" of {first} and {second}"),
            [first, rest @ ..] => format!(" of {first} and {} more", rest.len()),
            [] => String::new(),
        };
        voice.say(format_args!("accuracy{of}: {text}"));
    }
    if findings.len() > MOST_SAID {
        voice.say(format_args!("accuracy: `-o x.json` has {} more lines like these", findings.len() - MOST_SAID));
    }
    if let Some(known) = known().find(|known| known.cases.is_empty() && known.measured.is_none()) {
        say(known, words, voice);
    }
    let mut models = known().filter(|known| !known.cases.is_empty()).map(|known| known.model.as_str());
    if rows.len() > 1
        && let Some(model) = models.next()
        && models.all(|other| other == model)
        && let Some(Picks { right, loss, tau, count }) = picks_of(model)
    {
        voice.say(format_args!(
            "ranking: {model} picks the same best choice as input-queued packets in {right:.0} % of {count} \
             comparisons, \
             else one that is {loss:.1} % slower (Kendall's tau {tau:.2})"
        ));
    }
}

/// Returns the choices of a row that vary over all rows, except the model itself.
fn load(row: &ComparisonRow, rows: &[ComparisonRow]) -> String {
    let names = row.names();
    let choices = row.choices().into_iter().enumerate();
    let vary = choices.filter(|&(index, value)| {
        let is_model = ["sharing", "transport"].contains(&names[index]);
        !is_model && rows.iter().any(|other| other.choices().get(index) != Some(&value))
    });
    vary.map(|(_, value)| value).collect::<Vec<_>>().join(", ")
}

/// Returns a line such as `6 cases, 108 runs, 12.3 M packet-hops: about 5 s on 2 threads`.
fn in_words(outlook: AccuracyOutlook) -> String {
    let AccuracyOutlook { cases, runs, packet_hops, seconds } = outlook;
    let threads = threads();
    let on = if threads > 1.0 { format!(" on {threads} threads") } else { String::new() };
    let (cases, runs) = (count(cases as u64, "case", "cases"), count(runs as u64, "run", "runs"));
    format!("{cases}, {runs}, {} packet-hops: about {}{on}\n", counted(packet_hops), duration(seconds / threads))
}

/// Returns the number of threads that run at the same time, at most the number of cores.
fn threads() -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    rayon::current_num_threads().min(cores) as f64
}

/// Returns the processor time of this thread \[s\], or the wall-clock time if the system does not provide it.
fn processor_time() -> f64 {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }
    #[cfg(not(unix))]
    progress::wall_clock()
}
