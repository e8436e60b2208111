//! [`configuration!`](crate::configuration) and [`choice!`](crate::choice), and what they are made of: all of it is known when
//! the program is compiled, so a bound without its unit, or a default that is out of range or none of the choices, stops the compiler.

use super::{Kind, Parameter};
use crate::parse::{is_same, smallest_units, BYTES, DURATION, PACKETS, RATE};

/// A literal of a declaration: the end of a range, as a number or as a text with its unit.
pub struct Literal<T>(pub T);

/// The end of a range as it is declared.
#[derive(Clone, Copy)]
pub enum Bound {
    /// `0.5`
    Number(f64),
    /// `"10 ms"`
    Text(&'static str),
}

impl Literal<f64> {
    /// It is a number.
    pub const fn bound(self) -> Bound {
        Bound::Number(self.0)
    }
}

impl Literal<u64> {
    /// It is a whole number.
    pub const fn bound(self) -> Bound {
        Bound::Number(self.0 as f64)
    }
}

impl Literal<&'static str> {
    /// It is a text.
    pub const fn bound(self) -> Bound {
        Bound::Text(self.0)
    }
}

impl Kind {
    /// A text with its unit as the number that a resolved scenario has; `None`: texts of this kind need not have a unit.
    const fn resolved(self, text: &str) -> Option<f64> {
        let family = match self {
            Self::Duration => &DURATION,
            Self::Rate => &RATE,
            Self::Bytes | Self::Size => &BYTES,
            Self::Packets => &PACKETS,
            _ => return None,
        };
        match smallest_units(text, family) {
            Ok(value) => Some(value as f64),
            Err(problem) => panic!("{}", problem),
        }
    }

    const fn bound(self, bound: Bound) -> f64 {
        match bound {
            Bound::Number(number) => number,
            Bound::Text(text) => match self.resolved(text) {
                Some(number) => number,
                None => panic!("a bound in quotes, of a parameter that has no unit"),
            },
        }
    }
}

/// What the macro builds a parameter of.
#[doc(hidden)]
impl Parameter {
    /// One that must be given, with any value.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        choices: &'static [&'static str],
        doc: &'static str,
    ) -> Self {
        Self { name, kind, default: None, min: None, max: None, choices, description: doc.trim_ascii() }
    }

    /// With a smallest value.
    #[must_use]
    pub const fn with_min(self, min: Bound) -> Self {
        Self { min: Some(self.kind.bound(min)), ..self }
    }

    /// With a largest value.
    #[must_use]
    pub const fn with_max(self, max: Bound) -> Self {
        Self { max: Some(self.kind.bound(max)), ..self }
    }

    /// With a default, which must be one of the choices, or a quantity within the ends of the range, which are known by then. A
    /// default that is no number has a name of its own, as "off".
    #[must_use]
    pub const fn with_default(self, default: &'static str) -> Self {
        let has_unit = matches!(self.kind, Kind::Duration | Kind::Rate | Kind::Bytes | Kind::Packets);
        if has_unit && default.as_bytes()[0].is_ascii_digit() {
            let value = self.kind.resolved(default);
            assert!(
                is_at_most(self.min, value) && is_at_most(value, self.max),
                "a default that is out of range"
            );
        }
        if matches!(self.kind, Kind::Choice | Kind::Rules | Kind::Control | Kind::Queue) {
            let mut index = 0;
            while index < self.choices.len() && !is_same(self.choices[index].as_bytes(), default.as_bytes()) {
                index += 1;
            }
            assert!(index < self.choices.len(), "a default that is none of the choices");
        }
        Self { default: Some(default), ..self }
    }
}

/// True if two numbers are in order, if there are two.
const fn is_at_most(least: Option<f64>, most: Option<f64>) -> bool {
    match (least, most) {
        (Some(least), Some(most)) => least <= most,
        _ => true,
    }
}

