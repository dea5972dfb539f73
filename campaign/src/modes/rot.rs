//! Bytes of a closed store change by themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use memcards::card::CardId;
use memcards::{Get, History, Include, List, Order, Recall, Store, Timestamp};

use crate::disk::bytes::{Bytes, PAGE};
use crate::disk::{Contents, Node, SimulatedDisk};
use crate::failure::{Checked, Failure, caught, within};
use crate::modes::{Settings, spread};
use crate::numbers::Numbers;
use crate::recording::open;
use crate::report::{ModeReport, Tally};
use crate::script::{Act, DIRECTORY, EVERYTHING, Live};
use crate::words::vector;

/// Cases of one store; a failure is told by the seed of the store and the case's number.
const OF_ONE: u64 = 200;

/// A case takes a few milliseconds.
const LONGEST: Duration = Duration::from_secs(20);

/// The store that is damaged: everything a store can have.
const ACTS: [Act; 22] = [
    Act::RememberMany(140),
    Act::RememberMany(40),
    Act::RememberMany(10),
    Act::Turn,
    Act::Turn,
    Act::Fact,
    Act::Fact,
    Act::Relate,
    Act::Policy,
    Act::Archive,
    Act::Archive,
    Act::Freeze,
    Act::RememberMany(140),
    Act::Checkpoint,
    Act::Forget,
    Act::Purge,
    Act::Plan,
    Act::Replace,
    Act::Edit,
    Act::Feedback,
    Act::Reopen,
    Act::Remember,
];

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Flip { at: u64, bit: u8 },
    Zero { page: u64 },
    Cut { len: u64 },
    Swap { first: u64, second: u64 },
}

/// A store that was closed, and what it answers.
pub struct Whole {
    /// Its files.
    pub contents: Contents,
    now: Timestamp,
    answers: Answers,
}

/// What is asked, and what the answer was.
type Answers = BTreeMap<String, Result<String, memcards::Error>>;

/// Damages `settings.count` copies.
pub fn run(settings: &Settings) -> ModeReport {
    let tally = Tally::default();
    let stores = if settings.only.is_some() { 1 } else { settings.count.div_ceil(OF_ONE) };
    spread(settings, stores, &tally, |unit| {
        let seed = settings.seed + unit;
        let command = |only: u64| format!("cargo xtask campaign rot --seed {seed} --count 1 --only {only}");
        let whole = match caught(|| Whole::make(seed, &ACTS)) {
            Ok(whole) => Arc::new(whole),
            Err(failure) => return tally.fail(failure.at("before any damage").to_string(), command(0)),
        };
        let left = settings.count.saturating_sub(unit * OF_ONE).min(OF_ONE);
        let cases = settings.only.map_or(0..left, |only| only..only + 1);
        for case in cases {
            let mut numbers = Numbers::part(seed, 3_000_000 + case);
            let (path, damage) = choose(&whole.contents, &mut numbers);
            let kind = path.extension().and_then(|end| end.to_str()).unwrap_or("LOCK").to_owned();
            let place = format!("{} {damage:?}", path.display());
            let copy = whole.clone();
            match within(LONGEST, move || damaged(&copy, &path, damage)) {
                Ok(outcome) => tally.add(&format!("{kind}: {outcome}"), 1),
                Err(failure) => {
                    tally.add(&format!("{kind}: FAILED"), 1);
                    tally.fail(failure.at(place).to_string(), command(case));
                }
            }
            tally.add("cases", 1);
        }
    });
    tally.into_report(
        "rot",
        "A flipped bit, a page of zeros, a file cut short, two pages swapped, in every file of a closed store: every \
         answer is right or a typed `corrupt` error, nothing stops with a panic, and verify finds what does harm.",
    )
}

