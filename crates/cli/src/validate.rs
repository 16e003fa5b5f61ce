//! `hayase validate`: the simulator against closed forms, other simulators and published figures.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use clap::Args;
use serde_json::{Value, json};

use super::files::leave_out;
use super::listing::Listing;
use super::options::{Format, Offer, OutputArgs};
use super::progress::CasesMonitor;
use super::{End, Failure, Voice, interrupt, print};
use hayase::base::Arrange;
use hayase::diagnostic::{Diagnostic, closest};
use hayase_output::table::{self, Answer};
use hayase_validation::{Case, Context, Effort, Observer, Outcome, Verdict, cases};

const VALIDATE_EXAMPLES: &str = "\
Examples:
  hayase validate                         the quick cases, in seconds
  hayase validate --full                  all sizes and combinations, in minutes
  hayase validate simgrid lock-step       the cases with these words in their names

A case may differ from a published figure: it then prints the difference and does not fail. A figure that cannot be \
reached is `not reachable`, with the reason. If a case fails, the exit code is 1.

Files (-o), by name:
  x.csv    a line for each case
  x.json   an object for each, with its note";

/// `hayase validate`.
#[derive(Args, Debug)]
#[command(after_help = VALIDATE_EXAMPLES)]
pub struct ValidateArgs {
    /// Run the cases whose names contain one of these words (default: all).
    #[arg(value_name = "WORD")]
    pub cases: Vec<String>,
    /// Run a reduced set of cases that takes seconds (the default).
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Run every size and combination, which takes minutes.
    #[arg(long)]
    pub full: bool,
    /// List the cases without running them.
    #[arg(long)]
    pub list: bool,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

const OFFER: Offer<&str> = Offer { threads: true, ..Listing::offer("validate") };

/// Runs the cases side by side, each reported when it and those before it are done.
pub fn validate(args: &ValidateArgs, voice: Voice) -> Result<End, Failure> {
    let effort = if args.full { Effort::Full } else { Effort::Quick };
    if args.list {
        args.out.check(&Listing::offer("validate --list"))?;
        return list(&chosen(args)?, &args.out).map(|()| End::Done);
    }
    args.out.begin(&OFFER)?;
    let chosen = chosen(args)?;
    let mut files = args.out.open(&OFFER)?;
    let outcomes = run(&chosen, effort, args.out.format == Format::Table, voice)?;
    let verdicts = || outcomes.iter().flatten().map(|outcome| outcome.verdict);
    let count = |wanted| verdicts().filter(|verdict| *verdict == wanted).count();
    let (failed, interrupted) = (count(Verdict::Fail), chosen.len() - verdicts().count() + count(Verdict::Interrupted));
    let done = || chosen.iter().zip(&outcomes).filter_map(|(case, outcome)| Some((case, outcome.as_ref()?)));
    let records: Vec<Value> = done().map(|(case, outcome)| record(case, outcome)).collect();
    const COLUMNS: [&str; 7] = ["case", "verdict", "expected", "tolerance", "ours", "reason", "source"];
    let rows = || records.iter().map(|record| COLUMNS.map(|column| record[column].clone()).to_vec());
    let listing = Listing::new(&COLUMNS, rows);
    if interrupted > 0 {
        leave_out(&mut files, |name| name == "x.csv", "cases are missing", voice);
    }
    let summary = || {
        let open = if interrupted > 0 { format!(", {interrupted} not done") } else { String::new() };
        let mut answer = Answer::new();
        answer.push_str(&format!(
            "{}: {} pass, {} differ from a published figure, {} cannot reach one, {failed} fail{open}\n",
            table::count(chosen.len() as u64, "case", "cases"),
            count(Verdict::Pass),
            count(Verdict::Differs),
            count(Verdict::NotReachable)
        ));
        answer
    };
    args.out.deliver(files, summary, &records, &[("x.csv", &|w| listing.csv(w))])?;
    Ok(match (interrupted, failed) {
        (0, 0) => End::Done,
        (0, _) => End::Failed,
        _ => End::Interrupted,
    })
}

/// Prints the names and expectations of the cases.
fn list(cases: &[Case], out: &OutputArgs) -> Result<(), Failure> {
    let rows = || cases.iter().map(|case| vec![case.name.as_str().into(), case.expected.as_str().into()]);
    Listing::new(&["case", "expected"], rows).answer(out, || {
        let lines: String = cases.iter().map(|case| format!("{}  {}\n", case.name, case.expected)).collect();
        let mut answer = Answer::new();
        answer.push_str(&lines);
        answer
    })
}

/// Returns the numbers of the cases in the order of their starts, so that no core is left alone with a long
/// one.
fn heaviest_first(cases: &[Case], effort: Effort) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..cases.len()).collect();
    numbers.arrange_by_key(|&number| std::cmp::Reverse(cases[number].seconds(effort)));
    numbers
}

