//! Files that no export wrote: refused by line, and the store goes on taking writes. What an import
//! takes over of a file, what it leaves out, and what an export says when it cannot be written.

use std::io::{self, Write};

use memcards::card::CardId;
use memcards::exchange::{Conversation, Export, read_conversations};
use memcards::store::io::RealIo;
use memcards::{Action, Apply, Correct, Error, Forget, Format, History, MakePlan, Options, Remember, Store};
use serde_json::{Value, json};

use crate::{content, everything, options};

/// The lines of an export of one card with a vector of the caller, told twice, and another one
/// that was corrected: header, tenant, version, touch, version, version, end.
fn lines() -> Vec<Value> {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let tea = Remember { content: "tea".into(), vector: Some(vec![1.0, 0.5]), ..Remember::default() };
    let tenant = store.tenant("anna").unwrap();
    tenant.remember(tea.clone()).unwrap();
    tenant.remember(tea).unwrap();
    let jam = Remember { content: "jam".into(), ..Remember::default() };
    let jam = tenant.remember(jam).unwrap().id;
    tenant.correct(Correct { id: jam, tags: Some(vec!["a".into()]), ..Correct::default() }).unwrap();
    parsed(&content(&store).unwrap())
}

fn parsed(text: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(text).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Imports a text and gives the message of the refusal.
fn refusal_of(text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let error = store.import(&mut text.as_bytes(), |_| {}).expect_err("it is refused");
    assert_eq!((error.code(), error.field()), ("invalid_argument", Some("from")), "{error}");
    assert!(store.verify(|_| {}).unwrap().is_sound());
    let more = Remember { content: "more".into(), ..Remember::default() };
    store.tenant("anna").unwrap().remember(more).unwrap();
    error.to_string()
}

#[test]
fn what_no_export_wrote_is_refused_and_the_store_goes_on() {
    let sound = lines();
    let kinds: Vec<_> = sound.iter().map(|line| line["kind"].as_str().unwrap_or_default()).collect();
    assert_eq!(kinds, ["", "", "version", "touch", "version", "version", ""]);
    let mended = |line: usize, mend: &dyn Fn(&mut Value)| {
        let mut lines = sound.clone();
        mend(&mut lines[line]);
        refusal_of(&text(&lines))
    };
    let changed = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut lines = sound.clone();
        change(&mut lines);
        refusal_of(&text(&lines))
    };
    let nobody = json!(CardId::from_bytes([9; 16]));
    let lookup = |id: &Value| json!([{ "key": "01".repeat(17), "id": id }]);
    let link = json!([{ "to": nobody, "kind": "supersedes" }]);
    for (message, expected) in [
        (mended(3, &|line| line["version"] = json!(0)), "line 4: version 0 of card"),
        (mended(3, &|line| line["version"] = json!(u32::MAX)), "line 4: version 4294967295 of card"),
        (mended(3, &|line| line["id"] = nobody.clone()), "line 4: version 1 of card"),
        (mended(2, &|line| line["kind"] = json!("touch")), "line 3: only a new version carries its card"),
        (mended(3, &|line| line["kind"] = json!("version")), "line 4: a new version without its card"),
        (mended(2, &|line| line["vector"] = json!([1, 2, 3])), "line 3: the vector has another dimension"),
        (mended(2, &|line| line["card"]["vector_version"] = json!(0)), "line 3: a vector that the version"),
        (mended(2, &|line| line["card"]["vector_version"] = json!(2)), "line 3: vector_version lies after"),
        (mended(2, &|line| line["vector"] = json!([0.0, 0.0])), "line 3: "),
        (mended(1, &|line| line["tenant"] = json!("")), "line 2: "),
        (mended(2, &|line| line["vector"] = Value::Null), "line 3: the vector is missing"),
        (mended(5, &|line| line["card"]["vector_version"] = json!(1)), "line 6: no vector of version 1"),
        (mended(2, &|line| line["card"]["version"] = json!(2)), "line 3: the card is not the version"),
        (mended(2, &|line| line["card"]["id"] = nobody.clone()), "line 3: the card is not the version"),
        (mended(2, &|line| line["card"]["confidence"] = json!(7)), "line 3: "),
        (mended(2, &|line| line["card"]["links"] = link.clone()), "line 3: the linked card"),
        (mended(3, &|line| line["lookups"] = lookup(&nobody)), "line 4: a look-up leads to card"),
        (mended(3, &|line| line["lookups"] = json!([{ "key": "0x" }])), "line 4: the key of a look-up"),
        (
            mended(3, &|line| line["lookups"] = json!([{ "key": "é".repeat(17) }])),
            "line 4: the key of a look-up is 34",
        ),
        (mended(0, &|line| line["model"] = Value::Null), "line 3: a vector, but the header names no model"),
        (mended(0, &|line| line["format"] = json!(99)), "line 1: a header of format 1 belongs in line 1"),
        (mended(6, &|line| line["changes"] = json!(7)), "line 7: 4 changes were read, the file was"),
        (changed(&|lines| lines.insert(2, lines[0].clone())), "line 3: a header of format 1 belongs"),
        (changed(&|lines| drop(lines.remove(0))), "line 1: the header is missing"),
        (changed(&|lines| drop(lines.remove(1))), "line 2: no tenant was named before it"),
        (
            changed(&|lines| {
                drop(lines.remove(4));
                lines[5]["changes"] = json!(3);
            }),
            "line 5: version 2 of card",
        ),
        (changed(&|lines| lines.push(lines[1].clone())), "line 8: stands after the end"),
        (changed(&|lines| lines.truncate(6)), "the file is cut short: its end is missing"),
        (refusal_of(""), "the file is cut short"),
        (refusal_of("{\"type\":\"head"), "line 1: EOF"),
        (refusal_of(&" ".repeat(4 << 20)), "line 1: longer than 4194304 bytes"),
    ] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    // Empty lines are none.
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let spaced = text(&sound).replace('\n', "\n \n");
    assert_eq!(store.import(&mut spaced.as_bytes(), |_| {}).unwrap().changes, 4);
}

