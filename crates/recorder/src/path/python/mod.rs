//! Running functions of a Python program under CPython: read from the interpreter's memory, without running
//! any of them.
//!
//! A library such as mpi4py releases the interpreter's lock while MPI works. So no function of the
//! interpreter may be called that creates an object, counts a reference or waits for that lock. Only two are
//! called: `PyGILState_GetThisThreadState` reads the variable in which the thread keeps its state,
//! `Py_IsInitialized` a flag. From there, frames, code objects and texts are plain memory with the `layout`
//! of the interpreter's version. They belong to this thread, which is inside its call: nobody changes or
//! frees them.
//!
//! The layout is checked before it is trusted. The first frames are read by system calls that fail where
//! there is no memory (`memory`), and the code object of a frame must have the type of code objects. Before
//! the check, or if it fails, there are no frames. Afterwards a known frame costs five words read.

mod layout;
mod lines;
mod memory;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};

use crate::mpi;
use layout::Layout;

/// Largest number of consecutive frames that belong to the interpreter itself.
const MOST_SHIMS: usize = 8;

/// The interpreter of this process.
#[derive(Debug)]
pub struct Python {
    layout: &'static Layout,
    thread_state: unsafe extern "C" fn() -> *const c_void,
    is_initialized: unsafe extern "C" fn() -> c_int,
    /// Address of the type of code objects.
    code_type: usize,
    base: usize,
    /// Result of the check that memory has the layout.
    checked: Cell<LayoutCheck>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LayoutCheck {
    NotYet,
    Right,
    Wrong,
}

/// A running function of Python.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunningFunction {
    frame: usize,
    code: usize,
    instruction: usize,
    /// Table of its lines, which tells its code from earlier code at the same address.
    table: usize,
}

impl RunningFunction {
    /// Returns a key that tells its instruction from others.
    #[inline]
    pub fn key(&self) -> usize {
        (self.instruction ^ self.code.rotate_left(20) ^ self.table.rotate_left(40)) | 1 << 63
    }
}

impl Python {
    /// Returns the interpreter of this process, if there is one.
    ///
    /// # Errors
    /// The layout of its memory is not known: the error is its version.
    pub fn of_process() -> Result<Option<Self>, String> {
        let names = ["Py_GetVersion", "PyGILState_GetThisThreadState", "Py_IsInitialized", "PyCode_Type"];
        let symbols = names.map(mpi::symbol);
        if symbols.iter().any(|symbol| symbol.is_null()) {
            return Ok(None);
        }
        let [version, thread_state, is_initialized, code_type] = symbols;
        // SAFETY: the functions of these names have these signatures in all versions; the first returns a text that
        // stays.
        let (version, thread_state, is_initialized) = unsafe {
            let version = std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const c_char>(version)();
            (
                CStr::from_ptr(version).to_string_lossy().into_owned(),
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const c_void>(thread_state),
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(is_initialized),
            )
        };
        let Some(layout) = Layout::of(&version) else {
            return Err(version.split(' ').next().unwrap_or_default().to_owned());
        };
        let base = super::rule::find(thread_state as usize + 1).map_or(0, |(module, _)| module.base);
        let checked = Cell::new(LayoutCheck::NotYet);
        Ok(Some(Self { layout, thread_state, is_initialized, code_type: code_type as usize, base, checked }))
    }

    /// Returns the load address of the interpreter's own functions.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Returns the function that this thread is in.
    #[inline]
    pub fn innermost(&self) -> Option<RunningFunction> {
        // SAFETY: both read a variable, and may be called at any time and by any thread.
        let state = unsafe {
            if (self.is_initialized)() == 0 {
                return None;
            }
            (self.thread_state)() as usize
        };
        if state == 0 {
            return None;
        }
        match self.checked.get() {
            LayoutCheck::Right => self.running(self.first(state, memory::trusted_word)?, memory::trusted_word),
            LayoutCheck::Wrong => None,
            LayoutCheck::NotYet => self.read_first_innermost(state),
        }
    }

    /// Returns the caller of a function.
    #[inline]
    pub fn caller(&self, of: &RunningFunction) -> Option<RunningFunction> {
        self.running(memory::trusted_word(of.frame + self.layout.frame.previous)?, memory::trusted_word)
    }

    /// Returns the frame that a thread's state leads to.
    #[inline]
    fn first(&self, state: usize, read: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        let at = read(state + self.layout.thread_state)?;
        match self.layout.control {
            Some(offset) => read(at + offset),
            None => Some(at),
        }
    }

    /// Returns the function of a frame; for a frame of the interpreter itself, that of its caller.
    #[inline]
    fn running(&self, mut frame: usize, read: impl Fn(usize) -> Option<usize>) -> Option<RunningFunction> {
        let of = &self.layout.frame;
        for _ in 0..MOST_SHIMS {
            if frame == 0 {
                return None;
            }
            if !of.is_shim(frame, &read)? {
                let code = read(frame + of.code)?;
                let instruction = of.instruction(frame, &read)?;
                return Some(RunningFunction { frame, code, instruction, table: read(code + self.layout.code.table)? });
            }
            frame = read(frame + of.previous)?;
        }
        None
    }

    /// Reads the frames for the first time, by calls that fail where there is no memory.
    #[cold]
    fn read_first_innermost(&self, state: usize) -> Option<RunningFunction> {
        let running = || {
            let innermost = self.running(self.first(state, memory::word)?, memory::word)?;
            let mut next = Some(innermost);
            for _ in 0..super::DEEPEST {
                let Some(running) = next else { break };
                self.place(&running)?;
                let above = memory::word(running.frame + self.layout.frame.previous)?;
                next = if above == 0 { None } else { self.running(above, memory::word) };
            }
            Some(innermost)
        };
        let running = running();
        self.checked.set(if running.is_some() { LayoutCheck::Right } else { LayoutCheck::Wrong });
        running
    }

    /// Returns the place as `file:line (function)`.
    #[cold]
    pub fn place(&self, running: &RunningFunction) -> Option<String> {
        let of = &self.layout.code;
        let word = |offset: usize| memory::word(running.code + offset);
        if word(layout::TYPE)? != self.code_type {
            return None;
        }
        let file = self.layout.text.read(word(of.file)?)?;
        let name = self.layout.text.read(word(of.name)?)?;
        let first = memory::bytes(running.code + of.first_line, 4)?;
        let first = i32::from_ne_bytes(first.try_into().ok()?);
        let table = memory::bytes(running.table + layout::BYTES, memory::word(running.table + layout::SIZE)?)?;
        Some(match of.lines.find(&table, first, of.offset(running)) {
            Some(line) => format!("{file}:{line} ({name})"),
            None => format!("{file} ({name})"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_python_has_no_interpreter() {
        assert!(matches!(Python::of_process(), Ok(None)));
    }
}
