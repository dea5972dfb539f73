//! Requests and answers as JSON: the one door behind the shell and every protocol.
//!
//! A request is an object with `verb`, `tenant` (for the verbs that have one), perhaps `now`
//! (on a store with a manual clock) and the fields of the verb's request. An answer is
//! `{"ok":true,…}` or `{"ok":false,"error":{"code","message","field"}}`.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::engine::{Draft, Store, Tenant};
use crate::exchange::{self, Export};
use crate::filter::Filter;
use crate::time::Timestamp;
use crate::verbs::{Plans, Relate, Remembered};
use crate::{Error, Result};

/// One verb of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verb {
    /// Its name in requests.
    pub name: &'static str,
    /// True when the request may name a tenant.
    pub tenant: bool,
    /// True when it may leave that out, and is about the store then.
    pub store: bool,
    /// What it does, in one line.
    pub summary: &'static str,
}

/// Every verb there is.
pub const VERBS: &[Verb] = &[
    verb("remember", true, "store one memory"),
    verb("recall", true, "find the cards that answer a question"),
    verb("get", true, "read one card"),
    verb("list", true, "read cards page by page"),
    verb("count", true, "count cards"),
    verb("correct", true, "put a card right"),
    verb("history", true, "read every version of a card"),
    verb("forget", true, "soft-delete cards by id or filter"),
    verb("restore", true, "bring forgotten cards back"),
    verb("feedback", true, "say which recalled cards were of use and which were wrong"),
    either("plan", "find out what the rules would forget, with reasons"),
    either("plans", "read plans and runs, or one plan with its items"),
    either("apply", "carry out exactly what a plan says"),
    either("undo", "take back what a run has done"),
    either("simulate", "play a policy over the cards there are, day by day"),
    either("tiers", "count cards by state and age"),
    verb("consolidate", true, "sum up what was told several times, or of one thing"),
    verb("wipe", true, "remove a tenant with every byte of it"),
    verb("relate", true, "say how one thing relates to another"),
    verb("entity", true, "read what is known of a thing by its name"),
    verb("walk", true, "find what a thing is connected with, over several relations"),
    verb("tenant.create", true, "create a tenant"),
    verb("tenant.stats", true, "count a tenant's cards"),
    verb("tenant.list", false, "name all tenants"),
    verb("stats", false, "figures of the store"),
    verb("verify", false, "check every record"),
    verb("checkpoint", false, "write index snapshots"),
    verb("backup", false, "copy the store into a new directory"),
    verb("maintain", false, "carry out what is due by the policies that were set, if it is time"),
    either("audit", "read who changed what, the latest first"),
    verb("compact", false, "write the store file anew, smaller and without erased bytes"),
    either("policy.get", "read the forgetting policy, and what holds by it"),
    either("policy.set", "set the forgetting policy: a preset, TOML or JSON"),
    verb("reembed", false, "give every card a vector of the present model"),
    verb("export", false, "write JSON Lines to a file"),
    verb("import", false, "read JSON Lines or a conversation from a file"),
    verb("ping", false, "answer"),
    verb("version", false, "version of this build"),
];

const fn verb(name: &'static str, tenant: bool, summary: &'static str) -> Verb {
    Verb { name, tenant, store: !tenant, summary }
}

/// A verb of a tenant, or of the store where no tenant is named.
const fn either(name: &'static str, summary: &'static str) -> Verb {
    Verb { name, tenant: true, store: true, summary }
}

