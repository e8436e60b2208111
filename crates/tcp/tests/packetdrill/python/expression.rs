//! Expressions of Python: numbers, names, comparisons, arithmetic, calls of `abs`, `min` and `max`.

use super::{Lookup, Python};

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Number(f64),
    Text,
    Name(String),
    Sign(&'static str),
}

/// The longer signs first.
const SIGNS: &[&str] = &[
    "**", "//", "<<", ">>", "==", "!=", "<=", ">=", "+=", "-=", "*=", "<", ">", "+", "-", "*", "/", "%", "&",
    "|", "(", ")", ",", "=", "[", "]", ".",
];

/// The tokens of a statement; `None` if there is a character of another kind.
pub fn tokens(statement: &str) -> Option<Vec<Token>> {
    let mut found = Vec::new();
    let mut rest = statement.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if first == '\'' || first == '"' {
            let end = rest[1..].find(first)?;
            found.push(Token::Text);
            end + 2
        } else if first.is_ascii_digit() {
            let length = rest.find(|c: char| !is_word(c) && c != '.').unwrap_or(rest.len());
            found.push(Token::Number(number(&rest[..length])?));
            length
        } else if is_word(first) {
            let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            found.push(Token::Name(rest[..length].into()));
            length
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            found.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Some(found)
}

fn number(text: &str) -> Option<f64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|value| value as f64),
        None => text.parse().ok(),
    }
}

/// What an expression came to.
pub struct Evaluated<'a> {
    /// `None` if it hangs on something that the sender does not have.
    pub value: Option<f64>,
    /// Names that were asked for, and their values.
    pub used: Vec<(String, f64)>,
    /// The tokens behind it.
    pub rest: &'a [Token],
}

/// Evaluates the expression at the beginning of `tokens`; `None` if it is beyond what is evaluated here.
pub fn evaluate<'a>(tokens: &'a [Token], python: &mut Python, lookup: &Lookup<'_>) -> Option<Evaluated<'a>> {
    let mut parser = Parser { tokens, next: 0, depth: 0, python, lookup, used: Vec::new() };
    let value = parser.expression().ok()?;
    Some(Evaluated { value, rest: &tokens[parser.next..], used: parser.used })
}

/// This is not evaluated here.
struct Wrong;

/// A value; `None` if it hangs on something that the sender does not have.
type Value = Result<Option<f64>, Wrong>;

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    depth: u32,
    python: &'a mut Python,
    lookup: &'a Lookup<'a>,
    used: Vec<(String, f64)>,
}

/// Operators of two values, those that bind least first.
const LEVELS: &[&[&str]] = &[&["|"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "//", "%"]];

