//! Archives of M-Lab's tcp-info: what the kernel's socket diagnosis (`INET_DIAG`) said of connections, again and again. A line of JSON
//! each, with messages of netlink in base64:
//!
//! | key | what |
//! | --- | --- |
//! | `Timestamp` | ISO 8601 |
//! | `RawIDM` | `struct inet_diag_msg`: ports and addresses, and a cookie that tells sockets apart |
//! | `Attributes[2]` | `struct tcp_info` (`INET_DIAG_INFO`), as long as the kernel made it |
//!
//! Reference: Linux, include/uapi/linux/inet_diag.h and tcp.h; both structures only ever grow at their ends.

use super::flow::{Manner, Sample, Series, MAX_FLOWS};
use super::kernel_times::Counters;
use super::ss::{self, Time};
use crate::error::TraceError;
use parshall_records::Tables;
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// `INET_DIAG_INFO`, and `AF_INET`.
const INFO: usize = 2;
const IPV4: u8 = 2;

/// The identity of a socket: their ends, and the cookie.
type Socket = (SocketAddr, SocketAddr, [u8; 8]);

/// The connections of an archive so far.
#[derive(Default)]
pub(super) struct Archive {
    flows: Vec<(Socket, Series)>,
    origin_s: Option<f64>,
    unusable: u64,
}

/// True if a line is of such an archive: its first one describes it.
pub(super) fn recognise(value: &Value) -> bool {
    value.get("RawIDM").is_some_and(Value::is_string)
        || value.get("Metadata").is_some_and(|about| about.get("UUID").is_some())
}

impl Archive {
    pub(super) fn take(
        &mut self,
        value: &Value,
        manner: Manner,
        tables: &mut Tables,
    ) -> Result<(), TraceError> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let info = value.get("Attributes").and_then(|all| all.get(INFO)).and_then(Value::as_str);
        let (Some(message), Some(info)) = (text("RawIDM").and_then(base64), info.and_then(base64)) else {
            return Ok(()); // the description of the archive, or a socket that is no connection
        };
        let (Some(socket), Some((Time::Absolute(time_s), _))) =
            (socket(&message), text("Timestamp").and_then(ss::time))
        else {
            self.unusable += 1;
            return Ok(());
        };
        let origin_s = *self.origin_s.get_or_insert(time_s);
        let at = match self.flows.iter().position(|(known, _)| *known == socket) {
            Some(at) => at,
            None if self.flows.len() >= MAX_FLOWS => return Ok(()),
            None => {
                let name = format!("{} > {}", socket.0, socket.1);
                self.flows.push((socket, Series::new(name, self.flows.len() as u32, manner)));
                self.flows.len() - 1
            }
        };
        let sample = Sample { time_s: time_s - origin_s, ..sample(&info) };
        self.unusable += u64::from(!self.flows[at].1.push(&sample, tables)?);
        Ok(())
    }

    /// The flows, and how many lines could not be used.
    pub(super) fn finish(self) -> (Vec<Series>, u64) {
        (self.flows.into_iter().map(|(_, series)| series).collect(), self.unusable)
    }
}

/// The ends of a `struct inet_diag_msg`: ports and addresses are in network byte order.
fn socket(message: &[u8]) -> Option<Socket> {
    let port = |at: usize| message.get(at..)?.first_chunk().copied().map(u16::from_be_bytes);
    let address = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = *message.get(at..)?.first_chunk()?;
        Some(if message[0] == IPV4 {
            IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]))
        } else {
            Ipv6Addr::from(bytes).to_canonical()
        })
    };
    let end = |port_at: usize, at: usize| Some(SocketAddr::new(address(at)?, port(port_at)?));
    Some((end(4, 8)?, end(6, 24)?, *message.get(44..)?.first_chunk()?))
}

/// The fields of a `struct tcp_info`, in the byte order of the hosts that M-Lab has; fields that an old kernel's lacks are unknown.
fn sample(info: &[u8]) -> Sample {
    let word = |at: usize| info.get(at..)?.first_chunk().copied().map(u32::from_le_bytes);
    let long = |at: usize| info.get(at..)?.first_chunk().copied().map(u64::from_le_bytes);
    let count = |at: usize| word(at).map(f64::from);
    let seconds = |at: usize| word(at).filter(|us| (1..u32::MAX).contains(us)).map(|us| f64::from(us) * 1e-6);
    let times = |at: usize| long(at).filter(|us| *us < 1 << 50).map(|us| us as f64 * 1e-6);
    Sample {
        in_flight_packets: count(24),
        srtt_s: seconds(68),
        ssthresh_packets: count(76),
        cwnd_packets: count(80),
        retransmissions: count(100),
        delivered_bytes: long(120).map(|bytes| bytes as f64),
        min_rtt_s: seconds(148),
        packets_sent: count(156), // those with data
        counters: times(168).map(|busy_s| Counters {
            busy_s,
            receiver_s: times(176).unwrap_or(0.0),
            buffer_s: times(184).unwrap_or(0.0),
        }),
        ..Sample::default()
    }
}

/// The bytes of a text in base64 (RFC 4648 §4); `None`: it is none.
fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0);
    for letter in text {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, held) = (bits << 6 | u32::from(value), held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_rfc_4648_has_it() {
        for (text, bytes) in
            [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm9v", b"foo"), ("Zm9vYmE=", b"fooba")]
        {
            assert_eq!(base64(text).as_deref(), Some(bytes));
        }
        assert_eq!(base64("+/8="), Some(vec![0xfb, 0xff]));
        assert_eq!(base64("no-base"), None);
    }
}