/// Format of a file to import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// What `export` wrote.
    #[default]
    Memcards,
    /// Chat messages.
    Chat,
    /// LoCoMo samples.
    Locomo,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct To {
    to: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    /// Also scan every file for what was erased.
    #[serde(default)]
    erased: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPolicy {
    /// Takes the policy away when null.
    policy: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Of {
    /// All tenants when absent.
    #[serde(default)]
    tenant: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportTo {
    to: PathBuf,
    #[serde(default)]
    tenant: Option<String>,
    #[serde(default)]
    vectors: bool,
    #[serde(default)]
    skip_damaged: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportFrom {
    from: PathBuf,
    #[serde(default)]
    format: Format,
    /// Where conversations go; their own names when absent.
    #[serde(default)]
    tenant: Option<String>,
}

/// Carries out one request and gives its answer.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// use memcards::{Options, Store, execute};
///
/// let store = Store::open(directory.path(), Options::default())?;
/// let answer = execute(&store, r#"{"verb":"remember","tenant":"anna","content":"Tea, no sugar."}"#);
/// assert_eq!(answer["ok"], true);
/// let answer = execute(&store, r#"{"verb":"recall","tenant":"anna","query":""}"#);
/// assert_eq!(answer["hits"].as_array().map(Vec::len), Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn execute(store: &Store, request: &str) -> Value {
    answer(parse(request).and_then(|request| run(store, request)))
}

/// Carries out several requests in order. Consecutive `remember` and `relate` requests share commits,
/// which changes nothing but the time they take.
pub fn execute_all(store: &Store, requests: &[impl AsRef<str>]) -> Vec<Value> {
    let mut answers = Vec::with_capacity(requests.len());
    let mut drafts: Vec<Result<Draft>> = Vec::new();
    for request in requests {
        let request = parse(request.as_ref());
        match request {
            Ok(request) if matches!(request.verb.as_str(), "remember" | "relate") => {
                drafts.push(draft(store, request));
                if drafts.len() >= store.limits().batch {
                    remember(store, &mut drafts, &mut answers);
                }
            }
            other => {
                remember(store, &mut drafts, &mut answers);
                answers.push(answer(other.and_then(|request| run(store, request))));
            }
        }
    }
    remember(store, &mut drafts, &mut answers);
    answers
}

fn draft(store: &Store, request: Request) -> Result<Draft> {
    let tenant = prepare(store, &request)?.ok_or_else(|| Error::Internal("remember has a tenant".into()))?;
    match request.verb.as_str() {
        "relate" => tenant.relation(relate(request.fields)?),
        _ => tenant.draft(fields(request.fields)?),
    }
}

fn relate(rest: Map<String, Value>) -> Result<Relate> {
    fields(named(rest, &["from", "relation", "to"])?)
}

/// The same fields, if these are among them.
fn named(fields: Map<String, Value>, needed: &[&'static str]) -> Result<Map<String, Value>> {
    match needed.iter().find(|field| !fields.contains_key(**field)) {
        Some(missing) => Err(Error::invalid(*missing, "is missing")),
        None => Ok(fields),
    }
}

fn remember(store: &Store, drafts: &mut Vec<Result<Draft>>, answers: &mut Vec<Value>) {
    if drafts.is_empty() {
        return;
    }
    let count = drafts.len();
    match store.write_drafts(std::mem::take(drafts)) {
        Ok(results) => {
            answers.extend(results.into_iter().map(|result| answer(result.and_then(value::<Remembered>))))
        }
        Err(error) => {
            let error = answer(Err(error));
            answers.extend(std::iter::repeat_n(error, count));
        }
    }
}

/// A request, taken apart.
struct Request {
    verb: String,
    tenant: Option<String>,
    now: Option<Timestamp>,
    fields: Map<String, Value>,
}

fn parse(text: &str) -> Result<Request> {
    let mut fields: Map<String, Value> = serde_json::from_str(text)
        .map_err(|e| Error::invalid("request", format!("not a JSON object: {e}")))?;
    let mut take = |field: &'static str| match fields.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::invalid(field, "must be text")),
    };
    let verb = take("verb")?.ok_or_else(|| Error::invalid("verb", "is missing"))?;
    let known = VERBS.iter().find(|known| known.name == verb).ok_or_else(|| {
        let names: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
        Error::invalid("verb", format!("{verb:?} is not one of {}", names.join(", ")))
    })?;
    let now = take("now")?
        .map(|text| text.parse().map_err(|e: Error| Error::invalid("now", e.to_string())))
        .transpose()?;
    // For verbs without a tenant the name may be a field of their own.
    let tenant = if known.tenant { take("tenant")? } else { None };
    if !known.store && tenant.is_none() {
        return Err(Error::invalid("tenant", "is missing"));
    }
    Ok(Request { verb, tenant, now, fields })
}

/// Sets the clock, and opens the handle of the request's tenant.
fn prepare(store: &Store, request: &Request) -> Result<Option<Tenant>> {
    if let Some(now) = request.now {
        store.clock().set(now)?;
    }
    request.tenant.as_deref().map(|name| store.tenant(name)).transpose()
}

/// Reads the fields of a request; the error names the one that does not fit.
fn fields<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T> {
    if let Some(filter) = fields.get("filter").filter(|filter| !filter.is_null()) {
        // For its own, more telling error.
        Filter::parse(filter)?;
    }
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().to_string();
        let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
        let field = match (path.as_str(), unknown) {
            (".", Some(field)) => field.to_owned(),
            (".", None) => "request".to_owned(),
            _ => path,
        };
        Error::invalid(field, message)
    })
}

fn run(store: &Store, request: Request) -> Result<Value> {
    let tenant = prepare(store, &request)?;
    let Request { verb, fields: rest, .. } = request;
    if let Some(tenant) = tenant {
        return run_for(&tenant, &verb, rest);
    }
    match verb.as_str() {
        "tenant.list" => {
            fields::<Nothing>(rest)?;
            Ok(json!({ "tenants": store.tenants()? }))
        }
        "stats" => {
            fields::<Nothing>(rest)?;
            value(store.statistics()?)
        }
        "verify" => {
            let Check { erased } = fields(rest)?;
            let report = store.verify(|_| {})?;
            let proof = if erased { Some(store.verify_erased()?) } else { None };
            let sound = report.is_sound() && proof.as_ref().is_none_or(|proof| proof.is_complete());
            let mut answer = value(report)?;
            if let Some(proof) = proof {
                answer["erased"] = value(proof)?;
            }
            answer["sound"] = sound.into();
            Ok(answer)
        }
        "checkpoint" => {
            fields::<Nothing>(rest)?;
            Ok(json!({ "written": store.checkpoint()? }))
        }
        "backup" => Ok(json!({ "records": store.backup(fields::<To>(rest)?.to, |_| {})? })),
        "compact" => {
            fields::<Nothing>(rest)?;
            value(store.compact(|_| {})?)
        }
        "maintain" => {
            fields::<Nothing>(rest)?;
            let run = store.forget_due()?;
            Ok(json!({ "run": run, "scheduler": store.scheduler() }))
        }
        "audit" => value(store.audit(&fields(rest)?)?),
        "plan" => value(store.plan(&fields(rest)?)?),
        "plans" => match fields::<Plans>(rest)?.plan {
            Some(plan) => value(store.show_plan(plan)?),
            None => Ok(json!({ "plans": store.plans()? })),
        },
        "apply" => value(store.apply(fields(rest)?)?),
        "undo" => value(store.undo(fields(rest)?)?),
        "simulate" => value(store.simulate(&fields(rest)?)?.thinned()),
        "tiers" => {
            fields::<Nothing>(rest)?;
            value(store.tiers()?)
        }
        "policy.get" => {
            fields::<Nothing>(rest)?;
            value(store.policy()?)
        }
        "policy.set" => value(store.set_policy(new_policy(rest)?.as_ref())?),
        "reembed" => {
            let Of { tenant } = fields(rest)?;
            value(store.reembed(tenant.as_deref(), |_| {})?)
        }
        "export" => {
            let ExportTo { to, tenant, vectors, skip_damaged } = fields(rest)?;
            value(store.export_file(&to, &Export { tenant, vectors, skip_damaged }, |_| {})?)
        }
        "import" => {
            let ImportFrom { from, format, tenant } = fields(rest)?;
            import(store, &from, format, tenant.as_deref())
        }
        "ping" => fields::<Nothing>(rest).map(|_| json!({ "pong": true })),
        "version" => fields::<Nothing>(rest).map(|_| json!({ "version": env!("CARGO_PKG_VERSION") })),
        other => Err(Error::Internal(format!("verb {other} is in the table but not carried out"))),
    }
}

fn run_for(tenant: &Tenant, verb: &str, rest: Map<String, Value>) -> Result<Value> {
    if matches!(verb, "get" | "correct" | "history") && !rest.contains_key("id") {
        return Err(Error::invalid("id", "is missing"));
    }
    match verb {
        "remember" => value(tenant.remember(fields(rest)?)?),
        "recall" => value(tenant.recall(fields(rest)?)?),
        "get" => Ok(json!({ "card": tenant.get(&fields(rest)?)? })),
        "list" => value(tenant.list(&fields(rest)?)?),
        "count" => Ok(json!({ "count": tenant.count(&fields(rest)?)? })),
        "correct" => value(tenant.correct(fields(rest)?)?),
        "history" => value(tenant.history(&fields(rest)?)?),
        "forget" => value(tenant.forget(fields(rest)?)?),
        "restore" => value(tenant.restore(fields(rest)?)?),
        "feedback" => value(tenant.feedback(fields(rest)?)?),
        "audit" => value(tenant.audit(&fields(rest)?)?),
        "plan" => value(tenant.plan(&fields(rest)?)?),
        "plans" => match fields::<Plans>(rest)?.plan {
            Some(plan) => value(tenant.show_plan(plan)?),
            None => Ok(json!({ "plans": tenant.plans()? })),
        },
        "apply" => value(tenant.apply(fields(rest)?)?),
        "undo" => value(tenant.undo(fields(rest)?)?),
        "simulate" => value(tenant.simulate(&fields(rest)?)?.thinned()),
        "tiers" => {
            fields::<Nothing>(rest)?;
            value(tenant.tiers()?)
        }
        "consolidate" => value(tenant.consolidate(fields(rest)?)?),
        "policy.get" => {
            fields::<Nothing>(rest)?;
            value(tenant.policy()?)
        }
        "policy.set" => value(tenant.set_policy(new_policy(rest)?.as_ref())?),
        "wipe" => value(tenant.wipe(fields(rest)?)?),
        "relate" => value(tenant.relate(relate(rest)?)?),
        "entity" => value(tenant.entity(&fields(named(rest, &["name"])?)?)?),
        "walk" => value(tenant.walk(&fields(named(rest, &["start"])?)?)?),
        "tenant.create" => {
            fields::<Nothing>(rest)?;
            Ok(json!({ "created": tenant.create()? }))
        }
        "tenant.stats" => {
            fields::<Nothing>(rest)?;
            value(tenant.statistics()?)
        }
        other => Err(Error::Internal(format!("verb {other} is in the table but not carried out"))),
    }
}

/// The policy of a request; `None` to take it away.
fn new_policy(rest: Map<String, Value>) -> Result<Option<Value>> {
    let NewPolicy { policy } = fields(named(rest, &["policy"])?)?;
    Ok(Some(policy).filter(|policy| !policy.is_null()))
}

/// Imports a file; conversations go to the named tenant, or each to one of its own name.
pub fn import(store: &Store, from: &std::path::Path, format: Format, tenant: Option<&str>) -> Result<Value> {
    match format {
        Format::Memcards => {
            if tenant.is_some() {
                return Err(Error::invalid("tenant", "an export names its tenants itself"));
            }
            value(store.import_file(from, |_| {})?)
        }
        Format::Chat | Format::Locomo => {
            let conversations = exchange::read_conversations(store.database().io(), from, format)?;
            let mut answers = Vec::new();
            for conversation in &conversations {
                let name = tenant.unwrap_or(&conversation.name);
                let mut answer = value(store.ingest(name, conversation, |_| {})?)?;
                answer["tenant"] = name.into();
                answer["conversation"] = conversation.name.as_str().into();
                answers.push(answer);
            }
            Ok(json!({ "conversations": answers }))
        }
    }
}

fn value<T: Serialize>(answer: T) -> Result<Value> {
    serde_json::to_value(answer).map_err(|e| Error::Internal(format!("encoding an answer: {e}")))
}

/// Wraps a result as an answer line.
fn answer(result: Result<Value>) -> Value {
    match result {
        Ok(Value::Object(mut answer)) => {
            answer.insert("ok".into(), true.into());
            Value::Object(answer)
        }
        Ok(other) => json!({ "ok": true, "answer": other }),
        Err(error) => error_answer(&error),
    }
}

/// The answer line of an error.
pub fn error_answer(error: &Error) -> Value {
    let mut inner = json!({ "code": error.code(), "message": error.to_string() });
    if let Some(field) = error.field() {
        inner["field"] = field.into();
    }
    if let Error::Busy { retry_after_ms } = error {
        inner["retry_after_ms"] = (*retry_after_ms).into();
    }
    json!({ "ok": false, "error": inner })
}
