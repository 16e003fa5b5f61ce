//! The documents, held against the code: every key is explained, every link leads somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// All pages of docs/, and these.
const BESIDE_DOCS: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benches/README.md",
    "benches/peers/booksim/README.md",
    "benches/peers/caminos/README.md",
    "benches/peers/htsim/README.md",
    "benches/peers/ns3/README.md",
    "benches/peers/simgrid/README.md",
    "crates/python/README.md",
    "examples/guide/README.md",
    "traces/README.md",
    "validation/README.md",
    "validation/advice/README.md",
    "validation/applications/README.md",
    "validation/capture/README.md",
    "validation/goal/README.md",
];

fn documents() -> Vec<String> {
    let pages =
        fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = pages.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    pages.chain(BESIDE_DOCS.iter().map(|&name| name.to_owned())).collect()
}

#[test]
fn the_formats_page_explains_every_key_and_every_choice_of_a_scenario() {
    let schema = serde_json::from_str(hayase::scenario::schema()).unwrap();
    let mut words = BTreeSet::new();
    keys(&schema, &mut words);
    assert!(words.len() > 50, "only {} words: has the schema another form?", words.len());
    let page = read("docs/formats.md");
    // As a key, as a text, as the name of a table, as a heading.
    let explained = |word: &String| {
        [format!("`{word}`"), format!("`\"{word}\"`"), format!(".{word}]`"), format!("\n### {word}\n")]
            .iter()
            .any(|form| page.contains(form))
    };
    let missing: Vec<&String> = words.iter().filter(|word| !explained(word)).collect();
    assert!(missing.is_empty(), "docs/formats.md does not mention {missing:?}");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for document in documents() {
        let text = read(&document);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => root().join(&document),
                file => root().join(&document).parent().unwrap().join(file),
            };
            let Ok(there) = fs::read_to_string(&path) else {
                broken.push(format!("{document}: {target} (no such file)"));
                continue;
            };
            if !heading.is_empty() && !there.lines().filter_map(anchor).any(|anchor| anchor == heading) {
                broken.push(format!("{document}: {target} (no such heading)"));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn the_documents_do_not_wait_for_anything() {
    for document in documents() {
        let text = read(&document);
        for mark in ["TODO", "TBD", "FIXME"] {
            assert!(!text.contains(mark), "{document} contains {mark}");
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap()
}

/// The names of all properties, and the words of all choices.
fn keys(schema: &serde_json::Value, words: &mut BTreeSet<String>) {
    match schema {
        serde_json::Value::Object(map) => {
            if let Some(serde_json::Value::Object(properties)) = map.get("properties") {
                words.extend(properties.keys().cloned());
            }
            for choices in [map.get("enum"), map.get("const")].into_iter().flatten() {
                let list = choices.as_array().cloned().unwrap_or_else(|| vec![choices.clone()]);
                words.extend(list.iter().filter_map(|word| word.as_str().map(str::to_owned)));
            }
            map.values().for_each(|value| keys(value, words));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, words)),
        _ => {}
    }
}

/// The name by which a heading can be linked to.
fn anchor(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#');
    if heading.len() == line.len() || !heading.starts_with(' ') {
        return None;
    }
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect())
}
