//! Reader of `<trace>`, `<trace_connect>` and the files of links that change over time.

use roxmltree::Node;

use super::super::element::Text;
use super::super::profile::{ChangingProperty, Profile, timetable};
use super::{NamedLinks, Reader};
use crate::diagnostic::{Diagnostic, Span};

/// Content of a `<trace>`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trace<'a> {
    source: Source<'a>,
    /// Period in seconds, if the element gives one.
    period: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    /// Text, and where it starts in the document.
    Text(&'a str, usize),
    File(Text<'a>),
}

impl<'a, 'input> Reader<'a, 'input> {
    /// Reads a `<trace>`: a profile with a name.
    pub(super) fn trace(&mut self, node: Node<'a, 'input>) {
        self.mistakes.only(node, &["id", "file", "periodicity"]);
        let Some(id) = self.mistakes.required(node, "id") else { return };
        let period = match self.mistakes.attribute(node, "periodicity") {
            None => None,
            Some(text) => self.mistakes.parse(text, "number of seconds", |text| {
                let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
                value.ok_or("expected seconds like \"21.0\"")
            }),
        };
        let source = match (self.mistakes.attribute(node, "file"), node.first_child().filter(Node::is_text)) {
            (Some(file), _) if !file.value.is_empty() => Source::File(file),
            (_, Some(text)) => Source::Text(text.text().unwrap_or_default(), text.range().start),
            (_, None) => {
                self.mistakes.unsupported(node, "expected lines of a time and a value in it, or file=\"...\"");
                return;
            }
        };
        if self.traces.insert(id.value, Trace { source, period }).is_some() {
            self.named_twice(id.value, id.span);
        }
    }

    /// Reads a `<trace_connect>`, which attaches a trace to a link. Traces of hosts are ignored.
    pub(super) fn trace_connect(&mut self, node: Node<'a, 'input>) {
        self.mistakes.only(node, &["kind", "trace", "element"]);
        let (Some(trace), Some(element)) =
            (self.mistakes.required(node, "trace"), self.mistakes.required(node, "element"))
        else {
            return;
        };
        let kind = match self.mistakes.attribute(node, "kind") {
            None => Some(None), // HOST_AVAIL
            Some(text) => self.mistakes.parse(text, "kind of trace", |text| match text.trim() {
                "HOST_AVAIL" | "SPEED" | "POWER" => Ok(None),
                "BANDWIDTH" => Ok(Some(ChangingProperty::Bandwidth)),
                "LATENCY" => Ok(Some(ChangingProperty::Latency)),
                "LINK_AVAIL" => Ok(Some(ChangingProperty::State)),
                _ => Err("expected HOST_AVAIL, SPEED, LINK_AVAIL, BANDWIDTH or LATENCY"),
            }),
        };
        let known = self.traces.get(trace.value).copied();
        if known.is_none() {
            let message = format!("there is no trace `{}`", trace.value.escape_debug());
            self.mistakes
                .add(Diagnostic::new("unknown-id", message).at(trace.span).label("expected the id of a <trace>"));
        }
        let (Some(kind), Some(known)) = (kind, known) else { return };
        match kind {
            None => _ = self.find_point(element),
            Some(subject) => {
                if let Some(named) = self.find_link(element) {
                    self.add_profile(named, subject, known, trace.span);
                }
            }
        }
    }

    /// Reads the profile files that a `<link>` names.
    pub(super) fn profile_files(&mut self, node: Node<'a, 'input>, named: NamedLinks) {
        for (name, subject) in [
            ("bandwidth_file", ChangingProperty::Bandwidth),
            ("latency_file", ChangingProperty::Latency),
            ("state_file", ChangingProperty::State),
        ] {
            if let Some(file) = self.mistakes.attribute(node, name).filter(|file| !file.value.is_empty()) {
                self.add_profile(named, subject, Trace { source: Source::File(file), period: None }, file.span);
            }
        }
    }

    fn add_profile(&mut self, named: NamedLinks, subject: ChangingProperty, trace: Trace<'a>, span: Span) {
        let table = match trace.source {
            Source::Text(text, start) => timetable(text, trace.period)
                .map_err(|(range, expected)| (self.mistakes.span(start + range.start..start + range.end), expected)),
            Source::File(file) => match (self.open)(file.value, file.span) {
                Ok((base, text)) => timetable(&text, trace.period)
                    .map_err(|(range, expected)| (Span::new(base + range.start, base + range.end), expected)),
                Err(mistake) => {
                    self.mistakes.add(mistake);
                    return;
                }
            },
        };
        match table {
            Ok(table) => {
                let links = match named {
                    NamedLinks::One(link) => vec![link],
                    NamedLinks::Two(up, down) => vec![up, down],
                };
                let profile = |link| Profile { link, subject, table: table.clone(), span };
                self.platform.profiles.extend(links.into_iter().map(profile));
            }
            Err((span, expected)) => {
                let mistake = Diagnostic::new("bad-profile", "this is not a profile over time").at(span);
                self.mistakes.add(mistake.label(expected));
            }
        }
    }
}
