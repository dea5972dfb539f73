//! Concepts: the classes of things that list questions ask for ("what instruments…").

use super::lexicon::Tag;
use super::words::{Token, TokenKind, Words};

/// Changes whenever a text can get other concepts; what is derived from another version has
/// to be derived again.
pub const LEXICON_VERSION: u32 = 1;

macro_rules! concepts {
    ($($name:ident = $text:literal,)*) => {
        /// A class of things.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Concept {
            $(#[doc = $text] $name,)*
        }

        impl Concept {
            /// All concepts in the order of their numbers.
            pub const ALL: &'static [Concept] = &[$(Concept::$name,)*];

            /// The name of the concept.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Concept::$name => $text,)*
                }
            }
        }
    };
}

concepts! {
    Book = "book", Film = "film", Series = "series", Music = "music", Artist = "artist",
    Instrument = "instrument", Pet = "pet", Animal = "animal", Food = "food", Dish = "dish",
    Drink = "drink", Fruit = "fruit", Vegetable = "vegetable", Sport = "sport", Game = "game",
    Hobby = "hobby", Art = "art", Place = "place", City = "city", Country = "country",
    Nature = "nature", Restaurant = "restaurant", Event = "event", Concert = "concert",
    Trip = "trip", Family = "family", Child = "child", Partner = "partner", Friend = "friend",
    Colleague = "colleague", Person = "person", Name = "name", Job = "job", Company = "company",
    School = "school", Course = "course", Degree = "degree", Vehicle = "vehicle",
    Device = "device", Software = "software", Clothing = "clothing", Plant = "plant",
    Medicine = "medicine", Illness = "illness", Allergy = "allergy", Exercise = "exercise",
    Outdoor = "outdoor activity", Language = "language", Religion = "religion",
    Charity = "charity", Money = "money", Home = "home", Furniture = "furniture",
    Colour = "colour", Weather = "weather", Holiday = "holiday", Emotion = "emotion",
    Award = "award", Body = "body part", Number = "number", Date = "date", Time = "time",
    Duration = "duration", Age = "age", Birthday = "birthday", Dance = "dance",
    Writing = "writing", Photo = "photo", Cooking = "cooking", Plan = "plan", Toy = "toy",
    Contact = "contact", Gift = "gift", Meeting = "meeting", Subject = "field of study",
    Identity = "identity", Craft = "craft", Shop = "shop", Document = "document",
    Problem = "problem", Project = "project", Preference = "preference", Sweet = "sweet",
}

/// A set of concepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ConceptSet(u128);

impl ConceptSet {
    /// The set without any.
    pub const EMPTY: ConceptSet = ConceptSet(0);

