//! A script against our endpoint, on a clock of its own.
//!
//! Times are those of packetdrill: a relative time counts from the moment at which the event before was done, and a
//! packet may be early or late by the larger of a fixed tolerance and a share of the time since the event before.
//! Packets sent without a line that expects them are found by the next line that expects one, and not at the end of the
//! script, as packetdrill has it too.

use crate::applicability;
use crate::bytes::Stream;
use crate::endpoint::{Endpoint, Origins, Sent, State};
use crate::information::field;
use crate::python::{Python, Stop};
use crate::script::{Action, Call, Direction, Event, Expression, Script, TcpOption, TcpPacket, Time};
use crate::settings::Settings;
use parshall_tcp::Rules;
use parshall_units::{Duration, Instant};
use std::collections::BTreeSet;
use std::path::Path;

/// What a script came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All that could be compared is as the script says; the fields of `tcp_info` that could not.
    Passed(BTreeSet<String>),
    /// The line of the first difference, and the difference.
    Failed(usize, String),
    /// Why.
    NotApplicable(String),
}

/// Runs a script that stands in `directory`, on an endpoint with these rules.
pub fn run(script: &Script, directory: &Path, rules: Rules) -> Verdict {
    match Driver::new(script, directory, rules).and_then(|mut driver| {
        driver.run(script)?;
        Ok(driver.python.missing.into_iter().collect())
    }) {
        Ok(missing) => Verdict::Passed(missing),
        Err(Break::Difference(line, text)) => Verdict::Failed(line, text),
        Err(Break::Inapplicable(reason)) => Verdict::NotApplicable(reason),
    }
}

enum Break {
    Difference(usize, String),
    Inapplicable(String),
}

impl From<String> for Break {
    fn from(reason: String) -> Self {
        Self::Inapplicable(reason)
    }
}

/// How far from its time a packet may be: `--tolerance_usecs`, `--tolerance_percent`.
#[derive(Clone, Copy, Debug)]
struct Tolerance {
    fixed_s: f64,
    share: f64,
}

struct Driver {
    endpoint: Endpoint,
    python: Python,
    now: Instant,
    tolerance: Tolerance,
    /// When the event before was to happen by the script, s.
    before_s: f64,
    /// The connection's socket.
    socket: Option<i64>,
    read: u64,
    reset: bool,
}

/// How long to wait for a packet that may come at any time.
const ANY_TIME_S: f64 = 1000.0;

impl Driver {
    fn new(script: &Script, directory: &Path, rules: Rules) -> Result<Self, Break> {
        let mut settings = Settings { rules, ..Settings::default() };
        if let Some(commands) = &script.set_up {
            settings.apply(commands, directory)?;
        }
        let set_up = applicability::check(script, &mut settings)?;
        let mut tolerance = Tolerance { fixed_s: 0.004, share: 0.125 };
        for (name, value) in &script.options {
            match (name.as_str(), value.parse::<f64>()) {
                ("tolerance_usecs", Ok(us)) => tolerance.fixed_s = us / 1e6,
                ("tolerance_percent", Ok(percent)) => tolerance.share = percent / 100.0,
                _ => {}
            }
        }
        let origins = origins(script);
        let arriving = Stream::cut_at(arriving(script, origins));
        Ok(Self {
            endpoint: Endpoint::new(settings, origins, arriving, set_up.mss),
            python: Python::default(),
            now: Instant::ZERO,
            tolerance,
            before_s: 0.0,
            socket: None,
            read: 0,
            reset: false,
        })
    }

    fn run(&mut self, script: &Script) -> Result<(), Break> {
        for event in &script.events {
            let offset = self.now.as_secs_f64();
            let (from, to) = match event.time {
                Time::Absolute(time) => (time, time),
                Time::Relative(after) => (offset + after, offset + after),
                Time::AbsoluteRange(from, to) => (from, to),
                Time::RelativeRange(from, to) => (offset + from, offset + to),
                Time::Any => (offset, offset + ANY_TIME_S),
            };
            match &event.action {
                Action::Tcp(packet) if packet.direction == Direction::Outbound => {
                    self.expect(event, packet, (from, to))?;
                }
                action => {
                    self.advance(instant(from))?;
                    self.act(event.line, action)?;
                }
            }
            self.before_s = from;
        }
        Ok(())
    }

