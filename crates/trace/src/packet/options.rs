//! Options of a TCP header (RFC 9293 §3.2), as far as they were captured; those that the analysis does not need are skipped by
//! their length.

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Options of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Shift of the window.
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// TSval and TSecr (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks; the first `sack_blocks` count.
    pub sack: [(u32, u32); 4],
    /// The number of SACK blocks.
    pub sack_blocks: u8,
}

impl Options {
    /// The SACK blocks.
    #[inline]
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.sack_blocks)]
    }

    /// Reads up to what was captured, or to an option whose length cannot be right.
    #[inline]
    pub(super) fn read(mut bytes: &[u8]) -> Self {
        let mut options = Self::default();
        loop {
            match bytes {
                [NO_OPERATION, rest @ ..] => bytes = rest,
                [END, ..] | [] | [_] => return options,
                [kind, length, rest @ ..] => {
                    let Some(value) =
                        usize::from(*length).checked_sub(2).and_then(|length| rest.get(..length))
                    else {
                        return options;
                    };
                    options.take(*kind, value);
                    bytes = &rest[value.len()..];
                }
            }
        }
    }

    #[inline]
    fn take(&mut self, kind: u8, value: &[u8]) {
        match (kind, value) {
            (TIMESTAMPS, value) if value.len() == 8 => {
                self.timestamps = Some((word(value, 0), word(value, 4)));
            }
            (MAXIMUM_SEGMENT_SIZE, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            (WINDOW_SCALE, &[shift]) => self.window_scale = Some(shift),
            (SACK_PERMITTED, []) => self.sack_permitted = true,
            (SACK, value) => {
                self.sack_blocks = 0;
                for (place, block) in value.chunks_exact(8).take(self.sack.len()).enumerate() {
                    self.sack[place] = (word(block, 0), word(block, 4));
                    self.sack_blocks += 1;
                }
            }
            _ => {}
        }
    }
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
