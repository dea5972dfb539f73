//! The LongMemEval data set: for each question a history of sessions of a user with an
//! assistant, in which the turns that answer are labelled.
//!
//! Its three files (only the sessions with evidence; about 40 sessions; about 500) share one
//! layout: a list of instances. The largest has some gigabytes, so instances are read one by
//! one, and only one is held at a time. Every instance becomes a corpus of its own with one
//! question. Questions whose identifier ends in `_abs` have no answer in their history.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use memcards::card::{Limits, Role};
use memcards::{Remember, Timestamp};
use serde::Deserialize;

use crate::Outcome;
use crate::evaluation::{Corpus, Question};
use crate::files::FileError;

/// The end of the identifier of a question that its history does not answer.
const ABSTENTION: &str = "_abs";

#[derive(Deserialize)]
struct Instance {
    question_id: String,
    question_type: String,
    question: String,
    question_date: String,
    haystack_session_ids: Vec<String>,
    haystack_dates: Vec<String>,
    haystack_sessions: Vec<Vec<Turn>>,
    #[serde(default)]
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct Turn {
    role: String,
    content: String,
    #[serde(default)]
    has_answer: Option<bool>,
}

/// The instances of a file, one at a time.
pub struct Instances<R = File> {
    reader: BufReader<Counted<R>>,
    path: PathBuf,
    length: u64,
    share: Rc<Cell<f64>>,
    number: usize,
    done: bool,
}

/// Counts the bytes that are read.
struct Counted<R> {
    inner: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

/// Opens a LongMemEval file.
///
/// # Errors
/// When it cannot be opened.
pub fn read(path: &Path) -> Result<Instances, FileError> {
    let wrong = |error| FileError::new(path, error);
    let file = File::open(path).map_err(wrong)?;
    let length = file.metadata().map_err(wrong)?.len();
    Ok(Instances::new(file, length, path))
}

impl<R: Read> Instances<R> {
    fn new(inner: R, length: u64, path: &Path) -> Self {
        Self {
            reader: BufReader::with_capacity(1 << 20, Counted { inner, bytes: 0 }),
            path: path.to_path_buf(),
            length,
            share: Rc::default(),
            number: 0,
            done: false,
        }
    }

    /// The share of the file that has been read, kept up to date while instances are read.
    pub fn share(&self) -> Rc<Cell<f64>> {
        Rc::clone(&self.share)
    }

    /// The next byte that is not white space, which is taken.
    fn mark(&mut self) -> std::io::Result<Option<u8>> {
        loop {
            let Some(&byte) = self.reader.fill_buf()?.first() else { return Ok(None) };
            self.reader.consume(1);
            if !byte.is_ascii_whitespace() {
                return Ok(Some(byte));
            }
        }
    }

