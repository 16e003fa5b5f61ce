//! Figures of fabrics, as a table with a column for each fabric and as rows with named columns.

use serde_json::Value;

use crate::table::{Answer, Grid, bandwidth, fixed, grouped, printable};
use hayase::sweep::fabrics::{FabricFigures, Spread};

/// One figure for all fabrics.
pub struct Figure {
    /// Name of the figure, with its unit.
    pub name: &'static str,
    /// By fabric: the figure as text; `-` if it is unknown.
    pub texts: Vec<String>,
    /// By fabric: the value.
    pub values: Vec<Option<f64>>,
    /// True if larger is better, false if smaller is better, `None` if neither is.
    pub more_is_better: Option<bool>,
}

/// Formats a mean with its interval: `0.7030 +- 0.0080`.
fn spread(spread: Option<Spread>) -> Option<String> {
    let Spread { mean, interval, .. } = spread?;
    let interval = interval.map(|interval| format!(" +- {}", fixed(interval, 4)));
    Some(format!("{}{}", fixed(mean, 4), interval.unwrap_or_default()))
}

/// Returns all figures that are known for at least one of the fabrics.
pub fn figures(all: &[FabricFigures]) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut add = |name, more_is_better, of: &dyn Fn(&FabricFigures) -> Option<(f64, String)>| {
        let found: Vec<Option<(f64, String)>> = all.iter().map(of).collect();
        if found.iter().all(Option::is_none) {
            return;
        }
        let texts = found.iter().map(|found| found.as_ref().map_or("-".to_owned(), |(_, text)| text.clone())).collect();
        let values = found.into_iter().map(|found| found.map(|(value, _)| value)).collect();
        figures.push(Figure { name, texts, values, more_is_better });
    };
    let count = |count: u64| Some((count as f64, grouped(count)));
    let part = |part: Option<f64>| part.map(|part| (part, fixed(part, 4)));
    let drawn = |drawn: Option<Spread>| Some((drawn?.mean, spread(drawn)?));
    let money = |money: Option<f64>| money.map(|money| (money, grouped(money.round() as u64)));
    add("nodes", None, &|of| count(of.nodes.into()));
    add("switches", None, &|of| count(of.switches.into()));
    add("ports of a switch", Some(false), &|of| count(of.radix.into()));
    add("cables", None, &|of| count(of.cables.all));
    add("cables a node", Some(false), &|of| {
        let each = of.cables.all as f64 / f64::from(of.nodes.max(1));
        Some((each, fixed(each, 3)))
    });
    add("optical cables", None, &|of| count(of.cables.optical?));
    add("cost", None, &|of| money(of.cost.as_ref().map(|cost| cost.total)));
    add("cost of a node", Some(false), &|of| money(of.cost.as_ref().map(|cost| cost.per_node)));
    add("diameter [links]", Some(false), &|of| count(of.diameter?.into()));
    add("mean distance [links]", Some(false), &|of| {
        let distance = of.mean_distance?;
        let about = if of.mean_distance_is_sampled { "about " } else { "" };
        Some((distance, format!("{about}{}", fixed(distance, 3))))
    });
    let at_most = |of: &FabricFigures| if of.bisection_is_least == Some(false) { "at most " } else { "" };
    add("bisection", None, &|of| {
        of.bisection_bps.map(|carried| (carried, at_most(of).to_owned() + &bandwidth(carried)))
    });
    add("bisection, part", Some(true), &|of| of.bisection.map(|part| (part, at_most(of).to_owned() + &fixed(part, 4))));
    add("uniform throughput", Some(true), &|of| part(of.uniform));
    add("adversarial", Some(true), &|of| part(of.adversarial));
    add("random pairs", Some(true), &|of| drawn(of.effective_bisection));
    add("parts at failed", Some(true), &|of| drawn(of.resilience.as_ref().map(|resilience| resilience.parts_at)));
    add("left with failed", Some(true), &|of| drawn(of.with_failed));
    add("simulated uniform", Some(true), &|of| part(of.simulated));
    figures
}

