//! Captures in, records out.

use crate::arrivals::Arrivals;
use crate::capture::{read_frames, Format, Frame, Stop};
use crate::error::{TraceError, ACCEPTED};
use crate::filter::{Filter, Selection};
use crate::flows::Flows;
use crate::packet::link::LINK_TYPES;
use crate::packet::{decode, Content};
use crate::path_times::Nanos;
use crate::series;
use parshall_reading::Input;
use parshall_records::{RecordsError, Tables};
use serde::{Deserialize, Serialize, Serializer};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// A clock that goes back further than this was set, and time goes on from where it was; else frames are out of order.
const CLOCK_STEP: u64 = 1_000_000_000;

/// Bytes at the start of a file that tell what it is.
const HEAD: usize = 4096;

/// The options of observations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Time between two rows of `flow_samples` of a flow, in seconds; `None`: the table stays empty.
    pub sample_every_s: Option<f64>,
    /// The round-trip time of a series, in seconds; `None`: that of its samples, or of a cwnd series, which has none, from its
    /// slope, as Reno's.
    pub rtt_s: Option<f64>,
    /// Which columns of a CSV are what, as `time=t,cwnd=w`; `None`: the file is recognised by itself.
    #[serde(default)]
    pub columns: Option<String>,
    /// The packets of a capture to look at; of series, all samples are.
    #[serde(default)]
    pub filter: Filter,
}

/// Watches and stops an observation from another thread.
#[derive(Debug, Default)]
pub struct Monitor {
    /// Set to stop.
    pub cancel: AtomicBool,
    /// Frames read so far.
    pub frames: AtomicU64,
    /// Bytes read so far, decompressed.
    pub bytes: AtomicU64,
}

/// The content of a trace, apart from its flows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// The files, in order.
    #[serde(serialize_with = "readable")]
    pub files: Vec<PathBuf>,
    /// `pcap`, `pcapng`, or a kind of series: `cwnd`, `tcp_info`, `columns`, `ss`, `iperf3`, `flent`, `qlog`.
    pub format: &'static str,
    /// Their compressions, outermost first.
    pub compression: Vec<&'static str>,
    /// Link types of the frames, by number.
    pub link_types: Vec<i32>,
    /// Frames, or rows of a series.
    pub frames: u64,
    /// Bytes of the frames on the wire.
    pub wire_bytes: u64,
    /// TCP packets.
    pub tcp: u64,
    /// Fragments of IP packets, which are not put together.
    pub fragments: u64,
    /// Frames of other protocols.
    pub other: u64,
    /// Frames with headers that contradict themselves, or of which too little was captured.
    pub unreadable: u64,
    /// Frames of a link layer that is not understood.
    pub unknown_link: u64,
    /// Frames of which not everything was captured.
    pub cut: u64,
    /// Packets that were captured twice, and counted once.
    pub copies: u64,
    /// Frames whose time is before that of the frame before; they are given its time.
    pub clock_backwards: u64,
    /// Furthest that the clock went back, in seconds.
    pub clock_backwards_s: f64,
    /// Frames without a time.
    pub without_time: u64,
    /// Time of the first frame, in seconds since 1970; `None` without frames.
    pub started_unix_s: Option<f64>,
    /// From the first frame to the last, in seconds.
    pub duration_s: f64,
    /// Flows.
    pub flows: u32,
    /// Connections without data.
    pub connections_without_data: u64,
    /// Connections that were let go before their end, to bound memory.
    pub evicted: u64,
    /// Reductions of the window that the sender took back: no losses.
    pub undone_reductions: u64,
    /// Values of the window that were none, and passed over.
    pub spikes: u64,
    /// Where a file could not be read to its end: its number, the byte after decompression, and why.
    pub stopped: Vec<StoppedFile>,
    /// Remarks for readers of the numbers.
    pub remarks: Vec<String>,
}

/// Names as far as they are text: a file may have any bytes for a name, and JSON only text.
fn readable<S: Serializer>(files: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(files.iter().map(|file| file.to_string_lossy()))
}

fn readable_one<S: Serializer>(file: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&file.to_string_lossy())
}

/// A file that could not be read to its end.
#[derive(Clone, Debug, Serialize)]
pub struct StoppedFile {
    /// The file.
    #[serde(serialize_with = "readable_one")]
    pub file: PathBuf,
    /// Bytes of it, after decompression, that were used.
    pub byte: u64,
    /// The fault that was found there.
    pub reason: String,
}

