//! The text form of quantities: a decimal number, a space, a unit.
//!
//! A bare number is refused: the error shows the accepted form. Decimal digits are read
//! exactly (no detour through floating point), so `"0.1 s"` is 10^11 ps and not one off.

use crate::{Bytes, Duration, Packets, Rate};
use thiserror::Error;

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("found {found:?}, {problem}; write {what} as {accepted}{hint}")]
pub struct ParseQuantityError {
    /// The text as it was given.
    pub found: String,
    /// The problem with it.
    pub problem: &'static str,
    /// The quantity that was wanted, e.g. "a duration".
    pub what: &'static str,
    /// The accepted form, with an example.
    pub accepted: &'static str,
    /// The probable meaning, as a question; empty if nothing looks like it.
    pub hint: String,
}

/// A kind of quantities, and its units.
pub(crate) struct Family {
    what: &'static str,
    accepted: &'static str,
    /// Unit names and how many base units (ps, bit/s, bytes, packets) each is.
    units: &'static [(&'static str, u64)],
    /// Other spellings of these units, without regard to case.
    usual: &'static [(&'static str, &'static str)],
}

pub(crate) const DURATION: Family = Family {
    what: "a duration",
    accepted: "a number and one of ns, us, ms, s, min, h, e.g. \"10 ms\"",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("µs", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
        ("min", 60_000_000_000_000),
        ("h", 3_600_000_000_000_000),
    ],
    usual: &[
        ("nsec", "ns"),
        ("usec", "us"),
        ("msec", "ms"),
        ("msecs", "ms"),
        ("millisecond", "ms"),
        ("milliseconds", "ms"),
        ("sec", "s"),
        ("secs", "s"),
        ("second", "s"),
        ("seconds", "s"),
        ("m", "min"),
        ("mins", "min"),
        ("minute", "min"),
        ("minutes", "min"),
        ("hour", "h"),
        ("hours", "h"),
    ],
};

pub(crate) const RATE: Family = Family {
    what: "a rate",
    accepted: "a number and one of bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, e.g. \"48 Mbit/s\"",
    units: &[
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
    ],
    usual: &[
        ("bps", "bit/s"),
        ("bits/s", "bit/s"),
        ("kbps", "kbit/s"),
        ("kbit", "kbit/s"),
        ("kb/s", "kbit/s"),
        ("mbps", "Mbit/s"),
        ("mbit", "Mbit/s"),
        ("mbits/s", "Mbit/s"),
        ("mb/s", "Mbit/s"),
        ("gbps", "Gbit/s"),
        ("gbit", "Gbit/s"),
        ("gbits/s", "Gbit/s"),
        ("gb/s", "Gbit/s"),
        ("tbps", "Tbit/s"),
        ("tbit", "Tbit/s"),
    ],
};

pub(crate) const BYTES: Family = Family {
    what: "a size",
    accepted: "a number and one of B, kB, MB, GB, TB, KiB, MiB, GiB, e.g. \"30 GB\"",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    usual: &[
        ("byte", "B"),
        ("bytes", "B"),
        ("kb", "kB"),
        ("kbyte", "kB"),
        ("mb", "MB"),
        ("mbyte", "MB"),
        ("gb", "GB"),
        ("gbyte", "GB"),
        ("tb", "TB"),
        ("kib", "KiB"),
        ("mib", "MiB"),
        ("gib", "GiB"),
    ],
};

pub(crate) const PACKETS: Family = Family {
    what: "a number of packets",
    accepted: "a whole number and \"packets\", e.g. \"20 packets\"",
    units: &[("packets", 1), ("packet", 1)],
    usual: &[("pkt", "packets"), ("pkts", "packets"), ("p", "packets")],
};

/// Reads a duration such as `"10 ms"`.
///
/// # Errors
/// The text is not a non-negative number with a unit of time, or is out of range.
pub fn parse_duration(text: &str) -> Result<Duration, ParseQuantityError> {
    parse(text, &DURATION).map(Duration::from_ps)
}

/// Reads a rate such as `"48 Mbit/s"`.
///
/// # Errors
/// The text is not a positive number with a unit of rate, or is out of range.
pub fn parse_rate(text: &str) -> Result<Rate, ParseQuantityError> {
    Rate::from_bps(parse(text, &RATE)?).ok_or_else(|| error(text, &RATE, "which is zero"))
}

/// Reads a size such as `"30 GB"`.
///
/// # Errors
/// The text is not a non-negative whole number of bytes with a unit, or is out of range.
pub fn parse_bytes(text: &str) -> Result<Bytes, ParseQuantityError> {
    parse(text, &BYTES).map(Bytes)
}

