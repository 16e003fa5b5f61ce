//! Texts of a training step: the short form `llm:layers=96,hidden=12288` and tables with the same keys.

use crate::diagnostic::{Diagnostic, Span, closest};
use crate::reading::tree::{self, Entry, Kind, Table};

use super::layout::Layout;
use super::model::{Model, Recompute};
use super::schedule::ScheduleKind;

/// Whole numbers, each with its least and largest value. Products of the largest fit into 128 bits.
const NUMBERS: [(&str, u64, u64); 26] = [
    ("layers", 1, 10_000),
    ("hidden", 1, 1_000_000),
    ("heads", 1, 100_000),
    ("kv_heads", 1, 100_000),
    ("head_size", 1, 100_000),
    ("ffn", 1, 10_000_000),
    ("vocab", 0, 100_000_000),
    ("positions", 0, 100_000_000),
    ("sequence", 1, 10_000_000),
    ("batch", 1, 100_000_000),
    ("experts", 1, 100_000),
    ("top_k", 1, 100_000),
    ("expert_ffn", 1, 10_000_000),
    ("shared_experts", 0, 1_000),
    ("dense_layers", 0, 10_000),
    ("attention", 1, 1_000_000_000_000),
    ("tp", 1, 1_000_000),
    ("pp", 1, 10_000),
    ("dp", 1, 1_000_000),
    ("cp", 1, 1_000_000),
    ("ep", 1, 100_000),
    ("micro", 1, 100_000_000),
    ("interleave", 1, 10_000),
    ("zero", 0, 3),
    ("grad_bytes", 1, 8),
    ("gpus", 1, 100_000_000),
];

/// Keys that are true or false.
const FLAGS: [&str; 8] =
    ["gated", "bias", "tied", "causal", "sequence_parallel", "embedding_as_layer", "flash", "overlap"];

/// Keys with named choices.
const CHOICES: [&str; 2] = ["recompute", "schedule"];

/// Model in a layout, as read from texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Training {
    /// Transformer and its batch.
    pub model: Model,
    /// Layout.
    pub layout: Layout,
    /// Number of GPUs; those of the layout if the texts name none.
    pub gpus: u64,
}

/// Returns all keys of a training step, with underscores.
pub fn keys() -> impl Iterator<Item = &'static str> {
    NUMBERS.iter().map(|(key, ..)| *key).chain(FLAGS).chain(CHOICES)
}

/// Reads the settings `key=value,key=value` after `llm:`, whose first byte has position `base`.
///
/// # Errors
/// Settings without a value, and keys that are given twice.
pub fn short_form(settings: &str, base: usize) -> Result<Table, Vec<Diagnostic>> {
    let (mut table, mut mistakes, mut start) = (Table::new(), Vec::new(), base);
    for part in settings.split(',') {
        let place = Span::new(start, start + part.len());
        start = place.end + 1;
        let Some((key, value)) = part.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty())
        else {
            let mistake = Diagnostic::new("syntax", format!("`{part}` sets nothing")).at(place);
            mistakes.push(mistake.help("write llm:layers=96,hidden=12288,heads=96"));
            continue;
        };
        let value = tree::value_or_text(value.trim(), place.end - value.trim_start().len());
        if table.insert(key.trim().replace('-', "_"), Entry { key: place, value }).is_some() {
            mistakes.push(Diagnostic::new("syntax", format!("`{}` is set twice", key.trim())).at(place));
        }
    }
    if mistakes.is_empty() { Ok(table) } else { Err(mistakes) }
}

/// Reads a TOML text, whose first byte has position `base`, with hyphens or underscores in keys.
///
/// # Errors
/// Mistakes of syntax.
pub fn toml_form(text: &str, base: usize) -> Result<Table, Vec<Diagnostic>> {
    let (table, mistakes) = tree::parse(text, base);
    match mistakes.is_empty() {
        true => Ok(table.into_iter().map(|(key, entry)| (key.replace('-', "_"), entry)).collect()),
        false => Err(mistakes),
    }
}