/// Observes a trace and writes its flows to `tables`. Several files are the consecutive parts of one capture.
///
/// # Errors
/// A file cannot be read or is no trace, the records cannot be written, or the monitor cancelled.
pub fn observe(
    files: &[PathBuf],
    options: &Options,
    tables: &mut Tables,
    monitor: &Monitor,
) -> Result<Summary, TraceError> {
    let mut observer = Observer::new(options, monitor);
    for (index, path) in files.iter().enumerate() {
        let cannot = |source| TraceError::Read { path: path.clone(), source };
        let mut input = Input::open(path).map_err(cannot)?;
        let head = input.peek(HEAD).map_err(cannot)?;
        match (Format::recognise(&head), series::recognise(&head, options)) {
            (Some(format), _) => observer.capture(path, format, input, tables)?,
            (None, Some(kind)) if files.len() == 1 => {
                let again = || Input::open(path);
                let source = series::Source { path, input, again };
                return series::observe(kind, source, options, tables, monitor);
            }
            (None, Some(_)) => {
                let problem = "a series, and not a part of a capture; observe series one by one".into();
                return Err(TraceError::Refused { path: path.clone(), problem });
            }
            (None, None) => return Err(refuse(path, &head, &input)),
        }
        observer.summary.files.push(path.clone());
        if index == 0 && observer.summary.frames == 0 && observer.summary.stopped.is_empty() {
            observer.summary.remarks.push(format!("{} holds no packet", path.display()));
        }
    }
    observer.finish(tables)
}

fn refuse(path: &Path, head: &[u8], input: &Input) -> TraceError {
    let found = if head.is_empty() {
        match input.problem().text() {
            Some(text) => format!("compressed data that cannot be read ({text})"),
            None => "an empty file".into(),
        }
    } else if head.get(257..262) == Some(b"ustar") {
        "a tar archive; unpack it (tar -xf) and observe the files in it".into()
    } else if head.iter().take(64).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) {
        let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
        let shown: String = String::from_utf8_lossy(line).chars().take(60).collect();
        format!("text that begins with \"{shown}\"")
    } else {
        let hex: Vec<String> = head.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("a file that begins with the bytes {}", hex.join(" "))
    };
    TraceError::Refused { path: path.to_owned(), problem: format!("found {found}; {ACCEPTED}") }
}

/// What [`observe`] does with captures.
#[derive(Debug)]
struct Observer<'a> {
    flows: Flows,
    selection: Selection,
    arrivals: Arrivals,
    summary: Summary,
    monitor: &'a Monitor,
    /// Nanoseconds since 1970 of the first frame, and of the last one.
    origin: Option<u64>,
    last: u64,
    /// What the clock was set back by, in steps.
    shift: u64,
}

impl<'a> Observer<'a> {
    fn new(options: &Options, monitor: &'a Monitor) -> Self {
        let sample_every = options.sample_every_s.map(|seconds| (seconds * 1e9) as Nanos);
        Self {
            flows: Flows::new(sample_every),
            selection: Selection::new(&options.filter),
            arrivals: Arrivals::new(),
            summary: Summary::default(),
            monitor,
            origin: None,
            last: 0,
            shift: 0,
        }
    }

