use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::*;

/// Returns the instructions of a file according to `objdump`: address, bytes, text.
fn disassembled(file: &str) -> BTreeMap<u64, (Vec<u8>, String)> {
    let output = Command::new("objdump").args(["-d", "-w", "--section=.text", "-M", "intel", file]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let address = u64::from_str_radix(parts.next()?.trim().strip_suffix(':')?, 16).ok()?;
        let bytes =
            parts.next()?.split_whitespace().map(|byte| u8::from_str_radix(byte, 16)).collect::<Result<_, _>>().ok()?;
        Some((address, (bytes, parts.next().unwrap_or_default().to_owned())))
    };
    text.lines().filter_map(line).collect()
}

/// The mathematical library has code for processors with every extension; the C library has much of
/// everything else.
#[test]
fn lengths_and_operands_are_those_that_objdump_sees() {
    let libraries = ["libm.so.6", "libc.so.6"].map(|name| format!("/lib/x86_64-linux-gnu/{name}"));
    if Command::new("objdump").arg("--version").output().is_err() || !Path::new(&libraries[0]).exists() {
        eprintln!("SKIPPED: there is no objdump, or no library to look into");
        return;
    }
    let (mut all, mut unknown) = (0_u32, 0_u32);
    // First wrong instruction of each name.
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    for (bytes, text) in libraries.iter().flat_map(|file| disassembled(file).into_values()) {
        if text.starts_with("(bad)") || bytes[0] == 0x9b || text.starts_with('.') || text.contains("data16") {
            continue;
        }
        all += 1;
        let Some(instruction) = decode(&bytes) else {
            unknown += 1;
            continue;
        };
        let name = text.split_whitespace().next().unwrap_or_default();
        let mut check = |holds: bool| {
            if !holds {
                wrong.entry(name.to_owned()).or_insert_with(|| format!("{text}: {bytes:02x?}: {instruction:?}"));
            }
        };
        check(instruction.length == bytes.len());
        let in_memory = text.contains('[') && !text.contains("nop") && !text.starts_with("prefetch");
        let is_text =
            ["movs", "stos", "cmps", "scas", "lods"].iter().any(|text| name.trim_start_matches("rep").contains(text));
        if in_memory && !is_text && !text.contains("gather") && !text.contains("scatter") && !text.contains("rep") {
            check(instruction.operand.is_some());
        }
        // The first operand is written.
        if text.starts_with("mov") && !is_text {
            let operands = text.split_once(' ').map_or("", |(_, rest)| rest.trim());
            let (to, from) = operands.split_once(',').unwrap_or((operands, ""));
            let size = |operand: &str| {
                let sizes = [("BYTE", 1), ("XMMWORD", 16), ("QWORD", 8), ("DWORD", 4), ("WORD", 2)];
                sizes.iter().find(|(word, _)| operand.starts_with(word)).map(|(_, size)| *size)
            };
            if let Some(size) = size(to) {
                check((instruction.read, instruction.written) == (0, size));
            } else if let Some(size) = size(from) {
                check((instruction.read, instruction.written) == (size, 0));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(all > 100_000 && unknown * 400 < all, "{unknown} of {all} instructions are not known");
}

#[test]
fn registers_that_hold_addresses_are_followed() {
    let of = |bytes: &[u8]| decode(bytes).unwrap().register;
    assert_eq!(of(&[0x48, 0x8d, 0x45, 0xf0]), RegisterEffect::Address(0)); // lea rax, [rbp-16]
    assert_eq!(of(&[0x48, 0x89, 0xc3]), RegisterEffect::Copied(3, 0)); // mov rbx, rax
    assert_eq!(of(&[0x48, 0x01, 0xd0]), RegisterEffect::Added(0, 2)); // add rax, rdx
    assert_eq!(of(&[0x48, 0x83, 0xe0, 0xf0]), RegisterEffect::Kept); // and rax, -16
    assert_eq!(of(&[0x48, 0x8b, 0x03]), RegisterEffect::Loaded(0)); // mov rax, [rbx]
    assert_eq!(of(&[0x48, 0x89, 0x03]), RegisterEffect::Stored(0)); // mov [rbx], rax
    assert_eq!(of(&[0x41, 0xb8, 1, 0, 0, 0]), RegisterEffect::Set(8)); // mov r8d, 1
}
