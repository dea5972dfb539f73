//! What each step of a workload does.

use std::sync::OnceLock;

use memcards::card::{Fact, State};
use memcards::exchange::Export;
use memcards::{
    Action, Apply, Consolidate, Correct, Duration, Feedback, Forget, How, MakePlan, PlanLimits, Relate,
    Remember, Restore, Store, Tenant, Undo, Wipe,
};
use serde_json::json;

use crate::disk::SimulatedDisk;
use crate::numbers::Numbers;
use crate::script::{Act, DIRECTORY, Live, TENANTS, all_cards, cards_in, options, start, told};

/// Does a step.
pub(super) fn perform(
    live: &mut Live,
    store: &Store,
    act: Act,
    numbers: &mut Numbers,
) -> memcards::Result<()> {
    let name = TENANTS[numbers.below(16).min(10) % TENANTS.len()];
    let tenant = store.tenant(name)?;
    match act {
        Act::Remember => {
            let request = told(format!("item {}", live.fresh()));
            tenant.remember(request).map(drop)
        }
        Act::RememberMany(count) => many(live, &tenant, count, numbers),
        Act::Turn => {
            let request = Remember {
                session: Some(format!("session {}", numbers.below(3))),
                turn: Some(live.words as u32),
                speaker: Some("Mira".into()),
                ..told(format!("I have put {} away", live.fresh()))
            };
            tenant.remember(request).map(drop)
        }
        Act::Again => again(&tenant, numbers),
        Act::Fact => {
            let lamp = numbers.below(3);
            let value = live.fresh();
            let fact =
                Fact { entity: format!("lamp {lamp}"), attribute: "colour".into(), value: value.clone() };
            tenant
                .remember(Remember { fact: Some(fact), ..told(format!("Lamp {lamp} is {value}")) })
                .map(drop)
        }
        Act::Brief => {
            let request = told(format!("until tomorrow {}", live.fresh()));
            tenant.remember(Remember { ttl: Some(Duration::from_hours(24)), ..request }).map(drop)
        }
        Act::Twice => {
            let content = live.fresh();
            let request =
                Remember { idempotency_key: Some(content.clone()), ..told(format!("item {content}")) };
            tenant.remember(request.clone())?;
            tenant.remember(request).map(drop)
        }
        Act::Relate => tenant.relate(Relate::new("Mira", "works with", live.fresh())).map(drop),
        Act::Preference => {
            let request = Remember {
                category: Some("preference".into()),
                entities: vec!["Otto".into()],
                session: Some(format!("meal {}", live.words)),
                ..told(format!("Otto likes {} with his tea", live.fresh()))
            };
            tenant.remember(request).map(drop)
        }
        Act::Replace | Act::Edit | Act::Narrow => correct(live, &tenant, act, numbers),
        Act::Forget => {
            let active = cards_in(&tenant, State::Active)?;
            let count = 1 + numbers.below(4);
            let ids =
                (0..count).filter_map(|_| numbers.pick(&active)).map(|card| card.id).collect::<Vec<_>>();
            match ids.is_empty() {
                true => Ok(()),
                false => tenant.forget(Forget { ids, ..Forget::default() }).map(drop),
            }
        }
        Act::Restore => {
            let forgotten = cards_in(&tenant, State::Forgotten)?;
            let Some(card) = numbers.pick(&forgotten) else { return Ok(()) };
            tenant.restore(Restore { id: Some(card.id), ..Restore::default() }).map(drop)
        }
        Act::Policy => {
            let policy = json!({ "defaults": { "archive_after": format!("{}d", 100 + numbers.below(100)) } });
            let value = (!numbers.once_in(4)).then_some(&policy);
            match numbers.once_in(3) {
                true => store.set_policy(value).map(drop),
                false => tenant.set_policy(value).map(drop),
            }
        }
        Act::Plan => tenant.plan(&archiving(numbers)).map(drop),
        Act::Archive => {
            live.pass(Duration::from_hours(40 * 24));
            let plan = tenant.plan(&archiving(numbers))?;
            if plan.totals.items > 0 {
                let run = tenant.apply(Apply { plan: Some(plan.plan), ..Apply::default() })?;
                live.last_run = Some((Some(name.into()), run.run));
            }
            Ok(())
        }
        Act::ArchiveAll => {
            live.pass(Duration::from_hours(40 * 24));
            let plan = store.plan(&archiving(numbers))?;
            let run = store.apply(Apply { plan: Some(plan.plan), ..Apply::default() })?;
            live.last_run = Some((None, run.run));
            Ok(())
        }
        Act::Undo => {
            let Some((name, run)) = live.last_run.take() else { return Ok(()) };
            let request = Undo { run: Some(run), ..Undo::default() };
            let undone = match name {
                Some(name) => store.tenant(&name)?.undo(request),
                None => store.undo(request),
            };
            match undone {
                // Its tenant was wiped meanwhile.
                Err(memcards::Error::NotFound { .. }) => Ok(()),
                other => other.map(drop),
            }
        }
        Act::Purge => {
            live.pass(Duration::from_hours(1));
            let request = MakePlan {
                policy: Some(json!({ "defaults": { "grace": "0s" } })),
                rules: vec![Action::Purge],
                consent: true,
                ..MakePlan::default()
            };
            let plan = tenant.plan(&request)?;
            if plan.totals.items > 0 {
                tenant.apply(Apply { plan: Some(plan.plan), ..Apply::default() })?;
            }
            Ok(())
        }
        Act::Freeze => store.freeze(None, Some(1)).map(drop),
        Act::Feedback => {
            let mut all = cards_in(&tenant, State::Archived)?;
            all.extend(cards_in(&tenant, State::Active)?);
            let used: Vec<_> =
                (0..1 + numbers.below(4)).filter_map(|_| numbers.pick(&all)).map(|card| card.id).collect();
            match used.is_empty() {
                true => Ok(()),
                false => tenant.feedback(Feedback { used, ..Feedback::default() }).map(drop),
            }
        }
        Act::Consolidate => {
            tenant.consolidate(Consolidate { consent: true, ..Consolidate::default() }).map(drop)
        }
        Act::Checkpoint => {
            warm(store)?;
            store.checkpoint().map(drop)
        }
        Act::Compact => store.compact(|_| {}).map(drop),
        Act::Wipe => {
            let name = TENANTS[TENANTS.len() - 1];
            match store.tenant(name)?.wipe(Wipe { confirm: name.into() }) {
                // After this step no byte of what was erased is anywhere, whoever it was of.
                Err(memcards::Error::NotFound { .. }) => store.compact(|_| {}).map(drop),
                other => other.map(drop),
            }
        }
        Act::Import => store.import(&mut imported()?, |_| {}).map(drop),
        Act::ForgetDue => {
            live.pass(Duration::from_hours(24 * 3));
            store.forget_due().map(drop)
        }
        Act::Reopen => warm(store),
        Act::Pass => {
            live.pass(Duration::from_hours(24 * (1 + numbers.below(30) as i64)));
            warm(store)
        }
    }
}

