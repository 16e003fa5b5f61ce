//! `hayase advise`: possible improvements of a program with their gains; with `--explain`, the rules of
//! advice.

pub mod args;
mod found;

use std::sync::Arc;

use hayase_advice::model::{Change, ScenarioChange};
use hayase_advice_page::{Level, PageData};
use hayase_output::runner::Answering;
use hayase_trace::callers::CALLED_FROM;
use serde_json::Value;

use super::files::{leave_out, names};
use super::listing::Listing;
use super::options::Offer;
use super::progress::Stop;
use super::{End, Failure, Voice, caveats, complain, interrupt, lines, work};
use args::{AdviseArgs, ExplainArgs};
use found::Found;
use hayase::diagnostic::{Diagnostic, closest};
use hayase::report::Status;
use hayase::scenario::Scenario;
use hayase::simulation::ProgramWork;
use hayase::trace::unreceived;
use hayase_gain::gain::{LEAST_GAIN, LEAST_WAIT};
use hayase_gain::page::Context;
use hayase_gain::rules::{self, Base};
use hayase_gain::{Judge, Ranked, page, text};
use hayase_output::{json, table};

const OFFER: Offer<&str> =
    Offer::new("advise", names!["x.html" | "x.htm", "x.sarif" | "sarif.json", "x.json", "placement.csv"])
        .without_csv("findings are texts of several lines; take --format json, or -o x.html");

/// Finds improvements, simulates them and prints them.
pub fn advise(args: &AdviseArgs, voice: Voice) -> Result<End, Failure> {
    let Some(input) = &args.input else {
        let rule = args.explain.clone().filter(|rule| !rule.is_empty());
        return explain(&ExplainArgs { rule, out: args.out.clone() });
    };
    args.out.begin(&OFFER)?;
    let run = found::open(args, input, voice)?;
    caveats::say_unreceived(unreceived(&run.program), &run.name, voice);
    let loader = args.on.loader(voice);
    let work = ProgramWork {
        cpu_speed: args.on.program.cpu_speed.unwrap_or(1.0),
        wildcards: args.on.program.wildcards(),
        ..ProgramWork::new(Arc::clone(&run.program), run.name.as_str())
    };
    let replay = loader.load_program(args.on.program.regions.ask(work, voice)?)?;
    work::say_links(&replay, voice);
    let mut files = args.out.open(&OFFER)?;
    let keeps = files.iter().any(|(name, _)| *name == "x.html");
    let Advised { ranked, context, run: happened } = match advised(args, &replay, &run, keeps, voice)? {
        Outcome::Advised(advised) => *advised,
        Outcome::End(end) => return Ok(end),
    };
    let data = page::data(&ranked, &context, happened);
    let nodes = proposed(&ranked);
    if nodes.is_none() {
        leave_out(&mut files, |name| name == "placement.csv", "no placement is proposed", voice);
    }
    let found = text::json(&data, &ranked, &run.program.caveats);
    args.out.deliver(
        files,
        || text::text(&data, &ranked),
        &found,
        &[
            ("x.html", &|w| hayase_advice_page::page(&data, &mut &mut *w)),
            ("x.sarif", &|w| json::write(&hayase_advice_page::sarif(&data, env!("CARGO_PKG_VERSION")), w)),
            ("placement.csv", &|w| {
                writeln!(w, "rank,node")?;
                nodes.into_iter().flatten().enumerate().try_for_each(|(rank, node)| writeln!(w, "{rank},{node}"))
            }),
        ],
    )?;
    Ok(ended(args, &data, voice))
}

