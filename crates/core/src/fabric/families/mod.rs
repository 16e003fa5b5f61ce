//! Families with their own arithmetic: trees, grids, grids of crossbars.

mod crossbar_grid;
mod grid;
mod tree;

use super::{Fabric, LinkRole};
use crate::ids::LinkId;
use crate::units::{Bandwidth, Time};

/// Largest number of nodes in a picture that represents a larger fabric.
const FEW_NODES: u32 = 64;
/// Largest number of nodes along one dimension of a grid that is drawn completely, and of a ring.
const LONGEST_ROW: u32 = 40;
const LONGEST_RING: u32 = 128;

/// Returns the bandwidth and latency of the first link with this role.
fn like(fabric: &Fabric, role: LinkRole) -> (Bandwidth, Time) {
    let link = fabric.links().iter().find(|link| link.role == role).or_else(|| fabric.links().iter().next());
    link.map_or((Bandwidth::from_bytes_per_second(0.0), Time::ZERO), |link| (link.capacity, link.latency))
}

/// Returns true if a grid of this size has rows too long to be drawn.
fn has_long_rows(dims: &[u32]) -> bool {
    let ring = dims.iter().filter(|&&dim| dim > 1).count() == 1;
    dims.iter().any(|&dim| dim > if ring { LONGEST_RING } else { LONGEST_ROW })
}

/// Returns shorter dimensions for a picture.
fn shorter(dims: &[u32]) -> Vec<u32> {
    let mut small = dims.to_vec();
    let nodes = |dims: &[u32]| dims.iter().map(|&dim| u64::from(dim)).product::<u64>();
    // Three nodes show how ends are joined; from the fourth dimension on, two or one must do.
    for least in [|_| 3, |dim| if dim < 3 { 3 } else { 2 }, |dim| if dim < 3 { 3 } else { 1 }] as [fn(usize) -> u32; 3]
    {
        while nodes(&small) > u64::from(FEW_NODES) {
            let longest = (0..small.len()).filter(|&dim| small[dim] > least(dim)).max_by_key(|&dim| (small[dim], dim));
            match longest {
                Some(dim) => small[dim] -= 1,
                None => break,
            }
        }
    }
    small
}

/// Returns text such as `4 x 4 x 3`.
fn times(dims: &[u32]) -> String {
    dims.iter().map(u32::to_string).collect::<Vec<_>>().join(" x ")
}

fn instead(small: &[u32], dims: &[u32]) -> String {
    format!("a small member of the family, {} nodes instead of {}", times(small), times(dims))
}

/// Returns true for each position of a grid in the lower half of numbers that grow slowest along the first of
/// these dimensions.
pub fn leading_half(dims: &[u32], slowest_first: &[usize]) -> Vec<bool> {
    let nodes: u32 = dims.iter().product();
    let stride = |dim: usize| dims[..dim].iter().product::<u32>();
    let strides: Vec<(u32, u32)> = slowest_first.iter().map(|&dim| (stride(dim), dims[dim])).collect();
    let number = |node: u32| strides.iter().fold(0, |sum, &(stride, size)| sum * size + node / stride % size);
    (0..nodes).map(|node| number(node) < nodes / 2).collect()
}

/// Returns the bandwidth of the host links from `senders` nodes to `receivers` nodes.
fn host_limit(
    fabric: &Fabric,
    (injection, ejection): (Option<LinkId>, Option<LinkId>),
    senders: f64,
    receivers: f64,
) -> f64 {
    let side = |link: Option<LinkId>, nodes: f64| link.map_or(f64::INFINITY, |link| nodes * fabric.capacity(link));
    side(injection, senders).min(side(ejection, receivers))
}
