//! Compares the table of arguments with the headers, the libraries of Fortran and the recorder.

#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use hayase_mpi::arguments::{Access, Extent, Function, Item, LIMITS, Language, Use, function, functions};
use hayase_needs::{Need, is_there, missing};

const MPIS: [&str; 2] = ["openmpi", "mpich"];

/// Returns the header of an MPI after the preprocessor, together with the expanded `text`. `None` if there is
/// no such MPI.
fn preprocessed(mpi: &str, text: &str) -> Option<String> {
    let compiler = format!("mpicc.{mpi}");
    if !is_there(&compiler) {
        return None;
    }
    let source = std::env::temp_dir().join(format!("hayase-arguments-{mpi}-{}-{}.c", std::process::id(), text.len()));
    std::fs::write(&source, format!("#include <mpi.h>\n{text}")).unwrap();
    let output = Command::new(&compiler).args(["-E", "-P"]).arg(&source).output().unwrap();
    let _ = std::fs::remove_file(&source);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Returns the functions that a header declares, without `MPI_`, with the types of their arguments.
fn prototypes(header: &str) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for statement in header.split(';').map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")) {
        let name = |at: usize| statement[at + 5..].split_once('(').map(|(name, after)| (name.trim(), after));
        let mut candidates = statement.match_indices(" MPI_").filter_map(|(at, _)| name(at));
        let Some((name, after)) = candidates.find(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
        else {
            continue;
        };
        if statement.contains("typedef") {
            continue;
        }
        let (mut depth, mut arguments) = (1, vec![String::new()]);
        for letter in after.chars() {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            match letter {
                _ if depth == 0 => break,
                ',' if depth == 1 => arguments.push(String::new()),
                _ => arguments.last_mut().unwrap().push(letter),
            }
        }
        arguments.retain(|argument| !["", "void", "..."].contains(&argument.trim()));
        found.insert(name.to_owned(), arguments);
    }
    found
}

/// Functions that occur only as arguments of others, so that programs do not call them.
const CALLBACKS: [&str; 1] = ["DUP_FN"];

/// Arguments that headers declare without `const`, although they are only read.
const NOT_CONST: [(&str, usize); 9] = [
    ("Cancel", 0),
    ("Address", 0),
    ("Group_range_incl", 2),
    ("Group_range_excl", 2),
    ("Type_hindexed", 1),
    ("Type_hindexed", 2),
    ("Type_struct", 1),
    ("Type_struct", 2),
    ("Type_struct", 3),
];

/// Asserts that an argument of this type allows its use in the table.
fn check(function: &Function, index: usize, text: &str) {
    let text = text.replace("restrict", "");
    let used = function.arguments[index].used;
    let place =
        format!("MPI_{}: {} is {used:?}, and `{text}` in the header", function.name, function.arguments[index].name);
    let wide = ["MPI_Aint", "MPI_Count", "MPI_Offset"].iter().any(|name| text.contains(name));
    if !text.contains(['*', '[']) {
        assert_eq!(used, Use::Value(if wide { Item::Address } else { Item::Int }), "{place}");
        return;
    }
    let (access, item) = match used {
        Use::Callback => return assert!(text.contains("_function"), "{place}"),
        // An address that MPI passes to callbacks or returns.
        Use::Value(Item::Address) => return assert!(text.contains("void *"), "{place}"),
        Use::Buffer(access) => (access, Item::Byte),
        Use::Memory(access, Extent { item, .. }) => (access, item),
        Use::Value(_) | Use::Opaque => panic!("{place}"),
    };
    let wanted: &[Item] = match () {
        () if text.contains("void") => &[Item::Byte, Item::Element(0), Item::Pointer],
        // The arguments of the program.
        () if text.contains("char **") => &[Item::Pointer],
        () if text.contains("char") => &[Item::Character],
        () if wide => &[Item::Address],
        // In C a status of Fortran is an array of numbers.
        () if ["MPI_Status", "MPI_F08_status", "f_status"].iter().any(|name| text.contains(name)) => &[Item::Status],
        () if text.contains("MPI_") => &[Item::Handle],
        () => &[Item::Int],
    };
    let item = if let Item::Element(_) = item { Item::Element(0) } else { item };
    assert!(wanted.contains(&item), "{place}");
    if text.contains("const") {
        assert_eq!(access, Access::Reads, "{place}");
    } else {
        assert!(access != Access::Reads || NOT_CONST.contains(&(function.name, index)), "{place}");
    }
}

#[test]
fn every_function_of_a_header_is_in_the_table_with_uses_that_its_types_allow() {
    for header in MPIS.iter().filter_map(|mpi| preprocessed(mpi, "")) {
        let found = prototypes(&header);
        assert!(found.len() > 380, "{} functions", found.len());
        for (name, types) in found.iter().filter(|(name, _)| !CALLBACKS.contains(&name.as_str())) {
            let Some((function, Language::C)) = function(&format!("MPI_{name}")) else {
                panic!("MPI_{name} is not in the table");
            };
            assert_eq!(function.name, name);
            if !function.opaque {
                assert_eq!(function.arguments.len(), types.len(), "MPI_{name}: {types:?}");
                types.iter().enumerate().for_each(|(i, text)| check(function, i, text));
            }
        }
    }
}

