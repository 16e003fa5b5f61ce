//! Commands `hayase run`, `hayase replay` and `hayase compare`, read from a text.

use std::path::Path;

use hayase::diagnostic::{Diagnostic, Invalid, Sources, Span, closest};
use hayase::pattern::Order;
use hayase::program::generate::Generator;
use hayase::report::RankBy;
use hayase::scenario::Loader;
use hayase::sweep::lists::{axes, faults, rejoined, title, vary};
use hayase::sweep::{Axis, Sweep};

use crate::words::{self, Word};

/// Name of the command in messages.
pub const COMMAND: &str = "command";

/// Function that adds an option to the texts of a scenario.
type Set = fn(Loader, &str) -> Loader;

/// Options that are texts of a scenario, with the axis along which `compare` varies them.
const SETTINGS: [(&str, Set, Option<Axis>); 26] = [
    ("--topology", Loader::topology, Some(Axis::Topology)),
    ("--machine", Loader::machine, Some(Axis::Machine)),
    ("--placement", Loader::placement, Some(Axis::Placement)),
    ("--sharing", Loader::sharing, Some(Axis::Sharing)),
    ("--transport", Loader::transport, Some(Axis::Transport)),
    ("--routing", Loader::routing, Some(Axis::Routing)),
    ("--injection", Loader::injection, Some(Axis::Injection)),
    ("--order", Loader::order, Some(Axis::Order)),
    ("--faults", Loader::faults, Some(Axis::Faults)),
    ("--pattern", Loader::pattern, Some(Axis::Pattern)),
    ("--preset", Loader::preset, None),
    ("--node", Loader::node, None),
    ("--size", Loader::size, None),
    ("--size-of", Loader::size_of, None),
    ("--barrier-cost", Loader::barrier_cost, None),
    ("--jitter", Loader::jitter, None),
    ("--ranks", Loader::ranks, None),
    ("--ranks-per-node", Loader::ranks_per_node, None),
    ("--link-bandwidth", Loader::link_bandwidth, None),
    ("--noise", Loader::noise, None),
    ("--straggler", Loader::straggler, None),
    ("--estimate", Loader::estimate, None),
    ("--optimum", Loader::optimum, None),
    ("--job", Loader::job, None),
    ("--set", |loader, text| loader.set("--set", text), None),
    ("--seed", |loader, text| loader.set("--seed", &format!("seed={text}")), None),
];
/// Further options with a value; those about files and threads change nothing here.
const OTHERS: [&str; 7] = ["--seeds", "--vary", "--rank", "--output", "--window", "--threads", "--format"];
/// Options without a value.
const SWITCHES: [&str; 3] = ["--interference", "--quiet", "--verbose"];
/// Short names.
const SHORT: [(&str, &str); 7] = [
    ("-t", "--topology"),
    ("-p", "--pattern"),
    ("-m", "--machine"),
    ("-o", "--output"),
    ("-j", "--threads"),
    ("-q", "--quiet"),
    ("-v", "--verbose"),
];

/// Request of a text.
pub enum Asked {
    /// One run.
    Run {
        /// Texts of the scenario.
        loader: Box<Loader>,
        /// Number of seeds.
        seeds: u64,
        /// True if the delays between jobs are shown.
        interference: bool,
    },
    /// A comparison.
    Compare(Sweep),
}

/// Returns true if a text is a command and not a scenario.
pub fn is_meant(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.trim_start_matches(['$', ' ']).starts_with("hayase "))
}

/// Reads a command.
///
/// # Errors
/// Every mistake in its words; those of their values are found when the scenario is loaded.
pub fn read(text: &str) -> Result<Asked, Invalid> {
    let mut sources = Sources::default();
    let base = sources.add(COMMAND, text);
    let mut command = Command { base, ..Command::default() };
    match words::split(text) {
        Ok(words) => command.read(&words),
        Err(at) => {
            let mistake = Diagnostic::new("syntax", "this quote is never closed");
            command.mistakes.push(mistake.at(Span::new(base + at, base + at + 1)));
        }
    }
    if command.mistakes.is_empty() {
        let (seeds, varied) = (command.seeds(), command.varied());
        command.check_choices(seeds);
        if command.mistakes.is_empty() {
            return Ok(if command.compares { command.sweep(seeds, &varied) } else { command.run(seeds) });
        }
    }
    Err(Invalid { diagnostics: command.mistakes, sources })
}

