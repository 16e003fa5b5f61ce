//! NCCL's choices beside its logs, and simulated collectives beside measurements and other simulators
//! (`docs/notes/nccl.md`).

use super::fabrics::{Point, judge};
use super::{Case, CaseError, Context, Outcome};
use hayase::nccl::{Algorithm, Operation, System, Tuning, bus_factor};
use hayase::report::NcclRow;
use hayase::scenario::Loader;
use hayase::scenario::library::Shelf;
use hayase::study::nccl::{Request, nccl};
use hayase::sweep::Control;
use hayase::units::{Bytes, Time};

/// Systems that NCCL described in public logs.
const SYSTEMS: &str = include_str!("../nccl/systems.json");
/// Values that NCCL printed: entries of its tables, choices, and times.
const LOGGED: &str = include_str!("../nccl/logged.csv");
/// Measured bus bandwidths of all-reduces: GPUs, nodes, size, GB/s.
const MEASURED: &str = include_str!("../nccl/measured.csv");

/// Bus bandwidths of all-reduces on H100 with rails by SimAI: GPUs, size \[MB\], GB/s. Of 256 GPUs with Spectrum-X.
const SIMAI: [(Algorithm, u32, u64, f64); 9] = [
    (Algorithm::Ring, 32, 16, 141.84),
    (Algorithm::Ring, 32, 32, 153.68),
    (Algorithm::Ring, 32, 64, 160.60),
    (Algorithm::Ring, 32, 128, 163.85),
    (Algorithm::Ring, 32, 256, 165.72),
    (Algorithm::Ring, 32, 512, 166.68),
    (Algorithm::NvlsTree, 32, 16, 148.88),
    (Algorithm::NvlsTree, 32, 512, 218.09),
    (Algorithm::Ring, 256, 512, 45.65),
];
const SIMAI_REASON: &str =
    "published without latencies, protocol and chunks; links are those of `h100-8x400g`, here without launch";
const STORED: &str =
    "ASTRA-sim's congestion-aware network stores and forwards whole messages, so a switch doubles times";

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("nccl/logged", logged)
            .source("lines that NCCL printed itself, in public logs of H100 and RTX 5090")
            .expect("12 entries of its tables, 17 choices, 5 times", "entries: printed decimal; times: 1e-6"),
        Case::new("nccl/measured", measured)
            .source(
                "nccl-tests on 8, 16 and 32 H200 with EFA; card bandwidth and latency are set to rows of this table",
            )
            .expect(
                "bus bandwidths of all-reduces, 16 MiB to 4 GiB",
                "12 % from 100 MiB on, 3 % at 4 GiB; 16 MiB: none",
            )
            .takes(20, 20),
        Case::new("nccl/astra-sim-ring", |_: &Context<'_>| rings(&[(1.0, 43_025.0), (2.0, 50_025.0)]))
            .source(
                "ASTRA-sim, analytical, 8 ranks, 1 MiB, 50 GiB/s, 500 ns a hop; less its 10 (k + 1) + 7 x 3 x 81 ns",
            )
            .expect("43,025 ns on a ring, 50,025 ns over a switch", "14 ns: it rounds each of 14 steps down"),
        Case::new("nccl/astra-sim-switch", |_: &Context<'_>| Ok(rings(&[(2.0, 84_199.0)])?.claimed(STORED)))
            .source("ASTRA-sim, congestion-aware, the same over a switch")
            .expect("84,199 ns", "14 ns"),
        Case::new("nccl/simai-rails", simai)
            .source("SimAI (NSDI 2025), all-reduces on 32 and 256 H100 with rails; claims, not measured")
            .expect("32: ring 141.84 to 166.68 GB/s (16 to 512 MB), NVLS 148.88 to 218.09; 256: 45.65", "10 %")
            .takes(20, 20),
    ]
}

/// Reads a number.
fn number<T: std::str::FromStr>(cell: &str) -> Result<T, CaseError> {
    cell.parse().map_err(|_| format!("`{cell}` is not a number"))
}

fn logged(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let (mut equal, mut all, mut wrong) = (0, 0, Vec::new());
    for line in LOGGED.lines().filter(|line| !line.starts_with(['#', 'k'])) {
        let cells: Vec<&str> = line.split(',').collect();
        let [kind, name, op, ranks, nodes, bytes, algorithm, protocol, time, latency, bandwidth] = cells[..] else {
            return Err(line.to_owned());
        };
        let system = System::from_json(SYSTEMS, 0, name).map_err(|_| name.to_owned())?;
        let operation = Operation::ALL.into_iter().find(|of| of.name() == op).ok_or("operation")?;
        let tuning = Tuning::new(&system, operation, number(ranks)?, number(nodes)?).map_err(|wrong| wrong.message)?;
        let (ours, expected) = if kind == "entry" {
            let is_it =
                |entry: &&hayase::nccl::Entry| (entry.algorithm.name(), entry.protocol.name()) == (algorithm, protocol);
            let entry = tuning.entries().iter().find(is_it).ok_or("no entry")?;
            let ours = format!("{:.1}/{:.1}", entry.latency_us, entry.bandwidth_gbps);
            (ours, format!("{latency}/{bandwidth}"))
        } else {
            let best = *tuning.ranking(number(bytes)?).first().ok_or("no choice")?;
            let is_near = time.is_empty() || (best.time_us / number::<f64>(time)? - 1.0).abs() < 1e-6;
            let shown = if is_near { time.to_owned() } else { best.time_us.to_string() };
            let ours = format!("{} {} {shown}", best.algorithm.name(), best.protocol.name());
            (ours, format!("{algorithm} {protocol} {time}"))
        };
        all += 1;
        equal += u32::from(ours == expected);
        if ours != expected {
            wrong.push(format!("{line}: {ours}"));
        }
    }
    Ok(Outcome::check(equal == all && all == 29, format!("{equal} of {all} values equal")).note(wrong.join("\n")))
}

