//! A sequence of operations on a whole store: no panic, no internal error, what is listed is what
//! was told and not purged, the store is sound and the same when it is opened again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memcards_fuzz::world::{Step, World};

/// Steps of one input.
const MOST: usize = 24;

fuzz_target!(|steps: Vec<Step>| {
    let mut world = World::new();
    for step in steps.iter().take(MOST) {
        world.take(step);
    }
    world.end();
});
