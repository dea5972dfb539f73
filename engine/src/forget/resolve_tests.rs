use super::*;

fn policies(store: &str, tenant: &str) -> Policies {
    let read = |text: &str| (!text.is_empty()).then(|| Policy::from_toml(text).unwrap());
    Policies { store: read(store), tenant: read(tenant) }
}

fn days(count: i64) -> Option<Duration> {
    Some(Duration::from_hours(24 * count))
}

fn half_life(rule: &Resolved) -> f64 {
    std::f64::consts::LN_2 / rule.decay
}

#[test]
fn without_a_policy_the_default_numbers_hold() {
    let none = Policies::default();
    assert!(!none.is_set() && none.enabled());
    let fact = none.resolve(Track::Semantic, "knowledge");
    assert_eq!((fact.decay, fact.importance_decay, fact.fade_below), (0.01, 0.01, 0.3));
    assert_eq!((fact.archive_after, fact.grace, fact.ttl), (days(180), days(30), None));
    assert_eq!((fact.max_cards, fact.merge, fact.similarity, fact.protect), (None, true, 0.9, false));
    assert_eq!(fact.origins.decay.to_string(), "built-in: defaults");
    assert!((half_life(&none.resolve(Track::Semantic, "preference")) - 180.0).abs() < 1e-9);
    assert!((half_life(&none.resolve(Track::Episodic, "conversation")) - 90.0).abs() < 1e-9);
    assert_eq!(none.resolve(Track::Procedural, "knowledge").decay, 0.0);
    assert_eq!(none.resolve(Track::Semantic, "temporary").ttl, days(7));
    assert_eq!(none.limits(), RunLimits { items: 1000, share: 0.1, tenants_share: 1.0, only: vec![] });
    assert_eq!(none.schedule().every, Duration::from_hours(1));
}

#[test]
fn values_are_inherited_in_order() {
    let both = policies(
        "[defaults]\ngrace = \"1d\"\nttl = \"1d\"\narchive_after = \"1d\"\n\
         [tracks.semantic]\nttl = \"2d\"\narchive_after = \"2d\"\n\
         [categories.preference]\narchive_after = \"3d\"\nfade_below = 0.1",
        "[defaults]\nfade_below = 0.2\n[tracks.semantic]\nmerge = false",
    );
    assert!(both.is_set());
    let rule = both.resolve(Track::Semantic, "preference");
    let origins = &rule.origins;
    assert_eq!(
        (rule.archive_after, origins.archive_after.to_string().as_str()),
        (days(3), "store.categories.preference")
    );
    assert_eq!((rule.ttl, origins.ttl.to_string().as_str()), (days(2), "store.tracks.semantic"));
    assert_eq!((rule.grace, origins.grace.to_string().as_str()), (days(1), "store.defaults"));
    // The tenant's least specific word goes before the store's most specific one.
    assert_eq!((rule.fade_below, origins.fade_below.to_string().as_str()), (0.2, "tenant.defaults"));
    assert_eq!((rule.merge, origins.merge.to_string().as_str()), (false, "tenant.tracks.semantic"));
    assert_eq!(origins.decay.to_string(), "built-in: categories.preference");
    assert_eq!(both.resolve(Track::Entity, "profile").ttl, days(1));
    let json = serde_json::to_value(&rule).unwrap();
    assert_eq!(json["origins"]["ttl"], "store.tracks.semantic");
    assert_eq!(json["archive_after"], "3d");
}

#[test]
fn a_preset_is_where_its_policy_starts_from() {
    let own = policies("preset = \"medical\"", "preset = \"assistant\"\n[defaults]\nhalf_life = \"10d\"");
    let rule = own.resolve(Track::Semantic, "knowledge");
    assert!((half_life(&rule) - 10.0).abs() < 1e-12);
    assert_eq!(rule.origins.decay.to_string(), "tenant.defaults");
    assert_eq!(rule.origins.fade_below.to_string(), "preset assistant: defaults");
    // As if the preset's file had been edited: its word on a category is narrower.
    let rule = own.resolve(Track::Semantic, "preference");
    assert!((half_life(&rule) - 180.0).abs() < 1e-9);
    assert_eq!(rule.origins.decay.to_string(), "preset assistant: categories.preference");
    // One way of saying the rate replaces the other.
    let rate = policies("preset = \"support_desk\"\n[categories.preference]\ndecay = 0", "");
    assert_eq!(rate.resolve(Track::Semantic, "preference").decay, 0.0);
    // Nothing of the built-in values shows through a preset.
    for category in ["temporary", "task_state", "preference", "x"] {
        for track in Track::ALL {
            let rule = policies("preset = \"medical\"", "").resolve(*track, category);
            assert_eq!((rule.ttl, rule.archive_after, rule.fade_below), (None, None, 0.0));
            assert!(!rule.merge && rule.grace == days(365) && rule.importance_decay == 0.0);
            let rule = policies("preset = \"manual\"", "").resolve(*track, category);
            assert_eq!((rule.ttl, rule.archive_after, rule.decay, rule.grace), (None, None, 0.0, None));
        }
    }
}

