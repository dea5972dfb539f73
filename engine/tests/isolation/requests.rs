//! What to ask with each field of each verb. A field that has no values here fails the tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use memcards::{Store, execute};
use serde_json::{Map, Value, json};

use crate::numbers::Numbers;
use crate::schema;

/// Somebody's names and identifiers, from which requests are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Side {
    pub(crate) tenant: String,
    pub(crate) words: Vec<String>,
    pub(crate) cards: Vec<String>,
    pub(crate) plans: Vec<String>,
    pub(crate) digests: Vec<String>,
    pub(crate) runs: Vec<String>,
    pub(crate) cursors: Vec<String>,
    /// Where files may be written, for verbs of an administrator.
    pub(crate) directory: PathBuf,
    /// Whether the store holds vectors of its callers.
    pub(crate) vectors: bool,
    /// A number that stands in vectors of this side alone.
    pub(crate) number: f32,
}

/// The fields of one request.
pub(crate) type Fields = Map<String, Value>;

fn object(value: Value) -> Fields {
    value.as_object().unwrap().clone()
}

impl Side {
    pub(crate) fn new(tenant: &str, words: &[impl AsRef<str>], vectors: bool, number: f32) -> Self {
        let words = words.iter().map(|word| word.as_ref().to_owned()).collect();
        Self { tenant: tenant.into(), words, vectors, number, ..Self::default() }
    }

    /// Notes what there is of its tenant.
    pub(crate) fn look_around(&mut self, store: &Store) {
        let ask = |verb: &str, fields: Value| {
            let mut request = object(fields);
            request.insert("verb".into(), verb.into());
            request.insert("tenant".into(), self.tenant.as_str().into());
            execute(store, &Value::Object(request).to_string())
        };
        let texts = |answer: &Value, list: &str, field: &str| -> Vec<String> {
            let items = answer[list].as_array().cloned().unwrap_or_default();
            items.iter().filter_map(|item| Some(item[field].as_str()?.to_owned())).collect()
        };
        let everything = json!(["superseded", "archived", "candidates", "forgotten"]);
        let page = ask("list", json!({ "limit": 40, "include": everything, "order": "recorded_at" }));
        self.cards = texts(&page, "cards", "id");
        let plans = ask("plans", json!({}));
        self.plans = texts(&plans, "plans", "plan");
        self.runs = texts(&plans, "plans", "run");
        self.digests = texts(&plans, "plans", "digest");
        let orders = ["-recorded_at", "recorded_at", "occurred_at", "-updated_at", "-importance"];
        let cursor = |order: &&str| {
            let page = ask("list", json!({ "limit": 1, "order": order, "include": everything }));
            page["cursor"].as_str().map(str::to_owned)
        };
        self.cursors = orders.iter().filter_map(cursor).collect();
    }

    fn texts(&self) -> Vec<Value> {
        self.words.iter().chain([&self.tenant]).map(|word| word.as_str().into()).collect()
    }

    fn lists(&self) -> Vec<Value> {
        self.texts().into_iter().map(|text| json!([text])).chain([json!(self.words), json!([])]).collect()
    }

    fn few(ids: &[String]) -> Vec<Value> {
        ids.iter().take(4).chain(ids.last()).map(|id| id.as_str().into()).collect()
    }

    fn ids(&self) -> Vec<Value> {
        Self::few(&self.cards).into_iter().map(|id| json!([id])).chain([json!(self.cards)]).collect()
    }

    fn attributes(&self) -> Vec<Value> {
        let made = |text: Value| json!({ text.as_str().unwrap(): { "in": [text, { "deep": text }] } });
        self.texts().into_iter().map(made).collect()
    }

    fn facts(&self) -> Vec<Value> {
        let made = |text: Value| json!({ "entity": text, "attribute": text, "value": text });
        self.texts().into_iter().map(made).collect()
    }

