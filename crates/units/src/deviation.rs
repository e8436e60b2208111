//! Where code does otherwise than the source that it follows, on purpose: declared in code, held by a test, and printed
//! by the documentation.
//!
//! A crate has one list of them, written by [`deviations!`](crate::deviations). Each has a test that fails when the
//! code does what the source asks: then the entry goes, so that none outlives its cause.

use serde::Serialize;

/// A rule of a source, and what this code does instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Deviation {
    /// Its name, which is that of its test.
    pub id: &'static str,
    /// The source, with the section or function.
    pub source: &'static str,
    /// The rule of the source.
    pub there: &'static str,
    /// The behaviour of this code.
    pub here: &'static str,
    /// Why.
    pub why: &'static str,
    /// The file, from the crate's folder on.
    pub file: &'static str,
}

/// Declares a crate's deviations, and a test for each: the function of the same name in the module `still_deviates`,
/// which stands beside the list, and panics when the deviation is gone.
#[macro_export]
macro_rules! deviations {
    ($(
        $id:ident {
            source: $source:literal,
            there: $there:literal,
            here: $here:literal,
            why: $why:literal,
            file: $file:literal $(,)?
        }
    )*) => {
        /// Where this crate does otherwise than the sources that it follows, on purpose.
        pub const DEVIATIONS: &[$crate::Deviation] = &[$(
            $crate::Deviation {
                id: stringify!($id),
                source: $source,
                there: $there,
                here: $here,
                why: $why,
                file: $file,
            },
        )*];

        #[cfg(test)]
        mod still_deviates;

        #[cfg(test)]
        mod each {
            $(
                #[test]
                fn $id() {
                    super::still_deviates::$id();
                }
            )*

            #[test]
            fn each_names_a_file_of_the_crate() {
                for deviation in super::DEVIATIONS {
                    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(deviation.file);
                    assert!(file.is_file(), "{}: no file {}", deviation.id, file.display());
                }
            }
        }
    };
}
