//! An infrastructure as it is written.

use super::slice::Part;
use crate::diagnostic::Span;
use crate::units::{Bandwidth, Time};

/// An infrastructure.
pub(super) struct Model {
    pub name: String,
    pub devices: Vec<Device>,
    pub instances: Vec<Instance>,
    pub links: Vec<Link>,
    pub edges: Vec<Edge>,
    /// Where it starts.
    pub span: Span,
}

/// What instances are of.
pub(super) struct Device {
    pub name: String,
    pub components: Vec<Component>,
    pub links: Vec<Link>,
    pub edges: Vec<Edge>,
    pub span: Span,
}

/// So many equal parts of a device.
pub(super) struct Component {
    pub name: String,
    /// `xpu`, or the type of a custom component; `None`: each is a device of the component's name.
    pub kind: Option<String>,
    pub count: u32,
    pub span: Span,
}

/// So many of a device.
pub(super) struct Instance {
    pub name: String,
    pub device: String,
    pub device_span: Span,
    pub count: u32,
    pub span: Span,
}

/// How fast a link says that it is.
#[derive(Clone, Copy)]
pub(super) enum Rate {
    None,
    Bandwidth(Bandwidth),
    /// In transfers per second, of which nothing says what they carry.
    Transfers(f64, Span),
}

/// What edges are made of.
pub(super) struct Link {
    pub name: String,
    pub rate: Rate,
    pub latency: Option<Time>,
    pub span: Span,
}

/// How two lists of vertices are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scheme {
    /// The first with the first, and so on, as far as the shorter list goes.
    One2One,
    /// Each with each.
    Many2Many,
    /// The vertices of both, one after the other, and the last with the first.
    Ring,
}

/// Edges between two lists of vertices; of an infrastructure, an end starts with the instance.
pub(super) struct Edge {
    pub ends: [Vec<Part>; 2],
    pub scheme: Scheme,
    /// By position.
    pub link: u32,
    pub span: Span,
}
