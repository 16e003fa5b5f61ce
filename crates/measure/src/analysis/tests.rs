//! A network is recognised from noisy measurements of it; if the processor does the work of the network, that
//! is reported.

use super::*;
use crate::Sizes;
use crate::protocol::Times;
use hayase::prediction::communication::Communication;
use hayase::units::Time;

const SYNC: u64 = 4040;

/// Returns repetitions with noise that only adds, as on a machine that is busy with other work.
fn repetitions(stream: &mut Stream, ns: f64) -> Vec<f64> {
    let mut one = || {
        let disturbed = if stream.unit() < 0.2 { 5.0 * stream.unit() } else { 0.0 };
        ns * (1.0 + 0.02 * stream.unit() + disturbed)
    };
    (0..40).map(|_| one()).collect()
}

/// Returns the receive time in the row of this size.
fn receive(data: &Communication, bytes: u64) -> Time {
    data.times.iter().find(|row| row.size == Bytes(bytes)).unwrap().receive
}

/// Returns the measurements of two processes whose operations take `time(kind, k, w)` \[ns\].
fn measured(seed: u64, time: impl Fn(MeasurementKind, u64, f64) -> f64) -> Measured {
    let mut stream = Stream::new(seed, "measured");
    let mut times = Vec::new();
    for bytes in (Sizes { largest: 1 << 18, ..Sizes::default() }).all(Some(SYNC)) {
        let trip = time(MeasurementKind::RoundTrip, bytes, 0.0);
        for (kind, work_ns) in [
            (MeasurementKind::RoundTrip, 0.0),
            (MeasurementKind::RoundTrip, 3.0 * trip),
            (MeasurementKind::Send, 0.0),
            (MeasurementKind::Late, 0.0),
        ] {
            // Work is timed where it is done, and its excess is subtracted: the noise is in the rest.
            let rest = repetitions(&mut stream, time(kind, bytes, work_ns) - work_ns);
            let ns = rest.into_iter().map(|ns| ns + work_ns).collect();
            times.push(Times { kind, bytes, work_ns, ns });
        }
    }
    Measured {
        mpi: "MPI 1".into(),
        hosts: vec!["a".into(), "b".into()],
        eager: Some(SYNC),
        times,
        ..Measured::default()
    }
}

/// LogGPS with L, o, Oss, Ors, Gs, Osl, Orl, Gl and s = S.
fn loggps(kind: MeasurementKind, bytes: u64, work: f64, [l, o, oss, ors, gs, osl, orl, gl]: [f64; 8]) -> f64 {
    let k = bytes as f64;
    let waits = bytes > SYNC;
    let first = k.min(SYNC as f64);
    let (per_sent, per_received) = if waits { (osl, orl) } else { (oss, ors) };
    let (send, net, receive) = (o + k * per_sent, l + gs * first + gl * (k - first), o + k * per_received);
    let handshake = 2.0 * o + l;
    match (kind, waits) {
        (MeasurementKind::Send, false) => send,
        (MeasurementKind::Send, true) => send + 2.0 * handshake,
        (MeasurementKind::Late, _) => receive,
        (MeasurementKind::RoundTrip, false) => (send + 2.0 * net + receive - work).max(0.0) + work + send + receive,
        (MeasurementKind::RoundTrip, true) => {
            (net + receive + o + l - work).max(0.0) + work + 2.0 * send + net + receive + 4.0 * handshake - (o + l)
        }
    }
}

fn origin() -> Origin {
    Origin { percentile: 5.0, ..Origin::default() }
}

#[test]
fn the_parameters_of_a_network_are_recognised_and_lie_in_their_intervals() {
    let truth = [850.0, 1700.0, 5.0, 4.7, 15.0, 4.8, 3.9, 6.0];
    let names = ["L", "o", "Oss", "Ors", "Gs", "Osl"];
    for seed in 0..3 {
        let found = analyse(&measured(seed, |kind, k, w| loggps(kind, k, w, truth)), origin()).unwrap();
        let data = &found.communication;
        for (name, truth) in names.into_iter().zip(truth) {
            let parameter = data.parameters.iter().find(|parameter| parameter.name == name).unwrap();
            let (value, [low, high]) = (parameter.value.unwrap(), parameter.interval.unwrap());
            assert!((value / truth - 1.0).abs() < 0.25, "{parameter:?}, truly {truth}");
            // The noise is at most 2 %, so all intervals lie a little high.
            let room = 0.05 * truth;
            assert!(low - room <= truth && truth <= high + room, "{parameter:?}, truly {truth}");
        }
        // Orl counts for all bytes and Gl for those beyond s: little separates them, but their sum is well
        // determined.
        assert!((data.parameter("Orl + Gl").unwrap() / 9.9 - 1.0).abs() < 0.15, "{:?}", data.parameters);
        assert_eq!(data.limits.sync, Some(Bytes(SYNC)));
        // The fifth percentile is within the small noise of the exact value.
        let time = loggps(MeasurementKind::RoundTrip, 1024, 0.0, truth) / 2.0;
        assert!((receive(data, 1024).ps() / 1e3 / time - 1.0).abs() < 0.02);
        assert!(receive(data, SYNC + 1) > receive(data, SYNC), "the handshake shows as a jump");
    }
}

