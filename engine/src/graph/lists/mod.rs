//! The word lists as data; phrases with spaces, entries parted by `|`, both languages together.

mod people;
mod places;
mod relations;
mod tagged;
mod things;

pub(super) use people::{GIVEN_CHARACTERS, PEOPLE, SURNAMES};
pub(super) use places::PLACES;
pub(super) use relations::RELATIONS;
pub(super) use tagged::TAGGED;
pub(super) use things::MEMBERS;
