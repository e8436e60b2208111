//! The hosts' time to answer: an ICMP echo (RFC 792), now and then, to one host after the other.
//!
//! The lateness of packets shows how well the network keeps its times. It does not see a host whose kernel lets packets
//! wait: because another process has its CPU, because `ksoftirqd` has taken over what a write would do at once, or
//! because another CPU receives (receive packet steering) and has too much to do. Such a host answers late, and its
//! connections are slower than those of the scenario. The kernel answers an echo where it acknowledges segments too,
//! with no process in between; so the time until the answer has been read is what a host adds to each round trip, with
//! the wait until the next look at the devices.

use crate::checksum::{set_ip, sum};
use crate::headers::{set_word, word, Headers};
use crate::side::Addresses;
use crate::virtio::{self, VirtioHeader};
use parshall_records::DelayHistogram;
use parshall_sim::Direction;
use parshall_units::{Duration, Instant};

const ICMP: u8 = 1;
const IP_BYTES: usize = 20;
const ICMP_BYTES: usize = 8;
/// Tells our requests from those of others, which count up from a random number.
const PAYLOAD: &[u8] = b"parshall";
const BYTES: usize = IP_BYTES + ICMP_BYTES + PAYLOAD.len();
const REQUEST: u8 = 8;
const REPLY: u8 = 0;
const IDENTIFIER: u16 = 0x5053;

/// From one request to the next: 3,000 in a minute, which cost nothing, and of which 30 are the slowest 1 %.
const EVERY: Duration = Duration::from_millis(20);

/// What takes longer counts as that long: the next host is asked.
const PATIENCE: Duration = Duration::from_millis(1000);

/// Asks one host at a time.
pub(crate) struct Echo {
    flows: u32,
    /// When the request was written that has no answer yet.
    asked: Option<Instant>,
    next: Instant,
    requests: u64,
    has_answer: bool,
    taken: DelayHistogram,
}

impl Echo {
    /// Of so many flows.
    pub(crate) fn new(flows: u32) -> Self {
        let (asked, next) = (None, Instant::ZERO + EVERY);
        Self { flows, asked, next, requests: 0, has_answer: false, taken: DelayHistogram::new() }
    }

    /// The request that is due, with its header, and the host to which it is to be written: that of a flow whose
    /// packets go this way.
    pub(crate) fn due(
        &mut self,
        now: Instant,
        addresses: &Addresses,
    ) -> Option<(u32, Direction, [u8; virtio::BYTES + BYTES])> {
        if now < self.next {
            return None;
        }
        if let Some(asked) = self.asked {
            if now.since(asked) < PATIENCE {
                return None;
            }
            self.taken.record(PATIENCE);
        }
        let direction = if self.requests.is_multiple_of(2) { Direction::Reverse } else { Direction::Forward };
        let flow = (self.requests / 2 % u64::from(self.flows)) as u32;
        self.requests += 1;
        self.next = now + EVERY;
        self.asked = Some(now);
        let (to, from) = addresses.of_flow(flow, direction);
        let mut bytes = [0; virtio::BYTES + BYTES];
        let (header, packet) = bytes.split_at_mut(virtio::BYTES);
        header.copy_from_slice(&VirtioHeader::default().write());
        request(packet, from, to, self.requests as u16);
        Some((flow, direction, bytes))
    }

    /// True if a packet that a host sent is the answer that is awaited, or a late one; then it is nobody else's.
    pub(crate) fn takes(&mut self, packet: &[u8], headers: &Headers, now: Instant) -> bool {
        let Some(icmp) = packet.get(headers.ip..headers.total).filter(|_| headers.protocol == ICMP) else {
            return false;
        };
        let is_ours = icmp.len() == ICMP_BYTES + PAYLOAD.len()
            && icmp[0] == REPLY
            && word(icmp, 4) == IDENTIFIER
            && &icmp[ICMP_BYTES..] == PAYLOAD;
        if is_ours && word(icmp, 6) == self.requests as u16 {
            if let Some(asked) = self.asked.take() {
                self.has_answer = true;
                self.taken.record(now.max(asked).since(asked));
            }
        }
        is_ours
    }

    /// Time that 99 % of the answers did not exceed, s; `None`: no host ever answered, so nothing is known.
    pub(crate) fn p99_s(&self) -> Option<f64> {
        self.taken.percentile(0.99).filter(|_| self.has_answer).map(Duration::as_secs_f64)
    }
}

