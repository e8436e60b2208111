//! Foreign code watched: the side of the wall that is in the process of the foreign code.
//!
//! A run with a control from outside is done in a process of its own (`python/parshall/scenario/foreign`), because a Python class or a C library
//! may loop, end its process, or take the machine's memory. This crate says to the parent where that process is, at any moment:
//!
//! * [`Page`]: eight words of memory that both processes map. The parent reads them, also when the process is stuck or dead.
//! * [`watched`]: makers of controls that note in the page when foreign code is entered and left, at which simulated time, and for
//!   which flow. That is four stores to memory a call. A run without controls from outside has no page, and none of this.
//! * [`Watch`]: a thread that needs no GIL. It copies the progress of the simulation into the page, and ends the process when its
//!   parent is gone or when it has taken more memory than it may.

mod page;
mod watch;
mod watched;

pub use page::Page;
pub use watch::Watch;
pub use watched::{largest_window, watched};
