//! The name of an object, and its declarations about itself.

use crate::error::BpfError;
use crate::BUILT;
use object::{Object as _, ObjectSection};
use parshall_reading::{checked, document, Reader};
use std::path::Path;

/// A compiled control.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its description, for messages.
    pub(crate) what: String,
    /// Its name in the kernel.
    pub(crate) name: String,
    /// The names of its inner variables; `None`: it records nothing.
    pub(crate) inner: Option<Vec<String>>,
    /// The content of its section `.rodata.parameters`, in place of its defaults.
    pub(crate) parameters: Option<Vec<u8>>,
    /// The ELF file, in which it has that name.
    pub(crate) elf: Vec<u8>,
}

/// Sections that hold a `struct tcp_congestion_ops`.
const SECTIONS: [&str; 2] = [".struct_ops", ".struct_ops.link"];

/// The longest name of a congestion control (TCP_CA_NAME_MAX, with the zero at its end).
const MAX_NAME: usize = 15;

impl Object {
    /// The control of that name which this library has.
    ///
    /// # Errors
    /// It has none of that name.
    pub fn built(name: &str) -> Result<Self, BpfError> {
        Self::of(built(name)?.to_vec(), format!("the BPF program of {name}"), 1)
    }

    /// The control of that name which this library has, with parameters, as the `number`-th one of this process: each
    /// has a name of its own.
    ///
    /// # Errors
    /// It has none of that name.
    pub fn with_parameters(name: &str, number: usize, parameters: &[u8]) -> Result<Self, BpfError> {
        let elf = built(name)?.to_vec();
        let made = Self::of(elf, format!("the BPF program of {name}"), number)?;
        Ok(Self { parameters: Some(parameters.to_vec()), ..made })
    }

    /// The control in a file.
    ///
    /// # Errors
    /// It cannot be read, or has no control.
    pub fn read(path: &Path) -> Result<Self, BpfError> {
        Self::of(document(path, Reader::BpfObjects)?, path.display().to_string(), 1)
    }

    /// The control of an object that is in memory; `what` it is, for messages.
    ///
    /// # Errors
    /// It has no control.
    pub fn of_bytes(elf: Vec<u8>, what: &str) -> Result<Self, BpfError> {
        Self::of(elf, what.into(), 1)
    }

    /// `number`: the how many-th of this process.
    fn of(mut elf: Vec<u8>, what: String, number: usize) -> Result<Self, BpfError> {
        let problem = |problem: &str| BpfError::NoControl { what: what.clone(), problem: problem.into() };
        let file = object::File::parse(&*elf).map_err(|_| problem("it is no ELF file"))?;
        let section = SECTIONS
            .iter()
            .find_map(|name| file.section_by_name(name))
            .ok_or_else(|| problem("it has no section .struct_ops"))?;
        let (offset, size) =
            section.file_range().ok_or_else(|| problem("its section .struct_ops is empty"))?;
        let inner =
            file.section_by_name(".rodata.inner").and_then(|section| section.data().ok()).map(|names| {
                let names = String::from_utf8_lossy(names);
                names
                    .trim_end_matches('\0')
                    .split(',')
                    .filter(|name| !name.is_empty())
                    .map(String::from)
                    .collect()
            });
        drop(file);
        let length = elf.len();
        let section = checked::part_mut(&mut elf, offset, size).ok_or_else(|| {
            problem(&format!(
                "its section .struct_ops has {size} bytes from byte {offset} on, and the file {length}"
            ))
        })?;
        let place = name_in(section).ok_or_else(|| problem("its control has no name"))?;
        let number = if number > 1 { number.to_string() } else { String::new() };
        let own = format!("{number}_{}", std::process::id());
        let letters =
            section[place..].iter().map(|byte| char::from(*byte)).take_while(|letter| is_of_name(*letter));
        let name: String = letters.take(MAX_NAME.saturating_sub(own.len())).chain(own.chars()).collect();
        section[place..=place + MAX_NAME].fill(0);
        section[place..place + name.len()].copy_from_slice(name.as_bytes());
        Ok(Self { what, name, inner, parameters: None, elf })
    }
}

/// The object of a control of this library.
fn built(name: &str) -> Result<&'static [u8], BpfError> {
    BUILT.iter().find(|(each, _)| *each == name).map(|(_, elf)| *elf).ok_or_else(|| {
        let names: Vec<_> = crate::built().collect();
        if names.is_empty() {
            BpfError::NotBuilt
        } else {
            BpfError::Unknown(name.into(), names.join(", "))
        }
    })
}

