//! Frames of a pcap or pcapng file, one after the other, in constant memory.
//!
//! The formats are read by `pcap-parser`; what is added is time in nanoseconds whatever the file's resolution, buffers that grow
//! to the largest record and no further than [`MAX_RECORD`], and the byte at which a damaged file stops.
//! References: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.

use parshall_reading::Input;
use pcap_parser::pcapng::OptionCode;
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{
    Block, InterfaceDescriptionBlock, LegacyPcapReader, PcapBlockOwned, PcapError, PcapNGReader,
};
use std::ops::ControlFlow;

/// A longer record is taken for damage: no network has packets of this size.
pub const MAX_RECORD: usize = 16 << 20;

/// Interfaces of a pcapng section; more are taken for damage.
const MAX_INTERFACES: usize = 1 << 16;

/// Type, length, and the length again, draft-ietf-opsawg-pcapng §3.1.
const LEAST_BLOCK: u32 = 12;

/// Type of a section header block, the same in both byte orders.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// The buffer at the start.
const BUFFER: usize = 1 << 18;

const NS_PER_S: i128 = 1_000_000_000;

/// One captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// When, in nanoseconds since 1970; `None` where the file does not say.
    pub time_ns: Option<u64>,
    /// The link layer, as in <https://www.tcpdump.org/linktypes.html>.
    pub link_type: i32,
    /// Length on the wire.
    pub wire_bytes: u32,
    /// Its captured bytes.
    pub data: &'a [u8],
}

/// The format of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// pcap, of any byte order and resolution.
    Pcap,
    /// pcapng.
    PcapNg,
}

impl Format {
    /// By the first four bytes.
    pub fn recognise(head: &[u8]) -> Option<Self> {
        match head.get(..4)? {
            [0xd4, 0xc3, 0xb2, 0xa1]
            | [0xa1, 0xb2, 0xc3, 0xd4]
            | [0x4d, 0x3c, 0xb2, 0xa1]
            | [0xa1, 0xb2, 0x3c, 0x4d]
            | [0x34, 0xcd, 0xb2, 0xa1] => Some(Self::Pcap),
            [0x0a, 0x0d, 0x0d, 0x0a] => Some(Self::PcapNg),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pcap => "pcap",
            Self::PcapNg => "pcapng",
        }
    }
}

/// Where and why reading stopped before the end of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Bytes, decompressed, that were used.
    pub byte: u64,
    /// The content that was found there.
    pub reason: String,
}

/// How frames of an interface are to be read.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: i32,
    /// Units of a timestamp in a second.
    units: u128,
    offset_s: i64,
    snap_bytes: u32,
}

impl Interface {
    fn pcap(link_type: i32, snap_bytes: u32, nanoseconds: bool) -> Self {
        let units = if nanoseconds { 1_000_000_000 } else { 1_000_000 };
        // The upper bits may hold the length of a frame check sequence.
        Self { link_type: link_type & 0xffff, units, offset_s: 0, snap_bytes }
    }

