//! `hayase measure`: message times of a real network, as a data set.

use std::path::{Path, PathBuf};

use clap::Args;

use super::args::{CommunicationArgs, MeasureVerb};
use crate::files::names;
use crate::options::Offer;
use crate::{End, Failure, Voice, files, interrupt, process, progress};
use hayase::diagnostic::Diagnostic;
use hayase::prediction::communication::Origin;
use hayase::units::Bytes;
use hayase_measure::launcher::{self, MeasureError};
use hayase_measure::{Increment, Plan, Sizes, analysis};
use hayase_output::{svg, table};

/// `hayase measure-agent`: one of the two processes.
#[derive(Args, Debug)]
pub struct AgentArgs {
    /// The smallest message \[B\].
    #[arg(long)]
    pub smallest: u64,
    /// The largest message \[B\].
    #[arg(long)]
    pub largest: u64,
    /// Step between sizes: `1024` \[B\], `x2`.
    #[arg(long)]
    pub increment: Option<Increment>,
    /// Approximate time of the measurement \[s\].
    #[arg(long)]
    pub seconds: f64,
    /// MPI libraries to try.
    #[arg(required = true)]
    pub libraries: Vec<String>,
}

fn machine_name(path: &Path) -> Result<(), Diagnostic> {
    files::kind_of(path, &[("x.toml", ())])
}

/// Runs a measurement.
pub fn measure(verb: &MeasureVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        MeasureVerb::Communication(args) => communication(args, voice),
    }
}

/// Runs one of the two processes.
pub fn agent(args: &AgentArgs) -> Result<End, Failure> {
    let sizes = Sizes { smallest: args.smallest, largest: args.largest, increment: args.increment };
    let plan = Plan { sizes, seconds: args.seconds };
    Ok(if hayase_measure::agent::run(&args.libraries, &plan) { End::Done } else { End::Failed })
}

const OFFER: Offer<&str> =
    Offer::new("measure communication", names!["x.comm", "x.json", "x.csv", "x.svg"]).on_one_thread();

fn communication(args: &CommunicationArgs, voice: Voice) -> Result<End, Failure> {
    let plan = plan(args)?;
    args.out.begin(&OFFER)?;
    let outputs = args.out.open(&OFFER)?;
    let machine: Vec<PathBuf> = args.node_out.iter().cloned().collect();
    let machine = files::open(&machine, machine_name)?;
    let program = process::words().map_err(|error| {
        Diagnostic::new("no-program", format!("this program cannot be found on disk: {}", crate::reason(&error)))
    })?;
    let libraries = args.mpi.clone().map_or_else(|| launcher::libraries(&args.launcher[0]), |library| vec![library]);
    // Ctrl-C also ends the launcher; files that were begun are removed.
    let stop = interrupt::stop_flag();
    let shown = progress::Meter::new(voice.show, "");
    let (began, measured_at) = clocks();
    let line = args.launcher.join(" ");
    let measured = launcher::run(
        &args.launcher,
        &program,
        &libraries,
        &plan,
        |part| shown.tell((part * 1000.0) as u64, 1000, String::new),
        |other| voice.say(other.trim_end()),
    );
    drop(shown);
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(End::Interrupted);
    }
    let measured = measured.map_err(|trouble| explain(trouble, &line))?;
    let origin = Origin {
        launcher: line.clone(),
        measured: measured_at,
        clock: "monotonic".into(),
        percentile: f64::from(args.percentile),
        seconds: (began.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        hayase: env!("CARGO_PKG_VERSION").into(),
        ..Origin::default()
    };
    let analysis = analysis::analyse(&measured, origin)?;
    for ((), file) in machine {
        file.write(files::text(&analysis.machine(&line)))?;
    }
    let (data, samples) = (&analysis.communication, analysis::samples_csv(&measured));
    args.out.deliver(
        outputs,
        || table::communication(data, &analysis.calibration),
        &analysis,
        &[
            ("x.comm", &|w| w.write_all(data.to_toml().as_bytes())),
            ("x.csv", &|w| w.write_all(samples.as_bytes())),
            ("x.svg", &|w| w.write_all(svg::communication(data).as_bytes())),
        ],
    )?;
    if analysis.is_disturbed() {
        voice.hint(
            "something disturbed the measurements: medians are far above the fastest; leave a processor to \
                    each of the two processes, or measure longer (--seconds)",
        );
    }
    if measured.hosts.windows(2).any(|pair| pair[0] == pair[1]) {
        voice.hint("both processes ran on one host, so memory was measured instead of a network");
    }
    Ok(End::Done)
}

/// Largest number of sizes, a bound on the time of a measurement.
const MOST_SIZES: usize = 1000;
/// Smallest number of sizes, needed to fit a line for each protocol and see outliers.
const FEWEST_SIZES: usize = 4;

