//! What the rules see in one text.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::correction;
use super::lexicon::{self, Term};
use super::marks::{self, Item, Role};
use super::normalize::{compatible, normalized_hash};
use super::subject::{self, Subject};
use super::tokens::{self, Kind};

/// Texts longer than this many bytes are compared for identity only: an opposite or a new
/// value inside a long text says nothing about the text as a whole.
pub const ANALYSIS_LIMIT: usize = 2048;

/// Whether a text affirms what it speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stance {
    /// States, likes, wants, allows or asks for it.
    Affirmed,
    /// Denies, dislikes, forbids or ends it.
    Negated,
    /// A question, nothing stated, or several stances in one text.
    Neutral,
}

/// The kind of rule a statement lays down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modal {
    None,
    Can,
    Must,
    /// 需要
    Need,
    Exempt,
}

/// How a thing is taken or left; a topic that leaves this out is told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attitude {
    None,
    Like,
    /// 爱吃, 爱喝: the liking to eat or drink.
    Consume(char),
    Prefer,
    Use,
    Avoid,
}

impl Attitude {
    /// Whether a denial of this kind contradicts the affirmation: who hates a thing may
    /// use it, who does not like to eat fish may like fish.
    pub(super) fn denies(self, affirmed: Self) -> bool {
        match self {
            Self::Like => matches!(affirmed, Self::Like | Self::Consume(_) | Self::Prefer),
            Self::Avoid => matches!(affirmed, Self::Avoid | Self::Use | Self::Prefer),
            other => other == affirmed,
        }
    }

    fn of(items: &[Item], at: usize) -> Option<Self> {
        let item = &items[at];
        let text = item.text.as_str();
        match item.role {
            Role::Plain(Term::Like(_)) if text.starts_with("avoid") => Some(Self::Avoid),
            Role::Plain(Term::Like(_)) if text.starts_with("prefer") => Some(Self::Prefer),
            Role::Plain(Term::Like(_)) => Some(consumed(items, at + 1).map_or(Self::Like, Self::Consume)),
            Role::Plain(Term::Content) if item.topic == "use" => Some(Self::Use),
            _ => None,
        }
    }
}

/// One text as the rules see it. Made by [`analyze`], compared by
/// [`relation`](super::relation).
#[derive(Clone, Debug)]
pub struct Analysis {
    pub(super) normalized: u128,
    /// Hash of the statement as a sequence; `None` where the text was not read.
    pub(super) statement: Option<u128>,
    pub(super) topic: Option<u64>,
    pub(super) subject: Option<Subject>,
    pub(super) stance: Stance,
    pub(super) modal: Modal,
    pub(super) attitude: Attitude,
    /// It begins with "remember to", which asks for what follows.
    pub(super) urged: bool,
    pub(super) changed: bool,
    /// It begins by taking back what was said before.
    pub(super) corrects: bool,
    pub(super) question: bool,
    pub(super) refers_back: bool,
    /// Nothing in it negates, so that a value it gives is the value.
    pub(super) plain: bool,
    pub(super) sentences: usize,
    /// Several stances, or a condition: no opposite is ever concluded.
    pub(super) entangled: bool,
    numbers: Vec<Box<str>>,
    dates: Vec<Box<str>>,
    identifiers: Vec<Box<str>>,
    names: Vec<Box<str>>,
}

impl Analysis {
    /// Equal for statements about the same thing, whatever they say of it: stance,
    /// inflection, articles and politeness are left out, the order of words is not.
    /// `None` without any content word.
    ///
    /// ```
    /// use memcards::judge::analyze;
    ///
    /// assert_eq!(analyze("I love tea").topic_hash(), analyze("I don't like tea").topic_hash());
    /// assert_eq!(analyze("的").topic_hash(), None);
    /// ```
    #[must_use]
    pub fn topic_hash(&self) -> Option<u64> {
        self.topic
    }

