//! Cases with answers that can be computed by hand (`docs/concepts/bounds.md`).

use super::figures::figures;
use super::setup::{MESSAGE_S, RunChoice, all_to_all, flows_on_links, relative, run};
use super::{Case, CaseError, Context, Outcome};
use hayase::fabric::LinkRole;
use hayase::ids::LinkId;
use hayase::units::Time;

/// Nodes of the shipped trees with full bisection: 2 p^3.
const FAT_TREES: [u32; 10] = [54, 128, 250, 432, 686, 1024, 1458, 2000, 2662, 3456];

/// Sides of the shipped square tori.
const TORI: [u32; 9] = [4, 8, 10, 11, 12, 13, 14, 15, 16];

const POLICIES: [&str; 3] = ["equal-share", "redistribute", "max-min"];

pub(super) fn cases() -> Vec<Case> {
    let lock_step = figures().lock_step;
    let times = |figures: &[(u32, f64)]| {
        let each: Vec<String> = figures.iter().map(|(n, us)| format!("{us} us ({n}x{n})")).collect();
        each.join(", ")
    };
    let spread = lock_step.spread_2d_us;
    let pairwise = lock_step.pairwise_us;
    vec![
        Case::new("closed-form/one-message-alone", one_message_alone)
            .source("sum of the latencies of its links, then size over the smallest bandwidth")
            .expect("23.5 us for 20 KB, 3.5 us for no bytes", "none: equal to the last bit"),
        Case::new("closed-form/thousands-into-one-link", incast)
            .source("k messages of s bytes into one link of capacity c all end at k s / c")
            .expect("100000 us for 5,000 messages of 20 KB at 1 GB/s", "1e-12 relative"),
        Case::new("closed-form/contention-free-fat-trees", contention_free)
            .source("full-bisection tree, D-mod-k, regular placement: no contention; MFS, section 4.2")
            .expect("N-1 message times on every shipped fat-tree, 54 to 3456 nodes", "none: equal to the last bit"),
        Case::new("closed-form/several-messages-a-pair", several_messages)
            .source("full-bisection trees, D-mod-k, regular placement: no contention, whatever the order of a pair's messages")
            .expect("k (N-1) message times for k = 1, 2, 3, 7 on 54 and 128 nodes, in a row and in rounds", "none: equal to the last bit"),
        Case::new("closed-form/lock-step-2d-spread", {
            let spread = spread.clone();
            move |context| lock_step_torus(context, "all-to-all-2d-spread", &spread)
        })
        .source("sum over displacements of the larger one, in message times")
        .expect(times(&spread), "1e-12 relative; max-min and equal-share alike"),
        Case::new("closed-form/lock-step-pairwise", {
            let pairwise = pairwise.clone();
            move |context| lock_step_torus(context, "all-to-all-pairwise", &pairwise)
        })
        .source(lock_step.source)
        .expect(times(&pairwise), "1e-12 relative; max-min and equal-share alike"),
        Case::new("closed-form/busiest-torus-link", busiest_link)
            .source("dimension order, ties positive, on an n x n torus")
            .expect("n^2(n+2)/8 messages for even n, n(n^2-1)/8 for odd n", "none: whole messages"),
        Case::new("closed-form/bounds-are-never-beaten", bounds_hold)
            .source("injection, busiest link and bisection are lower bounds")
            .expect("makespan / largest bound >= 1", "1e-12"),
    ]
}

/// One message over three links of 1, 2 and 0.5 us; the middle one is the narrowest.
fn one_message_alone(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let links = [(2e9, 1e6), (1e9, 2e6), (4e9, 0.5e6)].map(|(capacity, ps)| (capacity, Time::from_ps(ps)));
    let mut got = Vec::new();
    for bytes in [20_000, 0] {
        let scenario = flows_on_links(&links, &[vec![0, 1, 2]], bytes)?;
        got.push(run(context, &scenario)?.report.head.makespan_s);
    }
    let text = format!("{} us, {} us", got[0] * 1e6, got[1] * 1e6);
    Ok(Outcome::check(got == [23.5e6 / 1e12, 3.5e6 / 1e12], text))
}

fn incast(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let flows = vec![vec![0]; 5_000];
    let scenario = flows_on_links(&[(1e9, Time::ZERO)], &flows, 20_000)?;
    let makespan = run(context, &scenario)?.report.head.makespan_s;
    Ok(Outcome::check(relative(makespan, 0.1) <= 1e-12, format!("{} us", makespan * 1e6)))
}

fn contention_free(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let policies = context.choose(&POLICIES[2..], &POLICIES[..]);
    // The largest first: they determine the total time.
    let runs: Vec<(u32, &str)> =
        FAT_TREES.iter().rev().flat_map(|&nodes| policies.iter().map(move |&sharing| (nodes, sharing))).collect();
    context.plan(runs.iter().map(|&(nodes, _)| all_to_all(nodes)).sum());
    let count = runs.len();
    let wrong = context.run_parts(runs, |(nodes, sharing)| {
        let topology = format!("fat-tree-{nodes}");
        let got = RunChoice { sharing, ..RunChoice::new(&topology, "all-to-all-simple-spread") }.makespan(context)?;
        // Picoseconds: integers, which a double holds and adds exactly.
        let expected = f64::from(nodes - 1) * (MESSAGE_S * 1e12).round() / 1e12;
        Ok((got != expected).then(|| format!("{topology}, {sharing}: {got} s instead of {expected} s")))
    })?;
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    let got = format!("{} of {count} runs exact", count - wrong.len());
    Ok(Outcome::check(wrong.is_empty(), got).note(wrong.join("\n")))
}

