//! Memory accesses of an MPI call, given the words that the program passes.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::arguments::{Access, Count, Extent, Function, Item, Language, Use};
use crate::{Abi, Family, Functions, Handle};

/// Evaluates calls of an MPI library before they are made.
#[derive(Debug)]
pub struct Calls<'a> {
    abi: &'a Abi,
    mpi: &'a Functions,
    /// `MPI_Comm_f2c` and `MPI_Type_f2c`, if handles of Fortran differ from those of C.
    comm_of_fortran: Option<unsafe extern "C" fn(c_int) -> Handle>,
    type_of_fortran: Option<unsafe extern "C" fn(c_int) -> Handle>,
    /// Addresses of `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    ignored: Vec<usize>,
    /// Addresses of `MPI_BOTTOM` in Fortran.
    bottoms: Vec<usize>,
}

/// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE` in Fortran: symbols, and offsets from them \[B\].
const IGNORED: [(&CStr, usize); 6] = [
    (c"mpi_fortran_status_ignore_", 0),
    (c"mpi_fortran_statuses_ignore_", 0),
    (c"mpipriv1_", 8),
    (c"mpipriv2_", 0),
    (c"MPIR_F08_MPI_STATUS_IGNORE_OBJ", 0),
    (c"MPIR_F08_MPI_STATUSES_IGNORE_OBJ", 0),
];

/// `MPI_BOTTOM` in Fortran.
const BOTTOMS: [&CStr; 3] = [c"mpi_fortran_bottom_", c"mpipriv1_", c"MPIR_F08_MPI_BOTTOM"];

/// A call that is about to be made.
struct Words<'a> {
    language: Language,
    word: &'a dyn Fn(usize) -> usize,
    function: &'a Function,
}

