//! Why a program of `bpf/` cannot have a group's parameters.

/// A key, what was found, and what the program does.
pub(crate) type Refusal = (&'static str, String, &'static str);
