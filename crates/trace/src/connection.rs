//! A connection: the data of both directions, and its opening and end.

use crate::direction::Direction;
use crate::events::Kind;
use crate::packet::{Endpoint, Flags, Packet};
use crate::path_times::Nanos;
use std::hash::{Hash, Hasher};

/// Recent packets that a copy of the same packet is looked for among.
const RECENT: usize = 4;

/// Copies of a packet without identification follow within this time.
const COPY: Nanos = 200_000;

/// A reset whose number is further than this from what was sent last, and than a window, answers another connection.
const RESET_REACH: u64 = 1 << 20;

/// An acknowledgement of a SYN acknowledges no more than this, the data of a fast open (RFC 7413) included.
const FIRST_ANSWER: u32 = 1 << 16;

/// After so many packets that do not answer its SYN, it is the SYN that is not the connection's.
const STALE: u32 = 3;

/// Bytes that the timestamp option takes from a full segment.
const TIMESTAMP_OPTION: u32 = 12;

/// Two endpoints, whichever is the smaller first. The third number tells connections apart that have the same ends on several
/// VLANs: 0 for the first one, else its tags and one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(Endpoint, Endpoint, u32);

/// In few steps, as each packet takes them; the third number is hardly ever there.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.0.address);
        state.write_u128(self.1.address);
        state.write_u32(u32::from(self.0.port) << 16 | u32::from(self.1.port));
        if self.2 > 0 {
            state.write_u32(self.2);
        }
    }
}

impl Key {
    /// The connection of a packet, and which of its ends, 0 or 1, sent it.
    #[inline]
    pub(crate) fn of(packet: &Packet) -> (Self, usize) {
        if packet.source <= packet.destination {
            (Self(packet.source, packet.destination, 0), 0)
        } else {
            (Self(packet.destination, packet.source, 0), 1)
        }
    }

    /// The other connection of these ends that is on this VLAN.
    pub(crate) fn on(self, vlan: u32) -> Self {
        Self(self.0, self.1, vlan + 1)
    }

    pub(crate) fn end(&self, side: usize) -> Endpoint {
        if side == 0 {
            self.0
        } else {
            self.1
        }
    }
}

/// The options of one side's SYN.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offer {
    /// When it passed first and last, and how often.
    first: Nanos,
    at: Nanos,
    pub(crate) sent: u64,
    seq: u32,
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    pub(crate) timestamps: bool,
}

/// What identifies a copy of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Print {
    at: Nanos,
    side: u8,
    flags: u8,
    ip_id: u16,
    seq: u32,
    ack: u32,
    payload: u32,
    timestamps: Option<(u32, u32)>,
}

/// A connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// `directions[0]`: the data that end 0 sends.
    pub(crate) directions: [Direction; 2],
    pub(crate) offers: [Option<Offer>; 2],
    /// Tags of the VLANs of what each end sends: the two may differ, as one way may be captured where it is not tagged.
    pub(crate) vlans: [Option<u32>; 2],
    /// Which end opened it.
    client: Option<usize>,
    /// The SYN-ACK's answer was seen.
    established: bool,
    opened_at: Option<Nanos>,
    /// Packets that were passed over, as they answer no SYN of this connection.
    stale: u32,
    pub(crate) fins: [bool; 2],
    pub(crate) reset: bool,
    pub(crate) last: Nanos,
    /// Packets that were captured twice.
    pub(crate) copies: u64,
    recent: [Print; RECENT],
    next_recent: u8,
}

impl Connection {
    pub(crate) fn new() -> Self {
        Self {
            directions: [Direction::new(), Direction::new()],
            offers: [None; 2],
            vlans: [None; 2],
            client: None,
            established: false,
            opened_at: None,
            stale: 0,
            fins: [false; 2],
            reset: false,
            last: 0,
            copies: 0,
            recent: [Print::default(); RECENT],
            next_recent: 0,
        }
    }