    /// For statements that give a thing a value (X is Y, X = Y, X改成Y, lives in Y): the
    /// hash of the thing. `None` for everything else.
    ///
    /// ```
    /// use memcards::judge::analyze;
    ///
    /// let old = analyze("The deadline is Friday");
    /// assert!(old.subject_hash().is_some());
    /// assert_eq!(old.subject_hash(), analyze("The deadline has changed to Monday").subject_hash());
    /// ```
    #[must_use]
    pub fn subject_hash(&self) -> Option<u64> {
        self.subject.as_ref().filter(|subject| !subject.pointing).map(|subject| subject.hash)
    }

    /// The hashes under which a statement that relates to this one is found: topic and
    /// subject, or the statement (the whole text where that was not read) where it has neither.
    ///
    /// ```
    /// use memcards::judge::analyze;
    ///
    /// assert!(analyze("的").lookup_hashes()[0].is_some());
    /// ```
    #[must_use]
    pub fn lookup_hashes(&self) -> [Option<u64>; 2] {
        let subject = self.subject_hash();
        // What says the same in other words has no more in common than its statement.
        let whole = subject.is_none().then(|| self.statement.unwrap_or(self.normalized) as u64);
        [self.topic.or(whole), subject]
    }

    /// The value given to the subject, as written apart from articles.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.subject.as_ref().map(|subject| &*subject.value_text)
    }

    /// Whether the text affirms or negates.
    ///
    /// ```
    /// use memcards::judge::{analyze, Stance};
    ///
    /// assert_eq!(analyze("不要使用红色").stance(), Stance::Negated);
    /// assert_eq!(analyze("别忘了使用红色").stance(), Stance::Affirmed);
    /// ```
    #[must_use]
    pub fn stance(&self) -> Stance {
        self.stance
    }

    /// Whether the text says that something has become so: now, no longer, 改成, 不再.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// Whether the text asks.
    #[must_use]
    pub fn is_question(&self) -> bool {
        self.question
    }

    /// Whether the subject only points back ("now it is red"); see
    /// [`relation_to_previous`](super::relation_to_previous).
    #[must_use]
    pub fn refers_back(&self) -> bool {
        self.refers_back
    }

    /// Equal for texts that make the same statement, whatever their padding; the whole text's
    /// where it was not read.
    pub(crate) fn statement_hash(&self) -> u128 {
        self.statement.unwrap_or(self.normalized)
    }

    /// Whether the text says what somebody likes, prefers, avoids or cannot stand.
    pub(crate) fn is_preference(&self) -> bool {
        !matches!(self.attitude, Attitude::None | Attitude::Use)
    }

    /// How many sentences the text has; 0 where it was too long to be read.
    #[must_use]
    pub fn sentences(&self) -> usize {
        self.sentences
    }

    /// The hash of [`normalized_hash`].
    #[must_use]
    pub fn normalized_hash(&self) -> u128 {
        self.normalized
    }

    /// Numbers, in their order, those of dates left out.
    #[must_use]
    pub fn numbers(&self) -> &[Box<str>] {
        &self.numbers
    }

    /// Words and numbers of the calendar and the clock, in their order.
    #[must_use]
    pub fn dates(&self) -> &[Box<str>] {
        &self.dates
    }

    /// Model names, paths, versions and the like, in their order and case.
    #[must_use]
    pub fn identifiers(&self) -> &[Box<str>] {
        &self.identifiers
    }

    /// Runs of capitalised words inside a sentence, and titles in 《》.
    #[must_use]
    pub fn names(&self) -> &[Box<str>] {
        &self.names
    }
}

