use super::*;
use crate::rng::Stream;

const US: f64 = 1e6;

/// A history written in microseconds.
struct HistoryBuilder {
    history: History,
    messages: u32,
}

impl HistoryBuilder {
    fn new(ranks: u32) -> Self {
        Self { history: History::new(ranks, 100_000), messages: 0 }
    }

    fn spent(&mut self, rank: u32, kind: ActivityKind, (begin, end): (f64, f64), other: Option<(u32, u32)>) {
        let [begin, end] = [begin, end].map(|us| Time::from_ps(us * US));
        let (message, peer) = other.unzip();
        self.history.activity(&Activity {
            rank: RankId(rank),
            kind,
            begin,
            end,
            op: 0,
            message,
            peer: peer.map(RankId),
        });
    }

    fn computes(&mut self, rank: u32, span: (f64, f64)) {
        self.spent(rank, ActivityKind::Compute, span, None);
    }

    /// Adds a wait of rank `rank` in this span for a message that `peer` sent at `sent`.
    fn waits(&mut self, rank: u32, (begin, end): (f64, f64), peer: u32, sent: f64) {
        let message = self.messages;
        self.messages += 1;
        self.spent(rank, ActivityKind::RecvWait, (begin, end), Some((message, peer)));
        let [called, arrive] = [sent, end].map(|us| Time::from_ps(us * US));
        self.history.transfer(&Transfer {
            message,
            src: RankId(peer),
            dst: RankId(rank),
            bytes: 8,
            op: None,
            received_by: None,
            called,
            begin: called,
            waited: false,
            leave: called,
            arrive,
            end: arrive,
        });
    }

    fn late(mut self) -> Lateness {
        self.history.sort();
        lateness(&self.history)
    }
}

fn us(time: Time) -> f64 {
    (time.ps() / US * 1e6).round() / 1e6
}

#[test]
fn a_delay_that_travels_goes_back_to_where_it_began() {
    // Rank 0 computes 10 us longer; 1 waits for it, computes 2 us like all ranks, and 2 waits for 1.
    let mut run = HistoryBuilder::new(3);
    run.computes(0, (0.0, 11.0));
    run.computes(1, (0.0, 1.0));
    run.waits(1, (1.0, 11.0), 0, 11.0);
    run.computes(1, (11.0, 13.0));
    run.computes(2, (0.0, 3.0));
    run.waits(2, (3.0, 13.0), 1, 13.0);
    let late = run.late();
    assert_eq!(us(late.ranks[0].by_computing), 20.0);
    assert_eq!((us(late.ranks[0].waited_for), us(late.ranks[1].waited_for)), (10.0, 10.0));
    assert_eq!((us(late.ranks[1].as_it_waited), us(late.ranks[1].caused())), (10.0, 0.0));
    assert_eq!(late.delayed_by(RankId(0)).into_iter().map(us).collect::<Vec<_>>(), [0.0, 10.0, 10.0]);
    assert_eq!(late.network, Time::ZERO);
}

#[test]
fn what_was_waited_for_once_is_not_counted_again() {
    // First 0 is late for 1, then 1 for 0: each by its activities since they were last in step.
    let mut run = HistoryBuilder::new(2);
    run.computes(0, (0.0, 10.0));
    run.computes(1, (0.0, 4.0));
    run.waits(1, (4.0, 10.0), 0, 10.0);
    run.computes(1, (10.0, 18.0));
    run.computes(0, (10.0, 13.0));
    run.waits(0, (13.0, 18.0), 1, 18.0);
    let late = run.late();
    let caused: Vec<f64> = late.ranks.iter().map(|rank| us(rank.by_computing)).collect();
    assert_eq!(caused, [6.0, 5.0]);
    assert!(late.ranks.iter().all(|rank| rank.as_it_waited == Time::ZERO && rank.as_it_sent == Time::ZERO));
}

#[test]
fn a_message_under_way_is_nobodys_delay() {
    // 2 us for the network, 3 us for the sender, which computed 3 us longer.
    let mut run = HistoryBuilder::new(2);
    run.computes(0, (0.0, 7.0));
    run.computes(1, (0.0, 4.0));
    run.waits(1, (4.0, 9.0), 0, 7.0);
    let late = run.late();
    assert_eq!((us(late.ranks[0].caused()), us(late.network)), (3.0, 2.0));
}

