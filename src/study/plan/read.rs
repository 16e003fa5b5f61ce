//! Reader of the parts of a plan that are not its scenario: `[grid]`, `[[zip]]`, `[[skip]]`, `[[only]]` and
//! `[sweep]`.

use rustc_hash::FxHashSet;

use super::columns;
use super::points::{Filter, FilterItem, Group, Key, Points};
use super::row;
use super::values::{Values, amount, json, normal};
use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Span, closest};
use crate::reading::tree::{Entry, Kind, Table, Tree};
use crate::report;
use crate::scenario::KEYS;
use crate::study::{Amount, Unit};

/// Words that may vary besides the keys of a scenario. They have the meaning of the options of the same
/// names.
const OPTION_WORDS: [&str; 5] = ["machine", "pattern", "size", "injection", "jitter"];
/// Keys of `[sweep]`.
const SETTINGS: [&str; 3] = ["keep", "within", "least"];
/// Largest number of values of a key against which the values of filters are checked.
const MOST_COMPARED: u64 = 10_000;
/// Default of the least number of seeds before a mean is trusted.
const DEFAULT_LEAST_SEEDS: u64 = 5;

/// Settings of `[sweep]`.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Figures that are kept of each point besides the usual ones.
    pub keep: Vec<String>,
    /// Relative half-width of the 95 % interval of the mean makespan at which no more seeds are run.
    pub within: Option<f64>,
    /// Least number of seeds.
    pub least: u64,
}

/// Reads the points and settings of a plan.
///
/// # Errors
/// Every mistake.
pub(super) fn read(apart: &Table) -> Result<(Points, Settings), Vec<Diagnostic>> {
    let mut reader = Reader::default();
    let mut points = Points { groups: Vec::new(), seeds: None, skip: Vec::new(), only: Vec::new() };
    if let Some(grid) = apart.get("grid") {
        reader.grid(grid, &mut points);
    }
    if let Some(zip) = apart.get("zip") {
        for table in reader.tables("zip", zip) {
            reader.zip(table, &mut points);
        }
    }
    let grid = apart.get("grid").or(apart.get("zip"));
    match grid {
        None => {
            let diagnostic = Diagnostic::new("missing-key", "nothing is varied: there is no [grid]");
            let help = "write a table like [grid] with \"workload.all-to-all.size\" = [\"1 KB\", \"1 MB\"]; \
                        `hayase run` runs a single scenario";
            reader.mistakes.push(diagnostic.help(help));
        }
        Some(entry) if points.groups.is_empty() && points.seeds.is_none() && reader.mistakes.is_empty() => {
            let diagnostic = Diagnostic::new("empty-grid", "nothing is varied").at(entry.key).label("empty");
            reader.mistakes.push(diagnostic.help("write a key and its values: seed = \"1..=20\""));
        }
        Some(_) => {}
    }
    let names: Vec<String> = points.keys().map(|key| key.name.clone()).collect();
    if let Some(skip) = apart.get("skip") {
        points.skip = reader.filters("skip", skip, &points);
    }
    if let Some(only) = apart.get("only") {
        points.only = reader.filters("only", only, &points);
    }
    let settings = reader.settings(apart.get("sweep"), &names, points.seeds.is_some());
    if reader.mistakes.is_empty() { Ok((points, settings)) } else { Err(reader.mistakes) }
}

#[derive(Default)]
struct Reader {
    mistakes: Vec<Diagnostic>,
    /// Keys read so far, to find duplicates.
    met: Vec<String>,
}

impl Reader {
    fn grid(&mut self, grid: &Entry, points: &mut Points) {
        for (key, value) in self.keys("grid", &grid.value) {
            let values = match Values::of(value) {
                Ok(values) => values,
                Err(mistake) => {
                    self.mistakes.push(mistake);
                    continue;
                }
            };
            self.check_distinct(std::slice::from_ref(&key), std::slice::from_ref(&values));
            if key.name == "seed" {
                self.seeds(&key, &values, value.span);
                points.seeds = Some((key, values));
            } else {
                points.groups.push(Group { keys: vec![key], values: vec![values] });
            }
        }
    }

