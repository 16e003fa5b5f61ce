use super::*;
use crate::diagnostic::Invalid;
use crate::fabric::LinkRole;
use crate::ids::VertexId;

fn build_with(text: &str, change: impl FnOnce(&mut InfragraphSpec)) -> Result<Fabric, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("g.yaml");
    std::fs::write(&file, text).unwrap();
    let file = file.display().to_string().into();
    let mut spec = InfragraphSpec { file, nodes: None, bandwidth: None, latency: None, transfer: None };
    change(&mut spec);
    let mut sources = Sources::default();
    spec.build(&mut sources).map_err(|diagnostics| {
        let folder = format!("{}/", folder.path().display());
        Invalid { diagnostics, sources }.lines().replace(&folder, "")
    })
}

fn build(text: &str) -> Result<Fabric, String> {
    build_with(text, |spec| spec.bandwidth = Some(Bandwidth::from_bytes_per_second(1e9).into()))
}

/// Returns the cables, each once.
fn cables(fabric: &Fabric) -> Vec<String> {
    let links = fabric.links().iter_ids().step_by(2);
    links.map(|(id, link)| format!("{}: {}, {}", fabric.link_name(id), link.capacity, link.latency)).collect()
}

/// Server of 8 accelerators behind a switch, two of them on a card, and a switch for the cards of all
/// servers.
const SERVERS: &str = "\
name: two servers
devices:
- name: server
  components:
  - {name: xpu, count: 8, choice: xpu, xpu: {}}
  - {name: nvsw, count: 1, choice: switch}
  - {name: nic, count: 4, choice: nic}
  links:
  - name: nvlink
    physical:
      bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 450}
      latency: {choice: ns, ns: 300}
  - name: pcie
    physical: {bandwidth: {choice: gigatransfers_per_second, gigatransfers_per_second: 16}}
  edges:
  - {ep1: {component: xpu}, ep2: {component: 'nvsw[0]'}, scheme: many2many, link: nvlink}
  - {ep1: {component: 'xpu[0:8:2]'}, ep2: {component: nic}, scheme: one2one, link: pcie}
  - {ep1: {component: 'xpu[1::2]'}, ep2: {component: nic}, scheme: one2one, link: pcie}
- name: leaf
  components:
  - name: asic
    count: 1
    custom: {type: tomahawk}
  links: []
  edges: []
instances:
- {name: server, device: server, count: 2}
- {name: leaf, device: leaf, count: 1}
links:
- name: eth
  physical:
    bandwidth: {gigabits_per_second: 400}
    latency: {choice: us, us: 0.5}
edges:
- {ep1: {instance: 'server[0:2]', component: 'nic[0:4]'}, ep2: {instance: leaf, component: asic}, scheme: many2many, link: eth}
";

#[test]
fn servers_of_accelerators_behind_a_switch() {
    let fabric = build_with(SERVERS, |spec| spec.transfer = Some(Bytes(2).into())).unwrap();
    assert_eq!((fabric.nodes(), fabric.switches(), fabric.name()), (16, 11, "infragraph two servers"));
    assert_eq!(fabric.links().len(), 2 * (16 + 16 + 8));
    assert_eq!(fabric.vertex_name(VertexId(11)), "server.1.xpu.3");
    assert_eq!(fabric.vertex_name(VertexId(26)), "leaf.0.asic.0");
    // xpu, nic, leaf, nic, xpu.
    assert_eq!(fabric.search_diameter(), Some(4));
    let cables = cables(&fabric);
    for cable in [
        "server.0.xpu.0 -> server.0.nvsw.0: 450 GB/s, 300 ns",
        "server.1.xpu.6 -> server.1.nic.3: 32 GB/s, 0 ps",
        "server.1.xpu.7 -> server.1.nic.3: 32 GB/s, 0 ps",
        "server.1.nic.2 -> leaf.0.asic.0: 50 GB/s, 500 ns",
    ] {
        assert!(cables.iter().any(|there| there == cable), "{cable} in {cables:#?}");
    }
    let injection = fabric.links().iter_ids().filter(|(_, link)| link.role == LinkRole::Injection).count();
    assert_eq!(injection, 32);
}

