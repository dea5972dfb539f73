//! Our own regression dialogues: conversations in English and Chinese with labelled questions.
//!
//! The files are plain text that people can read and write; blank lines separate dialogues:
//!
//! ```text
//! dialogue en-a-01
//! zone +01:00
//! people Maya, Tom
//! session 2024-03-04T18:20
//! Maya: How was the concert?
//! Tom [band]: Loud! We saw the Velvet Foxes at the harbour.
//! ask fact 2024-09-01T09:00 Which band did Tom see?
//! evidence band
//! answer The Velvet Foxes
//! ```
//!
//! A label in brackets names a turn. `evidence` names the turns that answer, `outdated`
//! those that state what holds no longer and must not come before the evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use memcards::card::Role;
use memcards::{Duration, Remember, Timestamp};

use crate::Outcome;
use crate::evaluation::{Corpus, Question};

/// Where the dialogues of this project are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/dialogues")
}

/// Reads a file of dialogues, or every `.txt` file of a folder in order of their names.
///
/// # Errors
/// When a file cannot be read or has another layout; the error names file and line.
pub fn read(path: &Path) -> Outcome<Vec<Corpus>> {
    if !path.is_dir() {
        return parse(&std::fs::read_to_string(path)?).map_err(|e| format!("{}: {e}", path.display()).into());
    }
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "txt"));
    files.sort();
    let mut dialogues = Vec::new();
    for file in files {
        dialogues.extend(read(&file)?);
    }
    Ok(dialogues)
}

/// A dialogue while its lines come in.
#[derive(Default)]
struct Draft {
    name: String,
    zone: String,
    people: Vec<String>,
    session: Option<(String, Timestamp)>,
    turn: u32,
    labels: BTreeMap<String, usize>,
    cards: Vec<(String, Remember)>,
    last: Option<Timestamp>,
    asked: Vec<Asked>,
}

/// A question with the labels of its turns.
struct Asked {
    kind: String,
    at: Timestamp,
    text: String,
    evidence: Vec<String>,
    outdated: Vec<String>,
}

fn parse(text: &str) -> Result<Vec<Corpus>, String> {
    let mut found = Vec::new();
    let mut draft: Option<Draft> = None;
    for (number, line) in text.lines().enumerate() {
        let at_line = |problem: String| format!("line {}: {problem}", number + 1);
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix("dialogue ") {
            if let Some(done) = draft.take() {
                found.push(done.finish()?);
            }
            draft = Some(Draft { name: name.trim().to_owned(), zone: "+00:00".into(), ..Draft::default() });
            continue;
        }
        draft.as_mut().ok_or_else(|| at_line("no dialogue has begun".into()))?.line(line).map_err(at_line)?;
    }
    if let Some(done) = draft {
        found.push(done.finish()?);
    }
    Ok(found)
}

