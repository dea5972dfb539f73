//! Killing a process while it saves: the file must hold its old or its new content.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use memcards::index::vector::{VectorIndex, VectorOptions, verify_snapshot};
use memcards::store::io::RealIo;
use memcards_benches::Outcome;
use memcards_benches::clustered::Clustered;
use memcards_benches::synthetic::Random;
use serde_json::{Value, json};

use crate::Common;
use crate::data::empty;

pub(crate) fn run(common: &Common) -> Outcome<Value> {
    let count = common.count(50_000);
    let rounds = if common.quick { 10 } else { 50 };
    let folder = match &common.folder {
        Some(parent) => tempfile::tempdir_in(parent)?,
        None => tempfile::tempdir()?,
    };
    let path = folder.path().join("index");
    let index = empty(common, common.dimension);
    let data = Clustered::new(common.seed, common.dimension, 500).take(count);
    index.insert_all((0..).zip(data.rows()), 2)?;
    let watch = std::time::Instant::now();
    let file = index.save(&RealIo, &path, [0, 0])?;
    let once = watch.elapsed();
    drop((index, data));
    let mut random = Random::new(common.seed);
    let (mut content, mut old, mut new, mut left) = (0, 0, 0, 0);
    for _ in 0..rounds {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("saving")
            .arg(&path)
            .arg(content.to_string())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        // The first line says that the first save begins.
        lines.next().transpose()?;
        std::thread::sleep(Duration::from_secs_f64(once.as_secs_f64() * 4.0 * random.unit()));
        child.kill()?;
        child.wait()?;
        let mut finished = content;
        for line in lines {
            finished = line?.parse()?;
        }
        let holds = [finished, finished + 1].into_iter().find(|content| {
            let opened = VectorIndex::open(&RealIo, &path, &VectorOptions::default(), [*content, *content]);
            opened.is_ok_and(|index| index.contains(count as u32 + *content as u32) || *content == 0)
        });
        content = holds.ok_or("the file holds neither its old content nor the new one")?;
        verify_snapshot(&RealIo, &path)?;
        *(if content == finished { &mut old } else { &mut new }) += 1;
        left += usize::from(std::fs::read_dir(folder.path())?.count() > 1);
    }
    eprintln!(
        "{rounds} kills, file of {file} bytes, one save {:.0} ms: {old} held the last finished content, \
         {new} the next one; {left} left a file of an unfinished save beside it",
        once.as_secs_f64() * 1e3
    );
    Ok(json!({
        "rounds": rounds, "file": file, "save_ms": once.as_secs_f64() * 1e3, "old": old, "new": new,
        "unfinished_files": left,
    }))
}

/// Adds a vector and saves, again and again; a line after each.
pub(crate) fn save_forever(path: &Path, content: u64) -> Outcome {
    let index = VectorIndex::open(&RealIo, path, &VectorOptions::default(), [content, content])?;
    let count = index.len() as u64 - content;
    let mut vectors = Clustered::new(content, index.dimension(), 1);
    println!("{content}");
    for content in content + 1.. {
        let id = u32::try_from(count + content)?;
        index.insert(id, vectors.take(1).row(0).unwrap_or(&[]))?;
        index.save(&RealIo, path, [content, content])?;
        println!("{content}");
    }
    Ok(())
}
