//! Another embedding model: vectors of two models are never compared, and cards are embedded
//! anew while the store is used.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use memcards::embed::Embedder;
use memcards::exchange::Export;
use memcards::{
    Correct, Error, Include, Options, Outcome, Recall, Recalled, Remember, Result, Store, Tenant,
};

use crate::support::{ask, contents, get, past, question, said_in, say, text};

/// Words by their meaning: a small thesaurus, turned by the version so that vectors of two
/// versions of the same dimension are near for texts that have nothing in common.
struct Thesaurus {
    name: String,
    dimension: usize,
    turned: usize,
    /// Texts that it embeds before it is gone.
    left: AtomicUsize,
    /// What it does not know any more.
    unknown: &'static str,
}

const MEANINGS: [&[&str]; 4] =
    [&["car", "automobile"], &["boat", "vessel"], &["tea", "beverage"], &["lamp", "lantern"]];

impl Thesaurus {
    fn new(version: usize, dimension: usize) -> Self {
        let (left, unknown) = (AtomicUsize::new(usize::MAX), "?");
        Self { name: format!("thesaurus-{version}"), dimension, turned: version, left, unknown }
    }
}

impl Embedder for Thesaurus {
    fn model_id(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, text: &str) -> Result<Option<Vec<f32>>> {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map_err(|_| Error::Unavailable("the thesaurus is lent out".into()))?;
        if text.contains(self.unknown) {
            return Ok(None);
        }
        let mut vector = vec![0.0; self.dimension];
        for (meaning, words) in MEANINGS.iter().enumerate() {
            if words.iter().any(|word| text.contains(word)) {
                vector[(meaning + self.turned) % MEANINGS.len()] = 1.0;
            }
        }
        let known = vector.contains(&1.0);
        vector[MEANINGS.len()] = 0.1;
        Ok(known.then_some(vector))
    }
}

fn with(embedder: Thesaurus) -> Options {
    Options { embedder: Some(Arc::new(embedder)), ..Options::default() }
}

fn open(directory: &Path, version: usize, dimension: usize) -> Store {
    Store::open(directory, with(Thesaurus::new(version, dimension))).unwrap()
}

/// Another model takes over.
fn replace(directory: &Path, version: usize, dimension: usize) -> Store {
    let options = Options { reembed: true, ..with(Thesaurus::new(version, dimension)) };
    Store::open(directory, options).unwrap()
}

fn recalled(tenant: &Tenant, query: &str) -> Recalled {
    tenant.recall(Recall { explain: true, ..question(query) }).unwrap()
}

/// Contents of the hits that were found by their meaning.
fn by_meaning(tenant: &Tenant, query: &str) -> Vec<String> {
    let hits = recalled(tenant, query).hits;
    let near = hits.into_iter().filter(|hit| hit.parts.as_ref().is_some_and(|parts| parts.meaning > 0.0));
    near.map(|hit| hit.card.content.clone()).collect()
}

fn is_sound(store: &Store) {
    let report = store.verify(|_| {}).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
}

#[test]
fn vectors_of_two_models_are_never_compared_and_all_come_back() {
    for dimension in [8, 12] {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path(), 1, 8);
        let tenant = store.tenant("t").unwrap();
        let car = say(&tenant, "An automobile stands in the yard").id;
        say(&tenant, "The vessel is at sea");
        assert_eq!(by_meaning(&tenant, "my car"), ["An automobile stands in the yard"]);
        drop((tenant, store));

        let options = with(Thesaurus::new(2, dimension));
        assert!(matches!(Store::open(directory.path(), options), Err(Error::ModelMismatch { .. })));
        let store = replace(directory.path(), 2, dimension);
        let tenant = store.tenant("t").unwrap();
        // By the old vectors "my boat" is where "my car" was.
        assert_eq!(by_meaning(&tenant, "my boat"), Vec::<String>::new());
        assert_eq!(recalled(&tenant, "my boat").degraded, ["reembedding"]);
        assert_eq!(ask(&tenant, "yard"), ["An automobile stands in the yard"], "words are found all along");
        assert!(store.statistics().unwrap().reembedding);
        say(&tenant, "A lantern burns");
        assert_eq!(by_meaning(&tenant, "a lamp"), ["A lantern burns"], "what is new has a vector");
        let done = store.reembed(None, |_| {}).unwrap();
        assert_eq!((done.tenants, done.cards, done.embedded, done.removed), (1, 3, 2, 0));
        for _ in 0..2 {
            assert_eq!(by_meaning(&tenant, "my car"), ["An automobile stands in the yard"]);
            assert_eq!(by_meaning(&tenant, "my boat"), ["The vessel is at sea"]);
            assert!(recalled(&tenant, "my boat").degraded.is_empty());
            assert!(!store.statistics().unwrap().reembedding);
            assert_eq!(store.reembed(None, |_| {}).unwrap().embedded, 0, "done is done");
        }
        assert_eq!(get(&tenant, car).unwrap().version, 1, "a vector is no new version");
        is_sound(&store);
        drop((tenant, store));
        assert!(matches!(
            Store::open(directory.path(), with(Thesaurus::new(1, 8))),
            Err(Error::ModelMismatch { .. })
        ));
        let store = open(directory.path(), 2, dimension);
        assert_eq!(by_meaning(&store.tenant("t").unwrap(), "my boat"), ["The vessel is at sea"]);
    }
}

