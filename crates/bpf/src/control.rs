//! A control in the kernel.

use crate::error::BpfError;
use crate::libbpf::{Link, Map, Program, Ring};
use crate::object::Object;
use std::path::Path;

/// Bytes for calls that nobody has taken yet: some seconds of 100 flows at 1 Gbit/s, as the thread that takes them may wait for a CPU.
const ROOM: u32 = 64 << 20;

/// The recording of a control's calls, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// They are not.
    Off,
    /// They are.
    On,
}

/// A congestion control that sockets can have as long as this lives.
pub struct Control {
    name: String,
    /// What is recorded of it, until somebody takes it.
    calls: Option<Calls>,
    _link: Link,
    program: Program,
    dropped: Option<Map>,
}

/// The calls of a recorded control.
pub(crate) struct Calls {
    pub(crate) inner: Vec<String>,
    pub(crate) ring: Ring,
}

impl Control {
    /// Loads it, and registers it.
    ///
    /// # Errors
    /// This machine cannot, or the kernel refuses.
    pub fn load(object: &Object, recording: Recording) -> Result<Self, BpfError> {
        if !Path::new("/sys/kernel/btf/vmlinux").exists() {
            return Err(BpfError::NoBtf);
        }
        let program = Program::open(&object.elf, &object.what)?;
        let no_control = || BpfError::NoControl {
            what: object.what.clone(),
            problem: "libbpf finds no control in it".into(),
        };
        let control = program.control().ok_or_else(no_control)?;
        if let Some(parameters) = &object.parameters {
            let map = program.map(".rodata.parameters").ok_or_else(|| BpfError::NoControl {
                what: object.what.clone(),
                problem: "it takes no parameters".into(),
            })?;
            program.set_value(map, parameters)?;
        }
        let recorded = match recording {
            Recording::Off => None,
            Recording::On => {
                let no_recorder = || BpfError::NoRecorder(object.what.clone());
                let map = |name| program.map(name).ok_or_else(no_recorder);
                let (calls, settings) = (map("calls")?, map(".rodata.settings")?);
                program.set_size(calls, ROOM)?;
                program.set_value(settings, &1_u32.to_ne_bytes())?;
                Some((calls, map("dropped")?, object.inner.clone().unwrap_or_default()))
            }
        };
        program.load(control)?;
        let dropped = recorded.as_ref().map(|(_, dropped, _)| *dropped);
        let calls = recorded
            .map(|(calls, _, inner)| Ok::<_, BpfError>(Calls { inner, ring: program.ring(calls)? }))
            .transpose()?;
        let link = program.attach(control)?;
        Ok(Self { name: object.name.clone(), calls, _link: link, program, dropped })
    }

    /// Its name for sockets.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn take_calls(&mut self) -> Option<Calls> {
        self.calls.take()
    }

    /// Calls for which there was no room.
    pub(crate) fn dropped(&self) -> Result<u64, BpfError> {
        self.dropped.map_or(Ok(0), |map| self.program.first(map))
    }
}
