//! Calls to a part, which are those that it would see alone.

use super::*;
use crate::ids::WakeId;

/// Workload that notes its calls. It sends one message from rank 0 to rank 1 at its begin, and one more after
/// a wake.
struct CallRecorder<'a>(&'a std::cell::RefCell<Vec<String>>);

impl Workload for CallRecorder<'_> {
    fn ranks(&self) -> u32 {
        2
    }
    fn messages(&self) -> u64 {
        2
    }
    fn begin(&mut self, requests: &mut Requests) {
        let id = MessageId { src: RankId(0), index: 0 };
        requests.sends.push(SendRequest { id, dst: RankId(1), bytes: 7 });
        requests.wakes.push((Time::from_ps(5.0), WakeId(9)));
    }
    fn delivered(&mut self, now: Time, messages: &[SendRequest], _: &mut Requests) {
        let of = |send: &SendRequest| (send.id.src.0, send.id.index, send.dst.0);
        self.0.borrow_mut().push(format!("{} {:?}", now.ps(), messages.iter().map(of).collect::<Vec<_>>()));
    }
    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        self.0.borrow_mut().push(format!("{} wake {}", now.ps(), wake.0));
        let id = MessageId { src: RankId(1), index: 0 };
        requests.sends.push(SendRequest { id, dst: RankId(0), bytes: 7 });
    }
    fn blocked(&self) -> Vec<Blocked> {
        Vec::new()
    }
}

#[test]
fn a_part_sees_its_own_numbers_and_its_own_time_each_time_that_it_is_done() {
    let told = [std::cell::RefCell::new(Vec::new()), std::cell::RefCell::new(Vec::new())];
    let part = |told, start, repeat| Part {
        ranks: 2,
        start: Time::from_ps(start),
        make: Some(Box::new(move |_| Box::new(CallRecorder(told)) as Box<dyn Workload>)),
        own_clock: true,
        weight: 1.0,
        repeat,
        think: Time::from_ps(1.0),
    };
    let mut joint = Joint::new(vec![part(&told[0], 0.0, Repeat::Times(1)), part(&told[1], 100.0, Repeat::Times(2))]);
    assert_eq!((joint.ranks(), joint.messages()), (4, 6));
    // A fabric on which a message takes 10 ps; events are taken in order of time.
    let mut requests = Requests::default();
    joint.begin(&mut requests);
    let mut events: Vec<(f64, Result<SendRequest, WakeId>)> = Vec::new();
    let mut now = 0.0;
    let mut numbers = Vec::new();
    loop {
        for send in requests.sends.drain(..) {
            numbers.push((send.id.src.0, send.id.index, send.dst.0));
            events.push((now + 10.0, Ok(send)));
        }
        events.extend(requests.wakes.drain(..).map(|(time, wake)| (time.ps(), Err(wake))));
        events.sort_by(|a, b| b.0.total_cmp(&a.0));
        let Some((time, event)) = events.pop() else { break };
        now = time;
        match event {
            Ok(send) => joint.delivered(Time::from_ps(now), &[send], &mut requests),
            Err(wake) => joint.woke(Time::from_ps(now), wake, &mut requests),
        }
    }
    let once = ["5 wake 9", "10 [(0, 0, 1)]", "15 [(1, 0, 0)]"];
    assert_eq!(*told[0].borrow(), once);
    assert_eq!(*told[1].borrow(), [once, once].concat());
    // Every message has a unique number in the joint workload.
    assert_eq!(numbers, [(0, 0, 1), (1, 0, 0), (2, 0, 3), (3, 0, 2), (2, 1, 3), (3, 1, 2)]);
    let runs = joint.runs();
    assert_eq!((runs[0].count, runs[0].ended.ps()), (1, 15.0));
    assert_eq!((runs[1].count, runs[1].begun.ps(), runs[1].ended.ps()), (2, 100.0, 131.0));
    assert_eq!((runs[1].min.ps(), runs[1].max.ps(), runs[1].mean().ps()), (15.0, 15.0, 15.0));
}

#[test]
fn work_that_takes_no_time_does_not_go_on_for_ever() {
    struct Nothing;
    impl Workload for Nothing {
        fn ranks(&self) -> u32 {
            1
        }
        fn messages(&self) -> u64 {
            0
        }
        fn begin(&mut self, _: &mut Requests) {}
        fn delivered(&mut self, _: Time, _: &[SendRequest], _: &mut Requests) {}
        fn woke(&mut self, _: Time, _: WakeId, _: &mut Requests) {}
        fn blocked(&self) -> Vec<Blocked> {
            Vec::new()
        }
    }
    for (repeat, count) in [
        (Repeat::Times(u64::MAX), u64::MAX),
        (Repeat::Until(Time::from_ps(1e12)), 1),
        (Repeat::Background(Some(Time::from_ps(1e12))), 1),
    ] {
        let make: Box<dyn FnMut(Time) -> Box<dyn Workload>> = Box::new(|_| Box::new(Nothing));
        let (start, think, weight) = (Time::ZERO, Time::ZERO, 1.0);
        let part = Part { ranks: 1, start, make: Some(make), own_clock: true, weight, repeat, think };
        let mut joint = Joint::new(vec![part]);
        joint.begin(&mut Requests::default());
        assert_eq!(joint.runs()[0].count, count, "{repeat:?}");
    }
}
