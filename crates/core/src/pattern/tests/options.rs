//! Tables of patterns: defaults, titles, mistakes, and the named patterns.

use super::{EVERY, PatternFile, build, spec, try_build};
use crate::diagnostic::{At, Diagnostic, Sources};
use crate::pattern::{Injection, PatternSpec};
use crate::units::Time;

/// Returns the mistakes of a table, each as `marked text: message; help`.
fn mistakes(table: &str, lines: &str, nodes: u32) -> Vec<String> {
    let text = format!("[workload.{table}]\n{}", lines.replace("; ", "\n"));
    let wrong = match crate::reading::from_toml::<PatternFile>(&text) {
        Ok(file) => file.workload.build(&nodes, 1, &mut Sources::default()).err().unwrap_or_default(),
        Err(error) => panic!("{error}"),
    };
    let show = |wrong: Diagnostic| {
        let marked = match wrong.at {
            At::Span(span) => &text[span.start..span.end],
            _ => "",
        };
        assert!(!wrong.label.is_empty());
        format!("{marked}: {} ({}); {}", wrong.message, wrong.label, wrong.help.unwrap_or_default())
    };
    wrong.into_iter().map(show).collect()
}

#[test]
fn an_algorithm_says_for_which_numbers_of_ranks_it_is_defined() {
    let only = |table, lines, nodes| {
        let mut mistakes = mistakes(table, lines, nodes);
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        mistakes.remove(0)
    };
    assert_eq!(
        only("all-to-all", "algorithm = \"pairwise\"; size = \"1 B\"", 54),
        "\"pairwise\": pairwise exchange is not defined for 54 ranks (needs a power of two of ranks); \
         take `all-to-all-mpich` (`algorithm = \"mpich\"`) or `all-to-all-simple-spread`, or 32 ranks"
    );
    assert_eq!(
        only("all-to-all", "algorithm = \"2d-spread\"; size = \"1 B\"", 54),
        "\"2d-spread\": 2d-spread is not defined for 54 ranks (needs a square number of ranks); \
         take `all-to-all-nd-spread` (`algorithm = \"nd-spread\"` with `dims = [9, 6]`), or 49 ranks"
    );
    assert_eq!(
        only("all-to-all", "algorithm = \"nd-spread\"; size = \"1 B\"; dims = [9, 5]", 54),
        "[9, 5]: 9x5 do not hold 54 ranks (their product is 45); \
         write `dims = [9, 6]`, or another product of 54, or give the `ranks` they hold"
    );
    assert_eq!(
        only("allgather", "algorithm = \"recursive-doubling\"; size = \"1 B\"", 6),
        "\"recursive-doubling\": recursive doubling of an allgather is not defined for 6 ranks (needs a power of two \
         of ranks); take `allgather-bruck` (`algorithm = \"bruck\"`) or `allgather-ring`, or 4 ranks"
    );
    assert_eq!(
        only("permutation", "kind = \"transpose\"; size = \"1 B\"", 54),
        "\"transpose\": 54 ranks do not form a square matrix to transpose (needs a square number of ranks, or `dims`); \
         write `dims = [9, 6]`, or `ranks = 49`"
    );
    assert!(only("permutation", "kind = \"bit-reverse\"; size = \"1 B\"", 54).contains("`ranks = 32`"));
    assert!(only("permutation", "kind = \"tornado\"; size = \"1 B\"; dims = [0, 3]", 54).contains("product is 0"));
    assert!(only("incast", "size = \"1 B\"; root = 8", 8).starts_with("8: there is no rank 8 among 8"));
    assert!(only("halo", "size = \"1 B\"; dimensions = 4", 8).starts_with("4: a grid of 4 dimensions"));
    assert!(only("halo", "size = \"1 B\"; dims = []", 1).starts_with("[]: a grid of 0 dimensions"));
    assert!(only("halo", "size = [\"1 B\"]; dims = [2, 4]", 8).starts_with("[\"1 B\"]: 1 sizes for 2 dimensions"));
    assert!(only("halo", "size = \"1 B\"; dims = [2, 4]; dimensions = 3", 8).contains("contradicts `dims`"));
}

