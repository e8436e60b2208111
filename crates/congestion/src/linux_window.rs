//! Linux's count towards the next packet of a window (`tcp_cong_avoid_ai`): windows are whole packets there, and
//! what was acknowledged towards one more, `snd_cwnd_cnt`, begins anew with each reduction (`tcp_init_cwnd_reduction`,
//! `tcp_enter_loss`).
//!
//! Read for these facts: net/ipv4/tcp_cong.c and net/ipv4/tcp_input.c of Linux 6.18.

use crate::window_based::Windows;

/// `snd_cwnd_cnt`.
#[derive(Clone, Debug, Default)]
pub(crate) struct TowardsNext {
    acked: f64,
}

impl TowardsNext {
    /// `acked` packets more, of `for_one` for one packet more of the window.
    #[inline]
    pub(crate) fn grow(&mut self, windows: &mut Windows, for_one: f64, acked: f64) {
        if self.acked >= for_one {
            self.acked = 0.0;
            windows.window += 1.0;
        }
        self.acked += acked;
        if self.acked >= for_one {
            let grown = libm::floor(self.acked / for_one);
            self.acked -= grown * for_one;
            windows.window += grown;
        }
    }

    /// The window is reduced.
    pub(crate) fn reset(&mut self) {
        self.acked = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_more_for_so_many_acknowledged() {
        let mut windows = Windows { window: 4.0, ssthresh: 2.0 };
        let mut towards = TowardsNext::default();
        let grown = [3.0, 2.0, 7.0, 0.0].map(|acked| {
            towards.grow(&mut windows, 4.0, acked);
            windows.window
        });
        assert_eq!(grown, [4.0, 5.0, 7.0, 7.0], "3; 1 is left; 8 are two packets; none is left");
        towards.grow(&mut windows, 4.0, 3.0);
        towards.reset();
        towards.grow(&mut windows, 4.0, 3.0);
        assert_eq!(windows.window, 7.0, "what was counted before a reduction counts no more");
    }

    #[test]
    fn what_was_counted_for_a_larger_window_is_one_packet_at_most() {
        let mut windows = Windows { window: 9.0, ssthresh: 2.0 };
        let mut towards = TowardsNext { acked: 8.0 };
        towards.grow(&mut windows, 4.0, 1.0);
        assert_eq!((windows.window, towards.acked), (10.0, 1.0));
    }
}
