//! A workload that was carried out on a recording disk, with what each call made true, and the
//! check of an image that a crash may have left of it.

use std::collections::HashSet;
use std::sync::Arc;

use memcards::store::io::Io;
use memcards::{Clock, ManualClock, Store, Timestamp};

use crate::disk::crash::Replay;
use crate::disk::{Contents, Operation, SimulatedDisk};
use crate::failure::{Checked, Failure, ensure};
use crate::numbers::Numbers;
use crate::oracle::{self, Expected};
use crate::script::{Act, DIRECTORY, Live, options, start};
use crate::truth::Truth;

/// A call that was acknowledged.
#[derive(Clone, Debug)]
pub struct Done {
    /// What it was; `None` for the time before the first one.
    pub act: Option<Act>,
    /// Length of the disk's log when it returned.
    pub position: usize,
    /// The present when it returned.
    pub clock: Timestamp,
    /// What the store holds since then.
    pub truth: Arc<Truth>,
}

/// A word that an acknowledged call has erased.
#[derive(Clone, Debug)]
struct Erased {
    word: String,
    /// Number of the step that erased it.
    by: usize,
    /// Number of the step after which no file may hold it, once there is one.
    from_files: Option<usize>,
}

/// A workload and its log.
#[derive(Clone, Debug)]
pub struct Recording {
    /// All operations.
    pub log: Vec<Operation>,
    /// What was acknowledged, in order; the first one is the empty store.
    pub done: Vec<Done>,
    erased: Vec<Erased>,
}

impl Recording {
    /// Carries a workload out. `wrap` may put something between the store and the disk.
    ///
    /// # Errors
    /// When a call fails, though the disk does not.
    pub fn make(seed: u64, acts: &[Act], wrap: impl FnOnce(SimulatedDisk) -> Arc<dyn Io>) -> Checked<Self> {
        let disk = SimulatedDisk::default();
        let mut live = Live::new(wrap(disk.clone()), DIRECTORY, seed);
        let empty = Done { act: None, position: 0, clock: start(), truth: Arc::default() };
        let (mut done, mut erased) = (vec![empty], Vec::<Erased>::new());
        let mut present = HashSet::new();
        for (number, act) in acts.iter().enumerate() {
            let place = format!("step {} ({act:?})", number + 1);
            live.act(*act).map_err(|error| Failure::from(error).at(&place))?;
            let position = disk.position();
            let truth = Truth::of(live.open()?).map_err(|failure| failure.at(&place))?;
            let given: HashSet<String> = live.words().collect();
            let words = truth.words(&given);
            erased.retain(|gone| !words.contains(&gone.word));
            let gone = present.difference(&words).cloned();
            erased.extend(gone.map(|word| Erased { word, by: number + 1, from_files: None }));
            if matches!(act, Act::Compact | Act::Wipe) {
                for gone in &mut erased {
                    gone.from_files.get_or_insert(number + 1);
                }
            }
            present = words;
            done.push(Done { act: Some(*act), position, clock: live.clock.now(), truth: Arc::new(truth) });
        }
        drop(live);
        Ok(Self { log: disk.take_log(), done, erased })
    }

    /// The number of the last step that was acknowledged when the log was cut here.
    pub fn acknowledged(&self, cut: usize) -> usize {
        self.done.partition_point(|done| done.position <= cut).saturating_sub(1)
    }

    /// What an image of a cut has to show, and the present at which it is opened.
    pub fn expected(&self, cut: usize) -> (Expected<'_>, Timestamp) {
        let number = self.acknowledged(cut);
        let before = &self.done[number];
        let after = self.done.get(number + 1).unwrap_or(before);
        let grows = after.act == Some(Act::Import);
        (Expected { before: &before.truth, after: &after.truth, grows }, after.clock)
    }

    /// The words that no file may hold any more when the log was cut here.
    pub fn gone(&self, cut: usize) -> HashSet<String> {
        let number = self.acknowledged(cut);
        let gone = |erased: &&Erased| erased.from_files.is_some_and(|from| from <= number);
        self.erased.iter().filter(gone).map(|erased| erased.word.clone()).collect()
    }