    /// The set of these.
    #[must_use]
    pub const fn of(concepts: &[Concept]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < concepts.len() {
            bits |= 1 << concepts[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// A set from its bits, as [`bits`](Self::bits) gives them; unknown bits are dropped.
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits & ((1 << Concept::ALL.len()) - 1))
    }

    /// One bit for each concept, by its number.
    #[must_use]
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// True when it has this one.
    #[must_use]
    pub const fn contains(self, concept: Concept) -> bool {
        self.0 & (1 << concept as u8) != 0
    }

    /// True when it has none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many it has.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// What is in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in this one only.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Its concepts in order.
    pub fn iter(self) -> impl Iterator<Item = Concept> {
        Concept::ALL.iter().copied().filter(move |concept| self.contains(*concept))
    }

    /// With what they are kinds of: an apple is a fruit, and a fruit is food.
    #[must_use]
    pub fn with_kinds(self) -> Self {
        let mut all = self;
        for (concept, kinds) in KINDS {
            if self.contains(*concept) {
                all = all.union(ConceptSet::of(kinds));
            }
        }
        all
    }
}

impl FromIterator<Concept> for ConceptSet {
    fn from_iter<I: IntoIterator<Item = Concept>>(concepts: I) -> Self {
        Self(concepts.into_iter().fold(0, |bits, concept| bits | 1 << concept as u8))
    }
}

/// What each is a kind of.
const KINDS: &[(Concept, &[Concept])] = &[
    (Concept::Pet, &[Concept::Animal]),
    (Concept::Dish, &[Concept::Food]),
    (Concept::Fruit, &[Concept::Food]),
    (Concept::Vegetable, &[Concept::Food]),
    (Concept::Sweet, &[Concept::Food]),
    (Concept::City, &[Concept::Place]),
    (Concept::Country, &[Concept::Place]),
    (Concept::Nature, &[Concept::Place]),
    (Concept::Restaurant, &[Concept::Place]),
    (Concept::Shop, &[Concept::Place]),
    (Concept::Concert, &[Concept::Event, Concept::Music]),
    (Concept::Holiday, &[Concept::Event]),
    (Concept::Meeting, &[Concept::Event]),
    (Concept::Birthday, &[Concept::Event, Concept::Date]),
    (Concept::Child, &[Concept::Family, Concept::Person]),
    (Concept::Partner, &[Concept::Family, Concept::Person]),
    (Concept::Family, &[Concept::Person]),
    (Concept::Friend, &[Concept::Person]),
    (Concept::Colleague, &[Concept::Person]),
    (Concept::Artist, &[Concept::Person, Concept::Music]),
    (Concept::Dance, &[Concept::Hobby]),
    (Concept::Art, &[Concept::Hobby]),
    (Concept::Craft, &[Concept::Hobby, Concept::Art]),
    (Concept::Photo, &[Concept::Hobby]),
    (Concept::Cooking, &[Concept::Hobby]),
    (Concept::Outdoor, &[Concept::Hobby]),
    (Concept::Instrument, &[Concept::Music]),
    (Concept::Allergy, &[Concept::Illness]),
    (Concept::Degree, &[Concept::Course]),
    (Concept::Subject, &[Concept::Course]),
];

/// The concepts of the things that a text speaks of, with what they are kinds of.
///
/// ```
/// use memcards::graph::{Concept, concepts};
///
/// assert!(concepts("She has adopted a puppy").contains(Concept::Pet));
/// assert!(concepts("他在学小提琴").contains(Concept::Instrument));
/// ```
#[must_use]
pub fn concepts(text: &str) -> ConceptSet {
    of_words(&Words::read(text))
}

pub(super) fn of_words(words: &Words<'_>) -> ConceptSet {
    words.tokens().iter().fold(ConceptSet::EMPTY, |all, token| all.union(token.concepts())).with_kinds()
}

/// What the verb of a question says about the thing that it asks for.
const ASKING_VERBS: &[(&str, &[Concept])] = &[
    ("read|reading|读|读过|读了|在读", &[Concept::Book]),
    ("watch|watched|watching|看过|看了|观看", &[Concept::Film, Concept::Series]),
    ("eat|eats|ate|eaten|eating|喜欢吃|爱吃|吃|吃过|吃了", &[Concept::Food]),
    ("cook|cooked|cooking|bake|baked|baking|做菜|烤", &[Concept::Food]),
    ("drink|drinks|drank|drinking|喝|喝过|喝了", &[Concept::Drink]),
    ("play|plays|played|playing", &[Concept::Instrument, Concept::Game, Concept::Sport]),
    ("弹|演奏|弹奏", &[Concept::Instrument]),
    ("玩|玩过", &[Concept::Game]),
    ("wear|wears|wearing|wore|穿|穿了", &[Concept::Clothing]),
    ("paint|painted|painting|draw|drew|drawn|画|画过|画了", &[Concept::Art]),
    ("visit|visited|visiting|travel|traveled|travelled|travelling|去过|旅行", &[Concept::Place]),
    ("adopt|adopted|养|养过|养了|养着", &[Concept::Pet]),
    ("listen|listens|listened|listening|听|听过|听了", &[Concept::Music]),
    ("speak|speaks|spoke", &[Concept::Language]),
    ("study|studied|studying|studies|major|majored|学|学过|学了|主修", &[Concept::Subject]),
    ("allergic|过敏", &[Concept::Allergy]),
    ("drive|drives|drove|driving|开车", &[Concept::Vehicle]),
    ("plant|planted|grow|grows|grew|种|种了|种过", &[Concept::Plant]),
    ("win|won|获得|赢得|赢|得过", &[Concept::Award]),
    ("volunteer|volunteered|volunteering|志愿", &[Concept::Charity]),
    ("feel|feels|felt|感觉", &[Concept::Emotion]),
    ("cost|costs|paid|pay|spend|spent|花", &[Concept::Money]),
    ("born|出生", &[Concept::Date, Concept::Place]),
    ("take medicine|吃药|服用", &[Concept::Medicine]),
    ("train|exercise|锻炼", &[Concept::Exercise]),
];

fn of_verb(key: &str) -> ConceptSet {
    use std::collections::HashMap;
    use std::sync::LazyLock;
    static VERBS: LazyLock<HashMap<&str, ConceptSet>> = LazyLock::new(|| {
        let each = |(words, concepts): &(&'static str, &'static [Concept])| {
            let set = ConceptSet::of(concepts);
            words.split('|').map(move |word| (word, set)).collect::<Vec<_>>()
        };
        ASKING_VERBS.iter().flat_map(each).collect()
    });
    VERBS.get(key).copied().unwrap_or_default()
}

/// The concepts of what a question asks for: the class words of its head, else what its verb
/// says. Empty when neither tells.
///
/// ```
/// use memcards::graph::{Concept, ConceptSet, asked};
///
/// assert_eq!(asked("What instruments does Anna play?"), ConceptSet::of(&[Concept::Instrument]));
/// assert!(asked("她养了什么宠物？").contains(Concept::Pet));
/// ```
#[must_use]
pub fn asked(question: &str) -> ConceptSet {
    of_question(&Words::read(question))
}

pub(super) fn of_question(words: &Words<'_>) -> ConceptSet {
    let tokens = words.tokens();
    let mut found = ConceptSet::EMPTY;
    let mut open = None;
    let mut asked_before = false;
    for (at, token) in tokens.iter().enumerate() {
        if !token.has(Tag::ASKS) || is_relative(words, at, asked_before) {
            continue;
        }
        asked_before = true;
        let place = asks_place(words, at);
        found = found.union(if place {
            ConceptSet::of(&[Concept::Place])
        } else {
            of_asking_word(words.key(token))
        });
        if !place && open.is_none() && asks_for_thing(words.key(token)) {
            open = Some(at);
        }
    }
    let Some(at) = open else {
        if found.is_empty() {
            // "Tell me all the books …", "Does Anna have any pets?": the class words.
            for token in tokens.iter().filter(|token| token.has(Tag::CLASS)) {
                found = found.union(token.concepts());
            }
        }
        return found;
    };
    let head = concepts_of_head(words, at);
    let head = if head.is_empty() && tokens[at].has(Tag::ASKS) { by_verb(words, at) } else { head };
    // Children and partners are family, whatever they are to the question.
    let family = head.contains(Concept::Child) || head.contains(Concept::Partner);
    let head = if family { head.union(ConceptSet::of(&[Concept::Family])) } else { head };
    found.union(head)
}

/// 在哪, 去哪 without a noun after it.
pub(super) fn asks_place(words: &Words<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| words.key_at(before));
    words.key_at(at) == "哪"
        && matches!(before, "在" | "去" | "到" | "住" | "住在" | "放" | "来自" | "去了" | "去过" | "从")
}

