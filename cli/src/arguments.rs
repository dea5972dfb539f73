//! The grammar of the command line: global flags, commands, and how values are read.
//!
//! Flags of a command are the fields of the engine's request with dashes.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use memcards::Timestamp;
use memcards::card::{CardId, Link, LinkKind};
use serde::de::DeserializeOwned;

use crate::commands::{
    admin, aging, change, exchange, forgetting, policy, read, recall, relations, remember,
};
use crate::failure::EXIT_CODES;

/// memcards: a memory for agents and people, on this machine and offline.
#[derive(Parser)]
#[command(name = "memcards", bin_name = "memcards", version, after_help = EXIT_CODES)]
#[command(max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Args, Clone)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Directory of the store [default: `memcards` in the platform's data folder]
    #[arg(long, global = true, value_name = "DIR", env = "MEMCARDS_STORE", hide_env_values = true)]
    pub(crate) store: Option<PathBuf>,
    /// Whose memories [default: the tenant `default`; where noted, all tenants]
    #[arg(long, global = true, value_name = "NAME", env = "MEMCARDS_TENANT", hide_env_values = true)]
    pub(crate) tenant: Option<String>,
    /// Print exactly one JSON value
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Where the present comes from
    #[arg(long, global = true, value_enum, default_value_t = ClockKind::System, hide_possible_values = true)]
    #[arg(value_name = "system|manual")]
    pub(crate) clock: ClockKind,
    /// The present (RFC 3339), with `--clock manual` only
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) now: Option<Timestamp>,
    /// What turns text into vectors
    #[arg(long, global = true, value_enum, default_value_t = ModelKind::Builtin, hide_possible_values = true)]
    #[arg(value_name = "builtin|none")]
    pub(crate) model: ModelKind,
    /// Turn text into vectors with the sentence encoder in this folder
    #[arg(long, global = true, value_name = "FOLDER", env = "MEMCARDS_ENCODER", hide_env_values = true)]
    #[arg(conflicts_with = "embedder_url")]
    pub(crate) encoder: Option<PathBuf>,
    /// Turn text into vectors with a service that has an OpenAI-compatible /v1/embeddings
    #[arg(long, global = true, value_name = "URL", env = "MEMCARDS_EMBEDDER_URL", hide_env_values = true)]
    #[arg(requires = "embedder_model")]
    pub(crate) embedder_url: Option<String>,
    /// The service's name of the model
    #[arg(long, global = true, value_name = "NAME", env = "MEMCARDS_EMBEDDER_MODEL", hide_env_values = true)]
    pub(crate) embedder_model: Option<String>,
    /// Numbers per vector of the service's model [default: the service is asked]
    #[arg(long, global = true, value_name = "NUMBER")]
    pub(crate) embedder_dimensions: Option<usize>,
    /// Key of the service; best given in the environment
    #[arg(long, global = true, value_name = "KEY", env = "MEMCARDS_EMBEDDER_KEY", hide_env_values = true)]
    pub(crate) embedder_key: Option<String>,
    /// Let the model take the place of the one that the store was made with; `reembed` then
    /// makes all vectors anew
    #[arg(long, global = true)]
    pub(crate) replace_model: bool,
}

/// Where the present comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockKind {
    /// The machine's clock.
    System,
    /// What `--now` or the request says.
    Manual,
}

/// What turns text into vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelKind {
    /// The built-in multilingual model.
    Builtin,
    /// Nothing: only words are searched.
    None,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// See what memcards does, in two seconds, on a bundled conversation
    #[command(after_help = example!("memcards demo", "memcards demo --store ./studio"))]
    Demo(NoArguments),
    /// Store one memory
    Remember(Box<remember::RememberArguments>),
    /// Find the memories that answer a question
    Recall(Box<recall::RecallArguments>),
    /// Show one card whole
    Get(read::GetArguments),
    /// Show cards, page by page
    List(read::ListArguments),
    /// Count cards
    Count(read::CountArguments),
    /// Put a card right; its history is kept
    Correct(Box<change::CorrectArguments>),
    /// Soft-delete cards; `restore` brings them back
    Forget(change::ForgetArguments),
    /// Bring forgotten cards back
    Restore(change::RestoreArguments),
    /// Say which recalled cards were of use and which were wrong
    Feedback(forgetting::FeedbackArguments),
    /// Find out what the rules would forget, with reasons; changes no card
    Plan(Box<forgetting::PlanArguments>),
    /// List plans and runs
    Plans(forgetting::PlansArguments),
    /// Carry out exactly what a plan says
    Apply(forgetting::ApplyArguments),
    /// Take back what a run has done
    Undo(forgetting::UndoArguments),
    /// Say what happens to cards by themselves; of the store unless --tenant names one
    Policy(policy::PolicyArguments),
    /// Play a policy over the cards there are, day by day; changes nothing
    Simulate(aging::SimulateArguments),
    /// Count cards by state and age; of all tenants unless --tenant names one
    #[command(after_help = example!("memcards tiers", "memcards tiers --tenant anna"))]
    Tiers(NoArguments),
    /// Show who changed a card when, why and how
    History(read::HistoryArguments),
    /// Say how one thing relates to another
    Relate(relations::RelateArguments),
    /// Show what is known of a thing: attributes, relations, cards
    Entity(relations::EntityArguments),
    /// Find what a thing is connected with, over several relations
    Walk(relations::WalkArguments),
    /// Read memories or conversations from a file
    Import(exchange::ImportArguments),
    /// Write everything as JSON Lines; all tenants unless --tenant names one
    Export(exchange::ExportArguments),
    /// Give every card a vector of the present model; all tenants unless --tenant names one
    #[command(after_help = example!("memcards reembed", "memcards reembed --encoder ./e5-small --replace-model"))]
    Reembed(NoArguments),
    /// Carry out what is due by the policies that were set; once, or again and again
    Maintain(forgetting::MaintainArguments),
    /// Show who changed what, the latest first: runs of the store or, with --tenant, a tenant's changes
    Audit(admin::AuditArguments),
    /// Write the store file anew, smaller and without erased bytes
    #[command(after_help = example!("memcards compact"))]
    Compact(NoArguments),
    /// Remove a tenant with every byte of it, and prove it; there is no undo
    Wipe(aging::WipeArguments),
    /// Copy the store into a new directory while it stays in use
    Backup(admin::BackupArguments),
    /// Read everything and check every checksum; changes nothing
    Verify(admin::VerifyArguments),
    /// Make damaged indexes anew, and the store file where nothing in it is lost; the damaged file is kept
    #[command(after_help = example!("memcards repair"))]
    Repair(NoArguments),
    /// Show figures of the store or, with --tenant, of a tenant
    #[command(after_help = example!("memcards stats", "memcards stats --tenant anna --json"))]
    Stats(NoArguments),
    /// Show every tenant of the store
    #[command(after_help = example!("memcards tenants"))]
    Tenants(NoArguments),
    /// Type commands, or answer JSON Lines from standard input
    #[command(long_about = SHELL, after_help = example!(
        r#"echo '{"verb":"recall","query":"tea"}' | memcards shell"#,
        "memcards shell --store ./studio --scheduler"
    ))]
    Shell(ShellArguments),
    /// Print a completion script for a shell
    Completions(admin::CompletionsArguments),
}

