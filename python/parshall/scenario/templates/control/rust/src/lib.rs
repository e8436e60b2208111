//! mine: a congestion control for Parshall. It does as Reno does (RFC 5681); change what you like.
//!
//! ```text
//! cargo build --release
//! parshall run SCENARIO.toml --control mine=target/release/libmine.so
//! ```

mod abi;
mod glue;

use abi::{Ack, Congestion, Start};

/// Windows are in packets, times in seconds, rates in packets/s.
pub struct Mine {
    cwnd: f64,
    ssthresh: f64,
    increase: f64,
    slope: f64,
}

impl Mine {
    /// What it asks of the endpoint: `abi::NEEDS_...`, put together by `|`.
    pub const NEEDS: u32 = 0;

    /// A connection begins; `parameters` are those that the scenario gives.
    pub fn new(start: &Start, parameters: &[(String, f64)]) -> Result<Self, String> {
        let mut increase = 1.0;
        for (name, value) in parameters {
            match name.as_str() {
                "increase" => increase = *value,
                _ => return Err(format!("found {name}; accepted parameters: increase")),
            }
        }
        Ok(Self { cwnd: start.cwnd, ssthresh: start.ssthresh, increase, slope: 1.0 })
    }

    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    pub fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Packets/s; `None`: the endpoint paces by window over RTT, if it paces at all.
    pub fn pacing_rate(&self) -> Option<f64> {
        None
    }

    /// New data was acknowledged. RFC 5681 eq. (2), (3)
    pub fn on_ack(&mut self, ack: &Ack) {
        if ack.may_grow == 0 {
            return; // the window is not used, or losses are being repaired
        }
        self.cwnd += if self.cwnd < self.ssthresh {
            ack.credit
        } else {
            self.increase * (self.slope * ack.credit) / self.cwnd
        };
    }

    /// A loss or a mark: at most once a round trip. RFC 5681 eq. (4)
    pub fn on_congestion(&mut self, event: &Congestion) {
        let in_flight = event.in_flight as f64;
        let used = if in_flight + 1.0 > self.cwnd { self.cwnd } else { in_flight };
        self.ssthresh = (used / 2.0).max(2.0);
        self.cwnd = self.ssthresh;
    }

    /// The retransmission timer expired.
    pub fn on_timeout(&mut self, event: &Congestion) {
        self.on_congestion(event);
        self.cwnd = 1.0;
    }

    /// The packets of the last reduction were only late (`rules = "linux"`): both are what they were before it.
    pub fn on_undo(&mut self, cwnd: f64, ssthresh: f64) {
        self.ssthresh = self.ssthresh.max(ssthresh);
        self.cwnd = self.cwnd.max(cwnd);
    }

    /// `multiple_time_scale` steers: what congestion avoidance adds is multiplied by this from now on.
    pub fn set_slope(&mut self, slope: f64) {
        self.slope = slope;
    }

    /// `multiple_time_scale` steers: slow start ends at this window from now on.
    pub fn set_ssthresh(&mut self, ssthresh: f64) {
        self.ssthresh = ssthresh;
    }
}
