//! Captures made by hand: frames of any link layer, in any capture format.

#![allow(dead_code)] // each test uses a part

/// A TCP segment to be.
#[derive(Clone, Debug)]
pub struct Segment {
    pub time_ns: u64,
    /// Whether the client (10.0.0.1:40000) sends it, or the server (10.0.0.2:80).
    pub from_client: bool,
    pub seq: u32,
    pub ack: Option<u32>,
    pub flags: u8,
    pub window: u16,
    pub payload: usize,
    pub ip_id: u16,
    pub options: Vec<u8>,
}

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const PSH: u8 = 8;
pub const ACK: u8 = 16;

impl Segment {
    pub fn new(time_ns: u64, from_client: bool, seq: u32, ack: u32, payload: usize) -> Self {
        Self {
            time_ns,
            from_client,
            seq,
            ack: Some(ack),
            flags: 0,
            window: 65_535,
            payload,
            ip_id: 0,
            options: Vec::new(),
        }
    }

    pub fn with(mut self, option: &[u8]) -> Self {
        self.options.extend_from_slice(option);
        self
    }

    pub fn flags(mut self, flags: u8) -> Self {
        self.flags = flags;
        if flags & SYN != 0 && flags & ACK == 0 {
            self.ack = None;
        }
        self
    }

    fn tcp(&self) -> Vec<u8> {
        let mut options = self.options.clone();
        while !options.len().is_multiple_of(4) {
            options.push(1);
        }
        let (client, server) = (40_000u16, 80u16);
        let (source, destination) = if self.from_client { (client, server) } else { (server, client) };
        let flags = self.flags | if self.ack.is_some() { ACK } else { 0 };
        let mut bytes = Vec::new();
        bytes.extend(source.to_be_bytes());
        bytes.extend(destination.to_be_bytes());
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.unwrap_or(0).to_be_bytes());
        bytes.extend([((20 + options.len()) / 4 * 16) as u8, flags]);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes.resize(bytes.len() + self.payload, 0);
        bytes
    }

    pub fn ipv4(&self) -> Vec<u8> {
        let tcp = self.tcp();
        let (client, server) = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let (source, destination) = if self.from_client { (client, server) } else { (server, client) };
        let total = if tcp.len() + 20 > 65_535 { 0 } else { (tcp.len() + 20) as u16 };
        let mut bytes = vec![0x45, 0];
        bytes.extend(total.to_be_bytes());
        bytes.extend(self.ip_id.to_be_bytes());
        bytes.extend([0x40, 0, 64, 6, 0, 0]);
        bytes.extend(source);
        bytes.extend(destination);
        bytes.extend(tcp);
        bytes
    }

    /// With a hop-by-hop extension header if `extended`.
    pub fn ipv6(&self, extended: bool) -> Vec<u8> {
        let tcp = self.tcp();
        let address = |last| [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
        let (source, destination) = if self.from_client { (1, 2) } else { (2, 1) };
        let extension: &[u8] = if extended { &[6, 0, 1, 4, 0, 0, 0, 0] } else { &[] };
        let mut bytes = vec![0x60, 0, 0, 0];
        bytes.extend(((tcp.len() + extension.len()) as u16).to_be_bytes());
        bytes.extend([if extended { 0 } else { 6 }, 64]);
        bytes.extend(address(source));
        bytes.extend(address(destination));
        bytes.extend(extension);
        bytes.extend(tcp);
        bytes
    }
}

pub fn mss(bytes: u16) -> Vec<u8> {
    [[2, 4], bytes.to_be_bytes()].concat()
}

pub fn timestamps(value: u32, echo: u32) -> Vec<u8> {
    [&[1, 1, 8, 10], &value.to_be_bytes()[..], &echo.to_be_bytes()].concat()
}

pub const SACK_PERMITTED: [u8; 4] = [1, 1, 4, 2];

pub fn sack(blocks: &[(u32, u32)]) -> Vec<u8> {
    let mut bytes = vec![1, 1, 5, (2 + 8 * blocks.len()) as u8];
    for (start, end) in blocks {
        bytes.extend(start.to_be_bytes());
        bytes.extend(end.to_be_bytes());
    }
    bytes
}

