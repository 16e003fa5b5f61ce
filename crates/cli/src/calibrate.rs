//! `hayase calibrate`: a machine from measured round trips, from a ping-pong, or from a ring.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::files::names;
use super::options::{Offer, OutputArgs};
use super::typed::{up_to, whole};
use super::{End, Failure, Voice, progress};
use hayase::diagnostic::{Diagnostic, Invalid, Located, file_names};
use hayase::node::calibrate::{self, Options, StepOptions};
use hayase::units::{Bandwidth, Bytes};
use hayase_output::{svg, table};

const CALIBRATE_EXAMPLES: &str = "\
Examples:
  hayase calibrate rtt.csv
  hayase calibrate rtt.csv --short 8191 --eager 16383 -o my-cluster.toml -o fit.svg
  hayase replay pairwise:ranks=16 -m my-cluster.toml
  hayase calibrate osu.csv --ping-pong --bandwidth \"12 GB/s\" --eager \"8 KiB\" -o my-cluster.toml
  hayase calibrate ring.csv --ring 32 --bandwidth \"24.5 GB/s\" -o my-cluster.toml

You supply: rtt.csv (round trips that you measured; examples/guide/rtt.csv of the repository is one), \
osu.csv, ring.csv

Files (-o), by name:
  x.toml   the machine, for -m
  x.svg    measurements and fit
  x.json   the parameters and the errors of the fit

The table has the columns bytes and time. Optional columns are work (computation between the send and the receive of \
the first rank, default 0) and call (round-trip, or send: a blocking send with a posted receive). Measure many sizes \
from 0 B to several times the longest eager message, each without work and with work that takes longer than the \
message.

Without round trips, a table of bytes and time is enough for end costs by size ([node.tabulated]): half round trips of \
a plain ping-pong (--ping-pong), or a ring allgather by the size of a block (--ring).";

/// `hayase calibrate`.
#[derive(Args, Debug)]
#[command(after_help = CALIBRATE_EXAMPLES)]
pub struct CalibrateArgs {
    /// The measurements: a CSV table with the columns bytes, time, work, call.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Size s of the longest message that is sent as one packet, if known (default: fitted).
    #[arg(long, value_name = "SIZE")]
    pub short: Option<String>,
    /// Size S of the longest eager message, which does not wait for its receiver, if known (default: fitted).
    #[arg(long, value_name = "SIZE")]
    pub eager: Option<String>,
    /// Take this percentile of repeated measurements: 0 is the fastest, 50 the median.
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = up_to::<u8, 100>)]
    pub percentile: u8,
    /// Times are half round trips, as benchmarks report them: makes a table of end costs by size.
    #[arg(long, requires = "bandwidth", conflicts_with_all = ["ring", "short"])]
    pub ping_pong: bool,
    /// Times are those of a ring allgather of this many ranks, and bytes those of a block: makes a table of end costs
    /// by size.
    #[arg(long, value_name = "RANKS", requires = "bandwidth", conflicts_with = "short",
          value_parser = whole::<NonZeroU32>)]
    pub ring: Option<NonZeroU32>,
    /// Bandwidth of a port, for --ping-pong and --ring.
    #[arg(long, value_name = "RATE")]
    pub bandwidth: Option<String>,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

const OFFER: Offer<&str> = Offer::new("calibrate", names!["x.toml", "x.json", "x.svg"])
    .without_csv("parameters are not a table; use --format json")
    .on_one_thread();

const STEPS_OFFER: Offer<&str> = Offer::new("calibrate", names!["x.toml", "x.json"])
    .without_csv("parameters are not a table; use --format json")
    .on_one_thread();

/// Fits the parameters, prints them and writes the machine.
pub fn calibrate(args: &CalibrateArgs, voice: Voice) -> Result<End, Failure> {
    let steps = args.ring.map(|ranks| ranks.get() - 1).or(args.ping_pong.then_some(1));
    if steps == Some(0) {
        return Err(Diagnostic::new("wrong-value", "--ring 1: a ring of one rank has no steps")
            .help("2 ranks or more")
            .into());
    }
    let offer = if steps.is_some() { &STEPS_OFFER } else { &OFFER };
    args.out.begin(offer)?;
    let options = Options {
        short: size(args.short.as_deref(), "--short")?,
        sync: size(args.eager.as_deref(), "--eager")?,
        percentile: f64::from(args.percentile),
    };
    let sources = progress::sources(voice.show);
    let named: Located<String> = file_names::text_of(&args.file).into();
    let input = sources.open(&named).map_err(|mistake| Invalid::one(mistake, &sources))?;
    let invalid = |diagnostics| Invalid { diagnostics, sources: sources.clone() };
    let samples = calibrate::read(input).map_err(invalid)?;
    let of_file = |mistake: Diagnostic| mistake.of_file(&named);
    if let Some(steps) = steps {
        let text = args.bandwidth.as_deref().unwrap_or_default();
        let wrong = |why: String| Diagnostic::new("bad-quantity", format!("--bandwidth: {why}"));
        let bandwidth: Bandwidth = text.parse().map_err(|error| wrong(format!("{error}")))?;
        if bandwidth.bytes_per_second() <= 0.0 {
            return Err(wrong("a port without bandwidth never delivers anything".to_owned()).into());
        }
        let options = StepOptions { steps, bandwidth, eager: options.sync, percentile: options.percentile };
        let found = calibrate::steps(&samples, options).map_err(of_file)?;
        let title = format!("end costs by size from {}", args.file.display());
        let machine = found.machine(&args.file.display().to_string());
        let files = args.out.open(offer)?;
        let print = || table::steps(&title, &found);
        args.out.deliver(files, print, &found, &[("x.toml", &|w| w.write_all(machine.as_bytes()))])?;
        found.advice().into_iter().for_each(|advice| voice.hint(advice));
        return Ok(End::Done);
    }
    let found = calibrate::calibrate(&samples, &options).map_err(of_file)?;
    let title = format!("LogGPS parameters from {}", args.file.display());
    let missing = found.missing().join(", ");
    let machine = found.machine(&args.file.display().to_string());
    let wants_machine = args.out.file_of(&OFFER, "x.toml").is_some();
    let mut files = args.out.open(&OFFER)?;
    // Not written if a parameter is missing.
    files.retain(|(name, _)| *name != "x.toml" || machine.is_some());
    args.out.deliver(
        files,
        || table::calibration(&title, &found),
        &found,
        &[
            ("x.svg", &|w| w.write_all(svg::calibration(&found, &title).as_bytes())),
            ("x.toml", &|w| w.write_all(machine.as_deref().unwrap_or_default().as_bytes())),
        ],
    )?;
    for advice in found.advice() {
        voice.hint(advice);
    }
    if wants_machine && !missing.is_empty() {
        let message = format!("no machine file is written: the measurements do not determine {missing}");
        return Err(Diagnostic::new("not-identifiable", message)
            .help("the hints above name the missing measurements")
            .into());
    }
    Ok(End::Done)
}

fn size(text: Option<&str>, option: &str) -> Result<Option<Bytes>, Failure> {
    let parse = |text: &str| {
        Bytes::from_cell(text).map_err(|error| Diagnostic::new("bad-quantity", format!("{option}: {error}")).into())
    };
    text.map(parse).transpose()
}
