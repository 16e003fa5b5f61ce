//! Columns of the records of one run.

use std::sync::Arc;

use hayase::columns::{Columns, Quantity};
use hayase::player::{Activity, Transfer};
use hayase::program::{Op, Program};
use hayase::record::PathStep;
use hayase::report::replay::{LateRank, RankReport};
use hayase::report::{LinkUse, MessageRecord, RankDelay, Rate};

/// Returns the columns of messages; `src` and `dst` are ranks, `index` counts the sender's messages from 0.
pub fn messages<'a>() -> Columns<'a, MessageRecord> {
    Columns::<MessageRecord>::new()
        .id("src", |message| message.src)
        .id("dst", |message| message.dst)
        .id("index", |message| message.index)
        .quantity("bytes", Quantity::Bytes, |message| message.bytes)
        .time("start_s", |message| message.start_s)
        .time("end_s", |message| message.end_s)
}

/// Returns the columns of the messages of a program. Unknown values are empty, for example the tag of a
/// message inside a collective.
pub fn transfers<'a>(program: Arc<Program>) -> Columns<'a, Transfer> {
    let program = &program;
    let sent = |figure: fn(&Op) -> u32| {
        let program = Arc::clone(program);
        move |transfer: &Transfer| Some(figure(program.rank(transfer.src).ops.get(transfer.op? as usize)?))
    };
    Columns::<Transfer>::new()
        .id("message", |transfer| transfer.message)
        .id("src", |transfer| transfer.src.0)
        .id("dst", |transfer| transfer.dst.0)
        .id("tag", sent(|op| op.tag))
        .id("comm", sent(|op| op.arg))
        .quantity("bytes", Quantity::Bytes, |transfer| transfer.bytes)
        .id("sent_by", |transfer| transfer.op)
        .id("received_by", |transfer| transfer.received_by)
        .time("called_s", |transfer| transfer.called.seconds())
        .time("leave_s", |transfer| transfer.leave.seconds())
        .time("arrive_s", |transfer| transfer.arrive.seconds())
        .time("end_s", |transfer| transfer.end.seconds())
}

/// Returns the columns of the activities of ranks; `message` and `peer` are empty for activities without a
/// message.
pub fn activities<'a>() -> Columns<'a, Activity> {
    Columns::<Activity>::new()
        .id("rank", |activity| activity.rank.0)
        .text("kind", |activity| activity.kind.name())
        .time("begin_s", |activity| activity.begin.seconds())
        .time("end_s", |activity| activity.end.seconds())
        .id("op", |activity| activity.op)
        .id("message", |activity| activity.message)
        .id("peer", |activity| activity.peer.map(|peer| peer.0))
}

/// Returns the columns of the critical path, one row for each step.
pub fn path<'a>() -> Columns<'a, PathStep> {
    Columns::<PathStep>::new()
        .id("rank", |step| step.rank.0)
        .text("kind", |step| step.kind.name())
        .time("begin_s", |step| step.begin.seconds())
        .time("end_s", |step| step.end.seconds())
        .id("op", |step| step.op)
        .id("message", |step| step.message)
        .id("peer", |step| step.peer.map(|peer| peer.0))
}

/// Returns the columns of a communication matrix: sender, receiver, messages, bytes.
pub fn matrix<'a>() -> Columns<'a, (u32, u32, u64, u64)> {
    Columns::<(u32, u32, u64, u64)>::new()
        .id("src", |pair| pair.0)
        .id("dst", |pair| pair.1)
        .count("messages", |pair| pair.2)
        .quantity("bytes", Quantity::Bytes, |pair| pair.3)
}

/// Returns the columns of the time of ranks by kind of activity.
pub fn ranks<'a>() -> Columns<'a, RankReport> {
    Columns::<RankReport>::new()
        .id("rank", |rank| rank.rank)
        .time("end_s", |rank| rank.end_s)
        .time("compute_s", |rank| rank.compute_s)
        .time("send_overhead_s", |rank| rank.send_overhead_s)
        .time("recv_overhead_s", |rank| rank.recv_overhead_s)
        .time("send_wait_s", |rank| rank.send_wait_s)
        .time("recv_wait_s", |rank| rank.recv_wait_s)
        .time("sync_s", |rank| rank.sync_s)
}

/// Returns the columns of the time of ranks and of their lateness. Lateness is empty unless it is `known`.
pub fn ranks_with_late<'a>(known: bool) -> Columns<'a, (RankReport, Option<&'a LateRank>)> {
    let time = |figure: fn(&LateRank) -> f64| {
        move |(_, late): &(RankReport, Option<&LateRank>)| known.then(|| late.map_or(0.0, figure))
    };
    Columns::<(RankReport, Option<&LateRank>)>::new()
        .join(|(rank, _)| rank, ranks())
        .time("caused_s", time(|late| late.caused_s))
        .time("by_computing_s", time(|late| late.by_computing_s))
        .time("by_sending_s", time(|late| late.by_sending_s))
        .time("waited_for_s", time(|late| late.waited_for_s))
        .time("as_it_computed_s", time(|late| late.as_it_computed_s))
        .time("as_it_sent_s", time(|late| late.as_it_sent_s))
        .time("as_it_waited_s", time(|late| late.as_it_waited_s))
}

/// Returns the columns of the delay of each rank by slow ranks; unknown values are empty.
pub fn noise<'a>() -> Columns<'a, RankDelay> {
    Columns::<RankDelay>::new()
        .id("rank", |rank| rank.rank)
        .time("end_s", |rank| rank.end_s)
        .time("without_s", |rank| rank.without_s)
        .time("delay_s", |rank| rank.delay_s)
        .time("slowed_s", |rank| rank.slowed_s)
        .time("reached_s", |rank| rank.reached_s)
        .id("messages", |rank| rank.messages)
        .id("hops", |rank| rank.hops)
}

/// Returns the columns of links.
pub fn links<'a>() -> Columns<'a, LinkUse> {
    Columns::<LinkUse>::new()
        .id("id", |link| link.id)
        .text("name", |link| &link.name)
        .quantity("capacity_Bps", Quantity::Bandwidth, |link| link.capacity_bps)
        .quantity("bytes", Quantity::Bytes, |link| link.bytes)
        .time("busy_s", |link| link.busy_s)
        .part("utilisation", |link| link.utilisation)
        .id("peak_flows", |link| link.peak_flows)
        .ratio("mean_flows", 2, |link| link.mean_flows)
        .id("peak_queue", |link| link.peak_queue)
        .ratio("mean_queue", 2, |link| link.mean_queue)
        .time("blocked_s", |link| link.blocked_s)
        .time("delay_s", |link| link.delay_s)
}

/// Returns the columns of rates; `bottleneck` is the name of a link, or empty.
pub fn rates<'a>() -> Columns<'a, Rate> {
    Columns::<Rate>::new()
        .id("src", |rate| rate.src)
        .id("dst", |rate| rate.dst)
        .quantity("rate_Bps", Quantity::Bandwidth, |rate| rate.rate_bps)
        .text("bottleneck", |rate| rate.bottleneck.as_deref().unwrap_or_default())
}