/// Returns a table with a column for each fabric.
pub fn table(all: &[FabricFigures], about: &[String]) -> Answer {
    let mut text = Answer::new();
    for (number, of) in all.iter().enumerate() {
        text.push_str(&format!("{}  {}, routing {}\n", number + 1, printable(&of.fabric), of.routing));
    }
    text.push_str("\n");
    let mut grid = Grid::new().text("");
    for (number, of) in all.iter().enumerate() {
        grid = grid.number(format!("{} {}", number + 1, short(&of.name)));
    }
    for figure in figures(all) {
        grid.row(std::iter::once(figure.name.to_owned()).chain(figure.texts));
    }
    text.table(grid);
    text.push_str("\n");
    let mut adversaries: Vec<String> = Vec::new();
    for of in all {
        let known = format!("{} on {}", of.adversary, short(&of.name));
        adversaries.push(known);
    }
    text.push_str(&format!("adversarial: {}\n", adversaries.join("; ")));
    for line in about {
        text.push_str(&format!("{line}\n"));
    }
    for of in all {
        for note in &of.notes {
            text.push_str(&format!("{}: {}\n", short(&of.name), printable(note)));
        }
    }
    text
}

/// Longest name in the heading of a column \[characters\].
const LONGEST: usize = 18;

/// Returns the name of a file without folders and extension, cut to the longest name of a column. Other names
/// are only cut.
pub fn short(name: &str) -> String {
    let file = name.strip_suffix(".toml").or(name.strip_suffix(".xml"));
    let last = file.map_or(name, |file| file.rsplit(['/', '\\']).next().unwrap_or(file));
    let cut: String = last.chars().take(LONGEST).collect();
    printable(&if cut.len() < last.len() { format!("{}…", cut.trim_end()) } else { cut })
}

/// Column of [`rows`]: name and value.
type Column = (&'static str, fn(&FabricFigures) -> Value);

/// Columns of [`rows`].
const COLUMNS: &[Column] = &[
    ("name", |of| of.name.as_str().into()),
    ("fabric", |of| of.fabric.as_str().into()),
    ("routing", |of| of.routing.as_str().into()),
    ("nodes", |of| of.nodes.into()),
    ("switches", |of| of.switches.into()),
    ("radix", |of| of.radix.into()),
    ("cables", |of| of.cables.all.into()),
    ("optical_cables", |of| of.cables.optical.into()),
    ("copper_m", |of| of.cables.copper_m.into()),
    ("optical_m", |of| of.cables.optical_m.into()),
    ("racks", |of| of.cables.racks.into()),
    ("cost", |of| of.cost.as_ref().map(|cost| cost.total).into()),
    ("cost_per_node", |of| of.cost.as_ref().map(|cost| cost.per_node).into()),
    ("diameter_links", |of| of.diameter.into()),
    ("mean_distance_links", |of| of.mean_distance.into()),
    ("bisection_bps", |of| of.bisection_bps.into()),
    ("bisection", |of| of.bisection.into()),
    ("bisection_is_least", |of| of.bisection_is_least.into()),
    ("uniform_throughput", |of| of.uniform.into()),
    ("adversarial_throughput", |of| of.adversarial.into()),
    ("adversary", |of| of.adversary.as_str().into()),
    ("effective_bisection", |of| of.effective_bisection.map(|pairs| pairs.mean).into()),
    ("effective_bisection_interval", |of| of.effective_bisection.and_then(|pairs| pairs.interval).into()),
    ("pairings", |of| of.effective_bisection.map(|pairs| pairs.count).into()),
    ("parts_at_failed", |of| of.resilience.as_ref().map(|parts| parts.parts_at.mean).into()),
    ("parts_at_failed_interval", |of| of.resilience.as_ref().and_then(|parts| parts.parts_at.interval).into()),
    ("parts_at_failed_least", |of| of.resilience.as_ref().map(|parts| parts.least).into()),
    ("with_failed", |of| of.with_failed.map(|left| left.mean).into()),
    ("with_failed_interval", |of| of.with_failed.and_then(|left| left.interval).into()),
    ("simulated_throughput", |of| of.simulated.into()),
    ("notes", |of| of.notes.join("; ").into()),
];

/// Returns the names of the columns of [`rows`].
pub fn columns() -> Vec<&'static str> {
    COLUMNS.iter().map(|(name, _)| *name).collect()
}

/// Returns a row for each fabric.
pub fn rows(all: &[FabricFigures]) -> Vec<Vec<Value>> {
    all.iter().map(|of| COLUMNS.iter().map(|(_, value)| value(of)).collect()).collect()
}
