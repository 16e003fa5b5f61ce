//! Settings as values of a programming language: numbers in base units (s, B, B/s, s/B), and keys that are
//! valid names.

use serde_json::{Map, Number, Value};

use super::json::write_table;
use super::schema::Node;
use crate::reading::nulls::drop_nulls;

/// Converts a scenario, or a part of one, to TOML for [`Loader::text`](super::Loader::text).
///
/// If the schema expects a quantity, a number is in seconds, bytes, bytes per second or seconds per byte, and
/// gets that unit. An underscore in a key stands for the hyphen of the key's name. Keys that are `null` are
/// left out. In a plan all of this also applies to the keys that are varied. Keys unknown to the schema are
/// written unchanged, so that the reader reports them.
pub fn settings_as_toml(settings: &Map<String, Value>) -> String {
    let mut settings = Value::Object(settings.clone());
    drop_nulls(&mut settings);
    let mut toml = String::new();
    if let Value::Object(mut map) = with_units(settings, Some(&Node::root())) {
        varied(&mut map);
        write_table(&mut toml, "", &map);
    }
    toml
}

/// Adds units to a value that stands at this node of the schema.
fn with_units(value: Value, node: Option<&Node>) -> Value {
    match value {
        Value::Object(map) => Value::Object(map.into_iter().map(|(key, value)| with_key(key, value, node)).collect()),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| with_units(item, node)).collect()),
        Value::Number(number) => match node.and_then(Node::quantity) {
            Some(quantity) => Value::String(text_of(&number, quantity)),
            None => Value::Number(number),
        },
        other => other,
    }
}

/// Adds units to the values that a plan varies. Keys are dotted names, or words that stand for keys of any
/// workload.
fn varied(settings: &mut Map<String, Value>) {
    let root = Node::root();
    let mut tables: Vec<&mut Map<String, Value>> = Vec::new();
    for (key, value) in settings {
        match (key.as_str(), value) {
            ("grid", Value::Object(table)) => tables.push(table),
            ("zip", Value::Array(items)) => tables.extend(items.iter_mut().filter_map(Value::as_object_mut)),
            _ => {}
        }
    }
    for (key, value) in tables.into_iter().flatten() {
        let quantity = match key.as_str() {
            "size" => Some("Size"),
            "jitter" => Some("Time"),
            key => key.split('.').try_fold(root.clone(), |node, key| node.key(key)).and_then(|node| node.quantity()),
        };
        if let Some(quantity) = quantity {
            each_number(value, &|number| text_of(number, quantity));
        }
    }
}

/// Replaces each number by a text.
fn each_number(value: &mut Value, text: &dyn Fn(&Number) -> String) {
    match value {
        Value::Number(number) => *value = Value::String(text(number)),
        Value::Array(items) => items.iter_mut().for_each(|item| each_number(item, text)),
        _ => {}
    }
}

fn with_key(key: String, value: Value, node: Option<&Node>) -> (String, Value) {
    let Some(node) = node else { return (key, value) };
    if let Some(below) = node.key(&key) {
        return (key, with_units(value, Some(&below)));
    }
    let dashed = key.replace('_', "-");
    match node.key(&dashed) {
        Some(below) => (dashed, with_units(value, Some(&below))),
        None => (key, value),
    }
}

/// Returns a size, time or bandwidth, given in its base unit, as a text with its unit.
fn text_of(number: &Number, quantity: &str) -> String {
    let unit = match quantity {
        "Time" => return time(number),
        "TimePerByte" => return format!("{}/B", time(number)),
        "Bandwidth" => "B/s",
        _ => "B",
    };
    match number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < 1e18) {
        // A whole number is written without a decimal point, even if it is a float.
        Some(value) if !number.is_u64() => format!("{value:.0} {unit}"),
        _ => format!("{number} {unit}"),
    }
}

/// Units of time with their powers of ten.
const UNITS: [(i32, &str); 5] = [(0, "s"), (-3, "ms"), (-6, "us"), (-9, "ns"), (-12, "ps")];