#[test]
fn a_run_that_was_cut_short_goes_on_where_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), 1, 8);
    let tenant = store.tenant("t").unwrap();
    for number in 0..300 {
        let kind = MEANINGS[number % MEANINGS.len()][1];
        say(&tenant, &format!("Shelf {number} has a {kind}"));
    }
    store.checkpoint().unwrap();
    drop((tenant, store));
    let short = Thesaurus { left: AtomicUsize::new(150), ..Thesaurus::new(2, 8) };
    let store = Store::open(directory.path(), Options { reembed: true, ..with(short) }).unwrap();
    let mut looked_at = 0;
    let error = store.reembed(None, |cards| looked_at = cards).unwrap_err();
    assert_eq!((error.code(), looked_at), ("unavailable", 128));
    drop(store);
    // The flag is not needed again: the store has the new model already.
    let store = open(directory.path(), 2, 8);
    let tenant = store.tenant("t").unwrap();
    assert_eq!(recalled(&tenant, "a car").degraded, ["reembedding"]);
    assert!(by_meaning(&tenant, "a car").iter().all(|text| text.contains("automobile")));
    is_sound(&store);
    let refused = store.export(&mut Vec::new(), &Export::default(), |_| {}).unwrap_err();
    assert_eq!(refused.code(), "unavailable");
    let done = store.reembed(None, |_| {}).unwrap();
    assert_eq!((done.cards, done.embedded), (300, 300 - 128));
    let all = |tenant: &Tenant| {
        let request = Recall { top: Some(300), explain: true, ..question("a car") };
        let hits = tenant.recall(request).unwrap().hits;
        hits.iter().filter(|hit| hit.parts.as_ref().unwrap().meaning > 0.0).count()
    };
    assert_eq!(all(&tenant), 75);
    is_sound(&store);
    // The snapshot of before is of use for its rows, the one of now for its vectors.
    for _ in 0..2 {
        store.checkpoint().unwrap();
    }
    drop((tenant, store));
    let store = open(directory.path(), 2, 8);
    assert_eq!(all(&store.tenant("t").unwrap()), 75);
    is_sound(&store);
}

#[test]
fn reads_and_writes_go_on_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), 1, 8);
    let tenant = store.tenant("t").unwrap();
    let first = say(&tenant, "An automobile of the first hour").id;
    for number in 0..500 {
        tenant.remember(said_in("s", &format!("Berth {number} holds a vessel"))).unwrap();
    }
    drop((tenant, store));
    let store = replace(directory.path(), 2, 8);
    let tenant = store.tenant("t").unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !over.load(Ordering::SeqCst) || reads == 0 {
                let answer = recalled(&tenant, "my boat");
                let wrong = answer.hits.iter().find(|hit| {
                    hit.parts.as_ref().unwrap().meaning > 0.0 && !hit.card.content.contains("vessel")
                });
                assert!(wrong.is_none(), "{wrong:?}");
                reads += 1;
            }
            reads
        });
        let writer = scope.spawn(|| {
            let mut writes = 0;
            while !over.load(Ordering::SeqCst) || writes == 0 {
                say(&tenant, &format!("Corner {writes} has a lantern"));
                let tags = Some(vec![format!("t{writes}")]);
                tenant.correct(Correct { id: first, tags, ..Correct::default() }).unwrap();
                writes += 1;
            }
            writes
        });
        let done = store.reembed(None, |_| {}).unwrap();
        assert!(done.embedded >= 501, "{done:?}");
        over.store(true, Ordering::SeqCst);
        assert!(reader.join().unwrap() > 0);
        assert!(writer.join().unwrap() > 0);
    });
    assert_eq!(by_meaning(&tenant, "my car"), ["An automobile of the first hour"]);
    assert!(recalled(&tenant, "my car").degraded.is_empty());
    assert_eq!(store.reembed(None, |_| {}).unwrap().embedded, 0);
    is_sound(&store);
}

