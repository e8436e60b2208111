//! The running network: its event loop, its links, and how packets go from one to the next.

mod arrivals;

pub(crate) use arrivals::ArrivalProcess;

use crate::datagram_flow::{DatagramFlow, DatagramGroup};
use crate::packet::{Entity, Owner, Packet, Transit, MAX_INDEX};
use crate::probe::LinkProbe;
use crate::random::Stream;
use crate::series::{Widths, FULL};
use crate::shared::Core;
use crate::tcp_flow::TcpFlow;
use crate::tcp_group::TcpGroup;
use crate::waiting_packets::WaitingPackets;
use crate::{Monitor, SimError};
use parshall_net::ecn::Ecn;
use parshall_net::link::{Label, Link, Offered, Outcome, Transmission};
use parshall_records::Tables;
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// A contended link.
pub(crate) struct LinkState {
    pub(crate) name: Arc<str>,
    pub(crate) link: Link,
    /// Whether records count the classes of packets apart: the queue does, or a marked flow crosses the link.
    pub(crate) classed: bool,
    pub(crate) random: Stream,
    /// Packets that propagate towards another contended link.
    line: VecDeque<Transit>,
    /// Packets that wait for their turn, if the queue decides at departure.
    waiting: WaitingPackets,
    pub(crate) probe: LinkProbe,
}

/// Why a packet does not go on at once.
enum Stopped {
    /// The link dropped or lost it.
    Lost,
    /// The queue decides when its turn comes.
    Waits,
}

impl LinkState {
    pub(crate) fn new(name: Arc<str>, link: Link, random: Stream, probe: LinkProbe) -> Self {
        let classed = link.differentiates();
        Self { name, link, classed, random, line: VecDeque::new(), waiting: WaitingPackets::default(), probe }
    }

    /// A packet is offered. If it goes on: when it will have propagated to the link's end.
    #[inline]
    fn pass(
        &mut self,
        now: Instant,
        packet: &mut Packet,
        ecn: Ecn,
        warm_up: Instant,
    ) -> Result<Instant, Stopped> {
        let offered = Offered { bytes: packet.bytes(), ecn, class: packet.class() };
        match self.link.offer(now, offered, &mut self.random) {
            Outcome::Forwarded { departure, waiting, marked } => {
                self.probe.waited(waiting, now >= warm_up);
                if marked {
                    packet.mark();
                }
                Ok(departure + self.link.delay())
            }
            Outcome::Dropped | Outcome::LostOnMedium => Err(Stopped::Lost),
            Outcome::Waits => Err(Stopped::Waits),
        }
    }

    /// A packet propagates towards the next contended link and will be there `at`.
    pub(crate) fn propagate(&mut self, core: &mut Core, index: u32, at: Instant, mut transit: Transit) {
        transit.packet.at = at;
        if self.line.is_empty() {
            core.queue.push(at, Entity::Link(index));
        }
        self.line.push_back(transit);
    }
}

/// The widths of the link samples' bins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bins {
    /// All the same: each bin is written when it ends.
    Fixed(Duration),
    /// They fit the run: written when it ends.
    Fitted(Widths),
}

impl Bins {
    pub(crate) fn width(self) -> Duration {
        match self {
            Self::Fixed(width) => width,
            Self::Fitted(widths) => widths.width(),
        }
    }
}

/// A running network.
pub(crate) struct Network {
    pub(crate) core: Core,
    pub(crate) links: Vec<LinkState>,
    pub(crate) tcp_groups: Vec<TcpGroup>,
    pub(crate) tcp_flows: Vec<TcpFlow>,
    pub(crate) datagram_groups: Vec<DatagramGroup>,
    pub(crate) datagram_flows: Vec<DatagramFlow>,
    pub(crate) arrivals: Vec<ArrivalProcess>,
    pub(crate) flow_count: u32,
    /// Width of the bins of the link samples, if there are any.
    pub(crate) bins: Option<Bins>,
    pub(crate) events: u64,
}

