//! The commands: each builds the engine's request, runs it, and shows the answer.

pub(crate) mod admin;
pub(crate) mod aging;
pub(crate) mod change;
pub(crate) mod exchange;
pub(crate) mod forgetting;
pub(crate) mod policy;
pub(crate) mod read;
pub(crate) mod recall;
pub(crate) mod relations;
pub(crate) mod remember;

use std::io::{self, Write};

use memcards::{Error, Tenant, execute};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::arguments::Command;
use crate::failure::Failure;
use crate::store::Door;

/// Runs a command on an open store.
pub(crate) fn run(command: Command, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        Command::Remember(arguments) => remember::run(*arguments, door, out),
        Command::Recall(arguments) => recall::run(*arguments, door, out),
        Command::Get(arguments) => read::get(arguments, door, out),
        Command::List(arguments) => read::list(arguments, door, out),
        Command::Count(arguments) => read::count(arguments, door, out),
        Command::History(arguments) => read::history(arguments, door, out),
        Command::Correct(arguments) => change::correct(*arguments, door, out),
        Command::Forget(arguments) => change::forget(arguments, door, out),
        Command::Restore(arguments) => change::restore(arguments, door, out),
        Command::Relate(arguments) => relations::relate(arguments, door, out),
        Command::Entity(arguments) => relations::entity(arguments, door, out),
        Command::Walk(arguments) => relations::walk(arguments, door, out),
        Command::Plan(arguments) => forgetting::plan(*arguments, door, out),
        Command::Plans(arguments) => forgetting::plans(&arguments, door, out),
        Command::Apply(arguments) => forgetting::apply(arguments, door, out),
        Command::Undo(arguments) => forgetting::undo(arguments, door, out),
        Command::Policy(arguments) => policy::run(arguments, door, out),
        Command::Feedback(arguments) => forgetting::feedback(arguments, door, out),
        Command::Simulate(arguments) => aging::simulate(arguments, door, out),
        Command::Tiers(_) => aging::tiers(door, out),
        Command::Maintain(arguments) => forgetting::maintain(&arguments, door, out),
        Command::Audit(arguments) => admin::audit(&arguments, door, out),
        Command::Compact(_) => aging::compact(door, out),
        Command::Wipe(arguments) => aging::wipe(arguments, door, out),
        Command::Import(arguments) => exchange::import(&arguments, door, out),
        Command::Export(arguments) => exchange::export(&arguments, door, out),
        Command::Backup(arguments) => admin::backup(&arguments, door, out),
        Command::Reembed(_) => admin::reembed(door, out),
        Command::Repair(_) => admin::repair(door, out),
        Command::Verify(arguments) => admin::verify(&arguments, door, out),
        Command::Stats(_) => admin::statistics(door, out),
        Command::Tenants(_) => admin::tenants(door, out),
        Command::Completions(arguments) => admin::completions(&arguments, out),
        Command::Demo(_) | Command::Shell(_) => {
            Err(Error::invalid("command", "cannot be run inside of the shell").into())
        }
    }
}

/// Runs one verb: in JSON through the door that all ways in share, so that the answer is
/// the same object everywhere; otherwise through the typed API, for showing.
fn verb<R: Serialize, A>(
    door: &Door,
    out: &mut dyn Write,
    name: &str,
    request: R,
    call: impl FnOnce(&Tenant, R) -> memcards::Result<A>,
    show: impl FnOnce(&A, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if door.json {
        let tenant = door.tenant_name().into();
        return print_answer(&answer(door, name, request, Some(tenant))?, out);
    }
    let answer = call(&door.tenant()?, request)?;
    Ok(show(&answer, out)?)
}

/// Runs a verb through the door that all ways in share.
fn answer(
    door: &Door,
    name: &str,
    request: impl Serialize,
    tenant: Option<String>,
) -> Result<Value, Failure> {
    let mut fields = match serde_json::to_value(&request) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => Map::new(),
        Err(error) => return Err(Error::Internal(format!("encoding a request: {error}")).into()),
    };
    fields.insert("verb".into(), name.into());
    if let Some(tenant) = tenant {
        fields.insert("tenant".into(), tenant.into());
    }
    Ok(execute(&door.store, &Value::Object(fields).to_string()))
}

/// Prints an answer that is JSON already.
fn print_answer(answer: &Value, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{answer}")?;
    match answer["ok"].as_bool() {
        Some(true) => Ok(()),
        _ => Err(Failure::Answered(answer["error"]["code"].as_str().unwrap_or("internal").to_owned())),
    }
}
