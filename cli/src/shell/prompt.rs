//! The prompt for people: commands without the program's name, or requests in JSON.

use std::io::Write;

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches};
use memcards::Error;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use crate::arguments::{Arguments, Command};
use crate::commands;
use crate::failure::{self, Failure};
use crate::store::Door;
use crate::words;

const HELP: &str = "\
remember TEXT…           store one memory
recall TEXT…             find the memories that answer a question
list, get ID, history ID, correct ID …, forget ID, restore ID, count
                         as on the command line; `list --help` tells the flags
relate FROM RELATION TO, entity NAME, walk NAME
                         how things are connected
plan, apply PLAN, undo RUN, plans, policy show, feedback, simulate, tiers
                         what the rules forget, why, and how it is taken back
use TENANT               change the tenant
stats, tenants, verify, export FILE, import FILE, backup DIR
{\"verb\":\"recall\",…}     a request in JSON
help, quit";

/// Prompts until the input ends.
pub(crate) fn run(door: &mut Door, out: &mut dyn Write) -> Result<(), Failure> {
    let broken = |error: ReadlineError| Failure::Engine(Error::Unavailable(format!("terminal: {error}")));
    let mut editor = DefaultEditor::new().map_err(broken)?;
    writeln!(out, "memcards {} · help tells what to type, quit ends", env!("CARGO_PKG_VERSION"))?;
    loop {
        out.flush()?;
        match editor.readline(&format!("{}> ", crate::render::printable(door.tenant_name()))) {
            Ok(line) => {
                // Kept for this session only: what is remembered here is nobody else's business.
                let _ = editor.add_history_entry(line.as_str());
                match obey(&line, door, out) {
                    Ok(true) => {}
                    Ok(false) => return Ok(()),
                    Err(failure @ Failure::Output(_)) => return Err(failure),
                    Err(Failure::Engine(error)) => {
                        let hint = failure::hint(&error);
                        writeln!(out, "{}", failure::message(&error.to_string(), hint.as_deref()))?;
                    }
                    // Already told.
                    Err(Failure::Answered(_) | Failure::Damage) => {}
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(broken(error)),
        }
    }
}

/// What a typed line means.
enum Typed {
    Nothing,
    Help,
    Quit,
    Use(String),
    Json(String),
    Command {
        command: Box<Command>,
        tenant: Option<String>,
        json: bool,
    },
    /// What clap has to say about it.
    Said(String),
}

/// Carries out a typed line; false when the shell is to end.
fn obey(line: &str, door: &mut Door, out: &mut dyn Write) -> Result<bool, Failure> {
    match read(line) {
        Typed::Nothing => {}
        Typed::Help => writeln!(out, "{HELP}")?,
        Typed::Quit => return Ok(false),
        Typed::Use(name) => {
            // For its check of the name.
            door.store.tenant(&name)?;
            door.named_tenant = Some(name);
        }
        Typed::Json(text) => super::lines::run(door, &mut text.as_bytes(), out)?,
        Typed::Command { command, tenant, json } => {
            let named_tenant = tenant.or_else(|| door.named_tenant.clone());
            // Commands are typed here without the program's name.
            let door = Door { store: door.store.clone(), named_tenant, json, program: String::new() };
            commands::run(*command, &door, out)?;
        }
        Typed::Said(text) => writeln!(out, "{}", text.trim_end())?,
    }
    Ok(true)
}

fn read(line: &str) -> Typed {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match first {
        "" => return Typed::Nothing,
        "help" | "?" => return Typed::Help,
        "quit" | "exit" => return Typed::Quit,
        "use" if !rest.is_empty() => return Typed::Use(rest.to_owned()),
        _ if first.starts_with('{') => return Typed::Json(line.to_owned()),
        _ => {}
    }
    // A text without flags is taken as it is typed: an apostrophe is no quote.
    let plain = matches!(first, "remember" | "recall")
        && !rest.is_empty()
        && !rest.starts_with(['"', '\''])
        && !rest.split_whitespace().any(|word| word.starts_with('-'));
    let words = match plain {
        true => vec![first.to_owned(), "--".to_owned(), rest.to_owned()],
        false => match words::split(line) {
            Some(words) => words,
            None => return Typed::Said(failure::message("a quote is not closed", None)),
        },
    };
    let given = ["memcards".to_owned()].into_iter().chain(words);
    let matches = match Arguments::command().try_get_matches_from(given) {
        Ok(matches) => matches,
        Err(error) => return Typed::Said(error.render().to_string()),
    };
    let typed = |flag: &str| matches.value_source(flag) == Some(ValueSource::CommandLine);
    if ["store", "clock", "now", "model"].into_iter().any(typed) {
        let text = "store, clock and model are chosen when the shell starts";
        return Typed::Said(failure::message(text, None));
    }
    let named = typed("tenant");
    match Arguments::from_arg_matches(&matches) {
        Ok(Arguments { command, global }) => Typed::Command {
            command: Box::new(command),
            tenant: global.tenant.filter(|_| named),
            json: global.json,
        },
        Err(error) => Typed::Said(error.render().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(line: &str) -> Option<Vec<String>> {
        match read(line) {
            Typed::Command { command, .. } => match *command {
                Command::Remember(arguments) => Some(arguments.content),
                Command::Recall(arguments) => Some(arguments.query),
                _ => None,
            },
            _ => None,
        }
    }

    #[test]
    fn text_without_flags_is_taken_as_it_is() {
        assert_eq!(
            content("remember it's raining,  \"again\"").as_deref(),
            Some(&["it's raining,  \"again\"".to_owned()][..])
        );
        assert_eq!(content("recall 我喜欢什么茶？").as_deref(), Some(&["我喜欢什么茶？".to_owned()][..]));
        assert_eq!(
            content(r#"remember "two words" --pinned"#).as_deref(),
            Some(&["two words".to_owned()][..])
        );
        assert_eq!(content("recall tea --top 3").as_deref(), Some(&["tea".to_owned()][..]));
    }

    #[test]
    fn words_of_the_shell_itself() {
        assert!(matches!(read(""), Typed::Nothing));
        assert!(matches!(read(" quit "), Typed::Quit));
        assert!(matches!(read("use 用户 1"), Typed::Use(name) if name == "用户 1"));
        assert!(matches!(read(r#"{"verb":"ping"}"#), Typed::Json(_)));
        assert!(matches!(read("list --limit 3"), Typed::Command { json: false, .. }));
        assert!(matches!(read("list --json"), Typed::Command { json: true, .. }));
        assert!(matches!(read("fly"), Typed::Said(_)));
        assert!(matches!(read("remember 'open --pinned"), Typed::Said(_)));
        assert!(matches!(read("list --store /elsewhere"), Typed::Said(_)));
    }
}