/// Events between two looks at the monitor.
const CHECK_EVERY: u64 = 1 << 14;

impl Network {
    /// Runs to the end of the simulated time.
    pub(crate) fn run(&mut self, tables: &mut Tables, monitor: &Monitor) -> Result<(), SimError> {
        self.core.tables = std::mem::replace(tables, Tables::none());
        let result = self.run_events(monitor).and_then(|()| self.check_end()).and_then(|()| self.end());
        *tables = std::mem::replace(&mut self.core.tables, Tables::none());
        result
    }

    fn run_events(&mut self, monitor: &Monitor) -> Result<(), SimError> {
        self.core.queue.adapt();
        while let Some((now, entity)) = self.core.queue.peek() {
            if now >= self.core.end {
                break;
            }
            self.look_ahead();
            self.handle(now, entity);
            self.events += 1;
            if self.events.is_multiple_of(CHECK_EVERY) {
                self.core.queue.adapt();
                self.check(now, monitor)?;
            }
        }
        self.check(self.core.end, monitor)
    }

    /// Something was measured.
    fn check_end(&self) -> Result<(), SimError> {
        if self.core.end > self.core.warm_up {
            return Ok(());
        }
        let (end, warm_up) = (self.core.end.as_secs_f64(), self.core.warm_up.as_secs_f64());
        let problem = format!(
            "lasts {warm_up} s, and the transfers of ends_with were done before, at {end:.3} s; write a shorter warm_up"
        );
        Err(SimError::invalid("warm_up", problem))
    }

    /// Asks for the memory of flows whose turn is soon, if there are so many that no cache has it.
    #[inline]
    fn look_ahead(&mut self) {
        let Some(calendar) = self.core.queue.calendar() else { return };
        for _ in 0..2 {
            if let Some(Entity::Data(index) | Entity::SlowTimer(index)) = calendar.look_ahead() {
                self.tcp_flows[index as usize].prefetch();
            }
        }
        let Some(begun) = self.core.queue.begun() else { return };
        for entity in begun {
            if let Entity::Data(index) | Entity::SlowTimer(index) = entity {
                self.tcp_flows[index as usize].prefetch_beyond();
            }
        }
    }

    fn check(&mut self, now: Instant, monitor: &Monitor) -> Result<(), SimError> {
        monitor.simulated_ps.store(now.as_ps(), Ordering::Relaxed);
        monitor.packets.store(self.events, Ordering::Relaxed);
        self.core.take_error()?;
        for group in &self.tcp_groups {
            if let Some(fault) = group.control.fault() {
                return Err(SimError::Control { group: group.name.to_string(), fault });
            }
        }
        self.core.check_files(now)?;
        if self.core.stuck {
            let problem = "transfers of no bytes follow each other without a pause: time would stand still";
            return Err(SimError::invalid("flows.workload", problem));
        }
        // Between two looks come fewer flows than events.
        let most = monitor.most_flows.load(Ordering::Relaxed).min(u64::from(MAX_INDEX) - CHECK_EVERY);
        if u64::from(self.flow_count) > most && !self.arrivals.is_empty() {
            let (flows, at) = (self.flow_count, now.as_secs_f64());
            let problem = format!(
                "{flows} flows are open at {at:.3} s, and memory has room for {most}; let fewer arrive"
            );
            return Err(SimError::invalid("flows.workload", problem));
        }
        let enough = monitor.most_events.is_some_and(|most| self.events >= most);
        if enough || monitor.cancel.load(Ordering::Relaxed) {
            return Err(SimError::Interrupted { simulated_s: now.as_secs_f64() });
        }
        Ok(())
    }

