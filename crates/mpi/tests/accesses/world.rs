//! MPI objects that cases use, and memory for arguments.

use std::ffi::{CString, c_int, c_void};
use std::ptr::null_mut;

use hayase_mpi::arguments::{Item, Language};
use hayase_mpi::{Abi, Calls, Family, Functions, Handle, Library};

/// Value of an argument, for any language.
pub enum Value {
    /// Number of 4 bytes.
    Int(c_int),
    /// Number of 8 bytes.
    Long(i64),
    /// Handle, with the name of its kind in `MPI_Comm_c2f`.
    Handle(&'static str, Handle),
    Ints(Vec<c_int>),
    Longs(Vec<i64>),
    Handles(&'static str, Vec<Handle>),
    /// Bytes, and the distance of the address from the first of them.
    Bytes(Vec<u8>, usize),
    Text(&'static str),
    /// Items that the call writes.
    Out(Item, usize),
    /// Text of this many characters that the call writes, followed by a zero in C.
    OutText(usize),
    /// Text that the call writes into this many bytes.
    Room(usize),
    Callback,
    /// Address of memory that the call frees.
    Freed(usize),
}

impl Value {
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::OutText(_) | Self::Room(_))
    }
}

/// Memory of an argument, or its value.
pub struct Block {
    /// The argument.
    pub word: usize,
    /// First byte of the memory; 0 for a value.
    pub address: usize,
    /// Bytes of the memory.
    pub length: usize,
    /// Offset of the memory in its page.
    pub start: usize,
}

/// Bytes of the memory of an argument, which ends in front of a page without access.
const PAGE: usize = 1 << 16;

impl Block {
    pub fn new(world: &World<'_>, value: &Value, language: Language, fill: u8) -> Self {
        let in_c = language == Language::C;
        let mut offset = 0;
        let handle = |kind: &str, handle: Handle| match (in_c, world.abi.handle_size) {
            (true, 8) => handle.to_ne_bytes().to_vec(),
            (true, _) => (handle as u32).to_ne_bytes().to_vec(),
            (false, _) => world.to_fortran(kind, handle).to_ne_bytes().to_vec(),
        };
        let bytes = match value {
            Value::Int(number) if in_c => return Self::value(*number as usize),
            Value::Long(number) if in_c => return Self::value(*number as usize),
            Value::Handle(_, handle) if in_c => return Self::value(*handle),
            Value::Freed(address) => return Self { address: *address, ..Self::value(*address) },
            Value::Callback => return Self::value(callback as *const () as usize),
            Value::Int(number) => number.to_ne_bytes().to_vec(),
            Value::Long(number) => number.to_ne_bytes().to_vec(),
            Value::Handle(kind, one) => handle(kind, *one),
            Value::Ints(numbers) => numbers.iter().flat_map(|number| number.to_ne_bytes()).collect(),
            Value::Longs(numbers) => numbers.iter().flat_map(|number| number.to_ne_bytes()).collect(),
            Value::Handles(kind, all) => all.iter().flat_map(|one| handle(kind, *one)).collect(),
            Value::Bytes(bytes, at) => {
                offset = *at;
                bytes.clone()
            }
            Value::Text(text) => format!("{text}{}", if in_c { "\0" } else { "   " }).into_bytes(),
            Value::Out(item, count) => {
                let size = match item {
                    Item::Int => 4,
                    Item::Address | Item::Pointer => 8,
                    Item::Handle if in_c => world.abi.handle_size,
                    Item::Handle => 4,
                    Item::Status => world.abi.status.size,
                    _ => 1,
                };
                vec![fill; size * count]
            }
            Value::Room(count) => vec![fill; *count],
            Value::OutText(count) => vec![fill; count + usize::from(in_c)],
        };
        // SAFETY: new memory; access to its last page is removed.
        let page = unsafe {
            let (read_write, private) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let page = libc::mmap(null_mut(), 2 * PAGE, read_write, private, -1, 0);
            assert_ne!(page, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(page.add(PAGE), PAGE, libc::PROT_NONE), 0);
            let page = std::slice::from_raw_parts_mut(page.cast::<u8>(), PAGE);
            page.fill(fill);
            page[PAGE - bytes.len()..].copy_from_slice(&bytes);
            page.as_ptr() as usize
        };
        let start = PAGE - bytes.len();
        Self { word: page + start + offset, address: page + start, length: bytes.len(), start }
    }

    fn value(word: usize) -> Self {
        Self { word, address: 0, length: 0, start: 0 }
    }

