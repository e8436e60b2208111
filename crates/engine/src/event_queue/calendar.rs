//! A calendar queue: what happens later, in buckets of equal time.
//!
//! With a million flows a heap's path from root to leaf is twenty lines of memory that no cache has. A bucket takes an
//! event with a single store, and is looked at again when its time has come. Because a bucket's events are known before
//! they happen, the memory of their flows can be asked for in time.
//!
//! | | |
//! | --- | --- |
//! | bucket b | events from b to b + 1 in units of 2^`shift` ps |
//! | `current` | the bucket whose events the queue's heap holds |
//! | season s | events of the buckets from s to s + 1 in units of 2^`season_shift`, which are a quarter of those there are |
//! | `dealt` | the first season whose events are not dealt out to buckets yet |
//! | `later` | events too late for the seasons there are: a heap |
//!
//! A bucket's width follows the density of events, so that a bucket holds about [`TARGET`] of them. Then the buckets of
//! a million flows reach no further than a round trip time, and timers would all go through the heap: seasons take them
//! with a single store too, and each is dealt out when its buckets come within reach.
//!
//! References: R. Brown, Calendar queues, Communications of the ACM 31(10), 1988. There a bucket is a sorted list and
//! comes round every year; here it is unsorted, and what is more than a year ahead waits elsewhere. G. Varghese, T.
//! Lauck, Hashed and hierarchical timing wheels, SOSP 1987, scheme 7: what is far ahead in coarser units.

use super::heap::Heap;
use super::key::{entity_of, time_of};
use crate::event::Entity;
use crate::memory::{bytes_of, prefetch, Advice};
use parshall_units::Instant;

/// Events a bucket should hold: their flows, and those of the next bucket, fit in the second cache.
const TARGET: u64 = 16;

/// Keys a page holds: two lines of memory with the link.
const PAGE: u32 = 7;

/// Seasons ahead: with a quarter of a round trip time each, they reach as far as timers do.
const SEASONS: usize = 256;

/// Some keys of a bucket, and the page before this one in the same bucket, which is full.
#[derive(Clone, Copy)]
#[repr(align(128))]
struct Page {
    keys: [u128; PAGE as usize],
    before: u32,
}

/// The newest page of a bucket and the keys in it, in one word; page 0 is none.
#[derive(Clone, Copy, Default)]
struct Head(u32);

impl Head {
    fn new(page: u32, count: u32) -> Self {
        Self(page << 3 | count)
    }

    fn page(self) -> u32 {
        self.0 >> 3
    }