    fn policies(&self) -> Vec<Value> {
        let by = |category: &str| json!({ "categories": { category: { "max_cards": 3, "over_budget": "forget", "ttl": "90d" } } });
        // The name of a category is shorter than a text may be.
        let categories = self.words.iter().filter(|word| word.len() <= 64);
        let toml =
            self.words.iter().map(|word| json!(format!("[categories.\"{word}\"]\narchive_after = \"2d\"")));
        let all = json!({
            "enabled": true,
            "preset": "assistant",
            "defaults": {
                "decay": 0.01, "importance_half_life": "60d", "fade_below": 0.05, "archive_after": "60d",
                "max_cards": 500, "over_budget": "archive", "merge": true, "similarity": 0.9, "grace": "0s",
                "protect": false, "ttl": "400d"
            },
            "tracks": { "episodic": { "half_life": "30d" } },
            "categories": { &self.words[0]: { "protect": true } },
            "limits": { "items": 100, "share": 0.9 },
            "schedule": { "every": "2h", "slice_ms": 5, "pause_ms": 5, "plan_only": true },
            "recall": { "min_score": 0.05 }
        });
        let only = json!({ "limits": { "only": [self.tenant] } });
        let share = json!({ "limits": { "tenants_share": 0.5 } });
        let named = ["assistant", "keep", &self.words[0]].map(Value::from);
        categories.map(|word| by(word)).chain(toml).chain([all, only, share]).chain(named).collect()
    }

    fn filters(&self) -> Vec<Value> {
        let text = |word: &Value| {
            [
                "category",
                "summary",
                "merge_key",
                "extractor",
                "fact.entity",
                "fact.attribute",
                "fact.value",
                "content",
            ]
            .map(|field| json!({ "field": field, "eq": word }))
        };
        let list = |word: &Value| {
            ["entities", "tags", "session", "speaker"]
                .map(|field| json!({ "field": field, "contains": word }))
        };
        let mut all: Vec<Value> = self.texts().iter().flat_map(text).collect();
        all.extend(self.texts().iter().flat_map(list));
        all.extend(self.texts().iter().map(|word| json!({ "field": "content", "contains": word })));
        all.extend(
            self.words.iter().map(|word| json!({ "field": format!("attributes.{word}"), "exists": true })),
        );
        all.extend(self.words.iter().map(|word| json!({ "field": word, "eq": word })));
        all.extend(Self::few(&self.cards).into_iter().map(|id| json!({ "field": "id", "eq": id })));
        let linked = |id| ["supersedes", "superseded_by"].map(|field| json!({ "field": field, "eq": id }));
        all.extend(Self::few(&self.cards).iter().flat_map(linked));
        all.push(json!({ "not": { "field": "tags", "contains": self.words[0] } }));
        all.push(json!({ "and": [{ "field": "pinned", "eq": false }, { "not": { "field": "content", "contains": self.words[0] } }] }));
        all.push(json!({ "or": [{ "field": "importance", "gte": 0.5 }, { "field": "category", "eq": self.words[0] }] }));
        all
    }

    fn vectors(&self) -> Vec<Value> {
        let good = [[self.number, 0.5, 0.25, 0.0], [0.0, self.number, -0.5, 1.0]];
        good.iter().map(|vector| json!(vector)).chain([json!([self.number])]).collect()
    }

    fn path(&self, name: &str) -> Value {
        json!(self.directory.join(name))
    }

