//! Exact optima of a linear program.
use super::*;
use serde_json::Value;

/// Optima of a linear program, with the network and demand of each.
const REFERENCES: &str = include_str!("../../../../../../validation/optimum/linear-program.jsonl");

/// Reads the network and demand of a row; the floor is the time of the busiest port of a host.
fn case(definition: &Value) -> Case {
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    let list = |name: &str| definition[name].as_array().unwrap();
    let switches = number(&definition["switches"]);
    let hosts: Vec<usize> = list("host_switch").iter().map(number).collect();
    let links: Vec<_> =
        list("links").iter().map(|l| (number(&l[0]) as u32, number(&l[1]) as u32, l[2].as_f64().unwrap())).collect();
    let n = hosts.len();
    let bytes = |a: usize, b: usize| match &definition["demand"] {
        Value::Null => f64::from(u8::from(a != b)),
        matrix => matrix[a][b].as_f64().unwrap(),
    };
    let port = definition["host_bandwidth"].as_f64().unwrap();
    let floor = (0..n)
        .map(|a| (0..n).map(|b| bytes(a, b)).sum::<f64>().max((0..n).map(|b| bytes(b, a)).sum()))
        .fold(0.0, f64::max)
        / port;
    let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
    let demand = Demand::new(switches, pairs.map(|(a, b)| (hosts[a] as u32, hosts[b] as u32, bytes(a, b))));
    Case { links: Links::new(vec![true; switches], &links), demand, floor }
}

#[test]
fn the_bounds_hold_the_optima_of_the_linear_program() {
    assert!(REFERENCES.lines().count() > 20);
    for line in REFERENCES.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (name, value) = (&row["name"], |column: &str| row[column].as_f64().unwrap());
        let case = case(&row);
        assert!((case.floor - value("host_port_s")).abs() <= 1e-9 * case.floor, "{name}");
        for (floor, expected) in [(0.0, value("links_s")), (case.floor, value("optimum_s"))] {
            let optimum = run(&case, 0.01, floor);
            check(&case, &optimum);
            let (low, high) = (optimum.at_least.max(floor), optimum.reached.max(floor));
            assert!(low <= expected * (1.0 + 1e-6) && high >= expected * (1.0 - 1e-6), "{name} {low} {high}");
            assert!(high <= low * 1.01 * (1.0 + 1e-12), "{name} {low} {high}");
            let port_bound = floor > 0.0 && value("links_s") < floor * 0.999;
            assert!(!port_bound || optimum.is_exact, "{name}");
        }
    }
}
