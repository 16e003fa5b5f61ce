//! Records of several jobs on one fabric, separately for each job.

use super::Fingerprint;
use super::recorder::{OnMessage, Sum};
use super::split::Fractions;
use crate::engine::{Flight, Observer};
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, RankId};
use crate::placement::Placement;
use crate::units::Time;

/// Recorder of the messages of each job and of the bytes that each link carried for it.
pub struct JobsRecorder<'a> {
    /// Record of each job.
    pub jobs: Vec<JobRecord>,
    /// Bytes that each rank sent to, and received from, other nodes \[B\].
    pub ranks: IdVec<RankId, (u64, u64)>,
    /// Fingerprint of the deliveries so far.
    pub fingerprint: Fingerprint,
    /// Job of each rank.
    job_of: Vec<u32>,
    placement: &'a Placement,
    /// Hook that is called with each message when it is delivered.
    pub on_message: Option<OnMessage<'a>>,
}

/// Record of one job.
#[derive(Clone, Debug)]
pub struct JobRecord {
    /// Number of messages delivered.
    pub messages: u64,
    /// Sum of their sizes \[B\].
    pub bytes: u64,
    /// Bytes of the job that each link carried \[B\].
    pub links: IdVec<LinkId, u64>,
    /// Fractions of a byte from split messages that are not yet in `links`.
    fractions: Fractions,
    /// Sum over messages of the time under way \[ps\].
    under_way: Sum,
    /// Sum over messages of the time that each would have taken with the network to itself \[ps\].
    alone: Sum,
}

impl JobRecord {
    /// Returns the total time of messages under way, divided by the total time that they would have taken
    /// with the network to themselves.
    pub fn contention(&self) -> f64 {
        let alone = self.alone.total();
        if alone > 0.0 { self.under_way.total() / alone } else { 1.0 }
    }

    /// Returns the total time of messages under way, and the total time that they would have taken with the
    /// network to themselves.
    pub fn under_way(&self) -> (Time, Time) {
        (Time::from_ps(self.under_way.total()), Time::from_ps(self.alone.total()))
    }
}

impl<'a> JobsRecorder<'a> {
    /// Creates an empty recorder for jobs with these numbers of ranks, one job after another.
    pub fn new(fabric: &Fabric, placement: &'a Placement, ranks: &[u32]) -> Self {
        let links = IdVec::filled(fabric.links().len(), 0);
        let record = JobRecord {
            messages: 0,
            bytes: 0,
            links,
            fractions: Fractions::default(),
            under_way: Sum::default(),
            alone: Sum::default(),
        };
        let job_of = (0..).zip(ranks).flat_map(|(job, &ranks)| std::iter::repeat_n(job, ranks as usize));
        Self {
            jobs: vec![record; ranks.len()],
            ranks: IdVec::filled(placement.len(), (0, 0)),
            fingerprint: Fingerprint::new(placement.len() as u32),
            job_of: job_of.collect(),
            placement,
            on_message: None,
        }
    }

    /// Returns the nodes of a job, by rank.
    pub fn nodes_of(&self, job: usize) -> Vec<u32> {
        let ranks = self.placement.iter().zip(&self.job_of).filter(|&(_, &of)| of as usize == job);
        ranks.map(|(node, _)| node.0).collect()
    }

    /// Returns the job of a rank.
    pub fn job_of(&self, rank: RankId) -> u32 {
        self.job_of[rank.0 as usize]
    }

    /// Rounds the bytes on links to whole bytes that add up.
    pub fn round_to_bytes(&mut self, fabric: &Fabric) {
        self.jobs.iter_mut().for_each(|job| job.fractions.round_to_bytes(&mut job.links, fabric));
    }

    fn count(&mut self, now: Time, flight: &Flight) -> &mut JobRecord {
        let send = &flight.send;
        self.fingerprint.add(now, send);
        if self.placement[send.id.src] != self.placement[send.dst] {
            self.ranks[send.id.src].0 += send.bytes;
            self.ranks[send.dst].1 += send.bytes;
        }
        if let Some(on_message) = &mut self.on_message {
            on_message(now, flight);
        }
        let job = &mut self.jobs[self.job_of[send.id.src.0 as usize] as usize];
        job.messages += 1;
        job.bytes += send.bytes;
        job.under_way.add((now - flight.start).ps(), 1);
        job.alone.add(flight.alone.ps(), 1);
        job
    }
}

impl Observer for JobsRecorder<'_> {
    fn delivered(&mut self, now: Time, flight: &Flight, route: &[LinkId]) {
        let job = self.count(now, flight);
        for &link in route {
            job.links[link] += flight.send.bytes;
        }
    }

    fn delivered_split(&mut self, now: Time, flight: &Flight, links: &[LinkId], parts: &[f64]) {
        let job = self.count(now, flight);
        job.fractions.add(&mut job.links, flight.send.bytes, links, parts);
    }
}