/// Reads a count such as `"20 packets"`.
///
/// # Errors
/// The text is not a non-negative whole number of packets, or is out of range.
pub fn parse_packets(text: &str) -> Result<Packets, ParseQuantityError> {
    parse(text, &PACKETS).map(Packets)
}

fn error(text: &str, family: &Family, problem: &'static str) -> ParseQuantityError {
    ParseQuantityError {
        found: text.to_owned(),
        problem,
        what: family.what,
        accepted: family.accepted,
        hint: String::new(),
    }
}

/// A number and a unit that is not one of ours, with the usual spelling that it resembles.
fn unknown_unit(text: &str, number: &str, unit: &str, family: &Family) -> ParseQuantityError {
    let exponent = unit
        .strip_prefix(['e', 'E'])
        .is_some_and(|rest| rest.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit()));
    if exponent {
        return error(text, family, "whose exponent is not read (write the digits)");
    }
    let mut refused = error(text, family, "whose unit is not known here");
    if let Some((_, meant)) = family.usual.iter().find(|(other, _)| unit.eq_ignore_ascii_case(other)) {
        // Bytes a second would be eight times as much: who writes MB/s may mean either.
        let bits_per_byte = if unit.ends_with("B/s") { 8.0 } else { 1.0 };
        refused.hint = match number.parse::<f64>() {
            Ok(value) if bits_per_byte > 1.0 => {
                format!(". Did you mean \"{} {meant}\"?", value * bits_per_byte)
            }
            _ => format!(". Did you mean \"{number} {meant}\"?"),
        };
    }
    refused
}

fn parse(text: &str, family: &Family) -> Result<u64, ParseQuantityError> {
    let fail = |problem| Err(error(text, family, problem));
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_')))
        .unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..split], trimmed[split..].trim_start());
    if number.is_empty() {
        return fail("which does not start with a number");
    }
    if number.starts_with('-') {
        return fail("which is negative");
    }
    if unit.is_empty() {
        return fail("which has no unit");
    }
    let Some(scale) = family.scale(unit.as_bytes()) else {
        return Err(unknown_unit(text, number, unit, family));
    };
    match scaled(number.trim_start_matches('+').as_bytes(), scale) {
        Ok(value) => Ok(value),
        Err(problem) => fail(problem),
    }
}

/// A number, a space and a unit as a declaration writes them, read while the program is compiled.
pub(crate) const fn smallest_units(text: &str, family: &Family) -> Result<u64, &'static str> {
    let mut digits = 0;
    while digits < text.len() && text.as_bytes()[digits] != b' ' {
        digits += 1;
    }
    let (number, unit) = text.as_bytes().split_at(digits);
    match family.scale(unit.trim_ascii_start()) {
        Some(scale) => scaled(number, scale),
        None => Err("a quantity that is not a number, a space and a unit of its kind"),
    }
}

impl Family {
    /// How many base units a unit is.
    const fn scale(&self, unit: &[u8]) -> Option<u64> {
        let mut units = self.units;
        while let [(name, scale), rest @ ..] = units {
            if is_same(name.as_bytes(), unit) {
                return Some(*scale);
            }
            units = rest;
        }
        None
    }
}

/// Returns the result of `==`, which cannot be called while the program is compiled.
pub(crate) const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest @ ..], [b, others @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (rest, others);
    }
    one.is_empty() && other.is_empty()
}

