//! Fabrics and programs that many scenarios have in common: built once, and kept while they are asked for.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Serialize;

use super::build::{RoutedFabric, seed};
use super::paths;
use super::read::{Section, Sections};
use crate::diagnostic::{Diagnostic, Sources};
use crate::program::Program;
use crate::program::start_up::StartUp;
use crate::routing::RoutingSpec;
use crate::system::Written;
use crate::system::{ProgramSpec, WorkloadSpec};

/// Fabrics that are kept: each may take as much memory as all else of a run.
const FABRICS: usize = 16;
/// Programs that are kept.
const PROGRAMS: usize = 8;

/// What was built before, by what was written of it.
#[derive(Debug)]
pub(crate) struct Shared {
    fabrics: Kept<RoutedFabric>,
    programs: Kept<SharedProgram>,
}

/// A program as it was read.
#[derive(Clone, Debug)]
pub(super) struct SharedProgram {
    pub program: Arc<Program>,
    pub name: String,
    pub start_up: Option<StartUp>,
}

impl Default for Shared {
    fn default() -> Self {
        Self { fabrics: Kept::new(FABRICS), programs: Kept::new(PROGRAMS) }
    }
}

impl Shared {
    /// The fabric of these sections with its routes; `build` makes it where it is not there.
    pub(super) fn fabric(
        &self,
        sections: &Sections,
        sources: &mut Sources,
        diagnostics: &mut Vec<Diagnostic>,
        build: fn(&Sections, &mut Sources, &mut Vec<Diagnostic>) -> Option<RoutedFabric>,
    ) -> Option<RoutedFabric> {
        let mut written = Written {
            topology: sections.topology.get().cloned(),
            routing: sections.routing.get().cloned(),
            faults: sections.faults.get().cloned(),
            ..Written::default()
        };
        let broken = [
            matches!(sections.topology, Section::Broken),
            matches!(sections.routing, Section::Broken),
            matches!(sections.faults, Section::Broken),
        ];
        if written.topology.is_none() || broken.contains(&true) {
            return build(sections, sources, diagnostics);
        }
        paths::settle(&mut written, sources);
        let Written { topology, routing, faults, .. } = &written;
        // The rule that a fabric has by itself may draw, too.
        let drawn = routing.as_ref().is_none_or(RoutingSpec::depends_on_seed)
            || faults.as_ref().is_some_and(|faults| faults.depends_on_seed());
        let seed = drawn.then(|| seed(sections));
        let key = key(&(topology, routing, faults, &sections.link, seed));
        self.fabrics.get(key, diagnostics, &mut |diagnostics| build(sections, sources, diagnostics))
    }

    /// The program that is written so; `read` reads it where it is not there.
    pub(super) fn program(
        &self,
        spec: &ProgramSpec,
        sources: &Sources,
        diagnostics: &mut Vec<Diagnostic>,
        read: impl Fn(&mut Vec<Diagnostic>) -> Option<SharedProgram>,
    ) -> Option<SharedProgram> {
        let mut written = WorkloadSpec::Program(spec.clone());
        paths::settle_workload(&mut written, sources);
        self.programs.get(key(&written), diagnostics, &mut |diagnostics| read(diagnostics))
    }
}

type Key = [u8; 32];

fn key(of: &impl Serialize) -> Key {
    let text = serde_json::to_vec(of).unwrap_or_default();
    *blake3::hash(&text).as_bytes()
}

/// Something by its key, made by whoever asks for it first; the others wait for it.
type Slot<T> = Arc<OnceLock<Option<T>>>;

/// The last few things that were asked for.
#[derive(Debug)]
struct Kept<T> {
    most: usize,
    slots: Mutex<Vec<(Key, Slot<T>)>>,
}

impl<T: Clone> Kept<T> {
    fn new(most: usize) -> Self {
        Self { most, slots: Mutex::new(Vec::new()) }
    }

    /// What has this key; what cannot be made is not kept, so that each says anew what is wrong with it.
    fn get(
        &self,
        key: Key,
        diagnostics: &mut Vec<Diagnostic>,
        make: &mut dyn FnMut(&mut Vec<Diagnostic>) -> Option<T>,
    ) -> Option<T> {
        let slot = self.slot(key);
        let mut made = None;
        let kept = slot.get_or_init(|| {
            let before = diagnostics.len();
            let result = make(diagnostics);
            let is_clean = diagnostics.len() == before;
            made = Some(result.clone());
            result.filter(|_| is_clean)
        });
        match (kept, made) {
            (Some(kept), _) => Some(kept.clone()),
            (None, Some(made)) => made,
            (None, None) => make(diagnostics),
        }
    }

    /// The slot of this key, which is now the last that was asked for.
    fn slot(&self, key: Key) -> Slot<T> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = match slots.iter().position(|(known, _)| *known == key) {
            Some(i) => slots.remove(i).1,
            None => Slot::default(),
        };
        if slots.len() >= self.most {
            slots.remove(0);
        }
        slots.push((key, Arc::clone(&slot)));
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_longest_ago_goes_first_and_what_failed_is_tried_again() {
        let kept: Kept<u32> = Kept::new(2);
        let mut made = Vec::new();
        for asked in [1, 2, 1, 3, 1, 2] {
            let got = kept.get([asked; 32], &mut Vec::new(), &mut |_| {
                made.push(asked);
                Some(asked.into())
            });
            assert_eq!(got, Some(asked.into()));
        }
        assert_eq!(made, [1, 2, 3, 2]);
        let mut diagnostics = Vec::new();
        for _ in 0..2 {
            let none = kept.get([9; 32], &mut diagnostics, &mut |diagnostics| {
                diagnostics.push(Diagnostic::new("wrong-value", "no"));
                None
            });
            assert_eq!(none, None);
        }
        assert_eq!(diagnostics.len(), 2);
    }
}
