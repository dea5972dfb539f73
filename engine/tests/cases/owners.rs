//! Kinds 24 (the directory) and 25 (the model): a store has one owner and one kind of vectors.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use memcards::embed::{self, Embedder};
use memcards::{Error, Options, Recall, Remember, Result, Store, Tenant};

use crate::support::{Fixture, ask, get, question, say, text};

/// Where a child process finds the store that it is to open.
const DIRECTORY: &str = "MEMCARDS_CASES_DIRECTORY";

/// Run by [`of_eight_processes_one_owns_the_directory`] in processes of their own.
#[test]
fn child_process() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    match Store::open(Path::new(&directory), Options::default()) {
        Ok(store) => {
            say(&store.tenant("t").unwrap(), "Written by the owner");
            println!("\nanswer:owner");
            // Keeps the store until the parent closes the pipe.
            let _ = std::io::stdin().lines().next();
            drop(store);
        }
        Err(error) => println!("\nanswer:{}:{error}", error.code()),
    }
}

fn spawn(directory: &Path) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "owners::child_process", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

fn answer(output: &mut BufReader<std::process::ChildStdout>) -> String {
    let mut lines = output.lines().map_while(|line| line.ok());
    lines.find_map(|line| line.strip_prefix("answer:").map(str::to_owned)).unwrap()
}

#[test]
fn of_eight_processes_one_owns_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let mut children: Vec<_> = (0..8).map(|_| spawn(directory.path())).collect();
    let answers: Vec<String> = children.iter_mut().map(|(_, output)| answer(output)).collect();
    assert_eq!(answers.iter().filter(|answer| *answer == "owner").count(), 1, "{answers:?}");
    let owner = answers.iter().position(|answer| answer == "owner").unwrap();
    let pid = children[owner].0.id().to_string();
    for refused in answers.iter().filter(|answer| *answer != "owner") {
        assert!(refused.starts_with("locked:"), "{refused}");
        assert!(refused.contains("server"), "it says what to do: {refused}");
    }
    let Err(error) = Store::open(directory.path(), Options::default()) else { panic!("opened twice") };
    assert_eq!(error.code(), "locked");
    assert!(error.to_string().contains(&pid), "it names the owner {pid}: {error}");
    for (mut child, _) in children {
        child.stdin.take().unwrap().flush().unwrap();
        assert!(child.wait().unwrap().success());
    }
    let store = Store::open(directory.path(), Options::default()).unwrap();
    assert_eq!(ask(&store.tenant("t").unwrap(), "who was it written by?"), ["Written by the owner"]);
}

#[test]
fn a_killed_owner_leaves_the_directory_free_and_what_it_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, mut output) = spawn(directory.path());
    assert_eq!(answer(&mut output), "owner");
    child.kill().unwrap();
    child.wait().unwrap();
    let store = Store::open(directory.path(), Options::default()).unwrap();
    assert_eq!(ask(&store.tenant("t").unwrap(), "owner"), ["Written by the owner"]);
    assert!(store.verify(|_| {}).unwrap().is_sound());
}

#[test]
fn in_one_process_the_second_opener_waits_for_the_last_handle() {
    let fixture = Fixture::new();
    let directory = fixture.directory.path();
    let tenant = fixture.tenant("t");
    let clone = fixture.store.clone();
    assert!(matches!(Store::open(directory, Options::default()), Err(Error::Locked { .. })));
    drop(clone);
    assert!(matches!(Store::open(directory, Options::default()), Err(Error::Locked { .. })));
    say(&tenant, "The refused opener did no harm");
    let Fixture { store, directory, .. } = fixture;
    drop(store);
    assert!(
        matches!(Store::open(directory.path(), Options::default()), Err(Error::Locked { .. })),
        "a tenant's handle keeps the store"
    );
    drop(tenant);
    assert!(Store::open(directory.path(), Options::default()).is_ok());
}

/// Letters counted: as many dimensions as another model, and quite another meaning.
struct Letters {
    name: &'static str,
    dimension: usize,
    fails: bool,
}