/// Reads a text. Time is linear in its length, and no string makes it panic.
///
/// ```
/// let analysis = memcards::judge::analyze("The chip A1603 needs 5 volts");
/// assert_eq!(&*analysis.identifiers()[0], "A1603");
/// assert_eq!(&*analysis.numbers()[0], "5");
/// ```
#[must_use]
pub fn analyze(text: &str) -> Analysis {
    let mut analysis = Analysis {
        normalized: normalized_hash(text),
        statement: None,
        topic: None,
        subject: None,
        stance: Stance::Neutral,
        modal: Modal::None,
        attitude: Attitude::None,
        urged: false,
        changed: false,
        corrects: false,
        question: false,
        refers_back: false,
        plain: false,
        sentences: 0,
        entangled: true,
        numbers: Vec::new(),
        dates: Vec::new(),
        identifiers: Vec::new(),
        names: Vec::new(),
    };
    if text.len() > ANALYSIS_LIMIT {
        return analysis;
    }
    let tokens = correction::announced(tokens::tokenize(&compatible(text)));
    let mut items = marks::read(&tokens);
    subject::absorb_likings(&mut items);
    if items.is_empty() {
        return analysis;
    }
    analysis.question = asks(&tokens, &items);
    let inner_ends = items.iter().rev().skip(1).filter(|item| item.role == Role::End).count();
    analysis.sentences = inner_ends + 1;
    analysis.changed = items.iter().any(marks_change);
    analysis.corrects = correction::is_announced(&items);
    stand(&mut analysis, &items);
    analysis.statement = statement_hash(&items, analysis.question);
    analysis.topic = topic_hash(&items, analysis.entangled);
    if analysis.topic.is_none() {
        analysis.stance = Stance::Neutral;
    }
    let conditional = items.iter().any(|item| item.is(Term::Condition));
    if analysis.sentences == 1 && !analysis.question && !conditional {
        let denied = correction::denied_at(&items);
        analysis.subject = subject::find(&items[..denied.unwrap_or(items.len())]);
        if let Some(at) = denied.filter(|_| analysis.subject.is_some()) {
            analysis.changed = true;
            analysis.plain = !items[..at].iter().any(negates);
        }
    }
    analysis.changed |= analysis.subject.as_ref().is_some_and(|subject| subject.turns);
    analysis.refers_back = analysis.subject.as_ref().is_some_and(|subject| subject.pointing);
    collect(&mut analysis, &items);
    analysis
}

fn marks_change(item: &Item) -> bool {
    matches!(
        item.role,
        Role::Plain(Term::Changed | Term::NoLonger | Term::Change | Term::Move | Term::MoveHome)
    ) || (item.is(Term::Stop) && !matches!(item.exact.as_str(), "avoid" | "避免"))
}

fn negates(item: &Item) -> bool {
    matches!(
        item.role,
        Role::Plain(
            Term::Not
                | Term::NoLonger
                | Term::Stop
                | Term::ScopedNot
                | Term::CanNot
                | Term::MustNot
                | Term::Exempt
        )
    )
}

/// The 吃 or 喝 of a liking, but for the idiom 吃醋.
fn consumed(items: &[Item], at: usize) -> Option<char> {
    let [liking, verb, object, ..] = items.get(at.checked_sub(1)?..)? else { return None };
    let verb = [('吃', "吃"), ('喝', "喝")].into_iter().find(|(_, text)| verb.text == *text)?.0;
    (matches!(liking.role, Role::Plain(Term::Like(_)))
        && object.kind == Kind::Han
        && !matches!(object.text.as_str(), "醋" | "的"))
    .then_some(verb)
}

