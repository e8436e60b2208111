//! A fully resolved scenario, as the Python schema hands it over.
//!
//! There are no defaults here and unknown keys are errors: the one place for defaults, units and
//! validation is `python/parshall/scenario/scenario.py`, and a test holds the two together. Quantities are integers
//! in the unit their name ends in; distributions are in bytes or seconds.

use parshall_congestion::external::Makers;
use parshall_congestion::ControlConfig;
use parshall_net::jitter::Order;
use parshall_net::loss::LossConfig;
use parshall_net::markers::MarkerConfig;
use parshall_net::queues::QueueConfig;
use parshall_records::TableSelection;
use parshall_tcp::TcpConfig;
use parshall_workload::{DistributionConfig, Source, WorkloadConfig};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// One scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Root of every random stream.
    pub seed: u64,
    /// When the simulation ends, at the latest.
    pub duration_ps: u64,
    /// Indices of the groups whose transfers end it when all are done; empty: it lasts its duration.
    pub ends_with: Vec<u32>,
    /// Measurements start here.
    pub warm_up_ps: u64,
    /// The contended links; flows name them by index.
    pub links: Vec<LinkSpec>,
    /// Groups of flows.
    pub flows: Vec<FlowGroup>,
    /// The records beyond the totals.
    pub probes: Probes,
}

/// A link: a queue, a transmitter and a propagation delay.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Its name in the records.
    pub name: String,
    /// Its speed.
    pub rate: RateSpec,
    /// One-way propagation delay.
    pub delay_ps: u64,
    /// The queue for packets that find it busy.
    pub queue: QueueConfig,
    /// Losses on the medium, before the queue.
    pub loss: LossConfig,
    /// The time of each packet beside the delay; `None`: nothing.
    pub jitter: Option<JitterSpec>,
}

/// The time of its own that each packet of a path takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// The distribution of the times, in seconds.
    pub distribution: DistributionConfig,
    /// The order of packets: they overtake each other, or not.
    pub order: Order,
}

/// A link's rate.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RateSpec {
    /// Constant, in bit/s.
    Constant(u64),
    /// Packet-delivery opportunities: milliseconds from the start, non-decreasing, each for one
    /// 1500-byte packet; repeated from the beginning after the last.
    Trace(Vec<u64>),
}

impl Scenario {
    /// Says who makes the controls from outside that its groups name: the makers of a group's number.
    pub fn bind(&mut self, makers: impl Fn(u32) -> Makers) {
        for (number, group) in (0..).zip(&mut self.flows) {
            if let Some(control) = &mut group.congestion_control {
                control.bind(&makers(number));
            }
        }
    }
}

/// Flows that differ in RTT and start only.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowGroup {
    /// Its name in the records.
    pub name: String,
    /// The number of flows.
    pub count: u32,
    /// True if its packets come from outside, of real hosts: these do what `tcp`, `congestion_control` and `workload` say.
    pub external: bool,
    /// Indices of the links that data crosses, in order; not empty.
    pub path: Vec<u32>,
    /// Indices of the links that ACKs cross, in order; empty: the way back is uncontended.
    pub reverse_path: Vec<u32>,
    /// Two-way propagation delay, links of both paths included.
    pub rtt_ps: Spread,
    /// The time of each data packet on its flow's own part of the path, beside the delay; `None`: nothing.
    pub jitter: Option<JitterSpec>,
    /// The same of the packets of the way back.
    pub reverse_jitter: Option<JitterSpec>,
    /// The rate of each flow's own access link; `None`: unlimited.
    pub access_bps: Option<u64>,
    /// The packets that the queue of the access link holds, the one in transmission included; `None`: all.
    pub access_packets: Option<u32>,
    /// Which packets are within the flow's profile, decided where its access link ends.
    pub marker: MarkerConfig,
    /// The differentiated services code point of its packets, ACKs included: 0 to 63.
    pub dscp: u8,
    /// Each packet waits a random part of this, at most, before it leaves its host; 0: none does.
    pub processing_ps: u64,
    /// When each flow starts.
    pub start_ps: Spread,
    /// Bytes of a full packet on the wire, headers included.
    pub packet_bytes: u32,
    /// Of these, headers: not goodput.
    pub header_bytes: u32,
    /// TCP's part; `None` exactly when the workload sends datagrams.
    pub tcp: Option<TcpConfig>,
    /// The congestion control, of TCP or of datagrams at a controlled rate; else `None`.
    pub congestion_control: Option<ControlConfig>,
    /// The application.
    pub workload: WorkloadConfig,
    /// The further settings of real hosts; `None`: none. The network does not read it.
    pub kernel: Option<KernelOptions>,
}