    /// The values to ask with in a field; `None` for a field of which nothing is known.
    pub(crate) fn values(&self, verb: &str, field: &str) -> Option<Vec<Value>> {
        let times = || ["2025-03-09T00:00:00Z", "2025-03-20T12:00:00+02:00"].map(Value::from).to_vec();
        let shares = || [0.0, 0.3, 0.85, 1.0].map(Value::from).to_vec();
        let counts = || [1, 2, 50].map(Value::from).to_vec();
        let bools = || [false, true].map(Value::from).to_vec();
        let names = |all: &[&str]| all.iter().map(|name| Value::from(*name)).collect::<Vec<_>>();
        Some(match (verb, field) {
            ("plan", "rules") => names(&["expire", "merge", "fade", "archive", "forget", "purge"])
                .into_iter()
                .map(|rule| json!([rule]))
                .collect(),
            ("consolidate", "rules") => vec![json!([]), json!(["preferences"]), json!(["events"])],
            ("export" | "backup", "to") => vec![self.path(verb), self.path(&self.words[0])],
            ("import", "from") => vec![self.path("export"), self.path(&self.words[0])],
            (_, "content" | "summary" | "category" | "merge_key" | "session" | "speaker" | "extractor") => {
                self.texts()
            }
            (_, "idempotency_key" | "actor" | "reason" | "query" | "about" | "from" | "to" | "relation") => {
                self.texts()
            }
            (_, "name" | "start" | "confirm" | "tenant") => self.texts(),
            (_, "entities" | "tags" | "categories" | "relations" | "tenants") => self.lists(),
            (_, "preset") => names(&["timeline", "rule", &self.words[0]]),
            (_, "attributes") => self.attributes(),
            (_, "fact") => self.facts(),
            (_, "policy") => self.policies(),
            (_, "filter") => self.filters(),
            (_, "id") => Self::few(&self.cards),
            (_, "ids" | "used" | "rejected") => self.ids(),
            (_, "links") => {
                let link = |id: Value| json!([{ "to": id, "kind": "related" }]);
                Self::few(&self.cards).into_iter().map(link).collect()
            }
            (_, "uses") => {
                Self::few(&self.cards).into_iter().map(|id| json!([{ "id": id, "day": 2 }])).collect()
            }
            (_, "plan") => Self::few(&self.plans),
            (_, "digest") => Self::few(&self.digests).into_iter().chain(self.texts()).collect(),
            (_, "run" | "before_run") => Self::few(&self.runs),
            (_, "cursor") => self.cursors.iter().map(|cursor| cursor.as_str().into()).collect(),
            (_, "vector") => self.vectors(),
            (_, "track") => names(&["episodic", "semantic", "entity", "procedural"]),
            (_, "tracks") => vec![json!(["episodic", "entity"]), json!(["semantic"])],
            (_, "polarity") => names(&["affirmed", "excluded"]),
            (_, "provenance") => names(&["confirmed", "stated", "inferred", "overturned"]),
            (_, "role") => names(&["user", "assistant", "system", "tool"]),
            (_, "how") => names(&["negation", "scope", "ambiguous"]),
            (_, "direction") => names(&["out", "in", "both"]),
            (_, "format") => names(&["memcards", "chat", "locomo"]),
            (_, "order") => names(&[
                "-recorded_at",
                "recorded_at",
                "-occurred_at",
                "occurred_at",
                "-updated_at",
                "-importance",
                "-confidence",
            ]),
            (_, "include") => {
                vec![json!(["superseded", "archived", "candidates", "forgotten"]), json!(["forgotten"])]
            }
            (_, "clear") => vec![
                json!(["summary", "fact", "merge_key", "valid_from", "valid_to", "expires_at"]),
                json!([self.words[0]]),
            ],
            (_, "zone") => names(&["Asia/Shanghai", "+05:30", &self.words[0]]),
            (_, "ttl" | "every") => names(&["2h", "90d"]),
            (_, "days") => [1, 20].map(Value::from).to_vec(),
            // Positions in a log: its beginning, amid it, and far behind its end.
            ("audit", "before") => [0, 1, 9, u64::MAX].map(Value::from).to_vec(),
            (_, "turn" | "version" | "top" | "limit" | "hops") => counts(),
            (_, "limits") => {
                vec![json!({ "items": 2 }), json!({ "share": 0.5, "tenants": 1.0, "items": 50 })]
            }
            (_, "weights") => vec![json!({ "keywords": 1.0, "recency": 0.5 })],
            (_, "importance" | "confidence" | "min_confidence" | "min_score" | "score") => shares(),
            (_, "pinned" | "explain" | "dry_run" | "consent" | "erased") => bools(),
            ("export", "vectors" | "skip_damaged") => bools(),
            (
                _,
                "occurred_at" | "valid_from" | "valid_to" | "expires_at" | "since" | "until" | "as_of"
                | "known_at",
            ) => times(),
            _ => return None,
        })
    }

    /// The fields without which a verb does not look at the others.
    pub(crate) fn needed(&self, verb: &str) -> Fields {
        let word = |at: usize| self.words[at % self.words.len()].as_str();
        let nobody = "0".repeat(32);
        object(match verb {
            "remember" => json!({ "content": format!("What is said of {}", word(0)) }),
            "recall" => json!({ "query": word(0), "explain": true, "top": 50 }),
            "get" | "correct" | "history" => json!({ "id": self.cards.first().unwrap_or(&nobody) }),
            "relate" => json!({ "from": word(0), "relation": "works with", "to": word(1) }),
            "entity" => json!({ "name": word(0) }),
            "walk" => json!({ "start": word(0), "hops": 4 }),
            "policy.set" => json!({ "policy": "assistant" }),
            "simulate" => json!({ "days": 3 }),
            "apply" if !self.plans.is_empty() => json!({ "plan": self.plans[0] }),
            "undo" if !self.runs.is_empty() => json!({ "run": self.runs[0] }),
            "backup" | "export" => json!({ "to": self.path(verb) }),
            "import" => json!({ "from": self.path("export") }),
            _ => json!({}),
        })
    }
}

