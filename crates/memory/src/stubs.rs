//! Stubs before functions of other parts: they report the call with its arguments, and continue at the
//! function.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::opaque::Callee;

/// Largest number of functions with stubs.
const MAX_STUBS: usize = 1 << 14;

/// Functions behind stubs, by index; they are never freed.
static CALLEES: [AtomicPtr<Callee>; MAX_STUBS] = [const { AtomicPtr::new(ptr::null_mut()) }; MAX_STUBS];
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn callee(index: usize) -> Option<&'static Callee> {
    // SAFETY: null, or a pointer that `Stubs::add` has stored for good.
    unsafe { CALLEES.get(index)?.load(Ordering::Acquire).as_ref() }
}

/// A call of a function: its return address and its arguments.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    /// Return address.
    pub(crate) back: u64,
    /// Registers, as `common` and `around` keep them.
    frame: *const u64,
}

impl Call {
    /// Returns an argument: a word of a register or of the stack.
    pub(crate) fn argument(&self, index: usize) -> u64 {
        // SAFETY: the stub has put the registers rdi, rsi, rdx, rcx, r8 and r9 there, downwards from the
        // second word below the frame; the caller's arguments on the stack are above the return address.
        // Reading a word behind the last argument does no harm: the frame of the caller is there.
        unsafe { if index < 6 { *self.frame.sub(2 + index) } else { *self.frame.add(4 + index - 6) } }
    }

    /// Returns the result of a call that has returned.
    fn result(&self) -> u64 {
        // SAFETY: as above, of rax.
        unsafe { *self.frame.sub(1) }
    }
}

/// Reports a call of function `index`, which returns to `back`.
unsafe extern "C" fn called(index: usize, back: u64, frame: *const u64) {
    if let Some(callee) = callee(index) {
        callee.called(&Call { back, frame });
    }
}

/// Reports that a call has returned.
unsafe extern "C" fn returned(index: usize, back: u64, frame: *const u64) {
    if let Some(callee) = callee(index) {
        let call = Call { back, frame };
        callee.returned(&call, call.result());
    }
}

/// Common code of all stubs. They jump here with the index of the function and its address on the stack, the
/// index on top, above the return address. Keeps all registers that may hold arguments.
#[unsafe(naked)]
unsafe extern "C" fn common() {
    core::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rax",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push r10",
        "sub rsp, 128",
        "and rsp, -16",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, [rbp + 8]",
        "mov rsi, [rbp + 24]",
        "mov rdx, rbp",
        "call {note}",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "lea rsp, [rbp - 64]",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "pop rax",
        "pop rbp",
        // Removes the index; `ret` then takes the address of the function.
        "add rsp, 8",
        "ret",
        note = sym called,
    );
}

/// Makes a call for a stub and reports its result; otherwise like [`common`]. Arguments on the stack are not
/// passed on. Exceptions pass through.
#[unsafe(naked)]
unsafe extern "C" fn around() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        // Index, function and return address.
        ".cfi_def_cfa_offset 24",
        "push rbp",
        ".cfi_def_cfa_offset 32",
        ".cfi_offset rbp, -32",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rax",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push r10",
        "mov rdi, [rbp + 8]",
        "mov rsi, [rbp + 24]",
        "mov rdx, rbp",
        "call {called}",
        "mov rdi, [rbp - 16]",
        "mov rsi, [rbp - 24]",
        "mov rdx, [rbp - 32]",
        "mov rcx, [rbp - 40]",
        "mov r8, [rbp - 48]",
        "mov r9, [rbp - 56]",
        "call [rbp + 16]",
        "mov [rbp - 8], rax",
        "mov rdi, [rbp + 8]",
        "mov rsi, [rbp + 24]",
        "mov rdx, rbp",
        "call {returned}",
        "mov rax, [rbp - 8]",
        "leave",
        ".cfi_def_cfa rsp, 24",
        "add rsp, 16",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        called = sym called,
        returned = sym returned,
    );
}

/// Memory for stubs, writable until [`protect`](Self::protect).
pub(crate) struct Stubs {
    memory: *mut u8,
    count: usize,
}

/// Bytes of a stub: push the address, push the index, jump.
const STUB: usize = 40;

/// Reach of a call instruction, rounded down.
const REACH: usize = 1 << 30;

