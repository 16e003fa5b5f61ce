//! Closed form of a training step: named models and machines, a layout and its report.

use super::runs::{Control, Runs};
use crate::diagnostic::{Diagnostic, Invalid, Located, Sources, Span};
use crate::reading::tree::{self, Entry, Kind, Table, Tree};
use crate::reading::whole::TableReader;
use crate::report::{
    FirstStage, LayoutRow, LayoutSearch, TRAINING_SCHEMA, TrainingLayout, TrainingReport, TrainingStep,
};
use crate::scenario::library::Shelf;
use crate::scenario::llm::with_model;
use crate::scenario::with_options::{TRAINING, WithOptions};
use crate::scenario::{Loader, settings_as_toml};
use crate::simulation::{Outcome, RunOptions, Simulated};
use crate::training::{
    Candidate, Clock, Fixed, Gpu, Layout, LlmSpec, Model, StepParts, Training, activations_of_layer, communication,
    in_words, memory, nearest, pareto, peak_memory, search, why_second,
};

/// Largest number of layouts of a search that are reported.
const FASTEST: usize = 20;
/// Largest number of nearest layouts that are reported.
const NEAREST: usize = 5;

/// Request for the closed form of a training step.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Model: a name, a name with settings, a TOML file, or `llm:layers=96,hidden=12288`.
    pub model: String,
    /// Settings that override the model's, by key.
    pub settings: Vec<(String, String)>,
    /// Machine: a name or a TOML file with a table `[gpu]`.
    pub machine: Option<String>,
    /// True to search for layouts.
    pub search: bool,
}

/// Returns the table of a model with the settings that override it, and the keys that were typed.
fn table(request: &Request, sources: &mut Sources) -> Result<(Tree, Fixed), Vec<Diagnostic>> {
    let name = request.model.as_str();
    let base = sources.add("MODEL", name);
    let span = Span::new(base, base + name.len());
    let of_model = |model: &str| {
        let value = Tree { span: Span::new(base, base + model.len()), kind: Kind::Text(model.to_owned()) };
        Table::from([("model".to_owned(), Entry { key: value.span, value })])
    };
    let mut table = match name.split_once(':') {
        Some((TRAINING, options)) => WithOptions { base: TRAINING, options }.table(span)?,
        Some((head, options)) if Shelf::Models.get(head).is_some() => {
            let mut table = WithOptions { base: head, options }.table(span)?;
            table.extend(of_model(head));
            table
        }
        _ => of_model(name),
    };
    for (key, value) in &request.settings {
        let base = sources.add(format!("--{}", key.replace('_', "-")), value.as_str());
        let at = Span::new(base, base + value.len());
        table.insert(key.clone(), Entry { key: at, value: tree::value_or_text(value, base) });
    }
    let typed = table.keys().map(|key| key.replace('-', "_")).collect();
    with_model(&mut table, sources)?;
    Ok((Tree { span, kind: Kind::Table(table) }, typed))
}

/// Returns the GPU of a machine.
fn gpu(name: &str, sources: &mut Sources) -> Result<Gpu, Vec<Diagnostic>> {
    let base = sources.add("--machine", name);
    let at = Span::new(base, base + name.len());
    let (base, text) =
        Shelf::Machines.text(&Located::new(name.to_owned(), at), sources).map_err(|mistake| vec![mistake])?;
    Gpu::of_text(&text, base)?.ok_or_else(|| {
        let mut with = Shelf::Machines.all().iter().filter(|entry| entry.text.contains("\n[gpu]"));
        let names: Vec<&str> = with.by_ref().map(|entry| entry.name).collect();
        let mistake = Diagnostic::new("missing-key", format!("`{name}` has no [gpu] table")).at(at);
        vec![mistake.help(format!("machines with GPUs: {}", names.join(", ")))]
    })
}

/// Returns the specification of a step, its place, and the keys that were typed.
fn spec(request: &Request, sources: &mut Sources) -> Result<(LlmSpec, Span, Fixed), Vec<Diagnostic>> {
    let (table, typed) = table(request, sources)?;
    Ok((TableReader::of_text(table.span).read(&table)?, table.span, typed))
}

/// Returns operations, memory, communication and, on a machine, time of a training step.
///
/// # Errors
/// Unknown names, mistakes of texts, and degrees that do not divide what they must.
pub fn training(request: &Request) -> Result<TrainingReport, Invalid> {
    let mut sources = Sources::default();
    let mut made = || {
        let (spec, span, typed) = spec(request, &mut sources)?;
        let gpu = request.machine.as_deref().map(|name| gpu(name, &mut sources)).transpose()?;
        let training = spec.training(Some(span), request.search)?;
        report(request, training, &typed, gpu.as_ref()).map_err(|mistake| vec![mistake.at(span)])
    };
    made().map_err(|diagnostics| Invalid { diagnostics, sources })
}

