//! Compares the table of constants with the headers and the libraries of the MPIs on this machine.

#![cfg(target_os = "linux")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::process::Command;

use hayase_mpi::{Abi, Family, Functions, Library, NotFound, Status};
use hayase_needs::{Need, is_there, missing};

/// Compiles and runs `probe.c`; returns its output, by name. `None` if this MPI is not installed.
fn probe(mpi: &str, symbols: &[String]) -> Option<Vec<(String, String)>> {
    let binary = std::env::temp_dir().join(format!("hayase-mpi-probe-{mpi}-{}", std::process::id()));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/probe.c");
    let compiler = format!("mpicc.{mpi}");
    if !is_there(&compiler) {
        return None;
    }
    let status = Command::new(&compiler).arg("-o").arg(&binary).args([source, "-ldl"]).status().unwrap();
    assert!(status.success(), "{compiler} does not compile the probe");
    let output = Command::new("timeout")
        .args(["60", &format!("mpirun.{mpi}"), "-n", "1"])
        .arg(&binary)
        .args(symbols)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output()
        .unwrap();
    let _ = std::fs::remove_file(&binary);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let pairs = text.lines().filter_map(|line| line.split_once(' ')).map(|(a, b)| (a.to_owned(), b.to_owned()));
    Some(pairs.collect())
}

fn bytes(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// Compares the table with the header and with the library's output.
fn check(said: &[(String, String)], abi: &Abi) {
    let all: BTreeMap<&str, &str> = said.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let number = |name: &str| all[name].parse::<i64>().unwrap_or_else(|_| panic!("{name}: {}", all[name]));
    for (name, value) in [
        ("status.size", abi.status.size as i64),
        ("status.source", abi.status.source as i64),
        ("status.tag", abi.status.tag as i64),
        ("status.error", abi.status.error as i64),
        ("handle_size", abi.handle_size as i64),
        ("any_source", abi.any_source.into()),
        ("any_tag", abi.any_tag.into()),
        ("proc_null", abi.proc_null.into()),
        ("root", abi.root.into()),
        ("undefined", abi.undefined.into()),
        ("err_other", abi.err_other.into()),
        ("cart", abi.cart.into()),
        ("graph", abi.graph.into()),
        ("dist_graph", abi.dist_graph.into()),
        ("in_place", abi.in_place as i64),
        ("bottom", abi.bottom as i64),
        ("status_ignore", abi.status_ignore as i64),
        ("statuses_ignore", abi.status_ignore as i64),
        ("thread_multiple", 3),
    ] {
        assert_eq!(number(name), value, "{name}");
    }

    let handles = [
        ("comm_world", abi.comm_world),
        ("comm_self", abi.comm_self),
        ("comm_null", abi.comm_null),
        ("group_null", abi.group_null),
        ("request_null", abi.request_null),
        ("message_null", abi.message_null),
        ("message_no_proc", abi.message_no_proc),
        ("info_null", abi.info_null),
        ("op_null", abi.op_null),
        ("datatype_null", abi.datatype_null),
        ("byte", abi.byte),
        ("packed", abi.packed),
        ("char", abi.char),
        ("int", abi.int),
        ("double", abi.double),
        ("long_long", abi.long_long),
    ];
    for (name, value) in handles {
        assert_eq!(number(name), value as i64, "{name}");
    }
    for (i, &operator) in abi.operators.iter().enumerate() {
        assert_eq!(number(&format!("op{i}")), operator as i64, "operator {i}");
    }

    let array = bytes(all["requests"]);
    let single: Vec<i64> =
        said.iter().filter(|(name, _)| name == "request").map(|(_, value)| value.parse().unwrap()).collect();
    assert_eq!((array.len(), single.len()), (6 * abi.handle_size, 6));
    for (i, &handle) in single.iter().enumerate() {
        // SAFETY: the array holds six handles.
        assert_eq!(unsafe { abi.read_handle(array.as_ptr().cast::<c_void>(), i) } as i64, handle);
    }

    let statuses = bytes(all["statuses"]);
    assert_eq!(statuses.len(), 6 * abi.status.size);
    for i in 0..3 {
        // SAFETY: the array holds six statuses.
        let Status { source, tag, bytes, cancelled, .. } = unsafe { abi.status(statuses.as_ptr().cast::<c_void>(), i) };
        assert_eq!((source, tag, bytes, cancelled), (0, 10 + i as i32, 5 + i as u64, false));
    }
    let cancelled = bytes(all["cancelled"]);
    // SAFETY: the bytes are a status.
    assert!(unsafe { abi.status(cancelled.as_ptr().cast::<c_void>(), 0) }.cancelled);
}

#[test]
fn the_table_is_that_of_the_header_and_of_the_library_of_mpich() {
    let Some(said) = probe("mpich", &[]) else { return };
    check(&said, &Abi::mpich());
}

/// Programs that are not position independent, and many that are, have copies of the library's objects. The
/// program knows an object by the address that `dlsym` finds in the whole process, not by the one in the
/// library.
#[test]
fn the_table_is_that_of_the_header_and_of_the_library_of_open_mpi() {
    let names = RefCell::new(Vec::new());
    let wanted = |name: &CStr| {
        names.borrow_mut().push(name.to_str().unwrap().to_owned());
        8 as *mut c_void
    };
    Abi::open_mpi(wanted).unwrap();
    let Some(said) = probe("openmpi", &names.into_inner()) else { return };
    let found = |name: &CStr| {
        let value = said.iter().find(|(said, _)| said.as_bytes() == name.to_bytes());
        value.unwrap().1.parse::<usize>().unwrap() as *mut c_void
    };
    check(&said, &Abi::open_mpi(found).unwrap());
}

#[test]
fn a_library_that_is_loaded_by_name_says_what_it_is() {
    let Some(library) = ["libmpi.so.40", "libmpi.so"].iter().find_map(|name| Library::open(name).ok()) else {
        missing(Need::Mpi, "there is no library of Open MPI");
        return;
    };
    assert_eq!(library.abi().family, Family::OpenMpi);
    assert!(library.version().starts_with("Open MPI v"), "{}", library.version());
    assert!(library.short_version().starts_with("Open MPI "), "{}", library.short_version());
    let functions = Functions::load(&library, "PMPI_");
    assert!(functions.missing().is_empty(), "{:?}", functions.missing());
    assert!(library.address(c"MPI_No_such_function").is_null());
    assert!(matches!(Library::open("/no/such/library.so"), Err(NotFound::Load(_))));
}
