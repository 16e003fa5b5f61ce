//! Decomposition of the flow of one source into weighted paths.
use super::{Flow, Links};

/// Smallest share of a destination's bytes that a path keeps.
const SMALLEST: f64 = 1e-6;

/// Path of part of the bytes from a source to a destination.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Destination vertex.
    pub to: u32,
    /// Links from the source to the destination.
    pub links: Vec<u32>,
    /// Share of the destination's bytes; the shares of each destination sum to 1.
    pub share: f64,
}

/// Returns the paths that the bytes of one source take, by destination and largest share first.
///
/// `row` holds the destinations and their bytes, as [`super::Demand::of`] returns them. Each path goes backwards from
/// its destination over the link with the most bytes left. Cycles are removed, and shares below 1e-6 are left to
/// the other paths of the destination. Cost: O(paths x hops x links of a vertex + links), with at most
/// links + destinations paths.
pub fn paths(links: &Links, source: u32, row: &[(u32, f64)], flow: &Flow) -> Vec<Path> {
    let mut walk = Walk::new(links, flow);
    let mut result = Vec::new();
    for &(to, bytes) in row {
        let mut found: Vec<(f64, Vec<u32>)> = Vec::new();
        let mut due = bytes;
        while due > bytes * SMALLEST / 10.0 {
            let Some((part, path)) = walk.take(source, to, due) else { break };
            due -= part;
            found.push((part, path));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let kept = found.iter().take_while(|(part, _)| *part >= SMALLEST * bytes).count().max(1);
        found.truncate(kept);
        let sum: f64 = found.iter().map(|(part, _)| part).sum();
        result.extend(found.into_iter().map(|(part, links)| Path { to, links, share: part / sum }));
    }
    result
}

/// Backward walk over the bytes that no path has taken yet.
pub(super) struct Walk<'a> {
    links: &'a Links,
    /// Bytes left on each link \[B\].
    left: Vec<f64>,
    /// Number of links between each vertex of the walk and its destination.
    depth: Vec<Option<usize>>,
}

impl<'a> Walk<'a> {
    pub fn new(links: &'a Links, flow: &Flow) -> Self {
        let mut left = vec![0.0; links.ends().len()];
        flow.iter().for_each(|(link, bytes)| left[link as usize] = bytes);
        Self { links, left, depth: vec![None; links.vertices()] }
    }

    /// Removes a path with at most `due` bytes; returns `None` if no bytes are left on the way.
    pub fn take(&mut self, source: u32, to: u32, due: f64) -> Option<(f64, Vec<u32>)> {
        let (mut path, mut vertex) = (Vec::new(), to);
        while vertex != source {
            if let Some(start) = self.depth[vertex as usize] {
                // The walk is back at this vertex: the links since then are a cycle.
                self.drop_end(&mut path, start);
            }
            let left = |link: u32| self.left[link as usize];
            let last = self.links.into(vertex).iter().max_by(|a, b| left(a.0).total_cmp(&left(b.0)));
            match last.filter(|last| left(last.0) > 0.0) {
                Some(&(link, from)) => {
                    self.depth[vertex as usize] = Some(path.len());
                    path.push(link);
                    vertex = from;
                }
                None if path.is_empty() => return None,
                None => {
                    // Rounding left bytes on a link that nothing arrives at.
                    self.drop_end(&mut path, 0);
                    vertex = to;
                }
            }
        }
        let part = self.subtract(&path, due);
        path.iter().for_each(|&link| self.depth[self.links.ends()[link as usize].1 as usize] = None);
        path.reverse();
        Some((part, path))
    }

    /// Cuts the walk back to its first `start` links and takes the bytes that all links after them have.
    fn drop_end(&mut self, path: &mut Vec<u32>, start: usize) {
        self.subtract(&path[start..], f64::INFINITY);
        path.drain(start..).for_each(|link| self.depth[self.links.ends()[link as usize].1 as usize] = None);
    }

    /// Takes as many bytes as all the links have, at most `most`, from each of them; returns their number.
    fn subtract(&mut self, links: &[u32], most: f64) -> f64 {
        let part = links.iter().map(|&link| self.left[link as usize]).fold(most, f64::min);
        links.iter().for_each(|&link| self.left[link as usize] -= part);
        part
    }
}