    #[inline]
    fn handle(&mut self, now: Instant, entity: Entity) {
        match entity {
            Entity::Data(index) => self.on_data(now, index),
            Entity::Acks(index) => self.on_acks(now, index),
            Entity::SlowTimer(index) => {
                self.core.queue.pop(entity);
                let flow = &mut self.tcp_flows[index as usize];
                let group = &self.tcp_groups[flow.group as usize];
                flow.on_slow_timer(group, &mut self.core, now);
                flow.arm(&mut self.core);
            }
            Entity::FastTimer(index) => {
                self.core.queue.pop(entity);
                let flow = &mut self.tcp_flows[index as usize];
                let group = &self.tcp_groups[flow.group as usize];
                flow.on_fast_timer(group, &mut self.core, now);
                flow.arm(&mut self.core);
            }
            Entity::Link(index) => self.on_link(now, index),
            Entity::Transmission(index) => self.on_transmission(now, index),
            Entity::Datagram(index) => self.on_datagram(now, index),
            Entity::Report(index) => self.on_report(index),
            Entity::Arrival(index) => self.on_arrival(now, index),
            Entity::Bin => self.on_bin(now),
            Entity::WarmUp => {
                self.core.queue.pop(entity);
                for state in &mut self.links {
                    state.link.restart_counts(now);
                    state.probe.restart();
                }
            }
            Entity::AllDone => {
                self.core.queue.pop(entity);
                self.core.end = self.core.end.min(self.all_delivered(now));
            }
        }
    }

    /// The first packet of a flow's line reaches the flow's first link.
    ///
    /// It stays at the head of the line until it is dealt with, so that the flow's answer finds the line (and its
    /// place in the event queue) taken.
    #[inline]
    fn on_data(&mut self, now: Instant, index: u32) {
        let Self { core, links, tcp_groups, tcp_flows, .. } = self;
        let flow = &mut tcp_flows[index as usize];
        let group = &tcp_groups[flow.group as usize];
        let mut packet = flow.first_in_line();
        let link = group.path[0];
        let state = &mut links[link as usize];
        let ecn = packet.ecn(group.ecn);
        match state.pass(now, &mut packet, ecn, core.warm_up) {
            Ok(at) if group.one_link => {
                flow.receive(group, core, at + flow.legs.to_receiver, &packet);
                flow.arm(core);
            }
            Ok(at) if core.captures.is_none() => {
                state.propagate(core, link, at, Transit { packet, owner: Owner::Data(index), hop: 1 });
            }
            Ok(at) => return self.on_captured_data(now, index, at, packet),
            Err(Stopped::Lost) => flow.on_drop(core.warm_up, &packet),
            Err(Stopped::Waits) => return self.on_waiting_data(now, index, packet),
        }
        let next = flow.next_in_line(group, core.warm_up);
        core.queue.top_again_at(next, Entity::Data(index));
    }

    /// The rest of [`on_data`](Self::on_data) where the first link's queue decides at departure.
    #[cold]
    #[inline(never)]
    fn on_waiting_data(&mut self, now: Instant, index: u32, packet: Packet) {
        let owner = Owner::Data(index);
        self.hold(now, self.path(owner)[0], self.ecn(owner, &packet), Transit { packet, owner, hop: 1 });
        let flow = &mut self.tcp_flows[index as usize];
        let next = flow.next_in_line(&self.tcp_groups[flow.group as usize], self.core.warm_up);
        self.core.queue.top_again_at(next, Entity::Data(index));
    }

    /// The first ACK of a flow's line reaches the first link of the way back: as [`on_data`](Self::on_data).
    #[inline]
    fn on_acks(&mut self, now: Instant, index: u32) {
        let Self { core, links, tcp_groups, tcp_flows, .. } = self;
        let flow = &mut tcp_flows[index as usize];
        let group = &tcp_groups[flow.group as usize];
        let (mut packet, slot) = flow.acks[0];
        let link = group.reverse_path[0];
        let state = &mut links[link as usize];
        match state.pass(now, &mut packet, Ecn::NotCapable, core.warm_up) {
            Ok(at) if group.one_link_back => {
                flow.receive_ack(group, core, at + flow.legs.to_sender, (&packet, slot));
                flow.arm(core);
            }
            Ok(at) if core.captures.is_none() => {
                state.propagate(core, link, at, Transit { packet, owner: Owner::Ack(index, slot), hop: 1 });
            }
            Ok(at) => return self.on_captured_ack(now, index, at, (packet, slot)),
            Err(Stopped::Lost) => {
                core.sack_slots.take(slot);
            }
            Err(Stopped::Waits) => return self.on_waiting_ack(now, index, (packet, slot)),
        }
        let next = flow.next_ack_in_line();
        core.queue.top_again_at(next, Entity::Acks(index));
    }