impl Parser<'_> {
    fn accepts(&mut self, sign: &str) -> bool {
        let here = matches!(self.tokens.get(self.next), Some(Token::Sign(found)) if *found == sign);
        self.next += usize::from(here);
        here
    }

    fn accepts_name(&mut self, name: &str) -> bool {
        let here = matches!(self.tokens.get(self.next), Some(Token::Name(found)) if found == name);
        self.next += usize::from(here);
        here
    }

    fn expression(&mut self) -> Value {
        self.depth += 1;
        if self.depth > 50 {
            return Err(Wrong);
        }
        let mut value = self.conjunction()?;
        while self.accepts_name("or") {
            let other = self.conjunction()?;
            value = match (value, other) {
                (Some(a), Some(b)) => Some(if a == 0.0 { b } else { a }),
                (Some(a), None) | (None, Some(a)) if a != 0.0 => Some(a),
                _ => None,
            };
        }
        self.depth -= 1;
        Ok(value)
    }

    fn conjunction(&mut self) -> Value {
        let mut value = self.negation()?;
        while self.accepts_name("and") {
            let other = self.negation()?;
            value = match (value, other) {
                (Some(a), Some(b)) => Some(if a == 0.0 { a } else { b }),
                (Some(0.0), None) | (None, Some(0.0)) => Some(0.0),
                _ => None,
            };
        }
        Ok(value)
    }

    fn negation(&mut self) -> Value {
        let mut negated = false;
        while self.accepts_name("not") {
            negated = !negated;
        }
        let value = self.comparison()?;
        Ok(if negated { value.map(|value| truth(value == 0.0)) } else { value })
    }

    /// `a < b <= c` is `a < b and b <= c`.
    fn comparison(&mut self) -> Value {
        let mut left = self.operation(0)?;
        let mut all = None;
        let signs = ["==", "!=", "<=", ">=", "<", ">"];
        while let Some(sign) = signs.into_iter().find(|sign| self.accepts(sign)) {
            let right = self.operation(0)?;
            let holds = left.zip(right).map(|(a, b)| match sign {
                "==" => a == b,
                "!=" => a != b,
                "<=" => a <= b,
                ">=" => a >= b,
                "<" => a < b,
                _ => a > b,
            });
            all = Some(match (all, holds) {
                (Some(Some(false)), _) | (_, Some(false)) => Some(false),
                (None | Some(Some(true)), Some(true)) => Some(true),
                _ => None,
            });
            left = right;
        }
        Ok(all.map_or(left, |holds| holds.map(truth)))
    }

    fn operation(&mut self, level: usize) -> Value {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut value = self.operation(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.accepts(sign)) {
            let other = self.operation(level + 1)?;
            value = value.zip(other).map(|(a, b)| match *sign {
                "|" => ((a as i64) | (b as i64)) as f64,
                "&" => ((a as i64) & (b as i64)) as f64,
                "<<" => a * power_of_two(b),
                ">>" => (a / power_of_two(b)).floor(),
                "+" => a + b,
                "-" => a - b,
                "*" => a * b,
                "/" => a / b,
                "//" => (a / b).floor(),
                _ => a - b * (a / b).floor(),
            });
        }
        Ok(value)
    }

    fn unary(&mut self) -> Value {
        let mut negative = false;
        while self.accepts("-") {
            negative = !negative;
        }
        let value = self.primary()?;
        Ok(if negative { value.map(|value| -value) } else { value })
    }

    fn primary(&mut self) -> Value {
        let Some(token) = self.tokens.get(self.next) else { return Err(Wrong) };
        self.next += 1;
        match token {
            Token::Number(value) => Ok(Some(*value)),
            Token::Name(name) if matches!(name.as_str(), "abs" | "min" | "max") && self.accepts("(") => {
                self.call(name)
            }
            Token::Name(name) => self.name(name),
            Token::Sign("(") => {
                let value = self.expression()?;
                if self.accepts(")") {
                    Ok(value)
                } else {
                    Err(Wrong)
                }
            }
            Token::Text | Token::Sign(_) => Err(Wrong),
        }
    }

    fn call(&mut self, name: &str) -> Value {
        let mut values = vec![self.expression()?];
        while self.accepts(",") {
            values.push(self.expression()?);
        }
        if !self.accepts(")") {
            return Err(Wrong);
        }
        let values: Option<Vec<f64>> = values.into_iter().collect();
        Ok(values.and_then(|values| match name {
            "abs" => values.first().map(|value| value.abs()),
            "min" => values.into_iter().reduce(f64::min),
            _ => values.into_iter().reduce(f64::max),
        }))
    }

    fn name(&mut self, name: &str) -> Value {
        if let Some(value) = constant(name) {
            return Ok(Some(value));
        }
        if let Some(value) = self.python.names.get(name) {
            return Ok(*value);
        }
        if let Some(value) = (self.lookup)(name) {
            self.used.push((name.into(), value));
            return Ok(Some(value));
        }
        // What packetdrill sets before code runs has one of these beginnings.
        if ["tcpi_", "bbr_", "dctcp_", "tcpv_", "SK_MEMINFO"].iter().any(|start| name.starts_with(start)) {
            self.python.missing.push(name.into());
            return Ok(None);
        }
        Err(Wrong)
    }
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn power_of_two(exponent: f64) -> f64 {
    2f64.powi(exponent.clamp(-1000.0, 1000.0) as i32)
}

/// What the kernel's headers call numbers.
fn constant(name: &str) -> Option<f64> {
    let lists: [&[&str]; 2] = [
        &["TCP_CA_Open", "TCP_CA_Disorder", "TCP_CA_CWR", "TCP_CA_Recovery", "TCP_CA_Loss"],
        &["False", "True"],
    ];
    let states: &[&str] = &[
        "TCP_ESTABLISHED",
        "TCP_SYN_SENT",
        "TCP_SYN_RECV",
        "TCP_FIN_WAIT1",
        "TCP_FIN_WAIT2",
        "TCP_TIME_WAIT",
        "TCP_CLOSE",
        "TCP_CLOSE_WAIT",
        "TCP_LAST_ACK",
        "TCP_LISTEN",
        "TCP_CLOSING",
    ];
    let place = |list: &[&str]| list.iter().position(|entry| *entry == name);
    let options = [
        "TCPI_OPT_TIMESTAMPS",
        "TCPI_OPT_SACK",
        "TCPI_OPT_WSCALE",
        "TCPI_OPT_ECN",
        "TCPI_OPT_ECN_SEEN",
        "TCPI_OPT_SYN_DATA",
        "TCPI_OPT_USEC_TS",
        "TCPI_OPT_TFO_CHILD",
    ];
    lists
        .into_iter()
        .find_map(place)
        .or_else(|| place(states).map(|at| at + 1))
        .or_else(|| place(&options).map(|at| 1 << at))
        .map(|value| value as f64)
}
