//! A control of ours driven through the calls of a kernel's control, and compared with it after each.
//!
//! Between calls the kernel's endpoint changes the window too: in loss recovery (PRR), after a timeout, when a reduction is undone. What
//! it changed is told to our control ([`CongestionControl::set_window`]) and is no difference; while it repairs losses (states CWR and
//! Recovery), the window is its own and is not compared. A window of ours may be a fraction: its whole packets count, which may be sent.
//! So is the phase with which a cycle of gains begins, which the kernel draws at random ([`CongestionControl::set_phase`]).
//! Where our window or threshold differs by more than the tolerance, that is counted, and both go on from the kernel's; inner
//! variables of ours stay as they are.

use crate::call::{Call, Kind};
use crate::events::{start, threshold, Teller, CWR, RECOVERY};
use crate::left_out;
use crate::recording::{Connection, Recording};
use parshall_congestion::{CongestionControl, Control, ControlConfig, Start};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The quantity that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The congestion window, packets.
    Cwnd,
    /// The slow-start threshold, packets.
    Ssthresh,
    /// BBR's state, by its number.
    State,
    /// BBR's bandwidth, packets/s.
    Bandwidth,
    /// The slope of congestion avoidance, in slopes of the control that is steered.
    Slope,
}

impl Quantity {
    const ALL: [Self; 5] = [Self::Cwnd, Self::Ssthresh, Self::State, Self::Bandwidth, Self::Slope];

    /// Largest difference that counts as the same: a packet, or 1 % of a rate, of the window of a control of rates, or of a slope.
    fn tolerance(self, kernel: f64, rates: bool) -> f64 {
        let share = 0.01 * kernel;
        match self {
            Self::Cwnd if rates => share.max(1.0), // a window is whole
            Self::Cwnd | Self::Ssthresh => 1.0,
            Self::State => 0.0,
            Self::Bandwidth | Self::Slope => share,
        }
    }
}

/// A value that differs by more than its tolerance.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The flow's number.
    pub flow: u32,
    /// Its port, which tells its connections apart.
    pub port: u32,
    /// The call's place among those of its connection, from 0.
    pub call: usize,
    /// When, in s of the run.
    pub time_s: f64,
    /// The function that was called.
    pub function: &'static str,
    /// The quantity that differs.
    pub quantity: Quantity,
    /// The kernel's value.
    pub kernel: f64,
    /// Ours.
    pub ours: f64,
    /// Why, as far as the call tells.
    pub cause: &'static str,
}

/// The comparisons of a quantity.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Which.
    pub quantity: Quantity,
    /// Calls after which it was compared.
    pub calls: u64,
    /// Of these, within the tolerance.
    pub within: u64,
    /// The largest difference, in the quantity's unit.
    pub largest: f64,
}