    /// Returns the memory and the bytes before it.
    pub fn contents(&self) -> Vec<u8> {
        if self.start == 0 {
            return Vec::new();
        }
        // SAFETY: memory that `new` has made and that is never freed.
        unsafe { std::slice::from_raw_parts((self.address - self.start) as *const u8, PAGE) }.to_vec()
    }

    /// Returns the address of a gfortran descriptor for an array of bytes in the memory.
    pub fn descriptor(&self) -> usize {
        // Address, offset, size of an element; version, rank and type (integer); span; stride and bounds of the
        // dimension.
        let head: u64 = 1 << 32 | 1 << 40;
        let words = [self.word, usize::MAX, 1, head as usize, 1, 1, 1, self.length];
        Box::leak(Box::new(words)).as_ptr() as usize
    }
}

/// Stands for all functions that are passed to MPI and never called.
extern "C" fn callback() -> c_int {
    0
}

/// Calls a function with words. A function that takes fewer uses the first ones.
pub fn call(address: usize, words: &[usize]) -> usize {
    let mut all = [0_usize; 16];
    all[..words.len()].copy_from_slice(words);
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = all;
    macro_rules! word {
        ($($name:ident)*) => { unsafe extern "C" fn($(word!(@ $name)),*) -> usize };
        (@ $name:ident) => { usize };
    }
    // SAFETY: a function of MPI, whose arguments are integers and addresses.
    unsafe {
        let function = std::mem::transmute::<usize, word!(a b c d e f g h i j k l m n o p)>(address);
        function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    }
}

/// MPI, and objects that all cases share.
pub struct World<'a> {
    library: &'a Library,
    pub abi: &'a Abi,
    pub calls: Calls<'a>,
    pub rank: c_int,
    /// Grid of two processes in a ring.
    pub grid: Handle,
    /// Graph with an edge each way.
    pub graph: Handle,
    /// Graph with three edges to process 0 and two to process 1.
    pub uneven: Handle,
    /// Graph with an edge from each process to each.
    pub even: Handle,
    /// Communicator between the two processes.
    pub inter: Handle,
    pub window: Handle,
    /// Group of all processes.
    pub group: Handle,
    /// Two numbers with a gap of two between them.
    pub vector: Handle,
    /// Two numbers, one of them 8 bytes before the address.
    pub behind: Handle,
}

impl<'a> World<'a> {
    pub fn new(library: &'a Library) -> Self {
        let functions: &'a Functions = Box::leak(Box::new(Functions::load(library, "PMPI_")));
        let abi = library.abi();
        let calls = Calls::new(abi, functions, |name| {
            // SAFETY: the name ends with a zero.
            unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
        });
        let mut world = Self {
            library,
            abi,
            calls,
            rank: 0,
            grid: 0,
            graph: 0,
            uneven: 0,
            even: 0,
            inter: 0,
            window: 0,
            group: 0,
            vector: 0,
            behind: 0,
        };
        let all = abi.comm_world;
        world.c("Init", &[0, 0]);
        let mut numbers = [0; 2];
        world.c("Comm_rank", &[all, numbers.as_mut_ptr() as usize]);
        world.rank = numbers[0];
        let other = 1 - world.rank;
        let at = |numbers: &[c_int]| numbers.as_ptr() as usize;
        world.grid = world.made("Cart_create", &[all, 1, at(&[2]), at(&[1]), 0]);
        world.graph = world.made("Graph_create", &[all, 2, at(&[1, 2]), at(&[1, 0]), 0]);
        let graph = |sources: &[c_int], destinations: &[c_int]| {
            let (into, out, weights) = (at(sources), at(destinations), at(&[1, 1, 1]));
            let edges = [all, sources.len(), into, weights, destinations.len(), out, weights, abi.info_null, 0];
            world.made("Dist_graph_create_adjacent", &edges)
        };
        let uneven = if world.rank == 0 { graph(&[1, 1, 0], &[0, 1]) } else { graph(&[0, 1], &[0, 0, 1]) };
        (world.even, world.uneven) = (graph(&[0, 1], &[0, 1]), uneven);
        let mine = world.made("Comm_split", &[all, world.rank as usize, 0]);
        world.inter = world.made("Intercomm_create", &[mine, 0, all, other as usize, 3]);
        let memory = Box::leak(Box::new([0_u64; 8])).as_ptr() as usize;
        world.window = world.made("Win_create", &[memory, 64, 8, abi.info_null, all]);
        world.group = world.made("Comm_group", &[all]);
        world.vector = world.made("Type_vector", &[2, 1, 3, abi.int]);
        world.behind = world.made("Type_create_hindexed_block", &[2, 1, [-8_i64, 0].as_ptr() as usize, abi.int]);
        for datatype in [world.vector, world.behind] {
            world.c("Type_commit", &[&raw const datatype as usize]);
        }
        world
    }

