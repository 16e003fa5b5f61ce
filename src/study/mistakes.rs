//! Mistakes of points.

use crate::diagnostic::{At, Diagnostic, Invalid, Sources};

/// Mistakes of several points, each listed once.
#[derive(Default)]
pub(super) struct Mistakes {
    found: Vec<(Diagnostic, Vec<String>)>,
}

impl Mistakes {
    /// Adds the mistakes of one point.
    pub fn add(&mut self, point: &str, found: &[Diagnostic], sources: &Sources) {
        for diagnostic in found {
            // Each point has its own texts, so places must hold without them.
            let mut placed = diagnostic.clone();
            placed.at = match diagnostic.place(sources) {
                Some(place) => At::Place(Box::new(place)),
                None => At::Nowhere,
            };
            match self.found.iter_mut().find(|(known, _)| *known == placed) {
                // A point that is tried in several ways has one name.
                Some((_, points)) if points.iter().any(|known| known == point) => {}
                Some((_, points)) => points.push(point.to_owned()),
                None => self.found.push((placed, vec![point.to_owned()])),
            }
        }
    }

    /// Returns all mistakes with the points they belong to as an error, or `Ok` if there are none.
    pub fn none(self) -> Result<(), Invalid> {
        if self.found.is_empty() {
            return Ok(());
        }
        let diagnostics = self.found.into_iter().map(|(mut diagnostic, points)| {
            let more = points.len() - 1;
            let points = match (points.first().map_or("", String::as_str), more) {
                ("", _) => return diagnostic,
                (first, 0) => first.to_owned(),
                (first, more) => format!("{first} and {more} more"),
            };
            diagnostic.message = format!("{points}: {}", diagnostic.message);
            diagnostic
        });
        Err(Invalid { diagnostics: diagnostics.collect(), ..Invalid::default() })
    }
}