#[test]
fn all_mistakes_of_a_table_are_told_at_once() {
    let wrong = mistakes(
        "broadcast",
        "algorithm = \"flat\"; size = \"1 B\"; segments = 3; segment-size = \"2 B\"; root = 9",
        4,
    );
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    let wrong = mistakes("broadcast", "algorithm = \"pipelined-chain\"; size = \"1 B\"; segments = 0; root = 9", 4);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    let wrong = mistakes("all-to-all", "algorithm = \"pairwise\"; size = \"1 B\"; dims = [3]; ranks = 3", 4);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    let wrong = mistakes("permutation", "kind = \"random\"; size = \"1 B\"; dims = [3]; offset = 1; ranks = 0", 4);
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    let wrong = mistakes(
        "broadcast",
        "algorithm = \"pipelined-chain\"; size = \"1 B\"; segments = 2; segment-size = \"1 B\"",
        4,
    );
    assert!(wrong.len() == 1 && wrong[0].contains("two ways to set the same"), "{wrong:?}");
}

#[test]
fn absurd_numbers_are_mistakes() {
    let largest = "9007199254740992 B";
    for (table, lines) in [
        ("all-to-all", format!("algorithm = 'simple-spread'; size = '{largest}'; ranks = 3456")),
        ("all-to-all", format!("algorithm = 'ring'; size = '{largest}'; ranks = 3456")),
        ("all-to-all", format!("algorithm = 'bruck'; size = '{largest}'; ranks = 3456")),
        ("allgather", format!("algorithm = 'bruck'; size = '{largest}'; ranks = 3456")),
        ("allreduce", format!("algorithm = 'rabenseifner'; size = '{largest}'; ranks = 3456")),
        ("broadcast", format!("algorithm = 'binomial'; size = '{largest}'; ranks = 3456")),
        ("broadcast", "algorithm = 'pipelined-chain'; size = '1 B'; segments = 4294967295".into()),
        ("broadcast", format!("algorithm = 'pipelined-chain'; size = '{largest}'; segment-size = '1 B'")),
        ("broadcast", "algorithm = 'pipelined-chain'; size = '1 B'; segment-size = '0 B'".into()),
        ("ring", format!("size = '{largest}'; rounds = 4294967295")),
        ("permutation", format!("kind = 'shift'; size = '{largest}'; rounds = 4294967295")),
        ("permutation", "kind = 'tornado'; size = '1 B'; dims = [4294967295, 4294967295]".into()),
        ("uniform-random", format!("size = '{largest}'; messages = 4294967295")),
        ("incast", format!("size = '{largest}'; messages = 4294967295")),
        ("halo", "size = '1 B'; rounds = 4294967295".into()),
        ("halo", format!("size = '{largest}'; rounds = 400")),
        ("halo", "size = '1 B'; dims = [2, 2, 2, 1]".into()),
        ("halo", "size = '1 B'; dims = [0, 8]".into()),
        ("all-to-all", "algorithm = 'nd-spread'; size = '1 B'; dimensions = 0".into()),
        ("all-to-all", "algorithm = 'nd-spread'; size = '1 B'; dimensions = 4000000000".into()),
        ("all-to-all", "algorithm = 'mpich'; size = '1 B'; ranks = 0".into()),
        ("all-to-all", "algorithm = 'mpich'; size = '1 B'; messages = 0".into()),
        ("all-to-all", "algorithm = 'mpich'; size = '1 B'; messages = 1000000000".into()),
        ("all-to-all", "algorithm = 'mpich'; size = '1 B'; message-order = 'rounds'".into()),
        ("all-to-all", "algorithm = 'ring'; size = '1 B'; messages = 2".into()),
        ("all-to-all", "algorithm = 'bruck'; size = '1 B'; messages = 2; message-order = 'in-a-row'".into()),
        ("all-to-all", format!("algorithm = 'mpich'; size = '{largest}'; messages = 500000000; ranks = 3")),
        ("all-to-all", "algorithm = 'mpich'; size = '1 B'; ranks = 4294967295".into()),
    ] {
        let wrong = mistakes(table, &lines, 8);
        assert_eq!(wrong.len(), 1, "{table} {lines}: {wrong:?}");
    }
    assert!(try_build("ring", "size = '1 B'", 0).is_err());
    // The largest numbers that can be counted are no mistake.
    let most = build("ring", "size = '1 B'; rounds = 4294967295", 8);
    assert_eq!((most.steps(), most.messages()), (u32::MAX, 8 * u64::from(u32::MAX)));
    let shift = build("permutation", "kind = 'shift'; size = '1 B'; offset = -9223372036854775808", 8);
    assert_eq!(shift.steps(), 0);
}

#[test]
fn a_pattern_has_a_rank_on_each_node_or_as_many_as_it_says() {
    for (table, lines) in EVERY {
        assert_eq!(build(table, lines, 16).ranks(), 16);
        let some = build(table, &format!("{lines}; ranks = 4"), 16);
        assert_eq!(some.ranks(), 4);
    }
}

