//! Logs of `ss -ti`: dumps of the kernel's TCP sockets, again and again, with a time before each.
//!
//! | in the log | what | unit |
//! | --- | --- | --- |
//! | a time | alone on its line before a dump, or before each line as `ts` writes it | see below |
//! | `ESTAB 0 0 LOCAL PEER` | the socket that the next line is about; with `-O` on the same line | |
//! | `cwnd`, `ssthresh`, `unacked`, `data_segs_out` or `segs_out` | as in `struct tcp_info` | packets |
//! | `rtt:A/B`, `minrtt` | smoothed, least | ms |
//! | `retrans:A/B` | B: retransmissions so far | packets |
//! | `bytes_acked` | delivered so far | bytes |
//! | `busy`, `rwnd_limited`, `sndbuf_limited` | times so far | ms, with its unit |
//!
//! Times: seconds since 1970 with or without a fraction (`date +%s.%N`), the same in milli-, micro- or nanoseconds without a point
//! (`date +%s%N`), ISO 8601 (`date -Ins`, also with a space for the T), and the time of day (`date +%T.%N`), which may pass
//! midnight. `#`, `=`, `-` and `[` `]` around a time, and a word such as `time:` before it, are passed over.

use super::flow::{self, Manner, Sample, Series, MAX_FLOWS};
use super::kernel_times::Counters;
use super::{refused, stopped};
use crate::error::TraceError;
use crate::observer::{Monitor, Summary};
use parshall_reading::{Input, Lines, Reader};
use parshall_records::Tables;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// What times may look like, for messages.
const TIMES: &str =
    "accepted: a line before each dump with the time, as `date +%s.%N`, `date +%s%N`, `date -Ins` or \
                     `date +%T.%N` writes it, e.g. while true; do date +%s.%N; ss -tin; sleep 0.1; done";

/// Longer words are no address: an IPv6 address has 39 letters, a name of a host 253.
const LONGEST_END: usize = 300;

const DAY_S: f64 = 86_400.0;

/// True if the first bytes of a text are such a log's.
pub(super) fn recognise(text: &str) -> bool {
    let has = |word: &str| text.contains(word);
    has("Recv-Q") && has("Send-Q") || has(" cwnd:") && has(" rtt:")
}

#[derive(Default)]
struct Log {
    flows: Vec<Series>,
    numbers: HashMap<String, usize>,
    /// Time of the dump, since the first.
    now: Option<f64>,
    first: Option<f64>,
    /// Midnights passed, by times of day.
    days: f64,
    clock: Option<f64>,
    /// The socket of the last line.
    socket: Option<String>,
    without_time: u64,
    unusable: u64,
    too_many: u64,
}

pub(super) fn observe(
    path: &Path,
    input: Input,
    manner: Manner,
    tables: &mut Tables,
    monitor: &Monitor,
) -> Result<Summary, TraceError> {
    let mut lines = Lines::new(input, Reader::Series);
    let mut log = Log::default();
    let mut count = 0u64;
    while let Some(line) = lines.next() {
        count += 1;
        if count.is_multiple_of(4096) {
            monitor.frames.store(count, Relaxed);
            if monitor.cancel.load(Relaxed) {
                return Err(TraceError::Interrupted);
            }
        }
        log.line(&String::from_utf8_lossy(line), manner, tables)?;
    }
    if log.flows.is_empty() {
        let problem = if log.without_time > 0 {
            format!("a log of ss with {} sockets, but no time before them; {TIMES}", log.without_time)
        } else {
            format!("a log of ss without a socket's cwnd; {TIMES}, with ss -ti")
        };
        return Err(refused(path, problem));
    }
    let mut summary = Summary { format: "ss", ..Summary::default() };
    for (number, words) in [
        (log.without_time, "sockets come before the first time; they were passed over"),
        (log.too_many, "sockets are of more flows than are followed; they were passed over"),
        (lines.too_long, "lines are longer than 1 MiB; they were passed over"),
    ] {
        if number > 0 {
            summary.remarks.push(format!("{number} {words}"));
        }
    }
    flow::finish(log.flows, log.unusable, tables, &mut summary)?;
    stopped(path, lines.stopped.as_ref(), &mut summary);
    Ok(summary)
}

