//! Every parameter of nodes and fabric, halved and doubled.

use serde_json::{Map, Value};

use super::{Amount, Change, Trial, Varied};
use crate::scenario::Scenario;
use crate::simulation::Work;

/// Factors by which every parameter is multiplied.
const FACTORS: [f64; 2] = [0.5, 2.0];

/// Returns every parameter halved and doubled: all quantities above 0 of the node model and the fabric, those
/// of a pattern or a farm, and the processor speed of a program. Bands of lengths change together.
pub fn halved_and_doubled(base: &Scenario) -> Vec<Varied> {
    let scenario = base.to_json();
    let mut all = Vec::new();
    let tables: &[(&str, bool)] = match base.work() {
        Work::Program(_) => &[("node", true), ("topology", false)],
        Work::Pattern(_) | Work::Farm(_) | Work::Jobs(_) => &[("node", true), ("topology", false), ("workload", false)],
    };
    for &(table, short) in tables {
        let Some(choices) = scenario.get(table).and_then(Value::as_object) else { continue };
        for (variant, options) in choices {
            let Some(options) = options.as_object() else { continue };
            let key = format!("{table}.{variant}");
            of_table(options, &key, if short { "" } else { &key }, &mut all);
        }
    }
    if let Work::Program(program) = base.work() {
        let speed = Amount::number(program.cpu_speed);
        all.push(varied("cpu-speed".to_owned(), speed, |amount| Change::CpuSpeed(amount.value)));
    }
    all
}

/// Adds the quantities of a table and of its nested tables, with the prefix `shown` before their names.
fn of_table(table: &Map<String, Value>, key: &str, shown: &str, all: &mut Vec<Varied>) {
    for (name, value) in table {
        let key = format!("{key}.{name}");
        let shown = if shown.is_empty() { name.clone() } else { format!("{shown}.{name}") };
        match value {
            Value::String(text) => {
                if let Some(amount) = quantity(text) {
                    all.push(varied(shown, amount, |amount| Change::Set(format!("{key}={}", amount.text()))));
                }
            }
            Value::Object(inner) => of_table(inner, &key, &shown, all),
            Value::Array(rows) => of_rows(rows, &key, &shown, all),
            _ => {}
        }
    }
}

/// Adds the quantities of a list of tables; one key changes in all rows at once. The end of a row (`to`) is
/// not a cost and does not change.
fn of_rows(rows: &[Value], key: &str, shown: &str, all: &mut Vec<Varied>) {
    let mut names: Vec<&String> = rows.iter().filter_map(Value::as_object).flat_map(Map::keys).collect();
    names.sort();
    names.dedup();
    for name in names.into_iter().filter(|name| *name != "to") {
        let base: Vec<Amount> = rows.iter().filter_map(|row| quantity(row.get(name)?.as_str()?)).collect();
        if base.is_empty() {
            continue;
        }
        let trial = |factor: f64| {
            let rows: Vec<String> = rows.iter().map(|row| scaled(row, name, factor)).collect();
            let change = Change::Set(format!("{key}=[{}]", rows.join(", ")));
            Trial { value: format!("x{factor}"), number: Some(factor), change }
        };
        let trials = FACTORS.into_iter().map(trial).collect();
        all.push(Varied { parameter: format!("{shown}.{name}"), base: Some("x1".to_owned()), trials });
    }
}

/// Formats a row as an inline table of TOML, with one of its quantities multiplied by a factor.
fn scaled(row: &Value, name: &str, factor: f64) -> String {
    let cells = row.as_object().into_iter().flatten().map(|(key, value)| {
        match value.as_str().and_then(quantity).filter(|_| key == name) {
            Some(amount) => format!("{key} = \"{}\"", amount.with(amount.value * factor).text()),
            None => format!("{key} = {value}"),
        }
    });
    format!("{{ {} }}", cells.collect::<Vec<_>>().join(", "))
}

/// Parses a quantity with a unit, above 0.
fn quantity(text: &str) -> Option<Amount> {
    Amount::read(text).filter(|amount| amount.value > 0.0 && !amount.unit.is_none())
}

fn varied(parameter: String, base: Amount, change: impl Fn(Amount) -> Change) -> Varied {
    let trial = |factor: f64| {
        let amount = base.with(base.value * factor);
        Trial { value: amount.shown(), number: Some(amount.base()), change: change(amount) }
    };
    Varied { parameter, base: Some(base.shown()), trials: FACTORS.into_iter().map(trial).collect() }
}
