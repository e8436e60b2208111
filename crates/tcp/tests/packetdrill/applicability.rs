//! What of a script cannot be asked of a sender and a receiver: found before it is run.

use crate::script::{Action, Call, Direction, Expression, Script, TcpOption, TcpPacket};
use crate::settings::{control, Settings};

/// What the whole script says of its one connection.
pub struct SetUp {
    /// Our largest MSS.
    pub mss: u64,
}

/// Refuses what does not apply, and takes over the options of the socket that hold for the whole connection.
///
/// # Errors
/// The reason.
pub fn check(script: &Script, settings: &mut Settings) -> Result<SetUp, String> {
    let option = |name: &str| {
        script.options.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    };
    let mtu: u64 = option("mtu").and_then(|value| value.parse().ok()).unwrap_or(1500);
    let headers = if option("ip_version").is_some_and(|version| version == "ipv6") { 60 } else { 40 };
    let mut set_up = SetUp { mss: mtu.saturating_sub(headers).max(1) };
    let mut written = false;
    let mut opened = 0;
    for event in &script.events {
        match &event.action {
            Action::OtherPacket(name) => return Err(format!("sends or expects {}", &name[2..])),
            Action::Tcp(packet) => {
                check_packet(packet)?;
                opened += u32::from(
                    packet.flags.syn && !packet.flags.ack && packet.direction == Direction::Inbound,
                );
            }
            Action::Shell(command) => check_command(command)?,
            Action::Call(call) => {
                check_call(call)?;
                opened += u32::from(call.name == "connect" && call.result.integer() == Some(0));
                if call.name == "getsockopt" {
                    check_question(call)?;
                }
                written |= call.name.starts_with("write") || call.name.starts_with("send");
                if call.name == "setsockopt" {
                    check_option(call, settings, &mut set_up, written)?;
                }
            }
            Action::Python(_) => {}
        }
    }
    if !script.events.iter().any(|event| matches!(event.action, Action::Tcp(_))) {
        return Err("has no packet of TCP".into());
    }
    if opened > 1 {
        return Err("opens more than one connection".into());
    }
    Ok(set_up)
}

fn check_packet(packet: &TcpPacket) -> Result<(), String> {
    if let Some(around) = &packet.inside {
        return Err(format!("has packets within others ({around})"));
    }
    if packet.ports.is_some() {
        return Err("has packets of other ports".into());
    }
    if packet.flags.urgent || packet.urgent.is_some() {
        return Err("sends urgent data".into());
    }
    if packet.flags.counter.is_some() || packet.flags.accurate {
        return Err("uses AccECN".into());
    }
    if packet.flags.syn && packet.length > 0 {
        return Err("has data in a SYN".into());
    }
    for option in packet.options.iter().flatten() {
        if let TcpOption::Other(name) = option {
            return Err(format!("has the TCP option {name}"));
        }
    }
    Ok(())
}

/// Commands between events: what looks only.
fn check_command(command: &str) -> Result<(), String> {
    let program = command.split_whitespace().next().unwrap_or("");
    let name = program.rsplit('/').next().unwrap_or(program);
    if name.is_empty()
        || name.starts_with("sysctl_restore")
        || ["nstat", "ss", "cat", "true", "sync"].contains(&name)
    {
        return Ok(());
    }
    Err(format!("needs the command {command:?} between events"))
}

/// System calls that the connection has, or that do nothing to it.
const CALLS: &[&str] = &[
    "accept",
    "accept4",
    "bind",
    "close",
    "connect",
    "fcntl",
    "getsockopt",
    "listen",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "send",
    "sendmsg",
    "sendto",
    "setsockopt",
    "shutdown",
    "socket",
    "write",
    "writev",
];

fn check_call(call: &Call) -> Result<(), String> {
    if !CALLS.contains(&call.name.as_str()) {
        return Err(format!("calls {}", call.name));
    }
    let words: Vec<&str> = call.arguments.iter().filter_map(Expression::text).collect();
    if let Some(flag) = words.iter().find(|word| word.starts_with("MSG_") && !HARMLESS_FLAGS.contains(word)) {
        return Err(format!("calls {} with {flag}", call.name));
    }
    if call.name == "socket" && words.contains(&"SOCK_DGRAM") {
        return Err("opens a socket of datagrams".into());
    }
    let expected = ["EAGAIN", "EWOULDBLOCK", "EINPROGRESS"];
    let failure = call.result.integer().is_some_and(|result| result < 0);
    match call.errno.as_deref() {
        Some(errno) if failure && !expected.contains(&errno) => {
            Err(format!("has {} fail with {errno}", call.name))
        }
        _ => Ok(()),
    }
}

const HARMLESS_FLAGS: &[&str] = &["MSG_DONTWAIT", "MSG_NOSIGNAL", "MSG_TRUNC", "MSG_WAITALL"];

/// Options of sockets that do not change what is sent here.
const SOCKET_OPTIONS: &[&str] = &[
    "IPV6_MTU_DISCOVER",
    "IPV6_TCLASS",
    "IPV6_V6ONLY",
    "IP_MTU_DISCOVER",
    "IP_TOS",
    "IP_TTL",
    "SO_BUSY_POLL",
    "SO_ERROR",
    "SO_INCOMING_CPU",
    "SO_LINGER",
    "SO_MARK",
    "SO_PRIORITY",
    "SO_RCVBUF",
    "SO_RCVBUFFORCE",
    "SO_RCVLOWAT",
    "SO_RCVTIMEO",
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_SNDBUF",
    "SO_SNDBUFFORCE",
    "SO_SNDTIMEO",
    "TCP_INFO",
    "TCP_LINGER2",
    "TCP_NODELAY",
    "TCP_NOTSENT_LOWAT",
    "TCP_SYNCNT",
];

/// Values of the socket that scripts ask for: those that say how the connection is are asked for by code as well.
fn check_question(call: &Call) -> Result<(), String> {
    let name = call.arguments.get(2).and_then(Expression::text).unwrap_or("of a number");
    match name {
        "SO_ERROR" | "TCP_CC_INFO" | "TCP_INFO" => Ok(()),
        _ => Err(format!("asks for the socket option {name}")),
    }
}

fn check_option(
    call: &Call,
    settings: &mut Settings,
    set_up: &mut SetUp,
    written: bool,
) -> Result<(), String> {
    let name = call.arguments.get(2).and_then(Expression::text).unwrap_or("of a number");
    let value = call.arguments.get(3);
    match name {
        "TCP_CONGESTION" if written => Err("changes the congestion control after data was sent".into()),
        "TCP_CONGESTION" => {
            settings.control = control(value.and_then(Expression::text).unwrap_or(""))?;
            Ok(())
        }
        "TCP_MAXSEG" => {
            let limit = value.and_then(Expression::integer).and_then(|mss| u64::try_from(mss).ok());
            set_up.mss = set_up.mss.min(limit.filter(|&mss| mss > 0).unwrap_or(set_up.mss));
            Ok(())
        }
        _ if SOCKET_OPTIONS.contains(&name) => Ok(()),
        _ => Err(format!("needs the socket option {name}")),
    }
}