/// "The shop where I bought it", "when I was a child": no question of the sentence.
fn is_relative(words: &Words<'_>, at: usize, asked_before: bool) -> bool {
    let token = &words.tokens()[at];
    if token.kind == TokenKind::Han || at == 0 || token.starts {
        return false;
    }
    let before = &words.tokens()[at - 1];
    // In a question the asking word stands first, after a mark, a preposition or "and".
    matches!(words.key(token), "where" | "when" | "who" | "that" | "which" | "how" | "why")
        && before.kind == TokenKind::Word
        && !before.has(Tag::STOP)
        && asked_before
}

fn of_asking_word(key: &str) -> ConceptSet {
    match key {
        "where" | "哪里" | "哪儿" | "何处" | "什么地方" | "哪个地方" | "哪边" => {
            ConceptSet::of(&[Concept::Place])
        }
        "who" | "whom" | "whose" | "谁" | "哪位" | "什么人" | "哪个人" | "何人" => {
            ConceptSet::of(&[Concept::Person])
        }
        "when" | "什么时候" | "何时" | "哪天" | "哪一天" | "几号" | "几月" | "哪年" | "哪一年"
        | "什么日子" | "星期几" | "周几" | "what date" | "what day" | "which day" | "what year"
        | "which year" | "what month" | "which month" => ConceptSet::of(&[Concept::Date]),
        "几点" | "几点钟" | "什么时间" | "what time" => ConceptSet::of(&[Concept::Time]),
        "how long" | "多久" | "多长时间" | "几年" | "几天" | "几个月" | "几个小时" | "几小时" | "几周" => {
            ConceptSet::of(&[Concept::Duration])
        }
        "how old" | "多大" | "几岁" | "多大年纪" | "多少岁" => ConceptSet::of(&[Concept::Age]),
        "how much" | "多少钱" => ConceptSet::of(&[Concept::Money, Concept::Number]),
        "how many" | "how many times" | "多少" | "几" | "几个" | "几次" | "几只" | "几本" | "几部"
        | "几条" => ConceptSet::of(&[Concept::Number]),
        _ => ConceptSet::EMPTY,
    }
}

