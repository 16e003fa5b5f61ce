//! Named topologies, machines, patterns, presets and models: every file of `topologies/`, `machines/`, `patterns/`,
//! `presets/` and `models/`, built into the program (`build.rs`). The algorithms of collectives are patterns, too,
//! whose texts are generated.

use std::sync::{Arc, LazyLock};

use super::collective_names;
use super::known::choices;
use super::overlay::is_path;
use crate::diagnostic::{BuiltIn, Diagnostic, Located, Sources, closest};

/// A collection in which names are looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shelf {
    /// The folder `topologies/`.
    Topologies,
    /// The folder `machines/`.
    Machines,
    /// The folder `patterns/`.
    Patterns,
    /// The folder `presets/`.
    Presets,
    /// The folder `models/`: models of training steps.
    Models,
}

/// A named partial scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LibraryEntry {
    /// Name of its file, without `.toml`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl LibraryEntry {
    /// Returns the description: the first sentence of the comment at the top of its file.
    pub fn description(&self) -> String {
        let comment: Vec<&str> = self
            .text
            .lines()
            .take_while(|line| line.starts_with('#'))
            .map(|line| line.trim_start_matches('#').trim())
            .take_while(|line| !line.is_empty() && !line.starts_with("Source:"))
            .collect();
        let comment = comment.join(" ");
        // A full stop follows a word; the dots of `1 .. N` do not.
        let end = comment.match_indices(". ").find(|(i, _)| !comment[..*i].ends_with(['.', ' ']));
        comment[..end.map_or(comment.len(), |(i, _)| i)].trim_end_matches('.').to_owned()
    }

    /// Returns the name of its file in messages: `<torus-4x4>`.
    pub fn source_name(&self) -> String {
        format!("<{}>", self.name)
    }
}

// The files of each folder, listed by `build.rs`.
include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// Returns the tables of measured collectives, by machine (`measured/`).
pub fn measured() -> &'static [LibraryEntry] {
    MEASURED
}

/// Returns the placements of measured collectives (`measured/placement/`).
pub fn placements() -> &'static [LibraryEntry] {
    PLACEMENTS
}

/// All patterns: those with a file, then the collectives.
static PATTERNS: LazyLock<Vec<LibraryEntry>> = LazyLock::new(|| {
    let is_file = |name: &str| PATTERN_FILES.iter().any(|named| named.name == name);
    // The texts live as long as the program, like the texts of files.
    let named = |(name, text): (String, String)| LibraryEntry { name: name.leak(), text: text.leak() };
    PATTERN_FILES.iter().copied().chain(collective_names::named(is_file).into_iter().map(named)).collect()
});

