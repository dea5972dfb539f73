//! One track of one tenant, in memory.
//!
//! Each version of a card is a row; a row is open while its version is the current one.
//! Closed rows serve reads of the past through the same code as reads of the present. Rows of a
//! card that is gone from the store are slots that no view shows.

mod dropping;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::Result;
use crate::card::{Card, CardId, LinkKind, Polarity, Reason, Role, State, Track};
use crate::graph::{self, Concept};
use crate::index::conversation::Conversations;
use crate::index::named::NamedRows;
use crate::index::present::Present;
use crate::index::rows::RowSet;
use crate::index::said::{Said, Saying};
use crate::index::sense::{Sense, beginning};
use crate::index::text::{DocumentTerms, NO_ROW, TextIndex, Windows, analyze_document};
use crate::index::vector::{Maintenance, VectorIndex, VectorOptions};
use crate::judge::{self, Analysis};
use crate::store::ChangeKind;
use crate::time::Timestamp;

/// One version of a card in a partition.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The card without content and summary, which stay in the store.
    pub(crate) card: Card,
    /// When a newer version replaced this one; [`Timestamp::MAX`] for the current one.
    pub(crate) until: Timestamp,
    /// Hashes of topic and subject, by which statements that may contradict are found.
    pub(crate) topic: Option<u64>,
    pub(crate) subject: Option<u64>,
    /// Length of the content in characters.
    pub(crate) length: u32,
    /// True when the content asks something.
    pub(crate) question: bool,
    /// What the card rules out, if it does, in lower case.
    pub(crate) excludes: Option<Box<str>>,
    /// What the content speaks of and holds.
    pub(crate) sense: Sense,
    /// What the content says of entities.
    pub(crate) says: Box<[Saying]>,
}

/// The facts of a row that every search looks at, kept together for speed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hot {
    /// Microseconds: the version's own time of writing, and when it was replaced.
    pub(crate) from: i64,
    pub(crate) until: i64,
    pub(crate) expires: i64,
    pub(crate) occurred: i64,
    /// The latest of event and last use.
    pub(crate) referenced: i64,
    pub(crate) importance: f32,
    pub(crate) confidence: f32,
    /// Number in [`Partition::names`].
    pub(crate) category: u32,
    pub(crate) state: State,
    /// True when it takes another card's place at a given time, or the other way round.
    pub(crate) scheduled: bool,
}

/// From when on a row ages, and whether it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Age {
    /// When the card was first written, microseconds.
    pub(crate) recorded: i64,
    /// When it was last told, confirmed or used.
    pub(crate) reference: i64,
    /// True when no rule touches the card.
    pub(crate) exempt: bool,
}

/// What the score of every candidate asks about a row: little, so that much of it is near.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Voice {
    /// Number in [`Partition::names`], or [`NO_ROW`].
    pub(crate) speaker: u32,
    pub(crate) assistant: bool,
    pub(crate) question: bool,
    /// True when it is linked to a card that it contradicts.
    pub(crate) contradicts: bool,
}

/// Strings by number, each once.
#[derive(Debug, Default)]
struct Names {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }
}

/// What a committed change brings to a partition.
#[derive(Debug)]
pub(crate) struct Update {
    pub(crate) sequence: u64,
    pub(crate) checksum: u64,
    pub(crate) kind: ChangeKind,
    pub(crate) card: Arc<Card>,
    pub(crate) vector: Option<Arc<[f32]>>,
    /// What is read from the card's text, where it was read before.
    pub(crate) prepared: Option<Arc<Prepared>>,
}

/// What a partition reads from a card's text. It takes longer than all else, so callers
/// read while the writer works for others.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Hashes of topic and subject.
    hashes: [Option<u64>; 2],
    terms: DocumentTerms,
    sense: Sense,
    says: Box<[Saying]>,
}

