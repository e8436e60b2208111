//! What arrives: the set-up, ACKs, SACK blocks, timestamps and data of scripts, told to our sender and receiver.

use super::{Endpoint, Inapplicable, State};
use crate::bytes::BASE;
use crate::script::{Flags, TcpOption, TcpPacket};
use parshall_tcp::ranges::Range;
use parshall_tcp::segment::{NO_SACK, NO_WINDOW};
use parshall_tcp::{Ack, Recovery, SackBlocks, Segment, Sender};
use parshall_units::{Duration, Instant, Packets};

/// What scripts of SYNs say of a connection.
#[derive(Clone, Copy, Debug)]
struct Offer {
    mss: u64,
    sack: bool,
    timestamps: bool,
    scale: Option<u8>,
}

impl Endpoint {
    /// A packet of the script arrives.
    ///
    /// # Errors
    /// It says what cannot be said to a sender that counts packets, or opens another connection.
    pub fn on_packet(&mut self, now: Instant, packet: &TcpPacket) -> Result<(), Inapplicable> {
        match self.state {
            State::Listening if packet.flags.syn && !packet.flags.ack => {
                self.on_syn(now, packet);
                Ok(())
            }
            State::Active if packet.flags.syn && packet.flags.ack => {
                self.agree(packet);
                self.config.ecn &= packet.flags.echo;
                self.start_anew();
                self.established(now, packet);
                self.push(now, Flags { ack: true, ..Flags::default() }, 0, 0);
                self.poll(now);
                Ok(())
            }
            State::Passive if packet.flags.ack && !packet.flags.syn => {
                self.established(now, packet);
                self.on_established(now, packet)
            }
            State::Established if !packet.flags.syn => self.on_established(now, packet),
            _ => Err("opens a connection in an unusual way, or more than one".into()),
        }
    }

    fn on_syn(&mut self, now: Instant, packet: &TcpPacket) {
        self.agree(packet);
        let accepts = self.settings.accepts_ecn || self.config.accurate_ecn;
        self.config.ecn = packet.flags.echo && packet.flags.reduced && accepts;
        self.open(now, State::Passive);
    }

    /// Takes over what both ends offer.
    fn agree(&mut self, packet: &TcpPacket) {
        let offer = offer(packet);
        self.config.timestamps = offer.timestamps && self.settings.timestamps;
        let sack = offer.sack && self.settings.sack;
        self.config.recovery = match (sack, self.settings.rack) {
            (false, _) => Recovery::NewReno,
            (true, false) => Recovery::Sack,
            (true, true) => Recovery::Rack,
        };
        self.receiving.recovery = self.config.recovery;
        self.scale = offer.scale.filter(|_| self.settings.window_scaling).unwrap_or(0);
        let stamp = if self.config.timestamps { 12 } else { 0 };
        self.written.mss = (offer.mss.min(self.largest_mss)).saturating_sub(stamp).max(1);
    }

    /// The peer answers our SYN.
    fn established(&mut self, now: Instant, packet: &TcpPacket) {
        self.state = State::Established;
        let config = &self.config;
        let Some(sender) = &mut self.sender else { return };
        let ack = Ack {
            cumulative: BASE,
            sent: now,
            echo: self.syn_sent,
            echo_retransmission: sender.statistics().syns > 1,
            congestion_echo: config.ecn,
            syn: true,
            sack: NO_SACK,
            window: NO_WINDOW,
        };
        sender.on_ack(config, now, &ack);
        self.note_window(packet, if packet.flags.syn { 0 } else { self.scale });
    }

    fn note_window(&mut self, packet: &TcpPacket, scale: u8) {
        let Some(sender) = &self.sender else { return };
        if let Some(window) = packet.window {
            let bytes = u64::from(window) << scale.min(14);
            self.config.receive_window = Some(Packets(self.written.packets_within(sender.una(), bytes)));
            self.last_window = Some(bytes);
        }
    }

    fn on_established(&mut self, now: Instant, packet: &TcpPacket) -> Result<(), Inapplicable> {
        if packet.flags.ack && !self.on_ack(now, packet)? {
            return Ok(());
        }
        let reply = if packet.length > 0 || packet.flags.fin { self.on_data(now, packet)? } else { None };
        let before = self.sent.len();
        self.poll(now);
        let with_data = self.sent.len() > before;
        if let Some(ack) = reply.filter(|_| !with_data) {
            self.acknowledge(now, &ack);
        }
        Ok(())
    }

    /// Whether the packet is acceptable: one that acknowledges what was never sent is discarded. RFC 9293 §3.10.7.4
    fn on_ack(&mut self, now: Instant, packet: &TcpPacket) -> Result<bool, Inapplicable> {
        let Some((una, max)) = self.sender.as_ref().map(|sender| (sender.una(), sender.max())) else {
            return Ok(false);
        };
        let number = packet.ack.unwrap_or(0);
        let ahead = number.wrapping_sub(self.origins.ours.wrapping_add(1));
        if ahead.cast_signed() < 0 {
            return Ok(true); // it acknowledges what an earlier packet has: its data counts
        }
        let offset = u64::from(ahead);
        let end = self.written.stream.end();
        let offset = if self.fin_sent && offset == end + 1 { end } else { offset };
        if offset > self.written.stream.start(max) {
            return Ok(false);
        }
        let Some(cumulative) = self.written.stream.packet_at(offset) else {
            return Err(format!("has ack {number}, which ends within a packet"));
        };
        let (sack, has_blocks) = self.blocks(packet)?;
        let window = packet.window.map(|window| u64::from(window) << self.scale.min(14));
        let advances = cumulative > una;
        // RFC 5681 §2: what is a duplicate ACK.
        let duplicate = packet.length == 0 && !packet.flags.fin && (window == self.last_window || has_blocks);
        let ack = Ack {
            cumulative,
            sent: now,
            echo: self.echo(packet).min(now),
            echo_retransmission: false,
            congestion_echo: packet.flags.echo && self.config.ecn,
            syn: false,
            sack,
            window: NO_WINDOW,
        };
        // A packet that was overtaken has an old window: RFC 9293 §3.10.7.4, SND.WL2.
        if let Some(bytes) = window.filter(|_| cumulative >= una) {
            self.last_window = window;
            self.config.receive_window = Some(Packets(self.written.packets_within(cumulative, bytes)));
        }
        if let Some(sender) = self.sender.as_mut().filter(|_| advances || duplicate || has_blocks) {
            sender.on_ack(&self.config, now, &ack);
        }
        Ok(true)
    }

