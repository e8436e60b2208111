//! The window that a receiver of Linux offers stops a sender behind a hole (`__tcp_select_window`, `tcp_snd_wnd_test`).

mod path;

use parshall_congestion::{Control, ControlConfig, RenoConfig, Start};
use parshall_tcp::segment::NO_WINDOW;
use parshall_tcp::{Recovery, Rules, Sender, TcpConfig};
use parshall_units::{Instant, Packets};
use path::{config, milliseconds, only, Path};
use proptest::prelude::*;

/// The first packet that is lost, each time that it is sent until `UNTIL_MS`: 28 round trips.
const LOST: u64 = 400;
const UNTIL_MS: u64 = 3_000;

fn config_of(rules: Rules) -> TcpConfig {
    TcpConfig { rules, handshake: true, initial_window: Packets(10), prr: true, ..config(Recovery::Rack) }
}

/// A transfer that loses one packet again and again, with a window that is hardly reduced.
fn behind_a_hole(rules: Rules) -> Path {
    let config = config_of(rules);
    let control = ControlConfig::Reno(RenoConfig { increase: 1.0, decrease: 0.9, ecn_decrease: 0.0 });
    let ssthresh = 64.0;
    let control: Control = control.build(Start { window: 10.0, ssthresh, ..Start::NEW });
    let mut path = Path::new(config.clone(), 5_000);
    path.sender = Sender::new(&config, control, 1, Instant::ZERO);
    path.sender.supply(5_000);
    path.hole = Some((LOST, Instant::from_ps(UNTIL_MS * 1_000_000_000)));
    path
}

/// So many packets beyond the hole have been sent when it is filled.
fn sent_beyond(path: &mut Path) -> u64 {
    path.pump();
    let mut beyond = 0;
    while !path.sender.is_complete() {
        assert!(path.step(), "a sender that the window stops goes on");
        if path.sender.una() == LOST {
            beyond = path.sender.max() - LOST;
        }
    }
    beyond
}

#[test]
fn a_hole_of_many_round_trips_stops_a_sender() {
    let (mut linux, mut rfc) = (behind_a_hole(only(&["receive_buffer"])), behind_a_hole(Rules::RFC));
    let (stopped, goes_on) = (sent_beyond(&mut linux), sent_beyond(&mut rfc));
    assert!(goes_on > 1_000, "{goes_on}");
    // Some four windows: slow start had the buffer made for twice its 40 packets, and for what these would have become.
    assert!((200..400).contains(&stopped), "{stopped}");
    assert!(milliseconds(linux.now) > UNTIL_MS);
}

proptest! {
    /// Whatever is lost: what a receiver has offered it takes, and nothing beyond it is sent. Without holes it says of
    /// no window.
    #[test]
    fn nothing_is_sent_beyond_what_was_offered(
        lost in prop::collection::btree_set(0u64..400, 0..60), lost_acks in prop::collection::btree_set(0u64..300, 0..30), packets in 50u64..400,
    ) {
        let mut path = Path::new(config_of(only(&["receive_buffer"])), packets);
        (path.lost_segments, path.lost_acks) = (lost, lost_acks);
        path.pump();
        let (mut offered, mut end) = (0, None);
        while !path.sender.is_complete() {
            let (sent, una, acks) = (path.sender.max(), path.sender.una(), path.acks.len());
            let first = path.acks.front().copied();
            prop_assert!(path.step());
            if let Some((_, ack)) = path.acks.back().filter(|_| path.acks.len() > acks) {
                prop_assert_eq!(ack.window == NO_WINDOW, ack.sack[0].is_empty() || ack.sack[0].end <= ack.cumulative && ack.sack[1].is_empty());
                if let Some(last) = ack.window_end() {
                    prop_assert!(last >= offered, "taken back");
                    offered = last;
                }
            }
            if let Some((at, ack)) = first.filter(|_| path.acks.len() < acks) {
                prop_assert!(at <= path.now);
                if ack.cumulative >= una {
                    end = ack.window_end().map(|last| end.map_or(last, |known: u64| known.max(last)));
                }
            }
            if let Some(end) = end {
                prop_assert!(path.sender.max() <= end.max(sent), "beyond what is taken");
            }
        }
        prop_assert_eq!(path.fresh, packets);
    }
}