fn several_messages(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut runs = Vec::new();
    for nodes in [54, 128] {
        for (messages, order) in [(1, None), (2, Some("in-a-row")), (3, Some("rounds")), (7, Some("in-a-row"))] {
            for injection in ["queue", "sendrecv", "barrier"] {
                runs.extend(POLICIES.map(|sharing| (nodes, messages, order, injection, sharing)));
            }
        }
    }
    context.plan(runs.iter().map(|&(nodes, messages, ..)| u64::from(messages) * all_to_all(nodes)).sum());
    let count = runs.len();
    let wrong = context.run_parts(runs, |(nodes, messages, order, injection, sharing)| {
        let topology = format!("fat-tree-{nodes}");
        let choice = RunChoice { sharing, injection, ..RunChoice::new(&topology, "all-to-all-simple-spread") };
        let mut more = vec![format!("workload.all-to-all.messages={messages}")];
        more.extend(order.map(|order| format!("workload.all-to-all.message-order={order}")));
        let got = run(context, &choice.load_with(&more)?)?.report.head.makespan_s;
        // Picoseconds: integers, which a double holds and adds exactly.
        let expected = f64::from(messages * (nodes - 1)) * (MESSAGE_S * 1e12).round() / 1e12;
        let what =
            || format!("{topology}, {messages} {order:?}, {injection}, {sharing}: {got} s instead of {expected} s");
        Ok((got != expected).then(what))
    })?;
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    Ok(Outcome::check(wrong.is_empty(), format!("{} of {count} runs exact", count - wrong.len()))
        .note(wrong.join("\n")))
}

fn lock_step_torus(context: &Context<'_>, pattern: &str, expected_us: &[(u32, f64)]) -> Result<Outcome, CaseError> {
    let mut got = Vec::new();
    let mut worst = 0.0f64;
    context.plan(expected_us.iter().map(|&(n, _)| 2 * all_to_all(n * n)).sum());
    for &(n, us) in expected_us {
        let topology = format!("torus-{n}x{n}");
        for sharing in ["max-min", "equal-share"] {
            let makespan =
                RunChoice { sharing, injection: "barrier", ..RunChoice::new(&topology, pattern) }.makespan(context)?;
            worst = worst.max(relative(makespan, us * 1e-6));
            if sharing == "max-min" {
                got.push(format!("{} us ({n}x{n})", makespan * 1e6));
            }
        }
    }
    Ok(Outcome::check(worst <= 1e-12, got.join(", ")).note(format!("largest relative difference {worst:.1e}")))
}

fn busiest_link(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut got = Vec::new();
    let mut good = true;
    context.plan(TORI.iter().map(|n| all_to_all(n * n)).sum());
    for n in TORI {
        let topology = format!("torus-{n}x{n}");
        let choice = RunChoice {
            sharing: "equal-share",
            injection: "barrier",
            ..RunChoice::new(&topology, "all-to-all-simple-spread")
        };
        let scenario = choice.load()?;
        let run = run(context, &scenario)?;
        let network = scenario.network().ok_or("a pattern without a network")?;
        let inside = |link: u32| matches!(network.fabric.link(LinkId(link)).role, LinkRole::Network { .. });
        let bytes = run.links.iter().filter(|link| inside(link.id)).map(|link| link.bytes).max().unwrap_or(0);
        let n = u64::from(n);
        let expected = if n.is_multiple_of(2) { n * n * (n + 2) / 8 } else { n * (n * n - 1) / 8 };
        good &= bytes == expected * 20_000;
        got.push(format!("{} ({n}x{n})", bytes as f64 / 20_000.0));
    }
    Ok(Outcome::check(good, got.join(", ")))
}

fn bounds_hold(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let fabrics = context.choose(
        &[("fat-tree-54", 54), ("fat-tree-128", 128), ("torus-4x4", 16), ("torus-8x8", 64)][..],
        &[
            ("fat-tree-54", 54),
            ("fat-tree-128", 128),
            ("fat-tree-432", 432),
            ("fat-tree-1024", 1024),
            ("torus-4x4", 16),
            ("torus-8x8", 64),
            ("torus-16x16", 256),
        ],
    );
    let mut choices = Vec::new();
    for &(topology, nodes) in fabrics {
        for pattern in ["all-to-all-simple-spread", "all-to-all-mpich"] {
            for placement in ["regular", "random"] {
                for sharing in POLICIES {
                    for injection in ["queue", "sendrecv", "barrier", "window=4"] {
                        context.plan(all_to_all(nodes));
                        choices.push(RunChoice { placement, sharing, injection, ..RunChoice::new(topology, pattern) });
                    }
                }
            }
        }
    }
    let runs = choices.len();
    let ratios = context.run_parts(choices, |choice| {
        let report = choice.run(context)?.report;
        let RunChoice { topology, pattern, placement, sharing, injection, .. } = choice;
        let place = format!("{topology}, {pattern}, {placement}, {sharing}, {injection}");
        Ok((report.head.makespan_s / report.bounds.largest(), place))
    })?;
    let closest = ratios.into_iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
    let (ratio, place) = closest.ok_or("nothing was run")?;
    Ok(Outcome::check(ratio >= 1.0 - 1e-12, format!("smallest of {runs} runs: {ratio}")).note(format!("at {place}")))
}
