//! Chakra execution traces: times worked out by hand, closed forms of ASTRA-sim, traces as converters make them, and
//! mistakes with their places.
//!
//! The cases in `chakra/` are traces of a few nodes; their times follow from 1 us of latency and 10 GB/s.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hayase::diagnostic::{Diagnostic, Invalid, Sources};
use hayase::program::{Action, Program};
use hayase::reading::Input;
use hayase::scenario::{Loader, Scenario};
use hayase::simulation::{ProgramOutcome, ProgramWork, RunOptions};
use hayase::trace::chakra::{Rules, read, write};
use hayase::trace::{Options, Trace};
use proptest::prelude::*;

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/chakra").join(name)
}

/// Returns a fabric on which a message takes 1 us and its bytes at 10 GB/s.
fn crossbar(nodes: u32) -> String {
    format!("[topology.crossbar]\nnodes = {nodes}\nbandwidth = '10 GB/s'\nlatency = '500 ns'\n")
}

fn loaded(path: &str, fabric: &str, keys: &[(&str, &str)]) -> Result<Scenario<ProgramWork>, String> {
    let loader = Loader::new().text("fabric.toml", fabric).pattern(path);
    let loader = keys.iter().fold(loader, |loader, (key, value)| loader.work_value("--set", key, value));
    match loader.load_all() {
        Ok(hayase::scenario::Loaded::Program(program)) => Ok(*program),
        Ok(_) => panic!("not a program"),
        Err(invalid) => Err(invalid.lines()),
    }
}

fn run(path: &str, fabric: &str, keys: &[(&str, &str)]) -> ProgramOutcome {
    let outcome = loaded(path, fabric, keys).unwrap_or_else(|mistakes| panic!("{mistakes}")).run(RunOptions::default());
    assert_eq!(outcome.stuck, []);
    outcome
}

fn us(outcome: &ProgramOutcome) -> f64 {
    outcome.report.head.makespan_s * 1e6
}

/// Message of protocol buffers under construction.
#[derive(Clone, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(mut self, mut value: u64) -> Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    fn number(self, field: u64, value: u64) -> Self {
        self.varint(field << 3).varint(value)
    }

    fn bytes(self, field: u64, bytes: &[u8]) -> Self {
        let mut message = self.varint(field << 3 | 2).varint(bytes.len() as u64);
        message.0.extend_from_slice(bytes);
        message
    }

    /// Adds an integer attribute in the field of this number.
    fn attribute(self, name: &str, field: u64, value: u64) -> Self {
        let attribute = Self::default().bytes(1, name.as_bytes()).number(field, value);
        self.bytes(10, &attribute.0)
    }

    fn text(self, name: &str, value: &str) -> Self {
        let attribute = Self::default().bytes(1, name.as_bytes()).bytes(29, value.as_bytes());
        self.bytes(10, &attribute.0)
    }

    fn data(self, ids: &[u64]) -> Self {
        let packed = ids.iter().fold(Self::default(), |packed, &id| packed.varint(id));
        self.bytes(5, &packed.0)
    }
}

fn node(id: u64, kind: u64) -> Message {
    Message::default().number(1, id).bytes(2, b"node").number(3, kind)
}

fn compute(id: u64, us: u64) -> Message {
    node(id, 4).number(7, us)
}

fn collective(id: u64, kind: u64, bytes: u64) -> Message {
    node(id, 7).attribute("comm_type", 9, kind).attribute("comm_size", 9, bytes)
}

/// Returns the bytes of a file: metadata, then these nodes.
fn file(nodes: &[Message]) -> Vec<u8> {
    let metadata = Message::default().bytes(1, b"0.0.4");
    let frame = |message: &Message| [Message::default().varint(message.0.len() as u64).0, message.0.clone()].concat();
    std::iter::once(&metadata).chain(nodes).flat_map(frame).collect()
}

/// Reads files from memory.
fn program(files: &[Vec<u8>], rules: Rules) -> Result<Program, String> {
    let open: Vec<_> = (0..)
        .zip(files)
        .map(|(rank, bytes): (u32, &Vec<u8>)| {
            move || Ok::<_, Diagnostic>(Input::from_bytes(format!("t.{rank}.et"), bytes.clone()))
        })
        .collect();
    let open: Vec<&dyn Fn() -> Result<Input, Diagnostic>> = open.iter().map(|open| open as _).collect();
    read(&open, None, rules).map_err(|diagnostics| Invalid { diagnostics, sources: Sources::default() }.lines())
}

