//! libbpf, loaded when it is needed: whoever records nothing needs neither it nor its headers. The only `unsafe` code of the crate.
//!
//! Each function passes libbpf pointers that it made itself, or memory that lives for the time of the call. An object owns its maps.

#![allow(unsafe_code)]

use crate::error::BpfError;
use libloading::Library;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::{Mutex, OnceLock, PoisonError};

/// BPF_F_LINK of the kernel's `linux/bpf.h`: the map is registered by a link.
const LINKED: u32 = 1 << 13;

/// BPF_STRUCT_OPS of `enum bpf_attach_type`.
const STRUCT_OPS: c_int = 44;

type Pointer = *mut c_void;
type OnSample = unsafe extern "C" fn(Pointer, Pointer, usize) -> c_int;
type OnPrint = unsafe extern "C" fn(c_int, *const c_char, Pointer) -> c_int;

/// Declares the functions of libbpf that are used, with their types.
macro_rules! functions {
    ($($name:ident($($type:ty),*) $(-> $result:ty)?;)*) => {
        #[allow(non_snake_case)] // libbpf's names
        struct Functions { $($name: unsafe extern "C" fn($($type),*) $(-> $result)?,)* }

        impl Functions {
            fn find(library: &Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of bpf/libbpf.h and bpf/bpf.h of libbpf 1.
                unsafe { Ok(Self { $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)* }) }
            }
        }
    };
}

functions! {
    libbpf_minor_version() -> u32;
    libbpf_set_print(Option<OnPrint>) -> Pointer;
    bpf_object__open_mem(*const c_void, usize, *const c_void) -> Pointer;
    bpf_object__load(Pointer) -> c_int;
    bpf_object__close(Pointer);
    bpf_object__find_map_by_name(Pointer, *const c_char) -> Pointer;
    bpf_object__next_map(Pointer, Pointer) -> Pointer;
    bpf_map__type(Pointer) -> c_int;
    bpf_map__fd(Pointer) -> c_int;
    bpf_map__set_map_flags(Pointer, u32) -> c_int;
    bpf_map__set_max_entries(Pointer, u32) -> c_int;
    bpf_map__set_initial_value(Pointer, *const c_void, usize) -> c_int;
    bpf_map__attach_struct_ops(Pointer) -> Pointer;
    bpf_link__destroy(Pointer) -> c_int;
    bpf_link_create(c_int, c_int, c_int, *const c_void) -> c_int;
    bpf_map_lookup_elem(c_int, *const c_void, *mut c_void) -> c_int;
    ring_buffer__new(c_int, OnSample, Pointer, *const c_void) -> Pointer;
    ring_buffer__consume(Pointer) -> c_int;
    ring_buffer__free(Pointer);
}

/// The functions, found once; the library stays loaded.
fn functions() -> Result<&'static Functions, BpfError> {
    static FOUND: OnceLock<Functions> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found);
    }
    // SAFETY: libbpf has no initialisation of its own.
    let library = unsafe { Library::new("libbpf.so.1") }.map_err(BpfError::NoLibrary)?;
    let found = Functions::find(&library).map_err(BpfError::NoLibrary)?;
    std::mem::forget(library);
    // SAFETY: `on_print` is what libbpf asks for.
    unsafe { (found.libbpf_set_print)(Some(on_print)) };
    Ok(FOUND.get_or_init(|| found))
}

/// What libbpf warned of since it was asked last.
static SAID: Mutex<String> = Mutex::new(String::new());

/// A printer of libbpf; a `va_list` is passed on as the pointer that it is as an argument on x86-64 and aarch64.
unsafe extern "C" fn on_print(level: c_int, format: *const c_char, arguments: Pointer) -> c_int {
    extern "C" {
        fn vsnprintf(to: *mut c_char, size: usize, format: *const c_char, arguments: Pointer) -> c_int;
    }
    const WARNING: c_int = 0;
    if level != WARNING {
        return 0;
    }
    let mut text = vec![0_u8; 1 << 16];
    // SAFETY: both are libbpf's, and no more than the buffer is written, with a zero at its end.
    unsafe { vsnprintf(text.as_mut_ptr().cast(), text.len(), format, arguments) };
    if let Ok(text) = CStr::from_bytes_until_nul(&text) {
        SAID.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text.to_string_lossy());
    }
    0
}

