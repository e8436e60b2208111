//! The hooks of a congestion control, declared once.
//!
//! [`for_each_hook`] is the one list. From it follow:
//!
//! | what | where |
//! | --- | --- |
//! | [`CongestionControl`], the trait of a control, with the defaults of the list | `declare_trait` |
//! | [`Wrapper`], for types before another control: it forwards the hooks that they do not define | `declare_wrapper` |
//! | the dispatch of [`Kind`](crate::Kind) over the catalog | `dispatch`, in `catalog.rs` |
//! | the control that counts its calls, by which tests see that nothing is lost on the way | `tests.rs` |
//!
//! So a new hook is an entry of the list and nothing else. No forwarding type has a default body of its own that could
//! swallow it. [`ExternalControl`](crate::ExternalControl) offers some of the hooks to foreign code; clippy refuses it
//! while it lacks one.

#[cfg(test)]
pub(crate) mod tests;

use crate::{AckEvent, CongestionEvent, Needs, TransmissionStart};
use parshall_units::parameters::Reader;
use parshall_units::Instant;

/// Calls a macro with its context and all hooks: those that only read the control, and those that may change it.
/// Behind `=` is the default of a control that does not define the hook.
macro_rules! for_each_hook {
    ($macro:ident $context:tt) => {
        $macro! {
            $context
            reads {
                /// What it needs of the endpoint: the same for the whole connection.
                fn needs(&self) -> Needs = Needs::NONE;

                /// The congestion window in packets; at least 1 and finite.
                fn window(&self) -> f64;

                /// The slow-start threshold in packets; infinite until the first congestion event.
                fn ssthresh(&self) -> f64;

                /// The rate at which to space packets, in packets/s, for controls that [set one](Needs::pacing).
                /// `None`: the endpoint paces by window over RTT if it paces at all.
                fn pacing_rate(&self) -> Option<f64> = None;

                /// Passes the inner variables that have a value now to `reader`; the catalog lists all of them.
                fn read_variables(&self, reader: &mut Reader<'_>) = ();
            }
            changes {
                /// New data was acknowledged. A control that needs [rate samples](Needs::rate_samples) gets every ACK
                /// that reports packets as delivered, those of SACK too, with its sample.
                fn on_ack(&mut self, ack: &AckEvent);

                /// A packet of a receiver's report: when it was sent, and when it arrived by the receiver's clock.
                /// Packets come in order of arrival, before [`on_ack`](Self::on_ack) of the report; only for controls
                /// that need [arrival times](Needs::arrival_times).
                fn on_arrival(&mut self, sent: Instant, arrived: Instant) = ();

                /// A loss was found, or ECN echoed: reduce.
                fn on_congestion(&mut self, event: &CongestionEvent);

                /// The retransmission timer expired: reduce, and start again from one packet.
                fn on_timeout(&mut self, event: &CongestionEvent);

                /// Data is to be sent after a pause of a retransmission timeout or more. A control with a window of its
                /// own limits it to the restart window and keeps everything else (RFC 5681 §4.1). One that models the
                /// path keeps its model, as Linux does.
                fn on_idle_restart(&mut self, restart_window: f64) = ();

                /// A packet is about to be sent while none is outstanding.
                fn on_transmission_start(&mut self, start: &TransmissionStart) = ();

                /// Loss recovery ended: everything sent before the congestion event was acknowledged.
                fn on_recovered(&mut self) = ();

                /// The last reduction is undone, since no packet was lost but some were late. `window` and `ssthresh`
                /// are those before it. A control whose window is not a state of its own only undoes what it learnt of
                /// the loss.
                fn on_undo(&mut self, window: f64, ssthresh: f64) = {
                    self.set_ssthresh(ssthresh.max(self.ssthresh()));
                    self.set_window(window.max(self.window()));
                };

                /// Ends the standard slow start from outside: ssthresh becomes the window. Returns `false`, and does
                /// nothing, if the control has a slow start of its own.
                fn end_slow_start(&mut self) -> bool = false;

                /// Multiplies the increase of congestion avoidance from now on. Controls that cannot be steered so do
                /// nothing.
                fn set_slope(&mut self, slope: f64) = ();

                /// Slow start ends at this window from now on.
                fn set_ssthresh(&mut self, ssthresh: f64) = ();

                /// The endpoint has set the window itself, as Linux does in loss recovery. Controls whose window is not
                /// a state of their own do nothing.
                fn set_window(&mut self, window: f64) = ();

                /// Sets the phase in which a cycle of gains begins. A kernel draws it at random, and a replay takes
                /// over the kernel's.
                fn set_phase(&mut self, phase: usize) = ();
            }
        }
    };
}
pub(crate) use for_each_hook;

/// A hook of a trait: with a body if there is a default.
macro_rules! declared {
    ({ $($signature:tt)* } $default:expr) => { $($signature)* { $default } };
    ({ $($signature:tt)* }) => { $($signature)*; };
}

macro_rules! declare_trait {
    (
        ()
        reads { $($(#[$about:meta])* fn $read:ident(&$this:ident $(, $given:ident: $type:ty)*)
            $(-> $answer:ty)? $(= $none:expr)?;)* }
        changes { $($(#[$about_change:meta])* fn $change:ident(&mut $same:ident $(, $told:ident: $told_type:ty)*)
            $(-> $result:ty)? $(= $nothing:expr)?;)* }
    ) => {
        /// A congestion control.
        #[allow(unused_variables)] // of defaults, which have the names that the documentation shows
        pub trait CongestionControl {
            $(declared! { { $(#[$about])* fn $read(&$this $(, $given: $type)*) $(-> $answer)? } $($none)? })*
            $(declared! {
                { $(#[$about_change])* fn $change(&mut $same $(, $told: $told_type)*) $(-> $result)? } $($nothing)?
            })*
        }
    };
}

macro_rules! declare_wrapper {
    (
        ()
        reads { $($(#[$about:meta])* fn $read:ident(&$this:ident $(, $given:ident: $type:ty)*)
            $(-> $answer:ty)? $(= $none:expr)?;)* }
        changes { $($(#[$about_change:meta])* fn $change:ident(&mut $same:ident $(, $told:ident: $told_type:ty)*)
            $(-> $result:ty)? $(= $nothing:expr)?;)* }
    ) => {
        /// A type that stands before another control. It is a [`CongestionControl`] itself, and forwards every hook
        /// that it does not define.
        #[allow(missing_docs)] // as in `CongestionControl`
        pub trait Wrapper {
            /// The control behind it.
            type Inner: CongestionControl;

            fn inner(&self) -> &Self::Inner;

            fn inner_mut(&mut self) -> &mut Self::Inner;

            /// A forwarded hook may have changed the control behind it.
            fn on_changed(&mut self);

            $(
                #[inline]
                fn $read(&$this $(, $given: $type)*) $(-> $answer)? {
                    $this.inner().$read($($given),*)
                }
            )*
            $(
                #[inline]
                fn $change(&mut $same $(, $told: $told_type)*) $(-> $result)? {
                    let result = $same.inner_mut().$change($($told),*);
                    $same.on_changed();
                    result
                }
            )*
        }

        impl<W: Wrapper> CongestionControl for W {
            $(
                #[inline]
                fn $read(&$this $(, $given: $type)*) $(-> $answer)? {
                    Wrapper::$read($this $(, $given)*)
                }
            )*
            $(
                #[inline]
                fn $change(&mut $same $(, $told: $told_type)*) $(-> $result)? {
                    Wrapper::$change($same $(, $told)*)
                }
            )*
        }
    };
}

for_each_hook!(declare_trait());
for_each_hook!(declare_wrapper());
