//! The round-trip time of a flow, seen from wherever the capture was made.
//!
//! A capture point cuts the round trip in two. *Beyond* it, data goes on to the receiver and its acknowledgement comes back; *before*
//! it, the acknowledgement goes on to the sender and new data comes back. The round-trip time is the sum:
//!
//! | part | how it is measured |
//! | --- | --- |
//! | beyond | from a segment to the acknowledgement that it caused; not of what was sent twice (Karn) |
//! | before | from an acknowledgement to the first data that echoes its timestamp (RFC 7323), if that data was waiting |
//!
//! The handshake shows both. At the sender *before* is next to nothing and the first part is the round-trip time as the sender
//! itself measures it; at the receiver it is the other way round. In between, a sample is the longer part's plus what the other one
//! takes at that time, queues in it included: the smoothed value of its recent samples (gain 1/8, each the middle one
//! of three, so that a single pause does not count). Where the other part has no samples, the least that is known of it is
//! added, and the round-trip times are lower bounds: a queue in that part does not show. The idea of both halves:
//! Jiang & Dovrolis, CCR 32(3), 2002.
//!
//! # Which data was waiting
//!
//! Data that the application wrote after a pause echoes an old timestamp too: the time since then is the pause and no path's. A
//! sender has to set PSH on the last segment of what it has to send (RFC 9293 §3.9.1.2, MUST-61). So if the segment before has
//! no PSH, more data was waiting when it was sent, and what held it back was the window: the data that follows answers the
//! acknowledgement that opened it. After a PSH nothing is known, and the first data of a connection is the
//! application's decision: neither gives a sample. An application that answers requests gives none at all; then the
//! handshake is what is known of its round-trip time. What is not known to have waited is an upper bound of *before* all the same,
//! good enough to recognise the sender's own capture where the handshake was not captured.

use crate::histogram::Histogram;
use std::collections::VecDeque;

/// Nanoseconds since the trace began.
pub(crate) type Nanos = u64;

/// Segments and acknowledgements whose answers are awaited.
const AWAITED: usize = 256;

/// A side with less than this share of the round trip is an end of it.
const END_SHARE: f64 = 0.1;

/// Recent minima are of one to two of these, and what is older is no recent sample: 5 s.
const RECENT: Nanos = 5_000_000_000;

/// Where a capture was made, relative to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vantage {
    Sender,
    Receiver,
    Middle,
    Unknown,
}

impl Vantage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Middle => "middle",
            Self::Unknown => "",
        }
    }
}

/// Packets of a train: enough that one delayed acknowledgement does not decide.
const TRAIN: u64 = 4;

/// Gain of the smoothed value, as RFC 6298's.
const GAIN: f64 = 1.0 / 8.0;

/// Samples of a part: the least, ever and recently, and what they are now.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    ever: Option<Nanos>,
    /// When the last one was, the last two, and the smoothed value.
    at: Nanos,
    last: [Nanos; 2],
    smoothed: f64,
    bucket_start: Nanos,
    bucket: Option<Nanos>,
    previous: Option<Nanos>,
}

impl Part {
    fn sample(&mut self, now: Nanos, value: Nanos) {
        if now.saturating_sub(self.bucket_start) > RECENT {
            self.previous = self.bucket.take();
            self.bucket_start = now;
        }
        self.bucket = least_of(self.bucket, Some(value));
        let [one, other] = self.last;
        if self.ever.is_none() || now.saturating_sub(self.at) > RECENT {
            (self.last, self.smoothed) = ([value, value], value as f64);
        } else {
            let middle = one.min(other).max(one.max(other).min(value));
            self.smoothed += GAIN * (middle as f64 - self.smoothed);
            self.last = [other, value];
        }
        self.at = now;
        self.ever = least_of(self.ever, Some(value));
    }

    /// The round-trip time at this time; `None` without a recent sample.
    fn now(&self, now: Nanos) -> Option<Nanos> {
        (self.ever.is_some() && now.saturating_sub(self.at) <= RECENT).then_some(self.smoothed as Nanos)
    }