#[test]
fn after_something_that_all_do_together_everybody_starts_anew() {
    // At the first barrier 1 is the last, at the second 2, by 5 us, although it had waited for 1 before.
    let times = [[5.0, 5.0], [10.0, 5.0], [2.0, 10.0]];
    let with = |together: bool| {
        let mut run = HistoryBuilder::new(3);
        for (rank, [first, second]) in (0..).zip(times) {
            run.computes(rank, (0.0, first));
            if first < 10.0 {
                run.waits(rank, (first, 10.0), 1, 10.0);
            }
            run.computes(rank, (10.0, 10.0 + second));
            if second < 10.0 {
                run.waits(rank, (10.0 + second, 20.0), 2, 20.0);
            }
        }
        if together {
            run.history.set_common_releases([10.0, 20.0].map(|us| Time::from_ps(us * US)).to_vec());
        }
        run.late()
    };
    let caused = |late: &Lateness| late.ranks.iter().map(|rank| us(rank.by_computing)).collect::<Vec<_>>();
    let late = with(true);
    assert_eq!(caused(&late), [0.0, 5.0 + 8.0, 5.0 + 5.0]);
    assert_eq!(us(late.ranks[2].as_it_waited), 0.0);
    // Without the barriers 0 and 2 were last in step at the start, and part of the wait goes back to 1.
    assert!(caused(&with(false))[1] > 13.0);
    // The same if each rank leaves the operation at a time of its own.
    let mut run = HistoryBuilder::new(2);
    for rank in 0..2 {
        run.computes(rank, (0.0, 4.0 + 2.0 * f64::from(rank)));
    }
    run.computes(0, (6.0, 7.0));
    run.waits(0, (7.0, 9.0), 1, 9.0);
    run.computes(1, (7.0, 9.0));
    run.history.set_common_operations(vec![vec![Time::from_ps(6.0 * US)], vec![Time::from_ps(7.0 * US)]]);
    let late = run.late();
    assert_eq!((us(late.ranks[1].as_it_computed), us(late.ranks[1].as_it_sent)), (1.0, 1.0));
}

#[test]
fn causes_of_any_waits_add_up_to_the_waits() {
    for seed in 0..40 {
        let mut draw = Stream::new(seed, "waits");
        let mut below = |n: u32| draw.below(n.into()) as u32;
        let ranks = 2 + below(6);
        let mut run = HistoryBuilder::new(ranks);
        let mut now = vec![0.0; ranks as usize];
        let mut waited = 0.0;
        for _ in 0..below(200) {
            let rank = below(ranks);
            let at = &mut now[rank as usize];
            let (begin, time) = (*at, f64::from(below(5)));
            *at += time;
            let peer = below(ranks);
            match below(3) {
                0 => run.computes(rank, (begin, begin + time)),
                1 => run.spent(rank, ActivityKind::SendOverhead, (begin, begin + time), Some((0, peer))),
                _ if peer == rank => {}
                _ => {
                    waited += time;
                    // Sometimes it is sent before, or when it arrives.
                    run.waits(rank, (begin, begin + time), peer, begin + f64::from(below(8)) - 2.0);
                }
            }
        }
        let late = run.late();
        let caused: f64 = late.ranks.iter().map(|rank| rank.caused().ps() / US).sum();
        let network = late.network.ps() / US;
        assert!((caused + network - waited).abs() < 1e-6, "seed {seed}: {caused} + {network} of {waited}");
        for (culprit, rank) in (0..).zip(&late.ranks) {
            let delayed: Time = late.delayed_by(RankId(culprit)).into_iter().sum();
            assert!((delayed - rank.caused()).ps().abs() < 1.0, "seed {seed}, rank {culprit}");
            let direct = rank.as_it_computed + rank.as_it_sent;
            assert!(direct <= rank.caused() + Time::from_ps(1.0));
            assert!(direct + rank.as_it_waited <= rank.waited_for + Time::from_ps(1.0));
        }
    }
}