/// A card that is here with another content is somebody else's, or was told otherwise since.
#[test]
fn a_file_does_not_take_the_place_of_what_is_here() {
    let sound = lines();
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    store.import(&mut text(&sound).as_bytes(), |_| {}).unwrap();
    let before = content(&store).unwrap();
    let mut other = sound.clone();
    other[2]["card"]["content"] = json!("coffee");
    let error = store.import(&mut text(&other).as_bytes(), |_| {}).unwrap_err();
    assert_eq!(error.code(), "conflict", "{error}");
    assert!(error.to_string().contains("line 3: version 1 of card"), "{error}");
    let mut other = sound;
    other[0]["model"]["dimension"] = json!(3);
    let error = store.import(&mut text(&other).as_bytes(), |_| {}).unwrap_err();
    assert_eq!(error.code(), "model_mismatch", "{error}");
    assert_eq!(content(&store).unwrap(), before);
}

/// What was erased here stays away, with the links and look-ups that lead to it; the rest comes in.
#[test]
fn what_was_erased_here_does_not_come_in() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let tenant = store.tenant("anna").unwrap();
    let told = |content: &str| Remember {
        content: content.into(),
        merge_key: Some("seat".into()),
        ..Remember::default()
    };
    let old = tenant.remember(told("A seat at the window.")).unwrap().id;
    let new = tenant.remember(told("A seat at the aisle, please.")).unwrap().id;
    // More than one commit of lines.
    for part in 0..2 {
        let content = |n| format!("entry q{part}x{n}z");
        let requests = (0..550).map(|n| Remember { content: content(n), ..Remember::default() });
        tenant.remember_all(requests.collect()).unwrap();
    }
    let file = content(&store).unwrap();
    tenant.forget(Forget { id: Some(old), ..Forget::default() }).unwrap();
    let policy = Some(json!({ "preset": "manual", "defaults": { "grace": "0s" } }));
    let request = MakePlan { policy, rules: vec![Action::Purge], consent: true, ..MakePlan::default() };
    let plan = tenant.plan(&request).unwrap().plan;
    assert_eq!(tenant.apply(Apply { plan: Some(plan), ..Apply::default() }).unwrap().applied, [old]);
    let after = content(&store).unwrap();
    let mut seen = vec![];
    let imported = store.import(&mut file.as_slice(), |lines| seen.push(lines)).unwrap();
    assert!(imported.erased >= 1 && imported.versions == 0, "{imported:?}");
    assert!(seen.len() > 1 && seen.is_sorted(), "told of each commit: {seen:?}");
    assert!(tenant.history(&History { id: old }).is_err());
    assert!(tenant.history(&History { id: new }).is_ok());
    assert_eq!(content(&store).unwrap(), after);
    assert!(store.verify(|_| {}).unwrap().is_sound());
    // Where the same was erased before anything else came, the rest comes without it.
    let elsewhere = tempfile::tempdir().unwrap();
    let other = Store::open(elsewhere.path(), options()).unwrap();
    let lines = parsed(&file);
    let head = [&lines[..3], &[json!({ "type": "end", "changes": 1 })][..]].concat();
    other.import(&mut text(&head).as_bytes(), |_| {}).unwrap();
    let anna = other.tenant("anna").unwrap();
    anna.forget(Forget { id: Some(old), ..Forget::default() }).unwrap();
    let plan = anna.plan(&request).unwrap().plan;
    assert_eq!(anna.apply(Apply { plan: Some(plan), ..Apply::default() }).unwrap().applied, [old]);
    let imported = other.import(&mut file.as_slice(), |_| {}).unwrap();
    assert_eq!(imported.versions, 1101);
    let card = anna.history(&History { id: new }).unwrap().versions.pop().unwrap().card.card;
    assert_eq!(card.links, [], "it replaces nothing that is here");
    assert!(other.verify(|_| {}).unwrap().is_sound());
}

