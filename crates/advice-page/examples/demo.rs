//! Writes pages that show the features and limits of the page: `demo FOLDER`.
//!
//! - `gauss.html` is a Gaussian elimination on 16 ranks with a million calls. Its times come from a small model of a
//!   network, not from a machine, and its gains are made up.
//! - `gauss.sarif` is the same advice as a log.
//! - `odd.html` has names that would break a page that does not escape them.
//! - `empty.html` has nothing, and `quiet.html` one rank without a call.
//! - `wide.html` has 300 ranks, and `long.html` more spans than are kept one by one.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use hayase_advice_page::{
    Activity, Detail, Finding, Gain, Mark, Message, PageData, Role, Rule, Run, Source, Span, Together, Unit, page,
    sarif,
};

const FILE: &str = "examples/programs/gauss.c";

fn main() -> io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let write = |name: &str, data: &PageData| {
        let mut out = BufWriter::new(File::create(Path::new(&folder).join(name))?);
        page(data, &mut out)?;
        out.flush()
    };
    let gauss = gauss_page(16, 15_700);
    write("gauss.html", &gauss)?;
    let log = serde_json::to_string_pretty(&sarif(&gauss, env!("CARGO_PKG_VERSION")))?;
    std::fs::write(Path::new(&folder).join("gauss.sarif"), log)?;
    let odd = odd_page();
    write("odd.html", &odd)?;
    std::fs::write(Path::new(&folder).join("odd.sarif"), sarif(&odd, env!("CARGO_PKG_VERSION")).to_string())?;
    write("empty.html", &PageData::new(Run::new(0)))?;
    let mut quiet = Run::new(1);
    quiet.span(0, Span::new(Activity::Computation, 0, 1_000_000));
    write("quiet.html", &PageData::new(quiet))?;
    let mut wide = gauss_page(300, 60);
    wide.together.iter_mut().for_each(|together| together.left_out.clear());
    wide.together.iter_mut().for_each(|together| together.why.clear());
    write("wide.html", &wide)?;
    let mut run = Run::new(16).keeping(200_000, 100_000);
    eliminate(&mut run, 8_000);
    write("long.html", &PageData { program: "gauss, thinned".into(), ..PageData::new(run) })
}

/// Latency and time per byte of the network [ns], overhead of a call [ns], time per element [ns].
const LATENCY: u64 = 6_000;
const BYTE_TIME: u64 = 5;
const OVERHEAD: u64 = 3_000;
const ELEMENT_TIME: u64 = 60;

