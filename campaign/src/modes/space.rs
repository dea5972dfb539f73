//! A file system that is full: a real one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use memcards::store::io::RealIo;
use memcards::{Clock, ManualClock, Recall, Store};

use crate::disk::SimulatedDisk;
use crate::failure::{Checked, Failure, caught, ensure};
use crate::modes::{Settings, spread};
use crate::numbers::Numbers;
use crate::oracle::{self, Expected};
use crate::report::{ModeReport, Tally};
use crate::script::{Act, DIRECTORY, Live, TENANTS, options, random, told};
use crate::truth::{Truth, between};

/// Bytes of the file system.
const SIZE: u64 = 24 << 20;
/// The least and the most that is left to a store, in bytes.
const LEFT: (usize, usize) = (64 << 10, 6 << 20);

const PROMISE: &str = "A real file system runs full in the middle of the work: the error is typed, reads go on, \
    what was acknowledged is there, and when there is space again it is opened and works.";

/// Runs `settings.count` workloads.
pub fn run(settings: &Settings) -> ModeReport {
    let tally = Tally::default();
    let mount = match caught(Mounted::new) {
        Ok(mount) => mount,
        Err(failure) => {
            let report = tally.into_report("space", PROMISE);
            return ModeReport { skipped: Some(failure.to_string()), ..report };
        }
    };
    tally.add(&format!("bytes of the {}", mount.kind), SIZE);
    // One at a time: they share the space.
    let settings = Settings { threads: 1, ..settings.clone() };
    spread(&settings, settings.count, &tally, |unit| {
        let seed = settings.seed + unit;
        if let Err(failure) = caught(|| workload(mount.at.path(), seed, &tally)) {
            tally.fail(failure.to_string(), format!("cargo xtask campaign space --seed {seed} --count 1"));
        }
    });
    drop(mount);
    tally.into_report("space", PROMISE)
}

/// A small file system, there as long as this value.
struct Mounted {
    kind: &'static str,
    at: tempfile::TempDir,
    _image: Option<tempfile::NamedTempFile>,
}

impl Mounted {
    fn new() -> Checked<Self> {
        let at = tempfile::tempdir()?;
        let image = tempfile::NamedTempFile::new()?;
        image.as_file().set_len(SIZE)?;
        let made = command("mkfs.ext4", &["-q", "-F", "-m", "0"], &[image.path()])
            .and_then(|()| command("mount", &["-o", "loop"], &[image.path(), at.path()]));
        let Err(first) = made else {
            return Ok(Self { kind: "ext4 on a loop device", at, _image: Some(image) });
        };
        match command("mount", &["-t", "tmpfs", "-o", &format!("size={SIZE}"), "tmpfs"], &[at.path()]) {
            Ok(()) => Ok(Self { kind: "tmpfs", at, _image: None }),
            Err(second) => Err(Failure(format!("no small file system can be mounted ({first}; {second})"))),
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // What cannot be unmounted stays; the next run mounts another one.
        let _ = command("umount", &[], &[self.at.path()]);
    }
}

fn command(name: &str, words: &[&str], paths: &[&Path]) -> Checked {
    let output = Command::new(name)
        .args(words)
        .args(paths)
        .output()
        .map_err(|error| Failure(format!("{name}: {error}")))?;
    ensure(output.status.success(), || {
        format!("{name}: {}", String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("refused"))
    })
}

/// Takes all of the space but some.
fn ballast(mount: &Path, left: u64) -> Checked<PathBuf> {
    use std::io::Write;
    let path = mount.join("ballast");
    let mut file = std::fs::File::create(&path)?;
    let piece = vec![0xa5u8; 64 << 10];
    let mut written = 0u64;
    while file.write_all(&piece).is_ok() {
        written += piece.len() as u64;
    }
    // A file system may find out late that it is full.
    if let Err(error) = file.sync_all() {
        return Err(Failure(format!("the ballast: {error}")));
    }
    file.set_len(written.saturating_sub(left))?;
    file.sync_all()?;
    Ok(path)
}

fn workload(mount: &Path, seed: u64, tally: &Tally) -> Checked {
    let mut numbers = Numbers::part(seed, 7);
    let directory = mount.join("store");
    if directory.exists() {
        std::fs::remove_dir_all(&directory)?;
    }
    let _ = std::fs::remove_file(mount.join("ballast"));
    let mut acts = random(seed);
    // It fills up sooner or later.
    acts.extend([Act::RememberMany(200); 40]);
    let left = LEFT.0 + numbers.below(LEFT.1 - LEFT.0);
    let ballast = ballast(mount, left as u64)?;
    let mut live = Live::new(Arc::new(RealIo), &directory, seed);
    let mut reference = Live::new(Arc::new(SimulatedDisk::default()), DIRECTORY, seed);
    let mut refused = None;
    let mut before = Truth::default();
    let mut under_way = None;
    for act in acts {
        let done = live.act(act);
        if done.is_err() {
            before = match reference.store.is_some() {
                true => Truth::of(reference.open()?)?,
                false => Truth::default(),
            };
        }
        reference.act(act)?;
        if let Err(error) = done {
            refused = Some(error);
            under_way = Some(act);
            break;
        }
        tally.add("acknowledged calls", 1);
    }
    let Some(error) = refused else {
        tally.add("workloads that found space enough", 1);
        return Ok(());
    };
    let typed = matches!(error.code(), "unavailable" | "read_only");
    ensure(typed, || format!("{under_way:?} fails with {}: {error}", error.code()))?;
    let after = Truth::of(reference.open()?)?;
    let grows = under_way == Some(Act::Import);
    let mut expected = Expected { before: &before, after: &after, grows };
    let kept;
    if let Some(store) = live.store.clone() {
        let here = Truth::of(&store).map_err(|failure| failure.at("reads do not go on"))?;
        between(&here, &before, &after, grows).map_err(|failure| failure.at("while it is full"))?;
        for name in TENANTS {
            let request = Recall { query: Some("item".into()), ..Recall::default() };
            store
                .tenant(name)?
                .recall(request)
                .map_err(|error| Failure::from(error).at("recall does not go on"))?;
        }
        match store.tenant("anna")?.remember(told("item one more".into())) {
            Err(error) => {
                let typed = matches!(error.code(), "unavailable" | "read_only");
                ensure(typed, || format!("a write is refused with {}: {error}", error.code()))?;
                tally.add("writes refused while it was full", 1);
            }
            // What failed was something larger.
            Ok(_) => {
                kept = Truth::of(&store)?;
                expected = Expected { before: &kept, after: &kept, grows: false };
            }
        }
    }
    live.close();
    std::fs::remove_file(ballast)?;
    let reopen = || {
        let clock = Arc::new(ManualClock::new(live.clock.now()));
        Store::open(&directory, options(Arc::new(RealIo), clock))
    };
    let store = reopen().map_err(|error| Failure::from(error).at("opening when there is space"))?;
    oracle::check(&store, expected, &mut numbers).map_err(|failure| failure.at("when there is space"))?;
    oracle::goes_on(store, reopen)?;
    tally.add("times that it ran full", 1);
    Ok(())
}
