//! Text into tokens, by the rules of packetdrill's scanner: the longest match wins.

use crate::script::Problem;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `--name`
    Option,
    /// A name, or a run of letters and digits.
    Word,
    /// Decimal, with a sign if it is negative.
    Integer,
    /// `0x...`
    Hexadecimal,
    /// With a decimal point.
    Float,
    /// `"..."`
    Text,
    /// A shell command, in back quotes.
    Command,
    /// `%{ ... }%`
    Code,
    /// An IPv4 or IPv6 address.
    Address,
    /// `...`
    Ellipsis,
    /// Any other character.
    Sign,
}

/// A token, without the quotes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// The line it begins in, from 1.
    pub line: usize,
}

/// All tokens of a script.
///
/// # Errors
/// A quotation, comment or piece of code that does not end.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, Problem> {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut found = Vec::new();
    loop {
        lexer.skip_space()?;
        if lexer.rest.is_empty() {
            return Ok(found);
        }
        let line = lexer.line;
        let (kind, text) = lexer.next()?;
        found.push(Token { kind, text, line });
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn problem(&self, message: &str) -> Problem {
        Problem { line: self.line, message: message.into() }
    }

    /// Takes `bytes` off the front; they end at the boundary of a character.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn skip_space(&mut self) -> Result<(), Problem> {
        loop {
            let space = self.rest.len() - self.rest.trim_start().len();
            self.take(space);
            if self.rest.starts_with("//") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                let end =
                    self.rest.find("*/").ok_or_else(|| self.problem("a comment /* without its end */"))?;
                self.take(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Result<(Kind, &'a str), Problem> {
        let rest = self.rest;
        if let Some(code) = rest.strip_prefix("%{") {
            let end = code.find("}%").ok_or_else(|| self.problem("code %{ without its end }%"))?;
            self.take(end + 4);
            return Ok((Kind::Code, &code[..end]));
        }
        for (quote, kind) in [('"', Kind::Text), ('`', Kind::Command)] {
            if let Some(quoted) = rest.strip_prefix(quote) {
                let end = end_of_quotation(quoted, quote)
                    .ok_or_else(|| self.problem(&format!("a quotation {quote} without its end")))?;
                self.take(end + 2);
                return Ok((kind, &quoted[..end]));
            }
        }
        if rest.starts_with("...") {
            return Ok((Kind::Ellipsis, self.take(3)));
        }
        if let Some(name) = rest.strip_prefix("--") {
            let length = word_length(name);
            if length > 0 {
                self.take(length + 2);
                return Ok((Kind::Option, &name[..length]));
            }
        }
        let candidates = [
            (Kind::Float, float_length(rest)),
            (Kind::Integer, integer_length(rest)),
            (Kind::Hexadecimal, hexadecimal_length(rest)),
            (Kind::Word, word_length(rest)),
            (Kind::Address, address_length(rest)),
        ];
        // The first of the longest ones.
        let (kind, length) =
            candidates.into_iter().rev().max_by_key(|&(_, length)| length).unwrap_or((Kind::Sign, 0));
        if length > 0 {
            return Ok((kind, self.take(length)));
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        Ok((Kind::Sign, self.take(first)))
    }
}

/// Where an unescaped `quote` is.
fn end_of_quotation(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == quote {
            return Some(at);
        } else {
            escaped = c == '\\';
        }
    }
    None
}

fn length_while(text: &str, accepts: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|&byte| accepts(byte)).count()
}

fn word_length(text: &str) -> usize {
    length_while(text, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn sign_length(text: &str) -> usize {
    usize::from(text.starts_with('-'))
}

fn integer_length(text: &str) -> usize {
    let sign = sign_length(text);
    let digits = length_while(&text[sign..], |byte| byte.is_ascii_digit());
    if digits == 0 {
        0
    } else {
        sign + digits
    }
}

fn float_length(text: &str) -> usize {
    let whole = sign_length(text) + length_while(&text[sign_length(text)..], |byte| byte.is_ascii_digit());
    let Some(part) = text[whole..].strip_prefix('.') else { return 0 };
    let digits = length_while(part, |byte| byte.is_ascii_digit());
    if digits == 0 {
        0
    } else {
        whole + 1 + digits
    }
}

fn hexadecimal_length(text: &str) -> usize {
    let Some(digits) = text.strip_prefix("0x") else { return 0 };
    match length_while(digits, |byte| byte.is_ascii_hexdigit()) {
        0 => 0,
        length => 2 + length,
    }
}

/// An IPv4 address, or an IPv6 address: `1:1001` is a sequence range and none, so the whole run must be an address.
fn address_length(text: &str) -> usize {
    let run = length_while(text, |byte| byte.is_ascii_hexdigit() || byte == b'.' || byte == b':');
    // A colon that ends the run belongs to what follows ("...> 192.0.2.1: ..."), a second one to the address
    // ("fe80::").
    let run = &text[..run];
    let shorter = run.strip_suffix(':').unwrap_or(run);
    [run, shorter]
        .into_iter()
        .find(|candidate| candidate.parse::<std::net::IpAddr>().is_ok())
        .map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        tokens(text).unwrap().into_iter().map(|token| (token.kind, token.text)).collect()
    }

    #[test]
    fn the_longest_match_wins() {
        assert_eq!(
            kinds("0x1f 12 1.5 .5 -3 1a 0...0.010"),
            [
                (Kind::Hexadecimal, "0x1f"),
                (Kind::Integer, "12"),
                (Kind::Float, "1.5"),
                (Kind::Float, ".5"),
                (Kind::Integer, "-3"),
                (Kind::Word, "1a"),
                (Kind::Integer, "0"),
                (Kind::Ellipsis, "..."),
                (Kind::Float, "0.010"),
            ]
        );
    }

    #[test]
    fn sequence_ranges_are_no_addresses_and_addresses_are() {
        let colon = (Kind::Sign, ":");
        assert_eq!(kinds("1:1001"), [(Kind::Integer, "1"), colon, (Kind::Integer, "1001")]);
        assert_eq!(kinds("192.0.2.1:"), [(Kind::Address, "192.0.2.1"), colon]);
        assert_eq!(kinds("fd3d::1: fe80::"), [(Kind::Address, "fd3d::1"), colon, (Kind::Address, "fe80::")]);
    }

    #[test]
    fn comments_are_space_and_lines_are_counted() {
        let found = tokens("a // b\n/* c\n */ `d\\`e\nf`\n%{ g }% --h").unwrap();
        let seen: Vec<_> = found.iter().map(|token| (token.kind, token.text, token.line)).collect();
        assert_eq!(
            seen,
            [
                (Kind::Word, "a", 1),
                (Kind::Command, "d\\`e\nf", 3),
                (Kind::Code, " g ", 5),
                (Kind::Option, "h", 5),
            ]
        );
    }

    #[test]
    fn what_does_not_end_is_said_with_its_line() {
        for (text, line, part) in
            [("\n/* a", 2, "comment"), ("\"a", 1, "quotation"), ("1\n\n%{ a }", 3, "code"), ("`", 1, "`")]
        {
            let problem = tokens(text).unwrap_err();
            assert_eq!(problem.line, line);
            assert!(problem.message.contains(part), "{}", problem.message);
        }
    }
}
