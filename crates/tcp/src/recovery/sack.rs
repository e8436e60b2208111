//! Loss recovery by selective acknowledgements (RFC 6675): the [scoreboard](super::scoreboard) on a connection.

use super::prr::{has_room, window_now, Prr, Report};
use super::scoreboard::Scoreboard;
use super::{Account, Repair};
use crate::connection::{Connection, Phase};
use crate::policies::RecoveryRate;
use crate::segment::Ack;
use crate::TcpConfig;
use parshall_units::Instant;

/// Loss recovery by a scoreboard.
#[derive(Debug)]
pub(crate) struct Sack {
    /// True if the scoreboard holds SACKed packets.
    has_sacked: bool,
    /// A packet goes next whatever the window: RFC 6675 §5 step 4.3.
    retransmit_first: bool,
    /// True if it sends by proportional rate reduction, and in which form.
    proportional: bool,
    rate: RecoveryRate,
    /// Made at the first loss.
    repairs: Option<Box<Repairs>>,
}

#[derive(Debug)]
struct Repairs {
    board: Scoreboard,
    prr: Option<Prr>,
}

impl Repairs {
    /// Takes in an ACK up to the connection's, of which `acked` packets are new; how many packets it reports as
    /// delivered for the first time.
    fn update(&mut self, connection: &mut Connection, ack: &Ack, acked: u64) -> u64 {
        if self.board.floor() < connection.una - acked {
            self.board.update(connection.una - acked, &[], |_| {}); // it was not needed for a while
        }
        let before = self.board.floor() + self.board.sacked_count();
        self.board.update(connection.una, &ack.sack, |part| connection.on_sacked(part));
        self.board.floor() + self.board.sacked_count() - before
    }

    /// Looks for losses; how many there are.
    fn find_losses(&mut self, connection: &mut Connection) -> u64 {
        let before = self.board.lost();
        if matches!(connection.phase, Phase::Open | Phase::Recovery) {
            self.board.detect_losses();
        }
        let found = self.board.lost() - before;
        connection.count_lost(found);
        found
    }
}

impl Sack {
    pub(crate) fn new(proportional: bool, rate: RecoveryRate) -> Self {
        Self { has_sacked: false, retransmit_first: false, proportional, rate, repairs: None }
    }

    fn repairs(&mut self, una: u64) -> &mut Repairs {
        self.repairs.get_or_insert_with(|| {
            let mut board = Scoreboard::default();
            board.reset(una);
            Box::new(Repairs { board, prr: Prr::of(self.proportional, self.rate) })
        })
    }

    /// An ACK, of `acked` packets of new data; the packets that it reports as delivered, `None` if the window may not
    /// grow by them.
    #[inline]
    fn on_ack(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        ack: &Ack,
        acked: u64,
    ) -> Option<u64> {
        if !self.has_sacked && ack.sack[0].is_empty() && connection.phase == Phase::Open {
            return Some(acked); // the board catches up with the cumulative ACK when it is next needed
        }
        self.take_in(connection, config, now, ack, acked)
    }

    #[inline(never)]
    fn take_in(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        ack: &Ack,
        acked: u64,
    ) -> Option<u64> {
        connection.take_window(ack);
        let repairs = self.repairs(connection.una);
        let delivered = repairs.update(connection, ack, acked);
        self.has_sacked = repairs.board.sacked_count() > 0;
        if connection.phase != Phase::Open && connection.una >= connection.recover {
            self.retransmit_first = false;
            connection.end_recovery();
        }
        let repairs = self.repairs(connection.una);
        let found = repairs.find_losses(connection);
        let report = Report { delivered, safe: acked > 0 && found == 0 };
        match connection.phase {
            Phase::Open => {
                let lost = repairs.board.first_is_lost() && connection.una >= connection.recover;
                if lost {
                    self.start(connection, config, now, report);
                }
                (!lost).then_some(delivered)
            }
            Phase::Recovery => {
                let pipe = repairs.board.pipe(connection.max);
                if let Some(prr) = &mut repairs.prr {
                    prr.on_ack(report, pipe, connection.whole_window());
                }
                None
            }
            Phase::Loss | Phase::Connecting => Some(delivered),
        }
    }

