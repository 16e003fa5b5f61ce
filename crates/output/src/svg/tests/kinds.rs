//! Tests of each kind of picture.

use super::*;
use crate::svg::layout::{Layout, Mark};
use hayase::player::Transfer;

fn between(a: canvas::Point, b: canvas::Point) -> f64 {
    ((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)).sqrt()
}

/// Builds a ring of switches with `each` nodes per switch.
fn ring(switches: u32, each: u32) -> Fabric {
    let nodes = switches * each;
    let hosts = (0..nodes).map(|node| (node, nodes + node / each));
    let around = (0..switches).map(|i| (nodes + i, nodes + (i + 1) % switches));
    irregular(nodes, switches, &hosts.chain(around).collect::<Vec<_>>())
}

#[test]
fn nodes_of_a_graph_stand_close_around_their_switch() {
    for (switches, each) in [(8, 5), (3, 1), (5, 37)] {
        let fabric = ring(switches, each);
        let layout = Layout::new(&fabric);
        let at = |vertex: u32| layout.vertices[vertex as usize].at;
        let nodes = fabric.nodes();
        let apart = (0..switches).map(|i| between(at(nodes + i), at(nodes + (i + 1) % switches)));
        let apart = apart.fold(f64::INFINITY, f64::min);
        for node in 0..nodes {
            let home = nodes + node / each;
            assert!(between(at(node), at(home)) < 0.5 * apart, "{switches} x {each}: node {node}");
            let nearest = (0..switches)
                .min_by(|&a, &b| between(at(node), at(nodes + a)).total_cmp(&between(at(node), at(nodes + b))));
            assert_eq!(nodes + nearest.unwrap(), home);
            for other in 0..node {
                assert!(between(at(node), at(other)) > 7.0, "nodes {node} and {other} touch");
            }
        }
    }
}

#[test]
fn of_a_graph_with_too_many_nodes_all_switches_are_drawn_and_nodes_are_counted() {
    let large = ring(20, 20);
    assert!(small_member(&large).is_none());
    let drawing = fabric(&large, &FabricOptions::default());
    assert!(drawing.note.unwrap().contains("400 of 400 nodes"));
    assert_eq!(drawing.svg.matches(">20 nodes<").count(), 20);
    // A graph with too many switches is replaced by a part of it.
    assert!(small_member(&ring(600, 1)).is_some());
}

#[test]
fn a_single_switch_a_pair_and_a_graph_without_links_are_drawn() {
    for drawn in [
        ring(1, 200),
        irregular(2, 0, &[(0, 1)]),
        irregular(1, 0, &[]),
        irregular(0, 3, &[(0, 1)]),
        irregular(7, 2, &[(0, 7)]),
    ] {
        let svg = fabric(&drawn, &FabricOptions::default()).svg;
        assert!(!svg.contains("NaN") && roxmltree::Document::parse(&svg).is_ok());
    }
}

#[test]
fn nodes_of_a_hyper_crossbar_lie_free_above_its_bars() {
    for dims in [&[4, 4][..], &[4, 3, 3], &[2, 2, 4], &[7, 5]] {
        let fabric = crossbars(dims, true);
        let layout = Layout::new(&fabric);
        let dots = layout.vertices.iter().filter_map(|placed| match placed.mark {
            Mark::Dot(radius) => Some((placed.at, radius)),
            _ => None,
        });
        let bars: Vec<_> = layout
            .vertices
            .iter()
            .filter_map(|placed| match placed.mark {
                Mark::Bar(to) => Some((placed.at, to)),
                _ => None,
            })
            .collect();
        for (at, radius) in dots {
            assert!(radius >= 3.5, "{dims:?}: {radius}");
            for &(from, to) in &bars {
                // The nearest point of the bar.
                let (dx, dy) = (to.x - from.x, to.y - from.y);
                let part = ((at.x - from.x) * dx + (at.y - from.y) * dy) / (dx * dx + dy * dy).max(1e-9);
                let nearest = from.plus(part.clamp(0.0, 1.0) * dx, part.clamp(0.0, 1.0) * dy);
                assert!(between(at, nearest) > 2.0, "{dims:?}: a bar runs over the node at {at:?}");
            }
        }
        let svg = super::fabric(&fabric, &FabricOptions::default()).svg;
        let legend = svg.rfind(">router<").unwrap();
        assert!(svg[..legend].rfind("<circle").unwrap() > svg[..legend].rfind("stroke-linecap").unwrap());
    }
}

