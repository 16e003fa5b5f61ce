//! Every picture is well-formed, states what it shows and is the same each time.
//!
//! `HAYASE_PICTURES=FOLDER cargo test output::svg` keeps the pictures in a folder.

mod failed;
mod kinds;

use std::collections::BTreeMap;

use super::*;
use hayase::fabric::{CrossbarGrid, Fabric, FabricBuilder, Grid, Irregular, Labels, LinkRole, Tree};
use hayase::ids::{Id, LinkId, RankId, VertexId};
use hayase::player::{Activity, ActivityKind};
use hayase::record::History;
use hayase::report::{Bounds, Comparison, ComparisonRow, MessageRecord, Rate, SeedStatistics};
use hayase::units::{Bandwidth, Time};

const GB: Bandwidth = Bandwidth::from_bytes_per_second(1e9);

fn usual(_: LinkRole) -> (Bandwidth, Time) {
    (GB, Time::ZERO)
}

fn mixed(role: LinkRole) -> (Bandwidth, Time) {
    match role {
        LinkRole::Network { tier } => (GB * f64::from(tier + 2), Time::from_ps(5e4 * f64::from(tier))),
        _ => (GB, Time::from_ps(1e5)),
    }
}

fn fat_tree(p: u32) -> Fabric {
    let tree = Tree { down: vec![p, p, 2 * p], up: vec![1, p, p], parallel: vec![1, 1, 1] };
    tree.build(format!("fat-tree p={p}"), usual)
}

fn tree(down: &[u32], up: &[u32], parallel: &[u32]) -> Fabric {
    Tree { down: down.into(), up: up.into(), parallel: parallel.into() }.build("tree".into(), mixed)
}

fn grid(dims: &[u32], wrap: bool, host_link: bool) -> Fabric {
    let name = if wrap { "torus" } else { "mesh" };
    Grid::new(dims.into(), vec![wrap; dims.len()], host_link).build(name.into(), mixed)
}

fn crossbars(dims: &[u32], host_link: bool) -> Fabric {
    CrossbarGrid { dims: dims.into(), host_link }.build("hyper-crossbar".into(), usual)
}

/// Builds an irregular graph from its cables.
fn irregular(nodes: u32, switches: u32, cables: &[(u32, u32)]) -> Fabric {
    let mut builder = FabricBuilder::new("irregular", nodes, switches);
    for &(a, b) in cables {
        let role = |from: u32, to: u32| match (from < nodes, to < nodes) {
            (true, false) => LinkRole::Injection,
            (false, true) => LinkRole::Ejection,
            _ => LinkRole::Network { tier: 0 },
        };
        builder.link(VertexId(a), VertexId(b), GB, Time::ZERO, role(a, b));
        builder.link(VertexId(b), VertexId(a), GB, Time::ZERO, role(b, a));
    }
    builder.finish(Irregular)
}

/// Builds a fabric with names that break naive XML, one-way links, a self-link and a link without ends.
fn hostile() -> Fabric {
    let mut builder = FabricBuilder::new("<a> & \"b\" \u{1}\u{ffff}", 3, 1);
    for node in 0..3 {
        builder.link(VertexId(node), VertexId(3), GB, Time::ZERO, LinkRole::Injection);
    }
    builder.link(VertexId(3), VertexId(0), GB * 0.5, Time::ZERO, LinkRole::Ejection);
    builder.link(VertexId(3), VertexId(3), GB, Time::ZERO, LinkRole::Network { tier: 0 });
    builder.loose_link(GB, Time::ZERO);
    let vertices = vec!["<n0>".into(), "n&1".into(), "\"n2\"".into(), "s\u{0}w\n".into()];
    builder.labels(Labels { vertices, links: Vec::new() });
    builder.finish(Irregular)
}

