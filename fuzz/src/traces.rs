//! Bytes as a trace: a capture, or a text series.

use parshall_trace::{observe_bytes, observe_bytes_with, Filter, Format, Options, Summary};

/// Reads a capture, also a compressed one; `None`: it is none, or is refused.
pub fn capture(bytes: &[u8]) -> Option<Summary> {
    (!is_text(bytes)).then(|| observe_bytes(bytes.to_vec())).flatten()
}

/// Reads a text series, not compressed; `None`: it is none, or is refused.
pub fn series(bytes: &[u8]) -> Option<Summary> {
    is_text(bytes).then(|| observe_bytes(bytes.to_vec())).flatten()
}

/// Reads a text as CSV with columns that the user named.
pub fn columns(bytes: &[u8]) -> Option<Summary> {
    let columns = Some("time=1,cwnd=2,rtt=3:ms".into());
    observe_bytes_with(
        bytes.to_vec(),
        &Options { sample_every_s: Some(0.1), rtt_s: None, columns, filter: Filter::default() },
    )
}

/// By the first four bytes; those of pcapng are white space, too.
fn is_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4)];
    let text = head.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    text && Format::recognise(head).is_none()
}