#[test]
fn what_was_written_without_the_model_gets_its_vector() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), Options { embedder: None, ..Options::default() }).unwrap();
    let tenant = store.tenant("t").unwrap();
    let id = say(&tenant, "An automobile stands in the yard").id;
    tenant.correct(Correct { id, tags: Some(vec!["seen".into()]), ..Correct::default() }).unwrap();
    say(&tenant, "Nothing of note");
    assert_eq!(store.reembed(None, |_| {}).unwrap_err().code(), "unavailable");
    drop((tenant, store));
    let store = open(directory.path(), 1, 8);
    let tenant = store.tenant("t").unwrap();
    assert_eq!(by_meaning(&tenant, "my car"), Vec::<String>::new());
    let absent = store.reembed(Some("nobody"), |_| {}).unwrap_err();
    assert_eq!(absent.code(), "not_found");
    let done = store.reembed(Some("t"), |_| {}).unwrap();
    assert_eq!((done.cards, done.embedded), (2, 1));
    assert_eq!(by_meaning(&tenant, "my car"), ["An automobile stands in the yard"]);
    is_sound(&store);
    drop((tenant, store));
    let store = open(directory.path(), 1, 8);
    let tenant = store.tenant("t").unwrap();
    assert_eq!(by_meaning(&tenant, "my car"), ["An automobile stands in the yard"]);
    // It takes its vector along.
    tenant.correct(Correct { id, tags: Some(vec![]), ..Correct::default() }).unwrap();
    assert_eq!(by_meaning(&tenant, "my car"), ["An automobile stands in the yard"]);
    is_sound(&store);
}

#[test]
fn earlier_versions_are_embedded_too() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), 1, 8);
    let tenant = store.tenant("t").unwrap();
    let id = say(&tenant, "The automobile is blue").id;
    let before = get(&tenant, id).unwrap().updated_at;
    let new = tenant
        .correct(Correct { id, content: Some("The vessel is blue".into()), ..Correct::default() })
        .unwrap()
        .id;
    drop((tenant, store));
    let store = replace(directory.path(), 2, 8);
    let tenant = store.tenant("t").unwrap();
    let then = || {
        let request = Recall { known_at: Some(before), explain: true, ..question("my car") };
        let hits = tenant.recall(request).unwrap().hits;
        hits.iter().filter(|hit| hit.parts.as_ref().unwrap().meaning > 0.0).count()
    };
    assert_eq!(then(), 0);
    assert_eq!(store.reembed(None, |_| {}).unwrap().embedded, 2);
    assert_eq!(then(), 1);
    assert_eq!(by_meaning(&tenant, "my boat"), ["The vessel is blue"]);
    assert_eq!(past(&tenant, new).len(), 3);
    is_sound(&store);
}

#[test]
fn a_correction_in_between_brings_a_vector_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), 1, 8);
    let id = say(&store.tenant("t").unwrap(), "The automobile is blue").id;
    drop(store);
    let store = replace(directory.path(), 2, 8);
    let tenant = store.tenant("t").unwrap();
    let polarity = Some(memcards::card::Polarity::Excluded);
    tenant.correct(Correct { id, polarity, ..Correct::default() }).unwrap();
    assert_eq!(by_meaning(&tenant, "my car"), ["The automobile is blue"]);
    assert_eq!(store.reembed(None, |_| {}).unwrap().embedded, 1, "the version before");
    is_sound(&store);
}

#[test]
fn a_text_that_the_new_model_does_not_know_loses_its_vector() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), 1, 8);
    let tenant = store.tenant("t").unwrap();
    let id = say(&tenant, "The automobile is blue").id;
    tenant.correct(Correct { id, tags: Some(vec!["a".into()]), ..Correct::default() }).unwrap();
    say(&tenant, "A lantern burns");
    drop((tenant, store));
    let unknowing = Thesaurus { unknown: "automobile", ..Thesaurus::new(2, 8) };
    let store = Store::open(directory.path(), Options { reembed: true, ..with(unknowing) }).unwrap();
    let tenant = store.tenant("t").unwrap();
    let done = store.reembed(None, |_| {}).unwrap();
    assert_eq!((done.embedded, done.removed), (1, 1));
    assert_eq!(get(&tenant, id).unwrap().vector_version, 0);
    assert!(recalled(&tenant, "my car").degraded.is_empty());
    assert_eq!(store.reembed(None, |_| {}).unwrap().removed, 0);
    is_sound(&store);
    let mut file = Vec::new();
    store.export(&mut file, &Export { vectors: true, ..Export::default() }, |_| {}).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = open(elsewhere.path(), 2, 8);
    copy.import(&mut file.as_slice(), |_| {}).unwrap();
    let mut again = Vec::new();
    copy.export(&mut again, &Export { vectors: true, ..Export::default() }, |_| {}).unwrap();
    assert_eq!(String::from_utf8(file), String::from_utf8(again));
    is_sound(&copy);
}

