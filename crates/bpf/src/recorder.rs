//! The writer of recorded controls into a file.
//!
//! While the run lasts, calls are taken from the kernel's buffers as they are, into temporary files: to make text of them then would make
//! packets late.

use crate::control::{Calls, Control};
use crate::error::BpfError;
use crate::libbpf::Ring;
use parshall_replay::{Call, End, Header, Writer};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often the kernel's buffers are emptied: nobody is woken by a call.
const PERIOD: Duration = Duration::from_millis(20);

/// Records what controls are called with.
pub struct Recorder {
    path: PathBuf,
    writer: Writer,
    /// CLOCK_MONOTONIC at time 0.
    epoch_ns: u64,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Vec<Taken>>>,
}

/// What was taken of a control.
struct Taken {
    name: String,
    ring: Ring,
    /// It has no name: it is gone with the process.
    file: File,
}

impl Recorder {
    /// Takes what `controls` are called with from now on, for the file `path`; each has the name by which it is recorded. Time 0 is
    /// `epoch_ns` of CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// The file, or temporary ones beside it, cannot be written.
    pub fn begin(
        controls: &mut BTreeMap<String, Control>,
        path: &Path,
        epoch_ns: u64,
    ) -> Result<Self, BpfError> {
        let unwritten = |source| BpfError::Unwritten { path: path.into(), source };
        let directory = path.parent().unwrap_or(Path::new("."));
        let (mut taken, mut inner) = (Vec::new(), BTreeMap::new());
        for (name, control) in controls {
            let Some(Calls { inner: names, ring }) = control.take_calls() else { continue };
            inner.insert(name.clone(), names);
            let file = tempfile::tempfile_in(directory).map_err(unwritten)?;
            taken.push(Taken { name: name.clone(), ring, file });
        }
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        let writer = Writer::create(path, &Header::new(kernel, inner)).map_err(unwritten)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let body = move || loop {
            let last = stopped.load(Ordering::Acquire);
            for Taken { ring, file, .. } in &mut taken {
                ring.take(|bytes| file.write_all(bytes))?;
            }
            if last {
                return Ok(taken);
            }
            thread::sleep(PERIOD);
        };
        let thread = thread::Builder::new().name("recorder".into()).spawn(body).map_err(unwritten)?;
        Ok(Self { path: path.into(), writer, epoch_ns, stop, thread })
    }

    /// Writes the calls, and how many `controls` had no room for. `flow_of` says which flow has an address; calls of others are left out.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(
        self,
        controls: &BTreeMap<String, Control>,
        flow_of: impl Fn(u32) -> Option<u32>,
    ) -> Result<End, BpfError> {
        let Self { path, mut writer, epoch_ns, stop, thread } = self;
        let unwritten = |source| BpfError::Unwritten { path: path.clone(), source };
        stop.store(true, Ordering::Release);
        for taken in thread.join().map_err(|_| BpfError::Died)?.map_err(unwritten)? {
            copy(taken, epoch_ns, &flow_of, &mut writer).map_err(unwritten)?;
        }
        let mut dropped = 0;
        for control in controls.values() {
            dropped += control.dropped()?;
        }
        writer.finish(dropped).map_err(unwritten)
    }
}

/// Writes what was taken of a control.
fn copy(
    Taken { name, mut file, .. }: Taken,
    epoch_ns: u64,
    flow_of: &impl Fn(u32) -> Option<u32>,
    writer: &mut Writer,
) -> io::Result<()> {
    let length = file.stream_position()?;
    if length % Call::BYTES as u64 != 0 {
        let problem = "the control was built with another bpf/recorder.h";
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    file.rewind()?;
    let mut from = BufReader::new(file);
    let mut bytes = [0; Call::BYTES];
    for _ in 0..length / Call::BYTES as u64 {
        from.read_exact(&mut bytes)?;
        let mut call = Call::from_memory(&bytes).unwrap_or_default();
        call.time_ns = call.time_ns.saturating_sub(epoch_ns);
        if let Some(flow) = flow_of(u32::from_be(call.flow)) {
            writer.write(&name, &Call { flow, ..call })?;
        }
    }
    Ok(())
}