/// `number` (decimal text) times `scale`, exactly.
const fn scaled(number: &[u8], scale: u64) -> Result<u64, &'static str> {
    let (mut value, mut denominator) = (0_u128, 1_u128);
    // Digits before and behind the point, and zeros of which it is not known yet whether a digit follows.
    let (mut whole, mut decimals, mut zeros, mut point) = (0, 0, 0, false);
    let mut rest = number;
    while let [character, others @ ..] = rest {
        rest = others;
        match *character {
            b'_' => {}
            b'.' if !point => point = true,
            b'0' if point => zeros += 1,
            b'0'..=b'9' => {
                let places = zeros + 1;
                zeros = 0;
                if point {
                    decimals += places;
                } else {
                    whole += places;
                }
                if whole > 20 || decimals > 15 {
                    return Err("which has too many digits");
                }
                value = value * 10_u128.pow(places) + (*character - b'0') as u128;
                if point {
                    denominator *= 10_u128.pow(places);
                }
            }
            _ => return Err("which is not a decimal number"),
        }
    }
    if whole + decimals + zeros == 0 {
        return Err("which has no digits");
    }
    let Some(product) = value.checked_mul(scale as u128) else { return Err("which is out of range") };
    if product % denominator != 0 {
        return Err("which is finer than the smallest step");
    }
    let units = product / denominator;
    if units > u64::MAX as u128 {
        return Err("which is out of range");
    }
    Ok(units as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_the_guide_shows() {
        assert_eq!(parse_duration("10 ms").unwrap(), Duration::from_millis(10));
        assert_eq!(parse_duration("0.1 s").unwrap(), Duration::from_millis(100));
        assert_eq!(parse_rate("48 Mbit/s").unwrap().as_bps(), 48_000_000);
        assert_eq!(parse_rate("0.48Mbit/s").unwrap().as_bps(), 480_000);
        assert_eq!(parse_bytes("30 GB").unwrap(), Bytes(30_000_000_000));
        assert_eq!(parse_packets("20 packets").unwrap(), Packets(20));
    }

    #[test]
    fn refuses_with_the_accepted_form() {
        for (text, problem) in [
            ("10", "no unit"),
            ("ms", "does not start with a number"),
            ("-1 ms", "negative"),
            ("10 Mbit/s", "not known here"),
            ("1.2.3 ms", "not a decimal number"),
            (". ms", "no digits"),
            ("1e3 ms", "exponent is not read"),
            ("99999999999 h", "out of range"),
            ("0.5 ps", "finer than"),
        ] {
            let message = parse_duration(text).unwrap_err().to_string();
            assert!(message.contains(problem), "{text}: {message}");
            assert!(message.contains("\"10 ms\""), "{text}: {message}");
        }
        assert!(parse_rate("0 bit/s").unwrap_err().to_string().contains("zero"));
        assert!(parse_packets("1.5 packets").is_err());
    }

    #[test]
    fn asks_for_what_was_meant() {
        for (message, meant) in [
            (parse_rate("10 Mbps").unwrap_err().to_string(), "10 Mbit/s"),
            (parse_rate("10Mbit").unwrap_err().to_string(), "10 Mbit/s"),
            (parse_rate("2.5 gbps").unwrap_err().to_string(), "2.5 Gbit/s"),
            (parse_rate("10 MB/s").unwrap_err().to_string(), "80 Mbit/s"),
            (parse_duration("20 msec").unwrap_err().to_string(), "20 ms"),
            (parse_duration("5 minutes").unwrap_err().to_string(), "5 min"),
            (parse_bytes("10 bytes").unwrap_err().to_string(), "10 B"),
        ] {
            assert!(message.ends_with(&format!("Did you mean \"{meant}\"?")), "{message}");
        }
        assert!(parse_duration("10 Mbit/s").unwrap_err().hint.is_empty());
    }

    #[test]
    fn digits_are_counted_where_they_count() {
        for (text, ps) in
            [("1.500 ms", 1_500_000_000), ("0.000_000_000_001_000 s", 1), (".5 s", 500_000_000_000)]
        {
            assert_eq!(parse_duration(text).unwrap().as_ps(), ps, "{text}");
            assert_eq!(smallest_units(text, &DURATION), Ok(ps), "{text}");
        }
        for (text, problem) in [
            ("0.0000000000000001 s", "too many digits"),
            ("123456789012345678901 ps", "too many digits"),
            ("20000000000000000000 ps", "out of range"),
            ("_ ps", "no digits"),
        ] {
            let message = parse_duration(text).unwrap_err().to_string();
            assert!(message.contains(problem), "{text}: {message}");
        }
        for text in ["10", "10ms", "ms", "10 Mbit/s", ""] {
            assert!(smallest_units(text, &DURATION).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = parse_duration(&text);
            let _ = parse_rate(&text);
            let _ = parse_bytes(&text);
            let _ = parse_packets(&text);
        }

        #[test]
        fn printing_and_reading_are_inverse(ps in 0u64..u64::MAX / 2, bps in 1u64..u64::MAX / 2, bytes: u64) {
            let duration = Duration::from_ps(ps);
            prop_assert_eq!(parse_duration(&duration.to_string()).unwrap(), duration);
            let rate = Rate::from_bps(bps).unwrap();
            prop_assert_eq!(parse_rate(&rate.to_string()).unwrap(), rate);
            prop_assert_eq!(parse_bytes(&Bytes(bytes).to_string()).unwrap(), Bytes(bytes));
        }
    }
}