/// The result of a replay.
#[derive(Clone, Debug, Serialize)]
pub struct Replayed {
    /// Calls that were replayed.
    pub calls: u64,
    /// Connections of the recording that the control was driven through.
    pub connections: usize,
    /// Calls that the kernel left out of them, at least.
    pub left_out: u64,
    /// The number of times that the endpoint set the window, so that ours was set too.
    pub set_by_endpoint: u64,
    /// The quantities.
    pub compared: Vec<Compared>,
    /// The causes of differences, and how often each was met.
    pub causes: Vec<(&'static str, u64)>,
    /// The first difference of each connection.
    pub first: Vec<Difference>,
}

/// Drives the control of `config` through the connections of a recorded control, side by side in the order of time: what connections
/// share, each knows when it did in the kernel.
pub fn replay(recording: &Recording, recorded: &str, config: &ControlConfig) -> Replayed {
    let names = recording.header.inner.get(recorded).map_or(&[][..], Vec::as_slice);
    let compared = Quantity::ALL.map(|quantity| Compared { quantity, calls: 0, within: 0, largest: 0.0 });
    let mut replayed = Replayed {
        calls: 0,
        connections: 0,
        left_out: 0,
        set_by_endpoint: 0,
        compared: compared.into(),
        causes: Vec::new(),
        first: Vec::new(),
    };
    let knowledge = config.knowledge();
    let of_control = || recording.connections.iter().filter(|connection| connection.control == recorded);
    replayed.left_out = of_control().map(|connection| left_out::of(&connection.calls).calls).sum();
    let mut runs: Vec<_> = of_control().filter_map(|each| Run::of(each, names, config)).collect();
    replayed.connections = runs.len();
    let mut due: BinaryHeap<_> =
        runs.iter().enumerate().map(|(index, run)| Reverse((run.due(), index))).collect();
    // What the connections that ended have left to the next ones of their flows.
    let mut ended = BTreeMap::new();
    while let Some(Reverse((_, index))) = due.pop() {
        let run = &mut runs[index];
        if run.is_new() {
            if let Some(mut earlier) = ended.remove(&run.connection.flow) {
                run.control.inherit(&mut earlier);
            }
            if let Some(shared) = &knowledge {
                run.control.share(shared);
            }
        }
        run.step(&mut replayed);
        if run.is_over() {
            let left = std::mem::replace(&mut run.control, config.build(Start::NEW));
            ended.insert(run.connection.flow, left);
        } else {
            due.push(Reverse((run.due(), index)));
        }
    }
    replayed.compared.retain(|compared| compared.calls > 0);
    replayed
}

/// A connection under way.
struct Run<'a> {
    control: Control,
    connection: &'a Connection,
    /// The places of its first call and of the next one.
    begin: usize,
    place: usize,
    /// True if the kernel's is one that sets window and rate itself.
    rates: bool,
    /// Of the kernel's inner variables.
    names: &'a [String],
    teller: Teller,
    /// True if losses were repaired at the last call.
    repaired: bool,
    differed: bool,
    /// True if a cycle of gains is under way, in the kernel's and in ours.
    cycles: bool,
}

impl<'a> Run<'a> {
    /// None if nobody recorded how the connection began.
    fn of(connection: &'a Connection, names: &'a [String], config: &ControlConfig) -> Option<Self> {
        let begin = connection.calls.iter().position(|call| call.kind() == Some(Kind::Init))?;
        let rates = connection.calls.iter().any(|call| call.kind() == Some(Kind::CongControl));
        Some(Self {
            control: config.build(start(&connection.calls[begin])),
            connection,
            begin,
            place: begin,
            rates,
            names,
            teller: Teller::new(rates),
            repaired: false,
            differed: false,
            cycles: false,
        })
    }

    fn is_new(&self) -> bool {
        self.place == self.begin
    }

    fn is_over(&self) -> bool {
        self.place == self.connection.calls.len()
    }

    /// When the next call was, in ns.
    fn due(&self) -> u64 {
        self.connection.calls[self.place].time_ns
    }

    /// The next call; the first one has made the control.
    fn step(&mut self, replayed: &mut Replayed) {
        let (place, connection) = (self.place, self.connection);
        self.place += 1;
        if place == self.begin {
            return;
        }
        replayed.calls += 1;
        let calls = &connection.calls[place..];
        let call = &calls[0];
        let repairs = (CWR..=RECOVERY).contains(&call.ca_state) && !self.rates;
        self.follow_endpoint(&connection.calls[place - 1], call, repairs, replayed);
        self.repaired = repairs;
        self.teller.tell(&mut self.control, call, calls.get(1), grows_later(calls));
        self.follow_cycle(call);
        if !is_first_of_ack(calls) {
            self.compare(place, call, repairs, replayed);
        }
    }

    /// Takes over what the endpoint changed since the last call.
    fn follow_endpoint(&mut self, before: &Call, call: &Call, repairs: bool, replayed: &mut Replayed) {
        if !repairs && (call.cwnd != before.cwnd_after || self.repaired) {
            let cwnd = f64::from(call.cwnd);
            if (self.control.window() - cwnd).abs() >= 1.0 {
                self.control.set_window(cwnd);
                replayed.set_by_endpoint += 1;
            }
        }
        let given = before.kind() == Some(Kind::Ssthresh) && call.ssthresh == before.returned;
        if call.ssthresh != before.ssthresh_after && !given {
            self.control.set_ssthresh(threshold(call.ssthresh));
        }
    }

