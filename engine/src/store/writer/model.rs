//! Group commit under the model checker: callers and the writer's own thread in every order of
//! their steps, up to a number of preemptions. See [`crate::sync`].

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use loom::thread;

use super::WriterBounds;
use super::group::{Answer, Failure, GroupCommit, Transaction};
use crate::sync::{Arc, Mutex, check};
use crate::{Error, Result};

/// What happens to a group.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Committed,
    /// A job fails half way: what stands in its group is given up.
    GivenUp,
    /// The first commit fails.
    Fails,
}

/// Commits numbers to a list, which is what can be read.
struct Numbers {
    fate: Fate,
    committed: Mutex<Vec<u32>>,
    commits: AtomicUsize,
    most: usize,
}

type Place = Arc<Mutex<Option<std::result::Result<(), &'static str>>>>;

impl Transaction for Numbers {
    type Job = (u32, Place);

    fn run(&self, jobs: Vec<Self::Job>, answers: &mut Vec<Answer>) -> Result<Option<Failure>> {
        assert!(!jobs.is_empty() && jobs.len() <= self.most);
        let numbers: Vec<u32> = jobs.iter().map(|(number, _)| *number).collect();
        for (_, place) in jobs {
            answers.push(Box::new(move |failure| {
                let answer = match failure {
                    None => Ok(()),
                    Some(Failure::GivenUp(_)) => Err("given up"),
                    Some(Failure::Lasting(_)) => Err("lasting"),
                };
                let before = place.lock().replace(answer);
                assert!(before.is_none(), "answered once");
            }));
        }
        let first = self.commits.fetch_add(1, Relaxed) == 0;
        match self.fate {
            Fate::Fails if first => Err(Error::Internal("of the model".into())),
            Fate::GivenUp if numbers.contains(&0) => Ok(Some(Failure::GivenUp("half way".into()))),
            _ => {
                self.committed.lock().extend(numbers);
                Ok(None)
            }
        }
    }

    fn failed(&self, error: Error) -> String {
        error.to_string()
    }
}

type Groups = GroupCommit<Numbers>;

/// Writes a number; what was acknowledged is there, what was refused is not.
fn write(groups: &Groups, numbers: &Numbers, number: u32) -> std::result::Result<(), &'static str> {
    let place = Place::default();
    let put = groups.put((number, place.clone()));
    let answer = match put {
        // Jobs that were left alone since an earlier commit had failed have no answer.
        Ok(()) => place.lock().take().unwrap_or(Err("refused")),
        Err(Error::ReadOnly { .. }) => Err("refused"),
        Err(Error::Busy { .. }) => Err("busy"),
        Err(error) => panic!("{error}"),
    };
    let there = numbers.committed.lock().iter().filter(|found| **found == number).count();
    assert_eq!(there, usize::from(answer.is_ok()), "{answer:?}");
    answer
}

/// Two callers with so many writes each, and the writer's own thread.
fn run(
    fate: Fate,
    (queue, batch): (usize, usize),
    writes: [u32; 2],
) -> [Vec<std::result::Result<(), &'static str>>; 2] {
    let numbers = Numbers { fate, committed: Mutex::default(), commits: AtomicUsize::new(0), most: batch };
    let groups = Arc::new(Groups::new(numbers, WriterBounds { queue, batch }));
    let own = groups.clone();
    let own = thread::spawn(move || own.forever());
    let call = |groups: Arc<Groups>, from: u32, writes: u32| {
        (from..from + writes).map(|number| write(&groups, groups.transaction(), number)).collect::<Vec<_>>()
    };
    let other = groups.clone();
    let other = thread::spawn(move || call(other, 10, writes[1]));
    let here = call(groups.clone(), 0, writes[0]);
    let there = other.join().unwrap();
    groups.close();
    own.join().unwrap();
    if fate == Fate::Fails {
        assert!(groups.failure().is_some() && groups.transaction().committed.lock().is_empty());
        assert_eq!(groups.transaction().commits.load(Relaxed), 1, "nothing is begun after a failed commit");
    } else {
        assert!(groups.failure().is_none());
    }
    [here, there]
}

#[test]
fn every_caller_is_answered_after_its_commit() {
    check("two callers in one group or two", || {
        let answers = run(Fate::Committed, (8, 8), [2, 1]);
        assert!(answers.iter().flatten().all(|answer| answer.is_ok()));
    });
}

#[test]
fn groups_have_bounds() {
    check("groups of one", || {
        let answers = run(Fate::Committed, (8, 1), [1, 2]);
        assert!(answers.iter().flatten().all(|answer| answer.is_ok()));
    });
}

#[test]
fn a_full_queue_answers_at_once() {
    check("a queue of one", || {
        let answers = run(Fate::Committed, (1, 1), [1, 1]);
        assert!(answers.iter().flatten().all(|answer| matches!(answer, Ok(()) | Err("busy"))));
        assert!(answers.iter().flatten().any(|answer| answer.is_ok()));
    });
}

#[test]
fn after_a_failed_commit_all_is_refused() {
    check("a failed commit", || {
        let answers = run(Fate::Fails, (8, 8), [2, 1]);
        assert!(answers.iter().flatten().all(|answer| matches!(answer, Err("lasting" | "refused"))));
        assert!(answers.iter().flatten().any(|answer| *answer == Err("lasting")));
    });
}

#[test]
fn a_group_that_is_given_up_concerns_no_later_one() {
    check("a group given up", || {
        let [here, there] = run(Fate::GivenUp, (8, 8), [2, 1]);
        assert_eq!(here, [Err("given up"), Ok(())]);
        assert!(matches!(there[..], [Ok(()) | Err("given up")]));
    });
}
