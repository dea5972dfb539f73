//! What speaks for the rows of one partition: legs, evidence of the row itself, best of
//! its session. Of every row, or of candidates and those that lend to them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::card::{CardId, LinkKind};
use crate::index::partition::Partition;
use crate::index::text::{NO_ROW, Parameters, Scores};
use crate::recall::fuse::Scorer;
use crate::recall::gather::{Gathered, keep_best};

/// How many cards of a session make its best.
const SESSION_BEST: usize = 3;

/// The legs of one row.
#[derive(Clone, Copy, Default)]
pub(super) struct Legs {
    pub(super) turn: f32,
    pub(super) window: f32,
    pub(super) vector: f32,
    /// 1 when the row has the time that is named, less where it was only told then.
    pub(super) dated: f32,
    pub(super) coverage: f32,
    pub(super) identifiers: f32,
    /// Share of what is asked for that the row speaks of, rare concepts counting more.
    pub(super) concepts: f32,
}

/// Row numbers are well spread by one multiplication.
#[derive(Default)]
struct RowHasher(u64);

impl Hasher for RowHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

type ByNumber<T> = HashMap<u32, T, BuildHasherDefault<RowHasher>>;

/// Where the evidence of a row stands.
enum Places {
    /// At the row's number: there is evidence of every row.
    Every,
    /// There is evidence of some.
    Some(ByNumber<u32>),
}

/// Means of the sessions' best rows.
enum Sessions {
    Every(Vec<f32>),
    Some(ByNumber<f32>),
}

/// The best rows of a session so far.
#[derive(Clone, Copy, Default)]
struct Best {
    values: [f32; SESSION_BEST],
    members: usize,
}

impl Best {
    fn add(&mut self, value: f32) {
        self.members += 1;
        if value > self.values[SESSION_BEST - 1] {
            self.values[SESSION_BEST - 1] = value;
            self.values.sort_by(|a, b| b.total_cmp(a));
        }
    }

    fn mean(&self) -> f32 {
        self.values.iter().sum::<f32>() / self.members.clamp(1, SESSION_BEST) as f32
    }
}

/// Rows that have become candidates.
#[derive(Default)]
struct Found {
    candidates: Vec<u32>,
    seen: ByNumber<()>,
}

/// One partition's evidence.
pub(super) struct Evidence {
    places: Places,
    legs: Vec<Legs>,
    /// Evidence of the row itself, factors applied.
    own: Vec<f32>,
    /// The same with what its neighbours lend.
    value: Vec<f32>,
    /// Mean of a session's best rows, neighbours included.
    sessions: Sessions,
    /// Rows that may be found; `None` for all that are shown.
    candidates: Option<Vec<u32>>,
}

impl Evidence {
    /// No evidence of any row.
    fn none() -> Self {
        Self {
            places: Places::Some(HashMap::default()),
            legs: Vec::new(),
            own: Vec::new(),
            value: Vec::new(),
            sessions: Sessions::Some(HashMap::default()),
            candidates: None,
        }
    }

    fn place(&self, row: u32) -> Option<usize> {
        match &self.places {
            Places::Every => Some(row as usize),
            Places::Some(places) => places.get(&row).map(|place| *place as usize),
        }
    }

    /// The legs of a row.
    pub(super) fn legs(&self, row: u32) -> Legs {
        self.place(row).and_then(|place| self.legs.get(place)).copied().unwrap_or_default()
    }

    /// The evidence of the row itself.
    pub(super) fn own(&self, row: u32) -> f32 {
        self.place(row).and_then(|place| self.own.get(place)).copied().unwrap_or(0.0)
    }

    /// Legs and value, which is the row's own evidence with what its neighbours lend, of a
    /// row that may be found.
    pub(super) fn value(&self, row: u32) -> (Legs, f32) {
        let at = |place: usize| Some((*self.legs.get(place)?, *self.value.get(place)?));
        self.place(row).and_then(at).unwrap_or_default()
    }

    /// The mean of a session's best rows.
    pub(super) fn session(&self, session: u32) -> f32 {
        match &self.sessions {
            Sessions::Every(means) => means.get(session as usize).copied().unwrap_or(0.0),
            Sessions::Some(means) => means.get(&session).copied().unwrap_or(0.0),
        }
    }

