//! Bytes that each link carried for each of several jobs.

use crate::ids::{Id, LinkId};
use crate::network::Network;
use crate::record::JobRecord;
use crate::report::JobsLink;
use crate::units::Time;

/// Returns all links by id. Their utilisation is relative to the makespan.
pub(super) fn of_jobs(network: &Network, jobs: &[JobRecord], makespan: Time) -> Vec<JobsLink> {
    let fabric = network.most();
    let link = |(id, name): (LinkId, String)| {
        let by_job: Vec<u64> = jobs.iter().map(|job| job.links[id]).collect();
        let bytes: u64 = by_job.iter().sum();
        let capacity_bps = fabric.link(id).capacity.bytes_per_second();
        let could = capacity_bps * makespan.seconds();
        let utilisation = if could > 0.0 { bytes as f64 / could } else { 0.0 };
        JobsLink { id: id.index() as u32, name, capacity_bps, bytes, utilisation, by_job }
    };
    fabric.links().ids().zip(fabric.link_names()).map(link).collect()
}