const SHELL: &str = "Type commands, or answer JSON Lines from standard input

On a terminal: a prompt that takes the commands of this program without its name, and \
requests in JSON. Otherwise each line of standard input is a request such as \
{\"verb\":\"remember\",\"tenant\":\"anna\",\"content\":\"…\"} and is answered by one line, \
{\"ok\":true,…} or {\"ok\":false,\"error\":{\"code\",\"message\",\"field\"}}, in order. Requests \
without a tenant are about --tenant. A request that is refused does not end the shell. With \
--clock manual a request may carry `now`; the clock starts at --now, or 1970.";

impl Command {
    /// True for commands that make the store when there is none.
    pub(crate) fn creates(&self) -> bool {
        matches!(self, Self::Remember(_) | Self::Relate(_) | Self::Import(_) | Self::Demo(_) | Self::Shell(_))
    }
}

#[derive(Args)]
pub(crate) struct ShellArguments {
    /// Meanwhile carry out what is due by the policies that were set
    #[arg(long)]
    pub(crate) scheduler: bool,
}

/// A command without flags of its own.
#[derive(Args)]
pub(crate) struct NoArguments {}

/// The help lines that show examples; a test parses every one of them.
macro_rules! example {
    ($($line:literal),+) => { concat!("Example:", $("\n  ", $line),+) };
}
pub(crate) use example;

/// A value given as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromStr for Json<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map(Self).map_err(|error| error.to_string())
    }
}

/// Reads one of the engine's names (`semantic`, `excluded`, …).
macro_rules! names {
    ($kind:ty) => {
        clap::builder::TypedValueParser::map(
            clap::builder::PossibleValuesParser::new(<$kind>::ALL.iter().map(|kind| kind.name())),
            |name| <$kind>::from_name(&name).unwrap_or(<$kind>::ALL[0]),
        )
    };
}
pub(crate) use names;

/// Reads one of the names that `T` has in JSON.
pub(crate) fn json_names<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(serde_json::Value::String(name)))
}

/// Reads `KIND:ID`.
pub(crate) fn link(text: &str) -> Result<Link, String> {
    let kinds = || LinkKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    let (kind, id) = text.split_once(':').ok_or("a link is KIND:ID, such as related:0a1b…")?;
    let kind = LinkKind::from_name(kind).ok_or_else(|| format!("{kind:?} is not one of {}", kinds()))?;
    Ok(Link { to: id.parse::<CardId>().map_err(|error| error.to_string())?, kind })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::words;

    #[test]
    fn the_grammar_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example_and_each_parses() {
        for command in Arguments::command().get_subcommands() {
            let name = command.get_name();
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  ")).collect();
            assert!(!examples.is_empty(), "{name} has no example");
            for line in examples {
                let words = words::split(line).expect(line);
                let start = words.iter().position(|word| word == "memcards").expect(line);
                let words = words[start..].iter().take_while(|word| !["|", ">"].contains(&word.as_str()));
                let parsed = Arguments::try_parse_from(words).map_err(|error| error.to_string());
                assert!(parsed.is_ok(), "{line}: {}", parsed.err().unwrap_or_default());
                assert!(line.contains(&format!("memcards {name}")), "{line} is not about {name}");
            }
        }
    }

    #[test]
    fn every_flag_has_help() {
        for command in Arguments::command().get_subcommands() {
            for argument in command.get_arguments() {
                let named = format!("{} {}", command.get_name(), argument.get_id());
                assert!(argument.get_help().is_some(), "{named}");
            }
        }
    }
}
