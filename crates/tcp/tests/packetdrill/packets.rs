//! Packets, as tcpdump writes them.

use crate::lexer::Kind;
use crate::parser::Parser;
use crate::script::{Action, Direction, Flags, Problem, TcpOption, TcpPacket};

impl Parser<'_> {
    /// A packet of any protocol, from its direction on.
    pub fn packet(&mut self) -> Result<Action, Problem> {
        let direction = if self.accepts("<") { Direction::Inbound } else { Direction::Outbound };
        if direction == Direction::Outbound {
            self.needs(">")?;
        }
        let mut inside = None;
        while let Some(header) = self.outer_header()? {
            inside.get_or_insert(header);
        }
        let ip = self.ip_info()?;
        let other = |name: &str| {
            let arrow = if direction == Direction::Inbound { '<' } else { '>' };
            Action::OtherPacket(format!("{arrow} {name}"))
        };
        if self.accepts("udp") {
            self.ports()?;
            self.needs("(")?;
            self.number::<u16>("a length")?;
            self.needs(")")?;
            return Ok(other("udp"));
        }
        if self.accepts("icmp") {
            self.icmp()?;
            return Ok(other("icmp"));
        }
        if self.accepts("encap") {
            self.needs("psp")?;
            self.needs("spi")?;
            self.number::<u32>("an index")?;
            inside.get_or_insert("psp".into());
        }
        self.tcp(direction, ip, inside).map(Action::Tcp)
    }

    /// A header around the packet: its name.
    fn outer_header(&mut self) -> Result<Option<String>, Problem> {
        let Some(token) = self.peek() else { return Ok(None) };
        match token.text {
            "ipv4" | "ipv6" => {
                self.advance();
                self.ip_info()?;
                self.address()?;
                self.needs(">")?;
                self.address()?;
            }
            "gre" | "GREv0" | "mpls" => {
                self.advance();
                while self.peek().is_some_and(|token| token.text != ":") {
                    self.advance();
                }
            }
            _ => return Ok(None),
        }
        self.needs(":")?;
        Ok(Some(token.text.into()))
    }

    fn address(&mut self) -> Result<(), Problem> {
        match self.accepts_kind(Kind::Address) {
            Some(_) => Ok(()),
            None => self.error("an address"),
        }
    }

    /// `[ect0]`, `(tos 0x10)`, `[ect01, flowlabel 0x1]`
    fn ip_info(&mut self) -> Result<Option<String>, Problem> {
        let close = if self.accepts("[") {
            "]"
        } else if self.accepts("(") {
            ")"
        } else {
            return Ok(None);
        };
        let mut words = Vec::new();
        while !self.accepts(close) {
            let Some(token) = self.advance() else { return self.error(close) };
            let known = ["noecn", "ect0", "ect1", "ect01", "ce", "tos", "flowlabel", "ttl", ","];
            let is_number = matches!(token.kind, Kind::Integer | Kind::Hexadecimal);
            if !is_number && !known.contains(&token.text) {
                let message = format!("{:?} is nothing that an IP header says", token.text);
                return Err(Problem { line: token.line, message });
            }
            words.push(token.text);
        }
        Ok(Some(words.join(" ").replace(" ,", ",")))
    }

    fn ports(&mut self) -> Result<Option<(u16, u16)>, Problem> {
        if self.peek().is_none_or(|token| token.kind != Kind::Integer) {
            return Ok(None);
        }
        let from = self.number("a port")?;
        self.needs(">")?;
        Ok(Some((from, self.number("a port")?)))
    }

    fn icmp(&mut self) -> Result<(), Problem> {
        if self.accepts_kind(Kind::Word).is_none() {
            return self.error("a type of ICMP");
        }
        let is_key = |text: &str| text == "mtu" || text == "id";
        if self.peek().is_some_and(|token| token.kind == Kind::Word && !is_key(token.text)) {
            self.advance(); // the code
        }
        for key in ["mtu", "id"] {
            if self.accepts(key) {
                self.number::<u32>("a number")?;
            }
        }
        if self.accepts("[") {
            while !self.accepts("]") {
                if self.advance().is_none() {
                    return self.error("\"]\"");
                }
            }
        }
        Ok(())
    }

    fn tcp(
        &mut self,
        direction: Direction,
        ip: Option<String>,
        inside: Option<String>,
    ) -> Result<TcpPacket, Problem> {
        let ports = self.ports()?;
        let flags = self.flags()?;
        let (seq, length) = self.range()?;
        let ack = if self.accepts("ack") { Some(self.number("a sequence number")?) } else { None };
        let window = if self.accepts("win") { Some(self.number("a window")?) } else { None };
        let urgent = if self.accepts("urg") { Some(self.number("a pointer")?) } else { None };
        let options = self.tcp_options()?;
        if options.is_none() && direction == Direction::Inbound {
            return self.error("options, as <...> is for packets sent,");
        }
        Ok(TcpPacket { direction, ip, ports, inside, flags, seq, length, ack, window, urgent, options })
    }

    fn flags(&mut self) -> Result<Flags, Problem> {
        let line = self.line();
        if self.accepts("-") {
            return Ok(Flags::default());
        }
        let mut letters = self.accepts_kind(Kind::Word).unwrap_or_default().to_string();
        if let Some(counter) = self.accepts_kind(Kind::Float) {
            letters.push_str(counter);
        } else if self.accepts(".") {
            letters.push('.');
        }
        if letters.is_empty() {
            return self.error("flags");
        }
        let mut flags = Flags::default();
        for letter in letters.chars() {
            match letter {
                'F' => flags.fin = true,
                'S' => flags.syn = true,
                'R' => flags.reset = true,
                'P' => flags.push = true,
                'E' => flags.echo = true,
                'W' => flags.reduced = true,
                'A' => flags.accurate = true,
                'U' => flags.urgent = true,
                '.' => flags.ack = true,
                '0'..='7' if flags.counter.is_none() => flags.counter = letter.to_digit(8).map(|d| d as u8),
                _ => return Err(Problem { line, message: format!("{letters:?} are no flags of TCP") }),
            }
        }
        if flags.counter.is_some() && (flags.echo || flags.reduced || flags.accurate) {
            return Err(Problem { line, message: format!("{letters:?} are no flags of TCP") });
        }
        Ok(flags)
    }

    /// `1:1001(1000)`: sequence number and length.
    fn range(&mut self) -> Result<(u32, u16), Problem> {
        let line = self.line();
        let start: u32 = self.number("a sequence number")?;
        self.needs(":")?;
        let end: u32 = self.number("a sequence number")?;
        self.needs("(")?;
        let length: u16 = self.number("a length below 65536")?;
        self.needs(")")?;
        if end != start.wrapping_add(u32::from(length)) {
            let message = format!("{start}:{end} are not {length} bytes");
            return Err(Problem { line, message });
        }
        Ok((start, length))
    }

    fn tcp_options(&mut self) -> Result<Option<Vec<TcpOption>>, Problem> {
        let mut options = Vec::new();
        if !self.accepts("<") {
            return Ok(Some(options));
        }
        if self.accepts_kind(Kind::Ellipsis).is_some() {
            self.needs(">")?;
            return Ok(None);
        }
        loop {
            options.push(self.tcp_option()?);
            if !self.accepts(",") {
                self.needs(">")?;
                return Ok(Some(options));
            }
        }
    }

    fn tcp_option(&mut self) -> Result<TcpOption, Problem> {
        let line = self.line();
        let Some(name) = self.accepts_kind(Kind::Word) else { return self.error("an option of TCP") };
        Ok(match name {
            "nop" => TcpOption::NoOperation,
            "eol" => TcpOption::End,
            "mss" if self.accepts_kind(Kind::Word).is_some() => TcpOption::Mss(None),
            "mss" => TcpOption::Mss(Some(self.number("a size")?)),
            "wscale" => TcpOption::WindowScale(self.number("a shift")?),
            "sackOK" => TcpOption::SackPermitted,
            "sack" => TcpOption::Sack(self.sack_blocks()?),
            "TS" => {
                self.needs("val")?;
                let value = self.number("a timestamp")?;
                self.needs("ecr")?;
                TcpOption::Timestamps { value, echo: self.number("a timestamp")? }
            }
            "md5" | "FO" | "FOEXP" | "ECN" => {
                // A string of digits and letters, or counters and their names.
                while self
                    .peek()
                    .is_some_and(|token| matches!(token.kind, Kind::Word | Kind::Integer | Kind::Hexadecimal))
                {
                    self.advance();
                }
                TcpOption::Other(name.into())
            }
            _ => return Err(Problem { line, message: format!("{name:?} is no option of TCP") }),
        })
    }

    fn sack_blocks(&mut self) -> Result<Vec<(u32, u32)>, Problem> {
        let mut blocks = Vec::new();
        while blocks.is_empty() || self.peek().is_some_and(|token| token.kind == Kind::Integer) {
            let left = self.number("a sequence number")?;
            self.needs(":")?;
            blocks.push((left, self.number("a sequence number")?));
        }
        Ok(blocks)
    }
}
