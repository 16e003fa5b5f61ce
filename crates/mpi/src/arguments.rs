//! Arguments of MPI's functions: the memory that a call reads and writes.
//!
//! The table is `arguments.txt`, in the words of the standard (IN, OUT, INOUT). Its rows are those of C. In
//! Fortran the order is the same, each argument is an address, and the error code is written to one more
//! argument at the end.

use std::sync::LazyLock;

/// Size of memory: a number of items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Kind of one item.
    pub item: Item,
    /// Number of items, an upper bound.
    pub count: Count,
}

/// Kinds of items in memory. Numbers are indices of arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// One byte of a choice buffer.
    Byte,
    /// `int`, `INTEGER`, `LOGICAL`: 4 bytes.
    Int,
    /// `MPI_Aint`, `MPI_Count`, `MPI_Offset`: 8 bytes.
    Address,
    /// An address in the program: 8 bytes.
    Pointer,
    /// A handle: [`Abi::handle_size`](crate::Abi::handle_size) bytes in C, 4 in Fortran.
    Handle,
    /// A status: [`StatusLayout::size`](crate::StatusLayout::size) bytes, which may be that of an ignored status.
    Status,
    /// One character of a text; in Fortran the text has the length that is passed behind all arguments.
    Character,
    /// One element of the datatype in this argument, in a choice buffer.
    Element(u8),
}

/// Numbers of items. Numbers are indices of arguments, except in `Constant`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// This number.
    Constant(u16),
    /// Value of an argument (the 4 bytes that it points to if it is an address), times a number.
    Argument(u8, u16),
    /// Number of processes of the communicator; of its larger group if it has two.
    Processes(u8),
    /// Number of processes in the root, zero elsewhere.
    AtRoot {
        /// Communicator.
        comm: u8,
        /// Rank of the root.
        root: u8,
    },
    /// Number of neighbours in the topology of the communicator that send to this process.
    Sources(u8),
    /// Number of neighbours in the topology of the communicator that receive from this process.
    Destinations(u8),
    /// Number of dimensions of the grid of the communicator.
    Dimensions(u8),
    /// Last entry of an array of numbers.
    Last {
        /// The array.
        array: u8,
        /// Its length.
        length: u8,
    },
    /// Sum of the entries of an array of numbers.
    Sum {
        /// The array.
        array: u8,
        /// Its length.
        length: u8,
    },
    /// Characters up to and including a zero.
    Text,
    /// One of [`LIMITS`].
    #[allow(missing_docs, reason = "they are the names of libraries")]
    Limit { open_mpi: u16, mpich: u16 },
}

/// Longest texts that MPI writes, with the zero at their end, in Open MPI and MPICH \[B\]: `MPI_MAX_...`.
pub const LIMITS: [(&str, u16, u16); 6] = [
    ("OBJECT_NAME", 64, 128),
    ("PROCESSOR_NAME", 256, 128),
    ("ERROR_STRING", 256, 512),
    ("INFO_KEY", 37, 256),
    ("PORT_NAME", 1024, 256),
    ("LIBRARY_VERSION_STRING", 256, 8192),
];

/// Directions of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// IN.
    Reads,
    /// OUT: all or part of it may be written.
    Writes,
    /// INOUT.
    Updates,
    /// The call ends the life of the block at this address; MPI does not tell its size.
    Frees,
}

/// Use of an argument by a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// A number, a handle or an address that is not followed, by value in C. In Fortran one such item is
    /// read.
    Value(Item),
    /// Memory that is accessed before the call returns.
    Memory(Access, Extent),
    /// Buffer of a message, which the recorded event describes.
    Buffer(Access),
    /// A function that MPI calls later.
    Callback,
    /// Not known.
    Opaque,
}

/// An argument of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Name in the standard.
    pub name: &'static str,
    /// Use by a call from C.
    pub used: Use,
}

/// A function of MPI.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Name without `MPI_`.
    pub name: &'static str,
    /// Arguments, in order; nothing if the function is opaque.
    pub arguments: Vec<Argument>,
    /// True if the recorder makes an event of the call.
    pub recorded: bool,
    /// True if nothing is known of the accesses.
    pub opaque: bool,
    /// True if the result is a value and, in Fortran, no error code follows the arguments.
    pub returns_value: bool,
    /// True if the arguments are those of Fortran only.
    pub fortran: bool,
}

/// Conventions by which a function is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Numbers and handles by value.
    C,
    /// Every argument by address: `mpif.h`, `use mpi`, and `use mpi_f08` of Open MPI. The error code may be absent
    /// (a null pointer) in `mpi_f08`.
    Fortran,
    /// The same, but choice buffers are passed as descriptors of arrays, whose first word is the address:
    /// `use mpi_f08` of MPICH.
    Descriptors,
}