impl<'a> Calls<'a> {
    /// Creates an evaluator for a library, whose symbols `address` finds (null if there is none).
    pub fn new(abi: &'a Abi, mpi: &'a Functions, address: impl Fn(&CStr) -> *mut c_void) -> Self {
        let converter = |name| match address(name) {
            found if found.is_null() || abi.family == Family::Mpich => None,
            // SAFETY: `MPI_Comm MPI_Comm_f2c(MPI_Fint)`, and so for datatypes; handles are addresses there.
            found => Some(unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int) -> Handle>(found) }),
        };
        let found = |name: &CStr| Some(address(name) as usize).filter(|&there| there != 0);
        Self {
            abi,
            mpi,
            comm_of_fortran: converter(c"PMPI_Comm_f2c"),
            type_of_fortran: converter(c"PMPI_Type_f2c"),
            ignored: IGNORED.iter().filter_map(|&(name, offset)| Some(found(name)? + offset)).collect(),
            bottoms: BOTTOMS.iter().filter_map(|name| found(name)).collect(),
        }
    }

    /// Reports the memory that a call accesses: kind of access, address and length \[B\] (upper bounds).
    /// Buffers that the recorded event describes are left out.
    ///
    /// Returns true if the call accesses no other memory.
    ///
    /// # Safety
    /// `word` gives the words of a call of this function that MPI allows, and the program is about to make
    /// it.
    pub unsafe fn accesses(
        &self,
        function: &Function,
        language: Language,
        word: &dyn Fn(usize) -> usize,
        tell: &mut dyn FnMut(Access, usize, usize),
    ) -> bool {
        let call = Words { language, word, function };
        let mut known = !function.opaque;
        let mut texts = 0;
        for (i, used) in function.words(language).enumerate() {
            let (access, extent) = match used {
                Use::Memory(access, extent) => (access, extent),
                Use::Value(_) | Use::Buffer(_) | Use::Callback => continue,
                Use::Opaque => {
                    known = false;
                    continue;
                }
            };
            let mut address = word(i);
            if language == Language::Descriptors && used.is_choice() {
                // SAFETY: the caller promises that it is a descriptor.
                match unsafe { contiguous(address) } {
                    Some(base) => address = base,
                    None => {
                        known = false;
                        continue;
                    }
                }
            }
            // SAFETY: promised by the caller.
            let (offset, bytes) = unsafe {
                match extent {
                    Extent { item: Item::Character, .. } if language != Language::C => {
                        texts += 1;
                        (0, word(function.words(language).count() + texts - 1))
                    }
                    Extent { item: Item::Character, count: Count::Text } => {
                        (0, if address == 0 { 0 } else { libc::strlen(address as *const c_char) + 1 })
                    }
                    // A zero follows a text whose length is given.
                    Extent { item: Item::Character, count: count @ Count::Argument(..) } => {
                        (0, self.number(&call, count) + 1)
                    }
                    Extent { item: Item::Element(datatype), count } => {
                        self.hull(&call, datatype, self.number(&call, count))
                    }
                    Extent { item, count } => (0, self.number(&call, count) * self.size(item, language)),
                }
            };
            if extent.item == Item::Status && (address == self.abi.status_ignore || self.ignored.contains(&address)) {
                continue;
            }
            if self.bottoms.contains(&address) && used.is_choice() {
                address = 0;
            }
            let address = address.wrapping_add_signed(offset);
            if address != 0 && (bytes > 0 || access == Access::Frees) {
                tell(access, address, bytes);
            }
        }
        known
    }

    /// Returns the size of one item \[B\].
    fn size(&self, item: Item, language: Language) -> usize {
        match item {
            Item::Byte | Item::Character | Item::Element(_) => 1,
            Item::Int => 4,
            Item::Address | Item::Pointer => 8,
            Item::Handle if language == Language::C => self.abi.handle_size,
            Item::Handle => 4,
            Item::Status => self.abi.status.size,
        }
    }

    /// Evaluates a number of items.
    unsafe fn number(&self, call: &Words<'_>, count: Count) -> usize {
        // SAFETY: promised by the caller of `accesses`: the table's statements about arguments hold for the
        // words, and the library knows the communicators.
        let number = unsafe {
            match count {
                Count::Constant(number) => i64::from(number),
                Count::Argument(i, times) => call.number(i) * i64::from(times),
                Count::Processes(comm) => i64::from(self.processes(self.comm(call, comm))),
                Count::AtRoot { comm, root } => {
                    let (comm, root, mut rank) = (self.comm(call, comm), call.number(root), 0);
                    (self.mpi.comm_rank)(comm, &raw mut rank);
                    let (inter, is_root) = (self.is_inter(comm), root == i64::from(self.abi.root));
                    if is_root || !inter && root == i64::from(rank) { i64::from(self.processes(comm)) } else { 0 }
                }
                Count::Sources(comm) => i64::from(self.neighbours(self.comm(call, comm)).0),
                Count::Destinations(comm) => i64::from(self.neighbours(self.comm(call, comm)).1),
                Count::Dimensions(comm) => {
                    let mut dimensions = 0;
                    (self.mpi.cartdim_get)(self.comm(call, comm), &raw mut dimensions);
                    i64::from(dimensions)
                }
                Count::Last { array, length } => call.numbers(array, length).last().map_or(0, |last| i64::from(*last)),
                Count::Sum { array, length } => call.numbers(array, length).iter().copied().map(i64::from).sum(),
                Count::Limit { open_mpi, mpich } => {
                    i64::from(if self.abi.family == Family::OpenMpi { open_mpi } else { mpich })
                }
                // Texts that end with a zero have been measured; no other memory has such a count.
                Count::Text => 0,
            }
        };
        usize::try_from(number).unwrap_or(0)
    }

    /// Counts the processes of a communicator; those of its larger group if it has two.
    unsafe fn processes(&self, comm: Handle) -> c_int {
        let (mut size, mut remote) = (0, 0);
        // SAFETY: promised by the caller of `accesses`.
        unsafe {
            (self.mpi.comm_size)(comm, &raw mut size);
            if self.is_inter(comm) {
                (self.mpi.comm_remote_size)(comm, &raw mut remote);
            }
        }
        size.max(remote)
    }

    unsafe fn is_inter(&self, comm: Handle) -> bool {
        let mut inter = 0;
        // SAFETY: promised by the caller of `accesses`.
        unsafe { (self.mpi.comm_test_inter)(comm, &raw mut inter) };
        inter != 0
    }

    /// Counts the neighbours that send and those that receive.
    unsafe fn neighbours(&self, comm: Handle) -> (c_int, c_int) {
        let (mut kind, mut sources, mut destinations, mut other) = (0, 0, 0, 0);
        // SAFETY: promised by the caller of `accesses`.
        unsafe {
            (self.mpi.topo_test)(comm, &raw mut kind);
            if kind == self.abi.cart {
                (self.mpi.cartdim_get)(comm, &raw mut other);
                (sources, destinations) = (2 * other, 2 * other);
            } else if kind == self.abi.graph {
                (self.mpi.comm_rank)(comm, &raw mut other);
                (self.mpi.graph_neighbors_count)(comm, other, &raw mut sources);
                destinations = sources;
            } else if kind == self.abi.dist_graph {
                let counts = (&raw mut sources, &raw mut destinations, &raw mut other);
                (self.mpi.dist_graph_neighbors_count)(comm, counts.0, counts.1, counts.2);
            }
        }
        (sources, destinations)
    }

    /// Returns offset and length of the memory that elements of a datatype lie in \[B\].
    unsafe fn hull(&self, call: &Words<'_>, datatype: u8, count: usize) -> (isize, usize) {
        let Ok(more) = isize::try_from(count.wrapping_sub(1)) else { return (0, 0) };
        if count == 0 {
            return (0, 0);
        }
        let (mut begin, mut length, mut extent, mut lower) = (0, 0, 0, 0);
        // SAFETY: promised by the caller of `accesses`.
        unsafe {
            let datatype = self.handle(call, datatype, self.type_of_fortran);
            (self.mpi.type_get_true_extent)(datatype, &raw mut begin, &raw mut length);
            (self.mpi.type_get_extent)(datatype, &raw mut lower, &raw mut extent);
        }
        let last = extent.saturating_mul(more);
        (begin.saturating_add(last.min(0)), (length.max(0) as usize).saturating_add(last.unsigned_abs()))
    }

    unsafe fn comm(&self, call: &Words<'_>, index: u8) -> Handle {
        // SAFETY: promised by the caller of `accesses`.
        unsafe { self.handle(call, index, self.comm_of_fortran) }
    }

    /// Returns the handle in an argument in its C form.
    unsafe fn handle(
        &self,
        call: &Words<'_>,
        index: u8,
        of_fortran: Option<unsafe extern "C" fn(c_int) -> Handle>,
    ) -> Handle {
        let word = (call.word)(usize::from(index));
        if call.language == Language::C {
            return self.abi.handle(word);
        }
        // SAFETY: in Fortran a handle is a number behind an address.
        unsafe {
            let number = (word as *const c_int).read_unaligned();
            of_fortran.map_or_else(|| self.abi.handle(number as usize), |convert| convert(number))
        }
    }
}