impl Stubs {
    /// Takes memory near the part that is loaded at `base`, if there is room.
    pub(crate) fn new(base: usize) -> Option<Self> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let places = (1..REACH >> 24).flat_map(|i| [base.wrapping_add(i << 24), base.saturating_sub(i << 24)]);
        for place in places.filter(|&place| place > 1 << 24) {
            let place = (place & !0xffff) as *mut c_void;
            let flags = flags | libc::MAP_FIXED_NOREPLACE;
            // SAFETY: asks for new memory where there is none yet.
            let memory = unsafe { libc::mmap(place, MAX_STUBS * STUB, protection, flags, -1, 0) };
            if memory == place {
                return Some(Self { memory: memory.cast(), count: 0 });
            }
            if memory != libc::MAP_FAILED {
                // SAFETY: the memory comes from a system that does not know the flag.
                unsafe { libc::munmap(memory, MAX_STUBS * STUB) };
            }
        }
        // SAFETY: asks for new memory anywhere: calls through the table of addresses reach it.
        let memory = unsafe { libc::mmap(ptr::null_mut(), MAX_STUBS * STUB, protection, flags, -1, 0) };
        (memory != libc::MAP_FAILED).then_some(Self { memory: memory.cast(), count: 0 })
    }

    /// Makes a stub for the function at this address, whose calls go to `callee`.
    pub(crate) fn add(&mut self, callee: Callee, address: usize) -> Option<usize> {
        let index = COUNT.load(Ordering::Relaxed);
        let way = if callee.returns_here() { around as *const () } else { common as *const () };
        CALLEES.get(index)?.store(Box::into_raw(Box::new(callee)), Ordering::Release);
        COUNT.store(index + 1, Ordering::Release);
        let mut code = [0x90_u8; STUB];
        // mov r11, address; push r11
        code[..2].copy_from_slice(&[0x49, 0xbb]);
        code[2..10].copy_from_slice(&(address as u64).to_le_bytes());
        code[10..12].copy_from_slice(&[0x41, 0x53]);
        // push index
        code[12] = 0x68;
        code[13..17].copy_from_slice(&(index as u32).to_le_bytes());
        // mov r11, way; jmp r11
        code[17..19].copy_from_slice(&[0x49, 0xbb]);
        code[19..27].copy_from_slice(&(way as u64).to_le_bytes());
        code[27..30].copy_from_slice(&[0x41, 0xff, 0xe3]);
        // SAFETY: the memory has room for MOST stubs, and there are no more functions than that.
        unsafe {
            let stub = self.memory.add(self.count * STUB);
            self.count += 1;
            ptr::copy_nonoverlapping(code.as_ptr(), stub, STUB);
            Some(stub as usize)
        }
    }

    /// Makes the stubs executable and no longer writable.
    pub(crate) fn protect(self) {
        // SAFETY: the memory that `new` was given.
        unsafe { libc::mprotect(self.memory.cast(), MAX_STUBS * STUB, libc::PROT_READ | libc::PROT_EXEC) };
    }
}

/// Redirects a call instruction.
///
/// # Safety
/// `call` is the address of a call instruction of five bytes.
pub(crate) unsafe fn redirect(call: usize, to: usize) {
    let Ok(way) = i32::try_from(to.wrapping_sub(call + 5) as isize) else { return };
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let start = (call + 1) & !(page - 1);
    let length = if (call + 4) & !(page - 1) == start { page } else { 2 * page };
    let (start, code) = (start as *mut c_void, libc::PROT_READ | libc::PROT_EXEC);
    // SAFETY: promised by the caller: the four bytes behind the first are the distance, and the pages are code.
    unsafe {
        if libc::mprotect(start, length, code | libc::PROT_WRITE) == 0 {
            ((call + 1) as *mut i32).write_unaligned(way);
            libc::mprotect(start, length, code);
        }
    }
}

/// Changes an entry of a table of addresses, which may be on a page that can only be read.
///
/// # Safety
/// `place` is such an entry.
pub(crate) unsafe fn replace(place: *mut usize, stub: usize) {
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let start = (place as usize & !(page - 1)) as *mut c_void;
    // SAFETY: promised by the caller; the page stays readable, and memory that was not writable before is not
    // writable afterwards.
    unsafe {
        let writable = libc::PROT_READ | libc::PROT_WRITE;
        if libc::mprotect(start, page, writable) == 0 {
            AtomicUsize::from_ptr(place).store(stub, Ordering::Release);
        }
    }
}