impl Use {
    /// Returns the use of the same argument in a language.
    pub fn within(self, language: Language) -> Self {
        match self {
            Self::Value(item) if language != Language::C => {
                Self::Memory(Access::Reads, Extent { item, count: Count::Constant(1) })
            }
            other => other,
        }
    }

    /// True if the argument is a choice buffer, which [`Language::Descriptors`] passes as a descriptor.
    pub fn is_choice(self) -> bool {
        matches!(self, Self::Buffer(_) | Self::Memory(_, Extent { item: Item::Byte | Item::Element(_), .. }))
    }
}

impl Function {
    /// Returns the uses of all words that a call passes, in order; nothing if the function is opaque.
    ///
    /// In Fortran the last is that of the error code; the lengths of texts follow it.
    pub fn words(&self, language: Language) -> impl Iterator<Item = Use> {
        let error = Use::Memory(Access::Writes, Extent { item: Item::Int, count: Count::Constant(1) });
        let behind = (language != Language::C && !self.returns_value && !self.opaque).then_some(error);
        self.arguments.iter().map(move |argument| argument.used.within(language)).chain(behind)
    }
}

/// Finds the function behind a symbol (`MPI_Wait`, `PMPI_Wait`, `mpi_wait_`, `mpi_wait_f08_`), and how it is called.
pub fn function(symbol: &str) -> Option<(&'static Function, Language)> {
    let c = |name: &str| TABLE.iter().find(|function| function.name == name && !function.fortran);
    if let Some(found) = symbol.strip_prefix("MPI_").or_else(|| symbol.strip_prefix("PMPI_")).and_then(c) {
        return Some((found, Language::C));
    }
    // `pmpir_`: MPICH's beneath `mpi_f08`.
    let lower = symbol.to_ascii_lowercase();
    let name = ["mpi_", "pmpi_", "pmpir_"].iter().find_map(|prefix| lower.strip_prefix(prefix))?.trim_end_matches('_');
    // Procedures behind one generic name: `mpi_sizeof_real64_r1_`, `mpi_alloc_mem_cptr_`.
    let name = if name.starts_with("sizeof_") { "sizeof" } else { name };
    // `_large`: counts of 8 bytes, which functions of C with `_c` have.
    let (name, large) = name.strip_suffix("_large").map_or((name, ""), |name| (name, "_c"));
    let (name, language) = match name.strip_suffix("_f08ts") {
        Some(name) => (name, Language::Descriptors),
        None => (name.strip_suffix("_f08").unwrap_or(name), Language::Fortran),
    };
    let name = format!("{}{large}", name.strip_suffix("_cptr").unwrap_or(name));
    let rows = || TABLE.iter().filter(|function| function.name.eq_ignore_ascii_case(&name));
    rows().find(|function| function.fortran).or_else(|| rows().next()).map(|function| (function, language))
}

/// Functions of the table, in its order.
pub fn functions() -> &'static [Function] {
    &TABLE
}

static TABLE: LazyLock<Vec<Function>> =
    LazyLock::new(|| include_str!("arguments.txt").lines().flat_map(read_line).collect());

/// Reads the functions of a line. What is not understood is opaque.
fn read_line(line: &'static str) -> Vec<Function> {
    let mut words = line.split('#').next().unwrap_or_default().split_whitespace().peekable();
    let fortran = words.next_if_eq(&"fortran").is_some();
    let opaque = words.next_if_eq(&"opaque").is_some();
    let row = |word: &'static str, arguments| Function {
        name: word.trim_start_matches(['*', '!']),
        arguments,
        recorded: word.contains('*'),
        opaque,
        returns_value: word.contains('!'),
        fortran,
    };
    if opaque {
        return words.map(|word| row(word, Vec::new())).collect();
    }
    let Some(first) = words.next() else { return Vec::new() };
    let names: Vec<_> = words.map(|word| word.split_once(':').unwrap_or((word, ""))).collect();
    let argument = |&(name, text): &(&'static str, &str)| Argument {
        name,
        used: read_use(text, &|wanted| names.iter().position(|&(name, _)| name == wanted)).unwrap_or(Use::Opaque),
    };
    vec![row(first, names.iter().map(argument).collect())]
}

