//! The ECN field of a packet (RFC 3168 §5; RFC 9331 §4 for ECT(1)).

/// The ECN field of a packet (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT: congestion can only be signalled by a drop.
    #[default]
    NotCapable,
    /// ECT(0): its sender answers a mark as it answers a loss.
    Ect0,
    /// ECT(1): its sender has a scalable control, and answers the share of marks (L4S).
    Ect1,
    /// CE: an earlier queue has marked it; which of the two codepoints it had is no longer known.
    Ce,
}

impl Ecn {
    /// Every value.
    pub const ALL: [Self; 4] = [Self::NotCapable, Self::Ect0, Self::Ect1, Self::Ce];

    /// True if it may be marked instead of dropped.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Self::NotCapable
    }

    /// True if a queue that knows L4S treats it so: ECT(1), and CE, which may have been ECT(1). RFC 9331 §5.1
    #[inline]
    pub fn is_l4s(self) -> bool {
        matches!(self, Self::Ect1 | Self::Ce)
    }
}
