//! A TCP flow: its application, and one connection after another.
//!
//! A transfer begins when it is due, even if this host is late, and is complete when its last byte is acknowledged, as
//! in the simulator. The kernel reports that moment: each write asks for a notice on the socket's error queue when the
//! last of its bytes is acknowledged (SO_TIMESTAMPING, SOF_TIMESTAMPING_TX_ACK).
//!
//! A connection that is not persistent ends with a FIN, which the simulator's do not send.
//!
//! A server of exchanges has the connection that its [client](crate::clients) opens, and answers each request; its
//! transfers are the responses.

use super::context::{Context, Due};
use super::probe::{FlowOutcome, Probe};
use super::totals::Totals;
use crate::clock::{nanos, seconds, span, Nanos, NEVER};
use crate::connection::{configure, ZEROS};
use crate::error::{HostsError, Tried};
use crate::exchange::{ClientReport, Exchange};
use crate::plan::{address, FlowPlan, Stream, TcpOptions, Transport, RECEIVERS, SENDERS};
use crate::row::Row;
use crate::tcp_info::TcpInfo;
use crate::{socket, sys};
use parshall_records::TransferRow;
use parshall_workload::TransferSource;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::sockopt::socket_error;
use rustix::net::{connect, send, SendFlags, SocketAddrV4, SocketType};
use std::os::fd::{AsFd, OwnedFd};

/// A quarter of the smallest send buffer that the kernel gives.
const SHORTEST_WRITE: usize = 1024;

/// Writes of one flow before others have their turn.
const WRITES_A_TURN: u32 = 32;

/// More than a readable socket ever holds.
const ALL: usize = 1 << 30;

/// Endless transfers have so many bytes left.
const ENDLESS: u64 = u64::MAX;

pub(crate) struct TcpFlow {
    plan: u32,
    /// `None`: an open loop hands its transfers over.
    source: Option<(TransferSource, Stream)>,
    /// The open loop that it belongs to.
    pub(super) process: Option<u32>,
    socket: Option<OwnedFd>,
    connected: bool,
    /// When it started.
    started: Nanos,
    /// The transfer that waits for its start, bytes.
    pending: Option<u64>,
    transfer: Option<Transfer>,
    transfers: u32,
    /// An open loop's transfer is done, and the loop does not know yet.
    finished: bool,
    /// Of a server of exchanges.
    served: Option<Served>,
    failure: Option<String>,
    /// True if it goes on to write as soon as others had their turn.
    write_is_due: bool,
    /// When the next look at the socket is due.
    look_at: Nanos,
    probe: Probe,
}

/// What a server knows of its client.
struct Served {
    /// Bytes of each request, and of the one under way those that have not come.
    request: u64,
    missing: u64,
    /// The exchange under way.
    exchange: Option<Transfer>,
}

/// A transfer under way.
struct Transfer {
    begun: Nanos,
    bytes: Option<u64>,
    /// Not yet written.
    left: u64,
    /// What the flow had counted when it began.
    before: Totals,
}

impl TcpFlow {
    /// The flow of that place in the plan; `stream`: which of its connections side by side.
    pub(super) fn new(
        context: &Context,
        plan: u32,
        stream: u32,
        source: Option<(TransferSource, Stream)>,
    ) -> Self {
        Self {
            plan,
            source,
            process: None,
            socket: None,
            connected: false,
            started: NEVER,
            pending: None,
            transfer: None,
            transfers: stream,
            finished: false,
            served: None,
            failure: None,
            write_is_due: false,
            look_at: NEVER,
            probe: Probe::new(context.flow(plan), plan, stream == 0),
        }
    }

    // --- transfers ---

    /// Asks the source for the transfer after the one that ended at `now`, or for the first.
    pub(super) fn plan_transfer(&mut self, context: &mut Context, index: u32, now: Nanos) {
        self.started = self.started.min(now);
        let Some((source, random)) = &mut self.source else { return };
        let Some(transfer) = source.next(random) else { return context.shared.finish_source(self.plan) };
        self.pending = Some(transfer.bytes.unwrap_or(ENDLESS));
        context.at(now.saturating_add(span(transfer.wait)), Due::Transfer(index));
    }