impl Draft {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "zone" => self.zone = rest.to_owned(),
            "people" => self.people = names(rest),
            "session" => {
                let at = self.time(rest)?;
                self.session = Some((rest.to_owned(), at));
                self.turn = 0;
                self.last = self.last.max(Some(at));
            }
            "ask" => {
                let mut parts = rest.splitn(3, ' ');
                let (Some(kind), Some(time), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
                    return Err("ask takes a kind, a time and a question".into());
                };
                let at = self.time(time)?;
                let (kind, text) = (kind.to_owned(), text.to_owned());
                self.asked.push(Asked { kind, at, text, evidence: vec![], outdated: vec![] });
            }
            "evidence" | "outdated" | "answer" => {
                let asked = self.asked.last_mut().ok_or("no question has been asked")?;
                match word {
                    "evidence" => asked.evidence = names(rest),
                    "outdated" => asked.outdated = names(rest),
                    _ => {}
                }
            }
            _ => self.say(line)?,
        }
        Ok(())
    }

    fn say(&mut self, line: &str) -> Result<(), String> {
        let (head, text) = line.split_once(": ").ok_or("a line that is no turn")?;
        let (speaker, label) = match head.split_once(" [") {
            Some((speaker, label)) => (speaker, Some(label.trim_end_matches(']'))),
            None => (head, None),
        };
        if !self.people.iter().any(|name| name == speaker) {
            return Err(format!("{speaker:?} is not one of the people"));
        }
        let (session, at) = self.session.clone().ok_or("no session has begun")?;
        self.turn += 1;
        if let Some(label) = label
            && self.labels.insert(label.to_owned(), self.cards.len()).is_some()
        {
            return Err(format!("label {label:?} is there twice"));
        }
        let role = if speaker == "assistant" { Role::Assistant } else { Role::User };
        // A name is only what was given as one.
        let named = !["user", "assistant"].contains(&speaker);
        let minutes = Duration::from_micros(i64::from(self.turn) * 60_000_000);
        self.cards.push((
            label.map_or_else(|| format!("{session}/{}", self.turn), str::to_owned),
            Remember {
                content: text.trim().to_owned(),
                session: Some(session),
                turn: Some(self.turn),
                role: Some(role),
                speaker: named.then(|| speaker.to_owned()),
                occurred_at: Some(at.plus(minutes)),
                ..Remember::default()
            },
        ));
        Ok(())
    }

    fn time(&self, text: &str) -> Result<Timestamp, String> {
        let whole = format!("{text}:00{}", self.zone);
        whole.parse().map_err(|error| format!("{text:?}: {error}"))
    }

    fn finish(self) -> Result<Corpus, String> {
        let Self { name, labels, cards, last, asked, .. } = self;
        let asked_at = asked.iter().map(|asked| asked.at).max().or(last).ok_or("an empty dialogue")?;
        let questions = asked
            .into_iter()
            .enumerate()
            .map(|(number, asked)| {
                let card = |label: &String| {
                    labels.get(label).copied().ok_or_else(|| format!("{name}: no turn is labelled {label:?}"))
                };
                let evidence: Vec<usize> = asked.evidence.iter().map(card).collect::<Result<_, _>>()?;
                let outdated = asked.outdated.iter().map(card).collect::<Result<_, _>>()?;
                if evidence.is_empty() {
                    return Err(format!("{name}: {:?} has no evidence", asked.text));
                }
                Ok(Question {
                    id: format!("{name}/{}", number + 1),
                    category: asked.kind,
                    text: asked.text,
                    evidence: evidence.into_iter().map(|card| BTreeSet::from([card])).collect(),
                    outdated,
                    ..Question::default()
                })
            })
            .collect::<Result<_, String>>()?;
        Ok(Corpus { name, cards, asked_at, questions })
    }
}

fn names(text: &str) -> Vec<String> {
    text.split([',', '，']).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "dialogue d-1\nzone +01:00\npeople Maya, Tom\nsession 2024-03-04T18:20\n\
        Maya: Hi: how was it?\nTom [band]: Loud!\nask fact 2024-09-01T09:00 Was it loud?\nevidence band\n\
        answer yes\n";

    #[test]
    fn a_dialogue_is_read() {
        let found = parse(TEXT).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].cards[0].1.content, "Hi: how was it?");
        assert_eq!(found[0].cards[1].1.occurred_at.unwrap().to_string(), "2024-03-04T17:22:00Z");
        assert_eq!(found[0].questions[0].evidence, [BTreeSet::from([1])]);
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_line() {
        for (from, to, expected) in [
            ("Tom [band]", "Ann [band]", "line 6: \"Ann\" is not one of the people"),
            ("evidence band", "evidence bund", "no turn is labelled \"bund\""),
            ("2024-03-04T18:20", "2024-13-04T18:20", "line 4"),
            ("evidence band\n", "", "has no evidence"),
        ] {
            let error = parse(&TEXT.replace(from, to)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_dialogues_of_the_project_can_be_read() {
        assert!(!read(&folder()).unwrap().is_empty());
    }
}
