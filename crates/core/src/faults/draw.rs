//! Conversion of a faults specification to changes of links over time.

use std::collections::{BTreeMap, BTreeSet};

use super::names::Names;
use super::part::part;
use super::spec::{EventSpec, FaultsSpec, StateSpec};
use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Located, Span};
use crate::fabric::{Fabric, LinkChange, LinkRole, Timetable};
use crate::ids::{LinkId, VertexId};
use crate::rng::Stream;
use crate::topology::OneOrList;
use crate::units::{Bandwidth, Time};

/// Faults drawn and named by a specification.
pub(super) struct DrawnFaults {
    pub timetable: Timetable,
    /// Switches that fail at the start.
    pub switches: Vec<VertexId>,
}

/// Cause of a change of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cause {
    /// The link itself.
    Link,
    /// The switch at one of its ends.
    Switch(VertexId),
}

/// Change of a link or a switch.
#[derive(Clone, Copy, Debug)]
enum ChangeKind {
    Down,
    Up,
    /// A part of the original bandwidth.
    Part(f64),
    Rate(Bandwidth),
}

/// Change at a time, with the place of the specification that asks for it.
#[derive(Clone, Copy, Debug)]
struct PlannedChange {
    at: Time,
    what: ChangeKind,
    written: Option<Span>,
    is_drawn: bool,
}

/// Changes of links and switches, collected from a specification.
struct PlannedChanges<'a> {
    fabric: &'a Fabric,
    links: BTreeMap<LinkId, Vec<PlannedChange>>,
    switches: BTreeMap<VertexId, Vec<PlannedChange>>,
    mistakes: Vec<Diagnostic>,
}

/// Returns all changes that a specification makes to the links of a fabric.
pub(super) fn drawn(spec: &FaultsSpec, fabric: &Fabric, seed: u64) -> Result<DrawnFaults, Vec<Diagnostic>> {
    let mut all = PlannedChanges { fabric, links: BTreeMap::new(), switches: BTreeMap::new(), mistakes: Vec::new() };
    let mut names = Names::new(fabric);
    let seed = spec.seed.unwrap_or(seed);
    let at = spec.at.as_ref().map_or(Time::ZERO, |at| **at);
    let what =
        spec.bandwidth.as_ref().map_or(Some(ChangeKind::Down), |text| all.bandwidth(text)).unwrap_or(ChangeKind::Down);
    if let Some(which) = &spec.links {
        all.links(which, spec.node_links.as_ref(), (at, what), seed, &mut names);
    } else if let Some(node_links) = &spec.node_links {
        let diagnostic = Diagnostic::new("unused-option", "no part of the cables is drawn that this could widen");
        all.mistakes.push(diagnostic.at_value(node_links).label("only for `links = \"1 %\"`"));
    }
    if let Some(which) = &spec.switches {
        all.switches(which, (at, what), seed, &mut names);
    }
    if let (None, None, Some(bandwidth)) = (&spec.links, &spec.switches, &spec.bandwidth) {
        let diagnostic = Diagnostic::new("unused-option", "no links or switches are named that have this bandwidth");
        all.mistakes.push(diagnostic.at_value(bandwidth).help("write `links = ...` or `switches = ...` beside it"));
    }
    for event in &spec.event {
        all.event(event, &mut names);
    }
    all.finish()
}