#[test]
fn makespans_far_apart_are_dots_on_a_logarithmic_axis_and_others_bars() {
    let blocks = [("a", "regular"), ("b", "regular")];
    let near = comparison(&comparison_of(&blocks, &["p", "q"], 1, 10.0));
    assert!(near.contains("makespan [s]") && !near.contains("logarithmic"));
    let far = comparison(&comparison_of(&blocks, &["p", "q"], 1, 40.0));
    assert!(far.contains("makespan, logarithmic") && !far.contains("axis of its own"));
    // The background is the only rectangle, so there are no bars.
    assert_eq!(far.matches("<rect").count(), 1);
    assert!(near.matches("<rect").count() > 4);
}

#[test]
fn rates_far_apart_have_a_logarithmic_axis_without_an_area_below() {
    let of = |least: f64| {
        let rate = |src, rate_bps| Rate { src, dst: 9, rate_bps, bottleneck: None };
        rates(&[rate(0, 1e9), rate(1, least)], "rates")
    };
    assert!(of(5e7).contains("rate [GB/s]") && of(5e7).contains("<polygon"));
    assert!(of(1e6).contains("rate, logarithmic") && !of(1e6).contains("<polygon"));
}

#[test]
fn a_smaller_member_of_a_family_is_announced_in_large_type() {
    let svg = fabric(&grid(&[64, 64], true, true), &FabricOptions::default()).svg;
    let document = roxmltree::Document::parse(&svg).unwrap();
    let size = |part: &str| {
        let text = document
            .descendants()
            .find(|node| node.tag_name().name() == "text" && node.text().is_some_and(|text| text.contains(part)));
        text.unwrap().attribute("font-size").unwrap().parse::<f64>().unwrap()
    };
    // The note is as large as a title.
    assert!(size("Too large to draw whole") >= 18.0);
}

#[test]
fn a_window_shows_its_part_of_the_messages() {
    let records = messages(4, 50);
    let of = |window| {
        let (messages, ranks, makespan_s) = (&records[..], 4, 1e-3);
        timeline(&Sent { messages, ranks, makespan_s, history: None, path: &[], jobs: &[], window }, "run")
    };
    let window = |from_s, to_s| of(Window { from_s, to_s });
    let bars = |svg: &str| svg.matches("<rect").count();
    let (whole, part) = (of(Window::default()), window(2e-4, 3e-4));
    assert!(bars(&part) * 4 < bars(&whole) && bars(&part) > 8, "{} of {}", bars(&part), bars(&whole));
    assert!(part.contains("Drawn is the time from 200 us to 300 us, of 1 ms.") && !part.contains("makespan"));
    assert!(window(9e-4, f64::INFINITY).contains("from 900 us to 1 ms"));
    assert!(window(0.0, 1e-4).contains("to 100 us"));
    for beyond in [window(2.0, 3.0), window(2.0, f64::INFINITY)] {
        assert!(beyond.contains("Nothing is in this window: it begins at 2 s, and the run ended at 1 ms."));
    }
}

#[test]
fn computation_before_messages_is_drawn_and_named() {
    let records = messages(3, 2);
    let of = |delay: f64| {
        let history = computing(&records, 3, |message| if message.index == 1 { delay } else { 0.0 });
        let (messages, history, window) = (&records[..], Some(&history), Window::default());
        timeline(&Sent { messages, ranks: 3, makespan_s: 1e-4, history, path: &[], jobs: &[], window }, "run")
    };
    let count = |svg: &str| svg.matches("#e4e7eb").count();
    // There is one for each rank, and one in the legend.
    assert_eq!((count(&of(0.0)), count(&of(5e-6))), (0, 4));
    assert!(of(5e-6).contains("computing (delay, late start)") && !of(0.0).contains("delay"));
}

#[test]
fn a_wait_for_a_rank_and_one_for_a_message_differ_in_form_and_the_critical_path_is_a_line() {
    let at = |us: f64| Time::from_ps(us * 1e6);
    let messages = [MessageRecord { src: 0, dst: 1, index: 0, bytes: 1, start_s: 6e-6, end_s: 9e-6 }];
    let mut history = History::of_pattern(2, 100);
    let activity = |rank, kind, begin, end, message: Option<u32>| {
        let (begin, end, peer) = (at(begin), at(end), message.map(|_| RankId(1 - rank)));
        Activity { rank: RankId(rank), kind, begin, end, op: 0, message, peer }
    };
    history.activity(&activity(0, ActivityKind::Compute, 0.0, 6.0, None));
    history.activity(&activity(0, ActivityKind::SendWait, 6.0, 9.0, Some(0)));
    history.activity(&activity(1, ActivityKind::RecvWait, 0.0, 9.0, Some(0)));
    let [called, arrive] = [at(6.0), at(9.0)];
    let (src, dst) = (RankId(0), RankId(1));
    let (begin, leave, end) = (called, called, arrive);
    let (op, received_by, waited) = (Some(0), None, false);
    history.transfer(&Transfer {
        message: 0,
        src,
        dst,
        bytes: 1,
        op,
        received_by,
        called,
        begin,
        waited,
        leave,
        arrive,
        end,
    });
    let path = hayase::record::critical_path(&history, RankId(0), at(9.0));
    let sent = |history, path| {
        let (messages, window) = (&messages[..], Window::default());
        timeline(&Sent { messages, ranks: 2, makespan_s: 9e-6, history, path, jobs: &[], window }, "run")
    };
    let (with, without) = (sent(Some(&history), &path), sent(None, &[]));
    let count = |svg: &str, of: &str| svg.matches(of).count();
    // Each sign appears once in the chart and once in the legend; the path is drawn twice, for its white rim.
    assert_eq!((count(&with, "#d98c8c"), count(&with, "#f0d9d9"), count(&with, ">for 0<")), (2, 2, 1));
    assert_eq!((count(&with, "<polyline"), count(&without, "<polyline"), count(&without, "#d98c8c")), (2, 0, 0));
}

