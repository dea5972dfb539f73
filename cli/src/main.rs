//! The `memcards` command line.
//!
//! A thin way in: commands build the engine's own requests, call it, and show its answers.
//! Field names, defaults and limits are the engine's; nothing is decided here.

mod arguments;
mod commands;
mod demo;
mod failure;
mod progress;
mod render;
mod shell;
mod store;
mod words;

use std::io::{BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches};

use arguments::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    let arguments = match parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::usage(&error),
    };
    // A program that talks to the shell reads JSON Lines, errors of opening included.
    let scripted = matches!(arguments.command, Command::Shell(_)) && !std::io::stdin().is_terminal();
    let json = arguments.global.json || scripted;
    let mut out = BufWriter::new(anstream::stdout());
    let result = run(arguments, &mut out).and_then(|()| out.flush().map_err(Failure::from));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(json, &mut out),
    }
}

fn parse() -> Result<Arguments, clap::Error> {
    let matches = Arguments::command().try_get_matches()?;
    let mut arguments = Arguments::from_arg_matches(&matches)?;
    if matches!(arguments.command, Command::Demo(_)) {
        // The store of everyday use, which the environment names, is no place for a demo.
        let typed = |flag: &str| matches.value_source(flag) == Some(ValueSource::CommandLine);
        arguments.global.store.take_if(|_| !typed("store"));
        arguments.global.tenant.take_if(|_| !typed("tenant"));
    }
    Ok(arguments)
}

fn run(arguments: Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let Arguments { global, command } = arguments;
    match command {
        Command::Completions(arguments) => commands::admin::completions(&arguments, out),
        Command::Demo(_) => demo::run(&global, out),
        Command::Shell(arguments) => shell::run(&global, arguments.scheduler, out),
        Command::Policy(arguments) if arguments.is_about_presets() => {
            commands::policy::presets(&arguments, global.json, out)
        }
        command => {
            let door = store::open(&global, command.creates())?;
            commands::run(command, &door, out)
        }
    }
}