fn plan(args: &CommunicationArgs) -> Result<Plan, Diagnostic> {
    let sizes = sizes(args)?;
    if !(args.seconds > 0.0 && args.seconds <= 86_400.0) {
        let message = format!("--seconds: {} is not between 0 and a day", args.seconds);
        return Err(Diagnostic::new("wrong-value", message).help("the default is 10"));
    }
    Ok(Plan { sizes, seconds: args.seconds })
}

/// Returns the sizes to measure, or the mistake in the interval or its increment.
fn sizes(args: &CommunicationArgs) -> Result<Sizes, Diagnostic> {
    let bytes = |flag: &str, text: &str| {
        text.trim().parse::<Bytes>().map_err(|error| Diagnostic::new("bad-quantity", format!("{flag}: {error}")))
    };
    let wrong = |message: String| Diagnostic::new("wrong-value", message);
    let (smallest, largest) = (bytes("--smallest", &args.smallest)?, bytes("--largest", &args.largest)?);
    if !(64..=1 << 30).contains(&largest.0) {
        let message = format!("--largest: {} is not between 64 B and 1 GiB", largest.exact());
        return Err(wrong(message).help("the default is 4 MiB"));
    }
    if smallest > largest {
        let message = format!("--smallest: {} is more than the largest, {}", args.smallest, args.largest);
        return Err(wrong(message).help("sizes go from --smallest to --largest (default: 0 B to 4 MiB)"));
    }
    let asked = args.increment.as_ref().map(|text| text.trim());
    let increment = match asked.map(|text| (text, text.strip_prefix('x'))) {
        None => None,
        Some((text, Some(_))) => Some(text.parse::<Increment>().map_err(|_| {
            let message = format!("--increment: `{text}` is not a factor above 1");
            wrong(message).help("write a factor between sizes: --increment x2")
        })?),
        Some((text, None)) => match bytes("--increment", text)?.0 {
            0 => {
                let message = format!("--increment: a step of {text} does not change the size");
                return Err(wrong(message).help("write bytes, --increment 1KiB, or a factor, --increment x2"));
            }
            step => Some(Increment::Add(step)),
        },
    };
    let sizes = Sizes { smallest: smallest.0, largest: largest.0, increment };
    let interval = format!("from {} to {}", args.smallest, args.largest);
    match (sizes.count(MOST_SIZES), asked) {
        (count, Some(asked)) if count > MOST_SIZES => {
            let step = (largest.0 - smallest.0).div_ceil(MOST_SIZES as u64 - 1);
            let message = format!("--increment: {asked} makes more than {MOST_SIZES} sizes {interval}");
            Err(wrong(message).help(format!("write {step} B or more, or a factor, --increment x2")))
        }
        (count, _) if count < FEWEST_SIZES => {
            let (those, what) = if count == 1 { ("is", "size") } else { ("are", "sizes") };
            let message = format!("there {those} {count} {what} {interval}, and at least {FEWEST_SIZES} are needed");
            Err(wrong(message).help("give a wider interval or a smaller --increment"))
        }
        _ => Ok(sizes),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "when and how long something was measured is part of where it comes from"
)]
fn clocks() -> (std::time::Instant, String) {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (std::time::Instant::now(), date(since.as_secs()))
}

/// Returns a date such as `2026-11-21 15:04 UTC` from seconds since 1970.
fn date(seconds: u64) -> String {
    // Years from March have their leap day at the end; 400 of them have 146,097 days.
    let (days, minutes) = (seconds / 86_400 + 719_468, seconds % 86_400 / 60);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02} {:02}:{:02} UTC", era * 400 + year + next, minutes / 60, minutes % 60)
}

/// Explains a failed measurement and its remedy.
fn explain(trouble: MeasureError, line: &str) -> Failure {
    match trouble {
        MeasureError::Start(name, error) => {
            let message = format!("cannot start `{name}`: {}", crate::reason(&error));
            let help = "the line after -- begins with the launcher of an MPI: `-- mpirun -np 2`";
            Diagnostic::new("no-launcher", message).help(help).into()
        }
        MeasureError::Failed { message, help } => {
            let diagnostic = Diagnostic::new("not-measured", message);
            Failure::Failed(Box::new(if help.is_empty() { diagnostic } else { diagnostic.help(help) }))
        }
        MeasureError::Ended(name, status) => {
            let message = format!("`{name}` ended ({status}) before anything was measured");
            let help = format!("does `{line} hostname` print two names?");
            Failure::Failed(Box::new(Diagnostic::new("launcher-failed", message).help(help)))
        }
        MeasureError::Read(error) => {
            let message = format!("cannot read what the processes measured: {}", crate::reason(&error));
            Failure::Failed(Box::new(Diagnostic::new("launcher-failed", message)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_795_273_440), "2026-11-21 15:04 UTC");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
