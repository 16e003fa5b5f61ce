//! The two queues of a run against the alternatives, which justifies them.
//!
//! *Finish times* change: the end of one message moves about four others. Hayase uses an indexed 8-ary heap.
//! The alternatives are the crate `priority-queue` and a plain binary heap in which outdated entries stay
//! until they surface.
//!
//! *Events* (starts after latencies, wakes) never change. Hayase uses a binary heap of whole numbers. The
//! alternative is the crate `priority-queue`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use ordered_float::OrderedFloat;
use priority_queue::PriorityQueue;

use crate::{ids, rng, units};

// The queues are private to the rooms that use them.
#[path = "../../crates/core/src/engine/events.rs"]
#[allow(dead_code, unused_imports, reason = "not all of its events are pushed here, and its tests run elsewhere")]
mod events;
#[path = "../../crates/core/src/transport/flow/finish_queue.rs"]
#[allow(dead_code, unused_imports, reason = "its tests run elsewhere")]
mod finish_queue;

/// Number of finish times that the end of one message moves, beside that of the sender's next message.
const MOVED: usize = 4;

type Key = OrderedFloat<f64>;

/// Operations of the flow transport on finish times.
trait FinishTimes {
    fn set(&mut self, flow: u32, time: f64);
    fn pop(&mut self) -> Option<(u32, f64)>;
}

#[derive(Default)]
struct Ours(finish_queue::FinishQueue);

impl FinishTimes for Ours {
    fn set(&mut self, flow: u32, time: f64) {
        self.0.set(flow, time);
    }

    fn pop(&mut self) -> Option<(u32, f64)> {
        let time = self.0.earliest();
        self.0.pop().map(|flow| (flow, time))
    }
}

#[derive(Default)]
struct Indexed(PriorityQueue<u32, Reverse<Key>>);

impl FinishTimes for Indexed {
    fn set(&mut self, flow: u32, time: f64) {
        self.0.push(flow, Reverse(OrderedFloat(time)));
    }

    fn pop(&mut self) -> Option<(u32, f64)> {
        self.0.pop().map(|(flow, Reverse(time))| (flow, time.0))
    }
}

#[derive(Default)]
struct LazyHeap {
    heap: BinaryHeap<Reverse<(Key, u32)>>,
    /// Valid finish time of each flow.
    times: Vec<f64>,
}

impl FinishTimes for LazyHeap {
    fn set(&mut self, flow: u32, time: f64) {
        if self.times.len() <= flow as usize {
            self.times.resize(flow as usize + 1, f64::NAN);
        }
        self.times[flow as usize] = time;
        self.heap.push(Reverse((OrderedFloat(time), flow)));
    }

    fn pop(&mut self) -> Option<(u32, f64)> {
        loop {
            let Reverse((time, flow)) = self.heap.pop()?;
            if self.times[flow as usize] == time.0 {
                self.times[flow as usize] = f64::NAN;
                return Some((flow, time.0));
            }
        }
    }
}

/// Measures the end of one message: its sender's next one starts, and a few others change.
fn finish_times<Q: FinishTimes + Default>(criterion: &mut Criterion, name: &str) {
    let mut group = criterion.benchmark_group("finish-queue");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(700));
    for flows in [54u32, 432, 3456, 65_536] {
        let mut random = rng::Stream::new(1, "queues");
        let mut queue = Q::default();
        for flow in 0..flows {
            queue.set(flow, random.unit());
        }
        // Flows that change and the amounts, drawn in advance.
        let changes: Vec<(u32, f64)> =
            (0..65_536).map(|_| (random.below(u64::from(flows)) as u32, 0.2 + random.unit())).collect();
        let mut change = changes.iter().cycle();
        group.bench_function(BenchmarkId::new(name, flows), |bencher| {
            bencher.iter(|| {
                let Some((flow, now)) = queue.pop() else { return };
                queue.set(flow, now + 1.0);
                for &(flow, left) in change.by_ref().take(MOVED) {
                    queue.set(flow, now + left);
                }
            });
        });
    }
    group.finish();
}

/// Measures one event that causes another one later.
fn event_queue(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("event-queue");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(700));
    for count in [54u32, 3456, 65_536] {
        let mut random = rng::Stream::new(1, "queues");
        let delays: Vec<f64> = (0..65_536).map(|_| random.unit()).collect();
        let mut ours = events::EventQueue::default();
        let mut indexed = Indexed::default();
        for id in 0..count {
            let time = random.unit();
            ours.push(units::Time::from_ps(time), events::Event::Wake(ids::WakeId(id)));
            indexed.set(id, time);
        }
        let mut delay = delays.iter().cycle();
        group.bench_function(BenchmarkId::new("ours", count), |bencher| {
            bencher.iter(|| {
                let now = ours.next_time();
                if let (Some(event), Some(delay)) = (ours.pop(now), delay.next()) {
                    ours.push(now + units::Time::from_ps(*delay), event);
                }
            });
        });
        let mut delay = delays.iter().cycle();
        group.bench_function(BenchmarkId::new("priority-queue", count), |bencher| {
            bencher.iter(|| {
                if let (Some((event, now)), Some(delay)) = (indexed.pop(), delay.next()) {
                    indexed.set(black_box(event), now + delay);
                }
            });
        });
    }
    group.finish();
}

pub fn queues(criterion: &mut Criterion) {
    finish_times::<Ours>(criterion, "ours");
    finish_times::<Indexed>(criterion, "priority-queue");
    finish_times::<LazyHeap>(criterion, "lazy-binary-heap");
    event_queue(criterion);
}