/// Returns a history of two ranks and `messages` messages, one after the other. The receiver waits for every
/// tenth message, longer for later ones.
fn history(messages: u32) -> History {
    let mut history = History::new(2, usize::MAX);
    let at = |us: f64| Time::from_ps(us * 1e6);
    for message in 0..messages {
        let start = f64::from(message);
        history.transfer(&Transfer {
            message,
            src: RankId(0),
            dst: RankId(1),
            bytes: 8,
            op: None,
            received_by: None,
            called: at(start),
            begin: at(start),
            waited: false,
            leave: at(start + 0.1),
            arrive: at(start + 0.6),
            end: at(start + 0.8),
        });
        if message % 10 == 0 {
            history.activity(&Activity {
                rank: RankId(1),
                kind: ActivityKind::RecvWait,
                begin: at(start + 0.5 - 0.4 * start / f64::from(messages)),
                end: at(start + 0.6),
                op: message,
                message: Some(message),
                peer: Some(RankId(0)),
            });
        }
    }
    history.sort();
    history
}

#[test]
fn the_messages_that_were_waited_for_have_the_arrows_and_the_others_are_counted() {
    let draw = |messages: u32, window| {
        let history = history(messages);
        let played = Played {
            history: &history,
            path: &[],
            ranks: 2,
            makespan_s: f64::from(messages) * 1e-6,
            regions: &[],
            window,
        };
        replay(&played, "program", "machine")
    };
    // The legend has one more.
    let arrows = |svg: &str| svg.matches("<polygon").count() - 1;
    let all = draw(150, Window::default());
    assert!(arrows(&all) == 150 && !all.contains("Too many messages"));
    let some = draw(3000, Window::default());
    assert_eq!(arrows(&some), 200);
    assert!(some.contains("the 200 that were waited for longest have an arrow, 2800 have none"), "{some}");
    // Later waits are longer, so only messages of the last two thirds have arrows.
    let xs = some.lines().filter(|line| line.starts_with("<line") && line.contains("stroke-opacity=\"0.6\""));
    let least = xs.skip(1).filter_map(|line| line.split('"').nth(1)?.parse::<f64>().ok()).fold(f64::INFINITY, f64::min);
    assert!(least > 88.0 + 1080.0 * 0.3, "{least}");
    // The arrows of a window are chosen anew.
    let part = draw(3000, Window { from_s: 1e-3, to_s: 1.1e-3 });
    assert!((100..=102).contains(&arrows(&part)) && !part.contains("have none"), "{}", arrows(&part));
}

#[test]
fn groups_are_drawn_whole_or_as_one_of_them_beside_the_cables_of_each_pair() {
    let named = |name: &str| {
        let loaded = hayase::Loader::new().topology(name).load_topology().unwrap().fabric;
        (fabric(&loaded, &FabricOptions::default()), loaded)
    };
    let (small, loaded) = named("dragonfly-72");
    assert_eq!(small.note, None);
    for switch in 0..loaded.switches() {
        assert!(small.svg.contains(&format!(">{}<", loaded.family().switch_name(switch))), "switch {switch}");
    }
    assert!(small.svg.contains("group 8") && !small.svg.contains("cables between and inside"));
    let (large, _) = named("theta");
    assert!(large.note.unwrap().contains("Too large"));
    for part in ["group 8 to group 0: 48 cables", "inside group 3: 1440 cables", "g0.r5c15", "links between groups"] {
        assert!(large.svg.contains(part), "{part}");
    }
    assert!(!large.svg.contains("g1.r0c0"), "one group is drawn");
}
