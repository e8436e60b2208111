//! The one list of congestion controls.
//!
//! A new control is a file of this crate and a line in the call of `controls!` below; its name, parameters, dispatch,
//! docs and conformance tests follow from that line, and from what its file declares. Behind `as` is the name as text
//! writes it, if that is another one. Braces give what else of a flow has another default with it. Behind the semicolon
//! stands the module that steers one of the others, which is no [`Kind`] of control: it stands beside one
//! ([`Control`]).

use crate::hooks::for_each_hook;
use crate::{
    AckEvent, Bbr, Bbr2, Bbr2Config, Bbr3, Bbr3Config, BbrConfig, BbrLinux, BbrLinuxConfig, Bic, BicConfig,
    Compound, CompoundConfig, CongestionControl, CongestionEvent, Control, Copa, CopaConfig, Cubic,
    Cubic2005, Cubic2005Config, CubicConfig, CubicLinux, CubicLinuxConfig, Dctcp, DctcpConfig,
    ExternalConfig, ExternalControl, Fast, FastConfig, Gcc, GccConfig, HighSpeed, HighSpeedConfig, Htcp,
    HtcpConfig, HyStart, Hybla, HyblaConfig, Illinois, IllinoisConfig, Knowledge, Ledbat, LedbatConfig,
    Level, LimitedSlowStart, Lp, LpConfig, MultipleTimeScale, MultipleTimeScaleConfig, Needs, Nv, NvConfig,
    Prague, PragueConfig, RateBased, RateBasedConfig, Reno, RenoConfig, RenoLinux, RenoLinuxConfig, Scalable,
    ScalableConfig, Scream, ScreamConfig, Start, TcpRate, TcpRateConfig, Tfrc, TfrcConfig, TransmissionStart,
    Vegas, VegasConfig, Veno, VenoConfig, Westwood, WestwoodConfig, Yeah, YeahConfig,
};
use parshall_units::parameters::{Entry, Reader};
use parshall_units::{ConfigError, Duration, Instant};
use serde::Deserialize;

/// How a control is kept: in a box, so that the largest does not set the size of every flow; `inline` is for the
/// smallest.
macro_rules! kept {
    ($control:ident) => { Box<$control> };
    ($control:ident inline) => { $control };
}

/// Dispatch is a `match`, not a virtual call: the hot path stays inlined.
macro_rules! each_kind {
    (($($kind:ident)*) $self:ident, $control:ident => $call:expr) => {
        match $self {
            $(Self::$kind($control) => $call,)*
            #[cfg(test)]
            Self::Probe($control) => $call,
        }
    };
}

/// [`Kind`] passes a hook on to its control.
macro_rules! dispatched {
    ($kinds:tt on_ack($self:ident, $ack:ident)) => {{
        $self.window_after($ack);
    }};
    ($kinds:tt $hook:ident($self:ident $(, $argument:ident)*)) => {
        each_kind!($kinds $self, control => control.$hook($($argument),*))
    };
}

