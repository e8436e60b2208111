//! The events of a flow in time, which a reader of a capture looks for first.

use crate::path_times::Nanos;

/// Events that wait to be written: the caller takes them after every packet, once the flow has a number.
const PENDING: usize = 64;

/// A time without progress, though data were under way, is a stall if it is as long, and longer than [`ROUND_TRIPS`] round trips.
const STALL: Nanos = 200_000_000;
const ROUND_TRIPS: Nanos = 3;

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    ZeroWindow,
    Stall,
    Timeout,
    Reset,
    SynRetried,
}

impl Kind {
    /// Its name in the records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ZeroWindow => "zero_window",
            Self::Stall => "stall",
            Self::Timeout => "timeout",
            Self::Reset => "reset",
            Self::SynRetried => "syn_retried",
        }
    }
}

/// An event, and how long it lasted, if it did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) at: Nanos,
    pub(crate) kind: Kind,
    pub(crate) lasted: Option<Nanos>,
}

/// Events of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    pub(crate) pending: Vec<Event>,
    /// Since when the window is closed.
    closed: Option<Nanos>,
}

impl Events {
    #[cold]
    pub(crate) fn push(&mut self, at: Nanos, kind: Kind, lasted: Option<Nanos>) {
        if self.pending.len() < PENDING {
            self.pending.push(Event { at, kind, lasted });
        }
    }

    /// The receiver offers no window, or does.
    #[inline]
    pub(crate) fn window(&mut self, now: Nanos, closed: bool) {
        if closed {
            self.closed.get_or_insert(now);
        } else if let Some(since) = self.closed.take() {
            self.push(since, Kind::ZeroWindow, Some(now.saturating_sub(since)));
        }
    }

    /// Data are acknowledged that were under way, without progress, since then.
    #[inline]
    pub(crate) fn progress(&mut self, now: Nanos, since: Nanos, rtt: Option<Nanos>) {
        let waited = now.saturating_sub(since);
        if waited > STALL && rtt.is_some_and(|rtt| waited > ROUND_TRIPS.saturating_mul(rtt)) {
            self.push(since, Kind::Stall, Some(waited));
        }
    }

    /// The flow is not followed further: a window that is closed stays so.
    pub(crate) fn end(&mut self) {
        if let Some(since) = self.closed.take() {
            self.push(since, Kind::ZeroWindow, None);
        }
    }

    /// Bytes of memory behind it.
    pub(crate) fn footprint(&self) -> usize {
        self.pending.capacity() * size_of::<Event>()
    }
}
