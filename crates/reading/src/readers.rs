//! The list of readers: what each of them reads, and its limits.

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The limits of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file that is read as a whole, after decompression; `None`: it is read bit by bit, in constant memory.
    pub document: Option<u64>,
    /// Bytes of a line, without its end; `None`: no limit but that of the document.
    pub line: Option<usize>,
    /// True if a file may be compressed, with gzip or zstd.
    pub compressed: bool,
    /// Bytes of memory that reading takes at most, whatever the file; what is made of it afterwards is not counted.
    pub memory: u64,
}

/// Declares [`Reader`] with the limits of each.
macro_rules! readers {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal { document: $document:expr, line: $line:expr, compressed: $compressed:expr, memory: $memory:expr })+) => {
        /// Who reads bytes that others made.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reader {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Reader {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name, which is that of its fuzz target.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The files that it reads, as a sentence.
            pub fn what(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),+),)+
                }
            }

            /// Its limits.
            pub const fn limits(self) -> Limits {
                match self {
                    $(Self::$variant => Limits { document: $document, line: $line, compressed: $compressed, memory: $memory },)+
                }
            }
        }
    };
}

readers! {
    /// Captures, pcap and pcapng.
    Captures = "captures" { document: None, line: None, compressed: true, memory: 1024 * MIB }
    /// Series as text: CSV of windows, of TCP_INFO, of columns that the user names, and logs of `ss`.
    Series = "series" { document: None, line: Some(MIB as usize), compressed: true, memory: 512 * MIB }
    /// Logs of JSON in one piece: TCP_INFO of ndt7, iperf3, flent, qlog.
    JsonLogs = "json_logs" { document: Some(64 * MIB), line: None, compressed: true, memory: 1536 * MIB }
    /// Logs of a JSON value a line: qlog.
    QlogLines = "qlog_lines" { document: None, line: Some(MIB as usize), compressed: true, memory: 512 * MIB }
    /// Recordings of the kernel's congestion controls.
    Recordings = "recordings" { document: None, line: Some(MIB as usize), compressed: true, memory: 2560 * MIB }
    /// Rate traces: a delivery opportunity a line.
    RateTraces = "rate_traces" { document: Some(64 * MIB), line: None, compressed: true, memory: 1024 * MIB }
    /// Distribution functions of sizes and times: a point a line.
    CdfFiles = "cdf_files" { document: Some(4 * MIB), line: None, compressed: true, memory: 512 * MIB }
    /// Text with rows of numbers.
    Numbers = "numbers" { document: Some(32 * MIB), line: None, compressed: true, memory: 1024 * MIB }
    /// Scenarios and sweeps in TOML.
    Scenarios = "scenarios" { document: Some(16_000_000), line: None, compressed: false, memory: 2048 * MIB }
    /// Congestion controls for the kernel, as BPF objects.
    BpfObjects = "bpf_objects" { document: Some(16 * MIB), line: None, compressed: false, memory: 64 * MIB }
    /// Congestion controls of the user's own, in Python or as a library, of which the bytes are kept.
    Controls = "controls" { document: Some(256 * MIB), line: None, compressed: false, memory: 1024 * MIB }
}

impl Reader {
    /// The one of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reader| reader.name() == name)
    }
}

/// A number of bytes as people write it: `64 MiB`, `16 MB`.
pub fn shown(bytes: u64) -> String {
    [(KIB * MIB, "GiB"), (MIB, "MiB"), (1_000_000, "MB"), (KIB, "KiB"), (1, "bytes")]
        .iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit))
        .map_or_else(|| "0 bytes".into(), |(unit, name)| format!("{} {name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_list() {
        for reader in Reader::ALL {
            assert_eq!(Reader::of(reader.name()), Some(*reader));
            assert!(reader.what().trim().ends_with('.'));
        }
        assert_eq!(Reader::of("other"), None);
    }

    #[test]
    fn a_reader_takes_more_memory_than_its_document_or_line() {
        for reader in Reader::ALL {
            let Limits { document, line, memory, .. } = reader.limits();
            assert!(
                document.unwrap_or_default() + line.unwrap_or_default() as u64 <= memory / 2,
                "{reader:?}"
            );
        }
    }

    #[test]
    fn sizes_are_written_in_the_largest_unit() {
        let sizes = [2048 * MIB, 64 * MIB, 16_000_000, 3 * KIB, 7, 0].map(shown);
        assert_eq!(sizes, ["2 GiB", "64 MiB", "16 MB", "3 KiB", "7 bytes", "0 bytes"]);
    }
}
