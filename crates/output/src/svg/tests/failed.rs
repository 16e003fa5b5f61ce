//! Tests of the marks of failed and degraded links, in every picture of a fabric.

use super::*;

fn link(fabric: &Fabric, name: &str) -> LinkId {
    fabric.links().ids().find(|&id| fabric.link_name(id) == name).unwrap()
}

/// Builds a torus with a failed cable, a cable that has failed one way, and one with half the bandwidth.
fn damaged() -> Fabric {
    let whole = grid(&[4, 4], true, true);
    let of = |name| link(&whole, name);
    let half = (of("(3,3) -> (3,2)"), whole.link(of("(3,3) -> (3,2)")).capacity * 0.5);
    whole.altered(&[of("(1,1) -> (2,1)"), of("(2,1) -> (1,1)"), of("(1,2) -> (1,3)")], &[half])
}

const DOTTED: &str = r#"stroke-dasharray="1.5 3""#;
const DASHED: &str = r##"stroke="#d97706""##;
/// Red stroke of a cross; each cross has two of them over two white ones.
const CROSS: &str = r##"stroke="#c0182b" stroke-width="2" stroke-linecap="##;

#[test]
fn failed_and_slower_cables_are_marked_and_in_the_legend() {
    let drawing = fabric(&damaged(), &FabricOptions::default());
    let svg = &drawing.svg;
    // (The text may be broken into lines anywhere.)
    assert!(svg.contains("3 links have failed") && svg.contains("built for"));
    // Each kind has a cable and a sample in the legend; the cable that failed one way has a cross and an arrow.
    assert_eq!((svg.matches(DOTTED).count(), svg.matches(DASHED).count()), (2, 2));
    assert_eq!(svg.matches(CROSS).count(), 2 * 3);
    assert!(svg.contains("one direction only") && svg.contains("(1,1) -&gt; (2,1): failed"));
    assert!(svg.contains("(3,3) -&gt; (3,2): 1 GB/s of 2 GB/s") || svg.contains("of 3 GB/s"));
    let whole = fabric(&grid(&[4, 4], true, true), &FabricOptions::default()).svg;
    assert!([DOTTED, DASHED, CROSS, "failed"].iter().all(|mark| !whole.contains(mark)));
}

#[test]
fn a_switch_that_failed_is_crossed_out() {
    let whole = grid(&[4, 4], true, true);
    let switch = VertexId(16 + 5);
    let of_it = |id: &LinkId| whole.link(*id).ends.is_some_and(|(from, to)| from == switch || to == switch);
    let failed: Vec<LinkId> = whole.links().ids().filter(of_it).collect();
    assert_eq!(failed.len(), 10, "a node and four neighbours, both ways");
    let svg = fabric(&whole.altered(&failed, &[]), &FabricOptions::default()).svg;
    assert!(svg.contains("all of its links have failed"));
}

#[test]
fn loads_show_what_failed_link_by_link_in_maps_and_in_strips() {
    let loads = |fabric: &Fabric| {
        let loads = vec![LinkLoad { utilisation: 0.5, bytes: 1000, delay_s: 0.0 }; fabric.links().len()];
        link_loads(fabric, &loads, "title", "subtitle")
    };
    let svg = loads(&damaged());
    assert!(svg.contains("3 links have failed") && svg.contains("(what failed is crossed out)"));
    assert_eq!(svg.matches(CROSS).count(), 2 * 3);
    let large = grid(&[16, 16], true, true);
    let failed = link(&large, "(1,1) -> (2,1)");
    let stroke = r##"<line"##;
    let marks = |fabric: &Fabric| {
        loads(fabric).lines().filter(|line| line.contains(stroke) && line.contains("#c0182b")).count()
    };
    assert_eq!((marks(&large), marks(&large.altered(&[failed], &[]))), (0, 1));
    let tree = fat_tree(6);
    let up = link(&tree, "L1.0 -> L2.0");
    assert_eq!((marks(&tree), marks(&tree.altered(&[up], &[]))), (0, 1));
}

#[test]
fn cells_of_a_matrix_of_groups_say_how_many_cables_failed() {
    let whole = hayase::Loader::new().topology("dragonfly-1056").load_topology().unwrap().fabric;
    let between = whole.links().iter_ids().find(|(_, link)| link.role == LinkRole::Network { tier: 1 }).unwrap().0;
    let svg = fabric(&whole.altered(&[between], &[]), &FabricOptions::default()).svg;
    assert_eq!(svg.matches(": 1 cables, 1 of them failed").count(), 2, "the pair, from either side");
    assert!(svg.contains("a red stroke where any has failed"));
}

#[test]
fn a_smaller_member_of_the_family_does_not_pretend_to_be_whole() {
    let whole = grid(&[40, 40], true, true);
    let failed = link(&whole, "(1,1) -> (2,1)");
    let drawing = fabric(&whole.altered(&[failed], &[]), &FabricOptions::default());
    assert!(drawing.note.unwrap().ends_with("What has failed is not marked in it."));
    assert!(drawing.svg.contains("1 link has failed"));
    // Of an irregular graph the part around node 0 is drawn, with its failed links.
    let chain: Vec<(u32, u32)> = (0..700).map(|i| (i, 700 + i)).chain((700..1399).map(|i| (i, i + 1))).collect();
    let whole = irregular(700, 700, &chain);
    let drawing = fabric(&whole.altered(&[link(&whole, "switch 1 -> switch 2")], &[]), &FabricOptions::default());
    assert!(!drawing.note.unwrap().contains("not marked") && drawing.svg.contains("1 link failed"));
}