/// Takes a number of bytes and no more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.min(bytes.len()) {
            0 => Err(io::Error::from(io::ErrorKind::BrokenPipe)),
            taken => {
                self.0 -= taken;
                Ok(taken)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn keyed(content: &str, key: &str) -> Remember {
    Remember { content: content.into(), merge_key: Some(key.into()), ..Remember::default() }
}

/// What a compaction takes out of the log, and where it puts cards, is nothing that an export tells.
#[test]
fn an_export_is_the_same_before_a_compaction_and_after() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("first"), options()).unwrap();
    let tenant = store.tenant("anna").unwrap();
    let requests = (0..90).map(|n| keyed(&format!("entry q{n}z"), &format!("k{}", n % 80)));
    let answers = tenant.remember_all(requests.collect()).unwrap();
    let ids: Vec<_> = answers.into_iter().map(|answer| answer.unwrap().id).collect();
    let corrected = Correct { id: ids[30], content: Some("entry r30z".into()), ..Correct::default() };
    tenant.correct(corrected).unwrap();
    tenant.remember(keyed("entry r40z", "k40")).unwrap();
    tenant.forget(Forget { ids: ids[50..60].to_vec(), ..Forget::default() }).unwrap();
    // Told again by somebody else: the key leads there from now on.
    tenant.remember(keyed("entry s52z", "k52")).unwrap();
    let told = content(&store).unwrap();
    let second = Store::open(directory.path().join("second"), options()).unwrap();
    second.import(&mut &told[..], |_| {}).unwrap();
    let plan = |policy| MakePlan { policy: Some(policy), consent: true, ..MakePlan::default() };
    let archive = json!({ "defaults": { "max_cards": 1, "grace": "0s" } });
    let plan = tenant.plan(&plan(archive)).unwrap().plan;
    let run = tenant.apply(Apply { plan: Some(plan), ..Apply::default() }).unwrap();
    assert!(run.totals.actions.contains_key("archive"), "{:?}", run.totals);
    let before = content(&store).unwrap();
    assert!(store.compact(|_| {}).unwrap().records > 0);
    assert!(store.cold_statistics().unwrap().cards > 0);
    let after = content(&store).unwrap();
    assert!(before == after, "{} bytes before, {} after", before.len(), after.len());
    assert!(store.verify(|_| {}).unwrap().is_sound());
    // An import of it is the same store, whether it begins anew or goes on from an earlier one.
    let third = Store::open(directory.path().join("third"), options()).unwrap();
    for copy in [&second, &third] {
        copy.import(&mut &after[..], |_| {}).unwrap();
        let known = content(copy).unwrap();
        assert_eq!(copy.import(&mut &after[..], |_| {}).unwrap().versions, 0);
        assert_eq!(content(copy).unwrap(), known);
        assert!(copy.verify(|_| {}).unwrap().is_sound());
    }
    let told = |store: &Store| {
        let tenant = store.tenant("anna").unwrap();
        [("entry t55z", "k55"), ("entry t52z", "k52"), ("entry t40z", "k40")].map(|(content, key)| {
            let answer = tenant.remember(keyed(content, key)).unwrap();
            let known = answer.affected.iter().filter(|card| card.change != "created");
            (answer.outcome, known.map(|card| (card.id, card.change)).collect::<Vec<_>>())
        })
    };
    let expected = told(&store);
    assert_eq!((told(&second), told(&third)), (expected.clone(), expected));
}

