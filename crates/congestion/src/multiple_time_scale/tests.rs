//! The parts against what they are defined by; the predictor against fractional Gaussian noise, whose conditional
//! expectations are known.

use super::large_time_scale::LargeTimeScale;
use super::level::{Level, Shift};
use super::predictor::Predictor;
use super::quantiser::Quantiser;
use super::schedule::Schedule;
use super::{
    Block, CouplingKind, MultipleTimeScale, MultipleTimeScaleConfig, QuantiserKind, ScheduleKind, Sharing,
};
use crate::hooks::tests::{lost, probe};
use crate::{
    AckEvent, CongestionControl, CongestionEvent, CongestionSignal, Control, ControlConfig, DctcpConfig,
    Kind, Phase, RateBasedConfig, RenoConfig, Signal, Start, VegasConfig,
};
use parshall_units::{ConfigError, Duration, Instant};
use proptest::prelude::*;

/// As of a scenario.
fn checked(config: &MultipleTimeScaleConfig, rtt: Duration) -> Result<(), ConfigError> {
    ControlConfig::MultipleTimeScale(config.clone()).check(rtt)
}

pub(super) fn config() -> MultipleTimeScaleConfig {
    MultipleTimeScaleConfig {
        control: Box::new(ControlConfig::Reno(RenoConfig {
            increase: 1.0,
            decrease: 0.5,
            ecn_decrease: 0.0,
        })),
        interval: Duration::from_secs(2),
        levels: 8,
        quantiser: QuantiserKind::Quantile,
        peak: 0.0,
        memory: 256,
        schedule: ScheduleKind::InverseLinear,
        aggressiveness: 6.0,
        conservativeness: 1.0,
        threshold: 4.0,
        slopes: Vec::new(),
        coupling: CouplingKind::CongestionAvoidance,
        metacontrol: false,
        adjustment: 0.05,
        learning: Duration::ZERO,
        prior: Vec::new(),
        shift: 0.0,
        shared: Sharing::None,
        block: Block::Following,
        oracle: Vec::new(),
    }
}

#[test]
fn what_shifts_or_steers_a_control_forwards_every_hook() {
    let shifted = || Kind::Level(Box::new(Level::new(&config(), probe())));
    assert_eq!(lost(&mut shifted()), [""; 0]);
    let module = || MultipleTimeScale::new(&config(), false);
    for kind in [probe(), shifted()] {
        assert_eq!(lost(&mut Control::steered(kind, module())), ["end_slow_start"], "the module's");
    }
}

/// A generator of normal values: SplitMix64 and Box & Muller.
struct Normal(u64);

impl Normal {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn draw(&mut self) -> f64 {
        libm::sqrt(-2.0 * libm::log(1.0 - self.unit())) * libm::cos(std::f64::consts::TAU * self.unit())
    }
}

/// Correlation of fractional Gaussian noise at a lag; the source's eq. (1).
fn correlation(lag: usize, h: f64) -> f64 {
    let power = |k: f64| libm::pow(libm::fabs(k), 2.0 * h);
    let k = lag as f64;
    0.5 * (power(k + 1.0) - 2.0 * power(k) + power(k - 1.0))
}

/// Exact fractional Gaussian noise, by Hosking's recursion.
fn fgn(n: usize, h: f64, seed: u64) -> Vec<f64> {
    let mut normal = Normal(seed);
    let rho: Vec<f64> = (0..n).map(|lag| correlation(lag, h)).collect();
    let (mut phi, mut before) = (vec![0.0; n], vec![0.0; n]);
    let mut x = vec![normal.draw()];
    let mut variance = 1.0;
    for i in 1..n {
        let sum: f64 = (0..i - 1).map(|j| before[j] * rho[i - 1 - j]).sum();
        let last = (rho[i] - sum) / variance;
        for j in 0..i - 1 {
            phi[j] = before[j] - last * before[i - 2 - j];
        }
        phi[i - 1] = last;
        variance *= 1.0 - last * last;
        before[..i].copy_from_slice(&phi[..i]);
        let mean: f64 = (0..i).map(|j| phi[j] * x[i - 1 - j]).sum();
        x.push(mean + libm::sqrt(variance) * normal.draw());
    }
    x
}