    /// The corpus of the next instance; `None` after the last.
    fn advance(&mut self) -> Outcome<Option<Corpus>> {
        let expected = if self.number == 0 { b'[' } else { b',' };
        match self.mark()? {
            Some(byte) if byte == expected => {}
            Some(b']') if self.number > 0 => {
                self.share.set(1.0);
                return Ok(None);
            }
            Some(byte) => {
                let (expected, found) = (char::from(expected), char::from(byte));
                return Err(format!("{expected:?} was expected, not {found:?}").into());
            }
            None => return Err("the file ends before its list does".into()),
        }
        // An object ends with its brace: nothing behind it is taken from the reader.
        let mut json = serde_json::Deserializer::from_reader(&mut self.reader);
        let instance = Instance::deserialize(&mut json)?;
        self.number += 1;
        let read = self.reader.get_ref().bytes.saturating_sub(self.reader.buffer().len() as u64);
        self.share.set(read as f64 / self.length.max(1) as f64);
        let id = instance.question_id.clone();
        corpus(instance).map(Some).map_err(|error| format!("{id}: {error}").into())
    }
}

impl<R: Read> Iterator for Instances<R> {
    type Item = Outcome<Corpus>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.advance();
        self.done = !matches!(next, Ok(Some(_)));
        let wrong = |error| FileError::new(&self.path, format!("after {} instances: {error}", self.number));
        next.map_err(|error| wrong(error).into()).transpose()
    }
}

fn corpus(instance: Instance) -> Outcome<Corpus> {
    let Instance { question_id, haystack_session_ids: ids, haystack_dates: dates, .. } = instance;
    let sessions = instance.haystack_sessions;
    if ids.len() != sessions.len() || dates.len() != sessions.len() {
        let counts = (sessions.len(), ids.len(), dates.len());
        return Err(format!("sessions, identifiers and dates differ in number: {counts:?}").into());
    }
    let dates: Vec<Timestamp> = dates.iter().map(|text| date(text)).collect::<Result<_, _>>()?;
    // Without their fillers, sessions do not come in the order of their dates.
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by_key(|at| dates[*at]);
    let mut sessions: Vec<Option<Vec<Turn>>> = sessions.into_iter().map(Some).collect();
    let mut names: HashMap<&str, BTreeSet<String>> = HashMap::new();
    let (mut cards, mut evidence) = (Vec::new(), Vec::new());
    for at in order {
        // A session that is there twice was held twice.
        let copies = names.entry(&ids[at]).or_default();
        let name = match copies.len() {
            0 => ids[at].clone(),
            count => format!("{}#{}", ids[at], count + 1),
        };
        copies.insert(name.clone());
        for (turn, said) in (1..).zip(sessions[at].take().unwrap_or_default()) {
            if said.content.chars().all(|c| c.is_whitespace() || c.is_control()) {
                continue;
            }
            if said.has_answer == Some(true) {
                evidence.push(BTreeSet::from([cards.len()]));
            }
            let role = Role::from_name(&said.role).ok_or_else(|| format!("a role {:?}", said.role))?;
            let request = Remember {
                content: cut(said.content, Limits::default().content_bytes),
                session: Some(name.clone()),
                turn: Some(turn),
                role: Some(role),
                occurred_at: Some(dates[at]),
                ..Remember::default()
            };
            cards.push((format!("{name}/{turn}"), request));
        }
    }
    let answered = !question_id.ends_with(ABSTENTION);
    let labelled: BTreeSet<&String> = instance.answer_session_ids.iter().filter(|_| answered).collect();
    let sessions = labelled.into_iter().map(|id| names.get(id.as_str()).cloned());
    let sessions = sessions.collect::<Option<Vec<_>>>().ok_or("an answer's session is not in the history")?;
    let question = Question {
        id: question_id.clone(),
        category: instance.question_type,
        text: instance.question,
        evidence: if answered { evidence } else { vec![] },
        sessions,
        outdated: BTreeSet::new(),
    };
    if answered && !question.is_answerable() {
        return Err("neither turns nor sessions are labelled".into());
    }
    let asked_at = date(&instance.question_date)?;
    Ok(Corpus { name: question_id, cards, asked_at, questions: vec![question] })
}

/// An instant written like `2023/05/30 (Tue) 23:40`, without a zone: taken as UTC.
fn date(text: &str) -> Result<Timestamp, String> {
    let wrong = || format!("{text:?} is no date like 2023/05/30 (Tue) 23:40");
    let (day, time) = text.trim().split_once(' ').ok_or_else(wrong)?;
    let time = time.rsplit(' ').next().unwrap_or(time);
    format!("{}T{time}:00Z", day.replace('/', "-")).parse().map_err(|_| wrong())
}

/// The text up to a limit in bytes, without parting a character.
fn cut(mut text: String, limit: usize) -> String {
    text.truncate(text.floor_char_boundary(limit));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Evaluator, Loaded};
    use crate::figures::Evaluation;

