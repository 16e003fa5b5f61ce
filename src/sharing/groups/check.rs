//! What must hold between two solves, checked in tests.

use std::collections::BTreeMap;

use super::{Groups, NONE};

impl Groups {
    /// Lists, loads, edges and allowances against what they stand for.
    pub(super) fn check(&self) {
        for id in 0..self.links.len() {
            let (link, lists) = (&self.links[id], &self.lists[id]);
            assert_eq!(
                (link.own, link.count as usize),
                (lists.own.len() as u32, lists.own.len() + lists.foreign.len())
            );
            assert_eq!(link.level, self.levels[id]);
            let (mut granted, mut load) = (0, 0.0);
            for &flow in &lists.own {
                assert_eq!(self.flows.group[flow as usize], id as u32);
                let allowance = self.allowances.rate(flow);
                assert!(allowance >= link.level, "flow {flow} is faster than its allowance");
                assert!(allowance >= link.least, "the allowance of flow {flow} is below the least of its group");
                granted += self.allowances.of(flow);
                load += link.level;
            }
            for (place, &(flow, hop)) in lists.foreign.iter().enumerate() {
                assert_eq!(self.flows.link(flow, hop as usize), id as u32);
                assert_eq!(self.flows.place(flow, hop as usize), place as u32);
                assert_ne!(self.flows.group[flow as usize], NONE);
                granted += self.allowances.of(flow);
                load += self.group_rate(self.flows.group[flow as usize]);
            }
            assert_eq!(granted, self.allowances.granted(id as u32));
            if self.active[id] {
                assert!((load - link.load).abs() <= 1e-9 * link.capacity);
                assert_eq!(link.free, 0);
            } else {
                assert!(granted <= self.allowances.capacity(id as u32), "an inactive link has granted too much");
                assert_eq!((link.own, link.level), (0, f64::INFINITY));
            }
            self.check_edges(id);
        }
    }

    fn check_edges(&self, id: usize) {
        let mut expected: BTreeMap<u32, u32> = BTreeMap::new();
        for &flow in &self.lists[id].own {
            for &other in self.flows.links(flow) {
                if other as usize != id && self.active[other as usize] {
                    *expected.entry(other).or_default() += 1;
                }
            }
        }
        let mut edges = self.lists[id].edges.clone();
        edges.sort_unstable();
        assert_eq!(edges, expected.into_iter().collect::<Vec<_>>());
    }
}
