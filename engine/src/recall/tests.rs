//! Candidates beside scoring everything: what is left out must not be missed.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::card::Role;
use crate::index::text::{Statistics, analyze_query};
use crate::recall::shown::Shown;
use crate::recall::times::Times;
use crate::verbs::Forget;
use crate::{Options, Remember, Store, Timestamp};

const DAY: i64 = 86_400_000_000;
const START: i64 = 1_704_067_200_000_000;
const WORDS: [&str; 24] = [
    "tea",
    "coffee",
    "garden",
    "winter",
    "train",
    "Paris",
    "violin",
    "doctor",
    "budget",
    "blue",
    "river",
    "morning",
    "绿茶",
    "花园",
    "火车",
    "医生",
    "INC-90312",
    "ticket",
    "sister",
    "market",
    "lamp",
    "window",
    "stone",
    "paper",
];

/// A small generator (SplitMix64), the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % bound.max(1) as u64) as usize
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.below(2001) as f32 / 1000.0 - 1.0).collect()
    }

    /// Words of which the first of a list come up most often.
    fn words(&mut self, list: usize, count: usize, name: impl Fn(usize) -> String) -> String {
        let words: Vec<String> = (0..count)
            .map(|_| {
                let share = self.below(1000) as f64 / 1000.0;
                name((list as f64).powf(share) as usize - 1)
            })
            .collect();
        words.join(" ")
    }
}

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let options = Options { embedder: None, ..Options::default() };
    let store = Store::open(directory.path().join("store"), options).unwrap();
    (directory, store)
}

fn known(number: usize) -> String {
    WORDS[number % WORDS.len()].to_owned()
}

/// Cards of every kind that recall treats differently.
fn remember(random: &mut Random, number: usize) -> Remember {
    let question = random.below(5) == 0;
    let count = 1 + random.below(6);
    let text = random.words(WORDS.len(), count, known);
    let turn = random.below(3) > 0;
    let at = START + random.below(40) as i64 * DAY + number as i64;
    Remember {
        content: format!("{text} {number}{}", if question { "?" } else { "" }),
        session: turn.then(|| format!("session {}", random.below(6))),
        turn: turn.then_some(number as u32),
        role: (random.below(3) == 0).then_some(Role::Assistant),
        speaker: (random.below(2) == 0).then(|| ["Anna", "Ben", "李雷"][random.below(3)].to_owned()),
        occurred_at: Some(Timestamp::from_micros(at)),
        expires_at: (random.below(6) == 0)
            .then(|| Timestamp::from_micros(START + (100 + random.below(400) as i64) * DAY * 10)),
        category: (random.below(4) == 0)
            .then(|| ["temporary", "task_state", "errand"][random.below(3)].to_owned()),
        confidence: (random.below(3) == 0).then(|| 0.8 + random.below(5) as f32 / 20.0),
        pinned: random.below(10) == 0,
        tags: if random.below(2) == 0 { vec!["kept".into()] } else { vec![] },
        vector: (random.below(4) > 0).then(|| random.vector(4)),
        ..Remember::default()
    }
}

fn request(random: &mut Random) -> Recall {
    let count = 1 + random.below(3);
    let mut query = random.words(WORDS.len(), count, known);
    for (chance, more) in [(4, " Anna"), (5, " on 2024-01-20"), (6, " in January 2024"), (8, " 12")] {
        if random.below(chance) == 0 {
            query.push_str(more);
        }
    }
    let filter = match random.below(6) {
        0 => Some(json!({"field": "tags", "contains": "kept"})),
        1 => Some(json!({"field": "content", "contains": "tea"})),
        _ => None,
    };
    let words = random.below(8) > 0;
    let later = Timestamp::from_micros(START + 2_000 * DAY);
    Recall {
        query: words.then_some(query),
        vector: (!words || random.below(2) == 0).then(|| random.vector(4)),
        top: Some(1 + random.below(12)),
        filter: filter.map(|json| Filter::parse(&json).unwrap()),
        since: (random.below(8) == 0).then(|| Timestamp::from_micros(START + 20 * DAY)),
        include: if random.below(5) == 0 { vec![Include::Superseded, Include::Forgotten] } else { vec![] },
        as_of: (random.below(8) == 0).then_some(later),
        explain: random.below(3) == 0,
        ..Recall::default()
    }
}

/// Candidates of every partition, with limits that leave nothing out.
fn unlimited() -> Limits {
    Limits {
        every: 0,
        vectors: 10_000,
        pool: 10_000,
        words: 10_000,
        kept: 10_000,
        dated: 10_000,
        postings: usize::MAX,
        contenders: 10_000,
        session: 10_000,
    }
}

