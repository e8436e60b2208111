//! Traces that somebody else took, read into the records.
//!
//! A capture is read once, frame after frame, in constant memory; each flow in it is followed as long as it lives. No bytes make
//! it panic or allocate without a limit.
//!
//! ```text
//! file ── reading ── capture ── packet ── flows ── connection ── direction ── rows ── records
//!      gzip, zstd    pcap(ng)   IP, TCP   bounded               losses, RTT, windows
//! ```
//!
//! | module | what | limit |
//! | --- | --- | --- |
//! | [`capture`] | frames of pcap and pcapng | records of 16 MiB |
//! | [`packet`] | link layer, IP, TCP | |
//! | [`tunnel`] | packets in packets | 4 within each other |
//! | [`filter`] | which packets are looked at | |
//! | [`flows`] | connections being followed | 256 MiB |
//! | [`direction`] | one flow: sequence numbers, losses, events | 256 ranges of each kind |
//! | [`events`] | what happened when | 64 to be written |
//! | [`holes`] | what of it was not seen | 256 ranges |
//! | [`path_times`] | round-trip times from any vantage point | 256 segments awaited |
//! | [`histogram`] | quantiles of them | 3712 counts |
//! | [`rounds`] | windows in consecutive round trips | 128 unsettled |
//! | [`limits`] | what limits a flow in each of them | 256 periods to be written |
//! | [`resent`] | which retransmissions were needless | 256 remembered |
//! | [`segment_size`] | packets in a merged segment | |
//! | [`arrivals`] | packets, bytes and connections in bins | 65,536 bins |
//! | [`columns`] | each packet, for estimators that need all of them | 8,000,000 packets |
//! | [`series`] | what senders recorded themselves | those of its readers in [`parshall_reading`] |
//!
//! Opening and decompression, and the memory that each reader may take, are those of [`parshall_reading::Reader`].

mod arrivals;
mod capture;
mod columns;
mod connection;
mod direction;
mod error;
mod events;
mod filter;
mod flows;
mod histogram;
mod holes;
mod limits;
mod observer;
mod packet;
mod path_times;
mod ranges;
mod resent;
mod rounds;
mod rows;
mod segment_size;
mod series;
mod tunnel;

pub use capture::{each_frame, Format, Frame, Stop};
pub use columns::{columns, Columns};
pub use error::TraceError;
pub use filter::Filter;
pub use observer::{observe, observe_bytes, observe_bytes_with, Monitor, Options, StoppedFile, Summary};
pub use packet::{decode, Content, Endpoint, Flags, Options as TcpOptions, Packet};
