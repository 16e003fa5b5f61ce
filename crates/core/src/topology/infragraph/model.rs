//! Data of an infrastructure file.

use super::slice::Part;
use crate::diagnostic::Span;
use crate::units::{Bandwidth, Time};

/// Content of an infrastructure file.
pub(super) struct Model {
    pub name: String,
    pub devices: Vec<Device>,
    pub instances: Vec<Instance>,
    pub links: Vec<Link>,
    pub edges: Vec<Edge>,
    /// Start of the infrastructure in the file.
    pub span: Span,
}

/// Device, which instances are copies of.
pub(super) struct Device {
    pub name: String,
    pub components: Vec<Component>,
    pub links: Vec<Link>,
    pub edges: Vec<Edge>,
    pub span: Span,
}

/// Group of `count` equal parts of a device.
pub(super) struct Component {
    pub name: String,
    /// `xpu`, or the type of a custom component; `None` if each part is a device with the component's name.
    pub kind: Option<String>,
    pub count: u32,
    pub span: Span,
}

/// Group of `count` copies of a device.
pub(super) struct Instance {
    pub name: String,
    pub device: String,
    pub device_span: Span,
    pub count: u32,
    pub span: Span,
}

/// Speed of a link, as given in the file.
#[derive(Clone, Copy)]
pub(super) enum Rate {
    None,
    Bandwidth(Bandwidth),
    /// Transfers per second; their size is not given.
    Transfers(f64, Span),
}

/// Kind of link that edges name.
pub(super) struct Link {
    pub name: String,
    pub rate: Rate,
    pub latency: Option<Time>,
    pub span: Span,
}

/// Scheme by which two lists of vertices are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scheme {
    /// The first with the first, and so on, up to the end of the shorter list.
    One2One,
    /// Each with each.
    Many2Many,
    /// Each vertex with the next one in both lists put together, and the last with the first.
    Ring,
}

/// Edges between two lists of vertices. In an infrastructure, an end starts with the instance.
pub(super) struct Edge {
    pub ends: [Vec<Part>; 2],
    pub scheme: Scheme,
    /// Position of the link in the list of links.
    pub link: u32,
    pub span: Span,
}