/// Writes files into a new folder and plays them on 1 us, 10 GB/s.
fn played(files: &[Vec<u8>], keys: &[(&str, &str)]) -> ProgramOutcome {
    let folder = tempfile::tempdir().unwrap();
    for (rank, bytes) in files.iter().enumerate() {
        std::fs::write(folder.path().join(format!("t.{rank}.et")), bytes).unwrap();
    }
    run(folder.path().to_str().unwrap(), &crossbar(8), keys)
}

#[test]
fn traces_last_as_long_as_worked_out_by_hand() {
    for (name, expected) in [
        ("c01-chain", 60.0),
        ("c03-send", 109.0),
        ("c05-ring", 606.0),
        ("c09-overlap", 1007.0),
        ("c14-odd-dependences", 35.0),
    ] {
        let folder = case(name);
        let file = folder.join("t.0.et");
        for path in [&folder, &file, &folder.join("t"), &folder.join("t.et")] {
            let time = us(&run(path.to_str().unwrap(), &crossbar(4), &[]));
            assert!((time - expected).abs() < 1e-9 * expected, "{}: {time}", path.display());
        }
    }
}

#[test]
fn a_cycle_of_data_dependences_names_its_nodes() {
    let mistakes = loaded(case("b02-cycle").to_str().unwrap(), &crossbar(4), &[]).err().unwrap();
    assert!(mistakes.contains("t.0.et: data dependences form a cycle of nodes: 1 -> 2 -> 1"), "{mistakes}");
}

#[test]
fn a_collective_that_one_rank_lacks_names_both_ranks() {
    let mistakes = loaded(case("b05-one-lacks").to_str().unwrap(), &crossbar(4), &[]).err().unwrap();
    let expected = "t.1.et: rank 1 never joins the all-reduce of 4000000 B of ";
    assert!(mistakes.contains(expected) && mistakes.contains("t.0.et, node 1, byte 9"), "{mistakes}");
}

#[test]
fn control_dependences_in_a_cycle_are_left_out_and_said() {
    let outcome = run(case("c14-odd-dependences").to_str().unwrap(), &crossbar(4), &[]);
    let [ignored] = &outcome.report.caveats.ignored[..] else { panic!("one paragraph") };
    assert!(
        ignored.contains("dependences on nodes that are not there (1), dependences of nodes on themselves (1)"),
        "{ignored}"
    );
    assert!(
        ignored.contains("control dependences (1), all where nodes")
            && ignored.contains("(ranks: 1; nodes: 2 -> 3 -> 2)"),
        "{ignored}"
    );
}

/// ASTRA-sim rounds each of the k steps of floor(h a + m/b) ns down, and adds 10 (k + 1) ns and
/// (n - 1) 3 floor(m/M) ns; without these additions its times are ours.
#[test]
fn rings_last_as_long_as_in_astra_sim_without_its_additions() {
    let (ranks, steps, bytes, bandwidth) = (8.0, 14.0, 1_048_576.0 / 8.0, 50.0 * 1_073_741_824.0 / 1e9);
    let additions = 10.0 * (steps + 1.0) + (ranks - 1.0) * 3.0 * f64::floor(bytes / 1600.0);
    let files: Vec<_> = (0..8).map(|_| file(&[collective(1, 0, 1 << 20)])).collect();
    let folder = tempfile::tempdir().unwrap();
    for (rank, bytes) in files.iter().enumerate() {
        std::fs::write(folder.path().join(format!("t.{rank}.et")), bytes).unwrap();
    }
    for (hops, astra) in [(1.0, 43_025.0), (2.0, 50_025.0)] {
        let fabric = format!(
            "[topology.crossbar]\nnodes = 8\nbandwidth = '{} B/s'\nlatency = '{} ns'\n",
            50_u64 << 30,
            250.0 * hops
        );
        let ns = 1e3 * us(&run(folder.path().to_str().unwrap(), &fabric, &[]));
        let closed = steps * (hops * 500.0 + bytes / bandwidth);
        assert!((ns - closed).abs() < 1e-9 * closed, "{ns} {closed}");
        assert!(ns >= astra - additions && ns < astra - additions + steps, "{ns} {}", astra - additions);
    }
}