#[test]
fn other_components_can_be_the_nodes() {
    let with = |nodes: &str| {
        build_with(SERVERS, |spec| {
            spec.transfer = Some(Bytes(2).into());
            spec.nodes = Some(nodes.to_owned().into());
        })
    };
    assert_eq!(with("nic").unwrap().nodes(), 8);
    assert_eq!(with("nvsw").unwrap().nodes(), 2);
    assert_eq!(with("tomahawk").unwrap().nodes(), 1);
    let mistake = with("memory").unwrap_err();
    assert!(mistake.contains("there are: xpu, switch, nic, tomahawk"), "{mistake}");
}

/// Returns a device of `count` accelerators and two switches with these `edges`.
fn device(count: u64, edges: &str) -> String {
    format!(
        "devices:\n- name: d\n  components:\n  - {{name: xpu, count: {count}, choice: xpu}}\n  \
         - {{name: sw, count: 2, choice: switch}}\n  links: [{{name: l}}]\n  edges:\n{edges}\
         instances: [{{name: i, device: d, count: 1}}]\n"
    )
}

fn edge(first: &str, second: &str, scheme: &str) -> String {
    format!("  - {{ep1: {{component: '{first}'}}, ep2: {{component: '{second}'}}, scheme: {scheme}, link: l}}\n")
}

/// Returns the cables of one edge, without the common part of their names.
fn joined(first: &str, second: &str, scheme: &str) -> String {
    let fabric = build(&device(5, &edge(first, second, scheme))).unwrap();
    cables(&fabric).join(" ").replace("i.0.", "").replace(": 1 GB/s, 0 ps", "").replace("xpu.", "").replace(" -> ", "-")
}

#[test]
fn schemes_join_what_slices_choose() {
    assert_eq!(joined("xpu[0:2]", "sw", "one2one"), "0-sw.0 1-sw.1");
    assert_eq!(joined("xpu", "sw", "one2one"), "0-sw.0 1-sw.1", "as far as the shorter list goes");
    assert_eq!(joined("xpu[3:]", "sw", "many2many"), "3-sw.0 3-sw.1 4-sw.0 4-sw.1");
    assert_eq!(joined("xpu[:3]", "xpu[:3]", "many2many"), "0-1 0-2 1-2", "each pair once, none with itself");
    assert_eq!(joined("xpu", "xpu", "ring"), "0-1 0-4 1-2 2-3 3-4");
    assert_eq!(joined("xpu[0:2]", "sw[0]", "ring"), "0-1 0-sw.0 1-sw.0");
    assert_eq!(joined("xpu[0]", "xpu[1]", "ring"), "0-1", "a ring of two is one cable");
    assert_eq!(joined("xpu[4:2:-1]", "sw", "one2one"), "3-sw.1 4-sw.0");
    assert_eq!(joined("xpu[::4]", "sw[1]", "many2many"), "0-sw.1 4-sw.1");
}

#[test]
fn of_two_edges_between_the_same_vertices_the_later_holds() {
    let links = "links: [{name: l}, {name: m, physical: {bandwidth: {gigabytes_per_second: 7}}}]";
    let edges = edge("xpu", "sw[0]", "many2many") + &edge("sw[0]", "xpu[0]", "one2one").replace("link: l", "link: m");
    let fabric = build(&device(2, &edges).replace("links: [{name: l}]", links)).unwrap();
    assert_eq!(cables(&fabric), ["i.0.xpu.0 -> i.0.sw.0: 7 GB/s, 0 ps", "i.0.xpu.1 -> i.0.sw.0: 1 GB/s, 0 ps"]);
}

#[test]
fn devices_are_parts_of_devices() {
    let text = "\
infrastructure:
  devices:
  - name: host
    components:
    - {name: card, count: 2, choice: device, device: {}}
    - {name: cpu, count: 1, choice: cpu}
    links: [{name: pcie}]
    edges: [{ep1: {component: cpu}, ep2: {device: card, component: chip}, scheme: many2many, link: pcie}]
  - name: card
    components: [{name: chip, count: 1, choice: nic}, {name: port, count: 2, choice: port}]
    links: [{name: ic}]
    edges: [{ep1: {component: chip}, ep2: {component: port}, scheme: many2many, link: ic}]
  instances: [{name: h, device: host, count: 3}]
  links: [{name: dac}]
  edges:
  - ep1: {instance: 'h[0:2]', component: 'card[1].port[0]'}
    ep2: {instance: 'h[1:3]', component: 'card[0].port[1]'}
    scheme: one2one
    link: dac
annotations: {nodes: []}
";
    let fabric = build(text).unwrap();
    assert_eq!((fabric.nodes(), fabric.switches()), (3, 18));
    assert_eq!(fabric.links().len(), 2 * (3 * (2 + 4) + 2));
    let cables = cables(&fabric).join("\n");
    assert!(cables.contains("h.1.card.1.port.0 -> h.2.card.0.port.1"), "{cables}");
}

