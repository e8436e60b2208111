//! A script, as its text says it.

use std::fmt;

/// Why a script was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A whole script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// `--name=value`, in order.
    pub options: Vec<(String, String)>,
    /// Shell commands before the first event, and after the last one.
    pub set_up: Option<String>,
    pub clean_up: Option<String>,
    pub events: Vec<Event>,
}

/// Something that is done, or expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub line: usize,
    pub time: Time,
    pub action: Action,
}

/// When, in seconds; relative times count from the event before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    Absolute(f64),
    Relative(f64),
    AbsoluteRange(f64, f64),
    RelativeRange(f64, f64),
    /// `*`
    Any,
}

/// What.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A segment that arrives, or that the sender is to send.
    Tcp(TcpPacket),
    /// Another packet, in words.
    OtherPacket(String),
    Call(Call),
    Shell(String),
    Python(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<`
    Inbound,
    /// `>`
    Outbound,
}

/// A TCP segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpPacket {
    pub direction: Direction,
    /// What is said of the IP header, by its name (`ect0`, `tos 0x10`).
    pub ip: Option<String>,
    /// Ports other than those of the one connection.
    pub ports: Option<(u16, u16)>,
    /// Headers around it (`gre`, `psp`).
    pub inside: Option<String>,
    pub flags: Flags,
    /// Sequence number and length.
    pub seq: u32,
    pub length: u16,
    pub ack: Option<u32>,
    pub window: Option<u16>,
    pub urgent: Option<u16>,
    /// `None`: whatever they are (`<...>`).
    pub options: Option<Vec<TcpOption>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    pub syn: bool,
    pub fin: bool,
    pub reset: bool,
    pub push: bool,
    pub ack: bool,
    /// ECE, CWR, AE
    pub echo: bool,
    pub reduced: bool,
    pub accurate: bool,
    /// The counter of AccECN.
    pub counter: Option<u8>,
    pub urgent: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    NoOperation,
    End,
    /// `None`: a name that whoever runs the script defines.
    Mss(Option<u16>),
    WindowScale(u8),
    SackPermitted,
    Sack(Vec<(u32, u32)>),
    Timestamps {
        value: u32,
        echo: u32,
    },
    /// Any other, by its name.
    Other(String),
}

/// A system call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// When a call that blocks returns, s.
    pub end: Option<f64>,
    pub name: String,
    pub arguments: Vec<Expression>,
    pub result: Expression,
    pub errno: Option<String>,
}

/// An argument or a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Ellipsis,
    Integer(i64),
    Word(String),
    Text(String),
    /// `[...]`
    List(Vec<Expression>),
    /// `{...}`, and any expression that has names, operators or calls in it.
    Structure(Vec<Expression>),
}

impl Expression {
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::List(items) => match items.as_slice() {
                [item] => item.integer(),
                _ => None,
            },
            _ => None,
        }
    }

    /// A name, or what stands in quotation marks.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Text(text) => Some(text),
            Self::List(items) => match items.as_slice() {
                [item] => item.text(),
                _ => None,
            },
            _ => None,
        }
    }
}

impl fmt::Display for TcpPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = self.options.iter().flatten().find_map(|option| match option {
            TcpOption::Sack(blocks) => Some(blocks.as_slice()),
            _ => None,
        });
        segment(f, self.flags, (self.seq, u32::from(self.length)), self.ack, blocks.unwrap_or_default())
    }
}

/// A segment as scripts write it.
pub fn segment(
    f: &mut fmt::Formatter<'_>,
    flags: Flags,
    (seq, length): (u32, u32),
    ack: Option<u32>,
    blocks: &[(u32, u32)],
) -> fmt::Result {
    write!(f, "{flags} {seq}:{}({length})", seq.wrapping_add(length))?;
    if let Some(ack) = ack.filter(|_| flags.ack) {
        write!(f, " ack {ack}")?;
    }
    if !blocks.is_empty() {
        let blocks: Vec<_> = blocks.iter().map(|(left, right)| format!("{left}:{right}")).collect();
        write!(f, " <sack {}>", blocks.join(" "))?;
    }
    Ok(())
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = [
            (self.fin, 'F'),
            (self.syn, 'S'),
            (self.reset, 'R'),
            (self.push, 'P'),
            (self.echo, 'E'),
            (self.reduced, 'W'),
            (self.accurate, 'A'),
            (self.urgent, 'U'),
            (self.ack, '.'),
        ];
        let set: String = letters.iter().filter(|(set, _)| *set).map(|(_, letter)| letter).collect();
        f.write_str(if set.is_empty() { "-" } else { &set })
    }
}