    /// Sessions in our own words, in the layout of the data set.
    fn sample() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data/longmemeval/sample.json")
    }

    fn parse(text: &str) -> Vec<Outcome<Corpus>> {
        Instances::new(text.as_bytes(), text.len() as u64, Path::new("given.json")).collect()
    }

    fn evaluate(corpora: Vec<Corpus>) -> Evaluation {
        let mut evaluator = Evaluator::new(None, 0.5).showing_missed();
        for corpus in corpora {
            evaluator.add(&Loaded::new(corpus, false).unwrap()).unwrap();
        }
        evaluator.finish()
    }

    #[test]
    fn instances_become_corpora() {
        let mut instances = read(&sample()).unwrap();
        let share = instances.share();
        let first = instances.next().unwrap().unwrap();
        assert!(share.get() > 0.0 && share.get() < 0.7, "{}", share.get());
        // The first session of the file is not the earliest.
        assert_eq!(first.cards[0].0, "filler_1/1");
        assert_eq!(first.cards[0].1.occurred_at.unwrap().to_string(), "2023-05-02T08:15:00Z");
        assert_eq!(first.asked_at.to_string(), "2023-05-30T23:40:00Z");
        let question = &first.questions[0];
        assert_eq!(question.category, "single-session-user");
        assert_eq!(question.evidence.len(), 1);
        assert_eq!(first.cards[*question.evidence[0].first().unwrap()].0, "answer_1/1");
        let rest: Vec<Corpus> = instances.collect::<Outcome<_>>().unwrap();
        assert_eq!(share.get(), 1.0);
        let unanswered: Vec<&str> =
            rest.iter().filter(|c| !c.questions[0].is_answerable()).map(|c| c.name.as_str()).collect();
        assert_eq!(unanswered, ["sample_3_abs"]);
    }

    #[test]
    fn blank_turns_are_left_out_and_sessions_held_twice_are_two() {
        let twice = read(&sample()).unwrap().map(Outcome::unwrap).find(|c| c.name == "sample_4").unwrap();
        let names: Vec<&str> = twice.cards.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["answer_4/1", "answer_4/3", "answer_4#2/1", "answer_4#2/3"]);
        // Either of the two answers.
        assert_eq!(twice.questions[0].sessions, [["answer_4".to_owned(), "answer_4#2".to_owned()].into()]);
        assert_eq!(twice.questions[0].evidence, Vec::<BTreeSet<usize>>::new());
    }

    #[test]
    fn turns_sessions_and_abstention_are_evaluated() {
        let corpora: Vec<Corpus> = read(&sample()).unwrap().collect::<Outcome<_>>().unwrap();
        let count = corpora.len();
        let found = evaluate(corpora);
        assert_eq!(found.corpus_count, count);
        assert_eq!((found.total.questions, found.total.turn_questions), (3, 2));
        assert_eq!(found.total.session_questions, 3);
        assert_eq!(found.total.all_sessions[3], 1.0);
        assert_eq!(found.total.recall[3], 1.0);
        assert_eq!(found.categories.len(), 3);
        // One question each: the corpora say nothing that the questions do not.
        assert!(found.corpora.is_empty());
        let abstention = found.abstention.unwrap();
        assert_eq!(abstention.unanswerable.questions, 1);
        assert_eq!(abstention.answerable.questions, 3);
        assert_eq!(abstention.categories["single-session-user"].questions, 1);
        assert!(abstention.unanswerable.mean < abstention.answerable.mean);
    }

    #[test]
    fn what_is_wrong_is_said_with_the_file_and_the_instance() {
        let whole = std::fs::read_to_string(sample()).unwrap();
        let without = |from: &str, to: &str| {
            let changed = whole.replacen(from, to, 1);
            assert_ne!(changed, whole);
            changed
        };
        for (text, expected) in [
            (whole[..whole.len() / 2].to_owned(), "EOF while parsing"),
            (without("2023/05/30 (Tue) 23:40", "yesterday"), "sample_1: \"yesterday\" is no date like"),
            (without("\"filler_1\"", "\"filler_1\", \"more\""), "differ in number: (2, 3, 2)"),
            (without("\"role\": \"user\"", "\"role\": \"pirate\""), "sample_1: a role \"pirate\""),
            (whole.trim_end().trim_end_matches(']').to_owned(), "the file ends before its list does"),
            ("{}".to_owned(), "'[' was expected, not '{'"),
            (String::new(), "the file ends before its list does"),
        ] {
            let found = parse(&text);
            let error = found.into_iter().find_map(Result::err).unwrap().to_string();
            assert!(error.starts_with("given.json: after ") && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn an_error_ends_the_file() {
        assert_eq!(parse("[{}, {}]").len(), 1);
        assert_eq!(parse("[ ]").len(), 1, "an empty list is no data set");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("añb".into(), 2), "a");
        assert_eq!(cut("añb".into(), 9), "añb");
    }
}