fn below(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// E[L_2 given L_1 = level] of two normal values with correlation rho, where level l of contention is between the edges
/// h - l and h - l + 1; and its variance.
fn exact(edges: &[f64], rho: f64, level: usize) -> (f64, f64) {
    let h = edges.len() - 1;
    let (low, high) = (edges[h - level], edges[h - level + 1]);
    let (mut weight, mut mean, mut square) = (0.0, 0.0, 0.0);
    let steps = 2000;
    let (from, to) = (low.max(-7.0), high.min(7.0));
    for step in 0..steps {
        let x = from + (to - from) * (f64::from(step) + 0.5) / f64::from(steps);
        let density = libm::exp(-0.5 * x * x);
        let spread = libm::sqrt(1.0 - rho * rho);
        weight += density;
        for after in 1..=h {
            let inside = below((edges[h - after + 1] - rho * x) / spread)
                - below((edges[h - after] - rho * x) / spread);
            mean += density * inside * after as f64;
            square += density * inside * (after * after) as f64;
        }
    }
    mean /= weight;
    (mean, square / weight - mean * mean)
}

/// Levels of a fixed range, for values that are centred at half of it and 6 standard deviations wide.
#[test]
fn the_predictor_finds_the_exact_conditional_expectation_of_fgn() {
    let n = 6000;
    for (h, seed) in [(0.5, 1), (0.7, 2), (0.85, 3)] {
        let config =
            MultipleTimeScaleConfig { quantiser: QuantiserKind::FixedRange, peak: 3000.0, ..config() };
        let (mut quantiser, mut predictor) = (Quantiser::new(&config), Predictor::new(8, &[]));
        let mut visits = [0.0; 9];
        let mut before = None;
        for x in fgn(n, h, seed) {
            let level = quantiser.level(3000.0 + 1000.0 * x); // 3000 packets/s for 2 s is the top of the range
            if let Some(before) = before {
                predictor.observe(before, level);
                visits[before] += 1.0;
            }
            before = Some(level);
        }
        // What is beyond the range belongs to the outermost levels.
        let edges: Vec<f64> = (0..=8).map(|i| -3.0 + 0.75 * f64::from(i)).collect();
        let mut open = edges.clone();
        (open[0], open[8]) = (f64::NEG_INFINITY, f64::INFINITY);
        let rho = correlation(1, h);
        for (level, &visits) in visits.iter().enumerate().skip(1) {
            if visits < 50.0 {
                continue;
            }
            let (mean, variance) = exact(&open, rho, level);
            // 4 standard errors of as many values; those of a level are spread over the series, and the residuals of a
            // prediction from one value of fGn keep correlations of at most 0.2 between neighbours: a factor of 2.
            let tolerance = 2.0 * 4.0 * libm::sqrt(variance / visits);
            let found = predictor.expected(level);
            assert!(
                (found - mean).abs() < tolerance,
                "H {h}, level {level}: {found}, exactly {mean} ± {tolerance}"
            );
            if h == 0.85 && (level == 2 || level == 7) {
                assert!((mean - 4.5).abs() > 2.0 * tolerance, "a predictor that ignores L_1 would pass");
            }
        }
    }
}

#[test]
fn ranks_use_all_levels_equally_and_a_running_maximum_does_not() {
    let mut normal = Normal(5);
    let values: Vec<f64> =
        (0..20_000).map(|i| if i == 10 { 1e4 } else { 100.0 + 10.0 * normal.draw() }).collect();
    let shares = |quantiser| {
        let mut map = Quantiser::new(&MultipleTimeScaleConfig { quantiser, ..config() });
        let mut counts = [0.0; 8];
        for &value in &values {
            counts[map.level(value) - 1] += 1.0;
        }
        counts.map(|count| count / values.len() as f64)
    };
    for share in shares(QuantiserKind::Quantile) {
        // Standard error of a share of 1/8: 0.0023; a rank among 256 is coarser by 1/256.
        assert!((share - 0.125).abs() < 0.01, "{share}");
    }
    assert!(
        shares(QuantiserKind::RunningRange)[7] > 0.99,
        "one value of 100 times the others makes all others contention"
    );
}

#[test]
fn what_was_never_seen_predicts_itself() {
    let mut predictor = Predictor::new(8, &[]);
    assert_eq!(predictor.expected(3), 3.0);
    predictor.observe(3, 8);
    predictor.observe(3, 4);
    assert_eq!(predictor.expected(3), 6.0);
    assert_eq!(predictor.expected(4), 4.0);
    let prior: Vec<f64> = (0..4).map(f64::from).collect(); // (1,1): 0, (1,2): 1, (2,1): 2, (2,2): 3
    let predictor = Predictor::new(2, &prior);
    assert_eq!((predictor.expected(1), predictor.expected(2)), (2.0, 1.6));
}

#[test]
fn schedules_are_those_of_the_source() {
    let of = |schedule| Schedule::new(&MultipleTimeScaleConfig { schedule, ..config() });
    let linear = of(ScheduleKind::InverseLinear);
    assert_eq!((linear.slope(1.0), linear.slope(8.0), linear.slope(4.5)), (6.0, 1.0, 3.5));
    let threshold = of(ScheduleKind::Threshold);
    assert_eq!((threshold.slope(4.0), threshold.slope(4.01)), (6.0, 1.0));
    let inverse = of(ScheduleKind::Inverse);
    assert_eq!((inverse.slope(1.0), inverse.slope(4.0), inverse.slope(8.0)), (8.0, 2.0, 1.0));
    let slopes = vec![9.0, 7.0, 5.0, 5.0, 3.0, 2.0, 1.0, 0.5];
    let listed =
        Schedule::new(&MultipleTimeScaleConfig { schedule: ScheduleKind::Generalised, slopes, ..config() });
    assert_eq!((listed.slope(1.0), listed.slope(1.5), listed.slope(8.0)), (9.0, 8.0, 0.5));
}

proptest! {
    #[test]
    fn no_schedule_grows_with_contention(
        schedule in prop::sample::select(ScheduleKind::ALL),
        mut slopes in prop::collection::vec(0.01f64..1000.0, 8),
        largest in 1.0f64..1000.0,
        smallest in 0.01f64..=1.0,
        (a, b) in (1.0f64..=8.0, 1.0f64..=8.0),
    ) {
        slopes.sort_by(|a, b| b.total_cmp(a));
        let slopes = if schedule == ScheduleKind::Generalised { slopes } else { Vec::new() };
        let config = MultipleTimeScaleConfig {
            schedule, slopes, aggressiveness: largest, conservativeness: smallest, ..config()
        };
        prop_assert_eq!(checked(&config, Duration::ZERO), Ok(()));
        let schedule = Schedule::new(&config);
        let (low, high) = (schedule.slope(a.min(b)), schedule.slope(a.max(b)));
        prop_assert!(low >= high * (1.0 - 1e-12), "{low} at {}, {high} at {}", a.min(b), a.max(b));
    }

    #[test]
    fn levels_are_monotone_in_throughput(
        quantiser in prop::sample::select(QuantiserKind::ALL),
        before in prop::collection::vec(0.0f64..1000.0, 0..600),
        (a, b) in (0.0f64..1000.0, 0.0f64..1000.0),
    ) {
        let mut map = Quantiser::new(&MultipleTimeScaleConfig { quantiser, peak: 250.0, ..config() });
        for value in before {
            prop_assert!((1..=8).contains(&map.level(value)));
        }
        let (low, high) = (map.clone().level(a.min(b)), map.level(a.max(b)));
        prop_assert!(low >= high);
    }
}

/// A network whose throughput is largest at A = 6, and falls on both sides: dA/dt must settle there.
#[test]
fn the_metacontrol_settles_at_the_peak_of_a_unimodal_curve() {
    for adjustment in [0.01, 0.05, 0.25] {
        let config = MultipleTimeScaleConfig { metacontrol: true, adjustment, ..config() };
        let mut module = LargeTimeScale::new(&config);
        let mut settled = Vec::new();
        let mut a: f64 = 1.0;
        for interval in 0..4000_i32 {
            // Contention comes and goes in cycles: what follows a level differs by nothing but A.
            module.on_interval(Instant::ZERO, 1000.0 * f64::from(interval % 8) - (a - 6.0) * (a - 6.0));
            a = module.largest_slope();
            if interval >= 3000 {
                settled.push(a);
            }
        }
        let mean = settled.iter().sum::<f64>() / settled.len() as f64;
        // A level comes back after 8 intervals, in which A moves by at most 8 nu.
        assert!((mean - 6.0).abs() < 8.0 * adjustment, "nu = {adjustment}: {mean}");
    }
}

/// Throughput that comes and goes at random, and always grows with A: who compares intervals of one level sees that.
#[test]
fn intervals_are_compared_by_the_level_before_them_or_by_their_own() {
    let largest = |block| {
        let config = MultipleTimeScaleConfig {
            metacontrol: true,
            adjustment: 0.1,
            block,
            quantiser: QuantiserKind::FixedRange,
            peak: 1000.0, // 2000 packets an interval
            ..config()
        };
        let (mut module, mut random) = (LargeTimeScale::new(&config), Normal(7));
        for _ in 0..300 {
            let base = if random.unit() < 0.5 { 100.0 } else { 1900.0 };
            module.on_interval(Instant::ZERO, base + module.largest_slope());
        }
        module.largest_slope()
    };
    // The first interval has none before it, so that A moves 299 times.
    assert!((largest(Block::Classified) - 30.9).abs() < 1e-9, "{}", largest(Block::Classified));
    assert!(largest(Block::Following) < 15.0, "{}", largest(Block::Following));
}

#[test]
fn an_oracle_sets_the_slope_of_every_interval_of_the_simulated_time() {
    let config = MultipleTimeScaleConfig { oracle: vec![8.0, 1.0, 8.0, 4.5], ..config() };
    let mut control =
        MultipleTimeScale::control(&config, Start { window: 50.0, ssthresh: 10.0, ..Start::NEW });
    let mut slope_at = |seconds: f64| {
        control.on_ack(&ack(Instant::ZERO + Duration::from_secs_f64(seconds)));
        slope(&control)
    };
    assert_eq!(slope_at(1.5), 1.0, "the first interval ends at 2 s, not an interval after the first ACK");
    assert_eq!((slope_at(2.0), slope_at(3.9), slope_at(4.0)), (6.0, 6.0, 1.0));
    assert_eq!((slope_at(6.0), slope_at(60.0)), (3.5, 3.5), "after a pause too; the last one stays");
}

fn slope(control: &Control) -> f64 {
    control.module().unwrap().slope
}

fn level(control: &Control) -> Option<usize> {
    control.module().unwrap().module.level()
}

fn ack(now: Instant) -> AckEvent {
    AckEvent::of_one_packet(now, Duration::from_millis(100))
}

/// Packets added by round trip in the tenth second; throughput that only grows is the lowest contention there is.
fn growth_in_a_round_trip(config: &MultipleTimeScaleConfig) -> f64 {
    let mut control =
        MultipleTimeScale::control(config, Start { window: 10.0, ssthresh: 10.0, ..Start::NEW });
    let mut now = Instant::ZERO;
    let (mut at_nine, mut rounds) = (0.0, 0.0);
    while now < Instant::from_ps(10_000_000_000_000) {
        let packets = control.window() as u64;
        for i in 0..packets {
            now += Duration::from_secs_f64(0.1 / packets as f64);
            control.on_ack(&AckEvent { round_ended: i == 0, ..ack(now) });
        }
        rounds += 1.0;
        if at_nine == 0.0 && now >= Instant::from_ps(9_000_000_000_000) {
            (at_nine, rounds) = (control.window(), 0.0);
        }
    }
    (control.window() - at_nine) / rounds
}

#[test]
fn growing_throughput_is_met_with_the_largest_slope() {
    let plain = MultipleTimeScaleConfig { aggressiveness: 1.0, ..config() };
    // cwnd + 1 / cwnd: a packet a round trip, less a bit as cwnd grows during it.
    assert!((growth_in_a_round_trip(&plain) - 1.0).abs() < 0.05);
    let steered =
        growth_in_a_round_trip(&MultipleTimeScaleConfig { schedule: ScheduleKind::Threshold, ..config() });
    assert!((steered - 6.0).abs() < 0.4, "{steered}");
    let learning = MultipleTimeScaleConfig { learning: Duration::from_secs(20), ..config() };
    assert!((growth_in_a_round_trip(&learning) - 1.0).abs() < 0.05);
    let vegas = ControlConfig::Vegas(VegasConfig { alpha: 2.0, beta: 4.0, gamma: 1.0 });
    let vegas =
        MultipleTimeScaleConfig { control: Box::new(vegas), schedule: ScheduleKind::Threshold, ..config() };
    assert!((growth_in_a_round_trip(&vegas) - 6.0).abs() < 0.4);
    let dctcp = ControlConfig::Dctcp(DctcpConfig { gain: 0.0625, initial_alpha: 1.0 });
    let dctcp =
        MultipleTimeScaleConfig { control: Box::new(dctcp), schedule: ScheduleKind::Threshold, ..config() };
    assert!((growth_in_a_round_trip(&dctcp) - 6.0).abs() < 0.4);
}

#[test]
fn what_a_recovery_delivers_counts_and_silence_begins_anew() {
    let mut control =
        MultipleTimeScale::control(&config(), Start { window: 50.0, ssthresh: 10.0, ..Start::NEW });
    control.on_ack(&ack(Instant::from_ps(1)));
    assert_eq!(control.delivered(), 1);
    control.on_congestion(&CongestionEvent { now: Instant::from_ps(2), signal: Signal::Loss, in_flight: 40 });
    let window = control.window();
    let phase = Phase::Recovery;
    control.on_ack(&AckEvent { phase, acked: 40, may_grow: false, ..ack(Instant::from_ps(3)) });
    assert_eq!((control.delivered(), control.window()), (41, window));
    control.on_ack(&ack(Instant::from_ps(2_500_000_000_000)));
    assert_eq!((control.delivered(), level(&control)), (1, Some(4)), "the first value has the middle rank");
    control.on_ack(&ack(Instant::from_ps(9_000_000_000_000)));
    assert_eq!((level(&control), slope(&control)), (None, 1.0));
}

fn rate_based() -> Box<ControlConfig> {
    Box::new(ControlConfig::RateBased(RateBasedConfig {
        increase: 100.0,
        decrease: 1.0,
        congestion: CongestionSignal::Loss,
        ceiling: 1e5,
    }))
}

/// Rates of two controls that are told the same round trips of 100 ms: throughput that falls for 8 s, then grows.
fn rates(controls: [&mut Control; 2]) -> Vec<[f64; 2]> {
    let mut now = Instant::ZERO;
    let mut found = Vec::new();
    let [one, two] = controls;
    for round in 0..160_u64 {
        now += Duration::from_millis(100);
        let acked = if round < 80 { 100 - round } else { round };
        let report = AckEvent { acked, credit: acked as f64, round_ended: true, ..ack(now) };
        one.on_ack(&report);
        two.on_ack(&report);
        found.push([one.pacing_rate().unwrap(), two.pacing_rate().unwrap()]);
    }
    found
}

#[test]
fn level_control_shifts_the_rate_by_predicted_contention_and_leaves_the_slope() {
    let begin = Start { window: 200.0, ssthresh: 10.0, ..Start::NEW };
    let shifted = MultipleTimeScaleConfig {
        control: rate_based(),
        coupling: CouplingKind::Level,
        shift: 70.0,
        ..config()
    };
    let plain = MultipleTimeScaleConfig { aggressiveness: 1.0, control: rate_based(), ..config() };
    let mut controls =
        [MultipleTimeScale::control(&shifted, begin), MultipleTimeScale::control(&plain, begin)];
    let [one, two] = &mut controls;
    let found = rates([one, two]);
    assert!(found[..20].iter().all(|[one, two]| one == two), "nothing is predicted in the first interval");
    // Ranks: an interval that is the worst so far has level 8 - 8 / (2 n), n intervals so far, and predicts itself.
    let (least, most) = found
        .iter()
        .fold((0.0_f64, 0.0_f64), |(least, most), [one, two]| (least.min(one - two), most.max(one - two)));
    assert!(least > -70.0 && least < -40.0, "least shift {least}");
    assert!(most > 40.0 && most < 70.0 + 1e-9, "largest shift {most}");
    assert_eq!(slope(&controls[0]), 1.0);
    // The window follows: twice the rate times 100 ms.
    assert!((controls[0].window() - 0.2 * controls[0].pacing_rate().unwrap()).abs() < 1e-9);
}

#[test]
fn a_level_that_is_found_before_a_congestion_event_counts_from_the_next_ack_on() {
    let config = MultipleTimeScaleConfig { shift: 50.0, ..config() };
    let rate_based = rate_based().build(Start { window: 200.0, ..Start::NEW }).kind;
    let mut level = Level::new(&config, rate_based);
    let mut now = Instant::ZERO;
    let mut acknowledge = |level: &mut Level| {
        now += Duration::from_millis(100);
        level.on_ack(&AckEvent { acked: 100, credit: 100.0, round_ended: true, ..ack(now) });
    };
    for _ in 0..3 {
        acknowledge(&mut level);
    }
    let (before, rate) = (level.window(), level.pacing_rate().unwrap());
    level.set(Some(1.0)); // no contention: 50 packets/s more
    level.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 100 });
    assert_eq!(level.window(), before, "a congestion event enlarges no window");
    assert_eq!(level.pacing_rate(), Some(rate + 50.0));
    acknowledge(&mut level);
    assert!((level.window() - 0.2 * level.pacing_rate().unwrap()).abs() < 1e-9);
}