    /// Rows that may be found, where these are not all that are shown.
    pub(super) fn candidates(&self) -> Option<&[u32]> {
        self.candidates.as_deref()
    }

    /// All legs over all shown rows.
    pub(super) fn of_every_row(scorer: &Scorer<'_>, number: usize) -> Self {
        let search = scorer.search;
        let (partition, weights) = (search.partitions[number], search.weights);
        let shown = search.shown[number].rows();
        let windows = partition.windows(shown);
        let mut legs = vec![Legs::default(); partition.len()];
        let terms = search.question.query_terms();
        if scorer.has_words() {
            let parameters = Parameters { k1: weights.k1, b: weights.b };
            let mut scores = Scores::new();
            partition.text().score(terms, &scorer.statistics, shown, parameters, &mut scores);
            for (row, score) in scores.iter() {
                legs[row as usize].turn = score / scorer.ideal;
            }
            partition.text().score_windows(
                terms,
                &scorer.statistics,
                windows,
                shown,
                parameters,
                &mut scores,
            );
            for (row, score) in scores.iter() {
                legs[row as usize].window = score / scorer.ideal;
                legs[row as usize].coverage = scores.coverage(row) * scorer.mass / scorer.ideal;
            }
        }
        if scorer.date_idf > 0.0 {
            for row in shown.iter() {
                let dated = search.shown[number].dated_share(row, search.question.times());
                legs[row as usize].dated = dated;
                legs[row as usize].coverage += dated * scorer.date_idf / scorer.ideal;
            }
        }
        if let (Some(query), Some(index)) = (search.vector, partition.vectors()) {
            index.scores(query, shown.iter(), |row, cosine| {
                legs[row as usize].vector = scorer.vector_leg(cosine);
            });
        }
        let identifiers = search.question.identifiers();
        for identifier in identifiers {
            for (row, _) in partition.text().postings(identifier).iter() {
                if shown.contains(row) {
                    legs[row as usize].identifiers += 1.0 / identifiers.len() as f32;
                }
            }
        }
        if scorer.asks_concepts() {
            for row in shown.iter() {
                legs[row as usize].concepts = scorer.concepts_leg(number, row);
            }
        }
        let mut own = vec![0.0; partition.len()];
        for row in shown.iter() {
            own[row as usize] = scorer.own_of(number, row, &legs[row as usize]);
        }
        let value = vec![0.0; partition.len()];
        let mut evidence = Self { places: Places::Every, legs, own, value, ..Self::none() };
        let mut best = vec![Best::default(); partition.conversations().sessions()];
        for row in shown.iter() {
            let value = scorer.with_neighbours(number, &evidence, row).0;
            evidence.value[row as usize] = value;
            let session = session_of(partition, row);
            if session != NO_ROW {
                best[session as usize].add(value);
            }
        }
        evidence.sessions = Sessions::Every(best.iter().map(Best::mean).collect());
        evidence
    }

    /// The legs of candidates and of all that lends to them: neighbours, and the sessions of
    /// those that score best without.
    pub(super) fn of_candidates(
        scorer: &Scorer<'_>,
        number: usize,
        gathered: Gathered,
        rivals: &[u32],
    ) -> Self {
        let search = scorer.search;
        let partition = search.partitions[number];
        let mut evidence = Self::none();
        let mut found = Found::default();
        let mut rows = gathered.rows().to_vec();
        ascending(&mut rows);
        if let Gathered::Guess(_) = gathered {
            rows = evidence.best_of(scorer, number, rows);
        }
        rows.extend(rivals);
        evidence.admit(scorer, number, with_neighbours(scorer, number, rows), &mut found);
        evidence.rate_sessions(scorer, number, &found, &[]);

        let mut sessions: Vec<u32> = evidence
            .contenders(scorer, number, &found.candidates)
            .into_iter()
            .map(|row| session_of(partition, row))
            .filter(|session| *session != NO_ROW)
            .filter(|session| partition.conversations().size(*session) <= search.limits.session)
            .collect();
        ascending(&mut sessions);
        let shown = search.shown[number].rows();
        let members = sessions.iter().flat_map(|session| partition.conversations().members(*session));
        let members = members.filter(|row| shown.contains(*row)).collect();
        evidence.admit(scorer, number, members, &mut found);
        evidence.rate_sessions(scorer, number, &found, &sessions);
        evidence.candidates = Some(found.candidates);
        evidence
    }