    /// An open loop's transfer, which begins at once, and its number among those of the loop.
    pub(super) fn hand_over(&mut self, bytes: u64, number: u32) {
        self.pending = Some(bytes);
        self.transfers = number;
    }

    /// The transfer that waits begins; it was due `at`.
    pub(super) fn begin_transfer(
        &mut self,
        context: &mut Context,
        index: u32,
        at: Nanos,
    ) -> Result<(), HostsError> {
        let Some(bytes) = self.pending.take() else { return Ok(()) };
        self.started = self.started.min(at);
        let before = self.probe.totals(self.socket.as_ref())?;
        self.transfer =
            Some(Transfer { begun: at, bytes: (bytes != ENDLESS).then_some(bytes), left: bytes, before });
        if self.socket.is_none() {
            self.connect(context, index)?;
        }
        self.go_on(context, index)
    }

    /// The flow had written much, and others have had their turn.
    pub(super) fn write_on(&mut self, context: &mut Context, index: u32) -> Result<(), HostsError> {
        self.write_is_due = false;
        self.go_on(context, index)
    }

    /// Writes what there is room for, and looks whether the transfer is complete.
    fn go_on(&mut self, context: &mut Context, index: u32) -> Result<(), HostsError> {
        let (Some(transfer), Some(socket), true) = (&mut self.transfer, &self.socket, self.connected) else {
            return Ok(());
        };
        let buffer = options(context.flow(self.plan)).send_buffer;
        let a_write =
            buffer.map_or(ZEROS.len(), |bytes| ZEROS.len().min(bytes as usize / 4).max(SHORTEST_WRITE));
        for _ in 0..WRITES_A_TURN {
            if transfer.left == 0 {
                break;
            }
            let most = transfer.left.min(a_write as u64) as usize;
            match send(socket, &ZEROS[..most], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(written) if transfer.bytes.is_some() => transfer.left -= written as u64,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return self.fail(context, error),
            }
        }
        if transfer.left > 0 {
            if !std::mem::replace(&mut self.write_is_due, true) {
                context.at(context.clock.now(), Due::Write(index));
            }
        } else if self.served.is_some() {
            self.transfer = None; // it is the client that knows when all of it has come
        } else if sys::unacknowledged(socket.as_fd()).tried("ask how much of a transfer is acknowledged")?
            == 0
        {
            self.finish_transfer(context, index)?;
        }
        Ok(())
    }

    fn finish_transfer(&mut self, context: &mut Context, index: u32) -> Result<(), HostsError> {
        let now = context.clock.now();
        let Some(transfer) = self.transfer.take() else { return Ok(()) };
        let totals = self.probe.totals(self.socket.as_ref())?;
        context.record(Row::Transfer(self.transfer_row(context, &transfer, Some(now), &totals)));
        // The numbers in between are those of its neighbours.
        self.transfers += context.flow(self.plan).transport.streams();
        if !options(context.flow(self.plan)).persistent {
            self.close(context)?;
        }
        self.finished = self.process.is_some();
        self.plan_transfer(context, index, now);
        Ok(())
    }

    fn transfer_row(
        &self,
        context: &Context,
        transfer: &Transfer,
        completed: Option<Nanos>,
        totals: &Totals,
    ) -> TransferRow {
        let own = totals.since(&transfer.before);
        TransferRow {
            group: context.flow(self.plan).group.clone(),
            flow: self.plan,
            transfer: self.transfers,
            start_s: seconds(transfer.begun),
            completion_s: completed.map(seconds),
            size_bytes: transfer.bytes,
            packets_sent: own.packets,
            retransmissions: own.retransmissions,
            timeouts: own.timeouts,
        }
    }

    // --- exchanges ---

