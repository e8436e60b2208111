//! Memory that is counted as it is taken, so that a small file cannot take all of it.

use std::cell::Cell;

/// Bytes of memory that may still be taken.
#[derive(Debug)]
pub struct Budget {
    most: u64,
    left: Cell<u64>,
}

impl Budget {
    /// So many bytes.
    pub fn new(most: u64) -> Self {
        Self { most, left: Cell::new(most) }
    }

    /// Takes some; `false`, and nothing is left, if there are not so many.
    pub fn take(&self, bytes: u64) -> bool {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns the largest number so far.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Gives back all that was taken: what it was taken for is gone.
    pub fn renew(&self) {
        self.left.set(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_gone() {
        let budget = Budget::new(10);
        assert!(budget.take(4) && budget.take(6));
        assert!(!budget.take(1));
        budget.renew();
        assert!(!budget.take(u64::MAX), "more than there is");
        assert!(!budget.take(1), "nothing is left after that");
    }
}
