//! Everything written is read back, and damage is reported.

use hayase_trace::{
    Call, Clock, Communicator, Event, Flags, Frame, Header, Item, Mark, Op, ReadError, Reader, Site, Writer,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// An item that owns its data.
#[derive(Clone, PartialEq, Debug)]
enum OwnedItem {
    Header(Header),
    Site(u32, Site),
    Communicator(u32, Communicator),
    Region(u32, String),
    Mark(Mark),
    Note(String, Vec<u8>),
    Event(Event),
    End(u64, u64),
}

impl From<Item<'_>> for OwnedItem {
    fn from(item: Item<'_>) -> Self {
        match item {
            Item::Header(header) => Self::Header(header.clone()),
            Item::Site(index, site) => Self::Site(index, site.clone()),
            Item::Communicator(index, communicator) => Self::Communicator(index, communicator.clone()),
            Item::Region(index, name) => Self::Region(index, name.into()),
            Item::Mark(mark) => Self::Mark(*mark),
            Item::Note(name, content) => Self::Note(name.into(), content.into()),
            Item::Event(event) => Self::Event(event.clone()),
            Item::End { events, lost } => Self::End(events, lost),
        }
    }
}

fn read(bytes: &[u8]) -> (Vec<OwnedItem>, Option<ReadError>) {
    let mut reader = Reader::new(bytes);
    let mut said = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(item)) => said.push(item.into()),
            Ok(None) => return (said, None),
            Err(error) => {
                assert!(reader.next().unwrap().is_none(), "nothing comes after an error");
                return (said, Some(error));
            }
        }
    }
}

fn write(said: &[OwnedItem]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut said = said.iter().peekable();
    while let Some(first) = said.next() {
        let OwnedItem::Header(header) = first else { panic!("a stream starts with its header") };
        let mut writer = Writer::new(&mut out, header).unwrap();
        let mut lost = 0;
        while let Some(next) = said.next_if(|said| !matches!(said, OwnedItem::Header(_))) {
            match next {
                OwnedItem::Header(_) => unreachable!(),
                OwnedItem::Site(index, site) => writer.site(*index, site).unwrap(),
                OwnedItem::Communicator(index, communicator) => writer.communicator(*index, communicator).unwrap(),
                OwnedItem::Region(index, name) => writer.region(*index, name).unwrap(),
                OwnedItem::Mark(mark) => writer.mark(mark).unwrap(),
                OwnedItem::Note(name, content) => writer.note(name, content).unwrap(),
                OwnedItem::Event(event) => writer.event(event).unwrap(),
                OwnedItem::End(_, count) => lost = *count,
            }
        }
        writer.finish_with_lost(lost).unwrap();
    }
    out
}

fn any_event() -> impl Strategy<Value = Event> {
    let small = || prop_oneof![3 => 0..4_u64, 1 => any::<u64>()];
    let number = || prop_oneof![3 => -2..4_i32, 1 => any::<i32>()];
    let list = || prop_oneof![3 => Just(Vec::new()), 2 => vec(1..6_u64, 1..4), 1 => vec(any::<u64>(), 1..5)];
    (
        (
            0..Call::ALL.len(),
            any::<u64>(),
            any::<u64>(),
            proptest::option::of(any::<u64>()),
            0..32_u16,
            0..3_u32,
            prop_oneof![3 => Just(0), 1 => 0..3_u32],
        ),
        (0..3_u32, 0..22_u8, 0..9_u32, number(), number(), small(), number(), number(), small()),
        (small(), small(), list(), list(), list(), list()),
    )
        .prop_map(|(a, b, c)| Event {
            cpu: a.3,
            thread: a.6,
            flags: Flags(a.4),
            site: a.5,
            comm: b.0,
            op: Op(b.1),
            element: b.2,
            peer: b.3,
            tag: b.4,
            bytes: b.5,
            peer2: b.6,
            tag2: b.7,
            bytes2: b.8,
            buffer: c.0,
            buffer2: c.1,
            requests: c.2,
            offered: c.3,
            counts: c.4,
            counts2: c.5,
            ..Event::new(Call::ALL[a.0], a.1, a.2)
        })
}

fn any_mark() -> impl Strategy<Value = Mark> {
    (0..1_u32 << 30, any::<bool>(), any::<u32>(), any::<u64>(), any::<u64>(), proptest::option::of(any::<u64>()))
        .prop_map(|(region, begins, site, begin, end, cpu)| Mark { region, begins, site, begin, end, cpu })
}

