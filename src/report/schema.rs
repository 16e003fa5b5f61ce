//! JSON schema of reports, from which their types in other languages are generated.
//!
//! `schema.json` holds the schema. A test compares it with the schema of the types.

use serde_json::Value;

/// Returns the JSON schema of all reports: `$defs` has `Report` (of a pattern), `ReplayReport`, `JobsReport`,
/// `FarmReport`, `WhatIfReport`, `Comparison`, `Accuracy`, `MeasuredReport`, `Throughput`, `BestThroughput`,
/// `ScheduleReport`, `OperationComparison` and `TrainingReport`, with all types that they contain.
pub fn schema() -> &'static str {
    include_str!("schema.json")
}

/// Places in the schema of the reports of a run of any work, and of the row of a farm.
const OF_RUNS: [&str; 4] =
    ["/$defs/Report", "/$defs/ReplayReport", "/$defs/JobsReport", "/$defs/FarmReport/properties/predictions/items"];

/// Finds a figure in the reports of runs by its names with dots between them (`links.0.utilisation`).
///
/// # Errors
/// The first name that no report has at its place, with the names that exist there.
pub fn find(figure: &str) -> Result<(), (String, Vec<String>)> {
    let schema: Value = serde_json::from_str(schema()).unwrap_or_default();
    let mut places = Vec::new();
    OF_RUNS.iter().filter_map(|root| schema.pointer(root)).for_each(|root| resolve(&schema, root, &mut places));
    for name in figure.split('.') {
        let mut inner = Vec::new();
        for place in &places {
            let found = match place.get("items").filter(|_| name.parse::<usize>().is_ok()) {
                Some(item) => Some(item),
                None => place["properties"].get(name).or_else(|| place.get("additionalProperties")),
            };
            // A place without a type in the schema may hold anything.
            let is_open = place.get("type").is_none() && place.get("const").is_none();
            found.or(is_open.then_some(*place)).into_iter().for_each(|found| resolve(&schema, found, &mut inner));
        }
        if inner.is_empty() {
            let properties = places.iter().filter_map(|place| place["properties"].as_object());
            return Err((name.to_owned(), properties.flat_map(|names| names.keys().cloned()).collect()));
        }
        places = inner;
    }
    Ok(())
}

/// Adds the definitions that a place of the schema refers to, or the place itself if it refers to none.
fn resolve<'a>(schema: &'a Value, place: &'a Value, found: &mut Vec<&'a Value>) {
    let referred = place["$ref"].as_str().and_then(|name| schema.pointer(name.strip_prefix('#')?));
    let choices = ["anyOf", "oneOf"].into_iter().find_map(|key| place[key].as_array());
    match (referred, choices) {
        (Some(referred), _) => resolve(schema, referred, found),
        (None, Some(choices)) => choices.iter().for_each(|choice| resolve(schema, choice, found)),
        (None, None) => found.push(place),
    }
}

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;
    use serde_json::json;

    use super::super::replay::ReplayReport;
    use super::super::whatif::WhatIfReport;
    use super::super::{
        Accuracy, Comparison, Difference, FarmReport, JobsReport, MeasuredReport, NcclReport, OperationComparison,
        Report, ScheduleReport, TrainingReport,
    };
    use super::Value;
    use crate::steady::{BestThroughput, Throughput};

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
            generator.subschema_for::<MeasuredReport>(),
            generator.subschema_for::<Throughput>(),
            generator.subschema_for::<BestThroughput>(),
            generator.subschema_for::<ScheduleReport>(),
            generator.subschema_for::<OperationComparison>(),
            generator.subschema_for::<TrainingReport>(),
            generator.subschema_for::<NcclReport>(),
            generator.subschema_for::<Difference>(),
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

    #[test]
    fn figures_are_found_where_some_report_of_a_run_has_them() {
        for figure in ["contention", "links.0.utilisation", "bounds.path_s", "scenario.topology.torus", "time_s"] {
            assert_eq!(super::find(figure), Ok(()), "{figure}");
        }
        assert_eq!(super::find("contntion").unwrap_err().0, "contntion");
        let (name, there) = super::find("links.0.utilization").unwrap_err();
        assert!(name == "utilization" && there.iter().any(|name| name == "utilisation"), "{there:?}");
        for figure in ["contention.0", "links.first", "bounds.", ""] {
            assert!(super::find(figure).is_err(), "{figure}");
        }
    }
}