    /// It is to answer requests of so many bytes.
    pub(super) fn serve(&mut self, request: u64) {
        self.served = Some(Served { request, missing: request, exchange: None });
    }

    /// Its client has connected.
    pub(super) fn accept(
        &mut self,
        context: &mut Context,
        index: u32,
        socket: OwnedFd,
    ) -> Result<(), HostsError> {
        let flow = context.flow(self.plan);
        socket::set_dscp(&socket, flow.dscp)?;
        configure(&socket, flow, options(flow), context.plan.mtu)?;
        socket::end_when_closed(&socket, true)?;
        self.open(context, index, socket, EventFlags::IN | EventFlags::OUT | EventFlags::ET)?;
        self.connected = true;
        Ok(())
    }

    /// Its client reports that an exchange has begun, or is complete.
    pub(super) fn on_client_report(
        &mut self,
        context: &Context,
        report: ClientReport,
    ) -> Result<(), HostsError> {
        let totals = self.probe.totals(self.socket.as_ref())?;
        let Some(served) = &mut self.served else { return Ok(()) };
        match report.exchange {
            Exchange::Begun(bytes) => {
                self.started = self.started.min(report.at);
                let (begun, bytes) = (report.at, Some(bytes));
                served.exchange = Some(Transfer { begun, bytes, left: 0, before: totals });
            }
            Exchange::Completed => {
                let Some(exchange) = served.exchange.take() else { return Ok(()) };
                context.record(Row::Transfer(self.transfer_row(
                    context,
                    &exchange,
                    Some(report.at),
                    &totals,
                )));
                self.transfers += 1;
            }
        }
        Ok(())
    }

    /// Takes what has come of a request, and answers if that is all.
    fn take_request(&mut self, context: &mut Context, index: u32) -> Result<(), HostsError> {
        let (Some(served), Some(socket)) = (&mut self.served, &self.socket) else { return Ok(()) };
        loop {
            match sys::discard(socket.as_fd(), ALL) {
                Ok(bytes) if bytes > 0 => served.missing = served.missing.saturating_sub(bytes as u64),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Ok(_) | Err(_) => return Ok(()), // the client has ended
            }
        }
        if served.missing > 0 {
            return Ok(());
        }
        served.missing = served.request;
        let Some((source, random)) = &mut self.source else { return Ok(()) };
        self.pending = source.next(random).and_then(|response| response.bytes);
        self.begin_transfer(context, index, context.clock.now())
    }

    /// True if an open loop's transfer was finished since the last call.
    pub(super) fn take_finished(&mut self) -> bool {
        std::mem::take(&mut self.finished)
    }

    // --- connections ---

