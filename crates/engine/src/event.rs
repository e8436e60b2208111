//! The targets of events: a number of 30 bits in the event queue.

/// The target of an event.
///
/// Kinds of endpoints and their transit queues have codes, which are their places in a list ([`codes!`](crate::codes)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    /// The first packet of a flow's transit queue reaches its first link: the queue's code, and the flow.
    Transit(u8, u32),
    /// Something of a kind's own, such as a timer: the kind's code, an event below [`OWN_EVENTS`] and an index, of
    /// which the kind knows the meaning.
    Own(u8, u8, u32),
    /// The first of a link's packets in transit reaches the next link.
    Link(u32),
    /// A link whose queue decides at departure has transmitted a packet.
    Transmission(u32),
    /// A packet that others may overtake comes to the end of a path with jitter.
    Jittered(u32),
    /// A boundary in time, such as the end of a warm-up: it comes before all else of its moment, and of two at the same
    /// moment the smaller number comes first. The number is below [`BOUNDARIES`].
    Boundary(u8),
    /// Another event of whoever runs the network. The number is below [`NOTICES`].
    Notice(u8),
}

/// Bits of an entity: a code, and an index.
pub(crate) const BITS: u32 = 30;

const INDEX_BITS: u32 = 24;

/// Largest index an entity can have.
pub const MAX_INDEX: u32 = (1 << INDEX_BITS) - 1;

/// The most transit queues that all kinds together have: their codes are below this.
pub const MOST_TRANSITS: u32 = 16;

/// Boundaries in time that there can be.
pub const BOUNDARIES: u8 = 2;

/// Other events that whoever runs the network can have.
pub const NOTICES: u8 = 4;

/// Events that a kind may have of its own.
pub const OWN_EVENTS: u32 = 4;

const LINK: u32 = MOST_TRANSITS;
const TRANSMISSION: u32 = LINK + 1;
const BOUNDARY: u32 = TRANSMISSION + 1;
const NOTICE: u32 = BOUNDARY + BOUNDARIES as u32;
const JITTERED: u32 = NOTICE + NOTICES as u32;
const OWN: u32 = 32;

/// The most kinds of endpoints that a network can have.
pub const MOST_KINDS: u32 = ((1 << (BITS - INDEX_BITS)) - OWN) / OWN_EVENTS;

impl Entity {
    /// The number that stands for it.
    #[inline]
    pub(crate) fn bits(self) -> u32 {
        let (code, index) = match self {
            Self::Transit(queue, index) => (u32::from(queue), index),
            Self::Link(index) => (LINK, index),
            Self::Transmission(index) => (TRANSMISSION, index),
            Self::Boundary(number) => (BOUNDARY + u32::from(number), 0),
            Self::Notice(number) => (NOTICE + u32::from(number), 0),
            Self::Jittered(number) => (JITTERED, number),
            Self::Own(kind, event, index) => {
                debug_assert!(u32::from(event) < OWN_EVENTS);
                (OWN + OWN_EVENTS * u32::from(kind) + u32::from(event), index)
            }
        };
        debug_assert!(index <= MAX_INDEX && code < 1 << (BITS - INDEX_BITS));
        code << INDEX_BITS | index
    }

    /// The entity of a number.
    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Self {
        let index = bits & MAX_INDEX;
        match bits >> INDEX_BITS {
            queue @ ..MOST_TRANSITS => Self::Transit(queue as u8, index),
            LINK => Self::Link(index),
            TRANSMISSION => Self::Transmission(index),
            boundary @ BOUNDARY..NOTICE => Self::Boundary((boundary - BOUNDARY) as u8),
            notice @ NOTICE..JITTERED => Self::Notice((notice - NOTICE) as u8),
            JITTERED..OWN => Self::Jittered(index),
            own => Self::Own(((own - OWN) / OWN_EVENTS) as u8, ((own - OWN) % OWN_EVENTS) as u8, index),
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
        let queues = (0..MOST_TRANSITS as u8).map(|queue| Entity::Transit(queue, 5));
        let own = (0..MOST_KINDS as u8)
            .flat_map(|kind| (0..OWN_EVENTS as u8).map(move |event| Entity::Own(kind, event, 5)));
        let boundaries = (0..BOUNDARIES).map(Entity::Boundary);
        let notices = (0..NOTICES).map(Entity::Notice);
        let links = [Entity::Link(5), Entity::Transmission(5), Entity::Jittered(5)];
        let all: Vec<Entity> = queues.chain(own).chain(boundaries).chain(notices).chain(links).collect();
        let bits: std::collections::BTreeSet<u32> = all.iter().map(|entity| entity.bits()).collect();
        assert_eq!(bits.len(), all.len());
        assert!(all.iter().all(|&entity| Entity::from_bits(entity.bits()) == entity));
    }
}