impl Prepared {
    /// Reads a card; `analysis` is that of its content, where there is one already.
    pub(crate) fn of(card: &Card, analysis: Option<&Analysis>) -> Self {
        // Nobody looks by their topic for what is not compared with statements.
        let hashes = match (card.is_statement(), analysis) {
            (false, _) => [None, None],
            (true, Some(analysis)) if !analysis.refers_back() => analysis.lookup_hashes(),
            (true, _) => judge::analyze(statement(card)).lookup_hashes(),
        };
        let speaker = card.source().and_then(|source| source.speaker.as_deref());
        let content = beginning(&card.content);
        let told = graph::told(content, speaker);
        Self {
            hashes,
            terms: analyze_document(&searched_text(card)),
            sense: Sense::of(content, &told),
            says: Saying::of(told),
        }
    }
}

/// Attributes, vectors, postings and conversations of one track of one tenant.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    rows: Vec<Row>,
    hot: Vec<Hot>,
    ages: Vec<Age>,
    voices: Vec<Voice>,
    senses: Vec<Sense>,
    open: HashMap<CardId, u32>,
    present: Present,
    text: TextIndex,
    /// Made with the first vector, whose dimension it has.
    vectors: Option<Arc<VectorIndex>>,
    conversations: Conversations,
    names: Names,
    hashes: HashMap<u64, Vec<CardId>>,
    named: NamedRows,
    /// By concept, how many of the rows that every view of the present shows speak of it.
    concepts: BTreeMap<Concept, u32>,
    said: Said,
    /// Rows whose content names a time.
    timed: RowSet,
    /// Open rows that rule something out.
    exclusions: BTreeSet<u32>,
    /// Rows whose vector comes from an earlier model.
    stale: RowSet,
    stale_count: usize,
    /// Rows of earlier versions by card; made when vectors are made anew, or a card goes away.
    closed: Option<HashMap<CardId, Vec<u32>>>,
    /// Rows of cards that have gone away.
    dropped: RowSet,
    dropped_count: usize,
    /// Those of them that names, statements and postings may still lead to.
    unswept: usize,
    applied: u64,
    checksum: u64,
    row_bytes: usize,
}

impl Partition {
    /// Applies a change. A change that was applied before changes nothing.
    pub(crate) fn apply(&mut self, update: &Update) -> Result<()> {
        if update.sequence <= self.applied {
            return Ok(());
        }
        let card = &update.card;
        match self.open.get(&card.id) {
            _ if update.kind == ChangeKind::Vector => self.embed(update),
            _ if update.kind.takes_away() => self.drop_card(card.id),
            Some(&row) if self.rows[row as usize].card.version >= card.version => {
                if update.kind == ChangeKind::Touch {
                    self.refresh(row, card);
                }
            }
            _ => self.add(update)?,
        }
        self.applied = update.sequence;
        self.checksum = update.checksum;
        Ok(())
    }

    /// Notes that all changes up to a sequence are in, those of other tracks included.
    pub(crate) fn catch_up(&mut self, sequence: u64, checksum: u64) {
        if sequence > self.applied {
            self.applied = sequence;
            self.checksum = checksum;
        }
    }

    /// Sequence and checksum of the last change that is in.
    pub(crate) fn applied(&self) -> (u64, u64) {
        (self.applied, self.checksum)
    }

    fn add(&mut self, update: &Update) -> Result<()> {
        let card = &*update.card;
        let prepared = match &update.prepared {
            Some(prepared) => prepared.clone(),
            None => Arc::new(Prepared::of(card, None)),
        };
        let [topic, subject] = prepared.hashes;
        let row = Row {
            topic,
            subject,
            length: card.content.chars().count() as u32,
            question: is_question(&card.content),
            excludes: excluded(card),
            sense: prepared.sense,
            says: prepared.says.clone(),
            card: stripped(card),
            until: Timestamp::MAX,
        };
        let number = self.rows.len() as u32;
        self.text.insert(number, &prepared.terms)?;
        match &update.vector {
            Some(vector) => self.add_vector(number, vector),
            None if card.vector_version > 0 => self.stale_count += usize::from(self.stale.insert(number)),
            None => {}
        }
        self.attach(row);
        Ok(())
    }

