//! Master/slave programs over fabrics.

use hayase::scenario::Loader;
use hayase::sweep::Control;

/// 2,000 results of 100 KB cross one link of 1 GB/s, which more workers do not speed up.
#[test]
fn the_links_of_the_master_are_a_bound() {
    let of = |workers: u32, results: &str| {
        let text = format!(
            "topology = \"crossbar-64\"\n[workload.master-slave]\nworkers = {workers}\nbytes-out = \"{results}\"\n\
             [workload.master-slave.tasks.uniform]\ncount = 2000\nleast = \"0.5 ms\"\nmost = \"1 ms\"\n"
        );
        let scenario = Loader::new().text("farm.toml", text).load_farm().unwrap();
        scenario.run(Control::default()).predictions.remove(0)
    };
    for workers in [15, 31, 63] {
        let prediction = of(workers, "100 KB");
        assert_eq!((prediction.bounds.network_s, prediction.bounds.limit()), (Some(0.2), "network"));
        assert!(prediction.time_s >= prediction.bound_s && prediction.bound_s == 0.2, "{prediction:?}");
    }
    assert_eq!(of(15, "1 KB").bounds.limit(), "workers");
}
