//! Recordings of the calls that a kernel's congestion controls get, and our controls driven through them.
//!
//! | file | what |
//! | --- | --- |
//! | [`call`] | a call, with the state of its socket before and after |
//! | [`recording`] | the file of a recording |
//! | [`events`] | what a control of ours is told of the kernel's calls |
//! | [`left_out`] | calls that the kernel left out |
//! | [`qlog`] | a recorded connection in qlog |
//! | [`mod@replay`] | a control driven through the calls, and compared |

mod call;
mod events;
mod left_out;
pub mod qlog;
mod recording;
mod replay;

pub use call::{Call, Kind, INNER};
pub use left_out::LeftOut;
pub use recording::{Connection, End, Header, Recording, RecordingError, Writer};
pub use replay::{replay, Compared, Difference, Quantity, Replayed};