#[test]
fn a_tenth_of_the_rate_is_left() {
    let mut level = Shift::new(&MultipleTimeScaleConfig { shift: 1000.0, ..config() });
    assert_eq!(level.factor(100.0, 50.0, 2.0), 1.0, "no prediction yet");
    level.set(Some(8.0));
    assert_eq!(level.factor(100.0, 50.0, 2.0), 0.1);
    assert_eq!(level.factor(10_000.0, 50.0, 2.0), 0.9);
    assert_eq!(level.factor(100.0, 2.0, 2.0), 0.5, "a window of a packet");
    assert_eq!(level.factor(100.0, 50.0, 51.0), 1.0, "slow start");
    level.set(Some(1.0));
    assert_eq!(level.factor(500.0, 50.0, 2.0), 3.0);
    level.set(Some(4.5));
    assert_eq!(level.factor(500.0, 50.0, 2.0), 1.0);
}

/// Intervals of 2 s with so many packets each; the slopes in force in them.
fn connection(control: &mut Control, now: &mut Instant, intervals: &[u32]) -> Vec<f64> {
    let mut slopes = Vec::new();
    for &packets in intervals {
        for _ in 0..packets {
            *now += Duration::from_secs_f64(2.0 / f64::from(packets));
            control.on_ack(&ack(*now));
        }
        slopes.push(slope(control));
    }
    slopes
}