fn many(live: &mut Live, tenant: &Tenant, count: usize, numbers: &mut Numbers) -> memcards::Result<()> {
    let mut requests: Vec<Remember> = (0..count).map(|_| told(format!("item {}", live.fresh()))).collect();
    if numbers.once_in(2) {
        requests.extend(requests.first().cloned());
    }
    tenant.remember_all(requests)?.into_iter().try_for_each(|answer| answer.map(drop))
}

fn again(tenant: &Tenant, numbers: &mut Numbers) -> memcards::Result<()> {
    let mut active = cards_in(tenant, State::Active)?;
    active.retain(|card| card.content.starts_with("item "));
    let Some(card) = numbers.pick(&active) else { return Ok(()) };
    tenant.remember(told(card.content.clone())).map(drop)
}

fn correct(live: &mut Live, tenant: &Tenant, act: Act, numbers: &mut Numbers) -> memcards::Result<()> {
    let mut active = cards_in(tenant, State::Active)?;
    active.retain(|card| card.content.starts_with("item "));
    let Some(card) = numbers.pick(&active) else { return Ok(()) };
    let fresh = live.fresh();
    let request = match act {
        Act::Edit => Correct { summary: Some(format!("short {fresh}")), ..Correct::default() },
        _ => {
            let content = format!("item {fresh}");
            let how = if act == Act::Replace { How::Negation } else { How::Scope };
            Correct {
                how,
                vector: Some(crate::words::vector(&content)),
                content: Some(content),
                ..Correct::default()
            }
        }
    };
    tenant.correct(Correct { id: card.id, ..request }).map(drop)
}

/// A plan that archives some of what is older than a month.
fn archiving(numbers: &mut Numbers) -> MakePlan {
    let items = Some(1 + numbers.below(30) as u64);
    MakePlan {
        policy: Some(json!({ "defaults": { "archive_after": "30d", "fade_below": 0.0 } })),
        limits: PlanLimits { items, share: Some(1.0), tenants: Some(1.0) },
        ..MakePlan::default()
    }
}

/// Brings the indexes of all tenants into memory.
fn warm(store: &Store) -> memcards::Result<()> {
    for name in TENANTS {
        let request = memcards::Recall { query: Some("item".into()), ..memcards::Recall::default() };
        store.tenant(name)?.recall(request)?;
    }
    Ok(())
}

/// An export of another store, with a tenant that this one does not have.
fn imported() -> memcards::Result<&'static [u8]> {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(text) = TEXT.get() {
        return Ok(text);
    }
    let clock = std::sync::Arc::new(memcards::ManualClock::new(start()));
    let store = Store::open(DIRECTORY, options(std::sync::Arc::new(SimulatedDisk::default()), clock))?;
    let dora = store.tenant("dora")?;
    for number in 0..6u64 {
        dora.remember(told(format!("item {}", crate::words::word(1_000_000 + number))))?;
    }
    let first = all_cards(&dora)?.into_iter().next();
    if let Some(card) = first {
        dora.correct(Correct { id: card.id, summary: Some("the first one".into()), ..Correct::default() })?;
    }
    let mut text = Vec::new();
    store.export(&mut text, &Export { vectors: true, ..Export::default() }, |_| {})?;
    Ok(TEXT.get_or_init(|| text))
}