    /// Says which steps erased words, for a failure that names some of them.
    fn tell_erased(&self, failure: Failure) -> Failure {
        let named = self.erased.iter().filter(|erased| failure.0.contains(&erased.word));
        let told: Vec<String> = named
            .map(|Erased { word, by, .. }| {
                format!("{word} was erased by step {by} ({:?})", self.done[*by].act)
            })
            .collect();
        Failure(format!("{}; {}", failure.0, told.join(", ")))
    }

    /// Fails when a file that was removed or replaced may come back after a call that promises that
    /// no byte of what was erased is left.
    ///
    /// # Errors
    /// Names the call and the files.
    pub fn removals_are_durable(&self) -> Checked {
        let mut replay = Replay::new(&Contents::default(), &self.log);
        for (number, done) in self.done.iter().enumerate() {
            replay.advance(done.position);
            if matches!(done.act, Some(Act::Compact | Act::Wipe)) {
                let back = replay.may_come_back();
                ensure(back.is_empty(), || {
                    format!("after step {number} ({:?}) {back:?} may come back", done.act)
                })?;
            }
        }
        Ok(())
    }

    /// Says where in the workload a cut is.
    pub fn place(&self, cut: usize) -> String {
        let number = self.acknowledged(cut);
        let next = self.done.get(number + 1).and_then(|done| done.act);
        format!("cut at {cut} of {}, {number} acknowledged, under way {next:?}", self.log.len())
    }
}

/// Opens what a crash has left.
///
/// # Errors
/// Those of opening.
pub fn open(disk: &SimulatedDisk, now: Timestamp) -> memcards::Result<Store> {
    let clock = Arc::new(ManualClock::new(now));
    Store::open(DIRECTORY, options(Arc::new(disk.clone()), clock))
}

/// What was looked at of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What it holds.
    Shown,
    /// And that erased words are in no file, and that it can be written to.
    Everything,
}

/// Checks an image; gives what it shows and the operations that opening and closing it took.
///
/// # Errors
/// Says what does not hold.
pub fn check_image(
    recording: &Recording,
    cut: usize,
    image: Contents,
    depth: Depth,
    numbers: &mut Numbers,
) -> Checked<(Truth, Vec<Operation>)> {
    let (expected, now) = recording.expected(cut);
    if depth == Depth::Everything {
        let gone = recording.gone(cut);
        if let Err(failure) = oracle::gone(&image, &gone) {
            let holders = oracle::holders(&open(&SimulatedDisk::holding(image), now)?, &gone)?;
            return Err(recording.tell_erased(Failure(format!("{failure}; {holders}"))));
        }
    }
    let disk = SimulatedDisk::holding(image);
    let store = open(&disk, now).map_err(|error| Failure::from(error).at("opening"))?;
    let found = oracle::check(&store, expected, numbers)?;
    match depth {
        Depth::Shown => drop(store),
        Depth::Everything => oracle::goes_on(store, || open(&disk, now))?,
    }
    Ok((found, disk.take_log()))
}

/// Checks that a crash while an image is opened and closed loses nothing of what it has shown.
///
/// # Errors
/// Says what does not hold.
pub fn check_second(
    (base, log): (&Contents, &[Operation]),
    shown: &Truth,
    now: Timestamp,
    cuts: &[usize],
    numbers: &mut Numbers,
) -> Checked {
    let mut replay = Replay::new(base, log);
    for cut in cuts {
        replay.advance(*cut);
        let disk = SimulatedDisk::holding(replay.image(numbers));
        let place = format!("second cut at {cut} of {}", log.len());
        let store = open(&disk, now).map_err(|error| Failure::from(error).at(&place))?;
        let expected = Expected { before: shown, after: shown, grows: false };
        oracle::check(&store, expected, numbers).map_err(|failure| failure.at(&place))?;
    }
    Ok(())
}