fn fabrics() -> Vec<(String, Fabric)> {
    let mut fabrics = vec![
        ("crossbar-1", tree(&[1], &[1], &[1])),
        ("crossbar-17", tree(&[17], &[1], &[1])),
        ("crossbar-3456", tree(&[3456], &[1], &[1])),
        ("fat-tree-16", fat_tree(2)),
        ("fat-tree-54", fat_tree(3)),
        ("fat-tree-128", fat_tree(4)),
        ("fat-tree-250", fat_tree(5)),
        ("fat-tree-3456", fat_tree(12)),
        ("tree-parallel", tree(&[4, 6], &[1, 2], &[1, 3])),
        ("tree-deep", tree(&[2; 12], &[1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], &[1; 12])),
        ("tree-two-leaves", tree(&[4, 2], &[2, 2], &[1, 1])),
        ("torus-1", grid(&[1], true, true)),
        ("torus-2", grid(&[2, 2], true, true)),
        ("ring-8", grid(&[8], true, false)),
        ("ring-hosts-13", grid(&[13], true, true)),
        ("ring-4096", grid(&[4096], true, true)),
        ("line-7", grid(&[7], false, true)),
        ("line-1x31", grid(&[1, 31], false, false)),
        ("torus-4x4", grid(&[4, 4], true, true)),
        ("torus-5x3-direct", grid(&[5, 3], true, false)),
        ("torus-16x16", grid(&[16, 16], true, true)),
        ("torus-64x64", grid(&[64, 64], true, true)),
        ("torus-2x50", grid(&[2, 50], true, false)),
        ("mesh-4x3x3", grid(&[4, 3, 3], false, true)),
        ("torus-4x4x4", grid(&[4, 4, 4], true, false)),
        ("torus-16x16x16", grid(&[16, 16, 16], true, true)),
        ("torus-3x3x3x2", grid(&[3, 3, 3, 2], true, false)),
        ("torus-2x2x2x2x2x2", grid(&[2; 6], true, false)),
        ("crossbars-4x4", crossbars(&[4, 4], true)),
        ("crossbars-5", crossbars(&[5], false)),
        ("crossbars-3x3x3", crossbars(&[3, 3, 3], false)),
        ("crossbars-16x16x8", crossbars(&[16, 16, 8], true)),
        ("crossbars-2x2x2x2", crossbars(&[2; 4], true)),
        ("hostile", hostile()),
        ("alone", irregular(1, 0, &[])),
        ("scattered", irregular(23, 0, &[])),
        ("clique", irregular(5, 0, &[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)])),
    ];
    let layered: Vec<(u32, u32)> =
        (0..24).map(|n| (n, 24 + n % 6)).chain((0..12).map(|i| (24 + i % 6, 30 + i / 6))).collect();
    fabrics.push(("layered", irregular(24, 8, &layered)));
    let wild: Vec<(u32, u32)> = (0..30)
        .map(|n| (n, 30 + n % 10))
        .chain((0..10).map(|s| (30 + s, 30 + (s * 7 + 3) % 10)))
        .chain((0..10).map(|s| (30 + s, 30 + (s + 1) % 10)))
        .collect();
    fabrics.push(("wild", irregular(30, 10, &wild)));
    let long: Vec<(u32, u32)> = (0..900).map(|n| (n, 900 + n / 9)).chain((0..99).map(|s| (900 + s, 901 + s))).collect();
    fabrics.push(("long", irregular(900, 100, &long)));
    fabrics.into_iter().map(|(name, fabric)| (name.to_owned(), fabric)).collect()
}

/// Returns uneven loads whose pattern the picture should show.
fn loads(fabric: &Fabric) -> Vec<LinkLoad> {
    let links = fabric.links();
    links
        .iter_ids()
        .map(|(id, link)| {
            let spread = f64::from(id.0.wrapping_mul(2_654_435_761) >> 16) / 65536.0;
            let utilisation = match link.role {
                LinkRole::Network { .. } => 0.25 + 0.6 * spread * spread,
                _ => 0.41,
            };
            LinkLoad { utilisation, bytes: (utilisation * 1e9) as u64, delay_s: 0.0 }
        })
        .collect()
}

