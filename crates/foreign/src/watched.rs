//! Makers of controls that note in a page when foreign code is entered and left.

use crate::page::{Page, NO_GROUP};
use parshall_congestion::external::{Answer, External, Maker, Makers, Response};
use parshall_congestion::{AckEvent, CongestionEvent, Start};
use parshall_units::parameters::Reader;
use parshall_units::Instant;
use std::sync::Arc;

/// Memory of a packet in flight, bytes: what the sender remembers of it, its place in queues, and room to grow of both.
/// Measured with windows of 10^6 to 9 10^6 packets: 16 to 50; with RACK and many losses 75.
const BYTES_IN_FLIGHT: f64 = 100.0;

/// The largest window, in packets, whose packets in flight fit into so many bytes of memory.
pub fn largest_window(bytes: u64) -> f64 {
    (bytes as f64 / BYTES_IN_FLIGHT).max(1.0).floor()
}

/// Makers whose controls note in `page` when they are called, and which refuse windows above `largest_window`.
///
/// `group`: the number of the group of flows whose controls these are, if it is a simulation.
pub fn watched(makers: &Makers, page: Page, group: Option<u32>, largest_window: f64) -> Makers {
    let group = group.map_or(NO_GROUP, u64::from);
    let watched = |maker: &Arc<dyn Maker>| -> Arc<dyn Maker> {
        Arc::new(Watched { maker: Arc::clone(maker), page, group, largest_window })
    };
    makers.iter().map(|(name, maker)| (name.clone(), watched(maker))).collect()
}

#[derive(Debug)]
struct Watched {
    maker: Arc<dyn Maker>,
    page: Page,
    group: u64,
    largest_window: f64,
}

impl Maker for Watched {
    fn make(&self, parameters: &str, start: Start) -> Result<(Box<dyn External>, Answer), String> {
        let at = start.at;
        self.page.enter(at.as_ps(), self.group);
        let made = self.maker.make(parameters, start);
        self.page.leave();
        made.map(|(control, answer)| {
            let (page, group) = (self.page, self.group);
            let watched = WatchedControl { control: Some(control), page, group, now: at };
            (Box::new(watched) as Box<dyn External>, answer)
        })
    }

    fn largest_window(&self) -> f64 {
        self.largest_window.min(self.maker.largest_window())
    }
}

#[derive(Debug)]
struct WatchedControl {
    /// `None` at its end.
    control: Option<Box<dyn External>>,
    page: Page,
    group: u64,
    /// Of the last event.
    now: Instant,
}

impl WatchedControl {
    /// Calls the control, if it has not ended, and notes that.
    #[inline]
    fn note<T>(&mut self, call: impl FnOnce(&mut dyn External) -> T) -> Option<T> {
        let control = self.control.as_mut()?;
        self.page.enter(self.now.as_ps(), self.group);
        let answer = call(&mut **control);
        self.page.leave();
        Some(answer)
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn External) -> Response) -> Response {
        self.note(call).unwrap_or_else(|| Err("it has ended".into()))
    }
}