/// The link layers, by name: link type, and what comes before an IPv4 packet.
pub fn links() -> Vec<(&'static str, u32, Vec<u8>)> {
    let ethernet = |rest: &[u8]| [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..], rest].concat();
    let mut cooked = vec![0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
    cooked.extend([8, 0]);
    let mut cooked2 = vec![8, 0];
    cooked2.extend([0; 18]);
    // Netfilter's log: IPv4, one attribute of the packet's time, and the packet; its length counts to the end of what follows.
    let mut nflog = vec![2, 0, 0, 0, 20, 0, 7, 0];
    nflog.extend([0; 16]);
    nflog.extend([0xff, 0xff, 9, 0]);
    let mut infiniband = vec![0; 40];
    infiniband.extend([8, 0, 0, 0]);
    vec![
        ("ethernet", 1, ethernet(&[8, 0])),
        ("vlan", 1, ethernet(&[0x81, 0, 0, 7, 8, 0])),
        ("qinq", 1, ethernet(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 8, 0])),
        ("cooked", 113, cooked),
        ("cooked2", 276, cooked2),
        ("raw", 101, vec![]),
        ("raw4", 228, vec![]),
        ("null", 0, vec![2, 0, 0, 0]),
        ("loop", 108, vec![0, 0, 0, 2]),
        ("ppp", 9, vec![0xff, 3, 0, 0x21]),
        ("ppp-compressed", 9, vec![0x21]),
        ("ppp-serial", 50, vec![0xff, 3, 0, 0x21]),
        ("ppp-direction", 204, vec![1, 0, 0x21]),
        ("cisco-hdlc", 104, vec![0x0f, 0, 8, 0]),
        ("nflog", 239, nflog),
        ("infiniband", 242, infiniband),
        ("arcnet", 7, vec![1, 2, 240]),
        ("arcnet-linux", 129, vec![1, 2, 0, 0, 212, 0, 0, 1]),
    ]
}

/// A frame: when, length on the wire, what was captured.
pub type Frame = (u64, usize, Vec<u8>);

pub fn frames(segments: &[Segment], link: &[u8], snap: usize) -> Vec<Frame> {
    let whole = segments.iter().map(|segment| (segment.time_ns, [link, &segment.ipv4()].concat()));
    whole.map(|(time, bytes)| (time, bytes.len(), bytes[..bytes.len().min(snap)].to_vec())).collect()
}

#[derive(Clone, Copy)]
pub struct Pcap {
    pub big_endian: bool,
    pub nanoseconds: bool,
}

pub const PCAP: Pcap = Pcap { big_endian: false, nanoseconds: true };

impl Pcap {
    fn word(self, value: u32) -> [u8; 4] {
        if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    pub fn file(self, link_type: u32, frames: &[Frame]) -> Vec<u8> {
        let magic = if self.nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
        let version = if self.big_endian { [0, 2, 0, 4] } else { [2, 0, 4, 0] };
        let mut bytes = [self.word(magic), version, [0; 4], [0; 4]].concat();
        bytes.extend(self.word(262_144));
        bytes.extend(self.word(link_type));
        for (time, wire, data) in frames {
            let fraction = time % 1_000_000_000 / if self.nanoseconds { 1 } else { 1000 };
            bytes.extend(self.word((time / 1_000_000_000) as u32));
            bytes.extend(self.word(fraction as u32));
            bytes.extend(self.word(data.len() as u32));
            bytes.extend(self.word(*wire as u32));
            bytes.extend(data);
        }
        bytes
    }
}

/// A pcapng file with one interface; `resolution` as in its `if_tsresol`.
pub fn pcapng(big_endian: bool, resolution: u8, link_type: u32, frames: &[Frame]) -> Vec<u8> {
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let block = |kind: u32, body: &[u8]| {
        let length = word(12 + body.len().next_multiple_of(4) as u32);
        let mut bytes = [word(kind), length].concat();
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(length);
        bytes
    };
    let mut section = word(0x1a2b_3c4d).to_vec();
    section.extend(half(1));
    section.extend(half(0));
    section.extend([0xff; 8]);
    let mut interface = half(link_type as u16).to_vec();
    interface.extend([0; 2]);
    interface.extend(word(0));
    interface.extend(half(9));
    interface.extend(half(1));
    interface.extend([resolution, 0, 0, 0]);
    interface.extend([0; 4]);
    let mut bytes = [block(0x0a0d_0d0a, &section), block(1, &interface)].concat();
    let exponent = u32::from(resolution & 0x7f);
    let units = if resolution & 0x80 != 0 { 1u128 << exponent } else { 10u128.pow(exponent) };
    for (time, wire, data) in frames {
        let stamp = (u128::from(*time) * units / 1_000_000_000) as u64;
        let mut body = word(0).to_vec();
        body.extend(word((stamp >> 32) as u32));
        body.extend(word(stamp as u32));
        body.extend(word(data.len() as u32));
        body.extend(word(*wire as u32));
        body.extend(data);
        bytes.extend(block(6, &body));
    }
    bytes
}
