//! Foreign code: congestion controls of users, and the watch over the process in which they run.
//!
//! A run with a control from outside has a process of its own (`python/parshall/scenario/foreign`), because a Python class or a
//! C library may loop, end its process, or take the machine's memory. The parent can ask at any moment what that
//! process does.
//!
//! * [`Library`]: controls in shared libraries, by the C interface `parshall_control.h`.
//! * [`Page`]: eight words of memory that both processes map. The parent reads them even if the process is stuck or
//!   dead.
//! * [`mod@watched`]: makers of controls that note in the page when foreign code is entered and left, at which simulated
//!   time, and for which flow. That is four stores to memory a call. A run without controls from outside has no page.
//! * [`Watch`]: a thread that needs no GIL. It copies the progress of the simulation into the page, and ends the
//!   process when its parent is gone or when it has taken more memory than it may.

mod library;
mod page;
mod watch;
mod watched;

pub use library::{Library, LibraryError};
pub use page::Page;
pub use watch::Watch;
pub use watched::{largest_window, watched};