/// Plays the elimination of `n` rows: the computation, sends and waits of each rank.
fn eliminate(run: &mut Run, n: u64) {
    let ranks = run.ranks() as usize;
    let line = |run: &mut Run, line| run.place(FILE, line);
    let [send, receive, update, scan, first, second] = [32, 41, 49, 58, 60, 61].map(|number| line(run, number));
    let mut now = vec![0u64; ranks];
    let mut event = vec![0u64; ranks];
    let mut noise = 12_345u64;
    // All pieces of a call have the number of its first piece.
    let call = |run: &mut Run, event: &mut [u64], rank: usize, pieces: &[Span<'_>]| {
        pieces.iter().for_each(|piece| run.span(rank as u32, Span { event: Some(event[rank]), ..*piece }));
        event[rank] += 1;
    };
    let size = |step: u64| 8 * (1 + (n - step) % 1280);
    // Sender of the last row and its arrival at each rank: the critical path to the rank that is last at the next
    // reduction.
    let mut row: (usize, Vec<u64>) = (0, vec![0; ranks]);
    for step in 0..n {
        for (rank, now) in now.iter_mut().enumerate() {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let work = (n - step) % 1280 * 5 + (noise >> 52) + 400 * rank as u64;
            run.span(rank as u32, Span { place: scan, ..Span::new(Activity::Computation, *now, *now + work) });
            *now += work;
        }
        for place in [first, second] {
            let together = now.iter().max().copied().unwrap_or(0) + LATENCY;
            let late = (0..ranks).max_by_key(|&rank| now[rank]).unwrap_or(0);
            if place == first {
                let (owner, had) = &row;
                for hop in 1..=(late + ranks - owner) % ranks {
                    let (from, rank) = ((owner + hop - 1) % ranks, (owner + hop) % ranks);
                    run.critical(rank as u32, Some(from as u32), 0, had[rank]);
                }
            }
            run.critical(late as u32, None, 0, together);
            for (rank, now) in now.iter_mut().enumerate() {
                let (begin, at) =
                    (*now, Span { call: "Allreduce", place, bytes: 16, ..Span::new(Activity::Wait, 0, 0) });
                let last = together - OVERHEAD;
                let pieces = [
                    Span { begin, end: last, ..at },
                    Span { kind: Activity::Collective, begin: last, end: together, ..at },
                ];
                call(run, &mut event, rank, &pieces);
                *now = together;
            }
        }
        let (owner, bytes) = ((step % ranks as u64) as usize, size(step));
        let mut arrives = 0;
        row.0 = owner;
        for hop in 0..ranks {
            let rank = (owner + hop) % ranks;
            let (before, after) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
            if hop > 0 {
                let begin = now[rank];
                let waited = begin.max(arrives);
                let at = Span {
                    call: "Recv",
                    place: receive,
                    bytes,
                    tag: step as i32,
                    peer: Some(before as u32),
                    ..Span::new(Activity::Wait, begin, waited)
                };
                let pieces = [at, Span { kind: Activity::Receive, begin: waited, end: waited + OVERHEAD, ..at }];
                call(run, &mut event, rank, &pieces[usize::from(waited == begin)..]);
                let (from, to, sent) = (before as u32, rank as u32, now[before]);
                now[rank] = waited + OVERHEAD;
                row.1[rank] = now[rank];
                run.message(&Message {
                    bytes,
                    tag: step as i32,
                    from_place: send,
                    to_place: receive,
                    ..Message::new(from, to, sent, now[rank])
                });
                // The sender continues when the message is out.
                now[before] += OVERHEAD + bytes * BYTE_TIME / 2;
            }
            if hop + 1 < ranks {
                let begin = now[rank];
                let end = begin + OVERHEAD + bytes * BYTE_TIME / 2;
                let at = Span {
                    call: "Send",
                    place: send,
                    bytes,
                    tag: step as i32,
                    peer: Some(after as u32),
                    ..Span::new(Activity::Send, begin, begin + OVERHEAD)
                };
                call(run, &mut event, rank, &[at, Span { kind: Activity::Wait, begin: begin + OVERHEAD, end, ..at }]);
                arrives = begin + OVERHEAD + LATENCY + bytes * BYTE_TIME;
            }
        }
        for (rank, now) in now.iter_mut().enumerate() {
            let rows = 8 + (rank as u64 + step) % 3;
            let work = rows * bytes / 8 * ELEMENT_TIME;
            run.span(rank as u32, Span { place: update, ..Span::new(Activity::Computation, *now, *now + work) });
            *now += work;
        }
    }
}

fn mark(line: u32, last_line: u32, role: Role, text: &str) -> Mark {
    Mark { file: FILE.into(), line, last_line, role, text: text.into() }
}

