//! How many texts per second a sentence encoder embeds on one core.
//!
//!     cargo run --release -p memcards --features encoder --example encoder_speed -- FOLDER WORD

use std::time::Instant;

use memcards::embed::{Embedder, Encoder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, word] = arguments.as_slice() else {
        return Err("name the model's folder and a word that is one token".into());
    };
    let start = Instant::now();
    let model = Encoder::open(folder)?;
    println!("{}, opened in {:.2} s", model.model_id(), start.elapsed().as_secs_f64());
    for tokens in [20, 128] {
        // Two tokens are special ones.
        let text = vec![word.as_str(); tokens - 2].join(" ");
        for together in [1, 32] {
            let texts = vec![text.as_str(); together];
            model.embed_batch(&texts)?;
            let (start, mut done) = (Instant::now(), 0);
            while start.elapsed().as_secs_f64() < 3.0 {
                done += model.embed_batch(&texts)?.len();
            }
            let rate = done as f64 / start.elapsed().as_secs_f64();
            println!("{tokens:>4} tokens, {together:>2} together: {rate:.1} texts/s");
        }
    }
    Ok(())
}