/// Reads the use of an argument, with the index of another by its name.
fn read_use(text: &str, index: &dyn Fn(&str) -> Option<usize>) -> Option<Use> {
    let (direction, what) = text.split_once(':').unwrap_or((text, ""));
    let access = match direction {
        "in" => Access::Reads,
        "out" => Access::Writes,
        "inout" => Access::Updates,
        "" => return Some(Use::Value(Item::Int)),
        "8" => return Some(Use::Value(Item::Address)),
        "free" => Access::Frees,
        "callback" => return Some(Use::Callback),
        _ => return None,
    };
    if what == "buffer" {
        return Some(Use::Buffer(access));
    }
    let index = |name: &str| u8::try_from(index(name)?).ok();
    let (item, count) = what.strip_suffix(']').and_then(|what| what.split_once('[')).unwrap_or((what, ""));
    let item = match item.strip_suffix(')').and_then(|item| item.strip_prefix("type(")) {
        Some(datatype) => Item::Element(index(datatype)?),
        None => match item {
            "byte" => Item::Byte,
            "int" => Item::Int,
            "address" => Item::Address,
            "pointer" => Item::Pointer,
            "handle" => Item::Handle,
            "status" => Item::Status,
            "text" => Item::Character,
            _ => return None,
        },
    };
    let count = match (count, item) {
        ("", Item::Character) => Count::Text,
        ("", _) => Count::Constant(1),
        _ => read_count(count, &index)?,
    };
    Some(Use::Memory(access, Extent { item, count }))
}

/// Reads the count between brackets.
fn read_count(text: &str, index: &dyn Fn(&str) -> Option<u8>) -> Option<Count> {
    if let Ok(number) = text.parse() {
        return Some(Count::Constant(number));
    }
    if let Some((rule, of)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let (first, second) = of.split_once(',').unwrap_or((of, ""));
        let (first, second) = (index(first)?, index(second));
        return Some(match rule {
            "size" => Count::Processes(first),
            "root" => Count::AtRoot { comm: first, root: second? },
            "in" => Count::Sources(first),
            "out" => Count::Destinations(first),
            "dims" => Count::Dimensions(first),
            "last" => Count::Last { array: first, length: second? },
            "sum" => Count::Sum { array: first, length: second? },
            _ => return None,
        });
    }
    if let Some(&(_, open_mpi, mpich)) = LIMITS.iter().find(|(name, ..)| *name == text) {
        return Some(Count::Limit { open_mpi, mpich });
    }
    let (times, name) = text.split_once('*').unwrap_or(("1", text));
    Some(Count::Argument(index(name)?, times.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_of_the_table_is_understood() {
        for function in functions() {
            for argument in &function.arguments {
                assert_ne!(argument.used, Use::Opaque, "{}: {}", function.name, argument.name);
            }
        }
    }

    #[test]
    fn symbols_of_every_language_lead_to_the_function() {
        for (symbol, language) in [
            ("MPI_Waitsome", Language::C),
            ("PMPI_Waitsome", Language::C),
            ("mpi_waitsome", Language::Fortran),
            ("mpi_waitsome_", Language::Fortran),
            ("mpi_waitsome__", Language::Fortran),
            ("MPI_WAITSOME", Language::Fortran),
            ("pmpi_waitsome_", Language::Fortran),
            ("mpi_waitsome_f08_", Language::Fortran),
            ("mpi_waitsome_f08ts_", Language::Descriptors),
        ] {
            let (function, found) = function(symbol).unwrap();
            assert_eq!((function.name, found), ("Waitsome", language), "{symbol}");
        }
        for symbol in ["MPI_Nothing", "waitsome", "mpi_", "MPI_", "mpirun"] {
            assert_eq!(function(symbol), None, "{symbol}");
        }
    }

    #[test]
    fn extents_name_arguments_of_the_same_function() {
        let (waitsome, _) = function("MPI_Waitsome").unwrap();
        let item = |item| Extent { item, count: Count::Argument(0, 1) };
        let uses: Vec<_> = waitsome.words(Language::C).collect();
        assert_eq!(uses[..2], [Use::Value(Item::Int), Use::Memory(Access::Updates, item(Item::Handle))]);
        assert_eq!(
            uses[3..],
            [Use::Memory(Access::Writes, item(Item::Int)), Use::Memory(Access::Writes, item(Item::Status))]
        );
        // In Fortran the count is read from its address, and the error code written.
        let uses: Vec<_> = waitsome.words(Language::Fortran).collect();
        let int = Extent { item: Item::Int, count: Count::Constant(1) };
        assert_eq!((uses.len(), uses[0]), (6, Use::Memory(Access::Reads, int)));
        assert_eq!(uses[5], Use::Memory(Access::Writes, int));
        // MPI_Init has other arguments there, and no error code follows a function's value.
        let words = |symbol| function(symbol).map(|(function, language)| function.words(language).count());
        assert_eq!((words("MPI_Init"), words("mpi_init_"), words("mpi_wtime_")), (Some(2), Some(1), Some(0)));
    }
}