#[test]
fn each_type_of_collective_takes_the_time_of_its_messages() {
    // Blocks of 1 MB take 100 us, and a message 1 us.
    let time =
        |kind: u64, bytes: u64, keys: &[(&str, &str)]| us(&played(&vec![file(&[collective(1, kind, bytes)]); 4], keys));
    let ring = |steps: f64| steps * 101.0;
    for (kind, bytes, expected) in [
        (0, 4_000_000, ring(6.0)),
        (2, 1_000_000, ring(3.0)),
        (7, 4_000_000, ring(3.0)),
        (8, 4_000_000, ring(3.0)),
        // All three blocks leave at once.
        (6, 4_000_000, 301.0),
        (9, 0, 2.0),
    ] {
        let found = time(kind, bytes, &[]);
        assert!((found - expected).abs() < 1e-6, "type {kind}: {found}");
    }
    for kind in [1, 3, 4, 5] {
        let found = time(kind, 1_000_000, &[]);
        assert!(found > 100.0 / 4.0 && found < 404.0, "type {kind}: {found}");
    }
    assert!((time(2, 4_000_000, &[("gathered", "true")]) - ring(3.0)).abs() < 1e-6);
}

#[test]
fn algorithms_of_the_scenario_take_the_place_of_rings() {
    let files = vec![file(&[collective(1, 0, 8)]); 8];
    let folder = tempfile::tempdir().unwrap();
    for (rank, bytes) in files.iter().enumerate() {
        std::fs::write(folder.path().join(format!("t.{rank}.et")), bytes).unwrap();
    }
    let doubling = crossbar(8) + "[collectives]\nallreduce = 'recursive-doubling'\n";
    let time = us(&run(folder.path().to_str().unwrap(), &doubling, &[]));
    assert!((time - 3.0 * 1.0008).abs() < 1e-9, "{time}");
}

#[test]
fn one_file_stands_for_all_ranks() {
    let path = case("c05-ring").join("t.0.et");
    let outcome = run(path.to_str().unwrap(), &crossbar(8), &[("ranks", "8")]);
    // Fourteen steps of an eighth.
    assert!((us(&outcome) - 14.0 * 51.0).abs() < 1e-6);
    // Two groups of four, from the group of rank 0.
    let definition = Message::default().bytes(1, b"['[{\"pg_name\": \"5\", \"ranks\": [0, 2, 4, 6]}]']");
    let groups =
        Message::default().number(1, 9).bytes(2, b"x process_group:init x").number(3, 1).bytes(8, &definition.0);
    let outcome = played(&[file(&[collective(1, 0, 4_000_000).text("pg_name", "5"), groups])], &[("ranks", "8")]);
    assert!((us(&outcome) - 606.0).abs() < 1e-6);
}

#[test]
fn messages_without_ends_are_paired_in_their_group_and_several_collectives_run_at_once() {
    let definition =
        Message::default().bytes(1, b"['[{\"pg_name\": \"1\", \"ranks\": [1, 0]}, {\"pg_name\": 2, \"ranks\": []}]']");
    let groups = node(0, 1).bytes(2, b"process_group:init").bytes(8, &definition.0);
    let message = |id, kind, bytes| node(id, kind).attribute("comm_size", 13, bytes).attribute("comm_group", 7, 1);
    let sends = file(&[groups.clone(), message(7, 5, 1_000_000), message(3, 5, 2_000_000).data(&[7])]);
    let receives = file(&[groups, message(5, 6, 1_000_000), message(6, 6, 2_000_000).data(&[5])]);
    // The second message leaves at 100 us and arrives at 301 us.
    assert!((us(&played(&[sends, receives], &[])) - 301.0).abs() < 1e-6);
    // Two rings of two ranks share the links: 2 MB in two halves each way, twice.
    let twice = file(&[collective(1, 0, 2_000_000), collective(2, 0, 2_000_000), compute(3, 7).data(&[1, 2])]);
    assert!((us(&played(&[twice.clone(), twice], &[])) - 409.0).abs() < 1e-6);
}

#[test]
fn rates_take_the_place_of_recorded_times() {
    let work = compute(1, 5).attribute("num_ops", 9, 4_000_000).attribute("tensor_size", 13, 6_000);
    let load = node(2, 2).attribute("tensor_size", 13, 2_000).data(&[1]);
    let plain = compute(3, 10).data(&[2]);
    let files = [file(&[work, load, plain])];
    let keys = [("flop-rate", "1e12"), ("memory-bandwidth", "'1 GB/s'")];
    // max(4, 6) us of computation, 2 us of loading, 10 us as recorded.
    assert!((us(&played(&files, &keys)) - 18.0).abs() < 1e-9);
    let recorded = played(&files, &[]);
    assert!((us(&recorded) - 15.0).abs() < 1e-9);
    assert!(recorded.report.caveats.ignored[0].starts_with("nodes with operations or bytes, but no time (--flop-rate"));
}

