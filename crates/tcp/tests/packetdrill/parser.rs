//! Tokens into a script, by packetdrill's grammar (`syntax.md` and `parser.y` of google/packetdrill).

use crate::lexer::{tokens, Kind, Token};
use crate::script::{Action, Call, Event, Problem, Script, Time};
use std::collections::HashMap;

/// A script.
///
/// # Errors
/// The first line that is not of the language, and what was expected there.
pub fn parse(text: &str) -> Result<Script, Problem> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
    let mut script = Script { options: parser.options()?, ..Script::default() };
    script.set_up = parser.command();
    while let Some(token) = parser.peek() {
        if token.kind == Kind::Command && !script.events.is_empty() {
            script.clean_up = parser.command();
            break;
        }
        let event = parser.event()?;
        script.events.push(event);
    }
    match parser.peek() {
        Some(token) => Err(parser.expected(token.line, "the end after the last command")),
        None if script.events.is_empty() => Err(parser.expected(1, "an event")),
        None => Ok(script),
    }
}

/// Options of packetdrill, all of which are understood; few of them say anything about the sender.
const OPTIONS: &[&str] = &[
    "bind_port",
    "code_command",
    "code_format",
    "code_sockopt",
    "connect_port",
    "debug",
    "define",
    "dry_run",
    "gateway_ip",
    "init_scripts",
    "ip_version",
    "is_anyip",
    "local_ip",
    "mss",
    "mtu",
    "netmask_ip",
    "non_fatal",
    "psp_udp_port",
    "remote_ip",
    "send_omit_free",
    "so_filename",
    "so_flags",
    "speed",
    "strict_segments",
    "tcp_ts_ecr_scaled",
    "tcp_ts_tick_usecs",
    "tolerance_percent",
    "tolerance_usecs",
    "verbose",
    "wire_client",
    "wire_client_dev",
    "wire_server",
    "wire_server_at",
    "wire_server_dev",
    "wire_server_ip",
    "wire_server_port",
];

/// Nesting beyond this is refused.
const DEPTH: u32 = 50;

