//! Two stores: one with the watched tenant, one without.

use std::path::PathBuf;
use std::sync::Arc;

use memcards::embed::Embedder;
use memcards::{Clock, ManualClock, Options, Store, Timestamp, VERBS, Verb, execute};
use serde_json::Value;

use crate::canary::{NUMBER, secrets};
use crate::requests::{Asking, Fields, Side};

/// Names that everybody uses, in several scripts.
pub(crate) const KNOWN: [&str; 6] =
    ["Quillfeather", "Тимофеевка", "青云阁", "كتابخانه", "🎷🐢", "The ferry leaves from pier 7"];
/// What the asking tenant speaks of.
pub(crate) const OWN: [&str; 4] = ["Marigold", "蓝色的自行车", "I like green tea", "Самовар"];
/// The watched tenant, whose name is known to the other one.
pub(crate) const WATCHED: &str = "Quillfeather & Sons";
/// The tenant that asks.
pub(crate) const ASKING: &str = "b";

const START: i64 = 1_741_600_000_000_000;

/// A model whose vectors are counts of characters.
#[derive(Debug)]
struct Counting;

impl Embedder for Counting {
    fn model_id(&self) -> &str {
        "counting"
    }

    fn dimension(&self) -> usize {
        16
    }

    fn embed(&self, text: &str) -> memcards::Result<Option<Vec<f32>>> {
        let mut vector = vec![0f32; 16];
        text.chars().filter(|c| c.is_alphanumeric()).for_each(|c| vector[c as usize % 16] += 1.0);
        Ok(vector.iter().any(|x| *x > 0.0).then_some(vector))
    }
}

/// A store in a directory of its own, on a clock that is moved by hand.
pub(crate) struct World {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Store,
    options: Options,
}

impl World {
    /// A store that knows its model already: there is one of it for all tenants.
    pub(crate) fn new(vectors: bool, index_bytes: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp::from_micros(START)));
        let embedder: Option<Arc<dyn Embedder>> = if vectors { None } else { Some(Arc::new(Counting)) };
        let options = Options {
            embedder,
            clock: clock.clone(),
            index_bytes,
            seed: 7,
            cache_bytes: 4 << 20,
            ..Options::default()
        };
        let store = Store::open(directory.path().join("store"), options.clone()).unwrap();
        let world = Self { directory, clock, store, options };
        let vector = vectors.then_some([0.5, 0.5, 0.5, 0.5]);
        let first = serde_json::json!({ "content": "The first of all.", "vector": vector });
        assert_eq!(world.ask("remember", Some("first"), &first.as_object().unwrap().clone())["ok"], true);
        world
    }

    pub(crate) fn ask(&self, verb: &str, tenant: Option<&str>, fields: &Fields) -> Value {
        execute(&self.store, &request(verb, tenant, fields))
    }

    pub(crate) fn pass(&self, hours: i64) {
        self.clock.set(self.clock.now().plus(memcards::Duration::from_hours(hours))).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Closes the store and opens it again.
    pub(crate) fn reopen(self) -> Self {
        let Self { directory, clock, store, options } = self;
        drop(store);
        let store = Store::open(directory.path().join("store"), options.clone()).unwrap();
        Self { directory, clock, store, options }
    }
}

/// A request as JSON; a field that the damaged one has itself is not touched.
pub(crate) fn request(verb: &str, tenant: Option<&str>, fields: &Fields) -> String {
    let mut request = fields.clone();
    request.insert("verb".into(), verb.into());
    if let Some(tenant) = tenant {
        request.entry("tenant").or_insert_with(|| tenant.into());
    }
    Value::Object(request).to_string()
}

/// The verbs that a tenant has.
pub(crate) fn tenant_verbs() -> impl Iterator<Item = &'static Verb> {
    VERBS.iter().filter(|verb| verb.tenant)
}

/// The side of the asking tenant, of which nothing is there yet.
pub(crate) fn asking(vectors: bool) -> Side {
    Side::new(ASKING, &OWN, vectors, 0.25)
}