fn messages(ranks: u32, each: u32) -> Vec<MessageRecord> {
    let mut records = Vec::new();
    for src in 0..ranks {
        let mut now = 0.0;
        for index in 0..each {
            let end = now + 20e-6 * (1.0 + f64::from((src * 7 + index * 3) % 5) * 0.3);
            records.push(MessageRecord {
                src,
                dst: (src + index + 1) % ranks,
                index,
                bytes: 20_000,
                start_s: now,
                end_s: end,
            });
            now = end;
        }
    }
    records
}

fn comparison_of(blocks: &[(&str, &str)], patterns: &[&str], seeds: u64, factor: f64) -> Comparison {
    let mut rows = Vec::new();
    for (b, (topology, placement)) in blocks.iter().enumerate() {
        for (i, pattern) in patterns.iter().enumerate() {
            let bound = 0.0691 * factor.powi_free(b);
            let mean = bound * (1.0 + 0.4 * i as f64 + b as f64);
            let makespans = (0..seeds).map(|seed| mean * (1.0 + 0.02 * (seed as f64 - (seeds as f64 - 1.0) / 2.0)));
            rows.push(ComparisonRow {
                ratio_to_optimum: None,
                ratio_in_step: None,
                machine: String::new(),
                varied: Default::default(),
                topology: (*topology).into(),
                placement: (*placement).into(),
                sharing: "max-min".into(),
                transport: "flow".into(),
                faults: None,
                jobs: Vec::new(),
                estimated: None,
                worst_slowdown: None,
                slowdown: None,
                cut_off: 0,
                packet_hops: None,
                links: Vec::new(),
                llm: None,
                routing: "d-mod-k".into(),
                injection: "queue".into(),
                pattern: (*pattern).into(),
                makespan: SeedStatistics::new((1..=seeds).collect(), makespans.collect()),
                messages: 11_940_480,
                bytes: 1 << 38,
                bounds: Bounds { injection_s: Some(bound), busiest_link_s: Some(bound * 0.9), ..Bounds::default() },
                ratio_to_bound: mean / bound,
                ratio_to_best: 1.0,
                job: "all-to-all of 20 KB among 3456 ranks".into(),
                place: 1,
                tied: false,
                wall_s: 1.0,
                accuracy: None,
                fingerprint: String::new(),
            });
        }
    }
    Comparison::new("all-to-all on fat-tree-3456 & friends", rows, 0)
}

/// Small whole powers.
trait Powers {
    fn powi_free(self, n: usize) -> f64;
}

impl Powers for f64 {
    fn powi_free(self, n: usize) -> f64 {
        (0..n).fold(1.0, |product, _| product * self)
    }
}

/// Draws a run of which only the messages are known.
fn of_run(messages: &[MessageRecord], ranks: u32, makespan_s: f64, title: &str) -> String {
    let window = Window::default();
    timeline(&Sent { messages, ranks, makespan_s, history: None, path: &[], jobs: &[], window }, title)
}

/// Returns a history in which ranks compute for `delay` \[s\] before each of these messages.
fn computing(messages: &[MessageRecord], ranks: u32, delay: impl Fn(&MessageRecord) -> f64) -> History {
    let mut history = History::of_pattern(ranks, usize::MAX);
    for message in messages.iter().filter(|message| delay(message) > 0.0) {
        let [begin, end] =
            [message.start_s - delay(message), message.start_s].map(|at| Time::from_seconds(at.max(0.0)));
        let (rank, kind) = (RankId(message.src), ActivityKind::Compute);
        history.activity(&Activity { rank, kind, begin, end, op: message.index, message: None, peer: None });
    }
    history
}