    /// Lets time pass up to `end`, and what happens by itself happen.
    fn advance(&mut self, end: Instant) -> Result<(), Break> {
        while self.endpoint.deadline() <= end {
            self.step()?;
        }
        self.now = self.now.max(end);
        Ok(())
    }

    /// The next thing that happens by itself.
    fn step(&mut self) -> Result<(), Break> {
        self.now = self.now.max(self.endpoint.deadline());
        Ok(self.endpoint.on_deadline(self.now)?)
    }

    fn act(&mut self, line: usize, action: &Action) -> Result<(), Break> {
        match action {
            Action::Tcp(packet) if packet.flags.reset => self.reset = true,
            Action::Tcp(packet) => self.endpoint.on_packet(self.now, packet)?,
            Action::Call(call) => self.call(line, call)?,
            Action::Python(code) => {
                let endpoint = &self.endpoint;
                self.python.run(code, &|name| field(endpoint, name)).map_err(|stop| match stop {
                    Stop::Failed(text) => Break::Difference(line, text),
                    Stop::Beyond(what) => Break::Inapplicable(format!("needs Python for {what}")),
                })?;
            }
            Action::Shell(_) | Action::OtherPacket(_) => {}
        }
        Ok(())
    }

    fn call(&mut self, line: usize, call: &Call) -> Result<(), Break> {
        let result = call.result.integer();
        let count = result.and_then(|result| u64::try_from(result).ok()).unwrap_or(0);
        let argument = |at: usize| call.arguments.get(at);
        let socket = argument(0).and_then(Expression::integer);
        match call.name.as_str() {
            "listen" => self.endpoint.state = State::Listening,
            "accept" | "accept4" => self.socket = result,
            "connect" if self.endpoint.state == State::Closed => {
                self.socket = socket;
                self.endpoint.connect(self.now);
            }
            _ if socket != self.socket && !(call.name == "setsockopt" && self.socket.is_none()) => {} // the one that listens
            "write" | "send" | "sendto" | "writev" | "sendmsg" => self.endpoint.write(self.now, count),
            "shutdown" if argument(1).and_then(Expression::text) == Some("SHUT_RD") => {}
            "close" | "shutdown" if self.endpoint.state == State::Established => {
                self.endpoint.close(self.now);
            }
            "read" | "recv" | "recvfrom" | "readv" | "recvmsg" => {
                self.read += count;
                if call.end.is_none() && self.read > self.endpoint.received() {
                    let arrived = self.endpoint.received();
                    return Err(Break::Difference(
                        line,
                        format!("{} bytes are read of {arrived}", self.read),
                    ));
                }
            }
            "setsockopt" if argument(2).and_then(Expression::text) == Some("TCP_NODELAY") => {
                self.endpoint.written.at_once = argument(3).and_then(Expression::integer) != Some(0);
                self.endpoint.poll(self.now);
            }
            _ => {}
        }
        Ok(())
    }