    fn recent(&self) -> Option<Nanos> {
        least_of(self.bucket, self.previous)
    }
}

/// Makes room: every second one is enough, whatever the window, and whatever waits in a queue.
#[inline]
fn thin<T>(awaited: &mut VecDeque<T>) {
    if awaited.len() >= AWAITED {
        let mut stays = false;
        awaited.retain(|_| {
            stays = !stays;
            stays
        });
    }
}

/// The lesser of what is known.
fn least_of(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    a.into_iter().chain(b).min()
}

/// The waits of a packet on each side of the capture point, above the least time there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    pub(crate) before: Nanos,
    pub(crate) beyond: Nanos,
}

/// Data that echo the same timestamp: the sender sent them at once, so that each waited longer than the first by as much as it passes
/// later.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    echo: u32,
    /// When the first of them passed, and how long it had waited.
    passed: Nanos,
    waited: Nanos,
}

/// Acknowledgements in order, and the least time that a packet of [`TRAIN`] took in them: the bottleneck takes no longer.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    since: Nanos,
    from: u64,
    least: Option<Nanos>,
}

/// Properties of data that echo a timestamp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Echoing {
    /// They are new, and follow what is last without a gap.
    pub(crate) next: bool,
    /// They were there before the acknowledgement that they echo.
    pub(crate) waited: bool,
    /// The sender was free to answer at once.
    pub(crate) in_order: bool,
    /// They may have come after any pause of the application.
    pub(crate) after_pause: bool,
}

/// Measures the round trips of one direction of a connection.
#[derive(Clone, Debug)]
pub(crate) struct PathTimes {
    /// Ends of segments sent once, and when they passed.
    segments: VecDeque<(u64, Nanos)>,
    /// Timestamps of acknowledgements, and when each passed first.
    echoes: VecDeque<(u32, Nanos)>,
    beyond: Part,
    before: Part,
    /// The least time to an echo, of data that was waiting or not: *before* is not longer.
    before_at_most: Option<Nanos>,
    /// *Before* as the handshake showed it.
    handshake_before: Option<Nanos>,
    handshake_beyond: Option<Nanos>,
    samples: u64,
    /// Those to which the least of the other part was added, for want of a sample of it.
    lower_bounds: u64,
    sum: f64,
    least: Option<Nanos>,
    smoothed: Option<f64>,
    /// The least of both parts since the slot began: *before* of data that was waiting or not.
    slot_beyond: Option<Nanos>,
    slot_before: Option<Nanos>,
    /// How long the last packet that was measured waited in each part, above the least time.
    last: Waits,
    fresh: bool,
    burst: Burst,
    /// How much longer acknowledgements come after the first segment that they cover than after the last: smoothed.
    delayed: f64,
    /// True if the receiver ever acknowledged two segments at once: then it may delay an acknowledgement of a single one.
    delays: bool,
    train: Train,
    histogram: Histogram,
}

impl PathTimes {
    pub(crate) fn new() -> Self {
        Self {
            segments: VecDeque::new(),
            echoes: VecDeque::new(),
            beyond: Part::default(),
            before: Part::default(),
            before_at_most: None,
            handshake_before: None,
            handshake_beyond: None,
            samples: 0,
            lower_bounds: 0,
            sum: 0.0,
            least: None,
            smoothed: None,
            slot_beyond: None,
            slot_before: None,
            last: Waits::default(),
            fresh: false,
            burst: Burst::default(),
            delayed: 0.0,
            delays: false,
            train: Train::default(),
            histogram: Histogram::default(),
        }
    }

    /// Takes the times of the handshake on either side of the capture point.
    pub(crate) fn handshake(&mut self, before: Option<Nanos>, beyond: Option<Nanos>) {
        self.handshake_before = before.or(self.handshake_before);
        self.handshake_beyond = beyond.or(self.handshake_beyond);
    }

    /// New data passes.
    #[inline]
    pub(crate) fn sent(&mut self, now: Nanos, end: u64) {
        thin(&mut self.segments);
        self.segments.push_back((end, now));
    }

