//! Views of a sweep: pictures and crossings.

use std::path::Path;

use super::super::files::outputs;
use super::super::{Failure, options};
use super::args::SweepArgs;
use super::failure::store;
use hayase::diagnostic::Diagnostic;
use hayase::plan::{self, Columns, Crossing, Means, Plan};
use hayase_output::page::{self, PagePicture};
use hayase_output::svg;
use hayase_output::table;

outputs! {
    /// Content of an output file, by its name.
    pub(super) enum Kind {
        Csv: "x.csv",
        Json: "x.json",
        Parquet: "x.parquet",
        Page: "x.html",
        Heat: "heat.svg",
        Pareto: "pareto.svg",
        Lines: "lines.svg" | "x.svg",
    }
}

impl Kind {
    /// Returns the columns of a table, or `None` for a picture.
    pub fn columns(self) -> Option<Columns> {
        match self {
            Self::Csv => Some(Columns::Csv),
            Self::Json => Some(Columns::Json),
            Self::Parquet => Some(Columns::Parquet),
            Self::Page | Self::Heat | Self::Pareto | Self::Lines => None,
        }
    }
}

/// Draws a picture of the finished points.
pub(super) fn picture(
    kind: Kind,
    plan: &Plan,
    folder: &Path,
    cost: Option<&str>,
    crossings: Option<&(String, String)>,
) -> Result<String, Failure> {
    let means = plan::means(plan, folder).map_err(store)?;
    let undrawn = |why: String| Failure::from(Diagnostic::new("undrawn", why));
    let keys = || match crossings {
        Some((over, of)) => Ok([means.key(over)?, means.key(of)?]),
        None => svg::axes_of(&means).map_err(undrawn),
    };
    let drawn = match kind {
        Kind::Pareto => svg::sweep_pareto(&means, cost.unwrap_or_default()),
        Kind::Heat => svg::sweep_heat(&means, keys()?),
        _ => {
            let keys = keys()?;
            let found = match crossings {
                Some(_) => means.crossings(keys[0], keys[1])?,
                None => Vec::new(),
            };
            svg::sweep_lines(&means, keys, &found)
        }
    };
    drawn.map_err(undrawn)
}

/// Returns the page of the finished points: the best ones, the effect of each key, and the pictures that these points
/// can have.
pub(super) fn page(plan: &Plan, folder: &Path, args: &SweepArgs) -> Result<Vec<u8>, Failure> {
    let means = plan::means(plan, folder).map_err(store)?;
    let mut answer = table::best(&means, BEST_ON_PAGE);
    answer.append(table::sensitivity(&means));
    let kinds = [(Kind::Lines, "lines.svg"), (Kind::Heat, "heat.svg"), (Kind::Pareto, "pareto.svg")];
    let has_cost = |kind: Kind| kind != Kind::Pareto || args.cost.is_some();
    // A picture that these keys cannot have is left out.
    let drawn = kinds.into_iter().filter(|(kind, _)| has_cost(*kind)).filter_map(|(kind, name)| {
        let svg = picture(kind, plan, folder, args.cost.as_deref(), args.crossings.as_ref()).ok()?;
        Some(PagePicture::new(name, svg))
    });
    let mut html = Vec::new();
    let title = format!("Sweep of {}", args.plan.display());
    let data = points(plan, &means);
    let report = serde_json::json!({"plan": plan.text()});
    let written = options::page_with(&title, &answer, &drawn.collect::<Vec<_>>(), &data, &report, &mut html);
    written.map_err(|error| Failure::Write(args.plan.clone(), error))?;
    Ok(html)
}

/// Returns the scenarios of points for the script of a page, those with the best means first, and the numbers of the
/// configurations in the rows of the first table.
fn points(plan: &Plan, means: &Means) -> String {
    let best = means.best(SCENARIOS_ON_PAGE);
    let texts = best.iter().filter_map(|row| {
        let text = plan.scenario(row.configuration)?;
        Some((row.configuration.to_string(), [means.named(row), text]))
    });
    let texts: serde_json::Map<String, serde_json::Value> = texts.map(|(name, text)| (name, text.into())).collect();
    let rows: Vec<u64> = best.iter().take(BEST_ON_PAGE).map(|row| row.configuration).collect();
    page::in_script(&serde_json::json!({"points": {"of": texts, "rows": rows}}))
}

/// Number of points with their scenarios on a page.
const SCENARIOS_ON_PAGE: usize = 500;

/// Number of best points on a page.
const BEST_ON_PAGE: usize = 50;

/// Describes crossings in sentences.
pub(super) fn crossings(means: &Means, keys: [usize; 2], found: &[Crossing]) -> String {
    let unit = means.keys[keys[0]].unit;
    let number = |value: f64| svg::number(value, unit);
    let mut text = String::new();
    for Crossing { rest, best: [below, above], between: [low, high], clear } in found {
        let rest = named(rest);
        let clear = match clear {
            // Without seeds there are no intervals.
            _ if means.rows.iter().all(|row| row.seeds == 1) => String::new(),
            [Some(low), Some(high)] => {
                format!("; apart by their 95 % intervals up to {} and from {} on", number(*low), number(*high))
            }
            _ => "; their 95 % intervals are not apart on both sides".to_owned(),
        };
        text += &format!("{rest}{below} is best up to {}, {above} from {} on{clear}\n", number(*low), number(*high));
    }
    for (rest, best) in means.best_throughout(keys) {
        let rest = named(&rest);
        text += &format!("{rest}nothing crosses: {best} is best everywhere\n");
    }
    text
}

/// Returns the values of the other keys as a prefix.
fn named(rest: &[(String, String)]) -> String {
    let rest: Vec<String> = rest.iter().map(|(key, value)| format!("{key} {value}")).collect();
    if rest.is_empty() { String::new() } else { format!("{}: ", rest.join(", ")) }
}