/// Simulates the fastest layouts of a search on the loader's fabric, and ranks them by the times of their steps.
/// Layouts whose runs `control` ends come last.
///
/// # Errors
/// A fabric that cannot be built or does not carry a layout.
pub fn simulate(
    request: &Request,
    fabric: &Loader,
    report: &mut TrainingReport,
    control: Control<'_>,
) -> Result<(), Invalid> {
    let (Some(search), Some(machine)) = (&mut report.search, &request.machine) else { return Ok(()) };
    let mut sources = Sources::default();
    let (spec, ..) =
        spec(request, &mut sources).map_err(|diagnostics| Invalid { diagnostics, sources: sources.clone() })?;
    let load = |row: &LayoutRow| {
        let workload = serde_json::json!({ "llm": spec.in_layout(&row.layout.degrees) });
        let text = settings_as_toml(&serde_json::Map::from_iter([("workload".to_owned(), workload)]));
        fabric.clone().machine(machine).text("<layout>", text).load()
    };
    let scenarios = search.fastest.iter().map(load).collect::<Result<Vec<_>, Invalid>>()?;
    let runs = Runs::new(control, scenarios.iter().map(|scenario| scenario.work().messages()).collect());
    let played = runs.each(&scenarios, |scenario, run| {
        match scenario.run(RunOptions { watch: Some(run), room: Some(0), ..RunOptions::default() }) {
            Outcome::Program(outcome) => outcome.report.llm.map(|step| step.parts),
            _ => None,
        }
    });
    let mut rows: Vec<(LayoutRow, Option<StepParts>)> =
        std::mem::take(&mut search.fastest).into_iter().zip(played).collect();
    let time = |parts: &Option<StepParts>| parts.map_or(f64::INFINITY, |parts| parts.step_s);
    rows.sort_by(|a, b| time(&a.1).total_cmp(&time(&b.1)));
    if let [(first, Some(best)), (second, Some(slower)), ..] = &rows[..] {
        let parts = [best.parts(), slower.parts()];
        search.second = Some(why_second([(&first.layout.degrees, &parts[0]), (&second.layout.degrees, &parts[1])]));
    }
    let rows = rows.into_iter().map(|(row, parts)| LayoutRow { simulated_s: parts.map(|parts| parts.step_s), ..row });
    search.fastest = rows.collect();
    Ok(())
}

/// Returns the report of a training step.
fn report(
    request: &Request,
    training: Training,
    typed: &Fixed,
    gpu: Option<&Gpu>,
) -> Result<TrainingReport, Diagnostic> {
    let Training { model, mut layout, gpus } = training;
    let mut report = TrainingReport {
        schema: TRAINING_SCHEMA,
        model: request.model.clone(),
        machine: request.machine.clone(),
        ..TrainingReport::default()
    };
    if request.search {
        let gpu =
            gpu.ok_or_else(|| Diagnostic::new("missing-key", "a search needs a machine").help("write -m a100-8x200g"))?;
        let found = search(&model, &layout, typed, gpus, gpu);
        let Some(best) = found.first() else {
            let message = format!("no layout of this model fits on {gpus} GPUs of {}", gpu.name);
            return Err(Diagnostic::new("no-layout", message).help("take more GPUs, or leave degrees open"));
        };
        report.search = Some(LayoutSearch {
            fitting: found.len() as u64,
            fastest: found.iter().take(FASTEST).map(|one| row(&model, one, gpu)).collect(),
            pareto: pareto(&found).into_iter().take(FASTEST).map(|one| row(&model, one, gpu)).collect(),
            second: found.get(..2).map(|two| {
                let parts = [two[0].time.parts(), two[1].time.parts()];
                why_second([(&two[0].layout, &parts[0]), (&two[1].layout, &parts[1])])
            }),
        });
        layout = best.layout.clone();
    }
    let first = memory(&model, &layout, 0);
    report.layout = layout_of(&model, &layout);
    report.llm = TrainingStep {
        parameters: model.parameters(),
        active_parameters: model.active_parameters(),
        forward_flops: model.forward_flops(),
        model_flops: model.model_flops(),
        hardware_flops: model.hardware_flops(layout.recompute),
        first_stage: FirstStage {
            parameters: first.parameters,
            state_b: first.states(),
            activation_layer_b: activations_of_layer(&model, &layout, model.has_experts(0)),
            activation_b: first.activation_b,
        },
        communication: communication(&model, &layout),
        ..TrainingStep::default()
    };
    report.stages = (0..layout.pp).map(|stage| memory(&model, &layout, stage)).collect();
    if let Some(gpu) = gpu {
        add_time(&mut report, &model, &layout, gpu);
    }
    Ok(report)
}

/// Adds what depends on the machine: time, utilisation, and layouts that fit if this one does not.
fn add_time(report: &mut TrainingReport, model: &Model, layout: &Layout, gpu: &Gpu) {
    let time = Clock { model, layout, gpu }.step();
    let peak = layout.gpus() as f64 * gpu.peak_flops() * time.total();
    report.llm.step_s = Some(time.total());
    report.llm.mfu = Some(report.llm.model_flops as f64 / peak);
    report.llm.hfu = Some(report.llm.hardware_flops as f64 / peak);
    let (name, largest) = time.bound();
    report.bound = Some(format!("{name}: {:.1} % of the step", 100.0 * largest / time.total()));
    report.time = Some(time);
    let fits = peak_memory(model, layout) <= gpu.usable();
    report.fits = Some(fits);
    report.usable_b = Some(gpu.usable());
    if !fits {
        let found = search(model, layout, &Fixed::default(), layout.gpus(), gpu);
        report.nearest = Some(nearest(&found, NEAREST).into_iter().map(|one| row(model, one, gpu)).collect());
    }
}

