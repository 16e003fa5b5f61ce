//! The sharing solver by itself, on a custom problem: flows and links are numbers, and there is no network.
//!
//! Max-min fairness: all rates rise together until a link is full. The rates of its flows stay, and all other
//! rates continue to rise.
//!
//! ```text
//! cargo run --release --example sharing_alone
//! ```

use hayase::sharing::{Change, MaxMin, Sharing};

fn main() {
    // Two links of 10 and 4 B/s. Flow 0 uses both, flow 1 the first, flows 2 and 3 the second.
    let mut rates = MaxMin::new(vec![10.0, 4.0]);
    for (flow, links) in [&[0, 1][..], &[0], &[1], &[1]].into_iter().enumerate() {
        rates.add(flow as u32, links);
    }
    let mut changes = Vec::new();
    rates.solve(&mut changes);
    show("four flows", &changes, &rates);

    // A flow ends: only the rates that this changes are computed again.
    rates.remove(3);
    changes.clear();
    rates.solve(&mut changes);
    show("without flow 3", &changes, &rates);
    assert_eq!((rates.rate(0), rates.rate(1), rates.rate(2)), (2.0, 8.0, 2.0));
}

fn show(when: &str, changes: &[Change], rates: &impl Sharing) {
    println!("{when}:");
    for Change { flow, old, new } in changes {
        let link = rates.bottleneck(*flow).map_or_else(String::new, |link| format!(", held back by link {link}"));
        println!("  flow {flow}: {old:.3} -> {new:.3} B/s{link}");
    }
}
