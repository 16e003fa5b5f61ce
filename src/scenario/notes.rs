//! Texts and mistakes that are kept while a scenario is built.

use super::links::Links;
use crate::base::Arrange;
use crate::diagnostic::{At, Diagnostic, Invalid, Sources, Span};

/// The texts that were read, and the mistakes so far.
#[derive(Default)]
pub(super) struct Notes {
    /// The texts.
    pub sources: Sources,
    /// Properties of links in the texts.
    pub links: Links,
    /// Mistakes found so far.
    pub diagnostics: Vec<Diagnostic>,
}

impl Notes {
    /// Returns the same texts without mistakes, for a part that is built separately.
    pub fn apart(&self) -> Self {
        Self { sources: self.sources.clone(), links: self.links.clone(), diagnostics: Vec::new() }
    }

    /// Returns true if no mistake was found.
    pub fn is_clean(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Adds a mistake.
    pub fn push(&mut self, mistake: Diagnostic) {
        self.diagnostics.push(mistake);
    }

    /// Adds a mistake for a value that cannot be used here.
    pub fn refuse(&mut self, message: impl Into<String>, at: impl Into<Option<Span>>, help: &str) {
        self.push(Diagnostic::new("wrong-choice", message).at(at).help(help));
    }

    /// Adds mistakes; those without a place get that of the section.
    pub fn extend_at(&mut self, mistakes: impl IntoIterator<Item = Diagnostic>, at: Option<Span>) {
        self.diagnostics.extend(mistakes.into_iter().map(|mistake| match mistake.at {
            At::Nowhere => mistake.at(at),
            _ => mistake,
        }));
    }

    /// Returns the value that was built, or notes the mistakes; those without a place get that of the
    /// section.
    pub fn taken<T>(&mut self, built: Result<T, Vec<Diagnostic>>, at: Option<Span>) -> Option<T> {
        built.map_err(|mistakes| self.extend_at(mistakes, at)).ok()
    }

    /// Builds something from the texts; mistakes without a place get that of the section.
    pub fn build<T>(
        &mut self,
        at: Option<Span>,
        build: impl FnOnce(&mut Sources) -> Result<T, Vec<Diagnostic>>,
    ) -> Option<T> {
        let built = build(&mut self.sources);
        self.taken(built, at)
    }

    /// Returns a value that was loaded separately, or takes its mistakes and texts.
    pub fn loaded<T>(&mut self, read: Result<T, Invalid>) -> Option<T> {
        let taken = |invalid: Invalid| {
            self.diagnostics.extend(invalid.diagnostics);
            self.sources = invalid.sources;
        };
        read.map_err(taken).ok()
    }

    /// Returns the value that was built with its texts, or all mistakes in the order of their places.
    pub fn finish<T>(self, built: Option<T>) -> Result<(T, Sources), Invalid> {
        let Self { sources, mut diagnostics, .. } = self;
        match built {
            Some(built) if diagnostics.is_empty() => Ok((built, sources)),
            _ => {
                if diagnostics.is_empty() {
                    // Some part failed without a message.
                    diagnostics.push(Diagnostic::new("cannot-build", "this scenario cannot be built"));
                }
                diagnostics.arrange_by_key(|diagnostic| match &diagnostic.at {
                    At::Span(span) => (0, span.start),
                    At::Place(place) => (1, place.line),
                    At::Nowhere => (2, 0),
                });
                diagnostics.dedup();
                Err(Invalid { diagnostics, sources })
            }
        }
    }
}