fn any_stream() -> impl Strategy<Value = Vec<OwnedItem>> {
    let communicator = (any::<u64>(), vec(0..1_u32 << 24, 0..5), vec(any::<u32>(), 0..3))
        .prop_map(|(id, members, remote)| Communicator { id, members, remote });
    let frame = || (any::<u64>(), "[a-z.:0-9]{0,9}").prop_map(|(address, name)| Frame { address, name });
    let said = prop_oneof![
        8 => any_event().prop_map(OwnedItem::Event),
        1 => (any::<u32>(), frame(), vec(frame(), 0..4))
            .prop_map(|(i, Frame { address, name }, callers)| OwnedItem::Site(i, Site { address, name, callers })),
        1 => (any::<u32>(), communicator).prop_map(|(i, c)| OwnedItem::Communicator(i, c)),
        1 => (any::<u32>(), "[a-z ]{0,9}").prop_map(|(index, name)| OwnedItem::Region(index, name)),
        2 => any_mark().prop_map(OwnedItem::Mark),
        1 => ("[a-z]{1,5}", vec(any::<u8>(), 0..20)).prop_map(|(name, content)| OwnedItem::Note(name, content)),
    ];
    let clock = prop_oneof![Just(Clock::Wall), Just(Clock::Cpu), Just(Clock::None)];
    (0..8_u32, 8..20_u32, any::<u64>(), clock, "[ -~]{0,20}", vec(said, 0..40), any::<u64>()).prop_map(
        |(rank, ranks, start, clock, title, mut said, lost)| {
            let header = Header { start, clock, ..Header::new(rank, ranks) }.note("title", &title);
            let events = said.iter().filter(|said| matches!(said, OwnedItem::Event(_))).count() as u64;
            said.insert(0, OwnedItem::Header(header));
            said.push(OwnedItem::End(events, lost));
            said
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_again(streams in vec(any_stream(), 0..4)) {
        let said = streams.concat();
        let (read, error) = read(&write(&said));
        prop_assert!(error.is_none(), "{error:?}");
        prop_assert_eq!(read, said);
    }

    #[test]
    fn a_stream_that_ends_early_gives_what_came_before(stream in any_stream(), part in 0.0..1.0) {
        let bytes = write(&stream);
        let cut = (bytes.len() as f64 * part) as usize;
        let (read, error) = read(&bytes[..cut]);
        prop_assert!(stream.starts_with(&read));
        if cut > 0 {
            prop_assert!(matches!(error, Some(ReadError::Truncated { .. })), "{error:?}");
        }
    }

    #[test]
    fn a_changed_byte_is_found_out(stream in any_stream(), at in any::<prop::sample::Index>(), change in 1..=255_u8) {
        let mut bytes = write(&stream);
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        let (read, error) = read(&bytes);
        prop_assert!(error.is_some() && stream.starts_with(&read), "{error:?}");
    }

    #[test]
    fn garbage_with_a_right_checksum_does_no_harm(
        kind in prop::sample::select(b"HSCEnrZq".as_slice()),
        content in vec(prop_oneof![0..4_u8, any::<u8>()], 0..200),
        more in vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = write(&[OwnedItem::Header(Header::new(0, 1))]);
        bytes.truncate(bytes.len() - 14 - 2);
        chunk(&mut bytes, kind, 0, content.len() as u32, &content);
        bytes.extend(more);
        let (_, error) = read(&bytes);
        prop_assert!(error.is_some() || kind == b'Z');
    }
}

/// Appends a chunk with the checksum of older files.
fn chunk(out: &mut Vec<u8>, kind: u8, coding: u8, raw: u32, stored: &[u8]) {
    let mut crc = !0_u32;
    for &byte in stored {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
        }
    }
    out.extend([kind, coding]);
    out.extend(raw.to_le_bytes());
    out.extend((stored.len() as u32).to_le_bytes());
    out.extend((!crc).to_le_bytes());
    out.extend(stored);
}

fn header_only() -> Vec<u8> {
    let mut bytes = write(&[OwnedItem::Header(Header::new(0, 1))]);
    bytes.truncate(bytes.len() - 14 - 2);
    bytes
}

fn message_of(bytes: &[u8]) -> String {
    read(bytes).1.expect("an error").to_string()
}

#[test]
fn a_length_of_four_gigabytes_is_refused_before_anything_is_allocated() {
    for (raw, stored) in [(u32::MAX, 0), (0, u32::MAX), (u32::MAX, u32::MAX)] {
        let mut bytes = header_only();
        bytes.extend([b'E', 0]);
        bytes.extend(raw.to_le_bytes());
        bytes.extend(stored.to_le_bytes());
        bytes.extend([0; 4]);
        assert!(message_of(&bytes).contains("claims to have 4294967295 bytes"), "{}", message_of(&bytes));
    }
}

#[test]
fn numbers_of_things_that_are_not_there_are_refused() {
    let mut many_events = vec![];
    many_events.extend([0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0]);
    let members = [1, 1, 0xff, 0xff, 0xff, 0xff, 0x7f];
    let name = [0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f];
    for (kind, content, what) in [
        (b'E', many_events.as_slice(), "claims to have"),
        (b'C', &members, "claims to have"),
        (b'S', &name, "cut off"),
        (b'n', &name[2..], "cut off"),
        (b'r', &name[1..], "cut off"),
        (b'Q', &[], "no kind of chunk"),
        (b'H', &[], "second header"),
        (b'Z', &[5, 0], "says that it has 5 events"),
    ] {
        let mut bytes = header_only();
        chunk(&mut bytes, kind, 0, content.len() as u32, content);
        assert!(message_of(&bytes).contains(what), "{}: {}", char::from(kind), message_of(&bytes));
    }
    // A frame that unpacks to more than its length, and to less.
    let frame = zstd::bulk::compress(&[7; 1000], 1).unwrap();
    for (raw, what) in [(999, "cannot be decompressed"), (1001, "has 1000 bytes, not 1001")] {
        let mut bytes = header_only();
        chunk(&mut bytes, b'n', 1, raw, &frame);
        assert!(message_of(&bytes).contains(what), "{}", message_of(&bytes));
    }
}

#[test]
fn what_a_reader_does_not_know_and_may_skip_is_skipped() {
    let mut bytes = header_only();
    chunk(&mut bytes, b'x', 0, 3, b"abc");
    chunk(&mut bytes, b'Z', 0, 2, &[0, 0]);
    let (said, error) = read(&bytes);
    assert!(error.is_none());
    assert_eq!(said.last(), Some(&OwnedItem::End(0, 0)));
}

#[test]
fn a_trace_that_was_copied_as_text_is_recognised() {
    let bytes = header_only();
    let text: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != b'\r').collect();
    assert!(message_of(&text).contains("copied as text"), "{}", message_of(&text));
    assert!(message_of(b"num_ranks 2\n").contains("no stream"));
    let mut later = bytes;
    later[3] = b'9';
    assert!(message_of(&later).contains("version") || message_of(&later).contains("no stream"));
}

