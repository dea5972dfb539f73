//! What went wrong, in words, for a report.

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

/// Result of a check.
pub type Checked<T = ()> = Result<T, Failure>;

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<memcards::Error> for Failure {
    fn from(error: memcards::Error) -> Self {
        Self(format!("{} ({error})", error.code()))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

impl Failure {
    /// Says what was being done.
    #[must_use]
    pub fn at(self, what: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {}", self.0))
    }
}

/// Fails with a text unless something holds.
pub fn ensure(holds: bool, what: impl FnOnce() -> String) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(Failure(what())),
    }
}

/// Runs a check in which a panic is a failure like any other.
pub fn caught<T>(work: impl FnOnce() -> Checked<T>) -> Checked<T> {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    caught.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a text");
        Err(Failure(format!("panic: {text}{}", places())))
    })
}

/// As [`caught`]; not coming to an end is a failure as well. What hangs is left to itself.
pub fn within<T: Send + 'static>(
    limit: std::time::Duration,
    work: impl FnOnce() -> Checked<T> + Send + 'static,
) -> Checked<T> {
    let (done, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // Nobody waits any more when it is too late.
        let _ = done.send(caught(work));
    });
    end.recv_timeout(limit).unwrap_or_else(|_| Err(Failure(format!("no end after {} s", limit.as_secs()))))
}

std::thread_local! {
    static PLACE: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

fn places() -> String {
    PLACE.with(|place| std::mem::take(&mut *place.borrow_mut()))
}

/// Keeps panics from being printed, which are counted as failures; their place is told there.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |at| {
            let file = at.file();
            let short = file.rsplit_once("/src/").map_or(file, |(left, _)| {
                let start = left.rfind('/').map_or(0, |at| at + 1);
                &file[start..]
            });
            format!(" at {short}:{}", at.line())
        });
        PLACE.with(|kept| *kept.borrow_mut() = place);
    }));
}