/// Two connections of some intervals each, a minute apart.
#[test]
fn a_second_short_connection_predicts_from_the_counts_of_the_first() {
    let begin = Start { window: 50.0, ssthresh: 10.0, ..Start::NEW };
    let build = |shared| {
        let config = MultipleTimeScaleConfig {
            quantiser: QuantiserKind::FixedRange,
            peak: 80.0,
            schedule: ScheduleKind::Threshold,
            shared: if shared { Sharing::Flow } else { Sharing::None },
            ..config()
        };
        ControlConfig::MultipleTimeScale(config).build(begin)
    };
    // Of 160 packets, 130 are level 2, 10 are level 8. Level 2 has been followed by 8, 8 by 2.
    let (good, bad) = (130, 10);
    for shared in [false, true] {
        let mut now = Instant::ZERO;
        let mut first = build(shared);
        connection(&mut first, &mut now, &[good, good, bad, good, bad, good, bad, good]);
        now += Duration::from_secs(60);
        let mut second = build(shared);
        second.inherit(&mut first);
        let slopes = connection(&mut second, &mut now, &[good, good, good]);
        // What was learnt says that contention follows; who has learnt nothing takes the level to stay.
        let expected = if shared { 1.0 } else { 6.0 };
        assert_eq!(slopes[2], expected, "shared: {shared}, {slopes:?}");
        assert_eq!(slopes[0], 1.0, "a minute of silence begins anew");
    }
}

