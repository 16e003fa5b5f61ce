//! Pages of keys and of reports, from their JSON schemas.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use super::{cell, escaped};

type Object = Map<String, Value>;

/// Form of a value in a schema, without `null`.
enum Form<'s> {
    /// Table with these keys, some of them required.
    Table(&'s Object),
    /// Table with one key, which is the choice.
    Choice(Vec<&'s Object>),
    /// List of tables.
    List(&'s Value),
    /// Alternatives.
    Any(Vec<&'s Value>),
    /// Words, numbers, lists of these.
    Plain(String),
}

struct Reader<'s> {
    schema: &'s Value,
    /// Headings of the definitions that are already on the page.
    headings: BTreeMap<String, String>,
    page: String,
}

/// Returns the page of all keys of a scenario.
pub fn keys(schema: &Value) -> String {
    let mut reader = Reader { schema, headings: BTreeMap::new(), page: String::new() };
    reader.page += "# Keys\n\n\
        Every key of a [scenario file](scenarios.md), by table. In a table with one choice, the inner table \
        names\nit: `[topology.fat-tree]`. *required* marks keys without a default.\n\n## At the top\n\n";
    let properties = schema["properties"].as_object().unwrap();
    let (tables, plain): (Vec<_>, Vec<_>) =
        properties.iter().partition(|(_, value)| !matches!(reader.form(value), Form::Plain(_)));
    reader.rows(plain.into_iter().map(|(key, value)| (key.as_str(), value, false)), "");
    for (key, value) in tables {
        reader.table(key, value, 2);
    }
    reader.finished()
}

/// Returns the page of all reports: fields of each, and of what they hold.
pub fn reports(schema: &Value) -> String {
    let mut reader = Reader { schema, headings: BTreeMap::new(), page: String::new() };
    reader.page += "# Reports\n\n\
        Fields of the JSON that `--format json` and `-o x.json` write, by type; `schema` names the type.\nFields in \
        `_s` are in seconds, in `_bps` in bytes per second; `bytes` are bytes. Fields outside\n`meta` are the same on \
        every machine. `hayase run report.json` runs the scenario of a report again.\n";
    for choice in schema["anyOf"].as_array().unwrap() {
        let name = name(choice).unwrap().to_owned();
        reader.definition(&name);
    }
    // Types within the reports, and types within these.
    while let Some(name) = reader.next_definition() {
        reader.definition(&name);
    }
    reader.finished()
}

fn name(value: &Value) -> Option<&str> {
    value["$ref"].as_str().map(|name| name.rsplit('/').next().unwrap())
}

fn is_null(value: &Value) -> bool {
    value.get("type").is_some_and(|kind| kind == "null") || (value.as_object().is_some_and(Object::is_empty))
}

fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect()
}

impl<'s> Reader<'s> {
    fn finished(self) -> String {
        self.page.trim_end().to_owned() + "\n"
    }

    fn defined(&self, name: &str) -> &'s Value {
        &self.schema["$defs"][name]
    }

    fn form(&self, value: &'s Value) -> Form<'s> {
        if let Some(name) = name(value) {
            let of = self.defined(name);
            return match self.form(of) {
                Form::Plain(_) if of.get("oneOf").is_none() && of.get("anyOf").is_none() => Form::Plain(words(name)),
                form => form,
            };
        }
        if let Some(any) = value.get("anyOf").and_then(Value::as_array) {
            let any: Vec<&Value> = any.iter().filter(|value| !is_null(value)).collect();
            return match any[..] {
                [one] => self.form(one),
                _ if any.iter().all(|value| matches!(self.form(value), Form::Plain(_))) => {
                    let forms = any.iter().map(|value| match self.form(value) {
                        Form::Plain(form) => form,
                        _ => unreachable!(),
                    });
                    Form::Plain(forms.collect::<Vec<_>>().join(" or "))
                }
                _ => Form::Any(any),
            };
        }
        if let Some(one) = value.get("oneOf").and_then(Value::as_array) {
            if one.iter().all(|value| value.get("const").is_some()) {
                let words = one.iter().map(|value| format!("`{}`", value["const"].as_str().unwrap_or_default()));
                return Form::Plain(words.collect::<Vec<_>>().join(", "));
            }
            return Form::Choice(one.iter().filter_map(Value::as_object).collect());
        }
        if let Some(object) = value.as_object().filter(|object| object.contains_key("properties")) {
            return Form::Table(object);
        }
        let kinds = value.get("type").map(|kind| match kind {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect(),
            kind => kind.as_str().into_iter().collect::<Vec<_>>(),
        });
        let words = kinds.unwrap_or_default().into_iter().map(|kind| match kind {
            "array" => match value.get("items").map(|items| self.form(items)) {
                Some(Form::Plain(form)) => format!("list of {form}"),
                _ => "list".into(),
            },
            "integer" => "whole number".into(),
            "string" => "text".into(),
            "boolean" => "`true`, `false`".into(),
            "object" => "table".into(),
            kind => kind.to_owned(),
        });
        let words = words.collect::<Vec<_>>().join(" or ");
        match value.get("items").map(|items| (items, self.form(items))) {
            Some((items, Form::Table(_) | Form::Choice(_))) => Form::List(items),
            _ => Form::Plain(words),
        }
    }

    /// Writes the section of a table of a scenario, and those of the tables in it.
    fn table(&mut self, path: &str, value: &'s Value, level: usize) {
        let (heading, value) = match self.form(value) {
            Form::List(items) => (format!("[[{path}]]"), items),
            _ if path.contains('.') => (format!("[{path}]"), value),
            _ => (path.to_owned(), value),
        };
        write!(self.page, "\n{} {heading}\n\n", "#".repeat(level)).unwrap();
        // A text may replace the table.
        let alternatives = value["anyOf"].as_array().map_or(&[][..], Vec::as_slice);
        for name in alternatives.iter().chain([value]).filter_map(definition_of) {
            self.headings.insert(name.to_owned(), heading.clone());
        }
        self.about(value);
        self.inside(path, value, level);
    }

    fn about(&mut self, value: &'s Value) {
        let own = value["description"].as_str();
        let of = definition_of(value).and_then(|name| self.defined(name)["description"].as_str());
        // The table's own name, with which many descriptions begin, is the heading.
        for text in [own, of].into_iter().flatten() {
            let text = text.strip_prefix("`[").and_then(|text| text.split_once("`: ")).map_or(text, |(_, rest)| rest);
            write!(self.page, "{}\n\n", escaped(text)).unwrap();
        }
    }

    fn inside(&mut self, path: &str, value: &'s Value, level: usize) {
        match self.form(value) {
            Form::Table(object) => self.object(path, object, level),
            Form::Choice(choices) => {
                for choice in choices {
                    let Some((key, inner)) =
                        choice.get("properties").and_then(Value::as_object).and_then(|p| p.iter().next())
                    else {
                        continue;
                    };
                    let path = format!("{path}.{key}");
                    write!(self.page, "\n{} [{path}]\n\n", "#".repeat(level + 1)).unwrap();
                    if let Some(text) = choice.get("description").and_then(Value::as_str) {
                        write!(self.page, "{}\n\n", escaped(text)).unwrap();
                    }
                    match definition_of(inner).and_then(|name| self.headings.get(name).cloned()) {
                        Some(heading) => {
                            write!(self.page, "Keys as of [`{heading}`](#{}).\n\n", anchor(&heading)).unwrap()
                        }
                        None => {
                            if let Some(name) = definition_of(inner) {
                                self.headings.insert(name.to_owned(), format!("[{path}]"));
                            }
                            self.more_about(inner);
                            self.inside(&path, inner, level + 1);
                        }
                    }
                }
            }
            Form::Any(any) => {
                for value in any {
                    match self.form(value) {
                        Form::Plain(_) => {
                            let text = value["description"].as_str().unwrap_or("a name, or a file");
                            write!(
                                self.page,
                                "In place of the table a text: {}.\n\n",
                                escaped(text.trim_end_matches('.'))
                            )
                            .unwrap();
                        }
                        _ => self.inside(path, value, level),
                    }
                }
            }
            Form::List(_) | Form::Plain(_) => {}
        }
    }

    fn object(&mut self, path: &str, object: &'s Object, level: usize) {
        let Some(properties) = object["properties"].as_object().filter(|properties| !properties.is_empty()) else {
            self.page += "No keys.\n\n";
            return;
        };
        let required = object.get("required").and_then(Value::as_array);
        let is_required = |key: &str| required.is_some_and(|list| list.iter().any(|word| word == key));
        self.rows(properties.iter().map(|(key, value)| (key.as_str(), value, is_required(key))), path);
        let inner: Vec<(String, &Value)> = properties
            .iter()
            .filter(|(_, value)| !matches!(self.form(value), Form::Plain(_)))
            .filter(|(_, value)| self.link(value).is_none())
            .map(|(key, value)| (format!("{path}.{key}"), value))
            .collect();
        for (path, value) in inner {
            self.table(&path, value, (level + 1).min(5));
        }
    }

    /// Returns a link to the section of a table that is already on the page.
    fn link(&self, value: &'s Value) -> Option<String> {
        let value = match self.form(value) {
            Form::List(items) => items,
            _ => value,
        };
        let heading = self.headings.get(definition_of(value)?)?;
        Some(format!("as [`{heading}`](#{})", anchor(heading)))
    }

    fn rows<'k>(&mut self, rows: impl Iterator<Item = (&'k str, &'s Value, bool)>, path: &str) {
        self.page += "| key | value | meaning |\n|---|---|---|\n";
        for (key, value, required) in rows {
            let form = match self.form(value) {
                Form::Plain(form) => form,
                Form::List(_) => self
                    .link(value)
                    .map_or_else(|| format!("tables `[[{}.{key}]]`", path), |link| format!("tables, {link}")),
                _ => self.link(value).unwrap_or_else(|| "table".into()),
            };
            let about =
                value["description"].as_str().or_else(|| self.defined(definition_of(value)?)["description"].as_str());
            let mut about = cell(about.unwrap_or_default());
            about += &self.meanings(value);
            if required {
                about += " *required*";
            }
            if let Some(default) = value.get("default").filter(|default| {
                !about.contains("default")
                    && !default.is_null()
                    && !default.is_object()
                    && **default != Value::Array(vec![])
            }) {
                write!(about, " Default: `{}`.", default.to_string().trim_matches('"')).unwrap();
            }
            writeln!(self.page, "| `{key}` | {form} | {about} |").unwrap();
        }
        self.page.push('\n');
    }

    /// Returns the meanings of the words of a choice, each on a line of its own.
    fn meanings(&self, value: &Value) -> String {
        let choice = definition_of(value).map_or(value, |name| self.defined(name));
        let words = choice.get("oneOf").and_then(Value::as_array).into_iter().flatten();
        let meanings = words.filter_map(|word| Some((word["const"].as_str()?, word["description"].as_str()?)));
        meanings.map(|(word, meaning)| format!("<br>`{word}`: {}", cell(meaning))).collect()
    }

    /// Writes the paragraphs after the first one of the comment of a choice's table.
    fn more_about(&mut self, value: &'s Value) {
        let Some(text) = definition_of(value).and_then(|name| self.defined(name)["description"].as_str()) else {
            return;
        };
        for paragraph in text.split("\n\n").skip(1).filter(|paragraph| !paragraph.starts_with("Source:")) {
            write!(self.page, "{}\n\n", escaped(paragraph)).unwrap();
        }
    }

    /// Writes the section of a type of the reports.
    fn definition(&mut self, name: &str) {
        let heading = words(name);
        self.headings.insert(name.to_owned(), heading.clone());
        let value = self.defined(name);
        write!(self.page, "\n## {}{}\n\n", heading[..1].to_uppercase(), &heading[1..]).unwrap();
        if let Some(text) = value["description"].as_str() {
            write!(self.page, "{}\n\n", escaped(text)).unwrap();
        }
        let Form::Table(object) = self.form(value) else { return };
        self.page += "| field | value | meaning |\n|---|---|---|\n";
        let required = object.get("required").and_then(Value::as_array);
        for (key, value) in object["properties"].as_object().unwrap() {
            let (value, list) = match self.form(value) {
                Form::List(items) => (items, true),
                _ => (value, false),
            };
            let held = definition_of(value).filter(|name| matches!(self.form(self.defined(name)), Form::Table(_)));
            let form = match (held, self.form(value)) {
                (Some(name), _) => format!("[{}](#{})", words(name), anchor(&words(name))),
                (None, Form::Plain(form)) => form,
                (None, Form::Any(any)) => {
                    let forms = any.iter().map(|value| match (definition_of(value), self.form(value)) {
                        (_, Form::Plain(form)) => form,
                        (Some(name), _) => format!("[{}](#{})", words(name), anchor(&words(name))),
                        _ => "table".into(),
                    });
                    forms.collect::<Vec<_>>().join(" or ")
                }
                _ => "table".into(),
            };
            let form = if list { format!("list of {form}") } else { form };
            let own = &object["properties"][key];
            let about = own["description"].as_str().or_else(|| value["description"].as_str());
            let always = required.is_some_and(|list| list.iter().any(|word| word == key));
            let form = if always || form.is_empty() { form } else { format!("{form}, optional") };
            writeln!(self.page, "| `{key}` | {form} | {} |", cell(about.unwrap_or_default())).unwrap();
        }
        self.page.push('\n');
    }

    /// Returns the first type that a section links to and that has none itself.
    fn next_definition(&self) -> Option<String> {
        let all = self.schema["$defs"].as_object().unwrap();
        let is_linked = |name: &str| self.page.contains(&format!("(#{})", anchor(&words(name))));
        all.keys().find(|name| !self.headings.contains_key(*name) && is_linked(name)).cloned()
    }
}

/// Returns the definition of a value, or of its non-null form.
fn definition_of(value: &Value) -> Option<&str> {
    name(value).or_else(|| {
        let any = value.get("anyOf")?.as_array()?;
        let mut any = any.iter().filter(|value| !is_null(value));
        let one = any.next().filter(|_| any.next().is_none())?;
        definition_of(one)
    })
}

/// Returns the words of a type's name: `TimePerByte` is "time per byte".
fn words(name: &str) -> String {
    let mut words = String::new();
    for c in name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches("Spec").chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}
