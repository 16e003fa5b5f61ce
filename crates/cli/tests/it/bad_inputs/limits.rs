//! Endless inputs, outputs that cannot be written, and names that are not text.

use std::ffi::OsStr;
use std::fs;

use super::{Desk, FABRIC, MESSAGES, answer};

/// Largest memory for reading [KiB].
const MEMORY: u64 = 3_000_000;

fn words(text: &str) -> Vec<&OsStr> {
    text.split_whitespace().map(OsStr::new).collect()
}

/// Returns `megabytes` MiB of one byte, compressed, as a sequence of frames.
fn compressed(byte: u8, megabytes: usize) -> Vec<u8> {
    zstd::encode_all(vec![byte; 1 << 20].as_slice(), 1).unwrap().repeat(megabytes)
}

#[test]
#[cfg(target_os = "linux")]
fn what_has_no_end_is_not_read_to_it() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    let link = |name: &str| std::os::unix::fs::symlink("/dev/zero", desk.path().join(name)).unwrap();
    ["z.toml", "z.csv", "z.json", "z.goal", "z.xml", "z.prog", "z.comm"].into_iter().for_each(link);
    for typed in [
        "run /dev/zero",
        "run z.toml",
        "run z.json",
        "check z.toml",
        "check z.prog",
        "run -t fabric.toml -p z.csv",
        "run -t z.xml -p all-to-all-pairwise",
        "run -t fabric.toml -p all-to-all-pairwise --placement z.csv",
        "replay z.goal",
        "replay /dev/zero",
        "replay linear -m ./z.toml",
        "trace info /dev/zero",
        "calibrate /dev/zero",
        "master-slave /dev/zero --workers 4",
        "program show z.prog",
        "predict --program z.prog --computation z.prog",
    ] {
        let answer = answer(desk.path(), &words(typed), MEMORY);
        assert_eq!(answer.code, Some(2), "{typed}: {}", answer.stderr);
        assert!(answer.stderr.len() < 3000 && answer.stderr.contains("zero") | answer.stderr.contains("z."), "{typed}");
    }
}

#[test]
fn what_expands_beyond_reason_is_not_expanded() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    fs::write(desk.path().join("x.toml.zst"), compressed(b'x', 1500)).unwrap();
    let comments = zstd::encode_all("#\n".repeat(1 << 19).as_bytes(), 1).unwrap().repeat(1500);
    fs::write(desk.path().join("comments.csv.zst"), comments).unwrap();
    // A rank of a DUMPI trace, whose file is kept whole.
    fs::write(desk.path().join("t-0000.bin.zst"), compressed(0, 1500)).unwrap();
    fs::write(desk.path().join("t.meta"), "numprocs=1\n").unwrap();
    for (typed, what) in [
        ("run x.toml.zst", "at most 500 times as many are expected"),
        ("run -t fabric.toml -p comments.csv.zst", "at most 500 times as many are expected"),
        ("trace info t.meta", "byte 0: the file does not begin with ff aa dd"),
    ] {
        let answer = answer(desk.path(), &words(typed), MEMORY);
        assert_eq!(answer.code, Some(2), "{typed}: {}", answer.stderr);
        assert!(answer.stderr.contains(what), "{typed}: {}", answer.stderr);
    }
}

/// Every reader of text soon gives up a file of nothing but blank lines, with a mistake about the file.
#[test]
fn gigabytes_of_blank_lines_are_given_up_soon() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    for name in ["b.toml.zst", "b.goal.zst", "b.csv.zst", "b.tsv.zst", "b.prog.zst", "b.comp.zst"] {
        fs::write(desk.path().join(name), compressed(b'\n', 900)).unwrap();
    }
    for typed in [
        "run b.toml.zst",
        "check b.toml.zst",
        "replay b.goal.zst",
        "trace info b.goal.zst",
        "replay b.tsv.zst",
        "run -t fabric.toml -p b.csv.zst",
        "run -t fabric.toml -p all-to-all-mpich --placement b.csv.zst",
        "calibrate b.csv.zst",
    ] {
        let answer = answer(desk.path(), &words(typed), MEMORY);
        assert_eq!(answer.code, Some(2), "{typed}: {}", answer.stderr);
        let said = &answer.stderr;
        assert!(said.contains("nothing but blank lines") && said.contains("b."), "{typed}: {said}");
    }
    // The first line of a data set names its format, so a blank one is a mistake.
    for typed in ["program show b.prog.zst", "predict --program b.prog.zst --computation b.comp.zst"] {
        let answer = answer(desk.path(), &words(typed), MEMORY);
        assert_eq!(answer.code, Some(2), "{typed}: {}", answer.stderr);
        assert!(answer.stderr.contains("this is not program data"), "{typed}: {}", answer.stderr);
    }
}

#[test]
fn a_cell_of_megabytes_is_not_shown_whole() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    fs::write(desk.path().join("m.csv"), format!("src,dst,bytes\n0,1,{}\n", "x".repeat(3_000_000))).unwrap();
    let answer = answer(desk.path(), &words("run -t fabric.toml -p m.csv"), MEMORY);
    assert_eq!(answer.code, Some(2));
    assert!(answer.stderr.len() < 3000 && answer.stderr.contains("m.csv:2:5"), "{} bytes", answer.stderr.len());
}

