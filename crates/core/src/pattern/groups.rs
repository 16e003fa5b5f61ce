//! Groups of ranks: those of the fabric, or of a given size.

use super::FabricInfo;
use crate::diagnostic::{Diagnostic, Located};

/// Groups of ranks.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// Group of each rank.
    of: Vec<u32>,
    /// Ranks of each group, ascending.
    members: Vec<Vec<u32>>,
}

impl Groups {
    /// Divides ranks into groups: those of the fabric (rank r is in the group of node r), or `size`
    /// consecutive ranks each.
    ///
    /// # Errors
    /// The fabric has no groups and no size is given, or the size is 0.
    pub fn new(fabric: &dyn FabricInfo, ranks: u32, size: Option<&Located<u32>>) -> Result<Self, Vec<Diagnostic>> {
        let of: Vec<u32> = match size {
            Some(size) if **size == 0 => {
                let wrong = Diagnostic::new("bad-groups", "a group has at least one rank").at_value(size);
                return Err(vec![wrong.label("a number above 0")]);
            }
            Some(size) => (0..ranks).map(|rank| rank / **size).collect(),
            None => {
                let Some(groups) = fabric.groups().filter(|groups| !groups.is_empty()) else {
                    let message = "this pattern needs groups of ranks, and no fabric defines them";
                    let wrong = Diagnostic::new("no-groups", message);
                    return Err(vec![
                        wrong.help("write `group-size = 32`, or choose a fabric with groups (a dragonfly)"),
                    ]);
                };
                (0..ranks as usize).map(|rank| groups[rank % groups.len()]).collect()
            }
        };
        // If there are fewer ranks than nodes, some groups may be empty.
        let mut present = of.clone();
        present.sort_unstable();
        present.dedup();
        let of: Vec<u32> = of.iter().map(|group| present.partition_point(|other| other < group) as u32).collect();
        let mut members = vec![Vec::new(); present.len()];
        of.iter().zip(0..).for_each(|(&group, rank)| members[group as usize].push(rank));
        Ok(Self { of, members })
    }

    /// Number of groups.
    pub fn count(&self) -> u32 {
        self.members.len() as u32
    }

    /// Group of a rank.
    pub fn of(&self, rank: u32) -> u32 {
        self.of[rank as usize]
    }

    /// Ranks of a group, ascending.
    pub fn members(&self, group: u32) -> &[u32] {
        &self.members[group as usize]
    }
}