/// Simulates an all-reduce on the fabric of a system, with an algorithm or NCCL's choice.
fn all_reduce(
    system: &System,
    (ranks, nodes): (u32, u32),
    bytes: u64,
    algorithm: Option<Algorithm>,
    fabric: Loader,
) -> Result<NcclRow, CaseError> {
    let tuning = Tuning::new(system, Operation::AllReduce, ranks, nodes).map_err(|wrong| wrong.message)?;
    let launch = system.launch.as_deref().copied().unwrap_or(Time::ZERO);
    let sizes = vec![bytes];
    let fabric = Some(fabric);
    let request = Request { name: String::new(), tuning, sizes, algorithm, protocol: None, launch, fabric, log: None };
    let report = nccl(&request, Control::default()).map_err(|error| error.to_string())?;
    report.rows.into_iter().next().ok_or_else(|| "no row".to_owned())
}

/// Returns the system of a machine, and its fabric of a number of nodes.
fn machine(name: &str, nodes: u32) -> Result<(System, Loader), CaseError> {
    let text = Shelf::Machines.get(name).ok_or("no machine")?.text;
    let system = System::of_machine(text, 0).ok().flatten().ok_or("no [nccl]")?;
    let topology = system.topology.as_deref().ok_or("no fabric")?.replace("{nodes}", &nodes.max(2).to_string());
    Ok((system, Loader::new().topology(&topology)))
}

fn measured(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let (mut lines, mut is_good, mut worst) = (Vec::new(), true, 0.0_f64);
    for row in MEASURED.lines().skip(1) {
        let [gpus, nodes, size, measured] = row.split(',').collect::<Vec<_>>()[..] else { return Err(row.to_owned()) };
        let (ranks, nodes, measured) = (number(gpus)?, number(nodes)?, number::<f64>(measured)?);
        let bytes: Bytes = size.parse().map_err(|_| row.to_owned())?;
        let (system, fabric) = machine("h200-8x400g", nodes)?;
        let row = all_reduce(&system, (ranks, nodes), bytes.0, None, fabric)?;
        let ours = row.bus_bandwidth_bps.ok_or("not simulated")? / 1e9;
        let error = ours / measured - 1.0;
        let most = match bytes.0 >> 20 {
            ..100 => f64::INFINITY,
            100..4096 => 0.12,
            _ => 0.03,
        };
        is_good &= error.abs() <= most;
        worst = if most < 1.0 { worst.max(error.abs()) } else { worst };
        lines.push(format!("{gpus} GPUs, {size}: {ours:.1} GB/s, measured {measured:.0}, {:+.1} %", 100.0 * error));
    }
    let got = format!("from 100 MiB on at most {:.1} % off", 100.0 * worst);
    Ok(Outcome::check(is_good, got).note(lines.join("\n")))
}

/// Compares rings over a number of hops with times \[ns\] of ASTRA-sim.
fn rings(cases: &[(f64, f64)]) -> Result<Outcome, CaseError> {
    let text =
        "{\"cc\": 80, \"channels\": 1, \"graphs\": {\"ring\": {\"channels\": 1, \"bw_intra\": 1, \"bw_inter\": 1}}}";
    let system = System::from_json(text, 0, "").map_err(|_| "no system")?;
    let tuning = Tuning::new(&system, Operation::AllReduce, 8, 1).map_err(|wrong| wrong.message)?;
    let mut points = Vec::new();
    for &(hops, astra) in cases {
        let (bandwidth, latency) = (50_u64 << 30, 250.0 * hops);
        let fabric =
            format!("[topology.crossbar]\nnodes = 8\nbandwidth = \"{bandwidth} B/s\"\nlatency = \"{latency} ns\"\n");
        let row = all_reduce(&system, (8, 1), 1 << 20, Some(Algorithm::Ring), Loader::new().text("fabric", &fabric))?;
        let entry = tuning.entries().iter().find(|entry| entry.protocol.name() == row.protocol).ok_or("no entry")?;
        let ns = 1e9 * row.simulated_s.ok_or("not simulated")? - 1e3 * entry.latency_us;
        points.push(Point { what: format!("{hops} hops [ns]"), expected: astra - 1851.0, got: ns });
    }
    Ok(judge(&points, 14.0, false))
}

fn simai(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut points = Vec::new();
    for (algorithm, ranks, megabytes, expected) in SIMAI {
        let (bytes, nodes) = (megabytes * 1_000_000, ranks / 8);
        let (system, fabric) = machine("h100-8x400g", nodes)?;
        let row = all_reduce(&system, (ranks, nodes), bytes, Some(algorithm), fabric)?;
        let launch = system.launch.as_deref().map_or(0.0, |launch| launch.seconds());
        let time = row.simulated_s.ok_or("not simulated")? - launch;
        let got = bytes as f64 * bus_factor(Operation::AllReduce, ranks) / time / 1e9;
        let what = format!("{ranks} GPUs, {}, {megabytes} MB [GB/s]", algorithm.name());
        points.push(Point { what, expected, got });
    }
    Ok(judge(&points, 0.1, true).claimed(SIMAI_REASON))
}
