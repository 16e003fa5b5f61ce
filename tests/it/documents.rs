//! Documents: every page is in the book, every link leads somewhere.

use std::fs;

use super::house::{self, root, shown};

/// Documents that are checked in addition to the pages of docs/.
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
    pages().into_iter().chain(BESIDE_DOCS.iter().map(|&name| name.to_owned())).collect()
}

/// Returns the pages of the book.
fn pages() -> Vec<String> {
    house::files(&root().join("docs"), "md").iter().map(|page| shown(page)).collect()
}

#[test]
fn every_page_is_in_the_book_once() {
    let book = read("mkdocs.yml");
    let listed: Vec<&str> = book.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
    for page in pages() {
        let name = page.strip_prefix("docs/").unwrap();
        assert_eq!(listed.iter().filter(|entry| **entry == name).count(), 1, "{page} in the nav of mkdocs.yml");
    }
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

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap()
}

/// Returns the anchor of a heading.
fn anchor(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#');
    if heading.len() == line.len() || !heading.starts_with(' ') {
        return None;
    }
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect())
}
