//! The `memcards` command line.
fn main() {}