macro_rules! dispatch {
    (
        $kinds:tt
        reads { $($(#[$about:meta])* fn $read:ident(&$this:ident $(, $given:ident: $type:ty)*)
            $(-> $answer:ty)? $(= $none:expr)?;)* }
        changes { $($(#[$about_change:meta])* fn $change:ident(&mut $same:ident $(, $told:ident: $told_type:ty)*)
            $(-> $result:ty)? $(= $nothing:expr)?;)* }
    ) => {
        impl CongestionControl for Kind {
            $(
                #[inline]
                fn $read(&$this $(, $given: $type)*) $(-> $answer)? {
                    dispatched!($kinds $read($this $(, $given)*))
                }
            )*
            $(
                fn $change(&mut $same $(, $told: $told_type)*) $(-> $result)? {
                    dispatched!($kinds $change($same $(, $told)*))
                }
            )*
        }

        impl Kind {
            /// [`on_ack`](CongestionControl::on_ack), and the window then.
            #[inline]
            pub(crate) fn window_after(&mut self, ack: &AckEvent) -> f64 {
                each_kind!($kinds self, control => control.window_after_apart(ack))
            }
        }
    };
}

macro_rules! controls {
    (
        $($name:literal $(as $title:literal)? => $control:ident($config:ident) $($inline:ident)?
            $({ $($key:ident: $default:literal),+ })?),* $(,)?;
        $steering_name:literal => $steering:ident($steering_config:ident)
    ) => {
        /// Which congestion control, and its parameters.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(tag = "name")]
        #[allow(clippy::large_enum_variant)] // one a group of flows, read when a connection begins
        pub enum ControlConfig {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $control($config),
            )*
            #[doc = concat!("`", $steering_name, "`")]
            #[serde(rename = $steering_name)]
            $steering($steering_config),
            /// One from outside, which a scenario names as any other.
            #[serde(rename = "external")]
            External(ExternalConfig),
        }

        /// A congestion control of any kind, which nothing steers.
        #[derive(Debug)]
        pub enum Kind {
            $(
                #[doc = concat!("`", $name, "`")]
                $control(kept!($control $($inline)?)),
            )*
            /// One of these, with another slow start.
            HyStart(Box<HyStart>),
            /// One of these, with a limited slow start.
            LimitedSlowStart(Box<LimitedSlowStart>),
            /// One of these, with its rate and window shifted.
            Level(Box<Level>),
            /// One from outside.
            External(Box<ExternalControl>),
            /// One that counts its calls.
            #[cfg(test)]
            Probe(Box<crate::hooks::tests::Probe>),
        }

        impl ControlConfig {
            /// A control at the start of a connection.
            pub fn build(&self, start: Start) -> Control {
                Control::plain(match self {
                    $(Self::$control(config) => Kind::$control($control::new(config, start).into()),)*
                    Self::External(config) => Kind::External(Box::new(ExternalControl::new(config, start))),
                    Self::$steering(config) => return $steering::control(config, start),
                })
            }

            fn check_ranges(&self) -> Result<(), ConfigError> {
                match self {
                    $(Self::$control(config) => config.check_ranges(),)*
                    Self::$steering(config) => config.check_ranges(),
                    Self::External(_) => Ok(()),
                }
            }

            /// The name that scenarios use.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$control(_) => $name,)*
                    Self::$steering(_) => $steering_name,
                    Self::External(config) => config.name(),
                }
            }
        }

        for_each_hook!(dispatch ($($control)* HyStart LimitedSlowStart Level External));

        /// Every congestion control.
        pub const CATALOG: &[Entry] = &[
            $(Entry {
                name: $name,
                summary: $control::SUMMARY,
                reference: $control::REFERENCE,
                parameters: $config::PARAMETERS,
                defaults: if $control::NEEDS.l4s {
                    &[$($((stringify!($key), $default),)+)? ("l4s", "true")]
                } else {
                    &[$($((stringify!($key), $default)),+)?]
                },
                variables: $control::VARIABLES,
            },)*
            Entry {
                name: $steering_name,
                summary: $steering::SUMMARY,
                reference: $steering::REFERENCE,
                parameters: $steering_config::PARAMETERS,
                defaults: &[],
                variables: $steering::VARIABLES,
            },
        ];

        const DECLARED: &[(&str, Needs, bool)] = &[$(($name, $control::NEEDS, $control::STEERABLE)),*];

        /// Controls by their names, and as text writes them, where that is not the same.
        pub const TITLES: &[(&str, &str)] = &[$($(($name, $title),)?)*];
    };
}

controls! {
    "reno" as "Reno" => Reno(RenoConfig) inline,
    "reno_linux" => RenoLinux(RenoLinuxConfig) inline,
    "cubic" as "CUBIC" => Cubic(CubicConfig),
    "cubic_2005" => Cubic2005(Cubic2005Config),
    "cubic_linux" => CubicLinux(CubicLinuxConfig),
    "bic" as "BIC" => Bic(BicConfig),
    "highspeed" as "HighSpeed" => HighSpeed(HighSpeedConfig),
    "scalable" as "Scalable" => Scalable(ScalableConfig),
    "htcp" as "H-TCP" => Htcp(HtcpConfig),
    "westwood" as "Westwood" => Westwood(WestwoodConfig),
    "hybla" as "Hybla" => Hybla(HyblaConfig) inline,
    "veno" as "Veno" => Veno(VenoConfig),
    "illinois" as "Illinois" => Illinois(IllinoisConfig),
    "yeah" as "YeAH" => Yeah(YeahConfig),
    "compound" as "Compound" => Compound(CompoundConfig),
    "lp" as "TCP-LP" => Lp(LpConfig),
    "ledbat++" as "LEDBAT++" => Ledbat(LedbatConfig),
    "copa" as "Copa" => Copa(CopaConfig),
    "vegas" as "Vegas" => Vegas(VegasConfig),
    "nv" as "TCP-NV" => Nv(NvConfig),
    "fast" as "FAST" => Fast(FastConfig),
    "dctcp" as "DCTCP" => Dctcp(DctcpConfig),
    "prague" as "Prague" => Prague(PragueConfig),
    "bbr" as "BBR" => Bbr(BbrConfig) { recovery: "rack" },
    "bbr_linux" => BbrLinux(BbrLinuxConfig) { recovery: "rack" },
    "bbr2" as "BBRv2" => Bbr2(Bbr2Config) { recovery: "rack" },
    "bbr3" as "BBRv3" => Bbr3(Bbr3Config) { recovery: "rack" },
    "tcp_rate" as "TCP Rate" => TcpRate(TcpRateConfig),
    "rate_based" => RateBased(RateBasedConfig),
    "tfrc" as "TFRC" => Tfrc(TfrcConfig),
    "gcc" as "GCC" => Gcc(GccConfig),
    "scream" as "SCReAM" => Scream(ScreamConfig);
    "multiple_time_scale" => MultipleTimeScale(MultipleTimeScaleConfig)
}

