//! Text that the kernel itself makes: `/proc` and `/sys`.

use std::fs::read_to_string;
use std::io;
use std::path::Path;

/// The content of a file below `/proc` or `/sys`, which is no foreign one: it has no limit.
///
/// # Errors
/// It is elsewhere, or the kernel does not give it.
pub fn of_kernel(path: impl AsRef<Path>) -> io::Result<String> {
    let path = path.as_ref();
    if path.starts_with("/proc") || path.starts_with("/sys") {
        return read_to_string(path);
    }
    let problem = format!("found {}; accepted: a file below /proc or /sys", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused() {
        let error = of_kernel("/etc/hostname").unwrap_err().to_string();
        assert_eq!(error, "found /etc/hostname; accepted: a file below /proc or /sys");
        #[cfg(target_os = "linux")]
        assert!(of_kernel("/proc/self/status").unwrap().contains("VmHWM"));
    }
}