    fn count(self) -> u32 {
        self.0 & 7
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The later events.
pub(crate) struct Calendar {
    shift: u32,
    current: u64,
    heads: Box<[Head]>,
    season_shift: u32,
    dealt: u64,
    seasons: [Head; SEASONS],
    pages: Vec<Page>,
    /// The first of the pages that hold nothing; 0: none.
    free: u32,
    /// Keys in buckets, and in seasons.
    held: usize,
    held_for_seasons: usize,
    later: Heap,
    /// What has not been looked at of the bucket that comes next.
    unseen: Head,
    turned: bool,
    /// Buckets that came, and events in them, since the width was considered.
    buckets: u64,
    events: u64,
}

/// The width that suits the density of the earlier half of all keys.
pub(super) fn shift_for(all: &Heap) -> u32 {
    let mut times: Vec<u64> = all.keys().map(time_of).collect();
    let half = times.len() / 2;
    let (early, &mut median, _) = times.select_nth_unstable(half);
    let first = early.iter().min().copied().unwrap_or(median);
    shift_of((median - first) as f64 / half.max(1) as f64 * TARGET as f64)
}

/// The power of two next to a width in picoseconds.
fn shift_of(width_ps: f64) -> u32 {
    (width_ps.max(1.0) as u64).ilog2().clamp(4, 40)
}

impl Calendar {
    /// An empty one for about so many events, none of which is before `now`.
    pub(super) fn new(now: Instant, shift: u32, events: usize, advice: Advice) -> Self {
        let buckets = (3 * events / TARGET as usize).next_power_of_two().max(64);
        let mut heads = Vec::with_capacity(buckets);
        advice(bytes_of(heads.spare_capacity_mut()));
        heads.resize(buckets, Head::default());
        let mut pages = Vec::with_capacity(buckets + events / PAGE as usize);
        advice(bytes_of(pages.spare_capacity_mut()));
        pages.push(Page { keys: [0; PAGE as usize], before: 0 });
        let (current, season_shift) = (now.as_ps() >> shift, buckets.ilog2() - 2);
        Self {
            shift,
            current,
            heads: heads.into_boxed_slice(),
            season_shift,
            dealt: (current >> season_shift) + 4, // all that lies within reach, `heads.len()` buckets from `current`
            seasons: [Head::default(); SEASONS],
            pages,
            free: 0,
            held: 0,
            held_for_seasons: 0,
            later: Heap::new(),
            unseen: Head::default(),
            turned: false,
            buckets: 0,
            events: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.held + self.held_for_seasons + self.later.len()
    }

    fn bucket(&self, key: u128) -> u64 {
        time_of(key) >> self.shift
    }

    /// Index in `heads` of a bucket.
    fn place(&self, bucket: u64) -> usize {
        bucket as usize & (self.heads.len() - 1)
    }

    /// Keeps an event that is not before the end of the current bucket.
    #[inline]
    pub(super) fn insert(&mut self, key: u128) {
        let season = self.bucket(key) >> self.season_shift;
        if season < self.dealt {
            self.write_down(key);
        } else if season - self.dealt < SEASONS as u64 {
            self.held_for_seasons += 1;
            let place = season as usize % SEASONS;
            self.seasons[place] = self.added(self.seasons[place], key);
        } else {
            self.later.push(key);
        }
    }

    #[inline]
    fn write_down(&mut self, key: u128) {
        self.held += 1;
        let place = self.place(self.bucket(key));
        self.heads[place] = self.added(self.heads[place], key);
    }

    /// What a bucket or a season is with another key.
    #[inline]
    fn added(&mut self, head: Head, key: u128) -> Head {
        let (page, count) = if head.is_empty() || head.count() == PAGE {
            (self.new_page(head.page()), 0)
        } else {
            (head.page(), head.count())
        };
        self.pages[page as usize].keys[count as usize] = key;
        Head::new(page, count + 1)
    }

    fn new_page(&mut self, before: u32) -> u32 {
        let page = self.free;
        if page == 0 {
            self.pages.push(Page { keys: [0; PAGE as usize], before });
            return (self.pages.len() - 1) as u32;
        }
        let memory = &mut self.pages[page as usize];
        self.free = memory.before;
        memory.before = before;
        page
    }

    /// Gives `near` the events of the next bucket that has some; returns that bucket's end.
    #[inline(never)]
    pub(super) fn turn(&mut self, near: &mut Heap) -> Instant {
        loop {
            self.deal_out();
            let place = self.place(self.current);
            let mut head = std::mem::take(&mut self.heads[place]);
            while let Some((keys, count)) = self.take_page(&mut head) {
                self.held -= count;
                keys[..count].iter().for_each(|&key| near.push(key));
            }
            if !near.is_empty() || self.len() == 0 {
                break;
            }
            self.buckets += 1;
            self.current = self.next_bucket();
        }
        self.events += near.len() as u64;
        self.turned = true;
        self.unseen = self.heads[self.place(self.current + 1)];
        Instant::from_ps((self.current + 1) << self.shift)
    }

    /// The bucket after the current one; if no bucket holds anything, the first one of the season that does.
    fn next_bucket(&mut self) -> u64 {
        if self.held > 0 {
            return self.current + 1;
        }
        let mut ahead = self.dealt..self.dealt + SEASONS as u64;
        if let Some(season) = ahead.find(|&season| !self.seasons[season as usize % SEASONS].is_empty()) {
            return (season << self.season_shift).max(self.current + 1);
        }
        let Some(bucket) = self.later.peek().map(|key| self.bucket(key)) else { return self.current + 1 };
        self.dealt = self.dealt.max(bucket >> self.season_shift); // nothing is in those before
        bucket
    }

    /// Deals out the seasons whose buckets are all within reach, as many as there are buckets from the current one on.
    #[inline]
    fn deal_out(&mut self) {
        let reach = self.current + self.heads.len() as u64;
        while (self.dealt + 1) << self.season_shift <= reach {
            self.deal_out_next();
        }
    }

    #[inline(never)]
    fn deal_out_next(&mut self) {
        let mut head = std::mem::take(&mut self.seasons[self.dealt as usize % SEASONS]);
        self.dealt += 1;
        while let Some((keys, count)) = self.take_page(&mut head) {
            self.held_for_seasons -= count;
            keys[..count].iter().for_each(|&key| self.write_down(key));
        }
        let beyond = (self.dealt + SEASONS as u64) << self.season_shift;
        while let Some(key) = self.later.peek().filter(|&key| self.bucket(key) < beyond) {
            self.later.pop();
            self.insert(key);
        }
    }

    /// Takes the newest page out of a bucket or season: its keys, and how many there are.
    #[inline]
    fn take_page(&mut self, head: &mut Head) -> Option<([u128; PAGE as usize], usize)> {
        if head.is_empty() {
            return None;
        }
        let page = &mut self.pages[head.page() as usize];
        let taken = (page.keys, head.count() as usize);
        let before = std::mem::replace(&mut page.before, self.free);
        self.free = head.page();
        *head = full(before);
        prefetch(&self.pages[before as usize]);
        Some(taken)
    }

    /// Gives all events away.
    pub(super) fn drain(&mut self, mut take: impl FnMut(u128)) {
        let heads: Vec<Head> = self.heads.iter_mut().chain(&mut self.seasons).map(std::mem::take).collect();
        for mut head in heads {
            while let Some((keys, count)) = self.take_page(&mut head) {
                keys[..count].iter().for_each(|&key| take(key));
            }
        }
        (self.held, self.held_for_seasons) = (0, 0);
        self.later.end().for_each(take);
    }

    /// Another width, if buckets hold far more or far fewer events than they should.
    pub(super) fn better_shift(&mut self) -> Option<u32> {
        let (buckets, events) = (std::mem::take(&mut self.buckets), std::mem::take(&mut self.events));
        if events == 0 || (TARGET / 3 * buckets..=TARGET * 3 * buckets).contains(&events) {
            return None;
        }
        let width = (1u64 << self.shift) as f64 * (TARGET * buckets) as f64 / events as f64;
        Some(shift_of(width)).filter(|&shift| shift != self.shift)
    }

    /// Something that happens in the bucket that comes next, each time another; if its events are not all known yet,
    /// not all of them.
    #[inline]
    pub(crate) fn look_ahead(&mut self) -> Option<Entity> {
        if self.unseen.is_empty() {
            return None;
        }
        let (page, last) = (&self.pages[self.unseen.page() as usize], self.unseen.count() - 1);
        let key = page.keys[last as usize];
        self.unseen = if last == 0 { full(page.before) } else { Head::new(self.unseen.page(), last) };
        if last == PAGE - 1 {
            prefetch(&self.pages[page.before as usize]);
        }
        Some(entity_of(key))
    }

    /// True if a bucket has come since this was asked before.
    #[inline]
    pub(super) fn has_turned(&mut self) -> bool {
        std::mem::take(&mut self.turned)
    }
}

/// A page that is full, if it is one.
fn full(page: u32) -> Head {
    if page == 0 {
        Head::default()
    } else {
        Head::new(page, PAGE)
    }
}
