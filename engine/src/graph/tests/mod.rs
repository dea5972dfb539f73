//! Tables of texts with what the rules must say of them, and what must hold for any text.

mod concepts;
mod intents;
mod mentions;
mod properties;
mod shapes;
mod statements;
