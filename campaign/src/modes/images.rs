//! Power failures: one, and one more while the store is opened after the first.

use crate::disk::Contents;
use crate::disk::crash::Replay;
use crate::failure::{Checked, Failure, caught};
use crate::modes::{Settings, spread};
use crate::numbers::Numbers;
use crate::recording::{Depth, Recording, check_image, check_second};
use crate::report::{ModeReport, Tally};
use crate::script::random;

/// Images of one workload; a failure is told by the seed of the workload and the image's number.
const OF_ONE: u64 = 100;
/// Second crashes after one first crash.
const SECONDS_OF_ONE: u64 = 5;

/// Which crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crashes {
    /// One.
    Single,
    /// Two.
    Double,
}

/// Runs `settings.count` images.
pub fn run(settings: &Settings, crashes: Crashes) -> ModeReport {
    let tally = Tally::default();
    let (name, per_workload) = match crashes {
        Crashes::Single => ("images", OF_ONE),
        Crashes::Double => ("double", OF_ONE),
    };
    let workloads = match settings.only {
        Some(_) => 1,
        None => settings.count.div_ceil(per_workload),
    };
    spread(settings, workloads, &tally, |unit| {
        let seed = settings.seed + unit;
        let command = |image: Option<u64>| {
            let only = image.map_or_else(String::new, |image| format!(" --only {image}"));
            format!("cargo xtask campaign {name} --seed {seed} --count 1{only}")
        };
        let recording =
            match caught(|| Recording::make(seed, &random(seed), |disk| std::sync::Arc::new(disk))) {
                Ok(recording) => recording,
                Err(failure) => return tally.fail(failure.to_string(), command(None)),
            };
        if let Err(failure) = recording.removals_are_durable() {
            tally.fail(failure.to_string(), command(None));
        }
        tally.add("workloads", 1);
        tally.add("acknowledged calls", recording.done.len() as u64 - 1);
        tally.add("operations on the disk", recording.log.len() as u64);
        let left = settings.count.saturating_sub(unit * per_workload).min(per_workload);
        let images: Vec<u64> = match settings.only {
            Some(image) => vec![image],
            None => match crashes {
                Crashes::Single => (0..left).collect(),
                Crashes::Double => (0..left.div_ceil(SECONDS_OF_ONE)).collect(),
            },
        };
        for (image, failure) in check(seed, &recording, &images, crashes, &tally) {
            tally.fail(failure.to_string(), command(Some(image)));
        }
    });
    match crashes {
        Crashes::Single => tally.into_report(
            name,
            "A power failure anywhere, also inside an operation; of what was not synced any part is kept, torn at 512 \
             and 4,096 bytes, names and lengths included: the store opens, what was acknowledged is there, what was \
             under way is whole or absent, nothing erased is in any file, verify is sound, indexes answer what the \
             store holds.",
        ),
        Crashes::Double => tally.into_report(
            name,
            "A second power failure while the store is opened and closed after a first one: what was shown stays.",
        ),
    }
}

/// Checks images of a recording by their numbers; gives those that fail.
pub fn check(
    seed: u64,
    recording: &Recording,
    images: &[u64],
    crashes: Crashes,
    tally: &Tally,
) -> Vec<(u64, Failure)> {
    // In order of their cuts, so that the log is gone through once.
    let mut cuts: Vec<(usize, u64, Numbers)> = images
        .iter()
        .map(|image| {
            let mut numbers = Numbers::part(seed, 1_000_000 + image);
            (numbers.below(recording.log.len() + 1), *image, numbers)
        })
        .collect();
    cuts.sort_unstable_by_key(|(cut, image, _)| (*cut, *image));
    let mut replay = Replay::new(&Contents::default(), &recording.log);
    let mut failed = Vec::new();
    for (cut, image, mut numbers) in cuts {
        replay.advance(cut);
        let contents = replay.image(&mut numbers);
        let checked = caught(|| match crashes {
            Crashes::Single => single(recording, cut, contents, &mut numbers, tally),
            Crashes::Double => double(recording, cut, contents, &mut numbers, tally),
        });
        if let Err(failure) = checked {
            failed.push((image, failure.at(recording.place(cut))));
        }
    }
    failed
}

fn single(
    recording: &Recording,
    cut: usize,
    image: Contents,
    numbers: &mut Numbers,
    tally: &Tally,
) -> Checked {
    let depth = if numbers.once_in(4) { Depth::Everything } else { Depth::Shown };
    check_image(recording, cut, image, depth, numbers)?;
    tally.add("images", 1);
    if depth == Depth::Everything {
        tally.add("of them searched for erased words and written to", 1);
    }
    Ok(())
}

fn double(
    recording: &Recording,
    cut: usize,
    image: Contents,
    numbers: &mut Numbers,
    tally: &Tally,
) -> Checked {
    let (shown, log) = check_image(recording, cut, image.clone(), Depth::Shown, numbers)?;
    let mut cuts: Vec<usize> = (0..SECONDS_OF_ONE).map(|_| numbers.below(log.len() + 1)).collect();
    cuts.sort_unstable();
    let now = recording.expected(cut).1;
    check_second((&image, &log), &shown, now, &cuts, numbers)?;
    tally.add("double crashes", SECONDS_OF_ONE);
    Ok(())
}