#[test]
fn streams_and_threads_run_beside_each_other() {
    let on = |id, us, name: &str, number| compute(id, us).attribute(name, 9, number);
    let files = [file(&[
        on(1, 10, "stream", 7),
        on(2, 20, "stream", 7),
        on(3, 25, "stream", 20),
        compute(4, 29).attribute("is_cpu_op", 27, 1),
        compute(5, 1).attribute("is_cpu_op", 7, 1).attribute("tid", 9, 3),
        compute(6, 28),
    ])];
    assert!((us(&played(&files, &[])) - 30.0).abs() < 1e-9);
}

/// A trace as PyTorch's converter makes it: control dependences on itself, on missing nodes and in cycles, sparse ids,
/// data dependences on later nodes, unpacked repeats, tensors, a whole file in the metadata, gzip.
#[test]
fn a_mangled_trace_of_pytorch_is_replayed_with_a_paragraph() {
    let metadata = Message::default().bytes(2, &[b'x'; 300_000]);
    let tensors = Message::default().bytes(1, b"[1, 2]").bytes(2, b"[[3]]").bytes(3, b"['Tensor(float)']");
    let mut nodes = vec![metadata];
    for i in 0..100_u64 {
        let id = 216 + 7 * i + i % 3;
        let mut node = compute(id, 10).number(4, id).number(4, 9_000_000 + i).bytes(8, &tensors.0);
        // The caller of each second node is the node behind it.
        if i % 2 == 0 {
            let next = i + 1;
            node = node.number(4, 216 + 7 * next + next % 3);
        }
        for before in i.saturating_sub(3)..i {
            node = node.number(5, 216 + 7 * before + before % 3);
        }
        nodes.push(node.attribute("rf_id", 9, i).text("op_schema", "aten::x(Tensor a) -> Tensor"));
    }
    // The first node comes last.
    let first = nodes.remove(1);
    nodes.push(first);
    nodes.push(node(9000, 7).bytes(2, b"c10d::allreduce_").attribute("is_cpu_op", 27, 1).number(7, 4));
    let frame = |message: &Message| [Message::default().varint(message.0.len() as u64).0, message.0.clone()].concat();
    let plain: Vec<u8> = nodes.iter().flat_map(frame).collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&plain).unwrap();
    let outcome = played(&[packed.finish().unwrap()], &[]);
    assert!((us(&outcome) - 1000.0).abs() < 1e-9, "{}", us(&outcome));
    let ignored = &outcome.report.caveats.ignored[0];
    for part in [
        "dependences on nodes that are not there (100)",
        "dependences of nodes on themselves (100)",
        "control dependences (50), all where nodes would wait for each other with them (ranks: 1; nodes: ",
        "collectives of the host without a type, taken as computation (1)",
    ] {
        assert!(ignored.contains(part), "{ignored}");
    }
}