/// The last lines of what libbpf said: those that tell why.
fn said() -> String {
    const LINES: usize = 12;
    let text = std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner));
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    if last.is_empty() {
        String::new()
    } else {
        format!("\n{}", last.join("\n"))
    }
}

/// The error that libbpf left in `errno`.
fn refused(what: &str) -> BpfError {
    let source = io::Error::last_os_error();
    if source.raw_os_error() == Some(libc::EPERM)
        || source.raw_os_error() == Some(libc::EACCES) && said_nothing()
    {
        return BpfError::NoRights;
    }
    BpfError::Refused { what: what.into(), source, said: said() }
}

fn said_nothing() -> bool {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
}

/// What says that it failed by a negative number; `errno` is set.
fn check(result: c_int, what: impl FnOnce() -> String) -> Result<c_int, BpfError> {
    if result < 0 {
        return Err(refused(&what()));
    }
    Ok(result)
}

/// A BPF object, opened and perhaps loaded.
pub(crate) struct Program {
    functions: &'static Functions,
    object: NonNull<c_void>,
    /// Its name, for messages.
    what: String,
}

// SAFETY: nothing of an object is bound to a thread, and it is used by one at a time.
unsafe impl Send for Program {}

/// A map of a [`Program`].
#[derive(Clone, Copy)]
pub(crate) struct Map(NonNull<c_void>);

/// The type of a map that registers something (BPF_MAP_TYPE_STRUCT_OPS).
const STRUCT_OPS_MAP: c_int = 26;

impl Program {
    /// Opens an ELF file.
    pub(crate) fn open(elf: &[u8], what: &str) -> Result<Self, BpfError> {
        let functions = functions()?;
        // SAFETY: libbpf copies what it needs of `elf`.
        let object = unsafe { (functions.bpf_object__open_mem)(elf.as_ptr().cast(), elf.len(), ptr::null()) };
        let object = NonNull::new(object).ok_or_else(|| refused(&format!("open {what}")))?;
        Ok(Self { functions, object, what: what.into() })
    }

    /// The map of that name.
    pub(crate) fn map(&self, name: &str) -> Option<Map> {
        let name = CString::new(name).ok()?;
        // SAFETY: the object is open.
        let map =
            unsafe { (self.functions.bpf_object__find_map_by_name)(self.object.as_ptr(), name.as_ptr()) };
        NonNull::new(map).map(Map)
    }

    /// The map with the control.
    pub(crate) fn control(&self) -> Option<Map> {
        let mut map = ptr::null_mut();
        loop {
            // SAFETY: the object is open, and the map is one of it.
            map = unsafe { (self.functions.bpf_object__next_map)(self.object.as_ptr(), map) };
            let found = NonNull::new(map)?;
            // SAFETY: as above.
            if unsafe { (self.functions.bpf_map__type)(map) } == STRUCT_OPS_MAP {
                return Some(Map(found));
            }
        }
    }

    /// Says, before it is loaded, how large a map is.
    pub(crate) fn set_size(&self, map: Map, size: u32) -> Result<(), BpfError> {
        // SAFETY: the map is one of this object.
        let result = unsafe { (self.functions.bpf_map__set_max_entries)(map.0.as_ptr(), size) };
        check(result, || format!("make room for the calls of {}", self.what)).map(drop)
    }

    /// Says, before it is loaded, what a map of constants has.
    pub(crate) fn set_value(&self, map: Map, value: &[u8]) -> Result<(), BpfError> {
        // SAFETY: the map is one of this object, and has a value of this size, or libbpf refuses.
        let result = unsafe {
            (self.functions.bpf_map__set_initial_value)(map.0.as_ptr(), value.as_ptr().cast(), value.len())
        };
        check(result, || format!("set {}", self.what)).map(drop)
    }

    /// Loads it into the kernel.
    pub(crate) fn load(&self, control: Map) -> Result<(), BpfError> {
        // SAFETY: the object is open, and the map is one of it.
        let result = unsafe {
            (self.functions.bpf_map__set_map_flags)(control.0.as_ptr(), LINKED);
            (self.functions.bpf_object__load)(self.object.as_ptr())
        };
        check(result, || format!("load {}", self.what)).map(drop)
    }