#[test]
fn importance_falls_as_confidence_does_unless_said_otherwise() {
    let rule = policies("[tracks.entity]\nhalf_life = \"5d\"", "").resolve(Track::Entity, "x");
    assert_eq!(rule.importance_decay, rule.decay);
    assert_eq!(rule.origins.importance_decay, rule.origins.decay);
    let rule = policies("[defaults]\nimportance_half_life = \"never\"", "").resolve(Track::Entity, "x");
    assert_eq!((rule.importance_decay, rule.decay), (0.0, 0.01));
}

#[test]
fn one_switch_stops_everything() {
    assert!(!policies("enabled = false", "").enabled());
    assert!(!policies("enabled = false", "enabled = true").enabled());
    assert!(!policies("", "enabled = false").enabled());
    assert!(policies("enabled = true", "").enabled());
}

#[test]
fn budgets_count_their_own_scope() {
    let found = |store: &str, tenant: &str| -> Vec<String> {
        let budgets = policies(store, tenant).budgets();
        budgets
            .iter()
            .map(|b| format!("{} {} {:?} {}", b.scope, b.max_cards, b.over_budget, b.origin))
            .collect()
    };
    let store = "[defaults]\nmax_cards = 100\nover_budget = \"forget\"\n\
                 [tracks.episodic]\nmax_cards = 50\n[categories.conversation]\nmax_cards = 20\nover_budget = \"archive\"";
    assert_eq!(
        found(store, ""),
        [
            "categories.conversation 20 Archive store.categories.conversation",
            "tracks.episodic 50 Forget store.tracks.episodic",
            "defaults 100 Forget store.defaults",
        ]
    );
    assert_eq!(
        found(store, "[categories.conversation]\nmax_cards = \"unlimited\"\n[categories.x]\nmax_cards = 1"),
        [
            "categories.x 1 Forget tenant.categories.x",
            "tracks.episodic 50 Forget store.tracks.episodic",
            "defaults 100 Forget store.defaults",
        ]
    );
    assert_eq!(found(store, "[defaults]\nmax_cards = \"unlimited\""), Vec::<String>::new());
    assert_eq!(
        found("preset = \"support_desk\"", ""),
        ["categories.conversation 5000 Archive preset support_desk: categories.conversation"]
    );
    assert!(found("", "").is_empty());
    assert_eq!(policies(store, "").resolve(Track::Episodic, "x").max_cards, Some(50));
}

#[test]
fn limits_bound_a_run() {
    let limits = policies("[limits]\nitems = 500\nshare = 0.2", "[limits]\nitems = 7").limits();
    assert_eq!((limits.items, limits.share), (7, 0.2));
    let limits = Policies::default().limits();
    let most = [0, 1, 5, 11, 1000, 10_000_000].map(|active| limits.most(active));
    assert_eq!(most, [1, 1, 1, 2, 100, 1000]);
}

#[test]
fn a_roll_out_only_grows() {
    let names: Vec<String> = (0..2000).map(|i| format!("tenant-{i}")).collect();
    let chosen = |share: f64| -> Vec<&String> {
        let limits = policies(&format!("[limits]\ntenants_share = {share}"), "").limits();
        names.iter().filter(|name| limits.includes(name)).collect()
    };
    assert_eq!((chosen(0.0).len(), chosen(1.0).len()), (0, names.len()));
    let (some, more) = (chosen(0.1), chosen(0.3));
    assert!((150..250).contains(&some.len()) && (520..680).contains(&more.len()));
    assert!(some.iter().all(|name| more.contains(name)));
    let named = policies("[limits]\nonly = [\"林\"]", "").limits();
    assert!(named.includes("林") && !named.includes("lin"));
}

#[test]
fn the_digest_tells_whose_policy_it_is() {
    let text = "[defaults]\nttl = \"1d\"";
    let digests = [policies("", ""), policies(text, ""), policies("", text), policies(text, text)];
    let distinct: BTreeSet<u64> = digests.iter().map(Policies::digest).collect();
    assert_eq!(distinct.len(), 4);
}