    fn seeds(&mut self, key: &Key, values: &Values, at: Span) {
        let is_seed = |tree: &Tree| match &tree.kind {
            Kind::Whole(text) => text.replace('_', "").parse::<u64>().is_ok(),
            _ => false,
        };
        let wrong = values.checked_numbers().into_iter().map(|i| values.value(i)).find(|tree| !is_seed(tree));
        if let Some(wrong) = wrong {
            let at = if wrong.span == Span::new(0, 0) { at } else { wrong.span };
            let diagnostic = Diagnostic::new("wrong-type", format!("`{}` is {}", key.name, wrong.in_words())).at(at);
            self.mistakes.push(diagnostic.label("whole numbers are expected").help("write seed = \"1..=20\""));
        }
    }

    /// Refuses values that are listed twice: copies of a run are not a sample. Values of a range always
    /// differ.
    fn check_distinct(&mut self, keys: &[Key], values: &[Values]) {
        let mut met = FxHashSet::default();
        let lists: Vec<&Vec<Tree>> = values.iter().filter_map(Values::listed).collect();
        let (Some(first), true) = (lists.first(), lists.len() == values.len()) else { return };
        let repeated = (0..first.len()).find(|&i| {
            let together: Vec<String> = lists.iter().filter_map(|list| list.get(i)).map(normal).collect();
            !met.insert(together)
        });
        if let Some(i) = repeated {
            let value = &first[i];
            let message = match keys {
                [key] => format!("`{}` has the value {} twice", key.name, json(value)),
                _ => format!("the values of `{}` and of the keys that vary with it appear twice", keys[0].name),
            };
            let diagnostic = Diagnostic::new("duplicate-name", message).at(value.span).label("the second time");
            self.mistakes.push(diagnostic.help("leave it out: repeating a point adds no sample"));
        }
    }

    fn zip(&mut self, table: &Tree, points: &mut Points) {
        let mut group = Group { keys: Vec::new(), values: Vec::new() };
        for (key, value) in self.keys("zip", table) {
            match Values::of(value) {
                Ok(values) => {
                    if let Some(first) = group.values.first().filter(|first| first.len() != values.len()) {
                        let message = format!(
                            "`{}` has {} values, and `{}` {}",
                            group.keys[0].name,
                            first.len(),
                            key.name,
                            values.len()
                        );
                        let diagnostic = Diagnostic::new("uneven-zip", message).at(value.span);
                        self.mistakes.push(diagnostic.help("keys that vary together need equal numbers of values"));
                    }
                    group.keys.push(key);
                    group.values.push(values);
                }
                Err(mistake) => self.mistakes.push(mistake),
            }
        }
        self.check_distinct(&group.keys, &group.values);
        if group.keys.is_empty() {
            let diagnostic =
                Diagnostic::new("empty-grid", "nothing varies together here").at(table.span).label("empty");
            self.mistakes.push(diagnostic.help("leave the table out"));
        } else {
            points.groups.push(group);
        }
    }

