//! Means over seeds: the best configuration, the sensitivity to each key, and crossings of lines.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::merge::visit_rows;
use super::run::{RunControl, RunSummary, run};
use super::store::{Shard, Store, StoreError};
use super::values::{Values, amount, json, written};
use super::{Counts, Plan, columns};
use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Span, closest};
use crate::report::Sample;
use crate::study::{Amount, Unit};
use crate::units::grouped;

/// Largest number of configurations of which means are taken.
const MAX_CONFIGURATIONS: u64 = 1_000_000;
/// Largest number of times that crossings are narrowed down.
const MOST_ROUNDS: u32 = 30;

/// Key that varies, with all its values.
#[derive(Clone, PartialEq, Debug)]
pub struct VariedKey {
    /// Name, as the plan writes it.
    pub name: String,
    /// Values in the order of the plan, as written.
    pub values: Vec<String>,
    /// Values as numbers \[`unit`\]; `None` if one of them is not a number.
    pub numbers: Option<Vec<f64>>,
    /// Unit of the numbers: `B`, `s`, `B/s`, `s/B`, `%`, or empty.
    pub unit: &'static str,
    /// Number of its `[[zip]]`. Keys that vary together have the same number.
    pub group: usize,
}

/// Configuration, summarized over its seeds.
#[derive(Clone, PartialEq, Debug)]
pub struct MeanRow {
    /// Number of the configuration, in the order of the plan.
    pub configuration: u64,
    /// For each key, the position of its value among all its values.
    pub choice: Vec<usize>,
    /// Number of complete runs.
    pub seeds: u64,
    /// Mean makespan \[s\].
    pub mean_s: f64,
    /// Half of the 95 % interval of the mean \[s\]; 0 for a single run.
    pub half_s: f64,
    /// Means of the kept figures that are numbers.
    pub kept: Vec<Option<f64>>,
}

/// Means of all configurations with a makespan.
#[derive(Clone, PartialEq, Debug)]
pub struct Means {
    /// Name of the plan.
    pub plan: String,
    /// Keys that vary, except the seed.
    pub keys: Vec<VariedKey>,
    /// Names of the kept figures.
    pub kept: Vec<String>,
    /// Rows, in the order of the plan.
    pub rows: Vec<MeanRow>,
    /// Numbers of points, in all and done.
    pub counts: Counts,
}

impl Means {
    /// Returns true if makespans are estimates, except those of runs that had to be simulated in full.
    pub fn are_estimates(&self) -> bool {
        self.kept.iter().any(|key| key == columns::ESTIMATE[0])
    }
}

/// Crossing: a place where another value of a key becomes the best.
#[derive(Clone, PartialEq, Debug)]
pub struct Crossing {
    /// Values of the other keys: name and value.
    pub rest: Vec<(String, String)>,
    /// Best value below the crossing, and above it.
    pub best: [String; 2],
    /// Bounds of the crossing \[unit of the key\].
    pub between: [f64; 2],
    /// Nearest values below and above at which the 95 % intervals of both are apart, if known.
    pub clear: [Option<f64>; 2],
}

/// Part of the variance of log(makespan) that one key explains.
#[derive(Clone, PartialEq, Debug)]
pub struct Sensitivity {
    /// Name of the key.
    pub key: String,
    /// Var(E(log m | key)) / Var(log m), from 0 to 1: the first-order index of Sobol over the points of the
    /// plan.
    ///
    /// Source: I. M. Sobol, "Sensitivity estimates for nonlinear mathematical models", Math. Modelling
    /// Comput. Exp. 1 (1993) 407-414.
    pub part: f64,
    /// Value with the smallest mean, and value with the largest.
    pub extremes: [String; 2],
    /// Ratio of the largest mean to the smallest.
    pub ratio: f64,
}