/// Weighs the negations, sentiments and modal words of a text.
fn stand(analysis: &mut Analysis, items: &[Item]) {
    let (mut negations, mut sides, mut modals) = (0_usize, 0_usize, 0_usize);
    let mut affirmed = true;
    let mut negated_after_side = false;
    let mut scoped = 0_usize;
    let mut conditional = false;
    for (at, item) in items.iter().enumerate() {
        let Role::Plain(term) = item.role else { continue };
        if analysis.attitude == Attitude::None {
            analysis.attitude = Attitude::of(items, at).unwrap_or(Attitude::None);
        }
        match term {
            Term::Reminder => analysis.urged = true,
            Term::Not | Term::NoLonger | Term::Stop => {
                negations += 1;
                negated_after_side |= sides > 0;
            }
            Term::ScopedNot => {
                scoped += usize::from(!matches!(item.text.as_str(), "not only" | "not just" | "not merely"))
            }
            Term::Like(side) | Term::Pair(_, side) => {
                // "Avoid …" at the start forbids.
                if item.initial && item.text == "avoid" && modals == 0 {
                    analysis.modal = Modal::Must;
                }
                sides += 1;
                affirmed = side;
            }
            Term::Can | Term::CanNot => {
                modals += 1;
                analysis.modal = Modal::Can;
                negations += usize::from(term == Term::CanNot);
            }
            Term::Must | Term::MustNot => {
                modals += 1;
                analysis.modal = Modal::Must;
                negations += usize::from(term == Term::MustNot);
            }
            Term::Need => {
                modals += 1;
                analysis.modal = Modal::Need;
            }
            Term::Exempt => {
                modals += 1;
                analysis.modal = Modal::Exempt;
                negations += 1;
            }
            Term::Condition => conditional = true,
            _ => {}
        }
    }
    let mixed =
        negations > 1 || sides > 1 || modals > 1 || negated_after_side || (scoped > 0 && negations > 0);
    let negative = (negations + scoped) % 2 == 1;
    analysis.stance = match (analysis.question || mixed, affirmed != negative) {
        (true, _) => Stance::Neutral,
        (false, true) => Stance::Affirmed,
        (false, false) => Stance::Negated,
    };
    if analysis.modal == Modal::Need && negative {
        analysis.modal = Modal::Exempt;
    }
    analysis.plain = negations == 0 && scoped == 0;
    analysis.entangled = mixed || conditional || scoped > 0;
}

/// The statement as a sequence in which only padding is left out.
fn statement_hash(items: &[Item], question: bool) -> Option<u128> {
    let mut sequence = String::new();
    let mut padded = true;
    let mut content = false;
    for item in items {
        match item.role {
            Role::Plain(Term::Filler | Term::Reminder) => {
                padded = true;
                continue;
            }
            // A comma that only sets off padding goes with it.
            Role::Comma if padded => continue,
            _ => {}
        }
        padded = item.role == Role::End;
        content |= !matches!(item.role, Role::End | Role::Comma | Role::Colon);
        sequence.push('\u{1}');
        sequence.push_str(&item.exact);
    }
    while let Some(rest) = sequence.strip_suffix("\u{1},").or(sequence.strip_suffix("\u{1}.")) {
        sequence.truncate(rest.len());
    }
    sequence.push(if question { '?' } else { '.' });
    content.then(|| xxh3_128(sequence.as_bytes()))
}

