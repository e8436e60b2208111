//! Every hook reaches the control behind each type that forwards. The test is made of the list of hooks, so that it
//! covers new ones.

use super::for_each_hook;
use crate::{
    AckEvent, CongestionControl, CongestionEvent, Control, Kind, Needs, Signal, SlowStart, SlowStartChoice,
    TransmissionStart,
};
use parshall_units::parameters::Reader;
use parshall_units::{Duration, Instant};
use std::cell::RefCell;

thread_local! {
    /// Hooks of [`Probe`] that were called.
    static CALLED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// A control that notes which of its hooks are called.
#[derive(Debug)]
pub struct Probe;

/// An argument for a hook, or an answer of [`Probe`] that no default gives.
trait Sample {
    fn sample() -> Self;
}

macro_rules! samples {
    ($($type:ty: $value:expr),* $(,)?) => {
        $(impl Sample for $type {
            fn sample() -> Self {
                $value
            }
        })*
    };
}

const CONGESTION: CongestionEvent =
    CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 10 };

samples! {
    (): (),
    bool: true,
    usize: 3,
    f64: 10.0,
    Option<f64>: Some(10.0),
    Instant: Instant::ZERO,
    Needs: Needs { from_reports: true, ..Needs::MODEL_OF_THE_PATH },
    &AckEvent: Box::leak(Box::new(AckEvent::of_one_packet(Instant::ZERO, Duration::from_millis(1)))),
    &CongestionEvent: &CONGESTION,
    &TransmissionStart: &TransmissionStart {
        now: Instant::ZERO,
        app_limited: false,
        srtt: Duration::ZERO,
        min_rtt: Duration::MAX,
    },
    &mut Reader<'static>: Box::leak(Box::new(|_: &'static str, _: f64| {})),
}

macro_rules! probe_hooks {
    (
        ()
        reads { $($(#[$about:meta])* fn $read:ident(&$this:ident $(, $given:ident: $type:ty)*)
            $(-> $answer:ty)? $(= $none:expr)?;)* }
        changes { $($(#[$about_change:meta])* fn $change:ident(&mut $same:ident $(, $told:ident: $told_type:ty)*)
            $(-> $result:ty)? $(= $nothing:expr)?;)* }
    ) => {
        #[allow(unused_variables)]
        impl CongestionControl for Probe {
            $(fn $read(&$this $(, $given: $type)*) $(-> $answer)? {
                CALLED.with_borrow_mut(|called| called.push(stringify!($read)));
                Sample::sample()
            })*
            $(fn $change(&mut $same $(, $told: $told_type)*) $(-> $result)? {
                CALLED.with_borrow_mut(|called| called.push(stringify!($change)));
                Sample::sample()
            })*
        }

        /// Calls all hooks, and returns those that did not reach the probe, or of which the answer was another one.
        pub(crate) fn lost(control: &mut impl CongestionControl) -> Vec<&'static str> {
            let mut lost = Vec::new();
            $({
                CALLED.take();
                let given = control.$read($(<$type as Sample>::sample()),*);
                let arrived = REMEMBERED.contains(&stringify!($read)) || CALLED.take().contains(&stringify!($read));
                if given != Probe.$read($(<$type as Sample>::sample()),*) || !arrived {
                    lost.push(stringify!($read));
                }
            })*
            $({
                CALLED.take();
                let result = control.$change($(<$told_type as Sample>::sample()),*);
                if !CALLED.take().contains(&stringify!($change))
                    || result != Probe.$change($(<$told_type as Sample>::sample()),*) {
                    lost.push(stringify!($change));
                }
            })*
            lost
        }
    };
}

/// A type may answer these from what the control answered last.
const REMEMBERED: [&str; 3] = ["window", "ssthresh", "pacing_rate"];

for_each_hook!(probe_hooks());

pub(crate) fn probe() -> Kind {
    Kind::Probe(Box::new(Probe))
}

#[test]
fn the_list_has_hooks_and_the_check_can_fail() {
    struct Forgetful(Kind);
    impl CongestionControl for Forgetful {
        fn window(&self) -> f64 {
            self.0.window()
        }
        fn ssthresh(&self) -> f64 {
            self.0.ssthresh()
        }
        fn on_ack(&mut self, ack: &AckEvent) {
            self.0.on_ack(ack);
        }
        fn on_congestion(&mut self, event: &CongestionEvent) {
            self.0.on_congestion(event);
        }
        fn on_timeout(&mut self, _: &CongestionEvent) {}
    }
    let lost = lost(&mut Forgetful(probe()));
    assert!(["needs", "on_timeout", "on_arrival", "set_phase"].iter().all(|hook| lost.contains(hook)));
    assert!(!lost.contains(&"on_ack"), "{lost:?}");
}

#[test]
fn a_kind_forwards_every_hook() {
    assert_eq!(lost(&mut probe()), [""; 0]);
}

#[test]
fn a_control_forwards_every_hook() {
    assert_eq!(lost(&mut Control::plain(probe())), [""; 0]);
}

#[test]
fn slow_starts_forward_every_hook() {
    for kind in [SlowStart::HyStart, SlowStart::Limited] {
        let choice = SlowStartChoice { kind, max_ssthresh: 100.0, paced: false };
        assert_eq!(lost(&mut choice.before(probe())), [""; 0], "{kind:?}");
    }
}