#[test]
fn times_are_rounded_to_ticks_and_do_not_drift() {
    let header = Header { tick: 10, ..Header::new(0, 1) };
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &header).unwrap();
    for i in 0..1000 {
        writer.event(&Event { cpu: Some(9), ..Event::new(Call::Barrier, i * 17, i * 17 + 9) }).unwrap();
    }
    writer.finish().unwrap();
    let (said, _) = read(&out);
    let OwnedItem::Event(last) = &said[1000] else { panic!() };
    assert_eq!((last.begin, last.end), (16_980, 16_990));
    let cpu = said.iter().filter_map(|said| if let OwnedItem::Event(event) = said { event.cpu } else { None });
    assert_eq!(cpu.sum::<u64>(), 9000);
}

#[test]
fn the_last_words_of_a_process_that_dies_are_kept() {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &Header::new(0, 1)).unwrap();
    for i in 0..100 {
        writer.event(&Event { peer: 3, ..Event::new(Call::Send, i, i) }).unwrap();
    }
    writer.flush_stored().unwrap();
    writer.flush_stored().unwrap();
    std::mem::forget(writer);
    let (said, error) = read(&out);
    assert_eq!(said.len(), 101);
    assert!(matches!(error, Some(ReadError::Truncated { .. })));
}

#[test]
fn sites_are_named_without_touching_anything_else() {
    let callers = |name: &str| vec![Frame { address: 7, name: name.into() }, Frame { address: 8, name: name.into() }];
    let site = |address, name: &str| Site { address, name: name.into(), callers: callers(name) };
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &Header::new(1, 2)).unwrap();
    let call = |site, bytes| Event { site, bytes, ..Event::new(Call::Send, 5, 9) };
    writer.site(0, &site(0x1000, "")).unwrap();
    writer.event(&call(1, 8)).unwrap();
    // Written in the way of a recorder.
    writer.new_site(1, &site(0x2000, ""));
    writer.event(&call(2, 16)).unwrap();
    writer.finish_with_lost(3).unwrap();

    let named = [(0, site(0x1000, "a.c:3 (main)")), (1, site(0x2000, "b.f90:12 (solve)"))];
    let mut copy = Vec::new();
    let whole = hayase_trace::replace_sites(&out[..], &mut copy, named.iter().map(|(i, site)| (*i, site))).unwrap();
    assert!(whole);
    let (said, error) = read(&copy);
    assert!(error.is_none(), "{error:?}");
    let expected = [
        OwnedItem::Header(Header::new(1, 2)),
        OwnedItem::Site(0, named[0].1.clone()),
        OwnedItem::Site(1, named[1].1.clone()),
        OwnedItem::Event(call(1, 8)),
        OwnedItem::Event(call(2, 16)),
        OwnedItem::End(2, 3),
    ];
    assert_eq!(said, expected);

    // Cut anywhere, the copy consists of whole chunks, and never has an end that was not there.
    for length in 8..out.len() {
        let mut copy = Vec::new();
        let whole = hayase_trace::replace_sites(&out[..length], &mut copy, named.iter().map(|(i, site)| (*i, site)));
        assert!(!whole.unwrap());
        assert!(matches!(read(&copy).1, Some(ReadError::Truncated { .. })), "cut at {length}");
    }
    assert!(hayase_trace::replace_sites(&b"no trace"[..], Vec::new(), []).is_err());
}

