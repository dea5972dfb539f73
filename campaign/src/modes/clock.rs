//! The clock goes back between calls and between openings.

use std::collections::HashSet;
use std::sync::Arc;

use memcards::{Clock, Duration, List, Order, Tenant};

use crate::disk::SimulatedDisk;
use crate::failure::{Checked, Failure, caught, ensure};
use crate::modes::{Settings, spread};
use crate::numbers::Numbers;
use crate::oracle;
use crate::recording::open;
use crate::report::{ModeReport, Tally};
use crate::script::{Act, DIRECTORY, EVERYTHING, Live, TENANTS, random};
use crate::truth::{Truth, between};

/// Runs `settings.count` workloads.
pub fn run(settings: &Settings) -> ModeReport {
    let tally = Tally::default();
    spread(settings, settings.count, &tally, |unit| {
        let seed = settings.seed + unit;
        if let Err(failure) = caught(|| workload(seed, &tally)) {
            tally.fail(failure.to_string(), format!("cargo xtask campaign clock --seed {seed} --count 1"));
        }
    });
    tally.into_report(
        "clock",
        "The clock goes back by up to 400 days between calls and between openings: nothing is lost, changes keep \
         their order, pages of a list show every card once, verify is sound.",
    )
}

fn workload(seed: u64, tally: &Tally) -> Checked {
    let disk = SimulatedDisk::default();
    let mut live = Live::new(Arc::new(disk.clone()), DIRECTORY, seed);
    live.unsteady = true;
    let mut numbers = Numbers::part(seed, 2);
    let mut present = HashSet::new();
    let mut before = Truth::default();
    for (number, act) in random(seed).into_iter().enumerate() {
        let place = format!("step {} ({act:?})", number + 1);
        live.act(act).map_err(|error| Failure::from(error).at(&place))?;
        let store = live.open()?.clone();
        let truth = Truth::of(&store).map_err(|failure| failure.at(&place))?;
        let given: HashSet<String> = live.words().collect();
        let words = truth.words(&given);
        // Whatever plans may purge what was forgotten a month ago.
        let purges = matches!(act, Act::Purge | Act::Wipe | Act::ForgetDue | Act::Archive | Act::ArchiveAll);
        if !purges {
            let lost: Vec<_> = present.difference(&words).collect();
            ensure(lost.is_empty(), || format!("{place}: {lost:?} are lost"))?;
        }
        oracle::sound(&store).map_err(|failure| failure.at(&place))?;
        present = words;
        before = truth;
        tally.add("calls", 1);
    }
    for name in TENANTS {
        let store = live.open()?.clone();
        pages(&store.tenant(name)?).map_err(|failure| failure.at(format_args!("tenant {name}")))?;
    }
    live.close();
    for _ in 0..3 {
        let moved = Duration::from_hours(numbers.below(20_000) as i64 - 10_000);
        let copy = SimulatedDisk::holding(disk.contents());
        let store = open(&copy, live.clock.now().plus(moved))?;
        between(&Truth::of(&store)?, &before, &before, false)
            .map_err(|failure| failure.at(format_args!("opened {moved} from the last call")))?;
        oracle::sound(&store)?;
        for name in before.tenants.keys() {
            oracle::answers(&store.tenant(name)?, &mut numbers)?;
        }
        drop(store);
        let store = open(&copy, live.clock.now())?;
        between(&Truth::of(&store)?, &before, &before, false)?;
        tally.add("openings", 2);
    }
    Ok(())
}

/// Short pages show what one long page shows, each card once.
fn pages(tenant: &Tenant) -> Checked {
    for order in [Order::OldestFirst, Order::NewestFirst, Order::LatestChange] {
        let all = List { order, limit: Some(1000), include: EVERYTHING.to_vec(), ..List::default() };
        let whole: Vec<_> = tenant.list(&all)?.cards.iter().map(|card| card.id).collect();
        let mut request = List { limit: Some(7), ..all };
        let mut pieces = Vec::new();
        loop {
            let page = tenant.list(&request)?;
            pieces.extend(page.cards.iter().map(|card| card.id));
            match page.cursor {
                Some(cursor) => request.cursor = Some(cursor),
                None => break,
            }
        }
        ensure(pieces == whole, || {
            format!("{order:?}: pages show {} cards of {}", pieces.len(), whole.len())
        })?;
    }
    Ok(())
}