    fn connect(&mut self, context: &mut Context, index: u32) -> Result<(), HostsError> {
        let flow = context.flow(self.plan);
        let options = options(flow);
        let socket = socket::open(SocketType::STREAM, address(SENDERS, self.plan), 0)?;
        socket::set_dscp(&socket, flow.dscp)?;
        configure(&socket, flow, options, context.plan.mtu)?;
        socket::end_when_closed(&socket, true)?;
        if self.transfer.as_ref().is_some_and(|transfer| transfer.bytes.is_some()) {
            ask_for_notices(&socket)?;
        }
        let port = context.ports.of(options.receive_buffer);
        match connect(&socket, &SocketAddrV4::new(address(RECEIVERS, self.plan), port)) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error).tried("connect a socket"),
        }
        self.open(context, index, socket, EventFlags::OUT | EventFlags::ET)
    }

    /// The socket of a connection is there, and is watched for these events.
    fn open(
        &mut self,
        context: &mut Context,
        index: u32,
        socket: OwnedFd,
        events: EventFlags,
    ) -> Result<(), HostsError> {
        context.events.watch(&socket, u64::from(index), events)?;
        self.socket = Some(socket);
        self.connected = false;
        self.probe.begin_connection(context.clock.now());
        self.look_at = self.probe.next_look(context, context.clock.now());
        context.at(self.look_at, Due::Look(index));
        Ok(())
    }

    /// The connection has sent all that it had to; its FIN is on its way, and what it counted is kept.
    fn close(&mut self, context: &Context) -> Result<(), HostsError> {
        if let Some(socket) = self.socket.take() {
            self.probe.end_connection(context, &socket)?;
            socket::end_when_closed(&socket, false)?;
        }
        self.connected = false;
        self.look_at = NEVER;
        Ok(())
    }

    /// The connection broke: the flow ends, and its outcome has the reason.
    fn fail(&mut self, context: &Context, error: Errno) -> Result<(), HostsError> {
        self.failure = Some(format!("the connection broke: {}", std::io::Error::from(error)));
        self.close(context)
    }

    /// The socket is ready for something.
    pub(super) fn on_ready(
        &mut self,
        context: &mut Context,
        index: u32,
        flags: EventFlags,
    ) -> Result<(), HostsError> {
        let Some(socket) = &self.socket else { return Ok(()) };
        if flags.contains(EventFlags::ERR) {
            while sys::discard_notice(socket.as_fd()) {}
        }
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) || !self.connected {
            if let Err(error) = socket_error(socket).tried("ask for the error of a socket")? {
                return self.fail(context, error);
            }
        }
        self.connected |= flags.contains(EventFlags::OUT);
        if flags.contains(EventFlags::IN) {
            self.take_request(context, index)?;
        }
        self.go_on(context, index)
    }

    // --- recording ---

    /// Reads TCP_INFO, at the time that was set for it.
    pub(super) fn look(&mut self, context: &mut Context, index: u32, at: Nanos) -> Result<(), HostsError> {
        if at != self.look_at {
            return Ok(()); // set for an earlier connection
        }
        let Some(socket) = &self.socket else { return Ok(()) };
        let info = TcpInfo::read(socket.as_fd()).tried("read TCP_INFO")?;
        let now = context.clock.now();
        if self.connected {
            let has_more = self.transfer.as_ref().is_some_and(|transfer| transfer.left > 0);
            self.probe.look(context, &info, has_more, now);
        }
        self.look_at = self.probe.next_look(context, now);
        context.at(self.look_at, Due::Look(index));
        Ok(())
    }

    /// The warm-up has ended.
    pub(super) fn begin_measurement(&mut self, context: &Context) -> Result<(), HostsError> {
        self.probe.begin_measurement(context.clock.now(), self.socket.as_ref())
    }

    /// The run ends at `now`.
    pub(super) fn end(&mut self, context: &Context, now: Nanos) -> Result<FlowOutcome, HostsError> {
        let totals = self.probe.totals(self.socket.as_ref())?;
        let transfer = self.served.as_ref().map_or(self.transfer.as_ref(), |served| served.exchange.as_ref());
        if let Some(transfer) = transfer {
            context.record(Row::Transfer(self.transfer_row(context, transfer, None, &totals)));
        }
        let flow = context.flow(self.plan);
        let started = if self.started == NEVER { nanos(flow.start) } else { self.started };
        let mut outcome = self.probe.end(context, &totals);
        outcome.row.congestion_control = options(flow).congestion_control.clone();
        outcome.row.rtt_base_s = Some(flow.rtt_base.as_secs_f64());
        outcome.row.start_s = seconds(started.min(now));
        outcome.plan = self.plan;
        outcome.failure = self.failure.take();
        Ok(outcome)
    }
}

fn options(flow: &FlowPlan) -> &TcpOptions {
    match &flow.transport {
        Transport::Tcp(options) => options,
        Transport::Datagrams | Transport::Programs { .. } => {
            unreachable!("the plan's check keeps transfers to TCP")
        }
    }
}

/// Asks for a notice when what a write handed over is acknowledged.
fn ask_for_notices(socket: &OwnedFd) -> Result<(), HostsError> {
    let notices =
        libc::SOF_TIMESTAMPING_TX_ACK | libc::SOF_TIMESTAMPING_SOFTWARE | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &notices.to_ne_bytes())
        .tried("ask for notices of acknowledgements")
}
