//! Killing the process at any moment loses nothing that was acknowledged.
//!
//! The test runs itself as a child that writes from several threads and tells, over a pipe,
//! what it is about to do and what has returned. The parent kills it (SIGKILL), opens the
//! store and compares card by card: a card is as it was last acknowledged, or as the one
//! call makes it that was under way in its thread; nothing else may have happened.
//!
//! `MEMCARDS_KILLS` sets how often (12 when absent), `MEMCARDS_SEED` the sequence.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use memcards::card::{Card, CardId, State};
use memcards::filter::Filter;
use memcards::{
    Correct, Error, Forget, Get, How, Include, List, Options, Order, Outcome, Recall, Remember, Restore,
    Store, Tenant,
};
use xxhash_rust::xxh3::xxh3_64;

const DIRECTORY: &str = "MEMCARDS_KILL_DIRECTORY";
const SEED: &str = "MEMCARDS_KILL_SEED";
const THREADS: u64 = 4;
const TENANTS: [&str; 2] = ["anna", "bob"];
/// Kills of one directory; then a new one, so that checking everything stays quick.
const KILLS_PER_DIRECTORY: u64 = 40;
const EVERYTHING: [Include; 4] =
    [Include::Superseded, Include::Archived, Include::Candidates, Include::Forgotten];

/// A sequence of numbers that depends on nothing but its seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// What is compared of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    version: u32,
    mentions: u32,
    state: State,
    content: u64,
}

impl Seen {
    fn of(card: &Card) -> Self {
        Self {
            version: card.version,
            mentions: card.mention_count,
            state: card.state,
            content: xxh3_64(card.content.as_bytes()),
        }
    }
}

/// Tells the parent one line; a line of this length reaches a pipe whole or not at all.
fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn tell_card(thread: u64, tenant: &Tenant, id: CardId) {
    let card = tenant.get(&Get { id, include: vec![Include::Forgotten], ..Get::default() }).unwrap();
    let seen = Seen::of(&card);
    tell(&format!(
        "CARD {thread} {} {id} {} {} {} {}",
        tenant.name(),
        seen.version,
        seen.mentions,
        seen.state,
        seen.content
    ));
}

fn vector_of(content: &str) -> Vec<f32> {
    let mut numbers = Numbers(xxh3_64(content.as_bytes()));
    (0..8).map(|_| numbers.below(2000) as f32 - 999.5).collect()
}

fn all_cards(tenant: &Tenant, filter: Option<Filter>) -> Vec<Card> {
    let mut request = List {
        filter,
        order: Order::OldestFirst,
        limit: Some(1000),
        include: EVERYTHING.to_vec(),
        ..List::default()
    };
    let mut cards = Vec::new();
    loop {
        let page = tenant.list(&request).unwrap();
        cards.extend(page.cards.into_iter().map(|view| view.card));
        match page.cursor {
            Some(cursor) => request.cursor = Some(cursor),
            None => return cards,
        }
    }
}

/// One thread of the child: writes to its own cards until it is killed.
fn work(store: &Store, thread: u64, seed: u64) {
    let mut numbers = Numbers(seed ^ (thread << 32));
    let tenant = store.tenant(TENANTS[(thread % 2) as usize]).unwrap();
    let label = format!("thread-{thread}");
    let mut cards = all_cards(&tenant, Some(Filter::contains("tags", &label).unwrap()));
    let mut serial = 0u64;
    loop {
        let fresh = format!("item x{seed:016x}t{thread}n{serial}");
        serial += 1;
        let pick = (!cards.is_empty()).then(|| numbers.below(cards.len() as u64) as usize);
        let state = pick.map(|at| cards[at].state);
        let attempt = |kind: &str, id: CardId, content: &str| {
            tell(&format!("TRY {thread} {} {kind} {id} {}", tenant.name(), xxh3_64(content.as_bytes())));
        };
        let remember = |content: &str| Remember {
            content: content.to_owned(),
            tags: vec![label.clone()],
            vector: Some(vector_of(content)),
            ..Remember::default()
        };
        match (numbers.below(10), pick, state) {
            (4, Some(at), Some(State::Active)) => {
                let card = cards[at].clone();
                attempt("again", card.id, &card.content);
                let answer = tenant.remember(remember(&card.content)).unwrap();
                assert_eq!((answer.outcome, answer.id), (Outcome::Duplicate, card.id));
                tell_card(thread, &tenant, card.id);
            }
            (5, Some(at), Some(State::Active)) => {
                let old = cards[at].id;
                let how = [How::Negation, How::Scope, How::Ambiguous][numbers.below(3) as usize];
                let kind = if how == How::Negation { "replace" } else { "link" };
                attempt(kind, old, &fresh);
                let answer = tenant
                    .correct(Correct {
                        id: old,
                        how,
                        content: Some(fresh.clone()),
                        vector: Some(vector_of(&fresh)),
                        ..Correct::default()
                    })
                    .unwrap();
                tell_card(thread, &tenant, answer.id);
                tell_card(thread, &tenant, old);
            }
            (6, Some(at), Some(state)) if state != State::Forgotten => {
                let id = cards[at].id;
                attempt("edit", id, &cards[at].content);
                tenant
                    .correct(Correct {
                        id,
                        summary: Some(format!("summary {serial} {seed}")),
                        ..Correct::default()
                    })
                    .unwrap();
                tell_card(thread, &tenant, id);
            }
            (7, Some(at), Some(state)) if state != State::Forgotten => {
                let id = cards[at].id;
                attempt("forget", id, &cards[at].content);
                tenant.forget(Forget { id: Some(id), ..Forget::default() }).unwrap();
                tell_card(thread, &tenant, id);
            }
            (8, Some(at), Some(State::Forgotten)) => {
                let id = cards[at].id;
                attempt("restore", id, &cards[at].content);
                tenant.restore(Restore { id: Some(id), ..Restore::default() }).unwrap();
                tell_card(thread, &tenant, id);
            }
            (9, ..) if serial.is_multiple_of(8) => {
                store.checkpoint().unwrap();
                continue;
            }
            _ => {
                attempt("create", CardId::default(), &fresh);
                let answer = tenant.remember(remember(&fresh)).unwrap();
                assert_eq!(answer.outcome, Outcome::Created, "{fresh}");
                tell_card(thread, &tenant, answer.id);
                cards.push(tenant.get(&Get { id: answer.id, ..Get::default() }).unwrap().card);
            }
        }
        tell(&format!("DONE {thread}"));
        if let Some(at) = pick {
            let id = cards[at].id;
            let get = Get { id, include: vec![Include::Forgotten], ..Get::default() };
            cards[at] = tenant.get(&get).unwrap().card;
        }
    }
}

