//! Scripts of packetdrill (Cardwell et al., USENIX ATC 2013) against our sender and receiver: docs/simulator.md, "Held
//! against Linux".
//!
//! | file | what |
//! | --- | --- |
//! | `lexer`, `parser`, `packets`, `expressions` | the language; `script` is what it says |
//! | `settings`, `applicability` | shell commands and options of sockets, and what of a script does not apply |
//! | `linux` | our endpoint as Linux has it |
//! | `bytes`, `endpoint` | bytes, flags and windows of scripts to packets of our sender and receiver, and back |
//! | `driver` | a script on a clock of its own |
//! | `python`, `information` | assertions, and the values that they ask for |
//! | `report`, `runner` | all scripts of a folder; the program of `make packetdrill` |

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]

mod applicability;
mod bytes;
#[path = "../../../congestion/tests/common/mod.rs"]
mod common;
mod driver;
mod driving;
mod endpoint;
mod expressions;
mod information;
mod language;
mod lexer;
mod linux;
mod packets;
mod parser;
mod python;
mod report;
mod reports;
mod script;
mod settings;
