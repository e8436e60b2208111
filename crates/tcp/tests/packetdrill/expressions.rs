//! Arguments and results of system calls.

use crate::lexer::Kind;
use crate::parser::Parser;
use crate::script::{Expression, Problem};

impl Parser<'_> {
    /// Expressions separated by commas, up to the sign `close`, which is taken.
    pub fn expressions(&mut self, close: &str) -> Result<Vec<Expression>, Problem> {
        let mut found = Vec::new();
        if self.accepts(close) {
            return Ok(found);
        }
        loop {
            found.push(self.nested(Self::expression)?);
            if !self.accepts(",") {
                self.needs(close)?;
                return Ok(found);
            }
        }
    }

    /// One expression, with what is joined to it by `|`, by `=` and (strings, labels of headers) by nothing.
    pub fn expression(&mut self) -> Result<Expression, Problem> {
        let first = self.primary()?;
        if self.accepts("|") || self.accepts("=") {
            let second = self.nested(Self::expression)?;
            return Ok(Expression::Structure(vec![first, second]));
        }
        Ok(first)
    }

    fn primary(&mut self) -> Result<Expression, Problem> {
        let Some(token) = self.peek() else { return self.error("a value") };
        match token.kind {
            Kind::Ellipsis => {
                self.advance();
                Ok(Expression::Ellipsis)
            }
            Kind::Integer | Kind::Hexadecimal => Ok(Expression::Integer(self.number("a whole number")?)),
            Kind::Text => Ok(self.texts()),
            Kind::Word => self.word(),
            _ if self.accepts("[") => Ok(Expression::List(self.expressions("]")?)),
            _ if self.accepts("{") => self.structure("}"),
            _ => self.error("a value"),
        }
    }

    fn texts(&mut self) -> Expression {
        let mut all = String::new();
        while let Some(text) = self.accepts_kind(Kind::Text) {
            all.push_str(text);
        }
        self.accepts_kind(Kind::Ellipsis);
        Expression::Text(all)
    }

    /// A name, or a name of something in brackets: `inet_addr("...")`, `msg_iov(1)`.
    fn word(&mut self) -> Result<Expression, Problem> {
        let name = self.accepts_kind(Kind::Word).unwrap_or_default();
        if self.accepts("(") {
            return Ok(Expression::Structure(self.expressions(")")?));
        }
        Ok(Expression::Word(name.into()))
    }

    /// The inside of braces. Headers of GRE and MPLS have values behind names, and groups in brackets.
    fn structure(&mut self, close: &str) -> Result<Expression, Problem> {
        let mut parts = Vec::new();
        while !self.accepts(close) {
            if self.accepts(",") {
                continue;
            }
            let part = if self.accepts("(") {
                self.nested(|parser| parser.structure(")"))?
            } else if parts.last() == Some(&Expression::Word("flags".into())) && self.accepts("[") {
                self.nested(|parser| parser.structure("]"))?
            } else {
                self.nested(Self::expression)?
            };
            parts.push(part);
        }
        Ok(Expression::Structure(parts))
    }
}
