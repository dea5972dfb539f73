//! The campaign can fail: each lie of a disk and each defect put in is found, within a bound.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memcards::store::io::Io;
use memcards_campaign::disk::SimulatedDisk;
use memcards_campaign::disk::hooked::{HookedIo, Kind, Verdict};
use memcards_campaign::failure::quiet_panics;
use memcards_campaign::modes::images::{Crashes, check};
use memcards_campaign::recording::Recording;
use memcards_campaign::report::Tally;
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
    let found = match memcards_campaign::failure::caught(|| Recording::make(5, &ACTS, lie)) {
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
        [Act::RememberMany(12), Act::Forget, Act::Forget, Act::Purge, Act::Purge, Act::Purge, Act::Compact];
    let mut recording = Recording::make(9, &acts, |disk| Arc::new(disk)).unwrap();
    let images: Vec<u64> = (0..BOUND).collect();
    assert_eq!(check(9, &recording, &images, Crashes::Single, &Tally::default()).len(), 0);
    let purged = recording.done[acts.len() - 1].position;
    recording.log.truncate(purged);
    for done in &mut recording.done {
        done.position = done.position.min(purged);
    }
    assert!(!recording.gone(purged).is_empty(), "something was erased");
    assert!(!check(9, &recording, &images, Crashes::Single, &Tally::default()).is_empty());
}

#[test]
fn a_seed_gives_the_same_workload_and_the_same_images() {
    for seed in [3, 4] {
        let make = || Recording::make(seed, &random(seed), |disk| Arc::new(disk)).unwrap();
        let (first, second) = (make(), make());
        assert_eq!(format!("{:?}", first.done), format!("{:?}", second.done));
        let positions = |recording: &Recording| {
            recording.log.iter().map(|operation| format!("{operation:?}")).collect::<Vec<_>>()
        };
        let (first, second) = (positions(&first), positions(&second));
        let other = first.iter().zip(&second).position(|(left, right)| left != right);
        assert_eq!(other, None, "of {} and {}", first.len(), second.len());
    }
}
