//! From the texts of a loader to what is asked for: all that a scenario says, or a part of it.

use super::loader::Texts;
use super::read::{self, Section};
use super::{Loader, RoutedFabric, Runnable, Scenario, build, farm_load, replay_load};
use crate::diagnostic::Invalid;
use crate::node::NodeSpec;
use crate::system::Network;
use crate::workload::farm::FarmSpec;
use crate::workload::{ALONE, WorkloadSpec};

impl Loader {
    /// Reads, checks and builds it all.
    ///
    /// # Errors
    /// Every mistake of every text and of the files they name, at once.
    pub fn load(self) -> Result<Scenario, Invalid> {
        let mut texts = self.gather();
        let sections = read::sections(&texts.table, &mut texts.diagnostics, texts.incomplete);
        texts.only_first_mistakes();
        let Texts { sources, diagnostics, .. } = texts;
        build::scenario(&sections, sources, diagnostics)
    }

    /// Reads the texts and builds what they say is to be done: a pattern on a fabric, a program, or a farm.
    ///
    /// # Errors
    /// Every mistake of every text. Programs and farms need no topology.
    pub fn load_any(self) -> Result<Runnable, Invalid> {
        let mut texts = self.gather();
        let alone = texts
            .table
            .get("workload")
            .and_then(|entry| entry.value.table())
            .is_some_and(|workload| workload.keys().any(|name| ALONE.contains(&name.as_str())));
        let sections = match alone {
            true => read::sections_alone(&texts.table, &mut texts.diagnostics, texts.incomplete),
            false => read::sections(&texts.table, &mut texts.diagnostics, texts.incomplete),
        };
        texts.only_first_mistakes();
        let Texts { sources, diagnostics, links, .. } = texts;
        match &sections.workload {
            Section::Is(WorkloadSpec::Program(workload), _) => {
                let (replay, start_up) = replay_load::of_workload(&sections, workload, sources, diagnostics)?;
                let replay = replay.comparing_links(&links, &sections);
                Ok(Runnable::Program(Box::new(replay), start_up))
            }
            Section::Is(WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)), _) => {
                Ok(Runnable::Farm(Box::new(farm_load::of_workload(&sections, spec, &links, sources, diagnostics)?)))
            }
            _ => match &sections.node {
                Section::Is(node, _) if !node.facts().is_ideal => {
                    let replay = replay_load::of_pattern(&sections, sources, diagnostics)?;
                    Ok(Runnable::Program(Box::new(replay.comparing_links(&links, &sections)), None))
                }
                _ => Ok(Runnable::Pattern(Box::new(build::scenario(&sections, sources, diagnostics)?))),
            },
        }
    }

    /// Reads the texts and builds the topology alone, for showing it.
    ///
    /// # Errors
    /// Every mistake of every text, but a missing workload is none.
    pub fn load_topology(self) -> Result<RoutedFabric, Invalid> {
        let mut texts = self.gather();
        let sections = read::sections_alone(&texts.table, &mut texts.diagnostics, texts.incomplete);
        texts.only_first_mistakes();
        let Texts { mut sources, mut diagnostics, table, .. } = texts;
        if !table.contains_key("topology") && diagnostics.is_empty() {
            diagnostics.push(read::nothing_chosen("topology"));
        }
        let network = build::routed(&sections, &mut sources, &mut diagnostics);
        build::finish(network, sources, diagnostics)
    }

    /// Reads the texts and builds the network with so many ranks on it.
    ///
    /// # Errors
    /// Every mistake of every text, but a missing workload is none.
    pub fn load_network(self, ranks: u32) -> Result<Network, Invalid> {
        let mut texts = self.gather();
        let sections = read::sections_alone(&texts.table, &mut texts.diagnostics, texts.incomplete);
        texts.only_first_mistakes();
        let Texts { mut sources, mut diagnostics, table, .. } = texts;
        if !table.contains_key("topology") && diagnostics.is_empty() {
            diagnostics.push(read::nothing_chosen("topology"));
        }
        build::check_transport(&sections, &mut diagnostics);
        let routed = build::routed(&sections, &mut sources, &mut diagnostics);
        let at = sections.topology.span();
        let network = routed
            .and_then(|routed| build::placed(routed, &sections, ranks, at, &mut sources, &mut diagnostics))
            .map(|placed| placed.network);
        if let Some(network) = &network {
            build::check_all_routes(network, &sections, &mut diagnostics);
        }
        build::finish(network, sources, diagnostics)
    }

    /// Reads the texts for the node model alone.
    ///
    /// # Errors
    /// Every mistake of every text, but a missing topology or workload is none.
    pub fn load_machine(self) -> Result<NodeSpec, Invalid> {
        let mut texts = self.gather();
        let sections = read::sections_alone(&texts.table, &mut texts.diagnostics, texts.incomplete);
        texts.only_first_mistakes();
        let Texts { sources, mut diagnostics, table, .. } = texts;
        if !table.contains_key("node") && diagnostics.is_empty() {
            diagnostics.push(read::nothing_chosen("node"));
        }
        let node = sections.node.get().cloned();
        diagnostics.extend(node.iter().flat_map(|node| node.check()));
        build::finish(node, sources, diagnostics)
    }

    /// Reads the texts and builds the workload alone, for a fabric of so many nodes.
    ///
    /// # Errors
    /// Every mistake of every text, but a missing topology is none.
    pub fn load_pattern(self, nodes: u32) -> Result<build::Work, Invalid> {
        let mut texts = self.gather();
        let sections = read::sections_alone(&texts.table, &mut texts.diagnostics, texts.incomplete);
        texts.only_first_mistakes();
        let Texts { mut sources, mut diagnostics, table, .. } = texts;
        if !table.contains_key("workload") && diagnostics.is_empty() {
            diagnostics.push(read::nothing_chosen("workload"));
        }
        let traffic = build::work(&sections, nodes, &mut sources, &mut diagnostics);
        build::finish(traffic, sources, diagnostics)
    }
}
