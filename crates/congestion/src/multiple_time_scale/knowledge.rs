//! The common knowledge of connections: levels and counts of all connections to one destination (§5.5, "interconnection
//! sharing").
//!
//! A connection that is too short to learn anything finds what others have learnt. Levels are shared with the counts,
//! since these mean nothing without them: ranks are taken among the intervals of all. The chain of levels, A and the
//! interval under way stay each connection's own.
//!
//! *Time.* What a connection learns counts one interval later, for itself too. So nobody knows what has not happened
//! yet, in whatever order a simulator runs connections: each may be ahead of the others by its round trip, queue
//! included, as long as that is shorter than an interval (T_L is ten of them, or more). It is also what it takes to
//! tell a host's other connections.

use super::predictor::Predictor;
use super::quantiser::Quantiser;
use super::MultipleTimeScaleConfig;
use parshall_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

parshall_units::choice! {
    /// Who shares what was learnt.
    pub enum Sharing {
        /// Nobody.
        None = "none",
        /// The connections of a flow, each the next one's heir.
        Flow = "flow",
        /// All connections of the group.
        Group = "group",
    }
}

/// A table that several controls use: a clone is the same table.
#[derive(Clone, Debug)]
pub struct Knowledge(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    statistics: Statistics,
    interval: Duration,
    /// In the order of time.
    news: VecDeque<News>,
}

/// Levels and counts.
#[derive(Clone, Debug)]
struct Statistics {
    quantiser: Quantiser,
    predictor: Predictor,
}

/// The finding of an interval.
#[derive(Clone, Copy, Debug)]
struct News {
    at: Instant,
    delivered: f64,
    before: Option<usize>,
    level: usize,
}

impl Knowledge {
    pub(super) fn new(config: &MultipleTimeScaleConfig) -> Self {
        Self(Arc::new(Mutex::new(Table {
            statistics: Statistics {
                quantiser: Quantiser::new(config),
                predictor: Predictor::new(config.levels as usize, &config.prior),
            },
            interval: config.interval,
            news: VecDeque::new(),
        })))
    }

    /// An interval of a connection, which followed one of level `before`, ends at `now`: its level, and the one that is
    /// expected next.
    pub(super) fn on_interval(&self, now: Instant, delivered: f64, before: Option<usize>) -> (usize, f64) {
        let mut table = self.table();
        table.settle(now);
        let known = table.known(now);
        let level = known.quantiser.level_beside(delivered);
        table.announce(News { at: now, delivered, before, level });
        (level, known.predictor.expected(level))
    }

    // A panic of another connection left whole counts behind.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn announce(&mut self, news: News) {
        let place = self.news.iter().rposition(|other| other.at <= news.at).map_or(0, |last| last + 1);
        self.news.insert(place, news);
    }

    /// What is two intervals old is known to whoever may still ask.
    fn settle(&mut self, now: Instant) {
        while let Some(&first) = self.news.front() {
            if first.at + self.interval.times(2) > now {
                break;
            }
            self.news.pop_front();
            self.statistics.take_in(&first);
        }
    }

    /// What is known at `now`. (A copy an interval costs nothing that shows.)
    fn known(&self, now: Instant) -> Statistics {
        let mut statistics = self.statistics.clone();
        self.news
            .iter()
            .filter(|news| news.at + self.interval <= now)
            .for_each(|news| statistics.take_in(news));
        statistics
    }
}

impl Statistics {
    fn take_in(&mut self, news: &News) {
        self.quantiser.add(news.delivered);
        if let Some(before) = news.before {
            self.predictor.observe(before, news.level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::config;
    use super::super::QuantiserKind;
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(1000 * seconds)
    }

    fn fixed() -> MultipleTimeScaleConfig {
        MultipleTimeScaleConfig { quantiser: QuantiserKind::FixedRange, peak: 80.0, ..config() }
    }

    /// 160 packets in an interval are the peak: 130 have level 2, 10 level 8.
    #[test]
    fn what_one_learns_the_other_knows_an_interval_later() {
        let (one, other) = {
            let knowledge = Knowledge::new(&fixed());
            (knowledge.clone(), knowledge)
        };
        assert_eq!(one.on_interval(at(10), 130.0, None), (2, 2.0), "never seen: it predicts itself");
        assert_eq!(one.on_interval(at(12), 10.0, Some(2)), (8, 8.0));
        assert_eq!(
            other.on_interval(at(13), 130.0, None),
            (2, 2.0),
            "what ended a second ago is not known yet"
        );
        assert_eq!(other.on_interval(at(14), 130.0, None), (2, 8.0));
    }

    #[test]
    fn the_order_in_which_connections_are_run_does_not_matter() {
        let intervals = [(10, 130.0, None), (11, 90.0, Some(2)), (12, 10.0, Some(4)), (13, 130.0, Some(8))];
        let answers = |order: [usize; 4]| {
            let knowledge = Knowledge::new(&MultipleTimeScaleConfig { memory: 3, ..config() });
            let mut found = [(0, 0.0); 4];
            // Neighbours, which are less than an interval apart, may be run in any order.
            for i in order {
                let (seconds, delivered, before) = intervals[i];
                found[i] = knowledge.on_interval(at(seconds), delivered, before);
            }
            (found, knowledge.on_interval(at(20), 100.0, None))
        };
        let expected = answers([0, 1, 2, 3]);
        assert_eq!(answers([1, 0, 2, 3]), expected);
        assert_eq!(answers([1, 0, 3, 2]), expected);
        assert_eq!(answers([0, 2, 1, 3]), expected);
    }

    #[test]
    fn ranks_are_taken_among_the_intervals_of_all() {
        let knowledge = Knowledge::new(&config());
        for (second, delivered) in (0u16..).zip([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]) {
            knowledge.on_interval(at(u64::from(second)), delivered, None);
        }
        // Beside seven others, the eighth value of eight has the rank 7.5/8.
        assert_eq!(knowledge.on_interval(at(100), 80.0, None).0, 1);
        assert_eq!(knowledge.on_interval(at(101), 5.0, None).0, 8);
    }
}
