//! Program for the fake MPI library.

#![allow(non_snake_case, reason = "they are the names of MPI")]

use std::ffi::{c_char, c_int, c_void};

const WORLD: c_int = 0x4400_0000;
const INT: c_int = 0x4c00_0405;
const REQUEST_NULL: c_int = 0x2c00_0000;
const ANY_SOURCE: c_int = -2;
const ANY_TAG: c_int = -1;

#[link(name = "fakempi")]
unsafe extern "C" {
    fn MPI_Init(count: *mut c_int, words: *mut *mut *mut c_char) -> c_int;
    fn MPI_Finalize() -> c_int;
    fn MPI_Barrier(comm: c_int) -> c_int;
    fn MPI_Isend(b: *const c_void, n: c_int, t: c_int, to: c_int, tag: c_int, c: c_int, r: *mut c_int) -> c_int;
    fn MPI_Irecv(b: *mut c_void, n: c_int, t: c_int, from: c_int, tag: c_int, c: c_int, r: *mut c_int) -> c_int;
    fn MPI_Waitall(count: c_int, requests: *mut c_int, statuses: *mut [c_int; 5]) -> c_int;
    fn MPI_Test(request: *mut c_int, flag: *mut c_int, status: *mut [c_int; 5]) -> c_int;
}

fn main() {
    let ignore = 1 as *mut [c_int; 5];
    let mut requests = [0; 4];
    let (mut flag, mut data) = (0, [0_i32; 16]);
    let to = data.as_mut_ptr().cast::<c_void>();
    // SAFETY: arguments are as MPI wants them.
    unsafe {
        assert_eq!(MPI_Init(std::ptr::null_mut(), std::ptr::null_mut()), 0);
        MPI_Irecv(to, 16, INT, ANY_SOURCE, ANY_TAG, WORLD, &raw mut requests[0]);
        MPI_Irecv(to, 16, INT, 0, 8, WORLD, &raw mut requests[1]);
        // Finds nothing, again and again, from one place.
        let mut waiting = requests[1];
        for _ in 0..1000 {
            MPI_Test(&raw mut waiting, &raw mut flag, ignore);
            assert_eq!(flag, 0);
        }
        MPI_Isend(to, 3, INT, 0, 7, WORLD, &raw mut requests[2]);
        MPI_Isend(to, 5, INT, 0, 8, WORLD, &raw mut requests[3]);
        assert_eq!(requests[2], requests[3], "sends share a handle");
        MPI_Waitall(4, requests.as_mut_ptr(), ignore);
        assert_eq!(requests, [REQUEST_NULL; 4]);
        MPI_Barrier(WORLD);
        MPI_Finalize();
    }
    println!("{}", to as usize);
}