/// Returns a layout as a report has it.
fn layout_of(model: &Model, layout: &Layout) -> TrainingLayout {
    let [gpus, micro_batches] = [layout.gpus(), layout.micro_batches(model)];
    TrainingLayout { words: in_words(layout), gpus, micro_batches, degrees: layout.clone() }
}

/// Returns a candidate of a search as a row.
fn row(model: &Model, candidate: &Candidate, gpu: &Gpu) -> LayoutRow {
    let step_s = candidate.time.total();
    let peak = candidate.layout.gpus() as f64 * gpu.peak_flops() * step_s;
    let layout = layout_of(model, &candidate.layout);
    LayoutRow { layout, step_s, simulated_s: None, mfu: model.model_flops() as f64 / peak, memory_b: candidate.memory }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(
        model: &str,
        settings: &[(&str, &str)],
        machine: Option<&str>,
        search: bool,
    ) -> Result<TrainingReport, Invalid> {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        training(&Request { model: model.to_owned(), settings, machine: machine.map(str::to_owned), search })
    }

    #[test]
    fn every_named_model_has_its_published_number_of_parameters_and_fits() {
        // Billions of parameters, rounded as they are published, of all and of those that a token meets.
        for (name, machine, billions, active) in [
            ("gpt-3-175b", "a100-8x200g", 175.0, 175.0),
            ("llama-3-8b", "h100-8x400g", 8.0, 8.0),
            ("llama-3-70b", "h100-8x400g", 70.6, 70.6),
            ("llama-3-405b", "h100-8x400g", 405.0, 405.0),
            ("mixtral-8x7b", "h100-8x400g", 46.7, 12.9),
            ("deepseek-v3", "h100-8x400g", 671.0, 37.0),
        ] {
            let report = of(name, &[], Some(machine), false).unwrap_or_else(|invalid| panic!("{name}: {invalid}"));
            for (got, expected) in [(report.llm.parameters, billions), (report.llm.active_parameters, active)] {
                assert!((got as f64 / 1e9 / expected - 1.0).abs() < 0.02, "{name}: {got}");
            }
            assert_eq!(report.fits, Some(true), "{name}: {:?}", report.stages[0]);
        }
        for entry in Shelf::Models.all() {
            let report = of(entry.name, &[], None, false).unwrap_or_else(|invalid| panic!("{}: {invalid}", entry.name));
            assert!(report.stages.iter().map(|stage| u128::from(stage.layers)).sum::<u128>() > 0);
        }
    }

    #[test]
    fn options_override_a_model_and_gpus_give_the_rest_to_data_parallelism() {
        let report = of("gpt-3-175b", &[("gpus", "512"), ("pp", "16")], None, false).unwrap();
        assert_eq!((report.layout.degrees.pp, report.layout.degrees.dp, report.layout.gpus), (16, 4, 512));
        let report = of("gpt-3-175b:batch=64,dp=1", &[], None, false).unwrap();
        assert_eq!((report.layout.degrees.dp, report.layout.micro_batches), (1, 64));
    }

    #[test]
    fn a_layout_that_does_not_fit_is_answered_with_near_ones_that_do() {
        let report = of("gpt-3-175b", &[("pp", "1"), ("interleave", "1"), ("dp", "128")], Some("a100-8x200g"), false);
        let report = report.unwrap();
        assert_eq!(report.fits, Some(false));
        let near = report.nearest.unwrap();
        assert!(!near.is_empty() && near.iter().all(|row| row.layout.gpus == 1024 && row.memory_b < 80 << 30));
    }

    #[test]
    fn a_search_starts_from_a_named_model_and_keeps_what_is_typed() {
        let report = of("gpt-3-175b", &[("tp", "8")], Some("a100-8x200g"), true).unwrap();
        let found = report.search.unwrap();
        assert!(found.fitting > 20 && found.fastest.len() == 20 && found.second.is_some());
        assert!(found.fastest.iter().all(|row| row.layout.degrees.tp == 8 && row.layout.gpus == 1024));
        assert_eq!(report.llm.step_s, Some(found.fastest[0].step_s));
    }

    #[test]
    fn mistakes_have_their_place() {
        for (model, settings, machine, expected) in [
            ("llm:layers=12,hidden=768,heads=12", vec![("tp", "5")], None, "--tp:1:1"),
            ("llm:layers=12,hidden=768,heads=x", vec![], None, "MODEL:1:32"),
            ("gpt-4", vec![], None, "unknown model `gpt-4`"),
            ("gpt-3-175b", vec![], Some("myrinet"), "`myrinet` has no [gpu] table"),
            ("gpt-3-175b:layer=3", vec![], None, "did you mean `layers`?"),
        ] {
            let said = of(model, &settings, machine, false).unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
    }
}
