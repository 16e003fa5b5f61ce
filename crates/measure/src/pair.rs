//! Two processes that exchange bytes: the few MPI calls that measuring needs, without their C interface.

use std::ffi::{c_char, c_int, c_void};

use hayase_mpi::{Abi, Functions, Handle, Library, SUCCESS};

/// A call of MPI that failed: its name and the code it returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failed(pub &'static str, pub c_int);

/// One of two processes, and its partner.
///
/// All calls are made by one thread, between the library's start and its end.
#[derive(Debug)]
pub struct Pair {
    mpi: Functions,
    abi: Abi,
    /// Rank of this process.
    pub rank: c_int,
    /// Number of processes; there are two if anything is sent.
    pub ranks: c_int,
}

/// A started transfer. The buffer may be used again when the transfer is done.
#[derive(Debug)]
#[must_use = "a transfer that nobody waits for uses its buffer for ever"]
pub struct Started<'a> {
    request: [Handle; 1],
    buffer: std::marker::PhantomData<&'a mut [u8]>,
}

fn check(what: &'static str, code: c_int) -> Result<(), Failed> {
    if code == SUCCESS { Ok(()) } else { Err(Failed(what, code)) }
}

impl Pair {
    /// Starts MPI.
    ///
    /// # Errors
    /// The call that failed. Most MPIs end the process instead.
    pub fn start(library: &Library) -> Result<Self, Failed> {
        let mpi = Functions::load(library, "MPI_");
        let abi = library.abi().clone();
        let (mut rank, mut ranks) = (0, 0);
        // SAFETY: MPI_Init is the first call and takes null for both arguments since MPI 2.
        check("MPI_Init", unsafe { (mpi.init)(std::ptr::null_mut(), std::ptr::null_mut()) })?;
        // SAFETY: MPI has started; the room is an int.
        check("MPI_Comm_rank", unsafe { (mpi.comm_rank)(abi.comm_world, &raw mut rank) })?;
        // SAFETY: as above.
        check("MPI_Comm_size", unsafe { (mpi.comm_size)(abi.comm_world, &raw mut ranks) })?;
        Ok(Self { mpi, abi, rank, ranks })
    }

    /// Ends MPI.
    pub fn end(self) -> Result<(), Failed> {
        // SAFETY: MPI has started, and the last call is this one.
        check("MPI_Finalize", unsafe { (self.mpi.finalize)() })
    }

    fn other(&self) -> c_int {
        1 - self.rank
    }

    /// Returns the host of this process.
    pub fn host(&self) -> String {
        // MPI_MAX_PROCESSOR_NAME is 128 or 256 in all known libraries.
        let (mut name, mut length) = ([0_u8; 4096], 0);
        // SAFETY: the room is larger than any library's maximum.
        let code = unsafe { (self.mpi.get_processor_name)(name.as_mut_ptr().cast::<c_char>(), &raw mut length) };
        let length = if code == SUCCESS { usize::try_from(length).unwrap_or(0).min(name.len()) } else { 0 };
        String::from_utf8_lossy(&name[..length]).into_owned()
    }

    /// Sends to the partner and blocks.
    #[inline]
    pub fn send(&self, buffer: &[u8], tag: c_int) -> Result<(), Failed> {
        let (world, byte) = (self.abi.comm_world, self.abi.byte);
        // SAFETY: the buffer has this length, and MPI only reads it; `length` is checked where buffers are
        // made.
        check("MPI_Send", unsafe {
            (self.mpi.send)(buffer.as_ptr().cast(), length(buffer), byte, self.other(), tag, world)
        })
    }

    /// Receives a buffer's length from the partner and blocks.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8], tag: c_int) -> Result<(), Failed> {
        let (world, byte) = (self.abi.comm_world, self.abi.byte);
        let status = self.abi.status_ignore as *mut c_void;
        // SAFETY: the buffer has this length and belongs to this process alone; no status is requested.
        check("MPI_Recv", unsafe {
            (self.mpi.recv)(buffer.as_mut_ptr().cast(), length(buffer), byte, self.other(), tag, world, status)
        })
    }

    /// Starts a send.
    pub fn start_send<'a>(&self, buffer: &'a [u8], tag: c_int) -> Result<Started<'a>, Failed> {
        let (world, byte) = (self.abi.comm_world, self.abi.byte);
        let mut started = Started { request: [0], buffer: std::marker::PhantomData };
        let request = started.request.as_mut_ptr().cast::<c_void>();
        // SAFETY: the buffer is borrowed until the transfer is done; the room for the request is as wide as any handle.
        check("MPI_Isend", unsafe {
            (self.mpi.isend)(buffer.as_ptr().cast(), length(buffer), byte, self.other(), tag, world, request)
        })?;
        Ok(started)
    }

    /// Starts a receive.
    pub fn start_receive<'a>(&self, buffer: &'a mut [u8], tag: c_int) -> Result<Started<'a>, Failed> {
        let (world, byte) = (self.abi.comm_world, self.abi.byte);
        let mut started = Started { request: [0], buffer: std::marker::PhantomData };
        let request = started.request.as_mut_ptr().cast::<c_void>();
        // SAFETY: as above, and nobody else uses the buffer until then.
        check("MPI_Irecv", unsafe {
            (self.mpi.irecv)(buffer.as_mut_ptr().cast(), length(buffer), byte, self.other(), tag, world, request)
        })?;
        Ok(started)
    }

    /// Returns true if a transfer is done by now.
    pub fn is_done(&self, started: &mut Started<'_>) -> Result<bool, Failed> {
        let mut flag = 0;
        let (request, status) = (started.request.as_mut_ptr().cast::<c_void>(), self.abi.status_ignore as *mut c_void);
        // SAFETY: the request was made by this library; no status is requested.
        check("MPI_Test", unsafe { (self.mpi.test)(request, &raw mut flag, status) })?;
        Ok(flag != 0)
    }

    /// Waits until a transfer is done.
    pub fn wait(&self, mut started: Started<'_>) -> Result<(), Failed> {
        let (request, status) = (started.request.as_mut_ptr().cast::<c_void>(), self.abi.status_ignore as *mut c_void);
        // SAFETY: as above.
        check("MPI_Wait", unsafe { (self.mpi.wait)(request, status) })
    }
}

/// Returns the length of a buffer in MPI's type; buffers have at most 2 GiB minus one byte.
fn length(buffer: &[u8]) -> c_int {
    c_int::try_from(buffer.len()).unwrap_or(c_int::MAX)
}
