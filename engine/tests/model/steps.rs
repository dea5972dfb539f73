//! What a sequence is made of: calls over a small vocabulary, so that duplicates, merges,
//! opposites and new values happen all the time.

use memcards::card::{Fact, Polarity, Provenance, Role, Track};
use memcards::filter::Filter;
use memcards::{Correct, Duration, How, Include, Order, Remember, Timestamp};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

pub(crate) const CONTENTS: &[&str] = &[
    "Smoking is allowed here.",
    "Smoking is not allowed here.",
    "The colour is blue",
    "The colour is now red",
    "Now it is green",
    "I like tea",
    "I like tea!",
    "please remember: I like tea",
    "I don't like tea",
    "I no longer like tea",
    "我喜欢喝绿茶",
    "我喜欢喝绿茶。",
    "我不喜欢喝绿茶",
    "项目截止日期是周五",
    "项目截止日期改成周一",
    "不要使用红色",
    "别忘了使用红色",
    "使用红色",
    "The deadline is Friday",
    "The deadline has changed to Monday",
    "order INC-90312 is late",
    "I have a cat named Miso",
    "Is smoking allowed here?",
    "The server port is 8080",
    "The server port is 9090",
    "I live in Paris",
    "I moved to Berlin",
    "的",
];

pub(crate) const START: i64 = 1_700_000_000_000_000;
const HOUR: i64 = 3_600_000_000;

fn at(hours: i64) -> Timestamp {
    Timestamp::from_micros(START + hours * HOUR)
}

/// A call, with cards named by their place in what is there when it is made.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Remember(usize, Box<Remember>),
    Correct(usize, Index, bool, Box<Correct>),
    Forget(usize, Vec<Index>, Option<Filter>, bool),
    Restore(usize, Vec<Index>),
    Get(usize, Index, Option<Timestamp>, Vec<Include>),
    /// Order, limit, filter, what is shown.
    List(usize, Order, usize, Option<Filter>, Box<View>),
    History(usize, Index),
    Recall(usize, &'static str, usize, Option<Filter>, Box<View>),
    Clock(i64),
    Reopen,
    Checkpoint,
    /// Another model takes over, and embeds everything anew.
    Reembed,
}

#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) include: Vec<Include>,
    pub(crate) as_of: Option<Timestamp>,
    pub(crate) known_at: Option<Timestamp>,
}

fn maybe<T: Clone + std::fmt::Debug + 'static>(
    weight: f64,
    strategy: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Option<T>> {
    prop::option::weighted(weight, strategy).boxed()
}

pub(crate) fn filters() -> Vec<Value> {
    vec![
        json!({"field": "category", "eq": "preference"}),
        json!({"field": "tags", "contains": "a"}),
        json!({"not": {"field": "tags", "contains": "b"}}),
        json!({"field": "session", "eq": "s1"}),
        json!({"field": "session", "in": ["s1", "s2"]}),
        json!({"field": "turn", "gte": 2}),
        json!({"field": "content", "contains": "tea"}),
        json!({"field": "content", "contains": "红色"}),
        json!({"field": "importance", "gte": 0.5}),
        json!({"field": "merge_key", "exists": true}),
        json!({"and": [{"field": "track", "eq": "semantic"}, {"field": "confidence", "lt": 0.8}]}),
        json!({"or": [{"field": "fact.value", "eq": "blue"}, {"field": "role", "eq": "assistant"}]}),
        json!({"field": "occurred_at", "lt": at(3).to_string()}),
        json!({"field": "expires_at", "exists": true}),
        json!({"field": "superseded_by", "exists": true}),
        json!({"field": "attributes.n", "in": [1, 2]}),
        json!({"field": "version", "gt": 1}),
        json!({"field": "pinned", "eq": true}),
        json!({"field": "state", "ne": "candidate"}),
        json!({"field": "speaker", "eq": "Ann"}),
    ]
}

fn filter() -> BoxedStrategy<Filter> {
    select(filters()).prop_map(|json| Filter::parse(&json).unwrap()).boxed()
}

