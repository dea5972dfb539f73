//! Recall on LongMemEval, one fresh store for each question, through the public API.

use memcards_benches::report::{Arguments, Shape};
use memcards_benches::{Outcome, longmemeval};

fn main() -> Outcome {
    let arguments = Arguments::parse("Recall on LongMemEval (oracle, S or M), read instance by instance");
    let path = arguments.data()?;
    let size = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().replace('_', " "));
    let instances = longmemeval::read(path)?;
    let share = instances.share();
    let shape = Shape::streamed(&format!("LongMemEval by turn ({size})"), instances, share);
    arguments.run("Recall on LongMemEval", vec![shape])
}