#[derive(Default)]
struct Command {
    base: usize,
    mistakes: Vec<Diagnostic>,
    compares: bool,
    /// Works by rule.
    works: Vec<String>,
    /// Options with their values, in order.
    options: Vec<(&'static str, Word)>,
    switches: Vec<&'static str>,
}

impl Command {
    fn mistake(&mut self, word: &Word, message: impl Into<String>, help: impl Into<String>) {
        let span = Span::new(self.base + word.at, self.base + word.end);
        self.mistakes.push(Diagnostic::new("wrong-choice", message).at(span).help(help));
    }

    fn read(&mut self, words: &[Word]) {
        let mut words = words.iter().skip(1).peekable();
        match words.next() {
            Some(verb) if ["run", "replay"].contains(&&*verb.text) => {}
            Some(verb) if verb.text == "compare" => self.compares = true,
            Some(verb) => {
                let message = format!("`hayase {}` is not a command of the playground", verb.text);
                return self.mistake(
                    verb,
                    message,
                    "it has `hayase run`, `replay` and `compare`, and scenarios (TOML)",
                );
            }
            None => {
                let whole = Word { text: String::new(), at: 0, end: 6 };
                return self.mistake(&whole, "a command is missing", "write `hayase run -t FABRIC -p PATTERN`");
            }
        }
        while let Some(word) = words.next() {
            if !word.text.starts_with('-') || word.text.len() == 1 {
                self.work(word);
                continue;
            }
            let is_long = word.text.starts_with("--");
            let (name, attached) = match word.text.split_once('=').filter(|_| is_long) {
                Some((name, value)) => (name, Some(value)),
                None if !is_long && word.text.len() > 2 && word.text.is_char_boundary(2) => {
                    (&word.text[..2], Some(word.text[2..].trim_start_matches('=')))
                }
                None => (word.text.as_str(), None),
            };
            let name = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
            if let Some(switch) = SWITCHES.iter().find(|known| **known == name) {
                self.switches.push(switch);
                continue;
            }
            let all = || SETTINGS.iter().map(|(name, ..)| *name).chain(OTHERS);
            let Some(option) = all().find(|known| *known == name) else {
                let help = closest(name, all().chain(SWITCHES)).map(|near| format!("did you mean `{near}`?"));
                let help = help.unwrap_or_else(|| "the playground has the options of scenarios".to_owned());
                self.mistake(word, format!("unknown option `{name}`"), help);
                continue;
            };
            let is_value = |word: &&Word| option != "--optimum" || !word.text.starts_with('-');
            let value = match attached {
                Some(value) => Some(Word { text: value.to_owned(), ..word.clone() }),
                None => words.next_if(|word| is_value(word)).cloned(),
            };
            match (value, option) {
                (Some(value), _) => self.options.push((option, value)),
                (None, "--optimum") => self.options.push((option, Word { text: "1%".to_owned(), ..word.clone() })),
                (None, _) => self.mistake(word, format!("`{name}` needs a value"), format!("write {name} VALUE")),
            }
        }
    }

    /// Adds work that is named without an option.
    fn work(&mut self, word: &Word) {
        if Generator::is_meant(&word.text) && !self.compares && self.works.is_empty() {
            self.works.push(word.text.clone());
        } else {
            let message = format!("the playground has no file `{}`", word.text);
            self.mistake(
                word,
                message,
                "name a fabric (-t), a pattern (-p) or a program by rule, or write a scenario here",
            );
        }
    }

    fn values(&self, option: &str) -> impl Iterator<Item = &Word> {
        self.options.iter().filter(move |(name, _)| *name == option).map(|(_, value)| value)
    }

    /// Returns the number of seeds.
    fn seeds(&mut self) -> u64 {
        let Some(word) = self.values("--seeds").last().cloned() else { return 1 };
        word.text.parse().ok().filter(|seeds| *seeds > 0).unwrap_or_else(|| {
            self.mistake(&word, format!("`{}` is no number of seeds", word.text), "write --seeds 8");
            1
        })
    }

    /// Returns the keys that a comparison varies, with their values.
    fn varied(&mut self) -> Vec<(String, Vec<String>)> {
        let mut varied = Vec::new();
        for word in self.values("--vary").cloned().collect::<Vec<_>>() {
            match vary(&word.text) {
                Ok(_) if !self.compares => self.mistake(&word, "`hayase run` varies nothing", "write `hayase compare`"),
                Ok(key) => varied.push(key),
                Err(message) => self.mistake(&word, message, "write --vary topology.torus.bandwidth=\"1 GB/s,2 GB/s\""),
            }
        }
        varied
    }

