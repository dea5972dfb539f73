//! Colours. They only reach a terminal: the output strips them elsewhere.

use anstyle::{AnsiColor, Effects, Style};

/// Headings.
pub(crate) const HEADING: Style = AnsiColor::Cyan.on_default().effects(Effects::BOLD);
/// What matters most in a line.
pub(crate) const STRONG: Style = Style::new().effects(Effects::BOLD);
/// What is there for whoever looks for it.
pub(crate) const DIM: Style = Style::new().effects(Effects::DIMMED);
/// Done, sound, adds to a score.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Left out or done with less.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// Wrong, damaged, takes from a score.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
