//! Recall on LoCoMo conversations, one fresh store each, through the public API.

use memcards_benches::report::{Arguments, Shape};
use memcards_benches::{Outcome, locomo};

fn main() -> Outcome {
    let arguments = Arguments::parse("Recall on LoCoMo conversations");
    let shape = Shape::of("LoCoMo by turn", locomo::read(arguments.data()?)?);
    arguments.run("Recall on LoCoMo", vec![shape])
}
