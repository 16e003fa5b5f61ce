//! Pictures as data: a heading, a legend, remarks, and parts below each other, which are charts, lanes or
//! cells.

use super::canvas::{Canvas, MARGIN, Point};
use super::sign::{Legend, Sign, legend};

/// Part of a picture.
pub(super) trait Part {
    /// Returns width and height \[px\].
    fn size(&self) -> (f64, f64);
    /// Draws the part with its upper left corner at a point.
    fn draw(&self, canvas: &mut Canvas, at: Point);
}

/// Picture as data.
#[derive(Default)]
pub(super) struct Picture {
    title: String,
    subtitle: String,
    legend: Legend,
    remarks: Vec<String>,
    parts: Vec<Box<dyn Part>>,
    notes: Vec<String>,
}

/// Smallest width inside the margins \[px\].
const LEAST_WIDTH: f64 = 560.0;
/// Space between parts \[px\].
const GAP: f64 = 18.0;

impl Picture {
    /// Creates a picture without parts.
    pub(super) fn new(title: impl Into<String>, subtitle: impl Into<String>) -> Self {
        Self { title: title.into(), subtitle: subtitle.into(), ..Self::default() }
    }

    /// Adds entries to the legend.
    pub(super) fn legend<T: Into<String>>(mut self, entries: impl IntoIterator<Item = (Sign, T)>) -> Self {
        self.legend.extend(entries.into_iter().map(|(sign, text)| (sign, text.into())));
        self
    }

    /// Adds remarks above the parts.
    pub(super) fn remarks(mut self, remarks: impl IntoIterator<Item = String>) -> Self {
        self.remarks.extend(remarks);
        self
    }

    /// Adds remarks below the parts.
    pub(super) fn notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Adds a part below the others.
    pub(super) fn with(mut self, part: impl Part + 'static) -> Self {
        self.parts.push(Box::new(part));
        self
    }

    /// Draws the picture.
    pub(super) fn draw(self) -> String {
        let width = self.parts.iter().map(|part| part.size().0).fold(LEAST_WIDTH, f64::max) + 2.0 * MARGIN;
        let mut canvas = Canvas::new();
        let mut y = canvas.heading(&self.title, &self.subtitle, width);
        y = legend(&mut canvas, &self.legend, y, width);
        if !self.remarks.is_empty() {
            y = canvas.remarks(&self.remarks, y - 14.0, width) + GAP;
        }
        for part in &self.parts {
            part.draw(&mut canvas, Point::new(MARGIN, y));
            y += part.size().1 + GAP;
        }
        let y = canvas.remarks(&self.notes, y - GAP, width);
        canvas.finish(width, y + MARGIN, &self.title)
    }
}

/// Parts of one kind in rows of this length, with their lower edges aligned.
pub(super) struct Tiles<P>(pub Vec<P>, pub usize);

impl<P: Part> Tiles<P> {
    fn tile(&self) -> (f64, f64) {
        let sizes = self.0.iter().map(Part::size);
        let largest = sizes.fold((0.0, 0.0), |(wide, high): (f64, f64), size| (wide.max(size.0), high.max(size.1)));
        (largest.0 + GAP, largest.1 + GAP)
    }
}

impl<P: Part> Part for Tiles<P> {
    fn size(&self) -> (f64, f64) {
        let (wide, high) = self.tile();
        (wide * self.0.len().min(self.1) as f64, high * self.0.len().div_ceil(self.1) as f64)
    }

    fn draw(&self, canvas: &mut Canvas, at: Point) {
        let (wide, high) = self.tile();
        for (number, part) in self.0.iter().enumerate() {
            let (row, column) = ((number / self.1) as f64, (number % self.1) as f64);
            part.draw(canvas, at.plus(wide * column, high * (row + 1.0) - GAP - part.size().1));
        }
    }
}
