//! Small writer of SVG: shapes, and text that is measured before it is placed. The output is always valid
//! XML.

use std::fmt::Write;

/// Font of all text.
const FONT: &str = "Helvetica, Arial, 'DejaVu Sans', sans-serif";
/// Colour of text.
pub(super) const INK: &str = "#1b1f24";
/// Colour of secondary text and of axes.
pub(super) const GREY: &str = "#5a6270";
/// Colour of grid lines.
pub(super) const FAINT: &str = "#d9dde3";

/// Ratio of the width of bold type to that of normal type.
pub(super) const BOLD: f64 = 1.13;

/// Space around a picture \[px\].
pub(super) const MARGIN: f64 = 24.0;

/// Point of a text that lies at its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Point of a picture \[px\], y downwards.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub(super) const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// Returns the point moved by `dx` and `dy`.
    pub(super) fn plus(self, dx: f64, dy: f64) -> Self {
        Self::new(self.x + dx, self.y + dy)
    }
}

/// Picture in progress.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
}

/// Formats a coordinate with at most two decimals; NaN and infinity never appear.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let rounded = (value * 100.0).round() / 100.0;
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// Escapes text for XML. Characters that XML cannot hold become replacement characters.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Estimates the width of a text \[px\], a little above that in most fonts, so that the text fits in any of
/// them.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | ' ' | '(' | ')' | '[' | ']' => 0.36,
            'm' | 'w' | 'M' | 'W' | '%' | '→' => 0.95,
            'A'..='Z' => 0.7,
            '\u{1100}'.. if !('\u{2000}'..'\u{2300}').contains(&c) => 1.0,
            _ => 0.6,
        })
        .sum();
    ems * size
}

/// Cuts a text to a width, with an ellipsis in place of its middle.
pub(super) fn fit(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let shorter = |kept: usize| {
        let (head, tail) = (&letters[..kept.div_ceil(2)], &letters[letters.len() - kept / 2..]);
        let [head, tail] = [head, tail].map(|part| part.iter().collect::<String>());
        format!("{}…{}", head.trim_end(), tail.trim_start())
    };
    (0..letters.len()).rev().map(shorter).find(|cut| text_width(cut, size) <= width).unwrap_or_default()
}

