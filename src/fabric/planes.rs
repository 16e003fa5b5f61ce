//! Planes: several ways into the network for each node, one of which is chosen for a message.

use std::sync::Arc;

use super::Fabric;
use crate::ids::{LinkId, NodeId};

/// A fabric whose nodes have several network cards, or links into several networks side by side.
///
/// A message goes in and out by cards of the same number: its plane.
pub trait Planes: Send + Sync {
    /// Number of planes.
    fn planes(&self) -> u32;

    /// The fabric in which a rule finds the ways of one plane; `None` where only the family itself knows them.
    fn within(&self) -> Option<&Arc<Fabric>>;

    /// A node as that fabric has it, and by how much the links of the plane are numbered higher here.
    fn inside(&self, plane: u32, node: NodeId) -> (NodeId, u32);

    /// Whether each plane is a copy of that fabric with links of its own; else all nodes' cards are in the one.
    fn are_apart(&self) -> bool;

    /// The link of a node into a plane.
    fn port(&self, plane: u32, node: NodeId) -> LinkId;

    /// Appends the family's own way within a plane between different nodes, where [`Planes::within`] is `None`.
    fn route_in(&self, plane: u32, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>);
}