    /// Registers the control, as long as the link lives.
    pub(crate) fn attach(&self, control: Map) -> Result<Link, BpfError> {
        let what = || format!("register {}", self.what);
        // SAFETY: the object is loaded, and the map is one of it.
        let link = unsafe { (self.functions.bpf_map__attach_struct_ops)(control.0.as_ptr()) };
        let link = NonNull::new(link).ok_or_else(|| refused(&what()))?;
        // SAFETY: takes nothing.
        if unsafe { (self.functions.libbpf_minor_version)() } >= 2 {
            return Ok(Link(Held::Libbpf(self.functions, link)));
        }
        // Before version 1.2 libbpf knew no links of maps: it has filled the map, and we make the link.
        // SAFETY: takes numbers only.
        let descriptor =
            unsafe { (self.functions.bpf_link_create)(self.fd(control), 0, STRUCT_OPS, ptr::null()) };
        check(descriptor, what)?;
        // SAFETY: the descriptor is new and ours.
        Ok(Link(Held::Kernel(unsafe { OwnedFd::from_raw_fd(descriptor) })))
    }

    fn fd(&self, map: Map) -> c_int {
        // SAFETY: the map is one of this object.
        unsafe { (self.functions.bpf_map__fd)(map.0.as_ptr()) }
    }

    /// The first value of a map of 64-bit numbers.
    pub(crate) fn first(&self, map: Map) -> Result<u64, BpfError> {
        let (first, mut value) = (0_u32, 0_u64);
        // SAFETY: the map's keys and values have these sizes (bpf/recorder.h).
        let result = unsafe {
            (self.functions.bpf_map_lookup_elem)(
                self.fd(map),
                (&raw const first).cast(),
                (&raw mut value).cast(),
            )
        };
        check(result, || format!("read the counts of {}", self.what))?;
        Ok(value)
    }

    /// Begins to read a map that is a ring buffer.
    pub(crate) fn ring(&self, map: Map) -> Result<Ring, BpfError> {
        let mut samples = Box::<Samples>::default();
        // SAFETY: `on_sample` is what libbpf asks for, and gets the samples, which live as long as the ring: both are dropped together.
        let buffer = unsafe {
            (self.functions.ring_buffer__new)(
                self.fd(map),
                on_sample,
                (&raw mut *samples).cast(),
                ptr::null(),
            )
        };
        let buffer =
            NonNull::new(buffer).ok_or_else(|| refused(&format!("read the calls of {}", self.what)))?;
        Ok(Ring { functions: self.functions, buffer, samples })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody has it any more.
        unsafe { (self.functions.bpf_object__close)(self.object.as_ptr()) }
    }
}

/// The registration of a control, which ends with this value.
pub(crate) struct Link(Held);

enum Held {
    Kernel(#[allow(dead_code)] OwnedFd), // it is closed when it is dropped, which is all
    Libbpf(&'static Functions, NonNull<c_void>),
}

// SAFETY: as of `Program`.
unsafe impl Send for Link {}

impl Drop for Link {
    fn drop(&mut self) {
        if let Held::Libbpf(functions, link) = &self.0 {
            // SAFETY: it was not destroyed before.
            unsafe { (functions.bpf_link__destroy)(link.as_ptr()) };
        }
    }
}

/// What was read, sample after sample; in a box, as libbpf has its address.
#[derive(Default)]
struct Samples(Vec<u8>);

/// A reader of a ring buffer.
pub(crate) struct Ring {
    functions: &'static Functions,
    buffer: NonNull<c_void>,
    samples: Box<Samples>,
}

// SAFETY: as of `Program`.
unsafe impl Send for Ring {}

impl Ring {
    /// Hands over what has come since the last time, sample after sample.
    pub(crate) fn take<T>(&mut self, all: impl FnOnce(&[u8]) -> T) -> T {
        // SAFETY: the ring is alive. Errors are of the callback, which has none.
        unsafe { (self.functions.ring_buffer__consume)(self.buffer.as_ptr()) };
        let said = all(&self.samples.0);
        self.samples.0.clear();
        said
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: it is alive, and nobody has it any more.
        unsafe { (self.functions.ring_buffer__free)(self.buffer.as_ptr()) }
    }
}

unsafe extern "C" fn on_sample(samples: Pointer, data: Pointer, size: usize) -> c_int {
    // SAFETY: `samples` is the box of the ring that is being read, and libbpf lends `size` bytes.
    let (samples, data) =
        unsafe { (&mut *samples.cast::<Samples>(), std::slice::from_raw_parts(data.cast(), size)) };
    samples.0.extend_from_slice(data);
    0
}
