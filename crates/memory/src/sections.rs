//! Copies of arrays that Fortran makes for arguments with scattered elements, as in `call f(a(1:n:2))`. The
//! library of gfortran allocates and fills a copy before the call, and copies it back afterwards.

use std::slice;

use hayase_trace::memory::AccessKind;

use crate::recorder::{Place, key};
use crate::state;

/// Start of an array's descriptor in gfortran from version 8 on.
#[repr(C)]
struct Descriptor {
    base: u64,
    _offset: u64,
    element: u64,
    _version: i32,
    rank: i8,
    _kind: i8,
    _attribute: i16,
    _span: i64,
}

/// One dimension, after the start: its stride in elements, its lowest and its highest index.
#[repr(C)]
struct Dimension {
    stride: i64,
    lower: i64,
    upper: i64,
}

/// Handles a call of `_gfortran_internal_pack`, which has copied the array to `copy`.
///
/// # Safety
/// `array` is the descriptor that the program gave to that function.
pub(crate) unsafe fn packed(place: Place, array: u64, copy: u64) {
    // SAFETY: promised by the caller.
    let bytes = unsafe { access(place, array, false) };
    note(place, copy, bytes, true);
}

/// Handles a call of `_gfortran_internal_unpack`, which will copy `copy` to the array, if it is a copy.
///
/// # Safety
/// As that of [`packed`].
pub(crate) unsafe fn unpacked(place: Place, array: u64, copy: u64) {
    // SAFETY: promised by the caller.
    unsafe {
        if (*(array as *const Descriptor)).base != copy && copy != 0 {
            note(place, copy, dimensions(array).iter().fold((*(array as *const Descriptor)).element, times), false);
            access(place, array, true);
        }
    }
}

/// Multiplies a size by an extent.
fn times(size: u64, dimension: &Dimension) -> u64 {
    size.saturating_mul((dimension.upper - dimension.lower + 1).max(0) as u64)
}

/// # Safety
/// As that of [`packed`].
unsafe fn dimensions(array: u64) -> &'static [Dimension] {
    let start = array as *const Descriptor;
    // SAFETY: promised by the caller; the reference does not outlive the call.
    unsafe { slice::from_raw_parts(start.add(1).cast(), (*start).rank.max(0) as usize) }
}

/// Records an access of each element, with neighbours as one access; returns the bytes of all.
///
/// # Safety
/// As that of [`packed`].
unsafe fn access(place: Place, array: u64, write: bool) -> u64 {
    // SAFETY: promised by the caller.
    let (Descriptor { base, element, .. }, dimensions) = unsafe { (&*(array as *const Descriptor), dimensions(array)) };
    let bytes = dimensions.iter().fold(*element, times);
    // Contiguous rows are one access.
    let (row, outer) = match dimensions.split_first() {
        Some((first, outer)) if first.stride == 1 => (times(*element, first), outer),
        _ => (*element, dimensions),
    };
    let mut index = vec![0; outer.len()];
    for _ in 0..bytes.checked_div(row).unwrap_or(0) {
        let strides = index.iter().zip(outer).map(|(i, dimension)| i * dimension.stride);
        note(place, base.wrapping_add_signed(strides.sum::<i64>() * *element as i64), row, write);
        for (i, dimension) in index.iter_mut().zip(outer) {
            *i += 1;
            if *i <= dimension.upper - dimension.lower {
                break;
            }
            *i = 0;
        }
    }
    bytes
}

fn note(place: Place, address: u64, size: u64, write: bool) {
    let site = key(place.address, write);
    let _ = state::with(|recorder| recorder.access_of(site, address, size, AccessKind::Library, place.name));
}