fn gauss_page(ranks: u32, n: u64) -> PageData {
    let mut run = Run::new(ranks);
    let calls = (0..400).map(|i| ((i % u64::from(ranks)) as u32, 5 + i * 4));
    run.name(calls.clone());
    eliminate(&mut run, n);
    let end = run.end();
    run.region("elimination", [(0, end)]);
    run.region("first half", [(0, end / 4), (end / 4, end / 2)]);
    let before_s = run.end() as f64 * 1e-9;
    let gain = |share: f64| Some(Gain { before_s, after_s: before_s * (1.0 - share) });
    let detail = |rank, event, last: u64| Detail {
        rank,
        event,
        text: format!(
            "can overlap line 49, iterations 1..{last} of {}; iteration {} is on the far side of MPI_Recv, which writes pivot",
            last + 1,
            last + 1
        ),
    };
    let base = Finding {
        id: String::new(),
        rule: "A001".into(),
        title: String::new(),
        unit: Unit::Milliseconds,
        gain: None,
        text: Vec::new(),
        caveats: Vec::new(),
        notes: Vec::new(),
        facts: Vec::new(),
        marks: Vec::new(),
        ranks: Vec::new(),
        occurrences: n * u64::from(ranks - 1),
        details: Vec::new(),
    };
    let findings = vec![
        Finding {
            id: "A001-1".into(),
            title: "Send the pivot row without blocking, and wait for it before the next pivot row is received".into(),
            unit: Unit::Milliseconds,
        gain: gain(0.2316),
            text: vec![
                "MPI_Send at line 32 holds the rank until the row is out. Nothing that follows writes the row before the next MPI_Recv at line 41, so that all of the update at line 49 can run meanwhile.".into(),
                "Replace MPI_Send by MPI_Isend, and put MPI_Wait in front of line 41 and line 38.".into(),
            ],
            facts: vec![("critical path".into(), "1.94 s of sends before, 0.12 s after".into()), ("computation that can overlap".into(), "31.1 s over all ranks".into())],
            marks: vec![
                mark(32, 32, Role::Communication, "blocks 1.3 ms in the mean"),
                mark(48, 49, Role::Overlap, "all iterations, in 235,500 of 235,500 occurrences"),
                mark(50, 50, Role::Overlap, "all iterations"),
                mark(41, 41, Role::Forbids, "anti-dependence: writes pivot, which the message still reads"),
                mark(38, 39, Role::Forbids, "anti-dependence on the owner of the next row: writes pivot[0..length]"),
            ],
            details: calls.zip(100..).map(|((rank, event), last)| detail(rank, event, last)).collect(),
            ..base.clone()
        },
        Finding {
            id: "A003-1".into(),
            rule: "A003".into(),
            title: "Merge the two reductions of the search into one".into(),
            unit: Unit::Milliseconds,
        gain: gain(0.0841),
            text: vec!["MPI_Allreduce at line 61 only sends on what the one at line 60 found: MPI_MAXLOC gives value and place at once.".into()],
            marks: vec![mark(60, 60, Role::Communication, ""), mark(61, 61, Role::Companion, "same communicator, 4 bytes more"), mark(62, 62, Role::Forbids, "flow dependence: reads best.value")],
            occurrences: n * u64::from(ranks),
            ..base.clone()
        },
        Finding {
            id: "A103-1".into(),
            rule: "A103".into(),
            title: "Even out the work before the reduction: the last rank computes longest".into(),
            unit: Unit::Milliseconds,
            gain: gain(0.0127),
            text: vec!["All ranks wait at line 60 for the rank with most work at line 58.".into()],
            caveats: vec!["whether rows can be dealt out differently depends on the program".into()],
            marks: vec![mark(60, 60, Role::Communication, "waits"), mark(57, 59, Role::Cause, "rank 15 takes 6 us longer than the mean")],
            ranks: vec![ranks - 1],
            occurrences: n,
            ..base.clone()
        },
        Finding {
            id: "A004-1".into(),
            rule: "A004".into(),
            title: "The ring of sends is a broadcast: MPI_Bcast could replace it".into(),
            unit: Unit::Milliseconds,
            gain: gain(-0.031),
            caveats: vec!["what is received may be needed before all of it has come".into()],
            text: vec!["The broadcast of this machine is slower here, because ranks further on in the ring start computing later.".into()],
            marks: vec![mark(32, 32, Role::Communication, ""), mark(41, 41, Role::Partner, "")],
            occurrences: n,
            ..base
        },
    ];
    PageData {
        program: "gauss 15700".into(),
        facts: vec![("machine".into(), "myrinet (demonstration)".into()), ("network".into(), "contention-free".into())],
        run_is: "demonstration data".into(),
        findings,
        rules: vec![
            Rule {
                id: "A001".into(),
                name: "overlap".into(),
                summary: "Communication that could run beside computation".into(),
                help: "While a blocking call waits for the network, the processor idles.\n\nBefore:\n    MPI_Send(row, ...);\n    update();\n\nAfter:\n    MPI_Isend(row, ..., &request);\n    update();\n    MPI_Wait(&request, MPI_STATUS_IGNORE);".into(),
                help_uri: String::new(),
            },
            Rule { id: "A003".into(), name: "merge collectives".into(), summary: "Collective operations that could be one".into(), ..Rule::default() },
            Rule { id: "A004".into(), name: "use a collective".into(), summary: "Messages that together are a collective operation".into(), ..Rule::default() },
            Rule { id: "A103".into(), name: "imbalance".into(), summary: "Ranks that wait because others compute longer".into(), ..Rule::default() },
        ],
        together: Some(Together { gain: Gain { before_s, after_s: before_s * 0.698 }, left_out: vec!["A004-1".into()], why: vec!["without A004-1: it brings nothing beside those before it".into()] }),
        notes: vec!["2 library functions were not instrumented: memcpy of libc was seen through its wrapper, qsort was not.".into()],
        sources: vec![Source { path: FILE.into(), text: Some(include_str!("programs/gauss.c").into()) }],
        run,
    }
}

