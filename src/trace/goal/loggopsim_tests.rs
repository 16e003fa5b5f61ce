//! Comparison with LogGOPSim's own predictions, to the nanosecond.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::read_text;
use crate::ids::RankId;
use crate::node::LogGopSimSpec;
use crate::noise::{NoiseContext, Numbers, Processors, Slow, Speed, StragglerSpec};
use crate::player::Observers;
use crate::player::loggopsim::play;
use crate::program::Program;
use crate::reading::Input;
use crate::units::{Bytes, PerByte, Time};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("validation/goal")
}

fn rows(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn parameters() -> BTreeMap<String, LogGopSimSpec> {
    let spec = |row: Vec<String>| {
        let value = |at: usize| row[at].parse::<f64>().unwrap();
        let spec = LogGopSimSpec {
            latency: Time::from_ps(value(1) * 1e3).into(),
            o: Time::from_ps(value(2) * 1e3).into(),
            g: Time::from_ps(value(3) * 1e3).into(),
            gap: PerByte::from_ps(value(4) * 1e3).into(),
            overhead: PerByte::from_ps(value(5) * 1e3).into(),
            sync: Bytes(value(6) as u64).into(),
        };
        (row[0].clone(), spec)
    };
    rows("parameters.csv").into_iter().map(spec).collect()
}

fn ends(program: &Program, spec: &LogGopSimSpec) -> Vec<f64> {
    let played = play(program, &spec.host_costs(), (1.0, None), Observers::default(), &|_, _| true);
    assert_eq!((played.stuck.len(), played.interrupted), (0, false));
    played.ranks.iter().map(|rank| rank.end.ps() / 1e3).collect()
}

#[test]
fn every_rank_of_every_case_ends_when_it_does_there() {
    let parameters = parameters();
    let mut expected: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for row in rows("loggopsim.csv") {
        expected.entry((row[0].clone(), row[1].clone())).or_default().push(row[3].parse().unwrap());
    }
    assert_eq!(expected.len(), 27);
    for ((case, set), expected) in expected {
        let text = std::fs::read(folder().join(format!("{case}.goal"))).unwrap();
        let program = read_text(Input::from_bytes(case.clone(), text)).unwrap();
        assert_eq!(ends(&program, &parameters[&set]), expected, "{case} with {set}");
    }
}

#[test]
fn a_slow_processor_slows_o_and_its_bytes_and_leaves_the_network_alone() {
    let slow = |rank: &str| {
        let ranks = Some(Numbers::parse(rank).unwrap().into());
        let half = StragglerSpec {
            ranks,
            nodes: None,
            count: None,
            job: None,
            speed: Speed(0.5).into(),
            start: None,
            until: None,
        };
        let slow =
            Slow::new(None, &[half.into()], &NoiseContext { ranks: 2, ..NoiseContext::default() }).unwrap().unwrap();
        Processors::new(Arc::new(slow), 0, 2, Time::ZERO, None)
    };
    let text = "num_ranks 2\nrank 0 {\na: send 1001b to 1 tag 1\n}\nrank 1 {\na: recv 1001b from 0 tag 1\n}\n";
    let program = read_text(Input::from_bytes("pair.goal".to_owned(), text.as_bytes().to_vec())).unwrap();
    // The bottleneck at the receiver is the wire, then its processor (L = 2500, o = 1500 ns; 1000 bytes count).
    for (gap, overhead) in [(6.0, 0.0), (6.0, 4.0), (1.0, 4.0)] {
        let per_byte = |ns: f64| PerByte::from_ps(ns * 1e3).into();
        let spec = LogGopSimSpec { gap: per_byte(gap), overhead: per_byte(overhead), ..LogGopSimSpec::default() };
        let end = |sender: f64, receiver: f64| {
            let arrival = sender * 1500.0 + 2500.0;
            arrival + receiver * 1500.0 + 1000.0 * f64::max(receiver * overhead, gap)
        };
        for (rank, expected) in [("0", end(2.0, 1.0)), ("1", end(1.0, 2.0))] {
            let played =
                play(&program, &spec.host_costs(), (1.0, Some(slow(rank))), Observers::default(), &|_, _| true);
            assert_eq!(played.ranks[1].end.ps(), expected * 1e3, "rank {rank} slow, G {gap}, O {overhead}");
        }
    }
}

#[test]
fn a_receive_without_a_message_is_named() {
    let text = "num_ranks 2\nrank 0 {\nr: recv 8b from 1 tag 3\nc: calc 5\nc requires r\n}\nrank 1 {\ncalc 7\n}\n";
    let program = read_text(Input::from_bytes("x.goal", text.into())).unwrap();
    let played =
        play(&program, &LogGopSimSpec::default().host_costs(), (1.0, None), Observers::default(), &|_, _| true);
    assert_eq!(played.stuck.len(), 1);
    assert_eq!(played.stuck[0].what, "recv of 8 B from rank 1, tag 3 (x.goal:3)");
    assert_eq!(played.stuck[0].on, Some(RankId(1)));
}
