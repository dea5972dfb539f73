//! Progress of long work, on standard error, for people only.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows how far something is; nothing unless a person looks on.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Starts to show; `total` is the number of steps, where it is known.
    pub(crate) fn start(visible: bool, what: &str, total: Option<u64>) -> Self {
        if !visible || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let (bar, template) = match total {
            Some(total) => (ProgressBar::new(total), "{msg} {bar:30} {human_pos}/{human_len} {eta}"),
            None => (ProgressBar::new_spinner(), "{spinner} {msg} {human_pos}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// So many steps are done.
    pub(crate) fn at(&self, done: u64) {
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