    /// When the packet was sent whose timestamp is echoed.
    fn echo(&self, packet: &TcpPacket) -> Instant {
        let echoed = packet.options.iter().flatten().find_map(|option| match option {
            TcpOption::Timestamps { echo, .. } => Some(*echo),
            _ => None,
        });
        let Some(echoed) = echoed.filter(|_| self.config.timestamps) else { return self.last_sent };
        let nearest = self.stamps.iter().rev().min_by_key(|(value, _)| value.abs_diff(echoed));
        let Some(&(value, time)) = nearest else { return self.last_sent };
        let difference = Duration::from_millis(u64::from(value.abs_diff(echoed))); // Linux's clock of timestamps: 1 ms
        if echoed >= value {
            time + difference
        } else {
            Instant::from_ps(time.as_ps().saturating_sub(difference.as_ps()))
        }
    }

    /// A line of the script has named the timestamp of a packet that we sent.
    pub fn note_stamp(&mut self, value: u32, time: Instant) {
        self.stamps.push((value, time));
    }

    /// SACK blocks as packets: three at most, so those first that say something new. Whether there are any.
    fn blocks(&mut self, packet: &TcpPacket) -> Result<(SackBlocks, bool), Inapplicable> {
        let given = packet.options.iter().flatten().find_map(|option| match option {
            TcpOption::Sack(blocks) => Some(blocks.clone()),
            _ => None,
        });
        let Some(mut given) = given.filter(|_| self.config.recovery.uses_sack()) else {
            return Ok((NO_SACK, false));
        };
        let is_known = |block: &(u32, u32)| self.reported.contains(block);
        if let Some(rest) = given.get_mut(1..) {
            rest.sort_by_key(is_known);
        }
        if given.iter().skip(3).any(|block| !is_known(block)) {
            return Err("reports four blocks of packets in one ACK".into());
        }
        let offset = |number: u32| u64::from(number.wrapping_sub(self.origins.ours.wrapping_add(1)));
        let max = self.sender.as_ref().map_or(BASE, Sender::max);
        let mut blocks = NO_SACK;
        let whole =
            given.iter().map(|&(left, right)| self.written.stream.within(offset(left), offset(right)));
        for (block, (start, end)) in blocks.iter_mut().zip(whole.filter(|&(start, end)| start < end.min(max)))
        {
            *block = Range { start, end: end.min(max) };
        }
        let any = !blocks[0].is_empty();
        self.reported = given;
        Ok((blocks, any))
    }

    fn on_data(&mut self, now: Instant, packet: &TcpPacket) -> Result<Option<Ack>, Inapplicable> {
        let offset = u64::from(packet.seq.wrapping_sub(self.origins.theirs.wrapping_add(1)));
        let end = offset + u64::from(packet.length);
        let mut reply = None;
        if packet.length > 0 {
            let (first, next) = self.arriving.within(offset, end);
            if next != first + 1 || self.arriving.packet_at(offset) != Some(first) {
                return Err("receives segments that overlap".into());
            }
            let segment = Segment {
                seq: first,
                sent: now,
                retransmission: false,
                syn: false,
                push: false, // its ACK goes when the program reads, which scripts say
                ecn_capable: matches!(packet.ip.as_deref(), Some("ect0" | "ect01" | "ce")),
                cwr: packet.flags.reduced,
                congestion_experienced: packet.ip.as_deref() == Some("ce") && self.config.ecn,
            };
            if let Some(ack) = self.receiver.ack_before(&self.receiving, now, &segment) {
                self.acknowledge(now, &ack);
            }
            reply = self.receiver.on_segment(&self.receiving, now, &segment).ack;
        }
        if packet.flags.fin && self.received() == end {
            self.their_fin = true;
            self.receiver.hurry(now); // it goes with that of the FIN
            reply = Some(Ack {
                cumulative: self.receiver.next(),
                sent: now,
                echo: now,
                echo_retransmission: false,
                congestion_echo: false,
                syn: false,
                sack: NO_SACK,
                window: NO_WINDOW,
            });
        }
        Ok(reply)
    }
}

fn offer(packet: &TcpPacket) -> Offer {
    let mut offer = Offer { mss: 536, sack: false, timestamps: false, scale: None };
    for option in packet.options.iter().flatten() {
        match option {
            TcpOption::Mss(Some(mss)) => offer.mss = u64::from(*mss),
            TcpOption::SackPermitted => offer.sack = true,
            TcpOption::Timestamps { .. } => offer.timestamps = true,
            TcpOption::WindowScale(scale) => offer.scale = Some(*scale),
            _ => {}
        }
    }
    offer
}
