//! The same calls give the same store and the same answers, wherever and however often it was
//! opened.

use std::sync::Arc;

use memcards::{Include, Recall, Store};

use crate::disk::SimulatedDisk;
use crate::failure::{Checked, Failure, caught};
use crate::modes::{Settings, spread};
use crate::numbers::Numbers;
use crate::report::{ModeReport, Tally};
use crate::script::{DIRECTORY, Live, TENANTS, random};
use crate::truth::{Truth, between};
use crate::words::{vector, word};

/// Runs `settings.count` workloads.
pub fn run(settings: &Settings) -> ModeReport {
    let tally = Tally::default();
    spread(settings, settings.count, &tally, |unit| {
        let seed = settings.seed + unit;
        if let Err(failure) = caught(|| log(seed, &tally)) {
            tally.fail(
                failure.to_string(),
                format!("cargo xtask campaign determinism --seed {seed} --count 1"),
            );
        }
    });
    tally.into_report(
        "determinism",
        "Random logs of calls, carried out in two new stores and in one that is closed and opened midway: the same \
         export, the same answers.",
    )
}

fn log(seed: u64, tally: &Tally) -> Checked {
    let (first, answers) = carried_out(seed, false)?;
    for (name, reopened) in [("a second store", false), ("a store that was opened midway", true)] {
        let (again, others) = carried_out(seed, reopened)?;
        between(&again, &first, &first, false).map_err(|failure| failure.at(name))?;
        if let Some((left, right)) = answers.iter().zip(&others).find(|(left, right)| left != right) {
            return Err(Failure(format!("{name}: {right:.300} instead of {left:.300}")));
        }
    }
    tally.add("logs", 1);
    tally.add("answers compared", 2 * answers.len() as u64);
    Ok(())
}

fn carried_out(seed: u64, reopened: bool) -> Checked<(Truth, Vec<String>)> {
    let mut live = Live::new(Arc::new(SimulatedDisk::default()), DIRECTORY, seed);
    let mut numbers = Numbers::part(seed, 4);
    for act in random(seed) {
        live.act(act).map_err(|error| Failure::from(error).at(format_args!("{act:?}")))?;
        if reopened && numbers.once_in(6) {
            live.close();
        }
    }
    let store = live.open()?.clone();
    let answers = ask(&store, seed)?;
    Ok((Truth::of(&store)?, answers))
}

fn ask(store: &Store, seed: u64) -> Checked<Vec<String>> {
    let mut numbers = Numbers::part(seed, 5);
    let mut answers = Vec::new();
    for name in TENANTS {
        let tenant = store.tenant(name)?;
        for number in 0..6 {
            let asked = format!("item {}", word(numbers.below(40) as u64));
            let request = Recall {
                vector: (number % 2 == 0).then(|| vector(&asked)),
                query: (number % 3 < 2).then_some(asked),
                include: if number > 3 { vec![Include::Archived, Include::Superseded] } else { vec![] },
                top: Some(20),
                ..Recall::default()
            };
            if request.vector.is_none() && request.query.is_none() {
                continue;
            }
            let hits = tenant.recall(request)?.hits;
            let lines = hits.iter().map(|hit| format!("{} v{} {}", hit.card.id, hit.card.version, hit.score));
            answers.push(lines.collect::<Vec<_>>().join(", "));
        }
    }
    Ok(answers)
}
