//! Parts of a file at offsets that the file itself states, which may be anything.

use std::ops::Range;

/// The places of `length` bytes from `offset` on, if they are within `whole` bytes.
pub fn places(offset: u64, length: u64, whole: usize) -> Option<Range<usize>> {
    let end = offset.checked_add(length)?;
    let (start, end) = (usize::try_from(offset).ok()?, usize::try_from(end).ok()?);
    (end <= whole).then_some(start..end)
}

/// These bytes, if they are there.
pub fn part(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    bytes.get(places(offset, length, bytes.len())?)
}

/// These bytes, if they are there, to be changed.
pub fn part_mut(bytes: &mut [u8], offset: u64, length: u64) -> Option<&mut [u8]> {
    let places = places(offset, length, bytes.len())?;
    bytes.get_mut(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_that_are_not_there_are_none() {
        let mut bytes = *b"abcdef";
        assert_eq!(part(&bytes, 2, 3), Some(&b"cde"[..]));
        assert_eq!(part(&bytes, 6, 0), Some(&b""[..]));
        for (offset, length) in [(5, 2), (7, 0), (0, u64::MAX), (u64::MAX, 1), (64, 1 << 40)] {
            assert_eq!(part(&bytes, offset, length), None);
            assert_eq!(part_mut(&mut bytes, offset, length), None);
        }
    }

    proptest! {
        #[test]
        fn a_part_is_what_a_slice_is(bytes: Vec<u8>, offset in 0u64..40, length in 0u64..40) {
            let slice = bytes.get(offset as usize..(offset + length) as usize);
            prop_assert_eq!(part(&bytes, offset, length), slice);
        }
    }
}
