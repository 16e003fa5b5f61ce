//! Layouts and constants of an MPI library.

use std::ffi::{CStr, c_int, c_void};

use crate::library::Library;
use crate::status::Room;
use crate::{Handle, Status, StatusLayout};

/// Libraries of one binary interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Open MPI: handles are addresses of objects.
    OpenMpi,
    /// MPICH and what follows its ABI: handles are numbers.
    Mpich,
}

impl Family {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
        }
    }
}

/// What has to be known of a library to call it.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "they are the names of MPI")]
pub struct Abi {
    pub family: Family,
    /// Size of a handle in memory, and so the stride of an array of requests \[B\].
    pub handle_size: usize,
    pub status: StatusLayout,

    pub any_source: c_int,
    pub any_tag: c_int,
    pub proc_null: c_int,
    pub root: c_int,
    pub undefined: c_int,
    pub err_other: c_int,
    /// What `MPI_Topo_test` says.
    pub cart: c_int,
    pub graph: c_int,
    pub dist_graph: c_int,

    /// Addresses that are constants.
    pub in_place: usize,
    pub bottom: usize,
    pub status_ignore: usize,
    pub unweighted: usize,
    pub weights_empty: usize,

    pub comm_world: Handle,
    pub comm_self: Handle,
    pub comm_null: Handle,
    pub group_null: Handle,
    pub request_null: Handle,
    pub message_null: Handle,
    pub message_no_proc: Handle,
    pub info_null: Handle,
    pub op_null: Handle,
    pub datatype_null: Handle,

    pub byte: Handle,
    pub packed: Handle,
    pub char: Handle,
    pub int: Handle,
    pub double: Handle,
    /// `MPI_LONG_LONG_INT`, of 8 bytes.
    pub long_long: Handle,

    /// Predefined reduction operators, in the order of [`OPERATORS`].
    pub operators: [Handle; OPERATORS.len()],
}

/// Names of the predefined reduction operators: `MPI_MAX` is entry 0.
pub const OPERATORS: [&str; 14] =
    ["max", "min", "sum", "prod", "land", "band", "lor", "bor", "lxor", "bxor", "maxloc", "minloc", "replace", "no_op"];

/// `int MPI_THREAD_SINGLE` to `MPI_THREAD_MULTIPLE` are 0 to 3 everywhere.
impl Abi {
    /// The library's.
    ///
    /// # Errors
    /// The name of the symbol that is not there.
    pub(crate) fn of(library: &Library, family: Family) -> Result<Self, String> {
        match family {
            Family::Mpich => Ok(Self::mpich()),
            Family::OpenMpi => Self::open_mpi(|name| library.address(name)),
        }
    }

    /// That of MPICH; all constants are numbers.
    pub fn mpich() -> Self {
        let operator = |code: usize| 0x5800_0000 + code;
        Self {
            family: Family::Mpich,
            handle_size: 4,
            status: StatusLayout::MPICH,
            any_source: -2,
            any_tag: -1,
            proc_null: -1,
            root: -3,
            undefined: -32766,
            err_other: 15,
            cart: 2,
            graph: 1,
            dist_graph: 3,
            in_place: usize::MAX,
            bottom: 0,
            status_ignore: 1,
            unweighted: 0,
            weights_empty: 0,
            comm_world: 0x4400_0000,
            comm_self: 0x4400_0001,
            comm_null: 0x0400_0000,
            group_null: 0x0800_0000,
            request_null: 0x2c00_0000,
            message_null: 0x2c00_0000,
            message_no_proc: 0x6c00_0000,
            info_null: 0x1c00_0000,
            op_null: 0x1800_0000,
            datatype_null: 0x0c00_0000,
            byte: 0x4c00_010d,
            packed: 0x4c00_010f,
            char: 0x4c00_0101,
            int: 0x4c00_0405,
            double: 0x4c00_080b,
            long_long: 0x4c00_0809,
            // MINLOC comes before MAXLOC there.
            operators: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11, 13, 14].map(operator),
        }
    }

    /// That of Open MPI; handles are the addresses of its objects.
    ///
    /// # Errors
    /// The name of the object that is not there.
    pub fn open_mpi(address: impl Fn(&CStr) -> *mut c_void) -> Result<Self, String> {
        let object = |name: &CStr| match address(name) as usize {
            0 => Err(name.to_string_lossy().into_owned()),
            there => Ok(there),
        };
        Ok(Self {
            family: Family::OpenMpi,
            handle_size: 8,
            status: StatusLayout::OPEN_MPI,
            any_source: -1,
            any_tag: -1,
            proc_null: -2,
            root: -4,
            undefined: -32766,
            err_other: 16,
            cart: 1,
            graph: 2,
            dist_graph: 3,
            in_place: 1,
            bottom: 0,
            status_ignore: 0,
            unweighted: 2,
            weights_empty: 3,
            comm_world: object(c"ompi_mpi_comm_world")?,
            comm_self: object(c"ompi_mpi_comm_self")?,
            comm_null: object(c"ompi_mpi_comm_null")?,
            group_null: object(c"ompi_mpi_group_null")?,
            request_null: object(c"ompi_request_null")?,
            message_null: object(c"ompi_message_null")?,
            message_no_proc: object(c"ompi_message_no_proc")?,
            info_null: object(c"ompi_mpi_info_null")?,
            op_null: object(c"ompi_mpi_op_null")?,
            datatype_null: object(c"ompi_mpi_datatype_null")?,
            byte: object(c"ompi_mpi_byte")?,
            packed: object(c"ompi_mpi_packed")?,
            char: object(c"ompi_mpi_char")?,
            int: object(c"ompi_mpi_int")?,
            double: object(c"ompi_mpi_double")?,
            long_long: object(c"ompi_mpi_long_long_int")?,
            operators: [
                object(c"ompi_mpi_op_max")?,
                object(c"ompi_mpi_op_min")?,
                object(c"ompi_mpi_op_sum")?,
                object(c"ompi_mpi_op_prod")?,
                object(c"ompi_mpi_op_land")?,
                object(c"ompi_mpi_op_band")?,
                object(c"ompi_mpi_op_lor")?,
                object(c"ompi_mpi_op_bor")?,
                object(c"ompi_mpi_op_lxor")?,
                object(c"ompi_mpi_op_bxor")?,
                object(c"ompi_mpi_op_maxloc")?,
                object(c"ompi_mpi_op_minloc")?,
                object(c"ompi_mpi_op_replace")?,
                object(c"ompi_mpi_op_no_op")?,
            ],
        })
    }

    /// A handle as a program passed it, cut to its size.
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

    /// Whether an address a program passed for a status asks for none.
    #[inline]
    pub fn ignores_status(&self, status: *const c_void) -> bool {
        status as usize == self.status_ignore || status.is_null()
    }

    /// Room for statuses, and reading them: where a program asks for none and one is needed.
    pub fn statuses(&self, count: usize) -> Statuses {
        Statuses { room: vec![Room::default(); count.max(1)] }
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
    room: Vec<Room>,
}

impl Statuses {
    /// Room for at least `count` statuses, to be passed to the library; what was read before is gone.
    pub fn of(&mut self, count: usize) -> *mut c_void {
        if self.room.len() < count.max(1) {
            self.room.resize(count.max(1), Room::default());
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
