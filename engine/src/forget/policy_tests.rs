use proptest::prelude::*;

use super::*;

fn refused(text: &str) -> (String, String) {
    let error = Policy::from_toml(text).expect_err(text);
    (error.field().unwrap_or("-").to_owned(), error.message())
}

#[test]
fn every_preset_is_valid_and_complete() {
    for name in Policy::preset_names() {
        let text = Policy::preset_text(name).unwrap();
        let policy = Policy::from_toml(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(Policy::preset(name), Some(&policy));
        assert!(policy.enabled && policy.preset.is_none(), "{name}");
        assert!(text.lines().filter(|line| line.starts_with('#')).count() > 1, "{name} says why");
        let Rule {
            ttl,
            half_life,
            decay,
            importance_half_life: _,
            fade_below,
            archive_after,
            max_cards,
            over_budget,
            merge,
            similarity,
            grace,
            protect,
        } = policy.defaults;
        assert!(half_life.is_some() || decay.is_some(), "{name}: half_life");
        assert!(ttl.is_some() && fade_below.is_some() && archive_after.is_some(), "{name}");
        assert!(max_cards.is_some() && over_budget.is_some() && merge.is_some(), "{name}");
        assert!(similarity.is_some() && grace.is_some() && protect.is_some(), "{name}");
    }
    assert!(Policy::preset_names().any(|name| name == BUILT_IN));
    assert_eq!(Policy::preset("nope"), None);
}

#[test]
fn errors_name_the_path_of_the_field() {
    for (text, field) in [
        ("[categories.preference]\nhalf_life = \"30s\"", "categories.preference.half_life"),
        ("[categories.preference]\nhalf_life = \"36526d\"", "categories.preference.half_life"),
        ("[categories.preference]\nhalf_life = \"soon\"", "categories.preference.half_life"),
        ("[categories.preference]\nhalf_life = 7", "categories.preference.half_life"),
        ("[categories.\"偏好\"]\nttl = \"0s\"", "categories.偏好.ttl"),
        ("[categories.\" \"]\n", "categories. "),
        ("[tracks.episodic]\nfade_below = 1.01", "tracks.episodic.fade_below"),
        ("[tracks.episodic]\nfade_below = nan", "tracks.episodic.fade_below"),
        ("[tracks.episodic]\ndecay = -0.1", "tracks.episodic.decay"),
        ("[tracks.episodic]\ndecay = inf", "tracks.episodic.decay"),
        ("[tracks.episodic]\ndecay = 1\nhalf_life = \"1d\"", "tracks.episodic.decay"),
        ("[tracks.episodic]\nhalf_lif = \"1d\"", "tracks.episodic.half_lif"),
        ("[tracks.musical]\nttl = \"1d\"", "tracks.musical"),
        ("[defaults]\nsimilarity = 0.4", "defaults.similarity"),
        ("[defaults]\nmax_cards = 0", "defaults.max_cards"),
        ("[defaults]\nmax_cards = -1", "defaults.max_cards"),
        ("[defaults]\nmax_cards = \"many\"", "defaults.max_cards"),
        ("[defaults]\nover_budget = \"burn\"", "defaults.over_budget"),
        ("[defaults]\ngrace = \"-1d\"", "defaults.grace"),
        ("[limits]\nshare = 0", "limits.share"),
        ("[limits]\nitems = 0", "limits.items"),
        ("[limits]\ntenants_share = 1.5", "limits.tenants_share"),
        ("[limits]\nonly = [\"a\", \"\"]", "limits.only[1]"),
        ("[limits]\nonly = [\"a\"]\ntenants_share = 0.5", "limits.only"),
        ("[schedule]\nevery = \"59s\"", "schedule.every"),
        ("[schedule]\nslice_ms = 0", "schedule.slice_ms"),
        ("preset = \"nope\"", "preset"),
        ("preset = 5", "preset"),
        ("enabld = true", "enabld"),
        ("enabled = ", "policy"),
    ] {
        let (found, message) = refused(text);
        assert_eq!(found, field, "{text}: {message}");
        assert!(!message.contains('\n'), "{message:?}");
    }
    let long = "x".repeat(65);
    assert_eq!(refused(&format!("[categories.{long}]")).0, format!("categories.{long}"));
    assert!(refused("enabled = true\n[defaults]\nttl = \"x\"").1.contains("line 3"));
    assert_eq!(
        Policy::from_json("{\"defaults\":{\"ttl\":\"x\"}}").unwrap_err().field(),
        Some("defaults.ttl")
    );
    assert_eq!(Policy::from_json("{} x").unwrap_err().field(), Some("policy"));
    assert!(matches!(Policy::from_toml(&" ".repeat(300 << 10)), Err(Error::TooLarge { .. })));
}

#[test]
fn values_at_the_ends_of_their_ranges_are_taken() {
    let text = r#"
        enabled = false
        preset = "medical"
        [defaults]
        ttl = "1m"
        decay = 0
        importance_half_life = "36525d"
        fade_below = 1
        archive_after = "never"
        max_cards = 1
        over_budget = "forget"
        similarity = 0.5
        grace = "0s"
        protect = true
        [tracks.procedural]
        half_life = "never"
        max_cards = "unlimited"
        [limits]
        items = 1
        share = 1
        tenants_share = 0
        [schedule]
        every = "1m"
        pause_ms = 0
        plan_only = true
    "#;
    let policy = Policy::from_toml(text).unwrap();
    assert!(!policy.enabled);
    assert_eq!(policy.defaults.decay, Some(0.0));
    assert_eq!(policy.defaults.grace, Some(Span::Of(Duration::from_micros(0))));
    assert_eq!(policy.tracks[&Track::Procedural].max_cards, Some(MaxCards::Unlimited));
    assert_eq!(Policy::from_toml("").unwrap(), Policy::default());
    assert_eq!(Policy::from_json("{}").unwrap(), Policy::default());
}

#[test]
fn a_tenant_cannot_say_what_concerns_all() {
    for (text, field) in [
        ("[schedule]\nevery = \"2h\"", "schedule"),
        ("[limits]\nonly = [\"a\"]", "limits.only"),
        ("[limits]\ntenants_share = 0.5", "limits.tenants_share"),
    ] {
        let policy = Policy::from_toml(text).unwrap();
        assert_eq!(policy.check_for_tenant().unwrap_err().field(), Some(field));
    }
    assert!(Policy::from_toml("[limits]\nitems = 5").unwrap().check_for_tenant().is_ok());
}

#[test]
fn the_digest_follows_what_the_policy_says() {
    let digest = |text: &str| Policy::from_toml(text).unwrap().digest();
    // Golden: the same on every machine and in every version that keeps the format.
    assert_eq!(digest(""), 5_339_879_832_936_290_716);
    assert_eq!(digest("[defaults]\nttl = \"90m\""), digest("# same\n[defaults]\nttl = \"1h30m\"\n"));
    let others =
        ["", "enabled = false", "preset = \"medical\"", "preset = \"manual\"", "[defaults]\nttl = \"1d\""];
    let digests: std::collections::BTreeSet<u64> = others.iter().map(|text| digest(text)).collect();
    assert_eq!(digests.len(), others.len());
}

fn span(least: i64) -> impl Strategy<Value = Option<Span>> {
    let of = (least..=CENTURY).prop_map(|micros| Span::Of(Duration::from_micros(micros)));
    proptest::option::of(prop_oneof![Just(Span::Never), of])
}

fn rule() -> impl Strategy<Value = Rule> {
    let rates = prop_oneof![
        span(MINUTE).prop_map(|half_life| (half_life, None)),
        (0.0..FASTEST_DECAY).prop_map(|decay| (None, Some(decay))),
    ];
    let budget =
        proptest::option::of(prop_oneof![Just(MaxCards::Unlimited), (1..=MOST_CARDS).prop_map(MaxCards::Of)]);
    let over = proptest::option::of(prop_oneof![Just(OverBudget::Archive), Just(OverBudget::Forget)]);
    let unit = || proptest::option::of(0.0..=1.0);
    let switch = proptest::option::of(any::<bool>());
    (
        (span(MINUTE), rates, span(MINUTE), unit(), span(MINUTE), budget),
        (over, switch.clone(), proptest::option::of(0.5..=1.0), span(0), switch),
    )
        .prop_map(|(a, b)| Rule {
            ttl: a.0,
            half_life: a.1.0,
            decay: a.1.1,
            importance_half_life: a.2,
            fade_below: a.3,
            archive_after: a.4,
            max_cards: a.5,
            over_budget: b.0,
            merge: b.1,
            similarity: b.2,
            grace: b.3,
            protect: b.4,
        })
}

fn recall() -> impl Strategy<Value = SettingChanges> {
    let name = || "[a-zé偏.\" ]{0,8}x";
    let weight = proptest::sample::select(vec!["meaning", "keywords", "b", "coverage", "squash"]);
    let weights = proptest::collection::btree_map(weight.prop_map(str::to_owned), 0.01f32..=1.0, 0..3);
    (
        proptest::option::of(0.0f32..=1.0),
        proptest::collection::btree_map(name(), 0.01f32..=876_600.0, 0..3),
        proptest::option::of(0.01f32..=876_600.0),
        proptest::collection::btree_map(name(), weights, 0..3),
    )
        .prop_map(|(min_score, half_life_hours, default_half_life_hours, presets)| SettingChanges {
            min_score,
            half_life_hours,
            default_half_life_hours,
            presets,
        })
}

fn policy() -> impl Strategy<Value = Policy> {
    let preset = proptest::sample::select(Policy::preset_names().map(str::to_owned).collect::<Vec<_>>());
    let track = proptest::sample::select(Track::ALL.to_vec());
    let limits = (1u64..1000, 0.001..=1.0, proptest::option::of(0.0..=1.0));
    (
        any::<bool>(),
        proptest::option::of(preset),
        rule(),
        proptest::collection::btree_map(track, rule(), 0..4),
        proptest::collection::btree_map("[a-zé偏.\" ]{0,8}x", rule(), 0..4),
        proptest::option::of(limits),
        recall(),
    )
        .prop_map(|(enabled, preset, defaults, tracks, categories, limits, recall)| Policy {
            enabled,
            preset,
            defaults,
            tracks,
            categories,
            limits: limits.map_or_else(LimitSettings::default, |(items, share, tenants)| LimitSettings {
                items: Some(items),
                share: Some(share),
                tenants_share: tenants,
                only: None,
            }),
            schedule: ScheduleSettings::default(),
            recall,
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(policy in policy()) {
        prop_assert!(policy.check().is_ok());
        let toml = policy.to_toml().unwrap();
        prop_assert_eq!(&Policy::from_toml(&toml).unwrap(), &policy, "{}", toml);
        let json = policy.to_json().unwrap();
        prop_assert_eq!(&Policy::from_json(&json).unwrap(), &policy, "{}", json);
        prop_assert_eq!(Policy::from_toml(&toml).unwrap().digest(), policy.digest());
    }

    #[test]
    fn no_text_is_a_panic(text in "\\PC{0,80}") {
        let _ = Policy::from_toml(&text);
        let _ = Policy::from_json(&text);
    }

    #[test]
    fn any_rate_is_refused_or_written(decay in any::<f64>(), fade_below in any::<f64>()) {
        let defaults = Rule { decay: Some(decay), fade_below: Some(fade_below), ..Rule::default() };
        let policy = Policy { defaults, ..Policy::default() };
        if policy.check().is_ok() {
            prop_assert_eq!(Policy::from_toml(&policy.to_toml().unwrap()).unwrap(), policy);
        }
    }
}