pub struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    pub fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).copied()
    }

    /// The line of the next token, or of the last one.
    pub fn line(&self) -> usize {
        self.peek().or(self.tokens.last().copied()).map_or(1, |token| token.line)
    }

    pub fn advance(&mut self) -> Option<Token<'a>> {
        let token = self.peek();
        self.next += usize::from(token.is_some());
        token
    }

    /// What stands at the next token's place is not what was expected.
    pub fn expected(&self, line: usize, what: &str) -> Problem {
        let found = self.peek().map_or("the end".into(), |token| {
            let short: String = token.text.chars().take(30).collect();
            format!("{short:?}")
        });
        Problem { line, message: format!("expected {what}, found {found}") }
    }

    pub fn error<T>(&self, what: &str) -> Result<T, Problem> {
        Err(self.expected(self.line(), what))
    }

    /// Takes the next token if it is this sign, word or number.
    pub fn accepts(&mut self, text: &str) -> bool {
        let quoted = |kind| matches!(kind, Kind::Text | Kind::Command | Kind::Code | Kind::Option);
        let here = self.peek().is_some_and(|token| token.text == text && !quoted(token.kind));
        self.next += usize::from(here);
        here
    }

    pub fn needs(&mut self, text: &str) -> Result<(), Problem> {
        if self.accepts(text) {
            Ok(())
        } else {
            self.error(&format!("{text:?}"))
        }
    }

    pub fn accepts_kind(&mut self, kind: Kind) -> Option<&'a str> {
        let token = self.peek().filter(|token| token.kind == kind)?;
        self.next += 1;
        Some(token.text)
    }

    /// A whole number that the target type holds.
    pub fn number<T: TryFrom<i64>>(&mut self, what: &str) -> Result<T, Problem> {
        let value = self.peek().and_then(|token| match token.kind {
            Kind::Integer => token.text.parse().ok(),
            Kind::Hexadecimal => i64::from_str_radix(&token.text[2..], 16).ok(),
            _ => None,
        });
        match value.and_then(|value: i64| T::try_from(value).ok()) {
            Some(value) => {
                self.next += 1;
                Ok(value)
            }
            None => self.error(what),
        }
    }

    /// Runs a part of the grammar that contains itself.
    pub fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T, Problem>) -> Result<T, Problem> {
        if self.depth == DEPTH {
            return self.error("less nesting");
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// Options, whose definitions (`--define=NAME=value`) then hold for all that follows.
    fn options(&mut self) -> Result<Vec<(String, String)>, Problem> {
        let mut options = Vec::new();
        let mut definitions = HashMap::new();
        while let Some(option) = self.peek().filter(|token| token.kind == Kind::Option) {
            if !OPTIONS.contains(&option.text) {
                return self.error("an option of packetdrill");
            }
            self.advance();
            let mut value = None;
            if self.accepts("=") {
                let named = self.option_value()?;
                value = Some(if self.accepts("=") { self.option_value()? } else { named });
                definitions
                    .extend(value.filter(|_| option.text == "define").map(|value| (named.text, value)));
            }
            options.push((option.text.into(), value.map_or(String::new(), |value| value.text.into())));
        }
        for token in self.tokens[self.next..].iter_mut().filter(|token| token.kind == Kind::Word) {
            if let Some(value) = definitions.get(token.text) {
                *token = Token { line: token.line, ..*value };
            }
        }
        Ok(options)
    }

    fn option_value(&mut self) -> Result<Token<'a>, Problem> {
        match self.peek() {
            Some(token) if !matches!(token.kind, Kind::Sign | Kind::Code | Kind::Ellipsis) => {
                self.advance();
                Ok(token)
            }
            _ => self.error("a value"),
        }
    }

    fn command(&mut self) -> Option<String> {
        self.accepts_kind(Kind::Command).map(String::from)
    }

    fn event(&mut self) -> Result<Event, Problem> {
        let line = self.line();
        let time = self.time()?;
        let action = self.action()?;
        let waits = matches!(time, Time::Any | Time::AbsoluteRange(..) | Time::RelativeRange(..));
        let backwards = match time {
            Time::AbsoluteRange(from, to) | Time::RelativeRange(from, to) => to < from,
            _ => false,
        };
        if backwards {
            return Err(Problem { line, message: "a range of times that ends before it begins".into() });
        }
        if waits && !is_outbound(&action) {
            let message = "a range of times, or *, for something that is not a packet sent".into();
            return Err(Problem { line, message });
        }
        Ok(Event { line, time, action })
    }

    fn time(&mut self) -> Result<Time, Problem> {
        if self.accepts("*") {
            return Ok(Time::Any);
        }
        let relative = self.accepts("+");
        let from = self.seconds()?;
        let ranged = self.accepts("~");
        Ok(match (relative, ranged) {
            (true, false) => Time::Relative(from),
            (false, false) => Time::Absolute(from),
            (false, true) => Time::AbsoluteRange(from, self.seconds()?),
            (true, true) => {
                self.needs("+")?;
                Time::RelativeRange(from, self.seconds()?)
            }
        })
    }

    fn seconds(&mut self) -> Result<f64, Problem> {
        let number = self.peek().filter(|token| matches!(token.kind, Kind::Integer | Kind::Float));
        let seconds = number.and_then(|token| token.text.parse::<f64>().ok());
        match seconds.filter(|seconds| (0.0..1e6).contains(seconds)) {
            Some(seconds) => {
                self.advance();
                Ok(seconds)
            }
            None => self.error("a time in seconds"),
        }
    }

    fn action(&mut self) -> Result<Action, Problem> {
        if let Some(command) = self.command() {
            return Ok(Action::Shell(command));
        }
        if let Some(code) = self.accepts_kind(Kind::Code) {
            return Ok(Action::Python(code.trim_matches([' ', '\t']).into()));
        }
        match self.peek() {
            Some(token) if token.text == "<" || token.text == ">" => self.packet(),
            Some(token) if matches!(token.kind, Kind::Ellipsis | Kind::Word) => self.call().map(Action::Call),
            _ => self.error("a packet, a system call, a command or code"),
        }
    }

    fn call(&mut self) -> Result<Call, Problem> {
        let end = match self.accepts_kind(Kind::Ellipsis) {
            Some(_) => Some(self.seconds()?),
            None => None,
        };
        let Some(name) = self.accepts_kind(Kind::Word) else { return self.error("a system call") };
        self.needs("(")?;
        let arguments = self.expressions(")")?;
        self.needs("=")?;
        let result = self.expression()?;
        let errno = self.accepts_kind(Kind::Word).map(String::from);
        // What the error is in words, and a note.
        for _ in 0..2 {
            if self.accepts("(") {
                while self.accepts_kind(Kind::Word).is_some() {}
                self.needs(")")?;
            }
        }
        Ok(Call { end, name: name.into(), arguments, result, errno })
    }
}

fn is_outbound(action: &Action) -> bool {
    match action {
        Action::Tcp(packet) => packet.direction == crate::script::Direction::Outbound,
        Action::OtherPacket(name) => name.starts_with('>'),
        _ => false,
    }
}
