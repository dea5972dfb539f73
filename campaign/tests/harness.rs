//! The campaign can fail: each lie of a disk and each defect put in is found, within a bound.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memcards::store::io::Io;
use memcards_campaign::disk::crash::Replay;
use memcards_campaign::disk::hooked::{HookedIo, Kind, Verdict};
use memcards_campaign::disk::{Contents, Operation, SimulatedDisk};
use memcards_campaign::failure::{caught, quiet_panics};
use memcards_campaign::modes::faults::{Fault, attempt};
use memcards_campaign::modes::images::{Crashes, check};
use memcards_campaign::modes::rot::{Whole, judge};
use memcards_campaign::numbers::Numbers;
use memcards_campaign::recording::{Depth, Recording, check_image};
use memcards_campaign::report::Tally;
use memcards_campaign::script::scripted::SCRIPTED;
use memcards_campaign::script::{Act, random};

/// Images that a defect may take to be found.
const BOUND: u64 = 200;

const ACTS: [Act; 12] = [
    Act::RememberMany(12),
    Act::Remember,
    Act::Replace,
    Act::Forget,
    Act::Archive,
    Act::Freeze,
    Act::Purge,
    Act::Remember,
    Act::Feedback,
    Act::Compact,
    Act::Remember,
    Act::Edit,
];

/// How many of the images of a workload fail, where the disk is lied about.
fn failures(acts: &[Act], wrap: impl Fn(SimulatedDisk) -> Arc<dyn Io>) -> usize {
    quiet_panics();
    let recording = Recording::make(5, acts, wrap).unwrap();
    let images: Vec<u64> = (0..BOUND).collect();
    check(5, &recording, &images, Crashes::Single, &Tally::default()).len()
}

fn hooked(
    hook: impl Fn(Kind, &std::path::Path) -> Verdict + Send + Sync + 'static,
) -> impl Fn(SimulatedDisk) -> Arc<dyn Io> {
    let hook = Arc::new(hook);
    move |disk| {
        let hook = hook.clone();
        Arc::new(HookedIo::new(Arc::new(disk), move |kind, path| hook(kind, path)))
    }
}

#[test]
fn an_honest_disk_passes() {
    assert_eq!(failures(&ACTS, hooked(|_, _| Verdict::Do)), 0);
}

#[test]
fn syncs_that_are_not_done_are_found() {
    let lie = hooked(|kind, _| if kind == Kind::Sync { Verdict::Pretend } else { Verdict::Do });
    assert!(failures(&ACTS, lie) > 20);
}

#[test]
fn a_single_sync_that_is_not_done_is_found() {
    let found = (0..40).any(|lost| {
        let seen = AtomicUsize::new(0);
        failures(
            &ACTS,
            hooked(move |kind, _| {
                match kind == Kind::Sync && seen.fetch_add(1, Ordering::SeqCst) == 15 + lost {
                    true => Verdict::Pretend,
                    false => Verdict::Do,
                }
            }),
        ) > 0
    });
    assert!(found);
}

#[test]
fn directories_that_are_not_synced_are_found() {
    let lie = hooked(|kind, _| if kind == Kind::SyncDirectory { Verdict::Pretend } else { Verdict::Do });
    assert!(failures(&ACTS, lie) > 5);
}

#[test]
fn a_write_that_is_lost_is_found() {
    // Every fiftieth write says that it was done.
    let seen = AtomicUsize::new(0);
    let lie =
        hooked(move |kind, _| match kind == Kind::Write && seen.fetch_add(1, Ordering::SeqCst) % 50 == 49 {
            true => Verdict::Pretend,
            false => Verdict::Do,
        });
    quiet_panics();
    let found = match caught(|| Recording::make(5, &ACTS, lie)) {
        Err(_) => true,
        Ok(recording) => {
            let images: Vec<u64> = (0..BOUND).collect();
            !check(5, &recording, &images, Crashes::Single, &Tally::default()).is_empty()
        }
    };
    assert!(found);
}

#[test]
fn bytes_that_stay_after_an_erasure_are_found() {
    // The defect: the store file is not written anew, which is claimed.
    let acts =
        [Act::RememberMany(140), Act::Forget, Act::Forget, Act::Purge, Act::Purge, Act::Purge, Act::Compact];
    let mut recording = Recording::make(9, &acts, |disk| Arc::new(disk)).unwrap();
    let images: Vec<u64> = (0..BOUND).collect();
    assert_eq!(check(9, &recording, &images, Crashes::Single, &Tally::default()).len(), 0);
    // Only what is cut at the very end shows whether the last call has kept its promise.
    let at_the_end = |recording: &Recording| {
        let cut = recording.log.len();
        let mut replay = Replay::new(&Contents::default(), &recording.log);
        replay.advance(cut);
        let mut numbers = Numbers::new(9);
        let image = replay.image(&mut numbers);
        check_image(recording, cut, image, Depth::Everything, &mut numbers).map(drop)
    };
    at_the_end(&recording).unwrap();
    let purged = recording.done[acts.len() - 1].position;
    recording.log.truncate(purged);
    for done in &mut recording.done {
        done.position = done.position.min(purged);
    }
    assert!(!recording.gone(purged).is_empty(), "something was erased");
    let found = at_the_end(&recording).unwrap_err();
    assert!(found.0.contains("what was erased is still there"), "{found}");
}

