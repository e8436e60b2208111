//! A call that a congestion control of Linux gets: what it is given, and the state of its socket before and after.

use std::io::Write;

/// Which function of the kernel's `struct tcp_congestion_ops` is called, in the order of `enum kind` of `bpf/recorder.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The control begins on a connection.
    Init,
    /// It ends.
    Release,
    /// A reduction: it returns the new ssthresh.
    Ssthresh,
    /// An ACK by which the window may grow.
    CongAvoid,
    /// An ACK, with its rate sample, for controls that set window and pacing rate themselves.
    CongControl,
    /// The connection is about to be in another state.
    SetState,
    /// An event of the window: `enum tcp_ca_event`.
    CwndEvent,
    /// An ACK arrived, before anything is done about it.
    InAckEvent,
    /// Packets were acknowledged.
    PktsAcked,
    /// A reduction was without cause: it returns the window.
    UndoCwnd,
    /// It returns how many segments are sent at once at least.
    MinTsoSegs,
    /// It returns how many windows the send buffer holds.
    SndbufExpand,
}

impl Kind {
    /// All of them with their names in recordings, which are the kernel's.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Init, "init"),
        (Self::Release, "release"),
        (Self::Ssthresh, "ssthresh"),
        (Self::CongAvoid, "cong_avoid"),
        (Self::CongControl, "cong_control"),
        (Self::SetState, "set_state"),
        (Self::CwndEvent, "cwnd_event"),
        (Self::InAckEvent, "in_ack_event"),
        (Self::PktsAcked, "pkts_acked"),
        (Self::UndoCwnd, "undo_cwnd"),
        (Self::MinTsoSegs, "min_tso_segs"),
        (Self::SndbufExpand, "sndbuf_expand"),
    ];
}

/// The number of inner variables of a control that a call can carry.
pub const INNER: usize = 16;

/// Declares [`Call`] once: its fields, their order in memory and in recordings.
macro_rules! call {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// A call of a congestion control. Fields without another word are of the socket before the call, as the kernel has
        /// them: packets, sequence numbers, microseconds. The order is that of `struct call` of `bpf/recorder.h`.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Call {
            $($(#[$doc])* pub $name: $type,)*
            /// The control's inner variables after the call; what they are the recording's [`Header`](crate::Header) says.
            pub inner: [u32; INNER],
        }

        impl Call {
            /// The fields' names.
            pub const COLUMNS: &[&'static str] = &[$(stringify!($name)),*];

            /// Bytes of a call from the kernel.
            pub const BYTES: usize = 0 $(+ size_of::<$type>())* + INNER * size_of::<u32>();

            /// A call as the recorder of the kernel wrote it; `None`: the length is not that of a call.
            pub fn from_memory(bytes: &[u8]) -> Option<Self> {
                if bytes.len() != Self::BYTES {
                    return None;
                }
                let mut rest = bytes;
                $(
                    let (taken, left) = rest.split_first_chunk()?;
                    let $name = <$type>::from_ne_bytes(*taken);
                    rest = left;
                )*
                let mut inner = [0; INNER];
                for (value, bytes) in inner.iter_mut().zip(rest.chunks_exact(size_of::<u32>())) {
                    *value = u32::from_ne_bytes(bytes.try_into().ok()?);
                }
                Some(Self { $($name,)* inner })
            }

            /// Writes it as a row of [`COLUMNS`](Self::COLUMNS) and the inner variables.
            pub(crate) fn write(&self, to: &mut impl Write) -> std::io::Result<()> {
                $(write!(to, ",{}", self.$name)?;)*
                self.inner.iter().try_for_each(|value| write!(to, ",{value}"))
            }

            /// Reads such a row; `None`: it is none.
            pub(crate) fn read<'a>(mut fields: impl Iterator<Item = &'a str>) -> Option<Self> {
                $(let $name = fields.next()?.parse().ok()?;)*
                let mut inner = [0; INNER];
                for value in &mut inner {
                    *value = fields.next()?.parse().ok()?;
                }
                Some(Self { $($name,)* inner })
            }
        }
    };
}

call! {
    /// When: ns since the beginning of the run (in memory: of CLOCK_MONOTONIC).
    time_ns: u64,
    /// Bytes/s, after the call.
    pacing_rate: u64,
    /// The flow's number (in memory: the sender's address).
    flow: u32,
    /// The sender's port, which tells connections of a flow apart.
    port: u32,
    /// The kernel's clock of timers.
    jiffies: u32,
    /// Its place in [`Kind::ALL`].
    kind: u32,
    /// The ACK's number, or the state, event or flags that the control is told of.
    argument: u32,
    /// Packets: acknowledged, for `cong_avoid` and `pkts_acked`; delivered by this ACK, for `cong_control`.
    acked: u32,
    /// RTT of this ACK; negative: it gave none.
    rtt_us: i32,
    /// Packets in flight before the ACK (`cong_control`), or bytes when what it acknowledges was sent (`pkts_acked`).
    prior_in_flight: u32,
    /// Of the rate sample: packets delivered when its packet was sent.
    prior_delivered: u32,
    /// Of the rate sample: packets delivered since then; negative: no sample.
    delivered_in_interval: i32,
    /// Of the rate sample: the time that it took.
    interval_us: i32,
    /// Packets that this ACK makes count as lost.
    losses: i32,
    /// Of the rate sample: 1 application-limited, 2 of a retransmission, 4 of a delayed ACK.
    sample_flags: u32,
    /// 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    ca_state: u32,
    /// The congestion window.
    cwnd: u32,
    /// Its threshold; 2147483647: infinite.
    ssthresh: u32,
    /// Packets acknowledged since the window grew last.
    cwnd_cnt: u32,
    /// Packets sent and not acknowledged.
    packets_out: u32,
    /// Of these, acknowledged selectively.
    sacked_out: u32,
    /// Of these, lost.
    lost_out: u32,
    /// Of these, sent again.
    retrans_out: u32,
    /// First byte that is not acknowledged.
    snd_una: u32,
    /// Next byte to be sent.
    snd_nxt: u32,
    /// Smoothed RTT.
    srtt_us: u32,
    /// Its mean deviation.
    mdev_us: u32,
    /// Smallest RTT of the kernel's window; 4294967295: none yet.
    min_rtt_us: u32,
    /// Packets delivered so far.
    delivered: u32,
    /// Packets lost so far.
    lost: u32,
    /// 0, or `delivered` up to which samples count as application-limited.
    app_limited: u32,
    /// Most packets out in the last window.
    max_packets_out: u32,
    /// Whether the window was in use.
    cwnd_limited: u32,
    /// Payload of a full segment, bytes.
    mss: u32,
    /// What the call returned, if it returns something.
    returned: u32,
    /// `cwnd` after the call.
    cwnd_after: u32,
    /// `ssthresh` after the call.
    ssthresh_after: u32,
    /// `cwnd_cnt` after the call.
    cwnd_cnt_after: u32,
}

impl Call {
    /// Which function is called; `None`: a number that stands for none.
    pub fn kind(&self) -> Option<Kind> {
        Kind::ALL.get(self.kind as usize).map(|(kind, _)| *kind)
    }

    /// Packets in the network, as the kernel counts them (RFC 6675, pipe). Sums that no 32 bits hold are damage, and end at the largest.
    pub fn in_flight(&self) -> u32 {
        let sent = self.packets_out.saturating_add(self.retrans_out);
        sent.saturating_sub(self.sacked_out.saturating_add(self.lost_out))
    }
}
