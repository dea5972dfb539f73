//! Recall on our own regression dialogues, one fresh store each, through the public API.

use memcards_benches::report::{Arguments, Shape};
use memcards_benches::{Outcome, dialogues};

fn main() -> Outcome {
    let arguments = Arguments::parse("Recall on our own regression dialogues");
    let path = arguments.data.clone().unwrap_or_else(dialogues::folder);
    let shape = Shape::of("Regression dialogues", dialogues::read(&path)?);
    arguments.run("Recall on our own dialogues", vec![shape])
}
