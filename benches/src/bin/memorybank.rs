//! Recall on the Chinese MemoryBank, once with a card per message, once per exchange.

use memcards_benches::Outcome;
use memcards_benches::memorybank::{self, Shape::Messages, Shape::Records};
use memcards_benches::report::{Arguments, Shape};

fn main() -> Outcome {
    let arguments = Arguments::parse("Recall on the Chinese MemoryBank");
    let messages = memorybank::read(arguments.data()?, Messages)?;
    let records = memorybank::read(arguments.data()?, Records)?;
    let shapes = vec![
        Shape::of("MemoryBank, card per message", messages),
        Shape::of("MemoryBank, card per exchange", records),
    ];
    arguments.run("Recall on MemoryBank", shapes)
}
