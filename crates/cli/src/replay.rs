//! `hayase replay`: how long a program takes on other nodes and another network, and where its time goes.

use super::play::{Asked, play};
use super::trace::TraceArgs;
use super::{End, Failure, Voice, caveats, progress, regions};
use hayase::diagnostic::{Diagnostic, Invalid, Located, file_names};
use hayase::program::generate::Generator;
use hayase::scenario::Scenario;
use hayase::simulation::ProgramWork;
use hayase::system::{ProgramSpec, ReadProgram, WorkloadSpec};
use hayase::trace::Options;
use hayase::units::Bytes;

pub mod args;
use args::{PlayedOn, ReplayArgs};

/// Replays a program.
pub fn replay(args: &ReplayArgs, voice: Voice) -> Result<End, Failure> {
    let asked = Asked::new("replay", args.seeds, &args.out, &args.window, voice);
    asked.begin::<ProgramWork>()?;
    let work = program(&args.input, &args.on, args.fragment, voice)?;
    let work = args.on.regions.ask(work, voice)?;
    let scenario = args.on.loader().on_read(progress::reading(voice.show)).load_program(work)?;
    say_links(&scenario, voice);
    if scenario.system().node().facts().is_ideal && scenario.network().is_none() {
        voice.hint("nodes and network are ideal; name a machine (-m, see `hayase machine list`) or a fabric (-t)");
    }
    play(&scenario, &asked)
}

/// Says how the links of the fabric compare with those of the machine, where it keeps its own.
pub(super) fn say_links(scenario: &Scenario<ProgramWork>, voice: Voice) {
    if let Some(comparison) = scenario.system().own_links() {
        voice.say(comparison);
    }
}

/// The program that is named, as a scenario says it.
fn workload(input: &TraceArgs, on: &PlayedOn, fragment: Option<Bytes>) -> ProgramSpec {
    let mut workload = ProgramSpec::named(file_names::text_of(&input.trace).into());
    let fragment = fragment.map(Located::from);
    if let ProgramSpec::Trace(spec) = &mut workload {
        spec.fragment = fragment;
        spec.truncated = input.truncated;
        spec.flop_rate = (input.flop_rate != Options::default().flop_rate).then(|| input.flop_rate.into());
        spec.wildcards = on.wildcards.into();
    } else if let ProgramSpec::Program(spec) = &mut workload {
        spec.fragment = fragment;
    }
    workload.set_cpu_speed(on.cpu_speed);
    workload.set_part(&on.regions.part());
    workload
}

/// Reads the program that is named; messages longer than `fragment` go in pieces.
pub(super) fn program(
    input: &TraceArgs,
    on: &PlayedOn,
    fragment: Option<Bytes>,
    voice: Voice,
) -> Result<ProgramWork, Failure> {
    let sources = progress::sources(voice.show);
    let text = file_names::text_of(&input.trace);
    let workload = workload(input, on, fragment);
    let read = workload.read(&sources);
    let read = read.map_err(|diagnostics| diagnostics.into_iter().map(|mistake| with_hint(mistake, &text)).collect());
    let ReadProgram { program, name, start_up } = read.map_err(|diagnostics| Invalid { diagnostics, sources })?;
    regions::say(start_up, &program, voice);
    caveats::judge_program(&program, &name, input.strictness, voice)?;
    Ok(ProgramWork {
        cpu_speed: on.cpu_speed,
        wildcards: on.wildcards.into(),
        start_up,
        spec: Some(WorkloadSpec::Program(workload)),
        ..ProgramWork::new(program, name)
    })
}

/// The mistake of a trace that cannot be read, with what was meant where that is something else: a rule, or messages.
fn with_hint(mistake: Diagnostic, text: &str) -> Diagnostic {
    match mistake.code {
        "missing-file" => match Generator::meant(text) {
            Some(rule) => mistake.help(format!("did you mean the program by rule `{rule}`?")),
            None if text.contains(':') => {
                let rules: Vec<&str> = Generator::names().collect();
                mistake.help(format!("programs by rule are: {}", rules.join(", ")))
            }
            None => mistake,
        },
        "unknown-format" if text.ends_with(".csv") || text.ends_with(".csv.zst") => {
            mistake.help(format!("a list of messages is sent with `hayase run -t FABRIC -p {text}`"))
        }
        _ => mistake,
    }
}
