//! JSON of reports, comparisons and rates, as declared in [`hayase::report`].
//!
//! A number is the shortest text that reads back to the same value. Infinite numbers are `null`, since JSON
//! has none.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a value as indented JSON with a newline at the end.
///
/// # Errors
/// Failures of `writer`.
pub fn write(value: &impl Serialize, mut writer: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut writer, value)?;
    writer.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase::report::Rate;

    #[test]
    fn an_infinite_rate_is_null_and_a_finite_one_reads_back_the_same() {
        let rates = [
            Rate { src: 0, dst: 0, rate_bps: f64::INFINITY, bottleneck: None },
            Rate { src: 0, dst: 1, rate_bps: 1e9 / 3.0, bottleneck: Some("node 0 -> switch 0".into()) },
        ];
        let mut text = Vec::new();
        write(&rates, &mut text).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(value[0]["rate_Bps"], serde_json::Value::Null);
        assert_eq!(value[1]["rate_Bps"].as_f64(), Some(1e9 / 3.0));
        assert!(text.ends_with(b"]\n"));
    }
}
