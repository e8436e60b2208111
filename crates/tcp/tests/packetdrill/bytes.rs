//! Bytes of scripts and packets of the endpoint.
//!
//! The endpoint counts packets and does not ask for their sizes, so each byte stream is cut into packets here: what is
//! written, at the MSS, the last packet of a write being smaller; what arrives, where the script cuts it. Numbers of
//! packets begin with [`BASE`], offsets of bytes with 0.

/// The first packet's number.
pub const BASE: u64 = 1;

/// A stream of bytes, cut into packets.
#[derive(Debug, Default)]
pub struct Stream {
    /// Where each packet ends.
    ends: Vec<u64>,
}

impl Stream {
    /// A stream that is cut at these offsets.
    pub fn cut_at(mut offsets: Vec<u64>) -> Self {
        offsets.sort_unstable();
        offsets.dedup();
        offsets.retain(|&offset| offset > 0);
        Self { ends: offsets }
    }

    /// Where a packet begins.
    pub fn start(&self, packet: u64) -> u64 {
        let before = packet.saturating_sub(BASE) as usize;
        before.checked_sub(1).map_or(0, |index| self.ends.get(index).copied().unwrap_or(self.end()))
    }

    pub fn size(&self, packet: u64) -> u64 {
        self.start(packet + 1) - self.start(packet)
    }

    /// All bytes of the packets there are.
    pub fn end(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// One past the last packet.
    pub fn next(&self) -> u64 {
        BASE + self.ends.len() as u64
    }

    /// The packet that begins at `offset`; `None` if none does.
    pub fn packet_at(&self, offset: u64) -> Option<u64> {
        let packet = self.first_from(offset);
        (self.start(packet) == offset).then_some(packet)
    }

    /// The first packet that begins at `offset` or later.
    pub fn first_from(&self, offset: u64) -> u64 {
        if offset == 0 {
            return BASE;
        }
        BASE + 1 + self.ends.partition_point(|&end| end < offset) as u64
    }

    /// The packets that lie within these bytes whole: a packet of which a part was reported has not been reported. RFC
    /// 2018 §3
    pub fn within(&self, from: u64, to: u64) -> (u64, u64) {
        let start = self.first_from(from);
        let end = BASE + self.ends.partition_point(|&end| end <= to) as u64;
        (start, end.max(start))
    }

    fn push(&mut self, size: u64) {
        self.ends.push(self.end() + size);
    }
}

/// What an application writes.
#[derive(Debug)]
pub struct Written {
    pub stream: Stream,
    pub mss: u64,
    /// `TCP_NODELAY`
    pub at_once: bool,
    /// All bytes written, in packets or not.
    pub bytes: u64,
    /// The last packet below the MSS.
    small: Option<u64>,
}

impl Written {
    pub fn new(mss: u64) -> Self {
        Self { stream: Stream::default(), mss, at_once: false, bytes: 0, small: None }
    }

    /// Makes packets of what is written and in none yet: how many more there are. `una` is the first unacknowledged
    /// packet, `max` the first one not sent, which may still grow.
    ///
    /// A packet below the MSS waits while another such one is unacknowledged, as Linux has the rule of Nagle
    /// (Minshall's, `draft-minshall-nagle`).
    pub fn pack(&mut self, una: u64, max: u64) -> u64 {
        let before = self.stream.next();
        loop {
            let left = self.bytes - self.stream.end();
            if left == 0 {
                break;
            }
            let next = self.stream.next();
            let last = next - 1;
            let room = if last >= max && last >= BASE { self.mss - self.stream.size(last) } else { 0 };
            if room > 0 {
                if let Some(end) = self.stream.ends.last_mut() {
                    *end += left.min(room);
                }
                if left >= room {
                    self.small = None;
                }
            } else if left >= self.mss {
                self.stream.push(self.mss);
            } else if self.at_once || self.small.is_none_or(|small| small < una) {
                self.stream.push(left);
                self.small = Some(next);
            } else {
                break;
            }
        }
        self.stream.next() - before
    }

    /// How many packets from `una` on lie within a window of `bytes`.
    pub fn packets_within(&self, una: u64, bytes: u64) -> u64 {
        let limit = self.stream.start(una) + bytes;
        let (_, end) = self.stream.within(0, limit);
        let further = limit.saturating_sub(self.stream.end()) / self.mss;
        end.saturating_sub(una) + if end == self.stream.next() { further } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_cut_at_the_mss_and_small_packets_wait_for_each_other() {
        let mut written = Written::new(1000);
        written.bytes = 2500;
        assert_eq!(written.pack(1, 1), 3);
        assert_eq!((written.stream.size(2), written.stream.size(3)), (1000, 500));
        // Not sent yet: it grows. Sent and unacknowledged: the next small one waits.
        written.bytes = 2700;
        assert_eq!((written.pack(1, 1), written.stream.size(3)), (0, 700));
        written.bytes = 2800;
        assert_eq!(written.pack(1, 4), 0);
        assert_eq!((written.pack(4, 4), written.stream.size(4)), (1, 100));
        written.at_once = true;
        written.bytes = 2801;
        assert_eq!((written.pack(4, 5), written.stream.size(5)), (1, 1));
    }

    #[test]
    fn windows_and_reports_count_whole_packets() {
        let mut written = Written::new(1000);
        written.bytes = 3000;
        written.pack(1, 1);
        assert_eq!([0, 999, 1000, 3999, 5000].map(|bytes| written.packets_within(1, bytes)), [0, 0, 1, 3, 5]);
        assert_eq!(written.packets_within(3, 2500), 2);
        assert_eq!(written.stream.within(2999, 3000), (4, 4));
        assert_eq!(written.stream.within(1000, 2500), (2, 3));
        assert_eq!((written.stream.packet_at(2000), written.stream.packet_at(2001)), (Some(3), None));
        assert_eq!(written.stream.packet_at(3000), Some(4));
    }

    #[test]
    fn a_stream_that_arrives_is_cut_where_the_script_cuts_it() {
        let stream = Stream::cut_at(vec![0, 300, 100, 300]);
        assert_eq!((stream.size(1), stream.size(2), stream.next()), (100, 200, 3));
        assert_eq!(stream.within(100, 300), (2, 3));
    }
}
