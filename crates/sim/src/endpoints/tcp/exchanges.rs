//! Exchanges of a request and a response over one connection, there and back.
//!
//! A flow of this simulator sends in one direction, so an exchange is between two of them: the *server*, which is the flow of
//! the group and of the records, and the *client*, whose path is the server's way back and whose way back is the
//! server's path. They are the two directions of one connection: the client's opens it, with its handshake if there is one, and
//! that of the server is open when the first request has come.
//!
//! | what happens | when |
//! | --- | --- |
//! | the client sends a request | it has thought; an ACK of the response that waits goes with it |
//! | the server answers | the last byte of the request is there; an ACK of the request that waits goes with it |
//! | the exchange is over | the last byte of the response is there |
//!
//! Where TCP has data carry such an ACK, here it is a packet of its own ahead of them. A way back that is not contended has no
//! links, so the packets of a request reach the server's host by events of this kind instead of the network's.
//!
//! Each flow runs in its own time, so neither touches the other: the last byte that will arrive puts the turn of the
//! other one into the event queue, for its time. A sender whose own time is ahead of that begins when its time has come.

use super::application::Application;
use super::{TcpFlow, TcpFlows, EXCHANGE};
use crate::endpoint_kind::{Kind, TransitKind};
use crate::groups::{Place, Propagation, Role, TcpGroup};
use crate::plan::{problem, GroupPlan, Problem};
use crate::shared::Core;
use parshall_engine::random::{SmallStream, Stream};
use parshall_engine::{End, Entity, Owner, Transit, MAX_INDEX};
use parshall_net::markers::{MarkerConfig, NoMarkerConfig};
use parshall_records::{RecordsError, TransferRow};
use parshall_tcp::TcpConfig;
use parshall_units::{Duration, Instant};
use parshall_workload::{Transfer, TransferSource};
use rand_core::RngCore;

/// A client and its server: flows that stand one after the other, the server first.
#[derive(Debug)]
pub(crate) struct Exchange {
    source: TransferSource,
    random: Stream,
    request_bytes: u64,
    /// Of the exchange under way, or of the next one.
    response_bytes: u64,
    /// When the request was sent.
    pub(super) begun: Instant,
    awaits: Awaits,
    /// Exchanges before this one.
    pub(super) number: u32,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// The client thinks.
    Thought,
    /// A request is under way.
    Request,
    /// A response is under way.
    Response,
}

impl Exchange {
    pub(super) fn new(
        mut source: TransferSource,
        mut random: Stream,
        request_bytes: u64,
    ) -> (Self, Transfer) {
        let first = next(&mut source, &mut random);
        let exchange = Self {
            source,
            random,
            request_bytes,
            response_bytes: first.bytes.unwrap_or(1),
            begun: Instant::ZERO,
            awaits: Awaits::Thought,
            number: 0,
        };
        (exchange, first)
    }

    /// Of the exchange that is under way, or over at `completed`.
    fn row(&self, server: &TcpFlow, group: &TcpGroup, completed: Option<Instant>) -> TransferRow {
        TransferRow {
            transfer: self.number,
            start_s: self.begun.as_secs_f64(),
            size_bytes: Some(self.response_bytes),
            ..server.transfer_row(group, completed)
        }
    }
}

fn next(source: &mut TransferSource, random: &mut Stream) -> Transfer {
    source.next(random).unwrap_or_else(|| unreachable!("there is always another exchange"))
}

/// The groups of both ends, made of that of a server whose keys are those of the scenario.
pub(super) fn groups(mut server: TcpGroup) -> (TcpGroup, TcpGroup) {
    server.tcp.persistent = true;
    server.role = Some(Role::Server);
    let client = TcpGroup {
        role: Some(Role::Client),
        access: None,
        answer_time: Duration::ZERO, // the ACKs of requests cross the links of the responses
        arms_late: server.arms_late && !server.reverse_path.is_empty(), // else its packets come by events of their own
        marker: MarkerConfig::None(NoMarkerConfig {}),
        one_link: server.one_link_back,
        one_link_back: server.one_link,
        heard_at_once: false,
        path: server.reverse_path.clone(),
        reverse_path: server.path.clone(),
        name: server.name.clone(),
        tcp: server.tcp.clone(),
        control: server.control.clone(),
        knowledge: server.control.knowledge(),
        ..server
    };
    let open = TcpConfig { handshake: false, ..server.tcp.clone() };
    (TcpGroup { tcp: open, ..server }, client)
}

/// The private parts of the client's path: the same as the server's, the other way.
fn propagation_of_client(server: Propagation) -> Propagation {
    Propagation {
        to_first_link: server.back,
        to_receiver: server.to_sender,
        back: server.to_first_link,
        to_sender: server.to_receiver,
    }
}

