//! The one place that knows the keys of the store.
//!
//! The store is one table of redb, so that a commit writes one path from its root however
//! many kinds of records it touches. A key is `tenant u32 · table u8 · rest`, big-endian: a
//! tenant's data is one contiguous range, and in it each logical table. Tenant 0 is the store
//! itself.

use redb::TableDefinition;
use xxhash_rust::xxh3::Xxh3;

use crate::card::{CardId, Fact, Track};
use crate::time::Timestamp;

/// Raw bytes on both sides: redb's typed encodings may change between its major versions,
/// ours may not.
pub(crate) type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// redb's handle of the one table.
pub(crate) const TABLE: Definition = TableDefinition::new("memcards");

/// The logical tables of a store. The number stands in each key and goes into each record's
/// checksum; it is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TableId {
    /// Settings of the store: name → value.
    Meta = 1,
    /// Tenant name → tenant number.
    TenantNames = 2,
    /// (tenant) → name and creation.
    Tenants = 3,
    /// (card) → the current version, and the vector that it brought.
    Cards = 4,
    /// (card, version) → each earlier version, and the vector that it brought.
    Versions = 5,
    /// (sequence) → what changed, exact look-ups included.
    Changes = 6,
    /// Settings of a tenant: name → value.
    Settings = 7,
    /// (instant, card) → nothing: when the rules have something to do with a card.
    Due = 8,
    /// (plan) → what it is, without its items; of a tenant, or of the store.
    Plans = 9,
    /// (plan, number) → one thing that it would do, in the tenant whose card it concerns.
    PlanItems = 10,
    /// (run) → what it is; of a tenant, or of the store.
    Runs = 11,
    /// (run, number) → one thing that it did, in the tenant whose card it concerned.
    RunItems = 12,
    /// (kind, hash) → what was erased, by hashes only; of a tenant, or of the store.
    Tombstones = 13,
    /// (segment) → a file of the cold tier.
    Segments = 14,
}

impl TableId {
    /// Every table, in order of its number.
    pub(crate) const ALL: [Self; 14] = [
        Self::Meta,
        Self::TenantNames,
        Self::Tenants,
        Self::Cards,
        Self::Versions,
        Self::Changes,
        Self::Settings,
        Self::Due,
        Self::Plans,
        Self::PlanItems,
        Self::Runs,
        Self::RunItems,
        Self::Tombstones,
        Self::Segments,
    ];

    /// The table's name in messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::TenantNames => "tenant_names",
            Self::Tenants => "tenants",
            Self::Cards => "cards",
            Self::Versions => "versions",
            Self::Changes => "changes",
            Self::Settings => "settings",
            Self::Due => "due",
            Self::Plans => "plans",
            Self::PlanItems => "plan_items",
            Self::Runs => "runs",
            Self::RunItems => "run_items",
            Self::Tombstones => "tombstones",
            Self::Segments => "segments",
        }
    }

    /// The table in which a key stands; `None` when this is no key of ours.
    pub(crate) fn of_key(key: &[u8]) -> Option<Self> {
        let number = *key.get(4)?;
        let table = Self::ALL.into_iter().find(|table| *table as u8 == number)?;
        let belongs = match table {
            Self::Meta | Self::TenantNames | Self::Tenants => TenantId::of_key(key)? == STORE,
            // The store has some of its own.
            Self::Plans | Self::Runs | Self::Tombstones => true,
            _ => TenantId::of_key(key)? != STORE,
        };
        belongs.then_some(table)
    }

    /// The key prefix of a tenant's part of the table.
    const fn prefix(self, tenant: TenantId) -> [u8; 5] {
        let [a, b, c, d] = tenant.0.to_be_bytes();
        [a, b, c, d, self as u8]
    }
}

/// A tenant's number in this store; never shown to callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TenantId(pub(crate) u32);

/// What stands in keys that belong to no tenant.
pub(crate) const STORE: TenantId = TenantId(0);

