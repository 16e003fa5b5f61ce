//! Tables of the closed form of a training step.

use std::fmt::Write;

use super::figures::{Quantity, counted, seconds};
use super::{Answer, Grid, printable};
use hayase::columns::{Blank, Columns};
use hayase::report::replay::PlayedStep;
use hayase::report::{LayoutRow, TrainingReport};
use hayase::training::{StageMemory, StepParts};
use hayase::units::Bytes;

/// Largest number of stages and of layouts that are listed.
const LISTED: usize = 16;

/// Returns operations, memory, communication and time of a training step for a terminal.
pub fn training(report: &TrainingReport) -> Answer {
    let mut text = Answer::new();
    let gpus = report.layout.gpus;
    let title = format!("{} on {gpus} GPUs: {}", report.model, report.layout.words);
    let _ = writeln!(text, "{}\n", printable(&title));
    let share = |part: f64| format!("{:.1} %", 100.0 * part);
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<15}{value}");
    };
    let llm = &report.llm;
    let active = match llm.active_parameters == llm.parameters {
        true => String::new(),
        false => format!(", of which a token meets {}", in_groups(llm.active_parameters)),
    };
    line("parameters", format!("{}{active}", in_groups(llm.parameters)));
    let flops = |flops: u128| format!("{:.4e} operations", flops as f64);
    line("forward pass", flops(llm.forward_flops));
    line("step", format!("{}, {:.4e} executed", flops(llm.model_flops), llm.hardware_flops as f64));
    line("micro-batches", report.layout.micro_batches.to_string());
    if let (Some(step), Some(mfu), Some(hfu), Some(bound)) = (llm.step_s, llm.mfu, llm.hfu, &report.bound) {
        line("time", format!("{} predicted, MFU {}, HFU {}", seconds(step), share(mfu), share(hfu)));
        line("bound by", bound.clone());
    }
    if let (Some(fits), Some(usable)) = (report.fits, report.usable_b) {
        let largest = report.stages.iter().map(|stage| stage.memory_b).max().unwrap_or(0);
        let fits = if fits { "fits" } else { "does not fit" };
        line("memory", format!("{fits}: {} of {}", bytes(largest), bytes(usable)));
    }
    write_stages(&mut text, &report.stages);
    write_communication(&mut text, report);
    write_time(&mut text, report);
    if let Some(nearest) = &report.nearest {
        write_layouts(&mut text, "Nearest layouts that fit", nearest);
        if nearest.is_empty() {
            text.push_str("none on this number of GPUs\n");
        }
    }
    if let Some(search) = &report.search {
        write_layouts(&mut text, &format!("Fastest of {} layouts that fit", search.fitting), &search.fastest);
        write_layouts(&mut text, "Best in time and memory", &search.pareto);
        if let Some(second) = &search.second {
            let _ = writeln!(text, "\n{second}.");
        }
    }
    text
}

/// Adds the time of a step that was played by what its last GPU computed or waited for, and the memory of stages.
pub(super) fn played(text: &mut Answer, step: &PlayedStep) {
    let StepParts { rank, step_s, .. } = step.parts;
    let [mfu, hfu] = [step.mfu, step.hfu].map(|part| format!("{:.1} %", 100.0 * part));
    let change = 100.0 * (step_s / step.closed_form_s - 1.0);
    let closed = format!("closed form {} ({change:+.1} %)", seconds(step.closed_form_s));
    let _ = writeln!(text, "\nTraining step: MFU {mfu}, HFU {hfu}; {closed}");
    if step.played < step.micro_batches {
        let [played, all] = [step.played, step.micro_batches].map(super::figures::grouped);
        let _ = writeln!(text, "{played} of {all} micro-batches are played; the others repeat them");
    }
    text.push_str("\n");
    text.title(format!("Time of GPU {rank}, which ends last: computation, and waits without any"));
    parts_of(text, &step.parts.parts(), step_s);
    write_stages(text, &step.stages);
}