impl Whole {
    /// Makes a store, closes it, and asks everything.
    ///
    /// # Errors
    /// When it does not answer without any damage.
    pub fn make(seed: u64, acts: &[Act]) -> Checked<Self> {
        let disk = SimulatedDisk::default();
        let mut live = Live::new(Arc::new(disk.clone()), DIRECTORY, seed);
        for act in acts {
            live.act(*act)?;
        }
        live.close();
        let now = memcards::Clock::now(&*live.clock);
        let contents = disk.contents();
        let copy = SimulatedDisk::holding(contents.clone());
        let store = open(&copy, now)?;
        let answers = ask(&store, None);
        if let Some((question, Err(error))) = answers.iter().find(|(_, answer)| answer.is_err()) {
            return Err(Failure(format!("{question}: {error}")));
        }
        crate::oracle::sound(&store)?;
        Ok(Self { contents, now, answers })
    }
}

/// Asks a store everything; of the cards of an answer to compare with, also those that it no
/// longer tells of.
fn ask(store: &Store, like: Option<&Answers>) -> Answers {
    let mut answers = Answers::new();
    let json = |value: serde_json::Result<String>| value.unwrap_or_else(|error| error.to_string());
    let names = store.tenants().map(|all| all.into_iter().map(|tenant| tenant.name).collect::<Vec<_>>());
    answers.insert("tenants".into(), names.map(|names| names.join(" ")));
    for name in ["anna", "bob", "cleo"] {
        let Ok(tenant) = store.tenant(name) else { continue };
        let all = List {
            order: Order::OldestFirst,
            limit: Some(1000),
            include: EVERYTHING.to_vec(),
            ..List::default()
        };
        let page = tenant.list(&all);
        let mut ids: Vec<CardId> = page.iter().flat_map(|page| &page.cards).map(|card| card.id).collect();
        if let Some(like) = like {
            let prefix = format!("{name} get ");
            let known = like.keys().filter_map(|question| question.strip_prefix(&prefix)?.parse().ok());
            ids = known.collect();
        }
        answers.insert(format!("{name} list"), page.map(|page| json(serde_json::to_string(&page))));
        for (number, id) in ids.iter().enumerate() {
            let get = Get { id: *id, include: EVERYTHING.to_vec(), ..Get::default() };
            let read = tenant.get(&get).map(|card| json(serde_json::to_string(&card)));
            answers.insert(format!("{name} get {id}"), read);
            if number % 8 == 0 {
                let past =
                    tenant.history(&History { id: *id }).map(|past| json(serde_json::to_string(&past)));
                answers.insert(format!("{name} history {id}"), past);
            }
        }
        for (question, include) in [("item", vec![]), ("Mira put away", vec![Include::Archived])] {
            let request = Recall {
                query: Some(question.into()),
                vector: Some(vector(question)),
                top: Some(50),
                include,
                ..Recall::default()
            };
            let found = tenant.recall(request).map(|found| json(serde_json::to_string(&found.hits)));
            answers.insert(format!("{name} recall {question}"), found);
        }
        let plans = tenant.plans().map(|plans| json(serde_json::to_string(&plans)));
        answers.insert(format!("{name} plans"), plans);
        let policy = tenant.policy().map(|policy| json(serde_json::to_string(&policy.policy)));
        answers.insert(format!("{name} policy"), policy);
    }
    answers
}

fn choose(contents: &Contents, numbers: &mut Numbers) -> (PathBuf, Damage) {
    let files: Vec<(&Path, &Bytes)> = contents.named().filter(|(_, bytes)| !bytes.is_empty()).collect();
    // The store file is half of it; others are as many cases each.
    let store = files.iter().find(|(path, _)| path.extension().is_some_and(|end| end == "redb"));
    let (path, bytes) = match (store, numbers.pick(&files)) {
        (Some(store), _) if numbers.once_in(2) => *store,
        (_, Some(any)) => *any,
        (_, None) => return (PathBuf::from(DIRECTORY), Damage::Cut { len: 0 }),
    };
    let pages = bytes.len().div_ceil(PAGE as u64) as usize;
    // Where there is something: most of a new store file is zeros.
    let mut used: Vec<u64> = Vec::new();
    bytes.written(|start, run| {
        for (number, page) in run.chunks(PAGE).enumerate() {
            if page.iter().any(|byte| *byte != 0) {
                used.push(start / PAGE as u64 + number as u64);
            }
        }
    });
    let page = numbers.pick(&used).copied().unwrap_or(0);
    let within = |numbers: &mut Numbers| {
        let start = page * PAGE as u64;
        start + numbers.below((bytes.len() - start).min(PAGE as u64) as usize) as u64
    };
    let damage = match numbers.below(10) {
        0 => Damage::Zero { page },
        1 => Damage::Cut { len: numbers.below(bytes.len() as usize) as u64 },
        2 => Damage::Swap {
            first: page,
            second: numbers.pick(&used).copied().unwrap_or(numbers.below(pages) as u64),
        },
        _ => Damage::Flip { at: within(numbers), bit: numbers.below(8) as u8 },
    };
    (path.to_owned(), damage)
}

