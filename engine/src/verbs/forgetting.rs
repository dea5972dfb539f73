//! What planning, applying, undoing and erasing take and answer.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::card::{CardId, State, Track, named_enum};
use crate::forget::consolidate::Consolidation;
use crate::time::Timestamp;
use crate::verbs::Skipped;
use crate::{Error, Result};

named_enum! {
    /// What a plan does to a card.
    Action {
        /// Its time is over: it is soft-deleted.
        Expire = 0 "expire",
        /// It says what another card says: that one takes over its mentions and sources, and
        /// this one is superseded by it.
        Merge = 1 "merge",
        /// Its confidence has decayed below the threshold: it leaves active memory.
        Fade = 2 "fade",
        /// It was not used for long, or there are too many: it leaves active memory.
        Archive = 3 "archive",
        /// It is soft-deleted, on request or since there are too many.
        Forget = 4 "forget",
        /// It was forgotten long ago: every byte of it is removed. There is no undo.
        Purge = 5 "purge",
        /// Several cards become one more that cites them.
        Consolidate = 6 "consolidate",
        /// Another card, told later, says otherwise: that one holds, and this one is kept as what
        /// was said before.
        Supersede = 7 "supersede",
    }
}

/// Declares the number of a plan or a run, which is written with a word before it.
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "-{:016x}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                let digits = text.strip_prefix(concat!($prefix, "-")).filter(|digits| digits.len() == 16);
                digits
                    .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase()))
                    .and_then(|digits| u64::from_str_radix(digits, 16).ok())
                    .map(Self)
                    .ok_or_else(|| {
                        Error::invalid($prefix, format!(concat!("{:?} is not like ", $prefix, "-0123456789abcdef"), text))
                    })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(|e: Error| serde::de::Error::custom(e.message()))
            }
        }
    };
}

numbered!(
    /// A plan. The same plan, made at the same instant of the same state, has the same number.
    PlanId "plan"
);
numbered!(
    /// One carrying out of a plan, or one `forget`: what `undo` takes.
    RunId "run"
);

/// How much a plan may do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanLimits {
    /// Cards per tenant at most; the policy's when absent.
    pub items: Option<u64>,
    /// Share of a tenant's cards at most, 0 to 1; the policy's when absent.
    pub share: Option<f64>,
    /// Share of the tenants, 0 to 1, chosen by a hash of their names; the policy's when absent.
    pub tenants: Option<f64>,
}

/// Reads an object by the names of its fields: a list would be taken for fields in their order.
fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> std::result::Result<T, D::Error> {
    struct Object<T>(std::marker::PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_map(Object(std::marker::PhantomData))
}

/// Find out what the rules would forget, with reasons. Changes no card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MakePlan {
    /// Only these tenants; all when empty. Of a plan made through a tenant's handle, that tenant.
    pub tenants: Vec<String>,
    /// The policy to go by: the name of a preset, or a policy as `policy.set` takes it. The
    /// one in force when absent.
    pub policy: Option<Value>,
    /// Only these actions; all when empty.
    pub rules: Vec<Action>,
    /// How much it may do.
    #[serde(deserialize_with = "object")]
    pub limits: PlanLimits,
    /// Lift the limits on the number of cards.
    pub consent: bool,
}

/// Sum up what was told several times, or of one thing, by rules: one card more that cites
/// the others, which stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Consolidate {
    /// Only these rules; all when empty.
    pub rules: Vec<Consolidation>,
    /// Only find out what would be made.
    pub dry_run: bool,
    /// How much it may do.
    #[serde(deserialize_with = "object")]
    pub limits: PlanLimits,
    /// Lift the limits on the number of cards.
    pub consent: bool,
    /// Who asks, for the history.
    pub actor: Option<String>,
    /// Why, for the history.
    pub reason: Option<String>,
}

/// Answer of `consolidate`: the plan, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Consolidated {
    /// What is made; `run` is there when it was carried out.
    #[serde(flatten)]
    pub planned: Planned,
    /// How many cards were made or brought up to date, and how many left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<RunTotals>,
}

/// The figures behind an item of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Figures {
    /// When the card was recorded.
    pub recorded_at: Timestamp,
    /// When it was last told, confirmed or used.
    pub reference: Timestamp,
    /// Since when the rule holds for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Its confidence as stored, and as it is by the instant of the plan.
    pub confidence: f64,
    /// The second of these.
    pub confidence_now: f64,
    /// The threshold or bound that the rule compares with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// How alike it is to the card that takes it over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// Place among the cards of its scope, by worth, where there are too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
}

/// One thing that a plan would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanItem {
    /// The card.
    pub id: CardId,
    /// Its version when the plan was made.
    pub version: u32,
    /// What is done to it.
    pub action: Action,
    /// Why, and where the rule stands.
    pub rule: String,
    /// The numbers behind it.
    pub figures: Figures,
    /// Days since it was last told, confirmed or used.
    pub age: f64,
    /// Its state when the plan was made.
    pub state: State,
    /// Its track.
    pub track: Track,
    /// Its category, as long as the card is there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub category: String,
    /// The card that takes it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<CardId>,
    /// Identifies the card as it was: an item is done only while its card is the same.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) mark: u64,
    /// The same of the card that takes it over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) into_mark: u64,
    /// The card that is to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) make: Option<Box<crate::card::Card>>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// An item as it is answered, with the words that help to judge it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedItem {
    /// The tenant whose card it is, in plans over several tenants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The item.
    #[serde(flatten)]
    pub item: PlanItem,
    /// The beginning of the card's content, as it is now; absent where it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