    /// Returns the keys of a table in the order of the text; `a.b = 1` and `"a.b" = 1` are the same key.
    fn keys<'a>(&mut self, table: &str, tree: &'a Tree) -> Vec<(Key, &'a Tree)> {
        let Some(entries) = tree.table() else {
            let diagnostic = Diagnostic::new("wrong-type", format!("`{table}` is {}", tree.what())).at(tree.span);
            self.mistakes
                .push(diagnostic.label("a table is expected").help("write keys with their values below [grid]"));
            return Vec::new();
        };
        let mut found = Vec::new();
        flatten(entries, "", &mut found);
        found.arrange_by_key(|(_, at, _)| at.start);
        let mut keys = Vec::new();
        for (name, at, value) in found {
            let path: Vec<String> = name.split('.').map(|part| part.trim().to_owned()).collect();
            if let Some(mistake) = self.unfit(&path, &name, at) {
                self.mistakes.push(mistake);
                continue;
            }
            self.met.push(name.clone());
            keys.push((Key { name, path, at }, value));
        }
        keys
    }

    /// Returns the reason why a key cannot vary.
    fn unfit(&self, path: &[String], name: &str, at: Span) -> Option<Diagnostic> {
        let known: Vec<&str> = KEYS.into_iter().chain(OPTION_WORDS).collect();
        let first = path.first().map_or("", String::as_str);
        if path.iter().any(String::is_empty) {
            let diagnostic = Diagnostic::new("syntax", format!("`{name}` is not a key")).at(at);
            return Some(diagnostic.help("write names joined by dots, like \"topology.fat-tree.p\""));
        }
        if first == "preset" {
            let diagnostic =
                Diagnostic::new("wrong-choice", "a preset applies to the whole plan and cannot be varied").at(at);
            return Some(diagnostic.help("write a plan for each preset, or vary the keys that it sets"));
        }
        if self.met.iter().any(|met| met == name) {
            let diagnostic = Diagnostic::new("duplicate-name", format!("`{name}` is varied twice")).at(at);
            return Some(diagnostic.label("the second time"));
        }
        let is_word = OPTION_WORDS.contains(&first);
        if known.contains(&first) && (!is_word || path.len() == 1) {
            return None;
        }
        let diagnostic = Diagnostic::new("unknown-key", format!("unknown key `{name}`")).at(at);
        Some(match closest(first, known.iter().copied()).filter(|near| *near != first) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help(format!("a key of a scenario is varied; they begin with: {}", known.join(", "))),
        })
    }

    /// Returns the tables of `[[zip]]`.
    fn tables<'a>(&mut self, name: &str, entry: &'a Entry) -> Vec<&'a Tree> {
        match &entry.value.kind {
            Kind::List(items) => items.iter().collect(),
            Kind::Table(_) => vec![&entry.value],
            _ => {
                let message = format!("`{name}` is {}", entry.value.what());
                let diagnostic = Diagnostic::new("wrong-type", message).at(entry.value.span);
                self.mistakes.push(diagnostic.label("tables are expected").help(format!("write [[{name}]]")));
                Vec::new()
            }
        }
    }

    fn filters(&mut self, name: &str, entry: &Entry, points: &Points) -> Vec<Filter> {
        let varied: Vec<(&str, &Values)> = points.varied().map(|(key, values)| (key.name.as_str(), values)).collect();
        let names: Vec<&str> = varied.iter().map(|(name, _)| *name).collect();
        let mut filters = Vec::new();
        for table in self.tables(name, entry) {
            let Some(entries) = table.table() else {
                let diagnostic = Diagnostic::new("wrong-type", format!("`{name}` has {}", table.what())).at(table.span);
                self.mistakes.push(diagnostic.label("a table is expected").help(format!("write [[{name}]]")));
                continue;
            };
            let mut found = Vec::new();
            flatten(entries, "", &mut found);
            let mut wanted = Vec::new();
            for (key, at, value) in found {
                let Some((_, all)) = varied.iter().find(|(name, _)| *name == key) else {
                    let diagnostic = Diagnostic::new("unknown-key", format!("`{key}` is not varied")).at(at);
                    self.mistakes.push(match closest(&key, names.iter().copied()) {
                        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                        None => diagnostic.help(format!("there are: {}", names.join(", "))),
                    });
                    continue;
                };
                let items = match &value.kind {
                    Kind::List(items) => items.iter().collect(),
                    _ => vec![value],
                };
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    match FilterItem::of(item) {
                        Ok(one) => {
                            if all.len() <= MOST_COMPARED && !(0..all.len()).any(|i| one.is(&all.value(i))) {
                                let message = format!("no value of `{key}` is {}", item.in_words());
                                let diagnostic = Diagnostic::new("unknown-name", message).at(item.span);
                                let help = "write values that the plan has, or leave them out";
                                self.mistakes.push(diagnostic.label("matches no point").help(help));
                            }
                            values.push(one);
                        }
                        Err(mistake) => self.mistakes.push(mistake),
                    }
                }
                wanted.push((key, values));
            }
            let meets = |group: &&Group| {
                let of = |(key, wanted): &(String, Vec<FilterItem>), i: u64| {
                    let at = group.keys.iter().position(|of| of.name == *key);
                    at.is_none_or(|at| wanted.iter().any(|one| one.is(&group.values[at].value(i))))
                };
                let each = wanted.iter().all(|one| (0..group.len()).any(|i| of(one, i)));
                group.len() > MOST_COMPARED || !each || (0..group.len()).any(|i| wanted.iter().all(|one| of(one, i)))
            };
            if let Some(apart) = points.groups.iter().find(|group| !meets(group)) {
                let keys: Vec<String> = apart.keys.iter().map(|key| format!("`{}`", key.name)).collect();
                let message = format!("{} vary together, and never have these values at once", keys.join(" and "));
                let diagnostic = Diagnostic::new("unknown-name", message).at(table.span).label("matches no point");
                self.mistakes.push(diagnostic.help("write values that stand at one place of their lists"));
            }
            if entries.is_empty() {
                let diagnostic = Diagnostic::new("empty-grid", format!("this [[{name}]] is empty")).at(table.span);
                self.mistakes.push(diagnostic.help("write keys with their values, or leave it out"));
            }
            filters.push(Filter(wanted));
        }
        filters
    }

    fn settings(&mut self, entry: Option<&Entry>, varied: &[String], has_seeds: bool) -> Settings {
        let mut settings = Settings { keep: Vec::new(), within: None, least: DEFAULT_LEAST_SEEDS };
        let Some(entry) = entry else { return settings };
        let Some(table) = entry.value.table() else {
            let message = format!("`sweep` is {}", entry.value.what());
            let diagnostic = Diagnostic::new("wrong-type", message).at(entry.value.span);
            self.mistakes.push(diagnostic.label("a table is expected"));
            return settings;
        };
        for (name, Entry { key: at, value }) in table {
            let wrong = |what: &str| {
                let diagnostic = Diagnostic::new("wrong-value", format!("`{name}` is {}", value.in_words()));
                diagnostic.at(value.span).label(format!("{what} is expected"))
            };
            match (name.as_str(), amount(value)) {
                ("keep", _) => match names(value) {
                    Some(names) => {
                        let met = |(i, name): &(usize, String)| {
                            let is_usual = columns::is_usual(name) || varied.contains(name);
                            is_usual || names[..*i].contains(name)
                        };
                        if let Some((_, name)) = names.iter().cloned().enumerate().find(met) {
                            let message = format!("`{name}` is a column of every row already");
                            let diagnostic = Diagnostic::new("duplicate-name", message).at(value.span);
                            self.mistakes.push(diagnostic.help("leave it out of `keep`"));
                        }
                        for name in names.iter().filter(|name| row::kind_of_summary(name).is_none()) {
                            self.mistakes.extend(no_figure(name).map(|mistake| mistake.at(value.span)));
                        }
                        settings.keep = names;
                    }
                    None => self.mistakes.push(wrong("a list of keys of the report, like [\"contention\"],")),
                },
                ("within", Some(number)) if number.value > 0.0 => {
                    let part = match number.unit {
                        Unit::Percent => number.value / 100.0,
                        _ => number.value,
                    };
                    if !matches!(number.unit, Unit::Percent | Unit::Plain) || part >= 1.0 {
                        self.mistakes.push(wrong("a part like \"1 %\""));
                    } else if !has_seeds {
                        let message = "`within` is about the mean over seeds, and none are varied";
                        let diagnostic = Diagnostic::new("missing-key", message).at(*at);
                        self.mistakes
                            .push(diagnostic.help("write seed = \"1..=200\" below [grid]: at most this number is run"));
                    }
                    settings.within = Some(part);
                }
                ("within", _) => self.mistakes.push(wrong("a part like \"1 %\"")),
                ("least", Some(Amount { value, unit: Unit::Whole })) if value >= 2.0 => settings.least = value as u64,
                ("least", _) => self.mistakes.push(wrong("a whole number from 2 on")),
                _ => {
                    let diagnostic = Diagnostic::new("unknown-key", format!("unknown key `{name}` in [sweep]")).at(*at);
                    self.mistakes.push(match closest(name, SETTINGS) {
                        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                        None => diagnostic.help(format!("there are: {}", SETTINGS.join(", "))),
                    });
                }
            }
        }
        settings
    }
}