#[test]
fn an_export_of_before_is_known_after() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), Options { embedder: None, ..Options::default() }).unwrap();
    say(&store.tenant("t").unwrap(), "The automobile is blue");
    let mut file = Vec::new();
    store.export(&mut file, &Export::default(), |_| {}).unwrap();
    drop(store);
    let store = open(directory.path(), 1, 8);
    store.reembed(None, |_| {}).unwrap();
    let imported = store.import(&mut file.as_slice(), |_| {}).unwrap();
    assert_eq!((imported.versions, imported.changes, imported.known), (0, 0, 1));
    is_sound(&store);
}

#[test]
fn re_embedding_does_not_come_between_two_statements() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), 1, 8);
    let tenant = store.tenant("t").unwrap();
    for number in 0..100 {
        say(&tenant, &format!("Berth {number} holds a vessel"));
    }
    say(&tenant, "The lamp is blue");
    drop((tenant, store));
    let store = replace(directory.path(), 2, 8);
    let tenant = store.tenant("t").unwrap();
    store.reembed(None, |_| {}).unwrap();
    assert_eq!(say(&tenant, "now it is red").outcome, Outcome::Superseded);
    is_sound(&store);
}

#[test]
fn a_model_takes_the_place_of_given_vectors_only_when_told() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), Options::default()).unwrap();
    let given = Remember { vector: Some(vec![1.0, 0.0]), ..text("An automobile stands in the yard") };
    store.tenant("t").unwrap().remember(given.clone()).unwrap();
    assert_eq!(store.reembed(None, |_| {}).unwrap_err().code(), "unavailable");
    drop(store);
    let store = replace(directory.path(), 1, 8);
    let tenant = store.tenant("t").unwrap();
    store.reembed(None, |_| {}).unwrap();
    assert_eq!(by_meaning(&tenant, "my car"), ["An automobile stands in the yard"]);
    assert_eq!(tenant.remember(given).unwrap_err().code(), "model_mismatch");
}

#[test]
fn with_the_model_down_another_wording_does_not_cost_the_vector() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), 1, 8);
    let tenant = store.tenant("t").unwrap();
    let id = say(&tenant, "I like tea").id;
    drop((tenant, store));
    let down = Thesaurus { left: AtomicUsize::new(0), ..Thesaurus::new(1, 8) };
    let store = Store::open(directory.path(), with(down)).unwrap();
    let tenant = store.tenant("t").unwrap();
    let answer = say(&tenant, "I like tea!");
    assert_eq!((answer.id, answer.outcome), (id, Outcome::Merged));
    assert!(answer.degraded.iter().any(|note| note.contains("earlier wording")), "{:?}", answer.degraded);
    let card = get(&tenant, id).unwrap();
    assert_eq!((card.content.as_str(), card.mention_count), ("I like tea", 2));
    // What contradicts it is a card of its own, told at once and embedded later.
    let contrary = say(&tenant, "I don't like tea");
    assert_eq!((contrary.outcome, contrary.degraded.len()), (Outcome::Superseded, 1));
    let replaced = Recall { include: vec![Include::Superseded], ..question("tea") };
    assert_eq!(contents(&tenant.recall(replaced).unwrap()).len(), 2);
    drop((tenant, store));
    let store = open(directory.path(), 1, 8);
    let tenant = store.tenant("t").unwrap();
    assert_eq!(store.reembed(None, |_| {}).unwrap().embedded, 1);
    assert_eq!(by_meaning(&tenant, "which beverage"), ["I don't like tea"]);
    is_sound(&store);
}

/// A model that gives what no model may give.
struct Broken(Option<Vec<f32>>);

impl Embedder for Broken {
    fn model_id(&self) -> &str {
        "broken"
    }

    fn dimension(&self) -> usize {
        3
    }

    fn embed(&self, _text: &str) -> Result<Option<Vec<f32>>> {
        Ok(self.0.clone())
    }

    fn embed_batch(&self, _texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        Ok(vec![self.0.clone()])
    }
}

#[test]
fn what_is_no_vector_is_never_stored() {
    for vector in [vec![], vec![1.0], vec![1.0; 4], vec![0.0; 3], vec![1.0, f32::NAN, 0.0]] {
        let directory = tempfile::tempdir().unwrap();
        let embedder: Option<Arc<dyn Embedder>> = Some(Arc::new(Broken(Some(vector))));
        let store = Store::open(directory.path(), Options { embedder, ..Options::default() }).unwrap();
        let tenant = store.tenant("t").unwrap();
        let answer = say(&tenant, "The automobile is blue");
        assert_eq!(answer.degraded.len(), 1);
        assert_eq!(recalled(&tenant, "automobile").degraded.len(), 1);
        assert_eq!(store.reembed(None, |_| {}).unwrap_err().code(), "unavailable");
        say(&tenant, "A lantern burns");
        assert_eq!(store.reembed(None, |_| {}).unwrap_err().code(), "unavailable");
        is_sound(&store);
    }
}
