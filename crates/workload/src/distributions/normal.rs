//! The standard normal law's quantiles.
//!
//! Rational approximations with a relative error near 10^-16: M. J. Wichura, *Algorithm AS 241: the
//! percentage points of the normal distribution*, Applied Statistics 37(3), 1988, routine PPND16.
//! The test below holds them against the complementary error function.

#![allow(clippy::excessive_precision)] // digits as published

/// z with P(Z <= z) = `u`; minus infinity at 0 and infinity at 1.
pub(super) fn quantile(u: f64) -> f64 {
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.425 * 0.425 - q * q;
        return q * ratio(&CENTRE, r);
    }
    let tail = if q < 0.0 { u } else { 1.0 - u };
    if tail <= 0.0 {
        return if q < 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let r = libm::sqrt(-libm::log(tail));
    let z = if r <= 5.0 { ratio(&TAIL, r - 1.6) } else { ratio(&FAR_TAIL, r - 5.0) };
    if q < 0.0 {
        -z
    } else {
        z
    }
}

/// Numerator over denominator, coefficients from the constant term upwards.
fn ratio([numerator, denominator]: &[[f64; 8]; 2], r: f64) -> f64 {
    let polynomial = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, a| sum * r + a);
    polynomial(numerator) / polynomial(denominator)
}

const CENTRE: [[f64; 8]; 2] = [
    [
        3.387_132_872_796_366_608,
        133.141_667_891_784_377_45,
        1_971.590_950_306_551_442_7,
        13_731.693_765_509_461_125,
        45_921.953_931_549_871_457,
        67_265.770_927_008_700_853,
        33_430.575_583_588_128_105,
        2_509.080_928_730_122_672_7,
    ],
    [
        1.0,
        42.313_330_701_600_911_252,
        687.187_007_492_057_908_3,
        5_394.196_021_424_751_107_7,
        21_213.794_301_586_595_867,
        39_307.895_800_092_710_61,
        28_729.085_735_721_942_674,
        5_226.495_278_852_545_925,
    ],
];

const TAIL: [[f64; 8]; 2] = [
    [
        1.423_437_110_749_683_577_34,
        4.630_337_846_156_545_295_9,
        5.769_497_221_460_691_405_5,
        3.647_848_324_763_204_605_04,
        1.270_458_252_452_368_382_58,
        0.241_780_725_177_450_611_77,
        0.022_723_844_989_269_184_583_3,
        7.745_450_142_783_414_076_4e-4,
    ],
    [
        1.0,
        2.053_191_626_637_758_821_87,
        1.676_384_830_183_803_849_4,
        0.689_767_334_985_100_004_55,
        0.148_103_976_427_480_074_59,
        0.015_198_666_563_616_457_196_6,
        5.475_938_084_995_344_946e-4,
        1.050_750_071_644_416_843_24e-9,
    ],
];

const FAR_TAIL: [[f64; 8]; 2] = [
    [
        6.657_904_643_501_103_777_2,
        5.463_784_911_164_114_369_9,
        1.784_826_539_917_291_335_8,
        0.296_560_571_828_504_891_23,
        0.026_532_189_526_576_123_093,
        0.001_242_660_947_388_078_438_6,
        2.711_555_568_743_487_578_15e-5,
        2.010_334_399_292_288_132_65e-7,
    ],
    [
        1.0,
        0.599_832_206_555_887_937_69,
        0.136_929_880_922_735_805_31,
        0.014_875_361_290_850_614_852_5,
        7.868_691_311_456_132_591e-4,
        1.846_318_317_510_054_681_8e-5,
        1.421_511_758_316_445_888_7e-7,
        2.044_263_103_389_939_785_64e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::quantile;
    use proptest::prelude::*;

    /// P(Z <= z).
    fn cdf(z: f64) -> f64 {
        0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
    }

    #[test]
    fn known_points() {
        assert_eq!(quantile(0.5), 0.0);
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!((quantile(0.001) + 3.090_232_306_167_813_5).abs() < 1e-14);
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
    }

    proptest! {
        #[test]
        fn inverts_the_distribution_function(log_tail in -700.0..-0.7_f64) {
            let p = libm::exp(log_tail);
            let back = cdf(quantile(p));
            // z is good to 1e-15 or so, and ln P changes by z times that.
            let tolerance = 1e-14 * (1.0 + quantile(p) * quantile(p));
            prop_assert!((back / p - 1.0).abs() < tolerance, "{} {} {}", p, quantile(p), back / p - 1.0);
        }

        #[test]
        fn is_odd(u in 0.0..0.5_f64) {
            let (low, high) = (quantile(u), quantile(1.0 - u));
            prop_assert!(1.0 - u == 1.0 || (low + high).abs() <= 1e-9 * high.abs() || u < 1e-6);
        }
    }
}
