//! The one door for bytes that others made: every file that is no work of this process comes in here.
//!
//! | module | owns |
//! | --- | --- |
//! | [`readers`] | the list of readers, each with its limits and the memory that it may take |
//! | [`input`] | opening and decompression, in constant memory |
//! | [`lines`] | lines of a text |
//! | [`mod@document`] | files that are read as a whole |
//! | [`json`] | JSON values, under a budget of memory |
//! | [`budget`] | memory that is counted as it is taken |
//! | [`of_kernel`] | text of `/proc` and `/sys`, which is no foreign one |
//! | [`checked`] | parts of a file at offsets that the file itself states |
//!
//! The crate knows no format but JSON: what bytes mean is the business of whoever reads them. Other crates may not open or decompress
//! files themselves: `clippy.toml` has the list of what is disallowed outside, and what is no foreign file (`/proc`, files of our own)
//! says so where it is opened. A new reader is an entry in [`Reader`]; the fuzz targets (`fuzz/src/lib.rs`) match on it, so that
//! one without a target does not compile.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "this is the door")]

pub mod budget;
pub mod checked;
pub mod document;
mod error;
pub mod input;
pub mod json;
mod kernel;
pub mod lines;
pub mod readers;

pub use budget::Budget;
pub use document::{document, of_bytes};
pub use error::ReadError;
pub use input::{Input, Problem};
pub use kernel::of_kernel;
pub use lines::Lines;
pub use readers::{Limits, Reader};