#[test]
fn mistakes_name_file_node_and_byte() {
    let wrong = |files: &[Vec<u8>]| program(files, Rules::default()).err().unwrap();
    let one = |nodes: &[Message]| wrong(&[file(nodes)]);
    for (found, parts) in [
        (one(&[compute(3, 1), compute(3, 1)]), ["t.0.et, byte 22 (last node 3): ", "there are two nodes 3"]),
        (one(&[node(4, 9)]), ["byte 17: node 4 has type 9", "expected is 1 (metadata)"]),
        (one(&[collective(4, 17, 8)]), ["node 4 has comm_type 17", "expected is 0 (all-reduce)"]),
        (one(&[node(4, 7).attribute("comm_type", 9, 0)]), ["node 4 is all-reduce without comm_size", "t.0.et, byte 9"]),
        (one(&[node(4, 7)]), ["node 4 has no comm_type", "byte 9"]),
        (one(&[collective(4, 0, 8).text("pg_name", "8")]), ["group `8` is not defined", "t.0.et, node 4, byte 9"]),
        (one(&[node(4, 5).attribute("comm_dst", 7, 3)]), ["node 4 names rank 3, and there are 1 ranks", "byte 9"]),
        (one(&[node(4, 5).attribute("comm_dst", 17, 3)]), ["attribute `comm_dst` of node 4 is -2", "from 0 on"]),
        (one(&[node(4, 5).text("comm_size", "many")]), ["attribute `comm_size` of node 4 is no whole number", "byte"]),
        (one(&[collective(4, 0, u64::MAX >> 1)]), ["node 4 has comm_size 9223372036854775807", "byte 9"]),
        (wrong(&[Vec::new()]), ["t.0.et, byte 0: the file is empty", "metadata"]),
        (
            wrong(&[file(&[collective(1, 0, 8)]), file(&[collective(1, 0, 16)])]),
            [
                "t.1.et, node 1, byte 9: collective 1 of all ranks is all-reduce of 16 B",
                "in t.0.et, node 1, byte 9 it is",
            ],
        ),
    ] {
        assert!(parts.iter().all(|part| found.contains(part)), "{parts:?} not in {found}");
    }
    let defines = |ranks: &str| {
        let inputs =
            Message::default().bytes(1, format!("['[{{\"pg_name\": \"1\", \"ranks\": {ranks}}}]']").as_bytes());
        file(&[node(0, 1).bytes(2, b"process_group:init").bytes(8, &inputs.0)])
    };
    let found = wrong(&[defines("[0, 1]"), defines("[1]")]);
    assert!(found.contains("group `1` has ranks [0, 1] elsewhere and [1] here, and rank 1 is in both"), "{found}");
    assert!(wrong(&[defines("[0, 4]")]).contains("names rank 4, and the trace has ranks 0 to 0"));
    assert!(wrong(&[defines("[0, 0]")]).contains("names rank 0 twice"));
    assert!(wrong(&[defines("[0, x]")]).contains("a list of groups like"));
}

#[test]
fn a_rank_without_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for rank in [0, 2] {
        std::fs::write(folder.path().join(format!("t.{rank}.et")), file(&[compute(1, 1)])).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let mistakes = loaded(path, &crossbar(4), &[]).err().unwrap();
    assert!(mistakes.contains("rank 1 has no file `t.1.et`"), "{mistakes}");
    std::fs::write(folder.path().join("u.0.et"), file(&[])).unwrap();
    assert!(loaded(path, &crossbar(4), &[]).err().unwrap().contains("has several traces, `t` and `u`"));
    assert!(loaded(&format!("{path}/u"), &crossbar(4), &[]).is_ok());
}

#[test]
fn a_file_of_groups_stands_beside_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for rank in 0..4 {
        let nodes = [collective(1, 0, 2_000_000).text("pg_name", "even").attribute("x", 9, 1)];
        let nodes = if rank % 2 == 0 { &nodes[..] } else { &[] };
        std::fs::write(at(&format!("t.{rank}.et")), file(nodes)).unwrap();
    }
    std::fs::write(at("groups.json"), "{\"even\": [0, 2]}").unwrap();
    let groups = format!("'{}'", at("groups.json"));
    let outcome = run(&at("t"), &crossbar(4), &[("groups", &groups)]);
    assert!((us(&outcome) - 202.0).abs() < 1e-6);
    std::fs::write(at("groups.json"), "{\"even\": [0, 1.5]}").unwrap();
    let mistakes = loaded(&at("t"), &crossbar(4), &[("groups", &groups)]).err().unwrap();
    assert!(mistakes.contains("groups.json: line 1, column 16: no list of ranks"), "{mistakes}");
    std::fs::write(at("groups.json"), "{\"even\": [0, 1]}").unwrap();
    let mistakes = loaded(&at("t"), &crossbar(4), &[("groups", &groups)]).err().unwrap();
    assert!(mistakes.contains("rank 2 is not in group `even`, ranks [0, 1]"), "{mistakes}");
}

#[test]
fn a_trace_that_is_cut_off_anywhere_is_a_mistake_or_a_whole_number_of_nodes() {
    let whole = file(&[
        compute(1, 10).attribute("num_ops", 9, 77).data(&[0]),
        collective(2, 0, 8).text("pg_name", "0"),
        node(3, 5).attribute("comm_dst", 7, 0).attribute("comm_size", 17, 12),
    ]);
    let mut complete = 0;
    for end in 0..=whole.len() {
        match program(&[whole[..end].to_vec()], Rules::default()) {
            Ok(_) => complete += 1,
            Err(mistakes) => assert!(mistakes.contains("t.0.et, byte "), "{mistakes}"),
        }
    }
    // After the metadata, and after each of the three nodes.
    assert_eq!(complete, 4);
}

