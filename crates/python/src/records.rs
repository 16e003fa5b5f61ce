//! What is recorded of runs, as columns.

use std::borrow::Cow;

use hayase::player::{Activity, Transfer};
use hayase::record::PathStep;
use hayase::report::replay::RankReport;
use hayase::report::{JobsLink, LinkUse, MessageRecord};

use crate::column::{Column, Columns};

/// Columns of messages.
#[derive(Default)]
pub struct Messages {
    src: Vec<u32>,
    dst: Vec<u32>,
    index: Vec<u32>,
    bytes: Vec<u64>,
    start: Vec<f64>,
    end: Vec<f64>,
}

impl Messages {
    /// What one takes \[B\].
    pub const EACH: u64 = 36;

    /// Nothing yet, with room for so many.
    pub fn with_room(room: usize) -> Self {
        Self {
            src: Vec::with_capacity(room),
            dst: Vec::with_capacity(room),
            index: Vec::with_capacity(room),
            bytes: Vec::with_capacity(room),
            start: Vec::with_capacity(room),
            end: Vec::with_capacity(room),
        }
    }

    /// One more.
    pub fn add(&mut self, message: &MessageRecord) {
        self.src.push(message.src);
        self.dst.push(message.dst);
        self.index.push(message.index);
        self.bytes.push(message.bytes);
        self.start.push(message.start_s);
        self.end.push(message.end_s);
    }

    /// All of them.
    pub fn columns(self) -> Columns {
        vec![
            ("src".into(), Column::U32(self.src)),
            ("dst".into(), Column::U32(self.dst)),
            ("index".into(), Column::U32(self.index)),
            ("bytes".into(), Column::U64(self.bytes)),
            ("start".into(), Column::F64(self.start)),
            ("end".into(), Column::F64(self.end)),
        ]
    }
}

/// Columns of what ranks did.
#[derive(Default)]
pub struct Activities {
    rank: Vec<u32>,
    kind: Vec<&'static str>,
    begin: Vec<f64>,
    end: Vec<f64>,
    op: Vec<u32>,
    message: Vec<i64>,
    peer: Vec<i64>,
}

impl Activities {
    /// One more.
    pub fn add(&mut self, activity: &Activity) {
        self.rank.push(activity.rank.0);
        self.kind.push(activity.kind.name());
        self.begin.push(activity.begin.seconds());
        self.end.push(activity.end.seconds());
        self.op.push(activity.op);
        self.message.push(activity.message.map_or(-1, i64::from));
        self.peer.push(activity.peer.map_or(-1, |peer| i64::from(peer.0)));
    }

    /// All of them.
    pub fn columns(self) -> Columns {
        vec![
            ("rank".into(), Column::U32(self.rank)),
            ("kind".into(), Column::texts(self.kind)),
            ("begin".into(), Column::F64(self.begin)),
            ("end".into(), Column::F64(self.end)),
            ("op".into(), Column::U32(self.op)),
            ("message".into(), Column::I64(self.message)),
            ("peer".into(), Column::I64(self.peer)),
        ]
    }
}

/// Columns of the messages of a program.
#[derive(Default)]
pub struct Transfers {
    message: Vec<u32>,
    src: Vec<u32>,
    dst: Vec<u32>,
    bytes: Vec<u64>,
    start: Vec<f64>,
    leave: Vec<f64>,
    arrive: Vec<f64>,
    end: Vec<f64>,
}

impl Transfers {
    /// One more.
    pub fn add(&mut self, transfer: &Transfer) {
        self.message.push(transfer.message);
        self.src.push(transfer.src.0);
        self.dst.push(transfer.dst.0);
        self.bytes.push(transfer.bytes);
        self.start.push(transfer.called.seconds());
        self.leave.push(transfer.leave.seconds());
        self.arrive.push(transfer.arrive.seconds());
        self.end.push(transfer.end.seconds());
    }