    /// Makes rows, which are shown, and those that contradict them candidates.
    fn admit(&mut self, scorer: &Scorer<'_>, number: usize, rows: Vec<u32>, found: &mut Found) {
        let partition = scorer.search.partitions[number];
        let mut new: Vec<u32> =
            rows.into_iter().filter(|row| found.seen.insert(*row, ()).is_none()).collect();
        // Which of two that contradict each other ranks first is settled between them; those
        // that come in have rivals of their own.
        let mut at = 0;
        while at < new.len() {
            let cards = rivals(partition, &new[at..]);
            at = new.len();
            let rivals = scorer.search.shown[number].rows_of(&cards).into_iter();
            new.extend(rivals.filter(|row| found.seen.insert(*row, ()).is_none()));
        }
        let mut read = with_neighbours(scorer, number, new.clone());
        read.retain(|row| self.place(*row).is_none());
        ascending(&mut read);
        self.add(scorer, number, &read);
        for row in &new {
            let value = scorer.with_neighbours(number, self, *row).0;
            let place = self.place(*row);
            if let Some(slot) = place.and_then(|place| self.value.get_mut(place)) {
                *slot = value;
            }
        }
        found.candidates.append(&mut new);
    }

    /// Adds the evidence of rows that have none yet, and ascend.
    fn add(&mut self, scorer: &Scorer<'_>, number: usize, rows: &[u32]) {
        let legs = legs_of(scorer, number, rows);
        let Places::Some(places) = &mut self.places else { return };
        places.reserve(rows.len());
        for (row, legs) in rows.iter().zip(&legs) {
            places.insert(*row, self.legs.len() as u32);
            self.legs.push(*legs);
            self.own.push(scorer.own_of(number, *row, legs));
            self.value.push(0.0);
        }
    }

    /// Means of the best candidates by session. Of the `whole` sessions, which ascend, every
    /// shown row is a candidate; of another one what is not known counts as nothing.
    fn rate_sessions(&mut self, scorer: &Scorer<'_>, number: usize, found: &Found, whole: &[u32]) {
        let partition = scorer.search.partitions[number];
        let mut best: ByNumber<Best> = HashMap::default();
        for row in &found.candidates {
            let session = session_of(partition, *row);
            if session != NO_ROW {
                best.entry(session).or_default().add(self.value(*row).1);
            }
        }
        for (session, best) in &mut best {
            if whole.binary_search(session).is_err() {
                best.members = partition.conversations().size(*session);
            }
        }
        self.sessions = Sessions::Some(best.iter().map(|(session, best)| (*session, best.mean())).collect());
    }

    /// The best of gathered rows, which ascend, by their own evidence.
    fn best_of(&mut self, scorer: &Scorer<'_>, number: usize, gathered: Vec<u32>) -> Vec<u32> {
        let search = scorer.search;
        let most = search.limits.kept.max(search.top * 2);
        if gathered.len() <= most {
            return gathered;
        }
        self.add(scorer, number, &gathered);
        let rated = gathered.iter().map(|row| {
            let identifiers = self.legs(*row).identifiers;
            (self.own(*row) + search.weights.identifier * identifiers, *row)
        });
        best_of_both(scorer, number, rated, most)
    }

    /// The candidates with the best scores so far.
    fn contenders(&self, scorer: &Scorer<'_>, number: usize, candidates: &[u32]) -> Vec<u32> {
        let search = scorer.search;
        let rated = candidates.iter().map(|row| (scorer.raw_of(number, self, *row).0, *row));
        best_of_both(scorer, number, rated, search.top.saturating_add(search.limits.contenders))
    }
}