/// True for asking words that a noun can follow.
fn asks_for_thing(key: &str) -> bool {
    matches!(
        key,
        "what"
            | "which"
            | "how many"
            | "how much"
            | "whose"
            | "what kind of"
            | "what kinds of"
            | "what type of"
            | "what types of"
            | "what sort of"
            | "what sorts of"
            | "什么"
            | "哪些"
            | "哪"
            | "哪个"
            | "几"
            | "几个"
            | "几只"
            | "几本"
            | "几部"
            | "几条"
            | "多少"
            | "哪种"
            | "哪几"
            | "哪几个"
            | "哪几种"
            | "哪几本"
            | "哪几部"
            | "哪本"
            | "哪部"
            | "哪只"
            | "哪家"
            | "哪所"
            | "什么样的"
            | "什么样"
            | "哪门"
            | "哪首"
            | "啥"
            | "哪一个"
            | "哪款"
            | "哪种类型的"
            | "哪位"
    )
}

/// English: the words between the asking word and the first verb; where the verb "to be"
/// follows at once, what is spoken of after it.
fn english_head(words: &Words<'_>, at: usize) -> ConceptSet {
    let tokens = words.tokens();
    let mut after = at + 1;
    let is_copula =
        |token: &Token| matches!(words.key(token), "is" | "are" | "was" | "were" | "'s" | "'re" | "be");
    let named = tokens.get(after).is_some_and(is_copula);
    if named {
        after += 1;
    }
    let mut found = ConceptSet::EMPTY;
    for token in tokens[after..].iter().take(10) {
        if token.kind == TokenKind::End {
            break;
        }
        let key = words.key(token);
        if token.has(Tag::AUXILIARY) && !is_clitic(token) {
            break;
        }
        // "The names of Tom's pets": both sides count. Other prepositions end the head.
        if key != "of" && !found.is_empty() && token.has(Tag::PREPOSITION) {
            break;
        }
        if token.has(Tag::FIRST) && !named && !found.is_empty() {
            break;
        }
        found = found.union(token.common_concepts());
    }
    found
}

/// The concepts of the noun that the asking word at a place asks for.
pub(super) fn concepts_of_head(words: &Words<'_>, at: usize) -> ConceptSet {
    if words.tokens()[at].kind == TokenKind::Han { chinese_head(words, at) } else { english_head(words, at) }
}

fn is_clitic(token: &Token) -> bool {
    token.kind == TokenKind::Clitic
}

/// Chinese: the noun after the asking word; at the end of the question, the one before it.
fn chinese_head(words: &Words<'_>, at: usize) -> ConceptSet {
    let tokens = words.tokens();
    let mut found = ConceptSet::EMPTY;
    for token in tokens[at + 1..].iter().take(4) {
        if token.kind == TokenKind::End || token.kind == TokenKind::Mark {
            break;
        }
        found = found.union(token.concepts());
        if !found.is_empty() {
            return found;
        }
    }
    // 我最喜欢的颜色是什么, 我的猫叫什么
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let links = before.is_some_and(|token| {
        matches!(words.key(token), "是" | "叫" | "为" | "有" | "都是" | "叫做" | "都有")
    });
    if links {
        if matches!(words.key(&tokens[at - 1]), "叫" | "叫做") {
            found = ConceptSet::of(&[Concept::Name]);
        }
        for token in tokens[..at - 1].iter().rev().take(3) {
            if token.kind == TokenKind::End {
                break;
            }
            if !token.concepts().is_empty() {
                return found.union(token.concepts());
            }
        }
    }
    found
}

fn by_verb(words: &Words<'_>, at: usize) -> ConceptSet {
    let tokens = words.tokens();
    if tokens[at].kind == TokenKind::Han {
        let before = tokens[..at].iter().rev().take(3).map(|token| of_verb(words.key(token)));
        return before.fold(ConceptSet::EMPTY, |all, set| if all.is_empty() { set } else { all });
    }
    let mut found = ConceptSet::EMPTY;
    for token in tokens[at + 1..].iter().take(16) {
        if token.kind == TokenKind::End {
            break;
        }
        found = found.union(of_verb(words.key(token)));
    }
    found
}