    /// Takes over the vector that a version was given anew, or that it has none any more.
    fn embed(&mut self, update: &Update) {
        let (id, version) = (update.card.id, update.card.version);
        let closed = self.closed_rows().get(&id).cloned().unwrap_or_default();
        let open = self.open.get(&id).copied();
        for number in closed.into_iter().chain(open) {
            let card = &mut self.rows[number as usize].card;
            if version != card.version && version != card.vector_version {
                continue;
            }
            card.vector_version = update.card.vector_version;
            self.stale_count -= usize::from(self.stale.remove(number));
            match (&update.vector, &self.vectors) {
                // It came with the version, whose record holds it by now.
                (Some(_), Some(index)) if index.contains(number) => {}
                (Some(vector), _) => self.add_vector(number, vector),
                (None, Some(index)) => {
                    index.remove(number);
                }
                (None, None) => {}
            }
        }
    }

    /// Rows of earlier versions by card.
    fn closed_rows(&mut self) -> &mut HashMap<CardId, Vec<u32>> {
        self.closed.get_or_insert_with(|| {
            let mut closed: HashMap<CardId, Vec<u32>> = HashMap::new();
            for (row, number) in self.rows.iter().zip(0..) {
                if row.until != Timestamp::MAX && !self.dropped.contains(number) {
                    closed.entry(row.card.id).or_default().push(number);
                }
            }
            closed
        })
    }

    /// Finds the rows whose vector comes from an earlier model, after a snapshot was read.
    pub(crate) fn note_stale(&mut self) {
        let has = |number: &u32| self.vectors.as_ref().is_some_and(|index| index.contains(*number));
        let rows = self.rows.iter().zip(0..).filter(|(row, _)| row.card.vector_version > 0);
        self.stale = rows.map(|(_, number)| number).filter(|number| !has(number)).collect();
        self.stale_count = self.stale.len();
    }

    /// How many rows have a vector of an earlier model, which is not searched.
    pub(crate) fn stale(&self) -> usize {
        self.stale_count
    }

    /// Sets the vector of a row. One of another dimension than the first, or without a
    /// direction, counts as absent.
    pub(crate) fn add_vector(&mut self, row: u32, vector: &[f32]) {
        if vector.is_empty() {
            return;
        }
        let options = || VectorOptions { dimension: vector.len(), ..vector_options() };
        let index = self.vectors.get_or_insert_with(|| Arc::new(VectorIndex::new(options())));
        // The partition is locked: who has brought the change helps once it is not.
        if let Err(error) = index.append(row, vector) {
            tracing::debug!(%error, row, "a vector is left out of the index");
        }
    }

    /// Takes an index of vectors whose identifiers are row numbers, read from a file. False
    /// when it does not hold the vectors of `count` of these rows.
    pub(crate) fn set_vectors(&mut self, index: VectorIndex, count: usize) -> bool {
        // What was added while the file was written belongs to later changes.
        index.truncate(self.rows.len() as u32);
        let fits = index.len() == count;
        self.vectors = fits.then(|| Arc::new(index));
        fits
    }

    /// Adds a row whose text and vector are in already.
    fn attach(&mut self, row: Row) {
        let number = self.rows.len() as u32;
        let (id, current) = (row.card.id, row.until == Timestamp::MAX);
        if current && let Some(old) = self.open.insert(id, number) {
            self.close(old, row.card.updated_at);
        }
        for hash in [row.topic, row.subject].into_iter().flatten() {
            let cards = self.hashes.entry(hash).or_default();
            if !cards.contains(&id) {
                cards.push(id);
            }
        }
        self.named.insert(number, &row.card);
        self.row_bytes += row_bytes(&row);
        let (hot, voice) = self.facts_of(&row);
        self.hot.push(hot);
        self.ages.push(age_of(&row.card));
        self.voices.push(voice);
        self.senses.push(row.sense);
        self.said.add(number, &row.says);
        if !row.card.times.is_empty() {
            self.timed.insert(number);
        }
        if current && row.excludes.is_some() {
            self.exclusions.insert(number);
        }
        if current {
            self.join(number, &row);
            self.show(number);
        } else {
            self.conversations.insert(number, None, None, 0, id, false);
        }
        self.rows.push(row);
    }