impl Words<'_> {
    /// Returns the number in an argument.
    unsafe fn number(&self, index: u8) -> i64 {
        let (i, word) = (usize::from(index), (self.word)(usize::from(index)));
        match self.function.arguments[i].used.within(self.language) {
            // SAFETY: promised by the caller of `accesses`: a number is behind the address.
            Use::Memory(_, Extent { item: Item::Address, .. }) => unsafe { (word as *const i64).read_unaligned() },
            // SAFETY: as above.
            Use::Memory(..) => i64::from(unsafe { (word as *const c_int).read_unaligned() }),
            Use::Value(Item::Address) => word as i64,
            _ => i64::from(word as c_int),
        }
    }

    /// Returns the numbers of an array.
    unsafe fn numbers(&self, array: u8, length: u8) -> &[c_int] {
        let address = (self.word)(usize::from(array)) as *const c_int;
        // SAFETY: promised by the caller of `accesses`.
        match usize::try_from(unsafe { self.number(length) }) {
            // SAFETY: as above; MPI has no numbers that are not aligned.
            Ok(length) if length > 0 && !address.is_null() => unsafe { std::slice::from_raw_parts(address, length) },
            _ => &[],
        }
    }
}

/// Returns the address in a descriptor of gfortran, unless there are gaps between the elements. `mpi_f08` of MPICH is
/// written in Fortran, so descriptors come as the compiler has them, and not as `CFI_cdesc_t`.
unsafe fn contiguous(descriptor: usize) -> Option<usize> {
    let at = descriptor as *const usize;
    // SAFETY: the caller promises a descriptor: address, offset, size of an element; four bytes of version, one of
    // rank; from byte 40 on stride in elements, lower and upper bound of each dimension.
    unsafe {
        let (base, element, version, rank) = (*at, *at.add(2), *at.add(3) as u32, *(at as *const u8).add(28));
        // Descriptors of other compilers differ here.
        if !(1..1 << 32).contains(&element) || version != 0 || rank > 15 {
            return None;
        }
        let mut wanted = 1_isize;
        for dimension in 0..usize::from(rank) {
            let [stride, lower, upper] = *(at.add(5 + 3 * dimension) as *const [isize; 3]);
            let extent = upper.wrapping_sub(lower).wrapping_add(1);
            if stride != wanted && extent > 1 {
                return None;
            }
            wanted = wanted.wrapping_mul(extent);
        }
        Some(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::function;

    /// Returns the accesses of an MPICH call, without a library, and true if they are all.
    fn accesses(symbol: &str, words: &[usize]) -> (Vec<(Access, usize, usize)>, bool) {
        let (abi, none) = (Abi::mpich(), Functions::find("MPI_", |_| std::ptr::null_mut()));
        // Objects of Fortran, each at an address of its own.
        let objects = |name: &CStr| match name.to_str() {
            Ok("mpipriv1_") => 0x1000 as *mut c_void,
            Ok("mpipriv2_") => 0x2000 as *mut c_void,
            Ok("MPIR_F08_MPI_STATUS_IGNORE_OBJ") => 0x3000 as *mut c_void,
            _ => std::ptr::null_mut(),
        };
        let (function, language) = function(symbol).unwrap();
        let mut told = Vec::new();
        // SAFETY: the tests give words as a program does.
        let known = unsafe {
            Calls::new(&abi, &none, objects).accesses(function, language, &|i| words[i], &mut |access, at, bytes| {
                told.push((access, at, bytes));
            })
        };
        (told, known)
    }

    #[test]
    fn a_status_that_is_ignored_is_not_written() {
        use Access::{Updates, Writes};
        assert_eq!(accesses("MPI_Wait", &[64, 1]), (vec![(Updates, 64, 4)], true));
        assert_eq!(accesses("MPI_Wait", &[64, 96]), (vec![(Updates, 64, 4), (Writes, 96, 20)], true));
        // In Fortran it is an object: the third word of a common block, or a variable of `mpi_f08`.
        for ignored in [0x1008, 0x3000] {
            assert_eq!(accesses("mpi_wait_", &[64, ignored, 128]), (vec![(Updates, 64, 4), (Writes, 128, 4)], true));
        }
        let count = 2;
        let at = &raw const count as usize;
        let (told, _) = accesses("mpi_waitall_", &[at, 64, 0x2000, 128]);
        assert_eq!(told, [(Access::Reads, at, 4), (Updates, 64, 8), (Writes, 128, 4)]);
        // The error code of `mpi_f08` may be absent.
        assert_eq!(accesses("mpi_wait_f08_", &[64, 0x3000, 0]), (vec![(Updates, 64, 4)], true));
    }

    #[test]
    fn lengths_follow_from_numbers_arrays_and_texts() {
        use Access::{Reads, Writes};
        let (index, edges) = ([2, 3, 7], 4096);
        let at = index.as_ptr() as usize;
        let (told, _) = accesses("MPI_Graph_create", &[0, 3, at, edges, 0, 64]);
        assert_eq!(told, [(Reads, at, 12), (Reads, edges, 28), (Writes, 64, 4)]);
        let (told, _) = accesses("MPI_Dist_graph_create", &[0, 3, 32, at, edges, 8192, 0, 0, 64]);
        assert_eq!(told[2..4], [(Reads, edges, 48), (Reads, 8192, 48)]);
        let (told, _) = accesses("MPI_Group_range_incl", &[0, 2, 32, 64]);
        assert_eq!(told, [(Reads, 32, 24), (Writes, 64, 4)]);
        // A negative number is an error of the program.
        assert_eq!(accesses("MPI_Waitall", &[-1_i32 as usize, 64, 96]), (Vec::new(), true));

        let (key, number) = (c"key".as_ptr() as usize, 10);
        let (told, _) = accesses("MPI_Info_get", &[0, key, 10, 64, 128]);
        assert_eq!(told, [(Reads, key, 4), (Writes, 64, 11), (Writes, 128, 4)]);
        // In Fortran the lengths of the texts come behind the error code.
        let at = &raw const number as usize;
        let (told, _) = accesses("mpi_info_get_", &[at, key, at, 64, 128, 132, 3, 10]);
        assert_eq!(told[1..], [(Reads, key, 3), (Reads, at, 4), (Writes, 64, 10), (Writes, 128, 4), (Writes, 132, 4)]);
    }

    #[test]
    fn arrays_with_gaps_and_opaque_functions_are_not_all_known() {
        let number = 16;
        let size = &raw const number as usize;
        // Address, offset, size of an element; version, rank and type; span; stride, lower and upper bound of each
        // dimension.
        let array = |stride: usize| [64, 0, 4, 2 << 32 | 1 << 40, 4, 1, 1, 2, stride, 1, 2];
        let (whole, gaps) = (array(2), array(4));
        let (told, known) = accesses("mpi_buffer_attach_f08ts_", &[whole.as_ptr() as usize, size, 0]);
        assert_eq!((told, known), (vec![(Access::Updates, 64, 16), (Access::Reads, size, 4)], true));
        let (told, known) = accesses("mpi_buffer_attach_f08ts_", &[gaps.as_ptr() as usize, size, 0]);
        assert_eq!((told, known), (vec![(Access::Reads, size, 4)], false));
        for symbol in ["MPI_Put", "mpi_put_", "mpi_send_f08ts_large_"] {
            assert_eq!(accesses(symbol, &[64; 12]), (Vec::new(), false), "{symbol}");
        }
    }
}
