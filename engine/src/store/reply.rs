//! A place for one answer that somebody waits for.
//!
//! A channel would spin and yield before it sleeps. With many callers waiting for one
//! commit that costs the writer's thread the processor it needs; here they sleep at once.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

#[derive(Debug)]
enum State<T> {
    Open,
    Answered(T),
    Abandoned,
}

#[derive(Debug)]
struct Place<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

/// The side that answers; dropping it unused tells the waiting side that nobody will.
#[derive(Debug)]
pub(super) struct Reply<T>(Arc<Place<T>>);

/// The side that waits.
#[derive(Debug)]
pub(super) struct Waiting<T>(Arc<Place<T>>);

/// Both sides of a place for one answer.
pub(super) fn reply<T>() -> (Reply<T>, Waiting<T>) {
    let place = Arc::new(Place { state: Mutex::new(State::Open), changed: Condvar::new() });
    (Reply(place.clone()), Waiting(place))
}

impl<T> Reply<T> {
    /// Answers.
    pub(super) fn send(self, answer: T) {
        *self.0.state.lock() = State::Answered(answer);
        // Dropping this side wakes the other.
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        if matches!(*state, State::Open) {
            *state = State::Abandoned;
        }
        drop(state);
        self.0.changed.notify_one();
    }
}

impl<T> Waiting<T> {
    /// Waits for the answer; `None` when there will be none.
    pub(super) fn receive(self) -> Option<T> {
        let mut state = self.0.state.lock();
        loop {
            match std::mem::replace(&mut *state, State::Abandoned) {
                State::Answered(answer) => return Some(answer),
                State::Abandoned => return None,
                State::Open => {
                    *state = State::Open;
                    self.0.changed.wait(&mut state);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_arrives_before_and_after_the_wait_begins() {
        for late in [false, true] {
            let (sender, waiting) = reply();
            let thread = std::thread::spawn(move || {
                if late {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                sender.send(7);
            });
            assert_eq!(waiting.receive(), Some(7));
            thread.join().expect("ends");
        }
    }

    #[test]
    fn a_dropped_reply_ends_the_wait() {
        let (sender, waiting) = reply::<u8>();
        drop(sender);
        assert_eq!(waiting.receive(), None);
    }

    #[test]
    fn nobody_need_wait() {
        let (sender, waiting) = reply();
        drop(waiting);
        sender.send(1);
    }
}