/// Names of the controls for which `$which` is true; it knows their needs, and whether they can be steered.
macro_rules! declared {
    (|$needs:ident, $steerable:ident| $which:expr) => {{
        const COUNT: usize = {
            let (mut index, mut count) = (0, 0);
            while index < DECLARED.len() {
                let (_, $needs, $steerable) = DECLARED[index];
                count += if $which { 1 } else { 0 };
                index += 1;
            }
            count
        };
        const NAMES: [&str; COUNT] = {
            let (mut names, mut index, mut count) = ([""; COUNT], 0, 0);
            while index < DECLARED.len() {
                let (name, $needs, $steerable) = DECLARED[index];
                if $which {
                    names[count] = name;
                    count += 1;
                }
                index += 1;
            }
            names
        };
        &NAMES
    }};
}

/// Controls that the large time scale can steer.
pub(crate) const STEERABLE: &[&str] = declared!(|_needs, steerable| steerable);
/// Those of them that set a rate.
pub(crate) const PACED: &[&str] = declared!(|needs, steerable| steerable && needs.pacing);
/// Controls that can send datagrams.
const FROM_REPORTS: &[&str] = declared!(|needs, _steerable| needs.from_reports);
/// Those of them that can be steered.
const STEERED_FROM_REPORTS: &[&str] = declared!(|needs, steerable| steerable && needs.from_reports);

/// The response of a control to an ACK, as a function that is jumped to: were the controls' parts of one function, each of
/// them would save the registers that the largest needs.
trait Apart: CongestionControl + Sized {
    #[inline(never)]
    fn window_after_apart(&mut self, ack: &AckEvent) -> f64 {
        self.on_ack(ack);
        self.window()
    }
}

impl<C: CongestionControl> Apart for C {}

impl ControlConfig {
    /// Refuses a configuration with values outside the declared ranges, or that contradicts itself or the path: `rtt`
    /// is the longest that its flows have.
    ///
    /// # Errors
    /// [`ConfigError`]: what is accepted.
    pub fn check(&self, rtt: Duration) -> Result<(), ConfigError> {
        self.check_ranges()?;
        match self {
            Self::MultipleTimeScale(config) => config
                .check(rtt)
                .and_then(|()| config.steered().check(rtt).map_err(|error| error.within("control"))),
            _ => Ok(()),
        }
    }

    /// The knowledge that connections with one destination share, if they are configured so. It is made once for
    /// them, and handed to each of their controls ([`Control::share`]).
    pub fn knowledge(&self) -> Option<Knowledge> {
        match self {
            Self::MultipleTimeScale(config) => MultipleTimeScale::knowledge(config),
            _ => None,
        }
    }

    /// The control itself, or the one that it steers.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::MultipleTimeScale(config) => config.steered(),
            control => control,
        }
    }

    pub(crate) fn innermost_mut(&mut self) -> &mut Self {
        match self {
            Self::MultipleTimeScale(config) => config.steered_mut(),
            control => control,
        }
    }

    /// Returns the needs of its controls from the endpoint.
    pub fn needs(&self) -> Needs {
        match self.innermost() {
            Self::External(config) => config.needs(), // known without making one
            control => control.sample().needs(),
        }
    }

    /// A control of this kind, to ask it what is the same for all.
    pub(crate) fn sample(&self) -> Control {
        self.build(Start::NEW)
    }

    /// Refuses what cannot steer datagrams: a control to which reports of the receiver, one a round trip, are not
    /// enough.
    ///
    /// # Errors
    /// [`ConfigError`]: what is accepted.
    pub fn check_for_datagrams(&self, rtt: Duration) -> Result<(), ConfigError> {
        if !self.needs().from_reports {
            let accepted = format!(
                "{}, or multiple_time_scale around {}: datagrams need a control that sets their rate from one report a round trip",
                FROM_REPORTS.join(", "),
                STEERED_FROM_REPORTS.join(" or "),
            );
            return Err(ConfigError::new("name", self.innermost().name(), accepted));
        }
        self.check(rtt)
    }
}
