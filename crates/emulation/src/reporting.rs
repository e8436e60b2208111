//! The hosts' knowledge of the flows, as records.

use parshall_hosts::{FlowOutcome, Outcome};
use parshall_sim::{HostTotals, Simulation};
use std::collections::BTreeMap;

/// The numbers of the hosts' flows in the records, where simulated flows have numbers too.
pub(crate) struct Numbers(Vec<u32>);

impl Numbers {
    pub(crate) fn of(simulation: &Simulation) -> Self {
        Self((0..simulation.external_flows()).map(|flow| simulation.external_flow(flow).number).collect())
    }

    pub(crate) fn flows(&self) -> u32 {
        self.0.len() as u32
    }

    /// The number of the hosts' flow of this number. Connections of an open loop have numbers above those of the plan,
    /// and are their own.
    pub(crate) fn of_flow(&self, flow: u32) -> u32 {
        self.0.get(flow as usize).copied().unwrap_or(flow)
    }
}

/// Tells the network what the hosts know of each flow; the connections of an open loop together.
pub(crate) fn report(simulation: &mut Simulation, outcome: &Outcome) {
    let mut flows: BTreeMap<u32, HostTotals> = BTreeMap::new();
    for flow in &outcome.flows {
        let totals = totals(flow);
        flows.entry(flow.plan).and_modify(|all| add(all, &totals)).or_insert(totals);
    }
    for (flow, totals) in flows {
        simulation.report(flow, totals);
    }
}

fn totals(FlowOutcome { row, .. }: &FlowOutcome) -> HostTotals {
    HostTotals {
        congestion_control: None,
        started: None,
        goodput_bps: row.goodput_bps,
        payload_bytes: None,
        retransmissions: row.retransmissions,
        loss_events: row.loss_events,
        timeouts: row.timeouts,
        ecn_reductions: row.ecn_reductions,
        mean_cwnd_packets: row.mean_cwnd_packets,
        mean_rtt_s: row.mean_rtt_s,
        min_rtt_s: row.min_rtt_s,
    }
}

/// Counts add up, means of several connections are not known.
fn add(all: &mut HostTotals, one: &HostTotals) {
    let sum = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    all.goodput_bps = all.goodput_bps.zip(one.goodput_bps).map(|(a, b)| a + b);
    all.retransmissions = sum(all.retransmissions, one.retransmissions);
    all.loss_events = sum(all.loss_events, one.loss_events);
    all.timeouts = sum(all.timeouts, one.timeouts);
    all.ecn_reductions = sum(all.ecn_reductions, one.ecn_reductions);
    all.mean_cwnd_packets = None;
    all.mean_rtt_s = None;
    all.min_rtt_s = all.min_rtt_s.zip(one.min_rtt_s).map(|(a, b)| a.min(b));
}
