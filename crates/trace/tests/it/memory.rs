//! Files of memory accesses that are cut short or damaged give errors and do no harm.

use hayase_trace::ReadError;
use hayase_trace::memory::{AccessKind, Gather, Intervals, Item, Level, Nest, Reader, Sink, Site, Totals, Writer};
use proptest::prelude::*;

/// Returns a file with some nests and gathers in two intervals.
fn file() -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, &[("program", "./a b"), ("odd name", "two\nlines")]).unwrap();
    let read = writer.site(&Site { address: 0x1000, ..Site::default() });
    let write = writer.site(&Site { address: 0x2000, write: true, ..Site::default() });
    for interval in [1, 7] {
        writer.interval(interval).unwrap();
        let level = |count, stride, step| Level { count, stride, step };
        writer.nest(&Nest::new(read, 8, 0x5000, 0, &[level(10, -8, 2), level(3, 80, 20)])).unwrap();
        writer.nest(&Nest::new(write, 8, 0x9000, 1, &[level(30, 8, 2)])).unwrap();
        let addresses = vec![5, 1 << 40, 77, u64::MAX];
        writer.gather(&Gather { site: read, size: 4, first: 60, step: 1, addresses }).unwrap();
    }
    writer.finish(Totals { accesses: 128, elsewhere: 1, lost: 2 }).unwrap();
    file
}

/// Returns the items of a file as text, and the error at its end.
fn said(bytes: &[u8]) -> (Vec<String>, Option<ReadError>) {
    let mut reader = Reader::new(bytes);
    let mut said = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(item)) => said.push(format!("{item:?}")),
            Ok(None) => return (said, None),
            Err(error) => {
                assert!(reader.next().unwrap().is_none(), "nothing comes after an error");
                return (said, Some(error));
            }
        }
    }
}

#[test]
fn a_file_says_what_was_written() {
    let bytes = file();
    let mut reader = Reader::new(bytes.as_slice());
    let mut accesses = 0;
    let mut last = None;
    while let Some(item) = reader.next().unwrap() {
        match item {
            Item::Header(notes) => {
                let expected = [("program", "./a b"), ("odd-name", "two lines")];
                assert!(notes.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(expected));
            }
            Item::Nest(nest) => accesses += nest.count(),
            Item::Gather(gather) => accesses += gather.addresses.len() as u64,
            Item::End(totals) => last = Some(totals),
            Item::Site(..) | Item::Interval(_) => {}
        }
    }
    assert_eq!((accesses, last), (128, Some(Totals { accesses: 128, elsewhere: 1, lost: 2 })));
}

#[test]
fn a_file_that_ends_early_gives_what_came_before() {
    let bytes = file();
    let whole = said(&bytes).0;
    for length in 0..bytes.len() {
        let (found, error) = said(&bytes[..length]);
        assert!(whole.starts_with(&found) && matches!(error, Some(ReadError::Truncated { .. })), "{length}: {error:?}");
    }
}

#[test]
fn a_changed_byte_is_found_out() {
    let bytes = file();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x20;
        assert!(said(&changed).1.is_some(), "byte {at}");
    }
}

#[test]
fn the_span_of_a_nest_is_what_it_touches() {
    let nest = Nest::new(
        0,
        8,
        1000,
        0,
        &[Level { count: 10, stride: -8, step: 1 }, Level { count: 3, stride: 100, step: 10 }],
    );
    assert_eq!((nest.span(), nest.count(), nest.last()), (Some((928, 1208)), 30, 29));
    let beyond = Nest::new(0, 8, 16, 0, &[Level { count: 10, stride: -8, step: 1 }]);
    assert_eq!(beyond.span(), None);
}

/// Returns a file with a chunk of accesses of this content and a right checksum, after a right beginning.
fn with_content(content: &[u8]) -> Vec<u8> {
    let mut bytes = file();
    // Signature, and a header of the length in its head.
    let header = u32::from_le_bytes(bytes[14..18].try_into().unwrap()) as usize;
    bytes.truncate(8 + 14 + header);
    bytes.push(b'A');
    bytes.push(0);
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend((content.len() as u32).to_le_bytes());
    let mut crc = !0_u32;
    for byte in content {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
        }
    }
    bytes.extend((!crc).to_le_bytes());
    bytes.extend(content);
    bytes
}

proptest! {
    #[test]
    fn garbage_with_a_right_checksum_does_no_harm(items in 1..9_u8, columns in proptest::collection::vec(proptest::collection::vec(0..12_u8, 0..12), 11)) {
        let mut content = vec![items, 11];
        for column in &columns {
            content.push(column.len() as u8);
            content.extend(column);
        }
        // At the least, the end of the stream is missing.
        prop_assert!(said(&with_content(&content)).1.is_some());
    }
}

#[test]
fn what_is_no_access_stands_apart_from_what_is() {
    use AccessKind::{Atomic, Block, Call, Frame, Hazard, Library, Opaque, Plain};
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, &[]).unwrap();
    for (kind, address) in [Plain, Atomic, Library, Opaque, Frame, Call, Block, Hazard].into_iter().zip(1..) {
        let site = writer.site(&Site { address, write: true, kind, name: "name".into() });
        writer.nest(&Nest::new(site, 8, 0x100, 0, &[])).unwrap();
    }
    writer.finish(Totals::default()).unwrap();
    let mut intervals = Intervals::new(file.as_slice());
    let interval = intervals.next().unwrap().unwrap();
    let kinds = |nests: &[Nest]| -> Vec<AccessKind> {
        nests.iter().map(|nest| intervals.sites()[nest.site as usize].kind).collect()
    };
    assert_eq!(kinds(&interval.nests), [Plain, Atomic, Library, Opaque, Call]);
    assert_eq!(
        [&interval.frames, &interval.blocks, &interval.hazards].map(|list| kinds(list)),
        [[Frame], [Block], [Hazard]]
    );
    assert_eq!(interval.accesses(), 5);
}
