"""A scenario in the units that the simulator takes: no defaults, no text (``crates/sim/src/scenario.rs``)."""