    fn facts_of(&mut self, row: &Row) -> (Hot, Voice) {
        let card = &row.card;
        let source = card.source();
        let speaker = source.and_then(|source| source.speaker.as_deref());
        let occurred = card.occurred_at.as_micros();
        let voice = Voice {
            speaker: speaker.map_or(NO_ROW, |name| self.names.number(name)),
            assistant: source.and_then(|source| source.role) == Some(Role::Assistant),
            question: row.question,
            contradicts: card.links.iter().any(|link| link.kind == LinkKind::ConflictsWith),
        };
        let hot = Hot {
            from: card.updated_at.as_micros(),
            until: row.until.as_micros(),
            expires: card.expires_at.map_or(i64::MAX, Timestamp::as_micros),
            occurred,
            referenced: card.last_accessed_at.map_or(occurred, |at| at.as_micros().max(occurred)),
            importance: card.importance,
            confidence: card.confidence,
            category: self.names.number(&card.category),
            state: card.state,
            scheduled: card
                .links
                .iter()
                .any(|link| matches!(link.kind, LinkKind::Succeeds | LinkKind::SucceededBy)),
        };
        (hot, voice)
    }

    fn close(&mut self, number: u32, at: Timestamp) {
        if let Some(closed) = &mut self.closed {
            closed.entry(self.rows[number as usize].card.id).or_default().push(number);
        }
        self.hide(number);
        self.exclusions.remove(&number);
        self.rows[number as usize].until = at;
        self.hot[number as usize].until = at.as_micros();
        self.leave(number);
    }

    /// Takes over counters, times and sources of a version that stays current.
    fn refresh(&mut self, number: u32, card: &Card) {
        let row = Row { card: stripped(card), ..self.rows[number as usize].clone() };
        self.named.replace(number, &self.rows[number as usize].card, &row.card);
        self.hide(number);
        // A card that had no source gets its first one by a later mention.
        if row.until == Timestamp::MAX && row.card.source() != self.rows[number as usize].card.source() {
            self.leave(number);
            self.join(number, &row);
        }
        (self.hot[number as usize], self.voices[number as usize]) = self.facts_of(&row);
        self.ages[number as usize] = age_of(&row.card);
        self.rows[number as usize] = row;
        self.show(number);
    }

    /// Puts an open row, which is not shown yet, into its conversation.
    fn join(&mut self, number: u32, row: &Row) {
        let source = row.card.source();
        self.conversations.insert(
            number,
            source.and_then(|s| s.session.as_deref()),
            source.and_then(|s| s.turn),
            row.card.occurred_at.as_micros(),
            row.card.id,
            row.card.is_event() || row.card.track == Track::Episodic,
        );
        let (before, after) = self.conversations.neighbours(number);
        let parted = self.pair_length(before, after);
        self.present.part(parted);
    }

    /// Takes a row, which is not shown any more, out of its conversation.
    fn leave(&mut self, number: u32) {
        let (before, after) = self.conversations.neighbours(number);
        self.conversations.remove(number);
        let paired = self.pair_length(before, after);
        self.present.pair(paired);
    }

    /// Counts a row to those that are shown, if it is one.
    fn show(&mut self, number: u32) {
        let length = self.text.document_length(number).unwrap_or(0);
        let (hot, age) = (&self.hot[number as usize], &self.ages[number as usize]);
        let speaker = self.voices[number as usize].speaker;
        if self.present.show(number, hot, age, speaker, length) {
            let pairs = self.pairs_of(number);
            self.present.pair(pairs);
            for concept in self.senses[number as usize].concepts.iter() {
                *self.concepts.entry(concept).or_default() += 1;
            }
        }
    }

    fn hide(&mut self, number: u32) {
        let pairs = self.pairs_of(number);
        let length = self.text.document_length(number).unwrap_or(0);
        let (hot, age) = (&self.hot[number as usize], &self.ages[number as usize]);
        let speaker = self.voices[number as usize].speaker;
        if self.present.hide(number, hot, age, speaker, length) {
            self.present.part(pairs);
            for concept in self.senses[number as usize].concepts.iter() {
                if let Some(count) = self.concepts.get_mut(&concept) {
                    *count = count.saturating_sub(1);
                }
            }
        }
    }

