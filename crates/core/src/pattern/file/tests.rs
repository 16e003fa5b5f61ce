use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::diagnostic::{Invalid, Sources};
use crate::pattern::PatternSpec;

fn spec(path: &str) -> FileSpec {
    FileSpec {
        path: path.to_owned().into(),
        ranks: None,
        injection: Located::default(),
        message_jitter: Located::default(),
        barrier_cost: Located::default(),
    }
}

/// Builds the pattern of a file with this content; the file's name is cut from messages.
fn with_ranks(content: &[u8], ranks: Option<u32>) -> Result<Arc<dyn Pattern>, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let path = file.path().display().to_string();
    let mut sources = Sources::default();
    PatternSpec::File(FileSpec { ranks: ranks.map(Located::from), ..spec(&path) })
        .build(&0, 0, &mut sources)
        .map_err(|diagnostics| Invalid { diagnostics, sources }.lines().replace(&path, "FILE"))
}

fn pattern(content: &str) -> Result<Arc<dyn Pattern>, String> {
    with_ranks(content.as_bytes(), None)
}

/// Lists all messages as lines `src.index: dst bytes delay[ns] after`.
fn listing(pattern: &dyn Pattern) -> String {
    let mut lines = Vec::new();
    for rank in 0..pattern.ranks() {
        for index in 0..pattern.sends(RankId(rank)) {
            let message = pattern.message(RankId(rank), index);
            assert_eq!(message.step, index);
            let after = match message.after {
                After::Nothing => String::new(),
                After::Messages(ids) => ids.iter().map(|id| format!(" {}:{}", id.src, id.index)).collect(),
                After::EarlierSteps => unreachable!(),
            };
            let delay = message.delay.ps() / 1e3;
            lines.push(format!("{rank}.{index}: {} {} {delay}{after}", message.dst, message.bytes));
        }
    }
    lines.join("\n")
}

