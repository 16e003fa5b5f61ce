//! Arrow C data interface: a table as a stream of one batch whose buffers are the columns themselves.
//!
//! Source: <https://arrow.apache.org/docs/format/CDataInterface.html>, `CStreamInterface.html`. The holder of
//! a structure owns it until its `release` is called, which sets `release` to null. Moving a structure out of
//! a capsule sets `release` of the one left behind to null. Structures may be released in any order and by
//! any thread.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use crate::column::{Column, Columns, Named};

/// `struct ArrowSchema`.
#[repr(C)]
pub struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
pub struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
pub struct Stream {
    get_schema: unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int,
    get_next: unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int,
    get_last_error: unsafe extern "C" fn(*mut Stream) -> *const c_char,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

// SAFETY: the targets of the pointers are owned by the structure (boxes) or shared and never written to (columns), and
// none of them is bound to a thread.
unsafe impl Send for Schema {}
// SAFETY: as for `Schema`.
unsafe impl Send for Stream {}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the schema has not been released, because `release` is not null, and we own it.
            unsafe { release(self) };
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as for `Schema`.
            unsafe { release(self) };
        }
    }
}

/// Data that a schema points to.
struct OfSchema {
    /// Kept alive for the pointer of the schema, like the children.
    _name: CString,
    children: Vec<*mut Schema>,
}

/// Data that an array points to.
struct OfArray {
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
    /// Owner of the buffers.
    _columns: Arc<Columns>,
}

/// Data of a stream: the columns, handed out once.
struct OfStream {
    columns: Arc<Columns>,
    is_done: bool,
}

fn schema_of(name: &str, format: &'static CStr, children: Vec<Schema>) -> Schema {
    // A name that contains a zero byte ends there.
    let name = CString::new(name.split('\0').next().unwrap_or_default()).unwrap_or_default();
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut own = Box::new(OfSchema { _name: name, children });
    Schema {
        format: format.as_ptr(),
        name: own._name.as_ptr(),
        metadata: ptr::null(),
        flags: 0,
        n_children: own.children.len() as i64,
        children: own.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(own).cast(),
    }
}

/// Returns the types of the columns, as a structure of them.
pub fn schema(columns: &Columns) -> Schema {
    let children = columns.iter().map(|named| schema_of(&named.name, named.values.memory().2, Vec::new()));
    schema_of("", c"+s", children.collect())
}

/// Releases a schema; its holder calls it once.
unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the caller holds a schema that was not released; its private data is the box that `schema_of` made, and
    // its children are boxes from there, which may have been moved out of (then their own `release` is null).
    unsafe {
        let own = Box::from_raw((*schema).private_data.cast::<OfSchema>());
        for child in &own.children {
            drop(Box::from_raw(*child));
        }
        (*schema).release = None;
    }
}

fn array_of(length: usize, buffers: Vec<*const c_void>, children: Vec<Array>, columns: &Arc<Columns>) -> Array {
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut own = Box::new(OfArray { buffers, children, _columns: Arc::clone(columns) });
    Array {
        length: length as i64,
        null_count: 0,
        offset: 0,
        n_buffers: own.buffers.len() as i64,
        n_children: own.children.len() as i64,
        buffers: own.buffers.as_mut_ptr(),
        children: own.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(own).cast(),
    }
}

/// Returns all rows, as a structure of the columns. No value is missing, so there is no bitmap.
fn array(columns: &Arc<Columns>) -> Array {
    let of = |named: &Named| {
        let mut buffers = vec![ptr::null(), named.values.memory().0];
        if let Column::Text(_, bytes) = &named.values {
            buffers.push(bytes.as_ptr().cast());
        }
        array_of(named.values.len(), buffers, Vec::new(), columns)
    };
    let length = columns.first().map_or(0, |named| named.values.len());
    array_of(length, vec![ptr::null()], columns.iter().map(of).collect(), columns)
}

/// Releases an array; its holder calls it once.
unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: as for `release_schema`; a child that was not moved out of is released here.
    unsafe {
        let own = Box::from_raw((*array).private_data.cast::<OfArray>());
        for child in &own.children {
            if let Some(release) = (**child).release {
                release(*child);
            }
            drop(Box::from_raw(*child));
        }
        (*array).release = None;
    }
}

/// Returns the table as a stream.
pub fn stream(columns: Arc<Columns>) -> Stream {
    Stream {
        get_schema,
        get_next,
        get_last_error,
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(OfStream { columns, is_done: false })).cast(),
    }
}

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: the caller holds a stream that was not released and gives room for a schema, which holds nothing yet.
    unsafe {
        let own = &*(*stream).private_data.cast::<OfStream>();
        out.write(schema(&own.columns));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: the caller holds a stream that was not released, uses it in one thread at a time, and gives room for an
    // array, which holds nothing yet.
    unsafe {
        let own = &mut *(*stream).private_data.cast::<OfStream>();
        let next = match std::mem::replace(&mut own.is_done, true) {
            false => array(&own.columns),
            // A released array marks the end.
            true => {
                let mut end = array_of(0, Vec::new(), Vec::new(), &own.columns);
                release_array(&mut end);
                end
            }
        };
        out.write(next);
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: the caller holds a stream that was not released; its private data is the box that `stream` made.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<OfStream>()));
        (*stream).release = None;
    }
}