fn wire_bytes() -> impl Strategy<Value = Vec<u8>> {
    let nodes = prop::collection::vec(
        (0_u64..6, 0_u64..9, prop::collection::vec(0_u64..8, 0..4), any::<bool>(), 0_u64..11, any::<u16>()),
        0..8,
    );
    let drawn = (nodes, prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4));
    drawn.prop_map(|(nodes, changes)| {
        let nodes: Vec<Message> = nodes
            .into_iter()
            .map(|(id, kind, data, control, called, size)| {
                let message = node(id, kind).data(&data).attribute("comm_type", 9, called);
                let message = message.attribute("comm_size", 13, size.into()).attribute("comm_dst", 7, 0);
                if control { message.number(4, size.into()) } else { message }
            })
            .collect();
        let mut bytes = file(&nodes);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_a_program_or_a_mistake(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(mistakes) = program(&[bytes], Rules::default()) {
            prop_assert!(!mistakes.is_empty());
        }
    }

    #[test]
    fn mangled_nodes_are_a_program_or_a_mistake(bytes in wire_bytes(), other in wire_bytes()) {
        for rules in [Rules::default(), Rules { ranks: Some(3), ..Rules::default() }] {
            let files = if rules.ranks.is_some() { vec![bytes.clone()] } else { vec![bytes.clone(), other.clone()] };
            if let Err(mistakes) = program(&files, rules) {
                prop_assert!(mistakes.contains("t.") || mistakes.contains("need"), "{}", mistakes);
            }
        }
    }
}

/// Writes all ranks of a program.
fn written(program: &Program) -> Vec<Vec<u8>> {
    let of_rank = |rank| {
        let mut bytes = Vec::new();
        write(program, rank, &mut bytes).unwrap();
        bytes
    };
    program.rank_ids().map(of_rank).collect()
}

#[test]
fn a_program_survives_writing_and_reading() {
    let sources = Sources::default();
    let schedule = "num_ranks 2\nrank 0 {\na: calc 1500\ns: send 1000000b to 1 tag 3\nc: calc 7 cpu 1\ns requires a\n\
                    c irequires s\n}\nrank 1 {\nr: recv 1000000b from 0 tag 3\nd: calc 2000\nd requires r\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let goal = folder.path().join("x.goal");
    std::fs::write(&goal, schedule).unwrap();
    let trace = Trace::open(&sources, &goal.to_str().unwrap().to_owned().into()).unwrap();
    let once = written(&trace.program(Options::default()).unwrap());
    // 1.5 us, 1 us and 100 us of the message, 2 us.
    assert!((us(&played(&once, &[])) - 104.5).abs() < 1e-9);
    let again = written(&program(&once, Rules::default()).unwrap());
    // Streams have got the numbers of their processors.
    assert_eq!(again, written(&program(&again, Rules::default()).unwrap()));
    assert!((us(&played(&again, &[])) - 104.5).abs() < 1e-9);
    // Collectives, their groups and roots.
    let definition = Message::default().bytes(1, b"['[{\"pg_name\": \"7\", \"ranks\": [2, 0]}]']");
    let groups = node(0, 1).bytes(2, b"process_group:init").bytes(8, &definition.0);
    let calls = |rank: u64| {
        let mut nodes = vec![groups.clone(), compute(1, 3)];
        let all = (0..10).map(|kind| collective(2 + kind, kind, 12_000).attribute("comm_root", 7, 1).data(&[1 + kind]));
        nodes.extend(all);
        if rank != 1 {
            nodes.push(collective(12, 5, 5_000).text("pg_name", "7").attribute("comm_root", 7, 0).data(&[11]));
        }
        file(&nodes)
    };
    let files: Vec<_> = (0..3).map(calls).collect();
    let first = program(&files, Rules::default()).unwrap();
    let (once, second) = (written(&first), program(&written(&first), Rules::default()).unwrap());
    assert_eq!(first.collective_calls(), second.collective_calls());
    assert!((us(&played(&files, &[])) - us(&played(&once, &[]))).abs() < 1e-9);
    let calls = |program: &Program| {
        let ops = program.iter().flat_map(|(_, rank)| &rank.ops).map(|op| op.action());
        let number = |action| if let Action::Collective(number) = action { Some(number) } else { None };
        ops.filter_map(number).map(|number| program.collectives[number as usize].clone()).collect::<Vec<_>>()
    };
    assert_eq!(calls(&first), calls(&second));
}