#[test]
fn the_table_has_no_function_twice_and_none_that_no_header_declares() {
    let headers: Vec<_> = MPIS.iter().filter_map(|mpi| preprocessed(mpi, "")).map(|text| prototypes(&text)).collect();
    let mut seen = BTreeSet::new();
    for row in functions() {
        assert!(seen.insert((row.name, row.fortran)), "{} appears twice", row.name);
        // Functions of Fortran only.
        if headers.len() == MPIS.len() && !row.fortran && row.name != "F_sync_reg" {
            let declared = headers.iter().any(|header| header.contains_key(row.name));
            assert!(declared, "no header declares MPI_{}", row.name);
        }
    }
}

#[test]
fn texts_are_as_long_as_the_headers_allow() {
    let names: String = LIMITS.iter().map(|(name, ..)| format!("hayase {name} MPI_MAX_{name}\n")).collect();
    for (i, mpi) in MPIS.iter().enumerate() {
        let Some(text) = preprocessed(mpi, &names) else { continue };
        for (name, open_mpi, mpich) in LIMITS {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("hayase {name} "))).unwrap();
            // MPI_MAX_INFO_KEY counts the characters only.
            let wanted = line.trim().parse::<u16>().unwrap() + u16::from(name == "INFO_KEY");
            assert_eq!([open_mpi, mpich][i], wanted, "{mpi}: {name}");
        }
    }
}

/// Returns true for symbols that lead to no function of the table, for the reason given.
fn is_no_call(symbol: &str) -> bool {
    let name = symbol.trim_start_matches('p').trim_start_matches("mpi_").trim_end_matches('_');
    // Predefined callbacks, which are arguments of other functions.
    let callback = name.trim_end_matches("_f08").ends_with("_fn") || name.starts_with("conversion_fn_null");
    // Open MPI's C functions behind `mpi_send_`, which programs do not know; functions of MPI 4.1.
    callback || symbol.ends_with("_f") || symbol.contains("delete_error_")
}

#[test]
fn every_symbol_of_the_libraries_of_fortran_leads_to_a_function() {
    let folder = Path::new("/usr/lib/x86_64-linux-gnu");
    for library in
        ["libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40", "libmpichfort.so.12"]
    {
        let path = folder.join(library);
        if !path.exists() {
            missing(Need::Mpi, &format!("there is no {library}"));
            continue;
        }
        let output = Command::new("nm").args(["-D", "--defined-only"]).arg(path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let code = text.lines().filter_map(|line| line.split_once(" T ").or_else(|| line.split_once(" W ")));
        let symbols = code.map(|(_, symbol)| symbol.to_ascii_lowercase());
        let all: BTreeSet<_> =
            symbols.filter(|name| ["mpi_", "pmpi_", "pmpir_"].iter().any(|p| name.starts_with(p))).collect();
        assert!(all.len() > 300 || library.contains("tkr"), "{library}: {}", all.len());
        let lost: Vec<_> = all.iter().filter(|name| !is_no_call(name) && function(name).is_none()).collect();
        assert!(lost.is_empty(), "{library}: {lost:?}");
    }
}

#[test]
fn the_table_marks_the_functions_that_the_recorder_records() {
    let recorder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../recorder/src");
    let mut exported = BTreeSet::new();
    for file in std::fs::read_dir(recorder.join("calls")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        // Names in MPI stand before those of functions: `Send_init send_init(`; of a single symbol: `export!("Init", `.
        let words: Vec<_> = text.split_whitespace().map(|word| word.split(['(', ';']).next().unwrap()).collect();
        let is_name =
            |name: &str| name.starts_with(char::is_uppercase) && name.chars().all(|c| c == '_' || c.is_alphanumeric());
        let named = words.windows(2).filter(|pair| is_name(pair[0]) && pair[0].to_lowercase() == pair[1]);
        exported.extend(named.map(|pair| pair[0].to_owned()));
        exported.extend(text.split("export!(\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        // Lists of names, of calls with counts of 32 bits, of 64 bits, and both.
        for list in text.split("opaque! {").skip(1) {
            let mut names = list.split_once('}').unwrap().0.split_whitespace();
            let ends: &[&str] = match names.next() {
                Some("plain") => &[""],
                Some("large") => &["_c"],
                _ => &["", "_c"],
            };
            exported.extend(names.flat_map(|name| ends.iter().map(move |end| format!("{name}{end}"))));
        }
    }
    assert!(exported.len() > 150, "{exported:?}");
    for name in &exported {
        let (function, _) =
            function(&format!("MPI_{name}")).unwrap_or_else(|| panic!("MPI_{name} is not in the table"));
        assert!(function.recorded, "MPI_{name} is recorded");
    }
    for function in functions().iter().filter(|function| function.recorded) {
        assert!(exported.contains(function.name), "MPI_{} is not recorded", function.name);
    }
    let fortran = std::fs::read_to_string(recorder.join("fortran/mod.rs")).unwrap();
    let (_, list) = fortran.split_once("\nexport! {").unwrap();
    for name in list.split_once('}').unwrap().0.split_whitespace() {
        let (function, _) =
            function(&format!("mpi_{name}_")).unwrap_or_else(|| panic!("mpi_{name}_ is not in the table"));
        // Its callers are noted, but the calls are not recorded.
        assert!(function.recorded || name == "alltoallw_init", "mpi_{name}_ is recorded");
    }
}