/// Returns a number of seconds in the unit in which it is 1 or more. The decimal point is moved, so that
/// 1.5e-6 is the same as "1.5 us" to the last bit.
fn time(seconds: &Number) -> String {
    let Some(value) = seconds.as_f64().filter(|value| *value > 0.0) else { return format!("{seconds} s") };
    let written = format!("{value:e}");
    let Some((digits, exponent)) = written.split_once('e') else { return format!("{seconds} s") };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (power, unit) = UNITS.into_iter().find(|(power, _)| exponent >= *power).unwrap_or((-12, "ps"));
    match exponent - power {
        0 => format!("{digits} {unit}"),
        up @ 1..=2 => {
            let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
            let up = up as usize;
            let moved = format!("{part:0<up$}");
            let rest = if moved.len() > up { format!(".{}", &moved[up..]) } else { String::new() };
            format!("{whole}{}{rest} {unit}", &moved[..up])
        }
        other => format!("{digits}e{other} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Loader;
    use crate::units::{Bandwidth, Time};

    fn toml(json: &str) -> String {
        settings_as_toml(serde_json::from_str::<Value>(json).unwrap().as_object().unwrap())
    }

    #[test]
    fn numbers_are_in_base_units_where_quantities_stand() {
        let text = toml(
            r#"{ "topology": { "torus": { "dims": [4, 2], "bandwidth": [1e9, 2e9], "host_bandwidth": 12.5e9,
                "latency": 1.5e-6 } }, "workload": { "all-to-all": { "algorithm": "pairwise", "size": 20000 } },
                "seed": 3, "placement": null }"#,
        );
        assert_eq!(
            text,
            "seed = 3\n\n[topology.torus]\ndims = [4, 2]\nbandwidth = [\"1000000000 B/s\", \"2000000000 B/s\"]\n\
             host-bandwidth = \"12500000000 B/s\"\nlatency = \"1.5 us\"\n\n[workload.all-to-all]\n\
             algorithm = \"pairwise\"\nsize = \"20000 B\"\n"
        );
        assert!(Loader::new().text("settings", text).check().is_ok());
        let per_byte: Number = serde_json::from_str("8e-11").unwrap();
        assert_eq!(text_of(&per_byte, "TimePerByte"), "80 ps/B");
    }

    #[test]
    fn numbers_of_a_plan_are_in_base_units() {
        let text = toml(
            r#"{ "grid": { "topology.torus.bandwidth": [1e9, 2e9], "size": [1000, "2 KB"], "jitter": [1e-6],
                "seed": [1, 2] }, "zip": [{ "workload.ring.size": [5, 6], "topology.torus.dims": [[4], [8]] }] }"#,
        );
        for said in [
            r#""topology.torus.bandwidth" = ["1000000000 B/s", "2000000000 B/s"]"#,
            r#"size = ["1000 B", "2 KB"]"#,
            r#"jitter = ["1 us"]"#,
            "seed = [1, 2]",
            r#""workload.ring.size" = ["5 B", "6 B"]"#,
            r#""topology.torus.dims" = [[4], [8]]"#,
        ] {
            assert!(text.contains(said), "{said} in {text}");
        }
    }

    #[test]
    fn a_time_in_seconds_is_the_one_that_is_written_with_its_unit() {
        for (number, written) in [
            ("1", "1 s"),
            ("1.5e-6", "1.5 us"),
            ("0.00002", "20 us"),
            ("12.5e-9", "12.5 ns"),
            ("1.2345e-7", "123.45 ns"),
            ("4e-13", "4e-1 ps"),
            ("3600", "3.6e3 s"),
            ("60", "60 s"),
            ("0", "0 s"),
            ("-1e-6", "-1e-6 s"),
        ] {
            let number: Number = serde_json::from_str(number).unwrap();
            let text = time(&number);
            assert_eq!(text.parse::<Time>().ok(), written.parse().ok(), "{text} is not {written}");
            if !written.contains('e') {
                assert_eq!(text, written);
            }
        }
        for value in [1e9 / 3.0, 1.0, 12.5e9, 0.1] {
            let text = text_of(&Number::from_f64(value).unwrap(), "Bandwidth");
            assert_eq!(text.parse(), Ok(Bandwidth::from_bytes_per_second(value)));
        }
    }

    #[test]
    fn what_the_schema_does_not_know_is_left_to_the_reader() {
        let text =
            toml(r#"{ "topology": { "torus": { "dims": [4], "no_such_key": 3, "bandwidth": -5 } }, "what_is": 1 }"#);
        let mistakes = Loader::new().text("settings", text).check().unwrap_err().to_string();
        for said in ["no_such_key", "what_is", "-5 B/s"] {
            assert!(mistakes.contains(said), "{mistakes}");
        }
    }
}