fn fact() -> BoxedStrategy<Fact> {
    (select(vec!["car", "Car "]), select(vec!["blue", "red", "Blue"]))
        .prop_map(|(entity, value)| Fact {
            entity: entity.into(),
            attribute: "colour".into(),
            value: value.into(),
        })
        .boxed()
}

fn vector() -> BoxedStrategy<Vec<f32>> {
    // Few directions, so that some are near each other and others are not.
    select(vec![
        vec![1.0f32, 0.0, 0.0, 0.0],
        vec![2.0, 0.1, 0.0, 0.0],
        vec![0.0, 1.0, 1.0, 0.0],
        vec![-1.0, 0.5, 0.25, 3.0],
    ])
    .boxed()
}

pub(crate) fn remember(caller: bool) -> BoxedStrategy<Remember> {
    let text = (select(CONTENTS), maybe(0.2, select(vec!["short", "kurz"])), maybe(0.15, fact()));
    let kind = (
        maybe(0.1, select(Track::ALL)),
        maybe(0.2, select(vec!["preference", "knowledge"])),
        maybe(0.1, select(Polarity::ALL)),
        maybe(0.25, select(vec![Provenance::Inferred, Provenance::Confirmed, Provenance::Stated])),
        maybe(0.3, select(vec![0.25f32, 0.5, 1.0])),
        prop::bool::weighted(0.1),
    );
    let words = (
        prop::collection::vec(select(vec!["a", "b", "c"]), 0..3),
        prop::collection::vec(select(vec!["Miso", "Paris"]), 0..2),
        maybe(0.15, 1..4i64),
        maybe(0.2, select(vec!["k1", "k2"])),
        maybe(0.1, select(vec!["r1", "r2", "r3"])),
        maybe(0.2, select(vec!["tester"])),
    );
    let source = (
        maybe(0.3, (select(vec!["s1", "s2"]), maybe(0.4, 1..4u32))),
        maybe(0.2, select(vec![Role::User, Role::Assistant])),
        maybe(0.2, select(vec!["Ann", "Ben"])),
    );
    let times = (
        maybe(0.2, -2..8i64),
        maybe(0.1, 0..4i64),
        maybe(0.15, prop_oneof![(1..4i64).prop_map(|h| h * HOUR), Just(30)]),
    );
    let vector = if caller { maybe(0.7, vector()) } else { Just(None).boxed() };
    (text, kind, words, source, times, vector)
        .prop_map(|(text, kind, words, source, times, vector)| {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let strings = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
            let (session, turn) = match source.0 {
                Some((session, turn)) => (Some(session.to_owned()), turn),
                None => (None, None),
            };
            Remember {
                content: text.0.into(),
                summary: owned(text.1),
                fact: text.2,
                track: kind.0,
                category: owned(kind.1),
                polarity: kind.2,
                provenance: kind.3,
                importance: kind.4,
                pinned: kind.5,
                tags: strings(words.0),
                entities: strings(words.1),
                attributes: words.2.map(|n| ("n".to_owned(), Value::from(n))).into_iter().collect(),
                merge_key: owned(words.3),
                idempotency_key: owned(words.4),
                actor: owned(words.5),
                session,
                turn,
                role: source.1,
                speaker: owned(source.2),
                occurred_at: times.0.map(at),
                valid_from: times.1.map(at),
                valid_to: times.1.map(|hours| at(hours + 6)),
                ttl: times.2.map(Duration::from_micros),
                vector,
                ..Remember::default()
            }
        })
        .boxed()
}