/// The child: does nothing when the test suite runs it.
#[test]
fn child() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let seed: u64 = std::env::var(SEED).unwrap().parse().unwrap();
    let store = Store::open(&directory, Options { embedder: None, ..Options::default() }).unwrap();
    tell("READY");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                let end =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(store, thread, seed)));
                if end.is_err() {
                    tell(&format!("BAD thread {thread} stopped"));
                    std::process::exit(3);
                }
            });
        }
    });
}

/// A call that was under way when the process died.
#[derive(Debug)]
struct Attempt {
    tenant: String,
    kind: String,
    id: CardId,
    content: u64,
}

/// Tenant and card.
type Place = (String, CardId);

#[derive(Default)]
struct Expected {
    cards: BTreeMap<Place, Seen>,
    acknowledged: u64,
}

impl Expected {
    /// Reads what the child told; gives the calls that were under way.
    fn listen(&mut self, lines: &[String]) -> Vec<Attempt> {
        let mut under_way: BTreeMap<u64, Attempt> = BTreeMap::new();
        let mut told: BTreeMap<u64, Vec<(Place, Seen)>> = BTreeMap::new();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["TRY", thread, tenant, kind, id, content] => {
                    let attempt = Attempt {
                        tenant: (*tenant).into(),
                        kind: (*kind).into(),
                        id: id.parse().unwrap(),
                        content: content.parse().unwrap(),
                    };
                    under_way.insert(thread.parse().unwrap(), attempt);
                }
                // A reading of a card after the call returned: the call is acknowledged.
                ["CARD", thread, tenant, id, version, mentions, state, content] => {
                    let seen = Seen {
                        version: version.parse().unwrap(),
                        mentions: mentions.parse().unwrap(),
                        state: State::from_name(state).unwrap(),
                        content: content.parse().unwrap(),
                    };
                    let place = ((*tenant).to_owned(), id.parse().unwrap());
                    told.entry(thread.parse().unwrap()).or_default().push((place, seen));
                }
                ["DONE", thread] => {
                    let thread = thread.parse().unwrap();
                    under_way.remove(&thread);
                    self.cards.extend(told.remove(&thread).unwrap_or_default());
                    self.acknowledged += 1;
                }
                ["BAD", ..] => panic!("{line}: {}", lines.join("\n")),
                _ => {}
            }
        }
        // Told but not done: the call had returned, so what was told must be there. A
        // correction tells of two cards; the second one may still show either state.
        for (thread, cards) in told {
            let told_all = under_way.get(&thread).is_some_and(|a| a.kind != "replace" && a.kind != "link");
            if told_all {
                under_way.remove(&thread);
                self.acknowledged += 1;
            }
            self.cards.extend(cards);
        }
        under_way.into_values().collect()
    }

    /// Compares the store with what was told, and takes over what the calls under way did.
    fn check(&mut self, store: &Store, under_way: &[Attempt]) {
        for name in TENANTS {
            let tenant = store.tenant(name).unwrap();
            let stored: BTreeMap<CardId, Seen> =
                all_cards(&tenant, None).iter().map(|card| (card.id, Seen::of(card))).collect();
            let attempts: Vec<&Attempt> = under_way.iter().filter(|a| a.tenant == name).collect();
            for ((_, id), told) in self.cards.iter_mut().filter(|((tenant, _), _)| tenant == name) {
                let Some(found) = stored.get(id) else {
                    panic!("card {id} of {name}, acknowledged as {told:?}, is lost");
                };
                if found == told {
                    continue;
                }
                let by = attempts.iter().find(|attempt| attempt.id == *id);
                let allowed = by.is_some_and(|attempt| {
                    let revised = Seen { version: told.version + 1, ..told.clone() };
                    match attempt.kind.as_str() {
                        "again" => *found == Seen { mentions: told.mentions + 1, ..told.clone() },
                        "edit" | "link" => *found == revised,
                        "replace" => *found == Seen { state: State::Superseded, ..revised },
                        "forget" => *found == Seen { state: State::Forgotten, ..revised },
                        "restore" => found.state != State::Forgotten && found.version == revised.version,
                        _ => false,
                    }
                });
                assert!(
                    allowed,
                    "card {id} of {name}: acknowledged {told:?}, found {found:?}, under way {by:?}"
                );
                *told = found.clone();
            }
            for (id, found) in &stored {
                let place = (name.to_owned(), *id);
                if self.cards.contains_key(&place) {
                    continue;
                }
                let by = attempts.iter().find(|attempt| attempt.content == found.content);
                let by = by.unwrap_or_else(|| panic!("card {id} of {name} comes from nowhere: {found:?}"));
                // A correction is there with both of its cards or not at all.
                if by.kind == "replace" {
                    assert_eq!(stored[&by.id].state, State::Superseded, "half of a correction: {by:?}");
                }
                self.cards.insert(place, found.clone());
            }
            for attempt in attempts.iter().filter(|attempt| attempt.kind == "replace") {
                if stored[&attempt.id].state == State::Superseded {
                    assert!(stored.values().any(|card| card.content == attempt.content), "half: {attempt:?}");
                }
            }
            // The indexes agree with the store: every active card is found by its vector.
            if !stored.is_empty() {
                let request = Recall { vector: Some(vector_of("any")), top: Some(1000), ..Recall::default() };
                let hits = tenant.recall(request).unwrap().hits;
                let active = stored.values().filter(|card| card.state == State::Active).count();
                assert_eq!(hits.len(), active.min(1000));
            }
        }
    }
}

