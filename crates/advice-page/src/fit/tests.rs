use super::*;
use crate::{Activity, Detail, Mark, Message, Role, Rule, Span};

/// Generator of pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Parameters of a generated run.
#[derive(Clone, Copy)]
struct Shape {
    ranks: u32,
    spans: u64,
    places: u32,
    /// Length of the names of files.
    name: usize,
    /// Largest length of spans \[ns\].
    length: u64,
}

const SHAPE: Shape = Shape { ranks: 16, spans: 1_000_000, places: 20, name: 20, length: 5_000 };

/// Generates a run of random calls, and returns it with its named calls.
///
/// Each call has a message of a random length to a random rank. The critical path changes ranks at each call.
fn generated(shape: Shape) -> (Run, Vec<(u32, u64, u64, u64)>) {
    let mut numbers = Numbers(u64::from(shape.ranks) * 77 + shape.spans);
    let mut run = Run::new(shape.ranks);
    let each = shape.spans / u64::from(shape.ranks);
    let every = (each / 5).max(1);
    run.name((0..shape.ranks).flat_map(|rank| (0..each).step_by(every as usize).map(move |event| (rank, event))));
    let places: Vec<PlaceId> =
        (0..shape.places).map(|at| run.place(&format!("{}{at}", "a/".repeat(shape.name / 2)), at % 1000 + 1)).collect();
    let mut now = vec![0u64; shape.ranks as usize];
    let mut named = Vec::new();
    for event in 0..each {
        for rank in 0..shape.ranks {
            let begin = now[rank as usize] + numbers.below(100);
            let end = begin + numbers.below(shape.length);
            now[rank as usize] = end;
            let kind = Activity::ALL[numbers.below(5) as usize];
            let place = places[numbers.below(places.len() as u64) as usize];
            let peer = numbers.below(shape.ranks.into()) as u32;
            let (bytes, tag) = (numbers.below(1 << 40), numbers.below(1000) as i32);
            let call = ["Send", "Recv", "Wait", "Allreduce"][numbers.below(4) as usize];
            let (event_of, peer_of) = (Some(event), Some(peer));
            run.span(rank, Span { kind, begin, end, place, event: event_of, call, peer: peer_of, bytes, tag });
            if event % every == 0 {
                named.push((rank, event, begin, end));
            }
            run.message(&Message { bytes, from_place: place, to_place: place, ..Message::new(rank, peer, begin, end) });
            run.critical(rank, Some(peer).filter(|_| numbers.below(2) == 0), begin, end);
        }
    }
    (run, named)
}

fn written(data: &PageData) -> (usize, serde_json::Value) {
    let mut out = Vec::new();
    crate::page(data, &mut out).unwrap();
    let html = std::str::from_utf8(&out).unwrap();
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    (out.len(), serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap())
}

/// Sums the times of all kinds in a list of sums.
fn times<'a>(rows: impl Iterator<Item = &'a serde_json::Value>) -> u64 {
    rows.flat_map(|row| row.as_array().unwrap()).map(|time| time.as_u64().unwrap()).sum()
}

