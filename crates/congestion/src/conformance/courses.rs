//! Scripted courses: what cannot be seen in random events.

use super::events::{Flight, Happening, TAKEN};
use super::{Findings, Outcome, Watched, Which, STARTING};
use crate::{CongestionControl, Control, ControlConfig, Start};

/// Each applies a course of events to a new control, and judges its check.
pub(super) const COURSES: [fn(&ControlConfig, &mut Findings); 7] =
    [unused, answers_losses, recovers, slope, ssthresh, undo, idle_restart];

/// One course of a new control with a window of ten packets.
struct Course<'a> {
    which: Which,
    watched: Watched,
    events: usize,
    found: &'a mut Findings,
}

impl<'a> Course<'a> {
    fn new(which: Which, config: &ControlConfig, found: &'a mut Findings) -> Self {
        Self { which, watched: Watched::new(config, Start::NEW, Flight::Any), events: 0, found }
    }

    fn window(&self) -> f64 {
        self.watched.window()
    }

    /// An event; `None`: the control failed.
    fn apply(&mut self, event: Happening) -> Option<()> {
        self.events += 1;
        self.watched.apply(event, self.events - 1, self.found).then_some(())
    }

    /// Round trips without loss; `None`: the control failed.
    fn round_trips(&mut self, rounds: u32) -> Option<()> {
        self.watched.path.round_trips(&mut self.watched.control, rounds);
        self.happened(&format!("{rounds} round trips without loss"))
    }

    /// Another control steers it; `None`: the control failed.
    fn steer(&mut self, what: &str, steer: impl FnOnce(&mut Control)) -> Option<()> {
        steer(&mut self.watched.control);
        self.happened(what)
    }

    /// What is no event of its own; `None`: the control failed.
    fn happened(&mut self, what: &str) -> Option<()> {
        self.events += 1;
        (!self.found.failed(&self.watched.config, self.events - 1, &what)).then_some(())
    }

    fn in_flight(&self) -> u32 {
        (self.window() as u64).min(TAKEN) as u32
    }

    fn expect(&mut self, held: bool, happened: &str, found: impl FnOnce() -> String) {
        if !held {
            self.found.add(self.which, self.events - 1, &happened, found);
        }
    }

    /// Walks it; where the control fails on the way, its check saw nothing.
    fn walk(mut self, course: impl FnOnce(&mut Self) -> Option<()>) {
        let made = !self.found.failed(&self.watched.config, 0, &STARTING);
        if made && course(&mut self).is_some() {
            self.found.saw(self.which);
        }
    }
}

fn unused(config: &ControlConfig, found: &mut Findings) {
    Course::new(Which::unused, config, found).walk(|course| {
        for i in 0..1000 {
            let (gap_us, rtt_us, round_ended) = (1001, 10_000, i % 10 == 0);
            course.apply(Happening::Ack {
                gap_us,
                acked: 1,
                rtt_us,
                in_flight: 1,
                used: false,
                round_ended,
            })?;
            let window = course.window();
            if window > Start::NEW.window {
                course.expect(false, "ACKs with may_grow false", || {
                    format!("the window grew from {} to {window} packets", Start::NEW.window)
                });
                break;
            }
        }
        Some(())
    });
}

/// A control that models the path from rate samples, and paces, may answer to the rate that comes through instead.
fn answers_losses(config: &ControlConfig, found: &mut Findings) {
    let needs = config.needs();
    if needs.rate_samples && needs.pacing {
        return found.set(Which::answers_losses, Outcome::NotAsked);
    }
    Course::new(Which::answers_losses, config, found).walk(|course| {
        course.round_trips(8)?;
        let before = course.window();
        for _ in 0..20 {
            course.apply(Happening::Congestion { in_flight: course.in_flight(), ecn: false })?;
            course.apply(Happening::Recovered)?;
            course.round_trips(1)?;
        }
        let window = course.window();
        course.expect(window <= before / 2.0, "20 round trips with a loss each", || {
            format!("the window went from {before:.1} to {window:.1} packets")
        });
        Some(())
    });
}

