//! The n-th operation fails, for every n until none is left to fail.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memcards::{Recall, Store};

use crate::disk::crash::Replay;
use crate::disk::hooked::{HookedIo, Kind, Verdict};
use crate::disk::{Contents, SimulatedDisk};
use crate::failure::{Checked, Failure, caught, ensure};
use crate::modes::{Settings, spread};
use crate::numbers::Numbers;
use crate::oracle::{self, Expected};
use crate::recording::{Recording, open};
use crate::report::{ModeReport, Tally};
use crate::script::scripted::{SCRIPTED, Scripted};
use crate::script::{Act, DIRECTORY, Live, TENANTS, told};
use crate::truth::{Truth, between};

/// One way to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Of what; syncs of directories are syncs.
    pub kind: Kind,
    /// All later operations of the kind fail as well.
    pub lasting: bool,
    /// What becomes of the operation.
    pub verdict: Verdict,
}

const FAILS: Verdict = Verdict::Fail(ErrorKind::Other);
const TORN: Verdict = Verdict::Tear(ErrorKind::Other);

const FAULTS: [Fault; 10] = [
    Fault { kind: Kind::Write, lasting: false, verdict: FAILS },
    Fault { kind: Kind::Write, lasting: false, verdict: TORN },
    Fault { kind: Kind::Write, lasting: true, verdict: FAILS },
    Fault { kind: Kind::Write, lasting: true, verdict: TORN },
    Fault { kind: Kind::Sync, lasting: false, verdict: FAILS },
    Fault { kind: Kind::Sync, lasting: true, verdict: FAILS },
    Fault { kind: Kind::Name, lasting: false, verdict: FAILS },
    Fault { kind: Kind::Name, lasting: true, verdict: FAILS },
    Fault { kind: Kind::Read, lasting: false, verdict: FAILS },
    Fault { kind: Kind::Read, lasting: true, verdict: FAILS },
];

/// Goes through every n of every workload.
pub fn run(settings: &Settings) -> ModeReport {
    let tally = Tally::default();
    // A unit is a workload and a fault; `only` is one n of the unit that the seed names.
    let units: Vec<(&Scripted, Fault)> =
        SCRIPTED.iter().flat_map(|scripted| FAULTS.iter().map(move |fault| (scripted, *fault))).collect();
    let (first, count) = match settings.only {
        Some(_) => (settings.seed, 1),
        None => (0, units.len() as u64),
    };
    spread(settings, count, &tally, |unit| {
        let unit = first + unit;
        let Some((scripted, fault)) = units.get(unit as usize) else { return };
        let reference = match caught(|| Recording::make(scripted.seed, scripted.acts, |disk| Arc::new(disk)))
        {
            Ok(reference) => reference,
            Err(failure) => {
                return tally.fail(failure.to_string(), format!("cargo xtask campaign faults --seed {unit}"));
            }
        };
        let mut number = settings.only.unwrap_or(1);
        loop {
            let tried = caught(|| attempt(scripted, *fault, number, &reference, &tally));
            let fired = match tried {
                Ok(fired) => fired,
                Err(failure) => {
                    let place = format!("{}: {fault:?}, number {number}", scripted.name);
                    tally.fail(
                        failure.at(place).to_string(),
                        format!("cargo xtask campaign faults --seed {unit} --only {number}"),
                    );
                    true
                }
            };
            if !fired || settings.only.is_some() || tally.is_enough() {
                break;
            }
            tally.add(&format!("faults: {:?}", fault.kind), 1);
            number += 1;
        }
        tally.add("sweeps", 1);
    });
    tally.add("workloads", SCRIPTED.len() as u64);
    tally.into_report(
        "faults",
        "The n-th write, sync, read or operation on names or lengths fails, once or from then on, writes torn or \
         not, for every n: the error is typed, the store shows the old or the new state, reads go on, after a failed \
         commit writes are refused until it is opened again, opening works afterwards, also after a power failure.",
    )
}