#[test]
fn messages_go_in_the_order_of_the_file_by_sender() {
    let pattern = pattern("bytes,src,dst\n10,1,0\n20 KB,0,3\n0,1,1\n").unwrap();
    insta::assert_snapshot!(listing(&*pattern), @"
    0.0: 3 20000 0
    1.0: 0 10 0
    1.1: 1 0 0
    ");
    assert_eq!((pattern.ranks(), pattern.messages(), pattern.steps()), (4, 3, 2));
    assert_eq!((pattern.sends(RankId(1)), pattern.sends(RankId(3))), (2, 0));
    assert_eq!(pattern.receives(RankId(0), 0), 1);
    assert_eq!((pattern.receives(RankId(1), 0), pattern.receives(RankId(1), 1)), (0, 1));
}

#[test]
fn order_moves_messages_and_what_refers_to_them() {
    let text = "src,dst,bytes,order,delay,after\n0,1,1,2,,\n1,0,2,0,5ns,0\n0,1,3,-1.5,1e-6,\n0,1,4,2,,1:0 2\n";
    insta::assert_snapshot!(listing(&*pattern(text).unwrap()), @"
    0.0: 1 3 1000
    0.1: 1 1 0
    0.2: 1 4 0 1:0 0:0
    1.0: 0 2 5 0:1
    ");
}

#[test]
fn a_reference_goes_on_from_the_last_of_that_rank_that_the_sender_has_named() {
    let plain = "src,dst,bytes,after\n0,1,1,\n0,1,1,\n0,2,1,\n1,0,1,0:0\n1,0,1,0:1\n1,2,1,0:2 2:0\n2,0,1,0:2 1:1 1:2\n";
    let further =
        "src,dst,bytes,after\n0,1,1,\n0,1,1,\n0,2,1,\n1,0,1,0:+1\n1,0,1,0:+1\n1,2,1,0:+1 2:+1\n2,0,1,0:+3 1:1 1:+1\n";
    assert_eq!(listing(&*pattern(further).unwrap()), listing(&*pattern(plain).unwrap()));
    for wrong in ["0:+0", "0:++1", "0:+", "0:+-1", "0:+4294967296", "0:4294967295 0:+1"] {
        let error = pattern(&format!("src,dst,bytes,after\n0,1,1,\n1,0,1,{wrong}\n")).err().unwrap();
        assert!(error.contains("is not a message"), "{wrong}: {error}");
    }
}

#[test]
fn a_message_is_known_by_its_id_even_before_it_is_listed() {
    let text = "id,src,dst,bytes,after\na,0,1,1,late 1:0\n7,1,0,2,\nlate,1,0,3,a\n,0,1,4,7\n";
    insta::assert_snapshot!(listing(&*pattern(text).unwrap()), @"
    0.0: 1 1 0 1:1 1:0
    0.1: 1 4 0 1:0
    1.0: 0 2 0
    1.1: 0 3 0 0:0
    ");
}

#[test]
fn every_mistake_has_its_place() {
    let error = |text: &str| pattern(text).unwrap_err();
    insta::assert_snapshot!(error("src,dst,bytes,order,delay,id\nx,-1,1 kB/s,y,3 parsecs,a b\n0,16777216,,,,\n"), @r#"
    FILE:2:1: "x" is not the number of a rank (ranks are numbered from 0 to 16777215)
    FILE:2:3: "-1" is not the number of a rank (ranks are numbered from 0 to 16777215)
    FILE:2:6: unknown size unit "kB/s"; write "20 KB" or "64 KiB"
    FILE:2:13: "y" is not a number (a number, like 3 or -0.5)
    FILE:2:15: unknown time unit "parsecs"; write "1.5 us" or "250 ns"
    FILE:2:25: "a b" cannot be the name of a message (a name without blanks and colons)
    FILE:3:3: there is no rank 16777216 (ranks are numbered from 0 to 16777215)
    FILE:3:12: `bytes` is empty
    FILE:3:13: `order` is empty (a number, like 3 or -0.5)
    "#);
    insta::assert_snapshot!(error("src,dst,bytes,after\n0,1,1,1 9\n1,0,1,0 1:0 0:1 5:0\n"), @"
    FILE:2:9: a message waits for one that is not there (there is no row 9; the last one is 1)
    FILE:3:9: a message waits for itself (this very message)
    FILE:3:13: a message waits for one that is not there (rank 0 sends 1 messages)
    FILE:3:17: a message waits for one that is not there (there is no rank 5; the last one is 1)
    ");
    insta::assert_snapshot!(error("src,dst,bytes,after\n0,1,1,x 1:y\n"), @"
    FILE:2:7: \"x\" is not a message (the row of a message is expected, counted from 0); or write `src:index`, like `3:0` for rank 3's first message; names need a column `id`
    FILE:2:9: \"1:y\" is not a message (the row of a message is expected, counted from 0); or write `src:index`, like `3:0` for rank 3's first message; names need a column `id`
    ");
    insta::assert_snapshot!(error("id,src,dst,bytes,after\na,0,1,1,b\na,1,0,2,\n"), @"FILE:3:1: a message `a` is listed already (also the name of the message of line 2)");
    insta::assert_snapshot!(error("id,src,dst,bytes,after\na,0,1,1,b\n"), @"FILE:2:9: a message waits for one that is not there (no message has this id)");
    insta::assert_snapshot!(error("src,dst,bytes\n"), @"`FILE` lists no messages (a table with at least one message is expected)");
    insta::assert_snapshot!(error("src,dst,size\n"), @"
    FILE:1:9: unknown column `size`; the columns are src,dst,bytes,order,delay,after,id,slot,path,flow_weight
    FILE:1:1: there is no column `bytes` (the columns are src,dst,bytes,order,delay,after,id,slot,path,flow_weight)
    ");
}

#[test]
fn slots_are_the_steps_of_messages() {
    let slots = pattern("src,dst,bytes,slot\n1,0,1,5\n0,1,2,1\n0,2,3,1\n0,1,4,7\n").unwrap();
    let step = |rank: u32, index: u32| slots.message(RankId(rank), index).step;
    assert_eq!([step(0, 0), step(0, 1), step(0, 2), step(1, 0)], [1, 1, 7, 5]);
    assert_eq!(slots.steps(), 8);
    let received = |rank: u32| (0..8).map(|step| slots.receives(RankId(rank), step)).collect::<Vec<_>>();
    assert_eq!(received(0), [0, 0, 0, 0, 0, 1, 0, 0]);
    assert_eq!(received(1), [0, 1, 0, 0, 0, 0, 0, 1]);
    assert_eq!(received(2), [0, 1, 0, 0, 0, 0, 0, 0]);
    // The column `order` changes the sending order, and the slots go with it.
    let ordered = pattern("src,dst,bytes,slot,order\n0,1,1,4,2\n0,2,1,3,1\n").unwrap();
    assert_eq!(ordered.message(RankId(0), 0).step, 3);
}

#[test]
fn slots_and_weights_that_are_wrong_have_their_places() {
    let error = |text: &str| pattern(text).unwrap_err();
    insta::assert_snapshot!(error("src,dst,bytes,slot\n# later\n0,1,1,5\n1,0,1,0\n0,1,1,3\n0,1,1,3\n0,1,1,2\n"), @"
    FILE:5:7: slot 3 after slot 5 of the same sender
    FILE:7:7: slot 2 after slot 3 of the same sender
    ");
    insta::assert_snapshot!(error("src,dst,bytes,order,slot\n0,1,1,1,3\n0,1,1,0,4\n"), @"FILE:2:9: slot 3 after slot 4 of the same sender");
    insta::assert_snapshot!(error("src,dst,bytes,slot\n0,1,1,\n0,1,1,-1\n0,1,1,16777216\n"), @r#"
    FILE:2:7: `slot` is empty (the number of a slot)
    FILE:3:7: "-1" is not the number of a slot (slots are numbered from 0 to 16777215)
    FILE:4:7: there is no slot 16777216 (slots are numbered from 0 to 16777215)
    "#);
    let weights = ["0", "-2", "nan", "1e101", "1e-101", "inf"].map(|weight| format!("0,1,1,{weight}\n")).concat();
    insta::assert_snapshot!(error(&format!("src,dst,bytes,flow_weight\n{weights}0,1,1,1e100\n0,1,1,\n")), @r#"
    FILE:2:7: 0.0 is not a weight of a message (a number above 0, up to 1e100, is expected)
    FILE:3:7: -2.0 is not a weight of a message (a number above 0, up to 1e100, is expected)
    FILE:4:7: "nan" is not a number (a number, like 3 or -0.5)
    FILE:5:7: 1e101 is not a weight of a message (a number above 0, up to 1e100, is expected)
    FILE:6:7: 1e-101 is not a weight of a message (a number above 0, up to 1e100, is expected)
    FILE:7:7: "inf" is not a number (a number, like 3 or -0.5)
    "#);
}

#[test]
fn a_comment_before_the_header_names_the_fabric() {
    let planned = pattern("# a plan\n# fabric: 0123456789abcdef \nsrc,dst,bytes\n# fabric: later\n0,1,1\n").unwrap();
    assert_eq!(planned.plan().unwrap().fabric.as_deref(), Some("0123456789abcdef"));
    assert_eq!(pattern("# a fabric: x\nsrc,dst,bytes\n0,1,1\n").unwrap().plan(), None);
}

#[test]
fn ranks_may_be_more_than_those_that_send_but_not_fewer() {
    assert_eq!(with_ranks(b"src,dst,bytes\n0,1,1\n", Some(5)).unwrap().ranks(), 5);
    let error = with_ranks(b"src,dst,bytes\n0,1,1\n", Some(1)).unwrap_err();
    assert_eq!(error, "FILE:2:3: there is no rank 1 (ranks are numbered from 0 to 0)");
    assert!(with_ranks(b"", Some(0)).unwrap_err().contains("not 0"));
}

#[test]
fn a_compressed_file_reads_like_a_plain_one() {
    let text = "src,dst,bytes\n0,1,7\n";
    let compressed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    assert_eq!(listing(&*with_ranks(&compressed, None).unwrap()), listing(&*pattern(text).unwrap()));
    assert!(with_ranks(&compressed[..compressed.len() - 3], None).is_err());
}

/// Returns the number of messages, the bytes, and the number of dependencies of a shipped pattern.
fn totals(name: &str) -> (u64, u64, u64) {
    let path = format!("{}/../../patterns/{name}.csv.zst", env!("CARGO_MANIFEST_DIR"));
    let pattern = PatternSpec::File(spec(&path)).build(&0, 0, &mut Sources::default()).unwrap();
    assert_eq!(pattern.ranks(), 16);
    let (mut bytes, mut waits) = (0, 0);
    for rank in (0..16).map(RankId) {
        for index in 0..pattern.sends(rank) {
            let message = pattern.message(rank, index);
            bytes += message.bytes;
            if let After::Messages(after) = message.after {
                waits += after.len() as u64;
                assert!(after.iter().all(|id| pattern.message(id.src, id.index).dst == rank));
            }
        }
    }
    (pattern.messages(), bytes, waits)
}

#[test]
fn the_patterns_of_cg_and_lu_hold_every_message_of_the_traces() {
    assert_eq!(totals("npb-cg-W-16"), (47_104, 279_773_184, 47_088));
    assert_eq!(totals("npb-lu-W-16"), (462_516, 456_665_760, 462_510));
}

proptest! {
    #[test]
    fn no_pattern_file_panics(
        header in prop::sample::select(vec!["src,dst,bytes", "src,dst,bytes,order,delay,after,id", "after,id,src,dst,bytes", ""]),
        lines in prop::collection::vec("[0-9a-d:, \"#\r.]{0,16}", 0..10),
    ) {
        if let Ok(pattern) = pattern(&format!("{header}\n{}", lines.join("\n"))) {
            prop_assert_eq!(pattern.messages(), lines.iter().filter(|line| line.contains(',') && !line.trim().starts_with('#')).count() as u64);
        }
    }

    #[test]
    fn well_formed_lines_with_any_references_never_panic(
        lines in prop::collection::vec((0u32..4, 0u32..4, "[0-5]{0,2}( [0-4]:[0-4]){0,2}"), 1..12),
    ) {
        let text: String = lines.iter().map(|(src, dst, after)| format!("{src},{dst},1,{after}\n")).collect();
        let _ = pattern(&format!("src,dst,bytes,after\n{text}"));
    }

    #[test]
    fn a_pattern_written_to_a_file_reads_back(messages in prop::collection::vec((0u32..5, 0u32..5, 0u64..1 << 40, 0u32..1000), 1..40)) {
        let mut sent = [0; 5];
        let mut expected: Vec<(u32, u32, String)> = Vec::new();
        let mut text = String::from("src,dst,bytes,delay,after\n");
        let mut previous: Option<(u32, u32)> = None;
        for &(src, dst, bytes, delay) in &messages {
            let index = sent[src as usize];
            sent[src as usize] += 1;
            let after = previous.map_or(String::new(), |(src, index)| format!("{src}:{index}"));
            text.push_str(&format!("{src},{dst},{bytes},{delay}ns,{after}\n"));
            let blank = if after.is_empty() { "" } else { " " };
            expected.push((src, index, format!("{src}.{index}: {dst} {bytes} {delay}{blank}{after}")));
            previous = Some((src, index));
        }
        expected.sort();
        let expected: Vec<String> = expected.into_iter().map(|(_, _, line)| line).collect();
        let pattern = pattern(&text).unwrap();
        prop_assert_eq!(listing(&*pattern), expected.join("\n"));
        for rank in 0..pattern.ranks() {
            for step in 0..pattern.steps() {
                let arriving = (0..pattern.ranks())
                    .filter(|&src| step < pattern.sends(RankId(src)) && pattern.message(RankId(src), step).dst.0 == rank);
                prop_assert_eq!(pattern.receives(RankId(rank), step), arriving.count() as u32);
            }
        }
    }
}
