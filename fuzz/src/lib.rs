//! What the fuzz targets do with bytes; tests of the crates run the same on the corpus.

pub mod scenario;
pub mod traces;
