//! The commands: each builds the engine's request, runs it, and shows the answer.

pub(crate) mod admin;
pub(crate) mod change;
pub(crate) mod exchange;
pub(crate) mod read;
pub(crate) mod recall;
pub(crate) mod remember;

use std::io::{self, Write};

use memcards::{Error, Tenant};
use serde::Serialize;
use serde_json::{Map, Value, json};

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
        Command::Import(arguments) => exchange::import(&arguments, door, out),
        Command::Export(arguments) => exchange::export(&arguments, door, out),
        Command::Backup(arguments) => admin::backup(&arguments, door, out),
        Command::Verify(_) => admin::verify(door, out),
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
        let encode = |error: serde_json::Error| Error::Internal(format!("encoding a request: {error}"));
        let mut fields = match serde_json::to_value(&request).map_err(encode)? {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        fields.insert("verb".into(), name.into());
        fields.insert("tenant".into(), door.tenant.as_str().into());
        let text = Value::Object(fields).to_string();
        return print_answer(&memcards::verbs::execute(&door.store, &text), out);
    }
    let answer = call(&door.tenant()?, request)?;
    Ok(show(&answer, out)?)
}

/// Prints an answer that is JSON already.
fn print_answer(answer: &Value, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{answer}")?;
    match answer["ok"].as_bool() {
        Some(true) => Ok(()),
        _ => Err(Failure::Answered(answer["error"]["code"].as_str().unwrap_or("internal").to_owned())),
    }
}

/// Prints what an administrator's command has found, in the form of an answer.
fn print_json(answer: impl Serialize, out: &mut dyn Write) -> Result<(), Failure> {
    let mut fields = match serde_json::to_value(answer) {
        Ok(Value::Object(fields)) => fields,
        Ok(other) => return Err(Error::Internal(format!("{other} is no answer")).into()),
        Err(error) => return Err(Error::Internal(format!("encoding an answer: {error}")).into()),
    };
    fields.insert("ok".into(), json!(true));
    Ok(writeln!(out, "{}", Value::Object(fields))?)
}