#[test]
fn injection_and_jitter_are_what_is_written_else_what_is_usual() {
    for (table, lines) in EVERY {
        let usual = spec(table, lines).traffic();
        assert_eq!(*usual.injection, if lines.contains("linear") { Injection::All } else { Injection::Queue });
        assert_eq!(*usual.message_jitter, Time::ZERO);
        let said = spec(table, &format!("{lines}; injection = 'window = 3'; message-jitter = '2 us'")).traffic();
        assert_eq!((*said.injection, *said.message_jitter), (Injection::Window(3), Time::from_seconds(2e-6)));
        assert!(said.injection.span().is_some() && said.message_jitter.span().is_some());
    }
}

#[test]
fn what_is_written_back_reads_the_same() {
    let more = [
        ("permutation", "kind = 'tornado'; size = '1 B'; dims = [4, 2]; injection = 'barrier'"),
        ("broadcast", "algorithm = 'flat'; size = '1 B'; root = 3; ranks = 5; message-jitter = '3 us'"),
    ];
    for (table, lines) in EVERY.iter().chain(&more) {
        let workload = spec(table, lines);
        let text = toml::to_string(&PatternFile { workload: workload.clone() }).unwrap();
        assert!(!text.contains("injection") || lines.contains("injection"), "{text}");
        let again: PatternSpec = crate::reading::from_toml::<PatternFile>(&text).unwrap().workload;
        assert_eq!(again, workload, "{text}");
    }
}

#[test]
fn an_unknown_option_or_algorithm_is_refused() {
    for text in [
        "[workload.all-to-all]\nalgorithm = 'fast'\nsize = '1 B'",
        "[workload.all-to-all]\nalgorithm = 'mpich'\nsize = '1 B'\nroot = 0",
        "[workload.all-to-all]\nalgorithm = 'mpich'\nsize = 1",
        "[workload.halo]\nsize = 1",
        "[workload.halo]\nsize = [1]",
        "[workload.halo]\nsize = 1.5",
        "[workload.ring]\nsize = '1 B'\nrounds = -1",
        "[workload.ring]\nsize = '1 B'\nranks = 4294967296",
    ] {
        let error = crate::reading::from_toml::<PatternFile>(text).err().unwrap_or_else(|| panic!("{text}"));
        assert!(error.span.is_some_and(|span| span.start > 10), "{error}");
    }
}

#[test]
fn a_title_says_what_a_pattern_is() {
    let titles: Vec<String> = EVERY.iter().map(|(table, lines)| spec(table, lines).title()).collect();
    let more = [
        ("all-to-all", "algorithm = 'nd-spread'; size = '20 KB'; dims = [8, 4]"),
        ("broadcast", "algorithm = 'pipelined-chain'; size = '1 MB'; root = 4"),
        ("permutation", "kind = 'transpose'; size = '20 KB'; dims = [9, 6]"),
        ("halo", "size = '20 KB'; dims = [9, 6]"),
    ];
    let more = more.iter().map(|(table, lines)| spec(table, lines).title());
    insta::assert_snapshot!(titles.into_iter().chain(more).collect::<Vec<_>>().join("\n"));
}

/// Returns the named patterns: every file of `patterns/` that is not a list of messages.
fn named() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../patterns");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut named: Vec<(String, String)> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()))
        .filter(|(name, _)| !name.starts_with("npb-"))
        .collect();
    named.sort();
    named
}

#[test]
fn every_named_pattern_is_its_table_alone_and_can_be_built() {
    let named = named();
    for (name, text) in &named {
        assert!(text.starts_with("# ") && text.contains("# Source: "), "{name}");
        let file: PatternFile = crate::reading::from_toml(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Some need groups.
        let pattern = file.workload.build(&super::groups::Sizes(vec![4; 4]), 1, &mut Sources::default());
        assert!(pattern.is_ok_and(|pattern| pattern.messages() > 0), "{name}");
    }
    for name in ["all-to-all-simple-spread", "all-to-all-2d-spread", "all-to-all-pairwise", "all-to-all-mpich"] {
        let (_, text) = named.iter().find(|(other, _)| other == name).unwrap();
        let file: PatternFile = crate::reading::from_toml(text).unwrap();
        assert_eq!(file.workload.title(), format!("{}, 20 KB", name.replace("to-all-", "to-all ")));
        assert_eq!(*file.workload.traffic().injection, Injection::Queue);
    }
}