#[test]
fn loops_without_end_are_refused_before_they_are_unfolded() {
    let desk = super::good_files();
    let program = desk.read("a.prog");
    assert!(program.contains("loop L1 3"), "{program}");
    fs::write(desk.path().join("long.prog"), program.replace("loop L1 3", "loop L1 1000000000000")).unwrap();
    for typed in [
        "predict --program long.prog --computation a.comp -m myrinet",
        "check long.prog",
        "program extend a.prog --loop L1 --iterations 1000000000000 -o longer.prog",
    ] {
        let answer = answer(desk.path(), &words(typed), MEMORY);
        assert_eq!(answer.code, Some(2), "{typed}: {}", answer.stderr);
        assert!(answer.stderr.contains("fewer iterations"), "{typed}: {}", answer.stderr);
    }
}

#[test]
fn more_threads_than_are_of_use_are_not_started() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    // Each thread would take 2 MB of address space for its stack.
    let answer =
        answer(desk.path(), &words("compare -t fabric.toml -p messages.csv -j 20000 --format json"), 1_500_000);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_that_does_not_fit_the_limits_of_its_process_is_refused() {
    let desk = Desk::new();
    let typed = words("run -t fat-tree-3456 -p all-to-all-simple-spread --injection all");
    let answer = answer(desk.path(), &typed, 1_000_000);
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    assert!(answer.stderr.contains("are free"), "{}", answer.stderr);
}

#[test]
fn the_largest_numbers_add_up() {
    let desk = super::good_files();
    let platform = include_str!("../../../../../examples/guide/platform.xml").replace("125MBps", "1e308");
    fs::write(desk.path().join("platform.xml"), platform).unwrap();
    fs::write(desk.path().join("b.prog"), desk.read("a.prog").replace(" 7 100", " 7 -1")).unwrap();
    for typed in ["run -t platform.xml -p ring", "predict --program b.prog --computation a.comp -m myrinet"] {
        let answer = answer(desk.path(), &words(typed), MEMORY);
        assert_eq!(answer.code, Some(0), "{typed}: {}", answer.stderr);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_ends_is_said_and_no_abort() {
    let desk = Desk::new();
    let typed = words("accuracy -t torus-4x4 -p all-to-all-pairwise --seeds 1 --size 20KB -q -j 2");
    let mut said = 0;
    for memory in (48_000..200_000).step_by(8000) {
        let answer = answer(desk.path(), &typed, memory);
        // Below some limit the program itself does not fit, which the system's loader reports.
        assert!(matches!(answer.code, Some(0..=2 | 127)), "{memory} KiB: {:?} {}", answer.code, answer.stderr);
        said += u32::from(answer.stderr.contains("out of memory"));
    }
    assert!(said > 0);
}

#[test]
fn the_first_job_too_many_is_told_soon() {
    use std::fmt::Write;
    let mut text = "topology = \"fat-tree-54\"\n".to_owned();
    for number in 0..200_000 {
        write!(text, "[[job]]\nname = \"j{number}\"\nranks = 1\nworkload = \"ring\"\n").unwrap();
    }
    let desk = Desk::new().file("jobs.toml", &text);
    let answer = super::answer_within(desk.path(), &words("run jobs.toml"), MEMORY, 20);
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    assert!(answer.stderr.contains("j54") && answer.stderr.contains("jobs.toml"), "{}", answer.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_may_have_any_name() {
    use std::os::unix::ffi::OsStrExt;
    let desk = Desk::new();
    let fabric = OsStr::from_bytes(b"f\xe4bric.toml");
    let messages = OsStr::from_bytes(b"m\xffssages.csv");
    let report = OsStr::from_bytes(b"r\xe9port.json");
    fs::write(desk.path().join(fabric), FABRIC).unwrap();
    fs::write(desk.path().join(messages), MESSAGES).unwrap();
    let run = [OsStr::new("run"), OsStr::new("-t"), fabric, OsStr::new("-p"), messages, OsStr::new("-o"), report];
    let answered = answer(desk.path(), &run, MEMORY);
    assert_eq!(answered.code, Some(0), "{}", answered.stderr);
    assert!(desk.path().join(report).exists());
    let again = answer(desk.path(), &[OsStr::new("run"), report], MEMORY);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let over = answer(desk.path(), &[&run[..5], &[OsStr::new("-o"), messages]].concat(), MEMORY);
    assert_eq!(over.code, Some(2), "{}", over.stderr);
    assert_eq!(fs::read(desk.path().join(messages)).unwrap(), MESSAGES.as_bytes());
}

#[test]
#[cfg(target_os = "linux")]
fn help_that_cannot_be_written_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    for verb in ["--help", "run --help", "--version", "topology list"] {
        let typed = format!("\"$0\" {verb} >/dev/full");
        let status = std::process::Command::new("sh")
            .args(["-c", &typed])
            .arg(snapbox::cmd::cargo_bin!("hayase"))
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(status.status.code(), Some(1), "{verb}");
        assert!(String::from_utf8_lossy(&status.stderr).contains("standard output"), "{verb}");
    }
}

#[test]
fn a_file_by_another_name_is_still_an_input() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    fs::create_dir(desk.path().join("sub")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("messages.csv", desk.path().join("linked-messages.csv")).unwrap();
    fs::hard_link(desk.path().join("messages.csv"), desk.path().join("other-messages.csv")).unwrap();
    for output in ["./sub/../messages.csv", "linked-messages.csv", "other-messages.csv"] {
        let typed = format!("run -t fabric.toml -p messages.csv -o {output}");
        let answer = answer(desk.path(), &words(&typed), MEMORY);
        assert_eq!(answer.code, Some(2), "{output}: {}", answer.stderr);
        assert_eq!(desk.read("messages.csv"), MESSAGES);
    }
}