/// Computes the means over the points of a plan that are done.
///
/// # Errors
/// A store that cannot be used.
pub fn means(plan: &Plan, folder: &Path) -> Result<Means, StoreError> {
    if plan.configurations() > MAX_CONFIGURATIONS {
        let message = format!("at most {} configurations have means", grouped(MAX_CONFIGURATIONS));
        return Err(Diagnostic::new("too-many-points", message).help("leave some out: [[only]], [[skip]]").into());
    }
    let mut keys: Vec<VariedKey> = Vec::new();
    // For each key and each of its values, the position among the distinct values.
    let mut positions: Vec<Vec<usize>> = Vec::new();
    for (i, group) in plan.points.groups.iter().enumerate() {
        for (key, values) in group.keys.iter().zip(&group.values) {
            let (key, position) = varied(&key.name, values, i);
            keys.push(key);
            positions.push(position);
        }
    }
    let store = Store::read(folder, plan)?;
    let mut rows = store.reader()?;
    let mut means: Vec<MeanRow> = Vec::new();
    let mut summed = ConfigurationRuns::of(u64::MAX, plan.settings.keep.len());
    let mut counts = Counts::default();
    let kept = &plan.settings.keep;
    let choice = |summed: &ConfigurationRuns| -> Vec<usize> {
        let numbers = plan.points.numbers(summed.configuration);
        let values = keys.iter().zip(&positions).map(|(key, positions)| positions[numbers[key.group] as usize]);
        values.collect()
    };
    visit_rows(plan, Some(&store), &mut counts, |configuration, _, found| {
        let Some(makespan) = found.makespan_s else { return Ok(()) };
        if summed.configuration != configuration.number {
            let before = std::mem::replace(&mut summed, ConfigurationRuns::of(configuration.number, kept.len()));
            means.extend(before.mean(choice));
        }
        summed.makespans.push(makespan);
        if !kept.is_empty() {
            let row: Value = serde_json::from_str(rows.text(found)?).unwrap_or_default();
            for (figure, key) in summed.figures.iter_mut().zip(kept) {
                figure.extend(row.get(key).and_then(Value::as_f64));
            }
        }
        Ok(())
    })?;
    means.extend(summed.mean(choice));
    Ok(Means { plan: plan.name.clone(), rows: means, keys, kept: kept.clone(), counts })
}

/// Runs of one configuration.
struct ConfigurationRuns {
    /// Number of the configuration.
    configuration: u64,
    /// Makespan of each seed \[s\].
    makespans: Vec<f64>,
    /// Kept figures: for each figure, its value with each seed.
    figures: Vec<Vec<f64>>,
}

impl ConfigurationRuns {
    fn of(configuration: u64, kept: usize) -> Self {
        Self { configuration, makespans: Vec::new(), figures: vec![Vec::new(); kept] }
    }

    /// Computes the means; returns `None` if there are no runs.
    fn mean(self, choice: impl Fn(&Self) -> Vec<usize>) -> Option<MeanRow> {
        let makespans = Sample::of(&self.makespans)?;
        let kept = self.figures.iter().map(|all| Sample::of(all).map(|figure| figure.mean)).collect();
        let (seeds, mean_s, half_s) = (makespans.count as u64, makespans.mean, makespans.half());
        Some(MeanRow { configuration: self.configuration, choice: choice(&self), seeds, mean_s, half_s, kept })
    }
}