    fn pairs_of(&self, number: u32) -> u64 {
        let (before, after) = self.conversations.neighbours(number);
        self.pair_length(before, Some(number)) + self.pair_length(Some(number), after)
    }

    /// Length of both texts of two neighbours, when both are shown.
    fn pair_length(&self, before: Option<u32>, after: Option<u32>) -> u64 {
        match (before, after) {
            (Some(a), Some(b)) if self.present.rows().contains(a) && self.present.rows().contains(b) => {
                [a, b].iter().map(|row| u64::from(self.text.document_length(*row).unwrap_or(0))).sum()
            }
            _ => 0,
        }
    }

    /// How many rows there are, dropped ones included; row numbers are below it.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// A row.
    pub(crate) fn row(&self, number: u32) -> &Row {
        &self.rows[number as usize]
    }

    /// Every row, in order.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The hot facts of every row, in order.
    pub(crate) fn hot(&self) -> &[Hot] {
        &self.hot
    }

    /// The age of every row, in order.
    pub(crate) fn ages(&self) -> &[Age] {
        &self.ages
    }

    /// The voice of every row, in order.
    pub(crate) fn voices(&self) -> &[Voice] {
        &self.voices
    }

    /// What the rows say of entities.
    pub(crate) fn said(&self) -> &Said {
        &self.said
    }

    /// Rows whose content names a time.
    pub(crate) fn timed(&self) -> &RowSet {
        &self.timed
    }

    /// The sense of every row, in order.
    pub(crate) fn senses(&self) -> &[Sense] {
        &self.senses
    }

    /// How many of the rows that every view of the present shows speak of a concept.
    pub(crate) fn concept_count(&self, concept: Concept) -> u32 {
        self.concepts.get(&concept).copied().unwrap_or(0)
    }

    /// The postings.
    pub(crate) fn text(&self) -> &TextIndex {
        &self.text
    }

    /// The vectors; none before the first one came.
    pub(crate) fn vectors(&self) -> Option<&Arc<VectorIndex>> {
        self.vectors.as_ref()
    }

    /// The rows that a read shows when it asks for nothing special.
    pub(crate) fn present(&self) -> &Present {
        &self.present
    }

    /// The row of a card's current version.
    pub(crate) fn open_row(&self, id: CardId) -> Option<u32> {
        self.open.get(&id).copied()
    }

    /// The order of conversations.
    pub(crate) fn conversations(&self) -> &Conversations {
        &self.conversations
    }

    /// The neighbours of rows, of which those in `live` count.
    pub(crate) fn windows<'a>(&'a self, live: &'a RowSet) -> Windows<'a> {
        Windows { previous: self.conversations.previous(), next: self.conversations.next(), live }
    }

    /// Names of speakers and categories by their number.
    pub(crate) fn names(&self) -> &[String] {
        &self.names.names
    }

    /// Rows of current versions that rule something out, whatever their state.
    pub(crate) fn exclusions(&self) -> impl Iterator<Item = u32> + '_ {
        self.exclusions.iter().copied()
    }

    /// Cards whose present or earlier statement has that topic or subject.
    pub(crate) fn by_hash(&self, hash: u64) -> &[CardId] {
        self.hashes.get(&hash).map_or(&[], Vec::as_slice)
    }

    /// The rows, of whatever version, that name things.
    pub(crate) fn named(&self) -> &NamedRows {
        &self.named
    }

    /// The row of a card's current version.
    pub(crate) fn current(&self, id: CardId) -> Option<&Row> {
        self.open.get(&id).map(|number| self.row(*number))
    }

    /// Memory used, roughly, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let vectors = self.vectors.as_ref().map_or(0, |index| {
            let bytes = index.bytes();
            bytes.vectors + bytes.codes + bytes.links + bytes.other
        });
        let others =
            self.conversations.bytes() + self.present.bytes() + self.named.bytes() + self.said.bytes();
        self.row_bytes + self.text.bytes() + vectors + others
    }

    /// Text and rows from a snapshot, `None` for what was dropped; vectors are added by its
    /// reader. `None` when they do not fit together.
    pub(crate) fn from_parts(
        rows: Vec<Option<Row>>,
        text: TextIndex,
        applied: u64,
        checksum: u64,
    ) -> Option<Self> {
        if text.rows() != rows.len() {
            return None;
        }
        let mut partition = Self { text, applied, checksum, ..Self::default() };
        for row in rows {
            let Some(row) = row else {
                partition.attach_dropped();
                continue;
            };
            // Two open versions of one card cannot come from a sound snapshot.
            if row.until == Timestamp::MAX && partition.open.contains_key(&row.card.id) {
                return None;
            }
            partition.attach(row);
        }
        Some(partition)
    }
}

