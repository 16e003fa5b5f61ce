//! Table of processor seconds to 2 % and 1 %; run with `cargo test --release timing -- --ignored --nocapture`.
use super::fabrics::*;
use super::*;

/// Returns the processor time of this thread \[s\].
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

#[test]
#[ignore = "takes minutes"]
fn timing_to_two_and_one_percent() {
    let cases: Vec<(&str, Fabric)> = vec![
        ("fat-tree 432", fat_tree(12)),
        ("fat-tree 3456", fat_tree(24)),
        ("torus 8x8x8", torus(&[8, 8, 8])),
        ("torus 16x16", torus(&[16, 16])),
        ("torus 16x8x4", torus(&[16, 8, 4])),
        ("dragonfly 72", dragonfly(2)),
        ("dragonfly 1056", dragonfly(4)),
        ("dragonfly 5256", dragonfly(6)),
        ("dragonfly 72 1% failed", dragonfly(2).failed(0.01, 1)),
        ("dragonfly 1056 1% failed", dragonfly(4).failed(0.01, 1)),
        ("dragonfly 5256 1% failed", dragonfly(6).failed(0.01, 1)),
        ("slim fly 5", slim_fly(5, 3)),
        ("slim fly 13", slim_fly(13, 9)),
        ("jellyfish 100", jellyfish(100, 10, 5, 1)),
        ("jellyfish 500", jellyfish(500, 10, 5, 1)),
        ("jellyfish 1000", jellyfish(1000, 10, 5, 1)),
        ("jellyfish 1280 x 24", jellyfish(1280, 24, 12, 1)),
        ("torus 32x32 1% failed", torus(&[32, 32]).failed(0.01, 1)),
        ("torus 8x8x8 1% failed", torus(&[8, 8, 8]).failed(0.01, 1)),
        ("torus 16x16 1% failed", torus(&[16, 16]).failed(0.01, 1)),
        ("fat-tree 432 1% failed", fat_tree(12).failed(0.01, 1)),
        ("fat-tree 3456 1% failed", fat_tree(24).failed(0.01, 1)),
        ("fat-tree 3456 random capacities", fat_tree(24).random_capacities()),
        ("jellyfish 500 random capacities", jellyfish(500, 10, 5, 1).random_capacities()),
        ("torus 16x16 random capacities", torus(&[16, 16]).random_capacities()),
        ("torus 32x32 random capacities", torus(&[32, 32]).random_capacities()),
    ];
    let only = std::env::var("ONLY").unwrap_or_default();
    println!("{:32} links L alone: free gap%  s to 2%    s to 1%   at_least reached  with ports of 1: s to 2%", "");
    for (name, fabric) in cases.iter().filter(|c| c.0.contains(&only)) {
        let case = fabric.uniform(1.0);
        let start = seconds();
        let (free, _) = free_bounds(&case.links, &case.demand);
        let free_s = seconds() - start;
        let start = seconds();
        let (mut two, mut calls) = (None, 0);
        let mut watch = |at_least: f64, reached: f64| {
            calls += 1;
            if reached / at_least <= 1.02 {
                two.get_or_insert(seconds() - start);
            }
            seconds() - start < 40.0
        };
        let options = Options { gap: 0.01, floor: 0.0, seed: 1 };
        let links = solve(&case.links, &case.demand, &options, &mut watch).unwrap();
        let one = seconds() - start;
        let two = two.unwrap_or(one);
        let start = seconds();
        let mut late = |_: f64, _: f64| seconds() - start < 40.0;
        let options = Options { gap: 0.02, floor: case.floor, seed: 1 };
        let whole = solve(&case.links, &case.demand, &options, &mut late).unwrap();
        let ports = seconds() - start;
        let stored: usize = links.flows.iter().map(|f| f.iter().count()).sum();
        let gap = links.reached / links.at_least - 1.0;
        println!(
            "{name:32} {:6} free {:.4} {free_s:.3} s | {two:6.2} {one:6.2}{} {:.4}..{:.4} {} {} | {ports:6.2} {:.3}..{:.3}{} | {stored} {calls}",
            case.links.ends().len(),
            links.reached / free - 1.0,
            if gap > 0.01 { "!" } else { " " },
            links.at_least,
            links.reached,
            match links.certificate {
                Certificate::Cut { .. } => "cut",
                Certificate::Distance => "hops",
                Certificate::Lengths(_) => "lengths",
                Certificate::None => "none",
            },
            if links.is_exact { "exact" } else { "" },
            whole.at_least.max(case.floor),
            whole.reached.max(case.floor),
            if whole.is_exact { " exact" } else { "" },
        );
        check(&case, &links);
    }
}
