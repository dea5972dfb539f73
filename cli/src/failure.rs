//! What can go wrong on the command line, as a message, a hint and an exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use memcards::Error;
use memcards::verbs::error_answer;
use serde_json::json;

use crate::render::style;

/// Exit codes, as documented in `memcards --help` and tested.
pub(crate) const EXIT_CODES: &str = "Exit codes:
  0  done
  1  internal error, or the store is unavailable, read-only or corrupt
  2  usage: an argument or a value is not allowed or too large
  3  not found: no such card, tenant or store
  4  conflict: the store is not in the state that the request expects
  5  locked by another process, or busy
  6  verify found damage, or bytes that were erased";

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The engine refused, or could not.
    Engine(Error),
    /// The answer is on standard output already, and says this code.
    Answered(String),
    /// `verify` found damage, `export` left some out, or `wipe` left bytes behind; the report is printed.
    Damage,
    /// Standard output could not be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The exit code that stands for an error code of the engine.
fn exit_code(code: &str) -> u8 {
    match code {
        "invalid_argument" | "too_large" | "limit_exceeded" => 2,
        "not_found" => 3,
        "conflict" | "model_mismatch" => 4,
        "locked" | "busy" => 5,
        "corrupt" => 6,
        _ => 1,
    }
}

impl Failure {
    /// Tells the user, and gives the exit code.
    pub(crate) fn report(&self, json: bool, out: &mut dyn Write) -> ExitCode {
        let code = match self {
            // Whoever read the output has seen enough.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Output(error) => {
                anstream::eprintln!("{}", message(&format!("standard output: {error}"), None));
                1
            }
            Self::Damage => 6,
            Self::Answered(code) => exit_code(code),
            Self::Engine(error) => {
                if json {
                    // Nothing can be said about an output that cannot be written.
                    let _ = writeln!(out, "{}", error_answer(error));
                } else {
                    anstream::eprintln!("{}", message(&error.to_string(), hint(error).as_deref()));
                }
                exit_code(error.code())
            }
        };
        let _ = out.flush();
        ExitCode::from(code)
    }
}

/// `error: …` and, on a line of its own, what helps.
pub(crate) fn message(text: &str, hint: Option<&str>) -> String {
    let (bad, dim) = (style::BAD, style::DIM);
    let mut lines = format!("{bad}error:{bad:#} {}", crate::render::printable(text));
    if let Some(hint) = hint {
        lines.push_str(&format!("\n{dim}hint:{dim:#} {hint}"));
    }
    lines
}

/// What the user can do about an error, where that is not in the message.
pub(crate) fn hint(error: &Error) -> Option<String> {
    let text = match error {
        Error::NotFound { what } if what.starts_with("a store") => {
            "choose a store with --store DIR or MEMCARDS_STORE, or make one: memcards remember \"…\""
        }
        Error::NotFound { what } if what.starts_with("card") => {
            "`memcards list` shows the cards of a tenant; --tenant NAME chooses the tenant"
        }
        Error::NotFound { what } if what.starts_with("plan-") || what.starts_with("run-") => {
            "`memcards plans` lists plans and runs; --tenant NAME chooses the tenant"
        }
        Error::Conflict { message } if message.starts_with("plan-") => {
            "`memcards plan show PLAN` shows a plan again, `memcards plan` makes a new one"
        }
        Error::Erased { id, .. } => return Some(format!("`memcards restore {id}` lets them in again")),
        Error::Wiped { .. } => "what is told without a time, or of a later one, is remembered",
        Error::Conflict { .. } => "read the card again (`memcards get ID`) and repeat what still holds",
        Error::InvalidArgument { field, .. } if field.starts_with("filter") => {
            r#"a filter looks like '{"field":"category","eq":"preference"}'; see `memcards list --help`"#
        }
        Error::InvalidArgument { field, .. } if field == "from" => {
            "--format says what the file is: memcards (an export), chat or locomo"
        }
        Error::Locked { .. } => "end that process or wait for it, then try again",
        Error::ModelMismatch { .. } => "open it with the --model it was made with",
        Error::Busy { .. } => "nothing was written; try again",
        Error::Corrupt { .. } => "`memcards verify` lists everything that is damaged",
        _ => return None,
    };
    Some(text.to_owned())
}

/// Tells what clap has to say: help on standard output, mistakes as an error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().take_while(|argument| argument != "--").any(|a| a == "--json");
    if error.use_stderr() && wants_json {
        let text = error.render().to_string();
        let text = text.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default().to_owned();
        let field = match error.get(clap::error::ContextKind::InvalidArg) {
            Some(clap::error::ContextValue::String(name)) => field_name(name),
            _ => None,
        };
        let answer = json!({"ok": false, "error": {
            "code": "invalid_argument", "message": text, "field": field.unwrap_or("arguments".into()),
        }});
        // Nothing can be said about an output that cannot be written.
        let _ = writeln!(io::stdout(), "{answer}");
        return ExitCode::from(2);
    }
    // A reader that is gone is no mistake of the user.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

/// `--min-score <MIN_SCORE>` is the field `min_score`.
fn field_name(flag: &str) -> Option<String> {
    let name = flag.strip_prefix("--")?.split(' ').next()?;
    Some(name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_code_has_its_exit_code() {
        for (code, exit) in [
            ("invalid_argument", 2),
            ("too_large", 2),
            ("limit_exceeded", 2),
            ("not_found", 3),
            ("conflict", 4),
            ("model_mismatch", 4),
            ("busy", 5),
            ("locked", 5),
            ("read_only", 1),
            ("corrupt", 6),
            ("unavailable", 1),
            ("internal", 1),
        ] {
            assert_eq!(exit_code(code), exit, "{code}");
        }
    }

    #[test]
    fn flags_lead_back_to_fields() {
        assert_eq!(field_name("--min-score <SCORE>").as_deref(), Some("min_score"));
        assert_eq!(field_name("<ID>"), None);
    }
}