/// Writes an echo request: RFC 791 §3.1, RFC 792.
fn request(packet: &mut [u8], from: u32, to: u32, sequence: u16) {
    let (ip, icmp) = packet.split_at_mut(IP_BYTES);
    ip[0] = 0x45; // version 4, five words
    set_word(ip, 2, BYTES as u16);
    set_word(ip, 6, 0x4000); // no fragments
    ip[8] = 64; // hops
    ip[9] = ICMP;
    ip[12..16].copy_from_slice(&from.to_be_bytes());
    ip[16..20].copy_from_slice(&to.to_be_bytes());
    set_ip(ip);
    icmp[0] = REQUEST;
    set_word(icmp, 4, IDENTIFIER);
    set_word(icmp, 6, sequence);
    icmp[ICMP_BYTES..].copy_from_slice(PAYLOAD);
    let checksum = !sum(icmp);
    set_word(icmp, 2, checksum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::side::{Pair, Prefix, Side};
    use crate::testing::echo_answer;
    use etherparse::{Icmpv4Type, NetSlice, SlicedPacket, TransportSlice};
    use std::os::unix::net::UnixDatagram;

    fn addresses() -> Addresses {
        let side = |network: [u8; 4]| {
            Side::new(UnixDatagram::unbound().unwrap().into(), Prefix::new(network.into(), 16))
        };
        Addresses::of(&Pair { senders: side([10, 1, 0, 0]), receivers: side([10, 2, 0, 0]) }, 300)
    }

    fn ms(time: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(time)
    }

    fn takes(echo: &mut Echo, packet: &[u8], now: Instant) -> bool {
        echo.takes(packet, &Headers::read(packet).unwrap(), now)
    }

    fn answer(request: &[u8]) -> Vec<u8> {
        echo_answer(request)[virtio::BYTES..].to_vec()
    }

    #[test]
    fn a_request_is_what_the_standards_say() {
        let mut echo = Echo::new(300);
        let addresses = addresses();
        assert_eq!(echo.due(ms(1), &addresses), None, "the first one takes its time");
        let (flow, direction, bytes) = echo.due(ms(20), &addresses).unwrap();
        assert_eq!((flow, direction), (0, Direction::Reverse), "the receivers' host");
        let (header, packet) = VirtioHeader::read(&bytes).unwrap();
        assert_eq!(header, VirtioHeader::default());
        let sliced = SlicedPacket::from_ip(packet).unwrap();
        let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Icmpv4(icmp))) = (&sliced.net, &sliced.transport)
        else {
            panic!("{sliced:?}");
        };
        let header = ip.header();
        assert_eq!((header.source(), header.destination()), ([10, 1, 0, 1], [10, 2, 0, 1]));
        assert_eq!(header.to_header().calc_header_checksum(), header.header_checksum());
        assert!(matches!(icmp.header().icmp_type, Icmpv4Type::EchoRequest(_)));
        assert_eq!(sum(&packet[IP_BYTES..]), 0xffff);
    }

    #[test]
    fn all_hosts_have_their_turn_one_after_the_other() {
        let (mut echo, addresses) = (Echo::new(2), addresses());
        let mut asked = Vec::new();
        for turn in 1..=5 {
            let (flow, direction, request) = echo.due(ms(20 * turn), &addresses).unwrap();
            assert!(takes(&mut echo, &answer(&request), ms(20 * turn + 1)));
            asked.push((flow, direction == Direction::Reverse));
        }
        assert_eq!(asked, [(0, true), (0, false), (1, true), (1, false), (0, true)]);
    }

    #[test]
    fn the_slowest_answers_are_seen() {
        let (mut echo, addresses) = (Echo::new(1), addresses());
        assert_eq!(echo.p99_s(), None, "nobody was asked");
        for turn in 1..=200 {
            let (.., request) = echo.due(ms(20 * turn), &addresses).unwrap();
            let later = if turn % 50 == 0 { 9 } else { 2 };
            assert!(takes(&mut echo, &answer(&request), ms(20 * turn + later)));
            assert!(takes(&mut echo, &answer(&request), ms(20 * turn + 15)), "ours, and counted once");
        }
        let p99_s = echo.p99_s().unwrap();
        assert!((p99_s - 9e-3).abs() < 0.05 * 9e-3, "{p99_s}");
    }

    #[test]
    fn a_host_that_does_not_answer_costs_its_patience_if_others_do() {
        let (mut echo, addresses) = (Echo::new(1), addresses());
        let (.., silent) = echo.due(ms(20), &addresses).unwrap();
        assert_eq!(echo.due(ms(1019), &addresses), None, "it may still answer");
        let (.., request) = echo.due(ms(1020), &addresses).unwrap();
        assert!(takes(&mut echo, &answer(&silent), ms(1021)), "ours, but late");
        assert_eq!(echo.p99_s(), None, "hosts may refuse echoes altogether");
        assert!(takes(&mut echo, &answer(&request), ms(1022)));
        assert!(echo.p99_s().unwrap() > 0.9);
    }

    #[test]
    fn echoes_of_others_are_theirs() {
        let (mut echo, addresses) = (Echo::new(1), addresses());
        let (.., request) = echo.due(ms(20), &addresses).unwrap();
        let ours = answer(&request);
        for at in [IP_BYTES, IP_BYTES + 4, IP_BYTES + ICMP_BYTES] {
            let mut other = ours.clone();
            other[at] ^= 8;
            assert!(!takes(&mut echo, &other, ms(21)), "byte {at}");
        }
        let mut short = ours[..BYTES - 1].to_vec();
        set_word(&mut short, 2, BYTES as u16 - 1);
        assert!(!takes(&mut echo, &short, ms(21)));
        assert!(takes(&mut echo, &ours, ms(21)));
    }
}