/// How a partition keeps its vectors: the dimension is that of the first one.
pub(crate) fn vector_options() -> VectorOptions {
    VectorOptions { maintenance: Maintenance::Background, ..VectorOptions::default() }
}

/// The text that says what a card states: its content, or its summary where the content
/// only points back ("now it is red").
pub(crate) fn statement(card: &Card) -> &str {
    match &card.summary {
        Some(summary) if judge::analyze(&card.content).refers_back() => summary,
        _ => &card.content,
    }
}

fn age_of(card: &Card) -> Age {
    Age {
        recorded: card.recorded_at.as_micros(),
        reference: card.reference().as_micros(),
        exempt: card.is_exempt(),
    }
}

/// What a card rules out: its fact's value or what its words name. A turn of a conversation
/// is an event, which rules nothing out for later.
fn excluded(card: &Card) -> Option<Box<str>> {
    /// An excluded card need not say "never": then the whole of a short text is the object.
    const SHORT: usize = 40;
    if card.is_event() {
        return None;
    }
    let named = judge::excluded_object(&card.content);
    let object = match card.polarity {
        Polarity::Affirmed => named,
        Polarity::Excluded => card
            .fact
            .as_ref()
            .map(|fact| fact.value.to_lowercase())
            .or(named)
            .or_else(|| (card.content.len() <= SHORT).then(|| card.content.trim().to_lowercase())),
    };
    object.map(Into::into)
}

fn stripped(card: &Card) -> Card {
    Card { content: String::new(), summary: None, reason: Reason::default(), ..card.clone() }
}

fn row_bytes(row: &Row) -> usize {
    let card = &row.card;
    let lists = card.entities.iter().chain(&card.tags).map(|text| text.len() + 24).sum::<usize>()
        + card.mentions.iter().map(|mention| mention.name.len() + 32).sum::<usize>()
        + card.times.iter().map(|time| time.phrase.len() + 56).sum::<usize>();
    let attributes =
        card.attributes.iter().map(|(key, value)| key.len() + 64 + value.to_string().len()).sum::<usize>();
    size_of::<Row>()
        + size_of::<Hot>()
        + size_of::<Age>()
        + size_of::<Voice>()
        + size_of::<Sense>()
        + 160
        + lists
        + attributes
}

/// The text by which a card is found: content, summary, fact, entities and tags. The
/// speaker is a field and not part of it.
pub(crate) fn searched_text(card: &Card) -> std::borrow::Cow<'_, str> {
    let parts: Vec<&str> = card
        .summary
        .iter()
        .chain(card.fact.iter().flat_map(|fact| [&fact.entity, &fact.attribute, &fact.value]))
        .chain(&card.entities)
        .chain(&card.tags)
        .map(String::as_str)
        .filter(|part| !card.content.contains(part))
        .collect();
    if parts.is_empty() {
        return (&card.content).into();
    }
    let mut text = card.content.clone();
    for part in parts {
        text.push('\n');
        text.push_str(part);
    }
    text.into()
}

/// True when the text ends in a question mark of any script or in 吗; a note in brackets at
/// the end (a picture's caption) does not count.
fn is_question(text: &str) -> bool {
    let mut end = text.trim_end();
    if end.ends_with(']')
        && let Some(open) = end.rfind('[')
    {
        end = &end[..open];
    }
    let closing = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '”' | '’' | '」' | ')' | '）');
    end.trim_end_matches(closing).ends_with(['?', '？', '؟', '吗'])
}
