//! Congestion controls in shared libraries, by the C interface `parshall_control.h`. The header and its Rust twin are
//! among the files that `parshall new control` writes (`python/parshall/scenario/templates/control`).
//!
//! A library is trusted as any other code of the process; what is checked is what can be: that the symbol is there,
//! that it has this version of the interface, that it has the functions it must have, and the answer of each call.

#[allow(missing_docs, clippy::pedantic)] // it is a user's file too
#[path = "../../../python/parshall/scenario/templates/control/rust/src/abi.rs"]
mod abi;
mod control;
mod loaded;

use abi::{
    Table, ABI, NEEDS_ACCURATE_ECN, NEEDS_GROWTH_IN_CWR, NEEDS_L4S, NEEDS_ONE_WAY_DELAY, NEEDS_PACING,
    NEEDS_RATE_SAMPLES, NEEDS_RECOVERY_WINDOW, NEEDS_TIMESTAMPS, SYMBOL,
};
use control::LibraryControl;
use loaded::Loaded;
use parshall_congestion::external::{Answer, External, Maker, Steering};
use parshall_congestion::{Needs, Start};
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
        "speaks version {0} of the interface, accepted is version {ABI}; build it with this parshall_control.h"
    )]
    OtherVersion(u32),
    /// It asks for what nobody here can give it.
    #[error("needs {unknown:#x}, which the interface does not know; bits that it knows: {KNOWN_NEEDS:#x}")]
    UnknownNeeds {
        /// Bits without a meaning.
        unknown: u32,
    },
    /// A function is missing.
    #[error("has no {0} in its table")]
    Missing(&'static str),
}

/// A loaded library with a congestion control.
#[derive(Clone, Debug)]
pub struct Library(Arc<Loaded>);

/// Bits of `needs` that the interface knows.
const KNOWN_NEEDS: u32 = NEEDS_RATE_SAMPLES
    | NEEDS_PACING
    | NEEDS_RECOVERY_WINDOW
    | NEEDS_TIMESTAMPS
    | NEEDS_ACCURATE_ECN
    | NEEDS_GROWTH_IN_CWR
    | NEEDS_L4S
    | NEEDS_ONE_WAY_DELAY;

/// The table of a library.
///
/// # Safety
/// `found` is what the library's symbol returned.
#[allow(unsafe_code)]
unsafe fn copied(found: *const Table) -> Result<Table, LibraryError> {
    // SAFETY: the version is the first field of the table in every version.
    match unsafe { found.cast::<u32>().as_ref() } {
        None => Err(LibraryError::NoSymbol),
        // SAFETY: a table of this version has all its fields.
        Some(&ABI) => Ok(unsafe { ptr::read(found) }),
        Some(&version) => Err(LibraryError::OtherVersion(version)),
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
        let unknown = loaded.table().needs & !KNOWN_NEEDS;
        if unknown != 0 {
            return Err(LibraryError::UnknownNeeds { unknown });
        }
        match functions.into_iter().find(|&(_, there)| !there) {
            Some((name, _)) => Err(LibraryError::Missing(name)),
            None => Ok(Self(Arc::new(loaded))),
        }
    }

    /// Returns the needs of its controls from the endpoint.
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

    /// True if their slow start is the standard one, which another can replace.
    pub fn has_standard_slow_start(&self) -> bool {
        self.0.table().standard_slow_start != 0
    }

    /// Returns the calls to which they answer if another control steers them.
    pub fn steering(&self) -> Steering {
        let Table { set_slope, set_ssthresh, .. } = self.0.table();
        Steering { slope: set_slope.is_some(), ssthresh: set_ssthresh.is_some() }
    }
}

impl Maker for Library {
    fn make(&self, parameters: &str, start: Start) -> Result<(Box<dyn External>, Answer), String> {
        let (control, answer) = LibraryControl::new(&self.0, parameters, start)?;
        Ok((Box::new(control), answer))
    }
}
