//! The types that the fields of configurations have: which kind of parameter each is, and the check of its range.

use super::{Kind, Parameter};
use crate::{Bytes, ConfigError, Duration, Packets, Rate};
use std::num::NonZeroU64;

/// A value whose parameter declares what is accepted.
pub trait Bounded {
    /// Refuses a value that the parameter does not accept. Types that hold nothing else need no check.
    ///
    /// # Errors
    /// [`ConfigError`]: the parameter's name, what was found, what is accepted.
    fn check_range(&self, _parameter: &Parameter) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// A type that says which kind of parameter its fields are.
///
/// [`configuration!`](crate::configuration) asks it where a declaration names no kind.
pub trait ParameterType: Bounded {
    /// How the parameter is written.
    const KIND: Kind;
    /// The accepted names, if it is a choice.
    const CHOICES: &'static [&'static str] = &[];
}

/// Types that are one number: it must be within the range.
macro_rules! numbers {
    ($($type:ty => $kind:ident, $self:ident => $number:expr;)*) => {
        $(
            impl Bounded for $type {
                fn check_range(&$self, parameter: &Parameter) -> Result<(), ConfigError> {
                    parameter.check_number($number)
                }
            }

            impl ParameterType for $type {
                const KIND: Kind = Kind::$kind;
            }
        )*
    };
}

numbers! {
    f64 => Number, self => *self;
    u32 => Integer, self => f64::from(*self);
    u64 => Integer, self => *self as f64;
    NonZeroU64 => Integer, self => self.get() as f64;
    Duration => Duration, self => self.as_ps() as f64;
    Rate => Rate, self => self.as_bps() as f64;
    Bytes => Bytes, self => self.0 as f64;
    Packets => Packets, self => self.0 as f64;
}

impl Bounded for bool {}

impl ParameterType for bool {
    const KIND: Kind = Kind::Boolean;
}

/// `None` is what the default names: "off", "unlimited".
impl<T: Bounded> Bounded for Option<T> {
    fn check_range(&self, parameter: &Parameter) -> Result<(), ConfigError> {
        self.as_ref().map_or(Ok(()), |value| value.check_range(parameter))
    }
}

impl<T: ParameterType> ParameterType for Option<T> {
    const KIND: Kind = T::KIND;
    const CHOICES: &'static [&'static str] = T::CHOICES;
}

/// Lists have rules of their own, which who takes them checks.
impl<T> Bounded for Vec<T> {}

impl ParameterType for Vec<f64> {
    const KIND: Kind = Kind::Numbers;
}

impl ParameterType for Vec<Bytes> {
    const KIND: Kind = Kind::Sizes;
}

/// What is behind it checks itself.
impl<T> Bounded for Box<T> {}