/// Prints the explanation of a rule, or the list of rules.
pub fn explain(args: &ExplainArgs) -> Result<End, Failure> {
    args.out.begin(&Listing::offer("advise --explain"))?;
    let Some(name) = &args.rule else {
        let rows = || rules::all().map(|rule| vec![rule.id.to_string().into(), rule.name.into(), rule.summary.into()]);
        Listing::new(&["rule", "name", "summary"], rows).answer(&args.out, || {
            let mut grid = table::Grid::new().text("rule").text("name").text("looks for");
            for rule in rules::all() {
                grid.row([rule.id.to_string(), rule.name.to_owned(), rule.summary.to_owned()]);
            }
            grid.into()
        })?;
        return Ok(End::Done);
    };
    // `A001-3` is a finding of rule A001.
    let of_finding = name.split_once('-').map_or(name.as_str(), |(rule, _)| rule);
    let Some(rule) = rules::find(name).or_else(|| rules::find(of_finding)) else {
        let names: Vec<String> = rules::all().flat_map(|rule| [rule.id.to_string(), rule.name.to_owned()]).collect();
        let near = closest(name, names.iter().map(String::as_str));
        let help = near.map_or_else(
            || "`hayase advise --explain` lists them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(Diagnostic::new("unknown-rule", format!("there is no rule `{name}`")).help(help).into());
    };
    let row = [rule.id.to_string().as_str(), rule.name, rule.summary, rule.explanation].map(Value::from).to_vec();
    let rows = || std::iter::once(row.clone());
    Listing::new(&["rule", "name", "summary", "explanation"], rows).answer(&args.out, || {
        let mut answer = table::Answer::new();
        answer.push_str(&format!("{} {}: {}\n\n{}", rule.id, rule.name, rule.summary, rule.explanation));
        answer
    })?;
    Ok(End::Done)
}

/// Advice on a run.
struct Advised {
    ranked: Ranked,
    context: Context,
    run: hayase_advice_page::Run,
}

enum Outcome {
    Advised(Box<Advised>),
    /// No advice, for a reason that has been reported.
    End(End),
}

fn advised(
    args: &AdviseArgs,
    replay: &Scenario<ProgramWork>,
    run: &Found,
    keeps: bool,
    voice: Voice,
) -> Result<Outcome, Failure> {
    if run.program.has_threads() {
        let what = "several threads of a rank call MPI: which of their calls could be moved is not known";
        let help = "hayase replay, trace info and trace sites know them; OMP_NUM_THREADS=1 makes one of several threads of OpenMP";
        return Err(Diagnostic::new("several-threads", what).help(help).into());
    }
    let stop = Stop(interrupt::stop_flag());
    let copy = 1e12 / args.copy_rate.bytes_per_second();
    let judge = Judge { replay, copy, watch: Some(&stop), thorough: args.all };
    let base = match Base::new(&judge, keeps) {
        Ok(base) => base,
        Err(replayed) if replayed.report.head.status == Status::Deadlocked => {
            complain(ProgramWork::reason(&replayed).trim_end());
            return Ok(Outcome::End(End::Deadlocked));
        }
        Err(_) => return Ok(Outcome::End(End::Interrupted)),
    };
    let simulates = !(replay.system().node().facts().is_ideal && replay.network().is_none());
    let beside = if simulates { base.simulated.makespan_s } else { 0.0 };
    let (mut findings, mut notes) = run.search(rules::eager(&judge), replay.work().region, beside)?;
    let ranked = if simulates {
        findings.extend(rules::search(&base, &judge, &findings));
        judge.rank(&base, findings, args.all)
    } else {
        voice.hint("gains are not simulated: add a machine (-m, see `hayase list machines`) or a fabric (-t)");
        let computed = base.replayed.report.ranks.iter().map(|rank| rank.compute_s).sum();
        Ranked::unsimulated(findings, "no machine is named", computed, args.all)
    };
    if ranked.hidden > 0 {
        notes.push(format!(
            "{} more would save less than {} %, cost time or deadlock, or are waits that take less than {} % of all ranks' time; --all shows them",
            ranked.hidden,
            100.0 * LEAST_GAIN,
            100.0 * LEAST_WAIT,
        ));
    }
    if ranked.untried > 0 {
        // A region has no such bound.
        let share = base.simulated.makespan_s.recip() * 100.0 * ranked.untried_s;
        let most = match share.is_finite() && replay.work().region.is_none() {
            true => format!("; one of them could save up to {share:.1} %"),
            false => String::new(),
        };
        notes.push(format!(
            "{} more were not simulated, because the others could save more{most}; --all simulates all",
            ranked.untried,
        ));
    }
    let sites = replay.work().program.sites.iter().map(|site| &**site);
    notes.extend(lines::remedy_of_places(sites.map(|site| site.split(CALLED_FROM).next().unwrap_or(site))));
    let mut facts = vec![("ranks".to_owned(), replay.work().program.ranks().to_string())];
    if let Some(region) = base.replayed.report.chosen() {
        let times = if region.executions == 1 { "once".to_owned() } else { format!("{} times", region.executions) };
        facts.push(("region".to_owned(), format!("{} ({times}): advice and times are of it", region.name)));
    }
    if simulates {
        facts.push(("nodes".to_owned(), base.replayed.report.node.clone()));
        facts.push(("network".to_owned(), base.replayed.report.network.clone()));
        if let Some(machine) = &args.on.system.machine {
            facts.push(("machine".to_owned(), machine.clone()));
        }
    }
    if keeps && base.replayed.history.is_none() {
        notes.push("the run is too long to be shown event by event".to_owned());
    }
    let caveats = &replay.work().program.caveats;
    let missing = caveats.incomplete.iter().map(|what| format!("the recording is incomplete: {what}"));
    notes.extend(missing.chain(caveats.of_times().cloned()));
    let happened =
        if keeps { page::run(&base, &ranked) } else { hayase_advice_page::Run::new(replay.work().program.ranks()) };
    let mut folders = args.source.clone();
    folders.extend(run.source.clone());
    let context = Context { program: run.name.clone(), facts, notes, folders };
    Ok(Outcome::Advised(Box::new(Advised { ranked, context, run: happened })))
}

/// Returns the best placement, if one is proposed.
fn proposed(ranked: &Ranked) -> Option<&Vec<u32>> {
    ranked.findings.iter().find_map(|judged| match &judged.finding.change {
        Change::Scenario(ScenarioChange::Placement { nodes }) => Some(nodes),
        _ => None,
    })
}

fn ended(args: &AdviseArgs, data: &PageData, voice: Voice) -> End {
    let Some(deny) = args.deny.map(Level::from) else { return End::Done };
    let denied: Vec<&str> =
        data.findings.iter().filter(|finding| Level::of(finding) >= deny).map(|finding| finding.id.as_str()).collect();
    if denied.is_empty() {
        return End::Done;
    }
    voice.say(format_args!("--deny: {}", denied.join(", ")));
    End::Failed
}