    /// The rest of [`on_acks`](Self::on_acks) where the first link's queue decides at departure.
    #[cold]
    #[inline(never)]
    fn on_waiting_ack(&mut self, now: Instant, index: u32, (packet, slot): (Packet, u32)) {
        let owner = Owner::Ack(index, slot);
        self.hold(now, self.path(owner)[0], Ecn::NotCapable, Transit { packet, owner, hop: 1 });
        let next = self.tcp_flows[index as usize].next_ack_in_line();
        self.core.queue.top_again_at(next, Entity::Acks(index));
    }

    /// The first packet on a link's propagation line reaches the next link.
    fn on_link(&mut self, now: Instant, index: u32) {
        let Transit { packet, owner, hop } = self.links[index as usize].line[0];
        self.offer(now, owner, hop, packet);
        let line = &mut self.links[index as usize].line;
        line.pop_front();
        let next = line.front().map(|next| next.packet.at);
        self.core.queue.top_again_at(next, Entity::Link(index));
    }

    fn on_datagram(&mut self, now: Instant, index: u32) {
        let packet = self.datagram_flows[index as usize].next;
        self.offer(now, Owner::Datagram(index), 0, packet);
        let flow = &mut self.datagram_flows[index as usize];
        flow.draw(&self.datagram_groups[flow.group as usize], self.core.warm_up);
        self.core.queue.replace_top(flow.next.at, Entity::Datagram(index));
    }

    #[inline(never)]
    fn on_report(&mut self, index: u32) {
        let next = self.datagram_flows[index as usize].on_report(&mut self.core);
        self.core.queue.top_again_at(next, Entity::Report(index));
    }

    /// A packet reaches the next contended link of its path. (Data at its first link: [`on_data`](Self::on_data) itself.)
    fn offer(&mut self, now: Instant, owner: Owner, hop: u8, mut packet: Packet) {
        let (path, ecn) = (self.path(owner), self.ecn(owner, &packet));
        let link_index = path[hop as usize];
        let is_last = hop as usize + 1 == path.len();
        let state = &mut self.links[link_index as usize];
        match state.pass(now, &mut packet, ecn, self.core.warm_up) {
            Ok(at) if self.core.captures.is_some() => {
                self.go_on_captured(now, link_index, at, (Transit { packet, owner, hop: hop + 1 }, is_last));
            }
            Ok(at) if is_last => self.deliver(owner, at, &packet),
            Ok(at) => {
                state.propagate(&mut self.core, link_index, at, Transit { packet, owner, hop: hop + 1 });
            }
            Err(Stopped::Lost) => self.lose(owner, &packet),
            Err(Stopped::Waits) => {
                self.hold(now, link_index, ecn, Transit { packet, owner, hop: hop + 1 });
            }
        }
    }

    /// A packet waits at a link whose queue decides at departure; if the link is idle, the next transmission begins.
    #[inline(never)]
    fn hold(&mut self, now: Instant, index: u32, ecn: Ecn, transit: Transit) {
        let dscp = self.dscp(transit.owner);
        let LinkState { link, waiting, random, .. } = &mut self.links[index as usize];
        let Transit { packet, owner, .. } = transit;
        let offered = Offered { bytes: packet.bytes(), ecn, class: packet.class() };
        let label = Label { flow: owner.flow_number(), dscp, ticket: waiting.store(transit) };
        link.hold(now, offered, label, random);
        if link.is_busy() {
            self.lose_dropped(index);
        } else if let Some(next) = self.transmit(now, index) {
            self.core.queue.push(next, Entity::Transmission(index));
        }
    }

