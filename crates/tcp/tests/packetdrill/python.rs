//! The code of scripts: assertions over `tcp_info`, assignments, `print`.
//!
//! packetdrill hands code to Python. What scripts say in it is little: statements on lines or behind `;`, expressions
//! of numbers, strings, names, comparisons and arithmetic, calls of `abs`, `min` and `max`. That is evaluated here;
//! anything else is said to be beyond it.

mod expression;

use expression::{evaluate, tokens, Token};
use std::collections::HashMap;

/// Values of `tcp_info` by their names; `None`: the sender has no such value.
pub type Lookup<'a> = dyn Fn(&str) -> Option<f64> + 'a;

/// What code came to, if not to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// An assertion does not hold: its text, and the values of the names in it.
    Failed(String),
    /// This is not evaluated here.
    Beyond(String),
}

/// Names that the code has given values to; all pieces of code of a script share them.
#[derive(Debug, Default)]
pub struct Python {
    /// `None` hangs on something that the sender does not have.
    names: HashMap<String, Option<f64>>,
    /// Fields of `tcp_info` that assertions asked for in vain.
    pub missing: Vec<String>,
}

impl Python {
    /// Runs a piece of code.
    ///
    /// # Errors
    /// The first assertion that fails, or a statement that is not evaluated here.
    pub fn run(&mut self, code: &str, lookup: &Lookup<'_>) -> Result<(), Stop> {
        for statement in statements(code) {
            self.statement(&statement, lookup)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &str, lookup: &Lookup<'_>) -> Result<(), Stop> {
        let beyond = || Stop::Beyond(format!("the code {statement:?}"));
        let tokens = tokens(statement).ok_or_else(beyond)?;
        match tokens.as_slice() {
            [Token::Name(word), ..] if matches!(word.as_str(), "print" | "import" | "pass") => Ok(()),
            [Token::Name(word), condition @ ..] if word == "assert" => {
                let found = evaluate(condition, self, lookup).ok_or_else(beyond)?;
                // Behind a comma there is a message.
                if !matches!(found.rest, [] | [Token::Sign(","), ..]) {
                    return Err(beyond());
                }
                if found.value == Some(0.0) {
                    return Err(Stop::Failed(format!("{statement}{}", described(&found.used))));
                }
                Ok(()) // it holds, or asks for what the sender does not have
            }
            [Token::Name(name), Token::Sign(sign @ ("=" | "+=" | "-=" | "*=")), value @ ..] => {
                let found = evaluate(value, self, lookup).filter(|found| found.rest.is_empty());
                self.assign(name, sign, found.ok_or_else(beyond)?.value).ok_or_else(beyond)
            }
            _ => Err(beyond()),
        }
    }

    /// `None`: there is nothing yet that could be changed.
    fn assign(&mut self, name: &str, sign: &str, value: Option<f64>) -> Option<()> {
        let changed = |change: fn(f64, f64) -> f64| {
            let before = self.names.get(name)?;
            Some(before.zip(value).map(|(before, value)| change(before, value)))
        };
        let value = match sign {
            "+=" => changed(|before, value| before + value)?,
            "-=" => changed(|before, value| before - value)?,
            "*=" => changed(|before, value| before * value)?,
            _ => value,
        };
        self.names.insert(name.into(), value);
        Some(())
    }
}

fn described(used: &[(String, f64)]) -> String {
    let values: Vec<_> = used.iter().map(|(name, value)| format!("{name} is {value}")).collect();
    if values.is_empty() {
        String::new()
    } else {
        format!(": {}", values.join(", "))
    }
}

/// Statements, without comments: separated by lines and `;`, but not within brackets and strings.
fn statements(code: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let (mut nesting, mut quote, mut comment) = (0i32, None, false);
    for c in code.replace("\\\n", " ").chars() {
        match c {
            '\n' if nesting <= 0 || comment => {
                comment = false;
                quote = None;
                if nesting <= 0 {
                    found.push(String::new());
                }
                continue;
            }
            _ if comment => continue,
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
            '\'' | '"' => quote = Some(c),
            '#' => {
                comment = true;
                continue;
            }
            '(' | '[' | '{' => nesting += 1,
            ')' | ']' | '}' => nesting -= 1,
            ';' if nesting <= 0 => {
                found.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(c);
        }
    }
    found.into_iter().map(|statement| statement.trim().to_string()).filter(|s| !s.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(python: &mut Python, code: &str) -> Result<(), Stop> {
        python.run(code, &|name| (name == "tcpi_snd_cwnd").then_some(10.0))
    }

    #[test]
    fn assertions_hold_or_say_what_is_instead() {
        let python = &mut Python::default();
        let holding = [
            "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
            "assert 9 < tcpi_snd_cwnd <= 10 and not tcpi_snd_cwnd == 3, 'cwnd=%d; %d' % (1, 2)",
            "cwnd = 2 * 4; cwnd += 2 # ten\nassert tcpi_snd_cwnd == cwnd; print(cwnd)",
            "assert (tcpi_snd_cwnd + 0x6) // 3 == 5 and 17 % 5 == 2 and abs(-2) == max(1, 2)",
            "assert (tcpi_snd_cwnd == 10 or\n  tcpi_snd_cwnd == 11)",
            "assert TCP_CA_Recovery == 3 and \\\n  tcpi_snd_cwnd",
            "import sys; print 'cwnd', tcpi_snd_cwnd",
            "",
        ];
        for code in holding {
            assert_eq!(run(python, code), Ok(()), "{code}");
        }
        let failed = run(python, "assert tcpi_snd_cwnd == 11, tcpi_snd_cwnd").unwrap_err();
        assert!(matches!(&failed, Stop::Failed(text) if text.contains("tcpi_snd_cwnd is 10")), "{failed:?}");
    }

    #[test]
    fn what_the_sender_does_not_have_decides_nothing_alone() {
        let python = &mut Python::default();
        assert_eq!(run(python, "assert tcpi_reordering == 3"), Ok(()));
        assert_eq!(python.missing, ["tcpi_reordering"]);
        assert_eq!(run(python, "a = tcpi_reordering + 1; a += 1; assert a == 3"), Ok(()));
        assert!(run(python, "assert tcpi_reordering == 3 and tcpi_snd_cwnd == 11").is_err());
        assert_eq!(run(python, "assert tcpi_reordering == 3 or tcpi_snd_cwnd == 10"), Ok(()));
    }

    #[test]
    fn other_code_is_said_to_be_beyond() {
        let many = "(".repeat(1000);
        for code in ["for i in range(3): pass", "assert unknown", "x += 1", "assert 1 +", "a.b = 1", &many] {
            let stop = run(&mut Python::default(), code).unwrap_err();
            assert!(matches!(stop, Stop::Beyond(_)), "{code}");
        }
    }
}