/// Returns a key, and for each of its values the position among the distinct values.
fn varied(name: &str, values: &Values, group: usize) -> (VariedKey, Vec<usize>) {
    let trees: Vec<_> = (0..values.len()).map(|i| values.value(i)).collect();
    let numbers: Option<Vec<Amount>> = trees.iter().map(amount).collect();
    let numbers = numbers.filter(|all| all.windows(2).all(|pair| pair[0].is_like(pair[1])));
    let unit = numbers.as_ref().and_then(|all| all.first()).map_or(Unit::Plain, |number| number.unit);
    let factor = if unit.is_time() { 1e-12 } else { 1.0 };
    let mut texts: Vec<String> = Vec::new();
    let mut distinct: Vec<f64> = Vec::new();
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    let mut positions: Vec<usize> = Vec::with_capacity(trees.len());
    for (i, tree) in trees.iter().enumerate() {
        let text = text(&json(tree));
        let position = *known.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            distinct.extend(numbers.as_ref().map(|all| all[i].value * factor));
            texts.len() - 1
        });
        positions.push(position);
    }
    let numbers = numbers.map(|_| distinct);
    (VariedKey { name: name.to_owned(), values: texts, numbers, unit: unit.names().0, group }, positions)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Means {
    /// Returns the configurations with the smallest means, best first.
    pub fn best(&self, most: usize) -> Vec<&MeanRow> {
        let mut rows: Vec<&MeanRow> = self.rows.iter().collect();
        rows.arrange_by(|a, b| a.mean_s.total_cmp(&b.mean_s));
        rows.truncate(most);
        rows
    }

    /// Returns the value of a key in a row.
    pub fn value(&self, row: &MeanRow, key: usize) -> &str {
        &self.keys[key].values[row.choice[key]]
    }

    /// Returns the values of a row: `size 1 KB, placement random`. Keys with one value are left out if others have
    /// several; without keys it is `the scenario`.
    pub fn named(&self, row: &MeanRow) -> String {
        if self.keys.is_empty() {
            return "the scenario".to_owned();
        }
        let varies = |key: &VariedKey| key.values.len() > 1;
        let all = !self.keys.iter().any(varies);
        let keys = self.keys.iter().enumerate().filter(|(_, key)| all || varies(key));
        keys.map(|(at, key)| format!("{} {}", key.name, self.value(row, at))).collect::<Vec<_>>().join(", ")
    }

    /// Returns the position of the key of this name.
    ///
    /// # Errors
    /// No such key; the message lists the keys. Seeds do not count as keys, because means are taken over
    /// them.
    pub fn key(&self, name: &str) -> Result<usize, Diagnostic> {
        self.keys.iter().position(|key| key.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.keys.iter().map(|key| key.name.as_str()).collect();
            if name == "seed" {
                let message = "seeds cannot be one of the two keys: makespans are means over them";
                return Diagnostic::new("wrong-choice", message).help(format!("there are: {}", names.join(", ")));
            }
            let diagnostic = Diagnostic::new("unknown-key", format!("`{name}` is not varied"));
            match closest(name, names.iter().copied()) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic.help(format!("there are: {}", names.join(", "))),
            }
        })
    }

    /// Computes the sensitivity to each key, most sensitive first.
    #[expect(clippy::disallowed_methods, reason = "logarithms for a table that people read; no run depends on them")]
    pub fn sensitivity(&self) -> Vec<Sensitivity> {
        let logs: Vec<f64> = self.rows.iter().map(|row| row.mean_s.max(f64::MIN_POSITIVE).ln()).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let all: f64 = logs.iter().map(|log| (log - mean) * (log - mean)).sum();
        let of = |(k, key): (usize, &VariedKey)| {
            let mut sums = vec![(0.0, 0.0); key.values.len()];
            for (row, log) in self.rows.iter().zip(&logs) {
                let (sum, count) = &mut sums[row.choice[k]];
                (*sum, *count) = (*sum + log, *count + 1.0);
            }
            let groups: Vec<(usize, f64, f64)> = sums
                .iter()
                .enumerate()
                .filter(|(_, (_, count))| *count > 0.0)
                .map(|(i, (sum, count))| (i, sum / count, *count))
                .collect();
            let between: f64 = groups.iter().map(|(_, own, count)| count * (own - mean) * (own - mean)).sum();
            let least = groups.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
            let most = groups.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
            Some(Sensitivity {
                key: key.name.clone(),
                part: if all > 0.0 { between / all } else { 0.0 },
                extremes: [least.0, most.0].map(|i| key.values[i].clone()),
                ratio: (most.1 - least.1).exp(),
            })
        };
        let mut found: Vec<Sensitivity> = self.keys.iter().enumerate().filter_map(of).collect();
        found.arrange_by(|a, b| b.part.total_cmp(&a.part));
        found
    }

    /// Returns the keys that vary together with neither of these two.
    fn others(&self, keys: [usize; 2]) -> impl Iterator<Item = usize> {
        let groups = keys.map(|key| self.keys[key].group);
        (0..self.keys.len()).filter(move |&key| !groups.contains(&self.keys[key].group))
    }

    /// Groups rows that differ only in these two keys, and in keys that vary together with them, by the
    /// values of the other keys.
    pub fn panels(&self, keys: [usize; 2]) -> BTreeMap<Vec<usize>, Vec<&MeanRow>> {
        let mut panels: BTreeMap<Vec<usize>, Vec<&MeanRow>> = BTreeMap::new();
        for row in &self.rows {
            panels.entry(self.others(keys).map(|key| row.choice[key]).collect()).or_default().push(row);
        }
        panels
    }

    /// Returns name and value of each other key of a panel that has several values.
    pub fn rest(&self, keys: [usize; 2], choices: &[usize]) -> Vec<(String, String)> {
        let others = self.others(keys).map(|key| &self.keys[key]).zip(choices);
        let several = others.filter(|(key, _)| key.values.len() > 1);
        several.map(|(key, &choice)| (key.name.clone(), key.values[choice].clone())).collect()
    }

    /// Returns the values of the second key that are the best at all values of the first one, each with the
    /// values of the other keys.
    pub fn best_throughout(&self, keys: [usize; 2]) -> Vec<(Vec<(String, String)>, &str)> {
        let [over, of] = keys;
        let throughout = |(rest, rows): (Vec<usize>, Vec<&MeanRow>)| {
            let mut best: BTreeMap<usize, &MeanRow> = BTreeMap::new();
            for row in rows {
                let known = best.entry(row.choice[over]).or_insert(row);
                if row.mean_s < known.mean_s {
                    *known = row;
                }
            }
            let first = best.values().next()?.choice[of];
            let is_one = best.values().all(|row| row.choice[of] == first);
            is_one.then(|| (self.rest(keys, &rest), self.keys[of].values[first].as_str()))
        };
        self.panels(keys).into_iter().filter_map(throughout).collect()
    }

    /// Finds the values of `over` between which another value of `of` becomes the best.
    ///
    /// # Errors
    /// A key whose values are not numbers.
    pub fn crossings(&self, over: usize, of: usize) -> Result<Vec<Crossing>, Diagnostic> {
        let Some(numbers) = &self.keys[over].numbers else {
            let message = format!(
                "`{}` has values that are not numbers, so there are no crossings over it",
                self.keys[over].name
            );
            return Err(
                Diagnostic::new("wrong-choice", message).help("name a key with numbers first, as in size,pattern")
            );
        };
        let mut crossings = Vec::new();
        for (rest, rows) in self.panels([over, of]) {
            // Rows at each number, ascending.
            let mut numbered: Vec<(f64, &MeanRow)> = rows.iter().map(|row| (numbers[row.choice[over]], *row)).collect();
            numbered.arrange_by(|a, b| a.0.total_cmp(&b.0));
            let columns: Vec<(f64, Vec<&MeanRow>)> = numbered
                .chunk_by(|a, b| a.0 == b.0)
                .map(|column| (column[0].0, column.iter().map(|(_, row)| *row).collect()))
                .collect();
            let best = |column: &[&MeanRow]| -> Option<usize> {
                column.iter().min_by(|a, b| a.mean_s.total_cmp(&b.mean_s)).map(|row| row.choice[of])
            };
            // True if the intervals are apart, with `first` below `second`.
            let is_clear = |column: &[&MeanRow], first: usize, second: usize| {
                let row = |choice: usize| column.iter().find(|row| row.choice[of] == choice);
                row(first).zip(row(second)).is_some_and(|(a, b)| a.mean_s + a.half_s < b.mean_s - b.half_s)
            };
            for i in 1..columns.len() {
                let (Some(below), Some(above)) = (best(&columns[i - 1].1), best(&columns[i].1)) else { continue };
                // An equal mean is not better.
                let is_tie = |column: &[&MeanRow]| {
                    let mean = |choice: usize| column.iter().find(|row| row.choice[of] == choice).map(|row| row.mean_s);
                    mean(below).is_some() && mean(below) == mean(above)
                };
                if below == above || is_tie(&columns[i].1) {
                    continue;
                }
                let low = columns[..i].iter().rev().find(|column| is_clear(&column.1, below, above));
                let high = columns[i..].iter().find(|column| is_clear(&column.1, above, below));
                crossings.push(Crossing {
                    rest: self.rest([over, of], &rest),
                    best: [below, above].map(|choice| self.keys[of].values[choice].clone()),
                    between: [columns[i - 1].0, columns[i].0],
                    clear: [low.map(|column| column.0), high.map(|column| column.0)],
                });
            }
        }
        Ok(crossings)
    }
}