impl External for WatchedControl {
    fn on_ack(&mut self, ack: &AckEvent) -> Response {
        self.now = ack.now;
        self.call(|control| control.on_ack(ack))
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> Response {
        self.now = event.now;
        self.call(|control| control.on_congestion(event))
    }

    fn on_timeout(&mut self, event: &CongestionEvent) -> Response {
        self.now = event.now;
        self.call(|control| control.on_timeout(event))
    }

    fn on_idle_restart(&mut self, restart_window: f64) -> Response {
        self.call(|control| control.on_idle_restart(restart_window))
    }

    fn on_recovered(&mut self) -> Response {
        self.call(|control| control.on_recovered())
    }

    fn on_undo(&mut self, window: f64, ssthresh: f64) -> Response {
        self.call(|control| control.on_undo(window, ssthresh))
    }

    fn end_slow_start(&mut self) -> Option<Response> {
        self.note(|control| control.end_slow_start()).flatten()
    }

    fn set_slope(&mut self, slope: f64) -> Response {
        self.call(|control| control.set_slope(slope))
    }

    fn set_ssthresh(&mut self, ssthresh: f64) -> Response {
        self.call(|control| control.set_ssthresh(ssthresh))
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let Some(control) = &self.control else { return };
        self.page.enter(self.now.as_ps(), self.group);
        control.read_variables(reader);
        self.page.leave();
    }
}

/// The end of a control is foreign code as well.
impl Drop for WatchedControl {
    fn drop(&mut self) {
        self.page.enter(self.now.as_ps(), self.group);
        self.control = None;
        self.page.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::of_zeros;
    use parshall_units::Duration;

    /// Answers the state of the page while it is called.
    #[derive(Debug)]
    struct Reads(Page);

    impl Reads {
        fn answer(&self) -> Answer {
            let [calls, at_ps, group, ..] = self.0.words();
            assert_eq!(calls % 2, 1, "a call is under way");
            Answer { window: at_ps as f64, ssthresh: group as f64, pacing_rate: Some(calls as f64) }
        }
    }

    impl External for Reads {
        fn on_ack(&mut self, _: &AckEvent) -> Response {
            Ok(self.answer())
        }
        fn on_congestion(&mut self, _: &CongestionEvent) -> Response {
            Ok(self.answer())
        }
        fn on_timeout(&mut self, _: &CongestionEvent) -> Response {
            Ok(self.answer())
        }
        fn on_idle_restart(&mut self, _: f64) -> Response {
            Ok(self.answer())
        }
        fn on_recovered(&mut self) -> Response {
            Ok(self.answer())
        }
        fn on_undo(&mut self, _: f64, _: f64) -> Response {
            Ok(self.answer())
        }
        fn end_slow_start(&mut self) -> Option<Response> {
            Some(Ok(self.answer()))
        }
        fn set_slope(&mut self, _: f64) -> Response {
            Ok(self.answer())
        }
        fn set_ssthresh(&mut self, _: f64) -> Response {
            Ok(self.answer())
        }
        fn read_variables(&self, reader: &mut Reader<'_>) {
            reader("calls", self.answer().pacing_rate.unwrap());
        }
    }

    impl Drop for Reads {
        fn drop(&mut self) {
            self.answer();
        }
    }

    #[derive(Debug)]
    struct MakesReads(Page);

    impl Maker for MakesReads {
        fn make(&self, _: &str, _: Start) -> Result<(Box<dyn External>, Answer), String> {
            let control = Reads(self.0);
            let answer = control.answer();
            Ok((Box::new(control), answer))
        }
    }

    #[test]
    fn each_call_is_noted_with_time_and_group() {
        let (_file, page) = of_zeros();
        let makers: Makers = [("mine".into(), Arc::new(MakesReads(page)) as Arc<dyn Maker>)].into();
        let maker = &watched(&makers, page, Some(3), 50.0)["mine"];
        assert_eq!(maker.largest_window(), 50.0);
        let at = Instant::from_ps(7);
        let start = Start { at, ..Start::NEW };
        let (mut control, answer) = maker.make("{}", start).unwrap();
        assert_eq!((answer.window, answer.ssthresh, answer.pacing_rate), (7.0, 3.0, Some(1.0)));
        let event = CongestionEvent {
            now: at + Duration::from_ps(2),
            signal: parshall_congestion::Signal::Loss,
            in_flight: 1,
        };
        let mut calls = 3.0;
        let mut check = |response: Response, window: f64| {
            let answer = response.unwrap();
            assert_eq!((answer.window, answer.ssthresh, answer.pacing_rate), (window, 3.0, Some(calls)));
            calls += 2.0;
        };
        check(control.set_slope(2.0), 7.0);
        check(control.on_timeout(&event), 9.0);
        check(control.on_recovered(), 9.0);
        check(control.end_slow_start().unwrap(), 9.0);
        let mut read = 0.0;
        control.read_variables(&mut |_, value| read = value);
        assert_eq!(read, calls);
        drop(control);
        assert_eq!(page.words()[0], calls as u64 + 3, "no call is under way");
    }

    #[test]
    fn the_largest_window_fits_into_memory() {
        assert_eq!(largest_window(4_000_000_000), 4e7);
        assert_eq!(largest_window(0), 1.0);
    }
}