    /// Data passes that echoes a timestamp.
    #[inline]
    pub(crate) fn echoed(&mut self, now: Nanos, echo: u32, data: Echoing) {
        if echo == self.burst.echo && !data.after_pause {
            if data.in_order {
                self.last.before = self.burst.waited.saturating_add(now.saturating_sub(self.burst.passed));
            }
            return;
        }
        self.burst = Burst { echo, passed: now, waited: if data.after_pause { 0 } else { self.last.before } };
        while let Some(&(value, passed)) = self.echoes.front() {
            let distance = echo.wrapping_sub(value).cast_signed();
            if distance < 0 {
                return;
            }
            self.echoes.pop_front();
            if distance == 0 {
                let sample = now.saturating_sub(passed);
                if !data.after_pause {
                    self.slot_before = least_of(self.slot_before, Some(sample));
                    let least = least_of(self.least_before(), self.before_at_most).unwrap_or(sample);
                    self.burst.waited = sample.saturating_sub(least);
                    if data.in_order {
                        self.last.before = self.burst.waited;
                    }
                }
                self.before_at_most = least_of(self.before_at_most, Some(sample));
                if data.in_order && (data.waited || data.next && self.is_as_late(now, sample)) {
                    self.before.sample(now, sample);
                    if !self.beyond_is_longer() {
                        let beyond = self.beyond.now(now).unwrap_or(0).saturating_add(self.delayed as Nanos);
                        let least = self.beyond.recent().unwrap_or(0);
                        self.total(sample.saturating_add(beyond), sample.saturating_add(least));
                    }
                }
                return;
            }
        }
    }

    /// True if data that may have come after a pause come no later than those that waited lately: then they waited too. Linux sets PSH on
    /// the last segment of what it segments at once, though more is waiting.
    fn is_as_late(&self, now: Nanos, sample: Nanos) -> bool {
        self.before.now(now).is_some_and(|usual| sample <= usual / 4 * 5)
    }

    /// An acknowledgement with this timestamp passes.
    #[inline]
    pub(crate) fn acknowledged_with(&mut self, now: Nanos, value: u32) {
        if self.echoes.back().is_some_and(|&(last, _)| value.wrapping_sub(last).cast_signed() <= 0) {
            return;
        }
        thin(&mut self.echoes);
        self.echoes.push_back((value, now));
    }

    /// All below `ack` is acknowledged, and all below `una` was; `usable`: the acknowledgement was caused by what is last below it, sent
    /// once. A packet has `segment` bytes.
    #[inline]
    pub(crate) fn acknowledged(&mut self, now: Nanos, (una, ack): (u64, u64), segment: u64, usable: bool) {
        let several = ack > una.saturating_add(segment);
        self.delays |= several && usable;
        self.in_train(now, ack, segment, usable);
        let mut covered: Option<(Nanos, Nanos)> = None;
        while let Some(&(end, sent)) = self.segments.front() {
            if end > ack {
                break;
            }
            covered = Some((covered.map_or(sent, |(oldest, _)| oldest), sent));
            self.segments.pop_front();
        }
        if let Some((oldest, newest)) = covered.filter(|_| usable) {
            self.beyond_sample(now, newest, newest.saturating_sub(oldest));
            // What follows at once would have ended the delay of an acknowledgement.
            let followed = self.segments.front().is_some_and(|next| next.1 - newest < (now - newest) / 8);
            if several || followed || !self.delays {
                let least = self.least_beyond().unwrap_or(0);
                self.last.beyond = now.saturating_sub(newest).saturating_sub(least);
                self.fresh = true;
            }
        }
    }

    #[inline]
    fn in_train(&mut self, now: Nanos, ack: u64, segment: u64, usable: bool) {
        let packets = ack.saturating_sub(self.train.from) / segment.max(1);
        if usable && packets < TRAIN {
            return;
        }
        if usable && self.train.since > 0 {
            self.train.least =
                least_of(self.train.least, Some(now.saturating_sub(self.train.since) / packets));
        }
        (self.train.since, self.train.from) = (now, ack);
    }