impl TenantId {
    /// The number as it stands in keys and values.
    pub(crate) const fn bytes(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// The tenant whose key this is.
    pub(crate) fn of_key(key: &[u8]) -> Option<Self> {
        Some(Self(u32::from_be_bytes(key.get(..4)?.try_into().ok()?)))
    }
}

fn of_store(table: TableId, rest: &[u8]) -> Vec<u8> {
    [table.prefix(STORE).as_slice(), rest].concat()
}

/// Key of a setting.
pub(crate) fn meta(name: &str) -> Vec<u8> {
    of_store(TableId::Meta, name.as_bytes())
}

/// Key of a tenant's name.
pub(crate) fn tenant_name(name: &str) -> Vec<u8> {
    of_store(TableId::TenantNames, name.as_bytes())
}

/// Key of a tenant's own record.
pub(crate) fn tenant(id: TenantId) -> Vec<u8> {
    of_store(TableId::Tenants, &id.bytes())
}

/// The tenant in a key of `tenants`.
pub(crate) fn tenant_of_key(key: &[u8]) -> Option<TenantId> {
    TenantId::of_key(key.get(5..9)?)
}

/// Key of `cards`.
pub(crate) fn card(tenant: TenantId, card: CardId) -> [u8; 21] {
    let mut key = [0; 21];
    key[..5].copy_from_slice(&TableId::Cards.prefix(tenant));
    key[5..].copy_from_slice(&card.to_bytes());
    key
}

/// Key of `versions`.
pub(crate) fn version(tenant: TenantId, id: CardId, version: u32) -> [u8; 25] {
    let mut key = [0; 25];
    key[..5].copy_from_slice(&TableId::Versions.prefix(tenant));
    key[5..21].copy_from_slice(&id.to_bytes());
    key[21..].copy_from_slice(&version.to_be_bytes());
    key
}

/// Key of `changes`.
pub(crate) fn change(tenant: TenantId, sequence: u64) -> [u8; 13] {
    let mut key = [0; 13];
    key[..5].copy_from_slice(&TableId::Changes.prefix(tenant));
    key[5..].copy_from_slice(&sequence.to_be_bytes());
    key
}

/// Key of a tenant's setting.
pub(crate) fn setting(tenant: TenantId, name: &str) -> Vec<u8> {
    [TableId::Settings.prefix(tenant).as_slice(), name.as_bytes()].concat()
}

/// Key of `due`. Instants before 1970 sort before those after it.
pub(crate) fn due(tenant: TenantId, at: Timestamp, card: CardId) -> [u8; 29] {
    let mut key = [0; 29];
    key[..5].copy_from_slice(&TableId::Due.prefix(tenant));
    key[5..13].copy_from_slice(&((at.as_micros() as u64) ^ (1 << 63)).to_be_bytes());
    key[13..].copy_from_slice(&card.to_bytes());
    key
}

/// The instant and the card in a key of `due`.
pub(crate) fn due_of_key(key: &[u8]) -> Option<(Timestamp, CardId)> {
    let micros = u64::from_be_bytes(key.get(5..13)?.try_into().ok()?) ^ (1 << 63);
    let card = CardId::from_bytes(key.get(13..29)?.try_into().ok()?);
    Some((Timestamp::from_micros(micros as i64), card))
}

/// Key of a numbered record: a plan, a run or a segment.
pub(crate) fn numbered(table: TableId, tenant: TenantId, number: u64) -> [u8; 13] {
    let mut key = [0; 13];
    key[..5].copy_from_slice(&table.prefix(tenant));
    key[5..].copy_from_slice(&number.to_be_bytes());
    key
}

/// The number in a key of [`numbered`] or [`item`].
pub(crate) fn number_of_key(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(5..13)?.try_into().ok()?))
}

/// Key of one item of a numbered record.
pub(crate) fn item(table: TableId, tenant: TenantId, number: u64, item: u32) -> [u8; 17] {
    let mut key = [0; 17];
    key[..13].copy_from_slice(&numbered(table, tenant, number));
    key[13..].copy_from_slice(&item.to_be_bytes());
    key
}

/// The number of the item in a key of [`item`].
pub(crate) fn item_of_key(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(13..17)?.try_into().ok()?))
}

/// Key of `tombstones`.
pub(crate) fn tombstone(tenant: TenantId, kind: u8, hash: u128) -> [u8; 22] {
    let mut key = [0; 22];
    key[..5].copy_from_slice(&TableId::Tombstones.prefix(tenant));
    key[5] = kind;
    key[6..].copy_from_slice(&hash.to_be_bytes());
    key
}

/// Kind and hash in a key of `tombstones`.
pub(crate) fn tombstone_of_key(key: &[u8]) -> Option<(u8, u128)> {
    Some((*key.get(5)?, u128::from_be_bytes(key.get(6..22)?.try_into().ok()?)))
}

/// The first key of a tenant's part of a table, and the first key after it.
pub(crate) fn range_of(table: TableId, tenant: TenantId) -> (Vec<u8>, Vec<u8>) {
    let first = table.prefix(tenant);
    let mut end = first;
    end[4] += 1;
    (first.to_vec(), end.to_vec())
}

/// The card in a key of `cards` or `versions`.
pub(crate) fn card_of_key(key: &[u8]) -> Option<CardId> {
    Some(CardId::from_bytes(key.get(5..21)?.try_into().ok()?))
}

/// The version in a key of `versions`.
pub(crate) fn version_of_key(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(21..25)?.try_into().ok()?))
}

/// The sequence in a key of `changes`.
pub(crate) fn sequence_of_key(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(5..13)?.try_into().ok()?))
}

/// Kind and hash of an exact look-up inside one tenant.
pub(crate) type LookupKey = [u8; 17];

