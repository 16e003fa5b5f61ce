//! The table `[link]`: properties of links that a fabric leaves to the machine.
//!
//! A topology file with a `[link]` table leaves its links to the machine. Without a machine they are as that
//! table says, with one they are as the `[link]` of the machine (or of the scenario) says. Properties that
//! the topology itself sets, in its own table or by `--set`, stay. The result is written into the topology,
//! so that a report contains all values that were used.

use super::section::Section;
use crate::diagnostic::{Diagnostic, Located, Sources, Span};
use crate::fabric::Fabric;
use crate::reading::tree::{Entry, Table};
use crate::units::{Bandwidth, Time};

/// `[link]`: links of a fabric that leaves them to the machine. A topology file with a `[link]` table does
/// so, and so does a topology whose table has no `bandwidth`. The `[link]` of the machine (`-m`) or of the
/// scenario applies; `--set link.KEY` overrides both.
#[spec(Default)]
pub struct LinkSpec {
    /// Bandwidth of a link in each direction.
    pub bandwidth: Option<Located<Bandwidth>>,
    /// Latency of a link, added to the time of each message that crosses it.
    pub latency: Option<Located<Time>>,
}

impl LinkSpec {
    /// Returns a mistake if the links have no bandwidth.
    pub(super) fn check(&self) -> Option<Diagnostic> {
        let bandwidth = self.bandwidth.as_ref().filter(|bandwidth| bandwidth.bytes_per_second() <= 0.0)?;
        let diagnostic = Diagnostic::new("no-bandwidth", "a link without bandwidth never delivers anything");
        Some(diagnostic.at_value(bandwidth).label("a bandwidth above 0").help("write \"12.5 GB/s\" or \"100 Gbit/s\""))
    }
}

/// Properties of links while texts are merged.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    /// Name of the topology.
    topology: Option<String>,
    /// Name of the machine.
    machine: Option<String>,
    /// Places of the values of topologies that leave their links to the machine.
    leaving: Vec<Span>,
    /// `[link]` tables of topologies.
    pub of_topologies: Vec<Entry>,
    /// Set if the topology keeps its own links although other links are given.
    own: bool,
}

/// Keys of `[link]`.
const KEYS: [&str; 2] = ["bandwidth", "latency"];
/// Families whose links are listed one by one.
const FIXED: [&str; 2] = ["custom", "simgrid"];

impl Links {
    /// Notes the name of the machine.
    pub fn machine(&mut self, name: &str) {
        self.machine = Some(name.to_owned());
    }

    /// Notes the name and tables of the topology. Its `[link]` table, if any, gives its links for now.
    pub fn topology(&mut self, name: &str, tables: &mut Table) {
        self.topology = Some(name.to_owned());
        let Some(link) = tables.remove("link") else { return };
        for family in families(tables) {
            for key in KEYS {
                if let Some(value) = link.value.table().and_then(|link| link.get(key)) {
                    family.entry(key.to_owned()).or_insert_with(|| value.clone());
                }
            }
            self.leaving.extend(family.values().map(|entry| entry.value.span));
        }
        self.of_topologies.push(link);
    }

    /// Sets the links that the topology leaves open or to the machine, when all texts are merged.
    pub fn settle(&mut self, tables: &mut Table) {
        let link = tables.get("link").and_then(|link| link.value.table()).cloned();
        let given = link.is_some() || self.machine.is_some();
        let link = link.unwrap_or_default();
        let leaving = &self.leaving;
        let left = |entry: &Entry| leaving.contains(&entry.value.span);
        for family in families(tables) {
            let open = !family.contains_key("bandwidth");
            let leaves = open || family.values().any(left);
            let mut own = true;
            for key in KEYS {
                let Some(value) = link.get(key).filter(|_| leaves) else { continue };
                if family.get(key).is_none_or(left) {
                    family.insert(key.to_owned(), value.clone());
                    own &= key != "bandwidth";
                }
            }
            self.own = own && given;
        }
        let chosen = tables.get("topology").and_then(|topology| topology.value.table());
        self.own |= given && chosen.is_some_and(|chosen| FIXED.iter().any(|name| chosen.contains_key(*name)));
    }

