use proptest::prelude::*;

use super::*;
use crate::diagnostic::{Invalid, Sources};

const COLUMNS: [Column; 3] = [Column::required("id"), Column::required("bytes"), Column::optional("after")];

/// Returns the rows as text, or the mistakes.
fn rows(content: &[u8]) -> Result<Vec<[String; 3]>, String> {
    let mut rows = Vec::new();
    read(Input::from_bytes("t.csv", content.to_vec()), &COLUMNS, |row| {
        let cells = [0, 1, 2].map(|column| row.text(column));
        let _ = row.size(1);
        rows.push(cells.map(|cell| cell.unwrap_or_default().into_owned()));
    })
    .map(|count| assert_eq!(count, rows.len() as u64))
    .map_err(|diagnostics| Invalid { diagnostics, sources: Sources::default() }.lines())?;
    Ok(rows)
}

fn row(id: &str, bytes: &str, after: &str) -> [String; 3] {
    [id, bytes, after].map(str::to_owned)
}

#[test]
fn order_of_columns_blanks_comments_and_line_ends_do_not_matter() {
    let expected = Ok(vec![row("a", "1", "x y"), row("b", "20 KB", "")]);
    assert_eq!(rows(b"id,bytes,after\na,1,x y\nb,20 KB,\n"), expected);
    assert_eq!(
        rows(b"\xef\xbb\xbf# made by hand\r\n\r\n bytes , after, id\r\n1,x y,a\r\n  # more\r\n20 KB ,, b"),
        expected
    );
    assert_eq!(rows(b"id,bytes\na,1\n"), Ok(vec![row("a", "1", "")]));
}

#[test]
fn a_cell_in_quotes_may_hold_commas_and_quotes() {
    assert_eq!(
        rows(b"id,\"bytes\",after\n \"a,b\" ,\"1\",\"say \"\"x\"\"\"\r\n"),
        Ok(vec![row("a,b", "1", "say \"x\"")])
    );
    insta::assert_snapshot!(rows(b"id,bytes\n\"a\" b,1\nc,\"2\nd,3").unwrap_err(), @r#"
    t.csv:2:4: text after the closing quote of a cell; put the whole cell in quotes, and double the quotes inside it: "a ""b"" c"
    t.csv:3:3: a quote is not closed on its line; put the whole cell in quotes, and double the quotes inside it: "a ""b"" c"
    "#);
}

#[test]
fn a_wrong_header_is_reported_column_by_column() {
    insta::assert_snapshot!(rows(b"\nid,byte,id,size\n").unwrap_err(), @"
    t.csv:2:4: unknown column `byte`; write `bytes`
    t.csv:2:9: there are two columns `id`
    t.csv:2:12: unknown column `size`; the columns are id,bytes,after
    t.csv:2:1: there is no column `bytes` (the columns are id,bytes,after)
    ");
    insta::assert_snapshot!(rows(b"0,1,2\n").unwrap_err(), @"t.csv:1:1: the first line does not name the columns (a header is expected); start the file with the line `id,bytes,after`");
    insta::assert_snapshot!(rows(b"# nothing\n").unwrap_err(), @"`t.csv` is empty; its first line names the columns: id,bytes,after");
    insta::assert_snapshot!(rows(b"id;bytes\n").unwrap_err().lines().next().unwrap(), @"t.csv:1:1: unknown column `id;bytes` (one cell); separate cells by commas");
}

#[test]
fn a_wrong_cell_is_reported_with_line_and_column_in_characters() {
    insta::assert_snapshot!(rows("id,bytes\na,1\nhä,x\nb\nc,1,2\nd,0.5\n".as_bytes()).unwrap_err(), @r#"
    t.csv:3:4: "x" is not a size; write "20 KB" or "64 KiB"
    t.csv:4:2: this line has 1 cell, the header names 2 (cells are missing); separate cells by commas; an empty cell still needs its comma
    t.csv:5:5: this line has 3 cells, the header names 2 (nothing more is expected); separate cells by commas; an empty cell still needs its comma
    t.csv:6:3: "0.5" is not a whole number of bytes
    "#);
    assert!(rows(b"id,bytes\na\xff,1\n").unwrap_err().starts_with("t.csv:2:2: `t.csv` is not UTF-8 text"));
}

#[test]
fn after_twenty_mistakes_the_rest_is_not_read() {
    let text = format!("id,bytes\n{}", "a,x\n".repeat(1000));
    let error = rows(text.as_bytes()).unwrap_err();
    assert_eq!(error.lines().count(), 21);
    assert!(error.ends_with("the rest of `t.csv` was not read"));
}

#[test]
fn lines_across_the_ends_of_chunks_are_whole() {
    // Quoted, so that a chunk may end between the two halves of a doubled quote.
    let cell = "\"\"".repeat(300_007);
    let line = format!("\"{cell}\",7\n");
    let read = rows(format!("id,bytes\n{}", line.repeat(5)).as_bytes()).unwrap();
    assert_eq!(read, vec![row(&"\"".repeat(300_007), "7", ""); 5]);
    let many: String = (0..300_000).map(|i| format!("n{i},{i}\n")).collect();
    let read = rows(format!("id,bytes\n{many}").as_bytes()).unwrap();
    assert!(read.iter().enumerate().all(|(i, cells)| *cells == row(&format!("n{i}"), &i.to_string(), "")));
}

#[test]
fn a_line_without_end_is_refused() {
    let endless = vec![b'a'; LONGEST_LINE + CHUNK + 1];
    assert!(rows(&endless).unwrap_err().contains("t.csv:1:1: a line is longer"));
}

#[test]
fn fast_times_are_those_of_the_slow_reader() {
    for text in
        ["0", "7", "1234ns", "1234567890123 ps", "12us", "9007199254740993", "99999999999999999999", "1e-6", "ns"]
    {
        if let Some(time) = whole_time(text.as_bytes()) {
            assert_eq!(Time::from_cell(text), Ok(time), "{text}");
        }
    }
    assert_eq!(whole_time(b"1234ns"), Some(Time::from_ps(1_234_000.0)));
    assert_eq!(whole_time(b"ns"), None);
}

proptest! {
    #[test]
    fn no_bytes_panic(content in prop::collection::vec(prop_oneof![3 => prop::sample::select(b"id,bytes\n\r\"# 1".to_vec()), 1 => any::<u8>()], 0..200), header in any::<bool>()) {
        let mut bytes = if header { b"id,bytes\n".to_vec() } else { Vec::new() };
        bytes.extend(content);
        let _ = rows(&bytes);
    }

    #[test]
    fn what_is_quoted_reads_back(cells in prop::collection::vec(("[^\n\u{0}]{0,12}", 0u64..1 << 53), 0..20)) {
        let lines: String = cells.iter().map(|(id, bytes)| format!("\"{}\",{bytes}\n", id.replace('"', "\"\""))).collect();
        let expected: Vec<_> = cells.iter().map(|(id, bytes)| row(id, &bytes.to_string(), "")).collect();
        prop_assert_eq!(rows(format!("id,bytes\n{lines}").as_bytes()), Ok(expected));
    }
}