fn apply(bytes: &Bytes, damage: Damage) -> Bytes {
    let mut changed = bytes.clone();
    let page = |number: u64| {
        let start = number * PAGE as u64;
        let mut out = vec![0; bytes.len().saturating_sub(start).min(PAGE as u64) as usize];
        bytes.read(start, &mut out);
        (start, out)
    };
    match damage {
        Damage::Flip { at, bit } => {
            let mut byte = [0];
            bytes.read(at, &mut byte);
            changed.write(at, &[byte[0] ^ (1 << bit)]);
        }
        Damage::Zero { page: number } => {
            let (start, old) = page(number);
            changed.write(start, &vec![0; old.len()]);
        }
        Damage::Cut { len } => changed.set_len(len),
        Damage::Swap { first, second } => {
            let ((left, first), (right, second)) = (page(first), page(second));
            let count = first.len().min(second.len());
            changed.write(left, &second[..count]);
            changed.write(right, &first[..count]);
        }
    }
    changed
}

/// Damages a copy and looks at it; says what came of it.
fn damaged(whole: &Whole, path: &Path, damage: Damage) -> Checked<&'static str> {
    let mut contents = whole.contents.clone();
    let Some(Node::File(number)) = contents.names.get(path).copied() else {
        return Err(Failure("there is no such file".into()));
    };
    let changed = apply(&contents.files[number], damage);
    if changed.all() == contents.files[number].all() {
        return Ok("nothing changed");
    }
    contents.files[number] = changed;
    judge(whole, contents)
}

/// Opens what has become of a store and asks everything; says what came of it.
///
/// # Errors
/// Says what was wrong, or how it ended.
pub fn judge(whole: &Whole, contents: Contents) -> Checked<&'static str> {
    let disk = SimulatedDisk::holding(contents);
    let store = match open(&disk, whole.now) {
        Ok(store) => store,
        Err(error) if error.code() == "corrupt" => return Ok("refused when it was opened"),
        Err(error) => return Err(Failure(format!("opening ends with {}: {error}", error.code()))),
    };
    let verified = store.verify(|_| {});
    let answers = ask(&store, Some(&whole.answers));
    let mut harmed = false;
    for (question, right) in &whole.answers {
        match (answers.get(question), right) {
            (Some(Ok(answer)), Ok(right)) if answer == right => {}
            (Some(Err(error)), _) if error.code() == "corrupt" => harmed = true,
            (Some(Err(error)), _) => {
                return Err(Failure(format!("{question}: {} ({error})", error.code())));
            }
            (answer, right) => {
                return Err(Failure(format!("{question}: {answer:.400?} instead of {right:.400?}")));
            }
        }
    }
    let found = match verified {
        Ok(report) => !report.is_sound(),
        Err(error) if error.code() == "corrupt" => true,
        Err(error) => return Err(Failure(format!("verify ends with {}: {error}", error.code()))),
    };
    match (harmed, found) {
        (true, false) => Err(Failure("answers are refused, and verify is content".into())),
        (true, true) => Ok("answers refused as corrupt, verify tells"),
        (false, true) => Ok("all answers right, verify tells"),
        (false, false) => Ok("without consequence"),
    }
}
