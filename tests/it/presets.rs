//! Presets: defaults for everything that is not set.

use hayase::pattern::{Injection, PatternSpec};
use hayase::scenario::library::Shelf;
use hayase::scenario::{Loader, Scenario};
use hayase::sharing::SharingSpec;
use hayase::simulation::PatternWork;
use hayase::system::WorkloadSpec;
use hayase::units::Bytes;

const TREE: &str = "[topology.fat-tree]\np = 2\n";
const SPREAD: &str = "[workload.all-to-all]\nalgorithm = \"simple-spread\"\n";

fn load(loader: Loader) -> Scenario<PatternWork> {
    loader.load_pattern().unwrap_or_else(|invalid| panic!("{invalid}"))
}

fn errors(loader: Loader) -> String {
    loader.load_pattern().expect_err("this is wrong").lines()
}

fn threshold(scenario: &Scenario<PatternWork>) -> f64 {
    match &scenario.network().unwrap().sharing {
        SharingSpec::Redistribute(spec) => *spec.threshold,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_preset_is_a_complete_scenario() {
    for named in Shelf::Presets.all() {
        let scenario = load(Loader::new().preset(named.name));
        assert!(scenario.work().pattern.ranks() > 0, "{}", named.name);
    }
}

#[test]
fn mfs_is_sendrecv_and_equal_share_on_full_bisection_trees() {
    let scenario = load(Loader::new().preset("mfs"));
    assert_eq!(
        (scenario.work().injection, scenario.network().unwrap().sharing.name()),
        (Injection::SendRecv, "equal-share")
    );
    assert_eq!((scenario.network().unwrap().fabric.nodes(), scenario.work().pattern.ranks()), (54, 54));
    assert_eq!(scenario.network().unwrap().transport.name(), "flow");
}

#[test]
fn what_a_file_leaves_out_is_as_the_preset_says() {
    let scenario = load(Loader::new().preset("mfs").text("s.toml", format!("{TREE}{SPREAD}")));
    assert_eq!((scenario.network().unwrap().fabric.nodes(), scenario.work().injection), (16, Injection::SendRecv));
    let WorkloadSpec::Pattern(PatternSpec::AllToAll(spec)) = scenario.work().spec.as_ref().unwrap() else {
        panic!("{:?}", scenario.work().spec)
    };
    assert_eq!(*spec.size, Bytes(20_000));
    // A workload without sizes of its own takes none, and one that sets its injection keeps it.
    let linear = load(Loader::new().preset("mfs").topology("torus-4x4").pattern("all-to-all-linear"));
    assert_eq!((linear.network().unwrap().fabric.nodes(), linear.work().injection), (16, Injection::All));
    assert_eq!(load(Loader::new().preset("mfs").pattern("ring")).work().injection, Injection::SendRecv);
}

#[test]
fn everything_else_overrides_a_preset_whatever_the_order() {
    let changed = |loader: Loader| loader.sharing("max-min").injection("window=2").topology("torus-8x8").seed(5);
    for loader in [changed(Loader::new()).preset("mfs"), changed(Loader::new().preset("mfs"))] {
        let scenario = load(loader);
        assert_eq!(
            (scenario.network().unwrap().sharing.name(), scenario.work().injection),
            ("max-min", Injection::Window(2))
        );
        assert_eq!((scenario.network().unwrap().fabric.nodes(), scenario.seed()), (64, 5));
    }
    let file = format!("{TREE}bandwidth = \"2 GB/s\"\n{SPREAD}injection = \"barrier\"\n[sharing.redistribute]\n");
    for loader in
        [Loader::new().preset("mfs").text("s.toml", &*file), Loader::new().text("s.toml", &*file).preset("mfs")]
    {
        let scenario = load(loader);
        assert_eq!(
            (scenario.network().unwrap().sharing.name(), scenario.work().injection),
            ("redistribute", Injection::Barrier)
        );
        assert_eq!(scenario.network().unwrap().fabric.links()[hayase::ids::LinkId(0)].capacity.bytes_per_second(), 2e9);
    }
}

#[test]
fn a_preset_has_options_for_choices_that_others_make() {
    let own = "[defaults.sharing.redistribute]\nthreshold = 0.05\n[defaults.topology.any]\nlatency = \"1 us\"\n";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("own.toml");
    std::fs::write(&path, format!("preset = \"mfs\"\n{own}")).unwrap();
    let own = || Loader::new().preset(path.to_str().unwrap());
    let plain = load(own());
    assert_eq!(
        (plain.network().unwrap().sharing.name(), plain.work().injection),
        ("equal-share", Injection::SendRecv),
        "it lies on mfs"
    );
    let chosen = load(own().sharing("redistribute"));
    assert_eq!(threshold(&chosen), 0.05);
    let explicit = load(own().sharing("redistribute").set("--set", "sharing.redistribute.threshold=0.03"));
    assert_eq!(threshold(&explicit), 0.03);
    // It also applies to the fabric named on the command line.
    let torus = load(own().topology("torus-4x4"));
    assert!(torus.network().unwrap().fabric.links().iter().any(|link| link.latency.ps() > 0.0));
    assert_eq!(threshold(&load(Loader::new().preset("mfs").sharing("redistribute"))), 0.01);
}

#[test]
fn a_scenario_file_names_a_preset_and_the_command_line_another() {
    let named = || Loader::new().text("s.toml", format!("preset = \"mfs\"\n{TREE}"));
    assert_eq!(load(named()).work().injection, Injection::SendRecv);
    assert_eq!(load(named()).network().unwrap().fabric.nodes(), 16);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("barrier.toml");
    std::fs::write(&path, "workload = \"ring\"\n[defaults.topology.any]\nbandwidth = \"3 GB/s\"\n").unwrap();
    let other = load(named().preset(path.to_str().unwrap()));
    assert_eq!((other.work().injection, other.network().unwrap().sharing.name()), (Injection::Queue, "max-min"));
    let set = load(Loader::new().text("s.toml", format!("{TREE}{SPREAD}")).set("--set", "preset = \"mfs\""));
    assert_eq!((set.work().injection, set.network().unwrap().fabric.nodes()), (Injection::SendRecv, 16));
    // From a file used as a topology only its topology settings are taken, and likewise from the preset that
    // it names.
    let file = directory.path().join("whole.toml");
    std::fs::write(&file, format!("preset = \"mfs\"\n{TREE}")).unwrap();
    let alone =
        load(Loader::new().text("s.toml", format!("{SPREAD}size = \"1 KB\"\n")).topology(file.to_str().unwrap()));
    assert_eq!(
        (alone.network().unwrap().fabric.nodes(), alone.work().injection, alone.network().unwrap().sharing.name()),
        (16, Injection::Queue, "max-min")
    );
}

#[test]
fn mistakes_in_and_about_presets_are_told_with_their_place() {
    assert_eq!(
        errors(Loader::new().preset("mfz")),
        "--preset:1:1: unknown preset `mfz` (not built in, and no such file); did you mean `mfs`? `hayase preset list` shows all"
    );
    let text = format!("preset = 3\n{TREE}bandwidth = \"1 GB/s\"\n{SPREAD}size = \"1 B\"\n");
    let wrong = errors(Loader::new().text("s.toml", text));
    assert!(wrong.starts_with("s.toml:1:10: `preset` is a number"), "{wrong}");
    let misspelt = errors(Loader::new().text("s.toml", format!("preste = \"mfs\"\n{TREE}{SPREAD}")));
    assert!(misspelt.contains("s.toml:1:1: unknown key `preste`; did you mean `preset`?"), "{misspelt}");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("own.toml");
    let text = "[defaults.sharng.any]\nx = 1\n[defaults.sharing.redistribut]\nthreshold = 1\n[defaults.workload.any]\n\
                injektion = \"queue\"\n[defaults.topology]\ntorus = 5\n[defaults.sharing.redistribute]\nthreshold = 2\n";
    std::fs::write(&path, text).unwrap();
    let wrong = errors(Loader::new().preset(path.to_str().unwrap()).sharing("redistribute"));
    for expected in [
        "own.toml:1:11: unknown key `sharng` in [defaults]; did you mean `sharing`?",
        "own.toml:3:19: unknown key `redistribut` in [defaults.sharing]; did you mean `redistribute`?",
        "own.toml:6:1: unknown key `injektion` in [defaults.workload.any]",
        "own.toml:8:9: `defaults.topology.torus` is a number",
        "own.toml:10:13: the threshold 2 is not a fraction of a rate",
    ] {
        assert!(wrong.contains(expected), "no {expected:?} in:\n{wrong}");
    }
    // A scenario itself has no defaults.
    let wrong =
        errors(Loader::new().text("s.toml", format!("{TREE}{SPREAD}[defaults.workload.any]\nsize = \"1 B\"\n")));
    assert!(wrong.contains("unknown key `defaults`"), "{wrong}");
    std::fs::write(&path, format!("preset = \"{}\"\n", path.display())).unwrap();
    let endless = errors(Loader::new().preset(path.to_str().unwrap()));
    assert!(endless.contains("is named by a text that it names itself"), "{endless}");
}

#[test]
fn a_report_of_a_run_with_a_preset_runs_again_without_it() {
    let scenario = load(Loader::new().preset("mfs").sharing("redistribute").topology("torus-4x4"));
    let text = toml::to_string(&scenario.to_json()).unwrap();
    let again = load(Loader::new().text("again.toml", text));
    assert_eq!(
        (again.work().injection, again.network().unwrap().sharing.name()),
        (Injection::SendRecv, "redistribute")
    );
    assert_eq!(again.network().unwrap().fabric.nodes(), 16);
}
