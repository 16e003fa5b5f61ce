//! Checks of a library's machine code.

use std::path::Path;
use std::process::Command;

/// Returns true if an instruction may raise a floating-point flag, by its name.
fn may_raise(name: &str) -> bool {
    if cfg!(target_arch = "aarch64") {
        let moves = ["fmov", "fcsel", "fabs", "fneg"];
        return name.starts_with('f') && !moves.contains(&name) || matches!(name, "scvtf" | "ucvtf");
    }
    let name = name.strip_prefix('v').unwrap_or(name);
    let x87 = name.starts_with('f') && !matches!(name, "fnstenv" | "fldenv" | "fnclex" | "fnstcw" | "fldcw");
    let of_numbers = ["ss", "sd", "ps", "pd"].iter().any(|kind| name.ends_with(kind));
    let computes = [
        "add", "sub", "mul", "div", "sqrt", "ucomi", "comi", "max", "min", "round", "hadd", "hsub", "dp", "rcp",
        "rsqrt", "cmp", "fm", "fnm",
    ];
    x87 || name.starts_with("cvt") || (of_numbers && computes.iter().any(|start| name.starts_with(start)))
}

/// Returns the instructions of a library that may raise a floating-point flag, each with its function; `None`
/// if there is no `objdump`.
pub fn floating_point(library: &Path) -> Option<Vec<String>> {
    let out = Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(library).output();
    let Some(out) = out.ok().filter(|out| out.status.success()) else {
        hayase_needs::skipped("there is no objdump");
        return None;
    };
    let (mut function, mut found, mut seen) = (String::new(), Vec::new(), 0);
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        // `   1234:\tcvttsd2si %xmm0,%rax`
        match line.split_once(":\t") {
            Some((_, instruction)) => {
                seen += 1;
                let prefixes = ["rep", "repz", "repnz", "lock", "bnd", "notrack", "data16"];
                let name = instruction.split_whitespace().find(|word| !prefixes.contains(word));
                if name.is_some_and(may_raise) {
                    found.push(format!("{function} {instruction}"));
                }
            }
            None => function = line.to_owned(),
        }
    }
    assert!(seen > 10_000, "{} is disassembled", library.display());
    Some(found)
}