impl PlannedChanges<'_> {
    /// Parses the remaining bandwidth of links.
    fn bandwidth(&mut self, text: &Located<String>) -> Option<ChangeKind> {
        let nothing = "a link without bandwidth carries nothing";
        let down = "write `state = \"down\"` of an event; links and switches without a bandwidth fail";
        let wrong = |message: String, help: &str| Diagnostic::new("wrong-value", message).at_value(text).help(help);
        let found = match part(text) {
            Some(Ok(0.0)) => Err(wrong(nothing.to_owned(), down)),
            Some(Ok(part)) => Ok(ChangeKind::Part(part)),
            Some(Err(message)) => Err(wrong(message, "a part above 0 %, up to 100 %, is expected: \"50 %\"")),
            None => match text.parse::<Bandwidth>() {
                Ok(rate) if rate.bytes_per_second() <= 0.0 => Err(wrong(nothing.to_owned(), down)),
                Ok(rate) => Ok(ChangeKind::Rate(rate)),
                Err(error) => Err(wrong(error.to_string(), "write a part, \"50 %\", or a bandwidth, \"10 GB/s\"")),
            },
        };
        found.map_err(|mistake| self.mistakes.push(mistake)).ok()
    }

    /// Returns the number of parts to draw, out of `of`; `None` if names are given.
    fn count(&mut self, which: &Located<OneOrList<String>>, of: usize) -> Option<usize> {
        let OneOrList::One(text) = &**which else { return None };
        let part = part(text)?.map_err(|message| {
            let diagnostic = Diagnostic::new("wrong-value", message).at_value(which);
            self.mistakes.push(diagnostic.label("a part from 0 % to 100 % is expected").help("write \"1 %\""));
        });
        Some((part.unwrap_or(0.0) * of as f64).round() as usize)
    }

    fn links(
        &mut self,
        which: &Located<OneOrList<String>>,
        node_links: Option<&Located<bool>>,
        (at, what): (Time, ChangeKind),
        seed: u64,
        names: &mut Names<'_>,
    ) {
        let takes_all = node_links.is_some_and(|all| **all);
        let between = |id: &LinkId| matches!(self.fabric.link(*id).role, LinkRole::Network { .. });
        let mut cables = self.fabric.cables();
        cables.retain(|cable| takes_all || cable.iter().all(between));
        if let Some(count) = self.count(which, cables.len()) {
            if cables.is_empty() && !is_nothing(which) && self.mistakes.is_empty() {
                let message = format!("{} has no cables between switches", self.fabric.name());
                let diagnostic = Diagnostic::new("unknown-link", message).at_value(which);
                self.mistakes.push(diagnostic.help("write `node-links = true` to draw from those of nodes, too"));
            }
            // The first `count` of a fixed order: parts that fail at 1 % also fail at 5 %.
            Stream::new(seed, "faults.links").shuffle(&mut cables);
            let drawn = PlannedChange { at, what, written: which.span(), is_drawn: true };
            for link in cables.into_iter().take(count).flatten() {
                self.links.entry(link).or_default().push(drawn);
            }
            return;
        }
        if let Some(node_links) = node_links {
            let diagnostic = Diagnostic::new("unused-option", "named links are not drawn");
            self.mistakes.push(diagnostic.at_value(node_links).label("only for `links = \"1 %\"`"));
        }
        for name in listed(which) {
            match names.link(&name) {
                Ok(links) => {
                    let named = PlannedChange { at, what, written: name.span(), is_drawn: false };
                    links.into_iter().for_each(|link| self.links.entry(link).or_default().push(named));
                }
                Err(mistake) => self.mistakes.push(mistake),
            }
        }
    }

    fn switches(
        &mut self,
        which: &Located<OneOrList<String>>,
        (at, what): (Time, ChangeKind),
        seed: u64,
        names: &mut Names<'_>,
    ) {
        let nodes = self.fabric.nodes();
        let mut switches: Vec<VertexId> = (nodes..nodes + self.fabric.switches()).map(VertexId).collect();
        if let Some(count) = self.count(which, switches.len()) {
            if switches.is_empty() && !is_nothing(which) && self.mistakes.is_empty() {
                let diagnostic = Diagnostic::new("unknown-switch", format!("{} has no switches", self.fabric.name()));
                self.mistakes.push(diagnostic.at_value(which).help("its nodes are joined directly; name `links`"));
            }
            Stream::new(seed, "faults.switches").shuffle(&mut switches);
            let drawn = PlannedChange { at, what, written: which.span(), is_drawn: true };
            for switch in switches.into_iter().take(count) {
                self.switches.entry(switch).or_default().push(drawn);
            }
            return;
        }
        for name in listed(which) {
            match names.switch(&name) {
                Ok(switch) => {
                    let named = PlannedChange { at, what, written: name.span(), is_drawn: false };
                    self.switches.entry(switch).or_default().push(named);
                }
                Err(mistake) => self.mistakes.push(mistake),
            }
        }
    }

    fn event(&mut self, event: &Located<EventSpec>, names: &mut Names<'_>) {
        let EventSpec { at, link, switch, state, bandwidth } = &**event;
        let at = at.as_ref().map_or(Time::ZERO, |at| **at);
        let mistake = |message: &str, help: &str| Diagnostic::new("wrong-choice", message).at_value(event).help(help);
        let what = match (state, bandwidth) {
            (Some(StateSpec::Down), None) => Some(ChangeKind::Down),
            (Some(StateSpec::Up), None) => Some(ChangeKind::Up),
            (None, Some(text)) => self.bandwidth(text),
            (Some(_), Some(_)) => {
                self.mistakes
                    .push(mistake("an event is one thing", "write two: one with `state`, one with `bandwidth`"));
                None
            }
            (None, None) => {
                let help = "write `state = \"down\"`, `state = \"up\"` or `bandwidth = \"50 %\"`";
                self.mistakes.push(mistake("an event needs a `state` or a bandwidth", help));
                None
            }
        };
        let happening =
            |name: &Located<String>, what| PlannedChange { at, what, written: name.span(), is_drawn: false };
        match (link, switch) {
            (Some(name), None) => match (names.link(name), what) {
                (Ok(links), Some(what)) => {
                    links.into_iter().for_each(|link| self.links.entry(link).or_default().push(happening(name, what)));
                }
                (Ok(_), None) => {}
                (Err(mistake), _) => self.mistakes.push(mistake),
            },
            (None, Some(name)) => match (names.switch(name), what) {
                (Ok(switch), Some(what)) => self.switches.entry(switch).or_default().push(happening(name, what)),
                (Ok(_), None) => {}
                (Err(mistake), _) => self.mistakes.push(mistake),
            },
            _ => self.mistakes.push(mistake("an event happens to one part", "write `link = ...` or `switch = ...`")),
        }
    }

    /// Checks that nothing fails twice and that only failed parts come back.
    fn check(
        &mut self,
        name: &str,
        happenings: &mut [PlannedChange],
        told: &mut BTreeSet<(Option<usize>, &'static str)>,
    ) {
        happenings.arrange_by_key(|happening| happening.at);
        let mut down: Option<PlannedChange> = None;
        for happening in happenings.iter() {
            let message = match (happening.what, &down) {
                (ChangeKind::Down, Some(before)) if !happening.is_drawn && !before.is_drawn => {
                    Some(("fails-twice", format!("`{name}` has failed already"), "it fails again before it came back"))
                }
                (ChangeKind::Up, None) => {
                    Some(("not-failed", format!("`{name}` has not failed"), "there is nothing to come back"))
                }
                _ => None,
            };
            match happening.what {
                ChangeKind::Down => down = Some(*happening),
                ChangeKind::Up => down = None,
                ChangeKind::Part(_) | ChangeKind::Rate(_) => {}
            }
            if let Some((code, message, label)) = message
                && told.insert((happening.written.map(|span| span.start), code))
            {
                self.mistakes.push(Diagnostic::new(code, message).label(label).at(happening.written));
            }
        }
    }

    /// Builds the timetable of all links.
    fn finish(mut self) -> Result<DrawnFaults, Vec<Diagnostic>> {
        let (mut links, mut switches) = (std::mem::take(&mut self.links), std::mem::take(&mut self.switches));
        // A cable is two links: a mistake of both is reported once.
        let mut told = BTreeSet::new();
        for (&link, happenings) in &mut links {
            self.check(&self.fabric.link_name(link), happenings, &mut told);
        }
        for (&switch, happenings) in &mut switches {
            self.check(&self.fabric.vertex_name(switch), happenings, &mut told);
        }
        if !self.mistakes.is_empty() {
            return Err(self.mistakes);
        }
        let starts_down = |happenings: &Vec<PlannedChange>| {
            let first = happenings.iter().filter(|happening| happening.at == Time::ZERO);
            first.fold(false, |down, happening| match happening.what {
                ChangeKind::Down => true,
                ChangeKind::Up => false,
                ChangeKind::Part(_) | ChangeKind::Rate(_) => down,
            })
        };
        let failed =
            switches.iter().filter(|(_, happenings)| starts_down(happenings)).map(|(switch, _)| *switch).collect();
        let mut tracks: BTreeMap<(LinkId, Cause), Vec<PlannedChange>> =
            links.into_iter().map(|(link, happenings)| ((link, Cause::Link), happenings)).collect();
        for (id, link) in self.fabric.links().iter_ids() {
            let Some((from, to)) = link.ends else { continue };
            for end in [from, to] {
                if let Some(happenings) = switches.get(&end) {
                    tracks.insert((id, Cause::Switch(end)), happenings.clone());
                }
            }
        }
        let mut timetable = Timetable::default();
        for ((link, _), happenings) in tracks {
            let change = |happening: &PlannedChange| {
                let capacity = self.fabric.link(link).capacity;
                let change = match happening.what {
                    ChangeKind::Down => LinkChange::Down,
                    ChangeKind::Up => LinkChange::Up,
                    ChangeKind::Part(part) => {
                        LinkChange::Bandwidth(Bandwidth::from_bytes_per_second(part * capacity.bytes_per_second()))
                    }
                    ChangeKind::Rate(rate) => LinkChange::Bandwidth(rate),
                };
                (happening.at, change)
            };
            let added = timetable.add(link, happenings.iter().map(change).collect(), None);
            added.map_err(|message| vec![Diagnostic::new("wrong-value", message)])?;
        }
        Ok(DrawnFaults { timetable, switches: failed })
    }
}

/// Returns the names of a list, or the only name.
fn listed(which: &Located<OneOrList<String>>) -> Vec<Located<String>> {
    match (&**which, which.span()) {
        (OneOrList::List(names), _) => names.clone(),
        (OneOrList::One(name), Some(span)) => vec![Located::new(name.clone(), span)],
        (OneOrList::One(name), None) => vec![name.clone().into()],
    }
}

/// Returns true if nothing is to be drawn.
fn is_nothing(which: &Located<OneOrList<String>>) -> bool {
    matches!(&**which, OneOrList::One(text) if part(text) == Some(Ok(0.0)))
}