    fn start(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant, report: Report) {
        let Repairs { board, prr } = self.repairs(connection.una);
        if let Some(prr) = prr {
            prr.start(connection);
        }
        connection.begin_recovery(now);
        board.restart_retransmissions();
        if let Some(prr) = prr {
            prr.on_first_ack(report, board.pipe(connection.max), connection.whole_window());
        }
        self.retransmit_first = true;
        connection.arm_timer(config, now);
    }
}

impl Repair for Sack {
    #[inline]
    fn on_new_data(
        &mut self,
        connection: &mut Connection,
        config: &TcpConfig,
        now: Instant,
        ack: &Ack,
        acked: u64,
    ) -> Option<u64> {
        connection.arm_timer(config, now);
        self.on_ack(connection, config, now, ack, acked)
    }

    #[inline]
    fn on_old_data(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant, ack: &Ack) {
        self.on_ack(connection, config, now, ack, 0);
    }

    /// All that was not SACKed is lost. RFC 6675 §5.1
    fn on_timer(&mut self, connection: &mut Connection, config: &TcpConfig, now: Instant) {
        connection.on_timeout(config, now);
        let board = &mut self.repairs(connection.una).board;
        board.update(connection.una, &[], |_| {});
        let before = board.lost();
        board.mark_all_lost(connection.max);
        connection.count_lost(board.lost() - before);
        self.has_sacked = board.sacked_count() > 0;
        self.retransmit_first = false;
        connection.arm_timer(config, now);
    }

    #[inline]
    fn chooses_next(&self, phase: Phase) -> bool {
        phase != Phase::Open || self.has_sacked
    }

    /// RFC 6675 §4 `NextSeg`
    #[inline]
    fn next(&mut self, connection: &mut Connection, config: &TcpConfig) -> Option<u64> {
        let Repairs { board, prr } = &mut **self.repairs.as_mut()?;
        let recovering = connection.phase == Phase::Recovery;
        let room = || has_room(prr.as_ref(), connection, config, || board.pipe(connection.max));
        if !(recovering && self.retransmit_first || room()) {
            connection.out_of_window();
            return None;
        }
        let packet = if let Some(lost) = board.next_lost() {
            board.retransmitted(lost);
            lost
        } else if connection.nxt < connection.send_limit_behind_holes(config) {
            connection.nxt += 1;
            connection.nxt - 1
        } else if let Some(hole) = board.next_unsacked().filter(|_| recovering) {
            board.retransmitted(hole);
            hole
        } else if let Some(last) = board.rescue(connection.max).filter(|_| recovering) {
            last
        } else {
            connection.out_of_data(board.pipe(connection.max));
            return None;
        };
        self.retransmit_first = false;
        if let Some(prr) = prr {
            prr.sent();
        }
        Some(packet)
    }

    fn is_urgent(&self) -> bool {
        self.retransmit_first
    }

    #[inline]
    fn in_network(&self, connection: &Connection) -> u64 {
        match &self.repairs {
            Some(repairs) if repairs.board.floor() == connection.una => repairs.board.pipe(connection.max),
            _ => connection.flight(),
        }
    }

    #[inline]
    fn sacked(&self) -> u64 {
        self.repairs.as_ref().map_or(0, |repairs| repairs.board.sacked_count())
    }

    fn account(&self, connection: &Connection) -> Account {
        let Some(repairs) = &self.repairs else { return Account::default() };
        let board = &repairs.board;
        let in_order = (connection.max - board.floor()) - board.sacked_count();
        let retransmitted = (board.pipe(connection.max) + board.lost()).saturating_sub(in_order);
        Account { arrived: board.sacked_count(), lost: board.lost(), retransmitted }
    }

    fn window(&self, connection: &Connection) -> f64 {
        let repairs = self.repairs.as_ref();
        let pipe = repairs.map_or(0, |repairs| repairs.board.pipe(connection.max));
        window_now(repairs.and_then(|repairs| repairs.prr.as_ref()), connection, pipe, self.retransmit_first)
    }

    fn restart(&mut self, base: u64) {
        if let Some(repairs) = &mut self.repairs {
            repairs.board.reset(base);
        }
        self.has_sacked = false;
        self.retransmit_first = false;
    }
}