/// Returns the mistake of a figure that no report of a run has.
fn no_figure(name: &str) -> Option<Diagnostic> {
    let (unknown, there) = report::find(name).err()?;
    let diagnostic = Diagnostic::new("unknown-name", format!("no report has a figure `{name}`"));
    Some(match closest(&unknown, there.iter().map(String::as_str)) {
        Some(near) => diagnostic.help(format!("did you mean `{}`?", name.replace(&unknown, near))),
        None => diagnostic.help("`hayase run --format json` shows the names: \"contention\", \"links.0.utilisation\""),
    })
}

/// Returns the texts of a list.
fn names(value: &Tree) -> Option<Vec<String>> {
    let Kind::List(items) = &value.kind else { return None };
    items.iter().map(|item| item.text().filter(|text| !text.is_empty()).map(str::to_owned)).collect()
}

/// Collects keys with their values; keys of nested tables get names with dots.
fn flatten<'a>(table: &'a Table, before: &str, found: &mut Vec<(String, Span, &'a Tree)>) {
    for (name, Entry { key, value }) in table {
        let name = if before.is_empty() { name.clone() } else { format!("{before}.{name}") };
        match value.table() {
            Some(inner) if !inner.is_empty() => flatten(inner, &name, found),
            _ => found.push((name, *key, value)),
        }
    }
}
