//! Borders of regions stand between the calls, and change nothing for readers that do not know them.

use hayase_trace::{Call, Event, Header, Item, Mark, Reader, Writer};

fn call(begin: u64) -> Event {
    Event { cpu: Some(90), bytes: 8, ..Event::new(Call::Send, begin, begin + 10) }
}

/// Returns a stream of three calls as written when the process dies: nothing is compressed.
fn stream(marks: &[(u64, Mark)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &Header::new(0, 1)).unwrap();
    if !marks.is_empty() {
        writer.new_region(0, "solve");
    }
    for event in 0..=3 {
        for (_, mark) in marks.iter().filter(|(before, _)| *before == event) {
            writer.mark(mark).unwrap();
        }
        if event < 3 {
            writer.event(&call(100 * event)).unwrap();
        }
    }
    writer.end_stored(&[], 0).unwrap();
    drop(writer);
    out
}

/// Returns the chunks after the signature: kind and content.
fn chunks(stream: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let (mut rest, mut chunks) = (&stream[8..], Vec::new());
    while let [kind, 0, head @ ..] = rest {
        let length = u32::from_le_bytes(head[4..8].try_into().unwrap()) as usize;
        chunks.push((*kind, head[12..12 + length].to_vec()));
        rest = &head[12 + length..];
    }
    chunks
}

fn marks() -> [(u64, Mark); 4] {
    let mark = |begins, begin, cpu| Mark { region: 0, begins, site: 2, begin, end: begin + 5, cpu };
    [
        (0, mark(true, 0, None)),
        (1, mark(false, 30, Some(20))),
        (1, mark(true, 60, Some(40))),
        (3, mark(false, 250, Some(30))),
    ]
}

#[test]
fn borders_stand_where_they_were_marked_and_calls_are_as_without_them() {
    let bytes = stream(&marks());
    let mut reader = Reader::new(bytes.as_slice());
    let (mut events, mut found, mut names) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(item) = reader.next().unwrap() {
        match item {
            Item::Event(event) => events.push(event.clone()),
            Item::Mark(mark) => found.push((events.len() as u64, *mark)),
            Item::Region(index, name) => names.push((index, name.to_owned())),
            _ => {}
        }
    }
    assert_eq!(events, [call(0), call(100), call(200)]);
    assert_eq!(found, marks());
    assert_eq!(names, [(0, "solve".to_owned())]);
}

#[test]
fn a_reader_of_before_finds_the_columns_that_it_knows_and_passes_over_the_rest() {
    let (without, with) = (chunks(&stream(&[])), chunks(&stream(&marks())));
    let kinds = |chunks: &[(u8, Vec<u8>)]| chunks.iter().map(|(kind, _)| *kind as char).collect::<String>();
    assert_eq!((kinds(&without), kinds(&with)), ("HEZ".to_owned(), "HrEZ".to_owned()));
    let (old, new) = (&without[1].1, &with[2].1);
    // Three events; 14 columns or 15; then the columns. Earlier columns are the same byte for byte.
    assert_eq!((&old[..2], &new[..2]), (&[3, 14][..], &[3, 15][..]));
    assert!(new[2..].starts_with(&old[2..]), "{new:?} {old:?}");
    assert!(new.len() > old.len());
    assert_eq!(without[2], with[3], "the end says the same");
}

#[test]
fn a_reader_that_knows_no_threads_reads_the_calls_of_all() {
    let stream = |threads: [u32; 3]| {
        let mut writer = Writer::new(Vec::new(), &Header::new(0, 1)).unwrap();
        for (thread, begin) in threads.into_iter().zip([0, 100, 200]) {
            writer.event(&Event { thread, ..call(begin) }).unwrap();
        }
        chunks(&writer.finish().unwrap())
    };
    let (one, several) = (stream([0; 3]), stream([0, 2, 0]));
    let (old, new) = (&one[1].1, &several[1].1);
    // Three events; 14 columns or 16, with an empty one for regions: after one event thread 2, after one more
    // thread 0.
    assert_eq!((&old[..2], &new[..2]), (&[3, 14][..], &[3, 16][..]));
    assert!(new.ends_with(&[0, 4, 1, 2, 1, 0]), "{new:?}");
}

#[test]
fn borders_alone_are_a_stream_too() {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &Header::new(0, 1)).unwrap();
    let mark = |begins, begin| Mark { begins, begin, end: begin, ..Mark::default() };
    writer.new_region(0, "all");
    for time in 0..100_000 {
        writer.mark(&mark(time % 2 == 0, time)).unwrap();
    }
    writer.finish().unwrap();
    let mut reader = Reader::new(out.as_slice());
    let mut time = 0;
    while let Some(item) = reader.next().unwrap() {
        if let Item::Mark(found) = item {
            assert_eq!(*found, mark(time % 2 == 0, time));
            time += 1;
        }
    }
    assert_eq!(time, 100_000);
}
