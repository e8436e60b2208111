//! Python's door to the simulator: the module `parshall._core`, conversions and errors only.

use pyo3::prelude::*;

#[pymodule(name = "_core")]
mod core {}