/// Declares a configuration struct and its [`Parameter`] list in one place.
///
/// A field is `name: Type, default "text", min bound, max bound;` where the last three may be missing: without a default, a scenario
/// must give the value. The type says which kind of parameter it is
/// ([`ParameterType`](crate::parameters::ParameterType)): quantities with a unit are [`Duration`](crate::Duration),
/// [`Rate`](crate::Rate), [`Bytes`](crate::Bytes) and [`Packets`](crate::Packets), and their bounds are written with
/// it.
/// `Type => Kind` says it where the type alone does not, as that of a [`Weight`](crate::parameters::Kind::Weight).
///
/// ```
/// use parshall_units::{choice, configuration, Duration};
///
/// choice! {
///     /// What a window counts.
///     pub enum Counted {
///         /// Packets, of whatever size.
///         Packets = "packets",
///         /// Bytes.
///         Bytes = "bytes",
///     }
/// }
///
/// configuration! {
///     /// Additive increase, multiplicative decrease.
///     pub struct AimdConfig {
///         /// Packets added a round trip.
///         increase: f64, default "1", min 0.0, max 1000.0;
///         /// Factor the window keeps at a loss.
///         keep: f64, default "0.5", min 0.0, max 1.0;
///         /// Pause after a loss.
///         pause: Duration, default "10 ms", min "1 us", max "1 s";
///         /// What the window counts.
///         counts: Counted, default "packets";
///     }
/// }
///
/// let [.., pause, counts] = AimdConfig::PARAMETERS else { panic!() };
/// assert_eq!((pause.name, pause.min), ("pause", Some(1e6)));
/// assert_eq!(counts.choices, ["packets", "bytes"]);
/// let resolved = r#"{"increase": 1.0, "keep": 0.5, "pause": 10000000000, "counts": "bytes"}"#;
/// let config: AimdConfig = serde_json::from_str(resolved).unwrap();
/// assert_eq!((config.pause, config.counts), (Duration::from_millis(10), Counted::Bytes));
/// assert!(config.check_ranges().is_ok());
/// let error = AimdConfig { keep: f64::NAN, ..config }.check_ranges().unwrap_err();
/// assert_eq!(error.to_string(), "keep: found NaN; write a number from 0 to 1 (Factor the window keeps at a loss)");
/// ```
///
/// A bound without its unit is not compiled:
///
/// ```compile_fail
/// parshall_units::configuration! {
///     /// A pause.
///     pub struct PauseConfig {
///         /// Its length.
///         pause: parshall_units::Duration, default "1 ms", max "10";
///     }
/// }
/// assert_eq!(PauseConfig::PARAMETERS.len(), 1);
/// ```
///
/// Neither is a default out of range:
///
/// ```compile_fail
/// parshall_units::configuration! {
///     /// A pause.
///     pub struct PauseConfig {
///         /// Its length.
///         pause: parshall_units::Duration, default "1 s", max "10 ms";
///     }
/// }
/// assert_eq!(PauseConfig::PARAMETERS.len(), 1);
/// ```
#[macro_export]
macro_rules! configuration {
    (
        $(#[$outer:meta])*
        pub struct $name:ident {
            $(
                #[doc = $doc:literal]
                $field:ident : $type:ty $(=> $kind:ident $(($($choices:tt)+))?)?
                $(, default $default:literal)? $(, min $min:literal)? $(, max $max:literal)? ;
            )*
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(#[doc = $doc] pub $field: $type,)*
        }

        impl $name {
            /// The parameters as the catalog lists them.
            pub const PARAMETERS: &'static [$crate::parameters::Parameter] = &[
                $($crate::parameters::Parameter::new(
                    stringify!($field),
                    $crate::kind_of!($type $(, $kind)?),
                    $crate::choices_of!($type $(, [$($($choices)+)?])?),
                    $doc,
                )
                $(.with_min($crate::parameters::Literal($min).bound()))?
                $(.with_max($crate::parameters::Literal($max).bound()))?
                $(.with_default($default))?,)*
            ];

            /// Refuses values that are outside the declared ranges, or none of the declared choices.
            ///
            /// # Errors
            /// [`ConfigError`]($crate::ConfigError): the first key, what was found, what is accepted.
            #[allow(unused_mut, unused_variables)] // of a struct without fields
            pub fn check_ranges(&self) -> Result<(), $crate::ConfigError> {
                let mut parameters = Self::PARAMETERS.iter();
                $($crate::parameters::Bounded::check_range(
                    &self.$field,
                    parameters.next().expect(concat!("the parameter ", stringify!($field))),
                )?;)*
                Ok(())
            }
        }
    };
}

/// Declares an enum whose values are chosen by name: the names stand here once, for scenarios, catalogs and messages.
///
/// ```
/// parshall_units::choice! {
///     /// Who is served first.
///     pub enum Order {
///         /// Who came first.
///         FirstIn = "first_in",
///         /// Who came last.
///         LastIn = "last_in",
///     }
/// }
/// let order: Order = serde_json::from_str(r#""last_in""#).unwrap();
/// assert_eq!((order, order.to_string()), (Order::LastIn, "last_in".to_owned()));
/// assert!(serde_json::from_str::<Order>(r#""other""#).is_err());
/// assert_eq!(Order::ALL, [Order::FirstIn, Order::LastIn]);
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[$outer:meta])*
        pub enum $name:ident {
            $(#[doc = $doc:literal] $variant:ident = $text:literal),+ $(,)?
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
        pub enum $name {
            $(#[doc = $doc] #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $text,)+ })
            }
        }

        /// Each of its values is accepted.
        impl $crate::parameters::Bounded for $name {}

        impl $crate::parameters::ParameterType for $name {
            const KIND: $crate::parameters::Kind = $crate::parameters::Kind::Choice;
            const CHOICES: &'static [&'static str] = &[$($text),+];
        }
    };
}

/// The kind that a declaration names, or else that of the type.
#[doc(hidden)]
#[macro_export]
macro_rules! kind_of {
    ($type:ty) => {
        <$type as $crate::parameters::ParameterType>::KIND
    };
    ($type:ty, $kind:ident) => {
        $crate::parameters::Kind::$kind
    };
}

/// The choices that a declaration lists with a kind, or says where they are listed (`in LIST`), or else those of the type.
#[doc(hidden)]
#[macro_export]
macro_rules! choices_of {
    ($type:ty) => {
        <$type as $crate::parameters::ParameterType>::CHOICES
    };
    ($type:ty, [in $choices:path]) => {
        $choices
    };
    ($type:ty, [$($choice:literal),*]) => {
        &[$($choice),*]
    };
}
