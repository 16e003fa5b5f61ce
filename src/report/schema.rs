//! The JSON schema of reports: from it come their types in other languages.
//!
//! It follows from the types that are written, and is worked out where the library is tested: `schema.json` holds it.

/// The JSON schema of all reports: `$defs` has `Report` (of a pattern), `ReplayReport`, `JobsReport`, `FarmReport`,
/// `WhatIfReport`, `Comparison`, `Accuracy` and `Throughput`, with all that they are made of.
pub fn schema() -> &'static str {
    include_str!("schema.json")
}

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;
    use serde_json::{Value, json};

    use super::super::replay::ReplayReport;
    use super::super::whatif::WhatIfReport;
    use super::super::{Accuracy, Comparison, FarmReport, JobsReport, Report};
    use crate::throughput::Throughput;

    #[test]
    fn the_schema_is_that_of_the_types() {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let roots = [
            generator.subschema_for::<Report>(),
            generator.subschema_for::<ReplayReport>(),
            generator.subschema_for::<JobsReport>(),
            generator.subschema_for::<FarmReport>(),
            generator.subschema_for::<WhatIfReport>(),
            generator.subschema_for::<Comparison>(),
            generator.subschema_for::<Accuracy>(),
            generator.subschema_for::<Throughput>(),
        ];
        let definitions = generator.take_definitions(true);
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Reports of Hayase",
            "anyOf": roots,
            "$defs": definitions,
        });
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("HAYASE_WRITE_SCHEMA").is_some() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/schema.json"), &text).unwrap();
            return;
        }
        assert!(text == super::schema(), "write it again: HAYASE_WRITE_SCHEMA=1 cargo test -p hayase --lib -- schema");
    }

    #[test]
    fn a_report_is_as_the_schema_says() {
        let schema: Value = serde_json::from_str(super::schema()).unwrap();
        let report = serde_json::to_value(Report::default()).unwrap();
        let said = &schema["$defs"]["Report"];
        let known = said["properties"].as_object().unwrap();
        for key in report.as_object().unwrap().keys() {
            assert!(known.contains_key(key), "{key}");
        }
        for key in said["required"].as_array().unwrap() {
            assert!(report.get(key.as_str().unwrap()).is_some(), "{key}");
        }
    }
}
