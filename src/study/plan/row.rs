//! Row of a point.

use serde_json::{Map, Value, json};

use super::columns::{ERROR, ESTIMATE, RESULTS, WALL};
use super::store::{COMPLETE, INVALID, hex};
use super::values;
use super::{Configuration, PlanPoint};
use crate::diagnostic::Invalid;
use crate::engine::Watch;
use crate::parquet::ColumnKind;
use crate::report::{Estimate, Status};
use crate::scenario::Scenario;
use crate::simulation::{Outcome, RunOptions, Summary, Work};
use crate::study::runs::{not_done, stuck};

/// Result of a point.
pub(super) struct Result {
    /// `complete`, or the reason why the run ended early.
    pub status: &'static str,
    pub summary: Option<Summary>,
    /// Report, if figures of it are kept.
    pub report: Value,
    pub error: Option<String>,
}

impl Result {
    /// Creates the result of a point whose scenario has mistakes: with any seed (`with_any`), or with its own
    /// seed alone.
    pub fn of_mistakes(invalid: &Invalid, with_any: bool) -> Self {
        let messages: Vec<&str> = invalid.diagnostics.iter().map(|one| one.message.as_str()).take(3).collect();
        let status = match (invalid.is_cut_off(), with_any) {
            (true, _) => "cut-off",
            (false, true) => INVALID,
            (false, false) => "invalid-seed",
        };
        Self { status, summary: None, report: Value::Null, error: Some(messages.join("; ")) }
    }

    /// Runs a scenario; returns `None` if the run was stopped.
    pub fn of_run(scenario: &Scenario, keep: &[String], watch: &dyn Watch) -> Option<Self> {
        let wants_report = keep.iter().any(|key| of_summary(key, None).is_none());
        let (summary, report) = match scenario.work() {
            _ if !wants_report => (scenario.measured(Some(watch), false), Value::Null),
            work => {
                let is_program = matches!(work, Work::Program(_));
                let alone = matches!(work, Work::Jobs(_));
                let outcome = scenario.run(RunOptions { watch: Some(watch), alone, ..RunOptions::default() });
                let summary = if is_program { scenario.measured(Some(watch), false) } else { outcome.summary() };
                (summary, report(&outcome))
            }
        };
        let (status, error) = match summary.status {
            Status::Interrupted => return None,
            Status::Complete => (COMPLETE, None),
            Status::Undone => ("undone", Some(not_done(summary.undone))),
            Status::Deadlocked => ("deadlocked", Some(stuck(&summary.blocked, summary.gridlock.as_ref()))),
        };
        Some(Self { status, summary: Some(summary), report, error })
    }

    /// Returns the makespan of a complete run \[s\].
    pub fn makespan_s(&self) -> Option<f64> {
        self.summary.as_ref().filter(|_| self.status == COMPLETE).map(|summary| summary.makespan_s)
    }

    /// Formats the row as a line of the store.
    pub fn line(
        &self,
        configuration: &Configuration<'_>,
        visit: &PlanPoint<'_>,
        keep: &[String],
        wall_s: f64,
    ) -> String {
        let mut row = Map::new();
        row.insert("id".to_owned(), hex(visit.id).into());
        for (key, value) in configuration.values.iter().chain(&visit.seed) {
            row.insert(key.name.clone(), values::json(value));
        }
        let bounds = self.summary.as_ref().filter(|_| self.status == COMPLETE).map(|summary| summary.bounds);
        let makespan = self.makespan_s();
        let ratio = bounds.zip(makespan).and_then(|(bounds, makespan)| {
            let largest = bounds.largest();
            (largest > 0.0).then(|| makespan / largest)
        });
        let results: [Value; 7] = [
            self.status.into(),
            json!(makespan),
            json!(bounds.and_then(|bounds| bounds.injection_s)),
            json!(bounds.and_then(|bounds| bounds.busiest_link_s)),
            json!(bounds.and_then(|bounds| bounds.bisection_s)),
            json!(bounds.and_then(|bounds| bounds.path_s)),
            json!(ratio),
        ];
        row.extend(RESULTS.map(str::to_owned).into_iter().zip(results));
        for key in keep {
            let value = of_summary(key, self.summary.as_ref()).unwrap_or_else(|| at(&self.report, key));
            row.insert(key.clone(), value);
        }
        if let Some(error) = &self.error {
            row.insert(ERROR.to_owned(), error.as_str().into());
        }
        row.insert(WALL.to_owned(), json!((wall_s * 1e6).round() / 1e6));
        let mut line = Value::Object(row).to_string();
        line.push('\n');
        line
    }
}

/// Returns a figure that every kind of work has; `None` if there is none of this name.
fn of_summary(key: &str, summary: Option<&Summary>) -> Option<Value> {
    Some(match key {
        "messages" => json!(summary.map(|summary| summary.messages)),
        "bytes" => json!(summary.map(|summary| summary.bytes)),
        "events" => json!(summary.map(|summary| summary.events)),
        "fingerprint" => json!(summary.map(|summary| &summary.fingerprint)),
        "estimate_low_s" => json!(estimate(summary).map(|estimate| estimate.low_s)),
        "estimate_high_s" => json!(estimate(summary).map(|estimate| estimate.high_s)),
        "simulated_part" => json!(estimate(summary).map(|estimate| estimate.simulated_part)),
        _ => return None,
    })
}

/// Returns the estimate of a complete run, if its makespan is one.
fn estimate(summary: Option<&Summary>) -> Option<&Estimate> {
    summary.filter(|summary| summary.status == Status::Complete)?.estimated.as_ref()?.estimate()
}

/// Returns the kind of such a figure.
pub(super) fn kind_of_summary(key: &str) -> Option<ColumnKind> {
    of_summary(key, None).map(|_| match key {
        "fingerprint" => ColumnKind::Text,
        key if ESTIMATE.contains(&key) => ColumnKind::Number,
        _ => ColumnKind::Whole,
    })
}

/// Returns the value of a report at a name with dots.
fn at(report: &Value, key: &str) -> Value {
    let step = |value: &'_ Value, name: &str| -> Option<Value> {
        match value {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?).cloned(),
            value => value.get(name).cloned(),
        }
    };
    let mut value = report.clone();
    for name in key.split('.') {
        match step(&value, name) {
            Some(inner) => value = inner,
            None => return Value::Null,
        }
    }
    value
}

fn report(outcome: &Outcome) -> Value {
    let value = match outcome {
        Outcome::Pattern(outcome) => serde_json::to_value(&outcome.report),
        Outcome::Program(outcome) => serde_json::to_value(&outcome.report),
        Outcome::Farm(outcome) => serde_json::to_value(&outcome.prediction),
        Outcome::Jobs(outcome) => serde_json::to_value(&outcome.report),
    };
    value.unwrap_or_default()
}