    /// A packet is to be sent: the packets that are its bytes.
    fn expect(&mut self, event: &Event, packet: &TcpPacket, (from, to): (f64, f64)) -> Result<(), Break> {
        if self.reset || packet.flags.reset {
            return Err("resets a connection".to_string().into());
        }
        if packet.length == 0 && self.endpoint.would_probe_window(packet.seq) {
            return Err("expects probes of a window of zero".to_string().into());
        }
        let share = self.tolerance.share * (from - self.before_s);
        let tolerance = share.max(self.tolerance.fixed_s) + 1e-9;
        let latest = instant(to + tolerance);
        let expected = |what: &str| {
            let time = match event.time {
                Time::Any => "at any time".into(),
                _ if to > from => format!("at {from:.4} to {to:.4} s"),
                _ => format!("at {from:.4} s"),
            };
            Break::Difference(event.line, format!("expected {packet} {time}, {what}"))
        };
        let mut sent = 0;
        let mut first_time = None;
        loop {
            while self.endpoint.sent.is_empty() && self.endpoint.deadline() <= latest {
                self.step()?;
            }
            let Some(actual) = self.endpoint.sent.pop_front() else {
                let so_far = if sent > 0 {
                    format!("{sent} bytes of it were sent, and no more")
                } else {
                    "nothing was sent".into()
                };
                return Err(expected(&so_far));
            };
            let time = actual.time.as_secs_f64();
            if let Some(difference) = difference(packet, &actual, sent) {
                return Err(expected(&format!("sent {actual} at {time:.4} s{difference}")));
            }
            if event.time != Time::Any && !(from - tolerance..=to + tolerance).contains(&time) {
                return Err(expected(&format!("sent it at {time:.4} s")));
            }
            first_time.get_or_insert(actual.time);
            self.now = self.now.max(actual.time);
            sent += actual.length;
            if sent >= u32::from(packet.length) {
                break;
            }
        }
        for option in packet.options.iter().flatten() {
            if let (TcpOption::Timestamps { value, .. }, Some(time)) = (option, first_time) {
                self.endpoint.note_stamp(*value, time);
            }
        }
        Ok(())
    }
}

/// Why `actual` is not the part of `packet` that begins `sent` bytes into it. PSH, the window and the options of a SYN
/// are not compared: the endpoint has none.
fn difference(packet: &TcpPacket, actual: &Sent, sent: u32) -> Option<&'static str> {
    let (expected, flags) = (packet.flags, actual.flags);
    let last = sent + actual.length == u32::from(packet.length);
    let same_kind =
        expected.syn == flags.syn && expected.ack == flags.ack && (!last || expected.fin == flags.fin);
    let same_place =
        actual.seq == packet.seq.wrapping_add(sent) && sent + actual.length <= u32::from(packet.length);
    if !same_kind || !same_place || (packet.length > 0 && actual.length == 0) {
        return Some("");
    }
    if flags.ack && packet.ack != Some(actual.ack) {
        return Some(": another ack");
    }
    let reduced = sent == 0 && expected.reduced != flags.reduced;
    if expected.echo != flags.echo || reduced {
        return Some(": other ECN flags");
    }
    match packet.ip.as_deref() {
        Some("ect0" | "ect01") if !actual.ecn_capable => return Some(": not ECN-capable"),
        Some("noecn") if actual.ecn_capable => return Some(": ECN-capable"),
        Some("ect1") => return Some(": not ECT(1)"),
        _ => {}
    }
    let listed = packet.options.as_ref().filter(|_| !expected.syn)?;
    let blocks = listed.iter().find_map(|option| match option {
        TcpOption::Sack(blocks) => Some(blocks.clone()),
        _ => None,
    });
    (packet.length == 0 && blocks.unwrap_or_default() != actual.sack).then_some(": other SACK blocks")
}

fn instant(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn packets(script: &Script, direction: Direction) -> impl Iterator<Item = &TcpPacket> {
    script.events.iter().filter_map(move |event| match &event.action {
        Action::Tcp(packet) if packet.direction == direction => Some(packet),
        _ => None,
    })
}

/// Where the two streams begin: the numbers of the SYNs.
fn origins(script: &Script) -> Origins {
    let of =
        |direction| packets(script, direction).find(|packet| packet.flags.syn).map_or(0, |packet| packet.seq);
    Origins { ours: of(Direction::Outbound), theirs: of(Direction::Inbound) }
}

/// Where the script cuts the stream that arrives.
fn arriving(script: &Script, origins: Origins) -> Vec<u64> {
    packets(script, Direction::Inbound)
        .filter(|packet| packet.length > 0 && !packet.flags.syn)
        .flat_map(|packet| {
            let start = u64::from(packet.seq.wrapping_sub(origins.theirs.wrapping_add(1)));
            [start, start + u64::from(packet.length)]
        })
        .collect()
}
