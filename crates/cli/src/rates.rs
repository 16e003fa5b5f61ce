//! `hayase rates`: rates of the messages of the first step, all of them under way at once.

use clap::Args;

use super::files::names;
use super::options::{Offer, OutputArgs};
use super::scenario::ScenarioArgs;
use super::{End, Failure, Voice, progress};
use hayase::diagnostic::Diagnostic;
use hayase::transport::TransportSpec;
use hayase_output::{csv, svg, table};

const RATES_EXAMPLES: &str = "\
Examples:
  hayase rates -t torus-8x8 -p all-to-all-pairwise
  hayase rates -t fat-tree-54 -p incast --sharing equal-share --format csv
  hayase rates scenario.toml -o rates.csv

You supply: scenario.toml (`hayase init scenario.toml` writes one)

Files (-o), by name:
  x.csv    a line for each message
  x.json   an object for each
  x.html   the answer as a page for a browser
  x.svg    how rates spread

CSV columns: src,dst,rate_Bps,bottleneck (the link that holds the message back, one of them where several do so \
equally; empty where none does).";

/// `hayase rates`.
#[derive(Args, Debug)]
#[command(after_help = RATES_EXAMPLES)]
pub struct RatesArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

const OFFER: Offer<&str> = Offer::new("rates", names!["x.csv", "x.json", "x.html", "x.svg"]);

/// Prints rates and bottlenecks.
pub fn rates(args: &RatesArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let scenario = args.scenario.loader().on_read(progress::reading(voice.show)).load_pattern()?;
    if let Some(network) = scenario.network()
        && matches!(network.transport, TransportSpec::Packet(_))
    {
        let message = format!("rates are those of flows, and transport {} has packets", network.transport.name());
        return Err(Diagnostic::new("wrong-choice", message).help("take --transport flow or contention-free").into());
    }
    let rates = scenario.work().rates(scenario.system());
    let title = format!(
        "first step of {} on {}, sharing {}",
        scenario.work().name,
        scenario.network().map_or("no fabric", |network| network.fabric.name()),
        scenario.network().map_or("none", |network| network.sharing.name())
    );
    args.out.deliver(
        args.out.open(&OFFER)?,
        || table::rates(&title, &rates),
        &rates,
        &[("x.csv", &|w| csv::rates(&rates, w)), ("x.svg", &|w| w.write_all(svg::rates(&rates, &title).as_bytes()))],
    )?;
    Ok(End::Done)
}
