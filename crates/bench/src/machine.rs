//! Origin of the figures: the machine and the program.

use std::fs;

use hayase::report::Machine;

/// Returns the description of this machine and this program.
pub fn machine() -> Machine {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let compiler = match env!("HAYASE_COMPILER") {
        "" => "unknown",
        version => version,
    };
    Machine {
        cpu: cpu().unwrap_or_else(|| "unknown".to_owned()),
        cores,
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        compiler: compiler.to_owned(),
        build: if cfg!(debug_assertions) { "with debug assertions" } else { "optimised" }.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Returns the name of the processor, if the system tells (Linux).
fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