impl TcpFlows {
    /// Adds the client number `index` of a group, whose server was added just before, and their first exchange.
    pub(super) fn add_client(
        &mut self,
        core: &mut Core,
        group: &GroupPlan<'_>,
        index: u32,
        (source, request_bytes): (&TransferSource, u64),
    ) -> Result<(), Problem> {
        let server = self.flows.len() - 1;
        if server + 1 > MAX_INDEX as usize {
            return Err(problem("count", format!("no more than {} flows, clients included", MAX_INDEX + 1)));
        }
        let (exchange, first) = Exchange::new(source.clone(), group.stream("workload", index), request_bytes);
        let (id, propagation) =
            (self.flows[server].id, propagation_of_client(self.flows[server].propagation));
        let place = Place {
            id,
            index: server as u32 + 1,
            group: self.groups.len() as u32 - 1,
            processing: SmallStream::of(&mut group.stream("processing of requests", index)),
        };
        let choices = group.stream("congestion_control of requests", index).next_u64();
        let application = Application::new(None, None, None);
        let mut client =
            TcpFlow::new(&self.groups[place.group as usize], place, choices, propagation, application);
        client.jitter = group.jitter_of_requests(index)?;
        self.flows.push(client);
        self.flows[server].exchange = Some(Box::new(exchange));
        let start = group.start(index)?;
        self.flows[server].started = start;
        core.queue.push(start + first.wait, Entity::Own(Kind::Tcp, EXCHANGE, server as u32));
        Ok(())
    }

    /// An event of an exchange: at the server's place a turn ends, at the client's a packet arrives without having crossed a link.
    pub(super) fn on_exchange(&mut self, core: &mut Core, now: Instant, index: u32) {
        core.queue.pop(Entity::Own(Kind::Tcp, EXCHANGE, index));
        let (flow, group) = self.flow(index);
        if group.role == Some(Role::Client) {
            return flow.arrive_uncontended(group, core, now);
        }
        let Some(mut exchange) = flow.exchange.take() else { return };
        let (server, client) = (index, index + 1);
        // Its ACKs of packets that were sent twice may have taken the sender beyond this time.
        let sender = if exchange.awaits == Awaits::Thought { client } else { server };
        let ready = self.flows[sender as usize].sender.statistics().updated();
        if ready > now && exchange.awaits != Awaits::Response {
            core.queue.push(ready, Entity::Own(Kind::Tcp, EXCHANGE, server));
            self.flows[server as usize].exchange = Some(exchange);
            return;
        }
        match exchange.awaits {
            Awaits::Thought => {
                exchange.awaits = Awaits::Request;
                exchange.begun = now;
                self.begin(core, now, (client, server), exchange.request_bytes);
            }
            Awaits::Request => {
                exchange.awaits = Awaits::Response;
                self.begin(core, now, (server, client), exchange.response_bytes);
            }
            Awaits::Response => {
                let (flow, group) = self.flow(server);
                let row = exchange.row(flow, group, Some(now));
                core.sink.record(|tables| tables.transfers.push(row));
                let coming = next(&mut exchange.source, &mut exchange.random);
                exchange.awaits = Awaits::Thought;
                exchange.number += 1;
                exchange.response_bytes = coming.bytes.unwrap_or(1);
                core.queue.push(now + coming.wait, Entity::Own(Kind::Tcp, EXCHANGE, server));
            }
        }
        self.flows[server as usize].exchange = Some(exchange);
    }

    /// One end sends so many bytes, and with them an ACK of what came from the other end, if one waits.
    fn begin(&mut self, core: &mut Core, now: Instant, (sender, other): (u32, u32), bytes: u64) {
        let (flow, group) = self.flow(other);
        flow.send_ack_with_data(group, core, now);
        flow.arm(group, core);
        let (flow, group) = self.flow(sender);
        flow.start_now(group, core, now, bytes);
        flow.arm(group, core);
    }

    /// The exchanges that are under way when the simulation ends.
    pub(super) fn end_exchanges(&self, core: &mut Core) -> Result<(), RecordsError> {
        for flow in &self.flows {
            if let Some(exchange) =
                flow.exchange.as_ref().filter(|exchange| exchange.awaits != Awaits::Thought)
            {
                let row = exchange.row(flow, &self.groups[flow.group as usize], None);
                core.sink.record(|tables| tables.transfers.push(row));
            }
        }
        core.sink.recorder.take_error()
    }
}

impl TcpFlow {
    /// A packet was received: if it is the last one missing of what was sent, it is the other end's turn.
    #[cold]
    #[inline(never)]
    pub(super) fn turn(&self, role: Role, core: &mut Core, at: Instant) {
        if self.sender.is_last(self.receiver.next() - 1) {
            let server = if role == Role::Server { self.index } else { self.index - 1 };
            core.queue.push(at, Entity::Own(Kind::Tcp, EXCHANGE, server));
        }
    }

    /// The first packet in transit has come to the other host's end of an uncontended path.
    fn arrive_uncontended(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        let packet = self.first_in_transit();
        let owner = Owner { transit: TransitKind::Data, flow: self.index, tag: 0 };
        let jitter = self.jitter.as_mut().and_then(|jitter| jitter.forth.as_mut());
        if let Some(at) = core.pass(jitter, now, Transit { packet, owner, hop: 0 }, End::Path) {
            self.receive(group, core, at + self.propagation.to_receiver, &packet);
        }
        self.arm(group, core);
        if let Some(at) = self.next_in_transit(group, core.warm_up) {
            core.queue.push(at, Entity::Own(Kind::Tcp, EXCHANGE, self.index));
        }
    }
}