    /// Returns the address of a symbol of the process; 0 if there is none.
    pub fn address(&self, symbol: &str) -> usize {
        let name = CString::new(symbol).unwrap();
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
        if found == 0 { self.library.address(&name) as usize } else { found }
    }

    /// Calls a function of C, which must succeed.
    pub fn c(&self, name: &str, words: &[usize]) {
        let address = self.address(&format!("PMPI_{name}"));
        assert_ne!(address, 0, "PMPI_{name}");
        assert_eq!(call(address, words) as c_int, 0, "PMPI_{name}");
    }

    /// Calls a function whose last argument is a new handle; returns the handle.
    pub fn made(&self, name: &str, words: &[usize]) -> Handle {
        let mut room = [0_u64; 1];
        self.c(name, &[words, &[room.as_mut_ptr() as usize]].concat());
        // SAFETY: the room holds a handle.
        unsafe { self.abi.read_handle(room.as_ptr().cast::<c_void>(), 0) }
    }

    /// Returns the Fortran form of a handle.
    pub fn to_fortran(&self, kind: &str, handle: Handle) -> c_int {
        match self.abi.family {
            Family::Mpich => handle as c_int,
            Family::OpenMpi => call(self.address(&format!("PMPI_{kind}_c2f")), &[handle]) as c_int,
        }
    }

    /// Returns a handle that is a constant: the object of Open MPI, the number of MPICH.
    pub fn constant(&self, object: &str, number: Handle) -> Handle {
        match self.abi.family {
            Family::Mpich => number,
            Family::OpenMpi => self.address(object),
        }
    }

    /// Returns the handler of errors that returns them.
    pub fn errors_return(&self) -> Handle {
        self.constant("ompi_mpi_errors_return", 0x5400_0001)
    }

    /// Returns requests of receives from this process itself whose messages have arrived.
    pub fn requests(&self, count: usize) -> Vec<Handle> {
        let requests: Vec<_> = (0..count).map(|_| self.receive()).collect();
        requests.iter().for_each(|_| self.send());
        for &request in &requests {
            let mut flag = 0;
            while flag == 0 {
                self.c("Request_get_status", &[request, &raw mut flag as usize, self.abi.status_ignore]);
            }
        }
        requests
    }

    /// Returns the request of a receive from this process itself.
    pub fn receive(&self) -> Handle {
        let buffer = Box::leak(Box::new([0; 3])).as_ptr() as usize;
        self.made("Irecv", &[buffer, 3, self.abi.int, 0, 7, self.abi.comm_self])
    }

    /// Sends three numbers to this process itself.
    pub fn send(&self) {
        let buffer = Box::leak(Box::new([1, 2, 3])).as_ptr() as usize;
        // The request is never completed: MPICH over UCX ends the process at the matched probe of a freed one.
        self.made("Isend", &[buffer, 3, self.abi.int, 0, 7, self.abi.comm_self]);
    }

    /// Returns the status of three numbers.
    pub fn status(&self) -> Vec<u8> {
        let mut status = vec![0_u8; self.abi.status.size];
        let request = self.receive();
        self.send();
        self.c("Wait", &[&raw const request as usize, status.as_mut_ptr() as usize]);
        status
    }

    /// Returns an inactive persistent request of a send to `MPI_PROC_NULL`.
    pub fn persistent(&self) -> Handle {
        self.made("Send_init", &[0, 0, self.abi.int, self.abi.proc_null as usize, 7, self.abi.comm_self])
    }

    /// Undoes the effects of a call on the process.
    pub fn after(&self, name: &str) {
        let mut room = [0_u64; 2];
        let rooms = [room.as_mut_ptr() as usize, &raw mut room[1] as usize];
        match name {
            "Buffer_attach" => self.c("Buffer_detach", &rooms),
            "Probe" | "Iprobe" => {
                let request = self.receive();
                self.c("Wait", &[&raw const request as usize, self.abi.status_ignore]);
            }
            _ => (),
        }
    }
}

/// Returns true for arguments that a call may leave unchanged: handles that are kept, memory for a later
/// call.
pub fn may_stay(name: &str, argument: usize) -> bool {
    matches!((name, argument), ("Type_commit" | "Start" | "Buffer_attach" | "Buffer_detach", 0) | ("Startall", 1))
}