    /// True if this packet opens a new connection between the same ends.
    pub(crate) fn is_succeeded_by(&self, packet: &Packet, side: usize) -> bool {
        let flags = packet.flags;
        if !flags.has(Flags::SYN) || flags.has(Flags::ACK) {
            return false;
        }
        let other_number = self.offers[side].is_some_and(|offer| offer.seq != packet.seq);
        let seen = self.directions.iter().any(|direction| direction.seen);
        // Where both ends open at once (RFC 9293 §3.5), the other one's SYN was seen.
        let unopened = self.offers.iter().all(Option::is_none);
        other_number || seen && (unopened || self.reset)
    }

    /// True if both ends have said that it is over.
    pub(crate) fn is_over(&self) -> bool {
        self.reset || self.fins == [true; 2]
    }

    /// Returns its end.
    pub(crate) fn ending(&self) -> &'static str {
        match (self.reset, self.fins) {
            (true, _) => "reset",
            (false, [true, true]) => "closed",
            (false, [false, false]) => "open",
            (false, _) => "half-closed",
        }
    }

    /// A packet that end `side` sent; `false`: a copy of one that was seen.
    #[inline]
    pub(crate) fn on_packet(&mut self, now: Nanos, side: usize, packet: &Packet) -> bool {
        if self.is_copy(now, side, packet) {
            self.copies += 1;
            return false;
        }
        self.last = now;
        self.vlans[side].get_or_insert(packet.vlan);
        let flags = packet.flags;
        if !self.established && self.is_stale(side, packet) {
            self.stale += 1;
            return true;
        }
        if flags.has(Flags::SYN) {
            self.on_syn(now, side, packet);
        } else if !self.established && flags.has(Flags::ACK) && !flags.has(Flags::RST) {
            self.on_first_ack(now, side);
        }
        if flags.has(Flags::RST) {
            let near = self.directions[side].is_near(packet.seq, RESET_REACH);
            if near && !self.reset {
                self.directions[side].events.push(now, Kind::Reset, None);
            }
            self.reset |= near;
            return true;
        }
        if packet.payload > 0 {
            self.on_data(now, side, packet);
        }
        if flags.has(Flags::FIN) {
            self.fins[side] = true;
            self.directions[side].on_fin(now, packet);
        }
        if flags.has(Flags::ACK) {
            let window = self.window(side, packet);
            let scaled = self.offers[side].is_some() && self.offers[1 - side].is_some();
            self.directions[1 - side].on_ack(now, packet, window, scaled);
        }
        true
    }

    fn on_data(&mut self, now: Nanos, side: usize, packet: &Packet) {
        let direction = &mut self.directions[side];
        let first = direction.began.is_none();
        direction.on_data(now, packet);
        if first && direction.began.is_some() {
            let began = self.offers.iter().flatten().map(|offer| offer.first).min();
            let established = self.opened_at.unwrap_or(now);
            direction.limits.begin(now, began.map(|began| (began, established)));
        }
    }

    /// True if a packet is of the connection before between the same ends: the other end's SYN was seen, this end has not sent one,
    /// and what it sends answers none (RFC 5961 §4: a challenge acknowledgement has the numbers of old).
    fn is_stale(&self, side: usize, packet: &Packet) -> bool {
        let (Some(syn), None) = (&self.offers[1 - side], &self.offers[side]) else { return false };
        let answers = packet.ack.wrapping_sub(syn.seq.wrapping_add(1)) <= FIRST_ANSWER;
        let numbered = packet.flags.has(Flags::ACK) && answers;
        let known = self.directions.iter().any(|direction| direction.seen);
        !packet.flags.has(Flags::SYN) && !numbered && !known && self.stale < STALE
    }

    /// The receive window that end `side` offers, in bytes.
    fn window(&self, side: usize, packet: &Packet) -> u64 {
        let shift = match (&self.offers[side], &self.offers[1 - side]) {
            (Some(own), Some(other)) if !packet.flags.has(Flags::SYN) => {
                own.window_scale.and(other.window_scale).and(own.window_scale)
            }
            _ => None,
        };
        u64::from(packet.window) << u32::from(shift.unwrap_or(0)).min(14)
    }

    /// The same packet seen twice: on two interfaces, or by a mirror port.
    fn is_copy(&mut self, now: Nanos, side: usize, packet: &Packet) -> bool {
        let print = Print {
            at: now,
            side: side as u8,
            flags: packet.flags.0,
            ip_id: packet.ip_id.unwrap_or(0),
            seq: packet.seq,
            ack: packet.ack,
            payload: packet.payload,
            timestamps: packet.options.timestamps,
        };
        // Without an identification, duplicate acknowledgements look like copies.
        if print.ip_id != 0 || packet.payload > 0 {
            let same = |old: &Print| Print { at: now, ..*old } == print && old.flags != 0;
            let near = |old: &Print| print.ip_id != 0 || now.saturating_sub(old.at) <= COPY;
            if self.recent.iter().any(|old| same(old) && near(old)) {
                return true;
            }
            self.recent[usize::from(self.next_recent)] = print;
            self.next_recent = (self.next_recent + 1) % RECENT as u8;
        }
        false
    }

    fn on_syn(&mut self, now: Nanos, side: usize, packet: &Packet) {
        let options = &packet.options;
        let sent = self.offers[side].map_or(0, |offer| offer.sent);
        let first = self.offers[side].map_or(now, |offer| offer.first);
        self.offers[side] = Some(Offer {
            first,
            at: now,
            sent: sent + 1,
            seq: packet.seq,
            mss: options.mss,
            window_scale: options.window_scale,
            sack_permitted: options.sack_permitted,
            timestamps: options.timestamps.is_some(),
        });
        if sent == 0 {
            self.directions[side].open(packet.seq);
        } else {
            self.directions[side].events.push(now, Kind::SynRetried, Some(now.saturating_sub(first)));
        }
        if !packet.flags.has(Flags::ACK) {
            self.client.get_or_insert(side);
            return;
        }
        let client = 1 - side;
        self.client.get_or_insert(client);
        if let Some(syn) = self.offers[client].filter(|offer| offer.sent == 1 && sent == 0) {
            let beyond = now.saturating_sub(syn.at);
            self.directions[client].times.handshake(None, Some(beyond));
            self.directions[side].times.handshake(Some(beyond), None);
        }
        self.learn_segment_size();
    }

    fn learn_segment_size(&mut self) {
        let [Some(a), Some(b)] = &self.offers else { return };
        let option = if a.timestamps && b.timestamps { TIMESTAMP_OPTION } else { 0 };
        if let Some(mss) = [a.mss, b.mss].into_iter().flatten().min() {
            for direction in &mut self.directions {
                direction.size.state(u32::from(mss).saturating_sub(option));
            }
        }
    }

    fn on_first_ack(&mut self, now: Nanos, side: usize) {
        self.established = true;
        self.opened_at = Some(now);
        if self.client != Some(side) {
            return;
        }
        match (&self.offers[1 - side], &self.offers[side]) {
            (Some(answer), _) if answer.sent == 1 => {
                let before = now.saturating_sub(answer.at);
                self.directions[side].times.handshake(Some(before), None);
                self.directions[1 - side].times.handshake(None, Some(before));
            }
            // Only this direction was captured: SYN and its answer's answer are a round trip apart.
            (None, Some(syn)) if syn.sent == 1 => {
                let whole = now.saturating_sub(syn.at);
                self.directions[side].times.handshake(Some(0), Some(whole));
            }
            _ => {}
        }
    }

    /// Bytes of memory that it holds.
    pub(crate) fn footprint(&self) -> usize {
        size_of::<Self>() + self.directions.iter().map(Direction::footprint).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/observe.md says how much memory a connection takes.
    #[test]
    fn a_connection_takes_what_the_guide_says() {
        let bytes = size_of::<Connection>();
        assert!((3950..4050).contains(&bytes), "{bytes}");
    }
}
