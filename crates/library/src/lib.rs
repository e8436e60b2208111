//! Congestion controls in shared libraries: `parshall_control.h` says what such a library has. It stands with what
//! `parshall new control` writes, in `python/parshall/scenario/templates/control`, as does the same in Rust.
//!
//! A library is trusted as any other code of the process; what is checked is what can be: that the symbol is there, that it
//! speaks this version of the interface, that it has the functions it must have, and what each call says.

#[allow(missing_docs, clippy::pedantic)] // it is a user's file too
#[path = "../../../python/parshall/scenario/templates/control/rust/src/abi.rs"]
mod abi;
mod control;

use abi::{
    Table, ABI, NEEDS_ACCURATE_ECN, NEEDS_GROWTH_IN_CWR, NEEDS_L4S, NEEDS_ONE_WAY_DELAY, NEEDS_PACING,
    NEEDS_RATE_SAMPLES, NEEDS_RECOVERY_WINDOW, NEEDS_TIMESTAMPS, SYMBOL,
};
use control::LibraryControl;
use parshall_congestion::external::{External, Maker, Says, Steering};
use parshall_congestion::{Needs, Start};
use std::mem::{offset_of, size_of, MaybeUninit};
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use thiserror::Error;

/// Why a library cannot be used.
#[derive(Debug, Error)]
pub enum LibraryError {
    /// The system does not load it.
    #[error("cannot be loaded: {0}")]
    NotLoaded(libloading::Error),
    /// It is no control.
    #[error("has no function {SYMBOL}(); parshall_control.h says what it returns")]
    NoSymbol,
    /// It was built with another header.
    #[error(
        "speaks version {0} of the interface, versions 1 to {ABI} are known; build it with this parshall_control.h"
    )]
    OtherVersion(u32),
    /// It asks for what nobody here can give it.
    #[error("needs {unknown:#x}, which version {version} of the interface does not know; bits that it knows: {known:#x}")]
    UnknownNeeds {
        /// Bits without a meaning.
        unknown: u32,
        /// Bits with one.
        known: u32,
        /// Its dialect.
        version: u32,
    },
    /// A function is missing.
    #[error("has no {0} in its table")]
    Missing(&'static str),
}

/// A loaded library with a congestion control.
#[derive(Clone, Debug)]
pub struct Library(Arc<Loaded>);

/// What must stay loaded as long as one of its controls is there.
#[derive(Debug)]
pub(crate) struct Loaded {
    table: Table,
    _library: libloading::Library,
}

impl Loaded {
    fn table(&self) -> &Table {
        &self.table
    }
}

/// Bytes of the table of a version of the interface.
fn size_of_table(version: u32) -> Option<usize> {
    match version {
        1 => Some(offset_of!(Table, set_slope)),
        2 | 3 => Some(offset_of!(Table, on_undo)), // the third knows another need
        ABI => Some(size_of::<Table>()),
        _ => None,
    }
}

/// Bits of `needs` that a version of the interface knows.
fn known_needs(version: u32) -> u32 {
    let first = NEEDS_RATE_SAMPLES | NEEDS_PACING | NEEDS_RECOVERY_WINDOW;
    let first = first | NEEDS_TIMESTAMPS | NEEDS_ACCURATE_ECN | NEEDS_GROWTH_IN_CWR;
    let third = if version >= 3 { NEEDS_L4S } else { 0 };
    let fourth = if version >= 4 { NEEDS_ONE_WAY_DELAY } else { 0 };
    first | third | fourth
}

/// The table of a library; functions that its version does not have are left out.
///
/// # Safety
/// `found` is what the library's symbol returned.
#[allow(unsafe_code)]
unsafe fn copied(found: *const Table) -> Result<Table, LibraryError> {
    // SAFETY: the version is the first field in every version of the table.
    let Some(&version) = (unsafe { found.cast::<u32>().as_ref() }) else {
        return Err(LibraryError::NoSymbol);
    };
    let size = size_of_table(version).ok_or(LibraryError::OtherVersion(version))?;
    let mut table = MaybeUninit::<Table>::zeroed();
    // SAFETY: the tables of all versions begin alike, that of this one has so many bytes, and a table of zeros is one
    // without functions.
    unsafe {
        ptr::copy_nonoverlapping(found.cast::<u8>(), table.as_mut_ptr().cast::<u8>(), size);
        Ok(table.assume_init())
    }
}

impl Library {
    /// Loads a library.
    ///
    /// # Errors
    /// [`LibraryError`]
    #[allow(unsafe_code)]
    pub fn load(path: &Path) -> Result<Self, LibraryError> {
        // SAFETY: whoever names the library trusts its code, as that of any program they start.
        let library = unsafe { libloading::Library::new(path) }.map_err(LibraryError::NotLoaded)?;
        // SAFETY: the header declares the symbol so.
        let table = unsafe {
            let symbol = library.get::<unsafe extern "C" fn() -> *const Table>(SYMBOL.as_bytes());
            copied(symbol.map_err(|_| LibraryError::NoSymbol)?())?
        };
        let loaded = Loaded { table, _library: library };
        let Table { create, destroy, on_ack, on_congestion, on_timeout, .. } = loaded.table();
        let functions = [
            ("create", create.is_some()),
            ("destroy", destroy.is_some()),
            ("on_ack", on_ack.is_some()),
            ("on_congestion", on_congestion.is_some()),
            ("on_timeout", on_timeout.is_some()),
        ];
        let (version, known) = (loaded.table().abi, known_needs(loaded.table().abi));
        let unknown = loaded.table().needs & !known;
        if unknown != 0 {
            return Err(LibraryError::UnknownNeeds { unknown, known, version });
        }
        match functions.into_iter().find(|&(_, there)| !there) {
            Some((name, _)) => Err(LibraryError::Missing(name)),
            None => Ok(Self(Arc::new(loaded))),
        }
    }

    /// What its controls need of the endpoint.
    pub fn needs(&self) -> Needs {
        let table = self.0.table();
        let needs = |bit| table.needs & bit != 0;
        Needs {
            rate_samples: needs(NEEDS_RATE_SAMPLES),
            pacing: needs(NEEDS_PACING),
            recovery_window: needs(NEEDS_RECOVERY_WINDOW),
            timestamps: needs(NEEDS_TIMESTAMPS),
            one_way_delay: needs(NEEDS_ONE_WAY_DELAY),
            accurate_ecn: needs(NEEDS_ACCURATE_ECN),
            growth_in_cwr: needs(NEEDS_GROWTH_IN_CWR),
            l4s: needs(NEEDS_L4S),
            from_reports: false,
            arrival_times: false, // as before, for datagrams, which controls from outside cannot steer
        }
    }

    /// Whether their slow start is the standard one, which another can replace.
    pub fn has_standard_slow_start(&self) -> bool {
        self.0.table().standard_slow_start != 0
    }

    /// How they can be steered by another control.
    pub fn steering(&self) -> Steering {
        let Table { set_slope, set_ssthresh, .. } = self.0.table();
        Steering { slope: set_slope.is_some(), ssthresh: set_ssthresh.is_some() }
    }
}

impl Maker for Library {
    fn make(&self, parameters: &str, start: Start) -> Result<(Box<dyn External>, Says), String> {
        let (control, says) = LibraryControl::new(&self.0, parameters, start)?;
        Ok((Box::new(control), says))
    }
}
