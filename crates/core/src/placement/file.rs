//! Placements from files.

use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::Fabric;
use crate::ids::NodeId;
use crate::reading::csv::{self, Column};
use crate::units::count;

/// `[placement.file]`: a CSV file `rank,node` that names each rank once. For several jobs one file
/// `job,rank,node` may place all of them.
#[spec]
#[cfg_attr(feature = "schema", schemars(rename = "PlacementFile"))]
pub struct FileSpec {
    /// Path of the file, relative to the one that names it.
    pub path: Located<String>,
}

/// Columns of a placement file.
pub const COLUMNS: [Column; 3] = [Column::required("rank"), Column::required("node"), Column::optional("job")];
const RANK: usize = 0;
const NODE: usize = 1;
const JOB: usize = 2;

impl FileSpec {
    /// Returns the node of each rank, with up to `per_node` ranks on a node. For several jobs, `job` is the position of
    /// one among all names, and its ranks are returned.
    pub(super) fn nodes(
        &self,
        (ranks, per_node): (usize, u32),
        fabric: &Fabric,
        job: Option<(usize, &[&str])>,
        sources: &Sources,
    ) -> Result<Vec<NodeId>, Vec<Diagnostic>> {
        let input = sources.open(&self.path).map_err(|diagnostic| vec![diagnostic])?;
        let file = input.name().to_owned();
        // Node of each rank and last rank of each node, each with its line (0: none yet), and ranks of each node.
        let mut node_of = vec![(NodeId(0), 0); ranks];
        let mut rank_on = vec![(0, 0); fabric.nodes() as usize];
        csv::read(input, &COLUMNS, |row| {
            if !is_meant(row, job) {
                return;
            }
            let rank = row.number(RANK, "rank", ranks as u32);
            let node = row.number(NODE, "node", fabric.nodes());
            let (Some(rank), Some(node)) = (rank, node) else { return };
            let (at, on) = (&mut node_of[rank as usize], &mut rank_on[node as usize]);
            if at.1 != 0 {
                let diagnostic = Diagnostic::new("duplicate-rank", format!("rank {rank} has a node already"));
                row.mistake(RANK, diagnostic.label(format!("line {} places it on node {}", at.1, at.0)));
            } else if on.1 == per_node {
                let has = count(per_node.into(), "rank", "ranks");
                let diagnostic = Diagnostic::new("duplicate-node", format!("node {node} has {has} already"));
                let diagnostic = diagnostic.label(format!("line {} places one on it", on.0));
                row.mistake(NODE, diagnostic.help("several ranks share a node with `ranks-per-node`"));
            } else {
                *at = (NodeId(node), row.line());
                *on = (row.line(), on.1 + 1);
            }
        })?;
        let missing: Vec<usize> = (0..ranks).filter(|&rank| node_of[rank].1 == 0).collect();
        match missing[..] {
            [] => Ok(node_of.into_iter().map(|(node, _)| node).collect()),
            [first, ..] => {
                let of = job.map_or(String::new(), |(index, names)| format!(" of job `{}`", names[index]));
                let message = match missing.len() {
                    1 => format!("`{file}` gives rank {first}{of} no node"),
                    n => format!("`{file}` gives {n} of the {ranks} ranks{of} no node; the first is rank {first}"),
                };
                let diagnostic = Diagnostic::new("missing-rank", message).at_value(&self.path);
                Err(vec![diagnostic.help("add a line `rank,node` for each")])
            }
        }
    }
}

/// Returns true if a line belongs to this job; without a column of jobs each line does.
fn is_meant(row: &mut csv::Row<'_>, job: Option<(usize, &[&str])>) -> bool {
    if !row.has(JOB) {
        return true;
    }
    let Some(named) = row.text(JOB) else { return false };
    let (index, names) = job.unwrap_or((0, &[]));
    match names.iter().position(|name| *name == named) {
        Some(position) => position == index,
        None => {
            let diagnostic = Diagnostic::new("unknown-name", format!("there is no job `{named}`"));
            let diagnostic = match names {
                [] => diagnostic.label("the ranks are those of one work").help("leave out the column `job`"),
                _ => diagnostic.help(format!("there are: {}", names.join(", "))),
            };
            row.mistake(JOB, diagnostic);
            false
        }
    }
}
