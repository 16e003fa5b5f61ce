//! `hayase compare --op`: the algorithms of a collective operation and its schedule, on each fabric and size.

use std::io::Write;
use std::num::NonZeroU32;

use super::compare::CompareArgs;
use super::files::names;
use super::options::{Offer, Writes};
use super::scenario::CommonArgs;
use super::schedule::end;
use super::{End, Failure, Voice, asked, progress};
use hayase::diagnostic::Diagnostic;
use hayase::report::{OperationComparison, OperationRow};
use hayase::study::schedule::{PlanOperation, Request, schedule};
use hayase::sweep::lists::rejoined;
use hayase::units::{Bytes, QuantityError, Time};
use hayase_output::{csv, table};

/// Sizes that are compared if none are named.
const SIZES: [&str; 4] = ["1 KB", "32 KB", "1 MB", "32 MB"];

const OFFER: Offer<&str> = Offer::new("compare", names!["x.csv", "x.json", "x.html"]);

/// Compares the algorithms of an operation.
pub fn compare(args: &CompareArgs, operation: PlanOperation, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let wrong = |mistake: QuantityError| Diagnostic::new("wrong-value", mistake.to_string());
    let varied = args.vary.iter().find(|(key, _)| key == "size").map(|(_, sizes)| sizes.clone());
    if let Some((key, _)) = args.vary.iter().find(|(key, _)| key != "size") {
        let message = format!("`{key}` cannot be varied beside --op");
        return Err(Diagnostic::new("wrong-choice", message).help("vary size; --set sets a key of all runs").into());
    }
    let sizes = match (&args.messages.size, varied) {
        (Some(size), _) => vec![size.clone()],
        (None, Some(sizes)) => sizes,
        (None, None) => SIZES.map(str::to_owned).to_vec(),
    };
    let sizes = sizes.iter().map(|size| size.parse::<Bytes>()).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let jitter = args.messages.jitter.as_deref().map(str::parse::<Time>).transpose().map_err(wrong)?;
    let base = asked::loader().on_read(progress::reading(voice.show));
    let base = args.scenario.iter().fold(base, |base, path| base.file(path));
    let base = CommonArgs::on(&args.common, base);
    let ranks = args.messages.ranks.map(NonZeroU32::get);
    let one_or =
        |listed: &[String]| if listed.is_empty() { vec![None] } else { listed.iter().cloned().map(Some).collect() };
    let mut rows: Vec<OperationRow> = Vec::new();
    for topology in one_or(&rejoined(&args.topology)) {
        for placement in one_or(&args.placement) {
            for transport in one_or(&args.transport) {
                let loader = topology.iter().fold(base.clone(), |loader, name| loader.topology(name));
                let loader = placement.iter().fold(loader, |loader, name| loader.placement(name));
                let loader = transport.iter().fold(loader, |loader, name| loader.transport(name));
                for &size in &sizes {
                    let request = Request { size: size.0, ranks, jitter, ..Request::of(operation) };
                    let made =
                        progress::over_runs(voice.show, "messages", |control| schedule(&loader, &request, control));
                    let report = match made {
                        Ok(made) => made.report,
                        Err(error) => return end(error, voice),
                    };
                    let choices = [&topology, &placement, &transport].map(|name| name.clone().unwrap_or_default());
                    rows.extend(OperationRow::of(&report, choices));
                }
            }
        }
    }
    let comparison = OperationComparison::new(operation.name(), rows);
    let to_csv: Writes<'_> = &|w: &mut dyn Write| csv::operation(&comparison, w);
    let files = args.out.open(&OFFER)?;
    args.out.deliver(files, || table::operation(&comparison), &comparison, &[("x.csv", to_csv)])?;
    Ok(End::Done)
}