    /// A packet has left a link whose queue decides at departure, or the queue lets the next one go.
    #[inline(never)]
    fn on_transmission(&mut self, now: Instant, index: u32) {
        let next = self.transmit(now, index);
        self.core.queue.top_again_at(next, Entity::Transmission(index));
    }

    /// A link is free: the packet whose turn it is begins to leave, and what follows from that is done. Returns when the link is to be
    /// asked again.
    fn transmit(&mut self, now: Instant, index: u32) -> Option<Instant> {
        let LinkState { link, random, .. } = &mut self.links[index as usize];
        let transmission = link.transmit(now, random);
        self.lose_dropped(index);
        let Some(Transmission { ticket, departure, waiting, marked, counted }) = transmission else {
            return self.links[index as usize].link.resumes();
        };
        let state = &mut self.links[index as usize];
        let Transit { mut packet, owner, hop } = state.waiting.take(ticket);
        state.probe.waited(waiting, counted);
        if marked {
            packet.mark();
        }
        let at = departure + state.link.delay();
        let is_last = hop as usize == self.path(owner).len();
        if self.core.captures.is_some() {
            self.go_on_captured(now, index, at, (Transit { packet, owner, hop }, is_last));
        } else if is_last {
            self.deliver(owner, at, &packet);
        } else {
            let state = &mut self.links[index as usize];
            state.propagate(&mut self.core, index, at, Transit { packet, owner, hop });
        }
        Some(departure)
    }

    /// What the queue of a link has dropped is lost.
    fn lose_dropped(&mut self, index: u32) {
        while let Some(ticket) = self.links[index as usize].link.take_dropped() {
            let Transit { packet, owner, .. } = self.links[index as usize].waiting.take(ticket);
            self.lose(owner, &packet);
        }
    }

    pub(crate) fn path(&self, owner: Owner) -> &[u32] {
        match owner {
            Owner::Data(index) => &self.tcp_groups[self.tcp_flows[index as usize].group as usize].path,
            Owner::Ack(index, _) => {
                &self.tcp_groups[self.tcp_flows[index as usize].group as usize].reverse_path
            }
            Owner::Datagram(index) => {
                &self.datagram_groups[self.datagram_flows[index as usize].group as usize].path
            }
        }
    }

    /// The DSCP of a flow's packets, ACKs included.
    fn dscp(&self, owner: Owner) -> u8 {
        match owner {
            Owner::Data(index) | Owner::Ack(index, _) => {
                self.tcp_groups[self.tcp_flows[index as usize].group as usize].dscp
            }
            Owner::Datagram(index) => {
                self.datagram_groups[self.datagram_flows[index as usize].group as usize].dscp
            }
        }
    }

    /// What the packet says about ECN (RFC 3168 §6.1: only data can be marked, neither SYNs nor pure ACKs).
    fn ecn(&self, owner: Owner, packet: &Packet) -> Ecn {
        match owner {
            Owner::Data(index) => {
                let group = self.tcp_flows[index as usize].group;
                packet.ecn(self.tcp_groups[group as usize].ecn)
            }
            Owner::Ack(..) | Owner::Datagram(_) => Ecn::NotCapable,
        }
    }

    /// A packet has passed its last contended link and will leave the propagation line `at`.
    pub(crate) fn deliver(&mut self, owner: Owner, at: Instant, packet: &Packet) {
        match owner {
            Owner::Data(index) => {
                let flow = &mut self.tcp_flows[index as usize];
                let group = &self.tcp_groups[flow.group as usize];
                let arrives = at + flow.legs.to_receiver;
                flow.receive(group, &mut self.core, arrives, packet);
                flow.arm(&mut self.core);
            }
            Owner::Ack(index, slot) => {
                let flow = &mut self.tcp_flows[index as usize];
                let group = &self.tcp_groups[flow.group as usize];
                let arrives = at + flow.legs.to_sender;
                flow.receive_ack(group, &mut self.core, arrives, (packet, slot));
                flow.arm(&mut self.core);
            }
            Owner::Datagram(index) => {
                let flow = &mut self.datagram_flows[index as usize];
                let group = &self.datagram_groups[flow.group as usize];
                let arrives = at + flow.to_receiver;
                flow.receive(group, &mut self.core, arrives, packet);
            }
        }
    }