#[test]
fn index_files_of_what_was_purged_do_not_come_back() {
    let acts = [
        Act::RememberMany(140),
        Act::Checkpoint,
        Act::Forget,
        Act::Forget,
        Act::Forget,
        Act::Purge,
        Act::Purge,
        Act::Purge,
        Act::RememberMany(140),
        Act::Checkpoint,
        Act::Compact,
    ];
    let wiped =
        [Act::RememberMany(140), Act::RememberMany(140), Act::RememberMany(140), Act::Checkpoint, Act::Wipe];
    let is_removal = |operation: &&Operation| match operation {
        Operation::Remove { path } => path.extension().is_some_and(|end| end == "vec"),
        _ => false,
    };
    let mut removed = 0;
    for seed in 0..16 {
        for acts in [&acts[..], &wiped[..]] {
            let recording = Recording::make(seed, acts, |disk| Arc::new(disk)).unwrap();
            recording.removals_are_durable().unwrap();
            removed += recording.log.iter().filter(is_removal).count();
            // Names that the last call does not sync are noticed, if there is anything for it to do.
            let mut careless = recording.clone();
            let last = recording.done[acts.len() - 1].position;
            for operation in &mut careless.log[last..] {
                if let Operation::SyncDirectory { path } = operation {
                    *path = std::path::Path::new("/").into();
                }
            }
            assert!(careless.log.len() == last || careless.removals_are_durable().is_err());
        }
    }
    assert!(removed > 0);
}

#[test]
fn a_fault_that_nobody_hears_of_is_found() {
    quiet_panics();
    let scripted = &SCRIPTED[0];
    let reference = Recording::make(scripted.seed, scripted.acts, |disk| Arc::new(disk)).unwrap();
    let silent = |kind| {
        let fault = Fault { kind, lasting: false, verdict: Verdict::Pretend };
        (1..400)
            .map(|number| caught(|| attempt(scripted, fault, number, &reference, &Tally::default())))
            .take_while(|tried| *tried != Ok(false))
            .filter(|tried| tried.is_err())
            .count()
    };
    assert!(silent(Kind::Write) > 0, "writes");
    assert!(silent(Kind::Sync) > 0, "syncs");
    assert!(silent(Kind::Name) > 0, "names");
}

#[test]
fn a_wrong_answer_of_a_sound_store_is_found() {
    let acts = [Act::RememberMany(10), Act::RememberMany(10), Act::Fact, Act::Turn];
    let whole = Whole::make(3, &acts).unwrap();
    assert_eq!(judge(&whole, whole.contents.clone()), Ok("without consequence"));
    // The same store a call later: nothing is damaged, and nothing is right.
    let later = Whole::make(3, &[&acts[..], &[Act::Forget; 3]].concat()).unwrap();
    assert!(judge(&whole, later.contents).is_err());
}

#[test]
fn every_scripted_workload_does_what_it_is_for() {
    // Of these the files or the plans tell, not what the store holds.
    let quiet =
        [Act::Checkpoint, Act::Compact, Act::Reopen, Act::Freeze, Act::Pass, Act::ForgetDue, Act::Policy];
    let mut idle = Vec::new();
    for scripted in &SCRIPTED {
        let recording = Recording::make(scripted.seed, scripted.acts, |disk| Arc::new(disk)).unwrap();
        for pair in recording.done.windows(2) {
            let act = pair[1].act.unwrap();
            let same = match act {
                Act::Freeze | Act::Checkpoint | Act::Compact => pair[0].position == pair[1].position,
                _ => pair[0].truth == pair[1].truth && !quiet.contains(&act),
            };
            if same {
                idle.push(format!("{}: {act:?}", scripted.name));
            }
        }
    }
    assert!(idle.is_empty(), "{idle:#?}");
}

#[test]
fn a_seed_gives_the_same_workload_and_the_same_log() {
    let files = [&[Act::RememberMany(140); 5][..], &[Act::Checkpoint, Act::Remember, Act::Reopen]].concat();
    for (seed, acts) in [(3, random(3)), (4, random(4)), (5, files)] {
        let make = || Recording::make(seed, &acts, |disk| Arc::new(disk)).unwrap();
        let (first, second) = (make(), make());
        assert_eq!(format!("{:?}", first.done), format!("{:?}", second.done));
        let lines = |recording: &Recording| {
            recording.log.iter().map(|operation| format!("{operation:?}")).collect::<Vec<_>>()
        };
        let (first, second) = (lines(&first), lines(&second));
        let other = first.iter().zip(&second).position(|(left, right)| left != right);
        assert_eq!(other, None, "of {} and {}", first.len(), second.len());
    }
}
