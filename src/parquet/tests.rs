use std::io::Read;

use super::*;

const MAGIC_OF_ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

fn column(name: &str, kind: ColumnKind) -> Column {
    Column { name: name.to_owned(), kind }
}

/// Returns the pages of a file, in order.
fn pages(file: &[u8]) -> Vec<Vec<u8>> {
    let begin = |at: &usize| file[*at..].starts_with(&MAGIC_OF_ZSTD);
    let mut pages = Vec::new();
    for at in (0..file.len()).filter(begin) {
        let mut page = Vec::new();
        zstd::Decoder::with_buffer(&file[at..]).unwrap().single_frame().read_to_end(&mut page).unwrap();
        pages.push(page);
    }
    pages
}

#[test]
fn a_page_says_which_rows_have_values_and_then_the_values() {
    let kinds = [ColumnKind::Truth, ColumnKind::Whole, ColumnKind::Unsigned, ColumnKind::Number, ColumnKind::Text];
    let columns = kinds.map(|kind| column(&format!("{kind:?}"), kind)).to_vec();
    let mut table = Writer::new(Vec::new(), columns).unwrap();
    table
        .row([Cell::Truth(true), Cell::Whole(-2), Cell::Unsigned(u64::MAX), Cell::Number(0.5), Cell::Text("é".into())])
        .unwrap();
    // Cells that a row lacks at its end are missing values as well.
    table.row([Cell::Null, Cell::Null, Cell::Unsigned(1)]).unwrap();
    table.row([Cell::Truth(true), Cell::Null, Cell::Unsigned(2), Cell::Number(-1.0)]).unwrap();
    let file = table.finish(&[("plan", "x.toml")]).unwrap();
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    let footer = u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap()) as usize;
    let footer = &file[file.len() - 8 - footer..file.len() - 8];
    for name in ["Truth", "Whole", "Unsigned", "Number", "Text", "plan", "x.toml", "hayase version"] {
        assert!(footer.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
    // Four bytes of length, then a run (twice the number of rows, then the value) or groups of eight bits (twice their
    // number plus one, then the bits from the lowest on).
    let [truth, whole, unsigned, number, text] = pages(&file).try_into().unwrap();
    assert_eq!(truth, [&[2, 0, 0, 0, 3, 0b101][..], &[0b11]].concat());
    assert_eq!(whole, [&[2, 0, 0, 0, 3, 0b001][..], &(-2_i64).to_le_bytes()].concat());
    let values = [u64::MAX, 1, 2].map(u64::to_le_bytes).concat();
    assert_eq!(unsigned, [&[2, 0, 0, 0, 6, 1][..], &values].concat());
    assert_eq!(number, [&[2, 0, 0, 0, 3, 0b101][..], &0.5_f64.to_le_bytes(), &(-1.0_f64).to_le_bytes()].concat());
    assert_eq!(text, [&[2, 0, 0, 0, 3, 0b001][..], &[2, 0, 0, 0], "é".as_bytes()].concat());
}

#[test]
fn rows_are_written_in_groups_that_follow_each_other_to_the_description() {
    let mut table =
        Writer::new(Vec::new(), vec![column("a", ColumnKind::Whole), column("b", ColumnKind::Text)]).unwrap();
    for i in 0..250_001 {
        table.row([Cell::Whole(i), Cell::Null]).unwrap();
    }
    assert_eq!(table.groups.iter().map(|group| group.rows).collect::<Vec<_>>(), [100_000, 100_000]);
    assert_eq!(table.rows, 50_001);
    table.write_group().unwrap();
    let mut position = 4;
    for chunk in table.groups.iter().flat_map(|group| &group.chunks) {
        assert_eq!(chunk.offset, position);
        position += chunk.compressed as u64;
    }
    assert_eq!(table.position, position);
    assert_eq!(table.writer.len() as u64, position);
    // Long texts do not keep much in memory.
    let mut table = Writer::new(Vec::new(), vec![column("b", ColumnKind::Text)]).unwrap();
    let long = "x".repeat(1 << 20);
    (0..40).for_each(|_| table.row([Cell::Text(long.as_str().into())]).unwrap());
    assert_eq!(table.groups.len(), 1);
    assert!(table.pending[0].bytes.len() < 10 << 20);
}

#[test]
fn a_table_without_rows_has_columns_and_one_with_a_wrong_value_is_refused() {
    let file = Writer::new(Vec::new(), vec![column("alone", ColumnKind::Truth)]).unwrap().finish(&[]).unwrap();
    assert!(file.windows(5).any(|part| part == b"alone"));
    assert!(pages(&file).is_empty());
    let mut table = Writer::new(Vec::new(), vec![column("a", ColumnKind::Whole)]).unwrap();
    let error = table.row([Cell::Number(1.0)]).unwrap_err();
    assert_eq!(error.to_string(), "`a` is Whole and not Number(1.0)");
}