/// Runs the cases on all threads. With `prints`, each outcome is printed as soon as all earlier ones are.
fn run(cases: &[Case], effort: Effort, prints: bool, voice: Voice) -> Result<Vec<Option<Outcome>>, Failure> {
    let (monitor, vain) = (CasesMonitor::new(voice.show, cases.len()), AtomicBool::new(false));
    let stop = interrupt::stop_flag();
    let seat = |number: usize| Seat { name: &cases[number].name, number, monitor: &monitor, stop, vain: &vain };
    let mut outcomes: Vec<Option<Outcome>> = cases.iter().map(|_| None).collect();
    let (mut printed, mut failure): (usize, Option<Failure>) = (0, None);
    let print_first = |printed: &mut usize, outcomes: &[Option<Outcome>]| {
        let text = outcomes[*printed].as_ref().map(|outcome| text(&cases[*printed], outcome));
        *printed += 1;
        text.map_or(Ok(()), |text| monitor.aside(|| print(&text)))
    };
    let (sender, receiver) = mpsc::channel();
    let start = |sender: mpsc::Sender<(usize, Outcome)>| {
        rayon::scope_fifo(|scope| {
            for number in heaviest_first(cases, effort) {
                let (sender, seat) = (sender.clone(), seat(number));
                scope.spawn_fifo(move |_| {
                    if seat.tick(0.0) {
                        let outcome = cases[number].run(&Context::new(effort).watched(&seat));
                        seat.monitor.ended(number);
                        // (The channel is open as long as cases run.)
                        let _ = sender.send((number, outcome));
                    }
                });
            }
        });
    };
    std::thread::scope(|scope| {
        scope.spawn(move || start(sender));
        for (number, outcome) in receiver {
            outcomes[number] = Some(outcome);
            while prints && seat(number).goes_on() && outcomes.get(printed).is_some_and(Option::is_some) {
                failure = print_first(&mut printed, &outcomes).err();
                vain.store(failure.is_some(), Ordering::Relaxed);
            }
        }
    });
    monitor.clear();
    // Finished outcomes that wait for earlier ones.
    while prints && failure.is_none() && printed < outcomes.len() {
        failure = print_first(&mut printed, &outcomes).err();
    }
    failure.map_or(Ok(outcomes), Err)
}

/// Progress monitor of one case.
struct Seat<'a> {
    name: &'a str,
    number: usize,
    monitor: &'a CasesMonitor,
    stop: &'a AtomicBool,
    /// Set when nothing can be printed, so that continuing is pointless.
    vain: &'a AtomicBool,
}

impl Seat<'_> {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed) && !self.vain.load(Ordering::Relaxed)
    }
}

impl Observer for Seat<'_> {
    fn tick(&self, part: f64) -> bool {
        self.monitor.tell(self.number, self.name, part);
        self.goes_on()
    }
}

/// Returns the cases whose names contain one of the given words, or all cases without words.
fn chosen(args: &ValidateArgs) -> Result<Vec<Case>, Failure> {
    let cases = cases();
    for word in &args.cases {
        if !cases.iter().any(|case| case.name.contains(word.as_str())) {
            let near = closest(word, cases.iter().map(|case| case.name.as_str()));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            return Err(Diagnostic::new("unknown-case", format!("there is no case with `{word}` in its name"))
                .help(format!("{near}`hayase validate --list` shows all"))
                .into());
        }
    }
    let wanted = |case: &Case| args.cases.is_empty() || args.cases.iter().any(|word| case.name.contains(word.as_str()));
    Ok(cases.into_iter().filter(wanted).collect())
}

/// Returns a case with its outcome as text.
fn text(case: &Case, outcome: &Outcome) -> String {
    let mut text = format!("{:<8} {}\n", outcome.verdict.to_string(), case.name);
    let mut line = |what: &str, value: &str| text.push_str(&format!("         {what:<10}{value}\n"));
    line("source", &case.source);
    line("expected", &format!("{} (tolerance: {})", case.expected, case.tolerance));
    line("ours", &outcome.got);
    if let Some(reason) = &outcome.reason {
        line("because", reason);
    }
    for note in outcome.note.lines() {
        line("", note);
    }
    text.push('\n');
    text
}

/// Returns a case with its outcome as JSON.
fn record(case: &Case, outcome: &Outcome) -> Value {
    json!({
        "case": case.name,
        "source": case.source,
        "expected": case.expected,
        "tolerance": case.tolerance,
        "ours": outcome.got,
        "verdict": outcome.verdict.to_string().to_lowercase(),
        "reason": outcome.reason,
        "note": outcome.note,
        "meta": { "cpu_s": outcome.cpu_s, "version": env!("CARGO_PKG_VERSION") },
    })
}
