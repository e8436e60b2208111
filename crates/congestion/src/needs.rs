//! Requirements of a control on the endpoint.

use serde::Deserialize;

/// Requirements of a control; none by default. Who sends with it looks here, and never at which control it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// It gets every ACK that reports packets as delivered, in loss recovery too, with a
    /// [`RateSample`](crate::RateSample).
    pub rate_samples: bool,
    /// Packets are spaced by its [`pacing_rate`](crate::CongestionControl::pacing_rate).
    pub pacing: bool,
    /// Its window limits what is sent during loss recovery too: no proportional rate reduction (RFC 6937) beside it.
    pub recovery_window: bool,
    /// An RTT sample with each ACK, which only timestamps give.
    pub timestamps: bool,
    /// The one-way delay of the packet that an ACK answers, which only timestamps give:
    /// [`AckEvent::one_way_delay`](crate::AckEvent::one_way_delay).
    pub one_way_delay: bool,
    /// Receivers echo the marks of each ACK's own packets (RFC 8257 §3.2). A mark is then worth less than a loss: the
    /// control gets a loss in a round trip in which it has answered a mark, too (§3.5).
    pub accurate_ecn: bool,
    /// ACKs without a mark let its window grow in the round trip of a reduction for a mark too, which RFC 3168 §6.1.2
    /// rules out. A mark that leaves its window as it was is not the one of its round trip.
    pub growth_in_cwr: bool,
    /// Packets carry ECT(1), by which queues for L4S know those of a scalable control (RFC 9331 §4.1), unless the flow
    /// has another setting.
    pub l4s: bool,
    /// Its rate follows from reports of the receiver, one a round trip, so that it can send datagrams.
    #[serde(skip)]
    pub from_reports: bool,
    /// Over datagrams: it gets the times when each packet was sent and [arrived](crate::CongestionControl::on_arrival),
    /// by reports that come every 30 ms at least.
    #[serde(skip)]
    pub arrival_times: bool,
}

impl Needs {
    /// Nothing.
    pub(crate) const NONE: Self = Self {
        rate_samples: false,
        pacing: false,
        recovery_window: false,
        timestamps: false,
        one_way_delay: false,
        accurate_ecn: false,
        growth_in_cwr: false,
        l4s: false,
        from_reports: false,
        arrival_times: false,
    };
    /// Those of a control that models the path from rate samples and sets the time of each packet.
    pub(crate) const MODEL_OF_THE_PATH: Self =
        Self { rate_samples: true, pacing: true, recovery_window: true, ..Self::NONE };

    /// True if it does not work without timestamps.
    pub fn takes_timestamps(&self) -> bool {
        self.timestamps || self.one_way_delay
    }
}
