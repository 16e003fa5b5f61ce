//! Layouts and constants of an MPI library.

use std::ffi::{CStr, CString, c_int, c_void};

use crate::library::Library;
use crate::status::StatusRoom;
use crate::{Handle, Status, StatusLayout};

/// MPI libraries, by binary interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Open MPI: handles are addresses of objects.
    OpenMpi,
    /// MPICH and libraries with its ABI: handles are numbers.
    Mpich,
}

impl Family {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
        }
    }
}

/// Defines layouts and constants. Each line has the name, the type, the value in MPICH and the value in Open
/// MPI, where objects are found by name.
macro_rules! abi {
    (|$object:ident| $($(#[$doc:meta])* $name:ident: $type:ty = $mpich:expr, $open_mpi:expr;)*) => {
        /// Layouts and constants needed to call a library.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "they are the names of MPI")]
        pub struct Abi {
            pub family: Family,
            $($(#[$doc])* pub $name: $type,)*
            /// Predefined reduction operators, in the order of [`OPERATORS`].
            pub operators: [Handle; OPERATORS.len()],
        }

        impl Abi {
            /// Returns those of MPICH; all constants are numbers.
            pub fn mpich() -> Self {
                // MPICH has MINLOC before MAXLOC.
                let operators = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11, 13, 14].map(|code| 0x5800_0000 + code);
                Self { family: Family::Mpich, $($name: $mpich,)* operators }
            }

            /// Returns those of Open MPI; handles are the addresses of its objects.
            ///
            /// # Errors
            /// The name of the missing object.
            pub fn open_mpi(address: impl Fn(&CStr) -> *mut c_void) -> Result<Self, String> {
                let $object = |name: &CStr| match address(name) as usize {
                    0 => Err(name.to_string_lossy().into_owned()),
                    there => Ok(there),
                };
                let mut abi = Self { family: Family::OpenMpi, $($name: $open_mpi,)* operators: [0; OPERATORS.len()] };
                for (operator, name) in abi.operators.iter_mut().zip(OPERATORS) {
                    *operator = $object(&CString::new(format!("ompi_mpi_op_{name}")).unwrap_or_default())?;
                }
                Ok(abi)
            }
        }
    };
}

abi! {
    |object|
    /// Size of a handle in memory, and so the stride of an array of requests \[B\].
    handle_size: usize = 4, 8;
    status: StatusLayout = StatusLayout::MPICH, StatusLayout::OPEN_MPI;

    any_source: c_int = -2, -1;
    any_tag: c_int = -1, -1;
    proc_null: c_int = -1, -2;
    root: c_int = -3, -4;
    undefined: c_int = -32766, -32766;
    err_other: c_int = 15, 16;
    /// Results of `MPI_Topo_test`.
    cart: c_int = 2, 1;
    graph: c_int = 1, 2;
    dist_graph: c_int = 3, 3;

    /// Addresses that are constants.
    in_place: usize = usize::MAX, 1;
    bottom: usize = 0, 0;
    status_ignore: usize = 1, 0;
    unweighted: usize = 0, 2;
    weights_empty: usize = 0, 3;

    comm_world: Handle = 0x4400_0000, object(c"ompi_mpi_comm_world")?;
    comm_self: Handle = 0x4400_0001, object(c"ompi_mpi_comm_self")?;
    comm_null: Handle = 0x0400_0000, object(c"ompi_mpi_comm_null")?;
    group_null: Handle = 0x0800_0000, object(c"ompi_mpi_group_null")?;
    request_null: Handle = 0x2c00_0000, object(c"ompi_request_null")?;
    message_null: Handle = 0x2c00_0000, object(c"ompi_message_null")?;
    message_no_proc: Handle = 0x6c00_0000, object(c"ompi_message_no_proc")?;
    info_null: Handle = 0x1c00_0000, object(c"ompi_mpi_info_null")?;
    op_null: Handle = 0x1800_0000, object(c"ompi_mpi_op_null")?;
    datatype_null: Handle = 0x0c00_0000, object(c"ompi_mpi_datatype_null")?;

    byte: Handle = 0x4c00_010d, object(c"ompi_mpi_byte")?;
    packed: Handle = 0x4c00_010f, object(c"ompi_mpi_packed")?;
    char: Handle = 0x4c00_0101, object(c"ompi_mpi_char")?;
    int: Handle = 0x4c00_0405, object(c"ompi_mpi_int")?;
    double: Handle = 0x4c00_080b, object(c"ompi_mpi_double")?;
    /// `MPI_LONG_LONG_INT`, of 8 bytes.
    long_long: Handle = 0x4c00_0809, object(c"ompi_mpi_long_long_int")?;
}

/// Names of the predefined reduction operators: `MPI_MAX` is entry 0.
pub const OPERATORS: [&str; 14] =
    ["max", "min", "sum", "prod", "land", "band", "lor", "bor", "lxor", "bxor", "maxloc", "minloc", "replace", "no_op"];

/// `int MPI_THREAD_SINGLE` to `MPI_THREAD_MULTIPLE` are 0 to 3 everywhere.
impl Abi {
    /// Returns those of a library.
    ///
    /// # Errors
    /// The name of the missing symbol.
    pub(crate) fn of(library: &Library, family: Family) -> Result<Self, String> {
        match family {
            Family::Mpich => Ok(Self::mpich()),
            Family::OpenMpi => Self::open_mpi(|name| library.address(name)),
        }
    }

    /// Cuts a handle that a program passed to its size.
    #[inline]
    pub fn handle(&self, raw: Handle) -> Handle {
        if self.handle_size == 4 { raw & 0xffff_ffff } else { raw }
    }

    /// Reads entry `index` of an array of handles.
    ///
    /// # Safety
    /// `handles` points to at least `index + 1` handles of this library.
    #[inline]
    pub unsafe fn read_handle(&self, handles: *const c_void, index: usize) -> Handle {
        if self.handle_size == 4 {
            // SAFETY: the caller promises that the entry is there.
            unsafe { handles.cast::<u32>().add(index).read_unaligned() as Handle }
        } else {
            // SAFETY: as above.
            unsafe { handles.cast::<Handle>().add(index).read_unaligned() }
        }
    }

    /// Writes entry `index` of an array of handles.
    ///
    /// # Safety
    /// `handles` points to at least `index + 1` handles of this library, and may be written to.
    #[inline]
    pub unsafe fn write_handle(&self, handles: *mut c_void, index: usize, handle: Handle) {
        if self.handle_size == 4 {
            // SAFETY: the caller promises that the entry is there.
            unsafe { handles.cast::<u32>().add(index).write_unaligned(handle as u32) }
        } else {
            // SAFETY: as above.
            unsafe { handles.cast::<Handle>().add(index).write_unaligned(handle) }
        }
    }

    /// Returns true if the address that a program passed for a status asks for none.
    #[inline]
    pub fn ignores_status(&self, status: *const c_void) -> bool {
        status as usize == self.status_ignore || status.is_null()
    }

    /// Returns room for statuses, for programs that ask for none where one is needed.
    pub fn statuses(&self, count: usize) -> Statuses {
        Statuses { room: vec![StatusRoom::default(); count.max(1)] }
    }

    /// Reads entry `index` of statuses.
    ///
    /// # Safety
    /// As for [`StatusLayout::read`].
    #[inline]
    pub unsafe fn status(&self, statuses: *const c_void, index: usize) -> Status {
        // SAFETY: promised by the caller.
        unsafe { self.status.read(statuses, index) }
    }
}

/// Room for statuses of any library.
#[derive(Clone, Debug, Default)]
pub struct Statuses {
    room: Vec<StatusRoom>,
}

impl Statuses {
    /// Returns room for at least `count` statuses, to be passed to the library; its earlier content is lost.
    pub fn of(&mut self, count: usize) -> *mut c_void {
        if self.room.len() < count.max(1) {
            self.room.resize(count.max(1), StatusRoom::default());
        }
        self.room.as_mut_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_cut_to_its_size() {
        let mpich = Abi::mpich();
        assert_eq!(mpich.handle(0xdead_beef_4400_0000), mpich.comm_world);
        let open = Abi::open_mpi(|_| 0x7f00_0000_1000 as *mut c_void).unwrap();
        assert_eq!(open.handle(0x7f00_0000_1000), open.comm_world);
        assert!(Abi::open_mpi(|_| std::ptr::null_mut()).unwrap_err().contains("ompi_mpi_comm_world"));
    }

    #[test]
    fn arrays_of_handles_have_the_stride_of_the_library() {
        for abi in [Abi::mpich(), Abi::open_mpi(|_| 8 as *mut c_void).unwrap()] {
            let mut array = [0_u64; 4];
            let at = array.as_mut_ptr().cast::<c_void>();
            for i in 0..4 {
                // SAFETY: four handles of at most 8 bytes fit.
                unsafe { abi.write_handle(at, i, 100 + i) };
            }
            for i in 0..4 {
                // SAFETY: as above.
                assert_eq!(unsafe { abi.read_handle(at, i) }, 100 + i);
            }
        }
    }
}
