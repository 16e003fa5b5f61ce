//! Which links form rings, for what keeps packets on them from waiting for each other in a circle.

use crate::fabric::{Fabric, Ring};

/// No ring.
const NONE: u8 = u8::MAX;

/// The rings that the fabric's family knows of: on a torus the links of each dimension whose ends are joined.
#[derive(Debug)]
pub(super) struct Rings {
    /// By link: the dimension along which it is part of a ring.
    dim: Vec<u8>,
    /// By link: whether it closes its ring.
    closing: Vec<bool>,
}

impl Rings {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let links = fabric.links().len();
        let mut rings = Self { dim: vec![NONE; links], closing: vec![false; links] };
        for Ring { link, dimension, closes } in fabric.family().rings() {
            rings.dim[link.0 as usize] = dimension;
            rings.closing[link.0 as usize] = closes;
        }
        rings
    }

    /// Whether a link is part of a ring.
    #[inline]
    pub(super) fn holds(&self, link: u32) -> bool {
        self.dim[link as usize] != NONE
    }

    /// Whether a packet that comes over one link and goes on over another stays in its ring.
    #[inline]
    pub(super) fn stays(&self, from: u32, to: u32) -> bool {
        self.dim[from as usize] == self.dim[to as usize] && self.holds(to)
    }

    /// Whether a link closes its ring.
    #[inline]
    pub(super) fn closes(&self, link: u32) -> bool {
        self.closing[link as usize]
    }
}