#[test]
fn slow_start_ends_at_the_window_of_earlier_timeouts_at_this_contention() {
    let config = MultipleTimeScaleConfig { coupling: CouplingKind::SlowStart, ..config() };
    let mut control =
        MultipleTimeScale::control(&config, Start { window: 50.0, ssthresh: 10.0, ..Start::NEW });
    let event = CongestionEvent { now: Instant::from_ps(3), signal: Signal::Loss, in_flight: 50 };
    control.on_timeout(&event);
    assert_eq!(control.ssthresh(), 25.0, "no level yet: the control's own");
    control.on_ack(&ack(Instant::from_ps(1_000_000_000_000)));
    control.on_ack(&ack(Instant::from_ps(3_500_000_000_000)));
    let window = control.window();
    control.on_timeout(&event);
    assert_eq!(control.ssthresh(), window.max(2.0), "not half of it");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let rtt = Duration::from_millis(100);
    assert_eq!(checked(&config(), rtt), Ok(()));
    let refused: [(&str, MultipleTimeScaleConfig); 20] = [
        ("oracle", MultipleTimeScaleConfig { oracle: vec![9.0], ..config() }),
        ("oracle", MultipleTimeScaleConfig { oracle: vec![1.0], metacontrol: true, ..config() }),
        ("oracle", MultipleTimeScaleConfig { oracle: vec![1.0], coupling: CouplingKind::Both, ..config() }),
        (
            "control",
            MultipleTimeScaleConfig {
                control: Box::new(ControlConfig::MultipleTimeScale(config())),
                ..config()
            },
        ),
        ("interval", MultipleTimeScaleConfig { interval: Duration::from_millis(50), ..config() }),
        ("levels", MultipleTimeScaleConfig { levels: 1, ..config() }),
        ("adjustment", MultipleTimeScaleConfig { adjustment: 0.0, ..config() }),
        ("aggressiveness", MultipleTimeScaleConfig { aggressiveness: 0.5, ..config() }),
        ("peak", MultipleTimeScaleConfig { quantiser: QuantiserKind::FixedRange, ..config() }),
        (
            "threshold",
            MultipleTimeScaleConfig { schedule: ScheduleKind::Threshold, threshold: 9.0, ..config() },
        ),
        (
            "metacontrol",
            MultipleTimeScaleConfig { schedule: ScheduleKind::Inverse, metacontrol: true, ..config() },
        ),
        ("slopes", MultipleTimeScaleConfig { slopes: vec![1.0; 8], ..config() }),
        ("slopes", MultipleTimeScaleConfig { schedule: ScheduleKind::Generalised, ..config() }),
        (
            "slopes",
            MultipleTimeScaleConfig {
                schedule: ScheduleKind::Generalised,
                slopes: vec![1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0],
                ..config()
            },
        ),
        (
            "slopes",
            MultipleTimeScaleConfig { schedule: ScheduleKind::Generalised, slopes: vec![1.0; 7], ..config() },
        ),
        ("prior", MultipleTimeScaleConfig { prior: vec![1.0; 64], ..config() }),
        ("shift", MultipleTimeScaleConfig { shift: 1.0, ..config() }),
        (
            "shift",
            MultipleTimeScaleConfig { coupling: CouplingKind::Level, control: rate_based(), ..config() },
        ),
        ("control", MultipleTimeScaleConfig { coupling: CouplingKind::Level, shift: 1.0, ..config() }),
        (
            "metacontrol",
            MultipleTimeScaleConfig {
                coupling: CouplingKind::Level,
                shift: 1.0,
                control: rate_based(),
                metacontrol: true,
                ..config()
            },
        ),
    ];
    for (key, config) in refused {
        let error = checked(&config, rtt).expect_err(key);
        assert_eq!(error.key, key);
        assert!(!error.accepted.is_empty());
    }
}
