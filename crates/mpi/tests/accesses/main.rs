//! Compares the table of arguments with calls: the bytes that MPI changes, in C and both interfaces of
//! Fortran.
//!
//! Each argument that is an address points to memory of its own, in front of a page that cannot be accessed.
//! The length of this memory is that of the standard, given with the case. Each call is made twice, over
//! different contents.

#![cfg(target_os = "linux")]

mod cases;
mod world;

use std::collections::BTreeSet;
use std::ffi::{CString, c_int};
use std::process::Command;

use hayase_mpi::Library;
use hayase_mpi::arguments::{Access, Argument, Count, Extent, Item, Language, Use, function, functions};
use hayase_needs::{Need, is_there, missing};

use crate::cases::{Arguments, cases};
use crate::world::{Block, Value, World, call};

/// Variable that names the MPI which the processes of [`calls_of_a_process`] use.
const VARIABLE: &str = "HAYASE_MPI_ACCESSES";

/// An MPI: its word in the names of commands, its library, and its libraries of Fortran with the suffixes of
/// symbols.
struct Mpi {
    word: &'static str,
    library: &'static str,
    fortran: [(&'static str, &'static [&'static str]); 2],
}

const MPIS: [Mpi; 2] = [
    Mpi {
        word: "openmpi",
        library: "libmpi.so.40",
        fortran: [("libmpi_mpifh.so.40", &["_"]), ("libmpi_usempif08.so.40", &["_f08_"])],
    },
    Mpi {
        word: "mpich",
        library: "libmpich.so.12",
        fortran: [("libmpichfort.so.12", &["_"]), ("libmpichfort.so.12", &["_f08ts_", "_f08_"])],
    },
];

/// Functions that no case calls: they end the process, or need a file or a name server.
const LEFT_OUT: [&str; 22] = [
    "Abort",
    "Close_port",
    "File_c2f",
    "File_call_errhandler",
    "File_create_errhandler",
    "File_f2c",
    "File_get_errhandler",
    "File_set_errhandler",
    "Finalize",
    "Grequest_complete",
    "Init",
    "Init_thread",
    "Lookup_name",
    "Open_port",
    "Pcontrol",
    "Publish_name",
    "Sizeof",
    "Status_c2f08",
    "Status_f082c",
    "Status_f082f",
    "Status_f2f08",
    "Unpublish_name",
];

fn run(mpi: &Mpi) {
    let launcher = format!("mpirun.{}", mpi.word);
    if !is_there(&launcher) {
        return;
    }
    let mut command = Command::new("timeout");
    command.args(["120", &launcher, "-n", "2"]);
    if mpi.word == "openmpi" {
        command.arg("--oversubscribe");
    }
    command.arg(std::env::current_exe().unwrap()).args(["--ignored", "--exact", "calls_of_a_process", "--nocapture"]);
    command.env(VARIABLE, mpi.word).env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, failed) = (text(&output.stdout), text(&output.stderr));
    let end: Vec<_> = said.lines().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect();
    assert!(output.status.success() && said.contains("all calls were as told"), "{}\n{failed}", end.join("\n"));
}

#[test]
fn calls_of_open_mpi_change_what_the_table_says() {
    run(&MPIS[0]);
}

#[test]
fn calls_of_mpich_change_what_the_table_says() {
    run(&MPIS[1]);
}

/// Makes all calls in this process, one of two that [`run`] starts.
#[test]
#[ignore = "a process of other tests"]
fn calls_of_a_process() {
    let word = std::env::var(VARIABLE).unwrap_or_default();
    let Some(mpi) = MPIS.iter().find(|mpi| mpi.word == word) else { return };
    let library = Library::open(mpi.library).unwrap();
    let world = World::new(&library);
    let mut called: BTreeSet<&str> = check_language(&world, &["C"]);
    for (name, ends) in mpi.fortran {
        let path = CString::new(name).unwrap();
        // SAFETY: the name ends with a zero; the library belongs to the MPI that is loaded.
        if unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) }.is_null() {
            missing(Need::Mpi, &format!("there is no {name}"));
            continue;
        }
        let of_fortran = check_language(&world, ends);
        // Removed functions, and those that convert handles, are not in `mpi_f08`.
        assert!(of_fortran.len() > 170, "{ends:?}: {} functions", of_fortran.len());
        called.extend(of_fortran);
    }
    let described = functions().iter().filter(|function| !function.opaque).map(|function| function.name);
    let left_out: Vec<_> = described.filter(|name| !called.contains(name) && !converts(name)).collect();
    let unexpected: Vec<_> = left_out.iter().filter(|name| !LEFT_OUT.contains(name)).collect();
    assert!(unexpected.is_empty(), "no case calls {unexpected:?}");
    world.c("Win_free", &[&raw const world.window as usize]);
    world.c("Finalize", &[]);
    println!("all calls were as told");
}

