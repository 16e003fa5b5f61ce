//! Tables and lines on narrow terminals.

use super::super::{Answer, Cell, Grid, Quantity};
use super::*;

/// Returns a table with many columns, like that of links.
fn wide() -> Grid {
    let mut grid = Grid::new()
        .text("link")
        .quantity("capacity", Quantity::Bandwidth)
        .quantity("bytes", Quantity::Bytes)
        .quantity("utilisation", Quantity::Part)
        .time("busy")
        .number("peak flows")
        .number("mean flows");
    grid.row([
        Cell::from("switch 0.0 -> node 3455"),
        1e9.into(),
        1_234_567_890.0.into(),
        0.987.into(),
        0.0691.into(),
        12_u32.into(),
        "1.25".into(),
    ]);
    grid
}

fn at(grid: Grid, width: usize) -> String {
    Answer::from(grid).to_text(Some(width))
}

#[test]
fn headings_are_broken_first() {
    insta::assert_snapshot!(at(wide(), 92), @"
    link                     capacity [GB/s]  bytes [GB]  utilisation [%]    busy   peak   mean
                                                                             [ms]  flows  flows
    ───────────────────────────────────────────────────────────────────────────────────────────
    switch 0.0 -> node 3455            1.000       1.235             98.7  69.100     12   1.25
    ");
}

#[test]
fn then_text_becomes_narrower() {
    insta::assert_snapshot!(at(wide(), 80), @"
    link                     capacity  bytes [GB]  utilisation    busy   peak   mean
                               [GB/s]                      [%]    [ms]  flows  flows
    ────────────────────────────────────────────────────────────────────────────────
    switch 0.0 -> node 3455     1.000       1.235         98.7  69.100     12   1.25
    ");
}

#[test]
fn then_columns_go_below_and_each_part_says_what_it_is_of() {
    insta::assert_snapshot!(at(wide(), 60), @"
    link           capacity  bytes  utilisation    busy   peak
                     [GB/s]   [GB]          [%]    [ms]  flows
    ──────────────────────────────────────────────────────────
    switch 0.0 ->     1.000  1.235         98.7  69.100     12
    node 3455

    link                     mean flows
    ───────────────────────────────────
    switch 0.0 -> node 3455        1.25
    ");
}

#[test]
fn every_number_is_whole_and_there_once_whatever_the_width() {
    let whole = Answer::from(wide()).to_text(None);
    let numbers = |text: &str| {
        let row =
            text.lines().filter(|line| !line.contains('─') && !line.contains('[')).flat_map(str::split_whitespace);
        let mut numbers: Vec<String> = row.filter(|word| word.parse::<f64>().is_ok()).map(str::to_owned).collect();
        numbers.sort();
        numbers.retain(|number| number.contains('.') && number != "0.0");
        numbers
    };
    let all = numbers(&whole);
    assert_eq!(all.len(), 5, "{whole}");
    for width in 34..200 {
        let text = at(wide(), width);
        assert_eq!(numbers(&text), all, "at {width}:\n{text}");
        assert!(text.lines().all(|line| length(line) <= width), "at {width}:\n{text}");
    }
    assert_eq!(at(wide(), 200), whole);
}

#[test]
fn a_name_without_blanks_is_broken_behind_its_signs_and_never_inside_a_number() {
    assert_eq!(lines("all-to-all-simple-spread", 14), ["all-to-all-", "simple-spread"]);
    assert_eq!(lines("/home/someone/topologies/tree.toml", 12), ["/home/", "someone/", "topologies/", "tree.toml"]);
    assert_eq!(lines("x1234567890123", 6), ["x", "1234567890123"]);
    assert_eq!(lines("12345.678", 3), ["12345.678"]);
    assert_eq!(lines("", 10), [""]);
    assert_eq!(lines("a b", 0), ["a", "b"]);
    assert_eq!(lines("日本語の行", 4), ["日本", "語の", "行"]);
}

#[test]
fn lines_are_broken_between_words_under_where_their_text_begins_and_not_before_a_unit() {
    let text = "bandwidth     1 GB/s per node, 3.456 TB/s in all\n";
    assert_eq!(wrap(text, Some(36)), "bandwidth     1 GB/s per node,\n              3.456 TB/s in all\n");
    assert_eq!(wrap(text, Some(34)), "bandwidth     1 GB/s per node,\n              3.456 TB/s in all\n");
    assert_eq!(wrap(text, None), text);
    assert_eq!(wrap(text, Some(80)), text);
    assert_eq!(wrap("  indented text goes on\n\nend", Some(15)), "  indented text\n  goes on\n\nend");
}