fn correct(caller: bool) -> BoxedStrategy<Correct> {
    let change = prop_oneof![
        5 => select(CONTENTS).prop_map(|content| Correct { content: Some(content.into()), ..Correct::default() }),
        1 => select(vec!["a", "d"]).prop_map(|tag| Correct { tags: Some(vec![tag.into()]), ..Correct::default() }),
        1 => select(vec![0.25f32, 0.75]).prop_map(|x| Correct { importance: Some(x), ..Correct::default() }),
        1 => select(vec!["k1", "k2"]).prop_map(|key| Correct { merge_key: Some(key.into()), ..Correct::default() }),
        1 => fact().prop_map(|fact| Correct { fact: Some(fact), ..Correct::default() }),
        1 => select(Polarity::ALL).prop_map(|p| Correct { polarity: Some(p), ..Correct::default() }),
        1 => (0..6i64).prop_map(|h| Correct { expires_at: Some(at(h)), ..Correct::default() }),
        1 => select(vec!["merge_key", "expires_at"]).prop_map(|f| Correct { clear: vec![f.into()], ..Correct::default() }),
        1 => Just(Correct { summary: Some("put right".into()), ..Correct::default() }),
        1 => Just(Correct::default()),
    ];
    let how = select(vec![How::Negation, How::Scope, How::Ambiguous]);
    let vector = if caller { maybe(0.5, vector()) } else { Just(None).boxed() };
    (change, how, vector, maybe(0.2, Just("because")))
        .prop_map(|(change, how, vector, why)| Correct {
            how,
            vector: vector.filter(|_| change.content.is_some()),
            reason: why.map(str::to_owned),
            ..change
        })
        .boxed()
}

fn view() -> BoxedStrategy<Box<View>> {
    let include = prop::collection::vec(
        select(vec![Include::Superseded, Include::Candidates, Include::Forgotten]),
        0..4,
    );
    (include, maybe(0.2, -1..8i64), maybe(0.2, -1..8i64))
        .prop_map(|(include, as_of, known_at)| {
            Box::new(View { include, as_of: as_of.map(at), known_at: known_at.map(at) })
        })
        .boxed()
}

fn order() -> BoxedStrategy<Order> {
    select(vec![
        Order::NewestFirst,
        Order::OldestFirst,
        Order::LatestEvent,
        Order::EarliestEvent,
        Order::LatestChange,
        Order::MostImportant,
        Order::MostConfident,
    ])
    .boxed()
}

/// One step; `caller` for stores that hold vectors of the caller.
pub(crate) fn step(caller: bool) -> BoxedStrategy<Step> {
    let tenant = || 0..2usize;
    let index = any::<Index>;
    let query = select(vec!["do I like tea", "colour", "红色 绿茶", "smoking or the deadline", "INC-90312"]);
    prop_oneof![
        16 => (tenant(), remember(caller)).prop_map(|(t, r)| Step::Remember(t, Box::new(r))),
        4 => (tenant(), index(), prop::bool::weighted(0.1), correct(caller))
            .prop_map(|(t, i, stale, c)| Step::Correct(t, i, stale, Box::new(c))),
        3 => (tenant(), prop::collection::vec(index(), 1..4), maybe(0.5, filter()), prop::bool::weighted(0.3))
            .prop_map(|(t, ids, filter, dry)| Step::Forget(t, ids, filter, dry)),
        3 => (tenant(), prop::collection::vec(index(), 1..6)).prop_map(|(t, ids)| Step::Restore(t, ids)),
        1 => (tenant(), index(), maybe(0.4, (-1..8i64).prop_map(at)), view())
            .prop_map(|(t, i, known, view)| Step::Get(t, i, known, view.include)),
        3 => (tenant(), order(), 1..8usize, maybe(0.5, filter()), view())
            .prop_map(|(t, order, limit, filter, view)| Step::List(t, order, limit, filter, view)),
        1 => (tenant(), index()).prop_map(|(t, i)| Step::History(t, i)),
        3 => (tenant(), query, 1..6usize, maybe(0.7, filter()), view())
            .prop_map(|(t, query, top, filter, view)| Step::Recall(t, query, top, filter, view)),
        4 => prop_oneof![Just(1i64), Just(HOUR / 2), Just(HOUR + 1), Just(-HOUR), Just(-1)].prop_map(Step::Clock),
        1 => Just(Step::Reopen),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::Reembed),
    ]
    .boxed()
}

/// A sequence of steps.
pub(crate) fn steps(most: usize) -> BoxedStrategy<(bool, Vec<Step>)> {
    prop::bool::weighted(0.3)
        .prop_flat_map(move |caller| (Just(caller), prop::collection::vec(step(caller), 1..most)))
        .boxed()
}