/// Rail-optimised fabric: 3 servers of 4 accelerators, a leaf each rail, 2 spines.
#[test]
fn rails_are_as_those_of_the_family() {
    let text = "\
devices:
- name: server
  components: [{name: xpu, count: 4, choice: xpu}, {name: nvsw, count: 1, choice: switch}]
  links: [{name: nvlink}]
  edges: [{ep1: {component: xpu}, ep2: {component: nvsw}, scheme: many2many, link: nvlink}]
- &switch
  name: switch
  components: [{name: asic, count: 1, choice: switch}]
instances:
- {name: server, device: server, count: 3}
- {name: leaf, device: switch, count: 4}
- {name: spine, device: switch, count: 2}
links: [{name: rail}]
edges:
- {ep1: {instance: server, component: 'xpu[0]'}, ep2: {instance: 'leaf[0]', component: asic}, scheme: many2many, link: rail}
- {ep1: {instance: server, component: 'xpu[1]'}, ep2: {instance: 'leaf[1]', component: asic}, scheme: many2many, link: rail}
- {ep1: {instance: server, component: 'xpu[2]'}, ep2: {instance: 'leaf[2]', component: asic}, scheme: many2many, link: rail}
- {ep1: {instance: server, component: 'xpu[3]'}, ep2: {instance: 'leaf[3]', component: asic}, scheme: many2many, link: rail}
- {ep1: {instance: leaf, component: asic}, ep2: {instance: spine, component: asic}, scheme: many2many, link: rail}
";
    let fabric = build(text).unwrap();
    let rails = "servers = 3\ngpus = 4\nspines = 2\nbandwidth = '1 GB/s'\nnvlink-bandwidth = '1 GB/s'";
    let rails: crate::topology::RailsSpec = crate::reading::from_toml(rails).unwrap();
    let rails = rails.build(&mut Sources::default()).unwrap();
    assert_eq!((fabric.nodes(), fabric.switches()), (rails.nodes(), rails.switches()));
    assert_eq!(fabric.links().len(), rails.links().len());
    assert_eq!(fabric.search_diameter(), rails.search_diameter());
    assert!(fabric.search_diameter().is_some());
}

#[test]
fn a_unit_without_a_number_says_nothing() {
    let physical = "{name: l, physical: {bandwidth: {choice: gigatransfers_per_second}, latency: {choice: ns}}}";
    let fabric = build(&device(1, &edge("xpu", "sw", "one2one")).replace("{name: l}", physical)).unwrap();
    assert_eq!(cables(&fabric), ["i.0.xpu.0 -> i.0.sw.0: 1 GB/s, 0 ps"]);
}