/// Draws all pictures, by name.
fn pictures() -> BTreeMap<String, String> {
    let mut pictures = BTreeMap::new();
    for (name, drawn) in fabrics() {
        pictures.insert(format!("fabric-{name}"), fabric(&drawn, &FabricOptions::default()).svg);
        let title = format!("all-to-all simple-spread, 20 KB, on {}", drawn.name());
        let subtitle = "random placement, max-min, makespan 0.189 s";
        pictures.insert(format!("loads-{name}"), link_loads(&drawn, &loads(&drawn), &title, subtitle));
        pictures.insert(format!("idle-{name}"), link_loads(&drawn, &[], &title, subtitle));
    }
    for (ranks, each) in [(1, 0), (2, 1), (16, 15), (54, 53), (128, 20), (8, 1200), (4096, 3)] {
        let records = messages(ranks, each);
        let makespan = records.iter().map(|record| record.end_s).fold(0.0, f64::max);
        pictures.insert(format!("timeline-{ranks}x{each}"), of_run(&records, ranks, makespan, "all-to-all, 20 KB"));
        let window = Window { from_s: makespan * 0.4, to_s: makespan * 0.41 };
        let history = computing(&records, ranks, |message| f64::from(message.index % 3) * 1e-6);
        let (messages, makespan_s, history) = (&records[..], makespan, Some(&history));
        let part = timeline(&Sent { messages, ranks, makespan_s, history, path: &[], jobs: &[], window }, "a part");
        pictures.insert(format!("timeline-{ranks}x{each}-window"), part);
    }
    let incast: Vec<MessageRecord> = (1..9)
        .map(|src| MessageRecord { src, dst: 0, index: 0, bytes: 1, start_s: 0.0, end_s: f64::from(src) * 1e-6 })
        .collect();
    pictures.insert("timeline-incast".into(), of_run(&incast, 9, 8e-6, "incast"));
    let patterns = ["all-to-all-simple-spread", "all-to-all-2d-spread", "all-to-all-pairwise"];
    for (name, comparison_) in [
        ("one-block", comparison_of(&[("fat-tree-3456", "regular")], &patterns, 1, 1.0)),
        ("two-blocks", comparison_of(&[("fat-tree-3456", "regular"), ("fat-tree-3456", "random")], &patterns, 8, 1.0)),
        (
            "one-pattern",
            comparison_of(&[("fat-tree-3456", "regular"), ("torus-16x16", "random")], &patterns[..1], 4, 1.0),
        ),
        ("far-apart", comparison_of(&[("a", "regular"), ("b", "regular"), ("c", "random")], &patterns, 4, 30.0)),
        (
            "many",
            comparison_of(&[("t1", "regular"), ("t2", "random"), ("t3", "random"), ("t4", "x")], &["p"; 10], 3, 1.0),
        ),
        ("empty", comparison_of(&[], &patterns, 1, 1.0)),
        ("zero", comparison_of(&[("t", "regular")], &patterns, 0, 0.0)),
    ] {
        pictures.insert(format!("comparison-{name}"), comparison(&comparison_));
    }
    let spread: Vec<Rate> = (0..3456u32)
        .map(|src| Rate {
            src,
            dst: (src + 1) % 3456,
            rate_bps: 1e9 / f64::from(1 + src * 7 % 5),
            bottleneck: Some(format!("L2.{} -> L1.{}", src % 31, src % 7)),
        })
        .collect();
    pictures.insert("rates-many".into(), rates(&spread, "rates of the first step"));
    pictures.insert("rates-one".into(), rates(&spread[..1], "rates"));
    pictures.insert("rates-none".into(), rates(&[], "rates"));
    let unbound = Rate { src: 0, dst: 0, rate_bps: f64::INFINITY, bottleneck: None };
    pictures.insert("rates-unbound".into(), rates(&[unbound], "rates"));
    pictures
}