/// What an exact look-up asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lookup<'a> {
    /// The same words (normalised) in the same track and category, by anybody or by one
    /// speaker; a turn of a conversation, or what happened at a given time, is an event of
    /// its own and only equals itself.
    Content { hash: u128, track: Track, category: &'a str, detail: Detail<'a> },
    /// The card that holds a merge key.
    MergeKey(&'a str),
    /// The card that holds a typed fact.
    Fact(&'a Fact),
    /// The card written under an idempotency key.
    Idempotency(&'a str),
}

/// What narrows a look-up of the same words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Detail<'a> {
    /// Whoever said it, whenever.
    None,
    /// The turn of a session.
    Turn(&'a str, u32),
    /// When it happened, in microseconds.
    Moment(i64),
    /// Name of the speaker.
    Speaker(&'a str),
}

impl Lookup<'_> {
    /// Kind and hash under which the tenant's look-up is kept.
    pub(crate) fn key(&self) -> LookupKey {
        let mut key = [0; 17];
        let (kind, hash) = match self {
            Self::Content { hash, track, category, detail } => {
                let hash = hash.to_le_bytes();
                let track = [track.number()];
                let category = category.as_bytes();
                match detail {
                    Detail::None => (1, digest(&[&hash, &track, category])),
                    // The number of parts differs: none of these is another one's.
                    Detail::Moment(at) => {
                        (1, digest(&[&hash, &track, category, b"moment", &at.to_le_bytes()]))
                    }
                    Detail::Speaker(name) => {
                        (1, digest(&[&hash, &track, category, b"speaker", name.as_bytes(), b""]))
                    }
                    Detail::Turn(session, turn) => (
                        1,
                        digest(&[&hash, &track, category, b"turn", session.as_bytes(), &turn.to_le_bytes()]),
                    ),
                }
            }
            Self::MergeKey(name) => (2, digest(&[name.as_bytes()])),
            Self::Fact(fact) => {
                let (entity, attribute) = (fact.entity.trim(), fact.attribute.trim());
                (3, digest(&[entity.to_lowercase().as_bytes(), attribute.to_lowercase().as_bytes()]))
            }
            Self::Idempotency(name) => (4, digest(&[name.as_bytes()])),
        };
        key[0] = kind;
        key[1..].copy_from_slice(&hash.to_be_bytes());
        key
    }
}

/// XXH3-128 of parts, each preceded by its length: no two lists hash the same bytes.
fn digest(parts: &[&[u8]]) -> u128 {
    let mut hasher = Xxh3::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_tenant_then_card_then_version() {
        let id = |n| CardId::from_bytes(u128::to_be_bytes(n));
        let keys = [
            version(TenantId(1), id(1), 2),
            version(TenantId(1), id(2), 1),
            version(TenantId(1), id(256), 1),
            version(TenantId(2), id(0), 1),
        ];
        assert!(keys.is_sorted());
        assert_eq!(card_of_key(&keys[2]), Some(id(256)));
        assert_eq!(version_of_key(&keys[0]), Some(2));
        assert_eq!(TenantId::of_key(&keys[3]), Some(TenantId(2)));
        assert_eq!(sequence_of_key(&change(TenantId(9), 77)), Some(77));
        assert_eq!(TableId::of_key(&keys[1]), Some(TableId::Versions));
        assert_eq!(TableId::of_key(&tenant(TenantId(7))), Some(TableId::Tenants));
        assert_eq!(tenant_of_key(&tenant(TenantId(7))), Some(TenantId(7)));
        let dues: Vec<_> = [i64::MIN, -1, 0, 7, i64::MAX]
            .map(|at| due(TenantId(3), Timestamp::from_micros(at), id(9)))
            .to_vec();
        assert!(dues.is_sorted());
        assert_eq!(due_of_key(&dues[1]), Some((Timestamp::from_micros(-1), id(9))));
        // Records of a tenant under the store's number, and the other way round, are no keys.
        assert_eq!(TableId::of_key(&card(TenantId(0), id(1))), None);
        assert_eq!(TableId::of_key(&[0, 0, 0, 9, 1]), None);
    }

    #[test]
    fn look_ups_differ_by_kind_and_event() {
        let content = |detail| Lookup::Content { hash: 5, track: Track::Episodic, category: "x", detail };
        let keys = [
            Lookup::MergeKey("a").key(),
            Lookup::Idempotency("a").key(),
            content(Detail::None).key(),
            content(Detail::Turn("s", 1)).key(),
            content(Detail::Turn("s", 2)).key(),
            content(Detail::Moment(1)).key(),
            content(Detail::Moment(2)).key(),
            content(Detail::Speaker("s")).key(),
            content(Detail::Speaker("moment")).key(),
        ];
        for (i, a) in keys.iter().enumerate() {
            assert!(keys[i + 1..].iter().all(|b| a != b));
        }
    }
}