/// Builds a page with names that are markup, files that do not exist, and lines that do not exist.
fn odd_page() -> PageData {
    let nasty = "</script><script>document.title='broken'</script><!-- <img src=x onerror=\"document.title='broken'\">";
    let path = "we ird/<b>&amp;\"'#%ü\u{2028}.c";
    let mut run = Run::new(2);
    let (here, gone, address) = (run.place(path, 2), run.place("/gone/away.f90", 7), run.place("0x401136", 0));
    for rank in 0..2 {
        run.span(rank, Span { place: gone, ..Span::new(Activity::Computation, 0, 100) });
        run.span(
            rank,
            Span {
                place: here,
                event: Some(0),
                call: nasty,
                peer: Some(1 - rank),
                bytes: u64::MAX,
                tag: i32::MIN,
                ..Span::new(Activity::Send, 100, 200)
            },
        );
        run.span(rank, Span { place: address, event: Some(7), call: "Recv", ..Span::new(Activity::Receive, 250, 250) });
        run.message(&Message {
            from_place: here,
            to_place: address,
            bytes: u64::MAX,
            tag: -1,
            ..Message::new(rank, rank, 100, 90)
        });
    }
    let mark =
        |file: &str, line, last_line, role| Mark { file: file.into(), line, last_line, role, text: nasty.into() };
    let finding = Finding {
        id: nasty.into(),
        rule: "A999".into(),
        title: nasty.into(),
        unit: Unit::Milliseconds,
        gain: Some(Gain { before_s: 0.0, after_s: 0.0 }),
        text: vec![nasty.into()],
        caveats: vec![nasty.into()],
        notes: vec![nasty.into()],
        facts: vec![(nasty.into(), nasty.into())],
        marks: vec![
            mark(path, 2, 2, Role::Communication),
            mark(path, 4_000_000_000, 4_000_000_001, Role::Overlap),
            mark("/gone/away.f90", 7, 3, Role::Cause),
            mark("", 0, 0, Role::Forbids),
            mark("0x401136", 0, 0, Role::Partner),
        ],
        ranks: vec![0, 77],
        occurrences: 1,
        details: vec![
            Detail { rank: 99, event: 5, text: nasty.into() },
            Detail { rank: 0, event: 7, text: String::new() },
        ],
    };
    let plain = Finding { gain: None, marks: Vec::new(), ..finding.clone() };
    PageData {
        program: nasty.into(),
        facts: vec![(nasty.into(), nasty.into())],
        run_is: nasty.into(),
        findings: vec![finding, plain],
        notes: vec![nasty.into()],
        sources: vec![
            Source { path: path.into(), text: Some(format!("first\r\n{nasty}\r\n\tMPI_Send(x)\rlast \u{0} \u{2028}")) },
            Source { path: path.into(), text: None },
        ],
        ..PageData::new(run)
    }
}