    /// All of them.
    pub fn columns(self) -> Columns {
        vec![
            ("message".into(), Column::U32(self.message)),
            ("src".into(), Column::U32(self.src)),
            ("dst".into(), Column::U32(self.dst)),
            ("bytes".into(), Column::U64(self.bytes)),
            ("start".into(), Column::F64(self.start)),
            ("leave".into(), Column::F64(self.leave)),
            ("arrive".into(), Column::F64(self.arrive)),
            ("end".into(), Column::F64(self.end)),
        ]
    }
}

/// A column of a figure of each.
fn figures<T>(of: &[T], figure: impl Fn(&T) -> f64) -> Column {
    Column::F64(of.iter().map(figure).collect())
}

/// What links did in the run of a pattern.
pub fn links(links: &[LinkUse]) -> Columns {
    vec![
        ("id".into(), Column::U32(links.iter().map(|link| link.id).collect())),
        ("name".into(), Column::texts(links.iter().map(|link| link.name.as_str()))),
        ("capacity".into(), figures(links, |link| link.capacity_bps)),
        ("bytes".into(), Column::U64(links.iter().map(|link| link.bytes).collect())),
        ("busy".into(), figures(links, |link| link.busy_s)),
        ("utilisation".into(), figures(links, |link| link.utilisation)),
        ("peak_flows".into(), Column::U32(links.iter().map(|link| link.peak_flows).collect())),
        ("mean_flows".into(), figures(links, |link| link.mean_flows)),
        ("peak_queue".into(), Column::U32(links.iter().map(|link| link.peak_queue).collect())),
        ("mean_queue".into(), figures(links, |link| link.mean_queue)),
        ("blocked".into(), figures(links, |link| link.blocked_s)),
        ("delay".into(), figures(links, |link| link.delay_s)),
    ]
}

/// What links carried of jobs.
pub fn job_links(links: &[JobsLink], jobs: &[&str]) -> Columns {
    let mut columns: Columns = vec![
        ("id".into(), Column::U32(links.iter().map(|link| link.id).collect())),
        ("name".into(), Column::texts(links.iter().map(|link| link.name.as_str()))),
        ("capacity".into(), figures(links, |link| link.capacity_bps)),
        ("bytes".into(), Column::U64(links.iter().map(|link| link.bytes).collect())),
        ("utilisation".into(), figures(links, |link| link.utilisation)),
    ];
    for (number, job) in jobs.iter().enumerate() {
        let bytes = links.iter().map(|link| link.by_job.get(number).copied().unwrap_or(0)).collect();
        columns.push((Cow::Owned(format!("bytes of {job}")), Column::U64(bytes)));
    }
    columns
}

/// Where the time of ranks went.
pub fn of_ranks(ranks: &[RankReport]) -> Columns {
    vec![
        ("rank".into(), Column::U32(ranks.iter().map(|rank| rank.rank).collect())),
        ("end".into(), figures(ranks, |rank| rank.end_s)),
        ("compute".into(), figures(ranks, |rank| rank.compute_s)),
        ("send_overhead".into(), figures(ranks, |rank| rank.send_overhead_s)),
        ("recv_overhead".into(), figures(ranks, |rank| rank.recv_overhead_s)),
        ("send_wait".into(), figures(ranks, |rank| rank.send_wait_s)),
        ("recv_wait".into(), figures(ranks, |rank| rank.recv_wait_s)),
        ("sync".into(), figures(ranks, |rank| rank.sync_s)),
    ]
}

/// The steps of the critical path.
pub fn of_path(path: &[PathStep]) -> Columns {
    let known = |number: Option<u32>| number.map_or(-1, i64::from);
    vec![
        ("rank".into(), Column::U32(path.iter().map(|step| step.rank.0).collect())),
        ("kind".into(), Column::texts(path.iter().map(|step| step.kind.name()))),
        ("begin".into(), figures(path, |step| step.begin.seconds())),
        ("end".into(), figures(path, |step| step.end.seconds())),
        ("op".into(), Column::I64(path.iter().map(|step| known(step.op)).collect())),
        ("message".into(), Column::I64(path.iter().map(|step| known(step.message)).collect())),
        ("peer".into(), Column::I64(path.iter().map(|step| known(step.peer.map(|peer| peer.0))).collect())),
    ]
}