/// Does a workload under one fault; false when the fault found nothing to let fail.
///
/// # Errors
/// Says what does not hold.
pub fn attempt(
    scripted: &Scripted,
    fault: Fault,
    number: u64,
    reference: &Recording,
    tally: &Tally,
) -> Checked<bool> {
    let disk = SimulatedDisk::default();
    let (seen, fired) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let io = {
        let fired = fired.clone();
        HookedIo::new(Arc::new(disk.clone()), move |kind, _| {
            let kind = if kind == Kind::SyncDirectory { Kind::Sync } else { kind };
            if kind != fault.kind {
                return Verdict::Do;
            }
            let now = seen.fetch_add(1, Ordering::SeqCst) + 1;
            if now != number && !(fault.lasting && now > number) {
                return Verdict::Do;
            }
            fired.fetch_add(1, Ordering::SeqCst);
            fault.verdict
        })
    };
    let mut live = Live::new(Arc::new(io), DIRECTORY, scripted.seed);
    let mut acknowledged = 0;
    let mut refused = None;
    for act in scripted.acts {
        match live.act(*act) {
            Ok(()) => acknowledged += 1,
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    if fired.load(Ordering::SeqCst) == 0 {
        ensure(refused.is_none(), || format!("without a fault: {refused:?}"))?;
        return Ok(false);
    }
    let before = &reference.done[acknowledged];
    let after = reference.done.get(acknowledged + usize::from(refused.is_some())).unwrap_or(before);
    let grows = after.act == Some(Act::Import);
    let mut expected = Expected { before: &before.truth, after: &after.truth, grows };
    let kept;
    if let Some(error) = &refused {
        tally.add("calls that failed", 1);
        // What cannot be read is damaged, as far as anybody can tell.
        let unreadable = fault.kind == Kind::Read && error.code() == "corrupt";
        let typed = unreadable || matches!(error.code(), "unavailable" | "read_only");
        ensure(typed, || format!("step {} fails with {}: {error}", acknowledged + 1, error.code()))?;
        if let Some(store) = live.store.clone() {
            kept = refusing(&store, fault, expected, tally)?;
            if let Some(kept) = &kept {
                expected = Expected { before: kept, after: kept, grows: false };
            }
        }
    } else {
        tally.add("faults without consequence", 1);
    }
    live.close();
    let now = after.clock;
    // The process goes on, or is started again.
    let log = disk.take_log();
    let reopened = SimulatedDisk::holding(disk.contents());
    let mut numbers = Numbers::part(scripted.seed, number);
    let store = open(&reopened, now).map_err(|error| Failure::from(error).at("opening again"))?;
    oracle::check(&store, expected, &mut numbers).map_err(|failure| failure.at("opened again"))?;
    oracle::goes_on(store, || open(&reopened, now))?;
    // The power fails after all.
    let mut replay = Replay::new(&Contents::default(), &log);
    replay.advance(log.len());
    let image = SimulatedDisk::holding(replay.image(&mut numbers));
    let store =
        open(&image, now).map_err(|error| Failure::from(error).at("opening after a power failure"))?;
    oracle::check(&store, expected, &mut numbers).map_err(|failure| failure.at("after a power failure"))?;
    Ok(true)
}

/// What a store does after a call has failed: reads go on; a write is refused, or it is kept.
/// Gives what the store holds where it took another write.
fn refusing(store: &Store, fault: Fault, expected: Expected<'_>, tally: &Tally) -> Checked<Option<Truth>> {
    let reads_fail = fault.kind == Kind::Read && fault.lasting;
    let read = Truth::of(store).and_then(|truth| {
        for name in TENANTS {
            let request = Recall { query: Some("item".into()), ..Recall::default() };
            store.tenant(name)?.recall(request)?;
        }
        Ok(truth)
    });
    match read {
        Ok(truth) => between(&truth, expected.before, expected.after, expected.grows)
            .map_err(|failure| failure.at("before it is opened again"))?,
        Err(failure) if !reads_fail => return Err(failure.at("reads do not go on")),
        Err(_) => return Ok(None),
    }
    let read_only = store.statistics().map(|statistics| statistics.read_only.is_some());
    // What such a write leaves behind while its kind of operation fails is unknown.
    if fault.lasting && !matches!(read_only, Ok(true)) {
        return Ok(None);
    }
    let written = store.tenant("anna")?.remember(told("item one more".into()));
    match (read_only, written) {
        (Ok(true), Ok(_)) => Err(Failure("a store that says it is read-only takes a write".into())),
        (Ok(true), Err(error)) => {
            tally.add("stores that refused writes", 1);
            ensure(error.code() == "read_only", || format!("a write is refused with {}", error.code()))?;
            Ok(None)
        }
        (_, Ok(_)) => {
            tally.add("stores that went on writing", 1);
            Truth::of(store).map(Some)
        }
        (_, Err(error)) => Err(Failure(format!("a write fails after the fault is over: {error}"))),
    }
}
