//! Lists the files that `-t`, `-p`, `-m`, `--preset`, `--measured` and `llm` name: all files of their folders, built
//! into the program.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders, each with the constant that lists its files.
const FOLDERS: [(&str, &str); 7] = [
    ("topologies", "TOPOLOGIES"),
    ("machines", "MACHINES"),
    ("models", "MODELS"),
    ("patterns", "PATTERN_FILES"),
    ("presets", "PRESETS"),
    ("measured", "MEASURED"),
    ("measured/placement", "PLACEMENTS"),
];

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let (mut list, mut others) = (String::new(), String::new());
    for (folder, constant) in FOLDERS {
        println!("cargo:rerun-if-changed={folder}");
        // Tables of measured collectives are CSV; beside them are a description and the folder of placements.
        let text = if folder.starts_with("measured") { "csv" } else { "toml" };
        let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join(folder);
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        files.sort_by_key(|file| file.with_extension(""));
        let _ = writeln!(list, "const {constant}: &[LibraryEntry] = &[");
        for file in files {
            let name = |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
            if file.extension().is_some_and(|extension| extension == text) {
                let name = name(file.file_stem());
                let _ = writeln!(list, "    LibraryEntry {{ name: {name:?}, text: include_str!({file:?}) }},");
            } else if text == "toml" {
                let _ = writeln!(others, "    ({:?}, include_bytes!({file:?})),", name(file.file_name()));
            }
        }
        list.push_str("];\n");
    }
    let files = "/// Files that named patterns refer to, by their name.\npub(super) const FILES: BuiltIn = &[\n";
    let folder = env::var("OUT_DIR").unwrap_or_default();
    fs::write(Path::new(&folder).join("library.rs"), format!("{list}\n{files}{others}];\n"))
}
