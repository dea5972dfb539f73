//! Variants of the weights: each signal left out, and each leg alone.

use memcards::recall::Weights;

/// Weights of a recall that ranks by one leg only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leg {
    /// BM25 of the card.
    Keywords,
    /// BM25 of the card with its neighbours.
    Context,
    /// Cosine of the vectors.
    Meaning,
    /// The date that the question names.
    Date,
}

impl Leg {
    /// Every leg.
    pub const ALL: [Self; 4] = [Self::Keywords, Self::Context, Self::Meaning, Self::Date];

    /// The leg's name, as in the parts of a score.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keywords => "keywords",
            Self::Context => "context",
            Self::Meaning => "meaning",
            Self::Date => "date",
        }
    }

    /// The default weights with everything but this leg switched off.
    pub fn weights(self) -> Weights {
        let default = Weights::default();
        let only = |leg: Self, weight: f32| if self == leg { weight } else { 0.0 };
        Weights {
            // The date leg is weighted like the keyword legs: it needs one of them, and its
            // own rows are told from theirs by the parts of the score.
            keywords: if self == Self::Date { 1.0 } else { only(Self::Keywords, 1.0) },
            context: only(Self::Context, 1.0),
            meaning: only(Self::Meaning, 1.0),
            date: only(Self::Date, default.date),
            cosine_floor: 0.0,
            ..without_adjustments(default)
        }
    }
}

/// No factor, no lending, no modifier: the sum of the legs.
fn without_adjustments(weights: Weights) -> Weights {
    Weights {
        coverage: 1.0,
        other_speaker: 1.0,
        assistant: 1.0,
        asks: 1.0,
        lend_previous: 0.0,
        lend_next: 0.0,
        lend_answer: 0.0,
        alone: 0.0,
        session: 0.0,
        identifier: 0.0,
        concepts: 0.0,
        rerank: 0.0,
        modifier_cap: 0.0,
        ..weights
    }
}

/// The full weights, then without each signal, by name.
pub fn variants() -> Vec<(&'static str, Weights)> {
    let full = Weights::default();
    let change = |name: &'static str, edit: &dyn Fn(&mut Weights)| {
        let mut weights = full.clone();
        edit(&mut weights);
        (name, weights)
    };
    vec![
        ("full", full.clone()),
        change("- keywords", &|w| w.keywords = 0.0),
        change("- context", &|w| w.context = 0.0),
        change("- keywords and context", &|w| (w.keywords, w.context) = (0.0, 0.0)),
        change("- meaning", &|w| w.meaning = 0.0),
        change("- cosine floor", &|w| w.cosine_floor = 0.0),
        change("- date", &|w| (w.date, w.date_idf_min) = (0.0, 0.0)),
        change("- coverage", &|w| w.coverage = 1.0),
        change("- speaker", &|w| w.other_speaker = 1.0),
        change("- role", &|w| w.assistant = 1.0),
        change("- asks", &|w| w.asks = 1.0),
        change("- lend_previous", &|w| w.lend_previous = 0.0),
        change("- lend_next", &|w| w.lend_next = 0.0),
        change("- lend_answer", &|w| w.lend_answer = 0.0),
        change("- all lending", &|w| {
            (w.lend_previous, w.lend_next, w.lend_answer) = (0.0, 0.0, 0.0);
        }),
        change("- alone", &|w| w.alone = 0.0),
        change("- session", &|w| w.session = 0.0),
        change("- concepts", &|w| w.concepts = 0.0),
        change("- re-ranking", &|w| w.rerank = 0.0),
        change("- identifier", &|w| w.identifier = 0.0),
        change("- recency, importance", &|w| w.modifier_cap = 0.0),
        ("keywords alone", Leg::Keywords.weights()),
        ("context alone", Leg::Context.weights()),
        ("meaning alone", Leg::Meaning.weights()),
        (
            "keywords and meaning, no more",
            Weights { context: 0.0, date: 0.0, ..without_adjustments(full.clone()) },
        ),
    ]
}