/// Runs a plan, and then further values of `over`, until the crossings at which another value of `of` becomes
/// the best are known to the relative precision `part`. The new values stay in the plan.
///
/// # Errors
/// A store that cannot be used or written, and keys that do not exist or have no numbers.
pub fn refine(
    plan: &mut Plan,
    folder: &Path,
    keys: [&str; 2],
    part: f64,
    control: RunControl<'_>,
) -> Result<RunSummary, StoreError> {
    let mut all = run(plan, folder, Shard::ALL, control)?;
    for _ in 0..MOST_ROUNDS {
        if all.interrupted {
            break;
        }
        let means = means(plan, folder)?;
        let (over, of) = (means.key(keys[0])?, means.key(keys[1])?);
        let mut added: Vec<f64> = Vec::new();
        for crossing in means.crossings(over, of)? {
            let [low, high] = crossing.between;
            if high <= low * (1.0 + part) {
                continue;
            }
            let middle = if low > 0.0 { (low * high).sqrt() } else { high / 2.0 };
            let whole = matches!(means.keys[over].unit, "B") || plan.is_whole(keys[0]);
            let middle = if whole { middle.round() } else { middle };
            if middle > low && middle < high && !added.contains(&middle) {
                added.push(middle);
            }
        }
        if added.is_empty() || !plan.add_values(keys[0], &added) {
            break;
        }
        let more = run(plan, folder, Shard::ALL, control)?;
        all = RunSummary {
            run: all.run + more.run,
            failed: all.failed + more.failed,
            wall_s: all.wall_s + more.wall_s,
            interrupted: more.interrupted,
            ..all
        };
    }
    Ok(all)
}

