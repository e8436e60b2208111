//! The parts of an event's key.

use crate::event::{self, Entity};

pub(super) const ENTITY_BITS: u32 = event::BITS;
pub(super) const SEQUENCE_BITS: u32 = 64 - ENTITY_BITS;

#[inline]
pub(super) fn time_of(key: u128) -> u64 {
    (key >> 64) as u64
}

#[inline]
pub(super) fn entity_of(key: u128) -> Entity {
    Entity::from_bits(key as u32 & ((1 << ENTITY_BITS) - 1))
}
