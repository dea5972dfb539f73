//! Two stores live through the same; in one of them what is archived becomes cold now and then.

use memcards::card::CardId;
use memcards::{
    Apply, Correct, Feedback, Forget, Get, Include, MakePlan, Recall, Remember, Restore, RunId, Store,
    Tenant, Undo,
};
use serde_json::json;

use crate::{EVERYTHING, World, content, history, sound};

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

/// One of the two stores: its cards in the order of their making.
struct Twin {
    world: World,
    store: Store,
    ids: Vec<CardId>,
    runs: Vec<Option<RunId>>,
}

impl Twin {
    fn tenant(&self) -> Tenant {
        self.store.tenant("anna").unwrap()
    }

    fn step(&mut self, what: usize, n: usize, m: usize) {
        let tenant = self.tenant();
        let id = self.ids.get(n % self.ids.len().max(1)).copied();
        match (what, id) {
            (0..=3, _) | (_, None) => {
                let vector = Some((0..8).map(|at| ((m * 31 + at * 17) % 23) as f32 - 11.5).collect());
                let request = Remember { content: content(m), vector, ..Remember::default() };
                let told = tenant.remember(request).unwrap().id;
                if !self.ids.contains(&told) {
                    self.ids.push(told);
                }
            }
            (4, Some(id)) => {
                let request = Correct { id, tags: Some(vec![format!("t{m}")]), ..Correct::default() };
                let _ = tenant.correct(request);
            }
            (5, Some(id)) => drop(tenant.feedback(Feedback { used: vec![id], ..Feedback::default() })),
            (6, Some(id)) => drop(tenant.feedback(Feedback { rejected: vec![id], ..Feedback::default() })),
            (7, Some(id)) => drop(tenant.forget(Forget { id: Some(id), ..Forget::default() })),
            (8, Some(id)) => drop(tenant.restore(Restore { id: Some(id), ..Restore::default() })),
            (9 | 10, _) => {
                self.world.pass(40);
                let policy = json!({ "defaults": { "archive_after": "30d", "fade_below": 0.0 } });
                let request = MakePlan { policy: Some(policy), consent: true, ..MakePlan::default() };
                let planned = tenant.plan(&request).unwrap();
                let run = match planned.totals.items {
                    0 => None,
                    _ => Some(
                        tenant.apply(Apply { plan: Some(planned.plan), ..Apply::default() }).unwrap().run,
                    ),
                };
                self.runs.push(run);
            }
            (_, _) => {
                if let Some(Some(run)) = self.runs.pop() {
                    tenant.undo(Undo { run: Some(run), ..Undo::default() }).unwrap();
                }
            }
        }
    }

    /// What a read gives of each card, but for identifiers: these hold numbers of changes.
    fn view(&self) -> Vec<String> {
        let tenant = self.tenant();
        let number = |id: CardId| self.ids.iter().position(|other| *other == id);
        let mut all = Vec::new();
        for id in &self.ids {
            // It may have been forgotten, and purged when its grace was over.
            let request = Get { id: *id, include: EVERYTHING.to_vec(), ..Get::default() };
            let Ok(card) = tenant.get(&request) else {
                all.push("gone".into());
                continue;
            };
            let links: Vec<_> = card.links.iter().map(|link| (link.kind, number(link.to))).collect();
            let versions: Vec<_> = history(&tenant, *id)
                .versions
                .iter()
                .map(|version| (number(version.card.id), version.card.version, version.card.state))
                .collect();
            all.push(format!(
                "{} {} {:?} {} {:?} {} {:?} {links:?} {versions:?}",
                card.content,
                card.version,
                card.state,
                card.confidence,
                card.tags,
                card.access_count,
                card.updated_at
            ));
        }
        all
    }

    fn says(&self, at: usize, n: usize) -> bool {
        let request = Get { id: self.ids[at], include: EVERYTHING.to_vec(), ..Get::default() };
        self.tenant().get(&request).is_ok_and(|card| card.content == content(n))
    }

    fn found(&self, n: usize) -> Option<usize> {
        let request = Recall {
            query: Some(format!("word{n}")),
            include: vec![Include::Archived, Include::Superseded],
            top: Some(1),
            ..Recall::default()
        };
        let hits = self.tenant().recall(request).unwrap().hits;
        hits.first().and_then(|hit| self.ids.iter().position(|id| *id == hit.card.id))
    }
}

fn live(seed: u64, steps: usize) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let mut twins = ["warm", "cold"].map(|name| {
        let world = World::new(&directory.path().join(name));
        std::fs::create_dir_all(&world.directory).unwrap();
        let store = world.open();
        Twin { world, store, ids: vec![], runs: vec![] }
    });
    let mut numbers = Numbers(seed);
    let mut frozen = 0;
    for step in 0..steps {
        let (what, n, m) = (numbers.below(12), numbers.below(1000), numbers.below(40));
        for twin in &mut twins {
            twin.step(what, n, m);
        }
        if std::env::var("TWINS_TRACE").is_ok() {
            println!(
                "step {step}: {what} {n} {m}: {:?} / {:?}",
                twins[0].view(),
                twins[1].store.cold_statistics()
            );
        }
        let store = &twins[1].store;
        match numbers.below(6) {
            0 | 1 => frozen += store.freeze(None, Some(1)).unwrap().cards,
            2 if step % 3 == 0 => drop(store.compact(|_| {}).unwrap()),
            3 if step % 4 == 0 => {
                let again = twins[1].world.options.clone();
                let path = twins[1].world.directory.clone();
                let spare = Store::open(directory.path().join("spare"), again.clone()).unwrap();
                drop(std::mem::replace(&mut twins[1].store, spare));
                if step % 8 == 0 {
                    std::fs::remove_dir_all(path.join("index")).ok();
                }
                drop(std::mem::replace(&mut twins[1].store, Store::open(path, again).unwrap()));
            }
            _ => {}
        }
        if step % 5 == 0 {
            assert_eq!(twins[0].view(), twins[1].view(), "seed {seed}, step {step}");
            // What only resembles the word may be above the threshold or below it.
            if let Some(at) = twins[0].found(m).filter(|at| twins[0].says(*at, m)) {
                assert_eq!(twins[1].found(m), Some(at), "seed {seed}, step {step}, word{m}");
            }
        }
    }
    sound(&twins[1].store);
    frozen as usize
}

#[test]
fn being_cold_makes_no_difference() {
    let seeds = std::env::var("MEMCARDS_TWINS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let first = std::env::var("TWINS_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let frozen: usize = (first..=seeds).map(|seed| live(seed, 120)).sum();
    assert!(frozen > 20, "{frozen}");
}
