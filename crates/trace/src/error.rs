//! Why a trace could not be observed.

use parshall_records::RecordsError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a trace could not be observed. Damage inside a trace is no error: what was readable is used, and
/// [`Stop`](crate::Stop) says where it ended.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be opened or read at all.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is nothing that can be observed.
    #[error("{}: {problem}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What was found, and what is accepted.
        problem: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The records could not be written.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

/// The accepted formats, for messages.
pub(crate) const ACCEPTED: &str =
    "accepted: pcap, pcapng, cwnd series (CSV with t_s,cwnd_pkts), TCP_INFO series (CSV or \
     JSON with SndCwnd and RTT), logs of ss -ti, iperf3 -J, flent, qlog, any CSV with --columns, \
     each also compressed with gzip or zstd";
