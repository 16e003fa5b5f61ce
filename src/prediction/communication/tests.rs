//! Tables are read, written and interpolated; what is no table is refused at its place.

use super::*;

fn row(size: u64, ns: f64) -> Row {
    let time = Time::from_ps(ns * 1e3);
    Row { size: Bytes(size), receive: time, median: time, high: time, send: None, late: None, repetitions: 1 }
}

fn data(rows: &[(u64, f64)]) -> Communication {
    Communication {
        format: FORMAT.into(),
        origin: Origin::default(),
        limits: Limits { s: None, sync: Some(Bytes(1000)) },
        times: rows.iter().map(|&(size, ns)| row(size, ns)).collect(),
        lines: Vec::new(),
        parameters: Vec::new(),
    }
}

#[test]
fn times_are_measured_ones_at_measured_sizes_and_lines_between_them() {
    let data = data(&[(0, 100.0), (1000, 300.0), (1001, 2000.0), (2002, 4000.0)]);
    for (bytes, ns) in [(0, 100.0), (500, 200.0), (1000, 300.0), (1001, 2000.0), (2002, 4000.0)] {
        assert_eq!(data.receive_time(bytes).ps(), ns * 1e3, "{bytes} B");
    }
    assert!(!data.waits(1000) && data.waits(1001));
}

#[test]
fn a_message_longer_than_any_measured_goes_on_along_the_last_half() {
    let data = data(&[(1, 1e6), (1000, 1000.0), (1990, 1.0), (2000, 2000.0)]);
    // From the row of 1000 B, half the last, and not from the one right before it, which may be off: 1 ns a byte.
    assert_eq!(data.receive_time(2500).ps(), 2_500e3);
    let falling = self::data(&[(10, 100.0), (20, 50.0)]);
    assert_eq!(falling.receive_time(1 << 40).ps(), 50e3, "never below the last");
    assert_eq!(self::data(&[(8, 70.0)]).receive_time(1 << 20).ps(), 70e3);
    assert_eq!(self::data(&[(8, 70.0)]).receive_time(0).ps(), 70e3);
}

#[test]
fn a_column_that_was_not_measured_everywhere_is_interpolated_over_the_gap() {
    let mut data = data(&[(0, 1.0), (10, 2.0), (20, 3.0)]);
    assert_eq!(data.send_time(10), None);
    data.times[0].send = Some(Time::from_ps(10.0));
    data.times[2].send = Some(Time::from_ps(30.0));
    assert_eq!(data.send_time(10), Some(Time::from_ps(20.0)));
    assert_eq!(data.late_receive_time(10), None);
}

#[test]
fn what_is_written_is_read_back() {
    let mut data = data(&[(0, 231.5), (1000, 812.25), (1001, 3690.0)]);
    data.origin = Origin {
        mpi: "Open MPI 4.1.4".into(),
        launcher: "mpirun -np 2 --host \"a b\"".into(),
        hosts: vec!["a".into(), "b".into()],
        percentile: 5.0,
        seconds: 12.5,
        ..Origin::default()
    };
    data.times[1].send = Some(Time::from_ps(120e3));
    data.lines.push(Line {
        from: Bytes(0),
        to: Bytes(1000),
        start_ns: 230.0,
        slope_ns: 0.58,
        start_interval: [200.0, 260.0],
        slope_interval: [0.5, 0.7],
    });
    let parameter = |name: &str, value| Parameter { name: name.into(), unit: "ns".into(), value, interval: None };
    data.parameters = vec![parameter("L", None), parameter("o", Some(80.0))];
    data.parameters[1].interval = Some([70.0, 95.5]);
    let text = data.to_toml();
    assert_eq!(Communication::parse(&text, 0).unwrap(), data, "{text}");
    assert_eq!((data.parameter("o"), data.parameter("L")), (Some(80.0), None));
}

#[test]
fn what_is_no_communication_data_is_refused_at_its_place() {
    let place = |text: &str| {
        let mut sources = Sources::default();
        let base = sources.add("x.comm", text);
        let mistakes = Communication::parse(text, base).unwrap_err();
        (mistakes[0].code, mistakes[0].place(&sources).map(|place| (place.line, place.column)))
    };
    assert_eq!(place("format = \"hayase-communication-9\"\n"), ("unknown-format", Some((1, 10))));
    assert_eq!(place("a = 1\n").0, "not-communication");
    assert_eq!(place("format = \"hayase-communication-1\"\ntimes = 3\n"), ("not-communication", Some((2, 9))));
    assert_eq!(place("format = \"hayase-communication-1\"\ntimes = []\n").0, "no-times");
    let rows = "[{ size = \"8 B\", receive = \"1 ns\", median = \"1 ns\", high = \"1 ns\" },\n\
                { size = \"4 B\", receive = \"1\", median = \"1 ns\", high = \"1 ns\" }]";
    assert_eq!(place(&format!("format = \"hayase-communication-1\"\ntimes = {rows}\n")).1, Some((3, 27)));
    let rows = rows.replace("\"1\"", "\"1 ns\"");
    assert_eq!(place(&format!("format = \"hayase-communication-1\"\ntimes = {rows}\n")).0, "not-ascending");
}
