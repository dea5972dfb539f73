//! `shell`: a prompt for people, JSON Lines for programs.

mod lines;
mod prompt;

use std::io::{IsTerminal, Write};

use memcards::Timestamp;

use crate::arguments::Global;
use crate::failure::Failure;
use crate::store;

/// Runs the shell until its input ends.
pub(crate) fn run(global: &Global, scheduler: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let mut door = store::open_at(global, true, Timestamp::default(), scheduler)?;
    if std::io::stdin().is_terminal() && !door.json {
        prompt::run(&mut door, out)
    } else {
        lines::run(&door, &mut std::io::stdin().lock(), out)
    }
}