#[test]
fn an_export_that_cannot_be_written_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let tea = Remember { content: "tea".into(), ..Remember::default() };
    store.tenant("anna").unwrap().remember(tea).unwrap();
    let whole = content(&store).unwrap().len();
    let what = || Export { vectors: true, ..Export::default() };
    for room in 0..whole {
        let error = store.export(&mut Full(room), &what(), |_| {}).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{room}: {error}");
    }
    assert_eq!(store.export(&mut Full(whole), &what(), |_| {}).unwrap().versions, 1);
    let bob = Export { tenant: Some("bob".into()), ..Export::default() };
    assert_eq!(store.export(&mut Vec::new(), &bob, |_| {}).unwrap_err().code(), "not_found");
    let file = directory.path().join("file");
    std::fs::write(&file, "there").unwrap();
    let error = store.export_file(&file, &what(), |_| {}).unwrap_err();
    assert_eq!((error.code(), error.field()), ("invalid_argument", Some("to")));
    assert_eq!(std::fs::read(&file).unwrap(), b"there");
}

/// Turn by turn: those that do not fit are told of, the others come in, and again nothing changes.
#[test]
fn a_conversation_tells_of_each_turn_that_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), Options { embedder: None, ..options() }).unwrap();
    let turn = |turn: Option<u32>, content: &str| Remember {
        content: content.into(),
        session: Some("s1".into()),
        turn,
        ..Remember::default()
    };
    let turns = vec![
        turn(Some(1), "I have a cat."),
        turn(Some(2), ""),
        turn(Some(3), &"long ".repeat(100_000)),
        Remember { session: None, ..turn(Some(4), "Nobody knows where this was said.") },
        turn(Some(5), "The cat is called Tom."),
    ];
    let conversation = Conversation { name: "chat".into(), turns, without_text: 2 };
    for (round, (created, known)) in [(2, 0), (0, 2)].into_iter().enumerate() {
        let mut told = 0;
        let answer = store.ingest("anna", &conversation, |done| told = done).unwrap();
        assert_eq!((answer.created, answer.known, answer.erased), (created, known, 0), "{round}");
        assert_eq!((answer.without_text, told), (2, 5));
        let begins = ["session s1 turn Some(2): ", "session s1 turn Some(3): ", "session - turn Some(4): "];
        assert_eq!(answer.refused.len(), 3, "{answer:?}");
        assert!(answer.refused.iter().zip(begins).all(|(refused, begin)| refused.starts_with(begin)));
    }
    // What was forgotten stays away when the conversation is read again, and is counted.
    let tenant = store.tenant("anna").unwrap();
    let first = everything(&tenant).unwrap().cards[0].id;
    tenant.forget(Forget { id: Some(first), ..Forget::default() }).unwrap();
    let answer = store.ingest("anna", &conversation, |_| {}).unwrap();
    assert_eq!((answer.created, answer.known, answer.erased), (0, 1, 1));
    // A store that cannot write gives no half answer.
    let nowhere = directory.path().join("nothing.json");
    for (format, field) in [(Format::Chat, "from"), (Format::Locomo, "from")] {
        let error = read_conversations(&RealIo, &nowhere, format).unwrap_err();
        assert_eq!((error.code(), error.field()), ("invalid_argument", Some(field)));
    }
    std::fs::write(&nowhere, [0xff, 0xfe]).unwrap();
    assert_eq!(read_conversations(&RealIo, &nowhere, Format::Chat).unwrap_err().field(), Some("from"));
    std::fs::write(&nowhere, "[]").unwrap();
    let error = read_conversations(&RealIo, &nowhere, Format::Memcards).unwrap_err();
    assert_eq!(error.field(), Some("format"));
}