    /// Takes over the phase in which the kernel's cycle begins.
    fn follow_cycle(&mut self, call: &Call) {
        let Some(phase) = self.kernels(call, "cycle_idx") else { return };
        let both = [self.kernels(call, "mode"), self.ours("state")] == [Some(PROBE_BW); 2];
        if both && !self.cycles {
            self.control.set_phase(phase as usize);
        }
        self.cycles = both;
    }

    fn compare(&mut self, place: usize, call: &Call, repairs: bool, replayed: &mut Replayed) {
        match call.kind() {
            Some(Kind::Ssthresh) if !self.rates => {
                self.value(
                    place,
                    call,
                    Quantity::Ssthresh,
                    (f64::from(call.returned), self.control.ssthresh()),
                    replayed,
                );
            }
            Some(Kind::CongControl) if self.rates => self.compare_rates(place, call, replayed),
            Some(Kind::CongAvoid | Kind::PktsAcked) if !self.rates && !repairs => {
                if let (Some(kernel), Some(ours)) = (self.kernels(call, "slope"), self.ours("slope")) {
                    self.value(place, call, Quantity::Slope, (kernel / SLOPE_UNIT, ours), replayed);
                }
                self.window(place, call, replayed);
                let threshold = threshold(call.ssthresh_after);
                self.value(place, call, Quantity::Ssthresh, (threshold, self.control.ssthresh()), replayed);
            }
            _ => {}
        }
    }

    fn compare_rates(&mut self, place: usize, call: &Call, replayed: &mut Replayed) {
        /// The kernel's bandwidths are packets/us times this.
        const BW_UNIT: f64 = (1 << 24) as f64;
        if let (Some(kernel), Some(ours)) = (self.kernels(call, "mode"), self.ours("state")) {
            self.value(place, call, Quantity::State, (kernel, ours), replayed);
        }
        if let (Some(kernel), Some(ours)) = (self.kernels(call, "bw"), self.ours("bandwidth")) {
            self.value(place, call, Quantity::Bandwidth, (kernel * 1e6 / BW_UNIT, ours), replayed);
        }
        self.window(place, call, replayed);
    }

    fn window(&mut self, place: usize, call: &Call, replayed: &mut Replayed) {
        let ours = self.control.window().floor();
        self.value(place, call, Quantity::Cwnd, (f64::from(call.cwnd_after), ours), replayed);
    }

    /// An inner variable of the kernel's control.
    fn kernels(&self, call: &Call, name: &str) -> Option<f64> {
        let place = self.names.iter().position(|each| each == name)?;
        call.inner.get(place).copied().map(f64::from)
    }

    /// An inner variable of ours.
    fn ours(&self, name: &str) -> Option<f64> {
        let mut found = None;
        self.control.read_variables(&mut |each, value| {
            if each == name {
                found = Some(value);
            }
        });
        found
    }

    /// Compares a value; if it differs, ours goes on from the kernel's.
    fn value(
        &mut self,
        place: usize,
        call: &Call,
        quantity: Quantity,
        (kernel, ours): (f64, f64),
        replayed: &mut Replayed,
    ) {
        let difference = if kernel == ours { 0.0 } else { (kernel - ours).abs() };
        let within = difference <= quantity.tolerance(kernel, self.rates);
        if let Some(compared) = replayed.compared.iter_mut().find(|each| each.quantity == quantity) {
            compared.calls += 1;
            compared.within += u64::from(within);
            if difference.is_finite() {
                compared.largest = compared.largest.max(difference);
            }
        }
        if within {
            return;
        }
        let cause = self.cause(call, quantity, kernel, ours);
        match replayed.causes.iter_mut().find(|(each, _)| *each == cause) {
            Some((_, count)) => *count += 1,
            None => replayed.causes.push((cause, 1)),
        }
        if !self.differed {
            self.differed = true;
            let function = Kind::ALL.get(call.kind as usize).map_or("", |(_, name)| *name);
            let (flow, port, time_s) = (call.flow, call.port, call.time_ns as f64 / 1e9);
            let first =
                Difference { flow, port, call: place, time_s, function, quantity, kernel, ours, cause };
            replayed.first.push(first);
        }
        match quantity {
            Quantity::Cwnd => self.control.set_window(kernel),
            Quantity::Ssthresh => self.control.set_ssthresh(kernel),
            Quantity::State | Quantity::Bandwidth | Quantity::Slope => {}
        }
    }