#[test]
fn a_comparison_says_how_many_seeds_its_blocks_have() {
    let (pattern, tree) = (["p", "q"], "fat-tree-54");
    let mut mixed = comparison_of(&[(tree, "regular")], &pattern, 1, 1.0);
    mixed.rows.extend(comparison_of(&[(tree, "random")], &pattern, 8, 1.0).rows);
    assert!(comparison(&mixed).contains("8 seeds where something is random"));
    mixed.rows.reverse();
    assert!(comparison(&mixed).contains("8 seeds where something is random"));
    assert!(comparison(&comparison_of(&[(tree, "random")], &pattern, 1, 1.0)).contains("· 1 seed<"));
    assert!(comparison(&comparison_of(&[(tree, "random")], &pattern, 3, 1.0)).contains("· 3 seeds<"));
}

#[test]
fn pictures_are_well_formed_and_inside_their_frame() {
    let pictures = pictures();
    if let Ok(folder) = std::env::var("HAYASE_PICTURES") {
        for (name, svg) in &pictures {
            std::fs::write(format!("{folder}/{name}.svg"), svg).unwrap();
        }
    }
    for (name, svg) in &pictures {
        let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{name}");
        assert!(svg.len() < 3_000_000, "{name}: {} bytes", svg.len());
        let root = document.root_element();
        let size = |attribute| root.attribute(attribute).unwrap().parse::<f64>().unwrap();
        let (width, height) = (size("width"), size("height"));
        assert!((300.0..2200.0).contains(&width) && (30.0..12_000.0).contains(&height), "{name}: {width} x {height}");
        let own = root.children().filter(|child| !child.has_tag_name("g"));
        let inside = root.children().filter(|child| child.has_tag_name("g") && !child.has_attribute("transform"));
        for element in own.chain(inside.flat_map(|group| group.children())) {
            for (attribute, limit) in
                [("x", width), ("x1", width), ("cx", width), ("y", height), ("y1", height), ("cy", height)]
            {
                let value: f64 = element.attribute(attribute).map_or(0.0, |value| value.parse().unwrap());
                assert!((-1.0..=limit + 1.0).contains(&value), "{name}: {attribute} = {value} in {width} x {height}");
            }
            if element.has_tag_name("text") {
                let at = |attribute| element.attribute(attribute).unwrap().parse::<f64>().unwrap();
                let wide = canvas::text_width(element.text().unwrap_or(""), at("font-size"));
                let right = match element.attribute("text-anchor") {
                    None => at("x") + wide,
                    Some("middle") => at("x") + wide / 2.0,
                    _ => at("x"),
                };
                assert!(right <= width + 8.0, "{name}: {:?} ends at {right} of {width}", element.text());
            }
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert!(pictures() == pictures());
}

#[test]
fn what_is_drawn_is_named() {
    let svg = fabric(&fat_tree(2), &FabricOptions::default()).svg;
    for text in ["fat-tree p=2", "node 15", "L3.3", "level 2", "1 GB/s", "node 0 -&gt; L1.0"] {
        assert!(svg.contains(text), "{text}");
    }
    let svg = link_loads(&grid(&[4, 4], true, true), &loads(&grid(&[4, 4], true, true)), "title", "subtitle");
    for text in ["title", "subtitle", "x+", "y−", "injection", "utilisation", "(3,0) -&gt; (0,0)"] {
        assert!(svg.contains(text), "{text}");
    }
    let svg = of_run(&messages(4, 3), 4, 1e-4, "a run");
    for text in ["rank 3", "→1", "simulated time [us]", "makespan 100 us"] {
        assert!(svg.contains(text), "{text}");
    }
    let svg = rates(&[Rate { src: 0, dst: 1, rate_bps: 5e8, bottleneck: Some("a -> b".into()) }], "rates");
    for text in ["rate [MB/s]", "a -&gt; b", "500 MB/s"] {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn the_busiest_link_is_listed_first() {
    let fabric = fat_tree(2);
    let mut loads = vec![LinkLoad { utilisation: 0.2, bytes: 200, delay_s: 0.0 }; fabric.links().len()];
    loads[40] = LinkLoad { utilisation: 0.9, bytes: 900, delay_s: 0.0 };
    let svg = link_loads(&fabric, &loads, "t", "");
    let list = &svg[svg.find("busiest links").unwrap()..];
    let name = canvas::escape(&fabric.link_name(LinkId(40)));
    assert!(list.find(&name).unwrap() < list.find("20 %").unwrap());
    assert!(list.contains("90 %") && list.contains("900 B"));
}

#[test]
fn a_small_fabric_is_drawn_whole_and_of_a_large_one_a_relative_that_is_named() {
    for (name, drawn) in fabrics() {
        let drawing = fabric(&drawn, &FabricOptions::default());
        match small_member(&drawn) {
            None => {
                assert_eq!(drawing.note.is_some(), drawn.nodes() > 256, "{name}");
            }
            Some((small, _)) => {
                assert!(small.nodes() <= 120 && small.nodes() < drawn.nodes(), "{name}: {small}");
                assert!(drawing.note.unwrap().contains("Too large to draw whole"), "{name}");
                assert!(drawing.svg.contains("Too large"), "{name}");
                assert_eq!(small.family().kind(), drawn.family().kind(), "{name}");
                assert!(small_member(&small).is_none(), "{name}");
            }
        }
    }
}

#[test]
fn a_small_tree_keeps_levels_and_oversubscription() {
    let (small, what) = small_member(&fat_tree(12)).unwrap();
    let tree = small.family_as::<Tree>().unwrap();
    assert_eq!((&tree.down[..], &tree.up[..]), (&[3, 3, 6][..], &[1, 3, 3][..]));
    assert!(what.contains("54 nodes") && what.contains("3456"), "{what}");
    let half = tree_of(&[20, 18, 18], &[1, 10, 10]);
    let tree = half.family_as::<Tree>().unwrap();
    assert_eq!(tree.levels(), 3);
    assert!(tree.up[1] < tree.down[0], "{tree:?}");
}

fn tree_of(down: &[u32], up: &[u32]) -> Fabric {
    small_member(&tree(down, up, &vec![1; down.len()])).unwrap().0
}

#[test]
fn every_link_with_ends_is_in_the_detailed_picture() {
    for (name, drawn) in fabrics() {
        if small_member(&drawn).is_some() || drawn.nodes() > 81 || drawn.links().len() > 800 {
            continue;
        }
        let svg = link_loads(&drawn, &loads(&drawn), "t", "");
        let beyond = matches!(drawn.family_as::<Grid>(), Some(grid) if grid.dims.len() > 3)
            || matches!(drawn.family_as::<CrossbarGrid>(), Some(grid) if grid.dims.len() > 3);
        for (id, link) in drawn.links().iter_ids().filter(|_| !beyond) {
            if link.ends.is_some_and(|(from, to)| from != to) {
                let tooltip = format!("<title>{}: ", canvas::escape(&drawn.link_name(id)));
                assert!(svg.contains(&tooltip), "{name}: {} {}", id.index(), drawn.link_name(id));
            }
        }
    }
}

#[test]
fn a_word_that_has_no_room_is_broken_behind_its_signs_and_not_cut() {
    let name = "all-to-all-pairwise:ranks=16,size=20KB";
    let lines = canvas::wrap(name, 10.0, 100.0);
    assert_eq!(lines.concat(), name);
    assert!(lines.iter().all(|line| canvas::text_width(line, 10.0) <= 100.0), "{lines:?}");
    assert_eq!(lines[0], "all-to-all-");
    assert_eq!(canvas::wrap("abc", 10.0, 1.0), ["a", "b", "c"]);
}

#[test]
fn a_long_title_is_broken_into_lines() {
    let lines = canvas::wrap("one two three four five six seven", 10.0, 80.0);
    assert!(lines.len() > 1);
    assert!(lines.iter().all(|line| canvas::text_width(line, 10.0) <= 80.0), "{lines:?}");
    assert_eq!(lines.join(" "), "one two three four five six seven");
    assert_eq!(canvas::fit("abcdefgh", 10.0, 1.0), "");
}

/// Returns the values of an attribute of all elements with this tag.
fn values(svg: &str, tag: &str, attribute: &str) -> Vec<f64> {
    let of = |element: &str| {
        let value = element.split_once(&format!(" {attribute}=\""))?.1;
        value.split('"').next()?.parse().ok()
    };
    svg.split(&format!("<{tag}")).skip(1).filter_map(of).collect()
}

#[test]
fn a_long_name_is_cut_in_its_middle_and_shows_in_full() {
    let mut canvas = canvas::Canvas::new();
    canvas.fitted(canvas::Point::default(), 10.0, canvas::Anchor::Start, "a-job-with-a-long-name 17", 80.0, "");
    let svg = canvas.finish(100.0, 100.0, "t");
    assert!(svg.contains("<g><title>a-job-with-a-long-name 17</title>"), "{svg}");
    assert!(svg.contains(">a-job") && svg.contains("…") && svg.contains(" 17</text>"), "{svg}");
}

#[test]
fn signs_that_share_a_text_stand_in_one_row() {
    let tone = |text: &str| (sign::Sign::Box(sign::STRONG, 0.0, 1.0), text.to_owned());
    for letters in 1..40 {
        let mut canvas = canvas::Canvas::new();
        let entries = [tone(&"x".repeat(letters)), tone(""), tone("shared")];
        sign::legend(&mut canvas, &entries, 0.0, 250.0);
        let rows = values(&canvas.finish(250.0, 100.0, "t"), "rect", "y");
        assert_eq!(rows[1], rows[2], "{letters}");
    }
}

#[test]
fn no_limit_crosses_the_name_of_another() {
    // (Names to the right, to the left, and both.)
    for places in [[20.0, 40.0], [70.0, 90.0], [90.0, 70.0]] {
        let limits = places.map(|at| (at, "s = 16384 B".to_owned(), sign::LIMIT));
        let mut canvas = canvas::Canvas::new();
        chart::uprights(&mut canvas, limits.iter().map(|limit| (limit.0, limit)).collect(), 50.0, (100.0, 200.0));
        let svg = canvas.finish(100.0, 200.0, "t");
        let (lines, names) = (values(&svg, "line", "x1"), values(&svg, "text", "y"));
        let tops = values(&svg, "line", "y1");
        for (line, name) in [(0, 1), (1, 0)] {
            let beside = if lines[name] > 50.0 { lines[line] < lines[name] } else { lines[line] > lines[name] };
            assert!(!beside || tops[line] > names[name], "{svg}");
        }
    }
}

#[test]
fn a_line_through_one_point_is_seen() {
    let axis = || axis::Axis::new(10.0, 5, axis::SECONDS);
    let line = chart::Series::Line(sign::Pen::new("#123456", 1.0), vec![(5.0, 5.0)]);
    let chart = chart::Chart::new((100.0, 100.0), (axis(), "x"), (axis(), "y"), vec![line]);
    let svg = picture::Picture::new("t", "").with(chart).draw();
    assert!(svg.contains(r##"stroke="#123456""##) && !svg.contains("<polyline"), "{svg}");
}

#[test]
fn a_logarithmic_axis_reaches_what_is_below_it() {
    let axis = axis::Axis::fitting(1e-3, 1.0, 5, axis::SECONDS);
    let end = axis.end;
    let reaching = axis.clone().reaching([3e-5, 2e-3].into_iter(), axis::SECONDS);
    assert!(reaching.start <= 3e-5 && reaching.end == end, "{reaching:?}");
    assert_eq!(axis.clone().reaching([1e-2].into_iter(), axis::SECONDS), axis);
    let linear = axis::Axis::new(1.0, 5, axis::SECONDS);
    assert_eq!(linear.clone().reaching([1e-9].into_iter(), axis::SECONDS), linear);
}