/// Checks that the page fits, says which parts it leaves out, and has the sums of the run.
fn check(data: &PageData) -> serde_json::Value {
    let (size, json) = written(data);
    assert!(size <= MAX_PAGE_BYTES, "{size} B");
    let totals = &data.run.totals;
    let spent: u64 = totals.ranks.iter().flat_map(|rank| rank.ns).sum();
    let uses =
        times(json["uses"].as_array().unwrap().iter().map(|row| &row[0])) + times([&json["otherUses"]].into_iter());
    assert_eq!(uses, spent);
    assert_eq!(times(json["lines"].as_array().unwrap().iter().map(|row| &row[2])), spent);
    let sum = |rows: &str, column: usize| -> u64 {
        json[rows].as_array().unwrap().iter().map(|row| row[column].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("lines", 3), totals.events);
    assert_eq!(sum("callSums", 2), totals.events);
    assert_eq!((sum("pairs", 2), sum("pairs", 3)), (totals.all.messages, totals.all.bytes));
    assert_eq!((sum("sizes", 1), sum("sizes", 2)), (totals.all.messages, totals.all.bytes));
    json
}

#[test]
fn a_page_of_any_run_has_five_megabytes_at_most() {
    let shapes = [
        SHAPE,
        Shape { ranks: 1, spans: 400_000, ..SHAPE },
        Shape { ranks: 2, length: 1_000_000_000, ..SHAPE },
        Shape { ranks: 1000, places: 300, spans: 400_000, ..SHAPE },
        Shape { ranks: 200, places: 50_000, name: 1500, spans: 300_000, ..SHAPE },
        Shape { ranks: 5000, spans: 200_000, ..SHAPE },
    ];
    for shape in shapes {
        let (run, named) = generated(shape);
        let packed = pack(&PageData::new(run.clone()));
        assert!(!packed.cuts.is_empty());
        // Five calls on each of thousands of ranks are too many, and the page says so.
        let too_many = packed.cuts.iter().any(|cut| cut.contains("too many"));
        assert_eq!(too_many, shape.ranks > 1000, "{} ranks: {:?}", shape.ranks, packed.cuts);
        for (rank, event, begin, end) in named.into_iter().filter(|_| !too_many) {
            let spans = &packed.run.spans[rank as usize];
            let found = spans.iter().find(|span| span.event == Some(event) && !span.several);
            assert_eq!(found.map(|span| (span.begin, span.end)), Some((begin, end)), "rank {rank}, event {event}");
        }
        let json = check(&PageData::new(run));
        assert!(!json["cuts"].as_array().unwrap().is_empty());
    }
}

#[test]
fn millions_of_spans_are_a_page() {
    let (run, _) = generated(Shape { ranks: 64, spans: 4_000_000, ..SHAPE });
    assert!(run.spans.iter().map(Vec::len).sum::<usize>() <= 500_000);
    check(&PageData::new(run));
}

#[test]
fn what_fits_is_not_touched() {
    let (run, _) = generated(Shape { spans: 20_000, ..SHAPE });
    let spans = run.spans.clone();
    let packed = pack(&PageData::new(run.clone()));
    assert_eq!((packed.cuts, packed.run.spans), (Vec::<String>::new(), spans));
    assert_eq!(check(&PageData::new(run))["cuts"], serde_json::json!([]));
}

fn finding(number: usize, size: usize) -> Finding {
    let text = "a long line of text, with \"marks\" and <b>, ".repeat(size);
    let mark = |at: usize| Mark {
        file: format!("/home/someone/a/long/way/to/file-{number}-{at}.c"),
        line: at as u32 + 1,
        last_line: at as u32 + 3,
        role: Role::Communication,
        text: text.clone(),
    };
    Finding {
        id: format!("A001-{number}"),
        rule: "A001".into(),
        title: text.clone(),
        gain: None,
        unit: Default::default(),
        text: vec![text.clone(); 10],
        caveats: vec![text.clone(); 3],
        notes: vec![text.clone(); 3],
        facts: vec![("fact".into(), text.clone())],
        marks: (0..size * 20).map(mark).collect(),
        ranks: (0..4000).step_by(2).collect(),
        occurrences: 1,
        details: (0..300).map(|event| Detail { rank: 0, event, text: text.clone() }).collect(),
    }
}

#[test]
fn advice_notes_and_names_of_any_length_fit() {
    for (findings, size) in [(3000, 1), (100, 20), (3, 1000)] {
        let (run, _) = generated(SHAPE);
        let data = PageData {
            program: "p".repeat(100_000),
            facts: vec![("f".repeat(1000), "v".repeat(100_000)); 100],
            findings: (0..findings).map(|number| finding(number, size)).collect(),
            rules: vec![Rule { id: "A001".into(), help: "h".repeat(3000), ..Rule::default() }; 14],
            notes: vec!["n".repeat(20_000); 1000],
            ..PageData::new(run)
        };
        let json = check(&data);
        let shown = json["findings"].as_array().unwrap();
        assert!(shown.len() >= findings.min(8) && shown[0]["id"] == "A001-0");
        let cuts = json["cuts"].to_string();
        assert!(cuts.contains("piece"), "{cuts}");
    }
}

#[test]
fn sources_that_are_too_long_keep_the_lines_that_are_named() {
    let (mut run, _) = generated(Shape { spans: 10_000, ..SHAPE });
    let hot = run.place("hot.c", 70_000);
    run.span(0, Span { place: hot, ..Span::new(Activity::Computation, 1 << 50, 1 << 51) });
    let text = |name: &str| (1..=100_000).map(|line| format!("{name} line {line}\n")).collect::<String>();
    let names = ["hot.c", "marked.c", "other.c", "minified.js"];
    let mut sources: Vec<Source> =
        names.iter().map(|name| Source { path: (*name).into(), text: Some(text(name)) }).collect();
    sources[3].text = Some("x".repeat(3 << 20));
    let mut advised = finding(1, 0);
    advised.marks = vec![
        Mark { file: "marked.c".into(), line: 50_000, last_line: 50_000, role: Role::Forbids, text: String::new() },
        Mark { file: "minified.js".into(), line: 1, last_line: 1, role: Role::Forbids, text: String::new() },
    ];
    let data = PageData { findings: vec![advised], sources, ..PageData::new(run) };
    let json = check(&data);
    let file = |path: &str| json["files"].as_array().unwrap().iter().find(|file| file["path"] == path).unwrap();
    for (path, line) in [("hot.c", 70_000), ("marked.c", 50_000)] {
        let first = file(path)["lines"][0][0].as_u64().unwrap();
        let text = file(path)["text"].as_str().unwrap().lines().nth((line - first) as usize).unwrap().to_owned();
        assert_eq!(text, format!("{path} line {line}"));
    }
    assert_eq!((&file("other.c")["text"], &file("other.c")["left_out"]), (&serde_json::Value::Null, &true.into()));
    assert!(file("minified.js")["text"].as_str().unwrap().len() < 1000);
    assert!(json["cuts"].to_string().contains("of the sources"));
}