    /// Returns the name of the topology, if one was named.
    pub fn topology_name(&self) -> Option<&str> {
        self.topology.as_deref()
    }

    /// Returns the name of the machine, if one was named.
    pub fn machine_name(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// Compares the fabric's own links with the other links that are given; `None` if the fabric has those.
    pub fn comparison(&self, fabric: &Fabric, link: &Section<LinkSpec>, sources: &Sources) -> Option<String> {
        if !self.own {
            return None;
        }
        let topology = self.topology.as_deref().unwrap_or("the fabric");
        let others = match (link.get(), &self.machine) {
            (Some(link), machine) => {
                let table = machine.as_deref().unwrap_or("[link]");
                let given_by = |span: Option<Span>| match span.and_then(|span| sources.find(span)) {
                    Some((flag, ..)) if flag.starts_with("--") => flag,
                    _ => table,
                };
                let bandwidth = link.bandwidth.as_ref().map(|bandwidth| (bandwidth.to_string(), bandwidth.span()));
                let latency = link.latency.as_ref().map(|latency| (latency_in_words(**latency), latency.span()));
                let given = [bandwidth, latency].into_iter().flatten();
                let given: Vec<(String, &str)> = given.map(|(value, span)| (value, given_by(span))).collect();
                match &given[..] {
                    [(bandwidth, one), (latency, other)] if one == other => {
                        format!("not used: {bandwidth}, {latency} of {one}")
                    }
                    [] => return None,
                    given => {
                        let each: Vec<String> = given.iter().map(|(value, by)| format!("{value} of {by}")).collect();
                        format!("not used: {}", each.join(", "))
                    }
                }
            }
            (None, Some(machine)) => format!("{machine} sets no links"),
            (None, None) => return None,
        };
        Some(format!("links of {topology}: {}; {others}", of_fabric(fabric)))
    }
}

/// Returns the tables of the families that have one bandwidth for all links.
fn families(tables: &mut Table) -> impl Iterator<Item = &mut Table> {
    let chosen = tables.get_mut("topology").and_then(|topology| topology.value.table_mut());
    let families = chosen.into_iter().flatten().filter(|(name, _)| !FIXED.contains(&name.as_str()));
    families.filter_map(|(_, entry)| entry.value.table_mut())
}

/// Returns `1 GB/s, no latency`, or the least and the most of both.
fn of_fabric(fabric: &Fabric) -> String {
    let links = || fabric.links().iter();
    let (least, most) = (links().map(|link| link.capacity).min(), links().map(|link| link.capacity).max());
    let Some((least, most)) = least.zip(most) else { return "none".to_owned() };
    let bandwidth = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let (soonest, latest) = (links().map(|link| link.latency).min(), links().map(|link| link.latency).max());
    let latency = match (soonest, latest) {
        (Some(soonest), Some(latest)) if soonest < latest => {
            format!("{} to {latest}", latency_in_words(soonest))
        }
        (latency, _) => latency_in_words(latency.unwrap_or_default()),
    };
    format!("{bandwidth}, {latency}")
}

fn latency_in_words(latency: Time) -> String {
    if latency == Time::ZERO { "no latency".to_owned() } else { latency.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::{Loader, Scenario};
    use crate::diagnostic::Invalid;
    use crate::program::generate::Generator;
    use crate::simulation::ProgramWork;

    const MACHINE: &str = "[node.ideal]\n[link]\nbandwidth = \"160 MB/s\"\nlatency = \"425 ns\"\n";
    const TREE: &str = "[topology.fat-tree]\np = 2\nbandwidth = \"2 GB/s\"\n";

    fn load(loader: Loader) -> Result<Scenario<ProgramWork>, Invalid> {
        let program = Generator::parse("linear:ranks=4").unwrap().program().unwrap();
        loader.load_program(ProgramWork::new(program, "test"))
    }

    /// Returns bandwidth and latency in the scenario of the report, and the comparison.
    fn links(loader: Loader) -> (String, String, Option<String>) {
        let replay = load(loader).unwrap_or_else(|error| panic!("{error}"));
        let json = replay.to_json();
        let (_, family) = json["topology"].as_object().unwrap().iter().next().unwrap();
        let text = |key: &str| family[key].as_str().unwrap_or("none").to_owned();
        (text("bandwidth"), text("latency"), replay.system().own_links().map(str::to_owned))
    }

    fn of(bandwidth: &str, latency: &str) -> (String, String, Option<String>) {
        (bandwidth.to_owned(), latency.to_owned(), None)
    }

    #[test]
    fn a_named_family_takes_the_links_of_the_machine_whatever_comes_first() {
        let machine = || Loader::new().text("m", MACHINE);
        assert_eq!(links(Loader::new().topology("torus-4x4")), of("1 GB/s", "none"));
        assert_eq!(links(machine().topology("torus-4x4")), of("160 MB/s", "425 ns"));
        assert_eq!(links(Loader::new().machine("myrinet").topology("torus-4x4")), of("160 MB/s", "425 ns"));
        assert_eq!(links(Loader::new().topology("torus-4x4").machine("myrinet")), of("160 MB/s", "425 ns"));
        let named = Loader::new().text("s", format!("topology = \"torus-4x4\"\n{MACHINE}"));
        assert_eq!(links(named), of("160 MB/s", "425 ns"));
    }

    #[test]
    fn what_is_written_of_links_stays_as_it_is() {
        let both = || Loader::new().machine("myrinet").topology("torus-4x4");
        let bandwidth = both().set("--set", "topology.torus.bandwidth=3 GB/s");
        assert_eq!(links(bandwidth).0, "3 GB/s");
        let latency = both().set("--set", "topology.torus.latency=5 ns");
        assert_eq!(links(latency), of("160 MB/s", "5 ns"));
        assert_eq!(links(both().set("--set", "link.bandwidth=2 GB/s")), of("2 GB/s", "425 ns"));
        let (bandwidth, latency, note) = links(Loader::new().text("t", TREE).machine("myrinet"));
        assert_eq!((bandwidth.as_str(), latency.as_str()), ("2 GB/s", "none"));
        assert_eq!(note.unwrap(), "links of the fabric: 2 GB/s, no latency; not used: 160 MB/s, 425 ns of myrinet");
    }

    #[test]
    fn links_of_its_own_are_compared_with_those_of_the_machine() {
        let note = |machine: &str, topology: &str| links(Loader::new().machine(machine).topology(topology)).2.unwrap();
        let expected = "links of red-storm: 3.2 GB/s to 3.8 GB/s, no latency; not used: 160 MB/s, 425 ns of myrinet";
        assert_eq!(note("myrinet", "red-storm"), expected);
        let expected = "links of torus-4x4: 1 GB/s, no latency; shared-memory sets no links";
        assert_eq!(note("shared-memory", "torus-4x4"), expected);
    }

    #[test]
    fn a_topology_without_bandwidth_takes_that_of_link_or_says_what_is_missing() {
        let open = "[topology.crossbar]\nnodes = 4\n";
        assert_eq!(
            links(Loader::new().text("s", format!("{open}[link]\nbandwidth = \"5 MB/s\"\n"))),
            of("5 MB/s", "none")
        );
        let missing = load(Loader::new().text("s", open)).unwrap_err();
        assert_eq!(missing.diagnostics[0].message, "missing key `bandwidth`");
    }

    #[test]
    fn mistakes_in_link_are_told_wherever_it_stands() {
        for text in ["[link]\nbandwith = \"1 GB/s\"\n", "[link]\nbandwidth = \"0 B/s\"\n", "link = 3\n"] {
            let scenario =
                load(Loader::new().text("s", format!("{text}[topology.crossbar]\nnodes = 4\nbandwidth = \"1 B/s\"\n")));
            assert_eq!(scenario.unwrap_err().diagnostics.len(), 1, "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.toml");
        std::fs::write(&path, "[link]\nbandwith = \"1 GB/s\"\n[topology.crossbar]\nnodes = 4\nbandwidth = \"1 B/s\"\n")
            .unwrap();
        let mistakes = load(Loader::new().topology(path.to_str().unwrap())).unwrap_err();
        assert!(mistakes.diagnostics[0].message.contains("unknown key `bandwith`"), "{mistakes}");
    }
}
