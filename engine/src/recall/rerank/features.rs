//! What is known of a candidate in view of the question, as numbers.

use crate::graph::{Aim, ContentShape, Ordering, Shape, Wants};
use crate::index::text::{NO_ROW, Postings, Role};
use crate::recall::evidence::session_of;
use crate::recall::fuse::Scorer;

/// Declares the features in their order, with the names that reports use.
macro_rules! features {
    ($($(#[doc = $doc:literal])* $name:ident),+ $(,)?) => {
        /// Names of the features, in their order.
        pub const FEATURES: [&str; [$(stringify!($name)),+].len()] = [$(stringify!($name)),+];

        /// The features by name, before they become an array.
        #[derive(Default)]
        struct Named { $($(#[doc = $doc])* $name: f32),+ }

        impl Named {
            fn array(&self) -> Features {
                [$(self.$name),+]
            }
        }
    };
}

/// The features of one candidate, in the order of [`FEATURES`].
pub type Features = [f32; FEATURES.len()];

features! {
    /// Evidence as `fuse` sums it up, and its share of the best candidate's.
    evidence,
    evidence_share,
    /// Logarithm of the rank by evidence.
    rank,
    /// How far the evidence is above the next and below the one before.
    gap_below,
    gap_above,
    /// Legs of the card, and their shares of the best.
    keywords,
    keywords_share,
    context,
    context_share,
    meaning,
    meaning_share,
    coverage,
    /// Share of the question's words, rare ones counting more, in the card; in the card or
    /// the turn before; and how many there are. 1 when the rarest is there.
    words_share,
    words_share_before,
    words_count,
    rarest_word,
    rarest_word_before,
    /// Logarithms of the ranks by one leg.
    keywords_rank,
    meaning_rank,
    /// Evidence of the card itself, without what is lent.
    own,
    own_share,
    /// Evidence of the turns before and after, and of the session's best.
    before,
    after,
    before_meaning,
    after_meaning,
    session,
    session_share,
    /// The date that the question names.
    dated,
    identifiers,
    /// 1 for words of the speaker the question names, -1 for those of another.
    speaker,
    /// 1 when the question names a speaker.
    names_somebody,
    assistant,
    asks_assistant,
    /// 1 when the card, the turn before it, or the turn after it asks something.
    asks,
    after_question,
    before_question,
    /// Logarithms of the lengths of the card, and of the turns around it, in characters.
    length,
    length_before,
    /// Number of terms of the question.
    terms,
    /// Turns before it and after it in its session, up to eight.
    from_start,
    to_end,
    /// Candidates of the same session among the best ten.
    company,
    /// Share of the asked-for concepts; 1 when the question asks for some.
    concepts,
    asks_concepts,
    /// 1 when the card holds what the question wants (a date for "when"), -1 when it does not.
    fits,
    fits_after,
    /// What the question wants, 1 or 0 each.
    wants_time,
    wants_duration,
    wants_place,
    wants_person,
    wants_number,
    wants_reason,
    wants_manner,
    wants_list,
    wants_yes_no,
    asks_first,
    asks_last,
    aims_prefer,
    aims_happened,
    /// What the card holds, 1 or 0 each.
    has_number,
    has_date,
    has_duration,
    has_place,
    has_person,
    has_money,
    small_talk,
    first_person,
    /// 1 when the card says that something has changed or was wrong.
    changes,
    /// Share of the best evidence among later candidates, among those of them that say so
    /// and have the same speaker, and among earlier ones.
    later,
    later_change,
    earlier,
    /// How many of the names that the best three mention it mentions, too.
    shared_names,
    /// Place in the order of time among the candidates, 0 the earliest.
    time_order,
}

/// One candidate on its way through the features.
#[derive(Clone, Copy)]
pub(crate) struct Looked {
    /// Number of the partition and of the row.
    pub(crate) partition: usize,
    pub(crate) row: u32,
    /// Its evidence.
    pub(crate) raw: f32,
}

/// The features of candidates, which come best first.
pub(crate) fn features_of(scorer: &Scorer<'_>, looked: &[Looked]) -> Vec<Features> {
    let search = scorer.search;
    let evidence = |l: &Looked| &scorer.evidence()[l.partition];
    let legs: Vec<_> = looked.iter().map(|l| evidence(l).legs(l.row)).collect();
    let best = |values: &dyn Fn(usize) -> f32| (0..looked.len()).map(values).fold(1e-6f32, f32::max);
    let (best_raw, best_own) =
        (best(&|at| looked[at].raw), best(&|at| evidence(&looked[at]).own(looked[at].row)));
    let (best_turn, best_window) = (best(&|at| legs[at].turn), best(&|at| legs[at].window));
    let best_vector = best(&|at| legs[at].vector);
    let turn_ranks = ranks(looked.len(), |at| legs[at].turn);
    let vector_ranks = ranks(looked.len(), |at| legs[at].vector);
    let occurred = |l: &Looked| search.partitions[l.partition].hot()[l.row as usize].occurred;
    let time_ranks = ranks(looked.len(), |at| -(occurred(&looked[at]) as f32));
    let sessions: Vec<(usize, u32)> =
        looked.iter().map(|l| (l.partition, session_of(search.partitions[l.partition], l.row))).collect();
    let best_session = best(&|at| session_evidence(scorer, &looked[at]));
    let words = Words::of(scorer);
    let around = Around::of(scorer, looked, best_raw);
    let question = search.question;
    let (shape, aim) = (question.shape(), question.intent().aim);
    let wants = |what: Wants| flag(shape.wants == Some(what));
    let count = looked.len().max(2) as f32;
    looked
        .iter()
        .enumerate()
        .map(|(at, l)| {
            let partition = search.partitions[l.partition];
            let (voices, rows) = (partition.voices(), partition.rows());
            let voice = &voices[l.row as usize];
            let sense = &partition.senses()[l.row as usize];
            let (before, after) = partition.conversations().neighbours(l.row);
            let own_of = |row: Option<u32>| row.map_or(0.0, |row| evidence(l).own(row));
            let vector_of = |row: Option<u32>| row.map_or(0.0, |row| evidence(l).legs(row).vector);
            let asks = |row: Option<u32>| row.is_some_and(|row| voices[row as usize].question);
            let length =
                |row: Option<u32>| row.map_or(0.0, |row| (1.0 + rows[row as usize].length as f32).ln());
            let own = evidence(l).own(l.row);
            let session = session_evidence(scorer, l);
            let speaker = match (question.names_somebody(), voice.speaker) {
                (false, _) | (_, NO_ROW) => 0.0,
                (true, speaker) if question.names_speaker(l.partition, speaker) => 1.0,
                _ => -1.0,
            };
            let walk = |step: &[u32]| {
                let mut row = l.row;
                (0..8)
                    .find(|_| {
                        row = step.get(row as usize).copied().unwrap_or(NO_ROW);
                        row == NO_ROW
                    })
                    .unwrap_or(8) as f32
            };
            Named {
                evidence: l.raw,
                evidence_share: l.raw / best_raw,
                rank: (1.0 + at as f32).ln(),
                gap_below: looked.get(at + 1).map_or(0.0, |next| l.raw - next.raw),
                gap_above: at.checked_sub(1).map_or(0.0, |before| looked[before].raw - l.raw),
                keywords: legs[at].turn,
                keywords_share: legs[at].turn / best_turn,
                context: legs[at].window,
                context_share: legs[at].window / best_window,
                meaning: legs[at].vector,
                meaning_share: legs[at].vector / best_vector,
                coverage: legs[at].coverage,
                words_share: words.share(l, Some(l.row), None),
                words_share_before: words.share(l, Some(l.row), before),
                words_count: words.count(l),
                rarest_word: flag(words.has_rarest(l, Some(l.row))),
                rarest_word_before: flag(words.has_rarest(l, before)),
                keywords_rank: (1.0 + turn_ranks[at] as f32).ln(),
                meaning_rank: (1.0 + vector_ranks[at] as f32).ln(),
                own,
                own_share: own / best_own,
                before: own_of(before),
                after: own_of(after),
                before_meaning: vector_of(before),
                after_meaning: vector_of(after),
                session,
                session_share: session / best_session,
                dated: legs[at].dated,
                identifiers: legs[at].identifiers,
                speaker,
                names_somebody: flag(question.names_somebody()),
                assistant: flag(voice.assistant),
                asks_assistant: flag(question.asks_assistant()),
                asks: flag(voice.question),
                after_question: flag(asks(before)),
                before_question: flag(asks(after)),
                length: length(Some(l.row)),
                length_before: length(before),
                terms: question.query_terms().terms().len() as f32,
                from_start: walk(partition.conversations().previous()),
                to_end: walk(partition.conversations().next()),
                company: sessions.iter().take(10).filter(|session| **session == sessions[at]).count() as f32,
                concepts: legs[at].concepts,
                asks_concepts: flag(scorer.asks_concepts()),
                fits: fits(&shape, &sense.shape),
                fits_after: after.map_or(0.0, |row| fits(&shape, &partition.senses()[row as usize].shape)),
                wants_time: wants(Wants::Time),
                wants_duration: wants(Wants::Duration),
                wants_place: wants(Wants::Place),
                wants_person: wants(Wants::Person),
                wants_number: wants(Wants::Number),
                wants_reason: wants(Wants::Reason),
                wants_manner: wants(Wants::Manner),
                wants_list: flag(shape.list),
                wants_yes_no: wants(Wants::YesNo),
                asks_first: flag(shape.ordering == Some(Ordering::First)),
                asks_last: flag(shape.ordering == Some(Ordering::Last)),
                aims_prefer: flag(aim == Aim::Prefer),
                aims_happened: flag(aim == Aim::Happened),
                has_number: flag(sense.shape.number),
                has_date: flag(sense.shape.date),
                has_duration: flag(sense.shape.duration),
                has_place: flag(sense.shape.place),
                has_person: flag(sense.shape.person),
                has_money: flag(sense.shape.money),
                small_talk: flag(sense.shape.small_talk),
                first_person: flag(sense.shape.first_person),
                changes: flag(sense.changes),
                later: around.later(at, |_| true),
                later_change: around
                    .later(at, |other| around.changes[other] && around.speakers[other] == voice.speaker),
                earlier: around.earlier(at),
                shared_names: around.shared_names(at),
                time_order: (looked.len() - 1 - time_ranks[at].min(looked.len() - 1)) as f32 / (count - 1.0),
            }
            .array()
        })
        .collect()
}

/// What the best candidates are to each other.
struct Around<'a> {
    shares: Vec<f32>,
    occurred: Vec<i64>,
    speakers: Vec<u32>,
    changes: Vec<bool>,
    names: Vec<Vec<&'a str>>,
}

impl<'a> Around<'a> {
    /// Beyond these nobody looks.
    const MOST: usize = 20;

    fn of(scorer: &Scorer<'a>, looked: &[Looked], best: f32) -> Self {
        let partitions = scorer.search.partitions;
        let names = |l: &Looked| {
            let mentions = &partitions[l.partition].row(l.row).card.mentions;
            mentions.iter().map(|mention| mention.name.as_str()).collect()
        };
        Self {
            shares: looked.iter().map(|l| l.raw / best).collect(),
            occurred: looked.iter().map(|l| partitions[l.partition].hot()[l.row as usize].occurred).collect(),
            speakers: looked
                .iter()
                .map(|l| partitions[l.partition].voices()[l.row as usize].speaker)
                .collect(),
            changes: looked
                .iter()
                .map(|l| partitions[l.partition].senses()[l.row as usize].changes)
                .collect(),
            names: looked.iter().map(names).collect(),
        }
    }

    fn best(&self, admits: impl Fn(usize) -> bool) -> f32 {
        let most = Self::MOST.min(self.shares.len());
        (0..most).filter(|other| admits(*other)).map(|other| self.shares[other]).fold(0.0, f32::max)
    }

    fn later(&self, at: usize, admits: impl Fn(usize) -> bool) -> f32 {
        self.best(|other| self.occurred[other] > self.occurred[at] && admits(other))
    }

    fn earlier(&self, at: usize) -> f32 {
        self.best(|other| self.occurred[other] < self.occurred[at])
    }

    fn shared_names(&self, at: usize) -> f32 {
        let others = (0..self.names.len().min(3)).filter(|other| *other != at);
        let theirs: Vec<&str> = others.flat_map(|other| self.names[other].iter().copied()).collect();
        self.names[at].iter().filter(|name| theirs.contains(name)).count() as f32
    }
}

/// The words of a question with their postings in each partition.
struct Words<'a> {
    /// idf of each word, and its postings by partition.
    words: Vec<(f32, Vec<Postings<'a>>)>,
    mass: f32,
    rarest: Option<usize>,
}

impl<'a> Words<'a> {
    fn of(scorer: &Scorer<'a>) -> Self {
        let search = scorer.search;
        let terms = search.question.query_terms().terms().iter().enumerate();
        let words: Vec<_> = terms
            .filter(|(_, term)| term.role == Role::Primary)
            .map(|(at, term)| {
                let postings: Vec<_> =
                    search.partitions.iter().map(|p| p.text().postings(&term.text)).collect();
                (term.weight * scorer.statistics.idf(at), postings)
            })
            .collect();
        let mass = words.iter().map(|(idf, _)| idf).sum::<f32>().max(1e-6);
        // A word that no card has tells nothing about any.
        let known =
            words.iter().enumerate().filter(|(_, (_, lists))| lists.iter().any(|list| !list.is_empty()));
        let rarest = known.max_by(|a, b| a.1.0.total_cmp(&b.1.0)).map(|(at, _)| at);
        Self { words, mass, rarest }
    }

    fn share(&self, l: &Looked, row: Option<u32>, other: Option<u32>) -> f32 {
        let has = |list: &Postings<'_>| row.into_iter().chain(other).any(|row| list.contains(row));
        let found = self.words.iter().filter(|(_, lists)| has(&lists[l.partition]));
        found.map(|(idf, _)| idf).sum::<f32>() / self.mass
    }

    fn count(&self, l: &Looked) -> f32 {
        self.words.iter().filter(|(_, lists)| lists[l.partition].contains(l.row)).count() as f32
    }

    fn has_rarest(&self, l: &Looked, row: Option<u32>) -> bool {
        let list = self.rarest.map(|at| &self.words[at].1[l.partition]);
        list.zip(row).is_some_and(|(list, row)| list.contains(row))
    }
}

/// Whether a text holds what a question wants: 1 or -1, and 0 where nothing in particular is
/// wanted.
fn fits(question: &Shape, text: &ContentShape) -> f32 {
    let holds = match question.wants {
        Some(Wants::Time) => text.date,
        Some(Wants::Duration) => text.duration,
        Some(Wants::Place) => text.place,
        Some(Wants::Person) => text.person,
        Some(Wants::Number) => text.number,
        _ => return 0.0,
    };
    if holds { 1.0 } else { -1.0 }
}

fn flag(holds: bool) -> f32 {
    f32::from(u8::from(holds))
}

fn session_evidence(scorer: &Scorer<'_>, l: &Looked) -> f32 {
    match session_of(scorer.search.partitions[l.partition], l.row) {
        NO_ROW => 0.0,
        session => scorer.evidence()[l.partition].session(session),
    }
}

/// Ranks by a value, the greatest first; equal ones in the order they come in.
fn ranks(count: usize, value: impl Fn(usize) -> f32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| value(*b).total_cmp(&value(*a)));
    let mut ranks = vec![0; count];
    order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank);
    ranks
}