    fn pcapng(block: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Self {
        let mut interface = Self::pcap(block.linktype.0, block.snaplen, false);
        for option in &block.options {
            match (option.code, option.value()) {
                (OptionCode::IfTsresol, [resolution, ..]) => interface.units = units(*resolution),
                (OptionCode::IfTsoffset, value) => {
                    if let Some(bytes) = value.first_chunk::<8>() {
                        interface.offset_s =
                            if big_endian { i64::from_be_bytes(*bytes) } else { i64::from_le_bytes(*bytes) };
                    }
                }
                _ => {}
            }
        }
        interface
    }

    /// Nanoseconds since 1970; times before it are 0.
    fn time_ns(&self, timestamp: u64) -> u64 {
        let ns = u128::from(timestamp).saturating_mul(NS_PER_S as u128) / self.units;
        let shifted =
            i128::try_from(ns).unwrap_or(i128::MAX).saturating_add(i128::from(self.offset_s) * NS_PER_S);
        u64::try_from(shifted.max(0)).unwrap_or(u64::MAX)
    }
}

/// Units in a second: a power of 2 if the highest bit is set, else of 10.
fn units(resolution: u8) -> u128 {
    let exponent = u32::from(resolution & 0x7f);
    if resolution & 0x80 != 0 {
        1u128.checked_shl(exponent).unwrap_or(u128::MAX)
    } else {
        10u128.checked_pow(exponent).unwrap_or(u128::MAX)
    }
}

/// Calls `take` with each frame until it breaks or the file ends; `None`: the file was read to its end.
pub(crate) fn read_frames(
    format: Format,
    mut input: Input,
    take: impl FnMut(Frame<'_>) -> ControlFlow<()>,
) -> Option<Stop> {
    let problem = input.problem();
    let head = input.peek(24).unwrap_or_default();
    let stop = |byte, error: &PcapError<&[u8]>| Stop { byte, reason: explain(error) };
    let mut stop = match format {
        Format::Pcap => match LegacyPcapReader::new(BUFFER, input) {
            Ok(reader) => Blocks::new(format, take).read(reader),
            Err(error) => Some(stop(0, &error)),
        },
        Format::PcapNg => {
            // The parser looks at the first block at once, so the buffer must hold it.
            let first =
                head.get(4..8).and_then(|bytes| bytes.first_chunk::<4>()).copied().unwrap_or_default();
            let shorter = u32::from_le_bytes(first).min(u32::from_be_bytes(first)) as usize;
            match PcapNGReader::new(BUFFER.max(shorter.min(MAX_RECORD) + 16), input) {
                Ok(reader) => Blocks::new(format, take).read(reader),
                Err(error) => Some(stop(0, &error)),
            }
        }
    };
    if let (Some(stop), Some(text)) = (&mut stop, problem.text()) {
        stop.reason = format!("{}: {text}", stop.reason);
    }
    stop
}

struct Blocks<F> {
    format: Format,
    take: F,
    interfaces: Vec<Interface>,
    big_endian: bool,
    consumed: u64,
}

impl<F: FnMut(Frame<'_>) -> ControlFlow<()>> Blocks<F> {
    fn new(format: Format, take: F) -> Self {
        Self { format, take, interfaces: Vec::new(), big_endian: false, consumed: 0 }
    }

    fn read<R: PcapReaderIterator>(&mut self, mut reader: R) -> Option<Stop> {
        let mut capacity = BUFFER;
        loop {
            if self.format == Format::PcapNg && self.is_too_short(reader.data()) {
                let reason = format!("a block of less than {LEAST_BLOCK} bytes, which is damage");
                return Some(Stop { byte: self.consumed, reason });
            }
            let grow = match reader.next() {
                Ok((bytes, block)) => {
                    match self.block(&block) {
                        Ok(ControlFlow::Continue(())) => {}
                        Ok(ControlFlow::Break(())) => return None,
                        Err(reason) => return Some(Stop { byte: self.consumed, reason }),
                    }
                    drop(block);
                    // A block of no length would be read for ever.
                    if bytes == 0 {
                        return Some(Stop { byte: self.consumed, reason: "a block of no length".into() });
                    }
                    reader.consume(bytes);
                    self.consumed += bytes as u64;
                    continue;
                }
                Err(PcapError::Eof) => return None,
                Err(PcapError::Incomplete(_)) => false,
                Err(PcapError::BufferTooSmall) => true,
                Err(error) => {
                    let reason = explain(&error);
                    let ended = matches!(error, PcapError::UnexpectedEof);
                    if ended && reader.data().is_empty() {
                        return None;
                    }
                    return Some(Stop { byte: self.consumed, reason });
                }
            };
            if grow {
                capacity *= 2;
                if capacity > 2 * MAX_RECORD {
                    let reason = format!("a record of more than {} MiB, which is damage", MAX_RECORD >> 20);
                    return Some(Stop { byte: self.consumed, reason });
                }
                reader.grow(capacity);
            }
            if reader.refill().is_err() {
                return Some(Stop { byte: self.consumed, reason: "the file cannot be read further".into() });
            }
        }
    }

    /// True if a block says that it is shorter than what encloses every block: the parser subtracts that from its length.
    fn is_too_short(&self, data: &[u8]) -> bool {
        let word = |at: usize| data.get(at..).and_then(<[u8]>::first_chunk::<4>);
        let (Some(kind), Some(length)) = (word(0), word(4)) else { return false };
        let length = if self.big_endian { u32::from_be_bytes(*length) } else { u32::from_le_bytes(*length) };
        // A section header brings its own byte order, and is checked by the parser.
        *kind != SECTION_HEADER && length < LEAST_BLOCK
    }

    /// Takes note of a block; the frame in it, if it is one, goes to `take`.
    fn block(&mut self, block: &PcapBlockOwned<'_>) -> Result<ControlFlow<()>, String> {
        let (interface, frame) = match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let nanoseconds = header.is_nanosecond_precision();
                self.interfaces = vec![Interface::pcap(header.network.0, header.snaplen, nanoseconds)];
                return Ok(ControlFlow::Continue(()));
            }
            PcapBlockOwned::Legacy(record) => {
                let interface = self.interface(0)?;
                let timestamp = u64::from(record.ts_sec) * interface.units as u64 + u64::from(record.ts_usec);
                (interface, (Some(timestamp), record.origlen, record.data))
            }
            PcapBlockOwned::NG(Block::SectionHeader(header)) => {
                self.interfaces.clear();
                self.big_endian = header.big_endian();
                return Ok(ControlFlow::Continue(()));
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(description)) => {
                if self.interfaces.len() >= MAX_INTERFACES {
                    return Err(format!("more than {MAX_INTERFACES} interfaces, which is damage"));
                }
                self.interfaces.push(Interface::pcapng(description, self.big_endian));
                return Ok(ControlFlow::Continue(()));
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let timestamp = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                (self.interface(packet.if_id)?, (Some(timestamp), packet.origlen, packet.packet_data()))
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                let interface = self.interface(0)?;
                let snap = if interface.snap_bytes == 0 { u32::MAX } else { interface.snap_bytes };
                let captured = packet.data.len().min(snap.min(packet.origlen) as usize);
                (interface, (None, packet.origlen, &packet.data[..captured]))
            }
            PcapBlockOwned::NG(_) => return Ok(ControlFlow::Continue(())),
        };
        let (timestamp, original, data) = frame;
        let frame = Frame {
            time_ns: timestamp.map(|timestamp| interface.time_ns(timestamp)),
            link_type: interface.link_type,
            wire_bytes: original.max(data.len() as u32),
            data,
        };
        Ok((self.take)(frame))
    }

    fn interface(&self, index: u32) -> Result<Interface, String> {
        let found = self.interfaces.get(index as usize).copied();
        found.ok_or_else(|| format!("a packet of interface {index}, which the file does not describe"))
    }
}

fn explain<I>(error: &PcapError<I>) -> String {
    match error {
        PcapError::UnexpectedEof | PcapError::Incomplete(_) => {
            "the file ends in the middle of a record".into()
        }
        PcapError::ReadError => "the file cannot be read further".into(),
        PcapError::HeaderNotRecognized => "no capture header".into(),
        _ => "a damaged record".into(),
    }
}

/// Calls `take` with each frame of a capture in memory, for tests; where and why reading stopped, `None`: it is no capture.
pub fn each_frame(bytes: Vec<u8>, mut take: impl FnMut(Frame<'_>)) -> Option<Option<Stop>> {
    let mut input = Input::of_bytes(bytes).ok()?;
    let format = Format::recognise(&input.peek(4).ok()?)?;
    Some(read_frames(format, input, |frame| {
        take(frame);
        ControlFlow::Continue(())
    }))
}