    /// Returns the loader with the settings for which `is_meant` is true.
    fn loader(&self, is_meant: impl Fn(&str, &Option<Axis>) -> bool) -> Loader {
        let program = |loader: Loader, rule: &String| {
            loader.text("<PROGRAM>", "[workload.program]\n").work("<PROGRAM>", "rule", rule)
        };
        let loader = self.works.iter().fold(Loader::new(), program);
        self.options.iter().fold(loader, |loader, (option, value)| {
            match SETTINGS.iter().find(|(name, _, axis)| name == option && is_meant(name, axis)) {
                Some((_, set, _)) => set(loader, &value.text),
                None => loader,
            }
        })
    }

    /// Finds mistakes in values of a comparison that no scenario takes.
    fn check_choices(&mut self, seeds: u64) {
        if !self.compares {
            return;
        }
        let first = self.values("--seed").last().cloned();
        let number = first.as_ref().map_or(Some(1), |word| word.text.parse::<u64>().ok());
        let asked = self.values("--seeds").last().cloned().or_else(|| first.clone());
        match (number, asked.zip(first)) {
            (None, Some((_, first))) => {
                self.mistake(&first, format!("`{}` is no seed", first.text), "write --seed 1");
            }
            _ => {
                let number = number.unwrap_or(1);
                let word = self.values("--seeds").chain(self.values("--seed")).next().cloned();
                if let (Some(word), Err(wrong)) = (word, hayase::sweep::seeds_from(number, seeds)) {
                    self.mistake(&word, wrong.message, "write fewer seeds");
                }
            }
        }
        for word in self.values("--rank").cloned().collect::<Vec<_>>() {
            if !["makespan", "slowdown"].contains(&&*word.text) {
                self.mistake(&word, format!("`{}` is no figure", word.text), "write makespan or slowdown");
            }
        }
    }

    fn run(&self, seeds: u64) -> Asked {
        let loader = Box::new(self.loader(|_, _| true));
        Asked::Run { loader, seeds, interference: self.switches.contains(&"--interference") }
    }

    fn sweep(&self, seeds: u64, varied: &[(String, Vec<String>)]) -> Asked {
        let listed = |option: &str| -> Vec<String> {
            self.values(option).flat_map(|word| word.text.split(',').map(str::to_owned)).collect()
        };
        let orders = match listed("--order").as_slice() {
            [all] if all == "all" => {
                Order::ALL.iter().filter(|order| **order != Order::Auto).map(Order::to_string).collect()
            }
            listed => listed.to_vec(),
        };
        let of = |axis: &Axis, option: &str| match axis {
            Axis::Topology => rejoined(&listed(option)),
            Axis::Order => orders.clone(),
            Axis::Faults => faults(&listed(option)),
            _ => listed(option),
        };
        let values: Vec<(Axis, Vec<String>)> = SETTINGS
            .iter()
            .filter_map(|(option, _, axis)| Some((axis.clone()?, *option)))
            .filter(|(axis, _)| *axis != Axis::Pattern)
            .map(|(axis, option)| (axis.clone(), of(&axis, option)))
            .collect();
        let patterns = listed("--pattern");
        let choices = values.iter().map(|(axis, values)| (axis.clone(), values.as_slice()));
        let first = self.values("--seed").last().and_then(|word| word.text.parse().ok());
        let seeds = match (first, self.values("--seeds").next()) {
            (None, None) => Vec::new(),
            (first, _) => hayase::sweep::seeds_from(first.unwrap_or(1), seeds).unwrap_or_default(),
        };
        Asked::Compare(Sweep {
            title: title(None::<&Path>, &listed("--topology"), &patterns),
            base: self.loader(|name, axis| axis.is_none() && name != "--seed"),
            axes: axes(choices, varied, &patterns),
            seeds,
            rank: match self.values("--rank").any(|word| word.text == "slowdown") {
                true => RankBy::Slowdown,
                false => RankBy::Makespan,
            },
            fitting_orders: listed("--order") == ["all"],
        })
    }
}

/// Returns the range of the value of an option in the text of a command \[B\].
pub fn range_of(text: &str, option: &str, value: &str) -> Option<std::ops::Range<usize>> {
    let mut command = Command::default();
    command.read(&words::split(text).ok()?);
    let all = || command.values(option);
    let word = all().find(|word| word.text == value).or_else(|| all().find(|word| word.text.contains(value)));
    let word = word.or_else(|| all().last())?;
    Some(word.at..word.end)
}