impl Log {
    fn line(&mut self, line: &str, manner: Manner, tables: &mut Tables) -> Result<(), TraceError> {
        let rest = self.time(line);
        let words: Vec<&str> = rest.split_whitespace().take(512).collect();
        if words.is_empty() {
            return Ok(());
        }
        match socket(&words) {
            Some(Socket::Connected(name)) => self.socket = Some(name),
            Some(Socket::Listening) => self.socket = None,
            None => {}
        }
        let Some(mut sample) = sample(&words) else { return Ok(()) };
        let Some(name) = &self.socket else { return Ok(()) };
        let Some(now) = self.now else {
            self.without_time += 1;
            return Ok(());
        };
        sample.time_s = now;
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None if self.flows.len() >= MAX_FLOWS => {
                self.too_many += 1;
                return Ok(());
            }
            None => {
                let number = self.flows.len();
                self.numbers.insert(name.clone(), number);
                self.flows.push(Series::new(name.clone(), number as u32, manner));
                number
            }
        };
        self.unusable += u64::from(!self.flows[number].push(&sample, tables)?);
        Ok(())
    }

    /// Takes a time at the beginning of a line; what is left of it.
    fn time<'a>(&mut self, line: &'a str) -> &'a str {
        let around = |sign: char| sign.is_whitespace() || matches!(sign, '#' | '=' | '-' | '*' | '[' | ']');
        let trimmed = line.trim_start_matches(around);
        let unnamed = ["timestamp", "time", "date", "ts"]
            .iter()
            .find_map(|name| trimmed.strip_prefix(name))
            .map_or(trimmed, |rest| rest.trim_start_matches([':', '=', ' ']));
        let Some((time, rest)) = time(unnamed) else { return line };
        let seconds = match time {
            Time::Absolute(seconds) => seconds,
            Time::OfDay(seconds) => {
                // Half a day back is a midnight, less is a clock that was set.
                if self.clock.is_some_and(|last| seconds < last - DAY_S / 2.0) {
                    self.days += 1.0;
                }
                self.clock = Some(seconds);
                seconds + self.days * DAY_S
            }
        };
        let first = *self.first.get_or_insert(seconds);
        self.now = Some(seconds - first);
        rest.trim_start_matches(around)
    }
}

#[derive(Debug, PartialEq)]
pub(super) enum Time {
    Absolute(f64),
    OfDay(f64),
}