/// What the partitions keep count of, beside counting anew.
fn compare_counts(tenant: &Tenant, now: Timestamp) {
    let terms = analyze_query("tea coffee garden 绿茶 INC-90312 winter");
    for track in Track::ALL {
        let id = tenant.id().unwrap().unwrap();
        let slot = tenant.store().cache().partition(tenant.store().database(), id, *track).unwrap();
        let partition = slot.read().unwrap();
        let view = View::new(tenant.life_rules().unwrap(), &[], None, None, now);
        let judge = view.on(&partition);
        let kept = Shown::of(&partition, &view);
        let rows = kept.rows().clone();
        let expected: crate::index::rows::RowSet =
            (0..partition.len() as u32).filter(|row| judge.shows(*row)).collect();
        let listed = |rows: &crate::index::rows::RowSet| rows.iter().collect::<Vec<_>>();
        assert_eq!(listed(&rows), listed(&expected));
        let anew = Shown::from_set(&partition, expected);
        let (mut a, mut b) = (Statistics::default(), Statistics::default());
        kept.gather(&terms, &mut a);
        anew.gather(&terms, &mut b);
        assert_eq!(a, b);
        assert_eq!(kept.speakers(), anew.speakers());
        assert_eq!(kept.len(), anew.len());
        for day in [0, 5, 19, 39] {
            let from = (START / DAY + day) * DAY;
            let times = Times::within(from, from + DAY);
            assert_eq!(kept.count_dated(&times), anew.count_dated(&times));
            let (mut a, mut b) = (kept.dated(&times), anew.dated(&times));
            a.sort_unstable();
            b.sort_unstable();
            assert_eq!(a, b);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// With limits that leave nothing out, candidates give what scoring everything gives, to
    /// the last bit.
    #[test]
    fn candidates_give_what_scoring_everything_gives(seed in any::<u64>()) {
        let mut random = Random(seed);
        let (_directory, store) = store();
        let tenant = store.tenant("a").unwrap();
        let mut ids = Vec::new();
        for number in 0..20 + random.below(120) {
            ids.push(tenant.remember(remember(&mut random, number)).unwrap().id);
            if random.below(10) == 0 {
                let id = ids[random.below(ids.len())];
                tenant.forget(Forget { id: Some(id), ..Forget::default() }).unwrap();
            }
        }
        let now = tenant.store().clock().now();
        compare_counts(&tenant, now);
        compare_counts(&tenant, Timestamp::from_micros(START + 2_500 * DAY));
        if random.below(3) > 0 {
            let policy = json!({"preset": "assistant", "defaults": {"archive_after": "60d"}});
            store.set_policy(Some(&policy)).unwrap();
        }
        let later = |days: usize| Timestamp::from_micros(now.as_micros() + days as i64 * DAY);
        for days in [0, 6, 8, 15, 50, 61, 110, 400] {
            compare_counts(&tenant, later(days));
        }
        for _ in 0..30 {
            let request = request(&mut random);
            let now = later([0, 8, 50, 100][random.below(4)]);
            let whole = run_within(&tenant, &request, now, &Limits::none()).unwrap();
            let some = run_within(&tenant, &request, now, &unlimited()).unwrap();
            prop_assert_eq!(whole.hits.len(), some.hits.len(), "{:?}", request);
            for (whole, some) in whole.hits.iter().zip(&some.hits) {
                prop_assert_eq!(whole.score.to_bits(), some.score.to_bits(), "{:?}", request);
                // Of what nothing speaks for, any may come.
                if whole.score > 0.0 {
                    prop_assert_eq!(whole, some, "{:?}", request);
                }
            }
        }
    }

    /// Where conditions say what is wanted, as many hits come as there are, however little is
    /// looked at.
    #[test]
    fn as_many_hits_come_as_satisfy_the_conditions(seed in any::<u64>()) {
        let mut random = Random(seed);
        let (_directory, store) = store();
        let tenant = store.tenant("a").unwrap();
        for number in 0..60 {
            tenant.remember(remember(&mut random, number)).unwrap();
        }
        let now = tenant.store().clock().now();
        let tiny = Limits {
            every: 3, vectors: 1, pool: 1, words: 1, kept: 1, dated: 4, postings: 5, contenders: 0, session: 2,
        };
        for _ in 0..20 {
            let request = Recall { min_score: Some(0.0), top: Some(200), ..request(&mut random) };
            let whole = run_within(&tenant, &request, now, &Limits::none()).unwrap();
            let some = run_within(&tenant, &request, now, &tiny).unwrap();
            prop_assert_eq!(whole.hits.len(), some.hits.len(), "{:?}", request);
            let few = Recall { top: Some(1 + random.below(8)), ..request };
            let wanted = whole.hits.len().min(few.top.unwrap());
            prop_assert_eq!(run_within(&tenant, &few, now, &tiny).unwrap().hits.len(), wanted, "{:?}", few);
        }
    }
}

/// Of a partition many times larger than what is looked at, nearly the same ten are found.
#[test]
fn candidates_find_what_scoring_everything_finds() {
    let mut random = Random(11);
    let (_directory, store) = store();
    let tenant = store.tenant("a").unwrap();
    let word = |number: usize| format!("w{}x", number * 7919 % 4001);
    let cards: Vec<Remember> = (0..6_000)
        .map(|number| Remember {
            content: random.words(4_000, 9, word),
            session: Some(format!("session {}", number / 25)),
            turn: Some(number as u32 % 25),
            role: Some(if number % 2 == 0 { Role::User } else { Role::Assistant }),
            occurred_at: Some(Timestamp::from_micros(START + number as i64 * 3_600_000_000)),
            vector: Some(random.vector(16)),
            ..Remember::default()
        })
        .collect();
    for chunk in cards.chunks(1_000) {
        for answer in tenant.remember_all(chunk.to_vec()).unwrap() {
            answer.unwrap();
        }
    }
    let now = tenant.store().clock().now();
    let limits = Limits { every: 0, ..Limits::default() };
    let (mut same, mut all) = (0, 0);
    for _ in 0..100 {
        let request = Recall {
            query: Some(random.words(4_000, 4, word)),
            vector: Some(random.vector(16)),
            top: Some(10),
            ..Recall::default()
        };
        let whole = run_within(&tenant, &request, now, &Limits::none()).unwrap();
        let some = run_within(&tenant, &request, now, &limits).unwrap();
        assert!(some.searched.candidates * 2 < whole.searched.candidates);
        all += whole.hits.len();
        same += whole
            .hits
            .iter()
            .filter(|hit| some.hits.iter().any(|other| other.card.id == hit.card.id))
            .count();
    }
    assert_eq!(all, 1_000);
    assert!(same >= 980, "{same} of {all}");
}