#[test]
fn mistakes_have_their_places() {
    let told = |text: &str| build(text).unwrap_err();
    let slice = |first: &str| told(&device(5, &edge(first, "sw", "many2many")));
    insta::assert_snapshot!(slice("xpu[0:6]"), @"g.yaml:8:23: this slice of `xpu` chooses none, or more than there are (there are 5: from 0 to 4)");
    insta::assert_snapshot!(slice("xpu[3:1]"), @"g.yaml:8:23: this slice of `xpu` chooses none, or more than there are (there are 5: from 0 to 4)");
    insta::assert_snapshot!(slice("xpu[0:4:0]"), @"g.yaml:8:23: this slice of `xpu` chooses none, or more than there are (there are 5: from 0 to 4)");
    insta::assert_snapshot!(slice("xpu[a]"), @"g.yaml:8:23: `xpu[a]` is not a slice (a name, name[0], name[0:4] or name[0:8:2] is expected)");
    insta::assert_snapshot!(slice("gpu"), @"g.yaml:8:23: device `d` has no component `gpu` (one of its components: xpu, sw)");
    insta::assert_snapshot!(slice("xpu.core"), @"g.yaml:8:23: component `xpu` is not a device, and has no components (this is the last name of an end)");
    insta::assert_snapshot!(told(&device(5, &edge("xpu", "sw", "mesh"))), @"g.yaml:8:63: there is no scheme `mesh` (one of one2one, many2many, ring)");
    insta::assert_snapshot!(told(&device(5, &edge("xpu", "sw", "ring").replace("link: l", "link: k"))), @"g.yaml:8:75: there is no link `k` (one of the device's `links`)");
    insta::assert_snapshot!(told(&device(5, "").replace("device: d", "device: é")), @"g.yaml:8:31: there is no device `é` (the name of one of `devices`)");
    insta::assert_snapshot!(told(&device(5, "").replace("choice: xpu", "choice: gpu, tpye: 1")), @r"
    g.yaml:4:40: a component has no `tpye` (expected are name, description, count, choice, custom, device, cpu, xpu, nic, memory, port, switch)
    g.yaml:4:35: there is no kind of component `gpu` (one of cpu, xpu, nic, memory, port, switch, device, custom)
    ");
    insta::assert_snapshot!(told(&device(1 << 32, "")), @"g.yaml:4:24: `count` is not a number of components (a whole number up to 2147483647)");
    insta::assert_snapshot!(told("devices: [\n"), @"g.yaml:2:1: this is not YAML: while parsing a node, did not find expected node content (an InfraGraph is expected)");
    insta::assert_snapshot!(told(""), @"g.yaml:1:1: this file is empty (an InfraGraph is expected)");
    insta::assert_snapshot!(told("- 1"), @"g.yaml:1:1: an infrastructure is a mapping (keys with values are expected)");
    insta::assert_snapshot!(told("instances: *a"), @"g.yaml:1:12: this is not YAML: while parsing node, found unknown anchor (an InfraGraph is expected)");
    let itself = "devices: [{name: d, components: [{name: d, count: 2, choice: device}]}]\ninstances: []";
    insta::assert_snapshot!(told(itself), @"g.yaml:1:18: device `d` is a part of itself (leave out a component of the kind `device`)");
    insta::assert_snapshot!(build_with(SERVERS, |_| ()).unwrap_err(), @r#"g.yaml:14:88: nothing says what a transfer on link `pcie` carries (bytes per transfer are expected); give it, 2 B on 16 lanes: --set topology.infragraph.transfer="2 B""#);
    let none = build_with(&device(5, &edge("xpu", "sw", "many2many")), |_| ());
    insta::assert_snapshot!(none.unwrap_err(), @r#"g.yaml:6:18: link `l` has no bandwidth (physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 100}} is expected); or give all such links one: --set topology.infragraph.bandwidth="12.5 GB/s""#);
}

#[test]
fn what_is_too_large_takes_no_memory() {
    let told = |text: &str| build(text).unwrap_err();
    let huge = device(2_000_000_000, &edge("xpu", "xpu", "many2many"));
    assert!(told(&huge).contains("too large"), "{}", told(&huge));
    let pairs = device(4_000_000, &edge("xpu", "xpu", "many2many"));
    assert!(told(&pairs).contains("too large"), "{}", told(&pairs));
    let instances = device(1000, &edge("xpu", "sw", "many2many")).replace("count: 1}]", "count: 2147483647}]");
    assert!(told(&instances).contains("too large"), "{}", told(&instances));
    // Twelve levels of a hundred devices each.
    let mut levels = String::from("devices:\n- {name: d0, components: [{name: x, count: 100, choice: xpu}]}\n");
    for level in 1..12 {
        let inner = level - 1;
        levels += &format!("- {{name: d{level}, components: [{{name: d{inner}, count: 100, choice: device}}]}}\n");
    }
    levels += "instances: [{name: i, device: d11, count: 1}]\n";
    assert!(told(&levels).contains("too large"), "{}", told(&levels));
    // Many instances of a device without vertices.
    let nothing = device(0, "").replace("sw, count: 2", "sw, count: 0").replace("count: 1}]", "count: 2147483647}]");
    assert!(told(&nothing).contains("nowhere to send from"), "{}", told(&nothing));
    // Lists that aliases name again and again, and endless brackets.
    let items = "{name: x, count: 1, choice: xpu}, ".repeat(2000);
    let mut aliases = format!("devices:\n- {{name: a, components: &c [{items}]}}\n");
    for device in 0..2000 {
        aliases += &format!("- {{name: d{device}, components: *c}}\n");
    }
    assert!(told(&aliases).lines().count() <= 20);
    told(&"[".repeat(200_000));
    told(&"- ".repeat(100_000));
}