/// The best `most` rows of those that may be found, and as many of the others, which can only
/// lend to these: the two do not compete.
fn best_of_both(
    scorer: &Scorer<'_>,
    number: usize,
    rated: impl Iterator<Item = (f32, u32)>,
    most: usize,
) -> Vec<u32> {
    let wanted = scorer.search.wanted[number].as_ref();
    let (mut first, mut others): (Vec<_>, Vec<_>) =
        rated.partition(|(_, row)| wanted.is_none_or(|wanted| wanted.contains(*row)));
    keep_best(&mut first, most);
    keep_best(&mut others, most);
    first.into_iter().chain(others).map(|(_, row)| row).collect()
}

/// The number of a row's session.
pub(super) fn session_of(partition: &Partition, row: u32) -> u32 {
    partition.conversations().session().get(row as usize).copied().unwrap_or(NO_ROW)
}

fn ascending(rows: &mut Vec<u32>) {
    rows.sort_unstable();
    rows.dedup();
}

/// Rows with those before and after them, as far as they are shown, in no order.
fn with_neighbours(scorer: &Scorer<'_>, number: usize, mut rows: Vec<u32>) -> Vec<u32> {
    let partition = scorer.search.partitions[number];
    let shown = scorer.search.shown[number].rows();
    for at in 0..rows.len() {
        let (before, after) = partition.conversations().neighbours(rows[at]);
        rows.extend(before.into_iter().chain(after).filter(|row| shown.contains(*row)));
    }
    rows
}

/// The cards that some rows contradict.
pub(super) fn rivals(partition: &Partition, rows: &[u32]) -> Vec<CardId> {
    let contradicting = rows.iter().filter(|row| partition.voices()[**row as usize].contradicts);
    let links = contradicting.flat_map(|row| &partition.row(*row).card.links);
    links.filter(|link| link.kind == LinkKind::ConflictsWith).map(|link| link.to).collect()
}

/// The legs of given rows, which ascend and are shown.
fn legs_of(scorer: &Scorer<'_>, number: usize, rows: &[u32]) -> Vec<Legs> {
    let search = scorer.search;
    let (partition, weights) = (search.partitions[number], search.weights);
    let mut legs = vec![Legs::default(); rows.len()];
    if scorer.has_words() {
        let parameters = Parameters { k1: weights.k1, b: weights.b };
        let windows = partition.windows(search.shown[number].rows());
        let terms = search.question.query_terms();
        let scores = partition.text().score_rows(terms, &scorer.statistics, windows, rows, parameters);
        for (legs, score) in legs.iter_mut().zip(scores) {
            legs.turn = score.row / scorer.ideal;
            legs.window = score.window / scorer.ideal;
            legs.coverage = score.coverage * scorer.mass / scorer.ideal;
        }
    }
    if scorer.date_idf > 0.0 {
        for (legs, row) in legs.iter_mut().zip(rows) {
            let dated = search.shown[number].dated_share(*row, search.question.times());
            legs.dated = dated;
            legs.coverage += dated * scorer.date_idf / scorer.ideal;
        }
    }
    if scorer.asks_concepts() {
        for (legs, row) in legs.iter_mut().zip(rows) {
            legs.concepts = scorer.concepts_leg(number, *row);
        }
    }
    for (legs, score) in legs.iter_mut().zip(scores_of(scorer, number, rows)) {
        legs.vector = score;
    }
    let identifiers = search.question.identifiers();
    for identifier in identifiers {
        let postings = partition.text().postings(identifier);
        for (legs, row) in legs.iter_mut().zip(rows) {
            if postings.contains(*row) {
                legs.identifiers += 1.0 / identifiers.len() as f32;
            }
        }
    }
    legs
}

/// The vector legs of given rows, which ascend.
pub(super) fn scores_of(scorer: &Scorer<'_>, number: usize, rows: &[u32]) -> Vec<f32> {
    let search = scorer.search;
    let mut scores = vec![0.0; rows.len()];
    if let (Some(query), Some(index)) = (search.vector, search.partitions[number].vectors()) {
        let mut place = 0;
        index.scores(query, rows.iter().copied(), |row, cosine| {
            // Found in the order of the rows; some have no vector.
            while rows.get(place).is_some_and(|other| *other < row) {
                place += 1;
            }
            if let Some(score) = scores.get_mut(place) {
                *score = scorer.vector_leg(cosine);
            }
        });
    }
    scores
}