fn topic_hash(items: &[Item], entangled: bool) -> Option<u64> {
    let mut sequence = String::new();
    let mut content = false;
    for (at, item) in items.iter().enumerate() {
        let Role::Plain(term) = item.role else {
            if matches!(item.role, Role::Equals | Role::Colon) {
                sequence.push_str("\u{1}=");
            }
            continue;
        };
        let key: &str = match term {
            Term::Filler | Term::Grammar | Term::Reminder | Term::Changed | Term::Start | Term::Be => {
                continue;
            }
            Term::Like(_) | Term::Pair(..) | Term::Not | Term::NoLonger | Term::Stop if entangled => {
                &item.exact
            }
            Term::Can | Term::CanNot | Term::Must | Term::MustNot | Term::Need | Term::Exempt
                if entangled =>
            {
                &item.exact
            }
            Term::Like(_) => "\u{2}like",
            Term::Pair(index, _) => {
                sequence.push('\u{1}');
                sequence.push(char::from(b'A' + index));
                "\u{2}pair"
            }
            Term::Not | Term::NoLonger | Term::Stop => continue,
            Term::Can | Term::CanNot | Term::Must | Term::MustNot | Term::Need | Term::Exempt => continue,
            // "Did not work" and "worked": the verb carries the mark of the past.
            Term::Was if item.text == "did" => continue,
            Term::Single(_) => {
                content = true;
                let stemmed: Vec<String> =
                    item.exact.split(' ').map(|word| marks::stem(word, false)).collect();
                sequence.push('\u{1}');
                sequence.push_str(&stemmed.join("\u{1}"));
                continue;
            }
            Term::Content if consumed(items, at).is_some() => continue,
            // "Use tabs" is answered by "avoid tabs"; the attitude tells them from a liking.
            Term::Content if item.topic == "use" => "\u{2}like",
            // 有猫 and 没有猫; 有 in a longer word is dropped on both sides alike.
            Term::Content if item.text == "有" => continue,
            Term::Content
                if item.text == "to"
                    && at > 0
                    && matches!(items[at - 1].role, Role::Plain(Term::Like(_))) =>
            {
                continue;
            }
            // "Any" goes with a negation: "I eat meat", "I do not eat any meat".
            Term::Scope if item.text == "any" && items[..at].iter().any(|item| item.is(Term::Not)) => {
                continue;
            }
            _ => &item.topic,
        };
        content |= item.is_content()
            || matches!(term, Term::Like(_) | Term::Pair(..) | Term::MoveHome | Term::Move | Term::Change);
        sequence.push('\u{1}');
        sequence.push_str(key);
    }
    content.then(|| xxh3_64(sequence.as_bytes()))
}

/// A question by its mark, its particle, or its first words.
fn asks(tokens: &[tokens::Token], items: &[Item]) -> bool {
    if items.iter().any(|item| item.is(Term::Question))
        || tokens.iter().any(|token| token.kind == Kind::End(true))
    {
        return true;
    }
    // 去不去, 好不好
    let doubled = |window: &[tokens::Token]| {
        window.iter().all(|token| token.kind == Kind::Han)
            && matches!(window[1].text.as_str(), "不" | "没")
            && window[0].text == window[2].text
    };
    if tokens.windows(3).any(doubled) {
        return true;
    }
    let mut words = tokens.iter();
    let (Some(first), Some(second)) = (words.next(), words.next()) else { return false };
    if first.kind != Kind::Word || second.kind != Kind::Word {
        return false;
    }
    let (first, second) = (first.text.as_str(), second.text.as_str());
    if lexicon::ASKING_WORDS.contains(&first) {
        return lexicon::ASKING.contains(&second)
            || (first == "how" && matches!(second, "many" | "much" | "long" | "often"));
    }
    lexicon::ASKING.contains(&first)
        && second != "not"
        && (!lexicon::ASKING_BEFORE_PERSON.contains(&first) || lexicon::PERSONS.contains(&second))
}

/// Gathers what an extractor or a caller may want to see.
fn collect(analysis: &mut Analysis, items: &[Item]) {
    let mut name = String::new();
    let mut title: Option<String> = None;
    for item in items {
        if item.source == "《" {
            title = Some(String::new());
        } else if item.source == "》" {
            analysis.names.extend(title.take().filter(|title| !title.is_empty()).map(String::into_boxed_str));
        } else if let Some(title) = &mut title {
            if title.ends_with(|c: char| c.is_ascii_alphanumeric()) && item.kind != Kind::Han {
                title.push(' ');
            }
            title.push_str(&item.source);
        }
        let named = item.capital
            && !item.initial
            && item.kind == Kind::Word
            && item.is_content()
            && !item.date
            && item.text != "i";
        if named && item.text != "my" {
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(&item.source);
        } else if !name.is_empty() {
            analysis.names.push(std::mem::take(&mut name).into_boxed_str());
        }
        if item.date {
            analysis.dates.push(item.source.as_str().into());
        } else if item.is_number() {
            analysis.numbers.push(item.source.as_str().into());
        } else if item.kind == Kind::Identifier {
            analysis.identifiers.push(item.source.as_str().into());
        }
    }
    if !name.is_empty() {
        analysis.names.push(name.into_boxed_str());
    }
}