impl Shelf {
    /// Returns all entries, in the order in which they are shown.
    pub fn all(self) -> &'static [LibraryEntry] {
        match self {
            Self::Topologies => TOPOLOGIES,
            Self::Machines => MACHINES,
            Self::Patterns => &PATTERNS,
            Self::Presets => PRESETS,
            Self::Models => MODELS,
        }
    }

    /// Returns the names of all entries.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.all().iter().map(|named| named.name)
    }

    /// Returns the entry with this name.
    pub fn get(self, name: &str) -> Option<&'static LibraryEntry> {
        // Texts are generated only if the name is not that of a file.
        let files = if self == Self::Patterns { PATTERN_FILES } else { self.all() };
        let find = |all: &'static [LibraryEntry]| all.iter().find(|named| named.name == name);
        find(files).or_else(|| if self == Self::Patterns { find(&PATTERNS) } else { None })
    }

    /// Returns the entry with this name; the error suggests the name that was probably meant.
    ///
    /// # Errors
    /// There is no entry with this name.
    pub fn find(self, name: &str) -> Result<&'static LibraryEntry, Diagnostic> {
        self.get(name).ok_or_else(|| {
            let word = self.word();
            let near = closest(name, self.names()).map(|near| format!("did you mean `{near}`? "));
            let numbers =
                self.example_with_numbers(name).map(|example| format!("numbers of your own: \"{example}\"; "));
            let meant = [near, numbers].into_iter().flatten().collect::<String>();
            let list = if self == Self::Models { "list models".to_owned() } else { format!("{word} list") };
            Diagnostic::new("unknown-name", format!("unknown {word} `{name}`"))
                .label("not built in, and no such file")
                .help(format!("{meant}`hayase {list}` shows all"))
        })
    }

    /// Returns the position of the first byte and the text of a name on the shelf, or of a file.
    ///
    /// # Errors
    /// There is neither an entry nor a file with this name.
    pub fn text(self, name: &Located<String>, sources: &mut Sources) -> Result<(usize, Arc<str>), Diagnostic> {
        match self.find(name) {
            Ok(entry) => Ok((sources.add(entry.source_name(), entry.text), entry.text.into())),
            Err(_) if is_path(name) => sources.read_text(name),
            Err(unknown) => Err(unknown.at_value(name)),
        }
    }

    /// Returns an example with numbers for the name of a family of fabrics, or a name that begins with it
    /// (`torus-3x3`): `torus:dims=[4,4],bandwidth=1 GB/s`, with the numbers of a named member of the family.
    fn example_with_numbers(self, name: &str) -> Option<String> {
        let begins =
            |name: &str, family: &str| name.strip_prefix(family).is_some_and(|rest| rest.starts_with(['-', ':']));
        if self != Self::Topologies {
            return None;
        }
        let families = choices("topology").into_iter().filter(|&family| name == family || begins(name, family));
        let family = families.max_by_key(|family| family.len())?;
        let mut of_family = self.all().iter().filter(|named| begins(named.name, family));
        let (topology, link) = of_family.find_map(|named| {
            let text: toml::Table = named.text.parse().ok()?;
            Some((text.get("topology")?.get(family)?.clone(), text.get("link").cloned()))
        })?;
        let values = [Some(&topology), link.as_ref()].into_iter().flatten().filter_map(toml::Value::as_table).flatten();
        let values = values.map(|(key, value)| {
            let value = value.as_str().map_or_else(|| value.to_string().replace(' ', ""), str::to_owned);
            format!("{key}={value}")
        });
        Some(format!("{family}:{}", values.collect::<Vec<_>>().join(",")))
    }

    /// Returns the noun for an entry.
    pub fn word(self) -> &'static str {
        match self {
            Self::Topologies => "topology",
            Self::Machines => "machine",
            Self::Patterns => "pattern",
            Self::Presets => "preset",
            Self::Models => "model",
        }
    }

    /// Returns the table of a scenario that an entry stands for, if it stands for one.
    pub(super) fn table(self) -> Option<&'static str> {
        match self {
            Self::Topologies => Some("topology"),
            Self::Machines => Some("node"),
            Self::Patterns => Some("workload"),
            Self::Presets | Self::Models => None,
        }
    }

    /// Returns true if an entry sets this key of a scenario. If a complete scenario is named, only the part
    /// that was asked for is taken.
    pub(super) fn sets_key(self, key: &str) -> bool {
        let is_run = matches!(
            key,
            "workload" | "placement" | "sharing" | "transport" | "seed" | "resolution" | "symmetry" | "ranks-per-node"
        );
        match self {
            Self::Topologies => key != "node" && !is_run,
            Self::Machines => matches!(key, "node" | "link" | "collectives" | "topology" | "routing"),
            Self::Patterns => key == "workload" || !is_run && !matches!(key, "node" | "topology" | "link" | "routing"),
            Self::Presets => true,
            Self::Models => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::scenario::Loader;

    fn folder(name: &str) -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn every_file_of_the_folders_is_built_in() {
        let topologies: BTreeSet<String> = Shelf::Topologies.names().map(|name| format!("{name}.toml")).collect();
        assert_eq!(topologies, folder("topologies"));
        let machines: BTreeSet<String> = Shelf::Machines.names().map(|name| format!("{name}.toml")).collect();
        assert_eq!(machines, folder("machines"));
        let presets: BTreeSet<String> = Shelf::Presets.names().map(|name| format!("{name}.toml")).collect();
        assert_eq!(presets, folder("presets"));
        let models: BTreeSet<String> = Shelf::Models.names().map(|name| format!("{name}.toml")).collect();
        assert_eq!(models, folder("models"));
        let texts = PATTERN_FILES.iter().map(|named| format!("{}.toml", named.name));
        let files = FILES.iter().map(|(name, _)| (*name).to_owned());
        assert_eq!(texts.chain(files).collect::<BTreeSet<_>>(), folder("patterns"));
    }

    #[test]
    fn every_named_thing_says_what_it_is() {
        for shelf in [Shelf::Topologies, Shelf::Machines, Shelf::Patterns, Shelf::Presets, Shelf::Models] {
            for named in shelf.all() {
                let description = named.description();
                assert!(description.len() > 10, "{}: {description:?}", named.name);
            }
        }
    }

    #[test]
    fn a_description_is_the_first_sentence() {
        let described = |text| LibraryEntry { name: "x", text }.description();
        assert_eq!(described("# Message p = 1 .. N-1 goes\n# on. More.\n\n[a]"), "Message p = 1 .. N-1 goes on");
        assert_eq!(described("# Ring.\n# Source: a book.\n"), "Ring");
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_closest() {
        let error = Shelf::Patterns.find("npb-cg-W-15").unwrap_err();
        assert_eq!(error.message, "unknown pattern `npb-cg-W-15`");
        assert_eq!(error.help.unwrap(), "did you mean `npb-cg-W-16`? `hayase pattern list` shows all");
    }

    #[test]
    fn a_family_of_fabrics_is_answered_with_numbers_that_build() {
        let mut answered = 0;
        for family in choices("topology") {
            let help = Shelf::Topologies.find(&format!("{family}-3x3")).unwrap_err().help.unwrap();
            let Some(example) = help.split('"').nth(1) else { continue };
            assert!(example.starts_with(&format!("{family}:")), "{example}");
            if let Err(invalid) = Loader::new().topology(example).pattern("ring").load() {
                panic!("{example}: {invalid}");
            }
            answered += 1;
        }
        assert!(answered > 8, "only {answered} families have a named fabric");
    }
}