impl Embedder for Letters {
    fn model_id(&self) -> &str {
        self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, text: &str) -> Result<Option<Vec<f32>>> {
        if self.fails {
            return Err(Error::Unavailable("the letter counter is on strike".into()));
        }
        let mut vector = vec![0.0; self.dimension];
        for letter in text.chars() {
            vector[letter as usize % self.dimension] += 1.0;
        }
        let length = vector.iter().map(|x: &f32| x * x).sum::<f32>().sqrt();
        Ok((length > 0.0).then(|| vector.iter().map(|x| x / length).collect()))
    }
}

fn letters(name: &'static str, dimension: usize) -> Options {
    Options { embedder: Some(Arc::new(Letters { name, dimension, fails: false })), ..Options::default() }
}

#[test]
fn a_store_refuses_to_open_with_another_model_of_the_same_dimension() {
    let builtin = embed::builtin().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), Options::default()).unwrap();
    let id = say(&store.tenant("t").unwrap(), "The lighthouse has a green lamp").id;
    drop(store);
    for options in [letters("letters-1", builtin.dimension()), letters("letters-1", 26)] {
        let Err(error) = Store::open(directory.path(), options) else { panic!("silently mixed") };
        let message = error.to_string();
        assert_eq!(error.code(), "model_mismatch");
        for part in [builtin.model_id(), "letters-1", "re-embed", "open it with the model it was made with"] {
            assert!(message.contains(part), "{part} is not in: {message}");
        }
    }
    // Nothing was changed by the attempts; the lock is free again.
    let store = Store::open(directory.path(), Options::default()).unwrap();
    let tenant = store.tenant("t").unwrap();
    assert_eq!(get(&tenant, id).unwrap().version, 1);
    assert_eq!(ask(&tenant, "lamp of the lighthouse"), ["The lighthouse has a green lamp"]);
}

#[test]
fn a_newer_version_of_a_model_is_another_model() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), letters("letters-1", 32)).unwrap();
    say(&store.tenant("t").unwrap(), "abc");
    drop(store);
    assert_eq!(
        Store::open(directory.path(), letters("letters-2", 32)).err().unwrap().code(),
        "model_mismatch"
    );
    assert!(Store::open(directory.path(), letters("letters-1", 32)).is_ok());
}

#[test]
fn a_store_without_any_vector_takes_whichever_model_comes_first() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), Options::default()).unwrap();
    store.tenant("t").unwrap().create().unwrap();
    drop(store);
    let store = Store::open(directory.path(), letters("letters-1", 32)).unwrap();
    say(&store.tenant("t").unwrap(), "abc");
    assert!(store.statistics().unwrap().model.unwrap().contains("letters-1"));
}

#[test]
fn without_its_model_a_store_answers_by_words_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), Options::default()).unwrap();
    say(&store.tenant("t").unwrap(), "The lighthouse has a green lamp");
    drop(store);
    let store = Store::open(directory.path(), Options { embedder: None, ..Options::default() }).unwrap();
    let tenant = store.tenant("t").unwrap();
    let answer = tenant.recall(question("lighthouse")).unwrap();
    assert_eq!((answer.hits.len(), answer.degraded.len()), (1, 1));
    assert_eq!(say(&tenant, "The harbour has a red lamp").degraded.len(), 1);
}

#[test]
fn with_its_model_down_a_store_keeps_the_old_value_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), letters("letters-1", 32)).unwrap();
    let id = say(&store.tenant("t").unwrap(), "The lamp is green").id;
    drop(store);
    let down = Arc::new(Letters { name: "letters-1", dimension: 32, fails: true });
    let store =
        Store::open(directory.path(), Options { embedder: Some(down), ..Options::default() }).unwrap();
    let tenant = store.tenant("t").unwrap();
    let request =
        memcards::Correct { id, content: Some("The lamp is red".into()), ..memcards::Correct::default() };
    let error = tenant.correct(request).unwrap_err();
    assert_eq!(error.code(), "unavailable");
    assert!(error.to_string().contains("strike"), "{error}");
    assert_eq!(get(&tenant, id).unwrap().content, "The lamp is green");
    let answer = tenant.recall(question("green lamp")).unwrap();
    assert_eq!((answer.hits.len(), answer.degraded.len()), (1, 1));
    assert_eq!(say(&tenant, "The bell is bronze").degraded.len(), 1, "kept, with a note");
    assert_eq!(ask(&tenant, "bronze bell"), ["The bell is bronze"]);
}