/// Returns true for functions that convert handles, which are macros in MPICH.
fn converts(name: &str) -> bool {
    name.ends_with("_c2f") || name.ends_with("_f2c")
}

/// Makes the calls of all cases in one language, and returns the functions that were called.
fn check_language<'a>(world: &World<'a>, ends: &[&str]) -> BTreeSet<&'a str> {
    let mut called = BTreeSet::new();
    for (name, arguments) in cases() {
        let symbols = ends.iter().map(|end| match *end {
            "C" => format!("MPI_{name}"),
            end => format!("mpi_{}{end}", name.to_ascii_lowercase()),
        });
        let mut symbols = symbols.map(|symbol| (world.address(&symbol), symbol));
        let Some((address, symbol)) = symbols.find(|(address, _)| *address != 0) else { continue };
        println!("{} {symbol}", world.rank);
        let [first, second] = [0xa5, 0x5a].map(|fill| check_call(world, &symbol, address, &arguments, fill));
        for (i, (first, second)) in first.into_iter().zip(second).enumerate() {
            assert!(first || second, "{symbol}: argument {i} was not written");
        }
        called.insert(function(&symbol).unwrap().0.name);
    }
    called
}

/// Makes one call over memory that holds `fill`, and compares its changes with the table.
///
/// Returns true for each argument that was changed, or that the table does not list as written.
fn check_call(world: &World<'_>, symbol: &str, address: usize, arguments: &Arguments, fill: u8) -> Vec<bool> {
    let (function, language) = function(symbol).unwrap();
    let values = arguments(world);
    assert_eq!(values.len(), function.arguments.len(), "{symbol}");
    let blocks: Vec<Block> = values.iter().map(|value| Block::new(world, value, language, fill)).collect();
    let descriptors = language == Language::Descriptors;
    let word = |(block, argument): (&Block, &Argument)| {
        if descriptors && argument.used.is_choice() { block.descriptor() } else { block.word }
    };
    let mut words: Vec<usize> = blocks.iter().zip(&function.arguments).map(word).collect();
    let error = Block::new(world, &Value::Out(Item::Int, 1), language, fill);
    if language != Language::C {
        words.extend((!function.returns_value).then_some(error.word));
        words.extend(values.iter().zip(&blocks).filter(|(value, _)| value.is_text()).map(|(_, block)| block.length));
    }

    let mut told = Vec::new();
    // SAFETY: the words are those of a call that is made below.
    let known = unsafe {
        world.calls.accesses(function, language, &|i| words[i], &mut |access, at, bytes| told.push((access, at, bytes)))
    };
    assert!(known, "{symbol}");
    let before: Vec<_> = blocks.iter().map(Block::contents).collect();
    let result = call(address, &words);
    if language == Language::C && !function.returns_value {
        assert_eq!(result as c_int, 0, "{symbol}");
    }
    if language != Language::C && !function.returns_value {
        // An address does not fit into the 4 bytes that Fortran has for it.
        let fails = function.name == "Address";
        assert!(error.contents()[error.start..] == [0; 4] || fails, "{symbol} fails");
        assert_eq!(told.pop(), Some((Access::Writes, error.word, 4)), "{symbol}");
    }
    let mut changed = Vec::new();
    for (i, (block, before)) in blocks.iter().zip(before).enumerate() {
        let place = format!("{symbol}: argument {i}, {:?}", function.arguments[i].used);
        let after = block.contents();
        let access = match function.arguments[i].used.within(language) {
            Use::Memory(Access::Reads, Extent { item: Item::Byte, count: Count::Constant(0) }) => Access::Reads,
            Use::Memory(access, _) if block.length == 0 && access != Access::Frees => access,
            Use::Memory(access, _) => {
                let position = told.iter().position(|told| *told == (access, block.address, block.length));
                let Some(position) = position else {
                    panic!(
                        "{place}: {access:?} of {} bytes at {:#x} is not among {told:x?}",
                        block.length, block.address
                    );
                };
                told.remove(position);
                access
            }
            Use::Buffer(access) => access,
            _ => Access::Reads,
        };
        assert_eq!(after[..block.start], before[..block.start], "{place}: written before its begin");
        let same = after == before;
        assert!(same || access != Access::Reads, "{place}: is written");
        let written =
            matches!(function.arguments[i].used, Use::Memory(..)) && matches!(access, Access::Writes | Access::Updates);
        changed.push(!same || !written || block.length == 0 || world::may_stay(function.name, i));
    }
    assert!(told.is_empty(), "{symbol}: {told:x?}");
    world.after(function.name);
    changed
}