/// Values that fit no field, or hardly one.
fn damaged(word: &str) -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!(word),
        json!("\u{0}\u{7}"),
        json!([]),
        json!([[word]]),
        json!({ word: word }),
        json!([{ word: 1 }]),
        json!({ "field": word, word: word }),
        json!("x".repeat(70_000)),
    ]
}

/// What a verb knows, and requests made of it.
pub(crate) struct Asking {
    pub(crate) verb: &'static str,
    pub(crate) fields: Vec<String>,
}

impl Asking {
    /// Asks a verb for its fields, as a tenant's verb or as the store's.
    pub(crate) fn learn(store: &Store, verb: &'static str, tenant: Option<&str>, side: &Side) -> Self {
        let fields = schema::fields(store, verb, tenant, &side.needed(verb)).into_iter().collect();
        Self { verb, fields }
    }

    /// Requests as they should be: what is needed is of one side, each field once with each
    /// value of the other, and all fields together.
    pub(crate) fn honest(&self, own: &Side, other: &Side) -> Vec<Fields> {
        let needed = own.needed(self.verb);
        let mut all = vec![needed.clone()];
        let mut whole: BTreeMap<usize, Fields> = BTreeMap::new();
        for field in &self.fields {
            let values = other.values(self.verb, field);
            let values =
                values.unwrap_or_else(|| panic!("{}: nothing is known to ask {field} with", self.verb));
            for (at, value) in values.into_iter().enumerate() {
                all.push([(field.clone(), value.clone())].into_iter().fold(
                    needed.clone(),
                    |mut all, (name, value)| {
                        all.insert(name, value);
                        all
                    },
                ));
                if at < 4 && !self.stands_alone(field, at) {
                    whole.entry(at).or_insert_with(|| needed.clone()).insert(field.clone(), value);
                }
            }
        }
        all.extend(whole.into_values());
        all
    }

    /// Fields that others cannot stand beside.
    fn stands_alone(&self, field: &str, at: usize) -> bool {
        match (self.verb, field) {
            ("remember", "ttl") => at.is_multiple_of(2),
            ("remember", "expires_at") => !at.is_multiple_of(2),
            ("recall" | "remember" | "correct", "vector") => at > 1,
            ("recall", "weights" | "preset") => true,
            ("correct", "clear" | "version") => true,
            ("forget" | "restore", "id" | "ids" | "filter" | "run") => true,
            ("feedback", "rejected") => true,
            _ => false,
        }
    }

    /// A request with some of the fields, of one side or the other.
    pub(crate) fn random(&self, numbers: &mut Numbers, own: &Side, other: &Side) -> Fields {
        let foreign = numbers.once_in(6);
        let mut request = if foreign { other.needed(self.verb) } else { own.needed(self.verb) };
        for _ in 0..numbers.below(5).min(self.fields.len()) {
            let field = numbers.pick(&self.fields);
            let side = if numbers.once_in(4) { other } else { own };
            let values = side.values(self.verb, field).unwrap_or_default();
            if !values.is_empty() {
                request.insert(field.clone(), numbers.pick(&values).clone());
            }
        }
        request
    }

    /// Requests with something wrong in one field, among it a field that is not there.
    pub(crate) fn damaged(&self, own: &Side, word: &str) -> Vec<Fields> {
        let needed = own.needed(self.verb);
        let mut all = Vec::new();
        for field in self.fields.iter().map(String::as_str).chain([word, "tenant", "now"]) {
            // Of the clock, both stores have one each: it is moved for both or for none.
            for value in damaged(word) {
                let mut request = needed.clone();
                request.insert(field.to_owned(), value);
                all.push(request);
            }
            if field != word && needed.contains_key(field) {
                let mut request = needed.clone();
                request.remove(field);
                all.push(request);
            }
        }
        all
    }
}