impl Plan {
    fn values_of(&mut self, name: &str) -> Option<&mut Values> {
        let group = self.points.groups.iter_mut().find(|group| group.keys.len() == 1 && group.keys[0].name == name)?;
        group.values.first_mut()
    }

    fn is_whole(&mut self, name: &str) -> bool {
        self.values_of(name).is_some_and(|values| {
            (0..values.len()).all(|i| amount(&values.value(i)).is_some_and(|number| number.unit == Unit::Whole))
        })
    }

    /// Adds values to a key, in the order of their numbers. Returns false if the key has no numbers.
    fn add_values(&mut self, name: &str, added: &[f64]) -> bool {
        let Some(values) = self.values_of(name) else { return false };
        let mut trees: Vec<_> = (0..values.len()).map(|i| values.value(i)).collect();
        let Some(unit) = trees.first().and_then(amount).map(|number| number.unit) else { return false };
        let factor = if unit.is_time() { 1e12 } else { 1.0 };
        let number = |value: f64| Amount { value: value * factor, unit };
        trees.extend(added.iter().map(|&value| written(number(value), Span::new(0, 0))));
        trees.arrange_by(|a, b| {
            let value = |tree| amount(tree).map_or(f64::NAN, |number| number.value);
            value(a).total_cmp(&value(b))
        });
        *values = Values::Listed(trees);
        true
    }
}