/// Where the name begins in a `struct tcp_congestion_ops` of an object. Its other members are pointers, which are zero
/// until the object is loaded, and flags, which are no letters: the kernel has no more than four.
fn name_in(section: &[u8]) -> Option<usize> {
    let place = section.iter().position(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')?;
    (place + MAX_NAME < section.len()).then_some(place)
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_names_of_this_process() {
        for name in crate::built() {
            let object = Object::built(name).unwrap();
            let own = format!("_{}", std::process::id());
            let kernels = object.name.strip_suffix(&own).unwrap();
            assert!(name.starts_with(kernels) && !kernels.is_empty() && object.name.len() <= MAX_NAME);
            let second = Object::with_parameters(name, 2, &[]).unwrap();
            assert_ne!(second.name, object.name);
            assert!(second.name.ends_with(&format!("2{own}")) && second.name.len() <= MAX_NAME);
            assert!(object.inner.unwrap().len() <= parshall_replay::INNER);
        }
    }

    /// An ELF file of BPF with a section `.struct_ops.link` that has these bytes, or states that they are so many, from an offset on.
    fn elf(content: &[u8], stated: Option<(u64, u64)>) -> Vec<u8> {
        const NAMES: &[u8] = b"\0.shstrtab\0.struct_ops.link\0";
        let end = (64 + NAMES.len() + content.len()).next_multiple_of(8);
        let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\xf7\0\x01\0\0\0".to_vec();
        for word in [0, 0, end as u64] {
            elf.extend(word.to_le_bytes());
        }
        for (bytes, value) in [(4, 0u32), (2, 64), (2, 0), (2, 0), (2, 64), (2, 3), (2, 1)] {
            elf.extend(&value.to_le_bytes()[..bytes]);
        }
        elf.extend(NAMES);
        elf.extend(content);
        elf.resize(end, 0);
        let (offset, size) = stated.unwrap_or((64 + NAMES.len() as u64, content.len() as u64));
        for (name, kind, offset, size) in
            [(0u32, 0u32, 0, 0), (1, 3, 64, NAMES.len() as u64), (11, 1, offset, size)]
        {
            elf.extend([name.to_le_bytes(), kind.to_le_bytes()].concat());
            for word in [0, 0, offset, size, 0, 1, 0] {
                elf.extend(u64::to_le_bytes(word));
            }
        }
        elf
    }

    #[test]
    fn a_section_is_within_its_file() {
        let control = [&[0; 48][..], b"mine\0", &[0; 19]].concat();
        let object = Object::of_bytes(elf(&control, None), "mine.o").unwrap();
        assert_eq!(object.name, format!("mine_{}", std::process::id()));
        for (offset, size) in [(64, 1 << 40), (u64::MAX, 1), (u64::MAX - 10, 11), (1 << 40, 0), (400, 1)] {
            let said =
                Object::of_bytes(elf(&control, Some((offset, size))), "mine.o").unwrap_err().to_string();
            assert!(said.starts_with("mine.o: its section .struct_ops "), "{said}");
            assert!(said.lines().count() == 1 && said.contains("; accepted: an object of clang"), "{said}");
        }
    }

    #[test]
    fn a_name_at_the_end_of_its_section_is_none() {
        for letters in
            ["é".repeat(8), "m".repeat(15), "m\u{1}".repeat(8), format!("m{}", "\u{fffd}".repeat(5))]
        {
            let control = [&[0; 8][..], letters.as_bytes()].concat();
            let read = Object::of_bytes(elf(&control, None), "mine.o");
            assert!(
                read.is_err()
                    || read.is_ok_and(|object| object.name.len() <= MAX_NAME && object.name.is_ascii())
            );
        }
    }

    #[test]
    fn what_is_no_control_is_refused() {
        let other = Object::of(b"#include".to_vec(), "mine.c".into(), 1).unwrap_err().to_string();
        assert!(other.starts_with("mine.c: it is no ELF file; accepted: "), "{other}");
        let missing = Object::read(Path::new("/nowhere/mine.bpf.o")).unwrap_err().to_string();
        assert!(missing.starts_with("/nowhere/mine.bpf.o: No such file"), "{missing}");
    }
}