/// A time at the beginning of a text, and what follows it.
pub(super) fn time(text: &str) -> Option<(Time, &str)> {
    let mut end = text.find(|sign: char| sign.is_whitespace() || sign == ']').unwrap_or(text.len());
    let mut word = &text[..end];
    let is_date = |word: &str| word.len() == 10 && word.bytes().filter(|byte| *byte == b'-').count() == 2;
    if is_date(word) && text.len() > end + 1 {
        let rest = text[end..].trim_start();
        let start = text.len() - rest.len();
        end = start + rest.find(|sign: char| sign.is_whitespace() || sign == ']').unwrap_or(rest.len());
        word = &text[..end];
    }
    let rest = &text[end..];
    if word.len() > 64 {
        return None;
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits(word) {
        // By its size: seconds until the year 5138, else milli-, micro-, nanoseconds.
        let value: f64 = word.parse().ok()?;
        let unit = match word.len() {
            9..=11 => 1.0,
            12..=14 => 1e-3,
            15..=17 => 1e-6,
            18..=20 => 1e-9,
            _ => return None,
        };
        return Some((Time::Absolute(value * unit), rest));
    }
    if let Some((whole, fraction)) = word.split_once(['.', ',']) {
        if digits(whole) && (1..=11).contains(&whole.len()) && digits(fraction) {
            return Some((Time::Absolute(format!("{whole}.{fraction}").parse().ok()?), rest));
        }
    }
    if let Some(seconds) = of_day(word) {
        return Some((Time::OfDay(seconds), rest));
    }
    let (date, clock) = word.split_once(['T', ' '])?;
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let clock = clock.trim();
    let zone = clock.find(['Z', '+']).or_else(|| clock.rfind('-')).unwrap_or(clock.len());
    let shift = of_zone(&clock[zone..])?;
    let seconds = of_day(&clock[..zone])?;
    Some((Time::Absolute(days_since_1970(year, month, day) as f64 * DAY_S + seconds - shift), rest))
}

/// `HH:MM:SS` with or without a fraction, in seconds.
fn of_day(text: &str) -> Option<f64> {
    let mut parts = text.splitn(3, ':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let clock = |text: &str| (text.len() == 2).then(|| text.parse::<u8>().ok()).flatten();
    let (hours, minutes) = (clock(hours)?, clock(minutes)?);
    if !seconds.starts_with(|sign: char| sign.is_ascii_digit()) {
        return None;
    }
    let seconds: f64 = seconds.replace(',', ".").parse().ok()?;
    let within = hours < 24 && minutes < 60 && (0.0..61.0).contains(&seconds);
    within.then(|| f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0 + seconds)
}

/// `Z`, `+HH:MM`, `-HHMM` or nothing, in seconds to the east.
fn of_zone(text: &str) -> Option<f64> {
    let Some(sign) = text.chars().next().filter(|sign| *sign != 'Z') else { return Some(0.0) };
    let digits: String = text[1..].chars().filter(|sign| *sign != ':').collect();
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (f64, f64) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    Some((hours * 3600.0 + minutes * 60.0) * if sign == '-' { -1.0 } else { 1.0 })
}

/// Days of the civil calendar: years that begin in March have their odd day at the end.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// What a line names.
enum Socket {
    /// One with a flow: its two ends.
    Connected(String),
    /// One that waits for connections.
    Listening,
}

/// The socket that a line names, if it does.
fn socket(words: &[&str]) -> Option<Socket> {
    const STATES: [&str; 11] = [
        "ESTAB",
        "SYN-SENT",
        "SYN-RECV",
        "FIN-WAIT-1",
        "FIN-WAIT-2",
        "TIME-WAIT",
        "CLOSE-WAIT",
        "LAST-ACK",
        "CLOSING",
        "LISTEN",
        "UNCONN",
    ];
    let at = words.iter().take(2).position(|word| STATES.contains(word))?;
    let [_, received, sent, local, peer, ..] = words.get(at..)? else { return None };
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_end = |word: &str| word.len() <= LONGEST_END && word.contains(':');
    if !is_number(received) || !is_number(sent) || !is_end(local) || !is_end(peer) {
        return None;
    }
    Some(match words[at] {
        "LISTEN" => Socket::Listening,
        _ => Socket::Connected(format!("{local} > {peer}")),
    })
}

/// The values of a line, if a congestion window is among them.
fn sample(words: &[&str]) -> Option<Sample> {
    let mut sample = Sample::default();
    let mut all_segments = None;
    let mut counters = Counters::default();
    for word in words {
        let Some((name, value)) = word.split_once(':') else { continue };
        let number = || value.parse::<f64>().ok().filter(|value| value.is_finite());
        let milliseconds = |text: &str| text.parse::<f64>().ok().map(|ms| ms * 1e-3);
        match name {
            "cwnd" => sample.cwnd_packets = number(),
            "ssthresh" => sample.ssthresh_packets = number(),
            "unacked" => sample.in_flight_packets = number(),
            "rtt" => sample.srtt_s = milliseconds(value.split('/').next()?),
            "minrtt" => sample.min_rtt_s = milliseconds(value),
            "retrans" => sample.retransmissions = value.rsplit('/').next().and_then(|all| all.parse().ok()),
            "bytes_acked" => sample.delivered_bytes = number(),
            "data_segs_out" => sample.packets_sent = number(),
            "segs_out" => all_segments = number(),
            "busy" => counters.busy_s = passed(value).unwrap_or(0.0),
            "rwnd_limited" => counters.receiver_s = passed(value).unwrap_or(0.0),
            "sndbuf_limited" => counters.buffer_s = passed(value).unwrap_or(0.0),
            _ => {}
        }
    }
    sample.cwnd_packets?;
    // ss leaves times out that are 0: a socket that was never busy has none.
    sample.counters = Some(counters).filter(|_| words.iter().any(|word| word.starts_with("busy:")));
    sample.packets_sent = sample.packets_sent.or(all_segments);
    // ss leaves counters out that are 0.
    sample.retransmissions = sample.retransmissions.or(Some(0.0));
    Some(sample)
}

/// A time such as `1234ms(56.7%)`, in seconds.
fn passed(value: &str) -> Option<f64> {
    let (number, _) = value.split_once("ms")?;
    number.parse::<f64>().ok().filter(|ms| (0.0..1e15).contains(ms)).map(|ms| ms * 1e-3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_people_write() {
        let absolute = |text: &str| match time(text) {
            Some((Time::Absolute(seconds), _)) => seconds,
            other => panic!("{text}: {other:?}"),
        };
        // 2023-11-14T22:13:20Z is 1,700,000,000 s after 1970.
        for text in [
            "1700000000",
            "1700000000.000000",
            "1700000000000",
            "1700000000000000000",
            "2023-11-14T22:13:20Z",
            "2023-11-14T23:13:20,000000000+01:00",
            "2023-11-14 22:13:20.0",
            "2023-11-14T17:13:20-0500",
        ] {
            assert!((absolute(text) - 1.7e9).abs() < 1e-3, "{text}: {}", absolute(text));
        }
        assert_eq!(days_since_1970(1970, 1, 1), 0);
        assert_eq!(days_since_1970(2000, 3, 1), 11_017);
        assert_eq!(time("00:00:01.5 ESTAB"), Some((Time::OfDay(1.5), " ESTAB")));
        for text in ["", "ESTAB", "7", "12:77:00", "2023-13-01T00:00:00", "10.0.0.1:80", "cubic", "1.2.3"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