/// Breaks a text between words into lines of at most this width; a longer word is broken after its signs.
pub(super) fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut word = word;
        while text_width(word, size) > width && word.chars().nth(1).is_some() {
            let ends = word.char_indices().map(|(at, c)| at + c.len_utf8());
            let room = ends.take_while(|end| text_width(&word[..*end], size) <= width).last();
            // (At least one character, even without room.)
            let room = room.or(word.chars().next().map(char::len_utf8)).unwrap_or_default();
            let sign = word[..room].rfind(|c: char| c.is_ascii_punctuation()).map(|at| at + 1);
            let (line, rest) = word.split_at(sign.unwrap_or(room));
            lines.push(line.to_owned());
            word = rest;
        }
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(" ", size) + text_width(word, size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

impl Canvas {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Draws a rectangle.
    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, attributes: &str) {
        let (width, height) = (number(width.max(0.0)), number(height.max(0.0)));
        let _ = writeln!(
            self.body,
            r#"<rect x="{}" y="{}" width="{width}" height="{height}" {attributes}/>"#,
            number(x),
            number(y)
        );
    }

    /// Draws a line.
    pub(super) fn line(&mut self, from: Point, to: Point, attributes: &str) {
        let _ = writeln!(
            self.body,
            r#"<line x1="{}" y1="{}" x2="{}" y2="{}" {attributes}/>"#,
            number(from.x),
            number(from.y),
            number(to.x),
            number(to.y)
        );
    }

    /// Draws a circle.
    pub(super) fn circle(&mut self, centre: Point, radius: f64, attributes: &str) {
        let _ = writeln!(
            self.body,
            r#"<circle cx="{}" cy="{}" r="{}" {attributes}/>"#,
            number(centre.x),
            number(centre.y),
            number(radius)
        );
    }

    /// Draws straight lines from point to point.
    pub(super) fn polyline(&mut self, points: &[Point], attributes: &str) {
        self.points("polyline", points, attributes);
    }

    /// Draws a filled outline.
    pub(super) fn polygon(&mut self, points: &[Point], attributes: &str) {
        self.points("polygon", points, attributes);
    }

    fn points(&mut self, element: &str, points: &[Point], attributes: &str) {
        let _ = write!(self.body, r#"<{element} points=""#);
        for (i, point) in points.iter().enumerate() {
            let gap = if i == 0 { "" } else { " " };
            let _ = write!(self.body, "{gap}{},{}", number(point.x), number(point.y));
        }
        let _ = writeln!(self.body, r#"" {attributes}/>"#);
    }

    /// Writes a line of text; the position is on its base line.
    pub(super) fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str, attributes: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let fill = if attributes.contains("fill=") { String::new() } else { format!(r#" fill="{INK}""#) };
        let _ = writeln!(
            self.body,
            r#"<text x="{}" y="{}" font-size="{}"{anchor}{fill} {attributes}>{}</text>"#,
            number(x),
            number(y),
            number(size),
            escape(text)
        );
    }

    /// Writes a text cut to a width. If it was cut, the tooltip shows all of it.
    pub(super) fn fitted(&mut self, at: Point, size: f64, anchor: Anchor, text: &str, width: f64, attributes: &str) {
        let cut = fit(text, size, width);
        if cut == text {
            return self.text(at.x, at.y, size, anchor, text, attributes);
        }
        self.open(text);
        self.text(at.x, at.y, size, anchor, &cut, attributes);
        self.close();
    }

    /// Opens a group with this tooltip, up to [`Canvas::close`].
    pub(super) fn open(&mut self, tooltip: &str) {
        let _ = write!(self.body, "<g><title>{}</title>", escape(tooltip));
    }

    /// Opens a group with this tooltip that the script of a page finds by an attribute: `link`, 3 becomes
    /// `data-link="3"`.
    pub(super) fn open_found(&mut self, attribute: &str, index: usize, tooltip: &str) {
        let _ = write!(self.body, r#"<g data-{attribute}="{index}"><title>{}</title>"#, escape(tooltip));
    }

    /// Closes the group that [`Canvas::open`] opened.
    pub(super) fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// Writes the title and the lines below it; returns the y coordinate below them.
    pub(super) fn heading(&mut self, title: &str, subtitle: &str, width: f64) -> f64 {
        let mut y = MARGIN;
        let room = width - 2.0 * MARGIN;
        for line in wrap(title, 18.0, room / BOLD) {
            y += 18.0;
            self.text(MARGIN, y, 18.0, Anchor::Start, &line, r#"font-weight="bold""#);
            y += 5.0;
        }
        for line in wrap(subtitle, 12.0, room) {
            y += 13.0;
            self.text(MARGIN, y, 12.0, Anchor::Start, &line, &format!(r#"fill="{GREY}""#));
            y += 3.0;
        }
        y + 14.0
    }

    /// Writes small remarks from this height on; returns the y coordinate below them.
    pub(super) fn remarks(&mut self, remarks: &[String], y: f64, width: f64) -> f64 {
        let mut y = y;
        for line in remarks.iter().flat_map(|remark| wrap(remark, 11.0, width - 2.0 * MARGIN)) {
            y += 15.0;
            self.text(MARGIN, y, 11.0, Anchor::Start, &line, &format!(r#"fill="{GREY}""#));
        }
        y
    }

    /// Returns the finished picture; browsers show `title` for it.
    pub(super) fn finish(self, width: f64, height: f64, title: &str) -> String {
        let (width, height) = (number(width.ceil()), number(height.ceil()));
        format!(
            r##"<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT}">
<title>{}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
{}</svg>
"##,
            escape(title),
            self.body
        )
    }
}
