//! Which fields a verb knows, by its own word.

use std::collections::BTreeSet;

use memcards::{Store, execute};
use serde_json::{Map, Value, json};

/// A name that no field has.
const NONE: &str = "∅";

/// The names that an error about an unknown field lists; `None` for another answer.
fn listed(answer: &Value) -> Option<BTreeSet<String>> {
    let message = answer["error"]["message"].as_str()?;
    let (_, rest) = message.split_once(&format!("unknown field `{NONE}`"))?;
    // At odd places between the quotes.
    Some(rest.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}

fn ask(store: &Store, verb: &str, tenant: Option<&str>, fields: Map<String, Value>) -> Value {
    let mut request = fields;
    request.insert("verb".into(), verb.into());
    if let Some(tenant) = tenant {
        request.insert("tenant".into(), tenant.into());
    }
    execute(store, &Value::Object(request).to_string())
}

/// The fields of a verb's request; `needed` are those without which it is not read.
pub(crate) fn fields(
    store: &Store,
    verb: &str,
    tenant: Option<&str>,
    needed: &Map<String, Value>,
) -> BTreeSet<String> {
    let mut request = needed.clone();
    request.insert(NONE.into(), 1.into());
    let answer = ask(store, verb, tenant, request);
    listed(&answer).unwrap_or_else(|| panic!("{verb} takes a field that it does not know: {answer}"))
}

/// The fields of an object within a request, given as a path of fields; a list stands for its
/// first item.
pub(crate) fn nested(
    store: &Store,
    verb: &str,
    tenant: &str,
    needed: &Map<String, Value>,
    path: &[&str],
) -> BTreeSet<String> {
    let inner = path.iter().rev().fold(json!({ NONE: 1 }), |inner, step| match step.strip_suffix("[]") {
        Some(name) => json!({ name: [inner] }),
        None => json!({ *step: inner }),
    });
    let mut request = needed.clone();
    request.extend(inner.as_object().unwrap().clone());
    let answer = ask(store, verb, Some(tenant), request);
    listed(&answer).unwrap_or_else(|| panic!("{verb} {path:?}: {answer}"))
}