/// Reader of a table that collects mistakes.
struct Reader<'a> {
    table: &'a Table,
    span: Span,
    mistakes: Vec<Diagnostic>,
}

impl Reader<'_> {
    /// Returns true if the table has this key.
    fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Adds a mistake at the value of a key.
    fn wrong(&mut self, key: &str, message: String, help: &str) {
        let at = self.table.get(key).map_or(self.span, |entry| entry.value.span);
        let mistake = Diagnostic::new("wrong-value", message).at(at);
        self.mistakes.push(if help.is_empty() { mistake } else { mistake.help(help) });
    }

    /// Returns a whole number, or the default if the key is absent or wrong.
    fn number(&mut self, key: &str, default: u64) -> u64 {
        let Some(entry) = self.table.get(key) else { return default };
        let (least, most) =
            NUMBERS.iter().find(|(known, ..)| *known == key).map_or((0, u64::MAX), |(_, least, most)| (*least, *most));
        let value = match &entry.value.kind {
            Kind::Whole(text) => text.replace('_', "").parse::<u64>().ok(),
            _ => None,
        };
        if let Some(value) = value.filter(|value| (least..=most).contains(value)) {
            return value;
        }
        let message = format!("`{key}` is a whole number from {least} to {most}, not {}", entry.value.in_words());
        self.wrong(key, message, "");
        default
    }

    /// Returns a truth value, also written 1 or 0; `None` if the key is absent or wrong.
    fn flag(&mut self, key: &str) -> Option<bool> {
        let entry = self.table.get(key)?;
        match &entry.value.kind {
            Kind::Truth(value) => return Some(*value),
            Kind::Whole(text) if text == "1" => return Some(true),
            Kind::Whole(text) if text == "0" => return Some(false),
            _ => {}
        }
        let message = format!("`{key}` is true or false, not {}", entry.value.in_words());
        self.wrong(key, message, "1 and 0 stand for them");
        None
    }

    /// Returns a choice; the default if the key is absent or wrong.
    fn choice<T: Copy>(&mut self, key: &str, all: &[(&'static str, T)], default: T) -> T {
        let Some(entry) = self.table.get(key) else { return default };
        if let Some((_, choice)) = all.iter().find(|(name, _)| entry.value.text() == Some(name)) {
            return *choice;
        }
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let message = format!("`{key}` is one of {}, not {}", names.join(", "), entry.value.in_words());
        self.wrong(key, message, "");
        default
    }

    /// Reports keys that no training step has.
    fn unknown(&mut self) {
        for (key, entry) in self.table {
            if keys().all(|known| known != key) {
                let help = match closest(key, keys()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are: {}", keys().collect::<Vec<_>>().join(", ")),
                };
                self.mistakes.push(
                    Diagnostic::new("unknown-key", format!("a training step has no `{key}`")).at(entry.key).help(help),
                );
            }
        }
    }

    /// Returns the model.
    fn model(&mut self) -> Model {
        for key in ["layers", "hidden"].into_iter().filter(|key| !self.table.contains_key(*key)) {
            let mistake = Diagnostic::new("missing-key", format!("missing key `{key}`")).at(self.span);
            self.mistakes.push(mistake.help("a model has at least `layers` and `hidden`"));
        }
        let (layers, hidden) = (self.number("layers", 1), self.number("hidden", 128));
        let usual = if hidden.is_multiple_of(128) { hidden / 128 } else { 1 };
        let heads = self.number("heads", usual);
        if !self.has("head_size") && !hidden.is_multiple_of(heads) {
            let message = format!("`heads` = {heads} does not divide `hidden` = {hidden}");
            self.wrong("heads", message, "write a divisor, or give `head_size`");
        }
        let ffn = self.number("ffn", 4 * hidden);
        let sequence = self.number("sequence", 2048);
        let learned = match self.table.get("positions").map(|entry| &entry.value.kind) {
            Some(Kind::Truth(false)) => 0,
            Some(Kind::Truth(true)) | None => sequence,
            // As for other truth values, 1 stands for true.
            Some(Kind::Whole(text)) if text == "1" => sequence,
            Some(_) => self.number("positions", sequence),
        };
        let experts = self.number("experts", 1);
        Model {
            layers,
            hidden,
            heads,
            kv_heads: self.number("kv_heads", heads),
            head_size: self.number("head_size", (hidden / heads).max(1)),
            ffn,
            gated: self.flag("gated").unwrap_or(false),
            bias: self.flag("bias").unwrap_or(true),
            vocab: self.number("vocab", 51_200),
            tied: self.flag("tied").unwrap_or(true),
            positions: learned,
            sequence,
            batch: self.number("batch", 1),
            experts,
            top_k: self.number("top_k", experts.min(2)),
            expert_ffn: self.number("expert_ffn", ffn),
            shared_experts: self.number("shared_experts", 0),
            dense_layers: self.number("dense_layers", 0),
            attention: self.has("attention").then(|| self.number("attention", 1)),
            causal: self.flag("causal").unwrap_or(false),
        }
    }

    /// Returns the layout.
    fn layout(&mut self) -> Layout {
        Layout {
            tp: self.number("tp", 1),
            pp: self.number("pp", 1),
            dp: self.number("dp", 1),
            cp: self.number("cp", 1),
            ep: self.number("ep", 1),
            micro: self.number("micro", 1),
            interleave: self.number("interleave", 1),
            schedule: self.choice("schedule", &ScheduleKind::ALL, ScheduleKind::default()),
            sequence_parallel: self.flag("sequence_parallel").unwrap_or(false),
            recompute: self.choice("recompute", &Recompute::ALL, Recompute::default()),
            zero: self.number("zero", 0),
            grad_bytes: self.number("grad_bytes", 4),
            embedding_as_layer: self.flag("embedding_as_layer").unwrap_or(false),
            flash: self.flag("flash"),
            overlap: self.flag("overlap").unwrap_or(false),
        }
    }

    /// Works out `dp` from the number of GPUs, or the number of GPUs from the degrees.
    fn gpus(&mut self, layout: &mut Layout) -> u64 {
        if !self.has("gpus") {
            return layout.gpus();
        }
        let gpus = self.number("gpus", 1);
        let others = layout.tp * layout.pp * layout.cp;
        if self.has("dp") {
            if layout.gpus() != gpus {
                let message = format!("`gpus` = {gpus}, and `tp` `cp` `dp` `pp` make {}", layout.gpus());
                self.wrong("gpus", message, "leave out `gpus` or `dp`");
            }
        } else if gpus.is_multiple_of(others) {
            layout.dp = gpus / others;
        } else {
            let message = format!("`tp` `cp` `pp` = {others} does not divide `gpus` = {gpus}");
            self.wrong("gpus", message, "data parallelism takes the rest of the GPUs");
        }
        gpus
    }
}

impl Training {
    /// Reads a training step from a table; mistakes without a place of their own are at `span`.
    ///
    /// For a search only the model is checked: degrees are starting points.
    ///
    /// # Errors
    /// Unknown or missing keys, values out of range, and degrees that do not divide what they must.
    pub fn read(table: &Table, span: Span, is_search: bool) -> Result<Self, Vec<Diagnostic>> {
        let mut reader = Reader { table, span, mistakes: Vec::new() };
        reader.unknown();
        let mut model = reader.model();
        let mut layout = reader.layout();
        let gpus = match is_search {
            true => reader.number("gpus", layout.gpus()),
            false => reader.gpus(&mut layout),
        };
        if !table.contains_key("batch") {
            model.batch = layout.dp.saturating_mul(layout.micro);
        }
        if reader.mistakes.is_empty() && !is_search {
            for mistake in layout.mistakes(&model) {
                reader.wrong(mistake.key, mistake.message, &mistake.help);
            }
        }
        if reader.mistakes.is_empty() { Ok(Self { model, layout, gpus }) } else { Err(reader.mistakes) }
    }
}
