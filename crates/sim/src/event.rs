//! What events happen to: a number of 30 bits in the event queue.

use crate::endpoints::{Kind, TransitKind};

/// What an event happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entity {
    /// The first of a flow's packets in transit reaches its first link.
    Transit(TransitKind, u32),
    /// Something of a kind's own, such as a timer: the kind says what the two numbers mean. The first is below
    /// [`OWN_EVENTS`].
    Own(Kind, u8, u32),
    /// The first of a link's packets in transit reaches the next link.
    Link(u32),
    /// A link whose queue decides at departure has transmitted a packet.
    Transmission(u32),
    /// A packet that others may overtake comes to the end of a path with jitter.
    Jittered(u32),
    /// A bin of the link samples ends.
    Bin,
    /// The warm-up ends.
    WarmUp,
    /// The transfers that the end waits for are done.
    AllDone,
}

/// Bits of an entity: a code, and an index.
pub(crate) const BITS: u32 = 30;

const INDEX_BITS: u32 = 24;

/// Largest index an entity can have.
pub(crate) const MAX_INDEX: u32 = (1 << INDEX_BITS) - 1;

/// Transit queues have the codes below this, in the order of the list of kinds.
pub(crate) const MOST_TRANSITS: u32 = 16;

/// Events that a kind may have of its own.
pub(crate) const OWN_EVENTS: u32 = 4;

/// The first code of these.
const OWN: u32 = 32;

/// Kinds for which there are codes.
pub(crate) const MOST_KINDS: u32 = ((1 << (BITS - INDEX_BITS)) - OWN) / OWN_EVENTS;

impl Entity {
    #[inline]
    pub(crate) fn bits(self) -> u32 {
        let (code, index) = match self {
            Self::Transit(kind, index) => (kind as u32, index),
            Self::Link(index) => (16, index),
            Self::Transmission(index) => (17, index),
            Self::Bin => (18, 0),
            Self::WarmUp => (19, 0),
            Self::AllDone => (20, 0),
            Self::Jittered(number) => (21, number),
            Self::Own(kind, event, index) => {
                debug_assert!(u32::from(event) < OWN_EVENTS);
                (OWN + OWN_EVENTS * kind as u32 + u32::from(event), index)
            }
        };
        debug_assert!(index <= MAX_INDEX);
        code << INDEX_BITS | index
    }

    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Self {
        let index = bits & MAX_INDEX;
        match bits >> INDEX_BITS {
            code @ ..MOST_TRANSITS => Self::Transit(TransitKind::from_code(code), index),
            16 => Self::Link(index),
            17 => Self::Transmission(index),
            18 => Self::Bin,
            19 => Self::WarmUp,
            20 => Self::AllDone,
            21..OWN => Self::Jittered(index),
            own => {
                Self::Own(Kind::from_code((own - OWN) / OWN_EVENTS), ((own - OWN) % OWN_EVENTS) as u8, index)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entities_survive_their_bits(code in 0u32..1 << (BITS - INDEX_BITS), index in 0..=MAX_INDEX) {
            let entity = Entity::from_bits(code << INDEX_BITS | index);
            prop_assert_eq!(Entity::from_bits(entity.bits()), entity);
            prop_assert!(entity.bits() < 1 << BITS);
        }
    }

    #[test]
    fn no_two_entities_have_the_same_bits() {
        let queues = TransitKind::ALL.iter().map(|&kind| Entity::Transit(kind, 5));
        let own = Kind::ALL.iter().flat_map(|&kind| (0..4).map(move |event| Entity::Own(kind, event, 5)));
        let numbered = [Entity::Link(5), Entity::Transmission(5), Entity::Jittered(5)];
        let others = numbered.into_iter().chain([Entity::Bin, Entity::WarmUp, Entity::AllDone]);
        let all: Vec<Entity> = queues.chain(own).chain(others).collect();
        let bits: std::collections::BTreeSet<u32> = all.iter().map(|entity| entity.bits()).collect();
        assert_eq!(bits.len(), all.len());
        assert!(all.iter().all(|&entity| Entity::from_bits(entity.bits()) == entity));
    }
}