/// The settings of the kernel at the ends of a group's flows, where it has these. An emulation reads it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelOptions {
    /// Names with dots, and values.
    pub sysctls: BTreeMap<String, String>,
    /// At most this rate, bit/s (SO_MAX_PACING_RATE).
    pub pacing_bps: Option<u64>,
    /// Memory of the sender's sockets, bytes (SO_SNDBUF).
    pub send_buffer: Option<u32>,
    /// Memory of the receiver's sockets, bytes (SO_RCVBUF).
    pub receive_buffer: Option<u32>,
    /// TCP connections of a flow side by side.
    pub streams: u32,
}

impl FlowGroup {
    /// Returns the source of each flow.
    ///
    /// # Errors
    /// The key, and what is wrong there.
    pub fn source(&self) -> Result<Source, (&'static str, String)> {
        let packet =
            NonZeroU32::new(self.packet_bytes).ok_or_else(|| ("packet_size", "is zero".to_owned()))?;
        self.workload.source(packet).map_err(|error| ("workload", error.to_string()))
    }
}

/// A value for each flow of a group.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Spread {
    /// The same for all.
    Constant(u64),
    /// `first + i * step` for the i-th flow.
    Linear {
        /// Of flow 0.
        first: u64,
        /// Between neighbours.
        step: u64,
    },
    /// One each.
    List(Vec<u64>),
    /// Independently uniform over `[low, high)`.
    Uniform {
        /// Smallest value.
        low: u64,
        /// Above the largest value.
        high: u64,
    },
    /// Drawn independently, in seconds, and never below `min_ps`.
    Distribution {
        /// What to draw from.
        of: DistributionConfig,
        /// Lower end (the path's own delay).
        min_ps: u64,
    },
}

/// The records beyond the totals; nothing here costs anything when off.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probes {
    /// Spacing of `flow_samples`; `None`: no such table.
    pub flow_samples: Option<Sampling>,
    /// The number of flows of each group that are sampled (the first ones).
    pub flows_sampled: u32,
    /// The number of flows of each group that write `rounds`.
    pub rounds_flows: u32,
    /// True if delays from end to end are measured: `groups`, `latency_histogram`, and the delays of `flows`.
    pub latency: bool,
    /// True if the samples of flows and links come with the inner variables of controls, markers and queues: `internals`.
    pub internals: bool,
    /// Indices of the links that are captured.
    pub pcap: Vec<u32>,
    /// True if the TCP flows that are sampled are logged in qlog.
    pub qlog: bool,
    /// Bin width of `link_samples`, and the least of `group_samples`; `None`: no such tables.
    pub link_samples: Option<Sampling>,
    /// True if each finished transfer is a row of `transfers`.
    pub transfers: bool,
}

/// Time between samples, ps.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Sampling {
    /// The same throughout.
    Every(u64),
    /// As long as it must be for 400 to 1000 samples of the run, however long that will be; the finest is given.
    Fitted(u64),
}

impl Probes {
    /// The tables that these probes fill.
    pub fn tables(&self) -> TableSelection {
        TableSelection {
            transfers: self.transfers,
            rounds: self.rounds_flows > 0,
            flow_samples: self.flow_samples.is_some() && self.flows_sampled > 0,
            link_samples: self.link_samples.is_some(),
            group_samples: self.link_samples.is_some(),
            latency: self.latency,
            internals: self.internals,
            trace_flows: false,
        }
    }
}