#[test]
fn a_store_of_given_vectors_refuses_another_dimension() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let given =
        |content: &str, vector: Vec<f32>| tenant.remember(Remember { vector: Some(vector), ..text(content) });
    given("North", vec![0.0, 1.0, 0.0]).unwrap();
    given("East", vec![1.0, 0.0, 0.0]).unwrap();
    for vector in [vec![1.0, 0.0], vec![1.0; 4], vec![1.0; 256]] {
        let error = given("Elsewhere", vector.clone()).unwrap_err();
        assert_eq!(error.code(), "model_mismatch", "{error}");
        let error = tenant.recall(Recall { vector: Some(vector), ..Recall::default() }).unwrap_err();
        assert_eq!(error.code(), "model_mismatch", "{error}");
    }
    for (vector, field) in [
        (vec![], "vector"),
        (vec![0.0; 3], "vector"),
        (vec![1.0, f32::NAN, 0.0], "vector[1]"),
        (vec![1.0, 0.0, f32::INFINITY], "vector[2]"),
    ] {
        assert_eq!(given("Nowhere", vector.clone()).unwrap_err().field(), Some(field));
        let request = Recall { vector: Some(vector), ..Recall::default() };
        assert_eq!(tenant.recall(request).unwrap_err().field(), Some(field));
    }
    let near_east = Recall { vector: Some(vec![0.9, 0.1, 0.0]), top: Some(1), ..Recall::default() };
    assert_eq!(tenant.recall(near_east).unwrap().hits[0].card.content, "East");
    // Also after it is opened again, whatever model is offered.
    drop(tenant);
    let fixture = fixture.reopen();
    let request = Remember { vector: Some(vec![1.0, 0.0]), ..text("Elsewhere") };
    assert_eq!(fixture.tenant("t").remember(request).unwrap_err().code(), "model_mismatch");
    assert_eq!(fixture.store.tenants().unwrap().len(), 1);
}

#[test]
fn given_vectors_and_those_of_a_model_do_not_mix() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    say(&tenant, "The lighthouse has a green lamp");
    let dimension = embed::builtin().unwrap().dimension();
    let request = Remember { vector: Some(vec![1.0; dimension]), ..text("Given") };
    assert_eq!(tenant.remember(request).unwrap_err().code(), "model_mismatch");
    assert_eq!(crate::support::active(&tenant).len(), 1);
}

/// A model that takes its time over a question: meanwhile a tenant is told something.
#[derive(Default)]
struct Slow(Mutex<Option<Tenant>>);

impl Embedder for Slow {
    fn model_id(&self) -> &str {
        "slow"
    }

    fn dimension(&self) -> usize {
        2
    }

    fn embed(&self, _text: &str) -> Result<Option<Vec<f32>>> {
        let meanwhile = self.0.lock().unwrap().take();
        if let Some(tenant) = meanwhile {
            say(&tenant, "The tea is ready.");
        }
        Ok(None)
    }
}

#[test]
fn writes_do_not_wait_for_a_model_that_reads_a_question() {
    let slow = Arc::new(Slow::default());
    let fixture = Fixture::with(|options| options.embedder = Some(slow.clone()));
    let tenant = fixture.tenant("anna");
    say(&tenant, "The kiln is cold.");
    assert!(ask(&tenant, "tea").is_empty());
    *slow.0.lock().unwrap() = Some(tenant.clone());
    assert_eq!(ask(&tenant, "tea"), ["The tea is ready."]);
}