/// How much a plan does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Totals {
    /// Items.
    pub items: u64,
    /// Items by action.
    pub actions: BTreeMap<String, u64>,
    /// Items by rule.
    pub rules: BTreeMap<String, u64>,
    /// Items by tenant and action.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tenants: BTreeMap<String, BTreeMap<String, u64>>,
    /// Items that the limits hold back.
    pub held_back: u64,
}

/// What it took to make a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Work {
    /// Tenants looked at.
    pub tenants: u64,
    /// Due instants read.
    pub due: u64,
    /// Cards read.
    pub cards: u64,
}

/// Answer of `plan`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Planned {
    /// The plan, for `apply`.
    pub plan: PlanId,
    /// Identifies what it says.
    pub digest: String,
    /// The instant it was made for.
    pub made_at: Timestamp,
    /// What it would do, by tenant, rule and identifier; the first 1,000.
    pub items: Vec<PlannedItem>,
    /// How much that is in all.
    pub totals: Totals,
    /// Where the rules come from.
    pub policy: String,
    /// What was left out or looked at in part, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What it took.
    pub work: Work,
    /// The run that has carried it out, if one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

/// Read plans that were made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plans {
    /// One plan with its items; all plans without items when absent.
    pub plan: Option<PlanId>,
}

/// A plan or a run in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanSummary {
    /// The plan; absent for a `forget` on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// What it says, identified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When it was made, or begun.
    pub made_at: Timestamp,
    /// How much it is.
    pub totals: Totals,
    /// The run that has carried it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// `planned`, `running` (or cut short: apply it again), `applied`, `undone`.
    pub status: &'static str,
}

/// Carry out a plan: exactly what it says, of cards that are as they were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Apply {
    /// The plan.
    pub plan: Option<PlanId>,
    /// Refuse unless the plan has this digest.
    pub digest: Option<String>,
    /// Who asks, for the history.
    pub actor: Option<String>,
    /// Why, for the history.
    pub reason: Option<String>,
}

/// Answer of `apply`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AppliedPlan {
    /// The run, for `undo`.
    pub run: RunId,
    /// The plan.
    pub plan: PlanId,
    /// Cards that it has changed; the first 1,000.
    pub applied: Vec<CardId>,
    /// Cards left alone, and why; the first 1,000.
    pub skipped: Vec<Skipped>,
    /// How many of both, and of each action.
    pub totals: RunTotals,
    /// False when it was stopped (by the kill switch): apply it again to go on.
    pub complete: bool,
    /// True when an earlier call had done it all.
    pub repeated: bool,
}

/// What a run has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunTotals {
    /// Cards changed.
    pub applied: u64,
    /// Cards left alone.
    pub skipped: u64,
    /// Cards changed, by action.
    pub actions: BTreeMap<String, u64>,
}

/// Take back what a run has done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Undo {
    /// The run.
    pub run: Option<RunId>,
    /// Who asks, for the history.
    pub actor: Option<String>,
    /// Why, for the history.
    pub reason: Option<String>,
}

/// Answer of `undo`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Undone {
    /// The run.
    pub run: RunId,
    /// Cards that are as they were before the run; the first 1,000.
    pub restored: Vec<CardId>,
    /// Cards left alone: `purged`, `changed` since, or `gone`; the first 1,000.
    pub skipped: Vec<Skipped>,
    /// How many of both (`applied`: restored).
    pub totals: RunTotals,
}

/// Say which recalled cards were of use and which were wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Feedback {
    /// Cards that were used: they age from now on, and come back from the cold tier.
    pub used: Vec<CardId>,
    /// Cards that were wrong: half of their confidence goes, and they are candidates until
    /// they are told again.
    pub rejected: Vec<CardId>,
    /// The question they answered, for the history.
    pub query: Option<String>,
    /// Who asks, for the history.
    pub actor: Option<String>,
    /// Why, for the history.
    pub reason: Option<String>,
}

/// Answer of `feedback`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FedBack {
    /// Every card that changed: `used`, `revived`, `rejected`.
    pub affected: Vec<crate::verbs::Affected>,
    /// Position of the tenant's change log after the write.
    pub seq: u64,
}

/// Remove a tenant with every byte of it. There is no undo.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wipe {
    /// The tenant's name once more.
    pub confirm: String,
}

/// What a scan for erased content has looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// Files scanned.
    pub files: u64,
    /// Bytes scanned; compressed ones as they read.
    pub bytes: u64,
    /// Pieces of erased content that were looked for, as fingerprints.
    pub fingerprints: u64,
    /// Cards whose content is too short or too uniform to be looked for, or could not be read.
    pub unprovable: u64,
    /// Places where one was found: file and offset. Empty when the erasure is complete.
    pub found: Vec<String>,
    /// What is damaged so that the scan could not look into it: nothing is proved of that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

impl Proof {
    /// True when everything could be looked at and nothing was found.
    pub fn is_complete(&self) -> bool {
        self.found.is_empty() && self.damaged.is_empty()
    }
}

/// Answer of `wipe`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wiped {
    /// Cards that were removed.
    pub cards: u64,
    /// Earlier versions that were removed.
    pub versions: u64,
    /// Positions of the change log that were removed.
    pub log_positions: u64,
    /// Records of all kinds that were removed.
    pub records: u64,
    /// What of it was damaged, at most 100 places. It is removed like the rest, and what it said is not
    /// known: the scan could not look for it, and counts its cards as `unprovable`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
    /// The scan of all files after it.
    pub proof: Proof,
}