    /// The time that a packet takes at the bottleneck, at most.
    pub(crate) fn packet_time(&self) -> Option<Nanos> {
        self.train.least
    }

    /// The segment that ends at `end` was acknowledged selectively, for the first time; `behind_a_hole`: no loss is being repaired yet.
    pub(crate) fn sacked(&mut self, now: Nanos, end: u64, behind_a_hole: bool) {
        if let Ok(at) = self.segments.binary_search_by_key(&end, |segment| segment.0) {
            let sent = self.segments[at].1;
            self.beyond_sample(now, sent, 0);
            let lost_at = self.segments.front().map_or(0, |lost| lost.1);
            if behind_a_hole && sent.saturating_sub(lost_at) <= self.least_beyond().unwrap_or(0) / 8 {
                // It was sent with what was lost, and its acknowledgement is not delayed (RFC 5681 §4.2).
                self.last.beyond = now.saturating_sub(sent).saturating_sub(self.least_beyond().unwrap_or(0));
                self.fresh = true;
            }
        }
    }

    /// Returns the wait of the last packet beyond the capture point; `None` if none was measured since this was asked before.
    pub(crate) fn waited_beyond(&mut self) -> Option<Nanos> {
        std::mem::take(&mut self.fresh).then_some(self.last.beyond)
    }

    /// Returns the time since which an acknowledgement waits for data that echo it or a later one, if these data echo `echo`: the sender is
    /// so far away at least.
    pub(crate) fn unechoed_since(&self, echo: u32) -> Option<Nanos> {
        let later = |value: u32| echo.wrapping_sub(value).cast_signed() < 0;
        self.echoes.iter().find(|(value, _)| later(*value)).map(|&(_, passed)| passed)
    }

    /// Forgets the bytes from `start` to `end`, which were sent again: their acknowledgement says nothing.
    pub(crate) fn resent(&mut self, start: u64, end: u64) {
        self.segments.retain(|segment| segment.0 <= start || segment.0 > end);
    }

    /// A segment sent at `sent` was acknowledged, together with one that was sent `delayed` before it.
    fn beyond_sample(&mut self, now: Nanos, sent: Nanos, delayed: Nanos) {
        self.delayed += GAIN * (delayed as f64 - self.delayed);
        let sample = now.saturating_sub(sent);
        self.beyond.sample(now, sample);
        self.slot_beyond = least_of(self.slot_beyond, Some(sample));
        if self.beyond_is_longer() && self.before_is_known() {
            let least = self.least_before_now();
            let before = self.before.now(now);
            self.lower_bounds += u64::from(before.is_none() && least > 0);
            let whole = sample.saturating_add(before.unwrap_or(least)).saturating_add(delayed);
            self.total(whole, sample.saturating_add(least));
        }
    }

    /// Sequence numbers begin again.
    pub(crate) fn begin_again(&mut self) {
        self.segments.clear();
    }

    /// True if *before* can be added; without timestamps and handshake the capture is taken for the sender's.
    fn before_is_known(&self) -> bool {
        let stamped = self.before_at_most.is_some() || !self.echoes.is_empty();
        self.least_before().is_some() || !stamped || self.vantage() == Vantage::Sender
    }

    /// True if the larger part of the round trip is beyond the capture point.
    fn beyond_is_longer(&self) -> bool {
        self.least_beyond() >= self.least_before()
    }

    /// Least time from a segment to its acknowledgement.
    pub(crate) fn least_beyond(&self) -> Option<Nanos> {
        least_of(self.beyond.ever, self.handshake_beyond)
    }

    /// Least time from an acknowledgement to the data that answers it.
    pub(crate) fn least_before(&self) -> Option<Nanos> {
        least_of(self.before.ever, self.handshake_before)
    }

    /// *Before*, at least, now: nothing at the sender.
    fn least_before_now(&self) -> Nanos {
        if self.vantage() == Vantage::Sender {
            return 0;
        }
        self.before.recent().or(self.least_before()).unwrap_or(0)
    }