fn run_child(directory: &Path, seed: u64, numbers: &mut Numbers) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let out = child.stdout.take().unwrap();
    let mut errors = child.stderr.take().unwrap();
    let (ready, is_ready) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut lines = Vec::new();
        for line in BufReader::new(out).lines() {
            let line = line.unwrap();
            if line.ends_with("READY") {
                ready.send(()).unwrap();
            }
            lines.push(line);
        }
        lines
    });
    let error_reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = std::io::Read::read_to_string(&mut errors, &mut text);
        text
    });
    // One in eight dies while it opens the store.
    if numbers.below(8) != 0 {
        let _ = is_ready.recv_timeout(Duration::from_secs(60));
        std::thread::sleep(Duration::from_micros(numbers.below(60_000)));
    } else {
        std::thread::sleep(Duration::from_micros(numbers.below(15_000)));
    }
    child.kill().unwrap();
    let status = child.wait().unwrap();
    let lines = reader.join().unwrap();
    let errors = error_reader.join().unwrap();
    assert_ne!(status.code(), Some(3), "the child failed: {errors}");
    assert_eq!(status.code(), None, "the child ended before it was killed: {errors} {}", lines.join("\n"));
    lines
}

#[test]
fn acknowledged_writes_survive_sigkill() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().map_or(default, |text| text.parse().unwrap());
    let kills = number("MEMCARDS_KILLS", 12);
    let seed = number("MEMCARDS_SEED", 1);
    let mut numbers = Numbers(seed);
    let mut acknowledged = 0;
    let mut cards = 0;
    let mut left_under_way = 0;
    let mut done = 0;
    while done < kills {
        let directory = tempfile::tempdir().unwrap();
        let mut expected = Expected::default();
        for _ in 0..KILLS_PER_DIRECTORY.min(kills - done) {
            let child_seed = numbers.next();
            let lines = run_child(directory.path(), child_seed, &mut numbers);
            let under_way = expected.listen(&lines);
            left_under_way += under_way.len();
            let options = Options { embedder: None, ..Options::default() };
            let store = match Store::open(directory.path(), options) {
                Ok(store) => store,
                Err(error @ Error::Locked { .. }) => panic!("a dead process still owns the store: {error}"),
                Err(error) => panic!("after kill {done} (seed {seed}): {error}"),
            };
            let report = store.verify(|_| {}).unwrap();
            assert!(report.is_sound(), "after kill {done} (seed {seed}): {:?}", report.findings);
            expected.check(&store, &under_way);
            done += 1;
        }
        acknowledged += expected.acknowledged;
        cards += expected.cards.len();
    }
    println!(
        "seed {seed}: {done} kills, {acknowledged} acknowledged operations on {cards} cards, \
         {left_under_way} calls cut short, 0 lost"
    );
}