#[test]
fn what_is_made_known_late_comes_before_the_calls_that_name_it() {
    for by_signal in [false, true] {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, &Header::new(0, 1)).unwrap();
        let event = Event { site: 1, comm: 2, ..Event::new(Call::Barrier, 10, 20) };
        let callers =
            vec![Frame { address: 400, name: String::new() }, Frame { address: 0, name: "a.py:7 (f)".into() }];
        writer.event(&event).unwrap();
        writer.new_site(0, &Site { address: 300, callers: callers.clone(), ..Site::default() });
        let communicator = Communicator { id: 9, members: vec![0], remote: vec![] };
        writer.new_communicator(2, &communicator);
        writer.event(&event).unwrap();
        if by_signal {
            writer.end_stored(&[("empty", b""), ("ended", b"signal 15")], 3).unwrap();
            drop(writer);
        } else {
            writer.finish_with_lost(3).unwrap();
        }
        let (said, error) = read(&file);
        assert!(error.is_none(), "{error:?}");
        let mut wanted = vec![
            OwnedItem::Header(Header::new(0, 1)),
            OwnedItem::Site(0, Site { address: 300, callers: callers.clone(), ..Site::default() }),
            OwnedItem::Communicator(2, communicator),
            OwnedItem::Event(event.clone()),
            OwnedItem::Event(event),
        ];
        if by_signal {
            wanted.push(OwnedItem::Note("empty".into(), Vec::new()));
            wanted.push(OwnedItem::Note("ended".into(), b"signal 15".to_vec()));
        }
        wanted.push(OwnedItem::End(2, 3));
        assert_eq!(said, wanted);
    }
}

#[test]
fn a_reader_that_knows_no_callers_reads_the_rest() {
    let site = Site { address: 5, name: "a.c:3".into(), callers: vec![Frame { address: 9, name: "b.c:4".into() }] };
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &Header::new(0, 1)).unwrap();
    writer.site(0, &site).unwrap();
    writer.finish().unwrap();
    // Callers are in a chunk of a kind that may be skipped; here the kind is changed to an unknown one.
    let at = out.windows(2).position(|kind| kind == [b'p', 0]).expect("a chunk that was not worth compressing");
    let length = u32::from_le_bytes(out[at + 2..at + 6].try_into().unwrap());
    let rest = out.split_off(at);
    let (content, rest) = rest[14..].split_at(length as usize);
    chunk(&mut out, b'x', 0, length, content);
    out.extend(rest);
    let (said, error) = read(&out);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(said[1], OwnedItem::Site(0, Site { callers: Vec::new(), ..site }));
}

#[test]
fn whoever_wants_sites_alone_gets_all_of_them() {
    let site = |address| Site { address, callers: vec![Frame { address: 9, name: "b".into() }], ..Site::default() };
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &Header::new(3, 4)).unwrap();
    for index in 0..3 {
        writer.site(index, &site(u64::from(index))).unwrap();
        for time in 0..1000 {
            writer.event(&Event { site: index + 1, ..Event::new(Call::Barrier, time, time) }).unwrap();
        }
        writer.note("a", b"b").unwrap();
    }
    writer.finish().unwrap();
    let whole = [out.clone(), out.clone()].concat();
    let mut reader = Reader::of_sites(whole.as_slice());
    let mut found = Vec::new();
    while let Some(item) = reader.next().unwrap() {
        match item {
            Item::Header(header) => assert_eq!(header.rank, 3),
            Item::Site(index, site) => found.push((index, site.clone())),
            Item::End { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    let each = [(0, site(0)), (1, site(1)), (2, site(2))];
    assert_eq!(found, [each.clone(), each].concat());
    let mut reader = Reader::of_sites(&out[..out.len() - 5]);
    let last = loop {
        match reader.next() {
            Ok(Some(_)) => {}
            other => break other.map(drop),
        }
    };
    assert!(matches!(last, Err(ReadError::Truncated { .. })));
}