    /// Why a value differs, as far as the call tells.
    fn cause(&self, call: &Call, quantity: Quantity, kernel: f64, ours: f64) -> &'static str {
        let in_slow_start = call.cwnd < call.ssthresh;
        let of_linux = || self.ours("extra_acked").is_some();
        let states_differ = || self.kernels(call, "mode") != self.ours("state");
        match (quantity, call.kind()) {
            (Quantity::Ssthresh, Some(Kind::PktsAcked | Kind::CongAvoid)) if ours.is_infinite() => {
                "HyStart of Linux ended slow start"
            }
            (Quantity::Ssthresh, Some(Kind::Ssthresh)) if call.packets_out.saturating_add(1) < call.cwnd => {
                "ours reduces the packets in flight (RFC 5681 eq. (4)), Linux its window"
            }
            (Quantity::Ssthresh, _) => "another reduction",
            (Quantity::State, _) if of_linux() => NOT_RECORDED,
            (Quantity::Cwnd, _) if self.rates && of_linux() => NOT_RECORDED,
            (Quantity::State, _) if kernel == PROBE_BW && ours == DRAIN => {
                "Linux ends Drain with more in flight: it adds room for bursts to the BDP"
            }
            (Quantity::State, _) => "another state",
            (Quantity::Bandwidth, _) => "another bandwidth",
            (Quantity::Slope, _) => "another slope: an interval that ended at another ACK",
            (Quantity::Cwnd, _) if self.rates && states_differ() => "the states differ",
            (Quantity::Cwnd, _) if self.rates && call.sample_flags & 1 != 0 && ours < kernel => {
                "ours keeps a window that the application did not use"
            }
            (Quantity::Cwnd, _) if self.rates => "Linux adds room for bursts and for aggregated ACKs to the BDP",
            (Quantity::Cwnd, _) if in_slow_start => "slow start",
            (Quantity::Cwnd, _) if self.kernels(call, "last_max_cwnd") == Some(0.0) && ours < kernel => {
                "before its first loss, Linux grows by a twentieth each round trip at least"
            }
            (Quantity::Cwnd, _) if ours > kernel && self.ours("w_est").is_some_and(|w_est| w_est >= ours) => {
                "ours goes to W_est at once (RFC 9438 §4.3), and W_est grows by a packet each round trip once it is what \
                 the window was before the loss; Linux grows towards W_est, by 0.53 packets each round trip"
            }
            (Quantity::Cwnd, _) => "congestion avoidance",
        }
    }
}

/// True if the first of these calls tells of an ACK that a later one lets the window grow by: ours hears of both at once then.
fn is_first_of_ack(calls: &[Call]) -> bool {
    let mut kinds = calls.iter().map(Call::kind);
    kinds.next() == Some(Some(Kind::PktsAcked))
        && kinds.find(|kind| *kind != Some(Kind::InAckEvent)) == Some(Some(Kind::CongAvoid))
}

/// True if the window may grow by the ACK of this call at a later one, perhaps in another state of the connection.
fn grows_later(calls: &[Call]) -> bool {
    let between = [Kind::InAckEvent, Kind::SetState, Kind::CwndEvent].map(Some);
    let mut kinds = calls[1..].iter().map(Call::kind);
    kinds.find(|kind| !between.contains(kind)) == Some(Some(Kind::CongAvoid))
}

/// Why the BBR of Linux differs from itself.
const NOT_RECORDED: &str =
    "Linux subtracts from what is in flight what will be delivered before the next packet goes, and no call says when that is";

/// The kernel's slopes are these parts of 1.
const SLOPE_UNIT: f64 = 1024.0;

/// States of BBR.
const DRAIN: f64 = 1.0;
const PROBE_BW: f64 = 2.0;
