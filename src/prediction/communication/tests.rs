//! Tests of tables: they are read and written, and malformed ones are refused at their place.

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
fn a_message_waits_for_its_receiver_above_the_limit_that_was_measured() {
    let data = data(&[(0, 100.0)]);
    assert!(!data.waits(1000) && data.waits(1001));
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
    assert_eq!(place("format = \"hayase-communication-1\"\ntimes = 3\n"), ("wrong-type", Some((2, 9))));
    assert_eq!(place("format = \"hayase-communication-1\"\ntimes = []\n").0, "no-times");
    let rows = "[{ size = \"8 B\", receive = \"1 ns\", median = \"1 ns\", high = \"1 ns\" },\n\
                { size = \"4 B\", receive = \"1\", median = \"1 ns\", high = \"1 ns\" }]";
    assert_eq!(place(&format!("format = \"hayase-communication-1\"\ntimes = {rows}\n")).1, Some((3, 27)));
    let nan = rows.replace("size = \"8 B\"", "repetitions = nan, size = \"8 B\"");
    let mistakes =
        Communication::parse(&format!("format = \"hayase-communication-1\"\ntimes = {nan}\n"), 0).unwrap_err();
    let message = &mistakes[0].message;
    assert!(message.contains("nan") && !message.contains("u64"), "{message}");
    let rows = rows.replace("\"1\"", "\"1 ns\"");
    assert_eq!(place(&format!("format = \"hayase-communication-1\"\ntimes = {rows}\n")).0, "not-ascending");
}