    /// A link lost a packet.
    fn lose(&mut self, owner: Owner, packet: &Packet) {
        let warm_up = self.core.warm_up;
        match owner {
            Owner::Data(index) => self.tcp_flows[index as usize].on_drop(warm_up, packet),
            Owner::Ack(_, slot) => {
                self.core.sack_slots.take(slot);
            }
            Owner::Datagram(index) => self.datagram_flows[index as usize].on_drop(warm_up, packet),
        }
    }

    fn on_bin(&mut self, now: Instant) {
        let Some(bins) = self.end_bins(now) else { return };
        self.core.queue.replace_top(now + bins.width(), Entity::Bin);
    }

    /// A bin of each link ends at `now`.
    fn end_bins(&mut self, now: Instant) -> Option<Bins> {
        match self.bins.as_mut()? {
            Bins::Fixed(_) => {
                for LinkState { name, link, classed, probe, .. } in &mut self.links {
                    probe.write_bin(&mut self.core, name, *classed, link, now);
                }
            }
            Bins::Fitted(widths) => {
                let probes =
                    self.links.iter_mut().map(|state| (&mut state.probe, state.classed, &mut state.link));
                let kept = probes.map(|(probe, classed, link)| probe.keep_bin(classed, link, now)).max();
                if kept == Some(FULL) {
                    let factor = widths.widen();
                    self.links.iter_mut().for_each(|state| state.probe.join_bins(factor));
                }
            }
        }
        self.bins
    }

    /// Two-way propagation delay of a flow.
    pub(crate) fn base_rtt(&self, flow: &TcpFlow) -> Duration {
        let group = &self.tcp_groups[flow.group as usize];
        let links = group.path.iter().chain(&group.reverse_path);
        links.fold(flow.legs.total(), |sum, &link| sum + self.links[link as usize].link.delay())
    }

    /// By when everything will have reached its end that has passed its last link by `now`.
    ///
    /// Flows run in their own time, ahead of the event queue, but never further than this: a simulation that ends then has
    /// the records of one that was asked to last so long.
    fn all_delivered(&self, now: Instant) -> Instant {
        let links = self.links.iter().map(|state| state.link.delivers_until());
        let legs = self.tcp_flows.iter().map(|flow| flow.legs.total());
        let rtts = self.datagram_flows.iter().map(|flow| flow.rtt);
        let longest = legs.chain(rtts).max().unwrap_or(Duration::ZERO);
        let tcp = self.tcp_groups.iter().map(|group| group.processing_time);
        let datagrams = self.datagram_groups.iter().map(|group| group.processing_time);
        let processing = tcp.chain(datagrams).max().unwrap_or(Duration::ZERO);
        links.fold(now, Instant::max) + longest + processing + Duration::from_ps(1)
    }

    /// Brings everything to the end of the simulated time.
    fn end(&mut self) -> Result<(), SimError> {
        let end = self.core.end;
        for flow in &mut self.tcp_flows {
            let group = &self.tcp_groups[flow.group as usize];
            flow.end(group, &mut self.core)?;
        }
        for flow in &mut self.datagram_flows {
            flow.end(&mut self.core);
        }
        for state in &mut self.links {
            state.link.advance(end);
        }
        self.end_bins(end);
        for state in &mut self.links {
            state.probe.write_kept(&mut self.core, &state.name);
        }
        self.core.finish_files()?;
        self.core.take_error().map_err(SimError::from)
    }
}