    /// A sample of both parts, and one with the least of the part that was added.
    fn total(&mut self, rtt: Nanos, least: Nanos) {
        self.samples += 1;
        self.sum += rtt as f64;
        self.histogram.record(rtt);
        self.least = least_of(self.least, Some(least));
        self.smoothed =
            Some(self.smoothed.map_or(rtt as f64, |smoothed| smoothed + GAIN * (rtt as f64 - smoothed)));
    }

    /// Returns the least time until an acknowledgement that passes now leads to data that passes.
    pub(crate) fn until_answered(&self) -> Nanos {
        self.least_before_now()
    }

    /// Where the capture was made.
    pub(crate) fn vantage(&self) -> Vantage {
        let known = self.least_before();
        let (Some(before), Some(beyond)) = (known.or(self.before_at_most), self.least_beyond()) else {
            return Vantage::Unknown;
        };
        let whole = before as f64 + beyond as f64;
        let queued = self.before.ever.map_or(0.0, |ever| (self.before.smoothed - ever as f64).max(0.0));
        if before as f64 + queued <= END_SHARE * (whole + queued) {
            Vantage::Sender
        } else if known.is_none() {
            Vantage::Unknown
        } else if beyond as f64 <= END_SHARE * whole {
            Vantage::Receiver
        } else {
            Vantage::Middle
        }
    }

    /// The round-trip time now; of the handshake, as long as no data was acknowledged.
    pub(crate) fn smoothed(&self) -> Option<Nanos> {
        self.smoothed.map(|rtt| rtt as Nanos).or_else(|| self.of_handshake())
    }

    /// The handshake's round-trip time.
    pub(crate) fn of_handshake(&self) -> Option<Nanos> {
        match (self.handshake_before, self.handshake_beyond) {
            (Some(before), Some(beyond)) => Some(before.saturating_add(beyond)),
            _ => None,
        }
    }

    /// Returns the source of the samples.
    pub(crate) fn source(&self) -> &'static str {
        match (self.samples > 0, self.before.ever.is_some() && self.vantage() != Vantage::Sender) {
            (true, true) => "acknowledgements and timestamps",
            (true, false) => "acknowledgements",
            (false, _) if self.of_handshake().is_some() => "handshake",
            (false, _) => "",
        }
    }

    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    /// Mean of the samples.
    pub(crate) fn mean_s(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum / self.samples as f64 * 1e-9)
    }

    /// True if most samples are lower bounds: a queue before the capture point would not be in them.
    pub(crate) fn are_lower_bounds(&self) -> bool {
        2 * self.lower_bounds > self.samples
    }

    /// The value that a share `q` of the samples does not exceed.
    pub(crate) fn quantile_s(&self, q: f64) -> Option<f64> {
        self.histogram.quantile(q).map(|nanos| nanos * 1e-9)
    }

    /// Least of the samples and the handshake.
    pub(crate) fn least(&self) -> Option<Nanos> {
        least_of(self.least, self.of_handshake())
    }

    /// The least time of the slot above the least of all, in both parts: a queue on either side that never was empty. Data that were
    /// not waiting make *before* too long, but not all of a slot's.
    pub(crate) fn above_least_in_slot(&self) -> Option<Nanos> {
        let above = |least: Option<Nanos>, slot: Option<Nanos>| Some(slot?.saturating_sub(least?));
        let beyond = above(self.least_beyond(), self.slot_beyond);
        let before = above(least_of(self.least_before(), self.before_at_most), self.slot_before);
        match (beyond, before) {
            (None, None) => None,
            (beyond, before) => Some(beyond.unwrap_or(0).saturating_add(before.unwrap_or(0))),
        }
    }

    /// Returns the waits of the last packet that was measured.
    #[inline]
    pub(crate) fn waits(&self) -> Waits {
        self.last
    }

    /// A new slot begins.
    pub(crate) fn begin_slot(&mut self) {
        (self.slot_beyond, self.slot_before) = (None, None);
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.segments.capacity() * size_of::<(u64, Nanos)>()
            + self.echoes.capacity() * size_of::<(u32, Nanos)>()
            + self.histogram.footprint()
    }
}
