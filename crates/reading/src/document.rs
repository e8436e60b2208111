//! Files that are read as a whole.

use crate::error::ReadError;
use crate::input::Input;
use crate::readers::{shown, Limits, Reader};
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::Path;

/// The content of a regular file, decompressed if that reader takes compressed ones.
///
/// # Errors
/// It is missing, or the system does not give it; it is a device or a pipe, which may have no end; it is larger than the reader's
/// documents may be; or what is compressed in it is damaged.
pub fn document(path: &Path, reader: Reader) -> Result<Vec<u8>, ReadError> {
    let unreadable = |source| ReadError::Unreadable { path: path.into(), source };
    let about = fs::metadata(path).map_err(unreadable)?;
    // The system says itself what is wrong with a directory.
    if !about.is_file() && !about.is_dir() {
        return Err(refused(path, "a device or a pipe".into(), "regular files".into()));
    }
    whole(File::open(path).map_err(unreadable)?, path, reader)
}

/// The content of a file that is in memory, as [`document`].
///
/// # Errors
/// As there.
pub fn of_bytes(bytes: Vec<u8>, reader: Reader) -> Result<Vec<u8>, ReadError> {
    whole(Cursor::new(bytes), Path::new("memory"), reader)
}

fn whole(source: impl Read + 'static, path: &Path, reader: Reader) -> Result<Vec<u8>, ReadError> {
    let unreadable = |source| ReadError::Unreadable { path: path.into(), source };
    let Limits { compressed, .. } = reader.limits();
    let mut input = if compressed { Input::new(source) } else { Input::plain(source) }.map_err(unreadable)?;
    let most = most(reader);
    let bytes = input.document(reader).ok_or_else(|| {
        let found = if input.compression().is_empty() { "" } else { ", decompressed" };
        refused(path, format!("more than {}{found}", shown(most)), format!("{} or less", shown(most)))
    })?;
    match (input.problem().text(), input.compression()) {
        (None, _) => Ok(bytes),
        (Some(problem), []) => Err(unreadable(io::Error::other(problem))),
        (Some(problem), layers) => {
            let found =
                format!("damaged {} data after {} bytes: {problem}", layers.join(" in "), bytes.len());
            Err(refused(path, found, "an undamaged file".into()))
        }
    }
}

/// Bytes that a reader's documents may have.
pub(crate) fn most(reader: Reader) -> u64 {
    reader.limits().document.unwrap_or(u64::MAX)
}

fn refused(path: &Path, found: String, accepted: String) -> ReadError {
    ReadError::Refused { path: path.into(), found, accepted }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: Vec<u8>, reader: Reader) -> String {
        of_bytes(bytes, reader).unwrap_err().to_string()
    }

    #[test]
    fn documents_are_decompressed_where_they_may_be() {
        let zst = zstd::encode_all(&b"0.5 1\n"[..], 1).unwrap();
        assert_eq!(of_bytes(zst.clone(), Reader::CdfFiles).unwrap(), b"0.5 1\n");
        assert_eq!(of_bytes(zst.clone(), Reader::BpfObjects).unwrap(), zst);
    }

    #[test]
    fn a_document_has_a_largest_size_compressed_or_not() {
        let most = most(Reader::CdfFiles) as usize;
        assert_eq!(of_bytes(vec![b' '; most], Reader::CdfFiles).unwrap().len(), most);
        let long = vec![b' '; most + 1];
        let bomb = zstd::encode_all(&long[..], 1).unwrap();
        assert!(bomb.len() < 1000);
        assert_eq!(message(long, Reader::CdfFiles), "memory: found more than 4 MiB; accepted: 4 MiB or less");
        let said = message(bomb, Reader::CdfFiles);
        assert_eq!(said, "memory: found more than 4 MiB, decompressed; accepted: 4 MiB or less");
    }

    #[test]
    fn damage_is_said_with_its_place() {
        let mut zst = zstd::encode_all(&vec![7; 1 << 20][..], 1).unwrap();
        zst.truncate(zst.len() - 4);
        let said = message(zst, Reader::Numbers);
        assert!(
            said.starts_with("memory: found damaged zstd data after ") && said.lines().count() == 1,
            "{said}"
        );
    }

    #[test]
    fn only_regular_files_are_documents() {
        let directory = tempfile::tempdir().unwrap();
        let folder = document(directory.path(), Reader::Scenarios).unwrap_err();
        assert!(matches!(folder, ReadError::Unreadable { .. }), "{folder}");
        let missing = document(&directory.path().join("x"), Reader::Scenarios).unwrap_err();
        assert!(matches!(missing, ReadError::Unreadable { .. }), "{missing}");
        let device = document(Path::new("/dev/zero"), Reader::Scenarios).unwrap_err().to_string();
        assert_eq!(device, "/dev/zero: found a device or a pipe; accepted: regular files");
    }

    #[test]
    fn a_file_larger_than_memory_is_refused_after_its_first_bytes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 40).unwrap();
        let said = document(file.path(), Reader::BpfObjects).unwrap_err().to_string();
        assert!(said.ends_with("found more than 16 MiB; accepted: 16 MiB or less"), "{said}");
    }
}