/// Processes of one host: the sender copies, the receiver copies, there is nothing left to hide, and some of
/// it runs in parallel.
#[test]
fn where_processors_copy_latency_and_gap_are_not_identifiable_but_sums_are() {
    let shared = |kind, bytes: u64, work: f64| {
        let k = bytes as f64;
        let (start, slope) = if bytes > SYNC { (1800.0, 0.12) } else { (230.0, 0.08) };
        let copied = if bytes > SYNC { 0.0 } else { 0.04 * k + 90.0 };
        let one_way = start + slope * k;
        match kind {
            MeasurementKind::Send if bytes > SYNC => one_way,
            MeasurementKind::Send | MeasurementKind::Late => 130.0 + 0.055 * k,
            MeasurementKind::RoundTrip if work > 0.0 => {
                work + 300.0 + 2.0 * copied + if bytes > SYNC { one_way } else { 0.0 }
            }
            MeasurementKind::RoundTrip => 2.0 * one_way,
        }
    };
    let found = analyse(&measured(1, shared), origin()).unwrap();
    let unknown = found.unknown();
    assert!(unknown.contains(&"L") || unknown.contains(&"Gs"), "{:?}", found.communication.parameters);
    let sum = found.communication.parameter("Oss + Ors + Gs").unwrap();
    assert!((0.05..0.12).contains(&sum), "{sum}");
    for (line, slope) in found.communication.lines.iter().zip([0.08, 0.12]) {
        assert!((line.slope_ns / slope - 1.0).abs() < 0.05, "{line:?}");
        assert!(line.slope_interval[0] <= line.slope_ns && line.slope_ns <= line.slope_interval[1], "{line:?}");
    }
    let machine = found.machine("test");
    assert!(machine.contains("not identifiable") && machine.contains("S = \"4040 B\""), "{machine}");
}

#[test]
fn the_same_measurements_give_the_same_intervals() {
    let measured = measured(5, |kind, k, w| loggps(kind, k, w, [1e3, 500.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]));
    assert_eq!(analyse(&measured, origin()).unwrap(), analyse(&measured, origin()).unwrap());
}

#[test]
fn what_is_written_for_calibration_is_read_by_it() {
    let measured = measured(2, |kind, k, w| loggps(kind, k, w, [1e3, 500.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]));
    let text = samples_csv(&measured);
    let input = hayase::reading::Input::from_bytes("x.csv", text.clone().into());
    assert_eq!(calibrate::read(input).unwrap().len(), text.lines().count() - 1);
    let none = Measured { times: Vec::new(), ..measured };
    assert_eq!(analyse(&none, origin()).unwrap_err().code, "too-few-measurements");
}

/// Noise of a machine on which each process often loses the processor for milliseconds.
#[test]
fn a_size_whose_repetitions_were_all_disturbed_is_held_down_by_longer_ones() {
    let truth = [850.0, 1700.0, 5.0, 4.7, 15.0, 4.8, 3.9, 6.0];
    let mut measured = measured(4, |kind, k, w| loggps(kind, k, w, truth));
    for times in measured.times.iter_mut().filter(|times| [16, 48, 96].contains(&times.bytes) && times.work_ns == 0.0) {
        times.ns.iter_mut().for_each(|ns| *ns += 8e6);
    }
    let found = analyse(&measured, origin()).unwrap();
    let time = loggps(MeasurementKind::RoundTrip, 64, 0.0, truth) / 2.0;
    assert!((receive(&found.communication, 48).ps() / 1e3 / time - 1.0).abs() < 0.05);
    assert!(!found.is_disturbed(), "three sizes are few");
    let row = found.communication.times.iter().find(|row| row.size == Bytes(48)).unwrap();
    assert!(row.median > row.receive + Time::from_ps(1e9), "the median tells of the disturbance");
}

/// S is measured without a clock. Calibrating from the same measurements gives the same S, however noisy
/// times are.
#[test]
fn calibration_has_the_s_that_was_measured() {
    for (seed, eager) in [(0, Some(SYNC)), (1, Some(SYNC)), (2, Some(3000)), (3, None)] {
        let measured = measured(seed, |kind, k, w| loggps(kind, k, w, [1e3, 500.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]));
        let measured = Measured { eager, ..measured };
        let found = analyse(&measured, origin()).unwrap();
        let input = hayase::reading::Input::from_bytes("x.csv", samples_csv(&measured).into());
        let again = calibrate::calibrate(&calibrate::read(input).unwrap(), &Options::default()).unwrap();
        assert_eq!(found.communication.limits.sync, eager.map(Bytes));
        assert_eq!(again.sync.map(|sync| sync.bytes), eager, "seed {seed}");
        assert_eq!(found.calibration.sync.map(|sync| sync.bytes), eager);
    }
}
