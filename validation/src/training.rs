//! Closed forms of training steps beside published sizes and measured times (`docs/notes/training.md`).

use super::fabrics::{Point, judge};
use super::{Case, CaseError, Context, Outcome};
use hayase::report::TrainingReport;
use hayase::study::training::{Request, training};

/// Published and measured steps: table, row, machine, settings, figure and its unit.
const STEPS: &str = include_str!("../training/steps.csv");
/// Published sizes of activations and states \[GiB\].
const SIZES: &str = include_str!("../training/sizes.csv");

/// Tables of steps: name, case, source, expected, and the largest mean and single error \[1\].
type Table = (&'static str, &'static str, &'static str, &'static str, f64, f64);
const TABLES: [Table; 6] = [
    ("Korthikanti", "training/korthikanti", KORTHIKANTI, "eight steps on A100", 0.05, 0.10),
    ("Megatron-LM", "training/megatron", MEGATRON, "operations a second of ten models on A100", 0.09, 0.15),
    ("vTrain", "training/vtrain", "measured steps of vTrain (MICRO 2024)", "ten steps on A100, four cards", 0.12, 0.25),
    ("MegaScale", "training/megascale", MEGASCALE, "four steps on 256 to 12,288 A100", 0.12, 0.20),
    ("H100", "training/h100", H100, "operations a second of nine models", 0.12, 0.25),
    ("Llama 3 405B", "training/llama-3-405b", LLAMA, "operations a second of three layouts on H100", 0.15, 0.25),
];
const KORTHIKANTI: &str =
    "Korthikanti et al., \"Reducing Activation Recomputation in Large Transformer Models\" (2022)";
const MEGATRON: &str = "Narayanan et al. (SC 2021), table 1; degrees by the authors' script";
const MEGASCALE: &str = "Megatron-LM's steps in Jiang et al., \"MegaScale\" (NSDI 2024), tables 2 and 3";
const H100: &str = "Megatron-LM's table of models on H100; micro-batches, ZeRO-1 and overlap are assumed";
const LLAMA: &str = "Dubey et al., \"The Llama 3 Herd of Models\" (2024), table 4; four chunks a stage are assumed";

pub(super) fn cases() -> Vec<Case> {
    let published = "1.7, 3.6, 7.5, 18.4, 39.1, 76.1, 145.6, 310.1, 529.6 and 1008.0 billion parameters";
    let sizes_of = "activations of four models, stored and computed again, and their states: twelve sizes";
    let mut cases = vec![
        Case::new("training/parameters", parameters).source(MEGATRON).expect(published, "the last digit"),
        Case::new("training/memory", sizes).source(KORTHIKANTI).expect(sizes_of, "none"),
    ];
    cases.extend(TABLES.iter().map(|table| {
        let &(_, name, source, expected, mean, worst) = table;
        let tolerance = format!("mean {:.0} %, worst {:.0} %", 100.0 * mean, 100.0 * worst);
        Case::new(name, |_: &Context<'_>| steps(table)).source(source).expect(expected, tolerance)
    }));
    cases
}

/// Computes a step from settings with blanks between them.
fn step(settings: &str, machine: Option<&str>) -> Result<TrainingReport, CaseError> {
    let model = format!("llm:{}", settings.replace(' ', ","));
    let request = Request { model, machine: machine.map(str::to_owned), ..Request::default() };
    training(&request).map_err(|invalid| format!("{settings}: {invalid}"))
}

/// Returns the cells of the lines of a table, without its head.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().skip(1).map(|line| line.split(',').collect())
}

/// Reads a number.
fn number(cell: &str) -> Result<f64, CaseError> {
    cell.parse().map_err(|_| format!("`{cell}` is not a number"))
}

fn parameters(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let published = [1.7, 3.6, 7.5, 18.4, 39.1, 76.1, 145.6, 310.1, 529.6, 1008.0];
    let models = rows(STEPS).filter(|row| row[0] == "Megatron-LM");
    let points = models.zip(published).map(|(row, expected)| {
        let billions = step(row[3], None)?.llm.parameters as f64 / 1e9;
        Ok(Point { what: row[1].into(), expected, got: (billions * 10.0).round() / 10.0 })
    });
    Ok(judge(&points.collect::<Result<Vec<Point>, CaseError>>()?, 1e-9, true))
}

fn sizes(_: &Context<'_>) -> Result<Outcome, CaseError> {
    const GIB: f64 = (1_u64 << 30) as f64;
    let mut points = Vec::new();
    for row in rows(SIZES) {
        let stored = step(row[1], None)?;
        let again = step(&format!("{} sequence_parallel=1 recompute=selective", row[1]), None)?;
        // Published states are those of the matrices: no biases, norms and embeddings.
        let bare = step(&format!("{} bias=0 vocab=0 positions=0", row[1]), None)?;
        let hidden: f64 = row[1].split(' ').find_map(|word| word.strip_prefix("hidden=")).map_or(Ok(0.0), number)?;
        let norms = 18.0 * 2.0 * hidden * bare.stages[0].layers as f64 / bare.layout.degrees.tp as f64;
        let values = [
            ("activations", 2, stored.llm.first_stage.activation_b as f64),
            ("activations, selective", 3, again.llm.first_stage.activation_b as f64),
            ("states", 4, bare.llm.first_stage.state_b as f64 - norms),
        ];
        for (what, column, got) in values {
            let what = format!("{} {what} [GiB]", row[0]);
            points.push(Point { what, expected: number(row[column])?, got: got / GIB });
        }
    }
    Ok(judge(&points, 0.0, false))
}

/// Compares the steps of one table.
fn steps(&(table, .., mean_bound, worst_bound): &Table) -> Result<Outcome, CaseError> {
    let (mut errors, mut lines) = (Vec::new(), Vec::new());
    for row in rows(STEPS).filter(|row| row[0] == table) {
        let report = step(row[3], Some(row[2]))?;
        let ours = report.llm.step_s.ok_or("no time")?;
        let (published, gpus) = (number(row[4])?, report.layout.gpus as f64);
        let measured = match row[5] {
            "s" => published,
            "hardware TF/s" => report.llm.hardware_flops as f64 / (gpus * published * 1e12),
            "model TF/s" => report.llm.model_flops as f64 / (gpus * published * 1e12),
            unit => return Err(format!("no unit `{unit}`")),
        };
        let error = ours / measured - 1.0;
        errors.push(error.abs());
        lines.push(format!("{}: {ours:.2} s, published {measured:.2} s, {:+.1} %", row[1], 100.0 * error));
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let worst = errors.iter().copied().fold(0.0, f64::max);
    let got = format!("mean error {:.1} %, worst {:.1} %", 100.0 * mean, 100.0 * worst);
    Ok(Outcome::check(mean <= mean_bound && worst <= worst_bound, got).note(lines.join("\n")))
}