/// A control of media grows with time, whatever the round trips.
fn recovers(config: &ControlConfig, found: &mut Findings) {
    if config.needs().arrival_times {
        return found.set(Which::recovers, Outcome::NotAsked);
    }
    Course::new(Which::recovers, config, found).walk(|course| {
        course.round_trips(8)?;
        course.apply(Happening::Timeout { in_flight: course.in_flight() })?;
        course.round_trips(100)?;
        let window = course.window();
        course.expect(window > 10.0, "a timeout, and 100 round trips without loss", || {
            format!("the window is {window:.1} packets")
        });
        Some(())
    });
}

/// For controls that can be steered so.
fn slope(config: &ControlConfig, found: &mut Findings) {
    if !config.steering().slope {
        return found.set(Which::slope, Outcome::NotAsked);
    }
    let mut plain = None;
    for slope in [1.0, 2.0] {
        Course::new(Which::slope, config, found).walk(|course| {
            course.round_trips(8)?;
            course.apply(Happening::Congestion { in_flight: course.in_flight(), ecn: false })?;
            course.apply(Happening::Recovered)?;
            course.steer("a slope is set", |control| control.set_slope(slope))?;
            let before = course.window();
            course.round_trips(20)?;
            let added = course.window() - before;
            let least = *plain.get_or_insert(added);
            course.expect(slope == 1.0 || added > least, "20 round trips at twice the slope", || {
                format!("{added:.1} packets were added, and {least:.1} at its own slope")
            });
            Some(())
        });
    }
}

/// For controls that can be steered so.
fn ssthresh(config: &ControlConfig, found: &mut Findings) {
    if !config.steering().ssthresh {
        return found.set(Which::ssthresh, Outcome::NotAsked);
    }
    let mut short = None;
    for ssthresh in [4.0, 40.0] {
        Course::new(Which::ssthresh, config, found).walk(|course| {
            course.round_trips(8)?;
            course.apply(Happening::Timeout { in_flight: course.in_flight() })?;
            course.steer("ssthresh is set", |control| control.set_ssthresh(ssthresh))?;
            let found = course.watched.control.ssthresh();
            course.expect(found == ssthresh, "ssthresh is set", || {
                format!("{ssthresh} packets became {found}")
            });
            course.round_trips(5)?;
            let window = course.window();
            let least = *short.get_or_insert(window);
            course.expect(ssthresh == 4.0 || window > least, "5 round trips after a timeout", || {
                format!("the window is {window:.1} packets, and {least:.1} with ssthresh 4 instead of 40")
            });
            Some(())
        });
    }
}

fn undo(config: &ControlConfig, found: &mut Findings) {
    Course::new(Which::undo, config, found).walk(|course| {
        course.round_trips(8)?;
        let (before, ssthresh) = (course.window(), course.watched.control.ssthresh());
        course.apply(Happening::Congestion { in_flight: course.in_flight(), ecn: false })?;
        let reduced = course.window();
        let happened = "a reduction is undone";
        course.steer(happened, |control| control.on_undo(before, ssthresh))?;
        let window = course.window();
        course.expect(reduced <= window && window <= before.max(reduced), happened, || {
            format!("the window went from {before:.1} to {reduced:.1}, and then to {window:.1} packets")
        });
        course.round_trips(1)
    });
}

/// A control that paces by a model of the path may keep it, as Linux does.
fn idle_restart(config: &ControlConfig, found: &mut Findings) {
    Course::new(Which::idle_restart, config, found).walk(|course| {
        course.round_trips(12)?;
        let (before, ssthresh) = (course.window(), course.watched.control.ssthresh());
        course.apply(Happening::IdleRestart { window: 5 })?;
        let (window, after) = (course.window(), course.watched.control.ssthresh());
        let kept = config.needs().pacing && window == before;
        let happened = "a restart after a pause with 5 packets";
        course.expect(window <= 5.0 || kept, happened, || format!("the window is {window:.1} packets"));
        course.expect(after == ssthresh, happened, || {
            format!("ssthresh went from {ssthresh:.1} to {after:.1} packets")
        });
        Some(())
    });
}
