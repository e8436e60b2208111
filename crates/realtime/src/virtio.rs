//! The header before each packet of a TUN device: `struct virtio_net_hdr`.
//!
//! Reference: Virtual I/O Device (VIRTIO) 1.2, section 5.1.6. A TUN device has its legacy form, of ten bytes in the
//! byte order of the machine.

/// Bytes of the header.
pub(crate) const BYTES: usize = 10;

/// The checksum is to be completed, from `checksum_start` on.
const NEEDS_CHECKSUM: u8 = 1;

const GSO_NONE: u8 = 0;
const GSO_TCP4: u8 = 1;
const GSO_UDP: u8 = 5;
/// TCP with CWR: only the first segment has it.
const GSO_ECN: u8 = 0x80;

/// The part of a super-packet that is to become segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Segmentation {
    /// Nothing: it is a packet.
    #[default]
    None,
    /// The payload of TCP over IPv4.
    Tcp,
    /// The payload of UDP.
    Udp,
}

/// Where a checksum is to be completed: from which byte on, and where it stands behind that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partial {
    pub(crate) start: u16,
    pub(crate) offset: u16,
}

/// The header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VirtioHeader {
    pub(crate) partial: Option<Partial>,
    pub(crate) segmentation: Segmentation,
    /// Bytes of all headers of a super-packet: a hint.
    pub(crate) header_bytes: u16,
    /// Payload of each segment.
    pub(crate) segment_bytes: u16,
}

impl VirtioHeader {
    /// The header, and what follows it; `None`: it is too short, or asks for what was not offered.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (header, packet) = bytes.split_at_checked(BYTES)?;
        let word = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        let segmentation = match header[1] & !GSO_ECN {
            GSO_NONE => Segmentation::None,
            GSO_TCP4 => Segmentation::Tcp,
            GSO_UDP => Segmentation::Udp,
            _ => return None,
        };
        let partial = (header[0] & NEEDS_CHECKSUM != 0).then(|| Partial { start: word(6), offset: word(8) });
        Some((Self { partial, segmentation, header_bytes: word(2), segment_bytes: word(4) }, packet))
    }

    /// Its bytes.
    pub(crate) fn write(&self) -> [u8; BYTES] {
        let Self { partial, segmentation, header_bytes, segment_bytes } = *self;
        let mut header = [0; BYTES];
        header[0] = if partial.is_some() { NEEDS_CHECKSUM } else { 0 };
        header[1] = match segmentation {
            Segmentation::None => GSO_NONE,
            Segmentation::Tcp => GSO_TCP4,
            Segmentation::Udp => GSO_UDP,
        };
        let Partial { start, offset } = partial.unwrap_or(Partial { start: 0, offset: 0 });
        for (place, word) in [header_bytes, segment_bytes, start, offset].into_iter().enumerate() {
            header[2 + 2 * place..4 + 2 * place].copy_from_slice(&word.to_ne_bytes());
        }
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(partial in any::<Option<(u16, u16)>>(), kind in 0..3, sizes: (u16, u16)) {
            let segmentation = [Segmentation::None, Segmentation::Tcp, Segmentation::Udp][kind as usize];
            let partial = partial.map(|(start, offset)| Partial { start, offset });
            let header = VirtioHeader { partial, segmentation, header_bytes: sizes.0, segment_bytes: sizes.1 };
            let bytes = [header.write().as_slice(), b"packet"].concat();
            prop_assert_eq!(VirtioHeader::read(&bytes), Some((header, b"packet".as_slice())));
            prop_assert_eq!(VirtioHeader::read(&bytes[..BYTES - 1]), None);
        }
    }
}
