use super::*;
use crate::pack;
use crate::tables::Tables;
use crate::{Activity, Mark, Message, Source, Span};

fn html(data: &PageData) -> String {
    let mut out = Vec::new();
    page(data, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn json(html: &str) -> serde_json::Value {
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn finding(text: &str) -> Finding {
    Finding {
        id: "A001-1".into(),
        rule: "A001".into(),
        title: text.into(),
        gain: None,
        unit: Default::default(),
        text: vec![text.into()],
        caveats: vec![text.into()],
        notes: vec![text.into()],
        facts: Vec::new(),
        marks: vec![Mark { file: text.into(), line: 3, last_line: 3, role: Role::Forbids, text: text.into() }],
        ranks: Vec::new(),
        occurrences: 1,
        details: Vec::new(),
    }
}

#[test]
fn nothing_from_outside_ends_an_element_or_begins_one() {
    let nasty = "</script></title><script>alert(1)</script><!--{data}--><!--";
    let mut run = Run::new(1);
    let place = run.place(nasty, 3);
    run.span(0, Span { place, call: nasty, ..Span::new(Activity::Send, 0, 1) });
    let data = PageData {
        program: nasty.into(),
        facts: vec![(nasty.into(), nasty.into())],
        findings: vec![finding(nasty)],
        notes: vec![nasty.into()],
        sources: vec![Source { path: "a".into(), text: Some(nasty.into()) }],
        ..PageData::new(run)
    };
    let (clean, dirty) = (html(&PageData::new(Run::new(1))), html(&data));
    for mark in ["<script", "</script", "<!--", "<title", "</title"] {
        assert_eq!(clean.matches(mark).count(), dirty.matches(mark).count(), "{mark}");
    }
    assert_eq!(json(&dirty)["program"], nasty);
    assert_eq!(json(&dirty)["files"][1]["path"], nasty);
}

#[test]
fn the_page_names_nothing_that_a_browser_would_load() {
    let html = html(&PageData::new(Run::new(0)));
    for reference in
        ["src=\"", "@import", "url(http", "fetch(", "XMLHttpRequest", "<link rel=\"stylesheet\"", "innerHTML"]
    {
        assert!(!html.contains(reference), "{reference}");
    }
    assert!(html.contains("Content-Security-Policy\" content=\"default-src 'none'"));
}

#[test]
fn files_that_are_named_are_listed_once_whether_they_were_read_or_not() {
    let mut run = Run::new(1);
    run.place("read.c", 1);
    run.place("gone.c", 2);
    let sources = ["read.c", "read.c"].map(|path| Source { path: path.into(), text: Some(String::new()) });
    let data = PageData { findings: vec![finding("gone.c")], sources: sources.into(), ..PageData::new(run) };
    let json = json(&html(&data));
    assert_eq!(json["files"], serde_json::json!([{"path": "read.c", "text": ""}, {"path": "gone.c", "text": null}]));
    assert_eq!(json["places"], serde_json::json!([[-1, 0], [0, 1], [1, 2]]));
}

#[test]
fn a_span_like_the_one_before_takes_three_bytes() {
    let mut run = Run::new(1);
    for i in 0..100 {
        run.span(
            0,
            Span {
                event: Some(i),
                call: "Send",
                bytes: 4096,
                tag: 7,
                ..Span::new(Activity::Send, i * 50, i * 50 + 40)
            },
        );
    }
    let packed = Tables::default().spans(&run.spans[0]);
    // The first also holds its bytes (two) and its tag: class 0, changed, the next event; no distance; 40 ns; 4096;
    // 7.
    assert_eq!(packed[..6], [5, 0, 40, 0x80, 32, 14]);
    assert_eq!(packed[6..9], [1, 10, 40]);
    assert_eq!(packed.len(), 6 + 99 * 3);
}

#[test]
fn messages_are_in_the_order_of_sending_and_may_arrive_before_they_are_sent() {
    let mut run = Run::new(2);
    run.message(&Message { bytes: 1, ..Message::new(0, 1, 30, 20) });
    run.message(&Message { bytes: 1, ..Message::new(0, 1, 10, 15) });
    let (sent, packed) = Tables::default().messages(&run);
    assert_eq!(sent, [2, 0]);
    // Link 0 with changes, 10 ns, 5 ns under way (10), a byte, tag 0; link 0, 20 ns later, -10 ns under way (19).
    assert_eq!(packed, [pack::base64(&[1, 10, 10, 1, 0, 0, 20, 19]), String::new()]);
}

#[test]
fn very_many_ranks_are_summed_up_and_their_pairs_in_blocks() {
    let mut run = Run::new(1000);
    for rank in 0..1000 {
        run.span(rank, Span { event: Some(0), call: "Send", ..Span::new(Activity::Send, 0, 10) });
        run.message(&Message { bytes: 2, ..Message::new(rank, (rank + 1) % 1000, 0, 5) });
    }
    let json = json(&html(&PageData::new(run)));
    assert_eq!(json["lines"], serde_json::json!([[0, -1, [0, 10_000, 0, 0, 0], 1000, 0, 10]]));
    assert_eq!(json["callSums"], serde_json::json!([[1, -1, 1000, 10_000, 10, 0]]));
    assert_eq!((json["block"].as_u64(), json["uses"].as_array().unwrap().len()), (Some(4), 1000));
    let pairs = json["pairs"].as_array().unwrap();
    assert!(pairs.iter().all(|pair| pair[0].as_u64() < Some(250)) && pairs[0] == serde_json::json!([0, 0, 3, 6]));
}