    fn capture(
        &mut self,
        path: &Path,
        format: Format,
        input: Input,
        tables: &mut Tables,
    ) -> Result<(), TraceError> {
        self.summary.format = format.name();
        self.summary.compression = input.compression().to_vec();
        let mut failed = None;
        let mut cancelled = false;
        let stop = read_frames(format, input, |frame| {
            if self.summary.frames.is_multiple_of(4096) {
                self.monitor.frames.store(self.summary.frames, Relaxed);
                self.monitor.bytes.store(self.summary.wire_bytes, Relaxed);
                if self.monitor.cancel.load(Relaxed) {
                    cancelled = true;
                    return ControlFlow::Break(());
                }
            }
            match self.frame(&frame, tables) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        if cancelled {
            return Err(TraceError::Interrupted);
        }
        if let Some(Stop { byte, reason }) = stop {
            self.summary.stopped.push(StoppedFile { file: path.to_owned(), byte, reason });
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    #[inline]
    fn frame(&mut self, frame: &Frame<'_>, tables: &mut Tables) -> Result<(), RecordsError> {
        let now = self.time(frame);
        if !self.selection.has_time(now) {
            return Ok(());
        }
        let known = self.flows.connections_begun;
        self.content(now, frame, tables)?;
        self.arrivals.frame(now, frame.wire_bytes, self.flows.connections_begun - known);
        Ok(())
    }

    #[inline]
    fn content(&mut self, now: Nanos, frame: &Frame<'_>, tables: &mut Tables) -> Result<(), RecordsError> {
        let summary = &mut self.summary;
        summary.frames += 1;
        summary.wire_bytes += u64::from(frame.wire_bytes);
        summary.cut += u64::from((frame.data.len() as u64) < u64::from(frame.wire_bytes));
        if !summary.link_types.contains(&frame.link_type) && summary.link_types.len() < 64 {
            summary.link_types.push(frame.link_type);
        }
        match decode(frame.link_type, frame.data, frame.wire_bytes) {
            Content::Tcp(packet) => {
                if !self.selection.has(&packet) {
                    return Ok(());
                }
                summary.tcp += 1;
                return self.flows.on_packet(now, &packet, tables);
            }
            Content::Fragment => summary.fragments += 1,
            Content::Other => summary.other += 1,
            Content::Unreadable => summary.unreadable += 1,
            Content::UnknownLink => summary.unknown_link += 1,
        }
        Ok(())
    }

    /// Time since the first frame, which never goes back.
    #[inline]
    fn time(&mut self, frame: &Frame<'_>) -> Nanos {
        let Some(time) = frame.time_ns else {
            self.summary.without_time += 1;
            return self.last.saturating_sub(self.origin.unwrap_or(self.last));
        };
        let time = time.saturating_add(self.shift);
        let origin = *self.origin.get_or_insert(time);
        if time < self.last {
            let back = self.last - time;
            self.summary.clock_backwards += 1;
            self.summary.clock_backwards_s = self.summary.clock_backwards_s.max(back as f64 * 1e-9);
            if back > CLOCK_STEP {
                self.shift = self.shift.saturating_add(back);
            }
        }
        self.last = self.last.max(time);
        self.last - origin
    }

    fn finish(mut self, tables: &mut Tables) -> Result<Summary, TraceError> {
        self.flows.finish(tables)?;
        self.arrivals.write(tables)?;
        let summary = &mut self.summary;
        summary.flows = self.flows.count();
        summary.evicted = self.flows.evicted;
        summary.copies = self.flows.copies;
        summary.connections_without_data = self.flows.empty;
        summary.started_unix_s = self.origin.map(|origin| origin as f64 * 1e-9);
        summary.duration_s = self.last.saturating_sub(self.origin.unwrap_or(self.last)) as f64 * 1e-9;
        summary.remarks.extend(self.flows.doubts.remarks());
        if summary.unknown_link > 0 {
            summary
                .remarks
                .push(format!("frames of a link layer that is not understood; accepted: {LINK_TYPES}"));
        }
        Ok(self.summary)
    }
}

/// Observes a trace in memory and discards the records, for fuzzing and tests; `None`: it is refused.
pub fn observe_bytes(bytes: Vec<u8>) -> Option<Summary> {
    observe_bytes_with(
        bytes,
        &Options { sample_every_s: Some(0.1), rtt_s: None, columns: None, filter: Filter::default() },
    )
}

/// Observes as [`observe_bytes`], with options.
pub fn observe_bytes_with(bytes: Vec<u8>, options: &Options) -> Option<Summary> {
    let path = Path::new("memory");
    let again = bytes.clone();
    let mut input = Input::of_bytes(bytes).ok()?;
    let head = input.peek(HEAD).ok()?;
    let monitor = Monitor::default();
    let mut tables = Tables::none();
    let Some(format) = Format::recognise(&head) else {
        let again = || Input::of_bytes(again);
        let kind = series::recognise(&head, options)?;
        let source = series::Source { path, input, again };
        return series::observe(kind, source, options, &mut tables, &monitor).ok();
    };
    let mut observer = Observer::new(options, &monitor);
    observer.capture(path, format, input, &mut tables).ok()?;
    observer.finish(&mut tables).ok()
}
