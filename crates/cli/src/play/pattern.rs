//! Files of a pattern.

use std::io::{self, Write};

use super::streams::Stream;
use super::{Asked, Filed, took};
use crate::files::{Names, names};
use crate::{Failure, estimate};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::ids::{NodeId, RankId};
use hayase::network::Network;
use hayase::pattern::{self, Order};
use hayase::report::{Meta, Report};
use hayase::scenario::Scenario;
use hayase::simulation::{PatternOutcome, PatternWork, Simulated};
use hayase_output::csv;
use hayase_output::shown::{Played, Shown, TIMELINE};
use hayase_output::table;

impl Filed for PatternWork {
    const NAMES: Names<&'static str> = names![
        "x.json",
        "x.html",
        "timeline.svg",
        "noise.svg",
        "links.svg",
        "x.svg",
        "messages.csv",
        "links.csv",
        "noise.csv",
        "ranks.csv",
        "activities.csv",
        "path.csv",
        "rankfile=FILE",
        "hostfile=FILE",
    ];
    const CSV: Result<(), &'static str> =
        Err("of a pattern there are several tables: -o messages.csv, links.csv, ranks.csv, activities.csv, path.csv");

    fn check(scenario: &Scenario<Self>, asked: &Asked<'_>) -> Result<(), Failure> {
        let whole = ["messages.csv", "ranks.csv", "activities.csv", "path.csv", "timeline.svg"];
        estimate::check(scenario.system(), whole.into_iter().find_map(|name| asked.file::<Self>(name)))?;
        let numbered = ["rankfile=FILE", "hostfile=FILE"].into_iter().find_map(|name| asked.file::<Self>(name));
        if numbered.is_some() && numbering(scenario).is_none() {
            let order = scenario.work().pattern.order().map_or("rank", |choice| choice.name);
            let message = format!("no numbering of the ranks gives an all-to-all the order {order}");
            let help = "take --order rank, node or stride; other orders need an all-to-all of their own";
            return Err(Diagnostic::new("wrong-choice", message).help(help).into());
        }
        // A timeline keeps every message, so its size is checked before the run.
        let messages = scenario.work().messages();
        match asked.file::<Self>("timeline.svg") {
            Some(path) if messages > TIMELINE => {
                let (messages, most) = (table::grouped(messages), table::grouped(TIMELINE));
                let message = format!("a timeline of {messages} messages cannot be read (`{}`)", path.display());
                Err(Diagnostic::new("too-large", message)
                    .help(format!("at most {most} messages can be drawn; take a smaller run, or -o messages.csv"))
                    .into())
            }
            _ => Ok(()),
        }
    }

    fn stream<'a>(_: &'a Scenario<Self>, name: &str, file: AtomicFile) -> io::Result<Box<dyn Stream + 'a>> {
        Ok(match name {
            "messages.csv" => Box::new(csv::MessagesBeside::new(file)?),
            _ => Box::new(csv::activities(file)?),
        })
    }

    fn write(played: &Played<'_, Self>, name: &str, w: &mut dyn Write) -> io::Result<()> {
        let &Played { scenario, outcome: run, report, .. } = played;
        match (name, scenario.network()) {
            ("links.csv", _) => csv::links(run.links.iter(), w),
            ("ranks.csv", _) => {
                let known = run.history.is_some();
                let (ranks, late) = report.ranks.as_ref().map_or((&[][..], &[][..]), |of| (&of.ranks, &of.late));
                csv::ranks(ranks, late, known, w)
            }
            ("rankfile=FILE", Some(network)) => rank_file(network, &numbering(scenario).unwrap_or_default(), w),
            ("hostfile=FILE", Some(network)) => host_file(network, &numbering(scenario).unwrap_or_default(), w),
            ("path.csv", _) => csv::path(run.path.as_deref().unwrap_or_default(), w),
            _ => Self::draw(played, name, w),
        }
    }

    fn say(_: &Scenario<Self>, outcome: &PatternOutcome, asked: &Asked<'_>) {
        estimate::say_reason(outcome.report.head.estimated.as_ref(), asked.voice);
    }

    fn took(report: &Report, meta: &Meta) -> String {
        took("simulated", meta, &[(estimate::simulated(&report.head), "messages"), (meta.events, "events")])
    }
}

/// Returns the rank that gets each number, so that an all-to-all in the order of numbers has the order of the scenario.
fn numbering(scenario: &Scenario<PatternWork>) -> Option<Vec<u32>> {
    let name = scenario.work().pattern.order().map_or(Order::Rank.name(), |choice| choice.name);
    let order = *Order::ALL.iter().find(|order| order.name() == name)?;
    let nodes: Vec<NodeId> = scenario.network()?.placement.iter().copied().collect();
    pattern::numbering(order, &nodes)
}

/// Writes lines of a file that names the host of each rank: `line` receives the number, the host and the number of
/// earlier ranks on this host.
fn hosts(
    network: &Network,
    numbering: &[u32],
    w: &mut dyn Write,
    line: impl Fn(usize, &str, u32) -> String,
) -> io::Result<()> {
    writeln!(
        w,
        "# host names are those of the fabric; ranks are numbered so that rank order visits them in this order"
    )?;
    let mut earlier = vec![0; network.fabric.nodes() as usize];
    for (number, &rank) in numbering.iter().enumerate() {
        let node = network.placement[RankId(rank)];
        let host = network.fabric.vertex_name(node.into()).replace(' ', "");
        writeln!(w, "{}", line(number, &host, earlier[node.0 as usize]))?;
        earlier[node.0 as usize] += 1;
    }
    Ok(())
}

/// Writes a rank file of Open MPI.
fn rank_file(network: &Network, numbering: &[u32], w: &mut dyn Write) -> io::Result<()> {
    hosts(network, numbering, w, |number, host, slot| format!("rank {number}={host} slot={slot}"))
}

/// Writes a host file of MPICH.
fn host_file(network: &Network, numbering: &[u32], w: &mut dyn Write) -> io::Result<()> {
    hosts(network, numbering, w, |_, host, _| format!("{host}:1"))
}
