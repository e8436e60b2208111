#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]

use super::*;
use crate::distributions::{DistributionConfig, EmpiricalConfig};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::PathBuf;

/// The measured files, which are beside the checkout and not in it.
fn shared_file(name: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/flowsize").join(name);
    let bytes = std::fs::read(&path).ok();
    if bytes.is_none() {
        eprintln!("skipped: no {}", path.display());
    }
    bytes
}

fn parse(text: &str) -> Result<CdfFile, CdfFileError> {
    CdfFile::parse(text.as_bytes())
}

fn message(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn percent_and_fractions_are_told_apart_by_the_end() {
    let percent = parse("0 0\n4000 22.93\n2000000 100\n").unwrap();
    assert_eq!(percent.points(1.0), [[0.0, 0.0], [4000.0, 0.2293], [2_000_000.0, 1.0]]);
    let fraction = parse("0 0\r\n3,\t0.28\r\n\r\n10 1.0 # all\r\n").unwrap();
    assert_eq!(fraction.points(1460.0), [[0.0, 0.0], [4380.0, 0.28], [14600.0, 1.0]]);
}

#[test]
fn names_comments_and_a_byte_order_mark_are_skipped() {
    let file = parse("\u{feff}# web search\nsize_B cdf\n\n0 0\n10 1\n").unwrap();
    assert_eq!(file.points(1.0), [[0.0, 0.0], [10.0, 1.0]]);
    assert_eq!(file.interpolation(), Interpolation::Linear);
}

#[test]
fn a_stated_mean_settles_how_to_read_between_the_points() {
    let straight = parse("5\n0 0\n10 1\n").unwrap();
    assert_eq!((straight.stated_mean(), straight.interpolation()), (Some(5.0), Interpolation::Linear));
    let steps = parse("7.5\n5 0.5\n10 1\n").unwrap();
    assert_eq!(steps.interpolation(), Interpolation::Step);
    assert_eq!(steps.points(2.0), [[10.0, 0.0], [10.0, 0.5], [20.0, 0.5], [20.0, 1.0]]);
    assert_eq!(
        parse("6\n0 0\n10 1\n").unwrap_err(),
        CdfFileError::Mean { stated: 6.0, linear: 5.0, step: 10.0 }
    );
}

#[test]
fn refusals_name_the_line_and_what_is_accepted() {
    for (text, wanted) in [
        ("", "no point found"),
        ("# nothing\n\n", "no point found"),
        ("12\n", "no point found"),
        ("0 0\n10 0.97\n", "line 2: found 0.97 as the last probability; write 1, or 100"),
        ("0 0\n\n10 0.5\n20 0.4\n30 1", "line 4: found the probability 0.4; write 0.5 or more"),
        ("0 0\n10 0.5\n9 1", "line 3: found the value 9; write 10 or more"),
        ("-1 0\n10 1", "line 1: found the value -1; write a number from 0"),
        ("0 -0.1\n10 1", "line 1: found the probability -0.1"),
        ("0 0\nNaN 1", "line 2: found the value NaN; write a number from 0 to 1e18"),
        ("0 0\n10 nan", "line 2: found the probability NaN"),
        ("0 0\ninf 1", "line 2: found the value inf"),
        ("0 0\n1e999 1", "line 2: found the value inf"),
        ("0 0\n10 101", "line 2: found the probability 101"),
        ("0 0\n10 twenty", "line 2: found \"10 twenty\""),
        ("0 0\n10", "line 2: found \"10\""),
        ("0 0 0\n10 1 1", "line 1: found \"0 0 0\""),
        ("size cdf\nand more\n0 0\n10 1", "line 2: found \"and more\""),
        ("3\n4\n0 0\n10 1", "line 2: found \"4\""),
        ("NaN\n0 0\n10 1", "line 1: found the mean NaN"),
    ] {
        let message = message(text);
        assert!(message.contains(wanted), "{text:?} gave {message:?}");
    }
}

#[test]
fn a_long_line_is_cut_in_the_message() {
    assert!(message(&"é,1,".repeat(1000)).len() < 250);
}

#[test]
fn hand_computed_means_of_the_measured_files() {
    // Sums of probability times midpoint (or, for steps, value) done apart from this code.
    for (name, reading, mean) in [
        ("hpcc_WebSearch_distribution.txt", Interpolation::Linear, 1_711_250.0),
        ("hkust_DCTCP_CDF.txt", Interpolation::Linear, 1_711_250.0),
        ("hpcc_AliStorage2019.txt", Interpolation::Linear, 40_869.8),
        ("hpcc_FbHdp_distribution.txt", Interpolation::Linear, 120_421.0),
        ("hpcc_GoogleRPC2008.txt", Interpolation::Linear, 2_891.62),
        ("hkust_FB_CDF.txt", Interpolation::Linear, 342.235),
        ("hkust_VL2_CDF.txt", Interpolation::Linear, 12_658_200.0),
        ("DCTCP_MsgSizeDist_Original.txt", Interpolation::Step, 1_622.94),
        ("Facebook_HadoopDist_All.txt", Interpolation::Step, 127_796.6),
        ("Google_AllRPC.txt", Interpolation::Step, 2_927.354),
    ] {
        let Some(bytes) = shared_file(name) else { continue };
        let file = CdfFile::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(file.interpolation(), reading, "{name}");
        let law =
            DistributionConfig::Empirical(EmpiricalConfig { points: file.points(1.0) }).build().unwrap();
        assert!((law.mean() / mean - 1.0).abs() < 1e-5, "{name}: {}", law.mean());
    }
}

/// Lines that are nearly right, so that the checks behind the first are reached too.
fn nearly_a_file() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        (0u32..200).prop_map(|n| n.to_string()),
        (0.0..1.2f64).prop_map(|x| x.to_string()),
        Just("1".to_owned()),
        Just("100".to_owned()),
        Just("nan".to_owned()),
        Just("-1e-5".to_owned()),
        Just("1e308".to_owned()),
        Just("#".to_owned()),
    ];
    let line = prop::collection::vec(number, 0..4).prop_map(|words| words.join(" "));
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = CdfFile::parse(&bytes);
    }

    #[test]
    fn what_is_read_is_a_distribution(text in nearly_a_file()) {
        if let Ok(file) = parse(&text) {
            let config = DistributionConfig::Empirical(EmpiricalConfig { points: file.points(1.0) });
            let law = config.build().expect("points that were read can be drawn from");
            prop_assert!(law.mean().is_finite() && law.mean() >= 0.0);
        }
    }

    #[test]
    fn both_scales_of_the_probabilities_give_the_same_points(
        steps in prop::collection::vec((0u32..1000, 1u32..50), 1..20),
    ) {
        let total: u32 = steps.iter().map(|(_, weight)| weight).sum();
        let (mut value, mut weight) = (0, 0);
        let (mut percent, mut fraction) = (String::new(), String::new());
        for (more, weight_here) in steps {
            value += more;
            weight += weight_here;
            let p = f64::from(weight) / f64::from(total);
            writeln!(percent, "{value} {}", 100.0 * p).unwrap();
            writeln!(fraction, "{value} {p}").unwrap();
        }
        let [percent, fraction] = [percent, fraction].map(|text| parse(&text).unwrap().points(1.0));
        for (a, b) in percent.iter().zip(&fraction) {
            prop_assert!(a[0] == b[0] && (a[1] - b[1]).abs() < 1e-15);
        }
    }
}