/// Adds the table of parts of the time of a step.
fn parts_of(text: &mut Answer, parts: &[(&str, f64)], step: f64) {
    let columns = Columns::<(&str, f64)>::new()
        .words("part", |(name, _)| (*name).to_owned())
        .time("time", |(_, time)| *time)
        .part("share", move |(_, time)| time / step);
    text.table(Grid::of(&columns, parts.iter().filter(|(_, time)| *time > 0.0)).keys(1));
}

/// Returns an integer with commas between groups of three digits.
fn in_groups(value: u128) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns an amount of data in words.
fn bytes(value: u128) -> String {
    Bytes(u64::try_from(value).unwrap_or(u64::MAX)).to_string()
}

/// Writes the memory of stages by kind: all, or the first, one in the middle and the last.
fn write_stages(text: &mut Answer, stages: &[StageMemory]) {
    let middle = stages.len() / 2;
    let shown = |at: usize| stages.len() <= LISTED || at < 2 || at == middle || at + 1 == stages.len();
    let stages = stages.iter().enumerate().filter(|(at, _)| shown(*at)).map(|(_, stage)| stage);
    text.push_str("\n");
    text.title("Memory of a GPU");
    let columns = Columns::<StageMemory>::new()
        .id("stage", |stage| stage.stage)
        .count("layers", |stage| stage.layers)
        .words("parameters", |stage| counted(stage.parameters as f64))
        .quantity("weights", Quantity::Bytes, |stage| stage.weights_b as f64)
        .quantity("gradients", Quantity::Bytes, |stage| stage.gradients_b as f64)
        .quantity("optimizer", Quantity::Bytes, |stage| stage.optimizer_b as f64)
        .quantity("activations", Quantity::Bytes, |stage| stage.activation_b as f64)
        .quantity("sum", Quantity::Bytes, |stage| stage.memory_b as f64);
    text.table(Grid::of(&columns, stages).keys(1));
}

/// Writes collectives, messages and bytes by parallelism.
fn write_communication(text: &mut Answer, report: &TrainingReport) {
    let of = &report.llm.communication;
    let rows = [
        ("tensor", of.tp.collectives, of.tp.bytes),
        ("pipeline", of.pp.sends, of.pp.bytes),
        ("data", of.dp.collectives, of.dp.bytes),
        ("expert", of.ep.collectives, of.ep.bytes),
        ("context", of.cp.sends, of.cp.bytes),
    ];
    text.push_str("\n");
    text.title("Communication of a GPU of the first stage in a step");
    let columns = Columns::<(&str, u128, u128)>::new()
        .words("parallelism", |(name, ..)| (*name).to_owned())
        .words("operations", |(_, operations, _)| in_groups(*operations))
        .quantity("bytes", Quantity::Bytes, |(.., amount)| *amount as f64);
    let used: Vec<_> = rows.iter().filter(|(_, operations, _)| *operations > 0).collect();
    match used.is_empty() {
        true => text.push_str("none\n"),
        false => text.table(Grid::of(&columns, used).keys(1)),
    }
}

/// Writes the parts of the time of a step.
fn write_time(text: &mut Answer, report: &TrainingReport) {
    let (Some(time), Some(step)) = (&report.time, report.llm.step_s) else { return };
    text.push_str("\n");
    text.title("Time of a step on its slowest stage");
    parts_of(text, &time.parts(), step);
}

/// Writes layouts with their time and memory.
fn write_layouts(text: &mut Answer, title: &str, rows: &[LayoutRow]) {
    text.push_str("\n");
    text.title(title);
    let columns = Columns::<LayoutRow>::new()
        .text("layout", |row| &row.layout.words)
        .time("step", |row| row.step_s)
        .when(rows.iter().any(|row| row.simulated_s.is_some()), |columns| {
            columns.time("simulated", |row: &LayoutRow| Blank(row.simulated_s))
        })
        .part("MFU", |row| row.mfu)
        .quantity("memory", Quantity::Bytes, |row| row.memory_b as f64);
    if !rows.is_empty() {
        text.table(Grid::of(&columns, rows.iter().take(LISTED)).keys(1));
    }
}