/// Lets the watched tenant hold canaries wherever a field takes them, and be busy with every verb;
/// gives its names and identifiers. Two more tenants have names that are canaries, and one of
/// them is wiped again.
pub(crate) fn hide(world: &World, vectors: bool) -> Side {
    let secret = Side::new(&secrets(0)[0], &secrets(1), vectors, NUMBER);
    let mut watched = Side::new(WATCHED, &KNOWN, vectors, 0.4375);
    for (name, side) in [(WATCHED, &watched), (&secrets(2)[0], &secret), (&secrets(3)[2], &secret)] {
        let few = if name == WATCHED { 1 } else { 6 };
        for verb in ["remember", "relate"] {
            let asking = Asking::learn(&world.store, verb, Some(name), side);
            for (at, mut fields) in asking.honest(side, &secret).into_iter().enumerate().step_by(few) {
                // Not the same statement again, which would take the place of the one before.
                if fields.get("content") == side.needed(verb).get("content") {
                    fields.insert(
                        "content".into(),
                        format!("{} {at}{at} {}", KNOWN[at % 5], side.words[0]).into(),
                    );
                }
                world.ask(verb, Some(name), &fields);
            }
        }
    }
    let confirm = serde_json::json!({ "confirm": secrets(3)[2] });
    assert_eq!(world.ask("wipe", Some(&secrets(3)[2]), confirm.as_object().unwrap())["ok"], true);
    watched.look_around(&world.store);
    // Every verb with every field, but for the end of it all.
    for verb in tenant_verbs().filter(|verb| verb.name != "wipe") {
        let asking = Asking::learn(&world.store, verb.name, Some(WATCHED), &watched);
        for other in [&watched.clone(), &secret] {
            for fields in asking.honest(&watched, other) {
                world.ask(verb.name, Some(WATCHED), &fields);
            }
            watched.look_around(&world.store);
        }
    }
    // Something archived in the cold tier, something purged.
    let ask = |verb: &str, fields: Value| world.ask(verb, Some(WATCHED), fields.as_object().unwrap());
    let policy = serde_json::json!({ "defaults": { "archive_after": "1h", "grace": "0s" }, "limits": { "share": 1.0 } });
    assert_eq!(ask("policy.set", serde_json::json!({ "policy": policy }))["ok"], true);
    let content = format!("A last word of {}, and of {}", secrets(4)[0], KNOWN[0]);
    ask("remember", serde_json::json!({ "content": content, "pinned": false }));
    world.pass(2);
    let mut done = 0;
    for _ in 0..2 {
        let plan = ask("plan", serde_json::json!({ "consent": true }));
        let applied = ask("apply", serde_json::json!({ "plan": plan["plan"] }));
        done += applied["totals"]["applied"].as_u64().unwrap();
        world.pass(1);
    }
    assert!(done > 0, "nothing was archived or purged");
    assert!(world.store.freeze(Some(WATCHED), Some(1)).unwrap().cards > 0);
    ask("remember", serde_json::json!({ "content": content }));
    watched.look_around(&world.store);
    assert!(watched.cards.len() > 10 && watched.plans.len() > 1 && watched.runs.len() > 1, "{watched:?}");
    assert!(!watched.cursors.is_empty() && !watched.digests.is_empty());
    watched
}

/// Gives the asking tenant something of each kind; the same in both stores.
pub(crate) fn settle(world: &World, side: &mut Side) {
    let ask = |verb: &str, fields: Value| world.ask(verb, Some(&side.tenant), fields.as_object().unwrap());
    // What was forgotten before does not come back by being told with the same turn.
    let now = world.clock.now();
    for (at, word) in OWN.iter().chain(&KNOWN).enumerate() {
        let vector = side.vectors.then_some([at as f32, 1.0, 0.5, side.number]);
        let told = ask(
            "remember",
            serde_json::json!({
                "content": format!("{word} belongs to shelf {at}"), "entities": [word], "tags": ["shelf"],
                "session": format!("s{} {now}", at % 3), "vector": vector, "turn": at, "speaker": "Ann",
            }),
        );
        assert_eq!(told["ok"], true, "{told}");
    }
    ask("relate", serde_json::json!({ "from": OWN[0], "relation": "stands beside", "to": KNOWN[0] }));
    ask("relate", serde_json::json!({ "from": KNOWN[0], "relation": "alias", "to": OWN[3] }));
    let first = ask("list", serde_json::json!({ "limit": 1 }))["cards"][0]["id"].clone();
    ask("forget", serde_json::json!({ "id": first }));
    let policy = serde_json::json!({ "defaults": { "archive_after": "1h" } });
    world.pass(2);
    let plan = ask("plan", serde_json::json!({ "policy": policy, "consent": true }));
    assert_eq!(plan["ok"], true, "{plan}");
    ask("apply", serde_json::json!({ "plan": plan["plan"] }));
    ask("undo", serde_json::json!({ "run": plan["run"] }));
    ask("plan", serde_json::json!({}));
    side.look_around(&world.store);
}
